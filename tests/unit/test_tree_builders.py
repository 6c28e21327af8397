"""Functions that build trees: each node has one parent, also where a caller uses a node several times."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlglot import exp

from sqlanon.sql.build import expressions as e
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.build.queries import extend, inner_join, left_join, select, subquery

BUILDERS: dict[str, Callable[[exp.Expr], exp.Expr]] = {
    "infix": lambda x: e.infix(x, "+", x),
    "identical": lambda x: e.identical(x, x),
    "different": lambda x: e.different(x, x),
    "not_": e.not_,
    "and_": lambda x: e.and_(x, x, None),
    "or_": lambda x: e.or_(x, None, x),
    "case": lambda x: e.case((x, x), (x, x), otherwise=x),
    "cast": lambda x: e.cast(x, "BIGINT"),
    "window": lambda x: e.window(f.max(x), partition_by=[x, x], order=e.order_by(e.ascending(x), e.descending(x))),
    "filtered": lambda x: e.filtered(f.sum(x), x),
    "added": lambda x: e.added([x, x, x]),
    "joined": lambda x: e.joined(x, x),
    "numbered": lambda x: e.numbered([x, x]),
    "call": lambda x: f.call("concat", x, x),
    "coalesce": lambda x: f.coalesce(x, x),
    "left": lambda x: f.left(x, x),
    "select": lambda x: select(x, alias(x, "again"), of=relation("t"), where=[x, x], group_by=[x, x], having=x),
    "extend": lambda x: extend(select(x, of=relation("t")), x, where=[x], order_by=[x], qualify=x),
    "join": lambda x: select(x, of=relation("t"), joins=[inner_join(relation("u"), x), left_join(relation("v"), x)]),
}


def require_one_parent(tree: exp.Expr) -> None:
    for node in tree.walk():
        for part in node.iter_expressions():
            assert part.parent is node, f"{part.sql()} is in {node.sql()}, and its parent is another node"


@pytest.mark.parametrize("name", BUILDERS)
def test_a_node_that_is_used_again_is_copied(name: str) -> None:
    shared = column("a", "t")
    trees = [BUILDERS[name](shared), BUILDERS[name](shared)]
    for tree in trees:
        require_one_parent(tree)
    assert trees[0] == trees[1]


def test_a_node_without_a_parent_is_not_copied() -> None:
    value = column("a")
    assert e.not_(value).this is value
    query = select(value, of=relation("t"))
    assert subquery(query, "q").this is query
    assert subquery(query, "again").this is not query


def test_a_query_used_twice_is_the_same_text_twice() -> None:
    rows = select(column("a"), of=relation("t"))
    both = e.union_all([rows, rows])
    require_one_parent(both)
    assert both.this.sql() == both.expression.sql()


def test_a_table_under_two_names_keeps_its_own() -> None:
    table = relation("t")
    first, second = e.named(table, "first"), e.named(table, "second")
    assert [table.alias, first.alias, second.alias] == ["", "first", "second"]


def test_conditions_are_added_to_those_of_a_query() -> None:
    query = select(column("a"), of=relation("t"), where=[column("b")])
    assert extend(query, where=[e.or_(column("c"), column("d")), None]) is query
    assert query.sql("duckdb", identify=True) == 'SELECT "a" FROM "t" WHERE "b" AND ("c" OR "d")'
