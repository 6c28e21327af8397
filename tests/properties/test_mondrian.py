"""METHOD mondrian against the textbook's recursion over rows: the same regions, labels, bounds and loss."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from itertools import combinations
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from sqlanon import Connection, PrivacyViolation
from sqlanon.domain.context import Adjustable
from sqlanon.methods.shared.partition.recursion import sizes
from sqlanon.sql.questions.load import load_question
from sqlanon.sql.sizes import sizes as key_sizes
from tests.oracles.mondrian import Domain, Options, granularity_loss
from tests.support.draws import draws
from tests.support.mondrian import QUESTIONS, Case, Regions, cases, digits, expected, quoted
from tests.support.policies import Quasi

pytestmark = pytest.mark.drawn

# Each example makes a database.
FEW = settings(max_examples=draws(2, long=4), deadline=None, suppress_health_check=list(HealthCheck))
# So many ranks, or fewer, are tried all at once: never, towards the end, from the start.
FEWS = st.sampled_from([0, 30, 400_000])
# What a relaxed cut does with rows that are alike in all else depends on no guarding node.
UNGUARDED = tuple(q for q in QUESTIONS if all(p.type != "COLUMN" for p in load_question(q).parameters))


def texts(con: Connection, case: Case) -> Mapping[str, Callable[[Any], str]]:
    """How DuckDB prints the values of each quasi-identifier."""
    found = {}
    for name in map(quoted, case.names):
        rows = con.duckdb.execute(f"SELECT DISTINCT {name}, CAST({name} AS VARCHAR) FROM t").fetchall()
        found[name] = dict(rows).__getitem__
    return {name: found[quoted(name)] for name in case.names}


def label_columns(case: Case) -> list[str]:
    """For each quasi-identifier its label, and the least and the greatest value."""
    return [quoted(column) for name in case.names for column in (name, f"{name}_low", f"{name}_high")]


def released(con: Connection, case: Case, columns: Sequence[str]) -> Regions:
    width = 3 * len(case.names)
    found: Regions = {}
    for row in con.duckdb.execute(f"SELECT {', '.join([*label_columns(case), *columns])} FROM r").fetchall():
        found.setdefault(row[:width], Counter())[row[width:]] += 1
    return found


def assert_released(case: Case, columns: Sequence[str]) -> None:
    """Releases `r`: the oracle's regions with these columns of their rows, or nothing where there are none."""
    con = case.install()
    domains = case.domains(texts(con, case))
    partition = case.partition(domains)
    if partition is None:
        event("infeasible")
        with pytest.raises(PrivacyViolation):
            con.execute(case.statement)
        assert con.duckdb.execute("SELECT count(*) FROM anon.release").fetchall() == [(0,)]
        assert con.duckdb.execute("SELECT count(*) FROM duckdb_tables() WHERE table_name = 'r'").fetchall() == [(0,)]
        con.close()
        return
    event("uncut" if len(partition) == 1 else "cut")
    con.execute(case.statement)
    assert released(con, case, columns) == expected(case, domains, partition, columns)
    ((loss, rows, suppressed),) = con.duckdb.execute(
        "SELECT loss, released_rows, suppressed_rows FROM anon.release"
    ).fetchall()
    assert (rows, suppressed) == (len(case.rows), 0)
    assert loss == pytest.approx(granularity_loss(domains, partition, case.publish), rel=1e-9, abs=1e-12)
    con.close()


@contextmanager
def at_once_from(few: int) -> Iterator[None]:
    with sizes.replaced(max_ranks_in_memory=few):
        yield


@pytest.mark.one_in(16)
@pytest.mark.parametrize("question", QUESTIONS)
def test_strict_regions_of_every_model(question: str) -> None:
    @given(case=cases(question), few=FEWS)
    @settings(FEW, max_examples=draws(2, long=4))
    def check(case: Case, few: int) -> None:
        with at_once_from(few):
            assert_released(case, ["s", "c", "n"])

    check()


@st.composite
def crowds(draw: st.DrawFn) -> Case:
    """Many rows with few values, so that there is a tie in almost every region; the columns are of unlike weight."""
    random = Random(draw(st.integers(0, 2**32)))
    flat = Quasi("INTEGER", None, 1, (), lambda value: ())
    quasi = (replace(flat, weight=Decimal(100)), flat, digits())
    blocks, size = range(random.choice((1, 12, 30))), random.choice((60, 120, 200))
    rows = []
    for n in range(size):
        values = (random.choice(blocks), random.choice((1, 2, 4, 8, 100, None)), random.choice((1, 2, 10, 12, 21)))
        others = {"who": None, "s": random.choice("aab"), "g": None, "c": random.choice("xy"), "n": n}
        rows.append({**dict(zip(("block", "a", "b"), values, strict=True)), **others})
    k = random.choice((2, 3, 4))
    mode, split, target = draw(
        st.sampled_from([("strict", "median", None), ("strict", "information_gain", "s"), ("relaxed", "median", None)])
    )
    options = Options(mode, split, target, draw(st.sampled_from(["order", "tree"])), k)
    return Case(quasi, ("block", "a", "b"), tuple(rows), False, "k_anonymity", {"k": k}, k, options, "range")


