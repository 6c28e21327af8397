"""Labels as a reader sees them: a few values of each functional kind, written out."""

from __future__ import annotations

from decimal import Decimal

import pytest

from sqlanon.domain.policy import HierarchyDefinition
from sqlanon.domain.values import Value
from tests.support.hierarchies import labelled


def labels(kind: str, arguments: tuple[Value, ...], column_type: str, value: str, **options: Value) -> tuple[str, ...]:
    definition = HierarchyDefinition("h", kind, arguments, tuple(options.items()))
    return tuple(str(label) for label in labelled(definition, column_type, [value])[0][1])


@pytest.mark.parametrize(
    ("arguments", "options", "column_type", "value", "expected"),
    [
        ((5, 10, 20, 40), {}, "INTEGER", "22", ("[20,25)", "[20,30)", "[20,40)", "[0,40)")),
        ((5, 10), {}, "UTINYINT", "255", ("[255,260)", "[250,260)")),
        ((5, 10), {}, "TINYINT", "-128", ("[-130,-125)", "[-130,-120)")),
        ((5,), {}, "INTEGER", "-1", ("[-5,0)",)),
        ((5,), {}, "INTEGER", "-5", ("[-5,0)",)),
        ((5,), {"low": 18, "high": 65}, "INTEGER", "17", ("(-inf,18)",)),
        ((5,), {"low": 18, "high": 65}, "INTEGER", "64", ("[63,65)",)),
        ((5,), {"low": 18, "high": 65}, "INTEGER", "65", ("[65,inf)",)),
        ((5, 10), {"low": -7}, "INTEGER", "0", ("[-2,3)", "[-7,3)")),
        ((10,), {}, "BIGINT", "9223372036854775807", ("[4000000000000000000,inf)",)),
        ((10,), {}, "UBIGINT", "18446744073709551615", ("[18446744073709551610,18446744073709551620)",)),
        ((7,), {}, "HUGEINT", str(-(2**127)), (f"(-inf,-{10**37 // 7 * 7})",)),
        ((7,), {}, "UHUGEINT", str(2**128 - 1), (f"[{10**37 // 7 * 7},inf)",)),
        ((1,), {}, "DECIMAL(38,38)", "-0.00000000000000000000000000000000000001", ("[-1,0)",)),
        ((1,), {}, "DECIMAL(2,2)", "-0.05", ("[-1,0)",)),
        ((Decimal("0.1"), 1), {}, "DECIMAL(4,2)", "0.15", ("[0.1,0.2)", "[0,1)")),
        ((Decimal("0.1"), 1), {}, "DOUBLE", "0.3", ("[0.3,0.4)", "[0,1)")),
        ((Decimal("0.1"),), {}, "DOUBLE", "0.7", ("[0.7,0.8)",)),
        ((Decimal("0.1"),), {}, "FLOAT", "0.7", ("[0.7,0.8)",)),
        ((Decimal("0.1"),), {}, "DOUBLE", "-0.05", ("[-0.1,0.0)",)),
        ((Decimal("0.01"),), {}, "DOUBLE", "0.29", ("[0.29,0.30)",)),
        ((Decimal("0.01"),), {}, "DOUBLE", "-0.58", ("[-0.58,-0.57)",)),
        ((Decimal("0.25"),), {"high": Decimal("0.6")}, "DOUBLE", "0.55", ("[0.50,0.60)",)),
        ((1,), {}, "DOUBLE", "-5e-324", ("[-1,0)",)),
        ((1,), {}, "DOUBLE", "1e300", ("[1000000000000000,inf)",)),
    ],
)
def test_intervals(
    arguments: tuple[Value, ...], options: dict[str, Value], column_type: str, value: str, expected: tuple[str, ...]
) -> None:
    assert labels("intervals", arguments, column_type, value, **options) == expected


@pytest.mark.parametrize(
    ("column_type", "value", "expected"),
    [
        ("VARCHAR", "94141", ("9414*", "941**", "94***")),
        ("VARCHAR", "941", ("941", "941", "94*")),
        ("VARCHAR", "", ("", "", "")),
        ("VARCHAR", "*****", ("*****", "*****", "*****")),
        ("VARCHAR", "caf\N{LATIN SMALL LETTER E}\N{COMBINING ACUTE ACCENT}s", ("cafe**", "caf***", "ca****")),
        ("INTEGER", "-94141", ("-941**", "-94***", "-9****")),
        ("ENUM('94141', 'b''c')", "94141", ("9414*", "941**", "94***")),
    ],
)
def test_prefixes(column_type: str, value: str, expected: tuple[str, ...]) -> None:
    assert labels("prefixes", (4, 3, 2), column_type, value) == expected


MOMENT = "1950-06-02 13:30:00"


@pytest.mark.parametrize(
    ("units", "column_type", "value", "expected"),
    [
        (("HOUR", "DAY"), "TIMESTAMP", MOMENT, ("1950-06-02 13h", "1950-06-02")),
        (("MONTH", "QUARTER", "YEAR"), "TIMESTAMP_MS", MOMENT, ("1950-06", "1950-Q2", "1950")),
        (("DECADE", "CENTURY"), "DATE", "1950-06-02", ("195*", "19**")),
        (("DECADE", "CENTURY"), "DATE", "2000-01-01", ("200*", "20**")),
        (("DAY", "WEEK"), "DATE", "1950-06-02", ("1950-06-02", "1950-W22")),
        (("WEEK",), "DATE", "2021-01-03", ("2020-W53",)),
        (("WEEK",), "DATE", "2019-12-30", ("2020-W01",)),
        (("WEEK",), "DATE", "5877642-06-25 (BC)", ("-5877641-W26",)),
        (("DAY", "YEAR", "CENTURY"), "DATE", "0044-03-15 (BC)", ("-0043-03-15", "-0043", "-00**")),
        (("YEAR", "DECADE"), "DATE", "0001-12-31 (BC)", ("0000", "000*")),
        (("MONTH", "DECADE", "CENTURY"), "DATE", "12345-01-01", ("12345-01", "1234*", "123**")),
        (("HOUR",), "TIMESTAMP_NS", "1969-12-31 23:59:59.999999999", ("1969-12-31 23h",)),
    ],
)
def test_calendar(units: tuple[Value, ...], column_type: str, value: str, expected: tuple[str, ...]) -> None:
    assert labels("calendar", units, column_type, value) == expected
