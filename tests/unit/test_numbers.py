"""Arguments that are numbers: whole ones with a point, and thresholds of many digits, from a statement to its end."""

from __future__ import annotations

import json
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

import pytest

import sqlanon
from sqlanon.clients.session import Connection
from sqlanon.domain.numbers import rounded_fraction
from sqlanon.errors import PolicyError, StatementError

PATIENTS = """
CREATE TABLE patients AS
SELECT i % 3 AS ward, ['a', 'b', 'c'][1 + i // 3 % 3] AS disease FROM range(27) t(i);
INSERT INTO patients VALUES (0, 'a'), (1, 'b'), (2, 'c')
"""
# Of the ten rows of each ward one disease has four, of all thirty each has ten: wards are 4/10 - 1/3 = 1/15 away.
BELOW = "0.066666666666666666666666666666"
ABOVE = "0.066666666666666666666666666667"


@pytest.fixture
def con() -> Connection:
    connection = sqlanon.connect()
    connection.script(PATIENTS)
    return connection


@pytest.mark.one_in(4)
@pytest.mark.parametrize("three", ["3.0", "3.", "30e-1", "3.000000000000000000000000000000"])
def test_a_whole_number_is_taken_with_a_point(con: Connection, three: str) -> None:
    asked = f"k_anonymity(k => {three}), l_diversity(l => {three})"
    found = con.execute(f"CHECK patients (ward) SENSITIVE disease REQUIRE {asked}").fetchall()
    assert [row[3:] for row in found] == [(3.0, 10.0, True), (3.0, 3.0, True)]
    con.execute(f"CREATE POLICY p ON patients (ward QUASI IDENTIFIER MAX LEVEL 1.0, disease SENSITIVE) REQUIRE {asked}")
    con.execute("CREATE ANONYMIZED VIEW v AS POLICY p METHOD generalization")
    con.execute(f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD anatomy(l => {three})")
    assert con.execute("SELECT count(*) FROM v").fetchall() == [(30,)]
    assert all(row[-1] for row in con.execute("CHECK r").fetchall())


@pytest.mark.parametrize("asked", ["k_anonymity(k => 3.5)", "l_diversity(l => 3.0000000000000000000000000001)"])
def test_a_fraction_is_no_whole_number(con: Connection, asked: str) -> None:
    with pytest.raises(PolicyError, match="must be a whole number, not 3"):
        con.execute(f"CREATE POLICY p ON patients (ward QUASI IDENTIFIER, disease SENSITIVE) REQUIRE {asked}")
    con.execute("CREATE POLICY p ON patients (ward QUASI IDENTIFIER, disease SENSITIVE) REQUIRE k_anonymity(k => 2)")
    with pytest.raises(PolicyError, match=r"anatomy: l must be a whole number from 2 to 1000000, not 2\.5"):
        con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD anatomy(l => 2.5)")
    with pytest.raises(StatementError, match="expected a level after MAX LEVEL, which is a whole number"):
        con.execute("CREATE POLICY q ON patients (ward QUASI IDENTIFIER MAX LEVEL 1.5) REQUIRE k_anonymity(k => 2)")


@pytest.mark.long
def test_a_threshold_of_many_digits_is_kept_from_policy_to_certificate(tmp_path: Path) -> None:
    database, out = tmp_path / "p.duckdb", tmp_path / "out"
    with sqlanon.connect(str(database)) as con:
        con.script(PATIENTS)
        for name, t in (("below", BELOW), ("above", ABOVE)):
            roles = "ward QUASI IDENTIFIER MAX LEVEL 0, disease SENSITIVE"
            con.execute(f"CREATE POLICY {name} ON patients ({roles}) REQUIRE t_closeness(t => {t})")
            con.execute(
                f"CREATE ANONYMIZED VIEW v_{name} AS POLICY {name} METHOD generalization(suppression => 1)"
                if name == "below"
                else f"CREATE ANONYMIZED TABLE v_{name} AS POLICY {name} METHOD generalization"
            )
    with sqlanon.connect(str(database)) as con:
        shown = [con.execute(f"SELECT count(*) FROM v_{name}").fetchall() for name in ("below", "above")]
        assert shown == [[(0,)], [(30,)]]
        assert con.execute("CHECK v_above").fetchall()[0][-1] is True
        con.execute(f"EXPORT v_above TO '{out}' (FORMAT csv)")
    stated = json.loads((out / "certificate.json").read_text())
    assert stated["requirements"][0]["arguments"]["t"] == ABOVE
    assert ABOVE in stated["policy"]["statement"]


def test_seventeen_digits_of_a_logarithm(con: Connection) -> None:
    """ln 1.2 is 0.18232155679395462621..., which the first figure is below and the second above."""
    for delta, satisfied in (("0.18232155679395462", False), ("0.18232155679420001", True)):
        asked = f"delta_disclosure(delta => {delta})"
        (found,) = con.execute(f"CHECK patients (ward) SENSITIVE disease REQUIRE {asked}").fetchall()
        assert found[-1] is satisfied


def checked(con: Connection, asked: str) -> bool:
    ((*_, satisfied),) = con.execute(f"CHECK many (g) SENSITIVE s REQUIRE {asked}").fetchall()
    return bool(satisfied)


@pytest.mark.parametrize(("values", "rows"), [(1, 49), (3, 9), (7, 7), (10, 30)])
def test_the_entropy_of_equally_frequent_values_is_exact(con: Connection, values: int, rows: int) -> None:
    con.execute(f"CREATE TABLE even AS SELECT 1 AS g, i % {values} AS s FROM range({rows}) AS t (i)")
    asked = f"l_diversity(l => {values}, variant => 'entropy')"
    (found,) = con.execute(f"CHECK even (g) SENSITIVE s REQUIRE {asked}").fetchall()
    assert found[-2:] == (values, True)


def test_the_entropy_of_many_values_is_not_laxer(con: Connection) -> None:
    """Of 300,000 values one has three rows and the others two. A sum of so many logarithms is off by more than one."""
    con.execute(
        "CREATE TABLE many AS SELECT 0 AS g, i AS s FROM range(300000) r(i), range(2) UNION ALL SELECT 0 AS g, 0 AS s"
    )
    with localcontext() as context:
        context.prec = 40
        entropy = Decimal(600_001).ln() - (599_998 * Decimal(2).ln() + 3 * Decimal(3).ln()) / 600_001
        above, below = (entropy + Decimal("2e-13")).exp(), (entropy - Decimal("1e-8")).exp()
    assert not checked(con, f"l_diversity(l => {above:.20f}, variant => 'entropy')")
    assert checked(con, f"l_diversity(l => {below:.20f}, variant => 'entropy')")


@pytest.mark.long
def test_the_ordered_distance_of_many_values_is_not_laxer(con: Connection) -> None:
    """A million different values: products of rows, rows and values are beyond what a DOUBLE counts exactly."""
    rows, held = 1_000_003, [0, 0]
    moved = [0, 0]
    sizes = [0, 0]
    classes = [0 if (i * i + 13 * i) % 7919 < 4001 else 1 for i in range(rows)]
    for own in classes:
        sizes[own] += 1
    for i, own in enumerate(classes, start=1):
        held[own] += 1
        for one in (0, 1):
            moved[one] += abs(held[one] * rows - i * sizes[one])
    distance = max(Fraction(moved[one], sizes[one] * rows * (rows - 1)) for one in (0, 1))
    con.execute(
        f"CREATE TABLE many AS SELECT CASE WHEN (i * i + 13 * i) % 7919 < 4001 THEN 0 ELSE 1 END AS g, i AS s "
        f"FROM range({rows}) r(i)"
    )
    with localcontext() as context:
        context.prec = 30
        exact = Decimal(distance.numerator) / distance.denominator
        just_below, above = exact - Decimal("1e-15"), exact + Decimal("1e-8")
    assert not checked(con, f"t_closeness(t => {just_below:.24f}, distance => 'ordered')")
    assert checked(con, f"t_closeness(t => {above:.24f}, distance => 'ordered')")


@pytest.mark.parametrize("numerator", range(1, 13))
@pytest.mark.parametrize("denominator", [2, 3, 7, 11, 12])
def test_a_decimal_is_near_the_fraction_whose_digits_it_has(numerator: int, denominator: int) -> None:
    fraction = Fraction(numerator, denominator)
    written = Decimal(repr(numerator / denominator))
    is_exact = Fraction(written) == fraction
    assert rounded_fraction(written) == (None if is_exact else fraction)
    assert rounded_fraction(Decimal(f"{numerator / denominator:.3f}")) is None
