"""The cells: every row of the source as an integer key, with equal rows counted together.

`tree` numbers the values of one attribute along its hierarchy; `cells` joins the trees to the source and groups it
once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.sql.build.expressions import added, big, entry, infix, paren, union_all
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import subquery
from sqlanon.sql.build.sql_files import Names, filled, filled_query, filled_select, select_file
from sqlanon.sql.cells.labels import generalized, level_name, listed_values, published_value
from sqlanon.sql.sizes import sizes

# Where the 64-bit words of a key hold each level of each attribute.
#
# A prefix code is a value's path from the root of its hierarchy, a bit field per level. Fields of all quasi-identifiers
# are next to each other in one word, in more words when the bits run out; a word is a BIGINT, and only 62 of its bits
# are used, so that no sum can change the sign.


@dataclass(frozen=True)
class Field:
    """The bits of one level of one attribute: `bits` bits at `shift` in word `word`."""

    word: int
    shift: int
    bits: int

    @property
    def mask(self) -> int:
        return ((1 << self.bits) - 1) << self.shift


def bits_for(count: int) -> int:
    """Returns the number of bits that distinguish `count` siblings; 0 if there is only one."""
    return max(count - 1, 0).bit_length()


@dataclass(frozen=True)
class KeyLayout:
    """The fields of a key: `fields[attribute][level]` for the levels 0 to height - 1; the root has no field.

    `carried` has the fields of columns that requirements read and that are never generalized.
    """

    fields: tuple[tuple[Field, ...], ...]
    carried: tuple[Field, ...] = ()

    @classmethod
    def pack(cls, siblings: Sequence[Sequence[int]], carried: Sequence[int] = ()) -> KeyLayout:
        """Returns a layout for at most `siblings[attribute][level]` children of a parent, and `carried` values.

        `carried` has the number of values of each carried column. An attribute's coarser levels are in higher bits than
        its finer ones, so the order of codes within a word is the order of values.
        """
        word, used = 0, 0
        fields: list[tuple[Field, ...]] = []
        for levels in (*siblings, *([values] for values in carried)):
            attribute_fields: list[Field] = []
            for bits in map(bits_for, levels):
                if used + bits > sizes().word_bits:
                    word, used = word + 1, 0
                attribute_fields.append(Field(word, used, bits))
                used += bits
            fields.append(tuple(attribute_fields))
        return cls(
            tuple(fields[: len(siblings)]), tuple(attribute_fields[0] for attribute_fields in fields[len(siblings) :])
        )

    @property
    def words(self) -> int:
        return 1 + max((field.word for levels in (*self.fields, self.carried) for field in levels), default=0)

    @property
    def carried_masks(self) -> tuple[int, ...]:
        """The mask of each word that keeps the carried columns."""
        masks = [0] * self.words
        for field in self.carried:
            masks[field.word] |= field.mask
        return tuple(masks)

    @property
    def used(self) -> int:
        """The bits of the first word that are in use."""
        fields = (field for levels in (*self.fields, self.carried) for field in levels if field.word == 0)
        return max((field.shift + field.bits for field in fields), default=0)

    def masks(self, levels: Sequence[int]) -> tuple[int, ...]:
        """Returns the mask of each word that keeps every attribute's fields from its level up."""
        masks = [0] * self.words
        for fields, level in zip(self.fields, levels, strict=True):
            for field in fields[level:]:
                masks[field.word] |= field.mask
        return tuple(masks)


# A relation of a column's values with their bits of a key: a table, or a query of a tree.
Codes = exp.Table | exp.Subquery


def rank_name(level: int) -> str:
    """Returns the name of the column with a node's number among its siblings."""
    return f"rank_{level}"


def leaves_name(level: int) -> str:
    """Returns the name of the column that counts the leaves below a value's ancestor at this level."""
    return f"leaves_{level}"


def key_name(word: int) -> str:
    return f"key_{word}"


