"""Plots of a report: Altair writes their Vega-Lite, and scripts in the page draw them in the reader's browser.

A page contains the scripts once. They come with vl-convert-python, and never evaluate a text as a program, because
expressions are interpreted.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from sqlanon.errors import InternalError, UserError
from sqlanon.export.report.markup import Markup, folded, table, text
from sqlanon.release.pipeline.explain import printable

# Labels of a plot: different texts, on lines that are short enough for the space beside it.


# The most letters of a line, and of a label: more would leave a telephone no room for the plot.
_LETTERS, _MOST = 24, 96


def unique(labels: Sequence[str | None]) -> list[str]:
    """Returns the labels as different texts of one line each; a number is added to a label that has occurred before."""
    counts: Counter[str] = Counter()
    texts: list[str] = []
    for label in labels:
        on_one_line = "NULL, no value" if label is None else printable(label)
        counts[on_one_line] += 1
        texts.append(on_one_line if counts[on_one_line] == 1 else f"{on_one_line} ({counts[on_one_line]})")
    return texts


def lines_of(labels: Sequence[str]) -> list[str]:
    """Returns the labels on a few lines each; long labels are cut, but they still differ."""
    shortened = [label if len(label) <= _MOST else f"{label[: _MOST - 3]}..." for label in labels]
    return ["\n".join(_lines(label)) for label in unique(shortened)]


def _lines(label: str) -> list[str]:
    """Splits a label into lines, which end after a space, after an underscore, or at the maximum number of letters in a
    line.
    """
    lines: list[str] = []
    while len(label) > _LETTERS:
        end = max(label.rfind(" ", 0, _LETTERS + 1), label.rfind("_", 0, _LETTERS)) + 1 or _LETTERS
        lines.append(label[:end])
        label = label[end:]
    return [*lines, label]


# Texts that end a script for a browser, or change how it reads on, even inside a string.
_ENDS = ("</script", "<script", "<!--")
# In pixels: the height of a plot, the least height of a named bar, and the height of a line of its name.
_HEIGHT, _STEP, _LINE = 240, 26, 15
# The label of a tick: empty unless the number is whole.
_WHOLE = "datum.value % 1 ? '' : format(datum.value, ',d')"
# The most pixels of a letter, as a rule.
_LETTER = 8
_BLUE, _ORANGE = "#2f7fc1", "#c2700f"
# The kinds of a frontier's points, with their colors and shapes.
EFFICIENT, NOT_EFFICIENT, THIS_RELEASE = "efficient", "not efficient", "this release"
_KINDS = {EFFICIENT: (_BLUE, "circle"), NOT_EFFICIENT: ("gray", "cross"), THIS_RELEASE: (_ORANGE, "diamond")}
_DRAW = """
for (const element of document.querySelectorAll("[data-chart]")) {
  const specification = JSON.parse(document.getElementById(element.dataset.chart).textContent);
  // Within a part that is folded a plot may have no width: it is as wide as the page, and its picture shrinks.
  if (!element.clientWidth) specification.width = document.querySelector("main").clientWidth;
  vegaEmbed(element, specification, {
    mode: "vega-lite", renderer: "svg", actions: false, ast: true, defaultStyle: false, tooltip: false,
  }).catch(console.error);
}
"""
# The page's text is dark or light, and the lines have its color.
_CONFIG: Mapping[str, Any] = {
    "aria": False,
    "mark": {"aria": False},
    "background": "transparent",
    "view": {"stroke": None},
    "axis": {
        "labelColor": "currentColor",
        "titleColor": "currentColor",
        "domainColor": "currentColor",
        "tickColor": "currentColor",
        "gridColor": "currentColor",
        "gridOpacity": 0.15,
        "labelLimit": 0,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
    },
    "legend": {"labelColor": "currentColor", "titleColor": "currentColor", "orient": "bottom", "labelFontSize": 12},
}


def _altair() -> Any:
    """Returns the module altair. Raises UserError if it or vl-convert-python is not installed."""
    try:
        import altair
        import vl_convert  # noqa: F401
    except ImportError as error:
        raise UserError(f"a report needs {error.name}", hint="pip install 'sqlanon[report]'") from None
    return altair


@cache
def _scripts() -> tuple[str, ...]:
    """Returns the scripts of the plots: Vega, Vega-Lite and Vega-Embed in the versions that Altair needs, and the
    script that calls them.
    """
    altair = _altair()
    import vl_convert

    version = altair.SCHEMA_VERSION.removeprefix("v").rpartition(".")[0]
    # Its type declares a required argument that it does not need.
    bundled: Callable[..., str] = vl_convert.javascript_bundle
    bundle = bundled(vl_version=version)
    if any(mark in bundle.lower() for mark in _ENDS):
        raise InternalError("the scripts of vl-convert-python cannot be put into a page")
    return bundle, _DRAW


def _values(rows: Sequence[Mapping[str, Any]]) -> Any:
    return _altair().Data(values=list(rows))


def _drawn(chart: Any, height: int) -> dict[str, Any]:
    sized = chart.properties(width="container", height=height, autosize=_altair().AutoSizeParams(type="fit-x"))
    return {**sized.to_dict(), "config": _CONFIG}


def _bar_labels(rows: Sequence[tuple[str, Any]]) -> tuple[list[str], Any, int]:
    """Returns the labels beside the bars, their axis, and the height of the plot."""
    alt = _altair()
    labels = lines_of([label for label, *_ in rows])
    # An axis takes a list of lines.
    axis = alt.Axis(labelExpr=r"split(datum.label, '\n')", labelLineHeight=_LINE)
    most = max((label.count("\n") + 1 for label in labels), default=1)
    height = max(_STEP, _LINE * most + 6) * max(len(rows), 1)
    return labels, alt.Y("lines:N", sort=None, title=None, axis=axis), height


def bars(rows: Sequence[tuple[str, int]], across: str, upwards: str) -> dict[str, Any]:
    """Draws a bar for each of the named counts, side by side in their order."""
    alt = _altair()
    x = alt.X("label:O", sort=None, title=across, axis=alt.Axis(labelAngle=0, labelOverlap=True))
    y = alt.Y("count:Q", title=upwards, axis=alt.Axis(tickMinStep=1, labelExpr=_WHOLE))
    values = [{"label": label, "count": count} for label, count in rows]
    return _drawn(alt.Chart(_values(values)).mark_bar(color=_BLUE).encode(x=x, y=y), _HEIGHT)


def shares(rows: Sequence[tuple[str, float]], title: str) -> dict[str, Any]:
    """Draws a bar for each of the named shares, from 0 to 1, one below the other."""
    alt = _altair()
    x = alt.X("share:Q", title=title, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%", tickCount=5))
    labels, y, height = _bar_labels(rows)
    values = [{"label": name, "lines": lines, "share": n} for (name, n), lines in zip(rows, labels, strict=True)]
    return _drawn(alt.Chart(_values(values)).mark_bar(color=_BLUE).encode(x=x, y=y), height)


def amounts(rows: Sequence[tuple[str, float]], title: str) -> dict[str, Any]:
    """Draws a bar for each of the named shares, which may be above 1, one below the other."""
    alt = _altair()
    x = alt.X("amount:Q", title=title, scale=alt.Scale(zero=True), axis=alt.Axis(format="%", tickCount=5))
    labels, y, height = _bar_labels(rows)
    values = [{"label": name, "lines": lines, "amount": n} for (name, n), lines in zip(rows, labels, strict=True)]
    return _drawn(alt.Chart(_values(values)).mark_bar(color=_BLUE).encode(x=x, y=y), height)


def distribution(rows: Sequence[tuple[str, float, float]], part: str, whole: str) -> dict[str, Any]:
    """Draws, for each name, its share of a part as a bar, and its share of the whole as a line across it."""
    alt = _altair()
    labels, y, height = _bar_labels([(label, share) for label, share, _ in rows])
    values = [
        {"label": label, "lines": lines, "share": share, "of_all": of_all}
        for (label, share, of_all), lines in zip(rows, labels, strict=True)
    ]
    top = max((max(share, of_all) for _, share, of_all in rows), default=1) or 1
    scale = alt.Scale(domain=[0, top])
    axis = alt.Axis(format="%", tickCount=5)
    base = alt.Chart(_values(values))
    bar = base.mark_bar(color=_BLUE).encode(
        x=alt.X("share:Q", title=f"bar: {part}; line: {whole}", scale=scale, axis=axis), y=y
    )
    tick = base.mark_tick(color="currentColor", thickness=4, size=22).encode(x=alt.X("of_all:Q", scale=scale), y=y)
    return _drawn(alt.layer(bar, tick), height)


def candidates(rows: Sequence[tuple[str, float, float]], across: str, upwards: str) -> dict[str, Any]:
    """Draws a point for each candidate, from its kind, which is a key of `_KINDS`, and two figures.

    Each kind has the same shape and color in every plot.
    """
    alt = _altair()
    values = [{"kind": kind, "x": x, "y": y} for kind, x, y in rows]
    scale = alt.Scale(zero=False, nice=True)
    kinds = list(_KINDS)
    colors, shapes = zip(*_KINDS.values(), strict=True)
    encoded = alt.Chart(_values(values)).mark_point(size=90, strokeWidth=2.5)
    chart = encoded.encode(
        x=alt.X("x:Q", title=across, scale=scale),
        y=alt.Y("y:Q", title=upwards, scale=scale),
        color=alt.Color("kind:N", title=None, sort=kinds, scale=alt.Scale(domain=kinds, range=list(colors))),
        shape=alt.Shape("kind:N", title=None, sort=kinds, scale=alt.Scale(domain=kinds, range=list(shapes))),
    )
    return _drawn(chart, _HEIGHT)


def icicle(rows: Sequence[tuple[str, str, int, int]], across: str) -> dict[str, Any]:
    """Draws, for each level from the top on, its labels side by side, each from `start` to `end`.

    A label's text is left out if it does not fit. The axis has no numbers, because these count values, and beside
    labels of ages they would be read as ages.
    """
    alt = _altair()
    levels = list(dict.fromkeys(level for level, *_ in rows))
    width = max((end for *_, end in rows), default=0) or 1
    values = [
        {
            "level": level,
            "label": printable(label),
            "start": start,
            "end": end,
            "middle": (start + end) / 2,
        }
        for level, label, start, end in rows
    ]
    y = alt.Y("level:N", sort=levels, title=None, scale=alt.Scale(paddingInner=0.08))
    scale = alt.Scale(domain=[0, width], nice=False)
    base = alt.Chart(_values(values)).encode(y=y)
    rects = base.mark_bar(color=_BLUE, fillOpacity=0.3, stroke="currentColor", strokeWidth=0.7).encode(
        x=alt.X("start:Q", title=across, scale=scale, axis=alt.Axis(ticks=False, labels=False, grid=False)),
        x2=alt.X2("end:Q"),
    )
    fits = f"(datum.end - datum.start) / {width} * width >= {_LETTER} * length(datum.label)"
    texts = base.transform_calculate(shown=f"{fits} ? datum.label : ''").mark_text(color="currentColor", fontSize=12)
    texts = texts.encode(x=alt.X("middle:Q", scale=scale), text=alt.Text("shown:N"))
    return _drawn(alt.layer(rects, texts), _STEP * max(len(levels), 1))


class Charts:
    """The plots of one page. Each plot is a figure with a table of its values; the scripts are in the page once.

    Raises UserError if Altair or vl-convert-python is not installed.
    """

    def __init__(self) -> None:
        _altair()
        self._specifications: list[Mapping[str, Any]] = []

    def figure(
        self, specification: Mapping[str, Any], title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]
    ) -> Markup:
        """Returns a plot, with a folded table of its values."""
        name = f"chart-{len(self._specifications) + 1}"
        self._specifications.append(specification)
        label = text(f"Plot: {title}. The folded table behind it has its values.")
        return Markup(
            f"<figure><figcaption>{text(title)}</figcaption>"
            f'<div class="chart" role="img" aria-label="{label}" data-chart="{name}"></div></figure>\n'
            f"{folded(f'As a table: {title}', table(f'Values: {title}', columns, rows))}"
        )

    @property
    def data(self) -> list[Markup]:
        """The plots' specifications, as elements that no browser runs."""
        return [
            Markup(f'<script type="application/json" id="chart-{index}">{_json(specification)}</script>')
            for index, specification in enumerate(self._specifications, start=1)
        ]

    @property
    def scripts(self) -> tuple[str, ...]:
        """The scripts that draw the plots; empty if the report has no plots."""
        return _scripts() if self._specifications else ()


def _json(specification: Mapping[str, Any]) -> str:
    """Writes JSON without the characters <, > and &, because a name may look like the end of a script."""
    written = json.dumps(specification, allow_nan=False)
    return written.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
