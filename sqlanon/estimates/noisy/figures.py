"""Plans the noise of each kind of figure: its scale, its expected error, and how it is added.

Only the function `draw` of a plan reads rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil, log
from typing import Any

from sqlanon.catalog.accounting import BASIC, rho_of
from sqlanon.engines.base import Column, Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.estimates.noisy.bins import GROUP, Bins, key, shown_keys
from sqlanon.estimates.noisy.options import NoiseOptions, in_units
from sqlanon.estimates.noisy.query import NoisyQuery
from sqlanon.estimates.noisy.rows import Units, figures_of_bins, values_of_bins
from sqlanon.sources.noise import Gaussian, Laplace, gaussian, laplace, not_above, quantile, threshold
from sqlanon.sources.protected import Contributions, found_groups
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.queries import select

# A figure is useful if the noise is at most a tenth of it in 95 of 100 answers.
_TENTHS = 10


@dataclass(frozen=True)
class Priced:
    """A query that can be answered with noise, with everything that determines its price; no row of the source has been
    read.
    """

    query: NoisyQuery
    options: NoiseOptions
    types: tuple[str, ...]
    rows: Contributions
    units: Units | None
    bins: Bins | None
    accounting: str = BASIC

    @property
    def groups(self) -> int:
        """The number of groups of the answer; 1 if the groups are found in the rows."""
        return len(self.bins.keys) if self.bins else 1

    @property
    def numbers(self) -> range:
        """The numbers of the groups, in their order."""
        return range(1, self.groups + 1) if self.bins else range(1)

    @property
    def sensitivity(self) -> int:
        """The largest number of groups, or of rows, that one respondent can be in."""
        if self.query.figure.kind != "respondents" and not self.options.bounds_totals:
            return self.options.rows
        return min(self.options.rows, self.groups) if self.query.groups else 1

    @property
    def squared(self) -> int:
        """The largest sum, over the groups, of the squares of one respondent's row counts."""
        is_once = self.query.figure.kind == "respondents" or self.options.bounds_totals
        return self.sensitivity if is_once else self.sensitivity**2

    @property
    def greater_epsilon(self) -> Decimal:
        """The epsilon of Laplace noise divided by the epsilon of normal noise of equal variance; 1 for other
        mechanisms.
        """
        if self.options.finds_keys or self.query.figure.kind == "quantile":
            return Decimal(1)
        return (Decimal(2 * self.sensitivity**2) / self.squared).sqrt()

    def noise(self, most: int = 1, *, half: bool = False) -> Laplace | Gaussian:
        """Returns the noise for row counts, or for sums of values up to `most`, at the whole price or half of it."""
        shares = 2 if half else 1
        if self.accounting == BASIC:
            return laplace(self.sensitivity * most, not_above(self.options.epsilon) / shares)
        return gaussian(self.squared * most**2, not_above(rho_of(self.options.epsilon)) / shares)


# Reads the rows that count and adds noise: returns the figures of each group, and the keys of published groups.
Drawn = tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]


@dataclass(frozen=True)
class Planned:
    """Plan of one figure with noise: its columns, the function `draw`, remarks, and the size of the noise.

    `mechanism` names the noise. Errors are in units of the figure, for a quantile in ranks; None if they depend on the
    rows. In a group of `enough` rows the noise is at most a tenth of the figure in 95 of 100 answers.
    """

    columns: tuple[Column, ...]
    draw: Callable[[Engine, TempTables], Drawn]
    remarks: tuple[str, ...]
    mechanism: str
    expected_error: float | None
    error_95: float | None
    enough: int


def planned(priced: Priced) -> Planned:
    """Plans the noise of a query. Raises PolicyError if it would be larger than any figure."""
    return _found_groups(priced) if priced.options.finds_keys else _FIGURES[priced.query.figure.kind](priced)


def _of_bins(engine: Engine, priced: Priced, *, centered: bool = False) -> tuple[list[int], list[int]]:
    """Returns the number of rows of each bin, and the sum of their values."""
    rows = engine.rows(figures_of_bins(priced.rows.counting(engine), priced.units, centered=centered))
    of_bins = {int(number): (int(n), int(s)) for number, n, s in rows}
    figures = [of_bins.get(number, (0, 0)) for number in priced.numbers]
    return [n for n, _ in figures], [s for _, s in figures]


