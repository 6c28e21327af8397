"""The figures of an estimate's answer."""

from __future__ import annotations

from typing import Any

__all__ = ["figures_of"]


def figures_of(answer: Any) -> list[tuple[Any, ...]]:
    """The rows of an answer of ESTIMATE without their last column, which names the columns taken to be uniform."""
    assert answer.columns[-1] == "uniform_columns"
    return [row[:-1] for row in answer.fetchall()]
