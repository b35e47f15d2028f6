"""A disk as a power cut may leave it, from the calls to the system that changed it.

The model is stated in docs/reliability.md.
"""

import contextlib
import os
import shutil
from pathlib import Path

from lff.store import RunDir, read_json, write_json
from lff.store.lock import HOLDER

MODES = ("nothing more", "everything", "names only", "data only", "a part", "any", "any", "any")
"""What a power cut leaves of the operations that were not synced."""
NOT_KEPT = ("log.txt", "progress.json", ".progress.json")
"""Files of a job that are written for people, and need not survive."""


class Node:
    """A file or folder: what is durable, and the operations since."""

    def __init__(self, content):
        self.durable = self.now = content
        self.pending = []

    def do(self, operation):
        self.now = apply(self.now, operation)
        self.pending.append(operation)

    def sync(self):
        self.durable, self.pending = self.now, []

    def after_cut(self, mode, rng):
        """Return a content that a power cut may leave."""
        folder = isinstance(self.now, dict)
        content = self.durable
        part = rng.randrange(len(self.pending) + 1)
        for index, operation in enumerate(self.pending):
            kept = {
                "nothing more": False,
                "everything": True,
                "names only": folder,
                "data only": not folder,
                "a part": index < part,
                "any": rng.random() < 0.5,
            }[mode]
            if kept or folder:
                content = apply(content, operation) if kept else content
            elif operation[0] == "write" and mode in ("any", "names only"):
                content = apply(content, spoil(operation, rng))
        return content


def apply(content, operation):
    kind, at, data = operation
    if kind == "name":
        return {**{k: v for k, v in content.items() if k not in at}, **data}
    if kind == "truncate":
        return content[:at].ljust(at, b"\0")
    return content[:at].ljust(at, b"\0") + data + content[at + len(data) :]


def spoil(operation, rng):
    """Return a write that reached the disk in part, as zeros, or not at all."""
    kind, at, data = operation
    size = rng.randrange(len(data) + 1)
    return (
        kind,
        at,
        rng.choice([data[:size], bytes(len(data)), data[:size].ljust(len(data), b"\0")]),
    )


class Disk:
    """The files below a folder, by the calls that were made: ``now``, and after a power cut."""

    def __init__(self, root):
        self.nodes = {}
        self.load(root)

    def load(self, path):
        number = len(self.nodes)
        self.nodes[number] = None
        if path.is_dir():
            content = {child.name: self.load(child) for child in sorted(path.iterdir())}
        else:
            content = path.read_bytes()
        self.nodes[number] = Node(content)
        return number

    def do(self, event):
        kind, number, *rest = event
        match kind:
            case "create":
                name, made, empty = rest
                self.nodes[made] = Node(empty)
                self.nodes[number].do(("name", (), {name: made}))
            case "rename":
                name, target, new = rest
                moved = self.nodes[number].now[name]
                if number == target:
                    self.nodes[number].do(("name", (name,), {new: moved}))
                else:
                    self.nodes[target].do(("name", (), {new: moved}))
                    self.nodes[number].do(("name", (name,), {}))
            case "remove":
                self.nodes[number].do(("name", (rest[0],), {}))
            case "sync":
                self.nodes[number].sync()
            case "write" | "truncate":
                self.nodes[number].do((kind, *rest))

    def write_to(self, path, contents, number=0):
        if isinstance(contents[number], dict):
            path.mkdir()
            for name, child in contents[number].items():
                self.write_to(path / name, contents, child)
        else:
            path.write_bytes(contents[number])

    def cut(self, path, mode, rng):
        """Write what a power cut may leave to a folder; the machine is then started anew."""
        self.write_to(path, {n: node.after_cut(mode, rng) for n, node in self.nodes.items()})
        for holder in path.rglob(HOLDER):
            with contextlib.suppress(Exception):
                write_json(holder, read_json(holder) | {"boot": "another"})

    def unexplained(self, work, copy):
        """Return the files of ``work`` that the calls do not explain; ``copy`` is scratch."""
        self.write_to(copy, {number: node.now for number, node in self.nodes.items()})
        there, here = (
            {p.relative_to(f): p.read_bytes() for p in f.rglob("*") if p.is_file()}
            for f in (work, copy)
        )
        shutil.rmtree(copy)
        differing = [p for p in there.keys() | here.keys() if there.get(p) != here.get(p)]
        return sorted(str(path) for path in differing if path.name not in NOT_KEPT)


