"""Ranks of people by how likely they are in a release of Adult: `python -m benchmarks.membership`.

Half of the people are in the source. One ranking is that of ATTACK ... WITH membership: the rows that ESTIMATE counts
for a person. The other one knows the policy, makes releases of other people (shadow releases), and ranks by how far the
estimate is from those of shadow releases that the person is not in (Carlini et al., Membership inference attacks from
first principles, 2022).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, pstdev

import sqlanon
from benchmarks import databases
from benchmarks.data import CENSUS, prepared
from sqlanon.errors import SqlanonError

__all__ = ["main", "named"]

_SENSITIVE = str(CENSUS.sensitive)
_RATES = (0.001, 0.01, 0.1)
_RELEASES = {
    "generalization": "generalization",
    "generalization, local": "generalization(recoding => 'local')",
    "mondrian": "mondrian",
    "mondrian, publish none": "mondrian(publish => 'none')",
    "anatomy": "anatomy(l => 3)",
    "slicing": "slicing(l => 3)",
}


def named(scores: Sequence[float], members: Sequence[bool], rate: float) -> float:
    """The share of the members that are named where the same share of the others as `rate` is, the best scores first.

    People of one score are named with one probability.
    """
    allowed, right = rate * (len(members) - sum(members)), 0.0
    for score in sorted(set(scores), reverse=True):
        tied = [is_member for other, is_member in zip(scores, members, strict=True) if other == score]
        others = len(tied) - sum(tied)
        right += sum(tied) * (1.0 if others <= allowed else allowed / others)
        if others > allowed:
            break
        allowed -= others
    return right / max(1, sum(members))


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the shares of the people in the source that each ranking names at fixed shares of the others."""
    given = _parser().parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="sqlanon-membership-") as folder:
        kept = given.data or Path(folder)
        kept.mkdir(parents=True, exist_ok=True)
        with databases.working_copy(CENSUS, prepared(CENSUS, 2 * given.rows, kept, _note)) as connection:
            _prepare(connection, given.rows, given.people)
            print("| release | ranking | " + " | ".join(f"{100 * rate:g} %" for rate in _RATES) + " |")
            print("| --- | --- |" + " ---: |" * len(_RATES))
            for name, call in _RELEASES.items():
                if any(part in name for part in given.only):
                    _note(name)
                    for ranking, shares in _shares(connection, call, given.shadows):
                        figures = " | ".join(f"{100 * share:.1f} %" for share in shares)
                        print(f"| {name} | {ranking} | {figures} |", flush=True)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.membership", description=__doc__)
    parser.add_argument("--only", nargs="+", default=[""], metavar="NAME", help="parts of the releases' names")
    parser.add_argument("--rows", type=int, default=4000, metavar="N", help="the rows of the source")
    parser.add_argument("--people", type=int, default=2000, metavar="N", help="how many people are ranked")
    parser.add_argument("--shadows", type=int, default=8, metavar="N", help="how many shadow releases are made")
    parser.add_argument("--data", type=Path, metavar="DIR", help="keep the table here and use it again")
    return parser


def _prepare(connection: sqlanon.Connection, rows: int, people: int) -> None:
    """The tables everybody(person, drawn, ...) and known(query_id, person), and the workload that asks about these."""
    columns = (*CENSUS.columns, _SENSITIVE)
    roles = ", ".join(f"{name} QUASI IDENTIFIER" for name in CENSUS.columns)
    conditions = " || ' AND ' || ".join(
        f"coalesce('{name} IN (' || {'age' if name == 'age' else _quoted(name)} || ')', '{name} IS NULL')"
        for name in columns
    )
    connection.execute(
        f"CREATE TABLE everybody AS SELECT row_number() OVER () - 1 AS person, * FROM {CENSUS.name} LIMIT {2 * rows};"
        "CREATE TABLE known AS SELECT person AS query_id, person FROM everybody "
        f"ORDER BY hash(person + 1000000000) ASC NULLS LAST LIMIT {people};"
        f"CREATE TABLE people AS SELECT {', '.join(columns)} FROM everybody LIMIT 0;"
        f"CREATE POLICY census ON people ({roles}, {_SENSITIVE} SENSITIVE) "
        "REQUIRE k_anonymity(k => 5), l_diversity(l => 3)"
    )
    connection.duckdb.execute(
        "INSERT INTO anon.workload "
        f"SELECT 'known', query_id, 'SELECT count(*) AS n FROM people WHERE ' || {conditions} "
        "FROM known JOIN everybody USING (person)"
    )


def _quoted(name: str) -> str:
    return f"'''' || replace({name}, '''', '''''') || ''''"


def _shares(connection: sqlanon.Connection, call: str, shadows: int) -> list[tuple[str, list[float]]]:
    scores: list[list[float]] = []
    inside: list[list[bool]] = []
    for number in range(shadows + 1):
        # A hash of several arguments would not do: its low bit is the XOR of theirs.
        drawn = f"hash(person * 1000 + {number}) % 2 = 0"
        columns = ", ".join((*CENSUS.columns, _SENSITIVE))
        connection.duckdb.execute(
            f"DELETE FROM people; INSERT INTO people SELECT {columns} FROM everybody WHERE {drawn}"
        )
        try:
            connection.execute(f"CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY census METHOD {call}")
        except SqlanonError as error:
            _note(str(error))
            return []
        # Errors of replaced releases are not this one's.
        connection.duckdb.execute("DELETE FROM anon.query_error")
        connection.execute("MEASURE r WITH WORKLOAD known")
        rows = connection.duckdb.execute(
            f"SELECT coalesce(estimated, 0) + 1e-9 * coalesce(high, 0), {drawn} FROM anon.query_error "
            "JOIN known USING (query_id) WHERE workload = 'known' ORDER BY query_id ASC NULLS LAST"
        ).fetchall()
        assert len(rows) == len(scores[0] if scores else rows)
        scores.append([float(score) for score, _ in rows])
        inside.append([bool(is_inside) for _, is_inside in rows])
    real, members = scores[0], inside[0]
    answers = [("estimates", [named(real, members, rate) for rate in _RATES])]
    if shadows:
        distances = []
        for person, score in enumerate(real):
            without = [scores[i][person] for i in range(1, shadows + 1) if not inside[i][person]]
            expected, deviation = (fmean(without), pstdev(without)) if without else (0.0, 0.0)
            distances.append((score - expected) / (deviation + 1e-3))
        answers.append((f"{shadows} shadow releases", [named(distances, members, rate) for rate in _RATES]))
    return answers


def _note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
