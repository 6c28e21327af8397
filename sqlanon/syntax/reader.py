"""Reads the tokens of one statement, and makes errors with the position of the wrong token."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import pairwise, takewhile
from typing import NamedTuple

from sqlanon.domain.values import QualifiedName, Value, written
from sqlanon.errors import Position, StatementError
from sqlanon.syntax.lexer import (
    BEGIN,
    RESERVED,
    UNPAIRED,
    Kind,
    Placeholder,
    Placeholders,
    Positions,
    Token,
    described,
    either,
    keyword_of,
    literal,
    nearest_phrase,
    shortened,
    tokens,
)
from sqlanon.syntax.parts import Parts


class Cursor:
    """A position between the tokens of a text; after the last token there are only END tokens."""

    def __init__(self, text: str, start: int, end: int) -> None:
        self._text = text
        self._tokens = [*tokens(text, start, end), Token(Kind.END, "", end, end)]
        self._next = 0

    def peek(self, ahead: int = 0) -> Token:
        return self._tokens[min(self._next + ahead, len(self._tokens) - 1)]

    def take(self) -> Token:
        token = self.peek()
        self._next += 1
        return token

    def sees(self, *keywords: str) -> bool:
        """Whether these keywords come next. A quoted name is never a keyword."""
        return all(keyword_of(self.peek(ahead)) == keyword for ahead, keyword in enumerate(keywords))

    def accept(self, *keywords: str) -> bool:
        """Takes these keywords if all of them come next; returns whether they do."""
        is_next = self.sees(*keywords)
        if is_next:
            self._next += len(keywords)
        return is_next

    def sees_symbol(self, symbol: str, ahead: int = 0) -> bool:
        return self.peek(ahead)[:2] == (Kind.SYMBOL, symbol)

    def accept_symbol(self, symbol: str) -> bool:
        is_next = self.sees_symbol(symbol)
        if is_next:
            self._next += 1
        return is_next

    def call_ends(self) -> int | None:
        """Returns the number of tokens up to the end of the parentheses that open next; None if they do not close."""
        depth = 0
        for ahead in range(len(self._tokens) - self._next):
            depth += {"(": 1, ")": -1}.get(self.peek(ahead).text, 0) if self.peek(ahead).kind is Kind.SYMBOL else 0
            if not depth:
                return ahead or None
        return None

    def sees_placeholder(self) -> bool:
        """Whether ?, $1, $name or getvariable('name') comes next."""
        token, behind = self.peek(), self.peek(1)
        if token.kind is Kind.SYMBOL:
            is_named = behind.kind in (Kind.WORD, Kind.NUMBER) and behind.start == token.end
            is_numbered = behind.kind is Kind.NUMBER and behind.start == token.end
            return (token.text == "?" and not is_numbered) or (token.text == "$" and is_named)
        is_call = keyword_of(token) == "GETVARIABLE" and self.sees_symbol("(", 1) and self.sees_symbol(")", 3)
        return is_call and self.peek(2).kind is Kind.STRING and self.peek(2).text.startswith("'")


QUERY_WORDS = ("SELECT", "FROM", "WITH", "VALUES", "TABLE", "PIVOT", "UNPIVOT")
SEPARATORS = ('","', '")"')


class Reader(Cursor):
    """Reads one statement, from left to right.

    `label` names the statement in errors (such as CREATE POLICY). `form` is a correct statement for error messages, and
    may change while reading. Every method that expects a token raises StatementError, with the position of the token
    that it finds instead.
    """

    def __init__(
        self,
        text: str,
        positions: Positions,
        start: int,
        end: int,
        *,
        label: str,
        form: str,
        values: Mapping[Placeholder, Value] | None = None,
    ) -> None:
        super().__init__(text, start, end)
        self.placeholders = Placeholders(values)
        self.parts = Parts(text, positions, start, end)
        self._positions = positions
        self._label = label
        self.form = form
        self._named: list[tuple[int, str]] = []
        # The last token that was taken as a name without quotes.
        self._bare: Token | None = None

    def about(self, name: str) -> None:
        """Adds the name of the statement's object to errors from here on."""
        self._named.append((self._tokens[self._next - 1].start, shortened(name)))

    def mark(self, *part: str) -> None:
        """Records that the next token begins this part of the statement, for errors about its meaning."""
        self.parts.add(self.peek().start, *part)

    def expect(self, *keywords: str) -> None:
        for keyword in keywords:
            if not self.accept(keyword):
                raise self.expected(keyword, among=(keyword,))

    def choose(self, phrases: Sequence[str], *also: str) -> str:
        """Takes the phrase, of one or more keywords, that comes next.

        `also` are other phrases for the error, which could come next as well.
        """
        for phrase in phrases:
            if self.accept(*phrase.split()):
                return phrase
        for phrase in phrases:
            first, *rest = phrase.split()
            if rest and self.accept(first):
                self.expect(*rest)
        near = nearest_phrase(self.peek(), [each for each in also if each.isupper()])
        hint = f"did you mean {near}?" if near and not nearest_phrase(self.peek(), phrases) else None
        raise self.expected(either(*phrases, *also), among=phrases, hint=hint)

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
            if not self.accept_symbol(",") and not self.sees_symbol(")"):
                raise self.expected(either(*SEPARATORS))
            # As in DuckDB, a comma may follow the last item.
            if self.accept_symbol(")"):
                return

    def further(self) -> bool:
        """Takes a comma in a list without parentheses; returns whether another item may follow."""
        return self.accept_symbol(",") and self.peek().kind is not Kind.END

    def name(self, what: str) -> str:
        """Reads an identifier, bare or quoted, in the user's spelling, or the text of a placeholder."""
        if self.sees_placeholder():
            return self._placed_name(what)
        token = self.peek()
        if token.kind is Kind.WORD:
            if keyword_of(token).lower() in RESERVED:
                raise self.expected(
                    what, hint=f'{token.text} is a reserved word; as a name it needs quotes: "{token.text}"'
                )
            self._bare = token
            return self.take().text
        if token.kind is Kind.QUOTED:
            unquoted = _unquoted_text(token)
            if unquoted:
                self.take()
                return unquoted
        hint = 'a name needs double quotes, as in "name"' if token.kind is Kind.STRING else None
        if what == "a column" and (token.kind, token.text) == (Kind.SYMBOL, "*"):
            hint = "name each column: (age, sex, zip); PROFILE proposes which"
        if token.kind is Kind.NUMBER:
            meant = begins_with_digit(self._tokens[self._next :])
            self.parts.add_name(meant.start, meant.end)
            hint = meant.hint
        raise self.expected(what, hint=hint)

    def named(self, what: str, *part: str) -> str:
        """Reads an identifier and records it as the part of the statement with that name."""
        offset = self.peek().start
        name = self.name(what)
        self.parts.add(offset, *part, name)
        return name

    def column(self, part: str) -> str:
        """Reads the name of a column and records it as the part of the statement with that name.

        Raises StatementError, with the quotes to type, for a name with a dot.
        """
        first = self.peek()
        name = self.named("a column", part)
        if not self.sees_symbol(".") or self.peek(1).kind not in (Kind.WORD, Kind.QUOTED):
            return name
        parts = [name]
        while self.accept_symbol(".") and self.peek().kind in (Kind.WORD, Kind.QUOTED):
            parts.append(_unquoted_text(self.take()))
        whole, last = (f'"{text}"'.replace('"', '""')[1:-1] for text in (".".join(parts), parts[-1]))
        hint = f"write {whole}, in quotes, if the dot is in the column's name; else {last} alone, without its table"
        raise self.refused(f"the name of a column has a dot in it: {'.'.join(parts)}", hint=hint, token=first)

    def placed(self, stand_in: Value) -> tuple[Placeholder, Value]:
        """Takes the placeholder that comes next; returns it with its value, or with `stand_in` while it has none."""
        token = self.take()
        if token.text == "?":
            placeholder = self.placeholders.unnamed()
        elif token.text == "$":
            placeholder = Placeholder(self.take().text)
        else:
            self.take()
            placeholder = Placeholder(self.take().text[1:-1].replace("''", "'"), is_variable=True)
            self.take()
        self.parts.add(token.start, "placeholder", str(placeholder))
        return placeholder, self.placeholders.value(placeholder, stand_in)

    def _placed_name(self, what: str) -> str:
        token = self.peek()
        placeholder, value = self.placed(self.peek(1).text or token.text)
        if not isinstance(value, str) or not value:
            raise self.expected(what, token=token, actual=f"{placeholder} = {written(value)}", hint="pass a text")
        return value

    def qualified_name(self, what: str) -> QualifiedName:
        """Reads a name of one to three parts: name, schema.name or database.schema.name."""
        parts = [self.name(what)]
        while self.sees_symbol("."):
            if len(parts) == 3:
                raise self.expected(f"at most database.schema.name for {what}")
            self.take()
            parts.append(self.name(what))
        return QualifiedName(tuple(parts))

    def sees_query(self) -> bool:
        """Whether a query in one or more pairs of parentheses comes next."""
        ahead = 0
        while self.sees_symbol("(", ahead):
            ahead += 1
        return ahead > 0 and keyword_of(self.peek(ahead)) in QUERY_WORDS

    def refuse_bare_query(self, what: str) -> None:
        """Raises StatementError, expecting `what`, if a query without parentheses comes next."""
        # A table may have the name values, and TABLE may be a keyword of sqlanon's statement.
        if any(self.sees(word) for word in QUERY_WORDS if word not in ("VALUES", "TABLE")):
            raise self.expected(what, hint=f"write a query in parentheses: ({self.peek().text} ...)")

    def query(self) -> str:
        """Reads a query in parentheses; returns its text with literals in place of parameters."""
        opening = self.take()
        first, last, depth = self.peek(), opening, 1
        # Until the end of the query is found, the rest of the statement may be part of it.
        self.parts.add_query(first.start, self._tokens[-1].end)
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
                return self._with_literals(first.start, last.end)
            last = token

    def position(self) -> Position:
        """Returns the position of the next token in the script."""
        return self._positions.at(self.peek().start)

    def text_before(self, *keywords: str) -> str:
        """Reads the user's text up to the last occurrence of these keywords outside of parentheses, and the keywords.

        Raises StatementError if the keywords are missing, or if no text is before them.
        """
        first, depth, last = self._next, 0, None
        self.parts.add_query(self.peek().start, self._tokens[-1].end)
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
        return self._with_literals(start, end)

    def last_of(self, *phrases: str) -> str | None:
        """Returns the phrase whose last occurrence outside of parentheses is the latest; None if none of the phrases
        occurs.
        """
        first, depth, last = self._next, 0, None
        for index in range(first, len(self._tokens)):
            self._next = index
            depth += {"(": 1, ")": -1}.get(self.peek().text, 0) if self.peek().kind is Kind.SYMBOL else 0
            if not depth:
                last = next((phrase for phrase in phrases if self.sees(*phrase.split())), last)
        self._next = first
        return last

    def sql_between(self, start: int) -> str:
        """Returns the user's SQL from an offset to the last token taken, with literals in place of parameters."""
        end = self._tokens[self._next - 1].end
        self.parts.add_query(start, end)
        return self._with_literals(start, end)

    def _with_literals(self, start: int, end: int) -> str:
        """Returns the user's SQL between two offsets, with a literal in place of each parameter.

        Variables stay, because the database knows them.
        """
        pieces, at, back = [], start, self._next
        self._next = next(index for index, token in enumerate(self._tokens) if token.start >= start)
        while self.peek().start < end and self.peek().kind is not Kind.END:
            token = self.peek()
            if token.kind is Kind.SYMBOL and self.sees_placeholder():
                _, value = self.placed(0)
                # In parentheses, because a minus before a negative number would begin a comment.
                pieces += [self._text[at : token.start], f" {literal(value)} "]
                at = self._tokens[self._next - 1].end
            else:
                self.take()
        self._next = back
        return "".join([*pieces, self._text[at:end]])

    def end(self, *instead: str) -> None:
        """Raises StatementError if the statement continues; `instead` are the keywords that could come next."""
        if self.peek().kind is not Kind.END:
            begins = keyword_of(self.peek()) in BEGIN
            hint = f"if {self.peek().text} begins another statement, put a semicolon before it" if begins else None
            raise self.expected(either(*instead, "the end of the statement"), among=instead, hint=hint)

    def expected(
        self,
        what: str,
        *,
        among: Sequence[str] = (),
        hint: str | None = None,
        token: Token | None = None,
        actual: str | None = None,
    ) -> StatementError:
        """Returns the error at `token`, by default the next; `among` are words that it may be a misspelling of."""
        token = token or self.peek()
        near = nearest_phrase(token, among)
        is_meant = near is not None and self._has_words_of(near)
        unquoted = None if is_meant or hint or token is not self.peek() else self._unquoted(what, among)
        suggestion = f"did you mean {near}? " if near and not unquoted else ""
        return self._error(
            f"expected {what}, found {actual or described(token)}",
            suggestion + (hint or unquoted or f"a correct form is: {self.form}"),
            token,
        )

    def _has_words_of(self, phrase: str) -> bool:
        """Whether the next token may be a phrase of one word, or begin or continue a phrase of several words."""
        first, *others = phrase.split()
        if not others or nearest_phrase(self.peek(), (first,)) is None:
            return True
        return nearest_phrase(self.peek(1), others) is not None

    def _unquoted(self, what: str, among: Sequence[str]) -> str | None:
        """Returns a hint to quote a name that seems to continue in the unexpected next token; None if it does not.

        The part of the line that the error shows then includes the whole name.
        """
        tokens = self._tokens[max(0, self._next - 1) :]
        ends = {"", *(phrase.split()[0] for phrase in among), *(sign for sign in "(,)" if f'"{sign}"' in what)}
        unquoted = goes_on(tokens, ends, self._text) if tokens[0] is self._bare else None
        if unquoted is None:
            return None
        self.parts.add_name(unquoted.start, unquoted.end)
        return unquoted.hint

    def refused(self, message: str, *, hint: str, token: Token) -> StatementError:
        """Returns the error for a token that is written correctly but not allowed here."""
        return self._error(message, hint, token)

    def _error(self, message: str, hint: str, token: Token) -> StatementError:
        if token.kind not in (Kind.OPEN, Kind.END) and self.parts.in_doubt(token.start):
            message, hint = UNPAIRED
        names = (name for offset, name in self._named if not self.parts.in_doubt(offset))
        label = " ".join((self._label, *names))
        error = StatementError(f"{label}: {message}", hint=hint, position=self._positions.at(token.start))
        assert error.position is not None
        error.excerpt = self.parts.excerpt(error.position)
        return error


