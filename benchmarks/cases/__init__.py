"""The cases of the benchmarks, one file each: `run` yields the figures. The order follows the life of a release."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from benchmarks.cases import (
    anatomy,
    attack,
    attack_dealt,
    cells,
    check_peers,
    default_method,
    distinct,
    dp_rivals,
    dp_synthetic,
    figures,
    frontier,
    gate,
    groceries,
    itemsets,
    knowledge,
    labelled_roles,
    large,
    latency,
    loose,
    masks,
    measure,
    microaggregation,
    mondrian,
    mondrian_peers,
    profile,
    related,
    roles,
    search,
    series,
    serve,
    sets,
    slicing,
    snapshot,
    solve,
    spark,
    startup,
    stream,
    view,
    wide_lattice,
)
from benchmarks.context import Context
from benchmarks.figure import Figure

__all__ = ["CASES", "ON_DEMAND", "Case"]

Case = Callable[[Context], Iterator[Figure]]

CASES: dict[str, Case] = {
    "startup": startup.run,
    "latency": latency.run,
    "gate": gate.run,
    "serve": serve.run,
    "solve": solve.run,
    "distinct": distinct.run,
    "search": search.run,
    "wide_lattice": wide_lattice.run,
    "sets": sets.run,
    "mondrian": mondrian.run,
    "microaggregation": microaggregation.run,
    "cells": cells.run,
    "anatomy": anatomy.run,
    "loose": loose.run,
    "slicing": slicing.run,
    "itemsets": itemsets.run,
    "related": related.run,
    "groceries": groceries.run,
    "masks": masks.run,
    "measure": measure.run,
    **{f"measure_{name}": measure.by(name) for name in measure.METHODS if name != "generalization"},
    "figures": figures.run,
    "attack": attack.run,
    "attack_dealt": attack_dealt.run,
    "knowledge": knowledge.run,
    "frontier": frontier.run,
    "profile": profile.run,
    "labelled_roles": labelled_roles.run,
    "roles": roles.run,
    "series": series.run,
    "stream": stream.run,
    "view": view.run,
    "snapshot": snapshot.run,
}
# These cases run only on request: they take long or much space, or need other packages.
ON_DEMAND: dict[str, Case] = {
    "default_method": default_method.run,
    "dp_synthetic": dp_synthetic.run,
    "large": large.run,
    "spark": spark.run,
    "mondrian_peers": mondrian_peers.run,
    "check_peers": check_peers.run,
    "dp_rivals": dp_rivals.run,
}
