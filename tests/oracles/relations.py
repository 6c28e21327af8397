"""Functional dependencies, formulas and codes for missing values of small tables, in plain Python."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence

Values = Sequence[Hashable]


def determines(source: Values, target: Values) -> bool:
    """Whether no value of the source has two values of the target; None is a value."""
    targets = defaultdict(set)
    for value, other in zip(source, target, strict=True):
        targets[value].add(other)
    return all(len(others) == 1 for others in targets.values())


def fits(kind: str, target: Sequence[float | None], *sources: Sequence[float | None]) -> bool:
    """Whether a column equals the formula of its sources in each row without missing values."""
    formulas = {
        "square": lambda a: a * a,
        "logarithm": lambda a: math.log(a) if a >= 1 else None,
        "sum": lambda *parts: math.fsum(parts),
        "product": lambda *parts: math.prod(parts),
        "difference": lambda a, b: a - b,
        "quotient": lambda a, b: a / b if b else None,
    }
    for value, *parts in zip(target, *sources, strict=True):
        if value is None or None in parts:
            continue
        expected = formulas[kind](*parts)
        if expected is not None and not math.isclose(value, expected, rel_tol=1e-4, abs_tol=1e-3):
            return False
    return True


def missing_codes(values: Sequence[float]) -> set[int]:
    """Returns the codes for missing values among numbers, by the two sentences of the documentation, word for word."""
    negative = {value for value in values if value < 0}
    codes = {int(value) for value in negative} if negative <= {-9999, -999, -99, -9, -8, -7, -1} else set()
    if codes == {-1}:
        codes = set()
    rest = sorted(set(values) - codes)
    if len(rest) < 2:
        return set()
    last, before = rest[-1], rest[-2]
    far = before <= (0.6 if last == 9 else 0.8) * last
    if len(rest) > 2 and last in (9, 99, 999, 9999, 99999) and before >= 0 and far and list(values).count(last) > 1:
        codes.add(int(last))
    return codes
