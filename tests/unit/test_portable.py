"""The list of what all engines answer alike holds the models, and none of what is known to differ."""

from __future__ import annotations

from decimal import Decimal

import pytest
import sqlglot
from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.policy import Attribute, HierarchyDefinition, Policy, Role
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.portable import require_portable, spark_sql
from sqlanon.errors import EngineError
from sqlanon.methods.anatomy import assign_groups
from sqlanon.methods.anatomy.tables import (
    Bucketization,
    bucketized,
    differing,
    misplaced,
    out_of_order,
    out_of_place,
    unequal,
)
from sqlanon.methods.fragmentation.association import associate, block_grids, block_search, grid_proof, left_out_sql
from sqlanon.methods.fragmentation.association.grid_proof import PublishedAssociation, PublishedFragment
from sqlanon.sql.build.expressions import by_bytes, without_collation
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.hierarchies.base import functional
from sqlanon.sql.questions.load import question_names
from tests.support.models.contract import check_model_is_portable

REFUSED = {
    "SELECT hash(x) FROM t": "the function hash",
    "SELECT epoch_ns(x) FROM t": "the function epoch_ns",
    "SELECT list(x ORDER BY y) FROM t": "the function ARRAY_AGG",
    "SELECT quantile_cont(x, 0.5e0) FROM t": "the function PERCENTILE_CONT",
    "SELECT log(x) FROM t": "the function LOG",
    "SELECT x ^ 2 FROM t": "the function POWER",
    "SELECT random()": "the function RAND",
    "SELECT [1, 2]": "the function ARRAY",
    "SELECT x[1] FROM t": "Bracket",
    "SELECT x FROM t QUALIFY row_number() OVER (ORDER BY y) = 1": "Select with qualify",
    "SELECT x FROM t USING SAMPLE 5": "Select with sample",
    "SELECT DISTINCT ON (x) x FROM t": "Distinct with on",
    "SELECT x FROM a ASOF JOIN b ON a.x >= b.x": "Join with method",
    "SELECT x FROM a NATURAL JOIN b": "Join with method",
    "SELECT x FROM a SEMI JOIN b ON a.x = b.x": "a SEMI join",
    "SELECT x FROM t GROUP BY ALL": "Group with all",
    "SELECT x FROM t GROUP BY ROLLUP (x)": "Rollup",
    "SELECT * REPLACE (1 AS x) FROM t": "Star with replace",
    "SELECT x FROM a UNION BY NAME SELECT x FROM b": "Union with by_name",
    "SELECT x FROM a EXCEPT SELECT x FROM b": "Except",
    "WITH RECURSIVE a AS (SELECT 1 AS x UNION SELECT x + 1 FROM a) SELECT x FROM a": "With with recursive",
    "WITH a AS MATERIALIZED (SELECT 1 AS x) SELECT x FROM a": "CTE with materialized",
    "SELECT sum(x) OVER (ORDER BY y ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW) FROM t": "EXCLUDE",
    "SELECT sum(x) OVER (ORDER BY y GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM t": "frame in GROUPS",
    "SELECT sum(x) OVER (ORDER BY y RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM t": "frame in RANGE",
    "SELECT CAST(x / 2 AS INTEGER) FROM t": "a fraction cast to INT",
    "SELECT CAST(CAST(x AS DOUBLE) * 2 AS BIGINT) FROM t": "a fraction cast to BIGINT",
    "SELECT TRY_CAST(sum(x) + avg(y) AS BIGINT) FROM t": "a fraction cast to BIGINT",
    "SELECT CAST(2.5e0 AS BIGINT)": "a fraction cast to BIGINT",
    "SELECT CAST(x AS HUGEINT) FROM t": "the type HUGEINT",
    "SELECT CAST(x AS UBIGINT) FROM t": "the type UBIGINT",
    "SELECT CAST(x AS ENUM('a')) FROM t": "the type ENUM",
    "SELECT CAST(x AS INTEGER[]) FROM t": "the type INT[]",
    "SELECT CAST(x AS TIMESTAMP WITH TIME ZONE) FROM t": "the type TIMESTAMPTZ",
    "SELECT CAST('12' AS INTEGER)": "reading INT from text",
    "SELECT TRY_CAST(x AS INTEGER) FROM t": "reading INT from text",
    "SELECT TRY_CAST(CAST(x AS VARCHAR) AS DOUBLE) FROM t": "reading DOUBLE from text",
    "SELECT x = CAST('infinity' AS DATE) FROM t": "reading DATE from text",
    "SELECT CASE WHEN NOT x = CAST('infinity' AS DATE) THEN 1 END FROM t": "reading DATE from text",
    "SELECT CASE WHEN x = CAST('2020-1-1' AS DATE) THEN 1 END FROM t": "reading DATE from text",
    "SELECT 0.5 * x FROM t": "the decimal number 0.5 without a CAST",
    "SELECT 9223372036854775808": "the number 9223372036854775808, beyond BIGINT",
    "SELECT extract(week FROM d) FROM t": "EXTRACT(WEEK)",
    "SELECT x & y | z FROM t": "without parentheses",
    "SELECT x & y + 1 FROM t": "without parentheses",
    "SELECT row_number() OVER () FROM t": "the function ROW_NUMBER without ORDER BY",
    "SELECT lag(x) OVER (PARTITION BY y) FROM t": "the function LAG without ORDER BY",
    "SELECT rowid FROM t": "the column rowid",
    'SELECT t."RowId" FROM t': "the column rowid",
    "SELECT unnest(x) FROM t": "the rows of a list",
    "SELECT unnest([1, 2])": "the rows of a list",
    "SELECT unnest(generate_series(0, n)) FROM t": "a list of numbers without a step",
    "SELECT unnest(generate_series(0, n, s)) FROM t": "a list of numbers without a step",
    "SELECT unnest(generate_series(9, n, -1)) FROM t": "a list of numbers without a step",
    "SELECT unnest(range(0, n, 1)) FROM t": "a list of numbers",
    "SELECT unnest(generate_series(0, n, 0)) FROM t": "a list of numbers without a step",
    "SELECT generate_series(0, n, 1) FROM t": "a list of numbers",
    "SELECT $k": "the parameter $k",
    "SELECT ?": "the parameter ?",
}