# Names written without the quotes that they need, as in r-2026 and my policy.

# Signs that may be in such a name. A parenthesis, a comma or a dot ends the name.
_SIGNS = frozenset("-/\\@#&+~!%:^|*")
# Words that begin another part of a statement: before them a comma or a parenthesis is missing, not quotes.
_PARTS = frozenset(
    "AGAINST CONFIDENTIAL ENTITY FROM IDENTIFIER INSENSITIVE METHOD QUASI REQUIRE SELECT SENSITIVE USING VISIBLE "
    "WITH".split()
)


def _unquoted_text(token: Token) -> str:
    """Returns the name in a token, without its quotes."""
    return token.text if token.kind is Kind.WORD else token.text[1:-1].replace(token.text[0] * 2, token.text[0])


class Unquoted(NamedTuple):
    """A text that was meant as a name: its offsets in the script, and a hint that shows it in quotes."""

    start: int
    end: int
    hint: str


def begins_with_digit(tokens: Sequence[Token]) -> Unquoted:
    """Returns the unquoted name that begins with the first token, a number."""
    return _unquoted(_joined(tokens), "a name that begins with a digit needs quotes")


def goes_on(tokens: Sequence[Token], ends: Collection[str], text: str) -> Unquoted | None:
    """Returns the unquoted name that begins with the first token and continues in the second; None if they are not such
    a name.

    `ends` are the keywords and signs that may follow the name, "" for the end of the statement.
    """
    name = _joined(tokens)
    if len(name) > 1:
        return _unquoted(name, f"a name with {described(name[1])} in it needs quotes")
    if (unit := _in_parentheses(tokens, ends)) is not None:
        return _unquoted(tokens[:1], "a name with parentheses in it needs quotes", of=text[tokens[0].start : unit.end])
    name = _several_words(tokens, ends)
    if len(name) == 1 or "\n" in text[name[0].start : name[-1].end]:
        return None
    either = f"a comma is missing behind {shortened(name[0].text)}, or it" if "," in ends else "if that is one name, it"
    return _unquoted(name, f"{either} needs quotes", between=" ")


