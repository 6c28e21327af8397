"""What the rows that a generalization leaves out have in common: a reader who does not find somebody may learn it."""

from __future__ import annotations

from collections.abc import Iterator

from sqlanon.domain.explanation import CommonValue
from sqlanon.methods.shared.lattice.node_evaluator import Nodes
from sqlanon.methods.shared.lattice.node_rows_sql import most_of_withheld
from sqlanon.methods.shared.lattice.remaining import Node
from sqlanon.methods.shared.task import Task
from sqlanon.sql.build.steps import with_steps
from sqlanon.sql.classes.requirement import relation_names


def common_values(task: Task, nodes: Nodes, node: Node) -> tuple[CommonValue, ...]:
    """How frequent a value is among the rows left out, for each sensitive attribute that a requirement is about."""
    common: list[CommonValue] = []
    for attribute, values in _single_attributes(task):
        query = with_steps(most_of_withheld(values), nodes.steps(node))
        shares = {bool(gone): (int(rows), int(most)) for gone, rows, most in task.engine.rows(query)}
        if True in shares:
            common.append(CommonValue(attribute, *shares[True], *shares.get(False, (0, 0))))
    return tuple(common)


def _single_attributes(task: Task) -> Iterator[tuple[str, str]]:
    """The attributes that a requirement is about alone, each once, with the relation of their values by class."""
    seen: set[str] = set()
    for requirement, names in zip(task.requirements, relation_names(task.requirements, whole=True), strict=True):
        values = names.get("class_sensitive_value")
        if values and len(requirement.attributes) == 1 and requirement.attributes[0] not in seen:
            seen.add(requirement.attributes[0])
            yield requirement.attributes[0], values
