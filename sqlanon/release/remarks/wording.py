"""Remarks in words: the observation in counts, never in values, and advice."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from sqlanon.domain.numbers import count_of, counted, per_cent, rounded_fraction
from sqlanon.domain.policy import Role
from sqlanon.domain.values import plain_number
from sqlanon.release.remarks.columns import ClassFigures, Profile
from sqlanon.sql.questions.ask import BoundRequirement

ELSEWHERE = "the source is on Spark, so its columns were not examined for roles that the policy may have overlooked"
EMPTY = "the source has no rows: what is published is empty, and an empty table meets every requirement"
ONE_BUCKET = (
    "all rows are in one bucket: the tables together reveal no more about which values belong together than "
    "each table alone; require less, or let fewer attributes be beside a sensitive one"
)

_LIKE_A_PERSON = "repeats as the number of a person does"
_COUNTED = "requirements count rows now, not respondents"


# The models that keep a class from having one sensitive value, and the advice if they are already required.
_AGAINST_ONE_VALUE = {"l_diversity": "a greater l", "t_closeness": "a smaller t"}


def of_columns(
    profiles: Sequence[Profile],
    quasi_identifiers: int,
    respondent: Profile | None,
    hidden: Callable[[Profile], Mapping[str, bool]],
) -> Iterator[str]:
    """Yields a sentence about each notable column.

    `respondent` is the column that looks most like a person's number, and the only notable column that the policy does
    not name. `hidden` returns the quasi-identifiers that a column determines and that no table shows together with the
    column, each with a truth value for whether another table shows its values.
    """
    for profile in profiles:
        is_asked = profile.role is not None or profile is respondent
        if is_asked and (remark := _remark(profile, quasi_identifiers, hidden(profile))):
            yield f"{_called(profile)} {remark}"


def of_weights(name: str) -> str:
    """Returns a remark on published sampling weights."""
    return (
        f"{name} publishes sampling weights: a weight reveals a person's stratum; keep this release, and publish"
        " one of a policy without it"
    )


def _remark(profile: Profile, quasi_identifiers: int, hidden: Mapping[str, bool]) -> str | None:
    if profile.role is Role.IDENTIFIER:
        seen = f"{_values(profile)} in {_rows(profile)}"
        return f"repeats: {seen}; if it says whom a row is about, make it ENTITY: {_COUNTED}"
    if profile.role is not None and profile.is_unique:
        return (
            f"identifies most rows: {_alone(profile)} have a value that no "
            "other row has; publish something coarser, or make it IDENTIFIER or QUASI IDENTIFIER"
        )
    if profile.is_respondent(quasi_identifiers):
        action = "name it in the policy as ENTITY" if profile.role is None else "make it ENTITY"
        seen = _determined(profile, list(profile.agreeing))
        return f"{_LIKE_A_PERSON}: {seen}; if it says whom a row is about, {action}: {_COUNTED}"
    if not hidden:
        return None
    seen, what = _determined(profile, list(hidden)), "of another table" if all(hidden.values()) else "behind labels"
    return f"reveals values {what}: {seen}; make it QUASI IDENTIFIER, or leave it out"


def of_stars(
    columns: Sequence[str], *, compared: bool, is_kept: bool, alternatives: Sequence[str], less: str | None = None
) -> str:
    """Returns a sentence about columns that are `*` in all rows; `alternatives` are methods that may keep more of their
    values.

    `is_kept` is true if the method was kept from the replaced release and no statement named it. `less` is the compared
    method with the least loss, None if this is the release's method.
    """
    is_single = len(columns) == 1
    which = f"{' and '.join(columns)} {'is' if is_single else 'are'} * in all rows"
    if alternatives:
        action = "write CHOOSE METHOD" if is_kept else "leave METHOD out"
        return f"{which}: {action}, which also tries {' and '.join(alternatives)}, and uses the method of least loss"
    if less is not None:
        return f"{which}: METHOD {less} has less loss, but counts on its release are less accurate"
    if compared:
        return f"{which}, and no method that was tried keeps more: require less, or fewer quasi-identifiers"
    which_lack = "it" if is_single else "them"
    return f"{which}: require less, or give {which_lack} a hierarchy with levels between, USING"


def of_open_ends(columns: Sequence[str]) -> str:
    """Returns a sentence about columns at level 0 whose hierarchy has open ends."""
    which = "is" if len(columns) == 1 else "are"
    return (
        f"{' and '.join(columns)} {which} at level 0, which shows the values beyond the open ends: MIN LEVEL 1 puts "
        "these under one label"
    )


def without_open_ends(columns: Sequence[str]) -> str:
    """Returns a sentence about columns that a method publishes without the open ends of their hierarchies."""
    which = ("shows", "its hierarchy") if len(columns) == 1 else ("show", "their hierarchies")
    return (
        f"{' and '.join(columns)} {which[0]} values beyond the open ends of {which[1]}, alone or as ends of ranges: "
        "MIN LEVEL 1 and METHOD generalization put these under one label"
    )


def of_levels(method: str, columns: Sequence[str]) -> str:
    """Returns a sentence about columns whose MAX LEVEL has no effect on a method."""
    return (
        f"{method} has no levels, so it ignores MAX LEVEL of {' and '.join(columns)}: a range may contain more values "
        "than a label of that level; METHOD generalization observes it"
    )


def of_told(coarse: str, other: str) -> str:
    """Returns a remark on a published column that reveals the values behind the labels of another column."""
    return (
        f"{other} reveals which value of {coarse} is behind a label: each of its values occurs with one value of "
        f"{coarse}; leave {other} out, or publish a coarser column instead"
    )


def of_classes(
    figures: ClassFigures,
    sensitive: Mapping[str, Collection[str]],
    respondent: Profile | None,
    *,
    together: bool = False,
) -> Iterator[str]:
    """Yields sentences about classes with one row, with one respondent, and with one sensitive value, with or without
    NULL.

    `sensitive` has the models already required of each sensitive column alone. If `together` is true, requirements are
    on some of the quasi-identifiers, and the advice is about all of them.
    """
    of_all = " of all quasi-identifiers together" if together else ""
    if figures.single:
        yield f"in {_share(figures.single, figures)} there is a single row; require k_anonymity{of_all}"
    if respondent is not None and figures.alike.get(respondent.column):
        name = respondent.column
        seen = f"in {_share(figures.alike[name], figures)} all rows have one value of {name}"
        yield f"{seen}: if it says whom a row is about, such a class is one person; make it ENTITY"
    for name, models in sensitive.items():
        if count := figures.alike.get(name):
            seen = f"in {_share(count, figures)} all rows have one value of {name}"
            advice = [stricter if model in models else model for model, stricter in _AGAINST_ONE_VALUE.items()]
            yield f"{seen}: anyone who knows somebody's class knows the value; require {' or '.join(advice)}{of_all}"
    yield from of_known_values(figures, sensitive, "class", "classes", of_all)


def of_known_values(
    figures: ClassFigures, sensitive: Iterable[str], noun: str, nouns: str | None = None, of_all: str = ""
) -> Iterator[str]:
    """Yields sentences about classes or buckets in which every sensitive value other than NULL is the same.

    `of_all` is appended to the advice.
    """
    for name in sensitive:
        if count := figures.known_alike.get(name):
            yield (
                f"in {_share(count, figures, noun, nouns)} all values of {name} other than NULL are the same: "
                "anyone who knows that somebody has a value knows which; NULL counts as a value, so require "
                f"l_diversity(l => 3){of_all}, or leave rows without a value out"
            )


def of_nobody(entity: str, rows: int) -> Iterator[str]:
    """Yields a sentence about the rows whose ENTITY is NULL, if there are any."""
    if rows:
        has, counts = ("has", "counts") if rows == 1 else ("have", "count")
        yield (
            f"{counted(rows, 'row')} {has} no {entity} (ENTITY), and {counts} as nobody: each class has k "
            "respondents besides such rows; leave the rows out in a query, ON (SELECT ...), or add whose they are"
        )


def of_thresholds(requirements: Iterable[BoundRequirement]) -> Iterator[str]:
    """Yields sentences about thresholds such as 0.33 that are a rounded fraction, which the fraction itself
    violates.
    """
    for requirement in requirements:
        question = requirement.question
        threshold = dict(requirement.arguments).get(question.required)
        fraction = rounded_fraction(threshold) if isinstance(threshold, Decimal) else None
        if not isinstance(threshold, Decimal) or fraction is None or (threshold < fraction) == question.at_least:
            continue
        met = Decimal(fraction.numerator) / Decimal(fraction.denominator)
        met = met.quantize(Decimal("0.0001"), ROUND_FLOOR if question.at_least else ROUND_CEILING)
        name = question.required
        yield (
            f"{name} => {plain_number(threshold)} is compared exactly, so {fraction} violates it: write "
            f"{name} => {met} to allow {fraction}"
        )


def of_people(unconstrained: Sequence[str]) -> Iterator[str]:
    """Yields a sentence about the sensitive columns of several tables without requirements, if there are any."""
    if unconstrained:
        yield (
            f"nothing is required of {', '.join(unconstrained)}: remarks on several tables do not check whether all "
            "people of a class have the same value; require l_diversity"
        )


def _called(profile: Profile) -> str:
    role = "not in the policy" if profile.role is None else profile.role.value.upper()
    of_table = "" if profile.table is None else f" of {profile.table}"
    return f"{profile.column}{of_table} ({role})"


def _values(profile: Profile) -> str:
    return _about(profile.values, profile, "value")


def of_types(former: Mapping[tuple[str | None, str], str], now: Mapping[tuple[str | None, str], str]) -> Iterator[str]:
    """Yields a sentence about the columns, by their tables, whose types differ from the replaced release."""
    changed = [
        f"{name} is {kind} and was {former[table, name]}"
        for (table, name), kind in now.items()
        if former.get((table, name), kind) != kind
    ]
    if changed:
        yield (
            f"columns have other types than in the release that this one replaces: {', '.join(changed)}; a column that "
            "is generalized is text, and EXPORT ... (TEXT true) writes quasi-identifiers as text each time"
        )


def of_lists(others: Mapping[tuple[str, str], str]) -> Iterator[str]:
    """Yields sentences about lists of choices that had other texts under the same key; `others` maps list and key to a
    release.
    """
    for (name, key), release in others.items():
        yield (f"{name} differs from the list of {release}, so the same value has another mask under {key} in each")


def _rows(profile: Profile) -> str:
    return _about(profile.rows, profile, "row")


def _alone(profile: Profile) -> str:
    """Counts the rows with a unique value, in words."""
    if profile.one_in == 1:
        return count_of(profile.alone, profile.rows, "row")
    return f"about {per_cent(profile.alone / profile.rows)} of the rows"


def _determined(profile: Profile, quasi_identifiers: Sequence[str]) -> str:
    *others, last = quasi_identifiers
    agreeing = min(profile.agreeing[name] for name in quasi_identifiers)
    names = f"{', '.join(others)} and {last}" if others else last
    of_each = "one value each of" if others else "one value of"
    return f"{_values(profile)} in {_rows(profile)}, and {_agreeing(profile, agreeing)} {of_each} {names}"


def _agreeing(profile: Profile, agreeing: int) -> str:
    """Counts the repeated values that agree in a quasi-identifier, in words; "each" only if all values were read."""
    if agreeing < profile.repeating:
        about = "" if profile.one_in == 1 else "about "
        return f"{about}{per_cent(agreeing / profile.repeating)} of the repeated values have"
    return "each repeated value has" if profile.one_in == 1 else "nearly each repeated value has"


def _share(number: int, figures: ClassFigures, noun: str = "class", nouns: str | None = "classes") -> str:
    if figures.one_in == 1:
        return count_of(number, figures.classes, noun, nouns)
    return f"about {per_cent(number / figures.classes)} of the {nouns or noun + 's'}"


def _about(number: int, profile: Profile, noun: str) -> str:
    """Formats a number of things, extrapolated if only a part of the rows was read."""
    if profile.one_in == 1:
        return counted(number, noun)
    number *= profile.one_in
    return f"about {round(number, -max(len(str(number)) - 2, 0))} {noun}s"
