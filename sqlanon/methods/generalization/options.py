"""The arguments of METHOD generalization."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from sqlanon.methods.shared.arguments import Kind, argument
from sqlanon.methods.shared.lattice.losses import LOSSES

RECODINGS = ("global", "local")


@dataclass(frozen=True)
class Options:
    """METHOD generalization(suppression => fraction, recoding => name, loss => name, time_limit => seconds).

    `suppression` is the share of rows, in [0, 1], that may be left out, `loss` the
    measure that is to be least, `time_limit` the seconds after which the best node so
    far is taken, None for as long as it takes to prove the best. `recoding` is 'global',
    one node for all rows, or 'local'.
    """

    suppression: Decimal = argument(
        "the share of rows that may be left out",
        Kind.FRACTION,
        default=Decimal("0.02"),
        example=Decimal("0.05"),
        alternatives=(Decimal("0.02"), Decimal("0.05"), Decimal("0.1")),
    )
    loss: str = argument(
        "the measure that is to be least", Kind.CHOICE, default="granularity_loss", choices=tuple(LOSSES)
    )
    time_limit: Decimal | None = argument(
        "how long the search may take before the best levels so far are published",
        Kind.NUMBER,
        default=None,
        above=0,
        unit="of seconds",
        example=60,
    )
    recoding: str = argument(
        "whether all rows have the same levels, or those that would be suppressed have coarser ones",
        Kind.CHOICE,
        default=RECODINGS[0],
        choices=RECODINGS,
    )
