"""Figures in words."""

from __future__ import annotations

from fractions import Fraction

from sqlanon.domain.choice import Searched


def loss_text(loss: Fraction) -> str:
    """A loss that counts as a whole number, another with six digits."""
    return str(loss) if loss.denominator == 1 and loss > 1 else f"{float(loss):.6f}"


def nodes_checked(searched: Searched) -> tuple[str, str]:
    """A row of (item, detail): how many nodes of the lattice were looked at."""
    left = searched.nodes - searched.checked - searched.pruned
    unseen = f"{searched.pruned} ruled out unseen" + (f", {left} left" if left else "")
    return "nodes checked", f"{searched.checked} of {searched.nodes}, {unseen}"
