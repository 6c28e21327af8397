"""Statements that do not exist, and that people try: each is refused with the one that does what they want."""

from __future__ import annotations

from typing import NamedTuple, NoReturn

from sqlanon.syntax.lexer import Kind, keyword_of
from sqlanon.syntax.reader import Reader
from sqlanon.syntax.wording import shortened


class Meant(NamedTuple):
    """A message for a statement that does not exist, and a hint in which {name} is the name that it is about."""

    hint: str
    message: str = "there is no such statement"


_RELEASE = Meant("CHECK {name} says what it satisfies, DESCRIBE {name} which columns it has; SHOW RELEASES lists all")
_STREAM = Meant("SHOW STREAMS lists all, CHECK {name} says what it satisfies, and its columns are those of its table")
_HIERARCHY = Meant("SHOW HIERARCHIES lists all with the statements that make them")
_WORKLOAD = Meant("SHOW WORKLOADS lists all; the table anon.workload has their queries")

_WITH_S = "the word ANONYMISED is spelt otherwise in these statements"
_ANONYMIZE = Meant("write CREATE ANONYMIZED TABLE name FROM patients (age, sex, zip) SENSITIVE disease")

# By their first words, behind which a name stands. To DuckDB all of them are errors, too.
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

# Of three words, the last of which DuckDB would take for the name of a table: another name follows.
BEFORE_SECOND_NAME = {
    f"CREATE {kind} {word}": Meant(
        f"the words stand the other way round: CREATE ANONYMIZED {kind} {{name}} FROM patients (age, sex), or AS POLICY"
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
    "REFRESH ANONYMIZED STREAM": Meant("ADVANCE name publishes what is due of a stream", "a stream is not made anew"),
}


def refuse(reader: Reader, meant: Meant) -> NoReturn:
    """Raises StatementError, with what to write instead."""
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
