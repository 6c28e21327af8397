"""Privacy models of sensitive values; written by `python -m tools.typed_classes --write`."""

from __future__ import annotations

from typing import ClassVar, Literal

from sqlanon.clients.api.arguments import Name, Names, Number
from sqlanon.clients.api.requirements import Requirement

__all__ = [
    "AlphaKAnonymity",
    "BetaLikeness",
    "DeltaDisclosure",
    "LDiversity",
    "NtCloseness",
    "PSensitiveKAnonymity",
    "Personalized",
    "TCloseness",
    "ValueRanges",
]


class AlphaKAnonymity(Requirement):
    """Every equivalence class holds at least k respondents, and no sensitive value makes up more than alpha of it.

    - `alpha`: the greatest share of one value in a class (0.000001 to 1).
    - `k`: the least number of respondents of a class (1 or more).
    - `attribute`: the sensitive column to check, if the policy has several.
    - `jointly`: whether all sensitive columns are checked at once, instead of each by itself.
    - `on`: the quasi-identifiers by which classes are told apart; by default all.
    - `knows`: what is known of a person's rows in related tables.
    - `m`: with `knows='m_rows'`, the number of rows that a reader knows.

    Wong et al., (alpha, k)-anonymity: an enhanced k-anonymity model for privacy preserving data publishing (2006)

    >>> AlphaKAnonymity(alpha=0.5, k=5).sql()
    'alpha_k_anonymity(alpha => 0.5, k => 5)'
    """

    MODEL: ClassVar[str] = "alpha_k_anonymity"

    def __init__(
        self,
        *,
        alpha: Number,
        k: int,
        attribute: str | None = None,
        jointly: bool | None = None,
        on: Names | None = None,
        knows: Literal["one_row", "m_rows", "rows", "values", "history"] | None = None,
        m: int | None = None,
    ) -> None:
        super().__init__(
            "alpha_k_anonymity", alpha=alpha, k=k, attribute=attribute, jointly=jointly, on=on, knows=knows, m=m
        )


class BetaLikeness(Requirement):
    """In no equivalence class does a sensitive value gain more than beta, relative to its share of the whole release.

    - `variant='enhanced'`: In no equivalence class does a sensitive value gain more than beta, or minus the logarithm
      of its share of the whole release, relative to that share.

    - `beta`: the greatest relative gain (p - q) / q of a value (0.000001 to 1000000); with `variant='enhanced'` the
      greatest relative gain (p - q) / q of a value, where -ln q is not less (0.000001 to 1000000).
    - `variant`: the form of the model, by default 'basic'.
    - `attribute`: the sensitive column to check, if the policy has several.
    - `jointly`: whether all sensitive columns are checked at once, instead of each by itself.
    - `on`: the quasi-identifiers by which classes are told apart; by default all.
    - `knows`: what is known of a person's rows in related tables.
    - `m`: with `knows='m_rows'`, the number of rows that a reader knows.

    Cao and Karras, Publishing microdata with a robust privacy guarantee (2012)

    >>> BetaLikeness(beta=2).sql()
    'beta_likeness(beta => 2)'
    """

    MODEL: ClassVar[str] = "beta_likeness"

    def __init__(
        self,
        *,
        beta: Number,
        variant: Literal["basic", "enhanced"] | None = None,
        attribute: str | None = None,
        jointly: bool | None = None,
        on: Names | None = None,
        knows: Literal["one_row", "m_rows", "rows", "values", "history"] | None = None,
        m: int | None = None,
    ) -> None:
        super().__init__(
            "beta_likeness", beta=beta, variant=variant, attribute=attribute, jointly=jointly, on=on, knows=knows, m=m
        )


