"""The rows of EXPLAIN beside each other, wherever its search is stopped: none says what another denies.

- The suppressed rows are within the budget, and no requirement has more of them than the first round withholds.
- Nodes checked, ruled out and left are all nodes; none is left exactly where the loss is the least of all.
- The loss is at least what the row says that no node is below; so is that of each less general node it names.
- A less general node loses less, or as much, only where the search was stopped; then no row says that all lose more.
- The binding requirement is `none` exactly where no less general node fails.
- What is cheaper has a bound below the loss, and fails.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import count

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from sqlanon import Connection, PolicyError, PrivacyViolation, connect
from sqlanon.methods.shared.lattice import timed_searches
from sqlanon.methods.shared.lattice.nodes import sizes
from tests.support.draws import draws
from tests.support.hospital import HOSPITAL
from tests.support.losses import ORACLES, Demand, demands
from tests.support.policies import BUDGET

pytestmark = pytest.mark.drawn


@pytest.fixture(autouse=True, scope="module")
def no_lattice_is_small() -> Iterator[None]:
    """Else these would be looked at in one turn, before the time is up."""
    with sizes.replaced(few_nodes=0):
        yield


Rows = list[tuple[str, str, str]]

# Rounded to six digits each: two that are subtracted, and the difference.
ROUNDED = 2e-6
LESS = re.compile(r"it would lose (?:less than )?([\d.]+) less, which the search has not come to; ")
AS_MUCH = "it would lose as much, which the search has not come to; "
MORE = re.compile(r"it would lose (?:less than )?([\d.]+) more; ")
PROVEN = re.compile(r"([\d.]+), the least of all (\d+) nodes")
STOPPED = re.compile(
    r"([\d.]+), not proven to be the least: of (\d+) nodes? none that may be published loses less than ([\d.]+)"
)
CHECKED = re.compile(r"(\d+) of (\d+), (\d+) ruled out unseen(?:, (\d+) left)?")


def explained(con: Connection, ticks: float, method: str, patch: pytest.MonkeyPatch) -> Rows:
    """EXPLAIN where the clock has moved by one each time that it is looked at."""
    clock = count()
    patch.setattr(timed_searches, "monotonic", lambda: float(next(clock)))
    limited = method.replace(")", f", time_limit => {ticks})")
    rows: Rows = con.execute(f"EXPLAIN VERBOSE ANONYMIZED TABLE t AS POLICY p {limited}").fetchall()
    return rows


def assert_consistent(rows: Rows, loss: str) -> str:
    """Compares the rows with each other; says how the search has ended."""
    solved = {item: detail for stage, item, detail in rows if stage == "solve"}
    reasons = [(item, detail) for stage, item, detail in rows if stage == "explain"]
    least, best, ended = assert_proof(solved, loss)
    assert_suppressed(rows)
    losing = [detail for item, detail in reasons if "it would lose" in detail]
    failing = [detail for item, detail in reasons if re.match(r"not level \d+: (\d+ of|whatever)", detail)]
    lower = [float(found[1]) for found in map(LESS.search, losing) if found]
    as_much = [detail for detail in losing if AS_MUCH in detail]
    higher = [detail for detail in losing if MORE.search(detail)]
    assert len(lower) + len(as_much) + len(higher) == len(losing)
    assert all(best - less >= least - ROUNDED for less in lower)
    assert ended == "stopped" or not lower
    assert ended != "proven" or not as_much
    binding = dict(reasons)["binding requirement"]
    assert binding.startswith("none: ") == (not failing)
    if "lose no more" in binding:
        better = len(lower) + len(as_much)
        which = (
            "the only less general node" if len(losing) == 1 else f"{better} of the {len(losing)} less general nodes"
        )
        assert f"none: {which} could be published" in binding
    if "the less general nodes lose more" in binding:
        assert higher
        assert not lower
        assert not as_much
    for detail in (detail for item, detail in reasons if item == "next cheaper"):
        bound = re.search(
            r" might lose (?:as little as )?([\d.]+|nothing).*?, but (\d+ of \d+ rows would be suppressed|whatever)",
            detail,
        )
        assert bound, detail
        assert bound[1] == "nothing" or float(bound[1]) <= best
    return ended


def assert_proof(solved: dict[str, str], loss: str) -> tuple[float, float, str]:
    said = CHECKED.fullmatch(solved["nodes checked"])
    assert said
    checked, every, pruned, left = (int(part or 0) for part in said.groups())
    assert checked + pruned + left == every
    proven, stopped = PROVEN.match(solved[loss]), STOPPED.fullmatch(solved[loss])
    if stopped:
        assert left
        assert int(stopped[2]) == every
        assert float(stopped[3]) <= float(stopped[1])
        return float(stopped[3]), float(stopped[1]), "stopped"
    assert proven
    assert int(proven[2]) == every
    assert bool(left) == solved[loss].endswith("others of which may lose as much and have lower levels")
    return float(proven[1]), float(proven[1]), "tied" if left else "proven"


def assert_suppressed(rows: Rows) -> None:
    (suppressed,) = (detail for _, item, detail in rows if item == "suppressed rows")
    out, _, limit = map(int, re.findall(r"\d+", suppressed))
    assert out <= limit
    parts = [(int(detail.split()[0]), "later rounds" in detail) for _, item, detail in rows if item == "of which"]
    later = sum(number for number, is_later in parts if is_later)
    first = [number for number, is_later in parts if not is_later]
    assert max(first, default=0) <= out - later <= sum(first)


@given(demand=demands(), loss=st.sampled_from(sorted(ORACLES)), ticks=st.sampled_from([0.5, 0.5, 1.5, 2.5, 4.5, 99]))
@settings(BUDGET, max_examples=draws(2, long=12))
def test_a_search_that_is_stopped_anywhere(demand: Demand, loss: str, ticks: float) -> None:
    demand = replace(demand, case=replace(demand.case, suppression="0.5"))
    con = demand.install()
    with pytest.MonkeyPatch.context() as patch:
        try:
            rows = explained(con, ticks, demand.method(loss), patch)
        except PrivacyViolation:
            return
        finally:
            con.close()
    event(assert_consistent(rows, loss.replace("_", " ")))


POLICY = """CREATE POLICY p ON patients (
    dob QUASI IDENTIFIER USING birth, sex QUASI IDENTIFIER, zip QUASI IDENTIFIER USING zips, disease SENSITIVE
) REQUIRE k_anonymity(k => 4)"""


@pytest.fixture(scope="module")
def hospital() -> Connection:
    con = connect(config={"threads": "1"})
    con.execute("CREATE TABLE patients (dob DATE, sex VARCHAR, zip VARCHAR, disease VARCHAR)")
    con.duckdb.executemany("INSERT INTO patients VALUES (?, ?, ?, ?)", [list(row) for row in HOSPITAL])
    con.execute("CREATE HIERARCHY birth AS CALENDAR (MONTH, YEAR, DECADE); CREATE HIERARCHY zips AS PREFIXES (4, 3, 2)")
    con.execute(POLICY)
    return con


@pytest.mark.one_in(10)
@pytest.mark.parametrize("ticks", [0.5, 2.5, 5.5])
@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize("loss", ["granularity_loss", "average_class_size", "non_uniform_entropy"])
def test_the_hospital(
    hospital: Connection, monkeypatch: pytest.MonkeyPatch, loss: str, ticks: float, held: bool
) -> None:
    """Lattices that are searched a few nodes at a time, and one that counts as too large to hold."""
    small = {"batch": 2} if held else {"batch": 2, "raise_from": 0, "max_nodes": 1}
    method = f"METHOD generalization(suppression => 0.3, loss => '{loss}')"
    with sizes.replaced(**small):
        ended = assert_consistent(explained(hospital, ticks, method, monkeypatch), loss.replace("_", " "))
    assert ended != "proven" or (held and ticks > 1)


def test_the_first_node_that_satisfies(hospital: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """All levels at the top: each node below it could be published, and loses no more. All zips begin with 941."""
    rows = explained(hospital, 0.5, "METHOD generalization(suppression => 0.3)", monkeypatch)
    reasons = [detail for stage, item, detail in rows if stage == "explain"]
    binding, *others = reasons
    assert binding == "none: 3 of the 3 less general nodes could be published, and would lose no more"
    assert [bool(LESS.search(detail)) for detail in others[:2]] == [True, True]
    assert others[2] == f"not level 3: {AS_MUCH}0 of 17 rows would be suppressed"


def test_no_time_at_all_is_refused(hospital: Connection) -> None:
    with pytest.raises(PolicyError, match="time_limit must be a number of seconds above 0, not 0"):
        hospital.execute("EXPLAIN VERBOSE ANONYMIZED TABLE t AS POLICY p METHOD generalization(time_limit => 0)")
