"""Chooses the method of a statement that names none: the capable method with the least loss.

Each method is tried up to its choice. Methods that publish a whole column as `*` are considered only if all methods do.
Among the methods whose error of random counts is near the least, the one with the least loss is chosen; if several
losses are equal, the first method of the registry. A large source is represented by a sample, which is used only for
the choice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from random import Random
from typing import TYPE_CHECKING, Any, TypeAlias

from sqlglot import exp

from sqlanon.catalog.hierarchies import StoredHierarchy
from sqlanon.domain.context import Adjustable
from sqlanon.domain.explanation import Choice
from sqlanon.domain.policy import Policy
from sqlanon.domain.release import Comparison, Contender
from sqlanon.domain.requests import MethodCall
from sqlanon.domain.values import QualifiedName
from sqlanon.domain.workload import FEW, WorkloadOptions
from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError, PrivacyViolation, SqlanonError
from sqlanon.methods.registry import competing, find_method
from sqlanon.methods.shared.spans import high_name, low_name, null_name, ranked_values, spans_of_levels, spans_of_ranks
from sqlanon.methods.shared.task import Cells, rows_of_source
from sqlanon.release.pipeline.encode import encode_stage
from sqlanon.release.pipeline.kept_method import call_of, former_choice
from sqlanon.release.pipeline.limits import require_within
from sqlanon.release.pipeline.stages import Bound, Compared, Encoded, Requested
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import ascending, if_, infix, is_null, paren
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.build.queries import extend, select
from sqlanon.sql.cells.cells import rank_name, row_number
from sqlanon.sql.questions.ask import BoundRequirement

if TYPE_CHECKING:
    from numpy.typing import NDArray


# The error of counts: random queries, answered from the labels of a release that is not made yet.
#
# A query counts the rows with some values of up to four quasi-identifiers, chosen as by CREATE WORKLOAD: a range of a
# column with many values, a list for a column with few. It would count about 5 % of the rows if columns were
# independent. The estimate assumes that the values below a label are equally frequent. No query has a condition on a
# sensitive attribute, so the choice of a method depends on sensitive values only as far as the labels do.


# The ranks that a query names, in ascending order, by the index of the quasi-identifier.
Predicates: TypeAlias = "Mapping[int, NDArray[Any]]"

# Predicates on a column with more values are ranges, as those of a workload.
_LISTED = 100
# Queries that count fewer rows are not compared, because a single row would dominate their relative error.
FEWEST = 5
# With fewer rows most queries would count too few rows.
LEAST_ROWS = 100
# The same queries for the same source: nothing secret depends on them.
SEED = 1


@dataclass(frozen=True)
class Axis:
    """The values of a quasi-identifier in their order.

    `known[r]` is the number of values other than NULL with a rank below r, `size` is the number of all values, and
    `occurring` has the ranks of the values in the source.
    """

    known: NDArray[Any]
    size: int
    occurring: NDArray[Any]


def axes_of(engine: Engine, ranks: Sequence[str]) -> list[Axis]:
    """Reads the axis of each table of `value_ranks.ranked`."""
    import numpy as np

    axes: list[Axis] = []
    for table in ranks:
        is_known = alias(if_(is_null(column("value")), 0, column("leaf")), "known")
        query = select(is_known, column("leaf"), column("n"), of=relation(table))
        arrays = engine.arrays(extend(query, order_by=[ascending(column(rank_name(0)))]))
        known, leaves, rows = (np.asarray(arrays[name], dtype=np.int64) for name in ("known", "leaf", "n"))
        below = np.concatenate(([0], np.cumsum(known)))
        axes.append(Axis(below, int(leaves.sum()), np.flatnonzero((known > 0) & (rows > 0))))
    return axes


def drawn_queries(axes: Sequence[Axis], count: int, seed: int = SEED) -> list[Predicates]:
    """Returns the predicates of `count` random queries; empty if no quasi-identifier has a value."""
    options, draw = WorkloadOptions(), Random(seed)
    indexes = [index for index, axis in enumerate(axes) if len(axis.occurring)]
    if not indexes:
        return []
    width = min(len(indexes), FEW)
    queries: list[Predicates] = []
    for _ in range(count):
        of_query = sorted(draw.sample(indexes, width))
        queries.append({index: _drawn_values(axes[index].occurring, options, width, draw) for index in of_query})
    return queries


def _drawn_values(values: NDArray[Any], options: WorkloadOptions, width: int, draw: Random) -> NDArray[Any]:
    """Selects some of the values at random: adjacent values of a column with many values, any values of a column with
    few.
    """
    named = options.values(len(values), width)
    if len(values) > _LISTED:
        first = draw.randrange(len(values) - named + 1)
        return values[first : first + named]
    return values[sorted(draw.sample(range(len(values)), named))]


Spans: TypeAlias = "Mapping[str, NDArray[Any]]"


def spans_of(engine: Engine, query: exp.Query) -> Spans:
    """Reads spans as arrays: low, high and null of each quasi-identifier's label, and `n`, the number of rows."""
    import numpy as np

    return {name: np.asarray(values, dtype=np.int64) for name, values in engine.arrays(query).items()}


