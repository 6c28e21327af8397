"""Measures what a release of Adult reveals about people whom it leaves out: `python -m benchmarks.left_out`.

The reader knows that somebody is in the source, does not find the person, and guesses the most frequent sensitive value
of the rows left out. The reader knows the number of rows of each value in the source; for the last columns, also the
class that the person would have been in, and its values.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import sqlanon
from benchmarks import databases
from benchmarks.data import CENSUS, prepared
from sqlanon.clients.terminal.demo import ADULT_COMPLETE_ROWS
from sqlanon.errors import PrivacyViolation

__all__ = ["main"]

_LABELLED, _POLICY = "labelled", "left_out"
_GENERALIZED = "generalization(suppression => 0.02)"
_LOCAL = "generalization(suppression => 0.02, recoding => 'local')"
_LATER = 20  # One row in so many comes after a live view was made.


@dataclass(frozen=True)
class _Case:
    """A release to measure; `promised` is the greatest share of a value that it allows anywhere, if it bounds the
    share.

    `required` is the policy's requirement, `apart` the columns of a CONFIDENTIAL set, whose last column is guessed.
    """

    what: str
    promised: str
    call: str
    required: str = ""
    apart: tuple[str, ...] = ()
    kind: str = "table"

    @property
    def release(self) -> str:
        return f"a_{self.kind}"

    @property
    def guessed(self) -> str:
        return self.apart[-1] if self.apart else str(CENSUS.sensitive)


def _diverse(l: int) -> str:  # noqa: E741 - the papers' name
    return f"l_diversity(l => {l}, variant => 'probabilistic')"


_SET = (*CENSUS.columns, str(CENSUS.sensitive))
_EDUCATION = ("age", "sex", "race", "occupation", "education")
_CASES = (
    _Case("generalization, k = 5", "-", _GENERALIZED, "k_anonymity(k => 5)"),
    _Case("generalization, l = 3", "33.3 %", _GENERALIZED, _diverse(3)),
    _Case("generalization, l = 5", "20.0 %", _GENERALIZED, _diverse(5)),
    _Case("generalization, t = 0.15", "28.3 %", _GENERALIZED, "t_closeness(t => 0.15, distance => 'equal')"),
    _Case("local recoding, l = 3", "33.3 %", _LOCAL, _diverse(3)),
    _Case("local recoding, t = 0.15", "28.3 %", _LOCAL, "t_closeness(t => 0.15, distance => 'equal')"),
    _Case("live view of generalization, l = 3", "33.3 %", _GENERALIZED, _diverse(3), kind="view"),
    _Case("live view of Mondrian, l = 3", "33.3 %", "mondrian", _diverse(3), kind="view"),
    _Case("Mondrian, l = 3", "33.3 %", "mondrian", _diverse(3)),
    _Case("Mondrian in buckets, l = 3", "33.3 %", "mondrian(publish => 'none')", _diverse(3)),
    _Case("Anatomy, l = 3", "33.3 %", "anatomy(l => 3)", "k_anonymity(k => 2)"),
    _Case("loose, k = 4", "25.0 %", "loose(k => 4)", apart=_SET),
    _Case("loose, k = 4, near", "25.0 %", "loose(k => 4, near => true)", apart=_SET),
    _Case("loose, k = 7", "14.3 %", "loose(k => 7, groups => (7, 1))", apart=_SET),
    _Case("loose, k = 4, education", "25.0 %", "loose(k => 4)", apart=_EDUCATION),
    _Case("loose, k = 3, education", "33.3 %", "loose(k => 3, groups => (3, 1))", apart=_EDUCATION),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the shares of the most frequent value in percent, one line for each method."""
    given = _parser().parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="sqlanon-left-out-") as folder:
        kept = given.data or Path(folder)
        kept.mkdir(parents=True, exist_ok=True)
        with databases.working_copy(CENSUS, prepared(CENSUS, given.rows, kept, _note)) as connection:
            _number(connection)
            print("| release | promised | rows left out | of all rows | of those left out | in the class | one value |")
            print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
            for case in (one for one in _CASES if not given.only or given.only in one.what):
                _note(case.what)
                print(f"| {' | '.join(_line(connection, case))} |", flush=True)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.left_out", description=__doc__)
    parser.add_argument("--only", metavar="TEXT", help="the lines whose name has this in it")
    parser.add_argument("--rows", type=int, default=ADULT_COMPLETE_ROWS, metavar="N")
    parser.add_argument("--data", type=Path, metavar="DIR", help="keep the table here and use it again")
    return parser


def _number(connection: sqlanon.Connection) -> None:
    """Numbers all people in a column that releases show, so that people in no release are known."""
    connection.execute(
        f"CREATE TABLE everybody AS SELECT row_number() OVER () AS person, * FROM {CENSUS.name};"
        f"DROP TABLE {CENSUS.name}; CREATE TABLE {CENSUS.name} AS FROM everybody"
    )


