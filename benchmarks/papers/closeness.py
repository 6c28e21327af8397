"""The experiments of Li, Li and Venkatasubramanian, t-Closeness (2007).

`python -m benchmarks.papers closeness` compares each printed figure with ours. `python -m benchmarks.papers.closeness`
prints how many minimal tables of three attributes of UCI Adult the similarity attack breaks (`similarity`), and of six
attributes by rows, levels and groups of occupations (`lattices`), the distances of classes of diseases by the
distribution that they are compared with (`distances`), and the time of statements with the class sizes of their
releases (`quality`).
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import log

import numpy as np
from numpy.typing import NDArray

import sqlanon
from benchmarks.papers import adult, distances
from benchmarks.papers.charts import Bars
from benchmarks.papers.printed import Computation, Value
from benchmarks.papers.statements import Attributes, cell, declare, parser, printed, rows_of, table

__all__ = ["GROUPS", "Lattice", "entropy", "inferred", "main", "minimal_levels", "recursive"]

Counts = NDArray[np.int64]
# The level of each attribute.
Node = tuple[int, ...]
# Decides by the occupations of each class (a row for each) whether a table may be published.
Requirement = Callable[[Counts], bool]

_WIDTHS = (5, 10, 20, 40)


def entropy(l: float) -> Requirement:  # noqa: E741 - the paper's name
    """Returns entropy l-diversity."""

    def satisfied(counts: Counts) -> bool:
        shares = counts / counts.sum(axis=1, keepdims=True)
        terms = shares * np.log(np.where(shares > 0, shares, 1))
        return bool(-terms.sum(axis=1).max() >= log(l) - 1e-12)

    return satisfied


def recursive(c: float, l: int) -> Requirement:  # noqa: E741
    """Returns recursive (c, l)-diversity."""

    def satisfied(counts: Counts) -> bool:
        ranked = np.sort(counts, axis=1)[:, ::-1]
        return bool((ranked[:, 0] < c * ranked[:, l - 1 :].sum(axis=1)).all())

    return satisfied


def inferred(counts: Counts, groups: Sequence[list[int]]) -> int:
    """Returns the number of rows in classes whose occupations are all in one of these groups of columns."""
    sizes = counts.sum(axis=1)
    return sum(int(sizes[counts[:, group].sum(axis=1) == sizes].sum()) for group in groups)


PARTS = ("similarity", "lattices", "distances", "quality")
_ATTRIBUTES = Attributes(("age", "education", "sex"), "occupation")
# The greatest level of each: ages by 5, 10, 20, 40 and '*', stages of education, degrees and '*', '*'.
_HIGHEST = (5, 3, 1)
_WIDER = Attributes(("age", "workclass", "education", "race", "sex"), "occupation")
# Table 6 of the paper, whose rows are the complete ones of Adult's training file.
_COLUMNS = "age workclass education native_country marital_status race sex occupation salary_class".split()
_TRAINING, _TRAINING_ROWS = "training", 30_162
_SIX = ("age", "workclass", "education", "native_country", "marital_status", "race")
_OTHER_SIX = ("age", "workclass", "education", "marital_status", "race", "sex")
_STRICT = {
    "entropy l = 2": ("l_diversity(l => 2, variant => 'entropy')", entropy(2)),
    "recursive (4, 4)": ("l_diversity(l => 4, variant => 'recursive', c => 4)", recursive(4, 4)),
}
# The levels to leave out so that each attribute has as many as in Table 6.
_FEWER = {"age": (4,), "workclass": (1,), "marital_status": (1,), "native_country": (1, 3)}
# The first is the paper's example of a group of occupations.
_GROUPED = (
    "Tech-support Craft-repair Prof-specialty Machine-op-inspct Farming-fishing".split(),
    "Exec-managerial Adm-clerical Sales Transport-moving Armed-Forces".split(),
    "Handlers-cleaners Other-service Priv-house-serv Protective-serv".split(),
)
_MINIMAL = (
    "k_anonymity(k => 10)",
    "k_anonymity(k => 10), l_diversity(l => 4, variant => 'entropy')",
    "k_anonymity(k => 10), t_closeness(t => 0.3, distance => 'equal')",
)
_COMPARED = (
    "k_anonymity(k => 10)",
    "k_anonymity(k => 10), l_diversity(l => 4, variant => 'entropy')",
    "k_anonymity(k => 10), l_diversity(l => 4, variant => 'recursive', c => 4)",
    "k_anonymity(k => 10), t_closeness(t => 0.2, distance => 'equal')",
    "k_anonymity(k => 10), t_closeness(t => 0.15, distance => 'equal')",
)
_METHOD = "generalization(suppression => 0)"
# Shares of a class that are below one node of the occupations' hierarchy.
_CONFIDENCES = (0.8, 0.9, 1.0)
_CHARTS = {
    "similarity": Bars(
        ("minimal tables", *(f"prone at {share:g}" for share in _CONFIDENCES)), lambda row: row["requirement"]
    ),
}


class Lattice:
    """The combinations of quasi-identifiers in a relation, with the counts of occupations of each.

    `without` has the levels that an attribute's hierarchy lacks here.
    """

    def __init__(
        self,
        connection: sqlanon.Connection,
        attributes: Sequence[str],
        relation: str = "people",
        without: Mapping[str, Sequence[int]] | None = None,
    ) -> None:
        names = ", ".join(attributes)
        rows = connection.duckdb.execute(f"SELECT {names}, occupation FROM {relation}").fetchall()
        self.occupations = sorted({row[-1] for row in rows})
        code = {value: position for position, value in enumerate(self.occupations)}
        cells = {cell: position for position, cell in enumerate(sorted({row[:-1] for row in rows}))}
        self.counts = np.zeros((len(cells), len(code)), np.int64)
        np.add.at(self.counts, ([cells[row[:-1]] for row in rows], [code[row[-1]] for row in rows]), 1)
        self.levels: list[list[Counts]] = []
        for position, name in enumerate(attributes):
            every = _levels(connection, name, [cell[position] for cell in cells])
            left_out = (without or {}).get(name, ())
            self.levels.append([codes for level, codes in enumerate(every) if level not in left_out])

    def columns(self, groups: Iterable[Collection[str]]) -> list[list[int]]:
        """Returns the columns of counts of each group of occupations."""
        return [[self.occupations.index(value) for value in group if value in self.occupations] for group in groups]

    def classes(self, node: Node) -> Counts:
        """Returns the counts of occupations in each class of the table with these levels."""
        key = np.zeros(len(self.counts), np.int64)
        for codes, level in zip(self.levels, node, strict=True):
            key = key * (codes[level].max() + 1) + codes[level]
        _, place = np.unique(key, return_inverse=True)
        counts = np.zeros((place.max() + 1, self.counts.shape[1]), np.int64)
        np.add.at(counts, place, self.counts)
        return counts

    def minimal(self, satisfied: Requirement) -> Iterator[Node]:
        """Yields the levels of each minimal table: it satisfies the requirement, and no table with lower levels does.

        The requirement has to be one that a coarser table satisfies if a finer one does.
        """
        found: list[Node] = []
        nodes = product(*(range(len(levels)) for levels in self.levels))
        for node in sorted(nodes, key=lambda levels: (sum(levels), levels)):
            below = any(all(low <= level for low, level in zip(other, node, strict=True)) for other in found)
            if not below and satisfied(self.classes(node)):
                found.append(node)
                yield node


def _levels(connection: sqlanon.Connection, name: str, values: Sequence[str | int]) -> list[Counts]:
    """Returns for each level the codes of the labels of these values, from the values themselves to `*`."""
    found: list[Sequence[object]] = [values]
    if name == "age":
        found += [[int(value) // width for value in values] for width in _WIDTHS]
    else:
        query = "SELECT level, value, label FROM anon.hierarchy_value WHERE hierarchy = ? ORDER BY level, value"
        labels: dict[int, dict[str, str]] = {}
        for level, value, label in connection.duckdb.execute(query, [f"adult_{name}"]).fetchall():
            labels.setdefault(level, {})[value] = label
        found += [[labels[level][str(value)] for value in values] for level in sorted(labels) if level]
    codes = [np.unique(np.array(labels_), return_inverse=True)[1].astype(np.int64) for labels_ in found]
    return codes if not codes[-1].any() else [*codes, np.zeros(len(values), np.int64)]


def _attributes(connection: sqlanon.Connection) -> Iterator[tuple[str, Value]]:
    _take_training(connection)
    counts = ", ".join(f"count(DISTINCT {name})" for name in _COLUMNS)
    [row] = connection.duckdb.execute(f"SELECT count(*), {counts} FROM {_TRAINING}").fetchall()
    yield from zip(("rows", *_COLUMNS), row, strict=True)


def _take_training(connection: sqlanon.Connection) -> None:
    connection.duckdb.execute(
        f"CREATE OR REPLACE TABLE {_TRAINING} AS FROM people WHERE number <= {_TRAINING_ROWS} ORDER BY number"
    )


def _prone_of_six(connection: sqlanon.Connection) -> Iterator[tuple[str, Value]]:
    """Yields for both requirements the minimal tables, those with a class of like occupations, and the most rows."""
    _take_training(connection)
    lattice = Lattice(connection, _SIX, _TRAINING)
    for name, (statement, satisfied) in _STRICT.items():
        known: list[int] = []
        for levels in lattice.minimal(satisfied):
            policy = declare(connection, Attributes(_SIX, "occupation"), statement, levels, relation=_TRAINING)
            connection.sql(f"CREATE OR REPLACE ANONYMIZED TABLE {adult.RELEASE} AS POLICY {policy} METHOD {_METHOD}")
            known.append(_named(connection, 1))
        yield f"{name}, minimal tables", len(known)
        yield f"{name}, prone tables", sum(rows > 0 for rows in known)
        if name == "entropy l = 2":
            yield f"{name}, most rows inferred in a table", max(known)


def _named(connection: sqlanon.Connection, confidence: float) -> int:
    """Returns the rows whose class has at least this share below one group of occupations."""
    answer = connection.sql(
        f"ATTACK main.{adult.RELEASE} SENSITIVE occupation USING adult_occupation "
        f"WITH similarity(level => 2, confidence => {confidence})"
    )
    heads = [description[0] for description in answer.description]
    return sum(int(row[heads.index("succeeded")]) for row in answer.fetchall())


GROUPS: Mapping[str, Computation] = {
    **distances.EXAMPLES,
    "attributes": _attributes,
    "similarity": _prone_of_six,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the tables of the parts."""
    options = parser("closeness", __doc__, PARTS).parse_args(arguments)
    with adult.connected(rows_of(options), options.seed) as connection:
        for part in options.part or PARTS:
            printed(options, part, _lines(connection, part, options), _CHARTS)
    return 0


