"""The attack by rules from known items of a list to a secret item (Cao, Karras, Raissi and Tan 2010)."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.domain.identifiers import fold
from sqlanon.engines.base import Column, Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import PolicyError
from sqlanon.sources.column_types import is_list, require_countable
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import union_all, window
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.build.queries import extend, select, subquery
from sqlanon.sql.build.sql_files import filled_query, query_file, reading
from sqlanon.sql.classes.itemsets import counted_sets
from sqlanon.sql.questions.statistics import BoundStatistic


def item_rule(
    engine: Engine,
    called: str,
    rows: exp.Table | exp.Subquery,
    columns: Sequence[Column],
    keys: Sequence[str],
    statistic: BoundStatistic,
    temp: TempTables,
) -> str:
    """Makes the table item_rule(rule, confidence), for a list among the columns `keys` and a list of secret items.

    A secret column of single values counts as a column of lists with one item. Raises PolicyError unless exactly one of
    the keys has lists, and if there are too many sets of items to count.
    """
    kinds = {fold(name): kind for name, kind in columns}
    lists = [name for name in keys if is_list(kinds.get(fold(name), ""))]
    (secret,) = statistic.attributes
    if len(lists) != 1:
        raise PolicyError(
            f"{called} has {len(lists) or 'no'} columns of lists by which people are known, and rules need one",
            hint="name a column of a LIST type, such as VARCHAR[], and collect items of several in one list",
            part=("attack", "rules"),
        )
    (known,) = lists
    most = dict(statistic.arguments)["m"]
    assert isinstance(most, int)
    secrets: exp.Expr = column(secret)
    if not is_list(kinds[fold(secret)]):
        secrets = exp.Array(expressions=[secrets])
    listed = select(alias(window(f.row_number()), "list_id"), alias(column(known), "items"))
    listed_table = temp.table("listed", extend(listed, alias(secrets, "secrets"), of=rows))
    items = temp.table("item", reading(query_file("rules", "item"), {"listed": listed_table}))
    of_list = select(alias(f.call("list", column("item")), "items"), of=relation(items))
    all_lists = subquery(extend(of_list, group_by=[column("list_id")]), "all_lists")
    require_countable(engine, all_lists, "items", most + 1, f"{known} and {secret}")
    codes = temp.table("code", reading(query_file("rules", "code"), {"item": items}))
    coded = temp.table("coded", reading(query_file("rules", "coded"), {"item": items, "code": codes}))
    itemsets = temp.table("itemset", union_all(_sets(listed_table, coded, most + 1)))
    tables = {"itemset": itemsets, "code": codes}
    return temp.table("item_rule", reading(query_file("rules", "rule"), tables))


def _sets(listed: str, coded: str, most: int) -> list[exp.Query]:
    """Returns a SELECT of codes, n for each size of sets: no item, one item, and so on."""
    nothing = 'SELECT CAST([] AS BIGINT[]) AS codes, count(*) AS n FROM "{listed}" HAVING count(*) > 0'
    sets: list[exp.Query] = [filled_query(nothing, names={"listed": listed})]
    for items in range(1, most + 1):
        codes = [f"code_{position}" for position in range(items)]
        counted = counted_sets(relation(coded), items)
        text = "SELECT [{codes}] AS codes, n FROM counted"
        sets.append(filled_query(text, tables={"counted": counted}, names={"codes": codes}))
    return sets
