"""The columns that a series goes by: that of the respondents, and the sensitive ones, which all releases have alike."""

from __future__ import annotations

from sqlanon.again.series.known_text import has_known_text
from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.identifiers import fold
from sqlanon.domain.series import Series
from sqlanon.errors import PolicyError


def named_columns(bound: BoundPolicy) -> tuple[tuple[str, str], ...]:
    """The sensitive attributes, each with its type.

    Raises PolicyError for a type whose equal values have several texts, so that nothing would be known again.
    """
    for b in (*bound.sensitive, *([bound.entity] if bound.entity else [])):
        if not has_known_text(b.published_type, rounded=b is not bound.entity):
            raise PolicyError(
                f"a series cannot know {b.column} again, for equal values of {b.published_type} may have other texts",
                hint=f"cast it in a query, ON (SELECT CAST({b.column} AS VARCHAR) AS {b.column}, ...)",
                part=("policy",),
            )
    return tuple((b.column, b.published_type) for b in bound.sensitive)


def in_order(series: Series, bound: BoundPolicy) -> list[BoundAttribute]:
    """The sensitive attributes of a policy in the order of the series, which has the same."""
    by_name = {fold(b.column): b for b in bound.sensitive}
    return [by_name[fold(name)] for name, _ in series.attributes]


def require_same_columns(series: Series, bound: BoundPolicy) -> None:
    """Raises PolicyError unless a policy has the respondents and sensitive attributes of a series, of the same types.

    Values of another type have other texts, and a column that is not sensitive any more would be looked at by nothing.
    """
    now = {**_folded(named_columns(bound)), fold(series.entity): bound.entity.published_type if bound.entity else ""}
    former = {**_folded(series.attributes), fold(series.entity): series.entity_type}
    for name in (*former, *now):
        if name in former and name not in now:
            raise _refused(series, f"{name} is not SENSITIVE any more")
        if name not in former:
            raise _refused(series, f"{name} was not SENSITIVE when it was begun")
        if former[name] != now[name]:
            raise _refused(series, f"{name} is {now[name]} now and was {former[name]}")


def _folded(columns: tuple[tuple[str, str], ...]) -> dict[str, str]:
    return {fold(name): kind for name, kind in columns}


def _refused(series: Series, why: str) -> PolicyError:
    return PolicyError(
        f"{series} cannot compare its releases: {why}; nothing was published",
        hint="let the policy have the same column, cast it in a query, or begin another series",
        part=("series",),
    )
