"""Admits a release to a series, and writes the ledger's rows: the class of each respondent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.catalog import series as catalog
from sqlanon.catalog.ledger import unchanged
from sqlanon.domain.identifiers import fold, same_name
from sqlanon.domain.numbers import counted
from sqlanon.domain.policy import Policy
from sqlanon.domain.release import Release
from sqlanon.domain.series import Series
from sqlanon.engines.base import Engine
from sqlanon.errors import InternalError, PolicyError, about
from sqlanon.republication.series.respondents import (
    Respondents,
    key_check,
    key_of,
    known_text,
    require_same_rows,
    row_text,
    told_apart,
)
from sqlanon.republication.series.together import require_together
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import filtered, insert, into, is_null, numbered, union_all
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, inner_join, select, subquery
from sqlanon.sql.build.sql_files import filled, filled_query, filled_select, query_file, reading
from sqlanon.sql.classes.buckets import BucketValues
from sqlanon.sql.questions.statistics import bind_statistic, load_statistic

# Records the class of each respondent of a release, and the values of each class.


_MEMBER = ("series_id", "position", "class_no", "respondent")
_CLASS = ("series_id", "position", "class_no", "attribute", "value_set")
_VALUE = ("series_id", "position", "value_set", "attribute", "value", "n")


@dataclass(frozen=True)
class LedgerRows:
    """The rows that the ledger stores for one release.

    `members` is a table of class_no, entity and respondent, with a row for each released row. `values` is a query of
    class_no, attribute, value and n: how often each class shows each value of the sensitive attributes. If rows show
    several columns, it also has each row as the attribute `of_row`, named by `named_row`.
    """

    members: str
    values: exp.Query | None
    of_row: str | None = None


def record(respondents: Respondents, release: Release, rows: LedgerRows) -> str:
    """Appends a release to its series. Returns a table of its respondents, which has the columns of
    sql/ledger/entrant.sql.

    Raises PolicyError for rows without a respondent and for a respondent with several rows.
    """
    engine, series = respondents.engine, respondents.series
    number = _respondents(engine, series, rows.members)
    position = respondents.last_position + 1
    tables = {"released": rows.members, "former": respondents.former}
    entrants = respondents.temp.table("entrant", reading(query_file("ledger", "entrant"), tables))
    members = select(column("class_no"), alias(column("token"), "respondent"), of=relation(entrants))
    _write(engine, series, position, "series_member", _MEMBER, members)
    _require_all_written(engine, series, position, number)
    if rows.values is not None:
        values = respondents.temp.table("value_of_class", rows.values)
        of_row = [] if rows.of_row is None else [rows.of_row]
        for attribute in [*(name for name, _ in series.attributes), *of_row]:
            _record_values(respondents, position, values, fold(attribute))
    catalog.append(engine, series, release, position, number)
    return entrants


def _record_values(respondents: Respondents, position: int, values: str, attribute: str) -> None:
    """Appends the set of values of each class, and the contents of the sets that are new in the series."""
    engine, series = respondents.engine, respondents.series
    parameters = series.series_id, attribute
    tables = {"value_of_class": values}
    sets = reading(query_file("ledger", "class_set"), tables)
    tables["class_set"] = respondents.temp.table("class_set", sets, parameters)
    classes = select(exp.Star(), of=relation(tables["class_set"]))
    _write(engine, series, position, "series_class", _CLASS, classes)
    new = reading(query_file("ledger", "new_value"), tables)
    _write(engine, series, position, "series_value", _VALUE, new, parameters)


def _write(
    engine: Engine,
    series: Series,
    position: int,
    table: str,
    columns: Sequence[str],
    query: exp.Query,
    parameters: Sequence[object] = (),
) -> None:
    """Appends a query's rows to a table of the ledger; the query lacks the first two columns, series and position."""
    rows = filled_query(
        "SELECT $series AS series_id, $position AS position, {columns} FROM of_release",
        tables={"of_release": query},
        names={"columns": columns[2:]},
        series=series.series_id,
        position=position,
    )
    engine.run(insert(into(relation(("anon", table)), columns), rows), parameters)


def _require_all_written(engine: Engine, series: Series, position: int, number: int) -> None:
    written = filled_query(
        "SELECT count(*) FROM anon.series_member WHERE series_id = $series AND position = $position",
        series=series.series_id,
        position=position,
    )
    if engine.rows(written) != [(number,)]:
        raise InternalError(f"{series} does not know all respondents of the release; nothing was published")


