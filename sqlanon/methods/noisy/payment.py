"""The cost of a noisy release: paid before a row is read, and stated wherever the release is checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sqlanon.catalog import budgets
from sqlanon.catalog.accounting import DIGITS, ZCDP, Left, amounts, epsilon_of
from sqlanon.catalog.budgets import Budget, number
from sqlanon.domain.explanation import WithNoise
from sqlanon.domain.numbers import counted
from sqlanon.domain.release import DIFFERENTIAL_PRIVACY, Measurement, Reading
from sqlanon.domain.requests import BUDGET, MethodCall, ReleaseRequest
from sqlanon.domain.values import QualifiedName, Value
from sqlanon.errors import EngineError, PolicyError, PrivacyViolation, UserError, about
from sqlanon.methods.base import Figure, PublishedTables, Wording
from sqlanon.methods.limits import CAN, Limits, Refusal
from sqlanon.methods.shared.arguments import Kind, argument, given_or_default
from sqlanon.methods.shared.task import Task
from sqlanon.sources.protected import ProtectedRows, protected_rows, require_same_rows
from sqlanon.syntax.definitions import anonymized_text, release_text

NOISE = "noise"
EPSILON, DELTA = DIFFERENTIAL_PRIVACY, f"{DIFFERENTIAL_PRIVACY}_delta"
_MOST_DELTA = Decimal("0.001")
_PAPER = "Dwork, McSherry, Nissim and Smith, Calibrating noise to sensitivity in private data analysis (2006)"
_LEDGER = "the ledger of the budget, whose owner alone has it"


@dataclass(frozen=True, kw_only=True)
class OfBudget:
    """The arguments that all methods with noisy counts have: the budget, epsilon, delta, and rows of a respondent."""

    budget: str = argument("the budget that pays for the noise; UNDER BUDGET names it", Kind.BUDGET)
    epsilon: Decimal = argument(
        "the privacy loss that the release guarantees and spends", Kind.NUMBER, above=0, most=1000, example=1
    )
    rows: int = argument("at most this many rows of a respondent count", Kind.WHOLE, default=1, least=1, most=1_000_000)
    delta: Decimal = argument(
        "the probability with which the promise may fail", Kind.NUMBER, default=Decimal(0), least=0, most=1
    )

    @property
    def cost(self) -> tuple[Decimal, Decimal]:
        """The cost: epsilon and delta."""
        return Decimal(self.epsilon), Decimal(self.delta)


# Noisy releases check no requirements, so their policy may have requirements of any kind.
LIMITS = Limits(
    without_related=CAN,
    view=Refusal(
        "a live view with noise would be paid for at each query, and METHOD {method} is paid for once",
        "make a snapshot, CREATE ANONYMIZED TABLE",
    ),
    series=Refusal(
        "METHOD {method} makes no release of a series: none of its rows is somebody's, and what releases cost together "
        "is in the budget",
        "leave IN SERIES out",
    ),
    without_series=CAN,
    unconstrained=CAN,
    requirements=CAN,
    respondents=CAN,
    min_level=CAN,
    labels=Refusal(
        "METHOD {method} takes no labels of {column}: a value that its hierarchy lacks would end the statement, which "
        "tells of the value",
        "publish the labels as a column of the policy's query, ON (SELECT ...), and leave MIN LEVEL and HIDE out",
    ),
    max_level=CAN,
    public=CAN,
    guarding=CAN,
    samples=CAN,
    jointly=CAN,
    projections=CAN,
    whole=CAN,
    broader=CAN,
    itemsets=CAN,
    on_spark=Refusal(
        "METHOD {method} pays from a budget of this database before it reads a row, so it does not run with engine => "
        "'spark'",
        "make it on DuckDB, with a table of the rows there: CREATE TABLE ... AS FROM read_parquet(...)",
    ),
    scripted=Refusal(
        "it was made by METHOD {method}, whose noise was drawn and paid for once: a script would draw other noise, and "
        "pay nothing",
        "export the release, and load it there",
    ),
)


def require_amounts(method: str, options: OfBudget) -> None:
    """Raises PolicyError for an epsilon or a delta that the ledger cannot store."""
    for name, amount in zip(("epsilon", "delta"), options.cost, strict=True):
        with about("method", method, name):
            if int(amount.as_tuple().exponent) < -DIGITS:
                raise PolicyError(
                    f"{method}: {name} has more than {DIGITS} digits after the decimal point", hint="round it"
                )
    if options.cost[1] > _MOST_DELTA:
        with about("method", method, "delta"):
            raise PolicyError(
                f"{method}: delta is {number(options.cost[1])}, and has to be from 0 to {number(_MOST_DELTA)}",
                hint="choose one far below 1 divided by the number of respondents, such as 1e-9",
            )


@dataclass(frozen=True)
class Account:
    """The budget that pays for a release, and the rows that it protects."""

    budget: Budget
    rows: ProtectedRows
    left: Left


def opened(task: Task, method: str, options: OfBudget) -> Account:
    """Opens the account of a release. Raises UserError if there is no such budget, PolicyError if the budget protects
    other rows.
    """
    policy = task.policy.policy
    with about("method", method, BUDGET):
        budget = budgets.load(task.engine, options.budget)
        rows = protected_rows(task.engine, policy)
        require_same_rows(budget, policy, rows)
    if rows.entity is None and options.rows != 1:
        with about("method", method, "rows"):
            raise PolicyError(
                "rows limits the rows of one respondent, but the policy has no ENTITY, so each row counts by itself",
                hint="leave rows out, or name the column of respondents: ALTER POLICY ... ALTER COLUMN c ENTITY",
            )
    return Account(budget, rows, budgets.left(task.engine, budget))


def pay(task: Task, method: str, options: OfBudget, account: Account, own_rho: Decimal | None = None) -> None:
    """Pays the cost of the release and commits it, before a row is read; `own_rho` is the rho of its noise, if known.

    Raises the errors of `budgets.spend`. A draft costs nothing, because its rows are thrown away and only the owner
    sees its figures; it raises PrivacyViolation if the budget has too little left.
    """
    if task.draft:
        if not account.left.answers(*options.cost, own_rho):
            raise PrivacyViolation(f"budget {account.budget.budget} has too little left to pay for it")
        return
    request = ReleaseRequest("table", task.name, task.policy.policy.name, _call(method, options))
    with about("method", method, BUDGET):
        budgets.spend(task.engine, account.budget, release_text(request), *options.cost, own_rho)


def _call(method: str, options: Any) -> MethodCall:
    """The call of a release as the ledger stores it; each number has one text, so 0.50 equals 0.5."""
    return MethodCall(method, tuple((name, _plain(value)) for name, value in given_or_default(options).items()))


def _plain(value: Value) -> Value:
    return Decimal(f"{value.normalize():f}") if isinstance(value, Decimal) else value


@contextmanager
def reading(task: Task) -> Iterator[None]:
    """Replaces an EngineError inside by a UserError without its message, which may reveal a respondent's values."""
    try:
        yield
    except EngineError:
        raise UserError(
            "DuckDB could not count the rows, and its message may reveal somebody's rows; "
            f"{'nothing was' if task.draft else 'the cost is'} spent",
            hint="give DuckDB more memory: SET memory_limit",
        ) from None


