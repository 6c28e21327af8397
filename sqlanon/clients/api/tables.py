"""Objects for the tables of a policy besides its source: related tables, and a joined release."""

from __future__ import annotations

from collections.abc import Iterable

from sqlanon.clients.api.arguments import Defined, Name, SourceName, column_names, one_name, qualified_name, source_of
from sqlanon.clients.api.columns import (
    Identifiers,
    Insensitive,
    QuasiIdentifiers,
    Sensitive,
    attributes,
    joined_call,
    related_call,
)
from sqlanon.domain import policy as domain
from sqlanon.errors import UserError


class RelatedTable(Defined[domain.RelatedTable]):
    """A related table of a policy, as after WITH TABLE: each row is about one respondent of the source.

    `key` is the column with the values of the policy's `entity`. The columns have roles, like the columns of the
    source. Give a `name` for a query; a table has its own name.

    Raises UserError, which names the argument, for a value that is not a table or a column.

    >>> RelatedTable("checkups", key="person", sensitive=["diagnosis"])
    RelatedTable('checkups', key='person', sensitive=['diagnosis'])
    """

    def __init__(
        self,
        source: SourceName,
        *,
        key: str,
        name: str | None = None,
        identifiers: Identifiers = (),
        quasi_identifiers: QuasiIdentifiers = (),
        sensitive: Sensitive = (),
        insensitive: Insensitive = (),
        order: Iterable[str] | None = None,
    ) -> None:
        table = source_of("RelatedTable: source", source)
        if name is None and table.name is None:
            raise UserError("RelatedTable: a query has no name", hint='give it one: name="checkups"')
        called = table.name.name if name is None and table.name else one_name("RelatedTable: name", name)
        columns = attributes(
            identifiers=identifiers,
            quasi_identifiers=quasi_identifiers,
            sensitive=sensitive,
            insensitive=insensitive,
            order=order,
        )
        self._definition = domain.RelatedTable(called, table, one_name("RelatedTable: key", key), columns)

    def __repr__(self) -> str:
        """Returns a Python call that makes an equal object."""
        return related_call(self._definition)


class JoinedRelease(Defined[domain.JoinedRelease]):
    """A release that readers may have already, and the quasi-identifiers that it shares, as after JOINED WITH RELEASE.

    Raises UserError, which names the argument, for a value that is not a name.

    >>> JoinedRelease("of_jobs", on=["job"])
    JoinedRelease('of_jobs', on=['job'])
    """

    def __init__(self, release: Name, *, on: Iterable[str]) -> None:
        name = qualified_name("JoinedRelease: release", release)
        self._definition = domain.JoinedRelease(name, column_names("JoinedRelease: on", on))

    def __repr__(self) -> str:
        """Returns a Python call that makes an equal object."""
        return joined_call(self._definition)
