"""The public domains of columns, and the rows of a source as codes of their values.

A list of the values that occur may reveal a respondent's value. So the values in the domain come from a hierarchy that
does not read the source, from intervals between two ends, or from the column's type.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal

from sqlglot import exp

from sqlanon.catalog.hierarchies import is_automatic
from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.identifiers import fold, nearest
from sqlanon.domain.policy import Policy
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError, UserError, about
from sqlanon.methods.shared.task import Task
from sqlanon.sources.catalog_entries import find_relation, source_entry
from sqlanon.sources.protected import ENTITY, Contributions, ProtectedRows, require_no_release
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import ascending, cast, identical, order_by, union_all, window
from sqlanon.sql.build.names import alias, column, literal, parameter, relation
from sqlanon.sql.build.queries import extend, select, subquery
from sqlanon.sql.build.sql_files import filled_query, filled_select
from sqlanon.sql.build.steps import with_steps
from sqlanon.sql.cells.labels import (
    generalized,
    level_name,
    listed_values,
    occurring_values,
    published_value,
    stored_labels,
)
from sqlanon.sql.hierarchies import intervals
from sqlanon.sql.hierarchies.base import functional

# The maximum number of values of a column.
_MOST_VALUES = 100_000
_INTEGERS = re.compile(r"U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)")
# A file has an ending, or a folder; other names are tables, views or data frames.
_FILE = re.compile(r"[./\\]")
_DECIMAL = re.compile(r"DECIMAL\(\d+,\s?(\d+)\)")
_HINT = (
    "list what it may have in a hierarchy, CREATE HIERARCHY diseases AS LEVELS (FROM (VALUES ('cold'), ('flu'))), or "
    "give INTERVALS both ends, (5, low => 0, high => 100), and write USING in the policy"
)


@dataclass(frozen=True)
class Domain:
    """The public values of a column, in a temporary table `labels` of code and label.

    Codes count from 0 to `size` - 1; the last code is for NULL and all values that are not listed. `kind` is the type
    of the labels. If they are intervals, the table also has their ends: `least` is included, `beyond` is not. They have
    `scale` decimals, or are DOUBLE if it is None.
    """

    bound: BoundAttribute
    level: int
    labels: str
    size: int
    kind: str
    has_ends: bool = False
    scale: int | None = None

    @property
    def other(self) -> int:
        """The code of NULL and of all values that are not listed."""
        return self.size - 1

    def codes(self, source: QualifiedName) -> exp.Query:
        """SELECT of value, code: the values of the column, without repetition, that have a code of their own."""
        if self.bound.stored:
            values: exp.Query = _listed(self.bound, self.level)
        elif self.has_ends:
            text, tables = (
                "SELECT value, $label AS label FROM occurring",
                {"occurring": occurring_values(self.bound, source)},
            )
            values = filled_query(text, tables=tables, label=_interval(self.bound, self.level, column("value")))
        else:
            text = 'SELECT label, label AS value FROM "{labels}" WHERE NOT label IS NULL'
            values = filled_query(text, names={"labels": self.labels})
        return filled_query(
            "SELECT valued.value, coded.code FROM valued JOIN coded ON valued.label IS NOT DISTINCT FROM coded.label",
            tables={"valued": values, "coded": self.labels},
        )


def domain_of(task: Task, bound: BoundAttribute) -> Domain:
    """Makes the public domain of a column, without reading a row of the source.

    Raises PolicyError for a column whose values are known only from the rows, and for too many values.
    """
    with about("column", bound.attribute.name):
        level = _level(bound)
        if bound.hierarchy is not None:
            _require_public(task.engine, task.policy.policy, bound)
        if bound.stored:
            labels: exp.Query = select(column("label"), of=subquery(_listed(bound, level), "listed"))
            return _domain(task, bound, level, labels, "VARCHAR" if level else bound.published_type)
        if bound.hierarchy is not None and bound.hierarchy.kind == "intervals":
            return _intervals(task, bound, level)
        if bound.hierarchy is not None:
            raise PolicyError(
                f"{bound.column}: the labels of its {bound.hierarchy.kind.upper()} are only known from the rows",
                hint=_HINT,
            )
        return _of_type(task, bound)


def require_public_labels(task: Task, columns: Sequence[BoundAttribute]) -> None:
    """Raises PolicyError for a column that is published by labels made from the rows of the source."""
    for bound in columns:
        if bound.hierarchy is not None and bound.min_level:
            with about("column", bound.attribute.name):
                _require_public(task.engine, task.policy.policy, bound)


def _level(bound: BoundAttribute) -> int:
    """The level whose labels are published: the lowest level that the policy allows and that has labels that can be
    listed.
    """
    hierarchy = bound.hierarchy
    is_interval = hierarchy is not None and hierarchy.kind == "intervals"
    level = max(bound.min_level, intervals.first_level(hierarchy) if hierarchy and is_interval else 0)
    if level >= bound.height:
        raise PolicyError(
            f"{bound.column} would be * in every row by the policy's MIN LEVEL",
            hint="leave the column out, or lower it",
        )
    return level


def _require_public(engine: Engine, policy: Policy, bound: BoundAttribute) -> None:
    """Raises PolicyError for a hierarchy whose labels were made from the rows that a budget protects."""
    hierarchy = bound.hierarchy
    assert hierarchy is not None
    if is_automatic(engine, hierarchy.name):
        raise PolicyError(f"{bound.column}: USING AUTO made its hierarchy from the rows", hint=_HINT)
    people = dict(hierarchy.options).get("people")
    query = (
        select(exp.Star(), of=relation(people)).sql("duckdb") if isinstance(people, QualifiedName) else hierarchy.query
    )
    if query is None:
        return
    source = source_entry(engine, policy.source)
    called = f"{bound.column}: its hierarchy {hierarchy.name}"
    tables = _tables_read(engine, query, called)
    require_no_release(engine, policy, tables, called)
    for name in tables:
        entry = find_relation(engine, name)
        if entry is None and _FILE.search(name.name) is None:
            raise PolicyError(
                f"{called} reads {name}, which no longer exists and may have been the source",
                hint="make the hierarchy again",
            )
        if source is None or (entry and entry[1] == source[1]):
            raise PolicyError(f"{called} reads the rows that the budget protects", hint=_HINT)


def _tables_read(engine: Engine, query: str, called: str) -> list[QualifiedName]:
    try:
        return engine.tables_of(query)
    except UserError as error:
        raise PolicyError(f"{called} may read the source: {error.message}", hint=_HINT) from None


def _listed(bound: BoundAttribute, level: int) -> exp.Query:
    """SELECT of value, label: the values that a stored hierarchy lists, with their labels at the level."""
    listed = listed_values(bound, relation(("anon", "hierarchy_value")))
    text = "SELECT value, {label} AS label FROM listed_value"
    names = {"label": level_name(level) if level else "value"}
    return filled_query(text, tables={"listed_value": listed}, names=names)


def _interval(bound: BoundAttribute, level: int, value: exp.Expr) -> exp.Expr:
    assert bound.hierarchy is not None
    return functional(bound.hierarchy.kind).labels(bound.hierarchy, value, bound.published_type)[level - 1]


def _intervals(task: Task, bound: BoundAttribute, level: int) -> Domain:
    assert bound.hierarchy is not None
    listed = intervals.ends_of_intervals(bound.hierarchy, level, _MOST_VALUES)
    if listed is None:
        raise PolicyError(
            f"{bound.column}: its INTERVALS have no end, so the last interval depends on the rows", hint=_HINT
        )
    _require_few(bound, len(listed))
    scale = _scale(bound.published_type)
    ends = [[_up(end, scale) for end in each] for each in listed]
    # An interval between two values of the column's type has none.
    ends = [each for each in ends if each[0] < each[1]]
    kind = "DOUBLE" if scale is None else f"DECIMAL(38, {scale})"
    columns = [
        alias(f.unnest(cast(parameter(number), f"{kind}[]")), name) for number, name in ((1, "least"), (2, "beyond"))
    ]
    values = [[least for least, _ in ends], [beyond for _, beyond in ends]]
    table = task.temp.table("interval", select(*columns), values)
    label = _interval(bound, level, cast(column("least"), bound.published_type))
    labelled = select(alias(label, "label"), column("least"), column("beyond"), of=relation(table))
    return replace(_domain(task, bound, level, labelled, "VARCHAR", has_ends=True), scale=scale)


def _scale(kind: str) -> int | None:
    """The number of decimals of a type's values; None for floating-point types."""
    exact = _DECIMAL.fullmatch(kind)
    return int(exact[1]) if exact else 0 if _INTEGERS.fullmatch(kind) else None


