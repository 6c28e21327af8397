"""Multidimensional recoding by Mondrian: regions that no cut can divide any further.

LeFevre, DeWitt and Ramakrishnan, Mondrian Multidimensional K-Anonymity (2006) and
Workload-Aware Anonymization (2006). Every row is published; a cut is allowable if both
halves meet every requirement.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.explanation import Explanation
from sqlanon.domain.identifiers import fold, same_name
from sqlanon.domain.numbers import counted
from sqlanon.domain.release import Assumption, Reading
from sqlanon.domain.values import QualifiedName, Value
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import PolicyError
from sqlanon.methods.base import Encoding, Method, Recoded, Wording
from sqlanon.methods.limits import CAN, Limits, Refusal, only_on_duckdb
from sqlanon.methods.shared.partition.region_labels import (
    Partition,
    labels_of_levels,
    region_labels,
    region_map,
    region_spans,
)
from sqlanon.methods.shared.partition.solve import MOST_ATTRIBUTES, Options, solve, target_of
from sqlanon.methods.shared.respondents import require_one_row_each
from sqlanon.methods.shared.task import Task
from sqlanon.methods.shared.wording import DEFINITIONS, loss_text, of_buckets
from sqlanon.sql.cells.value_ranks import by_value
from sqlanon.sql.classes.buckets import BUCKET
from sqlanon.sql.release.recode import ENDS, Placed

_BY_REGION = "Rows are recoded by region, not by level: the rows of one region show the same in each quasi-identifier."
_IN_BUCKETS = (
    "The quasi-identifiers are the source's own values, so they show who is in the table. The requirements hold"
    " for the rows of a bucket, among which the sensitive values were shuffled by random bits of the operating "
    "system."
)


_NO_LEVELS = Refusal(
    "mondrian has no levels: the ends of a range are values, and {column} has a MIN LEVEL",
    "leave MIN LEVEL out, or use METHOD generalization",
)
_LIMITS = Limits(
    labels=CAN,
    without_related=CAN,
    view=CAN,
    series=CAN,
    without_series=CAN,
    unconstrained=CAN,
    requirements=CAN,
    respondents=CAN,
    pseudonyms=CAN,
    shifts=CAN,
    min_level=_NO_LEVELS,
    max_level=CAN,
    public=Refusal(
        "mondrian cannot meet {requirement}: regions are cut by the source's rows alone",
        "use METHOD generalization",
    ),
    guarding=CAN,
    samples=CAN,
    jointly=CAN,
    on_spark=CAN,
    scripted=CAN,
)
_BY_CHANCE = Refusal(
    "its rows are in regions by chance, so that no live view of it keeps them",
    "compile a live view that is cut with mode => 'strict', and shows ranges or ancestors",
)
_NO_CENTROIDS = Refusal(
    "it shows centroids, which may be fractions, and warehouses print those differently",
    "let it publish ranges or, with hierarchies, ancestors",
)
# The limits of regions that divide equal rows.
_DIVIDED = replace(
    _LIMITS,
    view=Refusal(
        "a live view cannot divide equal rows in the same way twice",
        "use mode => 'strict', or make a snapshot, CREATE ANONYMIZED TABLE",
    ),
    on_spark=only_on_duckdb(
        "mode => 'relaxed' gives equal rows several regions by their numbers, which rows on Spark have not"
    ),
    scripted=_BY_CHANCE,
)
# The limits of regions whose sensitive values are mixed.
_MIXED = replace(
    _LIMITS,
    view=Refusal(
        "a live view cannot mix the sensitive values of a region in the same way twice",
        "make a snapshot, CREATE ANONYMIZED TABLE",
    ),
    series=Limits.series,
    shifts=Limits.shifts,
    samples=Limits.samples,
    on_spark=only_on_duckdb("publish => 'none' mixes the values of each region by draws of DuckDB's"),
    scripted=_BY_CHANCE,
)


class MondrianMethod(Method[Options, Partition]):
    """METHOD mondrian: publishes the labels of multidimensional regions."""

    OPTIONS = Options
    KEEPS_MAX_LEVEL = False
    COMPETES = ((),)

    def options(self, arguments: Sequence[tuple[str, Value]]) -> Options:
        """Checks the method's arguments; raises PolicyError for an argument that is unknown or out of bounds."""
        checked = super().options(arguments)
        if checked.split == "information_gain" and checked.target is None:
            raise PolicyError(
                "mondrian: split => 'information_gain' needs its target, the name of a column",
                hint="write mondrian(split => 'information_gain', target => occupation)",
            )
        if checked.mode == "relaxed" and checked.target is not None:
            raise PolicyError(
                "mondrian: mode => 'relaxed' divides at the median, not where information is gained",
                hint="write mode => 'strict', or leave split and target out",
            )
        if checked.bounds and checked.publish == "none":
            raise PolicyError(
                "mondrian: publish => 'none' keeps the values as they are and has no bounds", hint="leave bounds out"
            )
        return checked

    def limits(self, options: Options) -> Limits:
        """Returns the limits of METHOD mondrian; live views refuse random regions."""
        if options.mode == "relaxed" and options.publish == "none":
            return replace(_MIXED, view=_DIVIDED.view, on_spark=_DIVIDED.on_spark)
        if options.mode == "relaxed":
            return _DIVIDED
        if options.publish == "none":
            return _MIXED
        return replace(_LIMITS, scripted=_NO_CENTROIDS) if options.publish == "centroid" else _LIMITS

    def assumes(self, options: Options, sensitive: Sequence[str]) -> tuple[Assumption, ...]:
        """Returns the assumptions behind the figures of a release; `sensitive` are its sensitive columns."""
        return (of_buckets(sensitive),) if options.publish == "none" else ()

    def encoding(self, task: Task, options: Options) -> Encoding:
        """Requests ranks, with a cell for each row if equal rows may be divided.

        Raises PolicyError for columns that it cannot cut, and for respondents with several rows in buckets.
        """
        _require_numbered(task.policy, options)
        if options.publish == "none":
            require_one_row_each(task, "mondrian(publish => 'none')")
        target = target_of(task.policy, options)
        return Encoding(flat=True, by_row=options.mode == "relaxed", besides=(target,) if target else ())

    def choose(self, task: Task, options: Options) -> Partition:
        """Cuts the regions. Raises PrivacyViolation if the whole table violates a requirement and cannot be cut."""
        return solve(task, options)

    def spans(self, task: Task, partition: Partition, ranks: Sequence[str]) -> exp.Query:
        """The least and the greatest rank of each region, for a comparison of methods."""
        return region_spans(partition)

    def reasons(
        self, task: Task, partition: Partition, explained: Explanation | None
    ) -> Iterator[tuple[str, str, str]]:
        """Rows of (stage, item, detail): the number and the sizes of the regions, and their loss."""
        yield from (("solve", item, detail) for item, detail in regions_in_words(partition))

    def compile(self, task: Task, partition: Partition, release_id: str, tokens: Mapping[str, str]) -> Recoded:
        """Returns the recoding of rows by the labels of their regions."""
        placed = place_rows(task.engine, task.policy, partition, task.temp, live=task.kind == "view")
        return Recoded(readings=readings_of(task.policy, partition), placed=placed)

    def wording(self, options: Options) -> Wording:
        """The words of a certificate about the release."""
        if options.publish == "none":
            dealt_readings = (Reading.EXACT, Reading.BUCKET_VALUE, Reading.BUCKET)
            return Wording(_IN_BUCKETS, DEFINITIONS, tables=(dealt_readings,))
        return Wording(_BY_REGION, DEFINITIONS)


