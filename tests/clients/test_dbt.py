"""Models of dbt that are releases, and dbt's tests of them, in projects that dbt runs (make test-clients)."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon
from tests.oracles.models import distinct_l_diversity, equal_t_closeness, k_anonymity, recursive_l_diversity
from tests.oracles.models.support import Table
from tests.support.dbt_project import Project, page_files

SAMPLE = Path(__file__).parent / "dbt_project"
PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "dbt.md"
# Configs of models on the columns age, zip and disease, and words of the error that each is refused with.
REQUIRED = "'require': 'k_anonymity(k => 2)'}"
REFUSED = {
    "misspelt": (f"policy={{'quasi_identifier': ['age'], {REQUIRED}", "did you mean quasi_identifiers"),
    "roles": (f"policy={{'quasi_identifiers': 'age', 'sensitive': 'AGE', {REQUIRED}", "has two roles"),
    "nothing": ("policy={'quasi_identifiers': ['age']}", "nothing is required"),
    "beside": (f"entity='zip', policy={{'quasi_identifiers': 'age', {REQUIRED}", "entity belongs inside policy"),
    "nearly": (f"methods='mondrian', policy={{'quasi_identifiers': 'age', {REQUIRED}", "did you mean method"),
    "chosen": (
        f"choose_method='yes', policy={{'quasi_identifiers': 'age', {REQUIRED}",
        "must be true or false, not 'yes'",
    ),
    "both": (
        f"choose_method=true, method='mondrian', policy={{'quasi_identifiers': 'age', {REQUIRED}",
        "the config also names a method",
    ),
    "exported": (f"export=true, policy={{'quasi_identifiers': 'age', {REQUIRED}", "export must be the path"),
    "unmapped": (
        "policy={'quasi_identifiers': 'age', 'hierarchies': ['PREFIXES (3)'], 'require': 'k'}",
        "must map columns",
    ),
    "absent": (f"policy={{'quasi_identifiers': ['agee'], {REQUIRED}", "agee"),
    "none": ("method='mondrian'", "needs a policy in its config"),
    "unknown": ("policy='nowhere'", "nowhere"),
    "clauses": (f"policy={{'quasi_identifiers': {{'age': ', zip SENSITIVE'}}, {REQUIRED}", "one column"),
    "script": ("policy={'quasi_identifiers': 'age', 'require': 'k_anonymity(k => 2); DROP TABLE x'}", "one statement"),
    "stray": (f"policy={{'quasi_identifiers': 'age', 'hierarchies': {{'zip': 'PREFIXES (3)'}}, {REQUIRED}", "no role"),
    "several": (
        f"policy={{'quasi_identifiers': 'age', 'sensitive': 'disease', {REQUIRED}, method='anatomy(l => 2)'",
        "several tables",
    ),
    "granted": ("policy='clinic', grants={'select': ['me']}", "DuckDB has none"),
    "indexed": ("policy='clinic', indexes=[{'columns': ['age']}]", "a release has none"),
    "elsewhere": ("policy='clinic', database='other'", "where their catalog is"),
}


def people() -> list[tuple[Any, ...]]:
    """Age, postal code, sex and disease of people, some of them not known."""
    draw = random.Random(5)
    ages, codes, diseases = [None, *range(20, 30)], ["81123", "81147", "81201", None], ["Flu", "Cold", "Asthma", None]
    return [(draw.choice(ages), draw.choice(codes), draw.choice("FM"), draw.choice(diseases)) for _ in range(160)]


def table(rows: Sequence[tuple[Any, ...]], values: Sequence[Any] | None = None) -> Table:
    """The classes of rows by all of their columns but the last, which is sensitive unless `values` are given."""
    classes = defaultdict(list)
    for place, row in enumerate(rows):
        classes[row[:-1]].append(place)
    return Table(classes=classes, values=values or [row[-1] for row in rows])


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The sample project with its seeds and a policy in its database; no model has been run."""
    made = Project(tmp_path_factory.mktemp("clinic"))
    made.write({path.relative_to(SAMPLE).as_posix(): path.read_text(encoding="utf-8") for path in SAMPLE.rglob("*.*")})
    rows = [("age", "zip", "sex", "disease"), *people()]
    made.write({"seeds/people.csv": "".join(",".join(str(v or "") for v in row) + "\n" for row in rows)})
    head, select = "{{ config(materialized='anonymized', ", "SELECT age, zip, disease FROM {{ ref('people') }}"
    made.write(
        {f"models/refused/{name}.sql": head + config + ") }}\n" + select for name, (config, _) in REFUSED.items()}
    )
    made.install()
    assert {status for status, _, _ in made.run("seed").values()} == {"success"}
    with sqlanon.connect(made.path) as connection:
        connection.sql("""
            CREATE HIERARCHY tens AS INTERVALS (10);
            CREATE POLICY clinic ON people (age QUASI IDENTIFIER USING tens, disease SENSITIVE)
            REQUIRE k_anonymity(k => 9)
        """)
    return made


