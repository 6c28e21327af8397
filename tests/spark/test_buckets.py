"""Rows are dealt out to the same buckets on DuckDB and on Spark, and as the definitions say.

Each engine draws by a function of its own, and DuckDB numbers the rows of a table in the order in which it keeps them.
So the rows here have their draws and their numbers already, and buckets are numbered by what stands in place of a draw.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
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
from sqlanon.domain.values import QualifiedName, Value
from sqlanon.engines.base import Engine
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.spark import SparkEngine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import PrivacyViolation
from sqlanon.methods.anatomy import assign_groups, spark
from sqlanon.methods.anatomy import assign_groups as slots
from sqlanon.methods.anatomy.bucketize import Dealing
from sqlanon.methods.anatomy.tables import Bucketization, bucketized
from sqlanon.methods.shared.arguments import VARIANTS
from sqlanon.methods.shared.bucket_tables import code_name
from sqlanon.release.pipeline.check import violating_classes
from sqlanon.sql.build.names import column, literal, relation
from sqlanon.sql.classes.normal_relations import Background
from sqlanon.sql.questions.ask import BoundRequirement, bind_requirement
from tests.oracles.anatomy import by_bucket, dealt, diverse, feasible, most_groups
from tests.support.spark import registered

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

    def regions(self) -> dict[int, list[int]]:
        """The rows of each region, in their order."""
        return {of: [i for i, row in enumerate(self.rows) if row[0] == of] for of in sorted({r[0] for r in self.rows})}

    def groups(self) -> dict[int, int]:
        """Into how many groups each region's rows are put."""
        values = self.values(0)
        own = {of: [values[row] for row in rows] for of, rows in self.regions().items()}
        return {of: most_groups(held, self.least, self.different) for of, held in own.items()}

    def slots(self) -> list[int]:
        """The group of each row, those of all regions numbered from 0."""
        order = sorted({*self.values(0)}, key=lambda value: (value is None, value or ""))
        found, base = [0] * len(self.rows), 0
        for of, rows in self.regions().items():
            groups = self.groups()[of]
            for row, group in zip(rows, dealt([order.index(self.rows[row][1]) for row in rows], groups), strict=True):
                found[row] = base + group
            base += groups
        return found

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
    """The query with an expression in place of what it draws, or of the numbers of rows as they stand."""

    def own(node: exp.Expr) -> exp.Expr:
        standing = isinstance(node, exp.Column) and node.name == "rowid"
        return stands.copy() if standing or isinstance(node, exp.Anonymous) else node

    made = query.transform(own)
    assert isinstance(made, exp.Select)
    return made


def all_rows(engine: Engine, table: str) -> list[tuple[Any, ...]]:
    return sorted(engine.rows(exp.select(exp.Star()).from_(relation(table))), key=repr)


class Made:
    """What one engine makes of a case: the rows of every table, by its name."""

    def __init__(self, engine: Engine, temp: TempTables, case: Case) -> None:
        self._engine, self._temp, self._case = engine, temp, case
        self.tables: dict[str, str] = {}

    def keep(self, name: str, query: exp.Query) -> str:
        self.tables[name] = self._temp.table(name, query)
        return self.tables[name]

    def groups(self) -> str:
        """How many groups there are, and their slots."""
        held = self.keep("held", given(assign_groups.value_counts("drawn", "draw"), literal(0)))
        groups = self.keep("groups", assign_groups.groups(held, self._case.least, self._case.different))
        self.keep("starts", assign_groups.starts(held, groups))
        return self.keep("slots", slots.slots(groups))

    def codes(self) -> list[str]:
        own = range(self._case.attributes)
        return [self.keep(f"codes_{i}", assign_groups.value_codes(SENSITIVE[i], relation("source"))) for i in own]

    def merged(self, requirement: Requirement) -> None:
        """Puts groups together where a bucket violates the requirement, three times for each attribute."""
        made, codes = self.groups(), self.codes()
        tallies = [self.keep(f"tally_{i}", slots.tally("given", i)) for i in range(len(codes))]
        for turn in range(3):
            for place, asked in enumerate(bound(requirement, len(codes))):
                rows = slots.class_rows(tallies[place], made, codes[place], NAMES[place])
                broken = self.keep(f"broken_{turn}_{place}", violating_classes([asked], 0, rows, Background()))
                made = self.keep("merged", slots.merged(made, broken))

    def published(self) -> None:
        """Every row in its bucket, and the tables of values."""
        made, codes = self.groups(), self.codes()
        columns = ["row", *(code_name(place) for place in range(len(codes)))]
        standing = assign_groups.rows_in_slots("drawn", self.tables["starts"], columns, first=1)
        dealt = self.keep("dealt", given(standing, column("number")))
        self.keep("numbered", spark.rows_in_slots("drawn", self.tables["starts"], columns))
        self.keep("slots_of_rows", spark.slots(self.tables["numbered"], self.tables["groups"]))
        drawn = self.keep("numbers", given(slots.bucket_numbers(made, "draw"), exp.Neg(this=column("slot"))))
        numbers = self.keep("all_numbers", slots.all_numbers(made, drawn))
        places = self.keep("places", slots.rows_in_buckets(dealt, numbers, columns))
        self.keep("sizes", slots.sizes(places))
        self.keep("sizes_of_groups", slots.sizes_of_groups(self.tables["groups"]))
        found = Bucketization(places, tuple(zip(NAMES, codes, strict=False)), 0, 0, 0, 0, 0)
        for fragment in bucketized(policy(self._case), found, "r", {}).tables[1:]:
            self.keep(fragment.name, fragment.query)

    def rows(self) -> dict[str, list[tuple[Any, ...]]]:
        return {name: all_rows(self._engine, table) for name, table in self.tables.items()}


