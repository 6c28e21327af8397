"""Checks a snapshot before it is exported, and the files that were written from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlglot import exp

from sqlanon.assess.check import check_release
from sqlanon.catalog.hierarchies import StoredHierarchy
from sqlanon.catalog.snapshot import fingerprint, hierarchies_of, policy_of
from sqlanon.domain.policy import Policy, Role
from sqlanon.domain.release import Measurement, PrivacyReport, Release, ReleaseObject
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Column, Engine
from sqlanon.errors import CatalogError, EngineError, InternalError, PrivacyViolation
from sqlanon.export.claims import is_alike
from sqlanon.export.formats.base import ExportFile, Format
from sqlanon.release.existing.objects import fingerprint_of, has_fingerprint
from sqlanon.release.existing.statistics import AnswerableRequirements, answerable_by
from sqlanon.release.pipeline.check import measured
from sqlanon.sources.column_types import is_list, without_enums
from sqlanon.sources.source import own_object
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text, cast
from sqlanon.sql.build.names import alias, column, parameter, relation
from sqlanon.sql.build.queries import select, subquery
from sqlanon.sql.build.render import create_temporary
from sqlanon.sql.build.steps import with_steps
from sqlanon.sql.cells.taxonomy import KNOWN_TRIPLE
from sqlanon.sql.classes.normal_relations import Background
from sqlanon.sql.classes.rows import Rows
from sqlanon.sql.classes.supersets import SUPERSET
from sqlanon.sql.questions.ask import BoundRequirement

# The facts about a snapshot before its export, all checked against its catalog.


# The tables that requirements may read besides the released rows.
FROZEN = ("release_taxonomy", "release_value_range", "release_known_triple")


@dataclass(frozen=True)
class Frozen:
    """Rows of a table of the catalog, and the names and types of its columns."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class ReleasedTable:
    """A table of a release, by its full name, with its columns; `fragment` is None if it is the only table."""

    name: QualifiedName
    fragment: str | None
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class Snapshot:
    """A release with its facts in the catalog.

    `achieved` are the measurements of its requirements, which were just taken; `frozen` are the catalog's copies of the
    other tables that requirements read.
    """

    release: Release
    policy: Policy
    hierarchies: Sequence[StoredHierarchy]
    tables: tuple[ReleasedTable, ...]
    answerable: AnswerableRequirements
    achieved: tuple[Measurement, ...]
    frozen: Mapping[str, Frozen]


def labels_above(snapshot: Snapshot) -> dict[str, tuple[tuple[int, ...], ...]]:
    """Returns the numbers of the labels above each label of a quasi-identifier, in the order of the labels' bytes.

    NULL is last. A column of times with a time zone is left out, because its texts depend on the session.
    """
    if not any(SUPERSET in requirement.reads for requirement in snapshot.answerable.requirements):
        return {}
    types = {name: kind for table in snapshot.tables for name, kind in table.columns}
    quasi = [a.name for a in snapshot.release.attributes if a.role is Role.QUASI_IDENTIFIER]
    above: dict[str, dict[str | None, list[tuple[int, int]]]] = {n: {} for n in quasi if not types[n].endswith("ZONE")}
    shown_level = {a.name: a.level for a in snapshot.release.attributes}
    for _, attribute, value, level, node in snapshot.frozen["release_taxonomy"].rows:
        if attribute in above and int(level) > (shown_level[attribute] or 0):
            above[attribute].setdefault(value, []).append((int(level), int(node)))
    numbers: dict[str, tuple[tuple[int, ...], ...]] = {}
    for name, of in above.items():
        if of:
            numbers[name] = tuple(tuple(node for _, node in sorted(of[label])) for label in sorted(of, key=by_label))
    return numbers


def released_triples(engine: Engine, snapshot: Snapshot) -> dict[int, list[tuple[int | None, int, int, int]]]:
    """Returns the stated knowledge of the adversary, by requirement: triples about released values, and about every
    value.

    A value is represented by its place among the released values, in the order of the bytes of their texts, with NULL
    last; None means every value. Triples about other values are left out, because no released person has these values.
    Columns of times with a time zone are left out, because their texts depend on the session.
    """
    answerable = snapshot.answerable
    if not any(KNOWN_TRIPLE in requirement.reads for requirement in answerable.requirements):
        return {}
    known: dict[int, list[tuple[int | None, int, int, int]]] = {}
    types = {bound.column: bound.published_type for bound in answerable.bound.sensitive}
    for part in answerable.rows_of_requirements({table.fragment: relation(table.name) for table in snapshot.tables}):
        for index in part.indexes:
            requirement = answerable.requirements[index]
            if KNOWN_TRIPLE not in requirement.reads or types[requirement.attributes[0]].endswith("ZONE"):
                continue
            rank_of: dict[str | None, int | None] = {None: None}
            texts = released_texts(engine, part.rows, requirement.attributes[0])
            rank_of |= {text: rank for rank, text in enumerate(texts) if text is not None}
            rows = [row[2:] for row in snapshot.frozen["release_known_triple"].rows if row[1] == index]
            of_released = [(rank_of[value], *numbers) for value, *numbers in rows if value in rank_of]
            known[index] = sorted(of_released, key=lambda row: (row[0] is None, row))
    return known


