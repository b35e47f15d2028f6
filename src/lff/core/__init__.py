"""Vocabulary shared by every room: configs as data, checks, errors.  Needs nothing but Python."""

from lff.core.config import digest as digest
from lff.core.config import from_dict as from_dict
from lff.core.config import from_json as from_json
from lff.core.config import to_dict as to_dict
from lff.core.config import to_json as to_json
from lff.core.errors import BadInputError as BadInputError
from lff.core.errors import BadTypeError as BadTypeError
from lff.core.errors import BusyError as BusyError
from lff.core.errors import CorruptError as CorruptError
from lff.core.errors import InterruptedRunError as InterruptedRunError
from lff.core.errors import NonFiniteError as NonFiniteError
from lff.core.errors import RunError as RunError
from lff.core.errors import StorageError as StorageError
from lff.core.exit_codes import ExitCode as ExitCode
from lff.core.exit_codes import exit_code as exit_code
