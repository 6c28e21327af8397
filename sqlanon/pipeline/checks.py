"""CHECK: a release against the requirements it was made for, or any relation against any."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.catalog import releases
from sqlanon.catalog.names import fold
from sqlanon.catalog.snapshot import policy_of
from sqlanon.domain.policy import Role
from sqlanon.domain.release import Release
from sqlanon.domain.report import PrivacyReport
from sqlanon.engines.base import Engine
from sqlanon.errors import EngineError, PolicyError, PrivacyViolation, UserError
from sqlanon.pipeline.check import answer, report_of
from sqlanon.pipeline.publish import content_fingerprint, is_own
from sqlanon.pipeline.scratch import Scratch
from sqlanon.pipeline.source import bind_source, find_relation, own_object
from sqlanon.questions.ask import bind_requirement
from sqlanon.sqlgen.names import column, relation
from sqlanon.sqlgen.normal_relations import equivalence_class_of
from sqlanon.syntax.statements import CheckRelation

__all__ = ["check_relation", "check_release"]


def check_release(engine: Engine, release: Release) -> PrivacyReport:
    """Recomputes every requirement from the release as it is now.

    Where respondents are counted, a snapshot does not hold them: then its rows must be
    those that were checked when it was made, and that check's result stands. Raises
    PrivacyViolation if they are not, or if the object is another than the one that was
    released; UserError if it is gone.
    """
    _require_own_columns(engine, release)
    policy = policy_of(release)
    requirements = [bind_requirement(requirement) for requirement in policy.requirements]
    if policy.entity and release.kind == "table":
        if content_fingerprint(engine, release.name) != release.content_fingerprint:
            raise PrivacyViolation(
                f"{release.name} is not as it was when its respondents were counted, so nothing can be said of it",
                hint="create it again",
            )
        return PrivacyReport(tuple(releases.measurements(engine, release)))
    try:
        if policy.entity:
            _require_own_classes(engine, release)
        classes = _classes(engine, release, counted=policy.entity is not None)
        return report_of([answer(engine, requirement, classes) for requirement in requirements])
    except EngineError as error:
        raise UserError(f"{release.name} cannot be read, so nothing can be said of it: {error.message}") from None


def _require_own_columns(engine: Engine, release: Release) -> None:
    """The object still has the kind and the columns of the release: a column more is one that nobody checked."""
    found = find_relation(engine, own_object(engine, release.name))
    if found is None:
        raise UserError(
            f"the {release.kind} of the release {release.name} is gone",
            hint=f"DROP ANONYMIZED {release.kind.upper()} forgets it; CREATE OR REPLACE ANONYMIZED makes it again",
        )
    if not is_own(engine, release, found):
        raise PrivacyViolation(
            f"{release.name} is not the {release.kind} that was released: its kind or its columns are others",
            hint="create it again",
        )


def _require_own_classes(engine: Engine, release: Release) -> None:
    """A live view shows classes of just the sizes whose respondents its own relation counts."""
    shown, counted = (
        exp.select(column("size")).from_(_classes(engine, release, counted=own).subquery("equivalence_class"))
        for own in (False, True)
    )
    for more, fewer in ((shown, counted), (counted, shown)):
        others = exp.except_(more.copy(), fewer.copy(), distinct=False)
        if engine.rows(exp.select(exp.Count(this=exp.Star())).from_(others.subquery("other")))[0][0]:
            raise PrivacyViolation(
                f"{release.name} shows other classes than those whose respondents are counted", hint="create it again"
            )


def _classes(engine: Engine, release: Release, *, counted: bool) -> exp.Query:
    if counted:
        own = relation(("anon", "equivalence_class_" + release.release_id))
        return exp.select(exp.Star()).from_(own)
    quasi = [a.name for a in release.attributes if a.role is Role.QUASI_IDENTIFIER]
    return equivalence_class_of(relation(own_object(engine, release.name)), quasi)


def check_relation(engine: Engine, statement: CheckRelation) -> PrivacyReport:
    """Asks the requirements of any table, view or query, with the given columns as quasi-identifiers."""
    requirements = [bind_requirement(requirement) for requirement in statement.requirements]
    with engine.transaction(), Scratch(engine) as scratch:
        source = bind_source(engine, statement.source, scratch)
        known = {fold(name): name for name, _ in source.columns}
        for name in (*statement.quasi_identifiers, *statement.sensitive):
            if fold(name) not in known:
                raise PolicyError(
                    f"{statement.source} has no column {name}", hint=f"it has {', '.join(known.values())}"
                )
        columns = list(dict.fromkeys(known[fold(name)] for name in statement.quasi_identifiers))
        classes = equivalence_class_of(relation(source.relation), columns)
        try:
            return report_of([answer(engine, requirement, classes) for requirement in requirements])
        except EngineError as error:
            raise PolicyError(f"{statement.source} cannot be checked: {error.message}") from None
