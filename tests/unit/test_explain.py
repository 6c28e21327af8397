"""EXPLAIN says why: every reason checked against tables small enough to count by hand."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from sqlanon import Connection, PrivacyViolation, connect
from sqlanon.methods.shared.lattice.losses import LOSSES
from sqlanon.methods.shared.lattice.nodes import sizes
from tests.support.hospital import HOSPITAL
from tests.support.names import HOSTILE

Rows = list[tuple[str, str]]


@pytest.fixture
def con() -> Connection:
    return connect()


def filled(con: Connection, columns: str, *rows: tuple[object, ...]) -> Connection:
    con.execute(f"CREATE TABLE source ({columns})")
    con.duckdb.executemany(f"INSERT INTO source VALUES ({', '.join('?' * len(rows[0]))})", [list(row) for row in rows])
    return con


def explain(con: Connection, policy: str, method: str = "") -> dict[str, Rows]:
    """The rows (item, detail) of each stage."""
    con.execute(f"CREATE OR REPLACE POLICY p ON {policy}")
    found: dict[str, Rows] = {}
    for stage, item, detail in con.execute(f"EXPLAIN VERBOSE ANONYMIZED TABLE t AS POLICY p {method}").fetchall():
        found.setdefault(stage, []).append((item, detail))
    return found


def suppressing(share: str, more: str = "") -> str:
    return f"METHOD generalization(suppression => {share}{more})"


@pytest.fixture
def hospital(con: Connection) -> Connection:
    filled(con, "dob DATE, sex VARCHAR, zip VARCHAR, disease VARCHAR", *HOSPITAL)
    con.execute("CREATE HIERARCHY birth AS CALENDAR (MONTH, YEAR, DECADE); CREATE HIERARCHY zips AS PREFIXES (4, 3, 2)")
    return con


HOSPITAL_POLICY = """source (
    dob QUASI IDENTIFIER USING birth MAX LEVEL 2, sex QUASI IDENTIFIER,
    zip QUASI IDENTIFIER USING zips MIN LEVEL 1 MAX LEVEL 3, disease SENSITIVE
) REQUIRE k_anonymity(k => 4)"""


class TestHospital:
    """Year, sex and three digits, the patient born in 1958 left out: the table of 17 rows."""

    @pytest.mark.long
    def test_the_levels_and_what_forced_them(self, hospital: Connection) -> None:
        found = explain(hospital, HOSPITAL_POLICY, suppressing("0.06"))
        assert found["solve"][3:6] == [
            ("suppressed rows", "1 of 17, at most 1 allowed"),
            ("of which", "1 in 1 class that violates k_anonymity(k => 4)"),
            ("granularity loss", "0.509804, the least of all 18 nodes"),
        ]
        # By month, sex and 941**: 1940-04 F 2, M 2; 1940-06 F 2, M 2; 1950-05 F 2, M 2; 1950-06 F 2, M 2; 1958-12 1.
        # By year, sex and four digits: 1940 F 9413* 2, 9414* 2; M 9413* 2, 9414* 2; 1950 the same; 1958 F 9414* 1.
        assert found["explain"] == [
            (
                "binding requirement",
                "k_anonymity(k => 4): most rows violate it at all 2 nodes one level finer that cannot be published",
            ),
            (
                "dob",
                "not level 1: 17 of 17 rows would be suppressed, at most 1 allowed; classes that violate "
                "k_anonymity(k => 4): 9 with 17 rows, the smallest (dob = 1958-12, zip = 941**) with 1",
            ),
            (
                "zip",
                "not level 1: 17 of 17 rows would be suppressed, at most 1 allowed; classes that violate "
                "k_anonymity(k => 4): 9 with 17 rows, the smallest (dob = 1958, zip = 9414*) with 1",
            ),
            *(
                ("next cheaper", f"{node}, but 17 of 17 rows would be suppressed, 17 by k_anonymity(k => 4)")
                for node in (
                    # 1 for sex, and 9 rows share four digits with 8, 8 with 7: (9 * 8 + 8 * 7) / 17 / 12 further codes.
                    "dob 0/4, sex 1/1, zip 1/4 might lose as little as 0.487179",
                    "dob 1/4, sex 0/1, zip 2/4 might lose as little as 0.392157",
                    "dob 1/4, sex 0/1, zip 3/4 might lose as little as 0.392157",
                )
            ),
        ]

    @pytest.mark.long
    def test_no_more_than_the_lowest_level_allowed(self, hospital: Connection) -> None:
        policy = HOSPITAL_POLICY.replace("MAX LEVEL 2", "").replace(" MAX LEVEL 3", "")
        found = explain(hospital, policy)
        assert ("zip", "level 1 of 4 of zips: generalized") in found["solve"]
        assert ("zip", "not level 0: MIN LEVEL 1") in found["explain"]

    def test_a_node_that_could_be_published_but_loses_more(self, hospital: Connection) -> None:
        """By decade nobody is left out; by year one is, which costs more than the year gains.

        Of 17 dates 8 are of the 1940s and 9 of the others: (8 * 7 + 9 * 8) / 16 / 17 / 2 = 4 / 17. By year 8 and 8
        with 7 further dates each, and 1 row suppressed: (16 * 7 / 16 + 1) / 2 + 1 / 2 = 9 / 34.
        """
        policy = "source (dob QUASI IDENTIFIER USING birth, sex QUASI IDENTIFIER) REQUIRE k_anonymity(k => 4)"
        found = explain(hospital, policy, suppressing("0.06"))
        assert ("granularity loss", f"{4 / 17:.6f}, the least of all 10 nodes") in found["solve"]
        assert found["explain"][:2] == [
            (
                "binding requirement",
                "none: the less general nodes lose more by the rows that they leave out, most of which violate "
                "k_anonymity(k => 4)",
            ),
            ("dob", f"not level 2: it would lose {9 / 34 - 4 / 17:.6f} more; 1 of 17 rows would be suppressed"),
        ]

    def test_what_was_checked_and_what_was_not(self, hospital: Connection) -> None:
        found = dict(explain(hospital, HOSPITAL_POLICY, suppressing("0.06"))["solve"])
        said = re.fullmatch(r"(\d+) of 18, (\d+) ruled out unseen", found["nodes checked"])
        assert said
        assert int(said[1]) + int(said[2]) == 18

    @pytest.mark.one_in(6)
    @pytest.mark.parametrize("loss", LOSSES)
    def test_the_loss_has_its_name(self, hospital: Connection, loss: str) -> None:
        found = dict(explain(hospital, HOSPITAL_POLICY, suppressing("0.06", f", loss => '{loss}'"))["solve"])
        assert "the least of all 18 nodes" in found[loss.replace("_", " ")]

    def test_a_search_that_runs_out_of_time(self, hospital: Connection) -> None:
        """It ends with the most general node, which anything would improve on."""
        with sizes.replaced(few_nodes=0):
            found = explain(hospital, HOSPITAL_POLICY, suppressing("0.06", ", time_limit => 0.000001"))
        loss = dict(found["solve"])["granularity loss"]
        assert re.search(
            r"0.\d+, not proven to be the least: of 18 nodes none that may be published loses less than 0", loss
        )
        assert re.search(r"'\d+ of 18, \d+ ruled out unseen, \d+ left'", str(found["solve"]))
        assert re.search(r"it would lose 0.\d+ less, which the search has not come to", str(found["explain"]))


@pytest.mark.long
def test_rounds_of_local_recoding(con: Connection) -> None:
    """Two and two share two digits, the last two one: of the six values each is published as one of two."""
    filled(con, "zip VARCHAR, s INTEGER", *((z, i) for i, z in enumerate("111 112 121 122 211 221".split())))
    con.execute("CREATE HIERARCHY zips AS PREFIXES (2, 1)")
    policy = "source (zip QUASI IDENTIFIER USING zips, s SENSITIVE) REQUIRE k_anonymity(k => 2)"
    found = explain(con, policy, suppressing("0", ", recoding => 'local'"))
    assert found["solve"][:5] == [
        ("zip", "levels 1-2 of 3 of zips: generalized"),
        ("round 1", "zip 1/3: 4 rows"),
        ("round 2", "zip 2/3: 2 rows"),
        ("suppressed rows", "0 of 6, at most 0 allowed"),
        (
            "granularity loss",
            "0.200000, no more than the best of 4 nodes that was found for all rows; not proven to be the least",
        ),
    ]
    assert found["explain"] == [
        (
            "binding requirement",
            "k_anonymity(k => 2): violated by most rows that the less general nodes would leave to later rounds; these "
            "publish 2 rows, and the levels of all rounds are zip 1-2/3",
        ),
        (
            "zip",
            "not level 0: 6 of 6 rows would be left to later rounds rather than 2; classes that violate "
            "k_anonymity(k => 2): 6 with 6 rows, the smallest with 1",
        ),
    ]


# a: x1 twice p; x2 three times p; y1 p and q; y2 twice p, twice q.
GROUPS = tuple((a, s) for a, values in (("x1", "pp"), ("x2", "ppp"), ("y1", "pq"), ("y2", "ppqq")) for s in values)
TWO = "source (a QUASI IDENTIFIER USING g, s SENSITIVE) REQUIRE k_anonymity(k => 3), l_diversity(l => 2)"
DISTINCT = "l_diversity(l => 2, variant => 'distinct') of s"


class TestTwoRequirements:
    @pytest.fixture
    def con(self, con: Connection) -> Connection:
        con.execute("CREATE HIERARCHY g AS PREFIXES (1)")
        return filled(con, "a VARCHAR, s VARCHAR", *GROUPS)

    def test_a_class_may_violate_both(self, con: Connection) -> None:
        """x1 violates both, x2 diversity and y1 anonymity: 7 rows, 5 of them by diversity, 4 by anonymity."""
        found = explain(con, TWO, suppressing("0.64"))
        assert found["solve"][:4] == [
            ("a", "level 0 of 2 of g: kept"),
            ("suppressed rows", "7 of 11, at most 7 allowed"),
            ("of which", f"5 in 2 classes that violate {DISTINCT}"),
            ("of which", "4 in 2 classes that violate k_anonymity(k => 3)"),
        ]
        assert found["explain"] == [("binding requirement", "none: no attribute may be less general")]

    def test_the_budget_binds_where_no_requirement_alone_does(self, con: Connection) -> None:
        """5 rows may go: as many as diversity needs at level 0, more than anonymity does, but not 7."""
        found = explain(con, TWO, suppressing("0.46"))
        # At level 1 x* is left out, 5 rows, which all have p.
        assert found["solve"][:3] == [
            ("a", "level 1 of 2 of g: generalized"),
            ("suppressed rows", "5 of 11, at most 5 allowed"),
            ("of which", f"5 in 1 class that violates {DISTINCT}"),
        ]
        assert found["explain"] == [
            (
                "binding requirement",
                "the suppression budget: one level finer, no requirement by itself suppresses too many rows",
            ),
            (
                "a",
                "not level 0: 7 of 11 rows would be suppressed, at most 5 allowed; classes that violate "
                f"{DISTINCT}: 2 with 5 rows, the smallest with 2",
            ),
            ("next cheaper", f"a 0/2 might lose nothing, but 7 of 11 rows would be suppressed, 5 by {DISTINCT}"),
        ]

    def test_the_requirement_with_most_rows_binds(self, con: Connection) -> None:
        found = explain(con, TWO, suppressing("0.37"))
        assert found["solve"][0] == ("a", "level 2 of 2 of g: suppressed ('*')")
        assert found["explain"][:2] == [
            ("binding requirement", f"{DISTINCT}: most rows violate it one level finer"),
            (
                "a",
                "not level 1: 5 of 11 rows would be suppressed, at most 4 allowed; classes that violate "
                f"{DISTINCT}: 1 with 5 rows, the smallest (a = x*) with 5",
            ),
        ]
        assert [detail[:5] for item, detail in found["explain"] if item == "next cheaper"] == ["a 1/2", "a 0/2"]

    def test_an_infeasible_policy_names_the_requirement_with_most_rows(self, con: Connection) -> None:
        with pytest.raises(PrivacyViolation) as raised:
            explain(con, TWO.replace("USING g", "USING g MAX LEVEL 1"), suppressing("0.37"))
        assert f"classes that violate {DISTINCT}: 1 with 5 rows, the smallest (a = x*) with 5" in raised.value.message


class TestRounds:
    """a: 4 times p and 4 times q; b: 4 times p; c: 3 times p. Of 15 rows 11 have p.

    At first b differs from all by 1 - 11/15 = 4/15. Without c, which is too small, it differs by 1 - 8/12 = 1/3.
    """

    ROWS = tuple(("a", s) for s in "ppppqqqq") + tuple(("b", "p") for _ in range(4)) + tuple(("c", "p") for _ in "123")
    POLICY = "source (a QUASI IDENTIFIER{}, s SENSITIVE) REQUIRE k_anonymity(k => 4), t_closeness(t => 0.3)"

    def test_rows_withheld_because_others_were(self, con: Connection) -> None:
        filled(con, "a VARCHAR, s VARCHAR", *self.ROWS)
        found = explain(con, self.POLICY.format(" MAX LEVEL 0"), suppressing("0.5"))
        assert found["solve"][1:4] == [
            ("suppressed rows", "7 of 15, at most 7 allowed"),
            ("of which", "3 in 1 class that violates k_anonymity(k => 4)"),
            ("of which", "4 in later rounds: without the others these violate too"),
        ]

    def test_a_node_that_fails_in_a_later_round(self, con: Connection) -> None:
        filled(con, "a VARCHAR, s VARCHAR", *self.ROWS)
        found = explain(con, self.POLICY.format(""), suppressing("0.4"))
        assert found["explain"][:2] == [
            (
                "binding requirement",
                "the suppression budget: one level finer, no requirement by itself suppresses too many rows",
            ),
            (
                "a",
                "not level 0: 7 of 15 rows would be suppressed, 4 of them in later rounds, at most 6 allowed; classes "
                "that violate k_anonymity(k => 4): 1 with 3 rows, the smallest with 3",
            ),
        ]

    @pytest.mark.long
    def test_a_node_beyond_the_budget_at_first(self, con: Connection) -> None:
        """No row may go. With the levels pinned to these, and whatever has to go suppressed, 4 of 8 rows do."""
        rows = [("u", "d", 2), ("w", "b", None), ("u", "b", 3), ("u", "a", 1), ("v", "d", None), ("v", "a", 2)]
        filled(con, "q VARCHAR, s VARCHAR, s2 INTEGER", *rows, ("u", "b", 2), ("w", "d", None))
        policy = """source (q QUASI IDENTIFIER{}, s SENSITIVE, s2 SENSITIVE) REQUIRE
            t_closeness(t => 0.2, distance => 'jensen_shannon', attribute => s2),
            delta_disclosure(delta => 1, absent => 'ignored')"""
        found = explain(con, policy.format(""), "METHOD generalization")
        told = "4 of 8 rows would be suppressed, 2 of them in later rounds, "
        assert found["explain"][1][1].startswith(f"not level 0: {told}at most 0 allowed; ")
        assert found["explain"][2][1].startswith(f"q 0/1 might lose nothing, but {told}2 by t_closeness(")
        con.execute(f"CREATE OR REPLACE POLICY p ON {policy.format(' MAX LEVEL 0')}")
        con.execute(f"CREATE ANONYMIZED TABLE t AS POLICY p {suppressing('1')}")
        assert con.duckdb.execute("SELECT count(*) FROM t").fetchall() == [(4,)]


def test_a_node_of_which_nothing_can_be_published(con: Connection) -> None:
    """At first 11 is too few of its public rows, which leaves 12: without rows of 11 even fewer of them are there."""
    filled(con, "zip VARCHAR, s INTEGER", ("11", 1), ("12", 3), ("12", 4), ("12", 5))
    con.execute("CREATE TABLE everybody AS SELECT unnest(['11', '11', '11', '11', '12', '12', '12', '12']) AS zip")
    policy = "source (zip QUASI IDENTIFIER, s SENSITIVE) AGAINST everybody "
    found = explain(con, policy + "REQUIRE delta_presence(min => 0.5, max => 1)")
    assert found["explain"][1][1].startswith("not level 0: whatever rows are suppressed, the rest violates; classes ")
    assert "but whatever rows are suppressed, the rest violates, 1 by delta_presence(" in found["explain"][2][1]


def test_what_withholding_rows_cannot_cure(con: Connection) -> None:
    """The public table has a class that the release lacks: the least share of it that may be there is above 0."""
    filled(con, "zip VARCHAR, s INTEGER", ("11", 1), ("11", 2), ("12", 3), ("12", 4))
    con.execute("CREATE TABLE everybody AS SELECT unnest(['11', '11', '12', '12', '21', '22', '23']) AS zip")
    con.execute("CREATE HIERARCHY zips AS PREFIXES (1)")
    policy = "source (zip QUASI IDENTIFIER USING zips, s SENSITIVE) AGAINST everybody "
    found = explain(con, policy + "REQUIRE delta_presence(min => 0.2, max => 1)", suppressing("1"))
    assert found["solve"][0] == ("zip", "level 2 of 2 of zips: suppressed ('*')")
    asked = next(detail for item, detail in found["resolve"] if item == "requirement")
    assert found["explain"][:2] == [
        ("binding requirement", f"{asked}: most rows violate it one level finer"),
        (
            "zip",
            "not level 1: whatever rows are suppressed, the rest violates; classes that violate "
            f"{asked}: 1 with 0 rows, the smallest (zip = 2*) with 0",
        ),
    ]


def test_null_is_a_label(con: Connection) -> None:
    filled(con, "zip VARCHAR, s INTEGER", *((zip_, i) for i, zip_ in enumerate(["11", "12", "13", None, None])))
    con.execute("CREATE HIERARCHY zips AS PREFIXES (1)")
    found = explain(con, "source (zip QUASI IDENTIFIER USING zips, s SENSITIVE) REQUIRE k_anonymity(k => 3)")
    assert "1 with 2 rows, the smallest (zip = NULL) with 2" in found["explain"][1][1]


def test_a_stored_hierarchy_that_lists_more_than_occurs(con: Connection) -> None:
    filled(con, "job VARCHAR, s INTEGER", *((job, i) for i, job in enumerate(["cook", "cook", "clerk", "baker"])))
    con.execute(
        "CREATE HIERARCHY jobs AS LEVELS (FROM (VALUES ('cook', 'hands'), ('clerk', 'desk'), ('baker', 'hands'), "
        "('author', 'art')) t)"
    )
    found = explain(
        con,
        "source (job QUASI IDENTIFIER USING jobs, s SENSITIVE) REQUIRE k_anonymity(k => 2)",
        "METHOD generalization",
    )
    assert "1 with 1 row, the smallest (job = desk) with 1" in found["explain"][1][1]


@pytest.mark.one_in(35)
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names(con: Connection, name: str) -> None:
    """A column's name is the item as it is; in a detail it stands on one line."""
    quoted = '"' + name.replace('"', '""') + '"'
    filled(con, f"{quoted} VARCHAR, other__ VARCHAR", ("11", "a"), ("12", "b"), ("2", "c"))
    con.execute("CREATE HIERARCHY zips AS PREFIXES (1)")
    policy = f"source ({quoted} QUASI IDENTIFIER USING zips, other__ QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)"
    found = explain(con, policy, suppressing("0.34"))
    why = dict(found["explain"])
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)
    assert why["other__"].endswith(f"3 with 3 rows, the smallest ({shown} = 1*) with 1")
    assert why[name].startswith("not level 0: 3 of 3 rows")
    assert why["next cheaper"].startswith(f"{shown} 1/2, other__ 0/1 might lose as little as ")
    assert not any("\n" in detail for _, detail in (*found["solve"], *found["explain"]))