def released_texts(engine: Engine, rows: Rows, name: str) -> list[str | None]:
    """Returns the texts of a sensitive column's distinct values, in the order of their bytes, with NULL last."""
    valued = rows.of_subject((name,))
    values = select(alias(as_text(valued.value(name)), "value"), distinct=True, of=valued.relation)
    return sorted((text for (text,) in engine.rows(with_steps(values, valued.steps))), key=by_label)


def by_label(label: str | None) -> tuple[bool, bytes]:
    """Returns a sort key for the labels of a column: by their bytes, with NULL last."""
    return label is None, b"" if label is None else label.encode()


def checked_snapshot(engine: Engine, release: Release) -> Snapshot:
    """Checks a snapshot, as it is now, against its requirements and against its state when it was made.

    Raises PrivacyViolation if it no longer meets them or has other rows or columns, and CatalogError if its rows in the
    catalog contradict each other.
    """
    policy, hierarchies = policy_of(release), hierarchies_of(release)
    _require_consistent(release, policy, hierarchies)
    tables = tuple(
        ReleasedTable(own_object(engine, made.name), made.fragment, _columns(engine, release, made))
        for made in release.published
    )
    report = check_release(engine, release)
    answerable = answerable_by(engine, release)
    _require_achieved(release, answerable, report)
    if not has_fingerprint(engine, [table.name for table in tables], release.content_fingerprint):
        raise PrivacyViolation(
            f"{release.name} no longer has the rows that were checked when it was made; nothing was exported",
            hint=_since(engine, release),
        )
    frozen = {table: frozen_rows(engine, table, release.release_id) for table in FROZEN}
    return Snapshot(release, policy, hierarchies, tables, answerable, report.measurements, frozen)


def _since(engine: Engine, release: Release) -> str:
    """Returns the hint for a changed release. Another version of the engine may be the cause, because its hashes may
    differ.
    """
    if engine.version() != release.engine_version:
        return f"create it again: it was made with {release.engine_version}, and this is {engine.version()}"
    return "it was changed since: create it again with CREATE OR REPLACE ANONYMIZED TABLE"


def _require_consistent(release: Release, policy: Policy, hierarchies: Sequence[StoredHierarchy]) -> None:
    rows = release.released_rows + release.suppressed_rows
    whole = release.source_rows == (None if release.has_noise else rows)
    if fingerprint(policy, hierarchies) != release.policy_fingerprint or not whole:
        raise CatalogError(
            f"release {release.name}: its rows in the catalog contradict each other; nothing was exported",
            hint="they were changed by hand: create the release again",
        )


def _columns(engine: Engine, release: Release, made: ReleaseObject) -> tuple[Column, ...]:
    try:
        columns = tuple(engine.columns(select(exp.Star(), of=relation(own_object(engine, made.name)))))
    except EngineError:
        raise PrivacyViolation(
            f"the table {made.name} can no longer be read; nothing was exported", hint="create it again"
        ) from None
    if [name for name, _ in columns] != [attribute.name for attribute in release.attributes_of(made.fragment)]:
        raise PrivacyViolation(
            f"{made.name} no longer has the columns that were released; nothing was exported",
            hint="create it again",
        )
    for name, column_type in columns:
        if without_enums(column_type) != column_type:
            raise PrivacyViolation(
                f"the column {name} of {made.name} is an ENUM now, whose dictionary may hold withheld values; "
                "nothing was exported",
                hint="create it again",
            )
    return columns