class DeltaDisclosure(Requirement):
    """In no equivalence class is a sensitive value e^delta times as frequent, or as rare, as in the whole release.

    - `delta`: the bound below which |ln(p/q)| must stay (0.000001 to 100).
    - `absent`: the treatment of a value that occurs in the release but not in the class; by default 'violates'.
    - `attribute`: the sensitive column to check, if the policy has several.
    - `jointly`: whether all sensitive columns are checked at once, instead of each by itself.
    - `on`: the quasi-identifiers by which classes are told apart; by default all.
    - `knows`: what is known of a person's rows in related tables.
    - `m`: with `knows='m_rows'`, the number of rows that a reader knows.

    Brickell and Shmatikov, The cost of privacy: destruction of data-mining utility in anonymized data publishing (2008)

    >>> DeltaDisclosure(delta=1).sql()
    'delta_disclosure(delta => 1)'
    """

    MODEL: ClassVar[str] = "delta_disclosure"

    def __init__(
        self,
        *,
        delta: Number,
        absent: Literal["violates", "ignored"] | None = None,
        attribute: str | None = None,
        jointly: bool | None = None,
        on: Names | None = None,
        knows: Literal["one_row", "m_rows", "rows", "values", "history"] | None = None,
        m: int | None = None,
    ) -> None:
        super().__init__(
            "delta_disclosure",
            delta=delta,
            absent=absent,
            attribute=attribute,
            jointly=jointly,
            on=on,
            knows=knows,
            m=m,
        )


class LDiversity(Requirement):
    """Every equivalence class holds at least l different sensitive values.

    - `variant='entropy'`: The entropy of the sensitive values of every equivalence class is at least log l.
    - `variant='probabilistic'`: No sensitive value makes up more than 1/l of an equivalence class.
    - `variant='recursive'`: The most frequent sensitive value of a class has fewer than c times as many rows as the
      l-th most frequent and all rarer values together.

    - `l`: the least number of different values of a class (1 or more); with `variant='entropy'` the least effective
      number of values of a class; may be fractional (1 to 1000000); with `variant='probabilistic'` one value makes up
      at most 1/l of a class; may be fractional (1 to 1000000); with `variant='recursive'` the rank, by frequency, from
      which on values are compared with the most frequent value (1 or more).
    - `c`: with `variant='recursive'` the ratio of the rows of the most frequent value to the rows of all values from
      rank l on: it must stay below c (0.000001 to 1000000).
    - `variant`: the form of the model, by default 'distinct'.
    - `attribute`: the sensitive column to check, if the policy has several.
    - `jointly`: whether all sensitive columns are checked at once, instead of each by itself.
    - `on`: the quasi-identifiers by which classes are told apart; by default all.
    - `knows`: what is known of a person's rows in related tables.
    - `m`: with `knows='m_rows'`, the number of rows that a reader knows.

    - Li et al., t-closeness (2007), section 2, after Machanavajjhala et al., l-diversity (2006); NULL counts as a value
    - Machanavajjhala et al., l-diversity: privacy beyond k-anonymity (2007), definition 4.1
    - Xiao and Tao, Anatomy: simple and effective privacy preservation (2006), definition 2
    - Machanavajjhala et al., l-diversity: privacy beyond k-anonymity (2007), definition 4.2

    >>> LDiversity(l=3).sql()
    'l_diversity(l => 3)'
    """

    MODEL: ClassVar[str] = "l_diversity"

    def __init__(
        self,
        *,
        l: Number,
        c: Number | None = None,
        variant: Literal["distinct", "entropy", "probabilistic", "recursive"] | None = None,
        attribute: str | None = None,
        jointly: bool | None = None,
        on: Names | None = None,
        knows: Literal["one_row", "m_rows", "rows", "values", "history"] | None = None,
        m: int | None = None,
    ) -> None:
        super().__init__(
            "l_diversity", l=l, c=c, variant=variant, attribute=attribute, jointly=jointly, on=on, knows=knows, m=m
        )