def remarks(options: OfBudget, account: Account) -> tuple[str, ...]:
    """The remark on the promise that replaces the policy's requirements."""
    whose = "row" if account.rows.entity is None else f"{account.rows.entity}, of {options.rows} rows at most"
    delta = f" and a delta of {number(options.cost[1])}" if options.cost[1] else ""
    return (
        f"the release has noise, and no row of it is somebody's: it promises differential privacy of each {whose}, "
        f"with an epsilon of {number(options.cost[0])}{delta}; what the policy requires of classes is not asked",
    )


def reasons(
    spent: tuple[Decimal, Decimal], account: Account, own_rho: Decimal | None = None
) -> Iterator[tuple[str, str, str]]:
    """Yields rows of (stage, item, detail) for EXPLAIN: the price of the release, and the suppressed rows.

    EXPLAIN itself pays nothing.
    """
    epsilon, delta = spent
    price = f"epsilon {number(epsilon)}" + (f" and delta {number(delta)}" if delta else "")
    has = f"{price} of budget {account.budget.budget}, which has {float(account.left.epsilon):g} left"
    number_of_releases = account.left.answers(epsilon, delta, own_rho)
    enough = f"enough for {counted(number_of_releases, 'such release')}" if number_of_releases else "too little for it"
    *_, rho = amounts(account.left.accounting, epsilon, delta, own_rho)
    by = f" by accounting '{ZCDP}', at a rho of {rho:.3g}" if rho else ""
    yield "solve", "binding requirement", f"{has}, {enough}{by}"
    yield "solve", "suppressed rows", "none: no row of the source is published"


