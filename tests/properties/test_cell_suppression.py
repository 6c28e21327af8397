"""Suppression of single cells against its definition: the cells at fixed levels, every model, and never more loss."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from sqlanon import Connection, PrivacyViolation
from sqlanon.methods.shared.lattice.losses import LOSSES
from sqlanon.sql.questions.load import load_question, question_names
from tests.oracles.cell_suppression import Row, agrees, cost, greedy, least_cost, matches, own, published
from tests.oracles.k_anonymity import respondents
from tests.oracles.lattice import recoded
from tests.support.database import new_database
from tests.support.draws import draws
from tests.support.local_recoding import skewed, skewed_cases, violating_of
from tests.support.models.search import Drawn, install
from tests.support.names import HOSTILE
from tests.support.policies import Case, Quasi

pytestmark = pytest.mark.drawn

FEW = settings(max_examples=draws(2, long=4), deadline=None, suppress_health_check=list(HealthCheck))
SOME = settings(max_examples=draws(3, long=25), deadline=None, suppress_health_check=list(HealthCheck))
MANY = settings(max_examples=draws(40, long=200), deadline=None)

CELLS = "METHOD generalization(cells => 'suppress', suppression => {})"
WEIGHTS = st.sampled_from([Decimal(weight) for weight in ("1", "1", "2", "0.5", "3.25", "0.000001")])


def known(quasi: Sequence[Quasi], rows: Sequence[tuple[Any, ...]]) -> tuple[tuple[Any, ...], ...]:
    """The rows with a value of its column in place of each NULL of a quasi-identifier."""
    first = [next(value for value in q.domain if value is not None) for q in quasi]
    width = len(first)
    return tuple(
        (*(of if value is None else value for value, of in zip(row[:width], first, strict=True)), *row[width:])
        for row in rows
    )


@st.composite
def cases(draw: st.DrawFn, *, at_one_level: bool) -> Case:
    """A case of k-anonymity without NULL in quasi-identifiers, whose columns may have one level each."""
    case = draw(skewed_cases())
    levels = [draw(st.integers(0, quasi.height)) if at_one_level else None for quasi in case.quasi]
    quasi = tuple(
        replace(q, weight=draw(WEIGHTS)) if level is None else replace(q, low=level, high=level, weight=draw(WEIGHTS))
        for q, level in zip(case.quasi, levels, strict=True)
    )
    suppression = "1" if at_one_level else case.suppression
    return replace(case, quasi=quasi, rows=known(quasi, case.rows), suppression=suppression)


@given(case=cases(at_one_level=True))
@SOME
def test_the_cells_at_fixed_levels(case: Case) -> None:
    levels = [quasi.low for quasi in case.quasi]
    shown = [recoded(row, case.taxonomies(), levels) for row in case.rows]
    visible = [index for index, q in enumerate(case.quasi) if q.low < q.height]

    def satisfies(places: Sequence[int]) -> bool:
        return respondents(places, case.entities) >= case.k

    chosen = greedy(shown, visible, [q.weight for q in case.quasi], satisfies)
    expected = [
        (*(None if index in lost else label for index, label in enumerate(row)), place)
        for place, (row, lost) in enumerate(zip(shown, chosen, strict=True))
        if lost is not None
    ]
    con = case.install()
    con.execute(f"CREATE ANONYMIZED TABLE out AS POLICY p {CELLS.format(1)}")
    assert Counter(con.duckdb.execute(f"SELECT {case.published} FROM out").fetchall()) == Counter(expected)
    ((loss, left),) = con.duckdb.execute("SELECT loss, suppressed_rows FROM anon.release").fetchall()
    assert left == chosen.count(None)
    assert loss == pytest.approx(float(lost_by(case, levels, chosen)), abs=1e-9)
    assert all(row[-1] for row in con.execute("CHECK out").fetchall())
    measured = con.execute("MEASURE out WITH FIGURES (granularity_loss)").fetchall()[-1][-1]
    if any("*" in value for row in case.rows for value in row if isinstance(value, str)):
        # A label that is also the label of more values, as a* of the value a* is, is read as all of these values.
        assert measured >= loss - 1e-9
    else:
        assert measured == pytest.approx(loss, abs=1e-9)
    if case.entities is None and any(chosen):
        assert_alike(con, [row[:-1] for row in expected], shown, sum(len(lost) for lost in chosen if lost is not None))
    event(f"{sum(bool(lost) for lost in chosen)} rows lose cells, {left} are left out")
    con.close()


def assert_alike(con: Connection, out: Sequence[Row], true: Sequence[Row], cells: int) -> None:
    """The figures of missing cells are the oracle's; people who fit no row are in nobody's way."""
    figures = {(name, of): value for _, name, of, value in con.execute("MEASURE out WITH FIGURES (missing)").fetchall()}
    assert figures["suppressed_cells", None] == cells
    fitting = [number for number in agrees(out, true) if number]
    for name, counts in (("own", own(out)), ("agrees", fitting), ("matches", matches(out))):
        assert figures[f"least_{name}", None] == min(counts), name


def lost_by(case: Case, levels: Sequence[int], chosen: Sequence[tuple[int, ...] | None]) -> Fraction:
    """The granularity loss, cell by cell: a suppressed one loses as much as `*`."""
    total = Fraction(0)
    for row, lost in zip(case.rows, chosen, strict=True):
        for index, (value, quasi, taxonomy) in enumerate(zip(row, case.quasi, case.taxonomies(), strict=True)):
            level = quasi.height if lost is not None and index in lost else levels[index]
            total += Fraction(quasi.weight) * (1 if lost is None else taxonomy.cost(value, level))
    return total / (len(case.rows) * sum(Fraction(quasi.weight) for quasi in case.quasi)) if case.rows else total


@pytest.mark.one_in(6)
@pytest.mark.parametrize("loss", LOSSES)
def test_it_loses_no_more_than_the_best_levels_for_all_rows(loss: str) -> None:
    @given(case=cases(at_one_level=False))
    @FEW
    def check(case: Case) -> None:
        assume(case.optimum() is not None)
        con = case.install()
        losses = {}
        for name, cells in (("global", ""), ("cells", ", cells => 'suppress'")):
            method = f"generalization(suppression => {case.suppression}, loss => '{loss}'{cells})"
            con.execute(f"CREATE ANONYMIZED TABLE {name} AS POLICY p METHOD {method}")
            of_release = "SELECT loss, suppressed_rows, source_rows FROM anon.release WHERE object_name = ?"
            losses[name], left, rows = con.duckdb.execute(of_release, [name]).fetchall()[0]
            assert left <= Fraction(case.suppression) * rows
        assert losses["cells"] <= losses["global"] + 1e-9
        con.close()

    check()


REFUSED = {"public_class", "superset"}


def is_asked(name: str) -> bool:
    """Whether the model judges a class by itself or beside the others, and compares it with nothing else."""
    question = load_question(name)
    return not question.whole_release and not REFUSED & {*question.reads}


@pytest.mark.one_in(8)
@pytest.mark.parametrize("question", [*filter(is_asked, question_names())])
def test_published_classes_satisfy_every_model(question: str) -> None:
    """Each published cell is the label of its row or NULL, and the oracle of the model has nothing against the rest."""

    @given(case=skewed(question))
    @FEW
    def check(case: Drawn) -> None:
        case = replace(case, rows=known(case.quasi, case.rows), suppression="0.5")
        con = install(case)
        released = made(con, case)
        event("refused" if released is None else f"{len(released)} of {len(case.rows)} rows")
        con.close()

    check()


def made(con: Connection, case: Drawn) -> list[tuple[Any, ...]] | None:
    """The rows that are published, None for none; asks the model's oracle about their classes."""
    try:
        con.execute(f"CREATE ANONYMIZED TABLE out AS POLICY p {CELLS.format(case.suppression)}")
    except PrivacyViolation:
        return None
    width = len(case.quasi)
    names = ", ".join(f"q{index}" for index in range(width))
    released = [(*row, None) for row in con.duckdb.execute(f"SELECT {names}, s FROM out").fetchall()]
    classes: dict[tuple[Hashable, ...], list[int]] = defaultdict(list)
    for place, row in enumerate(released):
        classes[row[:width]].append(place)
    if "guarded" not in load_question(case.question).reads:
        # Guarding nodes are not published.
        assert not violating_of(case, released, classes, {})
    for index, quasi in enumerate(case.quasi):
        own_values = [row[index] for row in case.rows]
        taxonomy = quasi.taxonomy(own_values)
        labels = {taxonomy.label(value, level) for value in own_values for level in range(quasi.height + 1)}
        assert {row[index] for row in released} <= {None, *labels}
    return released


