"""The benchmarks that print tables of three papers, on a few rows of Adult."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import sqlanon
from benchmarks.papers import adult, closeness, cost, tradeoff
from benchmarks.papers.charts import Bars, Points, draw
from benchmarks.papers.statements import Attributes, Family, candidates, cell

ROWS = 300


@pytest.fixture(scope="module")
def con(adult_cache: Path) -> Iterator[sqlanon.Connection]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SQLANON_CACHE", str(adult_cache))
        with adult.connected(ROWS, seed=1) as connection:
            yield connection


def table(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in text.splitlines() if line]


def test_cells() -> None:
    assert [cell(None), cell(-1e-17), cell(0.12345, 2)] == ["-", "0.0000", "0.12"]


def test_charts_have_a_mark_for_each_number(tmp_path: Path) -> None:
    lines = ["| what | x | y |", "| --- | --- | --- |", "| first | 1 | 2 |", "| gone | - | - |", "| last | 3 | 1 |"]
    draw(lines, Bars(("x", "y"), lambda row: row["what"]), tmp_path / "new" / "bars.svg")
    bars = (tmp_path / "new" / "bars.svg").read_text(encoding="utf-8")
    assert re.findall(r'aria-roledescription="bar"', bars) == ['aria-roledescription="bar"'] * 4
    assert [name in bars for name in ("first", "gone", "last")] == [True, False, True]
    draw(lines, Points("x", "y", lambda row: row["what"]), tmp_path / "points.svg")
    points = (tmp_path / "points.svg").read_text(encoding="utf-8")
    assert points.count('aria-roledescription="point"') == 2


@pytest.mark.long
def test_the_intact_table_is_what_the_definitions_say(con: sqlanon.Connection) -> None:
    attributes = Attributes(("age", "sex", "race"), "occupation")
    family = Family("k", "k_anonymity(k => 5)", "k", (5,))
    figures = ("a_acc", "a_know")
    intact, *others = candidates(con, attributes, family, ("generalization(suppression => 0)",), figures)
    rows = con.duckdb.execute("SELECT age, sex, race, occupation FROM people").fetchall()
    whole = Counter(row[3] for row in rows)
    classes: defaultdict[Any, Counter[str]] = defaultdict(Counter)
    for row in rows:
        classes[row[:3]][row[3]] += 1
    right = sum(max(values.values()) for values in classes.values()) - max(whole.values())
    know = sum(
        sum(abs(values[value] - values.total() * whole[value] / ROWS) for value in whole) / 2
        for values in classes.values()
    )
    assert intact.figures == pytest.approx({"a_acc": right / ROWS, "a_know": know / ROWS})
    assert [other.method.split("(")[0] for other in others] == ["trivial", "trivial", "generalization"]
    assert all(abs(number or 0) < 1e-9 for other in others[:2] for number in other.figures.values())


@pytest.mark.long
def test_minimal_tables_are_those_of_the_definition(con: sqlanon.Connection) -> None:
    nodes = list(product(range(6), range(4), range(2)))
    ages = [lambda age, width=width: age // width for width in (1, 5, 10, 20, 40)] + [lambda age: "*"]
    labels = {0: {}, 1: {}, 2: {}}
    query = "SELECT level, value, label FROM anon.hierarchy_value WHERE hierarchy = 'adult_education'"
    for level, value, label in con.duckdb.execute(query).fetchall():
        labels.setdefault(level, {})[value] = label
    rows = con.duckdb.execute("SELECT age, education, sex FROM people").fetchall()

    def anonymous(node: tuple[int, int, int]) -> bool:
        classes = Counter(
            (
                ages[node[0]](age),
                education if node[1] == 0 else "*" if node[1] == 3 else labels[node[1]][education],
                "*" if node[2] else sex,
            )
            for age, education, sex in rows
        )
        return min(classes.values()) >= 10

    satisfying = [node for node in nodes if anonymous(node)]
    expected = {
        node
        for node in satisfying
        if not any(
            other != node and all(low <= level for low, level in zip(other, node, strict=True)) for other in satisfying
        )
    }
    assert set(closeness.minimal_levels(con, "k_anonymity(k => 10)")) == expected


@pytest.mark.long
def test_the_costs_are_a_table(with_adult: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cost.main(["--quick", "--part", "disclosure"]) == 0
    lines = table(capsys.readouterr().out)
    assert lines[0] == ["requirement", "A_acc", "A_know"]
    intact, first, second, *others = ([float(number) for number in line[1:]] for line in lines[2:])
    assert first == second == [0, 0]
    assert all(less <= most for line in others for less, most in zip(line, intact, strict=True))


@pytest.mark.long
def test_the_gains_are_a_table(with_adult: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("sklearn", reason="only where the extra tasks is installed")
    assert cost.main(["--quick", "--part", "learning"]) == 0
    line = table(capsys.readouterr().out)[2]
    base, released, gain = (float(number) for number in line[3:6])
    assert gain == pytest.approx(released - base, abs=2e-4)


@pytest.mark.long
def test_the_tradeoff_is_a_table(with_adult: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tradeoff.main(["--quick", "--part", "methods", "--part", "queries"]) == 0
    lines = table(capsys.readouterr().out)
    methods, queries = lines[: len(lines) - 3], lines[-3:]
    names = [line[0].split("(")[0].strip() for line in methods[2:]]
    assert names == ["intact", "trivial", "trivial", "mondrian", "anatomy", "slicing"]
    assert [float(number) for number in (methods[2][-1], methods[3][-3])] == [0, 0]
    assert queries[0][:3] == ["method", "requirement", "P_loss"]
    assert all(float(number) >= 0 for number in queries[2][2:])


@pytest.mark.long
def test_closeness_is_a_table(with_adult: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert closeness.main(["--quick", "--part", "quality"]) == 0
    lines = table(capsys.readouterr().out)
    assert [len(line) for line in lines] == [4] * 4
    assert all(float(line[2]) >= 10 for line in lines[2:])
