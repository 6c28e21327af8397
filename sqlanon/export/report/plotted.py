"""The parts of a report that have plots: columns, classes, sensitive values and answers to queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isclose, log

from sqlanon.domain.identifiers import fold
from sqlanon.domain.numbers import counted
from sqlanon.domain.policy import Mask, Role, Shift
from sqlanon.domain.release import Reading, ReleaseAttribute
from sqlanon.export.report import charts as plots
from sqlanon.export.report.charts import Charts, unique
from sqlanon.export.report.facts import GRANULARITY_LOSS, Facts, ValueShare, WorstClass
from sqlanon.export.report.markup import (
    NOT_DEFINED,
    InPlaceOfNumber,
    Markup,
    Share,
    folded,
    listed,
    number,
    paragraph,
    percent,
    shortened,
    table,
    text,
)
from sqlanon.methods.registry import worded

# More sizes than this are drawn in groups, each beginning at twice the size of the one before.
_MANY_SIZES = 16

_SHARES = {
    1: "counts under 0.1 % of the rows",
    2: "counts 0.1 to 1 % of the rows",
    3: "counts 1 to 10 % of the rows",
    4: "counts 10 % of the rows or more",
    None: "is not a count, or of a group that the source lacks",
}


def columns(facts: Facts, charts: Charts) -> Iterator[Markup]:
    """Yields the loss over all columns, and the folded details of the published form and the level of each column."""
    yield from _losses(facts)
    yield folded("How each column is published", _published_columns(facts), *_levels(facts, charts))


def _published_columns(facts: Facts) -> Markup:
    attributes = facts.release.attributes
    has_fragments = any(a.fragment for a in attributes)
    rows = [
        (
            a.name,
            role_of(facts, a),
            reading_of(facts, a),
            a.hierarchy,
            *([a.fragment or "the release"] if has_fragments else []),
        )
        for a in attributes
    ]
    head = ("column", "role", "a value is published", "hierarchy", *(["table"] if has_fragments else []))
    return table("Published columns", head, rows)


def _levels(facts: Facts, charts: Charts) -> Iterator[Markup]:
    """Yields a plot of the level of each generalized column; if a column has several levels, it shows the coarsest."""
    generalized = [a for a in facts.release.attributes if a.role is Role.QUASI_IDENTIFIER and a.height]
    levels = [(a, several) for a in generalized if (several := levels_of(facts, a))]
    if not levels:
        return
    names = unique([a.name for a, _ in levels])
    shares = [(name, max(several) / (a.height or 1)) for name, (a, several) in zip(names, levels, strict=True)]
    yield charts.figure(
        plots.shares(shares, "level, as a share of the height of its hierarchy"),
        "How much each column is generalized: 0 % is the value itself, 100 % is *",
        ("column", "level", "of", "share"),
        [
            (name, several[0] if len(several) == 1 else ", ".join(map(str, several)), a.height, Share(share))
            for (name, share), (a, several) in zip(shares, levels, strict=True)
        ],
    )
    if any(len(several) > 1 for _, several in levels):
        yield paragraph("Rows are published at different levels; the plot has the coarsest.")


def _losses(facts: Facts) -> Iterator[Markup]:
    """Yields the loss over all columns; and the method's own recorded loss, if it is another measure."""
    release = facts.release
    whole = facts.over_all(GRANULARITY_LOSS)
    if whole is not None:
        is_weighted = any(attribute.weight != 1 for attribute in facts.policy.quasi_identifiers)
        weighted = ", weighted as the policy weighs them" if is_weighted else ""
        yield paragraph(
            f"Over all quasi-identifiers{weighted}, ",
            percent(whole),
            f" of the detail is lost: the mean over their shares in the plot, and MEASURE's {GRANULARITY_LOSS}.",
        )
    if release.loss_name == GRANULARITY_LOSS:
        if whole is None:
            yield paragraph(
                "Over all quasi-identifiers the granularity loss was ", number(release.loss), " when the release was "
                "made. It cannot be measured from a release that does not show the values below its labels.",
            )  # fmt: skip
        elif not isclose(whole, release.loss):
            yield paragraph(
                "When the release was made it was ", percent(release.loss), ". The two differ where the source has "
                "changed since, and where a label can be read in several ways, all of which count here.",
            )  # fmt: skip
        return
    definition = worded(release.method, release.method_arguments).losses.get(release.loss_name, release.loss_name)
    if release.has_noise:
        yield paragraph(f"The {definition}: ", number(release.loss), ".")
        return
    yield paragraph(
        "The method recorded a loss of its own when it made the release, ", number(release.loss), ". It is the "
        f"{definition}. It counts in another way: do not compare it with the figures of this page.",
    )  # fmt: skip


