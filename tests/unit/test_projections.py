"""Requirements on some of the quasi-identifiers: what is refused, what they are called, and who says what of them."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import pytest
from sqlglot import exp

import sqlanon
from sqlanon import Connection, PrivacyViolation, SqlanonError
from sqlanon.sources.requirements import resolve_requirements
from sqlanon.sql.build.names import relation
from sqlanon.sql.classes.guard import kept_classes
from sqlanon.sql.classes.normal_relations import relations_of
from sqlanon.sql.classes.rows import rows_of
from sqlanon.statements.parser import parse_script
from sqlanon.statements.policies.create_policy import CreatePolicy
from tests.support.database import template
from tests.support.reports import page_of

ROLES = "zip QUASI IDENTIFIER, born QUASI IDENTIFIER, sex QUASI IDENTIFIER, disease SENSITIVE"
SETS = "k_anonymity(2, on => (zip, born)), k_anonymity(3, on => (sex, zip)), l_diversity(l => 2, on => zip)"
SETUP = f"""
CREATE TABLE people AS FROM (VALUES
    ('941', 1940, 'F', 'flu'), ('941', 1940, 'M', 'cold'), ('941', 1950, 'F', 'flu'), ('941', 1950, 'M', 'cold'),
    ('942', 1940, 'F', 'flu'), ('942', 1940, 'F', 'cold'), ('942', 1960, 'M', 'flu'), ('942', 1960, 'M', 'cold')
) AS t(zip, born, sex, disease);
CREATE POLICY p ON people ({ROLES}) REQUIRE {SETS};
"""


@pytest.fixture
def con() -> Connection:
    return template(SETUP)


@pytest.mark.parametrize(
    ("required", "message", "hint"),
    [
        ("k_anonymity(2, on => (zip, disease))", "disease is not a quasi-identifier", "zip, born, sex"),
        ("k_anonymity(2, on => (zip, borne))", "borne is not a quasi-identifier", "did you mean born?"),
        ("k_anonymity(2, on => (zip, people.born))", "people.born is not a quasi-identifier", "zip, born, sex"),
        ("k_anonymity(2, on => 3)", "3 is not a quasi-identifier", "zip, born, sex"),
        ("k_anonymity(2, on => (zip, born, ZIP))", "on names zip twice", "name it once"),
        ("k_anonymity(2, on => (zip, born)), l_diversity(l => 2, on => zip)", "no requirement is on sex", "add sex"),
        ("k_anonymity(2, on => (zip, born)), k_anonymity(3, on => ('BORN', zip))", "is required twice", "the stricter"),
    ],
)
def test_what_a_requirement_cannot_be_on(con: Connection, required: str, message: str, hint: str) -> None:
    with pytest.raises(SqlanonError) as raised:
        con.execute(f"CREATE POLICY q ON people ({ROLES}) REQUIRE {required}")
    assert message in str(raised.value)
    assert hint in (raised.value.hint or "")
    with pytest.raises(SqlanonError):
        con.execute(f"CHECK people (zip, born, sex) SENSITIVE disease REQUIRE {required}")


@pytest.mark.parametrize("model", ["k_map(k => 2, on => (zip))", "delta_presence(max => 0.5, on => (zip))"])
def test_a_public_table_is_compared_by_all_columns(con: Connection, model: str) -> None:
    with pytest.raises(SqlanonError, match="compares with a public table by all quasi-identifiers"):
        con.execute(f"CREATE POLICY q ON people ({ROLES}) AGAINST people REQUIRE k_anonymity(2), {model}")


@pytest.mark.long
def test_a_series_promises_of_all_columns(con: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "a key that is long enough")
    con.execute("ALTER TABLE people ADD COLUMN person INTEGER")
    con.execute("UPDATE people SET person = rowid")
    con.execute("ALTER POLICY p ADD COLUMN person ENTITY")
    with pytest.raises(SqlanonError, match="has no argument 'on'"):
        con.execute("CREATE SERIES s ON POLICY p KEY 'SOME_KEY' REQUIRE m_invariance(m => 2, on => (zip))")
    con.execute("CREATE SERIES s ON POLICY p KEY 'SOME_KEY' REQUIRE composition(max => 0.5)")
    con.execute("CREATE ANONYMIZED TABLE first AS POLICY p METHOD generalization IN SERIES s")
    con.execute("CREATE ANONYMIZED TABLE second AS POLICY p METHOD generalization IN SERIES s")
    # The ledger has the classes by all three columns; of the people of one of these two values are published.
    checked = {row[1]: row[4:] for row in con.execute("CHECK second IN SERIES s").fetchall()}
    assert checked["composition"] == (0.5, True)


def test_all_are_stored_shown_and_told_apart(con: Connection) -> None:
    shown = 'k_anonymity(k => 2, on => ("zip", "born")), k_anonymity(k => 3, on => ("sex", "zip")), l_diversity('
    assert con.execute("SHOW POLICIES").fetchall()[0][-1].startswith(shown)
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
    found = [row[1:] for row in con.execute("CHECK r").fetchall()]
    assert found == [
        ("k_anonymity on (zip, born)", None, 2.0, 2.0, True),
        ("k_anonymity on (zip, sex)", None, 3.0, 4.0, True),
        ("distinct_l_diversity on (zip)", "disease", 2.0, 2.0, True),
    ]
    recorded = "SELECT question, attribute, required, achieved, satisfied FROM anon.measurement WHERE required > 0"
    assert con.duckdb.execute(recorded).fetchall() == found


def test_a_policy_that_was_written_by_hand(con: Connection) -> None:
    con.duckdb.execute("""UPDATE anon.policy_requirement SET arguments = '{"k": 2, "on": ["zip", "born", "sex"]}'
                          WHERE position = 1""")
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
    assert con.execute("CHECK r").fetchall()[0][1:] == ("k_anonymity on (zip, born, sex)", None, 2.0, 2.0, True)


def test_names_that_look_like_others_are_told_apart() -> None:
    with sqlanon.connect(config={"threads": 1}) as con:
        con.execute("""CREATE TABLE t AS SELECT i % 2 AS a, i % 3 AS b, 1 AS "a, b" FROM range(12) r(i)""")
        con.execute("""CREATE POLICY p ON t (a QUASI IDENTIFIER, b QUASI IDENTIFIER, "a, b" QUASI IDENTIFIER)
                       REQUIRE k_anonymity(3, on => (a, b)), k_anonymity(4, on => ("a, b"))""")
        con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
        names = [row[1] for row in con.execute("CHECK r").fetchall()]
    assert names == ["k_anonymity on (a, b)", 'k_anonymity on ("a, b")']


@pytest.mark.long
def test_withholding_a_class_of_one_set_lowers_another(con: Connection) -> None:
    """942, M has one row once the last is a woman's; without it 942, 1960 has one, too."""
    required = "k_anonymity(2, on => (zip, born)), k_anonymity(2, on => (zip, sex))"
    con.execute("UPDATE people SET sex = 'F' WHERE zip = '942' AND born = 1960 AND disease = 'cold'")
    fixed = "zip QUASI IDENTIFIER MAX LEVEL 0, born QUASI IDENTIFIER MAX LEVEL 0, sex QUASI IDENTIFIER MAX LEVEL 0"
    con.execute(f"CREATE POLICY fixed ON people ({fixed}) REQUIRE {required}")
    # One of eight rows goes by itself, and may; another goes with it.
    with pytest.raises(PrivacyViolation):
        con.execute("CREATE ANONYMIZED TABLE r AS POLICY fixed METHOD generalization(suppression => 0.2)")
    explained = con.execute(
        "EXPLAIN VERBOSE ANONYMIZED TABLE r AS POLICY fixed METHOD generalization(suppression => 0.25)"
    ).fetchall()
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY fixed METHOD generalization(suppression => 0.25)")
    assert con.duckdb.execute("SELECT count(*), count(*) FILTER (born = 1960) FROM r").fetchall() == [(6, 0)]
    assert ("solve", "of which", "1 in 1 class that violates k_anonymity(k => 2) on (zip, sex)") in explained
    assert ("solve", "of which", "1 in later rounds: without the others these violate too") in explained