def _ends(name: str, kind: str) -> tuple[Column, ...]:
    return (name, kind), (f"{name}_low_95", kind), (f"{name}_high_95", kind)


def _counts(priced: Priced) -> Planned:
    """Plans counts of rows or of respondents."""
    noise = priced.noise()
    width = noise.width

    def draw(engine: Engine, temp: TempTables) -> Drawn:
        counts, _ = _of_bins(engine, priced)
        return [(n, n - width, n + width) for n in noise.drawn(counts)], []

    return Planned(
        _ends(priced.query.figure.name, "HUGEINT"),
        draw,
        (_of_noise(width),),
        _called(noise),
        noise.expected_error,
        width,
        _TENTHS * width,
    )


def _called(noise: Laplace | Gaussian, unit: int = 1) -> str:
    return f"{noise}, scale {noise.scale / unit:.6g}"


def _of_noise(width: int) -> str:
    """Returns a remark on the size of the noise and the counts that are large enough for it; it reads no rows."""
    return (
        f"the noise is within {width} in 95 of 100 answers: "
        f"only a count above {_TENTHS * width} is within 10 % of the truth"
        if width
        else "the noise is 0 in 95 of 100 answers: epsilon is so great that little is protected"
    )


def _sums(priced: Priced) -> Planned:
    """Plans sums of values clamped to low and high, or of respondents' totals clamped to them."""
    units = priced.units
    assert units is not None
    most = max(abs(units.low), abs(units.high))
    noise = priced.noise(most)
    width, unit = noise.width, 10**units.decimals

    def draw(engine: Engine, temp: TempTables) -> Drawn:
        _, sums = _of_bins(engine, priced)
        ends = [(s, s - width, s + width) for s in noise.drawn(sums)]
        return [tuple(_number(end, units.decimals) for end in row) for row in ends], []

    return Planned(
        _ends(priced.query.figure.name, _type(units.decimals)),
        draw,
        (_of_bound(priced),),
        _called(noise, unit),
        noise.expected_error / unit,
        width / unit,
        ceil(_TENTHS * Fraction(width, most)),
    )


def _of_bound(priced: Priced) -> str:
    """Returns a remark that values or totals were clamped to their bounds before the sum."""
    if priced.options.bounds_totals:
        groups = f" in each of at most {priced.options.rows} groups" if priced.query.groups else ""
        return f"the total of each respondent{groups} counts within low and high"
    return f"at most {priced.options.rows} rows of each respondent count, each value within low and high"


def _type(decimals: int) -> str:
    return f"DECIMAL(38,{decimals})" if decimals else "HUGEINT"


def _number(units: int, decimals: int) -> Any:
    return f"{Decimal(units).scaleb(-decimals):f}" if decimals else units


def _averages(priced: Priced) -> Planned:
    """Plans averages: the middle of low and high, plus a centered sum divided by a count.

    The sum and the count are paid with half of epsilon each.
    """
    units = priced.units
    assert units is not None
    of_sum, of_count = priced.noise(units.high - units.low, half=True), priced.noise(half=True)
    # Each is in its interval with 97.5 %, so both are with 95 %.
    sum_width, count_width = (noise.within(0.975) for noise in (of_sum, of_count))

    def draw(engine: Engine, temp: TempTables) -> Drawn:
        counts, sums = _of_bins(engine, priced, centered=True)
        pairs = zip(of_count.drawn(counts), of_sum.drawn(sums), strict=True)
        return [_average(units, n, s, count_width, sum_width) for n, s in pairs], []

    about_small = (
        f"where the count with noise is {count_width} or less the average is NULL: a group of {2 * count_width} rows "
        "has one in 98 of 100 answers"
    )
    # An average of n rows is off by at most half of (sum width + count width (high - low)) / (n - count width).
    of_range = Fraction(sum_width, units.high - units.low) + count_width
    return Planned(
        _ends(priced.query.figure.name, "DOUBLE"),
        draw,
        (about_small,),
        f"a centered sum by a count, {_called(of_sum, 2 * 10**units.decimals)} and {of_count.scale:.6g}",
        None,
        None,
        count_width + ceil(of_range * _TENTHS / 2),
    )


