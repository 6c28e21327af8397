"""MEASURE release WITH TASK (target => column): measures the prediction of a column by models that learn from a
release.

Brickell and Shmatikov, The cost of privacy: destruction of data-mining utility in anonymized data publishing (2008),
sections 5 and 6: the measure is the gain over two tables without a link, which is compared with the adversary's gain.
Columns that are known by bucket are linked at random several times, and the shares of correct predictions are averaged
(Li, Li, Zhang and Molloy, Slicing, 2012, section 6.1).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlglot import exp

from sqlanon.assess.figures.class_figures import class_figures
from sqlanon.assess.figures.with_noise import Compared, N, compared, shown_name
from sqlanon.assess.tasks.arguments import TaskArguments
from sqlanon.catalog.snapshot import policy_of
from sqlanon.domain.identifiers import fold, nearest
from sqlanon.domain.policy import Policy, Role
from sqlanon.domain.release import Release
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import PolicyError, UserError, about
from sqlanon.estimates.release_model import ReleaseModel
from sqlanon.release.existing.estimable import published, recorded
from sqlanon.release.existing.linked_rows import linked_rows
from sqlanon.release.existing.loaded import require_unchanged
from sqlanon.release.existing.objects import require_own_columns
from sqlanon.sources.bind_policy import source_rows
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text, ascending, order_by, union_all, window
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, select, subquery
from sqlanon.sql.questions.statistics import load_statistic

if TYPE_CHECKING:
    from numpy.typing import NDArray


# The models that learn from a table, and the share of its rows that they predict.
#
# The models represent those in Brickell and Shmatikov, The cost of privacy: destruction of data-mining utility in
# anonymized data publishing (2008), section 6: a decision tree, a random forest and naive Bayes, of scikit-learn.


# Trees stop at this number of rows, or at a fiftieth of a small table, instead of being pruned.
_LEAF, _LEAVES_OF_SMALL = 20, 50
_TREES = 50
_MANY_ROWS = 5000
# Naive Bayes reads a number as one of this many intervals of equal numbers of rows.
_INTERVALS = 10


@dataclass(frozen=True)
class Examples:
    """Rows to learn from: the codes of the target and of the values of each predictor, from 0 on.

    `numbers` has the indexes of predictors whose codes are the ranks of their values, with NULL last; the models use
    only these ranks.
    """

    target: NDArray[Any]
    codes: Sequence[NDArray[Any]]
    numbers: frozenset[int]


def accuracy(examples: Examples, predictors: Sequence[int], model: str, folds: int, seed: int) -> float:
    """Returns the share of rows whose target is predicted by a model that learned from the other folds.

    If there are no predictors, the prediction is the most frequent target of the other folds. The folds have the same
    shares of each target, and are the same for all tables with the same targets.
    """
    from sklearn.dummy import DummyClassifier
    from sklearn.model_selection import StratifiedKFold

    table = MODELS[model].table(examples, predictors) if predictors else np.zeros((len(examples.target), 1))
    right = 0
    with warnings.catch_warnings():
        # A target with fewer rows than folds is predicted wrong in some folds; the figure includes these errors.
        warnings.filterwarnings("ignore", message="The least populated class")
        splits = list(StratifiedKFold(folds, shuffle=True, random_state=seed).split(table, examples.target))
    for learned, tested in splits:
        learner = MODELS[model].learner(examples, predictors, seed) if predictors else DummyClassifier()
        learner.fit(table[learned], examples.target[learned])
        right += int((learner.predict(table[tested]) == examples.target[tested]).sum())
    return right / len(examples.target)


def accuracy_elsewhere(
    examples: Examples, learned: NDArray[Any], tested: NDArray[Any], predictors: Sequence[int], model: str, seed: int
) -> float:
    """Returns the share of the rows at the indexes `tested` whose target a model predicts after learning from the rows
    at `learned`.

    If there are no predictors, the prediction is the most frequent target at `learned`.
    """
    from sklearn.dummy import DummyClassifier

    table = MODELS[model].table(examples, predictors) if predictors else np.zeros((len(examples.target), 1))
    known = replace(examples, target=examples.target[learned])
    learner = MODELS[model].learner(known, predictors, seed) if predictors else DummyClassifier()
    learner.fit(table[learned], known.target)
    return float((learner.predict(table[tested]) == examples.target[tested]).mean())


@dataclass(frozen=True)
class _Model:
    """A model: the function that makes its table of columns, and the function that makes the learner."""

    table: Callable[[Examples, Sequence[int]], Any]
    learner: Callable[[Examples, Sequence[int], int], Any]


def _columns(examples: Examples, predictors: Sequence[int]) -> Any:
    """Makes a sparse table with a column for each number, and a column for each value of a category."""
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
    # Trees cannot read 64-bit indexes.
    table.indices, table.indptr = table.indices.astype(np.int32), table.indptr.astype(np.int32)
    return table


def _categories(examples: Examples, predictors: Sequence[int]) -> Any:
    """Makes a table with a column of codes for each predictor: numbers become intervals with equal numbers of rows."""
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
    # For a few rows, starting threads takes longer than learning.
    jobs = -1 if len(examples.target) > _MANY_ROWS else 1
    return RandomForestClassifier(_TREES, min_samples_leaf=leaf, random_state=seed, n_jobs=jobs)


def _bayes(examples: Examples, predictors: Sequence[int], _: int) -> Any:
    from sklearn.naive_bayes import CategoricalNB

    return CategoricalNB(min_categories=[int(_intervals(examples, index).max()) + 1 for index in predictors])


def _leaf(examples: Examples) -> int:
    return max(1, min(_LEAF, len(examples.target) // _LEAVES_OF_SMALL))


# The models, by their names in the argument `models`.
MODELS: Mapping[str, _Model] = {
    "tree": _Model(_columns, _tree),
    "forest": _Model(_columns, _forest),
    "bayes": _Model(_categories, _bayes),
}


# The number of times that columns are linked at random.
_LINKS = 5

_SOURCE = "is_source"
_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")


def learning_task(engine: Engine, release: Release, arguments: TaskArguments) -> list[tuple[str, float | None]]:
    """Returns for each model the share of rows whose target it predicts after learning from the source, from the
    baseline and from the release.

    `u_max_*` is the share of the source, `u_base_*` the greater share of the two tables without a link, `u_san_*` the
    share of the release, and `gain_*` its difference from the baseline. `a_acc` is the adversary's gain in correct
    guesses. Raises PolicyError for a target that the release does not show unchanged. Raises UserError for other wrong
    arguments, and if scikit-learn is not installed.
    """
    _require_learners()
    policy = policy_of(release)
    target = arguments.column("target")
    using = arguments.columns("using")
    models = arguments.choices("models", tuple(MODELS))
    folds, seed = arguments.whole("folds", 10, 2), arguments.seed()
    arguments.require_no_others()
    require_own_columns(engine, release)
    known = {name: attribute.name for attribute in policy.attributes if (name := fold(attribute.name))}
    with engine.transaction(), TempTables(engine) as temp:
        if release.has_noise:
            pair = compared(engine, release, temp)
            at, predictors = _target_and_predictors(release, _shown_of(pair, known), known, target, using)
            both = _of_both(engine, release, pair, [*predictors, at])
            intact, released = both.intact, list[Examples]()
        else:
            model = published(recorded(engine, release), [str(release.name)])
            shown_columns = _Shown(
                frozenset({*model.exact, *model.bucketed_positions}), {*model.generalized}, model.hidden
            )
            at, predictors = _target_and_predictors(release, shown_columns, known, target, using)
            intact, released = _intact_and_released(temp, release, model, [*predictors, at], known, seed)
            both = None
        disclosed = _disclosed(engine, release, policy, temp)
    _require_folds(release, [intact, *released], folds)
    baselines = [_beside(policy, predictors, at, role) for role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE)]
    all_columns = range(len(predictors))
    figures: list[tuple[str, float | None]] = []
    for name in models:
        best = accuracy(intact, all_columns, name, folds, seed)
        base = max(accuracy(intact, columns, name, folds, seed) for columns in baselines)
        shares = [accuracy(part, all_columns, name, folds, seed) for part in released]
        learned = both.accuracy(all_columns, name, seed) if both else sum(shares) / len(shares)
        figures += [
            (f"u_max_{name}", best),
            (f"u_base_{name}", base),
            (f"u_san_{name}", learned),
            (f"gain_{name}", learned - base),
        ]
    return [*figures, ("a_acc", disclosed)]


@dataclass(frozen=True)
class _Both:
    """The rows of a source and of a release with noise, with the same codes for their values; `is_source` marks the
    rows of the source.
    """

    examples: Examples
    is_source: NDArray[Any]

    @property
    def intact(self) -> Examples:
        """The examples of the source."""
        codes = [each[self.is_source] for each in self.examples.codes]
        return Examples(self.examples.target[self.is_source], codes, self.examples.numbers)

    def accuracy(self, predictors: Sequence[int], model: str, seed: int) -> float:
        """Returns the share of the source's rows whose target is predicted by a model that learned from the release."""
        learned, tested = np.flatnonzero(~self.is_source), np.flatnonzero(self.is_source)
        return accuracy_elsewhere(self.examples, learned, tested, predictors, model, seed)


