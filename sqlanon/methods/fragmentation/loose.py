"""Loose associations: fragments, and groups of their rows that are linked to each other.

De Capitani di Vimercati, Foresti, Jajodia, Paraboschi and Samarati, Fragments and loose associations: respecting
privacy in data publishing (2010), and Loose associations to increase utility in data publishing (2015). In a k-loose
association each row of a fragment is linked to at least k different rows of another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import partial
from math import isqrt, prod

from sqlanon.domain.bound import BoundPolicy
from sqlanon.domain.explanation import Explanation
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Role
from sqlanon.domain.release import Assumption
from sqlanon.domain.values import Value
from sqlanon.engines.temp_tables import TempTables
from sqlanon.engines.udfs import registered
from sqlanon.errors import PolicyError
from sqlanon.methods.base import Method, PublishedTables, Structure, Wording
from sqlanon.methods.fragmentation.association.associate import Association, Grouping, associate, promised, refusal
from sqlanon.methods.fragmentation.association.block_grids import sizes, value_name
from sqlanon.methods.fragmentation.minimal_fragmentation import (
    LOOSE_TABLES,
    OF_FRAGMENTS,
    PUBLISHED,
    Sets,
    constraints_of,
    fragments_of,
    loss_of,
)
from sqlanon.methods.fragmentation.tables import (
    GROUP,
    Fragmented,
    apart,
    hides_numbers,
    numbered_rows,
    require_free_tables,
    values_of,
)
from sqlanon.methods.fragmentation.tables import kept_apart as fragments_in_words
from sqlanon.methods.fragmentation.verify import FIGURES, Promise, loosely_associated
from sqlanon.methods.limits import CAN, Limits, only_on_duckdb
from sqlanon.methods.shared.arguments import Kind, argument
from sqlanon.methods.shared.task import Task, rows_of_source
from sqlanon.methods.shared.wording import DEFINITIONS, of_groups
from sqlanon.sql.build.names import alias, relation
from sqlanon.sql.build.queries import select
from sqlanon.sql.release.multi_table_query import TablesQuery

_MOST_K = 1_000_000
_MOST_ROWS = 10_000

# The share of rows that may be left out unless the statement says otherwise.
SUPPRESSION = Decimal("0.02")


@dataclass(frozen=True)
class Options:
    """METHOD loose(k, groups, near, suppression).

    `groups` are the least sizes of each fragment's groups, and `k` is the required looseness; at least one of the two
    is needed. If `near` is true, the rows of a group are near each other in the quasi-identifiers of one fragment.
    `suppression` is the share of rows, in [0, 1], that may be left out. 0 would refuse nearly every table, because rows
    seldom make up whole blocks.
    """

    k: int | None = argument(
        "how many different rows of another fragment a row is linked to at least",
        Kind.WHOLE,
        default=None,
        least=2,
        most=_MOST_K,
        example=4,
    )
    groups: tuple[int, ...] = argument(
        "the least sizes of each fragment's groups, in the order of the fragments",
        Kind.WHOLES,
        default=(),
        least=1,
        most=_MOST_ROWS,
        example=(2, 2),
    )
    near: bool = argument(
        "whether groups hold rows that are alike in the quasi-identifiers of one fragment", Kind.FLAG, default=False
    )
    suppression: Decimal = argument(
        "the share of rows that may be left out", Kind.FRACTION, default=SUPPRESSION, example=SUPPRESSION
    )

    def sizes(self, fragments: int) -> tuple[int, ...]:
        """The sizes of each fragment's groups: `groups` or, with `k` alone, the most even sizes whose products are at
        least k.
        """
        if self.groups or self.k is None:
            return self.groups
        side = isqrt(self.k - 1) + 1
        return (*[side] * (fragments - 1), -(-self.k // side))

    def shapes(self, k: int, fragments: int) -> list[tuple[int, ...]]:
        """Returns the lists of group sizes to try for this k: the list of `sizes`, and for two fragments also (k, 1),
        which makes smaller blocks.
        """
        sizes = replace(self, k=k).sizes(fragments)
        return [sizes] if self.groups or fragments > 2 or prod(sizes) == k else [sizes, (k, 1)]

    def allowed(self, rows: int) -> int:
        """Returns the number of rows that may be left out."""
        return int(Fraction(self.suppression) * rows)


_NOT_NEAR = only_on_duckdb("near rows are moved between temporary tables of DuckDB's until they fit")


class LooseMethod(Method[Options, Fragmented]):
    """METHOD loose: publishes fragments, and links their rows by groups."""

    OPTIONS = Options
    # Whether the rows of the association have the values of the source rather than its row numbers.
    _HAS_VALUES = False

    def options(self, arguments: Sequence[tuple[str, Value]]) -> Options:
        """Checks the method's arguments; raises PolicyError for an argument that is missing, unknown or out of
        bounds.
        """
        options = super().options(arguments)
        if options.k is None and not options.groups:
            raise PolicyError(
                "loose lacks its argument 'k', or 'groups'", hint="write loose(k => 4), or loose(groups => (2, 2))"
            )
        return options

    def limits(self, options: Options) -> Limits:
        """The common limits of fragments; `near` works on DuckDB only."""
        return replace(OF_FRAGMENTS, on_spark=_NOT_NEAR if options.near else CAN, scripted=Limits.scripted)

    def assumes(self, options: Options, sensitive: Sequence[str]) -> tuple[Assumption, ...]:
        """Returns the assumption about groups behind the figures of a release."""
        return (of_groups(),)

    def choose(self, task: Task, options: Options) -> Fragmented:
        """Chooses the fragments, their groups and the association.

        Raises PolicyError if the fragments cannot be published, PrivacyViolation if no row can be in a group or too
        many rows are left out.
        """
        engine, policy, named = task.engine, task.policy, task.sets
        fragmentation = fragments_of(policy, named, "loose")
        fragments, constraints = fragmentation.fragments, constraints_of(policy.policy)
        _require_free_name(fragments)
        k = required(fragments, constraints, options)
        sizes = options.sizes(len(fragments))
        near = _near(policy, fragments) if options.near else []
        rows = rows_of_source(engine, policy)
        most = options.allowed(rows)
        made, copied = self._association(task, Grouping(fragments, constraints, sizes, near, k, most), rows, most)
        if rows and (not made.placed or made.left_out > most):
            shapes = partial(options.shapes, fragments=len(fragments))
            raise refusal(made, k, most, options.suppression, shapes, near=options.near)
        chosen = Fragmented(
            fragments=fragments,
            of_statement=bool(named),
            least=fragmentation.least,
            proven=fragmentation.proven,
            rows=rows,
            suppressed=made.left_out,
            limit=most,
            alike=made.alike,
            sizes=sizes,
            k=made.k,
            groups=made.groups,
            copied=copied,
            has_values=self._HAS_VALUES,
            loss=loss_of(policy, fragments, rows, made.left_out),
        )
        require_free_tables(task, chosen)
        return chosen

    def reasons(self, task: Task, choice: Fragmented, explained: Explanation | None) -> Iterator[tuple[str, str, str]]:
        """Rows of (stage, item, detail): the columns published together, the groups with their k, and the rows left
        out.
        """
        yield from (("solve", item, detail) for item, detail in fragments_in_words(choice))

    def compile(self, task: Task, choice: Fragmented, release_id: str, tokens: Mapping[str, str]) -> TablesQuery:
        """The SELECTs of the fragments' tables, and of the association if rows are in groups."""
        return apart(task.policy, choice, release_id)

    def verify(self, published: PublishedTables, options: Options) -> Structure:
        """Counts the policy's sets that the tables keep, and measures the looseness of their association."""
        return loosely_associated(published, promised_sizes(options))

    def on_spark(self) -> Method[Options, Fragmented]:
        """Returns the method's variant for Spark, where rows keep their random numbers."""
        from sqlanon.methods.fragmentation.spark import LooseOnSpark

        return LooseOnSpark(self.name)

    def _association(self, task: Task, grouping: Grouping, rows: int, most: int) -> tuple[Association, str]:
        return drawn_association(task, grouping, rows, most)

    def wording(self, options: Options) -> Wording:
        """Returns the texts that the certificate has about the release."""
        return Wording(PUBLISHED, DEFINITIONS, FIGURES, LOOSE_TABLES)