@pytest.mark.parametrize("rows", [14, 24])
def test_a_chain_of_classes_is_withheld_in_eight_rounds_or_nothing_is_published(rows: int) -> None:
    """Each row shares its a with one neighbour and its b with the other; those at the ends have none."""
    with sqlanon.connect(config={"threads": 1}) as con:
        con.execute(f"CREATE TABLE chain AS SELECT i // 2 AS a, (i + 1) // 2 AS b FROM range({rows}) AS t(i)")
        con.execute("INSERT INTO chain VALUES (99, 99), (99, 99)")
        con.execute("""CREATE POLICY p ON chain (a QUASI IDENTIFIER MAX LEVEL 0, b QUASI IDENTIFIER MAX LEVEL 0)
                       REQUIRE k_anonymity(2, on => (a)), k_anonymity(2, on => (b))""")
        # Two rows a round; the eighth has to find that nothing violates any more.
        if rows == 14:
            con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization(suppression => 1)")
            assert con.duckdb.execute("FROM r").fetchall() == [(99, 99)] * 2
            con.execute("CREATE ANONYMIZED VIEW v AS POLICY p METHOD generalization(suppression => 1)")
            con.execute("INSERT INTO chain SELECT 1000 + i // 2, 1000 + (i + 1) // 2 FROM range(24) AS t(i)")
            assert con.duckdb.execute("FROM v").fetchall() == []
        else:
            with pytest.raises(PrivacyViolation, match=r"on \(b\): 2 with 2 rows, .*, and without them others do; "):
                con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization(suppression => 1)")


