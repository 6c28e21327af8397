"""What learns from a table, and how many of its rows it predicts.

The models stand for those of Brickell and Shmatikov, The cost of privacy: destruction of data-mining utility in
anonymized data publishing (2008), section 6: a decision tree, a random forest and naive Bayes, of scikit-learn.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Trees stop at so many rows, or at a fiftieth of a small table, instead of being pruned.
_LEAF, _LEAVES_OF_SMALL = 20, 50
_TREES = 50
_MANY_ROWS = 5000
# Naive Bayes reads a number by which of so many intervals of as many rows each it is in.
_INTERVALS = 10


@dataclass(frozen=True)
class Examples:
    """Rows to learn from: the codes of their targets, and of each predictor the codes of its values, from 0 on.

    The codes of `numbers`, by their indexes, are the ranks of their values, NULL being the last: what is learned here
    depends on nothing else of them.
    """

    target: NDArray[Any]
    codes: Sequence[NDArray[Any]]
    numbers: frozenset[int]


def accuracy(examples: Examples, predictors: Sequence[int], model: str, folds: int, seed: int) -> float:
    """The share of rows whose target is predicted by who learned from the other folds.

    Without predictors it is the most frequent target of these. The folds have the same shares of each target, and are
    the same for all tables with the same targets.
    """
    from sklearn.dummy import DummyClassifier
    from sklearn.model_selection import StratifiedKFold

    table = MODELS[model].table(examples, predictors) if predictors else np.zeros((len(examples.target), 1))
    right = 0
    with warnings.catch_warnings():
        # A target that is too rare for every fold to have it is predicted wrong in some, which the figure says.
        warnings.filterwarnings("ignore", message="The least populated class")
        splits = list(StratifiedKFold(folds, shuffle=True, random_state=seed).split(table, examples.target))
    for learned, tested in splits:
        learner = MODELS[model].learner(examples, predictors, seed) if predictors else DummyClassifier()
        learner.fit(table[learned], examples.target[learned])
        right += int((learner.predict(table[tested]) == examples.target[tested]).sum())
    return right / len(examples.target)


@dataclass(frozen=True)
class _Model:
    """What a learner reads, and the learner."""

    table: Callable[[Examples, Sequence[int]], Any]
    learner: Callable[[Examples, Sequence[int], int], Any]


def _columns(examples: Examples, predictors: Sequence[int]) -> Any:
    """A column for each number, and one for each value of a category."""
    from scipy.sparse import csr_array, hstack

    parts: list[Any] = []
    for index in predictors:
        if index in examples.numbers:
            parts.append(csr_array(examples.codes[index].astype(float).reshape(-1, 1)))
            continue
        codes = examples.codes[index]
        rows = np.arange(len(codes))
        parts.append(csr_array((np.ones(len(codes)), (rows, codes)), shape=(len(codes), int(codes.max()) + 1)))
    table = hstack(parts).tocsr()
    # Trees read no wider indexes.
    table.indices, table.indptr = table.indices.astype(np.int32), table.indptr.astype(np.int32)
    return table


def _categories(examples: Examples, predictors: Sequence[int]) -> Any:
    """A column of codes for each predictor: numbers by intervals of as many rows each."""
    return np.column_stack([_intervals(examples, index) for index in predictors])


def _intervals(examples: Examples, index: int) -> NDArray[Any]:
    codes = examples.codes[index]
    if index not in examples.numbers:
        return codes
    before = np.concatenate(([0], np.cumsum(np.bincount(codes))))[codes]
    intervals: NDArray[Any] = before * _INTERVALS // len(codes)
    return intervals


def _tree(examples: Examples, _: Sequence[int], seed: int) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(min_samples_leaf=_leaf(examples), random_state=seed)


def _forest(examples: Examples, _: Sequence[int], seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    leaf = max(1, _leaf(examples) // 4)
    # A few rows are learned sooner than threads are begun.
    jobs = -1 if len(examples.target) > _MANY_ROWS else 1
    return RandomForestClassifier(_TREES, min_samples_leaf=leaf, random_state=seed, n_jobs=jobs)


def _bayes(examples: Examples, predictors: Sequence[int], _: int) -> Any:
    from sklearn.naive_bayes import CategoricalNB

    return CategoricalNB(min_categories=[int(_intervals(examples, index).max()) + 1 for index in predictors])


def _leaf(examples: Examples) -> int:
    return max(1, min(_LEAF, len(examples.target) // _LEAVES_OF_SMALL))


# The models, by what the argument `models` calls them.
MODELS: Mapping[str, _Model] = {
    "tree": _Model(_columns, _tree),
    "forest": _Model(_columns, _forest),
    "bayes": _Model(_categories, _bayes),
}
