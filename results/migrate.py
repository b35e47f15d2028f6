"""Give the tables of version 0.1 their sidecars: each job's digest with variant, task and seed.

Version 0.1 listed the digests of a table, sorted.  ``migration-0.1.json`` has what its code said of
every table: variant, task, seed and digest of each job, in order; its eight studies of
``examples/`` had no digests.  The jobs of today's experiments
have the same places in the same order; only their digests differ, since configs are written with
tags.  Tables of whichever version whose sidecars lack hashes get those, too.  Run it again whenever
the way in which configs are written changes:

    python results/migrate.py
"""

import json
from pathlib import Path

from lff.experiments import find_experiment
from lff.stats.fields import beside
from lff.stats.tables import FILES, read_sidecar, sidecar_text, write_sidecar
from lff.store.atomic import sha256

RESULTS = Path(__file__).parent


def migrate(path: Path, scale: str, name: str, old: list[list[object]]) -> dict[str, object]:
    """Return the sidecar of a table of version 0.1."""
    sidecar = json.loads(path.read_text())
    if "digests" in sidecar and sidecar["digests"] != sorted({place[3] for place in old}):
        raise SystemExit(f"{path} is of other jobs than version 0.1 had")
    cells = find_experiment(name).cells(scale)
    if [[cell.variant, cell.task, cell.seed] for cell in cells] != [place[:3] for place in old]:
        raise SystemExit(f"{name} has other variants, tasks or seeds than in version 0.1")
    jobs: dict[str, list[object]] = {}
    for cell in cells:
        jobs.setdefault(cell.digest, []).append([cell.variant, cell.task, cell.seed])
    kept = {key: sidecar[key] for key in ("scale", "seeds", "versions")}
    command = f"lff experiment run {name} --scale {scale}"
    return {**kept, "command": command, "jobs": jobs, "planned": len(jobs)}


def main() -> None:
    """Rewrite the sidecars of all tables of version 0.1, and add hashes where there are none."""
    for place, old in json.loads((RESULTS / "migration-0.1.json").read_text()).items():
        scale, _, name = place.partition("/")
        path = RESULTS / scale / f"{name}.json"
        path.write_text(sidecar_text(migrate(path, scale, name, old)), encoding="utf-8")
    for table in RESULTS.glob("*/*.csv"):
        sidecar = read_sidecar(table)
        if FILES not in sidecar:
            files = [file for file in (table, beside(table)) if file.exists()]
            write_sidecar(table, sidecar, {f.name: [sha256(f.read_bytes())] for f in files})


if __name__ == "__main__":
    main()
