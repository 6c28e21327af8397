"""What a certificate says of the loss that it states: what the number counts."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["DEFINITIONS", "GRANULARITY_LOSS", "OF_REGIONS"]

GRANULARITY_LOSS = (
    "granularity loss: a value that is shown by a label costs (n - 1) / (N - 1), where n of the N values of its "
    "column, the leaves of its hierarchy, lie below the label, a suppressed row 1 in each quasi-identifier; the mean "
    "over all rows of the source and all quasi-identifiers, weighted where the policy weighs: 0 where nothing is "
    "changed, 1 where nothing is left"
)

# Of rows that are recoded by level or by region, left out or published in fewer columns.
DEFINITIONS: Mapping[str, str] = {"granularity_loss": GRANULARITY_LOSS}

# Regions were recorded with another loss before granularity_loss was one figure for all methods.
OF_REGIONS: Mapping[str, str] = {
    **DEFINITIONS,
    "loss_metric": (
        "loss metric (Iyengar 2002): a number or a time costs the width of its region's range divided by that of all "
        "values, any other value (n - 1) / (N - 1), where n of the N values, in the order of the hierarchy, lie in the "
        "range, or below the ancestor that is shown; the mean over all rows and all quasi-identifiers, weighted where "
        "the policy weighs: 0 where nothing is changed"
    ),
}
