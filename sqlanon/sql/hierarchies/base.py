"""The protocol of a hierarchy builder: a module of this package, named after its kind.

A functional builder (INTERVALS, PREFIXES, CALENDAR) computes labels from the value, so that new values also have
labels. A stored builder (LEVELS, PARENTS) turns the user's rows into rows of the catalog's `hierarchy_value`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, cast, runtime_checkable

from sqlglot import exp

from sqlanon.domain.policy import HierarchyDefinition
from sqlanon.domain.values import QualifiedName
from sqlanon.errors import InternalError, PolicyError
from sqlanon.plugins import incomplete, plugin

READINGS = ("interval", "period", "mask", "any")
"""What labels can be taken for: an interval [20,30), a calendar's period, characters before stars as in 941**, or text
that says nothing of its values."""

_PARTS = {True: ("validate", "values", "checks"), False: ("validate", "height", "accepts", "labels", "KEEPS_ORDER")}


# The options of a hierarchy that define the labels of its open ends; other options may contain values of a table.
END_OPTIONS = ("low", "high", "below", "above", "small")


@dataclass(frozen=True)
class Check:
    """A check of the rows of a stored hierarchy: offending rows are an error, or, unless `refuses` is true, a remark.

    `query` returns the offending names in one VARCHAR column, in any order and without a limit. `message` names the
    hierarchy and the problem, and `hint` the remedy.
    """

    name: str
    query: exp.Select
    message: str
    hint: str
    refuses: bool = True


@dataclass(frozen=True)
class OpenEnd:
    """A label of all values below `high`, or from `low` on, or, without both, of any value. The ends are values as
    texts.
    """

    label: str
    low: str | None = None
    high: str | None = None


class Builder(Protocol):
    """The functions that each builder module has."""

    STORED: bool

    def validate(self, definition: HierarchyDefinition) -> None:
        """Raises PolicyError, naming the hierarchy, if the definition is contradictory."""


class Functional(Builder, Protocol):
    """A builder whose labels are a function of the value."""

    KEEPS_ORDER: bool
    """Whether the values of every label are neighbours in the order of all values, as those of an interval are."""

    READ_AS: str
    """One of `READINGS`: what an estimate takes a label for."""

    def height(self, definition: HierarchyDefinition) -> int:
        """Returns the number of levels above the values, including `*`."""

    def accepts(self, column_type: str) -> bool:
        """Whether a column of this type, as DuckDB's DESCRIBE prints it, has labels."""

    def labels(self, definition: HierarchyDefinition, value: exp.Expr, column_type: str) -> tuple[exp.Expr, ...]:
        """Returns the VARCHAR labels of levels 1 to height - 1; NULL for NULL; they never raise an error at run time.

        Values that share a label share all labels above it. Raises PolicyError if the hierarchy does not fit the type.
        """


@runtime_checkable
class OpenEnded(Protocol):
    """A functional builder with the user's labels for open ends."""

    def open_ends(self, definition: HierarchyDefinition) -> tuple[OpenEnd, ...]:
        """Returns the labels of the open ends. If an end cuts a coarser label, the label means the rest of its
        values.
        """

    def values_at(self, definition: HierarchyDefinition) -> int | None:
        """Returns the level above 0 whose labels are values, apart from labels of open ends; None if there is no such
        level.
        """


@runtime_checkable
class ReadsTable(Protocol):
    """A functional builder that reads a table once, when a hierarchy is made."""

    def table_of(self, definition: HierarchyDefinition) -> QualifiedName | None:
        """Returns the table to read; None if there is nothing to read."""

    def with_rows(self, definition: HierarchyDefinition, rows: Sequence[Sequence[object]]) -> HierarchyDefinition:
        """Returns the definition completed by the rows of the table. Raises PolicyError for rows that do not fit."""


class Stored(Builder, Protocol):
    """A builder whose labels are stored as rows."""

    def values(self, definition: HierarchyDefinition, columns: Sequence[str], relation: exp.Expr) -> exp.Select:
        """Returns rows (value, level, label), for the levels 0 to height - 1, from the rows of the user's query.

        `relation` has these rows, and `columns` names their columns in order. The result is valid only if `checks`
        found nothing. Raises PolicyError if the kind cannot read these columns.
        """

    def checks(self, definition: HierarchyDefinition, columns: Sequence[str], relation: exp.Expr) -> list[Check]:
        """Returns the checks of the rows, in order: each check assumes that the earlier checks found nothing.

        Each check terminates for any rows, even with cycles. Raises the errors of `values`.
        """


def builder(kind: str) -> Builder:
    """Returns the builder of one kind of hierarchy.

    Raises UserError, with the known kinds, if there is no such builder, and InternalError for a module without a
    required part, or UserError if this module belongs to another package.
    """
    module = plugin("sqlanon.sql.hierarchies", kind)
    stores = getattr(module, "STORED", None)
    if not isinstance(stores, bool):
        raise incomplete("hierarchies", kind, "does not say in STORED whether its labels are rows")
    if lacking := [part for part in _PARTS[stores] if not hasattr(module, part)]:
        raise incomplete("hierarchies", kind, f"has no {', '.join(lacking)}")
    if not stores and (reading := getattr(module, "READ_AS", None)) not in READINGS:
        raise incomplete("hierarchies", kind, f"is read as {reading}, which is none of {', '.join(READINGS)}")
    return cast(Builder, module)


def functional(kind: str) -> Functional:
    """Returns the builder of a kind that computes its labels. Raises InternalError for a kind that stores them."""
    module = builder(kind)
    if module.STORED:
        raise InternalError(f"the labels of {kind} hierarchies are stored, not computed")
    return cast(Functional, module)


def open_ends(definition: HierarchyDefinition | None) -> tuple[OpenEnd, ...]:
    """Returns the labels of a hierarchy's open ends with the ends that they mean; none if there is no hierarchy."""
    module = builder(definition.kind) if definition else None
    return module.open_ends(definition) if definition and isinstance(module, OpenEnded) else ()


def values_at(definition: HierarchyDefinition) -> int | None:
    """Returns the level above 0 whose labels are values, apart from labels of open ends; None if there is no such
    level.
    """
    module = builder(definition.kind)
    return module.values_at(definition) if isinstance(module, OpenEnded) else None


def stored(kind: str) -> Stored:
    """Returns the builder of a kind whose labels are rows. Raises InternalError for a kind that computes its labels."""
    module = builder(kind)
    if not module.STORED:
        raise InternalError(f"the labels of {kind} hierarchies are computed, not stored")
    return cast(Stored, module)


def refused(definition: HierarchyDefinition, problem: str, hint: str | None = None) -> PolicyError:
    """Returns the error about a hierarchy."""
    return PolicyError(f"hierarchy {definition.name}: {problem}", hint=hint)
