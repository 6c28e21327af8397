"""The values behind published labels, as ranks, for comparing the choices of several methods.

A span is a row for published rows with the same labels: n, and for each quasi-identifier low_i, high_i and null_i.
low_i and high_i are the least and the greatest rank of the values other than NULL that its label may represent, 1 and 0
if there is none. null_i is 1 if the label may represent NULL, else 0. Ranks count from 0 in the order of
`sql.cells.value_ranks`, which is the same for every method.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.domain.bound import BoundPolicy
from sqlanon.engines.temp_tables import Scratch
from sqlanon.methods.shared.task import Cells
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import big, identical, if_, infix, is_null, paren, total, union_all
from sqlanon.sql.build.names import alias, column, literal, relation
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


def ranked_values(policy: BoundPolicy, cells: Cells, scratch: Scratch) -> list[str]:
    """The tables of each quasi-identifier's values with their ranks."""
    named = zip(policy.quasi_identifiers, cells.trees, strict=True)
    return list(cells.ranked) or [scratch.table("ranked", ranked(bound, tree)) for bound, tree in named]


def spans_of_ranks(policy: BoundPolicy, cells: Cells, ranks: Sequence[str]) -> exp.Select:
    """SELECT of the spans of the source's own rows, from cells whose codes are ranks."""
    query = exp.select()
    groups: list[exp.Expr] = []
    for index, ((field,), table) in enumerate(zip(cells.layout.fields, ranks, strict=True)):
        rank = _code(field)
        is_missing = rank.copy().eq(f.coalesce(_null_rank(table).subquery(), -1))
        query.select(
            alias(if_(is_missing, 1, rank), low_name(index)),
            alias(if_(is_missing.copy(), 0, rank.copy()), high_name(index)),
            alias(if_(is_missing.copy(), 1, 0), null_name(index)),
            copy=False,
        )
        groups.append(rank)
    query.select(alias(total(column("n")), "n"), copy=False).from_(relation(cells.table), copy=False)
    return query.group_by(*(group.copy() for group in groups), copy=False) if groups else query


def _code(field: Field) -> exp.Expr:
    return paren(infix(paren(infix(column(key_name(field.word)), "&", field.mask)), ">>", field.shift))


def _null_rank(table: str) -> exp.Select:
    return exp.select(f.max(column(rank_name(0)))).from_(relation(table)).where(is_null(column("value")))


def spans_of_levels(
    policy: BoundPolicy, cells: Cells, scratch: Scratch, ranks: Sequence[str], parts: Sequence[Leveled]
) -> exp.Query:
    """SELECT of the spans of cells whose codes are paths in hierarchies; each part is published at its levels."""
    labels = {
        (index, level): scratch.table("label_ranks", _labels(cells.trees[index], ranks[index], fields, level))
        for index, fields in enumerate(cells.layout.fields)
        for level in sorted({levels[index] for levels, _ in parts})
    }
    return union_all([_of_part(cells, levels, table, labels) for levels, table in parts])


def _labels(tree: str, ranks: str, fields: Sequence[Field], level: int) -> exp.Select:
    """SELECT of the labels of one level: the bits of their codes in each word of a key, low, high and missing."""
    words = _words(fields[level:])
    coded = codes(relation(tree), fields) or exp.select(column("value")).from_(relation(tree))
    parts = [alias(_masked(fields, level, word, "coded"), key_name(word)) for word in words]
    missing = is_null(column("value", "coded"))
    rank = column(rank_name(0), "ranks")
    known = if_(exp.not_(missing), rank)
    query = exp.select(
        *parts,
        alias(f.coalesce(f.min(known), 1), "low"),
        alias(f.coalesce(f.max(known.copy()), 0), "high"),
        alias(f.max(if_(missing.copy(), 1, 0)), "missing"),
    ).from_(coded.subquery("coded"))
    query.join(
        relation(ranks, as_="ranks"), on=identical(column("value", "ranks"), column("value", "coded")), copy=False
    )
    return query.group_by(*(part.this.copy() for part in parts), copy=False) if parts else query


def _of_part(cells: Cells, levels: Sequence[int], table: str, labels: dict[tuple[int, int], str]) -> exp.Select:
    """SELECT of the spans that a table of cells has at these levels."""
    masks = cells.layout.masks(levels)
    keys = [alias(paren(infix(column(key_name(word)), "&", mask)), key_name(word)) for word, mask in enumerate(masks)]
    rows = exp.select(*keys, alias(total(column("n")), "n")).from_(relation(table))
    rows.group_by(*(key.this.copy() for key in keys), copy=False)
    query = exp.select(column("n", "class")).from_(rows.subquery("class"))
    for index, (fields, level) in enumerate(zip(cells.layout.fields, levels, strict=True)):
        name = f"label_{index}"
        same_label = [
            _masked(fields, level, word, "class").eq(column(key_name(word), name)) for word in _words(fields[level:])
        ]
        on = exp.and_(*same_label) if same_label else exp.true()
        query.join(relation(labels[index, level], as_=name), on=on, copy=False)
        query.select(
            alias(column("low", name), low_name(index)),
            alias(column("high", name), high_name(index)),
            alias(column("missing", name), null_name(index)),
            copy=False,
        )
    return query


def _words(fields: Sequence[Field]) -> list[int]:
    return sorted({field.word for field in fields if field.bits})


def _masked(fields: Sequence[Field], level: int, word: int, of: str) -> exp.Expr:
    """The bits of an attribute's ancestors from a level up, in one word of the key."""
    mask = sum(field.mask for field in fields[level:] if field.word == word)
    return paren(infix(column(key_name(word), of), "&", big(literal(mask))))
