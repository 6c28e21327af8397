"""Macros for clients without Python: a privacy model as `FROM anon.<model>('table', [columns])`.

A macro is the model's own text over `equivalence_class` of the named table. It calls
no other macro, so that it also works from an attached database.
"""

from __future__ import annotations

from sqlanon.assets import read
from sqlanon.questions.load import load_question, question_names

__all__ = ["macro_definitions"]


def macro_definitions() -> list[str]:
    """CREATE OR REPLACE MACRO statements, one for each model that equivalence_class answers."""
    template = read("sql", "macros", "equivalence_class_model.sql")
    return [
        template.replace("{{model}}", name).replace("{{achieved}}", _quoted(load_question(name).statement("achieved")))
        for name in question_names()
        if load_question(name).reads == ("equivalence_class",)
    ]


def _quoted(text: str) -> str:
    return text.replace("'", "''")
