"""METHOD dp_histogram counts the rows with each combination of some columns' values, with noise.

Dwork, McSherry, Nissim and Smith, Calibrating noise to sensitivity in private data analysis (2006), example 3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import prod
from typing import Literal

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.explanation import Explanation
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Role
from sqlanon.domain.release import Reading
from sqlanon.domain.values import Value
from sqlanon.errors import PolicyError, about
from sqlanon.methods.base import Method, PublishedTables, Structure, Wording
from sqlanon.methods.limits import Limits
from sqlanon.methods.noisy import payment
from sqlanon.methods.noisy.domains import (
    Domain,
    code_name,
    coded_rows,
    domain_of,
    labelled_rows,
    published_columns,
    require_public_labels,
)
from sqlanon.methods.noisy.payment import Account, OfBudget
from sqlanon.methods.shared.arguments import Kind, argument
from sqlanon.methods.shared.task import Task
from sqlanon.sources.noise import Laplace, Threshold, laplace, not_above, threshold
from sqlanon.sources.protected import found_groups
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import ascending, big, cast, infix
from sqlanon.sql.build.names import alias, column, literal, parameter, relation
from sqlanon.sql.build.queries import extend, inner_join, select
from sqlanon.sql.build.sql_files import filled, filled_query
from sqlanon.sql.release.multi_table_query import PublishedColumn, PublishedTable, TablesQuery

# The maximum number of combinations, because each has noise of its own.
_MOST_BINS = 1_000_000
_N, _BIN = "n", "bin"
_COUNTS = "counts"
_FOUND = "found"


@dataclass(frozen=True, kw_only=True)
class Options(OfBudget):
    """The arguments of METHOD dp_histogram."""

    by: tuple[str, ...] = argument("the columns whose combinations of values are counted", Kind.COLUMNS)
    keys: Literal["public", "found"] = argument(
        "the combinations with a count: all publicly known combinations, or only frequent ones, which costs a delta",
        Kind.CHOICE,
        default="public",
        choices=("public", "found"),
    )
    nonnegative: bool = argument("whether a count below 0 is published as 0", Kind.FLAG, default=False)


@dataclass(frozen=True)
class Histogram:
    """The noisy counts: a temporary table of the keys and n, which is empty in a dry run."""

    rows: int
    counts: str
    keys: tuple[tuple[BoundAttribute, str], ...]
    noise: Laplace | Threshold
    account: Account
    spent: tuple[Decimal, Decimal]
    remarks: tuple[str, ...]
    suppressed: int = 0
    loss_name: str = payment.NOISE
    searched: None = None

    @property
    def loss(self) -> Fraction:
        """A bound that the noise of 95 of 100 counts does not exceed; it depends on the statement alone."""
        return Fraction(self.noise.width)


class DpHistogramMethod(Method[Options, Histogram]):
    """METHOD dp_histogram: publishes counts with noise."""

    OPTIONS = Options
    ASKS_REQUIREMENTS = False

    def options(self, arguments: Sequence[tuple[str, Value]]) -> Options:
        """Checks the arguments. Raises PolicyError unless keys => 'found' and a delta come together."""
        options = super().options(arguments)
        payment.require_amounts(self.name, options)
        if (options.keys == _FOUND) != (options.cost[1] > 0):
            finds_keys = options.keys == _FOUND
            with about("method", self.name, "keys" if finds_keys else "delta"):
                raise PolicyError(
                    "keys => 'found' needs a delta" if finds_keys else "delta is for keys => 'found'",
                    hint="write delta => 1e-9, far below 1 divided by the number of respondents"
                    if finds_keys
                    else "leave delta out",
                )
        return options

    def limits(self, options: Options) -> Limits:
        """Returns the limits of methods with noise."""
        return payment.LIMITS

    def choose(self, task: Task, options: Options) -> Histogram:
        """Pays from the budget, counts the rows, and adds noise. A dry run pays nothing, and reads no row."""
        account = payment.opened(task, self.name, options)
        with about("method", self.name, "by"):
            columns = _columns(task, options)
        remarks = payment.remarks(options, account)
        if options.keys == _FOUND:
            return self._of_found_keys(task, options, account, columns, remarks)
        domains = [domain_of(task, bound) for bound in columns]
        bins = prod(domain.size for domain in domains)
        if bins > _MOST_BINS:
            raise PolicyError(
                f"there are {bins} combinations of values, and at most {_MOST_BINS} have counts",
                hint="name fewer columns, or write MIN LEVEL in the policy",
            )
        noise = laplace(options.rows, not_above(options.cost[0]))
        counted: list[int] = []
        if not task.dry:
            payment.pay(task, self.name, options, account)
            with payment.reading(task):
                rows = coded_rows(account.rows, domains, options.rows, account.budget.salt)
                truth = task.engine.rows(_counts(rows.counting(task.engine), domains))
            counted = noise.drawn(_of_all_bins(truth, bins))
            if options.nonnegative:
                counted = [max(0, n) for n in counted]
        keys = tuple((domain.bound, domain.kind) for domain in domains)
        table = _labelled(task, domains, counted)
        return Histogram(bins, table, keys, noise, account, options.cost, remarks)

    def _of_found_keys(
        self,
        task: Task,
        options: Options,
        account: Account,
        columns: Sequence[BoundAttribute],
        remarks: tuple[str, ...],
    ) -> Histogram:
        """Publishes the combinations that occur and whose noisy count reaches a threshold."""
        require_public_labels(task, columns)
        noise = threshold(options.rows, options.rows, not_above(options.cost[0]), not_above(options.cost[1]))
        names = [code_name(index) for index in range(len(columns))]
        rows = labelled_rows(account.rows, columns, options.rows, account.budget.salt)
        if not task.dry:
            payment.pay(task, self.name, options, account)
        with payment.reading(task):
            counting = rows.rows.where(exp.false()) if task.dry else rows.counting(task.engine)
            groups = task.temp.table("group", found_groups(counting, names, _BIN))
            counted = task.engine.rows(select(column(_BIN), column(_N), of=relation(groups)))
        drawn = noise.drawn({str(number): int(n) for number, n in counted}) if counted else {}
        noisy = _numbers(task, [int(number) for number in drawn], list(drawn.values()))
        joined = select(
            *(column(name, "key") for name in names),
            column(_N, "counted"),
            of=relation(noisy, as_="counted"),
            joins=[inner_join(relation(groups, as_="key"), column(_BIN, "key").eq(column(_BIN, "counted")))],
        )
        table = task.temp.table("histogram", joined)
        keys = tuple((b, "VARCHAR" if b.min_level else b.published_type) for b in columns)
        about_small = f"a combination is published where its count with noise is {noise.threshold} or more"
        return Histogram(len(drawn), table, keys, noise, account, options.cost, (*remarks, about_small))

    def reasons(self, task: Task, choice: Histogram, explained: Explanation | None) -> Iterator[tuple[str, str, str]]:
        """Rows of (stage, item, detail): the price, the number of counts, and the bound of the noise."""
        yield from payment.reasons(choice.spent, choice.account)
        if isinstance(choice.noise, Threshold):
            yield "solve", "counts", f"of combinations whose count with noise is {choice.noise.threshold} or more"
        else:
            yield "solve", "counts", f"{choice.rows}, one for each combination of values, whether it occurs or not"
        yield payment.reach(choice.noise.width, _COUNTS)

    def compile(self, task: Task, choice: Histogram, release_id: str, tokens: Mapping[str, str]) -> TablesQuery:
        """The SELECT of the one table: the keys and n."""
        columns = [PublishedColumn(bound.column, bound.role, Reading.DOMAIN_VALUE, bound) for bound, _ in choice.keys]
        columns.append(PublishedColumn(_N, Role.INSENSITIVE, Reading.NOISY_COUNT))
        outputs = [alias(column(code_name(index)), bound.column) for index, (bound, _) in enumerate(choice.keys)]
        query = select(*outputs, column(_N), of=relation(choice.counts))
        query = extend(query, order_by=(ascending(column(code_name(index))) for index in range(len(outputs))))
        # In the order of the keys, which anybody may know.
        return TablesQuery(
            task.policy, release_id, (PublishedTable(None, tuple(columns), query, ordered=True, words=()),)
        )

    def verify(self, published: PublishedTables, options: Options) -> Structure:
        """Measures the cost of the counts from the ledger."""
        return Structure(payment.measured(published, self.name, options))

    def wording(self, options: Options) -> Wording:
        """Returns the texts that the certificate has about the release."""
        published = "The number of rows with each combination of values, with discrete Laplace noise. Combinations " + (
            "that are rare are left out." if options.keys == _FOUND else "that no row has are there, too."
        )
        return payment.wording(options, published, _COUNTS, Reading.DOMAIN_VALUE, Reading.NOISY_COUNT)


def _columns(task: Task, options: Options) -> list[BoundAttribute]:
    """The columns by whose values rows are counted. Raises PolicyError like `published_columns`, and for a column named
    n.
    """
    if _N in map(fold, options.by):
        raise PolicyError("the counts are in a column n, and a column is called n already", hint="rename the column")
    return published_columns(task, options.by)


def _counts(rows: exp.Select, domains: Sequence[Domain]) -> exp.Query:
    """SELECT of bin, n: the number of rows with each combination that occurs, by the combination's number."""
    number: exp.Expr = big(literal(0))
    for index, domain in enumerate(domains):
        number = filled("($number) * $size + {code}", names={"code": code_name(index)}, number=number, size=domain.size)
    text = """
        SELECT {bin}, count(*) AS "{n}" FROM (SELECT $number AS "{bin}" FROM counted) AS numbered GROUP BY {bin}
    """
    return filled_query(text, tables={"counted": rows}, names={"bin": _BIN, "n": _N}, number=number)


