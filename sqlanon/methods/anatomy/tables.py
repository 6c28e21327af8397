"""Anatomy's tables: the rows with their buckets, and how many rows of each bucket have each sensitive value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.policy import Role
from sqlanon.domain.reading import Reading
from sqlanon.methods.anatomy.assign_groups import carried, carried_name, code_name
from sqlanon.methods.anatomy.choice import Bucketization
from sqlanon.sqlgen.build.expressions import union_all
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
    rows: exp.Expr = literal(1) if found.once else exp.Count(this=exp.Star())
    held = exp.select(own[0], alias(own[1], "code"), alias(exp.Cast(this=rows, to=_BIGINT.copy()), "n"))
    held.from_(relation(found.places), copy=False)
    if not found.once:
        held.group_by(*(part.copy() for part in own), copy=False)
    query = exp.select(
        alias(column("bucket", "held"), BUCKET),
        alias(column("value", "coded"), VALUE),
        alias(column("n", "held"), COUNT),
    ).from_(held.subquery("held"), copy=False)
    same = exp.EQ(this=column("code", "held"), expression=column("code", "coded"))
    query.join(relation(codes, as_="coded"), on=same, copy=False)
    # Of several attributes the values that go together could come to stand at the same places of their buckets.
    ordered = len(found.codes) == 1
    if ordered:
        order = [column("bucket", "held"), column("code", "held")]
        query.order_by(*(exp.Ordered(this=part, nulls_first=False) for part in order), copy=False)
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
    lag = [exp.Window(this=exp.Anonymous(this="lag", expressions=[column(name)])) for name in names]
    former = [alias(one, f"former_{name}") for one, name in zip(lag, names, strict=True)]
    number = alias(exp.Window(this=exp.RowNumber()), "number")
    read = exp.select(*own, *former, column(COUNT), number).from_(values).subquery("read")
    same = exp.EQ(this=column("former_bucket"), expression=column("own_bucket"))
    is_null, was_null = (exp.Is(this=column(f"{one}_value"), expression=exp.Null()) for one in ("own", "former"))
    greater = exp.LT(this=column("former_value"), expression=column("own_value"))
    later = exp.or_(greater, exp.and_(exp.Not(this=was_null), is_null))
    after = exp.or_(exp.LT(this=column("former_bucket"), expression=column("own_bucket")), exp.and_(same, later))
    first = exp.EQ(this=column("number"), expression=literal(1))
    right = exp.and_(exp.or_(first, after), exp.GTE(this=column(COUNT), expression=literal(1)))
    # What cannot be compared is not in order either.
    wrong = exp.Not(this=exp.Coalesce(this=right, expressions=[exp.false()]))
    return exp.select(exp.Count(this=exp.Star())).from_(read, copy=False).where(wrong, copy=False)


def out_of_place(exact: Relation) -> exp.Select:
    """How many rows, as they are read, have a lesser bucket than the one before, or none."""
    former = exp.Window(this=exp.Anonymous(this="lag", expressions=[column(BUCKET)]))
    number = alias(exp.Window(this=exp.RowNumber()), "number")
    read = exp.select(column(BUCKET), alias(former, "former"), number).from_(exact).subquery("read")
    first = exp.EQ(this=column("number"), expression=literal(1))
    after = exp.or_(first, exp.GTE(this=column(BUCKET), expression=column("former")))
    right = exp.and_(after, exp.Not(this=exp.Is(this=column(BUCKET), expression=exp.Null())))
    wrong = exp.Not(this=exp.Coalesce(this=right, expressions=[exp.false()]))
    return exp.select(exp.Count(this=exp.Star())).from_(read, copy=False).where(wrong, copy=False)


def misplaced(exact: Relation, values: Relation) -> exp.Select:
    """How many rows of one table do not have the bucket of the value at the same place in the other, which counts once.

    If there are none, each bucket has as many rows as values, in whatever order they were read: to each row belongs a
    value of its bucket, and to each value a row. The opposite is not so.
    """
    same = exp.EQ(this=column(BUCKET, "exact"), expression=column(BUCKET, "held"))
    one = exp.EQ(this=column(COUNT, "held"), expression=literal(1))
    # The shorter table goes on with NULL, which is no bucket.
    wrong = exp.Not(this=exp.Coalesce(this=exp.and_(same, one), expressions=[exp.false()]))
    query = exp.select(exp.Count(this=exp.Star())).from_(exp.alias_(exact, "exact", table=True), copy=False)
    held = exp.Join(this=exp.alias_(values, "held", table=True), method="POSITIONAL")
    query.append("joins", held)
    return query.where(wrong, copy=False)


def differing(exact: Relation, values: Relation) -> exp.Select:
    """How many buckets do not have as many rows in one table as values in the other, whose rows are all in order.

    Rows are added and values subtracted, so one grouping does for both.
    """
    rows = exp.select(column(BUCKET), alias(exp.Cast(this=literal(1), to=_BIGINT.copy()), "n")).from_(exact)
    less = exp.select(column(BUCKET), alias(exp.Neg(this=column(COUNT)), "n")).from_(values)
    left = exp.NEQ(this=exp.Sum(this=column("n")), expression=literal(0))
    each = exp.select(column(BUCKET)).from_(union_all([rows, less]).subquery("either"), copy=False)
    each.group_by(column(BUCKET), copy=False).having(left, copy=False)
    return exp.select(exp.Count(this=exp.Star())).from_(each.subquery("bucket"), copy=False)


def unequal(exact: Relation, values: Relation) -> exp.Select:
    """How many buckets do not have as many rows in one table as values in the other, or have a value twice or not."""
    rows = exp.select(column(BUCKET), alias(exp.Count(this=exp.Star()), "n")).from_(exact).group_by(column(BUCKET))
    total = exp.Cast(this=exp.Sum(this=column(COUNT)), to=_BIGINT.copy())
    least = exp.Min(this=exp.Coalesce(this=column(COUNT), expressions=[literal(0)]))
    every = exp.select(column(BUCKET), column(VALUE), alias(total, "n"), alias(exp.Count(this=exp.Star()), "times"))
    every = every.select(alias(least, "least")).from_(values).group_by(column(BUCKET), column(VALUE))
    summed = exp.select(
        column(BUCKET),
        alias(exp.Cast(this=exp.Sum(this=column("n")), to=_BIGINT.copy()), "n"),
        alias(exp.Max(this=column("times")), "times"),
        alias(exp.Min(this=column("least")), "least"),
    )
    summed = summed.from_(every.subquery("each"), copy=False).group_by(column(BUCKET))
    same = exp.NullSafeEQ(this=column(BUCKET, "exact"), expression=column(BUCKET, "summed"))
    broken = exp.or_(
        exp.Not(this=exp.NullSafeEQ(this=column("n", "exact"), expression=column("n", "summed"))),
        exp.GT(this=column("times", "summed"), expression=literal(1)),
        exp.LT(this=column("least", "summed"), expression=literal(1)),
    )
    return (
        exp.select(exp.Count(this=exp.Star()))
        .from_(rows.subquery("exact"), copy=False)
        .join(summed.subquery("summed"), on=same, join_type="FULL", copy=False)
        .where(broken)
    )