def reach(width: int, counts: str) -> tuple[str, str, str]:
    """Returns the row of (stage, item, detail) for EXPLAIN that bounds the noise of the named counts by `width`."""
    return "solve", NOISE, f"within {width} in 95 of 100 {counts}, whatever the rows are"


# The cost in CHECK, EXPORT and certificates.


def wording(options: OfBudget, content: str, counts: str, *readings: Reading) -> Wording:
    """The words of a certificate: `content` describes the release, `counts` names the figures that have noise."""
    drawn = f"{content} OpenDP has drawn the noise; at most {options.rows} rows of each respondent count."
    losses = {NOISE: f"noise: 95 of 100 {counts} differ from the true ones by at most so much"}
    return Wording(drawn, losses, figures(options), (readings,))


def measured(published: PublishedTables, method: str, options: OfBudget) -> tuple[Measurement, ...]:
    """Measures the cost of the release: in the owner's database from the ledger, elsewhere from the record."""
    amounts = _paid(published, method, options)
    whose = published.policy.entity.name if published.policy.entity else None
    measurements = []
    for question, required, paid in zip((EPSILON, DELTA), options.cost, amounts, strict=True):
        if question == EPSILON or required:
            is_kept = paid is not None and paid <= float(required)
            measurements.append(Measurement(question, whose, float(required), paid, is_kept))
    return tuple(measurements)


def _paid(published: PublishedTables, method: str, options: OfBudget) -> tuple[float | None, float | None]:
    choice: object = published.choice
    if isinstance(choice, WithNoise):
        epsilon, delta = choice.spent
        return float(epsilon), float(delta)
    if not published.is_own:
        known = {each.question: each.achieved for each in published.recorded}
        return known.get(EPSILON), known.get(DELTA)
    budget = budgets.find(published.engine, options.budget)
    request = ReleaseRequest("table", QualifiedName(("r",)), published.policy.name, _call(method, options))
    _, _, ends_in = anonymized_text(request).partition(" AS POLICY ")
    for _, epsilon, delta, rho, query, _ in budgets.entries(published.engine, budget) if budget else ():
        if query.endswith(f" AS POLICY {ends_in}") and _is_cost(options, epsilon, delta, rho):
            return float(epsilon), float(options.cost[1])
    return None, None


def _is_cost(options: OfBudget, epsilon: Decimal, delta: Decimal, rho: Decimal) -> bool:
    """Whether an entry of the ledger is the cost of a release: its epsilon and delta, or a rho that is equivalent."""
    if (epsilon, delta) == options.cost:
        return True
    is_by_rho = rho > 0 and delta == 0 and options.cost[1] > 0
    return is_by_rho and epsilon == options.cost[0] and epsilon_of(rho, options.cost[1]) <= epsilon


def figures(options: OfBudget) -> Mapping[str, Figure]:
    """The explanations of the measurements in a certificate, by name."""
    but = ", but for a probability of delta" if options.cost[1] else ""
    promise = (
        "Take the source with all rows of one respondent, and without them: no release is more than e^epsilon times as "
        f"probable with one of the two as with the other{but}. "
        "Noise cannot be recomputed: a recipient of the rows must trust the owner, whose ledger records the cost."
    )
    delta = "The probability with which the promise of epsilon may fail."
    return {
        EPSILON: Figure(promise, _PAPER, _LEDGER, parameter="epsilon"),
        DELTA: Figure(delta, _PAPER, _LEDGER, parameter="delta"),
    }
