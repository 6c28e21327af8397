"""EXPORT ... (TEXT true): quasi-identifiers as text, whatever their levels, so that files keep their types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Policy, Role
from sqlanon.domain.reading import Reading
from sqlanon.domain.release import Release
from sqlanon.engines.base import Column
from sqlanon.export.certificate_format import Certificate
from sqlanon.export.formats.base import ExportFile
from sqlanon.sources.item_lists import is_list
from sqlanon.sql.build.expressions import cast
from sqlanon.sql.build.names import alias, column

# Their values are of the source's type at every level.
_ENDS = (Reading.LOWER_BOUND, Reading.UPPER_BOUND)
_TEXT, _TEXTS = "VARCHAR", "VARCHAR[]"


def as_text(
    file: ExportFile, rows: exp.Select, release: Release, policy: Policy, fragment: str | None
) -> tuple[tuple[Column, ...], exp.Select]:
    """Returns the columns of a file and its rows with every quasi-identifier as text, and lists as lists of texts."""
    quasi = {fold(a.name) for a in policy.all_attributes if a.role is Role.QUASI_IDENTIFIER}
    named = {
        a.name for a in release.attributes_of(fragment) if fold(a.source or a.name) in quasi and a.reading not in _ENDS
    }
    columns = tuple(
        (name, (_TEXTS if is_list(kind) else _TEXT) if name in named else kind) for name, kind in file.columns
    )
    outputs = [
        alias(column(name) if kind == former else cast(column(name), kind), name)
        for (name, kind), (_, former) in zip(columns, file.columns, strict=True)
    ]
    return columns, exp.select(*outputs).from_(rows.subquery("as_released"))


def changed_types(former: Certificate | None, files: Sequence[ExportFile], *, fixed: bool) -> Iterator[str]:
    """Says which columns have another type than in the export that is replaced, by its certificate.

    `fixed` says that TEXT is asked for.
    """
    tables = former.all_tables if former else ()
    types = {(table.name, column.name): column.type for table in tables for column in table.columns}
    changed = [
        f"{name} is {kind} and was {types[file.table, name]}"
        for file in files
        for name, kind in file.columns
        if types.get((file.table, name), kind) != kind
    ]
    if changed:
        advice = "" if fixed else "; EXPORT ... (TEXT true) writes quasi-identifiers as text each time"
        yield f"columns have other types than in the export that this one replaces: {', '.join(changed)}{advice}"
