"""Data frames of a Python program that a statement names as if they were tables.

A table or view of the database comes first, in any schema. A policy is stored with a name that no other frame ever has,
such as `people@5f0c9a1b2c3d`, so that a release reads the data frame on which the policy was created, or none.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from numbers import Integral, Real
from types import FrameType
from typing import Any, Protocol, Self, TypeVar
from weakref import ref

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from sqlanon.domain.identifiers import fold
from sqlanon.domain.values import FRAME_NAME, QualifiedName, Source, plain_number, variable_of
from sqlanon.engines.base import Engine
from sqlanon.engines.python_variables import data_frame_named, registered_frames
from sqlanon.errors import PolicyError, UserError
from sqlanon.sql.build.names import identifier
from sqlanon.sql.build.render import to_sql
from sqlanon.sql.build.sql_files import sql_file

_SETTINGS = (
    "SELECT system.main.current_setting('python_enable_replacements'), "
    "system.main.current_setting('python_scan_all_frames')"
)

Frames = dict[str, Any]


class ReadsSources(Protocol):
    """A statement that names tables, some of which may be data frames.

    The sources of a statement that `KEEPS_SOURCES` are stored with it, so that it is run with their stored names.
    """

    @property
    def KEEPS_SOURCES(self) -> bool: ...

    def sources(self) -> Sequence[Source]: ...

    def with_sources(self, renamed: Callable[[Source], Source]) -> Self: ...


_Reads = TypeVar("_Reads", bound=ReadsSources)


class DataFrames:
    """The data frames on which policies were created, through a connection or its cursors."""

    def __init__(self) -> None:
        self._frames: dict[str, ref[Any]] = {}

    @contextmanager
    def visible(self, engine: Engine, statement: _Reads, callers: Sequence[FrameType]) -> Iterator[_Reads]:
        """Yields the statement to run; until the block ends, the data frames that it needs are views.

        These are the data frames that the statement names, which are variables of the first of `callers`, and the data
        frames of policies, unless a policy's variable has another data frame by now. DuckDB's settings for such
        variables apply. If rows are on another engine, no data frame is visible.
        """
        if not engine.shares_names:
            yield statement
            return
        frames = self._of_policies(callers)
        named = _frames_of(engine, statement.sources(), callers)
        if named and statement.KEEPS_SOURCES:
            stored = {variable: self._stored_name(variable, frame) for variable, frame in named.items()}
            statement = statement.with_sources(lambda source: _renamed(source, stored))
            named = {stored[variable]: frame for variable, frame in named.items()}
        frames |= named
        with registered_frames(engine.connection, frames):
            yield statement

    def _of_policies(self, callers: Sequence[FrameType]) -> Frames:
        """Returns the data frames of policies that still exist, by their stored names."""
        frames: Frames = {}
        for name, reference in list(self._frames.items()):
            meant = data_frame_named(str(variable_of(name)), callers)
            frame = reference()
            if frame is None:
                del self._frames[name]
            elif meant is None or meant is frame:
                frames[name] = frame
        return frames

    def _stored_name(self, variable: str, frame: object) -> str:
        for name, reference in self._frames.items():
            if reference() is frame and variable_of(name) == variable:
                return name
        name = f"{variable}@{secrets.token_hex(6)}"
        self._frames[name] = ref(frame)
        return name


def stored_frames(source: Source) -> list[QualifiedName]:
    """Returns the stored names of the data frames that a policy's source reads; in a query, they are in quotes."""
    if source.name:
        return [source.name] if variable_of(source.name.name) else []
    return [QualifiedName((name,)) for name in re.findall(rf'"({FRAME_NAME.pattern})"', str(source.query))]


def frame_gone(name: QualifiedName) -> PolicyError:
    """Returns the error for a policy whose data frame no longer exists; `name` is the frame's stored name."""
    variable = variable_of(name.name)
    return PolicyError(
        f"the policy is on the data frame {variable} that it was created with, which is gone or is another one now",
        hint=f"create the policy again where {variable} is the data frame meant, "
        f"or make it a table first: CREATE TABLE {variable}_table AS FROM {variable}",
    )


def _frames_of(engine: Engine, sources: Sequence[Source], callers: Sequence[FrameType]) -> Frames:
    """Returns the data frames that sources name: variables with names that do not belong to an object of the
    database.
    """
    names = dict.fromkeys(name for source in sources for name in _possible_names(source))
    if all(data_frame_named(name, callers) is None for name in names):
        return {}
    frames = _visible(engine, list(names), callers)
    if not frames:
        return {}
    # In no schema at all, because a temporary view would also hide the relation that a view in another schema reads.
    present = {fold(str(name)) for _, _, _, name, _ in engine.rows(sql_file("statements", "relations"))}
    read = {name for source in sources for name in _read(engine, source)}
    return {name: frame for name, frame in frames.items() if name in read and fold(name) not in present}


def _visible(engine: Engine, names: Sequence[str], callers: Sequence[FrameType]) -> Frames:
    """Returns the data frames with these names that the database's settings allow queries to read."""
    enabled, everywhere = engine.rows(_SETTINGS)[0]
    if not enabled:
        return {}
    visible = {name: data_frame_named(name, callers if everywhere else callers[:1]) for name in names}
    return {name: frame for name, frame in visible.items() if frame is not None}


def _possible_names(source: Source) -> list[str]:
    if source.name:
        return [source.name.name] if len(source.name.parts) == 1 else []
    return re.findall(r"[^\W\d]\w*", str(source.query))


def _read(engine: Engine, source: Source) -> list[str]:
    """Returns the names of the relations that a source reads, without the names of its WITH queries."""
    if source.name:
        return _possible_names(source)
    try:
        readings = engine.reads(str(source.query))
    except UserError:
        return []
    return [reading.name.name for reading in readings if reading.kind == "other" and len(reading.name.parts) == 1]


def _renamed(source: Source, stored: Mapping[str, str]) -> Source:
    """Returns the source with the stored names of its data frames; the rest of a query stays word for word."""
    if source.name:
        return Source(name=QualifiedName((stored.get(source.name.name, source.name.name),)))
    text = str(source.query)
    try:
        tree = parse_one(text, dialect="duckdb")
    except SqlglotError:
        return source
    if any(with_query.alias in stored for with_query in tree.find_all(exp.CTE)):
        return source
    tables = [table for table in tree.find_all(exp.Table) if table.name in stored and not table.db]
    # From the last to the first, so that the positions of the others stay valid.
    for table in sorted(tables, key=lambda table: -int(table.this.meta["start"])):
        start, end = table.this.meta["start"], table.this.meta["end"] + 1
        name = to_sql(identifier(stored[table.name]))
        # The query may qualify columns with the variable's name, as in people.age.
        text = text[:start] + (name if table.alias else f"{name} AS {text[start:end]}") + text[end:]
    return Source(query=text)


# Python values as values of statements.


def plain_scalar(value: object) -> bool | int | Decimal | str | None:
    """Converts a Python number, text or bool to a statement's value; None for any other object.

    A float becomes the number that it prints, or an int if it is whole.
    """
    if isinstance(value, Real) and not isinstance(value, Integral):
        value = Decimal(repr(float(value)))
    if isinstance(value, Decimal) and value.is_finite():
        return plain_number(value)
    if isinstance(value, bool | str):
        return value
    # NumPy's integers are not instances of int.
    return int(value) if isinstance(value, Integral) else None
