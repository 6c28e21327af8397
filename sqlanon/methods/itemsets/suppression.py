"""Searches for items to suppress: leaves items of violating sets out of all lists until no set violates.

Xu, Wang, Fu and Yu, Anonymizing transaction databases for publication (2008).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from sqlanon.domain.context import Adjustable
from sqlanon.domain.numbers import counted
from sqlanon.errors import PolicyError, PrivacyViolation
from sqlanon.methods.itemsets.lists import CodedLists, code_table, sensitive_list
from sqlanon.methods.shared.task import Task
from sqlanon.sources.column_types import most_items
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import union_all, window
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, select, subquery
from sqlanon.sql.build.render import drop
from sqlanon.sql.build.sql_files import Relation, filled, filled_query, filled_select, query_file, reading
from sqlanon.sql.classes.itemsets import counted_sets, sets_with_values
from sqlanon.sql.questions.ask import BoundRequirement

# Sets are judged one by one. Leaving out an item removes the sets that have it, and changes no other set. So each item
# that violates by itself is left out, and at least one item of each larger set that violates. A set with a smaller
# violating subset adds nothing. The remaining sets, minimal moles in the paper, are hit by the items that are in most
# of them for each lost occurrence: MM(e) / IL(e) in the paper.


@dataclass(frozen=True)
class Sizes:
    """The limit of the search: it holds at most `most_sets` minimal violating sets in memory."""

    most_sets: int = 20_000_000


sizes = Adjustable(Sizes())


@dataclass(frozen=True)
class Suppression:
    """The codes of the published items, and three numbers: the number of items that violate by themselves, of the
    larger minimal violating sets, and of the items left out because of these sets.
    """

    published: frozenset[int]
    alone: int
    sets: int
    for_sets: int


def suppress(task: Task, lists: CodedLists) -> Suppression:
    """Chooses the items to leave out, and deletes them from the table `lists.labelled`.

    Raises PrivacyViolation if a whole class violates, which no suppression of items cures, and PolicyError for more
    violating sets than the search holds.
    """
    sets = _Sets(task, lists)
    _require_whole(task, sets)
    most = max(most_items(requirement) for requirement in task.requirements)
    alone = [int(code) for (code,) in sets.violating(1)]
    sets.leave_out(alone)
    larger: list[NDArray[np.int64]] = []
    for items in range(2, most + 1):
        larger.append(sets.violating(items))
        if task.watching:
            task.watching("solve", items, most, f"{sum(map(len, larger)):,} sets of up to {items} items violate")
    chosen = hitting_set(larger, [node.occurrences for node in lists.tree.nodes])
    sets.leave_out(chosen)
    published = frozenset(lists.tree.items).difference(alone, chosen)
    return Suppression(published, len(alone), sum(map(len, larger)), len(chosen))


def hitting_set(sets: Sequence[NDArray[np.int64]], costs: Sequence[int]) -> list[int]:
    """Returns codes that hit each set, chosen greedily by the number of sets that a code hits, divided by its cost.

    `sets` has an array for each size of sets, with a row of codes for each set. If several codes are equally good, the
    first is chosen. Codes whose sets are all hit by other codes are dropped again, the most costly first.
    """
    codes = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *(each.ravel() for each in sets)]))
    if not len(codes):
        return []
    # In a set that is smaller than the largest, the last places hold no code.
    width, nothing = max(each.shape[1] for each in sets), len(codes)
    members = np.full((sum(map(len, sets)), width), nothing)
    first = 0
    for each in sets:
        members[first : first + len(each), : each.shape[1]] = np.searchsorted(codes, each)
        first += len(each)
    by_code = np.argsort(members, axis=None, kind="stable") // width
    hits = _counted(members, nothing)
    ends = np.cumsum(hits)
    of_code = [by_code[end - number : end] for end, number in zip(ends, hits, strict=True)]
    cost = np.array([costs[code] for code in codes])
    is_open = np.ones(len(members), dtype=bool)
    chosen: list[int] = []
    while hits.any():
        best = int(np.argmax(hits / cost))
        newly = of_code[best][is_open[of_code[best]]]
        is_open[newly] = False
        hits = hits - _counted(members[newly], nothing)
        chosen.append(best)
    times = np.isin(members, chosen).sum(axis=1)
    for code in sorted(chosen, key=lambda code: (-cost[code], code)):
        if (times[of_code[code]] > 1).all():
            times[of_code[code]] -= 1
            chosen.remove(code)
    return sorted(int(codes[code]) for code in chosen)


def _counted(members: NDArray[np.int64], nothing: int) -> NDArray[np.int64]:
    """Returns the number of sets that contain each code; `nothing` is the number that pads sets, and is above all
    codes.
    """
    return np.bincount(members.ravel(), minlength=nothing + 1)[:nothing]


class _Sets:
    """The sets of items of the lists, judged by the requirements' own statements as if each set were a class."""

    def __init__(self, task: Task, lists: CodedLists) -> None:
        self._task, self._lists = task, lists
        names = dict.fromkeys(name for requirement in task.requirements for name in requirement.attributes)
        self._sensitive = {name: task.temp.table("sensitive", _sensitive(task, lists, name)) for name in names}
        self._smaller: dict[int, str] = {}
        self._number = 0

    def violating(self, items: int) -> NDArray[np.int64]:
        """Returns the codes of each set of `items` items that violates a requirement in some class, in one row for each
        set.

        Sets with a smaller violating subset are left out, so sizes must be asked in increasing order from 1.
        """
        names = [f"code_{position}" for position in range(items)]
        asking = [requirement for requirement in self._task.requirements if most_items(requirement) >= items]
        judged = [self._judged(requirement, items) for requirement in asking]
        pairs = zip(asking, judged, strict=True)
        queries = [_violations(requirement, table, names).distinct() for requirement, table in pairs]
        for size, table in self._smaller.items():
            for part in combinations(names, size):
                queries = [query.where(_lacks(table, part)) for query in queries]
        minimal_sets, number = self._task.temp.counted_table("violating", union_all(queries, distinct=True))
        for table in judged:
            self._task.engine.run(drop("TABLE", relation(table), exists=True))
        self._number += number
        if self._number > sizes().most_sets:
            raise PolicyError(
                f"{self._number:,} sets of up to {counted(items, 'item')} violate the requirements, and search => "
                f"'suppress' takes no more than {sizes().most_sets:,}",
                hint="leave rare items out in a query, ON (SELECT ...), or require less",
            )
        if items > 1:
            self._smaller[items] = minimal_sets
        arrays = self._task.engine.arrays(select(*map(column, names), of=relation(minimal_sets)))
        return np.stack([np.asarray(arrays[name], dtype=np.int64) for name in names], axis=1)

    def violating_classes(self, requirement: BoundRequirement) -> list[tuple[int, int]]:
        """Returns for each class that violates by itself the number of rows, and the greatest number of rows that share
        one sensitive item.
        """
        query = _violations(requirement, self._judged(requirement, 0), ["n", "most"])
        return [(int(n), int(most)) for n, most in self._task.engine.rows(query)]

    def leave_out(self, codes: Sequence[int]) -> None:
        """Deletes items from the lists."""
        table = code_table(self._task.temp, "suppressed", {"code": ("BIGINT", codes)})
        gone = column("code").isin(query=select(column("code"), of=relation(table)))
        self._task.engine.run(exp.delete(relation(self._lists.labelled), where=gone))

    def _judged(self, requirement: BoundRequirement, items: int) -> str:
        """Makes the table of all sets of `items` items, each as a class: class_id, size, items, n, most, code_0, ...;
        returns its name.
        """
        labelled = relation(self._lists.labelled)
        if requirement.attributes:
            (name,) = requirement.attributes
            sets: exp.Query = sets_with_values(labelled, relation(self._sensitive[name]), items)
        else:
            sets = counted_sets(labelled, items) if items else _classes(self._lists)
            sets = sets.select(alias(literal(0), "most"))
        of_class = {
            "class_id": window(f.row_number()),
            "size": column("n"),
            "entities": column("n"),
            "items": literal(items),
            "sets": literal(1),
        }
        outputs = [alias(value, name) for name, value in of_class.items()]
        return self._task.temp.table("judged", select(*outputs, exp.Star(), of=subquery(sets, "counted")))


