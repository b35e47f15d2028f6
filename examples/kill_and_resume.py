"""Kill training runs with SIGKILL at random moments, resume them, compare every byte at the end.

Each run is a process of the real command line.  It is killed, started again by the same command,
killed again, and in the end left to finish; then final weights, metrics and evaluations must be
those of an undisturbed run.  Exit code 1 if one byte differs.

Undisturbed runs, and those killed while they start, are processes of their own; the others are
forked from one that has imported everything, so that kills hit the run and not its imports.
Moments are drawn in processor time, so that a busy machine does not move them to the end.
"""

import argparse
import contextlib
import json
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

import gymnasium
import numpy as np
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TimeElapsedColumn

IMPORTED = ("lff.cli.train", "lff.training", "lff.envs", "gymnasium.envs.mujoco")
COMPILER = ("torch._inductor.compile_fx",)
SIZE = "--hidden-dim 32 --fourier-dim 32 --batch-size 16"
SCHEDULE = "--steps 160 --log-every 20 --eval-every 100 --eval-episodes 1 --reference-episodes 0"
OWN_SCHEDULE = {
    "sac": "--warmup-steps 60",
    "td3": "--warmup-steps 60",
    "crossq": "--warmup-steps 60",
    "ppo": "--rollout-steps 60 --epochs 4",
}
SETUPS = {
    "cheetah LFF": "sac --env dmc/cheetah-run --net lff --checkpoint-every 25",
    "hopper MLP, small replay": (
        "sac --env gym/Hopper-v5 --net mlp --checkpoint-every 30 --replay-capacity 120"
    ),
    "own, cannot save its state": (
        "sac --env kill_and_resume:make_env --net lff --checkpoint-every 10"
    ),
    "cheetah MLP, no target": (
        "sac --env dmc/cheetah-run --net mlp --target none --action-repeat 2 --checkpoint-every 40"
    ),
    "pixels, cartpole LFF": (
        "sac --env dmc-pixels/cartpole-swingup --net lff --action-repeat 4 --checkpoint-every 25 "
        "--batch-size 8 --size size=36 cropped_size=32 num_filters=4 hidden_dim=16 fourier_dim=8"
    ),
    "PPO, hopper LFF": "ppo --env gym/Hopper-v5 --net lff --num-envs 3 --checkpoint-every 25",
    "PPO in processes, cheetah": (
        "ppo --env dmc/cheetah-run --net mlp --critic-net lff --num-envs 2 --envs processes "
        "--checkpoint-every 35"
    ),
    "PPO, own, cannot save its state": (
        "ppo --env kill_and_resume:make_env --net lff --num-envs 2 --checkpoint-every 10"
    ),
    "TD3, cheetah LFF": "td3 --env dmc/cheetah-run --net lff --checkpoint-every 25",
    "TD3, own, cannot save its state": (
        "td3 --env kill_and_resume:make_env --net mlp --checkpoint-every 10"
    ),
    "CrossQ, own, cannot save its state": (
        "crossq --env kill_and_resume:make_env --net mlp-2 --checkpoint-every 10"
    ),
}


class Swing(gymnasium.Env):
    """A noisy swing; it cannot save its state.

    Runs with a replay memory are checkpointed at episode starts, PPO's play the episode's actions
    again.
    """

    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (2,), np.float32)
    action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float32)

    def reset(self, *, seed=None, options=None):
        del options
        super().reset(seed=seed)
        self.place, self.count = self.np_random.normal(size=2), 0
        return self.place.astype(np.float32), {}

    def step(self, action):
        angle, speed = self.place
        speed += 0.1 * (action[0] - np.sin(angle)) + 0.01 * self.np_random.normal()
        self.place, self.count = np.array([angle + 0.1 * speed, speed]), self.count + 1
        return self.place.astype(np.float32), float(np.cos(angle)), False, self.count == 35, {}


def make_env(*, seed):
    del seed
    return Swing()


