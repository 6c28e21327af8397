"""Parses scripts into statements: sqlanon's statements become objects, all others stay text for DuckDB.

The first keywords identify sqlanon's statements, so statements of DuckDB are not parsed here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from itertools import islice, pairwise, takewhile
from typing import NamedTuple, NoReturn

from sqlanon.domain.values import Value
from sqlanon.errors import SqlanonError, UserError
from sqlanon.statements.base import PassThrough, Statement
from sqlanon.statements.registry import label_of, spellings_of, statements, statements_beginning
from sqlanon.syntax.lexer import Kind, Placeholder, Positions, Token, keyword_of, shortened, tokens
from sqlanon.syntax.parts import Parts
from sqlanon.syntax.reader import Reader
from sqlanon.syntax.script import Piece, first_keyword, split

# Statements that do not exist, but that users try: the error names the one that they need.


class Meant(NamedTuple):
    """The error for a statement that does not exist: a message, and a hint in which {name} stands for the name of the
    object.
    """

    hint: str
    message: str = "there is no such statement"


_RELEASE = Meant(
    "CHECK {name} says what it satisfies, DESCRIBE ANONYMIZED TABLE {name} how it was made; SHOW RELEASES lists all"
)
_STREAM = Meant("SHOW STREAMS lists all, CHECK {name} says what it satisfies, and its columns are those of its table")
_HIERARCHY = Meant("SHOW HIERARCHIES lists all with the statements that make them")
_WORKLOAD = Meant("SHOW WORKLOADS lists all; the table anon.workload has their queries")

_WITH_S = "the word ANONYMISED is spelt otherwise in these statements"
_ANONYMIZE = Meant("write CREATE ANONYMIZED TABLE name FROM patients (age, sex, zip) SENSITIVE disease")

# By their first words, before a name. All of them are errors to DuckDB, too.
BEFORE_NAME = {
    "CREATE RELEASE": Meant("write CREATE ANONYMIZED TABLE {name} AS POLICY ..., or CREATE ANONYMIZED VIEW"),
    "DROP RELEASE": Meant("write DROP ANONYMIZED TABLE {name}, or DROP ANONYMIZED VIEW {name} if it is a live view"),
    "DESCRIBE RELEASE": _RELEASE,
    "SHOW RELEASE": _RELEASE,
    "CREATE STREAM": Meant("write CREATE ANONYMIZED STREAM {name} AS POLICY ... ORDER BY column METHOD stream(...)"),
    "DROP STREAM": Meant("write DROP ANONYMIZED STREAM {name}"),
    "DESCRIBE STREAM": _STREAM,
    "SHOW STREAM": _STREAM,
    "DESCRIBE HIERARCHY": _HIERARCHY,
    "SHOW HIERARCHY": _HIERARCHY,
    "DESCRIBE WORKLOAD": _WORKLOAD,
    "SHOW WORKLOAD": _WORKLOAD,
}

# By three words before a name; DuckDB would take the third word as the name of a table.
BEFORE_SECOND_NAME = {
    f"CREATE {kind} {word}": Meant(
        f"the words have another order: CREATE ANONYMIZED {kind} {{name}} FROM patients (age, sex), or AS POLICY"
    )
    for kind in ("TABLE", "VIEW")
    for word in ("ANONYMIZED", "ANONYMISED")
}

# By their openings, in the notation of `Statement.OPENINGS`.
OPENINGS = {
    "CREATE [OR REPLACE] ANONYMISED": Meant(
        "write it with a Z: CREATE ANONYMIZED TABLE name FROM patients (age, sex), or AS POLICY", _WITH_S
    ),
    "DROP ANONYMISED": Meant("write it with a Z: DROP ANONYMIZED TABLE name", _WITH_S),
    "REFRESH ANONYMISED": Meant("write it with a Z: REFRESH ANONYMIZED TABLE name", _WITH_S),
    "EXPLAIN [VERBOSE] [CREATE [OR REPLACE]] ANONYMISED": Meant(
        "write it with a Z: EXPLAIN ANONYMIZED TABLE name AS POLICY policy", _WITH_S
    ),
    "ANONYMIZE": _ANONYMIZE,
    "ANONYMISE": _ANONYMIZE,
    "EXPLAIN [CREATE [OR REPLACE]] ANONYMIZED STREAM": Meant(
        "CREATE ANONYMIZED STREAM publishes nothing yet; EXPLAIN ANONYMIZED TABLE looks at all rows at once",
        "a stream cannot be explained: its rows have not arrived",
    ),
    "REFRESH ANONYMIZED STREAM": Meant("ADVANCE name publishes what is due of a stream", "a stream is not made again"),
}


def refuse(reader: Reader, meant: Meant) -> NoReturn:
    """Raises StatementError, with the statement that should be written instead."""
    first = reader.take()
    reader.accept("OR", "REPLACE")
    reader.take()
    if keyword_of(reader.peek()) in ("ANONYMIZED", "ANONYMISED"):
        reader.take()
    if reader.accept("IF"):
        reader.accept("NOT")
        reader.accept("EXISTS")
    is_name = reader.peek().kind in (Kind.WORD, Kind.QUOTED)
    name = shortened(reader.peek().text) if is_name else "name"
    raise reader.refused(meant.message, hint=meant.hint.format(name=name), token=first)


# The least similarity of first words to one of our statements: CREATE ANONYMISED reaches it, CREATE TABLE does not.
_NEAR = 0.84
# Statements of DuckDB that begin like one of ours.
_NOT_OURS = {("EXPORT", "DATABASE")}


@dataclass(frozen=True)
class _Form:
    """The statement that begins with some keywords, or the error if there is no such statement, and its label."""

    label: str
    statement: type[Statement] | Meant


class _Forms:
    """The openings of some statements, by their keywords."""

    def __init__(self, statements: Iterable[type[Statement]]) -> None:
        openings: dict[str, type[Statement] | Meant] = dict(OPENINGS)
        # Ours only if a name follows them: SHOW release describes a table of that name.
        self._before_name = {words: _Form(words, form) for words, form in BEFORE_NAME.items()}
        for statement in statements:
            openings |= dict.fromkeys(statement.OPENINGS, statement)
            for words, other in statement.OPENINGS_BEFORE_NAME.items():
                self._before_name[words] = _Form(other.OPENINGS[0], other)
        self._by_opening = {
            words: _Form(label_of(opening), form)
            for opening, form in openings.items()
            for words in spellings_of(opening)
        }
        self.labels = list(dict.fromkeys(form.label for form in self._by_opening.values()))
        self.most_keywords = max(map(len, self._by_opening))

    def beginning(self, first: Sequence[Token]) -> _Form | None:
        """Finds sqlanon's statement by the first tokens of a text, possibly more than its keywords; None for other
        texts.
        """
        words = tuple(takewhile(bool, map(keyword_of, first)))
        if (refused := _before_second_name(first)) is not None:
            return refused
        if len(first) > 2 and (form := self._before_name.get(" ".join(words[:2]))):
            return form if first[2].kind in (Kind.WORD, Kind.QUOTED) else None
        # The longest first: CREATE ANONYMIZED STREAM is a statement of its own.
        openings = [words[:length] for length in range(len(words), 0, -1)]
        if not _NOT_OURS.isdisjoint(openings):
            return None
        return next((self._by_opening[opening] for opening in openings if opening in self._by_opening), None)


def _before_second_name(first: Sequence[Token]) -> _Form | None:
    """Returns the error for CREATE TABLE ANONYMIZED name; None for other statements, such as a statement on a table
    with the name anonymized.
    """
    rest = [*first[:1], *first[3:]] if [*map(keyword_of, first[1:3])] == ["OR", "REPLACE"] else list(first)
    words = " ".join(map(keyword_of, rest[:3]))
    if len(rest) < 4 or words not in BEFORE_SECOND_NAME or keyword_of(rest[3]) in ("AS", "USING"):
        return None
    return _Form(words, BEFORE_SECOND_NAME[words]) if rest[3].kind in (Kind.WORD, Kind.QUOTED) else None


@cache
def _all_forms() -> _Forms:
    return _Forms(statements())


@cache
def _forms_of(keyword: str) -> _Forms:
    """Returns the forms of the statements that begin with a keyword."""
    return _Forms(statements_beginning(keyword))


def parse_script(text: str) -> list[Statement]:
    """Returns the statements of a script, each with its position.

    Raises StatementError for an error in a statement of sqlanon, before any statement of the script has run. DuckDB
    reports the errors in its own statements.
    """
    positions = Positions(text)
    return [_parsed(text, positions, piece) for piece in split(text)]


# By the word before a single name.
_OF_A_POLICY = "if {name} is a policy, write "
_OF_A_NAME = {
    "DESCRIBE": f"{_OF_A_POLICY}DESCRIBE POLICY {{name}}",
    "DESC": f"{_OF_A_POLICY}DESCRIBE POLICY {{name}}",
    "EXPLAIN": f"{_OF_A_POLICY}EXPLAIN ANONYMIZED TABLE release AS POLICY {{name}}",
    "REFRESH": "write REFRESH ANONYMIZED TABLE {name}",
}


def _misread(text: str) -> str | None:
    """Returns a hint for a statement that DuckDB could not run, if a statement of sqlanon was meant or begins within
    it.

    Returns None for a statement that does not resemble a statement of sqlanon.
    """
    forms = _all_forms()
    every_token = list(tokens(text))
    # An unclosed token is the last one.
    read = [token for token in every_token if token.kind is not Kind.OPEN]
    for number, (before, token) in enumerate(pairwise(read), start=1):
        _, line_break, indent = text[before.end : token.start].rpartition("\n")
        following = every_token[number : number + forms.most_keywords]
        if line_break and not indent.strip() and (form := forms.beginning(following)):
            return f"if {form.label} begins another statement, put a semicolon before it"
    if [keyword_of(token) for token in read[1:3]] == ["OR", "REPLACE"]:
        read = [read[0], *read[3:]]
    words = " ".join(keyword_of(token) for token in read[:2])
    if len(read) == 2 and (meant := _OF_A_NAME.get(keyword_of(read[0]))):
        return meant.format(name=shortened(read[1].text))
    if words == "SHOW POLICY":
        return "SHOW POLICIES lists all, SHOW POLICY name describes one"
    near = get_close_matches(words, [label for label in forms.labels if " " in label], n=1, cutoff=_NEAR)
    near = near or get_close_matches(words.partition(" ")[0], [word for word in forms.labels if " " not in word], n=1)
    return f"did you mean {near[0]}?" if near else None


def hint_for(error: BaseException, script: str) -> str | None:
    """Returns a hint at the statement of sqlanon that was meant by a text that DuckDB could not read; None for other
    errors.

    An error about the path of a file gets a hint with similar files. In a script of several statements, the hint is
    about the statement that begins with the word in DuckDB's message.
    """
    if type(error).__name__ == "IOException":
        from sqlanon.engines.translated import near_file

        return near_file(str(error))
    if type(error).__name__ not in ("ParserException", "CatalogException"):
        return None
    pieces = [piece.text for piece in split(script)]
    if len(pieces) > 1:
        first = [next(tokens(text)).text for text in pieces]
        pieces = [text for text, word in zip(pieces, first, strict=True) if f'near "{word}"' in str(error)]
    return _misread(pieces[0]) if len(pieces) == 1 else None


def filled(statement: Statement, values: Mapping[Placeholder, Value]) -> Statement:
    """Returns a statement of a script in which values replace the placeholders.

    Raises StatementError for a value that is not allowed in this place.
    """
    assert statement.parts is not None
    text, start, end = statement.parts.script, statement.parts.start, statement.parts.end
    positions = Positions(text)
    return _parsed(text, positions, Piece(text[start:end], start, positions.at(start)), values)


def statement_ending(beginning: str, text: str, argument: str) -> Statement:
    """Parses a statement from its beginning and its end. Raises UserError, with the argument's name, for an error in
    the end.
    """
    try:
        parsed = parse_script(f"{beginning} {text}")
    except SqlanonError as error:
        raise UserError(f"{argument}: {error.message}", hint=error.hint) from None
    if len(parsed) != 1:
        raise UserError(f"{argument}: {text!r} is more than one statement")
    if parsed[0].placeholders:
        raise UserError(f"{argument}: {text!r} has a parameter", hint="write its value")
    return parsed[0]


def _parsed(
    text: str, positions: Positions, piece: Piece, values: Mapping[Placeholder, Value] | None = None
) -> Statement:
    forms = _forms_of(first_keyword(piece.text) or "")
    form = forms.beginning(list(islice(tokens(piece.text), forms.most_keywords)))
    if form is None:
        parts = Parts(text, positions, piece.start, piece.end)
        parts.add_query(piece.start, piece.end)
        return PassThrough(piece.text, position=piece.position, parts=parts)
    example = "" if isinstance(form.statement, Meant) else form.statement.form()
    reader = Reader(text, positions, piece.start, piece.end, label=form.label, form=example, values=values)
    if isinstance(form.statement, Meant):
        refuse(reader, form.statement)
    statement = form.statement.read(reader)
    # None are left if they have values.
    placeholders = tuple(dict.fromkeys(reader.placeholders.read)) if values is None else ()
    return replace(statement, position=piece.position, parts=reader.parts, placeholders=placeholders)
