"""Reads the EBNF of the statements, draws texts from it, and says whether a text is one of a production."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random

from sqlanon.statements.registry import statements
from sqlanon.syntax.grammar import SHARED
from sqlanon.syntax.lexer import RESERVED, Kind, Token, keyword_of, tokens
from sqlanon.syntax.reader import QUERY_WORDS

__all__ = ["Grammar", "grammar"]

TERM = re.compile(r'\s+|"[^"]*"|\?[^?]*\?|[A-Za-z_]+|[][(){}|=;]')
# The most that { ... } is repeated in a text that is drawn.
MOST = 2


@dataclass(frozen=True)
class Node:
    """A part of a production: `kind` is keyword, sign, rule, sequence, choice, option, repeat or words."""

    kind: str
    text: str = ""
    parts: tuple[Node, ...] = ()


class Grammar:
    """Productions by their names."""

    def __init__(self, text: str) -> None:
        self._terms = [term for term in TERM.findall(text) if term.strip()]
        assert not TERM.sub("", text), "every character is a term"
        self._next = 0
        self.productions: dict[str, Node] = {}
        while self._next < len(self._terms):
            name = self._take()
            assert name not in self.productions, f"{name} is produced twice"
            self._expect("=")
            self.productions[name] = self._choice()
            self._expect(";")

    def _peek(self) -> str:
        return self._terms[self._next]

    def _take(self) -> str:
        self._next += 1
        return self._terms[self._next - 1]

    def _expect(self, term: str) -> None:
        taken = self._take()
        assert taken == term, f"expected {term}, not {taken}"

    def _choice(self) -> Node:
        parts = [self._sequence()]
        while self._peek() == "|":
            self._take()
            parts.append(self._sequence())
        return parts[0] if len(parts) == 1 else Node("choice", parts=tuple(parts))

    def _sequence(self) -> Node:
        parts: list[Node] = []
        while self._peek() not in ("|", ")", "]", "}", ";"):
            parts.append(self._part())
        return parts[0] if len(parts) == 1 else Node("sequence", parts=tuple(parts))

    def _part(self) -> Node:
        term = self._take()
        if term in "([{":
            kind, closing = {"(": ("sequence", ")"), "[": ("option", "]"), "{": ("repeat", "}")}[term]
            inner = self._choice()
            self._expect(closing)
            return Node(kind, parts=(inner,))
        if term[0] == '"':
            return Node("sign", term[1:-1])
        if term[0] == "?":
            return Node("words")
        return Node("keyword" if term.isupper() else "rule", term)

    def used(self, node: Node) -> Iterator[str]:
        """The names of productions that a node refers to."""
        if node.kind == "rule":
            yield node.text
        for part in node.parts:
            yield from self.used(part)

    def drawn(self, random: Random, name: str, words: Words) -> str:
        """A text of a production, as the random numbers have it; `words` draws what is said in words."""
        return " ".join(self._drawn(random, Node("rule", name), words))

    def _drawn(self, random: Random, node: Node, words: Words) -> Iterator[str]:
        match node.kind:
            case "keyword":
                yield node.text if random.random() < 0.5 else node.text.lower()
            case "sign":
                yield node.text
            case "rule":
                production = self.productions[node.text]
                yield from (
                    [words.drawn(random, node.text)]
                    if production.kind == "words"
                    else self._drawn(random, production, words)
                )
            case "choice":
                yield from self._drawn(random, random.choice(node.parts), words)
            case _:
                times = {"option": (0, 1), "repeat": (0, MOST)}.get(node.kind, (1, 1))
                for _ in range(random.randint(*times)):
                    for part in node.parts:
                        yield from self._drawn(random, part, words)

    def accepts(self, name: str, text: str) -> bool:
        """Whether a text is one of a production."""
        read = [*tokens(text), Token(Kind.END, "", len(text), len(text))]
        return any(read[end].kind is Kind.END for end in self._ends(Node("rule", name), read, 0))

    def _ends(self, node: Node, read: Sequence[Token], at: int) -> set[int]:
        """The indexes at which a node may end that begins at a token."""
        match node.kind:
            case "keyword":
                return {at + 1} if keyword_of(read[at]) == node.text else set()
            case "sign":
                return {at + 1} if read[at][:2] == (Kind.SYMBOL, node.text) else self._signs(node.text, read, at)
            case "rule":
                production = self.productions[node.text]
                if production.kind == "words":
                    return set(ENDS[node.text](read, at))
                return self._ends(production, read, at)
            case "choice":
                return {end for part in node.parts for end in self._ends(part, read, at)}
            case "sequence":
                ends = {at}
                for part in node.parts:
                    ends = {end for begin in ends for end in self._ends(part, read, begin)}
                return ends
            case "option":
                return {at} | self._ends(node.parts[0], read, at)
        ends, last = {at}, {at}
        while last := {end for begin in last for end in self._ends(node.parts[0], read, begin)} - ends:
            ends |= last
        return ends

    @staticmethod
    def _signs(text: str, read: Sequence[Token], at: int) -> set[int]:
        """A sign of two characters that the lexer takes for two."""
        two = "".join(token.text for token in read[at : at + 2])
        return {at + 2} if len(text) == 2 and two == text else set()


@cache
def grammar() -> Grammar:
    """The grammar of all statements."""
    return Grammar("\n".join([*(statement.GRAMMAR for statement in statements()), SHARED]))


class Words:
    """What is said in words, drawn: each name is another one, so that none is named twice."""

    def __init__(self) -> None:
        self._number = 0

    def drawn(self, random: Random, name: str) -> str:
        self._number += 1
        number = self._number
        choices: dict[str, list[str]] = {
            "bare_name": [f"n{number}", f"_n{number}", f"ünï{number}"],
            "quoted_name": [f'"a ""b"" {number}"', f"`n {number}`"],
            "placeholder": [f"$p{number}"],
            "word": [f"w{number}", f"w{number}_"],
            "text": [f"'text {number}'", f"'it''s {number}'", f"$${number}$$", f"$x${number}'$x$"],
            "file": [f"'people_{number}.csv'"],
            "day": ["'2027-06-30'", "'9999-12-31'"],
            "digits": ["5", "0.5", "1e-3", "1_000", "2."],
            "whole": ["0", "2", "10"],
            "query": ["SELECT 1", "FROM (SELECT ')') AS t", "(SELECT 1 UNION ALL SELECT 2)", "values (1), (2)"],
            "values": ["'a.csv'", "[1, (2)]", "path => 'a.csv'"],
            "sql": ["'a.csv'", "'a.csv', header => true", "[1, (2)]"],
        }
        return random.choice(choices[name])


def _placeholder(read: Sequence[Token], at: int) -> Iterator[int]:
    token, behind = read[at], read[at + 1] if at + 1 < len(read) else read[at]
    if token.text == "?":
        yield at + 1
    elif token.text == "$" and behind.kind in (Kind.WORD, Kind.NUMBER):
        yield at + 2
    elif keyword_of(token) == "GETVARIABLE" and behind.text == "(":
        yield at + 4


def _bare_name(read: Sequence[Token], at: int) -> Iterator[int]:
    if read[at].kind is Kind.WORD and keyword_of(read[at]).lower() not in RESERVED:
        yield at + 1


def _one(kind: Kind) -> Callable[[Sequence[Token], int], Iterator[int]]:
    def ends(read: Sequence[Token], at: int) -> Iterator[int]:
        if read[at].kind is kind:
            yield at + 1

    return ends


def _sql(read: Sequence[Token], at: int) -> Iterator[int]:
    """Every place up to which parentheses pair."""
    depth = 0
    for index in range(at, len(read) - 1):
        token = read[index]
        depth += {"(": 1, ")": -1}.get(token.text, 0) if token.kind is Kind.SYMBOL else 0
        if depth < 0:
            return
        if not depth:
            yield index + 1


def _query(read: Sequence[Token], at: int) -> Iterator[int]:
    first = at
    while read[first].text == "(":
        first += 1
    if keyword_of(read[first]) in QUERY_WORDS:
        yield from _sql(read, at)


ENDS: dict[str, Callable[[Sequence[Token], int], Iterator[int]]] = {
    "bare_name": _bare_name,
    "quoted_name": _one(Kind.QUOTED),
    "placeholder": _placeholder,
    "word": _one(Kind.WORD),
    "text": _one(Kind.STRING),
    "file": _one(Kind.STRING),
    "day": _one(Kind.STRING),
    "digits": _one(Kind.NUMBER),
    "whole": _one(Kind.NUMBER),
    "query": _query,
    "sql": _sql,
    "values": _sql,
}
