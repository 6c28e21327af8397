"""A statement's text, read back, is the statement: for any names, strings and numbers."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import (
    Attribute,
    HierarchyDefinition,
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
from sqlanon.domain.requests import FigureCall, MethodCall
from sqlanon.domain.values import QualifiedName, Source, Value
from sqlanon.domain.workload import figure_of_workload, workload_of
from sqlanon.statements.base import PassThrough, Statement
from sqlanon.statements.checks.attack import Attack
from sqlanon.statements.checks.check_export import CheckExport
from sqlanon.statements.checks.check_joined import CheckJoined
from sqlanon.statements.checks.check_policy import CheckPolicy
from sqlanon.statements.checks.check_relation import CheckRelation
from sqlanon.statements.checks.check_release import CheckRelease
from sqlanon.statements.checks.check_safe_harbor import CheckSafeHarbor
from sqlanon.statements.checks.check_series import CheckSeries
from sqlanon.statements.frontiers.advise import Advise, Bound
from sqlanon.statements.frontiers.drop_frontier import DropFrontier
from sqlanon.statements.frontiers.frontier import Frontier, Sweep
from sqlanon.statements.hierarchies.create_hierarchy import CreateHierarchy
from sqlanon.statements.hierarchies.drop_hierarchy import DropHierarchy
from sqlanon.statements.hierarchies.propose_hierarchy import ProposeHierarchy
from sqlanon.statements.listings.describe_policy import DescribePolicy
from sqlanon.statements.listings.show import SHOWN, Show
from sqlanon.statements.parser import parse_script
from sqlanon.statements.policies.alter_policy import AlterPolicy
from sqlanon.statements.policies.create_policy import CreatePolicy
from sqlanon.statements.policies.drop_policy import DropPolicy
from sqlanon.statements.policies.profile import Profile
from sqlanon.statements.readers.alter_reader import AlterReader
from sqlanon.statements.readers.create_reader import CreateReader
from sqlanon.statements.readers.drop_reader import DropReader
from sqlanon.statements.readers.grant_estimate import GrantEstimate
from sqlanon.statements.readers.grant_select import GrantSelect
from sqlanon.statements.readers.revoke_estimate import RevokeEstimate
from sqlanon.statements.readers.revoke_select import RevokeSelect
from sqlanon.statements.readers.show_grants import ShowGrants
from sqlanon.statements.releases.create_release import CreateRelease
from sqlanon.statements.releases.drop_release import DropRelease
from sqlanon.statements.releases.estimate import Estimate
from sqlanon.statements.releases.explain_release import ExplainRelease
from sqlanon.statements.releases.export_release import ExportRelease
from sqlanon.statements.releases.refresh_release import RefreshRelease
from sqlanon.statements.series.create_series import CreateSeries
from sqlanon.statements.series.drop_series import DropSeries
from sqlanon.statements.streams.advance import Advance
from sqlanon.statements.streams.create_stream import CreateStream
from sqlanon.statements.streams.drop_stream import DropStream
from sqlanon.statements.workloads.create_workload import CreateWorkload
from sqlanon.statements.workloads.drop_workload import DropWorkload
from sqlanon.statements.workloads.measure import Measure
from sqlanon.statements.workloads.measure_figures import MeasureFigures
from sqlanon.statements.workloads.measure_task import MeasureTask
from sqlanon.syntax.definitions import hierarchy_text, policy_text

HOSTILE = [
    *('"', '""', "'", "a.b", "a;b", "--", "/*", "*/", "$$", "`", "\\", "\n", " ", "(", ")", "=>", "\0", "\ufeff"),
    *(
        "select",
        "USING",
        "true",
        "QUASI IDENTIFIER",
        "If",
        "SENSITIVE",
        "é",
        "Ünï",
        "🦆",
        "\u202e",
        "x" * 200,
        '"' * 200,
    ),
]
hostile = st.sampled_from(HOSTILE)
texts = st.one_of(hostile, st.text(), st.lists(hostile, max_size=4).map("".join))
names = texts.filter(bool)
words = names.map(str.lower)  # names of models, methods, arguments and formats
qualified = st.lists(names, min_size=1, max_size=3).map(lambda parts: QualifiedName(tuple(parts)))
decimals = st.decimals(allow_nan=False, allow_infinity=False)
scalars = st.one_of(st.booleans(), st.integers(), decimals, texts, qualified)
values = scalars | st.lists(scalars, min_size=1, max_size=3).map(tuple)
arguments = st.lists(st.tuples(words, values), max_size=3, unique_by=lambda pair: pair[0]).map(tuple)
options = st.lists(st.tuples(words, scalars), max_size=3, unique_by=lambda pair: pair[0]).map(tuple)
queries = st.one_of(
    st.sampled_from(
        ["SELECT 1", "from t", "(SELECT ')' /* ( */ )", "with a as (select $$)$$) from a", "VALUES (1), (2)"]
    ),
    names.map(lambda name: "SELECT * FROM " + '"' + name.replace('"', '""') + '"'),
)
sources = st.one_of(st.builds(Source, name=qualified), st.builds(Source, query=queries))
switch = st.booleans()

levels = st.none() | st.integers(min_value=0, max_value=99)
masks = st.builds(Mask, names.map(str.lower), st.dictionaries(words, values, max_size=2), st.none() | names)
pseudonyms = st.none() | st.builds(Pseudonym, st.none() | names) | masks
widths = st.integers(min_value=0, max_value=10**6)
shifts = st.none() | st.builds(Shift, widths, st.none(), st.none() | names)
shifts |= st.builds(Shift, st.none(), widths, st.none() | names)
hierarchy_names = st.none() | names
attributes = st.one_of(
    st.builds(Attribute, names, st.sampled_from([Role.IDENTIFIER, Role.ENTITY]), pseudonym=pseudonyms),
    st.builds(Attribute, names, st.just(Role.QUASI_IDENTIFIER), hierarchy_names, levels, levels, decimals),
    st.builds(Attribute, names, st.just(Role.SENSITIVE), hierarchy_names, pseudonym=shifts),
    st.builds(Attribute, names, st.just(Role.INSENSITIVE), pseudonym=shifts),
    st.builds(Attribute, names, st.just(Role.INSENSITIVE), sampling_weight=st.booleans()),
)
requirements = st.lists(
    st.builds(Requirement, words | st.sampled_from(["l_diversity", "t_closeness"]), arguments),
    min_size=1,
    max_size=3,
    unique_by=lambda requirement: requirement.subject,
).map(tuple)
publics = st.none() | sources
figure_calls = st.builds(FigureCall, words, arguments)
figures = words.filter(lambda name: workload_of(name) is None) | names.map(figure_of_workload)
numbers = st.integers() | decimals
sweeps = st.builds(Sweep, words, st.lists(scalars, min_size=1, max_size=3, unique=True).map(tuple))
frontiers = st.builds(
    Frontier,
    names,
    names,
    st.lists(st.builds(MethodCall, words, arguments), min_size=1, max_size=2, unique=True).map(tuple),
    st.lists(sweeps, max_size=2, unique_by=lambda sweep: sweep.parameter).map(tuple),
    st.lists(figure_calls, min_size=1, max_size=2, unique=True).map(tuple),
    st.lists(names, max_size=2, unique=True).map(tuple),
)
several = st.lists(attributes, min_size=1, max_size=4, unique_by=lambda attribute: attribute.name.lower()).map(tuple)
sets = st.lists(st.lists(names, min_size=1, max_size=3, unique_by=str.lower).map(tuple), max_size=3).map(tuple)
some_sets = sets.filter(bool)
pivots = st.none() | st.builds(Pivot, names.map(str.lower), names.map(lambda name: name.lower() + " rated"))
named_sources = st.tuples(names, sources) | qualified.map(lambda name: (name.name, Source(name=name)))
columns_of_respondents = several.map(lambda some: tuple(a for a in some if a.role is not Role.ENTITY)).filter(bool)
related_tables = st.builds(
    lambda named, key, columns: RelatedTable(*named, key, columns), named_sources, names, columns_of_respondents
)
related = st.lists(related_tables, max_size=2, unique_by=lambda table: table.name.lower()).map(tuple)


def told_apart(policy: Policy) -> Policy:
    """The policy with the number of its table before the name of each column: no two tables have one of one name."""

    def renamed(number: int, columns: tuple[Attribute, ...]) -> tuple[Attribute, ...]:
        return tuple(replace(column, name=f"{number}{column.name}") for column in columns)

    tables = (replace(table, attributes=renamed(n, table.attributes)) for n, table in enumerate(policy.related, 1))
    return replace(policy, attributes=renamed(0, policy.attributes), related=tuple(tables))


shared = st.lists(names, min_size=1, max_size=3, unique_by=str.lower).map(tuple)
joins = st.none() | st.builds(JoinedRelease, qualified, shared)
samples = st.none() | st.builds(Sample, fraction=decimals) | st.builds(Sample, people=st.integers())
policies = st.one_of(
    st.builds(Policy, names, sources, several, requirements, publics, sets, sets, pivots, joined=joins, sample=samples),
    st.builds(Policy, names, sources, several, requirements, related=related, sample=samples).map(told_apart),
    # Where something is confidential, nothing else need be required.
    st.builds(Policy, names, sources, several, st.just(()), st.none(), some_sets, sets),
)
definitions = st.one_of(
    st.builds(HierarchyDefinition, names, words, st.lists(scalars, max_size=4).map(tuple), options),
    st.builds(HierarchyDefinition, names, words, query=queries),
)
kinds = st.sampled_from(["view", "table"])
methods = st.one_of(
    st.builds(MethodCall, words, arguments, sets),
    st.builds(MethodCall, words, arguments, columns=sets),
    st.builds(MethodCall, words, arguments, each_apart=st.booleans()),
)
releases = st.one_of(
    st.builds(CreateRelease, kinds, qualified, names, methods, switch),
    st.builds(CreateRelease, kinds, qualified, names, if_not_exists=switch, series=st.none() | names),
    st.builds(CreateRelease, kinds, qualified, names, methods, levels_from=qualified),
)
columns = st.lists(names, max_size=3).map(tuple)
marginals = st.lists(st.tuples(names, qualified), max_size=2).map(tuple)
# Sensitive columns, each with its hierarchy or None.
sensitive = st.dictionaries(names.map(str.lower), hierarchy_names, max_size=3)


def check_of(
    source: Source,
    quasi_identifiers: tuple[str, ...],
    asked: dict[str, str | None],
    required: tuple[Requirement, ...],
    public: Source | None,
) -> CheckRelation:
    hierarchies = tuple((column, hierarchy) for column, hierarchy in asked.items() if hierarchy is not None)
    return CheckRelation(source, quasi_identifiers, tuple(asked), required, hierarchies, public)


def attack_of(
    attack: str,
    of: tuple[tuple[str, Value], ...],
    target: QualifiedName | str | Source,
    quasi_identifiers: tuple[str, ...],
    asked: dict[str, str | None],
) -> Attack:
    hierarchies = tuple((column, hierarchy) for column, hierarchy in asked.items() if hierarchy is not None)
    named: dict[str, Any] = {"release": target} if isinstance(target, QualifiedName) else {"file": target}
    if isinstance(target, Source):
        named = {"source": target, "quasi_identifiers": quasi_identifiers}
    return Attack(attack, of, sensitive=tuple(asked), hierarchies=hierarchies, **named)


# No release is named twice.
granted = st.lists(qualified, min_size=1, max_size=3, unique_by=lambda name: tuple(map(fold, name.parts))).map(tuple)

statements: st.SearchStrategy[Statement] = st.one_of(
    st.builds(PassThrough, queries),
    st.builds(CreateHierarchy, definitions, switch),
    st.builds(CreateHierarchy, definitions, if_not_exists=switch),
    st.builds(ProposeHierarchy, names, qualified, names, switch),
    st.builds(ProposeHierarchy, names, qualified, names, if_not_exists=switch),
    st.builds(Profile, sources, st.lists(names, max_size=3).map(tuple)),
    st.builds(CreatePolicy, policies, switch),
    st.builds(CreatePolicy, policies, if_not_exists=switch),
    releases,
    st.builds(RefreshRelease, qualified, st.none() | qualified),
    st.builds(ExplainRelease, releases),
    st.builds(DropHierarchy, names, switch),
    st.builds(DropPolicy, names, switch),
    st.builds(AlterPolicy, names, st.sampled_from(["add", "alter"]), attributes, if_exists=switch),
    st.builds(AlterPolicy, names, st.just("drop"), column=names, if_exists=switch),
    st.builds(AlterPolicy, names, st.just("rename"), new_name=names, if_exists=switch),
    st.builds(AlterPolicy, names, st.sampled_from(["add", "require"]), requirements=requirements, if_exists=switch),
    st.builds(DescribePolicy, names),
    st.builds(Show, st.sampled_from(SHOWN)),
    st.builds(CheckExport, texts, st.none() | texts),
    st.builds(CreateWorkload, names, names, arguments, switch),
    st.builds(CreateWorkload, names, names, arguments, if_not_exists=switch),
    st.builds(DropWorkload, names, switch),
    st.builds(Measure, qualified, names),
    st.builds(MeasureTask, qualified, arguments.filter(bool)),
    st.builds(MeasureFigures, qualified, st.lists(figure_calls, max_size=3, unique=True).map(tuple)),
    st.builds(MeasureFigures, qualified, st.lists(figure_calls, min_size=1, max_size=3, unique=True).map(tuple), names),
    st.builds(DropRelease, kinds, qualified, switch),
    st.builds(CheckRelease, qualified),
    st.builds(CheckSeries, qualified, names),
    st.builds(CheckPolicy, names, st.just(()) | st.just((("zip", QualifiedName(("zip",))),))),
    st.builds(CheckSafeHarbor, qualified, st.just(()) | st.just((("zip", QualifiedName(("zip",))),))),
    st.builds(CheckJoined, qualified, qualified, shared, requirements),
    st.builds(CreateReader, names, st.none() | st.dates(), switch),
    st.builds(AlterReader, names, st.just(False), st.none() | st.dates()),
    st.builds(AlterReader, names, st.just(True)),
    st.builds(DropReader, names, switch),
    st.builds(GrantSelect, granted, names),
    st.builds(RevokeSelect, granted, names),
    st.builds(GrantEstimate, names, names),
    st.builds(RevokeEstimate, names, names),
    st.builds(ShowGrants, st.none() | names),
    st.builds(CreateSeries, names, names, texts, requirements | st.just(()), switch),
    st.builds(DropSeries, names, switch),
    st.builds(CreateStream, qualified, names, names, st.builds(MethodCall, words, arguments), switch),
    st.builds(Advance, qualified, switch),
    st.builds(Advance, qualified, until=texts),
    st.builds(DropStream, qualified, switch),
    st.builds(check_of, sources, columns.filter(bool), sensitive, requirements | st.just(()), publics),
    st.builds(attack_of, words, arguments, qualified | texts | sources, columns.filter(bool), sensitive),
    st.builds(ExportRelease, qualified, texts, st.none() | words, switch, switch, st.none() | names),
    frontiers,
    st.builds(Advise, names, figures, st.lists(st.builds(Bound, figures, numbers, switch), max_size=2).map(tuple)),
    st.builds(DropFrontier, names, switch),
    st.builds(Estimate, queries, qualified, marginals=marginals),
    st.builds(Estimate, queries, file=texts, marginals=marginals),
)


@pytest.mark.long
@settings(max_examples=600, deadline=None)
@given(statements)
def test_reads_back_what_it_writes(statement: Statement) -> None:
    assert parse_script(statement.sql()) == [statement]


@pytest.mark.long
@settings(max_examples=100, deadline=None)
@given(st.lists(statements, max_size=5))
def test_a_script_of_statements_reads_back(script: list[Statement]) -> None:
    text = ";\n".join(statement.sql() for statement in script)
    read = parse_script(text)
    assert read == script
    # A Decimal that is whole, 0.0, is read as an int: equal, but not written the same way.
    for made, statement in zip(script, read, strict=True):
        assert statement.position is not None
        line = text.split("\n")[statement.position.line - 1]
        assert made.sql().split("\n")[0] in line[statement.position.column - 1 :]


@pytest.mark.long
@given(policies, definitions)
def test_policies_and_hierarchies_can_be_written_alone(policy: Policy, definition: HierarchyDefinition) -> None:
    assert parse_script(policy_text(policy)) == [CreatePolicy(policy)]
    assert parse_script(hierarchy_text(definition)) == [CreateHierarchy(definition)]


def test_types_survive() -> None:
    policy = Policy(
        "p",
        Source(QualifiedName(("t",))),
        (Attribute("a", Role.INSENSITIVE),),
        (Requirement("m", (("a", 4), ("b", Decimal(".5")), ("c", True), ("d", "4"), ("e", QualifiedName(("true",))))),),
    )
    (statement,) = parse_script(policy_text(policy))
    assert isinstance(statement, CreatePolicy)
    read = dict(statement.policy.requirements[0].arguments)
    assert [type(value) for value in read.values()] == [int, Decimal, bool, str, QualifiedName]
