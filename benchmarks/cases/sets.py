"""The search under requirements on sets of quasi-identifiers: two sets against all columns, and 56 sets against 21."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import sqlanon
from benchmarks import databases, plan
from benchmarks.context import Context
from benchmarks.data import ADULT
from benchmarks.figure import Figure, ratio
from benchmarks.measure import Timings, paired
from benchmarks.stages import StageTimes, timed_search
from sqlanon.methods.generalization.explain import Generalization

__all__ = ["run"]

_SIZES, _QUICK_SIZES = (100_000, 1_000_000), (30_000,)
_SENSITIVE = "occupation"
# The columns that a neighbor knows, and the columns that an employer knows; age and sex are in both.
_FIRST = ("age", "sex", "race", "marital_status", "native_country")
_SECOND = ("age", "sex", "workclass", "education", "salary_class")
_MODELS = {
    "k = 5": "k_anonymity(k => 5{on})",
    "k = 5, distinct l = 3": "k_anonymity(k => 5{on}), l_diversity(l => 3{on})",
    "k = 5, t = 0.2 equal": "k_anonymity(k => 5{on}), t_closeness(t => 0.2{on})",
}
_SUPPRESSIONS = ("0", "0.04")
# Seven columns without hierarchies, 128 nodes: a factor and the number of values of each.
_HOUSEHOLDS = {
    "urb": (1, 2),
    "roof": (3, 5),
    "walls": (7, 4),
    "water": (5, 9),
    "power": (2, 3),
    "relat": (11, 7),
    "sex": (1, 2),
}
_MANY_ROWS = 4_000


def run(context: Context) -> Iterator[Figure]:
    for rows in context.sizes_or(_SIZES, _QUICK_SIZES):
        with databases.working_copy(ADULT, context.file(ADULT, rows)) as connection:
            for name, models in _MODELS.items():
                for suppression in _SUPPRESSIONS:
                    context.note(f"sets, {name}, {suppression} suppressed, {rows:,} rows")
                    yield _measured(context, connection, rows, f"{name}, {suppression} suppressed", models, suppression)
    context.note(f"sets, 56 against 21, {_MANY_ROWS:,} rows")
    yield _many(context)


def _many(context: Context) -> Figure:
    """Compares sets of five and of four columns with sets of five: 2.67 times as many, the limit for the time."""
    found: dict[int, StageTimes] = {}
    with sqlanon.connect() as connection:
        values = ", ".join(f"(i * {factor}) % {number} AS {name}" for name, (factor, number) in _HOUSEHOLDS.items())
        connection.execute(f"CREATE TABLE households AS SELECT {values} FROM range({_MANY_ROWS}) AS t(i)")
        roles = ", ".join(f"{name} QUASI IDENTIFIER" for name in _HOUSEHOLDS)

        def searched(widths: Sequence[int]) -> Timings:
            sets = [columns for width in widths for columns in combinations(_HOUSEHOLDS, width)]
            asked = ", ".join(f"k_anonymity(k => 10, on => ({', '.join(columns)}))" for columns in sets)
            connection.execute(f"CREATE OR REPLACE POLICY p ON households ({roles}) REQUIRE {asked}")
            statement = "EXPLAIN ANONYMIZED TABLE r AS POLICY p METHOD generalization(suppression => 0.05)"
            found[len(sets)], _ = timed_search(connection, statement)
            return found[len(sets)].seconds

        samples = paired(lambda: searched([5])["solve"], lambda: searched([5, 4]), context.runs_at(_MANY_ROWS))
    figure = ratio("sets", "k = 10, 56 sets", _MANY_ROWS, samples["solve"], "the search with 21 of these sets")
    return replace(figure, stages={}, queries=dict(found[56].queries))


def _measured(
    context: Context, connection: sqlanon.Connection, rows: int, name: str, models: str, suppression: str
) -> Figure:
    quasi = tuple(dict.fromkeys((*_FIRST, *_SECOND)))
    found: dict[str, tuple[StageTimes, Generalization]] = {}

    def searched(way: str, requirements: str) -> StageTimes:
        databases.declare(connection, ADULT, quasi, (_SENSITIVE,), requirements)
        found[way] = timed_search(connection, databases.explain(suppression))
        return found[way][0]

    def together() -> float:
        return searched("together", models.format(on="")).seconds["solve"]

    def by_sets() -> Timings:
        each = (models.format(on=f", on => ({', '.join(columns)})") for columns in (_FIRST, _SECOND))
        return searched("by sets", ", ".join(each)).seconds

    samples = paired(together, by_sets, context.runs_at(rows))
    figure = ratio("sets", name, rows, samples["solve"], "the search with the same required of all columns")
    return figure.with_details(
        stages=samples,
        queries=found["by sets"][0].queries,
        operators=lambda: plan.of_statement(connection, databases.explain(suppression), ("solve",)),
        note="; ".join(map(_note, found, (choice for _, choice in found.values()))),
    )


def _note(way: str, choice: Generalization) -> str:
    checked = f"{choice.checked:,} of {choice.nodes:,} nodes"
    return f"{way} {checked}, loss {float(choice.loss):.3f}, {choice.suppressed:,} suppressed"
