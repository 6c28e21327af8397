"""The search alone: seconds and visited share of the lattice for each of several requirements, after encoding."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

import sqlanon
from benchmarks import databases, plan
from benchmarks.cases.solve import BASELINE
from benchmarks.context import Context
from benchmarks.data import ADULT
from benchmarks.figure import Figure
from benchmarks.measure import Sample, Timings, paired
from benchmarks.stages import StageTimes, timed_search
from sqlanon.methods.generalization.explain import Generalization

__all__ = ["RUNS", "SIZES", "run"]

RUNS = 3
SIZES, _QUICK_SIZES = (30_000, 1_000_000), (30_000,)

# Marks: seconds to solve up to this number of rows and beyond it, and the visited share of the lattice.
_FEW_ROWS, _FEW_MARK, _MARK = 30_000, 1.0, 2.0
_SHARE_MARK = 25.0
_SENSITIVE = "occupation"


@dataclass(frozen=True)
class _Search:
    """The requirements for a table with `least_rows` rows or more.

    A model reads the occupations of each class; without a model, occupation is the ninth quasi-identifier.
    """

    k: int
    model: str = ""
    called: str = "nine attributes"
    suppression: str = "0.04"
    least_rows: int = 0

    @property
    def what(self) -> str:
        suppressed = "4 % suppressed" if float(self.suppression) else "none suppressed"
        return f"k = {self.k}, {self.called}, {suppressed}"

    @property
    def sensitive(self) -> tuple[str, ...]:
        return (_SENSITIVE,) if self.model else ()

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        return tuple(name for name in ADULT.columns if name not in self.sensitive)

    @property
    def requirements(self) -> str:
        return ", ".join(filter(None, (f"k_anonymity(k => {self.k})", self.model)))

    @property
    def statement(self) -> str:
        return databases.explain(self.suppression)


_SEARCHES = (
    _Search(5, "l_diversity(l => 3, variant => 'recursive', c => 3)", "recursive (3,3)"),
    _Search(5, "l_diversity(l => 3, variant => 'entropy')", "entropy l = 3"),
    _Search(5, "l_diversity(l => 3)", "distinct l = 3"),
    _Search(5, "t_closeness(t => 0.2)", "t = 0.2 equal"),
    _Search(5, "delta_disclosure(delta => 1.0)", "delta = 1.0"),
    _Search(5, "delta_disclosure(delta => 2.0)", "delta = 2.0"),
    # As in ARX, whose 2 is 2 ln 2 here: not monotone, so fewer nodes can be skipped.
    _Search(5, "delta_disclosure(delta => 1.0, absent => 'ignored')", "delta = 1.0, absent ignored"),
    _Search(5, "delta_disclosure(delta => 1.3862943611198906, absent => 'ignored')", "delta = 2 ln 2, absent ignored"),
    _Search(5, "delta_disclosure(delta => 2.0, absent => 'ignored')", "delta = 2.0, absent ignored"),
    _Search(5, suppression="0"),
    _Search(5),
    _Search(100, suppression="0"),
    _Search(100),
    # Rows drawn with replacement repeat, so among this many rows a small k requires almost nothing.
    _Search(1000, suppression="0", least_rows=10_000_000),
    _Search(1000, least_rows=10_000_000),
)


def run(context: Context) -> Iterator[Figure]:
    for rows in context.sizes_or(SIZES, _QUICK_SIZES):
        context.note(f"search, {rows:,} rows")
        with databases.working_copy(ADULT, context.file(ADULT, rows)) as connection:
            _warm_up(connection)
            for search in _SEARCHES:
                if rows >= search.least_rows:
                    yield from _figures(connection, search, rows, context.runs or RUNS)


def _warm_up(connection: sqlanon.Connection) -> None:
    """Imports the modules of a search and reads the table, without running a measured search."""
    databases.declare(
        connection, ADULT, ("sex", "salary_class"), (_SENSITIVE,), "k_anonymity(k => 5), l_diversity(l => 3)"
    )
    timed_search(connection, databases.explain("0.04"))
    databases.grouped(connection, ADULT)


def _figures(connection: sqlanon.Connection, search: _Search, rows: int, runs: int) -> Iterator[Figure]:
    databases.declare(connection, ADULT, search.quasi_identifiers, search.sensitive, search.requirements)
    last: tuple[StageTimes, Generalization] | None = None

    def subject() -> Timings:
        nonlocal last
        last = timed_search(connection, search.statement)
        return {**last[0].seconds, "total": last[0].total}

    samples = paired(lambda: databases.grouped(connection, ADULT), subject, runs, warm=True)
    assert last is not None
    times, chosen = last
    found = _found(search, samples, chosen)
    yield _seconds(search, rows, samples["solve"]).with_details(
        stages=samples,
        queries=times.queries,
        found=found,
        operators=partial(plan.of_statement, connection, search.statement, ("solve",)),
        note=_note(found),
    )
    share = found["share"]
    what = f"{search.what}: share of the lattice"
    yield Figure("search", what, share, "%", share, share, rows=rows, runs=runs, mark=_SHARE_MARK)


def _seconds(search: _Search, rows: int, solve: Sample) -> Figure:
    """Returns the figure of the search; its mark is on the seconds, not on the ratio to the baseline."""
    taken = median(solve.measured)
    return Figure(
        "search",
        search.what,
        taken,
        "s",
        min(solve.measured),
        max(solve.measured),
        rows=rows,
        runs=len(solve.measured),
        seconds=taken,
        baseline=BASELINE,
        baseline_seconds=median(solve.baseline),
        mark=_FEW_MARK if rows <= _FEW_ROWS else _MARK,
    )


def _found(search: _Search, samples: dict[str, Sample], chosen: Generalization) -> dict[str, Any]:
    return {
        "nodes": chosen.nodes,
        "checked": chosen.checked,
        "share": 100 * chosen.checked / chosen.nodes,
        "encode": median(samples["encode"].measured),
        "solve": median(samples["solve"].measured),
        "ratio": samples["solve"].ratio,
        "levels": dict(zip(search.quasi_identifiers, chosen.levels, strict=True)),
        "loss": float(chosen.loss),
        "suppressed": chosen.suppressed,
        "proven": chosen.proven,
    }


def _note(found: dict[str, Any]) -> str:
    levels = " ".join(map(str, found["levels"].values()))
    proven = "proven" if found["proven"] else "not proven"
    return (
        f"{found['checked']:,} of {found['nodes']:,} nodes; encode {found['encode']:.2f} s; "
        f"solve x {found['ratio']:.2f}; levels {levels}, {proven}"
    )
