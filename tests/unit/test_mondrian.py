"""METHOD mondrian by example: what it publishes, what it refuses, and what it leaves behind."""

from __future__ import annotations

import pytest

from sqlanon import Connection, PolicyError, PrivacyViolation
from tests.support.database import rows, template, visits

SOURCE = visits("flu", "cold", "asthma", "ulcer", ward=False)
POLICY = (
    "CREATE POLICY p ON visits (age QUASI IDENTIFIER USING ages, zip QUASI IDENTIFIER, disease SENSITIVE) "
    "REQUIRE k_anonymity(k => 4), l_diversity(l => 2)"
)


@pytest.fixture
def con() -> Connection:
    return template(f"{SOURCE}; CREATE HIERARCHY ages AS INTERVALS (5, 10, 20, 40); {POLICY}")


def release(con: Connection, method: str = "", kind: str = "TABLE", name: str = "r") -> None:
    con.execute(f"CREATE OR REPLACE ANONYMIZED {kind} {name} AS POLICY p METHOD mondrian{method}")


def test_a_region_shows_a_value_or_a_range(con: Connection) -> None:
    release(con, "(bounds => true)")
    for age, low, high in rows(con, "SELECT age, age_low, age_high FROM r"):
        assert age == (str(low) if low == high else f"[{low}, {high}]")
    assert rows(con, "SELECT count(*), sum(CAST(age_low AS INTEGER)) > 0 FROM r") == [(120, True)]
    kinds = dict(rows(con, "SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = 'r'"))
    assert kinds["age_low"] == kinds["age_high"] == rows(con, "SELECT typeof(any_value(age)) FROM visits")[0][0]
    assert kinds["zip_low"] == "VARCHAR"


@pytest.mark.parametrize("publish", ["range", "ancestor"])
@pytest.mark.parametrize("kind", ["TIMESTAMP", "TIMESTAMP_NS"])
def test_timestamps_at_midnight_are_shown_as_dates(con: Connection, kind: str, publish: str) -> None:
    con.execute(
        f"CREATE TABLE births AS SELECT CAST(DATE '2020-01-01' + CAST(i AS INTEGER) AS {kind}) AS born, i % 3 AS s "
        "FROM range(12) AS n(i)"
    )
    con.execute("CREATE POLICY p3 ON births (born QUASI IDENTIFIER, s SENSITIVE) REQUIRE k_anonymity(k => 6)")
    create = f"CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p3 METHOD mondrian(publish => '{publish}')"
    con.execute(create)
    shown = "SELECT DISTINCT born FROM r ORDER BY born"
    assert rows(con, shown) == [("[2020-01-01, 2020-01-06]",), ("[2020-01-07, 2020-01-12]",)]
    con.execute("UPDATE births SET born = born + INTERVAL 1 HOUR WHERE born > '2020-01-11'")
    con.execute(create)
    assert rows(con, shown) == [
        ("[2020-01-01 00:00:00, 2020-01-06 00:00:00]",),
        ("[2020-01-07 00:00:00, 2020-01-12 01:00:00]",),
    ]


def test_equal_rows_are_divided_by_relaxed_cuts_only(con: Connection) -> None:
    con.execute("CREATE TABLE skewed AS SELECT CASE WHEN i < 10 THEN 0 ELSE 1 END AS a, i AS s FROM range(12) AS n(i)")
    con.execute("CREATE POLICY p2 ON skewed (a QUASI IDENTIFIER, s SENSITIVE) REQUIRE k_anonymity(k => 4)")
    shown = {}
    for mode in ("strict", "relaxed"):
        con.execute(f"CREATE OR REPLACE ANONYMIZED TABLE q AS POLICY p2 METHOD mondrian(mode => '{mode}')")
        shown[mode] = rows(con, "SELECT a, count(*) FROM q GROUP BY a ORDER BY a")
    assert shown == {"strict": [("[0, 1]", 12)], "relaxed": [("0", 6), ("[0, 1]", 6)]}


def test_a_null_is_told_in_the_label_and_left_out_of_the_bounds(con: Connection) -> None:
    con.execute("CREATE TABLE few AS SELECT CASE WHEN i < 9 THEN i END AS a, i AS s FROM range(11) AS n(i)")
    con.execute("CREATE POLICY p2 ON few (a QUASI IDENTIFIER, s SENSITIVE) REQUIRE k_anonymity(k => 5)")
    con.execute("CREATE ANONYMIZED TABLE q AS POLICY p2 METHOD mondrian(bounds => true)")
    found = rows(con, "SELECT a, a_low, a_high, count(*) FROM q GROUP BY ALL ORDER BY ALL")
    assert found == [("[0, 4]", 0, 4, 5), ("[5, 8] or NULL", 5, 8, 6)]


