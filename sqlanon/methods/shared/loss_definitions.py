"""What a certificate says of the loss that it states: what the number counts."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["DEFINITIONS", "OF_REGIONS"]

DEFINITIONS: Mapping[str, str] = {
    "granularity_loss": (
        "granularity loss (NCP): a generalized value costs (n - 1) / (N - 1), where n of the N leaves of its "
        "hierarchy lie below it, a suppressed row 1 in each quasi-identifier; the mean over all rows of the source "
        "and all quasi-identifiers, weighted where the policy weighs: 0 where nothing is changed, 1 where nothing is "
        "left"
    ),
    "discernibility": (
        "discernibility metric (Bayardo and Agrawal 2005): a released row costs the number of rows of its class, a "
        "suppressed row the number of rows of the source; the sum over all rows of the source"
    ),
    "average_class_size": (
        "average class size (LeFevre et al. 2006): the rows of the source divided by the number of released classes, "
        "as a multiple of the k rows, or respondents, that the policy asks of a class, or of 1"
    ),
    "height": "height (Samarati 2001): the sum of the levels of all quasi-identifiers",
    "precision": (
        "loss of precision (Sweeney 2002): a value costs its level divided by the height of its hierarchy, a "
        "suppressed row 1 in each quasi-identifier; the mean over all rows of the source and all quasi-identifiers, "
        "weighted where the policy weighs"
    ),
    "non_uniform_entropy": (
        "non-uniform entropy (Gionis and Tassa 2009): a value costs -log2 of its share among the rows with its label, "
        "in a suppressed row -log2 of its share among the suppressed rows; the sum over all rows and "
        "quasi-identifiers, in bits, weighted where the policy weighs"
    ),
}

# The same of rows that are recoded by region.
OF_REGIONS: Mapping[str, str] = {
    "granularity_loss": (
        "granularity loss (NCP) of regions: a number or a time costs the width of its region's range divided by that "
        "of all values, any other value (n - 1) / (N - 1), where n of the N values, in the order of the hierarchy, lie "
        "in the range, or below the ancestor that is shown; the mean over all rows and all quasi-identifiers, weighted "
        "where the policy weighs: 0 where nothing is changed"
    ),
}
