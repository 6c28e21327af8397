"""The gate refuses a parse tree with a node, a field or a word that it does not know, wherever that is."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from sqlanon.clients.serve.allowed import allowed, grammar
from sqlanon.clients.serve.refused import Refused
from sqlanon.clients.serve.tree_walk import TreeWalk
from sqlanon.engines.parse_trees import ParseTrees, Unparsed
from tests.support.door.statements import ANALYST, statements
from tests.support.draws import draws
from tests.support.policies import BUDGET

pytestmark = pytest.mark.drawn

Place = tuple[str | int, ...]
# Fields whose texts are names and constants of the statement. Names of tables, functions and types are read elsewhere.
FREE = frozenset(
    (
        *(
            "alias",
            "text",
            "column_names",
            "relation_name",
            "exclude_list",
            "using_columns",
            "column_name_alias",
            "key",
        ),
        *(
            "identifier",
            "collation",
            "groups",
            "unpivot_names",
            "aliases",
            "name",
            "expected_names",
            "cte_name",
            "value",
        ),
        *("catalog", "schema", "table", "column", "path", "table_name", "schema_name", "function_name", "type_name"),
    )
)
MORE = (
    "SELECT DISTINCT ON (a) a[1], a[1:2], s.x, {'k': 1}, [x + 1 FOR x IN a], a::DECIMAL(10, 2), TRY(a), #1 FROM r",
    "SELECT a IS NULL, NOT a, a COLLATE nocase, a IN (1, 2), sum(b ORDER BY c) FILTER (b > 1) FROM r LIMIT 5 OFFSET 1",
    "SELECT * REPLACE (1 AS a) RENAME (b AS c) EXCLUDE (d), r.*, COLUMNS('x') FROM r POSITIONAL JOIN r AS t(x, y)",
    "SELECT lag(a, 1, 0) OVER (PARTITION BY b ORDER BY c ROWS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE TIES) FROM r",
    "SELECT a, b, grouping(a) FROM r GROUP BY GROUPING SETS ((a), (b), ()) HAVING count(*) > 1 ORDER BY ALL",
    "WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x) FROM x UNION BY NAME (VALUES (1, 2))",
    "SELECT * FROM r TABLESAMPLE 10%, range(3) AS i(n), (DESCRIBE r) AS d, LATERAL (SELECT r.a) AS l",
    "FROM (PIVOT r ON a IN (1, 'x' AS y) USING sum(b) GROUP BY c)",
    "FROM r UNPIVOT INCLUDE NULLS ((v, w) FOR n IN ((a, b) AS x, (c, d)))",
    "SELECT $1, a = ANY (SELECT 1), EXISTS (FROM r), CASE a WHEN 1 THEN 2 END FROM r ASOF JOIN r USING (b)",
    "SELECT a BETWEEN 1 AND 2 FROM r",
)


VALUES = (None, True, 1, 1.5, "", "x", [], {}, [[]], [None], {"type": []}, {"class": {}}, {"map": [1]})


@cache
def trees() -> tuple[Any, ...]:
    """The parse trees of queries of many kinds."""
    parser, found = ParseTrees(), []
    for text in (*MORE, *statements(ANALYST.read_text(encoding="utf-8"))):
        try:
            found += parser.read(text)
        except Unparsed:  # a pivot without values
            continue
    return tuple(tree for tree in found if decision(tree) is None)


def decision(tree: Any) -> str | None:
    """Returns why a tree is refused; None if it is not. Every other error is one of the gate."""
    try:
        TreeWalk(grammar(), allowed(), lambda path, scope: None, lambda path: None).read(tree)
        return None
    except Refused as refused:
        return str(refused)


def places(node: Any, place: Place = ()) -> Iterator[Place]:
    """Returns the place of each field and each item below a node."""
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in items:
        yield (*place, key)
        yield from places(value, (*place, key))


def changed(tree: Any, place: Place, change: Any) -> Any:
    """Returns a copy of a tree in which `change` was applied to the record or list of a place, and its key."""
    copied = copy.deepcopy(tree)
    node = copied
    for key in place[:-1]:
        node = node[key]
    change(node, place[-1])
    return copied


def field_of(place: Place) -> str:
    return next(str(key) for key in reversed(place) if isinstance(key, str))


def renamed(node: Any, key: Any) -> None:
    node[f"{key}_2"] = node.pop(key)


def another_word(node: Any, key: Any) -> None:
    node[key] = f"{node[key]}_2"


def test_the_trees_are_admitted_as_they_are_and_have_nodes_of_most_kinds() -> None:
    known = {name for kind in ("query", "reference", "expression", "modifier") for name in grammar().kinds[kind]}
    words = {str(value) for tree in trees() for place in places(tree) for value in [_at(tree, place)]}
    assert len(trees()) >= 30
    assert known - words == set()


def _at(tree: Any, place: Place) -> Any:
    for key in place:
        tree = tree[key]
    return tree if isinstance(tree, str) else ""


@given(data=st.data())
@settings(BUDGET, max_examples=draws(20, long=1500))
def test_a_node_that_is_renamed_is_refused(data: st.DataObject) -> None:
    tree = data.draw(st.sampled_from(trees()))
    place = data.draw(st.sampled_from(list(places(tree))))
    value = _at(tree, place)
    if value and field_of(place) not in FREE:
        event("another word")
        assert decision(changed(tree, place, another_word)) is not None, place
    elif isinstance(place[-1], str):
        event("a renamed field")
        assert decision(changed(tree, place, renamed)) is not None, place


@given(data=st.data())
@settings(BUDGET, max_examples=draws(20, long=1500))
def test_a_part_of_another_kind_is_refused_or_read_and_never_ends_in_another_error(data: st.DataObject) -> None:
    tree, other = data.draw(st.sampled_from(trees())), data.draw(st.sampled_from(trees()))
    place = data.draw(st.sampled_from(list(places(tree))))
    values = st.sampled_from(
        [None, True, 1, 1.5, "", "x", [], {}, [[]], [None], {"type": []}, {"class": {}}, {"map": [1]}]
    )
    value = data.draw(values | st.sampled_from(list(places(other))).map(lambda there: _part(other, there)))

    def put(node: Any, key: Any) -> None:
        node[key] = value

    event("refused" if decision(changed(tree, place, put)) else "read")


def _part(tree: Any, place: Place) -> Any:
    for key in place:
        tree = tree[key]
    return tree


@pytest.mark.parametrize("tree", [None, [], {}, 1, "x", {"node": None}, {"node": {}, "named_param_map": []}])
def test_what_is_no_tree_is_refused(tree: Any) -> None:
    assert decision(tree) is not None
