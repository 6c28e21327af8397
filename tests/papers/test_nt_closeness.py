"""The example of the (n,t)-closeness paper (Li, Li and Venkatasubramanian 2010), and one where merging breaks it.

Through the naive version, through the model's own SQL, and from a policy to a release.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import pytest

import sqlanon
from sqlanon import Connection, PolicyError, connect
from sqlanon.sql.questions.load import load_question
from tests.oracles.models.equal_nt_closeness import achieved, nearest
from tests.oracles.models.support import Class, Table
from tests.support.database import one_thread, template
from tests.support.models.drawn import Drawn, answer, bound

# Table 5 of the paper: zip, age, disease and the number of such patients.
PATIENTS = (
    *(("47673", 29, "Cancer", 100), ("47674", 21, "Flu", 100), ("47605", 25, "Cancer", 200), ("47602", 23, "Flu", 200)),
    *(("47905", 43, "Cancer", 100), ("47904", 48, "Flu", 900), ("47906", 47, "Cancer", 100), ("47907", 41, "Flu", 900)),
    *(("47603", 34, "Cancer", 100), ("47605", 30, "Flu", 100), ("47604", 36, "Cancer", 100), ("47607", 32, "Flu", 100)),
)
SETUP = f"""
    CREATE TABLE patients AS SELECT zip, age, disease FROM (VALUES {", ".join(map(str, PATIENTS))})
        AS t(zip, age, disease, n), range(n);
    CREATE HIERARCHY zips AS PREFIXES (4, 3, 2, 1);
    CREATE HIERARCHY ages AS LEVELS (
        SELECT DISTINCT age, age // 10 * 10 || 's', CASE WHEN age < 40 THEN '20 to 39' ELSE '40s' END FROM patients);
"""
CLASSES = ("476, 20s", "476, 30s", "479, 40s")
# The least distance of each class from a broader class of so many rows.
NEAREST = {
    400: (Fraction(0), Fraction(0), Fraction(0)),
    1000: (Fraction(0), Fraction(0), Fraction(0)),
    2000: (Fraction(4, 15), Fraction(4, 15), Fraction(0)),
    3000: (Fraction(4, 15), Fraction(4, 15), Fraction(2, 15)),
}


def _rows(counts: dict[Class, tuple[int, int]]) -> Table:
    """Classes with so many rows of Cancer, and so many of Flu."""
    values: list[Hashable] = [value for a, b in counts.values() for value in [*"a" * a, *"b" * b]]
    ends = [0, *accumulate(a + b for a, b in counts.values())]
    return Table({of: range(*bounds) for of, bounds in zip(counts, pairwise(ends), strict=True)}, values)


def released() -> Table:
    table = _rows(dict(enumerate(((300, 300), (200, 200), (200, 1800)))))
    young, old = {"476 20 to 39", "47 20 to 39", "* 20 to 39"}, {"479 40s", "479 *"}
    broader: dict[Class, set[Hashable]] = {
        0: {"476 20s", *young, "476 *", "47 *", "* *"},
        1: {"476 30s", *young, "476 *", "47 *", "* *"},
        2: {*old, "47 *", "* *"},
    }
    return Table(table.classes, table.values, broader=broader)


@pytest.fixture(scope="module")
def connection() -> Iterator[Any]:
    with one_thread() as opened:
        yield opened


@pytest.fixture(scope="module")
def con() -> Connection:
    return template(SETUP)


@pytest.mark.parametrize("n", NEAREST)
def test_the_least_distances_of_the_paper(connection: Any, n: int) -> None:
    table = released()
    assert tuple(nearest(table, of, n) for of in table.classes) == NEAREST[n]
    for t in (Fraction(0), Fraction(2, 15), Fraction(4, 15)):
        drawn = Drawn(bound(load_question("equal_nt_closeness"), {"n": n, "t": _above(t)}), {}, table, structs=False)
        found = answer(connection, drawn)
        assert found.achieved == pytest.approx(float(max(NEAREST[n])), abs=1e-15)
        assert set(found.violations) == {of for of, least in enumerate(NEAREST[n]) if least > t}


# The distance of each class from the broader class by these labels: all of its people, or those of its area or age.
WITHIN = {
    "age LEVEL 2": (Fraction(0), Fraction(0), Fraction(0)),
    "age LEVEL 1": (Fraction(0), Fraction(0), Fraction(0)),
    "zip LEVEL 2": (Fraction(0), Fraction(0), Fraction(0)),
    "zip LEVEL 4": (Fraction(4, 15), Fraction(4, 15), Fraction(2, 15)),
    "zip LEVEL 4, age LEVEL 2": (Fraction(0), Fraction(0), Fraction(0)),
}
AREAS = (
    "CREATE POLICY area ON patients (zip QUASI IDENTIFIER USING zips MIN LEVEL {zip} MAX LEVEL {zip}, "
    "age QUASI IDENTIFIER USING ages MIN LEVEL {age} MAX LEVEL {age}, disease SENSITIVE) REQUIRE {required}"
)


@pytest.mark.parametrize("within", WITHIN)
def test_the_distances_of_the_paper_within_one_broader_class(within: str, tmp_path: Path) -> None:
    con, farthest = template(SETUP), float(max(WITHIN[within]))
    con.execute(AREAS.format(zip=2, age=1, required=f"t_closeness(t => 1, within => ({within}))"))
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY area METHOD generalization")
    ((_, name, _, *figures),) = con.execute("CHECK r").fetchall()
    assert (name, figures) == (f"equal_t_closeness within ({within})", [1, pytest.approx(farthest), True])
    con.execute(f"EXPORT r TO '{tmp_path}/out/' (FORMAT csv)")
    found = [row for row in con.execute(f"CHECK '{tmp_path}/out/'").fetchall() if "within" in row[1]]
    assert [(row[4], row[-1]) for row in found] == [(figures[1], "recomputed from the files")]
    (entry,) = json.loads((tmp_path / "out" / "certificate.json").read_text())["requirements"]
    assert entry["arguments"]["within"] == within.split(", ")
    assert entry["meaning"].endswith(
        f"In place of the whole release stand the rows with the same labels of ({within})."
    )


def test_a_class_by_hand_within_its_area() -> None:
    """All 100 people of 47673 have cancer, and none of the 100 of 47674: half of 4767* has it, so each is 1/2 away."""
    con = template(SETUP)
    con.execute(AREAS.format(zip=0, age=1, required="t_closeness(t => 1, within => (zip LEVEL 1))"))
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY area METHOD generalization")
    # In 4760*, too, 400 of 800 have cancer, and in 4790* 200 of 2,000.
    areas = {"47673": (1, 1 / 2), "47674": (0, 1 / 2), "47602": (0, 1 / 2), "47905": (1, 1 / 10), "47904": (0, 1 / 10)}
    farthest = max(abs(own - area) for own, area in areas.values())
    assert [row[4] for row in con.execute("CHECK r").fetchall()] == [pytest.approx(farthest)] == [pytest.approx(9 / 10)]


@pytest.mark.parametrize(
    ("within", "problem"),
    [
        ("(zip LEVEL 5)", "names level 5 of zip, which has labels up to level 4"),
        ("(zip LEVEL 1)", "names level 1 of zip, whose MIN LEVEL is 2"),
        ("(street)", "street is not a quasi-identifier"),
        ("(disease LEVEL 1)", "disease is not a quasi-identifier"),
        ("(zip LEVEL 2, ZIP)", "within names ZIP twice"),
        ("(zip LEVEL 2), on => (zip)", "compares with the classes of broader labels of all quasi-identifiers"),
        ("3", "3 is not a quasi-identifier"),
    ],
)
def test_what_is_no_broader_class_is_refused(within: str, problem: str) -> None:
    con = template(SETUP)
    with pytest.raises(PolicyError, match=problem):
        con.execute(
            f"{AREAS.format(zip=2, age=1, required=f't_closeness(t => 1, within => {within})')};"
            "CREATE ANONYMIZED TABLE r AS POLICY area"
        )


def test_models_that_compare_with_nothing_have_no_broader_class() -> None:
    with pytest.raises(PolicyError, match="compares no class with the release"):
        template(SETUP).execute(AREAS.format(zip=2, age=1, required="l_diversity(l => 2, within => (zip))"))


def test_a_release_within_a_broader_class_is_no_live_view() -> None:
    con = template(SETUP)
    con.execute(AREAS.format(zip=2, age=1, required="t_closeness(t => 1, within => (zip LEVEL 2))"))
    for made, problem in (
        ("VIEW r AS POLICY area", "a live view cannot check"),
        ("TABLE r AS POLICY area METHOD anatomy(l => 2)", "anatomy"),
        ("TABLE r AS POLICY area METHOD generalization(recoding => 'local')", "generalization"),
    ):
        with pytest.raises(PolicyError, match=problem):
            con.execute(f"CREATE ANONYMIZED {made}")


def test_a_column_may_have_the_name_of_a_level() -> None:
    with connect() as own:
        own.execute(
            """CREATE TABLE t AS SELECT i % 2 AS "a LEVEL 1", i % 3 AS b, i % 4 AS s FROM range(24) AS t(i);
            CREATE POLICY p ON t ("a LEVEL 1" QUASI IDENTIFIER, b QUASI IDENTIFIER, s SENSITIVE)
            REQUIRE t_closeness(t => 0.1, within => ("a LEVEL 1")),
                t_closeness(t => 0.1, distance => 'jensen_shannon', within => (B, "a level 1" LEVEL 0));
            CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization"""
        )
        # All evens have 0 or 2, whatever their b.
        assert [row[4] for row in own.execute("CHECK r").fetchall()] == [pytest.approx(0, abs=1e-12)] * 2
    assert sqlanon.TCloseness(t=1, within=["zip LEVEL 2", "age"]).sql() == (
        "t_closeness(t => 1, within => ('zip LEVEL 2', 'age'))"
    )


def _above(t: Fraction) -> Decimal:
    """The fraction, or a little more where its digits do not end."""
    return Decimal(t.numerator) / t.denominator + (Decimal("1e-20") if t else 0)


def test_the_distances_from_all_rows() -> None:
    table = _rows(dict(enumerate(((300, 300), (200, 200), (200, 1800)))))
    table = Table(table.classes, table.values, broader={of: {"*"} for of in table.classes})
    assert [nearest(table, of, 1) for of in range(3)] == [Fraction(4, 15), Fraction(4, 15), Fraction(2, 15)]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("n", [1000, 2000])
def test_the_release_of_the_paper(con: Connection, n: int) -> None:
    """It is (1000, 0.1)-close, and not 0.1-close: with 2000 rows the young are too many among the sick."""
    con.execute(
        "CREATE OR REPLACE POLICY p ON patients (zip QUASI IDENTIFIER USING zips MIN LEVEL 2 MAX LEVEL 2, age QUASI "
        f"IDENTIFIER USING ages MIN LEVEL 1 MAX LEVEL 1, disease SENSITIVE) REQUIRE nt_closeness(n => {n}, t => 0.3)"
    )
    con.execute("CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
    ((*_, achieved_by_release, satisfied),) = con.execute("CHECK r").fetchall()
    assert (achieved_by_release, satisfied) == (pytest.approx(float(max(NEAREST[n]))), True)
    # What is kept in the catalog beside the release: the labels above, as numbers, of the labels that are shown.
    kept = con.duckdb.execute("SELECT attribute, value, level, label FROM anon.release_taxonomy").fetchall()
    assert {(attribute, value) for attribute, value, *_ in kept} == {
        *(("zip", "476**"), ("zip", "479**"), ("age", "20s"), ("age", "30s"), ("age", "40s"))
    }
    above = {(value, level): node for _, value, level, node in kept}
    assert above["20s", 2] == above["30s", 2] != above["40s", 2]


def test_a_column_without_a_hierarchy_is_shown_or_hidden(con: Connection) -> None:
    """Merging classes breaks it: as it is all classes are like a broader one, and with A hidden one is not."""
    counts = (("a1", "b1", "+", 10), ("a1", "b2", "+", 90), ("a2", "b1", "-", 10), ("a2", "b2", "-", 990))
    rows = f"(SELECT a, b, s FROM (VALUES {', '.join(map(str, counts))}) AS t(a, b, s, n), range(n))"
    for columns, figure in (("a, b", Fraction(0)), ("b", Fraction(9, 22)), ("a", Fraction(0))):
        ((*_, reached, satisfied),) = con.execute(
            f"CHECK {rows} ({columns}) SENSITIVE s REQUIRE nt_closeness(n => 100, t => 0.25)"
        ).fetchall()
        assert (reached, satisfied) == (pytest.approx(float(figure), abs=1e-15), figure <= Fraction(1, 4))
        quoted = ", ".join(f"'{name}'" for name in columns.split(", "))
        text = rows.replace("'", "''")
        macro = f"FROM anon.nt_closeness('{text}', [{quoted}], 's', n => 100, t => 0.25)"
        assert con.duckdb.execute(macro).fetchall()[0][0] == pytest.approx(float(figure), abs=1e-15)


def test_the_one_broader_class_of_that_example() -> None:
    table = _rows({"b1": (10, 10), "b2": (90, 990)})
    table = Table(table.classes, table.values, broader={"b1": {"b1", "*"}, "b2": {"b2", "*"}})
    assert achieved(table, 100) == Fraction(9, 22)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (
            "CHECK patients (zip, age) SENSITIVE disease REQUIRE nt_closeness(n => 3001, t => 0.1)",
            "are 3000 rows in",
        ),
        ("CREATE ANONYMIZED VIEW v AS POLICY p METHOD generalization", "a live view cannot check"),
        ("CREATE ANONYMIZED TABLE v AS POLICY p METHOD mondrian", "have no one level"),
        ("CREATE ANONYMIZED TABLE v AS POLICY p METHOD anatomy(l => 2)", "have no one level"),
        ("CREATE ANONYMIZED TABLE v AS POLICY p METHOD generalization(recoding => 'local')", "labels of several"),
        (
            "CHECK patients (zip, age) SENSITIVE disease REQUIRE nt_closeness(n => 10, t => 0.1, on => (zip))",
            "takes no columns to be on",
        ),
    ],
)
def test_what_has_no_broader_classes_is_refused(con: Connection, asked: str, said: str) -> None:
    con.execute(
        "CREATE OR REPLACE POLICY p ON patients (zip QUASI IDENTIFIER USING zips, age QUASI IDENTIFIER USING ages, "
        "disease SENSITIVE) REQUIRE nt_closeness(n => 1000, t => 0.1)"
    )
    with pytest.raises(PolicyError, match=said):
        con.execute(asked)


def test_too_many_vectors_of_labels_are_refused(con: Connection) -> None:
    columns = [f"q{i}" for i in range(14)]
    rows = f"(SELECT {', '.join(f'i % 2 AS {name}' for name in columns)}, i AS s FROM range(4) AS t(i))"
    with pytest.raises(PolicyError, match="16384 vectors of broader labels"):
        con.execute(f"CHECK {rows} ({', '.join(columns)}) SENSITIVE s REQUIRE nt_closeness(n => 1, t => 1)")
    assert con.duckdb.execute("SELECT 1").fetchall() == [(1,)]


def test_rows_that_are_withheld_are_in_no_broader_class(con: Connection) -> None:
    """The labels of a class that violates are not kept beside the release, either."""
    con.execute("CREATE OR REPLACE TABLE few AS SELECT i // 10 AS q, i % 2 AS s FROM range(40) AS t(i)")
    con.duckdb.execute("INSERT INTO few SELECT 9, 7 FROM range(2)")
    con.execute("CREATE OR REPLACE HIERARCHY twos AS INTERVALS (2, 4)")
    con.execute(
        "CREATE OR REPLACE POLICY few ON few (q QUASI IDENTIFIER USING twos MAX LEVEL 0, s SENSITIVE) "
        "REQUIRE nt_closeness(n => 10, t => 0.1), k_anonymity(3)"
    )
    con.execute("CREATE OR REPLACE ANONYMIZED TABLE few_r AS POLICY few METHOD generalization(suppression => 0.1)")
    assert con.duckdb.execute("SELECT count(*), count(DISTINCT q) FROM few_r").fetchall() == [(40, 4)]
    kept = "SELECT DISTINCT value FROM anon.release_taxonomy WHERE attribute = 'q' ORDER BY value"
    assert con.duckdb.execute(kept).fetchall() == [("0",), ("1",), ("2",), ("3",)]
    assert con.execute("CHECK few_r").fetchall()[0][-1] is True


@pytest.mark.long
def test_a_frontier_and_a_refresh_take_it(con: Connection) -> None:
    con.execute(
        "CREATE OR REPLACE POLICY f ON patients (zip QUASI IDENTIFIER USING zips, age QUASI IDENTIFIER USING ages, "
        "disease SENSITIVE) REQUIRE k_anonymity(10), nt_closeness(n => 1000, t => 0.1)"
    )
    candidates = con.execute("FRONTIER f ON POLICY f METHODS (generalization) SWEEP n IN (500, 2000) MEASURE p_loss")
    made = [row for row in candidates.fetchall() if "generalization" in row[1]]
    assert len(made) == 2
    con.execute("CREATE OR REPLACE ANONYMIZED TABLE fr AS POLICY f METHOD generalization")
    before = con.execute("CHECK fr").fetchall()
    con.execute("REFRESH ANONYMIZED TABLE fr")
    assert con.execute("CHECK fr").fetchall() == before
    assert all(row[-1] for row in before)
