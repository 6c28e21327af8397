"""Statements to text: canonical, every name in quotes, and read back to what it was.

The text is for people, for the catalog and for certificates, in the language that
`parser` reads; the database never runs it.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlanon.domain.hierarchy import HierarchyDefinition
from sqlanon.domain.policy import Attribute, Policy, RelatedTable, Requirement
from sqlanon.domain.values import Source, plain_number
from sqlanon.errors import StatementError
from sqlanon.syntax._attributes import role_words
from sqlanon.syntax._call_texts import (
    advance_text,
    advise_text,
    call_text,
    check_joined_text,
    create_series_text,
    create_stream_text,
    figure_text,
    frontier_text,
    joined_text,
)
from sqlanon.syntax._export_texts import check_export_text, export_text
from sqlanon.syntax._profile_texts import profile_text, propose_hierarchy_text
from sqlanon.syntax._release_texts import levels_text, release_text, sets_text
from sqlanon.syntax._texts import (
    arguments_text,
    name_text,
    qualified_text,
    string_text,
    value_text,
    word_text,
)
from sqlanon.syntax.parser import query_text
from sqlanon.syntax.statements import (
    Advance,
    Advise,
    AlterPolicy,
    Attack,
    CheckExport,
    CheckJoined,
    CheckRelation,
    CheckRelease,
    CheckSeries,
    CreateHierarchy,
    CreatePolicy,
    CreateRelease,
    CreateSeries,
    CreateStream,
    CreateWorkload,
    DescribePolicy,
    DropFrontier,
    DropHierarchy,
    DropPolicy,
    DropRelease,
    DropSeries,
    DropStream,
    DropWorkload,
    Estimate,
    ExplainRelease,
    ExportRelease,
    Frontier,
    Measure,
    MeasureFigures,
    MeasureTask,
    MethodCall,
    PassThrough,
    Profile,
    ProposeHierarchy,
    RefreshRelease,
    Show,
    Statement,
)

__all__ = ["clauses", "hierarchy", "method", "name_text", "policy", "requirement", "to_sql"]


def to_sql(statement: Statement) -> str:
    """The statement as text, without a semicolon; parse_script() reads it back to an equal one.

    Raises StatementError if what should be a query in it is not one.
    """
    match statement:
        case PassThrough():
            return statement.text
        case CreateHierarchy():
            return _create_hierarchy(statement)
        case ProposeHierarchy():
            opening, condition = _create(statement.or_replace), _if_not_exists(statement.if_not_exists)
            return propose_hierarchy_text(statement, opening, condition)
        case CreatePolicy():
            return _create_policy(statement)
        case CreateRelease():
            return _create(statement.or_replace) + release_text(statement)
        case CreateSeries():
            return create_series_text(statement, _if_not_exists(statement.if_not_exists))
        case DropSeries():
            return f"DROP SERIES {_if_exists(statement.if_exists)}{name_text(statement.name)}"
        case CreateStream():
            return create_stream_text(statement, _if_not_exists(statement.if_not_exists))
        case Advance():
            return advance_text(statement)
        case DropStream():
            return f"DROP ANONYMIZED STREAM {_if_exists(statement.if_exists)}{qualified_text(statement.name)}"
        case CheckSeries():
            return f"CHECK {qualified_text(statement.name)} IN SERIES {name_text(statement.series)}"
        case RefreshRelease():
            return f"REFRESH ANONYMIZED TABLE {qualified_text(statement.name)}{levels_text(statement.levels_from)}"
        case ExplainRelease():
            create = statement.create
            return "EXPLAIN " + (_create(True) if create.or_replace else "") + release_text(create)
        case DropHierarchy():
            return f"DROP HIERARCHY {_if_exists(statement.if_exists)}{name_text(statement.name)}"
        case DropPolicy():
            return f"DROP POLICY {_if_exists(statement.if_exists)}{name_text(statement.name)}"
        case AlterPolicy():
            return f"ALTER POLICY {_if_exists(statement.if_exists)}{name_text(statement.name)} {_change(statement)}"
        case DescribePolicy():
            return f"DESCRIBE POLICY {name_text(statement.name)}"
        case Show():
            return f"SHOW {statement.kind.upper()}"
        case Measure():
            return f"MEASURE {qualified_text(statement.release)} WITH WORKLOAD {name_text(statement.workload)}"
        case MeasureFigures():
            workload = f" WITH WORKLOAD {name_text(statement.workload)}" if statement.workload is not None else ""
            figures = f" WITH FIGURES ({', '.join(map(figure_text, statement.figures))})" if statement.figures else ""
            return f"MEASURE {qualified_text(statement.release)}{workload}{figures}"
        case MeasureTask():
            arguments = ", ".join(arguments_text(statement.arguments))
            return f"MEASURE {qualified_text(statement.release)} WITH TASK ({arguments})"
        case CreateWorkload():
            return _create_workload(statement)
        case DropWorkload():
            return f"DROP WORKLOAD {_if_exists(statement.if_exists)}{name_text(statement.name)}"
        case DropRelease():
            exists = _if_exists(statement.if_exists)
            return f"DROP ANONYMIZED {statement.kind.upper()} {exists}{qualified_text(statement.name)}"
        case CheckRelease():
            return f"CHECK {qualified_text(statement.name)}"
        case CheckJoined():
            return check_joined_text(statement)
        case CheckExport():
            return check_export_text(statement)
        case CheckRelation():
            return _check_relation(statement)
        case Attack():
            return _attack(statement)
        case Profile():
            return profile_text(statement, _source(statement.source))
        case ExportRelease():
            return export_text(statement)
        case Estimate():
            return _estimate(statement)
        case Frontier():
            return frontier_text(statement)
        case Advise():
            return advise_text(statement)
        case DropFrontier():
            return f"DROP FRONTIER {_if_exists(statement.if_exists)}{name_text(statement.name)}"


def hierarchy(definition: HierarchyDefinition) -> str:
    """The CREATE HIERARCHY statement that defines this hierarchy."""
    return _create_hierarchy(CreateHierarchy(definition))


def policy(policy: Policy) -> str:
    """The CREATE POLICY statement that defines this policy, an attribute a line."""
    return _create_policy(CreatePolicy(policy))


def clauses(attribute: Attribute) -> str:
    """The role of an attribute and what goes with it, as a policy says it behind the column's name."""
    return _attribute(attribute).removeprefix(name_text(attribute.name) + " ")


