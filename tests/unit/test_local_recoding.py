"""Local recoding where it is easiest to get wrong: labels that repeat, keys of several words, types, what is kept."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest

from sqlanon import Connection, PolicyError
from sqlanon.methods.registry import find_method
from tests.support.database import new_database

LOCAL = "METHOD generalization(suppression => {}, recoding => 'local', loss => '{}')"


@pytest.fixture
def con() -> Iterator[Connection]:
    with new_database() as connection:
        yield connection


def made(con: Connection, kind: str = "TABLE", suppression: str = "0", loss: str = "granularity_loss") -> list[Any]:
    con.execute(f"CREATE OR REPLACE ANONYMIZED {kind} out AS POLICY p {LOCAL.format(suppression, loss)}")
    return con.duckdb.execute("FROM out").fetchall()


def rounds(con: Connection) -> list[tuple[dict[str, int], int]]:
    """The levels of each round, and the rows that it released."""
    found = con.duckdb.execute("SELECT round, attribute, level, rows FROM anon.release_round").fetchall()
    numbers = sorted({number for number, *_ in found})
    return [
        ({name: level for number, name, level, _ in found if number == own}, next(n for r, *_, n in found if r == own))
        for own in numbers
    ]


def fill(con: Connection, rows: Sequence[tuple[Any, ...]]) -> None:
    for row in rows:
        con.duckdb.execute(f"INSERT INTO t VALUES ({', '.join('?' * len(row))})", list(row))


def test_options_name_both_recodings() -> None:
    options = find_method("generalization").options
    assert options([]).recoding == "global"
    assert options([("recoding", "local")]).recoding == "local"
    for wrong in ("regional", Decimal(1), True):
        with pytest.raises(PolicyError) as caught:
            options([("recoding", wrong)])
        assert caught.value.hint == "write one of recoding => 'global', recoding => 'local'"


# p and q are 'high' at both levels, r, s and t only at the second; u is alone.
TREE = (
    "('p', 'high', 'high'), ('q', 'high', 'high'), ('r', 'odd', 'high'), ('s', 'even', 'high'), ('t', 'own', 'high'), "
    "('u', 'low', 'low')"
)


def labels_that_repeat(con: Connection, require: str) -> None:
    con.execute("CREATE TABLE t (v VARCHAR, s VARCHAR, g VARCHAR)")
    con.execute(f"CREATE HIERARCHY h AS LEVELS (FROM (VALUES {TREE}) AS t)")
    con.execute("CREATE HIERARCHY flat AS LEVELS (FROM (VALUES ('x'), ('y'), ('z')) AS t)")
    con.execute(
        "CREATE POLICY p ON t (v QUASI IDENTIFIER USING h MIN LEVEL 1, s SENSITIVE USING flat, g INSENSITIVE) "
        f"REQUIRE {require}"
    )


@pytest.mark.long
def test_labels_of_two_rounds_that_are_the_same_are_one_class(con: Connection) -> None:
    labels_that_repeat(con, "k_anonymity(k => 3)")
    fill(con, [(v, "x", None) for v in "pppqqrsruuu"])
    for kind in ("TABLE", "VIEW"):
        assert Counter(v for v, *_ in made(con, kind)) == {"high": 8, "low": 3}
        assert rounds(con) == [({"v": 1}, 8), ({"v": 2}, 3)]
        con.execute("CHECK out")
        # Not 3, the rows of the second round.
        assert con.fetchall()[0][3:5] == (3.0, 3.0)
    con.execute("DELETE FROM t WHERE v = 'u'")
    con.execute("CHECK out")
    assert con.fetchall()[0][3:5] == (3.0, 8.0)


def test_what_a_class_of_two_rounds_costs(con: Connection) -> None:
    """Together they have 8 rows, and by the square of a class's rows cost more than global recoding does."""
    labels_that_repeat(con, "k_anonymity(k => 3)")
    fill(con, [(v, "x", None) for v in "pppqqrsruuu"])
    made(con, loss="discernibility")
    assert con.execute("SELECT loss FROM anon.release").fetchall() == [(8.0**2 + 3**2,)]
    assert rounds(con) == [({"v": 2}, 11)]


