"""MEASURE release WITH FIGURES (membership): what it answers, what it refuses, and in which words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sqlglot import exp

from sqlanon import Connection, PolicyError, StatementError, UserError
from sqlanon.assess.figures.class_figures import sizes
from sqlanon.assess.measure_figures import figure_names
from sqlanon.clients.terminal.completion import STATEMENTS
from sqlanon.domain.release import Reading
from sqlanon.release.existing.estimable import RecordedColumn, RecordedTable
from sqlanon.release.existing.membership import matching_of
from tests.support.database import rows, template
from tests.support.membership import measured

SOURCE = """
CREATE TABLE people AS SELECT
    i % 4 AS age, ['a', 'b', 'c'][i % 3 + 1] AS ward, ['flu', 'cold', 'x'][(i * 31) % 3 + 1] AS disease, i AS id
FROM range(24) AS n(i);
CREATE HIERARCHY bands AS INTERVALS (2);
CREATE POLICY p ON people (
    age QUASI IDENTIFIER USING bands, ward QUASI IDENTIFIER, disease SENSITIVE, id IDENTIFIER
) REQUIRE k_anonymity(k => 2);
CREATE POLICY apart ON people (age INSENSITIVE, ward INSENSITIVE, disease INSENSITIVE)
    CONFIDENTIAL (age, disease);
