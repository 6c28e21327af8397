"""Writes the lists that name every method: `python -m tools.method_lists --write`.

A new method needs only a folder under `sqlanon/methods/` and a line in its registry. The import contracts in
`pyproject.toml`, the public names in `sqlanon/__init__.py` and `sqlanon/clients/api/__init__.py`, the abilities in
`docs/choosing.md` and the menu in `mkdocs.yml` follow from them. `--check` fails if a file is not up to date.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from sqlanon.domain.values import Value
from sqlanon.errors import PolicyError
from sqlanon.methods import registry
from sqlanon.methods.base import Method
from sqlanon.methods.limits import Limits
from sqlanon.methods.shared.arguments import arguments_of, example_of, required
from tools.typed_classes import class_name

__all__ = ["example_arguments", "texts"]

ROOT = Path(__file__).resolve().parents[1]
LAYERS = re.compile(r'(layers = \[\n    "registry[^"]*",\n    ")[^"]*(",\n    "base",\n)')
FORBIDDEN = re.compile(r'(forbidden_modules = \[\n)((?:    "sqlanon\.methods\.\w+",\n)+)(\]\n)')
OF_METHODS = re.compile(r"(from sqlanon\.clients\.api\.methods import \(\n)(.*?)(\n\))", re.DOTALL)
OF_API = re.compile(r"(    from sqlanon\.clients\.api import \(\n)(.*?)(\n    \))", re.DOTALL)
PUBLIC = re.compile(r"(__all__ = \[\n)(.*?)(\n\])", re.DOTALL)
TABLE = re.compile(r"(?<=says what to use instead\.\n\n).*?(?=\n\n)", re.DOTALL)
MENU = re.compile(r"((?:^      - .*methods/.*\n)+)", re.MULTILINE)


def example_arguments(method: Method[Any, Any]) -> tuple[tuple[str, Value], ...]:
    """Returns the arguments that a method requires, each with the example of its help."""
    known = arguments_of(method.OPTIONS)
    optional = [name for name, about in known.items() if name not in required(method.OPTIONS) and about.example]
    arguments = [(name, example_of(known[name])) for name in required(method.OPTIONS)]
    for name in ("", *optional):
        given = (*arguments, (name, example_of(known[name]))) if name else tuple(arguments)
        try:
            method.options(given)
        except PolicyError:
            # The method requires one of several arguments.
            continue
        return given
    raise ValueError(f"the examples of {method.name} are no arguments that it takes")


def folders() -> list[str]:
    """Returns the names of the methods' folders."""
    inside = (path.parent.name for path in (ROOT / "sqlanon" / "methods").glob("*/__init__.py"))
    return sorted(name for name in inside if name != "shared")


def texts(root: Path = ROOT, of_folders: Sequence[str] | None = None) -> dict[str, str]:
    """Returns the text of each file with a list of methods, by its path from the root."""
    names = folders() if of_folders is None else of_folders
    classes = [class_name(name) for name in registry.METHODS]
    written: Mapping[str, Callable[[str], str]] = {
        "pyproject.toml": lambda text: _contracts(text, names),
        "sqlanon/clients/api/__init__.py": lambda text: _public(_imported(text, OF_METHODS, classes, "    "), classes),
        "sqlanon/__init__.py": lambda text: _public(_imported(text, OF_API, classes, "        "), classes),
        "docs/choosing.md": _abilities,
        "mkdocs.yml": lambda text: _menu(text, root),
    }
    return {path: write((root / path).read_text(encoding="utf-8")) for path, write in written.items()}


def _replaced(pattern: re.Pattern[str], text: str, new: Callable[[re.Match[str]], str]) -> str:
    changed, number = pattern.subn(new, text, count=1)
    if not number:
        raise ValueError(f"there is no {pattern.pattern}")
    return changed


def _contracts(text: str, names: Sequence[str]) -> str:
    """Returns the text with the import contracts: methods import no other method, and other code imports no method's
    folder.
    """
    text = _replaced(LAYERS, text, lambda match: f"{match[1]}{' | '.join(names)}{match[2]}")
    listed = "".join(f'    "sqlanon.methods.{name}",\n' for name in names)
    return _replaced(FORBIDDEN, text, lambda match: f"{match[1]}{listed}{match[3]}")


def _imported(text: str, pattern: re.Pattern[str], classes: Iterable[str], indent: str) -> str:
    def with_classes(match: re.Match[str]) -> str:
        names = sorted({name.strip(" ,") for name in match[2].splitlines()} | set(classes), key=str.casefold)
        return match[1] + "\n".join(f"{indent}{name}," for name in names) + match[3]

    return _replaced(pattern, text, with_classes)


def _public(text: str, classes: Iterable[str]) -> str:
    def with_classes(match: re.Match[str]) -> str:
        names = sorted({name.strip(' ",') for name in match[2].splitlines()} | set(classes))
        return match[1] + "\n".join(f'    "{name}",' for name in names) + match[3]

    return _replaced(PUBLIC, text, with_classes)


def _abilities(text: str) -> str:
    """Returns the text with the table of abilities: a row for each ability, a column for each method.

    A cell that says more than yes or no is kept if it begins with the right word.
    """
    return _replaced(TABLE, text, lambda match: "\n".join(_table(match[0].splitlines())))


def _table(lines: Sequence[str]) -> Iterator[str]:
    head, _, *rows = (_cells(line) for line in lines)
    former = [name.strip("`") for name in head[1:]]
    names = [name for name in former if name in registry.METHODS]
    names += [name for name in registry.METHODS if name not in names]
    yield "| | " + " | ".join(f"`{name}`" for name in names) + " |"
    yield "| " + " | ".join(["---"] * (len(names) + 1)) + " |"
    limits = {name: _limits(name) for name in names}
    abilities = [ability.name for ability in fields(Limits)]
    rows += [[f"`{ability}`"] for ability in abilities[len(rows) :]]
    for ability, (label, *words) in zip(abilities, rows, strict=True):
        cells_by_name = dict(zip(former, words, strict=False))
        cells = (_cell(cells_by_name.get(name, ""), getattr(limits[name], ability) is None) for name in names)
        yield f"| {label} | " + " | ".join(cells) + " |"


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _cell(words: str, can: bool) -> str:
    word = "yes" if can else "no"
    return words if words.split(" ")[0].rstrip(",:") == word else word


def _limits(name: str) -> Limits:
    """Returns the abilities of a method that has only its required arguments."""
    method = registry.find_method(name)
    return method.limits(method.options(example_arguments(method)))


def _menu(text: str, root: Path) -> str:
    """Returns the text with the pages of all methods in the menu; a missing page is added at the end."""
    pages = dict.fromkeys(f"methods/{name.replace('_', '-')}.md" for name in registry.METHODS)
    missing = [page for page in pages if page not in text and (root / "docs" / page).exists()]
    return _replaced(MENU, text, lambda match: match[1] + "".join(f"      - {page}\n" for page in missing))


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the lists, or with --check compares them; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", action="store_true", help="write the lists")
    what.add_argument("--check", action="store_true", help="fail where one is not as it would be written")
    chosen = parser.parse_args(arguments)
    stale = {path: text for path, text in texts().items() if (ROOT / path).read_text(encoding="utf-8") != text}
    for path, text in stale.items():
        if chosen.write:
            (ROOT / path).write_text(text, encoding="utf-8")
        else:
            print(f"{path} is not up to date: python -m tools.method_lists --write", file=sys.stderr)
    return 1 if stale and chosen.check else 0


if __name__ == "__main__":
    raise SystemExit(main())
