"""Compares the counts of a release with noise and of its source, after their columns have been given the same form.

The results have no noise and cost no budget, so they are for the owner only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, inf

from sqlglot import exp

from sqlanon.assess.figures.class_figures import ClassFigure
from sqlanon.catalog import releases
from sqlanon.catalog.snapshot import hierarchies_of, policy_of
from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.identifiers import fold
from sqlanon.domain.release import DIFFERENTIAL_PRIVACY, WITH_NOISE, Reading, Release
from sqlanon.domain.values import UNNAMED, QualifiedName, Value
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import PolicyError, UserError, about
from sqlanon.release.existing.loaded import require_unchanged
from sqlanon.release.existing.objects import require_own_columns
from sqlanon.sources.bind_policy import bind, source_rows
from sqlanon.sources.source import own_object
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import and_, big, identical, infix, real, window
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, full_join, left_join, select, subquery
from sqlanon.sql.cells.labels import generalized, level_name, occurring_values, published_value, stored_labels
from sqlanon.sql.hierarchies import intervals
from sqlanon.sql.hierarchies.base import functional

_NAME, _EPSILON = "marginals", "epsilon"
_MOST_WAYS = 3
N = "n"
# The greatest number of combinations of columns. Each is counted twice.
_MOST = 1_000


@dataclass(frozen=True)
class Compared:
    """A release with noise and its source, both with these columns in the same form, named by `shown_name`, and `n`.

    A row of the source counts as one row, and a row of noisy counts as `n` rows. `levels` has, for each column, the
    level of the labels that both show; 0 means values.
    """

    columns: Sequence[BoundAttribute]
    levels: Sequence[int]
    source: exp.Select
    released: exp.Select


def compared(engine: Engine, release: Release, temp: TempTables) -> Compared:
    """Prepares the comparison of the rows of a release with noise and of its source; numbers under INTERVALS become
    intervals.

    Reads the source, in a transaction that is already open. Raises PolicyError for a release without noise, and for a
    source whose columns have changed.
    """
    require_own_columns(engine, release)
    if not {attribute.reading for attribute in release.attributes} <= WITH_NOISE:
        raise PolicyError(f"{release.name} is not made of counts with noise")
    counts = [a.name for a in release.attributes if a.reading is Reading.NOISY_COUNT]
    names = {fold(a.source or a.name): a.name for a in release.attributes if a.reading is Reading.DOMAIN_VALUE}
    policy = policy_of(release)
    source = source_rows(engine, policy, temp)
    hierarchies = {fold(h.definition.name): h for h in hierarchies_of(release)}
    bound = bind(policy, source, hierarchies, fingerprint="")
    columns = [b for b in bound.published if fold(b.column) in names]
    require_unchanged(release, source, [b.column for b in columns])
    table = own_object(engine, release.name)
    kinds = {fold(name): kind for name, kind in engine.columns(select(exp.Star(), of=relation(table)))}
    # A table of counts has labels of intervals, unless the values themselves were found.
    labels = [not counts or kinds[fold(b.column)] != b.published_type for b in columns]
    first = [_interval_level(b) if is_label else 0 for b, is_label in zip(columns, labels, strict=True)]
    levels = [max(b.min_level, level) for b, level in zip(columns, first, strict=True)]
    drawn = [level if by_interval and not counts else 0 for by_interval, level in zip(first, levels, strict=True)]
    source_query = _of_source(columns, levels, bound.relation)
    return Compared(columns, levels, source_query, _of_release(columns, drawn, table, counts))


def marginals(engine: Engine, release: Release, arguments: Mapping[str, Value], temp: TempTables) -> list[ClassFigure]:
    """Measures the total variation of each combination of `ways` columns: half the sum of the absolute differences
    between shares.

    The figures are the mean over all combinations, and the greatest value with its columns. Numbers under INTERVALS are
    counted by interval. The value is None if the source or the release has no row.

    Reads the source, in a transaction that is already open. Raises UserError for wrong arguments, PolicyError for a
    release without noise, and for too few or too many columns.
    """
    ways = _ways(arguments)
    called = f"{_NAME} of {release.name} cannot be measured"
    if not release.has_noise:
        raise PolicyError(f"{called}: it is about counts with noise, and rows that are drawn from them")
    pair = compared(engine, release, temp)
    columns = pair.columns
    if not ways <= len(columns) or comb(len(columns), ways) > _MOST:
        raise PolicyError(f"{called}: it has {len(columns)} columns, and {ways} at a time are compared")
    rows = [temp.table("shown", query) for query in (pair.source, pair.released)]
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


def epsilon(engine: Engine, release: Release, arguments: Mapping[str, Value], temp: TempTables) -> list[ClassFigure]:
    """Returns the epsilon of differential privacy that a release costs and promises; it is infinite for a release
    without noise.

    Raises UserError for any argument.
    """
    if arguments:
        with about("figures", _EPSILON):
            raise UserError(f"{_EPSILON} takes no arguments", hint=f"write {_EPSILON}")
    paid = [m.achieved for m in releases.measurements(engine, release) if m.question == DIFFERENTIAL_PRIVACY]
    return [ClassFigure(_EPSILON, None, paid[0] if paid else inf)]


def _ways(arguments: Mapping[str, Value]) -> int:
    ways = dict(arguments)
    value = ways.pop("ways", ways.pop(UNNAMED, 2))
    if ways or isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _MOST_WAYS:
        with about("figures", _NAME):
            raise UserError(f"{_NAME} takes ways, from 1 to {_MOST_WAYS}", hint=f"write {_NAME}(ways => 2)")
    return value


def shown_name(index: int) -> str:
    """Returns the name of the column at this index in both tables of `Compared`."""
    return f"x{index}"


def _interval_level(b: BoundAttribute) -> int:
    """Returns the level that the comparison shows: the first level with intervals of a column under
    INTERVALS, else 0.
    """
    is_interval = b.hierarchy is not None and b.hierarchy.kind == "intervals"
    return intervals.first_level(b.hierarchy) if b.hierarchy and is_interval else 0


def _of_source(columns: Sequence[BoundAttribute], levels: Sequence[int], source: QualifiedName) -> exp.Select:
    """SELECT of n and one column `shown_name` for each column: each source row by its value or its label at this
    level.
    """
    query = select(alias(big(literal(1)), N), of=relation(source, as_="source"))
    for index, (b, level) in enumerate(zip(columns, levels, strict=True)):
        name = f"label_{index}"
        if not level:
            query = extend(query, alias(published_value(b, "source"), shown_name(index)))
            continue
        if level >= b.height:
            query = extend(query, alias(literal("*"), shown_name(index)))
            continue
        values = subquery(generalized(b, occurring_values(b, source), stored_labels(b), counted=False), name)
        same = identical(published_value(b, "source"), column("value", name))
        query = extend(query, alias(column(level_name(level), name), shown_name(index)))
        query = extend(query, joins=[left_join(values, same)])
    return query


def _of_release(
    columns: Sequence[BoundAttribute], levels: Sequence[int], release: QualifiedName, counts: Sequence[str]
) -> exp.Select:
    """SELECT of n and one column `shown_name` for each column of the released rows; numbers become intervals of these
    levels if the level is above 0.
    """
    outputs: list[exp.Expr] = [alias(column(counts[0]) if counts else big(literal(1)), N)]
    for index, (b, level) in enumerate(zip(columns, levels, strict=True)):
        value: exp.Expr = column(b.column)
        if level and b.hierarchy is not None:
            value = functional(b.hierarchy.kind).labels(b.hierarchy, value, b.published_type)[level - 1]
        outputs.append(alias(value, shown_name(index)))
    return select(*outputs, of=relation(release))


def _distance(engine: Engine, rows: Sequence[str], indexes: Sequence[int]) -> float | None:
    """Returns half the sum of the absolute differences between two tables' shares of each combination of values.

    Returns None if one of them has no rows, or if its noisy counts add up to 0 or less.
    """
    names = [shown_name(index) for index in indexes]
    shares = []
    for table in rows:
        # Counts below 0 have shares below 0.
        total = window(f.sum(f.sum(column(N))))
        share = infix(f.sum(column(N)), "/", f.nullif(f.greatest(total, literal(0)), literal(0)))
        counted = select(*map(column, names), alias(share, "share"), of=relation(table))
        shares.append(extend(counted, group_by=map(column, names)))
    same = and_(*(identical(column(name, "one"), column(name, "other")) for name in names))
    parts = [f.coalesce(column("share", side), real(0.0)) for side in ("one", "other")]
    difference = exp.Abs(this=infix(parts[0], "-", parts[1]))
    query = select(f.sum(difference), f.count(column("share", "one")), f.count(column("share", "other")))
    query = extend(query, of=subquery(shares[0], "one"), joins=[full_join(subquery(shares[1], "other"), same)])
    ((total, of_source, of_release),) = engine.rows(query)
    return float(total) / 2 if of_source and of_release else None
