"""Random worlds: what figures about a part of the rows rest on, where any row of it may have any of its values.

Bacchus, Grove, Halpern and Koller, From statistical knowledge bases to degrees of belief (1996). Kifer, Attacks on
privacy and deFinetti's theorem (2009), learns from all parts together instead.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.domain.report import Assumption


def of_buckets(sensitive: Sequence[str]) -> Assumption:
    """What is assumed where the values of these columns are dealt out in buckets."""
    return _random_worlds(
        "Each way to deal the sensitive values of a bucket out to its rows",
        "how they go with the other columns in all buckets together",
        tuple(sensitive),
    )


def of_groups() -> Assumption:
    """What is assumed where groups of rows of several tables are associated."""
    return _random_worlds(
        "Each way to match the rows of the groups that the association ties",
        "how the columns of a CONFIDENTIAL set go together in all groups",
    )


def _random_worlds(worlds: str, learned: str, attributes: tuple[str, ...] = ()) -> Assumption:
    return Assumption(
        name="random_worlds",
        attributes=attributes,
        meaning=f"{worlds} is taken to be equally likely (random worlds).",
        leaves=(
            f"The release does not hide {learned}: a reader who learns that from it can name values with a far greater "
            "probability, some of them nearly for certain (deFinetti attack, Kifer 2009)."
        ),
    )
