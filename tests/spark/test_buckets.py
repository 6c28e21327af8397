"""Rows are dealt out to the same buckets on DuckDB and on Spark, and as the definitions say.

What is drawn comes from a function of DuckDB's, and what numbers the rows of a source from its tables: so the rows
here are numbered and have their draws already, and buckets are numbered by what stands in place of a draw.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.policy import Attribute, Policy, Requirement, Role
from sqlanon.domain.transformation import Bucketization
from sqlanon.domain.values import QualifiedName, Value
from sqlanon.engines.base import Engine
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.spark import SparkEngine
from sqlanon.errors import PrivacyViolation
from sqlanon.methods._buckets import Dealing
from sqlanon.methods.anatomy import VARIANTS
from sqlanon.pipeline.check import violating_classes
from sqlanon.pipeline.scratch import Scratch
from sqlanon.questions.ask import BoundRequirement, bind_requirement
from sqlanon.sqlgen import buckets, slots
from sqlanon.sqlgen.fragments import QUASI_IDENTIFIERS, bucketized
from sqlanon.sqlgen.names import column, relation
from sqlanon.sqlgen.normal_relations import Background
from tests.oracles.anatomy import by_bucket, diverse, feasible, most_groups
from tests.spark.relations import registered

pytestmark = pytest.mark.spark

NAMES = ('the "value"', "select é")
TEXTS = (None, "", " ", "*", "NULL", 'a "b"', "it's", "B", "b", "é", "\n", "😀", "${d}")
NUMBERS = (None, -(2**63), -1, 0, 2**53 + 1, 2**63 - 1)
C = Decimal("1.5")


@dataclass(frozen=True)
class Case:
    """Rows of a region and two sensitive values, and how they are to be dealt out."""

    rows: tuple[tuple[int, str | None, int | None], ...]
    least: int = 2
    different: int | None = None
    attributes: int = 1

    def values(self, place: int) -> list[Any]:
        return [row[1 + place] for row in self.rows]

    def table(self) -> pa.Table:
        """The source, as both engines have it."""
        kinds = (pa.string(), pa.int64())
        return pa.table({NAMES[i]: pa.array(self.values(i), kinds[i]) for i in range(2)})


def region(number: int, size: int, texts: int, skew: int) -> tuple[tuple[int, Any, Any], ...]:
    """A region's rows with the first texts more frequent, and few numbers."""
    random = Random(number)
    weights = [1 + skew * (texts - place) ** 2 for place in range(texts)]
    return tuple((number, random.choices(TEXTS[:texts], weights)[0], random.choice(NUMBERS)) for _ in range(size))


ROWS = (
    *region(0, 40, 13, 0),
    *region(7, 61, 6, 3),
    *region(8, 23, 3, 9),
    *((9, text, 0) for text in TEXTS[:4] for _ in range(5)),
    *((14, "B", None) for _ in range(3)),
    (2**40, None, 2**63 - 1),
)
CASES = {
    "as many groups as there are rows for": Case(ROWS, 3, attributes=2),
    "as many groups as can be different": Case(ROWS, 2, different=3),
    "no rows": Case((), 2, different=2),
}


def attribute(name: str, kind: str) -> BoundAttribute:
    return BoundAttribute(Attribute(name, Role.SENSITIVE), name, kind, kind)


SENSITIVE = (attribute(NAMES[0], "VARCHAR"), attribute(NAMES[1], "BIGINT"))


def policy(case: Case) -> BoundPolicy:
    chosen = SENSITIVE[: case.attributes]
    plain = Policy("p", QualifiedName(("source",)), tuple(one.attribute for one in chosen), ())
    return BoundPolicy(plain, QualifiedName(("source",)), True, chosen, (), "")


def l_diversity(variant: str, l: int) -> Requirement:  # noqa: E741 - the papers' name
    arguments: list[tuple[str, Value]] = [("l", l), ("variant", variant)]
    return Requirement("l_diversity", (*arguments, ("c", C)) if variant == "recursive" else tuple(arguments))


def bound(requirement: Requirement, attributes: int) -> list[BoundRequirement]:
    return list(bind_requirement(requirement, NAMES[:attributes]))


