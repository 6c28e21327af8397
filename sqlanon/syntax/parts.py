"""Records the positions of a statement's parts, and formats the line of a script that an error shows."""

from __future__ import annotations

import re
from functools import cached_property
from unicodedata import category, east_asian_width

from sqlanon.domain.identifiers import fold
from sqlanon.errors import Position, may_have_password, without_passwords
from sqlanon.syntax.lexer import Kind, Positions, Token, tokens

# Longer lines are cut around the place that is shown.
_WIDEST = 110
_BEFORE = 60
# The lengths of text that are searched, on both sides of the error's offset in a quoted query.
_AROUND = (1000, 30, 15, 8)
# The words that a text may follow without a space: prefixes of strings, and types.
_BEFORE_A_TEXT = frozenset("E X B N DATE TIME TIMETZ TIMESTAMP TIMESTAMPTZ INTERVAL BLOB JSON UUID".split())

# After these words a text names a file or an option, and is not a value of a row.
_BEFORE_A_FILE = frozenset("FROM JOIN ON TO TABLE AGAINST CHECK PROFILE ATTACK KEY BY".split())
# Functions that read files, by parts of their names.
_READERS = re.compile(r"(?:read|scan|glob)_|_scan$", re.IGNORECASE)
# Words that begin statements that write rows; within one of sqlanon's statements they begin another statement.
_WRITING = frozenset("INSERT UPDATE DELETE MERGE COPY CALL EXECUTE PREPARE".split())


class _Literals:
    """Decides which literals of a statement may be values of rows; reads its tokens in order."""

    def __init__(self) -> None:
        self._before: tuple[str, str] = ("", "")
        self._depth = 0
        self._rows_at: int | None = None
        self._writes = False

    def is_value(self, token: Token) -> bool:
        """Whether a text or a number may be a value of a row. Call it once for each token, in order.

        Such literals are the numbers and texts in rows after VALUES, and texts that are neither a file nor an
        argument's value. After a word that writes rows, every literal counts, because a semicolon was forgotten before
        the word.
        """
        word = token.text.upper() if token.kind is Kind.WORD else ""
        self._writes = self._writes or word in _WRITING
        self._depth += {"(": 1, ")": -1}.get(token.text, 0) if token.kind is Kind.SYMBOL else 0
        if word == "VALUES":
            self._rows_at = self._depth
        elif self._rows_at is not None and (self._depth < self._rows_at or (word and self._depth == self._rows_at)):
            self._rows_at = None
        last, former = self._before
        self._before = (token.text.upper(), last)
        if self._writes or self._rows_at is not None:
            return True
        is_file = last in _BEFORE_A_FILE or last == "=>" or (last == "(" and _READERS.search(former) is not None)
        return token.kind is Kind.STRING and not is_file


