"""The kinds of data that anonymize() takes: pandas and polars frames, Arrow Tables, and files that DuckDB reads."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import groupby
from os import PathLike, fspath
from pathlib import Path
from typing import Any
from weakref import ref

from sqlanon.assess.profiling.checked_values import MissingCodes, StoredAsText
from sqlanon.clients.frames.data_files import (
    CSV_OPTIONS,
    GLOB,
    STATA,
    DataFile,
    first_table,
    is_database,
    kind_by_name,
    kind_of,
    require_excel,
)
from sqlanon.clients.frames.release import FrameRelease, register
from sqlanon.clients.frames.results import pandas_result, polars_result
from sqlanon.clients.frames.stata import read_stata, with_dates
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Attribute
from sqlanon.domain.release import ReleaseAttribute
from sqlanon.domain.values import QualifiedName, Source
from sqlanon.engines.base import Engine
from sqlanon.engines.python_variables import data_frame_kind
from sqlanon.engines.translated import file_like
from sqlanon.errors import EngineError, UserError
from sqlanon.release.existing.restored_columns import Restoring

# The data frame's name in statements.
NAME = "data"
# The form of an option of anonymize() in errors, as in encoding="latin-1".
_OPTION = '{}="{}"'
_ROWS = "the data frame has no rows"


@dataclass(frozen=True)
class CsvOptions:
    """Options of anonymize() for a CSV file: texts for missing values, encoding, and decimal separator."""

    null: tuple[str, ...] = ()
    encoding: str | None = None
    decimal: str | None = None


class Input(ABC):
    """The data that anonymize() was given.

    `source` is the data's name in statements, and `index` has the names of a pandas frame's index. `names`, the names
    of the columns, are known once the input is open. `attributes` are columns that a release needs besides the listed
    columns.
    """

    source = Source(name=QualifiedName((NAME,)))
    attributes: tuple[Attribute, ...] = ()
    names: list[str]
    index: Sequence[object] = ()

    def open(self, engine: Engine) -> None:
        """Finds the names of the columns, unless they are known. Raises UserError if there are no rows."""
        return

    def frames(self, columns: Collection[str]) -> Mapping[str, Any]:
        """Returns the data frames that statements read, by name, with only these columns."""
        return {}

    def again(self, columns: Collection[str]) -> Callable[[], Mapping[str, Any] | None]:
        """Returns a function that reads the same data frames again later; it returns None once the caller has released
        them.
        """
        return dict

    def advice(self, stored: StoredAsText | MissingCodes) -> str:
        """Returns the advice to replace a column by its numbers or dates, or by a column without codes for missing
        values.
        """
        return f"give {stored.cast} in its place"

    def remarks(self, engine: Engine, columns: Collection[str]) -> list[str]:
        """Returns sentences about the reading of these columns."""
        return []

    def lost_orders(self, columns: Collection[str]) -> list[str]:
        """Returns sentences about text columns with an order of their own, such as ordered categories, that ranges do
        not keep.
        """
        return []

    @abstractmethod
    def result(self, released: Any, published: Sequence[ReleaseAttribute], release: FrameRelease) -> Any:
        """Converts the released rows, a DuckDB relation, to the data's kind; the result knows its release."""


class _Frame(Input):
    """A data frame of pandas, polars or Arrow."""

    def __init__(self, data: Any) -> None:
        self._data = data
        self.names = _column_names(self._names(), data)
        if not self._has_rows():
            raise UserError(_ROWS)

    def again(self, columns: Collection[str]) -> Callable[[], Mapping[str, Any] | None]:
        kind, data = type(self), ref(self._data)
        return lambda: None if data() is None else kind(data()).frames(columns)

    def _names(self) -> list[Any]:
        return list(self._data.columns)

    def _has_rows(self) -> bool:
        return len(self._data) > 0


class PandasInput(_Frame):
    """A pandas DataFrame: columns that are published unchanged come back with their dtypes."""

    _restoring: Restoring

    def advice(self, stored: StoredAsText | MissingCodes) -> str:
        text = f"data[{stored.name!r}]"
        if isinstance(stored, MissingCodes):
            return f"give {text}.mask({text}.isin({list(stored.codes)!r}))"
        if stored.format:
            return f'give pandas.to_datetime({text}, format="{stored.format}", errors="coerce")'
        with_point = f'{text}.str.replace(",", ".")' if stored.has_commas else text
        return f'give pandas.to_numeric({with_point}, errors="coerce")'

    def lost_orders(self, columns: Collection[str]) -> list[str]:
        ordered = [name for name in columns if getattr(self._data[name].dtype, "ordered", False)]
        return [
            f"{name} is an ordered categorical, and its ranges are alphabetical: begin its categories with numbers, as "
            "in '1 low', or give a hierarchy"
            for name in ordered
            if (categories := [*map(str, self._data[name].cat.categories)]) != sorted(categories)
        ]

    def __init__(self, data: Any) -> None:
        super().__init__(data)
        self.index = [name for name in data.index.names if name is not None]

    def frames(self, columns: Collection[str]) -> Mapping[str, Any]:
        _require_known_dtypes(self._data, columns)
        # DuckDB may not know the types of the other columns.
        listed = [name for name in self.names if name in columns]
        self._restoring = Restoring(self._data[listed], listed)
        self._restoring.source = with_dates(self._restoring.source)
        self.attributes = self._restoring.attributes
        return {NAME: self._restoring.source}

    def result(self, released: Any, published: Sequence[ReleaseAttribute], release: FrameRelease) -> Any:
        return pandas_result(self._restoring.restored(released.df(), published), release)


