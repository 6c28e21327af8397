"""Privacy models of background knowledge; written by `python -m tools.typed_classes --write`."""

from __future__ import annotations

from typing import ClassVar, Literal

from sqlanon.clients.api.arguments import Name, Names, Number
from sqlanon.clients.api.requirements import Requirement

__all__ = [
    "CkSafety",
    "EpsilonPrivacy",
    "PrivacySkyline",
]


class CkSafety(Requirement):
    """A reader who knows any k implications about people's sensitive values never assigns a probability of c or more
    to a value.

    - `c`: the probability that no value may reach (0.000001 to 1).
    - `k`: the number of implications that a reader knows (0 to 8).
    - `attribute`: the sensitive column to check, if the policy has several.
    - `jointly`: whether all sensitive columns are checked at once, instead of each by itself.
    - `on`: the quasi-identifiers by which classes are told apart; by default all.
    - `knows`: what is known of a person's rows in related tables.
    - `m`: with `knows='m_rows'`, the number of rows that a reader knows.

    Martin, Kifer, Machanavajjhala, Gehrke and Halpern, Worst-case background knowledge for privacy-preserving data
    publishing (2007)

    >>> CkSafety(c=0.8, k=5).sql()
    'ck_safety(c => 0.8, k => 5)'
    """

    MODEL: ClassVar[str] = "ck_safety"

    def __init__(
        self,
        *,
        c: Number,
        k: int,
        attribute: str | None = None,
        jointly: bool | None = None,
        on: Names | None = None,
        knows: Literal["one_row", "m_rows", "rows", "values", "history"] | None = None,
        m: int | None = None,
    ) -> None:
        super().__init__("ck_safety", c=c, k=k, attribute=attribute, jointly=jointly, on=on, knows=knows, m=m)


class EpsilonPrivacy(Requirement):
    """No sensitive value of an equivalence class is more than epsilon times as likely, or as unlikely, with a
    respondent's row in the release as without it.

    - `prior='table'`: No sensitive value of an equivalence class is more than epsilon times as likely, or as unlikely,
      with a respondent's row in the release as without it, to an adversary whose prior distribution is a table.

    - `epsilon`: the greatest ratio between an adversary's beliefs with and without the row (1 to 1000000).
    - `stubbornness`: the number of rows with as much influence on an adversary's belief as the prior (0 to 1000000 or
      'infinite').
    - `known`: the number of rows of a class that an adversary knows to lack the value (0 to 1000000; by default 0).
    - `ratios`: whether only the ratio of the beliefs in a value is bounded, or also the ratio of the doubts; by default
      'both'.
    - `weights`: with `prior='table'` the name of a table with a row for each value, and its share in the adversary's
      prior distribution.
    - `prior`: the form of the model, by default 'release'.
    - `attribute`: the sensitive column to check, if the policy has several.
    - `jointly`: whether all sensitive columns are checked at once, instead of each by itself.
    - `on`: the quasi-identifiers by which classes are told apart; by default all.
    - `knows`: what is known of a person's rows in related tables.
    - `m`: with `knows='m_rows'`, the number of rows that a reader knows.

    Machanavajjhala, Gehrke and Goetz, Data publishing against realistic adversaries (2009)

    >>> EpsilonPrivacy(epsilon=1, stubbornness=10).sql()
    'epsilon_privacy(epsilon => 1, stubbornness => 10)'
    """

    MODEL: ClassVar[str] = "epsilon_privacy"

    def __init__(
        self,
        *,
        epsilon: Number,
        stubbornness: Number | Literal["infinite"],
        known: int | None = None,
        ratios: Literal["both", "belief"] | None = None,
        weights: Name | None = None,
        prior: Literal["release", "table"] | None = None,
        attribute: str | None = None,
        jointly: bool | None = None,
        on: Names | None = None,
        knows: Literal["one_row", "m_rows", "rows", "values", "history"] | None = None,
        m: int | None = None,
    ) -> None:
        super().__init__(
            "epsilon_privacy",
            epsilon=epsilon,
            stubbornness=stubbornness,
            known=known,
            ratios=ratios,
            weights=weights,
            prior=prior,
            attribute=attribute,
            jointly=jointly,
            on=on,
            knows=knows,
            m=m,
        )


class PrivacySkyline(Requirement):
    """A reader who knows l values that a person lacks, the values of k other people, and m other members of the
    person's family never assigns a probability of c or more to a value of the person.

    - `knowledge='table'`: A reader whose knowledge is one row of a table never assigns a probability of c or more to a
      value of a person; a row has the numbers l, k and m: values that the person lacks, other people whose values are
      known, and other members of the person's family.

    - `c`: the probability that no value may reach (0.000001 to 1).
    - `l`: the number of values that the target is known to lack (0 to 1000000; by default 0).
    - `k`: the number of other people whose values are known (0 to 1000000; by default 0).
    - `m`: the number of other people who are known to share a value with the target: if one of them has it, the target
      has it (0 to 8; by default 0).
    - `triples`: with `knowledge='table'` the name of a table with a row for each piece of knowledge, and the value that
      it is about, or NULL for every value.
    - `knowledge`: the form of the model, by default 'triple'.
    - `attribute`: the sensitive column to check, if the policy has several.
    - `jointly`: whether all sensitive columns are checked at once, instead of each by itself.
    - `on`: the quasi-identifiers by which classes are told apart; by default all.
    - `knows`: what is known of a person's rows in related tables.

    Chen, LeFevre and Ramakrishnan, Privacy skyline: privacy with multidimensional adversarial knowledge (2007)

    >>> PrivacySkyline(c=0.8).sql()
    'privacy_skyline(c => 0.8)'
    """

    MODEL: ClassVar[str] = "privacy_skyline"

    def __init__(
        self,
        *,
        c: Number,
        l: int | None = None,
        k: int | None = None,
        m: int | None = None,
        triples: Name | None = None,
        knowledge: Literal["triple", "table"] | None = None,
        attribute: str | None = None,
        jointly: bool | None = None,
        on: Names | None = None,
        knows: Literal["one_row", "m_rows", "rows", "values", "history"] | None = None,
    ) -> None:
        super().__init__(
            "privacy_skyline",
            c=c,
            l=l,
            k=k,
            m=m,
            triples=triples,
            knowledge=knowledge,
            attribute=attribute,
            jointly=jointly,
            on=on,
            knows=knows,
        )
