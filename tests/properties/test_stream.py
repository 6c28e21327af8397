"""A stream publishes what its rule says, row by row, however often it is advanced."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import count
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon
from sqlanon import Connection
from sqlanon.republication.streams.advance import sizes
from tests.oracles.stream import Number, Outcome, Row, Tree, simulate
from tests.support.draws import draws

pytestmark = pytest.mark.drawn

PEOPLE = ["a", "b", "it's", 'q"', "ß", "", "e", "f"]
ZIPS = ["94141", "94142", "94150", "10115", "", "*", None]
START = datetime(2026, 1, 1)
AXES = {
    "age": Number(),
    "height cm": Number(),
    'the "ward"': Tree(lambda value: (value,), 1),
    "zip": Tree(lambda v: (v, None, None) if v is None else (v, _prefix(v, 4), _prefix(v, 2)), 3, 1, 2),
}
numbers = count()


def _prefix(value: str, length: int) -> str:
    return value[:length] + "*" * max(len(value) - length, 0)


@pytest.fixture(scope="module")
def con() -> Connection:
    connection = sqlanon.connect(config={"threads": "1"})
    connection.execute("CREATE HIERARCHY prefixes AS PREFIXES (4, 2)")
    return connection


@st.composite
def arrivals(draw: st.DrawFn) -> list[tuple[Any, ...]]:
    """Rows in their order: seconds since the row before, respondent, age, height, ward, zip."""
    row = st.tuples(
        st.integers(1, 4),
        st.sampled_from(PEOPLE),
        st.one_of(st.none(), st.integers(0, 9)),
        st.one_of(st.none(), st.sampled_from([0.0, 1.5, 2.0, 170.25, -3.0])),
        st.sampled_from(["x", "y's", None, "*"]),
        st.sampled_from(ZIPS),
    )
    return draw(st.lists(row, max_size=25))


def _make(con: Connection, columns: Sequence[str], *, entity: bool, call: str) -> str:
    name = f"s{next(numbers)}"
    for text in ("DROP POLICY IF EXISTS p",):
        con.execute(text)
    con.execute(
        'CREATE OR REPLACE TABLE visits (arrived TIMESTAMP, "who is it" VARCHAR, age INTEGER, "height cm" DOUBLE, '
        '"the ""ward""" VARCHAR, zip VARCHAR, id INTEGER)'
    )
    quoted = {name: '"' + name.replace('"', '""') + '"' for name in columns}
    roles = [
        f"{q} QUASI IDENTIFIER" + (" USING prefixes MIN LEVEL 1 MAX LEVEL 2" if n == "zip" else "")
        for n, q in quoted.items()
    ]
    who = '"who is it" ENTITY, ' if entity else ""
    con.execute(f"CREATE POLICY p ON visits ({who}{', '.join(roles)}, id SENSITIVE) REQUIRE k_anonymity(k => 2)")
    con.execute(f"CREATE ANONYMIZED STREAM {name} AS POLICY p ORDER BY arrived METHOD {call}")
    return name