@pytest.mark.long
def test_a_class_of_two_rounds_is_judged_as_one(con: Connection) -> None:
    """Neither round has a class that violates, but rows of the second break what one of the first asks for.

    That guards the node x. As long as x is at most half of them all, both may stand together.
    """
    labels_that_repeat(con, "k_anonymity(k => 2), personalized(p => 0.5, guarding => g)")
    fill(con, [("p", "y", "x"), ("q", "z", None), ("r", "x", None), ("s", "x", None), *[("u", "y", None)] * 8])
    made(con, "VIEW")
    assert [levels for levels, _ in rounds(con)] == [{"v": 1}, {"v": 2}]
    assert Counter(con.duckdb.execute("SELECT v FROM out").fetchall()) == {("high",): 4, ("low",): 8}
    fill(con, [("t", "x", None)])
    assert Counter(con.duckdb.execute("SELECT v FROM out").fetchall()) == {("low",): 8}
    assert {v for v, *_ in made(con)} == {"*"}
    assert rounds(con) == [({"v": 3}, 13)]


@pytest.mark.long
def test_classes_whose_numbers_need_several_words(con: Connection) -> None:
    """Ten columns of 130 values each: 120 rows that occur twice, and ten that do not."""
    columns = [f"c{place}" for place in range(10)]
    con.execute(f"CREATE TABLE t ({', '.join(f'{name} INTEGER' for name in columns)}, s INTEGER)")
    con.execute(
        f"CREATE POLICY p ON t ({', '.join(f'{name} QUASI IDENTIFIER' for name in columns)}, s SENSITIVE) "
        "REQUIRE k_anonymity(k => 2)"
    )
    con.execute(
        f"INSERT INTO t SELECT {', '.join(f'(i * {place * 2 + 1}) % 131' for place in range(10))}, j "
        "FROM range(130) a(i), range(2) b(j) WHERE i < 120 OR j = 0"
    )
    for kind in ("TABLE", "VIEW"):
        found = made(con, kind)
        assert [rows for _, rows in rounds(con)] == [240, 10]
        assert sum(set(row[:-1]) == {"*"} for row in found) == 10
        assert min(Counter(row[:-1] for row in found).values()) == 2
    con.execute("UPDATE t SET c9 = NULL WHERE c0 = 119 AND s = 0")
    shown = Counter(row[:-1] for row in con.duckdb.execute("FROM out").fetchall())
    # Both rows of that class are alone now.
    assert shown[("*",) * 10] == 12
    assert sum(shown.values()) == 250


@pytest.mark.long
def test_values_and_labels_stand_in_one_column_as_text(con: Connection) -> None:
    """A column that is not at one level everywhere is VARCHAR; one that is keeps its type."""
    con.execute("CREATE TABLE t (day DATE, n DOUBLE, ok BOOLEAN, s INTEGER)")
    con.execute("CREATE HIERARCHY days AS CALENDAR (MONTH, YEAR)")
    con.execute(
        "CREATE POLICY p ON t (day QUASI IDENTIFIER USING days, n QUASI IDENTIFIER, "
        "ok QUASI IDENTIFIER MAX LEVEL 0, s SENSITIVE) REQUIRE k_anonymity(k => 2)"
    )
    frequent = [(f"2020-01-0{i}", i / 4, i % 2 == 0, j) for i in range(1, 9) for j in range(2)]
    fill(con, [*frequent, ("2021-03-01", 7.5, True, 0), ("2021-03-02", None, True, 1)])
    for kind in ("TABLE", "VIEW"):
        found = made(con, kind)
        types = dict(con.duckdb.execute("SELECT column_name, column_type FROM (DESCRIBE out)").fetchall())
        assert types == {"day": "VARCHAR", "n": "VARCHAR", "ok": "BOOLEAN", "s": "INTEGER"}
        rest = Counter((day, n, ok) for day, n, ok, _ in found if day.startswith("2021"))
        assert rest == {("2021-03", "*", True): 2}
        assert Counter((day, n) for day, n, _, _ in found)[("2020-01-03", "0.75")] == 2


@pytest.mark.long
def test_hostile_names_and_values(con: Connection) -> None:
    name, value = 'a "b". drop', "it's *"
    con.execute(f'CREATE TABLE t ("{name.replace(chr(34), chr(34) * 2)}" VARCHAR, s INTEGER)')
    quoted = '"' + name.replace('"', '""') + '"'
    con.execute(
        "CREATE HIERARCHY h AS LEVELS (FROM (VALUES ('it''s *', 'x'), ('*', 'x'), ('b', 'x'), (NULL, 'y')) AS t)"
    )
    con.execute(f"CREATE POLICY p ON t ({quoted} QUASI IDENTIFIER USING h, s SENSITIVE) REQUIRE k_anonymity(k => 2)")
    fill(con, [(value, 1), (value, 2), ("*", 3), ("b", 4), (None, 5), (None, 6)])
    for kind in ("TABLE", "VIEW"):
        assert Counter(label for label, _ in made(con, kind)) == {value: 2, "x": 2, None: 2}


