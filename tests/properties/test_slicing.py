"""Slicing on random tables: what its definition promises, by brute force, and what the method publishes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from sqlanon import Connection, PrivacyViolation
from sqlanon.domain.context import Adjustable
from sqlanon.methods.shared.partition.recursion import sizes
from sqlanon.sql.sizes import sizes as key_sizes
from tests.oracles.models.support import Table
from tests.oracles.mondrian import Attribute, Domain, Mondrian, Options
from tests.oracles.sliced_worlds import beliefs, beliefs_without_buckets
from tests.oracles.slicing import (
    Row,
    Sliced,
    bucket_check,
    diversity,
    matching_check,
    most_even,
    partition,
)
from tests.support.database import tables as names_of_tables
from tests.support.draws import draws
from tests.support.models.contract import oracle_of
from tests.support.slicing import KINDS, QUASI, VARIANTS, Case, buckets_of, cases, shown, sliced

pytestmark = pytest.mark.drawn

# The sensitive attribute is the last; the third attribute is no quasi-identifier in some of the tables.
WIDTH, SENSITIVE = 4, 3


@st.composite
def small(draw: st.DrawFn, most: int = 6) -> Sliced:
    """A few rows, all of them put into buckets and attributes into columns at random."""
    row = st.tuples(*[st.sampled_from(("a", "b", None))] * 3, st.sampled_from(("x", "x", "y", None)))
    rows: list[Row] = draw(st.lists(row, min_size=1, max_size=most))
    numbers = draw(st.lists(st.integers(0, 2), min_size=WIDTH, max_size=WIDTH))
    columns = [tuple(at for at in range(WIDTH) if numbers[at] == number) for number in sorted({*numbers})]
    of = draw(st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows)))
    buckets = [tuple(at for at in range(len(rows)) if of[at] == number) for number in sorted({*of})]
    return Sliced(rows, columns, buckets, SENSITIVE, draw(st.sampled_from((frozenset(), frozenset({2})))))


@settings(max_examples=draws(25, long=60), deadline=None)
@given(small())
def test_the_share_of_a_class_is_what_is_believed(sliced: Sliced) -> None:
    """Whatever else is known of the bucket's people; and who does not know the buckets believes no more."""
    assert beliefs(sliced) == [
        sliced.values(sliced.rows[at], bucket)
        for at, bucket in sorted((at, bucket) for bucket, members in enumerate(sliced.buckets) for at in members)
    ]
    most = max(
        max(sliced.values(sliced.rows[members[0]], of).values()) for (of, _), members in sliced.classes().items()
    )
    assert max(max(belief.values()) for belief in beliefs_without_buckets(sliced)) <= most
    assert max(max(sliced.likely(row).values()) for row in sliced.rows) <= most


@settings(max_examples=draws(25, long=60), deadline=None)
@given(small(8), st.integers(2, 3), st.sampled_from(VARIANTS), st.sampled_from((Fraction(1, 2), Fraction(2))))
def test_good_buckets_match_well_and_so_does_their_union(sliced: Sliced, l: int, variant: str, c: Fraction) -> None:  # noqa: E741
    satisfied = diversity(l, variant, c)
    whole = replace(sliced, buckets=[range(len(sliced.rows))])
    if bucket_check(sliced, satisfied):
        assert matching_check(sliced, satisfied)
        assert bucket_check(whole, satisfied)
    assert matching_check(whole, satisfied) == bucket_check(whole, satisfied)


@pytest.mark.long
@settings(max_examples=draws(25, long=50), deadline=None)
@given(small(12), st.integers(2, 3), st.sampled_from(VARIANTS))
def test_a_queue_that_looks_at_buckets_cuts_as_mondrian_does(sliced: Sliced, l: int, variant: str) -> None:  # noqa: E741
    """Whether a bucket is good does not depend on the others, so that they may be cut in any order."""
    table = [{str(at): value for at, value in enumerate(row)} for row in sliced.rows]
    domains = [Domain(Attribute(str(at), "values"), table) for at in range(SENSITIVE)]

    def passes(buckets: Sequence[Sequence[int]]) -> bool:
        return bucket_check(replace(sliced, buckets=buckets), diversity(l, variant))

    made = partition(len(table), domains, passes, most_even)
    expected = Mondrian(table, domains, Options(), lambda region: passes([region])).partition()
    assert (made is None) == (expected is None)
    if made is not None and expected is not None:
        assert sorted(made.buckets) == sorted(map(tuple, expected))


