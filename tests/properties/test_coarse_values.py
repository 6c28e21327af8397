"""Labels in place of sensitive values: a Python dict recodes the rows, and then the oracles of the models answer."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sqlanon import Connection, PolicyError
from tests.oracles import coarse_values as oracle
from tests.oracles.models import distinct_l_diversity, equal_t_closeness
from tests.oracles.models.support import Table
from tests.support.database import new_database
from tests.support.draws import draws
from tests.support.policies import BUDGET

pytestmark = pytest.mark.drawn
FEW = settings(BUDGET, max_examples=draws(4, long=40))

Value = str | None
# Texts that quoting, comparing and reading could get wrong; labels may be called as values are.
HOSTILE = ("", "*", "NULL", "it's", 'a"b', "a", "A", " a", "ä", "level_1", "1", "01", "nan", "x\n; DROP", "日本")
texts = st.sampled_from(HOSTILE)


@st.composite
def trees(draw: st.DrawFn) -> dict[Value, tuple[str, ...]]:
    """Values with labels at two levels; a label of a level lies in one of the next."""
    values: list[Value] = draw(st.lists(texts, min_size=1, max_size=8, unique=True))
    if draw(st.booleans()):
        values.append(None)
    first = {value: draw(texts) for value in values}
    # A last level that is * everywhere is the top itself.
    above = {label: draw(texts.filter("*".__ne__)) for label in first.values()}
    return {value: (first[value], above[first[value]]) for value in values}


@st.composite
def tables(draw: st.DrawFn) -> tuple[dict[Value, tuple[str, ...]], list[tuple[int, Value]]]:
    """A tree, and rows of a class and a value that it lists, or NULL."""
    tree = draw(trees())
    row = st.tuples(st.integers(0, 2), st.sampled_from([*tree, None]))
    return tree, draw(st.lists(row, min_size=1, max_size=12))


def write(con: Connection, tree: dict[Value, tuple[str, ...]], rows: Sequence[tuple[int, Value]]) -> None:
    con.execute("CREATE TABLE tree (value VARCHAR, a VARCHAR, b VARCHAR)")
    con.execute('CREATE TABLE source (area INTEGER, "Ill ness" VARCHAR)')
    for value, labels in tree.items():
        con.duckdb.execute("INSERT INTO tree VALUES (?, ?, ?)", [value, *labels])
    for row in rows:
        con.duckdb.execute("INSERT INTO source VALUES (?, ?)", list(row))
    con.execute("CREATE HIERARCHY tree AS LEVELS (FROM tree)")


def policy(con: Connection, clause: str, required: str) -> None:
    con.execute(
        f'CREATE OR REPLACE POLICY p ON source (area QUASI IDENTIFIER, "Ill ness" SENSITIVE USING tree {clause}) '
        f"REQUIRE {required}"
    )


def text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def require_labels(con: Connection, labels: oracle.Labels, rows: Sequence[tuple[int, Value]], clause: str) -> None:
    """The release, its checks, a live view and buckets have the labels, and the models are asked of them."""
    policy(con, clause, "k_anonymity(k => 1), l_diversity(l => 1), t_closeness(t => 1)")
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization(suppression => 0)")
    expected = Counter((area, labels[value]) for area, value in rows)
    assert Counter(con.sql("FROM r").fetchall()) == expected
    of_class: dict[Hashable, list[int]] = defaultdict(list)
    for place, (area, _) in enumerate(rows):
        of_class[area].append(place)
    table = Table(of_class, oracle.recoded(labels, [value for _, value in rows]))
    checked = {question: achieved for _, question, _, _, achieved, _ in con.execute("CHECK r").fetchall()}
    assert checked["distinct_l_diversity"] == distinct_l_diversity.achieved(table, 1)
    distance = equal_t_closeness.achieved(table, Fraction(1))
    assert distance is not None
    assert checked["equal_t_closeness"] == pytest.approx(float(distance))
    con.execute("CREATE ANONYMIZED VIEW v AS POLICY p METHOD generalization(suppression => 0)")
    assert Counter(con.sql("FROM v").fetchall()) == expected
    con.execute("CREATE ANONYMIZED TABLE b AS POLICY p METHOD trivial")
    assert Counter(con.sql('SELECT "Ill ness" FROM b_rest').fetchall()) == Counter((v,) for v in table.values)


@FEW
@given(drawn=tables(), level=st.integers(1, 2))
def test_labels_of_a_level(drawn: tuple[dict[Value, tuple[str, ...]], list[tuple[int, Value]]], level: int) -> None:
    tree, rows = drawn
    with new_database() as con:
        write(con, tree, rows)
        require_labels(con, oracle.at_level(tree, level), rows, f"MIN LEVEL {level}")


@FEW
@given(drawn=tables(), nodes=st.lists(texts, min_size=1, max_size=3, unique=True))
def test_labels_of_a_cut(drawn: tuple[dict[Value, tuple[str, ...]], list[tuple[int, Value]]], nodes: list[str]) -> None:
    tree, rows = drawn
    known = {label for value, labels in tree.items() for label in (value, *labels)}
    nodes = [node for node in nodes if node in known]
    assume(nodes)
    clause = f"HIDE ({', '.join(map(text, nodes))})"
    with new_database() as con:
        write(con, tree, rows)
        labels = oracle.hidden(tree, nodes)
        if labels is None:
            with pytest.raises(PolicyError, match="has nothing but"):
                policy(con, clause, "k_anonymity(k => 1)")
            return
        require_labels(con, labels, rows, clause)


@FEW
@given(
    numbers=st.lists(st.tuples(st.integers(0, 1), st.none() | st.integers(-(10**12), 10**12)), min_size=1, max_size=9),
    level=st.integers(1, 2),
)
def test_labels_that_are_computed(numbers: list[tuple[int, int | None]], level: int) -> None:
    """A NULL stays NULL, and a number is in the interval of its own."""
    width = (10, 1000)[level - 1]
    with new_database() as con:
        con.execute("CREATE TABLE source (area INTEGER, pay BIGINT); CREATE HIERARCHY bands AS INTERVALS (10, 1000)")
        for row in numbers:
            con.duckdb.execute("INSERT INTO source VALUES (?, ?)", list(row))
        con.execute(
            f"CREATE POLICY p ON source (area QUASI IDENTIFIER, pay SENSITIVE USING bands MIN LEVEL {level}) "
            "REQUIRE k_anonymity(k => 1)"
        )
        con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization(suppression => 0)")
        starts = [(area, None if pay is None else pay // width * width) for area, pay in numbers]
        labels = [(area, None if low is None else f"[{low},{low + width})") for area, low in starts]
        assert Counter(con.sql("FROM r").fetchall()) == Counter(labels)
