"""A tree over noisy pairs of columns, and the rows sampled from it.

The steps are by McKenna, Miklau and Sheldon, Winning the NIST contest: a scalable and general approach to
differentially private synthetic data (2021): noisy counts of each column, a tree of the pairs that differ most from
independent columns, and noisy counts of these pairs. Steps after the noise cost nothing.
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

# The number of times that a pair is fitted to the shares of its two columns, in turns.
_FITTED = 100
# A minimum share of each combination, because noise can leave a pair without a positive count.
_LEAST_SHARE = 1e-9


@dataclass(frozen=True)
class NoisePlan:
    """The noise of each step. Two columns need no choice of a tree, and one column has no pair, so these steps are
    None.
    """

    columns: Laplace | Gaussian
    edges: Greatest | None
    pairs: Laplace | Gaussian | None
    number: int

    @property
    def width(self) -> int:
        """The least w for which the noise of 95 of 100 counts of pairs is from -w to w; of single columns if there are
        no pairs.
        """
        return (self.pairs or self.columns).width

    @property
    def rho(self) -> Decimal:
        """The rho of zero-concentrated differential privacy of all steps, where each step counts as often as it adds
        noise.

        Rho adds up even if a step depends on the results of earlier ones (Bun and Steinke 2016, lemma 2.3).
        """
        steps = [(self.columns, self.number), (self.edges, self.number - 1), (self.pairs, self.number - 1)]
        exact = sum((times * exact_rho(step) for step, times in steps if step is not None), Decimal(0))
        return exact.quantize(Decimal(1).scaleb(-DIGITS), ROUND_CEILING)


def plan(columns: int, rows: int, epsilon: float, delta: float) -> NoisePlan:
    """Divides epsilon evenly among the steps, and each part among the counts of the step.

    Without delta, the parts of epsilon add up; with delta, the parts of rho do, which needs less noise for many counts.
    One respondent changes the counts of a column, or a score, by at most `rows`.
    """
    steps = min(columns, 3)
    amount = rho_of(epsilon, delta) if delta else epsilon
    # Parts are rounded down, so they add up to the whole at most.
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
    """The rows of a source by the codes of their values: `codes` of each column, and `counts`, the number of rows with
    each combination of codes.

    `sizes` has the number of codes of each column.
    """

    codes: tuple[NDArray[Any], ...]
    counts: NDArray[Any]
    sizes: tuple[int, ...]

    def of_column(self, column: int) -> NDArray[Any]:
        """An array that counts the rows by the code of a column."""
        return self._counted(self.codes[column], self.sizes[column])

    def of_pair(self, first: int, second: int) -> NDArray[Any]:
        """An array that counts the rows by the codes of two columns; it has a row for each code of the first column."""
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
    """The tree: shares of the first column's codes, and the shares of each other column given its parent's code.

    An edge is a parent and a child; parents come before their children. `shares` has, for each edge, an array with a
    row for each code of the parent. `total` is the noisy number of rows.
    """

    total: int
    root: int
    root_shares: NDArray[Any]
    edges: tuple[tuple[int, int], ...]
    shares: tuple[NDArray[Any], ...]


def learned(cells: Cells, noise: NoisePlan) -> Tree:
    """Learns the tree from a source's rows, which are read only through noise."""
    import numpy as np

    columns = range(len(cells.sizes))
    counted = [np.array(noise.columns.drawn(cells.of_column(c).tolist()), dtype=float) for c in columns]
    # The noise of many codes adds up in their sum.
    weights = [1 / size for size in cells.sizes]
    total = sum(w * counts.sum() for w, counts in zip(weights, counted, strict=True)) / sum(weights)
    rows = max(0, round(total))
    shares = [_shares(counts, max(1, rows)) for counts in counted]
    edges = _edges(cells, shares, rows, noise.edges)
    pairs = {edge: _pair(cells, edge, shares, rows, noise.pairs) for edge in edges}
    return _rooted(rows, shares, pairs)


def _shares(counts: NDArray[Any], total: float) -> NDArray[Any]:
    """Projects counts to the nearest nonnegative counts with this total, by the sum of squared differences; returns
    their shares.
    """
    import numpy as np

    falling = np.sort(counts, axis=None)[::-1]
    beyond = (np.cumsum(falling) - total) / np.arange(1, counts.size + 1)
    last = np.nonzero(falling > beyond)[0][-1]
    projected = np.maximum(counts - beyond[last], 0)
    shares: NDArray[Any] = projected / projected.sum()
    return shares


def expected(shares: Sequence[NDArray[Any]], first: int, second: int, rows: int) -> NDArray[Any]:
    """Returns the counts of a pair of columns that would be expected if the columns were independent, as whole numbers.

    Whole numbers keep the scores of the pairs exact.
    """
    import numpy as np

    counts: NDArray[Any] = np.rint(rows * np.outer(shares[first], shares[second])).astype(np.int64)
    return counts


def _edges(
    cells: Cells, shares: Sequence[NDArray[Any]], rows: int, noise: Greatest | None
) -> tuple[tuple[int, int], ...]:
    """Chooses the edges of the tree one by one among those that join two parts; an edge with a greater score is chosen
    more probably.

    The score of a pair is the sum of the differences between its counts and the counts of independent columns. A row
    changes one count of each pair, and so each score, by 1.
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
    """Returns the noisy shares of the combinations of two columns, fitted to the noisy shares of each column."""
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
    """Directs the edges of the tree away from the first column."""
    import numpy as np

    reached, edges, of_children = {0}, [], []
    while len(reached) < len(shares):
        first, second = next(edge for edge in pairs if (edge[0] in reached) != (edge[1] in reached))
        pair = pairs[first, second]
        parent, child, pair = (first, second, pair) if first in reached else (second, first, pair.T)
        sums = pair.sum(axis=1, keepdims=True)
        # No row is sampled with a code of the parent that has no share.
        beside = np.divide(pair, sums, out=np.broadcast_to(shares[child], pair.shape).copy(), where=sums > 0)
        reached.add(child)
        edges.append((parent, child))
        of_children.append(beside)
    return Tree(rows, 0, shares[0], tuple(edges), tuple(of_children))


def drawn_rows(tree: Tree, rows: int) -> list[NDArray[Any]]:
    """Samples the codes of `rows` rows; returns an array for each column.

    Of the rows with one code of the parent, each code gets its share, rounded up or down: quotas differ less from the
    shares than independent random codes would.
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
    """Samples a code for each row by quotas; row i uses the shares for the code `parents[i]` of the parent column."""
    import numpy as np

    # Rows of one parent's code together, in a random order.
    order = random.permutation(len(parents))
    order = order[np.argsort(parents[order], kind="stable")]
    grouped = parents[order]
    sizes = np.bincount(grouped, minlength=len(shares))
    starts = np.cumsum(sizes) - sizes
    offsets_in_group = np.arange(len(parents)) - starts[grouped] + random.random(len(shares))[grouped]
    reached = np.minimum(offsets_in_group / np.maximum(sizes, 1)[grouped], np.nextafter(1.0, 0.0))
    # The shares of all parents' codes follow each other.
    upto = np.cumsum(shares, axis=1)
    upto[:, -1] = 1.0
    flat = (upto + np.arange(len(shares))[:, None]).ravel()
    positions = np.searchsorted(flat, reached + grouped, side="right")
    codes = np.empty(len(parents), dtype=np.int64)
    codes[order] = np.minimum(positions - grouped * shares.shape[1], shares.shape[1] - 1)
    return codes
