"""The best levels for several tables, by the search of the lattice of all their quasi-identifiers together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import chain

from sqlglot import exp

from sqlanon.domain.choice import Searched
from sqlanon.domain.counts import count_of, counted
from sqlanon.errors import PolicyError, PrivacyViolation
from sqlanon.methods.multirelational.choice import RelatedLevels
from sqlanon.methods.multirelational.nodes import RelatedNodes
from sqlanon.methods.multirelational.tables import published_names
from sqlanon.methods.shared.lattice.timed_search import TimedSearches
from sqlanon.methods.shared.task import Task
from sqlanon.methods.shared.wording import loss_text, nodes_checked
from sqlanon.sources.source import qualified
from sqlanon.sources.target_names import fragment_name, require_free
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import not_
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.build.queries import select
from sqlanon.sql.build.steps import with_steps
from sqlanon.sql.classes.related import HISTORY, VALUES
from sqlanon.sql.questions.known import Known, known_of

_KNOWN = (Known("one_row", 1), Known("m_rows", 2), Known("rows"), Known(VALUES), Known(HISTORY))
# How many sets a plan counts that no requirement asks for.
_SETS_EXPLAINED = 100_000
_IN_WORDS = {
    "one_row": "one row of one table",
    "m_rows": "two rows of one table",
    "rows": "any rows of one table",
    VALUES: "all rows, but not how many are alike",
    HISTORY: "all rows",
}


def best_levels(task: Task, suppression: Decimal, searches: TimedSearches) -> RelatedLevels:
    """The levels of least loss at which the requirements are met. Raises PrivacyViolation where there are none."""
    names = published_names(task.policy.policy)
    if not task.dry:
        require_free(task.engine, qualified(task.engine, task.name), names)
    limit = int(Fraction(suppression) * task.encoded.rows)
    nodes = RelatedNodes(task, limit)
    optimum = searches.best(nodes.lattice, limit, nodes.count, nodes.settle, nodes.loss.value)
    if optimum is None:
        raise _infeasible(task, nodes, limit)
    gone, _ = nodes.left_out(optimum.node)
    is_empty = optimum.suppressed == nodes.people.count
    fewest = tuple(_fewest(task, nodes, optimum.node, gone)) if task.dry and not is_empty else ()
    least = None if optimum.least is None else nodes.loss.value(optimum.least)
    return RelatedLevels(
        levels=optimum.node,
        loss=nodes.loss.value(optimum.loss),
        rows=nodes.people.count,
        suppressed=optimum.suppressed,
        limit=limit,
        searched=Searched(nodes.lattice.size, optimum.checked, optimum.pruned, optimum.proven, least),
        nodes=nodes,
        gone=gone,
        released=dict(zip(names, nodes.people.released(gone), strict=True)),
        fewest=fewest,
    )


def _infeasible(task: Task, nodes: RelatedNodes, limit: int) -> PrivacyViolation:
    """The error that names a requirement and how many people are in its way at the most general levels allowed."""
    node = nodes.lattice.high
    violating = [(nodes.violating(node, known_of(of), [of])[0], of) for of in task.requirements]
    broken = [(people, of) for people, of in violating if people > limit] or [pair for pair in violating if pair[0]]
    names = ", ".join(str(of) for _, of in broken or violating)
    if not broken:
        return PrivacyViolation(f"{names} cannot be met; nothing was published")
    worst = max(broken, key=lambda pair: pair[0])
    requirement = worst[1]
    smallest = nodes.smallest_class(node, known_of(requirement), [requirement])
    capped = [b.column for b in chain(*task.policy.quasi_identifiers_by_table) if b.max_level < b.height]
    known = known_of(requirement)
    # Of overlapping classes people would be counted several times.
    people_in = f"{counted(worst[0], 'person is', 'people are')} in classes that" if known.is_partition else "classes"
    hint = (
        f"raise MAX LEVEL of {', '.join(capped)}"
        if capped
        else "allow more suppression, where knows allows it, or ask for less"
    )
    if known.knows == HISTORY:
        hint += (
            "; with knows => 'history' the number of rows tells people apart, which knows => 'values' takes as unknown"
        )
    return PrivacyViolation(
        f"{names} cannot be met with at most {count_of(limit, nodes.people.count, 'person', 'people')} left out: at "
        f"the most general levels allowed, {people_in} violate {requirement}, the smallest with {smallest}; "
        "nothing was published",
        hint=hint,
    )


def reasons_of(task: Task, choice: RelatedLevels) -> Iterator[tuple[str, str, str]]:
    """Rows of (stage, item, detail): the levels of each table, who is left out, and what each reader could know."""
    names = published_names(task.policy.policy)
    levels = iter(choice.levels)
    for name, attributes in zip(names, task.policy.quasi_identifiers_by_table, strict=True):
        for bound in attributes:
            yield "solve", bound.column, f"level {next(levels)} of {bound.height}, in {name}"
    for name, rows in choice.released.items():
        yield "solve", "table", f"{fragment_name(task.name, name).name}: {counted(rows, 'row')}"
    yield "solve", "suppressed people", f"{choice.suppressed} of {choice.rows}, at most {choice.limit} allowed"
    proof = "proven least" if choice.searched.proven else "the best before the time limit"
    yield "solve", choice.loss_name.replace("_", " "), f"{loss_text(choice.loss)}, {proof}"
    for known, fewest in choice.fewest:
        people = counted(fewest, "person is", "people are")
        yield (
            "solve",
            f"knows => {known.written}",
            f"{people} in the smallest class for who knows {_IN_WORDS[known.knows]}",
        )
    yield "solve", *nodes_checked(choice.searched)


def _fewest(task: Task, nodes: RelatedNodes, node: Sequence[int], gone: str | None) -> Iterator[tuple[Known, int]]:
    """How many people of those who are published are in the smallest class, by what is known."""
    for known in _KNOWN:
        try:
            if not known.is_partition:
                nodes.people.require_countable(known, _SETS_EXPLAINED)
        except PolicyError:
            continue
        rows = nodes.people.rows_at(node, known, [])
        conditions: list[exp.Expr] = []
        if gone is not None:
            conditions.append(not_(column("person").isin(query=select(column("person"), of=relation(gone)))))
        size = alias(f.count(), "size")
        sizes = select(size, of=relation("member"), where=conditions, group_by=[column("class_id")])
        query = select(f.min(column("size")), of=sizes.subquery("of_class"))
        yield known, int(task.engine.rows(with_steps(query, rows.steps))[0][0] or 0)