"""
FEW = "at_most_10", "11_to_20", "above_20"


@pytest.fixture
def con() -> Connection:
    return template(SOURCE)


def refused(con: Connection, release: str = "r") -> str:
    with pytest.raises(PolicyError) as error:
        measured(con, release)
    assert error.value.hint
    return f"{error.value.message}; {error.value.hint}"


def test_the_answer_has_a_row_for_each_figure(con: Connection) -> None:
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD anatomy(l => 2)")
    answer = con.sql("MEASURE r WITH FIGURES (membership)")
    assert list(answer.columns) == ["release", "figure", "attribute", "value"]
    answered = answer.fetchall()
    assert {row[0] for row in answered} == {"main.r"}
    kinds = [f"matching_buckets_{kind}" for kind in ("original", "fake")]
    assert [row[1] for row in answered] == [
        "original",
        "fake",
        "fake_original_ratio",
        *(name for kind in kinds for name in (kind, *(f"{kind}_{few}" for few in FEW))),
    ]
    assert con.sql('MEASURE r WITH FIGURES ("Membership", membership)').fetchall() == answered


def test_fragments_are_one_bucket(con: Connection) -> None:
    """12 pairs of age and ward, and each ward has one disease: published apart, any of three goes with them."""
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY apart METHOD fragments FRAGMENTS (age, ward), (disease)")
    found = measured(con)
    assert (found["original"], found["fake"], found["fake_original_ratio"]) == (12, 24, 2)
    assert found["matching_buckets_original"] == found["matching_buckets_fake_at_most_10"] == 1


def test_rows_of_the_source_that_are_left_out_count_where_they_match(con: Connection) -> None:
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY apart METHOD fragments FRAGMENTS (age, ward), (disease)")
    con.execute("INSERT INTO people VALUES (77, 'a', 'flu', 99)")
    assert measured(con)["original"] == 12
    con.execute("INSERT INTO people VALUES (0, 'a', 'cold', 100)")
    found = measured(con)
    assert (found["original"], found["fake"]) == (13, 23)


def test_a_release_without_rows_has_no_shares(con: Connection) -> None:
    con.execute(
        "CREATE POLICY none ON (FROM people WHERE age > 9) (age QUASI IDENTIFIER, disease SENSITIVE) "
        "REQUIRE k_anonymity(k => 2)"
    )
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY none METHOD anatomy(l => 2)")
    found = measured(con)
    assert (found.pop("original"), found.pop("fake")) == (0, 0)
    assert set(found.values()) == {None}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("method", ["generalization(suppression => 0)", "mondrian", "mondrian(bounds => true)"])
def test_values_that_are_not_the_source_s_are_refused(con: Connection, method: str) -> None:
    con.execute("ALTER POLICY p REQUIRE k_anonymity(k => 5)")
    con.execute(f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD {method}")
    assert re.match("main.r shows (age, )?ward recoded, so it does not say which tuples match it", refused(con))


def test_rows_as_they_are_match_and_no_others_do(con: Connection) -> None:
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization(suppression => 0)")
    assert list(measured(con).items())[:4] == [
        ("original", 12),
        ("fake", 0),
        ("fake_original_ratio", 0),
        ("matching_buckets_original", 1),
    ]


def test_tokens_are_refused(con: Connection) -> None:
    con.execute(
        "CREATE POLICY named ON people (id IDENTIFIER PSEUDONYM, age QUASI IDENTIFIER, disease SENSITIVE) "
        "REQUIRE k_anonymity(k => 2)"
    )
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY named METHOD anatomy(l => 2)")
    assert "main.r shows id as tokens" in refused(con)


def test_a_live_view_is_refused(con: Connection) -> None:
    con.execute("CREATE ANONYMIZED VIEW r AS POLICY p METHOD generalization")
    assert "main.r is a live view" in refused(con)


def test_too_many_tuples_are_refused_before_they_are_joined(con: Connection) -> None:
    """12 rows of six ages and wards, and each bucket has two of three diseases."""
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD anatomy(l => 3)")
    counted = (
        "SELECT sum(a.n * b.n) FROM (SELECT bucket, count(DISTINCT (age, ward)) AS n FROM r_qi GROUP BY ALL) AS a "
    )
    ((most,),) = rows(
        con, counted + "JOIN (SELECT bucket, count(*) AS n FROM r_sensitive GROUP BY ALL) AS b USING (bucket)"
    )
    with sizes.replaced(max_joined_tuples=most - 1):
        assert f"can be joined to {most} tuples, counted in each bucket; more than {most - 1} are not" in refused(con)
    with sizes.replaced(max_joined_tuples=most):
        assert measured(con)["original"] == 12


def test_what_is_in_one_bucket_is_counted_without_a_join(con: Connection) -> None:
    """Three wards times three diseases times 4 ages."""
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY apart METHOD fragments FRAGMENTS (age), (ward), (disease)")
    with sizes.replaced(max_joined_tuples=0):
        found = measured(con)
    assert (found["original"], found["fake"]) == (12, 24)


def test_a_source_that_has_changed_is_refused(con: Connection) -> None:
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD anatomy(l => 2)")
    con.execute("ALTER TABLE people ALTER age TYPE VARCHAR")
    assert "its column age is VARCHAR now and was BIGINT" in refused(con)
    con.execute("ALTER TABLE people DROP age")
    assert "its column age is gone" in refused(con)
    con.execute("DROP TABLE people")
    with pytest.raises(UserError, match="there is no table or view"):
        measured(con)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("method", ["anatomy(l => 2)", "slicing(l => 2) COLUMNS EACH"])
@pytest.mark.parametrize("source", ["t", "(SELECT ward, age, disease FROM t)", "'t.parquet'"])
def test_values_of_other_types_and_sources_that_are_no_tables(
    con: Connection, method: str, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An ENUM is published as text; a tuple is looked up in the types that are published."""
    monkeypatch.chdir(tmp_path)
    con.execute("CREATE TYPE letter AS ENUM ('c', 'b', 'a', 'not in any row')")
    con.execute(
        "CREATE TABLE t AS SELECT ward::letter AS ward, {'years': [age], 'letter': ward::letter} AS age, disease "
        "FROM people"
    )
    con.execute("COPY t TO 't.parquet'")
    con.execute(
        f"CREATE POLICY typed ON {source} (ward QUASI IDENTIFIER, age INSENSITIVE, disease SENSITIVE) "
        "REQUIRE k_anonymity(k => 2)"
    )
    con.execute(f"CREATE ANONYMIZED TABLE r AS POLICY typed METHOD {method}")
    assert measured(con)["original"] == 12


