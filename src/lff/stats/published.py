"""Scores that others have published, as facts with their sources."""

import csv
import math
from dataclasses import dataclass, fields
from pathlib import Path

from lff.core.errors import BadInputError


@dataclass(frozen=True, kw_only=True)
class Published:
    """One published score."""

    task: str
    """Name without its family, ``cheetah-run``."""
    algorithm: str
    env_steps: int
    """Environment steps, action repeat included."""
    score: float
    spread: float | None
    """Standard deviation over the seeds, where it is known."""
    seeds: int
    source: str

    def __post_init__(self) -> None:
        for name in ("task", "algorithm", "source"):
            if not getattr(self, name).strip():
                raise BadInputError(name, getattr(self, name), "filled", "say where it is from")
        for name in ("env_steps", "seeds"):
            if getattr(self, name) < 1:
                raise BadInputError(name, getattr(self, name), "1 or more", "look at its source")
        if not math.isfinite(self.score):
            raise BadInputError("score", self.score, "finite", "look at its source")
        if self.spread is not None and not 0 <= self.spread < math.inf:
            raise BadInputError("spread", self.spread, "0 or more", "leave it empty if unknown")


def read_published(path: Path) -> list[Published]:
    """Read a CSV file of published scores; each task, algorithm and step may appear once."""
    columns = tuple(field.name for field in fields(Published))
    with path.open(newline="") as file:
        reader = csv.DictReader(file)
        if tuple(reader.fieldnames or ()) != columns:
            remedy = f"its columns must be {', '.join(columns)}"
            raise BadInputError("table", path.name, "of published scores", remedy)
        found = [_read_line(line, f"{path.name}, line {reader.line_num}") for line in reader]
    seen: set[tuple[str, str, int]] = set()
    for score in found:
        key = (score.task, score.algorithm, score.env_steps)
        if key in seen:
            raise BadInputError("score", key, "given once", f"remove one from {path.name}")
        seen.add(key)
    return found


def _read_line(line: dict[str, str], where: str) -> Published:
    try:
        return Published(
            task=line["task"],
            algorithm=line["algorithm"],
            env_steps=int(line["env_steps"]),
            score=float(line["score"]),
            spread=float(line["spread"]) if line["spread"] else None,
            seeds=int(line["seeds"]),
            source=line["source"],
        )
    except BadInputError as error:
        raise BadInputError("line", list(line.values()), "valid", f"{where}: {error}") from None
    except (TypeError, ValueError, AttributeError):
        remedy = f"look at {where}"
        raise BadInputError("line", list(line.values()), "seven fields", remedy) from None
