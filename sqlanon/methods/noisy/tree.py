"""A tree over noisy pairs of columns, and rows that are drawn along it.

The steps are those of McKenna, Miklau and Sheldon, Winning the NIST contest: a scalable and general approach to
differentially private synthetic data (2021): noisy counts of each column, a tree of the pairs that differ most from
independent columns, and noisy counts of these pairs. All that comes after the noise is free.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from typing import TYPE_CHECKING, Any

from sqlanon.catalog.accounting import DIGITS
from sqlanon.sources.noise import Gaussian, Greatest, Laplace, exact_rho, gaussian, greatest, laplace, rho_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

# How often pairs are fitted to the shares of their two columns, in turns.
_FITTED = 100
# A share of each combination, which keeps pairs from having none where noise has left nothing.
_LEAST_SHARE = 1e-9


@dataclass(frozen=True)
class NoisePlan:
    """The noise of each step. Two columns have one tree, and one column no pair: such a step is not paid for."""

    columns: Laplace | Gaussian
    edges: Greatest | None
    pairs: Laplace | Gaussian | None
    number: int

    @property
    def width(self) -> int:
        """The least w such that the noise of 95 of 100 counts of pairs is from -w to w; of columns without pairs."""
        return (self.pairs or self.columns).width

    @property
    def rho(self) -> Decimal:
        """The rho of zero-concentrated differential privacy of all steps together, each of which is paid for often.

        It adds up, whatever a step chooses by the steps before it (Bun and Steinke 2016, lemma 2.3).
        """
        steps = [(self.columns, self.number), (self.edges, self.number - 1), (self.pairs, self.number - 1)]
        exact = sum((times * exact_rho(step) for step, times in steps if step is not None), Decimal(0))
        return exact.quantize(Decimal(1).scaleb(-DIGITS), ROUND_CEILING)


def plan(columns: int, rows: int, epsilon: float, delta: float) -> NoisePlan:
    """Divides epsilon evenly among the steps, and each part among the counts of the step.

    Without delta parts of epsilon add up; with it those of rho, whose noise is less for many counts.
    `rows` of a respondent change the counts of a column, and a score, by as much together.
    """
    steps = min(columns, 3)
    amount = rho_of(epsilon, delta) if delta else epsilon
    # Parts are rounded down, so that they add up to the whole at most.
    part = amount / steps * (1 - 1e-12)

    def of_counts(number: int) -> Laplace | Gaussian:
        return gaussian(rows**2, part / number) if delta else laplace(rows, part / number)

    return NoisePlan(
        of_counts(columns),
        greatest(rows, part / (columns - 1), concentrated=bool(delta)) if steps == 3 else None,
        of_counts(columns - 1) if steps > 1 else None,
        columns,
    )


@dataclass(frozen=True)
class Cells:
    """The rows of a source by the codes of their values: `codes` of each column, and how many rows have them.

    `sizes` has the number of codes of each column.
    """

    codes: tuple[NDArray[Any], ...]
    counts: NDArray[Any]
    sizes: tuple[int, ...]

    def of_column(self, column: int) -> NDArray[Any]:
        """The number of rows with each code of a column."""
        return self._counted(self.codes[column], self.sizes[column])

    def of_pair(self, first: int, second: int) -> NDArray[Any]:
        """The number of rows with each two codes of two columns, a row for each code of the first."""
        code = self.codes[first].astype("int64") * self.sizes[second] + self.codes[second]
        counted = self._counted(code, self.sizes[first] * self.sizes[second])
        by_pair: NDArray[Any] = counted.reshape(self.sizes[first], self.sizes[second])
        return by_pair

    def _counted(self, code: NDArray[Any], size: int) -> NDArray[Any]:
        import numpy as np

        # Sums of whole numbers below 2^53 are exact in DOUBLE.
        counts: NDArray[Any] = np.bincount(code, weights=self.counts, minlength=size).astype(np.int64)
        return counts


@dataclass(frozen=True)
class Tree:
    """Shares of the codes of the first column, and of those of each other one beside the code of its parent.

    `edges` are a parent and a child each, a parent before its children; `shares` those of the child, a row for each
    code of the parent. `total` is the number of rows, as noise has left it.
    """

    total: int
    root: int
    root_shares: NDArray[Any]
    edges: tuple[tuple[int, int], ...]
    shares: tuple[NDArray[Any], ...]


def learned(cells: Cells, noise: NoisePlan) -> Tree:
    """The tree of a source's rows. They are read through the noise alone."""
    import numpy as np

    columns = range(len(cells.sizes))
    counted = [np.array(noise.columns.drawn(cells.of_column(c).tolist()), dtype=float) for c in columns]
    # Noise of many codes is more in their sum.
    weights = [1 / size for size in cells.sizes]
    total = sum(w * counts.sum() for w, counts in zip(weights, counted, strict=True)) / sum(weights)
    rows = max(0, round(total))
    shares = [_shares(counts, max(1, rows)) for counts in counted]
    edges = _edges(cells, shares, rows, noise.edges)
    pairs = {edge: _pair(cells, edge, shares, rows, noise.pairs) for edge in edges}
    return _rooted(rows, shares, pairs)


def _shares(counts: NDArray[Any], total: float) -> NDArray[Any]:
    """The nearest counts, by the sum of squares, that are not below 0 and add up to the total, as shares of it."""
    import numpy as np

    falling = np.sort(counts, axis=None)[::-1]
    beyond = (np.cumsum(falling) - total) / np.arange(1, counts.size + 1)
    last = np.nonzero(falling > beyond)[0][-1]
    projected = np.maximum(counts - beyond[last], 0)
    shares: NDArray[Any] = projected / projected.sum()
    return shares


