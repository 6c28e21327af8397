"""The cells as points: each quasi-identifier's value as its rank among all values of the attribute.

Mondrian cuts regions between neighbouring ranks, so the order of the ranks is that in
which values lie side by side: by value, or along the hierarchy, depth first. How far
two values lie apart is told by their positions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.errors import InternalError
from sqlanon.methods.generalization.lattice.batch_sql import carried_code
from sqlanon.sqlgen.build.expressions import union_all
from sqlanon.sqlgen.build.names import alias, column, literal, relation
from sqlanon.sqlgen.cells.cells import key_name, leaves_name, rank_name
from sqlanon.sqlgen.cells.key_layout import Field, KeyLayout

__all__ = [
    "Points",
    "ancestors",
    "by_value",
    "first_name",
    "guard_name",
    "is_number",
    "is_numeric",
    "rank_of",
    "ranked",
    "ranked_summary",
    "subject_name",
]

_DOUBLE = exp.DataType.build("DOUBLE")
_INTEGER = exp.DataType.build("INTEGER")

# Hierarchies whose nodes are intervals of the value order.
_OF_VALUES = ("intervals", "calendar")

_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE", "REAL", "DECIMAL")


def rank_of(place: int) -> str:
    """The column of placed points with the rank of the quasi-identifier at this place."""
    return f"r_{place}"


def subject_name(number: int) -> str:
    """The column of the points with the code of the values that a requirement asks about."""
    return f"subject_{number}"


def guard_name(place: int) -> str:
    """The column of the points with the code of the guarding node of the requirement at this place."""
    return f"guard_{place}"


def first_name(level: int) -> str:
    """The column of the ranked values with the first rank below a value's ancestor at this level."""
    return f"first_{level}"


def by_value(bound: BoundAttribute) -> bool:
    """Whether the order of the ranks is that of the values; else it is that of the hierarchy."""
    return bound.hierarchy is None or bound.hierarchy.kind.lower() in _OF_VALUES


def is_numeric(bound: BoundAttribute) -> bool:
    """Whether values have a distance: numbers and times in the order of their values."""
    return by_value(bound) and _as_double(bound) is not None


def is_number(bound: BoundAttribute) -> bool:
    """Whether values are numbers."""
    return bound.published_type.upper().removeprefix("U").partition("(")[0] in _NUMBERS


def _as_double(bound: BoundAttribute) -> exp.Expr | None:
    """A value as a number, days or seconds; None for what is neither a number nor a time."""
    kind = bound.published_type.upper()
    value = column("value")
    if kind == "DATE":
        start = exp.cast(exp.Literal.string("1970-01-01"), exp.DataType.Type.DATE)
        days = exp.Anonymous(this="date_diff", expressions=[exp.Literal.string("day"), start, value])
        return exp.Cast(this=days, to=_DOUBLE.copy())
    if kind.startswith("TIMESTAMP"):
        return exp.Anonymous(this="epoch", expressions=[value])
    if is_number(bound):
        return exp.Cast(this=value, to=_DOUBLE.copy())
    return None


def ranked(bound: BoundAttribute, tree: str) -> exp.Select:
    """An attribute's values in their order: value, n, leaf, rank_0, position, and first_i and leaves_i a level.

    `tree` is the table of `cells.tree`; rank_0 counts from 0. NULL, where no hierarchy
    places it, is last. `position` is the value as a number where values have a distance
    (a date in days), else the rank; NULL then stands behind the greatest value at the
    mean distance of neighbours. first_i is the first rank below the value's ancestor at
    level i.
    """
    levels = range(1, bound.height)
    path = [column("value")] if by_value(bound) else [column(rank_name(i)) for i in reversed(range(bound.height))]
    # Where NULL stands is said in so many words: a session may have an order of its own.
    order = exp.Order(
        expressions=[
            exp.Ordered(this=part, nulls_first=False)
            for each in path
            for part in (exp.Is(this=each.copy(), expression=exp.Null()), each)
        ]
    )
    number = exp.Sub(this=exp.Window(this=exp.RowNumber(), order=order), expression=literal(1))
    numbered = exp.select(exp.Star(), alias(exp.Cast(this=number, to=exp.DataType.build("BIGINT")), "rank")).from_(
        relation(tree)
    )
    firsts = []
    for level in levels:
        above = [column(rank_name(i)) for i in range(level, bound.height)]
        firsts.append(alias(exp.Window(this=exp.Min(this=column("rank")), partition_by=above), first_name(level)))
    kept = [column(name) for name in ("value", "n", "leaf")]
    leaves = [column(leaves_name(level)) for level in levels]
    return exp.select(
        *kept, alias(column("rank"), rank_name(0)), alias(_position(bound), "position"), *firsts, *leaves
    ).from_(numbered.subquery("numbered"), copy=False)