def _lines(connection: sqlanon.Connection, part: str, options: argparse.Namespace) -> Iterator[str]:
    if part == "similarity":
        heads = ("requirement", "minimal tables", *(f"prone at {share:g}" for share in _CONFIDENCES))
        yield from table(heads, _prone(connection, _MINIMAL[:1] if options.quick else _MINIMAL))
    elif part == "lattices":
        heads = ("rows", "attributes", "levels", "requirement", "minimal tables", "prone", "most rows")
        yield from table((*heads, "prone by other groups"), _lattices(connection, quick=options.quick))
    elif part == "distances":
        yield from table(("class", "from the rows", "from each disease once"), distances.by_distribution(connection))
    else:
        heads = ("requirement", "processor seconds", "average class", "discernibility / rows")
        yield from table(heads, _quality(connection, _COMPARED[:2] if options.quick else _COMPARED))


def _release(connection: sqlanon.Connection, requirement: str, levels: Sequence[int] | None = None) -> bool:
    """Makes a release with this requirement, at these levels if given; returns whether it is possible."""
    policy = declare(connection, _WIDER if levels is None else _ATTRIBUTES, requirement, levels)
    try:
        connection.sql(f"CREATE OR REPLACE ANONYMIZED TABLE {adult.RELEASE} AS POLICY {policy} METHOD {_METHOD}")
    except sqlanon.PrivacyViolation:
        return False
    return True