def test_an_ancestor_is_the_lowest_that_holds_the_region(con: Connection) -> None:
    release(con, "(publish => 'ancestor', bounds => true)")
    for age, low, high in rows(con, "SELECT DISTINCT age, age_low, age_high FROM r"):
        widths = [w for w in (5, 10, 20, 40) if low // w == high // w]
        lowest = str(low) if low == high else f"[{low // widths[0] * widths[0]},{(low // widths[0] + 1) * widths[0]})"
        assert age == (lowest if low == high or widths else "*")


def test_a_centroid_is_the_mean_of_numbers_and_the_value_in_the_middle_of_others(con: Connection) -> None:
    con.execute(
        "CREATE TABLE four AS FROM (VALUES (1, 'a', 1), (2, 'b', 2), (6, 'b', 3), (NULL, 'c', 4)) AS t (n, w, s)"
    )
    con.execute(
        "CREATE POLICY p2 ON four (n QUASI IDENTIFIER, w QUASI IDENTIFIER, s SENSITIVE) REQUIRE k_anonymity(k => 4)"
    )
    con.execute("CREATE ANONYMIZED TABLE q AS POLICY p2 METHOD mondrian(publish => 'centroid')")
    assert rows(con, "SELECT DISTINCT n, w FROM q") == [(3.0, "b")]


def test_exact_values_stand_beside_a_bucket_and_dealt_out_sensitive_values(con: Connection) -> None:
    release(con, "(publish => 'none')")
    assert rows(con, "SELECT age, zip FROM r ORDER BY ALL") == rows(con, "SELECT age, zip FROM visits ORDER BY ALL")
    of_bucket = "SELECT bucket, count(*), count(DISTINCT disease) FROM r GROUP BY bucket"
    assert all(n >= 4 and values >= 2 for _, n, values in rows(con, of_bucket))
    checked = con.sql("CHECK r")
    assert checked is not None
    assert all(row[-1] for row in checked.fetchall())
    assert rows(con, "SELECT disease FROM r ORDER BY ALL") == rows(con, "SELECT disease FROM visits ORDER BY ALL")


def test_a_live_view_places_new_rows_by_their_region_and_withholds_the_others(con: Connection) -> None:
    release(con, "(bounds => true)", "VIEW", "v")
    before = rows(con, "SELECT count(*) FROM v")[0][0]
    assert before == 120
    age, zip_ = rows(con, "SELECT age_low, zip_low FROM v WHERE age_low < age_high ORDER BY ALL LIMIT 1")[0]
    con.duckdb.execute("INSERT INTO visits VALUES (500, ?, ?, 'flu')", [age, zip_])
    assert rows(con, "SELECT count(*) FROM v")[0][0] == 121
    con.duckdb.execute(
        "INSERT INTO visits VALUES (501, 99, 'z1', 'flu'), (502, 30, 'elsewhere', 'flu'), (503, NULL, 'z1', 'flu')"
    )
    assert rows(con, "SELECT count(*) FROM v")[0][0] == 121
    assert rows(con, "SELECT count(*) FROM v WHERE zip_high = 'elsewhere' OR age_high = 99") == [(0,)]


def test_a_live_view_withholds_a_region_that_has_become_too_small(con: Connection) -> None:
    release(con, "(bounds => true)", "VIEW", "v")
    low, high, zip_low, zip_high = rows(con, "SELECT age_low, age_high, zip_low, zip_high FROM v LIMIT 1")[0]
    inside = f"age BETWEEN {low} AND {high} AND zip BETWEEN '{zip_low}' AND '{zip_high}'"
    held = rows(con, f"SELECT count(*) FROM visits WHERE {inside}")[0][0]
    con.duckdb.execute(f"DELETE FROM visits WHERE {inside} AND visit <> (SELECT min(visit) FROM visits WHERE {inside})")
    assert rows(con, "SELECT count(*) FROM v")[0][0] == 120 - held
    assert rows(
        con, f"SELECT count(*) FROM v WHERE age_low = {low} AND zip_low = '{zip_low}' AND age_high = {high}"
    ) == [(0,)]


def test_dropping_a_live_view_drops_its_regions(con: Connection) -> None:
    kept = (
        "SELECT count(*) FROM duckdb_tables() WHERE regexp_matches(table_name, '^(region|place|rank_.*)_[0-9a-f]{32}$')"
    )
    release(con, "", "VIEW", "v")
    assert rows(con, kept)[0][0] >= 2
    con.execute("DROP ANONYMIZED VIEW v")
    assert rows(con, kept) == [(0,)]
    release(con)
    assert rows(con, kept) == [(0,)]


def test_the_last_attribute_of_several_levels_needs_no_target(con: Connection) -> None:
    con.execute(
        "CREATE POLICY p2 ON visits (zip QUASI IDENTIFIER, age QUASI IDENTIFIER USING ages, disease SENSITIVE) "
        "REQUIRE k_anonymity(k => 4); CREATE ANONYMIZED TABLE q AS POLICY p2 METHOD mondrian(hierarchy => 'tree')"
    )
    assert rows(con, "SELECT min(n) >= 4 FROM (SELECT count(*) AS n FROM q GROUP BY zip, age)") == [(True,)]


def test_a_release_records_its_regions_and_its_loss(con: Connection) -> None:
    release(con, "(bounds => true)")
    recorded = "SELECT method, suppressed_rows, loss_name, loss > 0, nodes FROM anon.release"
    assert rows(con, recorded) == [("mondrian", 0, "granularity_loss", True, None)]
    named = rows(
        con,
        "SELECT attribute, role FROM anon.release_attribute WHERE lower(replace(role, '_', ' ')) = 'quasi identifier'",
    )
    assert {name for name, _ in named} == {"age", "age_low", "age_high", "zip", "zip_low", "zip_high"}


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("(depth => 2)", "mondrian has no argument 'depth'"),
        ("(mode => 'loose')", "there is no mode 'loose'"),
        ("(split => 'gini')", "there is no split 'gini'"),
        ("(publish => 'box')", "there is no publish 'box'"),
        ("(hierarchy => 'leaf')", "there is no hierarchy 'leaf'"),
        ("(bounds => 3)", "bounds is true or false"),
        ("(target => disease)", "target belongs to split => 'information_gain'"),
        ("(split => 'information_gain')", "needs its target"),
        ("(split => 'information_gain', target => zip)", "not a sensitive or insensitive attribute"),
        ("(publish => 'none', bounds => true)", "has no bounds"),
    ],
)
def test_what_the_method_does_not_take(con: Connection, method: str, message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        release(con, method)


@pytest.mark.parametrize("method", ["(mode => 'relaxed')", "(publish => 'none')"])
def test_a_live_view_cannot_choose_anew(con: Connection, method: str) -> None:
    with pytest.raises(PolicyError, match="same way twice"):
        release(con, method, "VIEW", "v")


def test_levels_of_a_policy_are_refused(con: Connection) -> None:
    con.execute(
        POLICY.replace("CREATE POLICY", "CREATE OR REPLACE POLICY").replace("USING ages", "USING ages MIN LEVEL 1")
    )
    with pytest.raises(PolicyError, match="age has a MIN LEVEL"):
        release(con)


def test_a_public_table_is_refused(con: Connection) -> None:
    con.execute(
        "CREATE TABLE voters AS SELECT age, zip FROM visits; "
        "CREATE OR REPLACE POLICY p ON visits (age QUASI IDENTIFIER, zip QUASI IDENTIFIER, disease SENSITIVE) "
        "AGAINST voters REQUIRE k_map(k => 2)"
    )
    with pytest.raises(PolicyError, match="cannot meet k_map"):
        release(con)


def test_a_column_of_the_name_of_a_bound_is_refused(con: Connection) -> None:
    con.execute(
        "ALTER TABLE visits ADD COLUMN Age_Low INTEGER; CREATE OR REPLACE POLICY p ON visits "
        "(age QUASI IDENTIFIER, Age_Low INSENSITIVE, disease SENSITIVE) REQUIRE k_anonymity(k => 2)"
    )
    with pytest.raises(PolicyError, match="mondrian adds a column age_low"):
        release(con, "(bounds => true)")


def test_what_the_whole_table_does_not_meet_is_not_published(con: Connection) -> None:
    con.execute(POLICY.replace("CREATE POLICY", "CREATE OR REPLACE POLICY").replace("l => 2", "l => 5"))
    with pytest.raises(PrivacyViolation, match="the whole table does not meet it"):
        release(con)
    assert rows(con, "SELECT count(*) FROM duckdb_tables() WHERE table_name = 'r'") == [(0,)]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("size", [0, 1, 2])
def test_hardly_any_rows(con: Connection, size: int) -> None:
    con.duckdb.execute(f"DELETE FROM visits WHERE visit >= {size}")
    con.execute(
        POLICY.replace("CREATE POLICY", "CREATE OR REPLACE POLICY")
        .replace("k => 4", "k => 1")
        .replace("l => 2", "l => 1")
    )
    release(con)
    assert rows(con, "SELECT count(*) FROM r") == [(size,)]


@pytest.mark.parametrize("kind", ["DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE"])
def test_infinite_days_have_a_place_and_no_distance(con: Connection, kind: str) -> None:
    days = ["infinity", "-infinity", "2000-01-01", "2000-01-02"]
    con.execute(f"CREATE TABLE ends AS SELECT unnest({days})::{kind} AS day, 1 AS s")
    con.execute("CREATE POLICY p2 ON ends (day QUASI IDENTIFIER, s SENSITIVE) REQUIRE k_anonymity(k => 2)")
    con.execute("CREATE ANONYMIZED TABLE q AS POLICY p2 METHOD mondrian(bounds => true)")
    expected = [("-infinity", "2000-01-01", 2), ("2000-01-02", "infinity", 2)]
    cut = "SELECT left(day_low::VARCHAR, 10), left(day_high::VARCHAR, 10), count(*) FROM q GROUP BY ALL ORDER BY ALL"
    assert rows(con, cut) == expected
    # Each range covers one step of the three from the first value to the last.
    assert float(rows(con, "SELECT loss FROM anon.release")[0][0]) == pytest.approx(1 / 3)


def test_the_centroid_of_numbers_whose_sum_is_no_double(con: Connection) -> None:
    con.execute("CREATE TABLE large AS SELECT unnest([1.7e308, 1.5e308, -1e308, -1.2e308])::DOUBLE AS n, 1 AS s")
    con.execute("CREATE POLICY p2 ON large (n QUASI IDENTIFIER, s SENSITIVE) REQUIRE k_anonymity(k => 2)")
    con.execute("CREATE ANONYMIZED TABLE q AS POLICY p2 METHOD mondrian(publish => 'centroid')")
    found = [float(n) for (n,) in rows(con, "SELECT DISTINCT n FROM q ORDER BY n::DOUBLE")]
    assert found == pytest.approx([-1.1e308, 1.6e308])


def test_null_behind_the_greatest_double_has_no_distance(con: Connection) -> None:
    con.execute("CREATE TABLE large AS SELECT unnest([0, 1, 1.7e308, NULL])::DOUBLE AS n, 1 AS s")
    con.execute("CREATE POLICY p2 ON large (n QUASI IDENTIFIER, s SENSITIVE) REQUIRE k_anonymity(k => 2)")
    con.execute("CREATE ANONYMIZED TABLE q AS POLICY p2 METHOD mondrian")
    assert sorted(rows(con, "FROM q SELECT n")) == [("1.7e+308 or NULL",)] * 2 + [("[0.0, 1.0]",)] * 2


def test_regions_that_show_the_same_must_meet_what_is_asked_together(con: Connection) -> None:
    pairs = "rz qz sx zy zy px px zy px zy sx py qx".split()
    con.execute(f"CREATE TABLE pairs AS SELECT p[1] AS a, p[2] AS s FROM (SELECT unnest({pairs}) AS p)")
    con.execute(
        "CREATE HIERARCHY halves AS LEVELS (SELECT * FROM (VALUES ('p', 'A'), ('q', 'A'), ('r', 'A'), ('s', 'A'), "
        "('z', 'B')) AS t (value, half))"
    )
    con.execute(
        "CREATE POLICY p2 ON pairs (a QUASI IDENTIFIER USING halves, s SENSITIVE) "
        "REQUIRE delta_disclosure(delta => 1.0, absent => 'ignored')"
    )
    con.execute("CREATE ANONYMIZED TABLE q AS POLICY p2 METHOD mondrian")
    with pytest.raises(PrivacyViolation, match="regions with equal labels are one class"):
        con.execute("CREATE OR REPLACE ANONYMIZED TABLE q AS POLICY p2 METHOD mondrian(publish => 'ancestor')")
    assert rows(con, "SELECT count(*) FROM q") == [(13,)]


@pytest.mark.long
def test_regions_of_many_rows_that_are_all_done_at_once(con: Connection) -> None:
    """DuckDB 2.0 would lose them: so many rows at once are the first that a table gets."""
    con.execute("CREATE TABLE many AS SELECT hash(i) % 1000000 AS n, i % 7 AS s FROM range(250000) AS t(i)")
    con.execute("CREATE POLICY p2 ON many (n QUASI IDENTIFIER, s SENSITIVE) REQUIRE k_anonymity(k => 100000)")
    con.execute("CREATE ANONYMIZED TABLE q AS POLICY p2 METHOD mondrian")
    assert rows(con, "SELECT count(DISTINCT n), count(*) FROM q") == [(2, 250000)]
