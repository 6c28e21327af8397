"""How far a statement has come, for an observer."""

from __future__ import annotations

from typing import Protocol


class Watching(Protocol):
    """Called with the stage, how much of how much is done, and perhaps what there is to say of it."""

    def __call__(self, stage: str, done: int, total: int, detail: str | None = None) -> None: ...