def _position(bound: BoundAttribute) -> exp.Expr:
    rank = exp.Cast(this=column("rank"), to=_DOUBLE.copy())
    known = _as_double(bound) if by_value(bound) else None
    if known is None:
        return rank
    least, most, count = (_over(function(this=known.copy())) for function in (exp.Min, exp.Max, exp.Count))
    mean = exp.Div(
        this=exp.Paren(this=exp.Sub(this=most.copy(), expression=least.copy())),
        expression=exp.Paren(this=exp.Sub(this=count.copy(), expression=literal(1))),
    )
    several = exp.GT(this=count.copy(), expression=literal(1))
    gap = exp.Case(ifs=[exp.If(this=several, true=mean)], default=literal(1))
    behind = exp.Add(this=most.copy(), expression=gap)
    position = exp.Coalesce(this=known, expressions=[behind, exp.cast(literal(0), exp.DataType.Type.DOUBLE)])
    # Infinities and numbers that are none have no distance from others.
    spread = exp.Paren(this=exp.Sub(this=most.copy(), expression=least.copy()))
    finite = exp.Coalesce(this=exp.Anonymous(this="isfinite", expressions=[spread]), expressions=[exp.true()])
    every = _over(exp.LogicalAnd(this=exp.Anonymous(this="isfinite", expressions=[known.copy()])))
    # Nor has a date or a time that is infinite: its number is NULL.
    numbered = exp.EQ(this=count.copy(), expression=_over(exp.Count(this=column("value"))))
    sound = exp.and_(finite, exp.Coalesce(this=every, expressions=[exp.true()]), numbered)
    return exp.Case(ifs=[exp.If(this=sound, true=position)], default=rank)


def _over(aggregate: exp.Expr) -> exp.Window:
    return exp.Window(this=aggregate)


def ranked_summary(table: str) -> exp.Select:
    """One row: how many values, how far the last is from the first, and whether positions are ranks and an offset."""
    span = exp.Sub(this=exp.Max(this=column("position")), expression=exp.Min(this=column("position")))
    first = exp.select(exp.Min(this=column("position"))).from_(relation(table)).subquery()
    same = exp.EQ(
        this=exp.Sub(this=column("position"), expression=first),
        expression=exp.Cast(this=column(rank_name(0)), to=_DOUBLE.copy()),
    )
    plain = exp.Coalesce(this=exp.LogicalAnd(this=same), expressions=[exp.true()])
    return exp.select(exp.Count(this=exp.Star()), exp.Coalesce(this=span, expressions=[literal(0)]), plain).from_(
        relation(table)
    )


def ancestors(tables: Sequence[str], heights: Sequence[int]) -> exp.Query | None:
    """dim, level, rank, first: the first rank below each value's ancestor at each inner level; None without any."""
    parts: list[exp.Query] = []
    for place, (table, height) in enumerate(zip(tables, heights, strict=True)):
        for level in range(1, height):
            named = {"dim": literal(place), "level": literal(level), "rank": column(rank_name(0))}
            named |= {"first": column(first_name(level))}
            casts = [alias(exp.Cast(this=tree, to=_INTEGER.copy()), name) for name, tree in named.items()]
            parts.append(exp.select(*casts).from_(relation(table)))
    return union_all(parts) if parts else None


