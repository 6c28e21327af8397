"""Makes the release of a data frame or a file by statements on a database in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import starmap
from typing import Any

from sqlglot import exp

from sqlanon.catalog import releases
from sqlanon.clients.api.text_arguments import hierarchy_argument
from sqlanon.clients.frames.inputs import Input
from sqlanon.clients.frames.release import RELEASE, FrameRelease
from sqlanon.domain.numbers import counted
from sqlanon.domain.policy import Policy, Role
from sqlanon.domain.requests import MethodCall
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.engines.duckdb import DuckDBEngine, open_database, rest
from sqlanon.engines.python_variables import registered_frames
from sqlanon.errors import PrivacyViolation, SqlanonError, UserError
from sqlanon.release.pipeline.explain import printable
from sqlanon.release.remarks.wording import of_thresholds
from sqlanon.sources.catalog_entries import find_relation
from sqlanon.sources.requirements import resolve_requirements
from sqlanon.sources.source import qualified
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import is_not_null
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.queries import extend, select, subquery
from sqlanon.sql.build.render import to_sql
from sqlanon.sql.build.sql_files import query_tree
from sqlanon.statements.base import Answer
from sqlanon.statements.policies.create_policy import CreatePolicy
from sqlanon.statements.policies.profile import Profile
from sqlanon.statements.releases._short_release import looked_for
from sqlanon.statements.releases.create_release import CreateRelease
from sqlanon.statements.run import run_statement

_OF_A_FRAME = (
    "-- data is the data frame: a variable of this name where con.sql(script) is called, or a table.\n"
    "-- CHECK anonymized; EXPORT anonymized TO 'folder/'; write it out with a certificate.\n"
)
_K_IS_ONE = "k = 1 requires nothing: each row may be alone in its class; give k=5, which it is if left out, or more"


@dataclass(frozen=True)
class Wanted:
    """A release to be made: its policy, the texts of its hierarchies by name, and its method.

    `k` and `l` are the caller's numbers, for hints. `is_default_l` is set if the caller gave no l, and `is_short` if
    the caller gave no policy.
    """

    policy: Policy
    hierarchies: Mapping[str, str]
    call: MethodCall
    k: object = None
    l: object = None  # noqa: E741 - the name in the literature
    is_default_l: bool = False
    is_short: bool = False


@contextmanager
def database() -> Iterator[Any]:
    """Opens a database in memory, and closes it if the block raises an error."""
    connection = open_database(":memory:")
    try:
        yield connection
    except BaseException:
        connection.close()
        raise


def anonymized(connection: Any, data: Input, wanted: Wanted) -> tuple[Any, FrameRelease]:
    """Makes the release of open data: the rows in the same kind as the data, and the object that describes the release.

    Raises PrivacyViolation, with a hint that names requirements that can be met.
    """
    engine = DuckDBEngine(connection)
    columns = {attribute.name for attribute in wanted.policy.attributes}
    with registered_frames(connection, data.frames(columns)):
        policy = replace(wanted.policy, attributes=(*wanted.policy.attributes, *data.attributes))
        as_text: tuple[str, ...] = ()
        if wanted.is_short:
            as_text = looked_for(engine, policy, "or give a full policy: policy=sqlanon.Policy(...)", data.advice)
        create = CreateRelease("table", RELEASE, policy.name, wanted.call)
        for hierarchy in starmap(hierarchy_argument, wanted.hierarchies.items()):
            run_statement(engine, hierarchy)
        run_statement(engine, CreatePolicy(policy))
        thresholds = tuple(dict.fromkeys(of_thresholds(resolve_requirements(policy))))
        try:
            answer = run_statement(engine, create)
        except PrivacyViolation as violation:
            error = _advised(engine, data, wanted, violation)
            error.hint = "; ".join(filter(None, (*thresholds, error.hint)))
            raise error from None
        if find_relation(engine, RELEASE) is None:
            raise UserError(
                f"{wanted.call.name} publishes several tables, but a data frame is one table",
                hint="leave method out, or make the release on a connection, sqlanon.connect()",
            )
        released = connection.sql(to_sql(select(exp.Star(), of=relation(RELEASE))))
        recorded = releases.load(engine, qualified(engine, RELEASE))
        published = recorded.attributes
        # The script has to make the same release again, so it names the chosen method.
        chosen = wanted.call if wanted.call.name else MethodCall(recorded.method, recorded.method_arguments)
        statements = _statements(data, replace(wanted, call=chosen))
        positions = data.attributes[0].name if data.attributes else None
        remarks = [
            *([_K_IS_ONE] if wanted.k == 1 else []),
            *data.remarks(engine, columns),
            *data.lost_orders([a.name for a in wanted.policy.quasi_identifiers if a.hierarchy is None]),
            *as_text,
            *thresholds,
            *_remarks(answer, positions),
        ]
        unpublished = [name for name in data.names if name not in columns]
        release = FrameRelease(connection, statements, remarks, unpublished, positions, data.again(columns))
        result = data.result(released, published, release)
    rest(connection)
    return result, release


def _statements(data: Input, wanted: Wanted) -> str:
    """Returns the statements that make the release, as a script."""
    hierarchies = [hierarchy_argument(name, text).sql() for name, text in wanted.hierarchies.items()]
    create = CreateRelease("table", RELEASE, wanted.policy.name, wanted.call).sql()
    head = _OF_A_FRAME if data.source.name is not None else ""
    return head + "".join(f"{text};\n" for text in (*hierarchies, CreatePolicy(wanted.policy).sql(), create))


def _remarks(answer: Answer, positions: str | None) -> tuple[str, ...]:
    """Returns the remarks of CREATE ANONYMIZED TABLE, without remarks on the column that anonymize() added."""
    names = [name for name, _ in answer.columns]
    lines = str(answer.rows[0][names.index("remarks")] or "").splitlines() if "remarks" in names else []
    remarks = dict.fromkeys([*lines, *map(printable, answer.remarks)])
    return tuple(remark for remark in remarks if positions is None or positions not in remark)


def _advised(engine: Engine, data: Input, wanted: Wanted, violation: PrivacyViolation) -> PrivacyViolation:
    """Returns a clearer error if k exceeds the number of people, or if l exceeds the number of values of a secret
    column; otherwise returns the violation.
    """
    entity = next(wanted.policy.having(Role.ENTITY), None)
    people = _number(engine, data, None if entity is None else entity.name, nobody=entity is not None)
    if isinstance(wanted.k, int) and wanted.k > people:
        noun = "row" if entity is None else f"different {entity.name}"
        nouns = None if entity is None else f"different values of {entity.name}"
        return PrivacyViolation(
            f"k = {wanted.k} cannot be met: there {'is' if people == 1 else 'are'} {counted(people, noun, nouns)}",
            hint=f"give at most k={people}; data that protect nobody are not published",
        )
    for attribute in wanted.policy.having(Role.SENSITIVE):
        values = _number(engine, data, attribute.name)
        if isinstance(wanted.l, int | float) and wanted.l > values:
            least = "" if values == 1 else f"give at most l={values}, or "
            default = "l is 2 if it is left out; " if wanted.is_default_l else ""
            return PrivacyViolation(
                f"l = {wanted.l} cannot be met: {attribute.name} has {counted(values, 'different value')}",
                hint=f"{default}{least}leave {attribute.name} out, or ask for k alone with l=None",
            )
    return violation


def _number(engine: Engine, data: Input, name: str | None, *, nobody: bool = False) -> int:
    """Counts a column's different values, or all rows if `name` is None. NULL counts as a value unless `nobody`."""
    source = data.source
    rows = subquery(query_tree(source.query)) if source.query else relation(source.name or QualifiedName(()))
    query: exp.Query = select(exp.Star(), of=rows)
    if name is not None:
        query = select(column(name), distinct=True, of=rows)
        if nobody:
            query = extend(query, where=[is_not_null(column(name))])
    [(number,)] = engine.rows(select(f.count(), of=subquery(query, "counted")))
    return int(number)


def without_known(connection: Any, data: Input, argument: str) -> UserError:
    """Returns the error for a call without known columns; its hint has the columns that PROFILE proposes."""
    example = f'{argument}=["age", "zip"]'
    proposed: dict[str, list[str]] = {}
    with suppress(SqlanonError), registered_frames(connection, data.frames(data.names)):
        answer = run_statement(DuckDBEngine(connection), Profile(data.source))
        part, subject, proposal = (
            [name for name, _ in answer.columns].index(n) for n in ("part", "subject", "proposal")
        )
        for row in answer.rows:
            if row[part] == "column":
                proposed.setdefault(str(row[proposal]).split(maxsplit=1)[0], []).append(row[subject])
    hint = f"name the columns that others may know of a person, as in {example}"
    if known := proposed.get("QUASI"):
        secret = proposed.get("SENSITIVE", [])
        hint = f"by their names and values it might be known={known}, secret={secret}: look at each of them first"
    return UserError(f"there are no {'known columns' if argument == 'known' else argument}", hint=hint)
