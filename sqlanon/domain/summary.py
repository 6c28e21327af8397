"""A release in eight lines: rows, requirements, method, columns, error of counts, surest guess, limits, files."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sqlanon.domain.numbers import counted, per_cent
from sqlanon.domain.policy import Role
from sqlanon.domain.release import Measurement

# The loss that measures the share of lost detail, as the mean over columns and rows.
_SHARE_OF_DETAIL = "granularity_loss"
# The longest label that a line shows.
_LONGEST = 40
# A line shows each value that is published unchanged if there are at most this many.
_FEW = 3
# A column with one of these words in its name has years; a range of dates counts days.
_OF_YEARS = re.compile(r"(?:^|[^a-z])(?:age|ages|alter|edad|eta|leeftijd)(?:[^a-z]|$)", re.IGNORECASE)

_NOT_PROMISED = (
    "a column that others know, and that is not among those that were named as known, may identify people; other data "
    "or other releases about the same people may tell more"
)
# Names of columns that hold codes of places. The codes are not quantities.
CODE_OF_PLACE = re.compile(r"zip|postal|postcode|post_code|plz", re.IGNORECASE)
_WITHOUT_SECRET = "no column was named as secret, so nothing bounds what may be guessed of one"


@dataclass(frozen=True)
class ShownColumn:
    """A published column: its role, and the form in which the published rows show it.

    `kind` is 'kept', 'ranges', 'prefixes', 'labels', 'nothing' (a star in every row) or 'other', with `words` for it.
    `labels` is the number of different labels, for ranges the number of ranges. For ranges, `narrowest`, `widest` and
    `median` count the values from end to end, where the median is taken over the rows; they are None if the ends are
    texts, and `unit` is 'day' if the ends are dates. For prefixes, they count the characters that are left.
    `as_they_are` is the share of the rows that show exactly their own value, where NULL does not count, and
    `own_labels` has the first four of these values. `or_null`, `missing` and `starred` are the shares of the rows that
    show a label such as `teacher or NULL`, NULL, and a star. `most_frequent` is the share of the rows with the most
    frequent label, and `example` is a label of many rows.
    """

    name: str
    role: Role
    kind: str
    labels: int
    narrowest: float | None = None
    widest: float | None = None
    median: float | None = None
    unit: str | None = None
    as_they_are: float = 0
    starred: float = 0
    most_frequent: float = 0
    example: str | None = None
    words: str = ""
    own_labels: tuple[str, ...] = ()
    or_null: float = 0
    missing: float = 0

    @property
    def became(self) -> str:
        """The form of the published column in words, such as `ranges of 2 to 9 years, median 4`."""
        match self.kind:
            case "kept":
                return "as it is"
            case "nothing":
                return "* in every row: nothing is left of it"
            case "ranges":
                main = self._ranges()
            case "prefixes":
                main = f"the first {_span(self.narrowest or 0, self.widest or 0)} characters"
            case "labels":
                main = f"{counted(self.labels, 'label')}{self._such_as()}"
            case _:
                return self.words
        parts = [main]
        if self.as_they_are:
            few = f" ({', '.join(map(_printable, self.own_labels))})" if 0 < len(self.own_labels) <= _FEW else ""
            parts.append(f"{per_cent(self.as_they_are)} of the rows as they are{few}")
        if self.or_null:
            parts.append(f"a value or NULL in {per_cent(self.or_null)} of the rows")
        if self.missing:
            parts.append(f"NULL in {per_cent(self.missing)} of the rows")
        if self.starred:
            parts.append(f"* in {per_cent(self.starred)} of the rows")
        return ", ".join(parts)

    def _ranges(self) -> str:
        if self.narrowest is None or self.widest is None or self.median is None:
            return f"{counted(self.labels, 'alphabetical range')}{self._such_as()}"
        by_name = "year" if _OF_YEARS.search(self.name) else "code" if CODE_OF_PLACE.search(self.name) else ""
        unit = self.unit or by_name
        plural = f" {unit}s" if unit else ""
        if self.narrowest == self.widest:
            return f"ranges of {_short(self.widest)}{plural}"
        return f"ranges of {_span(self.narrowest, self.widest)}{plural}, median {_short(self.median)}"

    def _such_as(self) -> str:
        return f", such as {_printable(self.example)}" if self.example is not None else ""


@dataclass(frozen=True)
class CountError:
    """The error of counts that are estimated from a release, compared with the counts on its source.

    `drawn` random counts have conditions on `columns` columns each. `median` and `mean` summarize the relative errors
    of `compared` counts, which the release answers and which are not 0 in the source. `unanswered` is the number of
    counts that the release does not answer, with some reasons in `why_unanswered`. `reason` is the reason why nothing
    was compared, or None.
    """

    compared: int = 0
    columns: int = 0
    median: float | None = None
    mean: float | None = None
    reason: str | None = None
    drawn: int = 0
    unanswered: int = 0
    why_unanswered: tuple[str, ...] = ()

    @property
    def because(self) -> str:
        """The reasons why counts are not answered, after a colon; empty if there are no reasons."""
        return f": {'; '.join(self.why_unanswered)}" if self.why_unanswered else ""

    @property
    def left_out(self) -> str:
        """A remark about the counts that are not answered, which follows a figure; empty if all counts are answered."""
        if not self.unanswered:
            return ""
        return f" ({self.drawn - self.unanswered} of {self.drawn} counts; the others are not answered{self.because})"


@dataclass(frozen=True)
class SurestGuess:
    """The certainty with which a reader who knows all known columns of a person in the release guesses a secret.

    `highest` is the share of the most frequent value in the class in which it is most frequent. `people` is the number
    of rows in the classes with that share, or, if `or_more`, a lower bound of this number. `mean` is the mean over all
    rows. `before` is the share of the most frequent value in the whole release, or None if it was not counted.
    `missing` is the share of NULL among the surest guesses, by rows.
    """

    column: str
    highest: float
    people: int
    or_more: bool
    mean: float
    before: float | None
    missing: float = 0


@dataclass(frozen=True)
class Summary:
    """A release in eight lines, and in JSON.

    `required` has its requirements with the achieved values, and `call` is its method as it is typed after METHOD.
    `without_guess` is the reason why there is no guess of a secret, for a release with a secret. `unpublished` are the
    source's columns that are not in the release, `files` the written files, and `remarks` the remarks made with it.
    `in_words` has plain words for some requirements, with {required}, {people} and {attribute} in them, and `people` is
    the noun for the counted rows or respondents.
    """

    release: str
    source: str
    source_rows: int | None
    released_rows: int
    suppressed_rows: int
    required: tuple[Measurement, ...]
    method: str
    call: str
    loss_name: str
    loss: float
    columns: tuple[ShownColumn, ...]
    count_error: CountError
    guesses: tuple[SurestGuess, ...] = ()
    without_guess: str | None = None
    unpublished: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    in_words: Mapping[str, str] = field(default_factory=dict)
    people: str = "rows"

    @property
    def satisfied(self) -> bool:
        """Whether something was required and everything required is met."""
        return bool(self.required) and all(measurement.satisfied for measurement in self.required)

    @property
    def lines(self) -> tuple[tuple[str, str], ...]:
        """The eight lines: the topic of each, and its text."""
        return (
            ("rows", self._rows()),
            ("required", self._required()),
            ("method", f"{self.call.removesuffix('()')}: {_percent(self.loss)} of the detail is lost{self._loss()}"),
            ("columns", self._columns()),
            ("counts", self._counts()),
            ("guess", self._guess()),
            ("no promise", self.not_promised),
            ("files", ", ".join(_printable(file, len(file) * 8) for file in self.files) or "none were written"),
        )

    def text(self, width: int | None = None) -> str:
        """Returns the eight lines as text; with a `width`, folded and indented, with each column on its own line."""
        margin = max(len(name) for name, _ in self.lines) + 2
        if width is None:
            return "\n".join(f"{name + ':':{margin}}{text}" for name, text in self.lines)
        indent = " " * margin
        folded = (
            textwrap.fill(
                part,
                max(width, margin + 20),
                initial_indent=f"{name + ':':{margin}}" if not at else indent,
                subsequent_indent=indent,
                break_on_hyphens=False,
                break_long_words=False,
            )
            for name, parts in self.parts
            for at, part in enumerate(parts)
        )
        return "\n".join(folded)

    @property
    def parts(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The eight lines, each with its topic and its parts. In the lines about columns, each column is a part; any
        other line is a single part.
        """
        columns = (*self._each_column(), *filter(None, [self._not_published()]))
        return tuple((name, columns if name == "columns" else (text,)) for name, text in self.lines)

    def __str__(self) -> str:
        return self.text()

    def json(self) -> dict[str, Any]:
        """Returns the summary as JSON values: the content of the lines, with all digits."""
        return {
            "release": self.release,
            "source": self.source,
            "source_rows": self.source_rows,
            "released_rows": self.released_rows,
            "suppressed_rows": self.suppressed_rows,
            "satisfied": self.satisfied,
            "required": [vars_of(each) for each in self.required],
            "method": self.method,
            "call": self.call,
            "loss_name": self.loss_name,
            "loss": self.loss,
            "columns": [{**vars_of(column), "became": column.became} for column in self.columns],
            "not_published": list(self.unpublished),
            "count_error": vars_of(self.count_error),
            "guesses": [vars_of(guess) for guess in self.guesses],
            "without_guess": self.without_guess,
            "not_promised": self.not_promised,
            "files": list(self.files),
            "remarks": list(self.remarks),
        }

    def with_files(self, *files: str) -> Summary:
        """Returns the summary with the names of the written files."""
        return replace(self, files=files)

    @property
    def not_promised(self) -> str:
        """Names in one sentence what the release does not promise."""
        has_secret = any(column.role is Role.SENSITIVE for column in self.columns)
        return _NOT_PROMISED if has_secret else f"{_WITHOUT_SECRET}; {_NOT_PROMISED}"

    def _loss(self) -> str:
        """Returns the name of the loss in parentheses; empty for the share of lost detail."""
        return "" if self.loss_name == _SHARE_OF_DETAIL else f" ({_words(self.loss_name)})"

    def _rows(self) -> str:
        if self.source_rows is None:
            return f"{self.released_rows:,} out, made of counts with noise"
        left_out = "none left out" if not self.suppressed_rows else f"{self.suppressed_rows:,} left out"
        return f"{self.source_rows:,} in, {self.released_rows:,} out, {left_out}"

    def _required(self) -> str:
        return "; ".join(map(self._met, self.required)) or "nothing was required"

    def _met(self, measurement: Measurement) -> str:
        words = self.in_words.get(measurement.question)
        if words is None or ("{attribute}" in words) != (measurement.attribute is not None):
            return _met(measurement)
        if measurement.required is None or measurement.achieved is None:
            return _met(measurement)
        required, achieved = _short(measurement.required), _short(measurement.achieved)
        attribute = _printable(measurement.attribute)
        reached = f"{achieved} reached" if measurement.satisfied else f"only {achieved} reached: not met"
        return f"{words.format(required=required, people=self.people, attribute=attribute)} ({reached})"

    def _each_column(self) -> Iterator[str]:
        for column in self.columns:
            secret = " (secret)" if column.role is Role.SENSITIVE else ""
            yield f"{_printable(column.name)}{secret}: {column.became}"

    def _not_published(self) -> str:
        return f"not published: {', '.join(map(_printable, self.unpublished))}" if self.unpublished else ""

    def _columns(self) -> str:
        return "; ".join((*self._each_column(), *filter(None, [self._not_published()])))

    def _counts(self) -> str:
        error = self.count_error
        if error.median is None or error.mean is None:
            return f"their error is not known: {error.reason}"
        about = counted(error.columns, "column")
        return (
            f"a count of rows by {about} is off by {_percent(error.median)} in the median of {error.compared} random "
            f"ones, by {_percent(error.mean)} in the mean{error.left_out}"
        )

    def _guess(self) -> str:
        if not self.guesses:
            return self.without_guess or "there is no secret column to guess"
        return "; ".join(map(_guessed, self.guesses))


