"""What of a Python program DuckDB may read by its name: the variables of whoever calls sqlanon, and data frames."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from types import FunctionType
from typing import Any, TypeVar

import duckdb

from sqlanon.engines._translated import translated

__all__ = ["called_among", "caller_variables", "data_frame_kind", "is_data_frame", "registered_frames"]

_PACKAGE = __name__.partition(".")[0]
# They can be read any number of times, which a reader of Arrow batches cannot.
_DATA_FRAMES = frozenset(
    (
        "pandas.DataFrame",
        "polars.DataFrame",
        "polars.LazyFrame",
        "pyarrow.Table",
        "pyarrow.RecordBatch",
        "pyarrow.Dataset",
    )
)

Result = TypeVar("Result")


def caller_variables() -> dict[str, Any]:
    """The variables that the caller of sqlanon sees: the local ones of its function before those of its module."""
    frame = sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == _PACKAGE:
        frame = frame.f_back
    return {**frame.f_globals, **frame.f_locals}


def data_frame_kind(value: object) -> str | None:
    """The library and the class of a data frame, such as `pandas.DataFrame`; None for any other value."""
    classes = (f"{base.__module__.partition('.')[0]}.{base.__name__}" for base in type(value).__mro__)
    return next((name for name in classes if name in _DATA_FRAMES), None)


def is_data_frame(value: object) -> bool:
    """Whether it is a data frame of pandas or polars, or a table of Arrow's."""
    return data_frame_kind(value) is not None


def called_among(variables: dict[str, Any], function: Callable[[], Result]) -> Result:
    """What the function returns, called where DuckDB sees these variables.

    DuckDB looks for a table that the database does not have among the variables of the function that
    calls it, so the call comes from one whose module has just these.
    """
    result: Result = FunctionType(_call.__code__, variables)(function)
    return result


def _call(function_of_sqlanon: Callable[[], Any]) -> Any:
    return function_of_sqlanon()


@contextmanager
def registered_frames(connection: Any, frames: Mapping[str, Any]) -> Iterator[None]:
    """Makes each data frame a temporary view of that name until the block ends.

    Raises EngineError where DuckDB cannot read one.
    """
    names: list[str] = []
    try:
        for name, frame in frames.items():
            try:
                connection.register(name, frame)
            except duckdb.Error as error:
                raise translated(error) from None
            names.append(name)
        yield
    finally:
        for name in names:
            # An aborted transaction takes the view along when it is rolled back.
            with suppress(duckdb.Error):
                connection.unregister(name)
