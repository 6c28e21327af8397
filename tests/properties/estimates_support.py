"""Random tables, releases and queries for ESTIMATE: as SQL, and as functions of a row for the oracle."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from sqlanon import Connection, connect

__all__ = [
    "COLUMNS",
    "DEALT",
    "RELEASES",
    "Condition",
    "Query",
    "Task",
    "conditions",
    "conjuncts",
    "queries",
    "quoted",
    "tables",
]

# The source's columns by what they are called here: number, group, code, sensitive, passed through.
COLUMNS = {"number": 'how "old"', "kind": "sélect", "code": "zip code", "value": "weight", "other": "label"}
LISTED = {"cat": ("pet", "animal"), "dog": ("pet", "animal"), "cow": ("farm", "animal"), "oak": ("tree", "plant")}
NUMBERS = (None, -4, -1, 0, 1, 2, 3, 5, 9)
CODES = ("11", "12", "19", "21", None)
RELEASES = {
    "global": "TABLE {} METHOD generalization(suppression => 0)",
    "suppressed": "TABLE {} METHOD generalization(suppression => 0.4)",
    "local": "TABLE {} METHOD generalization(suppression => 0.4, recoding => 'local')",
    "view": "VIEW {} METHOD generalization(suppression => 0.4)",
    "range": "TABLE {} METHOD mondrian",
    "ancestor": "TABLE {} METHOD mondrian(publish => 'ancestor')",
    "bounds": "TABLE {} METHOD mondrian(bounds => true, publish => 'centroid')",
    "flat": "TABLE {} METHOD mondrian",
    "buckets": "TABLE {} METHOD mondrian(publish => 'none')",
    "anatomy": "TABLE {} METHOD anatomy(l => 2, variant => 'distinct')",
    "near": "TABLE {} METHOD anatomy(l => 2, variant => 'distinct', grouping => 'near')",
    "anatomy_two": "TABLE {} METHOD anatomy(l => 2, variant => 'distinct')",
}
# The columns that a release deals out in buckets, and the tables that have their values and how often they occur.
_COUNTED = "(SELECT bucket, weight AS value, count(*) AS count FROM r GROUP BY ALL)"
DEALT = {
    "buckets": {"value": _COUNTED},
    "anatomy": {"value": "r_sensitive"},
    "near": {"value": "r_sensitive"},
    "anatomy_two": {"value": "r_weight", "other": "r_label"},
}
Row = dict[str, Any]
Values = Mapping[str, Any]


@dataclass(frozen=True)
class Condition:
    """A condition as SQL and as a function that returns True, False or None."""

    sql: str
    holds: Callable[[Values], bool | None]
    columns: frozenset[str]


@dataclass(frozen=True)
class Query:
    function: str
    argument: str | None
    where: Condition | None
    group: str | None

    @property
    def sql(self) -> str:
        inner = "*" if self.argument is None else quoted(self.argument)
        head = f"{quoted(self.group)} AS g, " if self.group else ""
        where = f" WHERE {self.where.sql}" if self.where else ""
        group = " GROUP BY g" if self.group else ""
        return f"SELECT {head}{self.function}({inner}) AS n FROM t{where}{group}"

    @property
    def columns(self) -> set[str]:
        named = {name for name in (self.argument, self.group) if name}
        return named | (set(self.where.columns) if self.where else set())


@dataclass(frozen=True)
class Task:
    rows: tuple[Row, ...]
    k: int
    release: str

    def install(self) -> Connection:
        con = connect(config={"threads": "1"})
        kinds = {"number": "INTEGER", "value": "INTEGER"}
        columns = ", ".join(f"{quoted(name)} {kinds.get(name, 'VARCHAR')}" for name in COLUMNS)
        con.execute(f"CREATE TABLE t ({columns})")
        for row in self.rows:
            con.duckdb.execute("INSERT INTO t VALUES (?, ?, ?, ?, ?)", [row[name] for name in COLUMNS])
        listed = ", ".join(f"('{value}', '{low}', '{high}')" for value, (low, high) in LISTED.items())
        con.execute(f"CREATE HIERARCHY kinds AS LEVELS (FROM (VALUES {listed}) AS t)")
        con.execute("CREATE HIERARCHY numbers AS INTERVALS (2, 4); CREATE HIERARCHY codes AS PREFIXES (1)")
        using = {"number": " USING numbers", "kind": " USING kinds", "code": " USING codes"}
        quasi = [
            f"{quoted(name)} QUASI IDENTIFIER" + ("" if self.release == "flat" else hierarchy)
            for name, hierarchy in using.items()
        ]
        other = "SENSITIVE" if self.release == "anatomy_two" else "INSENSITIVE"
        con.execute(
            f"CREATE POLICY p ON t ({', '.join(quasi)}, "
            f"{quoted('value')} SENSITIVE, {quoted('other')} {other}) REQUIRE k_anonymity(k => {self.k})"
        )
        con.execute("CREATE ANONYMIZED " + RELEASES[self.release].format("r AS POLICY p"))
        return con


def quoted(name: str) -> str:
    return '"' + COLUMNS[name].replace('"', '""') + '"'


@st.composite
def tables(draw: st.DrawFn, release: str) -> Task:
    size = draw(st.sampled_from([12, 8, 5, 3, 1, 0]))
    rows = [
        {
            "number": draw(st.sampled_from(NUMBERS)),
            "kind": draw(st.sampled_from([*LISTED, None])),
            "code": draw(st.sampled_from(CODES)),
            "value": draw(st.sampled_from([None, -7, 0, 3, 8])),
            "other": draw(st.sampled_from(["x", "y", None])),
        }
        for _ in range(size)
    ]
    return Task(tuple(rows), draw(st.sampled_from([1, 2, 2, 3])) if size > 2 else 1, release)


def _compared(name: str, constants: Sequence[Any]) -> st.SearchStrategy[Condition]:
    text = {"=": lambda a, b: a == b, "<>": lambda a, b: a != b, "<": lambda a, b: a < b, ">=": lambda a, b: a >= b}

    def compare(sign: str, constant: Any) -> Condition:
        shown = f"'{constant}'" if isinstance(constant, str) else str(constant)
        return Condition(
            f"{quoted(name)} {sign} {shown}",
            lambda row: None if row[name] is None else text[sign](row[name], constant),
            frozenset([name]),
        )

    return st.builds(compare, st.sampled_from([*text]), st.sampled_from(constants))


def _others(names: Sequence[str]) -> list[st.SearchStrategy[Condition]]:
    def null(name: str) -> Condition:
        return Condition(f"{quoted(name)} IS NULL", lambda row: row[name] is None, frozenset([name]))

    def between(low: int, width: int) -> Condition:
        return Condition(
            f"{quoted('number')} BETWEEN {low} AND {low + width}",
            lambda row: None if row["number"] is None else low <= row["number"] <= low + width,
            frozenset(["number"]),
        )

    def among(values: list[str]) -> Condition:
        shown = ", ".join(f"'{value}'" for value in values)
        return Condition(
            f"{quoted('kind')} IN ({shown})",
            lambda row: None if row["kind"] is None else row["kind"] in values,
            frozenset(["kind"]),
        )

    def like(prefix: str) -> Condition:
        return Condition(
            f"{quoted('code')} LIKE '{prefix}%'",
            lambda row: None if row["code"] is None else row["code"].startswith(prefix),
            frozenset(["code"]),
        )

    found = {
        "number": st.builds(between, st.integers(-5, 8), st.integers(0, 6)),
        "kind": st.builds(among, st.lists(st.sampled_from([*LISTED, "elk"]), min_size=1, max_size=3)),
        "code": st.builds(like, st.sampled_from(["1", "2", "12", "3"])),
    }
    return [st.builds(null, st.sampled_from(names)), *(found[name] for name in names if name in found)]


def _connected(left: Condition, right: Condition, word: str) -> Condition:
    stop = word == "OR"

    def holds(row: Values) -> bool | None:
        found = (left.holds(row), right.holds(row))
        return stop if stop in found else None if None in found else not stop

    return Condition(f"(({left.sql}) {word} ({right.sql}))", holds, left.columns | right.columns)


def _denied(inner: Condition) -> Condition:
    def holds(row: Values) -> bool | None:
        found = inner.holds(row)
        return None if found is None else not found

    return Condition(f"(NOT ({inner.sql}))", holds, inner.columns)


def conjuncts(names: Sequence[str] = tuple(COLUMNS)) -> st.SearchStrategy[Condition]:
    """Conditions on one of these columns each."""
    constants: dict[str, Sequence[Any]] = {
        "number": [-3, 0, 1.5, 3, 6],
        "kind": ["cat", "cow", "oak"],
        "code": ["11", "15", "2"],
        "value": [0, 3],
        "other": ["x", "y"],
    }
    return st.one_of(*(_compared(name, constants[name]) for name in constants if name in names), *_others(names))


def conditions() -> st.SearchStrategy[Condition]:
    return st.recursive(
        conjuncts(),
        lambda inner: st.one_of(
            st.builds(_connected, inner, inner, st.sampled_from(["AND", "OR"])), st.builds(_denied, inner)
        ),
        max_leaves=4,
    )


def queries() -> st.SearchStrategy[Query]:
    arguments = st.sampled_from(["number", "value"])
    functions = st.one_of(
        st.tuples(st.just("count"), st.none()),
        st.tuples(st.just("count"), st.sampled_from([*COLUMNS])),
        st.tuples(st.sampled_from(["sum", "avg", "min", "max"]), arguments),
    )
    return st.builds(
        lambda called, where, group: Query(*called, where, group),
        functions,
        st.none() | conditions(),
        st.sampled_from([None, None, "kind", "other", "value"]),
    )
