"""Tables of sensitive values that requirements name: with ranges of shares, with weights, or with an adversary's
knowledge.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.identifiers import fold
from sqlanon.domain.numbers import counted
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Column, Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import EngineError, PolicyError
from sqlanon.sources.catalog_entries import find_entry, find_relation, require_nothing_temporary
from sqlanon.sources.column_types import require_binary_text, without_enums
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    and_,
    ascending,
    cast,
    identical,
    is_null,
    or_,
    order_by,
    try_cast,
    window,
)
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, inner_join, left_join, select, subquery
from sqlanon.sql.build.sql_files import filled, filled_select
from sqlanon.sql.questions.load import RANGES, TRIPLES, WEIGHTS

_HINTS = {
    RANGES: "its columns are value, low and high: CREATE TABLE ranges (value VARCHAR, low DOUBLE, high DOUBLE)",
    WEIGHTS: "its columns are value and weight: CREATE TABLE weights (value VARCHAR, weight DOUBLE)",
    TRIPLES: "its columns are value, l, k and m: CREATE TABLE known (value VARCHAR, l BIGINT, k BIGINT, m BIGINT)",
}
# Types whose values are exact numbers, as their texts write them.
_EXACT = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|BIGNUM|DECIMAL\(.*\)")
# A column that holds nothing but NULL may have the type "NULL", quotes included.
_TEXT = ("VARCHAR", '"NULL"')
_MAX_VALUES_SHOWN = 10
# The rounding error of a sum of weights, and the weight below which a value counts as impossible.
_ROUNDING, _LEAST_WEIGHT = "1e-9", "1e-12"
# The largest l, k and m of a triple, and the greatest number of triples in a table. Each triple is checked for every
# value of every class.
_MOST_KNOWN = {"l": 1_000_000, "k": 1_000_000, "m": 8}
_MOST_TRIPLES = 1000


def bind_listed(
    columns: tuple[str, ...],
    engine: Engine,
    name: QualifiedName,
    attribute: BoundAttribute,
    temp: TempTables,
    bound: BoundPolicy,
) -> QualifiedName:
    """Copies a table with these columns (ranges, weights or triples) to a temporary table.

    Raises the errors of `_bind_ranges`, `_bind_weights` or `_bind_triples`.
    """
    bind = {RANGES: _bind_ranges, WEIGHTS: _bind_weights, TRIPLES: _bind_triples}[columns]
    return bind(engine, name, attribute, temp, bound)


def _bind_ranges(
    engine: Engine, name: QualifiedName, attribute: BoundAttribute, temp: TempTables, bound: BoundPolicy
) -> QualifiedName:
    """Creates a temporary table of a sensitive column's ranges: the value in its published type, and low and high as
    DOUBLE.

    NULL in the column of values is a value; NULL as low or high means that there is no bound. Raises PolicyError, which
    names the values, unless every value has the column's type and is listed once, every bound is a number from 0 to 1,
    and no low is above its high.
    """
    what = f"{bound.policy}: the ranges {name}"
    table = _read_once(engine, name, attribute, temp, what, RANGES)
    if not engine.rows(select(column("text"), of=table, limit=1)):
        raise PolicyError(f"{what}: it lists no value, so nothing would be required", hint=_HINTS[RANGES])
    _require_values(engine, table, attribute, what)
    _require_once(engine, table, what)
    rows = select(column("text"), of=table)
    _require_none(
        engine,
        what,
        (
            rows.where(exp.not_(column("bounded"))),
            "values whose low or high is not a number from 0 to 1",
            "a bound is a share of a class, such as 0.25, or NULL for none",
        ),
        (
            rows.where(column("low") > column("high")),
            "values whose low is above their high",
            "no class could satisfy them: exchange the two",
        ),
    )
    return _bare(temp, table, RANGES)


def _bind_weights(
    engine: Engine, name: QualifiedName, attribute: BoundAttribute, temp: TempTables, bound: BoundPolicy
) -> QualifiedName:
    """Creates a temporary table of a sensitive column's weights: the value in its published type, and the weight as low
    and high.

    NULL is a value. Raises PolicyError unless every value has the column's type and is listed once, every weight is a
    number from 0 to 1, all weights add up to 1, and each value of the source has a weight above 0. The message counts
    the values of the source that lack a weight, and does not name them.
    """
    what = f"{bound.policy}: the weights {name}"
    table = _read_once(engine, name, attribute, temp, what, WEIGHTS)
    if not engine.rows(select(column("text"), of=table, limit=1)):
        raise PolicyError(f"{what}: it lists no value", hint=_HINTS[WEIGHTS])
    _require_values(engine, table, attribute, what)
    _require_once(engine, table, what)
    unweighted = or_(exp.not_(column("bounded")), is_null(column("low")))
    rows = select(column("text"), of=table, where=[unweighted])
    _require_none(
        engine, what, (rows, "values whose weight is not a number from 0 to 1", "a weight is a share, such as 0.25")
    )
    total = float(engine.rows(select(f.sum(column("low")), of=table))[0][0])
    if abs(total - 1) > float(_ROUNDING):
        raise PolicyError(f"{what}: the weights add up to {total!r}, not to 1", hint="divide each weight by their sum")
    _require_weighted(engine, table, attribute, bound, what)
    return _bare(temp, table, RANGES)


def _bind_triples(
    engine: Engine, name: QualifiedName, attribute: BoundAttribute, temp: TempTables, bound: BoundPolicy
) -> QualifiedName:
    """Creates a temporary table of an adversary's knowledge about a sensitive column: the typed value, l, k and m.

    NULL means every value. Raises PolicyError unless there are triples, each value has the column's type, each number
    is whole and within its bounds, and no triple is below another one for the same value, because the lower triple
    would require nothing.
    """
    what = f"{bound.policy}: the triples {name}"
    table = _read_once(engine, name, attribute, temp, what, TRIPLES)
    number = int(engine.rows(select(f.count(), of=table))[0][0])
    if not number:
        raise PolicyError(f"{what}: there is no row, so nothing would be known", hint=_HINTS[TRIPLES])
    if number > _MOST_TRIPLES:
        raise PolicyError(
            f"{what}: there are {number} rows, more than {_MOST_TRIPLES}", hint="keep the rows with the most knowledge"
        )
    _require_values(engine, table, attribute, what)
    rows = select(column("text"), of=table, where=[exp.not_(column("bounded"))])
    bounds = ", ".join(f"{part} from 0 to {most}" for part, most in _MOST_KNOWN.items())
    _require_none(engine, what, (rows, "values with an l, k or m that is out of bounds", f"whole numbers: {bounds}"))
    _require_antichain(engine, table, what)
    return _bare(temp, table, TRIPLES)


def _require_antichain(engine: Engine, table: exp.Table, what: str) -> None:
    """Raises PolicyError for a triple that is below another triple for the same value, or that is equal to it."""
    order = order_by(*(ascending(column(part)) for part in TRIPLES))
    number = alias(window(f.row_number(), order=order), "number")
    numbered = select(number, column("text"), *map(column, TRIPLES), of=table)
    same = or_(is_null(column("value", "upper")), column("value", "lower").eq(column("value", "upper")))
    below = [exp.LTE(this=column(part, "lower"), expression=column(part, "upper")) for part in TRIPLES[1:]]
    different = column("number", "lower").neq(column("number", "upper"))
    parts = [column(part, of) for of in ("lower", "upper") for part in ("text", *TRIPLES[1:])]
    pairs = select(*parts, of=subquery(numbered, "lower"))
    pairs = extend(pairs, joins=[inner_join(subquery(numbered, "upper"), and_(different, same, *below))])
    pairs = extend(pairs, order_by=[column("number", "lower"), column("number", "upper")], limit=1)
    for row in engine.rows(pairs):
        lower, upper = row[: len(TRIPLES)], row[len(TRIPLES) :]
        raise PolicyError(
            f"{what}: {_triple(lower)} is below {_triple(upper)}, so it requires nothing",
            hint="leave it out: a reader who knows more knows it, too",
        )


def _triple(row: Sequence[object]) -> str:
    value, *numbers = row
    return f"({', '.join(['NULL' if value is None else repr(value), *map(str, numbers)])})"


def _require_weighted(
    engine: Engine, table: exp.Table, attribute: BoundAttribute, bound: BoundPolicy, what: str
) -> None:
    """Raises PolicyError if the source has values without a weight above 0."""
    occurring = select(alias(try_cast(column(attribute.column), attribute.published_type), "value"), distinct=True)
    occurring = extend(occurring, of=relation(bound.relation))
    listed = subquery(select(column("value"), column("low"), of=table), "listed")
    lacking = select(
        f.count(),
        of=subquery(occurring, "occurring"),
        joins=[left_join(listed, identical(column("value", "occurring"), column("value", "listed")))],
        where=[f.coalesce(column("low", "listed"), literal(0)) <= literal(float(_LEAST_WEIGHT))],
    )
    if number := int(engine.rows(lacking)[0][0]):
        raise PolicyError(
            f"{what}: {counted(number, 'value')} of {attribute.column} {'has' if number == 1 else 'have'} no weight "
            "above 0",
            hint="a value that occurs cannot be impossible for a reader: add the values, with NULL if the column has "
            "it",
        )


def _read_once(
    engine: Engine,
    name: QualifiedName,
    attribute: BoundAttribute,
    temp: TempTables,
    what: str,
    wanted: tuple[str, ...],
) -> exp.Table:
    """Returns a temporary copy of the named table, because a view may return other rows at each reading."""
    hint = _HINTS[wanted]
    listed = (find_entry(engine, name) if len(name.parts) > 1 else None) or find_relation(engine, name)
    if listed is None:
        raise PolicyError(f"{what}: there is no such table or view", hint=hint)
    require_nothing_temporary(engine, listed)
    rows = relation(listed[1])
    try:
        columns = _columns(engine.columns(select(exp.Star(), of=rows)), what, wanted)
        require_binary_text(engine, listed[1], columns, called=str(name))
        return relation(temp.table("range", _read(columns, wanted, attribute.published_type, rows)))
    except EngineError as error:
        raise PolicyError(f"{what} cannot be read: {error.message}", hint=hint) from None


def _columns(columns: Sequence[Column], what: str, wanted: tuple[str, ...]) -> list[Column]:
    """Returns the wanted columns of a table.

    They are found by their names, or else by their order if the table has the same number of columns.
    """
    named = {fold(name): (name, kind) for name, kind in columns}
    if all(name in named for name in wanted):
        return [named[name] for name in wanted]
    misplaced = any(
        fold(column_name) in wanted and fold(column_name) != name
        for (column_name, _), name in zip(columns, wanted, strict=False)
    )
    if len(columns) != len(wanted) or misplaced:
        raise PolicyError(f"{what}: its columns are {', '.join(name for name, _ in columns)}", hint=_HINTS[wanted])
    return list(columns)


def _read(columns: Sequence[Column], wanted: tuple[str, ...], kind: str, rows: exp.Table) -> exp.Select:
    """Returns the columns in the types that they need, with flags for values that fit them."""
    (value, value_type), *others = columns
    typed = try_cast(column(value), kind)
    query = select(
        alias(cast(column(value), "VARCHAR"), "text"),
        alias(typed, "value"),
        alias(_fits(column(value), without_enums(value_type), typed.copy(), kind), "fits"),
        of=rows,
    )
    names = [name for name, _ in others]
    if wanted == TRIPLES:
        numbers = [alias(try_cast(column(name), "BIGINT"), part) for name, part in zip(names, wanted[1:], strict=True)]
        counted = [_whole(name, _MOST_KNOWN[part]) for name, part in zip(names, wanted[1:], strict=True)]
        return extend(query, *numbers, alias(and_(*counted), "bounded"))
    low, high = names[0], names[-1]
    ends = [alias(_number(low), "low"), alias(_number(high), "high")]
    return extend(query, *ends, alias(and_(_bound(low), _bound(high)), "bounded"))


def _fits(value: exp.Expr, column_type: str, typed: exp.Expr, kind: str) -> exp.Expr:
    """The SQL condition that a value is NULL or fits a type unchanged; a cast would round 1.5 to 2, which is another
    value.
    """
    if column_type not in _TEXT:
        same: exp.Expr = try_cast(typed, column_type).eq(value)
    else:
        text = (
            "TRY_CAST($typed AS DOUBLE) = TRY_CAST($value AS DOUBLE)"
            if _EXACT.fullmatch(kind)
            else "NOT $typed IS NULL"
        )
        same = filled(text, typed=typed, value=value)
    return filled("$value IS NULL OR coalesce($same, FALSE)", value=value, same=same)


def _whole(name: str, most: int) -> exp.Expr:
    """The SQL condition that a number is whole and from 0 to `most`; a cast would round 1.5."""
    text = """
        coalesce(TRY_CAST({name} AS BIGINT) BETWEEN 0 AND $most
          AND TRY_CAST({name} AS BIGINT) = TRY_CAST({name} AS DOUBLE), FALSE)
    """
    return filled(text, names={"name": name}, most=most)


def _number(name: str) -> exp.Expr:
    return try_cast(column(name), "DOUBLE")


def _bound(name: str) -> exp.Expr:
    """The SQL condition that a bound is NULL or a number from 0 to 1; false for NaN."""
    text = "{name} IS NULL OR coalesce(TRY_CAST({name} AS DOUBLE) BETWEEN 0 AND 1, FALSE)"
    return filled(text, names={"name": name})


def _require_values(engine: Engine, table: exp.Table, attribute: BoundAttribute, what: str) -> None:
    """Raises PolicyError for listed values that do not have the column's type."""
    rows = select(column("text"), of=table)
    _require_none(
        engine,
        what,
        (
            extend(rows, where=[exp.not_(column("fits"))]),
            f"values that do not have {attribute.column}'s type {attribute.published_type}",
            "write each value as the column has it",
        ),
    )


