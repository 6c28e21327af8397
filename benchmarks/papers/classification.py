"""Measures learners that learn from a release, tested on rows of the source that are not in the release."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np
from sklearn.naive_bayes import CategoricalNB
from sklearn.tree import DecisionTreeClassifier

import sqlanon
from benchmarks.papers import adult, releases
from benchmarks.papers.adult import RELEASE, SENSITIVE, Numbers, Selection
from benchmarks.papers.releases import Rows
from benchmarks.papers.settings import BUCKETIZATION, ORIGINAL, Setting
from sqlanon.errors import PrivacyViolation

__all__ = ["Measured", "Target", "lines", "targets"]

# For each fold the shares of correct predictions: for each target, by the tree and by naive Bayes.
Figures = list[list[float]]

# C4.5 prunes; here a least number of rows for each leaf replaces that.
_LEAF = 20
# For naive Bayes numbers are cut into this number of intervals with equally many rows.
_INTERVALS = 10


@dataclass(frozen=True)
class Target:
    """The attribute to predict, and the attributes that are not used for it."""

    name: str
    without: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.name + (f" without {', '.join(self.without)}" if self.without else "")


@dataclass(frozen=True)
class Measured:
    """The results of a setting; without figures it is infeasible. Buckets and columns are from the first fold."""

    setting: Setting
    figures: Figures
    buckets: int = 0
    columns: str = ""


def targets(selection: Selection) -> list[Target]:
    """Returns the paper's two targets; where `education_num` reveals the education, a third is learned without it."""
    found = [Target("education"), Target(SENSITIVE)]
    if "education_num" in selection.attributes:
        found.insert(1, Target("education", ("education_num",)))
    return found


def lines(
    connection: sqlanon.Connection, selection: Selection, settings: Sequence[Setting], folds: int, seed: int
) -> Iterator[str]:
    """Yields the lines of three tables, the first two with a column for each target and learner.

    The first has the share of rows predicted correctly for each setting, in percent. The second has the points by which
    slicing exceeds bucketization, the third the columns that slicing chose.
    """
    learned = targets(selection)
    heads = [f"{target}, {learner}" for target in learned for learner in ("tree", "Bayes")]
    yield f"| {selection.name}, l | release | {' | '.join(heads)} | buckets |"
    yield "| --- | --- |" + " ---: |" * (len(heads) + 1)
    yield _line(Measured(Setting("most frequent value"), _frequent(connection, selection, learned, folds)))
    results: list[Measured] = []
    for _, alike in groupby(settings, lambda setting: setting.diversity):
        group = [_measured(connection, selection, setting, learned, folds, seed) for setting in alike]
        if any(result.figures for result in group):
            yield from (
                _line(result) if result.figures else _infeasible(result.setting, len(heads)) for result in group
            )
        else:
            yield _infeasible(replace(group[0].setting, name="each of them"), len(heads))
        results += group
    if differences := list(_differences(results)):
        yield ""
        yield f"| {selection.name}, l | above bucketization | {' | '.join(heads)} |"
        yield "| --- | --- |" + " ---: |" * len(heads)
        yield from differences
    found: dict[str, Setting] = {}
    for result in results:
        if result.columns:
            found.setdefault(result.columns, result.setting)
    if found:
        yield ""
        yield f"| {selection.name}, l | release | columns |"
        yield "| --- | --- | --- |"
        for columns, setting in found.items():
            yield f"| {setting.diversity} | {setting.name} | {columns} |"


def _line(result: Measured) -> str:
    cells = [f"{100 * column.mean():.1f}" for column in np.array(result.figures).T]
    buckets = f"{result.buckets:,}" if result.buckets else ""
    return f"| {' | '.join([result.setting.diversity, result.setting.name, *cells, buckets])} |"


def _infeasible(setting: Setting, count: int) -> str:
    return f"| {' | '.join([setting.diversity, setting.name, *['-'] * count, 'not feasible'])} |"


def _differences(results: Sequence[Measured]) -> Iterator[str]:
    """Yields a line for each slicing with a bucketization of equal l: the mean of the folds' differences.

    After the mean comes twice its standard error, over folds.
    """
    against = {result.setting.diversity: result.figures for result in results if result.setting.name == BUCKETIZATION}
    for result in results:
        setting = result.setting
        if setting.read is releases.slicing and result.figures and against.get(setting.diversity):
            points = 100 * (np.array(result.figures) - np.array(against[setting.diversity]))
            cells = [f"{mean:+.1f}" for mean in points.mean(axis=0)]
            if len(points) > 1:
                errors = 2 * points.std(axis=0, ddof=1) / np.sqrt(len(points))
                cells = [f"{cell} ± {error:.1f}" for cell, error in zip(cells, errors, strict=True)]
            yield f"| {' | '.join([setting.diversity, setting.name, *cells])} |"


