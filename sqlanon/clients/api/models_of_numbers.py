"""Privacy models of secret numbers; written by `python -m tools.typed_classes --write`."""

from __future__ import annotations

from typing import ClassVar, Literal

from sqlanon.clients.api.arguments import Names, Number
from sqlanon.clients.api.requirements import Requirement

__all__ = [
    "IndividualRisk",
    "KeAnonymity",
    "Proximity",
    "Spread",
]


class IndividualRisk(Requirement):
    """The risk that a row of a class is the person whom its values fit, estimated from the sampling weights by the
    model of Benedetti and Franconi, is at most max.

    - `max`: the greatest estimated probability that a row of a class is the person whom its values fit (0.001 to 1).
    - `attribute`: the sensitive column to check, if the policy has several.
    - `on`: the quasi-identifiers by which classes are told apart; by default all.

    Benedetti and Franconi, Statistical and technological solutions for controlled data dissemination (1998): estimated,
    no bound

    >>> IndividualRisk(max=0.5).sql()
    'individual_risk(max => 0.5)'
    """

    MODEL: ClassVar[str] = "individual_risk"

    def __init__(self, *, max: Number, attribute: str | None = None, on: Names | None = None) -> None:
        super().__init__("individual_risk", max=max, attribute=attribute, on=on)


class KeAnonymity(Requirement):
    """Every equivalence class holds at least k different sensitive numbers, and the greatest and the least differ by
    at least e.

    - `k`: the least number of different values of a class (1 to 1000000).
    - `e`: the least difference of the greatest and the least number of a class; of dates, in days (0 to
      1000000000000000).
    - `attribute`: the sensitive column to check, if the policy has several.
    - `on`: the quasi-identifiers by which classes are told apart; by default all.

    Zhang, Koudas, Srivastava and Yu, Aggregate query answering on anonymized tables (2007), definition of
    (k,e)-anonymity

    >>> KeAnonymity(k=5, e=1000).sql()
    'ke_anonymity(k => 5, e => 1000)'
    """

    MODEL: ClassVar[str] = "ke_anonymity"

    def __init__(self, *, k: int, e: Number, attribute: str | None = None, on: Names | None = None) -> None:
        super().__init__("ke_anonymity", k=k, e=e, attribute=attribute, on=on)


class Proximity(Requirement):
    """No range of the given width holds more than the given share of the sensitive numbers of an equivalence class.

    - `variant='centred'`: For no sensitive number of an equivalence class does more than the given share of the class's
      numbers lie within the given distance of it.
    - `variant='relative'`: For no sensitive number x of an equivalence class does more than the given share of the
      class's numbers lie within the given fraction of abs(x) around x.

    - `within`: the width of a range, between its least and its greatest number; of dates, in days (0 to
      1000000000000000); with `variant='centred'` the distance up to which numbers are near each other; of dates, in
      days (0 to 1000000000000000); with `variant='relative'` the distance up to which numbers are near a number, as a
      fraction of that number; of dates, from 1970-01-01 (0 to 1000000000000000).
    - `max`: the greatest share of the numbers of a class that may lie so near to each other (0 to 1).
    - `variant`: the form of the model, by default 'window'.
    - `attribute`: the sensitive column to check, if the policy has several.
    - `on`: the quasi-identifiers by which classes are told apart; by default all.

    - Li, Tao and Xiao, Preservation of proximity privacy in publishing numerical sensitive data (2008),
    (epsilon,m)-anonymity, with ranges in place of neighborhoods
    - Li, Tao and Xiao, Preservation of proximity privacy in publishing numerical sensitive data (2008), absolute
    (epsilon,m)-anonymity
    - Li, Tao and Xiao, Preservation of proximity privacy in publishing numerical sensitive data (2008), relative
    (epsilon,m)-anonymity

    >>> Proximity(within=500, max=0.5).sql()
    'proximity(within => 500, max => 0.5)'
    """

    MODEL: ClassVar[str] = "proximity"

    def __init__(
        self,
        *,
        within: Number,
        max: Number,
        variant: Literal["window", "centred", "relative"] | None = None,
        attribute: str | None = None,
        on: Names | None = None,
    ) -> None:
        super().__init__("proximity", within=within, max=max, variant=variant, attribute=attribute, on=on)


class Spread(Requirement):
    """The greatest and the least sensitive number of every equivalence class differ by at least the given number.

    - `measure='deviation'`: The standard deviation of the sensitive numbers of every equivalence class is at least the
      given number.
    - `measure='variance'`: The variance of the sensitive numbers of every equivalence class is at least the given
      number.

    - `least`: the least difference of the greatest and the least number of a class; of dates, in days (0 to
      1000000000000000); with `measure='deviation'` the least standard deviation of the numbers of a class, over its
      rows; of dates, in days (0 to 1000000000000000); with `measure='variance'` the least variance of the numbers of a
      class, over its rows; of dates, in squared days (0 to 1000000000000000).
    - `measure`: the form of the model, by default 'range'.
    - `attribute`: the sensitive column to check, if the policy has several.
    - `on`: the quasi-identifiers by which classes are told apart; by default all.

    - Zhang, Koudas, Srivastava and Yu, Aggregate query answering on anonymized tables (2007), the e of (k,e)-anonymity
    - after Zhang, Koudas, Srivastava and Yu, Aggregate query answering on anonymized tables (2007), the standard
    deviation in place of the range
    - after Zhang, Koudas, Srivastava and Yu, Aggregate query answering on anonymized tables (2007), the variance in
    place of the range

    >>> Spread(least=1000).sql()
    'spread(least => 1000)'
    """

    MODEL: ClassVar[str] = "spread"

    def __init__(
        self,
        *,
        least: Number,
        measure: Literal["range", "deviation", "variance"] | None = None,
        attribute: str | None = None,
        on: Names | None = None,
    ) -> None:
        super().__init__("spread", least=least, measure=measure, attribute=attribute, on=on)