def test_in_a_transaction_and_of_a_data_frame(con: Connection) -> None:
    frame = con.duckdb.execute("SELECT age, ward, disease FROM people").df()
    assert len(frame) == 24
    con.execute(
        "CREATE POLICY framed ON frame (age INSENSITIVE, ward INSENSITIVE, disease INSENSITIVE) "
        "CONFIDENTIAL (age, disease)"
    )
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY framed METHOD fragments FRAGMENTS (age, ward), (disease)")
    con.execute("BEGIN")
    assert (measured(con)["original"], measured(con)["fake"]) == (12, 24)
    con.execute("COMMIT")


def test_nothing_is_left_behind(con: Connection) -> None:
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD anatomy(l => 2)")
    tables = "SELECT count(*) FROM duckdb_tables()"
    before = rows(con, tables)
    measured(con)
    assert rows(con, tables) == before


@pytest.mark.parametrize(
    ("figures", "hint"),
    [("membershp", "did you mean membership?"), ("lust", f"there are: {', '.join(figure_names())}")],
)
def test_unknown_figures_are_named_with_those_there_are(con: Connection, figures: str, hint: str) -> None:
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD anatomy(l => 2)")
    statement = f"MEASURE r WITH FIGURES (membership, {figures})"
    with pytest.raises(UserError, match=f"there are no figures '{figures}'") as error:
        con.execute(statement)
    assert error.value.hint == hint
    shown, caret = str(error.value.excerpt).split("\n")
    assert shown[caret.index("^") :].startswith(figures)


@pytest.mark.parametrize(
    "text", ["FIGURES ()", "FIGURES", "FIGURES membership", "FIGURES (membership) x", "FIGURE (x)"]
)
def test_what_cannot_be_read_shows_a_correct_form(con: Connection, text: str) -> None:
    with pytest.raises(StatementError) as error:
        con.execute(f"MEASURE r WITH {text}")
    assert "WITH FIGURES (membership)" in str(error.value.hint)


def test_the_shell_s_help_names_the_figures() -> None:
    assert "WITH FIGURES (" in STATEMENTS["MEASURE"]
    assert "membership" in STATEMENTS["MEASURE"]


def table(*columns: tuple[str, Reading]) -> RecordedTable:
    return RecordedTable([RecordedColumn(name, reading, name) for name, reading in columns], exp.select("1"))


BUCKETED = table(("b", Reading.BUCKET), ("x", Reading.BUCKET_VALUE))
GROUPED = table(("g", Reading.GROUP), ("y", Reading.BUCKET_VALUE))
LINKING = table(("g1", Reading.LINK), ("g2", Reading.LINK))


@pytest.mark.parametrize(
    "tables",
    [
        [GROUPED, GROUPED],
        [GROUPED, LINKING],
        [LINKING, LINKING, GROUPED, GROUPED],
        [BUCKETED, GROUPED, GROUPED, LINKING],
    ],
)
def test_tables_that_nothing_ties_as_their_columns_say_are_refused(tables: list[RecordedTable]) -> None:
    with pytest.raises(PolicyError, match="r: its columns do not determine how its tables are joined"):
        matching_of("r", tables)


def test_columns_are_read_off_the_readings_alone() -> None:
    exact = table(("b", Reading.BUCKET), ("x", Reading.EXACT), ("z", Reading.EXACT), ("y", Reading.BUCKET_VALUE))
    matching = matching_of("r", [exact])
    assert matching.attributes == ("x", "z", "y")
    assert [(part.attributes, part.link) for part in matching.columns] == [((0, 1), 0), ((2,), 0)]
    linked = matching_of("r", [GROUPED, LINKING, table(("h", Reading.GROUP), ("x", Reading.BUCKET_VALUE))])
    assert [(part.attributes, part.link) for part in linked.columns] == [((0,), 0), ((1,), 1)]
    assert linked.buckets is not None
    assert [output.alias for output in linked.buckets.selects] == ["link_0", "link_1"]
    with pytest.raises(PolicyError, match="shows no values"):
        matching_of("r", [LINKING])
