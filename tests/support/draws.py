"""How many inputs a property test draws: some in `make test`, all of them in `make test-long`.

A test that draws more in the long part has the marker `drawn`, and runs in both parts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Part", "Share", "draws", "run_only"]


class Part(StrEnum):
    """Which part of the tests a run is: `--part` names it."""

    QUICK = "quick"
    LONG = "long"
    ALL = "all"


@dataclass(frozen=True)
class Share:
    """Which of how many equal shares of a part's tests a run has, counted from 1."""

    number: int = 1
    of: int = 1

    @staticmethod
    def read(text: str) -> Share:
        """A share that is written 2/3. Raises ValueError for any other text."""
        written = re.fullmatch(r"([1-9]\d?)/([1-9]\d?)", text)
        if written is None or int(written[1]) > int(written[2]):
            raise ValueError(f"{text} is no share such as 1/3")
        return Share(int(written[1]), int(written[2]))

    def has(self, index: int) -> bool:
        """Whether the test with this index, from 0, is in the share."""
        return index % self.of == self.number - 1


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
