"""ESTIMATE ... UNDER BUDGET against packages that answer with noise, at equal epsilon: errors, and processor time."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean, median

import sqlanon
from benchmarks.context import Context
from benchmarks.figure import Figure
from benchmarks.rivals import HIGH, KEYS, LOW, Answers, measured, read

__all__ = ["run"]

_PYTHON = Path(".venv-rivals/bin/python")
# Their versions are in benchmarks/dp_rivals.txt.
_RIVALS = ("diffprivlib", "smartnoise-sql", "pipeline-dp")
# Beyond this number of rows it is left out: its rows are Python objects, and a run on a million takes over a minute.
_MOST_ROWS = {"pipeline-dp": 100_000}
# Errors do not depend on the number of rows, but need many runs.
_ERROR_ROWS, _ERROR_RUNS, _QUICK_RUNS = 5_000, 200, 3
_SIZES, _QUICK_SIZES = (_ERROR_ROWS, 100_000, 1_000_000), (1_000,)
_RUNS = 3
_SOURCE = f"""
SELECT i AS patient, 'd' || hash(i) % {len(KEYS)} AS disease, (hash(i, 1) % {HIGH + 1})::INTEGER AS bill
FROM range({{rows}}) AS t (i)
"""
_SETUP = """
CREATE POLICY clinic ON visits (patient ENTITY, disease QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2);
CREATE BUDGET b ON POLICY clinic (epsilon => 1000);
"""
_WITHIN = f"low => {LOW}, high => {HIGH}"
_KEYS = ", ".join(f"'{key}'" for key in KEYS)
_QUESTIONS = (
    f"ESTIMATE SELECT disease, count(*) AS n FROM visits GROUP BY disease "
    f"UNDER BUDGET b (epsilon => 1, keys => ({_KEYS}))",
    f"ESTIMATE SELECT sum(bill) AS n FROM visits UNDER BUDGET b (epsilon => 1, {_WITHIN})",
    f"ESTIMATE SELECT avg(bill) AS n FROM visits UNDER BUDGET b (epsilon => 1, {_WITHIN})",
)
_ERROR_MARK, _TIME_MARK = 1.0, 0.2
_SQL_RIVAL = "smartnoise-sql"

Found = Mapping[str, Sequence[float]]


def run(context: Context) -> Iterator[Figure]:
    """Yields the figures, with marks on all rivals' errors and on the processor time of the rival that answers SQL."""
    if not _PYTHON.exists():
        context.note(
            f"dp_rivals: there is no {_PYTHON}: python -m venv .venv-rivals && "
            f"{_PYTHON} -m pip install -r benchmarks/dp_rivals.txt"
        )
        return
    for rows in context.sizes_or(_SIZES, _QUICK_SIZES):
        runs = context.runs or (_ERROR_RUNS if rows == _ERROR_ROWS else _RUNS)
        with tempfile.TemporaryDirectory(prefix="sqlanon-rivals-", dir=context.folder) as folder:
            file = Path(folder) / "visits.csv"
            context.note(f"dp_rivals: sqlanon, {rows:,} rows")
            own = _own(file, rows, runs)
            for name in (each for each in _RIVALS if rows <= _MOST_ROWS.get(each, rows)):
                context.note(f"dp_rivals: {name}, {rows:,} rows")
                command = [str(_PYTHON), str(Path("benchmarks/rivals.py")), name, str(file), str(runs)]
                done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
                if done.returncode:
                    context.note(f"dp_rivals: skips {name}, which failed")
                    continue
                theirs: Found = json.loads(done.stdout.splitlines()[-1])
                yield from _figures(name, rows, runs, own, theirs)


def _own(file: Path, rows: int, runs: int) -> Found:
    """Answers by whole statements in SQL, including the ledger, on a table in memory."""
    with sqlanon.connect() as connection:
        connection.sql(f"CREATE TABLE visits AS {_SOURCE.format(rows=rows)}")
        connection.sql(f"COPY visits TO '{str(file).replace(chr(39), chr(39) * 2)}' (FORMAT csv)")
        connection.execute(_SETUP)

        def answers() -> Answers:
            counts, total, average = (connection.execute(question).fetchall() for question in _QUESTIONS)
            return {row[0]: row[1] for row in counts}, float(total[0][0]), float(average[0][0])

        return measured(answers, read(file), runs)


def _figures(name: str, rows: int, runs: int, own: Found, theirs: Found) -> Iterator[Figure]:
    if rows == _ERROR_ROWS:
        for question in ("counts", "sum", "average"):
            errors = mean(own[question]), mean(theirs[question])
            value = errors[0] / errors[1]
            # The standard error of a quotient of two means of errors of Laplace noise.
            off = 2 * value * (2 / len(own[question])) ** 0.5
            yield Figure(
                "dp_rivals",
                f"mean error of the {question}, over that of {name}",
                value,
                "x",
                value - off,
                value + off,
                rows=rows,
                runs=runs,
                mark=_ERROR_MARK,
                note=f"{errors[0]:.4g} and {errors[1]:.4g}",
            )
    seconds = [median(found["seconds"]) for found in (own, theirs)]
    shares = [taken / seconds[1] for taken in own["seconds"]]
    yield Figure(
        "dp_rivals",
        f"processor time of three questions, over that of {name}",
        median(shares),
        "x",
        min(shares),
        max(shares),
        rows=rows,
        runs=runs,
        seconds=seconds[0],
        baseline=name,
        baseline_seconds=seconds[1],
        mark=_TIME_MARK if name == _SQL_RIVAL else None,
    )
