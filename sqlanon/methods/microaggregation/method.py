"""METHOD microaggregation replaces numbers by the means of groups of at least k rows near each other.

Domingo-Ferrer and Mateo-Sanz, Practical data-oriented microaggregation for statistical disclosure control (2002);
Domingo-Ferrer and Torra (2005); Hansen and Mukherjee (2003).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.explanation import Explanation
from sqlanon.domain.identifiers import fold, nearest, same_name
from sqlanon.domain.numbers import counted
from sqlanon.domain.policy import Requirement
from sqlanon.domain.release import Reading
from sqlanon.domain.values import QualifiedName, Value
from sqlanon.errors import PolicyError, about
from sqlanon.methods.base import Method, Recoded, Wording
from sqlanon.methods.limits import CAN, Limits, Refusal, only_on_duckdb
from sqlanon.methods.microaggregation.groups import Groups, Plan, grouped
from sqlanon.methods.microaggregation.requirements import require_satisfied
from sqlanon.methods.shared.arguments import Kind, argument
from sqlanon.methods.shared.task import Task
from sqlanon.methods.shared.wording import loss_text
from sqlanon.sql.cells.value_ranks import is_number
from sqlanon.sql.questions.models import satisfied_with
from sqlanon.sql.release.recode import Placed

_LOSS = "sse"
_SSE = (
    "SSE / SST: the sum of the squared distances of rows from the mean of their group, over that from the mean of all "
    "rows: 0 where nothing is changed, 1 where all rows show the same"
)


@dataclass(frozen=True)
class Options:
    """The arguments of METHOD microaggregation."""

    k: int = argument("the least number of rows of a group", Kind.WHOLE, least=2, most=1_000_000_000)
    columns: tuple[str, ...] = argument(
        "the quasi-identifiers that are aggregated together; all that are numbers by default",
        Kind.COLUMNS,
        default=(),
        example=(QualifiedName(("age",)),),
    )
    algorithm: str | None = argument(
        "how groups are found: by default 'optimal' for one column, 'mdav' for several",
        Kind.CHOICE,
        default=None,
        choices=("mdav", "optimal"),
    )
    publish: str = argument(
        "the value that replaces the values of a group: their mean or their median",
        Kind.CHOICE,
        default="mean",
        choices=("mean", "median"),
    )
    standardize: bool = argument(
        "whether columns are scaled to variance 1 before they are compared", Kind.FLAG, default=True
    )
    block: int | None = argument(
        "the greatest number of rows that are searched for groups at once; more rows are first cut at medians",
        Kind.WHOLE,
        default=None,
        least=8,
        most=1_000_000_000,
        example=5000,
    )


@dataclass(frozen=True)
class Microaggregation:
    """The groups of all rows, and the plan by which they were made."""

    plan: Plan
    groups: Groups
    loss_name: str = _LOSS
    suppressed: int = 0
    searched: None = None

    @property
    def rows(self) -> int:
        """The number of the source's rows, all of which are published."""
        return self.groups.rows

    @property
    def loss(self) -> Fraction:
        """The loss, SSE / SST of the aggregated columns."""
        return Fraction(self.groups.loss)


_LIMITS = Limits(
    labels=CAN,
    without_related=CAN,
    view=Refusal(
        "a live view cannot make the groups of METHOD {method} at each query",
        "make a snapshot, CREATE ANONYMIZED TABLE",
    ),
    series=Refusal(
        "METHOD {method} makes other groups of each release's rows, and a series compares classes that last",
        "use METHOD generalization or mondrian, or leave IN SERIES out",
    ),
    without_series=CAN,
    unconstrained=CAN,
    requirements=CAN,
    shifts=CAN,
    respondents=CAN,
    pseudonyms=CAN,
    min_level=CAN,
    max_level=CAN,
    public=Refusal(
        "METHOD {method} cannot meet {requirement}: means of groups are no values that a public table has",
        "use METHOD generalization",
    ),
    samples=CAN,
    jointly=CAN,
    on_spark=only_on_duckdb("METHOD {method} compares each row with all others in memory"),
    scripted=Refusal(
        "it was made by METHOD {method}, whose groups are found in Python",
        "export the release, and load it there",
    ),
)


