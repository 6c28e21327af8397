"""Sizes that are handed in: for a block and its thread, and for nobody else."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Thread

import pytest

from sqlanon.domain.context import Adjustable


@dataclass(frozen=True)
class Sizes:
    rows: int = 10
    words: int = 3


def test_a_block_has_its_sizes_and_those_around_it_are_as_before() -> None:
    sizes = Adjustable(Sizes())
    with sizes.replaced(rows=1):
        with sizes.replaced(words=2):
            assert sizes() == Sizes(1, 2)
        assert sizes() == Sizes(1, 3)
    assert sizes() == Sizes()


def test_an_error_ends_the_block_too() -> None:
    sizes = Adjustable(Sizes())
    with pytest.raises(KeyError), sizes.replaced(rows=1):
        raise KeyError
    assert sizes() == Sizes()


def test_a_size_that_does_not_exist_is_refused() -> None:
    sizes = Adjustable(Sizes())
    with pytest.raises(TypeError, match="columns"), sizes.replaced(columns=1):
        pass
    assert sizes() == Sizes()


def test_another_thread_keeps_the_usual_sizes() -> None:
    sizes, seen = Adjustable(Sizes()), []
    with sizes.replaced(rows=1):
        thread = Thread(target=lambda: seen.append(sizes()))
        thread.start()
        thread.join()
    assert seen == [Sizes()]