def class_rows(
    source: exp.Table | exp.Subquery,
    keys: Sequence[str],
    sensitive: Sequence[tuple[str, str]],
    respondent: tuple[str, str] | None = None,
    of_row: Sequence[tuple[str, str]] = (),
) -> exp.Select:
    """Returns class_no, respondent and value_0, value_1, ... of each row: the sensitive attributes as texts.

    Rows with equal `keys` share a class; the other columns are given with their types. If `respondent` is given, the
    result also has its column, as entity; if columns `of_row` are given, it has one more value, the text of all these
    columns.
    """
    each = [known_text(name, kind) for name, kind in sensitive] + ([row_text(of_row)] if of_row else [])
    texts = [alias(text, f"value_{index}") for index, text in enumerate(each)]
    query = select(*_respondent_columns(respondent), *texts, of=source)
    if not keys:
        return extend(query, alias(literal(0), "class_no"))
    # Numbers the classes instead of the rows, because that would sort all rows.
    taken = {fold(name) for name in (*keys, *(name for name, _ in (*sensitive, *of_row)), *((respondent or ())[:1]))}
    number, *named = _new_names(len(keys) + 1, taken)
    classes = filled_query(
        'SELECT $number AS "{number}", {named} FROM (SELECT DISTINCT {keys} AS "{named}" FROM source) AS each',
        tables={"source": source},
        names={"keys": keys, "named": named, "number": number},
        number=numbered([column(name) for name in named]),
    )
    same = filled("{keys} IS NOT DISTINCT FROM {named}", names={"keys": keys, "named": named})
    extend(query, joins=[inner_join(subquery(classes, "numbered"), same)])
    return extend(query, alias(column(number), "class_no"))


def _new_names(number: int, taken: Set[str]) -> list[str]:
    """Returns `number` column names that are not `taken`."""
    stem = "class_key"
    while any(name.startswith(stem) for name in taken):
        stem += "_"
    return [f"{stem}{index}" for index in range(number)]


def class_values(rows: str, attributes: Sequence[str]) -> exp.Query | None:
    """Returns class_no, attribute, value and n: the rows of each class with each value. Returns None if `attributes` is
    empty.
    """
    text = (
        "SELECT class_no, $attribute AS attribute, {value} AS value, count(*) AS n FROM rows GROUP BY class_no, {value}"
    )
    each = [
        filled_query(text, tables={"rows": rows}, names={"value": f"value_{index}"}, attribute=fold(attribute))
        for index, attribute in enumerate(attributes)
    ]
    return union_all(each) if each else None


def bucket_rows(rows: exp.Table | exp.Subquery, bucket: str, respondent: tuple[str, str] | None = None) -> exp.Select:
    """Returns class_no for each row of a table with buckets, and, if a `respondent` is given, the columns entity and
    respondent.
    """
    return select(alias(column(bucket), "class_no"), *_respondent_columns(respondent), of=rows)


def _respondent_columns(respondent: tuple[str, str] | None) -> list[exp.Expr]:
    """Returns the columns entity and respondent of a column and its type; an empty list if `respondent` is None."""
    if respondent is None:
        return []
    name, _ = respondent
    return [alias(column(name), "entity"), alias(told_apart(*respondent), "respondent")]


def bucket_values(
    tables: Mapping[str, exp.Table | exp.Subquery],
    where: Mapping[str, BucketValues],
    attributes: Sequence[tuple[str, str]],
) -> exp.Query | None:
    """Returns the query of `class_values` for a release of tables of buckets and values; None if `attributes` is empty.

    `attributes` are given with their types.
    """
    each: list[exp.Query] = []
    for attribute, kind in attributes:
        values = where[attribute]
        text = known_text(values.value, kind)
        # A table of values and counts has each value of a bucket once, unless it has further columns.
        counted = values.count is not None and not values.others
        n = f.count() if values.count is None else column(values.count) if counted else f.sum(column(values.count))
        query = filled_select(
            "SELECT {bucket} AS class_no, $attribute AS attribute, $text AS value, CAST($n AS BIGINT) AS n FROM value",
            tables={"value": tables[values.table]},
            names={"bucket": values.bucket},
            attribute=fold(attribute),
            text=text,
            n=n,
        )
        each.append(query if counted else query.group_by(column(values.bucket), text.copy()))
    return union_all(each) if each else None


