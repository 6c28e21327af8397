"""The columns of a policy, by their roles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal

from sqlanon.clients.api import models, models_of_knowledge, models_of_numbers, models_of_values
from sqlanon.clients.api.arguments import Number, Query, column_names, described, one_name, python_value
from sqlanon.clients.api.requirements import Requirement
from sqlanon.domain.identifiers import fold, nearest
from sqlanon.domain.policy import Attribute, JoinedRelease, Mask, Policy, Pseudonym, RelatedTable, Role, Sample, Shift
from sqlanon.domain.policy import Requirement as Definition
from sqlanon.domain.values import QualifiedName, Source
from sqlanon.errors import UserError
from sqlanon.sources.data_frames import plain_scalar

# The order of the arguments.
ROLES = (Role.IDENTIFIER, Role.ENTITY, Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.INSENSITIVE)


@dataclass(frozen=True, repr=False)
class QuasiIdentifier:
    """The treatment of a quasi-identifier: how its values become coarser, and the weight of its loss.

    `hierarchy` names a hierarchy that CREATE HIERARCHY made. A column without a hierarchy is published as it is, or as
    *. `min_level` and `max_level` are the least and the most general level that a release may have (0 is the value
    itself). `weight` is the column's share in the loss.

    >>> QuasiIdentifier("zip_prefix", min_level=1)
    QuasiIdentifier(hierarchy='zip_prefix', min_level=1)
    """

    hierarchy: str | None = None
    min_level: int | None = None
    max_level: int | None = None
    weight: Number = 1

    def __repr__(self) -> str:
        """Returns a Python call that makes an equal object."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        named = [
            f"{field.name}={values[field.name]!r}" for field in fields(self) if values[field.name] != field.default
        ]
        return f"QuasiIdentifier({', '.join(named)})"


@dataclass(frozen=True, repr=False)
class Labels:
    """A sensitive column whose values are replaced by labels of a hierarchy in each row.

    `hierarchy` names a hierarchy that CREATE HIERARCHY made. Give `min_level`, the level of the labels, or `hide`, a
    list of nodes: all values below the parent of a hidden node are published as that parent.

    >>> from sqlanon import KAnonymity, Labels, Policy
    >>> stays = Policy(
    ...     "stays",
    ...     source="stays",
    ...     quasi_identifiers="age",
    ...     sensitive={"disease": Labels("diseases", hide=["HIV"])},
    ...     require=KAnonymity(k=5),
    ... )
    >>> print(stays.sql())
    CREATE POLICY "stays" ON "stays" (
        "age" QUASI IDENTIFIER,
        "disease" SENSITIVE USING "diseases" HIDE ('HIV')
    ) REQUIRE k_anonymity(k => 5)
    """

    hierarchy: str
    min_level: int | None = None
    hide: Iterable[str] = ()

    def __repr__(self) -> str:
        """Returns a Python call that makes an equal object."""
        level = [] if self.min_level is None else [f"min_level={self.min_level!r}"]
        nodes = [f"hide={list(self.hide)!r}"] if self.hide else []
        return f"Labels({', '.join([repr(self.hierarchy), *level, *nodes])})"


@dataclass(frozen=True)
class SamplingWeight:
    """An insensitive column with the number of people that each row of a sample represents.

    >>> from sqlanon import IndividualRisk, Policy
    >>> survey = Policy(
    ...     "survey",
    ...     source="survey",
    ...     quasi_identifiers="age",
    ...     insensitive={"weight": SamplingWeight()},
    ...     require=IndividualRisk(max=0.05),
    ... )
    >>> print(survey.sql())
    CREATE POLICY "survey" ON "survey" (
        "age" QUASI IDENTIFIER,
        "weight" INSENSITIVE SAMPLING WEIGHT
    ) REQUIRE individual_risk(max => 0.05)
    """


Identifiers = Iterable[str] | Mapping[str, Pseudonym | Mask | None]
Entity = str | Mapping[str, Pseudonym | Mask | None]
QuasiIdentifiers = Iterable[str] | Mapping[str, QuasiIdentifier | str | None]
Sensitive = Iterable[str] | Mapping[str, str | Labels | Shift | None]
Insensitive = Iterable[str] | Mapping[str, "Shift | SamplingWeight | None"]


def attributes(
    *,
    identifiers: Identifiers = (),
    entity: Entity | None = None,
    quasi_identifiers: QuasiIdentifiers = (),
    sensitive: Sensitive = (),
    insensitive: Insensitive = (),
    order: Iterable[str] | None = None,
) -> tuple[Attribute, ...]:
    """Returns a policy's columns with their roles, in the order of the arguments, or in the given `order`.

    Raises UserError, which names the argument, for a value that is not a column name, or for details that do not fit
    the role.
    """
    listed = (
        *_with_pseudonyms("identifiers", Role.IDENTIFIER, identifiers),
        *_with_pseudonyms("entity", Role.ENTITY, () if entity is None else entity),
        *_quasi_identifiers(quasi_identifiers),
        *_sensitive(sensitive),
        *_insensitive(insensitive),
    )
    return listed if order is None else _in_order(listed, column_names("order", order))


