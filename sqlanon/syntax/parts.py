"""Where the parts of a statement stand in its script, and the line that an error shows of it."""

from __future__ import annotations

from functools import cached_property
from unicodedata import category, east_asian_width

from sqlanon.domain.identifiers import fold
from sqlanon.errors import Position, may_have_password, without_passwords
from sqlanon.syntax.lexer import Kind, Positions, Token, tokens

# Longer lines are cut around the place that is shown.
_WIDEST = 110
_BEFORE = 60
# How much of a quoted query is looked for, on both sides of what is at fault.
_AROUND = (1000, 30, 15, 8)
# What a text may follow without a space: its kind, or the type that it is of.
_BEFORE_A_TEXT = frozenset("E X B N DATE TIME TIMETZ TIMESTAMP TIMESTAMPTZ INTERVAL BLOB JSON UUID".split())


class Parts:
    """The parts of one statement, each with the offset at which it stands in the script.

    A part is named from the general to the special: ("column", "age", "level") is the level that a policy gives the
    column age. Errors name the part that they are about in the same words.
    """

    def __init__(self, script: str, positions: Positions, start: int, end: int) -> None:
        self.script = script
        self._positions = positions
        self.start, self.end = start, end
        self._offsets: dict[tuple[str, ...], int] = {}
        self._queries: dict[int, int] = {}
        self._names: dict[int, int] = {}

    def add(self, offset: int, *part: str) -> None:
        """Says where a part stands; of several with one name, the first counts."""
        self._offsets.setdefault(tuple(map(fold, part)), offset)

    def add_query(self, start: int, end: int) -> None:
        """Says that SQL of the user's stands between two offsets. Its literals may be data, which no error shows."""
        self._queries[start] = end

    def add_name(self, start: int, end: int) -> None:
        """Says that what stands between two offsets was meant as a name, though it may have numbers in it."""
        self._names[start] = end

    def in_doubt(self, offset: int) -> bool:
        """Whether what stands at an offset may be data, since a quote before it has no partner.

        A quote that is left open says so, a word right behind a text, as in 'O'Hara', and one right before it, as in
        nurses'.
        """
        low, high = self._doubt
        return low <= offset < high

    @property
    def is_doubtful(self) -> bool:
        """Whether quotes of the statement do not pair."""
        low, high = self._doubt
        return low < self.end and self.start < high

    @cached_property
    def _doubt(self) -> tuple[int, int]:
        """From the first quote of the first statement in which quotes do not pair to the end of the last of them."""
        first, low, high = None, None, 0
        is_doubtful, behind, word = False, None, None
        end = Token(Kind.SYMBOL, ";", len(self.script), len(self.script))
        for token in (*tokens(self.script), end):
            if token.kind in (Kind.STRING, Kind.QUOTED, Kind.OPEN):
                first = token.start if first is None else first
            is_freed = behind is not None and token.start == behind and token.kind in (Kind.WORD, Kind.NUMBER)
            is_freed = is_freed or (token.kind in (Kind.STRING, Kind.OPEN) and token.start == word)
            is_doubtful = is_doubtful or is_freed or token.kind is Kind.OPEN
            behind = token.end if token.kind is Kind.STRING else None
            is_free = token.kind is Kind.WORD and token.text.upper() not in _BEFORE_A_TEXT
            word = token.end if is_free else None
            if token.kind is Kind.SYMBOL and token.text == ";":
                if is_doubtful:
                    low, high = first if low is None else low, token.end
                first, is_doubtful = None, False
        return (0, 0) if low is None else (low, high)

    def position_of(self, part: tuple[str, ...]) -> Position | None:
        """Where a part stands, or the most special one above it; None where no such part was read."""
        folded = tuple(map(fold, part))
        for length in range(len(folded), 0, -1):
            if folded[:length] in self._offsets:
                return self._positions.at(self._offsets[folded[:length]])
        return None

    def position_in_query(self, quoted: tuple[str, int]) -> Position | None:
        """Where what the database quotes of a query is at fault; None where it is not there, or more than once.

        The database was sent the query with words of sqlanon's around it, so ever less of what it quotes is looked for.
        """
        text, offset = quoted
        for width in _AROUND:
            first = max(0, offset - width)
            offsets = self._occurrences(text[first : offset + width])
            if len(offsets) == 1:
                return self._positions.at(offsets.pop() + offset - first)
        return None

    def _occurrences(self, text: str) -> set[int]:
        """The first and the last offset at which a text stands in the user's queries."""
        ends = (find(text, *span) for span in self._queries.items() for find in (self.script.find, self.script.rfind))
        return {offset for offset in ends if offset >= 0}

    def excerpt(self, position: Position) -> str:
        """The line of the script at a position, with a caret below the position, as DuckDB shows it."""
        start = self._positions.start_of(position)
        line = self._line_at(start, start + position.column - 1)
        at = position.column - 1
        first = max(0, at - _BEFORE) if len(line) > _WIDEST else 0
        last = first + _WIDEST
        before, after = "..." if first else "", "..." if last < len(line) else ""
        head = f"LINE {position.line}: {before}"
        padding = " " * len(head) + "".join(map(_blank, line[first:at]))
        visible = without_passwords(line, same_length=True)[first:last]
        return f"{head}{visible}{after}\n{padding}^"

    def _line_at(self, start: int, fault: int) -> str:
        """The line that begins at an offset, without comments. Stars stand for literals that may be data.

        That is all but those of the statement up to the place at fault: behind it anything may stand, where a
        semicolon or a quote was forgotten. Numbers of named arguments are shown there, too.
        """
        end = self.script.find("\n", start)
        end = len(self.script) if end < 0 else end
        letters = [" "] * (end - start)
        before, in_doubt = "", False
        for token in tokens(self.script):
            if token.start >= end:
                break
            is_argument = token.kind is Kind.NUMBER and before == "=>"
            is_name = any(low <= token.start < high for low, high in self._names.items())
            is_known = self._is_of_statement(token) and (token.start <= fault or is_argument or is_name)
            hidden = token.kind is Kind.OPEN or (token.kind in (Kind.STRING, Kind.NUMBER) and not is_known)
            # A text from an earlier line may have been opened by a quote that was forgotten: then all here is data.
            in_doubt = in_doubt or (token.kind in (Kind.STRING, Kind.QUOTED) and token.start < start < token.end)
            hidden = hidden or in_doubt or self.in_doubt(token.start)
            # The password of a URL ends where nobody can tell, and the URL ends with the quotes around it.
            is_quoted = token.kind in (Kind.STRING, Kind.QUOTED)
            hidden = hidden or (is_quoted and may_have_password(token.text[1:]))
            before = token.text
            for offset in range(max(start, token.start), min(end, token.end)):
                character = self.script[offset]
                letters[offset - start] = "*" if hidden else character if character.isprintable() else " "
        return "".join(letters).rstrip()

    def _is_of_statement(self, token: Token) -> bool:
        """Whether a token stands in the statement itself, and not in a query in it, nor in another statement."""
        in_query = any(low <= token.start < high for low, high in self._queries.items())
        return self.start <= token.start < self.end and not in_query


def _blank(character: str) -> str:
    """As much space as a character takes on a terminal."""
    return "" if category(character) in ("Mn", "Me") else "  " if east_asian_width(character) in "WF" else " "