def _of_all_bins(counted: Sequence[tuple[int, int]], bins: int) -> list[int]:
    counts = [0] * bins
    for number, n in counted:
        counts[number] = int(n)
    return counts


def _numbers(task: Task, bins: Sequence[int], counts: Sequence[int]) -> str:
    """Makes a temporary table of the numbers of combinations and their counts, for DpHistogram; returns its name."""
    columns = [alias(f.unnest(cast(parameter(number), "BIGINT[]")), name) for number, name in ((1, _BIN), (2, _N))]
    return task.temp.table("noisy", select(*columns), [list(bins), list(counts)])


def _labelled(task: Task, domains: Sequence[Domain], counts: Sequence[int]) -> str:
    """Makes a temporary table of the labels of each combination and its count."""
    noisy = _numbers(task, range(len(counts)), counts)
    query = select(*(alias(column("label", f"d{i}"), code_name(i)) for i in range(len(domains))), column(_N, "noisy"))
    query = extend(query, of=relation(noisy, as_="noisy"))
    stride = 1
    for index in reversed(range(len(domains))):
        number = infix(infix(column(_BIN, "noisy"), "//", literal(stride)), "%", literal(domains[index].size))
        query = extend(
            query,
            joins=[
                inner_join(relation(domains[index].labels, as_=f"d{index}"), column("code", f"d{index}").eq(number))
            ],
        )
        stride *= domains[index].size
    return task.temp.table("histogram", query)