def _details(argument: str, columns: object) -> list[tuple[str, object]]:
    """Returns pairs of a column and its value in a mapping; the value is None for the columns of a list."""
    if isinstance(columns, Mapping):
        return [(one_name(argument, name), detail) for name, detail in columns.items()]
    return [(name, None) for name in column_names(argument, columns)]


def _with_pseudonyms(argument: str, role: Role, columns: object) -> list[Attribute]:
    listed = []
    for name, pseudonym in _details(argument, columns):
        if pseudonym is not None and not isinstance(pseudonym, Pseudonym | Mask):
            raise _wrong(argument, name, pseudonym, "Pseudonym(), Mask(...) or None")
        if pseudonym and pseudonym.key_variable is not None:
            one_name(f"{argument}[{name!r}]: key_variable", pseudonym.key_variable)
        listed.append(Attribute(name, role, pseudonym=pseudonym))
    return listed


def _quasi_identifiers(columns: object) -> list[Attribute]:
    return [_quasi_identifier(name, detail) for name, detail in _details("quasi_identifiers", columns)]


def _quasi_identifier(name: str, detail: object) -> Attribute:
    about = detail
    if detail is None or isinstance(detail, str):
        about = QuasiIdentifier(detail)
    if not isinstance(about, QuasiIdentifier):
        raise _wrong("quasi_identifiers", name, detail, "the name of a hierarchy, QuasiIdentifier(...) or None")
    called = f"quasi_identifiers[{name!r}]"
    hierarchy = None if about.hierarchy is None else one_name(f"{called}: hierarchy", about.hierarchy)
    for level, number in (("min_level", about.min_level), ("max_level", about.max_level)):
        if number is not None and (isinstance(number, bool) or not isinstance(number, int)):
            raise UserError(f"{called}: {level} is a whole number, not {described(number)}")
    weight = plain_scalar(about.weight)
    if isinstance(weight, bool) or not isinstance(weight, int | Decimal):
        raise UserError(f"{called}: weight is a finite number, not {described(about.weight)}")
    return Attribute(name, Role.QUASI_IDENTIFIER, hierarchy, about.min_level, about.max_level, Decimal(weight))


def _sensitive(columns: object) -> list[Attribute]:
    listed = []
    for name, detail in _details("sensitive", columns):
        if isinstance(detail, Shift):
            listed.append(_shifted("sensitive", name, Role.SENSITIVE, detail))
            continue
        if isinstance(detail, Labels):
            listed.append(_labelled(name, detail))
            continue
        if detail is not None and not isinstance(detail, str):
            raise _wrong("sensitive", name, detail, "the name of a hierarchy, Labels(...), Shift(...) or None")
        listed.append(Attribute(name, Role.SENSITIVE, detail))
    return listed


def _labelled(name: str, labels: Labels) -> Attribute:
    called = f"sensitive[{name!r}]"
    hierarchy, level = one_name(f"{called}: hierarchy", labels.hierarchy), labels.min_level
    if level is not None and (isinstance(level, bool) or not isinstance(level, int)):
        raise UserError(f"{called}: min_level is a whole number, not {described(level)}")
    if isinstance(labels.hide, str):
        raise UserError(f"{called}: hide is a list of nodes, not {described(labels.hide)}", hint="hide=[...]")
    nodes = tuple(labels.hide)
    if wrong := [node for node in nodes if not isinstance(node, str)]:
        raise UserError(f"{called}: a node to hide is a text, not {described(wrong[0])}")
    return Attribute(name, Role.SENSITIVE, hierarchy, min_level=level, hide=nodes)


def _insensitive(columns: object) -> list[Attribute]:
    listed = []
    for name, detail in _details("insensitive", columns):
        if isinstance(detail, Shift):
            listed.append(_shifted("insensitive", name, Role.INSENSITIVE, detail))
            continue
        if detail is not None and not isinstance(detail, SamplingWeight):
            raise _wrong("insensitive", name, detail, "Shift(...), SamplingWeight() or None")
        listed.append(Attribute(name, Role.INSENSITIVE, sampling_weight=detail is not None))
    return listed


def _shifted(argument: str, name: str, role: Role, shift: Shift) -> Attribute:
    for unit, width in (("days", shift.days), ("weeks", shift.weeks)):
        if width is not None and (isinstance(width, bool) or not isinstance(width, int)):
            raise UserError(f"{argument}[{name!r}]: {unit} is a whole number, not {described(width)}")
    if shift.key_variable is not None:
        one_name(f"{argument}[{name!r}]: key_variable", shift.key_variable)
    return Attribute(name, role, pseudonym=shift)


def _wrong(argument: str, name: str, detail: object, expected: str) -> UserError:
    return UserError(f"{argument}[{name!r}] is {described(detail)}", hint=f"give {expected}")


