"""MEASURE release WITH FIGURES (marginals): how far the counts of some columns together are from the source's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import comb

from sqlglot import exp

from sqlanon.assess.figures.class_figures import ClassFigure
from sqlanon.catalog.snapshot import hierarchies_of, policy_of
from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.identifiers import fold
from sqlanon.domain.release import Reading, Release
from sqlanon.domain.values import UNNAMED, QualifiedName, Value
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import PolicyError, UserError, about
from sqlanon.release.existing.loaded import require_unchanged
from sqlanon.release.existing.objects import require_own_columns
from sqlanon.sources.bind_policy import bind
from sqlanon.sources.pivot import source_rows
from sqlanon.sources.source import own_object
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import identical, infix, real, window
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.cells.labels import generalized, level_name, occurring_values, published_value, stored_labels
from sqlanon.sql.hierarchies import intervals
from sqlanon.sql.hierarchies.base import functional

_NAME = "marginals"
_MOST_WAYS = 3
# So many combinations of columns at most: each is counted twice.
_MOST = 1_000


def marginals(engine: Engine, release: Release, arguments: Mapping[str, Value], scratch: Scratch) -> list[ClassFigure]:
    """The total variation of each combination of `ways` columns: half the sum of the differences between shares.

    The mean over all combinations, and the greatest with the columns that have it. Numbers under INTERVALS are counted
    by interval. NULL where the source or the release has no row.

    Reads the source, in a transaction that is open already. Raises UserError for arguments that are none, PolicyError
    for a release whose rows are not drawn from counts with noise, and for too few or too many columns.
    """
    ways = _ways(arguments)
    require_own_columns(engine, release)
    called = f"{_NAME} of {release.name} cannot be measured"
    if {attribute.reading for attribute in release.attributes} != {Reading.DOMAIN_VALUE}:
        raise PolicyError(f"{called}: it is about rows that are drawn from counts with noise")
    names = {fold(attribute.name): attribute.name for attribute in release.attributes}
    if not ways <= len(names) or comb(len(names), ways) > _MOST:
        raise PolicyError(f"{called}: it has {len(names)} columns, and {ways} at a time are compared")
    policy = policy_of(release)
    source = source_rows(engine, policy, scratch)
    hierarchies = {fold(h.definition.name): h for h in hierarchies_of(release)}
    bound = bind(policy, source, hierarchies, fingerprint="")
    columns = [b for b in bound.published if fold(b.column) in names]
    require_unchanged(release, source, [b.column for b in columns])
    rows = [
        scratch.table("shown", _of_source(columns, bound.relation)),
        scratch.table("shown", _of_release(columns, own_object(engine, release.name))),
    ]
    chosen = list(combinations(range(len(columns)), ways))
    distances = {indexes: _distance(engine, rows, indexes) for indexes in chosen}
    known = {indexes: distance for indexes, distance in distances.items() if distance is not None}
    if not known:
        return [ClassFigure(_NAME, None, None)]
    worst = max(known, key=lambda indexes: known[indexes])
    return [
        ClassFigure(_NAME, None, sum(known.values()) / len(known)),
        ClassFigure(f"{_NAME}_worst", ", ".join(columns[index].column for index in worst), known[worst]),
    ]


def _ways(arguments: Mapping[str, Value]) -> int:
    ways = dict(arguments)
    value = ways.pop("ways", ways.pop(UNNAMED, 2))
    if ways or isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _MOST_WAYS:
        with about("figures", _NAME):
            raise UserError(f"{_NAME} takes ways, from 1 to {_MOST_WAYS}", hint=f"write {_NAME}(ways => 2)")
    return value


def _shown_name(index: int) -> str:
    return f"x{index}"


def _level(b: BoundAttribute) -> int:
    """The level by whose labels a column is counted: numbers by interval, others as they are shown."""
    is_interval = b.hierarchy is not None and b.hierarchy.kind == "intervals"
    return max(b.min_level, intervals.first_level(b.hierarchy) if b.hierarchy and is_interval else 0)


def _of_source(columns: Sequence[BoundAttribute], source: QualifiedName) -> exp.Select:
    """The source's rows by the values that the release may show."""
    query = exp.select().from_(relation(source, as_="source"))
    for index, b in enumerate(columns):
        level, name = _level(b), f"label_{index}"
        if not level:
            query = query.select(alias(published_value(b, "source"), _shown_name(index)))
            continue
        values = generalized(b, occurring_values(b, source), stored_labels(b), counted=False).subquery(name)
        same = identical(published_value(b, "source"), column("value", name))
        query = query.select(alias(column(level_name(level), name), _shown_name(index)))
        query = query.join(values, on=same, join_type="LEFT")
    return query


def _of_release(columns: Sequence[BoundAttribute], release: QualifiedName) -> exp.Select:
    """The released rows; their numbers by interval."""
    outputs: list[exp.Expr] = []
    for index, b in enumerate(columns):
        value: exp.Expr = column(b.column)
        level = _level(b)
        if level and b.hierarchy is not None and not b.stored:
            value = functional(b.hierarchy.kind).labels(b.hierarchy, value, b.published_type)[level - 1]
        outputs.append(alias(value, _shown_name(index)))
    return exp.select(*outputs).from_(relation(release))


def _distance(engine: Engine, rows: Sequence[str], indexes: Sequence[int]) -> float | None:
    """Half the sum of the differences between two tables' shares of each combination of values; None without rows."""
    names = [_shown_name(index) for index in indexes]
    shares = []
    for table in rows:
        share = infix(f.count(), "/", window(f.sum(f.count())))
        counted = exp.select(*map(column, names), alias(share, "share")).from_(relation(table))
        shares.append(counted.group_by(*map(column, names)))
    same = exp.and_(*(identical(column(name, "one"), column(name, "other")) for name in names))
    parts = [f.coalesce(column("share", side), real(0.0)) for side in ("one", "other")]
    difference = exp.Abs(this=infix(parts[0], "-", parts[1]))
    query = exp.select(f.sum(difference), f.count(column("share", "one")), f.count(column("share", "other")))
    query = query.from_(shares[0].subquery("one")).join(shares[1].subquery("other"), on=same, join_type="FULL")
    ((total, of_source, of_release),) = engine.rows(query)
    return float(total) / 2 if of_source and of_release else None
