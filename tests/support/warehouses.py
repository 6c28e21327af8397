"""Sources with hostile names and values, the releases of them in DuckDB, and their scripts for other warehouses."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from random import Random
from typing import Any

import sqlanon
from sqlanon import Connection
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.export.warehouses.compiled import compiled
from tests.support.names import quoted

__all__ = [
    "BUCKETS",
    "BUCKET_COLUMNS",
    "COLUMNS",
    "CONFIDENTIAL",
    "MODELS",
    "REGIONS",
    "REGION_COLUMNS",
    "RELEASE",
    "TABLE",
    "Buckets",
    "Column",
    "as_texts",
    "assert_buckets",
    "columns_for",
    "crossed",
    "finite",
    "made",
    "random_rows",
    "released",
    "replace_rows",
    "script",
    "skewed_rows",
    "using",
    "without_levels",
]

TABLE = 'pa;ti"ents'
RELEASE = "re'lease\n-- /* 中"


@dataclass(frozen=True)
class Column:
    """A column, its DuckDB type, what the policy says of it, values of it, and values that come after the solving."""

    name: str
    kind: str
    role: str
    values: tuple[Any, ...]
    later: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Buckets:
    """What the buckets of a release have to be: l-diverse, by shares or by `distinct` values, of so many rows."""

    l: int  # noqa: E741 - the papers' name
    least: int
    distinct: bool = False


TOWNS = {"it's": "o'ne", 'qu"ote': "o'ne", "back\\slash": "tw\\o", "new\nline": "tw\\o", "": "é中文", "Ünï": "é中文"}

COLUMNS = (
    Column(
        'sel"ect', "VARCHAR", "QUASI IDENTIFIER USING towns MIN LEVEL 1 MAX LEVEL 1", (*TOWNS, None), ("unseen", "IT'S")
    ),
    Column(
        "order by",
        "DATE",
        "QUASI IDENTIFIER USING dates MIN LEVEL 2 MAX LEVEL 2",
        ("2020-02-29", "2020-03-01", "0812-01-01", "infinity", "-infinity", None),
        ("2024-12-31",),
    ),
    Column(
        "é中文",
        "INTEGER",
        "QUASI IDENTIFIER USING widths MIN LEVEL 1 MAX LEVEL 1",
        (-2147483648, -1, 0, 4, 5, 2147483647, None),
        (9,),
    ),
    Column(
        "price",
        "DECIMAL(9,2)",
        "QUASI IDENTIFIER USING prices MIN LEVEL 1 MAX LEVEL 1",
        tuple(map(Decimal, ("-0.01", "0.00", "0.49", "0.50", "12.25"))),
    ),
    Column(
        "zip",
        "VARCHAR",
        "QUASI IDENTIFIER USING prefixes MIN LEVEL 1 MAX LEVEL 1",
        ("94141", "94149", "94a", "😀😀😀😀", None),
    ),
    Column("class_id", "BOOLEAN", "QUASI IDENTIFIER MIN LEVEL 0 MAX LEVEL 0", (True, False, None)),
    Column("gone", "VARCHAR", "QUASI IDENTIFIER MIN LEVEL 1 MAX LEVEL 1", ("x", "y")),
    Column("dis'ease", "VARCHAR", "SENSITIVE", ("Flu", "flu", "it's", "a\\b", None), ("Cold",)),
    Column("note", "DOUBLE", "INSENSITIVE", (0.5, -1.25, None)),
)

DEFINITIONS = """
CREATE HIERARCHY towns AS LEVELS (SELECT * FROM towns);
CREATE HIERARCHY dates AS CALENDAR (MONTH, YEAR);
CREATE HIERARCHY widths AS INTERVALS (5, 10);
CREATE HIERARCHY prices AS INTERVALS (0.5, 5);
CREATE HIERARCHY prefixes AS PREFIXES (3, 1);
CREATE HIERARCHY seen AS PREFIXES (1);
"""

# What is required; those that read the rows of others have a guard in rounds.
MODELS = (
    "k_anonymity(k => 3)",
    "l_diversity(l => 2)",
    "l_diversity(l => 1.5, variant => 'entropy'), k_anonymity(k => 2)",
    "l_diversity(l => 2, c => 2, variant => 'recursive')",
    "l_diversity(l => 1.4, variant => 'probabilistic')",
    "alpha_k_anonymity(alpha => 0.7, k => 2)",
    "p_sensitive_k_anonymity(p => 2, k => 3)",
    "t_closeness(t => 0.3)",
    "t_closeness(t => 0.3, distance => 'ordered')",
    "t_closeness(t => 0.3, distance => 'hierarchical')",
    "t_closeness(t => 0.2, distance => 'jensen_shannon')",
    "delta_disclosure(delta => 2, absent => 'ignored')",
    "beta_likeness(beta => 1.5)",
    "beta_likeness(beta => 1.5, variant => 'enhanced')",
)


# Methods that cut regions, each with what is required of them.
REGIONS = (
    ("mondrian", "k_anonymity(k => 20)"),
    ("mondrian(publish => 'ancestor', hierarchy => 'tree')", "l_diversity(l => 3), k_anonymity(k => 14)"),
    ("mondrian(bounds => true)", "t_closeness(t => 0.4, distance => 'ordered'), k_anonymity(k => 8)"),
)


def random_rows(
    seed: int, count: int, columns: Sequence[Column] = COLUMNS, *, later: bool = False
) -> list[tuple[Any, ...]]:
    """Rows, many of which agree with others in all quasi-identifiers; `later` draws values not seen before, too."""
    random = Random(seed)
    few = [
        tuple(random.choice(c.values + (c.later if later else ())) for c in columns) for _ in range(max(count // 8, 1))
    ]
    free = [index for index, c in enumerate(columns) if not c.role.startswith("QUASI")]
    rows = []
    for _ in range(count):
        row = list(random.choice(few))
        for index in free:
            row[index] = random.choice(columns[index].values)
        rows.append(tuple(row))
    return rows


def without_levels(columns: Sequence[Column] = COLUMNS) -> tuple[Column, ...]:
    """The columns without the levels that a policy may prescribe, for methods that have none."""
    return tuple(replace(c, role=re.sub(r" MIN LEVEL \d MAX LEVEL \d", "", c.role)) for c in columns)


# Few enough that the rows of another day lie in regions, too: ordered by values and by hierarchies, with NULLs.
REGION_COLUMNS = without_levels((*COLUMNS[:5], *COLUMNS[7:]))


# Methods that deal rows out, what is required of the buckets, and what that comes to.
BUCKETS = (
    ("anatomy(l => 2)", "k_anonymity(k => 2)", Buckets(2, 2)),
    # The most frequent value has more rows than there are buckets of so many.
    ("anatomy(l => 2)", "k_anonymity(k => 3)", Buckets(2, 3)),
    ("anatomy(l => 3, variant => 'distinct')", "t_closeness(t => 0.3)", Buckets(3, 3, distinct=True)),
)
BUCKET_COLUMNS = without_levels((*COLUMNS[:5], *COLUMNS[7:]))


def skewed_rows(seed: int, count: int, columns: Sequence[Column]) -> list[tuple[Any, ...]]:
    """Rows of which a third or more, and less than half, have one sensitive value."""
    at = next(index for index, column in enumerate(columns) if column.role.startswith("SENSITIVE"))
    rows = random_rows(seed, count, columns)
    return [(*row[:at], "Flu" if n % 4 < 1 else row[at], *row[at + 1 :]) for n, row in enumerate(rows)]


def assert_buckets(
    rows: Sequence[Sequence[Any]], values: Sequence[Sequence[Any]], source: Sequence[Sequence[Any]], wanted: Buckets
) -> None:
    """Raises AssertionError unless the tables are those of Anatomy (Xiao and Tao 2006, definition 3) of a source.

    `rows` have the bucket last, and `source` has the sensitive value last; `values` are bucket, value and count.
    """
    assert Counter(tuple(row[:-1]) for row in rows) == Counter(tuple(row[:-1]) for row in source)
    by_value: Counter[Any] = Counter()
    in_bucket: dict[Any, Counter[Any]] = {}
    for bucket, value, count in values:
        assert int(count) >= 1
        assert value not in in_bucket.setdefault(bucket, Counter())
        in_bucket[bucket][value] = int(count)
        by_value[value] += int(count)
    assert by_value == Counter(row[-1] for row in source)
    assert Counter(row[-1] for row in rows) == {bucket: sum(counts.values()) for bucket, counts in in_bucket.items()}
    for counts in in_bucket.values():
        size = sum(counts.values())
        assert size >= wanted.least
        assert len(counts) >= wanted.l if wanted.distinct else max(counts.values()) * wanted.l <= size


# What is not to be seen together: the sensitive column beside two others, nor these.
CONFIDENTIAL = """CONFIDENTIAL ("dis'ease", "order by"), ("sel""ect", "order by"), ("dis'ease", "sel""ect")"""


def crossed(rows: Sequence[tuple[Any, ...]], seed: int, count: int) -> list[tuple[Any, ...]]:
    """Rows whose values are each one of these rows' in its column, so that most combinations are new ones."""
    random = Random(seed)
    return [tuple(random.choice(rows)[index] for index in range(len(rows[0]))) for _ in range(count)]


