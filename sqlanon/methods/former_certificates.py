"""Certificates of the first format, which name the method and do not say how columns are read."""

from __future__ import annotations

from typing import Any

from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Policy, Role
from sqlanon.domain.reading import Reading
from sqlanon.methods.fragmentation.tables import ASSOCIATION, GROUP, association_columns
from sqlanon.methods.shared.bucket_tables import QUASI_IDENTIFIERS, sensitive_names
from sqlanon.sqlgen.classes.buckets import BUCKET, COUNT, VALUE
from sqlanon.sqlgen.release.region_rows import ENDS

__all__ = ["upgraded"]

_FIRST = 1
_KNOWN = (_FIRST, 2)


def upgraded(stated: dict[str, Any], policy: Policy) -> dict[str, Any]:
    """A certificate with the reading of each column; one of a later format than the first as it is.

    Raises ValueError for a format that nobody knows here, for a method that there was not, and for tables that it did
    not publish.
    """
    if stated["format_version"] not in _KNOWN:
        raise ValueError("no such format")
    if stated["format_version"] != _FIRST:
        return stated
    method = str(stated["method"]["name"]).lower()
    if "tables" not in stated:
        if method not in ("generalization", "mondrian"):
            raise ValueError("no such method")
        return {**stated, "columns": _of_one_table(stated, policy, method)}
    parts = [_behind(str(table["name"]), str(stated["release"])) for table in stated["tables"]]
    if method == "anatomy":
        columns = [_of_buckets(table, part, policy) for table, part in zip(stated["tables"], parts, strict=True)]
    elif method in ("fragments", "loose"):
        loose = method == "loose"
        numbers = list(map(str, range(1, len(parts) + (not loose))))
        if parts != [*numbers, *([ASSOCIATION] if loose else [])]:
            raise ValueError("no fragments")
        columns = [_of_fragment(table, part, loose) for table, part in zip(stated["tables"], parts, strict=True)]
        if loose and [column["name"] for column in columns[-1]] != association_columns(len(numbers)):
            raise ValueError("no association")
    else:
        raise ValueError("no such method")
    tables = [{**table, "columns": described} for table, described in zip(stated["tables"], columns, strict=True)]
    return {**stated, "tables": tables}


def _behind(table: str, release: str) -> str:
    """The part of a table's name that follows the release's."""
    return table.removeprefix(f"{release}_")


def _of_one_table(stated: dict[str, Any], policy: Policy, method: str) -> list[dict[str, Any]]:
    arguments = dict(stated["method"]["arguments"])
    publish = arguments.get("publish", "range") if method == "mondrian" else "levels"
    # The levels of the first round of a local recoding alone were stated.
    several = arguments.get("recoding") == "local"
    levels = {fold(str(level["attribute"])): None if several else [int(level["level"])] for level in stated["levels"]}
    attributes = {fold(attribute.name): attribute for attribute in policy.attributes}
    ends = {
        f"{fold(attribute.name)}_{end}": reading
        for attribute in policy.quasi_identifiers
        for end, reading in zip(ENDS, (Reading.LOWER_BOUND, Reading.UPPER_BOUND), strict=True)
        if arguments.get("bounds") is True
    }
    columns: list[dict[str, Any]] = []
    for column in stated["columns"]:
        name = fold(str(column["name"]))
        attribute = attributes.get(name)
        level_lists: dict[str, Any] = {}
        if attribute is None:
            if name not in ends and not (publish == "none" and name == BUCKET):
                raise ValueError("no such column")
            reading = ends.get(name, Reading.BUCKET)
        elif attribute.pseudonym:
            reading = Reading.TOKEN
        elif attribute.role is Role.SENSITIVE and publish == "none":
            reading = Reading.BUCKET_VALUE
        elif attribute.role is not Role.QUASI_IDENTIFIER or publish == "none" or levels.get(name) == [0]:
            reading = Reading.EXACT
        elif publish == "levels" or (publish == "ancestor" and attribute.hierarchy):
            reading = Reading.LABEL
            level_lists = {"levels": levels[name]} if levels.get(name) else {}
        else:
            reading = Reading.CENTROID if publish == "centroid" else Reading.RANGE
        columns.append({**column, "reading": reading.value, **level_lists})
    return columns


def _of_buckets(table: dict[str, Any], part: str, policy: Policy) -> list[dict[str, Any]]:
    values = {part: name for name, part in sensitive_names([a.name for a in policy.having(Role.SENSITIVE)]).items()}
    added = {BUCKET: Reading.BUCKET}
    if part != QUASI_IDENTIFIERS:
        added |= {VALUE: Reading.BUCKET_VALUE, COUNT: Reading.COUNT}
        read = [{**column, "reading": added[column["name"]].value} for column in table["columns"]]
        return [{**column, "source": values[part]} if column["name"] == VALUE else column for column in read]
    tokens = {fold(attribute.name) for attribute in policy.attributes if attribute.pseudonym}
    added |= {column["name"]: Reading.TOKEN for column in table["columns"] if fold(column["name"]) in tokens}
    return [{**column, "reading": added.get(column["name"], Reading.EXACT).value} for column in table["columns"]]


def _of_fragment(table: dict[str, Any], part: str, loose: bool) -> list[dict[str, Any]]:
    if part == ASSOCIATION:
        return [{**column, "reading": Reading.LINK.value} for column in table["columns"]]
    return [
        {**column, "reading": (Reading.GROUP if loose and column["name"] == GROUP else Reading.BUCKET_VALUE).value}
        for column in table["columns"]
    ]
