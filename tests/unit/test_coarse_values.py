"""SENSITIVE with MIN LEVEL or HIDE: what is refused, said and kept, and that no value gets past its label."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import sqlanon
from sqlanon import Connection, DataError, KAnonymity, Labels, PolicyError, PrivacyViolation, UserError
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.export.warehouses.compiled import compiled
from tests.oracles import coarse_values as oracle
from tests.support.database import rows, tables, template

TREE = {
    "flu": ("airways", "chest"),
    "cold": ("airways", "chest"),
    "embolism": ("vessels", "chest"),
    "ulcer": ("stomach", "belly"),
    "gastritis": ("stomach", "belly"),
    "HIV": ("infection", "rest"),
    "hepatitis": ("infection", "rest"),
}
LISTED = ", ".join(str((value, *labels)) for value, labels in TREE.items())
VALUES = ", ".join(f"({number}, '{value}')" for number, value in enumerate(TREE))
SETUP = f"""
    CREATE TABLE tree AS FROM (VALUES {LISTED}) AS t(value, part, region);
    CREATE HIERARCHY illnesses AS LEVELS (FROM tree);
    CREATE HIERARCHY ages AS INTERVALS (10, 20);
    CREATE TABLE patients AS
        SELECT i AS who, 20 + i * 7 % 40 AS age, CASE WHEN i % 2 = 0 THEN 'M' ELSE 'F' END AS sex, value AS illness,
            i % 5 AS ward
        FROM range(70) AS r(i) JOIN (VALUES {VALUES}) AS v(number, value) ON number = i * 3 % 7;
