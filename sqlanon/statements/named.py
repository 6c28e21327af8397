"""The base of statements that make or drop an object which the catalog keeps by its name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol, Self

from sqlanon.domain.identifiers import nearest
from sqlanon.errors import PolicyError, UserError
from sqlanon.statements.base import Answer, Statement, done
from sqlanon.syntax.head import dropped, object_name
from sqlanon.syntax.texts import if_exists_text, name_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlanon.domain.context import Watching
    from sqlanon.engines.base import Engine
    from sqlanon.syntax.reader import Reader


class KeptByName(Protocol):
    """A module of the catalog that keeps objects of one kind by their names."""

    def exists(self, engine: Engine, name: str, /) -> bool: ...

    def delete(self, engine: Engine, name: str, /) -> object: ...

    def listing(self, engine: Engine, /) -> Sequence[str]: ...


class Creates(Protocol):
    """A statement that makes an object."""

    @property
    def or_replace(self) -> bool: ...

    @property
    def if_not_exists(self) -> bool: ...


def to_be_made(engine: Engine, catalog: KeptByName, kind: str, name: str, statement: Creates) -> bool:
    """Whether the statement must make the object that it names: it is false if IF NOT EXISTS found an object of this
    name.

    OR REPLACE deletes the old object. Raises PolicyError for a name that is taken.
    """
    if not catalog.exists(engine, name):
        return True
    if statement.if_not_exists:
        return False
    if not statement.or_replace:
        raise PolicyError(
            f"the {kind} {name} exists already",
            hint=f"write CREATE OR REPLACE {kind.upper()}, or IF NOT EXISTS",
            part=("name",),
        )
    catalog.delete(engine, name)
    return True


@dataclass(frozen=True)
class DropNamed(Statement, abstract=True):
    """The base class of the statements DROP kind [IF EXISTS] name."""

    name: str
    if_exists: bool = False

    # The kind of object, in lower case, and the class of the error for a missing one.
    KIND: ClassVar[str]
    ABSENT: ClassVar[type[UserError]] = UserError

    @classmethod
    def read(cls, reader: Reader) -> Self:
        if_exists = dropped(reader, cls.KIND.upper())
        name = object_name(reader, cls.KIND)
        reader.end()
        return cls(name, if_exists)

    def sql(self) -> str:
        return f"DROP {self.KIND.upper()} {if_exists_text(self.if_exists)}{name_text(self.name)}"

    def title(self) -> str:
        return f"DROP {self.KIND.upper()} {self.name}"

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        objects = self.objects()
        with engine.transaction():
            is_there = objects.exists(engine, self.name)
            if is_there:
                self.require_unused(engine)
                objects.delete(engine, self.name)
            elif not self.if_exists:
                raise self.ABSENT(
                    f"there is no {self.KIND} {self.name}",
                    hint=nearest(self.name, objects.listing(engine)),
                    part=("name",),
                )
        return done(f"DROP {self.KIND.upper()}", self.name, "dropped" if is_there else "absent")

    def objects(self) -> KeptByName:
        """Returns the module of the catalog that keeps objects of this kind."""
        raise NotImplementedError

    def require_unused(self, engine: Engine) -> None:
        """Raises an error if the object cannot be dropped yet."""
