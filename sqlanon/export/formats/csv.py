"""CSV by RFC 4180, with a header, in UTF-8; another character may replace the comma or the quotation mark.

Every value is text, as DuckDB casts it. NULL is an empty field and the empty text is `""`, as in PostgreSQL's COPY;
some readers do not distinguish them. A CSV file has no place for a certificate: the certificate beside it identifies it
by its hash.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.export.formats.base import ExportFile, copy, option, reading, table_function
from sqlanon.export.formats.base import reopen as reopen  # a part of the format
from sqlanon.sql.build.expressions import entry
from sqlanon.sql.build.names import literal

SUFFIXES = (".csv",)
CARRIES_CERTIFICATE = False

# Longer rows are written but not read back, and the export is refused: reading allocates this much memory.
_LONGEST_ROW = 100_000_000


def require(file: ExportFile) -> None:
    """Accepts any name."""


def published_type(column_type: str) -> str:
    """Returns VARCHAR, because the check compares the texts in the file."""
    return "VARCHAR"


def write(engine: Engine, file: ExportFile, rows: exp.Query, certificate: str) -> None:
    options = [option("FORMAT", exp.var("csv")), option("HEADER", exp.true())]
    options += [option(name, literal(text)) for name, text in _quoting(file).items()]
    engine.run(copy(rows, options), [str(file.path)])


def _quoting(file: ExportFile) -> dict[str, str]:
    quote = file.csv.quote
    return {"DELIMITER": file.csv.delimiter, "QUOTE": quote, "ESCAPE": quote, "NULLSTR": ""}


def read(file: ExportFile) -> exp.Query:
    columns = [entry(name, literal(kind)) for name, kind in file.columns]
    options: dict[str, exp.Expr] = {
        "auto_detect": exp.false(),
        "header": exp.true(),
        "columns": exp.Struct(expressions=columns),
        "allow_quoted_nulls": exp.false(),
        "hive_partitioning": exp.false(),
        # Only a single-threaded reader is sure to read line breaks inside values correctly.
        "parallel": exp.false(),
        "max_line_size": literal(_LONGEST_ROW),
    }
    options |= {name.lower(): literal(text) for name, text in _quoting(file).items()}
    return reading(file, table_function("read_csv", literal(str(file.path)), options))


def header(file: ExportFile) -> Sequence[str]:
    with file.path.open(encoding="utf-8", errors="replace", newline="") as content:
        return next(csv.reader(content, delimiter=file.csv.delimiter, quotechar=file.csv.quote), [])


def carried(path: Path) -> Sequence[str]:
    return []


def certificate(engine: Engine, file: ExportFile) -> Sequence[str]:
    return []
