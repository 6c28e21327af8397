"""Policies as rows of `anon.policy` and of the tables whose names begin with `policy_`."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from sqlanon.catalog import _rows, migrations
from sqlanon.catalog._json import (
    BadJson,
    JoinedObject,
    MaskObject,
    PivotObject,
    SampleObject,
    T,
    Text,
    arguments_from_json,
    arguments_to_json,
    dumps,
    json_of,
    loads,
    read_bound,
    read_source,
    typed,
    write_bound,
    write_source,
)
from sqlanon.catalog.validation import validate
from sqlanon.domain.identifiers import fold, nearest, same_name
from sqlanon.domain.policy import (
    Attribute,
    InPlace,
    JoinedRelease,
    Mask,
    Pivot,
    Policy,
    Pseudonym,
    RelatedTable,
    Requirement,
    Role,
    Sample,
    Shift,
)
from sqlanon.domain.values import Source
from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.sql.build.sql_files import sql_file

# The kinds of constraints.
_CONFIDENTIAL = "confidential"
_VISIBLE = "visible"

# The columns of sql/catalog/queries/policy.sql after the part.
_COLUMNS = (
    *("policy", "source", "query", "bound", "against", "against_query", "against_bound", "pivoted"),
    *(
        "sample",
        "joined",
        "attribute",
        "role",
        "hierarchy",
        "min_level",
        "max_level",
        "weight",
        "pseudonym",
        "key_variable",
    ),
    *("mask", "sampling_weight", "hide", "related_table", "key_column", "model", "arguments", "kind", "attributes"),
)
_TABLES = ("policy", "policy_attribute", "policy_requirement", "policy_constraint", "policy_related_table")


@dataclass(frozen=True)
class _PolicyRow:
    policy: str
    source: str | None
    query: str | None
    bound: str | None
    against: str | None
    against_query: str | None
    against_bound: str | None
    pivoted: str | None
    sample: str | None
    joined: str | None


@dataclass(frozen=True)
class _AttributeRow:
    attribute: str
    role: str
    hierarchy: str | None
    min_level: int | None
    max_level: int | None
    weight: Decimal | None
    pseudonym: bool | None
    key_variable: str | None
    mask: str | None
    sampling_weight: bool | None
    hide: str | None
    related_table: str | None


@dataclass(frozen=True)
class _RelatedRow:
    policy: str
    related_table: str
    source: str | None
    query: str | None
    key_column: str
    bound: str | None


@dataclass(frozen=True)
class _RequirementRow:
    model: str
    arguments: str | None


@dataclass(frozen=True)
class _ConstraintRow:
    kind: str
    attributes: str


def save(engine: Engine, policy: Policy) -> None:
    """Writes a policy in place of a policy of the same name. Raises PolicyError for a contradictory policy."""
    validate(policy)
    migrations.install(engine)
    _delete_rows(engine, policy.name)
    named = {"policy": policy.name}
    source, query = _source_row(policy.source)
    against, against_query = _source_row(policy.against or Source())
    head = {**named, "source": source, "query": query, "against": against, "against_query": against_query}
    head["bound"] = write_bound(policy.source.bound)
    head["against_bound"] = write_bound(policy.against.bound) if policy.against else None
    head["pivoted"] = dumps(json_of(PivotObject.of(policy.pivot))) if policy.pivot else None
    head["sample"] = dumps(json_of(SampleObject.of(policy.sample))) if policy.sample else None
    head["joined"] = dumps(json_of(JoinedObject.of(policy.joined))) if policy.joined else None
    _rows.insert(engine, "policy", [head])
    _rows.insert(engine, "policy_attribute", _attribute_rows(policy))
    _rows.insert(engine, "policy_related_table", _related_rows(policy))
    requirements = [
        {**named, "position": i, "model": r.model, "arguments": _arguments_text(policy.name, r)}
        for i, r in enumerate(policy.requirements, start=1)
    ]
    _rows.insert(engine, "policy_requirement", requirements)
    _rows.insert(engine, "policy_constraint", _constraint_rows(policy))


def _attribute_rows(policy: Policy) -> list[dict[str, object]]:
    """Returns a row for each attribute, numbered over all tables."""
    tables = [(None, policy.attributes), *((table.name, table.attributes) for table in policy.related)]
    attributes = [(table, attribute) for table, attributes in tables for attribute in attributes]
    return [
        {"policy": policy.name, "position": i, **_attribute_row(attribute), "related_table": table}
        for i, (table, attribute) in enumerate(attributes, start=1)
    ]


def _related_rows(policy: Policy) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for i, table in enumerate(policy.related, start=1):
        source, query = _source_row(table.source)
        at = {"policy": policy.name, "position": i, "related_table": table.name}
        rows.append(
            {**at, "source": source, "query": query, "key_column": table.key, "bound": write_bound(table.source.bound)}
        )
    return rows


def _constraint_rows(policy: Policy) -> list[dict[str, object]]:
    """Returns a row for each CONFIDENTIAL or VISIBLE set, numbered over both kinds."""
    sets = [(kind, columns) for kind, sets in _sets_of(policy) for columns in sets]
    return [
        {"policy": policy.name, "position": i, "kind": kind, "attributes": dumps(list(columns))}
        for i, (kind, columns) in enumerate(sets, start=1)
    ]


def _sets_of(policy: Policy) -> tuple[tuple[str, tuple[tuple[str, ...], ...]], ...]:
    return ((_CONFIDENTIAL, policy.confidential), (_VISIBLE, policy.visible))


def _source_row(source: Source) -> tuple[str | None, str | None]:
    return write_source(source.name) if source.name else None, source.query


def _attribute_row(attribute: Attribute) -> dict[str, object]:
    pseudonym = attribute.pseudonym
    return {
        "attribute": attribute.name,
        "role": attribute.role.value,
        "hierarchy": attribute.hierarchy,
        "min_level": attribute.min_level,
        "max_level": attribute.max_level,
        "weight": attribute.weight,
        "pseudonym": pseudonym is not None,
        "key_variable": pseudonym.key_variable if pseudonym else None,
        "sampling_weight": attribute.sampling_weight,
        "mask": dumps(json_of(MaskObject.of(pseudonym))) if isinstance(pseudonym, Mask | Shift) else None,
        "hide": dumps(list(attribute.hide)) if attribute.hide else None,
    }


def _arguments_text(policy: str, requirement: Requirement) -> str:
    try:
        return dumps(arguments_to_json(requirement.arguments))
    except BadJson as problem:
        raise PolicyError(
            f"policy {policy}: the arguments of {requirement.model} cannot be stored: {problem}"
        ) from None


def listing(engine: Engine) -> list[str]:
    """Returns the names of all policies, in the order in which they were made."""
    if not migrations.ready(engine):
        return []
    return _rows.read_names(engine, "policy", "policy")


def exists(engine: Engine, name: str) -> bool:
    """Whether the catalog has a policy of this name, valid or not."""
    return fold(name) in map(fold, listing(engine))


def delete(engine: Engine, name: str) -> bool:
    """Deletes a policy; returns False if there was none. The policy's releases stay, because they have a copy."""
    if not migrations.ready(engine):
        return False
    there_was = exists(engine, name)
    _delete_rows(engine, name)
    return there_was


