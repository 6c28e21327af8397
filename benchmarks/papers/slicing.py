"""The experiments of Li, Li, Zhang and Molloy, Slicing: A New Approach for Privacy Preserving Data Publishing (2012).

`python -m benchmarks.papers slicing` compares each printed figure with ours. `python -m benchmarks.papers.slicing`
prints tables: the accuracy of a learner that has only a release of UCI Adult (`classification`, with scikit-learn, and
`claims` by the paper's l), the time of statements by rows and by attributes (`rows`, `attributes`), the number of
tuples that match a bucket (`membership`), the columns and versions of the data that come nearest to the printed numbers
(`fakes`), and how good the paper's columns are (`columns`). OCC-7 and OCC-15 are Adult's complete rows with 7 and with
all 15 attributes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import sqlanon
from benchmarks.papers import adult, efficiency, membership
from benchmarks.papers.adult import FOLDS, OCC_7, OCC_15, SENSITIVE, Selection
from benchmarks.papers.printed import Computation, Value
from benchmarks.papers.settings import SETTINGS, TIMED
from benchmarks.papers.statements import cell, figures_of, table

__all__ = ["GROUPS", "main"]

PARTS = ("classification", "rows", "attributes", "membership", "claims", "fakes", "columns")
# These have one table, and not one for each selection.
_ONE_TABLE = ("attributes", "claims", "fakes", "columns")
_QUICK_ROWS, _QUICK_FOLDS, _QUICK_RUNS = 4_000, 1, 1
_RUNS = 3
# The paper has no numbers of values for these.
_UNCOUNTED = ("fnlwgt", "capital_gain", "capital_loss", "hours_per_week")
_PATIENTS = """
    (22, 'M', '47906', 'dyspepsia'), (22, 'F', '47906', 'flu'),
    (33, 'F', '47905', 'flu'),       (52, 'F', '47905', 'bronchitis'),
    (54, 'M', '47302', 'flu'),       (60, 'M', '47302', 'dyspepsia'),
    (60, 'M', '47304', 'dyspepsia'), (64, 'F', '47304', 'gastritis')
"""
# The columns of Tables 1c, 1e and 1f.
_TABLES = {"1c": "COLUMNS (age, sex, zip), (disease)", "1e": "COLUMNS EACH", "1f": "COLUMNS (age, sex), (zip, disease)"}
_POLICY, _SLICED = "sliced_patients", "sliced"
# The first patient, in the columns of Table 1f.
_FIRST, _PLACE = "age = 22 AND sex = 'M'", "zip = '47906'"
# The five columns that the paper lists.
_PAPER = {
    OCC_7.name: (("age", "marital_status", "sex"), ("workclass",), ("education",), ("race",), ("occupation",)),
    OCC_15.name: (
        ("age", "workclass", "education", "education_num", "capital_gain", "hours_per_week", "salary_class"),
        ("marital_status", "occupation", "relationship", "sex"),
        ("race", "native_country"),
        ("fnlwgt",),
        ("capital_loss",),
    ),
}
_FIVE = 5
# phi2 of each attribute with each other.
Correlations = Mapping[str, Mapping[str, float]]


def _example(connection: sqlanon.Connection) -> Iterator[tuple[str, Value]]:
    """Yields the figures of Table 1; with k = 4 the buckets are the paper's."""
    connection.duckdb.execute(
        f"CREATE OR REPLACE TABLE patients AS FROM (VALUES {_PATIENTS}) AS t(age, sex, zip, disease)"
    )
    connection.sql(
        f"CREATE OR REPLACE POLICY {_POLICY} ON patients (age QUASI IDENTIFIER, sex QUASI IDENTIFIER, "
        "zip QUASI IDENTIFIER, disease SENSITIVE) REQUIRE k_anonymity(k => 4)"
    )
    _release(connection, "mondrian")
    [(ages,)] = connection.duckdb.execute(f"SELECT min(age) FROM {_SLICED}").fetchall()
    yield "Table 1b, k", _achieved(connection)["k_anonymity"]
    yield "Table 1b, ages of the first class", ages.replace(", ", "-")
    for name, chosen in _TABLES.items():
        _release(connection, f"slicing(l => 2) {chosen}")
        yield f"Table {name}, diversity", _achieved(connection)["probabilistic_l_diversity"]
    yield from _first_patient(connection)
    yield from _first_bucket(connection)
    yield (
        "fakes / originals by the formula, k = 4, c = 2",
        figures_of(connection, "membership", _SLICED)["fake_original_ratio"],
    )


