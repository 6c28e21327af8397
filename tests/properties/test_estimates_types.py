"""The truth lies within the bounds of ESTIMATE for values of every type that it measures, ordinary or not."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.database import new_database
from tests.support.estimates.figures import figures_of

HUGE = 2**63
RANGES = ("mondrian", "mondrian(bounds => true)", "mondrian(publish => 'ancestor')")
LEVELS = (
    "generalization",
    "generalization(recoding => 'local', suppression => 0.4)",
    "mondrian(publish => 'ancestor')",
)
DATES = [date(1, 1, 1), date(1969, 12, 31), date(1970, 1, 1), date(1970, 1, 31), date(2000, 2, 29), date(9999, 12, 31)]
MOMENTS = [
    datetime(1582, 10, 15, 1),
    datetime(1969, 12, 31, 23, 59, 59, 999_999),
    datetime(1970, 1, 1),
    datetime(2024, 2, 29),
]
# Two of them have the same time of day in Berlin, in the hour that comes twice.
INSTANTS = [
    *("1582-10-15 01:00:00+00", "1969-12-31 23:59:59.999999+00", "1970-01-01 00:00:00+05:45"),
    *("2024-03-31 01:00:00+00", "2024-10-27 00:30:00+00", "2024-10-27 01:30:00+00", "infinity", "-infinity"),
]
# The time zones of sessions, of which one makes a release and others ask it.
ZONES = ("UTC", "Europe/Berlin", "Asia/Kathmandu", "America/Caracas")
NUMBERS = [-1e300, -0.5, 0.1, 0.2, 0.30000000000000004, 1e17, 1e300, float("nan"), float("inf")]
TEXTS = [
    "",
    "*",
    "**",
    " ",
    "NULL",
    "[a, b]",
    "a or NULL",
    'a "b"',
    "B",
    "a",
    "é1",
    "é2",
    "\n",
    "12",
    "19",
    "94*41",
    "-1",
]
CODES = [
    *("94110", "94118", "94139", "94210", "9413", "9414", "942", "94", "9", "", "9413x", "94:00", "941**"),
    *("*", "é4130", "[94110, 94190]", "94110 or NULL", "00120", "00190", "000120"),
]
DOMAINS: dict[str, tuple[str, str | None, Sequence[Any], Sequence[str], Sequence[str]]] = {
    "huge": (
        "BIGINT",
        None,
        [-HUGE, -1, 0, 2**53, 2**53 + 1, HUGE - 1],
        [f"{HUGE - 1}", "0", "0.5", f"{2**53 + 1}"],
        RANGES,
    ),
    "wide": ("BIGINT", "INTERVALS (1000000000000)", [-HUGE, -1, 0, 5, HUGE - 1], ["0", "7", f"{-HUGE}"], LEVELS),
    "digits": (
        "INTEGER",
        "PREFIXES (2, 1)",
        [-120, -19, -5, 0, 7, 12, 19, 100, 199],
        ["0", "-19", "15", "150"],
        LEVELS,
    ),
    "doubles": ("DOUBLE", None, NUMBERS, ["0.1", "0.2", "1e300", "'nan'", "'inf'"], RANGES),
    "steps": ("DOUBLE", "INTERVALS (0.5, 1)", NUMBERS, ["0.1", "0", "1e300", "-0.25"], LEVELS),
    "cents": (
        "DECIMAL(9,2)",
        "INTERVALS (0.25, 1)",
        ["-0.01", "0.00", "0.10", "0.24", "0.25", "99.99"],
        ["0.1", "0.245"],
        LEVELS,
    ),
    "dates": ("DATE", None, DATES, ["DATE '1970-01-01'", "'2000-02-29'", "TIMESTAMP '1969-12-31 12:00:00'"], RANGES),
    "months": ("DATE", "CALENDAR (MONTH, DECADE)", DATES, ["DATE '1970-01-15'", "'2000-02-29'"], LEVELS),
    "ends": (
        "INTEGER",
        "INTERVALS (ends, 5, low => 0, high => 90, below => 'debt', above => 'a lot')",
        [-19, -1, 0, 7, 88, 90, 104],
        ["0", "7", "90", "95"],
        LEVELS,
    ),
    "births": (
        "DATE",
        "CALENDAR (MONTH, DECADE, low => DATE '1969-06-01', high => DATE '2000-03-01')",
        DATES,
        ["DATE '1970-01-15'", "'2000-02-29'", "DATE '1969-06-01'"],
        LEVELS,
    ),
    "moments": (
        "TIMESTAMP",
        "CALENDAR (HOUR, YEAR)",
        MOMENTS,
        ["'1970-01-01'", "'1969-12-31 23:59:59.999999'"],
        LEVELS,
    ),
    "instants": (
        "TIMESTAMP WITH TIME ZONE",
        None,
        INSTANTS,
        [
            *("'1970-01-01'", "'2024-10-27 02:30:00'", "'2024-10-27 02:30:00+02'", "'infinity'"),
            *("DATE '2024-10-27'", "TIMESTAMPTZ '2024-10-27 01:30:00+01'", "TIMESTAMP '2024-03-31 02:30:00'"),
        ],
        RANGES,
    ),
    "codes": (
        "VARCHAR",
        "PREFIXES (3, 2)",
        CODES,
        ["'9413'", "'94130'", "'9415x'", "'942'", "'[94110, 94190]'", "'9'", "'é'", "'94:00'"],
        RANGES,
    ),
    "numbers": (
        "INTEGER",
        "PREFIXES (2, 1)",
        [-94130, -120, 0, 7, 12, 19, 120, 129, 9410, 9419, 94110, 94139],
        ["0", "-100", "15", "125", "9415", "94120"],
        RANGES,
    ),
    "texts": ("VARCHAR", None, TEXTS, ["''", "'a'", "'[a, b]'", "'é'"], RANGES),
    "masks": ("VARCHAR", "PREFIXES (2, 1)", TEXTS, ["'*'", "'12'", "'é1'", "'a'"], LEVELS),
}


@pytest.mark.one_in(12)
@pytest.mark.parametrize("domain", DOMAINS)
def test_the_truth_is_within_the_bounds(domain: str) -> None:
    kind, hierarchy, values, constants, methods = DOMAINS[domain]
    conditions = st.one_of(
        st.builds("x {} {}".format, st.sampled_from(["=", "<>", "<", "<=", ">", ">="]), st.sampled_from(constants)),
        st.builds("NOT (x BETWEEN {} AND {})".format, st.sampled_from(constants), st.sampled_from(constants)),
        st.builds("x IN ({}, NULL, {})".format, st.sampled_from(constants), st.sampled_from(constants)),
        st.sampled_from(["x IS NULL", "x LIKE '9%'", "x LIKE 'é%'"] if kind == "VARCHAR" else ["x IS NULL"]),
    )

    @settings(max_examples=2, deadline=None, suppress_health_check=[*HealthCheck])
    @given(
        st.lists(st.sampled_from([*values, None]), min_size=2, max_size=9),
        st.sampled_from(methods),
        st.lists(conditions, min_size=3, max_size=3),
        st.lists(st.sampled_from(ZONES), min_size=4, max_size=4),
    )
    def holds(rows: list[Any], method: str, asked: list[str], zones: list[str]) -> None:
        with new_database() as con:
            con.execute(f"SET TimeZone = '{zones[-1]}'")
            con.execute(f"CREATE TABLE t (x {kind})")
            for row in rows:
                con.duckdb.execute("INSERT INTO t VALUES (?)", [row])
            using = "USING h" if hierarchy else ""
            con.execute(f"CREATE HIERARCHY h AS {hierarchy or 'INTERVALS (1)'}")
            con.execute(f"CREATE POLICY p ON t (x QUASI IDENTIFIER {using}) REQUIRE k_anonymity(k => 2)")
            con.execute(f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD {method}")
            for condition, zone in zip(asked, zones, strict=False):
                con.execute(f"SET TimeZone = '{zone}'")
                query = f"SELECT count(*) AS n FROM t WHERE {condition}"
                ((truth,),) = con.duckdb.execute(query).fetchall()
                ((value, spread, low, high),) = figures_of(con.sql(f"ESTIMATE {query} FROM RELEASE r"))
                assert low <= truth <= high, (condition, rows)
                assert value is None or (low <= value <= high and spread >= 0), (condition, rows)

    holds()


@pytest.mark.one_in(2)
def test_each_number_between_the_ends_of_a_range_of_codes_is_as_likely() -> None:
    @settings(max_examples=3, deadline=None, suppress_health_check=[*HealthCheck])
    @given(
        st.lists(st.sampled_from(["94110", "94112", "94139", "94170", "95001", "95020", "00120", "00190"]), min_size=4),
        st.integers(94_000, 95_100),
    )
    def holds(rows: list[str], constant: int) -> None:
        with new_database() as con:
            con.execute("CREATE TABLE t (x VARCHAR)")
            con.duckdb.executemany("INSERT INTO t VALUES (?)", [[row] for row in rows])
            con.execute("CREATE HIERARCHY h AS PREFIXES (4, 2)")
            con.execute("CREATE POLICY p ON t (x QUASI IDENTIFIER USING h) REQUIRE k_anonymity(k => 3)")
            con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD mondrian")
            labels = [label for (label,) in con.duckdb.execute("SELECT x FROM r").fetchall()]
            query = f"SELECT count(*) AS n FROM t WHERE x <= '{constant:05}'"
            ((value, _, low, high),) = figures_of(con.sql(f"ESTIMATE {query} FROM RELEASE r"))
        shares = [share_of_range(label, constant) for label in labels]
        assert low <= sum(row <= f"{constant:05}" for row in rows) <= high
        if None in shares:
            assert value is None
        else:
            assert value == pytest.approx(sum(share for share in shares if share is not None))

    holds()


def share_of_range(label: str, constant: int) -> float | None:
    """The share of the numbers of a label up to a constant, by counting them; None where nobody knows them."""
    low, _, high = label.strip("[]").partition(", ")
    high = high or low
    if low[:2] != high[:2]:
        return None
    numbers = range(int(low), int(high) + 1)
    return sum(number <= constant for number in numbers) / len(numbers)
