"""A statement says all that sqlanon has to know of it: what it does not say has no default."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from sqlanon.statements.base import Catalog, Statement
from sqlanon.statements.registry import label_of, spellings_of, statements

FACTS: dict[str, Any] = {
    "__doc__": "Says hello.",
    "OPENINGS": ("GREET",),
    "EXAMPLES": ("GREET patients",),
    "GRAMMAR": "greet = GREET name ;",
    "CALCULATES": False,
    "DISTRIBUTED": None,
    "CATALOG": Catalog.NONE,
    "COLUMNS": (("greeting", "VARCHAR"),),
    "read": classmethod(lambda cls, reader: cls()),
    "sql": lambda self: "GREET",
    "title": lambda self: "GREET",
    "run": lambda self, engine, progress: None,
}


def test_a_class_that_says_everything_is_a_statement() -> None:
    assert issubclass(type("Greet", (Statement,), FACTS), Statement)


@pytest.mark.parametrize("fact", FACTS)
def test_a_class_that_lacks_a_fact_cannot_be_defined(fact: str) -> None:
    lacking = {name: value for name, value in FACTS.items() if name != fact}
    name = "a docstring" if fact == "__doc__" else fact
    if fact == "OPENINGS":
        lacking.pop("read")
    with pytest.raises(TypeError, match=f"the statement Greet lacks {name}"):
        type("Greet", (Statement,), lacking)


def test_only_a_statement_without_an_opening_is_read_by_another() -> None:
    lacking = {name: value for name, value in FACTS.items() if name != "read"} | {"OPENINGS": ()}
    assert issubclass(type("Greet", (Statement,), lacking), Statement)


def test_a_fact_of_a_base_class_is_not_a_default() -> None:
    """A class for several statements has their common part, and does not pass for one itself."""

    @dataclass(frozen=True)
    class Several(Statement, abstract=True):
        def title(self) -> str:
            return "GREET"

    with pytest.raises(TypeError, match="the statement Greet lacks OPENINGS, EXAMPLES, GRAMMAR, CALCULATES, "):
        type("Greet", (Several,), {"__doc__": "Says hello."})


def test_openings_with_and_without_what_may_be_left_out() -> None:
    opening = "EXPLAIN [VERBOSE] [CREATE [OR REPLACE]] ANONYMIZED"
    assert label_of(opening) == "EXPLAIN ANONYMIZED"
    assert sorted(map(" ".join, spellings_of(opening))) == [
        "EXPLAIN ANONYMIZED",
        "EXPLAIN CREATE ANONYMIZED",
        "EXPLAIN CREATE OR REPLACE ANONYMIZED",
        "EXPLAIN VERBOSE ANONYMIZED",
        "EXPLAIN VERBOSE CREATE ANONYMIZED",
        "EXPLAIN VERBOSE CREATE OR REPLACE ANONYMIZED",
    ]


def test_no_two_statements_have_an_opening() -> None:
    spellings = [words for cls in statements() for opening in cls.OPENINGS for words in spellings_of(opening)]
    assert len(spellings) == len(set(spellings))
