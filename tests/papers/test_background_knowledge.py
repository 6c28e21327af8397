"""Models of background knowledge: worked examples to the digit, and every world of small tables."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate, chain, pairwise, product
from math import inf
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon
from sqlanon.domain.policy import Requirement
from sqlanon.domain.values import QualifiedName, Value
from sqlanon.sql.build.render import to_sql
from sqlanon.sql.questions.ask import BoundRequirement, bind_requirement
from tests.oracles.background_knowledge import beliefs_of_row, surest, surest_of_skyline
from tests.oracles.models import (
    ck_safety,
    epsilon_privacy,
    epsilon_privacy_of_table,
    privacy_skyline,
    privacy_skyline_of_table,
)
from tests.oracles.models.support import Table, Triple, in_order
from tests.support.database import one_thread
from tests.support.draws import draws

pytestmark = pytest.mark.drawn

Classes = Sequence[Sequence[Hashable]]
few = settings(deadline=None, max_examples=draws(25, long=100))

# De Capitani di Vimercati, Foresti, Livraga and Samarati, Protecting Privacy in Data Release (2011): the hospital by
# year of birth and sex.
HOSPITAL: Classes = (
    ("H1N1", "Pneumonia", "H1N1", "Flu"),
    ("Gastritis", "Dyspepsia", "Stomach Cancer", "Gastritis"),
    ("Peptic Ulcer", "Peptic Ulcer", "Broken Leg", "Short Breath"),
    ("Peptic Ulcer", "Peptic Ulcer", "Broken Leg", "Stomach Cancer"),
)


@pytest.fixture(scope="module")
def connection() -> Iterator[Any]:
    with one_thread() as opened:
        yield opened


def table(classes: Classes) -> Table:
    ends = [0, *accumulate(map(len, classes))]
    return Table(
        {number: range(*bounds) for number, bounds in enumerate(pairwise(ends))}, [*chain.from_iterable(classes)]
    )


def requirement(model: str, **arguments: Value) -> BoundRequirement:
    (bound,) = bind_requirement(Requirement(model, tuple(arguments.items())), ("disease",))
    return bound


def relations(classes: Classes) -> dict[str, str]:
    """The normal relations of a release, as queries."""
    codes = {value: code for code, value in enumerate(in_order({*chain.from_iterable(classes)}))}
    counted = [(of, codes[value], n) for of, values in enumerate(classes) for value, n in Counter(values).items()]
    rows = ", ".join(f"({of}, {code}, {n})" for of, code, n in counted)
    values = f"SELECT * FROM (VALUES {rows}) AS t(class_id, value, n)"
    return {
        "class_sensitive_value": values,
        "sensitive_value": f"SELECT value, sum(n)::BIGINT AS n FROM ({values}) GROUP BY value",
        "equivalence_class": f"SELECT class_id, sum(n)::BIGINT AS size, sum(n)::BIGINT AS entities FROM ({values}) "
        "GROUP BY class_id",
    }


def asked(
    connection: Any,
    classes: Classes,
    model: str,
    prior: Mapping[Hashable, Fraction] | None = None,
    skyline: Sequence[Triple] | None = None,
    **arguments: Value,
) -> tuple[float, set[int]]:
    """The figure of a model, and the classes that violate it; `prior` and `skyline` are what it reads as tables."""
    if prior is not None:
        arguments |= {"prior": "table", "weights": QualifiedName(("w",))}
    if skyline is not None:
        arguments |= {"knowledge": "table", "triples": QualifiedName(("t",))}
    bound, tables = requirement(model, **arguments), relations(classes)
    if skyline is not None:
        values = in_order({*chain.from_iterable(classes)})
        codes = [("NULL" if value is None else values.index(value), numbers) for value, *numbers in skyline]
        rows = ", ".join(f"({code}::BIGINT, {', '.join(map(str, numbers))})" for code, numbers in codes)
        tables["known_triple"] = f"FROM (VALUES {rows}) AS t(value, l, k, m)"
    if prior is not None:
        values = in_order({*chain.from_iterable(classes)})
        rows = ", ".join(f"({values.index(value)}, {float(share)!r}::DOUBLE)" for value, share in prior.items())
        tables["value_range"] = f"SELECT value, low, low AS high FROM (VALUES {rows}) AS t(value, low)"
    steps = ", ".join(f"{name} AS ({query})" for name, query in tables.items())
    achieved, violations = (to_sql(bound.statement(name)) for name in ("achieved", "violations"))
    ((reached,),) = connection.execute(f"WITH {steps} FROM ({achieved})").fetchall()
    violating = connection.execute(f"WITH {steps} SELECT class_id FROM ({violations})").fetchall()
    return float(reached), {int(of) for (of,) in violating}


# epsilon-privacy.


@pytest.mark.parametrize(
    ("stubbornness", "worst"),
    [
        (Decimal(0), inf),
        (Decimal(1), Fraction(16)),
        (Decimal(10), Fraction(26, 5)),
        (Decimal(100), Fraction(103, 25)),
        ("infinite", Fraction(4)),
    ],
)
def test_the_hospital_s_epsilon(connection: Any, stubbornness: Value, worst: Any) -> None:
    reached, violating = asked(connection, HOSPITAL, "epsilon_privacy", epsilon=4, stubbornness=stubbornness)
    assert reached == pytest.approx(float(worst), rel=1e-14)
    # A ratio of epsilon itself is within it.
    assert bool(violating) is (worst > 4)
    # A table with the shares of the release is the same prior.
    shares = {value: Fraction(n, 16) for value, n in Counter(chain.from_iterable(HOSPITAL)).items()}
    of_table = asked(connection, HOSPITAL, "epsilon_privacy", shares, epsilon=4, stubbornness=stubbornness)
    assert of_table == (pytest.approx(reached, rel=1e-14), violating)


def test_a_prior_of_a_table_by_hand(connection: Any) -> None:
    """H1N1 had a chance of 1/4, and 2 of 4 rows have it: p_in is 1/2, p_out (1 + 10/4) / 13 = 7/26."""
    prior = {"H1N1": Fraction(1, 4), "Flu": Fraction(1, 4), "Pneumonia": Fraction(1, 2)}
    assert beliefs_of_row(HOSPITAL[0], "H1N1", prior, Fraction(10), 0) == (Fraction(1, 2), Fraction(7, 26))
    # The doubts of it: 19/13. Pneumonia: 13/20, and 32/39. Flu: 13/10, and 14/13.
    worst = Fraction(13, 7)
    reached, violating = asked(
        connection, HOSPITAL[:1], "epsilon_privacy", prior, epsilon=Decimal("1.86"), stubbornness=Decimal(10)
    )
    assert (reached, violating) == (pytest.approx(float(worst), rel=1e-14), set())
    # Where nothing moves the adversary, the ratio is that of the shares: 1/2 over 1/4.
    reached, violating = asked(connection, HOSPITAL[:1], "epsilon_privacy", prior, epsilon=2, stubbornness="infinite")
    assert (reached, violating) == (2, set())


def test_a_value_that_was_impossible_is_beyond_every_epsilon(connection: Any) -> None:
    for prior in ({"a": Fraction(1)}, {"a": Fraction(1), "b": Fraction(0)}):
        for stubbornness in (Decimal(0), Decimal(10), "infinite"):
            reached, violating = asked(
                *(connection, (("a", "b", "b"), ("a",) * 3), "epsilon_privacy", prior),
                epsilon=1_000_000,
                stubbornness=stubbornness,
                ratios="belief",
            )
            assert reached == inf
            assert violating == {0}


@few
@given(
    classes=st.lists(st.lists(st.sampled_from(["a", "b", None]), min_size=1, max_size=5), min_size=1, max_size=3),
    parts=st.lists(st.integers(1, 5), min_size=3, max_size=3),
    stubbornness=st.sampled_from([Fraction(1, 4), Fraction(1), Fraction(5, 2), Fraction(10)]),
    known=st.integers(0, 3),
)
def test_epsilon_of_a_table_is_that_of_every_world(
    connection: Any, classes: list[list[Hashable]], parts: list[int], stubbornness: Fraction, known: int
) -> None:
    every = {*chain.from_iterable(classes)}
    some = {value: part for value, part in zip(("a", "b", None), parts, strict=True) if value in every}
    prior: dict[Hashable, Fraction] = {value: Fraction(part, sum(some.values())) for value, part in some.items()}
    ratios: list[Any] = []
    for values in classes:
        for value in values:
            inside, outside = beliefs_of_row(values, value, prior, stubbornness, known)
            ratios += [inside / outside, (1 - outside) / (1 - inside) if inside < 1 else inf]
    written = Decimal(stubbornness.numerator) / stubbornness.denominator
    reached, _ = asked(connection, classes, "epsilon_privacy", prior, epsilon=2, stubbornness=written, known=known)
    assert reached == pytest.approx(float(max(ratios)), rel=1e-12)
    release = replace(table(classes), ranges={value: (share, share) for value, share in prior.items()})
    assert epsilon_privacy_of_table.achieved(release, stubbornness, known, "both") == max(ratios)


@pytest.mark.parametrize(
    ("stubbornness", "known", "figures"),
    [
        (Fraction(1), 0, "1/2 9/32 16/9 23/16"),
        (Fraction(10), 0, "1/2 9/52 26/9 43/26"),
        (Fraction(100), 0, "1/2 27/206 103/27 179/103"),
        (Fraction(10), 1, "2/3 9/52 104/27 129/52"),
    ],
)
def test_a_woman_with_h1n1_in_every_world(stubbornness: Fraction, known: int, figures: str) -> None:
    prior = {value: Fraction(n, 16) for value, n in Counter(chain.from_iterable(HOSPITAL)).items()}
    inside, outside = beliefs_of_row(HOSPITAL[0], "H1N1", prior, stubbornness, known)
    ratios = (inside / outside, (1 - outside) / (1 - inside))
    assert " ".join(map(str, (inside, outside, *ratios))) == figures


def test_a_homogeneous_class_is_beyond_every_epsilon_unless_beliefs_alone_are_bounded(connection: Any) -> None:
    classes = (("flu", "flu", "flu"), ("flu", "cold", "gout", "cold", "gout", "cold"))
    for stubbornness in (Decimal(0), Decimal(10), "infinite"):
        reached, violating = asked(connection, classes, "epsilon_privacy", epsilon=1_000_000, stubbornness=stubbornness)
        assert reached == inf
        assert 0 in violating
    reached, violating = asked(
        connection,
        (*classes[:1], classes[1][:3]),
        "epsilon_privacy",
        epsilon=2,
        stubbornness="infinite",
        ratios="belief",
    )
    # 1 over its share, 4 of 6 rows.
    assert (reached, violating) == (pytest.approx(2), set())


@few
@given(
    classes=st.lists(st.lists(st.sampled_from(["a", "b", "c", None]), min_size=1, max_size=5), min_size=1, max_size=3),
    stubbornness=st.sampled_from([Fraction(1, 4), Fraction(1), Fraction(5, 2), Fraction(10)]),
    known=st.integers(0, 3),
)
def test_epsilon_is_that_of_every_world(
    connection: Any, classes: list[list[Hashable]], stubbornness: Fraction, known: int
) -> None:
    every = Counter(chain.from_iterable(classes))
    prior = {value: Fraction(n, every.total()) for value, n in every.items()}
    ratios: list[Any] = []
    for values in classes:
        for value in values:
            inside, outside = beliefs_of_row(values, value, prior, stubbornness, known)
            ratios += [inside / outside, (1 - outside) / (1 - inside) if inside < 1 else inf]
    written = Decimal(stubbornness.numerator) / stubbornness.denominator
    reached, _ = asked(connection, classes, "epsilon_privacy", epsilon=2, stubbornness=written, known=known)
    assert reached == pytest.approx(float(max(ratios)), rel=1e-12)
    release = table(classes)
    assert epsilon_privacy.achieved(release, stubbornness, known, "both") == max(ratios)


def test_the_edge_of_epsilon_is_told_by_whole_numbers(connection: Any) -> None:
    """104/15 has no end as a decimal number: one digit more or less at its twentieth place decides."""
    classes = (HOSPITAL[0], *HOSPITAL[1:])
    exact = epsilon_privacy.worst(table(classes), 0, Fraction(10), 1, "both")
    assert exact == Fraction(104, 15)
    floor = Decimal("6.93333333333333333333")
    for epsilon, violates in ((floor, True), (floor + Decimal("1e-20"), False)):
        _, violating = asked(connection, classes, "epsilon_privacy", epsilon=epsilon, stubbornness=Decimal(10), known=1)
        assert (0 in violating) is violates


# (c,k)-safety.

# De Capitani di Vimercati and others (2011), after Martin and others (2007).
MEN, WOMEN = ("flu", "flu", "lung", "lung", "mumps"), ("flu", "flu", "breast", "ovarian", "heart")


@pytest.mark.parametrize(
    ("classes", "figures"),
    [
        ((MEN, WOMEN), "2/5 2/3 1"),
        ((WOMEN,), "2/5 4/7 4/5 1"),
        (HOSPITAL, "1/2 3/4 1"),
        ((("a", "a"), ("a", "b")), "1"),
        ([tuple("abcd")] * 4, "1/4 1/3 1/2 1"),
        ([tuple(chain.from_iterable(HOSPITAL))], "1/4 5/16 7/18 91/190"),
        ([tuple("aabc")] * 4, "1/2 3/4 1"),
        ([("a",)], "1 1 1"),
        ([tuple("fflm")], "1/2 3/4 1"),
        ([tuple("ffl"), tuple("fb")], "2/3 1 1"),
        ([tuple("flm"), tuple("fb")], "1/2 1 1"),
        ([tuple("ab"), tuple("ab"), tuple("ac")], "1/2 1 1"),
    ],
)
def test_the_surest_value_by_the_number_of_implications(connection: Any, classes: Classes, figures: str) -> None:
    for k, figure in enumerate(map(Fraction, figures.split())):
        reached, violating = asked(connection, classes, "ck_safety", c=Decimal("0.75"), k=k)
        assert reached == pytest.approx(float(figure), rel=1e-14)
        assert bool(violating) is (figure >= Fraction(3, 4))
        assert ck_safety.achieved(table(classes), k) == figure


@few
@given(st.data())
def test_no_implications_tell_more(connection: Any, data: st.DataObject) -> None:
    pool = data.draw(st.sampled_from(["a", "ab", "abc"]))
    one = st.lists(st.sampled_from([*pool, None]), min_size=1, max_size=3)
    classes = data.draw(st.lists(one, min_size=1, max_size=2))
    k = data.draw(st.integers(0, 2))
    reached, _ = asked(connection, classes, "ck_safety", c=Decimal(1), k=k)
    assert reached == pytest.approx(float(surest(classes, k)), rel=1e-14)


def test_a_disclosure_of_c_violates_and_rounding_satisfies_nothing(connection: Any) -> None:
    """91/190 has no end as a decimal number; what is closer to it than DOUBLEs can tell counts as reached."""
    classes = [tuple(chain.from_iterable(HOSPITAL))]
    exact = Decimal(91) / 190
    for more, violates in ((-1, True), (0, True), (1, True), (10**4, False)):
        _, violating = asked(connection, classes, "ck_safety", c=exact + more * Decimal("1e-15"), k=3)
        assert bool(violating) is violates


def test_a_search_asks_every_node_by_itself() -> None:
    """Classes of several nodes are no release: the best node is that of asking each alone."""
    with sqlanon.connect() as con:
        con.execute(
            "CREATE TABLE people AS SELECT i % 8 AS age, 'z' || (i * 5 % 6) AS zip, 'd' || (i * i % 7 % 5) AS disease "
            "FROM range(120) AS t(i); CREATE HIERARCHY ages AS INTERVALS (2, 4);"
            "CREATE POLICY p ON people (age QUASI IDENTIFIER USING ages, zip QUASI IDENTIFIER, disease SENSITIVE) "
            "REQUIRE k_anonymity(k => 2), ck_safety(c => 0.5, k => 1); CREATE ANONYMIZED TABLE t AS POLICY p"
        )
        nodes = list(product(("age", "age // 2", "age // 4", "0"), ("zip", "'*'")))
        count = "SELECT count(DISTINCT ({}, {})) FROM people"
        classes = {node: con.execute(count.format(*node)).fetchall() for node in nodes}
        satisfying = [
            node
            for node in nodes
            if all(
                row[5]
                for row in con.execute(
                    f"CHECK (SELECT {node[0]} AS age, {node[1]} AS zip, disease FROM people) (age, zip) "
                    "SENSITIVE disease REQUIRE k_anonymity(k => 2), ck_safety(c => 0.5, k => 1)"
                ).fetchall()
            )
        ]
        made = con.execute("SELECT count(DISTINCT (age, zip)) FROM t").fetchall()
        assert 0 < len(satisfying) < len(nodes)
        assert made in [classes[node] for node in satisfying]
        assert all(row[4] for row in con.execute("CHECK t").fetchall())


# Privacy skyline.


@pytest.mark.parametrize(
    ("classes", "figures"),
    [
        ((MEN, WOMEN), "000 2/5, 100 2/3, 010 1/2, 001 4/7, 101 4/5, 011 3/4, 110 1, 111 1, 021 1, 012 1"),
        (HOSPITAL, "000 1/2, 100 2/3, 010 2/3, 001 3/4"),
    ],
)
def test_the_surest_value_by_values_others_and_family(connection: Any, classes: Classes, figures: str) -> None:
    for triple, figure in (part.split() for part in figures.split(", ")):
        known = dict(zip("lkm", map(int, triple), strict=True))
        reached, _ = asked(connection, classes, "privacy_skyline", c=Decimal("0.75"), **known)
        assert reached == pytest.approx(float(Fraction(figure)), rel=1e-14), triple
        assert privacy_skyline.achieved(table(classes), **known) == Fraction(figure)


@pytest.mark.parametrize(("triple", "figure"), [("001", "8/11"), ("002", "1"), ("101", "8/9")])
def test_a_family_in_a_third_class_tells_of_a_man(connection: Any, triple: str, figure: str) -> None:
    classes = (MEN, WOMEN, ("flu", "flu", "flu", "gout"))
    known, exact = dict(zip("lkm", map(int, triple), strict=True)), Fraction(figure)
    assert privacy_skyline.surest(table(classes), 0, **known) == exact
    floor = Decimal(exact.numerator) / exact.denominator
    for c, violates in ((floor, True), (floor - Decimal("1e-9"), True), (floor + Decimal("1e-9"), False)):
        if c <= 1:
            _, violating = asked(connection, classes, "privacy_skyline", c=c, **known)
            assert (0 in violating) is violates


@few
@given(st.data())
def test_nothing_below_a_triple_tells_more(connection: Any, data: st.DataObject) -> None:
    one = st.lists(st.sampled_from(["a", "b", None]), min_size=1, max_size=3)
    classes = data.draw(st.lists(one, min_size=1, max_size=2))
    known = {name: data.draw(st.integers(0, most)) for name, most in (("l", 1), ("k", 2), ("m", 2))}
    reached, _ = asked(connection, classes, "privacy_skyline", c=Decimal(1), **known)
    assert reached == pytest.approx(float(surest_of_skyline(classes, *known.values())), rel=1e-14)


# Privacy skyline of a table.

SKYLINE: Sequence[Triple] = ((None, 1, 0, 0), (None, 0, 1, 0), (None, 0, 0, 1))


@pytest.mark.parametrize(
    ("classes", "known", "figure"),
    [
        # De Capitani di Vimercati and others (2011): each of the three kinds of knowledge, one piece.
        (HOSPITAL, SKYLINE, "3/4"),
        (HOSPITAL, SKYLINE[:2], "2/3"),
        ((MEN, WOMEN), SKYLINE, "2/3"),
        ((MEN, WOMEN), (("flu", 1, 0, 1), ("lung", 0, 1, 0)), "4/5"),
        # Of mumps, which one man in five has, four values that he lacks leave no other.
        ((MEN, WOMEN), (("mumps", 4, 0, 0), (None, 0, 0, 0)), "1"),
        ((MEN, WOMEN), (("mumps", 1, 0, 0),), "1/3"),
    ],
)
def test_a_skyline_is_met_by_its_worst_triple(connection: Any, classes: Classes, known: Any, figure: str) -> None:
    exact = Fraction(figure)
    for c, violates in ((Decimal("0.999999"), exact == 1), (Decimal("0.3"), True)):
        reached, violating = asked(connection, classes, "privacy_skyline", skyline=known, c=c)
        assert reached == pytest.approx(float(exact), rel=1e-14)
        assert bool(violating) is violates
    assert privacy_skyline_of_table.achieved(replace(table(classes), known=known)) == exact


def test_a_value_that_nobody_is_asked_of_is_safe(connection: Any) -> None:
    assert asked(connection, (("a", "a"), ("b",)), "privacy_skyline", skyline=(("b", 0, 0, 0),), c=1) == (1, {1})
    assert asked(connection, (("a", "a"),), "privacy_skyline", skyline=((None, 0, 0, 0),), c=1) == (1, {0})
    nobody = replace(table((("a", "a"),)), known=(("b", 0, 0, 0),))
    assert (privacy_skyline_of_table.achieved(nobody), privacy_skyline_of_table.violating(nobody, Fraction(1))) == (
        0,
        set(),
    )


@few
@given(st.data())
def test_a_table_tells_no_more_than_every_world(connection: Any, data: st.DataObject) -> None:
    one = st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=3)
    classes = data.draw(st.lists(one, min_size=1, max_size=2))
    triple = st.tuples(*(st.integers(0, most) for most in (1, 1, 2)))
    values = sorted({*chain.from_iterable(classes)})
    of_values = data.draw(st.dictionaries(st.sampled_from(values), triple))
    known: list[Triple] = [(value, *numbers) for value, numbers in of_values.items()]
    if not known:
        known = [(None, *data.draw(triple))]
    worst = max(
        surest_of_skyline(classes, *numbers, values=values if value is None else [value]) for value, *numbers in known
    )
    reached, _ = asked(connection, classes, "privacy_skyline", skyline=known, c=1)
    assert reached == pytest.approx(float(worst), rel=1e-14)


KNOWLEDGE = """
CREATE TABLE wards AS SELECT sex, disease FROM (VALUES ('M', 'flu', 2), ('M', 'lung', 2), ('M', 'mumps', 1),
    ('F', 'flu', 2), ('F', 'breast', 1), ('F', 'ovarian', 1), ('F', 'heart', 1)) AS w(sex, disease, n), range(n);