def _of_both(engine: Engine, release: Release, pair: Compared, names: Sequence[str]) -> _Both:
    """Reads the rows of a release with noise and of its source. Every column is a category: numbers are known only by
    their interval.

    A count becomes as many rows, and a negative count becomes none. Raises PolicyError for a release without rows.
    """
    positions = {fold(b.column): index for index, b in enumerate(pair.columns)}
    values = [alias(as_text(column(shown_name(positions[name]))), str(index)) for index, name in enumerate(names)]
    copies = f.unnest(f.call("range", f.greatest(column(N), literal(0))))
    tables = [
        select(
            *(column(str(index)) for index in range(len(names))),
            alias(literal(is_source), _SOURCE),
            of=subquery(select(*values, alias(copies, "copy"), of=subquery(rows, "shown")), "row"),
        )
        for rows, is_source in ((pair.source, True), (pair.released, False))
    ]
    codes = _codes(engine, union_all(tables), len(names), [column(_SOURCE)])
    is_source = codes[-1].astype(bool)
    if is_source.all():
        raise PolicyError(f"{release.name} has no row to learn from")
    return _Both(Examples(codes[-2], list(codes[:-2]), frozenset()), is_source)


def _intact_and_released(
    temp: TempTables, release: Release, model: ReleaseModel, names: Sequence[str], known: Mapping[str, str], seed: int
) -> tuple[Examples, list[Examples]]:
    """Returns the examples of the source, and several lists of the release's examples, each with the buckets linked at
    random.

    `names` are the folded names of the columns, with the target last; `known` has their spellings in the policy.
    """
    engine, predictors = temp.engine, names[:-1]
    source = source_rows(engine, policy_of(release), temp)
    require_unchanged(release, source, [known[name] for name in names])
    spelled = {fold(name): name for name, _ in source.columns}
    kinds = {fold(name): kind for name, kind in source.columns}
    numbers = [index for index, name in enumerate(predictors) if _is_number(kinds[name])]
    rows = select(*(alias(column(spelled[name]), str(i)) for i, name in enumerate(names)))
    intact = _examples(engine, extend(rows, of=relation(source.relation)), len(predictors), numbers)
    exact = [i for i in numbers if predictors[i] not in model.generalized]
    known_by_bucket = any(name not in {*model.exact, *model.generalized} for name in names)
    released = [
        _examples(engine, linked_rows(temp, model, names, seed + 2 * i), len(predictors), exact)
        for i in range(_LINKS if known_by_bucket else 1)
    ]
    return intact, released


