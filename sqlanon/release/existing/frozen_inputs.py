"""The catalog's copies of the tables that a release reads besides its source, because the tables may change later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy, CoarseColumn
from sqlanon.domain.identifiers import fold
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.errors import InternalError
from sqlanon.sources.coarse import labels_listed
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    and_,
    as_text,
    ascending,
    exists,
    identical,
    insert,
    into,
    is_null,
    not_,
    order_by,
    window,
)
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, select, subquery
from sqlanon.sql.build.render import create_table
from sqlanon.sql.build.sql_files import query_file
from sqlanon.sql.cells.cells import rank_name
from sqlanon.sql.cells.labels import generalized, level_name, occurring_values, stored_labels
from sqlanon.sql.cells.taxonomy import LISTED, listed_relation
from sqlanon.sql.classes.supersets import SUPERSET
from sqlanon.sql.questions.ask import BoundRequirement
from sqlanon.sql.release.recode import Placed, Recoding

# A requirement that reads one of these needs the hierarchy of a sensitive attribute.
_OF_HIERARCHY = ("sensitive_ancestor", "guarding_node")

_TAXONOMY = ("release_id", "attribute", "value", "level", "label")


def _stored_name(bound: BoundAttribute) -> str:
    if bound.hierarchy is None:
        raise InternalError(f"{bound.column} has no hierarchy to keep")
    return bound.hierarchy.name


@dataclass(frozen=True)
class Copies:
    """The names of the catalog's tables for copies of labels, of whole hierarchies, of ranges, and of known triples."""

    recoding: QualifiedName
    taxonomy: QualifiedName
    value_range: QualifiedName
    known_triple: QualifiedName

    @property
    def names(self) -> tuple[QualifiedName, ...]:
        return self.recoding, self.taxonomy, self.value_range, self.known_triple


CATALOG = Copies(
    QualifiedName(("anon", "release_recoding")),
    QualifiedName(("anon", "release_taxonomy")),
    QualifiedName(("anon", "release_value_range")),
    QualifiedName(("anon", "release_known_triple")),
)


def freeze(
    engine: Engine,
    release_id: str,
    policy: BoundPolicy,
    requirements: Sequence[BoundRequirement],
    recodings: Sequence[Recoding],
    to: Copies = CATALOG,
    coarse: Sequence[CoarseColumn] = (),
) -> None:
    """Copies the tables that a release reads besides its source and its public table; `coarse` are the columns with
    labels that a live view reads.
    """
    for each in coarse:
        if each.bound.stored:
            names = [literal(release_id), literal(each.bound.column)]
            copied = select(*names, as_text(column("value")), column("label"))
            engine.run(insert(relation(to.recoding), extend(copied, of=subquery(labels_listed(each), "listed"))))
    frozen = [recoding for recoding in recodings if _is_frozen(recoding)]
    _freeze_labels(engine, release_id, [recoding for recoding in frozen if not recoding.mixed], to)
    for recoding in frozen:
        if recoding.mixed:
            _freeze_levels(engine, release_id, recoding, to)
    _freeze_taxonomies(engine, release_id, policy, requirements, to)
    _freeze_listed(engine, release_id, policy.ranges, requirements, to)
    if any(SUPERSET in requirement.reads for requirement in requirements):
        named = {fold(name) for requirement in requirements for name, _ in requirement.within or ()}
        for recoding in recodings:
            least = recoding.level + (fold(recoding.bound.attribute.name) not in named)
            _freeze_coarser(engine, release_id, policy, recoding, least, to)


def _freeze_coarser(
    engine: Engine, release_id: str, policy: BoundPolicy, recoding: Recoding, least: int, to: Copies = CATALOG
) -> None:
    """Stores, for each label of a quasi-identifier, the number of its node at each level from `least` on.

    Raises InternalError if a label has two labels above it at one level, which does not occur in a hierarchy.
    """
    bound, levels = recoding.bound, range(least, recoding.bound.height)
    values = generalized(bound, occurring_values(bound, policy.relation), stored_labels(bound), counted=False)
    label = column(level_name(recoding.level) if recoding.level else "value")
    for level in levels:
        path = [ascending(column(level_name(above) if above else "value")) for above in range(level, bound.height)]
        node = alias(window(f.dense_rank(), order=order_by(*path)), "node")
        numbered = select(alias(as_text(label), "value"), node, of=subquery(values, "generalized"))
        parts = [literal(release_id), literal(bound.column), column("value"), literal(level), as_text(column("node"))]
        rows = select(*parts, distinct=True, of=subquery(numbered, "numbered"))
        engine.run(insert(into(relation(to.taxonomy), _TAXONOMY), rows))
    several = select(literal(1), of=relation(to.taxonomy), where=_of_attribute(release_id, bound))
    several = extend(several, group_by=[column("value"), column("level")], having=f.count() > 1, limit=1)
    if levels and engine.rows(several):
        raise InternalError(f"a label of {bound.column} lies below two labels of a higher level")


def forget_coarser(engine: Engine, release_id: str, policy: BoundPolicy, released: QualifiedName) -> None:
    """Removes the numbers of nodes above labels that no row of a snapshot shows, because their values were
    suppressed.
    """
    for bound in policy.quasi_identifiers:
        shown_rows = select(literal(1), of=relation(released, as_="released"))
        extend(shown_rows, where=[identical(as_text(column(bound.column, "released")), column("value", "frozen"))])
        stale = [*_of_attribute(release_id, bound), exp.not_(exists(shown_rows))]
        engine.run(exp.delete(relation(CATALOG.taxonomy, as_="frozen"), where=and_(*stale)))


