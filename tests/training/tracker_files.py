"""What trackers hold, read from their own files: (row's step, name, value) in order."""

import json
import struct

from lff.training.trackers import scalars


def expected(rows):
    return [(row["env_step"], name, value) for row in rows for name, value in scalars(row).items()]


def tensorboard(run):
    """Read with TensorBoard's own loader, which checks every checksum."""
    from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
    from tensorboard.compat.proto.event_pb2 import Event

    found = []
    for path in sorted((run / "tensorboard").iterdir()):
        for record in RawEventFileLoader(str(path)).Load():
            event = Event.FromString(record)
            found += [(event.step, v.tag, v.simple_value) for v in event.summary.value]
    return found


def wandb(run):
    """Read the transaction logs: 32 kB blocks of (checksum, length, kind) and protobuf."""
    from wandb.proto.wandb_internal_pb2 import Record

    files = [*run.glob("wandb/offline-run-*/*.wandb")]
    assert len(files) == 1
    found = []
    for data in _records(files[0].read_bytes()):
        record = Record.FromString(data)
        if record.WhichOneof("record_type") != "history":
            continue
        values = {}
        for item in record.history.item:
            values[item.key or "/".join(item.nested_key)] = json.loads(item.value_json)
        step = values.pop("env_step")
        number = values.pop("_step", record.history.step.num)
        names = sorted(name for name in values if not name.startswith("_"))
        found.append((number, [(step, name, values[name]) for name in names]))
    assert [number for number, _ in found] == [*range(len(found))]
    return [item for _, items in found for item in items]


def _records(data):
    position, parts = 7, []
    while position + 7 <= len(data):
        left = 32768 - position % 32768
        if left < 7:
            position += left
            continue
        _, length, kind = struct.unpack("<IHB", data[position : position + 7])
        if kind == 0:
            position += left
            continue
        parts.append(data[position + 7 : position + 7 + length])
        position += 7 + length
        if kind in (1, 4):  # whole, or the last part
            yield b"".join(parts)
            parts = []
