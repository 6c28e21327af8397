"""The examples in the docstrings of what is public run, and what is public has a docstring."""

from __future__ import annotations

import doctest
import inspect
from types import ModuleType

import pytest

import sqlanon

PUBLIC = {name: getattr(sqlanon, name) for name in sqlanon.__all__ if not name.startswith("__")}
# Where they are defined: an example stands in the docstring, whatever name it is public by.
MODULES = sorted({str(made.__module__) for made in PUBLIC.values()})
# What has to show how it is used: all that is public, and the methods that programs call first.
WITH_EXAMPLES = (
    *PUBLIC.values(),
    sqlanon.Connection.sql,
    sqlanon.Connection.execute,
    sqlanon.Connection.policy,
    sqlanon.Policy.sql,
)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("module", ["sqlanon", *MODULES])
def test_examples_run(module: str) -> None:
    loaded: ModuleType = __import__(module, fromlist=["_"])
    assert doctest.testmod(loaded).failed == 0


@pytest.mark.parametrize("documented", WITH_EXAMPLES, ids=lambda documented: documented.__qualname__)
def test_there_is_an_example(documented: object) -> None:
    assert ">>> " in str(inspect.getdoc(documented))


def test_what_is_public_has_a_docstring() -> None:
    members = {
        f"{name}.{member}": value
        for name, made in PUBLIC.items()
        if inspect.isclass(made)
        for member, value in vars(made).items()
        if not member.startswith("_") and (inspect.isfunction(value) or isinstance(value, property))
    }
    assert {name for name, made in (PUBLIC | members).items() if not inspect.getdoc(made)} == set()
