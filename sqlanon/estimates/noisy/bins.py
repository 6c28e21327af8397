"""Groups of an answer from public keys: no respondent's rows change their number or their order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Policy
from sqlanon.domain.values import QualifiedName, Scalar, written
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import PolicyError, about
from sqlanon.estimates.noisy.query import NoisyQuery
from sqlanon.sources.catalog_entries import find_relation
from sqlanon.sources.protected import require_no_release
from sqlanon.sources.source import require_not_source, source_column
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text, ascending, row_alias, try_cast, window
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, select, subquery
from sqlanon.sql.build.render import to_sql
from sqlanon.sql.build.sql_files import filled_query

# At most this many groups: each has a row in the answer, and its own noise.
_MOST_GROUPS = 100_000

GROUP = "g"


def key(index: int) -> str:
    """Returns the name of the column with key `index` of a group."""
    return f"k{index}"


@dataclass(frozen=True)
class Bins:
    """The groups of an answer, numbered from 1; `keys` has each group's keys as the answer shows them.

    `relation` returns a relation of this name with each group's number and keys; no combination of keys occurs twice.
    """

    relation: Callable[[str], exp.Expr]
    keys: list[tuple[Any, ...]]


def public_bins(
    engine: Engine,
    query: NoisyQuery,
    types: Sequence[str],
    keys: tuple[Scalar, ...] | QualifiedName,
    policy: Policy,
    temp: TempTables,
) -> Bins:
    """Makes groups from public keys: the keys of a list, in its order, or the distinct rows of a table.

    Raises PolicyError for keys that do not fit the grouped columns, for a key that is listed twice, and for a table
    that reads the source.
    """
    if isinstance(keys, tuple):
        return _listed(engine, keys, types[0])
    number = alias(window(f.row_number()), GROUP)
    rows = subquery(_of_table(engine, query, types, keys, policy), "key")
    bins, count = temp.counted_table("bin", select(number, exp.Star(), of=rows))
    _require_few(count)
    return Bins(lambda name: relation(bins, name), shown_keys(engine, bins, types))


def _require_few(count: int) -> None:
    if not 0 < count <= _MOST_GROUPS:
        raise PolicyError(
            f"there are {count} keys, and there have to be 1 to {_MOST_GROUPS}", part=("argument", "keys")
        )


def _listed(engine: Engine, keys: tuple[Scalar, ...], kind: str) -> Bins:
    """Makes groups from a list of keys; keys that are equal as values are one group, however they are written."""
    part = ("argument", "keys")
    for value in keys:
        if isinstance(value, QualifiedName):
            raise PolicyError(
                f"{value} is a name, and keys are values",
                hint=f"write it in quotes: {written(str(value))}",
                part=part,
            )
    if not keys:
        raise PolicyError("there are no keys", hint="write keys => ('F', 'M')", part=part)
    _require_few(len(keys))

    def listed(name: str) -> exp.Expr:
        rows = [
            exp.Tuple(expressions=[literal(number), try_cast(literal(value), kind)])
            for number, value in enumerate(keys, start=1)
        ]
        return exp.Values(expressions=rows, alias=row_alias(name, [GROUP, key(0)]))

    different = select(f.min(column(GROUP)), as_text(f.any_value(column(key(0)))), of=listed("bin"))
    texts = dict(engine.rows(extend(different, group_by=[column(key(0))])))
    if None in texts.values():
        raise PolicyError(
            f"a key is no {kind}, which the grouped column is", hint="write keys as that column has them", part=part
        )
    if len(texts) != len(keys):
        # A row of such a key would be in two bins.
        raise PolicyError(
            "a key is named twice", hint="name each once; keys that are equal as values are one", part=part
        )
    return Bins(listed, [(_key_value(texts[number], kind),) for number in range(1, len(keys) + 1)])


def _of_table(
    engine: Engine, query: NoisyQuery, types: Sequence[str], name: QualifiedName, policy: Policy
) -> exp.Query:
    """Returns the distinct rows of a table of keys, sorted."""
    entry = find_relation(engine, name)
    if entry is None:
        raise PolicyError(
            f"there is no table {name} of keys", hint="write keys => ('F', 'M'), or make it", part=("argument", "keys")
        )
    table = relation(entry[1])
    require_not_source(engine, name, table, policy)
    rows = filled_query('SELECT * FROM "{table}"', names={"table": table})
    with about("argument", "keys"):
        tables = engine.tables_of(to_sql(rows.copy()))
        require_no_release(engine, policy, tables, f"the table of keys {name}")
    columns = engine.columns(rows)
    spelled = [source_column(group, columns, f"the table of keys {name}")[0] for group, _ in query.groups]
    return filled_query(
        'SELECT * FROM (SELECT DISTINCT $keys AS "{names}" FROM "{table}") AS key ORDER BY {names} ASC NULLS LAST',
        names={"names": [key(index) for index in range(len(types))], "table": table},
        keys=[try_cast(column(part), kind) for part, kind in zip(spelled, types, strict=True)],
    )


def shown_keys(engine: Engine, groups: str, types: Sequence[str]) -> list[tuple[Any, ...]]:
    """Returns the keys of a table's groups in order, as answers show them: numbers, booleans or texts."""
    if not types:
        return [()]
    texts = [as_text(column(key(index))) for index in range(len(types))]
    query = select(*texts, of=relation(groups), order_by=[ascending(column(GROUP))])
    return [tuple(map(_key_value, row, types)) for row in engine.rows(query)]


def _key_value(text: str | None, kind: str) -> Any:
    if text is None or fold(kind) not in ("boolean", "tinyint", "smallint", "integer", "bigint", "hugeint"):
        return text
    return text == "true" if fold(kind) == "boolean" else int(text)
