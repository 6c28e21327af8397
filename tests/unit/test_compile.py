"""Scripts for other warehouses: what is in them, what is refused, and the command that writes them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlglot
from sqlglot import exp

import sqlanon
from sqlanon import Connection
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.portable import require_portable
from sqlanon.errors import CatalogError, PolicyError, SqlanonError, UserError
from sqlanon.export.warehouses.compiled import compiled
from sqlanon.export.warehouses.listed_tables import sizes
from sqlanon.export.warehouses.translation import DIALECTS
from sqlanon.sql.sizes import sizes as guard_sizes
from tests.support.command_line import RELEASE, invoke
from tests.support.warehouses import (
    BUCKET_COLUMNS,
    CONFIDENTIAL,
    REGION_COLUMNS,
    REGIONS,
    columns_for,
    finite,
    made,
    random_rows,
    script,
    skewed_rows,
)

SOURCE, TARGET = ("clinic", "patients"), ("published", "release")
# Models whose statements have all that others have.
MODEL = "t_closeness(t => 0.3, distance => 'jensen_shannon'), k_anonymity(k => 2)"
# Decimal labels and texts that it is not known how to write are left out where they are refused.
BIGQUERY = ("price",)


def places(dialect: str) -> dict[str, tuple[str, ...]]:
    staging = {"staging": ("private",)} if DIALECTS[dialect].is_staged else {}
    return {"source": SOURCE, "target": TARGET, **staging}


@pytest.fixture(scope="module")
def releases() -> Iterator[dict[str, Connection]]:
    """A release of all types, and one without those that BigQuery prints in another way."""
    columns = columns_for(MODEL)
    fewer = tuple(column for column in columns if column.name not in BIGQUERY)
    all_types, others = (made(random_rows(1, 30, parts), MODEL, parts) for parts in (columns, fewer))
    by_regions = finite(REGION_COLUMNS)
    regions = made(random_rows(1, 60, by_regions), "k_anonymity(k => 8)", by_regions, method=REGIONS[2][0])
    in_buckets = finite(BUCKET_COLUMNS)
    buckets = made(skewed_rows(1, 90, in_buckets), "k_anonymity(k => 3)", in_buckets, "TABLE", "anatomy(l => 2)")
    fragments = made(skewed_rows(1, 30, in_buckets), CONFIDENTIAL, in_buckets, "TABLE", "fragments")
    yield {"all": all_types, "fewer": others, "regions": regions, "buckets": buckets, "fragments": fragments}
    for con in (all_types, others, regions, buckets, fragments):
        con.close()


def parts_of(dialect: str) -> tuple[str, ...]:
    """The releases of which there is a script: none where an order would have to be hidden, and cannot be."""
    return ("levels", "regions", *(("buckets", "fragments") if DIALECTS[dialect].deal else ()))


@pytest.mark.long
@pytest.mark.parametrize(("dialect", "of"), [(dialect, of) for dialect in DIALECTS for of in parts_of(dialect)])
def test_a_script_is_read_back_to_what_was_meant(releases: dict[str, Connection], dialect: str, of: str) -> None:
    """The words of a warehouse are read as its own by sqlglot, and mean, in DuckDB's words, what is on the list."""
    release = of if of != "levels" else "fewer" if dialect == "bigquery" else "all"
    with guard_sizes.replaced(guard_rounds=2):
        text = script(releases[release], dialect, **places(dialect))
    text = re.sub(
        r"(DO \$sqlanon\$.*?\$sqlanon\$|EXECUTE IMMEDIATE \$\$.*?\$\$|ASSERT .*?);\n", "", text, flags=re.DOTALL
    )
    trees = [tree for tree in sqlglot.parse(text, dialect=dialect) if tree is not None]
    assert not [tree for tree in trees if isinstance(tree, exp.Command) and tree.name not in ("SET", "COMMIT")]
    created = [tree for tree in trees if isinstance(tree, exp.Create) and isinstance(tree.expression, exp.Query)]
    assert len(created) > {"levels": 20, "fragments": 7}.get(of, 10)
    for tree in created:
        again = tree.sql(dialect=dialect, identify=True)
        assert sqlglot.parse_one(again, dialect=dialect) == tree
        assert not tree.find(exp.Anonymous, exp.Collate) or re.search(
            "source|label_|region|rank_|recoded|release|drawn_|value_count", tree.this.sql()
        )
        # A whole quotient is read as a fraction again, where it is written as one.
        if re.search("check_|trial_(?!size)|numbered|dealt|value_start|placement", tree.this.sql()):
            # Spark's CAST is read as one that may be NULL.
            read = tree.expression.sql(dialect="duckdb").replace("TRY_CAST(", "CAST(")
            require_portable(sqlglot.parse_one(read, dialect="duckdb"))
    written = [tree for tree in created if tree.find(exp.TemporaryProperty) is None and tree.kind == "TABLE"]
    schemas = {tree.this.db.lower() for tree in written}
    assert schemas == {"published", "private"} if DIALECTS[dialect].is_staged else {"published"}


