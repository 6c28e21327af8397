"""Drawn tables under a model: what the search of the lattice finds, and an oracle that looks at every node."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from typing import Any

from hypothesis import assume, event
from hypothesis import strategies as st

from sqlanon import Connection, PrivacyViolation
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.methods.generalization.explain import Generalization
from sqlanon.release.pipeline.encode import encode_stage, solve_stage
from sqlanon.release.pipeline.resolve import bind_stage, resolve_stage
from sqlanon.release.pipeline.stages import Requested
from sqlanon.sql.questions.load import Parameter, load_question
from sqlanon.sql.sizes import sizes
from sqlanon.statements.parser import parse_script
from tests.oracles.granularity_loss import granularity_loss
from tests.oracles.lattice import nodes, recoded
from tests.oracles.models.support import Table
from tests.support.database import template
from tests.support.models.relations import NUMBERS_TYPE, create_ranges, named_arguments, of_numbers, ranges_for, valued
from tests.support.policies import SUPPRESSIONS, Quasi, quasi_identifiers

VALUES = ("a", "b", "c", "d")
GROUPS = {"a": ("low", "all"), "b": ("low", "all"), "c": ("high", "all"), "d": ("odd", "other")}
# NULL is not listed, nor is a value that comes later: each has a branch of its own.
TAXONOMY: dict[Hashable, Sequence[Hashable]] = {
    **GROUPS,
    None: (("alone", 1), ("alone", 2)),
    "e": (("alone", 3), ("alone", 4)),
}
NODES = (None, None, "a", "c", "low", "high", "all", "other")
RANGES = {"a": (None, Fraction(3, 4)), "b": (Fraction(0), Fraction(1, 2)), "d": (Fraction(1, 4), None)}
NUMBERS = tuple(map(Decimal, "0.1 0.2 0.25 0.3 0.5 0.6 0.75 1 1.5 2 3".split()))


@dataclass(frozen=True)
class Drawn:
    """Rows of (quasi-identifiers, sensitive value, guarding node), public rows, and a model with its arguments."""

    quasi: tuple[Quasi, ...]
    rows: tuple[tuple[Any, ...], ...]
    public: tuple[tuple[Any, ...], ...]
    question: str
    arguments: dict[str, Any]
    k: int
    suppression: str
    within: tuple[tuple[int, int], ...] = ()


@st.composite
def drawn_within(draw: st.DrawFn, question: str) -> Drawn:
    """A model that compares each class with that of its labels of some quasi-identifiers, each at a level."""
    case = draw(drawn(question))
    levels = {i: st.integers(q.low, q.height - 1) for i, q in enumerate(case.quasi) if q.low < q.height}
    assume(levels)
    columns = draw(st.sets(st.sampled_from(sorted(levels)), min_size=1))
    return replace(case, within=tuple((i, draw(levels[i])) for i in sorted(columns)))


@st.composite
def drawn(draw: st.DrawFn, question: str) -> Drawn:
    quasi = tuple(draw(st.lists(quasi_identifiers(), min_size=1, max_size=3)))
    domains = [draw(st.lists(st.sampled_from(q.domain), min_size=1, max_size=3, unique=True)) for q in quasi]
    keys = st.tuples(*map(st.sampled_from, domains))
    pool = draw(st.sampled_from([VALUES, ("a", "b", None), ("a", "a", "a", "d"), ("c",)]))
    row = st.tuples(keys, st.sampled_from(pool), st.sampled_from(NODES)).map(lambda r: (*r[0], *r[1:]))
    size = draw(st.sampled_from([16, 14, 12, 10, 8, 6, 4, 2, 1]))
    rows = tuple(draw(st.lists(row, min_size=size, max_size=size)))
    more = draw(st.lists(keys, max_size=12))
    parameters = load_question(question).parameters
    arguments = {p.name: draw(_argument(p)) for p in parameters if p.type not in ("RELATION", "COLUMN")}
    if "superset" in load_question(question).reads:
        arguments["n"] = draw(st.integers(1, len(rows)))
    if {"min", "max"} <= arguments.keys():
        arguments["min"], arguments["max"] = sorted([arguments["min"], arguments["max"]])
    public = (*(r[: len(quasi)] for r in rows), *more)
    k, suppression = draw(st.integers(1, 3)), draw(st.sampled_from(SUPPRESSIONS))
    return with_values(Drawn(quasi, rows, public, question, arguments, k, suppression))


def with_values(case: Drawn) -> Drawn:
    """The case with the values that its model is given in place of letters."""
    width = len(case.quasi)
    rows = ((*row[:width], valued(case.question, row[width]), *row[width + 1 :]) for row in case.rows)
    return replace(case, rows=tuple(rows))


def sensitive_type(question: str) -> str:
    """The type of the sensitive column."""
    return NUMBERS_TYPE if of_numbers(question) else "VARCHAR"


def hierarchy_of(question: str) -> str:
    """The hierarchy of the sensitive column, which numbers need none of."""
    return "" if of_numbers(question) else " USING groups"


def _argument(parameter: Parameter) -> st.SearchStrategy[Any]:
    if parameter.type == "TEXT":
        return st.sampled_from(parameter.choices)
    low, high = parameter.low, parameter.high
    assert low is not None
    assert high is not None
    if parameter.type == "BIGINT":
        return st.integers(int(low), int(min(high, 3)))
    return st.sampled_from([number for number in NUMBERS if low <= number <= high])


def install(case: Drawn) -> Connection:
    listed = ", ".join(f"('{value}', '{low}', '{high}')" for value, (low, high) in GROUPS.items())
    con = template(f"CREATE HIERARCHY groups AS LEVELS (FROM (VALUES {listed}) AS t)")
    columns = ", ".join(f"q{i} {q.type}" for i, q in enumerate(case.quasi))
    con.execute(f"CREATE TABLE source ({columns}, s {sensitive_type(case.question)}, g VARCHAR)")
    con.execute(f"CREATE TABLE everybody ({columns})")
    for name, rows in (("source", case.rows), ("everybody", case.public)):
        for row in rows:
            con.duckdb.execute(f"INSERT INTO {name} VALUES ({', '.join('?' * len(row))})", list(row))
    for i, quasi in enumerate(case.quasi):
        if quasi.hierarchy:
            con.execute(f"CREATE HIERARCHY h{i} AS {quasi.hierarchy}")
    create_ranges(con, case.question, ranges_for(case.question, RANGES))
    con.execute(policy_text(case))
    return con


def policy_text(case: Drawn) -> str:
    question = load_question(case.question)
    written = {name: f"'{value}'" if isinstance(value, str) else value for name, value in case.arguments.items()}
    given = [f"{name} => {value}" for name, value in written.items()]
    given += [f"{question.when.argument} => '{question.when.value}'"] if question.when else []
    given += named_arguments(question.name)
    given += [f"within => ({', '.join(f'q{i} LEVEL {level}' for i, level in case.within)})"] if case.within else []
    clauses = []
    for i, q in enumerate(case.quasi):
        using = f" USING h{i}" if q.hierarchy else ""
        high = "" if q.high is None else f" MAX LEVEL {q.high}"
        clauses.append(f"q{i} QUASI IDENTIFIER{using} MIN LEVEL {q.low}{high} WEIGHT {q.weight}")
    against = "AGAINST everybody " if "public_class" in question.reads else ""
    also = "" if question.name == "k_anonymity" else f", k_anonymity(k => {case.k})"
    asked = f"{question.model}({', '.join(given)}){also}"
    clauses.append(f"s SENSITIVE{hierarchy_of(case.question)}")
    return f"CREATE POLICY p ON source ({', '.join(clauses)}) {against}REQUIRE {asked}"


def solved(con: Connection, case: Drawn) -> Generalization | None:
    method = f"METHOD generalization(suppression => {case.suppression})"
    (statement,) = parse_script(f"EXPLAIN ANONYMIZED TABLE t AS POLICY p {method}")
    engine = DuckDBEngine(con.duckdb)
    with engine.transaction(), TempTables(engine) as temp:
        encoded = encode_stage(bind_stage(resolve_stage(Requested(engine, statement.create, temp))))
        try:
            return solve_stage(encoded).choice
        except PrivacyViolation:
            return None


def broader(case: Drawn, node: Sequence[int]) -> dict[Hashable, set[Hashable]]:
    """The classes of a node, each with its key at each vector of levels that is at least as general."""
    keys = [row[: len(case.quasi)] for row in case.rows]
    taxonomies = [q.taxonomy([key[i] for key in keys]) for i, q in enumerate(case.quasi)]
    vectors = nodes(list(node), [q.height for q in case.quasi])
    if case.within:
        vectors = [tuple(dict(case.within).get(i, q.height) for i, q in enumerate(case.quasi))]
    return {
        recoded(key, taxonomies, tuple(node)): {(vector, recoded(key, taxonomies, vector)) for vector in vectors}
        for key in dict.fromkeys(keys)
    }


def violating(
    case: Drawn,
    classes: dict[Hashable, list[int]],
    public: dict[Hashable, int],
    above: dict[Hashable, set[Hashable]] | None = None,
) -> set[Hashable]:
    """The classes that violate a requirement, those of the public table alone among them."""
    arguments = {n: Fraction(v) if isinstance(v, Decimal) else v for n, v in case.arguments.items()}
    width = len(case.quasi)
    table = Table(
        classes=classes,
        values=[row[width] for row in case.rows],
        taxonomy=TAXONOMY,
        ranges=ranges_for(case.question, RANGES),
        guards=[row[width + 1] for row in case.rows],
        public=public,
        broader=above,
    )
    oracle = case.question
    if case.within:
        # Of one broader class each, however few rows it has.
        oracle, arguments = oracle.replace("_t_", "_nt_"), arguments | {"n": Fraction(1)}
    broken: set[Hashable] = import_module(f"tests.oracles.models.{oracle}").violating(table, **arguments)
    if case.question != "k_anonymity":
        broken |= {of for of, places in classes.items() if len(places) < case.k}
    return broken


def withheld(
    case: Drawn,
    classes: dict[Hashable, list[int]],
    public: dict[Hashable, int],
    above: dict[Hashable, set[Hashable]] | None = None,
) -> set[int] | None:
    """The places of the rows that have to go, round after round; None if what is left still violates at the end."""
    left = dict(classes)
    for _ in range(sizes().guard_rounds):
        broken = violating(case, left, public, above)
        if not broken:
            return {place for of, places in classes.items() if of not in left for place in places}
        left = {of: places for of, places in left.items() if of not in broken}
    return None


def exhaustive(case: Drawn) -> tuple[Fraction, int, tuple[int, ...], int] | None:
    """The least loss, height, levels and number of suppressed rows of all nodes."""
    width = len(case.quasi)
    keys = [row[:width] for row in case.rows]
    taxonomies = [q.taxonomy([key[i] for key in keys]) for i, q in enumerate(case.quasi)]
    # The public table's values have labels too, but are no leaves of the source's.
    everybody = [q.taxonomy([row[i] for row in case.public]) for i, q in enumerate(case.quasi)]
    weights = [Fraction(q.weight) for q in case.quasi]
    found = []
    tops = [min(q.top, dict(case.within).get(i, q.top)) for i, q in enumerate(case.quasi)]
    for node in nodes([q.low for q in case.quasi], tops):
        classes: dict[Hashable, list[int]] = defaultdict(list)
        for place, key in enumerate(keys):
            classes[recoded(key, taxonomies, node)].append(place)
        public: dict[Hashable, int] = defaultdict(int)
        for row in case.public:
            public[recoded(row, everybody, node)] += 1
        above = broader(case, node) if case.within or "superset" in load_question(case.question).reads else None
        out = withheld(case, dict(classes), dict(public), above)
        if out is not None and len(out) <= Fraction(case.suppression) * len(keys):
            loss = granularity_loss(keys, taxonomies, node, out, weights)
            found.append((loss, sum(node), node, len(out)))
    return min(found, default=None)


def assert_optimal(case: Drawn) -> None:
    con = install(case)
    best, found = exhaustive(case), solved(con, case)
    con.close()
    event("infeasible" if best is None else "suppressed some" if best[3] else "suppressed none")
    if best is None:
        assert found is None
        return
    assert found is not None
    assert (found.loss, sum(found.levels), found.levels, found.suppressed) == best
    assert found.proven
