"""What releases on Spark answer to queries, and how far that is from the source, is what DuckDB finds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from sqlanon import Connection, PolicyError, UserError, connect
from sqlanon.engines.spark import SparkEngine
from sqlanon.errors import DataError

pytestmark = pytest.mark.spark

RANDOM = Random(5)
VALUES: dict[str, tuple[pa.DataType, list[Any]]] = {
    "n": (pa.int32(), [-3, 0, 1, 4, 5, 19, 20, 21]),
    'zip "é': (pa.string(), ["94141", "94142", "94030", "94", "é€😀xy", "a'b\\c${d}"]),
    "order": (pa.string(), ["F", "M", "f"]),
    "disease": (pa.string(), ["flu", "cold", "asthma", "Ängste", "😀"]),
    "price": (pa.float64(), [0.25, -1.5, 7.0, float("nan"), -0.0, 0.0]),
}
SOURCE = pa.table(
    {
        name: pa.array([RANDOM.choice([*values, *values, None]) for _ in range(240)], kind)
        for name, (kind, values) in VALUES.items()
    }
)
TABLES = {"asked_of": SOURCE, "nothing": SOURCE.slice(0, 0)}
COLUMNS = """(n QUASI IDENTIFIER USING ages, "zip ""é" QUASI IDENTIFIER USING zips, "order" QUASI IDENTIFIER,
    disease SENSITIVE, price INSENSITIVE) REQUIRE k_anonymity(k => 3)"""
POLICIES = f"""
    CREATE HIERARCHY ages AS INTERVALS (5, 10);
    CREATE HIERARCHY zips AS PREFIXES (4, 2);
    CREATE TABLE wards AS SELECT * FROM (VALUES ('F', 'one'), ('M', 'two')) t(code, ward);
    CREATE POLICY p ON asked_of {COLUMNS};
    CREATE POLICY nobody ON nothing {COLUMNS};
    CREATE POLICY buckets ON asked_of (n QUASI IDENTIFIER, "zip ""é" QUASI IDENTIFIER, disease SENSITIVE)
        REQUIRE l_diversity(l => 2);
