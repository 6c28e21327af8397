"""Builds the normal relations of single models: guarding nodes, known triples, ranges of shares, numbers."""

from __future__ import annotations

import re

from sqlglot import exp

from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    and_,
    as_text,
    ascending,
    big,
    cast,
    identical,
    is_not_null,
    is_null,
    or_,
    order_by,
    try_cast,
    union_all,
    window,
)
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import cross_join, extend, inner_join, left_join, select, subquery
from sqlanon.sql.build.steps import Step
from sqlanon.sql.cells.taxonomy import Taxonomy, level_labels
from sqlanon.sql.classes.rows import Rows

# Guarding nodes (Xiao and Tao 2006): the nodes of the sensitive hierarchy that respondents named for themselves.


def guarding_steps(index: int, rows: Rows, guard: str, paths: str, height: int) -> list[Step]:
    """Returns the steps that make the relations guarded and guarding_node of the requirement at `index`.

    `guard` is the column of the rows that holds the nodes as texts. `paths` is the name of the relation
    `sensitive_path` of the guarded attribute.
    """
    counted, coded = f"class_guard_{index}", f"guard_code_{index}"
    return [
        (counted, _class_guard(rows, guard)),
        (coded, _guard_code(counted)),
        (f"guarded_{index}", _guarded(counted, coded)),
        (f"guard_label_{index}", _guard_label(coded, paths, height)),
        (f"guarding_node_{index}", _guarding_node(coded, f"guard_label_{index}", paths)),
    ]


def _class_guard(rows: Rows, guard: str) -> exp.Select:
    """Returns class_guard_r(class_id, guard): the guarding nodes' texts of each class. NULL does not guard against any
    value.
    """
    value = rows.value(guard)
    text = as_text(value)
    return extend(rows.grouped(text), alias(text, "guard"), where=[_known(value.copy())])


def _known(value: exp.Expr) -> exp.Expr:
    return is_not_null(value)


def _guard_code(counted: str) -> exp.Select:
    """Returns guard_code_r(guard, node): the texts, numbered in order."""
    guards = select(column("guard"), distinct=True, of=relation(counted))
    by = order_by(ascending(column("guard")))
    node = alias(window(f.row_number(), order=by), "node")
    return select(column("guard"), node, of=subquery(guards, "occurring"))


def _guarded(counted: str, coded: str) -> exp.Select:
    """Returns guarded_r(class_id, node): the distinct guarding nodes of each class."""
    same = column("guard", "counted").eq(column("guard", "coded"))
    return select(
        column("class_id", "counted"),
        column("node", "coded"),
        of=relation(counted, as_="counted"),
        joins=[inner_join(relation(coded, as_="coded"), same)],
    )


def _guard_label(coded: str, paths: str, height: int) -> exp.Select:
    """Returns guard_label_r(node, code, level, highest): labels with a guarding node's text, and values below them.

    A text may be a label at several levels; `highest` is the most general one. `*` is not a label.
    """
    same = column("guard", "coded").eq(column("label", "labels"))
    named = column("guard", "coded").neq("*")
    highest = window(f.max(column("level", "labels")), partition_by=[column("node", "coded")])
    return select(
        column("node", "coded"),
        column("code", "labels"),
        column("level", "labels"),
        alias(highest, "highest"),
        of=relation(coded, as_="coded"),
        joins=[inner_join(subquery(level_labels(paths, height), "labels"), and_(same, named))],
    )


def _guarding_node(coded: str, meant: str, paths: str) -> exp.Query:
    """Returns guarding_node_r(node, value): the values of the source below each guarding node.

    `*`, and a text that is not a label, guard against every value, because an unknown node may represent any value.
    """
    below = select(
        column("node"),
        alias(column("code"), "value"),
        of=relation(meant),
        where=[column("level").eq(column("highest")), _known(column("code"))],
    )
    understood = select(column("node"), of=relation(meant))
    rows = select(
        column("node", "coded"),
        alias(column("code", "path"), "value"),
        of=relation(coded, as_="coded"),
        joins=[cross_join(relation(paths, as_="path"))],
        where=[_known(column("code", "path")), exp.not_(column("node", "coded").isin(query=understood))],
    )
    return union_all([below, rows], distinct=True)


# Tables of sensitive values beside the source, by the codes of the values.


def of_listed(kind: str, listed: exp.Query, codes: str, taxonomy: Taxonomy) -> exp.Select:
    """Returns one of the relations in LISTED, made from the table of values that a requirement names."""
    return (value_range if kind == "value_range" else known_triple)(listed, codes, taxonomy)


def known_triple(triples: exp.Query, codes: str, taxonomy: Taxonomy) -> exp.Select:
    """Returns known_triple(value, l, k, m): an adversary's knowledge about a value, by its code; NULL means every
    value.

    `triples` has the columns value, l, k and m. A triple whose value is in no row is left out, because it has no
    effect.
    """
    listed_value = column("value", "listed")
    same_value = try_cast(listed_value, taxonomy.bound.published_type).eq(column("value_0", "coded"))
    numbers = [alias(big(column(name, "listed")), name) for name in ("l", "k", "m")]
    return select(
        alias(column("code", "coded"), "value"),
        *numbers,
        of=subquery(triples, "listed"),
        joins=[left_join(relation(codes, as_="coded"), same_value)],
        where=[or_(is_null(listed_value), is_not_null(column("code", "coded")))],
    )