def requirement(requirement: Requirement) -> str:
    """A requirement as a policy says it."""
    return call_text(requirement)


def method(call: MethodCall) -> str:
    """A method as it stands after METHOD."""
    return call_text(call)


def _create_hierarchy(statement: CreateHierarchy) -> str:
    definition = statement.definition
    head = f"{_create(statement.or_replace)}HIERARCHY {_if_not_exists(statement.if_not_exists)}"
    kind = word_text(definition.kind)
    kind = kind if kind.startswith('"') else kind.upper()
    return f"{head}{name_text(definition.name)} AS {kind} ({_definition(definition)})"


def _definition(definition: HierarchyDefinition) -> str:
    if definition.query is None:
        return ", ".join([*map(value_text, definition.arguments), *arguments_text(definition.options)])
    if definition.arguments or definition.options:
        raise StatementError(
            f"the hierarchy {definition.name} has a query and arguments",
            hint="LEVELS and PARENTS read a query alone, the other kinds have arguments",
        )
    return query_text(definition.query)


def _create_policy(statement: CreatePolicy) -> str:
    policy = statement.policy
    head = (
        f"{_create(statement.or_replace)}POLICY {_if_not_exists(statement.if_not_exists)}{name_text(policy.name)} ON "
    )
    attributes = ",\n".join(f"    {_attribute(attribute)}" for attribute in policy.attributes)
    parts = [
        sets_text("CONFIDENTIAL", policy.confidential),
        sets_text("VISIBLE", policy.visible),
        _against(policy.against)
        + joined_text(policy.joined)
        + (_requirements(policy.requirements) if policy.requirements else ""),
    ]
    pivot = f" PIVOT {name_text(p.item)} VALUES {name_text(p.rating)}" if (p := policy.pivot) else ""
    tables = "".join(map(_related_table, policy.related))
    return f"{head}{_source(policy.source)}{pivot} (\n{attributes}\n){tables} {' '.join(filter(None, parts))}"


