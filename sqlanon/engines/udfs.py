"""Registers Python functions for SQL while a release is made or measured; no stored object uses them.

Each file under `udfs/` holds one pure, vectorized (Arrow) function that is named like the file, with `PARAMETERS` and
`RETURNS`, its SQL types. A function exists on the connection for only one query, under a random name, so that stored
objects cannot depend on it, and no existing object can take its place.

A file may also define `of_value`, the same function for a single value. If pyarrow is not installed, DuckDB calls it
row by row, which takes longer.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from importlib.resources import as_file
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType
from typing import Any

from sqlglot import exp

from sqlanon.assets import folder, listing
from sqlanon.engines.adbc import installed_pyarrow
from sqlanon.engines.base import Engine
from sqlanon.errors import InternalError, UserError
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.names import relation
from sqlanon.sql.build.render import create_temporary, drop
from sqlanon.sql.build.sql_files import filled_query

MINIMUM_KEY_BYTES = 16
_DRAWN_KEY_BYTES = 32


def names() -> tuple[str, ...]:
    """Returns the names of all functions, sorted."""
    return tuple(name.removesuffix(".py") for name in listing("udfs") if name.endswith(".py"))


@cache
def load(name: str) -> ModuleType:
    """Returns the module `udfs/<name>.py`, loaded from the wheel or the checkout once per process.

    Raises InternalError if there is no such module, or if it does not declare a function of its own name, `PARAMETERS`
    and `RETURNS`, and UserError if it needs pyarrow and pyarrow is not installed.
    """
    if name not in names():
        raise InternalError(f"the file udfs/{name}.py is missing from this installation")
    with as_file(folder("udfs") / f"{name}.py") as path:
        spec = spec_from_file_location(f"sqlanon_udf_{name}", path)
        if spec is None or spec.loader is None:
            raise InternalError(f"the file udfs/{name}.py is not a Python module")
        module = module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except ModuleNotFoundError as error:
            if error.name != "pyarrow":
                raise
            raise _no_arrow() from None
    if missing := [part for part in (name, "PARAMETERS", "RETURNS") if not hasattr(module, part)]:
        raise InternalError(f"udfs/{name}.py does not define {', '.join(missing)}")
    return module


@contextmanager
def registered(engine: Engine, name: str, **bound: object) -> Iterator[str]:
    """Makes the function available under a random name, which it yields, until the block ends.

    `bound` are the function's further arguments. They stay in Python, because no SQL text contains them, and are
    forgotten after the block. If the function fails, its results are NULL, and the block ends in an InternalError that
    does not name the value.
    """
    if native := engine.native_function(name):
        yield native
        return
    with _registered(engine, name, bound) as sql_name:
        yield sql_name


@contextmanager
def registered_for_summaries(engine: Engine, name: str) -> Iterator[str]:
    """Registers a function like `registered`, for queries on summaries only, even if the rows' engine has its own."""
    with _registered(engine, name, {}) as sql_name:
        yield sql_name


@contextmanager
def _registered(engine: Engine, name: str, bound: dict[str, object]) -> Iterator[str]:
    module = load(name)
    failures: list[str] = []
    sql_name = f"udf_{secrets.token_hex(16)}"
    vectorized = installed_pyarrow() is not None
    if not vectorized and not hasattr(module, "of_value"):
        raise _no_arrow()
    function = getattr(module, name if vectorized else "of_value")
    engine.connection.create_function(
        sql_name,
        _silent(function, bound, failures, _nulls if vectorized else None),
        list(module.PARAMETERS),
        module.RETURNS,
        type="arrow" if vectorized else "native",
        null_handling="special",
        # DuckDB may call a function without side effects once for a constant.
        side_effects=getattr(module, "VOLATILE", False),
    )
    try:
        yield sql_name
    finally:
        bound.clear()
        _remove(engine, sql_name)
    if failures:
        raise InternalError(f"the function {name} failed with {failures[0]}")


def _no_arrow() -> UserError:
    return UserError("this computation needs pyarrow, which is not installed", hint="pip install 'sqlanon[arrow]'")


def _silent(
    function: Callable[..., Any],
    bound: dict[str, object],
    failures: list[str],
    nulls: Callable[[Any], Any] | None,
) -> Callable[[Any], Any]:
    """Wraps the function so that an error is recorded by its class only, because DuckDB would print its message and the
    values.

    After an error the results of the call are NULL: a list by `nulls`, or a single NULL.
    """

    def call(values: Any) -> Any:
        try:
            return function(values, **bound)
        except Exception as error:
            failures.append(type(error).__name__)
            return nulls(values) if nulls else None

    return call


def _nulls(values: Any) -> Any:
    import pyarrow

    return pyarrow.nulls(len(values), pyarrow.string())


def _remove(engine: Engine, sql_name: str) -> None:
    try:
        engine.connection.remove_function(sql_name)
    except Exception:
        # An aborted transaction refuses this, and its rollback removes the function. The bound arguments are forgotten
        # already, and the error that aborted the transaction must not be hidden by this one.
        return


def tokens(engine: Engine, values: exp.Query, target: str, key: bytes) -> None:
    """Creates the temporary table `target` (value, token) of pseudonyms under a key, like `masks`."""
    masks(engine, values, target, "pseudonym", key=key)


def masks(engine: Engine, values: exp.Query, target: str, name: str, **bound: object) -> None:
    """Creates the temporary table `target` (value, token) with a row for each distinct value, including NULL.

    `values` has one text column named "value". The function `name` computes the tokens with the arguments `bound`.
    Because the table reveals the person behind each token, the caller drops it as soon as the tokens are joined.

    Raises InternalError if a token could not be computed; the table is then dropped.
    """
    created = False
    try:
        with registered(engine, name, **bound) as function:
            engine.run(_create_tokens(values, target, function))
            created = True
    except InternalError:
        if created:
            engine.run(drop("TABLE", relation(("temp", "main", target))))
        raise


def _create_tokens(values: exp.Query, target: str, function: str) -> exp.Create:
    text = "SELECT value, token(value) AS token FROM (SELECT DISTINCT value FROM source_value) AS distinct_value"
    calls = {"token": partial(f.call, function)}
    return create_temporary("TABLE", target, filled_query(text, tables={"source_value": values}, calls=calls))


def release_key(variable: str | None = None, of: str = "the pseudonyms") -> bytes:
    """Returns a random key, or the bytes of an environment variable. `of` names the key's purpose in errors.

    A random key is not stored, so that nobody can link the tokens of two releases.

    Raises UserError if the variable is not set or has fewer than `MINIMUM_KEY_BYTES` bytes.
    """
    if variable is None:
        return secrets.token_bytes(_DRAWN_KEY_BYTES)
    text = os.environ.get(variable)
    if text is None:
        raise _no_key(variable, of, "is not set")
    key = os.fsencode(text)
    if len(key) < MINIMUM_KEY_BYTES:
        raise _no_key(variable, of, f"is shorter than {MINIMUM_KEY_BYTES} bytes")
    return key


def _no_key(variable: str, of: str, problem: str) -> UserError:
    return UserError(
        f"the environment variable {variable}, which should hold the key of {of}, {problem}",
        hint=f"generate a key once and keep it secret, such as: export {variable}=$(openssl rand -hex 32)",
    )
