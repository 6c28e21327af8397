"""Reads the lists of the source, one for each respondent, with their items as nodes of a tree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.numbers import counted
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import DataError
from sqlanon.methods.shared.respondents import require_one_row_each
from sqlanon.methods.shared.task import Task
from sqlanon.sources.column_types import item_of, list_column, most_items, require_countable, sensitive_items
from sqlanon.sources.requirement_columns import require_listed
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text, ascending, cast, insert, or_, order_by, union_all, window
from sqlanon.sql.build.names import alias, column, literal, parameter, relation
from sqlanon.sql.build.queries import extend, inner_join, select, subquery
from sqlanon.sql.build.render import drop
from sqlanon.sql.build.sql_files import filled, filled_query, query_file, reading
from sqlanon.sql.cells.labels import generalized, level_name, published_value, stored_labels
from sqlanon.sql.classes.itemsets import counted_sets

# The items that occur and the nodes above them, as codes in the order of their labels.


ROOT_LABEL = "*"
_COLLECT = "collect the items, ON (SELECT customer, flatten(list(items)) AS items FROM ... GROUP BY customer)"


@dataclass(frozen=True)
class LeafRow:
    """An item that occurs: its label, the number of lists that have it, and its labels from level 1 to the one below
    `*`.
    """

    label: str | None
    lists: int
    labels: tuple[str | None, ...]


@dataclass(frozen=True)
class Node:
    """A node of the tree: an item, or a label above several items.

    `above` is the code of the next node with more items below it, `leaves` the number of occurring items below it, and
    `occurrences` the number of their occurrences. `level` is the lowest level of the hierarchy at which the label
    covers these items; an item has level 0.
    """

    label: str | None
    above: int | None
    leaves: int
    occurrences: int
    is_item: bool
    level: int


@dataclass(frozen=True)
class ItemTree:
    """The nodes by their codes, which are in the order of labels, and the code of each item.

    A cut is a set of codes with exactly one on the path from each item to the root.
    """

    nodes: tuple[Node, ...]
    items: tuple[int, ...]

    def path(self, code: int) -> Iterator[int]:
        """Yields the code of the node and the codes of the nodes above it, the root last."""
        above: int | None = code
        while above is not None:
            yield above
            above = self.nodes[above].above

    def at_level(self, level: int) -> dict[int, int]:
        """Maps each item to the node that shows it if all items are shown at one level."""
        return {
            code: [above for above in self.path(code) if self.nodes[above].level <= level][-1] for code in self.items
        }

    @cached_property
    def children(self) -> dict[int, tuple[int, ...]]:
        """The children of each node that has some."""
        below: dict[int, list[int]] = {}
        for code, node in enumerate(self.nodes):
            if node.above is not None:
                below.setdefault(node.above, []).append(code)
        return {code: tuple(codes) for code, codes in below.items()}

    @property
    def occurrences(self) -> int:
        """Counts the occurrences of items in lists."""
        return sum(self.nodes[code].occurrences for code in self.items)

    def cost(self, code: int) -> int:
        """Returns the cost of showing a node for the items below it, as a whole number; 0 for an item."""
        node = self.nodes[code]
        return 0 if node.is_item else node.occurrences * node.leaves

    def loss(self, cut: Iterable[int]) -> Fraction:
        """The normalized certainty penalty of a cut (Terrovitis, Mamoulis and Kalnis 2008): the mean over occurrences
        of items.
        """
        whole = self.occurrences * len(self.items)
        return Fraction(sum(map(self.cost, cut)), whole) if whole else Fraction(0)


def item_tree(rows: Sequence[LeafRow]) -> ItemTree:
    """Builds the tree of the items. Of nodes with the same items below only the lowest one is in the tree."""
    keys = [_keys(row) for row in rows]
    below = Counter(key for path in keys for key in path)
    occurrences: Counter[tuple[str | None, ...]] = Counter()
    for row, path in zip(rows, keys, strict=True):
        occurrences.update(dict.fromkeys(path, row.lists))
    paths = [list(_widening(path, below)) for path in keys]
    height = len(rows[0].labels) + 1 if rows else 0
    # An item is known by its number, a node by its labels from its level up: nodes may share a label.
    known: list[int | tuple[str | None, ...]] = [*range(len(rows))]
    known += dict.fromkeys(key for path in paths for key in path)
    known.sort(key=lambda key: _in_order(_label(key, rows), key))
    codes = {key: code for code, key in enumerate(known)}
    above = _parents(paths, codes)
    return ItemTree(
        tuple(
            Node(rows[key].label, above.get(key), 1, rows[key].lists, True, 0)
            if isinstance(key, int)
            else Node(_label(key, rows), above.get(key), below[key], occurrences[key], False, height - len(key))
            for key in known
        ),
        tuple(codes[number] for number in range(len(rows))),
    )


def _parents(
    paths: Sequence[Sequence[tuple[str | None, ...]]], codes: Mapping[int | tuple[str | None, ...], int]
) -> dict[int | tuple[str | None, ...], int]:
    """The code of the parent of each item, by its number, and of each node but the root, by its key."""
    above: dict[int | tuple[str | None, ...], int] = {}
    for number, path in enumerate(paths):
        known: list[int | tuple[str | None, ...]] = [number, *path]
        above |= {lower: codes[upper] for lower, upper in pairwise(known)}
    return above


def _keys(row: LeafRow) -> list[tuple[str | None, ...]]:
    """Returns the keys of the nodes above an item: their labels from their level up; the root has an empty key."""
    return [row.labels[level:] for level in range(len(row.labels) + 1)]


def _widening(
    path: Iterable[tuple[str | None, ...]], below: Counter[tuple[str | None, ...]]
) -> Iterator[tuple[str | None, ...]]:
    """Yields the nodes of a path that cover more items than the previous node; `below` counts the items below each
    node.
    """
    before = 1
    for key in path:
        if below[key] > before:
            before = below[key]
            yield key


def _label(key: int | tuple[str | None, ...], rows: Sequence[LeafRow]) -> str | None:
    if isinstance(key, int):
        return rows[key].label
    return key[0] if key else ROOT_LABEL


def _in_order(label: str | None, key: int | tuple[str | None, ...]) -> tuple[object, ...]:
    """The sort key of a node: by label, NULL last; if labels are equal, items come first, then nodes by the labels
    above them.
    """
    if isinstance(key, int):
        return label is None, label or "", 0, key, ()
    return label is None, label or "", 1, len(key), tuple((part is None, part or "") for part in key)


# The labels of lists under a cut, and the sets of labels that too few lists have, in temporary tables.


# The first heights at which lists have items, NULL for a height that no label distinguishes, and the number of lists.
Reached = Sequence[tuple[tuple[int | None, ...], int]]


def code_table(temp: TempTables, purpose: str, columns: Mapping[str, tuple[str, Sequence[object]]]) -> str:
    """Makes a temporary table of the given columns, each with its type and its values; returns its name."""
    lists = [
        alias(f.unnest(cast(parameter(number), f"{kind}[]")), name)
        for number, (name, (kind, _)) in enumerate(columns.items(), start=1)
    ]
    return temp.table(purpose, select(*lists), [list(values) for _, values in columns.values()])


class Labelled:
    """The lists' labels, in a table (class, list_id, code), and their rare sets, in a table (class, code_0, ..., n).

    Both tables are changed in place, because a step concerns few of their rows.
    """

    def __init__(self, engine: Engine, temp: TempTables, table: str) -> None:
        self._engine, self._temp = engine, temp
        self._items_table, self.table = table, table
        self._rare = ""
        self._items, self._enough = 0, 0

    def count_rare(self, items: int, enough: int) -> None:
        """Counts the sets of `items` labels; a set is rare if fewer than `enough` lists of a class have it."""
        former, self._items, self._enough = self._rare, items, enough
        self._rare = self._temp.growing_table("rare", self._rare_of(relation(self.table), items))
        if former:
            self._drop(former)

    def first_rare(self) -> tuple[int, list[int]] | None:
        """The class and the codes of the rare set with least support, in the order of labels; None if no set is
        rare.
        """
        names = self._code_names
        order = [ascending(column(name)) for name in ("n", *names, "class")]
        query = select(*map(column, ("class", *names)), of=relation(self._rare), order_by=order, limit=1)
        rows = self._engine.rows(query)
        return (int(rows[0][0]), [int(code) for code in rows[0][1:]]) if rows else None

    def rare_sets(self, most: int) -> list[frozenset[int]]:
        """The codes of at most `most` rare sets, those with the least support first."""
        query = select(*map(column, self._code_names), of=relation(self._rare), order_by=[column("n")], limit=most)
        return [frozenset(map(int, codes)) for codes in self._engine.rows(query)]

    @property
    def _code_names(self) -> list[str]:
        return [f"code_{position}" for position in range(self._items)]

    def number_of_lists(self) -> dict[int, int]:
        """Counts the lists of each class that have items."""
        query = select(column("class"), f.count_distinct(column("list_id")), of=relation(self.table))
        return {int(of): int(number) for of, number in self._engine.rows(query.group_by(column("class")))}

    def reached(self, of_class: int, heights: Sequence[Mapping[int, int]]) -> Reached:
        """Counts the lists of a class by the first height at which they have an item on each path.

        `heights` maps codes to heights, for each path. NULL is the height of a list with items only below the root of
        the path.
        """
        names = [f"height_{index}" for index in range(len(heights))]
        codes = list(dict.fromkeys(code for of in heights for code in of))
        columns: dict[str, tuple[str, Sequence[object]]] = {"code": ("BIGINT", codes)}
        columns |= {name: ("BIGINT", [of.get(code) for code in codes]) for name, of in zip(names, heights, strict=True)}
        table = code_table(self._temp, "height", columns)
        firsts = [alias(f.min(column(name, "height")), name) for name in names]
        lists = select(
            *firsts,
            of=relation(self.table, as_="labelled"),
            joins=[inner_join(relation(table, as_="height"), column("code", "labelled").eq(column("code", "height")))],
            where=[column("class", "labelled").eq(literal(of_class))],
            group_by=[column("list_id", "labelled")],
        )
        counted = select(*map(column, names), f.count(), of=subquery(lists, "list"), group_by=map(column, names))
        rows = [(tuple(first), int(number)) for *first, number in self._engine.rows(counted)]
        self._drop(table)
        return rows

    def raise_labels(self, raised: Mapping[int, int]) -> None:
        """Replaces labels by labels above them, and counts again the sets that have one of the new labels."""
        table = self._raised(raised)
        gone = select(column("code"), of=relation(table))
        tables = {"labelled": self.table, "raised": table}
        moved = self._temp.table("moved", reading(query_file("lists", "raised"), tables))
        lacks = column("code").isin(query=gone)
        self._engine.run(exp.delete(relation(self.table), where=lacks))
        self._engine.run(insert(relation(self.table), select(exp.Star(), of=relation(moved))))
        changed = or_(*(column(name).isin(query=gone) for name in self._code_names))
        self._engine.run(exp.delete(relation(self._rare), where=changed))
        made = union_all([self._rare_with(code) for code in dict.fromkeys(raised.values())], distinct=True)
        self._engine.run(insert(relation(self._rare), made))
        self._drop(moved, table)

    def relabel(self, labels: Mapping[int, int]) -> None:
        """Labels each item of the lists as `labels` says, which maps each item's code to a label's code; earlier labels
        are dropped.
        """
        table = self._raised(labels)
        former = self.table
        query = reading(query_file("lists", "raised"), {"labelled": self._items_table, "raised": table})
        self.table = self._temp.table("labelled", query)
        self._drop(table, *([] if former == self._items_table else [former]))

    def _raised(self, above: Mapping[int, int]) -> str:
        """Makes the temporary table (code, above) of the labels to raise, each with the label that replaces it; returns
        its name.
        """
        columns = {"code": ("BIGINT", list(above)), "above": ("BIGINT", list(above.values()))}
        return code_table(self._temp, "raised", columns)

    def _rare_of(self, labelled: exp.Table | exp.Subquery, items: int, and_code: int | None = None) -> exp.Query:
        """SELECT of class, code_0, ..., n: the sets of `items` labels that too few lists of a class have.

        If `and_code` is given, all these lists have this label, and it is added to each set.
        """
        codes: list[exp.Expr] = [column(f"code_{position}") for position in range(items)]
        if and_code is not None:
            codes = _inserted(codes, literal(and_code))
        text = """SELECT class, $codes AS "{codes}", n FROM counted WHERE n < $enough"""
        names = {"codes": [f"code_{position}" for position in range(len(codes))]}
        tables = {"counted": counted_sets(labelled, items)}
        return filled_query(text, tables=tables, names=names, codes=codes, enough=self._enough)

    def _rare_with(self, code: int) -> exp.Query:
        """SELECT of class, code_0, ..., n: the rare sets of the current size that contain the label `code`."""
        alone = "SELECT * FROM labelled WHERE code = $code"
        others = """
            SELECT * FROM labelled
            WHERE list_id IN (SELECT list_id FROM labelled WHERE code = $code) AND code <> $code
        """
        rows = filled_query(alone if self._items == 1 else others, tables={"labelled": self.table}, code=code)
        if self._items == 1:
            return self._rare_of(subquery(rows, "alone"), 1)
        return self._rare_of(subquery(rows, "others"), self._items - 1, code)

    def _drop(self, *tables: str) -> None:
        """Drops the tables of lists and of rare sets at once, because tables of many steps would fill the memory."""
        for table in tables:
            self._engine.run(drop("TABLE", relation(table), exists=True))


def _inserted(codes: Sequence[exp.Expr], code: exp.Expr) -> list[exp.Expr]:
    """Returns ascending codes with one more code inserted at its place; `code` equals none of `codes`."""
    lower = [None, *codes]
    upper = [*codes, None]
    inserted: list[exp.Expr] = []
    for below, above in zip(lower, upper, strict=True):
        least = code.copy() if above is None else f.least(code, above)
        inserted.append(least if below is None else f.greatest(below, least))
    return inserted


@dataclass(frozen=True)
class CodedLists:
    """The numbered rows of the source, in the table `rows`, and the items of their lists as codes.

    `rows` has list_id, class, list, and `column_name` of each published column. `labelled` has class, list_id and code.
    """

    rows: str
    labelled: str
    tree: ItemTree


def column_name(position: int) -> str:
    """Returns the name of the published column at a position in the table of rows."""
    return f"column_{position}"


def list_attribute(task: Task) -> BoundAttribute:
    """The quasi-identifier that is the list."""
    quasi = task.policy.quasi_identifiers
    name = list_column(task.requirements[0], [(b.column, b.published_type) for b in quasi])
    return next(b for b in quasi if b.column == name)


def sensitive_list(task: Task, name: str) -> exp.Expr:
    """The expression that returns the sensitive items of a row in the table of rows."""
    names = [bound.column for bound in task.policy.published]
    position = names.index(name)
    return sensitive_items(column(column_name(position)), task.policy.published[position].published_type)


def required_lists(task: Task) -> tuple[int, ...]:
    """Minimum support by size: entry i is the largest k that any requirement sets for i + 1 items."""
    pairs = [(most_items(requirement), requirement.least_rows) for requirement in task.requirements]
    return tuple(max(k for m, k in pairs if m >= items) for items in range(1, max(m for m, _ in pairs) + 1))


def coded_lists(task: Task) -> CodedLists:
    """Reads the lists of the source into tables.

    Raises PolicyError for lists without respondent, for respondents with several lists, and for too many sets of items
    to count. Raises DataError for lists with several NULLs, and for items that the hierarchy lacks.
    """
    require_one_row_each(task, "METHOD itemsets", _COLLECT, "list")
    attribute = list_attribute(task)
    rows = task.temp.table("row", _numbered(task, attribute))
    listed = relation(rows)
    ((several,),) = task.engine.rows(reading(query_file("lists", "several_nulls"), {"listed": rows}))
    if several:
        raise DataError(
            f"{counted(several, 'list')} of {attribute.column} {'has' if several == 1 else 'have'} NULL several "
            "times, which may stand for one item or for several",
            hint="leave the NULLs out, ON (SELECT ..., list_filter(items, lambda item: item IS NOT NULL) AS items ...)",
        )
    for requirement in task.requirements:
        values = [sensitive_list(task, name) for name in requirement.attributes]
        require_countable(task.engine, listed, "list", most_items(requirement), attribute.column, *values)
    leaves, tree = _items(task, attribute, rows)
    node = code_table(
        task.temp, "node", {"leaf": ("BIGINT", list(range(len(tree.items)))), "code": ("BIGINT", list(tree.items))}
    )
    tables = {"listed": rows, "leaf": leaves, "node": node}
    return CodedLists(rows, task.temp.growing_table("labelled", reading(query_file("lists", "labelled"), tables)), tree)


def _numbered(task: Task, attribute: BoundAttribute) -> exp.Query:
    """SELECT of list_id, class, list, column_0, ...: the numbered rows; a class agrees on the other quasi-
    identifiers.
    """
    others = [published_value(b, "source") for b in task.policy.quasi_identifiers if b is not attribute]
    of_class = filled("dense_rank() OVER (ORDER BY $others ASC NULLS LAST)", others=others) if others else literal(1)
    published = task.policy.published
    return filled_query(
        """
        SELECT row_number() OVER () AS list_id, $of_class AS class, $list AS list, $values AS "{values}" FROM source
        """,
        tables={"source": relation(task.policy.relation)},
        names={"values": [column_name(index) for index in range(len(published))]},
        of_class=of_class,
        list=published_value(attribute, "source"),
        values=[published_value(bound, "source") for bound in published],
    )


def _items(task: Task, attribute: BoundAttribute, rows: str) -> tuple[str, ItemTree]:
    """Makes the table (value, leaf) of the items that occur, and their tree."""
    item = item_of(attribute)
    occurring = reading(query_file("lists", "items"), {"listed": rows})
    labels = task.temp.table("item", generalized(item, occurring, stored_labels(item), counted=True))
    if item.stored:
        require_listed(task.engine, item, labels, relation(("anon", "hierarchy_value")), of_items=True)
    levels = [level_name(level) for level in range(1, item.height)]
    number = window(f.row_number(), order=order_by(ascending(column("value")))) - 1
    leaves = select(alias(number, "leaf"), column("value"), column("n"), *map(column, levels))
    leaves = extend(leaves, of=relation(labels), where=[column("n") > literal(0)])
    table = task.temp.table("leaf", leaves)
    texts = [as_text(column(name)) for name in ("value", *levels)]
    query = select(column("n"), *texts, of=relation(table), order_by=[column("leaf")])
    rows_of_items = [LeafRow(label, int(n), tuple(above)) for n, label, *above in task.engine.rows(query)]
    return table, item_tree(rows_of_items)
