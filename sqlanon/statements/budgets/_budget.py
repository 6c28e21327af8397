"""Makes budgets, and reads their arguments."""

from __future__ import annotations

from decimal import Decimal

from sqlanon.catalog import budgets as catalog
from sqlanon.catalog import migrations, policies
from sqlanon.catalog.accounting import BASIC, DIGITS, ZCDP, accounting_of, share_of
from sqlanon.catalog.budgets import number
from sqlanon.domain.identifiers import fold, nearest
from sqlanon.domain.values import Value, written
from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError, about
from sqlanon.sources.protected import protected_rows
from sqlanon.statements.budgets.create_budget import CreateBudget

# The greatest epsilon and delta of a budget: greater ones protect nobody.
_MOST_EPSILON = 1_000
_MOST_DELTA = Decimal("0.001")
_MOST_ANSWERS = 1_000_000
_ARGUMENTS = ("epsilon", "delta", "accounting", "answers")
_ACCOUNTINGS = (BASIC, ZCDP)


def create_budget(engine: Engine, statement: CreateBudget) -> tuple[bool, tuple[str, ...]]:
    """Makes a budget; returns whether it was made (not if IF NOT EXISTS found one), and remarks on the accounting of
    its costs.

    Raises PolicyError for the name of an existing or dropped budget, for arguments out of bounds, and for a policy
    whose rows cannot be protected by noise.
    """
    with engine.transaction():
        migrations.install(engine)
        former = catalog.find(engine, statement.name)
        if former is not None:
            if statement.if_not_exists and catalog.exists(engine, statement.name):
                return False, ()
            raise PolicyError(
                f"there is a budget {former.budget} already, and spent costs cannot be taken back",
                hint="choose another name; SHOW BUDGETS also lists dropped budgets",
                part=("name",),
            )
        epsilon, delta = _amounts(statement.arguments)
        accounting, remarks = _accounting(dict(statement.arguments), epsilon, delta)
        with about("policy"):
            policy = policies.load(engine, statement.policy)
        rows = protected_rows(engine, policy)
        catalog.create(engine, statement.name, policy.name, rows.source, rows.entity, epsilon, delta, accounting)
    return True, remarks


def _amounts(arguments: tuple[tuple[str, Value], ...]) -> tuple[Decimal, Decimal]:
    """Returns the epsilon and the delta of a budget. Raises PolicyError for unknown arguments, and for amounts out of
    bounds.
    """
    amounts = dict(arguments)
    for name in amounts:
        if name not in _ARGUMENTS:
            hint = nearest(name, _ARGUMENTS) or "a budget has epsilon, delta, accounting and answers"
            raise PolicyError(f"a budget has no argument {name!r}", hint=hint, part=("argument", name))
    if "epsilon" not in amounts:
        raise PolicyError("a budget needs an epsilon", hint="write (epsilon => 1)", part=("name",))
    epsilon = amount("epsilon", amounts["epsilon"])
    delta = amount("delta", amounts.get("delta", 0))
    if not 0 < epsilon <= _MOST_EPSILON:
        raise PolicyError(
            f"epsilon is {number(epsilon)}, and has to be above 0 and at most {_MOST_EPSILON}",
            hint="1 is a usual budget: whatever is asked, the odds of an answer differ by a factor of 2.7 at most",
            part=("argument", "epsilon"),
        )
    if not 0 <= delta <= _MOST_DELTA:
        raise PolicyError(
            f"delta is {number(delta)}, and has to be from 0 to {number(_MOST_DELTA)}",
            hint="choose one far below 1 divided by the number of respondents, such as 1e-9",
            part=("argument", "delta"),
        )
    return epsilon, delta


def _accounting(amounts: dict[str, Value], epsilon: Decimal, delta: Decimal) -> tuple[str, tuple[str, ...]]:
    """Returns the named accounting, or the accounting with less noise for a certain number of equal answers, and a
    remark on this number.

    Raises PolicyError for wrong arguments.
    """
    accounting, answers = amounts.get("accounting"), amounts.get("answers")
    if accounting is not None and (not isinstance(accounting, str) or fold(accounting) not in _ACCOUNTINGS):
        raise PolicyError(
            f"accounting is {written(accounting)}, and has to be 'basic' or 'zcdp'",
            hint="'basic' adds up epsilons; 'zcdp' allows more answers where there are many, for a delta",
            part=("argument", "accounting"),
        )
    if answers is not None and (
        isinstance(answers, bool) or not isinstance(answers, int) or not 1 <= answers <= _MOST_ANSWERS
    ):
        raise PolicyError(
            f"answers is {written(answers)}, and has to be a whole number from 1 to {_MOST_ANSWERS}",
            hint="the expected number of answers that cost the same",
            part=("argument", "answers"),
        )
    named = fold(accounting) if isinstance(accounting, str) else None
    if named == ZCDP and not delta:
        raise PolicyError(
            "accounting => 'zcdp' needs a delta", hint="write delta => 1e-9", part=("argument", "accounting")
        )
    if not isinstance(answers, int):
        return named or BASIC, ()
    chosen = named or accounting_of(epsilon, delta, answers)
    share = share_of(epsilon, delta, chosen, answers)
    remark = f"accounting {chosen}: {answers} equal answers may cost epsilon => {number(share)} each"
    return chosen, (remark if named else f"{remark}, with less noise than by the other accounting",)


def amount(name: str, value: Value) -> Decimal:
    """Returns the value of an argument as a number. Raises PolicyError for any other value, and for more digits than
    can be stored.
    """
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise PolicyError(
            f"{name} is {written(value)}, and has to be a number", hint=f"write {name} => 0.5", part=("argument", name)
        )
    exact = Decimal(value)
    if int(exact.as_tuple().exponent) < -DIGITS:
        raise PolicyError(
            f"{name} has more than {DIGITS} digits after the decimal point", hint="round it", part=("argument", name)
        )
    return exact
