"""Measures of what a release loses, by the name that `loss => '...'` takes; a file a loss."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlanon.methods.generalization.losses.average_class_size import AverageClassSize
from sqlanon.methods.generalization.losses.base import Loss, Setting
from sqlanon.methods.generalization.losses.discernibility import Discernibility
from sqlanon.methods.generalization.losses.granularity_loss import GranularityLoss
from sqlanon.methods.generalization.losses.height import Height
from sqlanon.methods.generalization.losses.non_uniform_entropy import NonUniformEntropy
from sqlanon.methods.generalization.losses.precision import Precision

__all__ = ["LOSSES", "Loss", "Setting"]

LOSSES: Mapping[str, Callable[[Setting], Loss]] = {
    "granularity_loss": GranularityLoss,
    "discernibility": Discernibility,
    "average_class_size": AverageClassSize,
    "height": Height,
    "precision": Precision,
    "non_uniform_entropy": NonUniformEntropy,
}
