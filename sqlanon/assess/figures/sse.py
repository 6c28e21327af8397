"""MEASURE release WITH FIGURES (sse): the share of the variance of numbers that is lost in the means of groups."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from sqlanon.assess.figures.class_figures import ClassFigure
from sqlanon.catalog.snapshot import hierarchies_of, policy_of
from sqlanon.domain.identifiers import fold
from sqlanon.domain.release import Reading, Release
from sqlanon.domain.values import Value
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import DataError, PolicyError, UserError, about
from sqlanon.release.existing.loaded import require_unchanged
from sqlanon.release.existing.objects import require_own_columns
from sqlanon.sources.bind_policy import bind, source_rows
from sqlanon.sources.source import own_object
from sqlanon.sql.build.expressions import cast
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.build.queries import select
from sqlanon.sql.build.sql_files import query_file, reading

_NAME = "sse"


def sse(engine: Engine, release: Release, arguments: Mapping[str, Value], temp: TempTables) -> list[ClassFigure]:
    """Returns SSE / SST of each column that shows means, and of these columns together, each scaled to variance 1.

    SSE is the sum of the squared differences of the rows' values from the means of their groups, and SST from the mean
    of all rows (Domingo-Ferrer and Mateo-Sanz, Practical data-oriented microaggregation for statistical disclosure
    control, 2002). Groups have the mean of their rows, so SSE is the difference between the variances of the source and
    of the release. The figure is NULL for a column whose values are all equal.

    Reads the source, in an open transaction. Raises UserError for any argument, PolicyError for a release whose method
    does not minimize SSE, and DataError if the source now has other rows.
    """
    if arguments:
        with about("figures", _NAME):
            raise UserError(f"{_NAME} takes no arguments", hint=f"write {_NAME}")
    require_own_columns(engine, release)
    if release.loss_name != _NAME:
        raise PolicyError(f"{_NAME} of {release.name} cannot be measured: its numbers are no means of groups")
    if dict(release.method_arguments).get("publish") == "median":
        raise PolicyError(
            f"{_NAME} of {release.name} cannot be measured: it shows medians, and nothing says whose group a row is in",
            hint="the release answers with it when it is made, and EXPLAIN before",
        )
    policy = policy_of(release)
    source = source_rows(engine, policy, temp)
    hierarchies = {fold(h.definition.name): h for h in hierarchies_of(release)}
    bound = bind(policy, source, hierarchies, fingerprint="")
    means = {fold(a.source or a.name): a.name for a in release.attributes if a.reading is Reading.CENTROID}
    columns = [b for b in bound.quasi_identifiers if fold(b.column) in means]
    require_unchanged(release, source, [b.column for b in columns])
    shares = [
        _share(
            engine,
            release,
            _numbers(b.column, relation(bound.relation)),
            _numbers(means[fold(b.column)], relation(own_object(engine, release.name))),
        )
        for b in columns
    ]
    figures = [ClassFigure(_NAME, b.column, share) for b, (_, share) in zip(columns, shares, strict=True)]
    known = [(rows, share) for rows, share in shares if share is not None]
    # Of a column with variance 1 the sum of squares is the number of its values.
    total = sum(rows for rows, _ in known)
    whole = sum(rows * share for rows, share in known) / total if total else None
    return [*figures, ClassFigure(_NAME, None, whole)]


def _numbers(name: str, rows: exp.Table) -> exp.Select:
    return select(alias(cast(column(name), "DOUBLE"), "number"), of=rows)


def _share(engine: Engine, release: Release, source: exp.Select, released: exp.Select) -> tuple[int, float | None]:
    """Returns the number of values of a column, and the share of their variance that the released values lack, which is
    None if all values are equal.
    """
    ((rows, of_release, share),) = engine.rows(
        reading(query_file("losses", _NAME), {"source_number": source, "release_number": released})
    )
    if rows != of_release:
        raise DataError(f"the source of {release.name} has other rows than when the release was made")
    return int(rows), None if share is None else max(float(share), 0.0)
