"""Pieces of HTML: escaped text, and tables that screen readers can read and the keyboard can scroll."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Sequence
from html import escape
from math import isinf
from typing import Any

from sqlanon.release.pipeline.explain import printable

_STYLE = """
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 25%, transparent); }
html { background: Canvas; color: CanvasText; }
* { box-sizing: border-box; }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 64rem; margin: auto; padding: 1rem; overflow-wrap: anywhere; }
h1, h2, h3 { line-height: 1.25; }
h2 { margin-top: 2.5rem; border-top: 1px solid var(--line); padding-top: 1rem; }
a { color: LinkText; }
:focus-visible { outline: 3px solid Highlight; outline-offset: 2px; }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; padding: 0; list-style: none; }
.table { overflow-x: auto; margin: 1rem 0; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; }
table { border-collapse: collapse; min-width: 50%; font-variant-numeric: tabular-nums; overflow-wrap: normal; }
caption { text-align: left; font-weight: bold; padding: .5rem 0; overflow-wrap: anywhere; }
th, td { border-bottom: 1px solid var(--line); padding: .25rem .75rem .25rem 0; text-align: left; vertical-align: top; }
tbody th { font-weight: normal; }
.number { text-align: right; }
data { white-space: nowrap; }
figure { margin: 1rem 0 .5rem; }
.first figure { margin-top: 0; }
figcaption { font-weight: bold; }
.chart { width: 100%; min-height: 1rem; }
.chart svg { max-width: 100%; height: auto; }
.first { display: grid; gap: 0 2rem; }
.first > div { min-width: 0; }
.verdict { border: 2px solid; border-left-width: .75rem; border-radius: .5rem; padding: .5rem 1rem; margin: 0; }
.met { border-color: #2e7d32; }
.warned { border-color: #c2700f; }
.failed { border-color: #c62828; }
.figures { display: grid; grid-template-columns: 1fr 1fr; gap: .5rem; padding: 0; list-style: none; }
.figures li { border: 1px solid var(--line); border-radius: .5rem; padding: .5rem .75rem; overflow-wrap: break-word; }
.figures li { min-width: 0; line-height: 1.3; }
.figures strong { display: block; font-size: 1.5rem; }
.figures small { display: block; font-size: .85rem; }
small { font-size: inherit; }
details { margin: .75rem 0; }
summary { cursor: pointer; color: LinkText; }
dt { font-weight: bold; }
dd { margin: 0 0 .25rem 1rem; }
@media screen and (min-width: 56rem) {
  .first { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); }
}
@media screen and (min-width: 40rem) {
  dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1.5rem; }
  dd { margin: 0; }
}
@media (max-width: 40rem) {
  body { padding: .5rem .75rem; }
  h1 { font-size: 1.35rem; margin: .5rem 0; }
  .verdict, .figures li { padding: .3rem .6rem; }
  ul, ol { padding-left: 1.25rem; }
  table { width: 100%; }
  th, td { padding-right: .35rem; font-size: .8rem; }
  .number { padding-left: .15rem; }
  .long { overflow-wrap: anywhere; }
}
@media print {
  body { max-width: none; padding: 0; font-size: 10pt; }
  nav, summary { display: none; }
  details::details-content { content-visibility: visible; display: block; block-size: auto; opacity: 1; }
  .table { overflow: visible; }
  h2, h3, caption, figcaption { break-after: avoid; }
  tr, li, dd, caption, figure, .short { break-inside: avoid; }
  dt, thead { break-after: avoid; }
  tbody tr:first-child { break-before: avoid; }
}
"""
# A printed page has all parts, also from browsers whose styles cannot unfold them.
_UNFOLD = """
addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll("details:not([open])")) {
    part.open = true;
    part.dataset.folded = "";
  }
});
addEventListener("afterprint", () => {
  for (const part of document.querySelectorAll("details[data-folded]")) {
    part.open = false;
    delete part.dataset.folded;
  }
});
"""
# The cell for a figure that is about no single column.
WHOLE_RELEASE = "whole release"
# A table with at most this many columns fits a telephone, which has room for this many letters.
_COLUMNS, _LETTERS = 5, 48
# A word with at most this many letters is not broken: longer words are names.
_LETTERS_OF_WORD = 20
# A table with at most this many rows is printed on one page.
_ROWS = 8
# In per cent: the least share that is not written as a bound, and the least distance from 100 %.
_LEAST, _LEAST_BELOW = 0.01, 0.1
# The element in a page's head by which a report is recognized.
GENERATOR = '<meta name="generator" content="sqlanon report">'
PAGE_HEAD = f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n{GENERATOR}'


# The tag of an element, with its escaped attributes, or an underscore of a text.
_TAG_OR_UNDERSCORE = re.compile(r"<[^>]*>|_(?=[^\W_])")


class Markup(str):
    """HTML text; other text is escaped when it is inserted."""

    __slots__ = ()


class InPlaceOfNumber(str):
    """A text in place of a number, in a cell of a column of numbers."""

    __slots__ = ()


class Share(float):
    """A share, 0 or above, that is displayed in per cent."""

    __slots__ = ()


NOT_DEFINED, NOTHING_REQUIRED = InPlaceOfNumber("not defined"), InPlaceOfNumber("nothing required")


def text(value: object) -> Markup:
    """Writes a value as HTML, with names in place of invisible characters."""
    return value if isinstance(value, Markup) else Markup(escape(printable(str(value))))


def number(value: float | int) -> Markup:
    """Writes a rounded number in an element that also has the exact value."""
    if isinf(value):
        return Markup(f'<data value="{value!r}">{"-" if value < 0 else ""}infinite</data>')
    rounded = f"{value:,}" if isinstance(value, int) or float(value).is_integer() else f"{value:.6g}"
    return Markup(f'<data value="{value!r}">{rounded.removesuffix(".0")}</data>')


def percent(share: float, *, marked: bool = True) -> Markup:
    """Writes a rounded share in per cent, in an element that also has the exact value; a share below 1 is never 100 %.

    If `marked` is false, the text is plain.
    """
    hundredths = 100 * share
    if 0 < hundredths < _LEAST:
        rounded = f"under {_LEAST}"
    elif 100 - _LEAST_BELOW < hundredths < 100:
        rounded = f"over {100 - _LEAST_BELOW}"
    else:
        rounded = f"{hundredths:,.0f}" if hundredths >= 100 else f"{hundredths:.3g}"
    return Markup(f'<data value="{share!r}">{rounded} %</data>' if marked else f"{rounded} %")


def cell(value: Any) -> Markup:
    """Writes the cell of a table: `none` for None."""
    match value:
        case None:
            return Markup("none")
        case bool():
            return Markup("yes" if value else "no")
        case Share():
            return percent(float(value))
        case int() | float():
            return number(value)
    return text(value)


def shortened(name: str, letters: int = 120) -> str:
    """Cuts a name to a maximum number of letters."""
    return name if len(name) <= letters else f"{name[: letters - 1]}…"


def breakable(markup: Markup) -> Markup:
    """Adds a place for a line break after each underscore in texts, so that lines do not break within the words of a
    name.
    """
    return Markup(_TAG_OR_UNDERSCORE.sub(lambda match: "_<wbr>" if match[0] == "_" else match[0], markup))


def paragraph(*parts: object) -> Markup:
    return Markup(f"<p>{''.join(map(text, parts))}</p>")


def section(name: str, title: str, *parts: Markup) -> Markup:
    """Returns a part of the page, with `name` as the target of links."""
    head = f'<section aria-labelledby="{text(name)}"><h2 id="{text(name)}">{text(title)}</h2>'
    return Markup("\n".join((head, *parts, "</section>")))


def folded(summary: object, *parts: Markup) -> Markup:
    """Returns parts that a reader unfolds; a printed page shows them without the summary."""
    return Markup("\n".join((f"<details><summary>{text(summary)}</summary>", *parts, "</details>")))


def listed(items: Sequence[Markup], most: int = 8) -> Iterator[Markup]:
    """Yields a list of items; the items after the first `most` are folded."""
    if items:
        yield Markup(f"<ul>{''.join(f'<li>{item}</li>' for item in items[:most])}</ul>")
    if others := items[most:]:
        yield folded(f"{len(others)} more", Markup(f"<ul>{''.join(f'<li>{item}</li>' for item in others)}</ul>"))


def table(caption: object, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Markup:
    """Returns a table with a heading for each column, and a heading for each row in its first column."""
    title = text(caption)
    numeric = [_is_numeric([row[index] for row in rows]) for index in range(len(columns))]
    kinds = ["number" if is_number else "" for is_number in numeric]
    most = max(_LETTERS // len(columns), _LETTERS_OF_WORD) if len(columns) <= _COLUMNS else 0
    named = ((cell(name), _classes(kind, _long(name, most))) for name, kind in zip(columns, kinds, strict=True))
    head = "".join(f'<th scope="col"{classes}>{name}</th>' for name, classes in named)
    body = "\n".join(f"<tr>{_row(row, kinds, most)}</tr>" for row in rows)
    short = " short" if len(rows) <= _ROWS else ""
    return Markup(
        f'<div class="table{short}" role="region" tabindex="0" aria-label="{title}"><table><caption>{title}</caption>'
        f"<thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>"
    )


def _is_numeric(values: Sequence[Any]) -> bool:
    known = [value for value in values if value is not None and not isinstance(value, InPlaceOfNumber)]
    return bool(known) and all(isinstance(value, int | float) and not isinstance(value, bool) for value in known)


def _row(row: Sequence[Any], kinds: Sequence[str], most: int) -> str:
    """Writes the cells of a row; cells with a word of more than `most` letters are marked as breakable."""
    cells = [(cell(value), _classes(kind, _long(value, most))) for value, kind in zip(row, kinds, strict=True)]
    (heading, classes), *others = cells
    data = "".join(f"<td{of_cell}>{content}</td>" for content, of_cell in others)
    return f'<th scope="row"{classes}>{heading}</th>{data}'


def _long(value: Any, most: int) -> str:
    """Returns the class of a text with an unbreakable word of more than `most` letters; empty for any other text."""
    words = re.split(r"[\s-]" if " " in str(value) else "[_-]", value) if isinstance(value, str) and most else ()
    return "long" if any(len(word) > most for word in words) else ""


def _classes(*names: str) -> str:
    classes = " ".join(filter(None, names))
    return f' class="{classes}"' if classes else ""


def document(title: str, parts: Sequence[Markup], data: Sequence[Markup], scripts: Sequence[str]) -> str:
    """Returns the page. The reader's browser loads nothing for it and runs only these scripts.

    `data` are elements that scripts read; `scripts` must not contain the end tag of a script.
    """
    scripts = (*scripts, _UNFOLD)
    hashes = " ".join(f"'sha256-{_digest(script)}'" for script in scripts)
    style = "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    policy = f"default-src 'none'; script-src {hashes}; {style}"
    return "\n".join(
        (
            PAGE_HEAD,
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="referrer" content="no-referrer">',
            '<link rel="icon" href="data:,">',
            f"<title>{text(title)}</title><style>{_STYLE}</style></head>\n<body><main>",
            breakable(Markup(f"<h1>{text(title)}</h1>")),
            *map(breakable, parts),
            "</main>",
            *data,
            *(f"<script>{script}</script>" for script in scripts),
            "</body></html>\n",
        )
    )


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


_TEXT_CELL = re.compile(r'<(td|th scope="(?:row|col)")((?: class="long")?)>')


def in_notebook(*parts: Markup) -> Markup:
    """Joins the parts for a notebook, because its own style would align the texts of a table to the right."""
    return Markup(_TEXT_CELL.sub(r'<\1\2 style="text-align: left">', "\n".join(parts)))


_FRAME = "width: 100%; height: 40rem; border: 0"


class Page:
    """A page that a notebook displays in a separate frame, so that neither can change the other."""

    def __init__(self, title: str, page: str) -> None:
        self.title = title
        self.page = page

    def __str__(self) -> str:
        return self.page

    def __repr__(self) -> str:
        return f"{self.title}: a page of {len(self.page):,} characters, which a notebook displays"

    def _repr_html_(self) -> str:
        # A frame without allow-same-origin can read no cookies, no storage and nothing of the notebook.
        frame = f'title="{escape(self.title)}" sandbox="allow-scripts" style="{_FRAME}"'
        return f'<iframe srcdoc="{escape(self.page)}" {frame}></iframe>'
