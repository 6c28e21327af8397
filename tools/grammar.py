"""Writes the page of the grammar, `docs/grammar.md`: `python -m tools.grammar --write`.

The productions are those of the classes of statements and of what they share. `--check` fails where the page is not as
it would be written.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from itertools import groupby
from pathlib import Path

from sqlanon.statements.base import Statement
from sqlanon.statements.registry import statements
from sqlanon.syntax.grammar import SHARED

PAGE = Path(__file__).resolve().parents[1] / "docs" / "grammar.md"

HEAD = """# Grammar

The statements that sqlanon adds to SQL, in EBNF. Their meaning is on [the page of each](index.md#statements).

| notation | meaning |
| --- | --- |
| `CREATE` | a keyword, in upper or lower case |
| `","` | a sign |
| `name` | another production |
| `[ ... ]` | may be left out |
| `{ ... }` | any number of times, or not at all |
| `... \\| ...` | one of them |
| `? ... ?` | said in words |

A placeholder is `?`, `$1`, `$name` or `getvariable('name')`. Comments and spaces may stand between words and signs.

A few rules are not in the productions:

- Nothing is named twice in a list: no column, argument, clause, option, swept parameter or requirement of a subject.
- `OR REPLACE` and `IF NOT EXISTS` exclude each other.
- `METHOD stream` is for `CREATE ANONYMIZED STREAM` alone.
- No column of a related table is an `ENTITY`. Tables of a policy have different names, and different columns.
- A quote that a text is in, and a parenthesis, is closed.

This page is written by `python -m tools.grammar --write`.
"""


def page() -> str:
    """The text of the page."""
    parts = [HEAD]
    for subject, of_subject in groupby(statements(), key=_subject):
        parts.append(f"## {subject.rpartition('.')[2].capitalize()}\n\n{import_module(subject).__doc__}\n")
        parts += map(_section, of_subject)
    parts.append(f"## Shared parts\n\n```text\n{SHARED.strip()}\n```\n")
    return "\n".join(parts)


def _subject(statement: type[Statement]) -> str:
    return statement.__module__.rpartition(".")[0]


def _section(statement: type[Statement]) -> str:
    """The meaning of a statement, examples of it and its productions."""
    meaning = " ".join((statement.__doc__ or "").partition("\n\n")[0].split())
    examples = "".join(f"    {example}\n" for example in statement.EXAMPLES)
    name = statement.GRAMMAR.split()[0]
    return f"### {name}\n\n{meaning}\n\n```text\n{statement.GRAMMAR.strip()}\n```\n\nFor example\n\n{examples}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the page, or compares it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", action="store_true", help="write the page")
    what.add_argument("--check", action="store_true", help="fail where it is not as it would be written")
    chosen = parser.parse_args(arguments)
    if chosen.write:
        PAGE.write_text(page(), encoding="utf-8")
        return 0
    if PAGE.read_text(encoding="utf-8") == page():
        return 0
    print("docs/grammar.md is not up to date: python -m tools.grammar --write", file=sys.stderr)
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
