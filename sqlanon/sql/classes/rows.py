"""Rows that fall into classes: the released ones, or those of any relation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from sqlanon.errors import InternalError
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import entry, total
from sqlanon.sql.build.names import alias, column, identifier, literal
from sqlanon.sql.build.steps import Step
from sqlanon.sql.classes.requirement import Projected


@dataclass(frozen=True)
class Lists:
    """The column of rows that has lists, and the greatest number of items of the sets that are counted in them."""

    items: exp.Expr
    most: int


@dataclass(frozen=True)
class Rows:
    """Rows that fall into classes.

    Those that agree on `keys`, NULL being a value, are a class, and `class_id` names it:
    a column of that name, or an expression over the keys. `columns` has the expression
    of each column that a requirement reads, and `entity` is that of the respondent. Where a row
    stands for several, `weight` is their number. All expressions are over `relation`.
    If `counted`, no two rows agree on their class and their value. `projected` names the class of some of the
    quasi-identifiers in which a class_id lies; there is none where classes are of all of them only. `lists` are there
    where sets of items are counted.

    `steps` make what the relation reads. `apart` has the rows of each column that a respondent may have several values
    in: one for each respondent, class and value. `whole` has each respondent once, in one class of all; it is there
    where classes share respondents.
    """

    relation: exp.Table | exp.Subquery
    keys: tuple[exp.Expr, ...]
    class_id: exp.Expr
    columns: Mapping[str, exp.Expr] = field(default_factory=dict)
    entity: exp.Expr | None = None
    weight: exp.Expr | None = None
    counted: bool = False
    projected: Projected | None = None
    lists: Lists | None = None
    steps: tuple[Step, ...] = ()
    apart: Mapping[str, Rows] = field(default_factory=dict)
    whole: Rows | None = None

    def of_subject(self, subject: Sequence[str]) -> Rows:
        """The rows in which the values of a subject are counted."""
        return self.apart.get(subject[0], self) if len(subject) == 1 else self

    def count(self) -> exp.Expr:
        """How many rows there are."""
        if self.weight is None:
            return f.count()
        return total(self.weight.copy())

    def value(self, name: str) -> exp.Expr:
        if name not in self.columns:
            raise InternalError(f"a requirement asks about {name}, which the rows do not have")
        return self.columns[name].copy()

    def grouped(self, *others: exp.Expr) -> exp.Select:
        """The class_id of each class, or of each combination of a class and the other expressions."""
        named = self.class_id.copy()
        if not isinstance(named, exp.Column):
            named = alias(named, "class_id")
        query = exp.select(named).from_(self.relation.copy(), copy=False)
        return query.group_by(*(part.copy() for part in (*self.keys, *others)), copy=False)


def rows_of(
    source: exp.Table | exp.Subquery,
    quasi_identifiers: Sequence[str],
    columns: Mapping[str, exp.Expr] | None = None,
    entity: str | None = None,
) -> Rows:
    """The rows of any relation; a class is those that agree on the quasi-identifiers."""
    keys = tuple(column(name) for name in quasi_identifiers)
    label = class_label({name: column(name) for name in quasi_identifiers})
    return Rows(source, keys, label, columns or {}, column(entity) if entity else None, projected=_fields)


def _fields(class_id: exp.Expr, columns: Sequence[str]) -> exp.Expr:
    """The class of some columns in which a class lies whose class_id is a struct of what it shows."""
    return class_label({name: exp.Dot(this=class_id.copy(), expression=identifier(name)) for name in columns})


def class_label(labels: Mapping[str, exp.Expr]) -> exp.Expr:
    """A class_id from what a class shows of each quasi-identifier: a struct of them."""
    parts = [entry(name, label) for name, label in labels.items()]
    return exp.Struct(expressions=parts) if parts else literal(0)


@dataclass(frozen=True)
class RowsOfRequirements:
    """Rows, and the indexes of the requirements that they answer."""

    rows: Rows
    indexes: tuple[int, ...]