def _delete_rows(engine: Engine, name: str) -> None:
    for table in _TABLES:
        _rows.delete(engine, table, {"policy": name})


def load(engine: Engine, name: str) -> Policy:
    """Reads and validates a policy, whether a statement or a user's own INSERT wrote it.

    Raises PolicyError if there is no policy or more than one, or if it is contradictory.
    """
    rows: list[_PolicyRow] = []
    if migrations.ready(engine):
        parts = _rows.Parts(engine, sql_file("catalog", "queries", "policy"), _COLUMNS, fold(name))
        rows = parts.of("policy", _PolicyRow)
    if not rows:
        raise PolicyError(
            f"there is no policy {name}", hint=nearest(name, listing(engine)) or "make it with CREATE POLICY"
        )
    if len(rows) > 1:
        raise PolicyError(f"policy {name} has {len(rows)} rows in anon.policy", hint="delete all of these rows but one")
    [head] = rows
    name = head.policy
    attributes = parts.of("attribute", _AttributeRow)
    sets = _constraints(name, parts.of("constraint", _ConstraintRow))
    policy = Policy(
        name=name,
        source=_source(name, "source", head.source, head.query, head.bound) or Source(),
        attributes=tuple(_attribute(name, row) for row in attributes if row.related_table is None),
        requirements=tuple(_requirement(name, row) for row in parts.of("requirement", _RequirementRow)),
        against=_source(name, "against", head.against, head.against_query, head.against_bound),
        confidential=sets[_CONFIDENTIAL],
        visible=sets[_VISIBLE],
        pivot=_pivot(head),
        related=_related(name, parts.of("related table", _RelatedRow), attributes),
        joined=_joined(head),
        sample=_sample(head),
    )
    validate(policy)
    return policy