def test_names_do_not_end_a_comment(releases: dict[str, Connection]) -> None:
    first, _, head = script(releases["all"], "postgres", **places("postgres")).partition("BEGIN;")[0].partition(";")
    assert first.endswith("\nSET client_encoding = 'UTF8'")
    # What comes before is read in the encoding of the client.
    assert first.isascii()
    assert "re'lease -- /*" in head
    assert all(line.startswith("--") or not line for line in head.splitlines())


@pytest.mark.long
def test_what_a_warehouse_reads_differently_is_refused(releases: dict[str, Connection]) -> None:
    con = releases["all"]
    with pytest.raises(UserError, match=r"BigQuery cannot .* prints decimal numbers without zeros"):
        script(con, "bigquery", **places("bigquery"))
    with pytest.raises(UserError, match=r"Spark SQL cannot .* holds \$\{"):
        script(con, "spark", source=SOURCE, target=("a", "${b}"), staging=("private",))
    # Nobody says how Redshift reads a backslash, so that none is written.
    literals = re.findall(r"INSERT INTO .*?;\n", script(con, "redshift", **places("redshift")), flags=re.DOTALL)
    assert literals
    assert not any("\\" in text for text in literals)
    assert "'it' || CHR(39) || 's'" in literals[0]


WEEKS = """
CREATE TABLE visits AS SELECT DATE '2020-01-01' + (i % 3)::INTEGER AS day, 'd' || i % 3 AS disease FROM range(30) r(i);
CREATE HIERARCHY weeks AS CALENDAR (WEEK);
CREATE POLICY w ON visits (day QUASI IDENTIFIER USING weeks MIN LEVEL 1 MAX LEVEL 1, disease SENSITIVE)
REQUIRE k_anonymity(k => 3);
CREATE ANONYMIZED TABLE weekly AS POLICY w METHOD generalization;
"""


def test_weeks_are_written_where_they_were_tried() -> None:
    con = sqlanon.connect()
    con.execute(WEEKS)
    visits = QualifiedName(("there", "visits"))
    for dialect in DIALECTS:
        if dialect in ("postgres", "spark"):
            assert "ISO" in _compiled(con, "weekly", dialect, source=visits)
        else:
            with pytest.raises(UserError, match="WEEK"):
                _compiled(con, "weekly", dialect, source=visits)