def stored_labels(con: Connection) -> list[tuple[Any, ...]]:
    query = "SELECT attribute, value, label FROM anon.release_{} ORDER BY ALL"
    return [row for name in ("recoding", "taxonomy") for row in con.duckdb.execute(query.format(name)).fetchall()]


@pytest.mark.long
def test_a_snapshot_leaves_no_labels_behind_and_a_dropped_view_none_either(con: Connection) -> None:
    labels_that_repeat(con, "k_anonymity(k => 3)")
    fill(con, [(v, "x", None) for v in "pppqqrsruuu"])
    made(con)
    assert stored_labels(con) == []
    made(con, "VIEW")
    assert ("v", "r", "odd") in stored_labels(con)
    assert ("v", "r", "high") in stored_labels(con)
    con.execute("DROP ANONYMIZED VIEW out")
    assert stored_labels(con) == []
    assert con.duckdb.execute("FROM anon.release_round").fetchall() == []


def test_global_recoding_records_no_rounds(con: Connection) -> None:
    labels_that_repeat(con, "k_anonymity(k => 3)")
    fill(con, [(v, "x", None) for v in "pppqqrsruuu"])
    con.execute("CREATE ANONYMIZED TABLE out AS POLICY p METHOD generalization(recoding => 'global')")
    assert rounds(con) == []


@pytest.mark.parametrize("limit", ["0.000001", "60"])
def test_a_time_limit_leaves_a_release_that_is_right(con: Connection, limit: str) -> None:
    labels_that_repeat(con, "k_anonymity(k => 3)")
    fill(con, [(v, "x", None) for v in "pppqqrsruuu"])
    method = f"METHOD generalization(recoding => 'local', time_limit => {limit})"
    con.execute(f"CREATE ANONYMIZED TABLE out AS POLICY p {method}")
    assert min(Counter(v for v, *_ in con.duckdb.execute("FROM out").fetchall()).values()) >= 3


def test_an_empty_table(con: Connection) -> None:
    labels_that_repeat(con, "k_anonymity(k => 3)")
    assert made(con) == []
    assert made(con, "VIEW") == []


@pytest.mark.long
def test_what_no_round_can_place_is_within_the_budget(con: Connection) -> None:
    con.execute("CREATE TABLE t (v INTEGER, s INTEGER)")
    con.execute("CREATE POLICY p ON t (v QUASI IDENTIFIER, s SENSITIVE) REQUIRE k_anonymity(k => 2)")
    fill(con, [*((i % 5, i) for i in range(10)), (9, 10)])
    # A tenth is one row: it may go, and nothing else has to be recoded.
    assert Counter(v for v, _ in made(con, suppression="0.1")) == {0: 2, 1: 2, 2: 2, 3: 2, 4: 2}
    # Without a budget it needs another beside it, and takes with it all of them.
    assert {v for v, _ in made(con)} == {"*"}
    fill(con, [(8, 11)])
    assert Counter(v for v, _ in made(con)) == {"0": 2, "1": 2, "2": 2, "3": 2, "4": 2, "*": 2}
    (loss,) = con.duckdb.execute("SELECT loss FROM anon.release").fetchone() or (None,)
    assert loss == float(Fraction(2, 12))


BANDS = (5, 10, 20)


def people(con: Connection, seed: int) -> None:
    """Ages of 3 years' distance, one of which is far from the others, and a sex, with a policy p."""
    random = Random(seed)
    con.execute("CREATE TABLE t (age INTEGER, sex VARCHAR, ill VARCHAR)")
    rows = [(20 + 3 * min(random.randrange(20), random.randrange(20)), random.choice("FM"), "flu") for _ in range(120)]
    con.duckdb.executemany("INSERT INTO t VALUES (?, ?, ?)", [*map(list, rows), [120, "F", "cold"], [124, "F", "flu"]])
    con.execute(f"CREATE HIERARCHY h AS INTERVALS {BANDS}")
    con.execute(
        "CREATE POLICY p ON t (age QUASI IDENTIFIER USING h, sex QUASI IDENTIFIER, ill SENSITIVE) "
        "REQUIRE k_anonymity(k => 4)"
    )


