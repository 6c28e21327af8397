"""Counts the rows of each sensitive value in each population of a source, and estimates these counts from a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.assess.figures.population_nodes import Nodes, ReleasedColumn, code_name, node_name
from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.identifiers import fold
from sqlanon.engines.temp_tables import TempTables
from sqlanon.estimates.query.bind import ROW
from sqlanon.estimates.release_model import ReleaseModel, bucketed_value
from sqlanon.estimates.single.estimate import label_of
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    and_,
    as_text,
    cast,
    identical,
    infix,
)
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import cross_join, inner_join, select, subquery
from sqlanon.sql.build.sql_files import Names, filled, filled_query, filled_select
from sqlanon.sql.cells.labels import published_value

# The column of released cells with the value, before and after it is replaced by its code.
_VALUE = "value"


@dataclass(frozen=True)
class _Coding:
    """The codes of the labels or values in one column of some rows.

    The rows have the value in the column `key`, and get its code in the column `code`; `table` has the value in the
    column `name`, and its `code`.
    """

    table: str
    name: str
    key: str
    code: str


def value_codes(temp: TempTables, bound: BoundPolicy, sensitive: BoundAttribute) -> str:
    """Makes the table (value, code) of the values of a sensitive attribute in the source, as texts with numbers."""
    query = filled_query(
        "SELECT value, CAST(row_number() OVER () AS INTEGER) AS code "
        "FROM (SELECT DISTINCT CAST($value AS VARCHAR) AS value FROM source) AS different",
        tables={"source": relation(bound.relation)},
        value=published_value(sensitive),
    )
    return temp.table("value", query)


def source_value(bound: BoundPolicy, sensitive: BoundAttribute) -> str:
    """Returns the name of the column of `source_cells` that holds the codes of a sensitive attribute."""
    return f"value_{bound.sensitive.index(sensitive)}"


def source_cells(temp: TempTables, bound: BoundPolicy, nodes: Sequence[Nodes], values: Sequence[str]) -> str:
    """Makes the table of the source's rows: `code_name` of each quasi-identifier, `source_value` of each attribute, and
    n.

    `values` are the tables of `value_codes`. Rows get their codes before they are grouped, because numbers are grouped
    faster than texts, and because there are far fewer codes than values.
    """
    keys: list[exp.Expr] = []
    codings: list[_Coding] = []
    for i, (b, part) in enumerate(zip(bound.quasi_identifiers, nodes, strict=True)):
        keys.append(alias(published_value(b), _key(i)))
        codings.append(_Coding(part.codes, "value", _key(i), code_name(i)))
    for sensitive, table in zip(bound.sensitive, values, strict=True):
        name = source_value(bound, sensitive)
        keys.append(alias(as_text(published_value(sensitive)), name))
        codings.append(_Coding(table, "value", name, name))
    rows = select(*keys, alias(literal(1), "n"), of=relation(bound.relation))
    return temp.table("cell", _counted(rows, codings, []))


def released_cells(
    temp: TempTables,
    model: ReleaseModel,
    bound: BoundPolicy,
    nodes: Sequence[Nodes],
    columns: Sequence[ReleasedColumn],
    sensitive: BoundAttribute,
    values: str,
) -> str:
    """Makes the table of a release's estimated rows: `code_name` of each quasi-identifier, value and n, which may be a
    fraction.

    The value is its code in the table `values`; all values that are not in the source are NULL. Values known by bucket
    are assumed to occur equally with all rows of the bucket (Xiao and Tao, Anatomy: simple and effective privacy
    preservation, 2006; Li, Li, Zhang and Molloy, Slicing: a new approach for privacy preserving data publishing, 2012).
    """
    shown_columns = _shown_columns(model, bound, sensitive)
    codings = {_VALUE: _Coding(values, "value", _VALUE, _VALUE)}
    for i, part in enumerate(columns):
        of_labels = part.labels is not None and _key(i) in shown_columns.in_rows
        table, name = (str(part.labels), "label") if of_labels else (nodes[i].codes, "value")
        codings[_key(i)] = _Coding(table, name, _key(i), code_name(i))
    buckets = {index: bucket for index in shown_columns.in_sets if (bucket := model.bucketed[index].bucket) is not None}
    keys = {**shown_columns.in_rows, **{_bucket(index): column(bucket, ROW) for index, bucket in buckets.items()}}
    number = alias(cast(f.count(), "DOUBLE"), "n")
    rows = select(
        *(alias(key, name) for name, key in keys.items()),
        number,
        of=subquery(model.rows, ROW),
        group_by=[key.copy() for key in keys.values()],
    )
    in_rows = [codings[name] for name in shown_columns.in_rows]
    if not shown_columns.in_sets:
        return temp.table("released", _coded(rows, in_rows, []))
    counted = temp.table("rows", _counted(rows, in_rows, [*map(_bucket, buckets)]))
    sets = []
    for index, parts in shown_columns.in_sets.items():
        in_set = [codings[name] for name in parts]
        shares = temp.table("set", _bucket_shares(model.bucketed[index].values, parts, in_set))
        sets.append(_SetShares(index, shares, in_set, index in buckets))
    return temp.table("released", _divided(counted, in_rows, sets))


@dataclass(frozen=True)
class _Shown:
    """The columns of a release that show the quasi-identifiers, named by `_key`, and the sensitive value, named
    `_VALUE`.
    """

    # The columns in the rows of the release.
    in_rows: Mapping[str, exp.Expr]
    # The columns in each set of bucketed columns, by the set's index.
    in_sets: Mapping[int, Mapping[str, exp.Expr]]


def _shown_columns(model: ReleaseModel, bound: BoundPolicy, sensitive: BoundAttribute) -> _Shown:
    names = {_key(i): fold(b.column) for i, b in enumerate(bound.quasi_identifiers)}
    subject = fold(sensitive.column)
    bucketed = [name for name in names.values() if name not in _of_rows(model)]
    positions = model.positions_for([*bucketed, subject])
    in_rows: dict[str, exp.Expr] = {}
    in_sets: dict[int, dict[str, exp.Expr]] = {}
    for key, name in names.items():
        if name in model.generalized:
            in_rows[key] = label_of(model.generalized[name])
        elif name in model.exact:
            in_rows[key] = column(model.exact[name], ROW)
        else:
            index, position = positions[name]
            in_sets.setdefault(index, {})[key] = column(bucketed_value(position))
    if subject in model.exact:
        in_rows[_VALUE] = as_text(column(model.exact[subject], ROW))
    else:
        index, position = positions[subject]
        in_sets.setdefault(index, {})[_VALUE] = as_text(column(bucketed_value(position)))
    return _Shown(in_rows, in_sets)


@dataclass(frozen=True)
class _SetShares:
    """A set of columns that a release shows by bucket, with the shares of their values.

    `shares` is the table of each bucket's values, coded by `codings`, and their shares. If `by_bucket` is true, rows
    have their bucket in the column `_bucket`; otherwise all rows are in one bucket.
    """

    index: int
    shares: str
    codings: Sequence[_Coding]
    by_bucket: bool

    @property
    def name(self) -> str:
        return f"set_{self.index}"

    def join(self) -> exp.Join:
        """Returns the clause that joins rows to the values of their buckets."""
        shares = relation(self.shares, as_=self.name)
        if not self.by_bucket:
            return cross_join(shares)
        return inner_join(shares, identical(column(_bucket(self.index), "rows"), column("bucket", self.name)))


def _divided(rows: str, codings: Sequence[_Coding], sets: Sequence[_SetShares]) -> exp.Select:
    """SELECT of the rows divided among the values of their buckets: n times the share of a value in each set."""
    outputs: list[exp.Expr] = [column(coding.code, "rows") for coding in codings]
    outputs += [column(coding.code, part.name) for part in sets for coding in part.codings]
    number: exp.Expr = column("n", "rows")
    for part in sets:
        number = infix(number, "*", column("n", part.name))
    return select(
        *outputs,
        alias(f.sum(number), "n"),
        of=relation(rows, as_="rows"),
        joins=[part.join() for part in sets],
        group_by=[output.copy() for output in outputs],
    )


def independent_values(
    temp: TempTables, model: ReleaseModel, bound: BoundPolicy, sensitive: BoundAttribute, codes: str
) -> exp.Query | None:
    """SELECT of value, n for a sensitive attribute that a release does not link to any quasi-identifier; None if it is
    linked.

    An attribute is not linked if all rows are in one bucket. Then every population has the same distribution of values,
    so the values are not joined with rows. The value is its code in the table `codes`.
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
        buckets = select(f.count_distinct(column("bucket")), of=subquery(values, "published"))
        if temp.engine.rows(buckets)[0][0] > 1:
            return None
    rows = filled_select(
        "SELECT CAST({value} AS VARCHAR) AS value, weight AS n FROM published",
        tables={"published": values},
        names={"value": bucketed_value(index)},
    )
    return _counted(rows, [_Coding(codes, "value", _VALUE, _VALUE)], [])


