"""What the tables of an m-invariant release come to: values of buckets, and counterfeits, recomputed from them."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from sqlanon.domain.report import Measurement
from sqlanon.methods.base import PublishedTables, Structure
from sqlanon.methods.m_invariance.choice import Invariant
from sqlanon.methods.m_invariance.ranges import ROWS
from sqlanon.methods.m_invariance.steps import step
from sqlanon.methods.m_invariance.tables import COUNTERFEITS
from sqlanon.methods.shared.bucket_tables import QUASI_IDENTIFIERS
from sqlanon.sql.build.expressions import big, entry, is_null
from sqlanon.sql.build.names import alias, column, literal
from sqlanon.sql.classes.buckets import BUCKET, COUNT, VALUE

UNIQUE = "m_uniqueness"
_MISFIT = "some buckets have other numbers of counterfeits than are stated"


def verified_buckets(published: PublishedTables, m: int) -> Structure:
    """Whether each bucket has m values or more, each once, and as many as rows and counterfeits together."""
    [values] = published.values.values()
    tables = {
        "row_of_bucket": _all(published.tables[QUASI_IDENTIFIERS]),
        "values_of_bucket": _all(published.tables[values.table]),
        "counterfeits_of_bucket": _all(published.tables[COUNTERFEITS]),
    }
    stated, counterfeits, misfits = map(int, published.engine.rows(step("fit", tables))[0])
    of_buckets = Measurement(COUNTERFEITS, None, float(stated), float(counterfeits), stated == counterfeits)
    return Structure((_unique(published, tables, m), of_buckets), _MISFIT if misfits else None)


def verified_ranges(published: PublishedTables, m: int) -> Structure:
    """Whether each bucket has m rows or more, each with another value, the same ranges, and somebody among them.

    Which rows are nobody's is known while the release is made only: then they have to be as many as are stated.
    """
    [values] = published.values.values()
    rows, choice = published.tables[ROWS], published.choice
    respondent = choice.respondent if isinstance(choice, Invariant) else None
    named = (values.value, BUCKET, respondent)
    names = [name for name, _ in published.engine.columns(exp.select(exp.Star()).from_(rows.copy()))]
    ranges = exp.Struct(expressions=[entry(name, column(name)) for name in names if name not in named])
    nobody = exp.Null() if respondent is None else big(is_null(column(respondent)))
    rows_shown = exp.select(column(BUCKET), alias(ranges, "ranges"), alias(nobody, "nobody")).from_(rows.copy())
    value = exp.select(column(BUCKET), alias(column(values.value), VALUE), alias(big(literal(1)), COUNT))
    tables = {
        "row_of_bucket": rows_shown,
        "values_of_bucket": value.from_(rows.copy()),
        "counterfeits_of_bucket": _all(published.tables[COUNTERFEITS]),
    }
    stated, misfits = map(int, published.engine.rows(step("rows_fit", tables))[0])
    known = [reached.achieved for reached in published.recorded if reached.question == COUNTERFEITS]
    required = known[0] if known else float(stated)
    of_buckets = Measurement(COUNTERFEITS, None, required, float(stated), required == stated)
    return Structure((_unique(published, tables, m), of_buckets), _MISFIT if misfits else None)


def _unique(published: PublishedTables, tables: Mapping[str, exp.Query], m: int) -> Measurement:
    least, once = published.engine.rows(step("unique", tables))[0]
    achieved = None if least is None else float(least) if once else 1.0
    return Measurement(UNIQUE, None, float(m), achieved, achieved is None or achieved >= m)


def _all(table: exp.Table | exp.Subquery) -> exp.Select:
    return exp.select(exp.Star()).from_(table.copy())
