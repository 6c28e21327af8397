"""Measures of what a release loses, by the name that `loss => '...'` takes; a file a loss."""

from __future__ import annotations

from sqlanon.methods.shared.lattice.losses.average_class_size import AverageClassSize
from sqlanon.methods.shared.lattice.losses.base import losses_by_name
from sqlanon.methods.shared.lattice.losses.discernibility import Discernibility
from sqlanon.methods.shared.lattice.losses.granularity_loss import GranularityLoss
from sqlanon.methods.shared.lattice.losses.height import Height
from sqlanon.methods.shared.lattice.losses.non_uniform_entropy import NonUniformEntropy
from sqlanon.methods.shared.lattice.losses.precision import Precision

LOSSES = losses_by_name((GranularityLoss, Discernibility, AverageClassSize, Height, Precision, NonUniformEntropy))
