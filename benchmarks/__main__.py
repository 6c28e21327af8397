"""The command line of the benchmarks."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.cases import CASES, ON_DEMAND
from benchmarks.cases.mondrian import MODEL_RUNS
from benchmarks.cases.mondrian import SIZES as MONDRIAN_SIZES
from benchmarks.cases.search import RUNS
from benchmarks.cases.search import SIZES as SEARCH_SIZES
from benchmarks.context import SIZES, Context
from benchmarks.figure import Figure
from benchmarks.report import as_json, machine, show
from benchmarks.slope import slopes
from sqlanon.clients.terminal.demo import ADULT_COMPLETE_ROWS
from sqlanon.errors import SqlanonError

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures and prints. Returns 0, also if a mark is missed, and 2 if nothing can be measured."""
    given = _parser().parse_args(arguments)
    try:
        _run(given)
    except SqlanonError as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 2
    return 0


def _run(given: argparse.Namespace) -> None:
    about = machine()
    with _folder(given.data) as folder:
        sizes = tuple(given.rows) if given.rows else None
        context = Context(folder, _note, sizes, given.runs, given.quick)
        figures = list(_measured(context, given.only or [*CASES, *(ON_DEMAND if given.large else ())]))
    figures += slopes(figures)
    show(figures, about, stages=given.stages)
    if given.json:
        given.json.write_text(json.dumps(as_json(figures, about), indent=2) + "\n", encoding="utf-8")


def _measured(context: Context, names: Sequence[str]) -> Iterator[Figure]:
    for name in names:
        yield from (CASES | ON_DEMAND)[name](context)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Measures sqlanon against plain SQL on the same data."
    )
    parser.add_argument("--quick", action="store_true", help="small tables and one run each: does everything work?")
    parser.add_argument(
        "--rows",
        type=int,
        nargs="+",
        metavar="N",
        help=f"numbers of rows (default {_listed(SIZES)}; search {_listed(SEARCH_SIZES)}; "
        f"mondrian {_listed(MONDRIAN_SIZES)}; mondrian_peers {ADULT_COMPLETE_ROWS})",
    )
    parser.add_argument(
        "--runs",
        type=int,
        metavar="N",
        help=f"pairs of runs (default: more where they are short; search {RUNS}; mondrian with a model {MODEL_RUNS})",
    )
    parser.add_argument(
        "--only", action="append", choices=[*CASES, *ON_DEMAND], metavar="CASE", help="this case; can be repeated"
    )
    parser.add_argument(
        "--large", action="store_true", help="also 50 million rows with 2 GB of memory, the Python packages, and Spark"
    )
    parser.add_argument("--stages", action="store_true", help="also the seconds and queries of each stage")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything that was measured to a file")
    parser.add_argument("--data", type=Path, metavar="DIR", help="keep the generated tables here and use them again")
    return parser


def _listed(sizes: Sequence[int]) -> str:
    return " ".join(map(str, sizes))


@contextmanager
def _folder(kept: Path | None) -> Iterator[Path]:
    if kept:
        kept.mkdir(parents=True, exist_ok=True)
        yield kept
    else:
        with tempfile.TemporaryDirectory(prefix="sqlanon-benchmarks-") as folder:
            yield Path(folder)


def _note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
