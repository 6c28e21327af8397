"""Random tables for METHOD mondrian: the policy and the statement as SQL, and the oracle's task for the same rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from typing import Any

from hypothesis import strategies as st

from sqlanon import Connection
from sqlanon.sql.questions.load import Parameter, load_question, question_names
from tests.oracles.hierarchies import period
from tests.oracles.models import k_anonymity
from tests.oracles.models.support import Table
from tests.oracles.mondrian import (
    Attribute,
    Domain,
    Mondrian,
    Options,
    Region,
    ancestor_label,
    bounds,
    range_label,
)
from tests.support.database import template
from tests.support.models.relations import create_ranges, named_arguments, ranges_for, valued
from tests.support.models.search import GROUPS, NODES, NUMBERS, RANGES, TAXONOMY, hierarchy_of, sensitive_type
from tests.support.names import quoted
from tests.support.policies import Quasi, intervals, plain, prefixes, stored

__all__ = ["QUESTIONS", "Case", "Regions", "cases", "digits", "expected", "quoted"]

# k-map and delta-presence compare with a public table, which the method refuses.
# Mondrian has no public table, and judges regions one by one.
QUESTIONS = tuple(
    name
    for name in question_names()
    if "public_class" not in load_question(name).reads and not load_question(name).whole_release
)
# By the label and the bounds of each quasi-identifier, the other columns of the rows.
Regions = dict[tuple[Any, ...], Counter[tuple[Any, ...]]]

_NAMES = ('a "b"', "it's", "select", "é中", "region", "value", "rank_0", "low", "row", "size", "left", "a.b", " ", "q0")
_WEIGHTS = ("1", "1", "1", "2", "0.5", "3.25", "0.1", "0.3", "0.000001")
_HUGE = (-(2**63), -1, 0, 2**53, 2**53 + 1, 2**63 - 1)
_DOUBLES = (-1e300, -0.5, 0.1, 0.2, 0.30000000000000004, 1e17, 1e300)
_DECIMALS = tuple(map(Decimal, ("-9999999.99", "-0.01", "0.00", "0.10", "0.20", "0.30", "9999999.99")))
_DATES = (date(1, 1, 1), date(1969, 12, 31), date(1970, 1, 1), date(1970, 1, 31), date(2000, 2, 29), date(9999, 12, 31))
_MOMENTS = (
    datetime(1582, 10, 15, 1, 2, 3),
    datetime(1969, 12, 31, 23, 59, 59, 999_999),
    datetime(1970, 1, 1),
    datetime(1970, 1, 1, 0, 0, 0, 1),
    datetime(2024, 2, 29, 12),
)
_TEXTS = ("", " ", "*", "NULL", "[a, b]", "a or NULL", 'a "b"', "it's", "B", "a", "é", "\n")


@dataclass(frozen=True)
class Case:
    """A table, a policy with one model and k-anonymity, and the method's options.

    The rows hold the quasi-identifiers by their names, the respondent `who`, the sensitive
    value `s`, the guarding node `g`, and what is published as it is: `c`, and the place `n`.
    """

    quasi: tuple[Quasi, ...]
    names: tuple[str, ...]
    rows: tuple[dict[str, Any], ...]
    entity: bool
    question: str
    arguments: dict[str, Any]
    k: int
    options: Options
    publish: str

    def install(self) -> Connection:
        """The table, the hierarchies and the policy `p` in a database of their own."""
        listed = ", ".join(f"('{value}', '{low}', '{high}')" for value, (low, high) in GROUPS.items())
        con = template(f"CREATE HIERARCHY groups AS LEVELS (FROM (VALUES {listed}) AS t)")
        columns = [f"{quoted(name)} {q.type}" for name, q in zip(self.names, self.quasi, strict=True)]
        columns += ["who INTEGER", f"s {sensitive_type(self.question)}", "g VARCHAR", "c VARCHAR", "n INTEGER"]
        con.execute(f"CREATE TABLE t ({', '.join(columns)})")
        for row in self.rows:
            con.duckdb.execute(f"INSERT INTO t VALUES ({', '.join('?' * len(row))})", [*row.values()])
        for place, q in enumerate(self.quasi):
            if q.hierarchy:
                con.execute(f"CREATE HIERARCHY h{place} AS {q.hierarchy}")
        create_ranges(con, self.question, ranges_for(self.question, RANGES))
        con.execute(f"CREATE POLICY p ON t ({self._attributes()}) REQUIRE {self._requirements()}")
        return con

    @property
    def statement(self) -> str:
        given = [f"mode => '{self.options.mode}'", f"split => '{self.options.split}'"]
        given += [f"target => {self.options.target}"] if self.options.target else []
        given += [f"hierarchy => '{self.options.hierarchy}'", f"publish => '{self.publish}'", "bounds => true"]
        return f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD mondrian({', '.join(given)})"

    def _attributes(self) -> str:
        parts = []
        for place, (name, q) in enumerate(zip(self.names, self.quasi, strict=True)):
            using = f" USING h{place}" if q.hierarchy else ""
            weight = f" WEIGHT {q.weight}" if q.weight != 1 else ""
            parts.append(f"{quoted(name)} QUASI IDENTIFIER{using}{weight}")
        parts += ["who ENTITY"] if self.entity else []
        return ", ".join([*parts, f"s SENSITIVE{hierarchy_of(self.question)}", "c INSENSITIVE", "n INSENSITIVE"])

    def _requirements(self) -> str:
        question = load_question(self.question)
        written = {name: f"'{value}'" if isinstance(value, str) else value for name, value in self.arguments.items()}
        given = [f"{name} => {value}" for name, value in written.items()]
        given += [f"{question.when.argument} => '{question.when.value}'"] if question.when else []
        given += named_arguments(self.question)
        also = "" if self.question == "k_anonymity" else f", k_anonymity(k => {self.k})"
        return f"{question.model}({', '.join(given)}){also}"

    def satisfied(self, region: Region) -> bool:
        """Whether a region meets both requirements; all other rows are there too, as a class of their own."""
        others = sorted(set(range(len(self.rows))) - set(region))
        classes: dict[Hashable, list[int]] = {"own": region, **({"others": others} if others else {})}
        table = Table(
            classes=classes,
            values=[row["s"] for row in self.rows],
            entities=[row["who"] for row in self.rows] if self.entity else None,
            taxonomy=TAXONOMY,
            ranges=ranges_for(self.question, RANGES),
            guards=[row["g"] for row in self.rows],
        )
        arguments = {n: Fraction(v) if isinstance(v, Decimal) else v for n, v in self.arguments.items()}
        broken = import_module(f"tests.oracles.models.{self.question}").violating(table, **arguments)
        if self.question != "k_anonymity":
            broken |= k_anonymity.violating(table, self.k)
        return "own" not in broken

    def domains(self, texts: Mapping[str, Callable[[Any], str]]) -> list[Domain]:
        """The quasi-identifiers' values in order; `texts` tells how a column's values are printed."""
        found = []
        for name, q in zip(self.names, self.quasi, strict=True):
            taxonomy = q.taxonomy([row[name] for row in self.rows])
            paths = {leaf: path[1:] for leaf, path in taxonomy.paths.items()} if q.hierarchy else None
            found.append(Domain(Attribute(name, _order(q), float(q.weight), paths, texts.get(name, str)), self.rows))
        return found

    def partition(self, domains: Sequence[Domain]) -> list[Region] | None:
        return Mondrian(self.rows, domains, self.options, self.satisfied).partition()

    @property
    def drawn(self) -> bool:
        """Whether rows with the same quasi-identifiers, which a relaxed cut parts anyhow, differ in what is asked."""
        asked = ["s"] if load_question(self.question).of_sensitive_values else []
        asked += ["who"] if self.entity else []
        known: dict[tuple[Any, ...], tuple[Any, ...]] = {}
        for row in self.rows:
            own = tuple(row[name] for name in asked)
            if known.setdefault(tuple(row[name] for name in self.names), own) != own:
                return True
        return False


def expected(case: Case, domains: Sequence[Domain], partition: Sequence[Region], columns: Sequence[str]) -> Regions:
    """What is published of a partition; regions that look the same are one."""
    label = range_label if case.publish == "range" else ancestor_label
    found: Regions = {}
    for region in partition:
        shown = [(label(domain, region), *bounds(domain, region)) for domain in domains]
        rows = Counter(tuple(case.rows[place][name] for name in columns) for place in region)
        found.setdefault(tuple(part for parts in shown for part in parts), Counter()).update(rows)
    return found


def _order(q: Quasi) -> str:
    """How an attribute's values are ordered."""
    if q.hierarchy and q.hierarchy.startswith(("PREFIXES", "LEVELS", "PARENTS")):
        return "tree"
    numeric = q.type in ("INTEGER", "BIGINT", "DOUBLE", "DECIMAL(9,2)", "DATE", "TIMESTAMP")
    return "numeric" if numeric else "values"


