"""Generalization hierarchies as the user defines them."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.domain.values import Value


@dataclass(frozen=True)
class HierarchyDefinition:
    """A named generalization hierarchy (Samarati 2001, section 2: a value generalization hierarchy).

    Level 0 holds the values themselves, each further level a partition that contains
    the one before, and the last level is one value, `*`.

    `kind` is the name of a builder (intervals, prefixes, calendar, levels, parents);
    `arguments` are its positional arguments (widths, lengths, units), `options` its
    named ones, `query` the SELECT that LEVELS and PARENTS read.
    """

    name: str
    kind: str
    arguments: tuple[Value, ...] = ()
    options: tuple[tuple[str, Value], ...] = ()
    query: str | None = None
