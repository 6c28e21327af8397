"""The guard against its definition: withhold what violates, ask what remains again, publish only what satisfies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import duckdb
import pytest
import sqlglot
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.render import to_sql
from sqlanon.sql.build.steps import with_steps
from sqlanon.sql.classes.guard import kept_classes, restricted, violations, withheld_rows
from sqlanon.sql.classes.normal_relations import Background, literal_rows, relations_of, sensitive_values
from sqlanon.sql.classes.rows import Rows, rows_of
from sqlanon.sql.sizes import sizes
from tests.support.draws import draws

Row = tuple[object, object]


@dataclass(frozen=True)
class Fake:
    """A requirement with its SQL at hand."""

    question_name: str
    reads: tuple[str, ...]
    attributes: tuple[str, ...]
    sql: str
    on: tuple[str, ...] = ()
    of_whole_release: bool = False

    def statement(self, name: str, relations: Mapping[str, str]) -> exp.Select:
        tree = sqlglot.parse_one(self.sql, dialect="duckdb")
        assert isinstance(tree, exp.Select)
        for table in list(tree.find_all(exp.Table)):
            if table.name in relations:
                table.replace(relation(relations[table.name], as_=table.alias_or_name))
        return tree


def k(least: int) -> Fake:
    return Fake(
        "k",
        ("equivalence_class",),
        (),
        f"SELECT class_id, size, CAST(size AS DOUBLE) AS excess FROM equivalence_class WHERE entities < {least}",
    )


def t(most: Fraction) -> Fake:
    sql = f"""
        WITH whole AS (SELECT sum(n) AS rows FROM sensitive_value),
        distance AS (
            SELECT c.class_id, c.size, w.rows, sum(greatest(s.n * w.rows - v.n * c.size, 0)) AS positive
            FROM class_sensitive_value AS s
            JOIN equivalence_class AS c ON c.class_id = s.class_id
            JOIN sensitive_value AS v ON v.value = s.value
            CROSS JOIN whole AS w
            GROUP BY c.class_id, c.size, w.rows
        )
        SELECT class_id, size, 0.5 AS excess FROM distance
        WHERE positive * {most.denominator} > {most.numerator} * size * rows"""
    return Fake("t", ("equivalence_class", "class_sensitive_value", "sensitive_value"), ("s",), sql)


def presence(least: Fraction, most: Fraction) -> Fake:
    sql = f"""
        SELECT coalesce(c.class_id, p.class_id) AS class_id, coalesce(c.size, 0) AS size, 9e15 AS excess
        FROM equivalence_class AS c FULL JOIN public_class AS p ON p.class_id = c.class_id
        WHERE coalesce(c.size, 0) * {least.denominator} < {least.numerator} * coalesce(p.n, 0)
           OR coalesce(c.size, 0) * {most.denominator} > {most.numerator} * coalesce(p.n, 0)"""
    return Fake("presence", ("equivalence_class", "public_class"), (), sql)


def k_map(least: int) -> Fake:
    sql = f"""
        SELECT c.class_id, c.size, 1 AS excess
        FROM equivalence_class AS c LEFT JOIN public_class AS p ON p.class_id = c.class_id
        WHERE coalesce(p.n, 0) < {least}"""
    return Fake("k_map", ("equivalence_class", "public_class"), (), sql)


# The same by the definitions, on lists of rows.


def violating(model: Fake, classes: Mapping[object, list[object]], public: Counter[object]) -> set[object]:
    kind, *given_ = _PARAMETERS[model]
    if kind == "k":
        return {c for c, values in classes.items() if len(values) < given_[0]}
    if kind == "k_map":
        return {c for c in classes if public[c] < given_[0]}
    if kind == "presence":
        low, high = given_
        every = set(classes) | set(public)
        return {c for c in every if not low * public[c] <= len(classes.get(c, [])) <= high * public[c]}
    whole = [value for values in classes.values() for value in values]
    return {c for c, values in classes.items() if _distance(values, whole) > given_[0]}


def _distance(part: Sequence[object], whole: Sequence[object]) -> Fraction:
    shares = [Fraction(part.count(v), len(part)) - Fraction(whole.count(v), len(whole)) for v in set(whole)]
    return sum((abs(share) for share in shares), Fraction(0)) / 2


def kept_by_definition(
    models: Sequence[Fake], rows: Sequence[Row], public: Counter[object], rounds: int
) -> set[object] | None:
    """The classes that may be published; None if nothing may."""
    classes: dict[object, list[object]] = {}
    for c, value in rows:
        classes.setdefault(c, []).append(value)
    if all(_PARAMETERS[model][0] == "k" for model in models):
        return set(classes) - set().union(*(violating(model, classes, public) for model in models))
    for _ in range(rounds):
        wrong = set().union(*(violating(model, classes, public) for model in models))
        if not wrong:
            return set(classes)
        classes = {c: values for c, values in classes.items() if c not in wrong}
    return None


_PARAMETERS: dict[Fake, tuple[object, ...]] = {}


def of(model: Fake, *parameters: object) -> Fake:
    _PARAMETERS[model] = (model.question_name, *parameters)
    return model


fractions = st.fractions(min_value=0, max_value=1, max_denominator=6)
one = st.one_of(
    st.integers(1, 4).map(lambda n: of(k(n), n)),
    fractions.map(lambda x: of(t(x), x)),
    st.tuples(fractions, fractions).map(sorted).map(lambda x: of(presence(*x), *x)),
    st.just(of(presence(Fraction(0), Fraction(1, 2)), Fraction(0), Fraction(1, 2))),
    st.integers(1, 4).map(lambda n: of(k_map(n), n)),
)
tables = st.lists(st.tuples(st.integers(0, 5), st.sampled_from(["a", "b", "c", None])), max_size=30)


def asked(con: duckdb.DuckDBPyConnection, query: exp.Query) -> list[tuple[object, ...]]:
    return con.execute(to_sql(query)).fetchall()


def steps_of(rows: Sequence[Row], models: Sequence[Fake], public: Counter[object]) -> list[tuple[str, exp.Query]]:
    background = Background(
        public_class=literal_rows([("class_id", "INTEGER"), ("n", "BIGINT")], [(c, n) for c, n in public.items()])
    )
    table = literal_rows([("class_id", "INTEGER"), ("s", "VARCHAR")], rows).subquery("table")
    classes = Rows(table, (column("class_id"),), column("class_id"), {"s": column("s")})
    return relations_of(classes, models, background)


def kept(con: duckdb.DuckDBPyConnection, steps: list[tuple[str, exp.Query]], models: Sequence[Fake]) -> set[object]:
    query = exp.select(column("class_id")).from_(relation("kept"))
    found = [c for (c,) in asked(con, with_steps(query, [*steps, *kept_classes(models)]))]
    assert len(found) == len(set(map(str, found)))
    return set(found)


@pytest.fixture(scope="module")
def con() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(config={"threads": 1})


@pytest.mark.long
@pytest.mark.drawn
@settings(max_examples=draws(10, long=120), deadline=None)
@given(tables, st.lists(one, min_size=1, max_size=3), st.lists(st.integers(0, 6), max_size=40))
def test_what_is_kept_is_what_the_rounds_leave(rows: list[Row], models: list[Fake], people: list[int]) -> None:
    con, public = duckdb.connect(config={"threads": 1}), Counter[object](people)
    expected = kept_by_definition(models, rows, public, sizes().guard_rounds)
    assert kept(con, steps_of(rows, models, public), models) == (expected or set())
    withheld = None if expected is None else sum(c not in expected for c, _ in rows)
    assert asked(con, withheld_rows(models, steps_of(rows, models, public))) == [(withheld,)]


@pytest.mark.long
@pytest.mark.drawn
@settings(max_examples=draws(8, long=30), deadline=None)
@given(tables, st.lists(one, min_size=1, max_size=3), st.lists(st.integers(0, 6), max_size=40))
def test_what_is_kept_violates_nothing(rows: list[Row], models: list[Fake], people: list[int]) -> None:
    con, public = duckdb.connect(config={"threads": 1}), Counter[object](people)
    left = kept(con, steps_of(rows, models, public), models)
    published = [row for row in rows if row[0] in left]
    again = [*steps_of(published, models, public), *sensitive_values(models)]
    query = exp.select(column("size")).from_(violations(models).subquery("violations"))
    wrong = asked(con, with_steps(query, again))
    # Nothing published can still lack classes of the public table, which withholding does not cure.
    assert not wrong or (not published and set(wrong) == {(0,)})


def chain(length: int) -> tuple[list[Row], Counter[object], list[Fake]]:
    """Every class but the last is fine as long as the next is there: one a round is withheld, from the last on."""
    sql = """
        SELECT class_id, size, 1 AS excess FROM equivalence_class
        WHERE class_id > 0 AND class_id NOT IN (SELECT c.class_id - 1 FROM equivalence_class AS c)"""
    model = Fake("chain", ("equivalence_class", "public_class"), (), sql)
    return [(c, "a") for c in range(length + 1)], Counter(), [model]


@pytest.mark.parametrize(("length", "left"), [(0, {0}), (1, {0}), (7, {0}), (8, set()), (20, set())])
def test_rounds_end_in_a_round_without_violations_or_nothing_is_published(
    con: duckdb.DuckDBPyConnection, length: int, left: set[int]
) -> None:
    rows, public, models = chain(length)
    steps = steps_of(rows, models, public)
    assert kept(con, steps, models) == left
    withheld = length if left else None
    assert asked(con, withheld_rows(models, steps_of(rows, models, public))) == [(withheld,)]


def test_with_one_round_any_violation_publishes_nothing(con: duckdb.DuckDBPyConnection) -> None:
    rows: list[Row] = [(1, "a"), (1, "b"), (2, "a"), (2, "b"), (3, "a")]
    loose, tight = t(Fraction(1, 2)), t(Fraction(1, 4))
    with sizes.replaced(guard_rounds=1):
        assert kept(con, steps_of(rows, [loose], Counter()), [loose]) == {1, 2, 3}
        assert kept(con, steps_of(rows, [tight], Counter()), [tight]) == set()


def test_a_public_class_without_a_name_counts(con: duckdb.DuckDBPyConnection) -> None:
    """Public rows that no class takes in are nobody's: the least presence cannot hold for them."""
    rows: list[Row] = [(1, "a"), (1, "b")]
    public: Counter[object] = Counter({1: 2, None: 1})
    some, none = presence(Fraction(1, 10), Fraction(1)), presence(Fraction(0), Fraction(1))
    assert kept(con, steps_of(rows, [some], public), [some]) == set()
    assert kept(con, steps_of(rows, [none], public), [none]) == {1}


