"""Nodes that are counted in memory, in complete searches and in large lattices; plain Python finds the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product
from random import Random
from typing import Any

import pytest

from sqlanon import Connection, PrivacyViolation, connect
from sqlanon.methods.shared.lattice.node_arrays import NodeArrays
from sqlanon.methods.shared.lattice.node_evaluator import Nodes
from sqlanon.methods.shared.lattice.nodes import sizes
from tests.oracles.granularity_loss import Taxonomy, granularity_loss

K = 3
WIDTHS = ((2, 6), (3,), (4, 12))
VALUES = (12, 7, 24)
ROWS = 90
SUPPRESSION = 0.1
LIMITED = f"METHOD generalization(suppression => {SUPPRESSION}, time_limit => 60)"


def rows() -> list[tuple[int, ...]]:
    random = Random(5)
    return [tuple(int(n * random.random() ** 2) for n in VALUES) for _ in range(ROWS)]


def label(value: int, attribute: int, level: int) -> object:
    widths = (1, *WIDTHS[attribute])
    return value // widths[level] if level < len(widths) else "*"


def taxonomies() -> list[Taxonomy]:
    return [
        Taxonomy(
            {v: tuple(label(v, i, level) for level in range(len(WIDTHS[i]) + 1)) for v in range(n)}, len(WIDTHS[i]) + 1
        )
        for i, n in enumerate(VALUES)
    ]


def rare(levels: tuple[int, ...]) -> set[int]:
    """The places of the rows whose classes have fewer than k rows."""
    classes = [
        tuple(label(v, i, level) for i, (v, level) in enumerate(zip(row, levels, strict=True))) for row in rows()
    ]
    counts = Counter(classes)
    return {place for place, of in enumerate(classes) if counts[of] < K}


@pytest.fixture
def con() -> Iterator[Connection]:
    with connect() as connection:
        connection.execute("CREATE TABLE t (a INTEGER, b INTEGER, c INTEGER, s VARCHAR)")
        values = ", ".join(f"({a}, {b}, {c}, 's{(a + b + c) % 4}')" for a, b, c in rows())
        connection.execute(f"INSERT INTO t VALUES {values}")
        for name, widths, number in zip("abc", WIDTHS, VALUES, strict=True):
            labels = ", ".join(f"v // {width} AS l{width}" for width in widths)
            connection.sql(
                f"CREATE HIERARCHY {name} AS LEVELS (FROM (SELECT v AS value, {labels} FROM range({number}) AS r(v)))"
            )
        connection.sql(policy(f"k_anonymity(k => {K})"))
        yield connection


def policy(required: str, sensitive: str = "") -> str:
    quasi = ", ".join(f"{name} QUASI IDENTIFIER USING {name}" for name in "abc")
    return f"CREATE OR REPLACE POLICY p ON t ({quasi}{sensitive}) REQUIRE {required}"


def release(con: Connection, method: str, **limits: int) -> tuple[Any, ...]:
    """Returns levels, suppressed rows, loss and lower bound of a release."""
    with sizes.replaced(**limits):
        con.sql(f"CREATE OR REPLACE ANONYMIZED TABLE released AS POLICY p {method}")
    attributes = con.execute("SELECT attribute, level FROM anon.release_attribute").fetchall()
    levels = tuple(level for _, level in sorted(attributes) if level is not None)
    query = "SELECT suppressed_rows, loss, loss_bound, nodes_checked FROM anon.release"
    return (levels, *con.execute(query).fetchall()[0])


def test_the_search_in_memory_finds_the_best_levels_and_a_bound_below_their_loss(con: Connection) -> None:
    levels, suppressed, loss, bound, checked = release(con, LIMITED, max_nodes=0, raise_from=0)
    assert loss == pytest.approx(least_loss())
    assert loss == pytest.approx(float(granularity_loss(rows(), taxonomies(), levels, rare(levels))))
    assert suppressed == len(rare(levels))
    assert 0 < bound <= loss
    assert checked > 1
    classes = con.execute("SELECT count(*) FROM released GROUP BY a, b, c").fetchall()
    assert min(n for (n,) in classes) >= K
    assert sum(n for (n,) in classes) == ROWS - suppressed


def least_loss() -> float:
    return float(
        min(
            granularity_loss(rows(), taxonomies(), node, left_out)
            for node in product(*(range(len(widths) + 2) for widths in WIDTHS))
            if len(left_out := rare(node)) <= SUPPRESSION * ROWS
        )
    )


@pytest.mark.parametrize("equal_numbers", [False, True])
def test_a_complete_search_in_memory_finds_the_best_levels_even_if_classes_have_equal_numbers(
    con: Connection, monkeypatch: pytest.MonkeyPatch, *, equal_numbers: bool
) -> None:
    if equal_numbers:
        monkeypatch.setattr(NodeArrays, "suppressed", lambda *_: 0)
        monkeypatch.setattr(NodeArrays, "withheld", lambda *_: (0, [0, 0, 0]))
    method = f"METHOD generalization(suppression => {SUPPRESSION})"
    levels, suppressed, loss, bound, _ = release(con, method, few_cells=0)
    assert loss == pytest.approx(least_loss())
    assert suppressed == len(rare(levels))
    assert bound is None


def test_a_search_is_in_memory_only_where_the_rows_of_a_class_decide(
    con: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[bool] = []
    arrays = Nodes.arrays

    def noted(nodes: Nodes) -> Any:
        made.append((of_nodes := arrays(nodes)) is not None)
        return of_nodes

    monkeypatch.setattr(Nodes, "arrays", noted)
    release(con, LIMITED, max_nodes=0, raise_from=0)
    release(con, LIMITED, max_nodes=0, raise_from=0, most_labels=10)
    con.sql(policy(f"k_anonymity(k => {K}), l_diversity(l => 2)", ", s SENSITIVE"))
    release(con, LIMITED, max_nodes=0, raise_from=0)
    assert made == [True, False, False]


def test_a_policy_that_no_level_satisfies_is_refused_as_without_a_limit(con: Connection) -> None:
    con.sql(policy(f"k_anonymity(k => {ROWS + 1})"))
    with pytest.raises(PrivacyViolation), sizes.replaced(max_nodes=0, raise_from=0):
        con.sql(f"CREATE ANONYMIZED TABLE released AS POLICY p {LIMITED}")


def test_a_lattice_of_more_nodes_than_a_bigint_counts_is_published() -> None:
    with connect() as con:
        columns = [f"c{number:02}" for number in range(40)]
        values = ", ".join(f"(i * {number + 3}) % 4 AS {name}" for number, name in enumerate(columns))
        con.execute(f"CREATE TABLE t AS SELECT {values} FROM range(40) AS r(i)")
        con.sql("CREATE HIERARCHY h AS LEVELS (FROM (SELECT v AS value, v // 2 AS half FROM range(4) AS r(v)))")
        quasi = ", ".join(f"{name} QUASI IDENTIFIER USING h" for name in columns)
        con.sql(f"CREATE POLICY p ON t ({quasi}) REQUIRE k_anonymity(k => 5)")
        con.sql(
            "CREATE ANONYMIZED TABLE released AS POLICY p METHOD generalization(suppression => 0, time_limit => 0.1)"
        )
        assert con.execute("SELECT nodes FROM anon.release").fetchall() == [(2**63 - 1,)]
        classes = f"SELECT count(*) AS n FROM released GROUP BY {', '.join(columns)}"
        assert con.execute(f"SELECT min(n) >= 5, sum(n) FROM ({classes})").fetchall() == [(True, 40)]
