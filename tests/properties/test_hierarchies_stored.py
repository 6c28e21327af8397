"""LEVELS and PARENTS: stored rows equal those of a naive walk, and sound rows pass every check."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.domain.hierarchy import HierarchyDefinition
from sqlanon.hierarchies import stored
from sqlanon.sqlgen.build.names import relation
from sqlanon.sqlgen.build.render import to_sql
from tests.oracles import hierarchies as oracle
from tests.support.hierarchies import connection, quick

pytestmark = pytest.mark.drawn

NAMES = st.text(alphabet="ab*'\"% \u0301é", max_size=4)
Tree = dict[str | None, str | None]


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    """Nodes with their parents, all leaves equally deep, names unique; perhaps several roots, perhaps a NULL leaf."""
    depth = draw(st.integers(0, 3))
    parent: Tree = {}
    layer: list[str | None] = [None]
    for level in range(depth + 1):
        following: list[str | None] = []
        for above in layer:
            for name in draw(st.lists(NAMES, min_size=1, max_size=3, unique=True)):
                node = f"{name}{len(parent)}"
                parent[node] = above
                following.append(node)
        layer = following
        if level == depth and draw(st.booleans()):
            parent[None] = parent[layer[0]]
    return parent


def load(rows: list[tuple[str | None, ...]]) -> list[str]:
    names = [f'column "{place}"' for place in range(len(rows[0]))]
    columns = ", ".join('"' + name.replace('"', '""') + '" VARCHAR' for name in names)
    connection().execute(f"CREATE OR REPLACE TEMP TABLE source ({columns})")
    connection().executemany(f"INSERT INTO source VALUES ({', '.join('?' * len(names))})", rows)
    return names


def faults(kind: str, names: list[str]) -> dict[str, list[Any]]:
    checks = stored(kind).checks(HierarchyDefinition("h", kind, query="q"), names, relation("source"))
    return {check.name: connection().execute(to_sql(check.query)).fetchall() for check in checks}


def stored_rows(kind: str, names: list[str]) -> list[tuple[Any, ...]]:
    query = stored(kind).values(HierarchyDefinition("h", kind, query="q"), names, relation("source"))
    return list(connection().execute(to_sql(query)).fetchall())


@quick
@given(trees())
def test_a_leaf_has_its_ancestors_as_labels(tree: Tree) -> None:
    names = load(list(tree.items()))
    assert not any(faults("parents", names).values())
    found = stored_rows("parents", names)
    assert len(found) == len(set(found))
    assert set(found) == oracle.parents(list(tree.items()))


def paths(tree: Tree) -> list[tuple[str | None, ...]]:
    """The leaves with their labels in columns, the root's last."""
    inner = {above for above in tree.values() if above is not None}
    rows = []
    for leaf in tree:
        if leaf not in inner:
            row = [leaf]
            while (above := tree[row[-1]]) is not None:
                row.append(above)
            rows.append(tuple(row))
    return rows


@quick
@given(trees(), st.integers(0, 2))
def test_wide_rows_become_long_ones(tree: Tree, stars: int) -> None:
    rows = [(*row, *("*" * stars)) for row in paths(tree)]
    names = load(rows)
    assert not any(faults("levels", names).values())
    found = stored_rows("levels", names)
    assert len(found) == len(set(found))
    assert set(found) == oracle.levels(rows)


@quick
@given(st.lists(st.tuples(*[st.sampled_from(["a", "b", "c", "*"])] * 4), min_size=1, max_size=6))
def test_rows_pass_only_if_their_levels_nest(rows: list[tuple[str, ...]]) -> None:
    found = faults("levels", load(rows))
    nested = all(len({row[level + 1] for row in rows if row[level] == label}) == 1
                 for level in (1, 2) for label in {row[level] for row in rows})  # fmt: skip
    unique = len({row[0] for row in rows}) == len(rows)
    assert (not found["levels_nest"]) == nested
    assert (not found["value_twice"]) == unique


NODES = ["a", "b", "c", "d", "e"]


def is_sound(edges: list[tuple[str, str | None]]) -> bool:
    """Each node is there once, reaches a root, and the leaves are equally deep."""
    parent = dict(edges)
    if len(parent) < len(edges):
        return False
    depths = {}
    for node in parent:
        place: str | None = node
        for depth in range(len(parent)):
            if place not in parent:
                return False
            if parent[place] is None:
                depths[node] = depth
                break
            place = parent[place]
    leaves = [node for node in parent if node not in parent.values()]
    return len(depths) == len(parent) and len({depths[leaf] for leaf in leaves}) == 1


@quick
@given(st.lists(st.tuples(st.sampled_from(NODES), st.sampled_from([*NODES, None])), min_size=1, max_size=6))
def test_edges_pass_only_if_they_are_a_forest_of_equal_depth(edges: list[tuple[str, str | None]]) -> None:
    names = load(list(edges))
    found = faults("parents", names)
    assert (not any(found.values())) == is_sound(edges)
    if is_sound(edges):
        assert set(stored_rows("parents", names)) == oracle.parents(edges)
