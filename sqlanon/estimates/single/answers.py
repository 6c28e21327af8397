"""Builds the answer of an estimate: a row for each group with estimate, spread and bounds of each aggregate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.domain.identifiers import fold
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import PolicyError
from sqlanon.estimates.fixed_sql import fixed, withheld_rows
from sqlanon.estimates.query.functions import require_bindable, require_evaluable, require_known, tried
from sqlanon.estimates.query.parse import (
    UNIFORM,
    Aggregate,
    AggregateQuery,
    Group,
    aggregate_of,
    aggregates_in,
    refused,
)
from sqlanon.estimates.single.bucket_sums import unvaried
from sqlanon.estimates.single.estimate import Combinations
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import ascending, cast, paren, union_all
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import select
from sqlanon.sql.build.sql_files import filled, filled_query

# The most groups that an answer has.
MOST_GROUPS = 10_000

_ENDS = ("", "_spread", "_low", "_high")
_BIGINT = exp.DataType.build("BIGINT")
_DOUBLE = exp.DataType.build("DOUBLE")
_VARCHAR = exp.DataType.build("VARCHAR")
# These have the type of the aggregate, and those of inexact numbers another name.
_TYPED = tuple(f"{function}{end}" for function in ("sum", "min", "max") for end in ("_low", "_high"))
_REAL = tuple(f"{function}{end}" for function in ("count", "sum", "avg", "min", "max") for end in _ENDS)
_INEXACT = "inexact_"
# The longest numbers that figures.sql adds up, where a release has so many rows that a sum may overflow.
LONGEST = 10**27
# The greatest sum of whole numbers of 128 bits.
_MOST = 10**38


@dataclass(frozen=True)
class Answer:
    """The answer to a query."""

    # The table of its rows, before HAVING.
    rows: str
    # The columns of groups and figures, as the query names them.
    outputs: Sequence[exp.Alias]
    items: Sequence[Group | Aggregate]
    # The condition of HAVING; None where there is none.
    having: exp.Expr | None
    # How many rows may be in groups that the answer does not have; None where nobody knows.
    room: int | None
    # The number of columns that rows are grouped by.
    groups: int
    # The columns whose values are taken to be equally likely below a label, where figures depend on it.
    uniform: Sequence[str]

    def query(self) -> exp.Query:
        """Returns the answer, sorted by its groups."""
        return self._answer(self.outputs)

    def as_texts(self) -> exp.Query:
        """Returns the answer with groups as texts, and as texts the figures that may exceed Python's numbers."""
        outputs = self._cast(_VARCHAR, ("_low", "_high"))
        return self._answer(outputs)

    def all_groups(self) -> exp.Query:
        """Returns all groups as texts, their figures as DOUBLE, and a last column: whether HAVING keeps the group."""
        passes = exp.true() if self.having is None else filled("coalesce($having, false)", having=self.having)
        return self._ordered([*self._cast(_DOUBLE, _ENDS), passes], [])

    def _answer(self, outputs: Sequence[exp.Expr]) -> exp.Query:
        names = cast(literal(", ".join(self.uniform)) if self.uniform else exp.null(), _VARCHAR)
        return self._ordered([*outputs, alias(names, UNIFORM)], [] if self.having is None else [self.having])

    def _cast(self, to: exp.DataType, ends: Sequence[str]) -> list[exp.Expr]:
        """Returns the columns, groups as texts and the figures `ends` cast to a type."""
        remaining = iter(self.outputs)
        outputs: list[exp.Expr] = []
        for item in self.items:
            for end in _ENDS if isinstance(item, Aggregate) else ("",):
                tree = next(remaining).this.copy()
                kind = _VARCHAR if isinstance(item, Group) else to if end in ends else None
                outputs.append(tree if kind is None else cast(tree, kind))
        return outputs

    def _ordered(self, outputs: Sequence[exp.Expr], conditions: list[exp.Expr]) -> exp.Query:
        """SELECT of these outputs of the groups that satisfy all conditions of `conditions`, sorted by the groups."""
        groups = [ascending(column(f"group_{index}")) for index in range(self.groups)]
        query = filled_query(
            "SELECT {outputs} FROM answer WHERE $kept",
            tables={"answer": self.rows},
            names={"outputs": outputs},
            kept=conditions,
        )
        return query.order_by(*groups, copy=False) if groups else query