def watch_saves(then):
    """Call ``then(step)`` after every save of a run; return what ends that."""
    save = RunDir.save

    def saved(run, step, *args, **options):
        path = save(run, step, *args, **options)
        then(step)
        return path

    def restore():
        RunDir.save = save

    RunDir.save = saved
    return restore


class Recorder:
    """Records the calls that change files below a folder, and the steps whose save returned."""

    CALLS = ("open", "close", "write", "fsync", "ftruncate", "rename", "replace", "mkdir", "unlink")

    def __init__(self, root):
        self.root, self.disk, self.events = root.resolve(), Disk(root), []
        self.descriptors, self.offsets = {}, {}
        self.real = {name: getattr(os, name) for name in (*self.CALLS, "rmdir")}

    def __enter__(self):
        for name in self.CALLS:
            setattr(os, name, getattr(self, name))
        os.rmdir = self.unlink_by("rmdir")
        self.unwatch = watch_saves(lambda step: self.events.append(("saved", step)))
        return self

    def __exit__(self, *_):
        for name, function in self.real.items():
            setattr(os, name, function)
        self.unwatch()

    def note(self, *event):
        self.events.append(event)
        self.disk.do(event)

    def find(self, path, dir_fd=None):
        """Return the folder's number and the name, or None for what is outside or not kept."""
        if Path(path).name in NOT_KEPT:
            return None
        if dir_fd is not None:
            folder = self.descriptors.get(dir_fd)
            return None if folder is None else (folder, os.fspath(path))
        full = Path(path).absolute()
        if not full.is_relative_to(self.root) or full == self.root:
            return (None, "") if full == self.root else None
        number = 0
        for part in full.relative_to(self.root).parts[:-1]:
            number = self.disk.nodes[number].now.get(part)
            if number is None:
                return None
        return number, full.name

    def open(self, path, flags, mode=0o777, *, dir_fd=None):
        descriptor = self.real["open"](path, flags, mode, dir_fd=dir_fd)
        self.descriptors.pop(descriptor, None)
        place = self.find(path, dir_fd)
        if place is None:
            return descriptor
        folder, name = place
        number = 0 if folder is None else self.disk.nodes[folder].now.get(name)
        if number is None and flags & os.O_CREAT:
            number = len(self.disk.nodes)
            self.note("create", folder, name, number, b"")
        if number is not None:
            self.descriptors[descriptor] = number
            self.offsets[descriptor] = None if flags & os.O_APPEND else 0
        return descriptor

    def close(self, descriptor):
        self.descriptors.pop(descriptor, None)
        self.real["close"](descriptor)

    def write(self, descriptor, data):
        written = self.real["write"](descriptor, data)
        number = self.descriptors.get(descriptor)
        if number is not None:
            at = self.offsets[descriptor]
            if at is None:
                at = len(self.disk.nodes[number].now)
            else:
                self.offsets[descriptor] += written
            self.note("write", number, at, bytes(data)[:written])
        return written

    def fsync(self, descriptor):
        self.real["fsync"](descriptor)
        if descriptor in self.descriptors:
            self.note("sync", self.descriptors[descriptor])

    def ftruncate(self, descriptor, size):
        self.real["ftruncate"](descriptor, size)
        if descriptor in self.descriptors:
            self.note("truncate", self.descriptors[descriptor], size, b"")

    def rename(self, old, new, **options):
        self.real["replace"](old, new, **options)
        here, there = self.find(old), self.find(new)
        if here and there:
            self.note("rename", *here, *there)

    replace = rename

    def mkdir(self, path, mode=0o777, *, dir_fd=None):
        self.real["mkdir"](path, mode, dir_fd=dir_fd)
        if place := self.find(path, dir_fd):
            self.note("create", *place, len(self.disk.nodes), {})

    def unlink(self, path, *, dir_fd=None):
        self.unlink_by("unlink")(path, dir_fd=dir_fd)

    def unlink_by(self, name):
        def remove(path, *, dir_fd=None):
            self.real[name](path, dir_fd=dir_fd)
            if place := self.find(path, dir_fd):
                self.note("remove", *place)

        return remove
