"""How far the search for medoids goes, and how many attributes are compared, shown and coded."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.domain.adjustable import Adjustable
from sqlanon.methods.shared.partition.solve import MOST_ATTRIBUTES


@dataclass(frozen=True)
class Sizes:
    """All sets of medoids are looked at where there are at most `max_medoid_sets` of them, else PAM looks for one.

    phi2 is computed of every two of at most `max_phi2_attributes` attributes; EXPLAIN gives the measures of every two
    of at most `max_matrix_attributes`. Policies with more than `max_coded_attributes` quasi-identifiers are sliced
    without cells; regions are cut in no more than that.
    """

    max_medoid_sets: int = 100_000
    max_phi2_attributes: int = 200
    max_matrix_attributes: int = 50
    max_coded_attributes: int = MOST_ATTRIBUTES


sizes = Adjustable(Sizes())
