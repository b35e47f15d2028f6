"""Compound faults from one seed: kills, damage, a full disk, second starters, power cuts, mixed.

Each run is a process of the real command line.  Between its starts, and while it runs, faults are
drawn from the seed; in the end it is left to finish, and final weights, metrics and evaluations
must be those of an undisturbed run.  A start may end in success, by the kill, or with the exit code
that its fault asks for: 74 for a full disk or damage, 2 for a config that is no longer one, 3 for a
second starter.  After a power cut, whose states are simulated, the run must go on from the last
checkpoint whose save had returned, or a newer one.  Anything else, or one differing byte, is exit
code 1.  The seed draws the faults; at which instruction a kill falls is up to the machine.

    python examples/chaos.py --seed 7                    # SAC, PPO, pixels, then a sweep on Ray
    python examples/chaos.py --seed 7 --faults 40 --no-ray
"""

import argparse
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from kill_and_resume import SETUPS, Forked, finish, kill, results, start, words_of
from power_loss import cut_code, probe_code, take_state

CHOSEN = ("cheetah LFF", "PPO, hopper LFF", "pixels, cartpole LFF")
FULL = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, ({0}, {0}))
"""
OK, USAGE, BUSY, IO = 0, 2, 3, 74
PATIENCE = 600.0
CALLS = (20, 100, 400)
"""Calls that change the disk: at the start, up to a few checkpoints, up to the end."""
READ_BACK = ("checkpoints", "replay", "config.json")
"""What a run is read back from."""


class Faults:
    """The faults of one run; every method does one and returns what happened."""

    def __init__(
        self, folder: Path, words: list[str], rng: random.Random, span: tuple[float, float]
    ) -> None:
        self.folder, self.words, self.rng, self.span = folder, words, rng, span

    def one(self) -> str:
        """Do a fault that the seed chooses."""
        others = (self.full_disk, self.second, self.damage)
        return self.rng.choice((self.kill, self.kill, self.power_cut, self.power_cut, *others))()

    def kill(self) -> str:
        moment = kill(self.folder, self.words, self.rng, self.span)
        return "kill: it had ended" if moment is None else f"kill: {moment[1]}"

    def full_disk(self) -> str:
        limit = self.rng.choice((500, 5_000, 50_000, 500_000))
        code = self._end(start(self.folder, self.words, first=FULL.format(limit)), OK, IO)
        return f"full disk: no file beyond {limit:,} bytes, ended with {code}"

    def second(self) -> str:
        first = start(self.folder, self.words)
        while first.poll() is None and not (self.folder / ".lock-holder.json").exists():
            time.sleep(0.02)
        code = self._end(start(self.folder, self.words), BUSY, OK)
        time.sleep(self.rng.uniform(0, self.span[1] / 3))
        first.send_signal(signal.SIGKILL)
        self._end(first, OK, -signal.SIGKILL)
        return f"second starter: ended with {code}, then the first was killed"

    def power_cut(self) -> str:
        """Cut the power, then look where the next start goes on, and kill it there."""
        disk, probe = self.folder.parent, self.folder.parent.with_name("resumed-at")
        call, seed = self.rng.randrange(1, self.rng.choice(CALLS)), self.rng.randrange(2**32)
        cut = start(self.folder, self.words, first=cut_code(disk, call, seed))
        self._end(cut, -signal.SIGKILL)
        left = take_state(disk)
        self._end(start(self.folder, self.words, first=probe_code(probe)), -signal.SIGKILL)
        step = int(probe.read_text())
        if step < left["floor"]:
            raise SystemExit(f"{self.folder}: resumed at {step}, saved at {left['floor']}; {left}")
        kept = f"{left['mode']} kept, saved at {left['floor']}, resumed at {step}"
        return f"power cut: at call {call}, {kept}"

    def damage(self) -> str:
        """Damage a file; if that stops the run, put the file back as from a backup."""
        inside = {path: path.relative_to(self.folder) for path in sorted(self.folder.rglob("*"))}
        files = [p for p, name in inside.items() if p.is_file() and name.parts[0] in READ_BACK]
        if not files:
            return "damage: nothing there yet"
        path = self.rng.choice(files)
        backup, how = path.read_bytes(), self.rng.choice(("flipped", "cut", "zeroed", "deleted"))
        if how == "deleted":
            path.unlink()
        else:
            path.write_bytes(self._damaged(backup, how))
        code = self._end(start(self.folder, self.words), OK, USAGE, IO)
        if code:
            path.write_bytes(backup)
        return f"damage: {inside[path]} {how}, ended with {code}"

    def _damaged(self, data: bytes, how: str) -> bytes:
        at = self.rng.randrange(len(data)) if data else 0
        if how == "cut":
            return data[:at]
        if how == "zeroed":
            return data[:at] + bytes(len(data) - at)
        return data[:at] + bytes([data[at] ^ (1 << self.rng.randrange(8))]) + data[at + 1 :]

    def _end(self, process: "subprocess.Popen[str]", *codes: int) -> int:
        _, errors = process.communicate(timeout=PATIENCE)
        if process.returncode not in codes or "Traceback" in errors:
            raise SystemExit(f"{self.folder}: exit code {process.returncode}\n{errors}")
        return process.returncode


def torment(name: str, faults: int, seed: int, folder: Path) -> tuple[list[str], list[str]]:
    """Disturb one run of a set-up; return what was done and the files that differ."""
    words, rng = words_of(name, "off", seed), random.Random(f"{seed} {name}")
    finish(folder / "whole", words)
    span = finish(folder / "forked", words, start=Forked)
    disk = folder / "disk"
    disk.mkdir()
    run, done = Faults(disk / "run", words, rng, span), []
    for _ in range(faults):
        done.append(run.one())
        print(f"  {name}: {done[-1]}", flush=True)
    finish(run.folder, words)
    whole, found = results(folder / "whole"), results(run.folder)
    return done, [n for n in {*whole, *found} if whole.get(n) != found.get(n)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--faults", type=int, default=10, help="of each set-up")
    parser.add_argument("--setups", nargs="+", choices=SETUPS, default=CHOSEN)
    parser.add_argument("--no-ray", dest="ray", action="store_false", help="leave the sweep out")
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}", flush=True)
    Forked.prepare("off")
    done, differing, begin = [], [], time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="chaos-"))
    for index, name in enumerate(arguments.setups):
        place = folder / str(index)
        place.mkdir()
        faults, files = torment(name, arguments.faults, arguments.seed, place)
        done, differing = done + faults, differing + [f"{place}: {name}: {file}" for file in files]
    if arguments.ray:
        sweep = [sys.executable, str(Path(__file__).with_name("kill_sweep.py")), "--ray"]
        options = (
            f"--jobs 4 --worker-kills 4 --launcher-kills 1 --power-cuts 3 --seed {arguments.seed}"
        )
        ended = subprocess.run([*sweep, *options.split()], check=False).returncode
        differing += ["the tables of the sweep on Ray"] if ended else []
    print(*differing, sep="\n", end="\n" if differing else "")
    kinds = Counter(text.partition(":")[0] for text in done)
    print(", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items())))
    seconds = time.monotonic() - begin
    print(f"seed={arguments.seed} faults={len(done)} differences={len(differing)} {seconds:.0f} s")
    if not differing:
        shutil.rmtree(folder)
    sys.exit(bool(differing))


if __name__ == "__main__":
    main()
