"""MEASURE of the population that a release is a sample of: published numbers, refusals and remarks."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

import sqlanon
from benchmarks.population import measured as benchmark
from sqlanon import Connection, PolicyError
from sqlanon.clients.session import StatementEvent
from sqlanon.errors import DataError

# Numbers of classes by their size.
FEW = {1: 40, 2: 15, 3: 8, 4: 4, 5: 3, 7: 1, 10: 1}
LONG = {1: 60, 2: 15, 3: 7, 4: 4, 5: 2, 8: 2, 15: 1, 40: 1}


def people(connection: Connection, name: str, classes: Mapping[int, int]) -> None:
    """A table with these classes by `street`, and a release of it that shows them."""
    rows = [(size * 1000 + number, size) for size, count in classes.items() for number in range(count)]
    connection.execute(
        f"CREATE OR REPLACE TABLE {name}_source (street INTEGER, ill VARCHAR, weight DOUBLE, hidden DOUBLE)"
    )
    for street, size in rows:
        connection.duckdb.execute(
            f"INSERT INTO {name}_source SELECT ?, ['flu', 'cold'][1 + range % 2], 2.5 + range, 1 FROM range(?)",
            [street, size],
        )
    connection.execute(
        f"CREATE POLICY {name}_policy ON {name}_source (street QUASI IDENTIFIER, ill SENSITIVE, weight INSENSITIVE, "
        "hidden IDENTIFIER) "
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
        ("individual_risk", "lacks its argument 'weights'"),
        ("individual_risk(weights => 3)", "must be the name of a column"),
        ("k_map_estimated(5)", "an argument lacks its name"),
        ("k_map_estimated(k => 5, sampling_fraction => 0)", "above 0 and at most 1"),
        ("k_map_estimated(k => 0, sampling_fraction => 0.1)", "outside 1 to 1000000"),
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


def test_individual_risk_of_a_release_with_weights(con: Connection) -> None:
    """Classes of 1, 2 and 3 rows with the weights 45.5, 100 and 108: the sum over rows is that of sdcMicro's values."""
    con.execute(
        "CREATE TABLE drawn AS SELECT * FROM (VALUES (1, 45.5), (2, 50), (2, 50), (3, 36), (3, 36), (3, 36)) t(a, w)"
    )
    con.execute("CREATE POLICY drawn ON drawn (a QUASI IDENTIFIER, w INSENSITIVE) REQUIRE k_anonymity(k => 1)")
    con.execute("CREATE ANONYMIZED TABLE drawn_release AS POLICY drawn METHOD generalization")
    events: list[StatementEvent] = []
    con.script('MEASURE drawn_release WITH FIGURES (individual_risk(weights => "W"))', events.append)
    figures = {figure: value for _, figure, _, value in events[1].result.fetchall()}
    expected = 0.085791 + 2 * 0.018779 + 3 * 0.013553
    assert figures["individual_risk"] == pytest.approx(0.085791, abs=1e-6)
    assert figures["expected_reidentifications"] == pytest.approx(expected, abs=1e-5)
    assert figures["individual_risk_mean"] == pytest.approx(expected / 6, abs=1e-6)
    assert figures["weighted_people"] == 253.5
    assert "no bound" in events[1].remarks[0]


def test_risk_of_households(con: Connection) -> None:
    """1 - product(1 - risk) over the members, of the risks that sdcMicro prints: 0.085791, 0.018779 and 0.013553."""
    con.execute(
        "CREATE TABLE homes AS SELECT * FROM (VALUES (1, 45.5, 'x'), (2, 50, 'x'), (2, 50, 'y'), (3, 36, 'y'), "
        "(3, 36, 'y'), (3, 36, 'z')) t(a, w, home)"
    )
    roles = "a QUASI IDENTIFIER, w INSENSITIVE SAMPLING WEIGHT, home INSENSITIVE"
    con.execute(f"CREATE POLICY homes ON homes ({roles}) REQUIRE k_anonymity(k => 1)")
    con.execute("CREATE ANONYMIZED TABLE homes_release AS POLICY homes METHOD generalization")
    figures = measured(con, 'MEASURE homes_release WITH FIGURES (individual_risk(household => "HOME"))')
    one, two, three = 0.085791, 0.018779, 0.013553
    risks = [1 - (1 - one) * (1 - two), 1 - (1 - two) * (1 - three) ** 2, three]
    assert figures["household_risk"] == pytest.approx(risks[0], abs=2e-6)
    assert figures["household_risk_mean"] == pytest.approx(sum(risks) / 3, abs=2e-6)
    assert figures["individual_risk"] == pytest.approx(one, abs=1e-6)
    with pytest.raises(PolicyError, match="no column hidden that names each household"):
        con.execute("MEASURE few WITH FIGURES (individual_risk(weights => weight, household => hidden))")
    with pytest.raises(PolicyError, match="no column nobody that names each household"):
        con.execute("MEASURE few WITH FIGURES (individual_risk(weights => weight, household => nobody))")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("wrong", ["NULL", "0.99", "-3", "'nan'", "'inf'", "0"])