def _of_rows(model: ReleaseModel) -> set[str]:
    """Returns the folded names of the columns in the release's rows; the others are in sets of bucketed columns."""
    return {*model.exact, *model.generalized}


def _bucket_shares(values: exp.Query, parts: Mapping[str, exp.Expr], codings: Sequence[_Coding]) -> exp.Select:
    """SELECT of (bucket, codes, n): n is the share of the bucket's rows that have the values with these codes."""
    rows = filled_select(
        "SELECT {outputs}, sum(weight) AS n FROM published GROUP BY bucket, {keys}",
        tables={"published": values},
        names={
            "outputs": [column("bucket"), *(alias(key, name) for name, key in parts.items())],
            "keys": [*parts.values()],
        },
    )
    return filled_select(
        "SELECT bucket, {codes}, n / sum(n) OVER (PARTITION BY bucket) AS n FROM coded",
        tables={"coded": _counted(rows, codings, ["bucket"])},
        names={"codes": [coding.code for coding in codings]},
    )


def counts_in_populations(
    temp: TempTables, populations: str, cells: str, value: str, shares: Sequence[str], order: Sequence[int]
) -> str:
    """Makes the table (population, value, n): the number of the cells' rows with each value in the column `value`.

    `shares` are, for each quasi-identifier, the tables of code, node and share, with `TOP` as a node. The populations
    are the leaves of a tree. Each level of the tree has the nodes of one quasi-identifier; `order` has the indexes of
    the quasi-identifiers from the root on. The rows descend level by level, along all branches in which they have a
    share. Rows that differ only in the codes of the levels above are first added up.
    """
    paths = temp.table("path", _paths(populations, order))
    codes = [column(code_name(index)) for index in order]
    rows = select(*codes, alias(column(value), "value"), column("n"), of=relation(cells))
    for i, index in enumerate(order):
        same: exp.Expr = identical(column(code_name(index), "cell"), column("code", "step"))
        if i:
            same = and_(infix(column(_path(i), "cell"), "=", column(_path(i), "step")), same)
        keys = [column(_path(i + 1), "step"), *(column(code_name(other), "cell") for other in order[i + 1 :])]
        keys.append(column("value", "cell"))
        rows = select(
            *keys,
            alias(f.sum(infix(column("n", "cell"), "*", column("share", "step"))), "n"),
            of=subquery(rows, "cell"),
            joins=[inner_join(subquery(_steps(paths, shares[index], index, i), "step"), same)],
            group_by=[key.copy() for key in keys],
        )
    population = alias(column(_path(len(order))), "population")
    outputs = [population, column("value"), column("n")]
    return temp.table("counted", select(*outputs, of=subquery(rows, "cell")))


