"""Entropy l-diversity (Machanavajjhala et al. 2007, definition 4.1): -sum p log p >= log l in every class."""

from __future__ import annotations

from fractions import Fraction

from tests.oracles.models.support import TOLERANCE, Class, Table, entropy, ln


def violating(table: Table, l: Fraction) -> set[Class]:  # noqa: E741 - the paper's name
    return {of for of in table.classes if entropy(table.counts(of)) < ln(l) - TOLERANCE}


def achieved(table: Table, l: Fraction) -> float | None:  # noqa: E741
    """The effective number of values of the worst class: so many equally frequent ones have its entropy."""
    least = min((entropy(table.counts(of)) for of in table.classes), default=None)
    return None if least is None else float(least.exp())
