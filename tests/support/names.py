"""Names that a statement written without care would break at."""

from __future__ import annotations

HOSTILE = [
    'sel"ect',
    "it's",
    "a.b",
    "a b",
    " ",
    ".",
    '"',
    '""',
    "'",
    "select",
    "order",
    "group",
    "values",
    "é中文",
    "😀👨‍👩‍👧",
    "שלום عربى",
    "1st",
    "n" * 200,
    "back\\slash",
    "semi;colon",
    "new\nline",
    "tab\tand\rreturn",
    "$1",
    "$$",
    "{x}",
    "{{achieved}}",
    "%s",
    "?",
    ":p",
    "-- comment",
    "/* open",
    "*",
    "temp",
    "main",
    "anon",
]


def quoted(name: str) -> str:
    """A name as SQL that is written out has to quote it."""
    return '"' + name.replace('"', '""') + '"'
