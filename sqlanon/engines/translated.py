"""Translates errors of DuckDB, without the values that they may quote."""

from __future__ import annotations

import re
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from unicodedata import category, east_asian_width

import duckdb

from sqlanon.engines.federated.stand_ins import elsewhere_in
from sqlanon.errors import WITHHELD, EngineError, SqlanonError, UserError
from sqlanon.sql.release.view_preconditions import refusal_in

# Messages of these classes are about names, types, files, memory, or the connection. Messages of a class in no list may
# quote a value, such as errors of conversions, constraints and JSON.
_VALUELESS = (
    duckdb.BinderException,
    duckdb.CatalogException,
    duckdb.ConnectionException,
    duckdb.DependencyException,
    duckdb.InterruptException,
    duckdb.IOException,
    duckdb.OutOfMemoryException,
    duckdb.ParserException,
    duckdb.PermissionException,
    duckdb.ResourceInUseException,
    duckdb.SequenceException,
    duckdb.SyntaxException,
)
# Some messages of these classes may quote a value: error('...') is an InvalidInputException, a commit names a duplicate
# key, and an unknown time zone or order, which a column may hold, is a NotImplementedException.
_SOMETIMES = {
    duckdb.InvalidInputException: re.compile(
        r"Invalid Input Error: ("
        r"No open result set"
        r"|Values were not provided for the following parameters: [\w, ]+"
        r"|Parameter argument/count mismatch, identifiers of the excess parameters: [\w, ]+"
        r"|Please provide either a DuckDBPyStatement or a string representing the query"
        r'|Cannot change configuration option "*\w+"* - the configuration has been locked'
        r"|More than one row returned by a subquery used as an expression - scalar subqueries can only return a single "
        r'row\.\s+Use "SET scalar_subquery_error_on_multiple_rows=false" to revert to previous behavior of returning a '
        r"random row\."
        r"|Attempting to execute an unsuccessful or closed pending query result"
        r")"
    ),
    duckdb.TransactionException: re.compile(
        r"TransactionContext Error: ("
        r"Current transaction is aborted \(please ROLLBACK\)"
        r"|cannot start a transaction within a transaction"
        r"|cannot \w+ - no transaction is active"
        r"|Conflict on [\w ]+!?"
        r"|Catalog write-write conflict on .*"
        r"|Attempting to write to database .* read-only mode.*"
        r"|Attempting to write to database .* a single transaction can only write to a single attached database\."
        r")",
        re.DOTALL,
    ),
    duckdb.NotImplementedException: re.compile(
        r"Not implemented Error: (Unimplemented .*|.*\b(not|only) (yet )?(supported|implemented)\b.*)", re.DOTALL
    ),
}
# A type that lists values of a column. Possessive quantifiers (*+) read 'a''a' as one value; otherwise a list that is
# never closed would be read in exponentially many ways.
_ENUM = re.compile(r"\bENUM\s*+\((?:'[^']*+(?:''[^']*+)*+'(?:,\s*+)?+)*+\)")
# The kind of an error, which its class shows already, and the line with a caret below it, at the end.
_KIND = re.compile(r"^[A-Z][A-Za-z ]+ Error: ")
_JOINER = "\u200d"
_SKINS = frozenset(map(chr, range(0x1F3FB, 0x1F400)))
_FLAGS = frozenset(map(chr, range(0x1F1E6, 0x1F200)))
_QUOTED_LINE = re.compile(r"(?<!\n)\n+(?P<head>LINE \d+: )(?P<line>[^\n]*)\n(?P<caret> *)\^+\s*$")
_QUOTED_NAME = re.compile(r'"([^"\n]+)"|\bwith name (\w+)')
_OF_EXTENSION = "An error occurred while trying to automatically install the required extension"
# Messages of the system, in an IOException or a failed commit.
_NO_SPACE = re.compile(
    "No space left on device|Disk quota exceeded|File too large|There is not enough space on the disk"
)
_NO_FILES = re.compile(r'No files found that match the pattern "([^"\n]+)"')
# The number of files of a folder whose names are compared with the name of a missing file.
_MOST_FILES = 1_000
# Messages about a CSV file, JSON or read_text; then about a CSV file whose encoding is given.
_NOT_UTF8 = re.compile("file is not utf-8 encoded|invalid UTF-8 encoding|valid UTF-8", re.IGNORECASE)
# Messages about a CSV file. The problem is behind the row at fault, which may hold any text; DuckDB wrote the last such
# line.
_CSV_LINE = re.compile(r"(?:Conversion|Invalid Input) Error: CSV Error on Line: (\d+)\n")
_CSV_COLUMNS = re.compile(r"\nExpected Number of Columns: (?P<expected>\d+) Found: (?P<found>\d+)\n")
_CSV_TYPE = re.compile(
    r"\nColumn (?P<name>[^\n]*) is being converted as type (?P<type>[A-Z][A-Z0-9(), ]*)\n"
    r"This type was auto-detected from the CSV file\.\n"
)
_NOT_ENCODED = re.compile(r"Invalid Input Error: File is not [\w-]+ encoded")
# Errors of the connection's use, which the user can change.
_OF_CONNECTION = (duckdb.ConnectionException, duckdb.ResourceInUseException)


