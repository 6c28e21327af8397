"""Summarizes a release: its size, its measurements, the error of its counts, and the certainty of guesses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from sqlglot import exp

from sqlanon.assess.attack import attack_release
from sqlanon.assess.attacks.attacked import AttackAnswer
from sqlanon.assess.figures.shown_columns import shown_columns
from sqlanon.assess.workloads.measure import measure_unrecorded
from sqlanon.catalog import releases
from sqlanon.catalog.snapshot import policy_of
from sqlanon.domain.policy import Role
from sqlanon.domain.release import Reading, Release
from sqlanon.domain.requests import AttackRequest, MethodCall
from sqlanon.domain.summary import CountError, ShownColumn, Summary, SurestGuess
from sqlanon.domain.values import QualifiedName
from sqlanon.domain.workload import WorkloadOptions
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import PolicyError
from sqlanon.estimates.workloads import drawn_queries, queried_columns
from sqlanon.release.existing.loaded import load_release
from sqlanon.sources.bind_policy import bind, hierarchies_of, policy_source
from sqlanon.sources.related_tables import require_one_table
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.render import to_sql
from sqlanon.sql.build.sql_files import query_tree
from sqlanon.sql.questions.load import load_question, question_names
from sqlanon.syntax.texts import call_text

# The error of a typical count: random counts over two columns, as in a workload, on a release and on its source.


# The name of these counts in an error of a query.
_NAME = "typical_counts"
# The number of counts, and the share of the rows in a count if columns are uniform and independent.
_QUERIES, _SELECTIVITY = 100, Decimal("0.05")
# The number of columns in the conditions of a count.
_COLUMNS = 2
# The least number of counts for an error: fewer say little.
_FEWEST = 20
# The most reasons that are named for unanswered counts.
_REASONS = 2


def typical_counts(engine: Engine, release: Release, queries: int = _QUERIES) -> CountError:
    """Measures the error of random counts on a release and on its source; the counts are the same each time, and they
    are not recorded.

    A count has conditions on two columns: a quasi-identifier and a sensitive attribute, or, if there is no sensitive
    attribute, on two quasi-identifiers. Instead of the error, the result is a reason if the source is gone, if the
    release has no estimates, or if fewer than 20 counts are answered and some are not. Raises the errors of `measure`.
    """
    try:
        with engine.transaction(), TempTables(engine) as temp:
            columns, texts = _drawn(engine, release, queries, temp)
            figures, reasons = measure_unrecorded(engine, release, _NAME, texts)
    except PolicyError as error:
        return CountError(reason=error.message)
    without = int(figures["not_estimated"] or 0)
    compared = int(figures["compared"] or 0)
    counts = CountError(
        compared,
        columns,
        figures["median_relative_error"],
        figures["mean_relative_error"],
        drawn=len(texts),
        unanswered=without,
        why_unanswered=tuple(
            text for text, _ in Counter(_reasons_by_count(release, dict(texts), reasons)).most_common(_REASONS)
        ),
    )
    if without and compared < _FEWEST:
        return CountError(reason=f"the release does not answer {without} of {len(texts)} counts{counts.because}")
    return counts if compared else CountError(reason="each count is 0 in the source")


def _reasons_by_count(release: Release, texts: Mapping[int, str], reasons: Mapping[int, str]) -> Iterator[str]:
    """Yields the reason for each unanswered count: ESTIMATE's reason, or the columns that no answer covers."""
    columns = {number: {each.name for each in query_tree(text).find_all(exp.Column)} for number, text in texts.items()}
    answered = {name for number, names in columns.items() if number not in reasons for name in names}
    answered |= {a.source or a.name for a in release.attributes if a.reading is Reading.EXACT}
    for number, reason in reasons.items():
        unanswered = sorted(columns[number] - answered)
        if reason or unanswered:
            yield reason or f"the release does not say which values of {', '.join(unanswered)} each label stands for"


