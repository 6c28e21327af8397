"""Requirements on several sets of quasi-identifiers, for every model, against an oracle that goes row by row."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from sqlanon import Connection, PrivacyViolation
from sqlanon.methods.shared.lattice.nodes import sizes
from sqlanon.sql.questions.load import load_question, question_names
from sqlanon.sql.sizes import sizes as key_sizes
from tests.support.draws import draws
from tests.support.losses import ORACLES
from tests.support.models.projected import Best, Projected, changed, exhaustive, install, projected, shown
from tests.support.models.relations import valued
from tests.support.models.search import NODES, VALUES
from tests.support.names import quoted
from tests.support.policies import BUDGET, levels_of

pytestmark = pytest.mark.drawn

FEW = settings(BUDGET, max_examples=draws(2, long=6))
# Models of a whole release are asked about all quasi-identifiers together, and others about people of one row.
MODELS = [
    name
    for name in question_names()
    if "public_class" not in load_question(name).reads
    and not (load_question(name).whole_release or load_question(name).one_row_each)
]


def assert_published(case: Projected, loss: str = "granularity_loss") -> None:
    """A snapshot shows what the best of all nodes does, and nothing is published where there is none."""
    best, con = exhaustive(case, loss), install(case)
    method = f"generalization(suppression => {case.drawn.suppression}, loss => '{loss}')"
    create = f"CREATE ANONYMIZED TABLE made AS POLICY p METHOD {method}"
    if best is None:
        event("infeasible")
        with pytest.raises(PrivacyViolation):
            con.execute(create)
        assert con.duckdb.execute("SELECT count(*) FROM anon.release").fetchall() == [(0,)]
        con.close()
        return
    event("suppressed some" if best.withheld else "suppressed none")
    con.execute(create)
    assert levels_of(con) == best.levels
    ((*facts, lost),) = con.duckdb.execute("SELECT suppressed_rows, proven_optimal, loss FROM anon.release").fetchall()
    assert facts == [len(best.withheld), True]
    assert lost == (pytest.approx(best.loss, abs=1e-7) if isinstance(best.loss, float) else float(best.loss))
    assert rows_of(con, case, "made") == Counter(best.rows)
    assert all(row[-1] is True for row in con.execute("CHECK made").fetchall())
    con.close()


def together_of(case: Projected, best: Best) -> list[int]:
    """The respondents of the smallest class by all columns, where requirements are on some and something is left.

    A row whose respondent is NULL is nobody's.
    """
    if case.on is None and all(on is None for _, on in case.also):
        return []
    people: dict[tuple[Any, ...], list[object]] = defaultdict(list)
    for place, key in enumerate(best.keys):
        if place not in best.withheld:
            people[key].append(place if case.entities is None else case.entities[place])
    return [min(len(set(of_class) - {None}) for of_class in people.values())] if people else []


def rows_of(con: Connection, case: Projected, name: str) -> Counter[tuple[Any, ...]]:
    columns = ", ".join([*map(quoted, case.names), "s"])
    return Counter(con.duckdb.execute(f"SELECT {columns} FROM {name}").fetchall())


def for_drawn(question: str, check: Callable[[Projected], None]) -> None:
    @given(case=projected(question))
    @FEW
    def checked(case: Projected) -> None:
        check(case)

    checked()


@pytest.mark.one_in(16)
@pytest.mark.parametrize("question", MODELS)
def test_what_is_published_is_best_and_satisfies_each_set(question: str) -> None:
    for_drawn(question, assert_published)


@pytest.mark.one_in(6)
@pytest.mark.parametrize("loss", ORACLES)
def test_the_least_of_every_loss(loss: str) -> None:
    for_drawn("k_anonymity", lambda case: assert_published(case, loss))


@given(case=projected("distinct_l_diversity"))
@FEW
def test_explain_says_what_readers_of_all_columns_get(case: Projected) -> None:
    best = exhaustive(case)
    assume(best is not None)
    assert best is not None
    con = install(case)
    method = f"METHOD generalization(suppression => {case.drawn.suppression})"
    explained = con.execute(f"EXPLAIN VERBOSE ANONYMIZED TABLE made AS POLICY p {method}").fetchall()
    con.close()
    found = [detail for _, item, detail in explained if item == "all columns together"]
    assert found == [f"k is {k} for readers who know all quasi-identifiers" for k in together_of(case, best)]


@pytest.mark.long
@pytest.mark.parametrize("question", MODELS)
def test_where_every_source_is_large(question: str) -> None:
    """Rows are kept only where they are fewer, and no part of the classes is looked at in place of all."""

    def check(case: Projected) -> None:
        with sizes.replaced(large_source=0, one_in=2, times_fewer=1):
            assert_published(case)

    for_drawn(question, check)


@pytest.mark.long
@pytest.mark.parametrize("question", MODELS)
def test_where_every_batch_is_heavy(question: str) -> None:
    def check(case: Projected) -> None:
        with sizes.replaced(part_from=0, one_in=2, meet_from=0, meets=2, few_nodes=0, lasting_from=0):
            assert_published(case)

    for_drawn(question, check)


@pytest.mark.long
@pytest.mark.parametrize("question", MODELS)
def test_where_a_key_has_several_words(question: str) -> None:
    def check(case: Projected) -> None:
        with key_sizes.replaced(word_bits=5):
            assert_published(case)

    for_drawn(question, check)


@pytest.mark.one_in(18)
@pytest.mark.parametrize("question", MODELS)
def test_a_live_view_withholds_until_each_set_is_satisfied(question: str) -> None:
    @given(data=st.data(), case=projected(question))
    @FEW
    def check(data: st.DataObject, case: Projected) -> None:
        assume(exhaustive(case) is not None)
        con = install(case)
        con.execute(
            f"CREATE ANONYMIZED VIEW v AS POLICY p METHOD generalization(suppression => {case.drawn.suppression})"
        )
        levels = levels_of(con)
        assert rows_of(con, case, "v") == Counter(shown(case, levels))
        width = len(case.drawn.quasi)
        keys = st.tuples(*(st.sampled_from((*q.domain, *q.later)) for q in case.drawn.quasi))
        known = st.sampled_from(case.drawn.rows).map(lambda row: row[:width])
        rows, people = list(case.drawn.rows), list(case.entities or [None] * len(case.drawn.rows))
        for _ in range(data.draw(st.integers(1, 3))):
            key = data.draw(st.one_of(keys, known, known))
            value = valued(question, data.draw(st.sampled_from((*VALUES, None, "e"))))
            row = (*key, value, data.draw(st.sampled_from(NODES)))
            entity = data.draw(st.sampled_from((None, 1, 7, 8)))
            con.duckdb.execute(f"INSERT INTO source VALUES ({', '.join('?' * (width + 3))})", [*row, entity])
            rows, people = [*rows, row], [*people, entity]
        after = changed(case, rows, people)
        assert rows_of(con, case, "v") == Counter(shown(after, levels))
        assert all(row[-1] is True for row in con.execute("CHECK v").fetchall())
        con.close()

    check()