@dataclass(frozen=True)
class Points:
    """The rows that are cut: label, the words of their keys, and what else they carry.

    A point is a row of the source, or, unless `single`, `n` rows alike. Ranks and codes stay
    packed in the words, for what is moved most is best kept small. `subjects` are the places,
    among the carried columns of the layout, of what requirements ask about, `guards` that of the
    guarding nodes by the place of their requirement, `target` that of the column that
    cuts are to tell about. `entity` says that points have the respondent, `row` that they have the
    number of their row and a `draw`, by which equal rows are told apart: any other order of them
    would link them to what has it.
    """

    layout: KeyLayout
    subjects: Sequence[Sequence[int]]
    guards: Mapping[int, int]
    target: int | None
    entity: bool
    row: bool
    single: bool

    @property
    def stored(self) -> list[str]:
        """The columns beside the label."""
        there = (("entity", self.entity), ("row", self.row), ("draw", self.row), ("n", not self.single))
        return [*map(key_name, range(self.layout.words)), *(name for name, kept in there if kept)]

    def made(self, cells: str, draw: str | None = None) -> exp.Select:
        """The points of a table of cells, under the label 0; `draw`, a function that gives random bits, if by `row`."""
        query = exp.select(alias(exp.Cast(this=literal(0), to=_INTEGER.copy()), "label"))
        for name in self.stored:
            drawn = alias(exp.Anonymous(this=draw, expressions=[literal(0)]), name)
            query.select(drawn if name == "draw" else column(name), copy=False)
        if not self.single:
            return query.from_(relation(cells), copy=False)
        each = exp.Explode(this=exp.Anonymous(this="range", expressions=[column("n")]))
        repeated = exp.select(exp.Star(), alias(each, "copy")).from_(relation(cells)).subquery("repeated")
        return query.from_(repeated, copy=False)

    def field(self, place: int) -> Field:
        """Where the rank of the quasi-identifier at this place stands in the key."""
        return self.layout.fields[place][0]

    def rank(self, place: int, of: str | None = None) -> exp.Expr:
        """The rank of the quasi-identifier at this place."""
        field = self.field(place)
        masked = exp.Paren(this=exp.BitwiseAnd(this=column(key_name(field.word), of), expression=literal(field.mask)))
        return _shifted(masked, field)

    def span(self, place: int, function: type[exp.Expr]) -> exp.Expr:
        """The least or the greatest rank of a group: the shift is left for the end."""
        field = self.field(place)
        masked = exp.BitwiseAnd(this=column(key_name(field.word)), expression=literal(field.mask))
        return _shifted(function(this=masked), field)

    def told(self, of: str | None = None) -> exp.Expr:
        """The code of the column that cuts are to tell about."""
        if self.target is None:
            raise InternalError("these points have no target")
        return carried_code(self.layout, [self.target], of)

    def n(self, of: str | None = None) -> exp.Expr:
        """How many rows a point stands for."""
        return exp.Cast(this=literal(1), to=exp.DataType.build("BIGINT")) if self.single else column("n", of)

    def carried(self, of: str | None = None) -> list[exp.Alias]:
        """What requirements ask about: subject_0, ..., guard_p, ..., entity, and n."""
        named = [alias(carried_code(self.layout, at, of), subject_name(i)) for i, at in enumerate(self.subjects)]
        named += [alias(carried_code(self.layout, [at], of), guard_name(p)) for p, at in self.guards.items()]
        if self.entity:
            named.append(alias(column("entity", of), "entity"))
        return [*named, alias(self.n(of), "n")]


def _shifted(masked: exp.Expr, field: Field) -> exp.Expr:
    shifted = exp.BitwiseRightShift(this=masked, expression=literal(field.shift)) if field.shift else masked
    return exp.Cast(this=exp.Paren(this=shifted), to=_INTEGER.copy())
