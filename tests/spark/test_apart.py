"""What a release of fragments keeps apart is found alike on DuckDB and on Spark, and as the definitions say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from sqlglot import exp

from sqlanon.domain.policy import Attribute, Policy, Role
from sqlanon.domain.release import Measurement
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.spark import SparkEngine
from sqlanon.methods.base import PublishedTables
from sqlanon.methods.fragmentation.association.grid_proof import PublishedAssociation, PublishedFragment
from sqlanon.methods.fragmentation.association.looseness import looseness
from sqlanon.methods.fragmentation.tables import ASSOCIATION, GROUP, association_columns
from sqlanon.methods.fragmentation.verify import FRAGMENTATION, K_LOOSENESS, kept_apart, loosely_associated
from sqlanon.sql.build.names import column, relation
from tests.oracles.fragments import correct
from tests.support.loose import agrees, judged
from tests.support.spark import registered

pytestmark = pytest.mark.spark

TEXTS = (None, "", "NULL", 'a "b"', "é", "B", "b", "${d}")
NUMBERS = (None, -(2**63), -1, 0, 2**63 - 1)
NAMES = ('a "b', "select", "Ünï ☃", "d.e")
KINDS = (pa.string(), pa.int64(), pa.string(), pa.float64())
POOLS: tuple[Sequence[Any], ...] = (TEXTS, NUMBERS, TEXTS[:3], (None, -0.5, 0.0, -0.0, float("inf"), 1e-300))

Rows = list[tuple[Any, ...]]


@dataclass(frozen=True)
class Published:
    """Fragments, each row with its group last, and the association."""

    fragments: tuple[tuple[str, ...], ...]
    rows: tuple[Rows, ...]
    groups: Rows

    def tables(self) -> dict[str, pa.Table]:
        kinds = dict(zip(NAMES, KINDS, strict=True))
        made = {}
        for number, (own, rows) in enumerate(zip(self.fragments, self.rows, strict=True), start=1):
            typed = [(name, kinds[name]) for name in own]
            made[f"fragment_{number}"] = arrow([*typed, (GROUP, pa.int64())], rows)
        names = association_columns(len(self.fragments))
        return made | {ASSOCIATION: arrow([(name, pa.int64()) for name in names], self.groups)}


def arrow(columns: Sequence[tuple[str, pa.DataType]], rows: Rows) -> pa.Table:
    return pa.table({name: pa.array([row[i] for row in rows], kind) for i, (name, kind) in enumerate(columns)})


def published(seed: int, fragments: Sequence[Sequence[str]], size: int, groups: int) -> Published:
    """Rows in groups at random, all different where groups are many; up to two of them are changed afterwards."""
    random = Random(seed)
    pools = dict(zip(NAMES, POOLS, strict=True))
    rows: list[Rows] = []
    for own in fragments:
        drawn = [tuple(random.choice(pools[name]) for name in own) for _ in range(size)]
        rows.append([(*values, place % groups) for place, values in enumerate(drawn)])
    association: Rows = [
        tuple(place % groups if f == 0 else (place // 2) % groups for f in range(len(fragments)))
        for place in range(size)
    ]
    for _ in range(random.randrange(3) if size else 0):
        fragment, place = random.randrange(len(fragments)), random.randrange(size)
        rows[fragment][place] = (*rows[fragment][place][:-1], random.choice([None, 0, groups]))
    return Published(tuple(map(tuple, fragments)), tuple(rows), association)


TWO, THREE = ((NAMES[0], NAMES[1]), (NAMES[2], NAMES[3])), ((NAMES[0],), (NAMES[1],), (NAMES[2], NAMES[3]))
CONSTRAINTS = [(NAMES[0], NAMES[2]), (NAMES[3], NAMES[1], NAMES[0])]
CASES = {
    "two fragments": published(3, TWO, 18, 9),
    "three fragments": published(2, THREE, 24, 5),
    "no rows": published(5, TWO, 0, 1),
}


def as_published(one: Published) -> PublishedAssociation:
    own = tuple(
        PublishedFragment(relation(f"fragment_{i}"), names, GROUP) for i, names in enumerate(one.fragments, start=1)
    )
    return PublishedAssociation(relation(ASSOCIATION), tuple(association_columns(len(own))), own)


@pytest.mark.parametrize("name", CASES)
def test_looseness_is_seen_alike(name: str, duck: DuckDBEngine, spark: SparkEngine) -> None:
    one = CASES[name]
    with registered(duck, spark, one.tables()):
        here, there = (looseness(engine, as_published(one), CONSTRAINTS) for engine in (duck, spark))
    assert there == here
    assert agrees(here, judged(one.fragments, one.rows, one.groups, CONSTRAINTS))
    held = [Counter(row[-1] for row in rows) for rows in one.rows]
    linked = [Counter(row[place] for row in one.groups) for place in range(len(held))]
    assert here.sizes == tuple(min(counts.values(), default=None) for counts in held)
    assert here.unmatched == tuple(
        sum(own[group] != other[group] for group in {*own, *other}) for own, other in zip(held, linked, strict=True)
    )


def test_the_associations_differ_in_what_holds_of_them() -> None:
    """Comparing would be worth little where all of them were heterogeneous, or none in any way."""
    pairs = [p for one in CASES.values() for p in judged(one.fragments, one.rows, one.groups, CONSTRAINTS).values()]
    for held in ([p.group for p in pairs], [p.association for p in pairs], [p.deep for p in pairs]):
        assert set(held) == {True, False}
    assert len({pair.k for pair in pairs}) > 3


def policy(confidential: Sequence[tuple[str, ...]], visible: Sequence[tuple[str, ...]]) -> Policy:
    attributes = tuple(Attribute(name, Role.INSENSITIVE) for name in NAMES)
    source = QualifiedName(("source",))
    return Policy("p", source, attributes, (), confidential=tuple(confidential), visible=tuple(visible))


@pytest.mark.parametrize(
    ("name", "confidential", "visible", "k"),
    [
        ("two fragments", CONSTRAINTS, [NAMES[:2]], 2),
        ("two fragments", [*CONSTRAINTS, NAMES[2:]], [NAMES[1:3], NAMES[3:]], 9),
    ],
)
def test_what_is_kept_apart_is_found_alike(
    name: str, confidential: Any, visible: Any, k: int, duck: DuckDBEngine, spark: SparkEngine
) -> None:
    one, asked = CASES[name], policy(confidential, visible)
    with registered(duck, spark, one.tables()):
        loosely: dict[str, Any] = {table: relation(table) for table in one.tables()}
        alone = {
            table: exp.select(*map(column, own)).from_(loosely[table]).subquery("part")
            for table, own in zip(loosely, one.fragments, strict=False)
        }
        here, there = (
            loosely_associated(
                PublishedTables(engine, asked, loosely, {}, suppressed=0), lambda *_: ((), k), proven=None
            )
            for engine in (duck, spark)
        )
        assert there == here
        apart = [kept_apart(PublishedTables(engine, asked, alone, {}, suppressed=0)) for engine in (duck, spark)]
        assert [found.measurements for found in apart] == [here.measurements[:1]] * 2
    fragments = [frozenset(own) for own in one.fragments]
    kept = [correct(fragments, [frozenset(part)], []) for part in confidential]
    kept += [correct(fragments, [], [frozenset(part)]) for part in visible]
    assert here.measurements[0] == Measurement(FRAGMENTATION, None, len(kept), sum(kept), all(kept))
    pairs = judged(one.fragments, one.rows, one.groups, confidential).values()
    found = min(pair.k for pair in pairs if pair.k is not None)
    loose = here.measurements[1]
    assert (loose.question, loose.required, loose.achieved) == (K_LOOSENESS, k, found)
    assert loose.satisfied is False
