"""FRONTIER: makes, measures and drops candidates of a policy one by one; only the figures stay."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from secrets import token_hex
from typing import Any

from sqlanon.catalog import frontiers, policies, workloads
from sqlanon.catalog.frontiers import Measured, lacking_text
from sqlanon.catalog.snapshot import fingerprint
from sqlanon.domain.context import Watching
from sqlanon.domain.numbers import levelled
from sqlanon.domain.policy import Policy, Role
from sqlanon.domain.release import Release
from sqlanon.domain.requests import MethodCall, ReleaseRequest
from sqlanon.domain.values import QualifiedName, Value
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import DataError, PolicyError, PrivacyViolation, UserError, about
from sqlanon.methods.registry import BASELINES, default_method
from sqlanon.release.pipeline.encode import keep_cells
from sqlanon.release.pipeline.run import candidate, encoded
from sqlanon.release.pipeline.stages import KeptCells
from sqlanon.sources.bind_policy import bind, hierarchies_of, policy_source, public_source
from sqlanon.sources.column_types import asks_of_items
from sqlanon.sources.related_tables import require_one_table
from sqlanon.sources.source import qualified, rows_identity, source_identity
from sqlanon.sql.build.names import column
from sqlanon.sql.questions.models import always_satisfied
from sqlanon.statements.base import Answer
from sqlanon.statements.frontiers._sweep import (
    UNPAID,
    Candidate,
    Figure,
    asks_requirements,
    figure_of,
    is_same_release,
    swept,
    workload_figure,
)
from sqlanon.statements.frontiers.frontier import Frontier
from sqlanon.statements.policies.alter_policy import AlterPolicy
from sqlanon.syntax.definitions import release_text
from sqlanon.syntax.texts import arguments_text, call_text

# The name of the candidate with unchanged quasi-identifiers, which is only for comparison.
INTACT = "intact"
_HEAD = (("candidate", "BIGINT"), ("method", "VARCHAR"), ("requirement", "VARCHAR"))
_TAIL = (("efficient", "BOOLEAN"), ("slope", "DOUBLE"), ("reward", "DOUBLE"), ("reason", "VARCHAR"))
# The most candidates: more take too long.
_MOST = 1000


def make_frontier(engine: Engine, statement: Frontier, progress: Watching | None = None) -> Answer:
    """Measures every candidate and stores the figures, which replace the figures of an older frontier of the same name.

    Returns a row for each candidate.

    Each candidate is a release in its own transaction, which is rolled back. A candidate that cannot be made has the
    reason instead of figures. Raises UserError inside a transaction of the user, for unknown figures, methods and
    workloads, for a parameter that belongs to no model or to several models, and if the source changes during the
    statement. Raises PolicyError for a policy with several tables or with requirements on lists.
    """
    if engine.in_transaction():
        raise UserError(
            "FRONTIER makes each candidate in a transaction of its own",
            hint="COMMIT or ROLLBACK the open transaction first",
        )
    with about("policy"):
        policy = policies.load(engine, statement.policy)
        require_one_table(policy, "FRONTIER", "its figures are of classes of rows")
    if asks_of_items(policy):
        raise PolicyError(
            f"{policy} has a requirement on items in lists, which only METHOD itemsets can satisfy",
            hint="EXPLAIN ANONYMIZED says what it would lose; require another k or m to compare",
            part=("policy",),
        )
    figures = [figure_of(call) for call in statement.figures]
    for workload in statement.workloads:
        with about("workload"):
            workloads.load(engine, workload)
        figures.append(workload_figure(workload))
    _require_distinct(figures)
    swept_candidates = swept(policy, statement.methods, statement.sweep)
    baselines = [
        replace(other, named=any(is_same_release(each, other) for each in swept_candidates))
        for other in _baselines(policy)
    ]
    compared = [_intact(policy), *baselines]
    candidates = [each for each in swept_candidates if not any(is_same_release(each, other) for other in baselines)]
    if len(candidates) > _MOST:
        raise UserError(f"these are {len(candidates)} candidates", hint=f"sweep fewer values: at most {_MOST} are made")
    mark = fingerprint(replace(policy, requirements=()), list(hierarchies_of(engine, policy).values()))
    measured = []
    total = len(candidates) + len(compared)
    name = qualified(engine, QualifiedName((f"__sqlanon_frontier_{token_hex(8)}",)))
    before = rows_of_source(engine, policy)
    with _shared(engine) as temp:
        shared_cells = cells_of_candidates(engine, candidates, name, temp)
        making = _Making(engine, name, _prepared(engine, policy, figures, temp), shared_cells)
        for number, each in enumerate([*compared, *candidates]):
            if progress:
                progress("candidates", number, total, each.method.name)
            measured.append(_measured(making, statement.name, each, number, mark))
            # A source that must be copied to be read is compared once, at the end.
            if before.is_table or number == total - 1:
                require_same_rows(engine, policy, before)
    with engine.transaction():
        frontiers.save(engine, statement.name, _levelled(measured))
    has_noise = not all(asks_requirements(each.method) for each in candidates)
    return replace(_answer(engine, statement.name), remarks=(UNPAID,) if has_noise else ())


@dataclass(frozen=True)
class _Making:
    """The inputs that all candidates share: the temporary name, the figures, and the cells that several of them use."""

    engine: Engine
    name: QualifiedName
    figures: Sequence[Figure]
    shared_cells: KeptCells


@contextmanager
def _shared(engine: Engine) -> Iterator[TempTables]:
    """Makes the tables that all candidates share; drops them at the end of the block, even after an error."""
    temp = TempTables(engine)
    try:
        yield temp
    finally:
        temp.drop()


def _prepared(engine: Engine, policy: Policy, figures: Sequence[Figure], temp: TempTables) -> list[Figure]:
    """Returns the figures, for which the parts that all candidates share are computed in advance."""
    with engine.transaction():
        return [f.prepared(engine, policy, temp) if f.prepared else f for f in figures]


def _levelled(measured: Sequence[Measured]) -> list[Measured]:
    """Returns the candidates with equal values for figures that differ only by rounding, because rounding may not
    decide which candidates are efficient.
    """
    of_figure: dict[str, list[float]] = defaultdict(list)
    for each in measured:
        for name, value in each.figures:
            of_figure[name] += [] if value is None else [value]
    levels = {name: levelled(values) for name, values in of_figure.items()}
    return [
        replace(
            each, figures=tuple((name, None if value is None else levels[name][value]) for name, value in each.figures)
        )
        for each in measured
    ]


def _measured(making: _Making, frontier: str, each: Candidate, number: int, mark: str) -> Measured:
    """Returns a candidate with its figures, and the statement that publishes it; `mark` is the policy's fingerprint."""
    compares_only = each.intact or (each.baseline and not each.named)
    if each.baseline and compares_only:
        each = _without_requirements(each)
    values, reason = _figures(making, each)
    if not asks_requirements(each.method):
        each = replace(each, policy=replace(each.policy, requirements=()))
    if reason and each.baseline:
        # A baseline that cannot be published is only for comparison.
        each, compares_only = _without_requirements(each), True
        values, reason = _figures(making, each)
    return Measured(
        number=number,
        policy=each.policy.name,
        policy_fingerprint=mark,
        method=INTACT if each.intact else each.method.name,
        arguments="" if each.intact else ", ".join(arguments_text(each.method.arguments)),
        requirement="" if compares_only else ", ".join(map(call_text, each.policy.requirements)),
        statement=None if compares_only or reason else _statement(frontier, each),
        reason=reason,
        figures=tuple(values.items()),
    )


