"""Labels of a plot: texts that differ, on lines that are short enough to stand beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sqlanon.release.pipeline.explain import printable

# The most letters of a line, and of a label: more leave a telephone no room for the plot.
_LETTERS, _MOST = 24, 96


def unique(labels: Sequence[str | None]) -> list[str]:
    """The labels as texts on one line that differ, so that no plot takes two for one: a later one has its number."""
    counts: Counter[str] = Counter()
    texts: list[str] = []
    for label in labels:
        on_one_line = "NULL, no value" if label is None else printable(label)
        counts[on_one_line] += 1
        texts.append(on_one_line if counts[on_one_line] == 1 else f"{on_one_line} ({counts[on_one_line]})")
    return texts


def lines_of(labels: Sequence[str]) -> list[str]:
    """The labels on a few lines each; the end of a long one is left out, and they still differ."""
    shortened = [label if len(label) <= _MOST else f"{label[: _MOST - 3]}..." for label in labels]
    return ["\n".join(_lines(label)) for label in unique(shortened)]


def _lines(label: str) -> list[str]:
    """The label in pieces: a line ends behind a space, or within a word that is longer than a line."""
    lines: list[str] = []
    while len(label) > _LETTERS:
        end = label.rfind(" ", 0, _LETTERS + 1) + 1 or _LETTERS
        lines.append(label[:end])
        label = label[end:]
    return [*lines, label]
