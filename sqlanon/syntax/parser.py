"""Scripts to statements: sqlanon's own become dataclasses, everything else stays text for DuckDB.

Which statements are sqlanon's is told by their first keywords alone, so that no
statement of DuckDB's has to be understood here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import islice, pairwise, takewhile

from sqlanon.domain.values import Value
from sqlanon.errors import Position, StatementError
from sqlanon.syntax import (
    _attack,
    _estimate,
    _frontier,
    _hierarchy,
    _listings,
    _meant,
    _policy,
    _profile,
    _release,
    _series,
    _stream,
    _workload,
)
from sqlanon.syntax._lexer import Kind, Positions, Token, keyword_of, tokens
from sqlanon.syntax._reader import Reader
from sqlanon.syntax._wording import UNPAIRED, shortened
from sqlanon.syntax.parts import Parts
from sqlanon.syntax.placeholders import Placeholder
from sqlanon.syntax.script import Piece, split
from sqlanon.syntax.statements import SHOWN, PassThrough, Statement

__all__ = ["KEYWORDS", "UNPAIRED", "filled", "hint_for", "parse_script", "query_text"]


@dataclass(frozen=True)
class _Form:
    """One of our statements: how it is read, and a correct one to show in errors."""

    read: Callable[[Reader, Position], Statement]
    example: str


_RELEASE = " hospital_2026 AS POLICY hospital METHOD generalization(suppression => 0.02)"
_STREAM = (
    "CREATE ANONYMIZED STREAM visits_stream AS POLICY hospital ORDER BY arrived METHOD stream(k => 5, delay => 1000)"
)
_FORMS = {
    "CREATE HIERARCHY": _Form(
        _hierarchy.create,
        "CREATE HIERARCHY age_bands AS INTERVALS (5, 10, 20) or CREATE HIERARCHY age_bands AUTO ON patients.age",
    ),
    "CREATE POLICY": _Form(
        _policy.create,
        "CREATE POLICY hospital ON patients (ssn IDENTIFIER, age QUASI IDENTIFIER USING age_bands, disease SENSITIVE) "
        "REQUIRE k_anonymity(k => 4)",
    ),
    "ALTER POLICY": _Form(_policy.alter, "ALTER POLICY hospital ADD COLUMN zip QUASI IDENTIFIER USING zip_prefix"),
    "DESCRIBE POLICY": _Form(_listings.describe, "DESCRIBE POLICY hospital"),
    **{f"SHOW {kind.upper()}": _Form(_listings.show, f"SHOW {kind.upper()}") for kind in SHOWN},
    "CREATE WORKLOAD": _Form(
        _workload.create, "CREATE WORKLOAD counts ON POLICY hospital (queries => 1000, seed => 1)"
    ),
    "CREATE SERIES": _Form(
        _series.create, "CREATE SERIES monthly ON POLICY hospital KEY 'SERIES_KEY' REQUIRE composition(max => 0.5)"
    ),
    "CREATE ANONYMIZED": _Form(_release.create, "CREATE ANONYMIZED TABLE" + _RELEASE),
    "CREATE ANONYMIZED STREAM": _Form(_stream.create, _STREAM),
    "ADVANCE": _Form(_stream.advance, "ADVANCE visits_stream or ADVANCE visits_stream TO END"),
    "REFRESH ANONYMIZED STREAM": _Form(_stream.refresh, "ADVANCE visits_stream"),
    "EXPLAIN ANONYMIZED STREAM": _Form(_stream.explain, _STREAM),
    "DROP ANONYMIZED STREAM": _Form(_stream.drop, "DROP ANONYMIZED STREAM IF EXISTS visits_stream"),
    "REFRESH ANONYMIZED": _Form(_release.refresh, "REFRESH ANONYMIZED TABLE hospital_2026"),
    "EXPLAIN ANONYMIZED": _Form(_release.explain, "EXPLAIN ANONYMIZED TABLE" + _RELEASE),
    "DROP HIERARCHY": _Form(_hierarchy.drop, "DROP HIERARCHY IF EXISTS age_bands"),
    "DROP POLICY": _Form(_policy.drop, "DROP POLICY IF EXISTS hospital"),
    "DROP WORKLOAD": _Form(_workload.drop, "DROP WORKLOAD IF EXISTS counts"),
    "DROP SERIES": _Form(_series.drop, "DROP SERIES IF EXISTS monthly"),
    "DROP ANONYMIZED": _Form(_release.drop, "DROP ANONYMIZED TABLE IF EXISTS hospital_2026"),
    "CHECK": _Form(
        _release.check,
        "CHECK hospital_2026 or CHECK patients (age, zip) SENSITIVE disease REQUIRE k_anonymity(k => 4)",
    ),
    "ESTIMATE": _Form(_estimate.estimate, "ESTIMATE SELECT count(*) FROM patients FROM RELEASE hospital_2026"),
    "MEASURE": _Form(
        _workload.measure,
        "MEASURE hospital_2026 WITH WORKLOAD counts or MEASURE hospital_2026 WITH FIGURES (membership)",
    ),
    "ATTACK": _Form(
        _attack.attack,
        "ATTACK hospital_2026 WITH homogeneity(confidence => 0.5) or "
        "ATTACK patients (age, zip) SENSITIVE disease WITH background(values => 1)",
    ),
    "PROFILE": _Form(_profile.profile, "PROFILE patients or PROFILE patients (age, zip, disease)"),
    "FRONTIER": _Form(
        _frontier.frontier,
        "FRONTIER choice ON POLICY hospital METHODS (generalization, mondrian) SWEEP k IN (5, 10) MEASURE p_loss, gain",
    ),
    "ADVISE": _Form(_frontier.advise, "ADVISE choice WHERE p_loss <= 0.1 LEAST gain"),
    "DROP FRONTIER": _Form(_frontier.drop, "DROP FRONTIER IF EXISTS choice"),
    "EXPORT": _Form(_release.export, "EXPORT hospital_2026 TO 'out/' (FORMAT parquet)"),
}


# Read in order to say what to write instead.
_REFUSED = ("REFRESH ANONYMIZED STREAM", "EXPLAIN ANONYMIZED STREAM")


def _kinds(keywords: str) -> tuple[str, ...]:
    """What may stand behind the keywords of a statement."""
    if not keywords.endswith("ANONYMIZED"):
        return ("",)
    return (" TABLE",) if keywords.startswith("REFRESH") else (" VIEW", " TABLE")


# For completion in a shell.
KEYWORDS = tuple(keywords + kind for keywords in _FORMS if keywords not in _REFUSED for kind in _kinds(keywords))


def _openings(label: str) -> tuple[str, ...]:
    """All ways to begin the statement that is called by its first keywords."""
    verb, _, kind = label.partition(" ")
    if verb == "CREATE":
        return label, f"CREATE OR REPLACE {kind}"
    if verb == "EXPLAIN":
        return label, f"EXPLAIN CREATE {kind}", f"EXPLAIN CREATE OR REPLACE {kind}"
    return (label,)


# How like one of our statements the first words of another have to be: CREATE ANONYMISED is, CREATE TABLE is not.
_NEAR = 0.84
_OURS = {tuple(opening.split()): label for label in _FORMS for opening in _openings(label)}
_NOT_OURS = {("EXPORT", "DATABASE")}
# Ours only where a name stands behind them: SHOW release describes a table of that name.
_BEFORE_NAME = {"SHOW POLICY": "DESCRIBE POLICY", **{words: words for words in _meant.MEANT}}
_MAX_KEYWORDS = max(map(len, _OURS))


def parse_script(text: str) -> list[Statement]:
    """The statements of a script, each with its place in it.

    Raises StatementError for one of our own that is not written correctly, before any
    of the script has run. What is not ours is not looked at: DuckDB says what is wrong with it.
    """
    positions = Positions(text)
    return [_parsed(text, positions, piece) for piece in split(text)]


def query_text(text: str) -> str:
    """The text of a query that stands for itself, without comments and spaces around it.

    Raises StatementError unless it is one query that begins with a word of queries and
    closes all its parentheses and quotes, so that `(` text `)` is that query and nothing else.
    """
    pieces = list(split(text))
    inside = f"({pieces[0].text}\n)" if len(pieces) == 1 else ""
    reader = Reader(inside, Positions(inside), 0, len(inside), label="query", form="SELECT * FROM patients")
    try:
        if not reader.sees_query():
            raise reader.expected("one query")
        query = reader.query()
        reader.end()
    except StatementError as error:
        error.position = error.excerpt = None  # the text does not stand in a script
        raise
    if reader.placeholders.read:
        raise StatementError("a query that stands for itself has no parameters", hint="write their values into it")
    return query


def _misread(text: str) -> str | None:
    """A hint for a statement that DuckDB could not run: the one of ours that was meant, or that begins within it.

    None where nothing in it is like one of ours.
    """
    every_token = list(tokens(text))
    # A token that is never closed is the last one.
    read = [token for token in every_token if token.kind is not Kind.OPEN]
    for number, (before, token) in enumerate(pairwise(read), start=1):
        _, line_break, indent = text[before.end : token.start].rpartition("\n")
        if line_break and not indent.strip() and (label := _label_of(every_token[number : number + _MAX_KEYWORDS])):
            return f"if {label} begins another statement, put a semicolon before it"
    words = " ".join(keyword_of(token) for token in read[:2])
    if len(read) == 2 and keyword_of(read[0]) in ("DESCRIBE", "DESC"):
        return f"if {shortened(read[1].text)} is a policy, write DESCRIBE POLICY {shortened(read[1].text)}"
    if words == "SHOW POLICY":
        return "SHOW POLICIES lists all, SHOW POLICY name describes one"
    near = get_close_matches(words, [label for label in _FORMS if " " in label], n=1, cutoff=_NEAR)
    near = near or get_close_matches(words.partition(" ")[0], [label for label in _FORMS if " " not in label], n=1)
    return f"did you mean {near[0]}?" if near else None


def hint_for(error: BaseException, script: str) -> str | None:
    """Which of our statements was meant by the one of a script that DuckDB could not read; None for other errors.

    Of several statements it is the one that begins with the word that DuckDB stumbles over.
    """
    if type(error).__name__ not in ("ParserException", "CatalogException"):
        return None
    pieces = [piece.text for piece in split(script)]
    if len(pieces) > 1:
        first = [next(tokens(text)).text for text in pieces]
        pieces = [text for text, word in zip(pieces, first, strict=True) if f'near "{word}"' in str(error)]
    return _misread(pieces[0]) if len(pieces) == 1 else None


def filled(statement: Statement, values: Mapping[Placeholder, Value]) -> Statement:
    """A statement of a script with the values that its placeholders stand for.

    Raises StatementError for a value that cannot stand there.
    """
    assert statement.parts is not None
    text, start, end = statement.parts.script, statement.parts.start, statement.parts.end
    positions = Positions(text)
    return _parsed(text, positions, Piece(text[start:end], start, positions.at(start)), values)


def _parsed(
    text: str, positions: Positions, piece: Piece, values: Mapping[Placeholder, Value] | None = None
) -> Statement:
    label = _label(piece.text)
    if label is None:
        parts = Parts(text, positions, piece.start, piece.end)
        parts.add_query(piece.start, piece.end)
        return PassThrough(piece.text, position=piece.position, parts=parts)
    form = _FORMS[label] if label in _FORMS else _Form(_meant.refuse, "")
    reader = Reader(text, positions, piece.start, piece.end, label=label, form=form.example, values=values)
    statement = form.read(reader, piece.position)
    # None is left once they have values.
    placeholders = tuple(dict.fromkeys(reader.placeholders.read)) if values is None else ()
    return replace(statement, parts=reader.parts, placeholders=placeholders)


def _label(text: str) -> str | None:
    """Which of our statements the text begins, if it does."""
    return _label_of(list(islice(tokens(text), _MAX_KEYWORDS)))


def _label_of(first: Sequence[Token]) -> str | None:
    """Which of our statements these tokens begin; more of them than it has keywords do not matter."""
    words = tuple(takewhile(bool, map(keyword_of, first)))
    if len(first) > 2 and (label := _BEFORE_NAME.get(" ".join(words[:2]))):
        return label if first[2].kind in (Kind.WORD, Kind.QUOTED) else None
    # The longest first: CREATE ANONYMIZED STREAM is a statement of its own.
    openings = [words[:length] for length in range(len(words), 0, -1)]
    if not _NOT_OURS.isdisjoint(openings):
        return None
    return next((_OURS[opening] for opening in openings if opening in _OURS), None)
