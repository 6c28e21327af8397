"""Explains why no node of the lattice meets the requirements, by the class that violates them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.domain.bound import BoundPolicy
from sqlanon.domain.explanation import JoinReached, Violated
from sqlanon.domain.numbers import count_of
from sqlanon.engines.base import Engine, Query
from sqlanon.errors import PrivacyViolation
from sqlanon.methods.shared.lattice.node_rows_sql import Batch
from sqlanon.methods.shared.lattice.node_summary_sql import class_label, violated_classes
from sqlanon.methods.shared.lattice.nodes import Node
from sqlanon.methods.shared.task import Cells, Task
from sqlanon.methods.shared.wording import greatest_met, too_frequent_in
from sqlanon.sql.build.queries import select, subquery
from sqlanon.sql.build.steps import Step
from sqlanon.sql.classes.guard import violations
from sqlanon.sql.classes.rows import relation_names
from sqlanon.sql.questions.ask import BoundRequirement

# The classes of nodes that violate requirements, described without values of a single respondent.


# A class as the words of its key.
Key = tuple[int, ...]

# A class as a release would show it: columns, each with the text of its label.
Label = tuple[tuple[str, str], ...]

# The most labels in one statement.
_TOGETHER = 64

# An excess is at most the rows of its class unless withholding cannot cure the violation; each is rounded.
_ROUNDING = 1.0


def violated(
    engine: Engine,
    batch: Batch,
    requirements: Sequence[BoundRequirement],
    steps: Sequence[Step],
    parameters: Sequence[object] = (),
) -> dict[int, tuple[int, list[tuple[Violated, Key]]]]:
    """Returns, by node index, the violations of the node's classes by themselves; omits nodes without violations.

    The violations are the number of rows in all violating classes, and the violated requirements with the key of their
    smallest class. Requirements that suppression cannot satisfy come first; the others are sorted by rows. `steps` make
    the normal relations of the nodes.
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
    """Labels classes of nodes as a release would, by all columns or by the named ones.

    A label omits columns that would be `*` for every class, and columns with unchanged values, which may identify a
    respondent.
    """
    # Near nodes have the same label in most columns.
    queries: dict[tuple[int, int, Key], exp.Select] = {}
    parts: list[list[tuple[int, int, Key]]] = [[] for _ in classes]
    for of_class, (node, key, on) in zip(parts, classes, strict=True):
        for index, (bound, level) in enumerate(zip(policy.quasi_identifiers, node, strict=True)):
            if 0 < level < bound.height and (not on or bound.attribute.name in on):
                fields = cells.layout.fields[index]
                part = index, level, tuple(key[field.word] & field.mask for field in fields[level:])
                of_class.append(part)
                if part not in queries:
                    queries[part] = class_label(bound, level, cells.trees[index], fields, key)
    texts: list[object] = []
    selects = list(queries.values())
    for first in range(0, len(selects), _TOGETHER):
        chosen: Query = select(*(subquery(query) for query in selects[first : first + _TOGETHER]))
        texts += engine.rows(chosen)[0]
    label_texts = {part: "NULL" if text is None else str(text) for part, text in zip(queries, texts, strict=True)}
    return [
        tuple((policy.quasi_identifiers[part[0]].column, label_texts[part]) for part in of_class) for of_class in parts
    ]


def infeasible(
    engine: Engine,
    policy: BoundPolicy,
    requirements: Sequence[BoundRequirement],
    cells: Cells,
    batch: Batch,
    steps: Sequence[Step],
    limit: int,
) -> PrivacyViolation:
    """The error that names the unmet requirements, and the smallest violating class at the most general levels allowed.

    If that class is all rows, and the requirement is about sensitive values, the error names the most frequent value.
    `steps` make the normal relations of that node.
    """
    violations = violated(engine, batch, requirements, steps)
    if not violations:
        return PrivacyViolation(f"{', '.join(map(str, requirements))} cannot be met; nothing was published")
    broken = [violation for violation, _ in violations[0][1]]
    worst, key = violations[0][1][0]
    node = tuple(bound.max_level for bound in policy.quasi_identifiers)
    worst = replace(worst, label=labels(engine, policy, cells, [(node, key, worst.on)])[0])
    # The value of a smaller class would reveal something about its respondents.
    of_all_rows = [r for r in requirements if str(r) == worst.requirement and worst.smallest == cells.rows]
    values = too_frequent_in(engine, policy, of_all_rows)
    # If the violating rows are within the limit, other classes violate once they are left out.
    later = ", and without them others do" if violations[0][0] <= limit else ""
    return PrivacyViolation(
        f"{_unmet(requirements, broken, limit)} with at most {count_of(limit, cells.rows, 'row')} suppressed: "
        f"at the most general levels allowed, {worst}{values}{later}; nothing was published",
        hint=_hint(policy, worst.on, greatest_met(engine, policy, of_all_rows), spared=violations[0][0] < cells.rows),
    )


def _unmet(requirements: Sequence[BoundRequirement], broken: Sequence[Violated], limit: int) -> str:
    """Names the unmet requirements that alone suppress too many rows, or else all requirements that do so together."""
    alone = [violation for violation in broken if violation.rows > limit or not violation.curable]
    unmet = {violation.requirement for violation in alone or broken}
    names = ", ".join(dict.fromkeys(str(requirement) for requirement in requirements if str(requirement) in unmet))
    return f"{names} cannot be met{' together' if not alone and len(broken) > 1 else ''}"


def infeasible_join(task: Task, broken: Sequence[JoinReached], limit: int) -> PrivacyViolation:
    """The error for classes that meet the requirements while the join with another release does not.

    `broken` are the violated requirements of the join at the most general levels. Other levels may reach lower or
    higher values.
    """
    rows = task.encoded.rows
    comes_to = ", ".join(f"{reached.requirement} comes to {reached.figure}" for reached in broken)
    return PrivacyViolation(
        f"no levels that were looked at meet what is required with at most {count_of(limit, rows, 'row')} suppressed: "
        f"at the most general ones, joined with {broken[0].other}, {comes_to}; nothing was published",
        hint="ask for less of the join, or allow more levels or more suppression",
    )


def _hint(policy: BoundPolicy, on: Sequence[str], greatest: str | None, *, spared: bool) -> str:
    """Returns advice on an infeasible policy; `greatest` is the greatest value that the whole table meets, if known.

    `spared` is true if suppressing all violating classes leaves some rows. `on` are the quasi-identifiers of the
    classes, empty for all.
    """
    quasi = [b for b in policy.quasi_identifiers if not on or b.attribute.name in on]
    capped = [b.column for b in quasi if b.max_level < b.height]
    if not capped:
        return f"ask for less: {greatest}" if greatest else "the whole table does not meet it: ask for less"
    more = "allow more suppression, or ask for less" if spared else "or ask for less"
    return f"raise MAX LEVEL of {', '.join(capped)}, {more}"
