"""Named mutations that turn a small run directory into a hostile one.

A mutation gets the folder and a canary: a folder outside, which nothing may touch.
"""

import functools
import hashlib
import json
import os
import shutil
import struct

HTML = "\"><script>document.title='owned'</script><img src=x onerror=document.title='owned'>$x^$"
ESCAPES = "\x1b]0;owned\x07\x1b[2J\x1b[31mred\x9b31m\r\u202e"
MODULE = "lff_hostile_module"
"""On the path in the tests; importing it leaves a mark."""
TERABYTE = 2**40
FINAL = "checkpoints/final"
TENSORS, META, MANIFEST = (
    f"{FINAL}/{name}" for name in ("tensors.safetensors", "meta.json", "manifest.json")
)
CONFIG, INFO, METRICS, TRACKERS = "config.json", "run.json", "metrics.jsonl", "trackers.json"
EVALUATION, REFERENCE = "evaluations/000000060.json", "evaluations/reference.json"
SEGMENT = "replay/segment-000000000.safetensors"
JSONS = (CONFIG, INFO, EVALUATION, REFERENCE, META, MANIFEST, TRACKERS)
FILES = (*JSONS, METRICS, "timing.jsonl", "metrics.csv", TENSORS, SEGMENT, ".lock")
FOLDERS = ("checkpoints", "replay", "evaluations", "tensorboard", "wandb", FINAL)

RUNS = {}
"""Mutations of run directories by name."""


def kind(name, home=RUNS):
    def register(function):
        assert name not in home, name
        home[name] = function
        return function

    return register


def clear(path):
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def sealed(folder):
    """Make the manifest of the final checkpoint agree with its files again."""
    manifest = json.loads((folder / MANIFEST).read_text())
    for name in manifest["files"]:
        data = (folder / FINAL / name).read_bytes()
        digest = hashlib.sha256(data).hexdigest()
        manifest["files"][name] = {"bytes": len(data), "sha256": digest}
    (folder / MANIFEST).write_text(json.dumps(manifest))


def link(folder, canary, name):
    path = folder / name
    if os.path.lexists(path):
        (shutil.copytree if path.is_dir() else shutil.copy)(path, canary / path.name)
        clear(path)
    else:
        (canary / path.name).mkdir()
    path.symlink_to(canary / path.name)


def fifo(folder, _, name):
    path = folder / name
    clear(path)
    os.mkfifo(path)


def directory(folder, _, name):
    path = folder / name
    clear(path)
    path.mkdir()
    (path / "inside").write_text("x")


def sparse(folder, _, name):
    with (folder / name).open("ab") as file:
        file.truncate(TERABYTE)


def written(folder, _, name, data):
    (folder / name).write_bytes(data)
    if name in (META, TENSORS):
        sealed(folder)


def noise(folder, canary, name):
    written(folder, canary, name, bytes(range(256)) * 3)