def _joined(tokens: Sequence[Token]) -> Sequence[Token]:
    """Returns the first token and the tokens that follow without a space and may belong to the same name."""
    length = 1
    for token, behind in pairwise(tokens):
        is_part = behind.kind in (Kind.WORD, Kind.NUMBER) or (behind.kind is Kind.SYMBOL and behind.text in _SIGNS)
        if behind.start != token.end or not is_part:
            break
        length += 1
    return tokens[:length]


def _several_words(tokens: Sequence[Token], ends: Collection[str]) -> Sequence[Token]:
    """Returns the first words if they may be one name with spaces; else only the first token."""
    words = [tokens[0], *takewhile(lambda token: _is_word(token) and keyword_of(token) not in ends, tokens[1:])]
    is_name = _is_word(tokens[0]) and _sign(tokens[len(words)]) in ends and keyword_of(tokens[0]) != "IF"
    return words if is_name else tokens[:1]


def _in_parentheses(tokens: Sequence[Token], ends: Collection[str]) -> Token | None:
    """Returns the parenthesis that ends a column's name such as size (cm); None for other tokens."""
    words = list(takewhile(lambda token: token.kind is Kind.WORD, tokens[2:]))
    close = 2 + len(words)
    is_column = not {",", "QUASI", "REQUIRE"}.isdisjoint(ends)
    if not is_column or not words or tokens[1].text != "(" or tokens[close].text != ")":
        return None
    return tokens[close] if _sign(tokens[close + 1]) in ends else None


def _sign(token: Token) -> str:
    """Returns the token as a keyword, or its text; empty for the end."""
    return keyword_of(token) or token.text


def _is_word(token: Token) -> bool:
    return token.kind is Kind.WORD and keyword_of(token) not in _PARTS


def _unquoted(name: Sequence[Token], hint: str, between: str = "", of: str | None = None) -> Unquoted:
    text = shortened(between.join(token.text for token in name) if of is None else of)
    return Unquoted(name[0].start, name[-1].end, f'{hint}: "{text}"')
