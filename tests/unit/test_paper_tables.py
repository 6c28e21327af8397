"""The benchmarks that print tables of three papers, on a few rows of Adult."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sqlanon
from benchmarks.papers import adult, closeness, cost, cuts, rules, tradeoff
from benchmarks.papers.charts import Bars, Points, draw
from benchmarks.papers.closeness import Lattice, entropy, inferred, recursive
from benchmarks.papers.statements import Attributes, Family, candidates, cell, figures_of, release

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
    lattice = Lattice(con, ("age", "education", "sex"))
    assert set(lattice.minimal(lambda counts: bool(counts.sum(axis=1).min() >= 10))) == expected
    without = Lattice(con, ("age", "education", "sex"), without={"age": (1, 2), "education": (1,)})
    levels = list(product((0, 3, 4, 5), (0, 2, 3), range(2)))
    shown = {tuple(position) for position in product(range(4), range(3), range(2))}
    fewer = {node: levels[number] for number, node in enumerate(sorted(shown))}
    found = [fewer[node] for node in without.minimal(lambda counts: bool(counts.sum(axis=1).min() >= 10))]
    assert set(found) == {
        node
        for node in satisfying
        if node in levels
        and not any(
            other != node and other in levels and all(a <= b for a, b in zip(other, node, strict=True))
            for other in satisfying
        )
    }


@pytest.mark.parametrize(
    ("classes", "strict", "known"),
    [
        ([[2, 2, 0, 0], [1, 1, 1, 1]], (True, False), 4),
        ([[3, 1, 0, 0], [1, 1, 1, 1]], (False, False), 4),
        ([[0, 2, 1, 2], [2, 1, 1, 1]], (True, True), 0),
    ],
)
def test_strict_requirements_of_classes(classes: list[list[int]], strict: tuple[bool, bool], known: int) -> None:
    """Entropy 2-diversity, recursive (3, 3)-diversity, and the rows of a class within the first two or last two."""
    counts = np.array(classes)
    assert (entropy(2)(counts), recursive(3, 3)(counts)) == strict
    assert inferred(counts, [[0, 1], [2, 3]]) == known


@pytest.mark.long
def test_a_rule_of_cutting_is_mondrian_s_own(con: sqlanon.Connection) -> None:
    """For k-anonymity sqlanon tries all cuts of all attributes, in the order of their gain.

    Of equal gains sqlanon takes the widest attribute and the rule the first, so that smaller regions of these rows may
    differ.
    """
    cells = cuts.Cells(con)
    attributes = Attributes(("age", "sex", "race"), "occupation", ("marital_status",))
    for k in (20, 50, 100):
        regions = cells.regions(cells.requirement(f"k={k}"), "marital_status", "all", "order")
        assert min(cells.sensitive[region].sum() for region in regions) >= k
        method = "mondrian(split => 'information_gain', target => marital_status)"
        assert release(con, attributes, f"k_anonymity(k => {k})", method, hierarchies=False)
        ours = figures_of(con, "a_acc, a_know")
        assert cells.figures(regions) == pytest.approx((ours["a_acc"], ours["a_know"]))


def test_requirements_of_cuts_are_those_of_their_definitions(con: sqlanon.Connection) -> None:
    cells = cuts.Cells(con)
    counts = np.zeros(len(cells.whole), np.int64)
    counts[:3] = (9, 2, 1)
    satisfied = {name: bool(cells.requirement(name)(counts)) for name in ("k=12", "k=13", "l=1", "l=2", "l=3")}
    # 9 < 3 * 12, but neither 9 < 3 * (2 + 1) nor 9 < 3 * 1.
    assert satisfied == {"k=12": True, "k=13": False, "l=1": True, "l=2": False, "l=3": False}
    everybody = cells.sensitive.sum(0)
    assert cells.requirement("t=0")(everybody)
    assert cells.requirement("delta=.1")(everybody)
    assert not cells.requirement("t=.2")(counts)
    assert not cells.requirement("delta=9")(counts)


@pytest.mark.long
def test_the_gains_are_a_table(with_adult: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("sklearn", reason="only where the extra tasks is installed")
    assert cost.main(["--quick", "--part", "learning"]) == 0
    line = table(capsys.readouterr().out)[2]
    base, released, gain = (float(number) for number in line[3:6])
    assert gain == pytest.approx(released - base, abs=2e-4)


@pytest.mark.long
@pytest.mark.parametrize("part", ["requirements", "methods", "queries", "runs", "cuts"])
def test_the_tradeoff_is_a_table(part: str, with_adult: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tradeoff.main(["--quick", "--part", part]) == 0
    lines = table(capsys.readouterr().out)
    heads = {"runs": "l", "queries": "requirement"}
    assert lines[0][0] == heads.get(part, "requirement")
    assert len(lines) == {"requirements": 3, "methods": 4, "queries": 4, "runs": 3, "cuts": 3}[part]
    first = 1 if part in ("runs", "cuts") else 2
    assert all(float(number) >= 0 for line in lines[2:] for number in line[first:] if number != "-")


@pytest.mark.long
def test_rules_are_ordered_by_how_near_they_come(with_adult: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tradeoff.main(["--quick", "--part", "rules"]) == 0
    lines = table(capsys.readouterr().out)
    near = [abs(float(line[6]) - rules.PRINTED[0]) for line in lines[2:4]]
    assert near == sorted(near)
    number, least, greatest, *counts = lines[6]
    assert counts == ["2", "2"]
    assert int(number) == len(rules.EDUCATIONS) * len(rules.CHOICES) * len(rules.CUTS) * len(rules.OTHERS)
    assert float(least) <= float(lines[2][6]) <= float(greatest)


@pytest.mark.long
def test_losses_of_rules_are_those_that_are_measured(con: sqlanon.Connection) -> None:
    attributes = Attributes(("age", "workclass", "education", "marital_status", "race", "sex"), "occupation")
    assert release(con, attributes, "k_anonymity(k => 60)", "mondrian")
    ours = figures_of(con, "p_loss, u_loss(min_support => 0.05)")
    privacy, utility = rules.losses(con, attributes, 60)
    assert privacy == pytest.approx(ours["p_loss"])
    assert utility == pytest.approx(ours["u_loss"], rel=1e-3)


def test_divergences_are_those_of_the_paper() -> None:
    whole = np.array([0.9997, 0.0003])
    assert rules.divergence(whole, np.array([0.0, 1.0])) == pytest.approx(0.692, abs=5e-4)
    assert rules.divergence(whole, whole) == 0


@pytest.mark.long
def test_closeness_is_a_table(with_adult: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert closeness.main(["--quick", "--part", "quality"]) == 0
    lines = table(capsys.readouterr().out)
    assert [len(line) for line in lines] == [4] * 4
    assert all(float(line[2]) >= 10 for line in lines[2:])
