"""Settings that apply to a block of statements: an observer of progress, and sizes that limit work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


# Sizes that decide how work is done; a caller may replace them for a block of statements.


S = TypeVar("S", bound="DataclassInstance")


class Adjustable(Generic[S]):
    """The base of dataclasses with sizes; calling such a class returns the sizes of the current thread.

    Each subject declares its own sizes in a class `Sizes`. Tests replace them by small sizes, so that small tables take
    the code paths of large ones.
    """

    def __init__(self, usual: S) -> None:
        self._current: ContextVar[S] = ContextVar(type(usual).__name__, default=usual)

    def __call__(self) -> S:
        return self._current.get()

    @contextmanager
    def replaced(self, **sizes: object) -> Iterator[None]:
        """Replaces the named sizes inside the block; the other sizes stay. Raises TypeError for an unknown name."""
        token = self._current.set(replace(self(), **sizes))
        try:
            yield
        finally:
            self._current.reset(token)


# The progress of a statement, for an observer.


class Watching(Protocol):
    """An observer of progress, called with the stage, the number of finished parts, the total, and a remark."""

    def __call__(self, stage: str, done: int, total: int, detail: str | None = None) -> None: ...