def test_an_error_shows_the_columns_of_its_set_alone(con: Connection) -> None:
    con.execute("CREATE HIERARCHY tens AS INTERVALS (10)")
    con.execute(
        "CREATE POLICY q ON people (zip QUASI IDENTIFIER MAX LEVEL 0, sex QUASI IDENTIFIER MAX LEVEL 0, born QUASI "
        "IDENTIFIER USING tens MIN LEVEL 1 MAX LEVEL 1) REQUIRE k_anonymity(3, on => (zip, born)), "
        "k_anonymity(4, on => (sex))"
    )
    with pytest.raises(PrivacyViolation) as raised:
        con.execute("CREATE ANONYMIZED TABLE r AS POLICY q METHOD generalization")
    # Values that would be published as they are stay out of a message.
    expected = "violate k_anonymity(k => 3) on (zip, born): 4 with 8 rows, the smallest (born = [1940,1950)) with 2"
    assert expected in str(raised.value)
    # The level of a column that is not in the set would change nothing.
    assert (raised.value.hint or "").startswith("raise MAX LEVEL of zip, born, or ask for less")


@pytest.mark.long
def test_a_certificate_and_a_report_say_on_which_columns(con: Connection, tmp_path: Path) -> None:
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
    con.execute(f"EXPORT r TO '{tmp_path}/out' (FORMAT parquet)")
    stated = json.loads((tmp_path / "out/certificate.json").read_text())["requirements"]
    assert [(r["requirement"], r["question"], r.get("on")) for r in stated] == [
        ("k_anonymity(k => 2) on (zip, born)", "k_anonymity on (zip, born)", ["zip", "born"]),
        ("k_anonymity(k => 3) on (zip, sex)", "k_anonymity on (zip, sex)", ["zip", "sex"]),
        ("l_diversity(l => 2, variant => 'distinct') of disease on (zip)", "distinct_l_diversity on (zip)", ["zip"]),
    ]
    assert {r["recomputed_from"] for r in stated} == {"exported file"}
    with sqlanon.connect(config={"threads": 1}) as reader:
        checked = reader.execute(f"CHECK '{tmp_path}/out'").fetchall()
    assert [row[1] for row in checked if row[3] is not None] == [r["question"] for r in stated]
    assert "Classes are by (zip, sex) alone: nothing is said to anyone who knows more." in page_of(con, "r").text


def test_a_certificate_does_not_promise_classes_by_all_columns(con: Connection, tmp_path: Path) -> None:
    """Of the classes by all columns six of seven have a single row."""
    con.execute(
        "CREATE POLICY sets ON people (zip QUASI IDENTIFIER, born QUASI IDENTIFIER, sex QUASI IDENTIFIER) "
        "REQUIRE k_anonymity(2, on => (zip, born)), k_anonymity(2, on => (zip, sex))"
    )
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY sets METHOD generalization")
    con.execute(f"EXPORT r TO '{tmp_path}/out'")
    for stated in json.loads((tmp_path / "out/certificate.json").read_text())["requirements"]:
        alone = f" Classes are by ({', '.join(stated['on'])}) alone: nothing is said to anyone who knows more."
        assert stated["meaning"].startswith("Every equivalence class holds at least k respondents.")
        assert stated["meaning"].endswith(alone)
    promised, not_promised = (tmp_path / "out/certificate.md").read_text().split("## What it does not promise")
    assert promised.count("alone: nothing is said to anyone who knows more.") == 2
    limit = "- A requirement on `(zip, born)` or on `(zip, sex)` is about readers who know these columns of a person"
    assert limit in not_promised
    assert "It promises nothing to anyone who knows more, such as readers of several sets" in not_promised