def in_use() -> duckdb.Error:
    """Returns the error that DuckDB raises if two threads use one connection."""
    return duckdb.ResourceInUseException(
        "Resource In Use Error: connection is busy with another call; it refuses instead of waiting, "
        "so use a separate connection from cursor()"
    )


def translated(error: duckdb.Error, query: str | None = None) -> SqlanonError:
    """Converts an error of DuckDB to an error of sqlanon, without the values that the message may quote.

    An error that the user can prevent, with another file or another use of the connection, is a UserError.
    """
    text, quoted = _quotation(str(error).strip())
    text = _ENUM.sub("ENUM", text)
    if _NO_SPACE.search(text):
        return EngineError(
            "the disk is full; nothing was written",
            hint="free space on the disks of the database and of the export, and run the statement again",
            query=query,
        )
    if _NOT_UTF8.search(text):
        return EngineError(
            "a file is not UTF-8",
            hint="name the encoding of a CSV file, read_csv('file.csv', encoding = 'latin-1'); convert others to UTF-8",
            query=query,
        )
    if _NOT_ENCODED.match(text):
        return EngineError("a file is not in the encoding that is named", hint="name another encoding", query=query)
    if problem := _other_rows(text, query) or _users_to_change(text, query):
        return problem
    if elsewhere := elsewhere_in(text):
        return UserError(
            elsewhere, hint="DuckDB has their columns only; see docs/spark.md for what runs on Spark", query=query
        )
    if refusal := refusal_in(text):
        return UserError(refusal.message, hint=refusal.hint, query=query)
    # A list of values that is cut off, or quoted in another way, cannot be removed.
    is_shown = _is_valueless(error, text) and not re.search(r"\bENUM\s*\(", text)
    message = _KIND.sub("", text) if is_shown else WITHHELD
    kind = UserError if isinstance(error, _OF_CONNECTION) else EngineError
    return kind(f"DuckDB {type(error).__name__}: {message}", query=query, quoted=quoted)


def _quotation(text: str) -> tuple[str, tuple[str, int] | None]:
    """Returns a message without the query's line that DuckDB quotes, and this line with the offset of its caret.

    Without such a line, the second part is the name in the message, with offset 0; or None if the message has no name.
    """
    match = _QUOTED_LINE.search(text)
    if not match:
        name = _QUOTED_NAME.search(text)
        return text, (next(filter(None, name.groups())), 0) if name else None
    line, offset = match["line"], len(match["caret"]) - len(match["head"])
    if line.startswith("..."):
        line, offset = line[3:], offset - 3
    line = line.removesuffix("...")
    return text[: match.start()].rstrip(), (line, _offset_at(line, offset))


def _offset_at(line: str, column: int) -> int:
    """Returns the offset of the character at a column of a line, or 0 if no character begins there.

    DuckDB counts the columns: a letter with its combining marks, a compound emoji, and a flag each count as one
    character, which is as wide as its first part. A tab has no width.
    """
    at, before = 0, ""
    for offset, character in enumerate(line):
        is_flag = character in _FLAGS
        # Combining characters, and unprinted ones such as a tab.
        is_part = category(character)[0] in "MC" or character in _SKINS or before == _JOINER
        is_part = is_part or (is_flag and before in _FLAGS)
        if not is_part:
            if at >= column:
                return offset if at == column else 0
            at += 2 if east_asian_width(character) in "WF" else 1
        # Two letters are a flag, and a third letter begins the next flag.
        before = "" if is_part and is_flag else character
    return len(line) if at == column else 0