# Models of the policy beside the method's diversity: the oracle's name and its arguments.
REQUIREMENTS: dict[str, tuple[str, dict[str, Any]]] = {
    "l_diversity(l => 2)": ("distinct_l_diversity", {"l": 2}),
    "l_diversity(l => 2, variant => 'recursive', c => 2)": ("recursive_l_diversity", {"l": 2, "c": Fraction(2)}),
    "t_closeness(t => 0.4)": ("equal_t_closeness", {"t": Fraction(2, 5)}),
    "delta_disclosure(delta => 1.5)": ("delta_disclosure", {"delta": Fraction(3, 2), "absent": "violates"}),
}


def promised(case: Case, models: Sequence[str], k: int) -> list[tuple[str, dict[str, Any]]]:
    """What is asked of the classes of each sensitive attribute, and of the sizes of buckets."""
    arguments: dict[str, Any] = {"l": Fraction(case.l) if case.variant in ("probabilistic", "entropy") else case.l}
    if case.variant == "recursive":
        arguments["c"] = Fraction(case.c)
    own = (f"{case.variant}_l_diversity", arguments)
    return [("k_anonymity", {"k": k}), own, *(REQUIREMENTS[model] for model in models)]


# The rows that are in no bucket: they are compared with, as all rows are, and nothing is asked of them.
REST = "rest"


def reached(sliced: Sliced, model: str, arguments: dict[str, Any]) -> tuple[bool, Any]:
    """Whether buckets satisfy a model, and its figure if they have all rows."""
    oracle = oracle_of(model)
    classes: dict[Hashable, Sequence[int]] = dict(enumerate(sliced.buckets))
    if model != "k_anonymity":
        classes = {**sliced.classes()}
    classes[REST] = sorted({*range(len(sliced.rows))} - {row for bucket in sliced.buckets for row in bucket})
    table = Table({of: rows for of, rows in classes.items() if rows}, [row[sliced.sensitive] for row in sliced.rows])
    return oracle.violating(table, **arguments) <= {REST}, oracle.achieved(table, **arguments)


def good(case: Case, models: Sequence[tuple[str, dict[str, Any]]], buckets: Sequence[Sequence[int]]) -> bool:
    """Whether buckets satisfy all that is asked of each sensitive attribute."""
    return all(reached(sliced(case, buckets, at), *model)[0] for at in case.sensitive for model in models)


def cut_at_medians(case: Case, models: Sequence[tuple[str, dict[str, Any]]]) -> list[list[int]] | None:
    """The buckets that Mondrian makes of the quasi-identifiers, as far as halves satisfy."""
    table = [dict(zip(case.names, row, strict=True)) for row in case.rows]
    kinds = {name: "values" if kind == "VARCHAR" else "numeric" for name, kind in zip(case.names, KINDS, strict=False)}
    quasi = [name for name, role in zip(case.names, case.roles, strict=True) if role == QUASI]
    domains = [Domain(Attribute(name, kinds[name]), table) for name in quasi]
    return Mondrian(table, domains, Options(), lambda region: good(case, models, [region])).partition()


def contents(columns: Sequence[Sequence[Row]]) -> Hashable:
    """What a bucket shows, whatever the order."""
    return tuple(frozenset(Counter(rows).items()) for rows in columns)


def assert_published(case: Case, models: Sequence[tuple[str, dict[str, Any]]]) -> None:
    """Publishes `r`, a slicing that satisfies; or nothing, where the whole table as one bucket does not."""
    with case.install() as con:
        if not good(case, models, [range(len(case.rows))]):
            event("refused")
            with pytest.raises(PrivacyViolation):
                con.execute(case.statement)
            assert names_of_tables(con) == {"t"}
            return
        con.execute(case.statement)
        tables = shown(con, case)
        buckets = buckets_of(case, tables)
        assert buckets is not None, "not a slicing of the source"
        event("cut" if len(buckets) > 1 else "uncut")
        assert sorted({bucket for table in tables for bucket, _ in table}) == list(range(1, len(buckets) + 1))
        assert_checked(con, case, models, buckets)
        if not case.further:
            regions = cut_at_medians(case, models) or []
            made = [[[row for of, row in table if of == at] for table in tables] for at in range(1, len(buckets) + 1)]
            wanted = [
                [[tuple(case.rows[row][at] for at in column) for row in region] for column in case.columns]
                for region in regions
            ]
            assert Counter(map(contents, made)) == Counter(map(contents, wanted))


