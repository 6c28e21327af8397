"""Tokens in place of identifiers: computed once over the distinct values, by a function with a key."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from sqlanon.domain.bound import BoundPolicy
from sqlanon.engines.base import Engine
from sqlanon.engines.udfs import release_key, tokens
from sqlanon.sql.build.names import alias, relation
from sqlanon.sql.cells.labels import text_of_token


def publish_tokens(engine: Engine, policy: BoundPolicy, tables: Mapping[str, str]) -> None:
    """Makes a temporary table of value and token for each column that is published as a pseudonym.

    Columns without a key of the user's share a key that is drawn for this release,
    so that the same identifier in two of them has the same token.
    """
    drawn = release_key()
    for bound in policy.published:
        if bound.attribute.pseudonym:
            variable = bound.attribute.pseudonym.key_variable
            text = text_of_token(bound)
            values = exp.select(alias(text, "value")).from_(relation(policy.relation))
            tokens(engine, values, tables[bound.column], release_key(variable) if variable else drawn)