"""
QUERIES = [
    "SELECT count(*) AS rows FROM asked_of WHERE n BETWEEN 1 AND 19 AND disease <> 'flu'",
    'SELECT "order", count(*) AS n, avg(n) AS mean, max(n) AS most FROM asked_of GROUP BY "order"',
    'SELECT sum(price + 1) AS s, min(price) AS m FROM asked_of WHERE n > 3 OR "zip ""é" LIKE \'941%\'',
    'SELECT ward, count(*) AS rows FROM asked_of AS a JOIN wards ON a."order" = wards.code GROUP BY ward',
    "SELECT count(*) AS rows FROM asked_of WHERE n IS NULL",
]


@pytest.fixture(scope="module")
def connections(
    spark: SparkEngine, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Connection, Connection]]:
    """The same tables, policies and releases in DuckDB and on Spark."""
    session = spark.connection
    ours = connect()
    theirs = connect(engine="spark", session=session, releases=tmp_path_factory.mktemp("releases"))
    for name, rows in TABLES.items():
        ours.duckdb.register("given", rows)
        ours.duckdb.execute(f'CREATE TABLE "{name}" AS FROM given')
        session.createDataFrame(rows).repartition(2).createOrReplaceTempView(name)
    for connection in (ours, theirs):
        connection.execute(POLICIES)
        connection.execute("CREATE ANONYMIZED TABLE labels AS POLICY p METHOD generalization(suppression => 0.4)")
        connection.execute("CREATE ANONYMIZED TABLE regions AS POLICY p METHOD mondrian(bounds => true)")
        connection.execute("CREATE ANONYMIZED TABLE empty AS POLICY nobody METHOD generalization")
    yield ours, theirs
    for name in TABLES:
        session.catalog.dropTempView(name)


def rounded(rows: list[Any]) -> list[str]:
    """Without the last digits, which depend on the order in which numbers are added up."""
    return [repr(tuple(map(short, row))) for row in rows]


def short(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return 0.0 if abs(value) < 1e-12 else float(f"{value:.11g}")


@pytest.mark.parametrize("release", ["labels", "regions"])
def test_estimates_and_their_errors_are_the_same(release: str, connections: tuple[Connection, Connection]) -> None:
    answers = []
    for connection in connections:
        connection.execute("""CREATE OR REPLACE WORKLOAD w ON POLICY p (queries => 20, seed => 2, dimensions => 2);
            CREATE OR REPLACE WORKLOAD sums ON POLICY p (queries => 4, aggregate => 'sum', of => n, dimensions => 1)""")
        connection.execute(
            "INSERT INTO anon.workload SELECT 'w', 100 + query_id, sql FROM anon.workload WHERE workload = 'sums'"
        )
        for number, query in enumerate(QUERIES, 200):
            connection.execute(
                "INSERT INTO anon.workload (workload, query_id, sql) VALUES ('w', $1, $2)", [number, query]
            )
        asked = connection.execute("SELECT query_id, sql FROM anon.workload ORDER BY ALL").fetchall()
        estimated = [
            row
            for q in (QUERIES[0], QUERIES[2])
            for row in connection.execute(f"ESTIMATE {q} FROM RELEASE {release}").fetchall()
        ]
        summary = connection.execute(f"MEASURE {release} WITH WORKLOAD w").fetchall()
        errors = connection.execute(
            "SELECT e.* EXCLUDE (release_id) FROM anon.query_error AS e JOIN anon.release "
            "USING (release_id) WHERE object_name = $1 ORDER BY ALL",
            [release],
        ).fetchall()
        answers.append(rounded([*asked, *estimated, *summary, *errors]))
    assert answers[0] == answers[1]
    assert any("'estimated'" in row for row in answers[1])
    # What the source answers, by Python.
    rows = SOURCE.to_pylist()
    known = sum(r["n"] is not None and 1 <= r["n"] <= 19 and r["disease"] not in (None, "flu") for r in rows)
    ((actual,),) = (
        connections[1].execute("SELECT DISTINCT actual FROM anon.query_error WHERE query_id = 200").fetchall()
    )
    assert actual == known


def test_no_rows_answer_nothing(connections: tuple[Connection, Connection]) -> None:
    for query in ("SELECT count(*) AS rows FROM nothing", "SELECT n, avg(price) AS p FROM nothing GROUP BY n"):
        ours, theirs = (c.execute(f"ESTIMATE {query} FROM RELEASE empty").fetchall() for c in connections)
        assert ours == theirs


def test_buckets_answer_as_the_export_does(connections: tuple[Connection, Connection], tmp_path: Path) -> None:
    """Which buckets there are is drawn, so that the same release is asked, read by DuckDB from its export."""
    theirs = connections[1]
    target = tmp_path / "given away"
    theirs.execute("CREATE ANONYMIZED TABLE drawn AS POLICY buckets METHOD anatomy(l => 2)")
    theirs.execute(f"EXPORT drawn TO '{target}/'")
    asked = [f"{query} AND disease {also}" for query in (QUERIES[0], QUERIES[4]) for also in ("= 'flu'", "LIKE '%s%'")]
    answers = []
    with connect() as plain:
        for number, query in enumerate(asked):
            theirs.execute("INSERT INTO anon.workload (workload, query_id, sql) VALUES ('b', $1, $2)", [number, query])
            answers += [row[:4] for row in plain.execute(f"ESTIMATE {query} FROM RELEASE '{target}'").fetchall()]
    (alone,) = theirs.execute(f"ESTIMATE {asked[0]} FROM RELEASE drawn").fetchall()
    assert rounded([alone[:4]]) == rounded(answers[:1])
    theirs.execute("MEASURE drawn WITH WORKLOAD b")
    measured = "SELECT estimated, spread, low, high FROM anon.query_error WHERE workload = 'b' ORDER BY query_id"
    assert rounded(theirs.execute(measured).fetchall()) == rounded(answers)


def test_counts_of_columns_that_are_known_together_are_exact(connections: tuple[Connection, Connection]) -> None:
    """Python's own count of the source's rows is the oracle."""
    theirs = connections[1]
    theirs.execute(
        'CREATE ANONYMIZED TABLE sliced AS POLICY buckets METHOD slicing(l => 2) COLUMNS (n, "zip ""é"), (disease)'
    )
    conditions = ["n BETWEEN 1 AND 19 AND \"zip \"\"é\" IN ('94141', '94')", "n BETWEEN 4 AND 20", "disease IN ('flu')"]
    for number, condition in enumerate(conditions):
        query = f"SELECT count(*) AS rows FROM asked_of WHERE {condition}"
        theirs.execute("INSERT INTO anon.workload (workload, query_id, sql) VALUES ('known', $1, $2)", [number, query])
    theirs.execute("MEASURE sliced WITH WORKLOAD known")
    errors = theirs.execute(
        "SELECT estimated, spread, low, high FROM anon.query_error WHERE workload = 'known' ORDER BY query_id"
    ).fetchall()
    rows = SOURCE.to_pylist()
    counts = [
        sum(r["n"] is not None and 1 <= r["n"] <= 19 and r['zip "é'] in ("94141", "94") for r in rows),
        sum(r["n"] is not None and 4 <= r["n"] <= 20 for r in rows),
        sum(r["disease"] == "flu" for r in rows),
    ]
    assert rounded(errors) == rounded([(float(n), 0.0, float(n), float(n)) for n in counts])


def test_figures_are_the_same(connections: tuple[Connection, Connection]) -> None:
    for connection in connections:
        # At the top nothing groups the rows.
        connection.execute("""
            CREATE POLICY top ON asked_of ("order" QUASI IDENTIFIER MIN LEVEL 1) REQUIRE k_anonymity(k => 3);
            CREATE ANONYMIZED TABLE top AS POLICY top METHOD generalization
        """)
    ours, theirs = (
        rounded(
            [
                row
                for release in ("labels", "regions", "top")
                for row in connection.execute(f"MEASURE {release}").fetchall()
                if row[1] not in ("u_loss", "populations", "surest_guess", "count_error")
            ]
        )
        for connection in connections
    )
    assert ours == theirs
    assert all(any(name in row for row in theirs) for name in ("granularity_loss", "prosecutor_risk", "a_know"))
    calls = "population_uniques(0.2), k_map_estimated(k => 5, sampling_fraction => 0.2)"
    ours, theirs = (
        rounded(connection.execute(f"MEASURE labels WITH FIGURES ({calls})").fetchall()) for connection in connections
    )
    assert ours == theirs
    wrong: list[str] = []
    for connection in connections:
        with pytest.raises(DataError, match="are NULL, below 1 or not finite") as error:
            connection.execute("MEASURE labels WITH FIGURES (individual_risk(weights => price))")
        wrong.append(error.value.message)
    assert wrong[0] == wrong[1]
    with pytest.raises(PolicyError, match="it gives numbers to rows, which are on Spark"):
        connections[1].execute("MEASURE labels WITH FIGURES (u_loss)")


@pytest.mark.parametrize(
    "statement",
    [
        """CHECK asked_of (n, "zip ""é") SENSITIVE disease AGAINST asked_of
            REQUIRE k_anonymity(k => 2, on => (n)), l_diversity(l => 2), t_closeness(t => 0.4), k_map(k => 2)""",
        'CHECK asked_of ("order", n) SENSITIVE disease',
        "CHECK nothing (n) SENSITIVE disease REQUIRE k_anonymity(k => 2), l_diversity(l => 2)",
        "PROFILE asked_of",
        'PROFILE nothing (n, "zip ""é")',
    ],
)
def test_relations_are_described_alike(statement: str, connections: tuple[Connection, Connection]) -> None:
    ours, theirs = (rounded(connection.execute(statement).fetchall()) for connection in connections)
    # PROFILE says there what it does not look for where rows are on Spark.
    assert ours == [row for row in theirs if "not looked for" not in row]


def test_more_rows_than_can_be_collected_are_checked_on_spark(
    spark: SparkEngine, connections: tuple[Connection, Connection], tmp_path: Path
) -> None:
    """Of files, too: a name with a slash is their path."""
    path = tmp_path / "files of 'people'"
    spark.connection.createDataFrame(SOURCE).write.parquet(str(path))
    asked = "(n) SENSITIVE disease REQUIRE k_anonymity(k => 2), l_diversity(l => 2)"
    expected = connections[0].execute(f"CHECK asked_of {asked}").fetchall()
    with connect(engine="spark", session=spark.connection, releases=tmp_path, summary_rows=9) as bounded:
        checked = bounded.execute(f'CHECK "{path}" {asked}').fetchall()
        assert [row[1:] for row in checked] == [row[1:] for row in expected]
        # Nine values of n, NULL too; twenty pairs and more.
        profiled = bounded.execute(f'PROFILE "{path}" (n, "order")').fetchall()
        assert [row[1] for row in profiled if row[0] == "columns"] == ["n", "order"]


def test_what_cannot_be_collected_is_an_error(
    spark: SparkEngine, connections: tuple[Connection, Connection], tmp_path: Path
) -> None:
    with connect(engine="spark", session=spark.connection, releases=tmp_path, summary_rows=5) as bounded:
        bounded.execute(
            """CREATE POLICY p ON asked_of ("order" QUASI IDENTIFIER, price INSENSITIVE) REQUIRE k_anonymity(k => 3);
            CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization;
            INSERT INTO anon.workload (workload, query_id, sql) VALUES
                ('w', 1, 'SELECT count(*) AS rows FROM asked_of WHERE n > 3'),
                ('w', 2, 'SELECT count(*) AS rows FROM asked_of WHERE "order" = ''F''')"""
        )
        query = "SELECT avg(price) AS mean FROM asked_of WHERE \"order\" = 'F'"
        for statement, message in (
            (f"ESTIMATE {query} FROM RELEASE r", r"main\.r has more different rows in the columns that are asked"),
            ("MEASURE r WITH WORKLOAD w", "the source, in n, order, has more different rows"),
        ):
            with pytest.raises(UserError, match=message) as raised:
                bounded.execute(statement)
            assert "summary_rows" in str(raised.value.hint)
        assert bounded.duckdb.execute("SELECT count(*) FROM duckdb_tables() WHERE temporary").fetchall() == [(0,)]
        assert bounded.execute("FROM anon.query_error").fetchall() == []
