"""Writes the files that list all statements: the grammar's page, `docs/grammar.md`, and two docstrings.

`python -m tools.grammar --write` takes the productions from the statements' classes and from the shared productions,
and the list from the statements' keywords. `--check` fails if a file is not up to date.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from itertools import groupby
from pathlib import Path
from textwrap import fill

from sqlanon.statements.base import Statement
from sqlanon.statements.registry import keywords, statements
from sqlanon.syntax.grammar import SHARED

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "grammar.md"
# The files with the docstrings of the package and of `connect()`, which editors show.
LISTED = (ROOT / "sqlanon" / "__init__.py", ROOT / "sqlanon" / "clients" / "session.py")
LIST = re.compile(r"(?<=sqlanon's statements:\n)([^.]*)\.\n")
WIDTH = 120

HEAD = """# Grammar

The statements that sqlanon adds to SQL, in EBNF. Their meaning is on [the page of each](statements/index.md).

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
- No column of a related table is an `ENTITY`. The tables of a policy must have different names, and no column name may
  occur in two of them.
- Each quote and each parenthesis is closed.

This page is written by `python -m tools.grammar --write`.
"""


def page() -> str:
    """Returns the text of the grammar's page."""
    parts = [HEAD]
    for subject, of_subject in groupby(statements(), key=_subject):
        parts.append(f"## {subject.rpartition('.')[2].capitalize()}\n\n{import_module(subject).__doc__}\n")
        parts += map(_section, of_subject)
    parts.append(f"## Shared parts\n\n```text\n{SHARED.strip()}\n```\n")
    return "\n".join(parts)


def files() -> dict[Path, str]:
    """Returns the texts of the files that list all statements, by path."""
    texts = {path: path.read_text(encoding="utf-8") for path in LISTED}
    return {PAGE: page()} | {path: LIST.sub(_list, text, count=1) for path, text in texts.items()}


def _list(former: re.Match[str]) -> str:
    """Returns the keywords of all statements, grouped by the first keyword and indented like the list before."""
    by_verb: dict[str, list[str]] = {}
    for verb, _, others in (keyword.partition(" ") for keyword in sorted(keywords())):
        by_verb.setdefault(verb, []).append(others)
    listed = ", ".join(f"{verb} {' | '.join(others)}".strip() for verb, others in by_verb.items())
    indent = former[1][: len(former[1]) - len(former[1].lstrip())]
    return fill(f"{listed}.", WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False) + "\n"


def _subject(statement: type[Statement]) -> str:
    return statement.__module__.rpartition(".")[0]


def _section(statement: type[Statement]) -> str:
    """Returns the meaning of a statement, its examples and its productions."""
    meaning = " ".join((statement.__doc__ or "").partition("\n\n")[0].split())
    examples = "".join(f"    {example}\n" for example in statement.EXAMPLES)
    name = statement.GRAMMAR.split()[0]
    return f"### {name}\n\n{meaning}\n\n```text\n{statement.GRAMMAR.strip()}\n```\n\nFor example\n\n{examples}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the files, or with --check compares them; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", action="store_true", help="write the files")
    what.add_argument("--check", action="store_true", help="fail where one is not as it would be written")
    chosen = parser.parse_args(arguments)
    if chosen.write:
        for path, text in files().items():
            path.write_text(text, encoding="utf-8")
        return 0
    stale = [path for path, text in files().items() if path.read_text(encoding="utf-8") != text]
    for path in stale:
        print(f"{path.relative_to(ROOT)} is not up to date: python -m tools.grammar --write", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    raise SystemExit(main())
