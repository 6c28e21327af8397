"""Plug-ins: modules of this package, a file each and named after it, and those of other packages by entry points."""

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


# The groups of entry points are sqlanon.formats and so on; this is what a member of each is called.
_CALLED = {"formats": "format", "hierarchies": "hierarchy kind", "methods": "method", "models": "privacy model"}


@cache
def names(package: str) -> tuple[str, ...]:
    """The plug-ins that `package` ("sqlanon.sql.hierarchies", ...) has itself, sorted.

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
    """The module that `modules` or another package has for a name, whatever its case.

    `kind` says in the error what they are. Other packages are asked only for names that `modules` lacks, so that
    none stands in for what is here. Raises UserError, with the names there are or those that are spelt alike, if
    there is none, or if another package's cannot be loaded.
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
    """The plug-ins of other packages, by their names in small letters: the entry points of the group `sqlanon.<kind>`.

    Nothing of them is imported.
    """
    from importlib.metadata import entry_points

    points: dict[str, list[EntryPoint]] = {}
    for point in sorted(entry_points(group=f"sqlanon.{kind}"), key=lambda point: (point.name.lower(), _package(point))):
        points.setdefault(point.name.lower(), []).append(point)
    return points


def plugin_versions() -> list[tuple[str, str]]:
    """Each package that has a plug-in, with its version, sorted. Nothing of them is imported."""
    every_point = [point for kind in _CALLED for points in installed(kind).values() for point in points]
    return sorted({(_package(point), (point.dist and point.dist.version) or "") for point in every_point})


def installed_plugin(kind: str, name: str) -> Any:
    """Loads the object of the entry point with this name.

    Raises UserError, which names the package, if it cannot be imported or ends the program then, or if several packages
    have it.
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
    """The error of a plug-in that is not what it has to be, a defect of the package that it is in."""
    member = f"the {_CALLED[kind]} {name}"
    if name.lower() not in installed(kind):
        return InternalError(f"{member} {problem}")
    package = _package(installed(kind)[name.lower()][0])
    return UserError(
        f"{member}, a plug-in of the package {package}, {problem}",
        hint=f"install a version of {package} that fits this one of sqlanon, or uninstall it",
    )


def _package(point: EntryPoint) -> str:
    """The package of a plug-in; its module where nothing says what the package is called."""
    return (point.dist and point.dist.name) or point.module
