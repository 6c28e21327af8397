"""The experiments of Li, Li, Zhang and Molloy, Slicing: A New Approach for Privacy Preserving Data Publishing (2012).

`python -m benchmarks.papers.slicing` prints tables: the accuracy of a learner that has only a release of UCI Adult
(`classification`, with scikit-learn), the time of statements by rows and by attributes (`rows`, `attributes`), and the
number of tuples that match a bucket (`membership`). OCC-7 and OCC-15 are Adult's complete rows with 7 and with all 15
attributes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence

import sqlanon
from benchmarks.papers import adult, efficiency, membership
from benchmarks.papers.adult import FOLDS, OCC_7, OCC_15, Selection
from benchmarks.papers.settings import SETTINGS, TIMED

__all__ = ["main"]

PARTS = ("classification", "rows", "attributes", "membership")
_NOT_ALONE = ("attributes", OCC_7)
_QUICK_ROWS, _QUICK_FOLDS, _QUICK_RUNS = 4_000, 1, 1
_RUNS = 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the tables of the parts."""
    options = _parser().parse_args(arguments)
    rows = options.rows or (_QUICK_ROWS if options.quick else None)
    with adult.connected(rows, options.seed) as connection:
        for part in options.part or PARTS:
            for selection in _selections(part, options.selection):
                for line in _lines(connection, adult.described(connection, selection), part, options):
                    print(line, flush=True)
                print()
    return 0


def _selections(part: str, names: Sequence[str]) -> list[Selection]:
    """Returns the selections of a part; `attributes` has one table, which begins with the attributes of OCC-7."""
    return [selection for selection in (OCC_7, OCC_15) if selection.name in names and (part, selection) != _NOT_ALONE]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers.slicing", description=__doc__)
    parser.add_argument("--part", action="append", choices=PARTS, help="this part; can be repeated (default: all)")
    names = [OCC_7.name, OCC_15.name]
    parser.add_argument("--selection", nargs="+", choices=names, default=names, help="of Adult's attributes")
    parser.add_argument("--quick", action="store_true", help="few rows, one fold and one run: does everything work?")
    parser.add_argument("--rows", type=int, metavar="N", help="so many rows of Adult instead of all complete ones")
    parser.add_argument("--folds", type=int, metavar="N", help=f"so many of the {FOLDS} folds (default: all)")
    parser.add_argument("--runs", type=int, metavar="N", help=f"runs of each statement (default {_RUNS})")
    parser.add_argument("--only", nargs="+", default=[""], metavar="NAME", help="parts of the names of releases")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of folds and joins; releases draw as always")
    return parser


def _lines(
    connection: sqlanon.Connection, selection: Selection, part: str, options: argparse.Namespace
) -> Iterator[str]:
    runs = options.runs or (_QUICK_RUNS if options.quick else _RUNS)
    timed = [setting for setting in TIMED if any(name in setting.name for name in options.only)]
    if part == "classification":
        # scikit-learn is an extra, and the other parts do without.
        from benchmarks.papers import classification

        folds = options.folds or (_QUICK_FOLDS if options.quick else FOLDS)
        settings = [setting for setting in SETTINGS if any(name in setting.name for name in options.only)]
        yield from classification.lines(connection, selection, settings, folds, options.seed)
    elif part == "rows":
        most = connection.duckdb.execute("SELECT count(*) FROM people").fetchall()[0][0]
        rows = [number for number in efficiency.ROWS if number <= most] or [most // 2, most]
        yield from efficiency.by_rows(connection, selection, timed, rows, runs)
    elif part == "attributes":
        numbers = range(len(OCC_7.attributes), len(OCC_15.attributes) + 1, 2)
        yield from efficiency.by_attributes(connection, selection, timed, numbers, runs)
    else:
        sizes = (10, 100) if options.quick else (10, 100, 500, 1000)
        yield from membership.lines(connection, selection, sizes, (2, 5), options.seed)


if __name__ == "__main__":
    sys.exit(main())
