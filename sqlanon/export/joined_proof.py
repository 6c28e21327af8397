"""What a certificate says of the join with another release."""

from __future__ import annotations

from typing import Any

from sqlanon.domain.policy import JoinedRelease
from sqlanon.domain.release import Release
from sqlanon.domain.report import Measurement
from sqlanon.export.json_values import stated_arguments_of, stated_figure, stated_moment
from sqlanon.inputs.joins.requirements import JoinedRequirement

__all__ = ["asked_of_join", "joined_proof"]


def asked_of_join(requirement: JoinedRequirement) -> dict[str, Any]:
    """The members of a requirement's entry that say what is asked, which follow from the policy alone."""
    return {
        "requirement": str(requirement),
        "model": requirement.question_name,
        "question": requirement.question_name,
        "arguments": stated_arguments_of(requirement.statistic.arguments)
        | {"x": list(requirement.x), "y": requirement.y},
        "attributes": [requirement.y],
    }


def joined_proof(
    requirement: JoinedRequirement, reached: Measurement, other: Release | None, joined: JoinedRelease | None
) -> dict[str, Any]:
    """A requirement of the join with another release, which no file of this one shows."""
    assert other is not None and joined is not None
    statistic = requirement.statistic
    return {
        **asked_of_join(requirement),
        "meaning": statistic.statistic.title,
        "paper": statistic.statistic.paper,
        "attribute": reached.attribute,
        "joined_with": {
            "release": other.name.name,
            "on": list(joined.columns),
            "released": stated_moment(other.created_at),
        },
        "required": stated_figure(reached.required),
        "achieved": stated_figure(reached.achieved),
        "satisfied": reached.satisfied,
        "recomputed_from": f"both releases, joined with {other.name.name}",
    }
