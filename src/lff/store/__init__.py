"""Everything a run writes to disk, so that no run is ever lost.

The only room that imports safetensors and filelock.  Nothing here is pickled or executed.
"""

from lff.store.atomic import flat, make_folder, read_json, write_bytes, write_json
from lff.store.checkpoint import Checkpoint, kept_metas, load, load_latest, save
from lff.store.lock import RunLock
from lff.store.metrics import MetricsFile, csv_bytes, read_rows
from lff.store.run_dir import RunDir, find_run
from lff.store.segments import SegmentRef, SegmentStore, find_refs
