"""Whether a release may be made in a series, before anything is read."""

from __future__ import annotations

from sqlanon.again.series.keys import key_check, key_of
from sqlanon.catalog import series as catalog
from sqlanon.catalog.ledger import unchanged
from sqlanon.domain.identifiers import same_name
from sqlanon.domain.policy import Policy
from sqlanon.domain.series import Series
from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError, about


def admitted(engine: Engine, name: str, policy: Policy, kind: str) -> Series:
    """The series that a release by this policy is to be made in, `kind` being table or view.

    Raises UserError if there is no such series, and for a missing key; PolicyError for a live view, and for a policy or
    a key that is not the series' own; CatalogError where its ledger has other rows than were written.
    """
    with about("series"):
        series = catalog.load(engine, name)
        if kind == "view":
            raise PolicyError(
                f"a live view cannot be in {series}, which remembers who was in which class: a view changes",
                hint="make a snapshot, CREATE ANONYMIZED TABLE",
            )
        if not same_name(policy.name, series.policy):
            raise PolicyError(
                f"{series} is of releases by the policy {series.policy}, not by {policy.name}",
                hint="ALTER POLICY changes a policy from one release to the next; another policy needs another series",
            )
        if policy.entity is None or not same_name(policy.entity.name, series.entity):
            now = "has none any more" if policy.entity is None else f"is {policy.entity.name} now"
            raise PolicyError(
                f"{series} knows respondents by {series.entity}, and the ENTITY of {policy} {now}",
                hint="make it the ENTITY again, or begin another series",
            )
        if key_check(key_of(series.name, series.key_variable)) != series.key_check:
            raise PolicyError(
                f"the key in {series.key_variable} is another than when {series} was begun: nobody would be known",
                hint="set the variable to the former key",
            )
    return unchanged(engine, series)
