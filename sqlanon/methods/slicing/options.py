"""The arguments of METHOD slicing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from sqlanon.domain.bound import BoundPolicy
from sqlanon.domain.context import Adjustable
from sqlanon.domain.identifiers import fold, nearest
from sqlanon.domain.policy import Role
from sqlanon.errors import PolicyError
from sqlanon.methods.shared.arguments import Diversity, Kind, argument
from sqlanon.methods.shared.partition.solve import MOST_ATTRIBUTES

# The limits of the search for medoids, and of the attributes compared, explained and coded.


@dataclass(frozen=True)
class Sizes:
    """The limits of slicing.

    All sets of medoids are examined if there are at most `max_medoid_sets`; otherwise PAM is used. phi2 is computed for
    at most `max_phi2_attributes` attributes, and EXPLAIN lists the measures of at most `max_matrix_attributes`.
    Policies with more than `max_coded_attributes` quasi-identifiers are sliced without cells; regions are cut in at
    most this number of attributes.
    """

    max_medoid_sets: int = 100_000
    max_phi2_attributes: int = 200
    max_matrix_attributes: int = 50
    max_coded_attributes: int = MOST_ATTRIBUTES


sizes = Adjustable(Sizes())


DEFAULT_COLUMNS = 2
DEFAULT_INTERVALS = 10


@dataclass(frozen=True)
class Options(Diversity):
    """METHOD slicing(l, variant, c, columns, sensitive_attributes, intervals, similarity, diversity, grouping,
    bucket_size, fake_tuples, column_k).

    `l` and `variant` (with `c`, for 'recursive') are the l-diversity that every bucket has in every sensitive
    attribute, for all values of the attributes in its column. If COLUMNS is not written, `columns` columns are found by
    the attributes' correlation, where numbers are cut into `intervals`, or by the `similarity` 'equal_ratings'; the
    sensitive column has `sensitive_attributes` attributes, by default the attributes of its cluster. If `diversity` is
    'matching', buckets may be less diverse, as long as no value is likelier than 1/l for anybody whose
    quasi-identifiers are known, but not the bucket. If `grouping` is 'mondrian', buckets are regions of the
    quasi-identifiers; if it is 'random', they are `bucket_size` random rows. If `column_k` is greater than 1, the
    quasi-identifiers of each column are published as ranges; each combination occurs at least `column_k` times in its
    table.
    """

    columns: int | None = argument(
        "the number of columns into which attributes that correlate are grouped; by default 2",
        Kind.WHOLE,
        default=None,
        least=1,
        most=1000,
        example=3,
        finds_columns=True,
    )
    sensitive_attributes: int | None = argument(
        "the number of attributes in the sensitive column: those that correlate most with the sensitive attribute",
        Kind.WHOLE,
        default=None,
        least=1,
        most=1000,
        example=2,
        finds_columns=True,
    )
    intervals: int | None = argument(
        "the number of intervals into which numbers and times are cut to measure correlation; by default 10",
        Kind.WHOLE,
        default=None,
        least=1,
        most=10_000,
        example=20,
        finds_columns=True,
    )
    similarity: str | None = argument(
        "the measure by which columns are found; by default 'phi2'. 'equal_ratings' needs PIVOT",
        Kind.CHOICE,
        default=None,
        choices=("phi2", "equal_ratings"),
        finds_columns=True,
    )
    diversity: str = argument(
        "whether each bucket is l-diverse, or only, for each person, all buckets that may hold their row",
        Kind.CHOICE,
        default="bucket",
        choices=("bucket", "matching"),
    )
    grouping: str = argument(
        "whether buckets are Mondrian regions of the quasi-identifiers, or random rows",
        Kind.CHOICE,
        default="mondrian",
        choices=("mondrian", "random"),
    )
    bucket_size: int = argument(
        "the number of rows of a random bucket, before buckets that violate a requirement are merged",
        Kind.WHOLE,
        default=100,
        example=50,
        least=1,
        most=1_000_000_000,
        needs=("grouping", "random"),
    )
    fake_tuples: Decimal | None = argument(
        "the number of tuples that the joined columns have but the source lacks, for each row of the source",
        Kind.NUMBER,
        default=None,
        above=0,
        most=1_000_000,
        example=10,
        needs=("grouping", "mondrian"),
    )
    column_k: int = argument(
        "the least number of equal combinations of a column's quasi-identifiers; ranges replace values",
        Kind.WHOLE,
        default=1,
        example=5,
        least=1,
        most=1_000_000_000,
    )


def require_together(options: Options) -> None:
    """Raises PolicyError for arguments that contradict each other."""
    if options.diversity == "matching" and options.variant != "probabilistic":
        raise PolicyError(
            f"slicing: diversity => 'matching' is about the likeliest value, and not variant => '{options.variant}'",
            hint="leave variant out, or diversity",
            part=("method", "slicing", "variant"),
        )
    if options.similarity == "equal_ratings" and options.intervals is not None:
        raise PolicyError(
            "slicing: intervals is about phi2, and similarity => 'equal_ratings' compares ratings as they are",
            hint="leave intervals out",
            part=("method", "slicing", "intervals"),
        )
    for name, other in (("diversity", options.diversity == "matching"), ("fake_tuples", bool(options.fake_tuples))):
        if options.column_k > 1 and other:
            raise PolicyError(
                f"slicing: {name} is about the source's own values, and with column_k ranges are published",
                hint=f"leave {name} out, or column_k",
                part=("method", "slicing", "column_k"),
            )


def is_matched(options: Options) -> bool:
    """Whether the options need the tuples that result from joining the columns of buckets."""
    return options.diversity == "matching" or bool(options.fake_tuples)


def is_wide(policy: BoundPolicy) -> bool:
    """Whether the policy has too many quasi-identifiers for cells and for cuts of regions."""
    return len(policy.quasi_identifiers) > sizes().max_coded_attributes


def require_fitting(policy: BoundPolicy, options: Options) -> None:
    """Raises PolicyError for options with which the policy has too many quasi-identifiers."""
    if is_wide(policy) and options.diversity == "matching":
        raise PolicyError(
            f"slicing: diversity => 'matching' looks at at most {sizes().max_coded_attributes} quasi-identifiers",
            hint="leave diversity out",
        )
    if is_wide(policy) and options.column_k > 1:
        raise PolicyError(
            f"slicing: column_k cuts at most {sizes().max_coded_attributes} quasi-identifiers",
            hint="leave column_k out",
        )
    if options.grouping == "mondrian" and is_wide(policy):
        raise PolicyError(
            f"slicing: grouping => 'mondrian' cuts at most {sizes().max_coded_attributes} quasi-identifiers",
            hint="write grouping => 'random'",
            part=("method", "slicing"),
        )


# The columns that a user names after COLUMNS, checked to have all attributes, and each sensitive one once.


Columns = tuple[tuple[str, ...], ...]


def each_apart(policy: BoundPolicy) -> Columns:
    """Returns a column for each attribute, with the sensitive attributes last: multiset generalization (Slicing,
    section 2.2).
    """
    last = [bound for bound in policy.published if bound.role is Role.SENSITIVE]
    return tuple((bound.column,) for bound in [b for b in policy.published if b not in last] + last)


def named_columns(policy: BoundPolicy, sets: Sequence[Sequence[str]]) -> Columns:
    """The sets of attributes after COLUMNS, in the source's names.

    Raises PolicyError for a name that the policy does not publish, for an attribute in none of the sets, for a
    sensitive attribute in several sets, and for a repeated set.
    """
    bounds = {fold(bound.column): bound for bound in policy.published}
    columns = tuple(
        tuple(_bound_name(policy, name, {k: b.column for k, b in bounds.items()}) for name in names) for names in sets
    )
    taken = [name for names in columns for name in names]
    for bound in policy.published:
        if bound.column not in taken:
            raise PolicyError(
                f"COLUMNS leaves {bound.column} out, which {policy.policy} publishes",
                hint=f"write it into one of them, or add a column of its own: COLUMNS ..., ({bound.column})",
                part=("method", "slicing"),
            )
        if bound.role is Role.SENSITIVE and taken.count(bound.column) > 1:
            raise PolicyError(
                f"the sensitive attribute {bound.column} is in {taken.count(bound.column)} columns: each of them by "
                "itself would keep its promise, and joined on it they tell more than that",
                hint="leave it in one; quasi-identifiers may be in several",
                part=("set", bound.column),
            )
    _require_once(columns)
    return columns


def _require_once(columns: Columns) -> None:
    """Raises PolicyError for two columns of the same attributes, because one of them would be redundant."""
    sets = [frozenset(names) for names in columns]
    for index, names in enumerate(columns):
        if sets[index] in sets[:index]:
            raise PolicyError(
                f"COLUMNS has ({', '.join(names)}) twice", hint="leave one of them out", part=("set", names[0])
            )


def require_apart(columns: Columns, argument: str, hint: str) -> None:
    """Raises PolicyError for an attribute in several columns, because these can be joined on it."""
    names = [name for attributes in columns for name in attributes]
    if several := [name for index, name in enumerate(names) if name in names[:index]]:
        raise PolicyError(
            f"slicing: {argument} takes each attribute in one column, and {several[0]} is in several",
            hint=hint,
            part=("set", several[0]),
        )


def _bound_name(policy: BoundPolicy, name: str, known: dict[str, str]) -> str:
    if fold(name) in known:
        return known[fold(name)]
    each = "write COLUMNS EACH, without parentheses" if fold(name) == "each" else None
    raise PolicyError(
        f"COLUMNS names {name}, which {policy.policy} does not publish",
        hint=each or nearest(name, list(known.values())) or f"it publishes {', '.join(known.values())}",
        part=("set", name),
    )
