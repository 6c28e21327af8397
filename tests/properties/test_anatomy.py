"""METHOD anatomy on random tables: every bucket is diverse, no row is lost, and it fails only where nothing works."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from sqlanon import Connection, PrivacyViolation
from sqlanon.methods.anatomy.method import GROUPINGS, Options
from sqlanon.methods.shared.arguments import VARIANTS
from tests.oracles.anatomy import by_bucket, diverse, feasible, feasible_by_search, fitting, least_size
from tests.support.database import new_database
from tests.support.draws import draws
from tests.support.names import quoted

pytestmark = pytest.mark.drawn

_NAMES = ('a "b"', "it's", "select", "é中", "region", "value", "count", "row", "slot", "a.b", " ", "qi", "Sensitive")
_TEXTS = (None, "", " ", "*", "NULL", 'a "b"', "it's", "B", "b", "é", "\n", "bucket")
_NUMBERS = (None, -(2**63), -1, 0, 1, 2**53 + 1, 2**63 - 1)
_CS = (Decimal("0.3"), Decimal("0.5"), Decimal(1), Decimal("1.5"), Decimal(3))
RELEASE = 'm."ana ""t"" é"'
QI, SENSITIVE = '"ana ""t"" é_qi"', 'ana "t" é_'


@dataclass(frozen=True)
class Case:
    """A table of two quasi-identifiers, an insensitive column and sensitive ones, and what is asked of its buckets."""

    names: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    sensitive: int
    variant: str
    l: int  # noqa: E741 - the papers' name
    c: Decimal
    k: int
    grouping: str
    besides: str = ""

    def values(self, place: int) -> list[Any]:
        return [row[3 + place] for row in self.rows]

    def install(self) -> Connection:
        con = new_database()
        kinds = ("BIGINT", "VARCHAR", "INTEGER", *("VARCHAR", "BIGINT")[: self.sensitive])
        columns = ", ".join(f"{quoted(name)} {kind}" for name, kind in zip(self.names, kinds, strict=True))
        con.execute(f"CREATE SCHEMA m; CREATE TABLE t ({columns})")
        for row in self.rows:
            con.duckdb.execute(f"INSERT INTO t VALUES ({', '.join('?' * len(row))})", list(row))
        roles = ("QUASI IDENTIFIER", "QUASI IDENTIFIER", "INSENSITIVE", "SENSITIVE", "SENSITIVE")
        policy = ", ".join(f"{quoted(name)} {role}" for name, role in zip(self.names, roles, strict=False))
        con.execute(f"CREATE POLICY p ON t ({policy}) REQUIRE k_anonymity(k => {self.k}){self.besides}")
        return con

    @property
    def statement(self) -> str:
        c = f", c => {self.c}" if self.variant == "recursive" else ""
        method = f"anatomy(l => {self.l}, variant => '{self.variant}'{c}, grouping => '{self.grouping}')"
        return f"CREATE ANONYMIZED TABLE {RELEASE} AS POLICY p METHOD {method}"


@st.composite
def cases(draw: st.DrawFn) -> Case:
    sensitive = draw(st.sampled_from((1, 1, 1, 2)))
    folded = st.lists(st.sampled_from(_NAMES), min_size=3 + sensitive, max_size=3 + sensitive, unique_by=str.lower)
    names = draw(folded.filter(lambda found: sensitive == 1 or "qi" not in found[3:]))
    # How many values there are, and how skewed: the first of them is taken more often.
    texts = draw(st.lists(st.sampled_from(_TEXTS), min_size=1, max_size=8, unique=True))
    skew = draw(st.integers(0, 3))
    rows = draw(
        st.lists(
            st.tuples(
                st.sampled_from(_NUMBERS),
                st.sampled_from(("x", "y", None)),
                st.integers(0, 3),
                st.sampled_from(texts + texts[:1] * skew),
                st.sampled_from(_NUMBERS),
            ),
            max_size=24,
        )
    )
    return Case(
        names=tuple(names),
        rows=tuple(row[: 3 + sensitive] for row in rows),
        sensitive=sensitive,
        variant=draw(st.sampled_from(VARIANTS)),
        l=draw(st.integers(2, 4)),
        c=draw(st.sampled_from(_CS)),
        k=draw(st.sampled_from((1, 1, 2, 5))),
        grouping=draw(st.sampled_from(GROUPINGS)),
    )


def same(rows: Sequence[Sequence[Any]]) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(row) for row in rows)


def case(values: str, variant: str = "probabilistic", l: int = 2, grouping: str = "random", k: int = 1) -> Case:  # noqa: E741
    rows = tuple((place, "x", 0, value) for place, value in enumerate(values))
    return Case(("a", "b", "c", "d"), rows, 1, variant, l, Decimal(3), k, grouping)


@settings(max_examples=draws(2, long=30), deadline=None)
@example(case(""))
@example(case("a"))
@example(case("ab"))
@example(case("aabb", k=4))
@example(case("aaab", "distinct"))
@example(case("aaaabbcd", "entropy"))
@example(case("aaaaaabcdefg", "recursive", 3))
@example(case("aaabbbccc", "distinct", 3, "near"))
@given(cases())
def test_buckets_are_diverse_and_hold_every_row(one: Case) -> None:
    con = one.install()
    possible = not one.rows or (
        len(one.rows) >= one.k
        and all(feasible(one.values(i), one.variant, one.l, Fraction(one.c)) for i in range(one.sensitive))
    )
    if not possible:
        with pytest.raises(PrivacyViolation):
            con.execute(one.statement)
        assert con.duckdb.execute("SELECT table_name FROM duckdb_tables() WHERE schema_name = 'm'").fetchall() == []
        return
    con.execute(one.statement)
    exact = con.duckdb.execute(f"FROM m.{QI}").fetchall()
    assert same([row[:-1] for row in exact]) == same([row[:3] for row in one.rows])
    for place in range(one.sensitive):
        name = SENSITIVE + ("sensitive" if one.sensitive == 1 else one.names[3 + place])
        values = by_bucket(con.duckdb.execute(f"FROM m.{quoted(name)}").fetchall())
        assert fitting([row[-1] for row in exact], values)
        assert sum(values.values(), Counter()) == Counter(one.values(place))
        for counts in values.values():
            assert diverse(counts, one.variant, one.l, Fraction(one.c))
            assert sum(counts.values()) >= one.k
    assert sorted({row[-1] for row in exact}) == list(range(1, len({row[-1] for row in exact}) + 1))
    assert all(row[-1] for row in con.execute(f"CHECK {RELEASE}").fetchall())


@pytest.mark.long
@given(
    st.lists(st.sampled_from("abcd"), min_size=1, max_size=7),
    st.sampled_from(VARIANTS),
    st.integers(2, 4),
    st.sampled_from(_CS),
)
@settings(deadline=None)
def test_the_theorem_by_looking_at_every_division(values: list[str], variant: str, l: int, c: Decimal) -> None:  # noqa: E741
    assert feasible(values, variant, l, Fraction(c)) == feasible_by_search(values, variant, l, Fraction(c))


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("c", _CS)
@pytest.mark.parametrize("l", [2, 3, 7])
def test_the_least_size_of_buckets_without_a_value_twice(variant: str, c: Decimal, l: int) -> None:  # noqa: E741
    assert Options(l, variant, c).least == least_size(l, variant, c)


@given(st.lists(st.sampled_from("aaaabbcde"), min_size=2, max_size=30), st.integers(2, 4))
@settings(max_examples=draws(3, long=15), deadline=None)
def test_there_are_as_many_buckets_as_can_be(values: list[str], l: int) -> None:  # noqa: E741
    """The closed form reaches n // l buckets, and of distinct diversity the most for which the values suffice."""
    counts = Counter(values)
    most = max((g for g in range(1, len(values)) if sum(min(n, g) for n in counts.values()) >= g * l), default=0)
    for variant in ("probabilistic", "distinct"):
        one = case("".join(values), variant, l)
        if feasible(values, variant, l):
            con = one.install()
            con.execute(one.statement)
            ((found,),) = con.duckdb.execute(f"SELECT count(DISTINCT bucket) FROM m.{QI}").fetchall()
            assert found == (len(values) // l if variant == "probabilistic" else most)


_DISTINCT = ", l_diversity(l => 3)"


def _possible(one: Case) -> bool:
    """Whether all rows together meet what the method and the policy ask, which is when buckets can."""
    columns = [one.values(place) for place in range(one.sensitive)]
    asked = [(one.variant, one.l), *([("distinct", 3)] if one.besides else [])]
    return len(one.rows) >= one.k and all(
        feasible(values, variant, l, Fraction(one.c))
        for values in columns
        for variant, l in asked  # noqa: E741
    )


@pytest.mark.long
@settings(max_examples=draws(2, long=25), deadline=None)
@example(case("abc", l=4, k=4), "")
@example(case("aab", l=2, k=1), "")
@example(case("aabbc", l=3, k=1), _DISTINCT)
@example(case("aabb", "distinct", l=3, k=1), _DISTINCT)
@example(case("aaabbcc", "recursive", l=5, k=1), "")
@given(cases(), st.sampled_from(("", "", _DISTINCT)))
def test_the_l_that_an_error_names_works_and_no_larger_one_does(one: Case, besides: str) -> None:
    """Beside k, the policy's requirements, every sensitive column and the method's other arguments."""
    one = replace(one, l=one.l + 2, besides=besides)
    assume(one.rows and not _possible(one))
    con = one.install()
    with pytest.raises(PrivacyViolation) as error:
        con.execute(one.statement)
    working = [l for l in range(2, one.l) if _possible(replace(one, l=l))]  # noqa: E741
    named = re.search(r"l => (\d+) is the largest that works", str(error.value.hint))
    assert (int(named[1]) if named else None) == max(working, default=None)
    if named:
        con.execute(replace(one, l=int(named[1])).statement)
