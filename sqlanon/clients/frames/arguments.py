"""Arguments of anonymize() that say which columns are what, and the mistakes that are made with them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from sqlanon.clients.api.arguments import described
from sqlanon.clients.api.policy import Policy
from sqlanon.clients.frames.inputs import NAME
from sqlanon.domain import policy as domain
from sqlanon.domain.identifiers import fold, nearest
from sqlanon.domain.policy import Attribute, Role
from sqlanon.domain.requests import MethodCall
from sqlanon.domain.values import QualifiedName, Source
from sqlanon.errors import UserError
from sqlanon.methods.limits import CAN
from sqlanon.methods.registry import find_method

Columns = Iterable[str] | None
NOTHING: tuple[()] = ()

ARGUMENTS = (
    "known secret insensitive entity k l t require hierarchies method policy quasi_identifiers sensitive".split()
)
# The words for known and secret columns in the literature and in other tools.
_OTHER_WORDS = {
    "known": "quasi_ids qids qid qi qis quasi quasi_identifier quasi_id keys key_vars keyvars features columns".split(),
    "secret": "sa sas sensitive_columns sensitive_attributes sensitive_attribute confidential target secrets".split(),
    "insensitive": "other others keep non_sensitive nonsensitive harmless".split(),
    "entity": "id person person_id individual subject respondent".split(),
}
_SUPPRESSION = "suppression suppression_limit max_suppression sup suppress".split()


def refuse_further(positional: Sequence[object], named: Iterable[str]) -> None:
    """Raises UserError for arguments without a name, and for names that there are not."""
    if positional:
        names = ("known", "secret", "insensitive")
        listed_names = [_names(value) for value in positional]
        arguments = 'known=["age", "zip"], secret=["disease"]'
        if len(positional) <= len(names) and None not in listed_names:
            arguments = ", ".join(f"{name}={value}" for name, value in zip(names, listed_names, strict=False))
        raise UserError(
            "anonymize() takes the data, and all else by the names of arguments",
            hint=f"write anonymize(data, {arguments})",
        )
    for name in named:
        raise UserError(f"anonymize() has no argument {name}", hint=_meant(name))


def _meant(name: str) -> str:
    folded = fold(name).replace("-", "_")
    for argument, words in _OTHER_WORDS.items():
        if folded in words:
            return f"did you mean {argument}?"
    if folded in _SUPPRESSION:
        return 'it belongs to the method: method="generalization(suppression => 0.02)"'
    return nearest(name, ARGUMENTS) or f"there are: {', '.join(ARGUMENTS)}"


def _names(value: object) -> str | None:
    """Names of columns as Python writes them, None for anything else."""
    if isinstance(value, str):
        return repr([value])
    is_names = isinstance(value, Sequence) and all(isinstance(name, str) for name in value)
    return repr(list(value)) if isinstance(value, Sequence) and is_names else None


def either_of(name: str, columns: Columns, other: str, others: Columns) -> tuple[str, list[str]]:
    """The columns of an argument with two names, and the name that was used. Raises UserError where both were."""
    if others is NOTHING:
        return name, listed(name, columns)
    if columns is not NOTHING:
        raise UserError(f"{name} and {other} are one argument with two names", hint=f"leave {other} out")
    return other, listed(other, others)


def listed(argument: str, columns: Columns) -> list[str]:
    """The columns of an argument, of which a single one may be named alone. Raises UserError for what is no names."""
    if columns is not None and not isinstance(columns, Iterable):
        raise UserError(
            f"{argument} lists names of columns, and is {described(columns)}", hint=f'write {argument}=["age"]'
        )
    return [columns] if isinstance(columns, str) else list(columns or ())


def role_of(names: list[str], roles: Mapping[Role, tuple[str, list[str]]], index: Sequence[object]) -> dict[str, Role]:
    """The role of each column that is listed, in the order of the data.

    Each role has the name of its argument and the columns. Raises UserError for a column that there is not, also where
    the `index` of a frame has it, and for one that is listed twice.
    """
    listed_as: dict[str, str] = {}
    roles_by_name: dict[str, Role] = {}
    for role, (argument, columns) in roles.items():
        for name in columns:
            if name in index and fold(name) not in map(fold, names):
                raise UserError(f"{argument}: {name} is in the index", hint="give data.reset_index()")
            column = known_name(name, names, argument)
            if column in roles_by_name:
                twice = (
                    f"in {argument}" if listed_as[column] == argument else f"in {listed_as[column]} and in {argument}"
                )
                raise UserError(f"the column {column} is listed twice, {twice}", hint="a column has one role")
            roles_by_name[column], listed_as[column] = role, argument
    return {name: roles_by_name[name] for name in names if name in roles_by_name}


def policy_of_roles(
    role_of: Mapping[str, Role], hierarchies: Mapping[str, str] | str | None
) -> tuple[domain.Policy, dict[str, str]]:
    """A policy that requires nothing yet, of columns with their roles, and the hierarchies of some of them."""
    attributes = tuple(Attribute(name, role) for name, role in role_of.items())
    policy = domain.Policy(NAME, Source(name=QualifiedName((NAME,))), attributes, ())
    if isinstance(hierarchies, str):
        return with_automatic(policy), {}
    texts = {known_name(column, list(role_of), "hierarchies"): text for column, text in (hierarchies or {}).items()}
    made = {name: text for name, text in texts.items() if not _is_auto(text)}
    policy = with_automatic(policy, [name for name in texts if name not in made])
    named = (replace(a, hierarchy=a.name) if a.name in made else a for a in policy.attributes)
    return replace(policy, attributes=tuple(named)), made


def with_automatic(policy: domain.Policy, names: Collection[str] | None = None) -> domain.Policy:
    """The policy with hierarchies that fit the values of these columns, by default of all quasi-identifiers."""
    wanted = {a.name for a in policy.quasi_identifiers} if names is None else names
    attributes = (replace(a, automatic=True) if a.name in wanted else a for a in policy.attributes)
    return replace(policy, attributes=tuple(attributes))


def by_levels(call: MethodCall) -> bool:
    """Whether a method is named that publishes levels of hierarchies: a column without one is kept or a star."""
    if not call.name:
        return False
    method = find_method(call.name)
    return method.limits(method.options(call.arguments)).max_level is CAN


def _is_auto(text: object) -> bool:
    return isinstance(text, str) and text.strip().upper() == "AUTO"


def policy_of_object(
    policy: object, names: list[str], hierarchies: Mapping[str, str] | str | None
) -> tuple[domain.Policy, dict[str, str]]:
    """The policy on the frame in place of its source, and the hierarchies that it names.

    Raises UserError for one that reads more than one table, for a column that the frame lacks, and for a hierarchy that
    is not there, or that the policy does not name.
    """
    if not isinstance(policy, Policy):
        raise UserError(f"policy is a Policy, not a {type(policy).__name__}", hint="write policy=sqlanon.Policy(...)")
    meant = policy.definition
    unfit = {
        "is on a query, which the frame would take the place of": meant.source.query,
        "has tables that belong together": meant.related,
        "reads a table of all people": meant.against,
        "is joined with a release": meant.joined,
        "has a PIVOT": meant.pivot,
        "is about several tables that are published apart": meant.confidential,
    }
    if reasons := [reason for reason, part in unfit.items() if part]:
        raise UserError(
            f"{meant} {' and '.join(reasons)}: that does not go with a frame",
            hint="run it on a connection, sqlanon.connect(), which finds data frames by their names",
        )
    attributes = tuple(replace(a, name=known_name(a.name, names, "policy")) for a in meant.attributes)
    wanted = {a.hierarchy for a in attributes if a.hierarchy is not None}
    if isinstance(hierarchies, str):
        raise UserError(
            "a policy says which hierarchies there are", hint='write hierarchies={"bands": "INTERVALS (5, 10)"}'
        )
    texts = (hierarchies or {}).items()
    made = {known_name(name, sorted(wanted), "hierarchies", "hierarchy"): text for name, text in texts}
    if missing := [name for name in wanted if fold(name) not in map(fold, made)]:
        hint = f'write hierarchies={{"{missing[0]}": "INTERVALS (5, 10)"}}, as after AS in CREATE HIERARCHY'
        raise UserError(f"{meant} names the hierarchy {missing[0]}, which hierarchies lacks", hint=hint)
    return replace(meant, attributes=attributes), made


def require_hierarchies(hierarchies: object) -> None:
    """Raises UserError for hierarchies that are no mapping, and not AUTO."""
    is_auto = isinstance(hierarchies, str) and _is_auto(hierarchies)
    if hierarchies is not None and not isinstance(hierarchies, Mapping) and not is_auto:
        hint = 'write hierarchies={"age": "INTERVALS (5, 10)"}'
        raise UserError(f"hierarchies maps columns to hierarchies, and is a {type(hierarchies).__name__}", hint=hint)


def known_name(name: object, names: list[str], argument: str, what: str = "column") -> str:
    """What has this name, in any case. Raises UserError, with the nearest names or all of them, where nothing has."""
    spelling = {fold(known): known for known in names}
    if not isinstance(name, str) or fold(name) not in spelling:
        hint = nearest(str(name), names) or f"there are: {', '.join(names)}"
        raise UserError(f"{argument}: there is no {what} {name}", hint=hint)
    return spelling[fold(name)]
