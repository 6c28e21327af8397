"""Every privacy model in the search against an oracle that looks at every node and withholds class by class."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from sqlanon.methods.shared.lattice.nodes import sizes
from sqlanon.sql.questions.load import load_question, question_names
from tests.support.draws import draws
from tests.support.models.search import Drawn, assert_optimal, drawn, drawn_within
from tests.support.policies import BUDGET

pytestmark = pytest.mark.drawn

# The same search on other ways through it: the models' own texts have been through the plain one.
FEW = settings(BUDGET, max_examples=draws(2, long=3))
MOST = settings(BUDGET, max_examples=draws(2, long=8))


@pytest.mark.one_in(20)
@pytest.mark.parametrize("question", question_names())
def test_the_optimum_of_every_model(question: str) -> None:
    @given(case=drawn(question))
    @MOST
    def check(case: Drawn) -> None:
        assert_optimal(case)

    check()


@pytest.mark.one_in(4)
@pytest.mark.parametrize("question", [name for name in question_names() if load_question(name).within])
def test_the_optimum_within_a_broader_class(question: str) -> None:
    @given(case=drawn_within(question))
    @MOST
    def check(case: Drawn) -> None:
        assert_optimal(case)

    check()


@pytest.mark.long
@pytest.mark.parametrize("question", question_names())
def test_the_optimum_where_every_source_is_large(question: str) -> None:
    """A part of the classes looked at first, and rows kept only where they are fewer."""

    @given(case=drawn(question))
    @FEW
    def check(case: Drawn) -> None:
        with sizes.replaced(large_source=0, one_in=2, times_fewer=1):
            assert_optimal(case)

    check()


@pytest.mark.one_in(20)
@pytest.mark.parametrize("question", question_names())
def test_the_optimum_where_every_batch_is_heavy(question: str) -> None:
    """A part of many nodes looked at first, and rows between the cells and the nodes made for a batch."""

    @given(case=drawn(question))
    @FEW
    def check(case: Drawn) -> None:
        with sizes.replaced(part_from=0, one_in=2, meet_from=0, meets=2, few_nodes=0):
            assert_optimal(case)

    check()
