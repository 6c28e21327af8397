"""CREATE ANONYMIZED ... FROM makes a policy and its release together; USING AUTO makes a policy's hierarchies."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import pandas
import pytest

from sqlanon import (
    Connection,
    DataError,
    KAnonymity,
    Policy,
    PolicyError,
    PrivacyRemark,
    PrivacyViolation,
    SqlanonError,
    StatementError,
    anonymize,
)
from sqlanon.statements.parser import parse_script
from tests.oracles.k_anonymity import equivalence_classes
from tests.support.command_line import invoke
from tests.support.database import template

PATIENTS = (
    "CREATE TABLE patients AS SELECT i AS id, 20 + (i * 7 % 60) AS age, ['F', 'M'][1 + i % 2] AS sex, "
    "CAST(90000 + i * 11 % 90 AS VARCHAR) AS zip, ['Flu', 'HIV', 'Cold', NULL][1 + i * 5 % 4] AS diagnosis, "
    "i % 3 AS income FROM range(400) AS t(i)"
)
SHORT = "CREATE ANONYMIZED TABLE r FROM patients (age, sex, zip) SENSITIVE diagnosis"


@pytest.fixture
def con() -> Connection:
    return template(PATIENTS)


def listed(con: Connection, kind: str) -> list[Any]:
    return [row[0] for row in con.sql(f"SHOW {kind}").fetchall()]


def requirements(con: Connection, policy: str = "r") -> str:
    return str({row[0]: row[4] for row in con.sql("SHOW POLICIES").fetchall()}[policy])


def remarks(con: Connection, statement: str) -> str:
    answer = con.sql(statement)
    return "\n".join(str(row[answer.columns.index("remarks")]) for row in answer.fetchall()[:1])


def smallest(con: Connection, release: str, columns: int, values: bool) -> int:
    """The fewest rows of a class of the published rows, or the fewest values of the column behind its keys."""
    rows = con.duckdb.execute(f'FROM "{release}"').fetchall()
    classes = equivalence_classes([row[:columns] for row in rows])
    if values:
        return min(len({rows[place][columns] for place in places}) for places in classes.values())
    return min(map(len, classes.values()))


def test_a_release_and_its_policy_are_made(con: Connection) -> None:
    said = remarks(con, SHORT)
    assert listed(con, "POLICIES") == ["r"]
    assert listed(con, "RELEASES") == ["main.r"]
    assert requirements(con) == "k_anonymity(k => 5), l_diversity(l => 2)"
    assert smallest(con, "r", 3, values=False) >= 5
    assert smallest(con, "r", 3, values=True) >= 2
    assert con.sql("FROM r").columns == ["age", "sex", "zip", "diagnosis"]
    assert "the policy requires k_anonymity(k => 5), l_diversity(l => 2)" in said
    assert "not published, because the statement does not name them: id, income" in said
    assert "DESCRIBE POLICY r AS SQL" in said


def test_a_sensitive_column_without_a_requirement_gets_two_values(con: Connection) -> None:
    said = remarks(con, f"{SHORT} REQUIRE k_anonymity(4)")
    assert requirements(con) == "k_anonymity(k => 4), l_diversity(l => 2)"
    assert "nothing is required of diagnosis, so the policy requires l_diversity(l => 2) as well" in said
    assert smallest(con, "r", 3, values=True) >= 2


def test_each_sensitive_column_has_a_requirement(con: Connection) -> None:
    con.execute(
        "CREATE ANONYMIZED TABLE r FROM patients (age) SENSITIVE diagnosis, income "
        "REQUIRE k_anonymity(4), l_diversity(3, attribute => diagnosis)"
    )
    assert requirements(con) == (
        'k_anonymity(k => 4), l_diversity(l => 3, attribute => "diagnosis"), l_diversity(l => 2, attribute => "income")'
    )


def test_what_is_required_in_full_stays_as_it_is(con: Connection) -> None:
    said = remarks(con, f"{SHORT} REQUIRE k_anonymity(3), l_diversity(3)")
    assert requirements(con) == "k_anonymity(k => 3), l_diversity(l => 3)"
    assert "so the policy requires" not in said


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("CREATE ANONYMIZED TABLE r FROM patients (age, sex) REQUIRE k_anonymity(401)", ""),
        ("CREATE ANONYMIZED TABLE r FROM patients (agee)", "no column agee"),
        ("CREATE ANONYMIZED TABLE r FROM patients WHERE age > 30", "expected"),
        ("CREATE ANONYMIZED TABLE patients FROM patients (age)", "is a table that is not a release"),
        ("CREATE ANONYMIZED TABLE r FROM nothing (age)", "no table or view nothing"),
        ("CREATE ANONYMIZED TABLE r FROM (FROM patients WHERE false) (age)", "has no rows"),
        ("CREATE ANONYMIZED TABLE r FROM patients (age) SENSITIVE age", "named twice"),
        ("CREATE ANONYMIZED TABLE r FROM patients (age) ENTITY id, sex", "more than one column"),
        ("CREATE ANONYMIZED TABLE r FROM patients (age) REQUIRE l_diversity(2)", "no sensitive attribute"),
        ("CREATE ANONYMIZED TABLE r FROM patients (age) IN SERIES s", "goes with AS POLICY"),
        ("CREATE ANONYMIZED TABLE r FROM patients (age) METHOD nothing", "no method"),
    ],
)
def test_where_it_fails_nothing_is_left_behind(con: Connection, statement: str, message: str) -> None:
    with pytest.raises(SqlanonError) as caught:
        con.execute(statement)
    assert message in caught.value.message
    assert caught.value.position is not None
    assert (listed(con, "POLICIES"), listed(con, "HIERARCHIES"), listed(con, "RELEASES")) == ([], [], [])


# Columns of 60 rows: sentences, long texts of ten kinds, numbers that are all different; sentences of four kinds.
_WRITTEN = (
    "SELECT i % 5 AS age, 'lives with Eva ' || i * 3 // 4 AS told, repeat('on and on ', 7) || i % 10 AS note, "
    "i * 17 AS pay, 'did not say ' || i % 4 AS answer, 'p' || i AS code FROM range(60) AS t(i)"
)


@pytest.mark.parametrize(
    ("known", "secret", "column", "message"),
    [
        ("age", "told", "told", "told is secret, and secrets are published as they are: it is free text"),
        ("age", "note", "note", "note is secret, and secrets are published as they are: it is free text"),
        ("age", "pay", "pay", "100 % of its values are different"),
        ("age, told", "answer", "told", "told is known, and ranges of texts show some of them as they are: it is free"),
        ("note, age", "answer", "note", "note is known"),
    ],
)
def test_every_short_form_refuses_free_text_and_secrets_that_tell_people_apart(
    known: str, secret: str, column: str, message: str, tmp_path: Path
) -> None:
    con = template(f"CREATE TABLE written AS {_WRITTEN}")
    with pytest.raises(PolicyError) as refused:
        con.execute(f"CREATE ANONYMIZED TABLE r FROM written ({known}) SENSITIVE {secret}")
    assert message in refused.value.message
    assert refused.value.hint == (
        f"leave {column} out, publish a coarser column instead, or make a full policy, CREATE POLICY r ON ..."
    )
    assert refused.value.position is not None
    assert (listed(con, "POLICIES"), listed(con, "RELEASES")) == ([], [])
    frame = con.duckdb.execute("FROM written").df()
    with pytest.raises(PolicyError) as refused:
        anonymize(frame, known=known.split(", "), secret=secret)
    assert message in refused.value.message
    assert "policy=sqlanon.Policy(...)" in str(refused.value.hint)
    frame.to_csv(tmp_path / "written.csv", index=False)
    lists = ("--known", known.replace(" ", ""), "--secret", secret)
    done = invoke("anonymize", tmp_path / "written.csv", *lists, "--dry-run")
    assert done.exit_code == 2
    assert message in done.stderr
    assert f"--allow {column}" in done.stderr


_FILLED = "SELECT i % 5 AS age, CASE WHEN i % 5 < 3 THEN {filler} ELSE 'told Ann of visit ' || i END AS note"


@pytest.mark.parametrize("filler", ["'-'", "''", "'none'", "'did not say'", "NULL"])
def test_what_fills_a_field_without_text_does_not_hide_free_text(filler: str) -> None:
    con = template(f"CREATE TABLE filled AS {_FILLED.format(filler=filler)} FROM range(100) AS t(i)")
    with pytest.raises(PolicyError, match="note is secret, and secrets are published as they are"):
        con.execute("CREATE ANONYMIZED TABLE r FROM filled (age) SENSITIVE note")
    roles = {str(row[1]): row for row in con.execute("PROFILE filled").fetchall() if row[1] == "note"}
    assert "IDENTIFIER" in roles["note"]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("'p' || i % 60 || '@x.org'", "its values say an e-mail address"),
        ("'https://x.org/u/' || i % 60", "its values say a web address"),
        ("'doctor' || i % 3 || '@x.org'", "its values say an e-mail address"),
    ],
)
@pytest.mark.parametrize("columns", ["(age) SENSITIVE contact", "(age, contact)"])
def test_identifiers_by_the_form_of_their_values_are_refused(value: str, message: str, columns: str) -> None:
    con = template(f"CREATE TABLE people AS SELECT i % 5 AS age, {value} AS contact FROM range(100) AS t(i)")
    with pytest.raises(PolicyError, match=message):
        con.execute(f"CREATE ANONYMIZED TABLE r FROM people {columns}")


def test_long_texts_in_many_rows_are_labels() -> None:
    answer = (
        "'I strongly ' || ['agree', 'disagree'][i % 2 + 1] || ' that the service was delivered on time and in full'"
    )
    con = template(f"CREATE TABLE survey AS SELECT i // 10 AS age, {answer} AS answer FROM range(100) AS t(i)")
    con.execute("CREATE ANONYMIZED TABLE r FROM survey (age) SENSITIVE answer")
    assert len(con.duckdb.execute("FROM r").fetchall()) == 100
    roles = {row[1]: row for row in con.execute("PROFILE survey").fetchall()}
    assert "IDENTIFIER" not in roles["answer"]


def test_what_short_forms_do_not_refuse() -> None:
    con = template(f"CREATE TABLE written AS {_WRITTEN}")
    # Sentences that repeat, a code that is known, and a text whose hierarchy was named.
    con.execute("CREATE HIERARCHY beginnings AS PREFIXES (5, 1)")
    con.execute("CREATE ANONYMIZED TABLE r FROM written (age, code, told USING beginnings) SENSITIVE answer")
    # Of fewer than 20 rows chance makes all values different.
    con.execute("CREATE ANONYMIZED TABLE few FROM (FROM written LIMIT 19) (age) SENSITIVE pay")
    con.execute("CREATE POLICY whole ON written (age QUASI IDENTIFIER, told SENSITIVE) REQUIRE k_anonymity(5)")
    assert "told" in remarks(con, "CREATE ANONYMIZED TABLE literal AS POLICY whole")
    frame = con.duckdb.execute("FROM written").df()
    with pytest.raises(PolicyError, match="told would be published as it is: it is free text"):
        anonymize(frame, known="age", insensitive="told")
    full = Policy("full", source="data", quasi_identifiers=["age"], sensitive=["told"], require=[KAnonymity(k=5)])
    with pytest.warns(PrivacyRemark, match="told"):
        anonymize(frame, policy=full)


@pytest.mark.long
def test_short_forms_say_that_ranges_of_numbers_as_text_are_alphabetical(tmp_path: Path) -> None:
    con = template(
        "CREATE TABLE t AS SELECT if(i % 9 = 0, '?', (i * 7 % 120 / 10)::VARCHAR) AS level, "
        "strftime(DATE '1990-01-20' + CAST(i % 90 AS INTEGER), '%d %b %Y') AS born, i % 30 || ',5' AS weight, "
        "'w' || i % 9 AS ward, i % 3 AS ill FROM range(90) AS r(i)"
    )
    said = remarks(con, "CREATE ANONYMIZED TABLE r FROM t (level, born, weight, ward) SENSITIVE ill")
    mended = {
        "level": ('numbers as text, but for "?"', "CAST(NULLIF(\"level\", '?') AS DOUBLE)"),
        "born": ("dates as text, in the format %d %b %Y", "STRPTIME(\"born\", '%d %b %Y')"),
        "weight": ("numbers with a decimal comma", "CAST(REPLACE(\"weight\", ',', '.') AS DOUBLE)"),
    }
    for name, (meant, cast) in mended.items():
        (line,) = (line for line in said.splitlines() if line.startswith(f"{name} is text"))
        assert line.startswith(f"{name} is text, and its ranges are alphabetical: its values are {meant}; publish ")
        # What is advised runs, and leaves nothing to say.
        written = line.partition("publish ")[2].removesuffix(" in its place")
        assert written.casefold() == cast.casefold()
        con.execute(f"CREATE OR REPLACE VIEW mended AS SELECT {written} AS {name}, ill FROM t")
        short = f"CREATE OR REPLACE ANONYMIZED TABLE m FROM mended ({name}) SENSITIVE ill METHOD mondrian"
        assert "is text" not in remarks(con, short)
    assert "ward is text" not in said
    frame = con.duckdb.execute("FROM t").df()
    advised = {
        "level": "pandas.to_numeric(data['level'], errors=\"coerce\")",
        "born": 'pandas.to_datetime(data[\'born\'], format="%d %b %Y", errors="coerce")',
        "weight": 'pandas.to_numeric(data[\'weight\'].str.replace(",", "."), errors="coerce")',
    }
    with pytest.warns(PrivacyRemark) as caught:
        anonymize(frame, known=[*advised], secret="ill", method="mondrian")
    for name, text in advised.items():
        assert any(str(each.message).startswith(f"{name} is text") and text in str(each.message) for each in caught)
    frame.to_csv(tmp_path / "t.csv", index=False)
    with pytest.warns(PrivacyRemark, match=r"level is text.* give null=\['\?'\]$"):
        anonymize(tmp_path / "t.csv", known=["level"], secret="ill", method="mondrian")


def test_short_forms_say_that_codes_for_missing_values_count_as_values(tmp_path: Path) -> None:
    con = template(
        "CREATE TABLE t AS SELECT if(i % 9 = 0, -9, 20 + i % 40) AS age, if(i % 10 = 0, '-9', 'ab'[1 + i % 2]) AS ill "
        "FROM range(120) AS r(i)"
    )
    said = remarks(con, "CREATE ANONYMIZED TABLE r FROM t (age) SENSITIVE ill METHOD mondrian")
    advised = {"age": 'NULLIF("age", -9)', "ill": "NULLIF(\"ill\", '-9')"}
    lines = [line for line in said.splitlines() if "looks like a missing value" in line]
    assert len(lines) == 2
    for line, (name, mended) in zip(lines, advised.items(), strict=True):
        assert f" in {name} looks like a missing value, and counts as a value; publish " in line
        written = line.partition("publish ")[2].removesuffix(" in its place")
        assert written.casefold() == mended.casefold()
        # What is advised runs, and leaves nothing to say.
        con.execute(f"CREATE OR REPLACE VIEW mended AS SELECT * REPLACE ({written} AS {name}) FROM t")
        others = remarks(con, "CREATE OR REPLACE ANONYMIZED TABLE m FROM mended (age) SENSITIVE ill METHOD mondrian")
        assert others.count("looks like a missing value") == 1
    frame = con.duckdb.execute("FROM t").df()
    with pytest.warns(PrivacyRemark) as caught:
        anonymize(frame, known="age", secret="ill", method="mondrian")
    texts = [str(each.message) for each in caught if "like a missing value" in str(each.message)]
    for text, (name, code) in zip(texts, {"age": -9, "ill": "-9"}.items(), strict=True):
        assert text.endswith(f"give data[{name!r}].mask(data[{name!r}].isin([{code!r}]))")
        frame[name] = frame[name].mask(frame[name].isin([code]))
    with warnings.catch_warnings(record=True) as none:
        warnings.simplefilter("always")
        anonymize(frame, known="age", secret="ill", method="mondrian")
    assert not [each for each in none if "like a missing value" in str(each.message)]
    con.duckdb.execute(f"COPY t TO '{tmp_path / 't.csv'}'")
    with pytest.warns(PrivacyRemark, match=r"-9\" in ill looks like.* give null=\['-9'\]$"):
        anonymize(tmp_path / "t.csv", known=["age"], secret="ill", method="mondrian")


def test_an_ordered_categorical_is_said_to_lose_its_order() -> None:
    def said(categories: list[str], **arguments: Any) -> list[str]:
        values = pandas.Categorical([categories[i % 3] for i in range(60)], categories=categories, ordered=True)
        frame = pandas.DataFrame({"group": values, "ill": [1, 2, 3, 4] * 15})
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            anonymize(frame, secret="ill", method="mondrian", **arguments)
        return [str(each.message) for each in caught if "ordered categorical" in str(each.message)]

    [remark] = said(["low", "middle", "high"], known="group")
    assert remark.startswith("group is an ordered categorical, and its ranges are alphabetical: ")
    # What is advised leaves nothing to say.
    assert said(["1 low", "2 middle", "3 high"], known="group") == []


def test_days_of_pandas_are_published_as_dates() -> None:
    days = pandas.to_datetime(["2020-02-01", "2020-03-05", None] * 20) + pandas.to_timedelta([*range(60)], unit="D")
    frame = pandas.DataFrame({"day": days, "moment": days + pandas.Timedelta(hours=7), "ill": [1, 2, 3, 4] * 15})
    released = anonymize(frame, known=["day", "moment"], secret="ill", method="mondrian")
    labels = [str(label) for label in released["day"].dropna()]
    assert len(labels) >= 40
    assert all(re.fullmatch(r"\[\d{4}-\d\d-\d\d, \d{4}-\d\d-\d\d\]", label) for label in labels)
    assert any("07:00:00" in str(label) for label in released["moment"])
    assert str(frame["day"].dtype).startswith("datetime64")


def test_a_policy_of_the_name_is_kept_unless_or_replace_is_said(con: Connection) -> None:
    con.execute("CREATE POLICY r ON patients (age QUASI IDENTIFIER) REQUIRE k_anonymity(2)")
    with pytest.raises(PolicyError, match="the policy r exists already") as caught:
        con.execute(SHORT)
    assert "CREATE OR REPLACE ANONYMIZED TABLE r FROM ..." in str(caught.value.hint)
    assert "CREATE ANONYMIZED TABLE r AS POLICY r" in str(caught.value.hint)
    assert requirements(con) == "k_anonymity(k => 2)"
    con.execute(SHORT.replace("CREATE", "CREATE OR REPLACE"))
    assert requirements(con) == "k_anonymity(k => 5), l_diversity(l => 2)"
    with pytest.raises(PolicyError) as caught:
        con.execute(SHORT)
    assert "REFRESH ANONYMIZED TABLE r" in str(caught.value.hint)
    con.execute("REFRESH ANONYMIZED TABLE r")


def test_if_not_exists_leaves_what_is_there(con: Connection) -> None:
    con.execute(SHORT)
    con.execute("CREATE ANONYMIZED TABLE IF NOT EXISTS r FROM patients (age) REQUIRE k_anonymity(9)")
    assert requirements(con) == "k_anonymity(k => 5), l_diversity(l => 2)"
    con.execute("CREATE ANONYMIZED TABLE IF NOT EXISTS r2 FROM patients (age)")
    assert listed(con, "RELEASES") == ["main.r", "main.r2"]


def test_a_dry_run_leaves_nothing(con: Connection) -> None:
    rows = con.sql(f"EXPLAIN {SHORT}").fetchall()
    assert "age" in str(rows)
    assert (listed(con, "POLICIES"), listed(con, "HIERARCHIES"), listed(con, "RELEASES")) == ([], [], [])
    con.execute("BEGIN")
    with pytest.raises(SqlanonError, match="transaction of its own"):
        con.sql(f"EXPLAIN {SHORT}")


def test_a_file_is_a_source(con: Connection, tmp_path: Path) -> None:
    path = (tmp_path / "patients.csv").as_posix()
    con.execute(f"COPY patients TO '{path}'")
    con.execute(f"CREATE ANONYMIZED TABLE r FROM '{path}' (age, sex, zip) SENSITIVE diagnosis ENTITY id")
    assert smallest(con, "r", 3, values=False) >= 5
    con.execute("DROP ANONYMIZED TABLE r; CREATE ANONYMIZED TABLE r AS POLICY r")


def test_a_live_view_is_made(con: Connection, tmp_path: Path) -> None:
    con.execute("CREATE ANONYMIZED VIEW v FROM patients (age, sex) SENSITIVE diagnosis")
    assert smallest(con, "v", 2, values=False) >= 5


@pytest.mark.parametrize("source", ["towns", "file"])
def test_a_policy_may_be_written_out_and_run_again(con: Connection, tmp_path: Path, source: str) -> None:
    con.execute("CREATE TABLE towns AS SELECT 'town ' || (i % 40) AS town, i % 50 AS age FROM range(200) AS t(i)")
    if source == "file":
        con.execute(f"COPY towns TO '{(tmp_path / 'towns.csv').as_posix()}'")
        source = f"'{(tmp_path / 'towns.csv').as_posix()}'"
    con.execute(f"CREATE ANONYMIZED TABLE t FROM {source} (town, age)")
    script = "\n".join(row[0] for row in con.sql("DESCRIBE POLICY t AS SQL").fetchall())
    con.execute("DROP ANONYMIZED TABLE t; DROP POLICY t")
    assert listed(con, "HIERARCHIES") == []
    con.execute(f"{script} CREATE ANONYMIZED TABLE t AS POLICY t")
    assert script == "\n".join(row[0] for row in con.sql("DESCRIBE POLICY t AS SQL").fetchall())


@pytest.mark.parametrize("name", ['a "b"', "a.b", "select", "ünï 日本", "Age", "it's", "r_auto"])
def test_names_of_any_kind(con: Connection, name: str) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    con.execute(f"CREATE TABLE {quoted} AS SELECT age AS {quoted}, sex FROM patients")
    con.execute(f'CREATE ANONYMIZED TABLE {quoted[:-1]} r" FROM {quoted} ({quoted}, sex)')
    (release,) = listed(con, "RELEASES")
    assert release == f"main.{name} r"
    assert listed(con, "HIERARCHIES") == [f"{name} r_{name}_auto"]
    con.execute(f'DROP POLICY {quoted[:-1]} r"')
    assert listed(con, "HIERARCHIES") == []


def test_a_hierarchy_of_the_users_is_no_other(con: Connection) -> None:
    con.execute("CREATE HIERARCHY r_age_auto AS INTERVALS (7)")
    con.execute(SHORT)
    assert listed(con, "HIERARCHIES") == ["r_age_auto", "r_age_auto_2", "r_zip_auto"]
    con.execute("DROP POLICY r")
    assert listed(con, "HIERARCHIES") == ["r_age_auto"]


def test_dropping_a_policy_leaves_a_hierarchy_of_the_users_of_the_same_name(con: Connection) -> None:
    con.execute("CREATE HIERARCHY r_age_auto AS INTERVALS (7)")
    con.execute("CREATE POLICY r ON patients (age QUASI IDENTIFIER USING r_age_auto) REQUIRE k_anonymity(2)")
    con.execute("DROP POLICY r")
    assert listed(con, "HIERARCHIES") == ["r_age_auto"]
    con.execute(SHORT)
    con.execute("CREATE OR REPLACE HIERARCHY r_zip_auto AS PREFIXES (2)")
    con.execute("DROP POLICY r")
    assert listed(con, "HIERARCHIES") == ["r_age_auto", "r_zip_auto"]


def test_a_policy_of_a_new_name_takes_its_hierarchies_along(con: Connection) -> None:
    con.execute(f"{SHORT}; ALTER POLICY r RENAME TO other; DROP POLICY other")
    assert listed(con, "HIERARCHIES") == []


def test_or_replace_keeps_the_policy_of_a_release_in_another_schema(con: Connection) -> None:
    con.execute("CREATE SCHEMA s")
    con.execute(SHORT.replace("TABLE r", "TABLE s.r"))
    for opening in ("CREATE", "CREATE OR REPLACE"):
        with pytest.raises(PolicyError, match=r"the policy r is that of s\.r") as caught:
            con.execute(f"{SHORT} REQUIRE k_anonymity(9)".replace("CREATE", opening))
        assert "give the release another name" in str(caught.value.hint)
    assert requirements(con) == "k_anonymity(k => 5), l_diversity(l => 2)"
    assert listed(con, "RELEASES") == ["s.r"]
    con.execute(SHORT.replace("CREATE", "CREATE OR REPLACE").replace("TABLE r", "TABLE s.r"))


def test_a_hierarchy_that_is_named_anew_stays(con: Connection) -> None:
    con.execute(SHORT)
    (*_, policy) = (row[0] for row in con.sql("DESCRIBE POLICY r AS SQL").fetchall())
    con.execute(policy.replace("CREATE", "CREATE OR REPLACE", 1))
    assert listed(con, "HIERARCHIES") == ["r_age_auto", "r_zip_auto"]
    con.execute("ALTER POLICY r ALTER COLUMN zip QUASI IDENTIFIER")
    assert listed(con, "HIERARCHIES") == ["r_age_auto"]
    con.execute("ALTER POLICY r ALTER COLUMN zip QUASI IDENTIFIER USING AUTO MIN LEVEL 1")
    assert listed(con, "HIERARCHIES") == ["r_age_auto", "r_zip_auto"]


@pytest.mark.parametrize("rows", [1, 4])
def test_few_rows_are_refused(con: Connection, rows: int) -> None:
    with pytest.raises(PrivacyViolation):
        con.execute(f"CREATE ANONYMIZED TABLE r FROM (FROM patients LIMIT {rows}) (age, sex)")
    assert listed(con, "POLICIES") == []


def test_a_table_without_rows_is_refused(con: Connection) -> None:
    con.execute("CREATE TABLE nobody AS FROM patients WHERE false")
    with pytest.raises(DataError, match="nobody has no rows"):
        con.execute("CREATE ANONYMIZED TABLE r FROM nobody (age)")


def test_nulls_are_values(con: Connection) -> None:
    con.execute(
        "CREATE TABLE gaps AS SELECT CASE WHEN i % 3 > 0 THEN i % 40 END AS age, i % 2 AS s FROM range(300) t(i)"
    )
    con.execute("CREATE ANONYMIZED TABLE r FROM gaps (age) SENSITIVE s")
    assert smallest(con, "r", 1, values=False) >= 5
    assert smallest(con, "r", 1, values=True) >= 2


def test_using_auto_says_what_it_has_made(con: Connection) -> None:
    (row,) = con.sql(
        "CREATE POLICY p ON patients (age QUASI IDENTIFIER USING AUTO, sex QUASI IDENTIFIER USING AUTO) "
        "REQUIRE k_anonymity(5)"
    ).fetchall()
    assert row == ("CREATE POLICY", "p", "created")
    columns = {part[1]: part[2] for part in con.sql("DESCRIBE POLICY p").fetchall() if part[0] == "column"}
    assert columns == {"age": 'QUASI IDENTIFIER USING "p_age_auto"', "sex": "QUASI IDENTIFIER"}
    # That of CREATE HIERARCHY AUTO, which PROFILE proposes.
    con.execute("CREATE HIERARCHY same AUTO ON patients.age")
    (automatic, same) = (row[3] for row in con.sql("SHOW HIERARCHIES").fetchall())
    assert automatic.partition(" AS ")[2] == same.partition(" AS ")[2]


def test_a_value_that_a_hierarchy_of_groups_lacks_ends_the_refresh(con: Connection) -> None:
    con.execute("CREATE TABLE towns AS SELECT 'town ' || (i % 40) AS town, i % 50 AS age FROM range(400) AS t(i)")
    con.execute("CREATE ANONYMIZED TABLE r FROM towns (town, age) METHOD generalization(suppression => 0.02)")
    before = con.sql("FROM r ORDER BY ALL").fetchall()
    con.execute("INSERT INTO towns VALUES ('elsewhere', 300)")
    with pytest.raises(DataError, match="lacks values of the column town"):
        con.execute("REFRESH ANONYMIZED TABLE r")
    assert con.sql("FROM r ORDER BY ALL").fetchall() == before
    con.execute("ALTER POLICY r ALTER COLUMN town QUASI IDENTIFIER USING AUTO; REFRESH ANONYMIZED TABLE r")
    assert listed(con, "HIERARCHIES") == ["r_age_auto", "r_town_auto"]
    assert smallest(con, "r", 2, values=False) >= 5


def test_a_quasi_identifier_of_many_values_without_using_is_remarked_upon(con: Connection) -> None:
    said: list[tuple[str, ...]] = []
    con.script(
        "CREATE POLICY p ON patients (age QUASI IDENTIFIER, sex QUASI IDENTIFIER, zip QUASI IDENTIFIER USING AUTO) "
        "REQUIRE k_anonymity(5)",
        on_statement=lambda event: said.append(event.remarks),
    )
    assert said[-1][-1] == "age has no hierarchy: it is kept or `*` where levels are published; write USING AUTO"
    assert "zip has PREFIXES" in said[-1][0]


def test_auto_in_quotes_is_a_hierarchy_of_that_name(con: Connection) -> None:
    con.execute('CREATE HIERARCHY "auto" AS INTERVALS (7)')
    con.execute('CREATE POLICY p ON patients (age QUASI IDENTIFIER USING "auto") REQUIRE k_anonymity(5)')
    assert listed(con, "HIERARCHIES") == ["auto"]
    con.execute("ALTER POLICY p RENAME TO q; DROP POLICY q")
    assert listed(con, "HIERARCHIES") == ["auto"]


@pytest.mark.parametrize(
    "columns",
    ["age SENSITIVE USING AUTO, sex QUASI IDENTIFIER", "age QUASI IDENTIFIER USING AUTO USING ages"],
)
def test_auto_stands_once_and_behind_a_quasi_identifier(con: Connection, columns: str) -> None:
    with pytest.raises(StatementError):
        con.execute(f"CREATE POLICY p ON patients ({columns}) REQUIRE k_anonymity(5)")


def test_the_statement_is_read_back() -> None:
    for text in (
        f"{SHORT} ENTITY id REQUIRE k_anonymity(3) METHOD mondrian(mode => 'relaxed')",
        "CREATE OR REPLACE ANONYMIZED VIEW s.r FROM 'x.csv' (age USING ages MIN LEVEL 1, zip USING AUTO) ENTITY id "
        "SENSITIVE a USING tree, b",
        "EXPLAIN ANONYMIZED TABLE r FROM (FROM t) (a) AGAINST b REQUIRE k_map(2)",
    ):
        (statement,) = parse_script(text)
        assert parse_script(statement.sql()) == [statement]