def published(project: Project, name: str = "released") -> list[tuple[Any, ...]]:
    with duckdb.connect(project.path) as connection:
        return connection.table(name).order("ALL").fetchall()


def test_models_are_releases(project: Project) -> None:
    done = project.run("run")
    refused = {name: message for name, (status, message, _) in done.items() if status == "error"}
    assert set(refused) == {*REFUSED, "contracted"}
    for name, (_, words) in REFUSED.items():
        assert words in refused[name], refused[name]
        assert "Traceback" not in refused[name]
    assert "cannot enforce a contract" in refused["contracted"]
    rows = published(project)
    assert len(rows) >= 144
    assert k_anonymity.violating(table(rows), k=4) == set()
    assert distinct_l_diversity.violating(table(rows), l=2) == set()
    with sqlanon.connect(project.path) as connection:
        assert connection.table("released").columns == ['sel"ect', "it's a.b", "order", "é中文"]
        assert all(row[-1] for row in connection.sql("CHECK released").fetchall())
        assert connection.sql(f"CHECK '{project.folder}/published'").fetchall()
        # No rows of the source are left beside it, nor anything of the models that were refused.
        tables = connection.sql("SELECT table_name FROM duckdb_tables() WHERE schema_name <> 'anon'").fetchall()
        assert {name for (name,) in tables} == {"people", "sexes", "hostile", "collated", "released"}
        policies = connection.sql("SELECT policy FROM anon.policy").fetchall()
        assert {name for (name,) in policies} == {"clinic", "dbt.main.released"}
        comments = connection.sql("SELECT comment FROM duckdb_columns() WHERE table_name = 'released'").fetchall()
        assert ("What they had.",) in comments


def test_tests_count_the_classes_that_violate(project: Project) -> None:
    done = project.run("test", "--store-failures")
    source = table(people())
    by_two = table([(age, code, disease) for age, code, _, disease in people()])
    by_sex = table([(sex, None) for _, _, sex, _ in people()], [(disease, age) for age, _, _, disease in people()])
    assert {name: failures for name, (_, _, failures) in done.items() if failures is not None} == {
        "k_of_source": len(k_anonymity.violating(source, k=4)),
        "k_of_women": len(k_anonymity.violating(table([row for row in people() if row[2] == "F"]), k=4)),
        "rows_of_source": sum(len(source.classes[of]) for of in k_anonymity.violating(source, k=4)),
        "l_of_source": len(distinct_l_diversity.violating(by_two, l=3)),
        "recursive_of_source": len(recursive_l_diversity.violating(by_sex, l=2, c=Fraction(1, 4))),
        "t_of_source": len(equal_t_closeness.violating(source, t=Fraction(3, 10))),
        "k_of_release": 0,
        "l_of_release": 0,
    }
    assert "no test for eqal_t_closeness" in done["misspelt_distance"][1]
    assert "t = 1.5 is outside 0.0 to 1.0" in done["out_of_bounds"][1]
    assert "needs sensitive" in done["without_values"][1]
    assert "must be a whole number, not many" in done["without_number"][1]
    # Under its collation the two names would be one class.
    assert done["with_collation"][0] == "error"
    with duckdb.connect(project.path) as connection:
        classes = connection.table("main_dbt_test__audit.k_of_source")
        assert classes.columns == ['sel"ect', "it's a.b", "order", "class_size"]
        sizes = {tuple(row[:-1]): row[-1] for row in classes.fetchall()}
    assert sizes == {of: len(source.classes[of]) for of in k_anonymity.violating(source, k=4)}
    assert any(None in of for of in sizes)