def counts(spans: Spans, axes: Sequence[Axis], queries: Sequence[Predicates], suppressed: int = 0) -> NDArray[Any]:
    """Estimates the answer of each query from spans; `suppressed` rows may have any values."""
    import numpy as np

    rows = spans["n"].astype(np.float64)
    answers: list[float] = []
    sizes = _sizes(spans, axes)
    for predicates in queries:
        share = rows.copy()
        anywhere = float(suppressed)
        for index, named in predicates.items():
            axis = axes[index]
            is_named = np.zeros(len(axis.known), dtype=np.int64)
            is_named[named + 1] = 1
            share *= _below(np.cumsum(is_named), spans, index) / np.maximum(sizes[index], 1)
            anywhere *= len(named) / axis.size
        answers.append(float(share.sum()) + anywhere)
    return np.array(answers)


def _sizes(spans: Spans, axes: Sequence[Axis]) -> list[NDArray[Any]]:
    """Counts, for each quasi-identifier, the values below each label, including NULL."""
    return [_below(axis.known, spans, index) + spans[null_name(index)] for index, axis in enumerate(axes)]


def stars_a_column(spans: Spans, axes: Sequence[Axis]) -> bool:
    """Whether a quasi-identifier with several values has a label above all of them in every class."""
    of_columns = zip(_sizes(spans, axes), axes, strict=True)
    return any(axis.size > 1 and bool((below == axis.size).all()) for below, axis in of_columns)


def _below(cumulated: NDArray[Any], arrays: Mapping[str, NDArray[Any]], index: int) -> NDArray[Any]:
    """Counts the values of a set that are below each label; `cumulated[r]` is the number of its values with a rank
    below r.
    """
    below: NDArray[Any] = cumulated[arrays[high_name(index)] + 1] - cumulated[arrays[low_name(index)]]
    return below.clip(min=0)


def mean_error(actual: NDArray[Any], estimated: NDArray[Any]) -> float | None:
    """Returns the mean of |estimate - actual| / actual over the queries that count enough rows; None if no query
    does.
    """
    import numpy as np

    counted = actual >= FEWEST
    if not counted.any():
        return None
    error = np.abs(estimated[counted] - actual[counted]) / actual[counted]
    # Sums of floating-point numbers depend on the order of the rows in their last digits.
    return round(float(error.mean()), 9)


@dataclass(frozen=True)
class Sizes:
    """The limits of the comparison.

    For a source with more than `rows` rows, a sample of about `sampled` rows is used. `seed` makes the `queries` of the
    error the same each time. Errors up to `near` times the least error count as equal.
    """

    rows: int = 5_000_000
    sampled: int = 500_000
    queries: int = 100
    seed: int = SEED
    near: float = 1.2