class StataInput(PandasInput):
    """A Stata file. pandas reads it, and reads it again for questions about the release."""

    def __init__(self, path: str) -> None:
        frame, _, self._remarks = read_stata(path)
        super().__init__(frame)
        self._path = path

    def remarks(self, engine: Engine, columns: Collection[str]) -> list[str]:
        return self._remarks

    def again(self, columns: Collection[str]) -> Callable[[], Mapping[str, Any] | None]:
        path = self._path

        def frames() -> Mapping[str, Any] | None:
            with suppress(UserError):
                return PandasInput(read_stata(path)[0]).frames(columns)
            return None

        return frames


class ArrowInput(_Frame):
    """An Arrow Table."""

    def _names(self) -> list[Any]:
        return list(self._data.column_names)

    def frames(self, columns: Collection[str]) -> Mapping[str, Any]:
        return {NAME: self._data.select([name for name in self.names if name in columns])}

    def result(self, released: Any, published: Sequence[ReleaseAttribute], release: FrameRelease) -> Any:
        return register(released.to_arrow_table(), release)


class PolarsInput(_Frame):
    """A polars DataFrame."""

    def __init__(self, data: Any) -> None:
        _require_arrow()
        super().__init__(data)

    def frames(self, columns: Collection[str]) -> Mapping[str, Any]:
        return {NAME: self._data.select([name for name in self.names if name in columns])}

    def result(self, released: Any, published: Sequence[ReleaseAttribute], release: FrameRelease) -> Any:
        return polars_result(released.pl(), release)


class LazyInput(PolarsInput):
    """A polars LazyFrame. The listed columns are computed once, and the result is a LazyFrame, too."""

    def _names(self) -> list[Any]:
        return list(self._data.collect_schema().names())

    def _has_rows(self) -> bool:
        return len(self._data.head(1).collect()) > 0

    def frames(self, columns: Collection[str]) -> Mapping[str, Any]:
        return {name: frame.collect() for name, frame in super().frames(columns).items()}

    def result(self, released: Any, published: Sequence[ReleaseAttribute], release: FrameRelease) -> Any:
        return polars_result(released.pl(), release, lazy=True)


class FileInput(Input):
    """One file, or several by a pattern, that DuckDB reads: CSV, Parquet, JSON, ...

    `options` are the options of a CSV file.
    """

    def __init__(self, path: str, options: CsvOptions) -> None:
        is_one = os.path.isfile(path)
        if not is_one and not GLOB.search(path) and "://" not in path:
            _require_file(path)
        if is_one and is_database(path):
            table = first_table(path) or "TABLE"
            hint = f"CREATE ANONYMIZED TABLE r FROM {table} (...) on sqlanon.connect({path!r})"
            raise UserError(f"{path} is a DuckDB file with tables", hint=hint)
        kind = kind_of(path, path) if is_one else kind_by_name(path) or "csv"
        # In the name of an existing file, the characters of patterns are escaped.
        named = GLOB.sub(lambda sign: f"[{sign[0]}]", path) if is_one else path
        self._file = (
            DataFile(path, NAME, kind, (named,), option_form=_OPTION)
            .with_options(options.null, options.encoding, options.decimal)
            .in_its_encoding()
        )
        self.source = Source(query=f"FROM {self._file.reader}")

    def advice(self, stored: StoredAsText | MissingCodes) -> str:
        options = [f"null={[*map(str, stored.codes)]!r}"] * bool(stored.codes)
        if isinstance(stored, StoredAsText):
            options += ['decimal=","'] * stored.has_commas
        return f"give {', '.join(options)}" if options and self._file.kind == "csv" else super().advice(stored)

    def remarks(self, engine: Engine, columns: Collection[str]) -> list[str]:
        read = engine.columns(str(self.source.query))
        return [*self._file.remarks, *self._file.booleans(engine, [each for each in read if each[0] in columns])]

    def open(self, engine: Engine) -> None:
        query = str(self.source.query)
        require_excel(engine, self._file)
        try:
            self.names = [name for name, _ in engine.columns(query)]
            has_rows = bool(engine.rows(f"{query} LIMIT 1"))
        except EngineError as error:
            if unreadable := self._file.no_utf8():
                raise unreadable from None
            hint = "read it with the function for it, as in sqlanon.connect().read_csv(path).df()"
            raise UserError(f"{self._file.called} cannot be read: {error.message}", hint=hint) from None
        if not has_rows:
            raise UserError(f"{self._file.called} has no rows")

    def result(self, released: Any, published: Sequence[ReleaseAttribute], release: FrameRelease) -> Any:
        return pandas_result(released.df(), release)


