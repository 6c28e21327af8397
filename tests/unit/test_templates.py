"""Templates: constants are taken out of a query only where its meaning is the template's with the constants."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sqlglot import exp

from sqlanon import UserError
from sqlanon.estimates.query.conjunctions import Slot, Templates, conjuncts
from sqlanon.estimates.query.parse import parsed
from tests.support.names import quoted

NAMES = ["age", "select", 'a "quoted" IN (1)', "BETWEEN 1 AND 2", "größe", "-- x", "a;b", "$1", "it's"]
TEXTS = ["", "x", "it's", "IN (1, 2)", "-- no comment", "a;b", "$$", '"', "BETWEEN 'a' AND 'b'", "größe", "/*"]


def literal(value: str | int) -> str:
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"


CONSTANTS = st.lists(st.sampled_from(TEXTS), min_size=1, max_size=4) | st.lists(
    st.integers(-(10**18) + 1, 10**18 - 1), min_size=1, max_size=4
)


def _listed(name: str, values: list[str | int], space: str) -> tuple[str, Slot]:
    written = tuple(dict.fromkeys(value if isinstance(value, str) else str(value) for value in values))
    text = f"{quoted(name)} IN{space}({f',{space}'.join(map(literal, values))})"
    return text, Slot(written, isinstance(values[0], str), between=False)


def _between(name: str, values: list[str | int], space: str) -> tuple[str, Slot]:
    ends = (values[0], values[-1])
    text = f"{quoted(name)} between {space}{literal(ends[0])} AND {literal(ends[1])}"
    return text, Slot(tuple(map(str, ends)), isinstance(ends[0], str), between=True)


PARTS = st.one_of(
    *(
        st.builds(made, st.sampled_from(NAMES), CONSTANTS, st.sampled_from(["", " ", "\n "]))
        for made in (_listed, _between)
    )
)


def constants_in(part: exp.Expr) -> list[str]:
    """The constants of a comparison as sqlglot reads them, each once in a list."""
    if isinstance(part, exp.Between):
        return [str(part.args[end].to_py()) for end in ("low", "high")]
    return list(dict.fromkeys(str(one.to_py()) for one in part.expressions))


@settings(deadline=None)
@given(st.lists(PARTS, min_size=1, max_size=4), st.sampled_from(["count(*)", 'sum("-- x") AS n']))
@example([_listed("-- x", ["a;b"], " "), _between("age", [3, 4], "")], "count(*)")
def test_a_query_is_its_template_with_its_constants(parts: list[tuple[str, Slot]], head: str) -> None:
    text = f"SELECT {head} FROM t WHERE {' AND '.join(part for part, _ in parts)}"
    whole = parsed(text)
    assert whole.where is not None
    templates = Templates()
    assert templates.one_query(text) == text
    for _ in range(2):
        asked = templates.query_of(1, text)
        assert asked.slots == tuple(slot for _, slot in parts)
        assert asked.whole() == whole
        assert asked.query.where is not None
        assert (asked.query.items, asked.query.source) == (whole.items, whole.source)
        own = list(conjuncts(whole.where))
        assert [constants_in(part) for part in own] == [[str(v) for v in slot.values] for slot in asked.slots]
        assert [part.this for part in conjuncts(asked.query.where)] == [part.this for part in own]


@pytest.mark.parametrize(
    "condition",
    [
        "a IN (1.5)",
        "a IN (1, 'x')",
        "a IN (1, NULL)",
        "a IN (1000000000000000000000)",
        "a IN (1) OR b IN (2)",
        "a NOT IN (1)",
        "NOT (a IN (1))",
        "a IN (1) AND b = 2",
        "a IN ('x' || 'y')",
        "a IN (DATE '2020-01-01')",
        "a BETWEEN 1 AND 2 + b",
        "a BETWEEN 1 AND 2::DOUBLE",
        "a BETWEEN 1e0 AND 2",
        "a + 1 IN (2)",
        "lower(a) IN ('x')",
        "a IN (1) IS NULL",
        "a COLLATE nocase IN ('x')",
        "a IN (1) -- AND b IN (2)",
        "a IN (1) /* AND b IN (2) */",
        "a IN ($$x$$)",
        "a IN (E'x\\n')",
        "CASE WHEN a IN (1) THEN b IN (2) END",
        "a IN (1) AND count",
    ],
)
def test_what_is_more_than_comparisons_with_constants_is_read_as_a_whole(condition: str) -> None:
    text = f"SELECT count(*) FROM t WHERE {condition}"
    templates = Templates()
    try:
        whole = parsed(text)
    except UserError:
        with pytest.raises(UserError):
            templates.query_of(1, text)
        return
    asked = templates.query_of(1, text)
    assert asked.slots == ()
    assert asked.query == whole


@pytest.mark.parametrize(
    "text",
    [
        "SELECT sum(CASE WHEN a IN (1) THEN 1 END) FROM t WHERE b = 0",
        "SELECT a, count(*) FROM t WHERE b IN (1) GROUP BY a",
        "SELECT count(*) FROM t JOIN u USING (a) WHERE b IN (1)",
        "SELECT count(*) AS n FROM t WHERE b > 0 HAVING n IN (1)",
        "SELECT count(*) FROM t",
    ],
)
def test_a_query_that_is_more_than_a_condition_is_read_as_a_whole(text: str) -> None:
    asked = Templates().query_of(1, text)
    assert asked.slots == ()
    assert asked.query == parsed(text)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT count(*) FROM t WHERE a IN (1)); DROP TABLE t; --",
        "SELECT count(*) FROM t WHERE a IN (1) AND (b IN (2)",
        "SELECT count(*) FROM t WHERE a IN (1); SELECT 2",
        "DELETE FROM t WHERE a IN (1)",
    ],
)
def test_a_text_that_is_not_one_query_is_refused(text: str) -> None:
    with pytest.raises(UserError):
        Templates().one_query(text)


def test_spaces_and_a_semicolon_around_a_query_do_not_count() -> None:
    text = "SELECT count(*) FROM t WHERE a IN (1)"
    assert Templates().one_query(f"\n {text} ") == Templates().one_query(f"{text} ;") == text
