"""ESTIMATE from an export: the answer of a query on the source, by the files alone."""

from __future__ import annotations

from sqlanon.assess.estimate import Answered, estimate, require_parsed, source_names
from sqlanon.engines.base import Engine
from sqlanon.engines.postgres_url import is_database_url
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import UserError
from sqlanon.estimates.labels.marginal_tables import Marginals
from sqlanon.estimates.query.parse import parsed
from sqlanon.export.opening import received


def estimate_export(engine: Engine, path: str, text: str, marginals: Marginals = ()) -> Answered:
    """Estimates a query from an exported release: the path is that of its data file or of its certificate in JSON.

    `marginals` are tables of this database of how frequent the values of generalized columns are.

    Raises UserError where they cannot be read, PrivacyViolation where a file is not the one that was certified,
    PolicyError for whatever of the query they cannot answer.
    """
    if is_database_url(path):
        raise UserError(
            "an estimate reads the files of an export, and this is a database",
            hint="ask for an export as parquet or csv, or query the tables themselves",
        )
    query = parsed(text)
    require_parsed(engine, text)
    export = received(engine, path, "an estimate")
    release = export.model(source_names(export.recorded.policy))
    if export.needs_reader and (marginals or query.lookups):
        raise UserError(
            f"{path} is read on a connection of its own, which has no tables of this database to join or to weigh by",
            hint="ask for an export as parquet or csv",
        )
    with export.opened(engine) as reader, reader.transaction(), Scratch(reader) as scratch:
        return estimate(reader, query, release, scratch, export.recorded.policy, marginals)