@pytest.mark.long
def test_no_value_of_a_row_is_shown(con: Connection) -> None:
    """Whatever is kept as it is stays unnamed, at the nodes that were not chosen too; labels are all there is."""
    rows = [(f"{i % 3}name{i}", f"town{i % 5}", f"secret{i % 4}") for i in range(40)]
    filled(con, "a VARCHAR, b VARCHAR, s VARCHAR", *rows)
    con.execute("CREATE HIERARCHY first AS PREFIXES (1)")
    policy = "source (a QUASI IDENTIFIER USING first, b QUASI IDENTIFIER, s SENSITIVE) REQUIRE "
    for asked in ("k_anonymity(k => 10)", "k_anonymity(k => 2), l_diversity(l => 4)", "t_closeness(t => 0.05)"):
        for share in ("0", "0.2", "0.9"):
            found = explain(con, policy + asked, suppressing(share))
            text = str(found["solve"]) + str(found["explain"])
            assert not re.search(r"name\d|town\d|secret\d", text)
    # The rows beside them do have labels to show.
    found = explain(con, policy + "k_anonymity(k => 14)", "METHOD generalization")
    assert re.search(r"\(a = \d\*", str(found["explain"]))


def test_it_takes_few_statements(hospital: Connection) -> None:
    stages: list[str] = []
    hospital.observe(lambda stage, sql, done, total, detail: stages.append(stage) if sql else None)
    explain(hospital, HOSPITAL_POLICY, suppressing("0.06"))
    assert 0 < stages.count("explain") <= 16