def _require_once(engine: Engine, table: exp.Table, what: str) -> None:
    """Raises PolicyError for values that are listed more than once."""
    _require_none(engine, what, (_repeated(table), "values in more than one row", "keep one row for each value"))


def _require_none(engine: Engine, what: str, *checks: tuple[exp.Select, str, str]) -> None:
    """Raises PolicyError for the first of some checks whose query returns values.

    A check has a query, the problem in words, and a hint.
    """
    for offending, problem, hint in checks:
        if values := _named_values(engine, offending):
            raise PolicyError(f"{what}: {problem}: {values}", hint=hint)


def _repeated(table: exp.Table) -> exp.Select:
    """Returns one text of each value that is listed more than once: for example, 1 and 01 are the same number."""
    text = 'SELECT min(text) AS text FROM "{listed}" GROUP BY value HAVING count(*) > 1'
    return filled_select(text, names={"listed": table})


def _named_values(engine: Engine, values: exp.Select) -> str:
    """Returns the first few values and their number as text; the text is empty if there are no values."""
    count = int(engine.rows(select(f.count(), of=subquery(values, "offending")))[0][0])
    examples = engine.rows(values.order_by(literal(1)).limit(_MAX_VALUES_SHOWN)) if count else []
    texts = ", ".join("NULL" if text is None else repr(text) for (text,) in examples)
    return texts + (f" and {count - _MAX_VALUES_SHOWN} more ({count} in all)" if count > _MAX_VALUES_SHOWN else "")


def _bare(temp: TempTables, table: exp.Table, columns: tuple[str, ...]) -> QualifiedName:
    """Creates a temporary table with only these columns; returns its full name."""
    bare = select(*map(column, columns), of=table)
    return QualifiedName(("temp", "main", temp.table("ranges", bare)))
