"""Policies as objects: they say what the statements of the documentation say, run, and come back from the catalog."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import duckdb
import pandas
import pyarrow
import pytest

import sqlanon
from sqlanon import (
    AnonymizedTable,
    AnonymizedView,
    JoinedRelease,
    KAnonymity,
    LDiversity,
    Pivot,
    Policy,
    PolicyError,
    PrivacyViolation,
    Pseudonym,
    QuasiIdentifier,
    Query,
    RelatedTable,
    Requirement,
    StatementError,
    UserError,
    XyAnonymity,
    XyLinkability,
)
from sqlanon.statements.parser import parse_script
from sqlanon.statements.policies.create_policy import CreatePolicy
from tests.support.names import HOSTILE, quoted

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "statements" / "create-policy.md").read_text(encoding="utf-8")
SAME = [
    Policy(
        "hospital",
        source="visits",
        identifiers=["name"],
        entity="patient",
        quasi_identifiers={
            "age": QuasiIdentifier("bands", max_level=2, weight=2),
            "sex": None,
            "zip": QuasiIdentifier("zip_prefix", min_level=1),
        },
        sensitive=["disease"],
        require=KAnonymity(k=4),
    ),
    Policy(
        "with_tokens",
        source="visits",
        entity={"patient": Pseudonym()},
        quasi_identifiers=["sex"],
        sensitive="disease",
        require=[KAnonymity(k=10)],
    ),
    Policy(
        "clinics",
        source="persons",
        entity="id",
        quasi_identifiers=["born", "sex"],
        related=[RelatedTable("checkups", key="person", quasi_identifiers="clinic", sensitive="diagnosis")],
        require=[KAnonymity(k=4), LDiversity(l=2)],
    ),
    Policy(
        "staff",
        source="staff",
        insensitive=["name"],
        quasi_identifiers={"job": "jobs"},
        joined=JoinedRelease("of_jobs", on=["job"]),
        require=[
            KAnonymity(k=1),
            XyAnonymity(x="name", y="disease", k=2),
            XyLinkability(x="name", y="disease", max=0.7),
        ],
        order=["name", "job"],
    ),
]


def documented(name: str) -> CreatePolicy:
    """The statement of the page that creates a policy of this name, the first if there are several."""
    text = re.search(rf"CREATE (?:OR REPLACE )?POLICY {name} ON .*?;", PAGE, re.DOTALL)
    assert text is not None
    (statement,) = parse_script(text[0])
    assert isinstance(statement, CreatePolicy)
    return statement


@pytest.mark.parametrize("policy", SAME, ids=lambda policy: policy.name)
def test_an_object_says_what_the_statement_says(policy: Policy) -> None:
    statement = documented(policy.name)
    assert policy.definition == statement.policy
    assert policy == Policy.of(statement.policy)
    assert parse_script(policy.sql(or_replace=True))[0] == CreatePolicy(statement.policy, or_replace=True)


def test_a_long_table() -> None:
    policy = Policy(
        "films", source="ratings", identifiers="viewer", pivot=Pivot("film", "stars"), require=KAnonymity(k=2)
    )
    (statement,) = parse_script(
        "CREATE POLICY films ON ratings PIVOT film VALUES stars (viewer IDENTIFIER) REQUIRE k_anonymity(k => 2)"
    )
    assert isinstance(statement, CreatePolicy)
    assert policy.definition == statement.policy


def test_each_clause_of_a_release() -> None:
    table = AnonymizedTable(
        ("main", "r"), "p", method=sqlanon.Slicing(l=2), columns=[["age", "zip"], ["disease"]], series="monthly"
    )
    assert table.sql(if_not_exists=True) == (
        'CREATE ANONYMIZED TABLE IF NOT EXISTS "main"."r" AS POLICY "p" METHOD slicing(l => 2) '
        'COLUMNS ("age", "zip"), ("disease") IN SERIES "monthly"'
    )
    assert AnonymizedTable("r", "p", method=sqlanon.Slicing(l=2), columns="each").sql().endswith("COLUMNS EACH")
    assert AnonymizedTable("r", "p", method=sqlanon.Loose(k=2), fragments=[["a"]]).sql().endswith('FRAGMENTS ("a")')
    assert AnonymizedView("v", SAME[0], levels_from="r").sql() == (
        'CREATE ANONYMIZED VIEW "v" AS POLICY "hospital" LEVELS FROM RELEASE "r"'
    )
    with pytest.raises(StatementError):
        AnonymizedTable("r", "p", columns="each")
    with pytest.raises(UserError, match="exclude each other"):
        table.sql(or_replace=True, if_not_exists=True)


def wrong(**changed: Any) -> Any:
    arguments = {"source": "t", "quasi_identifiers": ["age"], "sensitive": ["ill"], "require": KAnonymity(k=2)}
    return lambda: Policy("p", **arguments | changed)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (wrong(quasi_identifiers=()), PolicyError, "policy p: it has no quasi-identifier"),
        (wrong(insensitive=["Age"]), PolicyError, "policy p: the column Age is named twice"),
        (wrong(require=()), PolicyError, "policy p: it requires nothing"),
        (wrong(require=[KAnonymity(k=2), KAnonymity(k=3)]), PolicyError, "k_anonymity is required twice"),
        (wrong(require=LDiversity(l=2, attribute="il")), PolicyError, "il is not a sensitive attribute"),
        (wrong(require=KAnonymity(k=2, on=["zip"])), PolicyError, "zip is not a quasi-identifier"),
        (wrong(require="k_anonymity(k => 5)"), UserError, "require: 'k_anonymity(k => 5)' is not a Requirement"),
        (wrong(joined=JoinedRelease("r", on="age")), PolicyError, "no requirement is about the join"),
        (wrong(require=[KAnonymity(k=2), None]), UserError, "require: None is not a Requirement"),
        (wrong(joined="r"), UserError, "joined: 'r' is not a JoinedRelease"),
        (wrong(joined=[JoinedRelease("r", on="age")]), UserError, "is not a JoinedRelease"),
        (wrong(quasi_identifiers={"age": 5}), UserError, "quasi_identifiers['age'] is 5"),
        (wrong(quasi_identifiers={"age": QuasiIdentifier("h", 2, 1)}), PolicyError, "MIN LEVEL 2 above MAX LEVEL 1"),
        (wrong(quasi_identifiers={"age": QuasiIdentifier(min_level="1")}), UserError, "min_level is a whole number"),
        (wrong(quasi_identifiers={"age": QuasiIdentifier(weight=0)}), PolicyError, "the weight of age is 0"),
        (wrong(sensitive={"ill": 1}), UserError, "sensitive['ill'] is 1"),
        (wrong(identifiers={"name": "KEY"}), UserError, "identifiers['name'] is 'KEY'"),
        (wrong(confidential="age"), UserError, "confidential lists sets of columns"),
        (wrong(order=["age"]), UserError, "order must name each column once"),
        (wrong(order=["agee", "ill"]), UserError, "order: agee is not a column of the policy"),
        (wrong(source=""), UserError, "source is a name, not ''"),
        (wrong(source=None), UserError, "source is a name, not None"),
        (lambda: RelatedTable(Query("SELECT 1"), key="a", sensitive=["b"]), UserError, "a query has no name"),
    ],
)
def test_an_error_is_that_of_the_statement_or_names_the_argument(
    call: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as raised:
        call()
    assert message in str(raised.value)


def test_no_error_shows_the_rows_of_what_was_given_for_a_name() -> None:
    frame = pandas.DataFrame({"name": ["Ann Secret"], "age": [1]})
    calls = [
        *(wrong(**{argument: frame}) for argument in ("source", "order", "joined", "require", "confidential")),
        *(wrong(**{argument: [frame]}) for argument in ("quasi_identifiers", "sensitive", "confidential", "require")),
        wrong(quasi_identifiers={"age": frame}),
        wrong(sensitive={"ill": [frame]}),
        lambda: AnonymizedTable(frame, "p"),  # type: ignore[arg-type]
        lambda: AnonymizedTable("r", "p", method=frame),  # type: ignore[arg-type]
        lambda: KAnonymity(k=frame),  # type: ignore[arg-type]
    ]
    for call in calls:
        with pytest.raises(sqlanon.SqlanonError) as raised:
            call()
        assert "Secret" not in f"{raised.value} {raised.value.hint}"


@pytest.mark.parametrize("made", [wrong()(), KAnonymity(k=2), sqlanon.Mondrian(), AnonymizedTable("r", "p")])
def test_nothing_is_set_that_no_statement_would_say(made: Any) -> None:
    before = made.sql()
    for name in ("k", "require", "method", "_definition"):
        with pytest.raises(AttributeError, match="cannot be changed"):
            setattr(made, name, 50)
    assert made.sql() == before


@pytest.mark.long
def test_it_runs_and_comes_back_from_the_catalog_whatever_its_names() -> None:
    names = list(dict.fromkeys(HOSTILE))
    with sqlanon.connect() as con:
        columns = ", ".join(f"i // {20 + 10 * (n % 2)} AS {quoted(name)}" for n, name in enumerate(names))
        con.sql(f"CREATE TABLE {quoted(HOSTILE[0])} AS SELECT {columns} FROM range(60) AS t(i)")
        quasi, (sensitive, *others) = names[:3], names[3:]
        policy = Policy(
            HOSTILE[1],
            source=HOSTILE[0],
            quasi_identifiers=quasi,
            sensitive=sensitive,
            insensitive=others,
            require=[KAnonymity(k=5), LDiversity(l=1, attribute=sensitive)],
        )
        assert con.sql(policy.sql()).fetchall() == [("CREATE POLICY", HOSTILE[1], "created")]
        stored = con.policy(HOSTILE[1])
        assert stored.definition.attributes == policy.definition.attributes
        assert stored.requirements == policy.requirements
        # The catalog knows the schema of the table, too; as an object it can be made again.
        con.sql(stored.sql(or_replace=True))
        assert con.policy(HOSTILE[1]) == stored
        con.execute(AnonymizedTable(HOSTILE[2], policy, method=sqlanon.Mondrian()).sql())
        assert con.table(quoted(HOSTILE[2])).columns == names
        with pytest.raises(PolicyError, match="there is no policy absent"):
            con.policy("absent")


def test_an_object_is_no_statement_and_says_so() -> None:
    with sqlanon.connect() as con:
        for run in (con.sql, con.execute):
            with pytest.raises(duckdb.Error) as raised:
                run(SAME[0])
            assert "policy.sql()" in raised.value.__notes__[0]


def test_a_policy_that_is_not_there() -> None:
    with sqlanon.connect() as con, pytest.raises(UserError, match="no policies"):
        con.policy("hospital")


def patients() -> pandas.DataFrame:
    return pandas.DataFrame(
        {
            "name": [f"patient {i}" for i in range(24)],
            "disease": ["Flu", "Cold", "Asthma"] * 8,
            "age": [20 + i * 7 % 30 for i in range(24)],
        }
    )


OF_PATIENTS = Policy(
    "hospital",
    source=("main", "patients"),
    identifiers={"name": Pseudonym()},
    quasi_identifiers={"Age": QuasiIdentifier("bands", max_level=2)},
    sensitive=["disease"],
    require=[KAnonymity(k=3), LDiversity(l=2)],
)
BANDS = {"bands": "INTERVALS (10, 20)"}


@pytest.mark.long
@pytest.mark.parametrize("kind", [lambda frame: frame, pyarrow.Table.from_pandas])
def test_a_policy_for_a_data_frame(kind: Any) -> None:
    frame = kind(patients())
    released = sqlanon.anonymize(frame, policy=OF_PATIENTS, hierarchies=BANDS, method=sqlanon.Generalization())
    assert isinstance(released, type(frame))
    rows = released if isinstance(released, pandas.DataFrame) else released.to_pandas()
    assert list(rows.columns) == ["name", "age", "disease"]
    assert set(rows["age"]) <= {"[20,30)", "[30,40)", "[40,50)", "[20,40)", "[40,60)"}
    assert rows.groupby("age").size().min() >= 3
    assert rows["name"].str.fullmatch("[0-9a-f]{32}").all()


@pytest.mark.long
def test_what_is_required_by_a_policy_is_required_of_a_data_frame() -> None:
    with pytest.raises(PrivacyViolation):
        sqlanon.anonymize(
            patients(),
            policy=Policy("p", source="t", quasi_identifiers=["age"], require=KAnonymity(k=25)),
        )
    of_objects = sqlanon.anonymize(
        patients(), quasi_identifiers="age", sensitive="disease", k=None, require=[LDiversity(l=3)]
    )
    assert of_objects.groupby("age")["disease"].nunique().min() == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"policy": OF_PATIENTS}, "names the hierarchy bands, which hierarchies lacks"),
        ({"policy": OF_PATIENTS, "hierarchies": BANDS | {"b": "PREFIXES (2)"}}, "there is no hierarchy b"),
        ({"policy": OF_PATIENTS, "hierarchies": BANDS, "k": 5}, "give policy alone"),
        ({"policy": OF_PATIENTS, "hierarchies": BANDS, "sensitive": ["age"]}, "give policy alone"),
        ({"policy": "hospital"}, "policy is a Policy, not str"),
        ({"policy": SAME[2]}, "run it on a connection"),
        ({"policy": SAME[0]}, "policy: there is no column patient"),
        ({"policy": Policy("p", source=Query("SELECT 1"), quasi_identifiers="age", require=KAnonymity(k=2))}, "run it"),
    ],
)
def test_what_a_data_frame_cannot_have(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as raised:
        sqlanon.anonymize(patients(), **arguments)
    assert message in str(raised.value)


def test_requirements_of_others_are_said_by_name() -> None:
    assert repr(Requirement("k_anonymity", k=5)) == "Requirement('k_anonymity', k=5)"
    assert "order=['name', 'job']" in repr(SAME[3])