CREATE TABLE known (value VARCHAR, l INTEGER, k INTEGER, m INTEGER);
INSERT INTO known VALUES ('flu', 1, 0, 0), ('flu', 0, 0, 1), ('measles', 9, 9, 8), (NULL, 0, 1, 0);
CREATE POLICY p ON wards (sex QUASI IDENTIFIER, disease SENSITIVE)
REQUIRE privacy_skyline(c => 0.75, knowledge => 'table', triples => known);
"""


@pytest.mark.parametrize("format_", ["csv", "parquet"])
def test_releases_keep_what_is_known_and_a_receiver_counts_again(tmp_path: Path, format_: str) -> None:
    with sqlanon.connect() as con:
        con.execute(KNOWLEDGE)
        con.execute("CREATE ANONYMIZED TABLE t AS POLICY p METHOD generalization")
        con.execute("CREATE ANONYMIZED VIEW v AS POLICY p METHOD generalization")
        con.execute("DROP POLICY p; DROP TABLE known")
        for release in ("t", "v"):
            ((_, name, _, *figures),) = con.execute(f"CHECK {release}").fetchall()
            assert (name, figures) == ("privacy_skyline_of_table", [0.75, pytest.approx(2 / 3, rel=1e-14), True])
        con.execute(f"EXPORT t TO '{tmp_path}/out/' (FORMAT {format_})")
        # All men have the flu now: the live view shows none of them, nor of the women, whose families they are.
        con.execute("UPDATE wards SET disease = 'flu' WHERE sex = 'M'")
        assert con.execute("SELECT count(*) FROM v").fetchall() == [(0,)]
    certificate = (tmp_path / "out" / "certificate.json").read_text()
    (entry,) = json.loads(certificate)["requirements"]
    assert entry["arguments"] == {"c": 0.75, "triples": "main.known", "knowledge": "table"}
    # The flu is the second of the released values in the order of their texts; nobody has the measles.
    known = [[triple[name] for name in ("value", "l", "k", "m")] for triple in entry["known"]]
    assert known == [[1, 0, 0, 1], [1, 1, 0, 0], [None, 0, 1, 0]]
    assert not [value for value in ("flu", "measles", "lung") if value in certificate]
    with sqlanon.connect() as con:
        (row,) = [row for row in con.execute(f"CHECK '{tmp_path}/out/'").fetchall() if "skyline" in row[1]]
        assert row[-1] == "recomputed from the files"
    # A certificate that tells of more values, or of other knowledge, is not that of the files.
    for told, said in (('"value": 1', '"value": 6'), ('"m": 1', '"m": 2')):
        assert told in certificate
        (tmp_path / "out" / "certificate.json").write_text(certificate.replace(told, said))
        with sqlanon.connect() as con, pytest.raises(sqlanon.PrivacyViolation):
            con.execute(f"CHECK '{tmp_path}/out/'")


# Respondents.

SOURCE = """
CREATE TABLE visits AS SELECT 'p' || (i // 2) AS person, i % 4 AS age, 'd' || (i % 3) AS disease FROM range(24) AS t(i);
"""


@pytest.mark.parametrize(
    "model",
    ["epsilon_privacy(epsilon => 9, stubbornness => 10)", "ck_safety(c => 1, k => 0)", "privacy_skyline(c => 1)"],
)
def test_a_person_with_two_rows_is_refused(model: str) -> None:
    with sqlanon.connect() as con:
        con.execute(SOURCE)
        policy = f"(person ENTITY, age QUASI IDENTIFIER, disease SENSITIVE) REQUIRE {model}"
        with pytest.raises(sqlanon.PolicyError, match="12 values of person are in several rows") as raised:
            con.execute(f"CREATE POLICY p ON visits {policy}; CREATE ANONYMIZED TABLE t AS POLICY p")
        assert 'DISTINCT ON ("person")' in (raised.value.hint or "")
        con.execute(f"CREATE POLICY q ON (SELECT DISTINCT ON (person) * FROM visits ORDER BY person, age) {policy}")
        con.execute("CREATE ANONYMIZED TABLE t AS POLICY q")
        assert con.execute("CHECK t").fetchall()[0][5] is True


# A prior from a table, in releases.

PRIOR = """
CREATE TABLE seen AS
SELECT i AS person, i % 2 AS age, ['flu', 'cold', 'gout'][1 + i % 3] AS disease FROM range(24) AS t(i);
CREATE TABLE region AS FROM (VALUES ('flu', 0.25), ('cold', 0.25), ('gout', 0.5)) AS w(value, weight);
CREATE POLICY p ON seen (age QUASI IDENTIFIER, disease SENSITIVE)
REQUIRE epsilon_privacy(epsilon => 2, stubbornness => 'infinite', prior => 'table', weights => region);
"""


@pytest.mark.long
def test_releases_keep_their_prior_and_hide_what_it_does_not_know(tmp_path: Path) -> None:
    with sqlanon.connect() as con:
        con.execute(PRIOR)
        con.execute("CREATE ANONYMIZED TABLE t AS POLICY p METHOD generalization")
        con.execute("CREATE ANONYMIZED VIEW v AS POLICY p METHOD generalization")
        con.execute("DROP POLICY p; DROP TABLE region")
        # A third of each class over a quarter.
        for release in ("t", "v"):
            ((*_, required, reached, satisfied),) = con.execute(f"CHECK {release}").fetchall()
            assert (required, reached, satisfied) == (2, pytest.approx(4 / 3, rel=1e-14), True)
        con.execute("INSERT INTO seen VALUES (24, 0, 'plague')")
        assert con.execute("SELECT age, count(*) FROM v GROUP BY age").fetchall() == [(1, 12)]
        con.execute(f"EXPORT t TO '{tmp_path}/out/'")
        certificate = json.loads((tmp_path / "out" / "certificate.json").read_text())
        (entry,) = certificate["requirements"]
        named = {"weights": "main.region", "prior": "table", "stubbornness": "infinite"}
        assert named.items() <= entry["arguments"].items()
        assert "stubbornness => 'infinite'" in entry["requirement"]
        assert entry["meaning"].endswith("to an adversary whose prior distribution is a table.")


def test_a_frontier_sweeps_epsilon_under_a_prior() -> None:
    with sqlanon.connect() as con:
        con.execute(PRIOR)
        con.execute("FRONTIER f ON POLICY p METHODS (generalization) SWEEP epsilon IN (1, 2) MEASURE granularity_loss")
        rows = con.execute("SELECT value FROM anon.candidate WHERE requirement <> '' ORDER BY number").fetchall()
        # Nothing satisfies 1: every third row has the flu, and every fourth was expected to.
        assert rows == [(None,), (0.0,)]


def test_an_object_names_the_weights() -> None:
    asked = sqlanon.EpsilonPrivacy(epsilon=2, stubbornness="infinite", prior="table", weights=("main", "a b"))
    assert asked.sql() == (
        "epsilon_privacy(epsilon => 2, stubbornness => 'infinite', weights => \"main\".\"a b\", prior => 'table')"
    )