def given(query: exp.Select, stands: exp.Expr) -> exp.Select:
    """The query with an expression in place of what it draws."""
    made = query.transform(lambda node: stands.copy() if isinstance(node, exp.Anonymous) else node)
    assert isinstance(made, exp.Select)
    return made


def all_rows(engine: Engine, table: str) -> list[tuple[Any, ...]]:
    return sorted(engine.rows(exp.select(exp.Star()).from_(relation(table))), key=repr)


class Dealt:
    """A case dealt out by one engine: the rows of every table on the way, by its name."""

    def __init__(self, engine: Engine, scratch: Scratch, case: Case) -> None:
        self._engine, self._scratch, self._case = engine, scratch, case
        self.tables: dict[str, str] = {}
        codes = [
            self.keep(f"codes_{i}", buckets.value_codes(SENSITIVE[i], relation("source")))
            for i in range(case.attributes)
        ]
        self._codes = codes
        held = self.keep("held", buckets.held("drawn"))
        groups = self.keep("groups", buckets.groups(held, case.least, case.different))
        starts = self.keep("starts", buckets.starts(held, groups))
        self._dealt = self.keep("dealt", buckets.dealt("drawn", starts, case.attributes))
        self._slots = self.keep("slots", slots.slots(groups))

    def keep(self, name: str, query: exp.Query) -> str:
        self.tables[name] = self._scratch.table(name, query)
        return self.tables[name]

    def merged(self, requirement: Requirement) -> None:
        """Puts groups together where a bucket violates the requirement, three times for each attribute."""
        codes, tallies = self._codes, [slots.tally(self._dealt, place) for place in range(self._case.attributes)]
        kept = [self.keep(f"tally_{place}", tally) for place, tally in enumerate(tallies)]
        for turn in range(3):
            for place, asked in enumerate(bound(requirement, self._case.attributes)):
                rows = slots.class_rows(kept[place], self._slots, codes[place], NAMES[place])
                broken = self.keep(f"broken_{turn}_{place}", violating_classes([asked], 0, rows, Background()))
                self._slots = self.keep(f"merged_{turn}_{place}", slots.merged(self._slots, broken))

    def published(self) -> dict[str, exp.Table]:
        """The two kinds of tables, by fragment."""
        numbers = self.keep("numbers", given(slots.bucket_numbers(self._slots, "draw"), exp.Neg(this=column("first"))))
        places = self.keep("places", slots.places(self._dealt, self._slots, numbers, self._case.attributes))
        self.keep("sizes", buckets.sizes(places))
        codes = tuple(zip(NAMES, self._codes, strict=False))
        query = bucketized(policy(self._case), Bucketization(places, codes, 0, 0, 0, 0, 0), "r", {})
        exact = self.keep(QUASI_IDENTIFIERS, exp.select(column("row"), column("bucket")).from_(relation(places)))
        made = {QUASI_IDENTIFIERS: relation(exact)}
        for fragment in query.fragments[1:]:
            made[fragment.name] = relation(self.keep(fragment.name, fragment.query))
        return made

    def rows(self) -> dict[str, list[tuple[Any, ...]]]:
        return {name: all_rows(self._engine, table) for name, table in self.tables.items()}


@contextmanager
def dealing(duck: DuckDBEngine, spark: SparkEngine, case: Case) -> Iterator[list[Dealt]]:
    """The case on both engines, with numbers for the rows and draws that both have."""
    with registered(duck, spark, {"source": case.table()}):
        codes = []
        for place in range(2):
            numbered = [
                engine.rows(buckets.value_codes(SENSITIVE[place], relation("source"))) for engine in (duck, spark)
            ]
            assert sorted(numbered[0], key=repr) == sorted(numbered[1], key=repr)
            codes.append({value: code for value, _, code in numbered[0]})
        random = Random(9)
        draws = [random.randrange(-(2**63), 2**63) for _ in case.rows]
        made = [(i, row[0], codes[0][row[1]], codes[1][row[2]], draws[i]) for i, row in enumerate(case.rows)]
        names = ("row", "region", "code_0", "code_1", "draw")
        drawn = pa.table({name: pa.array([row[i] for row in made], pa.int64()) for i, name in enumerate(names)})
        with registered(duck, spark, {"drawn": drawn}), Scratch(duck) as here, Scratch(spark) as there:
            yield [Dealt(duck, here, case), Dealt(spark, there, case)]