def _line(connection: sqlanon.Connection, case: _Case) -> Iterator[str]:
    yield from (case.what, case.promised)
    try:
        _publish(connection, case)
    except PrivacyViolation as error:
        _note(f"{case.call}: {error}")
        yield from ("not published", *"-" * 4)
        return
    _missing(connection, case)
    ((rows, every, left),) = connection.duckdb.execute(_shares(case.guessed)).fetchall()
    yield from (f"{rows:,}", _percent(every), _percent(left))
    yield from map(_percent, _by_class(connection, case) if rows else (None, None))


def _publish(connection: sqlanon.Connection, case: _Case) -> None:
    """Makes the release with everybody's number; for a live view the last rows are inserted after it is made."""
    connection.execute(f"CREATE OR REPLACE TABLE {CENSUS.name} AS FROM everybody")
    if case.kind == "view":
        connection.execute(f"DELETE FROM {CENSUS.name} WHERE person % {_LATER} = 0")
    connection.execute(_policy(case))
    made = f"ANONYMIZED {case.kind.upper()} {case.release}"
    connection.sql(f"CREATE OR REPLACE {made} AS POLICY {_POLICY} METHOD {case.call}")
    connection.execute(f"INSERT INTO {CENSUS.name} FROM everybody ANTI JOIN {CENSUS.name} USING (person)")


def _policy(case: _Case, levels: dict[str, int] | None = None) -> str:
    """Returns the statement that creates the policy; with `levels`, these levels are the only ones allowed."""
    fixed = {name: f" MIN LEVEL {level} MAX LEVEL {level}" for name, level in (levels or {}).items()}
    columns = [name for name in CENSUS.columns if name != case.guessed]
    quasi = [f"{name} QUASI IDENTIFIER USING adult_{name}{fixed.get(name, '')}" for name in columns]
    promise = f"CONFIDENTIAL ({', '.join(case.apart)})" if case.apart else f"REQUIRE {case.required}"
    other = [f"{name} INSENSITIVE" for name in case.apart if name not in (*columns, case.guessed)]
    return (
        f"CREATE OR REPLACE POLICY {_POLICY} ON {CENSUS.name} (person INSENSITIVE, {', '.join([*quasi, *other])}, "
        f"{case.guessed} SENSITIVE) {promise}"
    )


def _missing(connection: sqlanon.Connection, case: _Case) -> None:
    """Creates the table `missing`: all people in the source who are in no table of the release."""
    names = "SELECT view_name FROM duckdb_views() UNION ALL SELECT table_name FROM duckdb_tables()"
    held = connection.duckdb.execute(f"FROM ({names}) WHERE view_name ^@ '{case.release}'").fetchall()
    columns = "SELECT count(*) FROM duckdb_columns() WHERE table_name = ? AND column_name = 'person'"
    (shown,) = [name for (name,) in held if connection.duckdb.execute(columns, [name]).fetchall() == [(1,)]]
    connection.execute(f"CREATE OR REPLACE TABLE missing AS FROM {CENSUS.name} ANTI JOIN {shown} USING (person)")


def _shares(guessed: str) -> str:
    """Returns the query that counts the missing rows, and the share of the most frequent value among all and missing
    rows.
    """
    most = f"(SELECT max(n) / sum(n) FROM (SELECT count(*) AS n FROM {{}} GROUP BY {guessed}))"
    return f"SELECT (SELECT count(*) FROM missing), {most.format(CENSUS.name)}, {most.format('missing')}"


def _by_class(connection: sqlanon.Connection, case: _Case) -> tuple[float | None, float | None]:
    """Returns how often the class's most frequent value is right, and the share of rows in classes with one value.

    The class of a row is all rows left out with the same labels at the levels of the last round.
    """
    found = connection.duckdb.execute(
        "SELECT attribute, coalesce(max(r.level), max(a.level)) FROM anon.release_attribute AS a "
        "LEFT JOIN anon.release_round AS r USING (release_id, attribute) JOIN anon.release USING (release_id) "
        "WHERE object_name = ? AND a.level IS NOT NULL GROUP BY attribute",
        [case.release],
    ).fetchall()
    if not found:
        return None, None
    everybody = _Case("", "", _GENERALIZED, "k_anonymity(k => 1)")
    connection.execute(_policy(everybody, dict(found)))
    connection.sql(
        f"CREATE OR REPLACE ANONYMIZED TABLE {_LABELLED} AS POLICY {_POLICY} METHOD generalization(suppression => 0)"
    )
    quasi = ", ".join(CENSUS.columns)
    classes = (
        f"SELECT max(n) AS most, sum(n) AS rows FROM (SELECT {quasi}, l.{case.guessed}, count(*) AS n "
        f"FROM {_LABELLED} AS l SEMI JOIN missing USING (person) GROUP BY ALL) GROUP BY {quasi}"
    )
    query = f"SELECT sum(most) / sum(rows), coalesce(sum(rows) FILTER (most = rows), 0) / sum(rows) FROM ({classes})"
    ((right, alone),) = connection.duckdb.execute(query).fetchall()
    return right, alone


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"


def _note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
