"""Checks a written file on a connection of its own, as whoever receives it would read it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlglot import exp

from sqlanon.domain.report import Measurement
from sqlanon.engines.base import Engine
from sqlanon.errors import InternalError, PrivacyViolation
from sqlanon.export.formats.base import ExportFile, Format
from sqlanon.pipeline.check import answer
from sqlanon.pipeline.publish import fingerprint_of
from sqlanon.questions.ask import BoundRequirement
from sqlanon.sqlgen.normal_relations import equivalence_class_of

__all__ = ["Expected", "verify_file"]

_LIMITS = "SELECT current_setting('memory_limit'), current_setting('threads')"


@dataclass(frozen=True)
class Expected:
    """What a file must hold.

    `fingerprint` is that of its rows whatever their order, `certificate` the text that it
    carries. `requirements` go with what the snapshot achieves; `quasi_identifiers` is None where
    respondents are counted, which no file shows: then the fingerprint is what proves it.
    """

    fingerprint: str
    certificate: str
    requirements: Sequence[tuple[BoundRequirement, Measurement]]
    quasi_identifiers: Sequence[str] | None


def verify_file(engine: Engine, kind: Format, file: ExportFile, expected: Expected, spill: Path) -> None:
    """Reads the file back: the rows, the certificate, and every requirement recomputed.

    Raises PrivacyViolation if the file breaks a requirement, InternalError if it holds
    anything but what was checked.
    """
    memory, threads = engine.rows(_LIMITS)[0]
    config = {"memory_limit": str(memory), "threads": str(threads), "temp_directory": str(spill)}
    reader = kind.reopen(file, config)
    try:
        rows = kind.read(file)
        for requirement, achieved in expected.requirements:
            if expected.quasi_identifiers is not None:
                _require(reader, rows, requirement, achieved, expected.quasi_identifiers)
        if fingerprint_of(reader, rows) != expected.fingerprint:
            raise InternalError("the exported file reads back with other rows than the snapshot has; it was removed")
        carried = [expected.certificate] if kind.CARRIES_CERTIFICATE else []
        if list(kind.certificate(reader, file)) != carried:
            raise InternalError("the exported file reads back with another certificate; it was removed")
    finally:
        reader.connection.close()


def _require(
    reader: Engine, rows: exp.Query, requirement: BoundRequirement, achieved: Measurement, columns: Sequence[str]
) -> None:
    found = answer(reader, requirement, equivalence_class_of(rows.subquery("exported"), columns)).measurement
    if not found.satisfied:
        raise PrivacyViolation(
            f"the exported file would violate {requirement}: it reaches {found.achieved}; nothing was exported",
            hint="values that compare as equal in the database are told apart in the file",
        )
    if found.achieved != achieved.achieved:
        raise InternalError(
            f"the exported file reaches {found.achieved} in {requirement}, the snapshot {achieved.achieved}; "
            "it was removed"
        )