def _flat(kind: str, domain: Sequence[Any]) -> Quasi:
    return Quasi(kind, None, 1, (None, *domain), lambda value: ())


def _calendar(kind: str, units: Sequence[str], domain: Sequence[date]) -> Quasi:
    def path(value: date | None) -> tuple[Any, ...]:
        if value is None:
            return (None,) * len(units)
        days = value.toordinal() - date(1970, 1, 1).toordinal()
        return tuple(period(unit, days) for unit in units)

    return Quasi(kind, f"CALENDAR ({', '.join(units)})", len(units) + 1, (None, *domain), path)


def digits() -> Quasi:
    """Numbers along a tree that is not in their order: 1, 10 and 12 stand before 2."""

    def path(value: int | None) -> tuple[Any, ...]:
        text = "" if value is None else str(value)
        return (None if value is None else text[:1] + "*" * (len(text) - 1),)

    return Quasi("INTEGER", "PREFIXES (1)", 2, (None, 1, 2, 10, 12, 21, 100, -1, -12), path)


def _codes() -> Quasi:
    """Numbers that a stored tree lists, some without a row; NULL lies within it."""
    labels: dict[Any, tuple[str, ...]] = {9: ("x", "u"), 10: ("y", "u"), -3: ("y", "u"), 4: ("z", "v"), 7: ("x", "u")}
    labels[None] = ("x", "u")
    rows = ", ".join(
        f"({'NULL' if value is None else repr(str(value))}, '{low}', '{high}')" for value, (low, high) in labels.items()
    )
    text = f"LEVELS (SELECT * FROM (VALUES {rows}))"
    return Quasi("INTEGER", text, 3, (None, 9, 10, -3, 4), labels.get, listed=(*labels,))


