"""The experiments of Brickell and Shmatikov, The Cost of Privacy (2008).

`python -m benchmarks.papers cost` compares each printed figure with ours. `python -m benchmarks.papers.cost` prints the
gain of a learner from a release over the trivial releases, with A_acc (`learning`), how much the figures of Table 3
depend on the rule by which regions are cut (`cuts`), and the accuracy of other random forests (`forests`).
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

import sqlanon
from benchmarks.papers import adult, cuts
from benchmarks.papers.charts import Bars
from benchmarks.papers.printed import Computation, Value
from benchmarks.papers.statements import Attributes, cell, figures_of, parser, printed, release, rows_of, table

__all__ = ["GROUPS", "main"]

PARTS = ("learning", "cuts", "forests")
# The nine attributes of Table 1. Education is a number there: `education_num` has it.
_NINE = "age workclass education_num marital_status occupation race sex native_country salary_class".split()
_OCCUPATION = Attributes(("age", "sex", "race"), "occupation", ("marital_status",))
_MARITAL = Attributes(("age", "occupation", "education_num"), "marital_status", ("salary_class",))
_REQUIREMENTS = {
    "k=10": "k_anonymity(k => 10)",
    "k=100": "k_anonymity(k => 100)",
    "k=1000": "k_anonymity(k => 1000)",
    "l=2": "l_diversity(l => 2, variant => 'recursive', c => 3)",
    "l=5": "l_diversity(l => 5, variant => 'recursive', c => 3)",
    "l=10": "l_diversity(l => 10, variant => 'recursive', c => 3)",
    "l=15": "l_diversity(l => 15, variant => 'recursive', c => 3)",
    "t=.4": "t_closeness(t => 0.4, distance => 'equal')",
    "t=.3": "t_closeness(t => 0.3, distance => 'equal')",
    "t=.2": "t_closeness(t => 0.2, distance => 'equal')",
    "delta=1.2": "delta_disclosure(delta => 1.2)",
    "delta=1.0": "delta_disclosure(delta => 1)",
    "delta=.8": "delta_disclosure(delta => 0.8)",
}
_LEARNED = ("k=10", "l=2")
_GAIN = "mondrian(split => 'information_gain', target => {})"
_INTACT = "generalization(suppression => 0)"
_FOLDS = 10
# Figures 1 to 4: the attributes, what is learned, and the target of the cuts.
_FIGURES = {
    "1": (_MARITAL, "marital_status", "salary_class"),
    "2": (_OCCUPATION, "occupation", "marital_status"),
    "3": (_MARITAL, "salary_class", "salary_class"),
    "4": (_OCCUPATION, "marital_status", "marital_status"),
}
_CHARTS = {
    "learning": Bars(("researcher's gain", "A_acc"), lambda row: f"Figure {row['figure']}: {row['requirement']}"),
}


def _attributes(connection: sqlanon.Connection) -> Iterator[tuple[str, Value]]:
    counts = ", ".join(f"count(DISTINCT {name})" for name in _NINE)
    [row] = connection.duckdb.execute(f"SELECT count(*), {counts} FROM people").fetchall()
    yield from zip(("rows", *_NINE), row, strict=True)


def _baselines(connection: sqlanon.Connection) -> Iterator[tuple[str, Value]]:
    for name, method in (("Intact", _INTACT), ("Suppressed", "trivial(drop => 'quasi_identifiers')")):
        yield from _disclosed(connection, name, "k_anonymity(k => 1)", method)


def _releases(names: Sequence[str]) -> Computation:
    def computation(connection: sqlanon.Connection) -> Iterator[tuple[str, Value]]:
        for name in names:
            yield from _disclosed(connection, name, _REQUIREMENTS[name], _GAIN.format("marital_status"))

    return computation


def _disclosed(connection: sqlanon.Connection, name: str, requirement: str, method: str) -> Iterator[tuple[str, Value]]:
    """Yields A_acc and A_know of a release by the quasi-identifiers of Table 3."""
    made = release(connection, _OCCUPATION, requirement, method, hierarchies=False)
    figures = figures_of(connection, "a_acc, a_know") if made else {"a_acc": None, "a_know": None}
    yield f"{name}, A_acc", figures["a_acc"]
    yield f"{name}, A_know", figures["a_know"]


def _accuracies(connection: sqlanon.Connection) -> Iterator[tuple[str, Value]]:
    """Yields for each target of Table 2 the accuracies of a tree with and without age, sex and race, in percent."""
    for target in ("workclass", "education", "marital_status", "occupation", "native_country", "salary_class"):
        others = [name for name in _NINE if name not in (target, f"{target}_num")]
        neutral = tuple(name for name in others if name not in ("age", "sex", "race"))
        # With a sensitive target, the baseline of TASK is the table without the quasi-identifiers.
        release(connection, Attributes(("age", "sex", "race"), target, neutral), "k_anonymity(k => 1)", _INTACT)
        figures = _learned(connection, target, others)
        yield f"{target}, Intact", 100 * figures["u_max_tree"]
        yield f"{target}, Suppressed", 100 * figures["u_base_tree"]


def _captions(connection: sqlanon.Connection) -> Iterator[tuple[str, Value]]:
    """Yields the accuracies in the captions of Figures 1 to 4 and in the text about them, in percent."""
    for figure, attributes in (("Figure 1", _MARITAL), ("Figure 2", _OCCUPATION)):
        sensitive = attributes.sensitive
        query = f"SELECT max(n) / sum(n) FROM (SELECT count(*) AS n FROM people GROUP BY {sensitive})"
        [(share,)] = connection.duckdb.execute(query).fetchall()
        yield f"{figure}, adversary", 100 * share
        yield f"{figure}, researcher", _source(connection, sensitive, without=attributes.quasi_identifiers)["tree"]
    models = _source(connection, "salary_class", without=("marital_status",), models=("tree", "forest", "bayes"))
    yield "Figure 3, J48", models["tree"]
    yield "Figure 3, Random Forests", models["forest"]
    yield "Figure 3, Naive Bayes", models["bayes"]
    yield "Figure 4, U_max", _source(connection, "marital_status")["tree"]
    yield "Figure 4, U_base", _source(connection, "marital_status", without=("occupation",))["tree"]


def _source(
    connection: sqlanon.Connection, target: str, without: Sequence[str] = (), models: Sequence[str] = ("tree",)
) -> dict[str, float]:
    """Returns the accuracies of models that learn a target from the source without some columns, in percent."""
    others = tuple(name for name in _NINE if name not in (target, *without))
    release(connection, Attributes(others[:1], target, others[1:]), "k_anonymity(k => 1)", _INTACT)
    figures = _learned(connection, target, others, models)
    return {model: 100 * figures[f"u_max_{model}"] for model in models}


def _learned(
    connection: sqlanon.Connection, target: str, using: Sequence[str], models: Sequence[str] = ("tree",)
) -> dict[str, float]:
    answer = connection.sql(
        f"MEASURE {adult.RELEASE} WITH TASK (target => {target}, using => ({', '.join(using)}), "
        f"models => ({', '.join(map(repr, models))}), folds => {_FOLDS})"
    )
    heads = [description[0] for description in answer.description]
    return {row[heads.index("figure")]: row[heads.index("value")] for row in answer.fetchall()}


GROUPS: Mapping[str, Computation] = {
    "attributes": _attributes,
    "accuracies": _accuracies,
    "captions": _captions,
    "baselines": _baselines,
    "k": _releases(("k=10", "k=100", "k=1000")),
    "l": _releases(("l=2", "l=5", "l=10", "l=15")),
    "t": _releases(("t=.4", "t=.3", "t=.2")),
    "delta": _releases(("delta=1.2", "delta=1.0", "delta=.8")),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the tables of the parts."""
    options = parser("cost", __doc__, PARTS).parse_args(arguments)
    with adult.connected(rows_of(options), options.seed) as connection:
        for part in options.part or PARTS:
            printed(options, part, _lines(connection, part, options), _CHARTS)
    return 0