def _frequent(connection: sqlanon.Connection, selection: Selection, learned: Sequence[Target], folds: int) -> Figures:
    figures = []
    for fold in range(folds):
        test = releases.source(connection, selection, f"(FROM people WHERE fold = {fold})")
        rest = releases.source(connection, selection, f"(FROM people WHERE fold <> {fold})")
        shares = []
        for target in learned:
            codes, counts = np.unique(rest.columns[target.name], return_counts=True)
            shares += [float((test.columns[target.name] == codes[counts.argmax()]).mean())] * 2
        figures.append(shares)
    return figures


def _measured(
    connection: sqlanon.Connection,
    selection: Selection,
    setting: Setting,
    learned: Sequence[Target],
    folds: int,
    seed: int,
) -> Measured:
    """Measures each fold: learns from a release of the other folds, and counts the hits in the fold."""
    generator = np.random.default_rng(seed)
    figures: Figures = []
    buckets, columns = 0, ""
    for fold in range(folds):
        adult.take(connection, selection, f"fold <> {fold}")
        try:
            rows = _released(connection, selection, setting, generator)
        except PrivacyViolation:
            return Measured(setting, [])
        test = releases.source(connection, selection, f"(FROM people WHERE fold = {fold})")
        figures.append([share for target in learned for share in _hits(selection, target, rows, test, seed)])
        if fold == 0:
            buckets = releases.buckets(connection, setting.read)
            if setting.read is releases.slicing:
                columns = releases.listed(releases.sliced_columns(connection))
    return Measured(setting, figures, buckets, columns)


def _released(
    connection: sqlanon.Connection, selection: Selection, setting: Setting, generator: np.random.Generator
) -> Rows:
    """Returns the rows that a learner gets. Raises PrivacyViolation if the release is impossible."""
    if setting.read is None:
        rows = releases.source(connection, selection, adult.SOURCE)
        return rows if setting == ORIGINAL else _one_bucket(rows, generator)
    policy = adult.declare(connection, selection, setting.requirement)
    connection.sql(f"CREATE OR REPLACE ANONYMIZED TABLE {RELEASE} AS POLICY {policy} METHOD {setting.call}")
    return setting.read(connection, selection, generator)


def _one_bucket(rows: Rows, generator: np.random.Generator) -> Rows:
    """Joins sex and occupation of each row, unchanged, with the other attributes of a random row."""
    order = generator.permutation(len(rows))
    return Rows(
        {name: column[order] if name in ("sex", SENSITIVE) else column for name, column in rows.columns.items()}
    )


def _hits(selection: Selection, target: Target, rows: Rows, test: Rows, seed: int) -> tuple[float, float]:
    """Returns the shares of test rows that a decision tree and naive Bayes, trained on the rows, predict correctly."""
    predictors = [name for name in selection.attributes if name != target.name and name not in target.without]
    truth, values = test.columns[target.name], rows.columns[target.name]
    tree = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=_LEAF, random_state=seed)
    tree.fit(_matrix(rows, predictors), values)
    by_tree = tree.predict(_matrix(test, predictors)) == truth
    cut = [_cut(selection, name, rows.columns[name]) for name in predictors]
    bayes = CategoricalNB(min_categories=[size for _, size in cut])
    bayes.fit(_intervals(rows, predictors, cut), values)
    by_bayes = bayes.predict(_intervals(test, predictors, cut)) == truth
    return float(by_tree.mean()), float(by_bayes.mean())


def _matrix(rows: Rows, predictors: Sequence[str]) -> Numbers:
    return np.column_stack([rows.columns[name] for name in predictors]).astype(np.float32)


def _cut(selection: Selection, name: str, column: Numbers) -> tuple[Numbers | None, int]:
    """Returns the cuts of a numeric attribute for naive Bayes, None for codes; and the number of intervals or codes."""
    if not selection.numeric(name):
        return None, len(selection.domains[name])
    ends = np.unique(np.quantile(column, np.linspace(0, 1, _INTERVALS + 1)[1:-1]))
    return ends, len(ends) + 1


def _intervals(rows: Rows, predictors: Sequence[str], cut: Sequence[tuple[Numbers | None, int]]) -> Numbers:
    columns = [
        rows.columns[name] if ends is None else np.searchsorted(ends, rows.columns[name], side="left")
        for name, (ends, _) in zip(predictors, cut, strict=True)
    ]
    return np.column_stack(columns).astype(np.int64)
