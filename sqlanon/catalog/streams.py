"""Streams as rows of `anon.stream`, `stream_batch` and `stream_member`."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from sqlglot import exp

from sqlanon.catalog import _rows, migrations
from sqlanon.catalog._json import BadJson, dumps, loads, typed, write_sources
from sqlanon.domain.identifiers import nearest
from sqlanon.domain.release import SourceRead
from sqlanon.domain.series import Batch, Stream
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.errors import CatalogError, UserError
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.sql_files import sql_file

_PLAIN = (
    "stream_id",
    "policy",
    "policy_fingerprint",
    "order_column",
    "k",
    "reuse",
    "salt",
    "batch",
    "position",
    "watermark",
    "moment_over",
)
_TABLES = ("stream_member", "stream_batch", "stream")


@dataclass(frozen=True)
class _StreamRow:
    stream_id: str
    policy: str
    policy_fingerprint: str
    order_column: str
    k: int
    reuse: bool
    salt: str
    batch: int
    position: int
    watermark: str | None
    moment_over: bool
    columns: str
    published: str
    quasi_identifiers: str
    schema_name: str
    object_name: str
    delay: str


def save(engine: Engine, stream: Stream, sources: tuple[SourceRead, ...]) -> None:
    """Writes a new stream, which has not read any rows."""
    schema, name = stream.name.parts
    row: dict[str, object] = {key: getattr(stream, key) for key in _PLAIN}
    row |= {"schema_name": schema, "object_name": name, "delay": dumps(stream.delay), "sources": write_sources(sources)}
    row |= {key: dumps(list(map(list, getattr(stream, key)))) for key in ("columns", "published")}
    row["quasi_identifiers"] = dumps(list(stream.quasi_identifiers))
    _rows.insert(engine, "stream", [row])


def find(engine: Engine, name: QualifiedName) -> Stream | None:
    """Returns the stream of this schema and name, or None. Raises CatalogError for rows that contradict each other."""
    if not migrations.ready(engine):
        return None
    schema, object_name = name.parts[-2:]
    rows = _rows.read(engine, "stream", _StreamRow, {"schema_name": schema, "object_name": object_name})
    if len(rows) > 1:
        raise CatalogError(
            f"stream {name} has {len(rows)} rows in anon.stream", hint="delete all of these rows but one"
        )
    return _stream(rows[0]) if rows else None


def load(engine: Engine, name: QualifiedName) -> Stream:
    """Returns the stream of this schema and name. Raises UserError, with similar names, if there is none."""
    stream = find(engine, name)
    if stream is not None:
        return stream
    near = nearest(name.name, [stream.name.name for stream in listing(engine)])
    raise UserError(
        f"there is no stream {name}",
        hint=near or "make one with CREATE ANONYMIZED STREAM name AS POLICY policy ORDER BY column METHOD stream(...)",
    )


def listing(engine: Engine) -> list[Stream]:
    """Returns all streams, the oldest first."""
    if not migrations.ready(engine):
        return []
    return [_stream(row) for row in _rows.read(engine, "stream", _StreamRow, order=("created_at",))]


def _stream(row: _StreamRow) -> Stream:
    name = QualifiedName((row.schema_name, row.object_name))
    try:
        columns, published = (
            typed(loads(text), tuple[tuple[str, str], ...], "the columns") for text in (row.columns, row.published)
        )
        quasi_identifiers = typed(loads(row.quasi_identifiers), tuple[str, ...], "the quasi-identifiers")
        (delay,) = typed([loads(row.delay)], tuple[int | str], "the delay")
        if not columns:
            raise BadJson("there are no columns")
    except BadJson:
        raise CatalogError(f"stream {name}: its columns and its delay in anon.stream cannot be read") from None
    return Stream(
        name=name,
        columns=columns,
        published=published,
        quasi_identifiers=quasi_identifiers,
        delay=delay,
        **{key: getattr(row, key) for key in _PLAIN},
    )


def append(engine: Engine, stream: Stream, batch: Batch, position: int) -> None:
    """Records an ADVANCE: its batch, the position of the last row that was read, and the watermark."""
    _rows.insert(engine, "stream_batch", [{"stream_id": stream.stream_id, **asdict(batch)}])
    state: dict[str, object] = {key: exp.Placeholder() for key in ("batch", "position", "watermark", "moment_over")}
    query = exp.update(relation(("anon", "stream")), state, where=column("stream_id").eq(exp.Placeholder()))
    engine.run(query, [batch.batch, position, stream.watermark, stream.moment_over, stream.stream_id])


def figures(engine: Engine, stream: Stream) -> tuple[int, ...]:
    """Returns the numbers of a stream's batches and of its rows: read, released, reused, withheld and waiting."""
    [row] = engine.rows(sql_file("streams", "figures"), [stream.stream_id])
    return tuple(map(int, row))


def delete(engine: Engine, stream: Stream) -> None:
    """Deletes a stream from the catalog; the caller drops its tables."""
    for table in _TABLES:
        _rows.delete(engine, table, {"stream_id": stream.stream_id})


def rename_policy(engine: Engine, name: str, new_name: str) -> None:
    """Replaces the name of a policy that was renamed."""
    query = exp.update(
        relation(("anon", "stream")), {"policy": exp.Placeholder()}, where=column("policy").eq(exp.Placeholder())
    )
    engine.run(query, [new_name, name])