def answered(
    engine: Engine, query: AggregateQuery, combinations: Combinations, withheld: int | None, temp: TempTables
) -> Answer:
    """Answers a query. Raises PolicyError for too many groups, and for a HAVING that estimates cannot decide."""
    table = temp.table("estimate", _figures(engine, combinations, withheld))
    rows = temp.table("answer", _answered(combinations, table, withheld))
    having = None
    if query.having is not None:
        condition = _having(query, combinations)
        answer_rows = select(of=relation(rows))
        require_bindable(engine, answer_rows, [(query.having, condition)])
        require_evaluable(engine, answer_rows, [(query.having, condition)])
        having = tried(cast(paren(condition), "BOOLEAN"))
    answer = Answer(
        rows,
        _outputs(query, combinations),
        query.items,
        having,
        _room(engine, combinations, withheld),
        combinations.groups,
        uniform=(),
    )
    counted = filled_query(
        "SELECT count(*), {uniform} FROM answer",
        tables={"answer": answer.query()},
        names={"uniform": list(combinations.uniform.values())},
    )
    (count, *used) = engine.rows(counted)[0]
    if count > MOST_GROUPS:
        raise PolicyError(f"there are {count} groups, more than {MOST_GROUPS}", hint="group by less, or add a WHERE")
    return replace(answer, uniform=[name for name, is_used in zip(combinations.uniform, used, strict=True) if is_used])


def _room(engine: Engine, combinations: Combinations, withheld: int | None) -> int | None:
    """Returns the largest number of rows that groups without a certain released row may have; None if unknown."""
    return withheld if withheld is None or not combinations.open_groups else withheld + _rows_of(engine, combinations)


def _rows_of(engine: Engine, combinations: Combinations) -> int:
    """Counts the rows of the release."""
    query = filled_query(
        "SELECT coalesce(sum(n), 0) "
        "FROM (SELECT id, max(n) AS n FROM combination WHERE number = 0 GROUP BY id) AS released",
        tables={"combination": combinations.tables[True]},
    )
    return int(engine.rows(query)[0][0])


