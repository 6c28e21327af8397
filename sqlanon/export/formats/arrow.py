"""Arrow IPC: one file with the certificate in its schema's metadata; it is not compressed, so that it can be mapped to
memory.
"""

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
# The key of a type's metadata with the name of its extension.
_EXTENSION = b"ARROW:extension:name"

# DuckDB writes these types as bytes that only DuckDB reads, or as numbers of fewer digits.
_INEXACT = re.compile(r"\b(?:U?HUGEINT|BIGNUM|BIT|VARIANT|GEOMETRY|TIME_NS|TIME WITH TIME ZONE)\b", re.IGNORECASE)


def require(file: ExportFile) -> None:
    """Accepts any name. Raises UserError if pyarrow is not installed."""
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
    """Returns a database in memory with a copy of the rows of each file; this database cannot open anything."""
    return copied_to_memory(files, config, _copy)


def _copy(engine: Engine, file: ExportFile) -> None:
    arrow = require_pyarrow(_PURPOSE)
    with _opened(file.path) as content:
        if _has_extensions(content.schema):
            raise PrivacyViolation(
                f"{file.path.name} has types that no export writes",
                hint="get the file from the publisher again",
            )
        stream = arrow.RecordBatchReader.from_batches(content.schema, _valid_batches(content))
        created_from(engine, QualifiedName(("main", file.table)), stream)


def _has_extensions(schema: Any) -> bool:
    """Whether a type, or a type within it, is defined by an extension, which determines how DuckDB reads the values."""
    return _EXTENSION in schema.remove_metadata().serialize().to_pybytes()


def _valid_batches(content: Any) -> Iterator[Any]:
    """Yields the validated batches of a file, because the offsets of an invalid batch may direct DuckDB anywhere in
    memory.
    """
    for index in range(content.num_record_batches):
        batch = content.get_batch(index)
        batch.validate(full=True)
        yield batch


def read(file: ExportFile) -> exp.Query:
    return reading(file, relation(("main", file.table)))


def header(file: ExportFile) -> None:
    """Returns None, because columns are read by name."""


def carried(path: Path) -> Sequence[str]:
    with _opened(path) as content:
        metadata = content.schema.metadata or {}
    text = metadata.get(CERTIFICATE_KEY.encode())
    return [] if text is None else [text.decode("utf-8", errors="replace")]


def certificate(engine: Engine, file: ExportFile) -> Sequence[str]:
    return carried(file.path)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """Yields the file, whose batches are copied as they are read. Raises UserError for a file that is not Arrow."""
    arrow = require_pyarrow(_PURPOSE)
    with arrow.OSFile(str(path)) as source:
        try:
            content = arrow.ipc.open_file(source)
        except (arrow.ArrowException, OSError):
            raise UserError(f"{path} is not an Arrow file") from None
        yield content