def _in_order(listed: tuple[Attribute, ...], order: tuple[str, ...]) -> tuple[Attribute, ...]:
    """Sorts the columns by the names in `order`. Raises UserError unless `order` names each column exactly once."""
    known = {fold(attribute.name): attribute for attribute in listed}
    for name in order:
        if fold(name) not in known:
            hint = nearest(name, [attribute.name for attribute in listed]) or "give the column a role"
            raise UserError(f"order: {name} is not a column of the policy", hint=hint)
    folded = [fold(name) for name in order]
    if len(folded) != len(listed) or len(set(folded)) != len(listed):
        raise UserError("order must name each column once", hint=f"there are {len(listed)} with a role")
    return tuple(known[name] for name in folded)


# The class for requirements of each model that comes with sqlanon.


_CLASSES: dict[str, type[Requirement]] = {
    made.MODEL: made
    for module in (models, models_of_knowledge, models_of_numbers, models_of_values)
    for made in map(vars(module).get, module.__all__)
    if made
}


def requirement_of(definition: Definition) -> Requirement:
    """Returns a requirement of the catalog or a statement as an object of its model's class."""
    return _CLASSES.get(definition.model, Requirement).of(definition)


# The Python calls that make a policy and its parts, as texts.


def policy_call(policy: Policy) -> str:
    """Returns a Python call of `Policy` that makes an equal policy."""
    require = [requirement_of(requirement) for requirement in policy.requirements]
    arguments = [
        repr(policy.name),
        f"source={_source(policy.source)}",
        *_columns(policy.attributes),
        *_keyword("require", require),
        *_keyword("confidential", list(map(list, policy.confidential))),
        *_keyword("visible", list(map(list, policy.visible))),
        *([f"against={_source(policy.against)}"] if policy.against else []),
        *([f"joined={joined_call(policy.joined)}"] if policy.joined else []),
        *([f"related=[{', '.join(map(related_call, policy.related))}]"] if policy.related else []),
        *_keyword("pivot", policy.pivot),
        *([f"sample={sample_call(policy.sample)}"] if policy.sample else []),
    ]
    return f"Policy({', '.join(arguments)})"


def related_call(table: RelatedTable) -> str:
    """Returns a Python call of `RelatedTable` that makes an equal table."""
    is_named = table.source.name is not None and table.source.name.name == table.name
    name = [] if is_named else [f"name={table.name!r}"]
    arguments = [_source(table.source), f"key={table.key!r}", *name, *_columns(table.attributes)]
    return f"RelatedTable({', '.join(arguments)})"


def joined_call(joined: JoinedRelease) -> str:
    """Returns a Python call of `JoinedRelease` that makes an equal object."""
    return f"JoinedRelease({_name(joined.release)}, on={list(joined.columns)!r})"


def sample_call(sample: Sample) -> str:
    """Returns a Python call of `Sample` that makes an equal object."""
    if sample.fraction is None:
        return f"Sample(people={sample.people})"
    return f"Sample(fraction={python_value(sample.fraction)!r})"


def _columns(attributes: Sequence[Attribute]) -> Iterator[str]:
    """Yields the arguments for the columns, and `order` if the columns are not in the order of the arguments."""
    by_role = {role: [a for a in attributes if a.role is role] for role in ROLES}
    yield from _keyword("identifiers", _with_details(by_role[Role.IDENTIFIER]))
    if entity := by_role[Role.ENTITY]:
        yield f"entity={_with_details(entity) if entity[0].pseudonym or len(entity) > 1 else entity[0].name!r}"
    yield from _keyword("quasi_identifiers", _with_details(by_role[Role.QUASI_IDENTIFIER]))
    yield from _keyword("sensitive", _with_details(by_role[Role.SENSITIVE]))
    yield from _keyword("insensitive", _with_details(by_role[Role.INSENSITIVE]))
    if [a for listed in by_role.values() for a in listed] != list(attributes):
        yield f"order={[attribute.name for attribute in attributes]!r}"


def _with_details(attributes: Iterable[Attribute]) -> object:
    """Returns the list of names, or, if an attribute has details for its role, a dict of names and details."""
    details = {attribute.name: _detail(attribute) for attribute in attributes}
    return details if any(detail is not None for detail in details.values()) else list(details)


def _detail(attribute: Attribute) -> object:
    if attribute.role is Role.SENSITIVE and attribute.hierarchy and (attribute.hide or attribute.min_level is not None):
        return Labels(attribute.hierarchy, attribute.min_level, attribute.hide)
    has_levels = attribute.min_level is not None or attribute.max_level is not None
    if has_levels or attribute.weight != 1:
        weight = python_value(attribute.weight)
        assert isinstance(weight, float | Decimal)
        return QuasiIdentifier(attribute.hierarchy, attribute.min_level, attribute.max_level, weight)
    return SamplingWeight() if attribute.sampling_weight else attribute.pseudonym or attribute.hierarchy


def _keyword(argument: str, value: object) -> list[str]:
    return [f"{argument}={value!r}"] if value else []


def _source(source: Source) -> str:
    return repr(Query(source.query or "")) if source.name is None else _name(source.name)


def _name(name: QualifiedName) -> str:
    return repr(python_value(name))