def promised_sizes(options: Options) -> Promise:
    """Returns the function from fragments and constraints to the group sizes and the k that these options promise."""
    return lambda fragments, constraints: (
        options.sizes(len(fragments)),
        required(fragments, constraints, options),
    )


def required(fragments: Sets, constraints: Sets, options: Options) -> int | None:
    """The promised k: the statement's k, or else the k that the groups guarantee.

    None if no constraint lies across fragments, because links then reveal nothing confidential. Raises PolicyError if
    the groups are too small for the k of the statement.
    """
    if len(fragments) < 2:
        raise PolicyError(
            f"a loose association needs two fragments or more, and there is {len(fragments)}",
            hint="use METHOD fragments, or name more: FRAGMENTS (zip, age), (disease)",
        )
    sizes = options.sizes(len(fragments))
    if len(sizes) != len(fragments):
        raise PolicyError(
            f"loose: there are {len(fragments)} fragments, and groups has {len(sizes)} sizes",
            hint="give one size a fragment, or k alone",
        )
    most = promised(fragments, constraints, sizes)
    if options.k is not None and most is not None and options.k > most:
        raise PolicyError(
            f"loose: groups => ({', '.join(map(str, sizes))}) give k => {most}, not {options.k}",
            hint="ask for larger groups, or leave groups out",
        )
    return most if options.k is None or most is None else options.k


