"""What columns of a source are like that are no quasi-identifiers: how values repeat, and what they determine.

The values are compared by their hashes. A first query reads some of the rows and all columns; only of columns that are
remarkable there a second reads all rows of some of their values, so that what it says of these values is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.domain.bound import BoundPolicy, BoundRelatedTable
from sqlanon.domain.policy import Role
from sqlanon.engines.base import Engine
from sqlanon.remarks.sizes import sizes
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import filtered, if_, is_not_null, is_null, union_all
from sqlanon.sqlgen.build.names import alias, column, identifier, literal, relation

__all__ = ["Profile", "profiles", "rows_of_nobody"]


@dataclass(frozen=True)
class Profile:
    """How the values of a column repeat, in rows in which it is not NULL; `role` is None where the policy has none.

    There are `values` different ones in `rows` rows, of which `alone` rows have a value that no other row has, and
    `repeating` values have several rows. `determined` are the quasi-identifiers of which nearly each repeating value
    has one value; of that with the most exceptions, `agreeing` repeating values have one. One value in `one_in` was
    looked at. `table` names its table where the policy has several, whose source has one row of each respondent.
    """

    column: str
    role: Role | None
    values: int
    rows: int
    alone: int
    repeating: int
    determined: tuple[str, ...]
    agreeing: int
    one_in: int = 1
    table: str | None = None

    @property
    def is_unique(self) -> bool:
        """Whether it tells most rows apart."""
        return self.rows > 0 and self.alone >= sizes().alone * self.rows and self.values > 1

    @property
    def is_repeated(self) -> bool:
        return self.rows >= sizes().repeats * max(self.values, 1)

    def is_respondent(self, quasi_identifiers: int) -> bool:
        """Whether it is like a number of a person: it repeats, and most of the quasi-identifiers are the same then."""
        if self.table is not None:
            return False
        return self.is_repeated and 0 < len(self.determined) >= sizes().determined * quasi_identifiers


def rows_of_nobody(engine: Engine, policy: BoundPolicy) -> int:
    """The number of rows of the source whose ENTITY is NULL; 0 without an ENTITY."""
    if policy.entity is None:
        return 0
    nobody = exp.select(f.count()).from_(relation(policy.relation), copy=False)
    return int(engine.rows(nobody.where(is_null(column(policy.entity.column)), copy=False))[0][0])


def profiles(engine: Engine, policy: BoundPolicy, rows: int) -> list[Profile]:
    """The columns of a source of this many rows, and of its related tables, that may be worth a remark."""
    if not policy.related:
        return _of_table(engine, policy, rows)
    tables = [(policy, rows), *((policy.of_related(table), _rows(engine, table)) for table in policy.related)]
    return [
        replace(profile, table=name)
        for name, (table, number) in zip(policy.policy.table_names, tables, strict=True)
        for profile in _of_table(engine, table, number)
    ]


def _rows(engine: Engine, table: BoundRelatedTable) -> int:
    return int(engine.rows(exp.select(f.count()).from_(relation(table.relation)))[0][0])


def _of_table(engine: Engine, policy: BoundPolicy, rows: int) -> list[Profile]:
    """The columns of a source of this many rows that may be worth a remark, with the figures of their values.

    None of a source that was pivoted: it has a row for each respondent, and its columns are items of one kind, as many
    as that each of them cannot be compared with all others.
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
    # The first rows alone say too little of how often a value occurs.
    names = [(profile.column, profile.role) for profile in noted]
    one_in = -(-rows // sizes().sample_rows)
    return [profile for profile in _profiled(engine, policy, names, one_in=one_in) if _is_notable(profile)]


def _candidates(policy: BoundPolicy) -> list[tuple[str, Role | None]]:
    """The columns to look at: where the policy has an ENTITY, those alone that are published."""
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
    return (profile.is_unique and profile.role is not None) or (profile.is_repeated and bool(profile.determined))


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
    hashed = exp.select(
        *(alias(value, f"value_{i}") for i, value in enumerate(values_of)),
        *(alias(_hash(column(name)), f"quasi_{j}") for j, name in enumerate(quasi)),
    ).from_(relation(policy.relation), copy=False)
    if limit is not None:
        hashed = hashed.limit(limit, copy=False)
    query = union_all([_of_column(i, len(quasi), one_in) for i in range(len(columns))])
    # All columns are read from the same rows; with one value in many each column has rows of its own.
    query.with_(identifier("hashed"), as_=hashed, materialized=limit is not None, copy=False)
    found_profiles: list[Profile] = []
    for number, values, rows, alone, repeating, *of_quasi in engine.rows(query):
        same, entropies = of_quasi[: len(quasi)], of_quasi[len(quasi) :]
        determined = [
            name
            for name, count, entropy in zip(quasi, same, entropies, strict=True)
            if repeating >= sizes().values and count >= sizes().agreeing * repeating and entropy >= sizes().entropy
        ]
        agreeing = min((int(count) for name, count in zip(quasi, same, strict=True) if name in determined), default=0)
        name, role = columns[int(number)]
        counts = (int(values), int(rows), int(alone), int(repeating))
        found_profiles.append(Profile(name, role, *counts, tuple(determined), agreeing, one_in))
    return sorted(found_profiles, key=lambda profile: [name for name, _ in columns].index(profile.column))


def _of_column(index: int, width: int, one_in: int) -> exp.Select:
    """A row of figures of one column: of its values, and of those that repeat in each quasi-identifier."""
    value = column(f"value_{index}")
    ends = [(f.min(column(f"quasi_{j}")), f.max(column(f"quasi_{j}"))) for j in range(width)]
    values = exp.select(
        alias(f.count(), "n"),
        *(alias(low.eq(high), f"same_{j}") for j, (low, high) in enumerate(ends)),
        *(alias(low.copy(), f"first_{j}") for j, (low, _) in enumerate(ends)),
    ).from_(relation("hashed"), copy=False)
    values.where(is_not_null(value), copy=False).group_by(value.copy(), copy=False)
    if one_in > 1:
        values.where((value.copy() % one_in).eq(0), copy=False)
    repeats = column("n") > 1
    return exp.select(
        alias(literal(index), "number"),
        alias(f.count(), "values"),
        alias(f.coalesce(f.sum(column("n")), 0), "rows"),
        alias(filtered(f.count(), column("n").eq(1)), "alone"),
        alias(filtered(f.count(), repeats), "repeating"),
        *(alias(filtered(f.count(), exp.and_(repeats.copy(), column(f"same_{j}"))), f"same_{j}") for j in range(width)),
        *(
            alias(f.coalesce(filtered(f.call("entropy", column(f"first_{j}")), repeats.copy()), 0), f"entropy_{j}")
            for j in range(width)
        ),
    ).from_(values.subquery("counted", copy=False), copy=False)


def _hash(value: exp.Expr) -> exp.Expr:
    return f.call("hash", value)
