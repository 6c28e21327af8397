"""Begins, advances, checks and drops streams."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlanon.catalog import migrations, policies, releases
from sqlanon.catalog import streams as catalog
from sqlanon.catalog.hierarchies import StoredHierarchy
from sqlanon.catalog.snapshot import fingerprint
from sqlanon.domain.numbers import counted
from sqlanon.domain.policy import Policy
from sqlanon.domain.release import Measurement
from sqlanon.domain.series import Batch, Stream
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import PolicyError, UserError, about
from sqlanon.release.existing.composition import others_than, sources_of, warning
from sqlanon.republication.streams.advance import advanced
from sqlanon.republication.streams.arrivals import require_interval
from sqlanon.republication.streams.axes import axes_of
from sqlanon.republication.streams.columns import Columns, bound_columns, find_stream, options_of, require_admitted
from sqlanon.republication.streams.publishing import (
    STATE,
    create_tables,
    has_own_rows,
    is_whole,
    measured,
    published_columns,
    require_whole,
)
from sqlanon.sources.bind_policy import hierarchies_of
from sqlanon.sources.catalog_entries import find_relation
from sqlanon.sources.related_tables import require_one_table
from sqlanon.sources.source import own_object, qualified
from sqlanon.sql.build.render import drop_object
from sqlanon.statements.streams.advance import Advance
from sqlanon.statements.streams.create_stream import CreateStream
from sqlanon.statements.streams.drop_stream import DropStream


def create_stream(engine: Engine, statement: CreateStream) -> tuple[Stream | None, str | None]:
    """Begins a stream, which publishes nothing yet; returns the stream (None if IF NOT EXISTS found one), and a warning
    or None.

    Raises PolicyError for a policy and arguments that a stream cannot satisfy, and UserError for a name that exists
    already.
    """
    options = options_of(statement.method.name, statement.method.arguments)
    with engine.transaction(), TempTables(engine) as temp:
        migrations.install(engine)
        name = qualified(engine, statement.name)
        if catalog.find(engine, name) is not None:
            if statement.if_not_exists:
                return None, None
            raise UserError(
                f"the stream {name} exists already",
                hint=f"write IF NOT EXISTS, or DROP ANONYMIZED STREAM {name} first, which also drops its table",
                part=("stream",),
            )
        if taken := find_relation(engine, own_object(engine, name)):
            raise UserError(
                f"there is a {taken[0]} {name} already", hint="choose another name for the stream", part=("stream",)
            )
        require_interval(engine, options.delay)
        with about("policy"):
            policy = policies.load(engine, statement.policy)
            require_one_table(policy, "a stream", "each of its rows leaves when it is due")
        hierarchies = hierarchies_of(engine, policy)
        require_admitted(policy, options)
        columns = bound_columns(engine, policy, hierarchies, statement.order_column, options.delay, temp, copy=False)
        stream = Stream(
            stream_id=secrets.token_hex(16),
            name=name,
            policy=policy.name,
            policy_fingerprint=_fingerprint(policy, hierarchies),
            order_column=columns.order_column,
            columns=columns.named,
            published=published_columns(columns),
            quasi_identifiers=tuple(b.column for b in columns.policy.quasi_identifiers),
            k=options.k,
            delay=options.delay,
            reuse=options.reuse,
            salt=secrets.token_hex(32),
        )
        read = sources_of(engine, policy)
        warned = warning(others_than(engine, name, read))
        create_tables(engine, stream, columns, axes_of(columns), temp)
        catalog.save(engine, stream, read)
    return stream, warned


@dataclass(frozen=True)
class Advanced:
    """The result of an ADVANCE: the stream, the published batch, and the respondents of the smallest published class.

    `fewest` is the number of these respondents; None if no class was published.
    """

    stream: Stream
    batch: Batch
    fewest: int | None

    @property
    def remarks(self) -> tuple[str, ...]:
        """The remarks on late rows and on other withheld rows."""
        remarks: list[str] = []
        if self.batch.late_rows:
            remarks.append(
                f"withheld for coming before what had been read: {counted(self.batch.late_rows, 'row')}; "
                f"{self.stream.order_column} has to grow"
            )
        if unpublished := self.batch.withheld_rows - self.batch.late_rows:
            remarks.append(
                f"withheld: {counted(unpublished, 'row')}, for which no class of {self.stream.k} respondents was there "
                "in time, or without a respondent, or with a value that a hierarchy lacks"
            )
        return tuple(remarks)


def advance_stream(engine: Engine, statement: Advance) -> Advanced:
    """Publishes the rows of a stream that are due, in one transaction.

    Raises PolicyError if the policy or its source has changed since the stream was begun, and UserError for a missing
    stream or a missing or changed table.
    """
    with engine.transaction(), TempTables(engine) as temp:
        with about("stream"):
            name = qualified(engine, statement.name)
            if catalog.find(engine, name) is None and releases.find(engine, name) is not None:
                raise UserError(
                    f"{name} is a release, not a stream",
                    hint=f"REFRESH ANONYMIZED TABLE {name} makes a snapshot again; a live view follows its source",
                )
            stream = catalog.load(engine, name)
        columns = _columns(engine, stream, temp)
        _require_own_rows(engine, stream)
        batch, fewest = advanced(engine, stream, columns, temp, to_end=statement.to_end, until=statement.until)
    return Advanced(stream, batch, fewest)


def _columns(engine: Engine, stream: Stream, temp: TempTables) -> Columns:
    """Returns the columns that a stream reads. Raises PolicyError if the columns or the stream's policy have changed
    since the stream was begun.
    """
    with about("stream"):
        policy = policies.load(engine, stream.policy)
        hierarchies = hierarchies_of(engine, policy)
        if _fingerprint(policy, hierarchies) != stream.policy_fingerprint:
            raise PolicyError(
                f"{policy} or a hierarchy of it has changed after the {stream} was begun; nothing was done",
                hint="undo the change, or begin another stream: the waiting rows of this stream are not published",
            )
        columns = bound_columns(engine, policy, hierarchies, stream.order_column, stream.delay, temp)
        if columns.named != stream.columns:
            raise PolicyError(
                f"the source {policy.source.called} has other columns or types than when the {stream} was begun; "
                "nothing was done",
                hint=f"it read {', '.join(f'{name} {kind}' for name, kind in stream.columns)}",
            )
    return columns


def _fingerprint(policy: Policy, hierarchies: Mapping[str, StoredHierarchy]) -> str:
    """Returns the fingerprint of a policy without its name."""
    return fingerprint(replace(policy, name=""), list(hierarchies.values()))


def _require_own_rows(engine: Engine, stream: Stream) -> None:
    require_whole(engine, stream)
    if not has_own_rows(engine, stream):
        raise UserError(
            f"{stream.name} does not have the rows that were published; nothing was done",
            hint="undo the change, or restore the rows from a backup",
            part=("stream",),
        )


def check_stream(engine: Engine, stream: Stream) -> list[Measurement]:
    """Measures the smallest number of respondents who share a label in the published rows.

    Raises PrivacyViolation if the table does not have the rows that were published.
    """
    with engine.transaction():
        require_whole(engine, stream)
        return [measured(engine, stream)]


def drop_stream(engine: Engine, statement: DropStream) -> bool:
    """Drops a stream with its published and its waiting rows; returns False if IF EXISTS found none.

    Another table that has taken the stream's name since then stays. Raises UserError for a missing stream without IF
    EXISTS.
    """
    with engine.transaction():
        stream = find_stream(engine, statement.name)
        if stream is None:
            if statement.if_exists:
                return False
            with about("stream"):
                stream = catalog.load(engine, qualified(engine, statement.name))
        if is_whole(engine, stream):
            engine.run(drop_object("table", own_object(engine, stream.name)))
        for purpose in STATE:
            if find_relation(engine, own_object(engine, stream.table(purpose))):
                engine.run(drop_object("table", own_object(engine, stream.table(purpose))))
        catalog.delete(engine, stream)
    return True
