"""What classes have in common that a requirement did not ask about: a respondent, or a sensitive value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.release.remarks.sizes import sizes
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import filtered, if_, is_not_null
from sqlanon.sql.build.names import alias, column


@dataclass(frozen=True)
class ClassFigures:
    """Of the `classes` of a release, `single` have one row; the others are those of several rows.

    `alike` says of a column how many of the others have one value of it, `known_alike` how many have one value and
    NULL. One class in `one_in` was looked at.
    """

    classes: int
    single: int
    alike: Mapping[str, int]
    known_alike: Mapping[str, int]
    one_in: int = 1


def class_figures(
    engine: Engine, rows: exp.Table | exp.Subquery, number: int, keys: Sequence[str], columns: Sequence[str]
) -> ClassFigures:
    """The figures of a release that has this number of rows, whose classes are told apart by the values of `keys`."""
    one_in = -(-number // sizes().sample_rows) if number > sizes().sample_rows else 1
    # What is the same in all rows of a class, NULL included, has one hash.
    ends = [(f.min(_hash(column(name))), f.max(_hash(column(name)))) for name in columns]
    same = [alias(low.eq(high), f"same_{index}") for index, (low, high) in enumerate(ends)]
    same += [alias(_known_alike(column(name)), f"known_{index}") for index, name in enumerate(columns)]
    grouped = exp.select(alias(f.count(), "n"), *same).from_(rows)
    if keys:
        grouped = grouped.group_by(*(column(name) for name in keys))
        if one_in > 1:
            grouped = grouped.where((_hash(*(column(name) for name in keys)) % one_in).eq(0))
    several = column("n") > 1
    alike = [
        filtered(f.count(), exp.and_(several.copy(), column(f"{figure}_{index}")))
        for figure in ("same", "known")
        for index in range(len(columns))
    ]
    query = exp.select(f.count(), filtered(f.count(), column("n").eq(1)), *alike).from_(
        grouped.subquery("class", copy=False), copy=False
    )
    classes, single, *counts = map(int, engine.rows(query)[0])
    same_value, known_value = (
        dict(zip(columns, part, strict=True)) for part in (counts[: len(columns)], counts[len(columns) :])
    )
    return ClassFigures(classes, single, same_value, known_value, one_in)


def _known_alike(value: exp.Expr) -> exp.Expr:
    """Whether some rows of a class have no value, and the others one."""
    known = if_(is_not_null(value.copy()), _hash(value))
    return exp.and_(f.min(known).eq(f.max(known.copy())), f.count(value.copy()) < f.count())


def _hash(*values: exp.Expr) -> exp.Expr:
    return f.call("hash", *values)