def _path(index: int) -> str:
    """Returns the name of the column that numbers the combinations of nodes of the first `index` quasi-identifiers."""
    return f"path_{index}"


def _paths(populations: str, order: Sequence[int]) -> exp.Select:
    """SELECT of the populations, with numbers for the combinations of nodes of the first 1, 2, ...
    quasi-identifiers.
    """
    names = [*map(node_name, order)]
    numbers = [
        alias(filled("dense_rank() OVER (ORDER BY {names} ASC NULLS LAST)", names={"names": names[:i]}), _path(i))
        for i in range(1, len(order))
    ]
    return filled_select(
        'SELECT {names}, {numbers}, population AS "{last}" FROM populations',
        tables={"populations": populations},
        names={"names": names, "numbers": numbers, "last": _path(len(order))},
    )


def _steps(paths: str, shares: str, index: int, depth: int) -> exp.Select:
    """SELECT of the paths of `depth` nodes extended by one node, with each code below that node and its share.

    A path is a combination of nodes of the first quasi-identifiers; `shares` has code, node and share of the next.
    """
    numbers = [_path(i) for i in (depth, depth + 1) if i]
    return filled_select(
        "SELECT {path.numbers}, above.code, above.share "
        "FROM (SELECT DISTINCT {numbers}, {node} FROM paths) AS path JOIN above ON {path.node} = above.node",
        tables={"paths": paths, "above": shares},
        names={"numbers": numbers, "node": node_name(index)},
    )


def _bucket(index: int) -> str:
    """Returns the name of the column with a row's bucket, for the set of bucketed columns at this index."""
    return f"bucket_{index}"


def _key(index: int) -> str:
    """Returns the name of the column with a row's published value of the quasi-identifier at this index."""
    return f"key_{index}"


def _coded(rows: exp.Query, codings: Sequence[_Coding], others: Sequence[str]) -> exp.Query:
    """SELECT of the rows whose values are replaced by their codes, or by NULL if a value has no code."""
    of = {f"of_{coding.code}": coding for coding in codings}
    return filled_query(
        'SELECT "{of}".code AS "{codes}", {cell.others}, cell.n FROM cell'
        ' LEFT JOIN "{tables}" AS "{of}" ON {cell.keys} IS NOT DISTINCT FROM "{of}"."{values}"',
        tables={"cell": rows},
        names={
            "of": [*of],
            "codes": [coding.code for coding in codings],
            "others": others,
            "tables": [coding.table for coding in codings],
            "keys": [coding.key for coding in codings],
            "values": [coding.name for coding in codings],
        },
    )


def _counted(rows: exp.Query, codings: Sequence[_Coding], others: Sequence[str]) -> exp.Query:
    """SELECT of the coded rows, with equal rows added up."""
    keys = [*(coding.code for coding in codings), *others]
    # A query without keys has one row, even if there is no row to count.
    text = "SELECT {keys}, CAST(sum(n) AS DOUBLE) AS n FROM coded GROUP BY {keys} HAVING {some}"
    names: Names = {"keys": keys, "some": [] if keys else [filled("count(*) > 0")]}
    return filled_query(text, tables={"coded": _coded(rows, codings, others)}, names=names)
