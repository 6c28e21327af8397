"""All nodes between two, as an array."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray


def nodes_between(low: tuple[int, ...], high: tuple[int, ...]) -> NDArray[Any]:
    """The levels of all nodes from `low` to `high`: a row an attribute, the nodes in the order of their levels."""
    import numpy as np

    shape = [top - bottom + 1 for bottom, top in zip(low, high, strict=True)]
    # An array has at most 64 dimensions. Attributes with a choice are fewer wherever the nodes can be held at all.
    choices = [attribute for attribute, levels in enumerate(shape) if levels > 1]
    steps = np.indices([shape[attribute] for attribute in choices], dtype=np.int16).reshape(len(choices), prod(shape))
    nodes = np.repeat(np.array(low, dtype=np.int16)[:, None], prod(shape), axis=1)
    nodes[choices] += steps
    return nodes
