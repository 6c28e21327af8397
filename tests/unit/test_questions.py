"""Questions as their files declare them."""

from __future__ import annotations

from decimal import Decimal

import pytest

from sqlanon.errors import InternalError, UserError
from sqlanon.sql.questions import load
from sqlanon.sql.questions.ask import BoundRequirement
from sqlanon.sql.questions.load import (
    Parameter,
    Selector,
    load_question,
    model_names,
    model_of,
    parse_question,
    question_names,
    questions_of,
)
from tests.support.models.questions import WHOLE


def test_a_header_is_read_as_written() -> None:
    question = parse_question("tree_closeness", WHOLE)
    assert (question.name, question.model, question.when) == (
        "tree_closeness",
        "closeness",
        Selector("distance", "tree", default=False),
    )
    assert question.title == "Close: -- or nearly so."
    assert (question.required, question.monotone, question.monotone_under_suppression) == ("t", True, False)
    assert (question.excess, question.excess_maximum, question.joint) == ("the positive part", "1 - t", False)
    assert question.reads == ("class_sensitive_value", "sensitive_value")
    t, least, absent, ranges, guarding = question.parameters
    assert t == Parameter("t", "DECIMAL", Decimal(0), Decimal(1), default=Decimal("0.5"), meaning="how close")
    assert least == Parameter("least", "BIGINT", Decimal(1), Decimal(10), meaning="how many")
    assert (absent.type, absent.choices, absent.default) == ("TEXT", ("violates", "ignored"), "violates")
    assert (absent.meaning, ranges.meaning, guarding.meaning) == ("of a value", "the ranges", "the guards")
    assert (ranges.type, guarding.type, ranges.default, guarding.default) == ("RELATION", "COLUMN", None, None)
    assert question.statement("achieved") == "SELECT max(n) AS achieved FROM class_sensitive_value"
    with pytest.raises(InternalError, match="no statement 'other'"):
        question.statement("other")


@pytest.mark.parametrize(
    "key",
    [
        "model",
        "title",
        "paper",
        "required",
        "monotone",
        "monotone under suppression",
        "excess",
        "excess maximum",
        "reads",
    ],
)
def test_a_header_that_lacks_a_key_or_has_it_twice_is_named(key: str) -> None:
    lines = WHOLE.splitlines()
    (line,) = [line for line in lines if line.startswith(f"-- {key}: ")]
    for text in (
        WHOLE.replace(line + "\n", ""),
        WHOLE.replace(line, f"{line}\n{line}"),
        WHOLE.replace(line, f"-- {key}: "),
    ):
        with pytest.raises(InternalError, match=f"header of it needs exactly one line '-- {key}: ...'"):
            parse_question("it", text)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("-- statement: violations", "-- violations", "no statement 'violations'"),
        ("-- statement: achieved", "-- statement: acheived", "no statement 'achieved'"),
        ("-- monotone: yes", "-- monotone: maybe", "say yes or no after 'monotone', not maybe"),
        ("distance = tree", "distance is tree", "a 'when' other than"),
        ("at most t", "at most u", "requires u, which is none of its numeric parameters"),
        ("at most t", "at most absent", "requires absent"),
        ("at most t", "t", "say 'at least' or 'at most' after 'required'"),
        ("at most t", "almost t", "say 'at least' or 'at most' after 'required'"),
        ("$t_numerator", "$t_nominator", "violations of it asks for [$]t_nominator"),
        ("c.n >= $least", "c.n >= $least_numerator", "asks for [$]least_numerator"),
        ("DECIMAL 0 1", "DECIMAL 0", "a parameter without"),
        ("DECIMAL 0 1", "DECIMAL zero 1", "has zero where a number is due"),
        ("DECIMAL 0 1", "FLOAT 0 1", "a parameter without"),
        (" -- how close", "", "a parameter without"),
        ("TEXT violates|ignored", "TEXT", "a parameter without"),
        ("ranges RELATION", "ranges RELATION 1 2", "a parameter without"),
    ],
)
def test_a_header_that_cannot_be_meant_is_refused(before: str, after: str, message: str) -> None:
    assert before in WHOLE
    with pytest.raises(InternalError, match=message):
        parse_question("it", WHOLE.replace(before, after))


