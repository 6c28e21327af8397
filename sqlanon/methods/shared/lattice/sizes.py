"""From which sizes on a search of the lattice goes another way."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.domain.adjustable import Adjustable


@dataclass(frozen=True)
class Sizes:
    """Sizes that decide how a search goes: how long it takes depends on them, and what it may hold in memory.

    `max_nodes` is the largest lattice that is searched whole. From `raise_from` nodes on it
    pays to look first at how low each attribute can be at all. A source of `large_source`
    cells is looked at a node at a time: one class in `one_in` first; and a node's rows are
    kept where there are `times_fewer` times fewer of them. Otherwise `batch` nodes are looked
    at in one statement: with more, what one of them rules out is found too late for the
    others. Of a node that comes from `part_from` rows, most of which fail by far, a part is
    looked at first; if it is too much to suppress, all classes are looked at only where their excess is likely to
    be `times_beyond` times what may be suppressed. Where a batch would read more than `meet_from` rows, the rows
    of at most `meets` nodes between the cells and its own are made first. A lattice of at most `few_nodes` over
    at most `few_cells` is looked at whole in one turn: there a turn costs more than its nodes.
    From `lasting_from` cells on a class that satisfies for good is kept as one row: that takes more
    statements, and reads less. Where columns have fewer than `few_values` values, each query counts their leaves anew.
    """

    max_nodes: int = 20_000_000
    raise_from: int = 250_000
    large_source: int = 300_000
    batch: int = 32
    one_in: int = 8
    times_fewer: int = 4
    part_from: int = 20_000
    times_beyond: int = 2
    meet_from: int = 800_000
    meets: int = 4
    few_nodes: int = 32
    few_cells: int = 1_000
    lasting_from: int = 5_000
    few_values: int = 1_000


sizes = Adjustable(Sizes())
