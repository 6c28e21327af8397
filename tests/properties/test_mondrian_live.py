"""A live view of METHOD mondrian against an oracle that places its source's rows anew after each random change.

The regions are read off a view with ranges and bounds before anything has changed: strict
cuts make the same regions whatever is published of them. From there on a row belongs to the
region whose ranges it lies in, and a region is shown while it meets every requirement.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from typing import Any

import pytest
from hypothesis import Phase, assume, event, given, settings
from hypothesis import strategies as st

from sqlanon import Connection, DataError, connect
from sqlanon.sql.sizes import sizes
from tests.oracles.models import k_anonymity
from tests.oracles.models.support import Class, Table
from tests.oracles.mondrian import Domain, bounds, order
from tests.support.draws import draws
from tests.support.models.relations import ranges_for, valued
from tests.support.models.search import NODES, RANGES, TAXONOMY, VALUES
from tests.support.mondrian import QUESTIONS, Case, cases, quoted
from tests.support.policies import BUDGET

pytestmark = pytest.mark.drawn

# Each example makes a database and a view, which takes long, so a failing one is shown as it was found; a change
# and a look at the view cost little.
FEW = settings(BUDGET, max_examples=2, phases=[Phase.explicit, Phase.reuse, Phase.generate])
MORE = settings(FEW, max_examples=draws(2, long=5))
# Where one class that goes leaves all others as they were, the oracle needs no rounds.
ALONE = ("distinct_l_diversity", "k_anonymity")
PUBLISHED = ("range", "ancestor", "centroid")

Row = dict[str, Any]


@dataclass(frozen=True)
class Box:
    """A region: the least and the greatest value of each attribute, whether NULL is among them, what is shown."""

    domains: tuple[Domain, ...]
    ends: tuple[tuple[Any, Any], ...]
    with_null: tuple[bool, ...]
    shown: tuple[Any, ...]

    def holds(self, row: Row) -> bool:
        return all(
            _within(domain, row[domain.attribute.name], ends, null)
            for domain, ends, null in zip(self.domains, self.ends, self.with_null, strict=True)
        )


def _within(domain: Domain, value: Any, ends: tuple[Any, Any], with_null: bool) -> bool:
    """By value; along a tree by rank, which only values have that it had when the regions were cut."""
    if value is None:
        return with_null
    low, high = ends
    if low is None:
        return False
    if domain.attribute.order != "tree":
        return bool(order(low) <= order(value) <= order(high))
    ranks = {known: rank for rank, known in enumerate(domain.values)}
    return value in ranks and ranks[low] <= ranks[value] <= ranks[high]


@dataclass
class Live:
    """A source under change, and the view `v` of it whose regions were read off once."""

    case: Case
    con: Connection
    boxes: list[Box]
    columns: list[str]
    rows: dict[int, Row]

    def shown(self) -> dict[int, tuple[Any, ...]]:
        """What the view shows of each row, by its number; the rest of the row is as it stands in the source."""
        found = {}
        text = ", ".join([*map(quoted, self.columns), "s", "c", "n"])
        for *labels, s, c, n in self.con.duckdb.execute(f"SELECT {text} FROM v").fetchall():
            assert n not in found, "a row is shown twice"
            assert (s, c) == (self.rows[n]["s"], self.rows[n]["c"])
            found[n] = tuple(labels)
        return found

    def placed(self) -> dict[int, tuple[Any, ...]]:
        """What the region of each row shows, of the rows that lie in one."""
        found = {}
        for n, row in self.rows.items():
            inside = [box for box in self.boxes if box.holds(row)]
            assert len(inside) <= 1, "regions overlap"
            if inside:
                found[n] = inside[0].shown
        return found

    def insert(self, row: Row) -> None:
        self.con.duckdb.execute(f"INSERT INTO t VALUES ({', '.join('?' * len(row))})", [*row.values()])
        self.rows[row["n"]] = row

    def delete(self, n: int) -> None:
        self.con.duckdb.execute("DELETE FROM t WHERE n = ?", [n])
        del self.rows[n]

    def update(self, row: Row) -> None:
        assigned = ", ".join(f"{quoted(name)} = ?" for name in row)
        self.con.duckdb.execute(f"UPDATE t SET {assigned} WHERE n = ?", [*row.values(), row["n"]])
        self.rows[row["n"]] = row


def method(case: Case, publish: str, with_bounds: bool) -> str:
    chosen = [f"split => '{case.options.split}'", f"hierarchy => '{case.options.hierarchy}'"]
    chosen += [f"target => {case.options.target}"] if case.options.target else []
    chosen += [f"publish => '{publish}'", f"bounds => {'true' if with_bounds else 'false'}"]
    return f"AS POLICY p METHOD mondrian({', '.join(chosen)})"


def label_columns(case: Case, with_bounds: bool) -> list[str]:
    ends = ("", "_low", "_high") if with_bounds else ("",)
    return [name + end for name in case.names for end in ends]


def create(case: Case, publish: str, with_bounds: bool) -> Live:
    """The view `v`, and its regions: from its bounds, or from those of a second view where it has none."""
    con = case.install()
    con.execute(f"CREATE ANONYMIZED VIEW v {method(case, publish, with_bounds)}")
    plain = with_bounds and publish == "range"
    if not plain:
        con.execute(f"CREATE ANONYMIZED VIEW ranged {method(case, 'range', True)}")
    live = Live(case, con, [], label_columns(case, with_bounds), {row["n"]: row for row in case.rows})
    text = ", ".join(map(quoted, label_columns(case, True)))
    members: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for *label, n in con.duckdb.execute(f"SELECT {text}, n FROM {'v' if plain else 'ranged'}").fetchall():
        members[tuple(label)].append(n)
    labels, domains = live.shown(), tuple(case.domains({}))
    assert set(labels) == set(live.rows), "every row is published"
    for label, region in members.items():
        ends = tuple((label[3 * i + 1], label[3 * i + 2]) for i in range(len(domains)))
        assert ends == tuple(bounds(domain, region) for domain in domains)
        nulls = tuple(any(live.rows[n][domain.attribute.name] is None for n in region) for domain in domains)
        (shown,) = {labels[n] for n in region}
        live.boxes.append(Box(domains, ends, nulls, shown))
    # From here on the view stands by itself.
    con.execute("DROP POLICY p; DROP TABLE ranges; DROP HIERARCHY groups")
    for place, quasi in enumerate(case.quasi):
        if quasi.hierarchy:
            con.execute(f"DROP HIERARCHY h{place}")
    return live


def violating(case: Case, rows: Mapping[int, Row], classes: Mapping[Class, Sequence[int]]) -> set[Class]:
    """The classes of a release that do not meet a requirement; rows by their numbers."""
    places = [*rows]
    table = Table(
        classes={of: [places.index(n) for n in numbers] for of, numbers in classes.items()},
        values=[rows[n]["s"] for n in places],
        entities=[rows[n]["who"] for n in places] if case.entity else None,
        taxonomy=TAXONOMY,
        ranges=ranges_for(case.question, RANGES),
        guards=[rows[n]["g"] for n in places],
    )
    arguments = {n: Fraction(v) if isinstance(v, Decimal) else v for n, v in case.arguments.items()}
    broken: set[Class] = import_module(f"tests.oracles.models.{case.question}").violating(table, **arguments)
    return broken if case.question == "k_anonymity" else broken | k_anonymity.violating(table, case.k)


def classes_of(labels: Mapping[int, tuple[Any, ...]]) -> dict[Hashable, list[int]]:
    classes: dict[Hashable, list[int]] = defaultdict(list)
    for n, label in labels.items():
        classes[label].append(n)
    return dict(classes)


def guarded(case: Case, rows: Mapping[int, Row], placed: Mapping[int, tuple[Any, ...]]) -> dict[int, tuple[Any, ...]]:
    """The rows that are left once what violates has gone, round after round; none if it never comes to an end."""
    classes = classes_of(placed)
    for _ in range(sizes().guard_rounds):
        broken = violating(case, rows, classes)
        if not broken:
            return {n: placed[n] for numbers in classes.values() for n in numbers}
        classes = {of: numbers for of, numbers in classes.items() if of not in broken}
    return {}


@st.composite
def changes(draw: st.DrawFn, case: Case) -> list[tuple[str, int, Row]]:
    """Inserts of old, new and mixed combinations, deletes and updates: (kind, which of the rows, what it becomes)."""
    anything = [st.sampled_from((*q.domain, *q.later, None)) for q in case.quasi]
    seen = [st.sampled_from([row[name] for row in case.rows]) for name in case.names]
    old = st.sampled_from(case.rows).map(lambda row: tuple(row[name] for name in case.names))
    mixed = st.tuples(*(st.one_of(a, a, b) for a, b in zip(seen, anything, strict=True)))
    fresh = 1 + max(row["n"] for row in case.rows)
    found = []
    kinds = ["insert", "insert", "insert", "delete", "delete", "value", "row"]
    for number in range(fresh, fresh + draw(st.integers(8, 20))):
        key = draw(st.one_of(old, mixed, mixed, st.tuples(*anything)))
        row = {
            **dict(zip(case.names, key, strict=True)),
            "who": draw(st.sampled_from([None, 1, 2, 99])),
            "s": valued(case.question, draw(st.sampled_from((*VALUES, None, "e")))),
            "g": draw(st.sampled_from(NODES)),
            "c": draw(st.sampled_from(["x", None])),
            "n": number,
        }
        found.append((draw(st.sampled_from(kinds)), draw(st.integers(0, 99)), row))
    return found


def apply(live: Live, kind: str, which: int, row: Row) -> None:
    """Changes the source: 'value' a row's sensitive value alone, 'row' all that it has."""
    if kind == "insert" or not live.rows:
        live.insert(row)
        return
    n = sorted(live.rows)[which % len(live.rows)]
    if kind == "delete":
        live.delete(n)
    elif kind == "value":
        live.update({**live.rows[n], "s": row["s"]})
    else:
        live.update({**row, "n": n})


