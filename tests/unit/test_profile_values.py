"""What PROFILE reads from values: check digits, telephone numbers, names, codes for missing values, dates as text."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from fractions import Fraction
from math import comb
from pathlib import Path
from typing import Any

import pytest

import sqlanon
from sqlanon import Connection, UserError
from sqlanon.assess.profiling import checked_values
from sqlanon.assess.profiling.sample import SampledColumn, sizes
from tests.support.names import HOSTILE, quoted


def with_digit(digits: str, weights: Sequence[int], modulus: int = 11) -> str:
    """The digits with a last one, so that the weighted sum of all has no remainder."""
    total = sum(int(digit) * weight for digit, weight in zip(digits, weights, strict=False))
    last = next(d for d in range(modulus) if (total + d * weights[len(digits)]) % modulus == 0)
    return digits + str(last) if last < 10 else ""


def luhn(digits: str) -> str:
    total = sum(sum(divmod(int(d) * (2 - i % 2), 10)) for i, d in enumerate(reversed(digits)))
    return digits + str(-total % 10)


def iban(account: str) -> str:
    number = int(f"{account}131400")
    return f"DE{98 - number % 97:02d}{account}"


def drawn(make: Callable[[random.Random], str], count: int = 40) -> list[str]:
    numbers = random.Random(7)
    values = (make(numbers) for _ in range(count * 3))
    return [value for value in dict.fromkeys(values) if value][:count]


def digits(numbers: random.Random, count: int) -> str:
    return str(numbers.randrange(10 ** (count - 1), 10**count))


def profiled(values: Sequence[Any], kind: str = "VARCHAR", name: str = "x") -> tuple[str, str]:
    """The role and the reason of one column beside another one."""
    con = sqlanon.connect()
    con.execute(f"CREATE TABLE t ({quoted(name)} {kind}, other INTEGER)")
    con.duckdb.executemany("INSERT INTO t VALUES (?, ?)", [(value, i % 7) for i, value in enumerate(values)])
    (row,) = (row for row in con.execute("PROFILE t").fetchall() if row[:2] == ("column", name))
    return row[7].partition(" USING")[0], row[8]


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (drawn(lambda r: iban(digits(r, 18))), "an account number"),
        (drawn(lambda r: luhn("4" + digits(r, 14))), "an account number, check digits of payment cards"),
        (drawn(lambda r: with_digit(digits(r, 8), (9, 8, 7, 6, 5, 4, 3, 2, -1))), "check digits of Netherlands"),
        (
            drawn(lambda r: with_digit("4" + digits(r, 8), (10, 9, 8, 7, 6, 5, 4, 3, 2, 1))),
            "check digits of United Kingdom",
        ),
        ([f"+41 44 668 {i:02d} {i:02d}" for i in range(10, 40)], "a telephone number"),
        ([f"(030) 22 77 {i:02d} {i:02d}" for i in range(10, 40)], "a telephone number"),
        ([f"2001:db8::{i:x}" for i in range(1, 40)], "an IP address"),
        ([f"47.{i}1, 8.5{i}" for i in range(10, 40)], "a place"),
        ([f"POINT ({i} {i})" for i in range(10, 40)], "a place"),
    ],
)
@pytest.mark.parametrize("times", [1, 3])
def test_forms_and_check_digits(values: list[str], reason: str, times: int) -> None:
    role, why = profiled(values * times)
    assert reason in why
    assert role == ("QUASI IDENTIFIER" if "a place" in reason else "IDENTIFIER")


@pytest.mark.parametrize("form", ["%d.%m.%Y", "%m/%d/%Y", "%d-%m-%Y"])
def test_dates_with_codes_among_them_are_no_telephone_numbers(form: str) -> None:
    days = [(date(1950, 1, 1) + timedelta(days=97 * i)).strftime(form) for i in range(200)]
    assert profiled([*days, "unknown", "99.99.9999"])[1].startswith("its values say a date")


def test_an_e_mail_address_within_a_text_identifies() -> None:
    notes = ["", "moved", "calls back in the evening"] * 30
    assert profiled(notes)[0] == "QUASI IDENTIFIER"
    assert profiled([*notes, "2 dogs @ home", "at me@home"])[0] == "QUASI IDENTIFIER"
    found = "some of its values have an e-mail address in them"
    assert profiled([*notes, "please write to anna.b@mail.example.org, thanks"]) == ("IDENTIFIER", found)


def test_a_number_with_few_values_is_not_of_people() -> None:
    role, why = profiled([i % 7 for i in range(944)], "INTEGER", "PID")
    assert role == "IDENTIFIER"
    assert why == "its name says a unique number; 7 values in 944 rows do not tell people apart"
    assert "make it ENTITY" in profiled([i % 30 for i in range(944)], "INTEGER", "PID")[1]
    assert "make it ENTITY" in profiled([i % 7 for i in range(14)], "INTEGER", "PID")[1]


def test_whole_numbers_have_check_digits_too() -> None:
    cards = drawn(lambda r: luhn("5" + digits(r, 14)))
    assert profiled([int(card) for card in cards], "BIGINT") == (
        "IDENTIFIER",
        "its values say an account number, check digits of payment cards",
    )


@pytest.mark.parametrize("seed", range(4))
def test_random_numbers_have_no_check_digits(seed: int) -> None:
    numbers = random.Random(seed)
    for count in (9, 10, 11, 15, 16):
        assert "digits" not in profiled([digits(numbers, count) for _ in range(30)])[1]


@pytest.mark.parametrize(
    ("valid", "values", "chance", "is_said"),
    [
        *((7, 7, 0.1, True), (6, 6, 0.1, False), (18, 20, 0.1, True), (17, 20, 0.1, False)),
        *((100, 100, 0.886, False), (115, 115, 0.886, True), (6, 6, 0.09, True)),
        *(
            (15, 15, 0.374, True),
            (14, 14, 0.374, False),
            (4, 4, 1 / 97, True),
            (3, 3, 1 / 97, False),
            (0, 0, 0.1, False),
        ),
    ],
)
def test_check_digits_speak_where_chance_does_not(valid: int, values: int, chance: float, is_said: bool) -> None:
    assert checked_values.speaks(valid, values, chance) is is_said
    tail = sum(comb(values, k) * Fraction(chance) ** k * (1 - Fraction(chance)) ** (values - k)
               for k in range(valid, values + 1))  # fmt: skip
    assert is_said is (values > 0 and 10 * valid >= 9 * values and tail < Fraction(1, 10**6))


@pytest.mark.parametrize(
    ("values", "fewest", "reason"),
    [
        (drawn(lambda r: luhn("4" + digits(r, 14))), 7, "check digits of payment cards"),
        (drawn(lambda r: iban(digits(r, 18))), 4, "check digits of IBAN"),
        (drawn(lambda r: with_digit(digits(r, 8), (9, 8, 7, 6, 5, 4, 3, 2, -1))), 6, "check digits of Netherlands"),
        ([f"{a}{b}DEFF" for a in "ABCDE" for b in ("ANK", "UVW", "XYZ")], 15, "form of BIC"),
        ([f"{500 + i % 90}{10 + i % 80}{1000 + i}" for i in range(120)], 118, "check digits of the United States"),
    ],
)
def test_as_many_values_as_tell_them_from_chance(values: list[str], fewest: int, reason: str) -> None:
    assert reason in (checked_values.checked(values[:fewest], []) or ("", ""))[1]
    # IBAN is recognized by its form, too.
    assert reason not in (checked_values.checked(values[: fewest - 1], []) or ("", ""))[1]


def test_numbers_of_several_kinds_are_of_the_least_likely_one() -> None:
    """Belgian numbers of eleven digits, a few in a thousand at random, are among numbers of other countries, too."""
    spoken = [check for check in checked_values._checks() if check.chance < 0.01]
    assert min(check.chance for check in spoken) == 0.001
    numbers = drawn(lambda r: belgian(r), 12)
    assert checked_values.checked(numbers, []) == ("social security number", "check digits of Belgium")


def belgian(numbers: random.Random) -> str:
    born = date(1950, 1, 1) + timedelta(days=numbers.randrange(15_000))
    body = f"{born:%y%m%d}{numbers.randrange(1, 998):03d}"
    return f"{body}{97 - int(body) % 97:02d}"


@pytest.mark.parametrize(
    ("name", "values", "reason"),
    [
        ("CAP", [f"{20_000 + 37 * i:05d}" for i in range(30)], "its name and values say a place"),
        ("via", [f"Via Roma {i}" for i in range(30)], "its name and values say an address"),
        ("via", ["SMTP", "HTTP", "post", "fax"] * 9, None),
        ("carta", [f"{10**11 + 7919 * i}" for i in range(30)], "its name and values say an account number"),
        ("carta", ["ace", "king", "queen"] * 9, None),
        ("dossier", [f"A-{10_000 + i}" for i in range(30)], "its name and values say a medical record number"),
        ("cap", ["red", "blue", "100 ml"] * 9, None),
    ],
)
def test_an_ambiguous_name_needs_values(name: str, values: list[str], reason: str | None) -> None:
    role, why = profiled(values, name=name)
    assert (reason is None and "name and values" not in why) or why.startswith(str(reason))
    assert role == ("QUASI IDENTIFIER" if reason is None or "a place" in reason else "IDENTIFIER")


PEOPLE = (
    "Anna Keller",
    "Peter Meier",
    "Maria Rossi",
    "Hans Weber",
    "Laura Bianchi",
    "Paul Durand",
    "Carlos Ruiz",
    "Emma Smith",
)
PEOPLE += ("Miller, John", "Sophie Martin", "Jan de Vries", "Julia Koch")


@pytest.mark.parametrize("times", [1, 5])
def test_full_names_identify_also_where_they_repeat(times: int) -> None:
    role, why = profiled(PEOPLE * times)
    assert role == "IDENTIFIER"
    assert why.startswith("its values say a name, given names of lists")


@pytest.mark.parametrize(
    "values",
    [
        ["January", "February", "March", "April", "May", "June", "July", "August", "September"] * 3,
        ["Heart Attack", "Head Injury", "Broken Leg", "Back Pain", "High Blood", "Common Cold", "Sore Throat", "Gout"]
        * 3,
        ["New York", "Los Angeles", "San Diego", "Fort Worth", "El Paso", "Long Beach", "Kansas City", "Las Vegas"] * 3,
        ["clerk", "nurse", "farmer", "baker", "driver", "cook", "judge", "tailor", "miner"] * 3,
        ["李明", "王芳", "张伟", "刘洋", "陈静", "杨帆", "赵敏", "黄磊", "周杰"] * 3,
    ],
)
def test_what_is_no_name(values: list[str]) -> None:
    assert "a name" not in profiled(values)[1]


def test_names_of_diseases_are_sensitive_whatever_the_column_is_called() -> None:
    assert profiled(["Acute asthma", "Influenza", "Krebs", "Hepatitis B", "well"] * 9, name="chapter") == (
        "SENSITIVE",
        "its values have words of health",
    )


def test_without_the_packages_the_answer_says_what_was_not_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checked_values, "_has", lambda package: False)
    con = sqlanon.connect()
    con.execute("CREATE TABLE t AS SELECT unnest(?) AS x, 1 AS y", [list(PEOPLE)])
    rows = con.execute("PROFILE t").fetchall()
    (remark,) = (row for row in rows if row[0] == "remark")
    for words in ("check digits", "telephone numbers", "names of people", "pip install 'sqlanon[profile]'"):
        assert words in remark[-1]
    assert next(row for row in rows if row[1] == "x")[8].startswith("100 % of its rows")
    monkeypatch.undo()
    assert "remark" not in {row[0] for row in con.execute("PROFILE t").fetchall()}


@pytest.mark.parametrize(
    ("values", "kind", "noted"),
    [
        (
            ["1.5", "2", "?", "0.25", "-3"] * 5,
            "VARCHAR",
            ['"?" looks like a code', "its other values are numbers as text"],
        ),
        (["yes", "NA", "no"] * 5, "VARCHAR", ['"NA" looks like a code', "nullstr => ['', 'NA']"]),
        (["1", "22", "333"] * 5, "VARCHAR", ['its values are numbers as text: CAST("x" AS DOUBLE)']),
        ([1, 2, 3, -9, -8] * 5, "INTEGER", ["-9, -8 look like codes", 'nullif(nullif("x", -9), -8)']),
        ([20, 45, 61, 999] * 5, "DOUBLE", ["999 looks like a code", 'nullif("x", 999)']),
        ([1, 2, 5, 9] * 5, "SMALLINT", ["9 looks like a code"]),
    ],
)
def test_codes_and_numbers_are_noted(values: list[Any], kind: str, noted: list[str]) -> None:
    _, why = profiled(values, kind)
    for words in noted:
        assert words in why


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([-9, -5, 3, 4] * 5, "INTEGER"),
        ([-1, 3, 4, 8] * 5, "INTEGER"),
        ([97, 98, 99, 95] * 5, "INTEGER"),
        (["80331", "10115", "20095"] * 5, "VARCHAR"),
        (["0123", "456", "78"] * 5, "VARCHAR"),
        (["a", "b", "c"] * 5, "VARCHAR"),
        (["-9", "-8", "3"] * 5, "VARCHAR"),
    ],
)
def test_what_is_no_code_and_no_number(values: list[Any], kind: str) -> None:
    _, why = profiled(values, kind)
    if values[0] != "-9":
        assert "code" not in why
        assert "as text" not in why


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ([23, 31, 35, 40, 44, 47, 52, 58, 61, 66, 70, 88, 999, 999, -9, -9, -9], (-9, 999)),
        ([1, 2, 3, 5, 6, 7, 8, 9, 9], None),
        ([0, 12, 40, 60, 75, 80, 99, 99], None),
        ([5, 7, 12, -98, -88, -98], (-98, -88)),
        ([*range(1000, 1040), 999999, 999999], (999999,)),
    ],
)
def test_numbers_that_stand_for_none(values: list[int], codes: tuple[int, ...] | None) -> None:
    missing = checked_values.missing_codes(SampledColumn("age", "INTEGER", tuple(values)))
    assert (missing and missing.codes) == codes
    if codes and -9 in codes:
        present = [value for value in values if value not in codes]
        assert round(sum(values) / len(values), 6) == 152.117647
        assert sum(present) / len(present) == 51.25


@pytest.mark.parametrize("kind", ["DATE", "TIMESTAMP"])
@pytest.mark.parametrize(("times", "is_noted"), [(21, True), (20, False)])
def test_frequent_dates_stand_for_none(kind: str, times: int, is_noted: bool) -> None:
    days = [*(date(1990, 1, 1) + timedelta(days=i) for i in range(60)), *[date(1900, 1, 1)] * times]
    _, why = profiled(days, kind, "left_on")
    assert ("1900-01-01 looks like" in why.replace('"', "")) is is_noted
    if is_noted:
        con = sqlanon.connect()
        con.execute("CREATE TABLE t AS SELECT unnest([DATE '1900-01-01', DATE '1990-01-01']) AS left_on")
        assert "nullif(\"left_on\", '1900-01-01')" in why
        assert con.execute("SELECT count(nullif(left_on, '1900-01-01')) FROM t").fetchall() == [(1,)]


def test_bands_of_a_column_are_the_one_pair_that_depends() -> None:
    con = sqlanon.connect()
    con.execute(
        "CREATE TABLE t AS SELECT i % 50 AS age, i % 50 // 10 AS band, i % 7 AS other, i AS id FROM range(1000) AS r(i)"
    )
    reasons = {row[1]: row[8] for row in con.execute("PROFILE t").fetchall() if row[0] == "column"}
    assert "bands of age" in reasons["band"]
    assert not any(
        name in reasons[other] for other in ("age", "other", "id") for name in ("band", "of age", "of other")
    )


def test_the_reading_that_is_proposed_mends_the_file(tmp_path: Path) -> None:
    path = tmp_path / "patients.csv"
    path.write_text("age,creatinine\n31,1.5\n32,?\n33,\n34,0.7\n", encoding="utf-8")
    con = sqlanon.connect()
    (row,) = (row for row in con.execute(f"PROFILE '{path}'").fetchall() if row[1] == "creatinine")
    _, _, text = row[8].partition("read_csv(..., ")
    options = text.partition(")")[0]
    assert options == "nullstr => ['', '?']"
    read = con.execute(f"SELECT creatinine FROM read_csv('{path}', {options}) ORDER BY age").fetchall()
    assert read == [(1.5,), (None,), (None,), (0.7,)]


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ("%d.%m.%Y", "%d.%m.%Y"),
        ("%m/%d/%Y", "%m/%d/%Y"),
        ("%Y%m%d", "%Y%m%d"),
        ("%d %b %Y", "%d %b %Y or %d %B %Y"),
        ("%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S"),
    ],
)
def test_dates_as_text_have_their_format(form: str, said: str) -> None:
    days = [date(1950, 5, 1) + timedelta(days=37 * i) for i in range(60)]
    role, why = profiled([day.strftime(form) for day in days], name="born")
    assert role == "QUASI IDENTIFIER"
    assert why.startswith("its values say a date; ")
    assert f"dates as text, in the format {said.partition(' or ')[0]}" in why
    con = sqlanon.connect()
    con.execute("CREATE TABLE t AS SELECT unnest(?) AS born", [[day.strftime(form) for day in days]])
    _, _, reading = why.partition(": ")
    assert {row[0].date() for row in con.duckdb.execute(f"SELECT {reading.split(';')[0]} FROM t").fetchall()} == set(
        days
    )


def test_day_and_month_may_be_either() -> None:
    assert "%d/%m/%Y or %m/%d/%Y" in profiled([f"{i:02d}/{j:02d}/1999" for i in range(1, 13) for j in range(1, 13)])[1]


SECRETS = ("xyzzy17", "Ann Plugh", "+41 44 668 18 00", "plugh@example.org", "4711.25", "1951-02-03")


def test_no_value_is_in_the_answer_but_codes() -> None:
    con = sqlanon.connect()
    columns = ", ".join(
        f"CASE WHEN i % 9 = 0 THEN '?' WHEN i % 2 = 0 THEN '{v}' ELSE '{v}' || i END AS c{n}"
        for n, v in enumerate(SECRETS)
    )
    con.execute(f"CREATE TABLE t AS SELECT {columns}, i AS n FROM range(60) AS r(i)")
    text = str(con.execute("PROFILE t").fetchall())
    assert not [secret for secret in SECRETS if secret in text]
    assert '"?"' in text


@pytest.mark.parametrize("rows", [0, 1])
def test_empty_null_and_nested_columns(rows: int) -> None:
    con = sqlanon.connect()
    con.execute(
        "CREATE TABLE t AS SELECT NULL::VARCHAR AS a, NULL::DOUBLE AS b, 'nan'::DOUBLE AS c, [1] AS d, {'x': 1} AS e, "
        f"DATE '2020-01-01' AS f, true AS g, '' AS h, 1::HUGEINT AS i, INTERVAL 1 DAY AS j FROM range({rows})"
    )
    assert [row[1] for row in con.execute("PROFILE t").fetchall() if row[0] == "column"] == list("abcdefghij")
    con.execute("CREATE TABLE n AS SELECT NULL AS a, NULL::VARCHAR AS b FROM range(50)")
    assert len([row for row in con.execute("PROFILE n").fetchall() if row[0] == "column"]) == 2


@pytest.mark.long
def test_hostile_names_have_functions_and_codes() -> None:
    con = sqlanon.connect()
    for name in HOSTILE:
        con.execute(
            f"CREATE OR REPLACE TABLE t AS SELECT i % 30 AS {quoted(name)}, pow(i % 30, 2) AS {quoted(name + ' 2')}, "
            f"CASE WHEN i % 7 = 0 THEN '?' ELSE 'v' || i % 5 END AS {quoted(name + ' 3')} FROM range(9001) AS r(i)"
        )
        reasons = {row[1]: row[8] for row in con.execute("PROFILE t").fetchall() if row[0] == "column"}
        assert f"the square of {name}" in reasons[f"{name} 2"]
        assert '"?" looks like a code' in reasons[f"{name} 3"]


@pytest.mark.parametrize(
    ("value", "role"),
    [("i * 3 + 5", "IDENTIFIER"), ("i * 1.5", "QUASI IDENTIFIER"), ("i * i * 1000", "QUASI IDENTIFIER")],
)
def test_whole_numbers_of_a_frame_may_be_numbers_of_rows(value: str, role: str) -> None:
    con = sqlanon.connect()
    con.execute(f"CREATE TABLE t AS SELECT ({value})::DOUBLE AS seqn, i % 5 AS n FROM range(300) AS r(i)")
    (row,) = (row for row in con.execute("PROFILE t").fetchall() if row[1] == "seqn" and row[0] == "column")
    assert row[7].partition(" USING")[0] == role


@pytest.fixture
def con(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Connection:
    monkeypatch.chdir(tmp_path)
    connection = sqlanon.connect()
    connection.execute(
        "CREATE TABLE people AS SELECT i * 7919 % 71 AS age, i % 2 AS sex, i * 7907 % 4 AS diagnosis "
        "FROM range(400) AS t(i)"
    )
    return connection


def test_into_writes_a_script_that_runs(con: Connection, tmp_path: Path) -> None:
    rows = con.execute("PROFILE people INTO 'people.sql'").fetchall()
    assert [row[0] for row in rows] == ["column", "column", "column", "script"]
    assert rows[-1][1] == "people.sql"
    text = (tmp_path / "people.sql").read_text(encoding="utf-8")
    proposed = [row[7] for row in con.execute("PROFILE people").fetchall() if row[0] in ("statement", "release")]
    assert all(f"{statement};" in text for statement in proposed)
    con.script(text)
    assert con.execute("SELECT count(*) FROM anon.release").fetchall() == [(1,)]
    assert [path.name for path in tmp_path.iterdir()] == ["people.sql"]


def test_into_replaces_a_script_alone(con: Connection, tmp_path: Path) -> None:
    con.execute("PROFILE people (age) INTO 'people.sql'")
    before = (tmp_path / "people.sql").read_bytes()
    with pytest.raises(UserError, match=r"people\.sql exists already") as caught:
        con.execute("PROFILE people INTO 'people.sql'")
    assert "(REPLACE true)" in str(caught.value.hint)
    assert (tmp_path / "people.sql").read_bytes() == before
    con.execute("PROFILE people INTO 'people.sql' (REPLACE true)")
    assert (tmp_path / "people.sql").read_bytes() != before
    (tmp_path / "people.csv").write_text("age\n1\n", encoding="utf-8")
    with pytest.raises(UserError, match="not a script of PROFILE"):
        con.execute("PROFILE people INTO 'people.csv' (REPLACE true)")
    assert (tmp_path / "people.csv").read_text(encoding="utf-8") == "age\n1\n"


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("'nowhere/people.sql'", "cannot be written"),
        ("''", "cannot be the name of a file"),
        ("'.'", "cannot be the name of a file"),
    ],
)
def test_into_a_path_that_is_none(con: Connection, tmp_path: Path, target: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        con.execute(f"PROFILE people INTO {target}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "statement", ["PROFILE people INTO people.sql", "PROFILE people INTO 'a' (REPLACE maybe)", "PROFILE people INTO"]
)
def test_into_is_read_strictly(con: Connection, statement: str) -> None:
    with pytest.raises(UserError, match="expected"):
        con.execute(statement)


def test_a_table_larger_than_its_sample_is_compared_in_all_rows() -> None:
    con = sqlanon.connect()
    # In one row of 5,000 the square is another number, and zip tells two towns.
    con.execute(
        "CREATE TABLE t AS SELECT i * 7919 % 71 AS age, if(i = 1234, 1, pow(i * 7919 % 71, 2)) AS age_sq, "
        "i % 50 AS zip, if(i = 2345, 9, i % 50 // 7) AS town, i % 50 // 11 AS county FROM range(5000) AS r(i)"
    )
    with sizes.replaced(sample_rows=500):
        reasons = {row[1]: row[8] for row in con.execute("PROFILE t").fetchall() if row[0] == "column"}
    assert "square" not in reasons["age_sq"]
    assert "zip" not in reasons["town"]
    assert "it has bands of zip" in reasons["county"]
