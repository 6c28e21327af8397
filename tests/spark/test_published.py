"""What is there after a statement through Spark: a release that was checked, or what was there before."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from sqlglot import exp

from sqlanon import CatalogError, Connection, PolicyError, PrivacyViolation, UserError, connect
from sqlanon.engines.spark import SparkEngine
from sqlanon.release.pipeline import check
from sqlanon.sql.release import release_query

pytestmark = pytest.mark.spark

PEOPLE = pa.table(
    {
        "age": pa.array([20 + i % 40 for i in range(120)], pa.int32()),
        "disease": pa.array([f"d{i % 7}" for i in range(120)]),
    }
)
POLICY = """
    CREATE HIERARCHY bands AS INTERVALS (5, 20);
    CREATE POLICY clinic ON people (age QUASI IDENTIFIER USING bands, disease SENSITIVE) REQUIRE k_anonymity(k => 5);
"""
CREATE = "CREATE ANONYMIZED TABLE {} AS POLICY clinic METHOD generalization"


@pytest.fixture(scope="module")
def people(spark: SparkEngine) -> Iterator[None]:
    spark.connection.createDataFrame(PEOPLE).coalesce(1).createOrReplaceTempView("people")
    yield
    spark.connection.catalog.dropTempView("people")


@pytest.fixture
def connection(spark: SparkEngine, people: None, tmp_path: Path) -> Connection:
    made = connect(tmp_path / "catalog.duckdb", engine="spark", session=spark.connection, releases=tmp_path / "out")
    return made.execute(POLICY)


def folders(tmp_path: Path) -> list[str]:
    """Every folder with files of data, by its path below that of releases."""
    found = (root for root, _, names in os.walk(tmp_path / "out") if any(n.endswith(".parquet") for n in names))
    return sorted(str(Path(root).relative_to(tmp_path / "out")) for root in found)


def test_a_failed_check_leaves_what_was_there(
    connection: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        assert len(folders(tmp_path)) == 1 + before, "the candidate is written before it is checked"
        raise PrivacyViolation("as if the candidate violated")

    before = 0
    with monkeypatch.context() as patched:
        patched.setattr(check, "measured", fail)
        with pytest.raises(PrivacyViolation):
            connection.execute(CREATE.format("r"))
    assert folders(tmp_path) == []
    assert connection.execute("SHOW RELEASES").fetchall() == []
    connection.execute(CREATE.format("r"))
    before = 1
    with monkeypatch.context() as patched:
        patched.setattr(check, "measured", fail)
        with pytest.raises(PrivacyViolation):
            connection.execute(CREATE.format("r").replace("CREATE", "CREATE OR REPLACE"))
    assert folders(tmp_path) == ["main/r"]
    assert connection.execute("CHECK r").fetchall()[0][-1] is True


def test_a_commit_that_fails_takes_the_release_back(
    connection: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sqlanon.engines.federated.parquet_releases import ParquetReleases

    renamed = ParquetReleases.before_commit

    def fail(releases: ParquetReleases) -> None:
        renamed(releases)
        assert folders(tmp_path) == ["main/r"]
        raise CatalogError("as if the catalog could not be written")

    monkeypatch.setattr(ParquetReleases, "before_commit", fail)
    with pytest.raises(CatalogError):
        connection.execute(CREATE.format("r"))
    assert folders(tmp_path) == []


def test_a_release_is_replaced_and_dropped_with_its_files(connection: Connection, tmp_path: Path) -> None:
    connection.execute(CREATE.format('"Odd ""name/é"'))
    (first,) = folders(tmp_path)
    assert first == "main/odd%20%22name%2F%C3%A9"
    files = sorted((tmp_path / "out" / first).iterdir())
    connection.execute(CREATE.format('"Odd ""name/é"').replace("CREATE", "CREATE OR REPLACE"))
    assert folders(tmp_path) == [first]
    assert sorted((tmp_path / "out" / first).iterdir()) != files
    connection.execute('REFRESH ANONYMIZED TABLE "Odd ""name/é"; CHECK "Odd ""name/é"')
    connection.execute('DROP ANONYMIZED TABLE "Odd ""name/é"')
    assert folders(tmp_path) == []
    assert connection.duckdb.execute("SELECT count(*) FROM duckdb_views() WHERE NOT internal").fetchone() is not None


def test_other_files_are_never_replaced(connection: Connection, tmp_path: Path) -> None:
    own = tmp_path / "out" / "main" / "r"
    own.mkdir(parents=True)
    (own / "mine.parquet").write_text("not a release")
    with pytest.raises(UserError, match="which is not a release of this catalog"):
        connection.execute(CREATE.format("r"))
    assert [path.name for path in own.iterdir()] == ["mine.parquet"]
    assert folders(tmp_path) == ["main/r"]


def test_what_is_checked_is_what_is_published(connection: Connection, spark: SparkEngine, tmp_path: Path) -> None:
    connection.execute(CREATE.format("r"))
    rows = spark.connection.read.parquet(str(tmp_path / "out/main/r")).toArrow()
    spark.connection.createDataFrame(rows.slice(0, 3)).write.mode("overwrite").parquet(str(tmp_path / "out/main/r"))
    assert connection.execute("CHECK r").fetchall()[0][-1] is False


def test_duckdb_alone_says_where_the_rows_are(connection: Connection, tmp_path: Path) -> None:
    connection.execute(CREATE.format("r"))
    with pytest.raises(duckdb.Error, match=r"the rows of main\.r are Parquet files in .*out/main/r"):
        connection.execute("SELECT age FROM r")
    connection.close()
    with connect(tmp_path / "catalog.duckdb") as plain:
        for statement in ("CHECK r", "MEASURE r WITH FIGURES (linkage_risk)", "EXPORT r TO 'x.csv'"):
            with pytest.raises(UserError, match="are Parquet files in"):
                plain.execute(statement)
    files = tmp_path / "out" / "main" / "r" / "*.parquet"
    assert duckdb.read_parquet(str(files)).aggregate("count(*)").fetchall() == [(120,)]


def test_parquet_files_in_hive_partitions_are_a_source(
    connection: Connection, spark: SparkEngine, tmp_path: Path
) -> None:
    path = tmp_path / "files of 'people'"
    frame = spark.connection.createDataFrame(PEOPLE)
    frame.selectExpr("*", "age % 3 AS part").write.partitionBy("part").parquet(str(path))
    policy = f"""ON "{path}" (part QUASI IDENTIFIER, age QUASI IDENTIFIER USING bands, disease SENSITIVE)
                 REQUIRE k_anonymity(k => 5)"""
    connection.execute(f"CREATE POLICY files {policy}")
    made = connection.execute("CREATE ANONYMIZED TABLE r AS POLICY files METHOD generalization").fetchall()
    with connect() as plain:
        plain.duckdb.execute(
            f"CREATE TABLE t AS FROM read_parquet('{str(path).replace(chr(39), chr(39) * 2)}/*/*.parquet')"
        )
        plain.execute(POLICY.split(";")[0] + f"; CREATE POLICY files {policy}".replace(f'"{path}"', "t"))
        ours = plain.execute("CREATE ANONYMIZED TABLE r AS POLICY files METHOD generalization").fetchall()
    assert [row[:-2] for row in made] == [row[:-2] for row in ours]


def test_a_summary_beyond_its_bound_is_refused(spark: SparkEngine, people: None, tmp_path: Path) -> None:
    with connect(engine="spark", session=spark.connection, releases=tmp_path, summary_rows=39) as bounded:
        bounded.execute(POLICY)
        with pytest.raises(UserError, match="more than 39 rows") as raised:
            bounded.execute(CREATE.format("r"))
    assert "summary_rows" in str(raised.value.hint)


def test_a_check_of_more_classes_than_the_bound_runs_on_spark(
    connection: Connection, spark: SparkEngine, tmp_path: Path
) -> None:
    connection.execute(CREATE.format("r"))
    expected = connection.execute("CHECK r").fetchall()
    connection.close()
    catalog, releases = tmp_path / "catalog.duckdb", tmp_path / "out"
    with connect(catalog, engine="spark", session=spark.connection, releases=releases, summary_rows=1) as bounded:
        assert bounded.execute("CHECK r").fetchall() == expected
        assert bounded.duckdb.execute("SELECT count(*) FROM duckdb_tables() WHERE temporary").fetchall() == [(0,)]


def test_without_spark_a_release_is_neither_dropped_nor_made_again(connection: Connection, tmp_path: Path) -> None:
    connection.execute(CREATE.format("r"))
    connection.close()
    with connect(tmp_path / "catalog.duckdb") as plain:
        plain.duckdb.execute("CREATE TABLE people AS SELECT 1::INTEGER AS age, 'd' AS disease FROM range(9)")
        for statement in ("DROP ANONYMIZED TABLE r", "REFRESH ANONYMIZED TABLE r"):
            with pytest.raises(UserError, match="files that Spark wrote") as raised:
                plain.execute(statement)
            assert "engine => 'spark'" in str(raised.value.hint)
    assert folders(tmp_path) == ["main/r"]


def test_a_release_has_another_name_than_its_source(connection: Connection, spark: SparkEngine, tmp_path: Path) -> None:
    for name in ("people", "PEOPLE"):
        with pytest.raises(PolicyError, match="has the same name as its source"):
            connection.execute(CREATE.format(name))
    assert folders(tmp_path) == []
    # The name of another source that this connection knows is free.
    spark.connection.createDataFrame(PEOPLE).coalesce(1).createOrReplaceTempView("others")
    connection.execute("CREATE POLICY of_others ON others (age QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)")
    connection.execute(CREATE.format("others"))
    assert connection.execute("CHECK others").fetchall()
    assert folders(tmp_path) == ["main/others"]
    connection.execute("DROP ANONYMIZED TABLE others")
    assert folders(tmp_path) == []
    spark.connection.catalog.dropTempView("others")


def test_a_variable_of_the_caller_is_no_source(spark: SparkEngine, people: None, tmp_path: Path) -> None:
    """Seen where the connection does not know the source yet: another statement may have named it before."""
    with connect(engine="spark", session=spark.connection, releases=tmp_path) as fresh:
        assert _asked_beside_a_variable(fresh) == PEOPLE.num_rows


def _asked_beside_a_variable(connection: Connection) -> Any:
    people = PEOPLE.slice(0, 3)
    connection.execute("CREATE POLICY again ON people (age QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)")
    assert people.num_rows == 3
    return connection.execute("CHECK people (age)").fetchall()[1][4]


def test_views_of_sources_go_with_the_connection(spark: SparkEngine, people: None, tmp_path: Path) -> None:
    connect(engine="spark", session=spark.connection, releases=tmp_path).execute(POLICY)
    gc.collect()
    views = spark.connection.sql("SHOW VIEWS").collect()
    assert [view.viewName for view in views if view.viewName.startswith("__sqlanon")] == []


def test_levels_that_are_not_proven_are_remarked(connection: Connection) -> None:
    connection.execute("""
        CREATE HIERARCHY deep AS INTERVALS (2, 4, 8, 16, 32, 64, 128);
        CREATE HIERARCHY names AS PREFIXES (2, 1);
        CREATE POLICY wide ON people (age QUASI IDENTIFIER USING deep, disease QUASI IDENTIFIER USING names)
        REQUIRE k_anonymity(k => 5)
    """)
    create = "CREATE ANONYMIZED TABLE r AS POLICY wide METHOD generalization(time_limit => 0.000001)"
    made = connection.execute(create).fetchall()
    assert "not proven to be the least" in str(made[0][-1])


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("CREATE ANONYMIZED VIEW r AS POLICY clinic", "a live view is a query"),
        ("CREATE ANONYMIZED TABLE r AS POLICY clinic METHOD generalization(recoding => 'local')", "in rounds"),
        ("CREATE ANONYMIZED TABLE r AS POLICY clinic METHOD mondrian(mode => 'relaxed')", "several regions by their"),
        ("CREATE ANONYMIZED TABLE r AS POLICY clinic METHOD mondrian(publish => 'none')", "mixes the values"),
        ("CREATE POLICY p ON (FROM people) (age QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)", "not a query"),
        ("CREATE POLICY p ON nobody (age QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)", "no table or view nobody"),
        ("CREATE HIERARCHY h AUTO ON people.age", "CREATE HIERARCHY ... AUTO does not run"),
        ("ESTIMATE SELECT count(*) FROM people FROM RELEASE 'out/'", "ESTIMATE of an export does not run"),
        ("ATTACK r WITH linkage", "ATTACK does not run"),
    ],
)
def test_the_rest_is_refused_with_the_reason(statement: str, message: str, connection: Connection) -> None:
    with pytest.raises((UserError, PolicyError), match=message):
        connection.execute(statement)


def test_a_guard_that_lets_too_much_through_publishes_nothing(
    connection: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the check asks it asks of the files, whatever classes were sent to Spark."""
    connection.execute(
        "CREATE POLICY most ON people (disease QUASI IDENTIFIER MAX LEVEL 0, age INSENSITIVE) "
        "REQUIRE k_anonymity(k => 18)"
    )
    create = "CREATE ANONYMIZED TABLE r AS POLICY most METHOD generalization(suppression => 0.9)"
    every = exp.select("class_id").from_("equivalence_class")
    with monkeypatch.context() as patched:
        patched.setattr(release_query, "kept_classes", lambda *_, **__: [("kept", every)])
        with pytest.raises(PrivacyViolation, match="it reaches 17"):
            connection.execute(create)
    assert folders(tmp_path) == []
    connection.execute(create)
    assert connection.duckdb.execute("SELECT suppressed_rows FROM anon.release").fetchall() == [(102,)]


