"""Prints the figures of papers beside ours: `python -m benchmarks.papers cost`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence

from benchmarks.papers.printed import PAPERS, Line, compared, groups, page_lines, source, table, write

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the table of each paper, or how many lines of its page agree if no paper is named."""
    options = _parser().parse_args(arguments)
    if not options.paper:
        _counts()
        return 0
    if options.write and (options.quick or options.group):
        print("benchmarks.papers: --write computes all groups", file=sys.stderr)
        return 2
    lines: list[Line] = []
    for text in table(_kept(_computed(options), lines)):
        print(text, flush=True)
    print(f"\n{_count(lines)}")
    if options.write:
        write(options.paper, lines)
    return 0


def _computed(options: argparse.Namespace) -> Iterator[Line]:
    with source(options.paper) as connection:
        for group in groups(options.paper):
            if (group.quick or not options.quick) and (not options.group or group.name in options.group):
                yield from compared(options.paper, group, connection)


def _kept(lines: Iterator[Line], kept: list[Line]) -> Iterator[Line]:
    for line in lines:
        kept.append(line)
        yield line


def _count(lines: Sequence[Line]) -> str:
    return f"{len(lines)} printed figures compared, {sum(line.agrees for line in lines)} within the tolerance"


def _counts() -> None:
    """Prints the counts of each page, and of all pages together."""
    every: list[Line] = []
    for paper in PAPERS:
        lines = page_lines(paper)
        print(f"{paper}: {_count(lines)}")
        every += lines
    print(f"together: {_count(every)}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers", description=__doc__)
    parser.add_argument("paper", nargs="?", choices=PAPERS, help="the paper; without one, the counts of the pages")
    parser.add_argument("--quick", action="store_true", help="only the groups that a test computes, too")
    parser.add_argument("--group", action="append", metavar="NAME", help="only this group; can be repeated")
    parser.add_argument("--write", action="store_true", help="replace the table on the paper's page")
    return parser


if __name__ == "__main__":
    sys.exit(main())