def _require_achieved(release: Release, answerable: AnswerableRequirements, report: PrivacyReport) -> None:
    """Raises PrivacyViolation unless there is a requirement and all requirements are met."""
    if not report.measurements:
        raise PrivacyViolation(f"{release.name} was made without a requirement; nothing was exported")
    structure = report.measurements[len(answerable.requirements) :]
    named = [*answerable.requirements, *(measurement.question for measurement in structure)]
    for requirement, measurement in zip(named, report.measurements, strict=True):
        if not measurement.satisfied:
            raise PrivacyViolation(
                f"{release.name} does not meet {requirement}: it reaches {measurement.achieved}; nothing was exported",
                hint="it was changed since it was made: create it again",
            )


def frozen_rows(engine: Engine, table: str, release_id: str) -> Frozen:
    """Returns the catalog's rows for this release in one of its tables, and their columns."""
    rows = select(exp.Star(), of=relation(("anon", table)))
    of_release = column("release_id").eq(release_id)
    return Frozen(tuple(engine.columns(rows)), tuple(engine.rows(rows.where(of_release))))


# Checks a written file on a connection of its own, as its receiver would read it.


_LIMITS = "SELECT current_setting('memory_limit'), current_setting('threads')"
# Types whose texts can be read back as the same values. For other types the check compares the texts.
_COMPOSITE = ("STRUCT", "MAP", "UNION", "VARIANT")


@dataclass(frozen=True)
class Expected:
    """The required content of a file.

    `fingerprint` identifies the rows in any order; it is None if another engine computes it. `certificate` is the text
    in the file; it is None if the format has a place for a certificate and the file has none. `achieved` are the
    snapshot's measurements of the requirements. Requirements of `answerable` that a file cannot answer are proven by
    the fingerprint alone. `frozen` are the tables of the catalog that the other requirements read, by name. A file of
    one `fragment` of a release answers the requirements of that fragment.
    """

    fingerprint: str | None
    certificate: str | None
    answerable: AnswerableRequirements
    achieved: Sequence[Measurement]
    frozen: Mapping[str, Frozen]
    fragment: str | None = None


def verify_file(engine: Engine, kind: Format, file: ExportFile, expected: Expected, spill: Path) -> None:
    """Reads the file back: checks the rows and the certificate, and recomputes the requirements that the file can
    answer.

    Raises PrivacyViolation if the file violates a requirement, and InternalError if it contains anything except the
    checked content.
    """
    with reopened(engine, kind, [file], spill) as reader:
        rows = kind.read(file)
        _require_requirements(reader, rows, file.columns, expected)
        if expected.fingerprint is not None and fingerprint_of(reader, rows) != expected.fingerprint:
            raise InternalError("the exported file reads back with other rows than the snapshot has; it was removed")
        carried = list(kind.certificate(reader, file))
        if expected.certificate is None:
            # A file of several without a certificate gives an empty text.
            carried = list(filter(None, carried))
        certified = kind.CARRIES_CERTIFICATE and expected.certificate is not None
        if carried != ([expected.certificate] if certified else []):
            raise InternalError("the exported file reads back with another certificate; it was removed")


@contextmanager
def reopened(engine: Engine, kind: Format, files: Sequence[ExportFile], spill: Path) -> Iterator[Engine]:
    """Yields a connection that can read these files and nothing else, with the memory limit of the engine."""
    memory, threads = engine.rows(_LIMITS)[0]
    config = {"memory_limit": str(memory), "threads": str(threads), "temp_directory": str(spill)}
    reader = kind.reopen(files, config)
    try:
        yield reader
    finally:
        reader.connection.close()


def require_together(
    engine: Engine,
    answerable: AnswerableRequirements,
    achieved: Sequence[Measurement],
    tables: Mapping[str | None, tuple[exp.Query, Sequence[Column]]],
) -> None:
    """Recomputes the requirements that the rows of several files answer together, in the files' types. Raises the
    errors of `verify_file`.
    """
    sources = {
        fragment: subquery(_typed(rows.copy(), columns, answerable, fragment), "exported")
        for fragment, (rows, columns) in tables.items()
    }
    for part in answerable.rows_of_requirements(dict(sources)):
        requirements = answerable.requirements_at(part.indexes)
        reached = measured(engine, requirements, part.rows, answerable.background(part.indexes))
        for index, requirement, measurement in zip(part.indexes, requirements, reached, strict=True):
            _require(requirement, measurement, achieved[index])


def _require_requirements(reader: Engine, rows: exp.Query, columns: Sequence[Column], expected: Expected) -> None:
    answerable = expected.answerable
    exported = subquery(_typed(rows.copy(), columns, answerable, expected.fragment), "exported")
    for index, measurement in measured_beside(reader, answerable, expected.frozen, {expected.fragment: exported}):
        _require(answerable.requirements[index], measurement, expected.achieved[index])


