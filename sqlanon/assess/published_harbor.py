"""Compares a release with the 18 identifiers of HIPAA's safe harbor, by its levels and its rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.assess.profiling.sample import Sample, SampledColumn, is_nested, is_text, sampled
from sqlanon.assess.safe_harbor import (
    NOT_MET,
    Finding,
    Harbor,
    Kind,
    Treated,
    kinds_of,
    kinds_of_source,
    require_columns,
    wholly_masked,
)
from sqlanon.catalog.snapshot import hierarchies_of, policy_of, types_of
from sqlanon.domain.identifiers import fold
from sqlanon.domain.numbers import counted
from sqlanon.domain.policy import Attribute, Mask, Policy, Role
from sqlanon.domain.release import Reading, Release, ReleaseAttribute, ReleaseObject
from sqlanon.engines.base import Column, Engine
from sqlanon.errors import EngineError, UserError
from sqlanon.release.existing.loaded import unreadable
from sqlanon.release.existing.objects import require_own_columns
from sqlanon.sources.source import own_object
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text, filtered
from sqlanon.sql.build.names import column, literal, relation
from sqlanon.sql.build.queries import select

# Patterns of identifiers within longer texts, by the item of the rule, with the words for one of them.
_BYTE = r"(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])"
_DAY = "(0?[1-9]|[12][0-9]|3[01])(st|nd|rd|th)?[.]?"
_MONTH = "(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[.]?"
_PATTERNS: tuple[tuple[str, str, str], ...] = (
    (
        "C",
        "a date",
        r"\b[0-9]{4}[-/](0[1-9]|1[0-2])[-/](0[1-9]|[12][0-9]|3[01])(\b|T)"
        r"|\b(0?[1-9]|[12][0-9]|3[01])[./-](0?[1-9]|[12][0-9]|3[01])[./-](19|20)[0-9]{2}\b"
        rf"|(?i)\b{_DAY}[ -]{_MONTH},?[ -](19|20)[0-9]{{2}}\b|\b{_MONTH} {_DAY},? (19|20)[0-9]{{2}}\b",
    ),
    (
        "D",
        "a telephone number",
        r"\+[0-9][0-9 ()./-]{6,}[0-9]|(\([0-9]{3}\) ?|\b[0-9]{3}[ .-])[0-9]{3}[ .-][0-9]{4}\b",
    ),
    ("F", "an e-mail address", r"[\w.+-]+@\w[\w-]*(\.[\w-]+)*\.[A-Za-z]{2,}"),
    ("G", "a social security number", r"\b[0-9]{3}-[0-9]{2}-[0-9]{4}\b"),
    (
        "J",
        "an account number",
        r"\b[A-Z]{2}[0-9]{2}( ?[A-Z0-9]{4}){3,7}( ?[A-Z0-9]{1,3})?\b|\b([0-9]{4}[ -]?){3}[0-9]{4}\b",
    ),
    ("M", "a device identifier", r"\b([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}\b"),
    ("N", "a web address", r"\b(https?|ftp)://|\bwww\."),
    ("O", "an IP address", rf"\b({_BYTE}\.){{3}}{_BYTE}\b|\b([0-9A-Fa-f]{{1,4}}:){{7}}[0-9A-Fa-f]{{1,4}}\b"),
    ("R", "a unique number", r"\b[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\b"),
)
# The sign and the year of a calendar's label. The label of a decade or a century leaves the last digits open.
_YEAR = re.compile(r"(-?)([0-9]+\*{0,2})")
# The readings of columns with a row's own values.
_AS_IT_IS = (Reading.EXACT, Reading.BUCKET_VALUE)
_RANGES = (Reading.RANGE, Reading.BUCKET_RANGE, Reading.CENTROID, Reading.LOWER_BOUND, Reading.UPPER_BOUND)
_BINARY = ("BLOB", "BIT", "GEOMETRY")
# The readings of columns without values of the source.
_UNREAD = (Reading.TOKEN, Reading.COUNT, Reading.COUNTERFEITS, Reading.NOISY_COUNT, Reading.RESPONDENT)


def harbor_of_release(
    engine: Engine, release: Release, named: Mapping[str, Sequence[str]]
) -> tuple[list[Finding], tuple[str, ...]]:
    """Returns a finding for each of the 18 identifiers, a finding for actual knowledge, and remarks.

    Columns are recognized by their names, by the values of the source if it can be read, and by the values of the
    release, in which each text is searched for patterns of identifiers. Raises PolicyError for a column that the user
    names and that the source does not have.
    """
    require_own_columns(engine, release)
    policy, remarks = policy_of(release), []
    kinds = _kinds_of_source(engine, policy)
    if kinds is None:
        types = types_of(release)
        kinds = kinds_of(Sample(tuple(SampledColumn(name, kind, ()) for name, kind in types.items()), True), types)
        remarks.append("the source was not read: columns are recognized by their names and by the published rows")
    require_columns(policy, named, kinds)
    tables = [(made, [a for a in release.attributes if a.fragment == made.fragment]) for made in release.published]
    inside: dict[str, list[Treated]] = {}
    try:
        for made, attributes in tables:
            columns = engine.columns(select(exp.Star(), of=relation(own_object(engine, made.name))))
            kinds |= dict(_published_kinds(engine, made, columns, attributes, release.released_rows, kinds))
            kinds |= dict(_years_of_labels(engine, made, attributes, kinds))
            whole = wholly_masked(engine, own_object(engine, made.name), _masked(policy, attributes))
            kinds |= {known: replace(kinds[known], is_masked_whole=True) for known in kinds if fold(known) in whole}
            for item, treated in _inside(engine, made, columns, attributes):
                inside.setdefault(item, []).append(treated)
    except EngineError as error:
        raise unreadable(engine, release, error) from None
    shown_names = {fold(_source(attribute)) for attribute in release.attributes}
    harbor = Harbor(
        policy=_at_levels(policy, release.attributes),
        hierarchies={fold(h.definition.name): h for h in hierarchies_of(release)},
        kinds={fold(name): kind for name, kind in kinds.items()},
        named=named,
        left_out={fold(a.name) for a in policy.all_attributes if _is_published(a) and fold(a.name) not in shown_names},
        ranges={fold(_source(a)) for a in release.attributes if a.reading in _RANGES},
        inside=inside,
    )
    return list(harbor.findings(kinds)), (*harbor.remarks(kinds), *remarks)


def _kinds_of_source(engine: Engine, policy: Policy) -> dict[str, Kind] | None:
    """Returns the kinds of the source's columns; None if the source is unreadable, or if an error would abort a
    transaction.
    """
    if engine.in_transaction():
        return None
    try:
        return kinds_of_source(engine, policy)
    except (EngineError, UserError):
        return None


def _masked(policy: Policy, attributes: Iterable[ReleaseAttribute]) -> dict[str, Attribute]:
    """Returns the policy's attributes with masks by the names of their columns in a table of the release."""
    masked = {fold(a.name): a for a in policy.all_attributes if isinstance(a.pseudonym, Mask)}
    return {a.name: masked[fold(_source(a))] for a in attributes if fold(_source(a)) in masked}


