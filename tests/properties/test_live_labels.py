"""A live view whose source gets and loses labels by the hundred, against one count of its rows in Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from sqlanon import Connection, PrivacyViolation, connect
from sqlanon.sql.sizes import sizes
from tests.support.draws import draws
from tests.support.policies import BUDGET

pytestmark = pytest.mark.drawn

Row = tuple[Any, ...]
# Each example makes a database and fills it.
FEW = settings(BUDGET, max_examples=draws(3, long=12))


@dataclass(frozen=True)
class Arrival:
    """Classes of `size` rows each, whose labels are drawn from `labels` a column, of an arrival's own.

    Columns from `free` on have `fixed` labels each.
    """

    number: int
    classes: int
    size: int
    labels: int
    fixed: int

    def insert(self, con: Connection, columns: int, free: int) -> None:
        """Labels are digests, so that new ones stand between old ones; the first of each column is NULL."""
        values = []
        for c in range(columns):
            label = f"hash(i, {c}, {self.number}) % {self.labels if c < free else self.fixed}"
            values.append(f"CASE {label} WHEN 0 THEN NULL ELSE left(md5('{self.number}:' || {label}), 7) END")
        con.duckdb.execute(
            f"INSERT INTO source SELECT {', '.join(values)}, nextval('person') "
            f"FROM range({self.classes}) AS c(i), range({self.size}) AS r(j)"
        )


@dataclass(frozen=True)
class Plan:
    """How many columns there are and how many of them, the first, may be generalized; what is required, and how."""

    columns: int
    free: int
    k: int
    local: bool
    threads: int

    def install(self, *arrivals: Arrival) -> Connection:
        con = connect(config={"threads": str(self.threads)})
        names = [f"q{c}" for c in range(self.columns)]
        con.execute(f"CREATE TABLE source ({', '.join(f'{name} VARCHAR' for name in names)}, s INTEGER)")
        con.execute("CREATE SEQUENCE person; CREATE HIERARCHY first AS PREFIXES (1)")
        for arrival in arrivals:
            arrival.insert(con, self.columns, self.free)
        columns = [
            f"{name} QUASI IDENTIFIER USING first" + ("" if c < self.free else f" MIN LEVEL {c % 2} MAX LEVEL {c % 2}")
            for c, name in enumerate(names)
        ]
        con.execute(f"CREATE POLICY p ON source ({', '.join(columns)}, s SENSITIVE) REQUIRE k_anonymity(k => {self.k})")
        return con

    @property
    def method(self) -> str:
        return f"METHOD generalization(suppression => 0.4, recoding => '{'local' if self.local else 'global'}')"


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    columns = draw(st.integers(1, 11))
    free = draw(st.integers(0, min(columns, 3)))
    return Plan(columns, free, draw(st.integers(1, 4)), draw(st.booleans()), draw(st.sampled_from([1, 2, 4])))


@st.composite
def arrivals(draw: st.DrawFn, number: int, most: int) -> Arrival:
    labels = st.sampled_from([1, 2, 20, 10 * most])
    return Arrival(number, draw(st.sampled_from([1, 30, most])), draw(st.integers(1, 5)), draw(labels), draw(labels))


def _level(value: str | None, level: int) -> str | None:
    if level == 2:
        return "*"
    return value if level == 0 or value is None else value[0] + "*" * (len(value) - 1)


def _rounds(con: Connection, width: int) -> list[tuple[int, ...]]:
    found = con.duckdb.execute("SELECT round, level FROM anon.release_round ORDER BY round, attribute").fetchall()
    if not found:
        query = "SELECT level FROM anon.release_attribute WHERE role = 'quasi_identifier' ORDER BY position"
        return [tuple(level for (level,) in con.duckdb.execute(query).fetchall())]
    names = sorted(range(width), key=lambda c: f"q{c}")
    rounds = [[level for own, level in found if own == number][:width] for number in sorted({n for n, _ in found})]
    return [tuple(levels[names.index(c)] for c in range(width)) for levels in rounds]


def _shown(rows: Sequence[Row], rounds: Sequence[tuple[int, ...]], k: int) -> Counter[Row]:
    """Round after round, the classes of k rows or more of what is left."""
    shown: Counter[Row] = Counter()
    for levels in rounds:
        keys = [tuple(map(_level, row, levels)) for row in rows]
        sizes = Counter(keys)
        shown.update((*key, row[-1]) for key, row in zip(keys, rows, strict=True) if sizes[key] >= k)
        rows = [row for key, row in zip(keys, rows, strict=True) if sizes[key] < k]
    return shown


def _both(con: Connection) -> tuple[list[Row], Counter[Row]]:
    source = con.duckdb.execute("FROM source").fetchall()
    return source, Counter(con.duckdb.execute("FROM v").fetchall())


@given(data=st.data(), plan=plans(), first=arrivals(0, 30), labels=st.sampled_from([2, 5, 20]))
@settings(FEW, max_examples=draws(2, long=12))
def test_labels_come_and_go(data: st.DataObject, plan: Plan, first: Arrival, labels: int) -> None:
    con = plan.install(first, Arrival(1, 10, 5, labels, 1), Arrival(1, 20, 1, labels, 1))
    try:
        con.execute(f"CREATE ANONYMIZED VIEW v AS POLICY p {plan.method}")
    except PrivacyViolation:
        assume(False)
    rounds = _rounds(con, plan.columns)
    for number in range(2, data.draw(st.integers(3, 6))):
        if data.draw(st.integers(0, 2)):
            data.draw(arrivals(number, 1500)).insert(con, plan.columns, plan.free)
        else:
            some = data.draw(st.integers(1, 5))
            con.duckdb.execute(f"DELETE FROM source WHERE hash(s) % 5 < {some}")
        source, found = _both(con)
        assert found == _shown(source, rounds, plan.k)
        event(f"{'all' if len(found) == len(source) else 'some' if found else 'none'} of {len(rounds)} rounds shown")
    assert con.execute("CHECK v").fetchall()[0][-1] is True
    con.close()


@pytest.mark.long
@pytest.mark.parametrize("threads", [1, 2, 8])
def test_new_labels_in_many_columns_withhold_no_old_row(threads: int) -> None:
    """Nine columns of 20 to 28 values each; 50 classes bring new ones in all columns, which stand before the old."""
    con = connect(config={"threads": str(threads)})
    names = [f"q{c}" for c in range(9)]
    old = ", ".join(f"(hash(i, {c}) % {20 + c})::INTEGER * 2 AS q{c}" for c in range(9))
    con.execute(f"CREATE TABLE source AS SELECT {old} FROM range(6426) AS c(i), range(5) AS r(j)")
    columns = ", ".join(f"{name} QUASI IDENTIFIER" for name in names)
    con.execute(f"CREATE POLICY p ON source ({columns}) REQUIRE k_anonymity(k => 5)")
    con.execute("CREATE ANONYMIZED VIEW v AS POLICY p METHOD generalization")
    source, found = _both(con)
    assert len(source) == 32_130
    assert found == Counter(source)
    new = ", ".join(f"(-1 - i)::INTEGER AS {name}" for name in names)
    con.execute(f"INSERT INTO source SELECT {new} FROM range(50) AS c(i), range(5) AS r(j)")
    con.execute(f"INSERT INTO source SELECT {new} FROM range(50, 70) AS c(i), range(4) AS r(j)")
    source, found = _both(con)
    sizes = Counter(source)
    assert found == Counter({row: n for row, n in sizes.items() if n >= 5})
    assert found.total() == 32_380
    con.close()


@pytest.mark.one_in(4)
@pytest.mark.parametrize("columns", [1, 2, 3, 5])
@pytest.mark.parametrize("local", [False, True])
def test_labels_without_a_place_are_withheld(columns: int, local: bool) -> None:
    """A column of more labels than a field has room for cannot be had: with fewer bits it can."""
    plan = Plan(columns, 1 if local else 0, 2, local, 1)
    con = plan.install(Arrival(0, 30, 2, 20, 20))
    with sizes.replaced(max_labels=64):
        con.execute(f"CREATE ANONYMIZED VIEW v AS POLICY p {plan.method}")
    rounds = _rounds(con, columns)
    Arrival(1, 400, 3, 100, 100).insert(con, columns, plan.free)
    source, found = _both(con)
    assert 0 < found.total() < len(source)
    assert found <= _shown(source, rounds, 2) if local else found == _shown(_placed(source, rounds[0], 64), rounds, 2)
    assert min(Counter(row[:-1] for row in found.elements()).values()) >= 2
    con.close()


def _placed(source: Sequence[Row], levels: Sequence[int], room: int) -> list[Row]:
    """The rows whose labels are all among the first ones of their column; NULL is the last."""
    placed = list(source)
    for c, level in enumerate(levels):
        labels = sorted({_level(row[c], level) for row in source}, key=lambda label: (label is None, label or ""))
        placed = [row for row in placed if _level(row[c], level) in labels[:room]]
    return placed