def _average(units: Units, count: int, total: int, count_width: int, total_width: int) -> tuple[float | None, ...]:
    """Computes an average and its interval from a noisy count and a noisy sum of doubled, centered values."""
    if count <= count_width:
        return None, None, None
    ratios = [
        Fraction(t, n)
        for t in (total - total_width, total + total_width)
        for n in (count - count_width, count + count_width)
    ]
    parts = Fraction(total, count), min(ratios), max(ratios)
    middle = units.low + units.high
    least, most = Fraction(2 * units.low), Fraction(2 * units.high)
    return tuple(float(max(least, min(most, middle + part)) / (2 * 10**units.decimals)) for part in parts)


def _quantiles(priced: Priced) -> Planned:
    """Plans quantiles: one of the candidates for each group."""
    units = priced.units
    assert units is not None
    candidates = [in_units(each, units.decimals, "candidates") for each in priced.options.candidates]
    share = float(priced.query.figure.share)
    epsilon = not_above(priced.options.epsilon)
    noise = quantile(candidates, share, priced.sensitivity, epsilon)

    def draw(engine: Engine, temp: TempTables) -> Drawn:
        values: dict[int, list[int]] = {}
        for group, value in engine.rows(values_of_bins(priced.rows.counting(engine))):
            values.setdefault(int(group), []).append(int(value))
        return [(_number(noise.drawn(values.get(number, [])), units.decimals),) for number in priced.numbers], []

    # McKenna and Sheldon, Permute-and-flip (2020): of m candidates, one whose rank is off by d more than the best one's
    # is chosen with a probability of at most m e^(-d epsilon / (2 rows max(share, 1 - share))).
    ranks = ceil(2 * priced.sensitivity * max(share, 1 - share) * log(len(candidates) / 0.05) / epsilon)
    return Planned(
        ((priced.query.figure.name, _type(units.decimals)),),
        draw,
        (),
        f"permute-and-flip among {len(candidates)} candidates",
        None,
        ranks,
        _TENTHS * ranks,
    )


def _found_groups(priced: Priced) -> Planned:
    """Plans counts of the groups that occur; groups whose noisy count is below a threshold are left out."""
    options = priced.options
    in_one_key = 1 if priced.query.figure.kind == "respondents" else options.rows
    noise = threshold(options.rows, in_one_key, not_above(options.epsilon), not_above(options.delta))
    width = noise.width

    def draw(engine: Engine, temp: TempTables) -> Drawn:
        names = [key(index) for index in range(len(priced.types))]
        groups = temp.table("group", found_groups(priced.rows.counting(engine), names, GROUP))
        counted = engine.rows(select(column(GROUP), column("n"), of=relation(groups)))
        counts = noise.drawn({str(number): int(n) for number, n in counted})
        keys = shown_keys(engine, groups, priced.types)
        figures = sorted((int(number), n) for number, n in counts.items())
        rows: list[tuple[Any, ...]] = [(n, n - width, n + width) for _, n in figures]
        return rows, [keys[number - 1] for number, _ in figures]

    about_small = (
        f"a group is shown if its count with noise is {noise.threshold} or more: "
        f"a group of {noise.threshold + width} is shown in 97 of 100 answers"
    )
    return Planned(
        _ends(priced.query.figure.name, "HUGEINT"),
        draw,
        (_of_noise(width), about_small),
        f"discrete Laplace, scale {noise.scale:.6g}, shown from {noise.threshold} on",
        noise.expected_error,
        width,
        max(_TENTHS * width, noise.threshold + width),
    )


_FIGURES: dict[str, Callable[[Priced], Planned]] = {
    "rows": _counts,
    "respondents": _counts,
    "sum": _sums,
    "average": _averages,
    "quantile": _quantiles,
}