def _attributes() -> st.SearchStrategy[Quasi]:
    more = [
        _flat("BIGINT", _HUGE),
        _flat("DOUBLE", _DOUBLES),
        _flat("DECIMAL(9,2)", _DECIMALS),
        _flat("DATE", _DATES),
        _flat("TIMESTAMP", _MOMENTS),
        _flat("VARCHAR", _TEXTS),
        _calendar("DATE", ("MONTH", "YEAR"), _DATES),
        _calendar("TIMESTAMP", ("DAY", "CENTURY"), _MOMENTS),
        digits(),
        _codes(),
    ]
    return st.one_of(st.sampled_from(more), intervals(), prefixes(), stored(), plain())


def _argument(parameter: Parameter) -> st.SearchStrategy[Any]:
    if parameter.type == "TEXT":
        return st.sampled_from(parameter.choices)
    low, high = parameter.low, parameter.high
    assert low is not None
    assert high is not None
    numbers = map(Decimal, range(1, 4)) if parameter.type == "BIGINT" else NUMBERS
    found = [number for number in numbers if low <= number <= high]
    return st.sampled_from([int(number) for number in found] if parameter.type == "BIGINT" else found)


@st.composite
def cases(draw: st.DrawFn, question: str, modes: Sequence[str] = ("strict",), size: int = 24) -> Case:
    """Up to `size` rows, or a few more where each combination of some has all sensitive values.

    In half of the relaxed cases the respondent and the sensitive value depend on the quasi-identifiers.
    """
    quasi = [
        replace(draw(_attributes()), weight=Decimal(draw(st.sampled_from(_WEIGHTS))))
        for _ in range(draw(st.sampled_from([2, 1, 3])))
    ]
    names = draw(st.permutations(_NAMES))[: len(quasi)]
    pool = draw(st.sampled_from([("a", "b"), ("a", "b", "c", "d"), ("a", "b", None), ("a", "a", "d"), ("c",)]))
    domains = [draw(st.lists(st.sampled_from(q.domain), min_size=1, max_size=6, unique=True)) for q in quasi]
    count = draw(st.sampled_from([number for number in (24, 16, 12, 9, 8, 5, 4, 2, 1, size) if number <= size]))
    keys = draw(st.lists(st.tuples(*map(st.sampled_from, domains)), min_size=count, max_size=count))
    if draw(st.booleans()):
        keys = [key for key in keys[: 1 + count // len(pool)] for _ in pool]
        values = [*pool] * (len(keys) // len(pool))
    else:
        values = draw(st.lists(st.sampled_from(pool), min_size=count, max_size=count))
    values = [valued(question, value) for value in values]
    rest = st.tuples(st.sampled_from([None, *range(12)]), st.sampled_from(NODES), st.sampled_from(["x", "y", None]))
    rows = [
        {**dict(zip(names, key, strict=True)), "who": who, "s": value, "g": guard, "c": other, "n": n}
        for n, (key, value) in enumerate(zip(keys, values, strict=True))
        for who, guard, other in [draw(rest)]
    ]
    mode = draw(st.sampled_from(modes))
    if mode == "relaxed" and draw(st.booleans()):
        chosen = dict(zip(keys, rows, strict=True))
        rows = [{**row, "who": chosen[key]["who"], "s": chosen[key]["s"]} for key, row in zip(keys, rows, strict=True)]
    parameters = [p for p in load_question(question).parameters if p.type not in ("RELATION", "COLUMN")]
    arguments = {p.name: draw(_argument(p)) for p in parameters}
    k = draw(st.integers(1, 3))
    # Respondents are drawn with several rows.
    entity = draw(st.integers(0, 3)) == 0 and not load_question(question).one_row_each
    split = draw(st.sampled_from(["median", "median", "information_gain"])) if mode == "strict" else "median"
    options = Options(
        mode,
        split,
        draw(st.sampled_from("sc")) if split == "information_gain" else None,
        draw(st.sampled_from(["order", "tree"])),
        max(arguments.get("k", 1), k if question != "k_anonymity" else 1),
    )
    publish = draw(st.sampled_from(["range", "range", "ancestor"]))
    return Case(tuple(quasi), tuple(names), tuple(rows), entity, question, arguments, k, options, publish)
