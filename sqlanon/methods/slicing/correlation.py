"""How much attributes have to do with each other: the mean-square contingency coefficient (Slicing 2012, section 4.1).

phi2(A, B) = sum_ij (f_ij - f_i f_j)^2 / (f_i f_j) / (min(d_A, d_B) - 1), where f are shares of the rows, and d counts
the values that occur. Since the f_i f_j of all pairs add up to 1, and so do the f_ij, the sum is
sum_ij f_ij^2 / (f_i f_j) - 1, over the pairs that occur.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.methods.slicing.intervals import code_of
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import case, cast, infix, is_not_null, named, total, union_all
from sqlanon.sql.build.names import alias, column, literal, relation

# Sums of doubles depend on the order of their parts, which threads decide: so many digits do not.
_DIGITS = 12


@dataclass(frozen=True)
class Correlations:
    """phi2 of every two of some attributes, from 0 for independent ones to 1, in the policy's order.

    `pairs` has them by the indexes of both, the lower one first; `values` how many distinct values, or intervals with a
    value, each attribute has. Other measures from 0 to 1 than phi2 are told by `measure`.
    """

    names: tuple[str, ...]
    values: tuple[int, ...]
    pairs: dict[tuple[int, int], float]
    measure: str = "phi2"

    @cached_property
    def _index(self) -> dict[str, int]:
        return {name: index for index, name in enumerate(self.names)}

    def between(self, first: str, second: str) -> float:
        """The measure of two attributes."""
        low, high = sorted((self._index[first], self._index[second]))
        return self.pairs[low, high]

    def distances(self, names: Sequence[str]) -> list[list[float]]:
        """1 less the measure of every two of these attributes, a matrix in their order; 0 of an attribute to itself."""
        indexes = [self._index[name] for name in names]
        return [[0.0 if a == b else 1 - self.pairs[min(a, b), max(a, b)] for b in indexes] for a in indexes]


def mean_square_contingency(
    engine: Engine,
    scratch: Scratch,
    source: exp.Table,
    bounds: Sequence[BoundAttribute],
    intervals: int,
    weight: str | None = None,
) -> Correlations:
    """phi2 of every two of the attributes, over the rows of the source; `weight` is its column of how many each is.

    Numbers, dates and timestamps count as the interval in which they lie, of `intervals` of equal width; NULL is a
    value. phi2 is 0 with an attribute that has a single value, and without rows. It is rounded to 12 digits.
    """
    names = tuple(bound.column for bound in bounds)
    if not names:
        return Correlations((), (), {})
    cells = scratch.table("contingency", _cells(source, bounds, intervals, weight))
    figures = {(int(a), int(b)): total for a, b, total in engine.rows(_sums(cells, len(names)))}
    values = tuple(int(figures.get((index, index), 0)) for index in range(len(names)))
    pairs = {
        (a, b): _phi2(figures.get((a, b), 0), min(values[a], values[b])) for a, b in combinations(range(len(names)), 2)
    }
    return Correlations(names, values, pairs)


def _phi2(total: float, least_values: int) -> float:
    """phi2 from the sum of f_ij^2 / (f_i f_j)."""
    if least_values <= 1:
        return 0.0
    return min(1.0, max(0.0, round((total - 1) / (least_values - 1), _DIGITS)))


def _code_name(index: int) -> str:
    return f"code_{index}"


def _cells(
    source: exp.Table, bounds: Sequence[BoundAttribute], intervals: int, weight: str | None = None
) -> exp.Select:
    """code_0, ... and n: the distinct combinations of the attributes' codes, with their numbers of rows."""
    codes = [code_of(bound, index, intervals) for index, bound in enumerate(bounds)]
    columns = [alias(code.code, _code_name(index)) for index, code in enumerate(codes)]
    rows = f.count() if weight is None else total(column(weight, "source"))
    query = exp.select(*columns, alias(rows, "n")).from_(named(source.copy(), "source"), copy=False)
    if ends := [end for code in codes for end in code.range_columns]:
        ranges = exp.select(*ends).from_(named(source.copy(), "source"), copy=False)
        query.join(ranges.subquery("range", copy=False), join_type="CROSS", copy=False)
    return query.group_by(*(literal(position) for position in range(1, len(codes) + 1)), copy=False)


def _counted(cells: str, count: int, size: int) -> exp.Select:
    """first, second, first_code, second_code, n: the rows with codes of every two attributes, if `size` is 2.

    If it is 1, the rows with codes of every single attribute, which is the first and the second one. All are counted
    in one grouping: a query for each takes longer to plan than to run.
    """
    codes = [column(_code_name(index)) for index in range(count)]
    sets: list[exp.Expr] = [
        exp.Tuple(expressions=[code.copy() for code in together]) for together in combinations(codes, size)
    ]
    grouped = exp.select(*codes, alias(cast(f.sum(column("n")), "DOUBLE"), "n")).from_(relation(cells), copy=False)
    grouped.set("group", exp.Group(grouping_sets=[exp.GroupingSets(expressions=sets)]))
    # No code is NULL, but where the attribute is not grouped by.
    present = [(is_not_null(code.copy()), index) for index, code in enumerate(codes)]
    figures = {
        "first": case(*present),
        "second": case(*((condition.copy(), index) for condition, index in reversed(present))),
        "first_code": f.coalesce(*(code.copy() for code in codes)),
        "second_code": f.coalesce(*(code.copy() for code in reversed(codes))),
        "n": column("n"),
    }
    query = exp.select(*(alias(tree, name) for name, tree in figures.items()))
    return query.from_(grouped.subquery("grouped", copy=False), copy=False)


def _sums(cells: str, count: int) -> exp.Query:
    """first, second, total: the sum of f_ij^2 / (f_i f_j) of two attributes, the number of values of one and itself."""
    query: exp.Query = _summed(f.count(), relation("marginal", as_="pair"))
    if count > 1:
        # (n_ij / n)^2 / (n_i / n * n_j / n) needs no n.
        share = infix(column("n", "pair") / column("n", "row"), "*", column("n", "pair") / column("n", "other"))
        sums = _summed(f.sum(share), _counted(cells, count, 2).subquery("pair", copy=False))
        for name, position in (("row", "first"), ("other", "second")):
            same_value = [column(part, "pair").eq(column(part, name)) for part in (position, f"{position}_code")]
            sums.join(relation("marginal", as_=name), on=exp.and_(*same_value), copy=False)
        query = union_all([query, sums])
    return query.with_("marginal", as_=_counted(cells, count, 1), materialized=True, copy=False)


def _summed(total: exp.Expr, rows: exp.Table | exp.Subquery) -> exp.Select:
    """The total of every two attributes in a relation that is called `pair`."""
    attributes = [column(name, "pair") for name in ("first", "second")]
    query = exp.select(*attributes, alias(cast(total, "DOUBLE"), "total")).from_(rows, copy=False)
    return query.group_by(*(attribute.copy() for attribute in attributes), copy=False)
