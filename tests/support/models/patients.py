"""Patients, and a policy for every privacy model, with what the models' oracles need to know of a release.

The oracles count the released rows alone. What no released row shows - guarding nodes,
the public table - they take from the source, which `id` leads back to.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from itertools import product
from math import isclose
from typing import Any

import pytest

from sqlanon import Connection
from sqlanon.domain.values import Value
from sqlanon.sql.questions.load import load_question, question_names
from tests.oracles.models.support import Class, Table
from tests.support.database import template
from tests.support.models.drawn import exact
from tests.support.models.relations import of_numbers, of_weights

__all__ = [
    "BROADER",
    "DAYS",
    "DISEASES",
    "HIDDEN",
    "LIVE",
    "METHOD",
    "MODELS",
    "RANGES",
    "TOGETHER",
    "TRIPLES",
    "ZIPS",
    "Row",
    "arguments",
    "asked",
    "checked",
    "create",
    "database",
    "every_model",
    "exactly",
    "holds",
    "insert",
    "levels",
    "oracle",
    "patients",
    "policy",
    "released",
    "sensitive",
    "table_of",
]

Row = tuple[Any, ...]

DISEASES = {
    "flu": ("lung", "body"),
    "cold": ("lung", "body"),
    "ulcer": ("gut", "body"),
    "colic": ("gut", "body"),
    "panic": ("fear", "mind"),
    "grief": ("loss", "mind"),
    "gout": ("joint", "body"),  # nobody has it
}
ZIPS = {f"{one}{two}": (f"{one}*",) for one in "12" for two in "123"}
AGES = {20: ("young",), 21: ("young",), 35: ("middle",), 36: ("middle",), 50: ("old",)}
RANGES = {"flu": (0.02, 0.45), "grief": (None, 0.4), "colic": (0.0, 0.5), "gout": (0.0, 0.1)}
TRIPLES = (("flu", 1, 0, 1), ("grief", 0, 0, 2), ("gout", 3, 3, 3), (None, 0, 1, 0))
# How long a patient stays, for models of numbers.
DAYS = {"flu": 3, "cold": 2, "ulcer": 9, "colic": 5, "panic": 14, "grief": 30}
WEIGHTS = {"flu": 0.2, "cold": 0.2, "ulcer": 0.15, "colic": 0.15, "panic": 0.15, "grief": 0.1, None: 0.05}
LEVELS: Mapping[str, Mapping[Any, tuple[str, ...]]] = {"zip": ZIPS, "age": AGES, "sex": {"F": (), "M": ()}}

# What each model is asked for; one without an entry is left to the contract tests.
ARGUMENTS: dict[str, dict[str, Value]] = {
    "k_anonymity": {"k": 7},
    "distinct_l_diversity": {"l": 4},
    "entropy_l_diversity": {"l": Decimal("3.5")},
    "probabilistic_l_diversity": {"l": Decimal(2)},
    "recursive_l_diversity": {"l": 2, "c": Decimal("1.0")},
    "alpha_k_anonymity": {"alpha": Decimal("0.5"), "k": 6},
    "p_sensitive_k_anonymity": {"p": 4, "k": 5},
    "equal_t_closeness": {"t": Decimal("0.25")},
    "ordered_t_closeness": {"t": Decimal("0.2")},
    "hierarchical_t_closeness": {"t": Decimal("0.2")},
    "jensen_shannon_t_closeness": {"t": Decimal("0.08")},
    "delta_disclosure": {"delta": Decimal("1.5"), "absent": "violates"},
    "basic_beta_likeness": {"beta": Decimal("1.5")},
    "enhanced_beta_likeness": {"beta": Decimal(2)},
    "ck_safety": {"c": Decimal("0.95"), "k": 1},
    "privacy_skyline": {"c": Decimal("0.95"), "l": 1},
    "epsilon_privacy": {"epsilon": Decimal(4), "stubbornness": Decimal(10)},
    "epsilon_privacy_of_table": {"epsilon": Decimal(4), "stubbornness": Decimal(10), "weights": "weights"},
    "privacy_skyline_of_table": {"c": Decimal("0.95"), "triples": "triples"},
    "equal_nt_closeness": {"n": 60, "t": Decimal("0.25")},
    "ordered_nt_closeness": {"n": 60, "t": Decimal("0.2")},
    "hierarchical_nt_closeness": {"n": 60, "t": Decimal("0.2")},
    "jensen_shannon_nt_closeness": {"n": 60, "t": Decimal("0.08")},
    "spread": {"least": Decimal(20)},
    "variance_spread": {"least": Decimal(40)},
    "deviation_spread": {"least": Decimal("6.5")},
    "ke_anonymity": {"k": 4, "e": Decimal(20)},
    "proximity": {"within": Decimal(3), "max": Decimal("0.75")},
    "centred_proximity": {"within": Decimal(2), "max": Decimal("0.75")},
    "relative_proximity": {"within": Decimal("0.5"), "max": Decimal("0.75")},
    "value_ranges": {"ranges": "ranges"},
    "k_map": {"k": 12},
    "delta_presence": {"min": Decimal(0), "max": Decimal("0.7")},
    "personalized": {"p": Decimal("0.6"), "guarding": "wish"},
}
MODELS = [name for name in question_names() if name in ARGUMENTS]
# Those that compare with broader classes, which change with each row that comes, and which no bucket has.
BROADER = [name for name in MODELS if "superset" in load_question(name).reads]
# What they ask about is not in the released rows.
HIDDEN = {"k_map": "public table", "delta_presence": "public table", "personalized": "guarding nodes"}
TOGETHER = ("k_anonymity", "recursive_l_diversity", "hierarchical_t_closeness", "value_ranges", "personalized", "k_map")
METHOD = "METHOD generalization(suppression => 0.3)"
LIVE = [name for name in MODELS if name not in BROADER]
every_model = pytest.mark.parametrize("name", MODELS)


def patients(count: int = 200, seed: int = 5) -> list[Row]:
    """id, zip, age, sex, disease, ward, wish: where one lives, and of which sex, tells something of the disease."""
    draw = random.Random(seed)
    rows: list[Row] = []
    for number in range(count):
        place, age, sex = draw.choice(list(ZIPS)), draw.choice(list(AGES)), draw.choice("FM")
        weights = [6, 5, 4, 3, 2, 2] if place[0] == "1" else [3, 3, 4, 4, 4, 4]
        disease = None if draw.random() < 0.03 else draw.choices(list(DISEASES)[:6], weights)[0]
        wish = draw.choice([None] * 6 + ["lung", "mind", "*" if draw.random() < 0.1 else disease])
        rows.append((number, place, age, sex, disease, draw.choice(["north", "south", "east"]), wish))
    return rows


def levels(name: str, labels: Mapping[Any, Sequence[str]]) -> str:
    rows = ", ".join(str((str(value), *path)) if path else f"('{value}')" for value, path in labels.items())
    return f"CREATE OR REPLACE HIERARCHY {name} AS LEVELS (SELECT * FROM (VALUES {rows}) AS t);"


def database() -> Connection:
    """The patients with what the models ask about besides: hierarchies, voters, and ranges of shares."""
    return template(_install)


def _install(connection: Connection) -> None:
    connection.execute(
        "CREATE TABLE source (id INTEGER, zip VARCHAR, age INTEGER, sex VARCHAR, disease VARCHAR, ward VARCHAR, "
        "wish VARCHAR)"
    )
    insert(connection, patients())
    connection.execute(
        "CREATE TABLE voters AS SELECT zip, age, sex FROM source UNION ALL "
        "SELECT zip, age, sex FROM source WHERE id % 3 > 0;"
        "CREATE TABLE ranges (value VARCHAR, low DOUBLE, high DOUBLE);"
        "CREATE TABLE weights (value VARCHAR, weight DOUBLE);"
        "CREATE TABLE triples (value VARCHAR, l INTEGER, k INTEGER, m INTEGER);"
        f"CREATE VIEW stays AS SELECT *, {_days()} AS days FROM source"
    )
    connection.duckdb.executemany("INSERT INTO triples VALUES (?, ?, ?, ?)", [[*row] for row in TRIPLES])
    connection.duckdb.executemany("INSERT INTO ranges VALUES (?, ?, ?)", [[v, *ends] for v, ends in RANGES.items()])
    connection.duckdb.executemany("INSERT INTO weights VALUES (?, ?)", [[*row] for row in WEIGHTS.items()])
    connection.execute(levels("zips", ZIPS) + levels("ages", AGES) + levels("diseases", DISEASES))


def _days() -> str:
    """An expression for the days of a patient's disease; NULL where it has none."""
    cases = [f"WHEN '{disease}' THEN {days}" for disease, days in DAYS.items()]
    return f"CASE disease {' '.join(cases)} END"


