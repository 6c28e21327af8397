"""Parses queries that can be answered with noise: one aggregate over one table, of expressions known to be safe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from sqlglot import exp

from sqlanon.domain.identifiers import fold, nearest
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Column
from sqlanon.errors import PolicyError
from sqlanon.estimates.noisy.failures import require_no_failure
from sqlanon.estimates.query.functions import require_known
from sqlanon.estimates.query.parse import (
    aggregates_in,
    excerpt,
    grouping,
    plain_select,
    qualified_name,
    refused,
    require_parts,
    source_table,
)
from sqlanon.sql.build.names import column

# The name of the source in the queries that are sent.
SOURCE = "source"

# Parts of a SELECT that are answered; all other parts are refused.
_ANSWERED = ("expressions", "from_", "from", "where", "group", "kind")
_WHY = {
    "joins": "a join multiplies the rows of one person by rows of others",
    "having": "HAVING chooses groups by their true figures",
    "order": "ORDER BY would order by true figures",
    "limit": "LIMIT chooses groups by their true figures",
}
_AGGREGATES = "there are count(*), count(x), count(DISTINCT respondent), sum(x), avg(x), median(x) and quantile(x, 0.9)"
_QUANTILES = (exp.Quantile, exp.PercentileDisc)


@dataclass(frozen=True)
class Figure:
    """The aggregate of a query.

    `kind` is 'rows' (count), 'respondents' (count(DISTINCT entity)), 'sum', 'average' or 'quantile'. `argument` is the
    expression of the values; None for count(*) and respondents. `share` is the share of values below a quantile.
    """

    name: str
    kind: str
    argument: exp.Expr | None = None
    share: Decimal = Decimal("0.5")


@dataclass(frozen=True)
class NoisyQuery:
    """A query on one table, whose columns belong to `SOURCE`, spelled as in the table.

    `groups` are the names and expressions of GROUP BY, and `condition` is the condition of WHERE.
    """

    source: QualifiedName
    figure: Figure
    groups: tuple[tuple[str, exp.Expr], ...]
    condition: exp.Expr | None

    @property
    def parts(self) -> list[exp.Expr]:
        """The expressions of the groups, and then the argument of the figure if it has one."""
        argument = [] if self.figure.argument is None else [self.figure.argument]
        return [*(tree for _, tree in self.groups), *argument]


def parsed(text: str, columns: Sequence[Column], entity: str | None) -> NoisyQuery:
    """Parses a query on a table with these columns, whose respondents are in the column `entity`.

    Raises StatementError for a text that is not a query, and PolicyError, which names the part, for a part whose
    dependence on one respondent's rows is not known to be bounded.
    """
    select = plain_select(text)
    for name, part in select.args.items():
        if part and name not in _ANSWERED:
            why = _WHY.get(name, "only FROM, WHERE and GROUP BY are known to be safe")
            raise PolicyError(f"{_spelled(name)} cannot be answered under a budget: {why}", part=("query",))
    require_parts(select)
    table = source_table(select)
    groups = _groups(select)
    aggregates = [item for item in select.expressions if _is_aggregate(item.unalias())]
    if len(aggregates) != 1:
        raise PolicyError(
            f"a query under a budget has one aggregate, and this one has {len(aggregates)}",
            hint=_AGGREGATES if not aggregates else "ask for each by itself, with an epsilon of its own",
            part=("query",),
        )
    names = _Columns(table.alias_or_name, columns)
    where = select.args.get("where")
    query = NoisyQuery(
        qualified_name(table),
        _figure(aggregates[0], names, entity),
        tuple(_group(group, select, names) for group in groups),
        names.bound(where.this) if where else None,
    )
    _require_shown(select, aggregates[0], groups)
    _require_different(query)
    return query


def _spelled(part: str) -> str:
    return {"joins": "JOIN", "order": "ORDER BY"}.get(part, part.upper().rstrip("_"))


class _Columns:
    """Finds columns of the source by the names that a query may use."""

    def __init__(self, alias: str, columns: Sequence[Column]) -> None:
        self._alias = alias
        self._columns = {fold(name): name for name, _ in columns}

    def bound(self, tree: exp.Expr) -> exp.Expr:
        """Binds the columns of an expression to `SOURCE`. Raises PolicyError for a node that is not known to be
        safe.
        """
        require_known(tree)
        require_no_failure(tree)
        bound = tree.copy()
        for node in [bound] if isinstance(bound, exp.Column) else list(bound.find_all(exp.Column)):
            renamed = column(self.spelled(node), SOURCE)
            if node is bound:
                return renamed
            node.replace(renamed)
        return bound

    def spelled(self, node: exp.Column) -> str:
        """Returns a column's name as the source spells it. Raises PolicyError for an unknown column, rowid included."""
        table = node.table
        if (table and fold(table) != fold(self._alias)) or node.args.get("db") or fold(node.name) not in self._columns:
            near = nearest(node.name, list(self._columns.values()))
            raise refused(node, "the source has no such column", near)
        return self._columns[fold(node.name)]