def _release(connection: sqlanon.Connection, method: str) -> None:
    connection.sql(f"DROP ANONYMIZED TABLE IF EXISTS {_SLICED}")
    connection.sql(f"CREATE ANONYMIZED TABLE {_SLICED} AS POLICY {_POLICY} METHOD {method}")


def _achieved(connection: sqlanon.Connection) -> dict[str, float]:
    answer = connection.sql(f"CHECK {_SLICED}")
    heads = [description[0] for description in answer.description]
    return {row[heads.index("question")]: row[heads.index("achieved")] for row in answer.fetchall()}


def _first_patient(connection: sqlanon.Connection) -> Iterator[tuple[str, Value]]:
    """Yields what Table 1f says about its first patient, from the two published tables."""
    rows = connection.duckdb.execute(
        f"SELECT f_1, f_2, f_1 * f_2 / sum(f_1 * f_2) OVER () FROM (SELECT bucket, avg(({_FIRST})::INTEGER) AS f_1 "
        f"FROM {_SLICED}_1 GROUP BY bucket) JOIN (SELECT bucket, avg(({_PLACE})::INTEGER) AS f_2 FROM {_SLICED}_2 "
        "GROUP BY bucket) USING (bucket) ORDER BY f_1 DESC"
    ).fetchall()
    yield "t1, matching buckets", sum(first * second > 0 for first, second, _ in rows)
    for bucket, (first, second, share) in enumerate(rows, 1):
        yield f"f1(t1, B{bucket})", first
        yield f"f2(t1, B{bucket})", second
        yield f"p(t1, B{bucket})", share
    values = connection.duckdb.execute(
        f"SELECT disease, count(*) / sum(count(*)) OVER () FROM {_SLICED}_2 WHERE {_PLACE} AND bucket IN "
        f"(SELECT bucket FROM {_SLICED}_1 WHERE {_FIRST}) GROUP BY disease"
    ).fetchall()
    for disease, share in values:
        yield f"D(t1, B1)[{disease}]", share


def _first_bucket(connection: sqlanon.Connection) -> Iterator[tuple[str, Value]]:
    """Yields the tuples that match the first bucket of Table 1f."""
    bucket = f"(SELECT bucket FROM {_SLICED}_1 WHERE {_FIRST})"
    joined = (
        f"(SELECT DISTINCT * EXCLUDE bucket FROM {_SLICED}_1 JOIN {_SLICED}_2 USING (bucket) WHERE bucket = {bucket})"
    )
    [(tuples, fakes)] = connection.duckdb.execute(
        f"SELECT (SELECT count(*) FROM {joined}), (SELECT count(*) FROM (FROM {joined} EXCEPT FROM patients))"
    ).fetchall()
    yield "B1, matching tuples", tuples
    yield "B1, original tuples", tuples - fakes
    yield "B1, fake tuples", fakes


def _correlations(connection: sqlanon.Connection, selection: Selection) -> Correlations:
    """Returns phi2 of every two attributes, from EXPLAIN."""
    adult.take(connection, selection)
    policy = adult.declare(connection, selection, "k_anonymity(k => 2)")
    answer = connection.sql(
        f"EXPLAIN VERBOSE ANONYMIZED TABLE explained AS POLICY {policy} "
        "METHOD slicing(l => 2, grouping => 'random', bucket_size => 1000)"
    )
    phi: dict[str, dict[str, float]] = {name: {} for name in selection.attributes}
    for _, item, detail in answer.fetchall():
        if item.startswith("correlation of "):
            first = item.removeprefix("correlation of ")
            for pair in detail.split(", "):
                second, number = pair.split(" ")
                phi[first][second] = phi[second][first] = float(number)
    return phi


def _clustered(phi: Correlations) -> list[list[str]]:
    """Returns five columns around the medoids with the least sum of distances.

    Each attribute is in the column of the medoid with which it correlates most. The occupation is an attribute like the
    others, without a requirement, as in the paper's section on membership.
    """
    medoids = min(combinations(phi, _FIVE), key=lambda chosen: sum(1 - max(_near(phi, name, chosen)) for name in phi))
    columns: dict[str, list[str]] = {medoid: [] for medoid in medoids}
    for name in phi:
        near = _near(phi, name, medoids)
        columns[medoids[near.index(max(near))]].append(name)
    return list(columns.values())


