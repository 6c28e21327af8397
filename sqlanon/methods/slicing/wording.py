"""What a certificate says of a sliced release, and of the figures that are measured of it."""

from __future__ import annotations

from collections.abc import Mapping

from sqlanon.domain.reading import Reading
from sqlanon.methods.base import Figure, Wording
from sqlanon.methods.shared.loss_definitions import DEFINITIONS
from sqlanon.methods.slicing.options import Options

# A table for each column, with its rows' buckets.
_TABLES = ((Reading.BUCKET, Reading.BUCKET_VALUE, Reading.BUCKET_RANGE),)
_PUBLISHED = (
    "Values are the source's own, and those of one column of attributes stand together as they do in the source; which "
    "rows of two columns belong together is known by bucket only. The requirements hold of the rows of a bucket that "
    "agree on what stands beside the sensitive value. The operating system drew the numbers and orders of the buckets."
)

_MATCHING_PUBLISHED = (
    "Values are the source's own, and those of one column of attributes stand together as they do in the source; which "
    "rows of two columns belong together is known by bucket only. Of somebody whose quasi-identifiers are known, but "
    "not the bucket, no sensitive value is likelier than what is stated. The operating system drew the numbers and "
    "orders of the buckets."
)
_RANGES_PUBLISHED = (
    "Quasi-identifiers are published as ranges of the values of rows near each other, those of one column of "
    "attributes together; all other values are the source's own. Which rows of two columns belong together is known "
    "by bucket only. The requirements hold of the rows of a bucket that agree on what stands beside the sensitive "
    "value. The operating system drew the numbers and orders of the buckets."
)
MATCHING = "matching_l_diversity"
FAKES = "fake_tuples"
REPEATED = "column_k_anonymity"
FIGURES: Mapping[str, Figure] = {
    MATCHING: Figure(
        "Of somebody whose quasi-identifiers are known, no sensitive value is likelier than one in so many, over all "
        "buckets that have these quasi-identifiers in each column.",
        "Li, Li, Zhang and Molloy 2012, definition 7; a bucket counts with its rows",
        # The published tables do not say which combinations of values are rows of the source.
        "source's rows, when it was made",
        parameter="l",
    ),
    FAKES: Figure(
        "For each row so many tuples that are not in the source, at least, can be joined from the columns of the "
        "buckets: a reader who tells that somebody's values match a bucket cannot be sure that they are in the table.",
        "Li, Li, Zhang and Molloy 2012, section 5",
        parameter="ratio",
    ),
    REPEATED: Figure(
        "Each combination of quasi-identifiers that a table shows is that of so many of its rows, at least: nobody is "
        "seen to be in the table by being the only one with such values.",
        "Li, Li, Zhang and Molloy 2012, section 4.2",
        parameter="k",
    ),
}


def certificate_wording(options: Options) -> Wording:
    """What a certificate says of the release."""
    if options.column_k > 1:
        return Wording(_RANGES_PUBLISHED, DEFINITIONS, FIGURES, _TABLES)
    return Wording(_PUBLISHED if options.diversity == "bucket" else _MATCHING_PUBLISHED, DEFINITIONS, FIGURES, _TABLES)
