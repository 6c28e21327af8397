"""The cells of the page on notebooks, and what is left when they have been run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tests.support.pages import blocks

__all__ = ["SATISFIED", "variables"]

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "how-to" / "notebooks.md").read_text(encoding="utf-8")
# What CHECK answers of the release of the page.
SATISFIED = ("main.visits_release", "k_anonymity", None, 5.0, 6.0, True)


def _cells(heading: str) -> list[str]:
    """The cells below a heading of the page."""
    section = re.split(r"^## ", PAGE.partition(f"\n## {heading}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]
    return [block.text for block in blocks(section, heading) if block.language == "ipython"]


def variables(shell: Any, heading: str) -> dict[str, Any]:
    """The variables of a notebook in which the cells have been run."""
    cells = _cells(heading)
    assert cells
    for cell in cells:
        shell.run_cell(cell).raise_error()
    names: dict[str, Any] = shell.user_ns
    return names
