"""How many inputs a property test draws: some in `make test`, all of them in `make test-long`.

A test that draws more in the long part has the marker `drawn`, and runs in both parts.
"""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Part", "draws", "run_only"]


class Part(StrEnum):
    """Which part of the tests a run is: `--part` names it."""

    QUICK = "quick"
    LONG = "long"
    ALL = "all"


_part = Part.ALL


def run_only(part: Part) -> None:
    """Decides what `draws` answers; called once, before a test module is imported."""
    global _part
    _part = part


def draws(quick: int, *, long: int) -> int:
    """The number of inputs: `quick` of them in the quick part, `long` in the others.

    Hypothesis's first input is the simplest that there is, so that one alone says little.
    """
    return quick if _part is Part.QUICK else long