class Parts:
    """The parts of a statement, each with its offset in the script.

    A part has a path from the general to the specific: ("column", "age", "level") is the level of the column age.
    Errors name their part by the same path.
    """

    def __init__(self, script: str, positions: Positions, start: int, end: int) -> None:
        self.script = script
        self._positions = positions
        self.start, self.end = start, end
        self._offsets: dict[tuple[str, ...], int] = {}
        self._queries: dict[int, int] = {}
        self._names: dict[int, int] = {}

    def add(self, offset: int, *part: str) -> None:
        """Records the offset of a part; if several parts have the same path, the first counts."""
        self._offsets.setdefault(tuple(map(fold, part)), offset)

    def add_query(self, start: int, end: int) -> None:
        """Records the offsets of the user's own SQL. Its texts may be data, which no error shows."""
        self._queries[start] = end

    def add_name(self, start: int, end: int) -> None:
        """Records the offsets of a text that was meant as a name, so that errors show it even with numbers in it."""
        self._names[start] = end

    def in_doubt(self, offset: int) -> bool:
        """Whether the text at an offset may be data, because a quote before it is unpaired.

        Signs of an unpaired quote are a token that is never closed, a word right after a text, as in 'O'Hara', and a
        word right before it, as in nurses'.
        """
        low, high = self._doubt
        return low <= offset < high

    @property
    def is_doubtful(self) -> bool:
        """Whether the statement's quotes may be unpaired."""
        low, high = self._doubt
        return low < self.end and self.start < high

    @cached_property
    def _doubt(self) -> tuple[int, int]:
        """Returns the offsets of doubtful text: from the first quote to the end of statements with unpaired quotes."""
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
        """Returns the position of a part, or of the nearest part above it; None if no such part was read."""
        folded = tuple(map(fold, part))
        for length in range(len(folded), 0, -1):
            if folded[:length] in self._offsets:
                return self._positions.at(self._offsets[folded[:length]])
        return None

    def position_in_query(self, quoted: tuple[str, int]) -> Position | None:
        """Returns the position of an error in a query that the database quotes; None if it is absent or ambiguous.

        The database received the query with sqlanon's SQL around it, so shorter and shorter pieces are searched.
        """
        text, offset = quoted
        for width in _AROUND:
            first = max(0, offset - width)
            offsets = self._occurrences(text[first : offset + width])
            if len(offsets) == 1:
                return self._positions.at(offsets.pop() + offset - first)
        return None

    def _occurrences(self, text: str) -> set[int]:
        """Returns the first and the last offset at which each of the user's queries contains the text."""
        ends = (find(text, *span) for span in self._queries.items() for find in (self.script.find, self.script.rfind))
        return {offset for offset in ends if offset >= 0}

    def excerpt(self, position: Position) -> str:
        """Returns the script's line at a position, with a caret below the position, as DuckDB shows it."""
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
        """Returns the line from an offset on, without comments; stars replace literals that may be values of rows.

        In the user's statement numbers are shown, and so are texts up to the error. After the error, where a semicolon
        or a quote may be missing, and in queries, only texts that name files or are values of arguments are shown. No
        literal of another statement, of a DuckDB statement or of rows in VALUES is shown.
        """
        end = self.script.find("\n", start)
        end = len(self.script) if end < 0 else end
        letters = [" "] * (end - start)
        in_doubt, literals = False, _Literals()
        for token in tokens(self.script):
            if token.start >= end:
                break
            hidden = token.kind is Kind.OPEN
            if self.start <= token.start < self.end:
                hidden = self._hides(token, fault, is_value=literals.is_value(token)) or hidden
            else:
                hidden = token.kind in (Kind.STRING, Kind.NUMBER) or hidden
            # A text from an earlier line may begin at an unpaired quote: then everything on this line may be data.
            in_doubt = in_doubt or (token.kind in (Kind.STRING, Kind.QUOTED) and token.start < start < token.end)
            hidden = hidden or in_doubt or self.in_doubt(token.start)
            # The end of a URL's password is unknown, so the whole URL in quotes is hidden.
            is_quoted = token.kind in (Kind.STRING, Kind.QUOTED)
            hidden = hidden or (is_quoted and may_have_password(token.text[1:]))
            for offset in range(max(start, token.start), min(end, token.end)):
                character = self.script[offset]
                letters[offset - start] = "*" if hidden else character if character.isprintable() else " "
        return "".join(letters).rstrip()

    def _hides(self, token: Token, fault: int, *, is_value: bool) -> bool:
        """Whether a token of the statement is a literal to hide; `is_value` is the answer of `_Literals`."""
        if token.kind not in (Kind.STRING, Kind.NUMBER) or any(a <= token.start < b for a, b in self._names.items()):
            return False
        if self._queries.get(self.start, 0) >= self.end:
            # DuckDB runs the whole statement, and may have rows anywhere.
            return True
        in_query = any(low <= token.start < high for low, high in self._queries.items())
        is_asked = token.start <= fault and not in_query
        return is_value and not is_asked


def _blank(character: str) -> str:
    """Returns as many spaces as a character is wide on a terminal."""
    return "" if category(character) in ("Mn", "Me") else "  " if east_asian_width(character) in "WF" else " "
