"""The summary of a release: what it is, what it reaches, how far counts are off, and how sure a guess can be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlanon.assess.attack import attack_release
from sqlanon.assess.attacks.attacked import AttackAnswer
from sqlanon.assess.figures.shown_columns import shown_columns
from sqlanon.assess.workloads.typical_counts import typical_counts
from sqlanon.catalog import releases
from sqlanon.catalog.snapshot import policy_of
from sqlanon.domain.policy import Role
from sqlanon.domain.release import Reading, Release
from sqlanon.domain.requests import AttackRequest, MethodCall
from sqlanon.domain.summary import CountError, ShownColumn, Summary, SurestGuess
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.release.existing.loaded import load_release
from sqlanon.syntax.texts import call_text

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
    """The summary of a release, whose source is asked the same counts as the release.

    `unpublished` are the source's columns that the policy does not name, and `remarks` the sentences that were said
    when the release was made. Raises what ATTACK and MEASURE do where rows were changed; a figure that a release of its
    method does not have is left out, with the reason.
    """
    release = load_release(engine, name)
    columns = shown_columns(engine, release)
    counts = typical_counts(engine, release)
    guesses, without_guess = _guesses(engine, release, columns)
    measured = releases.measurements(engine, release)
    return Summary(
        release=str(release.name),
        source=policy_of(release).source.called,
        source_rows=release.source_rows,
        released_rows=release.released_rows,
        suppressed_rows=release.suppressed_rows,
        # What requires nothing, such as the loss, is no requirement.
        required=tuple(measurement for measurement in measured if measurement.satisfied is not None),
        method=release.method,
        call=call_text(MethodCall(release.method, release.method_arguments)),
        loss_name=release.loss_name,
        loss=release.loss,
        columns=columns,
        count_error=CountError(counts.compared, counts.columns, counts.median, counts.mean, counts.reason),
        guesses=guesses,
        without_guess=without_guess,
        unpublished=tuple(unpublished),
        remarks=tuple(remarks),
    )


def _guesses(
    engine: Engine, release: Release, columns: Sequence[ShownColumn]
) -> tuple[tuple[SurestGuess, ...], str | None]:
    """The surest guess of each secret by its class, and why there is none where the release has no classes."""
    exact = {a.name for a in release.attributes if a.reading is Reading.EXACT}
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
    )
