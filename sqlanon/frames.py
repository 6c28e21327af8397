"""anonymize(): a data frame in, and the anonymized one of the same kind out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import replace
from decimal import Decimal
from itertools import groupby
from numbers import Real
from typing import Any, TypeVar, cast

from sqlglot import exp

from sqlanon.catalog import releases
from sqlanon.dispatch import run_statement
from sqlanon.domain.identifiers import fold, nearest
from sqlanon.domain.policy import Attribute, Policy, Requirement, Role
from sqlanon.domain.values import QualifiedName, Source
from sqlanon.engines.duckdb import DuckDBEngine, open_database
from sqlanon.engines.python_variables import data_frame_kind, registered_frames
from sqlanon.errors import UserError
from sqlanon.inputs.source import find_relation, qualified
from sqlanon.methods.registry import DEFAULT_OF_FRAMES
from sqlanon.releases.restored_columns import AsReturned, Restoring
from sqlanon.sqlgen.build.names import relation
from sqlanon.sqlgen.build.render import to_sql
from sqlanon.syntax.endings import statement_ending
from sqlanon.syntax.statements import CreateHierarchy, CreatePolicy, CreateRelease, MethodCall

__all__ = ["anonymize"]

_SOURCE = "data"
_RELEASE = QualifiedName(("anonymized",))
# What DuckDB calls a result of each kind.
_RESULTS = {"pandas.DataFrame": "df", "polars.DataFrame": "pl", "pyarrow.Table": "to_arrow_table"}

Frame = TypeVar("Frame")


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
    require: str | None = None,
    hierarchies: Mapping[str, str] | None = None,
    method: str = DEFAULT_OF_FRAMES,
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
    - `require`: further models, as after REQUIRE: "beta_likeness(beta => 2)".
    - `hierarchies`: how values of a column become coarser, as after AS in CREATE
      HIERARCHY: {"age": "INTERVALS (5, 10)", "zip": "PREFIXES (4, 3)"}. Without one a
      column's values are in their own order.
    - `method`: as after METHOD: "generalization(suppression => 0.02)". The default
      leaves no row out and publishes ranges, each as narrow as the rows around it allow.

    Raises UserError where `data` is no such frame, or a column or an argument is wrong, and
    PrivacyViolation where what is required cannot be met.
    """
    kind = data_frame_kind(data)
    if kind not in _RESULTS:
        raise _no_data_frame(data, kind)
    names = _column_names(data, kind)
    _require_texts(entity=entity, require=require, method=method)
    _require_mapping(hierarchies)
    roles = {
        Role.ENTITY: [entity] if entity is not None else [],
        Role.QUASI_IDENTIFIER: _listed("quasi_identifiers", quasi_identifiers),
        Role.SENSITIVE: _listed("sensitive", sensitive),
        Role.INSENSITIVE: _listed("insensitive", insensitive),
    }
    role_of = _role_of(names, roles)
    made = {_known(column, list(role_of), "hierarchies"): text for column, text in (hierarchies or {}).items()}
    if kind == "pandas.DataFrame":
        _require_known_dtypes(data, role_of)
    # Of other columns DuckDB need not know the types.
    listed = [name for name in names if name in role_of]
    restoring = Restoring(cast(Any, data)[listed], listed) if kind == "pandas.DataFrame" else AsReturned(data)
    policy = Policy(
        name=_SOURCE,
        source=Source(name=QualifiedName((_SOURCE,))),
        attributes=(
            *(
                Attribute(name, role_of[name], hierarchy=name if name in made else None)
                for name in names
                if name in role_of
            ),
            *restoring.attributes,
        ),
        requirements=_requirements(k, l, t, require),
    )
    create = CreateRelease("table", _RELEASE, _SOURCE, _method(method))
    with closing(open_database(":memory:")) as connection, registered_frames(connection, {_SOURCE: restoring.source}):
        engine = DuckDBEngine(connection)
        for name, text in made.items():
            run_statement(engine, _hierarchy(name, text))
        for statement in (CreatePolicy(policy), create):
            run_statement(engine, statement)
        if find_relation(engine, _RELEASE) is None:
            raise UserError(
                f"{method} publishes several tables, and a data frame is one",
                hint="leave method out, or make the release on a connection, sqlanon.connect()",
            )
        released = connection.sql(to_sql(exp.select(exp.Star()).from_(relation(_RELEASE))))
        columns = releases.load(engine, qualified(engine, _RELEASE)).attributes
        return cast(Frame, restoring.restored(getattr(released, _RESULTS[kind])(), columns))


def _no_data_frame(data: object, kind: str | None) -> UserError:
    hint = "give a pandas or polars DataFrame or an Arrow Table; for a table of a database write CREATE POLICY"
    if kind == "polars.LazyFrame":
        hint = "give data.collect()"
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


def _require_texts(**arguments: object) -> None:
    for argument, value in arguments.items():
        if value is not None and not isinstance(value, str):
            raise UserError(f"{argument} is a text, not a {type(value).__name__}")


def _require_mapping(hierarchies: object) -> None:
    if hierarchies is not None and not isinstance(hierarchies, Mapping):
        hint = 'write hierarchies={"age": "INTERVALS (5, 10)"}'
        raise UserError(f"hierarchies maps columns to hierarchies, and is a {type(hierarchies).__name__}", hint=hint)


def _listed(argument: str, columns: Iterable[str] | None) -> list[str]:
    """The columns of an argument, of which a single one may be named alone. Raises UserError for what is no names."""
    if columns is not None and not isinstance(columns, Iterable):
        raise UserError(f"{argument} lists names of columns, and is {columns!r}", hint=f'write {argument}=["age"]')
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


def _known(name: object, names: list[str], argument: str) -> str:
    """The column of this name. Raises UserError, with the nearest names or all of them, if there is none."""
    spelling = {fold(known): known for known in names}
    if not isinstance(name, str) or fold(name) not in spelling:
        hint = nearest(str(name), names) or f"there are: {', '.join(names)}"
        raise UserError(f"{argument}: there is no column {name}", hint=hint)
    return spelling[fold(name)]


def _requirements(k: object, l: object, t: object, require: str | None) -> tuple[Requirement, ...]:  # noqa: E741
    asked_models = (("k_anonymity", "k", k), ("l_diversity", "l", l), ("t_closeness", "t", t))
    requirements = [
        Requirement(model, ((parameter, _number(parameter, value)),))
        for model, parameter, value in asked_models
        if value is not None
    ]
    if require:
        statement = statement_ending("CREATE POLICY data ON data (data QUASI IDENTIFIER) REQUIRE", require, "require")
        requirements += cast(CreatePolicy, statement).policy.requirements
    if not requirements:
        raise UserError("nothing is required", hint="leave k out, which then is 5, or give k, l, t or require")
    return tuple(requirements)


def _number(parameter: str, value: object) -> int | Decimal:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise UserError(f"{parameter} is a number, not {value!r}")
    number = Decimal(str(value))
    if not number.is_finite():
        raise UserError(f"{parameter} is a finite number, not {value!r}")
    return int(number) if number == number.to_integral_value() else number


def _method(text: str) -> MethodCall:
    return cast(
        CreateRelease, statement_ending("CREATE ANONYMIZED TABLE data AS POLICY data METHOD", text, "method")
    ).method


def _hierarchy(name: str, text: str) -> CreateHierarchy:
    statement = cast(CreateHierarchy, statement_ending("CREATE HIERARCHY data AS", text, f"hierarchies[{name!r}]"))
    return replace(statement, definition=replace(statement.definition, name=name))