@pytest.mark.parametrize("name", CASES)
def test_rows_are_dealt_out_alike(name: str, duck: DuckDBEngine, spark: SparkEngine) -> None:
    case = CASES[name]
    with dealing(duck, spark, case) as both:
        for one in both:
            one.published()
        ours, theirs = (one.rows() for one in both)
    assert theirs == ours
    assert [row[0] for row in ours["dealt"]] == sorted((row[0] for row in ours["dealt"]), key=repr)
    of_region: dict[int, list[int]] = defaultdict(list)
    for place, row in enumerate(case.rows):
        of_region[row[0]].append(place)
    found = {region: groups for region, _, _, groups, _ in ours["groups"]}
    # As many groups as there can be, which is found by trying.
    values = case.values(0)
    own = {region: [values[place] for place in places] for region, places in of_region.items()}
    assert found == {region: most_groups(held, case.least, case.different) for region, held in own.items()}
    slot = {row[0]: row[1] for row in ours["dealt"]}
    assert len(slot) == len(case.rows)
    for region, places in of_region.items():
        sizes = Counter(slot[place] for place in places)
        assert len(sizes) == found[region]
        assert max(sizes.values()) - min(sizes.values()) <= 1
        times = Counter((slot[place], values[place]) for place in places)
        for value, n in Counter(own[region]).items():
            most = max(count for (_, held), count in times.items() if held == value)
            assert n > found[region] or most == 1, "a value with no more rows than there are groups met itself"
    assert sorted(ours["slots"]) == sorted(
        (base + chunk, base, chunk, groups, base + chunk)
        for _, _, _, groups, base in ours["groups"]
        for chunk in range(groups)
    )


def test_groups_are_put_together_alike(duck: DuckDBEngine, spark: SparkEngine) -> None:
    case = CASES["as many groups as there are rows for"]
    with dealing(duck, spark, case) as both:
        for one in both:
            one.merged(l_diversity("recursive", 2))
            one.published()
        ours, theirs = (one.rows() for one in both)
    assert theirs == ours
    assert sum(bool(rows) for table, rows in ours.items() if table.startswith("broken")) > 2
    # Where all rows of a region are diverse, so are its buckets.
    bucket = dict(ours[QUASI_IDENTIFIERS])
    for place, name in enumerate(NAMES):
        held: dict[int, Counter[Hashable]] = defaultdict(Counter)
        whole: dict[int, list[Hashable]] = defaultdict(list)
        for row, value in enumerate(case.values(place)):
            held[bucket[row]][value] += 1
            whole[case.rows[row][0]].append(value)
        assert held == by_bucket(ours[name])
        possible = {of for of, values in whole.items() if feasible(values, "recursive", 2, Fraction(C))}
        assert len(possible) > 1
        asked = {bucket[row] for row in bucket if case.rows[row][0] in possible}
        assert len(asked) > len(possible)
        assert all(diverse(held[of], "recursive", 2, Fraction(C)) for of in asked)


@pytest.mark.parametrize("variant", VARIANTS)
def test_what_cannot_be_dealt_out_is_found_alike(variant: str, duck: DuckDBEngine, spark: SparkEngine) -> None:
    case = Case(region(8, 23, 3, 9))
    with registered(duck, spark, {"source": case.table()}):
        said = []
        for engine in (duck, spark):
            for least in (2, 4):
                own = bound(l_diversity(variant, least), 1)
                with Scratch(engine) as scratch:
                    said.append(
                        refusal(Dealing(engine, policy(case), own, own, Background(), scratch.table), variant, least)
                    )
    assert said[:2] == said[2:]
    assert [one is None for one in said[:2]] == [
        feasible(case.values(0), variant, least, Fraction(C)) for least in (2, 4)
    ]
    assert said[1] is not None


def refusal(made: Dealing, variant: str, l: int) -> str | None:  # noqa: E741
    try:
        made.require_feasible(variant, l, C)
    except PrivacyViolation as error:
        return f"{error.message} {error.hint}"
    return None