def test_progress_of_a_search(hospital: Connection) -> None:
    """How many nodes have been checked and ruled out, up to all of them, and the least loss so far."""
    seen: list[tuple[int, int, str]] = []

    def observe(stage: str, sql: str | None, done: int | None, total: int | None, detail: str | None) -> None:
        if detail is not None:
            assert stage == "solve"
            assert done is not None
            assert total is not None
            seen.append((done, total, detail))

    hospital.observe(observe)
    explain(hospital, HOSPITAL_POLICY, suppressing("0.06"))
    losses = []
    for done, total, detail in seen:
        said = re.fullmatch(r"(\d+) of 18 nodes checked, (\d+) ruled out, best loss (0\.\d+)", detail)
        assert said
        assert (int(said[1]) + int(said[2]), 18) == (done, total)
        losses.append(float(said[3]))
    assert seen[-1][0] == 18
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] == pytest.approx(0.509804, abs=1e-6)


def test_a_release_needs_no_explanation(hospital: Connection) -> None:
    hospital.execute(f"CREATE POLICY p ON {HOSPITAL_POLICY}")
    stages: list[str] = []
    hospital.observe(lambda stage, *_: stages.append(stage))
    hospital.execute(f"CREATE ANONYMIZED TABLE t AS POLICY p {suppressing('0.06')}")
    assert "solve" in stages
    assert "explain" not in stages