def level_of(label: str) -> int:
    """The level of a label of an age, which its width tells."""
    if label == "*":
        return len(BANDS) + 1
    low, _, high = label.strip("[)").partition(",")
    return BANDS.index(int(high) - int(low)) + 1 if high else 0


def shown(levels: Sequence[int]) -> str:
    return f"{min(levels)}-{max(levels)}" if min(levels) < max(levels) else str(min(levels))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("suppression", ["0", "0.05"])
def test_the_answer_has_the_lowest_and_the_highest_level_of_the_rows(
    con: Connection, seed: int, suppression: str
) -> None:
    people(con, seed)
    method = LOCAL.format(suppression, "granularity_loss")
    for statement in (f"CREATE ANONYMIZED TABLE out AS POLICY p {method}", "REFRESH ANONYMIZED TABLE out"):
        answer = con.sql(statement)
        rows = con.duckdb.execute("SELECT age, sex FROM out").fetchall()
        ages, sexes = [level_of(age) for age, _ in rows], [int(sex == "*") for _, sex in rows]
        expected = f"age {shown(ages)}/4, sex {shown(sexes)}/1"
        assert set(answer.select("levels").fetchall()) == {(expected,)}
    explained = con.execute(f"EXPLAIN VERBOSE ANONYMIZED TABLE other AS POLICY p {method}").fetchall()
    said = {item: detail for stage, item, detail in explained if stage == "solve" or item == "binding requirement"}
    if len(rounds(con)) > 1:
        assert said["age"].startswith(f"levels {shown(ages)} of 4 of h: ")
        assert said["binding requirement"].endswith(f"the levels of all rounds are {expected}")
    else:
        assert said["age"].startswith(f"level {shown(ages)} of 4 of h: ")


@pytest.mark.long
def test_what_a_certificate_says_of_several_levels(con: Connection, tmp_path: Path) -> None:
    people(con, 1)
    con.execute(f"CREATE ANONYMIZED TABLE out AS POLICY p {LOCAL.format(0, 'granularity_loss')}")
    con.execute(f"EXPORT out TO '{tmp_path.as_posix()}/out/'")
    stated = json.loads((tmp_path / "out" / "certificate.json").read_text())["levels"]
    levels = sorted({level for found, _ in rounds(con) for name, level in found.items() if name == "age"})
    assert len(levels) > 1
    assert stated == [
        {"attribute": "age", "hierarchy": "h", "level": None, "levels": levels, "height": 4},
        {"attribute": "sex", "hierarchy": None, "level": 0, "height": 1},
    ]
    page = (tmp_path / "out" / "certificate.md").read_text()
    assert f"| `age` | {levels[0]}-{levels[-1]} | 4 | `h` |" in page
    con.execute(f"CHECK '{tmp_path.as_posix()}/out/'")
    assert all(row[-1] for row in con.fetchall())


@pytest.mark.long
def test_levels_that_rows_do_not_share_are_not_kept(con: Connection) -> None:
    people(con, 1)
    con.execute(f"CREATE ANONYMIZED TABLE out AS POLICY p {LOCAL.format(0, 'granularity_loss')}")
    for statement in (
        "CREATE ANONYMIZED TABLE other AS POLICY p",
        "REFRESH ANONYMIZED TABLE out",
    ):
        with pytest.raises(PolicyError, match="its rows are at several levels of age, 1-4 of 4") as caught:
            con.execute(f"{statement} LEVELS FROM RELEASE out")
        assert caught.value.hint


@pytest.mark.long
def test_one_round_has_levels_to_keep(con: Connection) -> None:
    labels_that_repeat(con, "k_anonymity(k => 3)")
    fill(con, [(v, "x", None) for v in "pppqqruuu"])
    made(con, loss="discernibility")
    assert len(rounds(con)) == 1
    con.execute("CREATE ANONYMIZED TABLE other AS POLICY p LEVELS FROM RELEASE out")
    levels = "SELECT object_name, attribute, level FROM anon.release_attribute JOIN anon.release USING (release_id) "
    assert len(set(con.duckdb.execute(levels + "WHERE attribute = 'v'").fetchall())) == 2