def size_groups(sizes: Sequence[tuple[int, int]], least: int = 1) -> list[tuple[str, int, int]]:
    """Groups sizes of classes; returns each group's name, its number of classes, and the number of their rows.

    A group begins at `least`, which is the minimum size of classes; if there are smaller classes, a group of them comes
    first.
    """
    if len(sizes) <= _MANY_SIZES:
        return [(f"{size:,}", count, size * count) for size, count in sizes]
    largest = sizes[-1][0]
    starts = [1] if sizes[0][0] < least else []
    start = least
    while start <= largest:
        starts.append(start)
        start *= 2
    groups = []
    for low, above in zip(starts, [*starts[1:], start], strict=True):
        within = [(size, count) for size, count in sizes if low <= size < above]
        called = f"{low:,}" if above == low + 1 else f"{low:,} to {above - 1:,}"
        groups.append((called, sum(count for _, count in within), sum(size * count for size, count in within)))
    first = next(index for index, (_, count, _) in enumerate(groups) if count)
    return groups[first:]


def classes(facts: Facts, charts: Charts) -> Iterator[Markup]:
    """Yields a plot of the number of classes by size."""
    if facts.without_classes:
        yield paragraph(f"{facts.without_classes}.")
        return
    if not facts.sizes:
        yield paragraph("The release has no rows, and no class.")
        return
    groups = size_groups(facts.sizes, facts.least_rows)
    count, rows = sum(many for _, many, _ in groups), sum(many for *_, many in groups)
    kind = (
        (
            "A class is a bucket here: a reader can distinguish its rows, but does not see which sensitive value "
            "belongs to which row."
        )
        if facts.tells_rows_apart
        else "A class is a set of rows that a reader cannot tell apart."
    )
    yield paragraph(
        f"{kind} There are ", number(count), " with ", number(rows),
        " rows in all; the smallest has ", number(facts.sizes[0][0]), ", the largest ", number(facts.sizes[-1][0]), ".",
    )  # fmt: skip
    yield charts.figure(
        plots.bars([(name, many) for name, many, _ in groups], "rows of a class", "classes"),
        "Number of classes of each size",
        ("rows of a class", "classes", "rows in all"),
        groups,
    )


def values(facts: Facts, charts: Charts) -> Iterator[Markup]:
    """Yields a sentence about the worst class of each sensitive attribute, and the folded details of the worst
    classes.
    """
    if not facts.worst:
        yield paragraph(
            f"{facts.without_classes}."
            if facts.without_classes
            else ("No column is sensitive." if facts.sizes else "The release has no rows.")
        )
        return
    worst_of = {worst.attribute: worst for worst in reversed(facts.worst)}
    yield from listed([_in_words(worst_of[attribute]) for attribute in dict.fromkeys(w.attribute for w in facts.worst)])
    yield folded(
        "The classes that differ most from all rows, drawn",
        paragraph(
            "These classes have the sensitive values that differ most from those of all published rows, by the "
            "divergence of p_loss. A reader who knows that somebody is in such a class learns most. Labels and values "
            "are published ones."
        ),
        *(_worst(worst, charts) for worst in facts.worst),
    )


def _in_words(worst: WorstClass) -> Markup:
    """Writes the most revealing value of a class in a sentence."""
    most = worst.values[0]
    [label] = unique([most.label])
    return Markup(
        f"{text(worst.attribute)}: {percent(most.rows / worst.size)} of the {number(worst.size)} rows of the class "
        f"{text(shortened(worst.name or 'of all rows'))} have {text(label)}; "
        f"of all rows, {percent(most.rows_of_all / worst.total)}."
    )


def _worst(worst: WorstClass, charts: Charts) -> Markup:
    listed: list[ValueShare] = [*worst.values, *([worst.others] if worst.others else [])]
    names = unique([value.label for value in listed])
    shares = [
        (name, Share(value.rows / worst.size), Share(value.rows_of_all / worst.total))
        for name, value in zip(names, listed, strict=True)
    ]
    name = worst.name or "of all rows"
    title = f"{worst.attribute} in the class {name}"
    figure = charts.figure(
        plots.distribution(shares, "share of the class", "share of all rows"),
        f"{worst.attribute} in the class {shortened(name)}",
        (worst.attribute, "rows of the class", "share of the class", "share of all rows"),
        [(name, value.rows, *both) for (name, *both), value in zip(shares, listed, strict=True)],
    )
    most = listed[0]
    about = paragraph(
        "Of the ", number(worst.size), " rows of this class ", percent(most.rows / worst.size), f" have {names[0]}, ",
        "of all rows ", percent(most.rows_of_all / worst.total), ". Their divergence from all rows, in nats: ",
        number(worst.divergence), ", ", percent(worst.divergence / log(2)), " of the greatest that there can be.",
    )  # fmt: skip
    return Markup(f"<h3>{text(title)}</h3>\n{about}\n{figure}")


