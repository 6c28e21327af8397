"""What was asked of a release and what it achieves."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Measurement:
    """The answer to one question - a privacy model, a metric or an attack - about one release.

    `attribute` is the sensitive attribute that it is about, if there is one.
    `satisfied` is None for a question that requires nothing, such as a loss.
    """

    question: str
    attribute: str | None
    required: float | None
    achieved: float | None
    satisfied: bool | None


@dataclass(frozen=True)
class Assumption:
    """What the figures of a release rest on, which no row of it can show.

    `name` is its name in the literature, `attributes` the sensitive attributes that it is
    about, `meaning` what is taken for granted, and `leaves` what is not bounded because of it.
    """

    name: str
    attributes: tuple[str, ...]
    meaning: str
    leaves: str

    @property
    def stated(self) -> Measurement:
        """The assumption as a measurement: it is so, and nothing is required of it."""
        return Measurement(f"assumes_{self.name}", ", ".join(self.attributes) or None, None, None, True)


@dataclass(frozen=True)
class PrivacyReport:
    """The measurements of one check."""

    measurements: tuple[Measurement, ...]

    @property
    def satisfied(self) -> bool:
        """Whether something was required and all of it is met; a check that required nothing proves nothing."""
        answers = [m.satisfied for m in self.measurements if m.satisfied is not None]
        return bool(answers) and all(answers)

    @property
    def violated(self) -> tuple[Measurement, ...]:
        """The measurements that miss what was required."""
        return tuple(m for m in self.measurements if m.satisfied is False)
