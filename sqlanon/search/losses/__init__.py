"""Measures of what a release loses, by the name that `loss => '...'` takes; a file a loss."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlanon.search.losses.average_class_size import AverageClassSize
from sqlanon.search.losses.base import Loss, Setting
from sqlanon.search.losses.discernibility import Discernibility
from sqlanon.search.losses.granularity_loss import GranularityLoss
from sqlanon.search.losses.height import Height
from sqlanon.search.losses.non_uniform_entropy import NonUniformEntropy
from sqlanon.search.losses.precision import Precision

__all__ = ["LOSSES", "Loss", "Setting"]

LOSSES: Mapping[str, Callable[[Setting], Loss]] = {
    "granularity_loss": GranularityLoss,
    "discernibility": Discernibility,
    "average_class_size": AverageClassSize,
    "height": Height,
    "precision": Precision,
    "non_uniform_entropy": NonUniformEntropy,
}