def sensitive(name: str) -> tuple[str, str]:
    """The sensitive column of a model's policy, and a literal for one of its values."""
    return ("days", "3") if of_numbers(name) else ("disease", "'flu'")


def insert(con: Connection, rows: Sequence[Row]) -> None:
    columns = [list(column) for column in zip(*rows, strict=True)]
    con.duckdb.execute("INSERT INTO source SELECT " + ", ".join(f"unnest(${i})" for i in range(1, 8)), columns)


def asked(name: str, **more: str) -> str:
    """The requirement as a user writes it."""
    question, given = load_question(name), ARGUMENTS[name]
    written = {key: f"'{value}'" if key == "absent" else str(value) for key, value in given.items()}
    if question.when:
        written[question.when.argument] = f"'{question.when.value}'"
    return f"{question.model}({', '.join(f'{key} => {value}' for key, value in (written | more).items())})"


def policy(con: Connection, *names: str, source: str = "source", public: str = "voters", called: str = "p") -> None:
    """A policy that requires all of these models."""
    against = any("public_class" in load_question(name).reads for name in names)
    disease = "disease SENSITIVE USING diseases"
    if any(map(of_numbers, names)):
        assert all(map(of_numbers, names))
        source, disease = "stays", "disease INSENSITIVE, days SENSITIVE"
    con.execute(
        f"CREATE OR REPLACE POLICY {called} ON {source} (id INSENSITIVE, zip QUASI IDENTIFIER USING zips, "
        f"age QUASI IDENTIFIER USING ages, sex QUASI IDENTIFIER, {disease}) "
        f"{f'AGAINST {public} ' if against else ''}REQUIRE {', '.join(map(asked, names))}"
    )