OTHERS = """
CREATE TABLE t AS SELECT i % 3 AS age, 'd' || i % 3 AS disease, i AS who, i / 3 AS weight,
    '2020-01-01 00:00+00'::TIMESTAMPTZ AS moment FROM range(30) r(i);
CREATE HIERARCHY kinds AS LEVELS (SELECT 'd' || i, 'kind' FROM range(3) r(i));
CREATE POLICY plain ON t (age QUASI IDENTIFIER, disease SENSITIVE) REQUIRE k_anonymity(k => 3);
CREATE POLICY tokens ON t (who IDENTIFIER PSEUDONYM, age QUASI IDENTIFIER, disease SENSITIVE)
REQUIRE k_anonymity(k => 3);
CREATE POLICY sets ON t (age QUASI IDENTIFIER, disease SENSITIVE) REQUIRE k_anonymity(k => 3, on => (age));
CREATE POLICY public ON t (age QUASI IDENTIFIER, disease SENSITIVE) AGAINST t REQUIRE k_map(k => 3);
CREATE POLICY broader ON t (age QUASI IDENTIFIER, disease SENSITIVE) REQUIRE nt_closeness(n => 3, t => 1);
CREATE POLICY kinds_of ON t (age QUASI IDENTIFIER, disease SENSITIVE USING kinds)
REQUIRE t_closeness(t => 0.9, distance => 'hierarchical');
CREATE POLICY floats ON t (weight QUASI IDENTIFIER MAX LEVEL 0, disease SENSITIVE) REQUIRE k_anonymity(k => 1);
CREATE POLICY zones ON t (age QUASI IDENTIFIER, moment INSENSITIVE) REQUIRE k_anonymity(k => 3);
CREATE POLICY query ON (SELECT age, disease FROM t) (age QUASI IDENTIFIER, disease SENSITIVE)
REQUIRE k_anonymity(k => 3);
CREATE ANONYMIZED TABLE of_mondrian AS POLICY plain METHOD mondrian;
CREATE ANONYMIZED VIEW of_centroids AS POLICY plain METHOD mondrian(publish => 'centroid');
CREATE POLICY two ON t (age QUASI IDENTIFIER, disease SENSITIVE, who SENSITIVE) REQUIRE k_anonymity(k => 3);
CREATE POLICY apart ON t (age QUASI IDENTIFIER, disease SENSITIVE) CONFIDENTIAL (age, disease);
CREATE ANONYMIZED TABLE of_loose AS POLICY apart METHOD loose(k => 2);
CREATE ANONYMIZED TABLE of_slicing AS POLICY plain METHOD slicing(l => 2);
CREATE ANONYMIZED TABLE of_near_rows AS POLICY plain METHOD anatomy(l => 2, grouping => 'near');
CREATE ANONYMIZED TABLE of_two_values AS POLICY two METHOD anatomy(l => 2);
CREATE ANONYMIZED TABLE of_rounds AS POLICY plain METHOD generalization(recoding => 'local', suppression => 0.9);
"""
REFUSED = {
    "of_mondrian": "a snapshot keeps no regions",
    "of_centroids": "it shows centroids",
    "of_loose": "METHOD loose",
    "of_slicing": "METHOD slicing",
    "of_near_rows": "rows that are near each other",
    "of_two_values": "2 sensitive columns",
    "of_rounds": "several levels",
    "tokens": "who has pseudonyms",
    "kinds_of": "stored hierarchy",
    "sets": "by all quasi-identifiers only",
    "public": "public table",
    "broader": "classes of broader labels",
    "floats": "weight is of type DOUBLE",
    "zones": "moment is of type TIMESTAMP WITH TIME ZONE",
    "query": r"\(SELECT ...\), which is not a table",
}


@pytest.mark.long
def test_what_no_script_can_make_is_refused_with_the_reason() -> None:
    con = sqlanon.connect()
    con.execute(OTHERS)
    for name, reason in REFUSED.items():
        if not name.startswith("of_"):
            con.execute(f"CREATE ANONYMIZED TABLE {name} AS POLICY {name} METHOD generalization")
        with pytest.raises(SqlanonError, match=reason):
            _compiled(con, name, "postgres")
    assert 'FROM "there"."t"' in _compiled(con, "query", "postgres", source=QualifiedName(("there", "t")))