class NtCloseness(Requirement):
    """Every equivalence class has a broader class of at least n rows whose sensitive values have the same
    distribution, up to a variational distance of t.

    - `distance='hierarchical'`: Every equivalence class has a broader class of at least n rows whose sensitive values
      have the same distribution, up to an earth mover's distance of t in their hierarchy.
    - `distance='jensen_shannon'`: Every equivalence class has a broader class of at least n rows whose sensitive values
      have the same distribution, up to a Jensen-Shannon divergence of t.
    - `distance='ordered'`: Every equivalence class has a broader class of at least n rows whose sensitive values have
      the same distribution, up to an earth mover's distance of t between their ranks.

    - `n`: the least number of rows of a broader class that a class is compared with (1 to 1000000000000).
    - `t`: the greatest distance of a class from its nearest broader class, 1/2 sum |p - q| (0 to 1); with
      `distance='hierarchical'` the greatest distance of a class from its nearest broader class: the mean over the
      levels of 1/2 sum |p - q| (0 to 1); with `distance='jensen_shannon'` the greatest divergence of a class from its
      nearest broader class, in natural logarithms: at most ln 2 (0 to 1); with `distance='ordered'` the greatest
      distance of a class from its nearest broader class, 1/(m-1) sum |P_i - Q_i| over the cumulative shares of m values
      (0 to 1).
    - `distance`: the form of the model, by default 'equal'.
    - `attribute`: the sensitive column to check, if the policy has several.
    - `jointly`: whether all sensitive columns are checked at once, instead of each by itself.

    - Li, Li and Venkatasubramanian, Closeness: a new privacy measure for data publishing (2010), (n,t)-closeness; equal
    distance
    - Li, Li and Venkatasubramanian, Closeness: a new privacy measure for data publishing (2010), (n,t)-closeness;
    hierarchical distance
    - Li and Li, On the tradeoff between privacy and utility in data publishing (2009); (n,t)-closeness: Li, Li and
    Venkatasubramanian (2010)
    - Li, Li and Venkatasubramanian, Closeness: a new privacy measure for data publishing (2010), (n,t)-closeness;
    ordered distance

    >>> NtCloseness(n=100, t=0.2).sql()
    'nt_closeness(n => 100, t => 0.2)'
    """

    MODEL: ClassVar[str] = "nt_closeness"

    def __init__(
        self,
        *,
        n: int,
        t: Number,
        distance: Literal["equal", "hierarchical", "jensen_shannon", "ordered"] | None = None,
        attribute: str | None = None,
        jointly: bool | None = None,
    ) -> None:
        super().__init__("nt_closeness", n=n, t=t, distance=distance, attribute=attribute, jointly=jointly)


class PSensitiveKAnonymity(Requirement):
    """Every equivalence class holds at least k respondents and at least p different sensitive values.

    - `p`: the least number of different values of a class (1 or more).
    - `k`: the least number of respondents of a class (1 or more).
    - `attribute`: the sensitive column to check, if the policy has several.
    - `jointly`: whether all sensitive columns are checked at once, instead of each by itself.
    - `on`: the quasi-identifiers by which classes are told apart; by default all.
    - `knows`: what is known of a person's rows in related tables.
    - `m`: with `knows='m_rows'`, the number of rows that a reader knows.

    Truta and Vinay, Privacy protection: p-sensitive k-anonymity property (2006)

    >>> PSensitiveKAnonymity(p=2, k=5).sql()
    'p_sensitive_k_anonymity(p => 2, k => 5)'
    """

    MODEL: ClassVar[str] = "p_sensitive_k_anonymity"

    def __init__(
        self,
        *,
        p: int,
        k: int,
        attribute: str | None = None,
        jointly: bool | None = None,
        on: Names | None = None,
        knows: Literal["one_row", "m_rows", "rows", "values", "history"] | None = None,
        m: int | None = None,
    ) -> None:
        super().__init__(
            "p_sensitive_k_anonymity", p=p, k=k, attribute=attribute, jointly=jointly, on=on, knows=knows, m=m
        )


class Personalized(Requirement):
    """In no respondent's class does more than a share p of the rows have a sensitive value below the respondent's
    guarding node.

    - `p`: the greatest share of a class whose values lie below a node that one of its rows guards (0 to 1).
    - `guarding`: the column of the source with each row's guarding node, a node of the sensitive hierarchy; NULL guards
      nothing.
    - `attribute`: the sensitive column to check, if the policy has several.
    - `on`: the quasi-identifiers by which classes are told apart; by default all.

    Xiao and Tao, Personalized privacy preservation (2006)

    >>> Personalized(p=0.5, guarding="guard").sql()
    'personalized(p => 0.5, guarding => "guard")'
    """

    MODEL: ClassVar[str] = "personalized"

    def __init__(self, *, p: Number, guarding: str, attribute: str | None = None, on: Names | None = None) -> None:
        super().__init__("personalized", p=p, guarding=guarding, attribute=attribute, on=on)


