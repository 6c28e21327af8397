"""Releases of several tables that belong together: what is published, refused, checked, exported and dropped."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import sqlanon
from sqlanon import PolicyError, PrivacyViolation, SqlanonError, UserError
from sqlanon.release.pipeline import run
from sqlanon.sources.column_types import sizes
from tests.support.database import tables, template
from tests.support.names import quoted
from tests.support.reports import page_of

SETUP = """
CREATE TABLE persons AS SELECT 100 + i AS id, 1950 + i // 6 * 10 AS born, 'note ' || i AS note FROM range(12) AS t(i);
CREATE TABLE visits AS
SELECT 100 + i % 10 AS id, 1 + i % 3 * 10 AS clinic, 'd' || i % 4 AS diagnosis FROM range(40) AS t(i);
CREATE HIERARCHY tens AS INTERVALS (10, 20);
CREATE POLICY clinic ON persons (id ENTITY, born QUASI IDENTIFIER)
    WITH TABLE visits ON (id) (clinic QUASI IDENTIFIER USING tens, diagnosis SENSITIVE)
    REQUIRE k_anonymity(k => 2), l_diversity(l => 2, attribute => diagnosis);
"""
MAKE = "CREATE ANONYMIZED TABLE made AS POLICY clinic METHOD multirelational(suppression => {})"


@pytest.fixture
def con() -> Iterator[sqlanon.Connection]:
    with template(SETUP) as connection:
        yield connection


@pytest.fixture
def made() -> Iterator[sqlanon.Connection]:
    """The database with a release that withholds nobody."""
    with template(SETUP, MAKE.format(0)) as connection:
        yield connection


def satisfied(con: sqlanon.Connection, release: str = "made") -> bool:
    return all(row[-1] for row in con.execute(f"CHECK {release}").fetchall())


@pytest.mark.long
def test_each_person_has_a_number_that_is_drawn_and_leads_to_their_rows(made: sqlanon.Connection) -> None:
    assert made.duckdb.execute("SELECT id FROM made_persons ORDER BY id").fetchall() == [(i,) for i in range(1, 13)]
    shown = made.duckdb.execute(
        "SELECT born, n FROM made_persons LEFT JOIN (SELECT id, count(*) AS n FROM made_visits GROUP BY id) USING (id)"
    ).fetchall()
    # Two people have no visits, and ten have four.
    assert sorted(n or 0 for _, n in shown) == [0] * 2 + [4] * 10
    first, again = made.duckdb.execute("FROM made_persons").fetchall(), None
    for _ in range(3):
        made.execute("REFRESH ANONYMIZED TABLE made")
        again = made.duckdb.execute("FROM made_persons").fetchall()
        if again != first:
            break
    assert again != first
    assert satisfied(made)


@pytest.mark.one_in(6)
@pytest.mark.parametrize("knows", ["values", "history", "one_row", "m_rows", "rows"])
def test_columns_may_be_called_as_ours_are(con: sqlanon.Connection, knows: str) -> None:
    """Names that steps of a search or a check give to columns of their own."""
    several = ", m => 2" if knows == "m_rows" else ""
    con.execute(f"""
        CREATE TABLE p AS SELECT i AS id, 1950 + i // 4 * 10 AS label_0, 'x' || i % 3 AS key_0,
            'y' || i % 3 AS profile_0, i % 2 AS known FROM range(24) AS t(i);
        CREATE TABLE v AS SELECT i % 24 AS fk, i % 2 AS code, ['flu', 'cold', 'ulcer'][1 + i % 3] AS person,
            'v' || i % 3 AS value, 1 AS class_id, 'n' AS n FROM range(48) AS t(i);
        CREATE POLICY named ON p (id ENTITY, label_0 QUASI IDENTIFIER, key_0 SENSITIVE, profile_0 SENSITIVE, known
            QUASI IDENTIFIER) WITH TABLE v ON (fk) (code QUASI IDENTIFIER, person SENSITIVE, value SENSITIVE,
            class_id INSENSITIVE, n QUASI IDENTIFIER)
        REQUIRE k_anonymity(k => 2, knows => '{knows}'{several}), l_diversity(l => 3, knows => '{knows}'{several});
        CREATE ANONYMIZED TABLE r AS POLICY named METHOD multirelational(suppression => 0);
    """)
    reached = {row[2]: row[4] for row in con.execute("CHECK r").fetchall()}
    assert reached == {None: 12, "key_0": 3, "profile_0": 3, "person": 3, "value": 3}


def test_values_that_are_equal_are_shown_in_one_spelling(con: sqlanon.Connection) -> None:
    """0.0 and -0.0 are one class, and so are a month and thirty days: what told them apart would find somebody."""
    con.execute("""
        CREATE TABLE p AS
        SELECT i AS id, CASE WHEN i = 0 THEN '-0.0'::DOUBLE ELSE 0.0 END AS temp FROM range(6) AS t(i);
        CREATE TABLE v AS SELECT i AS fk, CASE WHEN i = 1 THEN INTERVAL 1 MONTH ELSE INTERVAL 30 DAY END AS stay,
            CASE WHEN i = 2 THEN ['-0.0'::DOUBLE] ELSE [0.0::DOUBLE] END AS list FROM range(6) AS t(i);
        CREATE POLICY equal ON p (id ENTITY, temp QUASI IDENTIFIER)
        WITH TABLE v ON (fk) (stay QUASI IDENTIFIER, list QUASI IDENTIFIER) REQUIRE k_anonymity(k => 6);
        CREATE ANONYMIZED TABLE r AS POLICY equal METHOD multirelational(suppression => 0);
    """)
    assert con.duckdb.execute("SELECT count(DISTINCT temp::VARCHAR) FROM r_p").fetchall() == [(1,)]
    texts = "SELECT count(DISTINCT stay::VARCHAR), count(DISTINCT list::VARCHAR) FROM r_v"
    assert con.duckdb.execute(texts).fetchall() == [(1, 1)]


def test_who_is_left_out_is_in_none_of_the_tables(con: sqlanon.Connection) -> None:
    con.duckdb.execute("INSERT INTO persons VALUES (999, 1900, 'alone'); INSERT INTO visits VALUES (999, 1, 'only')")
    con.execute(MAKE.format(0.1))
    assert con.duckdb.execute("SELECT min(born) FROM made_persons").fetchall() == [(1950,)]
    assert con.duckdb.execute("SELECT count(*) FROM made_visits WHERE diagnosis = 'only'").fetchall() == [(0,)]
    ((source, released, suppressed),) = con.duckdb.execute(
        "SELECT source_rows, released_rows, suppressed_rows FROM anon.release"
    ).fetchall()
    assert (source, released, suppressed) == (13, 12, 1)
    assert satisfied(con)


@pytest.mark.long
def test_a_star_of_five_tables_with_names_of_any_kind() -> None:
    names = ("a b", 'q"t', "select", "größe")
    with sqlanon.connect(config={"threads": "1"}) as con:
        con.duckdb.execute(
            'CREATE TABLE "per sons" AS SELECT \'p\' || i AS "i d", i // 20 AS born FROM range(40) AS t(i)'
        )
        related = []
        for place, name in enumerate(names):
            con.duckdb.execute(
                f"CREATE TABLE {quoted(name)} AS SELECT 'p' || i % 40 AS k{place}, "
                f"i % {place + 2} AS {quoted(f'x {name}')}, "
                f"'v' || i % 5 AS s{place} FROM range({60 + place * 40}) AS t(i)"
            )
            related.append(
                f"WITH TABLE {quoted(name)} ON (k{place}) ({quoted(f'x {name}')} QUASI IDENTIFIER, s{place} SENSITIVE)"
            )
        con.execute(
            f'CREATE POLICY star ON "per sons" ("i d" ENTITY, born QUASI IDENTIFIER) {" ".join(related)} '
            "REQUIRE k_anonymity(k => 3), l_diversity(l => 2)"
        )
        con.execute("CREATE ANONYMIZED TABLE made AS POLICY star METHOD multirelational(suppression => 0.1)")
        assert {f"made_{name}" for name in ("per sons", *names)} <= tables(con)
        checked = con.execute("CHECK made").fetchall()
        assert [row[1:3] for row in checked] == [
            ("k_anonymity", None),
            *(("distinct_l_diversity", f"s{place}") for place in range(4)),
        ]
        assert all(row[-1] for row in checked)
        con.execute("DROP ANONYMIZED TABLE made")
        assert not any(name.startswith("made") for name in tables(con))


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            "INSERT INTO made_visits SELECT 77, clinic, 'd1' FROM made_visits LIMIT 1",
            "1 row of visits are about nobody",
        ),
        ("INSERT INTO made_persons FROM made_persons LIMIT 1", "of nobody, or of somebody twice"),
        ("UPDATE made_persons SET id = NULL WHERE id = 1", "of nobody, or of somebody twice"),
        ("UPDATE made_visits SET diagnosis = 'forged' WHERE diagnosis = 'd1'", "do not have the rows any more"),
        ("UPDATE made_persons SET born = '1900' WHERE id = 1", "do not have the rows any more"),
    ],
)
def test_forged_rows_are_noticed(made: sqlanon.Connection, change: str, message: str) -> None:
    made.duckdb.execute(change)
    with pytest.raises(PrivacyViolation, match=message):
        made.execute("CHECK made")
    with pytest.raises(PrivacyViolation):
        made.execute("EXPORT made TO 'never/'")


@pytest.mark.parametrize("kind", ["csv", "parquet", "duckdb"])
def test_an_export_is_read_back_and_checked(made: sqlanon.Connection, tmp_path: Path, kind: str) -> None:
    made.execute(f"EXPORT made TO '{tmp_path}/out' (FORMAT {kind})")
    certificate = (tmp_path / "out" / "certificate.json").read_text()
    assert '"reading": "respondent"' in certificate
    assert "note 1" not in certificate
    assert "number of the person" in (tmp_path / "out" / "certificate.md").read_text()
    if kind == "duckdb":
        return
    checked = made.execute(f"CHECK '{tmp_path}/out'").fetchall()
    assert [row[1] for row in checked] == ["files_as_certified", "k_anonymity", "distinct_l_diversity"]
    assert all(row[5] and row[6] == "recomputed from the files" for row in checked)
    with pytest.raises(PolicyError, match="people in several tables"):
        made.execute(f"ATTACK '{tmp_path}/out' WITH homogeneity")
    file = next((tmp_path / "out").glob("made_visits.*"))
    file.write_bytes(file.read_bytes() + b"\n")
    with pytest.raises(SqlanonError):
        made.execute(f"CHECK '{tmp_path}/out'")


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("ATTACK made WITH homogeneity", "people in several tables"),
        ("MEASURE made WITH FIGURES (precision)", "people in several tables"),
        ("MEASURE made WITH FIGURES (membership)", "people in several tables"),
        ("ESTIMATE SELECT count(*) FROM persons FROM RELEASE made", "."),
    ],
)
def test_what_is_of_the_rows_of_one_table_is_refused(made: sqlanon.Connection, statement: str, message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        made.execute(statement)


@pytest.mark.parametrize(
    ("required", "arguments", "message"),
    [
        ("k_anonymity(k => 2, knows => 'one_row')", "suppression => 0.1", "other people rely on them"),
        ("k_anonymity(k => 2), k_anonymity(k => 2, knows => 'history')", "suppression => 0.1", "and knows =>"),
        ("k_anonymity(k => 2)", "loss => 'height'", "multirelational has no argument 'loss'"),
        ("k_anonymity(k => 2)", "recoding => 'local'", "multirelational has no argument 'recoding'"),
    ],
)
def test_what_cannot_be_promised_is_refused(
    con: sqlanon.Connection, required: str, arguments: str, message: str
) -> None:
    con.execute(f"ALTER POLICY clinic REQUIRE {required}")
    with pytest.raises(PolicyError, match=message):
        con.execute(f"CREATE ANONYMIZED TABLE made AS POLICY clinic METHOD multirelational({arguments})")


def test_the_method_is_chosen_by_the_tables_of_the_policy(con: sqlanon.Connection) -> None:
    """Without METHOD it is multirelational; generalization is of one table, and multirelational of several."""
    con.execute("CREATE ANONYMIZED TABLE made AS POLICY clinic")
    con.execute("CREATE POLICY alone ON persons (id ENTITY, born QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)")
    con.execute("CREATE ANONYMIZED TABLE single AS POLICY alone")
    methods = con.execute("SELECT object_name, method FROM anon.release ORDER BY ALL").fetchall()
    assert [method for _, method in methods] == ["multirelational", "generalization"]
    with pytest.raises(PolicyError, match="METHOD generalization reads one table, and policy clinic has") as of_one:
        con.execute("CREATE ANONYMIZED TABLE other AS POLICY clinic METHOD generalization(suppression => 0)")
    assert str(of_one.value.hint).startswith("use METHOD multirelational, or join the tables")
    with pytest.raises(PolicyError, match="multirelational is about several tables, and policy alone has one") as other:
        con.execute("CREATE ANONYMIZED TABLE other AS POLICY alone METHOD multirelational")
    assert str(other.value.hint).startswith("use METHOD generalization")


def test_more_sets_than_are_counted_are_refused(con: sqlanon.Connection) -> None:
    con.execute("ALTER POLICY clinic REQUIRE k_anonymity(k => 1, knows => 'rows')")
    with sizes.replaced(most_itemsets=5), pytest.raises(PolicyError, match="no more than 5 are counted"):
        con.execute(MAKE.format(0))
    con.duckdb.execute("INSERT INTO visits SELECT 100, 1000 + i, 'd' FROM range(30) AS t(i)")
    with pytest.raises(PolicyError, match="1 person has more than 20"):
        con.execute(MAKE.format(0))


@pytest.mark.long
def test_nothing_is_left_where_nothing_is_published(con: sqlanon.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    before = tables(con)
    con.execute(
        "ALTER POLICY clinic REQUIRE k_anonymity(k => 1), l_diversity(l => 1), k_anonymity(k => 100, knows => 'rows')"
    )
    with pytest.raises(PrivacyViolation, match="classes violate k_anonymity") as error:
        con.execute(MAKE.format(0))
    assert error.value.message.startswith("k_anonymity(k => 100, knows => 'rows') cannot be met with")
    con.execute("ALTER POLICY clinic REQUIRE k_anonymity(k => 100)")
    with pytest.raises(PrivacyViolation, match="12 people are in classes that violate"):
        con.execute(MAKE.format(0))
    con.execute("ALTER POLICY clinic REQUIRE k_anonymity(k => 2)")

    def failing(_: object) -> None:
        raise RuntimeError("ends here")

    for number, (name, _) in enumerate(run.RELEASE.stages):
        if name in ("check", "publish"):
            stages = (*run.RELEASE.stages[: number + 1], ("failing", failing))
            with monkeypatch.context() as patch:
                patch.setattr(run, "RELEASE", run.Order(stages))
                with pytest.raises(RuntimeError):
                    con.execute(MAKE.format(0))
    assert tables(con) == before
    assert con.duckdb.execute("SELECT count(*) FROM anon.release").fetchall() == [(0,)]


def test_a_table_of_the_name_is_in_the_way(con: sqlanon.Connection) -> None:
    con.duckdb.execute("CREATE TABLE made_visits (i INTEGER)")
    with pytest.raises(UserError, match="there is a table of that name"):
        con.execute(MAKE.format(0))


def test_explain_says_what_each_reader_could_know(con: sqlanon.Connection) -> None:
    explained = con.execute("EXPLAIN VERBOSE ANONYMIZED TABLE made AS POLICY clinic").fetchall()
    items = [item for _, item, _ in explained]
    for knows in ("one_row", "m_rows", "rows", "values", "history"):
        assert f"knows => '{knows}'" in items
    assert ("solve", "table", "made_visits: 40 rows") in explained
    assert not any("note 1" in detail for *_, detail in explained)


def test_a_report_says_why_there_are_no_classes(tmp_path: Path) -> None:
    path = tmp_path / "clinic.duckdb"
    with sqlanon.connect(str(path)) as con:
        con.execute(SETUP)
        con.execute(MAKE.format(0))
        page = page_of(con, "made")
    assert "shows people in several tables" in page.text


def test_remarks_name_the_table_of_a_column(con: sqlanon.Connection) -> None:
    con.duckdb.execute(
        'CREATE TABLE bills AS SELECT id, row_number() OVER () AS "invoice no", clinic AS ward FROM visits'
    )
    con.execute(
        "CREATE POLICY billed ON persons (id ENTITY, born QUASI IDENTIFIER, note INSENSITIVE) "
        'WITH TABLE bills ON (id) ("invoice no" SENSITIVE, ward QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)'
    )
    made = "ANONYMIZED TABLE billed AS POLICY billed METHOD multirelational(suppression => 0)"
    explained = con.execute(f"EXPLAIN VERBOSE {made}").fetchall()
    remarks = [detail for stage, _, detail in explained if stage == "remark"]
    assert [remark.partition(":")[0] for remark in remarks] == [
        "note of persons (INSENSITIVE) identifies most rows",
        "invoice no of bills (SENSITIVE) identifies most rows",
        "nothing is required of invoice no",
    ]
    assert "40 of 40 rows" in remarks[1]
    ((created,),) = con.sql(f"CREATE {made}").select("remarks").distinct().fetchall()
    assert created.splitlines() == remarks


@pytest.mark.parametrize("knows", ["", ", knows => 'one_row'"])
def test_a_dry_run_searches_several_tables_once(con: sqlanon.Connection, knows: str) -> None:
    """With overlapping classes nobody may be left out, and no suppression is advised."""
    con.duckdb.execute("INSERT INTO persons VALUES (999, 1900, 'alone')")
    con.execute(f"ALTER POLICY clinic REQUIRE k_anonymity(k => 2{knows})")
    explained = con.execute(f"EXPLAIN VERBOSE {MAKE.format(0).removeprefix('CREATE ')}").fetchall()
    assert not [detail for stage, _, detail in explained if stage == "advise"]
