"""What the rows of a script take along beside their quasi-identifiers."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.identifiers import free_name
from sqlanon.domain.policy import Role
from sqlanon.sqlgen.build.names import alias, column
from sqlanon.sqlgen.classes.requirement import subjects
from sqlanon.warehouses.plan import ReleasePlan

# The respondent, where some are counted, stands in this column until the rows are checked.
ENTITY = "__sqlanon_entity"


def passing(plan: ReleasePlan) -> list[tuple[int, BoundAttribute]]:
    """The columns that are published as they are, with their numbers."""
    return [(i, b) for i, b in enumerate(plan.bound.published) if b.role is not Role.QUASI_IDENTIFIER]


def requirement_columns(plan: ReleasePlan) -> tuple[str, ...]:
    """The columns that requirements read."""
    return tuple(dict.fromkeys(name for subject in subjects(plan.requirements) for name in subject))


def candidate_entity(plan: ReleasePlan) -> str | None:
    """The candidate's column with the respondent, which is checked and not published; None where rows are counted."""
    if plan.bound.entity is None:
        return None
    return free_name(ENTITY, (name for name, _ in plan.columns))


def other_columns(plan: ReleasePlan, query: exp.Select) -> list[str]:
    """Adds what is published as it is, what requirements read, and the respondent; returns what each is."""
    about: list[str] = []
    for index, bound in passing(plan):
        query.select(alias(column(bound.column, "source"), f"column_{index}"), copy=False)
        about.append(f"column_{index}: {bound.column}, as it is")
    for index, name in enumerate(requirement_columns(plan)):
        query.select(alias(column(name, "source"), f"asked_{index}"), copy=False)
        about.append(f"asked_{index}: {name}, which requirements read")
    if plan.bound.entity:
        query.select(alias(column(plan.bound.entity.column, "source"), ENTITY), copy=False)
        about.append(f"{ENTITY}: {plan.bound.entity.column}, the respondent")
    return about