def _require_free_name(fragments: Sets) -> None:
    for name in (name for fragment in fragments for name in fragment):
        if fold(name) == GROUP:
            raise PolicyError(
                f"loose adds a column {GROUP} to each fragment, and a column has that name already",
                hint=f"rename it in a query, ON (SELECT {GROUP} AS team, ...)",
            )


def _near(policy: BoundPolicy, fragments: Sets) -> list[str]:
    """The quasi-identifiers of the first fragment that has some. Raises PolicyError if there is no such fragment.

    Groups must not depend on several fragments.
    """
    quasi = {bound.column for bound in policy.having(Role.QUASI_IDENTIFIER)}
    for fragment in fragments:
        if names := [name for name in fragment if name in quasi]:
            return names
    raise PolicyError(
        "loose: near => true groups rows with similar quasi-identifiers, but no fragment has a quasi-identifier",
        hint="leave near out, or mark a column as QUASI IDENTIFIER",
    )


# The association of a policy's source, repeated with new random numbers if it leaves out too many rows.


def drawn_association(task: Task, grouping: Grouping, rows: int, most: int) -> tuple[Association, str]:
    """Associates the `rows` rows of the source, and leaves out at most `most`; returns the association and its copy of
    the source.

    The copy is '' if the rows have the source's own row numbers.
    """
    engine, policy, temp = task.engine, task.policy, task.temp
    columns = [name for fragment in grouping.fragments for name in fragment]
    with registered(engine, "random_draw") as draw:
        copied = _copied(policy, columns, temp) if hides_numbers(policy) else ""
        numbered = numbered_rows(policy, columns, grouping.near, copied)
        return best_of_draws(partial(associate, engine, numbered, grouping, draw, temp), rows, most), copied


def best_of_draws(drawing: Callable[[], Association], rows: int, most: int) -> Association:
    """Makes an association of `rows` rows; if it leaves out more than `most` rows, it is repeated a limited number of
    times.
    """
    made = drawing()
    for _ in range(_more_draws(rows)):
        # A bound that follows from one key by itself holds for every attempt.
        if made.least is None or made.least > most or (made.placed and made.left_out <= most):
            break
        made = drawing()
    return made


def _more_draws(rows: int) -> int:
    """Returns the maximum number of further attempts after an attempt that leaves out too many rows."""
    return sizes().max_draws - 1 if rows <= sizes().max_rows_drawn_again else 0


def _copied(policy: BoundPolicy, columns: Sequence[str], temp: TempTables) -> str:
    values = [alias(value, value_name(index)) for index, value in enumerate(values_of(policy, columns))]
    return temp.table("copied", select(*values, of=relation(policy.relation, as_="source")))
