"""Reads the arguments of a task, one by one."""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.domain.identifiers import fold, nearest
from sqlanon.domain.values import QualifiedName, Value, written
from sqlanon.errors import UserError, about

_MOST_SEED = 2**32 - 1


class TaskArguments:
    """The arguments of TASK, by folded names. Each argument is read once; an argument that nobody reads is an error."""

    def __init__(self, arguments: Sequence[tuple[str, Value]]) -> None:
        self._left = {fold(name): value for name, value in arguments}
        self._known: list[str] = []

    def choice(self, name: str, choices: Sequence[str]) -> str:
        """Returns the argument's word, one of `choices`. Raises UserError, which lists them, for another word or no
        word.
        """
        value = self._taken(name, None)
        text = fold(value) if isinstance(value, str) else ""
        if text not in choices:
            with about("task", name):
                raise UserError(
                    f"TASK lacks its {name}" if value is None else f"there is no {name} {written(value)}",
                    hint=nearest(text, choices) or f"write {' or '.join(f'{name} => {written(c)}' for c in choices)}",
                )
        return text

    def choices(self, name: str, choices: Sequence[str]) -> tuple[str, ...]:
        """Returns the argument's words, without repetition; by default these are all `choices`. Raises UserError, which
        lists them, for other words.
        """
        values = self._listed(name)
        if values is None:
            return tuple(choices)
        texts = [fold(value) for value in values]
        for text in texts:
            if text not in choices or texts.count(text) > 1:
                with about("task", name):
                    raise UserError(
                        f"{name} has {text} twice" if text in choices else f"{name}: there is no {written(text)}",
                        hint=nearest(text, choices) or f"there are: {', '.join(choices)}",
                    )
        return tuple(texts)

    def column(self, name: str) -> str:
        """Returns the name of a column as written. Raises UserError if there is none."""
        values = self._listed(name)
        if values is None or len(values) != 1:
            with about("task", name):
                raise UserError(f"TASK lacks its {name}, the name of a column", hint=f"write {name} => salary_class")
        return values[0]

    def columns(self, name: str) -> tuple[str, ...] | None:
        """Returns the names of columns as written; None if the argument is missing."""
        return self._listed(name)

    def has(self, name: str) -> bool:
        """Whether an argument is present that was not read yet."""
        return name in self._left

    def _listed(self, name: str) -> tuple[str, ...] | None:
        """Returns the argument as a tuple of texts; a single text or name counts as a list of one. Returns None if the
        argument is missing.

        Raises UserError for other values.
        """
        value = self._taken(name, None)
        if value is None:
            return None
        values = value if isinstance(value, tuple) else (value,)
        texts = [str(v.name if isinstance(v, QualifiedName) and len(v.parts) == 1 else v) for v in values]
        wrong = [v for v in values if not isinstance(v, str | QualifiedName)]
        if wrong or not texts:
            with about("task", name):
                raise UserError(f"{name} is a name or a list of names, not {written(value)}")
        return tuple(texts)

    def whole(self, name: str, default: int, least: int, most: int | None = None) -> int:
        """Returns a whole number from `least` to `most`. Raises UserError for anything else."""
        value = self._taken(name, default)
        assert value is not None
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= (most or value):
            numbers = f"from {least} to {most}" if most else f"from {least} on"
            with about("task", name):
                raise UserError(
                    f"{name} must be a whole number {numbers}, not {written(value)}",
                    hint=f"write {name} => {default}",
                )
        return value

    def seed(self) -> int:
        """Returns the seed of random numbers, 1 by default. Raises UserError for a seed that NumPy's generators
        refuse.
        """
        return self.whole("seed", 1, 0, _MOST_SEED)

    def require_no_others(self) -> None:
        """Raises UserError if the user gave an argument that the task does not have."""
        for name in self._left:
            with about("task", name):
                raise UserError(
                    f"TASK has no argument {name!r}",
                    hint=nearest(name, self._known) or f"it has: {', '.join(self._known)}",
                )

    def _taken(self, name: str, default: Value | None) -> Value | None:
        self._known.append(name)
        return self._left.pop(name, default)
