"""Refuses sources in which respondents have several rows, for methods whose buckets count rows."""

from __future__ import annotations

from sqlanon.domain.numbers import counted
from sqlanon.errors import PolicyError
from sqlanon.methods.shared.task import Task
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import is_null
from sqlanon.sql.build.names import column, literal, relation
from sqlanon.sql.build.queries import select, subquery

__all__ = ["require_one_row_each"]


# The hint for a source with several rows of a respondent.
ONE_ROW_EACH = (
    "make the policy ON a query with one row of each respondent, ON (SELECT ...), or use METHOD generalization"
)


def require_one_row_each(task: Task, method: str, hint: str = ONE_ROW_EACH, row: str = "row") -> None:
    """Raises PolicyError if a respondent of the policy's ENTITY has several rows, or a row has no respondent.

    Without an ENTITY each row counts as a respondent. `row` is the word for a row in the errors.
    """
    entity = task.policy.entity
    if entity is None:
        return
    source, whose = relation(task.policy.relation), column(entity.column)
    ((nobody,),) = task.engine.rows(select(f.count(), of=source, where=[is_null(whose)]))
    if nobody:
        raise PolicyError(
            f"{task.policy.policy}: {counted(int(nobody), row)} {'has' if nobody == 1 else 'have'} no "
            f"{entity.column}, and {method} takes one {row} of each",
            hint=f"leave out the {row}s without it, ON (SELECT ... WHERE {entity.column} IS NOT NULL)",
            part=("column", entity.column),
        )
    several = select(whose, of=source, group_by=[whose], having=f.count() > literal(1))
    ((number,),) = task.engine.rows(select(f.count(), of=subquery(several, "several")))
    if number:
        raise PolicyError(
            f"{task.policy.policy}: {counted(int(number), 'respondent')} {'has' if number == 1 else 'have'} several "
            f"rows, and {method} takes one {row} of each {entity.column}",
            hint=hint,
            part=("column", entity.column),
        )
