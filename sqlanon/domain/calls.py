"""Calls that stand within statements: a method, and figures to measure."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.domain.values import Value


@dataclass(frozen=True)
class FigureCall:
    """name [(argument => value, ...)]: figures that are to be measured, the name in lower case."""

    name: str
    arguments: tuple[tuple[str, Value], ...] = ()


@dataclass(frozen=True)
class MethodCall:
    """METHOD name(argument => value, ...) [FRAGMENTS (attributes), ... | COLUMNS (attributes), ... | COLUMNS EACH].

    Without METHOD there is no name, and the default method is meant. `sets` are those of columns after FRAGMENTS,
    `columns` those after COLUMNS; `each_apart` says that COLUMNS EACH was written.
    """

    name: str = ""
    arguments: tuple[tuple[str, Value], ...] = ()
    sets: tuple[tuple[str, ...], ...] = ()
    columns: tuple[tuple[str, ...], ...] = ()
    each_apart: bool = False
