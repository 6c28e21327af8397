"""Every loss at the nodes of small lattices, whatever classes are withheld, against counting cell by cell."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sqlanon import Connection, PolicyError, PrivacyViolation
from sqlanon.methods.registry import find_method
from sqlanon.methods.shared.lattice.losses import LOSSES
from sqlanon.methods.shared.lattice.losses.average_class_size import AverageClassSize
from sqlanon.methods.shared.lattice.losses.discernibility import Discernibility
from sqlanon.sql.sizes import sizes
from tests.support.database import new_database
from tests.support.draws import draws
from tests.support.losses import ORACLES
from tests.support.losses_laid_out import Laid, Places, laid
from tests.support.policies import Case, cases

BUDGET = settings(max_examples=draws(3, long=8), deadline=None, suppress_health_check=list(HealthCheck))
# An entropy is a multiple of a unit, and its oracle adds up floating point numbers.
NEAR = 1e-7


def test_every_loss_has_an_oracle() -> None:
    assert list(LOSSES) == list(ORACLES)


# With few bits a word, a key has several: then a class_id is a struct.
@pytest.mark.long
@pytest.mark.drawn
@pytest.mark.parametrize("bits", [62, 5])
@given(case=cases(), random=st.randoms(use_true_random=False))
@settings(BUDGET, max_examples=draws(2, long=8))
def test_losses_and_their_bounds(case: Case, random: Random, bits: int) -> None:
    limit = random.randint(0, len(case.rows))
    with sizes.replaced(word_bits=bits), laid(case, limit) as over:
        more = [_some(classes, random) for classes in over.classes]
        withheld = [_some(classes, random) for classes in more]
        for name in LOSSES:
            _check(over, name, withheld, more, limit)


def _some(classes: list[Places], random: Random) -> list[Places]:
    """A few of the classes, or none, or all."""
    share = random.choice([0.0, 0.2, 0.5, 1.0])
    return [places for places in classes if random.random() < share]


def _check(over: Laid, name: str, withheld: list[list[Places]], more: list[list[Places]], limit: int) -> None:
    loss, lost = over.losses[name], over.lost(name, withheld)
    bounds = [int(bound) for bound in loss.bounds(np.array(over.nodes, dtype=np.int16))]
    for place, node in enumerate(over.nodes):
        expected = over.oracle(name, place, withheld[place])
        if isinstance(expected, float):
            assert float(loss.value(lost[place])) == pytest.approx(expected, abs=NEAR)
        else:
            assert loss.value(lost[place]) == expected
        rows = sum(map(len, withheld[place]))
        if rows <= limit:
            assert bounds[place] <= lost[place]
        for fewer in range(rows + 1):
            least = loss.least(node, fewer)
            assert least is None or least <= lost[place]
            if rows <= limit:
                assert int(loss.bounds(np.array([node]), fewer)[0]) <= lost[place]
    if loss.GROWS:
        assert all(a <= b for a, b in zip(lost, over.lost(name, more), strict=True))
    _check_floors(over, name, withheld)


def _check_floors(over: Laid, name: str, withheld: list[list[Places]]) -> None:
    """A release withholds what violates a requirement, if not more."""
    loss = over.losses[name]
    least = [
        [places for places in classes if over.violates(places) or places in chosen]
        for classes, chosen in zip(over.classes, withheld, strict=True)
    ]
    lost = over.lost(name, least)
    for node, counted in zip(over.nodes, over.counted, strict=True):
        floor = loss.floor(counted)
        for other, its in zip(over.nodes, lost, strict=True):
            if floor is not None and all(a <= b for a, b in zip(node, other, strict=True)):
                assert floor <= its


WORKED = {
    "granularity_loss": 0.5,
    "discernibility": 2 * 2 + 2 * 4,
    "average_class_size": 4 / 1 / 2,
    "height": 0,
    "precision": 0.5,
    "non_uniform_entropy": 2 * 1,
}


def table(*values: str) -> Connection:
    con = new_database()
    con.execute("CREATE TABLE t (q VARCHAR, s VARCHAR)")
    for value in values:
        con.duckdb.execute("INSERT INTO t VALUES (?, ?)", [value, value])
    con.execute("CREATE POLICY p ON t (q QUASI IDENTIFIER, s SENSITIVE) REQUIRE k_anonymity(k => 2)")
    return con


def release(con: Connection, loss: str, suppression: str) -> tuple[Any, ...]:
    con.execute(
        f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization(suppression => {suppression}, loss => '{loss}')"
    )
    query = "SELECT level, suppressed_rows, loss FROM anon.release INNER JOIN anon.release_attribute USING (release_id)"
    return tuple(con.duckdb.execute(f"{query} WHERE role = 'quasi_identifier'").fetchall()[0])


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("loss", "value"), WORKED.items())
def test_a_worked_example(loss: str, value: float) -> None:
    """Of a, a, b and c the last two are suppressed, which every measure prefers to four rows of `*`."""
    with table("a", "a", "b", "c") as con:
        assert release(con, loss, "0.5") == (0, 2, value)


NOTHING = {
    "granularity_loss": 1,
    "discernibility": 4 * 4,
    "average_class_size": 2 * 4 / 2,
    "height": 0,
    "precision": 1,
    "non_uniform_entropy": 4 * 2,
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("loss", "value"), NOTHING.items())
def test_nothing_is_published(loss: str, value: float) -> None:
    """Where all rows may be suppressed and none can be kept as it is."""
    with table("a", "b", "c", "d") as con:
        attributes = "q QUASI IDENTIFIER MAX LEVEL 0, s SENSITIVE"
        con.execute(f"CREATE OR REPLACE POLICY p ON t ({attributes}) REQUIRE k_anonymity(k => 2)")
        assert release(con, loss, "1") == (0, 4, value)


def test_a_k_that_is_not_asked_for_is_one() -> None:
    with table("a", "a", "b") as con:
        con.execute("CREATE OR REPLACE POLICY p ON t (q QUASI IDENTIFIER, s SENSITIVE) REQUIRE l_diversity(l => 1)")
        assert release(con, "average_class_size", "0") == (0, 0, 1.5)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("loss", LOSSES)
def test_infeasible_stays_infeasible(loss: str) -> None:
    with table("a") as con, pytest.raises(PrivacyViolation):
        release(con, loss, "0.5")


def test_an_unknown_loss_is_told_the_names() -> None:
    with pytest.raises(PolicyError, match="no loss 'ncp'") as raised:
        find_method("generalization").options([("loss", "ncp")])
    assert raised.value.hint == (
        "write one of loss => 'granularity_loss', loss => 'discernibility', loss => 'average_class_size', "
        "loss => 'height', loss => 'precision', loss => 'non_uniform_entropy'"
    )


def test_squares_beyond_64_bits_stay_exact() -> None:
    """Two attributes of 2 and 3 labels, all of nearly equal frequency, over 2 ** 33 + 1 rows."""
    rows = (1 << 33) + 1
    counted = [(i, 0, n, _even(rows, n)) for i, n in enumerate((2, 3))] + [(i, 1, 1, rows**2) for i in range(2)]
    setting: Any = SimpleNamespace(
        policy=SimpleNamespace(quasi_identifiers=[SimpleNamespace(height=1)] * 2),
        cells=SimpleNamespace(rows=rows, trees=["a", "b"], public=None),
        least_rows=7,
        index=None,
        rows=lambda query: counted,
    )
    lattice = np.array([(0, 0), (0, 1), (1, 0), (1, 1)], dtype=np.int16)
    bounds = [int(bound) for bound in Discernibility(setting).bounds(lattice)]
    assert bounds[1:] == [_even(rows, 2), _even(rows, 3), rows**2]
    # A label of 2 ** 32 rows falls into 3 classes at most: 6 classes cannot do with less.
    assert _even(rows, 6) - 6 <= bounds[0] <= _even(rows, 6)
    half = rows // 2
    withheld = [int(bound) for bound in Discernibility(setting).bounds(lattice, half)]
    assert withheld[1:] == [half * rows + _even(rows - half, 2), half * rows + _even(rows - half, 3), rows**2]
    fewer = AverageClassSize(setting)
    assert [int(bound) for bound in fewer.bounds(lattice)] == [rows - 6, rows - 2, rows - 3, rows - 1]
    assert fewer.value(rows - 6) == Fraction(rows, 42)


def _even(rows: int, classes: int) -> int:
    """The squares of classes of nearly equal size."""
    return sum(((rows + place) // classes) ** 2 for place in range(classes))
