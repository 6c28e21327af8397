"""Queries for the summary of a node: the classes that violate a requirement, and the labels of such a class."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.sql.build.expressions import big, union_all
from sqlanon.sql.build.names import column, identifier, literal
from sqlanon.sql.build.sql_files import Relation, filled_query, filled_select, query_file
from sqlanon.sql.build.steps import Step, with_steps
from sqlanon.sql.cells.cells import Field, rank_name
from sqlanon.sql.cells.labels import generalized, level_name, stored_labels

# A function of (class_id, word) that returns the SQL of this word of the key.
Key = Callable[[exp.Expr, int], exp.Expr]

# The violating classes with their respondents.
_ENTITIES = """
    SELECT violation.class_id, violation.size, violation.excess, class.entities
    FROM violation
    JOIN class ON violation.class_id = class.class_id
"""


def violated_classes(
    steps: Sequence[Step],
    violating: Sequence[exp.Query],
    index: Callable[[exp.Expr], exp.Expr],
    key: Key,
    words: int,
    respondents: Mapping[int, str],
) -> exp.Query:
    """SELECT of one row for each requirement and lattice node, if the node has classes that violate the requirement.

    The columns are the requirement's index in `violating`, which are queries of `violations`; the node's index; the
    rows, the number and the excess of the classes; and for the smallest class its respondents, its size and the words
    of its key. `steps` make the relations of the queries. `respondents` has the relation equivalence_class for the
    index of each requirement that counts respondents; for the other requirements, the number of respondents is 0.
    """
    node = index(column("class_id"))
    violated: list[exp.Query] = []
    for number, query in enumerate(violating):
        tables: dict[str, Relation] = {"violation": query}
        if number in respondents:
            tables["violation"] = filled_query(_ENTITIES, tables={**tables, "class": respondents[number]})
        entities = column("entities") if number in respondents else big(literal(0))
        by_node = query_file("lattice", "violated", tables=tables, number=number, index=node, entities=entities)
        violated.append(by_node)
    class_id = exp.Dot(this=column("smallest"), expression=identifier("class_id"))
    text = "SELECT requirement, index, rows, classes, excess, smallest.entities, smallest.size, $words FROM violated"
    keys = [key(class_id.copy(), word) for word in range(words)]
    return with_steps(filled_query(text, tables={"violated": union_all(violated)}, words=keys), steps)


def class_label(
    bound: BoundAttribute, level: int, tree: str, fields: Sequence[Field], key: Sequence[int]
) -> exp.Select:
    """SELECT of one row: the attribute's label at a level below `*`, for the class with these words of the key."""
    above = {at: (key[field.word] & field.mask) >> field.shift for at, field in enumerate(fields) if at >= level}
    # A stored hierarchy lists values of other nodes, too; only values of the class have a count.
    values = filled_query(
        'SELECT value, 1 AS n FROM "{tree}" WHERE {ranks} = $numbers',
        names={"tree": tree, "ranks": [*map(rank_name, above)]},
        numbers=[*above.values()],
    )
    return filled_select(
        "SELECT CAST(min({label}) AS VARCHAR) FROM generalized WHERE n > 0",
        tables={"generalized": generalized(bound, values, stored_labels(bound), counted=True)},
        names={"label": level_name(level) if level else "value"},
    )
