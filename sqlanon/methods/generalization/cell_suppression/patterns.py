"""Chooses the cells to suppress: for each row a pattern, the set of its columns that become NULL.

Samarati, Protecting respondents' identities in microdata release (2001); Templ, Kowarik and Meindl, Statistical
disclosure control for micro-data using the R package sdcMicro (2015). The least number of cells is NP-hard to find
(Meyerson and Williams, On the complexity of optimal k-anonymity, 2004), so patterns are tried in the order of their
weight. A class of the remaining rows takes a pattern if the class then satisfies every requirement. A class never loses
rows afterwards, and no two patterns make the same class, because the source has no NULL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import combinations

from sqlglot import exp

from sqlanon.methods.generalization.local_recoding.rounds import classes_kept
from sqlanon.methods.generalization.local_recoding.union import (
    class_words,
    moved,
    rows_of_classes,
    withheld_classes,
)
from sqlanon.methods.shared.lattice.node_evaluator import batch_of
from sqlanon.methods.shared.lattice.nodes import Node
from sqlanon.methods.shared.task import Task
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    big,
    cast,
    is_null,
    or_zero,
    row_alias,
    total,
)
from sqlanon.sql.build.names import alias, column, literal, parameter, relation
from sqlanon.sql.build.queries import extend, select
from sqlanon.sql.build.render import repeated
from sqlanon.sql.build.sql_files import Relation, filled, filled_query, reading
from sqlanon.sql.cells.cells import KeyLayout, key_name, rolled_up
from sqlanon.sql.classes.guard import needs_rounds
from sqlanon.sql.questions.ask import least_rows

# The maximum number of quasi-identifiers, because every set of them may be tried.
MOST_COLUMNS = 12

PATTERN, REGION = "pattern", "region"


@dataclass(frozen=True)
class Placed:
    """The rows that are published at some levels, with some of their cells suppressed, in a table.

    `rows` is a table of their keys at these levels, carried columns included, with n, the pattern, and the region,
    which is the number of the class. A pattern is a number whose bit i is set if the cell of column i is suppressed;
    `counts` has the published rows of each pattern, and `suppressed` is the number of the source's rows that are not
    published.
    """

    levels: Node
    rows: str
    counts: Mapping[int, int]
    suppressed: int

    def blanked(self, index: int) -> int:
        """The number of suppressed cells in the column at this index."""
        return sum(rows for pattern, rows in self.counts.items() if pattern >> index & 1)


def patterns(columns: Sequence[int], weights: Sequence[Decimal]) -> list[int]:
    """Returns the sets of these columns as bit masks, by their total weight, then by their number of columns, then by
    their order.

    Bit i is set if column i is in the set.
    """
    sets = [each for size in range(len(columns) + 1) for each in combinations(columns, size)]
    sets.sort(key=lambda each: (sum((weights[index] for index in each), Decimal(0)), len(each), each))
    return [sum(1 << index for index in each) for each in sets]


def placed(task: Task, levels: Node) -> Placed | None:
    """Suppresses cells of the rows at these levels until their classes meet the requirements.

    Returns None if a class violates a requirement even after the last round of the guard.
    """
    return _Placing(task, levels).placed()


class _Placing:
    """The rows at some levels, each with its pattern, NULL before it has one."""

    def __init__(self, task: Task, levels: Node) -> None:
        self._task, self._cells, self._levels = task, task.encoded, levels
        self._quasi = task.policy.quasi_identifiers
        layout = self._cells.layout
        masks = [big(literal(a | b)) for a, b in zip(layout.masks(levels), layout.carried_masks, strict=True)]
        rows = rolled_up(self._cells.table, masks, self._cells.entity)
        self._rows = task.temp.table("placed", extend(rows, alias(_NO_PATTERN, PATTERN)))

    def placed(self) -> Placed | None:
        """Tries the patterns in turn, as long as the rows without a pattern may form a class; returns the result."""
        engine, least, left = self._task.engine, least_rows(self._task.requirements), self._cells.rows
        step = repeated(self._step())
        count = repeated(select(or_zero(f.sum(column("n"))), of=relation(self._rows), where=[_has_none()]))
        visible = [index for index, bound in enumerate(self._quasi) if self._levels[index] < bound.height]
        used: list[int] = []
        for pattern in patterns(visible, [bound.attribute.weight for bound in self._quasi]):
            if left < least:
                break
            masks = [a | b for a, b in zip(self._masks(pattern), self._cells.layout.carried_masks, strict=True)]
            ((changed,),) = engine.rows(step, [*masks, pattern])
            if changed:
                used.append(pattern)
                left = int(engine.rows(count)[0][0])
        rows = self._task.temp.table("regions", self._numbered(used))
        if left and needs_rounds(self._task.requirements):
            settled = self._settled(rows)
            if settled is None:
                return None
            rows = settled
        by_pattern = select(column(PATTERN), total(column("n")), of=relation(rows), group_by=[column(PATTERN)])
        counts = {int(pattern): int(number) for pattern, number in engine.rows(by_pattern)}
        return Placed(self._levels, rows, counts, self._cells.rows - sum(counts.values()))

    def _masks(self, pattern: int) -> tuple[int, ...]:
        """Returns, for each word of a key, the mask that keeps the columns which a pattern does not suppress."""
        levels = [
            bound.height if pattern >> index & 1 else level
            for index, (bound, level) in enumerate(zip(self._quasi, self._levels, strict=True))
        ]
        return self._cells.layout.masks(levels)

    def _step(self) -> exp.Update:
        """Returns the UPDATE that assigns a pattern to rows without a pattern, if their class under it satisfies every
        requirement.

        The parameters are the words of the key mask that keeps the class and the carried columns, and the pattern.
        """
        cells, words = self._cells, self._cells.layout.words
        masks = [filled("CAST($mask AS BIGINT)", mask=parameter(word)) for word in range(1, words + 1)]
        rows = rolled_up(self._rows, masks, cells.entity, alias(big(literal(0)), "tag")).where(_has_none())
        update = filled(
            """
            UPDATE rows AS row SET {pattern} = CAST($new AS INTEGER) FROM satisfied
            WHERE {row.pattern} IS NULL AND (({row.keys} & $masks) & $classes) = {satisfied.keys}
            """,
            names={"pattern": PATTERN, "keys": [*map(key_name, range(words))]},
            new=parameter(words + 1),
            masks=masks,
            classes=cells.layout.masks([0] * len(self._quasi)),
        )
        assert isinstance(update, exp.Update)
        satisfied = classes_kept(batch_of(self._task, cells), rows, None)
        return reading(update, {"rows": self._rows, "satisfied": satisfied})

    def _numbered(self, used: Sequence[int]) -> exp.Query:
        """SELECT of the rows whose pattern of suppressed cells is in `used`, each with the number of its class."""
        names = {"region": REGION, "pattern": PATTERN}
        if not used:
            text = """SELECT row.*, CAST(0 AS BIGINT) AS "{region}" FROM rows AS row WHERE FALSE"""
            return filled_query(text, tables={"rows": self._rows}, names=names)
        words = range(self._cells.layout.words)
        rows = [exp.Tuple(expressions=[big(literal(number)) for number in (p, *self._masks(p))]) for p in used]
        masks = exp.Values(expressions=rows, alias=row_alias("used", [PATTERN, *map(_mask_name, words)]))
        text = """
            SELECT row.*, dense_rank() OVER (ORDER BY {row.pattern} ASC NULLS LAST,
              ({row.keys} & {used.masks}) ASC NULLS LAST) AS "{region}"
            FROM rows AS row JOIN used ON {row.pattern} = {used.pattern}
        """
        tables: dict[str, Relation] = {"rows": self._rows, "used": exp.select(exp.Star()).from_(masks)}
        keys = {"keys": [*map(key_name, words)], "masks": [*map(_mask_name, words)]}
        return filled_query(text, tables=tables, names={**names, **keys})

    def _settled(self, rows: str) -> str | None:
        """Makes the table of the rows in classes that meet the requirements, after classes that do not were withheld in
        rounds.

        Classes are judged by the published rows. Returns the table's name; None if a class violates even after the last
        round.
        """
        temp, engine, cells = self._task.temp, self._task.engine, self._cells
        ((count,),) = engine.rows(exp.select(f.coalesce(f.max(column(REGION)), 0)).from_(relation(rows)))
        layout = KeyLayout.pack([(int(count) + 1,)], [1 << field.bits for field in cells.layout.carried])
        batch = replace(batch_of(self._task, cells), layout=layout)
        keyed = temp.table("keyed", self._keyed(rows, layout))
        withheld = temp.table("withheld", withheld_classes(batch, rows_of_classes(keyed, layout, cells.entity), None))
        if engine.rows(filled_query("SELECT still FROM withheld WHERE still LIMIT 1", tables={"withheld": withheld})):
            return None
        ((field,),) = layout.fields
        others = """
            SELECT * FROM rows AS row
            WHERE NOT EXISTS(SELECT 1 FROM withheld AS gone WHERE ({gone.key} >> $shift) = {row.region})
        """
        tables, names = {"rows": rows, "withheld": withheld}, {"key": key_name(field.word), "region": REGION}
        return temp.table("regions", filled_query(others, tables=tables, names=names, shift=field.shift))

    def _keyed(self, rows: str, layout: KeyLayout) -> exp.Query:
        """SELECT of the rows with a key, which is made of the number of their class and the carried columns."""
        ((target,),) = layout.fields
        words: list[list[exp.Expr]] = [[] for _ in range(layout.words)]
        words[target.word].append(filled("($region << $shift)", region=column(REGION), shift=target.shift))
        for source, field in zip(self._cells.layout.carried, layout.carried, strict=True):
            words[field.word].append(moved(source, field))
        names = {"entity": ["entity"] if self._cells.entity else []}
        text = "SELECT $words, {entity}, n FROM rows"
        return filled_query(text, tables={"rows": rows}, names=names, words=class_words(words))


_NO_PATTERN = cast(exp.null(), "INTEGER")


def _has_none(of: str | None = None) -> exp.Expr:
    return is_null(column(PATTERN, of))


def _mask_name(word: int) -> str:
    return f"mask_{word}"
