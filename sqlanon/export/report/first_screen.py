"""The first screen of a report: the verdict, four figures, and a plot of each column's loss."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sqlanon.domain.identifiers import fold
from sqlanon.domain.numbers import counted
from sqlanon.domain.policy import Mask, Role, Shift
from sqlanon.domain.release import LABELS, Reading, ReleaseAttribute
from sqlanon.export.report import charts as plots
from sqlanon.export.report.charts import Charts, unique
from sqlanon.export.report.facts import GRANULARITY_LOSS, SUREST, Facts
from sqlanon.export.report.markup import NOT_DEFINED, Markup, Share, number, paragraph, percent, shortened, text
from sqlanon.export.report.plotted import ADDED, in_place_of, levels_of, reading_of
from sqlanon.export.report.risks import met

# The chance above which a guess is in the verdict, whatever is required, and the number of guesses named there.
SURE = 0.9
_GUESSES = 3
# The number of columns for which the plot has room.
_COLUMNS = 12
# The letters of a column's name beside its bar: more would need a third line.
_LETTERS_OF_NAME = 30


def first_screen(facts: Facts, charts: Charts) -> Markup:
    """Returns the verdict, the four figures and the plot of the columns, in one box."""
    figures = "".join(
        f"<li><span>{name}</span> <strong>{value}</strong> <small>{about}</small></li>"
        for name, value, about in _figures(facts)
    )
    plot = "\n".join(_became(facts, charts))
    return Markup(
        f'<div class="first"><div>{_verdict(facts)}\n<ul class="figures" role="list">{figures}</ul></div>\n'
        f"<div>{plot}</div></div>"
    )


def _verdict(facts: Facts) -> Markup:
    """Returns a sentence with the verdict, and then warnings."""
    warnings = [*_gaps(facts), *_sure(facts)]
    if not facts.checked.measurements:
        kind, verdict = "warned", "Nothing is required that could be met."
    elif not met(facts):
        kind, verdict = "failed", "Not all that was required is met: do not give it away."
    elif facts.without_requirement:
        kind, verdict = "warned", "What is required is met, but it leaves a gap."
    elif warnings:
        kind, verdict = "warned", "What is required is met, but a secret is nearly certain."
    else:
        kind, verdict = "met", "Each requirement is met."
    behind = "".join(f" <br>{text(warning)}" for warning in warnings)
    return Markup(f'<p class="verdict {kind}"><strong>{text(verdict)}</strong>{behind}</p>')


def _gaps(facts: Facts) -> Iterator[str]:
    """Yields the warning about sensitive columns that no requirement protects, if there are any."""
    columns = facts.without_requirement
    if columns:
        word = "column" if len(columns) == 1 else "columns"
        yield (
            f"Warning: nothing is required of the sensitive {word} {', '.join(columns)}. All rows of a class may have "
            "the same value, and a reader who finds somebody's class learns it."
        )


def _sure(facts: Facts) -> Iterator[str]:
    """Yields a warning about each sensitive value that a class reveals almost certainly, with the surest value
    first.
    """
    guesses = [(a, a.highest) for a in facts.attacks if a.attack == SUREST and a.highest is not None]
    sure = sorted(((a, highest) for a, highest in guesses if highest > SURE), key=lambda guess: -guess[1])
    for answer, highest in sure[:_GUESSES]:
        where = ""
        if answer.worst and answer.worst[0].name:
            where = f", in the class {shortened(answer.worst[0].name)} ({counted(answer.worst[0].targets, 'row')})"
        yield (
            f"Warning: a reader who finds somebody's class guesses {answer.guessed} with a chance of up to "
            f"{percent(highest, marked=False)}{where}."
        )
    if len(sure) > _GUESSES:
        yield f"Warning: {len(sure) - _GUESSES} more columns can be guessed with a chance above {SURE:.0%}."


def _figures(facts: Facts) -> Iterator[tuple[str, Markup, Markup]]:
    """Yields the name of each of the four figures, its value, and the words below it."""
    release = facts.release
    if release.has_noise:
        yield from _figures_of_noise(facts)
        return
    source_rows = release.source_rows or 0
    of = Markup(f"of {number(source_rows)} rows, {percent(release.suppressed_rows / max(source_rows, 1))}")
    yield "Rows left out", number(release.suppressed_rows), of
    if facts.sizes:
        alike = "rows share their sensitive values" if facts.tells_rows_apart else "rows look alike"
        counted_unit = " respondents" if facts.policy.entity else ""
        need = f"; {facts.least_rows:,}{counted_unit} are required" if facts.least_rows > 1 else ""
        yield (
            f"Smallest {'bucket' if facts.tells_rows_apart else 'class'}",
            number(facts.sizes[0][0]),
            text(alike + need),
        )
    else:
        yield "Smallest class", text(NOT_DEFINED), text("the release has no classes")
    guesses = [a for a in facts.attacks if a.attack == SUREST and a.highest is not None]
    if guesses:
        surest = max(guesses, key=lambda guess: guess.highest or 0.0)
        yield (
            "Surest guess of a secret",
            percent(surest.highest or 0.0),
            text(f"the chance to guess {surest.guessed}"),
        )
    else:
        has_secrets = bool(facts.policy.having(Role.SENSITIVE))
        reason = "the release has no classes" if has_secrets else "no column is sensitive"
        yield "Surest guess of a secret", text(NOT_DEFINED), text(reason)
    typical = facts.typical
    if typical.median is None or typical.mean is None:
        yield "Error of a typical count", text(NOT_DEFINED), text(typical.reason or "no count is compared")
    else:
        over = counted(typical.columns, "column")
        about = f"the median of {typical.compared} counts over {over}; the mean is "
        without = f"; {typical.unanswered} more are not answered" if typical.unanswered else ""
        mean = Markup(f"{text(about)}{percent(typical.mean)}{without}")
        yield "Error of a typical count", percent(typical.median), mean


def _figures_of_noise(facts: Facts) -> Iterator[tuple[str, Markup, Markup]]:
    """Yields the four figures of a release with noise, which has no classes and promises an epsilon."""
    release = facts.release
    yield "Rows", number(release.released_rows), text("made of counts with noise: none is somebody's")
    for promise in facts.checked.measurements[:1]:
        achieved = text(NOT_DEFINED) if promise.achieved is None else number(promise.achieved)
        whose = text(facts.policy.entity.name) if facts.policy.entity else text("row")
        yield "Epsilon", achieved, Markup(f"{text(promise.question)} of each {whose}")
    yield "Noise of a count", number(release.loss), text("at most, for 95 of 100 counts")
    for name, epsilon, left in facts.budgets[:1]:
        yield "Budget left", number(left), Markup(f"of an epsilon of {number(epsilon)}, in {text(name)}")


def _became(facts: Facts, charts: Charts) -> Iterator[Markup]:
    """Yields a plot with a bar for each column of the source.

    The bar is labeled with the form in which the column is published; its length is the lost share of detail, if it is
    known.
    """
    columns = list(_columns(facts))
    if not columns:
        return
    names = unique([_label(*column) for column in columns])
    rows = [(label, name, words, lost) for label, (name, words, lost) in zip(names, columns, strict=True)]
    drawn = rows if len(rows) <= _COLUMNS else sorted(rows, key=lambda row: -(row[3] or 0.0))[:_COLUMNS]
    yield charts.figure(
        plots.shares([(label, lost or 0.0) for label, *_, lost in drawn], "share of the detail that is lost"),
        "What became of each column",
        ("column", "published", "granularity loss"),
        [(name, words, NOT_DEFINED if lost is None else Share(lost)) for _, name, words, lost in rows],
    )
    if len(drawn) < len(rows):
        yield paragraph(f"The plot has the {len(drawn)} of {len(rows)} columns that lose most; the table has all.")


# Readings with less detail than the source: without a figure for the loss their bars would look like unchanged columns.
_COARSER = (*LABELS, Reading.ITEM_LABELS, Reading.RANGE, Reading.CENTROID, Reading.LOWER_BOUND)


def _label(name: str, words: str, lost: float | None) -> str:
    """Returns the label of a column's bar, with a remark if the length of the bar is unknown."""
    unknown = ", loss not known" if lost is None and words in {_WORDS[reading] for reading in _COARSER} else ""
    return f"{shortened(name, _LETTERS_OF_NAME)}: {words}{unknown}"


