"""MEASURE WITH TASK (target => ...): what it answers, what it refuses, and in which words."""

from __future__ import annotations

import subprocess
import sys

import pytest

import sqlanon
from sqlanon import Connection, PolicyError, UserError

AGE = '"a ""ge"'
MODELS = ("tree", "forest", "bayes")


@pytest.fixture(scope="module")
def con() -> Connection:
    connection = sqlanon.connect()
    connection.execute(
        f"CREATE TABLE people AS SELECT i AS id, 20 + i % 7 AS {AGE}, 'z' || (i % 3) AS \"select\", "
        "'d' || (i % 3) AS disease, CASE WHEN i % 5 <> 0 THEN i % 2 END AS ward, 'same' AS town FROM range(90) AS t(i)"
    )
    connection.execute(
        f'CREATE POLICY p ON people (id IDENTIFIER, {AGE} QUASI IDENTIFIER MIN LEVEL 1, "select" QUASI IDENTIFIER MAX '
        "LEVEL 0, disease SENSITIVE, ward INSENSITIVE, town INSENSITIVE) REQUIRE k_anonymity(k => 2)"
    )
    connection.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
    return connection


def measured(con: Connection, arguments: str, release: str = "r") -> dict[str, float]:
    rows = con.execute(f"MEASURE {release} WITH TASK ({arguments})").fetchall()
    return {figure: value for _, figure, _, value in rows}


@pytest.mark.long
def test_it_answers_with_four_shares_of_each_model(con: Connection) -> None:
    figures = measured(con, "target => disease, folds => 3")
    kinds = ("u_max", "u_base", "u_san", "gain")
    assert list(figures) == [*(f"{kind}_{model}" for model in MODELS for kind in kinds), "a_acc"]
    # The zip tells the disease, and stands in another table than the disease where these have no link.
    for model in MODELS:
        assert figures[f"u_max_{model}"] == figures[f"u_san_{model}"] == 1
        assert figures[f"u_base_{model}"] < 0.6
        assert figures[f"gain_{model}"] == pytest.approx(1 - figures[f"u_base_{model}"])
    assert figures["a_acc"] == pytest.approx(2 / 3)
    recorded = con.duckdb.execute("SELECT figure, value FROM anon.release_figure").fetchall()
    assert dict(recorded) == figures


@pytest.mark.long
def test_the_same_seed_answers_the_same(con: Connection) -> None:
    con.execute("CREATE POLICY q ON people (\"select\" QUASI IDENTIFIER, disease SENSITIVE, ward INSENSITIVE) "
                "REQUIRE k_anonymity(k => 2)")  # fmt: skip
    con.execute("CREATE ANONYMIZED TABLE dealt AS POLICY q METHOD anatomy(l => 3)")
    task = "target => disease, models => 'tree', folds => 3"
    by_seed = {seed: measured(con, f"{task}, seed => {seed}", "dealt")["u_san_tree"] for seed in range(8)}
    assert len(set(by_seed.values())) > 1
    assert measured(con, f"{task}, seed => 3", "dealt")["u_san_tree"] == by_seed[3]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("arguments", "words", "hint"),
    [
        ("kind => 'learning'", "TASK lacks its target", "write target => salary_class"),
        ("target => diseas", "the policy of main.r has no column diseas", "did you mean disease?"),
        ("target => disease, using => (ag)", "main.r shows no column ag", None),
        ("target => disease, using => (disease)", "disease is the target already", None),
        ("target => disease, using => (ward, ward)", "ward is named twice", None),
        ("target => disease, using => (id)", "main.r shows no column id", None),
        ("target => disease, models => 'trees'", "there is no 'trees'", "did you mean tree?"),
        ("target => disease, models => ('tree', 'tree')", "models has tree twice", None),
        (
            "target => disease, seed => 4294967296",
            "seed must be a whole number from 0 to 4294967295",
            "write seed => 1",
        ),
        ("target => disease, folds => 1", "folds must be a whole number from 2 on", "write folds => 10"),
        ("target => disease, rank => 1", "TASK has no argument 'rank'", None),
        ("target => 1", "target is a name or a list of names, not 1", None),
    ],
)
def test_what_it_does_not_take_is_said(con: Connection, arguments: str, words: str, hint: str | None) -> None:
    with pytest.raises(UserError, match=words) as error:
        measured(con, arguments)
    assert hint is None or error.value.hint == hint


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (f"target => {AGE}", "by labels"),
        ("target => id", "does not show id: identifiers are not published"),
        ("target => town", "the target has one value"),
        ("target => disease, folds => 40", "no value of the target has 40 rows"),
    ],
)
def test_what_cannot_be_learned_is_said(con: Connection, arguments: str, words: str) -> None:
    with pytest.raises(PolicyError, match=words):
        measured(con, arguments)


def test_an_empty_source_teaches_nothing() -> None:
    con = sqlanon.connect()
    con.execute("CREATE TABLE nobody (age INTEGER, disease VARCHAR)")
    con.execute("CREATE POLICY p ON nobody (age QUASI IDENTIFIER, disease SENSITIVE) REQUIRE k_anonymity(k => 2)")
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
    with pytest.raises(PolicyError, match="one value"):
        measured(con, "target => disease")


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("ALTER TABLE t ALTER a TYPE VARCHAR USING 'x' || a", "column a is VARCHAR now and was BIGINT"),
        ("ALTER TABLE t DROP b", "column b is gone"),
        ("DROP TABLE t", "no table or view t"),
    ],
)
def test_a_source_that_has_changed_is_refused(change: str, words: str) -> None:
    con = sqlanon.connect()
    con.execute("CREATE TABLE t AS SELECT i % 4 AS a, i % 3 AS b FROM range(40) AS n(i)")
    con.execute("CREATE POLICY p ON t (a QUASI IDENTIFIER, b SENSITIVE) REQUIRE k_anonymity(k => 1)")
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
    con.execute(change)
    with pytest.raises(PolicyError, match=words):
        measured(con, "target => b")


@pytest.mark.long
def test_without_the_extra_it_says_what_to_install() -> None:
    program = (
        "import sys; sys.modules['sklearn'] = None; sys.modules['sklearn.tree'] = None\n"
        "import sqlanon; con = sqlanon.connect()\n"
        "con.execute('CREATE TABLE t AS SELECT 1 AS a, 2 AS b')\n"
        "con.execute('CREATE POLICY p ON t (a QUASI IDENTIFIER, b SENSITIVE) REQUIRE k_anonymity(k => 1)')\n"
        "con.execute('CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization')\n"
        "con.execute('MEASURE r WITH TASK (target => b)')\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode != 0
    assert "pip install 'sqlanon[tasks]'" in run.stderr