def _up(end: Decimal, scale: int | None) -> Decimal:
    """Rounds an end up to `scale` decimals."""
    return end if scale is None else end.quantize(Decimal(1).scaleb(-scale), rounding=ROUND_CEILING)


def _of_type(task: Task, bound: BoundAttribute) -> Domain:
    """The domain of an ENUM or BOOLEAN column; raises PolicyError for other types."""
    kind = bound.published_type
    if bound.type.startswith("ENUM"):
        every_value = f.unnest(f.call("enum_range", cast(exp.null(), bound.type)))
        return _domain(task, bound, 0, select(alias(cast(every_value, kind), "label")), kind)
    if kind == "BOOLEAN":
        both = [select(alias(literal(value), "label")) for value in (False, True)]
        return _domain(task, bound, 0, union_all(both), kind)
    raise PolicyError(f"{bound.column}: its possible values are only known from the rows", hint=_HINT)


def _domain(
    task: Task, bound: BoundAttribute, level: int, labels: exp.Query, kind: str, *, has_ends: bool = False
) -> Domain:
    """Makes the domain of a column: its distinct labels of the SQL type `kind`, numbered from 0 in their order, with
    NULL last.

    If `has_ends` is true, the labels are intervals, which also have the columns least and beyond.
    """
    ends = ["least", "beyond"] if has_ends else []
    nothing = select(alias(cast(exp.null(), kind), "label"), *(alias(exp.null(), end) for end in ends))
    first = [alias(f.min(column(end)), end) for end in ends]
    different = select(column("label"), *first, of=subquery(union_all([labels, nothing]), "label"))
    different = extend(different, group_by=[column("label")])
    number = window(f.row_number(), [], order_by(ascending(column("label")))) - 1
    code = alias(cast(number, "INTEGER"), "code")
    table, size = task.temp.counted_table(
        "domain", select(code, column("label"), *map(column, ends), of=subquery(different, "label"))
    )
    _require_few(bound, size)
    return Domain(bound, level, table, size, kind, has_ends)


