"""The groups of an answer: public keys, whose number and order nobody's rows change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Policy
from sqlanon.domain.values import QualifiedName, Scalar, written
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import PolicyError
from sqlanon.estimates.noisy.query import SOURCE, NoisyQuery
from sqlanon.estimates.noisy.rows import GROUP, key
from sqlanon.estimates.query.functions import tried
from sqlanon.sources.catalog_entries import find_relation
from sqlanon.sources.column_types import without_enums
from sqlanon.sources.source import require_not_source, source_column
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text, ascending, try_cast, union_all, window
from sqlanon.sql.build.names import alias, column, literal, relation

# So many groups at most: each has a row in the answer, and noise of its own.
_MOST_GROUPS = 100_000


def group_types(engine: Engine, query: NoisyQuery, table: QualifiedName) -> list[str]:
    """The types of the grouped expressions; no row is read."""
    if not query.groups:
        return []
    outputs = [alias(tried(tree), key(index)) for index, (_, tree) in enumerate(query.groups)]
    typed = engine.columns(exp.select(*outputs).from_(relation(table, SOURCE)))
    return [without_enums(kind) for _, kind in typed]


def public_bins(
    engine: Engine,
    query: NoisyQuery,
    types: Sequence[str],
    keys: tuple[Scalar, ...] | QualifiedName,
    policy: Policy,
    scratch: Scratch,
) -> str:
    """A table with a number for each combination of public keys, none of which is there twice; returns its name.

    Raises PolicyError for keys that do not fit the grouped columns, for a key that is listed twice, and for a table
    that reads the source.
    """
    part = ("argument", "keys")
    is_list = isinstance(keys, tuple)
    rows = _listed(keys, types[0]) if isinstance(keys, tuple) else _of_table(engine, query, types, keys, policy)
    number = alias(window(f.row_number()), GROUP)
    bins = scratch.table("bin", exp.select(number, exp.Star()).from_(rows.subquery("key")))
    names = [column(key(index)) for index in range(len(types))]
    different = exp.select(*names).distinct().from_(relation(bins)).subquery("key")
    ((count,),) = engine.rows(exp.select(f.count()).from_(relation(bins)))
    ((different_count,),) = engine.rows(exp.select(f.count()).from_(different))
    if not 0 < count <= _MOST_GROUPS:
        raise PolicyError(f"there are {count} keys, and there have to be 1 to {_MOST_GROUPS}", part=part)
    if different_count != count:
        # A row of such a key would be in two bins.
        raise PolicyError(
            "a key is named twice", hint="name each once; keys that are equal as values are one", part=part
        )
    if is_list:
        texts = [text for (text,) in engine.rows(exp.select(as_text(column(key(0)))).from_(relation(bins)))]
        if None in texts:
            raise PolicyError(
                f"a key is no {types[0]}, which the grouped column is",
                hint="write keys as that column has them",
                part=part,
            )
    return bins


def _listed(keys: tuple[Scalar, ...], kind: str) -> exp.Query:
    """A row for each key of a list, in its order."""
    for value in keys:
        if isinstance(value, QualifiedName):
            raise PolicyError(
                f"{value} is a name, and keys are values",
                hint=f"write it in quotes: {written(str(value))}",
                part=("argument", "keys"),
            )
    if not keys:
        raise PolicyError("there are no keys", hint="write keys => ('F', 'M')", part=("argument", "keys"))
    return union_all([exp.select(alias(try_cast(literal(value), kind), key(0))) for value in keys])


def _of_table(
    engine: Engine, query: NoisyQuery, types: Sequence[str], name: QualifiedName, policy: Policy
) -> exp.Select:
    """The different rows of a table of keys, in the order of these."""
    entry = find_relation(engine, name)
    if entry is None:
        raise PolicyError(
            f"there is no table {name} of keys", hint="write keys => ('F', 'M'), or make it", part=("argument", "keys")
        )
    table = relation(entry[1])
    require_not_source(engine, name, table, policy)
    columns = engine.columns(exp.select(exp.Star()).from_(table.copy()))
    spelled = [source_column(group, columns, f"the table of keys {name}")[0] for group, _ in query.groups]
    keys = [
        alias(try_cast(column(part), kind), key(index))
        for index, (part, kind) in enumerate(zip(spelled, types, strict=True))
    ]
    different = exp.select(*keys).distinct().from_(table)
    order = [ascending(column(key(index))) for index in range(len(types))]
    return exp.select(exp.Star()).from_(different.subquery("key")).order_by(*order)


def shown_keys(engine: Engine, groups: str, types: Sequence[str]) -> list[tuple[Any, ...]]:
    """The keys of the groups of a table in their order, as an answer has them: numbers and booleans, or texts."""
    if not types:
        return [()]
    texts = [as_text(column(key(index))) for index in range(len(types))]
    query = exp.select(*texts).from_(relation(groups)).order_by(ascending(column(GROUP)))
    return [tuple(map(_key_value, row, types)) for row in engine.rows(query)]


def _key_value(text: str | None, kind: str) -> Any:
    if text is None or fold(kind) not in ("boolean", "tinyint", "smallint", "integer", "bigint", "hugeint"):
        return text
    return text == "true" if fold(kind) == "boolean" else int(text)