def minimal_levels(connection: sqlanon.Connection, requirement: str) -> Iterator[tuple[int, ...]]:
    """Yields the levels of each minimal table: it satisfies the requirement, and no table with lower levels does.

    At each step the release is the table with the yielded levels.
    """
    minimal: list[tuple[int, ...]] = []
    for levels in sorted(product(*(range(highest + 1) for highest in _HIGHEST)), key=lambda node: (sum(node), node)):
        below = any(all(low <= level for low, level in zip(node, levels, strict=True)) for node in minimal)
        if not below and _release(connection, requirement, levels):
            minimal.append(levels)
            yield levels


def _prone(connection: sqlanon.Connection, requirements: Sequence[str]) -> Iterator[Sequence[str]]:
    for requirement in requirements:
        tables, prone = 0, [0 for _ in _CONFIDENCES]
        for _ in minimal_levels(connection, requirement):
            tables += 1
            for position, share in enumerate(_CONFIDENCES):
                prone[position] += _named(connection, share) > 0
        yield (requirement, str(tables), *map(str, prone))


def _lattices(connection: sqlanon.Connection, *, quick: bool) -> Iterator[Sequence[str]]:
    """Yields the minimal tables of six attributes, and the prone tables by two ways to group occupations."""
    _take_training(connection)
    query = "SELECT value, label FROM anon.hierarchy_value WHERE hierarchy = 'adult_occupation' AND level = 2"
    kinds: dict[str, list[str]] = {}
    for value, label in connection.duckdb.execute(query).fetchall():
        kinds.setdefault(label, []).append(value)
    settings = product((_TRAINING, "people"), (_SIX, _OTHER_SIX), (None, _FEWER))
    for relation, attributes, without in list(settings)[: 1 if quick else None]:
        lattice = Lattice(connection, attributes, relation, without)
        rows = f"{lattice.counts.sum():,}"
        for name, (_, satisfied) in _STRICT.items():
            classes = [lattice.classes(node) for node in lattice.minimal(satisfied)]
            known = [
                [inferred(each, lattice.columns(group)) for each in classes] for group in (kinds.values(), _GROUPED)
            ]
            prone = [sum(number > 0 for number in numbers) for numbers in known]
            levels = "all" if without is None else "as many as in Table 6"
            chosen = "with sex" if "sex" in attributes else "with country"
            yield (rows, chosen, levels, name, str(len(classes)), str(prone[0]), str(max(known[0])), str(prone[1]))


def _quality(connection: sqlanon.Connection, requirements: Sequence[str]) -> Iterator[Sequence[str]]:
    for requirement in requirements:
        begun = time.process_time()
        released = _release(connection, requirement)
        seconds = time.process_time() - begun
        if not released:
            yield (requirement, cell(seconds, 2), "-", "-")
            continue
        answer = connection.sql(f"MEASURE {adult.RELEASE} WITH FIGURES (class_sizes)")
        heads = [description[0] for description in answer.description]
        sizes = {row[heads.index("figure")]: row[heads.index("value")] for row in answer.fetchall()}
        [(rows,)] = connection.duckdb.execute(f"SELECT count(*) FROM {adult.RELEASE}").fetchall()
        yield (
            requirement,
            cell(seconds, 2),
            cell(sizes["average_class_size"], 1),
            cell(sizes["discernibility"] / rows, 1),
        )


if __name__ == "__main__":
    sys.exit(main())