def made(
    rows: Sequence[tuple[Any, ...]],
    require: str,
    columns: Sequence[Column] = COLUMNS,
    kind: str = "VIEW",
    method: str = "generalization(suppression => 1)",
) -> Connection:
    """A database with the rows as a source, a policy on them, and a release of it.

    What is required are models, or what is CONFIDENTIAL.
    """
    con = sqlanon.connect()
    con.duckdb.execute("CREATE TABLE towns (town VARCHAR, region VARCHAR)")
    con.duckdb.executemany("INSERT INTO towns VALUES (?, ?)", list(TOWNS.items()))
    con.execute(DEFINITIONS)
    con.duckdb.execute(f"CREATE TABLE {quoted(TABLE)} ({', '.join(f'{quoted(c.name)} {c.kind}' for c in columns)})")
    insert(con, rows)
    roles = ", ".join(f"{quoted(c.name)} {c.role}" for c in columns)
    required = require if require.startswith("CONFIDENTIAL") else f"REQUIRE {require}"
    con.execute(f"CREATE POLICY p ON {quoted(TABLE)} ({roles}) {required}")
    con.execute(f"CREATE ANONYMIZED {kind} {quoted(RELEASE)} AS POLICY p METHOD {method}")
    return con


def insert(con: Connection, rows: Sequence[tuple[Any, ...]]) -> None:
    if rows:
        con.duckdb.executemany(f"INSERT INTO {quoted(TABLE)} VALUES ({', '.join('?' * len(rows[0]))})", rows)


