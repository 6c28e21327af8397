"""Stage 8: every requirement, recomputed from the rows that are to be published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.domain.report import Measurement, PrivacyReport
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.errors import InternalError, PrivacyViolation
from sqlanon.pipeline.state import State, need
from sqlanon.questions.ask import BoundRequirement
from sqlanon.sqlgen.names import identifier, relation
from sqlanon.sqlgen.normal_relations import equivalence_class_of
from sqlanon.sqlgen.render import to_sql

__all__ = ["Answer", "answer", "check_stage", "report_of"]


@dataclass(frozen=True)
class Answer:
    """What a requirement came to, and the query that returns the classes which violate it."""

    measurement: Measurement
    violations: exp.Select


def answer(engine: Engine, requirement: BoundRequirement, classes: exp.Query) -> Answer:
    """Asks one requirement of the normal relation equivalence_class."""
    offending = requirement.statement("violations").subquery("violations")
    count_of_offending = exp.select(exp.Count(this=exp.Star())).from_(offending)
    # Both questions in one query, so that the classes are counted once.
    both = exp.select(requirement.statement("achieved").subquery(), count_of_offending.subquery())
    achieved, count = engine.rows(both.with_(identifier("equivalence_class"), as_=classes))[0]
    measured = Measurement(
        question=requirement.question.name,
        attribute=None,
        required=requirement.required,
        achieved=None if achieved is None else float(achieved),
        satisfied=count == 0,
    )
    return Answer(measured, requirement.ask("violations", {"equivalence_class": classes}))


def report_of(answers: Sequence[Answer]) -> PrivacyReport:
    return PrivacyReport(tuple(answer.measurement for answer in answers))


def check_stage(state: State) -> State:
    """Checks the candidate. Raises PrivacyViolation, with the query that finds the classes, if a requirement breaks."""
    candidate = need(state.candidate)
    answers = [answer(state.engine, requirement, _classes(state, candidate)) for requirement in state.requirements]
    for requirement, given in zip(state.requirements, answers, strict=True):
        if not given.measurement.satisfied:
            raise PrivacyViolation(
                f"{state.create.name} would violate {requirement}: it reaches {given.measurement.achieved}; "
                "nothing was published",
                query=to_sql(given.violations),
            )
    _require_complete(state)
    return state.having(report=report_of(answers))


def _classes(state: State, candidate: QualifiedName) -> exp.Query:
    bound = need(state.bound)
    if state.create.kind == "view" and bound.entity:
        # A view shows no respondents: its own classes, which count them, stand in.
        return need(state.query).equivalence_class()
    entity = need(state.query).respondent if bound.entity else None
    return equivalence_class_of(relation(candidate), [b.column for b in bound.quasi_identifiers], entity)


def _require_complete(state: State) -> None:
    """The rows published and the rows suppressed make up the source, as the search had it."""
    found = need(state.transformation)
    if state.create.kind == "view" and not need(state.source).stable:
        # A view or a query may answer with other rows than the search had; the guard holds for any.
        return
    if state.released_rows != found.rows - found.suppressed:
        raise InternalError(
            f"{state.create.name} has {state.released_rows} rows where the search keeps {found.rows - found.suppressed}"
            f" of {found.rows}; nothing was published"
        )
