"""One release by each method, whose growth is measured: what has to be there, and the statement."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import sqlanon
from benchmarks import databases
from benchmarks.cases import dp_synthetic, itemsets, microaggregation, related, series
from benchmarks.data import DIAGNOSED, DISTINCT, Dataset, prepared

__all__ = ["METHODS", "Prepare", "Prepared"]

_DIVERSE = "l_diversity(l => 3, variant => 'probabilistic')"
_COLUMNS = "COLUMNS (birth, zip, education, native_country, occupation), (sex, diagnosis)"
_COUNTS = "CREATE OR REPLACE ANONYMIZED TABLE made AS POLICY census METHOD dp_histogram(by => (sex, education, age), {}"

# A connection with everything that the statement needs, and the statement.
Prepared = tuple[sqlanon.Connection, str]
Prepare = Callable[[int, Path], Iterator[Prepared]]


def _by(dataset: Dataset, method: str, requires: str = "", *, hierarchies: bool = False) -> Prepare:
    """Returns the preparation of a method over a generated table; without requirements its columns are kept apart."""

    def prepare(rows: int, folder: Path) -> Iterator[Prepared]:
        with databases.working_copy(dataset, prepared(dataset, rows, folder)) as connection:
            if requires:
                sensitive = [dataset.sensitive] if dataset.sensitive else []
                databases.declare(connection, dataset, dataset.columns, sensitive, requires, hierarchies=hierarchies)
            else:
                databases.keep_apart(connection, dataset)
            yield connection, databases.published("table", "released", method)

    return prepare


def _in_memory(declare: Callable[[sqlanon.Connection, int], None], statement: str) -> Prepare:
    """Returns the preparation of a method whose table a case generates in memory."""

    def prepare(rows: int, _: Path) -> Iterator[Prepared]:
        with sqlanon.connect() as connection:
            declare(connection, rows)
            yield connection, statement

    return prepare


METHODS: Mapping[str, Prepare] = {
    "generalization": _by(DISTINCT, "generalization(suppression => 0.02)", "k_anonymity(k => 5)", hierarchies=True),
    "generalization, recoding => 'local'": _by(
        DISTINCT, "generalization(suppression => 0.02, recoding => 'local')", "k_anonymity(k => 5)", hierarchies=True
    ),
    "generalization, cells => 'suppress'": _by(
        DISTINCT, "generalization(suppression => 0.02, cells => 'suppress')", "k_anonymity(k => 5)", hierarchies=True
    ),
    "mondrian": _by(DISTINCT, "mondrian", "k_anonymity(k => 10)"),
    "anatomy": _by(DIAGNOSED, "anatomy(l => 3)", _DIVERSE),
    "slicing": _by(DIAGNOSED, f"slicing(l => 3) {_COLUMNS}", _DIVERSE),
    "slicing, grouping => 'random'": _by(
        DIAGNOSED, f"slicing(l => 3, grouping => 'random', bucket_size => 100) {_COLUMNS}", _DIVERSE
    ),
    "m_invariance, a refresh": _in_memory(series.second_release, "REFRESH ANONYMIZED TABLE released"),
    "fragments": _by(DIAGNOSED, "fragments"),
    "loose": _by(DIAGNOSED, "loose(k => 4)"),
    "loose, near => true": _by(DIAGNOSED, "loose(k => 4, near => true)"),
    "trivial": _by(DIAGNOSED, "trivial(drop => 'sensitive')", "k_anonymity(k => 2)"),
    "microaggregation": _in_memory(microaggregation.numbers, microaggregation.statement("six", "k => 5")),
    "microaggregation, block => 5000": _in_memory(
        microaggregation.numbers, microaggregation.statement("six", "k => 5, block => 5000")
    ),
    "itemsets, search => 'levels'": _in_memory(
        itemsets.baskets, itemsets.statement("baskets_2", "(search => 'levels')")
    ),
    "itemsets": _in_memory(itemsets.baskets, itemsets.statement("baskets_2")),
    "multirelational": _in_memory(related.patients, related.statement("values")),
    "dp_histogram": _in_memory(dp_synthetic.prepare, _COUNTS.format("epsilon => 1) UNDER BUDGET paid")),
    "dp_synthetic": _in_memory(dp_synthetic.prepare, dp_synthetic.STATEMENT),
}
