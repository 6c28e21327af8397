"""Workloads: the aggregate queries by which the error of a release is measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from math import ceil

from sqlanon.domain.identifiers import nearest
from sqlanon.domain.values import QualifiedName, Value
from sqlanon.errors import PolicyError

AGGREGATES = ("count", "sum", "avg")
# The most quasi-identifiers that a query has predicates on, by default.
FEW = 4
_MOST_QUERIES = 100_000
_WORKLOAD = "workload "


def figure_of_workload(name: str) -> str:
    """Returns the name of a workload's figure.

    It contains a space, so no figure of a file under sql/figures/ has this name.
    """
    return _WORKLOAD + name


def workload_of(figure: str) -> str | None:
    """Returns the workload of a figure; None for a figure that is defined in a file."""
    return figure.removeprefix(_WORKLOAD) if figure.startswith(_WORKLOAD) else None


@dataclass(frozen=True)
class WorkloadOptions:
    """CREATE WORKLOAD ... (queries, dimensions, selectivity, aggregate, of, seed).

    A query has a predicate on each of `dimensions` quasi-identifiers (by default on all, up to `FEW`), and on a
    sensitive attribute. `selectivity` is the share of the rows that all predicates together would select if the
    attributes were uniform and independent (Xiao and Tao 2006, Anatomy, section 6). `aggregate` is computed on the
    column `of`, except for count. The same `seed` gives the same queries.
    """

    queries: int = 1000
    dimensions: int | None = None
    selectivity: Decimal = Decimal("0.05")
    aggregate: str = "count"
    of: str | None = None
    seed: int = 1

    def predicates(self, quasi_identifiers: int) -> int:
        """Returns the number of quasi-identifiers on which each query has a predicate."""
        return min(quasi_identifiers, FEW) if self.dimensions is None else self.dimensions

    def values(self, known: int, predicates: int) -> int:
        """Returns the number of an attribute's values, at least one, that each predicate of a query names.

        `known` is the number of all its values, and `predicates` the number of the query's predicates.
        """
        share: float = float(self.selectivity) ** (1 / predicates)
        return min(known, max(1, ceil(known * share)))


def workload_options(arguments: Sequence[tuple[str, Value]]) -> WorkloadOptions:
    """Checks the arguments; raises PolicyError for an argument that is unknown or out of bounds."""
    remaining = dict(arguments)
    defaults = WorkloadOptions()
    options = WorkloadOptions(
        queries=_whole(remaining, "queries", defaults.queries, 1, _MOST_QUERIES),
        dimensions=_whole(remaining, "dimensions", 1, 1, None) if "dimensions" in remaining else None,
        selectivity=_share(remaining.pop("selectivity", defaults.selectivity)),
        aggregate=_aggregate(remaining.pop("aggregate", defaults.aggregate)),
        of=_column(remaining.pop("of", None)),
        seed=_whole(remaining, "seed", defaults.seed, None, None),
    )
    if remaining:
        known, unknown = [field.name for field in fields(options)], next(iter(remaining))
        raise PolicyError(
            f"a workload has no argument {unknown!r}",
            hint=nearest(unknown, known) or f"it has: {', '.join(known)}",
            part=("argument", unknown),
        )
    if (options.of is None) != (options.aggregate == "count"):
        raise PolicyError(
            "a workload of sums or averages needs a column, and a workload of counts takes none",
            hint="write CREATE WORKLOAD w ON POLICY p (aggregate => 'sum', of => salary)",
        )
    return options


def _whole(arguments: dict[str, Value], name: str, default: int, least: int | None, most: int | None) -> int:
    value = arguments.pop(name, default)
    if isinstance(value, bool) or not isinstance(value, int):
        raise PolicyError(f"{name} is a whole number, not {value}")
    if (least is not None and value < least) or (most is not None and value > most):
        raise PolicyError(
            f"{name} is {value}" + (f", and at least {least}" if value < (least or 0) else f": at most {most}")
        )
    return value


def _share(value: Value) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | Decimal) or not 0 < value <= 1:
        raise PolicyError(
            f"selectivity must be a share above 0 and at most 1, not {value}", hint="write selectivity => 0.05"
        )
    return Decimal(value)


def _aggregate(value: Value) -> str:
    if not isinstance(value, str) or value not in AGGREGATES:
        raise PolicyError(
            f"there is no aggregate {str(value)!r}", hint=f"write one of {', '.join(AGGREGATES)}, in quotes"
        )
    return value


def _column(value: Value | None) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, QualifiedName):
        return value.name
    raise PolicyError(f"of must be the name of a column, not {value}")
