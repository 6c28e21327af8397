"""Random tables for local recoding: the oracle's task for them, and what sqlanon makes of them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from typing import Any

from hypothesis import strategies as st

from sqlanon import Connection, PrivacyViolation
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.methods.generalization.explain import Generalization
from sqlanon.release.pipeline.encode import encode_stage, solve_stage
from sqlanon.release.pipeline.resolve import bind_stage, resolve_stage
from sqlanon.release.pipeline.stages import Requested
from sqlanon.sql.sizes import sizes
from sqlanon.statements.parser import parse_script
from tests.oracles.k_anonymity import violating_rows
from tests.oracles.local_recoding import Class, Classes, Counts, Task
from tests.oracles.models.support import Table
from tests.support.models.relations import ranges_for
from tests.support.models.search import RANGES, TAXONOMY, Drawn, drawn, with_values
from tests.support.policies import Case, Quasi, quasi_identifiers

__all__ = ["method", "skewed", "skewed_cases", "solved", "task_of_case", "task_of_drawn", "violating_of"]


def method(suppression: str) -> str:
    return f"METHOD generalization(suppression => {suppression}, recoding => 'local')"


def solved(con: Connection, suppression: str) -> Generalization | None:
    """What the search decides for the policy `p`; None if it can decide nothing."""
    (statement,) = parse_script(f"EXPLAIN ANONYMIZED TABLE t AS POLICY p {method(suppression)}")
    engine = DuckDBEngine(con.duckdb)
    with engine.transaction(), TempTables(engine) as temp:
        encoded = encode_stage(bind_stage(resolve_stage(Requested(engine, statement.create, temp))))
        try:
            return solve_stage(encoded).choice
        except PrivacyViolation:
            return None


def violating_of(case: Drawn, rows: Sequence[tuple[Any, ...]], classes: Classes, public: Counts) -> set[Class]:
    """The classes that violate the policy's model or its k; `rows` hold the sensitive value and the guarding node."""
    arguments = {n: Fraction(v) if isinstance(v, Decimal) else v for n, v in case.arguments.items()}
    table = Table(
        classes=classes,
        values=[row[-2] for row in rows],
        taxonomy=TAXONOMY,
        ranges=ranges_for(case.question, RANGES),
        guards=[row[-1] for row in rows],
        public=public,
    )
    broken: set[Class] = import_module(f"tests.oracles.models.{case.question}").violating(table, **arguments)
    if case.question != "k_anonymity":
        broken |= {of for of, places in classes.items() if len(places) < case.k}
    return broken


def task_of_drawn(case: Drawn, rows: Sequence[tuple[Any, ...]] | None = None) -> Task:
    """The table of a model, or other rows in its place."""
    rows = case.rows if rows is None else rows
    width = len(case.quasi)
    keys = [row[:width] for row in rows]

    def violating(classes: Classes, public: Counts) -> set[Class]:
        return violating_of(case, rows, classes, public)

    def withheld(classes: Classes, public: Counts) -> set[int] | None:
        left: Mapping[Class, Sequence[int]] = dict(classes)
        for _ in range(sizes().guard_rounds):
            broken = violating(left, public)
            if not broken:
                return {place for of in set(classes) - set(left) for place in classes[of]}
            left = {of: places for of, places in left.items() if of not in broken}
        return None

    def incurable(classes: Classes, public: Counts) -> bool:
        least = Fraction(case.arguments["min"]) if case.question == "delta_presence" else Fraction(0)
        return any(len(classes.get(of, ())) < least * n for of, n in public.items())

    return Task(
        keys,
        [q.taxonomy([key[i] for key in keys]) for i, q in enumerate(case.quasi)],
        [Fraction(q.weight) for q in case.quasi],
        tuple(q.low for q in case.quasi),
        tuple(q.top for q in case.quasi),
        int(Fraction(case.suppression) * len(rows)),
        violating,
        withheld,
        case.public,
        [q.taxonomy([row[i] for row in case.public]) for i, q in enumerate(case.quasi)],
        incurable,
        lambda place, node: _has_labels(case.quasi, keys[place], node),
    )