def test_a_certificate_of_classes_by_all_columns_has_no_such_limit(con: Connection, tmp_path: Path) -> None:
    con.execute(f"CREATE POLICY all_of_them ON people ({ROLES}) REQUIRE k_anonymity(2)")
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY all_of_them METHOD generalization")
    con.execute(f"EXPORT r TO '{tmp_path}/out'")
    text = (tmp_path / "out/certificate.md").read_text()
    assert "anyone who knows more" not in text
    assert "A requirement on" not in text


def test_attacks_are_by_all_columns_and_nothing_bounds_them(con: Connection) -> None:
    con.execute(f"CREATE POLICY together ON people ({ROLES}) REQUIRE l_diversity(l => 2, variant => 'probabilistic')")
    con.execute(
        f"CREATE POLICY apart ON people ({ROLES}) REQUIRE k_anonymity(1), "
        "l_diversity(l => 2, variant => 'probabilistic', on => (zip))"
    )
    bounds = {}
    for name in ("together", "apart"):
        con.execute(f"CREATE ANONYMIZED TABLE {name} AS POLICY {name} METHOD generalization")
        ((*_, highest, _, bounds[name], _),) = con.execute(f"ATTACK {name} WITH homogeneity").fetchall()
        assert highest <= (1.0 if name == "apart" else 0.5)
    assert bounds == {"together": 0.5, "apart": None}
    with pytest.raises(SqlanonError, match="about classes by some of the quasi-identifiers"):
        con.execute("ATTACK apart WITH minimality")


@pytest.mark.long
def test_a_frontier_sweeps_a_parameter_of_all_sets(con: Connection) -> None:
    rows = con.execute(
        "FRONTIER f ON POLICY p METHODS (generalization(suppression => 0), mondrian) SWEEP k IN (2, 3) "
        "MEASURE granularity_loss"
    ).fetchall()
    made, refused = rows[3:5], rows[5:]
    assert [row[2].count(f"k => {k}") for row, k in zip(made, (2, 3), strict=True)] == [2, 2]
    assert [row[3] for row in made] == [0.0, pytest.approx(2 / 3)]
    assert len(refused) == 2
    assert all("the method mondrian cannot meet" in row[-1] for row in refused)


@pytest.mark.long
def test_remarks_advise_what_holds_of_all_columns(con: Connection) -> None:
    columns = "zip QUASI IDENTIFIER, born QUASI IDENTIFIER, disease SENSITIVE"
    required = "k_anonymity(1, on => (zip)), l_diversity(l => 1, on => zip), k_anonymity(1, on => born)"
    for times, said in (
        (1, "in 2 of 3 classes there is a single row; require k_anonymity"),
        (2, "anyone who knows somebody's class knows the value; require l_diversity or t_closeness"),
    ):
        rows = f"SELECT * EXCLUDE (i) FROM people, range({times}) AS t(i) WHERE sex = 'F'"
        con.execute(f"CREATE OR REPLACE POLICY q ON ({rows}) ({columns}) REQUIRE {required}")
        remark = con.execute("CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY q METHOD generalization").fetchall()[0][-1]
        assert remark.endswith(f"{said} of all quasi-identifiers together")


def test_a_refresh_keeps_the_sets(con: Connection) -> None:
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
    con.execute("INSERT INTO people VALUES ('943', 1990, 'F', 'flu'), ('943', 1990, 'M', 'cold')")
    con.execute("REFRESH ANONYMIZED TABLE r")
    checked = con.execute("CHECK r").fetchall()
    assert len(checked) == 3
    assert all(row[-1] for row in checked)
    assert con.duckdb.execute("SELECT count(*) FROM r").fetchall() == [(10,)]


def test_no_relation_has_a_column_for_each_set() -> None:
    """DuckDB plans such a relation anew wherever it is read, and its time would grow with the square of the sets."""
    names = [f"q{i}" for i in range(8)]
    widths: list[int] = []
    lengths: list[int] = []
    for many in (7, 28):
        asked = [f"k_anonymity(k => 5, on => ({', '.join(on)}))" for on in list(combinations(names, 2))[:many]]
        roles = ", ".join(f"{name} QUASI IDENTIFIER" for name in names)
        (statement,) = parse_script(f"CREATE POLICY p ON t ({roles}) REQUIRE {', '.join(asked)}")
        assert isinstance(statement, CreatePolicy)
        requirements = resolve_requirements(statement.policy)
        steps = [*relations_of(rows_of(relation("t"), names), requirements), *kept_classes(requirements)]
        widths.append(max(len(select.expressions) for _, query in steps for select in query.find_all(exp.Select)))
        lengths.append(sum(len(list(query.walk())) for _, query in steps))
    assert widths[1] == widths[0]
    assert lengths[1] <= 4 * lengths[0]