@pytest.mark.parametrize("query", REFUSED)
def test_what_differs_is_named(query: str) -> None:
    named = REFUSED[query]
    with pytest.raises(EngineError) as raised:
        require_portable(sqlglot.parse_one(query, dialect="duckdb"))
    assert named in raised.value.message, raised.value.message


@pytest.mark.parametrize("statement", ["achieved", "violations"])
@pytest.mark.parametrize("name", question_names())
def test_every_model_is_portable(name: str, statement: str) -> None:
    check_model_is_portable(name, statement)


BOUND = BoundAttribute(Attribute("s", Role.SENSITIVE), "s", "VARCHAR", "VARCHAR")
POLICY = BoundPolicy(
    Policy("p", QualifiedName(("t",)), (BOUND.attribute,), ()), QualifiedName(("t",)), True, (BOUND,), (), ""
)
BUCKETIZED = bucketized(POLICY, Bucketization("p", (("s", "c"),), 0, 0, 0, 0, 0), "r", {}).tables
ASSOCIATION = PublishedAssociation(
    relation("a"),
    ("g1", "g2"),
    (PublishedFragment(relation("f1"), ("x", "y"), "g"), PublishedFragment(relation("f2"), ("z",), "g")),
)
ROWS = exp.select(exp.Star()).from_(relation("rows"))
GRID = block_grids.grid((2, 3))
# Buckets, fragments and groups: those that numbers stand for, once drawn, and what checks their tables.
EVERYWHERE = {
    "value_codes": assign_groups.value_codes(BOUND, relation("t")),
    "groups": assign_groups.groups("counts", 3),
    "groups with different values": assign_groups.groups("counts", 3, 2),
    "starts": assign_groups.starts("counts", "groups"),
    "slots": assign_groups.slots("groups"),
    "tally": assign_groups.tally("rows", 0),
    "merged": assign_groups.merged("slots", "violating"),
    "all_numbers": assign_groups.all_numbers("slots", "numbers"),
    "rows_in_buckets": assign_groups.rows_in_buckets("rows", "numbers", ["code_0", "code_1"]),
    "sizes": assign_groups.sizes("rows"),
    "sizes_of_groups": assign_groups.sizes_of_groups("groups"),
    "rows of buckets": BUCKETIZED[0].query,
    "values of buckets": BUCKETIZED[1].query,
    "unequal": unequal(relation("exact"), relation("held")),
    "differing": differing(relation("exact"), relation("held")),
    "alike_in_group": grid_proof.alike_in_group(ASSOCIATION.fragments[0], ("x",)),
    "repeated_pairs": grid_proof.repeated_pairs(ASSOCIATION, 0, 1),
    "alike_in_linked": grid_proof.alike_in_linked(ASSOCIATION, 0, 1, ("z",)),
    "linked_values": grid_proof.linked_values(ASSOCIATION, 0, 1, ("z",)),
    "unmatched": grid_proof.unmatched(ASSOCIATION, 0),
    "smallest_group": grid_proof.smallest_group(ASSOCIATION.fragments[0]),
    "spread along a curve": associate.spread(ROWS, 0, 2),
    "keyed along a curve": associate.keyed(ROWS, [], ["near"], "draw").transform(
        lambda node: column("draw") if isinstance(node, exp.Anonymous) else node
    ),
    "possible": block_grids.possible("keyed", 0, 6),
    "sorted_rows": block_grids.sorted_rows("keyed", 1, 0, 24),
    "counts": block_grids.counts("keyed", 0),
    "possible_of": block_grids.possible_of("counts", 6),
    "frequencies": left_out_sql.frequencies("counts"),
    "most_alike": left_out_sql.most_alike("frequencies"),
    "allowed": left_out_sql.allowed(["f0", "f1"], 100, 6, 5, 1, 16),
    "candidates": left_out_sql.candidates("keyed", 2, 1000),
    "picked": left_out_sql.picked("pool", "chosen", ["c0", "c1"], 10, 2, 7),
    "full_values": left_out_sql.full_values("chosen", 0, 2),
    "alike": left_out_sql.alike("rows", 2),
    "excess": left_out_sql.excess("rows", [0, 1], 4, 9),
    "holding": left_out_sql.holding("placed", "keyed", "excess", [0, 1]),
    "enough": left_out_sql.enough("preferred", "holding", "excess", 6, 5),
    "first_blocks": left_out_sql.first_blocks("preferred", 3),
    "fragment_rows": block_grids.fragment_rows(ROWS, "grouped", [(0, "x")], 0, "g"),
    "association_rows": block_grids.association_rows("grouped", ["g1", "g2"]),
}
# What draws, what numbers the rows of a source, and what fills blocks of rows that have to differ in several keys.
DUCKDB_ONLY = {
    "sorted_rows": (
        assign_groups.sorted_rows(POLICY, [BOUND], ["c"], None, "random_draw", {}),
        "the function random_draw",
    ),
    "value_counts": (assign_groups.value_counts("drawn", "random_draw"), "the function random_draw"),
    "value_counts_of_all": (assign_groups.value_counts_of_all("codes", "random_draw"), "the function random_draw"),
    "numbers_of": (assign_groups.numbers_of("drawn"), "the column rowid"),
    "bucket_numbers": (assign_groups.bucket_numbers("slots", "random_draw"), "the function random_draw"),
    "rows_in_slots": (assign_groups.rows_in_slots("drawn", "starts", ["code_0", "code_1"], 0), "the column rowid"),
    "out_of_order": (out_of_order(relation("held")), "without ORDER BY"),
    "out_of_place": (out_of_place(relation("exact")), "without ORDER BY"),
    "misplaced": (misplaced(relation("exact"), relation("held")), "Join with method"),
    "numbered": (associate.numbered(relation("t"), [column("x")], []), "the column rowid"),
    "repeated": (associate.repeated(ROWS, [0]), "ROW_NUMBER without ORDER BY"),
    "filled_blocks": (block_grids.filled_blocks("rows", 1, 0, 6, 0, chunked=True), "the function BITWISE_XOR_AGG"),
    "preferred": (left_out_sql.preferred("placed", "holding", "random_draw"), "the function random_draw"),
    "located": (block_grids.located("placed", "random_draw", near=True), "the function random_draw"),
    "exchanged": (block_grids.exchanged("cells", 2, "random_draw"), "the function random_draw"),
    "block_numbers": (block_grids.block_numbers("cells", 4, "random_draw"), "the function random_draw"),
    "renumbered": (block_grids.renumbered("numbers", 0, "random_draw"), "the function random_draw"),
    "grouped": (block_grids.grouped("cells", "numbers", GRID, 0), "the column rowid"),
    "clashing": (block_search.clashing("rows", ["key_1"]), "Select with qualify"),
    "proposed": (block_search.proposed("rows", "placed", 1, 6, 3, 2, "random_draw"), "with qualify"),
    "fitting": (block_search.fitting("proposed", 1, 6), "Select with qualify"),
}