def assert_honest(live: Live, found: Mapping[int, tuple[Any, ...]]) -> None:
    """What is shown meets every requirement, and each row lies in what its region shows."""
    assert violating(live.case, live.rows, classes_of(found)) == set()
    for n, label in found.items():
        looking_so = [box for box in live.boxes if box.shown == label]
        assert any(box.holds(live.rows[n]) for box in looking_so), (live.rows[n], label)


@pytest.mark.one_in(18)
@pytest.mark.parametrize("question", QUESTIONS)
def test_the_view_shows_the_rows_of_the_regions_that_satisfy(question: str) -> None:
    @given(data=st.data(), case=cases(question, size=16))
    @FEW
    def check(data: st.DataObject, case: Case) -> None:
        assume(case.satisfied([row["n"] for row in case.rows]))
        live = create(case, "range", True)
        for change in [None, *data.draw(changes(case))]:
            if change is not None:
                apply(live, *change)
            found, placed = live.shown(), live.placed()
            assert_honest(live, found)
            assert found == guarded(case, live.rows, placed), change
            event(f"{'some' if found else 'nothing'} shown, {'some' if len(found) < len(live.rows) else 'none'} held")
        live.con.execute("CHECK v")
        assert all(row[-1] is True for row in live.con.fetchall())
        live.con.close()

    check()


