"""Methods and their arguments; written by `python -m tools.typed_classes --write`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from sqlanon.clients.api.arguments import Number
from sqlanon.clients.api.method import Method

__all__ = [
    "Anatomy",
    "DpHistogram",
    "DpSynthetic",
    "Fragments",
    "Generalization",
    "Itemsets",
    "Loose",
    "MInvariance",
    "Microaggregation",
    "Mondrian",
    "Multirelational",
    "Slicing",
    "Trivial",
]


class Anatomy(Method):
    """Anatomy: rows in buckets, quasi-identifiers in one table and sensitive values in another.

    - `l`: the l of the l-diversity that every bucket has (a whole number from 2 to 1000000).
    - `variant`: which l-diversity; by default 'probabilistic'.
    - `c`: how many times as often as the rarer ones together a bucket's most frequent value may occur (a number above 0
      and up to 1000000); by default 3.
    - `grouping`: which rows share a bucket: any, or those near each other in the quasi-identifiers; by default
      'random'.

    >>> Anatomy(l=3).sql()
    'anatomy(l => 3)'
    """

    METHOD: ClassVar[str] = "anatomy"

    def __init__(
        self,
        *,
        l: int,
        variant: Literal["probabilistic", "distinct", "entropy", "recursive"] | None = None,
        c: Number | None = None,
        grouping: Literal["random", "near"] | None = None,
    ) -> None:
        super().__init__("anatomy", l=l, variant=variant, c=c, grouping=grouping)


class DpHistogram(Method):
    """METHOD dp_histogram counts the rows with each combination of some columns' values, with noise.

    - `budget`: the budget that pays for the noise; UNDER BUDGET names it (the name of a budget).
    - `epsilon`: what the release costs, and promises (a number above 0 and up to 1000).
    - `by`: the columns by whose values rows are counted (a list of columns).
    - `rows`: so many rows of a respondent count at most (a whole number from 1 to 1000000); by default 1.
    - `delta`: the probability with which the promise may fail (a number from 0 to 1); by default 0.
    - `keys`: the combinations that have a count: all that anybody may know, or those that occur often, for a delta; by
      default 'public'.
    - `nonnegative`: whether a count below 0 is published as 0; by default False.

    >>> DpHistogram(budget="clinic_2026", epsilon=1, by=["zip", "sex"]).sql()
    "dp_histogram(epsilon => 1, by => ('zip', 'sex'))"
    """

    METHOD: ClassVar[str] = "dp_histogram"

    def __init__(
        self,
        *,
        budget: str,
        epsilon: Number,
        by: Sequence[str],
        rows: int | None = None,
        delta: Number | None = None,
        keys: Literal["public", "found"] | None = None,
        nonnegative: bool | None = None,
    ) -> None:
        super().__init__(
            "dp_histogram",
            budget=budget,
            epsilon=epsilon,
            by=by,
            rows=rows,
            delta=delta,
            keys=keys,
            nonnegative=nonnegative,
        )


class DpSynthetic(Method):
    """METHOD dp_synthetic: a table with the source's columns, whose rows are sampled from noisy counts.

    - `budget`: the budget that pays for the noise; UNDER BUDGET names it (the name of a budget).
    - `epsilon`: what the release costs, and promises (a number above 0 and up to 1000).
    - `rows`: so many rows of a respondent count at most (a whole number from 1 to 1000000); by default 1.
    - `delta`: the probability with which the promise may fail (a number from 0 to 1); by default 0.
    - `columns`: the columns that are made; all that the policy publishes by default (a list of columns).
    - `size`: the number of rows; by default that of the rows that count, with noise (a whole number from 1 to
      100000000).

    >>> DpSynthetic(budget="clinic_2026", epsilon=1).sql()
    'dp_synthetic(epsilon => 1)'
    """

    METHOD: ClassVar[str] = "dp_synthetic"

    def __init__(
        self,
        *,
        budget: str,
        epsilon: Number,
        rows: int | None = None,
        delta: Number | None = None,
        columns: Sequence[str] | None = None,
        size: int | None = None,
    ) -> None:
        super().__init__(
            "dp_synthetic", budget=budget, epsilon=epsilon, rows=rows, delta=delta, columns=columns, size=size
        )


class Fragments(Method):
    """Fragments: columns that must not be seen together are published in tables of their own.

    >>> Fragments().sql()
    'fragments()'
    """

    METHOD: ClassVar[str] = "fragments"

    def __init__(self) -> None:
        super().__init__("fragments")


class Generalization(Method):
    """Generalization with suppression: one level of its hierarchy for each attribute.

    - `suppression`: the share of rows that may be left out (a fraction between 0 and 1); by default 0.02.
    - `loss`: the measure that is to be least; by default 'granularity_loss'.
    - `time_limit`: how long the search may take before the best levels so far are published (a number of seconds above
      0).
    - `recoding`: whether all rows have the same levels, or those that would be suppressed have coarser ones; by default
      'global'.
    - `cells`: 'suppress': rows that are too rare lose single cells, which become NULL, rather than being left out.

    >>> Generalization(suppression=0.05).sql()
    'generalization(suppression => 0.05)'
    """

    METHOD: ClassVar[str] = "generalization"

    def __init__(
        self,
        *,
        suppression: Number | None = None,
        loss: Literal[
            "granularity_loss", "discernibility", "average_class_size", "height", "precision", "non_uniform_entropy"
        ]
        | None = None,
        time_limit: Number | None = None,
        recoding: Literal["global", "local"] | None = None,
        cells: Literal["suppress"] | None = None,
    ) -> None:
        super().__init__(
            "generalization", suppression=suppression, loss=loss, time_limit=time_limit, recoding=recoding, cells=cells
        )


class Itemsets(Method):
    """METHOD itemsets: one cut of the items' hierarchy, under which each set of m labels is in no list or in at least
    k.

    - `search`: how the labels are found: by raising those of rare sets, by looking at all cuts of a small hierarchy, or
      as those of the least level that all items can have; 'suppress' gives no labels, and leaves items out of all
      lists; by default 'apriori'.

    >>> Itemsets(search="levels").sql()
    "itemsets(search => 'levels')"
    """

    METHOD: ClassVar[str] = "itemsets"

    def __init__(self, *, search: Literal["apriori", "optimal", "levels", "suppress"] | None = None) -> None:
        super().__init__("itemsets", search=search)


class Loose(Method):
    """Loose associations: fragments, and groups of their rows that are linked to each other.

    - `k`: how many different rows of another fragment a row is linked to at least (a whole number from 2 to 1000000).
    - `groups`: the least sizes of each fragment's groups, in the order of the fragments (a list of whole numbers from 1
      to 10000).
    - `near`: whether groups hold rows that are alike in the quasi-identifiers of one fragment; by default False.
    - `suppression`: the share of rows that may be left out (a fraction between 0 and 1); by default 0.02.

    >>> Loose(k=4).sql()
    'loose(k => 4)'
    """

    METHOD: ClassVar[str] = "loose"

    def __init__(
        self,
        *,
        k: int | None = None,
        groups: Sequence[int] | None = None,
        near: bool | None = None,
        suppression: Number | None = None,
    ) -> None:
        super().__init__("loose", k=k, groups=groups, near=near, suppression=suppression)


class MInvariance(Method):
    """m-invariance: releases of a series in which each respondent has the same candidate values each time.

    - `m`: how many values everybody has to choose from, at the least (a whole number from 2 to 1000000).
    - `changed`: what becomes of respondents with another value than any that they had to choose from before; by default
      'refuse'.
    - `publish`: whether rows show their own values and their buckets the sensitive ones, or rows the ranges of their
      buckets, and counterfeits are rows among them; by default 'buckets'.

    >>> MInvariance(m=2).sql()
    'm_invariance(m => 2)'
    """

    METHOD: ClassVar[str] = "m_invariance"

    def __init__(
        self,
        *,
        m: int,
        changed: Literal["refuse", "new_signature"] | None = None,
        publish: Literal["buckets", "ranges"] | None = None,
    ) -> None:
        super().__init__("m_invariance", m=m, changed=changed, publish=publish)


class Microaggregation(Method):
    """METHOD microaggregation replaces numbers by the means of groups of at least k rows near each other.

    - `k`: the least number of rows of a group (a whole number from 2 to 1000000000).
    - `columns`: the quasi-identifiers that are aggregated together; all that are numbers by default (a list of
      columns).
    - `algorithm`: how groups are found: by default 'optimal' for one column, 'mdav' for several.
    - `publish`: the value that stands for those of a group: their mean or their median; by default 'mean'.
    - `standardize`: whether columns are compared with variance 1, and not as they are; by default True.
    - `block`: the most rows among which groups are looked for: more are cut at medians first (a whole number from 8 to
      1000000000).

    >>> Microaggregation(k=5).sql()
    'microaggregation(k => 5)'
    """

    METHOD: ClassVar[str] = "microaggregation"

    def __init__(
        self,
        *,
        k: int,
        columns: Sequence[str] | None = None,
        algorithm: Literal["mdav", "optimal"] | None = None,
        publish: Literal["mean", "median"] | None = None,
        standardize: bool | None = None,
        block: int | None = None,
    ) -> None:
        super().__init__(
            "microaggregation",
            k=k,
            columns=columns,
            algorithm=algorithm,
            publish=publish,
            standardize=standardize,
            block=block,
        )


class Mondrian(Method):
    """Multidimensional recoding by Mondrian: regions that no cut can divide any further.

    - `mode`: whether equal values stay on one side of a cut; by default 'strict'.
    - `split`: where a region is cut; by default 'median'.
    - `target`: the column that cuts are to tell most about.
    - `hierarchy`: whether cuts fall anywhere, or between the children of a node only; by default 'order'.
    - `publish`: what stands for a region; by default 'range'.
    - `bounds`: whether ranges have their ends as columns, too; by default False.

    >>> Mondrian(mode="relaxed").sql()
    "mondrian(mode => 'relaxed')"
    """

    METHOD: ClassVar[str] = "mondrian"

    def __init__(
        self,
        *,
        mode: Literal["strict", "relaxed"] | None = None,
        split: Literal["median", "information_gain"] | None = None,
        target: str | None = None,
        hierarchy: Literal["order", "tree"] | None = None,
        publish: Literal["range", "ancestor", "centroid", "none"] | None = None,
        bounds: bool | None = None,
    ) -> None:
        super().__init__(
            "mondrian", mode=mode, split=split, target=target, hierarchy=hierarchy, publish=publish, bounds=bounds
        )


class Multirelational(Method):
    """Generalization of related tables: one level of its hierarchy for each attribute of all tables.

    - `suppression`: the share of people that may be left out, with all their rows (a fraction between 0 and 1); by
      default 0.02.
    - `time_limit`: how long the search may take before the best levels so far are published (a number of seconds above
      0).

    >>> Multirelational(suppression=0).sql()
    'multirelational(suppression => 0)'
    """

    METHOD: ClassVar[str] = "multirelational"

    def __init__(self, *, suppression: Number | None = None, time_limit: Number | None = None) -> None:
        super().__init__("multirelational", suppression=suppression, time_limit=time_limit)


class Slicing(Method):
    """Slicing: attributes in columns, rows in buckets, and each column permuted independently within the buckets.

    - `l`: the l of the l-diversity that every bucket has (a whole number from 2 to 1000000).
    - `variant`: which l-diversity; by default 'probabilistic'.
    - `c`: how many times as often as the rarer ones together a bucket's most frequent value may occur (a number above 0
      and up to 1000000); by default 3.
    - `columns`: how many columns are found, of attributes that correlate; 2 unless said (a whole number from 1 to
      1000).
    - `sensitive_attributes`: how many attributes the sensitive column is to have: those that correlate most with the
      sensitive one (a whole number from 1 to 1000).
    - `intervals`: into how many intervals numbers and times are cut, to see what correlates; 10 unless said (a whole
      number from 1 to 10000).
    - `similarity`: by what columns are found: 'phi2', unless said, or, with PIVOT, how many respondents rated two items
      alike.
    - `diversity`: what is l-diverse: each bucket, or, for everybody, the buckets that their row may be in together; by
      default 'bucket'.
    - `grouping`: how rows come into buckets: Mondrian's regions of the quasi-identifiers, or rows that are drawn; by
      default 'mondrian'.
    - `bucket_size`: how many rows a bucket is drawn with, before buckets that violate a requirement are put together (a
      whole number from 1 to 1000000000); by default 100.
    - `fake_tuples`: how many tuples that the source has not, for each of its rows, the columns can be joined to (a
      number above 0 and up to 1000000).
    - `column_k`: how often each combination of a column's quasi-identifiers occurs in its table: they become ranges for
      it (a whole number from 1 to 1000000000); by default 1.

    >>> Slicing(l=3).sql()
    'slicing(l => 3)'
    """

    METHOD: ClassVar[str] = "slicing"

    def __init__(
        self,
        *,
        l: int,
        variant: Literal["probabilistic", "distinct", "entropy", "recursive"] | None = None,
        c: Number | None = None,
        columns: int | None = None,
        sensitive_attributes: int | None = None,
        intervals: int | None = None,
        similarity: Literal["phi2", "equal_ratings"] | None = None,
        diversity: Literal["bucket", "matching"] | None = None,
        grouping: Literal["mondrian", "random"] | None = None,
        bucket_size: int | None = None,
        fake_tuples: Number | None = None,
        column_k: int | None = None,
    ) -> None:
        super().__init__(
            "slicing",
            l=l,
            variant=variant,
            c=c,
            columns=columns,
            sensitive_attributes=sensitive_attributes,
            intervals=intervals,
            similarity=similarity,
            diversity=diversity,
            grouping=grouping,
            bucket_size=bucket_size,
            fake_tuples=fake_tuples,
            column_k=column_k,
        )


class Trivial(Method):
    """Trivial sanitization: quasi-identifiers and sensitive attributes in two tables, whose rows are not linked.

    - `drop`: which attributes the other ones are published without, and have a table of their own; by default
      'quasi_identifiers'.

    >>> Trivial().sql()
    'trivial()'
    """

    METHOD: ClassVar[str] = "trivial"

    def __init__(self, *, drop: Literal["quasi_identifiers", "sensitive"] | None = None) -> None:
        super().__init__("trivial", drop=drop)
