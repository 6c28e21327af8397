"""How many rows of each sensitive value a source has in each population, and how many a release says there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.identifiers import fold
from sqlanon.engines.temp_tables import Scratch
from sqlanon.estimates.query.bind import ROW
from sqlanon.estimates.release_model import ReleaseModel, bucketed_value
from sqlanon.estimates.single.estimate import label_of
from sqlanon.figures.population_columns import ReleasedColumn
from sqlanon.figures.population_nodes import Nodes, code_name, node_name
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import (
    as_text,
    ascending,
    cast,
    identical,
    if_,
    is_null,
    order_by,
    window,
)
from sqlanon.sqlgen.build.names import alias, column, literal, relation
from sqlanon.sqlgen.cells.labels import published_value

__all__ = [
    "counts_in_populations",
    "independent_values",
    "released_cells",
    "source_cells",
    "source_value",
]


def source_value(bound: BoundPolicy, sensitive: BoundAttribute) -> str:
    """The column of `source_cells` with the values of a sensitive attribute."""
    return f"value_{bound.sensitive.index(sensitive)}"


def source_cells(scratch: Scratch, bound: BoundPolicy, nodes: Sequence[Nodes]) -> str:
    """The table of the source's rows: `code_name` of each quasi-identifier, `source_value` of each attribute, and n.

    Rows get their codes before they are grouped: there are far fewer codes than values.
    """
    values = [alias(published_value(b), _key(i)) for i, b in enumerate(bound.quasi_identifiers)]
    others = [source_value(bound, sensitive) for sensitive in bound.sensitive]
    for sensitive, name in zip(bound.sensitive, others, strict=True):
        values.append(alias(_text(as_text(published_value(sensitive))), name))
    rows = exp.select(*values, alias(literal(1), "n")).from_(relation(bound.relation))
    return scratch.table("cell", _counted(rows, {i: (part.codes, "value") for i, part in enumerate(nodes)}, others))


def released_cells(
    scratch: Scratch,
    model: ReleaseModel,
    bound: BoundPolicy,
    nodes: Sequence[Nodes],
    columns: Sequence[ReleasedColumn],
    sensitive: BoundAttribute,
) -> str:
    """The table of what the release says: `code_name` of each quasi-identifier, value and n, which may be a fraction.

    What is known by bucket is taken to go with everything else of the bucket alike (Xiao and Tao, Anatomy: simple and
    effective privacy preservation, 2006; Li, Li, Zhang and Molloy, Slicing: a new approach for privacy preserving data
    publishing, 2012).
    """
    names = [fold(b.column) for b in bound.quasi_identifiers]
    subject = fold(sensitive.column)
    of_rows = [i for i, name in enumerate(names) if name in _of_rows(model)]
    positions = model.positions_for([*(name for i, name in enumerate(names) if i not in of_rows), subject])
    keys: dict[str, exp.Expr] = {}
    for i in of_rows:
        generalized = model.generalized.get(names[i])
        keys[_key(i)] = label_of(generalized) if generalized else column(model.exact[names[i]], ROW)
    if subject in model.exact:
        keys["value"] = _text(as_text(column(model.exact[subject], ROW)))
    # The columns of each set of bucketed ones that are needed, by the index of the set.
    sets: dict[int, dict[str, exp.Expr]] = {}
    for i, name in enumerate(names):
        if i not in of_rows:
            number, index = positions[name]
            sets.setdefault(number, {})[_key(i)] = column(bucketed_value(index))
    if subject not in model.exact:
        number, index = positions[subject]
        sets.setdefault(number, {})["value"] = _text(as_text(column(bucketed_value(index))))
    buckets = {number: f"bucket_{number}" for number in sets if model.bucketed[number].bucket is not None}
    for number, bucket in buckets.items():
        keys[bucket] = column(str(model.bucketed[number].bucket), ROW)
    codes = {
        i: (part.labels, "label") if part.labels and i in of_rows else (nodes[i].codes, "value")
        for i, part in enumerate(columns)
    }
    rows = exp.select(*(alias(key, name) for name, key in keys.items()), alias(cast(f.count(), "DOUBLE"), "n"))
    rows = rows.from_(model.rows.subquery(ROW)).group_by(*(key.copy() for key in keys.values()))
    of_rows_codes = {i: codes[i] for i in of_rows}
    others = [name for name in keys if name not in {_key(i) for i in of_rows}]
    if not sets:
        return scratch.table("released", _coded(rows, of_rows_codes, others))
    table = scratch.table("rows", _counted(rows, of_rows_codes, others))
    outputs: list[exp.Expr] = [column(name, "rows") for name in (*map(code_name, of_rows), *others)]
    outputs = [output for output in outputs if output.name not in buckets.values()]
    number_of: exp.Expr = column("n", "rows")
    joined = exp.select().from_(relation(table, as_="rows"))
    for number, parts in sets.items():
        indexes = [i for i in range(len(nodes)) if _key(i) in parts]
        shares = scratch.table("set", _bucket_shares(model.bucketed[number].values, parts, indexes, codes))
        at = f"set_{number}"
        if number in buckets:
            same = identical(column(buckets[number], "rows"), column("bucket", at))
            joined = joined.join(relation(shares, as_=at), on=same, copy=False)
        else:
            joined = joined.join(relation(shares, as_=at), join_type="CROSS", copy=False)
        outputs += [column(code_name(i), at) for i in indexes]
        outputs += [column("value", at)] if "value" in parts else []
        number_of = number_of * column("n", at)
    grouped = [output.copy() for output in outputs]
    return scratch.table("released", joined.select(*outputs, alias(f.sum(number_of), "n")).group_by(*grouped))


def independent_values(
    scratch: Scratch, model: ReleaseModel, bound: BoundPolicy, sensitive: BoundAttribute
) -> exp.Select | None:
    """value and n of a sensitive attribute that nothing links to any quasi-identifier; None where something does.

    So it is where all rows are in one bucket. Every population then has the values of all, which need not be multiplied
    by the rows.
    """
    subject = fold(sensitive.column)
    if subject in model.exact:
        return None
    in_sets = [name for b in bound.quasi_identifiers if (name := fold(b.column)) not in _of_rows(model)]
    positions = model.positions_for([*in_sets, subject])
    number, index = positions[subject]
    if any(positions[name][0] == number for name in in_sets):
        return None
    values = model.bucketed[number].values
    if model.bucketed[number].bucket is not None:
        buckets = exp.select(f.count_distinct(column("bucket"))).from_(values.subquery("published"))
        if scratch.engine.rows(buckets)[0][0] > 1:
            return None
    value = _text(as_text(column(bucketed_value(index))))
    rows = exp.select(alias(value, "value"), alias(f.sum(column("weight")), "n"))
    return rows.from_(values.subquery("published")).group_by(value.copy())


def _of_rows(model: ReleaseModel) -> set[str]:
    """The columns that rows show, by their folded names; the others are in sets of bucketed ones."""
    return {*model.exact, *model.generalized}


def _bucket_shares(
    values: exp.Query, parts: Mapping[str, exp.Expr], indexes: Sequence[int], codes: Mapping[int, tuple[str, str]]
) -> exp.Select:
    """The values of each bucket by their codes, n being the share of the bucket's rows that has them."""
    keys = {"bucket": column("bucket"), **parts}
    rows = exp.select(*(alias(key, name) for name, key in keys.items()), alias(f.sum(column("weight")), "n"))
    rows = rows.from_(values.subquery("published")).group_by(*(key.copy() for key in keys.values()))
    others = [name for name in keys if name not in {_key(i) for i in indexes}]
    coded = _counted(rows, {i: codes[i] for i in indexes}, others)
    share = column("n") / window(f.sum(column("n")), [column("bucket")])
    outputs = [column(name) for name in (*map(code_name, indexes), *others)]
    return exp.select(*outputs, alias(share, "n")).from_(coded.subquery("coded", copy=False))