def _related_table(table: RelatedTable) -> str:
    """A table that belongs to the source of a policy, on a line of its own, with its columns."""
    name = "" if table.source.name and table.source.name.name == table.name else f" AS {name_text(table.name)}"
    attributes = ",\n".join(f"    {_attribute(attribute)}" for attribute in table.attributes)
    return f"\nWITH TABLE {_source(table.source)}{name} ON ({name_text(table.key)}) (\n{attributes}\n)"


def _change(statement: AlterPolicy) -> str:
    if statement.action == "require":
        return _requirements(statement.requirements)
    if statement.action == "rename":
        return f"RENAME TO {name_text(statement.new_name)}"
    if statement.requirements:
        return f"ADD {_requirements(statement.requirements)}"
    column = _attribute(statement.attribute) if statement.attribute else name_text(statement.column)
    return f"{statement.action.upper()} COLUMN {column}"


def _attribute(attribute: Attribute) -> str:
    parts = [name_text(attribute.name), role_words(attribute.role)]
    if attribute.pseudonym:
        parts.append("PSEUDONYM")
        if attribute.pseudonym.key_variable is not None:
            parts.append(f"KEY {string_text(attribute.pseudonym.key_variable)}")
    if attribute.hierarchy is not None:
        parts.append(f"USING {name_text(attribute.hierarchy)}")
    for words, level in (("MIN LEVEL", attribute.min_level), ("MAX LEVEL", attribute.max_level)):
        if level is not None:
            parts.append(f"{words} {level}")
    if attribute.weight != 1:
        # The catalog keeps six decimals of it.
        parts.append(f"WEIGHT {value_text(plain_number(attribute.weight))}")
    return " ".join(parts)


def _create_workload(statement: CreateWorkload) -> str:
    head = (
        f"{_create(statement.or_replace)}WORKLOAD {_if_not_exists(statement.if_not_exists)}{name_text(statement.name)}"
    )
    arguments = f" ({', '.join(arguments_text(statement.arguments))})" if statement.arguments else ""
    return f"{head} ON POLICY {name_text(statement.policy)}{arguments}"


def _check_relation(statement: CheckRelation) -> str:
    columns = ", ".join(map(name_text, statement.quasi_identifiers))
    sensitive = _sensitive(statement)
    required = _against(statement.against) + (_requirements(statement.requirements) if statement.requirements else "")
    return f"CHECK {_source(statement.source)} ({columns}){sensitive} {required}".rstrip()


def _attack(statement: Attack) -> str:
    columns = ", ".join(map(name_text, statement.quasi_identifiers))
    if statement.source:
        target = f"{_source(statement.source)} ({columns})"
    else:
        target = qualified_text(statement.release) if statement.release else string_text(statement.file or "")
    arguments = f"({', '.join(arguments_text(statement.arguments))})"
    return f"ATTACK {target}{_sensitive(statement)} WITH {word_text(statement.attack)}{arguments}"


def _sensitive(statement: CheckRelation | Attack) -> str:
    """SENSITIVE with its columns, after a blank; nothing if there are none."""
    using = {column: f" USING {name_text(hierarchy)}" for column, hierarchy in statement.hierarchies}
    named = ", ".join(name_text(column) + using.get(column, "") for column in statement.sensitive)
    return f" SENSITIVE {named}" if named else ""


def _estimate(statement: Estimate) -> str:
    named = qualified_text(statement.release) if statement.release else string_text(statement.file or "")
    weighed = ", ".join(f"{name_text(column)} => {qualified_text(table)}" for column, table in statement.marginals)
    return f"ESTIMATE {query_text(statement.query)} FROM RELEASE {named}" + (
        f" MARGINALS ({weighed})" if weighed else ""
    )


def _against(public: Source | None) -> str:
    return f"AGAINST {_source(public)} " if public else ""


def _requirements(requirements: Iterable[Requirement]) -> str:
    return "REQUIRE " + ", ".join(map(call_text, requirements))


def _source(source: Source) -> str:
    if source.name is not None:
        return qualified_text(source.name)
    return f"({query_text(source.query or '')})"


def _create(or_replace: bool) -> str:
    return "CREATE OR REPLACE " if or_replace else "CREATE "


def _if_exists(said: bool) -> str:
    return "IF EXISTS " if said else ""


def _if_not_exists(said: bool) -> str:
    return "IF NOT EXISTS " if said else ""
