"""anonymize() takes a data frame or a file and returns an anonymized data frame."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, NotRequired, Required, TypedDict, TypeVar, Unpack, overload

from sqlanon.clients.api.arguments import described, text_argument
from sqlanon.clients.api.method import Method
from sqlanon.clients.api.policy import Policy
from sqlanon.clients.api.requirements import Requirement
from sqlanon.clients.api.text_arguments import method_argument, requirement_arguments
from sqlanon.clients.frames.inputs import NAME, CsvOptions, input_of
from sqlanon.clients.frames.making import Wanted, anonymized, database, without_known
from sqlanon.domain import policy as domain
from sqlanon.domain.identifiers import fold, nearest
from sqlanon.domain.policy import K_BY_DEFAULT, L_BY_DEFAULT, Attribute, Role
from sqlanon.domain.requests import MethodCall
from sqlanon.domain.values import QualifiedName, Source
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.errors import PrivacyRemark, UserError
from sqlanon.methods.registry import find_method
from sqlanon.statements.releases._short_release import completed

if TYPE_CHECKING:
    import pandas

    from sqlanon.clients.frames.results import AnonymizedDataFrame


# The arguments of anonymize() for the roles of columns, and errors for common mistakes with them.


Columns = Iterable[str] | None
NOTHING: tuple[()] = ()

ARGUMENTS = (
    "known secret insensitive entity k l t require hierarchies method policy null encoding decimal "
    "quasi_identifiers sensitive".split()
)
# The words for known and secret columns in the literature and in other tools.
_OTHER_WORDS = {
    "known": "quasi_ids qids qid qi qis quasi quasi_identifier quasi_id keys key_vars keyvars features columns".split(),
    "secret": "sa sas sensitive_columns sensitive_attributes sensitive_attribute confidential target secrets".split(),
    "insensitive": "other others keep non_sensitive nonsensitive harmless".split(),
    "entity": "id person person_id individual subject respondent".split(),
    "null": "nulls nullstr na na_values missing missing_values".split(),
    "encoding": "charset codec codepage".split(),
    "decimal": "dec decimals decimal_separator".split(),
}
_SUPPRESSION = "suppression suppression_limit max_suppression sup suppress".split()


def refuse_further(positional: Sequence[object], named: Iterable[str]) -> None:
    """Raises UserError for arguments without a name, and for arguments with an unknown name."""
    if positional:
        names = ("known", "secret", "insensitive")
        listed_names = [_names(value) for value in positional]
        arguments = 'known=["age", "zip"], secret=["disease"]'
        if len(positional) <= len(names) and None not in listed_names:
            arguments = ", ".join(f"{name}={value}" for name, value in zip(names, listed_names, strict=False))
        raise UserError(
            "anonymize() takes only the data by position; name all other arguments",
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
    """Formats one or several names of columns as a Python list; returns None for any other value."""
    if isinstance(value, str):
        return repr([value])
    is_names = isinstance(value, Sequence) and all(isinstance(name, str) for name in value)
    return repr(list(value)) if isinstance(value, Sequence) and is_names else None


def either_of(name: str, columns: Columns, other: str, others: Columns) -> tuple[str, list[str]]:
    """Returns the columns of an argument with two names, and the name in use. Raises UserError if both are given."""
    if others is NOTHING:
        return name, listed(name, columns)
    if columns is not NOTHING:
        raise UserError(f"{name} and {other} are two names of the same argument", hint=f"leave {other} out")
    return other, listed(other, others)


def listed(argument: str, columns: Columns) -> list[str]:
    """Returns an argument's columns as a list; a text is one column. Raises UserError for other values.

    A pandas Series with a name is refused: it has the values of a column, which no error may show.
    """
    if columns is None:
        return []
    name = getattr(columns, "name", None) if type(columns).__name__ == "Series" else None
    if not isinstance(columns, Iterable) or name:
        example = repr(name) if isinstance(name, str) else '"age"'
        raise UserError(
            f"{argument} lists names of columns, and is {described(columns)}", hint=f"write {argument}=[{example}]"
        )
    return [columns] if isinstance(columns, str) else list(columns)


def _texts(argument: str, texts: object) -> tuple[str, ...]:
    """Returns an argument's texts as a tuple; a single text needs no list. Raises UserError for other values."""
    listed_texts = [texts] if isinstance(texts, str) else list(texts) if isinstance(texts, Iterable) else None
    if listed_texts is None or not all(isinstance(text, str) for text in listed_texts):
        raise UserError(f"{argument} is a text or a list of texts", hint=f'write {argument}=["?", "NA"]')
    return tuple(map(str, listed_texts))


