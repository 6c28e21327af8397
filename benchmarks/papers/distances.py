"""The worked examples of Li, Li and Venkatasubramanian, t-Closeness (2007): classes of a few patients."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

import sqlanon
from benchmarks.papers.printed import Computation, Value
from benchmarks.papers.statements import cell

__all__ = ["EXAMPLES", "by_distribution"]

# A class: its values of the sensitive attribute, with their numbers of rows.
Class = Mapping[str, int]

# Table 2: the classes 476** 2*, 4790* from 40 on, and 476** 3*.
_BOB, _MIXED, _CARL = {"heart": 3}, {"flu": 1, "heart": 1, "cancer": 1}, {"heart": 1, "cancer": 2}
# Table 3: salaries in thousands, with diseases.
_PATIENTS = {
    3: "gastric ulcer",
    4: "gastritis",
    5: "stomach cancer",
    6: "gastritis",
    11: "flu",
    8: "bronchitis",
    7: "bronchitis",
    9: "pneumonia",
    10: "stomach cancer",
}
# The classes of Table 4, which is 3-diverse, and of Table 5, which is t-close, by their salaries.
_DIVERSE = ((3, 4, 5), (6, 11, 8), (7, 9, 10))
_CLOSE = ((3, 5, 9), (6, 11, 8), (4, 7, 10))
_TREE = {
    ("respiratory infection", "respiratory"): ("flu", "pneumonia", "bronchitis"),
    ("vascular lung", "respiratory"): ("pulmonary edema", "pulmonary embolism"),
    ("stomach", "digestive"): ("gastric ulcer", "stomach cancer", "gastritis"),
    ("colon", "digestive"): ("colitis", "colon cancer"),
}
_EQUAL, _ORDERED, _HIERARCHICAL = (
    f"t_closeness(t => 1, distance => '{distance}')" for distance in ("equal", "ordered", "hierarchical")
)
_DISTINCT, _ENTROPY = (f"l_diversity(l => 1, variant => '{variant}')" for variant in ("distinct", "entropy"))
_SKEWNESS = "skewness(ratio => 1)"
_DISEASES = "VARCHAR USING diseases"
_SALARIES = "INTEGER"


def _source(connection: sqlanon.Connection, classes: Sequence[Class], kind: str) -> str:
    """Makes a table of classes, and returns the source that CHECK and ATTACK take; `kind` is the values' type."""
    values = ", ".join(
        f"({number}, '{value}', {n})" for number, each in enumerate(classes) for value, n in each.items()
    )
    type_, _, using = kind.partition(" ")
    connection.duckdb.execute(
        f"CREATE OR REPLACE TABLE example AS SELECT class, value::{type_} AS value "
        f"FROM (VALUES {values}) AS t(class, value, n), range(n)"
    )
    tree = ", ".join(f"('{value}', '{low}', '{top}')" for (low, top), below in _TREE.items() for value in below)
    connection.sql(f"CREATE OR REPLACE HIERARCHY diseases AS LEVELS (FROM (VALUES {tree}) AS t(value, low, top))")
    return f"example (class) SENSITIVE value {using}"


def _reached(
    connection: sqlanon.Connection, classes: Sequence[Class], requirement: str, kind: str = "VARCHAR"
) -> float:
    """Returns the limit that these classes reach by CHECK."""
    answer = connection.sql(f"CHECK {_source(connection, classes, kind)} REQUIRE {requirement}")
    heads = [description[0] for description in answer.description]
    return float(answer.fetchall()[0][heads.index("achieved")])


def _attacked(
    connection: sqlanon.Connection, classes: Sequence[Class], attack: str, kind: str = "VARCHAR"
) -> tuple[float, float]:
    """Returns the number of rows of which an adversary is certain by an attack, and the highest certainty."""
    answer = connection.sql(f"ATTACK {_source(connection, classes, kind)} WITH {attack}")
    heads = [description[0] for description in answer.description]
    [row] = answer.fetchall()
    return row[heads.index("succeeded")], row[heads.index("highest")]


def _distance(
    connection: sqlanon.Connection, each: Class, rest: Class, requirement: str, kind: str = "VARCHAR"
) -> float:
    """Returns the distance of a class from the whole table, which has the rest too; the rest is no smaller."""
    return _reached(connection, (each, rest), requirement, kind)


def _salaries(chosen: Sequence[int]) -> Class:
    return {str(salary): 1 for salary in chosen}


def _diseases(chosen: Sequence[int]) -> Class:
    values = [_PATIENTS[salary] for salary in chosen]
    return {value: values.count(value) for value in values}


def _others(chosen: Sequence[int]) -> list[int]:
    return [salary for salary in _PATIENTS if salary not in chosen]