class TCloseness(Requirement):
    """In every equivalence class the sensitive values are distributed as in the whole release, up to a variational
    distance of t.

    - `distance='hierarchical'`: In every equivalence class the sensitive values are distributed as in the whole
      release, up to an earth mover's distance of t in their hierarchy.
    - `distance='jensen_shannon'`: In every equivalence class the sensitive values are distributed as in the whole
      release, up to a Jensen-Shannon divergence of t.
    - `distance='ordered'`: In every equivalence class the sensitive values are distributed as in the whole release, up
      to an earth mover's distance of t between their ranks.

    - `t`: the greatest distance of a class, 1/2 sum |p - q| (0 to 1); with `distance='hierarchical'` the greatest
      distance of a class, where two values have the distance (height of their lowest common ancestor / height of the
      tree) (0 to 1); with `distance='jensen_shannon'` the greatest divergence of a class, in natural logarithms: at
      most ln 2 (0 to 1); with `distance='ordered'` the greatest distance of a class, 1/(m-1) sum |P_i - Q_i| over the
      cumulative shares of m values (0 to 1).
    - `distance`: the form of the model, by default 'equal'.
    - `attribute`: the sensitive column to check, if the policy has several.
    - `jointly`: whether all sensitive columns are checked at once, instead of each by itself.
    - `on`: the quasi-identifiers by which classes are told apart; by default all.
    - `within`: columns with levels, such as 'zip LEVEL 2': a class is compared with the rows of its labels.
    - `knows`: what is known of a person's rows in related tables.
    - `m`: with `knows='m_rows'`, the number of rows that a reader knows.

    - Li, Li and Venkatasubramanian, t-closeness: privacy beyond k-anonymity and l-diversity (2007), equal distance
    - Li, Li and Venkatasubramanian, t-closeness: privacy beyond k-anonymity and l-diversity (2007), hierarchical
    distance
    - Li and Li, On the tradeoff between privacy and utility in data publishing (2009); t-closeness: Li, Li and
    Venkatasubramanian (2007)
    - Li, Li and Venkatasubramanian, t-closeness: privacy beyond k-anonymity and l-diversity (2007), ordered distance

    >>> TCloseness(t=0.2).sql()
    't_closeness(t => 0.2)'
    """

    MODEL: ClassVar[str] = "t_closeness"

    def __init__(
        self,
        *,
        t: Number,
        distance: Literal["equal", "hierarchical", "jensen_shannon", "ordered"] | None = None,
        attribute: str | None = None,
        jointly: bool | None = None,
        on: Names | None = None,
        within: Names | None = None,
        knows: Literal["one_row", "m_rows", "rows", "values", "history"] | None = None,
        m: int | None = None,
    ) -> None:
        super().__init__(
            "t_closeness",
            t=t,
            distance=distance,
            attribute=attribute,
            jointly=jointly,
            on=on,
            within=within,
            knows=knows,
            m=m,
        )


class ValueRanges(Requirement):
    """In every equivalence class each listed sensitive value has a share within its own range.

    - `ranges`: the name of a table with a row for each listed value, with its lowest and its highest share, NULL for no
      bound.
    - `attribute`: the sensitive column to check, if the policy has several.
    - `on`: the quasi-identifiers by which classes are told apart; by default all.

    Frikken and Zhang, Yet another privacy metric for publishing micro-data (2008), (alpha_i, beta_i)-closeness

    >>> ValueRanges(ranges="disease_shares").sql()
    'value_ranges(ranges => "disease_shares")'
    """

    MODEL: ClassVar[str] = "value_ranges"

    def __init__(self, *, ranges: Name, attribute: str | None = None, on: Names | None = None) -> None:
        super().__init__("value_ranges", ranges=ranges, attribute=attribute, on=on)
