"""Stage 7: makes the candidate under a temporary name in the schema of its target, not yet visible to others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from sqlglot import exp

from sqlanon.domain.identifiers import free_name
from sqlanon.domain.policy import Role
from sqlanon.domain.release import Reading
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.engines.udfs import registered
from sqlanon.release.existing.frozen_inputs import freeze, keep_regions
from sqlanon.release.existing.objects import make_secure_view, own_queries
from sqlanon.release.existing.statistics import hidden_parts
from sqlanon.release.pipeline.cell_classes import with_classes_of_cells
from sqlanon.release.pipeline.encode import sizes
from sqlanon.release.pipeline.stages import Bound, Candidate, Compiled, Materialized
from sqlanon.sources.column_types import words_of
from sqlanon.sources.masks import publish_tokens
from sqlanon.sources.source import own_object, qualified
from sqlanon.sources.target_names import fragment_name
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.build.queries import extend, select
from sqlanon.sql.build.render import create_table, shuffled, view_over
from sqlanon.sql.build.sql_files import Names, select_file
from sqlanon.sql.classes.buckets import BUCKET
from sqlanon.sql.release.multi_table_query import PublishedTable, TablesQuery, coded, spelled
from sqlanon.sql.release.release_query import ReleaseQuery

_GUARD = "__sqlanon_guard"


def hidden_of(compiled: Compiled) -> dict[int, str]:
    """Returns the reasons, by index, why requirements cannot be recomputed from the released rows alone."""
    bound, query = compiled.bound, compiled.query
    if isinstance(query, TablesQuery):
        # A requirement that the tables cannot answer is refused before they are made.
        return {}
    return hidden_parts(bound.requirements, query.guards, bound.policy.entity is not None, _as_it_is(query))


def _as_it_is(query: ReleaseQuery) -> set[str]:
    """Returns the names of the columns that a release publishes unchanged."""
    return {b.column for b in query.policy.published if b.role in (Role.SENSITIVE, Role.INSENSITIVE)}


def helper_columns(query: ReleaseQuery | TablesQuery) -> dict[str, str]:
    """Returns the source's columns that a snapshot's candidate has only for its check, with their names in the
    candidate.

    No released column has such a name. The columns are dropped before the candidate is published; in a release of
    several tables, the first table has them.
    """
    entity = query.policy.entity
    helpers = {entity.column: query.respondent} if entity and query.respondent else {}
    if isinstance(query, TablesQuery):
        return helpers
    for guard in dict.fromkeys(query.guards.values()):
        if guard not in _as_it_is(query):
            helpers[guard] = free_name(f"{_GUARD}_{len(helpers)}", query.columns)
    return helpers


def materialize_stage(compiled: Compiled) -> Materialized:
    """Makes a snapshot's tables, each in an order independent of the order of the source, or the live view."""
    bound, query = compiled.bound, compiled.query
    target = qualified(bound.engine, bound.create.name)
    choices = () if bound.is_live else publish_tokens(bound.engine, bound.policy, query.tokens)
    if isinstance(query, TablesQuery):
        names = [table.name for table in query.tables]
        made = tuple(_candidate(bound.temp, target, name, number) for number, name in enumerate(names))
        count = _tables(compiled, query, made)
    else:
        made = (_candidate(bound.temp, target),)
        if bound.is_live:
            query, count = _live(compiled, query, made[0].stands), None
        else:
            query, count = _snapshot(compiled, query, made[0].stands)
    rows: exp.Table | exp.Subquery = relation(made[0].stands)
    if isinstance(query, TablesQuery) and query.bucket_rows is not None:
        # Counterfeits are not rows of the source.
        rows, count = query.bucket_rows.people({t.fragment or "": relation(t.stands) for t in made}), None
    if count is None:
        count = bound.engine.rows(select(f.count(), of=rows))[0][0]
    return Materialized(replace(compiled, query=query), made, int(count), choices)


def _candidate(temp: TempTables, release: QualifiedName, fragment: str | None = None, number: int = 0) -> Candidate:
    """Returns the candidate of a table or view, with an unused name in the release's schema."""
    beside = QualifiedName((release.parts[0], f"__sqlanon_candidate_{temp.key}_{number}"))
    return Candidate(fragment, fragment_name(release, fragment), own_object(temp.engine, beside))


def _snapshot(compiled: Compiled, query: ReleaseQuery, name: QualifiedName) -> tuple[ReleaseQuery, int | None]:
    """Makes the one table of a snapshot; returns the query that made it, and its number of rows if the engine reports
    it.
    """
    bound = compiled.bound
    _freeze(compiled)
    query = with_classes_of_cells(compiled, query)
    with registered(bound.engine, "random_draw") as draw:
        return query, _made(bound.engine, name, _in_order(query, compiled.choice.rows, draw))


