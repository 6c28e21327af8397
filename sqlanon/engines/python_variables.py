"""Controls what DuckDB may read of a Python program by its name: the variables of its callers, and data frames."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from inspect import CO_OPTIMIZED
from types import FrameType, FunctionType
from typing import Any, TypeVar

import duckdb

from sqlanon.engines.translated import translated

_PACKAGE = __name__.partition(".")[0]
# Data frames that can be read any number of times, which a reader of Arrow batches cannot.
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


def caller_frames() -> list[FrameType]:
    """Returns the frames of the functions that are currently running, from the caller of sqlanon outwards."""
    frame: FrameType | None = sys._getframe(1)
    while frame and frame.f_back and _package(frame) == _PACKAGE:
        frame = frame.f_back
    frames = []
    while frame:
        frames.append(frame)
        frame = frame.f_back
    return frames


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__")).partition(".")[0]


def data_frame_named(name: str, frames: Sequence[FrameType]) -> Any:
    """Returns the data frame in a variable of the first of these frames that has it; None for any other value.

    A function's local variables come before the variables of its module.
    """
    for frame in frames:
        variables = frame.f_locals if _has_local(frame, name) else frame.f_globals
        if name in variables:
            return variables[name] if data_frame_kind(variables[name]) else None
    return None


def _has_local(frame: FrameType, name: str) -> bool:
    """Whether a function has a local variable of this name.

    Its code is read, because reading `f_locals` would keep the variables' values until the function ends.
    """
    code = frame.f_code
    if code.co_flags & CO_OPTIMIZED:
        return name in (*code.co_varnames, *code.co_cellvars, *code.co_freevars)
    return name in frame.f_locals


def data_frame_kind(value: object) -> str | None:
    """Returns the library and the class of a data frame, such as `pandas.DataFrame`; None for any other value."""
    classes = (f"{base.__module__.partition('.')[0]}.{base.__name__}" for base in type(value).__mro__)
    return next((name for name in classes if name in _DATA_FRAMES), None)


def called_beside_caller(function: Callable[[], Result]) -> Result:
    """Calls the function where DuckDB sees the variables of sqlanon's caller, and returns its result.

    DuckDB looks for a table that the database lacks among the variables of the Python function that calls DuckDB, so
    the call comes from a function whose module has exactly the caller's variables.
    """
    caller = caller_frames()[0]
    result: Result = FunctionType(_call.__code__, {**caller.f_globals, **caller.f_locals})(function)
    return result


def _call(function_of_sqlanon: Callable[[], Any]) -> Any:
    return function_of_sqlanon()


@contextmanager
def registered_frames(connection: Any, frames: Mapping[str, Any]) -> Iterator[None]:
    """Makes each data frame a temporary view of its name until the block ends.

    Raises EngineError for a data frame that DuckDB cannot read.
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
