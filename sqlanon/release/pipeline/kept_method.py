"""Keeps the chosen method of a release that is replaced, as long as only its rows have changed.

A statement that makes a table every night may name no method, but the table's readers expect the same columns. So the
method is chosen once, and again if the policy or the source's columns change, if it cannot publish the current rows, or
if the statement has CHOOSE METHOD.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlanon.catalog.hierarchies import made_for
from sqlanon.catalog.snapshot import changed_since
from sqlanon.domain.numbers import counted, per_cent
from sqlanon.domain.release import Comparison, Contender, Release
from sqlanon.domain.requests import MethodCall
from sqlanon.domain.workload import FEW
from sqlanon.methods.shared.arguments import called
from sqlanon.methods.shared.wording import loss_text
from sqlanon.release.pipeline.stages import Bound
from sqlanon.sources.column_types import column_types


def former_choice(bound: Bound) -> tuple[Contender | None, str | None]:
    """Returns the contender chosen for the release that is replaced, or the reason why methods are compared again.

    Both results are None if no release is replaced.
    """
    resolved = bound.resolved
    replaced = resolved.requested.replaced
    if replaced is None:
        return None, None
    if resolved.create.choose_method:
        return None, "CHOOSE METHOD has compared the methods"
    if replaced.comparison is None:
        return None, "the statement that made the former release named its method"
    if replaced.kind != resolved.create.kind:
        return None, f"the former release was a {replaced.kind}"
    hierarchies, automatic = tuple(resolved.hierarchies.values()), made_for(bound.engine, resolved.policy.name)
    if changed := changed_since(replaced, resolved.policy, hierarchies, column_types(bound.policy), automatic):
        return None, changed
    call = (replaced.method, dict(replaced.method_arguments))
    former = next((each for each in resolved.contenders if (each.call.name, dict(each.call.arguments)) == call), None)
    if former is None:
        return None, "it is not among the methods that are compared"
    if former.refused is not None:
        return None, f"{call_of(former)} was refused: {former.refused}"
    return former, None


def of_method(bound: Bound) -> Iterator[str]:
    """Yields a remark if a statement without a method replaces a release by a release with another method."""
    replaced = bound.resolved.requested.replaced
    if replaced is None or bound.recompared is None:
        return
    former, now = _called(_method_of(replaced)), _called(bound.create.method)
    if former != now:
        yield f"the method is {now}, and that of the release that this one replaces was {former}: {bound.recompared}"


def _method_of(release: Release) -> MethodCall:
    return MethodCall(release.method, release.method_arguments)


# ---- in words


def _called(call: MethodCall) -> str:
    return called(call.name.lower(), dict(call.arguments))


def call_of(contender: Contender) -> str:
    """Formats a compared method, as a user writes it after METHOD."""
    return _called(contender.call)


def release_method_text(release: Release) -> str:
    """Formats the method of a release as a user writes it, with the number of methods compared."""
    method = _called(_method_of(release))
    return f"{method}, chosen of {len(release.comparison.contenders)}" if release.comparison else method


def method_text(bound: Bound) -> list[str]:
    """Returns lines about the compared methods, the chosen method first, or about the kept method; empty otherwise."""
    return [f"{method}: {figures}" for method, figures in compared_rows(bound)]


def recorded_text(release: Release) -> list[str]:
    """Returns lines about the methods compared when the method of a release was chosen, the chosen method first."""
    rows = comparison_rows(release.comparison) if release.comparison is not None else ()
    return [f"{method}: {figures}" for method, figures in rows]


def compared_rows(bound: Bound) -> Iterator[tuple[str, str]]:
    """Yields rows of (method, figures) for the methods that were compared, or one row for the kept method."""
    if bound.comparison is not None:
        yield from comparison_rows(bound.comparison)
    elif bound.kept_comparison is not None:
        when = f" on {bound.kept_comparison.compared_at.date()}" if bound.kept_comparison.compared_at else ""
        of = f"chosen of {len(bound.kept_comparison.contenders)}{when}"
        yield (
            _called(bound.create.method),
            f"{of}, and kept from the release that it replaces; write CHOOSE METHOD to compare again",
        )


def comparison_rows(comparison: Comparison) -> Iterator[tuple[str, str]]:
    """Yields rows of (method, figures) for the compared methods, the chosen method first."""
    in_order = sorted(comparison.contenders, key=lambda contender: contender.why is None)
    for contender in in_order:
        yield call_of(contender), _figures(contender, comparison.sampled)


def error_in_words(error: float) -> str:
    """Describes the error of the counts by which methods are compared; the counts of a summary are different."""
    return f"counts by up to {FEW} columns are off by {per_cent(error)} in the mean"


def _figures(contender: Contender, sampled: int | None) -> str:
    chosen = f"chosen: {contender.why}" if contender.why is not None else ""
    if contender.refused is not None:
        return f"refused: {contender.refused}"
    if contender.loss is None:
        return chosen
    parts = [f"loses {loss_text(contender.loss)}"]
    if contender.error is not None:
        parts.append(error_in_words(contender.error))
    parts.append(f"{counted(contender.suppressed, 'row')} left out" if contender.suppressed else "no row left out")
    of_sample = f" of a sample of {counted(sampled, 'row')}" if sampled is not None else ""
    return "; ".join(filter(None, (", ".join(parts) + of_sample, chosen)))