def test_a_class_counts_once_with_its_greatest_excess(con: duckdb.DuckDBPyConnection) -> None:
    rows: list[Row] = [(1, "a"), (2, "a"), (2, "b"), (2, "b"), (2, "b")]
    models = [k(2), t(Fraction(0)), k(5)]
    query = exp.select(exp.Star()).from_(violations(models).subquery("violations")).order_by(column("class_id"))
    found = asked(con, with_steps(query, [*steps_of(rows, models, Counter()), *sensitive_values(models)]))
    assert found == [(1, 1, 1.0), (2, 4, 4.0)]


def test_classes_named_by_structs_with_null(con: duckdb.DuckDBPyConnection) -> None:
    """NULL is a value of a class, not a class that slips through."""
    con.execute(
        "CREATE OR REPLACE TEMPORARY TABLE t AS SELECT * FROM (VALUES (NULL, 'x', 'a'), (NULL, 'x', 'b'), "
        "(NULL, NULL, 'a'), (1, NULL, 'b'), (1, NULL, 'a'), (1, NULL, NULL)) AS v (q1, q2, s)"
    )
    models = [k(2), t(Fraction(9, 10))]
    rows = rows_of(relation("t"), ["q1", "q2"], {"s": column("s")})
    same = exp.EQ(this=column("class_id", "equivalence_class"), expression=column("class_id", "kept"))
    query = exp.select(column("size")).from_(relation("equivalence_class")).join(relation("kept"), on=same)
    found = asked(con, with_steps(query, [*relations_of(rows, models), *kept_classes(models)]))
    assert sorted(found) == [(2,), (3,)]


def test_without_a_model_that_looks_at_others_one_question_settles_it() -> None:
    """The guard of k-anonymity stays the plain query that it is."""
    assert [name for name, _ in kept_classes([k(2), k(3)])] == ["kept"]
    assert kept_classes([k(2), t(Fraction(1))])[0][0] == "rounds"


def test_restricted_relations_sum_the_sensitive_values_again(con: duckdb.DuckDBPyConnection) -> None:
    rows: list[Row] = [(1, "a"), (1, "b"), (2, "b"), (2, "c"), (2, None)]
    models = [t(Fraction(1))]
    steps, (names,) = restricted(models, "some", "some")
    some = literal_rows([("class_id", "INTEGER")], [(2,)])
    query = exp.select(exp.Star()).from_(relation(names["sensitive_value"])).order_by(column("value"))
    found = asked(con, with_steps(query, [*steps_of(rows, models, Counter()), ("some", some), *steps]))
    assert found == [(2, 1), (3, 1), (4, 1)]