"""
LABELS = {"MIN LEVEL 1": oracle.at_level(TREE, 1), "HIDE ('HIV', 'flu')": oracle.hidden(TREE, ("HIV", "flu"))}
COLUMNS = "age QUASI IDENTIFIER USING ages, sex QUASI IDENTIFIER, illness SENSITIVE USING illnesses"


@pytest.fixture
def con() -> Iterator[Connection]:
    with template(SETUP) as connection:
        yield connection


def policy(con: Connection, clause: str = "MIN LEVEL 1", required: str = "", columns: str = "") -> None:
    required = required or "k_anonymity(k => 4), l_diversity(l => 2)"
    con.execute(f"CREATE OR REPLACE POLICY p ON patients ({COLUMNS} {clause}{columns}) REQUIRE {required}")


def make(con: Connection, method: str = "generalization", name: str = "r") -> None:
    con.execute(f"CREATE OR REPLACE ANONYMIZED TABLE {name} AS POLICY p METHOD {method}")


def shown(con: Connection) -> set[object]:
    """Everything that is in a cell of a table that is not the source, of the catalog, or of the tree."""
    names = tables(con) - {"patients", "tree"}
    return {cell for name in names for row in rows(con, f'FROM "{name}"') for cell in row}


METHODS = (
    *("generalization", "generalization(recoding => 'local')", "mondrian", "microaggregation(k => 4)"),
    *("anatomy(l => 2)", "anatomy(l => 2, grouping => 'near')", "slicing(l => 2)", "trivial"),
)


@pytest.mark.parametrize("clause", LABELS)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.one_in(4)
def test_every_method_publishes_labels(con: Connection, method: str, clause: str, tmp_path: Path) -> None:
    policy(con, clause)
    make(con, method)
    labels = LABELS[clause]
    assert labels is not None
    hidden = {value for value, label in labels.items() if label != value}
    assert hidden
    assert not shown(con) & hidden
    assert set(labels.values()) - {None} <= shown(con)
    assert all(satisfied for *_, satisfied in con.execute("CHECK r").fetchall() if satisfied is not None)
    con.execute(f"EXPORT r TO '{tmp_path}/' (FORMAT csv)")
    named = {"HIV", "flu"} if "HIDE" in clause else set()  # The statement of the policy names the nodes.
    for file in tmp_path.iterdir():
        assert not [value for value in hidden - named if str(value) in file.read_text(encoding="utf-8")]
    checked = con.execute(f"CHECK '{tmp_path}/certificate.json'").fetchall()
    assert {row[5] for row in checked} <= {True, None}


def test_fragments_and_groups_publish_labels(con: Connection) -> None:
    con.execute(f"CREATE POLICY p ON patients ({COLUMNS} MIN LEVEL 1) CONFIDENTIAL (age, illness)")
    for method in ("fragments", "loose(k => 2)"):
        make(con, method)
        assert not shown(con) & set(TREE)


def test_people_of_several_tables_have_labels(con: Connection) -> None:
    con.execute(
        """
        CREATE TABLE people AS SELECT who, age FROM patients;
        CREATE TABLE stays AS SELECT who, illness FROM patients;
        CREATE POLICY p ON people (who ENTITY, age QUASI IDENTIFIER USING ages)
        WITH TABLE stays ON (who) (illness SENSITIVE USING illnesses MIN LEVEL 1) REQUIRE k_anonymity(k => 4);
        CREATE ANONYMIZED TABLE r AS POLICY p METHOD multirelational;
        DROP TABLE people; DROP TABLE stays"""
    )
    assert not shown(con) & set(TREE)
    assert {label for label, _ in TREE.values()} <= shown(con)


def test_a_live_view_keeps_the_hierarchy_that_it_was_made_with(con: Connection) -> None:
    policy(con)
    con.execute("CREATE ANONYMIZED VIEW v AS POLICY p METHOD generalization")
    before = sorted(rows(con, "SELECT illness FROM v"))
    con.execute("CREATE OR REPLACE HIERARCHY illnesses AS LEVELS (SELECT value, value || '!', 'all' FROM tree)")
    assert sorted(rows(con, "SELECT illness FROM v")) == before
    assert {True} == {satisfied for *_, satisfied in con.execute("CHECK v").fetchall()}
    con.duckdb.execute("INSERT INTO patients VALUES (99, 30, 'F', NULL, 1)")
    assert len(rows(con, "FROM v WHERE illness IS NULL")) == 1


def test_a_view_of_a_query_has_labels(con: Connection) -> None:
    con.execute(
        f"CREATE POLICY p ON (SELECT * FROM patients WHERE ward < 4) ({COLUMNS} HIDE ('HIV')) REQUIRE "
        "k_anonymity(k => 2); CREATE ANONYMIZED VIEW v AS POLICY p METHOD mondrian"
    )
    assert {"infection", "ulcer"} <= {illness for (illness,) in rows(con, "SELECT illness FROM v")}
    assert not {"HIV", "hepatitis"} & {illness for (illness,) in rows(con, "SELECT illness FROM v")}


def test_values_without_a_label_end_a_release_and_a_view_unnamed(con: Connection) -> None:
    policy(con)
    con.execute("CREATE ANONYMIZED VIEW v AS POLICY p METHOD generalization")
    con.duckdb.execute("INSERT INTO patients VALUES (99, 30, 'F', 'nobody knows', 1), (98, 31, 'F', 'or this', 1)")
    with pytest.raises(DataError, match="lacks 2 values of the column illness") as raised:
        make(con)
    with pytest.raises(Exception, match="lacks values of the column illness") as read:
        rows(con, "FROM v")
    for text in (str(raised.value), str(read.value)):
        assert "nobody" not in text
        assert "or this" not in text


def test_a_value_under_several_texts_has_no_label(con: Connection) -> None:
    con.execute(
        "CREATE HIERARCHY wards AS LEVELS (SELECT * FROM (VALUES ('0', 'a'), ('00', 'b'), ('1', 'a'), ('2', 'a'), "
        "('3', 'b'), ('4', 'b')) AS t(x, y)); CREATE POLICY p ON patients (age QUASI IDENTIFIER USING ages, "
        "ward SENSITIVE USING wards MIN LEVEL 1) REQUIRE k_anonymity(k => 2)"
    )
    with pytest.raises(DataError, match="several texts"):
        make(con)


@pytest.mark.parametrize(
    ("clause", "said"),
    [
        ("MIN LEVEL 3", "would be \\* in each row"),
        ("MIN LEVEL 7", "has no level 7"),
        ("HIDE ('AIDS')", "has no node 'AIDS'"),
        ("HIDE ('belly')", "has nothing but \\*"),
        ("HIDE ('flu') MIN LEVEL 1", "MIN LEVEL and HIDE"),
        ("HIDE ('flu', 'flu')", "named twice"),
        ("MIN LEVEL 1 MIN LEVEL 2", "occurs twice"),
        ("MAX LEVEL 1", "does not go with SENSITIVE"),
        ("MIN LEVEL -1", "no level -1"),
    ],
)
def test_clauses_that_are_refused(con: Connection, clause: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        policy(con, clause)


def test_columns_that_have_no_labels(con: Connection) -> None:
    for columns, said in (
        ("age QUASI IDENTIFIER, illness SENSITIVE MIN LEVEL 1", "no hierarchy"),
        ("age QUASI IDENTIFIER, illness SENSITIVE HIDE ('flu')", "no hierarchy"),
        ("age QUASI IDENTIFIER, illness INSENSITIVE HIDE ('flu')", "HIDE does not go with INSENSITIVE"),
        ("sex QUASI IDENTIFIER, age SENSITIVE USING ages HIDE ('[20,30)')", "lists no values"),
    ):
        with pytest.raises(UserError, match=said):
            con.execute(f"CREATE POLICY q ON patients ({columns}) REQUIRE k_anonymity(k => 2)")
    con.execute("CREATE TABLE ratings AS SELECT who, 'a' AS film, 'flu' AS stars FROM patients")
    with pytest.raises(UserError, match="PIVOT makes columns of ratings"):
        con.execute(
            "CREATE POLICY q ON ratings PIVOT film VALUES stars (who IDENTIFIER, a SENSITIVE USING illnesses "
            "MIN LEVEL 1) REQUIRE k_anonymity(k => 2)"
        )


@pytest.mark.parametrize(
    "required",
    [
        "t_closeness(t => 0.9, distance => 'hierarchical')",
        "personalized(p => 0.9, guarding => sex)",
        "spread(least => 1)",
        "value_ranges(ranges => known)",
    ],
)
def test_requirements_that_labels_cannot_answer(con: Connection, required: str) -> None:
    con.execute("CREATE TABLE known AS SELECT 'HIV' AS value, 0.0 AS low, 0.1 AS high")
    policy_and_release = (
        f"CREATE POLICY p ON patients ({COLUMNS} MIN LEVEL 1) REQUIRE k_anonymity(k => 2), {required}; "
        "CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization"
    )
    with pytest.raises(PolicyError, match=r"by their hierarchy|holds VARCHAR|a table of values"):
        con.execute(policy_and_release)


def test_a_copy_of_the_values_is_refused_and_a_code_is_remarked_on(con: Connection) -> None:
    con.execute("CREATE TABLE seen AS SELECT *, illness AS said, md5(illness) AS code FROM patients")
    for role in ("INSENSITIVE", "QUASI IDENTIFIER", "SENSITIVE"):
        con.execute(
            f"CREATE OR REPLACE POLICY p ON seen ({COLUMNS} MIN LEVEL 1, said {role}) REQUIRE k_anonymity(k => 1)"
        )
        with pytest.raises(PolicyError, match="said has the values of illness"):
            make(con)
    con.execute(
        f"CREATE OR REPLACE POLICY p ON seen ({COLUMNS} MIN LEVEL 1, code INSENSITIVE, ward INSENSITIVE) "
        "REQUIRE k_anonymity(k => 1)"
    )
    explained = con.execute("EXPLAIN ANONYMIZED TABLE r AS POLICY p METHOD generalization").fetchall()
    [remark] = [detail for _, item, detail in explained if item == "remark" and "behind a label" in detail]
    assert remark.startswith("code reveals which value of illness")


def test_explain_says_what_is_asked_of_labels(con: Connection) -> None:
    policy(con, "MIN LEVEL 1")
    plan = {item: detail for _, item, detail in con.execute("EXPLAIN ANONYMIZED TABLE r AS POLICY p").fetchall()}
    assert plan["labels"] == "illness: labels of level 1 of illnesses; l_diversity is asked of labels"
    policy(con, "HIDE ('HIV')", "k_anonymity(k => 2)")
    for verbose in ("", "VERBOSE "):
        rows = con.execute(f"EXPLAIN {verbose}ANONYMIZED TABLE r AS POLICY p METHOD generalization").fetchall()
        assert ("resolve", "labels") in [row[:2] for row in rows]
        [said] = [detail for _, item, detail in rows if item == "labels"]
        assert said == "illness: values, and labels of illnesses for all values below the parent of 'HIV'"


def test_the_policy_is_kept_and_written_out(con: Connection) -> None:
    policy(con, "HIDE ('HIV', 'flu')")
    described = con.execute("DESCRIBE POLICY p").fetchall()
    assert [detail for _, name, detail in described if name == "illness"] == [
        "SENSITIVE USING \"illnesses\" HIDE ('HIV', 'flu')"
    ]
    [statement] = [detail for part, _, detail in described if part == "statement"]
    con.execute("DROP POLICY p")
    con.execute(statement)
    assert con.execute("DESCRIBE POLICY p").fetchall() == described
    con.execute("ALTER POLICY p ALTER COLUMN illness SENSITIVE USING illnesses MIN LEVEL 2")
    assert "MIN LEVEL 2" in str(con.execute("DESCRIBE POLICY p").fetchall())
    con.duckdb.execute("UPDATE anon.policy_attribute SET hide = 'HIV' WHERE attribute = 'illness'")
    with pytest.raises(PolicyError, match="cannot be read"):
        con.execute("DESCRIBE POLICY p")


def test_the_certificate_says_labels(con: Connection, tmp_path: Path) -> None:
    policy(con, "MIN LEVEL 1")
    make(con)
    con.execute(f"EXPORT r TO '{tmp_path}/' (FORMAT csv)")
    certificate = json.loads((tmp_path / "certificate.json").read_text(encoding="utf-8"))
    [column] = [entry for entry in certificate["columns"] if entry["name"] == "illness"]
    [attribute] = [entry for entry in certificate["policy"]["attributes"] if entry["name"] == "illness"]
    assert column["reading"] == "label"
    assert (attribute["min_level"], attribute["hierarchy"]) == (1, "illnesses")
    text = " ".join((tmp_path / "certificate.md").read_text(encoding="utf-8").split())
    assert "`illness` has labels of `illnesses` in place of its values: those of level 1, in all rows" in text
    assert "What is required of it is required of these labels" in text
    changed = dict(certificate)
    changed["columns"] = [entry | {"reading": "exact"} if entry is column else entry for entry in changed["columns"]]
    (tmp_path / "certificate.json").write_text(json.dumps(changed), encoding="utf-8")
    with pytest.raises(PrivacyViolation, match="has labels by the policy, and is read as exact"):
        con.execute(f"CHECK '{tmp_path}/certificate.json'")


@pytest.mark.parametrize("method", ["generalization", "anatomy(l => 2)"])
def test_no_estimate_reads_labels(con: Connection, method: str) -> None:
    policy(con)
    make(con, method)
    for value in ("flu", "airways"):
        with pytest.raises(PolicyError, match="labels of illnesses replace its values"):
            con.execute(f"ESTIMATE SELECT count(*) FROM patients WHERE illness = '{value}' FROM RELEASE r")
    assert con.execute("ESTIMATE SELECT count(*) FROM patients FROM RELEASE r").fetchall()[0][0] == 70
    con.execute("CREATE WORKLOAD w ON POLICY p (queries => 20)")
    assert "illness" not in str(rows(con, "FROM anon.workload"))


def test_figures_and_attacks_read_labels(con: Connection) -> None:
    policy(con)
    make(con)
    for attack in ("homogeneity", "background", "skewness"):
        assert not {value for row in con.execute(f"ATTACK r WITH {attack}").fetchall() for value in row} & set(TREE)
    con.execute("MEASURE r WITH FIGURES (granularity_loss)")
    make(con, "anatomy(l => 2)")
    con.execute("CREATE OR REPLACE HIERARCHY illnesses AS LEVELS (SELECT value, region FROM tree)")
    with pytest.raises(PolicyError, match="was changed after the release was made"):
        con.execute("MEASURE r WITH FIGURES (membership)")
    assert {True, None} >= {satisfied for *_, satisfied in con.execute("CHECK r").fetchall()}


def test_candidates_of_a_frontier_have_labels(con: Connection) -> None:
    policy(con)
    con.execute(
        "FRONTIER f ON POLICY p METHODS (generalization, anatomy(l => 2)) SWEEP k IN (2, 4) MEASURE granularity_loss"
    )
    assert not {value for row in rows(con, "FROM anon.candidate") for value in row} & set(TREE)


def test_what_takes_no_labels(con: Connection) -> None:
    policy(con, "MIN LEVEL 1", "k_anonymity(k => 4)", ", who IDENTIFIER")
    with pytest.raises(PolicyError, match="takes no labels of illness"):
        make(con, "dp_histogram(epsilon => 1, by => (age, sex)) UNDER BUDGET b")
    with pytest.raises(PolicyError, match="labels of illness change"):
        con.execute("CREATE ANONYMIZED STREAM s AS POLICY p ORDER BY who METHOD stream(k => 5, delay => 20)")
    make(con)
    target = QualifiedName(("here", "made"))
    with pytest.raises(PolicyError, match="illness is published as labels"):
        compiled(DuckDBEngine(con.duckdb), QualifiedName(("r",)), "postgres", target=target)


def test_a_series_has_one_hierarchy_of_labels(con: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERIES_KEY", "a key of at least 16 bytes")
    policy(con, "MIN LEVEL 1", "k_anonymity(k => 2)", ", who ENTITY")
    con.execute("CREATE SERIES s ON POLICY p KEY 'SERIES_KEY' REQUIRE m_invariance(m => 2)")
    for name in ("first", "second"):
        con.execute(f"CREATE ANONYMIZED TABLE {name} AS POLICY p METHOD m_invariance(m => 2) IN SERIES s")
    assert not shown(con) & set(TREE)
    refused = "CREATE ANONYMIZED TABLE third AS POLICY p METHOD m_invariance(m => 2) IN SERIES s"
    con.execute("CREATE OR REPLACE HIERARCHY illnesses AS LEVELS (SELECT value, region FROM tree)")
    with pytest.raises(PolicyError, match="by other labels"):
        con.execute(refused)
    con.execute("CREATE OR REPLACE HIERARCHY illnesses AS LEVELS (FROM tree)")
    for clause in ("MIN LEVEL 2", "", "HIDE ('HIV')"):
        policy(con, clause, "k_anonymity(k => 2)", ", who ENTITY")
        with pytest.raises(PolicyError, match="by other labels"):
            con.execute(refused)
    policy(con, "MIN LEVEL 1", "k_anonymity(k => 2)", ", who ENTITY")
    con.execute(refused)


def test_a_hierarchy_that_loses_a_hidden_node_is_remarked_on(con: Connection) -> None:
    policy(con, "HIDE ('HIV')")
    [(*_, said)] = con.execute(
        "CREATE OR REPLACE HIERARCHY illnesses AS LEVELS (FROM tree WHERE value <> 'HIV')"
    ).fetchall()
    assert "has no node 'HIV'" in said
    with pytest.raises(PolicyError, match="has no node 'HIV'"):
        make(con)


def test_the_short_form_and_objects(con: Connection) -> None:
    con.execute(
        "CREATE ANONYMIZED TABLE r FROM patients (age, sex) SENSITIVE illness USING illnesses HIDE ('HIV'), ward "
        "REQUIRE k_anonymity(2)"
    )
    assert not {"HIV", "hepatitis"} & {illness for (illness,) in rows(con, "SELECT illness FROM r")}
    said = [detail for *_, detail in con.execute("DESCRIBE POLICY r").fetchall()]
    assert "SENSITIVE USING \"illnesses\" HIDE ('HIV')" in said
    for statement in ("CHECK patients (age)", "ATTACK patients (age)"):
        with pytest.raises(UserError):
            con.execute(f"{statement} SENSITIVE illness USING illnesses MIN LEVEL 1")
    made = sqlanon.Policy(
        "objects",
        source="patients",
        quasi_identifiers={"age": "ages"},
        sensitive={"illness": Labels("illnesses", min_level=1)},
        require=[KAnonymity(k=2)],
    )
    assert "Labels('illnesses', min_level=1)" in repr(made)
    for wrong in (Labels("illnesses", hide="HIV"), Labels("illnesses", hide=[1]), Labels("illnesses", min_level=True)):
        with pytest.raises(UserError):
            sqlanon.Policy(
                "wrong",
                source="patients",
                quasi_identifiers=["age"],
                sensitive={"illness": wrong},
                require=[KAnonymity(k=2)],
            )


@pytest.mark.filterwarnings("ignore::sqlanon.PrivacyRemark")
def test_a_frame_gets_no_value_back(con: Connection) -> None:
    pandas = pytest.importorskip("pandas")
    values = [value for value in TREE for _ in range(6)]
    frame = pandas.DataFrame({"age": [20 + i % 30 for i in range(len(values))], "illness": values})
    con.duckdb.register("frame", frame)
    con.execute(
        "CREATE ANONYMIZED TABLE r FROM frame (age) SENSITIVE illness USING illnesses MIN LEVEL 1 "
        "REQUIRE k_anonymity(k => 2), l_diversity(l => 2)"
    )
    assert {illness for (illness,) in rows(con, "SELECT illness FROM r")} == {part for part, _ in TREE.values()}
    released = sqlanon.anonymize(
        frame,
        policy=sqlanon.Policy(
            "p",
            source="frame",
            quasi_identifiers=["age"],
            sensitive={"illness": Labels("illnesses", min_level=1)},
            require=[KAnonymity(k=2)],
        ),
        hierarchies={"illnesses": f"LEVELS (FROM (VALUES {LISTED}) AS t(value, part, region))"},
    )
    assert set(released["illness"]) == {part for part, _ in TREE.values()}