@pytest.mark.one_in(8)
@pytest.mark.parametrize("required", ["l_diversity(l => 3)", "t_closeness(t => 0.3, distance => 'equal')"])
@pytest.mark.parametrize("recoding", ["global", "local"])
def test_what_the_rows_left_out_have_in_common(con: Connection, required: str, recoding: str) -> None:
    """Counted in the source and in the release itself. Where rows are recoded in several rounds nothing is said."""
    ages = [
        (20 + i % 60, ["flu", "cold", "gout", None][(i * i) % 7 % 4] if i % 60 < 40 else "ulcer") for i in range(240)
    ]
    filled(con, "age INTEGER, disease VARCHAR", *ages)
    con.execute("CREATE HIERARCHY decades AS INTERVALS (5, 10)")
    policy = f"source (age QUASI IDENTIFIER USING decades, disease SENSITIVE) REQUIRE k_anonymity(k => 2), {required}"
    method = suppressing("0.5", f", recoding => '{recoding}'")
    said = [detail for item, detail in explain(con, policy, method)["solve"] if item == "rows left out"]
    (answer, *_) = con.execute(f"CREATE ANONYMIZED TABLE t AS POLICY p {method}").fetchall()
    rounds = con.duckdb.execute("SELECT count(DISTINCT round) FROM anon.release_round").fetchall()[0][0]
    source, released = (
        Counter(con.duckdb.execute(f"SELECT disease FROM {name}").fetchall()) for name in ("source", "t")
    )
    left = source - released
    assert left.total() == answer[4]
    assert left or recoding == "local" or "closeness" in required
    if not left or rounds > 1:
        assert said == []
        return
    share, published = (counted.most_common(1)[0][1] / counted.total() for counted in (left, released))
    assert said == [f"{share:.1%} share one value of disease, of those published {published:.1%}"]
    assert recoding == "local" or share > published
