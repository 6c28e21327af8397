"""The guard over the cells, which snapshots have, withholds what the guard over rows does, which live views have."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from sqlanon import Connection, PrivacyViolation
from sqlanon.pipeline import materialize
from sqlanon.questions.load import load_question, question_names
from sqlanon.sqlgen.sizes import sizes
from tests.support import mondrian
from tests.support.draws import draws
from tests.support.models import projected, search
from tests.support.policies import BUDGET

pytestmark = pytest.mark.drawn

FEW = settings(BUDGET, max_examples=draws(3, long=12))
ALONE = [name for name in question_names() if "public_class" not in load_question(name).reads]
WITH_PUBLIC = [name for name in question_names() if name not in ALONE]
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


def assert_alike(con: Connection, statement: str) -> None:
    """A release, and the same one made by the SELECT of a live view, whose guard reads the rows."""
    of_cells = released(con, statement)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(materialize, "is_answered_by_cells", lambda _: False)
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


@given(case=st.sampled_from(WITH_PUBLIC).flatmap(search.drawn))
@settings(FEW, max_examples=draws(2, long=12))
def test_levels_with_a_public_table(case: search.Drawn) -> None:
    method = f"generalization(suppression => {case.suppression})"
    assert_alike(search.install(case), f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD {method}")


@given(case=st.sampled_from(mondrian.QUESTIONS).flatmap(mondrian.cases))
@settings(FEW, max_examples=draws(2, long=12))
def test_regions(case: mondrian.Case) -> None:
    assert_alike(case.install(), case.statement)