sizes = Adjustable(Sizes())


# ---- stage 2: the methods that can do the task


def contenders_of(
    requested: Requested,
    policy: Policy,
    hierarchies: Mapping[str, StoredHierarchy],
    requirements: Sequence[BoundRequirement],
) -> tuple[Contender, ...]:
    """Returns the methods that compete for a statement; a method that cannot do the task has the reason.

    The result is empty if the statement names a method, or if the method must not depend on the current rows: in a
    series, with fixed levels, for several tables, and for rows on Spark.
    """
    create = requested.create
    fixed = bool(create.method.name or create.series or requested.leveled)
    if fixed or policy.related or requested.engine.distributed:
        if create.choose_method:
            raise _nothing_to_choose(requested, policy)
        return ()
    contenders: list[Contender] = []
    for method, calls in competing():
        for arguments in calls:
            call = MethodCall(method.name, tuple(arguments))
            limits = method.limits_with_levels(method.options(arguments))
            by_method = replace(create, method=call)
            try:
                require_within(limits, by_method, policy, hierarchies, requirements, on_spark=False)
                contenders.append(Contender(call))
            except PolicyError as error:
                contenders.append(Contender(call, refused=error.message))
    return tuple(contenders)


def _nothing_to_choose(requested: Requested, policy: Policy) -> PolicyError:
    create = requested.create
    where = "where the rows are on Spark" if requested.engine.distributed else f"of {policy}, which has related tables"
    if create.series:
        where = f"in the series {create.series}, whose releases have the method that they are given"
    return PolicyError(
        f"CHOOSE METHOD compares methods, and there is nothing to compare {where}",
        hint="leave CHOOSE METHOD out, or name a method: CREATE OR REPLACE ANONYMIZED TABLE ... METHOD ...",
        part=("method",),
    )


# ---- after stage 3: their losses


@dataclass
class _Tried:
    """A contender with its cells and choice, or with its error.

    `starred` is true if it publishes a whole column as `*`, or as labels that are as uninformative.
    """

    contender: Contender
    encoded: Encoded | None = None
    choice: Choice | None = None
    error: SqlanonError | None = None
    starred: bool = False


def compare_stage(bound: Bound) -> Compared:
    """Chooses the method of a statement that names none, or keeps the method chosen for the replaced release.

    Raises the first method's error if all methods refuse.
    """
    contenders, requested = bound.resolved.contenders, bound.resolved.requested
    replaced = requested.replaced.comparison if requested.replaced is not None else None
    if not contenders:
        return Compared(replace(bound, kept_comparison=replaced) if requested.refreshing else bound)
    former, recompared = former_choice(bound)
    if former is not None:
        by_former = _Tried(former)
        _choose(bound, [by_former], None)
        if by_former.encoded is not None:
            by_kept_method = replace(_with_method(bound, former.call), kept_comparison=replaced)
            return Compared(by_kept_method, replace(by_former.encoded, bound=by_kept_method, choice=by_former.choice))
        recompared = f"{call_of(former)} was refused: {by_former.contender.refused}"
    bound = replace(bound, recompared=recompared)
    if sum(contender.refused is None for contender in contenders) == 1:
        sole = (_sole(contender) if contender.refused is None else contender for contender in contenders)
        return Compared(replace(bound, comparison=Comparison(tuple(sole))))
    rows = rows_of_source(bound.engine, bound.policy)
    sample = _sample(bound, rows) if rows > sizes().rows else None
    compared = bound if sample is None else _reading(bound, sample)
    tried = _tried(compared, contenders)
    able = [each for each in tried if each.choice is not None]
    if not able:
        if sample is None:
            raise next(each.error for each in tried if each.error is not None)
        # The sample may be too small for the requirements although the whole source is not.
        return Compared(replace(bound, comparison=_first_of(contenders)))
    _measure(compared, able)
    best = _best(able)
    best.contender = replace(best.contender, why=_reason_for_choice(best, able))
    number = None if sample is None else rows_of_source(bound.engine, compared.policy)
    comparison = Comparison(tuple(each.contender for each in tried), number)
    chosen = replace(_with_method(bound, best.contender.call), comparison=comparison)
    if sample is not None or best.encoded is None:
        return Compared(chosen)
    return Compared(chosen, replace(best.encoded, bound=chosen, choice=best.choice))


