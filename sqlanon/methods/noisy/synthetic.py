"""METHOD dp_synthetic: a table with the source's columns, whose rows are sampled from noisy counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.explanation import Explanation
from sqlanon.domain.release import Reading
from sqlanon.domain.values import Value
from sqlanon.errors import PolicyError, about
from sqlanon.methods.base import Method, PublishedTables, Structure, Wording
from sqlanon.methods.limits import Limits
from sqlanon.methods.noisy import payment
from sqlanon.methods.noisy.domains import Domain, code_name, coded_rows, domain_of, published_columns
from sqlanon.methods.noisy.payment import Account, OfBudget
from sqlanon.methods.noisy.tree import Cells, NoisePlan, Tree, drawn_rows, learned, plan
from sqlanon.methods.shared.arguments import Kind, argument
from sqlanon.methods.shared.task import Task
from sqlanon.sources.noise import not_above
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import cast, infix
from sqlanon.sql.build.names import alias, column, literal, parameter, relation
from sqlanon.sql.build.queries import extend, inner_join, select, subquery
from sqlanon.sql.build.sql_files import filled
from sqlanon.sql.release.multi_table_query import PublishedColumn, PublishedTable, TablesQuery

if TYPE_CHECKING:
    from numpy.typing import NDArray

# The maximum number of combinations of two columns, because each has noise of its own.
_MOST_CELLS = 200_000
_MOST_ROWS = 100_000_000
_COUNTS = "counts of two columns' values"
# The codes of as many columns as fit are packed into one number of at most this size.
_MOST_WORD = 2**62
# The number of equal parts from which a number in a floating-point interval is sampled.
_PARTS = 2**32
_WORD, _OFFSET, _N = "w", "o", "n"


@dataclass(frozen=True, kw_only=True)
class Options(OfBudget):
    """The arguments of METHOD dp_synthetic."""

    columns: tuple[str, ...] = argument(
        "the columns of the release; by default all that the policy publishes", Kind.COLUMNS, default=()
    )
    size: int | None = argument(
        "the number of rows; by default the noisy number of rows that count",
        Kind.WHOLE,
        default=None,
        least=1,
        most=_MOST_ROWS,
    )


@dataclass(frozen=True)
class Synthetic:
    """The sampled rows: a temporary table with the published columns, which is empty in a dry run."""

    rows: int
    table: str
    columns: tuple[BoundAttribute, ...]
    edges: tuple[tuple[str, str], ...]
    noise: NoisePlan
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


class DpSyntheticMethod(Method[Options, Synthetic]):
    """METHOD dp_synthetic: publishes artificial rows that are sampled from counts with noise."""

    OPTIONS = Options
    ASKS_REQUIREMENTS = False

    def options(self, arguments: Sequence[tuple[str, Value]]) -> Options:
        """Checks the arguments. Raises PolicyError for amounts that the ledger cannot store."""
        options = super().options(arguments)
        payment.require_amounts(self.name, options)
        return options

    def limits(self, options: Options) -> Limits:
        """Returns the limits of methods with noise."""
        return payment.LIMITS

    def choose(self, task: Task, options: Options) -> Synthetic:
        """Pays from the budget, counts, adds noise, and samples rows. A dry run pays nothing, and reads no row."""
        account = payment.opened(task, self.name, options)
        with about("method", self.name, "columns"):
            names = options.columns or tuple(b.column for b in task.policy.published)
            columns = published_columns(task, names)
            domains = [domain_of(task, bound) for bound in columns]
            _require_few_cells(domains)
        noise = plan(len(domains), options.rows, not_above(options.cost[0]), not_above(options.cost[1]))
        remarks = payment.remarks(options, account)
        tree = None if task.dry else self._learned(task, options, account, domains, noise)
        rows = 0 if tree is None else tree.total if options.size is None else options.size
        codes = [] if tree is None else drawn_rows(tree, rows)
        table = task.temp.table("synthetic", _valued(task, domains, codes))
        edges = tuple((columns[p].column, columns[c].column) for p, c in (tree.edges if tree else ()))
        return Synthetic(rows, table, tuple(columns), edges, noise, account, options.cost, remarks)

    def _learned(
        self, task: Task, options: Options, account: Account, domains: Sequence[Domain], noise: NoisePlan
    ) -> Tree:
        payment.pay(task, self.name, options, account, noise.rho)
        with payment.reading(task):
            rows = coded_rows(account.rows, domains, options.rows, account.budget.salt)
            cells = task.engine.arrays(_cells(rows.counting(task.engine), domains))
        codes = tuple(cells[code_name(index)] for index in range(len(domains)))
        return learned(Cells(codes, cells[_N], tuple(domain.size for domain in domains)), noise)

    def reasons(self, task: Task, choice: Synthetic, explained: Explanation | None) -> Iterator[tuple[str, str, str]]:
        """Rows of (stage, item, detail): the price, and the bound of the noise."""
        yield from payment.reasons(choice.spent, choice.account, choice.noise.rho)
        yield payment.reach(choice.noise.width, _COUNTS)

    def compile(self, task: Task, choice: Synthetic, release_id: str, tokens: Mapping[str, str]) -> TablesQuery:
        """The SELECT of the one table: the sampled rows."""
        columns = tuple(PublishedColumn(b.column, b.role, Reading.DOMAIN_VALUE, b) for b in choice.columns)
        outputs = [alias(column(code_name(index)), b.column) for index, b in enumerate(choice.columns)]
        query = select(*outputs, of=relation(choice.table))
        return TablesQuery(task.policy, release_id, (PublishedTable(None, columns, query, words=()),))

    def verify(self, published: PublishedTables, options: Options) -> Structure:
        """Measures the cost of the counts from the ledger."""
        return Structure(payment.measured(published, self.name, options))

    def wording(self, options: Options) -> Wording:
        """Returns the texts that the certificate has about the release."""
        content = (
            "Rows that are nobody's, drawn from counts with noise: of single columns, and of some pairs of columns, a "
            "tree. What three columns tell together, beyond these pairs, is not in them."
        )
        return payment.wording(options, content, _COUNTS, Reading.DOMAIN_VALUE)


def _require_few_cells(domains: Sequence[Domain]) -> None:
    largest = sorted(domains, key=lambda domain: -domain.size)[:2]
    if len(largest) == 2 and (cells := largest[0].size * largest[1].size) > _MOST_CELLS:
        raise PolicyError(
            f"{largest[0].bound.column} and {largest[1].bound.column} may have {cells} combinations of values, and at "
            f"most {_MOST_CELLS} have counts",
            hint="write MIN LEVEL in the policy, wider INTERVALS, or columns => (...) without one of them",
        )


def _cells(rows: exp.Select, domains: Sequence[Domain]) -> exp.Select:
    """SELECT of the codes of all columns, and the number of rows with each combination of codes."""
    names = [code_name(index) for index in range(len(domains))]
    return select(*map(column, names), alias(f.count(), _N), of=subquery(rows, "counted"), group_by=map(column, names))


def _valued(task: Task, domains: Sequence[Domain], codes: Sequence[NDArray[Any]]) -> exp.Select:
    """SELECT of the sampled rows, with values in place of codes.

    A value is the label of the code, or a number sampled from the interval of the code.
    """
    words = _words(domains)
    offsets = {index: _offsets(task, domain, codes[index] if codes else None) for index, domain in enumerate(domains)}
    drawn = _uploaded(task, domains, codes, words, {i: values for i, values in offsets.items() if values is not None})
    query = select(of=relation(drawn, as_="drawn"))
    outputs = [alias(_value(domain, index), code_name(index)) for index, domain in enumerate(domains)]
    for number, (first, last) in enumerate(words):
        stride = 1
        for index in reversed(range(first, last)):
            domain, name = domains[index], _table_name(index)
            code = infix(infix(column(f"{_WORD}{number}", "drawn"), "//", literal(stride)), "%", literal(domain.size))
            query = extend(query, joins=[inner_join(relation(domain.labels, as_=name), column("code", name).eq(code))])
            stride *= domain.size
    return extend(query, *outputs)


def _table_name(index: int) -> str:
    return f"d{index}"


def _words(domains: Sequence[Domain]) -> list[tuple[int, int]]:
    """Returns groups of columns whose codes fit one whole number: the first index of each group, and the index after
    the last.
    """
    words, first, size = [], 0, 1
    for index, domain in enumerate(domains):
        if size * domain.size > _MOST_WORD:
            words.append((first, index))
            first, size = index, 1
        size *= domain.size
    return [*words, (first, len(domains))]


def _offsets(task: Task, domain: Domain, codes: NDArray[Any] | None) -> list[int] | None:
    """Returns each row's random offset from the lower end of its interval; None for a column without intervals.

    Offsets are in units of the last decimal of the column's type, or in parts of the interval for floating-point
    numbers.
    """
    import numpy as np

    if not domain.has_ends:
        return None
    if codes is None:
        return []
    ends = [column(name) for name in ("code", "least", "beyond")]
    widths = np.ones(domain.size, dtype=np.int64)
    for code, least, beyond in task.engine.rows(select(*ends, of=relation(domain.labels))):
        if least is not None:
            units = _PARTS if domain.scale is None else int((beyond - least).scaleb(domain.scale))
            widths[code] = min(units, _MOST_WORD)
    offsets: list[int] = np.random.default_rng().integers(0, widths[codes]).tolist()
    return offsets


def _uploaded(
    task: Task,
    domains: Sequence[Domain],
    codes: Sequence[NDArray[Any]],
    words: Sequence[tuple[int, int]],
    offsets: Mapping[int, list[int]],
) -> str:
    """Makes a temporary table with the packed codes of each row and its offsets in intervals."""
    import numpy as np

    values: dict[str, list[int]] = {}
    for number, (first, last) in enumerate(words):
        word = np.zeros(len(codes[0]) if codes else 0, dtype=np.int64)
        for index in range(first, last):
            word = word * domains[index].size + (codes[index] if codes else 0)
        values[f"{_WORD}{number}"] = word.tolist()
    values |= {f"{_OFFSET}{index}": each for index, each in offsets.items()}
    outputs = [
        alias(f.unnest(cast(parameter(number), "BIGINT[]")), name) for number, name in enumerate(values, start=1)
    ]
    return task.temp.table("drawn", select(*outputs), list(values.values()))


def _value(domain: Domain, index: int) -> exp.Expr:
    """The expression of a code's value: its label, or a uniformly distributed number in its interval."""
    names = {"of": _table_name(index), "offset": f"{_OFFSET}{index}"}
    if not domain.has_ends:
        return filled('"{of}".label', names=names)
    if domain.scale is None:
        text = '"{of}".least + ("{of}".beyond - "{of}".least) * CAST({drawn.offset} AS DOUBLE) / $parts'
        return cast(filled(text, names=names, parts=_PARTS), domain.bound.published_type)
    unit = cast(literal(Decimal(1).scaleb(-domain.scale)), f"DECIMAL(38, {domain.scale})")
    text = '"{of}".least + CAST({drawn.offset} AS DECIMAL(19, 0)) * $unit'
    return cast(filled(text, names=names, unit=unit), domain.bound.published_type)
