"""Count the files of the package that ``lff train`` executes up to its first checkpoint.

    python benchmarks/files_executed.py [sac|ppo|td3]

A file counts when a function of it runs; importing it does not.
"""

import inspect
import sys
import tempfile
from pathlib import Path
from types import FrameType
from typing import Any

import lff

ROOT = Path(lff.__file__).parent
OPTIONS = {
    "sac": ["--warmup-steps", "100", "--checkpoint-every", "150"],
    "td3": ["--warmup-steps", "100", "--checkpoint-every", "150"],
    "ppo": ["--rollout-steps", "80", "--batch-size", "40", "--checkpoint-every", "150"],
}


class Saved(BaseException):
    pass


def main() -> None:
    algo = sys.argv[1] if len(sys.argv) > 1 else "sac"
    files: dict[str, int] = {}

    def profile(frame: FrameType, event: str, _argument: Any) -> None:
        name = frame.f_code.co_filename
        is_function = frame.f_code.co_flags & inspect.CO_OPTIMIZED  # not a module or class body
        if event != "call" or not is_function or not name.startswith(str(ROOT)):
            return
        files[name] = files.get(name, 0) + 1

    from lff.cli.main import main as command
    from lff.store import RunDir

    save = RunDir.save

    def stop_after(self: RunDir, *arguments: Any, **options: Any) -> Any:
        save(self, *arguments, **options)
        raise Saved

    RunDir.save = stop_after  # type: ignore[method-assign]
    with tempfile.TemporaryDirectory() as folder:
        words = ["train", algo, "--env", "probe/action", "--dir", f"{folder}/run", "--steps", "200"]
        sys.argv = ["lff", *words, *OPTIONS.get(algo, [])]
        sys.setprofile(profile)
        try:
            command()
        except Saved:
            pass
        finally:
            sys.setprofile(None)
    for name in sorted(files):
        print(f"{files[name]:8d}  {Path(name).relative_to(ROOT)}")
    print(f"{len(files)} files executed by lff train {algo} up to its first checkpoint")


if __name__ == "__main__":
    main()
