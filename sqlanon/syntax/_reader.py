"""A cursor over the tokens of one statement, and the error that says where it went wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches

from sqlanon.domain.values import QualifiedName
from sqlanon.errors import Position, StatementError
from sqlanon.syntax._lexer import Kind, Positions, Token, keyword_of, tokens
from sqlanon.syntax._reserved import RESERVED
from sqlanon.syntax.parts import Parts

__all__ = ["QUERY_WORDS", "SEPARATORS", "Reader", "either", "shortened"]

QUERY_WORDS = ("SELECT", "FROM", "WITH", "VALUES", "TABLE", "PIVOT", "UNPIVOT")
SEPARATORS = ('","', '")"')
_MAX_SHOWN_LENGTH = 40


class Reader:
    """Reads one statement, from left to right.

    `label` names the statement in errors (such as CREATE POLICY), `form` is a correct
    one to show. Every method that expects something raises StatementError, with the
    place of the token that stands there instead.
    """

    def __init__(self, text: str, positions: Positions, start: int, end: int, *, label: str, form: str) -> None:
        self._text = text
        self._positions = positions
        self.parts = Parts(text, positions, start, end)
        self._tokens = [*tokens(text, start, end), Token(Kind.END, "", end, end)]
        self._next = 0
        self._label = label
        self._form = form

    def about(self, name: str) -> None:
        """Errors from here on name the object of the statement, too."""
        self._label = f"{self._label} {shortened(name)}"

    def mark(self, *part: str) -> None:
        """Says that the next token begins this part of the statement, for errors about what it means."""
        self.parts.add(self.peek().start, *part)

    def peek(self, ahead: int = 0) -> Token:
        return self._tokens[min(self._next + ahead, len(self._tokens) - 1)]

    def take(self) -> Token:
        token = self.peek()
        self._next += 1
        return token

    def sees(self, *keywords: str) -> bool:
        """Whether these keywords stand next. A quoted name is never a keyword."""
        return all(keyword_of(self.peek(ahead)) == keyword for ahead, keyword in enumerate(keywords))

    def accept(self, *keywords: str) -> bool:
        """Takes these keywords if all of them stand next."""
        is_next = self.sees(*keywords)
        if is_next:
            self._next += len(keywords)
        return is_next

    def expect(self, *keywords: str) -> None:
        for keyword in keywords:
            if not self.accept(keyword):
                raise self.expected(keyword, among=(keyword,))

    def choose(self, phrases: Sequence[str], *also: str) -> str:
        """Takes the one of these keywords, each of one word or more, that stands next.

        `also` is what else could stand there, for the message.
        """
        for phrase in phrases:
            if self.accept(*phrase.split()):
                return phrase
        for phrase in phrases:
            first, *rest = phrase.split()
            if rest and self.accept(first):
                self.expect(*rest)
        raise self.expected(either(*phrases, *also), among=phrases)

    def sees_symbol(self, symbol: str, ahead: int = 0) -> bool:
        return self.peek(ahead)[:2] == (Kind.SYMBOL, symbol)

    def accept_symbol(self, symbol: str) -> bool:
        is_next = self.sees_symbol(symbol)
        if is_next:
            self._next += 1
        return is_next

    def expect_symbol(self, symbol: str) -> None:
        if not self.accept_symbol(symbol):
            raise self.expected(f'"{symbol}"')

    def listed(self, read: Callable[[], object], *, empty: bool = False) -> None:
        """Calls `read` for each item of (item, item, ...)."""
        self.expect_symbol("(")
        if empty and self.accept_symbol(")"):
            return
        while True:
            read()
            if self.accept_symbol(")"):
                return
            if not self.accept_symbol(","):
                raise self.expected(either(*SEPARATORS))

    def name(self, what: str) -> str:
        """One identifier, bare or quoted, in the user's spelling."""
        token = self.peek()
        if token.kind is Kind.WORD:
            if keyword_of(token).lower() in RESERVED:
                raise self.expected(
                    what, hint=f'{token.text} is a reserved word; as a name it needs quotes: "{token.text}"'
                )
            return self.take().text
        if token.kind is Kind.QUOTED:
            quote = token.text[0]
            unquoted = token.text[1:-1].replace(quote * 2, quote)
            if unquoted:
                self.take()
                return unquoted
        hint = 'a name stands in double quotes, as in "name"' if token.kind is Kind.STRING else None
        raise self.expected(what, hint=hint)

    def named(self, what: str, *part: str) -> str:
        """An identifier, which is marked as the part of the statement that is called like it."""
        offset = self.peek().start
        name = self.name(what)
        self.parts.add(offset, *part, name)
        return name

    def qualified_name(self, what: str) -> QualifiedName:
        """A name of one to three parts: name, schema.name or database.schema.name."""
        parts = [self.name(what)]
        while self.sees_symbol("."):
            if len(parts) == 3:
                raise self.expected(f"at most database.schema.name for {what}")
            self.take()
            parts.append(self.name(what))
        return QualifiedName(tuple(parts))

    def sees_query(self) -> bool:
        """Whether a parenthesis stands next that opens a query, possibly in further parentheses."""
        ahead = 0
        while self.sees_symbol("(", ahead):
            ahead += 1
        return ahead > 0 and keyword_of(self.peek(ahead)) in QUERY_WORDS

    def query(self) -> str:
        """The user's own text between a parenthesis and the one that closes it."""
        opening = self.take()
        first, last, depth = self.peek(), opening, 1
        while True:
            token = self.peek()
            if token.kind is Kind.END:
                raise self.expected('")"', token=opening, actual='"(" that is never closed')
            if token.kind is Kind.OPEN:
                raise self.expected("a query")
            depth += {"(": 1, ")": -1}.get(token.text, 0) if token.kind is Kind.SYMBOL else 0
            self.take()
            if not depth:
                self.parts.add_query(first.start, last.end)
                return self._text[first.start : last.end]
            last = token

    def position(self) -> Position:
        """Where the next token stands in the script."""
        return self._positions.at(self.peek().start)

    def text_before(self, *keywords: str) -> str:
        """The user's own text up to where these keywords stand last outside of parentheses; takes it and them.

        Raises StatementError if they do not stand there, or nothing stands before them.
        """
        first, depth, last = self._next, 0, None
        for index in range(first, len(self._tokens)):
            self._next = index
            depth += {"(": 1, ")": -1}.get(self.peek().text, 0) if self.peek().kind is Kind.SYMBOL else 0
            if not depth and self.sees(*keywords):
                last = index
        if last is None:
            raise self.expected(" ".join(keywords), among=())
        self._next = last
        if last == first:
            raise self.expected("a query")
        self.expect(*keywords)
        start, end = self._tokens[first].start, self._tokens[last - 1].end
        self.parts.add_query(start, end)
        return self._text[start:end]

    def end(self, *instead: str) -> None:
        """Nothing more may stand in the statement; `instead` are the keywords that could have."""
        if self.peek().kind is not Kind.END:
            raise self.expected(either(*instead, "the end of the statement"), among=instead)

    def expected(
        self,
        what: str,
        *,
        among: Sequence[str] = (),
        hint: str | None = None,
        token: Token | None = None,
        actual: str | None = None,
    ) -> StatementError:
        """The error at `token`, by default the next one; `among` are the words it may be a misspelling of."""
        token = token or self.peek()
        near = _nearest(token, among)
        suggestion = f"did you mean {near}? " if near else ""
        return self._error(
            f"expected {what}, found {actual or _described(token)}",
            suggestion + (hint or f"a correct form is: {self._form}"),
            token,
        )

    def refused(self, message: str, *, hint: str, token: Token) -> StatementError:
        """The error for what is written correctly but cannot stand here."""
        return self._error(message, hint, token)

    def _error(self, message: str, hint: str, token: Token) -> StatementError:
        error = StatementError(f"{self._label}: {message}", hint=hint, position=self._positions.at(token.start))
        assert error.position is not None
        error.excerpt = self.parts.excerpt(error.position)
        return error


def either(*choices: str) -> str:
    """The choices in words: a, b or c."""
    *most, last = choices
    return f"{', '.join(most)} or {last}" if most else last


def shortened(text: str) -> str:
    """A part of the user's text that an error quotes, cut off where it gets long."""
    return text if len(text) <= _MAX_SHOWN_LENGTH else text[:_MAX_SHOWN_LENGTH] + "..."


def _nearest(token: Token, phrases: Sequence[str]) -> str | None:
    """The phrase that the token may be a misspelling of, or of a word of it."""
    if token.kind is not Kind.WORD:
        return None
    candidates = {word: phrase for phrase in phrases for word in (*phrase.split(), phrase)}
    near = get_close_matches(token.text.upper(), candidates, n=1)
    return candidates[near[0]] if near else None


def _described(token: Token) -> str:
    if token.kind is Kind.END:
        return "the end of the statement"
    text = shortened(token.text)
    if token.kind is Kind.OPEN:
        what = {"'": "a string", '"': "a quoted name", "`": "a quoted name", "/": "a comment", "$": "a string"}
        return f"{what.get(token.text[0], 'a string')} that is never closed: {text}"
    return text if token.kind in (Kind.STRING, Kind.QUOTED) else f'"{text}"'