class MicroaggregationMethod(Method[Options, Microaggregation]):
    """METHOD microaggregation: publishes the means of groups of at least k rows."""

    OPTIONS = Options

    def options(self, arguments: Sequence[tuple[str, Value]]) -> Options:
        """Checks the arguments. Raises PolicyError for invalid or contradictory arguments."""
        checked = super().options(arguments)
        if checked.block is not None and checked.block < 4 * checked.k:
            with about("method", self.name, "block"):
                raise PolicyError(
                    f"{self.name}: blocks of {checked.block} rows cannot be cut into two groups of {checked.k}",
                    hint=f"write block => {4 * checked.k}, or more",
                )
        if checked.block is not None and checked.algorithm == "optimal":
            with about("method", self.name, "block"):
                raise PolicyError(f"{self.name}: algorithm => 'optimal' needs no blocks", hint="leave block out")
        return checked

    def limits(self, options: Options) -> Limits:
        """Returns the limits of METHOD microaggregation."""
        return _LIMITS

    def promises(self, options: Options) -> tuple[Requirement, ...]:
        """Promises groups of at least k rows."""
        return (satisfied_with(options.k),)

    def encoding(self, task: Task, options: Options) -> None:
        """Returns None, because numbers are read unchanged. Raises PolicyError for columns that cannot be
        aggregated.
        """
        planned(task.policy, options)

    def choose(self, task: Task, options: Options) -> Microaggregation:
        """Makes the groups. Raises PrivacyViolation if groups would be too small, or violate a requirement."""
        plan = planned(task.policy, options)
        groups = grouped(task, plan)
        require_satisfied(task, groups, plan.k)
        return Microaggregation(plan, groups)

    def reasons(
        self, task: Task, choice: Microaggregation, explained: Explanation | None
    ) -> Iterator[tuple[str, str, str]]:
        """Rows of (stage, item, detail): the groups, and their loss."""
        plan, groups = choice.plan, choice.groups
        names = ", ".join(bound.column for bound in plan.aggregated)
        published = "median" if plan.median else "mean"
        within = f", within blocks of at most {plan.block}" if plan.block and groups.rows > plan.block else ""
        sizes = f"{groups.smallest} to {groups.largest}" if groups.smallest < groups.largest else f"{groups.largest}"
        yield "solve", names, f"{published}s of groups of {sizes} rows by {_algorithm(plan)}{within}"
        if groups.by_respondent:
            yield "solve", "respondents", f"at least {plan.k} in each group, by the mean of their rows"
        strata = f", within {counted(groups.strata, 'stratum', 'strata')}" if groups.strata > 1 else ""
        yield "solve", "groups", f"{groups.count}{strata}"
        yield "solve", "suppressed rows", f"0 of {groups.rows}"
        least = (
            "the least of one column"
            if plan.optimal and not plan.median and not groups.by_respondent
            else "not proven to be the least"
        )
        yield "solve", _LOSS, f"{loss_text(choice.loss)} (SSE / SST), {least}"

    def compile(self, task: Task, choice: Microaggregation, release_id: str, tokens: Mapping[str, str]) -> Recoded:
        """Returns the recoding of rows by the labels of their groups."""
        readings = {bound.column: Reading.CENTROID for bound in choice.plan.aggregated}
        for bound in choice.plan.strata:
            readings[bound.column] = Reading.LABEL if bound.min_level else Reading.EXACT
        placed = Placed(
            QualifiedName((choice.groups.regions,)),
            QualifiedName((choice.groups.row_regions,)),
            ranks=(None,) * len(readings),
            publish="centroid",
            bounds=False,
            boxes=False,
            by_row=True,
        )
        return Recoded(readings=readings, placed=placed)

    def wording(self, options: Options) -> Wording:
        """Returns the texts that the certificate has about the release."""
        if options.publish == "median":
            return Wording(
                f"Numbers are the medians of groups of at least {options.k} rows: of an odd number of rows each is the "
                "value of a row. Groups are made by size and distance alone: rows of one group may have the same "
                "sensitive value.",
                {_LOSS: _SSE.replace("mean of their group", "median of their group")},
            )
        return Wording(
            f"Numbers are the means of groups of at least {options.k} rows, and need not be a value of any row. Groups "
            "are made by size and distance alone: rows of one group may have the same sensitive value.",
            {_LOSS: _SSE},
        )