def tree(
    bound: BoundAttribute, source: exp.Table, hierarchy_values: exp.Table, public: exp.Query | None = None
) -> exp.Select:
    """Returns an attribute's values as a numbered tree: value, n, leaf, rank_0 ... and leaves_1 ....

    There is a row for each value. n is the value's number of rows (0 if only the hierarchy or the public table has it).
    leaf is 1 for a leaf of the hierarchy, 0 for a value that only the public table has. rank_i numbers the value's
    ancestor at level i among its siblings, in the order of values, and leaves_i is the number of leaves below this
    ancestor. For stored hierarchies, there is also the column `listed`. `public` returns the public table's values as
    `value`.
    """
    distinct = _distinct(published_value(bound), source, public)
    values = generalized(
        bound, distinct, listed_values(bound, hierarchy_values) if bound.stored else None, counted=True
    )
    # The labels from a level up identify a node, even if several nodes share a label.
    listed, path = ["listed"] if bound.stored else [], [level_name(i) for i in range(1, bound.height)]
    rows = filled_select(
        "SELECT value, n, CASE WHEN n > 0 OR {listed} THEN 1 ELSE 0 END AS leaf, {listed}, {path} FROM generalized",
        tables={"generalized": values},
        names={"listed": listed, "path": path},
    )
    low, order = "value", ["value"]
    rank = filled("row_number() OVER (PARTITION BY {path} ORDER BY value ASC NULLS LAST)", names={"path": path})
    # A node's figures at a level depend on the order of its siblings: one window for each level.
    for level, name in enumerate(path, start=1):
        names: Names = {
            **{"rank": rank_name(level - 1), "lowest": f"low_{level}", "leaves": leaves_name(level)},
            **{"low": low, "order": order, "path": path[level - 1 :]},
        }
        rows = select_file("cell_keys", "spans", tables={"spans": rows}, names=names, rank=rank)
        low, order = f"low_{level}", [f"low_{level}", name]
        names = {"path": path[level:], "order": order}
        rank = filled("dense_rank() OVER (PARTITION BY {path} ORDER BY {order} ASC NULLS LAST)", names=names)
    top = bound.height - 1
    return filled_select(
        'SELECT value, n, leaf, {listed}, {ranks}, CAST($rank - 1 AS BIGINT) AS "{rank}", {leaves} FROM spans',
        tables={"spans": rows},
        names={
            "listed": listed,
            "ranks": [rank_name(i) for i in range(top)],
            "rank": rank_name(top),
            "leaves": [leaves_name(i) for i in range(1, bound.height)],
        },
        rank=rank,
    )


def _distinct(value: exp.Expr, source: exp.Table, public: exp.Query | None) -> exp.Query:
    """Returns value and n: the source's values with their numbers of rows, and the other values of the public table
    with 0.
    """
    text = 'SELECT $value AS value, count(*) AS n FROM "{source}" GROUP BY $value'
    occurring = filled_query(text, names={"source": source}, value=value)
    if public is None:
        return occurring
    text = """
        SELECT value, CAST(sum(n) AS BIGINT) AS n
        FROM (SELECT * FROM counted UNION ALL SELECT DISTINCT value, 0 AS n FROM public) AS occurring
        GROUP BY value
    """
    return filled_query(text, tables={"counted": occurring, "public": public})


def tree_summaries(trees: Sequence[tuple[BoundAttribute, str]]) -> exp.Query:
    """Returns one row for each tree: its number, and the figures of `tree_summary` as lists."""
    # The sums are HUGEINTs, so all lists have this type, to fit in one relation.
    text = 'SELECT $number AS tree, [CAST($figures AS HUGEINT)] AS figures FROM "{table}"'
    summaries = [(tree_summary(bound, relation(table)).selects, table) for bound, table in trees]
    return union_all(
        filled_query(text, names={"table": table}, number=number, figures=figures)
        for number, (figures, table) in enumerate(summaries)
    )


