"""The guard over the cells, which snapshots of many rows have, withholds what the guard over rows does.

That is the guard of live views, and of snapshots of few rows. EXPLAIN's figures of classes are equal, too.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from sqlanon import Connection, PrivacyViolation
from sqlanon.methods.shared.lattice.nodes import sizes as lattice
from sqlanon.release.pipeline import remark
from sqlanon.release.pipeline.encode import sizes as ways
from sqlanon.release.remarks.columns import ClassFigures
from sqlanon.release.remarks.columns import sizes as remarks
from sqlanon.sql.questions.load import load_question, question_names
from sqlanon.sql.sizes import sizes
from tests.support import mondrian
from tests.support.draws import draws
from tests.support.models import projected, search
from tests.support.policies import BUDGET

pytestmark = pytest.mark.drawn

FEW = settings(BUDGET, max_examples=draws(6, long=24))
ALONE = [name for name in question_names() if load_question(name).of_some_columns]
OF_ALL_COLUMNS = [name for name in question_names() if name not in ALONE]
# So narrow that the key of a class of two columns is a struct.
NARROW = {"word_bits": 5, "max_labels": 8}


def released(con: Connection, statement: str) -> tuple[Any, ...] | None:
    """How many rows are left out, what is measured, and the rows; None where nothing is published."""
    try:
        con.execute(statement)
    except PrivacyViolation:
        return None
    facts = con.duckdb.execute("SELECT suppressed_rows, loss FROM anon.release").fetchall()
    rows = Counter(con.duckdb.execute("FROM r").fetchall())
    checked = [[repr(value) for value in row] for row in con.execute("CHECK r").fetchall()]
    con.execute("DROP ANONYMIZED TABLE r")
    return facts, rows, checked


def explained(con: Connection, statement: str) -> tuple[list[Any], list[ClassFigures]]:
    """The remarks of EXPLAIN, and the figures of classes behind them; both are empty where nothing is published."""
    figures: list[ClassFigures] = []
    counted = remark.class_figures

    def noted(*arguments: Any) -> ClassFigures:
        weight = arguments[5]
        event("figures of rows" if weight is None else "figures of cells")
        figures.append(counted(*arguments))
        return figures[-1]

    with pytest.MonkeyPatch.context() as patch, remarks.replaced(sample_rows=6):
        patch.setattr(remark, "class_figures", noted)
        try:
            rows = con.execute(statement.replace("CREATE", "EXPLAIN VERBOSE", 1)).fetchall()
        except PrivacyViolation:
            return [], []
    return [row for row in rows if row[0] == "remark"], figures


def assert_alike(con: Connection, statement: str) -> None:
    """A release that is made as one of many rows is, and the same one as few rows are, whose guard reads the rows."""
    with ways.replaced(joined_from=0, coded_from=0), lattice.replaced(few_cells=0, few_values=0):
        figures_of_cells = explained(con, statement)
        of_cells = released(con, statement)
    assert figures_of_cells == explained(con, statement)
    of_rows = released(con, statement)
    event("infeasible" if of_rows is None else "suppressed some" if of_rows[0][0][0] else "suppressed none")
    assert of_cells == of_rows
    con.close()


@given(case=st.sampled_from(ALONE).flatmap(projected.projected), narrow=st.booleans())
@settings(FEW, max_examples=draws(2, long=12))
def test_levels(case: projected.Projected, narrow: bool) -> None:
    with sizes.replaced(**NARROW if narrow else {}):
        method = f"generalization(suppression => {case.drawn.suppression})"
        assert_alike(projected.install(case), f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD {method}")


@pytest.mark.long
@given(case=st.sampled_from(OF_ALL_COLUMNS).flatmap(search.drawn))
@settings(FEW, max_examples=draws(2, long=12))
def test_levels_of_all_columns(case: search.Drawn) -> None:
    method = f"generalization(suppression => {case.suppression})"
    assert_alike(search.install(case), f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD {method}")


@given(case=st.sampled_from(mondrian.QUESTIONS).flatmap(mondrian.cases))
@settings(FEW, max_examples=draws(2, long=12))
def test_regions(case: mondrian.Case) -> None:
    assert_alike(case.install(), case.statement)
