"""The summary of a release: its figures against those that pandas counts from the published rows, and its words."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pandas
import pytest

import sqlanon
from sqlanon.assess.workloads.summary import summary_of
from sqlanon.domain.policy import Role
from sqlanon.domain.release import Measurement
from sqlanon.domain.summary import CountError, ShownColumn, Summary, SurestGuess
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.duckdb import DuckDBEngine

_ROWS = """
    CREATE TABLE people AS
    SELECT 18 + i * 37 % 70 AS age, ['F', 'M'][1 + i % 2] AS sex, 10000 + i * 53 % 97 AS zip,
        DATE '2020-01-01' + CAST(i * 29 % 300 AS INTEGER) AS seen,
        ['Flu', 'Cold', 'Asthma'][1 + (i * i // 7) % 3] AS disease, i AS id
    FROM range(400) AS r(i);
"""
_RANGE = re.compile(r"\[(.+), (.+)\]")


def _released(policy: str, method: str, table: str = "r") -> tuple[Summary, pandas.DataFrame]:
    connection = sqlanon.connect()
    connection.execute(_ROWS + policy + f"; CREATE ANONYMIZED TABLE r AS POLICY p METHOD {method};")
    rows = connection.sql(f"FROM {table}").df()
    summary = summary_of(DuckDBEngine(connection.duckdb), QualifiedName(("r",)), unpublished=["id"], remarks=["so"])
    left = connection.sql("SELECT count(*) FROM anon.workload").fetchall()
    assert left == [(0,)]
    return summary, rows


_POLICY = """
    CREATE POLICY p ON people (age QUASI IDENTIFIER, sex QUASI IDENTIFIER, seen QUASI IDENTIFIER, disease SENSITIVE)
    REQUIRE k_anonymity(k => 5), l_diversity(l => 2)
"""


@pytest.fixture(scope="module")
def by_region() -> tuple[Summary, pandas.DataFrame]:
    """A release by regions with its rows."""
    return _released(_POLICY, "mondrian")


def _sizes(labels: pandas.Series[Any], read: Any, step: int) -> list[float]:
    return [(read(m[2]) - read(m[1])) + step for label in labels if (m := _RANGE.fullmatch(label))]


def test_ranges_are_those_of_the_published_rows(by_region: tuple[Summary, pandas.DataFrame]) -> None:
    summary, rows = by_region
    columns = {column.name: column for column in summary.columns}
    days = _sizes(rows["seen"], lambda text: pandas.Timestamp(text).toordinal(), 1)
    years = _sizes(rows["age"], int, 1)
    for name, sizes in (("age", years), ("seen", days)):
        column = columns[name]
        assert (column.narrowest, column.widest) == (min(sizes), max(sizes))
        assert column.median == sorted(sizes)[(len(sizes) + 1) // 2 - 1]
        plain = [label for label in rows[name] if not _RANGE.fullmatch(label) and label != "*"]
        assert column.as_they_are == pytest.approx(len(plain) / len(rows))
    assert columns["age"].became.startswith(f"ranges of {min(years)} to {max(years)} years, median ")
    assert f"{max(days)} days" in columns["seen"].became
    assert columns["disease"].became == "as it is"


def test_guesses_are_those_of_the_classes(by_region: tuple[Summary, pandas.DataFrame]) -> None:
    summary, rows = by_region
    classes = [group["disease"].value_counts() for _, group in rows.groupby(["age", "sex", "seen"])]
    shares = [(counts.max() / counts.sum(), counts.sum()) for counts in classes]
    [guess] = summary.guesses
    assert guess.highest == pytest.approx(max(share for share, _ in shares))
    assert guess.mean == pytest.approx(sum(share * n for share, n in shares) / len(rows))
    assert guess.before == pytest.approx(rows["disease"].value_counts().max() / len(rows))
    surest = [n for share, n in shares if share == pytest.approx(guess.highest)]
    assert guess.people == sum(surest) if not guess.or_more else guess.people <= sum(surest)


def test_rows_and_requirements(by_region: tuple[Summary, pandas.DataFrame]) -> None:
    summary, rows = by_region
    assert (summary.source_rows, summary.released_rows, summary.suppressed_rows) == (400, len(rows), 0)
    classes = rows.groupby(["age", "sex", "seen"])["disease"]
    reached = {each.question: each.achieved for each in summary.required}
    assert reached == {"k_anonymity": classes.size().min(), "distinct_l_diversity": classes.nunique().min()}
    assert summary.satisfied


def test_a_column_without_any_detail_and_counts_that_nothing_answers() -> None:
    policy = "CREATE POLICY p ON people (zip QUASI IDENTIFIER, sex QUASI IDENTIFIER) REQUIRE k_anonymity(k => 5)"
    summary, rows = _released(policy, "generalization")
    columns = {column.name: column for column in summary.columns}
    starred = [name for name in ("sex", "zip") if set(rows[name]) == {"*"}]
    assert starred
    assert [columns[name].became for name in starred] == ["* in every row: nothing is left of it"] * len(starred)
    assert "their error is not known: the release does not answer 100 of 100 counts" in summary.text()
    assert "there is no secret column to guess" in summary.text()
    assert "nothing bounds what may be guessed" in summary.text()


def test_hierarchies_show_beginnings_and_intervals() -> None:
    policy = """
        CREATE HIERARCHY zips AS PREFIXES (3); CREATE HIERARCHY ages AS INTERVALS (20);
        CREATE POLICY p ON people (zip QUASI IDENTIFIER USING zips, age QUASI IDENTIFIER USING ages)
        REQUIRE k_anonymity(k => 30)
    """
    summary, rows = _released(policy, "generalization(suppression => 0.5)")
    columns = {column.name: column.became for column in summary.columns}
    assert columns["zip"] == ("the first 3 characters" if set(rows["zip"]) == {"100**"} else "")
    assert columns["age"] == "ranges of 20 years"


_WITH_NULLS = """
    CREATE TABLE people AS
    SELECT if(i % 11 = 0, NULL, 20 + i * 37 % 30) AS age,
        CASE WHEN i * i // 5 % 17 < 3 THEN NULL ELSE ['m', 'w', 'd', 'w', 'm'][1 + i * i // 3 % 5] END AS sex,
        ['Flu', 'Cold', 'Asthma'][1 + (i * i // 7) % 3] AS disease, i AS id
    FROM range(200) AS r(i);
    CREATE POLICY q ON people (age QUASI IDENTIFIER, sex QUASI IDENTIFIER, disease SENSITIVE, id INSENSITIVE)
    REQUIRE k_anonymity(k => 5), l_diversity(l => 2);
    CREATE ANONYMIZED TABLE s AS POLICY q METHOD mondrian
"""


def test_only_rows_that_show_exactly_their_own_value_count_as_they_are() -> None:
    """Each published row is joined with its row of the source by the id, which is published for that."""
    connection = sqlanon.connect()
    connection.execute(_WITH_NULLS)
    summary = summary_of(DuckDBEngine(connection.duckdb), QualifiedName(("s",)))
    source = {row[3]: row for row in connection.sql("FROM people").fetchall()}
    rows = connection.sql("SELECT age, sex, disease, id FROM s").fetchall()
    assert any(str(label).endswith(" or NULL") for row in rows for label in row[:2])
    for at, name in enumerate(("age", "sex")):
        column = next(each for each in summary.columns if each.name == name)
        pairs = [(row[at], source[row[3]][at]) for row in rows]
        if all(label == value for label, value in pairs):
            assert (name, column.became) == ("sex", "as it is")
            continue
        own = [label for label, value in pairs if value is not None and label == str(value)]
        assert (name, 0 < len(own) < len(rows)) == ("age", True)
        assert column.as_they_are == pytest.approx(len(own) / len(rows))
        assert column.own_labels == tuple(sorted(set(own)))[:4]
        assert column.missing == pytest.approx(sum(label is None for label, _ in pairs) / len(rows))
        either = [label for label, _ in pairs if label and label.endswith(" or NULL") and not label.startswith("[")]
        assert column.or_null == pytest.approx(len(either) / len(rows))
        assert column.labels == len({label for label, _ in pairs if label and label.startswith("[")})


def test_columns_that_are_published_unchanged_are_as_they_are() -> None:
    """Regions and levels say it alike; the ranges of the other column are counted without its own values."""
    rows = """
        CREATE TABLE people AS SELECT ['m', 'w', 'm', 'w', 'm', 'w', 'd'][1 + i % 7] AS sex,
            ['north', NULL][1 + i % 2] AS branch, i % 3 AS disease FROM range(84) AS r(i);
        CREATE ANONYMIZED TABLE r FROM people (sex, branch) SENSITIVE disease REQUIRE k_anonymity(k => 5) METHOD {}
    """
    for method in ("mondrian", "generalization"):
        connection = sqlanon.connect()
        connection.execute(rows.format(method))
        columns = summary_of(DuckDBEngine(connection.duckdb), QualifiedName(("r",))).columns
        assert [each.became for each in columns] == ["as it is"] * 3
    connection.execute("DROP ANONYMIZED TABLE r; UPDATE people SET sex = 'm' WHERE sex = 'd' AND rowid > 10")
    connection.execute("CREATE ANONYMIZED TABLE s FROM people (sex, branch) SENSITIVE disease METHOD mondrian")
    sex, branch, _ = summary_of(DuckDBEngine(connection.duckdb), QualifiedName(("s",))).columns
    assert branch.became == "as it is"
    assert sex.became.startswith("1 alphabetical range, such as [d, m], ")
    assert sex.became.endswith(" of the rows as they are (m, w)")
    # Without the source nobody can tell whether a label is a value.
    connection.execute("DROP TABLE people")
    sex, _, _ = summary_of(DuckDBEngine(connection.duckdb), QualifiedName(("s",))).columns
    assert sex.as_they_are == 0


def test_groups_without_ranges() -> None:
    summary, _ = _released(_POLICY, "anatomy(l => 2)", "r_qi")
    assert {column.name: column.kind for column in summary.columns}["disease"] == "other"
    assert len(summary.lines) == 8


def test_there_are_eight_lines_and_all_of_them_are_in_json(by_region: tuple[Summary, pandas.DataFrame]) -> None:
    summary, _ = by_region
    written = summary.with_files("out/r.csv")
    assert len(str(written).splitlines()) == len(written.lines) == 8
    assert str(written).splitlines()[-1].endswith("out/r.csv")
    assert "not published: id" in str(written)
    values = json.loads(json.dumps(written.json()))
    assert [column["became"] for column in values["columns"]] == [column.became for column in written.columns]
    assert (values["files"], values["remarks"], values["not_published"]) == (["out/r.csv"], ["so"], ["id"])
    folded = written.text(60)
    assert max(map(len, folded.splitlines())) <= 60
    assert "".join(folded.split()).replace(";", "") == "".join(str(written).split()).replace(";", "")


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (
            ShownColumn("n", Role.QUASI_IDENTIFIER, "ranges", 3, 0.5, 12_500, 3.25),
            "ranges of 0.5 to 12,500, median 3.25",
        ),
        (
            ShownColumn("home_zip", Role.QUASI_IDENTIFIER, "ranges", 3, 2, 40, 12),
            "ranges of 2 to 40 codes, median 12",
        ),
        (
            ShownColumn("x", Role.QUASI_IDENTIFIER, "ranges", 3, example="[Cold,\n Flu]"),
            "3 alphabetical ranges, such as [Cold,\\n Flu]",
        ),
        (
            ShownColumn("r", Role.QUASI_IDENTIFIER, "labels", 1, starred=0.25, example="Europe"),
            "1 label, such as Europe, * in 25 % of the rows",
        ),
        (
            ShownColumn("z", Role.QUASI_IDENTIFIER, "prefixes", 2, 2, 3, 2, as_they_are=0.5),
            "the first 2 to 3 characters",
        ),
    ],
)
def test_words_of_columns(column: ShownColumn, words: str) -> None:
    assert column.became.startswith(words)


def test_a_guess_and_an_error_in_words() -> None:
    guess = SurestGuess("hiv", 1.0, 12, True, 0.5, None)
    summary = Summary(
        *("r", "people", 1000, 990, 10, (), "some", "some()", "granularity_loss", 0.0),
        columns=(ShownColumn("hiv", Role.SENSITIVE, "kept", 2),),
        count_error=CountError(40, 2, 0.0004, 3.2),
        guesses=(guess,),
    )
    lines = dict(summary.lines)
    assert lines["rows"] == "1,000 in, 990 out, 10 left out"
    assert "guesses hiv with at most 100 %, of 12 rows or more; with 50 % in the mean" in lines["guess"]
    assert "by 2 columns is off by under 0.1 % in the median of 40 random ones, by 320 % in the mean" in lines["counts"]
    of_null = dict(replace(summary, guesses=(replace(guess, missing=1),)).lines)["guess"]
    assert "guesses that hiv is missing (NULL) with at most 100 %" in of_null
    assert lines["method"] == "some: 0 % of the detail is lost"
    local = replace(summary, call="some(recoding => 'local')")
    assert dict(local.lines)["method"].startswith("some(recoding => 'local'): 0 %")
    assert dict(replace(summary, loss_name="c_avg").lines)["method"].endswith("is lost (c avg)")
    assert lines["required"] == "nothing was required"
    assert not summary.satisfied


def test_requirements_in_words() -> None:
    met = (
        Measurement("a", None, 5.0, 4.0, False),
        Measurement("b", "ill", 2.0, 3.0, True),
        Measurement("b", None, 2.0, 2.0, True),
    )
    summary = Summary(
        *("r", "people", 9, 9, 0, met, "some", "some()", "granularity_loss", 0.0, (), CountError()),
        in_words={"a": "at least {required} {people} look alike", "b": "{required} values of {attribute}"},
        people="people",
    )
    assert dict(summary.lines)["required"] == (
        "at least 5 people look alike (only 4 reached: not met); 2 values of ill (3 reached); b 2, reached 2"
    )