def _related(name: str, rows: list[_RelatedRow], attributes: list[_AttributeRow]) -> tuple[RelatedTable, ...]:
    """Returns the related tables with their attributes. Raises PolicyError for an attribute of an unknown table."""
    known = {fold(row.related_table) for row in rows}
    for row in attributes:
        if row.related_table is not None and fold(row.related_table) not in known:
            raise PolicyError(
                f"policy {name}: {row.attribute} is of the table {row.related_table} in anon.policy_attribute, but "
                "anon.policy_related_table does not list that table",
                hint="set related_table to NULL for a column of the source, or add the table",
            )
    return tuple(
        RelatedTable(
            row.related_table,
            _source(name, "source", row.source, row.query, row.bound, "policy_related_table") or Source(),
            row.key_column,
            tuple(
                _attribute(name, a)
                for a in attributes
                if a.related_table is not None and same_name(a.related_table, row.related_table)
            ),
        )
        for row in rows
    )


def _source(
    policy: str, key: str, named: str | None, query: str | None, bound: str | None, table: str = "policy"
) -> Source | None:
    """Returns the source of a row of `anon.table`, with the catalog entries that it refers to; None if the row has no
    source.

    The source is the relation in the row's column `key`, or a query.
    """
    beside = "" if key == "source" else f"{key}_"
    try:
        entries = read_bound(bound)
    except BadJson as problem:
        raise PolicyError(
            f"policy {policy}: its {beside}bound in anon.{table} cannot be read: {problem}",
            hint="set it to NULL, and make the policy again with CREATE OR REPLACE POLICY",
        ) from None
    if named is None:
        return Source(query=query, bound=entries) if query else None
    try:
        return Source(name=read_source(named), query=query, bound=entries)
    except BadJson as problem:
        raise PolicyError(
            f"policy {policy}: its {key} in anon.{table} cannot be read: {problem}",
            hint=f'write main.patients, main."my table" or ["main", "my table"]; a SELECT belongs in {beside}query',
        ) from None


def _pivot(row: _PolicyRow) -> Pivot | None:
    """Returns the columns of the source that are pivoted; None if the policy has no PIVOT."""
    example = '{"item": "film", "values": "rating"}'
    pivot = _object(row, "pivoted", PivotObject, "a pivot", f"write it as a JSON object, such as {example}")
    return None if pivot is None else pivot.as_domain


def _joined(row: _PolicyRow) -> JoinedRelease | None:
    """Returns the release that is joined, and the columns that it shares; None if the policy joins no release."""
    example = '{"release": ["main", "of_jobs"], "columns": ["job"]}'
    joined = _object(row, "joined", JoinedObject, "a joined release", f"write it as a JSON object, such as {example}")
    return None if joined is None else joined.as_domain


def _sample(row: _PolicyRow) -> Sample | None:
    """Returns the part of a population that the source is; None if the policy does not state a sample."""
    examples = '{"fraction": 0.02} or {"people": 1000000}'
    sample = _object(row, "sample", SampleObject, "a sample", f"write it as a JSON object, {examples}")
    return None if sample is None else sample.as_domain