def role_of(names: list[str], roles: Mapping[Role, tuple[str, list[str]]], index: Sequence[object]) -> dict[str, Role]:
    """Returns the role of each listed column, in the order of the data.

    `roles` maps a role to the name of its argument and to its columns. Raises UserError for an unknown column, for a
    column of a frame's `index`, and for a column that is listed twice.
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
    """Returns a policy without requirements on columns with roles, and the texts of hierarchies by their names."""
    attributes = tuple(Attribute(name, role) for name, role in role_of.items())
    policy = domain.Policy(NAME, Source(name=QualifiedName((NAME,))), attributes, ())
    if isinstance(hierarchies, str):
        return with_automatic(policy), {}
    texts = {_listed_name(column, role_of): text for column, text in (hierarchies or {}).items()}
    made = {name: text for name, text in texts.items() if not _is_auto(text)}
    policy = with_automatic(policy, [name for name in texts if name not in made])
    named = (replace(a, hierarchy=a.name) if a.name in made else a for a in policy.attributes)
    return replace(policy, attributes=tuple(named)), made


def _listed_name(column: object, role_of: Mapping[str, Role]) -> str:
    """Returns the column of a hierarchy, spelled as in the data. Raises UserError if no argument lists the column."""
    try:
        return known_name(column, list(role_of), "hierarchies")
    except UserError as error:
        if error.hint is not None and error.hint.startswith("did you mean"):
            raise
        raise UserError(
            f"hierarchies: the column {column} is not among the listed columns, {', '.join(role_of)}",
            hint=f"list it, known=[{column!r}, ...], or leave its hierarchy out",
        ) from None


def with_automatic(policy: domain.Policy, names: Collection[str] | None = None) -> domain.Policy:
    """Returns the policy with automatic hierarchies for these columns, by default for all quasi-identifiers."""
    wanted = {a.name for a in policy.quasi_identifiers} if names is None else names
    attributes = (replace(a, automatic=True) if a.name in wanted else a for a in policy.attributes)
    return replace(policy, attributes=tuple(attributes))


def by_levels(call: MethodCall) -> bool:
    """Whether the call names a method that publishes levels; such a method publishes a column without a hierarchy
    either unchanged or as *.
    """
    if not call.name:
        return False
    method = find_method(call.name)
    return method.publishes_levels(method.options(call.arguments))


def _is_auto(text: object) -> bool:
    return isinstance(text, str) and text.strip().upper() == "AUTO"


def policy_of_object(
    policy: object, names: list[str], hierarchies: Mapping[str, str] | str | None
) -> tuple[domain.Policy, dict[str, str]]:
    """Returns the policy with columns spelled as in the frame, and the texts of its hierarchies by their names.

    Raises UserError for a policy that reads other data than one table, for a column that the frame lacks, for a
    hierarchy that is missing, and for a hierarchy that the policy does not name.
    """
    if not isinstance(policy, Policy):
        raise UserError(f"policy is a Policy, not {type(policy).__name__}", hint="write policy=sqlanon.Policy(...)")
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
            f"{meant} {' and '.join(reasons)}: a frame does not support this",
            hint="run it on a connection, sqlanon.connect(), which finds data frames by their names",
        )
    attributes = tuple(replace(a, name=known_name(a.name, names, "policy")) for a in meant.attributes)
    wanted = {a.hierarchy for a in attributes if a.hierarchy is not None}
    if isinstance(hierarchies, str):
        raise UserError(
            "hierarchies must map the policy's hierarchies to their definitions",
            hint='write hierarchies={"bands": "INTERVALS (5, 10)"}',
        )
    texts = (hierarchies or {}).items()
    made = {known_name(name, sorted(wanted), "hierarchies", "hierarchy"): text for name, text in texts}
    if missing := [name for name in wanted if fold(name) not in map(fold, made)]:
        hint = f'write hierarchies={{"{missing[0]}": "INTERVALS (5, 10)"}}, as after AS in CREATE HIERARCHY'
        raise UserError(f"{meant} names the hierarchy {missing[0]}, which hierarchies lacks", hint=hint)
    return replace(meant, attributes=attributes), made


def require_hierarchies(hierarchies: object) -> None:
    """Raises UserError unless `hierarchies` is None, a mapping or "AUTO"."""
    is_auto = isinstance(hierarchies, str) and _is_auto(hierarchies)
    if hierarchies is not None and not isinstance(hierarchies, Mapping) and not is_auto:
        hint = 'write hierarchies={"age": "INTERVALS (5, 10)"}'
        raise UserError(
            f"hierarchies must map columns to hierarchies, and is a {type(hierarchies).__name__}", hint=hint
        )


def known_name(name: object, names: list[str], argument: str, what: str = "column") -> str:
    """Returns the name among `names` that matches in any case. Raises UserError, with similar names, if no name
    does.
    """
    spelling = {fold(known): known for known in names}
    if not isinstance(name, str) or fold(name) not in spelling:
        parts = [spelling.get(fold(part.strip())) for part in str(name).split(",")]
        if len(parts) > 1 and all(parts):
            raise UserError(f"{argument}: there is no {what} {name}", hint=f"write {argument}={parts}")
        hint = nearest(str(name), names) or f"there are: {', '.join(names)}"
        raise UserError(f"{argument}: there is no {what} {name}", hint=hint)
    return spelling[fold(name)]


class _NotGiven(int):
    """The type of default values that mark an argument as not given.

    Such a value equals a number, but differs from it by identity.
    """


_NOT_GIVEN_K = _NotGiven(K_BY_DEFAULT)
# The default for each secret column, if only k is required.
_NOT_GIVEN_L = _NotGiven(L_BY_DEFAULT)

Frame = TypeVar("Frame")


class _Making(TypedDict):
    hierarchies: NotRequired[Mapping[str, str] | str | None]
    method: NotRequired[str | Method | None]
    null: NotRequired[Iterable[str]]
    encoding: NotRequired[str | None]
    decimal: NotRequired[str | None]


class _Requiring(_Making):
    insensitive: NotRequired[Iterable[str] | None]
    entity: NotRequired[str | None]
    k: NotRequired[int | None]
    l: NotRequired[float | None]  # noqa: E741 - the name in the literature
    t: NotRequired[float | None]
    require: NotRequired[str | Requirement | Iterable[str | Requirement] | None]


class _Known(_Requiring):
    known: Required[Iterable[str]]
    secret: NotRequired[Iterable[str] | None]


class _QuasiIdentifiers(_Requiring):
    quasi_identifiers: Required[Iterable[str]]
    sensitive: NotRequired[Iterable[str] | None]


class _ByPolicy(_Making):
    policy: Required[Policy]


# One overload for data that come back as a pandas frame, and one for data that come back as their own kind.
@overload
def anonymize(data: pandas.DataFrame | str | PathLike[str], **arguments: Unpack[_Known]) -> AnonymizedDataFrame: ...


@overload
def anonymize(
    data: pandas.DataFrame | str | PathLike[str], **arguments: Unpack[_QuasiIdentifiers]
) -> AnonymizedDataFrame: ...


@overload
def anonymize(data: pandas.DataFrame | str | PathLike[str], **arguments: Unpack[_ByPolicy]) -> AnonymizedDataFrame: ...


@overload
def anonymize(data: Frame, **arguments: Unpack[_Known]) -> Frame: ...


@overload
def anonymize(data: Frame, **arguments: Unpack[_QuasiIdentifiers]) -> Frame: ...


@overload
def anonymize(data: Frame, **arguments: Unpack[_ByPolicy]) -> Frame: ...


def anonymize(
    data: Any,
    *further: object,
    known: Iterable[str] = NOTHING,
    secret: Iterable[str] | None = NOTHING,
    insensitive: Iterable[str] | None = NOTHING,
    entity: str | None = None,
    k: int | None = _NOT_GIVEN_K,
    l: float | None = _NOT_GIVEN_L,  # noqa: E741 - the name in the literature
    t: float | None = None,
    require: str | Requirement | Iterable[str | Requirement] | None = None,
    hierarchies: Mapping[str, str] | str | None = None,
    method: str | Method | None = None,
    policy: Policy | None = None,
    null: Iterable[str] = (),
    encoding: str | None = None,
    decimal: str | None = None,
    quasi_identifiers: Iterable[str] = NOTHING,
    sensitive: Iterable[str] | None = NOTHING,
    **others: object,
) -> Any:
    """Anonymizes data: a pandas or polars DataFrame, a polars LazyFrame, an Arrow Table, or the path of a file.

    The result has the kind of `data`; for a file, of any kind that DuckDB reads, it is a pandas DataFrame. It has the
    listed columns, in the order of `data`, and its rows are in random order. Columns that are not listed are withheld,
    and so are `entity` and the index of a pandas frame. Values of known columns become coarser until every class, the
    rows with equal values in these columns, satisfies the requirements; this is verified on the rows before they are
    returned. Secret and insensitive columns keep their values, and in pandas their dtypes. A secret column of objects,
    such as Decimals, comes back as DuckDB stores it, which may make different objects equal.

    - `known`: the quasi-identifiers: columns that others may know about a person, such as age and postal code.
    - `secret`: the sensitive attributes: columns that others must not learn about a person.
    - `insensitive`: other columns to publish.
    - `entity`: the column that identifies the person of a row, if a person has several rows.
    - `k`: the least number of people in each class; None leaves the requirement out.
    - `l`: the least number of different values of each secret column in each class. The default is 2 for secret columns
      that no other requirement protects; None leaves the requirement out.
    - `t`: the largest distance (0 to 1) between the distributions of secret values in a class and in the whole.
    - `require`: further models, as after REQUIRE: "beta_likeness(beta => 2)"; or objects: BetaLikeness(beta=2);
      or a list of such texts and objects.
    - `hierarchies`: the steps in which values of a column become coarser, as after AS in CREATE
      HIERARCHY: {"age": "INTERVALS (5, 10)", "zip": "PREFIXES (4, 3)"}. "AUTO", in place of one text or of the
      mapping, makes hierarchies that fit the values. It is the default for a `method` that publishes
      levels, and without a `method`, for the comparison of methods. Other methods put the values in
      their own order if a column has no hierarchy.
    - `method`: as after METHOD: "generalization(suppression => 0.02)"; or an object: Generalization(suppression=0.02).
      By default methods are compared and the one with the least loss is taken; some leave out up to 2 % of the rows.
    - `policy`: a Policy, in place of the arguments up to `require`. The data replace its source, the
      columns have its order, and `hierarchies` maps each hierarchy's name in the policy to its definition.
    - `null`, `encoding`, `decimal`: for a CSV file: the texts that mean a missing value, the encoding of its text, and
      the decimal separator of its numbers, as in null=["?", "NA"], encoding="latin-1", decimal=",".
    - `quasi_identifiers`, `sensitive`: other names of `known` and `secret`.

    Remaining risks are reported as warnings of the class PrivacyRemark. A pandas or polars frame has `report()`,
    `export()`, `summary`, `script` and `remarks`; for an Arrow Table, `release_of(table)` has them.

    Raises UserError for data of another kind and for a wrong column or argument, and
    PrivacyViolation if no release satisfies the requirements.

    >>> import pandas
    >>> patients = pandas.DataFrame({"age": [31, 32, 33, 34] * 3, "disease": ["Flu", "Cold", "Asthma"] * 4})
    >>> released = anonymize(patients, known=["age"], secret=["disease"], l=3)
    >>> sorted(released["age"].unique())
    ['[31, 32]', '[33, 34]']
    """
    refuse_further(further, others)
    csv_options = CsvOptions(
        _texts("null", null),
        None if encoding is None else text_argument("encoding", encoding),
        None if decimal is None else text_argument("decimal", decimal),
    )
    rows = input_of(data, csv_options)
    require_hierarchies(hierarchies)
    call = MethodCall() if method is None else method_argument(method)
    with database() as connection:
        rows.open(DuckDBEngine(connection))
        if policy is not None:
            parts = (known, secret, insensitive, entity, t, require, quasi_identifiers, sensitive)
            are_not_given = k is _NOT_GIVEN_K and l is _NOT_GIVEN_L
            if not are_not_given or any(part is not None and part is not NOTHING for part in parts):
                raise UserError(
                    "policy already has the columns and requirements, so it excludes other arguments for them",
                    hint="give policy alone",
                )
            wanted = Wanted(*policy_of_object(policy, rows.names, hierarchies), call)
        else:
            roles = {
                Role.ENTITY: ("entity", [text_argument("entity", entity)] if entity is not None else []),
                Role.QUASI_IDENTIFIER: either_of("known", known, "quasi_identifiers", quasi_identifiers),
                Role.SENSITIVE: either_of("secret", secret, "sensitive", sensitive),
                Role.INSENSITIVE: ("insensitive", listed("insensitive", insensitive)),
            }
            if not roles[Role.QUASI_IDENTIFIER][1]:
                raise without_known(connection, rows, roles[Role.QUASI_IDENTIFIER][0])
            meant, made = policy_of_roles(role_of(rows.names, roles, rows.index), hierarchies)
            # Without a method, the methods that are compared include methods that publish levels.
            if hierarchies is None and (not call.name or by_levels(call)):
                meant = with_automatic(meant)
            is_default_l = l is _NOT_GIVEN_L
            meant = replace(meant, requirements=requirement_arguments(k, None if is_default_l else l, t, require))
            if is_default_l:
                meant, _ = completed(meant)
            wanted = Wanted(meant, made, call, k, l, is_default_l, is_short=True)
        wanted = replace(wanted, policy=replace(wanted.policy, source=rows.source))
        result, release = anonymized(connection, rows, wanted)
    for remark in release.remarks:
        warnings.warn(remark, PrivacyRemark, stacklevel=2)
    return result
