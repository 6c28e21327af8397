"""Every privacy model that can be asked of buckets, against its oracle."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable

import pytest

from sqlanon import Connection, PolicyError
from sqlanon.sql.questions.load import load_question
from tests.oracles.models.support import Class, Table
from tests.support.models import patients as patients

BUCKETS = [name for name in patients.LIVE if name not in patients.HIDDEN]
TOGETHER = [name for name in BUCKETS if patients.sensitive(name)[0] == "disease"]
# Regions are divided one by one.
NEAR = [name for name in BUCKETS if not load_question(name).whole_release]


@pytest.fixture(scope="module")
def con() -> Connection:
    return patients.database()


def buckets(con: Connection, release: str) -> Table:
    """The buckets as whoever has both tables sees them: each row has one of its bucket's values."""
    values: list[Hashable] = []
    classes: dict[Class, list[int]] = defaultdict(list)
    disease_of = {days: disease for disease, days in patients.DAYS.items()}
    for bucket, value, count in con.duckdb.execute(f"FROM {release}_sensitive").fetchall():
        classes[bucket] += range(len(values), len(values) + count)
        values += [disease_of.get(value, value)] * count
    taxonomy: dict[Hashable, tuple[Hashable, ...]] = dict(patients.DISEASES)
    taxonomy |= {value: ((value, "own"), (value, "own")) for value in set(values) - taxonomy.keys()}
    ranges = {value: tuple(map(patients.exactly, ends)) for value, ends in patients.RANGES.items()}
    return Table(dict(classes), values, taxonomy=taxonomy, ranges=ranges, known=patients.TRIPLES)  # type: ignore[arg-type]


@pytest.mark.one_in(24)
@pytest.mark.parametrize(
    ("name", "grouping"), [*((name, "random") for name in BUCKETS), *((name, "near") for name in NEAR[::4])]
)
def test_a_requirement_of_the_policy_holds_of_the_buckets(con: Connection, name: str, grouping: str) -> None:
    patients.policy(con, name)
    con.execute(f"CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p METHOD anatomy(l => 2, grouping => '{grouping}')")
    table = buckets(con, "r")
    assert table.baseline == Counter(row[4] for row in patients.patients())
    sizes = dict(con.duckdb.execute("SELECT bucket, count(*) FROM r_qi GROUP BY bucket").fetchall())
    assert sizes == {bucket: len(places) for bucket, places in table.classes.items()}
    found = patients.checked(con)
    patients.holds(name, table, found[name])
    if name != "probabilistic_l_diversity":
        assert found["probabilistic_l_diversity"][-1] is True


@pytest.mark.long
def test_all_of_them_together(con: Connection) -> None:
    patients.policy(con, *TOGETHER)
    con.execute("CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p METHOD anatomy(l => 2, variant => 'distinct')")
    table, found = buckets(con, "r"), patients.checked(con)
    assert len(table.classes) > 1
    for name in TOGETHER:
        if name != "distinct_l_diversity":
            patients.holds(name, table, found[name])


@pytest.mark.parametrize("name", patients.HIDDEN)
def test_what_no_table_shows_is_refused(con: Connection, name: str) -> None:
    patients.policy(con, name)
    with pytest.raises(PolicyError, match=f"anatomy cannot meet {name}"):
        con.execute("CREATE ANONYMIZED TABLE refused AS POLICY p METHOD anatomy(l => 2)")