def _answer(engine: Engine, frontier: str) -> Answer:
    candidates = frontiers.load(engine, frontier)
    slopes, rewards = frontiers.slopes(engine, frontier), frontiers.rewards(engine, frontier)
    figures = tuple((name, "DOUBLE") for name, _ in candidates[0].figures)
    rows = (
        (
            c.number,
            c.called,
            c.requirement,
            *(value for _, value in c.figures),
            c.efficient,
            slopes.get(c.number),
            rewards.get(c.number),
            c.reason,
        )
        for c in candidates
    )
    return Answer((*_HEAD, *figures, *_TAIL), tuple(rows))


def _statement(frontier: str, each: Candidate) -> str:
    """Writes the statements that publish a candidate under the name of the frontier: ALTER POLICY if it has
    requirements, and CREATE.
    """
    name, policy = QualifiedName((frontier,)), each.policy
    require = AlterPolicy(policy.name, "require", requirements=policy.requirements)
    request = ReleaseRequest("table", name, policy.name, each.method)
    texts = [*([require.sql()] if policy.requirements else []), release_text(request)]
    return "".join(f"{text};\n" for text in texts).rstrip()


def _require_distinct(figures: Sequence[Figure]) -> None:
    names = [figure.name for figure in figures]
    if twice := [name for name in names if names.count(name) > 1]:
        with about("figures", twice[0]):
            raise UserError(f"{twice[0]} is measured twice", hint=f"keep one {twice[0]}")


def _intact(policy: Policy) -> Candidate:
    """Returns the candidate that changes nothing: it has no minimum levels, and a requirement that every row
    satisfies.
    """
    return _without_requirements(Candidate(MethodCall(default_method(policy)), policy, intact=True))


def _baselines(policy: Policy) -> list[Candidate]:
    """Returns candidates for comparison that disclose nothing about a person; empty if the policy has no sensitive
    attribute.
    """
    if not any(policy.having(Role.SENSITIVE)):
        return []
    return [Candidate(MethodCall(name, arguments), policy, baseline=True) for name, arguments in BASELINES]


