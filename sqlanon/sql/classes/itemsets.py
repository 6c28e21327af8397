"""Builds the normal relations of lists: the sets of items in lists, with the sensitive items of the lists.

Terrovitis, Mamoulis and Kalnis, Privacy-preserving anonymization of set-valued data (2008); Xu, Wang, Fu and Yu,
Anonymizing transaction databases for publication (2008).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from sqlglot import exp

from sqlanon.errors import InternalError
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import union_all, window
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.build.queries import select
from sqlanon.sql.build.sql_files import filled, filled_select, query_file
from sqlanon.sql.build.steps import Step
from sqlanon.sql.classes.rows import Lists, Rows

# The sensitive item that every list has once: it counts the occurrences of a set itself.
NO_VALUE = 0


def itemset_steps(index: int, rows: Rows) -> list[Step]:
    """Returns the steps to the relation class_itemset of the requirement at `index`.

    `items` is the size of a set, `n` is the number of the class's lists with the set, and `sets` is the number of sets
    with this size and this n. A repeated item counts once in a list; NULL is an item. Raises InternalError for rows
    without lists.
    """
    lists = _lists(rows)
    numbered, numbers, coded = (f"{name}_{index}" for name in ("item_list", "list_class", "coded_item"))
    of_list = [alias(lists.items, "list")]
    return [
        *_numbered(index, rows, numbered, of_list),
        *_items(index, numbered, numbers, coded),
        (f"class_itemset_{index}", _counted(coded, numbers, lists.most)),
    ]


def itemset_value_steps(index: int, rows: Rows) -> list[Step]:
    """Returns the steps to the relation class_itemset_value of the requirement at `index`.

    `items` is the size of a set, 0 for the empty set. `n` is the number of the class's lists with the set, `most` is
    the largest number of these lists with a common sensitive item, and `sets` is the number of sets with this size and
    these numbers. A repeated item counts once in a list; NULL is an item. Raises InternalError for rows without lists
    or sensitive items.
    """
    lists = _lists(rows)
    if lists.sensitive is None:
        raise InternalError("a requirement asks about sensitive items, and the rows have none")
    numbered, numbers, coded, values, codes, sensitive = (
        f"{name}_{index}"
        for name in ("numbered_list", "list_class", "coded_item", "list_value", "item_value", "coded_sensitive")
    )
    of_list = [alias(lists.items, "list"), alias(lists.sensitive, "sensitive")]
    of_class = union_all(
        [
            _sized(sets_with_values(relation(coded), relation(sensitive), items), items, ("n", "most"))
            for items in range(lists.most + 1)
        ]
    )
    return [
        *_numbered(index, rows, numbered, of_list),
        *_items(index, numbered, numbers, coded),
        (values, _unnested(numbered, "sensitive")),
        (codes, _item_code(values)),
        (sensitive, _with_every_list(_coded(numbers, values, codes), numbered, numbers)),
        (f"class_itemset_value_{index}", _of_classes(of_class, numbers, ("items", "n", "most", "sets"))),
    ]


def _lists(rows: Rows) -> Lists:
    if rows.lists is None:
        raise InternalError("a requirement asks about sets of items, and the rows have no lists")
    return rows.lists


def _numbered(index: int, rows: Rows, name: str, of_list: Sequence[exp.Expr]) -> list[Step]:
    """Returns steps that number the lists of rows, and the classes of these lists."""
    number = alias(window(f.row_number()), "list_id")
    numbered = select(alias(rows.class_id, "class_id"), number, *of_list, of=rows.relation)
    occurring = "FROM (SELECT DISTINCT class_id FROM lists) AS occurring"
    classes = f"SELECT class_id, row_number() OVER (ORDER BY class_id) AS class {occurring}"
    return [(name, numbered), (f"list_class_{index}", filled_select(classes, tables={"lists": name}))]


def _items(index: int, lists: str, numbers: str, coded: str) -> list[Step]:
    items, codes = f"list_item_{index}", f"item_code_{index}"
    return [(items, _unnested(lists, "list")), (codes, _item_code(items)), (coded, _coded(numbers, items, codes))]


def _unnested(lists: str, name: str) -> exp.Select:
    """Returns class_id, list_id and item: a row for each item of a column of the numbered lists."""
    query = "SELECT class_id, list_id, unnest({items}) AS item FROM lists"
    return filled_select(query, tables={"lists": lists}, names={"items": name})


def _item_code(items: str) -> exp.Select:
    """Returns item and code: the distinct items, numbered from 1."""
    query = "SELECT item, row_number() OVER () AS code FROM (SELECT DISTINCT item FROM items) AS occurring"
    return filled_select(query, tables={"items": items})


def _coded(numbers: str, items: str, codes: str) -> exp.Query:
    return query_file("lists", "coded_item", tables={"item": items, "list_class": numbers, "item_code": codes})


def _with_every_list(coded: exp.Query, lists: str, numbers: str) -> exp.Query:
    tables: dict[str, str | exp.Query] = {"coded": coded, "list": lists, "list_class": numbers}
    return query_file("lists", "coded_sensitive", tables=tables, no_value=NO_VALUE)


def counted_sets(
    coded: exp.Table | exp.Subquery, items: int, sensitive: exp.Table | exp.Subquery | None = None
) -> exp.Select:
    """Returns class, code_0, ..., n: every set of `items` items, and the number of a class's lists that have it.

    `coded` has a row for each item of each list: class, list_id and code. If `sensitive` is given, which has list_id
    and value, sets are counted with each value of their lists, in a column `value` before n.
    """
    names = [f"item_{position}" for position in range(items)]
    keys = [column("class", names[0]), *(column("code", name) for name in names)]
    codes = [alias(key, f"code_{position}") for position, key in enumerate(keys[1:])]
    text = '"{name}".list_id = "{before}".list_id AND "{name}".code > "{before}".code'
    tables = [(coded, name, filled(text, names={"name": name, "before": before})) for before, name in pairwise(names)]
    values = [] if sensitive is None else [column("value", "held")]
    if sensitive is not None:
        tables.append((sensitive, "held", filled('held.list_id = "{last}".list_id', names={"last": names[-1]})))
    return filled_select(
        'SELECT {outputs}, count(*) AS n FROM "{coded}" AS "{first}" JOIN "{tables}" AS "{of}" ON $same'
        " GROUP BY {keys}",
        names={
            **{"outputs": [keys[0], *codes, *values], "keys": [*keys, *values], "coded": coded, "first": names[0]},
            **{"tables": [table for table, _, _ in tables], "of": [name for _, name, _ in tables]},
        },
        same=[same for _, _, same in tables],
    )


def sets_with_values(coded: exp.Table | exp.Subquery, sensitive: exp.Table | exp.Subquery, items: int) -> exp.Query:
    """Returns class, code_0, ..., n, most: every set of `items` items that a list of the class has.

    `n` is the number of the class's lists with the set, `most` the number of these lists with their most frequent
    sensitive item. `coded` has class, list_id and code of the items; `sensitive` has class, list_id and value of the
    sensitive items, and NO_VALUE once for each list.
    """
    text = 'SELECT class, value, count(*) AS n FROM "{sensitive}" GROUP BY class, value'
    counted = counted_sets(coded, items, sensitive) if items else filled_select(text, names={"sensitive": sensitive})
    sets = ["class", *(f"code_{position}" for position in range(items))]
    tables = {"counted": counted}
    return query_file("lists", "sets_with_values", tables=tables, names={"sets": sets}, no_value=NO_VALUE)


def _counted(coded: str, numbers: str, most: int) -> exp.Select:
    sizes = [_sized(counted_sets(relation(coded), items), items, ("n",)) for items in range(1, most + 1)]
    return _of_classes(union_all(sizes), numbers, ("items", "n", "sets"))


def _sized(sets: exp.Query, items: int, numbers: tuple[str, ...]) -> exp.Select:
    """SELECT of the number of sets of items by class, by number of items and by the columns `numbers`."""
    query = "SELECT class, $items AS items, {numbers}, count(*) AS sets FROM counted GROUP BY class, {numbers}"
    return filled_select(query, tables={"counted": sets}, names={"numbers": numbers}, items=items)


def _of_classes(sizes: exp.Query, numbers: str, names: tuple[str, ...]) -> exp.Select:
    query = "SELECT of_class.class_id, {size.names} FROM size JOIN numbers AS of_class ON size.class = of_class.class"
    return filled_select(query, tables={"size": sizes, "numbers": numbers}, names={"names": names})
