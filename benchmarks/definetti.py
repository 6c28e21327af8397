"""Measures what all buckets of a release of Adult reveal about one row: `python -m benchmarks.definetti`.

Kifer, Attacks on privacy and deFinetti's theorem (2009). A naive Bayes classifier learns from the released tables alone
which occupations go with which quasi-identifiers. It estimates the occupation of each row within its bucket, learns
again from these estimates, and so on. The source only serves to count the hits.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sqlanon
from benchmarks import databases
from benchmarks.data import CENSUS, prepared
from sqlanon.clients.terminal.demo import ADULT_COMPLETE_ROWS
from sqlanon.errors import PrivacyViolation

__all__ = ["Pairs", "beliefs", "main"]

_SENSITIVE = str(CENSUS.sensitive)
_QUASI = ", ".join(CENSUS.columns)
_ROUNDS = 30
# The number of times that rows and values are rescaled in turn, and the number added to each count.
_BALANCES, _SMOOTHING = 20, 1.0
_SURE = 0.9

Numbers = NDArray[np.int64]
Weights = NDArray[np.float64]

# The pairs of a row and a value that it may have, by the tables of a release.
_ANATOMY = """
    SELECT q.person, s.value, hash(q.bucket, s.value) AS cell, s.count AS held, q.bucket AS link, NULL AS links
    FROM r_qi AS q JOIN r_sensitive AS s USING (bucket)
"""
_ONE_TABLE = f"""
    SELECT q.person, s.value, hash(q.bucket, s.value) AS cell, s.held, q.bucket AS link, NULL AS links
    FROM r AS q JOIN (SELECT bucket, {_SENSITIVE} AS value, count(*) AS held FROM r GROUP BY ALL) AS s USING (bucket)
"""
_LOOSE = f"""
    SELECT q.person, s.value, hash(a.group_2, s.value) AS cell, s.held, hash(a.group_1, a.group_2) AS link, a.links
    FROM r_1 AS q
    JOIN (SELECT group_1, group_2, count(*) AS links FROM r_association GROUP BY ALL) AS a ON a.group_1 = q.group_id
    JOIN (SELECT group_id, {_SENSITIVE} AS value, count(*) AS held FROM r_2 GROUP BY ALL) AS s ON s.group_id = a.group_2
