"""The labels of lists under a cut, and the sets of them that too few lists have, in temporary tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.ddl import drop
from sqlanon.sql.build.expressions import ascending, cast, insert, union_all
from sqlanon.sql.build.names import alias, column, literal, parameter, relation
from sqlanon.sql.build.sql_files import query_file, reading
from sqlanon.sql.classes.itemsets import counted_sets

# The heights at which lists first lie below nodes, NULL for none of those that are told apart, and how many lists do.
Reached = Sequence[tuple[tuple[int | None, ...], int]]


def code_table(scratch: Scratch, purpose: str, columns: Mapping[str, tuple[str, Sequence[object]]]) -> str:
    """A temporary table of columns that are not read from any other: their types and their values."""
    lists = [
        alias(f.unnest(cast(parameter(number), f"{kind}[]")), name)
        for number, (name, (kind, _)) in enumerate(columns.items(), start=1)
    ]
    return scratch.table(purpose, exp.select(*lists), [list(values) for _, values in columns.values()])


class Labelled:
    """The labels of the lists: a table of class, list_id and code, and one of rare sets: class, code_0, ... and n.

    Both are changed in place: a step concerns few of their rows.
    """

    def __init__(self, engine: Engine, scratch: Scratch, table: str) -> None:
        self._engine, self._scratch = engine, scratch
        self._items_table, self.table = table, table
        self._rare = ""
        self._items, self._enough = 0, 0

    def count_rare(self, items: int, enough: int) -> None:
        """Counts the sets of so many labels: those are rare that are in fewer than enough lists of a class."""
        former, self._items, self._enough = self._rare, items, enough
        self._rare = self._scratch.growing_table("rare", self._rare_of(relation(self.table), items))
        if former:
            self._drop(former)

    def first_rare(self) -> tuple[int, list[int]] | None:
        """A class, and the codes of its rare set of least support, the first in the order of labels; None for none."""
        names = self._code_names
        order = [ascending(column(name)) for name in ("n", *names, "class")]
        query = exp.select(*map(column, ("class", *names))).from_(relation(self._rare)).order_by(*order).limit(1)
        rows = self._engine.rows(query)
        return (int(rows[0][0]), [int(code) for code in rows[0][1:]]) if rows else None

    def rare_sets(self, most: int) -> list[frozenset[int]]:
        """The codes of some of the rare sets, of least support first."""
        query = exp.select(*map(column, self._code_names)).from_(relation(self._rare)).order_by(column("n")).limit(most)
        return [frozenset(map(int, codes)) for codes in self._engine.rows(query)]

    @property
    def _code_names(self) -> list[str]:
        return [f"code_{position}" for position in range(self._items)]

    def number_of_lists(self) -> dict[int, int]:
        """How many lists of each class have items."""
        query = exp.select(column("class"), f.count_distinct(column("list_id"))).from_(relation(self.table))
        return {int(of): int(number) for of, number in self._engine.rows(query.group_by(column("class")))}

    def reached(self, of_class: int, heights: Sequence[Mapping[int, int]]) -> Reached:
        """How many lists of a class have items that lie first at these heights, of those that have one at some place.

        `heights` has that of each label but those that lie below the last place alone; NULL stands for that one.
        """
        names = [f"height_{index}" for index in range(len(heights))]
        codes = list(dict.fromkeys(code for of in heights for code in of))
        columns: dict[str, tuple[str, Sequence[object]]] = {"code": ("BIGINT", codes)}
        columns |= {name: ("BIGINT", [of.get(code) for code in codes]) for name, of in zip(names, heights, strict=True)}
        table = code_table(self._scratch, "height", columns)
        firsts = [alias(f.min(column(name, "height")), name) for name in names]
        lists = (
            exp.select(*firsts)
            .from_(relation(self.table, as_="labelled"))
            .join(relation(table, as_="height"), on=column("code", "labelled").eq(column("code", "height")))
            .where(column("class", "labelled").eq(literal(of_class)))
            .group_by(column("list_id", "labelled"))
        )
        counted = exp.select(*map(column, names), f.count()).from_(lists.subquery("list")).group_by(*map(column, names))
        rows = [(tuple(first), int(number)) for *first, number in self._engine.rows(counted)]
        self._drop(table)
        return rows

    def raise_labels(self, raised: Mapping[int, int]) -> None:
        """Labels become those above them; the sets that have one of these are counted again."""
        table = self._raised(raised)
        gone = exp.select(column("code")).from_(relation(table))
        tables = {"labelled": self.table, "raised": table}
        moved = self._scratch.table("moved", reading(query_file("lists", "raised"), tables))
        lacks = column("code").isin(query=gone.copy())
        self._engine.run(exp.delete(relation(self.table), where=lacks))
        self._engine.run(insert(relation(self.table), exp.select(exp.Star()).from_(relation(moved))))
        changed = exp.or_(*(column(name).isin(query=gone.copy()) for name in self._code_names))
        self._engine.run(exp.delete(relation(self._rare), where=changed))
        made = union_all([self._rare_with(code) for code in dict.fromkeys(raised.values())], distinct=True)
        self._engine.run(insert(relation(self._rare), made))
        self._drop(moved, table)

    def label_anew(self, labels: Mapping[int, int]) -> None:
        """The labels of the lists as they were at first; `labels` has that of each item."""
        table = self._raised(labels)
        former = self.table
        query = reading(query_file("lists", "raised"), {"labelled": self._items_table, "raised": table})
        self.table = self._scratch.table("labelled", query)
        self._drop(table, *([] if former == self._items_table else [former]))

    def _raised(self, above: Mapping[int, int]) -> str:
        """The table of code and above."""
        columns = {"code": ("BIGINT", list(above)), "above": ("BIGINT", list(above.values()))}
        return code_table(self._scratch, "raised", columns)

    def _rare_of(self, labelled: exp.Table | exp.Subquery, items: int, and_code: int | None = None) -> exp.Select:
        """class, code_0, ..., n of the rare sets of labels; of one more than `items`, if all lists have that one."""
        codes: list[exp.Expr] = [column(f"code_{position}") for position in range(items)]
        if and_code is not None:
            codes = _inserted(codes, literal(and_code))
        counted = counted_sets(labelled, items).subquery("counted")
        named = [alias(code, f"code_{position}") for position, code in enumerate(codes)]
        query = exp.select(column("class"), *named, column("n")).from_(counted)
        return query.where(column("n") < literal(self._enough))

    def _rare_with(self, code: int) -> exp.Select:
        """The rare sets that have a label, of the size that is counted."""
        labelled = exp.select(exp.Star()).from_(relation(self.table))
        has_code = column("code").eq(literal(code))
        if self._items == 1:
            return self._rare_of(labelled.where(has_code).subquery("alone"), 1)
        holders = exp.select(column("list_id")).from_(relation(self.table)).where(has_code)
        others = labelled.where(column("list_id").isin(query=holders), column("code").neq(literal(code)))
        return self._rare_of(others.subquery("others"), self._items - 1, code)

    def _drop(self, *tables: str) -> None:
        """Drops tables at once: over many steps they would fill the memory."""
        for table in tables:
            self._engine.run(drop("TABLE", relation(table), exists=True))


def _inserted(codes: Sequence[exp.Expr], code: exp.Expr) -> list[exp.Expr]:
    """Codes in their order with one more in its place, which is none of them."""
    lower = [None, *codes]
    upper = [*codes, None]
    inserted: list[exp.Expr] = []
    for below, above in zip(lower, upper, strict=True):
        least = code.copy() if above is None else f.least(code.copy(), above.copy())
        inserted.append(least if below is None else f.greatest(below.copy(), least))
    return inserted
