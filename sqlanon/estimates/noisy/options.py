"""Arguments of an answer under a budget: its price, and the bounds of one respondent's contribution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from sqlanon.catalog.accounting import DIGITS
from sqlanon.catalog.budgets import number
from sqlanon.domain.identifiers import fold, nearest
from sqlanon.domain.values import QualifiedName, Scalar, Value, written
from sqlanon.errors import PolicyError
from sqlanon.estimates.noisy.query import Figure

_EPSILON_OF_ONE = Decimal("0.000001")
_MOST_ROWS = 1_000_000
_MOST_DECIMALS = 9
# The limit of ends and candidates, in units of their last decimal: with noise they must fit 64 bits.
MOST_UNITS = 10**15
FOUND = "found"

_ARGUMENTS = ("epsilon", "delta", "rows", "bound", "low", "high", "decimals", "keys", "candidates", "smallest")
_BOUNDS = ("rows", "entity")
# The required and the optional arguments of each kind of figure.
_NEEDED = {
    "rows": (),
    "respondents": (),
    "sum": ("low", "high"),
    "average": ("low", "high"),
    "quantile": ("candidates",),
}
_EXAMPLES = {
    "low": "low => 0, high => 500: values outside of them count as the nearer one",
    "high": "low => 0, high => 500: values outside of them count as the nearer one",
    "candidates": "candidates => (20, 30, 40, 50, 60, 70), which the answer is one of",
}
_OF_NUMBERS = ("low", "high", "decimals", "candidates")


@dataclass(frozen=True)
class NoiseOptions:
    """Price of an answer, and the largest contribution of one respondent: `rows` rows with values from `low` to `high`.

    `keys` are the public values of the grouped column, their table, or `FOUND`. FOUND means the keys that occur; the
    probability that a single respondent makes a key visible is at most `delta`. `decimals` are the decimals of noisy
    values. If `bounds_totals`, `low` and `high` bound a respondent's total in each of `rows` groups. `smallest` is the
    number of rows in the smallest group of interest.
    """

    epsilon: Decimal
    delta: Decimal = Decimal(0)
    rows: int = 1
    low: Decimal | None = None
    high: Decimal | None = None
    decimals: int | None = None
    keys: tuple[Scalar, ...] | QualifiedName | None = None
    candidates: tuple[Decimal, ...] = ()
    bounds_totals: bool = False
    smallest: int | None = None

    @property
    def finds_keys(self) -> bool:
        """Whether the groups of the answer are the groups that occur in the rows."""
        return isinstance(self.keys, QualifiedName) and self.keys.parts == (FOUND,)


def options_of(arguments: Sequence[tuple[str, Value]], figure: Figure, groups: int, entity: str | None) -> NoiseOptions:
    """Checks the arguments of an answer. Raises PolicyError for an argument that is unknown, missing, or out of
    bounds.
    """
    by_name = dict(arguments)
    for name in by_name:
        if name not in _ARGUMENTS:
            hint = nearest(name, _ARGUMENTS) or f"it has: {', '.join(_ARGUMENTS)}"
            raise PolicyError(f"an answer under a budget has no argument {name!r}", hint=hint, part=("argument", name))
    _require_needed(by_name, figure)
    if "epsilon" not in by_name:
        raise PolicyError(
            "an answer under a budget needs an epsilon, which is what it costs", hint="write (epsilon => 0.5)"
        )
    options = NoiseOptions(
        epsilon=_amount(by_name, "epsilon", _EPSILON_OF_ONE, Decimal(1000)),
        delta=_amount(by_name, "delta", Decimal(0), Decimal("0.001")) if "delta" in by_name else Decimal(0),
        rows=_whole(by_name, "rows", 1, _MOST_ROWS) if "rows" in by_name else 1,
        low=_number(by_name, "low") if "low" in by_name else None,
        high=_number(by_name, "high") if "high" in by_name else None,
        decimals=_whole(by_name, "decimals", 0, _MOST_DECIMALS) if "decimals" in by_name else None,
        keys=_keys(by_name.get("keys")),
        candidates=_candidates(by_name.get("candidates", ())),
        bounds_totals=_bound(by_name.get("bound", "rows")) == "entity",
        smallest=_whole(by_name, "smallest", 1, MOST_UNITS) if "smallest" in by_name else None,
    )
    _require_keys(options, figure, groups)
    if options.bounds_totals:
        _require_totals(options, figure, groups, entity)
    if entity is None and options.rows != 1:
        raise PolicyError(
            "rows is of one respondent, and the policy does not say whose a row is: each counts by itself",
            hint="leave rows out, or name the column of the respondents: ALTER POLICY ... ALTER COLUMN column ENTITY",
            part=("argument", "rows"),
        )
    return options


def _require_needed(by_name: dict[str, Value], figure: Figure) -> None:
    needed = _NEEDED[figure.kind]
    for name in needed:
        if name not in by_name:
            raise PolicyError(f"{figure.name} needs {name}", hint=f"write {_EXAMPLES[name]}", part=("query",))
    for name in _OF_NUMBERS:
        if name in by_name and name not in (*needed, *(("decimals",) if needed else ())):
            raise PolicyError(f"{figure.name} takes no {name}", hint="leave it out", part=("argument", name))


def _require_totals(options: NoiseOptions, figure: Figure, groups: int, entity: str | None) -> None:
    part = ("argument", "bound")
    if figure.kind != "sum":
        raise PolicyError(f"bound => 'entity' is for sums, and {figure.name} is none", hint="leave it out", part=part)
    if entity is None:
        raise PolicyError(
            "bound => 'entity' is of one respondent, and the policy does not say whose a row is",
            hint="name the column of the respondents: ALTER POLICY ... ALTER COLUMN column ENTITY",
            part=part,
        )
    if not groups and options.rows != 1:
        raise PolicyError(
            "with bound => 'entity' rows is the number of groups that a respondent may be in, and there are no groups",
            hint="leave rows out",
            part=("argument", "rows"),
        )


def _bound(value: Value) -> str:
    if isinstance(value, str) and fold(value) in _BOUNDS:
        return fold(value)
    raise PolicyError(
        f"bound is {written(value)}, and has to be 'rows' or 'entity'",
        hint="'rows' bounds the values of rows, 'entity' the total of a respondent",
        part=("argument", "bound"),
    )


def _require_keys(options: NoiseOptions, figure: Figure, groups: int) -> None:
    if not groups and options.keys is not None:
        raise PolicyError(
            "keys are for GROUP BY, and the query has none", hint="leave keys out", part=("argument", "keys")
        )
    if groups and options.keys is None:
        raise PolicyError(
            "which groups there are would tell of people: GROUP BY needs the keys that are public",
            hint="name all that there may be, keys => ('F', 'M'), or a table of them, keys => all_sexes; "
            "keys => found tells those that occur often, for a delta",
            part=("query",),
        )
    if isinstance(options.keys, tuple) and groups > 1:
        raise PolicyError(
            "a list of keys is of one column, and the query groups by several",
            hint="make a table with a column for each, and name it: keys => my_keys",
            part=("argument", "keys"),
        )
    if options.finds_keys and figure.kind not in ("rows", "respondents"):
        raise PolicyError(
            f"keys => found is for counts, and {figure.name} is none",
            hint="ask for the count first, and then with keys => (...) of the keys that it tells",
            part=("argument", "keys"),
        )
    if options.finds_keys != (options.delta > 0):
        what = "keys => found needs a delta" if options.finds_keys else "delta is for keys => found"
        hint = "write delta => 1e-9, far below 1 divided by the number of respondents"
        raise PolicyError(what, hint=hint if options.finds_keys else "leave delta out", part=("argument", "keys"))


def _number(by_name: dict[str, Value], name: str) -> Decimal:
    value = by_name[name]
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise PolicyError(f"{name} is {written(value)}, and has to be a number", part=("argument", name))
    exact = Decimal(value)
    if abs(exact) > MOST_UNITS:
        raise PolicyError(f"{name} is beyond {MOST_UNITS:.0e}", hint="narrow it", part=("argument", name))
    return exact


def _amount(by_name: dict[str, Value], name: str, least: Decimal, most: Decimal) -> Decimal:
    exact = _number(by_name, name)
    if int(exact.as_tuple().exponent) < -DIGITS:
        raise PolicyError(
            f"{name} has more than {DIGITS} digits behind the point", hint="round it", part=("argument", name)
        )
    if not least <= exact <= most:
        raise PolicyError(
            f"{name} is {number(exact)}, and has to be from {number(least)} to {number(most)}", part=("argument", name)
        )
    return exact


def _whole(by_name: dict[str, Value], name: str, least: int, most: int) -> int:
    value = by_name[name]
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise PolicyError(
            f"{name} is {written(value)}, and has to be a whole number from {least} to {most}", part=("argument", name)
        )
    return value


def _keys(value: Value | None) -> tuple[Scalar, ...] | QualifiedName | None:
    """Reads public keys, or the name of their table; the word `found` is FOUND."""
    if isinstance(value, str) and fold(value) == FOUND:
        return QualifiedName((FOUND,))
    if isinstance(value, QualifiedName):
        return QualifiedName((FOUND,)) if tuple(map(fold, value.parts)) == (FOUND,) else value
    if value is None or isinstance(value, tuple):
        return value
    raise PolicyError(
        f"keys is {written(value)}, and has to be a list, a table or found",
        hint="write keys => ('F', 'M')",
        part=("argument", "keys"),
    )


def _candidates(value: Value) -> tuple[Decimal, ...]:
    values = value if isinstance(value, tuple) else (value,)
    candidates = tuple(_number({"candidates": each}, "candidates") for each in values)
    if list(candidates) != sorted(set(candidates)):
        raise PolicyError(
            "candidates have to rise from each to the next", hint="sort them", part=("argument", "candidates")
        )
    return candidates


def in_units(value: Decimal, decimals: int, name: str) -> int:
    """Converts a value to units of the last of `decimals` decimals. Raises PolicyError if it has more of them."""
    scaled = value.scaleb(decimals)
    if scaled != scaled.to_integral_value():
        raise PolicyError(
            f"{name} is {number(value)}, and the values have {decimals} decimals",
            hint="round it, or write decimals => ... for values of type DOUBLE",
            part=("argument", name),
        )
    if abs(scaled) > MOST_UNITS:
        raise PolicyError(f"{name} is too large for noise of 64 bits", hint="narrow it", part=("argument", name))
    return int(scaled)
