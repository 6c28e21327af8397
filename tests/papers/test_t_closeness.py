"""The examples of the t-closeness paper (Li, Li and Venkatasubramanian 2007), to the digit, and two
figures of the privacy and utility paper (Li and Li 2009), which measures with Jensen-Shannon.

Each through the naive version and through the model's own SQL over relations written out.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from itertools import accumulate, pairwise
from typing import Any

import duckdb
import pytest

from sqlanon.domain.policy import Requirement
from sqlanon.sql.build.render import to_sql
from sqlanon.sql.questions.ask import bind_requirement
from sqlanon.sql.questions.load import load_question
from tests.oracles.models.support import Table, in_order

# Figure 1 of the paper: the taxonomy of diseases, of height 3.
TAXONOMY: dict[Hashable, tuple[str, str]] = {
    "flu": ("respiratory infection", "respiratory"),
    "pneumonia": ("respiratory infection", "respiratory"),
    "bronchitis": ("respiratory infection", "respiratory"),
    "pulmonary edema": ("vascular lung", "respiratory"),
    "pulmonary embolism": ("vascular lung", "respiratory"),
    "gastric ulcer": ("stomach", "digestive"),
    "stomach cancer": ("stomach", "digestive"),
    "gastritis": ("stomach", "digestive"),
    "colitis": ("colon", "digestive"),
    "colon cancer": ("colon", "digestive"),
}


@pytest.fixture
def con() -> Iterator[Any]:
    with duckdb.connect() as connection:
        yield connection


def table(classes: Mapping[str, Sequence[Hashable]]) -> Table:
    """A release of the given values, class by class."""
    ends = [0, *accumulate(map(len, classes.values()))]
    places: dict[Hashable, Sequence[int]] = {
        of: range(*bounds) for of, bounds in zip(classes, pairwise(ends), strict=True)
    }
    taxonomy: dict[Hashable, Sequence[Hashable]] = {
        v: TAXONOMY[v] for row in classes.values() for v in row if v in TAXONOMY
    }
    return Table(places, [value for values in classes.values() for value in values], taxonomy=taxonomy)


def write(con: Any, release: Table) -> None:
    """The release's normal relations."""
    codes = {value: code for code, value in enumerate(in_order(release.baseline))}
    nodes: dict[Hashable, int] = {}
    relations: dict[str, list[tuple[Any, ...]]] = {
        "equivalence_class(class_id, size, entities)": [
            (of, len(places), len(places)) for of, places in release.classes.items()
        ],
        "class_sensitive_value(class_id, value, n)": [
            (of, codes[value], n) for of in release.classes for value, n in release.counts(of).items()
        ],
        "sensitive_value(value, n)": [(codes[value], n) for value, n in release.baseline.items()],
        "sensitive_ancestor(value, level, node)": [
            (codes[value], level, nodes.setdefault(label, len(nodes)))
            for value in codes
            for level, label in enumerate((value, *(release.taxonomy or {}).get(value, ())))
        ],
    }
    for relation, rows in relations.items():
        con.execute(f"CREATE OR REPLACE VIEW {relation} AS VALUES {', '.join(map(repr, rows))}")


def ask(con: Any, name: str, release: Table, **arguments: Decimal | int) -> tuple[float, set[Hashable]]:
    """What a model reaches and which classes violate it: the same by its SQL and by its naive version."""
    question = load_question(name)
    choice = ((question.when.argument, question.when.value),) if question.when else ()
    (requirement,) = bind_requirement(Requirement(question.model, (*arguments.items(), *choice)), ("sensitive",))
    write(con, release)
    [(figure,)] = con.execute(to_sql(requirement.statement("achieved"))).fetchall()
    violating = {row[0] for row in con.execute(to_sql(requirement.statement("violations"))).fetchall()}
    oracle = import_module(f"tests.oracles.models.{name}")
    exact = {key: Fraction(value) if isinstance(value, Decimal) else value for key, value in arguments.items()}
    assert violating == oracle.violating(release, **exact)
    assert figure == pytest.approx(float(oracle.achieved(release, **exact)), rel=1e-12)
    return figure, violating