def _examples(engine: Engine, rows: exp.Select, predictors: int, numbers: Sequence[int]) -> Examples:
    """Returns the examples of a query with columns 0, 1, and so on, with the target last, sorted by codes."""
    codes = _codes(engine, rows, predictors + 1, numbers=numbers)
    return Examples(codes[-1], list(codes[:-1]), frozenset(numbers))


def _codes(
    engine: Engine, rows: exp.Query, columns: int, beside: Sequence[exp.Expr] = (), numbers: Sequence[int] = ()
) -> NDArray[Any]:
    """Returns the codes of the columns 0, 1, and so on, in one array each, and the unchanged values of the columns
    `beside`.

    The rows are sorted by the last column's codes, then by the codes of the others.
    """
    names = [str(index) for index in range(columns)]
    ranks = [
        alias(
            window(f.dense_rank(), order=order_by(ascending(_comparable(name, numbers)))) - literal(1), f"code_{name}"
        )
        for name in names
    ]
    coded = select(*ranks, *beside, of=subquery(rows, "example"))
    order = [ascending(column(f"code_{name}")) for name in (names[-1], *names[:-1])]
    coded = extend(coded, order_by=[*order, *(ascending(each) for each in beside)])
    return np.array(engine.rows(coded), dtype=int).reshape(-1, columns + len(beside)).T


