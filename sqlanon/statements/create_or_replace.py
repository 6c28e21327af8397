"""What CREATE does where there is something of that name already."""

from __future__ import annotations

from typing import Protocol

from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError

__all__ = ["to_be_made"]


class _Catalog(Protocol):
    """The module of the catalog that keeps things of one kind by their names."""

    def exists(self, engine: Engine, name: str) -> bool: ...

    def delete(self, engine: Engine, name: str) -> object: ...


class _Creates(Protocol):
    """A statement that makes something."""

    @property
    def or_replace(self) -> bool: ...

    @property
    def if_not_exists(self) -> bool: ...


def to_be_made(engine: Engine, catalog: _Catalog, kind: str, name: str, statement: _Creates) -> bool:
    """Whether the statement has to make what it names: not where IF NOT EXISTS found it.

    What OR REPLACE replaces is gone afterwards. Raises PolicyError for a name that is taken.
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
