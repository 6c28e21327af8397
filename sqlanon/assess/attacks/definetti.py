"""The attack by all buckets together (Kifer 2009): naive Bayes that is learned in rounds from a release alone.

In one bucket, rows and values are not linked; many buckets show how quasi-identifiers and values occur together. Each
round counts these pairs by the current beliefs, and updates the belief about each row from the counts and the values of
its bucket. The source is used to count the hits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from sqlglot import exp

from sqlanon.assess.attacks.attacked import require_same_rows
from sqlanon.catalog.snapshot import policy_of
from sqlanon.domain.identifiers import fold
from sqlanon.domain.release import Reading, Release, ReleaseAttribute
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import PolicyError
from sqlanon.release.existing.classes import ReleaseClasses
from sqlanon.release.existing.loaded import require_unchanged
from sqlanon.sources.bind_policy import policy_source
from sqlanon.sources.source import own_object
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    big,
    cast,
    total,
    union_all,
    window,
)
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, select, subquery
from sqlanon.sql.build.render import drop
from sqlanon.sql.build.sql_files import Relation, filled, filled_select, query_file
from sqlanon.sql.classes.buckets import BucketValues, values_of_table
from sqlanon.sql.questions.ask import literals_of
from sqlanon.sql.questions.statistics import BoundStatistic

# The maximum number of rescalings of a round, and the change below which no further rescaling is needed.
_RESCALINGS, _SETTLED = 50, 1e-7
_LEARNED = 1e-9
_ROW_VALUE = (Reading.EXACT, Reading.BUCKET_VALUE)


def believed_row(
    engine: Engine, release: Release, classes: ReleaseClasses, statistic: BoundStatistic, temp: TempTables
) -> str:
    """Makes the table believed_row(bucket, confidence, hit): for each row the confidence of the guess, and the share of
    hits.

    `hit` is the share of the source's rows with the guessed value, among its rows that equal this row in all columns
    except the bucket. Raises PolicyError for a release without buckets, or without other columns to learn from, and if
    the source no longer has its rows.
    """
    (attribute,) = statistic.attributes
    if classes.bucket_rows is not None:
        raise PolicyError(
            f"{release.name} has counterfeits, so its buckets have values that none of their rows has",
            hint="it is attacked by homogeneity, background and skewness",
            part=("attack", "definetti"),
        )
    values = _values(release, [b.column for b in classes.bound.sensitive])
    rows = _table_of_rows(release, values, attribute)
    tables = _tables(engine, release, values[attribute], rows, temp)
    arguments = dict(statistic.arguments)
    rounds, smoothing = arguments["rounds"], arguments["smoothing"]
    assert isinstance(rounds, int) and isinstance(smoothing, Decimal)
    weight = _learned(engine, tables, rounds, smoothing, temp)
    named = temp.table("named", _step("named", tables | {"weight": weight}))
    return temp.table("believed", _hits(engine, release, attribute, rows, tables, named, temp))


def _values(release: Release, sensitive: Sequence[str]) -> dict[str, BucketValues]:
    """Finds the table and columns of each sensitive attribute that is published by bucket, also in a release of one
    table.
    """
    values: dict[str, BucketValues] = {}
    for made in release.published:
        columns = [(a.name, a.source, a.reading) for a in release.attributes_of(made.fragment)]
        values |= values_of_table(made.fragment or "", columns, sensitive)
    return values


def _table_of_rows(
    release: Release, values: Mapping[str, BucketValues], attribute: str
) -> tuple[ReleaseAttribute, ...]:
    """Returns the columns from which the attack learns: the nonsensitive columns of a table of rows with buckets.

    If several tables have such columns, it is the table with the most. Raises PolicyError if there is no such table.
    """
    sensitive = set(map(fold, values))
    candidates: list[tuple[ReleaseAttribute, ...]] = []
    for made in release.published:
        columns = release.attributes_of(made.fragment)
        readings = {a.reading for a in columns}
        if Reading.BUCKET in readings and Reading.COUNT not in readings:
            parts = (a for a in columns if a.reading in _ROW_VALUE and fold(a.source or a.name) not in sensitive)
            candidates.append(tuple(parts))
    best = max(candidates, key=len, default=())
    if attribute not in values or not best:
        raise PolicyError(
            f"{release.name} shows no rows beside buckets of {attribute}, so that there is nothing to learn from",
            hint="a release of classes is attacked by homogeneity, background, skewness, similarity and linkage",
            part=("attack", "definetti"),
        )
    return best


def _tables(
    engine: Engine,
    release: Release,
    values: BucketValues,
    rows: Sequence[ReleaseAttribute],
    temp: TempTables,
) -> dict[str, str]:
    """Makes the tables that the steps read: learned_row, row_part, bucket_value, value_code and pair; returns them by
    name.
    """
    objects = {made.fragment or "": relation(own_object(engine, made.name)) for made in release.published}
    fragment = rows[0].fragment
    bucket = next(a.name for a in release.attributes_of(fragment) if a.reading is Reading.BUCKET)
    parts = [alias(column(a.name), f"part_{index}") for index, a in enumerate(rows)]
    number = alias(window(f.row_number()), "row_id")
    learned = select(number, alias(column(bucket), "bucket"), *parts, of=objects[fragment or ""])
    tables = {"learned_row": temp.table("learned_row", learned)}
    coded = [
        select(
            column("row_id"),
            alias(literal(index), "part"),
            alias(_code(column(f"part_{index}")), "x"),
            of=relation(tables["learned_row"]),
        )
        for index in range(len(rows))
    ]
    tables["row_part"] = temp.table("row_part", union_all(coded))
    count: exp.Expr = total(column(values.count)) if values.count else f.count()
    by_bucket = [alias(column(values.bucket), "bucket"), alias(column(values.value), "value")]
    counted = select(
        *by_bucket, alias(count, "n"), of=objects[values.table], group_by=[column(values.bucket), column(values.value)]
    )
    valued = temp.table("valued", counted)
    code = alias(_code(column("value")), "code")
    tables["bucket_value"] = temp.table("bucket_value", select(exp.Star(), code, of=relation(valued)))
    tables["pair"] = temp.table("pair", _step("pair", tables))
    return tables


def _code(value: exp.Expr) -> exp.Expr:
    """Returns the SQL expression of a number for each value, also for NULL."""
    return big(filled("dense_rank() OVER (ORDER BY $value IS NULL ASC NULLS LAST, $value ASC NULLS LAST)", value=value))


def _learned(engine: Engine, tables: Mapping[str, str], rounds: int, smoothing: Decimal, temp: TempTables) -> str:
    """Makes the table weight(row_id, code, weight) by the rounds, which end early once they change nothing."""
    weight = temp.table("weight", _step("random_worlds", tables))
    unscaled = select(column("bucket"), column("code"), alias(cast(literal(1), "DOUBLE"), "scale"))
    scale = temp.table("scale", extend(unscaled, of=relation(tables["bucket_value"])))
    for _ in range(rounds):
        kernel = temp.table("kernel", _step("kernel", {**tables, "weight": weight}, smoothing))
        for _ in range(_RESCALINGS):
            scale = _replaced(engine, temp, scale, _step("scale", {"kernel": kernel, "scale": scale}))
            [(change,)] = engine.rows(select(f.max(column("change")), of=relation(scale)))
            if change is None or change < _SETTLED:
                break
        before, weight = weight, temp.table("weight", _step("weight", {"kernel": kernel, "scale": scale}))
        [(change,)] = engine.rows(_step("learned", {"weight": weight, "before": before}))
        for name in (kernel, before):
            engine.run(drop("TABLE", relation(name), exists=True))
        if change is None or change < _LEARNED:
            break
    return weight


def _replaced(engine: Engine, temp: TempTables, former: str, query: exp.Query) -> str:
    table = temp.table("scale", query)
    engine.run(drop("TABLE", relation(former), exists=True))
    return table


def _step(name: str, tables: Mapping[str, str], smoothing: Decimal | None = None) -> exp.Query:
    values: dict[str, Any] = {} if smoothing is None else literals_of([("smoothing", smoothing)])
    return query_file("definetti", name, tables=tables, **values)


def _hits(
    engine: Engine,
    release: Release,
    attribute: str,
    rows: Sequence[ReleaseAttribute],
    tables: Mapping[str, str],
    named: str,
    temp: TempTables,
) -> exp.Query:
    """SELECT of believed_row: `hit` is the share of the source's rows with the same parts that have the guessed
    value.
    """
    source = policy_source(engine, policy_of(release), temp)
    require_unchanged(release, source, [attribute, *(a.source or a.name for a in rows)])
    known = {fold(name): name for name, _ in source.columns}
    types = dict(engine.columns(select(exp.Star(), of=relation(tables["learned_row"]))))
    value_type = dict(engine.columns(select(exp.Star(), of=relation(tables["bucket_value"]))))["value"]
    parts = [f"part_{index}" for index in range(len(rows))]
    columns = [
        alias(cast(column(known[fold(a.source or a.name)]), types[part]), part)
        for a, part in zip(rows, parts, strict=True)
    ]
    value = alias(cast(column(known[fold(attribute)]), value_type), "value")
    person = subquery(select(*columns, value, of=relation(source.relation)), "person")
    relations: dict[str, Relation] = {
        **{"person": person, "named": named},
        **{name: tables[name] for name in ("learned_row", "bucket_value")},
    }
    part, left_out = ("attack", "definetti"), release.suppressed_rows > 0
    shown_parts, people = (
        filled_select(text, tables=relations, names={"parts": parts})
        for text in ("SELECT {parts} FROM learned_row", "SELECT {parts} FROM person")
    )
    require_same_rows(engine, shown_parts, people, str(release.name), part, left_out=left_out)
    if not left_out:
        text = "SELECT value, CAST(sum(n) AS BIGINT) AS n FROM bucket_value GROUP BY value"
        published = filled_select(text, tables=relations)
        of_source = filled_select("SELECT value, count(*) AS n FROM person GROUP BY value", tables=relations)
        require_same_rows(engine, published, of_source, str(release.name), part)
    return query_file("definetti", "hits", tables=relations, names={"parts": parts})
