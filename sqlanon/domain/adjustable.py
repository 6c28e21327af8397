"""Sizes that decide how work is done, which a caller may hand in for a block of statements."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

S = TypeVar("S", bound="DataclassInstance")


class Adjustable(Generic[S]):
    """A dataclass of sizes: called, it gives those that hold for this thread.

    Each subject declares its own in a class `Sizes`. Tests hand in small ones, so that the ways of large tables are
    gone on small ones.
    """

    def __init__(self, usual: S) -> None:
        self._current: ContextVar[S] = ContextVar(type(usual).__name__, default=usual)

    def __call__(self) -> S:
        return self._current.get()

    @contextmanager
    def replaced(self, **sizes: object) -> Iterator[None]:
        """Inside the block these sizes hold, and those that are not named as before; TypeError for an unknown name."""
        token = self._current.set(replace(self(), **sizes))
        try:
            yield
        finally:
            self._current.reset(token)
