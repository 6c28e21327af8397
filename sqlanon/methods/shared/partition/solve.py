"""Cuts the cells of a policy into regions that no cut can divide any further.

METHOD mondrian publishes these regions; other methods use them because the rows of one region are near each other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.context import Watching
from sqlanon.domain.identifiers import same_name
from sqlanon.domain.numbers import counted
from sqlanon.domain.policy import Role
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.engines.udfs import registered
from sqlanon.errors import PolicyError, PrivacyViolation
from sqlanon.methods.shared.arguments import Kind, argument
from sqlanon.methods.shared.partition.allowable_cuts import root_violations
from sqlanon.methods.shared.partition.cuts import Cuts
from sqlanon.methods.shared.partition.points import Points
from sqlanon.methods.shared.partition.recursion import Partitioned, partition, sizes
from sqlanon.methods.shared.partition.region_labels import Partition, region_loss
from sqlanon.methods.shared.task import Task
from sqlanon.methods.shared.wording import greatest_met, too_frequent_in
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.queries import select
from sqlanon.sql.cells.cells import Field, respondents
from sqlanon.sql.cells.value_ranks import RankedSummary, ancestors, is_numeric, ranked_summaries
from sqlanon.sql.classes.rows import subjects
from sqlanon.sql.questions.ask import BoundRequirement, least_rows

# The columns that distinguish the classes of a region, by sensitive attribute.
Parts = Mapping[str, Sequence[str]]

# The attributes tried in a region are a bit mask, with a bit for each attribute.
MOST_ATTRIBUTES = 62


def _one_of(help: str, default: str, *others: str) -> Any:
    return argument(help, Kind.CHOICE, default=default, choices=(default, *others))


@dataclass(frozen=True)
class Options:
    """METHOD mondrian(mode, split, target, hierarchy, publish, bounds).

    `mode` 'strict' keeps equal values on one side of a cut, and 'relaxed' divides them. `split` 'median' cuts the
    widest attribute at its median, and 'information_gain' cuts at the point that gains most information about the
    column `target`. If `hierarchy` is 'tree', cuts fall only between the children of a node. `publish` is the label of
    a region: the 'range' of its values, their lowest common 'ancestor', their 'centroid', or 'none' for unchanged
    values with the number of their region. `bounds` adds the ends of the ranges as columns of the attribute's type.
    """

    mode: str = _one_of("whether equal values stay on one side of a cut", "strict", "relaxed")
    split: str = _one_of("where a region is cut", "median", "information_gain")
    target: str | None = argument(
        "the column that cuts should predict best",
        Kind.COLUMN,
        default=None,
        example=QualifiedName(("occupation",)),
        needs=("split", "information_gain"),
    )
    hierarchy: str = _one_of("whether cuts fall anywhere, or between the children of a node only", "order", "tree")
    publish: str = _one_of("the published form of a region", "range", "ancestor", "centroid", "none")
    bounds: bool = argument("whether ranges have their ends as columns, too", Kind.FLAG, default=False)


def target_of(policy: BoundPolicy, options: Options) -> BoundAttribute | None:
    """The attribute about which cuts gain information. Raises PolicyError unless the policy publishes it unchanged."""
    if options.target is None:
        return None
    for bound in policy.having(Role.SENSITIVE) + policy.having(Role.INSENSITIVE):
        if same_name(bound.column, options.target):
            return bound
    raise PolicyError(
        f"mondrian: the target {options.target} is not a sensitive or insensitive attribute of {policy.policy.name}"
    )


def _reporter(watching: Watching | None) -> Callable[[int, int], None] | None:
    """Returns a function that reports the numbers of finished and open regions to the observer; None if there is no
    observer.
    """
    if watching is None:
        return None
    return lambda done, cut: watching("solve", done, done + cut, f"{done} regions done, {cut} being cut")


def solve(task: Task, options: Options, points: Points | None = None) -> Partition:
    """Cuts the regions. Raises PrivacyViolation if the whole table violates a requirement and cannot be cut.

    `points` are made by `points_of`, by default with only the columns that requirements need. An observer receives the
    numbers of finished and open regions.
    """
    engine, policy, cells, temp = task.engine, task.policy, task.encoded, task.temp
    points = points or points_of(task, options)
    cuts = cuts_of(task, points, options.hierarchy)
    if points.row:
        with registered(engine, "random_draw") as draw:
            table = temp.table("points", points.made(cells.table, draw))
    else:
        table = temp.table("points", points.made(cells.table))
    partitioned = partition(
        engine, cuts, table, temp, strict=options.mode == "strict", progress=_reporter(task.watching)
    )
    if partitioned.count == 1:
        _require_root(task, cuts, partitioned)
    chosen = Partition(
        regions=partitioned.regions,
        points=partitioned.points,
        ranked=tuple(cells.ranked),
        summaries=tuple(cuts.summaries),
        count=partitioned.count,
        smallest=partitioned.smallest,
        largest=partitioned.largest,
        attempts=partitioned.attempts,
        loss=Fraction(),
        rows=cells.rows,
        strict=options.mode == "strict",
        publish=options.publish,
        bounds=options.bounds,
    )
    if options.publish == "none":
        return chosen
    return replace(chosen, loss=region_loss(engine, policy, chosen))


def points_of(task: Task, options: Options, parts: Parts | None = None, others: Sequence[str] = ()) -> Points:
    """Returns the points that are cut, made from the cells.

    `parts` has, by sensitive attribute, the columns that distinguish the classes of a region for the requirements about
    it: quasi-identifiers, or columns that the cells carry. `others` are carried columns that regions keep.
    """
    policy, cells = task.policy, task.encoded
    target = target_of(policy, options)
    count = int(task.engine.rows(select(f.count(), of=relation(cells.table)))[0][0])
    index_of = {name: index for index, name in enumerate(cells.carried)}
    return Points(
        cells.layout,
        [[index_of[name] for name in subject] for subject in subjects(task.requirements)],
        {index: index_of[guard] for index, guard in task.guards},
        target=index_of[target.column] if target else None,
        entity=cells.entity,
        row=options.mode == "relaxed",
        single=options.mode == "relaxed" or cells.rows < sizes().min_rows_per_cell * count,
        parts=_fields_of_parts(task, parts or {}),
        others=[index_of[name] for name in others],
    )


def fields_of(task: Task, names: Sequence[str]) -> tuple[Field, ...]:
    """The fields of columns in the keys: quasi-identifiers, or columns that the cells carry."""
    cells = task.encoded
    quasi = {bound.column: index for index, bound in enumerate(task.policy.quasi_identifiers)}
    carried = {name: index for index, name in enumerate(cells.carried)}
    return tuple(
        cells.layout.fields[quasi[name]][0] if name in quasi else cells.layout.carried[carried[name]] for name in names
    )


def _fields_of_parts(task: Task, parts: Parts) -> dict[int, tuple[Field, ...]]:
    """The fields of the columns that distinguish classes within a region, by the number of the subject."""
    about = enumerate(subjects(task.requirements))
    named = {number: parts[subject[0]] for number, subject in about if len(subject) == 1 and parts.get(subject[0])}
    return {number: fields_of(task, names) for number, names in named.items()}


def cuts_of(task: Task, points: Points, hierarchy: str = "order") -> Cuts:
    """The queries that cut the points; with the hierarchy 'tree', only between the children of a node."""
    engine, cells, quasi = task.engine, task.encoded, task.policy.quasi_identifiers
    summaries = _summaries(engine, cells.ranked)
    heights = [bound.height for bound in quasi]
    above = ancestors(cells.ranked, heights) if hierarchy == "tree" else None
    return Cuts(
        ranked=tuple(cells.ranked),
        domains=[summary.span or 1.0 for summary in summaries],
        counts=[None if is_numeric(bound) else summary.count for bound, summary in zip(quasi, summaries, strict=True)],
        weights=[float(bound.attribute.weight) for bound in quasi],
        plain=[summary.plain for summary in summaries],
        points=points,
        requirements=task.requirements,
        fixed_relations=cells.fixed_relations,
        least=least_rows(task.requirements),
        summaries=summaries,
        heights=heights,
        ancestors=task.temp.table("ancestors", above) if above else None,
    )


def _summaries(engine: Engine, tables: Sequence[str]) -> list[RankedSummary]:
    """Returns the summary of each table of ranked values; a table without rows has the default one."""
    rows = engine.rows(ranked_summaries(tables)) if tables else []
    of = {
        int(number): RankedSummary(
            int(count), float(span), bool(plain), int(leaves), None if null is None else int(null)
        )
        for number, count, span, plain, leaves, null in rows
    }
    return [of.get(number, RankedSummary()) for number in range(len(tables))]


def _require_root(task: Task, cuts: Cuts, partitioned: Partitioned) -> None:
    """Raises PrivacyViolation if the only region violates a requirement.

    Other regions are checked when they are cut.
    """
    if not task.requirements:
        return
    if broken := task.engine.rows(root_violations(cuts, partitioned.points)):
        unmet = [task.requirements[index] for index in sorted(int(index) for (index,) in broken)]
        names = ", ".join(map(str, unmet))
        raise PrivacyViolation(
            f"{names} cannot be met: no cut is allowable, and the whole table does not meet it{_people(task, unmet)}"
            f"{too_frequent_in(task.engine, task.policy, unmet)}; nothing was published",
            hint=_less(task, unmet),
        )


def _less(task: Task, unmet: Sequence[BoundRequirement]) -> str:
    """Returns the advice to require less, with the greatest requirement that the whole table meets, if known."""
    greatest = greatest_met(task.engine, task.policy, unmet)
    return f"ask for less: {greatest}" if greatest else "ask for less"


def _people(task: Task, unmet: Sequence[BoundRequirement]) -> str:
    """Describes the number of respondents for an error; empty unless an unmet requirement counts respondents and the
    cells have them.
    """
    cells = task.encoded
    if not cells.entity or not any(requirement.counts_respondents for requirement in unmet):
        return ""
    query = select(respondents(column("entity")), of=relation(cells.table))
    return f" with {counted(int(task.engine.rows(query)[0][0]), 'respondent')} in {counted(cells.rows, 'row')}"