def answers(facts: Facts, charts: Charts) -> Iterator[Markup]:
    """Yields the error of a typical count, and the folded errors of each measured workload."""
    typical = facts.typical
    if typical.median is None or typical.mean is None:
        yield paragraph(f"The error of a typical count is not known: {typical.reason}.")
    else:
        yield paragraph(
            f"Counts over {counted(typical.columns, 'column')} were drawn at random, and asked of the source and, by "
            "ESTIMATE, of the release. The mean relative error of ", number(typical.compared), " counts is ",
            percent(typical.mean), "; half of them are off by less than ", percent(typical.median),
            typical.left_out, ".",
        )  # fmt: skip
    if not facts.answers:
        yield paragraph("It was not measured with a workload of your own: MEASURE ... WITH WORKLOAD does it.")
    for workload in facts.answers:
        yield folded(f"Errors of the workload {workload}", *_errors(facts, workload, charts))


def _errors(facts: Facts, workload: str, charts: Charts) -> Iterator[Markup]:
    """Yields the errors of a workload by the number of columns with conditions and the share of matching rows."""
    for errors in [facts.answers[workload]]:
        kinds = [(_dimensions(e.dimensions), _SHARES[e.share]) for e in errors]
        title = f"Errors of the answers to the workload {workload}"
        rows = [
            (*kind, e.results, e.compared, *map(_error, (e.mean, e.median, e.high)), e.not_estimated)
            for kind, e in zip(kinds, errors, strict=True)
        ]
        head = ("conditions", "the result", "results", "compared", "mean relative error", "median", "95 % are at most",
                "not estimated")  # fmt: skip
        names = unique([f"{conditions}, {share}" for conditions, share in kinds])
        bars = [(name, e.mean) for name, e in zip(names, errors, strict=True) if e.mean is not None]
        yield paragraph(
            "The relative errors of ESTIMATE's answers from the release, as MEASURE last measured them. A result that "
            "is 0 in the source has none."
        )
        yield (
            charts.figure(plots.amounts(bars, "mean relative error"), title, head, rows)
            if bars
            else table(title, head, rows)
        )


def _error(error: float | None) -> Share | InPlaceOfNumber:
    return NOT_DEFINED if error is None else Share(error)


def _dimensions(count: int | None) -> str:
    if count is None:
        return "of a query that is no longer known"
    return "no column" if not count else "1 column" if count == 1 else f"{count} columns"


_READINGS: Mapping[Reading, str] = {
    Reading.EXACT: "as it is",
    Reading.LABEL: "as the label of a level",
    Reading.LABEL_OR_NULL: "as the label of a level, NULL where it is suppressed",
    Reading.ITEM_LABELS: "as labels of the items in a list",
    Reading.RANGE: "as the range of a region",
    Reading.CENTROID: "as the centre of a region",
    Reading.LOWER_BOUND: "the least value of a region",
    Reading.UPPER_BOUND: "the greatest value of a region",
    Reading.TOKEN: "as a token",
    Reading.BUCKET: "number of the bucket",
    Reading.BUCKET_VALUE: "as a value of some row of a bucket",
    Reading.BUCKET_RANGE: "as a range that has a value of some row of a bucket",
    Reading.COUNT: "how many rows of a bucket have the value",
    Reading.COUNTERFEITS: "how many values of a bucket no row has",
    Reading.GROUP: "number of the group",
    Reading.LINK: "the group that a row has in another table",
    Reading.RESPONDENT: "number of the person, the same in all tables",
    Reading.DOMAIN_VALUE: "a value that anybody may know, by counts with noise",
    Reading.NOISY_COUNT: "how many rows have the values, with noise",
}
# For a release that has, or could have, counterfeits.
_WITH_COUNTERFEITS: Mapping[Reading, str] = {
    Reading.BUCKET_VALUE: "as a value of some row of a bucket, or a counterfeit",
    Reading.RANGE: "as the range of a bucket",
    Reading.COUNT: "how many rows and counterfeits of a bucket have the value",
}
# Readings of columns that a method adds to the columns of the policy.
ADDED = (Reading.BUCKET, Reading.COUNT, Reading.COUNTERFEITS, Reading.GROUP, Reading.LINK, Reading.NOISY_COUNT)
# Readings of the source's values.
_VALUES = (Reading.EXACT, Reading.BUCKET_VALUE)


