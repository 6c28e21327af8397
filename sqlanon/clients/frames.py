"""anonymize(): a data frame in, and the anonymized one of the same kind out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import groupby, starmap
from typing import Any, TypeVar, cast, overload

from sqlglot import exp

from sqlanon.catalog import releases
from sqlanon.clients.api.arguments import described, text_argument
from sqlanon.clients.api.method import Method
from sqlanon.clients.api.policy import Policy
from sqlanon.clients.api.requirements import Requirement
from sqlanon.clients.api.text_arguments import hierarchy_argument, method_argument, requirement_arguments
from sqlanon.domain import policy as domain
from sqlanon.domain.calls import MethodCall
from sqlanon.domain.identifiers import fold, nearest
from sqlanon.domain.policy import Attribute, Role
from sqlanon.domain.values import QualifiedName, Source
from sqlanon.engines.duckdb import DuckDBEngine, open_database
from sqlanon.engines.python_variables import data_frame_kind, registered_frames
from sqlanon.errors import UserError
from sqlanon.methods.registry import DEFAULT_OF_FRAMES
from sqlanon.release.existing.restored_columns import AsReturned, Restoring
from sqlanon.sources.catalog_entries import find_relation
from sqlanon.sources.source import qualified
from sqlanon.sql.build.names import relation
from sqlanon.sql.build.render import to_sql
from sqlanon.statements.policies.create_policy import CreatePolicy
from sqlanon.statements.releases.create_release import CreateRelease
from sqlanon.statements.run import run_statement

_SOURCE = "data"
_RELEASE = QualifiedName(("anonymized",))
# What DuckDB calls a result of each kind.
_RESULTS = {"pandas.DataFrame": "df", "polars.DataFrame": "pl", "pyarrow.Table": "to_arrow_table"}


class _Unsaid(int):
    """A default that is told from the same number where a caller says it."""


_UNSAID_K = _Unsaid(5)
_NOTHING: tuple[()] = ()

Frame = TypeVar("Frame")


@overload
def anonymize(
    data: Frame,
    *,
    quasi_identifiers: Iterable[str],
    sensitive: Iterable[str] | None = (),
    insensitive: Iterable[str] | None = (),
    entity: str | None = None,
    k: int | None = 5,
    l: float | None = None,  # noqa: E741 - the name in the literature
    t: float | None = None,
    require: str | Requirement | Iterable[Requirement] | None = None,
    hierarchies: Mapping[str, str] | None = None,
    method: str | Method = DEFAULT_OF_FRAMES,
) -> Frame: ...


@overload
def anonymize(
    data: Frame,
    *,
    policy: Policy,
    hierarchies: Mapping[str, str] | None = None,
    method: str | Method = DEFAULT_OF_FRAMES,
) -> Frame: ...


def anonymize(
    data: Frame,
    *,
    quasi_identifiers: Iterable[str] = _NOTHING,
    sensitive: Iterable[str] | None = _NOTHING,
    insensitive: Iterable[str] | None = _NOTHING,
    entity: str | None = None,
    k: int | None = _UNSAID_K,
    l: float | None = None,  # noqa: E741 - the name in the literature
    t: float | None = None,
    require: str | Requirement | Iterable[Requirement] | None = None,
    hierarchies: Mapping[str, str] | None = None,
    method: str | Method = DEFAULT_OF_FRAMES,
    policy: Policy | None = None,
) -> Frame:
    """An anonymized copy of a data frame, of the same kind: a pandas or polars DataFrame or an Arrow Table.

    Its columns are those that are listed, in the order of `data`. Columns that are not
    listed are withheld, and so are the index of a pandas frame and `entity`. The rows are in
    random order. Values of quasi-identifiers become coarser until every class of rows
    that agree on them meets what is required, which is verified on the rows
    themselves before they are returned. Sensitive and insensitive columns keep their values, and
    in pandas their dtypes; a sensitive column of objects, such as Decimals, comes back as DuckDB has
    it, which may not tell all of them apart.

    - `quasi_identifiers`: what others may know of a person, such as age and postal code.
    - `sensitive`: what they would like to learn.
    - `insensitive`: neither, and published as well.
    - `entity`: the column that says whom a row is about, where a person has several rows.
    - `k`: at least so many people are in each class; None for no such requirement.
    - `l`: at least so many different values of each sensitive column are in each class.
    - `t`: each class has the distribution of the whole, up to this distance (0 to 1).
    - `require`: further models, as after REQUIRE: "beta_likeness(beta => 2)"; or objects: BetaLikeness(beta=2).
    - `hierarchies`: how values of a column become coarser, as after AS in CREATE
      HIERARCHY: {"age": "INTERVALS (5, 10)", "zip": "PREFIXES (4, 3)"}. Without one a
      column's values are in their own order.
    - `method`: as after METHOD: "generalization(suppression => 0.02)"; or an object: Generalization(suppression=0.02).
      The default leaves no row out and publishes ranges, each as narrow as the rows around it allow.
    - `policy`: a Policy, in place of the arguments up to `require`. The frame takes the place of its source, the
      columns come in its order, and `hierarchies` has the definition of each hierarchy that it names, by that name.

    Raises UserError where `data` is no such frame, or a column or an argument is wrong, and
    PrivacyViolation where what is required cannot be met.

    >>> import pandas
    >>> patients = pandas.DataFrame({"age": [31, 32, 33, 34] * 3, "disease": ["Flu", "Cold", "Asthma"] * 4})
    >>> released = anonymize(patients, quasi_identifiers=["age"], sensitive=["disease"], l=3)
    >>> sorted(released["age"].unique())
    ['[31, 32]', '[33, 34]']
    """
    kind = data_frame_kind(data)
    if kind not in _RESULTS:
        raise _no_data_frame(data, kind)
    names = _column_names(data, kind)
    _require_mapping(hierarchies)
    call = method_argument(method)
    if policy is not None:
        others = (quasi_identifiers, sensitive, insensitive, entity, l, t, require)
        if k is not _UNSAID_K or any(value is not None and value is not _NOTHING for value in others):
            raise UserError("a policy says what columns are and what is required", hint="give policy alone")
        meant, made = _of_policy(policy, names, hierarchies or {})
    else:
        roles = {
            Role.ENTITY: [text_argument("entity", entity)] if entity is not None else [],
            Role.QUASI_IDENTIFIER: _listed("quasi_identifiers", quasi_identifiers),
            Role.SENSITIVE: _listed("sensitive", sensitive),
            Role.INSENSITIVE: _listed("insensitive", insensitive),
        }
        role_of = _role_of(names, roles)
        in_order = {name: role_of[name] for name in names if name in role_of}
        meant, made = _of_roles(in_order, hierarchies or {})
        meant = replace(meant, requirements=requirement_arguments(k, l, t, require))
    return cast(Frame, _released(data, kind, names, meant, made, call))


def _released(
    data: Frame,
    kind: str,
    names: Sequence[str],
    policy: domain.Policy,
    hierarchies: Mapping[str, str],
    call: MethodCall,
) -> object:
    """The release of a frame of this kind, whose columns have these names, as a frame of the same kind."""
    columns = {attribute.name for attribute in policy.attributes}
    if kind == "pandas.DataFrame":
        _require_known_dtypes(data, columns)
    # Of other columns DuckDB need not know the types.
    listed = [name for name in names if name in columns]
    restoring = Restoring(cast(Any, data)[listed], listed) if kind == "pandas.DataFrame" else AsReturned(data)
    policy = replace(policy, attributes=(*policy.attributes, *restoring.attributes))
    create = CreateRelease("table", _RELEASE, policy.name, call)
    with closing(open_database(":memory:")) as connection, registered_frames(connection, {_SOURCE: restoring.source}):
        engine = DuckDBEngine(connection)
        for hierarchy in starmap(hierarchy_argument, hierarchies.items()):
            run_statement(engine, hierarchy)
        for statement in (CreatePolicy(policy), create):
            run_statement(engine, statement)
        if find_relation(engine, _RELEASE) is None:
            raise UserError(
                f"{call.name} publishes several tables, and a data frame is one",
                hint="leave method out, or make the release on a connection, sqlanon.connect()",
            )
        released = connection.sql(to_sql(exp.select(exp.Star()).from_(relation(_RELEASE))))
        published = releases.load(engine, qualified(engine, _RELEASE)).attributes
        return restoring.restored(getattr(released, _RESULTS[kind])(), published)


def _of_roles(role_of: Mapping[str, Role], hierarchies: Mapping[str, str]) -> tuple[domain.Policy, dict[str, str]]:
    """A policy that requires nothing yet, of columns with their roles, and the hierarchies of some of them."""
    made = {_known(column, list(role_of), "hierarchies"): text for column, text in hierarchies.items()}
    attributes = (Attribute(name, role, hierarchy=name if name in made else None) for name, role in role_of.items())
    return domain.Policy(_SOURCE, Source(name=QualifiedName((_SOURCE,))), tuple(attributes), ()), made


def _of_policy(
    policy: object, names: list[str], hierarchies: Mapping[str, str]
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
    attributes = tuple(replace(a, name=_known(a.name, names, "policy")) for a in meant.attributes)
    wanted = {a.hierarchy for a in attributes if a.hierarchy is not None}
    made = {_known(name, sorted(wanted), "hierarchies", "hierarchy"): text for name, text in hierarchies.items()}
    if missing := [name for name in wanted if fold(name) not in map(fold, made)]:
        hint = f'write hierarchies={{"{missing[0]}": "INTERVALS (5, 10)"}}, as after AS in CREATE HIERARCHY'
        raise UserError(f"{meant} names the hierarchy {missing[0]}, which hierarchies lacks", hint=hint)
    return replace(meant, source=Source(name=QualifiedName((_SOURCE,))), attributes=attributes), made


def _no_data_frame(data: object, kind: str | None) -> UserError:
    hint = "give a pandas or polars DataFrame or an Arrow Table; for a table of a database write CREATE POLICY"
    if kind == "polars.LazyFrame":
        hint = "give data.collect()"
    elif hasattr(data, "__arrow_c_stream__"):
        hint = "give pyarrow.table(data), an Arrow Table of its rows"
    return UserError(f"anonymize() takes a data frame, not a {type(data).__name__}", hint=hint)


def _column_names(data: Any, kind: str) -> list[str]:
    """The names of the columns. Raises UserError where there are no rows, or a name is no text or stands twice."""
    if len(data) == 0:
        raise UserError("the data frame has no rows")
    names = list(data.column_names if kind == "pyarrow.Table" else data.columns)
    for name in names:
        if not isinstance(name, str):
            raise UserError(
                f"the column {name!r} has a name that is no text",
                hint="data.columns = [str(name) for name in data.columns]",
            )
    for _, alike in groupby(sorted(names, key=fold), key=fold):
        if len(same := list(alike)) > 1:
            raise UserError(
                f"the columns {' and '.join(same)} have the same name: upper and lower case are alike",
                hint="rename one",
            )
    return names


def _require_known_dtypes(data: Any, columns: Iterable[str]) -> None:
    """Raises UserError for a column of pandas' that DuckDB has no type for."""
    for name in columns:
        dtype = str(data[name].dtype)
        if dtype.lower().startswith(("period", "interval", "sparse", "complex")):
            hint = f"give another column for it, such as data[{name!r}].astype(str)"
            raise UserError(f"the column {name} has the dtype {dtype}, which DuckDB does not read", hint=hint)