def vars_of(part: object) -> dict[str, Any]:
    """Returns the fields of a dataclass as JSON values."""
    fields: Mapping[str, Any] = vars(part)
    return {name: str(value) if isinstance(value, Role) else value for name, value in fields.items()}


def _met(measurement: Measurement) -> str:
    about = f" of {_printable(measurement.attribute)}" if measurement.attribute else ""
    missed = "" if measurement.satisfied else ": not met"
    if measurement.required is None or measurement.achieved is None:
        return f"{measurement.question}{about}{missed}"
    required, achieved = _short(measurement.required), _short(measurement.achieved)
    return f"{measurement.question}{about} {required}, reached {achieved}{missed}"


def guessed_value(name: str, missing: float) -> str:
    """Returns a column as the object of "guesses"; `missing` is the share of NULL among its surest guesses."""
    if missing == 1:
        return f"that {name} is missing (NULL)"
    return f"{name} (in {per_cent(missing)} of these rows that it is missing, NULL)" if missing else name


def _guessed(guess: SurestGuess) -> str:
    before = f", {per_cent(guess.before)} without it" if guess.before is not None else ""
    people = f"{counted(guess.people, 'row')}{' or more' if guess.or_more else ''}"
    named = guessed_value(_printable(guess.column), guess.missing)
    return (
        f"a reader who knows the other columns guesses {named} with at most {per_cent(guess.highest)}, of {people}; "
        f"with {per_cent(guess.mean)} in the mean{before}"
    )


def _percent(share: float) -> str:
    if share > 1:
        return f"{100 * share:,.0f} %"
    return "under 0.1 %" if 0 < share < 0.001 else per_cent(share)


def _words(name: str) -> str:
    return name.replace("_", " ")


def _span(low: float, high: float) -> str:
    return _short(low) if low == high else f"{_short(low)} to {_short(high)}"


def _short(number: float) -> str:
    """Writes a number with at most three digits after the point, and with thousands in groups from 10,000 on."""
    rounded = round(number, 3) if abs(number) >= 1 else float(f"{number:.3g}")
    if rounded == int(rounded):
        return f"{int(rounded):,}" if abs(rounded) >= 10_000 else str(int(rounded))
    return f"{rounded:g}"


def _printable(text: str | None, longest: int = _LONGEST) -> str:
    """Returns a name or label on one line, shortened."""
    line = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text or "")
    return line if len(line) <= longest else f"{line[: longest - 1]}…"
