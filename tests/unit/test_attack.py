"""ATTACK: on releases, exports and tables; what it refuses, and in which words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import sqlanon
from sqlanon import Connection, SqlanonError
from sqlanon.clients.session import StatementEvent
from tests.oracles import attacks as oracle

ROWS = [(20 + i % 4, "uv"[i % 2], ("flu", "cold", "asthma", None)[(i + i // 4) % 4], i % 7) for i in range(24)]


@pytest.fixture(scope="module")
def con() -> Iterator[Connection]:
    with sqlanon.connect() as connection:
        connection.execute("CREATE TABLE people (age INTEGER, ward VARCHAR, disease VARCHAR, degree INTEGER)")
        connection.duckdb.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", [list(row) for row in ROWS])
        connection.execute("CREATE HIERARCHY decades AS INTERVALS (5, 10)")
        connection.execute(
            "CREATE POLICY p ON people (age QUASI IDENTIFIER USING decades, ward QUASI IDENTIFIER, disease SENSITIVE, "
            "degree SENSITIVE) REQUIRE k_anonymity(k => 3)"
        )
        connection.execute("CREATE ANONYMIZED TABLE made AS POLICY p METHOD generalization")
        connection.execute("CREATE ANONYMIZED VIEW live AS POLICY p METHOD generalization")
        connection.execute(
            "CREATE POLICY q ON people (age QUASI IDENTIFIER, ward QUASI IDENTIFIER, disease SENSITIVE) "
            "REQUIRE k_anonymity(k => 2)"
        )
        connection.execute("CREATE ANONYMIZED TABLE dealt AS POLICY q METHOD anatomy(l => 2)")
        connection.execute(
            "CREATE ANONYMIZED TABLE sliced AS POLICY q METHOD slicing(l => 2) COLUMNS (age), (ward, disease)"
        )
        connection.execute("CREATE VIEW ages AS SELECT age FROM people")
        yield connection


def attacked(con: Connection, target: str, attack: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in con.execute(f"ATTACK {target} WITH {attack}").fetchall()]


def alike(first: list[tuple[Any, ...]], second: list[tuple[Any, ...]]) -> bool:
    """Whether the answers are the same but for the order in which a mean was added up."""
    return [tuple(map(pytest.approx, row)) for row in first] == second


@pytest.mark.long
@pytest.mark.parametrize("format_", ["parquet", "csv", "duckdb"])
def test_an_export_is_attacked_as_the_release_is(con: Connection, tmp_path: Path, format_: str) -> None:
    con.execute(f"EXPORT made TO '{tmp_path}/out' (FORMAT {format_})")
    for attack in ("homogeneity(0.5)", "background(1)", "skewness(2)"):
        of_release = attacked(con, "made", attack)
        assert alike(of_release, attacked(con, "live", attack))
        assert [row[1] for row in of_release] == ["disease", "degree"]
        assert alike(of_release, attacked(con, f"'{tmp_path}/out'", attack))
    # Who receives it has no catalog.
    with sqlanon.connect() as receiver:
        assert alike(attacked(con, "made", "background(1)"), attacked(receiver, f"'{tmp_path}/out'", "background(1)"))
        assert attacked(receiver, f"'{tmp_path}/out' SENSITIVE degree", "similarity(within => 2)")[0][2] == len(ROWS)


@pytest.mark.parametrize("release", ["dealt", "sliced"])
def test_buckets_and_slices_are_classes(con: Connection, tmp_path: Path, release: str) -> None:
    con.execute(f"EXPORT {release} TO '{tmp_path}/out' (FORMAT parquet)")
    [row] = attacked(con, release, "homogeneity")
    assert row[:3] == ("homogeneity", "disease", len(ROWS))
    assert row[7].startswith("bucket ")
    assert alike([row], attacked(con, f"'{tmp_path}/out'", "homogeneity"))


def test_any_table_query_or_file_is_attacked(con: Connection, tmp_path: Path) -> None:
    [row] = attacked(con, "people (age, ward) SENSITIVE disease", "homogeneity")
    con.execute(f"COPY people TO '{tmp_path}/people.parquet'")
    for source in (
        "(SELECT * FROM people)",
        f"'{tmp_path}/people.parquet'",
        f"read_parquet('{tmp_path}/people.parquet')",
    ):
        assert alike([row], attacked(con, f"{source} (age, AGE, ward) SENSITIVE disease", "homogeneity"))


@pytest.mark.one_in(12)
@pytest.mark.parametrize(
    ("column_type", "base"),
    [
        *(("BIGINT", base) for base in (2**53, 2**60, 2**63 - 1000, -(2**63))),
        *(("UBIGINT", base) for base in (2**53, 2**64 - 1000)),
        *(("HUGEINT", base) for base in (2**53, 2**64, -(10**19))),
    ],
)
@pytest.mark.parametrize("width", ["0", "1", "2", "2.9", "3", "400"])
def test_whole_numbers_beyond_those_of_a_double_are_compared_exactly(column_type: str, base: int, width: str) -> None:
    numbers = [*(base + step for step in (0, 1, 3, 6, 9, 9, 9, 12, 12, 500, 901)), 0, None]
    with sqlanon.connect() as con:
        con.execute(f"CREATE TABLE t (a INTEGER, s {column_type})")
        for number in numbers:
            con.execute(f"INSERT INTO t VALUES (1, {'NULL' if number is None else repr(str(number))})")
        [row] = attacked(con, "t (a) SENSITIVE s", f"similarity(within => {width})")
    fractions = [None if number is None else Fraction(number) for number in numbers]
    assert row[4] == pytest.approx(float(oracle.within(fractions, Fraction(width))))


@pytest.mark.parametrize("number", [2**127 - 1, -(2**127) + 1])
def test_the_ends_of_a_hugeint(number: int) -> None:
    with sqlanon.connect() as con:
        con.execute(f"CREATE TABLE t AS SELECT 1 AS a, s FROM (VALUES ({number}::HUGEINT), (0), (7)) AS r (s)")
        [row] = attacked(con, "t (a) SENSITIVE s", "similarity(within => 1000000000000)")
    assert row[4] == pytest.approx(2 / 3)


def test_an_unnamed_argument_is_the_first(con: Connection) -> None:
    assert attacked(con, "made", "homogeneity(0.4)") == attacked(con, "made", "homogeneity(confidence => 0.4)")
    assert attacked(con, "made", "background(2, confidence => 0.5)") == attacked(
        con, "made", "background(values => 2, confidence => 0.5)"
    )


@pytest.mark.long
def test_the_order_of_rows(con: Connection) -> None:
    """A snapshot is in random order; rows that somebody puts in the order of the source are named one by one."""
    for spelling in ("order", "order()", '"order"'):
        assert [row[:3] for row in attacked(con, "made SENSITIVE disease", spelling)] == [
            ("order", "disease", len(ROWS)),
            ("order_by_chance", "disease", len(ROWS)),
        ]
    con.execute(
        "CREATE TABLE register AS SELECT 20 + i % 8 AS age, 'd' || hash(i) % 5 AS disease FROM range(2000) AS t(i)"
    )
    con.execute(
        "CREATE POLICY r ON register (age QUASI IDENTIFIER USING decades MIN LEVEL 1, disease SENSITIVE) "
        "REQUIRE k_anonymity(k => 3)"
    )
    con.execute("CREATE ANONYMIZED TABLE ordered AS POLICY r METHOD generalization")
    right, chance = attacked(con, "ordered", "order")
    # Some 400 of 2,000, with a deviation of 18.
    assert abs(right[3] - chance[3]) < 6 * 20
    labels = "'[' || age // 5 * 5 || ',' || (age // 5 * 5 + 5) || ')'"
    con.duckdb.execute(f"DELETE FROM ordered; INSERT INTO ordered SELECT {labels}, disease FROM register")
    right, same = attacked(con, "ordered", "order")
    assert right[3:6] == (2000, 1, 1)
    assert same[3:] == chance[3:]


def test_a_stolen_label_is_no_row_of_the_source(con: Connection) -> None:
    """What the worst classes are called is what the release shows."""
    shown = {f"age {age}, ward {ward}" for age, ward in con.execute("SELECT DISTINCT age, ward FROM made").fetchall()}
    [row, _] = attacked(con, "made", "homogeneity")
    assert set(row[7].split("; ")) <= shown


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("ATTACK made WITH homogenity", "did you mean homogeneity"),
        ("ATTACK made WITH nothing_like_it", "there are: background"),
        ("ATTACK made WITH homogeneity(confidence => 0)", "outside"),
        ("ATTACK made WITH homogeneity(confidense => 0.1)", "did you mean confidence"),
        ("ATTACK made WITH background(values => 1.5)", "whole number"),
        ("ATTACK made WITH similarity", "similarity(level => ..."),
        ("ATTACK made WITH similarity(level => 1, within => 1)", "similarity(within => ..."),
        ("ATTACK made WITH similarity(level => 1)", "USING hierarchy"),
        ("ATTACK made SENSITIVE degree USING decades WITH similarity(level => 3)", "0 to 2"),
        ("ATTACK made SENSITIVE disease USING nowhere WITH similarity(level => 1)", "nowhere"),
        ("ATTACK made SENSITIVE disease WITH similarity(within => 1)", "VARCHAR"),
        ("ATTACK made SENSITIVE diseases WITH homogeneity", "did you mean disease"),
        ("ATTACK made WITH definetti", "no rows beside buckets"),
        ("ATTACK people (age) SENSITIVE disease WITH definetti", "does not say what it was made of"),
        ("ATTACK made WITH composition(with => dealt)", "nothing says whose they are"),
        ("ATTACK made WITH composition(with => nothing)", "no release"),
        ("ATTACK made WITH composition(with => dealt, variant => 'guess')", "variant => 'counting' or"),
        ("ATTACK dealt WITH order", "does not show classes of rows"),
        ("ATTACK people (age) SENSITIVE disease WITH order", "does not say what it was made of"),
        ("ATTACK made WITH linkage", "linkage(against => ..."),
        ("ATTACK made WITH linkage(against => nobody)", "no table or view nobody"),
        ("ATTACK made WITH linkage(against => 'people')", "must be the name of a table"),
        ("ATTACK dealt WITH linkage(against => people)", "apart from the classes"),
        ("ATTACK made WITH linkage(against => ages)", "no column ward"),
        ("ATTACK people WITH homogeneity", "ATTACK people (...)"),
        ("ATTACK people (age) WITH homogeneity", "no sensitive attribute"),
        ("ATTACK people (age, disease) SENSITIVE disease WITH homogeneity", "as a quasi-identifier and as SENSITIVE"),
        ("ATTACK people (aged) SENSITIVE disease WITH homogeneity", "did you mean age"),
        ("ATTACK nobody WITH homogeneity", "no release"),
        ("ATTACK 'no/such/place' WITH homogeneity", "no file"),
        ("ATTACK made", "WITH"),
        ("ATTACK made WIHT homogeneity", "did you mean WITH"),
        ("ATTACK made WITH homogeneity, background", "end of the statement"),
    ],
)
def test_what_is_refused(con: Connection, statement: str, words: str) -> None:
    with pytest.raises(SqlanonError) as error:
        con.execute(statement)
    assert words in str(error.value)
    assert "flu" not in str(error.value)


def test_tables_without_buckets_are_in_no_classes(con: Connection) -> None:
    con.execute("CREATE POLICY apart ON people (age QUASI IDENTIFIER, disease SENSITIVE) CONFIDENTIAL (age, disease)")
    con.execute("CREATE ANONYMIZED TABLE apart AS POLICY apart METHOD fragments")
    with pytest.raises(SqlanonError, match="in no classes"):
        con.execute("ATTACK apart WITH homogeneity")


def test_a_release_whose_rows_were_changed_is_attacked_as_it_is(con: Connection) -> None:
    con.execute("CREATE ANONYMIZED TABLE changed AS POLICY p METHOD generalization")
    con.duckdb.execute("UPDATE changed SET disease = 'flu'")
    assert attacked(con, "changed SENSITIVE disease", "homogeneity")[0][3] == len(ROWS)


@pytest.mark.parametrize(("method", "change"), [("", "changed"), ("METHOD anatomy(l => 2)", "changed_sensitive")])
def test_rows_that_nobody_checked_keep_no_promise(con: Connection, method: str, change: str) -> None:
    con.execute(
        "CREATE OR REPLACE POLICY bounded ON people (age QUASI IDENTIFIER USING decades, disease SENSITIVE) "
        "REQUIRE k_anonymity(k => 2), l_diversity(l => 2, variant => 'probabilistic')"
    )
    con.execute(f"CREATE OR REPLACE ANONYMIZED TABLE changed AS POLICY bounded {method}")
    assert attacked(con, "changed", "homogeneity")[0][6] == 0.5
    con.duckdb.execute(f"DELETE FROM {change} WHERE rowid = (SELECT min(rowid) FROM {change})")
    assert attacked(con, "changed", "homogeneity")[0][6] is None


@pytest.mark.one_in(24)
@pytest.mark.parametrize(
    "change",
    [
        "UPDATE register SET disease = 'd5' WHERE rowid = 7",
        "UPDATE register SET age = 80 WHERE rowid = 7",
        "INSERT INTO register FROM register LIMIT 1",
        "DELETE FROM register WHERE rowid = 7",
        "ALTER TABLE register RENAME disease TO other",
    ],
)
@pytest.mark.parametrize(
    ("attack", "method"), [("order", ""), ("definetti(rounds => 2)", "METHOD anatomy(l => 2, grouping => 'random')")]
)
def test_hits_are_not_counted_on_another_source(attack: str, method: str, change: str) -> None:
    con = sqlanon.connect()
    con.execute("CREATE TABLE register AS SELECT 20 + i % 8 AS age, 'd' || hash(i) % 5 AS disease FROM range(200) t(i)")
    con.execute("CREATE POLICY r ON register (age QUASI IDENTIFIER, disease SENSITIVE) REQUIRE k_anonymity(k => 3)")
    con.execute(f"CREATE ANONYMIZED TABLE made AS POLICY r {method}")
    assert attacked(con, "made", attack)
    con.duckdb.execute(change)
    with pytest.raises(SqlanonError, match=r"source( of main\.made)? has changed") as error:
        attacked(con, "made", attack)
    assert "d5" not in str(error.value)


_UNSURE = " (certainty alone is ruled out)"
_ALL = ("background", "homogeneity", "similarity", "skewness")
# Five values in equal shares, in either class.
EVEN = "(SELECT i // 20 AS ward, i % 5 AS disease FROM range(40) AS r(i))"


@pytest.mark.parametrize(
    ("required", "unbounded"),
    [
        ("k_anonymity(k => 2)", _ALL),
        ("l_diversity(l => 2)", ("background", f"homogeneity{_UNSURE}", "similarity", "skewness")),
        ("l_diversity(l => 3)", (f"background{_UNSURE}", f"homogeneity{_UNSURE}", "similarity", "skewness")),
        (
            "l_diversity(l => 2.5, variant => 'entropy')",
            (f"background{_UNSURE}", f"homogeneity{_UNSURE}", "similarity", "skewness"),
        ),
        ("l_diversity(l => 1)", _ALL),
        (
            "p_sensitive_k_anonymity(p => 2, k => 2)",
            ("background", f"homogeneity{_UNSURE}", "similarity", "skewness"),
        ),
        ("ck_safety(c => 0.9, k => 0)", ("background", "similarity", "skewness")),
        ("ck_safety(c => 0.9, k => 1)", ("similarity", "skewness")),
        ("privacy_skyline(c => 0.9, l => 1)", ("similarity", "skewness")),
        ("privacy_skyline(c => 0.9)", ("background", "similarity", "skewness")),
        ("l_diversity(l => 3, variant => 'probabilistic')", ("similarity", "skewness")),
        ("l_diversity(l => 3, variant => 'probabilistic', attribute => disease)", ("similarity", "skewness")),
        # A reader who knows one value that is not the target's may be certain of the other one.
        ("l_diversity(l => 2, variant => 'probabilistic')", ("background", "similarity", "skewness")),
        ("l_diversity(l => 2, variant => 'recursive', c => 40)", ("background", "similarity", "skewness")),
        ("l_diversity(l => 3, variant => 'recursive', c => 40)", ("similarity", "skewness")),
        (
            "t_closeness(t => 0.9, distance => 'equal')",
            ("background", "homogeneity", "similarity", "skewness(ratio => ...)"),
        ),
        # What allows for everything bounds nothing.
        ("t_closeness(t => 1, distance => 'equal')", _ALL),
        ("alpha_k_anonymity(alpha => 1, k => 2)", _ALL),
        ("beta_likeness(beta => 100)", (*_ALL[:3], "skewness(difference => ...)")),
        # What is not met bounds nothing.
        ("l_diversity(l => 100, variant => 'probabilistic')", _ALL),
    ],
)
def test_check_names_the_attacks_that_nothing_bounds(con: Connection, required: str, unbounded: Sequence[str]) -> None:
    events: list[StatementEvent] = []
    con.script(f"CHECK {EVEN} (ward) SENSITIVE disease REQUIRE {required}; CHECK people (ward)", events.append)
    (remark,) = events[1].remarks
    typed = (
        "homogeneity" if any(name.startswith("homogeneity") for name in unbounded) else unbounded[0].partition("(")[0]
    )
    assert remark == (
        "no requirement that is met bounds how sure a reader may be by these attacks: "
        f"{', '.join(unbounded)} on disease; ATTACK (SELECT ...) (ward) SENSITIVE disease WITH {typed}() "
        "says how sure, and each of the others likewise"
    )
    # Nothing was required.
    assert events[3].remarks == ()


def test_an_attack_without_a_name_lists_the_attacks(con: Connection) -> None:
    with pytest.raises(SqlanonError) as error:
        con.execute("ATTACK made;")
    hint = error.value.hint
    assert hint is not None
    written, listed = hint.split("; the attacks are ")
    assert con.execute(written.removeprefix("write ")).fetchall()
    assert {*_ALL, "rules", "linkage"} <= {*listed.split(", ")}


def test_columns_with_the_same_attacks_are_in_one_sentence(con: Connection) -> None:
    events: list[StatementEvent] = []
    table = "(SELECT i // 20 AS ward, i % 5 AS disease, i % 5 AS drug, i % 4 AS bill FROM range(40) AS r(i))"
    required = "l_diversity(l => 3, variant => 'probabilistic', attribute => bill)"
    con.script(f"CHECK {table} (ward) SENSITIVE disease, drug, bill REQUIRE {required}", events.append)
    all_of_them = ", ".join(_ALL)
    assert events[1].remarks == (
        f"no requirement that is met bounds how sure a reader may be by these attacks: {all_of_them} on disease, drug; "
        "similarity, skewness on bill; ATTACK (SELECT ...) (ward) SENSITIVE disease, drug, bill WITH homogeneity() "
        "says how sure, and each of the others likewise",
    )


def test_a_check_of_a_release_names_them_once_and_that_of_an_export_does_not(con: Connection, tmp_path: Path) -> None:
    """Whoever receives an export cannot require more of it."""
    events: list[StatementEvent] = []
    statements = f"EXPORT made TO '{tmp_path}/out'; CHECK made; CHECK made; CHECK '{tmp_path}/out'; "
    con.script(f"{statements} REFRESH ANONYMIZED TABLE made; CHECK made", events.append)
    told = {event.statement.sql(): event.remarks for event in events[:4] if event.phase == "end"}
    (remark,) = told['CHECK "made"']
    assert "no requirement that is met bounds how sure" in remark
    typed = remark.partition("; ATTACK ")[2].partition(" says how sure")[0]
    assert con.execute(f"ATTACK {typed}").fetchall()
    assert [event.remarks for event in events[5:8:2]] == [(), ()]
    # The release is another one.
    assert events[-1].remarks == told['CHECK "made"']


TWO = "(SELECT i // 20 AS ward, i % 20 = 0 AS ill FROM range(60) AS r(i))"


@pytest.mark.parametrize(
    ("attack", "figures", "why"),
    [
        # Who knows that somebody is not ill knows that they are well, with the release or without it.
        (
            "background(values => 1)",
            (60, None, None, None),
            "only one value of the column remains after so many values are ruled out",
        ),
        (
            "background(values => 2)",
            (60, None, None, None),
            "only one value of the column remains after so many values are ruled out",
        ),
        ("background(values => 0)", (60, 0, 0.95, 0.95), None),
        ("skewness(ratio => 4)", (60, 0, 1.0, 1.0), None),
        ("skewness(ratio => 20)", (60, 0, 1.0, 1.0), None),
        ("skewness(ratio => 20.5)", (60, None, 1.0, 1.0), "no class could reach the ratio"),
        ("skewness(difference => 0.95)", (60, 0, 0.0, 0.0), None),
        ("skewness(difference => 0.96)", (60, None, 0.0, 0.0), "no class could reach the difference"),
        ("homogeneity", (60, 0, 0.95, 0.95), None),
    ],
)
def test_figures_that_nothing_published_could_change_are_not_defined(
    con: Connection, attack: str, figures: tuple[Any, ...], why: str | None
) -> None:
    events: list[StatementEvent] = []
    con.script(f"ATTACK {TWO} (ward) SENSITIVE ill WITH {attack}", events.append)
    [answer] = con.execute(f"ATTACK {TWO} (ward) SENSITIVE ill WITH {attack}").fetchall()
    assert answer[2:6] == (*figures[:2], *(None if f is None else pytest.approx(f, abs=1e-12) for f in figures[2:]))
    assert ("not defined" in (answer[7] or "")) is (figures[2] is None)
    remarks = events[1].remarks
    if why is None and not attack.startswith("skewness"):
        # Nobody is certain, and everybody is all but certain.
        least = "only a confidence of 100 % counts as a success, and none is reached"
        assert remarks == (f"{answer[0]} of ill: {least}, but the surest guess is right with 95 %",)
        return
    assert [why in remark for remark in remarks] == ([] if why is None else [True])
    what = "its confidence is" if figures[2] is None else "how often it succeeds is"
    assert all(remark.startswith(f"{answer[0]} of ill: {what} not defined: ") for remark in remarks)


@pytest.mark.parametrize(
    ("confidence", "told"), [("", True), ("confidence => 0.96", True), ("confidence => 0.95", False)]
)
def test_no_success_is_no_sign_of_safety(con: Connection, confidence: str, told: bool) -> None:
    events: list[StatementEvent] = []
    con.script(f"ATTACK {TWO} (ward) SENSITIVE ill WITH homogeneity({confidence})", events.append)
    assert [f"right with {95} %" in remark for remark in events[1].remarks] == [True] * told
    # In classes of five values in equal shares no guess is likely.
    con.script(f"ATTACK {EVEN} (ward) SENSITIVE disease WITH homogeneity", events.append)
    assert events[3].remarks == ()
