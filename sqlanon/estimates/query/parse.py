"""Parses the text of an aggregate query into its parts; any other query is an error that names the refused part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqlanon.domain.identifiers import fold, same_name
from sqlanon.domain.values import QualifiedName
from sqlanon.errors import PolicyError, Position, StatementError
from sqlanon.sql.build.names import column

_FUNCTIONS: dict[type[exp.Expr], str] = {
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
}
_PARTS = {
    "with_": "WITH",
    "with": "WITH",
    "distinct": "DISTINCT",
    "order": "ORDER BY",
    "limit": "LIMIT",
    "offset": "OFFSET",
    "qualify": "QUALIFY",
    "windows": "WINDOW",
    "laterals": "LATERAL",
    "pivots": "PIVOT",
    "sample": "a sample",
}
_KNOWN = {"expressions", "from", "from_", "joins", "where", "group", "having", "kind", "hint", "into"}
# The last column of an answer. It names the columns whose values below a label were assumed to be equally likely.
UNIFORM = "uniform_columns"
# The most characters of a query that an error quotes.
_LONGEST = 60


@dataclass(frozen=True)
class Aggregate:
    """One aggregate of the query: `function` of `argument`, which is None for COUNT(*)."""

    name: str
    function: str
    argument: exp.Expr | None


@dataclass(frozen=True)
class Group:
    """A column of the result that is a group."""

    name: str
    expression: exp.Expr


@dataclass(frozen=True)
class Lookup:
    """A table that is joined by equality of its column `key` with the column `on`, which share a name if `using`."""

    table: QualifiedName
    alias: str
    on: exp.Column
    key: str
    using: bool = False


@dataclass(frozen=True)
class AggregateQuery:
    """SELECT items FROM source [JOIN lookups] [WHERE where] [GROUP BY groups] [HAVING having].

    `source` is the name by which the query calls the source of the release, and `alias` is the name before its columns.
    """

    source: QualifiedName
    alias: str
    items: tuple[Group | Aggregate, ...]
    groups: tuple[Group, ...]
    lookups: tuple[Lookup, ...]
    where: exp.Expr | None
    having: exp.Expr | None

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        """The aggregates of the result, followed by aggregates that only HAVING reads."""
        aggregates = [item for item in self.items if isinstance(item, Aggregate)]
        known = [(aggregate.function, aggregate.argument) for aggregate in aggregates]
        for node in aggregates_in(self.having):
            aggregate = _aggregate(node, "")
            if (aggregate.function, aggregate.argument) not in known:
                known.append((aggregate.function, aggregate.argument))
                aggregates.append(aggregate)
        return tuple(aggregates)


def parsed(text: str) -> AggregateQuery:
    """Parses an aggregate query.

    Raises StatementError for a text that is not a query, and PolicyError for a query that cannot be estimated.
    """
    select = plain_select(text)
    require_parts(select)
    table = source_table(select)
    groups = tuple(grouping(select))
    items = tuple(_item(item, groups) for item in select.expressions)
    if not any(isinstance(item, Aggregate) for item in items):
        raise PolicyError("there is no aggregate to estimate", hint="there are count, sum, avg, min and max")
    _require_names(items)
    where, having = select.args.get("where"), select.args.get("having")
    return AggregateQuery(
        source=qualified_name(table),
        alias=table.alias_or_name,
        items=items,
        groups=tuple(_group(expression, items) for expression in groups),
        lookups=tuple(_lookup(join, table.alias_or_name) for join in select.args.get("joins") or ()),
        where=where.this if where else None,
        having=having.this if having else None,
    )


def plain_select(text: str) -> exp.Select:
    """Parses a SELECT; raises StatementError for a text that is not a query, PolicyError for another statement."""
    try:
        trees = sqlglot.parse(text, dialect="duckdb")
    except SqlglotError:
        trees = []
    if len(trees) != 1 or trees[0] is None:
        raise StatementError("the query cannot be read", hint="write one SELECT with aggregates, and nothing after it")
    select = trees[0]
    if not isinstance(select, exp.Select):
        raise refused(select, "the query is no plain SELECT", "write SELECT count(*) FROM source WHERE ...")
    return select


def _group(expression: exp.Expr, items: Sequence[Group | Aggregate]) -> Group:
    """Returns the group of an expression of GROUP BY; it has no name if the result does not show it."""
    same = (item for item in items if isinstance(item, Group) and item.expression == expression)
    return next(same, Group("", expression))


def excerpt(tree: exp.Expr) -> str:
    """Returns the text of a part of the query for an error message, shortened."""
    text = tree.sql(dialect="duckdb")
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "..."


def refused(tree: exp.Expr, why: str, hint: str | None = None) -> PolicyError:
    """Returns the error for a part of the query, with the part's position in the text."""
    return PolicyError(f"{excerpt(tree)}: {why}", hint=hint, position=_position(tree))