def test_a_release_stays_or_is_replaced_as_a_whole(project: Project) -> None:
    former = published(project)
    done = project.run("run", "--select", "released+", "by_policy", K="4000", BY_POLICY="anonymized")
    assert "PrivacyViolation: k_anonymity(k => 4000)" in done["released"][1]
    assert done["behind"][0] == "skipped"
    assert "is a view that is not a release" in done["by_policy"][1]
    assert published(project) == former
    with sqlanon.connect(project.path) as connection:
        assert {row[3] for row in connection.sql("CHECK released").fetchall()} == {4.0, 2.0}
        connection.sql("INSERT INTO people SELECT 77, '99999', 'M', ['Flu', 'Cold'][1 + i % 2] FROM range(10) AS t(i)")
    done = project.run("run", "--full-refresh", "--select", "hostile+", "by_policy", BY_POLICY="anonymized")
    assert {status for status, _, _ in done.values()} == {"success"}
    rows = published(project)
    assert len(rows) > len(former)
    assert k_anonymity.violating(table(rows), k=4) == set()
    rows = published(project, "by_policy")
    assert k_anonymity.violating(table(rows), k=9) == set()
    assert "77" not in {age for age, _ in rows}
    # A trial without rows replaces no export.
    certificate = project.folder / "by_policy" / "certificate.json"
    exported = certificate.read_bytes()
    assert project.run("run", "--empty", "--select", "by_policy", BY_POLICY="anonymized")["by_policy"][0] == "success"
    assert published(project, "by_policy") == []
    assert certificate.read_bytes() == exported


def test_a_model_keeps_its_method_until_its_config_says_otherwise(project: Project) -> None:
    def compared(rows: int, **variables: str) -> set[Any]:
        """The moments of the comparison behind a release of other rows."""
        with sqlanon.connect(project.path) as connection:
            connection.sql(f"INSERT INTO people SELECT 30 + i % 7, '81147', 'F', 'Flu' FROM range({rows}) AS t(i)")
        done = project.run("run", "--full-refresh", "--select", "by_policy", BY_POLICY="anonymized", **variables)
        assert done["by_policy"][0] == "success", done
        with duckdb.connect(project.path) as connection:
            moments = connection.execute(
                "SELECT compared_at FROM anon.release_comparison JOIN anon.release USING (release_id) "
                "WHERE object_name = 'by_policy'"
            ).fetchall()
        assert len(moments) == 3
        return set(moments)

    first = compared(20)
    assert compared(40) == first
    assert compared(0, CHOOSE="yes").isdisjoint(first)


def test_macros_of_another_version_and_files_of_others_are_refused(project: Project, tmp_path: Path) -> None:
    path = project.folder / "macros" / "sqlanon" / "anonymized.sql"
    path.write_text(path.read_text(encoding="utf-8").replace(sqlanon.__version__, "0.0.9"), encoding="utf-8")
    assert "run `sqlanon dbt install`" in project.run("run", "--select", "released")["released"][1]
    project.install()
    path.write_text("{# mine #}", encoding="utf-8")
    with pytest.raises(sqlanon.UserError, match="has not written"):
        project.install()
    assert path.read_text(encoding="utf-8") == "{# mine #}"
    with pytest.raises(sqlanon.UserError, match=r"no dbt_project\.yml"):
        Project(tmp_path).install()


def test_what_the_page_shows(tmp_path: Path) -> None:
    project = Project(tmp_path)
    files = page_files(PAGE)
    assert len(files) == 7
    project.write(files)
    project.install()
    done = project.run("build")
    assert {name: status for name, (status, _, _) in done.items() if status not in ("success", "pass")} == {
        "k_anonymous_visits_2__age__zip": "warn"
    }
    assert (tmp_path / "published" / "certificate.json").is_file()
    with sqlanon.connect(project.path) as connection:
        assert all(row[-1] for row in connection.sql("CHECK visits_anatomy").fetchall())