def _sole(contender: Contender) -> Contender:
    return replace(contender, why="no other can do what is asked")


def _first_of(contenders: Sequence[Contender]) -> Comparison:
    """Returns a comparison without figures, which chooses the first method that can do the task."""
    first = next(contender for contender in contenders if contender.refused is None)
    why = "a sample has too few rows to compare by, and it is the first"
    return Comparison(tuple(replace(each, why=why) if each is first else each for each in contenders))


def _with_method(bound: Bound, call: MethodCall) -> Bound:
    """Returns the bound statement with this method."""
    options = find_method(call.name, bound.engine).options(call.arguments)
    resolved = replace(bound.resolved, create=replace(bound.create, method=call), options=options)
    return replace(bound, resolved=resolved)


def _sample(bound: Bound, rows: int) -> QualifiedName:
    """Makes a table of about `sampled` rows, with all rows of a respondent or none.

    Numbers of rows or respondents are hashed, so the same source has the same sample for any number of threads.
    """
    entity = bound.policy.entity
    of_whom = column(entity.column, "source") if entity is not None else row_number()
    one_in = max(rows // sizes().sampled, 1)
    drawn = infix(paren(infix(f.call("hash", of_whom), "%", one_in)), "=", 0)
    query = select(exp.Star(), of=relation(bound.policy.relation, as_="source"), where=[drawn])
    return QualifiedName((bound.temp.table("sample", query),))


def _reading(bound: Bound, sample: QualifiedName) -> Bound:
    return replace(bound, policy=replace(bound.policy, relation=sample))


def _tried(bound: Bound, contenders: Sequence[Contender]) -> list[_Tried]:
    """Tries each contender; the contenders of one method make their choices together."""
    tried: list[_Tried] = []
    progress = bound.resolved.requested.progress
    for _, group in groupby(contenders, key=lambda contender: contender.call.name):
        of_method = [_Tried(contender) for contender in group]
        tried += of_method
        able = [each for each in of_method if each.contender.refused is None]
        if not able:
            continue
        if progress:
            progress("compare", len(tried) - len(of_method), len(contenders), able[0].contender.call.name)
        _choose(bound, able, next((each.encoded for each in tried if each.encoded is not None), None))
    return tried


def _choose(bound: Bound, able: Sequence[_Tried], beside: Encoded | None) -> None:
    """Makes and stores the choices of one method, for each of its contenders; an error becomes a contender's refusal.

    `beside` has the cells of a method that was tried before.
    """
    by_method = _with_method(bound, able[0].contender.call)
    method = by_method.method
    try:
        encoded = encode_stage(by_method, beside)
        options = [method.options(each.contender.call.arguments) for each in able]
        choices = method.choices(encoded.task, options)
    except (PolicyError, PrivacyViolation) as error:
        for each in able:
            each.contender, each.error = replace(each.contender, refused=error.message), error
        return
    for each, choice in zip(able, choices, strict=True):
        each.encoded, each.choice = encoded, choice
        each.contender = replace(each.contender, loss=choice.loss, suppressed=choice.suppressed)


# ---- the error of counts


def _measure(bound: Bound, able: Sequence[_Tried]) -> None:
    """Measures, if there are several contenders, whether each publishes a whole column as `*`, and its error of counts.

    A source with few rows has no error of counts.
    """
    rows = max(each.choice.rows for each in able if each.choice is not None)
    cells = [each.encoded.cells for each in able if each.encoded is not None and each.encoded.cells is not None]
    if len(able) < 2 or not bound.policy.quasi_identifiers:
        return
    # Cells whose codes are ranks give a row's values directly.
    source = next((each for each in cells if each.ranked), cells[0])
    ranks = ranked_values(bound.policy, source, bound.temp)
    axes = axes_of(bound.engine, ranks)
    queries = drawn_queries(axes, sizes().queries, sizes().seed) if rows >= LEAST_ROWS else []
    actual = counts(spans_of(bound.engine, _rows(bound, source, ranks)), axes, queries) if queries else None
    for each in able:
        assert each.encoded is not None and each.choice is not None
        task = each.encoded.task
        spans = spans_of(task.engine, each.encoded.bound.method.spans(task, each.choice, ranks))
        each.starred = stars_a_column(spans, axes)
        if actual is not None:
            estimated = counts(spans, axes, queries, each.choice.suppressed)
            each.contender = replace(each.contender, error=mean_error(actual, estimated))


def _rows(bound: Bound, cells: Cells, ranks: Sequence[str]) -> exp.Query:
    if cells.ranked:
        return spans_of_ranks(bound.policy, cells, ranks)
    ground = [0] * len(bound.policy.quasi_identifiers)
    return spans_of_levels(bound.policy, cells, bound.temp, ranks, [(ground, cells.table)])


def _best(able: Sequence[_Tried]) -> _Tried:
    """Returns the contender of least loss among the contenders with nearly the least error; if several losses are
    equal, the first.

    Contenders that publish a whole column as `*` are considered only if all contenders do.
    """
    return _of_near(_with_detail(able))


def _of_near(able: Sequence[_Tried]) -> _Tried:
    return min(_near(able), key=lambda each: (_loss(each), each.contender.error or 0))


def _with_detail(able: Sequence[_Tried]) -> Sequence[_Tried]:
    """Returns the contenders that publish no whole column as `*`, or all contenders if each does."""
    return [each for each in able if not each.starred] or able


def _near(able: Sequence[_Tried]) -> list[_Tried]:
    errors = [each.contender.error for each in able]
    known = [error for error in errors if error is not None]
    if len(known) < len(errors):
        return list(able)
    most = min(known) * sizes().near
    return [each for each, error in zip(able, known, strict=True) if error <= most]


def _loss(each: _Tried) -> object:
    return each.contender.loss


def _reason_for_choice(best: _Tried, able: Sequence[_Tried]) -> str:
    if len(able) == 1:
        return "no other can do what is asked"
    if best is _of_near(able):
        return _least(best, able)
    compared = _with_detail(able)
    if len(compared) == 1:
        return "the others have a column that is * in all rows"
    return f"of the methods that make no column * in all rows, {_least(best, compared)}"


def _least(best: _Tried, compared: Sequence[_Tried]) -> str:
    """Returns the reason for choosing the best contender, as a clause that compares its loss and error with the
    others'.
    """
    errors = [each.contender.error for each in compared if each.contender.error is not None]
    if best.contender.error is None or not errors:
        return "it loses least, and the rows are too few to compare errors of counts"
    if best.contender.error > min(errors):
        # Three digits, because with two digits near errors may look further apart than `near`.
        error, least = (f"{100 * share:.3g} %" for share in (best.contender.error, min(errors)))
        return (
            "it loses least of the methods whose error of counts is near the least: "
            f"{error}, and the least is {least} (up to {sizes().near:g} times as much is near)"
        )
    losses = [loss for each in compared if (loss := each.contender.loss) is not None]
    if best.contender.loss is None or best.contender.loss <= min(losses):
        return "it loses least, and its error of counts is the least"
    return f"its error of counts is the least, and methods that lose less are over {sizes().near:g} times as far off"
