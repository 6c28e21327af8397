"""What the objects have in common: each stands for a part of a statement, and is equal to what stands for the same."""

from __future__ import annotations

from typing import Generic, Self, TypeVar

Definition = TypeVar("Definition")


class Defined(Generic[Definition]):
    """An object that stands for a part of a statement, its `definition`, and does not change."""

    _definition: Definition

    @classmethod
    def of(cls, definition: Definition) -> Self:
        """The object of a definition that was checked already, such as one of the catalog's."""
        made = object.__new__(cls)
        made._definition = definition
        return made

    @property
    def definition(self) -> Definition:
        """What a statement is read as, and what the catalog keeps."""
        return self._definition

    def __setattr__(self, name: str, value: object) -> None:
        """Raises AttributeError: what was set would not be in the statement."""
        if name != "_definition" or "_definition" in self.__dict__:
            raise AttributeError(f"a {type(self).__name__} does not change: make another one")
        object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Defined) and bool(self._definition == other._definition)

    def __hash__(self) -> int:
        return hash(self._definition)