def _lines(connection: sqlanon.Connection, part: str, options: argparse.Namespace) -> Iterator[str]:
    if part == "learning":
        heads = ("figure", "requirement", "U_max", "U_base", "U_san", "researcher's gain", "A_acc")
        yield from table(heads, _gains(connection, options))
    elif part == "cuts":
        yield from cuts.lines(connection, _REQUIREMENTS.keys())
    else:
        yield from table(("trees", "least rows of a leaf", "accuracy"), _forests(connection, options))


def _gains(connection: sqlanon.Connection, options: argparse.Namespace) -> Iterator[Sequence[str]]:
    """Yields the accuracies of a decision tree and of an adversary for each figure and requirement."""
    figures = list(_FIGURES.items())
    for figure, (attributes, learned, target) in figures[:1] if options.quick else figures:
        neutral = tuple(name for name in _NINE if name not in (*attributes.quasi_identifiers, attributes.sensitive))
        nine = Attributes(attributes.quasi_identifiers, attributes.sensitive, neutral)
        for name in _LEARNED[:1] if options.quick else _LEARNED:
            if not release(connection, nine, _REQUIREMENTS[name], _GAIN.format(target)):
                yield (figure, name, *["-"] * 5)
                continue
            numbers = _learned(connection, learned, [other for other in _NINE if other != learned])
            shown = ("u_max_tree", "u_base_tree", "u_san_tree", "gain_tree", "a_acc")
            yield (figure, name, *(cell(numbers[each]) for each in shown))


def _forests(connection: sqlanon.Connection, options: argparse.Namespace) -> Iterator[Sequence[str]]:
    """Yields the accuracy of random forests on the task of Figure 3, by their numbers of trees and sizes of leaves.

    Weka's default in 2008 was 10 trees that are not pruned, each split among 1 + log2(attributes) attributes.
    """
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import StratifiedKFold, cross_val_score

    others = [name for name in _NINE if name not in ("salary_class", "marital_status")]
    codes = ", ".join(f"dense_rank() OVER (ORDER BY {name})" for name in (*others, "salary_class"))
    rows = np.array(connection.duckdb.execute(f"SELECT {codes} FROM people ORDER BY number").fetchall())
    folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=options.seed)
    features = 1 + int(math.log2(len(others)))
    for trees, leaf in ((10, 1), (10, 5), (50, 5))[: 1 if options.quick else None]:
        forest = RandomForestClassifier(
            trees, min_samples_leaf=leaf, max_features=features, random_state=options.seed, n_jobs=1
        )
        yield (str(trees), str(leaf), cell(cross_val_score(forest, rows[:, :-1], rows[:, -1], cv=folds).mean()))


if __name__ == "__main__":
    sys.exit(main())