def _respondents(engine: Engine, series: Series, rows: str) -> int:
    """Counts the respondents. Raises PolicyError unless each row has its own respondent."""
    respondent = column("respondent")
    nobody = filtered(f.count(), is_null(respondent))
    # Different texts may be equal in the column, by its collation.
    distinct = f.count_distinct(column("entity"))
    query = select(f.count(), distinct, nobody, of=relation(rows))
    [(number, people, lacking)] = engine.rows(query)
    if lacking:
        raise PolicyError(
            f"{counted(lacking, 'row of the release has', 'rows of the release have')} no {series.entity}, and "
            f"{series} needs the respondent of each row; nothing was published",
            hint=f"leave them out: make the policy ON (SELECT ... WHERE {series.entity} IS NOT NULL)",
        )
    if number != people:
        whose = ("row of the release is of a respondent", "rows of the release are of respondents")
        raise PolicyError(
            f"{counted(number - people, *whose)} with another row already: {series} takes releases with one row of "
            "each; nothing was published",
            hint="make the policy ON a query with one row of each respondent",
        )
    return int(number)


# Enters a release into its series: records it, and measures the requirements on all releases.


def enter(respondents: Respondents, release: Release, rows: LedgerRows) -> None:
    """Appends a release to a series, in the caller's transaction. Raises the errors of `record`, `require_same_rows`
    and `require_together`.

    The former releases meet the requirements of the series, because they were published. So if the latest classes of
    the respondents prove that the new release does, too, no other classes are read.
    """
    series = respondents.series
    entrants = record(respondents, release, rows)
    of_row = require_same_rows(respondents.engine, series) if series.requirements else None
    satisfied = models_by_latest(respondents, entrants, of_row)
    remaining = [requirement.model for requirement in series.requirements if requirement.model not in satisfied]
    require_together(respondents.engine, series, respondents.temp, str(release.name), remaining)


def models_by_latest(respondents: Respondents, entrants: str, of_row: str | None) -> set[str]:
    """Returns the required models that the new release certainly satisfies if the earlier releases satisfy them.

    `entrants` is the table of its respondents from sql/ledger/entrant.sql: class_no, token and former_class. If rows
    show several columns, `of_row` is the attribute of whole rows, for which the models must hold as well. The new
    release may satisfy other models, too, because the latest classes of respondents do not decide every model.
    """
    series, engine, position = respondents.series, respondents.engine, respondents.last_position
    required = {each.model: dict(each.arguments) for each in series.requirements}
    promises = [promise for promise in (load_statistic("series", name) for name in required) if promise.latest]
    satisfied = {promise.name for promise in promises}
    attributes = [*(name for name, _ in series.attributes), *([of_row] if of_row else [])]
    for attribute in attributes if promises else ():
        classes = query_file("ledger", "release_class")
        keys = reading(query_file("ledger", "class_key"), {"class_of_series": classes})
        of_release = (series.series_id, position + 1, fold(attribute))
        tables: dict[str, str | exp.Query] = {"class_key": respondents.temp.table("class_key", keys, of_release)}
        tables["former_key"] = _former_keys(respondents, entrants, attribute)
        for promise in promises:
            bound = bind_statistic(promise, required[promise.name], (attribute,))
            if engine.rows(bound.latest(tables), [position]) != [(True,)]:
                satisfied.discard(promise.name)
    return satisfied


def _former_keys(respondents: Respondents, entrants: str, attribute: str) -> exp.Query:
    tables = {"entrant": entrants, "returner": respondents.returners, "class_key": respondents.class_keys(attribute)}
    return reading(query_file("ledger", "former_key"), tables)


# Whether a release may be made in a series, before anything is read.


def admitted(engine: Engine, name: str, policy: Policy, kind: str) -> Series:
    """Loads the series that a release of this policy will enter; `kind` is table or view.

    Raises UserError if the series or its key is missing, PolicyError for a live view and for a policy or key other than
    the series' own, and CatalogError if rows of its ledger have changed.
    """
    with about("series"):
        series = catalog.load(engine, name)
        if kind == "view":
            raise PolicyError(
                f"a live view cannot be in {series}, which records who was in which class, because the classes of a "
                "view change",
                hint="make a snapshot, CREATE ANONYMIZED TABLE",
            )
        if not same_name(policy.name, series.policy):
            raise PolicyError(
                f"{series} takes only releases by the policy {series.policy}, not by {policy.name}",
                hint="ALTER POLICY changes a policy from one release to the next; another policy needs another series",
            )
        if policy.entity is None or not same_name(policy.entity.name, series.entity):
            now = "was removed" if policy.entity is None else f"is {policy.entity.name} now"
            raise PolicyError(
                f"{series} identifies respondents by {series.entity}, but the ENTITY of {policy} {now}",
                hint="make it the ENTITY again, or begin another series",
            )
        if key_check(key_of(series.name, series.key_variable)) != series.key_check:
            raise PolicyError(
                f"the key in {series.key_variable} differs from the key with which {series} was begun, so no "
                "respondent would be recognized",
                hint="set the variable to the former key",
            )
    return unchanged(engine, series)
