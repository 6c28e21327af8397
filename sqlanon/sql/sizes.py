"""The width of keys, and the number of rounds in which the guard checks the classes of a release."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.domain.context import Adjustable


@dataclass(frozen=True)
class Sizes:
    """The sizes of keys and of the guard.

    A word of a key, a BIGINT, has `word_bits` bits. The key of a class in a live view has room for `max_labels` labels
    of each column, so that two columns fill a word. The guard checks the remaining classes `guard_rounds` times: if the
    last round still finds a violating class, nothing is published.
    """

    word_bits: int = 62
    max_labels: int = 1 << 31
    guard_rounds: int = 8


sizes = Adjustable(Sizes())
