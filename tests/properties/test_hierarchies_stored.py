"""LEVELS and PARENTS: stored rows equal those of a naive walk, and sound rows pass every check."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.domain.policy import HierarchyDefinition
from sqlanon.sql.build.names import relation
from sqlanon.sql.build.render import to_sql
from sqlanon.sql.hierarchies.base import stored
from tests.oracles import hierarchies as oracle
from tests.support.hierarchies import assert_levels_nest, connection, quick

pytestmark = pytest.mark.drawn

NAMES = st.text(alphabet="ab*'\"% \u0301é", max_size=4)
Tree = dict[str | None, str | None]


@st.composite
def trees(draw: st.DrawFn, *, uneven: bool = False) -> Tree:
    """Nodes with their parents, names unique; perhaps several roots, perhaps a NULL leaf among the deepest.

    All leaves are equally deep, unless `uneven` leaves some nodes without children.
    """
    depth = draw(st.integers(0, 3))
    parent: Tree = {}
    layer: list[str | None] = [None]
    for level in range(depth + 1):
        following: list[str | None] = []
        grown = layer if not uneven or level == 0 else layer[: draw(st.integers(1, len(layer)))]
        for above in grown:
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


@quick
@given(trees(uneven=True))
def test_a_leaf_that_is_less_deep_is_its_own_label(tree: Tree) -> None:
    edges = list(tree.items())
    names = load(edges)
    found = faults("parents", names)
    labels = oracle.parents(edges)
    assert set(stored_rows("parents", names)) == labels
    assert [check for check, offending in found.items() if offending] in ([], ["shallow"])
    inner = set(tree.values())
    height = max(level for _, level, _ in labels)
    for value in [node for node in tree if node is None or node not in inner]:
        own = {level: label for of, level, label in labels if of == value}
        assert sorted(own) == list(range(height + 1))
        # A value lies in each of its labels: that is it, or a node above it.
        assert all(label in ancestors_or_self(tree, value) for label in own.values())
    assert_levels_nest((value, tuple(labels_of(labels, value))) for value in {value for value, _, _ in labels})


def ancestors_or_self(tree: Tree, node: str | None) -> list[str | None]:
    line = [node]
    while tree[line[-1]] is not None:
        line.append(tree[line[-1]])
    return line


def labels_of(labels: set[tuple[Any, ...]], value: str | None) -> list[str | None]:
    return [label for of, level, label in sorted(labels, key=lambda row: row[1]) if of == value and level > 0]


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
    """Each node is there once, and reaches a root."""
    parent = dict(edges)
    if len(parent) < len(edges):
        return False
    for node in parent:
        place: str | None = node
        for _ in parent:
            if place not in parent:
                return False
            place = parent[place]
            if place is None:
                break
        if place is not None:
            return False
    return True


@quick
@given(st.lists(st.tuples(st.sampled_from(NODES), st.sampled_from([*NODES, None])), min_size=1, max_size=6))
def test_edges_pass_only_if_they_are_a_forest(edges: list[tuple[str, str | None]]) -> None:
    names = load(list(edges))
    found = faults("parents", names)
    found.pop("shallow")
    assert (not any(found.values())) == is_sound(edges)
    if is_sound(edges):
        assert set(stored_rows("parents", names)) == oracle.parents(edges)
