"""What CHECK says of attacks that the requirements do not bound, however well they are met."""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.domain.identifiers import fold
from sqlanon.domain.report import Measurement
from sqlanon.questions.attacks import unbounded_attacks

__all__ = ["unbounded"]


def unbounded(measurements: Sequence[Measurement], sensitive: Sequence[str]) -> tuple[str, ...]:
    """A line for each sensitive attribute about which attacks are not bounded.

    A requirement counts if it is met, and is about all attributes or about this one alone.
    """
    lines: list[str] = []
    for attribute in sensitive:
        about = (None, fold(attribute))
        met = {m.question for m in measurements if m.satisfied and (m.attribute and fold(m.attribute)) in about}
        if names := unbounded_attacks(met):
            lines.append(
                f"what is learned of {attribute} by {', '.join(names)} is bounded by no requirement that is met; "
                "ATTACK says how far each gets"
            )
    return tuple(lines)
