"""Trivial sanitization: quasi-identifiers and sensitive attributes in two tables, whose rows are not linked.

Brickell and Shmatikov, The cost of privacy: destruction of data-mining utility in anonymized data publishing (2008),
section 5: the baseline that any other release has to surpass. It reveals nothing about a person beyond what is true of
everybody.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.explanation import Explanation
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Role
from sqlanon.domain.release import Reading
from sqlanon.errors import PolicyError
from sqlanon.methods.base import Method, PublishedTables, Structure, Wording
from sqlanon.methods.limits import CAN, Limits, Refusal
from sqlanon.methods.shared.arguments import Kind, argument
from sqlanon.methods.shared.respondents import require_one_row_each
from sqlanon.methods.shared.task import Task, rows_of_source
from sqlanon.methods.shared.wording import DEFINITIONS
from sqlanon.sources.source import qualified
from sqlanon.sources.target_names import require_free
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import filtered, is_null, or_
from sqlanon.sql.build.names import column, literal, relation
from sqlanon.sql.build.queries import select
from sqlanon.sql.build.sql_files import Names, filled_select
from sqlanon.sql.cells.labels import published_value
from sqlanon.sql.classes.buckets import BUCKET
from sqlanon.sql.release.multi_table_query import PublishedColumn, PublishedTable, TablesQuery

Dropped = Literal["quasi_identifiers", "sensitive"]

# The suffix of the table of the columns that are left; the other table's suffix is the value of `drop`.
_REST = "rest"
# The only bucket, which holds every row.
_ONLY = 1
_BUCKET_COLUMN = PublishedColumn(BUCKET, Role.QUASI_IDENTIFIER, Reading.BUCKET)
# The readings of the table of the columns left, and of the table of the columns dropped.
_TABLES = ((Reading.EXACT, Reading.BUCKET), (Reading.BUCKET_VALUE, Reading.BUCKET))
_PUBLISHED = (
    "Values are the source's own. Quasi-identifiers and sensitive attributes are in two tables, and any row of the one "
    "may belong to any row of the other: all rows are one bucket."
)


@dataclass(frozen=True)
class Options:
    """The arguments of METHOD trivial."""

    drop: Dropped = argument(
        "the attributes that are published in a table of their own, without a link to the others",
        Kind.CHOICE,
        default="quasi_identifiers",
        choices=("quasi_identifiers", "sensitive"),
        alternatives=("sensitive",),
    )


@dataclass(frozen=True)
class Trivial:
    """Two tables of all rows: the columns that stay together, and the dropped columns."""

    drop: Dropped
    rest: tuple[BoundAttribute, ...]
    dropped: tuple[BoundAttribute, ...]
    rows: int
    suppressed: int = 0
    loss: Fraction = Fraction(0)
    loss_name: str = "granularity_loss"

    @property
    def searched(self) -> None:
        """Returns None, because the method does not search."""
        return


_LIMITS = Limits(
    labels=CAN,
    without_related=CAN,
    view=Refusal("a live view is one table, and METHOD {method} publishes two", "make a snapshot"),
    without_series=CAN,
    unconstrained=CAN,
    requirements=CAN,
    # `encoding` calls `require_one_row_each`.
    respondents=CAN,
    pseudonyms=Refusal(
        "{policy}: METHOD {method} publishes no pseudonyms, and {column} is one: a token would link the two tables",
        "leave {clause} out",
    ),
    max_level=CAN,
    on_spark=CAN,
)


class TrivialMethod(Method[Options, Trivial]):
    """METHOD trivial: publishes quasi-identifiers and sensitive attributes in two tables without a link."""

    OPTIONS = Options

    def limits(self, options: Options) -> Limits:
        """Returns the limits of METHOD trivial."""
        return _LIMITS

    def encoding(self, task: Task, options: Options) -> None:
        """Returns None, because values are published as they are.

        Raises PolicyError for a policy without sensitive attributes, for respondents with several rows, and for a
        column named bucket.
        """
        policy = task.policy
        require_one_row_each(task, "METHOD trivial")
        if not policy.sensitive:
            raise PolicyError(
                f"{policy.policy}: METHOD trivial separates quasi-identifiers from sensitive attributes, but the "
                "policy has no SENSITIVE attribute",
                hint="mark a column as SENSITIVE, or use METHOD generalization",
            )
        if any(fold(bound.column) == BUCKET for bound in policy.published):
            raise PolicyError(
                f"trivial adds a column {BUCKET}, and {policy.policy} has one of that name already",
                hint="rename it in a query, ON (SELECT bucket AS pail, ...)",
            )

    def choose(self, task: Task, options: Options) -> Trivial:
        """Puts all rows into two tables. Raises UserError if a table with one of their names exists."""
        policy = task.policy
        role = Role.QUASI_IDENTIFIER if options.drop == "quasi_identifiers" else Role.SENSITIVE
        rest = tuple(bound for bound in policy.published if bound.role is not role)
        dropped = tuple(bound for bound in policy.published if bound.role is role)
        if not task.dry:
            require_free(task.engine, qualified(task.engine, task.name), [_REST, options.drop])
        return Trivial(options.drop, rest, dropped, rows_of_source(task.engine, policy))

    def reasons(self, task: Task, choice: Trivial, explained: Explanation | None) -> Iterator[tuple[str, str, str]]:
        """Rows of (stage, item, detail): the columns of the two tables."""
        for name, bounds in ((_REST, choice.rest), (choice.drop, choice.dropped)):
            yield "solve", f"table {name}", f"{', '.join(bound.column for bound in bounds)} of {choice.rows} rows"

    def compile(self, task: Task, choice: Trivial, release_id: str, tokens: Mapping[str, str]) -> TablesQuery:
        """The SELECTs of the two tables, each in random order."""
        together = PublishedTable(
            _REST,
            (*(PublishedColumn(b.column, _role(b), Reading.EXACT, b) for b in choice.rest), _BUCKET_COLUMN),
            _rows(task, choice.rest),
        )
        apart = PublishedTable(
            choice.drop,
            (*(PublishedColumn(b.column, _role(b), Reading.BUCKET_VALUE, b) for b in choice.dropped), _BUCKET_COLUMN),
            _rows(task, choice.dropped),
        )
        return TablesQuery(task.policy, release_id, (together, apart))

    def verify(self, published: PublishedTables, options: Options) -> Structure:
        """Checks that the tables have the same number of rows, all in the same bucket."""
        numbers: set[int] = set()
        for table in published.tables.values():
            other = filtered(f.count(), or_(is_null(column(BUCKET)), column(BUCKET).neq(literal(_ONLY))))
            rows, others = published.engine.rows(select(f.count(), other, of=table))[0]
            numbers.add(int(rows))
            if others:
                return Structure(misfit="they have more than one bucket")
        return Structure(misfit="they have other numbers of rows" if len(numbers) > 1 else None)

    def wording(self, options: Options) -> Wording:
        """Returns the texts that the certificate has about the release."""
        return Wording(_PUBLISHED, DEFINITIONS, tables=_TABLES)


def _role(bound: BoundAttribute) -> Role:
    """The role of a published column. Quasi-identifiers are insensitive, because only the bucket shows which rows
    belong together.
    """
    return Role.INSENSITIVE if bound.role is Role.QUASI_IDENTIFIER else bound.role


def _rows(task: Task, bounds: Sequence[BoundAttribute]) -> exp.Select:
    names: Names = {"names": [bound.column for bound in bounds], "source": relation(task.policy.relation)}
    text = 'SELECT $values AS "{names}", CAST($bucket AS BIGINT) AS bucket FROM "{source}" AS source'
    return filled_select(text, names=names, values=[published_value(b, "source") for b in bounds], bucket=_ONLY)
