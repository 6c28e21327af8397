"""Privacy models of classes, of items in lists and of joins; written by `python -m tools.typed_classes --write`."""

from __future__ import annotations

from typing import ClassVar, Literal

from sqlanon.clients.api.arguments import Names, Number
from sqlanon.clients.api.requirements import Requirement

__all__ = [
    "Coherence",
    "DeltaPresence",
    "KAnonymity",
    "KMap",
    "KMapEstimated",
    "KmAnonymity",
    "XyAnonymity",
    "XyLinkability",
]


class DeltaPresence(Requirement):
    """In every class, a share between min and max of the public table's rows is in the release.

    - `min`: the least share of the public rows of a class that are in the release (0 to 1).
    - `max`: the greatest share of the public rows of a class that are in the release (0 to 1).

    Nergiz, Atzori and Clifton, Hiding the presence of individuals from shared databases (2007)

    >>> DeltaPresence(min=0.1, max=0.5).sql()
    'delta_presence(min => 0.1, max => 0.5)'
    """

    MODEL: ClassVar[str] = "delta_presence"

    def __init__(self, *, min: Number, max: Number) -> None:
        super().__init__("delta_presence", min=min, max=max)


class KAnonymity(Requirement):
    """Every equivalence class holds at least k respondents.

    - `k`: the least number of respondents of a class (1 or more).
    - `on`: the quasi-identifiers by which classes are told apart; by default all.
    - `knows`: what is known of a person's rows in related tables.
    - `m`: with `knows='m_rows'`, the number of rows that a reader knows.

    Samarati, Protecting respondents' identities in microdata release (2001), definition 2.2; Sweeney (2002)

    >>> KAnonymity(k=5).sql()
    'k_anonymity(k => 5)'
    """

    MODEL: ClassVar[str] = "k_anonymity"

    def __init__(
        self,
        *,
        k: int,
        on: Names | None = None,
        knows: Literal["one_row", "m_rows", "rows", "values", "history"] | None = None,
        m: int | None = None,
    ) -> None:
        super().__init__("k_anonymity", k=k, on=on, knows=knows, m=m)


class KMap(Requirement):
    """Every equivalence class of the release holds at least k rows of the public table.

    - `k`: the least number of rows of the public table that a class of the release may come from (1 or more).

    Sweeney, Computational disclosure control: a primer on data privacy protection (2001); El Emam and Dankar,
    Protecting privacy using k-anonymity (2008)

    >>> KMap(k=5).sql()
    'k_map(k => 5)'
    """

    MODEL: ClassVar[str] = "k_map"

    def __init__(self, *, k: int) -> None:
        super().__init__("k_map", k=k)


class KMapEstimated(Requirement):
    """The probability that an equivalence class of fewer than k people of the population has this many rows is at most
    alpha, estimated by a Poisson model of the sample.

    - `k`: the least number of people of the population that a class may come from (1 to 1000).
    - `sampling_fraction`: the share of the population that is in the source; by default the policy's SAMPLE FRACTION
      (0.000001 to 1).
    - `alpha`: the greatest probability with which a class of fewer people may have that many rows (0.000001 to 0.5; by
      default 0.05).
    - `distribution`: the distribution of the number of rows of a class of k people: Poisson, or Poisson without 0 rows;
      by default 'zero_truncated'.
    - `on`: the quasi-identifiers by which classes are told apart; by default all.
    - `knows`: what is known of a person's rows in related tables.
    - `m`: with `knows='m_rows'`, the number of rows that a reader knows.

    El Emam and Dankar, Protecting privacy using k-anonymity (2008): estimated, no bound

    >>> KMapEstimated(k=5).sql()
    'k_map_estimated(k => 5)'
    """

    MODEL: ClassVar[str] = "k_map_estimated"

    def __init__(
        self,
        *,
        k: int,
        sampling_fraction: Number | None = None,
        alpha: Number | None = None,
        distribution: Literal["zero_truncated", "poisson"] | None = None,
        on: Names | None = None,
        knows: Literal["one_row", "m_rows", "rows", "values", "history"] | None = None,
        m: int | None = None,
    ) -> None:
        super().__init__(
            "k_map_estimated",
            k=k,
            sampling_fraction=sampling_fraction,
            alpha=alpha,
            distribution=distribution,
            on=on,
            knows=knows,
            m=m,
        )


class Coherence(Requirement):
    """Every set of at most p items in a list is in the lists of at least k rows of the list's class, and at most a
    share h of these lists have the same sensitive item.

    - `h`: the greatest share of the same sensitive item among the lists with a set of items (0 to 1).
    - `k`: the least number of lists that have a set of items (1 or more).
    - `p`: the greatest number of items that an adversary knows of a list (1 to 8).
    - `attribute`: the sensitive column to check, if the policy has several.

    Xu, Wang, Fu and Yu, Anonymizing transaction databases for publication (2008)

    >>> Coherence(h=0.5, k=5, p=2).sql()
    'coherence(h => 0.5, k => 5, p => 2)'
    """

    MODEL: ClassVar[str] = "coherence"

    def __init__(self, *, h: Number, k: int, p: int, attribute: str | None = None) -> None:
        super().__init__("coherence", h=h, k=k, p=p, attribute=attribute)


class KmAnonymity(Requirement):
    """Every set of at most m items in a list is in the lists of at least k rows of the list's class, and the class has
    at least k rows.

    - `k`: the least number of lists that have a set of items (1 or more).
    - `m`: the greatest number of items that an adversary knows of a list (1 to 8).

    Terrovitis, Mamoulis and Kalnis, Privacy-preserving anonymization of set-valued data (2008)

    >>> KmAnonymity(k=5, m=2).sql()
    'km_anonymity(k => 5, m => 2)'
    """

    MODEL: ClassVar[str] = "km_anonymity"

    def __init__(self, *, k: int, m: int) -> None:
        super().__init__("km_anonymity", k=k, m=m)


class XyAnonymity(Requirement):
    """Each value of X occurs with at least k different values of Y in the join of two releases.

    - `x`: the columns X of the join.
    - `y`: the column Y of the join.
    - `k`: the least number of values of Y (1 or more).

    Wang and Fung, Anonymizing sequential releases (2006), definition 1

    >>> XyAnonymity(x=["zip"], y="disease", k=5).sql()
    'xy_anonymity(x => ("zip"), y => "disease", k => 5)'
    """

    MODEL: ClassVar[str] = "xy_anonymity"

    def __init__(self, *, x: Names, y: str, k: int) -> None:
        super().__init__("xy_anonymity", x=x, y=y, k=k)


class XyLinkability(Requirement):
    """No value of Y has a share above max among the rows of a value of X in the join of two releases.

    - `x`: the columns X of the join.
    - `y`: the column Y of the join.
    - `max`: the greatest share of a value of Y (0.000001 to 1).

    Wang and Fung, Anonymizing sequential releases (2006), definition 2

    >>> XyLinkability(x=["zip"], y="disease", max=0.5).sql()
    'xy_linkability(x => ("zip"), y => "disease", max => 0.5)'
    """

    MODEL: ClassVar[str] = "xy_linkability"

    def __init__(self, *, x: Names, y: str, max: Number) -> None:
        super().__init__("xy_linkability", x=x, y=y, max=max)