"""


@dataclass(frozen=True)
class _Release:
    """A release and its promise: in random worlds no value is likelier than `promised`."""

    name: str
    promised: float
    call: str
    requires: str
    pairs: str


def _anatomy(l: int, grouping: str) -> _Release:  # noqa: E741 - the papers' name
    return _Release(
        f"Anatomy l = {l}, {grouping}",
        1 / l,
        f"anatomy(l => {l}, grouping => '{grouping}')",
        f"REQUIRE k_anonymity(k => {l})",
        _ANATOMY,
    )


def _loose(k: int, arguments: str = "") -> _Release:
    return _Release(
        f"loose k = {k}{', near' if arguments else ''}",
        1 / k,
        f"loose(k => {k}{arguments}) FRAGMENTS (person, {_QUASI}), ({_SENSITIVE})",
        f"CONFIDENTIAL ({_QUASI}, {_SENSITIVE})",
        _LOOSE,
    )


_RELEASES = (
    *(_anatomy(l, "random") for l in (2, 3, 5, 7)),  # noqa: E741
    *(_anatomy(l, "near") for l in (3, 5)),  # noqa: E741
    _Release(
        "Mondrian, publish none, l = 3",
        1 / 3,
        "mondrian(publish => 'none')",
        "REQUIRE l_diversity(l => 3, variant => 'probabilistic')",
        _ONE_TABLE,
    ),
    *(_loose(k) for k in (4, 6, 9)),
    _loose(4, ", near => true"),
)


@dataclass(frozen=True)
class Pairs:
    """The rows of a release, each paired with every value that it may have.

    Each pair has `row` and `value`; `cell`, the value in its bucket, with `held`, the number of the bucket's rows that
    have it; and, where groups are associated, `link`, the two groups that are linked, with `links`, the number of rows
    in both. `codes` has for each quasi-identifier the code of each row. All are numbered from 0.
    """

    row: Numbers
    value: Numbers
    cell: Numbers
    held: Weights
    codes: Sequence[Numbers]
    link: Numbers | None = None
    links: Weights | None = None


def beliefs(pairs: Pairs, rounds: int = _ROUNDS) -> Weights:
    """Returns the weight of each pair after these rounds of learning; the weights of a row sum up to 1.

    The initial weight is the share of the bucket's rows with the value: the belief in random worlds.
    """
    weights = _balanced(pairs, pairs.held.copy())
    for _ in range(rounds):
        learned = np.zeros(len(pairs.row))
        for codes in pairs.codes:
            learned += np.log(_shares(pairs, codes, weights))
        most = np.full(int(pairs.row.max()) + 1, -np.inf)
        np.maximum.at(most, pairs.row, learned)
        weights = _balanced(pairs, pairs.held * np.exp(learned - most[pairs.row]))
    return weights


def _shares(pairs: Pairs, codes: Numbers, weights: Weights) -> Weights:
    """Returns for each pair the probability of the row's quasi-identifier given the value, by the weights."""
    values, kinds = int(pairs.value.max()) + 1, int(codes.max()) + 1
    place = codes[pairs.row] * values + pairs.value
    counts = np.bincount(place, weights, kinds * values) + _SMOOTHING
    shares = counts / np.tile(counts.reshape(kinds, values).sum(axis=0), kinds)
    return np.asarray(shares[place], dtype=np.float64)


def _balanced(pairs: Pairs, weights: Weights) -> Weights:
    """Rescales weights until each value has its published number of rows in a bucket, and each row one value."""
    for _ in range(_BALANCES):
        weights = _scaled(weights, pairs.cell, pairs.held)
        if pairs.link is not None and pairs.links is not None:
            weights = _scaled(weights, pairs.link, pairs.links)
        weights = _scaled(weights, pairs.row, np.ones(len(weights)))
    return weights