def _in_order(query: ReleaseQuery, source_rows: int, draw: str) -> exp.Select:
    """SELECT of the rows of a one-table snapshot in a random order, because the source's order would link rows to the
    source.

    The order cannot be repeated.
    """
    rows = _with_helpers(query)
    if query.precomputed is None and source_rows < sizes().joined_from:
        # Both the guard and the rows read these; computing them once shortens the planning.
        for step in rows.ctes:
            if step.alias == "recoded":
                step.set("materialized", True)
    if query.placed is not None and query.placed.exact:
        rows = _mixed(rows, BUCKET, [b.column for b in query.policy.sensitive], draw)
    return shuffled(rows, draw)


def _mixed(query: exp.Query, group: str, columns: Sequence[str], draw: str) -> exp.Select:
    """Returns the rows with the values of some columns shuffled within each group; see sql/recoding/mixed.sql.

    `draw` is the name of a function that returns random bits for each row.
    """
    names = [each.alias_or_name for each in query.selects]
    holes: Names = {
        "outputs": [column(name, "value" if name in columns else "row") for name in names],
        "others": [name for name in names if name not in columns],
        "group": group,
        "columns": columns,
    }
    calls = {"draw": partial(f.call, draw)}
    return select_file("recoding", "mixed", tables={"released": query}, names=holes, calls=calls)


def _tables(compiled: Compiled, query: TablesQuery, made: Sequence[Candidate]) -> int | None:
    """Makes the tables of a snapshot with several tables; returns the number of rows of the first table if the engine
    reports it.
    """
    bound = compiled.bound
    _freeze(compiled)
    with registered(bound.engine, "random_draw") as draw:
        counts = [
            _made(bound.engine, each.stands, _rows_of_table(bound, table, draw))
            for each, table in zip(made, query.tables, strict=True)
        ]
    return counts[0]


def _made(engine: Engine, name: QualifiedName, rows: exp.Select) -> int | None:
    """Makes a table; returns the number of its rows, or None if the engine does not report it."""
    counted = engine.rows(create_table(name, rows))
    return int(counted[0][0]) if counted else None


def _rows_of_table(bound: Bound, table: PublishedTable, draw: str) -> exp.Select:
    """SELECT of the rows that one of several tables has, in random order or sorted by their own values.

    Rows on Spark are in many files, and always in random order.
    """
    if not bound.engine.numbers_rows:
        rows = table.query.copy()
        rows.set("order", None)
        return shuffled(rows, draw)
    return table.query if table.ordered else _shuffled(bound, table, draw)


def _shuffled(bound: Bound, table: PublishedTable, draw: str) -> exp.Select:
    """SELECT of a table's rows in the order of `by`, then in random order; dictionary-encoded texts are sorted as
    words.
    """
    rows, words = table.query, table.words
    if words is None:
        as_in_source = (part for part in table.columns if part.reading in (Reading.EXACT, Reading.BUCKET_VALUE))
        bound_columns = [part.bound for part in as_in_source if part.bound and part.bound.column == part.name]
        words_found = words_of(bound.engine, bound.temp, relation(bound.policy.relation), bound_columns)
        rows, words = coded(rows, words_found) if words_found else rows, tuple(words_found)
    in_order = shuffled(rows.copy(), draw, table.by)
    return spelled(table.query, in_order, words) if words else in_order


def _with_helpers(query: ReleaseQuery) -> exp.Select:
    rows = query.select(with_entity=True)
    helpers = helper_columns(query)
    for guard in dict.fromkeys(query.guards.values()):
        if guard in helpers:
            value = column(f"asked_{query.requirement_columns.index(guard)}", "recoded")
            extend(rows, alias(value, helpers[guard]))
    return rows


def _live(compiled: Compiled, query: ReleaseQuery, name: QualifiedName) -> ReleaseQuery:
    """Makes the live view; returns the query that made it."""
    engine = compiled.bound.engine
    if query.placed is not None:
        query = replace(query, placed=keep_regions(engine, query.placed, query.release_id))
    for view, text in own_queries(query.release_id, compiled.bound.resolved.policy):
        engine.run(view_over(own_object(engine, view), text))
    _freeze(compiled)
    make_secure_view(engine, name, query.select())
    return query


def _freeze(compiled: Compiled) -> None:
    """Copies the tables that the release reads besides its source and its public table."""
    bound, query = compiled.bound, compiled.query
    recodings = query.recodings if isinstance(query, ReleaseQuery) else ()
    coarse = bound.source.coarse if bound.is_live else ()
    freeze(bound.engine, query.release_id, bound.policy, bound.requirements, recodings, coarse=coarse)
