"""anonymize(): a data frame or a file in, an anonymized data frame out."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, NotRequired, Required, TypedDict, TypeVar, Unpack, overload

from sqlanon.clients.api.arguments import text_argument
from sqlanon.clients.api.method import Method
from sqlanon.clients.api.policy import Policy
from sqlanon.clients.api.requirements import Requirement
from sqlanon.clients.api.text_arguments import method_argument, requirement_arguments
from sqlanon.clients.frames.arguments import (
    NOTHING,
    by_levels,
    either_of,
    listed,
    policy_of_object,
    policy_of_roles,
    refuse_further,
    require_hierarchies,
    role_of,
    with_automatic,
)
from sqlanon.clients.frames.inputs import input_of
from sqlanon.clients.frames.making import Wanted, anonymized, database, without_known
from sqlanon.domain.policy import Role
from sqlanon.domain.requests import MethodCall
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.errors import PrivacyRemark, UserError
from sqlanon.statements.releases._short_release import completed

if TYPE_CHECKING:
    import pandas

    from sqlanon.clients.frames.results import AnonymizedDataFrame


class _Unsaid(int):
    """A default that is told from the same number where a caller says it."""


_UNSAID_K = _Unsaid(5)
# Of each secret column, where k alone is required.
_UNSAID_L = _Unsaid(2)

Frame = TypeVar("Frame")


class _Making(TypedDict):
    hierarchies: NotRequired[Mapping[str, str] | str | None]
    method: NotRequired[str | Method | None]


class _Requiring(_Making):
    insensitive: NotRequired[Iterable[str] | None]
    entity: NotRequired[str | None]
    k: NotRequired[int | None]
    l: NotRequired[float | None]  # noqa: E741 - the name in the literature
    t: NotRequired[float | None]
    require: NotRequired[str | Requirement | Iterable[Requirement] | None]


class _Known(_Requiring):
    known: Required[Iterable[str]]
    secret: NotRequired[Iterable[str] | None]


class _QuasiIdentifiers(_Requiring):
    quasi_identifiers: Required[Iterable[str]]
    sensitive: NotRequired[Iterable[str] | None]


class _ByPolicy(_Making):
    policy: Required[Policy]


# Once for data of which a pandas frame is made, and once for those that come back as the kind that they are.
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
    k: int | None = _UNSAID_K,
    l: float | None = _UNSAID_L,  # noqa: E741 - the name in the literature
    t: float | None = None,
    require: str | Requirement | Iterable[Requirement] | None = None,
    hierarchies: Mapping[str, str] | str | None = None,
    method: str | Method | None = None,
    policy: Policy | None = None,
    quasi_identifiers: Iterable[str] = NOTHING,
    sensitive: Iterable[str] | None = NOTHING,
    **others: object,
) -> Any:
    """An anonymized copy of data: a pandas or polars DataFrame, a polars LazyFrame, an Arrow Table, or a file's path.

    The kind that went in comes out; of a file, which may be any that DuckDB reads, a pandas DataFrame.
    Its columns are those that are listed, in the order of `data`. Columns that are not
    listed are withheld, and so are the index of a pandas frame and `entity`. The rows are in
    random order. Values of known columns become coarser until every class of rows
    that agree on them meets what is required, which is verified on the rows
    themselves before they are returned. Secret and insensitive columns keep their values, and
    in pandas their dtypes; a secret column of objects, such as Decimals, comes back as DuckDB has
    it, which may not tell all of them apart.

    - `known`: what others may know of a person, such as age and postal code: the quasi-identifiers.
    - `secret`: what they would like to learn: the sensitive attributes.
    - `insensitive`: neither, and published as well.
    - `entity`: the column that says whom a row is about, where a person has several rows.
    - `k`: at least so many people are in each class; None for no such requirement.
    - `l`: at least so many different values of each secret column are in each class. If it is left out, it is 2 for
      the secret columns of which nothing else is required; None for no such requirement.
    - `t`: each class has the distribution of the whole, up to this distance (0 to 1).
    - `require`: further models, as after REQUIRE: "beta_likeness(beta => 2)"; or objects: BetaLikeness(beta=2).
    - `hierarchies`: how values of a column become coarser, as after AS in CREATE
      HIERARCHY: {"age": "INTERVALS (5, 10)", "zip": "PREFIXES (4, 3)"}. "AUTO" in place of a text, or of
      all, is one that fits the values; a `method` that publishes levels takes it where `hierarchies` is left out. Other
      methods put the values in their own order without one.
    - `method`: as after METHOD: "generalization(suppression => 0.02)"; or an object: Generalization(suppression=0.02).
      By default the method that loses least of those that compete; some leave out up to 2 % of the rows.
    - `policy`: a Policy, in place of the arguments up to `require`. The data take the place of its source, the
      columns come in its order, and `hierarchies` has the definition of each hierarchy that it names, by that name.
    - `quasi_identifiers`, `sensitive`: other names of `known` and `secret`.

    What the release leaves open is a warning of the class PrivacyRemark. A frame of pandas or polars has `report()`,
    `summary`, `script` and `remarks`; `release_of(table)` has them for an Arrow Table.

    Raises UserError where `data` is none of these, or a column or an argument is wrong, and
    PrivacyViolation where what is required cannot be met.

    >>> import pandas
    >>> patients = pandas.DataFrame({"age": [31, 32, 33, 34] * 3, "disease": ["Flu", "Cold", "Asthma"] * 4})
    >>> released = anonymize(patients, known=["age"], secret=["disease"], l=3)
    >>> sorted(released["age"].unique())
    ['[31, 32]', '[33, 34]']
    """
    refuse_further(further, others)
    rows = input_of(data)
    require_hierarchies(hierarchies)
    call = MethodCall() if method is None else method_argument(method)
    with database() as connection:
        rows.open(DuckDBEngine(connection))
        if policy is not None:
            parts = (known, secret, insensitive, entity, t, require, quasi_identifiers, sensitive)
            are_unsaid = k is _UNSAID_K and l is _UNSAID_L
            if not are_unsaid or any(part is not None and part is not NOTHING for part in parts):
                raise UserError("a policy says what columns are and what is required", hint="give policy alone")
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
            if hierarchies is None and by_levels(call):
                meant = with_automatic(meant)
            is_default_l = l is _UNSAID_L
            meant = replace(meant, requirements=requirement_arguments(k, None if is_default_l else l, t, require))
            if is_default_l:
                meant, _ = completed(meant)
            wanted = Wanted(meant, made, call, k, l, is_default_l)
        wanted = replace(wanted, policy=replace(wanted.policy, source=rows.source))
        result, release = anonymized(connection, rows, wanted)
    for remark in release.remarks:
        warnings.warn(remark, PrivacyRemark, stacklevel=2)
    return result