def _is_published(attribute: Attribute) -> bool:
    """Whether a release shows the attribute, apart from columns that its method leaves out."""
    return attribute.role not in (Role.IDENTIFIER, Role.ENTITY) or attribute.pseudonym is not None


def _source(attribute: ReleaseAttribute) -> str:
    """Returns the name of the source's column behind a column of the release."""
    name = attribute.source or attribute.name
    ends = {Reading.LOWER_BOUND: "_low", Reading.UPPER_BOUND: "_high"}
    return name.removesuffix(ends.get(attribute.reading, ""))


def _at_levels(policy: Policy, published: Iterable[ReleaseAttribute]) -> Policy:
    """Returns the policy with each column's lowest level in the release's rows as its MIN LEVEL."""
    least = {fold(_source(attribute)): min(attribute.levels) for attribute in published if attribute.levels}

    def at_level(attribute: Attribute) -> Attribute:
        return replace(attribute, min_level=least.get(fold(attribute.name), attribute.min_level))

    related = (replace(table, attributes=tuple(map(at_level, table.attributes))) for table in policy.related)
    return replace(policy, attributes=tuple(map(at_level, policy.attributes)), related=tuple(related))


def _published_kinds(
    engine: Engine,
    made: ReleaseObject,
    columns: Sequence[Column],
    attributes: Sequence[ReleaseAttribute],
    rows: int,
    known: Mapping[str, Kind],
) -> Iterator[tuple[str, Kind]]:
    """Yields the columns that a table publishes unchanged, with their kinds in the source and in the table combined."""
    sources = {a.name: _source(a) for a in attributes if a.reading in _AS_IT_IS}
    as_they_are = [(name, kind) for name, kind in columns if name in sources]
    sample = sampled(engine, own_object(engine, made.name), as_they_are, rows)
    names = {fold(name): name for name in known}
    for name, kind in kinds_of(sample, dict(as_they_are)).items():
        source = names.get(fold(sources[name]), sources[name])
        before = known.get(source, kind)
        yield (
            source,
            replace(
                before,
                category=before.category or kind.category,
                unique=before.unique or kind.unique,
            ),
        )


def _years_of_labels(
    engine: Engine, made: ReleaseObject, attributes: Sequence[ReleaseAttribute], known: Mapping[str, Kind]
) -> Iterator[tuple[str, Kind]]:
    """Yields, for each column of dates, its kind and the years of its labels: 1930 and 1939 for 193*, 0 for years
    before Christ.
    """
    names = {fold(name): name for name in known}
    for attribute in attributes:
        source = names.get(fold(_source(attribute)))
        if source is None or attribute.reading is not Reading.LABEL or not known[source].is_date:
            continue
        labels = select(as_text(column(attribute.name)), distinct=True, of=relation(own_object(engine, made.name)))
        matches = [_YEAR.match(label or "") for (label,) in engine.rows(labels)]
        years = [
            0 if match[1] else int(match[2].replace("*", digit)) for match in matches if match for digit in ("0", "9")
        ]
        yield source, replace(known[source], years=(*known[source].years, *years))


def _inside(
    engine: Engine, made: ReleaseObject, columns: Sequence[Column], attributes: Sequence[ReleaseAttribute]
) -> Iterator[tuple[str, Treated]]:
    """Yields the columns of a table with identifiers inside some texts, each with the item of the rule."""
    readable = {name for name, kind in columns if is_text(kind) or (is_nested(kind) and not kind.startswith(_BINARY))}
    texts = [attribute for attribute in attributes if attribute.name in readable and attribute.reading not in _UNREAD]
    questions = [
        (attribute, item, words, pattern)
        for attribute in texts
        for item, words, pattern in _PATTERNS
        # Dates under a hierarchy are judged by their levels.
        if item != "C" or attribute.reading in _AS_IT_IS
    ]
    if not questions:
        return
    counts = [
        filtered(f.count(), f.built_in("regexp_matches", as_text(column(attribute.name)), literal(pattern)))
        for attribute, _, _, pattern in questions
    ]
    (numbers,) = engine.rows(select(*counts, of=relation(own_object(engine, made.name))))
    for (attribute, item, words, _), number in zip(questions, numbers, strict=True):
        if number:
            yield (
                item,
                Treated(_source(attribute), f"published, with {words} in {counted(int(number), 'row')}", NOT_MET),
            )
