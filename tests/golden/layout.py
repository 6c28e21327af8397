"""Sets a statement in lines of at most 120 characters: a block of sqlglot's lines that fits into one line is one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from itertools import pairwise

__all__ = ["Line", "flat", "laid_out", "tree"]

_WIDTH = 120
_LISTED = re.compile(r"(?:AND|OR|THEN|END)\b")


@dataclass
class Line:
    """A line, and the lines below it that are indented further."""

    text: str
    below: list[Line] = field(default_factory=list)

    @cached_property
    def flat(self) -> str:
        """The line and all below it in one line."""
        return _joined(self.text, flat(self.below))


def tree(text: str) -> list[Line]:
    """Reads the lines of a text by their indentation; a block that is the only content of another takes no level."""
    top: list[Line] = []
    open_blocks = [(-1, top)]
    for full in text.split("\n"):
        line = Line(full.strip())
        indent = len(full) - len(full.lstrip())
        while open_blocks[-1][0] >= indent:
            open_blocks.pop()
        open_blocks[-1][1].append(line)
        open_blocks.append((indent, line.below))
    return _hugged(top)


def flat(lines: Sequence[Line]) -> str:
    """Joins the lines and all below them."""
    return reduce(_joined, (line.flat for line in lines), "")


def laid_out(lines: Sequence[Line], indent: int = 0) -> list[str]:
    """Writes the lines, joined where they fit."""
    done: list[str] = []
    current = ""
    # Whether the current line ends with a block that is all in it, and whether it is no end of a block above it.
    closes = whole = False

    def fits(*texts: str) -> bool:
        return indent + len(reduce(_joined, texts)) <= _WIDTH

    if indent == 0 and fits(flat(lines)):
        return [flat(lines)]
    for line, following in pairwise([*lines, Line("")]):
        block = (flat(line.below), following.text) if following.text.startswith(")") else (flat(line.below),)
        listed = whole and (current.endswith(",") or _LISTED.match(line.text)) and fits(current, line.text, *block)
        if fits(current, line.text) and (listed or (closes and line.text.startswith(")"))):
            current = _joined(current, line.text)
        else:
            done += [" " * indent + current] * bool(current)
            current, whole = line.text, not line.text.startswith((")", "END"))
        closes = bool(line.below) and fits(current, *block)
        if closes:
            current = _joined(current, flat(line.below))
        elif line.below:
            done += [" " * indent + current, *laid_out(line.below, indent + 2)]
            current, whole = "", False
    return done + [" " * indent + current] * bool(current)


def _joined(before: str, after: str) -> str:
    gap = "" if not before or not after or before.endswith("(") or after.startswith(")") else " "
    return f"{before}{gap}{after}"


def _hugged(lines: list[Line]) -> list[Line]:
    for number, line in reversed(list(enumerate(lines))):
        while line.text.endswith("(") and len(line.below) == 2 and line.below[0].below and line.below[1].text == ")":
            (inner, _), following = line.below, lines[number + 1]
            line.text, line.below = _joined(line.text, inner.text), inner.below
            following.text = f"){following.text}"
        _hugged(line.below)
    return lines
