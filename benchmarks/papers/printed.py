"""Compares figures that a paper prints with those that sqlanon computes.

`<paper>.toml` has the printed figures, in groups; `GROUPS` of `<paper>.py` has for each group the function that
computes its figures. `python -m benchmarks.papers <paper>` prints the table, with a line for each printed figure.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any

import sqlanon
from benchmarks.papers import adult

__all__ = [
    "PAPERS",
    "Computation",
    "Group",
    "Line",
    "Printed",
    "Value",
    "compared",
    "groups",
    "has_adult",
    "page_lines",
    "pages",
    "source",
    "table",
    "write",
]

FOLDER = Path(__file__).parent
DOCS = FOLDER.parents[1] / "docs" / "reproductions"
PAPERS = tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))
HEADS = ("where", "printed", "ours", "difference", "tolerance", "reason")
_BEGIN, _END = "<!-- figures: {} -->", "<!-- end of figures -->"

# Ours: a number, a text, or None where sqlanon makes no such release. A computation yields each with its name in the
# group. Other groups use its database, too, so it makes everything by CREATE OR REPLACE.
Value = float | str | None
Computation = Callable[[sqlanon.Connection], Iterator[tuple[str, Value]]]


@dataclass(frozen=True)
class Printed:
    """A figure as the paper prints it; `tolerance` is the greatest difference that counts as agreement.

    `reason` says why ours differs, where it does by more.
    """

    name: str
    printed: str
    tolerance: str
    reason: str


@dataclass(frozen=True)
class Group:
    """Figures that one function computes together; those of a quick group are computed anew by a test."""

    name: str
    where: str
    quick: bool
    figures: tuple[Printed, ...]


@dataclass(frozen=True)
class Line:
    """A printed figure beside ours; `difference` is between the numbers as shown, and empty between texts."""

    where: str
    printed: str
    ours: str
    difference: str
    tolerance: str
    reason: str

    @property
    def agrees(self) -> bool:
        """Whether ours is within the tolerance; texts have to be equal."""
        if not self.difference:
            return self.printed == self.ours
        return abs(Decimal(self.difference)) <= Decimal(self.tolerance)

    def cells(self) -> tuple[str, ...]:
        return (self.where, self.printed, self.ours, self.difference, self.tolerance, self.reason)


def has_adult(paper: str) -> bool:
    """Returns whether figures of the paper are about Adult: its file does not say `adult = false`."""
    return bool(_content(paper).get("adult", True))


@contextmanager
def source(paper: str) -> Iterator[sqlanon.Connection]:
    """Yields a new database, with Adult's complete rows in `people` if the paper has Adult's figures."""
    if not has_adult(paper):
        with sqlanon.connect() as connection:
            yield connection
        return
    with adult.connected(None, 1) as connection:
        yield connection


def groups(paper: str) -> tuple[Group, ...]:
    """Returns the groups of a paper's printed figures, in the paper's order."""
    return tuple(_group(group) for group in _content(paper)["group"])


def _content(paper: str) -> dict[str, Any]:
    return tomllib.loads((FOLDER / f"{paper}.toml").read_text(encoding="utf-8"))


def _group(group: Mapping[str, Any]) -> Group:
    shared = group.get("tolerance", "0")
    printed = (
        Printed(figure["name"], figure["printed"], figure.get("tolerance", shared), figure.get("reason", ""))
        for figure in group["figures"]
    )
    return Group(group["name"], group["where"], group.get("quick", False), tuple(printed))


def compared(paper: str, group: Group, connection: sqlanon.Connection) -> Iterator[Line]:
    """Computes a group and yields a line for each printed figure.

    Raises KeyError unless the function yields exactly the printed figures.
    """
    computations: Mapping[str, Computation] = import_module(f"benchmarks.papers.{paper}").GROUPS
    ours = dict(computations[group.name](connection))
    if surplus := ours.keys() - {figure.name for figure in group.figures}:
        raise KeyError(f"{paper}, {group.name}: not among the printed figures: {', '.join(sorted(surplus))}")
    for figure in group.figures:
        yield _line(group, figure, ours[figure.name])


def _line(group: Group, figure: Printed, ours: Value) -> Line:
    where = f"{group.where}, {figure.name}"
    if ours is None or isinstance(ours, str):
        shown = "-" if ours is None else ours
        return Line(where, figure.printed, shown, "", "", "" if shown == figure.printed else figure.reason)
    digits = len(figure.printed.partition(".")[2])
    comma = "," if "," in figure.printed else ""
    shown = f"{round(ours, digits) + 0.0:{comma}.{digits}f}"
    difference = Decimal(shown.replace(",", "")) - Decimal(figure.printed.replace(",", ""))
    line = Line(where, figure.printed, shown, f"{difference:+}" if difference else "0", figure.tolerance, "")
    return line if line.agrees else replace(line, reason=figure.reason)


def table(lines: Iterator[Line] | Sequence[Line]) -> Iterator[str]:
    """Yields the lines of a Markdown table, each as soon as its figure is computed."""
    yield f"| {' | '.join(HEADS)} |"
    yield "| --- | ---: | ---: | ---: | ---: | --- |"
    for line in lines:
        yield f"| {' | '.join(line.cells())} |"


def pages() -> Mapping[str, Path]:
    """Returns the page of each paper."""
    return {paper: DOCS / f"{paper}.md" for paper in PAPERS}


def page_lines(paper: str) -> list[Line]:
    """Returns the lines of the table on the page of a paper."""
    text = pages()[paper].read_text(encoding="utf-8")
    _, _, after = text.partition(_BEGIN.format(paper))
    rows = [row for row in after.partition(_END)[0].splitlines() if row.startswith("|")]
    cells = ([cell.strip() for cell in row[1:-1].split(" |")] for row in rows[2:])
    return [Line(where, told, ours, gap, limit, why) for where, told, ours, gap, limit, why in cells]


def write(paper: str, lines: Sequence[Line]) -> None:
    """Replaces the table on the page of a paper."""
    path = pages()[paper]
    before, begin, rest = path.read_text(encoding="utf-8").partition(_BEGIN.format(paper))
    _, end, after = rest.partition(_END)
    if not begin or not end:
        raise ValueError(f"{path}: no lines {_BEGIN.format(paper)} and {_END}")
    path.write_text("\n".join((before + begin, "", *table(lines), "", end + after)), encoding="utf-8")
