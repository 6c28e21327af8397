"""Figures in words."""

from __future__ import annotations

from fractions import Fraction

__all__ = ["loss_text"]


def loss_text(loss: Fraction) -> str:
    """A loss that counts as a whole number, another with six digits."""
    return str(loss) if loss.denominator == 1 and loss > 1 else f"{float(loss):.6f}"
