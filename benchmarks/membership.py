"""Ranks people by how likely they are in a release of Adult, for every method: `python -m benchmarks.membership`.

Half of the people are in the source. One ranking is ATTACK ... WITH membership: the number of rows that ESTIMATE counts
for a person, or, if ESTIMATE cannot answer, the number of rows that may belong to the person, counted in SQL. The other
ranking knows the policy, makes releases of other people (shadow releases), and ranks by the distance of the estimate
from the estimates of shadow releases without the person (Carlini et al., Membership inference attacks from first
principles, 2022).

With noise of epsilon, no ranking names more than e^epsilon times the share of the people in the source as of the
others.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations
from pathlib import Path
from statistics import fmean, pstdev

import sqlanon
from benchmarks import databases
from benchmarks.data import CENSUS, prepared
from sqlanon.domain.requests import BUDGET
from sqlanon.errors import SqlanonError
from sqlanon.methods import registry
from sqlanon.methods.shared.arguments import called
from tools.method_lists import example_arguments

__all__ = ["main", "named", "releases"]

_SENSITIVE = str(CENSUS.sensitive)
_COLUMNS = (*CENSUS.columns, _SENSITIVE)
_RATES = (0.001, 0.01, 0.1)
_EPSILONS = (Decimal("0.5"), 1, 2)
# Further calls of methods that publish something else with an argument than in their examples.
_FURTHER = ("generalization(recoding => 'local')", "mondrian(publish => 'none')")
_KEY = "SQLANON_MEMBERSHIP_KEY"

# query_id and score: the rows that ESTIMATE counts for each of the known people.
_ESTIMATED = (
    "SELECT query_id, coalesce(estimated, 0) + 1e-9 * coalesce(high, 0) AS score FROM anon.query_error "
    "WHERE workload = 'known'"
)


@dataclass(frozen=True)
class Release:
    """A release that is attacked: `before` has statements to run before each release, `scores` ranks the known people.

    Without `scores` the estimates rank them.
    """

    method: str
    policy: str
    call: str
    before: str = ""
    scores: str = ""


def releases() -> Iterator[Release]:
    """Yields the unchanged rows, and a release by every method on a policy that fits its declaration."""
    yield Release("rows as they are", "intact", registry.competitor(by_levels=True))
    for name in registry.METHODS:
        method = registry.find_method(name)
        arguments = dict(example_arguments(method))
        limits = method.limits(method.options(tuple(arguments.items())))
        call = called(name, arguments)
        if BUDGET in arguments:
            for epsilon in _EPSILONS:
                inside = {**arguments, "epsilon": epsilon, BUDGET: "noise"}
                shown = arguments.get("by", _COLUMNS)
                assert isinstance(shown, tuple)
                counted = "n" if "by" in arguments else "1"
                scores = _rows_with_pairs([str(column) for column in shown], counted)
                yield Release(f"{name}, epsilon {epsilon}", "noisy", called(name, inside), scores=scores)
        elif limits.without_related:
            yield Release(call, "related", call, scores=_people_that_fit())
        elif limits.without_series:
            before = "CREATE SERIES s ON POLICY respondents KEY '{key}' REQUIRE m_invariance(m => 3);"
            yield Release(call, "respondents", f"{call} IN SERIES s", before.format(key=_KEY), _rows_of_buckets())
        elif limits.unconstrained:
            yield Release(call, "apart", call)
        elif limits.requirements:
            yield Release(call, "baskets", call, scores=_lists_that_fit())
        else:
            yield Release(call, "census", call)
            yield from (Release(each, "census", each) for each in _FURTHER if each.startswith(f"{name}("))


def _rows_with_pairs(columns: Sequence[str], counted: str) -> str:
    """Returns a query of the rows with two of a person's values, summed over pairs of columns."""
    pairs = [
        f"SELECT query_id, r.n AS score FROM known JOIN everybody e USING (person) JOIN (SELECT {a}, {b}, "
        f"sum({counted}) AS n FROM r GROUP BY ALL) AS r ON e.{a} IS NOT DISTINCT FROM r.{a} "
        f"AND e.{b} IS NOT DISTINCT FROM r.{b}"
        for a, b in combinations(columns, 2)
    ]
    return f"SELECT query_id, sum(score)::DOUBLE AS score FROM ({' UNION ALL '.join(pairs)}) GROUP BY query_id"


