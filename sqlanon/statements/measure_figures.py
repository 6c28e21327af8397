"""MEASURE release WITH FIGURES: what a release comes to against its source, without a workload."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sqlanon.domain.identifiers import fold, nearest
from sqlanon.domain.release import Release
from sqlanon.engines.base import Engine
from sqlanon.errors import UserError, about
from sqlanon.statements.membership import membership

__all__ = ["FIGURES", "measure_figures"]

Figures = list[tuple[str, float | None]]

# What can be measured, by its name.
FIGURES: Mapping[str, Callable[[Engine, Release], Figures]] = {"membership": membership}


def require_figures(names: Sequence[str]) -> None:
    """Raises UserError, with the names that there are, for figures that nobody knows."""
    for name in names:
        if fold(name) not in FIGURES:
            with about("figures", name):
                raise UserError(
                    f"there are no figures {name!r}",
                    hint=nearest(name, [*FIGURES]) or f"there are: {', '.join(FIGURES)}",
                )


def measure_figures(engine: Engine, release: Release, names: Sequence[str]) -> Figures:
    """The figures of these names, each with its value; raises UserError as they do, and for a name that is unknown."""
    require_figures(names)
    return [figure for name in dict.fromkeys(map(fold, names)) for figure in FIGURES[name](engine, release)]
