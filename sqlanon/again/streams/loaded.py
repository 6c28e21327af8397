"""A stream that a statement names, as the catalog has it."""

from __future__ import annotations

from sqlanon.catalog import migrations, streams
from sqlanon.domain.stream import Stream
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.sources.source import qualified


def find_stream(engine: Engine, name: QualifiedName) -> Stream | None:
    """The stream of this name; None if there is none, or no catalog."""
    return streams.find(engine, qualified(engine, name)) if migrations.ready(engine) else None