def task_of_case(case: Case, rows: Sequence[tuple[Any, ...]] | None = None) -> Task:
    """The table of k-anonymity, or other rows (quasi-identifiers, respondent, s) in its place."""
    width = len(case.quasi)
    full = [case.full_row(place) for place in range(len(case.rows))] if rows is None else rows
    keys = [row[:width] for row in full]
    entities = None if case.entities is None else [row[width] for row in full]

    def violating(classes: Classes, public: Counts) -> set[Class]:
        named: dict[int, Hashable] = {place: of for of, places in classes.items() for place in places}
        places = sorted(named)
        own = None if entities is None else [entities[place] for place in places]
        small = violating_rows([(named[place],) for place in places], case.k, own)
        return {named[places[position]] for position in small}

    def withheld(classes: Classes, public: Counts) -> set[int]:
        return {place for of in violating(classes, public) for place in classes[of]}

    return Task(
        keys,
        [q.taxonomy([key[i] for key in keys]) for i, q in enumerate(case.quasi)],
        [Fraction(q.weight) for q in case.quasi],
        tuple(q.low for q in case.quasi),
        tuple(q.top for q in case.quasi),
        int(Fraction(case.suppression) * len(keys)),
        violating,
        withheld,
        labelled=lambda place, node: _has_labels(case.quasi, keys[place], node),
    )


def _has_labels(quasi: Sequence[Quasi], key: Sequence[Any], node: Sequence[int]) -> bool:
    return all(level == q.height or q.has_place(value) for q, value, level in zip(quasi, key, node, strict=True))


@st.composite
def skewed(draw: st.DrawFn, question: str) -> Drawn:
    """A few frequent combinations, which alone are large enough, and rare ones beside them."""
    case = draw(drawn(question))
    quasi = tuple(replace(q, low=0, high=None) for q in draw(st.lists(quasi_identifiers(), min_size=2, max_size=3)))
    frequent = draw(st.lists(_keys(quasi), min_size=1, max_size=3, unique=True))
    pools = [("a", "b"), ("a", "b", "c"), ("a", None), ("a",)]
    pool = draw(st.sampled_from([("a", "d"), ("d", "b", "d")] if question == "value_ranges" else pools))
    if question == "delta_presence" and draw(st.booleans()):
        case = replace(case, arguments=case.arguments | {"min": Decimal(0), "max": Decimal(1)})
    node = st.sampled_from((None, None, None, "c", "odd"))
    size = draw(st.integers(2, 4))
    rows = [(*key, pool[place % len(pool)], draw(node)) for key in frequent for place in range(size)]
    rare = draw(st.lists(_keys(quasi), min_size=1, max_size=7))
    rows += [(*key, draw(st.sampled_from(pool)), draw(node)) for key in rare]
    public = [row[: len(quasi)] for row in rows] + draw(st.lists(_keys(quasi), max_size=4))
    budget = draw(st.sampled_from(["0", "0", "0.1", "0.2"]))
    return with_values(replace(case, quasi=quasi, rows=tuple(rows), public=tuple(public), k=2, suppression=budget))


def _keys(quasi: Sequence[Quasi]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.tuples(*(st.sampled_from(q.domain) for q in quasi))


@st.composite
def skewed_cases(draw: st.DrawFn) -> Case:
    """A random case of k-anonymity, with respondents or without."""
    case = draw(skewed("k_anonymity"))
    rows = tuple(row[: len(case.quasi)] for row in case.rows)
    entities = None
    if draw(st.integers(0, 2)) == 0:
        one = st.sampled_from([None, *range(9)])
        entities = tuple(draw(st.lists(one, min_size=len(rows), max_size=len(rows))))
    return Case(case.quasi, rows, entities, draw(st.integers(2, 3)), case.suppression)