def role_of(facts: Facts, attribute: ReleaseAttribute) -> str:
    """Returns the column's role in the policy, even if it has another role in the method's tables."""
    if attribute.reading in ADDED:
        return "added by the method"
    return _policy_role(facts, attribute).value.replace("_", "-")


def _policy_role(facts: Facts, attribute: ReleaseAttribute) -> Role:
    """Returns the role of the source's column, or an added column's own role, such as the end of a range."""
    source = fold(attribute.source or attribute.name)
    return next((known.role for known in facts.policy.all_attributes if fold(known.name) == source), attribute.role)


def reading_of(facts: Facts, attribute: ReleaseAttribute) -> str:
    """Describes how the values of the column are shown."""
    has_counterfeits = any(column.reading is Reading.COUNTERFEITS for column in facts.release.attributes)
    words = {**_READINGS, **_WITH_COUNTERFEITS} if has_counterfeits else _READINGS
    if attribute.reading is Reading.TOKEN and (kind := in_place_of(facts, attribute)) is not None:
        return {Mask: "as a mask", Shift: "as a shifted date"}[kind]
    return _apart(facts, attribute) or _label(facts, attribute) or words[attribute.reading]


def in_place_of(facts: Facts, attribute: ReleaseAttribute) -> type[Mask | Shift] | None:
    """Returns the class of the replacement of a column's values: Mask or Shift, or None for tokens and for the values
    themselves.
    """
    name = fold(attribute.source or attribute.name)
    kinds = (type(each.pseudonym) for each in facts.policy.all_attributes if fold(each.name) == name)
    return next((kind for kind in kinds if kind in (Mask, Shift)), None)


def levels_of(facts: Facts, attribute: ReleaseAttribute) -> tuple[int, ...]:
    """Returns the levels at which a column is published: several if rows differ, and none if the column has
    no levels.
    """
    return attribute.levels


def _label(facts: Facts, attribute: ReleaseAttribute) -> str | None:
    """Names the level of the hierarchy that a column shows, with one of its labels; None for a column without a
    level.
    """
    levels = levels_of(facts, attribute)
    if attribute.reading is not Reading.LABEL or not levels or attribute.height is None:
        return None
    if levels == (attribute.height,):
        return "not shown: * for everybody"
    word = "level" if len(levels) == 1 else "levels"
    numbers = " or ".join(map(str, levels))
    example = facts.examples.get(fold(attribute.name))
    return f"as the label of {word} {numbers} of {attribute.height}{f', such as {example}' if example else ''}"


def _apart(facts: Facts, attribute: ReleaseAttribute) -> str | None:
    """Describes a column of the source whose values are in other tables than those of further columns; None for other
    columns.
    """
    columns = facts.release.attributes
    readings = {column.reading for column in columns}
    has_buckets = Reading.BUCKET in readings
    if attribute.reading not in _VALUES or not (has_buckets or attribute.fragment) or Reading.RESPONDENT in readings:
        return None
    is_sensitive = _policy_role(facts, attribute) is Role.SENSITIVE
    if is_sensitive and has_buckets and attribute.reading is Reading.BUCKET_VALUE:
        return None
    where = ", in buckets" if has_buckets else ", in groups" if Reading.GROUP in readings else ""
    if _is_apart_from_sensitive(facts, attribute):
        return f"as it is, apart from the sensitive values{where}"
    return f"as it is, apart from the columns of other tables{where}"


def _is_apart_from_sensitive(facts: Facts, attribute: ReleaseAttribute) -> bool:
    """Whether a release publishes sensitive values, but shows none of them in the row that has this column's value.

    A reader then knows only the bucket to which both belong.
    """
    sensitive = [
        column
        for column in facts.release.attributes
        if column.reading not in ADDED and _policy_role(facts, column) is Role.SENSITIVE
    ]
    beside = [column for column in sensitive if column.fragment == attribute.fragment]
    is_exact = attribute.reading is Reading.EXACT
    of_the_row = (Reading.EXACT, Reading.LABEL)
    return bool(sensitive) and all(is_exact and column.reading not in of_the_row for column in beside)
