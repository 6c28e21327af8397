"""Attacks on the rows that a release of blocks leaves out: people who are known to be in the source and are missing.

Each is shown to work on the plain rule: values side by side, as many whole blocks as there can be, and the last rows
are left over. The adversary knows the program, who is missing, and how many rows of the source have which disease.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, permutations

import pytest

import sqlanon
from sqlanon import Connection, PrivacyViolation
from sqlanon.engines.duckdb import DuckDBEngine
from tests.oracles.associations import sources
from tests.oracles.left_out import worst
from tests.oracles.loose import most_blocks
from tests.support.loose import Table, database, left_out

FRAGMENTS = (("age",), ("disease",))
CONSTRAINTS = (("age", "disease"),)
COLUMNS = (("age", "INTEGER"), ("disease", "VARCHAR"))
DISEASES = ("asthma", "cold", "flu", "gout", "ulcer")

Diseases = Sequence[str]
# The diseases of the rows that are left out, from those of all rows and the rows of a block.
Rule = Callable[[Diseases, int], Counter[str]]


def plain(diseases: Diseases, size: int) -> Counter[str]:
    """Row number i of the sorted ones goes to block i mod g, at most g of a disease; those beyond the last whole row of
    blocks are left over.
    """
    held, blocks = Counter(diseases), most_blocks(diseases, size)
    kept = [disease for disease in sorted(held) for _ in range(min(held[disease], blocks))]
    return held - Counter(kept[: blocks * size])


def ours(engine: DuckDBEngine, near: bool = False) -> Rule:
    def rule(diseases: Diseases, size: int) -> Counter[str]:
        table = Table(COLUMNS, list(enumerate(diseases)))
        rows = left_out(engine, table, FRAGMENTS, CONSTRAINTS, (size, 1), ("age",) if near else ())
        return Counter(disease for _, disease in rows)

    return rule


@pytest.fixture
def engine() -> Iterator[DuckDBEngine]:
    with database() as made:
        yield made


def people(*counts: int) -> list[str]:
    return [disease for disease, count in zip(DISEASES, counts, strict=False) for _ in range(count)]


def test_the_plain_rule_leaves_out_those_with_the_frequent_disease(engine: DuckDBEngine) -> None:
    skewed = people(3, 12, 5, 4, 2)
    assert plain(skewed, 3) == Counter(cold=5)
    # With 12 of 26 of one disease nothing can be published.
    assert ours(engine)(skewed, 3).total() == len(skewed)


@pytest.mark.one_in(6)
@pytest.mark.parametrize("near", [False, True])
@pytest.mark.parametrize("counts", [(9, 8, 9, 9, 5), (10, 10, 10, 10, 1), (13, 13, 13, 13, 13), (6, 20, 12, 11, 14)])
def test_of_those_left_out_not_more_than_one_in_k_is_alike(
    engine: DuckDBEngine, counts: tuple[int, ...], near: bool
) -> None:
    diseases = people(*counts)
    left = ours(engine, near)(diseases, 3)
    assert left.total() < len(diseases)
    assert worst([list(left.elements())]) <= Fraction(1, 3)


def replayed(
    rule: Rule, published: Counter[str], candidates: Sequence[Counter[str]], size: int, runs: int
) -> list[int]:
    """How often each candidate for the missing rows leaves just what was published, when the program is run again."""
    found = []
    for candidate in candidates:
        diseases = list((published + candidate).elements())
        found.append(sum(rule(diseases, size) == candidate for _ in range(runs)))
    return found


def test_running_the_program_again_leaves_one_candidate_of_the_plain_rule() -> None:
    diseases = people(3, 3, 3, 4)
    left = plain(diseases, 3)
    assert left.total() == 1
    candidates = [Counter([disease]) for disease in DISEASES[:4]]
    found = replayed(plain, Counter(diseases) - left, candidates, 3, 1)
    assert [candidate for candidate, hits in zip(candidates, found, strict=True) if hits] == [left]


@pytest.mark.long
@pytest.mark.parametrize("near", [False, True])
def test_running_the_program_again_leaves_all_candidates(engine: DuckDBEngine, near: bool) -> None:
    """Of 27 people three are left out, for blocks have two rows: any three of four diseases."""
    runs = 36
    published = Counter(people(6, 6, 6, 6))
    candidates = [Counter(chosen) for chosen in combinations(DISEASES[:4], 3)]
    found = replayed(ours(engine, near), published, candidates, 2, runs)
    # A quarter of the runs each, within five standard deviations; that one never comes has a chance of 0.00003.
    assert min(found) > 0
    assert all(abs(hits - runs / 4) < 5 * (runs * 3 / 16) ** 0.5 for hits in found)


@pytest.mark.long
def test_everybody_is_left_out_as_often_whatever_the_disease(engine: DuckDBEngine) -> None:
    """That somebody is missing tells nothing of how frequent the disease is: rows are drawn, and not diseases."""
    runs, diseases = 80, people(8, 16, 2, 12, 23)
    left: Counter[str] = Counter()
    for _ in range(runs):
        left += ours(engine)(diseases, 2)
    assert left.total() == 3 * runs
    assert plain(diseases, 2) == Counter(ulcer=1)
    # In turn three rows are drawn of three diseases.
    expected = {disease: float(runs * chance) for disease, chance in drawn(Counter(diseases), 3).items()}
    for disease, chance in expected.items():
        assert abs(left[disease] - chance) < 5 * chance**0.5, disease


def drawn(held: Counter[str], number: int) -> dict[str, Fraction]:
    """How likely a disease is among so many rows that are drawn one after the other, each of another disease."""
    found = dict.fromkeys(held, Fraction(0))
    for order in permutations(held, number):
        chance, rest = Fraction(1), held.total()
        for disease in order:
            chance *= Fraction(held[disease], rest)
            rest -= held[disease]
        for disease in order:
            found[disease] += chance
    return found


@pytest.fixture
def con() -> Connection:
    return sqlanon.connect(config={"threads": "1"})


def register(con: Connection, diseases: Diseases) -> None:
    con.duckdb.execute("CREATE OR REPLACE TABLE register (age INTEGER, disease VARCHAR)")
    con.duckdb.executemany("INSERT INTO register VALUES (?, ?)", [list(row) for row in enumerate(diseases)])
    con.execute(
        "CREATE OR REPLACE POLICY p ON register (age QUASI IDENTIFIER, disease SENSITIVE) CONFIDENTIAL (age, disease)"
    )


@pytest.mark.one_in(3)
@pytest.mark.parametrize("method", ["k => 2", "k => 2, near => true", "k => 2, groups => (1, 3)"])
@pytest.mark.parametrize("counts", [(2, 2, 2, 1), (3, 2, 2, 2), (2, 3, 3, 3)])
def test_in_no_world_is_anybody_known_above_one_in_k(con: Connection, method: str, counts: tuple[int, ...]) -> None:
    """Every way to give the diseases to the people, those who are missing among them, that the tables allow."""
    diseases = people(*counts)
    register(con, diseases)
    try:
        con.execute(f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD loose({method}, suppression => 1)")
    except PrivacyViolation:
        assert max(counts) * 2 > len(diseases) or "(1, 3)" in method
        return
    fragments = []
    for place, name in enumerate(("age", "disease"), start=1):
        held = con.duckdb.execute(f"FROM r_{place}").fetchall()
        fragments.append([({name: value}, group) for value, group in held])
    association = con.duckdb.execute("FROM r_association").fetchall()
    known = {row["age"] for row, _ in fragments[0]}
    missing = [age for age in range(len(diseases)) if age not in known]
    rest = list((Counter(diseases) - Counter(row["disease"] for row, _ in fragments[1])).elements())
    worlds, seen = 0, Counter[tuple[int, str]]()
    for rows in sources(fragments, association):
        worlds += 1
        seen.update((row["age"], row["disease"]) for row in rows)
    for counted in seen.values():
        assert Fraction(counted, worlds) <= Fraction(1, 2)
    others = Counter(pair for given in permutations(rest) for pair in zip(missing, given, strict=True))
    for counted in others.values():
        assert Fraction(counted, len(list(permutations(rest)))) <= Fraction(1, 2)


@pytest.mark.long
def test_several_sets_that_are_confidential(con: Connection) -> None:
    """Rows that are alike in two columns: those that fit nowhere would be the ones with the frequent ward."""
    con.execute(
        "CREATE TABLE stays AS SELECT i AS age, CASE WHEN i % 10 < 3 THEN 'a' ELSE 'w' || i % 13 END AS ward, "
        "'d' || i % 7 AS disease FROM range(403) AS t(i); "
        "CREATE POLICY s ON stays (age QUASI IDENTIFIER, ward INSENSITIVE, disease SENSITIVE) "
        "CONFIDENTIAL (age, disease), (ward, disease)"
    )
    for method in ("groups => (3, 1)", "groups => (3, 1), near => true"):
        con.execute(f"CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY s METHOD loose({method}, suppression => 0.5)")
        for name, place in (("ward", 1), ("disease", 2)):
            every, shown = (
                Counter(con.duckdb.execute(f"SELECT {name} FROM {table}").fetchall())
                for table in ("stays", f"r_{place}")
            )
            assert (every - shown).total() < 200
            assert worst([list((every - shown).elements())]) <= Fraction(1, 3)