def test_names_and_places_are_checked() -> None:
    con = sqlanon.connect()
    con.execute(RELEASE)
    own, schema = QualifiedName(("there", "sqlanon_source")), QualifiedName(("private",))
    with pytest.raises(UserError, match="there is no dialect postgre") as error:
        _compiled(con, "released", "postgre")
    assert "postgres" in str(error.value.hint)
    for arguments, message in (
        ({"source": own}, "the script's own tables"),
        ({"target": QualifiedName(("there", "patients"))}, "is the source and the release"),
        ({"target": QualifiedName(("patients",))}, "patients has no schema"),
        ({"target": QualifiedName(("there", ""))}, "is empty"),
        ({"target": QualifiedName(("there", "é" * 32))}, "at most 63 bytes"),
        ({"target": QualifiedName(("there", "a\0b"))}, "NUL"),
        ({"target": QualifiedName(("a", "b", "c", "d"))}, "too many parts"),
        ({"staging": schema}, "PostgreSQL has those"),
    ):
        with pytest.raises(UserError, match=message):
            _compiled(con, "released", "postgres", **{"source": QualifiedName(("there", "patients"))} | arguments)
    with pytest.raises(UserError, match="no temporary tables"):
        _compiled(con, "released", "spark")
    with pytest.raises(UserError, match="is the schema of the release"):
        _compiled(con, "released", "spark", target=QualifiedName(("private", "made")), staging=schema)


def test_names_of_two_tables_are_checked_and_draws_too(releases: dict[str, Connection]) -> None:
    con, one = releases["buckets"], ("there", "patients")
    with pytest.raises(UserError, match="tables have no order"):
        script(releases["fragments"], "bigquery", source=one, target=("there", "made"))
    for dialect, why in (("redshift", "random numbers can be drawn again"), ("bigquery", "tables have no order")):
        with pytest.raises(UserError, match=why):
            script(con, dialect, source=one, target=("there", "made"))
    with pytest.raises(UserError, match="is the source and the release"):
        script(con, "postgres", source=("there", "made_qi"), target=("there", "made"))
    with pytest.raises(UserError, match="_sensitive: names in PostgreSQL have at most 63 bytes"):
        script(con, "postgres", source=one, target=("there", "m" * 60))


def test_a_column_whose_name_would_be_cut_off_is_refused() -> None:
    con = sqlanon.connect()
    con.execute(f"""
        CREATE TABLE t AS SELECT range AS "{"n" * 60}" FROM range(8);
        CREATE POLICY p ON t ("{"n" * 60}" QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2);
        CREATE ANONYMIZED VIEW v AS POLICY p METHOD mondrian(bounds => true)
    """)
    there = {"source": QualifiedName(("there", "t")), "target": QualifiedName(("there", "v"))}
    with pytest.raises(UserError, match="n_low: names in PostgreSQL have at most 63 bytes"):
        _compiled(con, "v", "postgres", **there)
    assert "n_high" in _compiled(con, "v", "redshift", **there)


def test_a_nul_is_in_no_script() -> None:
    """Some clients end a line there, so that what stands within a text would be read as statements."""
    con = sqlanon.connect()
    con.execute("""
        CREATE TABLE t AS SELECT unnest(['A' || chr(0), 'B', 'C']) AS v FROM range(3);
        CREATE HIERARCHY kinds AS LEVELS (SELECT DISTINCT v, 'R' FROM t);
        CREATE POLICY p ON t (v QUASI IDENTIFIER USING kinds MIN LEVEL 1 MAX LEVEL 1) REQUIRE k_anonymity(k => 3);
        CREATE ANONYMIZED TABLE nul AS POLICY p METHOD generalization
    """)
    for dialect in DIALECTS:
        with pytest.raises(UserError, match="NUL"):
            _compiled(con, "nul", dialect, source=QualifiedName(("there", "t")))


def test_a_hierarchy_that_changed_is_refused_and_a_long_one_too() -> None:
    columns = finite()[:1]
    con = made(random_rows(1, 30, columns), "k_anonymity(k => 2)", columns)
    with sizes.replaced(mapped_values=5), pytest.raises(PolicyError, match="more than 5 values"):
        script(con, "postgres", **places("postgres"))
    with sizes.replaced(rows_together=2):
        assert script(con, "postgres", **places("postgres")).count("INSERT INTO") == 4
    con.execute("CREATE OR REPLACE HIERARCHY towns AS LEVELS (SELECT town, 'all' FROM towns)")
    with pytest.raises(PolicyError, match="was changed after"):
        script(con, "postgres", **places("postgres"))