_WORDS: Mapping[Reading, str] = {
    Reading.EXACT: "as it is",
    Reading.LABEL: "labels",
    Reading.LABEL_OR_NULL: "labels, some suppressed",
    Reading.ITEM_LABELS: "labels of items",
    Reading.RANGE: "ranges",
    Reading.CENTROID: "centers",
    Reading.LOWER_BOUND: "ends of ranges",
    Reading.UPPER_BOUND: "ends of ranges",
    Reading.TOKEN: "tokens",
    Reading.BUCKET_VALUE: "as it is, apart",
    Reading.BUCKET_RANGE: "ranges, apart",
    Reading.RESPONDENT: "numbers",
    Reading.DOMAIN_VALUE: "by counts with noise",
    Reading.NOISY_COUNT: "counts with noise",
}


def _columns(facts: Facts) -> Iterator[tuple[str, str, float | None]]:
    """Yields the name of each column of the policy, its published form, and its granularity loss, which is None if it
    is unknown.
    """
    losses = {fold(f.attribute): f.value for f in facts.figures if f.name == GRANULARITY_LOSS and f.attribute}
    named: set[str] = set()
    for attribute in facts.release.attributes:
        name = attribute.source or attribute.name
        if attribute.reading in ADDED or fold(name) in named:
            continue
        named.add(fold(name))
        is_exact = attribute.reading is Reading.EXACT
        lost = losses.get(fold(name), 0.0 if is_exact else None)
        is_same = lost == 0 and attribute.reading in (Reading.LABEL, Reading.RANGE)
        yield name, _WORDS[Reading.EXACT] if is_same else _words(facts, attribute), lost
    for left_out in facts.policy.having(Role.IDENTIFIER):
        if fold(left_out.name) not in named:
            yield left_out.name, "left out", 1.0


def _words(facts: Facts, attribute: ReleaseAttribute) -> str:
    """Describes how a column is published, in a phrase that is short enough to label a bar."""
    levels: Sequence[int] = levels_of(facts, attribute)
    if attribute.reading is Reading.LABEL and levels and attribute.height:
        if tuple(levels) == (attribute.height,):
            return "* for everybody"
        span = f"{levels[0]}" if len(levels) == 1 else f"{levels[0]} to {levels[-1]}"
        return f"labels, level {span} of {attribute.height}"
    if attribute.reading is Reading.EXACT and "apart" in reading_of(facts, attribute):
        return _WORDS[Reading.BUCKET_VALUE]
    if attribute.reading is Reading.TOKEN and (kind := in_place_of(facts, attribute)) is not None:
        return {Mask: "masks", Shift: "shifted dates"}[kind]
    return _WORDS[attribute.reading]