def test_weights_that_are_none_are_counted_and_not_shown(con: Connection, wrong: str) -> None:
    weight = f"CASE WHEN i < 2 THEN CAST({wrong} AS DOUBLE) ELSE 7.25 END"
    con.execute(f"CREATE OR REPLACE TABLE odd AS SELECT i // 4 AS a, {weight} AS w FROM range(12) AS r(i)")
    con.execute("CREATE OR REPLACE POLICY odd ON odd (a QUASI IDENTIFIER, w INSENSITIVE) REQUIRE k_anonymity(k => 1)")
    con.execute("CREATE OR REPLACE ANONYMIZED TABLE odd_release AS POLICY odd METHOD generalization")
    with pytest.raises(DataError, match="2 weights in w are NULL, below 1 or not finite") as error:
        con.execute("MEASURE odd_release WITH FIGURES (individual_risk(weights => w))")
    assert "7.25" not in str(error.value)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ("nobody", "publishes no column nobody"),
        ("hidden", "publishes no column hidden"),
        ("street", "tells classes apart"),
        ("ill", "is VARCHAR, and weights are numbers"),
    ],
)
def test_columns_that_are_no_published_weights_are_refused(con: Connection, column: str, words: str) -> None:
    with pytest.raises(PolicyError, match=words):
        con.execute(f"MEASURE few WITH FIGURES (individual_risk(weights => {column}))")


def test_estimated_k_map_counts_the_rows_of_small_classes(con: Connection) -> None:
    """At k = 5 and a tenth, classes of fewer than 3 rows are too small: 40 + 2 * 15 of 142 rows."""
    figures = measured(con, "MEASURE few WITH FIGURES (k_map_estimated(k => 5, sampling_fraction => 0.1))")
    assert figures == {
        "k_map_estimated": pytest.approx(70 / 142),
        "k_map_class_size": 3,
        "k_map_class_size_poisson": 3,
    }


def test_a_release_of_no_rows_has_no_risk(con: Connection) -> None:
    people(con, "none", {})
    calls = "individual_risk(weight), k_map_estimated(k => 5, sampling_fraction => 0.1)"
    figures = measured(con, f"MEASURE none WITH FIGURES ({calls})")
    assert (figures["individual_risk"], figures["weighted_people"], figures["k_map_estimated"]) == (None, 0, None)


def test_the_benchmark_knows_the_truth() -> None:
    """Nobody is unique among people in pairs, and half of the unique matches are right; of all people every one is."""
    with sqlanon.connect(config={"threads": "1"}) as connection:
        connection.execute("CREATE TABLE pairs AS SELECT i // 2 AS a, 'x' AS b FROM range(200) AS r(i)")
        sample = benchmark(connection, "pairs", ("a", "b"), "0.5", 1)
        whole = benchmark(connection, "pairs", ("a", "b"), "1", 1)
    unique = sample["unique_rows"]
    assert unique
    assert (sample["true_uniques"], sample["true_theta"], sample["true_risk"]) == (0, 0.5, unique / 2)
    assert (whole["unique_rows"], whole["population_uniques"], whole["true_theta"]) == (0, 0, None)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("k", [1, 2])
def test_a_frontier_compares_candidates_by_estimates(con: Connection, k: int) -> None:
    """Candidates with classes of two rows have no unique people, and those in buckets say why they have no figure."""
    rows = con.execute(
        f"FRONTIER risk_{k} ON POLICY mixed_policy METHODS (mondrian, anatomy(l => 2)) SWEEP k IN ({k}) "
        "MEASURE population_uniques(sampling_fraction => 0.1), individual_risk(weights => weight)"
    ).fetchall()
    by_method = {row[1]: row for row in rows}
    assert by_method["mondrian"][3] == 0
    assert by_method["anatomy(l => 2)"][3] is None
    assert "told apart by the columns beside it" in by_method["anatomy(l => 2)"][-1]
