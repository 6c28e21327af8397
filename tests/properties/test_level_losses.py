"""The loss of precision and the non-uniform entropy of releases, against counting them cell by cell."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, event, given, settings

from sqlanon import PolicyError, PrivacyViolation, UserError
from tests.support.database import new_database
from tests.support.draws import draws
from tests.support.losses import Demand, demands

pytestmark = pytest.mark.drawn

BUDGET = settings(max_examples=draws(4, long=15), deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("figure", ["precision", "non_uniform_entropy"])
@given(demand=demands())
@settings(BUDGET, max_examples=draws(2, long=15))
def test_they_are_what_the_search_minimizes(demand: Demand, figure: str) -> None:
    """By a release that loses least of it, whose loss an oracle knows."""
    con = demand.install()
    best = demand.optimum(figure)
    try:
        con.execute(f"CREATE ANONYMIZED TABLE out AS POLICY p {demand.method(figure)}")
    except PrivacyViolation:
        assert best is None
        con.close()
        return
    assert best is not None
    rows = con.execute(f"MEASURE out WITH FIGURES ({figure})").fetchall()
    losses = {attribute: value for _, _, attribute, value in rows}
    if figure == "non_uniform_entropy" and best.suppressed:
        event("suppressed")
        assert set(losses.values()) == {None}
    elif not demand.case.rows:
        assert set(losses.values()) <= {None, 0}
    else:
        assert losses[None] == pytest.approx(float(best.loss), abs=1e-7)
    con.close()


def test_each_attribute_has_its_part() -> None:
    with new_database() as con:
        con.execute(
            "CREATE TABLE t AS SELECT * FROM (VALUES (1, 'a'), (2, 'a'), (3, 'b'), (4, NULL)) AS t(n, \"the q\")"
        )
        con.execute("CREATE HIERARCHY h AS INTERVALS (2, 4)")
        columns = 'n QUASI IDENTIFIER USING h MIN LEVEL 2 WEIGHT 3, "the q" QUASI IDENTIFIER MIN LEVEL 1'
        con.execute(f"CREATE POLICY p ON t ({columns}) REQUIRE k_anonymity(k => 1)")
        con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization(suppression => 0)")
        rows = con.execute("MEASURE r WITH FIGURES (precision, non_uniform_entropy)").fetchall()
    # 1 to 3 are below [0,4), 4 below [4,8); of `*` a value with half of the rows lacks one bit, the others two.
    three = 3 * 1.584962500721156
    assert [row[1:] for row in rows] == [
        ("precision", "n", pytest.approx(2 / 3)),
        ("precision", "the q", 1),
        ("precision", None, pytest.approx((3 * 2 / 3 + 1) / 4)),
        ("non_uniform_entropy", "n", pytest.approx(three)),
        ("non_uniform_entropy", "the q", pytest.approx(6)),
        ("non_uniform_entropy", None, pytest.approx(3 * three + 6)),
    ]


@pytest.mark.parametrize("figure", ["precision", "non_uniform_entropy"])
def test_what_has_no_levels_is_refused(figure: str) -> None:
    with new_database() as con:
        con.execute("CREATE TABLE t AS SELECT i % 7 AS n, i % 3 AS s FROM range(40) AS r(i)")
        con.execute("CREATE POLICY p ON t (n QUASI IDENTIFIER, s SENSITIVE) REQUIRE k_anonymity(k => 8)")
        con.execute("CREATE ANONYMIZED TABLE m AS POLICY p METHOD mondrian")
        con.execute("CREATE ANONYMIZED TABLE a AS POLICY p METHOD anatomy(l => 2)")
        with pytest.raises(PolicyError, match="not published by a level"):
            con.execute(f"MEASURE m WITH FIGURES ({figure})")
        with pytest.raises(UserError, match="takes no arguments"):
            con.execute(f"MEASURE m WITH FIGURES ({figure}(1))")
        # Values are published as they are.
        assert [row[3] for row in con.execute(f"MEASURE a WITH FIGURES ({figure})").fetchall()] == [0, 0]
