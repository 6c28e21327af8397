"""What the join of two releases comes to in what is required of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp

from sqlanon.domain.identifiers import fold, nearest
from sqlanon.domain.release import ReleaseAttribute
from sqlanon.domain.report import Measurement
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError, UserError, about
from sqlanon.sources.joins.requirements import JoinedRequirement
from sqlanon.sql.build.expressions import union_all
from sqlanon.sql.build.names import alias, column, literal
from sqlanon.sql.build.steps import with_steps
from sqlanon.sql.classes.joined import joined

# The rows of a side by the shared columns, and by those of its own that are named.
Counted = Callable[[Sequence[str]], exp.Query]
# For each column of X, and then that of Y, the side that has it.
Owners = tuple[int, ...]
_Columns = Mapping[str, ReleaseAttribute] | Mapping[str, str]


def owners(requirement: JoinedRequirement, names: Sequence[QualifiedName], columns: Sequence[_Columns]) -> Owners:
    """Which of two releases has each column that a requirement names.

    `names` are the releases, and `columns` theirs by folded names. Raises UserError for a column that neither has,
    PolicyError where one has them all.
    """
    with about("requirement", requirement.question_name):
        found_in: list[int] = []
        for name in (*requirement.x, requirement.y):
            holders = [i for i, known in enumerate(columns) if fold(name) in known]
            if len(holders) > 1:
                raise PolicyError(
                    f"both {names[0]} and {names[1]} have a column {name}, and each may show another label of it",
                    hint="name columns that one of them alone has: a query, ON (SELECT ... AS ...), gives another name",
                )
            if not holders:
                every_name = [other for known in columns for other in known]
                raise UserError(f"neither release has a column {name}", hint=nearest(name, every_name))
            found_in.append(holders[0])
        if len(set(found_in)) == 1:
            raise PolicyError(
                f"x and y are columns of {names[found_in[0]]} alone, which its own requirements are about",
                hint="let one of them be a column that only the other release has",
            )
    return tuple(found_in)


def measured(
    engine: Engine,
    requirements: Sequence[JoinedRequirement],
    owner_lists: Sequence[Owners],
    sides: Sequence[Counted],
    keys: int,
) -> tuple[Measurement, ...]:
    """What is reached of each requirement by two sides with so many shared columns, which `owner_lists` says who has.

    Requirements of the same X and Y read one join.
    """
    together: dict[tuple[tuple[str, ...], str], list[int]] = {}
    for index, requirement in enumerate(requirements):
        together.setdefault((tuple(map(fold, requirement.x)), fold(requirement.y)), []).append(index)
    measurements: dict[int, Measurement] = {}
    for indexes in together.values():
        join = _join(requirements[indexes[0]], owner_lists[indexes[0]], sides, keys)
        figures = [
            exp.select(alias(literal(index), "place"), column("achieved"), column("satisfied")).from_(
                requirements[index].statistic.statement("figures", {"joined": "joined"}).subquery("figures")
            )
            for index in indexes
        ]
        query = exp.select(exp.Star()).from_(union_all(figures).subquery("reached"))
        for index, achieved, satisfied in engine.rows(with_steps(query, [("joined", join)])):
            of = requirements[int(index)]
            reached = None if achieved is None else float(achieved)
            measurements[int(index)] = Measurement(of.question_name, of.y, of.required, reached, bool(satisfied))
    return tuple(measurements[index] for index in range(len(requirements)))


def _join(requirement: JoinedRequirement, of_columns: Owners, sides: Sequence[Counted], keys: int) -> exp.Select:
    """joined(x, y, n) of a requirement."""
    names: list[list[str]] = [[], []]
    columns: list[tuple[int, int]] = []
    for name, side in zip((*requirement.x, requirement.y), of_columns, strict=True):
        columns.append((side, len(names[side])))
        names[side].append(fold(name))
    counted = [side(of_side) for side, of_side in zip(sides, names, strict=True)]
    return joined(counted, keys, columns[:-1], columns[-1])
