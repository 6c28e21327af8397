"""The l-diversity that a method promises of every class, as arguments of its own."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from sqlanon.domain.policy import Requirement
from sqlanon.domain.values import Value
from sqlanon.methods.shared.arguments import Kind, argument

VARIANTS = ("probabilistic", "distinct", "entropy", "recursive")


@dataclass(frozen=True)
class Diversity:
    """The arguments l, variant and c, for 'recursive', of l-diversity (Machanavajjhala et al. 2007)."""

    l: int = argument(  # noqa: E741 - the papers' name
        "the l of the l-diversity that every bucket has", Kind.WHOLE, least=2, most=1_000_000, example=3
    )
    variant: str = argument("which l-diversity", Kind.CHOICE, default=VARIANTS[0], choices=VARIANTS)
    c: Decimal = argument(
        "how many times as often as the rarer ones together a bucket's most frequent value may occur",
        Kind.NUMBER,
        default=Decimal(3),
        above=0,
        most=1_000_000,
        example=3,
        needs=("variant", "recursive"),
    )


def promised_diversity(options: Diversity) -> Requirement:
    """The requirement of every class that the arguments stand for."""
    arguments: list[tuple[str, Value]] = [("l", options.l), ("variant", options.variant)]
    if options.variant == "recursive":
        arguments.append(("c", options.c))
    return Requirement("l_diversity", tuple(arguments))
