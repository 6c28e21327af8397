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
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import and_, big, identical, if_, infix, is_null, paren, total, union_all
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, inner_join, select, subquery
from sqlanon.sql.cells.cells import Field, codes, key_name, rank_name
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


def spans_of_ranks(policy: BoundPolicy, cells: Cells, ranks: Sequence[str]) -> exp.Select:
    """SELECT of the spans of the source's own rows, from cells whose codes are ranks."""
    query = select()
    groups: list[exp.Expr] = []
    for index, ((field,), table) in enumerate(zip(cells.layout.fields, ranks, strict=True)):
        rank = _code(field)
        is_missing = rank.eq(f.coalesce(subquery(_null_rank(table)), -1))
        extend(
            query,
            alias(if_(is_missing, 1, rank), low_name(index)),
            alias(if_(is_missing, 0, rank), high_name(index)),
            alias(if_(is_missing, 1, 0), null_name(index)),
        )
        groups.append(rank)
    extend(query, alias(total(column("n")), "n"), of=relation(cells.table))
    return extend(query, group_by=groups) if groups else query


def _code(field: Field) -> exp.Expr:
    return paren(infix(paren(infix(column(key_name(field.word)), "&", field.mask)), ">>", field.shift))


def _null_rank(table: str) -> exp.Select:
    return select(f.max(column(rank_name(0))), of=relation(table), where=[is_null(column("value"))])


def spans_of_levels(
    policy: BoundPolicy, cells: Cells, temp: TempTables, ranks: Sequence[str], parts: Sequence[Leveled]
) -> exp.Query:
    """SELECT of the spans of cells whose codes are paths in hierarchies; each part is published at its own levels."""
    labels = {
        (index, level): temp.table("label_ranks", _labels(cells.trees[index], ranks[index], fields, level))
        for index, fields in enumerate(cells.layout.fields)
        for level in sorted({levels[index] for levels, _ in parts})
    }
    return union_all([_of_part(cells, levels, table, labels) for levels, table in parts])


def _labels(tree: str, ranks: str, fields: Sequence[Field], level: int) -> exp.Select:
    """SELECT of the labels of one level: the bits of their codes in each word of a key, low, high and missing."""
    words = _words(fields[level:])
    coded = codes(relation(tree), fields) or select(column("value"), of=relation(tree))
    parts = [alias(_masked(fields, level, word, "coded"), key_name(word)) for word in words]
    missing = is_null(column("value", "coded"))
    rank = column(rank_name(0), "ranks")
    known = if_(exp.not_(missing), rank)
    query = select(
        *parts,
        alias(f.coalesce(f.min(known), 1), "low"),
        alias(f.coalesce(f.max(known), 0), "high"),
        alias(f.max(if_(missing, 1, 0)), "missing"),
        of=subquery(coded, "coded"),
    )
    extend(
        query,
        joins=[inner_join(relation(ranks, as_="ranks"), identical(column("value", "ranks"), column("value", "coded")))],
    )
    return extend(query, group_by=(part.this for part in parts)) if parts else query


def _of_part(cells: Cells, levels: Sequence[int], table: str, labels: dict[tuple[int, int], str]) -> exp.Select:
    """SELECT of the spans that a table of cells has at these levels."""
    masks = cells.layout.masks(levels)
    keys = [alias(paren(infix(column(key_name(word)), "&", mask)), key_name(word)) for word, mask in enumerate(masks)]
    rows = select(*keys, alias(total(column("n")), "n"), of=relation(table), group_by=(key.this for key in keys))
    query = select(column("n", "class"), of=subquery(rows, "class"))
    for index, (fields, level) in enumerate(zip(cells.layout.fields, levels, strict=True)):
        name = f"label_{index}"
        same_label = [
            _masked(fields, level, word, "class").eq(column(key_name(word), name)) for word in _words(fields[level:])
        ]
        on = and_(*same_label) if same_label else exp.true()
        extend(query, joins=[inner_join(relation(labels[index, level], as_=name), on)])
        extend(
            query,
            alias(column("low", name), low_name(index)),
            alias(column("high", name), high_name(index)),
            alias(column("missing", name), null_name(index)),
        )
    return query


def _words(fields: Sequence[Field]) -> list[int]:
    return sorted({field.word for field in fields if field.bits})


def _masked(fields: Sequence[Field], level: int, word: int, of: str) -> exp.Expr:
    """The bits of an attribute's ancestors from a level up, in one word of the key."""
    mask = sum(field.mask for field in fields[level:] if field.word == word)
    return paren(infix(column(key_name(word), of), "&", big(literal(mask))))