def _scaled(weights: Weights, of: Numbers, to: Weights) -> Weights:
    # Impossible pairs have such small weights that their sums may vanish.
    sums = np.maximum(np.bincount(of, weights), sys.float_info.min)
    return weights * (to / sums[of])


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints for how many rows of each release the attack names the right value."""
    given = _parser().parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="sqlanon-definetti-") as folder:
        kept = given.data or Path(folder)
        kept.mkdir(parents=True, exist_ok=True)
        with databases.working_copy(CENSUS, prepared(CENSUS, given.rows, kept, _note)) as connection:
            connection.execute(
                f"CREATE TABLE people AS SELECT row_number() OVER (ORDER BY {_QUASI}, {_SENSITIVE}) - 1 AS person, * "
                f"FROM {CENSUS.name}"
            )
            print("| release | promised | right | belief above 0.9 | right there | rows left out |")
            print("| --- |" + " ---: |" * 5)
            for release in (one for one in _RELEASES if any(name in one.name for name in given.only)):
                _note(release.name)
                print(_line(connection, release, given.rounds), flush=True)
            for name, hits in _baselines(connection).items():
                print(f"| {name} | - | {100 * hits:.1f} % | - | - | - |")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.definetti", description=__doc__)
    parser.add_argument("--only", nargs="+", default=[""], metavar="NAME", help="parts of the releases' names")
    parser.add_argument("--rounds", type=int, default=_ROUNDS, metavar="N")
    parser.add_argument("--rows", type=int, default=ADULT_COMPLETE_ROWS, metavar="N")
    parser.add_argument("--data", type=Path, metavar="DIR", help="keep the table here and use it again")
    return parser


def _line(connection: sqlanon.Connection, release: _Release, rounds: int) -> str:
    roles = ", ".join(f"{name} QUASI IDENTIFIER" for name in CENSUS.columns)
    connection.sql(
        f"CREATE OR REPLACE POLICY apart ON people (person INSENSITIVE, {roles}, {_SENSITIVE} SENSITIVE) "
        f"{release.requires}"
    )
    promised = f"| {release.name} | {100 * release.promised:.1f} % |"
    try:
        connection.sql(f"CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY apart METHOD {release.call}")
    except PrivacyViolation as error:
        _note(str(error))
        return f"{promised} refused | - | - | - |"
    people, pairs, truth = _pairs(connection, release.pairs)
    weights = beliefs(pairs, rounds)
    order = np.lexsort((weights, pairs.row))
    best = order[np.r_[np.flatnonzero(np.diff(pairs.row[order])), len(order) - 1]]
    right, sure = pairs.value[best] == truth, weights[best] > _SURE
    there = f"{100 * right[sure].mean():.1f} %" if sure.any() else "-"
    left_out = _table_rows(connection) - people
    return f"{promised} {100 * right.mean():.1f} % | {100 * sure.mean():.1f} % | {there} | {left_out:,} |"


def _table_rows(connection: sqlanon.Connection) -> int:
    return int(connection.duckdb.execute("SELECT count(*) FROM people").fetchall()[0][0])


def _pairs(connection: sqlanon.Connection, query: str) -> tuple[int, Pairs, Numbers]:
    """Returns the number of a release's rows, its pairs, and the value that each row has in the source."""
    found: dict[str, Any] = connection.duckdb.execute(
        f"SELECT p.*, t.{_SENSITIVE} AS truth, {_QUASI} "
        f"FROM ({query}) AS p JOIN people AS t USING (person) ORDER BY person"
    ).fetchnumpy()
    first, row = np.unique(found["person"], return_index=True, return_inverse=True)[1:]
    names, value = np.unique(found["value"].astype(str), return_inverse=True)
    associated = not np.ma.getmaskarray(np.ma.asarray(found["links"])).all()
    return (
        len(first),
        Pairs(
            row=row,
            value=value,
            cell=_numbered(found["cell"]),
            held=found["held"].astype(np.float64),
            codes=[_numbered(found[name][first]) for name in CENSUS.columns],
            link=_numbered(found["link"]) if associated else None,
            links=np.ma.getdata(found["links"]).astype(np.float64) if associated else None,
        ),
        np.searchsorted(names, found["truth"][first].astype(str)),
    )


def _numbered(column: NDArray[np.generic]) -> Numbers:
    """Converts the values of a column to numbers from 0."""
    whole = np.ma.getdata(column)
    return np.unique(whole.astype(str) if whole.dtype == object else whole, return_inverse=True)[1].astype(np.int64)


def _baselines(connection: sqlanon.Connection) -> dict[str, float]:
    """Measures guesses without a release: the most frequent value, and a classifier that knows half the source."""
    query = f"SELECT {_SENSITIVE}, {_QUASI} FROM people ORDER BY hash(person)"
    found: dict[str, Any] = connection.duckdb.execute(query).fetchnumpy()
    value = _numbered(found[_SENSITIVE])
    counts = np.bincount(value)
    half = len(value) // 2
    learned = np.log(np.bincount(value[:half], minlength=len(counts)) + _SMOOTHING)
    scores = np.tile(learned, (len(value) - half, 1))
    for name in CENSUS.columns:
        codes = _numbered(found[name])
        table = np.full((int(codes.max()) + 1, len(counts)), _SMOOTHING)
        np.add.at(table, (codes[:half], value[:half]), 1)
        scores += np.log(table / table.sum(axis=0))[codes[half:]]
    return {
        "the most frequent value": float(counts.max() / len(value)),
        "naive Bayes on half of the source": float((scores.argmax(axis=1) == value[half:]).mean()),
    }


def _note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
