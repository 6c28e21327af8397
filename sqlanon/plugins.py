"""One-file plug-ins: every module of a package is one, named after its file."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

from sqlanon.domain.identifiers import nearest
from sqlanon.errors import UserError

__all__ = ["named_module", "names", "plugin"]


@cache
def names(package: str) -> tuple[str, ...]:
    """The plug-ins in `package` ("sqlanon.hierarchies", ...), sorted.

    `base` and modules whose name begins with an underscore are not plug-ins.
    """
    path = import_module(package).__path__
    return tuple(sorted(m.name for m in iter_modules(path) if m.name != "base" and not m.name.startswith("_")))


def plugin(package: str, name: str) -> ModuleType:
    """The module that implements `name`.

    Raises UserError, with the names there are or those that are spelt alike, if there is none.
    """
    kind = package.rpartition(".")[2].replace("_", " ")
    return named_module(kind, name, {known: f"{package}.{known}" for known in names(package)})


def named_module(kind: str, name: str, modules: Mapping[str, str]) -> ModuleType:
    """The module that `modules` has for a name, whatever its case; `kind` says in the error what they are."""
    if name.lower() not in modules:
        hint = nearest(name, list(modules)) or f"there are: {', '.join(modules)}"
        raise UserError(f"there is no {name!r} among the {kind}", hint=hint)
    return import_module(modules[name.lower()])
