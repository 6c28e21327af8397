"""Profiles the columns of a source that are not quasi-identifiers: the repetition of values, and the columns that these
determine.

Values are compared by their hashes. The first query reads some of the rows of all columns. Columns that are notable
there are read again with all rows of some of their values, so counts of these values are exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, log
from typing import Any

from sqlglot import exp

from sqlanon.domain.bound import BoundPolicy, BoundRelatedTable
from sqlanon.domain.context import Adjustable
from sqlanon.domain.policy import Role
from sqlanon.engines.base import Engine
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import and_, filtered, if_, is_not_null, is_null, total, union_all
from sqlanon.sql.build.names import alias, column, identifier, relation
from sqlanon.sql.build.queries import extend, select, subquery
from sqlanon.sql.build.sql_files import filled, filled_query, filled_select

# The thresholds of remarks on columns and classes, and the number of rows read for them.


@dataclass(frozen=True)
class Sizes:
    """Thresholds of remarks. Needless remarks teach people to skip all of them, so the thresholds are high.

    From a source, `sample_rows` rows of at most `columns` columns are read first; this takes milliseconds. For a
    notable column about as many rows are then read, with all rows of some values, and from a larger release about as
    many rows, with all rows of some classes.

    A column identifies most rows if a share of `alone` of the rows has a unique value. It repeats if a value has
    `repeats` rows on average, because a few duplicates in a register of people are not enough. It determines a
    quasi-identifier if a share of `agreeing` of the repeated values has only one value of the quasi-identifier (a
    person's number has one birth date, except for errors), and if the probability of this is at most `chance` for
    independent columns. With 64 columns and 62 quasi-identifiers, there are at most 3,968 such tests of a table, so
    about one of 250 tables of independent columns gets a remark. A quasi-identifier that has one value in a share of
    more than `common` of these rows is nearly constant, so the fact that a column determines it is not evidence. A
    column with at least `values` repeated values which determines a share of `determined` of the quasi-identifiers
    belongs to a person and not, for example, to a place. For a column with at most `few` values, all rows are read,
    because a sample of its values could be empty.
    """

    sample_rows: int = 20_000
    columns: int = 64
    alone: float = 0.5
    repeats: float = 1.1
    values: int = 10
    agreeing: float = 0.99
    chance: float = 1e-6
    common: float = 0.9
    determined: float = 0.5
    few: int = 1_000


sizes = Adjustable(Sizes())


@dataclass(frozen=True)
class Profile:
    """The repetition of a column's values, in rows in which it is not NULL; `role` is None if the policy does not give
    the column a role.

    There are `values` different values in `rows` rows; `alone` rows have a unique value, and `repeating` values have
    several rows. `agreeing` maps each quasi-identifier that the column determines to the number of repeated values
    whose rows all have one value of the quasi-identifier. Only the rows of one value in `one_in` were read. `table`
    names the column's table if the policy has several tables; its source then has one row for each respondent.
    """

    column: str
    role: Role | None
    values: int
    rows: int
    alone: int
    repeating: int
    agreeing: Mapping[str, int]
    one_in: int = 1
    table: str | None = None

    @property
    def is_unique(self) -> bool:
        """Whether most rows have a unique value."""
        return self.rows > 0 and self.alone >= sizes().alone * self.rows and self.values > 1

    @property
    def is_repeated(self) -> bool:
        return self.rows >= sizes().repeats * max(self.values, 1)

    def is_respondent(self, quasi_identifiers: int) -> bool:
        """Whether the column looks like a person's number: it repeats, and determines most of the quasi-identifiers."""
        if self.table is not None:
            return False
        is_number = self.is_repeated and self.repeating >= sizes().values
        return is_number and 0 < len(self.agreeing) >= sizes().determined * quasi_identifiers


def rows_of_nobody(engine: Engine, policy: BoundPolicy) -> int:
    """Counts the rows of the source whose ENTITY is NULL; 0 if the policy has no ENTITY."""
    if policy.entity is None:
        return 0
    nobody = select(f.count(), of=relation(policy.relation))
    return int(engine.rows(extend(nobody, where=[is_null(column(policy.entity.column))]))[0][0])


def profiles(engine: Engine, policy: BoundPolicy, rows: int) -> list[Profile]:
    """Profiles the columns of a source of this many rows, and of its related tables, that may be worth a remark."""
    if not policy.related:
        return _of_table(engine, policy, rows)
    tables = [(policy, rows), *((policy.of_related(table), _rows(engine, table)) for table in policy.related)]
    return [
        replace(profile, table=name)
        for name, (table, number) in zip(policy.policy.table_names, tables, strict=True)
        for profile in _of_table(engine, table, number)
    ]


def _rows(engine: Engine, table: BoundRelatedTable) -> int:
    return int(engine.rows(select(f.count(), of=relation(table.relation)))[0][0])


def _of_table(engine: Engine, policy: BoundPolicy, rows: int) -> list[Profile]:
    """Profiles the columns of one table with this number of rows, and returns the profiles that may be worth a remark.

    Returns an empty list for a pivoted source. It has a row for each respondent, and its columns are items of the same
    kind, too many for a comparison of each with all others.
    """
    if policy.long_table is not None:
        return []
    candidates = _candidates(policy)
    if not candidates or not rows:
        return []
    sampled = _profiled(engine, policy, candidates, limit=sizes().sample_rows)
    noted = [profile for profile in sampled if _is_notable(profile)]
    if rows <= sizes().sample_rows or not noted:
        return noted
    # The first rows do not show how often a value occurs in all rows.
    one_in = -(-rows // sizes().sample_rows)
    few = [profile for profile in noted if profile.values <= sizes().few]
    many = [profile for profile in noted if profile.values > sizes().few]
    read = [*_read_again(engine, policy, few, 1), *_read_again(engine, policy, many, one_in)]
    order = [profile.column for profile in noted]
    return sorted(filter(_is_notable, read), key=lambda profile: order.index(profile.column))


def _read_again(engine: Engine, policy: BoundPolicy, noted: Sequence[Profile], one_in: int) -> list[Profile]:
    """Profiles columns over all rows of one value in `one_in`."""
    names = [(profile.column, profile.role) for profile in noted]
    return _profiled(engine, policy, names, one_in=one_in) if names else []


def _candidates(policy: BoundPolicy) -> list[tuple[str, Role | None]]:
    """Returns the columns to profile, with their roles: published columns and, in a policy without ENTITY, hidden
    columns.
    """
    open_roles = (Role.SENSITIVE, Role.INSENSITIVE)
    published: list[tuple[str, Role | None]] = [(b.column, b.role) for b in policy.attributes if b.role in open_roles]
    if policy.entity is not None:
        return published[: sizes().columns]
    hidden = [(b.column, b.role) for b in policy.having(Role.IDENTIFIER)]
    others: list[tuple[str, Role | None]] = [(name, None) for name in policy.unpublished]
    return [*published, *hidden, *others][: sizes().columns]


def _is_notable(profile: Profile) -> bool:
    if profile.role is Role.IDENTIFIER:
        return profile.is_repeated
    return (profile.is_unique and profile.role is not None) or (profile.is_repeated and bool(profile.agreeing))


def _profiled(
    engine: Engine,
    policy: BoundPolicy,
    columns: Sequence[tuple[str, Role | None]],
    *,
    limit: int | None = None,
    one_in: int = 1,
) -> list[Profile]:
    quasi = [bound.column for bound in policy.quasi_identifiers]
    values_of = [if_(is_not_null(column(name)), _hash(column(name))) for name, _ in columns]
    query = select(
        *(alias(value, f"value_{i}") for i, value in enumerate(values_of)),
        *(alias(_hash(column(name)), f"quasi_{j}") for j, name in enumerate(quasi)),
        of=relation(policy.relation),
    )
    if limit is not None:
        query = extend(query, limit=limit)
    hashed = _HashedRows(engine, query, len(quasi), one_in)
    counts = hashed.counts(len(columns))
    determined = hashed.determined(counts)
    return [
        Profile(
            name,
            role,
            of_column.values,
            of_column.rows,
            of_column.alone,
            of_column.repeating,
            {quasi[j]: of_column.agreeing[j] for j in determined.get(i, ())},
            one_in,
        )
        for i, ((name, role), of_column) in enumerate(zip(columns, counts, strict=True))
    ]


@dataclass(frozen=True)
class _Counts:
    """The counts of `Profile` for a column; `agreeing` has a number for each quasi-identifier, in their order."""

    values: int
    rows: int
    alone: int
    repeating: int
    agreeing: Sequence[int]


def _counts(values: int, rows: int, alone: int, repeating: int, *agreeing: int) -> _Counts:
    return _Counts(values, rows, alone, repeating, agreeing)


@dataclass(frozen=True)
class _HashedRows:
    """The rows of a source, with hashes in place of values: value_i for each column, quasi_j for each quasi-identifier.

    One value in `one_in` of each column is read.
    """

    engine: Engine
    query: exp.Select
    quasi_identifiers: int
    one_in: int

    def counts(self, columns: int) -> list[_Counts]:
        """Returns the counts of each column."""
        parts = [_of_column(i, self.quasi_identifiers) for i in range(columns)]
        by_column = {int(i): _counts(*map(int, numbers)) for i, *numbers in self._read(parts, range(columns))}
        return [by_column[i] for i in range(columns)]

    def determined(self, counts: Sequence[_Counts]) -> dict[int, list[int]]:
        """Returns, by column, the indexes of the quasi-identifiers that the column determines more often than chance
        explains.
        """
        # The query for the chance runs only for a column that repeats and nearly determines the quasi-identifier.
        pairs = [
            (i, j)
            for i, of_column in enumerate(counts)
            for j, agreeing in enumerate(of_column.agreeing)
            if of_column.repeating and agreeing >= sizes().agreeing * of_column.repeating
        ]
        determined: dict[int, list[int]] = {}
        if not pairs:
            return determined
        for i, j, most, expected in self._read([_of_pair(i, j) for i, j in pairs], sorted({i for i, _ in pairs})):
            of_column = counts[i]
            several = of_column.rows - of_column.alone
            chance = log_chance(of_column.agreeing[j], of_column.repeating, several, most, expected)
            if most <= sizes().common and chance <= log(sizes().chance):
                determined.setdefault(i, []).append(j)
        return {i: sorted(indexes) for i, indexes in determined.items()}

    def _read(self, parts: Sequence[exp.Query], columns: Iterable[int]) -> Sequence[Sequence[Any]]:
        """Runs queries over the values of these columns; returns the rows of all queries."""
        query = union_all(list(parts))
        # With a limit, all columns are read from the same rows; with one value in `one_in`, each column has other rows.
        is_limited = self.query.args.get("limit") is not None
        query.with_(identifier("hashed"), as_=self.query.copy(), materialized=is_limited, copy=False)
        for i in columns:
            values = _values_of(i, self.quasi_identifiers, self.one_in)
            query.with_(identifier(_values(i)), as_=values, materialized=True, copy=False)
        return self.engine.rows(query)


def log_chance(agreeing: int, repeating: int, rows: int, most: float, expected: float) -> float:
    """Returns the logarithm of an upper bound on a probability, which is computed for an independent column and
    quasi-identifier.

    It is the probability that at least `agreeing` of the column's `repeating` values, which have `rows` rows together,
    have only one value of the quasi-identifier in all their rows; the quasi-identifier's most frequent value has a
    share of `most`. The probability that n rows have one value is the sum of p^n over the values' shares p, at most
    most^(n - 1); `expected` is the sum of these bounds over the repeating values. If all values agree, the result is
    the product of these bounds, otherwise Chernoff's bound (A measure of asymptotic efficiency for tests of a
    hypothesis based on the sum of observations, 1952).
    """
    if not agreeing or most >= 1:
        return 0.0
    if agreeing == repeating:
        return (rows - repeating) * log(most)
    if expected >= agreeing:
        return 0.0
    return agreeing * (1 + log(expected / agreeing)) - expected if expected > 0 else -inf


def _values(index: int) -> str:
    return f"values_{index}"


def _values_of(index: int, width: int, one_in: int) -> exp.Query:
    """SELECT of a column's values: n, its rows, and for each quasi-identifier whether these rows have one value, and
    one of their values.
    """
    numbers = range(width)
    return filled_query(
        'SELECT count(*) AS n, min({quasi}) = max({quasi}) AS "{same}", min({quasi}) AS "{first}" FROM hashed '
        "WHERE {value} IS NOT NULL AND {value} % $one_in = 0 GROUP BY {value}",
        names={
            "value": f"value_{index}",
            "quasi": [f"quasi_{j}" for j in numbers],
            "same": [f"same_{j}" for j in numbers],
            "first": [f"first_{j}" for j in numbers],
        },
        one_in=one_in,
    )


def _of_column(index: int, width: int) -> exp.Query:
    """SELECT of one row with the counts of a column: its values, and, for each quasi-identifier, the repeated values
    that determine it.
    """
    text = """
        SELECT $index AS number, count(*) AS values, coalesce(sum(n), 0) AS rows,
          count(*) FILTER (WHERE n = 1) AS alone, count(*) FILTER (WHERE n > 1) AS repeating,
          count(*) FILTER (WHERE n > 1 AND {same}) AS "{same}"
        FROM "{values}"
    """
    return filled_query(
        text, names={"same": [f"same_{j}" for j in range(width)], "values": _values(index)}, index=index
    )


def _of_pair(index: int, quasi: int) -> exp.Select:
    """SELECT of a row for a column and a quasi-identifier: `most` and `expected` of `log_chance`."""
    return filled_select(
        "SELECT $index AS number, $quasi AS quasi, max(most), sum(power(most, n - 1)) FROM value "
        "CROSS JOIN (SELECT CAST(max(n) AS DOUBLE) / sum(n) AS most FROM agreeing) AS frequent WHERE n > 1",
        tables={"value": _values(index), "agreeing": _agreeing(index, quasi)},
        index=index,
        quasi=quasi,
    )


def _agreeing(index: int, quasi: int) -> exp.Query:
    """SELECT of the rows of each value of a quasi-identifier, counted in the rows of values that determine it.

    `index` is the column, and `quasi` the quasi-identifier.
    """
    return filled_query(
        "SELECT sum(n) AS n FROM value WHERE n > 1 AND {same} GROUP BY {first}",
        tables={"value": _values(index)},
        names={"same": f"same_{quasi}", "first": f"first_{quasi}"},
    )


def _hash(*values: exp.Expr) -> exp.Expr:
    return f.call("hash", *values)


# Values that are common in classes although no requirement covers them: a respondent, or a sensitive value.


@dataclass(frozen=True)
class ClassFigures:
    """Counts of a release's classes: of `classes` classes, `single` have one row, and the others have several.

    `alike` maps a column to the number of classes of several rows that have only one value in it, `known_alike` to the
    number of classes with only one value and NULL. Only one class in `one_in` was read.
    """

    classes: int
    single: int
    alike: Mapping[str, int]
    known_alike: Mapping[str, int]
    one_in: int = 1


def class_figures(
    engine: Engine,
    rows: exp.Table | exp.Subquery,
    number: int,
    keys: Sequence[str],
    columns: Sequence[str],
    weight: str | None = None,
) -> ClassFigures:
    """Returns the figures of a release with this number of rows, whose classes are determined by the columns `keys`.

    If a row of `rows` represents several equal rows, the column `weight` has their number.
    """
    one_in = -(-number // sizes().sample_rows) if number > sizes().sample_rows else 1
    # If all rows of a class have one value, or NULL, the least and the greatest hash are equal.
    ends = [(f.min(_hash(column(name))), f.max(_hash(column(name)))) for name in columns]
    same = [alias(low.eq(high), f"same_{index}") for index, (low, high) in enumerate(ends)]
    same += [alias(_known_alike(column(name)), f"known_{index}") for index, name in enumerate(columns)]
    grouped = select(alias(f.count() if weight is None else total(column(weight)), "n"), *same, of=rows)
    if keys:
        grouped = extend(grouped, group_by=(column(name) for name in keys))
        if one_in > 1:
            grouped = extend(grouped, where=[(_hash(*(column(name) for name in keys)) % one_in).eq(0)])
    several = column("n") > 1
    alike = [
        filtered(f.count(), and_(several, column(f"{figure}_{index}")))
        for figure in ("same", "known")
        for index in range(len(columns))
    ]
    query = select(f.count(), filtered(f.count(), column("n").eq(1)), *alike, of=subquery(grouped, "class"))
    classes, single, *counts = map(int, engine.rows(query)[0])
    same_value, known_value = (
        dict(zip(columns, part, strict=True)) for part in (counts[: len(columns)], counts[len(columns) :])
    )
    return ClassFigures(classes, single, same_value, known_value, one_in)


def _known_alike(value: exp.Expr) -> exp.Expr:
    """The SQL condition that some rows of a class have NULL, and all other rows have the same value."""
    known = filled("CASE WHEN $value IS NOT NULL THEN hash($value) END", value=value)
    return filled("min($known) = max($known) AND count($value) < count(*)", known=known, value=value)
