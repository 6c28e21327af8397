"""The classes of nodes that violate requirements, described without any value that tells of a single respondent."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.domain.bound import BoundPolicy
from sqlanon.domain.explanation import Violated
from sqlanon.engines.base import Engine, Query
from sqlanon.methods.shared.cells import Cells
from sqlanon.methods.shared.lattice.batch_sql import Batch
from sqlanon.methods.shared.lattice.node_summary_sql import class_label, violated_classes
from sqlanon.methods.shared.lattice.remaining import Node
from sqlanon.sql.build.steps import Step
from sqlanon.sql.classes.guard import violations
from sqlanon.sql.classes.requirement import relation_names
from sqlanon.sql.questions.ask import BoundRequirement

# A class as the words of its key.
Key = tuple[int, ...]

# A class as a release would show it: columns, each with the text of its label.
Label = tuple[tuple[str, str], ...]

# The most labels in one statement.
_TOGETHER = 64

# Every excess is at most the rows of its class, but for what withholding cannot cure; each is rounded.
_ROUNDING = 1.0


def violated(
    engine: Engine,
    batch: Batch,
    requirements: Sequence[BoundRequirement],
    steps: Sequence[Step],
    parameters: Sequence[object] = (),
) -> dict[int, tuple[int, list[tuple[Violated, Key]]]]:
    """What classes violate by themselves, by the index of the node; a node without such classes is left out.

    It is the number of rows of all these classes, and each requirement that some violate with the key of the
    smallest: first what cannot be cured, then by their rows. `steps` make the normal
    relations of the nodes.
    """
    names = relation_names(requirements)
    statements: list[exp.Query] = [r.statement("violations", n) for r, n in zip(requirements, names, strict=True)]
    if len(statements) > 1:
        statements.append(violations(requirements, names))
    respondents = {
        number: names[number]["equivalence_class"]
        for number, requirement in enumerate(requirements)
        if batch.entity and requirement.counts_respondents
    }
    query = violated_classes(steps, statements, batch.index, batch.key, batch.layout.words, respondents)
    by_node: dict[int, list[tuple[Violated, Key]]] = {}
    total: dict[int, int] = {}
    for number, index, rows, classes, excess, people, size, *key in sorted(engine.rows(query, parameters)):
        # The last statement asks about all requirements at once.
        if number == len(statements) - 1:
            total[int(index)] = int(rows)
        if number < len(requirements):
            curable = float(excess) <= int(rows) + _ROUNDING
            of = requirements[number]
            violation = Violated(
                str(of), int(rows), int(classes), int(size), curable=curable, on=of.on, respondents=int(people) or None
            )
            by_node.setdefault(int(index), []).append((violation, tuple(map(int, key))))
    return {
        index: (total[index], sorted(pairs, key=lambda pair: (pair[0].curable, -pair[0].rows)))
        for index, pairs in by_node.items()
    }


def labels(
    engine: Engine, policy: BoundPolicy, cells: Cells, classes: Sequence[tuple[Node, Key, Sequence[str]]]
) -> list[Label]:
    """Each class of a node as a release would show it, by some of the columns if these are named.

    It lacks the columns that would be `*` for every class, and those that would
    be kept as they are, whose values tell of a respondent.
    """
    wanted: dict[tuple[int, int], exp.Select] = {}
    for number, (node, key, on) in enumerate(classes):
        for index, (bound, level) in enumerate(zip(policy.quasi_identifiers, node, strict=True)):
            if 0 < level < bound.height and (not on or bound.attribute.name in on):
                tree, fields = cells.trees[index], cells.layout.fields[index]
                wanted[number, index] = class_label(bound, level, tree, fields, key)
    texts: list[object] = []
    queries = list(wanted.values())
    for first in range(0, len(queries), _TOGETHER):
        chosen: Query = exp.select(*(query.subquery() for query in queries[first : first + _TOGETHER]))
        texts += engine.rows(chosen)[0]
    by_class: list[list[tuple[str, str]]] = [[] for _ in classes]
    for (number, index), text in zip(wanted, texts, strict=True):
        by_class[number].append((policy.quasi_identifiers[index].column, "NULL" if text is None else str(text)))
    return [tuple(label) for label in by_class]