def measured_beside(
    reader: Engine,
    answerable: AnswerableRequirements,
    frozen: Mapping[str, Frozen],
    sources: Mapping[str | None, exp.Table | exp.Subquery],
) -> Iterator[tuple[int, Measurement]]:
    """Yields the index and the measurement of each requirement that the rows in `sources`, by fragment, answer.

    `reader` is a database other than the release's, so the rows of the catalog that requirements read are copied into
    it.
    """
    for table, rows in frozen.items():
        _put_beside(reader, table, rows)
    for part in answerable.rows_of_requirements(sources):
        background = _beside(answerable.background(part.indexes))
        reached = measured(reader, answerable.requirements_at(part.indexes), part.rows, background)
        yield from zip(part.indexes, reached, strict=True)


def _require(requirement: BoundRequirement, reached: Measurement, expected: Measurement) -> None:
    if not reached.satisfied:
        raise PrivacyViolation(
            f"the exported file would violate {requirement}: it reaches {reached.achieved}; nothing was exported",
            hint="values that are equal in the database differ in the file",
        )
    if not is_alike(reached.achieved, expected.achieved):
        raise InternalError(
            f"the exported file reaches {reached.achieved} in {requirement}, the snapshot {expected.achieved}; "
            "it was removed"
        )


def _typed(
    rows: exp.Query, columns: Sequence[Column], answerable: AnswerableRequirements, fragment: str | None
) -> exp.Select:
    """Returns the file's rows, with sensitive values cast to the snapshot's types, because requirements depend on the
    order of these types.

    Quasi-identifiers keep the file's types, because values that are equal in the database may differ in them.
    """
    types, lists = _types(answerable, fragment), _lists(answerable)
    outputs: list[exp.Expr] = []
    for name, kind in columns:
        type_ = lists.get(name) or types.get(name, kind)
        as_is = type_ == kind or (name not in lists and (type_.endswith("]") or type_.startswith(_COMPOSITE)))
        outputs.append(alias(column(name) if as_is else cast(column(name), type_), name))
    return select(*outputs, of=subquery(rows, "read"))


def _types(answerable: AnswerableRequirements, fragment: str | None) -> dict[str, str]:
    """Returns the types in which a table's sensitive columns are read; for a table of values and counts, the types of
    these columns.
    """
    types = {b.column: b.published_type for b in answerable.bound.counted}
    if not answerable.values:
        return types
    of_table = [(name, where) for name, where in answerable.values.items() if where.table == fragment]
    # Numbers of rows, which some formats have as texts, are summed.
    counts = {where.count: "BIGINT" for _, where in of_table if where.count is not None}
    return {where.value: types[name] for name, where in of_table} | counts


def _lists(answerable: AnswerableRequirements) -> dict[str, str]:
    """Returns the types of the lists whose items are counted; some formats have lists as texts."""
    if not any(requirement.of_itemsets for requirement in answerable.requirements):
        return {}
    bound = answerable.bound
    columns = (*bound.quasi_identifiers, *bound.sensitive)
    return {b.column: b.published_type for b in columns if is_list(b.published_type)}


def _put_beside(reader: Engine, table: str, frozen: Frozen) -> None:
    """Creates a temporary table with the catalog's rows, because the file itself cannot be written."""
    lists = [
        alias(
            f.unnest(cast(parameter(index), f"{kind}[]")),
            name,
        )
        for index, (name, kind) in enumerate(frozen.columns, start=1)
    ]
    reader.run(
        create_temporary("TABLE", table, select(*lists)),
        [[row[index] for row in frozen.rows] for index in range(len(frozen.columns))],
    )


def _beside(background: Background) -> Background:
    """Returns the background of a check, read from the temporary tables in place of the catalog's tables."""
    taxonomies = {
        name: replace(taxonomy, listed=_moved(taxonomy.listed) if taxonomy.listed else None)
        for name, taxonomy in background.taxonomies.items()
    }
    ranges = {index: _moved(query) for index, query in background.ranges.items()}
    coarser = {name: _moved(query) for name, query in background.coarser.items()}
    return replace(background, taxonomies=taxonomies, ranges=ranges, coarser=coarser)


def _moved(query: exp.Query) -> exp.Query:
    moved = query.copy()
    for table in moved.find_all(exp.Table):
        if table.db == "anon":
            table.set("db", exp.to_identifier("temp", quoted=True))
    return moved
