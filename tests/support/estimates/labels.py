"""What the labels of random releases may stand for, read from their texts alone: leaves for the oracle of ESTIMATE."""

from __future__ import annotations

import re
from typing import Any

from tests.support.estimates.queries import LISTED, Task

__all__ = ["ANY", "cells"]

UNKNOWN = 10**18
_INTERVAL = re.compile(r"\[(-?\d+),(-?\d+)\)")
_RANGE = re.compile(r"\[(-?\w+), (-?\w+)\]( or NULL)?")
_TREE = ("cat", "dog", "cow", "oak")
# Values that stand for all that a label of which nothing is known may hide.
ANY: dict[str, tuple[Any, ...]] = {
    "number": (None, -UNKNOWN, *range(-6, 16), UNKNOWN),
    "kind": (*sorted(LISTED), "elk"),
    "code": (None, "", "0", "10", "11", "11!", "12", "12!", "13", "15", "15!", "1~", "2", "2!", "21", "3", "3!", "~"),
}


def cells(task: Task, name: str, shown: Any, ends: tuple[Any, Any] | None = None) -> list[tuple[Any, float | None]]:
    """The leaves of what the release shows of a quasi-identifier, from the text of its label alone."""
    if ends is not None:
        return [(None, 1.0)] if ends[0] is None else [(n, 1.0) for n in range(ends[0], ends[1] + 1)] + [(None, 0.0)]
    if shown is None:
        return [(None, 1.0)]
    if task.release == "flat" and name != "number":
        return _texts(name, str(shown))
    if name == "kind":
        return _kinds(str(shown), task.release)
    text = str(shown)
    if text == "*":
        return [(value, None) for value in ANY[name]]
    if name == "number":
        return _numbers(text)
    return _codes(text)


def _kinds(text: str, release: str) -> list[tuple[Any, float | None]]:
    if text == "*" or (release == "bounds" and text is not None):
        weight = None if release == "bounds" else 1.0
        return [*((value, weight) for value in LISTED), (None, None if weight is None else 0.0)]
    bare, null = (text[:-8], True) if text.endswith(" or NULL") else (text, False)
    found = [value for value, labels in LISTED.items() if bare in (value, *labels)]
    if match := _RANGE.fullmatch(bare):
        order = sorted(LISTED, key=_order)
        found = order[order.index(match[1]) : order.index(match[2]) + 1]
    return [*((value, 1.0) for value in found), *([(None, 1.0)] if null else [])]


def _order(value: str) -> tuple[str, ...]:
    """Where a value stands along its hierarchy: nodes by the least value below them."""
    low, high = LISTED[value]
    least = [min(v for v, labels in LISTED.items() if label in labels) for label in (high, low)]
    return (*least, value)


def _numbers(text: str) -> list[tuple[Any, float | None]]:
    if match := _INTERVAL.fullmatch(text):
        return [(number, 1.0) for number in range(int(match[1]), int(match[2]))]
    bare, null = (text[:-8], True) if text.endswith(" or NULL") else (text, False)
    match = _RANGE.fullmatch(bare)
    low, high = (int(match[1]), int(match[2])) if match else (int(bare), int(bare))
    return [*((number, 1.0) for number in range(low, high + 1)), *([(None, 1.0)] if null else [])]


def _codes(text: str) -> list[tuple[Any, float | None]]:
    bare, null = (text[:-8], True) if text.endswith(" or NULL") else (text, False)
    if text.endswith("*"):
        first = text[0]
        return [*((f"{first}{digit}", 1.0) for digit in range(10)), (f"{first}!", 0.0), (f"{first}~", 0.0)]
    if bare.startswith("["):
        # Its order depends on values that nobody knows, and a text may look like a range.
        return [(value, None) for value in (*ANY["code"], text) if value is not None or null]
    if null:
        return [(text, 0.0), (bare, 1.0), (None, 1.0)]
    return [(text, 1.0)]


def _texts(name: str, text: str) -> list[tuple[Any, float | None]]:
    """The texts that a range may hide, in their order; a text may itself look like a range, or like one with NULL."""
    bare, null = (text[:-8], True) if text.endswith(" or NULL") else (text, False)
    match = _RANGE.fullmatch(bare)
    if not match and not null:
        return [(text, 1.0)]
    if not match:
        return [(text, 0.0), (bare, 1.0), (None, 1.0)]
    found = {text, bare}
    if match:
        # What stands right behind a value is before all others.
        others = {one + "\x01" for one in (match[1], *ANY[name]) if one is not None}
        found |= {one for one in {match[1], match[2], *ANY[name], *others} if one and match[1] <= one <= match[2]}
    return [*((one, None) for one in found), *([(None, None)] if null else [])]
