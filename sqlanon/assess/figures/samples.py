"""The sampling fraction and the weights that a policy declares for its source; figures use them as default
arguments.
"""

from __future__ import annotations

from decimal import Decimal

from sqlanon.catalog.snapshot import policy_of
from sqlanon.domain.identifiers import fold
from sqlanon.domain.release import Release
from sqlanon.domain.requests import FigureCall
from sqlanon.domain.values import UNNAMED, QualifiedName, Value
from sqlanon.errors import PolicyError

FRACTION, WEIGHTS = "sampling_fraction", "weights"
# The figures that have a sampling fraction; of some it is the only argument, which needs no name.
_ALONE = ("population_uniques", "uniqueness")
_WITH_FRACTION = (*_ALONE, "k_map_estimated", "suda")
_WITH_WEIGHTS = ("individual_risk",)


def sampled_fraction(release: Release) -> Decimal | None:
    """Returns the sampling fraction of a release's policy; for SAMPLE OF people, it is the number of the source's rows
    divided by the number of people.

    Returns None if the policy does not declare a fraction. Raises PolicyError for a source with more rows than people.
    """
    sample, rows = policy_of(release).sample, release.source_rows
    if sample is None or (sample.fraction is None and rows is None):
        return None
    fraction = sample.fraction_of(rows or 0)
    if fraction is None and rows:
        raise PolicyError(
            f"the source of {release.name} had {rows:,} rows, and its policy says SAMPLE OF {sample.people}",
            hint="SAMPLE OF names the number of people of whom the source is a part",
        )
    return None if fraction is None else Decimal(fraction.numerator) / Decimal(fraction.denominator)


def sample_arguments(release: Release, call: FigureCall) -> dict[str, Value]:
    """Returns the arguments of a figure; a missing fraction or weight is taken from the policy's sample.

    Raises PolicyError for a sampling fraction of 0.
    """
    arguments = dict(call.arguments)
    folded = {FRACTION if name == UNNAMED and call.name in _ALONE else fold(name): v for name, v in arguments.items()}
    if call.name in _WITH_FRACTION:
        if FRACTION in folded and folded[FRACTION] == 0 and folded[FRACTION] is not False:
            raise PolicyError(
                f"{call.name}: {FRACTION} is above 0 and at most 1",
                hint=f"write {call.name}({FRACTION} => 0.1)",
                part=("figures", call.name),
            )
        if FRACTION not in folded and (fraction := sampled_fraction(release)) is not None:
            arguments[FRACTION] = fraction
    weight = policy_of(release).sampling_weight
    if call.name in _WITH_WEIGHTS and weight is not None and not {WEIGHTS, UNNAMED} & set(folded):
        arguments[WEIGHTS] = QualifiedName((weight.name,))
    return arguments
