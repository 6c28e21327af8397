"""CHECK without REQUIRE: every model's figure and the risks of linkage, against naive versions over the rows."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from importlib import import_module
from math import inf, isclose
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlanon import Connection, connect
from sqlanon.sql.questions.load import load_question, question_names
from tests.oracles.models.support import Table

COLUMNS = ("a", "b", "s")
values = st.none() | st.integers(min_value=-2, max_value=2)
tables = st.lists(st.tuples(values, values, values), max_size=12)

# What every model is asked with: the arguments on which its figure depends.
CHOSEN: dict[str, dict[str, Any]] = {
    "recursive_l_diversity": {"l": 2, "c": Fraction(1)},
    "ck_safety": {"k": 2},
    "privacy_skyline": {},
    "epsilon_privacy": {"stubbornness": Fraction(0)},
    "delta_disclosure": {"delta": Fraction(1), "absent": "violates"},
}
# Names that say the arguments on which the figure depends.
LABELS = {
    "ck_safety": "ck_safety(k => 2)",
    "recursive_l_diversity": "recursive_l_diversity(l => 2)",
    "epsilon_privacy": "epsilon_privacy(stubbornness => 0)",
}
# These need a hierarchy, a table or a column of the user's.
BESIDES = (
    "hierarchical_t_closeness",
    "value_ranges",
    "epsilon_privacy_of_table",
    "privacy_skyline_of_table",
    "personalized",
)
# How far numbers may lie apart, and yet be near, is the user's to say.
BY_DISTANCE = ("proximity", "centred_proximity", "relative_proximity")
# Of how many rows a broader class has to be, as well.
OF_BROADER = tuple(name for name in question_names() if name.endswith("nt_closeness"))
OF_PUBLIC = ("k_map", "delta_presence")


def loaded(rows: list[tuple[Any, ...]], name: str = "t", con: Connection | None = None) -> Connection:
    con = con or connect()
    con.execute(f"CREATE OR REPLACE TABLE {name} (a INTEGER, b INTEGER, s INTEGER)")
    if rows:
        con.duckdb.executemany(f"INSERT INTO {name} VALUES (?, ?, ?)", rows)
    return con


def checked(con: Connection, statement: str) -> dict[tuple[str, str | None], float | None]:
    answer = con.execute(statement).fetchall()
    assert all(required is None and satisfied is None for *_, required, _, satisfied in answer)
    return {(question, attribute): achieved for _, question, attribute, _, achieved, _ in answer}


def oracle(name: str, table: Table) -> Any:
    arguments = CHOSEN.get(name)
    if arguments is None:
        arguments = {p.name: Fraction(1) if p.type == "DECIMAL" else 1 for p in load_question(name).parameters}
    return import_module(f"tests.oracles.models.{name}").achieved(table, **arguments)


@pytest.mark.long
@settings(max_examples=40, deadline=None)
@given(tables)
def test_the_figures_of_every_model(rows: list[tuple[Any, ...]]) -> None:
    figures = checked(loaded(rows), "CHECK t (a, b) SENSITIVE s")
    classes: dict[Any, list[int]] = defaultdict(list)
    for number, (a, b, _) in enumerate(rows):
        classes[a, b].append(number)
    table = Table(dict(classes), [s for *_, s in rows])
    for name in question_names():
        if name in (*BESIDES, *BY_DISTANCE, *OF_BROADER, *OF_PUBLIC):
            continue
        attribute = "s" if load_question(name).of_sensitive_values else None
        assert _same(figures.pop((LABELS.get(name, name), attribute)), oracle(name, table)), name
    sizes = [len(places) for places in classes.values()]
    expected = {
        "classes": len(sizes),
        "rows": len(rows),
        "unique_rows": sizes.count(1),
        "prosecutor_risk": max((1 / size for size in sizes), default=None),
        "marketer_risk": sum(1 / size for size in sizes for _ in range(size)) / len(rows) if rows else None,
    }
    assert figures.keys() == {(name, None) for name in expected}
    for name, figure in expected.items():
        assert _same(figures[name, None], figure), name


@pytest.mark.long
@settings(max_examples=40, deadline=None)
@given(tables, tables)
def test_the_journalist_looks_in_the_public_table(rows: list[tuple[Any, ...]], others: list[tuple[Any, ...]]) -> None:
    """By the definition: a journalist picks one of the public rows that match a row; who matches nobody is safe."""
    con = loaded(rows)
    loaded([*rows, *others], "public", con)
    figures = checked(con, "CHECK t (a, b) AGAINST public")
    matching = Counter((a, b) for a, b, _ in [*rows, *others])
    risks = [1 / matching[a, b] for a, b, _ in rows]
    assert _same(figures["journalist_risk", None], max(risks, default=None))
    assert _same(figures["journalist_risk_mean", None], sum(risks) / len(risks) if risks else None)
    assert _same(figures["k_map", None], min((matching[a, b] for a, b, _ in rows), default=None))


def test_the_hospital() -> None:
    """By hand: classes of 2, 2 and 1 rows; in the first both share a disease."""
    con = connect()
    con.execute(
        "CREATE TABLE p AS SELECT * FROM (VALUES (30, 'F', 'Flu'), (30, 'F', 'Flu'), (40, 'M', 'Flu'), "
        "(40, 'M', 'Cold'), (50, 'M', 'Cold')) AS t(age, sex, disease)"
    )
    figures = checked(con, "CHECK p (age, sex) SENSITIVE disease")
    assert figures["k_anonymity", None] == 1
    assert figures["unique_rows", None] == 1
    assert figures["prosecutor_risk", None] == 1
    assert figures["marketer_risk", None] == 0.6
    assert figures["distinct_l_diversity", "disease"] == 1
    assert figures["delta_disclosure", "disease"] == inf


@pytest.mark.parametrize("kind", ["INTEGER[]", "STRUCT(x INTEGER)", "MAP(VARCHAR, INTEGER)"])
def test_values_made_of_others_have_the_figures_that_compare_them_whole(kind: str) -> None:
    con = connect()
    con.execute(f"CREATE TABLE t (a INTEGER, s {kind}); INSERT INTO t VALUES (1, NULL), (1, NULL), (2, NULL)")
    figures = checked(con, "CHECK t (a) SENSITIVE s")
    assert figures["distinct_l_diversity", "s"] == 1
    assert ("ordered_t_closeness", "s") not in figures


def test_a_hierarchy_adds_its_figure() -> None:
    con = loaded([(1, 1, 1), (1, 1, 2), (2, 2, 1)])
    con.execute("CREATE HIERARCHY twos AS INTERVALS (2)")
    assert ("hierarchical_t_closeness", "s") in checked(con, "CHECK t (a) SENSITIVE s USING twos")
    assert ("hierarchical_t_closeness", "s") not in checked(con, "CHECK t (a) SENSITIVE s")


def _same(figure: float | None, expected: Any) -> bool:
    if figure is None or expected is None:
        return figure is None and expected is None
    return figure == float(expected) or isclose(figure, float(expected), rel_tol=1e-9, abs_tol=1e-9)
