"""What PROFILE counts of random tables, against counting pair by pair; and that what it proposes can be run."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon
from sqlanon import Connection
from sqlanon.domain.numbers import per_cent
from tests.oracles import special_uniques as oracle
from tests.oracles.combinations import distinction, minimal_keys, separation, unique_rows
from tests.support.draws import draws
from tests.support.names import quoted

pytestmark = pytest.mark.drawn

NAMES = ("a", 'b "b"', "it's c", "é 中")
TYPES = ("INTEGER", "VARCHAR", "DOUBLE", "BOOLEAN")
Row = tuple[Hashable, ...]

tables = st.lists(
    st.tuples(
        st.sampled_from((-3, 0, 4, 9, None)),
        st.sampled_from(("flu", "it's", "", None)),
        st.sampled_from((0.5, 1e300, -2.0, None)),
        st.sampled_from((True, False, None)),
    ),
    min_size=1,
    max_size=12,
)


def profiled(table: Sequence[Row], types: Sequence[str], names: Sequence[str] = NAMES) -> Connection:
    con = sqlanon.connect()
    columns = ", ".join(f"{quoted(name)} {kind}" for name, kind in zip(names, types, strict=True))
    con.execute(f"CREATE TABLE t ({columns})")
    for row in table:
        con.execute(f"INSERT INTO t VALUES ({', '.join('?' * len(types))})", list(row))
    return con


@settings(max_examples=draws(5, long=25), deadline=None)
@given(tables)
def test_sets_of_columns_are_counted_as_pair_by_pair(table: list[Row]) -> None:
    rows = profiled(table, TYPES).execute("PROFILE t").fetchall()
    roles = {row[1]: row[7] for row in rows if row[0] == "column"}
    for i, name in enumerate(NAMES):
        (row,) = (row for row in rows if row[:2] == ("column", name))
        require_figures(row[4:7], table, [i])
        assert row[2] == len({line[i] for line in table} - {None})
        assert row[3] == pytest.approx(sum(line[i] is None for line in table) / len(table))
    quasi = [i for i, name in enumerate(NAMES) if roles[name].startswith("QUASI")]
    by_name = {", ".join(NAMES[i] for i in columns): columns for columns in subsets(quasi)}
    for row in rows:
        if row[0] in ("columns", "key"):
            require_figures(row[4:7], table, by_name[row[1]])
    parts = [tuple(line[i] for i in quasi) for line in table]
    keys = {tuple(quasi[i] for i in key) for key in minimal_keys(parts, len(quasi), 3, Fraction(9, 10))}
    assert {tuple(by_name[row[1]]) for row in rows if row[0] == "key"} == keys
    no_keys = [quasi[i] for i in range(len(quasi)) if (quasi[i],) not in keys]
    special = {row[1]: (row[6], row[8]) for row in rows if row[0] == "special"}
    assert special == special_columns([tuple(line[i] for i in no_keys) for line in table], [NAMES[i] for i in no_keys])


def special_columns(table: Sequence[Row], names: Sequence[str]) -> dict[str, tuple[float, str]]:
    """Each column in minimal sample uniques of up to three columns, with its share of rows and the reason."""
    if len(names) < 2:
        return {}
    largest = min(3, len(names))
    minimal = oracle.minimal_uniques(table, largest, True)
    sets = [chosen for of_row in minimal for chosen in of_row]
    scores = {chosen: oracle.score("elliot", len(names), len(chosen), largest) for chosen in sets}
    shares = [
        sum((scores[chosen] for chosen in sets if i in chosen), Fraction(0)) / (sum(scores[c] for c in sets) or 1)
        for i in range(len(names))
    ]
    rows = [sum(any(i in chosen for chosen in of_row) for of_row in minimal) for i in range(len(names))]
    ranked = sorted((i for i in range(len(names)) if rows[i]), key=lambda i: -shares[i])
    others = "another column" if largest == 2 else "up to 2 other columns"
    expected = {}
    for rank, i in enumerate(ranked, 1):
        of = f"rank {rank} of {len(ranked)} column{'s' * (len(ranked) > 1)}"
        alone = "1 row is alone" if rows[i] == 1 else f"{rows[i]} rows are alone"
        why = f"{of}: {alone} by it and {others}, all needed; {per_cent(float(shares[i]))} of the SUDA scores"
        expected[names[i]] = (pytest.approx(rows[i] / len(table)), why)
    return expected


def subsets(columns: Sequence[int]) -> list[list[int]]:
    return [[c for i, c in enumerate(columns) if bits >> i & 1] for bits in range(1, 2 ** len(columns))]


def require_figures(figures: Sequence[float | None], table: Sequence[Row], columns: Sequence[int]) -> None:
    expected = (distinction(table, columns), separation(table, columns), unique_rows(table, columns))
    for figure, fraction in zip(figures, expected, strict=True):
        assert figure == (None if fraction is None else pytest.approx(float(fraction)))


numbers = st.one_of(st.integers(-(2**62), 2**62), st.integers(0, 20), st.none())
floats = st.one_of(st.floats(allow_nan=True, allow_infinity=True), st.sampled_from((0.0, -0.0, 1.0, 2.5)), st.none())
texts = st.one_of(st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=4), st.none())


@settings(max_examples=draws(2, long=25), deadline=None)
@given(st.lists(st.tuples(numbers, floats, texts), max_size=30), st.sampled_from(("zip", "amount", "it's")))
def test_what_is_proposed_runs_and_keeps_what_it_requires(table: list[Row], name: str) -> None:
    con = profiled(table, ("BIGINT", "DOUBLE", "VARCHAR"), ("n", "x", name))
    statements = [row[7] for row in con.execute("PROFILE t").fetchall() if row[0] == "statement" and row[7]]
    con.execute("; ".join(statements))
    if len(table) >= 5 and statements:
        con.execute("CREATE ANONYMIZED TABLE r AS POLICY t METHOD generalization(suppression => 1)")
        assert all(row[5] for row in con.execute("CHECK r").fetchall())
