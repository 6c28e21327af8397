"""Open ends: values beyond them have one label at each level, and the others what they have without ends."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlanon.domain.policy import HierarchyDefinition
from sqlanon.sql.hierarchies.base import open_ends, values_at
from tests.oracles import hierarchies as oracle
from tests.support.database import new_database
from tests.support.draws import draws
from tests.support.estimates.figures import figures_of
from tests.support.hierarchies import assert_levels_nest, assert_null_stays_null, labelled, quick

pytestmark = pytest.mark.drawn

BELOW, ABOVE = 'under "it", it\'s', "\N{SNOWMAN} and over"
EPOCH = date(1970, 1, 1)


def defined(kind: str, *arguments: object, **options: object) -> HierarchyDefinition:
    return HierarchyDefinition("ends", kind, arguments, tuple(options.items()))


@pytest.mark.parametrize("kind", ["INTEGER", "HUGEINT", "DECIMAL(9,2)", "DOUBLE"])
@settings(quick, max_examples=draws(4, long=30))
@given(
    values=st.lists(st.integers(-30_000, 30_000), max_size=20),
    low=st.none() | st.integers(-200, 100),
    length=st.integers(1, 200),
    widths=st.sampled_from([(), (5,), (5, 10), (7, 21)]),
)
def test_values_between_the_ends_are_shown(
    values: list[int], low: int | None, length: int, widths: tuple[int, ...], kind: str
) -> None:
    high = (low or 0) + length
    options = {"high": high, "above": ABOVE, **({} if low is None else {"low": low, "below": BELOW})}
    definition = defined("intervals", "ENDS", *widths, **options)
    whole = "INT" in kind
    rows = labelled(definition, kind, [str(value if whole else Decimal(value).scaleb(-2)) for value in values])
    assert_null_stays_null(rows)
    assert_levels_nest(rows)
    for shown, labels in rows:
        if shown is None:
            continue
        end = oracle.beyond(Decimal(shown), low, high, BELOW, ABOVE)
        if end is not None:
            assert set(labels) == {end}
            continue
        assert labels[0] == shown
        for width, label in zip(widths, labels[1:], strict=True):
            assert oracle.bounds(label) == oracle.interval(Decimal(shown), width, low, high)


@pytest.mark.parametrize("kind", ["DATE", "TIMESTAMP", "TIMESTAMP_NS", "TIMESTAMP_S"])
@settings(quick, max_examples=draws(3, long=30))
@given(
    days=st.lists(st.integers(-60_000, 60_000), max_size=20),
    low=st.none() | st.integers(1840, 2000),
    length=st.integers(1, 60),
    units=st.sampled_from([("DAY", "WEEK"), ("MONTH", "QUARTER", "YEAR"), ("YEAR", "DECADE", "CENTURY")]),
)
def test_dates_beyond_the_ends_have_one_label(
    days: list[int], low: int | None, length: int, units: tuple[str, ...], kind: str
) -> None:
    first, last = date(low, 1, 1) if low else None, date((low or 1950) + length, 1, 1)
    options = {"high": str(last), "above": ABOVE, **({"low": str(first), "below": BELOW} if first else {})}
    moments = [str(EPOCH + timedelta(days=day)) for day in days]
    # The last nanosecond before the end is not at the end.
    edges = [f"{last - timedelta(days=1)} 23:59:59.999999999", f"{last}"] if kind == "TIMESTAMP_NS" else [f"{last}"]
    rows = labelled(defined("calendar", *units, **options), kind, [*moments, *edges])
    assert_null_stays_null(rows)
    assert_levels_nest(rows)
    for shown, labels in rows:
        if shown is not None:
            day = date.fromisoformat(shown[:10])
            end = oracle.beyond(day, first, last, BELOW, ABOVE)
            periods = tuple(oracle.period(unit, (day - EPOCH).days) for unit in units)
            assert labels == ((end,) * len(units) if end else periods)


@pytest.mark.parametrize("kind", ["DATE", "TIMESTAMP", "TIMESTAMP_NS", "TIMESTAMP_S"])
@settings(quick, max_examples=draws(3, long=30))
@given(
    days=st.lists(st.integers(-60_000, 60_000), max_size=20),
    low=st.none() | st.integers(-40_000, 10_000),
    length=st.integers(1, 20_000),
    units=st.sampled_from([(), ("WEEK",), ("DAY", "MONTH"), ("YEAR", "DECADE"), ("CENTURY",)]),
)
def test_dates_between_the_ends_are_shown(
    days: list[int], low: int | None, length: int, units: tuple[str, ...], kind: str
) -> None:
    # Any day may be an end, since no unit is finer than the values that the first level shows.
    first = None if low is None else EPOCH + timedelta(days=low)
    last = (first or EPOCH) + timedelta(days=length)
    options = {"high": str(last), "above": ABOVE, **({"low": str(first), "below": BELOW} if first else {})}
    moments = [f"{EPOCH + timedelta(days=day)}{'' if kind == 'DATE' else ' 12:30:00'}" for day in days]
    rows = labelled(defined("calendar", "ends", *units, **options), kind, [*moments, str(last)])
    assert_null_stays_null(rows)
    assert_levels_nest(rows)
    for shown, labels in rows:
        if shown is not None:
            day = date.fromisoformat(shown[:10])
            end = oracle.beyond(day, first, last, BELOW, ABOVE)
            periods = (shown, *(oracle.period(unit, (day - EPOCH).days) for unit in units))
            assert labels == ((end,) * (len(units) + 1) if end else periods)


def test_the_worked_example_holds() -> None:
    # E38 of the definitions.
    ages = defined("intervals", "ENDS", 5, 10, low=18, high=90, below="under 18", above="90 and over")
    rows = dict(labelled(ages, "INTEGER", ["17", "18", "89", "90", "104"]))
    assert [rows[age][0] for age in ("17", "18", "89", "90", "104")] == [
        *("under 18", "18", "89", "90 and over", "90 and over")
    ]
    births = defined("calendar", "YEAR", "DECADE", low="1937-01-01", below="born before 1937")
    days = ("1920-05-05", "1936-12-31", "1937-01-01", "1941-02-03")
    labels = dict(labelled(births, "DATE", days))
    assert [labels[day][0] for day in days] == ["born before 1937", "born before 1937", "1937", "1941"]
    assert [labels[day][1] for day in days] == ["born before 1937", "born before 1937", "193*", "194*"]


def test_what_a_label_of_an_end_stands_for() -> None:
    ages = defined("intervals", "ENDS", 5, low=18, high=Decimal("90.5"), above="old")
    assert [(end.label, end.low, end.high) for end in open_ends(ages)] == [("old", "90.5", None)]
    assert values_at(ages) == 1
    births = defined("calendar", "YEAR", low="1937-01-01", high="2000-01-01")
    assert [(end.label, end.low, end.high) for end in open_ends(births)] == [
        ("before 1937-01-01", None, "1937-01-01"),
        ("2000-01-01 or later", "2000-01-01", None),
    ]
    assert values_at(births) is None
    assert values_at(defined("calendar", "ends", "YEAR", low="1937-05-06")) == 1


# The decade of 1930 is 1937 to 1939 behind the end, so a third of it is before 1938.
ASKED = {
    "b < DATE '1937-01-01'": (2, 2, 2.0),
    "b < DATE '1938-01-01'": (2, 3, 2 + 365 / 1095),
    "b < DATE '1930-01-01'": (0, 2, None),
    "a < 18": (1, 1, 1.0),
    "a < 19": (2, 2, 2.0),
    "a >= 95": (0, 2, None),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("condition", ASKED)
def test_an_estimate_reads_open_ends(condition: str) -> None:
    with new_database() as con:
        con.execute(
            "CREATE HIERARCHY ages AS INTERVALS (ends, 5, low => 18, high => 90, below => 'young', above => 'old')"
        )
        con.execute("CREATE HIERARCHY births AS CALENDAR (YEAR, DECADE, low => DATE '1937-01-01')")
        con.execute(
            "CREATE TABLE t AS FROM (VALUES (17, DATE '1920-05-05'), (18, DATE '1936-12-31'), (89, DATE '1937-01-01'),"
            " (90, DATE '1941-02-03'), (104, NULL)) AS v(a, b)"
        )
        con.execute(
            "CREATE POLICY p ON t (a QUASI IDENTIFIER USING ages MIN LEVEL 1 MAX LEVEL 1, "
            "b QUASI IDENTIFIER USING births MIN LEVEL 2 MAX LEVEL 2) REQUIRE k_anonymity(k => 1)"
        )
        con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
        answer = figures_of(con.sql(f"ESTIMATE SELECT count(*) AS n FROM t WHERE {condition} FROM RELEASE r"))
        ((estimate, _, least, most),) = answer
        low, high, value = ASKED[condition]
        assert (least, most) == (low, high)
        assert estimate == (None if value is None else pytest.approx(value))


@pytest.mark.parametrize(
    ("hierarchy", "method"),
    [("USING ages MIN LEVEL 3", "generalization"), ("USING ages", "mondrian"), ("", "mondrian")],
)
@pytest.mark.parametrize("condition", ["a < 18", "a >= 95", "a = 17 OR a = 95"])
def test_stars_and_ranges_reach_beyond_the_ends(hierarchy: str, method: str, condition: str) -> None:
    with new_database() as con:
        con.execute("CREATE HIERARCHY ages AS INTERVALS (3, 9, low => 18, high => 90, below => 'u', above => 'o')")
        con.execute("CREATE TABLE t AS FROM (VALUES (17), (17), (95), (95)) AS v(a)")
        con.execute(f"CREATE POLICY p ON t (a QUASI IDENTIFIER {hierarchy}) REQUIRE k_anonymity(k => 4)")
        con.execute(f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD {method}")
        asked = f"ESTIMATE SELECT count(*) AS n FROM t WHERE {condition} FROM RELEASE r"
        ((_, _, least, most),) = figures_of(con.sql(asked))
        ((true,),) = con.sql(f"SELECT count(*) FROM t WHERE {condition}").fetchall()
        assert (least, most) == (0, 4)
        assert least <= true <= most


def test_level_0_beyond_an_end_is_remarked_on() -> None:
    with new_database() as con:
        con.execute("CREATE HIERARCHY ages AS INTERVALS (ends, high => 90, above => '90 and over')")
        con.execute("CREATE TABLE t AS SELECT 88 + i % 4 AS a FROM range(8) AS r(i)")
        con.execute("CREATE POLICY p ON t (a QUASI IDENTIFIER USING ages) REQUIRE k_anonymity(k => 2)")
        answer = con.sql("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization").fetchall()
        assert "a is at level 0, which shows the values beyond the open ends" in str(answer)
        con.execute("ALTER POLICY p ALTER COLUMN a QUASI IDENTIFIER USING ages MIN LEVEL 1")
        answer = con.sql("CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p METHOD generalization").fetchall()
        assert "open ends" not in str(answer)
        assert con.sql("SELECT DISTINCT a FROM r ORDER BY a").fetchall() == [("88",), ("89",), ("90 and over",)]


def test_an_export_says_what_the_labels_of_ends_mean(tmp_path: Path) -> None:
    with new_database() as con:
        con.execute("CREATE HIERARCHY ages AS INTERVALS (ends, 5, high => 90.5, above => '90 and over')")
        con.execute("CREATE TABLE t AS SELECT 88 + i % 4 AS a FROM range(8) AS r(i)")
        con.execute(
            "CREATE POLICY p ON t (a QUASI IDENTIFIER USING ages MIN LEVEL 1 MAX LEVEL 1) REQUIRE k_anonymity(k => 2)"
        )
        con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
        con.execute(f"EXPORT r TO '{tmp_path / 'out'}' (FORMAT csv, DICTIONARY true)")
        words = (tmp_path / "out" / "dictionary.csv").read_text(encoding="utf-8")
        assert "90 and over is any value from 90.5 on; a value stands for itself; [20,30)" in words
        asked = f"ESTIMATE SELECT count(*) AS n FROM t WHERE a > 90 FROM RELEASE '{tmp_path / 'out/certificate.json'}'"
        ((_, _, least, most),) = figures_of(con.sql(asked))
        assert (least, most) == (2, 2)


def test_a_first_level_of_dates_shows_all_but_those_beyond_the_ends(tmp_path: Path) -> None:
    with new_database() as con:
        con.execute("CREATE HIERARCHY births AS CALENDAR (ends, YEAR, low => DATE '1937-05-06', below => 'the oldest')")
        con.execute(
            "CREATE TABLE t AS FROM (VALUES (DATE '1920-01-01'), (DATE '1937-05-05'), (DATE '1937-05-06'), (NULL),"
            " (DATE '1950-02-03'), (DATE 'infinity'), (DATE '0044-03-15 (BC)')) AS v(born)"
        )
        con.execute(
            "CREATE POLICY p ON t (born QUASI IDENTIFIER USING births MIN LEVEL 1 MAX LEVEL 1) "
            "REQUIRE k_anonymity(k => 1)"
        )
        con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
        shown = con.sql("FROM r").fetchall()
        assert sorted(shown, key=str) == [
            *[("1937-05-06",), ("1950-02-03",), ("infinity",)],
            *[("the oldest",)] * 3,
            (None,),
        ]
        con.execute(f"EXPORT r TO '{tmp_path / 'out'}' (FORMAT csv, DICTIONARY true)")
        words = (tmp_path / "out" / "dictionary.csv").read_text(encoding="utf-8")
        assert "the oldest is any value below 1937-05-06; a value stands for itself" in words
        for release in ("r", f"'{tmp_path / 'out/certificate.json'}'"):
            asked = f"ESTIMATE SELECT count(*) AS n FROM t WHERE born < DATE '1937-05-07' FROM RELEASE {release}"
            ((_, _, least, most),) = figures_of(con.sql(asked))
            assert (least, most) == (4, 4)
