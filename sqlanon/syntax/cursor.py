"""A cursor over the tokens of one statement, which looks ahead and takes what it sees."""

from __future__ import annotations

from sqlanon.syntax.lexer import Kind, Token, keyword_of, tokens


class Cursor:
    """Stands before a token of a text; behind the last one there are END tokens only."""

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
        """Whether these keywords stand next. A quoted name is never a keyword."""
        return all(keyword_of(self.peek(ahead)) == keyword for ahead, keyword in enumerate(keywords))

    def accept(self, *keywords: str) -> bool:
        """Takes these keywords if all of them stand next."""
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
        """How many tokens ahead the parenthesis that opens next is closed; None where none opens or it stays open."""
        depth = 0
        for ahead in range(len(self._tokens) - self._next):
            depth += {"(": 1, ")": -1}.get(self.peek(ahead).text, 0) if self.peek(ahead).kind is Kind.SYMBOL else 0
            if not depth:
                return ahead or None
        return None

    def sees_placeholder(self) -> bool:
        """Whether ?, $1, $name or getvariable('name') stands next."""
        token, behind = self.peek(), self.peek(1)
        if token.kind is Kind.SYMBOL:
            is_named = behind.kind in (Kind.WORD, Kind.NUMBER) and behind.start == token.end
            is_numbered = behind.kind is Kind.NUMBER and behind.start == token.end
            return (token.text == "?" and not is_numbered) or (token.text == "$" and is_named)
        is_call = keyword_of(token) == "GETVARIABLE" and self.sees_symbol("(", 1) and self.sees_symbol(")", 3)
        return is_call and self.peek(2).kind is Kind.STRING and self.peek(2).text.startswith("'")