def create(con: Connection, kind: str, release: str = "r", of: str = "p") -> dict[str, Row]:
    """Makes the release; its answer by requirement: attribute, required, achieved, satisfied."""
    rows = con.execute(f"CREATE OR REPLACE ANONYMIZED {kind} {release} AS POLICY {of} {METHOD}").fetchall()
    return {row[7]: row[8:12] for row in rows}


def checked(con: Connection, release: str = "r") -> dict[str, Row]:
    return {row[1]: row[2:] for row in con.execute(f"CHECK {release}").fetchall()}


def released(con: Connection, release: str = "r") -> list[Row]:
    """id, zip, age, sex, disease."""
    return con.duckdb.execute(f"SELECT id, zip, age, sex, disease FROM {release}").fetchall()


def label(column: str, value: Any, level: int) -> Any:
    """A value as the release shows it."""
    if level == 0:
        return value
    path = (*next(iter(LEVELS[column].values())), "*")
    return "*" if level == len(path) else LEVELS[column][value][level - 1] if value in LEVELS[column] else None


LEVELS_OF = (
    "SELECT attribute, level FROM anon.release_attribute JOIN anon.release USING (release_id) "
    "WHERE object_name = ? AND level IS NOT NULL"
)


def table_of(con: Connection, release: str, source: Sequence[Row] | None = None) -> Table:
    """The released rows for the oracles, with the guarding nodes of their source and the public table recoded alike."""
    rows, shown = released(con, release), dict(con.duckdb.execute(LEVELS_OF, [release]).fetchall())
    source = patients() if source is None else source
    by_id = {row[0]: row for row in source}
    classes: dict[Class, list[int]] = defaultdict(list)
    broader: dict[Class, set[Hashable]] = defaultdict(set)
    vectors = list(product(*(range(shown[column], _height(column) + 1) for column in LEVELS)))
    for place, (number, *labels, disease) in enumerate(rows):
        original = by_id[number]
        expected = [label(column, original[1 + i], shown[column]) for i, column in enumerate(LEVELS)]
        assert [str(part) for part in labels] == [str(part) for part in expected]
        assert disease == original[4]
        classes[tuple(map(str, labels))].append(place)
        for vector in vectors:
            above = [label(*part) for part in zip(LEVELS, original[1:4], vector, strict=True)]
            broader[tuple(map(str, labels))].add((vector, *above))
    public: Counter[Class] = Counter()
    for row in con.duckdb.execute("SELECT zip, age, sex FROM voters").fetchall():
        public[tuple(str(label(column, value, shown[column])) for column, value in zip(LEVELS, row, strict=True))] += 1
    taxonomy: dict[Hashable, tuple[Hashable, ...]] = dict(DISEASES)
    # What the hierarchy does not list, NULL among it, is on a branch of its own.
    taxonomy |= {v: ((v, "own"), (v, "own")) for v in {row[-1] for row in rows} - DISEASES.keys()}
    return Table(
        dict(classes),
        [row[-1] for row in rows],
        taxonomy=taxonomy,
        ranges={value: (exactly(low), exactly(high)) for value, (low, high) in RANGES.items()},
        guards=[by_id[row[0]][6] for row in rows],
        public=public,
        broader=broader,
        known=TRIPLES,
    )


def _height(column: str) -> int:
    return len(next(iter(LEVELS[column].values()))) + 1


def exactly(bound: float | None) -> Fraction | None:
    return None if bound is None else Fraction(str(bound))


def oracle(name: str) -> Any:
    return import_module(f"tests.oracles.models.{name}")


def arguments(name: str) -> dict[str, int | Fraction | str]:
    reads = {parameter.name for parameter in load_question(name).parameters if parameter.type in ("RELATION", "COLUMN")}
    return exact({key: value for key, value in ARGUMENTS[name].items() if key not in reads})


def holds(name: str, table: Table, measured: Row) -> None:
    """The oracle finds no violation, and the figure that was measured."""
    if name == "personalized":
        assert table.taxonomy is not None
        table = replace(table, taxonomy={value: (*path, "*") for value, path in table.taxonomy.items()})
    if of_numbers(name):
        table = replace(table, values=[DAYS.get(str(value)) for value in table.values])
    if of_weights(name):
        weights = {value: exactly(weight) for value, weight in WEIGHTS.items()}
        table = replace(table, ranges={value: (weight, weight) for value, weight in weights.items()})
    assert oracle(name).violating(table, **arguments(name)) == set()
    reached = oracle(name).achieved(table, **arguments(name))
    assert measured[-1] is True
    if reached is None:
        assert measured[-2] is None
    else:
        assert isclose(float(reached), measured[-2], rel_tol=1e-9, abs_tol=1e-12)
