"""The measures of a release's loss, by the name that `loss => '...'` takes; each file has one measure."""

from __future__ import annotations

from sqlanon.methods.shared.lattice.losses.average_class_size import AverageClassSize
from sqlanon.methods.shared.lattice.losses.base import losses_by_name
from sqlanon.methods.shared.lattice.losses.discernibility import Discernibility
from sqlanon.methods.shared.lattice.losses.granularity_loss import GranularityLoss
from sqlanon.methods.shared.lattice.losses.height import Height
from sqlanon.methods.shared.lattice.losses.non_uniform_entropy import NonUniformEntropy
from sqlanon.methods.shared.lattice.losses.precision import Precision

LOSSES = losses_by_name((GranularityLoss, Discernibility, AverageClassSize, Height, Precision, NonUniformEntropy))