def planned(policy: BoundPolicy, options: Options) -> Plan:
    """The plan for the columns of a policy. Raises PolicyError for columns that cannot be aggregated."""
    with about("method", "microaggregation", "columns"):
        aggregated = _columns_by_name(policy, options.columns) if options.columns else _numeric(policy)
    for bound in aggregated:
        if bound.min_level or bound.max_level < bound.height:
            level = "MIN LEVEL" if bound.min_level else "MAX LEVEL"
            raise PolicyError(
                f"microaggregation: {bound.column} has a {level}, and a mean has no level",
                hint=f"leave {level} out, or name the columns that are aggregated: columns => (...)",
            )
    if options.algorithm == "optimal" and len(aggregated) > 1:
        raise PolicyError(
            f"microaggregation: algorithm => 'optimal' is for one column, and {len(aggregated)} are aggregated",
            hint="leave algorithm out, or name one column: columns => (...)",
            part=("method", "microaggregation", "algorithm"),
        )
    if any(same_name(name, "rowid") for name in (*(b.column for b in policy.attributes), *policy.unpublished)):
        raise PolicyError(
            "microaggregation numbers the source's rows, and it has a column rowid of its own",
            hint="rename it in a query, ON (SELECT rowid AS number, ...)",
        )
    strata = tuple(bound for bound in policy.quasi_identifiers if bound not in aggregated)
    single = len(aggregated) == 1 and options.algorithm != "mdav" and options.block is None
    median = options.publish == "median"
    return Plan(options.k, aggregated, strata, single, options.standardize, options.block, median)


def _numeric(policy: BoundPolicy) -> tuple[BoundAttribute, ...]:
    numbers = tuple(filter(is_number, policy.quasi_identifiers))
    if not numbers:
        raise PolicyError(
            f"{policy.policy}: METHOD microaggregation aggregates numbers, and no QUASI IDENTIFIER is one",
            hint="cast a column in a query, ON (SELECT epoch(seen) AS seen, ...), or use METHOD mondrian",
        )
    return numbers


def _columns_by_name(policy: BoundPolicy, names: Sequence[str]) -> tuple[BoundAttribute, ...]:
    known = {fold(bound.column): bound for bound in policy.quasi_identifiers}
    for number, name in enumerate(names):
        if fold(name) not in known:
            quasi = [bound.column for bound in known.values()]
            raise PolicyError(
                f"microaggregation: {name} is not a QUASI IDENTIFIER of {policy.policy.name}",
                hint=nearest(name, quasi) or f"there are: {', '.join(quasi) or 'none'}",
            )
        if not is_number(bound := known[fold(name)]):
            raise PolicyError(
                f"microaggregation: {bound.column} is {bound.type}, and has no mean",
                hint="cast it to a number in a query, ON (SELECT ...), or leave it out of columns",
            )
        if any(same_name(name, other) for other in names[:number]):
            raise PolicyError(f"microaggregation: {bound.column} is twice in columns", hint="leave one of them out")
    return tuple(known[fold(name)] for name in names)


def _algorithm(plan: Plan) -> str:
    return "the optimal partition" if plan.optimal else "mdav"