def _is_valueless(error: duckdb.Error, text: str) -> bool:
    for kind, known in _SOMETIMES.items():
        if isinstance(error, kind):
            return known.fullmatch(text) is not None
    return isinstance(error, _VALUELESS) or (type(error) is duckdb.Error and text.startswith(_OF_EXTENSION))


def near_file(text: str) -> str | None:
    """Returns a hint for DuckDB's message about a missing file: a similar file, or the folder of relative paths.

    None for other messages.
    """
    match = _NO_FILES.search(text)
    if match is None:
        return None
    near = file_like(Path(match[1]))
    return f"did you mean '{near}'?" if near else f"a path begins in the folder {Path.cwd().as_posix()}"


def file_like(path: Path) -> Path | None:
    """Returns a file that a missing path may mean: a file with the same name in a folder below, or a file of the same
    kind with a similar name.
    """
    try:
        entries = [*islice(path.parent.iterdir(), _MOST_FILES)]
        below = next((each / path.name for each in sorted(entries) if (each / path.name).is_file()), None)
        names = [each.name for each in entries if each.suffix.lower() == path.suffix.lower() and each.is_file()]
    except (OSError, ValueError):
        return None
    near = get_close_matches(path.name, names, n=1)
    return below or (path.parent / near[0] if near else None)


def _other_rows(text: str, query: str | None) -> UserError | None:
    """Returns the error for a CSV file with a row of another type or number of columns than its first rows."""
    if (line := _CSV_LINE.match(text)) is None:
        return None
    if not (wrong := sorted((*_CSV_TYPE.finditer(text), *_CSV_COLUMNS.finditer(text)), key=re.Match.start)):
        return None
    last = wrong[-1].groupdict()
    if "type" in last:
        problem = f"no {last['type']} in the column {last['name']}, as the first rows have"
    else:
        problem = f"another number of columns than the first rows: {last['found']} in place of {last['expected']}"
    return UserError(
        f"line {line[1]} of a CSV file has {problem}",
        hint="let DuckDB inspect all rows: read_csv('file.csv', sample_size = -1), or in Python "
        "sqlanon.connect().read_csv(path, sample_size=-1).df(); nullstr = '?' reads a sign for a missing value",
        query=query,
    )


def _users_to_change(text: str, query: str | None) -> UserError | None:
    """Returns the UserError for another error of DuckDB that the user can prevent, such as a read-only file; None
    otherwise.
    """
    before, read_only, _ = text.partition('" which is attached in read-only mode')
    if read_only:
        database = before.partition('database "')[2]
        return UserError(
            f"the database {database} is open for reading only; nothing was written",
            hint="open it without read_only, or copy it to a file that you may write",
            query=query,
        )
    if no_file := _NO_FILES.search(text):
        return UserError(no_file[0], hint=near_file(text), query=query)
    if missing := re.match(r"Invalid Input Error: Required module '(\w+)' failed to import", text):
        # The rest is a traceback, with lines of the user's program.
        return UserError(
            f"the Python module {missing.group(1)} is missing, which DuckDB needs to return such a value",
            hint=f"pip install {missing.group(1)}",
            query=query,
        )
    if "Current transaction is aborted" in text:
        return UserError("an earlier error has aborted the transaction", hint="ROLLBACK first")
    if "CREATE SECURE VIEW is only supported for storage versions" in text:
        return UserError(
            "a live view needs a database file of storage version 2.0.0 or higher, and this one is older: "
            "a plain view would show suppressed rows in errors and statistics",
            hint="copy it, ATTACH 'new.duckdb' AS newer; COPY FROM DATABASE <this one> TO newer; "
            "then open new.duckdb. A snapshot, CREATE ANONYMIZED TABLE, works in this file too",
            query=query,
        )
    return None
