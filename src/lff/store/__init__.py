"""Everything a run writes to disk, so that no run is ever lost.

The only room that imports safetensors and filelock.  Nothing here is pickled or executed.
"""

from lff.store.atomic import flat as flat
from lff.store.atomic import read_json as read_json
from lff.store.atomic import write_bytes as write_bytes
from lff.store.atomic import write_json as write_json
from lff.store.checkpoint import Checkpoint as Checkpoint
from lff.store.checkpoint import kept_metas as kept_metas
from lff.store.checkpoint import load as load
from lff.store.checkpoint import load_latest as load_latest
from lff.store.checkpoint import save as save
from lff.store.lock import RunLock as RunLock
from lff.store.metrics import MetricsFile as MetricsFile
from lff.store.metrics import read_rows as read_rows
from lff.store.run_dir import RunDir as RunDir
from lff.store.run_dir import find_run as find_run
from lff.store.segments import SegmentRef as SegmentRef
from lff.store.segments import SegmentStore as SegmentStore
from lff.store.segments import find_refs as find_refs
