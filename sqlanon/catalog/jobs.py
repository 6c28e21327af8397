"""Jobs, which are rows of `anon.job`: the last finished run of each job."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlanon.catalog import _rows, migrations
from sqlanon.catalog._json import BadJson, Text, dumps, loads, typed
from sqlanon.domain.series import FinishedJob
from sqlanon.engines.base import Engine


@dataclass(frozen=True)
class _JobRow:
    job: str
    script_sha256: str
    inputs_sha256: str
    releases: str
    exported_sha256: str
    finished_at: datetime | None


def finished(engine: Engine, name: str) -> FinishedJob | None:
    """Returns the last finished run of a job; None if there is no such run, or if its row cannot be read."""
    rows = _rows.read(engine, "job", _JobRow, {"job": name}) if migrations.ready(engine) else []
    if len(rows) != 1:
        return None
    [row] = rows
    try:
        releases = typed(loads(row.releases), tuple[tuple[Text, Text], ...], "the releases")
    except BadJson:
        return None
    return FinishedJob(row.job, row.script_sha256, row.inputs_sha256, releases, row.exported_sha256, row.finished_at)


def record(engine: Engine, job: FinishedJob) -> None:
    """Records a finished run of a job, and deletes the record of the former run."""
    with engine.transaction():
        _rows.delete(engine, "job", {"job": job.name})
        row: dict[str, object] = {
            "job": job.name,
            "script_sha256": job.script,
            "inputs_sha256": job.inputs,
            "releases": dumps([list(pair) for pair in job.releases]),
            "exported_sha256": job.exported,
        }
        _rows.insert(engine, "job", [row])