@pytest.mark.long
@pytest.mark.parametrize("publish", PUBLISHED)
def test_a_row_is_shown_if_its_region_satisfies_and_only_then(publish: str) -> None:
    """Without the rounds of the guard: each class by itself."""

    @given(data=st.data(), case=st.sampled_from(ALONE).flatmap(cases), with_bounds=st.booleans())
    @MORE
    def check(data: st.DataObject, case: Case, with_bounds: bool) -> None:
        assume(case.satisfied([row["n"] for row in case.rows]))
        live = create(case, publish, with_bounds)
        for change in data.draw(changes(case)):
            apply(live, *change)
            found, placed = live.shown(), live.placed()
            assert set(found) <= set(placed), "rows in no region are withheld"
            for label, numbers in classes_of(placed).items():
                satisfied = not violating(case, live.rows, {label: numbers})
                assert {n: found[n] for n in numbers if n in found} == (
                    dict.fromkeys(numbers, label) if satisfied else {}
                )
            assert_honest(live, found)
        live.con.close()

    check()


@pytest.mark.long
@given(data=st.data(), case=cases("k_anonymity"), publish=st.sampled_from(PUBLISHED), with_bounds=st.booleans())
@FEW
def test_a_view_made_anew_has_regions_for_every_row(
    data: st.DataObject, case: Case, publish: str, with_bounds: bool
) -> None:
    assume(case.satisfied([row["n"] for row in case.rows]))
    con = case.install()
    con.execute(f"CREATE ANONYMIZED VIEW v {method(case, publish, with_bounds)}")
    live = Live(case, con, [], label_columns(case, with_bounds), {row["n"]: row for row in case.rows})
    for change in data.draw(changes(case)):
        apply(live, *change)
    if violating(case, live.rows, {"all": [*live.rows]}):
        con.close()
        return
    anew = f"CREATE OR REPLACE ANONYMIZED VIEW v {method(case, publish, with_bounds)}"
    if not all(
        q.has_place(row[name]) for row in live.rows.values() for q, name in zip(case.quasi, case.names, strict=True)
    ):
        with pytest.raises(DataError, match="lacks values"):
            con.execute(anew)
    else:
        con.execute(anew)
        assert set(live.shown()) == set(live.rows)
    con.close()


