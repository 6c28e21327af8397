"""Drawn tables under requirements on several sets of quasi-identifiers, and an oracle that looks at every node.

What is published of a node is reckoned row by row: a row goes if it lies in a class of any set that violates what is
required on that set, and so on until none does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from typing import Any

from hypothesis import strategies as st

from sqlanon import Connection
from sqlanon.sql.questions.load import load_question
from sqlanon.sql.sizes import sizes
from tests.oracles.lattice import nodes, recoded
from tests.oracles.models.support import Table
from tests.support.database import template
from tests.support.losses import CLOSE, ORACLES
from tests.support.models import search
from tests.support.models.relations import create_ranges, named_arguments, ranges_for
from tests.support.names import quoted

# Names of the quasi-identifiers: some must be quoted, and two together look like a list.
NAMES = ("q0", 'zip "code', "a, b", "Ünïcode)")


@dataclass(frozen=True)
class Projected:
    """A drawn table, what is asked on which places of the quasi-identifiers, and whether respondents are counted.

    `on` is the set of the drawn model, None for all quasi-identifiers; `also` are sets on which k-anonymity is
    required. `entities` has each row's respondent.
    """

    drawn: search.Drawn
    on: tuple[int, ...] | None
    also: tuple[tuple[int, tuple[int, ...] | None], ...]
    entities: tuple[int | None, ...] | None

    @property
    def names(self) -> tuple[str, ...]:
        return NAMES[: len(self.drawn.quasi)]

    def on_text(self, on: tuple[int, ...] | None) -> str:
        return "" if on is None else f", on => ({', '.join(quoted(self.names[place]) for place in on)})"


@st.composite
def projected(draw: st.DrawFn, question: str) -> Projected:
    drawn = draw(search.drawn(question))
    width = len(drawn.quasi)
    some = st.sets(st.integers(0, width - 1), min_size=1).map(lambda places: tuple(sorted(places)))
    anything = st.one_of(some, some, some, st.none())
    sets = [draw(anything) for _ in range(draw(st.integers(1, 2)))]
    on = draw(anything)
    if all(places is not None for places in (on, *sets)):
        covered = {place for places in (on, *sets) for place in places or ()}
        sets.append(tuple(place for place in range(width) if place not in covered) or None)
    also = tuple((draw(st.integers(1, 3)), places) for places in dict.fromkeys(sets))
    if question == "k_anonymity":
        also = tuple((k, places) for k, places in also if places != on)
    size = len(drawn.rows)
    people = st.lists(st.sampled_from((None, 1, 2, 3, 4, 5)), min_size=size, max_size=size).map(tuple)
    entities = st.just(tuple(range(size))) if load_question(question).one_row_each else people
    return Projected(drawn, on, also, draw(st.none() | entities))


def install(case: Projected) -> Connection:
    listed = ", ".join(f"('{value}', '{low}', '{high}')" for value, (low, high) in search.GROUPS.items())
    con = template(f"CREATE HIERARCHY groups AS LEVELS (FROM (VALUES {listed}) AS t)")
    drawn = case.drawn
    columns = ", ".join(f"{quoted(name)} {q.type}" for name, q in zip(case.names, drawn.quasi, strict=True))
    con.execute(f"CREATE TABLE source ({columns}, s {search.sensitive_type(drawn.question)}, g VARCHAR, e INTEGER)")
    for place, row in enumerate(drawn.rows):
        entity = None if case.entities is None else case.entities[place]
        con.duckdb.execute(f"INSERT INTO source VALUES ({', '.join('?' * (len(row) + 1))})", [*row, entity])
    for i, quasi in enumerate(drawn.quasi):
        if quasi.hierarchy:
            con.execute(f"CREATE HIERARCHY h{i} AS {quasi.hierarchy}")
    create_ranges(con, drawn.question, ranges_for(drawn.question, search.RANGES))
    con.execute(policy_text(case))
    return con


def policy_text(case: Projected) -> str:
    question = load_question(case.drawn.question)
    written = {n: f"'{value}'" if isinstance(value, str) else value for n, value in case.drawn.arguments.items()}
    given = [f"{name} => {value}" for name, value in written.items()]
    given += [f"{question.when.argument} => '{question.when.value}'"] if question.when else []
    given += named_arguments(question.name)
    clauses = []
    for i, (name, q) in enumerate(zip(case.names, case.drawn.quasi, strict=True)):
        using = f" USING h{i}" if q.hierarchy else ""
        high = "" if q.high is None else f" MAX LEVEL {q.high}"
        clauses.append(f"{quoted(name)} QUASI IDENTIFIER{using} MIN LEVEL {q.low}{high} WEIGHT {q.weight}")
    asked = [f"{question.model}({', '.join(given)}{case.on_text(case.on)})"]
    asked += [f"k_anonymity(k => {k}{case.on_text(on)})" for k, on in case.also]
    entity = ", e ENTITY" if case.entities is not None else ""
    sensitive = f"s SENSITIVE{search.hierarchy_of(case.drawn.question)}"
    return f"CREATE POLICY p ON source ({', '.join(clauses)}, {sensitive}{entity}) REQUIRE {', '.join(asked)}"


def withheld(case: Projected, keys: Sequence[tuple[Hashable, ...]]) -> set[int] | None:
    """The places of the rows that have to go, round after round; None if what is left still violates at the end.

    `keys` are the rows as a release shows them.
    """
    left = set(range(len(keys)))
    for _ in range(sizes().guard_rounds):
        broken = _violating(case, keys, left)
        if not broken:
            return set(range(len(keys))) - left
        left -= broken
    return None


def _violating(case: Projected, keys: Sequence[tuple[Hashable, ...]], left: set[int]) -> set[int]:
    """The places of the rows in classes that violate, by the set of each requirement."""
    drawn = case.drawn
    arguments = {n: Fraction(v) if isinstance(v, Decimal) else v for n, v in drawn.arguments.items()}
    asked = [(drawn.question, arguments, case.on), *(("k_anonymity", {"k": k}, on) for k, on in case.also)]
    width, broken = len(drawn.quasi), set[int]()
    for question, given, on in asked:
        classes: dict[Hashable, list[int]] = defaultdict(list)
        for place in sorted(left):
            classes[tuple(keys[place][i] for i in (range(width) if on is None else on))].append(place)
        table = Table(
            classes=classes,
            values=[row[width] for row in drawn.rows],
            entities=case.entities,
            taxonomy=search.TAXONOMY,
            ranges=ranges_for(question, search.RANGES),
            guards=[row[width + 1] for row in drawn.rows],
        )
        violating: set[Hashable] = import_module(f"tests.oracles.models.{question}").violating(table, **given)
        broken |= {place for of in violating for place in classes[of]}
    return broken


@dataclass(frozen=True)
class Best:
    """The node of least loss, then of least height, then first by its levels; what it withholds, and what it shows.

    `keys` are the labels of all rows.
    """

    loss: Fraction | float
    levels: tuple[int, ...]
    withheld: set[int]
    keys: list[tuple[Hashable, ...]]
    rows: list[tuple[Any, ...]]


def exhaustive(case: Projected, loss: str = "granularity_loss") -> Best | None:
    """The best of all nodes; None if none satisfies. A class of fewer rows than the k of all columns violates."""
    drawn = case.drawn
    width = len(drawn.quasi)
    plain = [row[:width] for row in drawn.rows]
    taxonomies = [q.taxonomy([key[i] for key in plain]) for i, q in enumerate(drawn.quasi)]
    weights = [Fraction(q.weight) for q in drawn.quasi]
    least = max((k for k, on in _asked_k(case) if on is None), default=1)
    found: list[tuple[Fraction | float, int, tuple[int, ...], Best]] = []
    for node in nodes([q.low for q in drawn.quasi], [q.top for q in drawn.quasi]):
        keys = [recoded(key, taxonomies, node) for key in plain]
        out = withheld(case, keys)
        if out is not None and len(out) <= Fraction(drawn.suppression) * len(keys):
            lost = ORACLES[loss](plain, taxonomies, node, out, weights, least)
            rows = [(*key, drawn.rows[p][width]) for p, key in enumerate(keys) if p not in out]
            found.append((lost, sum(node), node, Best(lost, node, out, keys, rows)))
    if not found:
        return None
    near = min(lost for lost, *_ in found)
    near += CLOSE * float(max(weights)) if isinstance(near, float) else 0
    return min((rank for rank in found if rank[0] <= near), key=lambda rank: rank[1:3])[3]


def _asked_k(case: Projected) -> list[tuple[int, tuple[int, ...] | None]]:
    own = [(case.drawn.arguments["k"], case.on)] if case.drawn.question == "k_anonymity" else []
    return [*own, *case.also]


def changed(case: Projected, rows: Sequence[tuple[Any, ...]], entities: Sequence[int | None]) -> Projected:
    """The same policy over other rows."""
    drawn = replace(case.drawn, rows=tuple(rows))
    return replace(case, drawn=drawn, entities=None if case.entities is None else tuple(entities))


def shown(case: Projected, levels: tuple[int, ...]) -> list[tuple[Any, ...]]:
    """What a live view at these levels has to show of the rows."""
    drawn = case.drawn
    width = len(drawn.quasi)

    def placed(row: Sequence[Any]) -> bool:
        return all(
            level == q.height or q.has_place(value) for q, value, level in zip(drawn.quasi, row, levels, strict=False)
        )

    inside = [place for place, row in enumerate(drawn.rows) if placed(row)]
    rows = [drawn.rows[place] for place in inside]
    entities = [None if case.entities is None else case.entities[place] for place in inside]
    taxonomies = [q.taxonomy([row[i] for row in rows]) for i, q in enumerate(drawn.quasi)]
    keys = [recoded(row[:width], taxonomies, levels) for row in rows]
    gone = withheld(changed(case, rows, entities), keys)
    if gone is None:
        return []
    return [(*key, rows[place][width]) for place, key in enumerate(keys) if place not in gone]
