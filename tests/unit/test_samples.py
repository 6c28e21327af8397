"""Samples of a population in a policy: its clauses, the defaults of figures, and requirements of estimated risk."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest

import sqlanon
from sqlanon import Connection, PolicyError, PrivacyViolation
from sqlanon.catalog import policies
from sqlanon.clients.session import StatementEvent
from sqlanon.domain.policy import Sample
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.errors import DataError, StatementError
from tests.support.database import template

# Classes of 1, 2 and 3 rows with the weights 45.5, 100 and 108, whose risks sdcMicro's tests print.
SETUP = """
CREATE TABLE drawn AS SELECT * FROM (VALUES (1, 45.5), (2, 50), (2, 50), (3, 36), (3, 36), (3, 36)) t(a, w);
CREATE HIERARCHY steps AS INTERVALS (2, 4);
"""
POLICY = "CREATE OR REPLACE POLICY p ON drawn (a QUASI IDENTIFIER USING steps, w INSENSITIVE SAMPLING WEIGHT)"
RISKS = (0.085791, 0.018779, 0.013553)


@pytest.fixture
def con() -> Connection:
    return template(SETUP)


def figures(con: Connection, calls: str, release: str = "r") -> dict[str, float | None]:
    rows = con.execute(f"MEASURE {release} WITH FIGURES ({calls})").fetchall()
    return {figure: value for _, figure, _, value in rows}


@pytest.mark.parametrize(
    ("clause", "sample"),
    [
        ("SAMPLE FRACTION 0.02", Sample(fraction=Decimal("0.02"))),
        ("SAMPLE FRACTION 2 %", Sample(fraction=Decimal("0.02"))),
        ("SAMPLE FRACTION 1", Sample(fraction=Decimal(1))),
        ("SAMPLE OF 1_000_000", Sample(people=1_000_000)),
        ("", None),
    ],
)
def test_a_policy_keeps_its_sample_and_its_weights(con: Connection, clause: str, sample: Sample | None) -> None:
    con.execute(f"{POLICY} {clause} REQUIRE k_anonymity(k => 1)")
    policy = policies.load(DuckDBEngine(con.duckdb), "p")
    assert policy.sample == sample
    assert [a.name for a in policy.attributes if a.sampling_weight] == ["w"]
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
    parts = {(part, name): detail for part, name, detail in con.execute("DESCRIBE POLICY p").fetchall()}
    assert parts["column", "w"] == "INSENSITIVE SAMPLING WEIGHT"
    assert (("sample", None) in parts) is (sample is not None)
    statement = parts["statement", None]
    con.execute("DROP POLICY p")
    con.execute(statement)
    assert policies.load(DuckDBEngine(con.duckdb), "p") == policy
    made = sqlanon.Policy(
        "p",
        source="drawn",
        quasi_identifiers={"a": "steps"},
        insensitive={"w": sqlanon.SamplingWeight()},
        sample=sample,
        require=sqlanon.KAnonymity(k=1),
    )
    assert made.sql() == statement
    names = {name: getattr(sqlanon, name) for name in sqlanon.__all__}
    assert eval(repr(made), names).sql() == statement  # noqa: S307 - the call that makes it


@pytest.mark.parametrize(
    ("columns", "clause", "error", "words"),
    [
        ("a QUASI IDENTIFIER SAMPLING WEIGHT", "", StatementError, "does not go with QUASI IDENTIFIER"),
        ("a QUASI IDENTIFIER, w SENSITIVE SAMPLING WEIGHT", "", StatementError, "does not go with SENSITIVE"),
        ("a QUASI IDENTIFIER, w IDENTIFIER SAMPLING WEIGHT", "", StatementError, "does not go with IDENTIFIER"),
        (
            "a INSENSITIVE SAMPLING WEIGHT, w INSENSITIVE SAMPLING WEIGHT, b QUASI IDENTIFIER",
            "",
            PolicyError,
            "each a SAMPLING WEIGHT",
        ),
        ("a QUASI IDENTIFIER", "SAMPLE FRACTION 0", PolicyError, "the sampling fraction is 0"),
        ("a QUASI IDENTIFIER", "SAMPLE FRACTION 1.01", PolicyError, "the sampling fraction is 1.01"),
        ("a QUASI IDENTIFIER", "SAMPLE FRACTION -0.1", PolicyError, "the sampling fraction is -0.1"),
        ("a QUASI IDENTIFIER", "SAMPLE OF 0", PolicyError, "a sample of 0 people"),
        ("a QUASI IDENTIFIER", "SAMPLE OF 0.5", StatementError, "whole number"),
        ("a QUASI IDENTIFIER", "SAMPLE 0.5", StatementError, "expected FRACTION or OF"),
        ("a QUASI IDENTIFIER", "AGAINST drawn SAMPLE OF 9", StatementError, "SAMPLE comes too late"),
    ],
)
def test_clauses_that_make_no_sense_are_refused(
    con: Connection, columns: str, clause: str, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words) as refused:
        con.execute(f"CREATE POLICY q ON drawn ({columns}) {clause} REQUIRE k_anonymity(k => 1)")
    assert getattr(refused.value, "hint", None)


def test_rows_of_the_catalog_are_validated(con: Connection) -> None:
    con.execute(f"{POLICY} REQUIRE k_anonymity(k => 1)")
    con.duckdb.execute("UPDATE anon.policy SET sample = '{\"fraction\": 7}'")
    with pytest.raises(PolicyError, match="the sampling fraction is 7"):
        con.execute("EXPLAIN ANONYMIZED TABLE r AS POLICY p METHOD generalization")
    con.duckdb.execute("UPDATE anon.policy SET sample = 'much'")
    with pytest.raises(PolicyError, match=r"its column sample in anon\.policy cannot be read"):
        con.execute("EXPLAIN ANONYMIZED TABLE r AS POLICY p METHOD generalization")
    con.duckdb.execute("UPDATE anon.policy SET sample = NULL")
    con.duckdb.execute("UPDATE anon.policy_attribute SET sampling_weight = true")
    with pytest.raises(PolicyError, match="each a SAMPLING WEIGHT"):
        con.execute("EXPLAIN ANONYMIZED TABLE r AS POLICY p METHOD generalization")


@pytest.mark.parametrize("wrong", ["NULL", "0.99", "-3", "'nan'", "'inf'"])
def test_weights_that_are_none_are_counted_and_not_shown(con: Connection, wrong: str) -> None:
    con.execute(
        f"CREATE OR REPLACE TABLE drawn AS SELECT i AS a, CASE WHEN i < 2 THEN {wrong}::DOUBLE ELSE 7.25 END AS w "
        "FROM range(9) r(i)"
    )
    with pytest.raises(DataError, match="2 weights in w are NULL, below 1 or not finite") as refused:
        con.execute(f"{POLICY} REQUIRE k_anonymity(k => 1)")
    assert "7.25" not in str(refused.value)
    right = con.duckdb.execute("CREATE OR REPLACE TABLE drawn AS SELECT i AS a, 7.25 AS w FROM range(9) r(i)")
    assert right is not None
    con.execute(f"{POLICY} REQUIRE k_anonymity(k => 1)")
    con.duckdb.execute(f"INSERT INTO drawn VALUES (1, try_cast({wrong} AS DECIMAL(9, 2)))")
    with pytest.raises(DataError, match="1 weight in w is NULL, below 1 or not finite"):
        con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")


def test_weights_are_numbers(con: Connection) -> None:
    con.execute("ALTER TABLE drawn ALTER w TYPE VARCHAR")
    with pytest.raises(PolicyError, match="w is VARCHAR, and weights are numbers"):
        con.execute(f"{POLICY} REQUIRE k_anonymity(k => 1)")


def test_explain_names_the_weights_and_the_sample_and_remarks_on_them(con: Connection) -> None:
    con.execute(f"{POLICY} SAMPLE OF 1000 REQUIRE k_anonymity(k => 1)")
    rows = con.execute("EXPLAIN VERBOSE ANONYMIZED TABLE r AS POLICY p METHOD generalization").fetchall()
    assert any(item == "w" and detail.endswith(", the sampling weight") for _, item, detail in rows)
    assert ("bind", "sample", "SAMPLE OF 1000") in rows
    assert any(stage == "remark" and "w publishes sampling weights" in detail for stage, _, detail in rows)


def test_the_figures_take_the_sample_of_the_policy(con: Connection) -> None:
    """The fraction of 6 rows of 60 people is a tenth; a fraction in the statement precedes the policy's."""
    calls = "population_uniques, k_map_estimated(k => 5), individual_risk"
    for clause in ("SAMPLE FRACTION 0.1", "SAMPLE OF 60"):
        con.execute(f"{POLICY} {clause} REQUIRE k_anonymity(k => 1)")
        con.execute("CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
        measured = figures(con, calls)
        said = (
            "population_uniques(0.1), k_map_estimated(k => 5, sampling_fraction => 0.1), individual_risk(weights => w)"
        )
        assert measured == figures(con, said)
        assert measured["individual_risk"] == pytest.approx(RISKS[0], abs=1e-6)
        assert measured["expected_reidentifications"] == pytest.approx(RISKS[0] + 2 * RISKS[1] + 3 * RISKS[2], abs=1e-5)
        assert figures(con, "uniqueness") == figures(con, "uniqueness(0.1)") != figures(con, "uniqueness(0.2)")
        assert figures(con, "suda")["dis_suda"] == figures(con, "suda(sampling_fraction => 0.1)")["dis_suda"]


def test_a_source_with_more_rows_than_there_are_people_is_no_sample_of_them(con: Connection) -> None:
    con.execute(f"{POLICY} SAMPLE OF 5 REQUIRE k_anonymity(k => 1)")
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
    with pytest.raises(PolicyError, match="had 6 rows, and its policy says SAMPLE OF 5"):
        con.execute("MEASURE r WITH FIGURES (uniqueness)")


@pytest.mark.parametrize("method", ["generalization", "generalization(recoding => 'local')", "mondrian"])
@pytest.mark.parametrize("kind", ["TABLE", "VIEW"])
def test_individual_risk_is_required_of_each_class(con: Connection, method: str, kind: str) -> None:
    con.execute(f"{POLICY} REQUIRE individual_risk(max => 0.02)")
    con.execute(f"CREATE ANONYMIZED {kind} r AS POLICY p METHOD {method}")
    ((_, model, attribute, required, achieved, satisfied),) = con.execute("CHECK r").fetchall()
    assert (model, attribute, required, satisfied) == ("individual_risk", "w", 0.02, True)
    assert achieved == pytest.approx(figures(con, "individual_risk")["individual_risk"])
    classes = con.duckdb.execute("SELECT count(*), sum(w) FROM r GROUP BY a ORDER BY ALL").fetchall()
    # 0.085791 of the single row is too much: it is in a class with others, or withheld.
    assert classes
    assert (1, Decimal("45.50")) not in classes


def test_a_view_withholds_the_classes_of_weights_that_are_none(con: Connection) -> None:
    con.execute(f"{POLICY} REQUIRE individual_risk(max => 0.1)")
    con.execute("CREATE ANONYMIZED VIEW v AS POLICY p METHOD generalization")
    assert con.duckdb.execute("SELECT count(*) FROM v").fetchall() == [(6,)]
    con.duckdb.execute("UPDATE drawn SET w = NULL WHERE a = 2")
    shown = con.duckdb.execute("SELECT count(*), count(*) FILTER (w IS NULL) FROM v").fetchall()
    assert shown == [(4, 0)]


def test_a_check_of_columns_reads_weights_that_are_named(con: Connection) -> None:
    asked = "CHECK drawn (a) SENSITIVE w REQUIRE individual_risk(max => 0.05)"
    ((_, _, attribute, _, achieved, satisfied),) = con.execute(asked).fetchall()
    assert (attribute, satisfied) == ("w", False)
    assert achieved == pytest.approx(RISKS[0], abs=1e-6)
    with pytest.raises(PolicyError, match="no sensitive attribute"):
        con.execute("CHECK drawn (a) REQUIRE individual_risk(max => 0.05)")


def test_requirements_of_a_sample_need_to_know_of_it(con: Connection) -> None:
    with pytest.raises(PolicyError, match="the policy names no column of them") as refused:
        con.execute("CREATE POLICY q ON drawn (a QUASI IDENTIFIER, w SENSITIVE) REQUIRE individual_risk(max => 0.05)")
    assert refused.value.hint == "write weight INSENSITIVE SAMPLING WEIGHT"
    with pytest.raises(PolicyError, match="lacks its argument 'sampling_fraction'") as refused:
        con.execute("CREATE POLICY q ON drawn (a QUASI IDENTIFIER) REQUIRE k_map_estimated(k => 5)")
    assert "SAMPLE FRACTION" in (refused.value.hint or "")
    with pytest.raises(PolicyError, match="change the fraction with the number of rows"):
        con.execute("CREATE POLICY q ON drawn (a QUASI IDENTIFIER) SAMPLE OF 99 REQUIRE k_map_estimated(k => 5)")


def test_several_rows_of_a_respondent_have_no_weights(con: Connection) -> None:
    con.execute("CREATE OR REPLACE TABLE drawn AS SELECT i // 2 AS who, i AS a, 2.0 AS w FROM range(8) r(i)")
    columns = "who ENTITY, a QUASI IDENTIFIER, w INSENSITIVE SAMPLING WEIGHT"
    with pytest.raises(PolicyError, match="needs one row for each respondent"):
        con.execute(f"CREATE POLICY p ON drawn ({columns}) REQUIRE individual_risk(max => 0.9)")


# Published sizes: k, the sampling fraction, alpha, and the least class by both distributions.
SIZES = [
    (5, "0.1", "0.05", 3, 3),
    (5, "0.1", "0.01", 4, 4),
    (3, "0.1", "0.05", 2, 3),
    (10, "0.05", "0.05", 3, 3),
    (10, "0.3", "0.05", 7, 7),
    (20, "0.1", "0.05", 6, 6),
    (20, "0.3", "0.01", 13, 13),
]


@pytest.mark.parametrize(("k", "fraction", "alpha", "poisson", "truncated"), SIZES)
def test_estimated_k_map_withholds_smaller_classes(
    con: Connection, k: int, fraction: str, alpha: str, poisson: int, truncated: int
) -> None:
    """A class of each size from 1 to 20."""
    con.execute("CREATE TABLE sizes AS SELECT s AS a FROM range(1, 21) r(s), range(20) t(i) WHERE i < s")
    for distribution, least in (("poisson", poisson), ("zero_truncated", truncated)):
        required = f"k_map_estimated(k => {k}, alpha => {alpha}, distribution => '{distribution}')"
        con.execute(
            f"CREATE OR REPLACE POLICY q ON sizes (a QUASI IDENTIFIER MAX LEVEL 0) SAMPLE FRACTION {fraction} "
            f"REQUIRE {required}"
        )
        con.execute("CREATE OR REPLACE ANONYMIZED TABLE made AS POLICY q METHOD generalization(suppression => 1)")
        assert con.duckdb.execute("SELECT min(a), max(a) FROM made").fetchall() == [(least, 20)]
        ((_, model, _, asked, achieved, satisfied),) = con.execute("CHECK made").fetchall()
        assert (model, asked, satisfied) == ("k_map_estimated", float(alpha), True)
        assert 0 <= achieved <= float(alpha)


def test_a_certificate_says_that_risk_is_estimated(con: Connection, tmp_path: Path) -> None:
    con.execute(f"{POLICY} SAMPLE FRACTION 0.1 REQUIRE individual_risk(max => 0.05), k_map_estimated(k => 3)")
    events: list[StatementEvent] = []
    con.script("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization", events.append)
    con.execute(f"EXPORT r TO '{tmp_path}/out' (FORMAT csv)")
    certificate = json.loads((tmp_path / "out" / "certificate.json").read_text())
    risk, k_map = certificate["requirements"]
    assert "estimated" in risk["meaning"]
    assert "Benedetti and Franconi" in risk["meaning"]
    assert risk["attributes"] == ["w"]
    assert "estimated" in k_map["meaning"]
    assert k_map["arguments"]["sampling_fraction"] == 0.1
    assert "SAMPLING WEIGHT" in certificate["policy"]["statement"]
    with sqlanon.connect() as receiver:
        answers = receiver.execute(f"CHECK '{tmp_path}/out'").fetchall()
    checked = {row[1]: row for row in answers}
    assert {checked[name][5] for name in ("individual_risk", "k_map_estimated")} == {True}


def test_nothing_is_published_where_no_class_is_large_enough(con: Connection) -> None:
    con.execute(f"{POLICY} REQUIRE individual_risk(max => 0.001)")
    with pytest.raises(PrivacyViolation):
        con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
