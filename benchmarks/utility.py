"""Measures the errors of answers from releases of Adult, by method: `python -m benchmarks.utility`.

Random counts as in Xiao and Tao, Anatomy: simple and effective privacy preservation (2006), section 6: qd predicates on
quasi-identifiers and one on the occupation, of an expected selectivity; the figure is the mean relative error.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import sqlanon
from benchmarks import databases
from benchmarks.data import CENSUS, prepared
from sqlanon.clients.terminal.demo import ADULT_COMPLETE_ROWS
from sqlanon.errors import PrivacyViolation

__all__ = ["main"]

_SENSITIVE = str(CENSUS.sensitive)
_RELEASE = "answering"


@dataclass(frozen=True)
class _Method:
    """A method: `call` is the text after METHOD, with l and its variant left open; `confidential` methods keep the
    columns apart.
    """

    name: str
    call: str
    confidential: bool = False


_METHODS = (
    _Method("generalization", "generalization(suppression => 0.02)"),
    _Method("Mondrian", "mondrian"),
    _Method("Anatomy, random", "anatomy(l => {l}, variant => '{variant}')"),
    _Method("Anatomy, near", "anatomy(l => {l}, variant => '{variant}', grouping => 'near')"),
    _Method("loose, near", "loose(k => {l}, near => true)", confidential=True),
)


@dataclass(frozen=True)
class _Answers:
    """MEASURE's figures of one workload: the mean relative error, the number of queries without an estimate, and the
    bounds.
    """

    mean: float | None
    unknown: int
    within: float | None

    def __str__(self) -> str:
        left = f" ({self.unknown})" if self.unknown else ""
        return ("-" if self.mean is None else f"{100 * self.mean:.1f}") + left


@dataclass(frozen=True)
class _Release:
    """The rows that a release leaves out, and its answers by selectivity and dimensions."""

    left_out: int
    answers: dict[tuple[str, int], _Answers]


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the mean relative errors in percent, one line for each l, selectivity and method."""
    given = _parser().parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="sqlanon-utility-") as folder:
        kept = given.data or Path(folder)
        kept.mkdir(parents=True, exist_ok=True)
        with databases.working_copy(CENSUS, prepared(CENSUS, given.rows, kept, _note)) as connection:
            _prepare(connection, given)
            dimensions = " | ".join(f"qd {one}" for one in given.dimensions)
            print(f"| l | selectivity | method | {dimensions} | within bounds | rows left out |")
            print("| --- | --- | --- |" + " ---: |" * (len(given.dimensions) + 2))
            for l in given.l:  # noqa: E741 - the papers' name
                for line in _lines(connection, given, l):
                    print(line, flush=True)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.utility", description=__doc__)
    parser.add_argument("--l", type=int, nargs="+", default=list(range(3, 11)), metavar="L")
    parser.add_argument("--dimensions", type=int, nargs="+", default=list(range(1, 7)), metavar="QD")
    parser.add_argument("--selectivity", nargs="+", default=["0.05", "0.1"], metavar="S")
    parser.add_argument("--queries", type=int, default=1000, metavar="N")
    names = [method.name for method in _METHODS]
    parser.add_argument("--methods", nargs="+", default=names, choices=names, metavar="METHOD")
    parser.add_argument("--rows", type=int, default=ADULT_COMPLETE_ROWS, metavar="N")
    parser.add_argument("--data", type=Path, metavar="DIR", help="keep the table here and use it again")
    return parser


def _prepare(connection: sqlanon.Connection, given: argparse.Namespace) -> None:
    """Creates the workloads, for which only the columns and roles of their policy matter."""
    databases.declare(connection, CENSUS, CENSUS.columns, [_SENSITIVE], "k_anonymity(k => 2)")
    for selectivity in given.selectivity:
        for dimensions in given.dimensions:
            connection.sql(
                f"CREATE OR REPLACE WORKLOAD {_workload(selectivity, dimensions)} ON POLICY benchmark (queries => "
                f"{given.queries}, dimensions => {dimensions}, selectivity => {selectivity})"
            )


def _workload(selectivity: str, dimensions: int) -> str:
    return f'"{selectivity}, {dimensions}"'


def _lines(connection: sqlanon.Connection, given: argparse.Namespace, l: int) -> Iterator[str]:  # noqa: E741
    """Yields the lines of the table, one for each method and selectivity."""
    variant = _variant(connection, l)
    found: dict[str, _Release | None] = {}
    for method in (one for one in _METHODS if one.name in given.methods):
        _note(f"l = {l}, {method.name}")
        _declare(connection, method.confidential, f"l_diversity(l => {l}, variant => '{variant}')")
        found[method.name] = _measured(connection, given, method.call.format(l=l, variant=variant))
    for selectivity in given.selectivity:
        for name, release in found.items():
            yield _line(f"{l}, {variant}", selectivity, name, release, given.dimensions)


def _variant(connection: sqlanon.Connection, l: int) -> str:  # noqa: E741
    """Returns l-diversity by shares if no occupation has more than 1/l of the rows, else by number of values."""
    query = f"SELECT max(n) * {l} <= sum(n) FROM (SELECT count(*) AS n FROM {CENSUS.name} GROUP BY {_SENSITIVE})"
    ((possible,),) = connection.duckdb.execute(query).fetchall()
    return "probabilistic" if possible else "distinct"


def _declare(connection: sqlanon.Connection, confidential: bool, required: str) -> None:
    if confidential:
        databases.keep_apart(connection, CENSUS)
    else:
        databases.declare(connection, CENSUS, CENSUS.columns, [_SENSITIVE], required)


def _measured(connection: sqlanon.Connection, given: argparse.Namespace, call: str) -> _Release | None:
    """Returns the measured release; None if the method cannot guarantee the requirement."""
    try:
        connection.sql(databases.published("table", _RELEASE, call))
    except PrivacyViolation as error:
        _note(f"{call}: {error}")
        return None
    recorded = "SELECT suppressed_rows FROM anon.release WHERE object_name = ?"
    ((left_out,),) = connection.duckdb.execute(recorded, [_RELEASE]).fetchall()
    answers = {
        (selectivity, dimensions): _answers(connection, _workload(selectivity, dimensions))
        for selectivity in given.selectivity
        for dimensions in given.dimensions
    }
    return _Release(left_out, answers)


def _answers(connection: sqlanon.Connection, workload: str) -> _Answers:
    rows = connection.sql(f"MEASURE {_RELEASE} WITH WORKLOAD {workload}").fetchall()
    figures = {figure: value for *_, figure, value in rows}
    return _Answers(figures["mean_relative_error"], int(figures["not_estimated"]), figures["bounds_hit_rate"])


def _line(l: str, selectivity: str, name: str, release: _Release | None, dimensions: Sequence[int]) -> str:  # noqa: E741
    cells = ["-"] * (len(dimensions) + 2)
    if release is not None:
        answers = [release.answers[selectivity, one] for one in dimensions]
        within = min(one.within for one in answers if one.within is not None)
        cells = [*map(str, answers), f"{100 * within:g} %", f"{release.left_out:,}"]
    return f"| {' | '.join([l, selectivity, name, *cells])} |"


def _note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
