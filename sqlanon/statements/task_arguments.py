"""The arguments of a task, taken one by one."""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.domain.identifiers import fold, nearest
from sqlanon.domain.values import Value, written
from sqlanon.errors import UserError, about

__all__ = ["TaskArguments"]


class TaskArguments:
    """What a statement has behind TASK, by folded names; each argument is taken once, and none may be left."""

    def __init__(self, arguments: Sequence[tuple[str, Value]]) -> None:
        self._left = {fold(name): value for name, value in arguments}
        self._known: list[str] = []

    def choice(self, name: str, choices: Sequence[str]) -> str:
        """One of some words. Raises UserError, with them, for another or none."""
        value = self._taken(name, None)
        text = fold(value) if isinstance(value, str) else ""
        if text not in choices:
            with about("task", name):
                raise UserError(
                    f"TASK lacks its {name}" if value is None else f"there is no {name} {written(value)}",
                    hint=nearest(text, choices) or f"write {' or '.join(f'{name} => {written(c)}' for c in choices)}",
                )
        return text

    def whole(self, name: str, default: int, least: int) -> int:
        """A whole number, `least` at the least. Raises UserError for anything else."""
        value = self._taken(name, default)
        assert value is not None
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            with about("task", name):
                raise UserError(
                    f"{name} must be a whole number from {least} on, not {written(value)}",
                    hint=f"write {name} => {default}",
                )
        return value

    def require_no_others(self) -> None:
        """Raises UserError for an argument that nothing has taken."""
        for name in self._left:
            with about("task", name):
                raise UserError(
                    f"TASK has no argument {name!r}",
                    hint=nearest(name, self._known) or f"it has: {', '.join(self._known)}",
                )

    def _taken(self, name: str, default: Value | None) -> Value | None:
        self._known.append(name)
        return self._left.pop(name, default)
