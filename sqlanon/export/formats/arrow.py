"""Arrow IPC: one file with the certificate in its schema's metadata, uncompressed, to be mapped to memory."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlglot import exp

from sqlanon.domain.values import QualifiedName
from sqlanon.engines.adbc import batches, created_from, require_pyarrow
from sqlanon.engines.base import Engine
from sqlanon.errors import PrivacyViolation, UserError
from sqlanon.export.formats.base import CERTIFICATE_KEY, ExportFile, copied_to_memory, reading
from sqlanon.sql.build.names import relation

SUFFIXES = (".arrow",)
CARRIES_CERTIFICATE = True
_PURPOSE = "FORMAT arrow"
# Under this key a type has the name of its extension.
_EXTENSION = b"ARROW:extension:name"

# DuckDB writes these as bytes that only DuckDB reads, or as a number of fewer digits.
_INEXACT = re.compile(r"\b(?:U?HUGEINT|BIGNUM|BIT|VARIANT|GEOMETRY|TIME_NS|TIME WITH TIME ZONE)\b", re.IGNORECASE)


def require(file: ExportFile) -> None:
    """Arrow holds any name. Raises UserError where pyarrow is not installed."""
    require_pyarrow(_PURPOSE)


def published_type(column_type: str) -> str:
    return "VARCHAR" if _INEXACT.search(column_type) else column_type


def write(engine: Engine, file: ExportFile, rows: exp.Query, certificate: str) -> None:
    arrow = require_pyarrow(_PURPOSE)
    with batches(engine, rows) as stream:
        if _has_extensions(stream.schema):
            raise UserError(
                "this session has arrow_lossless_conversion: other programs would not read the types in the file",
                hint="run RESET arrow_lossless_conversion first",
            )
        schema = stream.schema.with_metadata({CERTIFICATE_KEY: certificate})
        with arrow.OSFile(str(file.path), "wb") as sink, arrow.ipc.new_file(sink, schema) as writer:
            for batch in stream:
                writer.write_batch(batch)


def reopen(files: Sequence[ExportFile], config: Mapping[str, str]) -> Engine:
    """A database in memory with a copy of the rows of each file, which opens nothing."""
    return copied_to_memory(files, config, _copy)


def _copy(engine: Engine, file: ExportFile) -> None:
    arrow = require_pyarrow(_PURPOSE)
    with _opened(file.path) as content:
        if _has_extensions(content.schema):
            raise PrivacyViolation(
                f"{file.path.name} has types that no export writes",
                hint="take the file from who published it again",
            )
        stream = arrow.RecordBatchReader.from_batches(content.schema, _valid_batches(content))
        created_from(engine, QualifiedName(("main", file.table)), stream)


def _has_extensions(schema: Any) -> bool:
    """Whether a type, or one within another, is an extension's: DuckDB reads its values as the name says they are."""
    return _EXTENSION in schema.remove_metadata().serialize().to_pybytes()


def _valid_batches(content: Any) -> Iterator[Any]:
    """The batches of a file: DuckDB reads where they say, which may be anywhere in what somebody else wrote."""
    for index in range(content.num_record_batches):
        batch = content.get_batch(index)
        batch.validate(full=True)
        yield batch


def read(file: ExportFile) -> exp.Query:
    return reading(file, relation(("main", file.table)))


def header(file: ExportFile) -> None:
    """Returns None: columns are read by name."""


def carried(path: Path) -> Sequence[str]:
    with _opened(path) as content:
        metadata = content.schema.metadata or {}
    text = metadata.get(CERTIFICATE_KEY.encode())
    return [] if text is None else [text.decode("utf-8", errors="replace")]


def certificate(engine: Engine, file: ExportFile) -> Sequence[str]:
    return carried(file.path)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """The file, of which each batch is copied as it is read. Raises UserError for a file that is none of Arrow."""
    arrow = require_pyarrow(_PURPOSE)
    with arrow.OSFile(str(path)) as source:
        try:
            content = arrow.ipc.open_file(source)
        except (arrow.ArrowException, OSError):
            raise UserError(f"{path} is no Arrow file") from None
        yield content
