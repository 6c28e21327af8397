"""The efficient frontier of P_loss and U_loss, its slopes, and what is advised, to the digit."""

from __future__ import annotations

import duckdb
import pytest

from sqlanon.catalog import frontiers, migrations
from sqlanon.engines.duckdb import DuckDBEngine
from tests.support.frontiers import stored

POINTS = {
    "intact": (0.380396, 0.0),
    "decades": (0.101197, 0.009930),
    "twin": (0.101197, 0.009930),
    "age_suppressed": (0.006091, 0.052706),
    "trivial": (0.0, 0.046225),
    "buckets": (0.101197, 0.051803),
    "noise": (0.3, 0.009930),
}


def test_the_points_of_the_hospital() -> None:
    with duckdb.connect() as con:
        engine = DuckDBEngine(con)
        migrations.install(engine)
        names = list(POINTS)
        # Another frontier of the same database takes no part.
        stored(engine, "other", ("p_loss", "u_loss"), {0: (0.0, 0.0)})
        candidates = stored(engine, 'it\'s "f"', ("p_loss", "u_loss"), dict(enumerate(POINTS.values())))
        efficient = {names[number] for number, candidate in candidates.items() if candidate.efficient}
        assert efficient == {"trivial", "decades", "twin", "intact"}
        slopes = {names[number]: slope for number, slope in frontiers.slopes(engine, 'it\'s "f"').items()}
    assert slopes == {
        "decades": pytest.approx(0.358657, abs=1e-6),
        "twin": pytest.approx(0.358657, abs=1e-6),
        "intact": pytest.approx(0.035566, abs=1e-6),
    }


def test_the_rewards_of_the_hospital() -> None:
    """With the trivial release as the asset without risk."""
    with duckdb.connect() as con:
        engine = DuckDBEngine(con)
        migrations.install(engine)
        names = list(POINTS)
        stored(engine, "f", ("p_loss", "u_loss"), dict(enumerate(POINTS.values())))
        rewards = {names[number]: reward for number, reward in frontiers.rewards(engine, "f").items()}
        assert rewards.keys() == POINTS.keys() - {"trivial"}
        assert rewards["decades"] == rewards["twin"] == pytest.approx(0.358657, abs=1e-6)
        assert rewards["intact"] == pytest.approx(0.121518, abs=1e-6)
        assert rewards["age_suppressed"] < 0
        # Without it nothing is rewarded.
        risky = [point for name, point in POINTS.items() if name != "trivial"]
        stored(engine, "g", ("p_loss", "u_loss"), dict(enumerate(risky)))
        assert frontiers.rewards(engine, "g") == {}
