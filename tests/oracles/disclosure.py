"""Figures of disclosure, naively: classes as lists of sensitive values, and sums as the papers write them.

Brickell and Shmatikov, The cost of privacy (2008), section 4; Li and Li, On the tradeoff between privacy and utility in
data publishing (2009), section 4.1; Skinner and Elliot, A measure of disclosure risk for microdata (2002).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from fractions import Fraction
from math import inf, log

__all__ = ["Classes", "class_sizes", "disclosure", "linkage", "population_uniqueness"]

Classes = Sequence[Sequence[Hashable]]


def disclosure(classes: Classes, above: float = 0.3) -> dict[str, float | None]:
    """Returns every figure about a sensitive attribute, by name."""
    values = [value for rows in classes for value in rows]
    names = [
        *("a_acc", "a_know", "a_quot", "a_quot_present", "gain", "p_loss", "p_loss_mean"),
        *("p_loss_50", "p_loss_90", "p_loss_95", "p_loss_99", "p_loss_above"),
    ]
    if not values:
        return dict.fromkeys(names)
    n = len(values)
    prior = shares(values)
    by_class = [(len(rows), shares(rows)) for rows in classes]
    of_rows = sorted(divergence(prior, p) for size, p in by_class for _ in range(size))
    return {
        "a_acc": float(sum(Fraction(size, n) * max(p.values()) for size, p in by_class) - max(prior.values())),
        "a_know": float(
            sum(Fraction(size, n) * sum(abs(q - p.get(s, 0)) for s, q in prior.items()) / 2 for size, p in by_class)
        ),
        "a_quot": max(inf if s not in p else abs(log(p[s] / q)) for _, p in by_class for s, q in prior.items()),
        "a_quot_present": max(abs(log(share / prior[s])) for _, p in by_class for s, share in p.items()),
        "gain": entropy(prior) - sum(size / n * entropy(p) for size, p in by_class),
        "p_loss": of_rows[-1],
        "p_loss_mean": sum(of_rows) / n,
        **{f"p_loss_{percent}": quantile(of_rows, percent) for percent in (50, 90, 95, 99)},
        "p_loss_above": sum(one > above for one in of_rows) / n,
    }


def shares(values: Sequence[Hashable]) -> dict[Hashable, Fraction]:
    return {value: Fraction(count, len(values)) for value, count in Counter(values).items()}


def entropy(p: dict[Hashable, Fraction]) -> float:
    return -sum(share * log(share) for share in p.values())


def divergence(q: dict[Hashable, Fraction], p: dict[Hashable, Fraction]) -> float:
    """Returns the Jensen-Shannon divergence: half the sum of the two Kullback-Leibler divergences from the mean."""
    mean = {s: (q[s] + p.get(s, 0)) / 2 for s in q}
    return (kullback_leibler(q, mean) + kullback_leibler(p, mean)) / 2


def kullback_leibler(p: dict[Hashable, Fraction], m: dict[Hashable, Fraction]) -> float:
    return sum(share * log(share / m[s]) for s, share in p.items())


def quantile(ascending: Sequence[float], percent: int) -> float:
    """Returns the least value such that at least `percent` percent of all values do not exceed it."""
    return ascending[-(-percent * len(ascending) // 100) - 1]


def class_sizes(sizes: Sequence[int], suppressed: int) -> dict[str, float | None]:
    n = sum(sizes) + suppressed
    metric = float(sum(size * size for size in sizes) + suppressed * n)
    if not sizes:
        return dict.fromkeys(("least_class_size", "average_class_size", "greatest_class_size")) | {
            "discernibility": metric
        }
    return {
        "least_class_size": float(min(sizes)),
        "average_class_size": sum(sizes) / len(sizes),
        "greatest_class_size": float(max(sizes)),
        "discernibility": metric,
    }


def linkage(sizes: Sequence[int]) -> dict[str, float | None]:
    return {
        "classes": float(len(sizes)),
        "row_count": float(sum(sizes)),
        "unique_rows": float(sizes.count(1)),
        "prosecutor_risk": max((1 / size for size in sizes), default=None),
        "marketer_risk": len(sizes) / sum(sizes) if sizes else None,
    }


def population_uniqueness(sizes: Sequence[int], fraction: Fraction) -> dict[str, float | None]:
    """Returns theta = f n1 / (f n1 + 2 (1 - f) n2) and its terms; unknown without a class of two rows."""
    ones, twos = list(sizes).count(1), list(sizes).count(2)
    below = fraction * ones + 2 * (1 - fraction) * twos
    return {
        "unique_rows": float(ones),
        "classes_of_two": float(twos),
        "population_uniqueness": float(fraction * ones / below) if twos and below else None,
    }
