"""Each model and each method has a class with all that it takes, as the headers and options of today say it."""

from __future__ import annotations

import inspect
from dataclasses import fields
from pathlib import Path

import pytest

import sqlanon
from sqlanon import Method, PolicyError, Requirement, UserError
from sqlanon.clients import api
from sqlanon.methods.limits import Limits
from sqlanon.methods.registry import METHODS, find_method
from sqlanon.sql.questions.load import model_names, questions_of
from sqlanon.sql.questions.statistics import load_statistic, statistic_names
from tests.support.methods import with_example
from tools import method_lists, typed_classes

MODELS = (*model_names(), *model_names("itemsets"), *statistic_names("joined"))


def parameters(made: type[Requirement | Method]) -> dict[str, inspect.Parameter]:
    (_, *taken) = inspect.signature(made.__init__).parameters.items()
    return dict(taken)


def test_the_modules_are_up_to_date() -> None:
    stale = [
        name for name, text in typed_classes.modules().items() if (typed_classes.FOLDER / name).read_text() != text
    ]
    assert stale == [], "python -m tools.typed_classes --write"


def test_the_lists_of_methods_are_up_to_date() -> None:
    stale = [path for path, text in method_lists.texts().items() if (method_lists.ROOT / path).read_text() != text]
    assert stale == [], "python -m tools.method_lists --write"


def test_a_method_is_in_the_lists_by_its_folder_and_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That of the page on adding one, with a page of its own."""
    for path, text in method_lists.texts().items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    (tmp_path / "docs" / "methods").mkdir()
    (tmp_path / "docs" / "methods" / "columns.md").write_text("# Columns\n")
    methods = with_example(tmp_path)
    monkeypatch.setattr("sqlanon.methods.registry.METHODS", methods)
    monkeypatch.setattr(typed_classes, "METHODS", methods)
    texts = method_lists.texts(tmp_path, sorted([*method_lists.folders(), "columns"]))
    assert "anatomy | columns | fragmentation" in texts["pyproject.toml"]
    assert '    "sqlanon.methods.anatomy",\n    "sqlanon.methods.columns",\n' in texts["pyproject.toml"]
    assert texts["sqlanon/clients/api/__init__.py"].count("    Columns,\n") == 1
    assert texts["sqlanon/__init__.py"].count("        Columns,\n") == 1
    assert all('    "Columns",\n' in texts[f"sqlanon/{module}__init__.py"] for module in ("", "clients/api/"))
    assert "      - methods/columns.md\n" in texts["mkdocs.yml"]
    head, _, *rows = texts["docs/choosing.md"].partition("| | `generalization`")[2].partition("\n\n")[0].splitlines()
    assert head.endswith("| `columns` |")
    can = [fields(Limits)[number].name for number, row in enumerate(rows) if row.endswith("| yes |")]
    assert can == ["without_related", "without_series", "confidential", "max_level"]
    assert typed_classes.modules()["methods.py"].count("class Columns(Method):") == 1


@pytest.mark.parametrize("name", [*MODELS, *METHODS])
def test_each_is_a_public_name_with_its_arguments(name: str) -> None:
    made = getattr(sqlanon, typed_classes.class_name(name))
    assert made.__name__ in sqlanon.__all__
    taken = parameters(made)
    if name in METHODS and issubclass(made, Method):
        assert set(taken) == {field.name for field in fields(find_method(name).OPTIONS)}
    elif name in statistic_names("joined"):
        assert set(taken) == {"x", "y"} | {parameter.name for parameter in load_statistic("joined", name).parameters}
    else:
        questions = questions_of(name)
        declared = {parameter.name for question in questions for parameter in question.parameters}
        generic = {"attribute", "jointly", "on", "knows", "m"} | {"within" for question in questions if question.within}
        assert set(taken) - generic == declared - {"m"} | {
            question.when.argument for question in questions if question.when
        }
    assert all(argument.kind is inspect.Parameter.KEYWORD_ONLY for argument in taken.values())
    assert all(f"`{argument}`" in str(made.__doc__) for argument in taken)


def test_nothing_else_is_public_in_the_one_and_not_in_the_other() -> None:
    assert set(api.__all__) <= set(sqlanon.__all__)
    of_models = {made.MODEL for made in vars(api).values() if isinstance(made, type) and issubclass(made, Requirement)}
    of_methods = {made.METHOD for made in vars(api).values() if isinstance(made, type) and issubclass(made, Method)}
    assert of_models - {""} == set(MODELS)
    assert of_methods - {""} == set(METHODS)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: sqlanon.KAnonymity(k=0), PolicyError, "k_anonymity: k = 0 is outside"),
        (lambda: sqlanon.KAnonymity(k=2.5), PolicyError, "k_anonymity: k must be a whole number"),
        (lambda: sqlanon.KAnonymity(k=float("nan")), UserError, "k_anonymity: k is of type float, or no finite number"),
        (lambda: sqlanon.LDiversity(l=2, variant="distnct"), PolicyError, "l_diversity has no variant 'distnct'"),
        (lambda: sqlanon.LDiversity(l=2, c=3), PolicyError, "has no argument 'c'"),
        (lambda: sqlanon.LDiversity(l=2, attribute=""), UserError, "l_diversity: attribute is a name"),
        (lambda: sqlanon.ValueRanges(ranges=("a", "b", "c", "d")), UserError, "value_ranges: ranges has 4 parts"),
        (lambda: sqlanon.XyAnonymity(x="job", y="disease", k="2"), PolicyError, "k must be a whole number"),
        (lambda: Requirement("k_anonimity", k=5), UserError, "there is no privacy model 'k_anonimity'"),
        (lambda: Requirement("k_anonymity", kk=5), PolicyError, "k_anonymity has no argument 'kk'"),
        (lambda: sqlanon.Mondrian(mode="loose"), PolicyError, "mondrian: there is no mode 'loose'"),
        (lambda: sqlanon.Generalization(suppression=2), PolicyError, "generalization: suppression must be a fraction"),
        (lambda: Method("mondrain"), UserError, "there is no method 'mondrain'"),
        (lambda: sqlanon.Query("SELECT 1) AS t; DROP TABLE t"), sqlanon.StatementError, "one query"),
    ],
)
def test_a_wrong_argument_is_named(call: object, error: type[Exception], message: str) -> None:
    assert callable(call)
    with pytest.raises(error) as raised:
        call()
    assert message in str(raised.value)


def test_a_class_is_what_the_general_one_is() -> None:
    assert sqlanon.KAnonymity(k=5) == Requirement("K_Anonymity", k=5)
    assert hash(sqlanon.KAnonymity(k=5)) == hash(Requirement("k_anonymity", k=5))
    assert sqlanon.Mondrian(mode="relaxed") == Method("mondrian", mode="relaxed")
    assert sqlanon.TCloseness(t=0.3).arguments == {"t": 0.3}
    assert sqlanon.Loose(groups=[2, 3]).sql() == "loose(groups => (2, 3))"
    assert sqlanon.KAnonymity(k=5, on=["zip"]).sql() == 'k_anonymity(k => 5, on => ("zip"))'