def replace_rows(con: Connection, rows: Sequence[tuple[Any, ...]]) -> None:
    """Other rows in the source, which a live view follows."""
    con.duckdb.execute(f"DELETE FROM {quoted(TABLE)}")
    insert(con, rows)


def finite(columns: Sequence[Column] = COLUMNS) -> tuple[Column, ...]:
    """The columns without infinite dates, which other warehouses than PostgreSQL do not have."""
    return tuple(replace(c, values=tuple(v for v in c.values if v not in ("infinity", "-infinity"))) for c in columns)


def using(hierarchy: str, columns: Sequence[Column] = COLUMNS) -> tuple[Column, ...]:
    """The columns, the sensitive one with a hierarchy."""
    return tuple(replace(c, role=f"SENSITIVE USING {hierarchy}") if c.role == "SENSITIVE" else c for c in columns)


def columns_for(model: str, columns: Sequence[Column] = COLUMNS) -> tuple[Column, ...]:
    """The columns that a model is asked of."""
    return using("seen", columns) if "hierarchical" in model else tuple(columns)


def script(con: Connection, dialect: str, **places: tuple[str, ...]) -> str:
    """The release as a script."""
    names = {key: QualifiedName(parts) for key, parts in places.items()}
    return compiled(DuckDBEngine(con.duckdb), QualifiedName((RELEASE,)), dialect, **names)


def released(con: Connection) -> Counter[tuple[Any, ...]]:
    """The rows of the release in DuckDB, with their numbers."""
    names = [name for name, *_ in con.duckdb.execute(f"DESCRIBE {quoted(RELEASE)}").fetchall()]
    query = f"SELECT {', '.join(f'{quoted(n)}::VARCHAR' for n in names)} FROM {quoted(RELEASE)}"
    return as_texts(con.duckdb.execute(query).fetchall())


def as_texts(rows: Sequence[Sequence[Any]]) -> Counter[tuple[Any, ...]]:
    """Rows of texts with their numbers, whole DOUBLEs with and without a point being alike."""
    return Counter(
        tuple(value.removesuffix(".0") if isinstance(value, str) else value for value in row) for row in rows
    )
