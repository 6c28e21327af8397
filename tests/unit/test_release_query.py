"""The SELECT of a release where requirements read more than classes: values, hierarchies, a public table, guards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

import duckdb
import pytest
import sqlglot
from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.policy import Attribute, HierarchyDefinition, Policy, Role
from sqlanon.domain.values import QualifiedName, Source
from sqlanon.errors import InternalError
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.render import secure_view, to_sql
from sqlanon.sql.release.recode import Recoding
from sqlanon.sql.release.release_query import Precomputed, ReleaseQuery


@dataclass(frozen=True)
class Fake:
    reads: tuple[str, ...]
    attributes: tuple[str, ...]
    violating: str
    achieved: str = "SELECT NULL AS achieved"
    question_name: str = "fake"
    on: tuple[str, ...] = ()
    of_whole_release: bool = False

    def statement(self, name: str, relations: Mapping[str, str]) -> exp.Select:
        tree = sqlglot.parse_one(self.violating if name == "violations" else self.achieved, dialect="duckdb")
        assert isinstance(tree, exp.Select)
        for table in list(tree.find_all(exp.Table)):
            if table.name in relations:
                table.replace(relation(relations[table.name], as_=table.alias_or_name))
        return tree


def k(least: int) -> Fake:
    return Fake(
        ("equivalence_class",),
        (),
        f"SELECT class_id, size, size AS excess FROM equivalence_class WHERE entities < {least}",
        "SELECT min(entities) AS achieved FROM equivalence_class",
    )


K_MAP = Fake(
    ("equivalence_class", "public_class"),
    (),
    "SELECT c.class_id, c.size, 1 AS excess FROM equivalence_class AS c "
    "LEFT JOIN public_class AS p ON p.class_id = c.class_id WHERE coalesce(p.n, 0) < 3",
)
PRESENT = Fake(
    ("equivalence_class", "public_class"),
    (),
    "SELECT p.class_id, coalesce(c.size, 0) AS size, 1 AS excess FROM public_class AS p "
    "LEFT JOIN equivalence_class AS c ON p.class_id = c.class_id WHERE c.size IS NULL",
)
DISTINCT_2 = Fake(
    ("class_sensitive_value",),
    ("disease",),
    "SELECT class_id, sum(n) AS size, 1 AS excess FROM class_sensitive_value GROUP BY class_id HAVING count(*) < 2",
    "SELECT min(m) AS achieved FROM (SELECT count(*) AS m FROM class_sensitive_value GROUP BY class_id) AS c",
)
# At most half of a class below a node that one of its rows names.
PERSONAL = Fake(
    ("equivalence_class", "class_sensitive_value", "guarded", "guarding_node"),
    ("disease",),
    "SELECT class_id, size, excess FROM (SELECT g.class_id, c.size, 0 AS excess, sum(s.n) AS m FROM guarded AS g "
    "JOIN guarding_node AS v ON v.node = g.node JOIN equivalence_class AS c ON c.class_id = g.class_id "
    "JOIN class_sensitive_value AS s ON s.class_id = g.class_id AND s.value = v.value "
    "GROUP BY g.class_id, g.node, c.size) AS b WHERE 2 * m > size",
    "SELECT count(*) AS achieved FROM guarded",
)
RANGES = Fake(
    ("equivalence_class", "class_sensitive_value", "value_range"),
    ("disease",),
    "SELECT c.class_id, c.size, 1 AS excess FROM equivalence_class AS c CROSS JOIN value_range AS r "
    "LEFT JOIN class_sensitive_value AS s ON s.class_id = c.class_id AND s.value = r.value "
    "WHERE coalesce(s.n, 0) < r.low * c.size",
)
FAR = Fake(
    ("class_sensitive_value", "sensitive_ancestor"),
    ("disease",),
    "SELECT s.class_id, sum(s.n) AS size, 1 AS excess FROM class_sensitive_value AS s "
    "JOIN sensitive_ancestor AS a ON a.value = s.value AND a.level = 1 GROUP BY s.class_id "
    "HAVING count(DISTINCT a.node) < 2",
)

ROWS = [
    ("81100", "F", "flu", "flu", 1),
    ("81101", "F", "cold", None, 2),
    ("81102", "F", "ulcer", None, 3),
    ("82100", "F", "flu", None, 4),
    ("82101", "F", "flu", "flu", 5),
    ("83100", None, "flu", None, 6),
    ("83100", None, None, None, 6),
]
DISEASES = [("flu", "lung"), ("cold", "lung"), ("ulcer", "gut")]


@pytest.fixture
def con() -> duckdb.DuckDBPyConnection:
    con = duckdb.connect()
    con.execute("ATTACH ':memory:' AS db (STORAGE_VERSION 'v2.0.0'); USE db")
    con.execute("CREATE TABLE visits (zip VARCHAR, sex VARCHAR, disease VARCHAR, wish VARCHAR, person INTEGER)")
    con.executemany("INSERT INTO visits VALUES (?, ?, ?, ?, ?)", ROWS)
    con.execute("CREATE TABLE voters (zip VARCHAR, sex VARCHAR)")
    con.execute("CREATE SCHEMA anon")
    con.execute(
        "CREATE TABLE anon.release_taxonomy (release_id TEXT, attribute TEXT, value TEXT, level INT, label TEXT);"
        "CREATE TABLE anon.release_value_range (release_id TEXT, requirement INT, value TEXT, low DOUBLE, high DOUBLE);"
        "CREATE TABLE anon.release_recoding (release_id TEXT, attribute TEXT, value TEXT, label TEXT)"
    )
    return con


def attribute(name: str, role: Role, hierarchy: HierarchyDefinition | None = None, **more: object) -> BoundAttribute:
    return BoundAttribute(Attribute(name, role), name, "VARCHAR", "VARCHAR", hierarchy, **more)  # type: ignore[arg-type]


def query(*requirements: Fake, entity: bool = False, zip_level: int = 1, stored_zip: bool = False) -> ReleaseQuery:
    prefixes = HierarchyDefinition("zips", "prefixes", (2,))
    zips = attribute("zip", Role.QUASI_IDENTIFIER, prefixes, stored=stored_zip, height=2)
    sexes = attribute("sex", Role.QUASI_IDENTIFIER)
    disease = attribute("disease", Role.SENSITIVE, HierarchyDefinition("d", "levels"), stored=True, height=2)
    person = BoundAttribute(Attribute("person", Role.ENTITY), "person", "INTEGER", "INTEGER")
    attributes = (zips, sexes, disease, *([person] if entity else []))
    policy = Policy("p", Source(name=QualifiedName(("visits",))), tuple(b.attribute for b in attributes), ())
    return ReleaseQuery(
        policy=BoundPolicy(policy, QualifiedName(("visits",)), True, attributes, (), ""),
        recodings=(Recoding(zips, zip_level), Recoding(sexes, 0)),
        requirements=requirements,
        source=exp.select(*map(column, ("zip", "sex", "disease", "wish", "person"))).from_(
            relation(("main", "visits"))
        ),
        stable=True,
        release_id="r1",
        guards={place: "wish" for place, fake in enumerate(requirements) if fake is PERSONAL},
        public=exp.select(column("zip"), column("sex")).from_(relation(("main", "voters"))),
    )


def zips(con: duckdb.DuckDBPyConnection, made: ReleaseQuery) -> dict[str, int]:
    """The released rows by zip. A secure view of the same text shows the same."""
    text = to_sql(made.select())
    rows = con.execute(text).fetchall()
    con.execute(secure_view(QualifiedName(("main", "released")), made.select().named_selects, text))
    assert Counter(con.execute("FROM released").fetchall()) == Counter(rows)
    con.execute("DROP VIEW released")
    return dict(Counter(row[0] for row in rows))


def test_what_a_requirement_asks_about_need_not_be_published(con: duckdb.DuckDBPyConnection) -> None:
    made = query(k(1), DISTINCT_2)
    assert zips(con, made) == {"81***": 3, "83***": 2}
    disease = replace(made.policy.attributes[2], attribute=Attribute("disease", Role.IDENTIFIER))
    hidden = replace(made, policy=replace(made.policy, attributes=(*made.policy.attributes[:2], disease)))
    assert zips(con, hidden) == {"81***": 3, "83***": 2}
    assert con.execute(to_sql(hidden.select())).description == [
        (name, *rest) for name, *rest in con.execute(to_sql(hidden.select())).description if name in ("zip", "sex")
    ]


def test_respondents_count_for_k_and_rows_for_the_rest(con: duckdb.DuckDBPyConnection) -> None:
    assert zips(con, query(k(2), DISTINCT_2)) == {"81***": 3, "83***": 2}
    assert zips(con, query(k(2), DISTINCT_2, entity=True)) == {"81***": 3}
    classes = con.execute(to_sql(query(k(1), DISTINCT_2, entity=True).equivalence_class())).fetchall()
    assert sorted((size, entities) for _, size, entities in classes) == [(2, 1), (3, 3)]


def test_guarding_nodes_that_are_not_published(con: duckdb.DuckDBPyConnection) -> None:
    """82 is all flu and one of its rows guards against it; 81 is a third flu; 83 guards against nothing."""
    con.executemany("INSERT INTO anon.release_taxonomy VALUES ('r1', 'disease', ?, 1, ?)", DISEASES)
    assert zips(con, query(PERSONAL)) == {"81***": 3, "83***": 2}
    con.execute("UPDATE visits SET wish = 'lung' WHERE wish = 'flu'")
    assert zips(con, query(PERSONAL)) == {"83***": 2}
    con.execute("UPDATE visits SET wish = 'a spelling mistake' WHERE person = 6")
    assert zips(con, query(PERSONAL)) == {}


def test_distances_come_from_the_catalogs_copy(con: duckdb.DuckDBPyConnection) -> None:
    con.executemany("INSERT INTO anon.release_taxonomy VALUES ('r1', 'disease', ?, 1, ?)", DISEASES)
    con.execute("INSERT INTO anon.release_taxonomy VALUES ('other', 'disease', 'flu', 1, 'none')")
    # NULL is not listed: a branch of its own.
    assert zips(con, query(FAR)) == {"81***": 3, "83***": 2}
    con.execute("UPDATE anon.release_taxonomy SET label = 'lung'")
    assert zips(con, query(FAR)) == {"83***": 2}


def test_ranges_come_from_the_catalogs_copy(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("INSERT INTO anon.release_value_range VALUES ('r1', 1, 'cold', 0.3, NULL), ('r1', 0, 'flu', 0.9, NULL)")
    assert zips(con, query(k(1), RANGES)) == {"81***": 3}
    con.execute("INSERT INTO anon.release_value_range VALUES ('r1', 1, 'gout', 0.1, NULL)")
    assert zips(con, query(k(1), RANGES)) == {}


def test_the_public_table_is_recoded_like_the_source(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("INSERT INTO voters SELECT zip, sex FROM visits")
    con.execute("INSERT INTO voters VALUES ('83999', NULL), ('84000', NULL), ('82000', 'M')")
    assert zips(con, query(K_MAP)) == {"81***": 3, "83***": 2}
    # 84 and the men of 82 are in the public table only.
    assert zips(con, query(PRESENT)) == {}
    con.execute("DELETE FROM voters WHERE zip = '84000' OR sex = 'M'")
    assert zips(con, query(PRESENT)) == {"81***": 3, "82***": 2, "83***": 2}
    found = con.execute(to_sql(query(PRESENT).public_class())).fetchall()
    assert {(c["zip"], c["sex"], n) for c, n in found} == {
        ("81***", "F", 3),
        ("82***", "F", 2),
        ("83***", None, 3),
    }


def test_a_public_row_that_the_hierarchy_does_not_know_is_in_no_class(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("INSERT INTO anon.release_recoding SELECT DISTINCT 'r1', 'zip', zip, left(zip, 2) FROM visits")
    con.execute("INSERT INTO voters SELECT zip, sex FROM visits")
    made = query(PRESENT, stored_zip=True)
    assert zips(con, made) == {"81": 3, "82": 2, "83": 2}
    con.execute("INSERT INTO voters VALUES ('99999', 'F')")
    assert zips(con, made) == {}
    assert zips(con, query(K_MAP, stored_zip=True)) == {"81": 3}
    found = con.execute(to_sql(made.public_class())).fetchall()
    assert [n for c, n in found if c is None] == [1]


@pytest.mark.long
def test_a_public_text_that_is_no_value_of_the_type_is_not_null(con: duckdb.DuckDBPyConnection) -> None:
    """The value NULL has a class in the release; a text that cannot be read must not pass for it."""
    con.execute(
        "CREATE OR REPLACE TABLE visits AS SELECT * REPLACE (NULL::INTEGER AS sex) FROM visits WHERE zip < '82'"
    )
    con.execute("INSERT INTO voters SELECT zip, sex FROM visits")
    made = query(PRESENT)
    sexes = replace(made.policy.attributes[1], type="INTEGER", published_type="INTEGER")
    attributes = (made.policy.attributes[0], sexes, made.policy.attributes[2])
    policy = replace(made.policy, attributes=attributes)
    made = replace(made, policy=policy, recodings=(made.recodings[0], Recoding(sexes, 0)))
    assert zips(con, made) == {"81***": 3}
    con.execute("INSERT INTO voters VALUES ('81100', 'F')")
    assert zips(con, made) == {}


def test_everything_suppressed_has_one_class_in_the_public_table_too(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("INSERT INTO voters VALUES ('1', 'M')")
    made = query(PRESENT, zip_level=2)
    made = replace(made, recodings=(made.recodings[0], replace(made.recodings[1], level=1)))
    assert zips(con, made) == {"*": 7}
    assert con.execute(to_sql(made.public_class())).fetchall() == [({"zip": "*", "sex": "*"}, 1)]


def test_the_report_is_about_what_is_released(con: duckdb.DuckDBPyConnection) -> None:
    con.executemany("INSERT INTO anon.release_taxonomy VALUES ('r1', 'disease', ?, 1, ?)", DISEASES)
    made = query(k(2), PERSONAL, DISTINCT_2)
    assert con.execute(to_sql(made.report())).fetchall() == [(0, 2.0, 0), (1, 1.0, 0), (2, 2.0, 0)]
    assert con.execute(to_sql(made.report([1]))).fetchall() == [(1, 1.0, 0)]
    report = made.report([1])
    con.execute(secure_view(QualifiedName(("main", "report")), report.named_selects, to_sql(report)))
    assert con.execute("FROM report").fetchall() == [(1, 1.0, 0)]


def test_the_report_with_rounds(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("INSERT INTO voters SELECT zip, sex FROM visits")
    made = query(k(3), K_MAP)
    assert con.execute(to_sql(made.report())).fetchall() == [(0, 3.0, 0), (1, None, 0)]


@pytest.mark.long
def test_no_value_stands_in_the_text(con: duckdb.DuckDBPyConnection) -> None:
    con.executemany("INSERT INTO anon.release_taxonomy VALUES ('r1', 'disease', ?, 1, ?)", DISEASES)
    con.execute("INSERT INTO anon.release_value_range VALUES ('r1', 4, 'cold', 0.3, NULL)")
    made = query(k(2), PERSONAL, K_MAP, FAR, RANGES, entity=True)
    for text in map(to_sql, (made.select(), made.equivalence_class(), made.report(), made.public_class())):
        tree = sqlglot.parse_one(text, dialect="duckdb")
        constants = {literal.name for literal in tree.find_all(exp.Literal) if literal.is_string}
        assert constants <= {"r1", "zip", "sex", "disease", "*"}
        con.execute("EXPLAIN " + text)


def test_without_a_public_table_there_is_no_answer() -> None:
    with pytest.raises(InternalError, match="public table"):
        replace(query(K_MAP), public=None).select()


def test_rows_without_a_label_or_a_class_that_was_found_before_are_withheld(con: duckdb.DuckDBPyConnection) -> None:
    made = query(k(2))
    tables = {index: f"labels_{index}" for index in made.labels()}
    for index, labels in made.labels().items():
        con.execute(f"CREATE TABLE {tables[index]} AS {to_sql(labels)}")
    classes = replace(made, precomputed=Precomputed(tables)).publishable_classes()
    con.execute(f"CREATE TABLE classes AS {to_sql(classes)}")
    found_before = replace(made, precomputed=Precomputed(tables, "classes"))

    def released() -> dict[str, int]:
        return dict(Counter(row[0] for row in con.execute(to_sql(found_before.select())).fetchall()))

    assert released() == zips(con, made) == {"81***": 3, "82***": 2, "83***": 2}
    # A class that is there since then, and one with a value that is.
    con.execute("INSERT INTO visits SELECT '83100', 'F', 'flu', NULL, 7 FROM range(9)")
    con.execute("INSERT INTO visits SELECT '81999', 'F', 'flu', NULL, 8 FROM range(9)")
    assert released() == {"81***": 3, "82***": 2, "83***": 2}
    assert zips(con, made) == {"81***": 12, "82***": 2, "83***": 11}
    con.execute("DELETE FROM classes")
    assert released() == {}