def tree_summary(bound: BoundAttribute, table: exp.Table) -> exp.Select:
    """Returns one row about a tree: its leaves, its rows, and figures for each level.

    The figures are the maximum number of siblings at each level from 0, then the sum over the rows of (leaves - 1) at
    each level from 1, then the maximum of (leaves - 1) at each level from 1, and, for a stored hierarchy, the number of
    values other than NULL that it does not list. A tree without values has NULL for each other figure.
    """
    text = """
        SELECT sum(leaf), sum(n), max({ranks}) + 1, sum(n * ({leaves} - 1)), max({leaves}) - 1, $unlisted FROM "{table}"
    """
    unlisted = [filled("count(*) FILTER (WHERE NOT listed AND value IS NOT NULL)")] if bound.stored else []
    leaves = [leaves_name(level) for level in range(1, bound.height)]
    names = {"ranks": [rank_name(level) for level in range(bound.height)], "leaves": leaves}
    return filled_select(text, names={**names, "table": table}, unlisted=unlisted)


def _code(fields: Sequence[Field], word: int) -> exp.Expr:
    """Returns a value's bits in one word of the key, from its ranks."""
    ranks = {rank_name(level): field.shift for level, field in enumerate(fields) if field.word == word and field.bits}
    return added([filled("({rank} << $shift)", names={"rank": rank}, shift=shift) for rank, shift in ranks.items()])


def _words(fields: Sequence[Field]) -> list[int]:
    return sorted({field.word for field in fields if field.bits})


def codes(tree: exp.Table, fields: Sequence[Field]) -> exp.Select | None:
    """Returns a relation of values and their bits in each word of the key; None for an attribute without bits."""
    words = _words(fields)
    if not words:
        return None
    text, keys = 'SELECT value, $codes AS "{keys}" FROM "{tree}"', [*map(key_name, words)]
    return filled_select(text, names={"keys": keys, "tree": tree}, codes=[_code(fields, word) for word in words])


def cells(
    policy: BoundPolicy,
    source: exp.Table,
    codes: Sequence[Codes | None],
    layout: KeyLayout,
    carried: Sequence[tuple[BoundAttribute, Codes | None]] = (),
    *,
    by_row: bool = False,
    by_entity: bool = True,
) -> exp.Select:
    """Returns cells(key_0, ..., entity, n): a row for each combination of quasi-identifiers and carried columns.

    `codes` and `carried` are the relations of codes. If `by_entity` is true, there is a column `entity`, and a row for
    each combination and respondent. If `by_row` is true, there is a row for each row of the source, whose number is
    `row`.
    """
    coded = [
        (published_value(bound, "source"), fields, table)
        for bound, fields, table in zip(policy.quasi_identifiers, layout.fields, codes, strict=True)
    ]
    coded += [
        (published_value(bound, "source"), (field,), table)
        for (bound, table), field in zip(carried, layout.carried, strict=True)
    ]
    others = [alias(column(policy.entity.column, "source"), "entity")] if policy.entity and by_entity else []
    if by_row:
        others.append(alias(row_number(), "row"))
    return _keyed(source, "source", coded, layout.words, others)


def cells_beside(
    policy: BoundPolicy,
    source: exp.Table,
    codes: Sequence[Codes | None],
    layout: KeyLayout,
    beside: Sequence[exp.Alias],
) -> exp.Select:
    """Returns the `cells` of the quasi-identifiers alone, with the columns `beside` of `source` unchanged."""
    coded = [
        (published_value(bound, "source"), fields, table)
        for bound, fields, table in zip(policy.quasi_identifiers, layout.fields, codes, strict=True)
    ]
    return _keyed(source, "source", coded, layout.words, beside)


