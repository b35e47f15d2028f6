"""Vocabulary shared by every room: configs as data, checks, errors.  Needs nothing but Python."""

from lff.core.config import digest as digest
from lff.core.config import from_dict as from_dict
from lff.core.config import from_json as from_json
from lff.core.config import to_dict as to_dict
from lff.core.config import to_json as to_json
from lff.core.errors import BadInputError as BadInputError
from lff.core.errors import BadTypeError as BadTypeError