def _object(row: _PolicyRow, column: str, kind: type[T], what: str, hint: str) -> T | None:
    """Returns the JSON object in a column of anon.policy; None if the column is NULL. Raises PolicyError for an invalid
    object.
    """
    written = getattr(row, column)
    try:
        return typed(loads(written), kind, what) if written else None
    except BadJson as problem:
        raise PolicyError(
            f"policy {row.policy}: its column {column} in anon.policy cannot be read: {problem}", hint=hint
        ) from None


def _attribute(policy: str, row: _AttributeRow) -> Attribute:
    if row.key_variable is not None and not row.pseudonym:
        raise PolicyError(
            f"policy {policy}: {row.attribute} has a key in anon.policy_attribute but is not a pseudonym",
            hint="set pseudonym to true, or key_variable to NULL",
        )
    if row.mask is not None and not row.pseudonym:
        raise PolicyError(
            f"policy {policy}: {row.attribute} has a mask in anon.policy_attribute but is not a pseudonym",
            hint="set pseudonym to true, or mask to NULL",
        )
    return Attribute(
        name=row.attribute,
        role=_role(policy, row),
        hierarchy=row.hierarchy,
        min_level=row.min_level,
        max_level=row.max_level,
        weight=Decimal(1) if row.weight is None else row.weight,
        pseudonym=_pseudonym(policy, row) if row.pseudonym else None,
        sampling_weight=bool(row.sampling_weight),
        hide=_hidden_nodes(policy, row),
    )


def _hidden_nodes(policy: str, row: _AttributeRow) -> tuple[str, ...]:
    try:
        return typed(loads(row.hide), tuple[str, ...], "a list of nodes") if row.hide else ()
    except BadJson as problem:
        raise PolicyError(
            f"policy {policy}: the nodes that {row.attribute} hides in anon.policy_attribute cannot be read: {problem}",
            hint='write them as a JSON list of texts, such as ["HIV", "hepatitis"]',
        ) from None


def _pseudonym(policy: str, row: _AttributeRow) -> InPlace:
    if row.mask is None:
        return Pseudonym(row.key_variable)
    try:
        return typed(loads(row.mask), MaskObject, "a mask").as_domain(row.key_variable)
    except BadJson as problem:
        raise PolicyError(
            f"policy {policy}: the mask of {row.attribute} in anon.policy_attribute cannot be read: {problem}",
            hint='write it as a JSON object, such as {"name": "card", "arguments": {"first": 6}}',
        ) from None


def _role(policy: str, row: _AttributeRow) -> Role:
    """Reads a role, written as in the domain (QUASI_IDENTIFIER) or in statements (QUASI IDENTIFIER)."""
    try:
        return Role("_".join(row.role.replace("-", " ").lower().split()))
    except ValueError:
        raise PolicyError(
            f"policy {policy}: {row.attribute} has the unknown role {row.role!r} in anon.policy_attribute",
            hint=f"roles are {', '.join(Role)}",
        ) from None


def _constraints(policy: str, rows: list[_ConstraintRow]) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Returns the sets of each kind, in order."""
    sets: dict[str, tuple[tuple[str, ...], ...]] = {_CONFIDENTIAL: (), _VISIBLE: ()}
    for row in rows:
        kind = row.kind.strip().lower()
        if kind not in sets:
            raise PolicyError(
                f"policy {policy}: a row of anon.policy_constraint has the unknown kind {row.kind!r}",
                hint=f"kinds are {', '.join(sets)}",
            )
        try:
            sets[kind] += (typed(loads(row.attributes), tuple[Text, ...], "a set of attributes"),)
        except BadJson as problem:
            raise PolicyError(
                f"policy {policy}: the attributes of a {kind} set in anon.policy_constraint cannot be read: {problem}",
                hint='write them as a JSON list of names, such as ["dob", "disease"]',
            ) from None
    return sets


def _requirement(policy: str, row: _RequirementRow) -> Requirement:
    try:
        arguments = arguments_from_json(loads(row.arguments or "{}"))
    except BadJson as problem:
        raise PolicyError(
            f"policy {policy}: the arguments of {row.model} in anon.policy_requirement cannot be read: {problem}",
            hint='write them as a JSON object, such as {"k": 4}',
        ) from None
    return Requirement(row.model.lower(), tuple((name.lower(), value) for name, value in arguments))
