"""The cells as points: each quasi-identifier's value as its rank among all values of the attribute.

Mondrian cuts regions between neighboring ranks, so ranks have an order in which neighbors are similar: by value, or
along the hierarchy, depth first. The distance of two values follows from their positions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field

from sqlglot import exp

from sqlanon.errors import InternalError
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import added, big, entry, infix, integer, paren
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import subquery
from sqlanon.sql.build.sql_files import filled_query
from sqlanon.sql.cells.cells import Field, KeyLayout, carried_code, key_name

# The bits of a code that follow the number of a half in one BIGINT.
_PART_BITS = 31


def rank_of(index: int) -> str:
    """The name of the column of placed points with the rank of the quasi-identifier at this index."""
    return f"r_{index}"


def subject_name(number: int) -> str:
    """The name of the column that holds the codes of subject `number`."""
    return f"subject_{number}"


def guard_name(index: int) -> str:
    """The name of the column that holds the codes of guarding nodes for the requirement at this index."""
    return f"guard_{index}"


def other_name(number: int) -> str:
    """The name of the column that holds the codes of the carried column at this index in `Points.others`."""
    return f"other_{number}"


def part_name(number: int) -> str:
    """The name of the column that distinguishes the classes within a half, for the subject with this number."""
    return f"part_{number}"


@dataclass(frozen=True)
class Points:
    """The rows that are cut: label, the words of their keys, and carried columns.

    A point is a row of the source, or, unless `single`, `n` equal rows. Ranks and codes stay packed in the words,
    because points are copied often. `subjects`, `guards` and `target` are indexes of carried columns of the layout: the
    columns of requirements, the guarding node of each requirement by its index, and the column about which cuts gain
    information. If `entity` is true, points have the respondent. If `row` is true, they have the number of their row
    and a `draw`, random bits that order equal rows, because any other order could be reconstructed from another table.
    `parts` has, by the number of a subject, the fields of the columns that distinguish classes within a half: for the
    requirements about that subject, the classes of a half are the rows that agree there. `others` are the indexes of
    carried columns without a requirement.
    """

    layout: KeyLayout
    subjects: Sequence[Sequence[int]]
    guards: Mapping[int, int]
    target: int | None
    entity: bool
    row: bool
    single: bool
    parts: Mapping[int, tuple[Field, ...]] = dataclass_field(default_factory=dict)
    others: Sequence[int] = ()

    @property
    def stored(self) -> list[str]:
        """The columns of a point besides the label."""
        optional = (("entity", self.entity), ("row", self.row), ("draw", self.row), ("n", not self.single))
        return [*map(key_name, range(self.layout.words)), *(name for name, stored in optional if stored)]

    def made(self, cells: str, draw: str | None = None) -> exp.Query:
        """SELECT of the points of a table of cells, all with the label 0; `draw` names the function that returns random
        bits.
        """
        outputs = [alias(f.call(draw, 0), name) if draw and name == "draw" else column(name) for name in self.stored]
        repeated = filled_query('SELECT *, unnest(range(n)) AS copy FROM "{cells}"', names={"cells": cells})
        rows = subquery(repeated, "repeated") if self.single else relation(cells)
        text = 'SELECT CAST(0 AS INTEGER) AS label, {outputs} FROM "{rows}"'
        return filled_query(text, names={"outputs": outputs, "rows": rows})

    def field(self, index: int) -> Field:
        """The bits of the key that hold the rank of the quasi-identifier at this index."""
        return self.layout.fields[index][0]

    def rank(self, index: int, of: str | None = None) -> exp.Expr:
        """The rank of the quasi-identifier at this index."""
        field = self.field(index)
        return _shifted(paren(infix(column(key_name(field.word), of), "&", field.mask)), field)

    def span(self, index: int, function: type[exp.Expr]) -> exp.Expr:
        """The least or the greatest rank of a group; the shift follows the aggregation."""
        field = self.field(index)
        masked = infix(column(key_name(field.word)), "&", field.mask)
        return _shifted(function(this=masked), field)

    def target_code(self, of: str | None = None) -> exp.Expr:
        """The code of the column about which cuts gain information."""
        if self.target is None:
            raise InternalError("these points have no target")
        return carried_code(self.layout, [self.target], of)

    def n(self, of: str | None = None) -> exp.Expr:
        """Returns the number of rows that a point represents."""
        return big(literal(1)) if self.single else column("n", of)

    def carried(self, of: str | None = None) -> list[exp.Alias]:
        """Returns the carried columns: subject_0, ..., guard_p, ..., part_i, ..., other_0, ..., entity and n."""
        named = [alias(carried_code(self.layout, at, of), subject_name(i)) for i, at in enumerate(self.subjects)]
        named += [alias(carried_code(self.layout, [at], of), guard_name(p)) for p, at in self.guards.items()]
        named += [alias(self._part(fields, of), part_name(i)) for i, fields in self.parts.items()]
        named += [alias(carried_code(self.layout, [at], of), other_name(i)) for i, at in enumerate(self.others)]
        if self.entity:
            named.append(alias(column("entity", of), "entity"))
        return [*named, alias(self.n(of), "n")]

    def carried_by_cells(self) -> list[exp.Alias]:
        """Returns the columns of `carried` from a table of cells; a cell represents `n` rows."""
        return replace(self, single=False).carried()

    def class_within(self, number: int) -> exp.Expr:
        """The SQL of the class of a point for the requirements on this subject: the half of a cut, with the point's
        part.

        The parts are combinations of columns that distinguish classes within a half.
        """
        half, part = column("class_id"), column(part_name(number))
        if not self._packed(number):
            return exp.Struct(expressions=[entry("half", half), entry("part", part)])
        return infix(paren(infix(big(half), "<<", _PART_BITS)), "|", part)

    def half_of(self, number: int) -> exp.Expr:
        """The SQL that reads the half of cut `number` from a class_id of `class_within`."""
        class_id = column("class_id")
        if not self._packed(number):
            return exp.StructExtract(this=class_id, expression=exp.Literal.string("half"))
        return paren(infix(class_id, ">>", _PART_BITS))

    def _packed(self, number: int) -> bool:
        return sum(field.bits for field in self.parts[number]) <= _PART_BITS

    def _part(self, fields: Sequence[Field], of: str | None) -> exp.Expr:
        """The codes of these fields as one number, or as a struct if they have too many bits."""
        if sum(field.bits for field in fields) > _PART_BITS:
            words = dict.fromkeys(field.word for field in fields)
            masks = {word: sum(field.mask for field in fields if field.word == word) for word in words}
            masked = {word: paren(infix(column(key_name(word), of), "&", mask)) for word, mask in masks.items()}
            return exp.Struct(expressions=[entry(key_name(word), value) for word, value in masked.items()])
        codes: list[exp.Expr] = []
        offset = 0
        for field in fields:
            code = _shifted(paren(infix(column(key_name(field.word), of), "&", field.mask)), field)
            codes.append(paren(infix(big(code), "<<", offset)) if offset else code)
            offset += field.bits
        return added(codes)


def _shifted(masked: exp.Expr, field: Field) -> exp.Expr:
    shifted = infix(masked, ">>", field.shift) if field.shift else masked
    return integer(paren(shifted))