def _drawn(engine: Engine, release: Release, queries: int, temp: TempTables) -> tuple[int, list[tuple[int, str]]]:
    """Returns the number of columns in the conditions of a count, and the number and the text of each count."""
    policy = policy_of(release)
    require_one_table(policy, "a count", "it counts rows of the source")
    source = policy_source(engine, policy, temp, copy=engine.reads_in_place)
    bound = bind(policy, source, hierarchies_of(engine, policy), fingerprint="")
    quasi = len(bound.quasi_identifiers) or _COLUMNS
    has_values = any(not b.attribute.is_coarse for b in bound.sensitive)
    dimensions = min(quasi, _COLUMNS - has_values)
    options = WorkloadOptions(queries, dimensions, _SELECTIVITY)
    queried = queried_columns(engine, bound, options, temp)
    # A source that is no table is called by the policy's name.
    table = relation(policy.source.name or policy.name)
    head = " ".join(["SELECT count(*) AS n FROM", to_sql(table), "WHERE "])
    drawn = drawn_queries(_NAME, head, queried, options)
    rows = engine.rows(drawn.order_by(column("query_id")))
    return dimensions + has_values, [(int(number), str(text)) for _, number, text in rows]


_GUESS = "homogeneity"
# The classes that the answer of an attack names.
_LISTED = 10


def summary_of(
    engine: Engine,
    name: QualifiedName,
    *,
    unpublished: Sequence[str] = (),
    remarks: Sequence[str] = (),
) -> Summary:
    """Summarizes a release, with counts on the source and on the release.

    `unpublished` are the source's columns that the policy does not name, and `remarks` the sentences from the creation
    of the release. Raises the errors of ATTACK and MEASURE for changed rows. A figure that is not defined for the
    release's method is left out, with the reason.
    """
    release = load_release(engine, name)
    columns = shown_columns(engine, release)
    counts = typical_counts(engine, release)
    guesses, without_guess = _guesses(engine, release, columns)
    measured = releases.measurements(engine, release)
    policy = policy_of(release)
    questions = {measurement.question for measurement in measured} & {*question_names()}
    return Summary(
        release=str(release.name),
        source=policy.source.called,
        source_rows=release.source_rows,
        released_rows=release.released_rows,
        suppressed_rows=release.suppressed_rows,
        # A measurement without a required value, such as the loss, is not a requirement.
        required=tuple(measurement for measurement in measured if measurement.satisfied is not None),
        method=release.method,
        call=call_text(MethodCall(release.method, release.method_arguments)),
        loss_name=release.loss_name,
        loss=release.loss,
        columns=columns,
        count_error=counts,
        guesses=guesses,
        without_guess=without_guess,
        unpublished=tuple(unpublished),
        remarks=tuple(remarks),
        in_words={name: words for name in questions if (words := load_question(name).in_words)},
        people="people" if next(policy.having(Role.ENTITY), None) else "rows",
    )


def _guesses(
    engine: Engine, release: Release, columns: Sequence[ShownColumn]
) -> tuple[tuple[SurestGuess, ...], str | None]:
    """Returns the surest guess of each secret from its class, and the reason if the release has no classes."""
    exact = {
        a.name
        for a in release.attributes
        if a.reading is Reading.EXACT or (a.role is Role.SENSITIVE and a.reading is Reading.LABEL)
    }
    before = {column.name: column.most_frequent for column in columns if column.name in exact}
    if not any(policy_of(release).all_having(Role.SENSITIVE)):
        return (), None
    try:
        answers = attack_release(engine, release, AttackRequest(_GUESS))
    except PolicyError as error:
        return (), error.message
    return tuple(guess for answer in answers if (guess := _guess(answer, before))), None


def _guess(answer: AttackAnswer, before: Mapping[str, float]) -> SurestGuess | None:
    if answer.attribute is None or answer.highest is None or answer.mean is None:
        return None
    surest = [attacked for attacked in answer.worst if attacked.confidence == answer.highest]
    return SurestGuess(
        answer.attribute,
        answer.highest,
        sum(attacked.targets for attacked in surest),
        len(surest) == _LISTED,
        answer.mean,
        before.get(answer.attribute),
        answer.missing,
    )
