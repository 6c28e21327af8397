"""Writes the outcome of jobs to a metrics file in Prometheus' text format, with the library prometheus_client."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlanon.domain.release import Measurement, Release
from sqlanon.errors import UserError


@dataclass(frozen=True)
class JobFigures:
    """The outcome of a job: its exit code, its duration in seconds, and the time of its last success (UTC).

    `releases` are the releases that the job leaves, each with its measurements.
    """

    job: str
    exit_code: int
    unchanged: bool
    seconds: float
    finished_at: datetime | None
    releases: Sequence[tuple[Release, Sequence[Measurement]]] = ()


def write_metrics(path: Path, figures: Sequence[JobFigures]) -> None:
    """Writes the file in one step. Raises UserError if the file cannot be written or if prometheus_client is
    missing.
    """
    try:
        from prometheus_client import CollectorRegistry, Gauge, write_to_textfile
    except ImportError:
        raise UserError("a file of metrics needs prometheus_client", hint="pip install 'sqlanon[jobs]'") from None
    registry = CollectorRegistry()

    def gauge(name: str, meaning: str, *labels: str) -> Gauge:
        return Gauge(f"sqlanon_{name}", meaning, labels, registry=registry)

    exit_code = gauge("job_exit_code", "Exit code of the last run: 0 is done, or nothing to do.", "job")
    unchanged = gauge("job_unchanged", "1 if the last run had nothing to do, for nothing had changed.", "job")
    seconds = gauge("job_duration_seconds", "Seconds that the last run took.", "job")
    success = gauge("job_last_success_timestamp_seconds", "When the job was last done, or had nothing to do.", "job")
    rows = gauge("release_rows", "Rows of the release when it was made.", "job", "release")
    suppressed = gauge("release_suppressed_rows", "Rows of the source that the release leaves out.", "job", "release")
    made = gauge("release_made_timestamp_seconds", "When the release was made.", "job", "release")
    about = ("job", "release", "requirement", "attribute")
    achieved = gauge("requirement_achieved", "What the release comes to in a requirement.", *about)
    required = gauge("requirement_required", "What is required.", *about)
    for each in figures:
        exit_code.labels(each.job).set(each.exit_code)
        unchanged.labels(each.job).set(each.unchanged)
        seconds.labels(each.job).set(each.seconds)
        if each.finished_at is not None:
            success.labels(each.job).set(_seconds_since_1970(each.finished_at))
        for release, measurements in each.releases:
            name = str(release.name)
            rows.labels(each.job, name).set(release.released_rows)
            suppressed.labels(each.job, name).set(release.suppressed_rows)
            made.labels(each.job, name).set(_seconds_since_1970(release.created_at))
            for measurement in measurements:
                if measurement.required is None:
                    # It is a figure without a requirement, such as the loss.
                    continue
                labels = (each.job, name, measurement.question, measurement.attribute or "")
                required.labels(*labels).set(measurement.required)
                if measurement.achieved is not None:
                    achieved.labels(*labels).set(measurement.achieved)
    try:
        write_to_textfile(str(path), registry)
    except OSError as error:
        raise UserError(f"the metrics {path} cannot be written: {error.strerror}") from None


def _seconds_since_1970(timestamp: datetime) -> float:
    return (timestamp - datetime(1970, 1, 1)).total_seconds()