@pytest.mark.parametrize("name", EVERYWHERE)
def test_what_is_counted_of_fragments_is_portable(name: str) -> None:
    require_portable(EVERYWHERE[name])


@pytest.mark.parametrize("name", DUCKDB_ONLY)
def test_what_draws_and_numbers_is_not(name: str) -> None:
    query, named = DUCKDB_ONLY[name]
    with pytest.raises(EngineError) as raised:
        require_portable(query)
    assert named in raised.value.message, raised.value.message


def test_where_nulls_stand_has_to_be_said() -> None:
    query = exp.select("x").from_("t").order_by("x")
    query.args["order"].set("expressions", [column("x")])
    with pytest.raises(EngineError, match="NULLS"):
        require_portable(query)


@pytest.mark.parametrize(("kind", "problem"), [("DECIMAL", "without"), ("VARCHAR(5)", "with")])
def test_widths_of_types(kind: str, problem: str) -> None:
    query = exp.select(exp.Cast(this=column("x"), to=exp.DataType.build(kind)))
    with pytest.raises(EngineError, match=f"the type .* {problem} a width"):
        require_portable(query)


# Hierarchies whose labels are computed by what only DuckDB has, and those whose labels are everywhere.
@pytest.mark.parametrize(
    ("kind", "arguments", "column_type", "named"),
    [
        ("intervals", (5, 10), "INTEGER", None),
        ("intervals", (5, 10), "BIGINT", None),
        ("intervals", (Decimal("0.25"),), "DECIMAL(8,2)", None),
        ("intervals", (Decimal("0.1"), 1), "DOUBLE", None),
        ("prefixes", (4, 2), "VARCHAR", None),
        ("calendar", ("MONTH", "YEAR"), "DATE", None),
        ("calendar", ("DAY", "WEEK"), "DATE", None),
        ("calendar", ("HOUR", "QUARTER", "CENTURY"), "TIMESTAMP", None),
        ("intervals", ("ENDS",), "INTEGER", None),
        ("intervals", (Decimal("0.5"),), "BIGINT", "beyond BIGINT"),
        ("intervals", (5,), "UBIGINT", "the type HUGEINT"),
        ("intervals", (5,), "DECIMAL(38,2)", "beyond BIGINT"),
        ("intervals", (5,), "FLOAT", "reading DOUBLE from text"),
        ("calendar", ("YEAR",), "TIMESTAMP_S", "reading TIMESTAMP from text"),
        ("calendar", ("YEAR",), "TIMESTAMP_NS", "reading TIMESTAMP from text"),
    ],
)
def test_hierarchies(kind: str, arguments: tuple[object, ...], column_type: str, named: str | None) -> None:
    ends = {"ENDS": (("high", 90),), "MONTH": (("low", "1900-01-01"),)}.get(str(arguments[0]), ())
    definition = HierarchyDefinition("h", kind, arguments, ends)  # type: ignore[arg-type]
    labels = exp.select(*functional(kind).labels(definition, column("x"), column_type)).from_("t")
    if named is None:
        require_portable(labels)
        return
    with pytest.raises(EngineError) as raised:
        require_portable(labels)
    assert named in raised.value.message, raised.value.message


def test_a_query_is_not_changed_when_it_is_written_for_spark() -> None:
    query = sqlglot.parse_one("SELECT {'order': \"order\"} AS class_id FROM t", dialect="duckdb")
    before = query.sql(dialect="duckdb")
    assert "STRUCT" in spark_sql(query)
    assert query.sql(dialect="duckdb") == before


def test_what_is_replaced_within_what_is_replaced() -> None:
    """A cast has a copy of its argument: what is replaced within it is replaced before."""
    shifted = spark_sql(sqlglot.parse_one("SELECT ($1 + 1) << $2 AS a, (b << $1) << 3 AS b FROM t", dialect="duckdb"))
    assert "SHIFTLEFT(CAST((:p1 + 1) AS BIGINT), :p2)" in shifted
    assert "SHIFTLEFT(CAST((SHIFTLEFT(CAST(`b` AS BIGINT), :p1)) AS BIGINT), 3)" in shifted
    text = without_collation(by_bytes(without_collation(by_bytes(column("b")))))
    assert "COLLATE" not in spark_sql(exp.select(text).from_(relation("t")))
