"""What each method can do: each ability is used in one statement, and carried out, or refused in the method's words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path

import pytest

from sqlanon import Connection, PolicyError
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.export.warehouses.compiled import compiled
from sqlanon.methods.limits import Limits, Refusal
from sqlanon.methods.registry import METHODS
from sqlanon.release.pipeline.resolve import resolve_stage
from sqlanon.release.pipeline.stages import Requested
from sqlanon.statements.parser import parse_script
from sqlanon.statements.policies.create_policy import CreatePolicy
from sqlanon.statements.releases.create_release import CreateRelease
from tests.support import methods
from tests.support.database import rows, template
from tests.support.methods import limits_of

SETUP = """
CREATE TABLE visits AS SELECT 'v' || i AS visit, i % 6 AS age, 'z' || (i % 4) AS zip, 'd' || (i * 7 % 5) AS disease,
    'w' || (i // 7 % 3) AS ward, '*' AS guard, ['i' || (i % 3)] AS items,
    DATE '2024-01-01' + CAST(i AS INTEGER) AS seen FROM range(240) AS t(i);
CREATE TABLE notes AS SELECT visit, 'n' AS note FROM visits;
CREATE TABLE voters AS SELECT age, zip FROM visits;
CREATE HIERARCHY diseases AS LEVELS (SELECT 'd' || i FROM range(5) AS t(i));
CREATE HIERARCHY groups AS LEVELS (SELECT 'd' || i, 'g' || i FROM range(5) AS t(i));
CREATE TABLE guests AS SELECT i % 6 AS age, 'n' || i AS note FROM range(60) AS t(i);
CREATE POLICY notes ON guests (age QUASI IDENTIFIER, note SENSITIVE) REQUIRE k_anonymity(k => 2);
CREATE ANONYMIZED TABLE other AS POLICY notes METHOD generalization;
"""


@dataclass(frozen=True)
class Use:
    """The parts of a policy and of the statement that publishes it."""

    visit: str = "IDENTIFIER"
    age: str = "QUASI IDENTIFIER"
    zip: str = "QUASI IDENTIFIER"
    items: str = "IDENTIFIER"
    confidential: str = ""
    require: str = ""
    kind: str = "TABLE"
    fragments: str = ""
    series: str = ""
    related: str = ""
    ward: str = "SENSITIVE"
    joined: str = ""
    seen: str = "IDENTIFIER"
    disease: str = "diseases"

    @property
    def required(self) -> str:
        """JOINED and REQUIRE, as far as the policy has them."""
        if not self.joined:
            return self.require
        of_classes = f"{self.require}, " if self.require else "REQUIRE "
        return f"JOINED WITH RELEASE other ON (age) {of_classes}{self.joined}"


# What every method can do, but for those that need something CONFIDENTIAL, and what these can.
PLAIN = Use(require="REQUIRE l_diversity(l => 2, variant => 'probabilistic')")
APART = Use(confidential="CONFIDENTIAL (zip, disease)")
IN_SERIES = replace(PLAIN, visit="ENTITY", ward="IDENTIFIER", series="IN SERIES monthly")
# Of a method that takes lists and no other requirement.
LISTED = Use(items="QUASI IDENTIFIER", require="REQUIRE km_anonymity(k => 2, m => 2)")
# Of a method that takes several tables.
RELATED = Use(
    visit="ENTITY",
    ward="INSENSITIVE",
    require="REQUIRE k_anonymity(k => 2)",
    related="WITH TABLE notes ON (visit) (note INSENSITIVE)",
)
# Of a method that pays, over the columns here.
PAID = {
    "dp_histogram": "dp_histogram(by => (disease), epsilon => 1, budget => paid)",
    "dp_synthetic": "dp_synthetic(epsilon => 1, columns => (disease), budget => paid)",
}
CALLS = (
    *(
        PAID.get(name, call.removesuffix(methods.IN_SERIES))
        for name, (_, call) in methods.CALLS.items()
        if name != methods.EXAMPLE
    ),
    "mondrian(mode => 'relaxed')",
    "mondrian(publish => 'none')",
)
# One statement that uses the ability, and no other that a method may lack.
USES: Mapping[str, Mapping[str, str]] = {
    "related": {
        "related": RELATED.related,
        **{"visit": "ENTITY", "confidential": "", "require": RELATED.require, "series": ""},
    },
    "without_related": {"related": ""},
    "view": {"kind": "VIEW"},
    "series": {"visit": "ENTITY", "series": "IN SERIES monthly"},
    "without_series": {"series": ""},
    "unconstrained": {"confidential": "", "require": PLAIN.require},
    "confidential": {"confidential": "CONFIDENTIAL (zip, disease)"},
    "sets": {"fragments": "FRAGMENTS (age, zip), (disease, ward)"},
    "columns": {"fragments": "COLUMNS (age, zip), (disease), (ward)"},
    "requirements": {"require": "REQUIRE k_anonymity(k => 2)"},
    "shifts": {"visit": "ENTITY", "seen": "INSENSITIVE SHIFT (DAYS => 9)"},
    "respondents": {"visit": "ENTITY"},
    "pseudonyms": {"visit": "IDENTIFIER PSEUDONYM"},
    "min_level": {"zip": "QUASI IDENTIFIER MIN LEVEL 1"},
    "labels": {"disease": "groups MIN LEVEL 1"},
    "max_level": {"zip": "QUASI IDENTIFIER MAX LEVEL 0"},
    "public": {"require": "AGAINST voters REQUIRE k_map(k => 2)"},
    "guarding": {"require": "REQUIRE personalized(p => 1, guarding => guard, attribute => disease)"},
    "samples": {"require": "REQUIRE k_map_estimated(k => 1, sampling_fraction => 0.5)"},
    "jointly": {"require": "REQUIRE l_diversity(l => 2, jointly => true)", "ward": "SENSITIVE"},
    "projections": {"require": "REQUIRE k_anonymity(k => 2, on => (age)), k_anonymity(k => 2, on => (zip))"},
    "whole": {"require": "REQUIRE ck_safety(c => 1, k => 0, attribute => disease)"},
    "broader": {"require": "REQUIRE nt_closeness(n => 2, t => 1, attribute => disease)"},
    "itemsets": {"items": LISTED.items, "require": LISTED.require},
    # Beside what a method is required of classes.
    "joined": {"joined": "xy_anonymity(x => zip, y => note, k => 2)"},
}

# The abilities that only requirements use.
OF_REQUIREMENTS = ("public", "guarding", "samples", "jointly", "projections", "whole", "broader")
# The abilities, the last two of which no statement uses: on which engine rows are, and what is made again elsewhere.
ABILITIES = (*USES, "on_spark", "scripted")


@pytest.fixture
def con() -> Iterator[Connection]:
    with template(SETUP) as connection:
        yield connection


@pytest.fixture(scope="module")
def asked() -> Iterator[Connection]:
    """A database for what is refused before anything is written."""
    with template(SETUP) as connection:
        yield connection


def statements(call: str, use: Use) -> tuple[str, str]:
    """CREATE POLICY, and the statement that publishes it."""
    roles = (
        f"visit {use.visit}, age {use.age}, zip {use.zip}, disease SENSITIVE USING {use.disease}, ward {use.ward}, "
        f"guard IDENTIFIER, items {use.items}, seen {use.seen}"
    )
    return (
        f"CREATE POLICY p ON visits ({roles}) {use.related} {use.confidential} {use.required}",
        f"CREATE ANONYMIZED {use.kind} made AS POLICY p METHOD {call} {use.fragments} {use.series}",
    )


def publish(con: Connection, call: str, use: Use) -> None:
    policy, release = statements(call, use)
    con.execute(policy)
    if "budget => paid" in call and not use.related and not DuckDBEngine(con.duckdb).distributed:
        con.execute("CREATE BUDGET paid ON POLICY p (epsilon => 9, delta => 1e-6)")
    if use.series:
        con.execute("CREATE SERIES monthly ON POLICY p KEY 'SQLANON_TEST_KEY'")
    con.execute(release)


def resolve(con: Connection, call: str, use: Use) -> None:
    """The stage of CREATE that compares what the policy and the statement need with what the method can do."""
    create_policy, create = parse_script(";".join(statements(call, use)))
    assert isinstance(create_policy, CreatePolicy)
    assert isinstance(create, CreateRelease)
    engine = DuckDBEngine(con.duckdb)
    with TempTables(engine) as temp:
        resolve_stage(Requested(engine, create, temp, policy=create_policy.policy))


def base_of(limits: Limits) -> Use:
    """A policy and a statement that the method can carry out."""
    if limits.without_related:
        return RELATED
    if limits.itemsets is None:
        return LISTED
    if limits.without_series:
        return IN_SERIES
    return PLAIN if limits.unconstrained is None else APART


def use_of(call: str, ability: str) -> Use:
    """A use of the ability, and of no other that the method lacks."""
    limits = limits_of(call)
    listed = limits.itemsets is None
    base = base_of(limits)
    changed = dict(USES[ability])
    if limits.without_related and ability == "pseudonyms":
        # The respondents of several tables have numbers.
        changed = {"ward": "IDENTIFIER PSEUDONYM"}
    if listed and ability == "unconstrained":
        del changed["require"]
    elif listed and "require" in changed and "items" not in changed:
        # The public table has no lists.
        changed["items"] = "IDENTIFIER"
    use = replace(base, **changed)
    # A series knows the rows by it.
    return replace(use, visit=use.visit.replace("IDENTIFIER", "ENTITY")) if use.series else use


def refusal_of(call: str, ability: str) -> Refusal | None:
    """The sentence about an ability; of requirements of some kind that of any where the method meets none."""
    limits = limits_of(call)
    refusal = getattr(limits, "requirements" if limits.requirements and ability in OF_REQUIREMENTS else ability)
    assert refusal is None or isinstance(refusal, Refusal)
    return refusal


def assert_said(error: PolicyError, refusal: Refusal | None) -> None:
    assert refusal is not None
    for said, sentence in ((error.message, refusal.sentence), (error.hint, refusal.hint)):
        words = map(re.escape, re.split(r"\{\w+\}", sentence))
        assert re.fullmatch(".+".join(words), said or "")


def made(con: Connection) -> list[tuple[int]]:
    """The number of tables of the release."""
    return rows(con, "SELECT count(*) FROM information_schema.tables WHERE table_name LIKE 'made%'")


# What a policy with related tables cannot have, whatever the method.
OF_ONE_TABLE = ("confidential", *OF_REQUIREMENTS, "itemsets", "joined")
PAIRS = [
    (call, ability)
    for call in CALLS
    for ability in USES
    if not (limits_of(call).without_related and ability in OF_ONE_TABLE)
]
REFUSED = [pair for pair in PAIRS if refusal_of(*pair) is not None]
# The first method that refuses an ability.
FIRST = [next(pair for pair in REFUSED if pair[1] == ability) for ability in dict.fromkeys(used for _, used in REFUSED)]


def test_every_ability_has_a_line_here() -> None:
    assert list(ABILITIES) == [one.name for one in fields(Limits)]


@pytest.mark.one_in(80)
@pytest.mark.parametrize(("call", "ability"), [pair for pair in PAIRS if pair not in REFUSED])
def test_an_ability_is_carried_out(con: Connection, call: str, ability: str) -> None:
    publish(con, call, use_of(call, ability))
    assert made(con) > [(0,)]


@pytest.mark.one_in(24)
@pytest.mark.parametrize(("call", "ability"), REFUSED)
def test_an_ability_is_refused_in_the_method_s_words(asked: Connection, call: str, ability: str) -> None:
    with pytest.raises(PolicyError) as raised:
        resolve(asked, call, use_of(call, ability))
    assert_said(raised.value, refusal_of(call, ability))


# The quick part has one method of each ability.
@pytest.mark.parametrize(
    ("call", "ability"), [pair if pair in FIRST else pytest.param(*pair, marks=pytest.mark.long) for pair in REFUSED]
)
def test_what_is_refused_publishes_nothing(con: Connection, call: str, ability: str) -> None:
    with pytest.raises(PolicyError) as raised:
        publish(con, call, use_of(call, ability))
    assert_said(raised.value, refusal_of(call, ability))
    assert made(con) == [(0,)]


# A method that needs a series has none there before it is asked.
ON_DUCKDB = [call for call in CALLS if limits_of(call).on_spark and limits_of(call).without_series is None]


# The quick part carries out one statement, and asks the stage about the others.
@pytest.mark.parametrize(
    ("ask", "call"),
    [
        *((resolve, call) for call in ON_DUCKDB),
        (publish, ON_DUCKDB[0]),
        *(pytest.param(publish, call, marks=pytest.mark.long) for call in ON_DUCKDB[1:]),
    ],
)
def test_rows_elsewhere_are_refused_in_the_method_s_words(
    con: Connection, ask: Callable[[Connection, str, Use], None], call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = limits_of(call)
    refusal = limits.on_spark
    assert refusal is not None
    monkeypatch.setattr(DuckDBEngine, "distributed", True)
    with pytest.raises(PolicyError) as raised:
        ask(con, call, base_of(limits))
    assert raised.value.message == refusal.sentence.format(method=call.partition("(")[0], policy="policy p")
    assert raised.value.hint == refusal.hint


@pytest.mark.one_in(10)
@pytest.mark.parametrize("call", [call for call in CALLS if limits_of(call).without_series is None])
def test_a_script_is_written_or_refused_in_the_method_s_words(con: Connection, call: str) -> None:
    limits = limits_of(call)
    base = base_of(limits)
    # A script deals rows out by one sensitive column, and brings the regions that lie beside a live view.
    publish(con, call, replace(base, ward="INSENSITIVE", kind="VIEW" if limits.view is None else base.kind))
    there = {"source": QualifiedName(("clinic", "visits")), "target": QualifiedName(("published", "made"))}
    engine, made = DuckDBEngine(con.duckdb), QualifiedName(("made",))
    if limits.scripted is None:
        assert "made" in compiled(engine, made, "postgres", **there)
        return
    with pytest.raises(PolicyError) as raised:
        compiled(engine, made, "postgres", **there)
    assert raised.value.message.endswith(limits.scripted.sentence.format(method=call.partition("(")[0]))
    assert raised.value.hint == limits.scripted.hint


def test_the_table_in_the_documentation_says_what_the_methods_say() -> None:
    page = (Path(__file__).parents[2] / "docs/choosing.md").read_text()
    lines = page[page.index("## What a method can do") :].split("\n\n")[2].splitlines()
    table = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    columns = [cell.strip("`") for cell in table[0][1:]]
    assert set(columns) == set(METHODS)
    said = dict(zip(ABILITIES, table[2:], strict=True))
    for place, method in enumerate(columns, 1):
        limits = limits_of(next(call for call in CALLS if call.partition("(")[0] == method))
        can = {ability: getattr(limits, ability) is None for ability in ABILITIES}
        assert {ability: row[place].split()[0].rstrip(",:") == "yes" for ability, row in said.items()} == can
