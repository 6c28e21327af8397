"""CREATE ANONYMIZED ... FROM: makes the policy of the statement and its release in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from sqlanon.assess.profiling.checked_values import MissingCodes, StoredAsText
from sqlanon.assess.profiling.publishable import alphabetical, counted_as_values, looked_at
from sqlanon.catalog import migrations, policies, releases
from sqlanon.domain.context import Watching
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import ROWS_ALIKE, VALUES_OF_A_CLASS, Policy, Requirement, Role
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import DataError, PolicyError, UserError
from sqlanon.release.pipeline import run
from sqlanon.release.pipeline.stages import Plan
from sqlanon.sources.joins import with_argument_names
from sqlanon.sources.requirements import resolve_requirements
from sqlanon.sources.source import bind_source, qualified
from sqlanon.sql.build.names import literal, relation
from sqlanon.sql.build.queries import select
from sqlanon.statements.base import Answer
from sqlanon.statements.policies._automatic import drop_hierarchies, stored_policy
from sqlanon.statements.policies._saved import save_policy
from sqlanon.statements.releases.create_release import created
from sqlanon.statements.releases.create_short_release import CreateShortRelease
from sqlanon.syntax.texts import call_text, typed_name

# The most unpublished columns that are listed.
_LISTED = 10


def made_with_policy(engine: Engine, statement: CreateShortRelease, progress: Watching | None) -> Answer:
    """Stores the policy and makes the release, in one transaction.

    Returns the answer of CREATE ANONYMIZED ... AS POLICY; its first remarks are about the choices that the statement
    left to the defaults.
    """
    with engine.transaction():
        if statement.if_not_exists and _release_is_there(engine, statement):
            return created(engine, statement, progress)
        remarks = store_policy(engine, statement)
        answer = created(engine, statement, progress)
    return _with_remarks(answer, remarks)


def planned_with_policy(engine: Engine, statement: CreateShortRelease, progress: Watching | None) -> Plan:
    """Returns the plan of a release; its policy is stored for this purpose and rolled back.

    Raises UserError in a transaction of the user.
    """
    if engine.in_transaction():
        raise UserError(
            "EXPLAIN of a release that brings its policy makes both in a transaction of its own",
            hint="COMMIT or ROLLBACK the open transaction first",
        )
    plan: Plan | None = None
    try:
        with engine.transaction():
            migrations.install(engine)
            store_policy(engine, statement)
            plan = run.explain(engine, statement, progress)
            raise _Undone
    except _Undone:
        assert plan is not None
        return plan


class _Undone(Exception):
    """Ends the transaction of a dry run."""


def store_policy(engine: Engine, statement: CreateShortRelease) -> tuple[str, ...]:
    """Stores the policy of the statement with all its requirements; returns remarks on it.

    Raises PolicyError for an existing policy of the same name without OR REPLACE, or if other releases are made by it.
    Raises DataError for a source without rows.
    """
    _make_room(engine, statement)
    policy, remarks = completed(statement.definition)
    unpublished = _require_rows(engine, policy)
    in_full = f"or make a full policy, CREATE POLICY {typed_name(policy.name)} ON ..."
    as_text = looked_for(engine, policy, in_full, lambda stored: f"publish {stored.cast} in its place")
    made = save_policy(engine, policy)
    described = f"DESCRIBE POLICY {typed_name(policy.name)} AS SQL writes it out, ALTER POLICY changes it"
    return (*remarks, *made, *as_text, *unpublished, f"the policy {policy.name} was made with the release: {described}")


def _release_is_there(engine: Engine, statement: CreateShortRelease) -> bool:
    return releases.find(engine, qualified(engine, statement.name)) is not None


def _make_room(engine: Engine, statement: CreateShortRelease) -> None:
    """Deletes a policy that OR REPLACE replaces, and the hierarchies that were made only for it.

    Raises PolicyError for a policy with other releases, and without OR REPLACE.
    """
    policy = statement.definition
    if not policies.exists(engine, policy.name):
        return
    own_name = [fold(part) for part in qualified(engine, statement.name).parts]
    others = [made for made in releases.made_by(engine, policy.name) if [fold(part) for part in made.parts] != own_name]
    if others:
        raise PolicyError(
            f"the policy {policy.name} is that of {', '.join(map(str, others))}",
            hint="give the release another name, because its policy has the same name; or drop the other releases "
            "first",
            part=("release",),
        )
    if not statement.or_replace:
        name = ".".join(map(typed_name, statement.name.parts))
        of_kind = f"ANONYMIZED {statement.kind.upper()} {name}"
        form, instead = f"CREATE OR REPLACE {of_kind}", f"REFRESH ANONYMIZED TABLE {name} makes the release again"
        if not _release_is_there(engine, statement):
            instead = f"CREATE {of_kind} AS POLICY {typed_name(policy.name)} makes a release"
        raise PolicyError(
            f"the policy {policy.name} exists already",
            hint=f"write {form} FROM ... to replace it; {instead} by it as it is",
            part=("release",),
        )
    former = stored_policy(engine, policy.name)
    policies.delete(engine, policy.name)
    drop_hierarchies(engine, former, policy)


def completed(policy: Policy) -> tuple[Policy, tuple[str, ...]]:
    """Returns the policy with its default requirements added, and a remark on them."""
    requirements = tuple(map(with_argument_names, policy.requirements))
    required = requirements or (ROWS_ALIKE,)
    sensitive = [attribute.name for attribute in policy.having(Role.SENSITIVE)]
    bound = resolve_requirements(replace(policy, requirements=required))
    covered = {name for requirement in bound for name in requirement.attributes}
    lacking = [name for name in sensitive if name not in covered]
    added = tuple(_of_values(lacking, everything=len(lacking) == len(sensitive)))
    listed = ", ".join(map(call_text, (*required, *added) if not requirements else added))
    remarks: tuple[str, ...] = ()
    if not requirements:
        remarks = (f"the statement requires nothing, so the policy requires {listed}; write REQUIRE to change it",)
    elif added:
        columns = ", ".join(lacking)
        remarks = (
            f"nothing is required of {columns}, so the policy requires {listed} as well: a class could have one value "
            "otherwise; write l_diversity behind REQUIRE to change it",
        )
    return replace(policy, requirements=(*required, *added)), remarks


def _of_values(columns: Sequence[str], *, everything: bool) -> Iterator[Requirement]:
    """Yields the requirements of sensitive columns; if `everything`, one requirement for all of them."""
    if columns and everything:
        yield VALUES_OF_A_CLASS
        return
    for name in columns:
        about = ("attribute", QualifiedName((name,)))
        yield replace(VALUES_OF_A_CLASS, arguments=(*VALUES_OF_A_CLASS.arguments, about))


def _require_rows(engine: Engine, policy: Policy) -> tuple[str, ...]:
    """Raises DataError for a source without rows; returns a remark on its columns that are not published."""
    with TempTables(engine) as temp:
        source = bind_source(engine, policy.source, temp, copy=False, failed="the source cannot be read")
        first = select(literal(1), of=relation(source.relation), limit=1)
        if not engine.rows(first):
            raise DataError(
                f"{policy.source.called} has no rows: there is nothing to publish",
                hint="load it first; a policy alone is made with CREATE POLICY",
                part=("source",),
            )
        named = {attribute.name.lower() for attribute in policy.attributes}
        others = [name for name, _ in source.columns if name.lower() not in named]
    if not others:
        return ()
    more = f" and {len(others) - _LISTED} more" if len(others) > _LISTED else ""
    return (f"not published, because the statement does not name them: {', '.join(others[:_LISTED])}{more}",)


def looked_for(
    engine: Engine, policy: Policy, otherwise: str, advice: Callable[[StoredAsText | MissingCodes], str]
) -> tuple[str, ...]:
    """Returns remarks on known text columns with numbers or dates, and on codes for missing values, each with advice.

    Raises PolicyError for free text and for a sensitive column whose values identify people; `otherwise` describes a
    way to publish the column anyway. A quasi-identifier with a hierarchy of the user is not checked.
    """
    roles = {a.name: a.role for a in policy.attributes if a.hierarchy is None or a.role is Role.SENSITIVE}
    with TempTables(engine) as temp:
        source = bind_source(engine, policy.source, temp, copy=False, failed="the source cannot be read")
        looked = looked_at(engine, source.relation, source.columns, roles)
    for name, why in looked.refused:
        hint = f"leave {name} out, publish a coarser column instead, {otherwise}"
        raise PolicyError(why, hint=hint, part=("column", name))
    return (
        *(alphabetical(stored, advice(stored)) for stored in looked.as_text),
        *(counted_as_values(missing, advice(missing)) for missing in looked.codes),
    )


def _with_remarks(answer: Answer, remarks: Sequence[str]) -> Answer:
    """Returns the answer of CREATE ANONYMIZED with further remarks before its own, with one on each line of its last
    column.
    """
    rows = tuple((*row[:-1], "\n".join([*remarks, *([row[-1]] if row[-1] else [])])) for row in answer.rows)
    return replace(answer, rows=rows)
