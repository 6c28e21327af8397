"""What inputs the property tests draw: the same each time, unless others are asked for.

A test that fails then fails for whoever runs it, and because of the change at hand.
`--hypothesis-profile=random` draws new ones, to find what nobody has seen yet.

`--compiled` is for sqlglot's compiled build, and ends at once with any other.
"""

from __future__ import annotations

from importlib.machinery import EXTENSION_SUFFIXES

import pytest
import sqlglot.expressions.core
import sqlglot.generators.duckdb
import sqlglot.parsers.duckdb
import sqlglot.tokenizer_core
from hypothesis import settings

# An assertion in a helper says what was compared, as one in a test does.
pytest.register_assert_rewrite("tests.support")

# What trees are read, made, copied and written with.
SQLGLOT = (
    sqlglot.expressions.core,
    sqlglot.generators.duckdb,
    sqlglot.parsers.duckdb,
    sqlglot.tokenizer_core,
)

settings.register_profile("fixed", derandomize=True)
settings.register_profile("random", derandomize=False)
settings.load_profile("fixed")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--compiled", action="store_true", help="fail unless sqlglot's compiled build is imported")


def pytest_configure(config: pytest.Config) -> None:
    if not config.getoption("--compiled"):
        return
    plain = [str(module.__file__) for module in SQLGLOT if not str(module.__file__).endswith(tuple(EXTENSION_SUFFIXES))]
    if plain:
        raise pytest.UsageError(f"--compiled: this is not sqlglot's compiled build: {plain[0]}")