def rekeyed(
    cells: str,
    layout: KeyLayout,
    codes: Sequence[Codes | None],
    other: KeyLayout,
    other_codes: Sequence[Codes | None],
    *,
    entity: bool,
) -> exp.Select:
    """Returns the rows of `cells` with keys in the layout `other`, in which the values have `other_codes`.

    Both layouts distinguish the same values, and carry the same columns.
    """
    parts: list[list[exp.Expr]] = [[] for _ in range(other.words)]
    pairs: dict[str, exp.Query] = {}
    same_codes: list[exp.Expr] = []
    for index, (code, other_code) in enumerate(zip(codes, other_codes, strict=True)):
        if code is None or other_code is None:
            continue
        of, masks, words = f"code_{index}", _masks(layout.fields[index]), _words(other.fields[index])
        formers = [f"former_{word}" for word in masks]
        names = {"former_keys": [*map(key_name, masks)], "formers": formers, "keys": [*map(key_name, words)]}
        pairs[of] = filled_query(
            'SELECT {former.former_keys} AS "{formers}", {code.keys} FROM former'
            " JOIN code ON former.value IS NOT DISTINCT FROM code.value",
            tables={"former": code, "code": other_code},
            names=names,
        )
        text = '({cell.former_keys} & $masks) = "{of}"."{formers}"'
        same_codes.append(filled(text, names={**names, "of": [of] * len(masks)}, masks=[*masks.values()]))
        for word in words:
            parts[word].append(column(key_name(word), of))
    for field, other_field in zip(layout.carried, other.carried, strict=True):
        if other_field.bits:
            parts[other_field.word].append(paren(infix(_carried(field, "cell"), "<<", literal(other_field.shift))))
    return filled_select(
        'SELECT $words AS "{keys}", {cell.entity}, cell.n FROM cells AS cell JOIN "{pairs}" AS "{of}" ON $same',
        tables={"cells": relation(cells)},
        names={
            "keys": [key_name(word) for word in range(other.words)],
            "entity": ["entity"] if entity else [],
            "pairs": [*pairs.values()],
            "of": [*pairs],
        },
        words=[added(word) if word else _zero() for word in parts],
        same=same_codes,
    )


def rolled_up(cells: str, masks: Sequence[exp.Expr], entity: bool, *others: exp.Alias) -> exp.Select:
    """Groups the rows of `cells` whose keys agree in the bits that `masks` keep; if `entity` is true, also by
    respondent.

    The rows of a group are counted together; `masks` has one mask for each word. The constant columns `others` come
    first.
    """
    names: Names = {"keys": [key_name(word) for word in range(len(masks))], "entity": ["entity"] if entity else []}
    return filled_select(
        'SELECT {others}, ({keys} & $masks) AS "{keys}", {entity}, CAST(sum(n) AS BIGINT) AS n FROM "{cells}"'
        " GROUP BY ({keys} & $masks), {entity}",
        names={**names, "others": others, "cells": cells},
        masks=[*masks],
    )


def row_number() -> exp.Column:
    """Returns the row number in the source, which is a table."""
    return column("rowid", "source")


def public_cells(
    public: exp.Query, codes: Sequence[Codes | None], layout: KeyLayout, columns: Sequence[exp.Expr]
) -> exp.Select:
    """Returns the public table's cells, (key_0, ..., n); `columns` are its quasi-identifiers' values in `public`."""
    coded = list(zip(columns, layout.fields, codes, strict=True))
    return _keyed(subquery(public, "public"), "public", coded, layout.words, [])


def _keyed(
    source: exp.Table | exp.Subquery,
    name: str,
    coded: Sequence[tuple[exp.Expr, Sequence[Field], Codes | None]],
    words: int,
    others: Sequence[exp.Alias],
) -> exp.Select:
    """Joins the rows of a source to the codes of their values, and counts them by key."""
    parts: list[list[exp.Expr]] = [[] for _ in range(words)]
    joined: list[tuple[str, Codes, exp.Expr]] = []
    for index, (value, fields, table) in enumerate(coded):
        if table is None:
            continue
        joined.append((f"code_{index}", table, value))
        for word in _words(fields):
            parts[word].append(column(key_name(word), f"code_{index}"))
    return select_file(
        "cell_keys",
        "keyed",
        tables={"rows": source},
        names={
            "name": name,
            "keys": [key_name(word) for word in range(words)],
            "others": [other.alias for other in others],
            "codes": [code for code, _, _ in joined],
            "tables": [table for _, table, _ in joined],
        },
        words=[added(word) if word else _zero() for word in parts],
        others=[other.this for other in others],
        values=[value for _, _, value in joined],
    )


