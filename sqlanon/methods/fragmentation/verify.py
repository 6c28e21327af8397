"""What a release of fragments keeps apart, recomputed from its tables alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.domain.policy import Policy
from sqlanon.domain.report import Measurement
from sqlanon.domain.values import Value
from sqlanon.engines.base import Engine
from sqlanon.errors import InternalError, PrivacyViolation
from sqlanon.methods.fragmentation import loose
from sqlanon.methods.fragmentation.association.block_grids import grid
from sqlanon.methods.fragmentation.association.looseness import looseness
from sqlanon.methods.fragmentation.association.looseness_sql import PublishedAssociation, PublishedFragment
from sqlanon.methods.fragmentation.constraints import Sets, constraints_of, publishable
from sqlanon.methods.fragmentation.minimal_fragmentation import broken
from sqlanon.methods.fragmentation.tables import ASSOCIATION, GROUP

__all__ = [
    "FRAGMENTATION",
    "K_LOOSENESS",
    "LEFT_OUT",
    "Tables",
    "kept_apart",
    "left_out",
    "recorded_left_out",
    "require_kept",
]

FRAGMENTATION = "fragmentation"
K_LOOSENESS = "k_looseness"
LEFT_OUT = "left_out"

# The tables of a release by what stands behind its name, in their order.
Tables = Mapping[str, exp.Table | exp.Subquery]


def kept_apart(
    engine: Engine,
    policy: Policy,
    arguments: Sequence[tuple[str, Value]],
    tables: Tables,
    *,
    as_grids: bool = False,
) -> list[Measurement]:
    """How many of the policy's sets a release keeps, and how loose its association is, if it has one.

    `arguments` are those of its method. With `as_grids`, for DuckDB only, tables that are as the method lays them out
    are looked at once; others, and all without it, pair of groups by pair.
    """
    columns = {name: _columns(engine, table) for name, table in tables.items()}
    groups = columns.pop(ASSOCIATION, None)
    if groups is None:
        return [_fragmentation(policy, list(columns.values()))]
    fragments = tuple(
        PublishedFragment(tables[name], tuple(one for one in own if one != GROUP), GROUP)
        for name, own in columns.items()
    )
    published = PublishedAssociation(tables[ASSOCIATION], tuple(groups), fragments)
    return [
        _fragmentation(policy, [fragment.attributes for fragment in fragments]),
        _looseness(engine, policy, arguments, published, as_grids),
    ]


def require_kept(
    engine: Engine,
    policy: Policy,
    arguments: Sequence[tuple[str, Value]],
    tables: Tables,
    name: object,
    done: str = "published",
) -> list[Measurement]:
    """What `kept_apart` finds of tables that are not `done` yet.

    Raises PrivacyViolation where they break a constraint or are less loose than promised, InternalError where
    they have other numbers of rows.
    """
    found = kept_apart(engine, policy, arguments, tables, as_grids=True)
    for one in found:
        if not one.satisfied:
            raise PrivacyViolation(
                f"{name} would violate {one.question}: it reaches {one.achieved} of {one.required}; nothing was {done}"
            )
    count = exp.Count(this=exp.Star())
    rows = {int(engine.rows(exp.select(count.copy()).from_(table.copy()))[0][0]) for table in tables.values()}
    if len(rows) > 1:
        raise InternalError(f"the tables of {name} have other numbers of rows; nothing was {done}")
    return found


def left_out(kept: Sequence[Measurement], rows: int, alike: int) -> list[Measurement]:
    """Of how many of the rows in no table one at most is alike in a CONFIDENTIAL set, and of how many it has to be.

    `kept` is what the tables keep apart, `alike` how many of these `rows` are alike at most. There is none without an
    association, where all rows are published.
    """
    return [_of_left_out(one.required, rows / alike if alike else None, rows) for one in _looseness_of(kept)]


def recorded_left_out(kept: Sequence[Measurement], recorded: Sequence[Measurement], rows: int) -> list[Measurement]:
    """What was recorded of the rows left out when the release was made: its tables cannot tell.

    It is not satisfied where rows were left out and nothing is recorded of them, or was asked for another k.
    """
    found: list[Measurement] = []
    for one in _looseness_of(kept):
        known = [m.achieved for m in recorded if m.question == LEFT_OUT and m.required == one.required]
        found.append(_of_left_out(one.required, known[0] if known else None, rows))
    return found


def _looseness_of(kept: Sequence[Measurement]) -> list[Measurement]:
    return [one for one in kept if one.question == K_LOOSENESS]


def _of_left_out(required: float | None, achieved: float | None, rows: int) -> Measurement:
    met = not rows or required is None or (achieved is not None and achieved >= required)
    return Measurement(LEFT_OUT, None, required, achieved, met)


def _columns(engine: Engine, table: exp.Table | exp.Subquery) -> list[str]:
    return [name for name, _ in engine.columns(exp.select(exp.Star()).from_(table.copy()))]


def _fragmentation(policy: Policy, fragments: Sets) -> Measurement:
    """How many of the CONFIDENTIAL and VISIBLE sets the fragments keep, of how many."""
    names = publishable(policy)
    kept = [not broken(fragments, names, [one]) for one in policy.confidential]
    kept += [not broken(fragments, names, [], [one]) for one in policy.visible]
    return Measurement(FRAGMENTATION, None, float(len(kept)), float(sum(kept)), bool(kept) and all(kept))


def _looseness(
    engine: Engine,
    policy: Policy,
    arguments: Sequence[tuple[str, Value]],
    published: PublishedAssociation,
    as_grids: bool,
) -> Measurement:
    """How loose the association is, and how loose it has to be. Where no constraint lies across fragments, neither."""
    constraints = constraints_of(policy)
    fragments = [fragment.attributes for fragment in published.fragments]
    given = loose.options(arguments)
    asked = loose.required(fragments, constraints, given)
    found = looseness(engine, published, constraints, grid(given.sizes(len(fragments))) if as_grids else None)
    return Measurement(
        question=K_LOOSENESS,
        attribute=None,
        required=None if asked is None else float(asked),
        achieved=None if found.k is None else float(found.k),
        # Without rows there is no group that could be linked to too few.
        satisfied=found.heterogeneous and (asked is None or found.k is None or found.k >= asked),
    )