def _position(tree: exp.Expr) -> Position | None:
    """Returns the position of a part's first word in the text of the query."""
    known = [node.meta for node in tree.walk() if node.meta_get("start") is not None]
    positions = [(int(token["line"]), int(token["col"]) - (int(token["end"]) - int(token["start"]))) for token in known]
    return Position(*min(positions)) if positions else None


def aggregates_in(tree: exp.Expr | None) -> Iterator[exp.Expr]:
    """Yields the aggregate calls in an expression."""
    if tree is not None:
        yield from (node for node in tree.walk() if type(node) in _FUNCTIONS)


def aggregate_of(node: exp.Expr) -> Aggregate | None:
    """Returns an expression as an Aggregate; None if it is not an aggregate."""
    return _aggregate(node, "") if type(node) in _FUNCTIONS else None


def require_parts(select: exp.Select) -> None:
    for name, part in select.args.items():
        if part and name not in _KNOWN:
            raise PolicyError(f"{_PARTS.get(name, name)} cannot be estimated", hint="leave it out of the query")
    if select.args.get("into"):
        raise PolicyError("INTO cannot be estimated", hint="leave it out of the query")
    for node in select.walk():
        if node is not select and isinstance(node, exp.Query | exp.Subquery):
            raise refused(node, "a query inside the query cannot be estimated", "join a table instead")
        if isinstance(node, exp.Window):
            raise refused(node, "window functions cannot be estimated")


def source_table(select: exp.Select) -> exp.Table:
    clause = select.args.get("from_") or select.args.get("from")
    table = clause.this if clause else None
    if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
        raise PolicyError("the query reads no table", hint="write the source of the release after FROM")
    _require_plain(table)
    return table


def _require_plain(table: exp.Table) -> None:
    """Raises PolicyError unless a table is only a name, perhaps with an alias."""
    for name, part in table.args.items():
        if part and name not in ("this", "db", "catalog", "alias", "joins"):
            raise refused(table, f"{name.upper()} cannot be estimated")
    if table.args.get("joins") or table.alias_column_names:
        raise refused(table, "only plain tables can be estimated from")


def qualified_name(table: exp.Table) -> QualifiedName:
    return QualifiedName(tuple(part.name for part in table.parts))


def grouping(select: exp.Select) -> Iterator[exp.Expr]:
    """Yields the expressions of GROUP BY; names and numbers of result columns are replaced by their expressions."""
    clause = select.args.get("group")
    if clause is None:
        return
    plain = [item for item in select.expressions if not any(aggregates_in(item))]
    if clause.args.get("all"):
        yield from (item.unalias() for item in plain)
        return
    if other := [name for name, part in clause.args.items() if part and name != "expressions"]:
        raise refused(clause, f"{other[0]} cannot be estimated", "name the columns: GROUP BY age, sex")
    named = {fold(item.alias): item.unalias() for item in plain if item.alias}
    yield from (_grouped_by(part, select.expressions, named) for part in clause.expressions)