def _require_mapping(hierarchies: object) -> None:
    if hierarchies is not None and not isinstance(hierarchies, Mapping):
        hint = 'write hierarchies={"age": "INTERVALS (5, 10)"}'
        raise UserError(f"hierarchies maps columns to hierarchies, and is a {type(hierarchies).__name__}", hint=hint)


def _listed(argument: str, columns: Iterable[str] | None) -> list[str]:
    """The columns of an argument, of which a single one may be named alone. Raises UserError for what is no names."""
    if columns is not None and not isinstance(columns, Iterable):
        raise UserError(
            f"{argument} lists names of columns, and is {described(columns)}", hint=f'write {argument}=["age"]'
        )
    listed = [columns] if isinstance(columns, str) else list(columns or ())
    if argument == "quasi_identifiers" and not listed:
        raise UserError(
            "there are no quasi_identifiers",
            hint='name the columns that others may know of a person, as in quasi_identifiers=["age", "zip"]',
        )
    return listed


def _role_of(names: list[str], roles: Mapping[Role, list[str]]) -> dict[str, Role]:
    """The role of each column that is listed. Raises UserError for one that there is not, or that is listed twice."""
    role_of: dict[str, Role] = {}
    for role, listed in roles.items():
        argument = "quasi_identifiers" if role is Role.QUASI_IDENTIFIER else str(role)
        for name in listed:
            column = _known(name, names, argument)
            if column in role_of:
                raise UserError(f"the column {column} is listed twice", hint="a column has one role")
            role_of[column] = role
    return role_of


def _known(name: object, names: list[str], argument: str, what: str = "column") -> str:
    """What has this name, in any case. Raises UserError, with the nearest names or all of them, where nothing has."""
    spelling = {fold(known): known for known in names}
    if not isinstance(name, str) or fold(name) not in spelling:
        hint = nearest(str(name), names) or f"there are: {', '.join(names)}"
        raise UserError(f"{argument}: there is no {what} {name}", hint=hint)
    return spelling[fold(name)]
