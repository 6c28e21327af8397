"""The cells as points: each quasi-identifier's value as its rank among all values of the attribute.

Mondrian cuts regions between neighbouring ranks, so the order of the ranks is that in
which values lie side by side: by value, or along the hierarchy, depth first. How far
two values lie apart is told by their positions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.errors import InternalError
from sqlanon.sqlgen.build.names import alias, column, literal, relation
from sqlanon.sqlgen.cells.cells import carried_code, key_name
from sqlanon.sqlgen.cells.key_layout import Field, KeyLayout

__all__ = ["Points", "guard_name", "rank_of", "subject_name"]

_INTEGER = exp.DataType.build("INTEGER")


def rank_of(index: int) -> str:
    """The column of placed points with the rank of the quasi-identifier at this index."""
    return f"r_{index}"


def subject_name(number: int) -> str:
    """The column of the points with the code of the values that a requirement asks about."""
    return f"subject_{number}"


def guard_name(index: int) -> str:
    """The column of the points with the code of the guarding node of the requirement at this index."""
    return f"guard_{index}"


@dataclass(frozen=True)
class Points:
    """The rows that are cut: label, the words of their keys, and what else they carry.

    A point is a row of the source, or, unless `single`, `n` rows alike. Ranks and codes stay
    packed in the words, for what is moved most is best kept small. `subjects` are the places,
    among the carried columns of the layout, of what requirements ask about, `guards` that of the
    guarding nodes by the index of their requirement, `target` that of the column that
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

    def field(self, index: int) -> Field:
        """Where the rank of the quasi-identifier at this index stands in the key."""
        return self.layout.fields[index][0]

    def rank(self, index: int, of: str | None = None) -> exp.Expr:
        """The rank of the quasi-identifier at this index."""
        field = self.field(index)
        masked = exp.Paren(this=exp.BitwiseAnd(this=column(key_name(field.word), of), expression=literal(field.mask)))
        return _shifted(masked, field)

    def span(self, index: int, function: type[exp.Expr]) -> exp.Expr:
        """The least or the greatest rank of a group: the shift is left for the end."""
        field = self.field(index)
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
