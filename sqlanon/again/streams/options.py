"""What METHOD stream(k => ..., delay => ..., reuse => ...) takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlanon.domain.identifiers import fold
from sqlanon.domain.values import Value
from sqlanon.errors import PolicyError
from sqlanon.methods.shared.arguments import Kind, argument, called, parsed

METHOD = "stream"


@dataclass(frozen=True)
class Options:
    """The arguments of the method."""

    k: int = argument("each class has rows of so many different respondents at the least", Kind.WHOLE, least=2)
    delay: int | str = argument(
        "a row leaves before so many rows have arrived after it, or before so much time has passed",
        Kind.SPAN,
        example=1000,
    )
    reuse: bool = argument(
        "a row that finds no class in time is published under the label of an earlier one that covers it",
        Kind.FLAG,
        default=True,
    )


def options_of(name: str, arguments: Sequence[tuple[str, Value]]) -> Options:
    """The arguments of a stream, checked.

    Raises PolicyError for another method, and for a delay in which no class of k can come together.
    """
    if fold(name) != METHOD:
        raise PolicyError(
            f"a stream is published by METHOD {METHOD}, not by {name}",
            hint=f"write METHOD {called(METHOD, {'k': 5, 'delay': 1000})}; CREATE ANONYMIZED TABLE takes other methods",
            part=("method", name),
        )
    options = parsed(METHOD, Options, arguments)
    if isinstance(options.delay, int) and options.delay < options.k:
        raise PolicyError(
            f"{METHOD}: with delay => {options.delay} a row never meets the {options.k - 1} others that "
            f"k => {options.k} asks for",
            hint=f"a delay is {options.k} rows or more, and the longer it is, the narrower the classes are",
            part=("method", METHOD, "delay"),
        )
    return options