def _comparable(name: str, numbers: Sequence[int]) -> exp.Expr:
    return column(name) if name in {str(index) for index in numbers} else as_text(column(name))


@dataclass(frozen=True)
class _Shown:
    """The columns with values in a release, the columns with labels, and the reasons why other columns are hidden."""

    values: Collection[str]
    labels: Collection[str]
    hidden: Mapping[str, str]


def _shown_of(pair: Compared, known: Mapping[str, str]) -> _Shown:
    """Returns the shown columns of a release with noise."""
    levels = {fold(b.column): level for b, level in zip(pair.columns, pair.levels, strict=True)}
    values = {name for name, level in levels.items() if not level}
    return _Shown(values, levels.keys() - values, dict.fromkeys(known.keys() - levels, "it is not published"))


def _target_and_predictors(
    release: Release, shown_columns: _Shown, known: Mapping[str, str], target: str, using: Sequence[str] | None
) -> tuple[str, list[str]]:
    """Returns the folded names of the target and of the predictors: the named columns, or all other shown columns.

    Raises UserError for an unknown target and for wrong predictors, and PolicyError for a target whose values are not
    shown.
    """
    name = fold(target)
    with about("task", "target"):
        if name not in known:
            raise UserError(
                f"the policy of {release.name} has no column {target}",
                hint=nearest(target, list(known.values())) or f"it has: {', '.join(known.values())}",
            )
        if name in shown_columns.labels:
            raise PolicyError(f"{release.name} shows {known[name]} by labels: what is learned is the value itself")
        if name not in shown_columns.values:
            raise PolicyError(f"{release.name} does not show {known[name]}: {shown_columns.hidden[name]}")
    public = {*shown_columns.values, *shown_columns.labels}
    if using is None:
        return name, [other for other in known if other in public and other != name]
    return name, _predictors(release, [other for other in known if other in public], known, name, using)


def _predictors(
    release: Release, public: Sequence[str], known: Mapping[str, str], target: str, using: Sequence[str]
) -> list[str]:
    """Returns the columns of `using`, the predictors, by their folded names.

    Raises UserError for a column that the release does not show (`public` lists those that it shows), for the target,
    and for a column that is named twice.
    """
    names = [fold(name) for name in using]
    choices = [known[name] for name in public]
    for name, written in zip(names, using, strict=True):
        with about("task", "using"):
            if name not in public:
                hint = nearest(written, choices) or f"it shows: {', '.join(choices)}"
                raise UserError(f"{release.name} shows no column {written}", hint=hint)
            if name == target or names.count(name) > 1:
                raise UserError(f"{written} is the target already" if name == target else f"{written} is named twice")
    return names


def _beside(policy: Policy, predictors: Sequence[str], target: str, dropped: Role) -> list[int]:
    """Returns the indexes of the predictors that METHOD trivial publishes in the target's table, if it puts the
    attributes of the role `dropped` into a table of their own.
    """
    apart = {fold(attribute.name) for attribute in policy.having(dropped)}
    return [index for index, name in enumerate(predictors) if (name in apart) == (target in apart)]


def _disclosed(engine: Engine, release: Release, policy: Policy, temp: TempTables) -> float | None:
    """Returns the greatest a_acc of the sensitive attributes; None if there is no sensitive attribute, or if the
    release has no classes.
    """
    if not any(policy.having(Role.SENSITIVE)):
        return None
    try:
        [figures] = class_figures(engine, release, [(load_statistic("figures", "a_acc"), {})], temp)
    except PolicyError:
        return None
    return max((figure.value for figure in figures if figure.value is not None), default=None)


def _require_folds(release: Release, tables: Sequence[Examples], folds: int) -> None:
    for examples in tables:
        counts = np.bincount(examples.target)
        if len(counts[counts > 0]) < 2:
            raise PolicyError(f"{release.name}: the target has one value, and there is nothing to learn")
        if int(counts.max()) < folds:
            raise PolicyError(
                f"{release.name}: no value of the target has {folds} rows, one for each fold",
                hint="ask for fewer folds",
            )


def _is_number(kind: str) -> bool:
    return kind in (*_NUMBERS, "FLOAT", "DOUBLE") or kind.startswith("DECIMAL")


def _require_learners() -> None:
    try:
        import sklearn.tree  # noqa: F401
    except ModuleNotFoundError:
        raise UserError(
            "scikit-learn is missing, with which targets are learned", hint="pip install 'sqlanon[tasks]'"
        ) from None