def _is_frozen(recoding: Recoding) -> bool:
    """Whether `freeze` copies the labels of a recoding: the catalog lists them, and the release reads them."""
    return recoding.is_read and recoding.bound.stored


def _freeze_labels(engine: Engine, release_id: str, recodings: Sequence[Recoding], to: Copies) -> None:
    """Copies the labels of stored hierarchies, each at the one level of its quasi-identifier."""
    if recodings:
        rows = query_file(
            "recoding",
            "frozen",
            release=release_id,
            attributes=[recoding.bound.column for recoding in recodings],
            hierarchies=[_stored_name(recoding.bound) for recoding in recodings],
            levels=[recoding.level for recoding in recodings],
        )
        engine.run(insert(relation(to.recoding), rows))


def _freeze_levels(engine: Engine, release_id: str, recoding: Recoding, to: Copies) -> None:
    """Copies all labels of a stored hierarchy, because the rounds of a local recoding have several levels."""
    _freeze_all(engine, release_id, recoding.bound, 0, to)
    # NULL stays a separate value unless the hierarchy lists it.
    row = [literal(release_id), literal(recoding.bound.column), exp.Null(), literal(0), exp.Null()]
    listed = select(literal(1), of=relation(to.taxonomy))
    listed = extend(listed, where=[*_of_attribute(release_id, recoding.bound), is_null(column("value"))])
    unlisted = select(*row, of=subquery(select(literal(1)), "single_row"), where=[not_(exists(listed))])
    engine.run(insert(into(relation(to.taxonomy), _TAXONOMY), unlisted))


def forget_labels(engine: Engine, release_id: str, recodings: Sequence[Recoding]) -> None:
    """Removes the copied labels of a snapshot, because its rows show labels, while the copy also has suppressed
    values.
    """
    frozen = [recoding for recoding in recodings if _is_frozen(recoding)]
    if any(not recoding.mixed for recoding in frozen):
        engine.run(exp.delete(relation(CATALOG.recoding), where=column("release_id").eq(release_id)))
    for recoding in frozen:
        if recoding.mixed:
            labels = and_(*_of_attribute(release_id, recoding.bound))
            engine.run(exp.delete(relation(CATALOG.taxonomy), where=labels))


def _of_attribute(release_id: str, bound: BoundAttribute) -> list[exp.Expr]:
    return [
        column("release_id").eq(release_id),
        column("attribute").eq(bound.column),
    ]


def _freeze_taxonomies(
    engine: Engine, release_id: str, policy: BoundPolicy, requirements: Sequence[BoundRequirement], to: Copies
) -> None:
    """Copies the stored hierarchy of each sensitive attribute whose values a requirement looks up."""
    reading = [r for r in requirements if any(name in r.reads for name in _OF_HIERARCHY)]
    attributes = {name for requirement in reading for name in requirement.attributes}
    for bound in policy.sensitive:
        if bound.stored and bound.column in attributes:
            # Level 0 is the value itself, which the other levels have, too; a flat list has no other level.
            _freeze_all(engine, release_id, bound, min(1, bound.height - 1), to)


def _freeze_all(engine: Engine, release_id: str, bound: BoundAttribute, lowest: int, to: Copies) -> None:
    """Copies the levels of a stored hierarchy from the level `lowest` up."""
    rows = select(
        literal(release_id),
        literal(bound.column),
        column("value"),
        column("level"),
        column("label"),
        of=relation(("anon", "hierarchy_value")),
        where=[column("hierarchy").eq(_stored_name(bound)), column("level") >= lowest],
    )
    engine.run(insert(into(relation(to.taxonomy), _TAXONOMY), rows))


def _freeze_listed(
    engine: Engine,
    release_id: str,
    tables: Sequence[tuple[int, QualifiedName]],
    requirements: Sequence[BoundRequirement],
    to: Copies,
) -> None:
    """Copies the tables of values that requirements name, each with the requirement's index."""
    for index, table in tables:
        kind = listed_relation(requirements[index].reads)
        assert kind is not None
        value, *others = LISTED[kind]
        rows = select(literal(release_id), literal(index), as_text(column(value)), *map(column, others))
        columns = ("release_id", "requirement", value, *others)
        copy = to.value_range if kind == "value_range" else to.known_triple
        engine.run(insert(into(relation(copy), columns), extend(rows, of=relation(table))))


# The tables by which a release finds the regions of rows: temporary for a snapshot, stored with a live view.


def kept_names(placed: Placed, release_id: str) -> Placed:
    """Returns the tables of regions under the names that their copies for a live view have in the schema anon."""

    def named(kind: str) -> QualifiedName:
        return QualifiedName(("anon", f"{kind}_{release_id}"))

    ranks = tuple(named(f"rank_{index}") if table else None for index, table in enumerate(placed.ranks))
    return replace(placed, regions=named("region"), region_map=named("place"), ranks=ranks)


def region_tables(placed: Placed) -> list[QualifiedName]:
    """Returns the tables that a release reads to find the regions of its rows."""
    return [placed.regions, placed.region_map, *(table for table in placed.ranks if table)]


def keep_regions(engine: Engine, placed: Placed, release_id: str) -> Placed:
    """Copies the regions' tables that a live view reads; returns the copies."""
    copies = kept_names(placed, release_id)
    for table, copy in zip(region_tables(placed), region_tables(copies), strict=True):
        columns = [column("value"), column(rank_name(0))] if table in placed.ranks else [exp.Star()]
        engine.run(create_table(copy, select(*columns, of=relation(table))))
    return copies