def _is_aggregate(node: exp.Expr) -> bool:
    return any(aggregates_in(node)) or isinstance(node, exp.AggFunc | exp.Filter | exp.WithinGroup)


def _figure(item: exp.Expr, names: _Columns, entity: str | None) -> Figure:
    node = item.unalias()
    if isinstance(node, exp.Count):
        return _count(node, item.alias, names, entity)
    if isinstance(node, exp.Sum | exp.Avg):
        kind, share = "sum" if isinstance(node, exp.Sum) else "average", Decimal("0.5")
    elif isinstance(node, exp.Median | exp.Quantile | exp.PercentileDisc):
        kind, share = "quantile", _share(node)
    else:
        raise refused(node, "cannot be answered under a budget", _AGGREGATES)
    argument = node.this
    if argument is None or isinstance(argument, exp.Distinct | exp.Star):
        raise refused(node, "cannot be answered under a budget", _AGGREGATES)
    return Figure(item.alias or _called(node, argument), kind, names.bound(argument), share)


def _count(node: exp.Count, alias: str, names: _Columns, entity: str | None) -> Figure:
    argument = node.this
    if node.args.get("expressions"):
        raise refused(node, "count of several columns cannot be answered", _AGGREGATES)
    if isinstance(argument, exp.Distinct):
        counted = argument.expressions
        is_entity = len(counted) == 1 and isinstance(counted[0], exp.Column) and names.spelled(counted[0]) == entity
        if not is_entity:
            whose = f"count(DISTINCT {entity})" if entity else "count(*)"
            raise refused(
                node, "different values cannot be counted: one person may be all that some are of", f"ask for {whose}"
            )
        return Figure(alias or "count", "respondents")
    if argument is None or isinstance(argument, exp.Star):
        return Figure(alias or "count", "rows")
    return Figure(alias or _called(node, argument), "rows", names.bound(argument))


def _share(node: exp.Expr) -> Decimal:
    """Reads the share of values below a quantile."""
    if isinstance(node, exp.Median):
        return Decimal("0.5")
    share = node.args.get("quantile" if isinstance(node, exp.Quantile) else "expression")
    if not isinstance(share, exp.Literal) or share.is_string or not 0 <= Decimal(share.this) <= 1:
        raise refused(node, "the share of a quantile is a number from 0 to 1", "write quantile(x, 0.9)")
    return Decimal(share.this)


def _called(node: exp.Expr, argument: exp.Expr) -> str:
    name = "quantile" if isinstance(node, _QUANTILES) else node.key
    return f"{name}_{argument.name}" if isinstance(argument, exp.Column) else name


def _groups(select: exp.Select) -> tuple[exp.Expr, ...]:
    clause = select.args.get("group")
    if clause is None or not clause.args.get("all"):
        return tuple(grouping(select))
    return tuple(item.unalias() for item in select.expressions if not _is_aggregate(item.unalias()))


def _group(group: exp.Expr, select: exp.Select, names: _Columns) -> tuple[str, exp.Expr]:
    """Returns the name in the result and the expression of a group."""
    aliases = [item.alias for item in select.expressions if item.alias and item.unalias() == group]
    called = group.name if isinstance(group, exp.Column) else excerpt(group)
    if _is_aggregate(group):
        raise refused(group, "an aggregate cannot be grouped by")
    return (aliases[0] if aliases else called), names.bound(group)


def _require_shown(select: exp.Select, aggregate: exp.Expr, groups: Sequence[exp.Expr]) -> None:
    """Raises PolicyError for a column of the result by which the query does not group, and for a group that the result
    does not show.
    """
    shown_items = [item.unalias() for item in select.expressions if item is not aggregate]
    for item in shown_items:
        if item not in groups:
            raise refused(item, "is neither an aggregate nor in GROUP BY")
    for group in groups:
        if group not in shown_items:
            raise refused(group, "is grouped by and not in the result", "name it behind SELECT")


def _require_different(query: NoisyQuery) -> None:
    called = query.figure.name
    taken = {fold(end) for end in (called, f"{called}_low_95", f"{called}_high_95", "epsilon", "delta", "remaining")}
    for name, _ in query.groups:
        if fold(name) in taken:
            raise PolicyError(
                f"two columns of the result are called {name}", hint="name them: count(*) AS n", part=("query",)
            )
        taken.add(fold(name))
