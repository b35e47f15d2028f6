"""``lff.train``: the command ``lff train`` as a function."""

import io
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any, overload

from lff.cli.train import parse_words, run_to_end
from lff.core.errors import BadInputError
from lff.store import RunDir
from lff.training import RunConfig
from lff.training import train as train_config

FRAME = str.maketrans(dict.fromkeys("╭╮╰╯│─", " "))


@overload
def train(what: str, *, dir: Path | str, algo: str = "sac", **options: Any) -> RunDir: ...
@overload
def train(what: RunConfig, *, directory: Path | str, **options: Any) -> RunDir: ...
def train(what: str | RunConfig, *, algo: str = "sac", **options: Any) -> RunDir:
    """Train an agent as ``lff train ALGO --env TASK`` does; the same call resumes.

    Args:
        what: the task, as ``--env`` takes it; or a whole config, which goes to
            :func:`lff.training.train` with the other arguments.
        algo: the algorithm.
        dir: the run directory.
        options: options of ``lff train ALGO --help-all``, by the same names with underscores:
            ``net="lff"``, ``steps=100_000``, ``with_=["dropout:p=0.1"]``,
            ``**{"critic.front.sigma": 0.1}``.
    """
    if not isinstance(what, str):
        return train_config(what, **options)
    words = [algo, "--env", what, *to_words(options)]
    said = io.StringIO()
    try:
        with redirect_stderr(said):
            config, flags = parse_words(words)
    except SystemExit:
        text = " ".join(said.getvalue().translate(FRAME).split())
        wanted = f"those of lff train {algo} --help-all"
        raise BadInputError("options", options, wanted, text) from None
    episodes, command = flags.reference_episodes, ["lff", "train", *words]
    run_to_end(config, flags.dir, flags.trackers, reference_episodes=episodes, command=command)
    return RunDir(flags.dir)


def to_words(options: dict[str, Any]) -> list[str]:
    """Return keyword arguments as words of the command line.

    >>> to_words({"batch_size": 64, "with_": ["layer-norm", "dropout"], "normalize_obs": True})
    ['--batch-size', '64', '--with', 'layer-norm', 'dropout', '--normalize-obs']
    """
    words: list[str] = []
    for name, value in options.items():
        flag = name.strip("_").replace("_", "-")
        if value is None:
            continue
        if isinstance(value, bool):
            words.append(f"--{flag}" if value else f"--no-{flag}")
            continue
        many = isinstance(value, list | tuple)
        words += [f"--{flag}", *map(str, value if many else [value])]
    return words