def _zero() -> exp.Expr:
    return big(literal(0))


def class_id(keys: Sequence[exp.Expr]) -> exp.Expr:
    if len(keys) == 1:
        return keys[0]
    return exp.Struct(expressions=[entry(key_name(i), key) for i, key in enumerate(keys)])


def respondents(entity: exp.Expr, *, distinct: bool = True) -> exp.Expr:
    """Counts the respondents that a group certainly has: the distinct values of `entity`, or 1 if all are NULL.

    A row without a respondent may belong to a respondent who is counted already. Unless `distinct`, each value must
    occur only once in a group.
    """
    known = "count(DISTINCT $entity)" if distinct else "count($entity)"
    return filled(f"{known} + min(CASE WHEN $entity IS NULL THEN 1 ELSE 0 END)", entity=entity)


def carried_code(layout: KeyLayout, indexes: Sequence[int], of: str | None = None) -> exp.Expr:
    """Combines the codes of some carried columns into one number; a single column keeps its code."""
    parts: list[exp.Expr] = []
    offset = 0
    for index in indexes:
        part = _carried(layout.carried[index], of)
        parts.append(paren(infix(part, "<<", literal(offset))) if offset else part)
        offset += layout.carried[index].bits
    return added(parts)


def _carried(field: Field, of: str | None) -> exp.Expr:
    text = "(($key & $mask) >> $shift)"
    return filled(text, key=column(key_name(field.word), of), mask=field.mask, shift=field.shift)


# Decodes cells into rows: the values of their columns, and the number of source rows that each cell represents.


@dataclass(frozen=True)
class CodedColumn:
    """A column whose values are encoded in the keys of cells, in these `fields`.

    `codes` is a query of value and of its bits in each word of the key that has bits of the column. It is None for a
    column without bits, whose only value is in `values`.
    """

    fields: Sequence[Field]
    codes: exp.Query | None
    values: str


def decoded_cells(cells: str, columns: Mapping[str, CodedColumn], entity: str | None, weight: str) -> exp.Select:
    """Returns a row for each cell: with its values, its respondent (if it has one) in `entity`, and its number of rows
    in `weight`.
    """
    masks = [_masks(coded.fields) for coded in columns.values()]
    of = [f"code_{index}" for index in range(len(columns))]
    text = '({cell.keys} & $masks) = "{of}"."{keys}"'
    same = [
        filled(text, names={"keys": [*map(key_name, words)], "of": [name] * len(words)}, masks=[*words.values()])
        for name, words in zip(of, masks, strict=True)
    ]
    return filled_select(
        'SELECT "{of}".value AS "{names}", cell.entity AS "{entity}", cell.n AS "{weight}" FROM cells AS cell'
        ' JOIN "{values}" AS "{of}" ON $same',
        tables={"cells": cells},
        names={
            **{"of": of, "names": [*columns], "entity": [entity] if entity else [], "weight": weight},
            "values": [coded.codes or relation(coded.values) for coded in columns.values()],
        },
        same=same,
    )


def _same_code(fields: Sequence[Field], of: str) -> list[exp.Expr]:
    return [
        paren(infix(column(key_name(word), "cell"), "&", mask)).eq(column(key_name(word), of))
        for word, mask in _masks(fields).items()
    ]


def _masks(fields: Sequence[Field]) -> dict[int, int]:
    """Returns the mask of some fields in each word that has them."""
    masks: dict[int, int] = {}
    for field in fields:
        if field.bits:
            masks[field.word] = masks.get(field.word, 0) | field.mask
    return masks