def _rows_of_buckets() -> str:
    """Returns a query of the estimates of rows in buckets, for which ESTIMATE would answer one query at a time."""
    same = " AND ".join(f"e.{c} IS NOT DISTINCT FROM q.{c}" for c in CENSUS.columns)
    return (
        f"SELECT query_id, sum(share) AS score FROM known JOIN everybody e USING (person) JOIN r_qi AS q ON {same} "
        "JOIN (SELECT bucket, value, count / sum(count) OVER (PARTITION BY bucket) AS share FROM r_sensitive) AS v "
        f"ON v.bucket = q.bucket AND v.value IS NOT DISTINCT FROM e.{_SENSITIVE} GROUP BY query_id"
    )


def _people_that_fit() -> str:
    """Returns a query of the published people whose labels equal a person's values or are stars.

    A star counts as each value of its column with equal probability.
    """
    weights = [
        f"CASE WHEN r.{c} = e.{c}::VARCHAR THEN 1.0 WHEN r.{c} = '*' THEN 1.0 / (SELECT count(DISTINCT {c}) "
        "FROM everybody) ELSE 0.0 END"
        for c in _COLUMNS
    ]
    return (
        f"SELECT query_id, sum({' * '.join(weights)}) AS score FROM known JOIN everybody e USING (person), "
        f"(SELECT * FROM r_people JOIN r_jobs USING (person)) AS r GROUP BY query_id"
    )


def _lists_that_fit() -> str:
    """Returns a query of the published lists that have a label for each item of a person's list."""
    fits = (
        "list_bool_and(list_transform(e.items, lambda i: list_contains(r.items, i) "
        "OR list_contains(r.items, split_part(i, '=', 1)) OR list_contains(r.items, '*')))"
    )
    return (
        f"SELECT query_id, count(*) FILTER ({fits})::DOUBLE AS score "
        "FROM known JOIN listed e USING (person), r GROUP BY query_id"
    )


