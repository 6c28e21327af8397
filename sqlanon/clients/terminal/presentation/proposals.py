"""Answers with statements in them: those that propose some, as tables and a script to run; and lists of definitions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlanon.clients.terminal.presentation.output import Output
from sqlanon.clients.terminal.presentation.rows import Rows
from sqlanon.statements.policies._script import script_lines

# The most telling first: what a long name leaves no room for is the last.
_FIGURES = ("unique_rows", "distinct", "missing", "distinction", "separation")


# A definition is shown up to so many characters.
_DEFINITION = 100


def show_definitions(output: Output, rows: Rows) -> None:
    """Prints a list of hierarchies; the long definitions, such as queries over groups of values, by their beginnings.

    They would make every line of a table thousands of characters wide. JSON, which programs read, has them in full.
    """
    at = rows.columns.index("definition")
    texts = [row[at] for row in rows.rows]
    short = [text if text is None or len(text) <= _DEFINITION else f"{text[: _DEFINITION - 1]}…" for text in texts]
    listed = zip(rows.rows, short, strict=True)
    output.result(Rows(rows.columns, tuple((*row[:at], text, *row[at + 1 :]) for row, text in listed), rows.truncated))
    if short != texts:
        output.status("long definitions are cut; in JSON they are whole: --json, or .mode json in the shell")


def show_advice(output: Output, rows: Rows) -> None:
    """Prints the candidate with its figures, and below the statements that publish it."""
    output.result(rows.without("statement"))
    _print_script(output, [f"{text.rstrip(';')};" for text in rows.column("statement") if text is not None])


def show_profile(output: Output, rows: Rows) -> None:
    """Prints a table of the columns, one of sets of them, and below the statements, with what is to be known of them.

    Where a terminal is too narrow, roles and figures of the columns stand in tables of their own, and sets
    have fewer figures.
    """
    columns = _with_parts(rows, "column").without("part")
    if output.fits(columns):
        output.result(columns)
    else:
        roles = tuple((name, str(role).partition(" USING")[0], why) for name, role, why in _of(columns))
        output.folded(Rows(("subject", "proposal", "why"), roles))
        output.result(columns.only("subject", *_FIGURES))
    sets = _with_parts(rows, "columns", "key").without("missing").without("proposal")
    if sets.rows:
        fits = output.fits(sets)
        output.folded(sets if fits else sets.only("subject", "unique_rows", "distinct", "why"))
    _print_script(output, [*(f"-- {row[-1]}" for row in _with_parts(rows, "remark").rows), *script_lines(rows.rows)])
    for _, path, *_, why in _with_parts(rows, "script").rows:
        output.text(f"\n{path}: {why}")


def _of(columns: Rows) -> Iterator[tuple[str, str, str]]:
    return zip(*(columns.column(name) for name in ("subject", "proposal", "why")), strict=True)


def _with_parts(rows: Rows, *parts: str) -> Rows:
    return Rows(rows.columns, tuple(row for row in rows.rows if row[0] in parts))


def _print_script(output: Output, lines: Sequence[str]) -> None:
    if lines:
        output.text("\n".join(["", *lines]))
