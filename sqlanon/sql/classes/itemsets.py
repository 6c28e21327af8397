"""The sets of items that lists have, counted: class_itemset(class_id, items, n, sets) of rows with a column of lists.

Terrovitis, Mamoulis and Kalnis, Privacy-preserving anonymization of set-valued data (2008).
"""

from __future__ import annotations

from itertools import pairwise

from sqlglot import exp

from sqlanon.errors import InternalError
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import ascending, identical, order_by, union_all, window
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.steps import Step
from sqlanon.sql.classes.rows import Rows


def itemset_steps(index: int, rows: Rows) -> list[Step]:
    """The relation class_itemset of the requirement at `index`, and what it is made of.

    `items` is how many items a set has, `n` how many lists of the class have the set, and `sets` how many sets there
    are of that size and number. An item that stands twice in a list counts once; NULL is an item. Raises InternalError
    for rows without lists.
    """
    if rows.lists is None:
        raise InternalError("a requirement asks about sets of items, and the rows have no lists")
    lists, numbers, items, codes, coded = (
        f"{name}_{index}" for name in ("item_list", "list_class", "list_item", "item_code", "coded_item")
    )
    class_id = rows.class_id.copy()
    number = alias(window(f.row_number()), "list_id")
    numbered = exp.select(alias(class_id, "class_id"), number, alias(rows.lists.items.copy(), "list"))
    classes = exp.select(column("class_id")).distinct(copy=False).from_(relation(lists))
    by = order_by(ascending(column("class_id")))
    of_class = exp.select(column("class_id"), alias(window(f.row_number(), order=by), "class"))
    of_class = of_class.from_(classes.subquery("occurring"))
    unnested = exp.select(column("class_id"), column("list_id"), alias(f.unnest(column("list")), "item"))
    distinct = exp.select(column("item")).distinct(copy=False).from_(relation(items))
    code = exp.select(column("item"), alias(window(f.row_number()), "code")).from_(distinct.subquery("occurring"))
    return [
        (lists, numbered.from_(rows.relation.copy())),
        (numbers, of_class),
        (items, unnested.from_(relation(lists))),
        (codes, code),
        (coded, _coded(numbers, items, codes)),
        (f"class_itemset_{index}", _counted(coded, numbers, rows.lists.most)),
    ]


def _coded(numbers: str, items: str, codes: str) -> exp.Select:
    """coded_item(class, list_id, code): each item of each list once."""
    return (
        exp.select(column("class", "of_class"), column("list_id", "listed"), column("code", "coded"))
        .distinct(copy=False)
        .from_(relation(items, as_="listed"))
        .join(relation(numbers, as_="of_class"), on=identical(*_both("class_id", "listed", "of_class")))
        .join(relation(codes, as_="coded"), on=identical(*_both("item", "listed", "coded")))
    )


def _both(name: str, first: str, second: str) -> tuple[exp.Column, exp.Column]:
    return column(name, first), column(name, second)


def counted_sets(coded: exp.Table | exp.Subquery, items: int) -> exp.Select:
    """class, code_0, ..., n: every set of so many items, and how many lists of a class have it.

    `coded` has a row for each item of each list: class, list_id and code.
    """
    names = [f"item_{position}" for position in range(items)]
    keys = [column("class", names[0]), *(column("code", name) for name in names)]
    outputs = [alias(key, f"code_{position}") for position, key in enumerate(keys[1:])]
    query = exp.select(keys[0], *outputs, alias(f.count(), "n")).from_(_as(coded, names[0]))
    for before, name in pairwise(names):
        same = column("list_id", name).eq(column("list_id", before))
        query.join(_as(coded, name), on=exp.and_(same, column("code", name) > column("code", before)), copy=False)
    return query.group_by(*(key.copy() for key in keys), copy=False)


def _as(coded: exp.Table | exp.Subquery, name: str) -> exp.Table | exp.Subquery:
    named = coded.copy()
    named.set("alias", exp.TableAlias(this=exp.to_identifier(name)))
    return named


def _counted(coded: str, numbers: str, most: int) -> exp.Select:
    sizes = [
        exp.select(column("class"), alias(literal(items), "items"), column("n"), alias(f.count(), "sets"))
        .from_(counted_sets(relation(coded), items).subquery("counted"))
        .group_by(column("class"), column("n"))
        for items in range(1, most + 1)
    ]
    return (
        exp.select(column("class_id", "of_class"), *(column(name, "size") for name in ("items", "n", "sets")))
        .from_(union_all(sizes).subquery("size"))
        .join(relation(numbers, as_="of_class"), on=column("class", "size").eq(column("class", "of_class")))
    )
