"""The cells that several candidates of a frontier are chosen from: encoded once for all of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from decimal import Decimal

from sqlanon.domain.requests import ReleaseRequest
from sqlanon.domain.values import QualifiedName, Value
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import PolicyError, PrivacyViolation
from sqlanon.release.pipeline.encode import keep_cells
from sqlanon.release.pipeline.run import encoded
from sqlanon.release.pipeline.stages import KeptCells
from sqlanon.statements.frontiers._sweep import Candidate


def cells_of_candidates(
    engine: Engine, candidates: Sequence[Candidate], name: QualifiedName, scratch: Scratch
) -> KeptCells:
    """The cells of candidates that differ in numbers alone, in tables that live as long as `scratch`.

    `name` is what a candidate would be called. What cannot be encoded is left out: why is said of the candidate.
    """
    shared_cells: KeptCells = {}
    alike: dict[object, list[Candidate]] = defaultdict(list)
    for each in candidates:
        alike[_shape(each)].append(each)
    for first, *others in alike.values():
        if not others:
            continue
        create = ReleaseRequest("table", name, first.policy.name, first.method)
        with suppress(PolicyError, PrivacyViolation), engine.transaction():
            keep_cells(encoded(engine, create, first.policy, scratch, shared_cells))
    return shared_cells


def _shape(each: Candidate) -> object:
    """What candidates have in common that are chosen from the same cells, as far as their statements tell.

    Whether they are is found out when a candidate is made: this only says for which of them it is worth while.
    """
    method, policy = each.method, each.policy
    requirements = tuple((r.model, _without_numbers(r.arguments)) for r in policy.requirements)
    of_method = (method.name, _without_numbers(method.arguments), method.sets, method.columns, method.each_apart)
    return policy.attributes, requirements, of_method


def _without_numbers(arguments: Iterable[tuple[str, Value]]) -> tuple[tuple[str, Value], ...]:
    return tuple((name, "" if isinstance(value, int | float | Decimal) else value) for name, value in arguments)