def start(folder, words, *, first=""):
    """Start a run in a process of its own, which first executes some code."""
    command = [sys.executable, "-c", f"{first}\nfrom lff.cli.main import main; main()", "train"]
    path = os.pathsep.join(filter(None, (str(Path(__file__).parent), os.environ.get("PYTHONPATH"))))
    return subprocess.Popen(
        [*command, *words, "--dir", str(folder)],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


class Forked:
    """A run in a process that is forked from one with all imports; used like a ``Popen``."""

    context = multiprocessing.get_context("forkserver")

    @classmethod
    def prepare(cls, how):
        """Import what runs need, and for a graph the compiler, before the first is forked."""
        here = str(Path(__file__).parent)
        os.environ["PYTHONPATH"] = os.pathsep.join(
            filter(None, (here, os.environ.get("PYTHONPATH")))
        )
        cls.context.set_forkserver_preload([*IMPORTED, *(COMPILER if how == "graph" else ())])
        first = cls.context.Process(target=int)  # imports, so that no run is timed with them
        first.start()
        first.join()

    def __init__(self, folder, words):
        self.errors = folder.with_name(f"{folder.name}.stderr")
        command = ["lff", "train", *words, "--dir", str(folder)]
        self.process = self.context.Process(target=command_line, args=(command, self.errors))
        self.process.start()

    @property
    def pid(self):
        return self.process.pid

    @property
    def returncode(self):
        return self.process.exitcode

    def poll(self):
        return self.process.exitcode

    def send_signal(self, number):
        if self.process.is_alive():
            os.kill(self.process.pid, number)

    def communicate(self):
        self.process.join()
        return "", self.errors.read_text()


def command_line(command, errors):
    """Be the process that a shell would start with this command."""
    sys.argv = command
    for stream, path in ((1, os.devnull), (2, errors)):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(descriptor, stream)
        os.close(descriptor)
    import_module("lff.cli.main").main()


def seconds_of(process):
    """Return the processor time that the first thread of a process has had."""
    try:
        return int(Path(f"/proc/{process.pid}/schedstat").read_text().split()[0]) / 1e9
    except OSError:  # it has ended
        return 0.0


def finish(folder, words, *, start=start):
    """Run to the end; return the processor time until the run began, and until it ended."""
    process, began, seconds = start(folder, words), 0.0, 0.0
    while process.poll() is None:
        seconds = max(seconds, seconds_of(process))
        began = began if (folder / "config.json").exists() else seconds
        time.sleep(0.01)
    _, errors = process.communicate()
    if process.returncode:
        raise SystemExit(f"{folder}: exit code {process.returncode}\n{errors}")
    return began, seconds


def results(folder):
    """Return every byte that must be equal, by file name."""
    names = ["checkpoints/final/tensors.safetensors", "metrics.jsonl", "metrics.csv"]
    names += sorted(str(p.relative_to(folder)) for p in (folder / "evaluations").iterdir())
    return {name: (folder / name).read_bytes() for name in names}


def half_written(folder):
    """Return the checkpoints, segments and small files that are being written, with their ages."""
    homes, found = (folder / "checkpoints", folder / "replay", folder), set()
    for home in homes:
        with contextlib.suppress(OSError):  # it is not there yet, or just got its name
            paths = [p for p in home.iterdir() if p.name.endswith((".new", ".tmp-lff"))]
            found |= {(path.name, path.stat().st_ctime_ns) for path in paths}
    return found


def kill(folder, words, rng, span):
    """Start a run and kill it at a random moment; return when and where, None if it had ended."""
    kind = rng.choice([*["any"] * 4, *["checkpoint"] * 3, "start"])
    left = half_written(folder)  # by the kill before
    process = (start if kind == "start" else Forked)(folder, words)
    until, spent = rng.uniform(*((0, span[0]) if kind == "start" else span)), 0.0
    while spent < until and process.poll() is None:
        time.sleep(0.02)
        spent = seconds_of(process)
    if kind == "checkpoint":
        while process.poll() is None and half_written(folder) <= left:
            time.sleep(0.001)
        time.sleep(rng.choice([0, rng.uniform(0, 0.02)]))
    process.send_signal(signal.SIGKILL)  # nothing happens if it has ended
    _, errors = process.communicate()
    if process.returncode == 0:
        return None
    if process.returncode != -signal.SIGKILL:
        raise SystemExit(f"{folder}: exit code {process.returncode}\n{errors}")
    if not half_written(folder) <= left:
        where = "while writing"
    else:
        where = "in the run" if (folder / "config.json").exists() else "before it began"
    return spent, where


def words_of(name, how, seed):
    """Return the command line of a set-up."""
    algo, *options = SETUPS[name].split()
    if how == "native" and (algo in ("td3", "crossq") or "dmc-pixels" in SETUPS[name]):
        how = "off"  # they have no native form
    words = [algo, *SIZE.split(), *SCHEDULE.split(), *OWN_SCHEDULE[algo].split(), *options]
    return [*words, "--compile", how, "--seed", str(seed)]


def torment(name, kills, arguments, folder, say):
    """Kill runs of one set-up; return the moments, the runs compared and what differed."""
    words = words_of(name, arguments.compile, arguments.seed)
    rng = random.Random(f"{arguments.seed} {name}")
    if "off" not in words:
        finish(folder / "warm", words)  # fills the compiler's cache, or the first takes longest
    finish(folder / "whole", words)
    whole = results(folder / "whole")
    span = finish(folder / "forked", words, start=Forked)
    moments, differences, runs = [], [], 0
    while len(moments) < kills:
        run = folder / f"killed-{runs}"
        for _ in range(rng.randint(4, 12)):
            moment = kill(run, words, rng, span) if len(moments) < kills else None
            if moment is None:
                break
            moments.append(moment)
            say(f"{name}: seed {arguments.seed}, killed after {moment[0]:.3f} s, {moment[1]}")
        finish(run, words, start=Forked)
        runs += 1
        found = results(run)
        names = [n for n in {*whole, *found} if whole.get(n) != found.get(n)]
        differences += [f"{run}/{n}" for n in names]
        say(f"{name}: {run.name} finished, {len(names)} of {len(whole)} files differ", advance=0)
        if not names:
            shutil.rmtree(run)
    return moments, runs, differences


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=60, help="SIGKILLs over all set-ups")
    parser.add_argument("--seed", type=int, default=0, help="of the runs and of the moments")
    parser.add_argument("--setups", nargs="+", choices=SETUPS, default=[*SETUPS])
    parser.add_argument("--compile", choices=("native", "graph", "off"), default="off")
    parser.add_argument("--jobs", type=int, default=1, help="set-ups that run side by side")
    parser.add_argument("--out", type=Path, help="keep the runs here instead of a temporary folder")
    arguments = parser.parse_args()
    if arguments.kills < 1 or arguments.jobs < 1:
        parser.error("--kills and --jobs must be 1 or more")
    Forked.prepare(arguments.compile)
    folder = arguments.out or Path(tempfile.mkdtemp(prefix="kill-and-resume-"))
    columns = (*Progress.get_default_columns()[:2], MofNCompleteColumn(), TimeElapsedColumn())
    begin, number = time.monotonic(), len(arguments.setups)
    with Progress(*columns, console=Console()) as bar, ThreadPoolExecutor(arguments.jobs) as pool:
        task = bar.add_task("kills", total=arguments.kills)

        def say(line, *, advance=1):
            bar.console.print(line, highlight=False)
            bar.advance(task, advance)

        futures = []
        for index, name in enumerate(arguments.setups):
            share = arguments.kills // number + (index < arguments.kills % number)
            place = folder / str(index)
            place.mkdir(parents=True, exist_ok=True)
            futures.append(pool.submit(torment, name, share, arguments, place, say))
        done = [future.result() for future in futures]
    moments = [moment for each, _, _ in done for moment in each]
    differences = [line for _, _, each in done for line in each]
    print(*differences, sep="\n", end="\n" if differences else "")
    print(f"kills={len(moments)} differences={len(differences)}")
    summary = {
        "kills": len(moments),
        "differences": len(differences),
        "runs": sum(runs for _, runs, _ in done),
        "moments": dict(Counter(where for _, where in moments)),
        "compile": arguments.compile,
        "seed": arguments.seed,
        "seconds": round(time.monotonic() - begin, 1),
    }
    print(json.dumps(summary))
    if arguments.out is None and not differences:
        shutil.rmtree(folder)
    sys.exit(bool(differences))


if __name__ == "__main__":
    main()