def _expected(outcome: Outcome, columns: Sequence[str]) -> Counter[tuple[Any, ...]]:
    axes = [AXES[name] for name in columns]

    def texts(labels: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(axis.text(label) for axis, label in zip(axes, labels, strict=True))

    rows = Counter((*texts(labels), row.position) for _, labels, members in outcome.classes for row in members)
    return rows + Counter((*texts(labels), row.position) for row, labels in outcome.reused)


@settings(max_examples=draws(2, long=60), deadline=None)
@given(
    rows=arrivals(),
    columns=st.lists(st.sampled_from(sorted(AXES)), min_size=1, max_size=3, unique=True),
    k=st.integers(2, 4),
    extra=st.integers(0, 8),
    by_time=st.booleans(),
    reuse=st.booleans(),
    entity=st.booleans(),
    cuts=st.sets(st.integers(0, 25)),
    block=st.sampled_from([1, 3, 1000]),
)
def test_any_cuts_publish_what_the_rule_says(
    con: Connection,
    rows: list[tuple[Any, ...]],
    columns: list[str],
    k: int,
    extra: int,
    by_time: bool,
    reuse: bool,
    entity: bool,
    cuts: set[int],
    block: int,
) -> None:
    delay = k + extra
    text = f"INTERVAL '{delay} seconds'" if by_time else str(delay)
    call = f"stream(k => {k}, delay => {text}, reuse => {str(reuse).lower()})"
    stream = _make(con, columns, entity=entity, call=call)
    moment, read = START, list[Row]()
    order = ["age", "height cm", 'the "ward"', "zip"]
    with sizes.replaced(block=block):
        for position, (after, who, *values) in enumerate(rows, start=1):
            moment += timedelta(seconds=after)
            con.duckdb.execute("INSERT INTO visits VALUES (?, ?, ?, ?, ?, ?, ?)", [moment, who, *values, position])
            chosen = tuple(values[order.index(name)] for name in columns)
            read.append(Row(position, moment, who if entity else position, chosen))
            if position in cuts:
                con.execute(f"ADVANCE {stream}")
                _in_time(con, stream, read, delay, by_time)
        con.execute(f"ADVANCE {stream} TO END")
    step = timedelta(seconds=delay) if by_time else delay
    outcome = simulate(read, k, step, [AXES[name] for name in columns], reuse=reuse, by_time=by_time)
    labels = ", ".join('"' + name.replace('"', '""') + '"' for name in columns)
    published = con.duckdb.execute(f"SELECT {labels}, id FROM {stream}").fetchall()
    assert Counter(published) == _expected(outcome, columns)
    assert len({row[-1] for row in published}) == len(published)
    [shown] = con.execute("SHOW STREAMS").fetchall()
    reused = len(outcome.reused)
    assert shown[6:11] == (len(read), len(published) - reused, reused, len(read) - len(published), 0)
    [checked] = con.execute(f"CHECK {stream}").fetchall()
    by_label: dict[tuple[Any, ...], set[Any]] = {}
    for row in published:
        by_label.setdefault(row[:-1], set()).add(read[row[-1] - 1].respondent)
    assert checked[3:] == (k, min(map(len, by_label.values()), default=None), True)
    con.execute(f"DROP ANONYMIZED STREAM {stream}")


@settings(max_examples=draws(2, long=20), deadline=None)
@given(seed=st.integers(0, 10**9), k=st.integers(2, 5), people=st.sampled_from([3, 40, 1000]))
def test_longer_waiting_rows_leave_as_the_rule_says(con: Connection, seed: int, k: int, people: int) -> None:
    """One respondent has 30 % of the rows, so the nearest rows often belong to one respondent."""
    columns, random = ["age", "zip"], Random(seed)
    stream = _make(con, columns, entity=True, call=f"stream(k => {k}, delay => 70)")
    read = [
        Row(
            position,
            START + timedelta(seconds=position),
            f"p{random.randrange(people)}" if random.random() < 0.7 else "p0",
            (random.choice([None, *range(60)]), random.choice(ZIPS)),
        )
        for position in range(1, 251)
    ]
    values = [[row.arrived, row.respondent, row.values[0], None, None, row.values[1], row.position] for row in read]
    con.duckdb.executemany("INSERT INTO visits VALUES (?, ?, ?, ?, ?, ?, ?)", values)
    with sizes.replaced(block=90):
        con.execute(f"ADVANCE {stream} TO END")
    expected = _expected(simulate(read, k, 70, [AXES[name] for name in columns]), columns)
    assert Counter(con.duckdb.execute(f"SELECT age, zip, id FROM {stream}").fetchall()) == expected
    con.execute(f"DROP ANONYMIZED STREAM {stream}")


def _in_time(con: Connection, stream: str, read: Sequence[Row], delay: int, by_time: bool) -> None:
    """Every row that is due has left, or was withheld: none waits any more."""
    last = read[-1]
    waiting = con.duckdb.execute(f"SELECT position FROM anon.stream_waiting_{_id(con, stream)}").fetchall()
    for (position,) in waiting:
        row = read[position - 1]
        if by_time:
            assert row.arrived + timedelta(seconds=delay) > last.arrived
        else:
            assert row.position + delay - 1 > last.position


def _id(con: Connection, stream: str) -> str:
    return str(con.duckdb.execute("SELECT stream_id FROM anon.stream WHERE object_name = ?", [stream]).fetchall()[0][0])


moments = st.integers(0, 6)
events = st.one_of(
    st.tuples(
        st.just("arrive"), st.lists(st.tuples(moments, st.sampled_from(PEOPLE[:5]), st.integers(0, 9)), max_size=6)
    ),
    st.tuples(st.just("advance"), st.sampled_from(["", "TO END"])),
    st.tuples(st.sampled_from(["delete", "change"]), moments),
    st.tuples(st.just("put back"), st.none()),
)


@settings(max_examples=draws(2, long=40), deadline=None)
@given(history=st.lists(events, max_size=8), k=st.integers(2, 3), extra=st.integers(0, 3))
def test_whatever_happens_to_the_source_each_row_is_read_and_published_once(
    con: Connection, history: list[tuple[str, Any]], k: int, extra: int
) -> None:
    stream = _make(con, ["age"], entity=True, call=f"stream(k => {k}, delay => {k + extra})")
    con.duckdb.execute("CREATE OR REPLACE TABLE gone AS FROM visits LIMIT 0")
    number = 0
    whose: dict[int, str] = {}
    for kind, what in [*history, ("advance", "TO END")]:
        if kind == "arrive":
            for moment, who, age in what:
                number += 1
                whose[number] = who
                values = [START + timedelta(seconds=moment), who, age, None, None, None, number]
                con.duckdb.execute("INSERT INTO visits VALUES (?, ?, ?, ?, ?, ?, ?)", values)
        elif kind == "advance":
            con.execute(f"ADVANCE {stream} {what}")
        elif kind == "put back":
            con.duckdb.execute("INSERT INTO visits FROM gone")
            con.duckdb.execute("DELETE FROM gone")
        elif kind == "delete":
            con.duckdb.execute("INSERT INTO gone FROM visits WHERE arrived = ?", [START + timedelta(seconds=what)])
            con.duckdb.execute("DELETE FROM visits WHERE arrived = ?", [START + timedelta(seconds=what)])
        else:
            con.duckdb.execute("UPDATE visits SET age = age + 1 WHERE arrived = ?", [START + timedelta(seconds=what)])
        # After each event what is published stems from k respondents a label, a row once.
        published = con.duckdb.execute(f"SELECT age, id FROM {stream}").fetchall()
        assert len({row[1] for row in published}) == len(published)
        people: dict[str, set[str]] = {}
        for label, row in published:
            people.setdefault(label, set()).add(whose[row])
        assert all(len(of_label) >= k for of_label in people.values())
        assert con.execute(f"CHECK {stream}").fetchall()[0][-1]
    [(read, released, reused, withheld, waiting)] = [row[6:11] for row in con.execute("SHOW STREAMS").fetchall()]
    assert (read, waiting) == (released + reused + withheld, 0)
    assert released + reused == len(published)
    con.execute(f"DROP ANONYMIZED STREAM {stream}")
