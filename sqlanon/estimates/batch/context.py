"""What all batches of a workload's queries share, on a release or on its source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.estimates.batch.satisfying_values import Constants


@dataclass(frozen=True)
class BatchContext:
    """The database, and what is known of the columns and of the queries before any of them is answered."""

    engine: Engine
    # The types of the columns' values, by the folded names of the columns.
    kinds: Mapping[str, str]
    # The constants that the queries compare values with.
    constants: Constants
    scratch: Scratch