def test_a_table_of_duckdb_is_no_source(connection: Connection) -> None:
    connection.execute("CREATE TABLE local AS SELECT 1 AS age")
    with pytest.raises(UserError, match="is a table or view in DuckDB"):
        connection.execute("CREATE POLICY p ON local (age QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)")
    connection.execute("BEGIN")
    with pytest.raises(UserError, match="cannot run inside a transaction"):
        connection.execute(CREATE.format("r"))
    connection.execute("ROLLBACK")


def test_an_export_is_read_by_duckdb_alone(connection: Connection, spark: SparkEngine, tmp_path: Path) -> None:
    spark.connection.conf.set("spark.sql.files.maxRecordsPerFile", "50")
    try:
        connection.execute(CREATE.format("r"))
    finally:
        spark.connection.conf.unset("spark.sql.files.maxRecordsPerFile")
    target = tmp_path / "given away"
    (exported,) = connection.execute(f"EXPORT r TO '{target}/'").fetchall()
    assert exported[:4] == ("main.r", "parquet", f"{target}/r", 120)
    assert sorted(path.name for path in target.iterdir()) == ["certificate.json", "certificate.md", "r"]
    files = sorted((target / "r").iterdir())
    assert len(files) > 1
    with connect() as plain:
        checked = plain.execute(f"CHECK '{target}'").fetchall()
        assert checked[0][1:] == ("files_as_certified", None, None, None, True, checked[0][-1])
        assert [row[1:6] for row in checked[1:]] == [row[1:6] for row in connection.execute("CHECK r").fetchall()]
        assert plain.execute(f"ESTIMATE SELECT count(*) AS n FROM people FROM RELEASE '{target}'").fetchall()
    with pytest.raises(UserError, match="exists already"):
        connection.execute(f"EXPORT r TO '{target}/'")
    connection.execute(f"EXPORT r TO '{target}/' (REPLACE true)")
    with connect() as plain:
        (target / "r" / "other.parquet").write_bytes(files[0].read_bytes())
        with pytest.raises(PrivacyViolation, match="has other files than"):
            plain.execute(f"CHECK '{target}'")
        (target / "r" / "other.parquet").unlink()
        files[0].unlink()
        with pytest.raises(UserError, match="there is no file"):
            plain.execute(f"CHECK '{target}'")
    for path, message in ((f"{target}.csv", "not as csv"), (f"{target}.parquet", "names one file")):
        with pytest.raises(UserError, match=message):
            connection.execute(f"EXPORT r TO '{path}'")
