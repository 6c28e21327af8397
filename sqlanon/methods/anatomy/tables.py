"""Anatomy's tables: the rows with their buckets, and how many rows of each bucket have each sensitive value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.policy import Role
from sqlanon.domain.reading import Reading
from sqlanon.methods.anatomy.assign_groups import carried, carried_name, code_name
from sqlanon.methods.anatomy.choice import Bucketization
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import ascending, big, identical, is_not_null, or_zero, union_all, window
from sqlanon.sqlgen.build.names import alias, column, literal, relation
from sqlanon.sqlgen.cells.labels import passed
from sqlanon.sqlgen.classes.buckets import BUCKET, COUNT, VALUE
from sqlanon.sqlgen.release.multi_table_query import PublishedColumn, PublishedTable, TablesQuery

__all__ = [
    "QUASI_IDENTIFIERS",
    "bucketized",
    "differing",
    "misplaced",
    "out_of_order",
    "out_of_place",
    "sensitive_names",
    "unequal",
]

# The names of Anatomy's tables.
QUASI_IDENTIFIERS = "qi"
_SENSITIVE = "sensitive"

# The classes of a release are its buckets.
_BUCKETS = PublishedColumn(BUCKET, Role.QUASI_IDENTIFIER, Reading.BUCKET)

Relation = exp.Table | exp.Subquery

_BIGINT = exp.DataType.build("BIGINT")


def sensitive_names(sensitive: Sequence[str]) -> dict[str, str]:
    """The fragment of each sensitive column: one is `sensitive`, several have their own names."""
    return {sensitive[0]: _SENSITIVE} if len(sensitive) == 1 else {name: name for name in sensitive}


def bucketized(policy: BoundPolicy, found: Bucketization, release_id: str, tokens: Mapping[str, str]) -> TablesQuery:
    """Anatomy's tables (Xiao and Tao 2006, definition 3): the quasi-identifiers, and the values of each bucket.

    Sensitive attributes have a table each, so that nothing tells which of their values are one row's.
    """
    names = sensitive_names([bound.column for bound in policy.sensitive])
    exact = _quasi_identifiers(policy, found, tokens)
    codes = {name: (index, table) for index, (name, table) in enumerate(found.codes)}
    values = (_values(b, names[b.column], found, *codes[b.column]) for b in policy.sensitive)
    return TablesQuery(policy, release_id, (exact, *values), tokens)


def _quasi_identifiers(policy: BoundPolicy, found: Bucketization, tokens: Mapping[str, str]) -> PublishedTable:
    """The rows as they are, with their buckets and without the sensitive attributes.

    They stand by bucket, whose numbers were drawn, and within one in an order that is drawn.
    """
    shown = carried(policy)
    own = [alias(column(carried_name(index)), bound.column) for index, bound in enumerate(shown)]
    rows = exp.select(*own, alias(column("bucket"), BUCKET)).from_(relation(found.places))
    query = exp.select().from_(rows.subquery("source"), copy=False)
    for index, bound in enumerate(shown):
        value = passed(query, bound, index, tokens)
        query.select(alias(value, bound.column), copy=False)
    query.select(alias(column(BUCKET, "source"), BUCKET), copy=False)
    # Classes are told apart by the bucket; the quasi-identifiers are values like others.
    roles = [Role.INSENSITIVE if b.role is Role.QUASI_IDENTIFIER else b.role for b in shown]
    columns = [
        PublishedColumn(b.column, role, Reading.TOKEN if b.attribute.pseudonym else Reading.EXACT, b)
        for b, role in zip(shown, roles, strict=True)
    ]
    columns.append(_BUCKETS)
    return PublishedTable(QUASI_IDENTIFIERS, tuple(columns), query, by=BUCKET, words=found.words)


def _values(bound: BoundAttribute, name: str, found: Bucketization, index: int, codes: str) -> PublishedTable:
    """How many rows of each bucket have each value of one attribute, whose codes stand at an index there."""
    own = [column("bucket"), column(code_name(index))]
    rows: exp.Expr = literal(1) if found.once else f.count()
    held = exp.select(own[0], alias(own[1], "code"), alias(big(rows), "n"))
    held.from_(relation(found.places), copy=False)
    if not found.once:
        held.group_by(*(part.copy() for part in own), copy=False)
    query = exp.select(
        alias(column("bucket", "held"), BUCKET),
        alias(column("value", "coded"), VALUE),
        alias(column("n", "held"), COUNT),
    ).from_(held.subquery("held"), copy=False)
    same = column("code", "held").eq(column("code", "coded"))
    query.join(relation(codes, as_="coded"), on=same, copy=False)
    # Of several attributes the values that go together could come to stand at the same places of their buckets.
    ordered = len(found.codes) == 1
    if ordered:
        order = [column("bucket", "held"), column("code", "held")]
        query.order_by(*(ascending(part) for part in order), copy=False)
    value = PublishedColumn(VALUE, Role.SENSITIVE, Reading.BUCKET_VALUE, bound)
    columns = (_BUCKETS, value, PublishedColumn(COUNT, Role.INSENSITIVE, Reading.COUNT))
    return PublishedTable(name, columns, query, ordered)


def out_of_order(values: Relation) -> exp.Select:
    """How many rows, as they are read, do not have a greater bucket and value than the one before; NULL is the last.

    If there are none, no two rows have one bucket and value, in whatever order they were read. The opposite is not so.
    Rows that count less than one are among them.
    """
    names = (BUCKET, VALUE)
    own = [alias(column(name), f"own_{name}") for name in names]
    lag = [window(f.call("lag", column(name))) for name in names]
    former = [alias(one, f"former_{name}") for one, name in zip(lag, names, strict=True)]
    number = alias(window(f.row_number()), "number")
    read = exp.select(*own, *former, column(COUNT), number).from_(values).subquery("read")
    same = column("former_bucket").eq(column("own_bucket"))
    is_null, was_null = (column(f"{one}_value").is_(exp.null()) for one in ("own", "former"))
    greater = column("former_value") < column("own_value")
    later = exp.or_(greater, exp.and_(exp.not_(was_null), is_null))
    after = exp.or_(column("former_bucket") < column("own_bucket"), exp.and_(same, later))
    first = column("number").eq(1)
    right = exp.and_(exp.or_(first, after), column(COUNT) >= 1)
    # What cannot be compared is not in order either.
    wrong = exp.not_(f.coalesce(right, exp.false()))
    return exp.select(f.count()).from_(read, copy=False).where(wrong, copy=False)


def out_of_place(exact: Relation) -> exp.Select:
    """How many rows, as they are read, have a lesser bucket than the one before, or none."""
    former = window(f.call("lag", column(BUCKET)))
    number = alias(window(f.row_number()), "number")
    read = exp.select(column(BUCKET), alias(former, "former"), number).from_(exact).subquery("read")
    first = column("number").eq(1)
    after = exp.or_(first, column(BUCKET) >= column("former"))
    right = exp.and_(after, is_not_null(column(BUCKET)))
    wrong = exp.not_(f.coalesce(right, exp.false()))
    return exp.select(f.count()).from_(read, copy=False).where(wrong, copy=False)


def misplaced(exact: Relation, values: Relation) -> exp.Select:
    """How many rows of one table do not have the bucket of the value at the same place in the other, which counts once.

    If there are none, each bucket has as many rows as values, in whatever order they were read: to each row belongs a
    value of its bucket, and to each value a row. The opposite is not so.
    """
    same = column(BUCKET, "exact").eq(column(BUCKET, "held"))
    one = column(COUNT, "held").eq(1)
    # The shorter table goes on with NULL, which is no bucket.
    wrong = exp.not_(f.coalesce(exp.and_(same, one), exp.false()))
    query = exp.select(f.count()).from_(exp.alias_(exact, "exact", table=True), copy=False)
    held = exp.Join(this=exp.alias_(values, "held", table=True), method="POSITIONAL")
    query.append("joins", held)
    return query.where(wrong, copy=False)


def differing(exact: Relation, values: Relation) -> exp.Select:
    """How many buckets do not have as many rows in one table as values in the other, whose rows are all in order.

    Rows are added and values subtracted, so one grouping does for both.
    """
    rows = exp.select(column(BUCKET), alias(big(literal(1)), "n")).from_(exact)
    less = exp.select(column(BUCKET), alias(exp.Neg(this=column(COUNT)), "n")).from_(values)
    left = f.sum(column("n")).neq(0)
    each = exp.select(column(BUCKET)).from_(union_all([rows, less]).subquery("either"), copy=False)
    each.group_by(column(BUCKET), copy=False).having(left, copy=False)
    return exp.select(f.count()).from_(each.subquery("bucket"), copy=False)


def unequal(exact: Relation, values: Relation) -> exp.Select:
    """How many buckets do not have as many rows in one table as values in the other, or have a value twice or not."""
    rows = exp.select(column(BUCKET), alias(f.count(), "n")).from_(exact).group_by(column(BUCKET))
    total = big(f.sum(column(COUNT)))
    least = f.min(or_zero(column(COUNT)))
    every = exp.select(column(BUCKET), column(VALUE), alias(total, "n"), alias(f.count(), "times"))
    every = every.select(alias(least, "least")).from_(values).group_by(column(BUCKET), column(VALUE))
    summed = exp.select(
        column(BUCKET),
        alias(big(f.sum(column("n"))), "n"),
        alias(f.max(column("times")), "times"),
        alias(f.min(column("least")), "least"),
    )
    summed = summed.from_(every.subquery("each"), copy=False).group_by(column(BUCKET))
    same = identical(column(BUCKET, "exact"), column(BUCKET, "summed"))
    broken = exp.or_(
        exp.not_(identical(column("n", "exact"), column("n", "summed"))),
        column("times", "summed") > 1,
        column("least", "summed") < 1,
    )
    return (
        exp.select(f.count())
        .from_(rows.subquery("exact"), copy=False)
        .join(summed.subquery("summed"), on=same, join_type="FULL", copy=False)
        .where(broken)
    )