def test_the_rows_of_a_class_are_counted_by_a_parameter_that_is_a_whole_number() -> None:
    assert parse_question("it", WHOLE).least_rows is None
    counted = WHOLE.replace(
        "-- required: at most t", "-- required: at most t\n-- least rows: least -- why\n-- enough rows: least"
    )
    question = parse_question("it", counted)
    assert (question.least_rows, question.enough_rows) == ("least", "least")
    assert BoundRequirement(question, (("least", 7),)).least_rows == 7
    for wrong in ("t", "absent", "other"):
        with pytest.raises(InternalError, match=f"counts rows by {wrong}, which is none of its BIGINT"):
            parse_question("it", counted.replace("least rows: least", f"least rows: {wrong}"))


def test_a_constant_can_be_what_is_required() -> None:
    question = parse_question("it", WHOLE.replace("-- required: at most t", "-- required: at most 1.5"))
    assert BoundRequirement(question, ()).required == 1.5


def test_a_new_file_is_a_question_and_its_model_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {("sql", "models"): ("new_in_a_test.sql", "notes.md")}
    monkeypatch.setattr(load, "listing", lambda *parts: files.get(parts, ()))
    for module in (load, load):
        monkeypatch.setattr(module, "read", lambda *parts: WHOLE)
    assert question_names() == ("new_in_a_test",)
    assert model_names() == ("closeness",)
    assert [question.name for question in questions_of("closeness")] == ["new_in_a_test"]
    load_question.cache_clear()


def test_a_model_of_items_is_found_by_its_name_and_is_none_of_classes() -> None:
    [question] = questions_of("km_anonymity")
    assert question == model_of("km_anonymity") == load_question("km_anonymity", "itemsets")
    assert question.of_itemsets
    assert "km_anonymity" not in model_names()
    assert not any(load_question(name).of_itemsets for name in question_names())
    assert model_of("k_anonymity") == load_question("k_anonymity")


def test_every_file_says_what_it_is() -> None:
    for name in question_names():
        question = load_question(name)
        assert question in questions_of(question.model)
        assert set(question.reads) >= {"class_sensitive_value"} or "equivalence_class" in question.reads


def test_files_of_one_model_are_told_apart_by_one_argument_and_one_is_the_default() -> None:
    for model in model_names():
        questions = questions_of(model)
        if len(questions) > 1:
            selectors = [question.when for question in questions if question.when]
            assert len(selectors) == len(questions)
            assert len({selector.argument for selector in selectors}) == 1
            assert len({selector.value for selector in selectors}) == len(questions)
            assert [selector.default for selector in selectors] == [True] + [False] * (len(questions) - 1)


def test_no_model_has_the_name_that_another_is_also_called() -> None:
    named = [name for model in model_names() for name in questions_of(model)[0].also_called]
    assert len(set(named)) == len(named)
    assert set(named).isdisjoint(model_names())


def test_an_unknown_name_lists_those_there_are() -> None:
    with pytest.raises(UserError, match="there is no privacy model 'm_anonymity'") as raised:
        questions_of("m_anonymity")
    assert "k_anonymity" in str(raised.value.hint)
    assert "distinct_l_diversity" not in str(raised.value.hint)
    with pytest.raises(UserError, match="there is no privacy model 'tcloseness'") as raised:
        questions_of("tcloseness")
    assert str(raised.value.hint).startswith("did you mean t_closeness")
    for name, model in (
        ("Template", "value_ranges"),
        ("confidence_bounding", "value_ranges"),
        ("semantic_privacy", "delta_disclosure"),
    ):
        with pytest.raises(UserError, match=f"there is no privacy model '{name}'") as raised:
            questions_of(name)
        assert raised.value.hint == f"{name} is another name of {model}: write {model}(...)"
    with pytest.raises(UserError, match="there is no question 'l_diversity'"):
        load_question("l_diversity")