def named(scores: Sequence[float], members: Sequence[bool], rate: float) -> float:
    """Returns the share of members named at the threshold that names the share `rate` of the others, best scores first.

    People with equal scores are named with equal probability.
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
    """Prints the share of the people in the source that each ranking names, at fixed shares of the others."""
    given = _parser().parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="sqlanon-membership-") as folder:
        kept = given.data or Path(folder)
        kept.mkdir(parents=True, exist_ok=True)
        with databases.working_copy(CENSUS, prepared(CENSUS, 2 * given.rows, kept, _note)) as connection:
            _prepare(connection, given.rows, given.people)
            print("| release | ranking | " + " | ".join(f"{100 * rate:g} %" for rate in _RATES) + " |")
            print("| --- | --- |" + " ---: |" * len(_RATES))
            for each in releases():
                if any(part in each.method for part in given.only):
                    _note(each.method)
                    for ranking, shares in _shares(connection, each, given.shadows):
                        figures = " | ".join(f"{100 * share:.1f} %" for share in shares)
                        print(f"| {each.method} | {ranking} | {figures} |", flush=True)
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
    """Creates the tables everybody(person, drawn, ...) and known(query_id, person), the policies, and the workload."""
    roles = ", ".join(f"{name} QUASI IDENTIFIER" for name in CENSUS.columns)
    listed = ", ".join(f"{name} QUASI IDENTIFIER USING all_{name}" for name in CENSUS.columns)
    conditions = " || ' AND ' || ".join(
        f"coalesce('{name} IN (' || {'age' if name == 'age' else _quoted(name)} || ')', '{name} IS NULL')"
        for name in _COLUMNS
    )
    items = ", ".join(f"'{name}=' || {name}" for name in _COLUMNS)
    quasi = ", ".join(CENSUS.columns)
    required = "k_anonymity(k => 5), l_diversity(l => 3)"
    os.environ.setdefault(_KEY, "a key that nobody knows")
    connection.execute(
        f"CREATE TABLE everybody AS SELECT row_number() OVER () - 1 AS person, * FROM {CENSUS.name} LIMIT {2 * rows};"
        f"CREATE TABLE listed AS SELECT person, list_filter([{items}], lambda i: i IS NOT NULL) AS items "
        "FROM everybody;"
        "CREATE TABLE known AS SELECT person AS query_id, person FROM everybody "
        f"ORDER BY hash(person + 1000000000) ASC NULLS LAST LIMIT {people};"
        "CREATE TABLE people AS SELECT * FROM everybody JOIN listed USING (person) LIMIT 0;"
        + "".join(
            f"CREATE HIERARCHY all_{name} AS LEVELS (SELECT DISTINCT {name} FROM everybody WHERE {name} IS NOT NULL);"
            for name in _COLUMNS
        )
        + "CREATE HIERARCHY goods AS LEVELS (SELECT item, split_part(item, '=', 1) FROM "
        "(SELECT DISTINCT unnest(items) AS item FROM listed) AS t);"
        f"CREATE POLICY census ON people ({roles}, {_SENSITIVE} SENSITIVE) REQUIRE {required};"
        f"CREATE POLICY noisy ON people ({listed}, {_SENSITIVE} SENSITIVE USING all_{_SENSITIVE}) REQUIRE {required};"
        f"CREATE POLICY intact ON people ({roles}, {_SENSITIVE} SENSITIVE) REQUIRE k_anonymity(k => 1);"
        "CREATE BUDGET noise ON POLICY noisy (epsilon => 1000);"
        f"CREATE POLICY respondents ON people (person ENTITY, {roles}, {_SENSITIVE} SENSITIVE) "
        "REQUIRE l_diversity(l => 3, variant => 'probabilistic');"
        f"CREATE POLICY apart ON people ({roles}, {_SENSITIVE} SENSITIVE) "
        f"CONFIDENTIAL ({quasi}, {_SENSITIVE}) VISIBLE ({quasi});"
        "CREATE POLICY baskets ON people (items QUASI IDENTIFIER USING goods) REQUIRE km_anonymity(k => 5, m => 2);"
        f"CREATE POLICY related ON people (person ENTITY, {roles}) WITH TABLE (SELECT person, {_SENSITIVE} FROM "
        f"people) AS jobs ON (person) ({_SENSITIVE} QUASI IDENTIFIER) REQUIRE k_anonymity(k => 5)"
    )
    connection.duckdb.execute(
        "INSERT INTO anon.workload "
        f"SELECT 'known', query_id, 'SELECT count(*) AS n FROM people WHERE ' || {conditions} "
        "FROM known JOIN everybody USING (person)"
    )


def _quoted(name: str) -> str:
    return f"'''' || replace({name}, '''', '''''') || ''''"


def _shares(connection: sqlanon.Connection, each: Release, shadows: int) -> list[tuple[str, list[float]]]:
    scores: list[list[float]] = []
    inside: list[list[bool]] = []
    for number in range(shadows + 1):
        # A hash of several arguments would not do: its low bit is the XOR of theirs.
        drawn = f"hash(person * 1000 + {number}) % 2 = 0"
        connection.duckdb.execute(
            f"DELETE FROM people; INSERT INTO people SELECT * FROM everybody JOIN listed USING (person) WHERE {drawn}"
        )
        try:
            connection.execute(f"DROP ANONYMIZED TABLE IF EXISTS r; DROP SERIES IF EXISTS s; {each.before}")
            connection.execute(f"CREATE ANONYMIZED TABLE r AS POLICY {each.policy} METHOD {each.call}")
            if not each.scores:
                connection.execute("MEASURE r WITH WORKLOAD known")
        except SqlanonError as error:
            _note(str(error))
            return []
        rows = connection.duckdb.execute(
            f"SELECT coalesce(score, 0), {drawn} FROM known LEFT JOIN ({each.scores or _ESTIMATED}) AS t "
            "USING (query_id) ORDER BY query_id ASC NULLS LAST"
        ).fetchall()
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