def _grouped_by(part: exp.Expr, outputs: Sequence[exp.Expr], named: Mapping[str, exp.Expr]) -> exp.Expr:
    """Resolves a part of GROUP BY: the number of a result column, its name, or else the part itself."""
    if isinstance(part, exp.Literal) and part.is_int:
        if not 1 <= int(part.this) <= len(outputs):
            raise refused(part, "the result has no such column")
        return outputs[int(part.this) - 1].unalias()
    if isinstance(part, exp.Column) and not part.table:
        return named.get(fold(part.name), part)
    return part


def _item(item: exp.Expr, groups: tuple[exp.Expr, ...]) -> Group | Aggregate:
    inner = item.unalias()
    if type(inner) in _FUNCTIONS:
        return _aggregate(inner, item.alias)
    if inner in groups:
        return Group(item.alias or (inner.name if isinstance(inner, exp.Column) else excerpt(inner)), inner)
    if any(aggregates_in(inner)):
        raise refused(
            inner, "an aggregate is a column of the result by itself", "compute with the estimates afterwards"
        )
    if isinstance(inner, exp.AggFunc | exp.Filter | exp.Star):
        raise refused(inner, "cannot be estimated", "there are count, sum, avg, min and max; use WHERE to filter")
    raise refused(inner, "is neither an aggregate nor in GROUP BY")


def _aggregate(node: exp.Expr, name: str) -> Aggregate:
    function = _FUNCTIONS[type(node)]
    argument = node.this
    if isinstance(argument, exp.Distinct) or node.args.get("expressions"):
        raise refused(node, "DISTINCT and several arguments cannot be estimated")
    if isinstance(argument, exp.Star) or (argument is None and function == "count"):
        argument = None
    elif argument is None or any(aggregates_in(argument)):
        raise refused(node, "cannot be estimated")
    default = f"{function}_{argument.name}" if isinstance(argument, exp.Column) else function
    return Aggregate(name or default, function, argument)


def _require_names(items: tuple[Group | Aggregate, ...]) -> None:
    taken = {UNIFORM}
    for item in items:
        ends = ("", "_spread", "_low", "_high") if isinstance(item, Aggregate) else ("",)
        for name in (item.name + end for end in ends):
            if fold(name) in taken:
                raise PolicyError(f"two columns of the result are called {name}", hint="name them: count(*) AS n")
            taken.add(fold(name))


def _lookup(join: exp.Join, source: str) -> Lookup:
    table = join.this
    if join.args.get("side") or (join.args.get("kind") or "INNER").upper() != "INNER" or join.args.get("method"):
        raise refused(join, "only inner joins can be estimated")
    if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
        raise refused(join, "only tables can be joined")
    _require_plain(table)
    using, on = join.args.get("using"), join.args.get("on")
    if using and len(using) == 1:
        key = using[0].name
        return Lookup(qualified_name(table), table.alias_or_name, column(key, source), key, using=True)
    if isinstance(on, exp.EQ) and (sides := _sides(on, table.alias_or_name)):
        source_column, key_column = sides
        return Lookup(qualified_name(table), table.alias_or_name, source_column, key_column.name)
    raise refused(
        join, "is no join of one column with another", "write JOIN wards ON patients.ward = wards.id, with both names"
    )


def _sides(on: exp.EQ, table: str) -> tuple[exp.Column, exp.Column] | None:
    """Returns the two columns of a join's equality: the column of the other relation and the column of the table; None
    for another equality.
    """
    if not isinstance(on.left, exp.Column) or not isinstance(on.right, exp.Column):
        return None
    for key_side, source_column in ((on.left, on.right), (on.right, on.left)):
        if same_name(key_side.table, table) and not same_name(source_column.table, key_side.table):
            return source_column, key_side
    return None


def is_plain(query: AggregateQuery) -> bool:
    """Whether the query has one row of figures over the source alone: no groups, joins or HAVING."""
    return not (query.groups or query.lookups or query.having is not None)
