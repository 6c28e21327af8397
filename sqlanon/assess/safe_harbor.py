"""Compares a policy with the 18 identifiers of HIPAA's safe harbor, 45 CFR 164.514(b)(2)(i): a list that somebody
signs, not a verdict.

A program cannot check the second condition of the rule, that the covered entity knows no way to identify a person.
Guidance Regarding Methods for De-identification of Protected Health Information (HHS, 2012) explains both.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import NamedTuple

from sqlanon.assess.profiling.categories import SEX, recognized
from sqlanon.assess.profiling.sample import Sample, is_nested, sampled
from sqlanon.assess.profiling.words import words_of
from sqlanon.catalog.hierarchies import StoredHierarchy
from sqlanon.domain.identifiers import fold, nearest
from sqlanon.domain.numbers import counted
from sqlanon.domain.policy import INJECTIVE_MASKS, Attribute, Mask, Policy, Pseudonym, Role, Shift
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Column, Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import PolicyError
from sqlanon.sources.bind_policy import hierarchies_of, policy_source
from sqlanon.sources.related_tables import related_sources
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text, filtered
from sqlanon.sql.build.names import column, literal, relation
from sqlanon.sql.build.queries import select

MET, NOT_MET, NONE_FOUND, YOURS = "met", "not met", "none found", "yours to say"
# The arguments that name columns; a state is no smaller area than a state.
NAMED = ("age", "birth", "zip", "dates", "state")

# The items of the rule with their categories of columns, by their names in `categories`.
_ITEMS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("A", "names", ("name",)),
    ("B", "areas smaller than a state", ("place", "address")),
    ("C", "dates but for their year, ages over 89", ("date", "age")),
    ("D", "telephone numbers", ("telephone number",)),
    ("E", "fax numbers", ("fax number",)),
    ("F", "e-mail addresses", ("e-mail address",)),
    ("G", "social security numbers", ("social security number",)),
    ("H", "medical record numbers", ("medical record number",)),
    ("I", "health plan numbers", ("health plan number",)),
    ("J", "account numbers", ("account number",)),
    ("K", "certificate and license numbers", ("certificate or license number",)),
    ("L", "vehicle identifiers", ("vehicle identifier",)),
    ("M", "device identifiers", ("device identifier",)),
    ("N", "web addresses", ("web address",)),
    ("O", "IP addresses", ("IP address",)),
    ("P", "biometric identifiers", ("biometric identifier",)),
    ("Q", "photographs", ("photograph",)),
    ("R", "any other unique number or code", ("unique number", "household number")),
)
_IMAGES = ("P", "Q")
_REMOVED = (Role.IDENTIFIER, Role.ENTITY)
_BIRTH = re.compile(r"dob|yob|b(irth|orn)|geburt|geboren|naiss|nacim|\bnac\b|nasc|geboorte|urodz")
# Names of facts about a birth other than its date.
_NOT_WHEN = re.compile(
    r"w(eight|ght)|gewicht|peso|poids|order|place|country|ort\b|control|still|mode|length|births|newborn|_in(_|$)"
)
_AGE = re.compile(r"(^|_)(age|alter|edad|leeftijd|idade)(_|$)")
_ZIP = re.compile(r"zip|plz|post")
_POSTAL = re.compile(r"(^|_)(zip|plz)|post_?(al|code)")
# The characters that a mask leaves as they are, other than blanks and punctuation.
_LEFT = {"digits": "[^0-9[:space:][:punct:]]", "alphanumeric": "[^A-Za-z0-9[:space:][:punct:]]"}
# The first digits of a card name its issuer, and no account.
_ISSUER = 6
_YEARS = ("YEAR", "DECADE", "CENTURY")
_OLDEST = 90
_DIGITS = 3
_PEOPLE = 20_000
# A column identifies rows if it has `_FEW` values or more, and this share of them are distinct.
_ALONE = 0.9
_FEW = 10


class Finding(NamedTuple):
    """A row of the answer about one identifier: `columns` are the columns that do not meet the rule, or else the
    columns that the user has to judge, or else all columns.
    """

    item: str
    identifier: str
    columns: str
    treated: str
    finding: str


class Treated(NamedTuple):
    """A column, its treatment by the policy or the release, and the finding about it."""

    column: str
    treated: str
    finding: str


@dataclass(frozen=True)
class Kind:
    """A column's category, its type, and whether its values identify nearly all rows.

    `years` has the first and the last year of its dates, and is empty if they are not known. `is_masked_whole` is true
    if its mask leaves no letter or digit unchanged.
    """

    category: str | None
    type: str
    unique: bool
    years: tuple[int, ...] = ()
    is_masked_whole: bool = False

    @property
    def is_date(self) -> bool:
        """Whether the column has dates or timestamps."""
        return self.type.startswith(("DATE", "TIMESTAMP"))


def safe_harbor(
    engine: Engine, policy: Policy, named: Mapping[str, Sequence[str]]
) -> tuple[list[Finding], tuple[str, ...]]:
    """Returns a finding for each of the 18 identifiers, a finding for actual knowledge, and remarks.

    `named` has the columns that the user names, by the names in `NAMED`. Other columns are recognized by their names
    and the values of a sample, as in PROFILE. Raises PolicyError for a column that the source does not have.
    """
    kinds = kinds_of_source(engine, policy)
    hierarchies = {fold(h.definition.name): h for h in hierarchies_of(engine, policy).values()}
    require_columns(policy, named, kinds)
    harbor = Harbor(policy, hierarchies, {fold(name): kind for name, kind in kinds.items()}, named)
    return list(harbor.findings(kinds)), harbor.remarks(kinds)


def kinds_of_source(engine: Engine, policy: Policy) -> dict[str, Kind]:
    """Returns the kind of each column of the policy's tables, by its name; if several columns have the same name, the
    attribute's column counts.
    """
    kinds: dict[str, Kind] = {}
    with engine.transaction(), TempTables(engine) as temp:
        source = policy_source(engine, policy, temp, copy=False)
        tables = [(policy.attributes, source)]
        related = related_sources(engine, policy, temp, copy=False)
        tables += [(table.attributes, of) for table, of in zip(policy.related, related, strict=True)]
        for attributes, table in tables:
            ((rows,),) = engine.rows(select(f.count(), of=relation(table.relation)))
            sample = sampled(engine, table.relation, table.columns, int(rows))
            own_names = {fold(attribute.name) for attribute in attributes}
            known = {fold(name) for name in kinds}
            whole = wholly_masked(engine, table.relation, {attribute.name: attribute for attribute in attributes})
            years = _years(engine, table.relation, table.columns)
            for name, kind in kinds_of(sample, dict(table.columns)).items():
                if fold(name) in own_names or fold(name) not in known:
                    kinds[name] = replace(kind, years=years.get(name, ()), is_masked_whole=fold(name) in whole)
    return kinds


def wholly_masked(engine: Engine, table: QualifiedName, attributes: Mapping[str, Attribute]) -> set[str]:
    """Returns the folded names of the columns whose masks leave no letter or digit of any value unchanged.

    `attributes` has the attribute of each column to read. The table may be the source or the release, because a
    character that a mask keeps is in both.
    """
    patterns = {
        name: _LEFT[attribute.pseudonym.name]
        for name, attribute in attributes.items()
        if isinstance(attribute.pseudonym, Mask) and attribute.pseudonym.name in _LEFT
    }
    if not patterns:
        return set()
    matches = [
        filtered(f.count(), f.built_in("regexp_matches", as_text(column(name)), literal(pattern)))
        for name, pattern in patterns.items()
    ]
    (numbers,) = engine.rows(select(*matches, of=relation(table)))
    return {fold(attributes[name].name) for name, number in zip(patterns, numbers, strict=True) if not number}


def require_columns(policy: Policy, named: Mapping[str, Sequence[str]], columns: Collection[str]) -> None:
    """Raises PolicyError for a column that the user names and that is not in `columns`."""
    known = set(map(fold, columns))
    for argument, names in named.items():
        for name in names:
            if fold(name) not in known:
                raise PolicyError(
                    f"{policy}: its source has no column {name}",
                    hint=nearest(name, list(columns)),
                    part=("argument", argument),
                )


def kinds_of(sample: Sample, types: Mapping[str, str]) -> dict[str, Kind]:
    """Returns the kind of each column, by its name; a nested or binary column has no values in the sample."""
    known = recognized(sample)
    listed = {name: Kind(None, kind, unique=False) for name, kind in types.items()}
    for each in sample.columns:
        values = [value for value in each.values if value is not None]
        is_unique = len(values) >= _FEW and len(each.distinct) >= _ALONE * len(values)
        category = known[each.name].category if each.name in known else None
        listed[each.name] = Kind(category, each.type, is_unique)
    return listed


def _years(engine: Engine, table: QualifiedName, columns: Iterable[Column]) -> dict[str, tuple[int, ...]]:
    """Returns the first and the last year of each column of dates, from all rows; none for a column without dates."""
    names = [name for name, kind in columns if kind.startswith(("DATE", "TIMESTAMP"))]
    if not names:
        return {}
    years = [f.built_in("year", column(name)) for name in names]
    ends = [f.built_in(end, year) for year in years for end in ("min", "max")]
    (numbers,) = engine.rows(select(*ends, of=relation(table)))
    pairs = zip(numbers[::2], numbers[1::2], strict=True)
    return {name: () if low is None else (int(low), int(high)) for name, (low, high) in zip(names, pairs, strict=True)}


@dataclass(frozen=True)
class Harbor:
    """A policy with its hierarchies, the kinds of its source's columns, and the columns that the user names.

    For a release, `left_out` has the policy's columns that it lacks, and `ranges` has the columns with ranges of
    values, both by their folded names; `inside` has the columns with identifiers inside texts, by item.
    """

    policy: Policy
    hierarchies: Mapping[str, StoredHierarchy]
    kinds: Mapping[str, Kind]
    named: Mapping[str, Sequence[str]]
    left_out: Collection[str] = ()
    ranges: Collection[str] = ()
    inside: Mapping[str, Sequence[Treated]] = field(default_factory=dict)

    def findings(self, columns: Iterable[str]) -> Iterator[Finding]:
        """Yields the findings on the source's columns, in the order of the rule's items."""
        names = list(columns)
        for item, identifier, categories in _ITEMS:
            treated = [
                each
                for name in names
                if self._is_of(name, item, categories)
                for each in self._findings_of_column(name, item)
            ]
            known = {fold(each.column) for each in treated if each.finding == NOT_MET}
            treated += [each for each in self.inside.get(item, ()) if fold(each.column) not in known]
            wrong = [each for each in treated if each.finding == NOT_MET]
            open_ = [each for each in treated if each.finding == YOURS]
            decisive = wrong or open_ or treated
            finding = decisive[0].finding if decisive else NONE_FOUND
            treatments = "; ".join(f"{each.column}: {each.treated}" for each in decisive)
            yield Finding(item, identifier, ", ".join(each.column for each in decisive), treatments, finding)
        yield Finding("-", "actual knowledge that what remains identifies somebody", "", "", YOURS)

    def remarks(self, columns: Iterable[str]) -> tuple[str, ...]:
        """Returns a remark with the published columns that no item lists, if there are any."""
        listed = {fold(each.column) for treated in self.inside.values() for each in treated}
        names = [
            name
            for name in columns
            if self._is_shown(name)
            and fold(name) not in listed
            and not any(self._is_of(name, item, categories) for item, _, categories in _ITEMS)
        ]
        return (f"published, and not recognized as any of these identifiers: {', '.join(names)}",) if names else ()

    def _is_shown(self, name: str) -> bool:
        attribute = self._attribute(name)
        return attribute is not None and attribute.role not in _REMOVED and fold(name) not in self.left_out

    def _is_of(self, name: str, item: str, categories: Sequence[str]) -> bool:
        roles = [what for what in NAMED if fold(name) in map(fold, self.named.get(what, ()))]
        if roles:
            return item == {"zip": "B", "state": "", "age": "C", "birth": "C", "dates": "C"}[roles[0]]
        kind = self.kinds[fold(name)]
        if item == "Q" and kind.type == "BLOB":
            return True
        if item == "C" and (kind.is_date or _has_word(_AGE, name) or self._is_year_of_birth(name)):
            return True
        if item == "B" and _has_word(_POSTAL, name):
            return True
        attribute = self._attribute(name)
        if item == "R":
            is_code = attribute is not None and attribute.role in _REMOVED
            is_shown = attribute is not None and not attribute.min_level
            is_unread = is_nested(kind.type) and kind.type != "BLOB"
            is_other = is_shown and (kind.unique or is_unread) and not self._has_item(name)
            return is_code or kind.category in categories or is_other
        return kind.category in categories

    def _has_item(self, name: str) -> bool:
        return any(item != "R" and self._is_of(name, item, categories) for item, _, categories in _ITEMS)

    def _attribute(self, name: str) -> Attribute | None:
        return next((a for a in self.policy.all_attributes if fold(a.name) == fold(name)), None)

    def _findings_of_column(self, name: str, item: str) -> Iterator[Treated]:
        """Yields the finding about a column for one of the 18 identifiers.

        There is none for item R (any other number) if the column has a mask without a key and another item covers the
        column.
        """
        attribute = self._attribute(name)
        if attribute is None:
            yield Treated(name, "removed: the policy does not name it", MET)
            return
        if fold(name) in self.left_out:
            yield Treated(name, "not in the release", MET)
            return
        in_place = attribute.pseudonym
        if item == "R" and isinstance(in_place, Mask) and in_place.is_keyless and self._has_item(name):
            return
        if in_place is not None:
            yield Treated(name, *_in_place(in_place, self.kinds[fold(name)]))
        elif attribute.role in _REMOVED:
            is_linked = attribute.role is Role.ENTITY and bool(self.policy.related)
            yield Treated(name, "a number that is drawn for the release" if is_linked else "removed", MET)
        else:
            yield Treated(name, *self._published(attribute, item))

    def _published(self, attribute: Attribute, item: str) -> tuple[str, str]:
        """Describes the treatment of a published column, and returns the description with the finding."""
        least = attribute.min_level or 0
        hierarchy = self.hierarchies.get(fold(attribute.hierarchy)) if attribute.hierarchy else None
        if attribute.role is Role.QUASI_IDENTIFIER and least >= (hierarchy.height if hierarchy else 1):
            return "* in all rows", MET
        if attribute.role is Role.QUASI_IDENTIFIER and least and hierarchy is not None and item in ("B", "C"):
            return self._coarser(attribute.name, item, hierarchy, least)
        name = attribute.name
        is_quasi, kind = attribute.role is Role.QUASI_IDENTIFIER, self.kinds[fold(name)]
        shown_at = f"published from level {least} on" if is_quasi else "published"
        shown_at = "published as ranges" if fold(name) in self.ranges else shown_at
        if item == "R" and is_nested(kind.type):
            return f"{shown_at}, and what is in it was not read", YOURS
        # Requirements of classes do not count here, even if they make each value frequent.
        is_open = item in _IMAGES or (item == "R" and is_quasi and kind.category in (None, SEX))
        return shown_at, YOURS if is_open else NOT_MET

    def _coarser(self, name: str, item: str, hierarchy: StoredHierarchy, least: int) -> tuple[str, str]:
        definition = hierarchy.definition
        options = dict(definition.options)
        finest = definition.arguments[least - 1] if len(definition.arguments) >= least else None
        kind, unit = definition.kind, str(finest).upper()
        if item == "C" and kind == "calendar":
            if unit not in _YEARS:
                return "to the day" if unit == "ENDS" else f"by {unit}", NOT_MET
            return self._of_calendar(name, unit, options.get("low"))
        if item == "C" and kind == "intervals":
            if self._is_birth(name):
                return self._of_years(options.get("low"))
            high = options.get("high")
            is_open = isinstance(high, int) and high <= _OLDEST
            return (f"in one label from {high} on", MET) if is_open else ("ages over 89 are told apart", NOT_MET)
        if item == "B" and kind == "prefixes" and (self._is_named(name, "zip") or _has_word(_ZIP, name)):
            if not isinstance(finest, int) or finest > _DIGITS:
                return f"{finest} digits", NOT_MET
            more_than, large = options.get("more_than"), options.get("large")
            if not isinstance(more_than, int) or more_than < _PEOPLE or not isinstance(large, tuple):
                return f"{finest} digits, also of areas of {_PEOPLE:,} people or fewer", NOT_MET
            if any(len(str(prefix)) < finest for prefix in large):
                return f"{finest} digits, and {options['people']} has the people of larger areas", NOT_MET
            areas = counted(len(large), "area")
            return f"{finest} digits of {areas} of more than {more_than:,} people in {options['people']}", MET
        return f"from level {least} of {definition.name} on", YOURS

    def _of_calendar(self, name: str, unit: str, low: object) -> tuple[str, str]:
        """Describes the publication of dates by year or coarser, with the finding: dates of birth need one label for
        all ages over 89.
        """
        is_birth, is_other = self._is_birth(name), self._is_named(name, "dates")
        needed = (self._now() if is_birth else datetime.now(UTC).year) - _OLDEST + 1
        years = self.kinds[fold(name)].years
        if not is_birth and (is_other or min(years, default=0) >= needed):
            return f"by {unit}", MET
        if low is None and not years and not is_birth:
            return f"by {unit}, and its years are not known", YOURS
        if low is None:
            doubt = "" if is_birth else f": years before {needed} tell an age over 89 if they are births, dates if not"
            return f"by {unit}, without an open end for births{doubt}", NOT_MET
        if _year_of(low) < needed:
            return f"by {unit}, with one label before {low}, and births before {needed} tell an age over 89", NOT_MET
        return f"by {unit}, with one label before {low}", MET

    def _of_years(self, low: object) -> tuple[str, str]:
        """Describes how years of birth are published in intervals; returns the description and the finding."""
        needed = self._now() - _OLDEST + 1
        if isinstance(low, int) and low >= needed:
            return f"in one label before {low}", MET
        return f"births before {needed} tell an age over 89", NOT_MET

    def _is_year_of_birth(self, name: str) -> bool:
        is_number = self.kinds[fold(name)].type != "BOOLEAN"
        return self._is_birth(name) and (is_number or self._is_named(name, "birth")) and not _has_word(_NOT_WHEN, name)

    def _is_birth(self, name: str) -> bool:
        return self._is_named(name, "birth") or (not self._is_named(name, "dates") and _has_word(_BIRTH, name))

    def _now(self) -> int:
        """Returns the last year of the dates other than dates of birth; if the current year is earlier, or if years are
        unknown, returns the current year.
        """
        dated = [kind.years for name, kind in self.kinds.items() if kind.is_date and not self._is_birth(name)]
        this_year = datetime.now(UTC).year
        return min(max(map(max, dated)), this_year) if dated and all(dated) else this_year

    def _is_named(self, name: str, what: str) -> bool:
        return fold(name) in map(fold, self.named.get(what, ()))


def _has_word(words: re.Pattern[str], name: str) -> bool:
    return words.search(words_of(name)) is not None


def _year_of(date: object) -> int:
    """Returns the year of a date as a text; 0 for years before Christ."""
    match = re.match(r"\d+", str(date))
    return int(match[0]) if match and "BC" not in str(date) else 0


def _in_place(in_place: Pseudonym | Mask | Shift, kind: Kind) -> tuple[str, str]:
    """Describes a mask or token, with the finding; a mask with a forgotten key counts as a random number."""
    if isinstance(in_place, Shift):
        return "shifted dates, which the rule does not know", NOT_MET
    if isinstance(in_place, Mask):
        is_drawn = in_place.name in INJECTIVE_MASKS and not in_place.lasts
        key = "no key" if in_place.is_keyless else "a key that lasts" if in_place.lasts else "a key that is forgotten"
        treated = f"mask {in_place.name} under {key}"
        if is_drawn and in_place.name in _LEFT and not kind.is_masked_whole:
            return f"{treated}, which leaves some letters as they are", YOURS
        first = dict(in_place.arguments).get("first")
        if is_drawn and in_place.name == "card" and isinstance(first, int) and first > _ISSUER:
            return f"{treated}, which leaves the first {first} digits", NOT_MET
        return treated, MET if is_drawn else NOT_MET
    return (
        ("a token under a key that lasts, from which it is derived", NOT_MET)
        if in_place.lasts
        else ("a token under a key that is forgotten", MET)
    )
