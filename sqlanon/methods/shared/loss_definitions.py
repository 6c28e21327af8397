"""What a certificate says of the loss that it states: what the number counts."""

from __future__ import annotations

from collections.abc import Mapping

GRANULARITY_LOSS = (
    "granularity loss: a value that is shown by a label costs (n - 1) / (N - 1), where n of the N values of its "
    "column, the leaves of its hierarchy, lie below the label, a suppressed row 1 in each quasi-identifier; the mean "
    "over all rows of the source and all quasi-identifiers, weighted where the policy weighs: 0 where nothing is "
    "changed, 1 where nothing is left"
)

# Of rows that are recoded by level or by region, left out or published in fewer columns.
DEFINITIONS: Mapping[str, str] = {"granularity_loss": GRANULARITY_LOSS}
