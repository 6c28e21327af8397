"""Distances of secret numbers: figures by hand on the salaries of the t-closeness paper, and columns of all types.

The salaries, in thousands, are those of Li, Li and Venkatasubramanian (2007), table 3.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlanon import Connection, PolicyError, connect
from tests.oracles.models.support import Table
from tests.support.database import template
from tests.support.draws import draws

pytestmark = pytest.mark.drawn

SALARIES = {"first": (3, 4, 5), "second": (6, 8, 11), "third": (7, 9, 10)}
# Each model with what it is asked, and its figures for the three classes.
FIGURES = {
    "spread(least => 3)": (2, 5, 3),
    "ke_anonymity(k => 3, e => 3)": (2, 5, 3),
    "spread(least => 1, measure => 'variance')": (Fraction(2, 3), Fraction(38, 9), Fraction(14, 9)),
    "proximity(within => 1, max => 0.5)": (Fraction(2, 3), Fraction(1, 3), Fraction(2, 3)),
    "proximity(within => 2, max => 0.5)": (1, Fraction(2, 3), Fraction(2, 3)),
    "proximity(within => 1, max => 0.5, variant => 'centred')": (1, Fraction(1, 3), Fraction(2, 3)),
    "proximity(within => 0.25, max => 0.5, variant => 'relative')": (1, Fraction(2, 3), 1),
}
TYPES = ("INTEGER", "HUGEINT", "DECIMAL(9,2)", "DECIMAL(38,10)", "DOUBLE")
EPOCH = date(1970, 1, 1)


@pytest.fixture(scope="module")
def con() -> Connection:
    return connect()


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("asked", FIGURES)
def test_the_figures_of_three_classes(con: Connection, asked: str, kind: str) -> None:
    for numbers, figure in zip(SALARIES.values(), FIGURES[asked], strict=True):
        values = ", ".join(f"('all', {number}::{kind})" for number in numbers)
        ((*_, achieved, _),) = con.execute(
            f"CHECK (SELECT * FROM (VALUES {values}) AS t(c, s)) (c) SENSITIVE s REQUIRE {asked}"
        ).fetchall()
        assert achieved == pytest.approx(float(figure), rel=1e-15)


def test_the_second_and_the_third_class_are_3_3_anonymous(con: Connection) -> None:
    for name, satisfied in (("first", False), ("second", True), ("third", True)):
        values = ", ".join(f"(1, {number})" for number in SALARIES[name])
        rows = f"(SELECT * FROM (VALUES {values}) AS t(c, s))"
        answer = con.execute(f"CHECK {rows} (c) SENSITIVE s REQUIRE ke_anonymity(k => 3, e => 3), l_diversity(l => 3)")
        assert [row[-1] for row in answer.fetchall()] == [satisfied, True]


def test_neighborhoods_are_not_monotone_and_ranges_are(con: Connection) -> None:
    rows = "(SELECT * FROM (VALUES ('a', 0), ('a', 100), ('b', -1), ('b', 1)) AS t(c, s))"
    merged = rows.replace("'b'", "'a'")
    figures = {
        (variant, of): con.execute(
            f"CHECK {of} (c) SENSITIVE s REQUIRE proximity(within => 1, max => 0.5, variant => '{variant}')"
        ).fetchall()[0][4]
        for variant in ("window", "centred")
        for of in (rows, merged)
    }
    assert list(figures.values()) == [0.5, 0.5, 0.5, 0.75]


NUMBERS: dict[str, tuple[Any, ...]] = {
    "INTEGER": (-(2**31), -1, 0, 1, 2, 3, 2**31 - 1),
    "BIGINT": (-(2**63), -(2**63) + 1, 0, 2**53, 2**53 + 1, 2**63 - 1),
    "DECIMAL(9,2)": tuple(map(Decimal, ("-9999999.99", "-0.01", "0.00", "0.10", "0.20", "0.30", "9999999.99"))),
    "DECIMAL(38,6)": tuple(map(Decimal, ("-12345678.123456", "0.000001", "0.000002", "9.5", "10"))),
    "DOUBLE": (-1e12, -0.5, 0.0, 0.25, 1.0, 2.0, 1e12, float("nan"), float("inf")),
    "DATE": (date(1, 1, 1), EPOCH, EPOCH + timedelta(1), EPOCH + timedelta(3), date(9999, 12, 31)),
    "TIMESTAMP": (datetime(1582, 10, 15), datetime(1970, 1, 1), datetime(1970, 1, 1, 12), datetime(1970, 1, 2)),
}
LEAST = tuple(map(Decimal, ("0", "0.1", "0.25", "0.5", "1", "2", "3", "1000", "1000000000000")))
SHARES = tuple(map(Decimal, ("0", "0.3", "0.5", "0.6", "0.75", "1")))
MODELS: dict[str, tuple[str, dict[str, tuple[Any, ...]]]] = {
    "spread": ("spread(least => {least})", {"least": LEAST}),
    "ke_anonymity": ("ke_anonymity(k => {k}, e => {e})", {"k": (1, 2, 3), "e": LEAST}),
    "variance_spread": ("spread(least => {least}, measure => 'variance')", {"least": LEAST}),
    "deviation_spread": ("spread(least => {least}, measure => 'deviation')", {"least": LEAST}),
    "proximity": ("proximity(within => {within}, max => {max})", {"within": LEAST, "max": SHARES}),
    "centred_proximity": (
        "proximity(within => {within}, max => {max}, variant => 'centred')",
        {"within": LEAST, "max": SHARES},
    ),
    "relative_proximity": (
        "proximity(within => {within}, max => {max}, variant => 'relative')",
        {"within": LEAST, "max": SHARES},
    ),
}


def plain(value: Any) -> Any:
    """A value as a number: dates and timestamps are days since 1970."""
    if isinstance(value, datetime):
        return Fraction((value - datetime(1970, 1, 1)) // timedelta(microseconds=1), 86_400_000_000)
    return (value - EPOCH).days if isinstance(value, date) else value


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", MODELS)
@settings(deadline=None, max_examples=draws(10, long=60))
@given(data=st.data())
def test_columns_of_all_types_agree_with_the_oracle(con: Connection, name: str, data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from([*NUMBERS]))
    row = st.tuples(st.integers(1, 3), st.sampled_from((*NUMBERS[kind], None)))
    rows = data.draw(st.lists(row, min_size=1, max_size=9))
    text, choices = MODELS[name]
    arguments = {argument: data.draw(st.sampled_from(values)) for argument, values in choices.items()}
    con.execute(f"CREATE OR REPLACE TABLE drawn (c INTEGER, s {kind})")
    con.duckdb.executemany("INSERT INTO drawn VALUES (?, ?)", [list(row) for row in rows])
    places: dict[Hashable, list[int]] = defaultdict(list)
    for place, (of, _) in enumerate(rows):
        places[of].append(place)
    table = Table(dict(places), [plain(value) for _, value in rows])
    oracle = import_module(f"tests.oracles.models.{name}")
    exact = {key: Fraction(value) if isinstance(value, Decimal) else value for key, value in arguments.items()}
    asked = f"CHECK drawn (c) SENSITIVE s REQUIRE {text.format(**arguments)}"
    ((_, question, _, _, achieved, satisfied),) = con.execute(asked).fetchall()
    assert question == name
    assert achieved == pytest.approx(float(oracle.achieved(table, **exact)), rel=1e-9, abs=1e-9)
    if kind == "DOUBLE":  # sums of them are rounded, and what rounding cannot tell violates
        assert not satisfied or not oracle.violating(table, **exact)
    else:
        assert satisfied is not bool(oracle.violating(table, **exact))


def test_what_has_no_distance_is_refused(con: Connection) -> None:
    for kind, value in (("VARCHAR", "'a'"), ("BOOLEAN", "true"), ("TIME", "'12:00:00'"), ("INTEGER[]", "[1]")):
        with pytest.raises(PolicyError, match=r"numbers|single values") as refused:
            con.execute(f"CHECK (SELECT 1 AS c, {value}::{kind} AS s) (c) SENSITIVE s REQUIRE spread(least => 3)")
        assert refused.value.hint


@pytest.mark.parametrize("kind", ["TABLE", "VIEW"])
def test_a_release_keeps_its_numbers_apart(kind: str) -> None:
    con = template(
        "CREATE TABLE staff AS SELECT i % 8 AS team, CASE WHEN i % 8 = 3 THEN 100 ELSE i * 10 END AS salary "
        "FROM range(80) AS t(i); CREATE HIERARCHY teams AS INTERVALS (4);"
        "CREATE POLICY p ON staff (team QUASI IDENTIFIER USING teams, salary SENSITIVE) "
        "REQUIRE ke_anonymity(k => 5, e => 300), proximity(within => 50, max => 0.3)"
    )
    con.execute(f"CREATE ANONYMIZED {kind} r AS POLICY p METHOD generalization(suppression => 0.2)")
    assert [row[-1] for row in con.execute("CHECK r").fetchall()] == [True, True]
    # The team whose members earn the same is left out.
    assert con.duckdb.execute("SELECT count(*), count(DISTINCT team) FROM r").fetchall() == [(70, 7)]
    if kind == "VIEW":
        con.execute("UPDATE staff SET salary = 100 WHERE team = 5")
        assert con.duckdb.execute("SELECT count(*) FROM r WHERE team = '5'").fetchall() == [(0,)]
        assert [row[-1] for row in con.execute("CHECK r").fetchall()] == [True, True]