def assert_checked(
    con: Connection, case: Case, models: Sequence[tuple[str, dict[str, Any]]], buckets: Sequence[Sequence[int]]
) -> None:
    """Buckets satisfy what was asked, nobody believes more than 1/l, and CHECK has the same figures."""
    figures = {(row[1], row[2]): row[-2:] for row in con.execute("CHECK r").fetchall()}
    for attribute in case.sensitive:
        made = sliced(case, buckets, attribute)
        if case.variant == "probabilistic" and max(map(len, buckets), default=0) <= 7:
            assert all(max(belief.values()) <= Fraction(1, case.l) for belief in beliefs(made))
        for model, arguments in models:
            satisfied, figure = reached(made, model, arguments)
            assert satisfied
            known = None if figure is None else pytest.approx(float(figure), rel=1e-9, abs=1e-11)
            assert figures[model, None if model == "k_anonymity" else case.names[attribute]] == (known, True)


@st.composite
def tasks(draw: st.DrawFn, further: Sequence[str]) -> tuple[Case, list[tuple[str, dict[str, Any]]]]:
    """A case with models of its policy, and all that is asked."""
    models = draw(st.sampled_from(([], [], *([model] for model in REQUIREMENTS))))
    k = draw(st.sampled_from((1, 1, 2, 4)))
    case = replace(
        draw(cases()), requires=", ".join([f"k_anonymity(k => {k})", *models]), further=draw(st.sampled_from(further))
    )
    return case, promised(case, models, k)


RANDOM = (", grouping => 'random', bucket_size => 3", ", grouping => 'random'")


@pytest.mark.long
@settings(max_examples=draws(3, long=15), deadline=None)
@given(tasks(("",)))
def test_buckets_are_those_of_mondrian_and_satisfy(task: tuple[Case, list[tuple[str, dict[str, Any]]]]) -> None:
    assert_published(*task)


@settings(max_examples=draws(2, long=10), deadline=None)
@given(tasks(RANDOM))
def test_buckets_that_are_drawn_satisfy(task: tuple[Case, list[tuple[str, dict[str, Any]]]]) -> None:
    assert_published(*task)


@pytest.mark.one_in(9)
@pytest.mark.parametrize(
    ("subject", "small"),
    [
        (sizes, {"min_rows_per_cell": 0}),
        (sizes, {"sort_from": 1, "max_ranks_in_memory": 0}),
        (key_sizes, {"word_bits": 5}),
    ],
    ids=["equal rows counted", "rows sorted each time", "keys of many words"],
)
def test_the_same_buckets_by_each_way(subject: Adjustable[Any], small: dict[str, int]) -> None:
    @settings(max_examples=draws(2, long=5), deadline=None)
    @given(tasks(("",)))
    def check(task: tuple[Case, list[tuple[str, dict[str, Any]]]]) -> None:
        assert_published(*task)

    with subject.replaced(**small):
        check()


@settings(max_examples=draws(2, long=15), deadline=None)
@given(cases(shared=False), st.sampled_from((*RANDOM, "")))
def test_matching_rows_are_diverse(case: Case, grouping: str) -> None:
    """What the paper asks, with the sizes of buckets; refused where the whole table is not diverse as one bucket."""
    case = replace(case, variant="probabilistic", further=f", diversity => 'matching'{grouping}")
    with case.install() as con:
        if not good(case, promised(case, [], 1), [range(len(case.rows))]):
            with pytest.raises(PrivacyViolation):
                con.execute(case.statement)
            return
        con.execute(case.statement)
        buckets = buckets_of(case, shown(con, case))
        assert buckets is not None
        made = [sliced(case, buckets, attribute) for attribute in case.sensitive]
        assert all(matching_check(one, diversity(case.l)) for one in made)
        most = max((max(one.likely(row).values()) for one in made for row in case.rows), default=None)
        known = None if most is None else pytest.approx(float(1 / most))
        assert {row[1]: row[-2:] for row in con.execute("CHECK r").fetchall()}["matching_l_diversity"] == (known, True)
