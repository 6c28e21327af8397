"""Xiao and Tao, m-invariance: towards privacy preserving re-publication of dynamic datasets (2007), tables 1 to 4.

The second release is published with two counterfeits, or without any, when some classes of the first are known to have
lost all holders of a value.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence

import pytest

from sqlanon.domain.series import Series
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.republication.series.together import measured_together
from tests.support.database import template
from tests.support.survey_releases import DISEASES, LATER, MEMBERS

DISEASE = {
    **dict.fromkeys("Bob Jane Paul Ray".split(), "dyspepsia"),
    **{"Alice": "bronchitis", "c1": "bronchitis"},
    **dict.fromkeys("Andy Gary Ken Emily Vince c2".split(), "flu"),
    **dict.fromkeys("David Helen Linda Steve Mary Tom".split(), "gastritis"),
}
FIRST = ["Bob Alice", "Andy David", "Gary Helen", "Jane Ken Linda", "Paul Steve"]
WITH_COUNTERFEITS = ["Bob c1", "David Emily", "Jane c2 Linda", "Gary Mary", "Ray Steve", "Tom Vince"]
WITHOUT = ["Bob David", "Jane Linda Gary", "Ray Steve", "Emily Mary", "Tom Vince"]


def reached(releases: Sequence[Sequence[str]], diseases: Mapping[str, str]) -> dict[str, float | None]:
    """What is measured of a ledger that has these classes, a string of names each; counterfeits are nobody's rows."""
    with template(
        "CREATE TABLE t (a INTEGER); CREATE POLICY p ON t (a QUASI IDENTIFIER) REQUIRE k_anonymity(k => 1)"
    ) as con:
        for position, classes in enumerate(releases, start=1):
            for class_no, names in enumerate(classes):
                values = [diseases[name] for name in names.split()]
                row = ["s", position, class_no, "disease", set_of_values := uuid.uuid4()]
                con.duckdb.execute("INSERT INTO anon.series_class VALUES (?, ?, ?, ?, ?)", row)
                for value in set(values):
                    row = ["s", position, set_of_values, "disease", value, values.count(value)]
                    con.duckdb.execute("INSERT INTO anon.series_value VALUES (?, ?, ?, ?, ?, ?)", row)
                for name in names.split():
                    if name not in ("c1", "c2"):
                        token = uuid.uuid5(uuid.NAMESPACE_DNS, name)
                        con.duckdb.execute(
                            "INSERT INTO anon.series_member VALUES ('s', ?, ?, ?)", [position, class_no, token]
                        )
        engine = DuckDBEngine(con.duckdb, lambda _: None)
        series = Series("s", "s", "p", "name", "VARCHAR", (("disease", "VARCHAR"),), "KEY", "")
        with TempTables(engine) as temp:
            return {m.question: m.achieved for m in measured_together(engine, series, temp)}


def test_the_first_release_is_2_invariant() -> None:
    assert reached([FIRST], DISEASE) == {"composition": 0.5, "m_invariance": 2}


def test_with_two_counterfeits_both_are_2_invariant_and_nobody_is_surer_than_one_half() -> None:
    assert reached([FIRST, WITH_COUNTERFEITS], DISEASE) == {"composition": 0.5, "m_invariance": 2}


def test_without_counterfeits_the_absent_tell_what_bob_has() -> None:
    """Critical absence: Alice has left, and nobody in Bob's class has what she had."""
    assert reached([FIRST, WITHOUT], DISEASE) == {"composition": 1, "m_invariance": 1}


def test_a_value_that_only_one_can_have_may_be_a_counterfeit() -> None:
    """Linda has another disease than the flu in the second release, and still Jane need not have it."""
    first, second = ["Jane c2 Linda"], ["Linda Ray"]
    assert reached([first, second], DISEASE) == {"composition": 0.5, "m_invariance": 1}
    # With Ken in place of the counterfeit somebody has to.
    assert reached([["Jane Ken Linda"], ["Linda Ray"], ["Jane Steve"]], DISEASE)["composition"] == 1


@pytest.mark.long
def test_two_releases_of_the_survey() -> None:
    """De Capitani di Vimercati et al. (2012), figure 7: a class of each has a value twice."""
    releases = [list(MEMBERS.values()), list(LATER.values())]
    assert reached(releases[:1], DISEASES) == {"composition": pytest.approx(0.5), "m_invariance": 1}
    assert reached(releases, DISEASES) == {"composition": 1, "m_invariance": 1}