def _require_numbered(policy: BoundPolicy, options: Options) -> None:
    """Raises PolicyError if there are too many quasi-identifiers, or if an option does not fit the policy's columns.

    The mode 'relaxed' refuses a source with a column rowid; publish => 'none' needs a sensitive column.
    """
    if len(policy.quasi_identifiers) > MOST_ATTRIBUTES:
        raise PolicyError(f"mondrian cuts at most {MOST_ATTRIBUTES} quasi-identifiers")
    names = [*(bound.column for bound in policy.attributes), *policy.unpublished]
    if options.mode == "relaxed" and any(same_name(name, "rowid") for name in names):
        raise PolicyError("mondrian: mode => 'relaxed' numbers the source's rows, and it has a column rowid of its own")
    if options.publish == "none" and not policy.sensitive:
        raise PolicyError(
            "mondrian: publish => 'none' hides which sensitive value is whose, and the policy has no SENSITIVE column: "
            "the source would be published as it is"
        )


def regions_in_words(partition: Partition) -> Iterator[tuple[str, str]]:
    """Rows of (item, detail): the number and the sizes of the regions, and their loss."""
    mean = f", {partition.rows / partition.count:.1f} rows each in the mean" if partition.count else ""
    sizes = f"the largest has {counted(partition.largest, 'row')}, the smallest {partition.smallest}"
    yield "regions", f"{partition.count}{mean}; {sizes}"
    yield "suppressed rows", f"0 of {partition.rows}"
    yield partition.loss_name.replace("_", " "), f"{loss_text(partition.loss)}, not proven to be the least"
    yield "attempts", f"{partition.attempts}: each cuts all regions that are still open"


