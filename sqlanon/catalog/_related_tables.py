"""What the tables that belong to the source of a policy must be."""

from __future__ import annotations

from sqlanon.domain.identifiers import fold, same_name
from sqlanon.domain.policy import Policy, RelatedTable, Role
from sqlanon.errors import PolicyError
from sqlanon.syntax.texts import name_text


def validate_related(policy: Policy) -> None:
    """Raises PolicyError for a policy with related tables that cannot have them, and for tables that cannot be related.

    No two attributes of a policy have one name, nor two tables: releases and requirements tell them apart by it.
    """
    _require_alone(policy)
    _require_entity(policy)
    tables = {fold(policy.table_names[0]): "the source"}
    columns = {fold(attribute.name) for attribute in policy.attributes}
    for table in policy.related:
        _validate_table(policy, table)
        if fold(table.name) in tables:
            raise _wrong(
                policy,
                f"{tables[fold(table.name)]} and a related table are both called {table.name}",
                f"tell them apart: WITH TABLE ... AS another_name ON ({name_text(table.key)}) (...)",
                ("table", table.name),
            )
        tables[fold(table.name)] = "a related table"
        for attribute in table.attributes:
            if fold(attribute.name) in columns:
                raise _wrong(
                    policy,
                    f"two columns are called {attribute.name}, one of them in {table.name}",
                    f"rename one in a query: WITH TABLE (SELECT {name_text(attribute.name)} AS ..., ...) AS "
                    f"{name_text(table.name)}",
                    ("column", attribute.name),
                )
            columns.add(fold(attribute.name))


def _require_alone(policy: Policy) -> None:
    """Raises where a policy with related tables says what is about one table of respondents."""
    if policy.pivot is not None:
        raise _wrong(
            policy,
            "PIVOT makes a column of what is in rows, and WITH TABLE leaves it in rows",
            "take WITH TABLE for the long table, or pivot it in a query, ON (SELECT ...)",
            ("pivot", policy.pivot.item),
        )
    if policy.confidential or policy.visible:
        raise _wrong(
            policy,
            "CONFIDENTIAL takes the columns of one table apart, and WITH TABLE names several that are linked",
            "leave CONFIDENTIAL and VISIBLE out, or join the tables in a query, ON (SELECT ...)",
            ("set", *(*policy.confidential, *policy.visible)[0][:1]),
        )
    if policy.joined is not None:
        raise _wrong(
            policy,
            "JOINED WITH RELEASE is about the rows of one table, and WITH TABLE names several",
            "leave one of the two out, or join the tables in a query, ON (SELECT ...)",
            ("other",),
        )
    if policy.against is not None:
        raise _wrong(
            policy,
            f"the people of the public table {policy.against.called} have no rows in {policy.related[0].name}, "
            "by which to compare",
            "leave AGAINST out, or WITH TABLE",
            ("public table",),
        )


def _require_entity(policy: Policy) -> None:
    table, entity = policy.related[0], policy.entity
    if entity is None:
        raise _wrong(
            policy,
            f"{table.name} has rows of respondents, and no column of the source says who these are",
            f"mark the one whose values {table.key} has as ENTITY",
            ("table", table.name),
        )
    if entity.pseudonym is not None:
        raise _wrong(
            policy,
            f"{entity.name} cannot be a PSEUDONYM: what links the published tables is a number drawn anew for each "
            "release",
            f"write {name_text(entity.name)} ENTITY",
            ("column", entity.name),
        )


def _validate_table(policy: Policy, table: RelatedTable) -> None:
    if not table.name:
        raise _wrong(policy, "a related table has no name", "name it: WITH TABLE ... AS visits")
    about = ("table", table.name)
    if (table.source.name is None) == (table.source.query is None):
        raise _wrong(
            policy, f"{table.name} needs one source", "name a table or a view, or give a query, and not both", about
        )
    if not table.key:
        raise _wrong(
            policy,
            f"no column of {table.name} says whose its rows are",
            f"name the one with the values of the ENTITY: WITH TABLE {name_text(table.name)} ON (patient) (...)",
            about,
        )
    if not table.attributes:
        raise _wrong(policy, f"no column of {table.name} has a role", "give one a role, or leave the table out", about)
    for attribute in table.attributes:
        if attribute.role is Role.ENTITY:
            raise _wrong(
                policy,
                f"{attribute.name} of {table.name} is an ENTITY, which stands among the columns of the source",
                f"its column with the values of the ENTITY is {table.key}, which needs no role",
                ("column", attribute.name),
            )
        if attribute.pseudonym is not None:
            raise _wrong(
                policy,
                f"{attribute.name} of {table.name} cannot be a PSEUDONYM: what links the published tables is a number "
                "drawn anew for each release",
                f"write {name_text(attribute.name)} IDENTIFIER",
                ("column", attribute.name),
            )
        if same_name(attribute.name, table.key):
            raise _wrong(
                policy,
                f"{attribute.name} says whose a row of {table.name} is, and is never published",
                f"leave it out of the columns of {table.name}",
                ("column", attribute.name),
            )


def _wrong(policy: Policy, problem: str, hint: str, part: tuple[str, ...] = ()) -> PolicyError:
    return PolicyError(f"policy {policy.name}: {problem}", hint=hint, part=part)