def _anonymous(connection: sqlanon.Connection) -> Iterator[tuple[str, Value]]:
    classes = (_BOB, _MIXED, _CARL)
    yield "Table 2, k", _reached(connection, classes, "k_anonymity(k => 1)")
    yield "rows of heart disease for certain", _attacked(connection, classes, "homogeneity")[0]
    certainty = _attacked(connection, (_CARL, _MIXED), "background(values => 1)")[1]
    yield "certainty of Carl's cancer, if not of the heart", certainty


def _skewed(connection: sqlanon.Connection) -> Iterator[tuple[str, Value]]:
    """Yields figures of 10,000 tests with 100 positive ones; shares are in percent."""
    few = {"positive": 1, "negative": 99}
    tables = {100: [few] * 100, 101: [*[few] * 99, {"positive": 1}, {"negative": 99}]}
    yield "most 2-diverse classes", max(n for n, each in tables.items() if _reached(connection, each, _DISTINCT) >= 2)
    diversities = []
    for positive in (25, 49, 1):
        each = {"positive": positive, "negative": 50 - positive}
        rest = {"positive": 100 - positive, "negative": 9850 + positive}
        if positive > 1:
            # So many times the share of the whole table, which is one percent.
            yield f"positive with {positive} of 50, percent", _attacked(connection, (each, rest), _SKEWNESS)[1]
        diversities.append(_reached(connection, (each, {"positive": 50, "negative": 50}), _ENTROPY))
    yield "entropy diversity with 49 of 50, less that with 1 of 50", diversities[1] - diversities[2]


def _similar(connection: sqlanon.Connection) -> Iterator[tuple[str, Value]]:
    for table, classes in (("Table 4", _DIVERSE), ("Table 5", _CLOSE)):
        diseases, salaries = [_diseases(each) for each in classes], [_salaries(each) for each in classes]
        if table == "Table 4":
            yield f"{table}, distinct diversity", _reached(connection, diseases, _DISTINCT)
            yield f"{table}, entropy diversity", _reached(connection, diseases, _ENTROPY)
        known, _ = _attacked(connection, diseases, "similarity(level => 1)", _DISEASES)
        yield f"{table}, rows of a stomach disease for certain", known
        known, _ = _attacked(connection, salaries, "similarity(within => 2)", _SALARIES)
        yield f"{table}, rows of a salary from 3K to 5K for certain", known


def _pairs(connection: sqlanon.Connection) -> Iterator[tuple[str, Value]]:
    """Yields distances of two diseases: two classes of one row each are half as far from both together."""
    for other in ("bronchitis", "pulmonary embolism", "stomach cancer"):
        half = _distance(connection, {"flu": 1}, {other: 1}, _HIERARCHICAL, _DISEASES)
        yield f"distance of flu and {other}", str(Fraction(2 * half).limit_denominator(100))


def _classes(connection: sqlanon.Connection) -> Iterator[tuple[str, Value]]:
    for name, chosen in (("3K, 4K, 5K", _DIVERSE[0]), ("6K, 8K, 11K", _DIVERSE[1])):
        yield (
            f"distance of the salaries {name}",
            _distance(connection, _salaries(chosen), _salaries(_others(chosen)), _ORDERED, _SALARIES),
        )
    for chosen in (_DIVERSE[0], _CLOSE[0]):
        distance = _distance(connection, _diseases(chosen), _diseases(_others(chosen)), _HIERARCHICAL, _DISEASES)
        yield f"distance of {', '.join(_diseases(chosen))}", distance
    yield "Table 5, salary", _reached(connection, [_salaries(each) for each in _CLOSE], _ORDERED, _SALARIES)
    yield "Table 5, disease", _reached(connection, [_diseases(each) for each in _CLOSE], _HIERARCHICAL, _DISEASES)


def _limits(connection: sqlanon.Connection) -> Iterator[tuple[str, Value]]:
    """Yields two distances that are equal, although one of the shares grows by 1,000 percent and the other by 25."""
    for before, after in ((11, 1), (50, 40)):
        each, rest = ({"first": share, "second": 100 - share} for share in (after, 2 * before - after))
        yield f"distance of {after} of 100 and {before} of 100", _distance(connection, each, rest, _EQUAL)


EXAMPLES: Mapping[str, Computation] = {
    "anonymous": _anonymous,
    "skewed": _skewed,
    "similar": _similar,
    "pairs": _pairs,
    "classes": _classes,
    "limits": _limits,
}


def by_distribution(connection: sqlanon.Connection) -> Iterator[Sequence[str]]:
    """Yields for each class of diseases its distance from the table's diseases, and from each of its diseases once."""
    every = set(_PATIENTS.values())
    for chosen in (_DIVERSE[0], *_CLOSE):
        each = _diseases(chosen)
        rows = _distance(connection, each, _diseases(_others(chosen)), _HIERARCHICAL, _DISEASES)
        once = _distance(connection, each, dict.fromkeys(sorted(every - each.keys()), 1), _HIERARCHICAL, _DISEASES)
        yield (", ".join(each), cell(rows, 3), cell(once, 3))
