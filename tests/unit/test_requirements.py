"""Requirements bound to the files of their models."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.domain.values import QualifiedName, Value
from sqlanon.errors import InternalError, PolicyError
from sqlanon.sql.build.render import to_sql
from sqlanon.sql.classes.rows import SqlRequirement
from sqlanon.sql.questions import ask
from sqlanon.sql.questions.ask import BoundRequirement, comparable
from sqlanon.sql.questions.load import Question, parse_question
from tests.support.models.questions import FILE, GIVEN, WHOLE, bind


@pytest.fixture
def tree(monkeypatch: pytest.MonkeyPatch) -> Question:
    """The question of the file above, the only one of its model, with a plainer sibling."""
    question = parse_question("tree_closeness", WHOLE)
    plain = parse_question("flat", WHOLE.replace("= tree", "= flat (default)").replace("-- joint: no", "-- joint: yes"))
    monkeypatch.setattr(ask, "questions_of", lambda model: (plain, question))
    return question


# Statements.


def test_only_the_parameters_are_filled_in(tree: Question) -> None:
    violations = FILE.split("-- statement: violations\n")[1].replace("$other_side", "?")
    question = replace(tree, statements={"violations": violations})
    given = (("t", Decimal("0.3750")), ("least", 3), ("absent", "it's '$t'"), ("ranges", QualifiedName(("r",))))
    assert to_sql(BoundRequirement(question, given).statement("violations")) == (
        'SELECT "c"."class_id", "sensitive_value"."n", ? AS "side" FROM "class_sensitive_value" AS "c" '
        "INNER JOIN \"sensitive_value\" ON \"sensitive_value\".\"value\" = \"c\".\"value\" AND '$t' <> 'it''s ''$t''' "
        'INNER JOIN "elsewhere" ON "elsewhere"."class_sensitive_value" = "c"."n" '
        "WHERE \"c\".\"n\" * CAST('8' AS DECIMAL(38, 0)) > CAST('3' AS DECIMAL(38, 0)) "
        'AND "c"."n" > CAST(0.375 AS DOUBLE) AND "c"."n" >= 3'
    )


def test_relations_stand_for_those_that_it_reads(tree: Question) -> None:
    (requirement,) = bind("closeness", ("s",), distance="tree", **GIVEN)
    names = {"class_sensitive_value": "class_sensitive_value_0", "sensitive_value": 'a "b" c', "elsewhere": "no"}
    plain = to_sql(requirement.statement("violations"))
    text = to_sql(requirement.statement("violations", names))
    assert 'FROM "class_sensitive_value_0" AS "c"' in text
    assert 'JOIN "a ""b"" c" AS "sensitive_value" ON' in text
    assert 'JOIN "elsewhere" ON "elsewhere"."class_sensitive_value" = "c"."n"' in text
    assert "class_sensitive_value_0" not in to_sql(requirement.statement("violations")), "the parsed text was changed"
    achieved = to_sql(requirement.statement("achieved", names))
    assert achieved == 'SELECT MAX("n") AS "achieved" FROM "class_sensitive_value_0" AS "class_sensitive_value"'
    same = {name: name for name in names}
    assert to_sql(requirement.statement("violations", same)) == to_sql(requirement.statement("violations", {})) == plain


def test_a_number_is_filled_in_exactly() -> None:
    (requirement,) = bind("l_diversity", ("s",), variant="probabilistic", l=3)
    assert "CAST('3' AS DECIMAL(38, 0))" in to_sql(requirement.statement("violations"))
    assert requirement.argument("l") == 3
    assert isinstance(requirement.argument("l"), Decimal)


def test_a_whole_number_may_be_written_as_a_decimal() -> None:
    (requirement,) = bind("k_anonymity", k=Decimal("5.00"))
    assert requirement.argument("k") == 5
    assert isinstance(requirement.argument("k"), int)
    with pytest.raises(PolicyError, match=r"k must be a whole number, not 5\.01"):
        bind("k_anonymity", k=Decimal("5.01"))


counts = st.integers(0, 2**53)
numbers = st.decimals(0, 10**6, allow_nan=False, places=30) | st.decimals(0, 1, allow_nan=False, places=17)


@given(numbers, st.lists(st.tuples(counts, counts.filter(bool)), min_size=1))
def test_fractions_of_counts_are_on_the_same_side_of_a_number_and_of_what_stands_for_it(
    number: Decimal, fractions: list[tuple[int, int]]
) -> None:
    stands, exact = comparable(number), Fraction(number)
    assert max(stands.numerator, stands.denominator) <= 2**54
    near = [exact.limit_denominator(most) for most in (1, 7, 2**20, 2**53 // (int(number) + 1))]
    for fraction in [*near, *(Fraction(*parts) for parts in fractions)]:
        assert (fraction < stands, fraction == stands) == (fraction < exact, fraction == exact)


# Requirements.


def test_a_requirement_is_what_queries_ask() -> None:
    (requirement,) = bind("k_anonymity", k=4)
    asked: SqlRequirement = requirement
    assert (asked.question_name, asked.reads, asked.attributes) == ("k_anonymity", ("equivalence_class",), ())
    assert (str(asked), requirement.required) == ("k_anonymity(k => 4)", 4.0)
    with pytest.raises(InternalError, match="no parameter 'l'"):
        requirement.argument("l")


@pytest.mark.parametrize(
    ("arguments", "name", "shown"),
    [
        ({"l": 3}, "distinct_l_diversity", "l_diversity(l => 3, variant => 'distinct') of s"),
        ({"variant": "distinct", "l": 3}, "distinct_l_diversity", "l_diversity(l => 3, variant => 'distinct') of s"),
        (
            {"variant": "entropy", "l": Decimal("2.5")},
            "entropy_l_diversity",
            "l_diversity(l => 2.5, variant => 'entropy') of s",
        ),
        (
            {"c": Decimal("1E-1"), "variant": "recursive", "l": 2},
            "recursive_l_diversity",
            "l_diversity(l => 2, c => 0.1, variant => 'recursive') of s",
        ),
    ],
)
def test_an_argument_chooses_the_file(arguments: dict[str, Value], name: str, shown: str) -> None:
    (requirement,) = bind("l_diversity", ("s",), **arguments)
    assert (requirement.question_name, str(requirement)) == (name, shown)


def test_defaults_and_names_are_bound(tree: Question) -> None:
    (requirement,) = bind("closeness", ("s",), distance="tree", **GIVEN)
    assert requirement.arguments == (
        ("t", Decimal("0.5")),
        ("least", 3),
        ("absent", "violates"),
        ("ranges", QualifiedName(("main", "r s"))),
        ("guarding", QualifiedName(("a guard",))),
    )
    assert requirement.required == 0.5
    quoted = bind("closeness", ("s",), distance="tree", **{**GIVEN, "guarding": QualifiedName(("a guard",))})
    assert quoted == (requirement,)


def test_each_sensitive_attribute_is_asked_about_one_of_them_or_all_jointly(tree: Question) -> None:
    columns = ("Disease", "ward", "Straße")

    def about(**arguments: Value) -> list[tuple[str, ...]]:
        return [bound.attributes for bound in bind("closeness", columns, **GIVEN, **arguments)]

    each = [("Disease",), ("ward",), ("Straße",)]
    assert about() == about(jointly=False) == about(distance="tree") == each
    assert about(jointly=True) == [columns]
    assert about(attribute="DISEASE") == about(attribute=QualifiedName(("disease",))) == [("Disease",)]
    assert about(attribute="straße", jointly=False) == [("Straße",)]
    (joint,) = bind("l_diversity_or_so", columns[:2], jointly=True, **GIVEN)
    assert str(joint).endswith("distance => 'flat') of Disease, ward jointly")


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        ({"attribute": "STRASSE"}, "'STRASSE' is not a sensitive attribute", "did you mean Straße?"),
        ({"attribute": "straSSe"}, "is not a sensitive attribute", "did you mean Straße?"),
        (
            {"attribute": QualifiedName(("t", "Disease"))},
            "t.Disease is not a sensitive attribute",
            "did you mean Disease?",
        ),
        ({"attribute": 3}, "3 is not a sensitive attribute", "the sensitive attributes are: Disease, Straße"),
        ({"attribute": "Disease", "jointly": True}, "takes attribute or jointly, not both", None),
        ({"jointly": "yes"}, "jointly must be true or false, not 'yes'", None),
        ({"jointly": 1}, "jointly must be true or false, not 1", None),
        (
            {"jointly": True, "distance": "tree"},
            "with distance 'tree' cannot take several attributes jointly",
            "leave out jointly",
        ),
        ({"distance": "ordered"}, "no distance 'ordered'", "distance => 'flat' or distance => 'tree'"),
        ({"distance": QualifiedName(("tree",))}, "no distance tree", "distance => 'flat'"),
        ({"variant": "distinct"}, "with distance 'flat' has no argument 'variant'", "write closeness(t => ..., least"),
        ({"least": None}, "lacks its argument 'least'", "distance => 'flat')"),
        ({"least": Decimal("1.5")}, "least must be a whole number, not 1.5", None),
        ({"least": True}, "least must be a whole number, not true", None),
        ({"least": "3"}, "least must be a whole number, not '3'", None),
        ({"least": 11}, "least = 11 is outside 1 to 10", None),
        ({"least": 0}, "least = 0 is outside 1 to 10", None),
        ({"t": Decimal("1.01")}, "t = 1.01 is outside 0 to 1", None),
        ({"t": Decimal("NaN")}, "t must be a number", None),
        ({"t": Decimal("Infinity")}, "t must be a number", None),
        ({"t": QualifiedName(("a", "b"))}, "t must be a number, not a.b", None),
        ({"absent": "kept"}, "no absent 'kept'", "absent => 'violates' or absent => 'ignored'"),
        ({"absent": True}, "no absent true", "absent => 'violates'"),
        ({"ranges": "r"}, "ranges must be the name of a table or view, not 'r'", None),
        ({"ranges": 3}, "ranges must be the name of a table or view, not 3", None),
        ({"guarding": QualifiedName(("a", "b"))}, "guarding must be the name of a column, not a.b", None),
        ({"guarding": ""}, "guarding must be the name of a column", None),
    ],
)
def test_what_cannot_be_bound_is_refused(
    tree: Question, arguments: dict[str, Value | None], message: str, hint: str | None
) -> None:
    given = {name: value for name, value in {**GIVEN, **arguments}.items() if value is not None}
    with pytest.raises(PolicyError, match=message) as raised:
        bind("closeness", ("Disease", "Straße"), **given)
    assert (hint or "") in (raised.value.hint or "")


def test_a_model_about_sensitive_values_needs_one() -> None:
    with pytest.raises(PolicyError, match="there is no sensitive attribute") as raised:
        bind("l_diversity", l=2)
    assert "SENSITIVE" in str(raised.value.hint)


def test_a_model_about_classes_alone_has_no_attribute() -> None:
    assert [bound.attributes for bound in bind("k_anonymity", ("a", "b"), k=2)] == [()]
    for arguments in ({"attribute": "a"}, {"jointly": True}):
        with pytest.raises(PolicyError, match="k_anonymity has no argument"):
            bind("k_anonymity", ("a", "b"), k=2, **arguments)
