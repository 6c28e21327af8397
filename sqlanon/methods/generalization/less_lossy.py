"""The nodes that the search prefers to a node: who knows how it chooses knows that none of them satisfies."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import prod

from sqlanon.errors import PolicyError
from sqlanon.methods.generalization.options import Options
from sqlanon.methods.shared.lattice.node_evaluator import Nodes
from sqlanon.methods.shared.lattice.remaining import Node
from sqlanon.methods.shared.task import Task

_TOGETHER = 64


def less_lossy(task: Task, options: Options, levels: Node, most: int) -> Sequence[Node]:
    """The nodes with strictly less loss than that with these levels, where no row is left out.

    `task` requires what each class satisfies. Raises PolicyError where the choice depends on more than losses: for
    local recoding and rows that may be left out; and for lattices of more than `most` nodes.
    """
    if options.recoding != "global":
        raise PolicyError("rows are recoded to several nodes", hint="METHOD ... (recoding => 'global') has one")
    limit = int(Fraction(options.suppression) * task.encoded.rows)
    if limit:
        raise PolicyError(
            f"{limit} rows could have been left out, and which depends on the values that nobody is to know",
            hint="a release with (suppression => 0) can be attacked",
        )
    low = tuple(b.min_level for b in task.policy.quasi_identifiers)
    nodes = Nodes(task, task.encoded, low, limit, options.loss)
    ranges = [range(a, b + 1) for a, b in zip(nodes.lattice.low, nodes.lattice.high, strict=True)]
    if (size := prod(map(len, ranges))) > most:
        hint = "MIN LEVEL and MAX LEVEL make them fewer"
        raise PolicyError(f"there are {size:,} nodes, more than {most:,}", hint=hint)
    lattice_nodes = list(product(*ranges))
    losses: dict[Node, int] = {}
    for first in range(0, len(lattice_nodes), _TOGETHER):
        part = lattice_nodes[first : first + _TOGETHER]
        losses |= {node: loss for node, (loss, _) in zip(part, nodes.withheld_at_once(part), strict=True)}
    return [node for node in lattice_nodes if losses[node] < losses[levels]]
