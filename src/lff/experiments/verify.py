"""Verification of a results folder and of the folders of jobs."""

import json
from collections.abc import Iterator
from pathlib import Path

from lff.core.errors import BadInputError, CorruptError
from lff.experiments.spec import SCALES
from lff.launch.records import FILES, JOB, OUTCOME, SUFFIX, read_outcome, read_record
from lff.stats import tables
from lff.stats.fields import FIELDS, beside
from lff.store import RunDir
from lff.store.verify import Finding, check, unhashed, verify_run


def verify(folder: Path) -> list[Finding]:
    """Check every file of a run directory, a job's folder, or a folder of results or of jobs."""
    if (folder / "config.json").exists():
        return verify_run(folder)
    if (folder / JOB).exists() or (folder / OUTCOME).exists():
        return [*_job(folder)]
    scales = [folder / scale for scale in SCALES if (folder / scale).is_dir()]
    jobs = folder / "jobs"
    if not scales and not jobs.is_dir():
        wanted = "a run directory, a job's folder or a results folder"
        raise BadInputError("folder", str(folder), wanted, "name one, as in lff verify results")
    found = [finding for scale in scales for finding in _tables(scale)]
    for path in sorted(jobs.iterdir()) if jobs.is_dir() else ():
        if path.is_dir():
            found += _job(path)
        elif path.name.endswith(SUFFIX):
            found.append(check(path, read_record, path))
    if scales and (folder / "stress").is_dir():  # the references of lff stress, laid out alike
        found += verify(folder / "stress")
    return [*found, *unhashed(folder, {finding.path for finding in found})]


def _tables(scale: Path) -> Iterator[Finding]:
    names = {path.stem for path in (*scale.glob("*.csv"), *scale.glob("*.json"))}
    for name in sorted(name for name in names if not f"{name}.json".endswith(f".{FIELDS}")):
        path = scale / f"{name}.csv"
        sidecar = path.with_suffix(".json")
        finding = check(sidecar, _check_sidecar, path)
        hashed = finding.state == "ok" and bool(tables.read_sidecar(path).get(tables.FILES))
        yield finding if hashed or finding.state != "ok" else Finding(sidecar, "no hash")
        for file in (path, beside(path)):
            if file == path or file.exists():
                yield check(file, _check_table, path, hashed=hashed)


def _check_sidecar(path: Path) -> None:
    if not tables.read_sidecar(path):
        raise CorruptError(f"{path.with_suffix('.json')} is missing or empty; restore it")


def _check_table(path: Path) -> None:
    try:
        tables.check_table(path, tables.read_sidecar(path))
        tables.read_table(path)
    except (BadInputError, OSError) as error:
        raise CorruptError(f"{path}: {error}") from None


def _job(folder: Path) -> Iterator[Finding]:
    outcome, run = folder / OUTCOME, folder / "run"
    found: list[Finding] = []
    if outcome.exists():
        found.append(check(outcome, read_outcome, folder))
        if found[0].state == "ok":
            hashes = json.loads(outcome.read_bytes()).get("files") or {}
            found = [Finding(outcome, "ok" if hashes else "no hash")]
            found += [Finding(folder / name, "ok") for name in FILES if name in hashes]
    if RunDir(run).config_file.exists():
        found += verify_run(run)
    yield from found
    yield from unhashed(folder, {finding.path for finding in found})
