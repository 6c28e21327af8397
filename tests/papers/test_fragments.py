"""The hospital of the fragments and loose associations papers, through the statements."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest

from sqlanon import Connection
from tests.oracles.loose import pair
from tests.support.database import new_database, rows
from tests.support.hospital import OTHERS

WHOLE = [*OTHERS, ("1958-12-11", "F", "94142", "Pneumonia")]
ROLES = "dob QUASI IDENTIFIER, sex QUASI IDENTIFIER, zip QUASI IDENTIFIER, disease SENSITIVE"


@pytest.fixture
def con() -> Connection:
    connection = new_database()
    connection.execute("CREATE TABLE hospital (dob VARCHAR, sex VARCHAR, zip VARCHAR, disease VARCHAR)")
    for row in WHOLE:
        connection.duckdb.execute("INSERT INTO hospital VALUES (?, ?, ?, ?)", list(row))
    connection.execute(
        f"CREATE POLICY p ON hospital ({ROLES}) CONFIDENTIAL (dob, sex, zip, disease) VISIBLE (dob, sex, zip)"
    )
    return connection


def test_the_two_fragments_of_the_paper(con: Connection) -> None:
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD fragments")
    assert Counter(rows(con, "FROM r_1")) == Counter(row[:3] for row in WHOLE)
    assert Counter(rows(con, "FROM r_2")) == Counter(row[3:] for row in WHOLE)
    plan = con.execute("EXPLAIN VERBOSE ANONYMIZED TABLE s AS POLICY p METHOD fragments").fetchall()
    assert ("solve", "fragments", "2: proven minimal") in plan


@pytest.mark.one_in(4)
@pytest.mark.parametrize("method", ["k => 4", "groups => (2, 2)", "k => 4, near => true", "k => 3, groups => (2, 2)"])
def test_groups_of_two_are_4_loose(con: Connection, method: str) -> None:
    con.execute(f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD loose({method}, suppression => 0.3)")
    left, right, linked = (rows(con, f"FROM r_{name}") for name in ("1", "2", "association"))
    # 17 rows are four blocks of four and one row besides, which the paper leaves out. One row alone would be known by
    # what the tables lack; so are not more than one in k of five.
    assert [len(left), len(right), len(linked)] == [12, 12, 12]
    assert set(Counter(row[-1] for row in left).values()) == set(Counter(row[-1] for row in right).values()) == {2}
    one, other = ([(row[:-1], row[-1]) for row in table] for table in (left, right))
    for judged in (pair(one, other, linked), pair(other, one, [(h, g) for g, h in linked])):
        assert (judged.group, judged.association, judged.deep, judged.k) == (True, True, True, 4)
    # What is said of a patient is true: the disease is in a group that the patient's group is linked to.
    truth = {row[:3]: row[3] for row in WHOLE}
    diseases = defaultdict(set)
    for disease, group in right:
        diseases[group].add(disease)
    for *patient, group in left:
        assert any(truth[tuple(patient)] in diseases[h] for g, h in linked if g == group)
    *_, looseness, missing, _ = con.execute("CHECK r").fetchall()
    assert looseness[4:] == (4.0, True)
    assert missing[1:] == ("left_out", None, looseness[3], 5.0, True)
    assert set(Counter(disease for *_, disease in WHOLE) - Counter(disease for disease, _ in right)) == {
        disease for (*person, disease) in WHOLE if tuple(person) not in {row[:-1] for row in left}
    }


@pytest.mark.long
def test_a_loose_association_of_three_fragments(con: Connection) -> None:
    con.execute(f"CREATE POLICY three ON hospital ({ROLES}) CONFIDENTIAL (dob, disease), (zip, disease), (dob, zip)")
    _, looseness, *_ = con.execute(
        "CREATE ANONYMIZED TABLE r AS POLICY three METHOD loose(groups => (2, 2, 2), suppression => 1)"
    ).fetchall()
    assert looseness[9:12] == (4.0, 4.0, True)
    assert {name for (name,) in con.duckdb.execute("SELECT table_name FROM duckdb_tables()").fetchall()} >= {
        *("r_1", "r_2", "r_3", "r_association")
    }