@pytest.mark.long
def test_regions_that_are_too_many_or_reach_to_no_date_or_are_others_are_refused() -> None:
    columns = REGION_COLUMNS[1:3]
    dates = ["2020-02-29"] * 5 + ["infinity"] * 5
    con = made([(date, n) for n, date in enumerate(dates)], "k_anonymity(k => 5)", columns, method="mondrian")
    with sizes.replaced(mapped_values=1), pytest.raises(PolicyError, match="more than 1 regions"):
        script(con, "postgres", **places("postgres"))
    assert "CAST('infinity' AS DATE)" in script(con, "postgres", **places("postgres"))
    for dialect in set(DIALECTS) - {"postgres"}:
        with pytest.raises(UserError, match="a region ends at infinity"):
            script(con, dialect, **places(dialect))
    [(table,)] = con.duckdb.sql("SELECT object_name FROM anon.release_object WHERE object_name ^@ 'region_'").fetchall()
    con.duckdb.execute(f"UPDATE anon.{table} SET label_0 = '*'")
    with pytest.raises(CatalogError, match="were changed after"):
        script(con, "postgres", **places("postgres"))


def test_the_command(tmp_path: Path) -> None:
    database, file = tmp_path / "x.duckdb", tmp_path / "release.sql"
    assert invoke("run", "-", "-d", database, stdin=RELEASE).exit_code == 0
    arguments = ("compile", "released", "--dialect", "snowflake", "--source", "raw.patients", "-d", database)
    printed = invoke(*arguments)
    assert printed.exit_code == 0
    # Names that are written without quotes are folded there.
    assert 'FROM "RAW"."PATIENTS" AS "original"' in printed.stdout
    assert 'CREATE TABLE "RELEASED" AS' in printed.stdout
    assert invoke(*arguments, "-o", file).exit_code == 0
    assert file.read_text(encoding="utf-8") == printed.stdout
    assert invoke(*arguments, "-o", database).exit_code == 2
    assert invoke("compile", "nothing", "--dialect", "snowflake", "-d", database).exit_code == 2


def _compiled(con: Connection, name: str, dialect: str, **places: QualifiedName) -> str:
    if dialect == "spark" and name != "released":
        places["staging"] = QualifiedName(("private",))
    target = places.pop("target", QualifiedName(("here", "made")))
    return compiled(DuckDBEngine(con.duckdb), QualifiedName((name,)), dialect, target=target, **places)


def test_bigquery_keeps_the_digits_of_a_decimal() -> None:
    """A cast of BigQuery's takes no digits: 1.005 in the source there would be published as it is, and not as 1.01."""
    with sqlanon.connect() as con:
        con.execute(
            "CREATE TABLE fees AS SELECT i % 2 AS ward, (i % 4)::DECIMAL(9, 2) AS fee, "
            "(i % 3)::DECIMAL(5, 0) AS whole, (i % 5)::DECIMAL(38, 3) AS wide FROM range(80) AS t(i);"
            "CREATE POLICY fees ON fees (ward QUASI IDENTIFIER, fee SENSITIVE, whole INSENSITIVE, "
            "wide QUASI IDENTIFIER) REQUIRE k_anonymity(k => 5); CREATE ANONYMIZED TABLE paid AS POLICY fees "
            "METHOD generalization"
        )
        engine, paid = DuckDBEngine(con.duckdb), QualifiedName(("paid",))
        text = compiled(engine, paid, "bigquery")
        for name, digits in (("fee", 2), ("whole", 0), ("wide", 3)):
            cast = rf"ROUND\(CAST\(`original`\.`{name}` AS (BIG)?NUMERIC\), {digits}\) AS `{name}`"
            assert re.search(cast, text), name
        assert "ROUND" not in compiled(engine, paid, "snowflake")
