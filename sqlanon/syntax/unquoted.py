"""Names that people write without the quotes that they need, as in r-2026 and my policy."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise, takewhile
from typing import NamedTuple

from sqlanon.syntax.lexer import Kind, Token, keyword_of
from sqlanon.syntax.wording import described, shortened

# What may stand in a name. A parenthesis, a comma or a dot does not: it ends the name.
_SIGNS = frozenset("-/\\@#&+~!%:^|*")
# They begin another part of a statement: a comma or a parenthesis is missing before them, and no quotes.
_PARTS = frozenset(
    "AGAINST CONFIDENTIAL ENTITY FROM IDENTIFIER INSENSITIVE METHOD QUASI REQUIRE SELECT SENSITIVE USING VISIBLE "
    "WITH".split()
)


class Unquoted(NamedTuple):
    """What was meant as a name: its offsets in the script, and a hint that shows it in quotes."""

    start: int
    end: int
    hint: str


def begins_with_digit(tokens: Sequence[Token]) -> Unquoted:
    """The name of which the first token is a number."""
    return _unquoted(_joined(tokens), "a name that begins with a digit needs quotes")


def goes_on(tokens: Sequence[Token], ends: Collection[str], text: str) -> Unquoted | None:
    """The name that begins with the first token and goes on in the second; None where it does not look like it.

    `ends` are the keywords and signs that may stand behind the name, "" for the end of the statement.
    """
    name = _joined(tokens)
    if len(name) > 1:
        return _unquoted(name, f"a name with {described(name[1])} in it needs quotes")
    name = _several_words(tokens, ends)
    if len(name) == 1 or "\n" in text[name[0].start : name[-1].end]:
        return None
    either = f"a comma is missing behind {shortened(name[0].text)}, or it" if "," in ends else "if that is one name, it"
    return _unquoted(name, f"{either} needs quotes", between=" ")


def _joined(tokens: Sequence[Token]) -> Sequence[Token]:
    """The tokens from the first one on that stand side by side, without a space, and may be one name."""
    length = 1
    for token, behind in pairwise(tokens):
        is_part = behind.kind in (Kind.WORD, Kind.NUMBER) or (behind.kind is Kind.SYMBOL and behind.text in _SIGNS)
        if behind.start != token.end or not is_part:
            break
        length += 1
    return tokens[:length]


def _several_words(tokens: Sequence[Token], ends: Collection[str]) -> Sequence[Token]:
    """The words from the first token on that may be one name with blanks in it; just the first where they are none."""
    words = [tokens[0], *takewhile(lambda token: _is_word(token) and keyword_of(token) not in ends, tokens[1:])]
    is_name = _is_word(tokens[0]) and _sign(tokens[len(words)]) in ends and keyword_of(tokens[0]) != "IF"
    return words if is_name else tokens[:1]


def _sign(token: Token) -> str:
    """The token as a keyword or as it stands; empty for the end."""
    return keyword_of(token) or token.text


def _is_word(token: Token) -> bool:
    return token.kind is Kind.WORD and keyword_of(token) not in _PARTS


def _unquoted(name: Sequence[Token], hint: str, between: str = "") -> Unquoted:
    text = shortened(between.join(token.text for token in name))
    return Unquoted(name[0].start, name[-1].end, f'{hint}: "{text}"')
