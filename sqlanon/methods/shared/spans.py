"""The values behind published labels, as ranks, for comparing the choices of several methods.

A span is a row that stands for published rows with the same labels: it has n, and for each quasi-identifier low_i,
high_i and null_i. low_i and high_i are the least and the greatest rank of the values other than NULL that its label may
represent; if there is none, they are 1 and 0. null_i is 1 if the label may represent NULL, else 0. Ranks count from 0
in the order of `sql.cells.value_ranks`, which is the same for every method.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.domain.bound import BoundPolicy
from sqlanon.engines.temp_tables import TempTables
from sqlanon.methods.shared.task import Cells
from sqlanon.sql.build.expressions import and_, big, infix, paren, union_all
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, inner_join, select
from sqlanon.sql.build.sql_files import Relation, filled, filled_query, filled_select, reading
from sqlanon.sql.cells.cells import Field, codes, key_name
from sqlanon.sql.cells.value_ranks import ranked

# The published level of each quasi-identifier, and the table of the cells published at these levels.
Leveled = tuple[Sequence[int], str]


def low_name(index: int) -> str:
    """The name of the column with the least rank of a quasi-identifier's label."""
    return f"low_{index}"


def high_name(index: int) -> str:
    """The name of the column with the greatest rank of a quasi-identifier's label."""
    return f"high_{index}"


def null_name(index: int) -> str:
    """The name of the column that is 1 if a quasi-identifier's label may represent NULL."""
    return f"null_{index}"


def ranked_values(policy: BoundPolicy, cells: Cells, temp: TempTables) -> list[str]:
    """The tables of each quasi-identifier's values with their ranks."""
    named = zip(policy.quasi_identifiers, cells.trees, strict=True)
    return list(cells.ranked) or [temp.table("ranked", ranked(bound, tree)) for bound, tree in named]


def spans_of_ranks(policy: BoundPolicy, cells: Cells, ranks: Sequence[str]) -> exp.Query:
    """SELECT of the spans of the source's own rows, from cells whose codes are ranks.

    A span has n equal rows, and for each quasi-identifier the least and the greatest rank of its values.
    """
    columns: list[exp.Expr] = []
    codes_of_ranks = []
    for index, ((field,), table) in enumerate(zip(cells.layout.fields, ranks, strict=True)):
        text = "(({key} & $mask) >> $shift)"
        rank = filled(text, names={"key": key_name(field.word)}, mask=field.mask, shift=field.shift)
        null = reading(filled("coalesce((SELECT max(rank_0) FROM ranked WHERE value IS NULL), -1)"), {"ranked": table})
        codes_of_ranks.append(rank)
        names = {"name": [low_name(index), high_name(index), null_name(index)]}
        columns += filled_query(
            """SELECT CASE WHEN $rank = $null THEN $at_null ELSE $otherwise END AS "{name}" """,
            names=names,
            rank=rank,
            null=null,
            at_null=[1, 0, 1],
            otherwise=[rank, rank, 0],
        ).selects
    text = "SELECT $columns, CAST(sum(n) AS BIGINT) AS n FROM cells GROUP BY $ranks"
    return filled_query(text, tables={"cells": cells.table}, columns=columns, ranks=codes_of_ranks)


def spans_of_levels(
    policy: BoundPolicy, cells: Cells, temp: TempTables, ranks: Sequence[str], parts: Sequence[Leveled]
) -> exp.Query:
    """SELECT of the spans of a release by levels, from cells whose codes are paths in hierarchies.

    A span has n rows with equal labels, and for each quasi-identifier the least and the greatest rank below its label.
    Each of `parts` is published at its own levels.
    """
    labels = {
        (index, level): temp.table("label_ranks", _labels(cells.trees[index], ranks[index], fields, level))
        for index, fields in enumerate(cells.layout.fields)
        for level in sorted({levels[index] for levels, _ in parts})
    }
    return union_all([_of_part(cells, levels, table, labels) for levels, table in parts])


def _labels(tree: str, ranks: str, fields: Sequence[Field], level: int) -> exp.Query:
    """SELECT of the labels of a column at one level: the bits of their codes in each word of a key, low, high and
    missing.

    low and high are the least and the greatest rank below a label; missing is 1 if NULL is below it.
    """
    words = _words(fields[level:])
    coded = codes(relation(tree), fields) or select(column("value"), of=relation(tree))
    text = """
        SELECT $parts AS "{keys}", coalesce(min(CASE WHEN NOT coded.value IS NULL THEN ranks.rank_0 END), 1) AS low,
          coalesce(max(CASE WHEN NOT coded.value IS NULL THEN ranks.rank_0 END), 0) AS high,
          max(CASE WHEN coded.value IS NULL THEN 1 ELSE 0 END) AS missing
        FROM coded
        JOIN ranks ON ranks.value IS NOT DISTINCT FROM coded.value
        GROUP BY $parts
    """
    tables: dict[str, Relation] = {"coded": coded, "ranks": ranks}
    parts = [_masked(fields, level, word, "coded") for word in words]
    return filled_query(text, tables=tables, names={"keys": [*map(key_name, words)]}, parts=parts)


def _of_part(cells: Cells, levels: Sequence[int], table: str, labels: dict[tuple[int, int], str]) -> exp.Select:
    """SELECT of the spans of the cells in a table, published at these levels.

    `labels` maps an attribute and a level to the table of the labels there.
    """
    masks = cells.layout.masks(levels)
    text = """
        SELECT class.n
        FROM (
          SELECT ({keys} & $masks) AS "{keys}", CAST(sum(n) AS BIGINT) AS n FROM cells GROUP BY ({keys} & $masks)
        ) AS class
    """
    keys = {"keys": [key_name(word) for word in range(len(masks))]}
    query = filled_select(text, tables={"cells": table}, names=keys, masks=masks)
    for index, (fields, level) in enumerate(zip(cells.layout.fields, levels, strict=True)):
        name = f"label_{index}"
        words = _words(fields[level:])
        same_label = [_masked(fields, level, word, "class").eq(column(key_name(word), name)) for word in words]
        extend(
            query,
            joins=[
                inner_join(relation(labels[index, level], as_=name), and_(*same_label) if same_label else exp.true())
            ],
        )
        named = {"low": low_name(index), "high": high_name(index), "missing": null_name(index)}
        extend(query, *(alias(column(of, name), each) for of, each in named.items()))
    return query


def _words(fields: Sequence[Field]) -> list[int]:
    return sorted({field.word for field in fields if field.bits})


def _masked(fields: Sequence[Field], level: int, word: int, of: str) -> exp.Expr:
    """The bits of an attribute's ancestors from a level up, in one word of the key."""
    mask = sum(field.mask for field in fields[level:] if field.word == word)
    return paren(infix(column(key_name(word), of), "&", big(literal(mask))))
