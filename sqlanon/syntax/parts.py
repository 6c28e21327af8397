"""Finds the parts of a statement in its script, and the line that an error shows of it."""

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
# How much of a quoted query is looked for, on both sides of what is at fault.
_AROUND = (1000, 30, 15, 8)
# What a text may follow without a space: its kind, or the type that it is of.
_BEFORE_A_TEXT = frozenset("E X B N DATE TIME TIMETZ TIMESTAMP TIMESTAMPTZ INTERVAL BLOB JSON UUID".split())

# The words behind which a text names a file or an option, and is no value of a row.
_BEFORE_A_FILE = frozenset("FROM JOIN ON TO TABLE AGAINST CHECK PROFILE ATTACK KEY BY".split())
# Functions that read files, by the ends of their names.
_READERS = re.compile(r"(?:read|scan|glob)_|_scan$", re.IGNORECASE)
# The words of statements that write rows: one of them behind a statement of sqlanon's is another statement.
_WRITING = frozenset("INSERT UPDATE DELETE MERGE COPY CALL EXECUTE PREPARE".split())


class _Literals:
    """The literals of a statement that may be values of rows, as its tokens are seen one by one."""

    def __init__(self) -> None:
        self._before: tuple[str, str] = ("", "")
        self._depth = 0
        self._rows_at: int | None = None
        self._writes = False

    def is_value(self, token: Token) -> bool:
        """Whether a text or a number may be a value of a row. Each token of the statement is asked about once.

        That is a number in rows behind VALUES, and a text that neither names a file nor is the value of an argument.
        Everything behind a word that writes rows is one: a semicolon was forgotten before it.
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
        """Says that SQL of the user's stands between two offsets. Its texts may be data, which no error shows."""
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
        """Returns the text from the first quote of the first statement whose quotes do not pair to the end of the last
        of them.
        """
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
        """Returns the place of a part, or of the most special part above it; None where no such part was read."""
        folded = tuple(map(fold, part))
        for length in range(len(folded), 0, -1):
            if folded[:length] in self._offsets:
                return self._positions.at(self._offsets[folded[:length]])
        return None

    def position_in_query(self, quoted: tuple[str, int]) -> Position | None:
        """Returns the place of what the database quotes of a query; None where it is not there, or more than once.

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
        """The line that begins at an offset, without comments. Stars stand for literals that may be values of rows.

        The statement is the user's own, and its numbers are shown. Of its texts those up to the place at fault are, and
        behind it, where a semicolon or a quote may have been forgotten, and in queries those that name files or
        are the values of arguments. No literal is shown of another statement, of one of DuckDB's, nor of rows that are
        written out.
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
            # A text from an earlier line may have been opened by a quote that was forgotten: then all here is data.
            in_doubt = in_doubt or (token.kind in (Kind.STRING, Kind.QUOTED) and token.start < start < token.end)
            hidden = hidden or in_doubt or self.in_doubt(token.start)
            # The password of a URL ends where nobody can tell, and the URL ends with the quotes around it.
            is_quoted = token.kind in (Kind.STRING, Kind.QUOTED)
            hidden = hidden or (is_quoted and may_have_password(token.text[1:]))
            for offset in range(max(start, token.start), min(end, token.end)):
                character = self.script[offset]
                letters[offset - start] = "*" if hidden else character if character.isprintable() else " "
        return "".join(letters).rstrip()

    def _hides(self, token: Token, fault: int, *, is_value: bool) -> bool:
        """Whether a token of the statement is a literal that is not shown; `is_value` is the answer of `_Literals`."""
        if token.kind not in (Kind.STRING, Kind.NUMBER) or any(a <= token.start < b for a, b in self._names.items()):
            return False
        if self._queries.get(self.start, 0) >= self.end:
            # All of it is DuckDB's, which may have rows anywhere.
            return True
        in_query = any(low <= token.start < high for low, high in self._queries.items())
        is_asked = token.start <= fault and not in_query
        return is_value and not is_asked


def _blank(character: str) -> str:
    """Returns as much space as a character takes on a terminal."""
    return "" if category(character) in ("Mn", "Me") else "  " if east_asian_width(character) in "WF" else " "