def _require_few(bound: BoundAttribute, values: int) -> None:
    if values > _MOST_VALUES:
        raise PolicyError(
            f"{bound.column} may have {values} values, and each costs noise: at most {_MOST_VALUES}",
            hint="write MIN LEVEL with a coarser level, or wider INTERVALS",
        )


# The rows of the source that are counted, by the codes of their values.


def code_name(index: int) -> str:
    """The name of the column that holds the codes of this column."""
    return f"c{index}"


def coded_rows(rows: ProtectedRows, domains: Sequence[Domain], most: int, salt: str) -> Contributions:
    """The codes of the rows that are counted, at most `most` rows of each respondent.

    Each row is made of one row of the source. So a respondent is in at most `most` rows, or, without an ENTITY, a row
    of the source is in one row.
    """
    steps = [(f"code_{index}", domain.codes(rows.table)) for index, domain in enumerate(domains)]
    outputs = [
        alias(f.coalesce(column("code", name), literal(domain.other)), code_name(index))
        for index, ((name, _), domain) in enumerate(zip(steps, domains, strict=True))
    ]
    query = _of_respondents(rows, outputs)
    for (name, _), domain in zip(steps, domains, strict=True):
        same = identical(published_value(domain.bound, "source"), column("value", name))
        query = query.join(relation(name), on=same, join_type="LEFT")
    query = with_steps(query, steps)
    return _contributions(rows, query, len(domains), most, salt)


def labelled_rows(rows: ProtectedRows, columns: Sequence[BoundAttribute], most: int, salt: str) -> Contributions:
    """The labels of the rows that are counted, at the lowest level that the policy allows; otherwise like
    `coded_rows`.
    """
    steps = [
        (f"code_{index}", generalized(b, occurring_values(b, rows.table), stored_labels(b), counted=False))
        for index, b in enumerate(columns)
    ]
    outputs = [
        alias(_shown_label(b, name), code_name(index))
        for index, ((name, _), b) in enumerate(zip(steps, columns, strict=True))
    ]
    query = _of_respondents(rows, outputs)
    for (name, _), b in zip(steps, columns, strict=True):
        same = identical(published_value(b, "source"), column("value", name))
        query = query.join(relation(name), on=same, join_type="LEFT")
    query = with_steps(query, steps)
    return _contributions(rows, query, len(columns), most, salt)


def _contributions(rows: ProtectedRows, query: exp.Select, columns: int, most: int, salt: str) -> Contributions:
    if rows.entity is None:
        return Contributions(query)
    return Contributions(query, most, salt, tuple(code_name(index) for index in range(columns)))


def _shown_label(bound: BoundAttribute, name: str) -> exp.Expr:
    if bound.min_level >= bound.height:
        return literal("*")
    return column(level_name(bound.min_level), name) if bound.min_level else published_value(bound, "source")


def _of_respondents(rows: ProtectedRows, outputs: Sequence[exp.Expr]) -> exp.Select:
    """SELECT of these outputs of the source, with the respondent of each row; rows without a respondent are left
    out.
    """
    entity = [] if rows.entity is None else [rows.entity]
    return filled_select(
        'SELECT {source.entity} AS "{name}", {outputs} FROM "{rows}" AS source WHERE NOT {source.entity} IS NULL',
        names={"entity": entity, "name": ENTITY, "outputs": outputs, "rows": relation(rows.table)},
    )


def published_columns(task: Task, names: Sequence[str]) -> list[BoundAttribute]:
    """Returns the columns of these names. Raises PolicyError for a column that is not published or is named twice."""
    published = {fold(bound.column): bound for bound in task.policy.published}
    for name in names:
        if fold(name) not in published:
            raise PolicyError(
                f"{task.policy.policy} publishes no column {name}",
                hint=nearest(name, [b.column for b in published.values()]) or "name columns that the policy publishes",
            )
    if len({fold(name) for name in names}) < len(names):
        raise PolicyError("a column is named twice", hint="name each column once")
    return [published[fold(name)] for name in names]