def _near(phi: Correlations, name: str, medoids: Sequence[str]) -> list[float]:
    return [1 if name == medoid else phi[name][medoid] for medoid in medoids]


def _columns(connection: sqlanon.Connection) -> Iterator[tuple[str, Value]]:
    """Yields the attributes that correlate most with the occupation, and five columns by correlation."""
    for selection in (OCC_7, OCC_15):
        phi = _correlations(connection, selection)
        closest = sorted(phi[SENSITIVE], key=lambda name: -phi[SENSITIVE][name])
        yield f"{selection.name}, closest to the occupation", closest[0]
        yield f"{selection.name}, next closest", closest[1]
        found = _clustered(phi)
        for name in ("age",) if selection is OCC_7 else ("age", SENSITIVE, "race", "fnlwgt", "capital_loss"):
            [column] = (column for column in found if name in column)
            yield f"{selection.name}, five columns, with {name}", _words(column)


def _words(column: Sequence[str]) -> str:
    return ", ".join(sorted(column))


def _costs(connection: sqlanon.Connection) -> Iterator[Sequence[str]]:
    """Yields the sum of distances to the medoids: for the columns found here, and for the paper's."""
    for selection in (OCC_7, OCC_15):
        phi = _correlations(connection, selection)
        for name, chosen in (("here", _clustered(phi)), ("the paper", _PAPER[selection.name])):
            shown = ", ".join(f"({_words(column)})" for column in chosen)
            yield (selection.name, name, shown, cell(sum(_cost(phi, column) for column in chosen)))


def _cost(phi: Correlations, column: Sequence[str]) -> float:
    """Returns the least sum of distances, 1 - phi2, from the attributes of a column to one of them."""
    return min(sum(1 - phi[medoid][other] for other in column if other != medoid) for medoid in column)


def _closest(connection: sqlanon.Connection) -> Iterator[Sequence[str]]:
    """Yields phi2 of each text with the occupation, and phi2 if `?` counts as a value of the domains."""
    phi = _correlations(connection, OCC_15)[SENSITIVE]
    for name in sorted((name for name in phi if not OCC_15.numeric(name)), key=lambda name: -phi[name]):
        complete, every = (_values(connection, name, relation) for relation in ("people", "adult"))
        yield (name, cell(phi[name]), cell(phi[name] * complete / every))


def _values(connection: sqlanon.Connection, name: str, relation: str) -> int:
    """Returns the lesser number of values of an attribute and the occupation, less 1, as in phi2."""
    counts = ", ".join(f"count(DISTINCT coalesce({column}, '?'))" for column in (name, SENSITIVE))
    [sizes] = connection.duckdb.execute(f"SELECT {counts} FROM {relation}").fetchall()
    return int(min(sizes)) - 1


def _attributes(connection: sqlanon.Connection) -> Iterator[tuple[str, Value]]:
    names = [name for name in OCC_15.attributes if name not in _UNCOUNTED]
    counts = ", ".join(f"count(DISTINCT {name})" for name in names)
    [row] = connection.duckdb.execute(f"SELECT count(*), {counts} FROM people").fetchall()
    yield from zip(("rows", *names), row, strict=True)


def _unique(connection: sqlanon.Connection) -> Iterator[tuple[str, Value]]:
    """Yields how many combinations of quasi-identifiers occur once."""
    for selection in (OCC_7, OCC_15):
        query = f"SELECT 1 FROM people GROUP BY {', '.join(selection.quasi_identifiers)} HAVING count(*) = 1"
        [(combinations,)] = connection.duckdb.execute(f"SELECT count(*) FROM ({query})").fetchall()
        yield f"{selection.name}, combinations that occur once", combinations


def _fakes(connection: sqlanon.Connection) -> Iterator[tuple[str, Value]]:
    """Yields the figures of random buckets of 100 rows, with ages in intervals and the column (sex, occupation)."""
    found = membership.matched(membership.version(connection, "ages", ages=membership.AGES), membership.COLUMNS)
    figures = (found.fakes, found.often, found.rows_often) if found else (None, None, None)
    names = (
        "Figure 7(a), fakes",
        "Figure 8(a), fakes in more than 20 buckets",
        "Figure 8(a), originals in more than 20 buckets",
    )
    yield from zip(names, figures, strict=True)


