"""superset(class_id, superset_id): the broader classes that contain a class, for models that compare it with them.

A broader class has the rows below a vector of labels, each at least as general as the label of the class (Li, Li and
Venkatasubramanian 2010). The class itself is one of them, and so is the class of all rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from sqlglot import exp

from sqlanon.domain.identifiers import fold
from sqlanon.sql.build.expressions import by_bytes, entry, union_all
from sqlanon.sql.build.names import column
from sqlanon.sql.build.sql_files import filled_query, query_file
from sqlanon.sql.build.steps import Step

SUPERSET = "superset"

# The level of a class's own label, and of the label of all rows.
_OWN, _TOP = 0, -1
# The most vectors of labels above one class: each costs as much as a requirement of its own.
MOST_VECTORS = 10_000


def vectors_above(heights: Sequence[int]) -> int:
    """Returns the number of vectors of levels, in which each column has a level from 0 to its height."""
    return prod(height + 1 for height in heights)


def superset_steps(labels: Mapping[str, exp.Expr], coarser: Mapping[str, exp.Query]) -> list[Step]:
    """Returns steps that make the relation `superset` from the relation equivalence_class.

    `labels` has, as an expression over class_id, a class's label in each column that tells classes apart. `coarser`
    has, for columns with a hierarchy, the ancestors of labels: value, the text of a label; level; and node, the number
    of its ancestor at that level. A label that is not in `coarser` has only one ancestor, the label of all rows.
    """
    steps = [(f"coarser_{i}", _coarser(label, coarser.get(name))) for i, (name, label) in enumerate(labels.items())]
    names = [name for name, _ in steps]
    parts = [
        entry(f"{part}_{index}", column(part, name))
        for index, name in enumerate(names)
        for part in ("level", "label", "node")
    ]
    query = filled_query(
        "SELECT class.class_id, $named AS superset_id FROM equivalence_class AS class"
        ' JOIN "{steps}" ON class.class_id = "{steps}".class_id',
        names={"steps": names},
        named=exp.Struct(expressions=parts) if parts else 0,
    )
    return [*steps, (SUPERSET, query)]


def _coarser(label: exp.Expr, above: exp.Query | None) -> exp.Query:
    """Returns class_id, level, label, node: the labels of each class in one column, from its own label to the top."""
    each = [query_file("classified", "coarser", own=_OWN, top=_TOP, label=label)]
    if above is not None:
        text = """
            SELECT class_id, above.level, CASE WHEN FALSE THEN $label END AS label, above.node
            FROM equivalence_class JOIN above ON $text IS NOT DISTINCT FROM above.value
        """
        each.append(filled_query(text, tables={"above": above}, label=label, text=by_bytes(label)))
    return filled_query("SELECT * FROM coarser", tables={"coarser": union_all(each)})


def superset_within(
    labels: Mapping[str, exp.Expr], coarser: Mapping[str, exp.Query], within: Sequence[tuple[str, int]]
) -> exp.Query:
    """Returns the relation of one broader class for each class: by its ancestors in some columns, each at a level.

    `labels` and `coarser` are as in `superset_steps`; `coarser` also has the classes' own labels. A class without an
    ancestor at such a level is in no broader class. A column without `coarser` has only level 0.
    """
    own_labels = {fold(name): label for name, label in labels.items()}
    above = {fold(name): query for name, query in coarser.items()}
    parts: list[exp.Expr] = []
    joined: list[tuple[str, exp.Query, exp.Expr, int]] = []
    levels: list[int] = []
    for number, (name, level) in enumerate(within):
        label, labels_above = own_labels[fold(name)], above.get(fold(name))
        if labels_above is None:
            levels.append(level)
            parts.append(entry(f"label_{number}", label.copy()))
            continue
        joined.append((f"above_{number}", labels_above, by_bytes(label.copy()), level))
        parts.append(entry(f"node_{number}", column("node", f"above_{number}")))
    return filled_query(
        "SELECT class.class_id, $named AS superset_id FROM equivalence_class AS class"
        ' JOIN "{above}" AS "{of}" ON $texts IS NOT DISTINCT FROM "{of}".value AND "{of}".level = $levels'
        " WHERE $is_own",
        names={"above": [query for _, query, _, _ in joined], "of": [of for of, _, _, _ in joined]},
        named=exp.Struct(expressions=parts),
        texts=[text for _, _, text, _ in joined],
        levels=[level for _, _, _, level in joined],
        is_own=[level == 0 for level in levels],
    )


def frozen_coarser(attribute: str, release_id: str) -> exp.Query:
    """Returns the catalog's copy, for one release, of the ancestors of a column's labels: value, level, node."""
    return filled_query(
        "SELECT $value AS value, level, CAST(label AS BIGINT) AS node FROM anon.release_taxonomy"
        " WHERE release_id = $release AND attribute = $attribute",
        value=by_bytes(column("value")),
        release=release_id,
        attribute=attribute,
    )
