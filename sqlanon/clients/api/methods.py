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

    - `l`: the l for which every bucket is l-diverse (a whole number from 2 to 1000000).
    - `variant`: the form of l-diversity; by default 'probabilistic'.
    - `c`: the ratio of the most frequent value of a bucket to the rarer values: it must stay below c (a number above 0
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
    - `epsilon`: the privacy loss that the release guarantees and spends (a number above 0 and up to 1000).
    - `by`: the columns whose combinations of values are counted (a list of columns).
    - `rows`: at most this many rows of a respondent count (a whole number from 1 to 1000000); by default 1.
    - `delta`: the probability with which the promise may fail (a number from 0 to 1); by default 0.
    - `keys`: the combinations with a count: all publicly known combinations, or only frequent ones, which costs a
      delta; by default 'public'.
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
    - `epsilon`: the privacy loss that the release guarantees and spends (a number above 0 and up to 1000).
    - `rows`: at most this many rows of a respondent count (a whole number from 1 to 1000000); by default 1.
    - `delta`: the probability with which the promise may fail (a number from 0 to 1); by default 0.
    - `columns`: the columns of the release; by default all that the policy publishes (a list of columns).
    - `size`: the number of rows; by default the noisy number of rows that count (a whole number from 1 to 100000000).

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
    - `loss`: the measure of loss to minimize; by default 'granularity_loss'.
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

    - `search`: how the labels are found: by raising the labels of rare sets, by examining all cuts of a small
      hierarchy, or as the least level that all items can have; 'suppress' uses no labels, and leaves items out of all
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

    - `m`: the least number of candidate values of each respondent (a whole number from 2 to 1000000).
    - `changed`: the treatment of respondents whose new value is not among their earlier candidate values; by default
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
    - `publish`: the value that replaces the values of a group: their mean or their median; by default 'mean'.
    - `standardize`: whether columns are scaled to variance 1 before they are compared; by default True.
    - `block`: the greatest number of rows that are searched for groups at once; more rows are first cut at medians (a
      whole number from 8 to 1000000000).

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
    - `target`: the column that cuts should predict best.
    - `hierarchy`: whether cuts fall anywhere, or between the children of a node only; by default 'order'.
    - `publish`: the published form of a region; by default 'range'.
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

    - `l`: the l for which every bucket is l-diverse (a whole number from 2 to 1000000).
    - `variant`: the form of l-diversity; by default 'probabilistic'.
    - `c`: the ratio of the most frequent value of a bucket to the rarer values: it must stay below c (a number above 0
      and up to 1000000); by default 3.
    - `columns`: the number of columns into which attributes that correlate are grouped; by default 2 (a whole number
      from 1 to 1000).
    - `sensitive_attributes`: the number of attributes in the sensitive column: those that correlate most with the
      sensitive attribute (a whole number from 1 to 1000).
    - `intervals`: the number of intervals into which numbers and times are cut to measure correlation; by default 10 (a
      whole number from 1 to 10000).
    - `similarity`: the measure by which columns are found; by default 'phi2'. 'equal_ratings' needs PIVOT.
    - `diversity`: whether each bucket is l-diverse, or only, for each person, all buckets that may hold their row; by
      default 'bucket'.
    - `grouping`: whether buckets are Mondrian regions of the quasi-identifiers, or random rows; by default 'mondrian'.
    - `bucket_size`: the number of rows of a random bucket, before buckets that violate a requirement are merged (a
      whole number from 1 to 1000000000); by default 100.
    - `fake_tuples`: the number of tuples that the joined columns have but the source lacks, for each row of the source
      (a number above 0 and up to 1000000).
    - `column_k`: the least number of equal combinations of a column's quasi-identifiers; ranges replace values (a whole
      number from 1 to 1000000000); by default 1.

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

    - `drop`: the attributes that are published in a table of their own, without a link to the others; by default
      'quasi_identifiers'.

    >>> Trivial().sql()
    'trivial()'
    """

    METHOD: ClassVar[str] = "trivial"

    def __init__(self, *, drop: Literal["quasi_identifiers", "sensitive"] | None = None) -> None:
        super().__init__("trivial", drop=drop)
