"""Random tables, releases and queries for ESTIMATE: as SQL, and as functions of a row for the oracle."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from sqlanon import Connection
from tests.support.database import template

__all__ = [
    "COLUMNS",
    "DEALT",
    "RELEASES",
    "SLICED",
    "Condition",
    "Having",
    "Lookup",
    "Query",
    "Task",
    "conditions",
    "conjuncts",
    "havings",
    "queries",
    "quoted",
    "tables",
]

# The source's columns by what they are called here: number, group, code, sensitive, passed through.
COLUMNS = {"number": 'how "old"', "kind": "sélect", "code": "zip code", "value": "weight", "other": "label"}
KINDS = {"number": "INTEGER", "value": "INTEGER"}
# A table to join: its name, that of its key, and its other columns.
LOOKUP, KEY = '"look ""up"" é"', '"select"'
JOINED = {"shade": 'sha"de', "points": "from"}
KEYS: dict[str, Sequence[Any]] = {
    "number": [-4, 0, 1, 2, 6, 11],
    "kind": ["cat", "dog", "oak", "elk"],
    "code": ["11", "12", "15", "2", "21"],
    "value": [-7, 0, 3, 5],
    "other": ["x", "z"],
}
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
_SLICED = '("how ""old""", "sélect"), ("zip code", "weight"), ("label")'
# Releases that show every column by its bucket alone.
SLICED = {
    "sliced": f"TABLE {{}} METHOD slicing(l => 2, variant => 'distinct') COLUMNS {_SLICED}",
    "sliced_at_random": "TABLE {} METHOD slicing(l => 2, variant => 'distinct', "
    "grouping => 'random', bucket_size => 4) COLUMNS EACH",
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
class Lookup:
    """A table that is joined by a column of the source: its rows of key, shade and points.

    It has no key twice, and NULL as often as it likes.
    """

    on: str
    rows: tuple[tuple[Any, str | None, int | None], ...]
    using: bool

    @property
    def sql(self) -> str:
        own = quoted(self.on)
        return f"JOIN {LOOKUP} AS l " + (f"USING ({own})" if self.using else f"ON t.{own} = l.{KEY}")

    def install(self, con: Connection) -> None:
        key = f"{quoted(self.on) if self.using else KEY} {KINDS.get(self.on, 'VARCHAR')}"
        con.execute(f"CREATE OR REPLACE TABLE {LOOKUP} ({key}, {quoted('shade')} VARCHAR, {quoted('points')} INTEGER)")
        for row in self.rows:
            con.duckdb.execute(f"INSERT INTO {LOOKUP} VALUES (?, ?, ?)", list(row))

    def joined(self, row: Values) -> Row | None:
        """A row of the source with what is joined; None if nothing is."""
        for key, shade, points in self.rows:
            if key is not None and key == row[self.on]:
                return {**row, "shade": shade, "points": points}
        return None


@dataclass(frozen=True)
class Having:
    """A condition on an answer: n is the query's aggregate, c is count(*), g the group."""

    sql: str
    holds: Callable[[Values], bool | None]


@dataclass(frozen=True)
class Query:
    function: str
    argument: str | None
    where: Condition | None
    group: str | None
    lookup: Lookup | None = None

    @property
    def aggregate(self) -> str:
        return f"{self.function}({'*' if self.argument is None else quoted(self.argument)})"

    @property
    def sql(self) -> str:
        return self._selecting(f"{self.aggregate} AS n")

    @property
    def counted(self) -> str:
        """The query with all that HAVING asks about."""
        return self._selecting(f"{self.aggregate} AS n, count(*) AS c")

    def _selecting(self, items: str) -> str:
        head = f"{quoted(self.group)} AS g, " if self.group else ""
        join = f" {self.lookup.sql}" if self.lookup else ""
        where = f" WHERE {self.where.sql}" if self.where else ""
        group = " GROUP BY g" if self.group else ""
        return f"SELECT {head}{items} FROM t{join}{where}{group}"

    @property
    def columns(self) -> set[str]:
        """The source's columns that it reads: what is joined depends on the one that it is joined by."""
        named = {name for name in (self.argument, self.group) if name}
        named |= set(self.where.columns) if self.where else set()
        return {name for name in named if name in COLUMNS} | ({self.lookup.on} if self.lookup else set())

    def holds(self, row: Values) -> bool | None:
        """Whether a row of the source is there and satisfies."""
        seen = self._seen(row)
        return False if seen is None else self.where.holds(seen) if self.where else True

    def key(self, row: Values) -> Any:
        return (self._seen(row) or {}).get(self.group) if self.group else 0

    def number(self, row: Values) -> Any:
        """What the aggregate adds up: for COUNT one for each value but NULL."""
        found = (self._seen(row) or {}).get(self.argument)
        return found if self.function != "count" else None if found is None else 1.0

    def _seen(self, row: Values) -> Values | None:
        return self.lookup.joined(row) if self.lookup else row


@dataclass(frozen=True)
class Task:
    rows: tuple[Row, ...]
    k: int
    release: str

    def install(self) -> Connection:
        listed = ", ".join(f"('{value}', '{low}', '{high}')" for value, (low, high) in LISTED.items())
        con = template(
            f"CREATE HIERARCHY kinds AS LEVELS (FROM (VALUES {listed}) AS t)",
            "CREATE HIERARCHY numbers AS INTERVALS (2, 4)",
            "CREATE HIERARCHY codes AS PREFIXES (1)",
        )
        columns = ", ".join(f"{quoted(name)} {KINDS.get(name, 'VARCHAR')}" for name in COLUMNS)
        con.execute(f"CREATE TABLE t ({columns})")
        for row in self.rows:
            con.duckdb.execute("INSERT INTO t VALUES (?, ?, ?, ?, ?)", [row[name] for name in COLUMNS])
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
        con.execute("CREATE ANONYMIZED " + (RELEASES | SLICED)[self.release].format("r AS POLICY p"))
        return con


def quoted(name: str) -> str:
    return '"' + {**COLUMNS, **JOINED}[name].replace('"', '""') + '"'


@st.composite
def tables(draw: st.DrawFn, release: str, sizes: Sequence[int] = (12, 8, 5, 3, 1, 0)) -> Task:
    size = draw(st.sampled_from(sizes))
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


def lookups() -> st.SearchStrategy[Lookup]:
    """Tables with some of the keys, and keys that no row of the source has."""

    @st.composite
    def drawn(draw: st.DrawFn) -> Lookup:
        on = draw(st.sampled_from([*COLUMNS]))
        keys = draw(st.lists(st.sampled_from(KEYS[on]), min_size=2, unique=True)) + [None] * draw(st.integers(0, 2))
        rest = st.tuples(st.sampled_from(["red", "blue", "blue", None]), st.sampled_from([-2, 0, 5, None]))
        return Lookup(on, tuple((key, *draw(rest)) for key in keys), draw(st.booleans()))

    return drawn()


def _joined() -> st.SearchStrategy[Condition]:
    """Conditions on what is joined, by themselves and with others on the source's columns."""
    own = st.one_of(
        _compared("shade", ["blue", "green"]),
        _compared("points", [-2, 0.5]),
        st.just(Condition(f"l.{quoted('shade')} IS NULL", lambda row: row["shade"] is None, frozenset(["shade"]))),
    )
    mixed = st.builds(_connected, own, conditions(), st.sampled_from(["AND", "OR"]))
    return st.one_of(own, mixed, st.builds(_denied, mixed))


def havings(query: Query) -> st.SearchStrategy[Having]:
    """Conditions on the answer of a query."""
    signs = {">": lambda a, b: a > b, "<=": lambda a, b: a <= b, "<>": lambda a, b: a != b}

    def compare(said: str, sign: str, constant: Any) -> Having:
        name = "c" if said == "count(*)" and query.aggregate != said else "n"
        return Having(
            f"{said} {sign} {constant}", lambda row: None if row[name] is None else signs[sign](row[name], constant)
        )

    def connected(left: Having, right: Having, word: str) -> Having:
        parts = (Condition(one.sql, one.holds, frozenset()) for one in (left, right))
        both = _connected(*parts, word)
        return Having(both.sql, both.holds)

    said = st.sampled_from(["n", query.aggregate, "count(*)"])
    one = st.builds(compare, said, st.sampled_from([*signs]), st.sampled_from([1, 0, 0.5, 1.5, 3]))
    if query.group:
        one |= st.just(Having(f"{quoted(query.group)} IS NULL", lambda row: row["g"] is None))
        one |= st.just(Having(f"NOT ({quoted(query.group)} IS NULL)", lambda row: row["g"] is not None))
    return one | st.builds(connected, one, one, st.sampled_from(["AND", "OR"]))


@st.composite
def queries(draw: st.DrawFn, *, joined: bool = False) -> Query:
    """Queries on the source, or with a lookup table that they ask about as likely as not."""
    lookup = draw(lookups()) if joined else None
    more = [*JOINED] if joined else []
    functions = [("count", None), *(("count", name) for name in [*more, *COLUMNS])]
    functions += [(f, name) for f in ("sum", "avg", "min", "max") for name in [*more[1:], "number", "value"]]
    called = draw(st.sampled_from(functions))
    where = draw(st.none() | (_joined() if joined else st.nothing()) | conditions())
    group = draw(st.sampled_from([*more, None, None, "kind", "other", "value"]))
    return Query(*called, where, group, lookup)