def expected(shares: Sequence[NDArray[Any]], first: int, second: int, rows: int) -> NDArray[Any]:
    """The counts of a pair if its columns were independent, as whole numbers: a score is then exact."""
    import numpy as np

    counts: NDArray[Any] = np.rint(rows * np.outer(shares[first], shares[second])).astype(np.int64)
    return counts


def _edges(
    cells: Cells, shares: Sequence[NDArray[Any]], rows: int, noise: Greatest | None
) -> tuple[tuple[int, int], ...]:
    """The edges of a tree: each time one of those that join two parts, those of a great score with more probability.

    The score of a pair is the sum of the differences between its counts and those of independent columns. A row changes
    one count of each pair, and so each score, by 1.
    """
    columns = len(cells.sizes)
    pairs = [(first, second) for first in range(columns) for second in range(first + 1, columns)]
    if noise is None:
        return tuple(pairs)
    scores = {pair: int(abs(cells.of_pair(*pair) - expected(shares, *pair, rows)).sum()) for pair in pairs}
    part = list(range(columns))
    edges: list[tuple[int, int]] = []
    while len(edges) < columns - 1:
        joining = [pair for pair in pairs if part[pair[0]] != part[pair[1]]]
        chosen = joining[noise.drawn([scores[pair] for pair in joining])]
        edges.append(chosen)
        former, now = part[chosen[1]], part[chosen[0]]
        part = [now if each == former else each for each in part]
    return tuple(edges)


def _pair(
    cells: Cells, edge: tuple[int, int], shares: Sequence[NDArray[Any]], rows: int, noise: Laplace | Gaussian | None
) -> NDArray[Any]:
    """The shares of the combinations of two columns, with those of each column by itself."""
    import numpy as np

    assert noise is not None
    first, second = shares[edge[0]], shares[edge[1]]
    counts = cells.of_pair(*edge)
    noisy = np.array(noise.drawn(counts.ravel().tolist()), dtype=float).reshape(counts.shape)
    fitted = _shares(noisy, max(1, rows)) + _LEAST_SHARE * np.outer(first, second)
    for _ in range(_FITTED):
        fitted *= _ratio(first, fitted.sum(axis=1))[:, None]
        fitted *= _ratio(second, fitted.sum(axis=0))[None, :]
    return fitted


def _ratio(wanted: NDArray[Any], now: NDArray[Any]) -> NDArray[Any]:
    import numpy as np

    ratio: NDArray[Any] = np.divide(wanted, now, out=np.zeros_like(wanted), where=now > 0)
    return ratio


def _rooted(rows: int, shares: Sequence[NDArray[Any]], pairs: Mapping[tuple[int, int], NDArray[Any]]) -> Tree:
    """The tree from its first column on, whose edges lead away from it."""
    import numpy as np

    reached, edges, of_children = {0}, [], []
    while len(reached) < len(shares):
        first, second = next(edge for edge in pairs if (edge[0] in reached) != (edge[1] in reached))
        pair = pairs[first, second]
        parent, child, pair = (first, second, pair) if first in reached else (second, first, pair.T)
        sums = pair.sum(axis=1, keepdims=True)
        # A code of the parent that has no share is drawn for no row.
        beside = np.divide(pair, sums, out=np.broadcast_to(shares[child], pair.shape).copy(), where=sums > 0)
        reached.add(child)
        edges.append((parent, child))
        of_children.append(beside)
    return Tree(rows, 0, shares[0], tuple(edges), tuple(of_children))


def drawn_rows(tree: Tree, rows: int) -> list[NDArray[Any]]:
    """The codes of so many rows, by column.

    A code has as many of the rows with one code of the parent as its share says, up to 1: quotas differ less from the
    shares than independent draws would.
    """
    import numpy as np

    random = np.random.default_rng()
    columns: dict[int, NDArray[Any]] = {
        tree.root: _by_quota(tree.root_shares[None, :], np.zeros(rows, np.int64), random)
    }
    for (parent, child), shares in zip(tree.edges, tree.shares, strict=True):
        columns[child] = _by_quota(shares, columns[parent], random)
    return [columns[index] for index in range(len(columns))]


def _by_quota(shares: NDArray[Any], parents: NDArray[Any], random: Any) -> NDArray[Any]:
    """A code for each row, by the shares beside its parent's code."""
    import numpy as np

    # Rows of one parent's code together, in a random order.
    order = random.permutation(len(parents))
    order = order[np.argsort(parents[order], kind="stable")]
    grouped = parents[order]
    sizes = np.bincount(grouped, minlength=len(shares))
    starts = np.cumsum(sizes) - sizes
    offsets_in_group = np.arange(len(parents)) - starts[grouped] + random.random(len(shares))[grouped]
    reached = np.minimum(offsets_in_group / np.maximum(sizes, 1)[grouped], np.nextafter(1.0, 0.0))
    # The shares of all parents' codes stand one after the other.
    upto = np.cumsum(shares, axis=1)
    upto[:, -1] = 1.0
    flat = (upto + np.arange(len(shares))[:, None]).ravel()
    positions = np.searchsorted(flat, reached + grouped, side="right")
    codes = np.empty(len(parents), dtype=np.int64)
    codes[order] = np.minimum(positions - grouped * shares.shape[1], shares.shape[1] - 1)
    return codes
