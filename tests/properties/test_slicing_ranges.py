"""METHOD slicing with column_k: what each column shows in place of its quasi-identifiers, on random tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from sqlanon import PrivacyViolation
from tests.oracles.mondrian import Attribute, Domain, Mondrian, Options, range_label
from tests.oracles.slicing import Row, bucket_check, diversity
from tests.support.draws import draws
from tests.support.slicing import KINDS, QUASI, Case, cases, shown, sliced

pytestmark = pytest.mark.drawn


def satisfied(case: Case, rows: Sequence[int]) -> bool:
    """Whether these rows as a bucket are diverse in every sensitive attribute."""
    of = diversity(case.l, case.variant, Fraction(case.c))
    return all(bucket_check(sliced(case, [rows], at), of) for at in case.sensitive)


def domains_of(case: Case, positions: Sequence[int]) -> list[Domain]:
    table = [dict(zip(case.names, row, strict=True)) for row in case.rows]
    kinds = ["values" if KINDS[at] == "VARCHAR" else "numeric" for at in positions]
    return [Domain(Attribute(case.names[at], kind), table) for at, kind in zip(positions, kinds, strict=True)]


def regions(case: Case, positions: Sequence[int], allowed: object) -> list[list[int]]:
    table = [dict(zip(case.names, row, strict=True)) for row in case.rows]
    return Mondrian(table, domains_of(case, positions), Options(), allowed).partition() or []  # type: ignore[arg-type]


def with_ranges(case: Case, k: int) -> list[list[Row]]:
    """Of each column, what it shows of each row."""
    columns: list[list[Row]] = []
    for column in case.columns:
        quasi = [at for at in column if case.roles[at] == QUASI]
        labels: dict[tuple[int, int], str] = {}
        if quasi:
            for region in regions(case, quasi, lambda rows: len(rows) >= k):
                for at, domain in zip(quasi, domains_of(case, quasi), strict=True):
                    labels |= {(row, at): range_label(domain, region) for row in region}
        columns.append(
            [tuple(labels.get((row, at), case.rows[row][at]) for at in column) for row in range(len(case.rows))]
        )
    return columns


def contents(columns: Sequence[Sequence[Row]]) -> Hashable:
    return tuple(frozenset(Counter(rows).items()) for rows in columns)


@settings(max_examples=draws(2, long=30), deadline=None)
@given(cases(shared=False), st.sampled_from((2, 3, 5)))
def test_each_column_is_cut_by_itself(drawn: Case, k: int) -> None:
    """Buckets are those of the source's values; the combinations of a table occur k times, wherever they are."""
    case = replace(drawn, further=f", column_k => {k}")
    rows = range(len(case.rows))
    with case.install() as con:
        if not satisfied(case, rows) or 0 < len(rows) < k:
            event("refused")
            with pytest.raises(PrivacyViolation):
                con.execute(case.statement)
            query = "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main'"
            assert con.duckdb.execute(query).fetchall() == [("t",)]
            return
        event("released")
        con.execute(case.statement)
        tables = shown(con, case)
        quasi = [at for at, role in enumerate(case.roles) if role == QUASI]
        columns = with_ranges(case, k)
        expected = [
            contents([[rows_of_column[row] for row in bucket] for rows_of_column in columns])
            for bucket in regions(case, quasi, lambda bucket: satisfied(case, bucket))
        ]
        numbers = sorted({bucket for table in tables for bucket, _ in table})
        made = [contents([[row for of, row in table if of == number] for table in tables]) for number in numbers]
        assert Counter(made) == Counter(expected)
        checked = {row[1]: row[-2:] for row in con.execute("CHECK r").fetchall()}
        least = least_repeated(case, tables)
        assert checked["column_k_anonymity"] == (least, True)
        assert least is None or least >= k


def least_repeated(case: Case, tables: Sequence[Sequence[tuple[int, Row]]]) -> int | None:
    """How often the rarest combination of quasi-identifiers occurs in its table."""
    counts: list[int] = []
    for column, table in zip(case.columns, tables, strict=True):
        quasi = [place for place, at in enumerate(column) if case.roles[at] == QUASI]
        if quasi:
            counts += Counter(tuple(row[place] for place in quasi) for _, row in table).values()
    return min(counts, default=None)