def _figures(engine: Engine, combinations: Combinations, withheld: int | None) -> exp.Query:
    """Returns all figures of each group and aggregate, from the combinations of classes and leaves."""
    queries = [_figures_of(combinations, exact, withheld) for exact in combinations.tables]
    if any(kind.wide for kind in combinations.kinds):
        rows = _rows_of(engine, combinations)
        for node in list(queries[0].find_all(exp.Literal)):
            if node.this == str(LONGEST):
                node.replace(literal(_MOST // max(1, rows)))
    return union_all(queries)


def _figures_of(combinations: Combinations, exact: bool, withheld: int | None) -> exp.Query:
    """Returns all figures of each group, either for the aggregates over exact numbers or for the others."""
    combination = combinations.tables[exact]
    classes = fixed("estimate", {"combination": combination})
    tables: dict[str, str | exp.Query] = {
        "class": classes,
        "withheld": withheld_rows(withheld),
        "bound": _bounds(combinations, combination, exact=exact),
    }
    if all(aggregate.function == "count" for aggregate in combinations.aggregates):
        return filled_query("SELECT * FROM figures", tables={"figures": fixed("count_figures", tables)})
    variances = None
    if combinations.sums:
        added = {"added": _numbers(combinations, counts=False)}
        rows = filled_query(
            "SELECT * FROM combination WHERE number IN ({added})", tables={"combination": combination}, names=added
        )
        of_rows = filled_query(
            "SELECT * REPLACE (false AS below, false AS above) FROM class", tables={"class": classes}
        )
        ends = filled_query("SELECT * FROM ends", tables={"ends": combinations.sums.ends(rows, exact)})
        tables["class"] = union_all([of_rows, ends])
        variances = combinations.sums.variances(rows)
    tables["variance"] = variances or unvaried(combination)
    query = fixed("figures", tables)
    # Exact and inexact numbers have columns of their own for figures of the argument's type.
    nothing = {True: exp.DataType.build("HUGEINT", dialect="duckdb"), False: _DOUBLE}
    figures: list[str | exp.Expr] = [name for name in _REAL if name not in _TYPED]
    for kind, prefix in ((True, ""), (False, _INEXACT)):
        for name in _TYPED:
            figures.append(alias(column(name) if kind is exact else cast(exp.null(), nothing[kind]), prefix + name))
    return filled_query(
        "SELECT key, number, possible, {figures} FROM figures", tables={"figures": query}, names={"figures": figures}
    )


def _bounds(combinations: Combinations, combination: str, *, exact: bool) -> exp.Query:
    """Returns key, number, low and high: the bounds of counts by the values of buckets, if there are any."""
    counts = _numbers(combinations, counts=True)
    if combinations.sums and exact and counts:
        rows = filled_query(
            "SELECT * FROM combination WHERE number IN ({counts})",
            tables={"combination": combination},
            names={"counts": counts},
        )
        return combinations.sums.count_bounds(rows)
    text = "SELECT key, number, 0 AS low, 0 AS high FROM combination WHERE false"
    return filled_query(text, tables={"combination": combination})


def _numbers(combinations: Combinations, *, counts: bool) -> list[exp.Expr]:
    """Returns, as SQL literals, the numbers of the aggregates that are counts, or of the other aggregates."""
    numbered = enumerate(combinations.aggregates, start=1)
    return [literal(number) for number, item in numbered if (item.function == "count") is counts]


def _answered(combinations: Combinations, table: str, withheld: int | None) -> exp.Query:
    """Returns a row for each group: group_i, and the figures value_i, value_i_spread, ... of each aggregate."""
    groups = [f"group_{i}" for i in range(combinations.groups)]
    keys = [alias(f.call("struct_extract", column("key"), literal(name)), name) for name in groups]
    figures: list[exp.Expr] = []
    typed: list[exp.Expr] = []
    for number in range(1, len(combinations.aggregates) + 1):
        function = combinations.aggregates[number - 1].function
        for end in _ENDS:
            figure_name = f"value_{number}{end}"
            figures.append(alias(_figure(combinations, number, end, withheld), figure_name))
            bound = (
                combinations.kinds[number].bound(column(figure_name), function)
                if function + end in _TYPED
                else column(figure_name)
            )
            typed.append(alias(bound, figure_name))
    rows = filled_query(
        # The number 0 counts the rows that satisfy WHERE.
        "SELECT {keys}, {figures} FROM estimate GROUP BY key HAVING bool_or(number = 0 AND possible)"
        if groups
        else "SELECT {figures} FROM estimate",
        tables={"estimate": table},
        names={"keys": keys, "figures": figures},
    )
    text = "SELECT {groups}, {figures} FROM figures"
    return filled_query(text, tables={"figures": rows}, names={"groups": groups, "figures": typed})


def _figure(combinations: Combinations, number: int, end: str, withheld: int | None) -> exp.Expr:
    """Returns the SQL of one figure of an aggregate: the estimate, its spread or a bound; bounds are
    numbers of parts.
    """
    function = combinations.aggregates[number - 1].function
    name = function + end
    if name in _TYPED and combinations.kinds[number].unit is None:
        name = _INEXACT + name
    names = {"figure": name}
    if function != "count":
        return filled("max({figure}) FILTER (WHERE number = $number)", names=names, number=number)
    # Where no row can satisfy the query there is none to count.
    value = filled(
        "CASE WHEN count(*) FILTER (WHERE number = $number) = 0 THEN $none "
        "ELSE max({figure}) FILTER (WHERE number = $number) END",
        names=names,
        number=number,
        none=withheld if end == "_high" else 0,
    )
    return cast(value, _BIGINT if end in ("_low", "_high") else _DOUBLE)


def _outputs(query: AggregateQuery, combinations: Combinations) -> list[exp.Alias]:
    """Returns the columns of the answer, each under its name in the query."""
    outputs: list[exp.Alias] = []
    for item in query.items:
        if isinstance(item, Aggregate):
            number = combinations.aggregates.index(item) + 1
            outputs += [alias(column(f"value_{number}{end}"), item.name + end) for end in _ENDS]
        else:
            index = next(i for i, group in enumerate(query.groups) if group.expression == item.expression)
            outputs.append(alias(column(f"group_{index}"), item.name))
    return outputs


def _having(query: AggregateQuery, combinations: Combinations) -> exp.Expr:
    """Returns the condition of HAVING over the columns of groups and estimates."""
    assert query.having is not None
    calls = [(aggregate.function, aggregate.argument) for aggregate in combinations.aggregates]

    named = {
        fold(item.name): f"value_{combinations.aggregates.index(item) + 1}"
        for item in query.items
        if isinstance(item, Aggregate)
    }

    def replaced(node: exp.Expr) -> exp.Expr:
        for index, group in enumerate(query.groups):
            if node == group.expression:
                return column(f"group_{index}")
        if isinstance(node, exp.Column) and not node.table and fold(node.name) in named:
            return column(named[fold(node.name)])
        if (aggregate := aggregate_of(node)) is not None:
            return column(f"value_{calls.index((aggregate.function, aggregate.argument)) + 1}")
        return node

    condition = query.having.copy().transform(replaced)
    ours: Sequence[str] = [f"group_{i}" for i in range(combinations.groups)] + [
        f"value_{i + 1}" for i in range(len(calls))
    ]
    for part in condition.find_all(exp.Column):
        if part.name not in ours:
            raise refused(part, "HAVING asks about groups and aggregates", "write it in WHERE")
    if next(aggregates_in(condition), None) is not None:
        raise refused(query.having, "HAVING cannot be estimated")
    require_known(condition)
    return condition
