"""Reports the figures as a table in the terminal and as JSON."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from math import isfinite
from typing import Any

import duckdb
from rich.console import Console
from rich.markup import escape
from rich.table import Table

import sqlanon
from benchmarks.figure import Figure
from benchmarks.plan import Operators

__all__ = ["as_json", "machine", "show"]

_STYLES = {"pass": "[green]{}[/]", "pass?": "[yellow]{}[/]", "miss?": "[yellow]{}[/]", "miss": "[red]{}[/]"}


def machine() -> dict[str, Any]:
    """Returns the versions and the hardware on which the figures depend."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else None
    return {
        "cores": os.cpu_count(),
        "memory_gib": round(memory / 2**30, 1) if memory else None,
        "load": [round(part, 1) for part in os.getloadavg()] if hasattr(os, "getloadavg") else None,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "duckdb": duckdb.__version__,
        "sqlglot": version("sqlglot"),
        "sqlanon": sqlanon.__version__,
    }


def as_json(figures: Sequence[Figure], about: dict[str, Any]) -> dict[str, Any]:
    """Returns all measurements; the `passed` of a figure is null without a mark."""
    kept = [asdict(figure) | {"passed": figure.passed, "verdict": figure.verdict} for figure in figures]
    for record in kept:
        # JSON has no infinity, which represents work that did not end.
        record |= {name: None for name in ("value", "low", "high") if not isfinite(record[name])}
    return {"time": datetime.now(UTC).isoformat(timespec="seconds"), "machine": about, "figures": kept}


def show(figures: Sequence[Figure], about: dict[str, Any], *, stages: bool) -> None:
    """Prints the table and, for each missed mark, the plan's costliest operators."""
    console = Console() if sys.stdout.isatty() else Console(width=160)
    console.print(escape(", ".join(f"{name} {value}" for name, value in about.items() if value is not None)))
    console.print(_table(figures, stages=stages))
    for figure in figures:
        if figure.passed is False and figure.operators:
            rows = f", {figure.rows:,} rows" if figure.rows else ""
            console.print(f"[bold]{escape(figure.name + rows)}[/]: {figure.value:.2f}, mark {figure.mark}")
            console.print(_operators(figure.operators))
    console.print("\n".join(_summary(figures)))


def _table(figures: Sequence[Figure], *, stages: bool) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in ("case", "what"):
        table.add_column(name, overflow="fold")
    for name in ("rows", "seconds", "baseline", "value", "lowest .. highest", "mark"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("")
    for figure in figures:
        what = escape(figure.what) + (f"\n[dim]{escape(figure.note)}[/]" if figure.note else "")
        table.add_row(
            figure.case,
            what,
            f"{figure.rows:,}" if figure.rows else "",
            _seconds(figure.seconds),
            _seconds(figure.baseline_seconds),
            _value(figure.value, figure.unit),
            f"{figure.low:.2f} .. {figure.high:.2f}",
            f"{figure.mark:g}" if figure.mark is not None else "",
            _STYLES.get(figure.verdict, "{}").format(figure.verdict),
        )
        for stage, seconds in figure.stages.items() if stages else ():
            queries = f", {figure.queries[stage]} queries" if stage in figure.queries else ""
            table.add_row("", f"  [dim]{stage}{queries}[/]", "", f"[dim]{seconds:.3f}[/]")
    return table


def _summary(figures: Sequence[Figure]) -> Iterator[str]:
    """Yields the number of marks kept in each case; a total would let the many slopes outweigh other cases."""
    verdicts: dict[str, list[str]] = {}
    for figure in figures:
        if figure.verdict:
            verdicts.setdefault(figure.case, []).append(figure.verdict)
    for case, given in verdicts.items():
        kept = sum(verdict.startswith("pass") for verdict in given)
        unsure = sum(verdict.endswith("?") for verdict in given)
        yield f"{case}: {kept} of {len(given)} marks kept" + (f", {unsure} with runs on both sides" if unsure else "")


def _operators(operators: Operators) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("  seconds", justify="right")
    for name in ("times", "stage", "operator", "detail"):
        table.add_column(name, overflow="fold")
    for operator in operators.costliest:
        shown = (operator.stage, operator.kind, operator.detail)
        table.add_row(f"{operator.seconds:.3f}", str(operator.times), *map(escape, shown))
    total = f"all operators of {operators.queries} queries, which took {operators.wall_seconds:.3f} s of wall time"
    table.add_row(f"{operators.seconds:.3f}", "", "", "", total)
    return table


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _value(value: float, unit: str) -> str:
    forms = {
        "x": f"x {value:.2f}",
        "s": f"{value:.2f} s",
        "ms": f"{value:.1f} ms",
        "queries": f"{value:.0f}",
        "%": f"{value:.2f} %",
    }
    return forms.get(unit, f"{value:.2f}")
