"""Every kind of hierarchy on a column of every type: CREATE POLICY refuses it, or a release can be made."""

from __future__ import annotations

import pytest

from sqlanon import Connection, connect
from sqlanon.errors import PolicyError
from tests.support.column_types import TYPES

READABLE = frozenset(kind for kind in TYPES if not kind.startswith(("UNION", "VARIANT")))
INTEGERS = frozenset(kind for kind in TYPES if kind.endswith(("INT", "INTEGER")))
REALS = frozenset({"FLOAT", "DOUBLE", "DECIMAL(18,3)", "DECIMAL(38,10)"})
MOMENTS = frozenset({"TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"})
TEXTS = frozenset({"VARCHAR", "UUID", "ENUM('e0', 'e1', 'e2', 'e3', 'e4')"})

# A hierarchy of each kind and the types that it is for, as the page about hierarchies says it.
FITTING = {
    "INTERVALS (0.5, 10, high => 100)": INTEGERS | REALS,
    "PREFIXES (3, 1)": INTEGERS | TEXTS,
    "CALENDAR (MONTH, YEAR)": MOMENTS | {"DATE"},
    "CALENDAR (DAY, WEEK)": MOMENTS | {"DATE"},
    "CALENDAR (HOUR, DAY)": MOMENTS,
    "LEVELS (SELECT DISTINCT x::VARCHAR, 'some' FROM t)": READABLE,
    "PARENTS (SELECT DISTINCT x::VARCHAR, 'all' FROM t WHERE x IS NOT NULL UNION SELECT 'all', NULL)": READABLE,
}


@pytest.mark.one_in(72)
@pytest.mark.parametrize("kind", TYPES)
def test_a_hierarchy_that_does_not_fit_is_refused_with_the_policy(kind: str) -> None:
    con = connect()
    con.execute("SET threads = 1")
    con.execute(f"CREATE TABLE t AS SELECT CAST({TYPES[kind]} AS {kind}) AS x FROM range(5) r(i), range(2)")
    accepted = []
    for place, (hierarchy, fitting) in enumerate(FITTING.items()):
        con.execute(f"CREATE HIERARCHY h{place} AS {hierarchy}")
        policy = f"CREATE POLICY p{place} ON t (x QUASI IDENTIFIER USING h{place}) REQUIRE k_anonymity(k => 3)"
        if kind in fitting:
            con.execute(policy)
            accepted.append(place)
            continue
        named = rf"the hierarchy h{place} \({hierarchy.split()[0]}\) does not fit the column x of type "
        with pytest.raises(PolicyError, match=named) as refused:
            con.execute(policy)
        assert refused.value.hint
    if accepted:
        release_of(con, accepted)


def release_of(con: Connection, places: list[int]) -> None:
    """A release of the column under all these hierarchies at once, a column of its own for each."""
    columns = ", ".join(f"x AS x{place}" for place in places)
    roles = ", ".join(f"x{place} QUASI IDENTIFIER USING h{place} MIN LEVEL 1" for place in places)
    con.execute(f"CREATE POLICY p ON (SELECT {columns} FROM t) ({roles}) REQUIRE k_anonymity(k => 2)")
    con.execute("EXPLAIN ANONYMIZED TABLE r AS POLICY p METHOD generalization")
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY p")
    assert con.sql("SELECT count(*) FROM r").fetchall() == [(10,)]


def hint_for(column: str, hierarchy: str) -> str:
    con = connect()
    con.execute(f"CREATE TABLE t AS SELECT CAST(NULL AS {column}) AS x")
    con.execute(f"CREATE HIERARCHY h AS {hierarchy}")
    with pytest.raises(PolicyError) as refused:
        con.execute("CREATE POLICY p ON t (x QUASI IDENTIFIER USING h) REQUIRE k_anonymity(k => 2)")
    return str(refused.value.hint)


def test_the_error_names_what_fits() -> None:
    cast = "; or cast the column in the policy's source, ON (SELECT ...)"
    assert hint_for("DATE", "INTERVALS (5)") == f"of the kinds that fit DATE there are CALENDAR, LEVELS, PARENTS{cast}"
    assert hint_for("VARIANT", "PREFIXES (1)") == f"of the kinds that fit VARIANT there is none{cast}"
    assert hint_for("DATE", "CALENDAR (HOUR)") == "leave HOUR out"


@pytest.mark.parametrize("kind", ["STRUCT(a VARIANT)", "UNION(n INTEGER)[]", "MAP(VARCHAR, UNION(n INTEGER))"])
def test_what_is_inside_counts_too(kind: str) -> None:
    assert "there is none" in hint_for(kind, "LEVELS (FROM (VALUES ('a', 'some')) AS v(value, level_1))")


def test_a_name_is_no_type() -> None:
    con = connect()
    con.execute("""CREATE TABLE t AS SELECT {'VARIANT': i, 'UNION': i} AS x FROM range(4) r(i)""")
    con.execute("CREATE HIERARCHY h AS LEVELS (SELECT x::VARCHAR, 'some' FROM t)")
    con.execute("CREATE POLICY p ON t (x QUASI IDENTIFIER USING h) REQUIRE k_anonymity(k => 2)")
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
    assert con.sql("SELECT DISTINCT x FROM r").fetchall() == [("some",)]
