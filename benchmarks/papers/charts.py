"""Draws charts of the experiments' tables as SVG: Vega-Lite by Altair, of the extra `report`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Bars", "Points", "draw"]

_WIDTH, _HEIGHT, _STEP = 560, 320, 10
# Shapes distinguish them for readers who do not see colors.
_COLOURS = ("#2f7fc1", "#c2700f", "#3c8d40", "#a33b6f", "#6b5bb3", "#777777")


@dataclass(frozen=True)
class Points:
    """A point for each row, at the values of two columns; `series` returns the name of its series."""

    across: str
    upwards: str
    series: Callable[[dict[str, str]], str]


@dataclass(frozen=True)
class Bars:
    """The bars of a chart: one for each row and column; `label` returns the name of the row."""

    columns: tuple[str, ...]
    label: Callable[[dict[str, str]], str]


def draw(lines: Sequence[str], chart: Points | Bars, path: Path) -> None:
    """Writes the chart of a Markdown table; rows without a number are left out."""
    import altair as alt
    import vl_convert

    rows = _rows(lines)
    drawn = _points(alt, rows, chart) if isinstance(chart, Points) else _bars(alt, rows, chart)
    config = {"view": {"stroke": None}, "axis": {"labelLimit": 320}, "legend": {"labelLimit": 320}}
    svg = vl_convert.vegalite_to_svg({**drawn.to_dict(), "background": "white", "config": config})
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(svg + "\n", encoding="utf-8")


def _rows(lines: Sequence[str]) -> list[dict[str, str]]:
    cells = [[cell.strip() for cell in line.strip().strip("|").split(" | ")] for line in lines if line.startswith("|")]
    heads, _, *body = cells
    return [dict(zip(heads, row, strict=True)) for row in body]


def _number(text: str) -> float | None:
    return None if text in ("", "-") else float(text)


def _points(alt: Any, rows: Sequence[dict[str, str]], chart: Points) -> Any:
    values = [
        {"x": x, "y": y, "series": chart.series(row)}
        for row in rows
        if (x := _number(row[chart.across])) is not None and (y := _number(row[chart.upwards])) is not None
    ]
    names = list(dict.fromkeys(value["series"] for value in values))
    scale = alt.Scale(domain=names, range=list(_COLOURS))
    base = alt.Chart(alt.Data(values=values)).encode(
        x=alt.X("x:Q", title=chart.across),
        y=alt.Y("y:Q", title=chart.upwards),
        color=alt.Color("series:N", title=None, scale=scale),
    )
    points = base.mark_point(size=70, strokeWidth=2).encode(
        shape=alt.Shape("series:N", title=None, scale=alt.Scale(domain=names))
    )
    return alt.layer(base.mark_line(strokeWidth=1, opacity=0.5), points).properties(width=_WIDTH, height=_HEIGHT)


def _bars(alt: Any, rows: Sequence[dict[str, str]], chart: Bars) -> Any:
    values = [
        {"label": chart.label(row), "figure": name, "value": value}
        for row in rows
        for name in chart.columns
        if (value := _number(row[name])) is not None
    ]
    encoded = (
        alt.Chart(alt.Data(values=values))
        .mark_bar()
        .encode(
            x=alt.X("value:Q", title=None),
            y=alt.Y("label:N", sort=None, title=None),
            yOffset=alt.YOffset("figure:N", sort=list(chart.columns)),
            color=alt.Color("figure:N", title=None, scale=alt.Scale(domain=list(chart.columns), range=list(_COLOURS))),
        )
    )
    return encoded.properties(width=_WIDTH, height=alt.Step(_STEP))
