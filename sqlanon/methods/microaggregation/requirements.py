"""Checks requirements on sensitive values of the groups, which are made by size and distance alone."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.domain.numbers import counted
from sqlanon.errors import PrivacyViolation
from sqlanon.methods.microaggregation.groups import Groups
from sqlanon.methods.shared.task import Task
from sqlanon.sources.requirement_columns import listed_taxonomy
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.build.queries import select, subquery
from sqlanon.sql.build.sql_files import filled_query
from sqlanon.sql.build.steps import with_steps
from sqlanon.sql.cells.labels import published_value
from sqlanon.sql.classes.guard import violations
from sqlanon.sql.classes.normal_relations import Background, relations_of, sensitive_values
from sqlanon.sql.classes.rows import Rows

_RESPONDENT = "respondent"


def require_satisfied(task: Task, groups: Groups, k: int) -> None:
    """Raises PrivacyViolation if the rows of a group violate a requirement that groups of k rows do not guarantee."""
    open_ones = {
        index: requirement for index, requirement in enumerate(task.requirements) if not requirement.satisfied_by(k)
    }
    if not open_ones or not groups.rows:
        return
    requirements = list(open_ones.values())
    sensitive = {bound.column: f"value_{index}" for index, bound in enumerate(task.policy.counted)}
    rows = Rows(
        subquery(_rows(task, groups, sensitive), "member"),
        keys=(column("class_id"),),
        class_id=column("class_id"),
        columns={name: column(value) for name, value in sensitive.items()},
        entity=None if task.policy.entity is None else column(_RESPONDENT),
    )
    background = Background(
        taxonomies={
            bound.column: listed_taxonomy(task.engine, task.policy, bound, requirements, task.temp)
            for bound in task.policy.counted
        },
        ranges={index: select(exp.Star(), of=relation(table)) for index, table in task.policy.ranges},
    ).at(list(open_ones))
    steps = [*relations_of(rows, requirements, background), *sensitive_values(requirements)]
    query = select(f.count(), f.sum(column("size")), of=subquery(violations(requirements), "violation"))
    ((classes, size),) = task.engine.rows(with_steps(query, steps))
    if not classes:
        return
    least = max(requirement.least_rows for requirement in requirements)
    raise PrivacyViolation(
        f"{', '.join(map(str, requirements))} cannot be met: {counted(int(classes), 'group')} with "
        f"{counted(int(size), 'row')} would violate it, because groups are formed by size and distance only; nothing "
        "was published",
        hint=f"write k => {least}" if least > k else "use METHOD mondrian, which checks all requirements at each cut",
    )


def _rows(task: Task, groups: Groups, sensitive: dict[str, str]) -> exp.Query:
    """SELECT of class_id and the sensitive values of each row."""
    values = [alias(published_value(bound, "source"), sensitive[bound.column]) for bound in task.policy.counted]
    if (entity := task.policy.entity) is not None:
        values.append(alias(column(entity.column, "source"), _RESPONDENT))
    text = """
        SELECT region.class AS class_id, $values
        FROM source
        JOIN row_regions AS numbered ON source.rowid = numbered.row
        JOIN regions AS region ON region.region = numbered.region
    """
    tables = {"source": relation(task.policy.relation)}
    tables |= {"row_regions": relation(groups.row_regions), "regions": relation(groups.regions)}
    return filled_query(text, tables=tables, values=values)
