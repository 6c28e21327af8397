"""The report of a release: one HTML page without network, of what CHECK, MEASURE and ATTACK answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from sqlanon.domain.values import QualifiedName
from sqlanon.errors import PolicyError
from sqlanon.syntax.render import to_sql
from sqlanon.syntax.statements import Attack, CheckRelease, MeasureFigures

__all__ = ["Ask", "report_page"]

# The rows that a statement answers with.
Ask = Callable[[str], Sequence[tuple[Any, ...]]]

# Those that need no other table, and no argument.
_ATTACKS = ("homogeneity", "background", "skewness")
# What MEASURE tells of single populations quotes values of the source.
_OF_SOURCE_VALUES = " of "

_STYLE = """
:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 60rem; margin: auto; padding: 1rem; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; }
caption { text-align: left; font-weight: bold; padding: .5rem 0; }
th, td { border: 1px solid; padding: .25rem .5rem; text-align: left; }
@media print { body { max-width: none; padding: 0; } tr { break-inside: avoid; } }
"""


def report_page(ask: Ask, name: QualifiedName) -> str:
    """The report of a release as HTML; each figure is one that a statement answers with, and no row of the source.

    Raises what CHECK and MEASURE raise of the release.
    """
    checked = ask(to_sql(CheckRelease(name)))
    measured = ask(to_sql(MeasureFigures(name, ())))
    title = f"Report of the release {name}"
    met = all(row[5] is not False for row in checked) and any(row[5] for row in checked)
    parts = [
        f"<h1>{escape(title)}</h1>",
        "<h2>What was required</h2>",
        f"<p>{'Each requirement is met.' if met else 'Not all that was required is met: do not give it away.'}</p>",
        _table(
            "Requirements, computed again from the published rows (CHECK)",
            ("requirement", "about", "required", "reached", "met"),
            [row[1:] for row in checked],
        ),
        "<h2>What a reader learns</h2>",
        "<p>These figures describe the release and promise nothing. They are for its owner.</p>",
        _table(
            "Figures (MEASURE)",
            ("figure", "about", "value"),
            [row[1:] for row in measured if _OF_SOURCE_VALUES not in row[1]],
        ),
        "<h2>Attacks</h2>",
        "<p>Where no bound is named, no requirement that is met stops the attack.</p>",
        *(_attack(ask, name, attack) for attack in _ATTACKS),
        "<h2>Decision</h2><p>Name, date and signature: ______________________________</p>",
    ]
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{_STYLE}</style></head>\n<body><main>\n" + "\n".join(parts) + "\n</main></body></html>\n"
    )


def _attack(ask: Ask, name: QualifiedName, attack: str) -> str:
    try:
        rows = ask(to_sql(Attack(attack, release=name)))
    except PolicyError as error:
        return f"<p>{escape(attack)}: {escape(error.message)}</p>"
    columns = ("attack", "about", "targets", "succeeded", "highest", "mean", "bound", "worst classes")
    return _table(f"{attack} (ATTACK)", columns, rows)


def _table(caption: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    body = "".join(
        f'<tr><th scope="row">{_text(row[0])}</th>{"".join(f"<td>{_text(value)}</td>" for value in row[1:])}</tr>\n'
        for row in rows
    )
    return f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _text(value: Any) -> str:
    words = {None: "none", True: "yes", False: "no"}
    return words[value] if value is None or isinstance(value, bool) else escape(str(value))