def _violations(requirement: BoundRequirement, judged: str, names: Sequence[str]) -> exp.Select:
    """SELECT of the columns `names` of the sets of items that violate a requirement; `judged` is a table of
    `_Sets._judged`.
    """
    violations = requirement.statement("violations", dict.fromkeys(requirement.reads, judged))
    text = "SELECT {judged.names} FROM sets AS judged WHERE judged.class_id IN (SELECT class_id FROM violations)"
    tables: dict[str, Relation] = {"sets": judged, "violations": violations}
    return filled_select(text, tables=tables, names={"names": names})


def _lacks(smaller: str, names: Sequence[str]) -> exp.Expr:
    """The SQL condition that no set in the table `smaller` equals the columns `names` of a set."""
    codes = [f"code_{index}" for index in range(len(names))]
    text = "NOT EXISTS(SELECT 1 FROM smaller WHERE {smaller.codes} = {judged.names})"
    return reading(filled(text, names={"codes": codes, "names": names}), {"smaller": smaller})


def _classes(lists: CodedLists) -> exp.Query:
    """SELECT of class, n: the number of lists of each class."""
    return filled_query("SELECT class, count(*) AS n FROM lists GROUP BY class", tables={"lists": lists.rows})


def _sensitive(task: Task, lists: CodedLists, name: str) -> exp.Query:
    """SELECT of class, list_id, value: the sensitive items of each list."""
    listed = select(column("class"), column("list_id"), alias(sensitive_list(task, name), "sensitive"))
    return reading(query_file("lists", "sensitive"), {"listed": extend(listed, of=relation(lists.rows))})


def _require_whole(task: Task, sets: _Sets) -> None:
    """Raises PrivacyViolation for classes that violate a requirement even if all items are left out."""
    for requirement in task.requirements:
        violating = sets.violating_classes(requirement)
        if not violating:
            continue
        if (few := [n for n, _ in violating if n < requirement.least_rows]) or not requirement.attributes:
            raise PrivacyViolation(
                f"{counted(len(few), 'class', 'classes')} of the quasi-identifiers beside the list "
                f"{'has' if len(few) == 1 else 'have'} fewer than {requirement.least_rows} rows "
                f"({counted(sum(few), 'row')} in all); nothing was published",
                hint="make these columns coarser in a query, ON (SELECT ...), leave them out, or require a smaller k",
            )
        n, most = max(violating, key=lambda counts: Fraction(counts[1], counts[0]))
        whose = "all" if len(task.policy.quasi_identifiers) == 1 else "a class"
        raise PrivacyViolation(
            f"of the {counted(n, 'list')} of {whose}, {most} hold the same item of {requirement.attributes[0]}, which "
            f"violates {requirement} whatever is left out; nothing was published",
            hint="require less, or make other quasi-identifiers coarser, ON (SELECT ...)",
        )