@pytest.mark.long
@given(case=crowds(), few=FEWS)
@settings(FEW, max_examples=draws(2, long=8))
def test_regions_of_many_rows_with_many_ties(case: Case, few: int) -> None:
    with at_once_from(few):
        assert_released(case, ["s", "c", "n"] if case.options.mode == "strict" else [])


@pytest.mark.long
@pytest.mark.parametrize(
    ("subject", "small"),
    [
        (sizes, {"min_rows_per_cell": 0}),
        (sizes, {"min_rows_per_cell": 1000}),
        (sizes, {"sort_from": 1}),
        (key_sizes, {"word_bits": 5}),
    ],
    ids=["equal rows counted", "rows one by one", "rows sorted each time", "keys of many words"],
)
def test_strict_regions_by_every_way(subject: Adjustable[Any], small: dict[str, int]) -> None:
    """How many rows there are, of how many kinds, decides how they are cut, never where."""

    @given(case=cases("distinct_l_diversity"), few=FEWS)
    @settings(FEW, max_examples=draws(2, long=4))
    def check(case: Case, few: int) -> None:
        with at_once_from(few):
            assert_released(case, ["s", "c", "n"])

    with subject.replaced(**small):
        check()


@pytest.mark.one_in(16)
@pytest.mark.parametrize("question", UNGUARDED)
def test_relaxed_regions_of_every_model(question: str) -> None:
    """Which of equal rows goes to which half is drawn; where that matters to the requirement, it is met all the same.

    Where equal rows are alike in all that is asked about, the regions are those of the oracle.
    """

    @given(case=cases(question, ("relaxed",)))
    @FEW
    def check(case: Case) -> None:
        if case.drawn:
            assert_sound(case)
        else:
            assert_released(case, ["s"] if load_question(question).of_sensitive_values else [])

    check()


def assert_sound(case: Case) -> None:
    """Releases `r`: each row once, in a region that meets the requirement; or nothing, where the whole does not."""
    con = case.install()
    if case.satisfied(list(range(len(case.rows)))):
        event("drawn")
        con.execute(case.statement)
        assert_regions(con, case)
    else:
        event("drawn, infeasible")
        with pytest.raises(PrivacyViolation):
            con.execute(case.statement)
    con.close()


def assert_regions(con: Connection, case: Case) -> list[list[int]]:
    """The places of the rows of each region of `r`: each row is in one, and each meets the requirement."""
    regions = [sorted(n for (n,) in rows.elements()) for rows in released(con, case, ["n"]).values()]
    assert sorted(n for region in regions for n in region) == list(range(len(case.rows)))
    assert all(map(case.satisfied, regions))
    return regions


@given(case=cases("distinct_l_diversity", size=60))
@FEW
def test_strict_regions_tile_the_source(case: Case) -> None:
    """Whatever the oracle says: each row is in a region that spans its values, and no two regions overlap."""
    assume(case.satisfied(list(range(len(case.rows)))))
    con = case.install()
    con.execute(case.statement)
    for one, other in combinations(assert_regions(con, case), 2):
        assert any(apart(domain, one, other) for domain in case.domains({}))
    con.close()


def apart(domain: Domain, one: list[int], other: list[int]) -> bool:
    """Whether all values of one region stand before all of the other's."""
    (least, most), (low, high) = domain.span(one), domain.span(other)
    return most < low or high < least


@given(case=cases("k_anonymity", ("strict", "relaxed"), size=60))
@FEW
def test_labels_and_bounds_hold_the_values_of_their_rows(case: Case) -> None:
    assume(case.satisfied(list(range(len(case.rows)))))
    con = case.install()
    con.execute(case.statement)
    printed = texts(con, case)
    for domain, name in zip(case.domains(printed), case.names, strict=True):
        columns = ", ".join(quoted(column) for column in (name, f"{name}_low", f"{name}_high"))
        for label, low, high, n in con.duckdb.execute(f"SELECT {columns}, n FROM r").fetchall():
            rank = domain.rank[n]
            value = domain.values[rank]
            if low is None:
                assert value is high is label is None
                continue
            if value is not None:
                assert domain.values.index(low) <= rank <= domain.values.index(high)
            if case.publish == "range":
                text = printed[name]
                shown = text(low) if low == high else f"[{text(low)}, {text(high)}]"
                assert label in ((f"{shown} or NULL",) if value is None else (shown, f"{shown} or NULL"))
    con.close()


@pytest.mark.one_in(4)
@pytest.mark.parametrize("mode", ["strict", "relaxed"])
def test_a_source_without_rows(mode: str) -> None:
    @given(case=cases("k_anonymity", (mode,), size=0))
    @settings(FEW, max_examples=1)
    def check(case: Case) -> None:
        assert case.rows == ()
        assert_released(case, ["s"])

    check()
