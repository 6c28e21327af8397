"""The certificates of the releases in a room, and estimates that read them as a receiver of an export does."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from sqlglot import exp

from sqlanon.assess.estimate import Answered, estimate, require_parsed, source_names
from sqlanon.catalog.snapshot import hierarchies_of, policy_of, types_of
from sqlanon.domain.release import Release
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import UserError
from sqlanon.estimates.query.parse import parsed
from sqlanon.export.certificate import Evidence, certificate
from sqlanon.export.certificate_format import content_of
from sqlanon.export.formats.base import ExportFile, Format
from sqlanon.export.received import ReceivedExport
from sqlanon.release.existing.estimable import published
from sqlanon.sources.source import own_object
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.queries import select

# The file beside a room. Its name begins with the room's, so it is removed with the room.
_SUFFIX = ".certificates.json"
# Members of a certificate about files, which a room has none of.
_OF_FILES = ("partitioned_by", "csv")


@dataclass(frozen=True)
class Certified:
    """A release in a room: its name and its tables there, and the members of its certificate.

    The number of withheld rows of a live release is left out, because it changes with the source.
    """

    release: QualifiedName
    tables: tuple[QualifiedName, ...]
    content: dict[str, object]
    is_live: bool


def of_database(engine: Engine, release: Release) -> Certified:
    """Returns the certificate of a release in this database, without figures of its requirements."""
    columns = [(made.name, engine.columns(_rows(engine, made.name))) for made in release.published]
    several = release.published[0].fragment is not None
    is_live = release.kind == "view"
    stated = certificate(
        Evidence(
            release=replace(release, source_rows=None, suppressed_rows=0) if is_live else release,
            policy=policy_of(release),
            hierarchies=hierarchies_of(release),
            proofs=(),
            columns=() if several else columns[0][1],
            engine_version=engine.version(),
            exported_at=datetime.now(UTC).replace(tzinfo=None),
            tables=[(name.name, 0, kinds) for name, kinds in columns] if several else (),
            types=types_of(release),
        )
    )
    return Certified(release.name, tuple(made.name for made in release.published), content_of(stated), is_live)


def _rows(engine: Engine, name: QualifiedName) -> exp.Select:
    return select(exp.Star(), of=relation(own_object(engine, name)))


def write(room: Path, certified: Sequence[Certified]) -> None:
    """Writes the certificates beside a room, in a file that only its owner may read."""
    listed = [
        {
            "release": each.release.parts,
            "tables": [table.parts for table in each.tables],
            "content": each.content,
            "is_live": each.is_live,
        }
        for each in certified
    ]
    file = room.with_name(room.name + _SUFFIX)
    file.touch(mode=0o600)
    file.write_text(json.dumps(listed), encoding="utf-8")


def _read(room: Path, release: QualifiedName) -> Certified:
    file = room.with_name(room.name + _SUFFIX)
    for each in json.loads(file.read_text(encoding="utf-8")) if file.is_file() else ():
        if tuple(each["release"]) == release.parts:
            tables = tuple(QualifiedName(tuple(parts)) for parts in each["tables"])
            return Certified(release, tables, each["content"], each["is_live"])
    raise UserError(f"{release.name} has no certificate, which an estimate reads")


def estimate_in_room(engine: Engine, room: Path, release: QualifiedName, text: str) -> Answered:
    """Estimates a query from a release in a room, which `engine` has open. Returns the columns and the rows.

    Raises PolicyError for a query that the release cannot answer.
    """
    certified = _read(room, release)
    query = parsed(text)
    require_parsed(engine, text)
    content = {name: member for name, member in certified.content.items() if name not in _OF_FILES}
    kind = cast(Format, _RoomTables(certified.tables))
    data = tuple(Path(str(number)) for number in range(len(certified.tables)))
    export = ReceivedExport(release.name, data, "room", kind, content, "an estimate")
    recorded = export.recorded if not certified.is_live else replace(export.recorded, withheld=None)
    model = published(recorded, [*source_names(recorded.policy), recorded.name])
    with engine.transaction(), TempTables(engine) as temp:
        return estimate(engine, query, model, temp, recorded.policy)


class _RoomTables:
    """The tables of a release in a room, read as the files of an export are; the number of a table is its path."""

    def __init__(self, tables: Sequence[QualifiedName]) -> None:
        self._tables = tables

    def read(self, file: ExportFile) -> exp.Query:
        """Returns the rows of a table with its columns."""
        table = self._tables[int(file.path.name)]
        return select(*(column(name) for name, _ in file.columns), of=relation(table))