@given(
    rows=st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=2, max_size=6),
    k=st.integers(2, 3),
    weights=st.tuples(WEIGHTS, WEIGHTS, WEIGHTS),
)
@MANY
def test_the_greedy_way_costs_no_less_than_the_least(
    rows: list[tuple[int, ...]], k: int, weights: tuple[Decimal, ...]
) -> None:
    chosen = greedy(rows, range(3), weights, lambda places: len(places) >= k)
    shown = published(rows, chosen)
    assert min(own(shown), default=k) >= k
    kept = [row for row, lost in zip(rows, chosen, strict=True) if lost is not None]
    counts = (own(shown), agrees(shown, kept), matches(shown))
    assert all(low <= high for counted in zip(*counts, strict=True) for low, high in pairwise(counted))
    least = least_cost(rows, k, weights)
    if least is not None and None not in chosen:
        assert cost(chosen, weights) >= least
        event("the least" if cost(chosen, weights) == least else "more than the least")


@given(
    names=st.permutations(HOSTILE).map(lambda names: names[:3]),
    values=st.lists(st.sampled_from(["", "*", "NULL", "'", '"']), min_size=6, max_size=6),
)
@SOME
def test_hostile_names_and_values(names: list[str], values: list[str]) -> None:
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    con = new_database()
    con.execute(f"CREATE TABLE t ({', '.join(f'{name} VARCHAR' for name in quoted)})")
    rows = [(a, b, "x") for a, b in zip(values, reversed(values), strict=True)]
    for row in rows:
        con.duckdb.execute("INSERT INTO t VALUES (?, ?, ?)", list(row))
    columns = ", ".join(f"{name} QUASI IDENTIFIER MAX LEVEL 0" for name in quoted)
    con.execute(f"CREATE POLICY p ON t ({columns}) REQUIRE k_anonymity(k => 2)")
    con.execute(f"CREATE ANONYMIZED TABLE out AS POLICY p {CELLS.format(1)}")
    chosen = greedy(rows, range(3), [Decimal(1)] * 3, lambda places: len(places) >= 2)
    assert Counter(con.duckdb.execute("FROM out").fetchall()) == Counter(published(rows, chosen))
    con.close()