def counts_in_populations(
    scratch: Scratch, populations: str, cells: str, value: str, shares: Sequence[str], order: Sequence[int]
) -> str:
    """The table of population, value and n: how many rows of the cells have what the column `value` has there.

    `shares` are, of each quasi-identifier, the tables of code, node and share, `TOP` being a node. The populations are
    the leaves of a tree with the nodes of one quasi-identifier at each level, in this order of their indexes. The rows
    go down one level after the other, along all branches that they have a share of; those that differ in a code of a
    level above alone are added up before they go on.
    """
    paths = scratch.table("path", _paths(populations, order))
    codes = [column(code_name(index)) for index in order]
    rows = exp.select(*codes, alias(column(value), "value"), column("n")).from_(relation(cells))
    for i, index in enumerate(order):
        same: exp.Expr = identical(column(code_name(index), "cell"), column("code", "step"))
        if i:
            same = exp.and_(column(_path(i), "cell").eq(column(_path(i), "step")), same)
        keys = [column(_path(i + 1), "step"), *(column(code_name(other), "cell") for other in order[i + 1 :])]
        keys.append(column("value", "cell"))
        number = alias(f.sum(column("n", "cell") * column("share", "step")), "n")
        rows = exp.select(*keys, number).from_(rows.subquery("cell", copy=False), copy=False)
        rows = rows.join(_steps(paths, shares[index], index, i).subquery("step"), on=same, copy=False)
        rows = rows.group_by(*(key.copy() for key in keys), copy=False)
    counted = exp.select(alias(column(_path(len(order))), "population"), column("value"), column("n"))
    return scratch.table("counted", counted.from_(rows.subquery("cell", copy=False)))


