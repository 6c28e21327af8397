"""What m-invariance has chosen, in words."""

from __future__ import annotations

from collections.abc import Iterator

from sqlanon.domain.counts import counted
from sqlanon.methods.m_invariance.choice import Invariant
from sqlanon.methods.shared.wording import loss_text


def dealt_out(choice: Invariant) -> Iterator[tuple[str, str]]:
    """Rows of (item, detail): whose values to choose from stay, and how many counterfeits that takes."""
    yield "respondents", f"{choice.staying} keep the values to choose from, {choice.newcomers} are newcomers"
    if choice.changed:
        who = "1 has" if choice.changed == 1 else f"{choice.changed} have"
        yield (
            "changed values",
            f"{who} another value than any to choose from before: nothing is promised of them, nor of those who were "
            "in a bucket with them",
        )
    yield "buckets", f"{choice.buckets}, with {counted(choice.counterfeits, 'counterfeit')}"
    yield "suppressed rows", f"0 of {choice.rows}"
    if choice.ranges is not None:
        yield "granularity loss", f"{loss_text(choice.loss)}, not proven to be the least"
