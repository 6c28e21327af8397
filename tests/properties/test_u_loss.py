"""The utility loss of random releases of every method against every node and every row looked at."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import sqlanon
from sqlanon import Connection, SqlanonError
from tests.oracles.populations import Atom, loss_by_population, nodes_of, population_loss
from tests.support.database import template
from tests.support.draws import draws
from tests.support.names import quoted

pytestmark = pytest.mark.drawn

AGE, SEX, ZIP, DISEASE = 'a "ge"', "it's", "select", "é 中"
COLUMNS = tuple(map(quoted, (AGE, SEX, ZIP, DISEASE)))
# A stored hierarchy with a value that no row has, one with a single child, and NULL without a label below the top.
DECADES = {21: ("20s", "young"), 22: ("20s", "young"), 31: ("30s", "young"), 57: ("50s", "old"), 58: ("50s", "old")}
Row = tuple[Hashable, ...]

rows = st.lists(
    st.tuples(
        st.sampled_from((21, 22, 31, 57)),
        st.sampled_from(("F", "M", "", None)),
        st.sampled_from((-3, 4, 9, 10, None)),
        st.sampled_from(("flu", "cold", "it's", "", None)),
    ),
    min_size=1,
    max_size=14,
)


def released(table: Sequence[Row], policy: str, method: str) -> Connection:
    listed = ", ".join(f"({value}, '{low}', '{high}')" for value, (low, high) in DECADES.items())
    con = template(
        f"CREATE HIERARCHY decade AS LEVELS (SELECT * FROM (VALUES {listed}) AS t (v, l1, l2))",
        "CREATE HIERARCHY fives AS INTERVALS (5, 10)",
    )
    age, sex, zip_, disease = COLUMNS
    con.execute(f"CREATE TABLE people ({age} INTEGER, {sex} VARCHAR, {zip_} INTEGER, {disease} VARCHAR)")
    con.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", [list(row) for row in table])
    con.execute(f"CREATE POLICY p ON people ({policy}) REQUIRE k_anonymity(k => 1)")
    try:
        con.execute(f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD {method}")
    except SqlanonError:
        # A policy that these rows cannot keep.
        assume(False)
    return con


def fives(value: Hashable) -> tuple[str, str]:
    if not isinstance(value, int):
        return ("NULL", "NULL")
    return (str(value // 5), f"ten {value // 10}")


def alike(values: Sequence[Hashable]) -> dict[Hashable, float]:
    return dict.fromkeys(values, 1.0)


def require_loss(
    con: Connection,
    table: Sequence[Row],
    nodes: Callable[[bool], Sequence[Sequence[frozenset[Hashable]]]],
    atoms: Sequence[Atom],
) -> None:
    for share, each_level in (("0.05", True), ("0.25", False), ("0.5", True)):
        least = Fraction(share) * len(table)
        losses = loss_by_population(table, nodes(each_level), atoms, float(least))
        figures = f"u_loss(min_support => {share}, each_level => {str(each_level).lower()}, worst => 10)"
        measured = con.execute(f"MEASURE r WITH FIGURES ({figures})").fetchall()
        values = {figure: value for _, figure, _, value in measured}
        expected = population_loss(losses)
        assert values["populations"] == len(losses)
        assert values["u_loss"] == (None if expected is None else pytest.approx(expected, abs=1e-9))
        worst = [value for _, figure, _, value in measured if figure.startswith("u_loss of ")]
        assert worst == pytest.approx(sorted(losses, reverse=True)[:10], abs=1e-9)


def nodes_by_value(table: Sequence[Row], columns: Sequence[int], each_level: bool) -> list[list[frozenset[Hashable]]]:
    return [nodes_of({row[i]: () for row in table}, each_level=each_level) for i in columns]


@settings(max_examples=draws(2, long=8), deadline=None)
@given(rows, st.tuples(st.integers(0, 3), st.integers(0, 1), st.integers(0, 3)))
def test_of_generalized_rows(table: list[Row], levels: tuple[int, int, int]) -> None:
    fixed = [f"MIN LEVEL {level} MAX LEVEL {level}" for level in levels]
    con = released(
        table,
        f"{COLUMNS[0]} QUASI IDENTIFIER USING decade {fixed[0]}, {COLUMNS[1]} QUASI IDENTIFIER {fixed[1]}, "
        f"{COLUMNS[2]} QUASI IDENTIFIER USING fives {fixed[2]}, {COLUMNS[3]} SENSITIVE",
        "generalization",
    )

    def below(index: int, value: Hashable) -> dict[Hashable, float]:
        level, occurring = levels[index], {row[index] for row in table}
        if index == 0:
            paths: Mapping[Hashable, Sequence[Hashable]] = {leaf: (leaf, *path, "*") for leaf, path in DECADES.items()}
            return alike([leaf for leaf, path in paths.items() if path[level] == paths[value][level]])
        if level == 0 or (value is None and level < 2 + (index == 2)):
            return alike([value]) if level < (1, 3)[index == 2] else alike([*occurring])
        if level == (1, 3)[index == 2]:
            return alike([*occurring])
        assert isinstance(value, int)
        width = (5, 10)[level - 1]
        return alike([*range(value // width * width, value // width * width + width)])

    def nodes(each_level: bool) -> list[list[frozenset[Hashable]]]:
        return [
            nodes_of(DECADES, each_level=each_level),
            nodes_of({row[1]: () for row in table}, each_level=each_level),
            nodes_of({row[2]: fives(row[2]) for row in table}, each_level=each_level),
        ]

    atoms: list[Atom] = [([below(i, row[i]) for i in range(3)], row[3], 1.0) for row in table]
    require_loss(con, table, nodes, atoms)


@pytest.mark.long
@settings(max_examples=draws(2, long=8), deadline=None)
@given(rows)
def test_of_regions(table: list[Row]) -> None:
    con = released(
        table,
        f"{COLUMNS[1]} QUASI IDENTIFIER, {COLUMNS[2]} QUASI IDENTIFIER, {COLUMNS[3]} SENSITIVE",
        "mondrian",
    )

    def below(label: str | None, values: set[Hashable]) -> dict[Hashable, float]:
        if label is None:
            return alike([None])
        span = re.fullmatch(r"\[(.*), (.*)\](?: or NULL)?", label)
        if span is None:
            return alike([value for value in values if str(value) == label])
        return alike([value for value in values if value is not None and span[1] <= str(value) <= span[2]])

    shown = con.execute(f"SELECT {', '.join(COLUMNS[1:])} FROM r").fetchall()
    assume(not any("NULL" in str(row[:2]) for row in shown))
    occurring = {row[1] for row in table}
    atoms: list[Atom] = []
    for sex, zip_, disease in shown:
        span = re.fullmatch(r"\[(-?\d+), (-?\d+)\]", zip_ or "")
        numbers = range(int(span[1]), int(span[2]) + 1) if span else [None if zip_ is None else int(zip_)]
        atoms.append(([below(sex, occurring), alike([*numbers])], disease, 1.0))
    narrow = [row[1:] for row in table]
    require_loss(con, narrow, lambda each_level: nodes_by_value(narrow, (0, 1), each_level), atoms)


def prefixes(value: Hashable) -> tuple[Hashable, Hashable]:
    if not isinstance(value, str):
        return (None, None)
    return (value[:2] + "*" * len(value[2:]), value[:1] + "*" * len(value[1:]))


def between(low: str, high: str, occurring: set[Hashable]) -> set[Hashable]:
    """The values of a range along PREFIXES (2, 1): by the order of texts below one first character, or any."""
    if len(low) != len(high) or low[:1] != high[:1] or low >= high:
        # The ends are in the order of the hierarchy, which nobody knows.
        return occurring
    if low.isdecimal() and high.isdecimal():
        return {f"{number:0{len(low)}}" for number in range(int(low), int(high) + 1)}
    return {value for value in occurring if isinstance(value, str) and len(value) == len(low) and low <= value <= high}


@settings(max_examples=draws(2, long=12), deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(("9", "94", "941", "942", "951", "9b1", "9411", "a", "é中z", "", None)),
            st.sampled_from(("flu", "cold", None)),
        ),
        min_size=1,
        max_size=14,
    ),
    st.integers(0, 3),
    st.booleans(),
)
def test_of_prefixes(table: list[Row], level: int, regions: bool) -> None:
    """Nobody lists the texts below a prefix, so that they are those of the source."""
    if regions:
        table = [row for row in table if row[0] is not None] or [("9", "flu")]
    con = template("CREATE HIERARCHY h AS PREFIXES (2, 1)")
    code, disease = COLUMNS[1], COLUMNS[3]
    con.execute(f"CREATE TABLE people ({code} VARCHAR, {disease} VARCHAR)")
    con.executemany("INSERT INTO people VALUES (?, ?)", [list(row) for row in table])
    using = "USING h" if regions else f"USING h MIN LEVEL {level} MAX LEVEL {level}"
    k = min(level + 1, len(table)) if regions else 1
    policy = f"{code} QUASI IDENTIFIER {using}, {disease} SENSITIVE"
    con.execute(f"CREATE POLICY p ON people ({policy}) REQUIRE k_anonymity(k => {k})")
    con.execute(f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD {'mondrian' if regions else 'generalization'}")
    occurring = {row[0] for row in table}
    atoms: list[Atom] = []
    for label, value in con.execute(f"SELECT {code}, {disease} FROM r").fetchall():
        if not regions:
            shown = {v for v in occurring if (v, *prefixes(v), "*")[level] == label}
        elif span := re.fullmatch(r"\[(.*), (.*)\]", label):
            shown = between(*span.groups(), occurring)
        else:
            shown = {label}
        atoms.append(([alike([*shown])], value, 1.0))
    require_loss(
        con,
        table,
        lambda each_level: [nodes_of({value: prefixes(value) for value in occurring}, each_level=each_level)],
        atoms,
    )


@pytest.mark.long
@settings(max_examples=draws(2, long=8), deadline=None)
@given(rows, st.sampled_from(("anatomy(l => 2)", "slicing(l => 2)", "slicing(l => 2, columns => 3)")))
def test_of_buckets(table: list[Row], method: str) -> None:
    con = released(
        table,
        f"{COLUMNS[0]} QUASI IDENTIFIER USING decade, {COLUMNS[1]} QUASI IDENTIFIER, {COLUMNS[3]} SENSITIVE",
        method,
    )
    narrow = [(row[0], row[1], row[3]) for row in table]

    def nodes(each_level: bool) -> list[list[frozenset[Hashable]]]:
        return [
            nodes_of(DECADES, each_level=each_level),
            nodes_of({row[1]: () for row in table}, each_level=each_level),
        ]

    require_loss(con, narrow, nodes, dealt(con))


def dealt(con: Connection) -> list[Atom]:
    """Every row of each bucket with every value of it, as likely as it is frequent there."""
    listed = "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main' AND starts_with(table_name, 'r_')"
    names = [name for (name,) in con.execute(listed).fetchall()]
    columns = {AGE: 0, SEX: 1, DISEASE: 2, "value": 2}
    tables: list[tuple[list[int], dict[Hashable, Counter[Row]]]] = []
    for name in names:
        query = con.execute(f"SELECT * FROM {quoted(name)}")
        header = [column[0] for column in query.description or []]
        buckets: dict[Hashable, Counter[Row]] = {}
        for row in query.fetchall():
            parts = dict(zip(header, row, strict=True))
            kept = tuple(parts[column] for column in header if column in columns)
            buckets.setdefault(parts["bucket"], Counter())[kept] += parts.get("count", 1)
        tables.append(([columns[column] for column in header if column in columns], buckets))
    atoms: list[Atom] = []
    for bucket, first in tables[0][1].items():
        size = first.total()
        combined: list[tuple[dict[int, Hashable], float]] = [({}, float(size))]
        for positions, buckets_of_table in tables:
            assert buckets_of_table[bucket].total() == size
            combined = [
                ({**known, **dict(zip(positions, values, strict=True))}, weight * count / size)
                for known, weight in combined
                for values, count in buckets_of_table[bucket].items()
            ]
        atoms += [([{row[0]: 1.0}, {row[1]: 1.0}], row[2], weight) for row, weight in combined]
    return atoms


@pytest.mark.one_in(4)
@pytest.mark.parametrize("method", ["loose(k => 2)", "fragments"])
def test_of_fragments(method: str) -> None:
    """Each row of the association is a row of a group of each fragment; without one, any rows."""
    diseases = ("flu", "cold", None, "it's", "", "x")
    table: list[Row] = [
        ((21, 22, 31, 57)[i * 7 // 3 % 4], "FMX"[i % 3], diseases[(i * 5 + i // 7) % 6]) for i in range(60)
    ]
    age, sex, _, disease = COLUMNS
    con = sqlanon.connect()
    con.execute(f"CREATE TABLE people ({age} INTEGER, {sex} VARCHAR, {disease} VARCHAR)")
    con.executemany("INSERT INTO people VALUES (?, ?, ?)", [list(row) for row in table])
    con.execute(
        f"CREATE POLICY p ON people ({age} QUASI IDENTIFIER, {sex} QUASI IDENTIFIER, {disease} SENSITIVE) "
        f"CONFIDENTIAL ({sex}, {disease})"
    )
    con.execute(f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD {method}")
    require_loss(con, table, lambda each_level: nodes_by_value(table, (0, 1), each_level), associated(con))


def associated(con: Connection) -> list[Atom]:
    """Every row of the association with every row of its groups, all alike; without one, any row of each fragment."""
    fragments = {number: read(con, f"r_{number}") for number in (1, 2)}
    association = read(con, "r_association") if fragments[1] and "group_id" in fragments[1][0] else [{}]
    atoms: list[Atom] = []
    for link in association:
        combined: list[tuple[dict[str, Hashable], float]] = [({}, 1.0)]
        for number, members in fragments.items():
            group = link.get(f"group_{number}")
            chosen = [row for row in members if group is None or row["group_id"] == group]
            combined = [({**known, **row}, weight / len(chosen)) for known, weight in combined for row in chosen]
        atoms += [([{row[AGE]: 1.0}, {row[SEX]: 1.0}], row[DISEASE], weight) for row, weight in combined]
    return atoms


def read(con: Connection, name: str) -> list[dict[str, Hashable]]:
    query = con.execute(f"SELECT * FROM {quoted(name)}")
    header = [column[0] for column in query.description or []]
    return [dict(zip(header, row, strict=True)) for row in query.fetchall()]