def _without_requirements(each: Candidate) -> Candidate:
    # Labels of sensitive values stay, because a candidate must not show values in place of labels.
    attributes = tuple(a if a.is_coarse else replace(a, min_level=None) for a in each.policy.attributes)
    policy = replace(each.policy, requirements=(always_satisfied(),), against=None, joined=None, attributes=attributes)
    return replace(each, policy=policy)


@contextmanager
def _rolled_back(engine: Engine) -> Iterator[None]:
    """Rolls back the transaction of the block at its end."""
    try:
        with engine.transaction():
            yield
            raise _Undone
    except _Undone:
        pass


class _Undone(Exception):
    """Ends a transaction without a commit."""


def _figures(making: _Making, each: Candidate) -> tuple[dict[str, float | None], str | None]:
    """Makes and measures a candidate, and rolls it back; returns its figures, and the reason if some are missing."""
    engine = making.engine
    values: dict[str, float | None] = dict.fromkeys(figure.name for figure in making.figures)
    create = ReleaseRequest("table", making.name, each.policy.name, each.method)
    try:
        with _rolled_back(engine):
            release = candidate(engine, create, each.policy, making.shared_cells)
            reason = _measure(engine, release, making.figures, values)
    except (PolicyError, PrivacyViolation) as error:
        return values, error.message.replace(str(making.name), "the candidate")
    return values, reason


def _measure(
    engine: Engine, release: Release, figures: Sequence[Figure], values: dict[str, float | None]
) -> str | None:
    why: dict[str, str] = {}
    for figure in figures:
        reached = figure.measure(engine, release)
        values[figure.name] = None if isinstance(reached, str) else reached
        if isinstance(reached, str):
            why[figure.name] = reached
    return lacking_text(values, why)


def cells_of_candidates(
    engine: Engine, candidates: Sequence[Candidate], name: QualifiedName, temp: TempTables
) -> KeptCells:
    """Encodes the cells of candidates that differ only in numbers, in tables that live as long as `temp`.

    `name` is the name of a candidate. Candidates that cannot be encoded are skipped; the reason is reported when the
    candidate is made.
    """
    shared_cells: KeptCells = {}
    alike: dict[object, list[Candidate]] = defaultdict(list)
    for each in candidates:
        alike[_shape(each)].append(each)
    for first, *others in alike.values():
        if not others:
            continue
        create = ReleaseRequest("table", name, first.policy.name, first.method)
        with suppress(PolicyError, PrivacyViolation), engine.transaction():
            keep_cells(encoded(engine, create, first.policy, temp, shared_cells))
    return shared_cells


def _shape(each: Candidate) -> object:
    """Returns equal keys for candidates that probably use the same cells.

    The key only selects candidates for which shared cells are worthwhile; the exact comparison is made for each
    candidate.
    """
    method, policy = each.method, each.policy
    requirements = tuple((r.model, _without_numbers(r.arguments)) for r in policy.requirements)
    of_method = (method.name, _without_numbers(method.arguments), method.sets, method.columns, method.each_apart)
    return policy.attributes, requirements, of_method


def _without_numbers(arguments: Iterable[tuple[str, Value]]) -> tuple[tuple[str, Value], ...]:
    return tuple((name, "" if isinstance(value, int | float | Decimal) else value) for name, value in arguments)


@dataclass(frozen=True)
class SourceRows:
    """The identity of the rows that a policy reads; `is_table` is true if they are read without a copy.

    `identity` is None for a source that cannot be read; the figures of each candidate then have the reason.
    """

    identity: Sequence[Any] | None
    is_table: bool = False


def rows_of_source(engine: Engine, policy: Policy) -> SourceRows:
    """Returns the current identity of the rows of the policy's source, and of its public table if it has one."""
    try:
        with engine.transaction(), TempTables(engine) as temp:
            hierarchies = hierarchies_of(engine, policy)
            source = policy_source(engine, policy, temp)
            bound = bind(replace(policy, requirements=(), against=None), source, hierarchies, fingerprint="")
            identity = source_identity(engine, bound, bound.attributes, hierarchies)
            public = public_source(engine, policy, temp)
            if public is not None:
                columns = [column(name) for name, _ in public.columns]
                identity = (*identity, *rows_identity(engine, public.relation, columns))
            return SourceRows(identity, bound.live)
    except (DataError, PolicyError):
        return SourceRows(None)


def require_same_rows(engine: Engine, policy: Policy, before: SourceRows) -> None:
    """Raises UserError if the rows have changed."""
    if rows_of_source(engine, policy).identity != before.identity:
        raise UserError(
            f"the rows of {policy} changed while its candidates were made, so the candidates cannot be compared",
            hint="run it again while nobody writes to them; of rows that change all the time, or at each reading as a "
            "random sample does, make a table first, CREATE TABLE name AS FROM ..., and a policy on that",
        )