def _claims(connection: sqlanon.Connection) -> Iterator[tuple[str, Value]]:
    # scikit-learn is an extra, and the other groups do without.
    from benchmarks.papers import classification

    yield from classification.claims(connection)


GROUPS: Mapping[str, Computation] = {
    "example": _example,
    "attributes": _attributes,
    "columns": _columns,
    "unique": _unique,
    "claims": _claims,
    "fakes": _fakes,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the tables of the parts."""
    options = _parser().parse_args(arguments)
    rows = options.rows or (_QUICK_ROWS if options.quick else None)
    with adult.connected(rows, options.seed) as connection:
        for part in options.part or PARTS:
            for selection in _selections(part, options.selection):
                for line in _lines(connection, adult.described(connection, selection), part, options):
                    print(line, flush=True)
                print()
    return 0


def _selections(part: str, names: Sequence[str]) -> list[Selection]:
    """Returns the selections of a part: of a part with one table, OCC-15."""
    chosen = (OCC_15,) if part in _ONE_TABLE else (OCC_7, OCC_15)
    return [selection for selection in chosen if selection.name in names]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers.slicing", description=__doc__)
    parser.add_argument("--part", action="append", choices=PARTS, help="this part; can be repeated (default: all)")
    names = [OCC_7.name, OCC_15.name]
    parser.add_argument("--selection", nargs="+", choices=names, default=names, help="of Adult's attributes")
    parser.add_argument("--quick", action="store_true", help="few rows, one fold and one run: does everything work?")
    parser.add_argument("--rows", type=int, metavar="N", help="so many rows of Adult instead of all complete ones")
    parser.add_argument("--folds", type=int, metavar="N", help=f"so many of the {FOLDS} folds (default: all)")
    parser.add_argument("--runs", type=int, metavar="N", help=f"runs of each statement (default {_RUNS})")
    parser.add_argument("--only", nargs="+", default=[""], metavar="NAME", help="parts of the names of releases")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of folds and joins; releases draw as always")
    return parser


def _lines(
    connection: sqlanon.Connection, selection: Selection, part: str, options: argparse.Namespace
) -> Iterator[str]:
    runs = options.runs or (_QUICK_RUNS if options.quick else _RUNS)
    timed = [setting for setting in TIMED if any(name in setting.name for name in options.only)]
    if part == "classification":
        # scikit-learn is an extra, and the other parts do without.
        from benchmarks.papers import classification

        folds = options.folds or (_QUICK_FOLDS if options.quick else FOLDS)
        settings = [setting for setting in SETTINGS if any(name in setting.name for name in options.only)]
        yield from classification.lines(connection, selection, settings, folds, options.seed)
    elif part == "rows":
        most = connection.duckdb.execute("SELECT count(*) FROM people").fetchall()[0][0]
        rows = [number for number in efficiency.ROWS if number <= most] or [most // 2, most]
        yield from efficiency.by_rows(connection, selection, timed, rows, runs)
    elif part == "attributes":
        numbers = range(len(OCC_7.attributes), len(OCC_15.attributes) + 1, 2)
        yield from efficiency.by_attributes(connection, selection, timed, numbers, runs)
    elif part == "claims":
        from benchmarks.papers import classification

        heads = (
            "selection",
            "release, l",
            *(f"{target}, {learner}" for target in classification.CLAIMED for learner in ("tree", "Bayes")),
        )
        yield from table(heads, classification.accuracies(connection))
    elif part == "fakes":
        yield from membership.intervals(connection)
        yield ""
        yield from membership.nearest(connection, quick=options.quick)
    elif part == "columns":
        yield from table(("selection", "by", "columns", "sum of distances"), _costs(connection))
        yield ""
        yield from table(("attribute", "phi2 with the occupation", "with ? in the domains"), _closest(connection))
    else:
        sizes = (10, 100) if options.quick else (10, 100, 500, 1000)
        yield from membership.lines(connection, selection, sizes, (2, 5), options.seed)


if __name__ == "__main__":
    sys.exit(main())