@pytest.mark.one_in(4)
@pytest.mark.parametrize("hierarchy", ["order", "tree"])
@pytest.mark.parametrize("using", ["", " USING prefixes"])
def test_a_value_behind_a_region_is_not_taken_in_by_its_null(using: str, hierarchy: str) -> None:
    """NULL stands last, so between a region's greatest value and its NULL there may be other values."""
    con = _small("a VARCHAR, b INTEGER", "('a', 1), ('a', 1), (NULL, 1), (NULL, 1)" + 4 * ", ('b', 9)")
    con.execute("CREATE HIERARCHY prefixes AS PREFIXES (1)")
    _view(con, f"a QUASI IDENTIFIER{using}, b QUASI IDENTIFIER", hierarchy)
    classes = "SELECT a, b, count(*) FROM v GROUP BY ALL ORDER BY ALL"
    assert con.duckdb.execute(classes).fetchall() == [("a or NULL", "1", 4), ("b", "9", 4)]
    con.duckdb.execute("INSERT INTO t VALUES ('b', 1), ('a', 1)")
    assert con.duckdb.execute(classes).fetchall() == [("a or NULL", "1", 5), ("b", "9", 4)]
    con.close()


@pytest.mark.parametrize("hierarchy", ["order", "tree"])
def test_a_null_that_no_region_shows_is_withheld(hierarchy: str) -> None:
    """Also where the hierarchy lists it among the values of a region."""
    con = _small("a VARCHAR", "('a'), ('a'), ('b'), ('b')")
    con.execute("CREATE HIERARCHY listed AS LEVELS (FROM (VALUES ('a', 'x'), (NULL, 'x'), ('b', 'y')) AS l)")
    _view(con, "a QUASI IDENTIFIER USING listed", hierarchy)
    assert con.duckdb.execute("SELECT a, count(*) FROM v GROUP BY a").fetchall() == [("[a, b]", 4)]
    con.duckdb.execute("INSERT INTO t VALUES (NULL), ('b')")
    assert con.duckdb.execute("SELECT a, count(*) FROM v GROUP BY a").fetchall() == [("[a, b]", 5)]
    con.close()


def _small(columns: str, rows: str) -> Connection:
    con = connect(config={"threads": "1"})
    con.execute(f"CREATE TABLE t ({columns}); INSERT INTO t VALUES {rows}")
    return con


def _view(con: Connection, attributes: str, hierarchy: str) -> None:
    con.execute(f"CREATE POLICY p ON t ({attributes}) REQUIRE k_anonymity(k => 3)")
    con.execute(f"CREATE ANONYMIZED VIEW v AS POLICY p METHOD mondrian(hierarchy => '{hierarchy}')")
