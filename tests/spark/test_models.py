"""Every privacy model, asked on DuckDB and on Spark of the same relations, has the same answer."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from itertools import product
from math import isclose
from typing import Any

import pytest

from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.spark import SparkEngine
from sqlanon.sql.questions.ask import BoundRequirement
from sqlanon.sql.questions.load import Parameter, Question, load_question, question_names
from tests.support.spark import RELEASES, registered

pytestmark = pytest.mark.spark

WHOLE = (2, 4)
FRACTIONS = tuple(map(Decimal, ("0.25", "0.5", "1.5", "2")))


def choices(parameter: Parameter) -> list[Any]:
    """Two arguments, or every word there is; fractions that classes meet exactly, and others."""
    if parameter.type == "TEXT":
        return list(parameter.choices)
    if parameter.low is None or parameter.high is None:
        return [QualifiedName(("named",))]
    known = WHOLE if parameter.type == "BIGINT" else FRACTIONS
    fitting = [number for number in known if parameter.low <= number <= parameter.high]
    return [fitting[0], fitting[-1]]


def requirements(question: Question) -> Iterator[BoundRequirement]:
    names = [parameter.name for parameter in question.parameters]
    for values in product(*map(choices, question.parameters)):
        yield BoundRequirement(question, tuple(zip(names, values, strict=True)), ("s",))


def hashable(value: Any) -> Any:
    return tuple(value.items()) if isinstance(value, dict) else value


def violations(engine: Engine, requirement: BoundRequirement) -> dict[Any, tuple[int, float]]:
    answer = engine.rows(requirement.statement("violations"))
    found = {hashable(of): (size, excess) for of, size, excess in answer}
    assert len(found) == len(answer)
    return found


@pytest.fixture(scope="module", params=RELEASES)
def release(request: pytest.FixtureRequest, duck: DuckDBEngine, spark: SparkEngine) -> Iterator[str]:
    with registered(duck, spark, RELEASES[request.param]):
        yield request.param


@pytest.mark.parametrize("name", question_names())
def test_a_model_has_one_answer(name: str, release: str, duck: DuckDBEngine, spark: SparkEngine) -> None:
    asked = list(requirements(load_question(name)))
    assert asked
    for requirement in asked if release == "many classes" else asked[:1]:
        [[here]] = duck.rows(requirement.statement("achieved"))
        [[there]] = spark.rows(requirement.statement("achieved"))
        assert (here is None) == (there is None), requirement
        assert here is None or isclose(here, there, rel_tol=1e-9, abs_tol=1e-9), requirement
        expected, found = violations(duck, requirement), violations(spark, requirement)
        assert found.keys() == expected.keys(), requirement
        for of, (size, excess) in expected.items():
            assert found[of][0] == size, requirement
            assert isclose(found[of][1], excess, rel_tol=1e-9, abs_tol=1e-9), requirement


def test_the_releases_tell_the_models_apart(duck: DuckDBEngine) -> None:
    """Comparing would be worth little where all classes violate a model, or none.

    All or none of them violate a model that judges all classes together; the releases reach different figures of it.
    """

    def register(release: str) -> None:
        for name, table in RELEASES[release].items():
            duck.connection.register(name, table)

    def achieved(release: str, question: Question) -> Any:
        register(release)
        [[figure]] = duck.rows(next(requirements(question)).statement("achieved"))
        return figure

    for question in map(load_question, question_names()):
        register("many classes")
        counts = {len(violations(duck, requirement)) for requirement in requirements(question)}
        if not any(0 < count < 60 for count in counts):
            assert question.whole_release, question.name
            figures = {achieved(release, question) for release in RELEASES if "words" not in release}
            assert len(figures - {None}) > 1, question.name
