"""Draws the imports between the parts of a package, as Mermaid: `python tools/import_diagram.py sqlanon.methods`.

An arrow is an import. Arrows that follow from other arrows are left out: if a imports b and b imports c, there is no
arrow from a to c. Parts that import each other, directly or not, are in one box.

`--write PAGE` and `--check PAGE` treat the pictures of a page: blocks of Mermaid, each below a line `<!-- imports:
sqlanon.methods -->`. `--write` draws them again, and `--check` fails if a picture is not up to date.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import grimp

__all__ = ["boxes", "diagram", "drawn_anew", "reduced"]

ROOT = "sqlanon"
# The modules that start the package, and the module of errors, are left out.
LEFT_OUT = ("sqlanon.__main__", "sqlanon.errors")

PICTURE = re.compile(r"(<!-- imports: (\S+) -->\n+```mermaid\n).*?(?=```)", re.DOTALL)

Imports = Mapping[str, frozenset[str]]


def imports(package: str) -> Imports:
    """Returns, for each part of a package, the other parts that it imports."""
    graph = grimp.build_graph(ROOT, cache_dir=None)
    parts = sorted(graph.find_children(package) - set(LEFT_OUT))
    if not parts:
        raise SystemExit(f"{package} is no package with parts")
    for part in parts:
        graph.squash_module(part)
    return {part: frozenset(graph.find_modules_directly_imported_by(part)) & set(parts) for part in parts}


def reachable(starts: Iterable[str], edges: Imports) -> set[str]:
    """Returns the parts that the given parts import, by any number of steps."""
    seen: set[str] = set()
    waiting = [end for start in starts for end in edges[start]]
    while waiting:
        part = waiting.pop()
        if part not in seen:
            seen.add(part)
            waiting += edges[part]
    return seen


def boxes(edges: Imports) -> Imports:
    """Groups parts that import each other into boxes; returns the imports between boxes, named after their parts."""
    below = {part: reachable([part], edges) for part in edges}
    name = {part: ", ".join(sorted({part, *(one for one in below[part] if part in below[one])})) for part in edges}
    found: dict[str, frozenset[str]] = {}
    for part, ends in edges.items():
        found[name[part]] = found.get(name[part], frozenset()) | {name[end] for end in ends} - {name[part]}
    return found


def reduced(edges: Imports) -> Imports:
    """Returns the transitive reduction of imports without a cycle (Aho, Garey and Ullman 1972)."""
    return {part: frozenset(ends - reachable(ends, edges)) for part, ends in edges.items()}


def diagram(package: str) -> str:
    """Returns the lines of the picture."""
    edges = reduced(boxes(imports(package)))
    drawn = {box: _box(box) for box in edges}
    lines = [f"    {drawn[box]} --> {drawn[end]}" for box in sorted(edges) for end in sorted(edges[box])]
    # A box without an arrow has its own line.
    linked = {box for box, ends in edges.items() if ends} | {end for ends in edges.values() for end in ends}
    lines += [f"    {drawn[box]}" for box in sorted(edges.keys() - linked)]
    return "\n".join(("flowchart TD", *lines)) + "\n"


def _box(box: str) -> str:
    """Formats a box in Mermaid: its name, and its text if it differs from the name."""
    names = [part.rpartition(".")[2] for part in box.split(", ")]
    return names[0] if len(names) == 1 else f'{"_".join(names)}["{", ".join(names)}"]'


def drawn_anew(text: str) -> str:
    """Returns the text of a page with its pictures drawn again."""
    return PICTURE.sub(lambda found: found[1] + diagram(found[2]), text)


def main() -> None:
    """Prints a picture, or writes or checks the pictures of a page."""
    parser = argparse.ArgumentParser(description="Draws which parts of a package import which, as Mermaid.")
    parser.add_argument("package", nargs="?", default=ROOT)
    parser.add_argument("--write", metavar="PAGE", type=Path, help="draw the pictures of a page anew")
    parser.add_argument("--check", metavar="PAGE", type=Path, help="fail if a page's pictures are not up to date")
    given = parser.parse_args()
    page = given.write or given.check
    if page is None:
        sys.stdout.write(diagram(given.package))
        return
    text = page.read_text(encoding="utf-8")
    anew = drawn_anew(text)
    if given.write:
        page.write_text(anew, encoding="utf-8")
    elif anew != text:
        raise SystemExit(f"{page}: the imports have changed; run python tools/import_diagram.py --write {page}")


if __name__ == "__main__":
    main()
