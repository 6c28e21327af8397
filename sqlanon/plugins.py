"""Plug-ins: the modules of a package of sqlanon, one file each, and the entry points of other packages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import TYPE_CHECKING, Any

from sqlanon.domain.identifiers import nearest
from sqlanon.errors import InternalError, SqlanonError, UserError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


# The noun for a member of each group of entry points: sqlanon.formats and so on.
_CALLED = {"formats": "format", "hierarchies": "hierarchy kind", "methods": "method", "models": "privacy model"}


@cache
def names(package: str) -> tuple[str, ...]:
    """Returns the names of sqlanon's own plug-ins in `package` ("sqlanon.sql.hierarchies", ...), sorted.

    The module `base` and modules whose name begins with an underscore are not plug-ins.
    """
    path = import_module(package).__path__
    return tuple(sorted(m.name for m in iter_modules(path) if m.name != "base" and not m.name.startswith("_")))


def plugin(package: str, name: str) -> ModuleType:
    """Returns the module of the plug-in `name`.

    Raises UserError, with the known names or the similar ones, if there is none.
    """
    kind = package.rpartition(".")[2].replace("_", " ")
    return named_module(kind, name, {known: f"{package}.{known}" for known in names(package)})


def named_module(kind: str, name: str, modules: Mapping[str, str]) -> ModuleType:
    """Returns the module of a name, in any case: one of `modules`, or the module of another package.

    `kind` is the noun that the error uses. Other packages are searched only for names that `modules` lacks, so that
    none replaces a module of sqlanon. Raises UserError, with the known names or the similar ones, if there is no such
    module, or if another package's module cannot be loaded.
    """
    folded = name.lower()
    if folded in modules:
        return import_module(modules[folded])
    if folded in installed(kind):
        module: ModuleType = installed_plugin(kind, folded)
        return module
    known = [*modules, *installed(kind)]
    raise UserError(
        f"there is no {_CALLED.get(kind, kind)} {name!r}",
        hint=nearest(name, known) or f"there are: {', '.join(known)}",
    )


@cache
def installed(kind: str) -> Mapping[str, Sequence[EntryPoint]]:
    """Returns the entry points of the group `sqlanon.<kind>`, by name in lower case; imports none of them."""
    from importlib.metadata import entry_points

    points: dict[str, list[EntryPoint]] = {}
    for point in sorted(entry_points(group=f"sqlanon.{kind}"), key=lambda point: (point.name.lower(), _package(point))):
        points.setdefault(point.name.lower(), []).append(point)
    return points


def plugin_versions() -> list[tuple[str, str]]:
    """Returns each package that has a plug-in, with its version, sorted; imports none of them."""
    every_point = [point for kind in _CALLED for points in installed(kind).values() for point in points]
    return sorted({(_package(point), (point.dist and point.dist.version) or "") for point in every_point})


def installed_plugin(kind: str, name: str) -> Any:
    """Loads the object of the entry point with this name.

    Raises UserError, which names the package, if its import fails or exits, or if several packages have the name.
    """
    points = installed(kind)[name.lower()]
    packages = dict.fromkeys(map(_package, points))
    if len(packages) > 1:
        raise UserError(
            f"several packages have a {_CALLED[kind]} {name}: {', '.join(packages)}", hint="uninstall all but one"
        )
    try:
        return points[0].load()
    except (Exception, SystemExit) as error:
        raise incomplete(kind, name, f"cannot be loaded: {type(error).__name__}: {error}") from error


def incomplete(kind: str, name: str, problem: str) -> SqlanonError:
    """Returns the error for a plug-in that lacks a required part: a defect of its package."""
    member = f"the {_CALLED[kind]} {name}"
    if name.lower() not in installed(kind):
        return InternalError(f"{member} {problem}")
    package = _package(installed(kind)[name.lower()][0])
    return UserError(
        f"{member}, a plug-in of the package {package}, {problem}",
        hint=f"install a version of {package} that fits this one of sqlanon, or uninstall it",
    )


def _package(point: EntryPoint) -> str:
    """Returns the name of a plug-in's package; the name of its module if the package is unknown."""
    return (point.dist and point.dist.name) or point.module
