"""MEASURE of the population that a release is a sample of: published numbers, refusals and remarks."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

import sqlanon
from sqlanon import Connection, PolicyError
from sqlanon.clients.session import StatementEvent

# Numbers of classes by their size.
FEW = {1: 40, 2: 15, 3: 8, 4: 4, 5: 3, 7: 1, 10: 1}
LONG = {1: 60, 2: 15, 3: 7, 4: 4, 5: 2, 8: 2, 15: 1, 40: 1}


def people(connection: Connection, name: str, classes: Mapping[int, int]) -> None:
    """A table with these classes by `street`, and a release of it that shows them."""
    rows = [(size * 1000 + number, size) for size, count in classes.items() for number in range(count)]
    connection.execute(f"CREATE OR REPLACE TABLE {name}_source (street INTEGER, ill VARCHAR, weight DOUBLE)")
    for street, size in rows:
        connection.duckdb.execute(
            f"INSERT INTO {name}_source SELECT ?, ['flu', 'cold'][1 + range % 2], 2.5 + range FROM range(?)",
            [street, size],
        )
    connection.execute(
        f"CREATE POLICY {name}_policy ON {name}_source (street QUASI IDENTIFIER, ill SENSITIVE, weight INSENSITIVE) "
        "REQUIRE k_anonymity(k => 1)"
    )
    connection.execute(f"CREATE ANONYMIZED TABLE {name} AS POLICY {name}_policy METHOD generalization")


@pytest.fixture(scope="module")
def con() -> Connection:
    connection = sqlanon.connect(config={"threads": "1"})
    for name, classes in (("few", FEW), ("long", LONG)):
        people(connection, name, classes)
    people(connection, "mixed", {2: 4, 4: 3})
    return connection


def measured(con: Connection, statement: str) -> dict[str, float | None]:
    return {figure: value for _, figure, _, value in con.execute(statement).fetchall()}


# Computed by a second implementation of the definitions: Zayatz, Pitman, SNB, theta, and the rule's model.
@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("release", "fraction", "zayatz", "pitman", "snb", "theta", "rule"),
    [
        ("few", "0.01", 1151.886560, None, 889.305279, 4 / 301, "zayatz"),
        ("few", "0.1", 138.342591, None, 76.751234, 4 / 31, "zayatz"),
        ("few", "0.2", 82.475454, None, 51.982121, 1 / 4, "snb"),
        ("few", "0.5", 49.899831, None, 45.769077, 4 / 7, "snb"),
        ("long", "0.01", 1890.282132, 855.163923, 1155.186870, 2 / 101, "pitman"),
        ("long", "0.1", 268.576499, 232.814600, 213.837243, 2 / 11, "pitman"),
        ("long", "0.2", 158.141198, 157.368018, 133.640071, 1 / 3, "snb"),
        ("long", "0.5", 86.702848, 93.770188, 84.460422, 2 / 3, "snb"),
    ],
)
def test_estimates_of_two_samples(
    con: Connection,
    release: str,
    fraction: str,
    zayatz: float,
    pitman: float | None,
    snb: float,
    theta: float,
    rule: str,
) -> None:
    figures = measured(con, f"MEASURE {release} WITH FIGURES (population_uniques(sampling_fraction => {fraction}))")
    assert list(figures)[:3] == ["unique_rows", "classes_of_two", "population_uniqueness"]
    assert figures["population_uniqueness"] == pytest.approx(theta, rel=1e-9)
    assert figures["population_uniques_zayatz"] == pytest.approx(zayatz, abs=1e-6)
    assert figures["population_uniques_snb"] == pytest.approx(snb, abs=1e-6)
    assert figures["population_uniques_pitman"] == (None if pitman is None else pytest.approx(pitman, abs=1e-6))
    assert figures["population_uniques"] == figures[f"population_uniques_{rule}"]


@pytest.mark.parametrize(
    ("release", "fraction", "words"),
    [
        ("few", "0.05", ("of Zayatz; Pitman's model has none", "order of magnitude")),
        ("long", "0.05", ("of Pitman. The model", "order of magnitude")),
        ("long", "0.5", ("of SNB. The model may not fit the population",)),
    ],
)
def test_a_remark_names_the_model(con: Connection, release: str, fraction: str, words: tuple[str, ...]) -> None:
    events: list[StatementEvent] = []
    con.script(f"MEASURE {release} WITH FIGURES (population_uniques({fraction}))", events.append)
    (remark,) = events[1].remarks
    assert all(word in remark for word in words), remark


@pytest.mark.one_in(4)
@pytest.mark.parametrize("classes", [{2: 3, 4: 1}, {1: 5}, {6: 1}, {}])
def test_samples_without_a_model(con: Connection, classes: Mapping[int, int]) -> None:
    """No unique row, nothing but unique rows, one class, no row."""
    people(con, "small", classes)
    figures = measured(con, "MEASURE small WITH FIGURES (population_uniques(0.1))")
    expected = 10 * classes.get(1, 0) if classes else None
    assert figures["population_uniques"] == (None if expected is None else pytest.approx(expected))
    assert (figures["population_uniques_pitman"], figures["population_uniques_snb"]) == (None, None)
    con.execute("DROP ANONYMIZED TABLE small; DROP POLICY small_policy")


def test_the_whole_population_has_the_unique_rows(con: Connection) -> None:
    figures = measured(con, "MEASURE few WITH FIGURES (population_uniques(1))")
    assert figures["population_uniques"] == figures["unique_rows"] == 40


def test_figures_that_need_an_argument_are_not_among_all(con: Connection) -> None:
    rows = con.execute("MEASURE few").fetchall()
    assert not any("population_unique" in str(row) for row in rows)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("population_uniques", "lacks its argument 'sampling_fraction'"),
        ("population_uniques(0)", "above 0 and at most 1"),
        ("population_uniques(1.01)", "outside 0 to 1"),
        ("population_uniques(-0.5)", "outside 0 to 1"),
        ("population_uniques(fraction => 0.1)", "has no argument 'fraction'"),
    ],
)
def test_arguments_out_of_bounds_are_refused(con: Connection, call: str, words: str) -> None:
    with pytest.raises(PolicyError, match=words) as error:
        con.execute(f"MEASURE few WITH FIGURES ({call})")
    assert error.value.hint


@pytest.mark.one_in(2)
@pytest.mark.parametrize("method", ["anatomy(l => 2)", "slicing(l => 2) COLUMNS EACH", "mondrian(publish => 'none')"])
def test_buckets_are_no_classes_of_people_who_look_alike(con: Connection, method: str) -> None:
    con.execute(f"CREATE OR REPLACE ANONYMIZED TABLE apart AS POLICY mixed_policy METHOD {method}")
    with pytest.raises(PolicyError, match="told apart by the columns beside it") as error:
        con.execute("MEASURE apart WITH FIGURES (population_uniques(0.1))")
    assert error.value.hint


def test_rows_of_respondents_are_no_people(con: Connection) -> None:
    con.execute("CREATE POLICY persons ON few_source (weight ENTITY, street QUASI IDENTIFIER) REQUIRE k_anonymity(1)")
    con.execute("CREATE ANONYMIZED TABLE persons AS POLICY persons METHOD generalization")
    with pytest.raises(PolicyError, match=r"population_uniques of .* rows of one weight count as one"):
        con.execute("MEASURE persons WITH FIGURES (population_uniques(0.1))")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("made", ["TABLE", "VIEW"])
@pytest.mark.parametrize("method", ["generalization", "generalization(recoding => 'local')", "mondrian"])
def test_methods_with_classes(con: Connection, method: str, made: str) -> None:
    con.execute(f"CREATE ANONYMIZED {made} other AS POLICY few_policy METHOD {method}")
    figures = measured(con, "MEASURE other WITH FIGURES (population_uniques(0.2), class_sizes)")
    con.execute(f"DROP ANONYMIZED {made} other")
    assert (figures["least_class_size"], figures["population_uniques"]) == (1, pytest.approx(51.982121, abs=1e-6))
