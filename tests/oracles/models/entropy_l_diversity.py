"""Entropy l-diversity (Machanavajjhala et al. 2007, definition 4.1): -sum p log p >= log l in every class."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from fractions import Fraction

from tests.oracles.models.support import TOLERANCE, Class, Table, entropy, ln


def violating(table: Table, l: Fraction) -> set[Class]:  # noqa: E741 - the paper's name
    return {of for of in table.classes if _is_short(table.counts(of), l)}


def _is_short(counts: Mapping[Hashable, int], l: Fraction) -> bool:  # noqa: E741
    """Whether a class has too little entropy: equally frequent values are counted, other entropies must exceed ln l."""
    if len(set(counts.values())) == 1:
        return len(counts) < l
    return entropy(counts) < ln(l) + TOLERANCE


def achieved(table: Table, l: Fraction) -> float | None:  # noqa: E741
    """Returns the effective number of values of the worst class: the exponential of its entropy."""
    least = min((entropy(table.counts(of)) for of in table.classes), default=None)
    return None if least is None else float(least.exp())