# The tables by which a release finds the region of each row.


def place_rows(engine: Engine, policy: BoundPolicy, partition: Partition, temp: TempTables, *, live: bool) -> Placed:
    """Makes temporary tables of the regions and their labels, from which the release is made.

    Raises PolicyError if a column that the method adds has the name of another column.
    """
    _require_names(policy, partition)
    levels: list[str | None] = []
    for bound, ranked in zip(policy.quasi_identifiers, partition.ranked, strict=True):
        ancestors = partition.publish == "ancestor" and bound.hierarchy is not None
        levels.append(temp.table("levels", labels_of_levels(bound, ranked)) if ancestors else None)
    regions = QualifiedName((temp.table("labels", region_labels(policy, partition, levels)),))
    row_regions = QualifiedName((temp.table("row_regions", region_map(policy, partition)),))
    ranks = tuple(
        QualifiedName((ranked,)) if not by_value(bound) else None
        for bound, ranked in zip(policy.quasi_identifiers, partition.ranked, strict=True)
    )
    return Placed(
        regions, row_regions, ranks, partition.publish, partition.bounds, boxes=live, by_row=not partition.strict
    )


def readings_of(policy: BoundPolicy, partition: Partition) -> dict[str, Reading]:
    """Returns the readings of the columns that regions recode or add."""
    if partition.publish == "none":
        exact = {bound.column: Reading.EXACT for bound in policy.quasi_identifiers}
        # The sensitive values of a region are put in a random order that cannot be repeated.
        return exact | {bound.column: Reading.BUCKET_VALUE for bound in policy.sensitive} | {BUCKET: Reading.BUCKET}
    readings: dict[str, Reading] = {}
    for bound in policy.quasi_identifiers:
        readings[bound.column] = _shown_as(bound, partition.publish)
        if partition.bounds:
            names = (f"{bound.column}_{end}" for end in ENDS)
            readings |= dict(zip(names, (Reading.LOWER_BOUND, Reading.UPPER_BOUND), strict=True))
    return readings


def _shown_as(bound: BoundAttribute, publish: str) -> Reading:
    if publish == "centroid":
        return Reading.CENTROID
    return Reading.LABEL if publish == "ancestor" and bound.hierarchy is not None else Reading.RANGE


def _require_names(policy: BoundPolicy, partition: Partition) -> None:
    taken = {fold(bound.column) for bound in policy.published}
    added = [f"{b.column}_{end}" for b in policy.quasi_identifiers for end in ENDS] if partition.bounds else []
    added += [BUCKET] if partition.publish == "none" else []
    for name in added:
        if fold(name) in taken:
            raise PolicyError(f"mondrian adds a column {name}, and the release has one of that name already")
        taken.add(fold(name))
