"""METHOD fragments and METHOD loose by example: what they publish, what they refuse, and what happens afterwards."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from sqlanon import Connection, PolicyError, PrivacyViolation, UserError
from sqlanon.errors import CatalogError, InternalError, StatementError
from sqlanon.methods.base import Structure
from sqlanon.methods.fragmentation import loose
from sqlanon.methods.fragmentation.association.associate import associate
from sqlanon.methods.registry import verified
from tests.oracles.left_out import largest_k
from tests.support.database import VISIT_ROLES as ROLES
from tests.support.database import rows, tables, template, visits

SOURCE = visits("flu", "cold", "asthma", "ulcer", "gout", "cough", "burn", visit="'v' || i")
# Blocks can rarely be filled with all of so few rows, some of which are alike in three sets of columns.
LOOSE = "loose(k => 4, suppression => 0.5)"
SETS = "CONFIDENTIAL (visit), (age, zip, disease), (disease, ward) VISIBLE (age, zip)"


@pytest.fixture
def con() -> Connection:
    return template(f"{SOURCE}; CREATE POLICY p ON visits ({ROLES}) {SETS}")


def release(con: Connection, method: str = "fragments", name: str = "r", policy: str = "p") -> list[Any]:
    statement = f"CREATE OR REPLACE ANONYMIZED TABLE {name} AS POLICY {policy} METHOD {method}"
    return list(con.execute(statement).fetchall())


def refused(con: Connection, method: str = "fragments", roles: str = ROLES, sets: str = SETS) -> str:
    con.execute(f"CREATE OR REPLACE POLICY q ON visits ({roles}) {sets}")
    with pytest.raises(PolicyError) as error:
        release(con, method, "s", "q")
    assert tables(con) == {"visits"}
    return str(error.value)


def test_a_table_for_each_fragment(con: Connection) -> None:
    (answer,) = release(con)
    assert answer[1:] == ("table", 120, 120, 0, 0.0, "", "fragmentation", None, 4.0, 4.0, True, None, None, None)
    assert tables(con) == {"visits", "r_1", "r_2"}
    shown = [name for name, *_ in rows(con, "DESCRIBE r_1")], [name for name, *_ in rows(con, "DESCRIBE r_2")]
    assert shown == (["age", "zip", "ward"], ["disease"])
    for place, names in enumerate(shown, start=1):
        exact = rows(con, f"SELECT {', '.join(names)} FROM visits")
        assert Counter(rows(con, f"FROM r_{place}")) == Counter(exact)
        assert rows(con, f"FROM r_{place}") != exact


def test_the_users_own_fragments_in_their_order(con: Connection) -> None:
    release(con, "fragments FRAGMENTS (DISEASE), (zip, Age)")
    shown = [[name for name, *_ in rows(con, f"DESCRIBE r_{place}")] for place in (1, 2)]
    assert shown == [["disease"], ["zip", "age"]]
    plan = {
        item: detail
        for _, item, detail in con.execute(
            "EXPLAIN VERBOSE ANONYMIZED TABLE s AS POLICY p METHOD fragments FRAGMENTS (disease), (zip, age)"
        ).fetchall()
    }
    assert plan["fragments"] == "2: those of the statement"
    assert plan["ward"] == "not published: no fragment has it"
    assert plan["visit"] == "not published: the policy hides it"
    assert tables(con) == {"visits", "r_1", "r_2"}


@pytest.mark.long
def test_what_is_not_published_is_lost(con: Connection) -> None:
    con.execute(
        f"CREATE POLICY half ON visits ({ROLES.replace('zip QUASI IDENTIFIER', 'zip QUASI IDENTIFIER WEIGHT 3')}) "
        "CONFIDENTIAL (zip), (age, disease)"
    )
    assert release(con, policy="half")[0][5] == 0.75
    answer = release(con, "loose(groups => (3, 2), suppression => 0.5) FRAGMENTS (age), (disease)", policy="half")[0]
    # A row that is left out loses what is left, too: one of four parts.
    assert answer[5] == pytest.approx(0.75 + 0.25 * answer[4] / 120)


@pytest.mark.long
def test_explain_says_the_fragments_and_that_they_are_minimal(con: Connection) -> None:
    plan = con.execute(f"EXPLAIN VERBOSE ANONYMIZED TABLE r AS POLICY p METHOD {LOOSE}").fetchall()
    details = {item: detail for _, item, detail in plan}
    assert details["fragments"] == "2: proven minimal"
    assert (details["fragment 1"], details["fragment 2"]) == ("age, zip, ward", "disease")
    assert details["groups"] == "of at least 2, 2 rows: 4-loose"
    assert details["suppressed rows"].endswith(" of 120, at most 60 allowed")
    assert details["disease"] == "sensitive, published unchanged in r_2"
    assert "group_id" in details["sql of r_1"]
    assert "group_2" in details["sql of r_association"]
    assert tables(con) == {"visits"}


@pytest.mark.long
def test_a_loose_association_is_three_tables(con: Connection) -> None:
    answers = release(con, LOOSE)
    assert [answer[7:12] for answer in answers] == [
        ("fragmentation", None, 4.0, 4.0, True),
        ("k_looseness", None, 4.0, 4.0, True),
        ("left_out", None, 4.0, answers[2][10], True),
    ]
    assert tables(con) == {"visits", "r_1", "r_2", "r_association"}
    assert [name for name, *_ in rows(con, "DESCRIBE r_association")] == ["group_1", "group_2"]
    # Each group of ages is linked to four different diseases, and the true one of each row is among them.
    linked = "SELECT DISTINCT group_1, disease FROM r_association JOIN r_2 ON group_2 = group_id"
    assert rows(con, f"SELECT min(n) FROM (SELECT count(*) AS n FROM ({linked}) GROUP BY group_1)") == [(4,)]
    missing = (
        f"SELECT count(*) FROM visits AS v JOIN r_1 AS a USING (age, zip, ward) WHERE NOT EXISTS (FROM ({linked}) "
    )
    assert rows(con, missing + "AS l WHERE l.group_1 = a.group_id AND l.disease = v.disease)") == [(0,)]
    assert rows(con, "SELECT min(n), max(n) FROM (SELECT count(*) AS n FROM r_1 GROUP BY group_id)") == [(2, 2)]


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    ("method", "sizes"),
    [
        ("k => 2", (2, 1)),
        ("k => 3", (2, 2)),
        ("k => 5", (3, 2)),
        ("groups => (1, 4)", (1, 4)),
        ("k => 3, groups => (1, 5)", (1, 5)),
    ],
)
def test_groups_have_the_sizes_asked_for_or_even_ones(con: Connection, method: str, sizes: tuple[int, int]) -> None:
    _, looseness, missing = release(con, f"loose({method}, suppression => 1)")
    k = sizes[0] * sizes[1]
    required = 3.0 if "k => 3" in method else 5.0 if "k => 5" in method else float(k)
    assert looseness[9] == missing[9] == required
    assert looseness[10] >= k
    assert missing[4] == 0 or missing[10] >= required
    for place, size in enumerate(sizes, start=1):
        assert rows(con, f"SELECT min(n) FROM (SELECT count(*) AS n FROM r_{place} GROUP BY group_id)") == [(size,)]


@pytest.mark.long
def test_rows_without_a_place_are_counted_and_in_no_table(con: Connection) -> None:
    con.execute("UPDATE visits SET disease = 'flu' WHERE age < 24")
    answer, *_, missing = release(con, LOOSE)
    source, released, suppressed = answer[2:5]
    assert (source, released + suppressed) == (120, 120)
    assert answer[5] == pytest.approx(suppressed / 120)
    assert {rows(con, f"SELECT count(*) FROM r_{name}")[0][0] for name in ("1", "2", "association")} == {released}
    # In each block of four at most one has the flu, and of the rows left out one in four.
    left = Counter(rows(con, "SELECT disease FROM visits")) - Counter(rows(con, "SELECT disease FROM r_2"))
    assert left.total() == suppressed
    assert missing[7:10] == ("left_out", None, 4.0)
    if suppressed:
        assert suppressed / max(left.values()) >= missing[10] >= 4
    plan = con.execute(f"EXPLAIN VERBOSE ANONYMIZED TABLE s AS POLICY p METHOD {LOOSE}").fetchall()
    details = {item: detail for _, item, detail in plan}
    assert (
        details["suppressed rows"].startswith("0 of")
        or "have the same CONFIDENTIAL values, 1 in " in details["of which"]
    )


@pytest.mark.long
def test_more_rows_left_out_than_allowed_publish_nothing(con: Connection) -> None:
    con.execute(
        "CREATE TABLE two AS SELECT i AS age, 'd' || i % 7 AS disease FROM range(122) AS n(i); "
        "CREATE POLICY two ON two (age QUASI IDENTIFIER, disease SENSITIVE) CONFIDENTIAL (age, disease)"
    )
    # Blocks of four, of 122 rows: two are left over, and four more make them a class of which one in six is alike.
    refusal = (
        r"6 of 122 rows have to be left out, of which not more than one in 4 may have the same .* suppression => {} "
        "allows {}; nothing was published"
    )
    for share, allowed, best in (
        ("0", 0, "k => 2, the largest that works, which leaves out 0"),
        ("0.02", 2, "k => 2, the largest that works, which leaves out 0"),
        ("0.0491", 5, "k => 3, groups => (3, 1), the largest that works, which leaves out 5"),
    ):
        with pytest.raises(PrivacyViolation, match=refusal.format(share, allowed)) as error:
            release(con, f"loose(k => 4, suppression => {share}) FRAGMENTS (age), (disease)", policy="two")
        assert str(error.value.hint).startswith(f"allow suppression => 0.05, or ask for {best}")
        assert tables(con) == {"visits", "two"}
    with pytest.raises(PrivacyViolation, match=refusal.format("0.02", 2)):
        release(con, "loose(k => 4) FRAGMENTS (age), (disease)", policy="two")
    for share in ("0.0492", "0.05", "1"):
        answers = release(con, f"loose(k => 4, suppression => {share}) FRAGMENTS (age), (disease)", policy="two")
        assert answers[0][2:5] == (122, 116, 6)
        assert answers[2][7:12] == ("left_out", None, 4.0, 6.0, True)
    with pytest.raises(PrivacyViolation, match="have to be left out"):
        con.execute("EXPLAIN VERBOSE ANONYMIZED TABLE s AS POLICY two METHOD loose(k => 4, suppression => 0)")


@pytest.mark.long
def test_an_error_says_which_k_is_possible(con: Connection) -> None:
    con.execute(
        "CREATE TABLE two AS SELECT i AS age, CASE WHEN i < 30 THEN 'flu' ELSE 'd' || i END AS disease "
        "FROM range(96) AS n(i); "
        "CREATE POLICY two ON two (age QUASI IDENTIFIER, disease SENSITIVE) CONFIDENTIAL (age, disease)"
    )
    # For three alone the groups are of two, and blocks of four leave out more.
    for method, largest in (
        ("k => 4", "3, groups => (3, 1)"),
        ("k => 4, near => true, suppression => 0.8", "3"),
        ("groups => (4, 1)", "3 and suppression => 0.75"),
    ):
        why = r"30 of 96 rows are alike in \(disease\), and k => 4 allows 24"
        with pytest.raises(PrivacyViolation, match=why) as error:
            release(con, f"loose({method})", policy="two")
        assert str(error.value.hint).startswith(f"ask for k => {largest}, the largest that works")
    with pytest.raises(PrivacyViolation, match="72 of 96 rows have to be left out") as error:
        release(con, "loose(k => 3)", policy="two")
    assert "ask for k => 3, groups => (3, 1), the largest that works, which leaves out 0" in str(error.value.hint)
    assert release(con, "loose(k => 3, groups => (3, 1))", policy="two")[0][2:5] == (96, 96, 0)
    con.execute("DROP ANONYMIZED TABLE r")
    assert largest_k([value for (value,) in rows(con, "SELECT disease FROM two")]) == 3
    con.execute("UPDATE two SET disease = 'flu' WHERE age < 50")
    with pytest.raises(PrivacyViolation, match="50 of 96 rows are alike") as error:
        release(con, "loose(k => 4)", policy="two")
    assert str(error.value.hint).startswith("use METHOD fragments")
    assert tables(con) == {"visits", "two"}


@pytest.mark.long
def test_what_the_rows_left_out_tell_is_what_was_found_then(con: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    con.execute("DELETE FROM visits WHERE visit = 'v0'")
    before = release(con, LOOSE)[2]
    assert before[4] > 0
    assert con.execute("CHECK r").fetchall()[2] == (before[0], *before[7:12])

    # A release of which nothing is known, as of those that were made before it was asked.
    def without(*asked: Any) -> Structure:
        found = verified(*asked)
        return replace(found, measurements=found.measurements[:2])

    with monkeypatch.context() as patch:
        patch.setattr("sqlanon.methods.registry.verified", without)
        release(con, LOOSE)
    assert con.execute("CHECK r").fetchall()[2][1:] == ("left_out", None, 4.0, None, False)
    with pytest.raises(PrivacyViolation, match="does not meet left_out"):
        con.execute("EXPORT r TO 'nowhere/'")


@pytest.mark.long
def test_rows_left_out_that_are_too_much_alike_are_noticed(con: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    con.execute("DELETE FROM visits WHERE visit = 'v0'")
    monkeypatch.setattr(loose, "associate", lambda *a: replace(associate(*a), alike=30))
    with pytest.raises(PrivacyViolation, match=r"would violate left_out: it reaches 0\.\d+ of 4\.0; nothing"):
        release(con, LOOSE)
    assert tables(con) == {"visits"}


@pytest.mark.long
def test_a_source_with_a_column_rowid(con: Connection) -> None:
    con.execute(
        'CREATE TABLE numbered AS SELECT 7 AS "RowId", age, disease FROM visits; '
        'CREATE POLICY n ON numbered ("RowId" INSENSITIVE, age QUASI IDENTIFIER, disease SENSITIVE) '
        "CONFIDENTIAL (age, disease); CREATE TABLE other AS SELECT age, disease, 3 AS rowid FROM visits; "
        "CREATE POLICY o ON other (age QUASI IDENTIFIER, disease SENSITIVE) CONFIDENTIAL (age, disease)"
    )
    for policy, source in (("n", "numbered"), ("o", "other")):
        every, released, left_out = release(con, "loose(k => 4, near => true, suppression => 0.5)", policy=policy)[0][
            2:5
        ]
        assert released + left_out == every == 120
        for place, name in ((1, "age"), (2, "disease")):
            assert rows(con, f"SELECT count(*) FROM r_{place}") == [(released,)]
            assert rows(con, f"SELECT {name} FROM r_{place} EXCEPT ALL SELECT {name} FROM {source}") == []


@pytest.mark.long
def test_near_groups_are_nearer(con: Connection) -> None:
    con.execute(f"CREATE POLICY close ON visits ({ROLES}) CONFIDENTIAL (age, disease)")
    spread = "SELECT avg(w) FROM (SELECT max(age) - min(age) AS w FROM r_1 GROUP BY group_id)"
    release(con, "loose(groups => (2, 2), suppression => 0.5) FRAGMENTS (age), (disease)", policy="close")
    drawn = rows(con, spread)[0][0]
    release(con, "loose(groups => (2, 2), near => true, suppression => 0.5) FRAGMENTS (age), (disease)", policy="close")
    assert rows(con, spread)[0][0] < 0.85 * drawn


@pytest.mark.long
def test_three_fragments(con: Connection) -> None:
    con.execute(f"CREATE POLICY three ON visits ({ROLES}) CONFIDENTIAL (age, disease), (zip, disease), (age, zip)")
    _, looseness, missing = release(con, LOOSE, policy="three")
    assert looseness[9] == missing[9] == 4.0
    assert tables(con) == {"visits", "r_1", "r_2", "r_3", "r_association"}
    # What is in no set that is CONFIDENTIAL goes with the first.
    assert [name for name, *_ in rows(con, "DESCRIBE r_1")] == ["age", "ward", "group_id"]


def test_without_a_constraint_across_the_fragments_nothing_is_required(con: Connection) -> None:
    con.execute("DELETE FROM visits WHERE visit IN ('v0', 'v1')")
    _, looseness, missing = release(con, "loose(k => 4) FRAGMENTS (age, zip), (ward)")
    assert looseness[9:12] == (None, None, True)
    # Then nothing is to be found out about the two that fill no group, either.
    assert (missing[4], missing[9], missing[11]) == (2, None, True)


def test_an_empty_source_is_published_as_empty_tables(con: Connection) -> None:
    con.execute("DELETE FROM visits")
    for method in ("fragments", "loose(k => 4, near => true)"):
        assert release(con, method)[0][2:5] == (0, 0, 0)
        assert all(satisfied for *_, satisfied in con.execute("CHECK r").fetchall())


@pytest.mark.long
def test_what_fragments_cannot_promise_is_refused_by_name(con: Connection) -> None:
    for method in ("fragments", "loose(k => 4)"):
        assert f"nothing is CONFIDENTIAL, so that METHOD {method.partition('(')[0]}" in refused(
            con, method, sets="REQUIRE k_anonymity(k => 2)"
        )
        assert "cannot promise k_anonymity" in refused(con, method, sets=f"{SETS} REQUIRE k_anonymity(k => 2)")
        assert "visit is ENTITY" in refused(
            con, method, ROLES.replace("IDENTIFIER,", "ENTITY,", 1), SETS.replace("(visit), ", "")
        )
        assert "publishes no pseudonyms, and visit" in refused(
            con, method, ROLES.replace("IDENTIFIER,", "IDENTIFIER PSEUDONYM,", 1), SETS.replace("(visit), ", "")
        )
        assert "MIN LEVEL 1" in refused(con, method, ROLES.replace("IDENTIFIER, zip", "IDENTIFIER MIN LEVEL 1, zip"))
        assert "nothing is left to publish" in refused(con, method, "age SENSITIVE", "CONFIDENTIAL (age)")
        with pytest.raises(PolicyError, match="a live view cannot publish the fragments"):
            con.execute(f"CREATE ANONYMIZED VIEW v AS POLICY p METHOD {method}")


@pytest.mark.parametrize(
    ("fragments", "why"),
    [
        ("(age, zip, disease)", r"the fragment \(age, zip, disease\) contains CONFIDENTIAL \(age, zip, disease\)"),
        ("(age, zip), (visit)", "FRAGMENTS names visit, which is IDENTIFIER and not published"),
        ("(age, zip), (age)", "age is in two fragments"),
        ("(age), (zip)", r"VISIBLE \(age, zip\) lies in no fragment"),
        ("(age, zip, nothing)", "there is no attribute nothing"),
    ],
)
def test_fragments_of_the_statement_are_checked(con: Connection, fragments: str, why: str) -> None:
    for method in ("fragments", "loose(k => 4)"):
        with pytest.raises(PolicyError, match=why):
            release(con, f"{method} FRAGMENTS {fragments}")
    assert tables(con) == {"visits"}


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("method", "why"),
    [
        ("fragments(k => 4)", "fragments has no argument 'k'"),
        ("loose", "lacks its argument 'k', or 'groups'"),
        ("loose(l => 2)", "loose has no argument 'l'"),
        ("loose(k => 1)", "k must be a whole number from 2"),
        ("loose(k => '4')", "k must be a whole number from 2"),
        ("loose(k => (2, 2))", "k must be a whole number from 2"),
        ("loose(groups => 2)", "groups must be a list of whole numbers from 1"),
        ("loose(groups => (2, 0))", "groups must be a list of whole numbers from 1"),
        ("loose(groups => (2, 1.5))", "groups must be a list of whole numbers from 1"),
        ("loose(groups => (2, true))", "groups must be a list of whole numbers from 1"),
        ("loose(groups => (2, 2, 2))", "there are 2 fragments, and groups has 3 sizes"),
        ("loose(groups => (1, 1))", "publish the association unprotected"),
        ("loose(k => 5, groups => (2, 2))", r"groups => \(2, 2\) give k => 4, not 5"),
        ("loose(k => 4, near => 1)", "near must be true or false"),
        ("loose(k => 4, suppression => 2)", "suppression must be a fraction between 0 and 1, not 2"),
        ("loose(k => 4, suppression => true)", "suppression must be a fraction between 0 and 1"),
        ("loose(k => 4, suppression => '0.1')", "suppression must be a fraction between 0 and 1"),
        ("loose(k => 4) FRAGMENTS (age, zip)", "two fragments or more, and there is 1"),
        ("anatomy(l => (2, 2))", "l must be a whole number from 2"),
    ],
)
def test_arguments_are_checked(con: Connection, method: str, why: str) -> None:
    with pytest.raises(PolicyError, match=why):
        release(con, method)
    assert tables(con) == {"visits"}


def test_near_needs_a_quasi_identifier(con: Connection) -> None:
    roles = ROLES.replace("QUASI IDENTIFIER", "INSENSITIVE")
    assert "no fragment has a quasi-identifier" in refused(con, "loose(k => 4, near => true)", roles)


def test_lists_and_fragments_are_read_with_care(con: Connection) -> None:
    for method, why in (
        ("loose(groups => ())", "a value"),
        ("loose(groups => ((2, 2)))", "a value"),
        ("fragments FRAGMENTS", r'"\("'),
        ("fragments FRAGMENTS (age, AGE)", "named twice in one set"),
        ("fragments FRAGMENTS (age) (zip)", "the end of the statement"),
    ):
        with pytest.raises(StatementError, match=why):
            release(con, method)


def test_other_methods_take_no_fragments(con: Connection) -> None:
    con.execute(f"CREATE POLICY plain ON visits ({ROLES}) REQUIRE k_anonymity(k => 2)")
    with pytest.raises(PolicyError, match="the method mondrian takes no FRAGMENTS"):
        release(con, "mondrian FRAGMENTS (age), (zip)", policy="plain")
    with pytest.raises(PolicyError, match=r"requirement|k_anonymity"):
        con.execute(f"CREATE POLICY listed ON visits ({ROLES}) REQUIRE k_anonymity(k => (2, 2))")


def test_groups_that_no_rows_can_fill_are_refused(con: Connection) -> None:
    with pytest.raises(PrivacyViolation, match=r"it takes 9 rows .* \(ward\) has 6 different values; nothing"):
        release(con, "loose(k => 8)")
    assert tables(con) == {"visits"}


def test_fewer_rows_than_a_block_are_refused_too(con: Connection) -> None:
    con.execute("DELETE FROM visits WHERE visit NOT IN ('v1', 'v2', 'v3')")
    with pytest.raises(PrivacyViolation, match="linked groups hold 4 rows, and there are 3; nothing was published"):
        release(con, "loose(k => 4) FRAGMENTS (age, zip), (ward)")


@pytest.mark.long
def test_names_that_are_taken_are_refused_before_anything_is_published(con: Connection) -> None:
    con.execute("CREATE TABLE s_association AS SELECT 1 AS i")
    with pytest.raises(UserError, match=r"publishes a table main\.s_association, and there is a table of that name"):
        release(con, LOOSE, "s")
    release(con, "fragments", "s")
    con.execute(
        f'CREATE POLICY named ON (SELECT *, zip AS "Group_ID" FROM visits) ({ROLES}, "Group_ID" INSENSITIVE) '
        "CONFIDENTIAL (age, disease)"
    )
    with pytest.raises(PolicyError, match="adds a column group_id to each fragment"):
        release(con, LOOSE, "t", "named")
    release(con, "fragments", "t", "named")
    assert rows(con, "SELECT count(*) FROM s_association") == [(1,)]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("method", "made"), [("fragments", {"r_1", "r_2"}), (LOOSE, {"r_1", "r_2", "r_association"})])
def test_a_release_is_one_thing(con: Connection, method: str, made: set[str]) -> None:
    create = f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD {method}"
    con.execute(create)
    with pytest.raises(UserError, match="exists already"):
        con.execute(create)
    before = rows(con, "SELECT release_id FROM anon.release")
    kept = con.execute(create.replace("TABLE r", "TABLE IF NOT EXISTS r")).fetchall()
    assert rows(con, "SELECT release_id FROM anon.release") == before
    assert kept[0][7] == "fragmentation"
    con.execute("DROP TABLE r_2")
    with pytest.raises(UserError, match="is gone"):
        con.execute("CHECK r")
    con.execute(create.replace("TABLE r", "TABLE IF NOT EXISTS r"))
    assert tables(con) == {"visits", *made}
    assert rows(con, "SELECT release_id FROM anon.release") != before
    # Another method under the name takes all tables of the first along.
    release(con, "fragments FRAGMENTS (age, zip)")
    assert tables(con) == {"visits", "r_1"}
    con.execute("DROP ANONYMIZED TABLE r")
    assert tables(con) == {"visits"}
    assert rows(con, "SELECT count(*) FROM anon.release_object") == [(0,)]


@pytest.mark.long
@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    ("edit", "why"),
    [
        ("UPDATE r_2 SET disease = 'flu'", "do not have the rows any more"),
        ("DELETE FROM r_1 WHERE age > 40", "do not fit together any more: they have other numbers of rows"),
        ("UPDATE r_association SET group_2 = group_1", "do not have the rows any more"),
        ("ALTER TABLE r_1 ADD COLUMN visit VARCHAR", "was changed after it was released"),
    ],
)
def test_check_and_export_notice_an_edit(con: Connection, tmp_path: Path, edit: str, why: str) -> None:
    release(con, LOOSE)
    con.execute(edit)
    with pytest.raises(PrivacyViolation, match=why):
        con.execute("CHECK r")
    with pytest.raises(PrivacyViolation):
        con.execute(f"EXPORT r TO '{tmp_path.as_posix()}/out'")
    assert not list(tmp_path.iterdir())


@pytest.mark.long
@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    "edit",
    [
        "UPDATE anon.release SET method = 'generalization', method_arguments = '{}'",
        "UPDATE anon.release_object SET fragment = NULL WHERE fragment = '1'",
        "UPDATE anon.release_object SET fragment = 'x' WHERE fragment = 'association'",
        "DELETE FROM anon.release_object WHERE fragment = 'association'",
    ],
)
def test_a_catalog_that_was_changed_proves_nothing(con: Connection, edit: str) -> None:
    release(con, LOOSE)
    con.execute(edit)
    with pytest.raises((CatalogError, PrivacyViolation, UserError)):
        con.execute("CHECK r")


def test_a_release_is_checked_by_the_policy_that_it_carries(con: Connection) -> None:
    release(con)
    con.execute(f"CREATE OR REPLACE POLICY p ON visits ({ROLES}) CONFIDENTIAL (age, zip)")
    assert con.execute("CHECK r").fetchall() == [("main.r", "fragmentation", None, 4.0, 4.0, True)]
    # Nobody may make the copy ask for something else.
    con.execute(
        'UPDATE anon.release SET policy_json = replace(policy_json, \'["disease","ward"]\', \'["age","ward"]\')'
    )
    with pytest.raises(CatalogError, match="its rows in the catalog were changed"):
        con.execute("CHECK r")


@pytest.mark.long
def test_a_method_that_breaks_its_promise_publishes_nothing(con: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    from sqlanon.methods.fragmentation import minimal_fragmentation

    with monkeypatch.context() as patch:
        patch.setattr(
            minimal_fragmentation,
            "fragmentation",
            lambda names, *_: minimal_fragmentation.Fragmentation((tuple(names),), (), 1, True),
        )
        with pytest.raises(PrivacyViolation, match=r"would violate fragmentation: it reaches 2\.0 of 4\.0"):
            release(con)
    with monkeypatch.context() as patch:
        patch.setattr(loose, "required", lambda *_: 5)
        with pytest.raises(PrivacyViolation, match=r"would violate k_looseness: it reaches 4\.0 of 5\.0"):
            release(con, "loose(groups => (2, 2), suppression => 0.5)")
    assert tables(con) == {"visits"}


@pytest.mark.long
def test_an_error_half_way_leaves_nothing(con: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise InternalError("half way")

    monkeypatch.setattr("sqlanon.methods.registry.verified", fails)
    with pytest.raises(InternalError, match="half way"):
        release(con, LOOSE)
    assert tables(con) == {"visits"}


@pytest.mark.long
@pytest.mark.one_in(3)
@pytest.mark.parametrize("kind", ["parquet", "csv", "duckdb"])
def test_an_export_has_a_file_a_table_and_one_certificate(con: Connection, tmp_path: Path, kind: str) -> None:
    release(con, "loose(groups => (2, 2), near => true, suppression => 0.5)")
    done = con.execute(f"EXPORT r TO '{tmp_path.as_posix()}/out/' (FORMAT {kind})").fetchall()
    names = ["r_1", "r_2", "r_association"]
    assert [Path(path).stem for _, _, path, *_ in done] == names
    stated = json.loads((tmp_path / "out" / "certificate.json").read_text())
    assert [table["name"] for table in stated["tables"]] == names
    assert stated["method"]["name"] == "loose"
    assert stated["method"]["arguments"] == {"groups": [2, 2], "near": True, "suppression": 0.5}
    assert [(one["requirement"], one["achieved"], one["satisfied"]) for one in stated["requirements"]] == [
        ("fragmentation", 4.0, True),
        ("k_looseness(k => 4)", 4.0, True),
        ("left_out(k => 4)", stated["requirements"][2]["achieved"], True),
    ]
    text = (tmp_path / "out" / "certificate.md").read_text()
    assert "loose(groups => (2, 2), near => true, suppression => 0.5)" in text
    assert "Rows left out were counted when the snapshot was made" in text
    assert "What the files together keep apart" in text
    for name, (_, _, path, count, *_) in zip(names, done, strict=True):
        if kind == "duckdb":
            with duckdb.connect(path, read_only=True) as file:
                held = file.execute(f"SELECT count(*) FROM {name}").fetchall()
        else:
            held = duckdb.execute(f"SELECT count(*) FROM '{path}'").fetchall()
        assert held == [(count,)] == rows(con, f"SELECT count(*) FROM {name}")


def test_one_fragment_is_a_table_with_a_number(con: Connection, tmp_path: Path) -> None:
    release(con, "fragments FRAGMENTS (age, zip)")
    (done,) = con.execute(f"EXPORT r TO '{tmp_path.as_posix()}/out/'").fetchall()
    assert Path(done[2]).name == "r_1.parquet"
    stated = json.loads((tmp_path / "out" / "certificate.json").read_text())
    assert [table["name"] for table in stated["tables"]] == ["r_1"]


@pytest.mark.long
def test_enums_are_published_as_text_and_lists_as_they_are(con: Connection) -> None:
    con.execute("CREATE TYPE illness AS ENUM ('flu', 'cold', 'asthma', 'ulcer', 'gout', 'cough', 'burn', 'secret')")
    con.execute(
        "ALTER TABLE visits ALTER disease TYPE illness; ALTER TABLE visits ALTER zip TYPE VARCHAR[] USING [zip]"
    )
    for method in ("fragments", "loose(k => 4, near => true, suppression => 0.5)"):
        release(con, method)
        assert rows(con, "SELECT DISTINCT typeof(disease) FROM r_2") == [("VARCHAR",)]
        assert rows(con, "SELECT DISTINCT typeof(zip) FROM r_1") == [("VARCHAR[]",)]
