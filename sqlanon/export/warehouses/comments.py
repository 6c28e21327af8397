"""What a script says to who reads it before it runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sqlanon import __version__
from sqlanon.domain.values import QualifiedName, written
from sqlanon.export.warehouses.dialects import Dialect
from sqlanon.export.warehouses.plan import ReleasePlan
from sqlanon.export.warehouses.regions import RegionMap
from sqlanon.sources.target_names import fragment_name
from sqlanon.sql.release.recode import Recoding

# What ends a line of SQL somewhere, so that what stands behind it would not be a comment any more.
_BREAKS = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]+")

_PROMISE = (
    "",
    "Withheld are the rows of classes that do not satisfy the requirements when the script runs, however many these",
    "are, and rows with values that a hierarchy does not list. The requirements are then asked anew, of the rows that",
    "are to be published. If they are not satisfied the script ends with an error, and nothing is published.",
)
_REGIONS_PROMISE = (
    "",
    "Withheld are the rows that lie in no region, and those of regions that do not satisfy the requirements when the",
    "script runs, however many these are. The requirements are then asked anew, of the rows that are to be published.",
    "If they are not satisfied the script ends with an error, and nothing is published.",
)
_BUCKETS_PROMISE = (
    "",
    "All rows are dealt out to buckets by draws of the warehouse's: the buckets are others than those of the release.",
    "The quasi-identifiers stay as they are, so who is in the table can be told; which sensitive value of a bucket is",
    "whose cannot. The requirements are then asked of the tables that were written, and these are compared with the",
    "source. If they are not satisfied the script ends with an error, and nothing is published.",
    "",
    "Publish one dealing of the same rows, this one or that of the release: of two, a row has only the values that the",
    "buckets of both have.",
)
_FRAGMENTS_PROMISE = (
    "",
    "All rows are published, each table in an order of its own: nothing says which rows of two tables are one. The",
    "tables are compared with the source. If they have other rows the script ends with an error, and nothing is",
    "published.",
)
_STAGED = (
    "",
    "Its steps are tables of the staging schema, which hold rows of the source: nobody else may read that schema. The",
    "script drops them at its end, or, where it did not come there, when it runs again; two must not run at once.",
)


def comment(*lines: str) -> str:
    """Lines of a script that no warehouse runs, whatever stands in them."""
    return "\n".join(("-- " + _BREAKS.sub(" ", line)).rstrip() for line in lines)


def header(plan: ReleasePlan, dialect: Dialect, source: QualifiedName, target: QualifiedName) -> str:
    """What the script is, what it reads and writes, and what it holds of the source."""
    return comment(*_lines(plan, dialect, source, target))


def _lines(plan: ReleasePlan, dialect: Dialect, source: QualifiedName, target: QualifiedName) -> Iterator[str]:
    release = plan.release
    yield f"{target}: the release {release.name} of the policy {release.policy}, made in {dialect.title}."
    yield f"Written by sqlanon {__version__}."
    yield ""
    yield f"Reads     {source}"
    tables = [fragment_name(target, publication.fragment) for publication in plan.publications]
    yield f"Writes    {' and '.join(map(str, tables))}, which must not be there yet"
    confidential = [f"no table with {' and '.join(together)}" for together in plan.policy.confidential]
    yield from _listed("Requires ", confidential or [str(requirement) for requirement in plan.requirements])
    if plan.regions is not None:
        by = ", ".join(bound.column for bound in plan.bound.quasi_identifiers)
        yield f"Regions   {len(plan.regions.regions.rows):,}, by {by}"
        yield f"Method    {_method(plan)}, which cut them by {release.source_rows:,} rows"
        yield from _REGIONS_PROMISE
        yield from _regions_kept(plan, plan.regions)
    elif plan.fragments:
        yield f"Method    {_method(plan)}"
        yield from _FRAGMENTS_PROMISE
    elif plan.buckets is not None:
        yield f"Method    {_method(plan)}"
        yield from _BUCKETS_PROMISE
    else:
        yield from _listed("Levels   ", [_level(recoding) for recoding in plan.recodings])
        yield f"Method    {_method(plan)}, which chose the levels by {release.source_rows:,} rows"
        yield from _PROMISE
    if plan.mappings:
        yield ""
        yield "The script holds the values that these hierarchies list, which may be values of the source: keep it as"
        yield f"you keep the source. {', '.join(f'{m.hierarchy} ({len(m.rows):,})' for m in plan.mappings.values())}"
    if dialect.draw is None:
        yield ""
        yield f"Tables of {dialect.title} have no order, so that none is given to the rows."
    if dialect.is_staged:
        yield from _STAGED


def _regions_kept(plan: ReleasePlan, regions: RegionMap) -> Iterator[str]:
    """What the script holds of the source: the ends of ranges, and the values of columns that have ranks."""
    quasi = plan.bound.quasi_identifiers
    counts = [f"{len(table.rows):,} values of {quasi[index].column}" for index, table in regions.ranks.items()]
    yield ""
    yield f"The script holds values of the source, so keep it as you keep the source: the ends of {_regions(regions)}"
    if counts:
        yield f"and, for the order of their hierarchies, {', '.join(counts)}."


def _regions(regions: RegionMap) -> str:
    count = len(regions.regions.rows)
    return f"{count:,} region{'' if count == 1 else 's'}{'' if regions.ranks else '.'}"


def _listed(title: str, lines: Sequence[str]) -> Iterator[str]:
    for index, line in enumerate(lines):
        yield f"{title if index == 0 else ' ' * len(title)} {line}"


def _level(recoding: Recoding) -> str:
    bound = recoding.bound
    using = f" of {bound.hierarchy.name}" if bound.hierarchy else ""
    said = "the value itself" if recoding.level == 0 else "*" if recoding.level == bound.height else ""
    return f"{bound.column} {recoding.level}/{bound.height}{using}" + (f": {said}" if said else "")


def _method(plan: ReleasePlan) -> str:
    arguments = ", ".join(f"{name} => {written(value)}" for name, value in plan.release.method_arguments)
    return plan.release.method + (f"({arguments})" if arguments else "")
