"""A lattice that is too large for a proof: the loss after some seconds, on all 15 columns of UCI Adult's complete rows.

The marks are losses of ARX 3.9.2 with hierarchies that are not these: its own losses with these are on the page
Benchmarks in detail.
"""

from __future__ import annotations

from collections.abc import Iterator

import sqlanon
from benchmarks.context import Context
from benchmarks.figure import Figure
from sqlanon import assets
from sqlanon.clients.terminal.demo import load_adult

__all__ = ["run"]

_HIERARCHIES = """
CREATE HIERARCHY wide_fnlwgt AS INTERVALS (50000, 100000, 400000);
CREATE HIERARCHY wide_education_num AS INTERVALS (2, 4, 8);
CREATE HIERARCHY wide_relationship AS LEVELS (FROM (VALUES ('Husband', 'married'), ('Wife', 'married'),
  ('Own-child', 'other'), ('Unmarried', 'other'), ('Not-in-family', 'other'), ('Other-relative', 'other')));
CREATE HIERARCHY wide_capital_gain AS INTERVALS (1000, 10000, 50000);
CREATE HIERARCHY wide_capital_loss AS INTERVALS (500, 2000);
CREATE HIERARCHY wide_hours_per_week AS INTERVALS (5, 10, 20, 40);
"""
_ADULT = "age workclass education marital_status occupation race sex native_country salary_class".split()
_WIDE = "fnlwgt education_num relationship capital_gain capital_loss hours_per_week".split()
# The suppressed share of the rows, the seconds of the search, and the mark of the loss in percent.
_SEARCHES = (("0.04", 5, 44.14), ("0.04", 30, 43.89), ("0.01", 10, 53.75), ("0.2", 10, 38.19))
_BOUND_MARK = 2.0


def run(context: Context) -> Iterator[Figure]:
    """Yields the granularity loss in percent, and the loss over its lower bound; the search has the time limit."""
    with sqlanon.connect() as connection:
        load_adult(connection)
        connection.execute("CREATE TABLE complete AS SELECT * FROM adult WHERE COLUMNS(*) IS NOT NULL")
        connection.sql(assets.read("sql", "examples", "adult_hierarchies.sql"))
        for statement in filter(None, map(str.strip, _HIERARCHIES.split(";"))):
            connection.sql(statement)
        columns = [f"{name} QUASI IDENTIFIER USING adult_{name}" for name in _ADULT]
        columns += [f"{name} QUASI IDENTIFIER USING wide_{name}" for name in _WIDE]
        connection.sql(f"CREATE POLICY wide ON complete ({', '.join(columns)}) REQUIRE k_anonymity(k => 5)")
        ((rows,),) = connection.execute("SELECT count(*) FROM complete").fetchall()
        for suppression, seconds, mark in _SEARCHES:
            context.note(f"wide lattice, {suppression} suppressed, {seconds} s")
            method = f"generalization(suppression => {suppression}, time_limit => {seconds})"
            connection.sql(f"CREATE OR REPLACE ANONYMIZED TABLE found AS POLICY wide METHOD {method}")
            figures = connection.sql("MEASURE found WITH FIGURES (granularity_loss)").fetchall()
            loss = 100 * next(value for _, _, attribute, value in figures if attribute is None)
            what = f"loss after {seconds} s, {float(suppression):.0%} suppressed"
            yield Figure("wide_lattice", what, loss, "%", loss, loss, rows=rows, mark=mark)
            ((bound,),) = connection.execute("SELECT loss_bound FROM anon.release").fetchall()
            over = loss / max(100 * bound, 1e-9)
            what = f"loss over its lower bound, {seconds} s, {float(suppression):.0%} suppressed"
            yield Figure("wide_lattice", what, over, "x", over, over, rows=rows, mark=_BOUND_MARK)