# The ranges that shares of sensitive values may lie in (Frikken and Zhang 2008).


def value_range(ranges: exp.Query, codes: str, taxonomy: Taxonomy) -> exp.Select:
    """Returns value_range(value, low, high), with the codes of the values; `codes` has value_0 and code.

    `ranges` has the columns value, low and high. A listed value that is in no row, or that does not have the column's
    type, gets a code that is in no row, so no class has its required least share.
    """
    listed_value = column("value", "listed")
    value = try_cast(listed_value, taxonomy.bound.published_type)
    possible = is_not_null(value)
    same = identical(value, column("value_0", "coded"))
    # Any order is right; without one the numbering differs between engines.
    absent = -window(f.row_number(), order=order_by(ascending(listed_value)))
    low, high = (cast(column(name, "listed"), "DOUBLE") for name in ("low", "high"))
    return select(
        alias(f.coalesce(column("code", "coded"), absent), "value"),
        alias(low, "low"),
        alias(high, "high"),
        of=subquery(ranges, "listed"),
        joins=[left_join(relation(codes, as_="coded"), and_(same, or_(is_null(listed_value), possible)))],
    )


# The numbers of a sensitive attribute's codes, for models that measure the distance of values.


OF_NUMBERS = "sensitive_number"
# Types whose values are numbers, or dates, whose differences are numbers.
_WHOLE_NUMBERS = re.compile(r"U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)")
_DECIMALS = re.compile(r"DECIMAL\(\d+, ?(\d+)\)")
_OTHER_NUMBERS = ("FLOAT", "DOUBLE", "BIGNUM")
_TIMESTAMPS = re.compile(r"DATE|TIMESTAMP(_S|_MS|_NS)?|TIMESTAMP WITH TIME ZONE")
# Decimals with more digits behind the point are read as DOUBLEs: an engine may round their products.
_MOST_DIGITS = 6
# A number of more units is reduced to this many, so its distance from other numbers can only look smaller.
_MOST_UNITS = 2 * 10**19
_MICROSECONDS = 86_400_000_000


def is_numeric(kind: str) -> bool:
    """Whether values of a type have distances, as numbers, dates and timestamps do."""
    exact = _WHOLE_NUMBERS.fullmatch(kind) or _DECIMALS.fullmatch(kind) or _TIMESTAMPS.fullmatch(kind)
    return exact is not None or kind in _OTHER_NUMBERS


def sensitive_number(codes: str, kind: str) -> exp.Select:
    """Returns sensitive_number(value, whole, unit, number), which maps the codes of a column of this type to numbers.

    A whole number, a decimal, a date or a timestamp is `whole` units, of which `unit` make 1, or a day. Any other
    number is the DOUBLE `number`. Columns that do not apply are NULL; for the value NULL, all are.
    """
    value = column("value_0")
    nothing, decimal = cast(exp.null(), _UNITS), _DECIMALS.fullmatch(kind)
    digits = int(decimal[1]) if decimal else 0
    whole: exp.Expr = nothing.copy()
    unit = 1
    number: exp.Expr = cast(exp.null(), "DOUBLE")
    if _TIMESTAMPS.fullmatch(kind):
        # The first and the last possible dates have no timestamp, and infinite dates no position: both have no number.
        unit = _MICROSECONDS
        timestamp = value if kind == "TIMESTAMP WITH TIME ZONE" else try_cast(value, "TIMESTAMP")
        whole = cast(f.built_in("epoch_us", timestamp), _UNITS)
    elif digits <= _MOST_DIGITS and (decimal or (_WHOLE_NUMBERS.fullmatch(kind) and kind != "UHUGEINT")):
        unit = 10**digits
        whole = _units(value, kind, digits)
    else:
        number = cast(value, "DOUBLE")
    parts = {"whole": whole, "unit": cast(literal(unit), _UNITS), "number": number}
    named = [alias(part, name) for name, part in parts.items()]
    return select(alias(column("code"), "value"), *named, of=relation(codes))


_UNITS = "DECIMAL(38, 0)"


def _units(value: exp.Expr, kind: str, digits: int) -> exp.Expr:
    exact = f"DECIMAL(38, {digits})"
    # A HUGEINT may have more digits than a DECIMAL.
    number: exp.Expr = try_cast(value, exact) if kind == "HUGEINT" else cast(value, exact)
    most = _MOST_UNITS // 10**digits
    if kind == "HUGEINT" or digits or kind == "UBIGINT":
        high, low = (cast(exp.Literal.string(str(end)), exact) for end in (most, -most))
        number = f.greatest(f.least(number, high, ignore_nulls=False), low, ignore_nulls=False)
    return cast(number * cast(literal(10**digits), "DECIMAL(19, 0)"), _UNITS) if digits else number
