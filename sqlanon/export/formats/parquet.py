"""Parquet: one file with the certificate in its metadata, or one file for each combination of some columns' values.

The files of a partition are in folders named after the values, and contain these columns like all others.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.export.formats.base import CERTIFICATE_KEY, ExportFile, copy, option, reading, reopen, table_function
from sqlanon.sql.build.expressions import entry
from sqlanon.sql.build.names import column, literal

SUFFIXES = (".parquet",)
CARRIES_CERTIFICATE = True
COMPRESSION = "zstd"
CAN_PARTITION = True

# DuckDB writes these types as types that hold less or are read back differently: HUGEINT as DOUBLE, an INTERVAL without
# its microseconds, a UNION as a STRUCT, an ARRAY as a LIST.
_INEXACT = re.compile(
    r"\b(?:U?HUGEINT|BIGNUM|BIT|UNION|INTERVAL|TIME WITH TIME ZONE|VARIANT|GEOMETRY)\b|\[\d+\]", re.IGNORECASE
)
_METADATA = "SELECT decode(value) FROM parquet_kv_metadata(?) WHERE decode(key) = ?"


def require(file: ExportFile) -> None:
    """Accepts any name."""


def published_type(column_type: str) -> str:
    return "VARCHAR" if _INEXACT.search(column_type) else column_type


def write(engine: Engine, file: ExportFile, rows: exp.Query, certificate: str) -> None:
    metadata = exp.Struct(expressions=[entry(CERTIFICATE_KEY, exp.Placeholder())])
    options = (
        option("FORMAT", exp.var("parquet")),
        option("COMPRESSION", exp.var(COMPRESSION)),
        option("KV_METADATA", metadata),
        *_partition(file.partition or ()),
    )
    if file.partition:
        file.path.mkdir()
    engine.run(copy(rows, options), [str(file.path), certificate])


def _partition(names: Sequence[str]) -> list[exp.CopyParameter]:
    if not names:
        return []
    return [
        option("PARTITION_BY", exp.Tuple(expressions=list(map(column, names)))),
        # A file that is moved out of its folder keeps all released columns.
        option("WRITE_PARTITION_COLUMNS", exp.true()),
    ]


def read(file: ExportFile) -> exp.Query:
    # A folder such as year=2026 in the file's path is not a column.
    options = {"hive_partitioning": exp.false()}
    paths = exp.Array(expressions=[literal(str(path)) for path in file.paths])
    return reading(file, table_function("read_parquet", paths, options))


def header(file: ExportFile) -> None:
    """Returns None, because columns are read by name."""


def carried(path: Path) -> Sequence[str]:
    file = ExportFile(path, "", ())
    reader = reopen([file], {})
    try:
        return certificate(reader, file)
    finally:
        reader.connection.close()


def certificate(engine: Engine, file: ExportFile) -> Sequence[str]:
    """Returns the certificates in the files without repetition; a file of a partition without a certificate counts as
    an empty text.
    """
    texts = [_carried(engine, path) for path in file.paths]
    return texts[0] if len(texts) == 1 else sorted({text for each in texts for text in each or [""]})


def _carried(engine: Engine, path: Path) -> list[str]:
    return [str(text) for (text,) in engine.rows(_METADATA, [str(path), CERTIFICATE_KEY])]
