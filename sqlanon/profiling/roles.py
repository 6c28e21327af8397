"""Which role a column may have, and what in its name, its type and its values says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.domain.counts import per_cent
from sqlanon.domain.policy import Role
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.profiling.categories import SENSITIVE_WORDS, Category, words_of
from sqlanon.profiling.combinations import Combinations
from sqlanon.profiling.sizes import sizes
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import as_text
from sqlanon.sqlgen.build.names import alias, column, relation

__all__ = ["Values", "proposed_role", "values_of"]

_MEASURED = ("FLOAT", "DOUBLE", "DECIMAL", "DATE", "TIME", "INTERVAL")


@dataclass(frozen=True)
class Values:
    """The values of a column: its type, how they repeat, how many rows have NULL, and the mean length of their text."""

    name: str
    type: str
    counted: Combinations
    nulls: int
    length: float

    @property
    def present(self) -> int:
        """The rows in which it is not NULL."""
        return self.counted.rows - self.nulls

    @property
    def distinct(self) -> int:
        """The number of values that are not NULL."""
        return self.counted.values - (1 if self.nulls else 0)

    @property
    def is_unique(self) -> bool:
        """Whether nearly all of the values that are not NULL stand in one row each."""
        alone = self.counted.alone - (1 if self.nulls == 1 else 0)
        return self.present > 1 and alone >= sizes().unique * self.present

    @property
    def repeats(self) -> bool:
        return self.distinct < self.present


def values_of(
    engine: Engine, table: QualifiedName, columns: Sequence[tuple[str, str]], counted: Sequence[Combinations]
) -> list[Values]:
    """What is known of each column of (name, type), in their order."""
    parts = []
    for i, (name, _) in enumerate(columns):
        parts.append(alias(f.count(column(name)), f"present_{i}"))
        parts.append(alias(f.call("avg", f.length(as_text(column(name)))), f"length_{i}"))
    (figures,) = engine.rows(exp.select(*parts).from_(relation(table)))
    return [
        Values(name, kind, combinations, combinations.rows - int(figures[2 * i]), float(figures[2 * i + 1] or 0))
        for i, ((name, kind), combinations) in enumerate(zip(columns, counted, strict=True))
    ]


def proposed_role(values: Values, categories: Mapping[str, tuple[Category, str]]) -> tuple[Role, str]:
    """The role, and why. What nothing is known of is a quasi-identifier: who publishes less has nothing to regret.

    An identifier that repeats may name the respondent, ENTITY; which of several does is the user's to say.
    """
    category, told_by = categories.get(values.name, (None, ""))
    called = f"{'an' if category and category.name[0] in 'aeioI' else 'a'} {category.name}" if category else ""
    says = "says" if told_by == "name" else "say"
    if category and category.identifies:
        return Role.IDENTIFIER, f"its {told_by} {says} {called}{_repeating(values)}"
    if _is_nested(values.type):
        return Role.IDENTIFIER, f"values of type {values.type.split('(')[0]} cannot be made coarser"
    if values.counted.values == 1 and values.counted.rows > 1:
        return Role.INSENSITIVE, "it says the same in all rows"
    # Also where it is called a diagnosis: sensitive values are published as they are.
    if values.type == "VARCHAR" and values.length > sizes().free_text:
        return Role.IDENTIFIER, "it is free text, which may name anybody"
    if SENSITIVE_WORDS.fullmatch(words_of(values.name)):
        return Role.SENSITIVE, "its name is that of something people would keep to themselves"
    if category:
        return Role.QUASI_IDENTIFIER, f"its {told_by} {says} {called}"
    if values.is_unique and not values.type.startswith(_MEASURED):
        alone = per_cent(values.counted.unique or 0)
        return Role.IDENTIFIER, f"{alone} of its rows have a value that no other row has"
    return Role.QUASI_IDENTIFIER, "others may know it"


def _repeating(values: Values) -> str:
    """What an identifier that several rows have may be."""
    if not values.repeats or not values.distinct:
        return ""
    return f"; {values.distinct} values in {values.present} rows: if it says whom a row is about, make it ENTITY"


def _is_nested(kind: str) -> bool:
    return kind.endswith("]") or kind.startswith(
        ("STRUCT", "MAP", "UNION", "BLOB", "JSON", "BIT", "VARIANT", "GEOMETRY")
    )
