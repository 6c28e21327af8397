"""The roles that PROFILE proposes for the columns of real tables, against the roles in their documentation.

The tables are files of the packages of the extra `roles`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import sqlanon
from benchmarks.column_roles import HELD_OUT, HELD_OUT_FIRST, KNOWN_BEFORE, TABLES, Known, load
from benchmarks.context import Context
from benchmarks.figure import Figure

__all__ = ["run"]

# Limits in percent: 4 of 28 sensitive columns missed, and a tenth of the other columns as false alarms.
_MISSED, _FALSE = 15.0, 10.0


@dataclass(frozen=True)
class _Counts:
    """Counts of columns of some tables: sensitive, identifying and other columns, and wrong proposals for each."""

    sensitive: int
    missed: tuple[str, ...]
    direct: int
    missed_direct: tuple[str, ...]
    others: int
    false: tuple[str, ...]


def run(context: Context) -> Iterator[Figure]:
    for group, tables in (
        ("seven tables", TABLES),
        ("held out first", HELD_OUT_FIRST),
        ("held out", HELD_OUT),
        ("known before", KNOWN_BEFORE),
    ):
        counts = _counted(context, tables)
        if counts is None:
            context.note("roles: pip install 'sqlanon[roles]'")
            return
        yield _figure(f"{group}: sensitive columns missed", counts.missed, counts.sensitive, _MISSED)
        yield _figure(f"{group}: false alarms", counts.false, counts.others, _FALSE)
        yield _figure(f"{group}: direct identifiers missed", counts.missed_direct, counts.direct, 0.0)


def _figure(what: str, columns: tuple[str, ...], of: int, mark: float) -> Figure:
    share = 100 * len(columns) / of if of else 0.0
    found = {"columns": len(columns), "of": of, "names": ", ".join(columns)}
    return Figure("roles", what, share, "%", share, share, mark=mark, found=found)


def _counted(context: Context, tables: Mapping[str, Known]) -> _Counts | None:
    sensitive = direct = others = 0
    missed, missed_direct, false = [], [], []
    for table, known in tables.items():
        frame = load(known)
        if frame is None:
            return None
        context.note(f"roles, {table}")
        with sqlanon.connect() as connection:
            connection.duckdb.register("frame", frame)
            connection.duckdb.execute(f"CREATE TABLE {table} AS FROM frame")
            rows = connection.sql(f"PROFILE {table}").fetchall()
        for part, name, *_, proposal, why in rows:
            if part != "column" or name in known.either:
                continue
            called = f"{table}.{name}"
            # A column that repeats another is left out for this reason, not as an identifier.
            is_left_out = proposal == "IDENTIFIER" and why.endswith("so it is left out")
            if name in known.sensitive:
                sensitive += 1
                missed += [called] if not proposal.startswith("SENSITIVE") else []
            elif name in known.direct:
                direct += 1
                missed_direct += [called] if proposal != "IDENTIFIER" else []
            else:
                others += 1
                false += [called] if proposal.startswith(("SENSITIVE", "IDENTIFIER")) and not is_left_out else []
    return _Counts(sensitive, tuple(missed), direct, tuple(missed_direct), others, tuple(false))
