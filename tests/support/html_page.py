"""Reads a page as a browser does: its tables, its elements, and the data that its scripts read."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import Any

__all__ = ["Page"]

_VOID = ("link", "meta", "wbr")
_LACKING = ("none", "not defined", "nothing required", "not compared", "whole release", "no bound")
_WORDS = {"yes": True, "no": False, **dict.fromkeys(_LACKING)}


class Page(HTMLParser):
    """A page: `tables` by their captions, each with the rows of its body, and numbers as they are in full.

    `elements` are the names of its elements with their attributes, `text` what is read, `visible` the part of it
    that is not folded, `terms` what is explained, `items` those of its numbered lists, and `charts` the specifications
    of its plots.
    """

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: dict[str, list[list[Any]]] = {}
        self.heads: dict[str, list[str]] = {}
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.charts: list[dict[str, Any]] = []
        self.text = ""
        self.visible = ""
        self.terms: list[str] = []
        self.items: list[str] = []
        self._open: list[str] = []
        self._cell, self._number, self._caption, self._script = "", None, "", ""
        self._row: list[Any] = []
        self._head: list[str] = []
        self._body: list[list[Any]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.elements.append((tag, attributes))
        if tag not in _VOID:
            self._open.append(tag)
        if tag == "dt":
            self.terms.append("")
        elif tag == "li":
            self.items += [""] if self._open[-2:] == ["ol", "li"] else []
        if tag == "table":
            self._caption, self._head, self._body = "", [], []
        elif tag == "tr":
            self._row = []
        elif tag in ("td", "th"):
            self._cell, self._number = "", None
        elif tag == "data":
            self._number = float(attributes["value"] or "nan")
        elif tag == "script":
            self._script = ""

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            words = _WORDS.get(self._cell, self._cell)
            self._row.append(words if self._number is None else self._number)
        elif tag == "tr" and "thead" in self._open:
            self._head = [str(cell) for cell in self._row]
        elif tag == "tr":
            self._body.append(self._row)
        elif tag == "table":
            self.tables[self._caption], self.heads[self._caption] = self._body, self._head
        elif tag == "script" and self._script.startswith("{"):
            self.charts.append(json.loads(self._script))
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if "script" in self._open[-1:]:
            self._script += data
            return
        if "style" in self._open[-1:]:
            return
        self.text += data
        if "details" not in self._open or ("summary" in self._open and self._open.count("details") == 1):
            self.visible += data
        self._cell += data
        # A name comes in pieces, between which a line may break.
        if "dt" in self._open[-1:]:
            self.terms[-1] += data
        if self._open[-2:] == ["ol", "li"]:
            self.items[-1] += data
        if "caption" in self._open:
            self._caption += data

    def table(self, beginning: str) -> list[list[Any]]:
        """The rows of the only table whose caption begins so."""
        [rows] = [rows for caption, rows in self.tables.items() if caption.startswith(beginning)]
        return rows