DEEP = {"objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "lists": b"[" * 100_000}


def register_files(home, files):
    """Mutations that fit every file of a folder."""
    for name in files:
        for form in (link, fifo, directory, sparse, noise):
            home[f"{form.__name__}: {name}"] = functools.partial(form, name=name)
    for name in (one for one in files if one.endswith(".json")):
        for title, data in DEEP.items():
            home[f"deep {title}: {name}"] = functools.partial(written, name=name, data=data)
        for text in ("[]", "null", '{"x": NaN}', '{"x": Infinity, "y": 1e999}', '"text"', "{}"):
            home[f"{text}: {name}"] = functools.partial(written, name=name, data=text.encode())


register_files(RUNS, FILES)
for _name in FOLDERS:
    RUNS[f"link: {_name}"] = functools.partial(link, name=_name)


def every_string(data, text):
    """Replace all strings, and add keys, but for the tags that name classes."""
    if isinstance(data, dict):
        same = {key: every_string(value, text) for key, value in data.items() if key != "type"}
        return same | ({"type": data["type"]} if "type" in data else {text: text})
    if isinstance(data, list):
        return [every_string(value, text) for value in data]
    return text if isinstance(data, str) else data


def edit(folder, name, **changes):
    """Set values by dotted paths, with ``__`` for the dot, in a JSON file."""
    data = json.loads((folder / name).read_text()) if (folder / name).exists() else {}
    for path, value in changes.items():
        *parents, last = path.split("__")
        inner = data
        for parent in parents:
            inner = inner[parent]
        inner[last] = value
    (folder / name).write_text(json.dumps(data))
    if name == META:
        sealed(folder)


def edit_rows(folder, change, name=METRICS):
    rows = [json.loads(line) for line in (folder / name).read_text().splitlines()]
    lines = [json.dumps(change(row)) + "\n" for row in rows]
    (folder / name).write_text("".join(lines))


for _title, _text in {"HTML": HTML, "escapes": ESCAPES}.items():
    for _name in JSONS:

        @kind(f"{_title} in strings: {_name}")
        def _(folder, _, name=_name, text=_text):
            data = json.loads((folder / name).read_text())
            (folder / name).write_text(json.dumps(every_string(data, text)))
            if name == META:
                sealed(folder)

    @kind(f"{_title}: env")
    def _(folder, _, text=_text):
        edit(folder, CONFIG, env=text)

    @kind(f"{_title}: tags")
    def _(folder, _, text=_text):
        edit(folder, CONFIG, algo__type=text, algo__critic__front__type=text)

    @kind(f"{_title}: command and versions")
    def _(folder, _, text=_text):
        edit(folder, INFO, command=["lff", text], versions={text: text}, computed={"by": text})

    @kind(f"{_title}: metrics")
    def _(folder, _, text=_text):
        edit_rows(folder, lambda row: row | {text: 1.0, "eval/return_std": text, "note": text})

    @kind(f"{_title}: evaluations")
    def _(folder, _, text=_text):
        edit(folder, EVALUATION, **{text.replace("__", ""): text, "returns": [text]})

    @kind(f"{_title}: reference policies")
    def _(folder, _, text=_text):
        edit(folder, REFERENCE, **{text.replace("__", ""): [1.0]})

    @kind(f"{_title}: file names")
    def _(folder, _, text=_text):
        name = text.replace("/", "|")
        for home in (folder, folder / "checkpoints", folder / "replay", folder / "evaluations"):
            (home / f"0{name}.json").write_text(json.dumps({"env_step": 1, "returns": [text]}))

    @kind(f"{_title}: names of tensors")
    def _(folder, _, text=_text):
        header = {text: {"dtype": "F32", "shape": [1], "data_offsets": [0, 9]}}
        tensors(folder, header, bytes(4))

    @kind(f"{_title}: layout")
    def _(folder, _, text=_text):
        edit(folder, INFO, layout=text)

    @kind(f"{_title}: holder of the lock")
    def _(folder, _, text=_text):
        holder = {"pid": text, "host": text, "started": text}
        (folder / ".lock-holder.json").write_text(json.dumps(holder))


WRONG = {
    CONFIG: {
        "env": [7, {}, "", ":", ".x:y", "gym/", "gym/:", "../x/y", "dmc/", "nope/x", "probe/\0"],
        "algo": [7, "sac", {"type": "sac"}, {"type": ["sac"]}],
        "algo__critic": [None, {"type": "net"}],
        "algo__critic__front__fourier_dim": ["8", 10**13, -2, 1e300],
        "algo__critic__front__sigma": ["0.01", -1, True],
        "algo__gamma": ["x", 7],
        "algo__batch_size": [10**15, 0],
        "algo__replay_capacity": [10**15],
        "steps": ["60", 0],
        "seed": ["0", -1, 10**30],
        "num_envs": [10**12],
        "action_repeat": [0, "2"],
        "view": [{"size": 84}, 7],
        "schedule": [7, {"log_every": 0}],
        "compute": [7, {"compile": "x"}, {"type": "compute", "device": "cuda:99"}],
        "extra": [1],
    },
    INFO: {
        "command": [7, {"a": 1}],
        "versions": [7, ["x"]],
        "restarts": [7, {"a": 1}],
        "layout": [1, 3, None, [2]],
        "computed": [7, {"by": 7}, {"by": "graph", "not_native": ["x"]}],
    },
    EVALUATION: {
        "returns": [7, "12", [None], [[1]], {"a": 1}, [10**400]],
        "env_step": ["x", None, 1e300],
    },
    REFERENCE: {"random": [7, "x", ["x"], {"a": 1}], "zero": [[None], None]},
    META: {
        "spaces": [7, {"obs": "x", "action": 1}, {"obs": [10**12], "action": 1}, {"obs": [-1]}],
        "counters": [7, {}, {"env_step": "x"}],
        "last": [7, "x"],
        "store": [7, {}, {"metrics": 1}, {"metrics": {"bytes": -5, "rows": 1}, "timing": {}}],
        "replay": [7, [{"segment": 10**14, "count": 1, "sha256": "0"}]],
    },
    MANIFEST: {
        "step": [-1, "60", 10**16],
        "layout": [1, 9],
        "files": [
            {},
            7,
            {"../../../x": {"bytes": 1, "sha256": "0"}},
            {"/etc/passwd": {"bytes": 1, "sha256": "0"}},
            {"tensors.safetensors": {"bytes": 10**15, "sha256": "0"}, "meta.json": {}},
            {"tensors.safetensors": {"bytes": -1, "sha256": 7}, "meta.json": 7},
        ],
    },
    TRACKERS: {
        "id": ["../../canary", "*", 7, "/"],
        "wandb": ["stranger/project"],
        "tensorboard": [True],
    },
}
for _file, _fields in WRONG.items():
    for _field, _values in _fields.items():
        for _value in _values:
            RUNS[f"{_file}: {_field.replace('__', '.')} = {json.dumps(_value)[:60]}"] = (
                lambda folder, _, file=_file, field=_field, value=_value: edit(
                    folder, file, **{field: value}
                )
            )
for _value in ("x", None, 1.5, -(10**30), {"a": 1}, [[["x"]]], True):
    for _name in ("env_step", "eval/return", "train/q_max", "lff/critic_B_histogram"):
        RUNS[f"{METRICS}: {_name} = {json.dumps(_value)}"] = (
            lambda folder, _, name=_name, value=_value: edit_rows(
                folder, lambda row: row | {name: value}
            )
        )


@kind("metrics: not numbers")
def _(folder, _):
    edit_rows(folder, lambda row: row | {"eval/return": float("nan"), "x": float("inf")})


@kind("metrics: too large for a float")
def _(folder, _):
    text = (folder / METRICS).read_text()
    (folder / METRICS).write_text(text.replace('"env_step": 60', '"env_step": 60, "y": 1e999'))


@kind("timing: texts")
def _(folder, _):
    change = {"steps_per_second": "fast", "share/update": [1]}
    edit_rows(folder, lambda row: row | change, "timing.jsonl")


@kind("metrics: no end of line")
def _(folder, _):
    (folder / METRICS).write_bytes((folder / METRICS).read_bytes()[:-3])


@kind("contact sheet: a page")
def _(folder, _):
    (folder / "contact_sheet.png").write_text(f"<svg onload=x>{HTML}")


@kind("contact sheet: a terabyte")
def _(folder, _):
    sparse(folder, None, "contact_sheet.png")


@kind("checkpoints: links to each other")
def _(folder, _):
    clear(folder / FINAL)
    (folder / FINAL).symlink_to("final")
    (folder / "checkpoints/step-000000050").symlink_to("step-000000040")


@kind("checkpoints: half a rename")
def _(folder, canary):
    (folder / FINAL).rename(folder / f"{FINAL}.new")
    (folder / f"{FINAL}.old").symlink_to(canary)


@kind("checkpoints: another step's name")
def _(folder, _):
    (folder / FINAL).rename(folder / "checkpoints/step-999999999999999")


@kind("checkpoints: a thousand empty ones")
def _(folder, _):
    for step in range(1000):
        (folder / f"checkpoints/step-{step + 100:09d}").mkdir()


@kind("temporary files: links")
def _(folder, canary):
    (canary / "precious").write_text("keep me")
    for home in (folder, folder / "replay", folder / "evaluations"):
        (home / ".x.tmp-lff").symlink_to(canary / "precious")


@kind("W&B: settings with another server")
def _(folder, _):
    edit(folder, TRACKERS, wandb="stranger")
    (folder / "wandb").mkdir()
    (folder / "wandb/settings").write_text("[default]\nbase_url = http://127.0.0.1:9\n")


MODULES = {
    "environment": {"env": f"{MODULE}:make"},
    "environment in a package": {"env": f"{MODULE}.inner:make"},
    "Gymnasium's module": {"env": f"gym/{MODULE}:Swing-v0"},
    "algorithm": {"algo__type": f"{MODULE}:SAC"},
    "front": {"algo__critic__front__type": f"{MODULE}:Front"},
    "trunk": {"algo__actor__trunk__type": f"{MODULE}:Trunk"},
    "regularizer": {"algo__regularizers": [{"type": f"{MODULE}:Rule"}]},
}
for _title, _changes in MODULES.items():
    RUNS[f"module: {_title}"] = lambda folder, _, changes=_changes: edit(folder, CONFIG, **changes)


def tensors(folder, header, data=b"", *, size=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    content = struct.pack("<Q", len(text) if size is None else size) + text + data
    written(folder, None, TENSORS, content)


LIES = {
    "beyond the end": {"agent/x": {"dtype": "F32", "shape": [9], "data_offsets": [0, 36]}},
    "negative": {"agent/x": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}},
    "overflow": {"agent/x": {"dtype": "F32", "shape": [2**62, 4], "data_offsets": [0, 4]}},
    "overlap": {n: {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]} for n in ("a", "b")},
    "unknown dtype": {"agent/x": {"dtype": "PICKLE", "shape": [1], "data_offsets": [0, 4]}},
    "wrong type": {"agent/x": 7},
    "other tensors": {"agent/x": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}},
    "empty": {},
    "metadata": {"__metadata__": {"format": HTML, "x": ESCAPES}},
}
for _title, _header in LIES.items():
    RUNS[f"tensors: {_title}"] = lambda folder, _, header=_header: tensors(folder, header, bytes(4))
for _title, _size in {"huge": 2**62, "too long": 10_000, "zero": 0}.items():
    RUNS[f"tensors: a header's length that is {_title}"] = lambda folder, _, size=_size: tensors(
        folder, {}, size=size
    )
RUNS["tensors: deep header"] = lambda folder, _: tensors(folder, DEEP["objects"])


@kind("tensors: NaN weights")
def _(folder, _):
    data = bytearray((folder / TENSORS).read_bytes())
    start = 8 + struct.unpack("<Q", data[:8])[0]
    data[start:] = b"\xff" * (len(data) - start)
    written(folder, None, TENSORS, bytes(data))
