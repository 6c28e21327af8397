"""Compares sqlglot's builds: `python -m benchmarks.trees`, once with `sqlglotc` installed and once without.

The figure is processor time on one thread, the best of several runs, because other work can only add to it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.metadata import version

import sqlglot
import sqlglot.parser

import sqlanon
from sqlanon.sql.build.render import to_sql
from sqlanon.sql.questions.load import load_question, question_names

_RUNS = 7
_POLICY = """
CREATE TABLE visits AS SELECT i % 7 AS age, i % 5 AS ward, i % 3 AS sex, i % 4 AS disease FROM range(2000) AS r(i);
CREATE POLICY p ON visits (age QUASI IDENTIFIER, ward QUASI IDENTIFIER, sex QUASI IDENTIFIER, disease SENSITIVE)
REQUIRE k_anonymity(k => 3), l_diversity(l => 2), t_closeness(t => 0.5)
"""


def _milliseconds(work: Callable[[], object]) -> float:
    took = []
    for _ in range(_RUNS):
        begun = time.process_time()
        work()
        took.append(time.process_time() - begun)
    return min(took) * 1000


def main() -> None:
    """Prints one line for each figure."""
    plain = str(sqlglot.parser.__file__).endswith(".py")
    texts = [load_question(name).statement("violations") for name in question_names()]
    trees = [sqlglot.parse_one(text, dialect="duckdb") for text in texts]
    connection = sqlanon.connect()
    connection.execute("SET threads = 1")
    connection.script(_POLICY)
    figures: dict[str, Callable[[], object]] = {
        "parse all privacy models": lambda: [sqlglot.parse_one(text, dialect="duckdb") for text in texts],
        "write them as SQL": lambda: [to_sql(tree) for tree in trees],
        "EXPLAIN of a live view": lambda: connection.execute("EXPLAIN ANONYMIZED VIEW v AS POLICY p").fetchall(),
    }
    print(f"sqlglot {version('sqlglot')}, {'not compiled' if plain else 'compiled'}")
    for name, work in figures.items():
        print(f"{name}: {_milliseconds(work):.1f} ms")


if __name__ == "__main__":
    main()
