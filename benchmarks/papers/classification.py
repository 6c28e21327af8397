"""Measures learners that learn from a release, tested on rows of the source that are not in the release.

`claims` counts how often holds what Slicing (2012), section 6.2, says about the accuracies in its charts. The paper
makes all releases by Mondrian. So bucketization is there slicing with the occupation alone in its column, which the
paper names as equivalent. Shares of at most 1/l are impossible with the paper's columns; l distinct values are not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, product

import numpy as np
from sklearn.naive_bayes import CategoricalNB
from sklearn.tree import DecisionTreeClassifier

import sqlanon
from benchmarks.papers import adult, releases
from benchmarks.papers.adult import OCC_7, OCC_15, RELEASE, SENSITIVE, Numbers, Selection
from benchmarks.papers.printed import Value
from benchmarks.papers.releases import Rows
from benchmarks.papers.settings import BUCKETIZATION, ORIGINAL, Setting
from benchmarks.papers.statements import cell
from sqlanon.errors import PrivacyViolation

__all__ = ["CLAIMED", "Measured", "Target", "accuracies", "claims", "lines", "targets"]

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


_DIVERSITIES = (5, 8, 10)
_NUMBERS = (2, 3, 5)
_CLAIMED_SEED, _CLAIMED_FOLDS = 1, 2
# Education's number tells the education, so it is no predictor.
CLAIMED = {"occupation": Target(SENSITIVE), "education": Target("education", ("education_num",))}
_LEARNERS = ("tree", "Bayes")
# The percentage of right predictions by selection, target, learner and setting.
Accuracies = dict[tuple[str, str, str, str], float]


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


def _settings(columns: bool) -> Iterator[Setting]:
    yield ORIGINAL
    for l in _DIVERSITIES:  # noqa: E741 - the paper's name
        kind = f"l => {l}, variant => 'distinct'"
        yield Setting(f"generalization, {l}", "mondrian(bounds => true)", l, "distinct", releases.mondrian)
        call = f"slicing({kind}, columns => 2, sensitive_attributes => 1)"
        yield Setting(f"bucketization, {l}", call, l, "distinct", releases.slicing)
        for number in _NUMBERS if columns and l == _DIVERSITIES[0] else _NUMBERS[:1]:
            call = f"slicing({kind}, columns => {number}, sensitive_attributes => 2)"
            name = f"slicing, {l}" if number == _NUMBERS[0] else f"slicing, {l}, c = {number}"
            yield Setting(name, call, l, "distinct", releases.slicing)


def _accuracies(connection: sqlanon.Connection) -> Accuracies:
    found: Accuracies = {}
    for chosen in (OCC_7, OCC_15):
        selection = adult.described(connection, chosen)
        for setting in _settings(columns=chosen is OCC_15):
            folds = _measured(
                connection, selection, setting, list(CLAIMED.values()), _CLAIMED_FOLDS, _CLAIMED_SEED
            ).figures
            means = 100 * np.array(folds).mean(axis=0)
            for (target, learner), mean in zip(product(CLAIMED, _LEARNERS), means, strict=True):
                found[selection.name, target, learner, setting.name] = float(mean)
    return found


def accuracies(connection: sqlanon.Connection) -> Iterator[Sequence[str]]:
    """Yields for each selection and setting the accuracies, in percent."""
    accuracies = _accuracies(connection)
    for selection, setting in dict.fromkeys((key[0], key[3]) for key in accuracies):
        keys = product((selection,), CLAIMED, _LEARNERS, (setting,))
        yield (selection, setting, *(cell(accuracies[key], 1) for key in keys))


def claims(connection: sqlanon.Connection) -> Iterator[tuple[str, Value]]:
    """Yields how often each claim about Figures 3, 4 and 5 holds."""
    accuracies = _accuracies(connection)
    for figure, target, pairs in (
        (
            "Figure 3",
            "occupation",
            ("slicing > generalization", "slicing > bucketization", "bucketization < generalization"),
        ),
        ("Figure 4", "education", ("slicing > generalization", "bucketization > generalization")),
        ("Figure 4", "education", ("slicing < original", "bucketization < original")),
    ):
        for pair in pairs:
            names = [
                tuple(name if name == "original" else f"{name}, {l}" for name in pair.split(" ")[::2])
                for l in _DIVERSITIES  # noqa: E741
            ]
            count = _count(accuracies, ("OCC-7", "OCC-15"), target, pair.split(" ")[1], names)
            yield f"{figure}, {_words(pair)}", count
    sliced = [f"slicing, 5{end}" for end in ("", *(f", c = {number}" for number in _NUMBERS[1:]))]
    for name, target in (
        ("generalization", "occupation"),
        ("bucketization", "occupation"),
        ("generalization", "education"),
    ):
        count = _count(accuracies, ("OCC-15",), target, ">", [(each, f"{name}, 5") for each in sliced])
        yield f"Figure 5, {target}, {_words(f'slicing > {name}')}", count


def _words(pair: str) -> str:
    first, sign, second = pair.split(" ")
    return f"{first} {'above' if sign == '>' else 'below'} {second}"


def _count(
    accuracies: Mapping[tuple[str, str, str, str], float],
    selections: Sequence[str],
    target: str,
    sign: str,
    names: Sequence[Sequence[str]],
) -> int:
    """Returns for how many selections, learners and pairs of settings the first of the pair is above or below."""
    points = 0
    for selection, learner, (first, second) in product(selections, _LEARNERS, names):
        gain = accuracies[selection, target, learner, first] - accuracies[selection, target, learner, second]
        points += gain > 0 if sign == ">" else gain < 0
    return points