@contextmanager
def dealing(duck: DuckDBEngine, spark: SparkEngine, case: Case) -> Iterator[list[Made]]:
    """The case for both engines: `drawn` has numbers and draws for the rows, `given` the slots that they belong to."""
    with registered(duck, spark, {"source": case.table()}):
        codes = []
        for place in range(2):
            here, there = (
                e.rows(assign_groups.value_codes(SENSITIVE[place], relation("source"))) for e in (duck, spark)
            )
            assert sorted(here, key=repr) == sorted(there, key=repr)
            codes.append({value: code for value, _, code in here})
        coded = [(row[0], codes[0][row[1]], codes[1][row[2]]) for row in case.rows]
        random = Random(9)
        # Equal values are dealt out in the order of their draws, which is that of the rows.
        draws = sorted(random.randrange(-(2**63), 2**63) for _ in coded)
        stand = sorted(range(len(coded)), key=lambda i: (*coded[i][:2], draws[i]))
        drawn = [(i, *coded[i], number, draws[i]) for number, i in enumerate(stand, start=1)]
        given_ = [(i, slot, *coded[i][1:]) for i, slot in enumerate(case.slots())]
        tables = {
            "drawn": numbers_table(("row", "region", "code_0", "code_1", "number", "draw"), drawn),
            "given": numbers_table(("row", "slot", "code_0", "code_1"), given_),
        }
        with registered(duck, spark, tables), TempTables(duck) as one, TempTables(spark) as other:
            yield [Made(duck, one, case), Made(spark, other, case)]


def numbers_table(names: Sequence[str], rows: Sequence[tuple[int, ...]]) -> pa.Table:
    return pa.table({name: pa.array([row[i] for row in rows], pa.int64()) for i, name in enumerate(names)})


@pytest.mark.parametrize("name", CASES)
def test_rows_are_dealt_out_alike(name: str, duck: DuckDBEngine, spark: SparkEngine) -> None:
    case = CASES[name]
    with dealing(duck, spark, case) as both:
        for one in both:
            one.published()
        ours, theirs = (one.rows() for one in both)
    assert theirs == ours
    # As many groups as there can be, which is found by trying.
    assert {of: number for of, _, _, number, _ in ours["groups"]} == case.groups()
    assert {row: slot for slot, row, *_ in ours["dealt"]} == dict(enumerate(case.slots()))
    assert sorted(ours["slots_of_rows"]) == sorted(ours["slots"])
    assert {row: slot for slot, _, row, *_ in ours["numbered"]} == dict(enumerate(case.slots()))
    assert sorted(ours["slots"]) == sorted(
        (base + chunk, base, chunk, number, base + chunk)
        for _, _, _, number, base in ours["groups"]
        for chunk in range(number)
    )
    bucket = {row: number for number, row, *_ in ours["places"]}
    for place in range(case.attributes):
        held: dict[int, Counter[Hashable]] = defaultdict(Counter)
        for row, value in enumerate(case.values(place)):
            held[bucket[row]][value] += 1
        assert held == by_bucket(ours["sensitive" if case.attributes == 1 else NAMES[place]])


def test_groups_are_put_together_alike(duck: DuckDBEngine, spark: SparkEngine) -> None:
    case = CASES["as many groups as there are rows for"]
    with dealing(duck, spark, case) as both:
        for one in both:
            one.merged(l_diversity("recursive", 2))
        ours, theirs = (one.rows() for one in both)
    assert theirs == ours
    assert sum(bool(rows) for table, rows in ours.items() if table.startswith("broken")) > 2
    # Where all rows of a region are diverse, so are its buckets.
    first = {slot: head for slot, _, _, _, head in ours["merged"]}
    bucket = [first[slot] for slot in case.slots()]
    for place in range(len(NAMES)):
        held: dict[int, Counter[Hashable]] = defaultdict(Counter)
        whole: dict[int, list[Hashable]] = defaultdict(list)
        for row, value in enumerate(case.values(place)):
            held[bucket[row]][value] += 1
            whole[case.rows[row][0]].append(value)
        possible = {of for of, values in whole.items() if feasible(values, "recursive", 2, Fraction(C))}
        assert len(possible) > 1
        asked = {bucket[row] for row, (of, *_) in enumerate(case.rows) if of in possible}
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
                with TempTables(engine) as temp:
                    said.append(
                        refusal(
                            Dealing(engine, policy(case), own, own, Background(), temp),
                            variant,
                            least,
                        )
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