def _path(index: int) -> str:
    """The column with the number of the nodes of so many quasi-identifiers together."""
    return f"path_{index}"


def _paths(populations: str, order: Sequence[int]) -> exp.Select:
    """The populations, and for each quasi-identifier the number of its node with the nodes of those before."""
    names = [*map(node_name, order)]
    numbers = [
        alias(window(f.dense_rank(), order=order_by(*(ascending(column(name)) for name in names[:i]))), _path(i))
        for i in range(1, len(order))
    ]
    return exp.select(*map(column, names), *numbers, alias(column("population"), _path(len(order)))).from_(
        relation(populations)
    )


def _steps(paths: str, shares: str, index: int, depth: int) -> exp.Select:
    """From each path and code to the paths with one node more, with the share of the code that is below it."""
    node, numbers = column(node_name(index), "path"), [_path(i) for i in (depth, depth + 1) if i]
    ends = exp.select(*(column(name) for name in numbers), column(node_name(index))).distinct().from_(relation(paths))
    outputs = [*(column(name, "path") for name in numbers), column("code", "above"), column("share", "above")]
    query = exp.select(*outputs).from_(ends.subquery("path"))
    return query.join(relation(shares, as_="above"), on=node.eq(column("node", "above")), copy=False)


def _key(index: int) -> str:
    """The column with what a row shows of the quasi-identifier at this index."""
    return f"key_{index}"


def _coded(rows: exp.Select, codes: Mapping[int, tuple[str, str]], others: Sequence[str]) -> exp.Select:
    """The rows by the codes of what they show, from tables of it and its code; a value without one has NULL."""
    outputs = [alias(column("code", code_name(i)), code_name(i)) for i in codes]
    query = exp.select(*outputs, *(column(name, "cell") for name in others))
    query = query.select(column("n", "cell"), copy=False)
    query = query.from_(rows.subquery("cell", copy=False), copy=False)
    for i, (table, name) in codes.items():
        same = identical(column(_key(i), "cell"), column(name, code_name(i)))
        query = query.join(relation(table, as_=code_name(i)), on=same, join_type="LEFT", copy=False)
    return query


def _counted(rows: exp.Select, codes: Mapping[int, tuple[str, str]], others: Sequence[str]) -> exp.Select:
    """The same, of which rows that are alike are one."""
    keys = [*map(code_name, codes), *others]
    query = exp.select(*map(column, keys), alias(cast(f.sum(column("n")), "DOUBLE"), "n"))
    query = query.from_(_coded(rows, codes, others).subquery("coded", copy=False), copy=False)
    # A query without keys has one row, even where there is none to count.
    return query.group_by(*map(column, keys), copy=False) if keys else query.having(f.count() > 0, copy=False)


def _text(value: exp.Expr) -> exp.Expr:
    """A value as a text, and NULL as a text that no value is."""
    return if_(is_null(value), literal(""), f.call("concat", literal("="), value.copy()))