def test_the_ordered_distances_of_two_salary_classes(con: Any) -> None:
    classes = {"P1": (3, 4, 5), "P2": (6, 8, 11), "others": (7, 9, 10)}
    release = table(classes)
    assert ask(con, "ordered_t_closeness", release, t=Decimal("0.375")) == (0.375, set())  # reached, and allowed
    assert ask(con, "ordered_t_closeness", release, t=Decimal("0.374"))[1] == {"P1"}
    assert "P2" not in ask(con, "ordered_t_closeness", release, t=Decimal("0.167"))[1]
    assert "P2" in ask(con, "ordered_t_closeness", release, t=Decimal("0.166"))[1]
    oracle = import_module("tests.oracles.models.ordered_t_closeness")
    assert (oracle.distance(release, "P1"), oracle.distance(release, "P2")) == (Fraction(3, 8), Fraction(1, 6))


@pytest.mark.parametrize(
    ("other", "thirds"), [("bronchitis", 1), ("pulmonary embolism", 2), ("stomach cancer", 3), ("flu", 0)]
)
def test_the_hierarchical_distance_of_two_diseases(con: Any, other: str, thirds: int) -> None:
    """Two classes of one row each: either has half of its mass to move, from one disease to the other."""
    release = table({"one": ("flu",), "two": (other,)})
    if thirds == 0:  # the same disease
        assert ask(con, "hierarchical_t_closeness", release, t=Decimal(0)) == (0, set())
        return
    reached, _ = ask(con, "hierarchical_t_closeness", release, t=Decimal(0))
    assert 2 * reached == pytest.approx(thirds / 3, abs=1e-15)


def test_the_published_table_is_0167_close_in_salary(con: Any) -> None:
    classes = {"4767*": (3, 5, 9), "4790*": (6, 11, 8), "4760*": (4, 7, 10)}
    reached, violating = ask(con, "ordered_t_closeness", table(classes), t=Decimal("0.167"))
    assert (round(reached, 3), violating) == (0.167, set())


def test_a_class_half_positive_is_diverse_and_far_from_the_rest(con: Any) -> None:
    """10,000 rows, 1 % of them positive: 2-diverse by every definition, and 0.49 away."""
    half, rest = (["negative"] * 50, 50), (["negative"] * 9850, 50)
    release = table({of: [*n, *["positive"] * k] for of, (n, k) in {"half": half, "rest": rest}.items()})
    assert ask(con, "distinct_l_diversity", release, l=2) == (2, set())
    assert "half" not in ask(con, "entropy_l_diversity", release, l=Decimal(2))[1]
    assert "half" not in ask(con, "recursive_l_diversity", release, l=2, c=Decimal(3))[1]
    reached, violating = ask(con, "ordered_t_closeness", release, t=Decimal("0.49"))
    assert (reached, violating) == (0.49, set())
    assert ask(con, "ordered_t_closeness", release, t=Decimal("0.48"))[1] == {"half"}


def test_the_divergence_of_a_class_that_reveals_an_occupation(con: Any) -> None:
    """Of 45,222 census records the rarest occupation has 14, the most frequent 6,020."""
    known = {"Armed-Forces": 14, "Craft-repair": 6020}
    rest = [value for value, n in known.items() for _ in range(n - 1)] + ["other"] * (45222 - 14 - 6020)
    release = table({**{value: (value,) for value in known}, "rest": rest})
    reached, _ = ask(con, "jensen_shannon_t_closeness", release, t=Decimal("0.692"))
    assert round(reached, 3) == 0.692
    for t, violates in (("0.4875", True), ("0.4885", False)):
        assert ("Craft-repair" in ask(con, "jensen_shannon_t_closeness", release, t=Decimal(t))[1]) == violates