_KINDS: Mapping[str, Callable[[Any], Input]] = {
    "pandas.DataFrame": PandasInput,
    "polars.DataFrame": PolarsInput,
    "polars.LazyFrame": LazyInput,
    "pyarrow.Table": ArrowInput,
}


def input_of(data: object, options: CsvOptions) -> Input:
    """Returns the object that reads `data`; `options` are the options of a CSV file.

    Raises UserError for data of another kind, for a path without a file, and for options if the data are not a CSV
    file.
    """
    if isinstance(data, str | PathLike):
        path = os.fsdecode(fspath(data))
        if os.path.isfile(path) and kind_by_name(path) == STATA and options == CsvOptions():
            return StataInput(path)
        return FileInput(path, options)
    if options != CsvOptions():
        raise UserError(
            f"{', '.join(CSV_OPTIONS)} are for the path of a CSV file, but the data are a {type(data).__name__}",
            hint="leave them out, or give the path in place of the data",
        )
    kind = data_frame_kind(data)
    if kind not in _KINDS:
        raise _no_data_frame(data, kind)
    return _KINDS[str(kind)](data)


def _no_data_frame(data: object, kind: str | None) -> UserError:
    hint = (
        "give a pandas or polars DataFrame, an Arrow Table or the path of a file; for a table of a database write "
        "CREATE POLICY"
    )
    if isinstance(data, Mapping | list):
        hint = "give pandas.DataFrame(data)"
    elif type(data).__name__ == "Series":
        hint = "give data.to_frame()"
    elif kind == "pyarrow.RecordBatch":
        hint = "give pyarrow.Table.from_batches([data])"
    elif kind == "pyarrow.Dataset":
        hint = "give data.to_table()"
    elif hasattr(data, "__arrow_c_stream__"):
        hint = "give pyarrow.table(data), an Arrow Table of its rows"
    return UserError(f"anonymize() takes a data frame or a path, not {type(data).__name__}", hint=hint)


def _require_file(path: str) -> None:
    """Raises UserError, with similar names in the folder, for a path without a file."""
    if os.path.isfile(path):
        return
    if os.path.isdir(path):
        raise UserError(f"{path} is a folder", hint=f"name a file, or files by a pattern: {Path(path, '*.parquet')}")
    near = file_like(Path(path))
    hint = f"did you mean {near}?" if near else f"the path is looked up from {Path.cwd()}"
    raise UserError(f"there is no file {path}", hint=hint)


def _require_arrow() -> None:
    """Raises UserError if pyarrow is missing. DuckDB needs pyarrow to read and create polars frames."""
    if find_spec("pyarrow") is None:
        raise UserError("polars frames need pyarrow, which is not installed", hint="pip install 'sqlanon[arrow]'")


def _column_names(names: list[Any], data: Any) -> list[str]:
    """Returns the names of a frame's columns. Raises UserError for a name that is not a text or occurs twice."""
    for name in names:
        if isinstance(name, tuple):
            raise UserError(
                f"the columns have {len(name)} levels of names, and a table has one",
                hint='data.columns = ["_".join(map(str, name)) for name in data.columns]',
            )
        if not isinstance(name, str):
            raise UserError(
                f"the column {name!r} has a name that is not a text",
                hint="data.columns = [str(name) for name in data.columns]",
            )
    for _, alike in groupby(sorted(names, key=fold), key=fold):
        if len(same := list(alike)) > 1:
            raise UserError(
                f"the columns {' and '.join(same)} have the same name, because upper and lower case are not "
                "distinguished",
                hint="rename one",
            )
    return names


def _require_known_dtypes(data: Any, columns: Collection[str]) -> None:
    """Raises UserError for a pandas column with a dtype for which DuckDB has no type."""
    for name in columns:
        dtype = str(data[name].dtype)
        if dtype.lower().startswith(("period", "interval", "sparse", "complex")):
            hint = f"give another column for it, such as data[{name!r}].astype(str)"
            raise UserError(f"the column {name} has the dtype {dtype}, which DuckDB does not read", hint=hint)
