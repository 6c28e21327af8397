"""What a report says in sentences: its verdict, attacks, and candidates that lack figures."""

from __future__ import annotations

import re

import pytest

import sqlanon
from sqlanon.export.report import charts
from tests.support.reports import page_of, people


@pytest.fixture(autouse=True)
def _without_scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(charts, "_scripts", lambda: ("0;",))


@pytest.mark.one_in(5)
@pytest.mark.parametrize(
    ("requirements", "unrequired"),
    [
        ("k_anonymity(k => 2)", "columns ill, pay."),
        ("k_anonymity(k => 2), l_diversity(l => 2, attribute => ILL)", "column pay."),
        ("k_anonymity(k => 2), l_diversity(l => 2, attribute => pay), t_closeness(t => 1, attribute => ill)", None),
        ("l_diversity(l => 2)", None),
        ("l_diversity(l => 2, jointly => true)", None),
    ],
)
def test_sensitive_columns_that_nothing_is_required_of_are_said_first(
    requirements: str, unrequired: str | None
) -> None:
    con = sqlanon.connect(config={"threads": "1"})
    con.execute("CREATE TABLE people AS SELECT i % 3 AS age, i % 5 AS ill, i % 4 AS pay FROM range(60) AS t(i)")
    con.execute(
        f"CREATE POLICY p ON people (age QUASI IDENTIFIER, ill SENSITIVE, pay SENSITIVE) REQUIRE {requirements}"
    )
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
    text = " ".join(page_of(con, "r").text.split())
    box = text[: text.index("r is a snapshot")]
    if unrequired is None:
        assert "Each requirement is met." in box
        assert "Warning" not in box
    else:
        assert "Each requirement is met" not in box
        assert f"Warning: nothing is required of the sensitive {unrequired}" in box


@pytest.mark.one_in(9)
@pytest.mark.parametrize("healthy", [18, 19, 20])
def test_a_guess_that_is_nearly_certain_is_said_first(healthy: int) -> None:
    """Of 20 people of 30 years 18 or more are alive, of 40 years half. What is required is met; 18 of 20 are 90 %."""
    con = sqlanon.connect(config={"threads": "1"})
    con.execute(
        f"CREATE TABLE people AS SELECT 30 + 10 * (i // 20) AS age, if(i < {healthy} OR i % 2 = 0, 'alive', 'dead') "
        "AS ill, 'p' || i AS note FROM range(40) AS t(i)"
    )
    con.execute(
        "CREATE POLICY p ON people (age QUASI IDENTIFIER, ill SENSITIVE) REQUIRE k_anonymity(k => 2), "
        "t_closeness(t => 0.9, distance => 'equal')"
    )
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
    page = page_of(con, "r")
    text = " ".join(page.text.split())
    box = text[: text.index("r is a snapshot")]
    dead = con.duckdb.execute("SELECT count(*) FROM r WHERE ill = 'dead' AND age = 30").fetchall()[0][0]
    share = 1 - dead / 20
    guess = f"guesses ill with a chance of up to {100 * share:.3g} %, in the class age 30 (20 rows)."
    assert (guess in box) is (share > 0.9)
    # A box that warns does not begin with the sentence that reassures.
    assert ("Each requirement is met." in box) is (share <= 0.9)
    assert ("What is required is met, but a secret is nearly certain." in box) is (share > 0.9)
    assert ("Warning" in box) is (share > 0.9)
    # Of alive and dead one is left where the other is ruled out, in each class of each release.
    begin = text.index("background of ill")
    assert text[begin:].startswith("background of ill: not defined: only one value of the column remains")
    assert "How often it succeeds is not defined: only one value of the column remains" in text[begin:]
    assert [row[2:5] for row in page.table("Results of attacks") if row[0] == "background"] == [[40, None, None]]


@pytest.mark.long
def test_candidates_that_were_made_are_told_from_those_that_could_not_be() -> None:
    con = people("mondrian")
    queries = (
        "SELECT count(*) AS n FROM people WHERE age = 70003",
        "SELECT sum(age) AS n FROM people WHERE ill = 'flu'",
    )
    con.executemany("INSERT INTO anon.workload VALUES ('w', ?, ?)", [[n, query] for n, query in enumerate(queries)])
    methods = "mondrian, mondrian(publish => 'centroid')"
    con.execute(f"FRONTIER f ON POLICY p METHODS ({methods}) SWEEP l IN (2, 30) MEASURE p_loss, gain, WORKLOAD w")
    con.execute("FRONTIER g ON POLICY p METHODS (mondrian(publish => 'centroid')) MEASURE p_loss, WORKLOAD w")
    page = page_of(con, "r")
    rows = {row[0]: row[3:] for row in page.table("Values: Candidates of the frontier f")}
    # No sum of ages is known of a centre: the other figures are there, in the plot as well.
    assert rows["5: mondrian(publish => 'centroid')"] == [*rows["3: mondrian"][:2], None]
    assert not any(name.startswith(("4", "6")) for name in rows)
    text = " ".join(page.text.split())
    assert "Of 7 candidates 3 lack figures, and the plot does not have 2 of them:" in text
    undefined = "mondrian(publish => 'centroid') was made, but the error of the workload w is not defined of it: it"
    assert f"5: {undefined}" in text
    assert re.search(r"4: mondrian; 6: mondrian\(publish => 'centroid'\) could not be made: \S", text)
    assert "Of 4 candidates 1 lacks figures, and the plot does not have it:" in text
    assert "could not be made: workload" not in text
    drawn = [len(c["data"]["values"]) for c in page.charts if "kind" in c["data"]["values"][0]]
    # All but the two that could not be made and this release, and all but one of the others.
    assert drawn == [6, 3]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("method", ["generalization", "anatomy(l => 2)"])
def test_attacks_have_their_thresholds_and_the_worst_classes_their_numbers(method: str) -> None:
    con = people(method)
    text = " ".join(page_of(con, "r").text.split())
    once = "confidence => 1 (the least share of a class at which its rows count as named)"
    assert f"Tried with {once}." in text
    known = "values => 1 (the number of values that the target is known to lack)"
    assert f"Tried with {known} and confidence => 1 (the least confidence" in text
    assert "Tried with ratio => 4 (the least ratio of a value's share in a class to its share among all rows)." in text
    for attack, word in [("homogeneity", "chance"), ("background", "chance"), ("skewness", "ratio")]:
        [(_, _, targets, _, highest, mean, _, worst)] = con.execute(f"ATTACK r WITH {attack}").fetchall()
        begin = text.index(f"Where it is worst: {attack} of ill")
        listed = text[begin : text.find("Where it is worst", begin + 1)]
        found = re.findall(rf": (\d+) targets, a {word} of ([\d.]+)( %)?", listed)
        scale = 100 if word == "chance" else 1
        assert all(bool(sign) == (word == "chance") for *_, sign in found)
        # These are few classes, so that all are there.
        assert len(found) == len(worst.split("; "))
        assert sum(int(n) for n, *_ in found) == targets
        assert float(found[0][1]) == pytest.approx(scale * highest, rel=0.01)
        assert sum(int(n) * float(sure) for n, sure, _ in found) / targets == pytest.approx(scale * mean, rel=0.01)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("requirements", "method"),
    [
        ("REQUIRE k_anonymity(k => 2)", "anatomy(l => 2)"),
        ("CONFIDENTIAL (age, ill)", "fragments FRAGMENTS (age), (ill)"),
    ],
)
def test_what_a_method_promises_and_constraints_are_about_sensitive_columns(requirements: str, method: str) -> None:
    con = sqlanon.connect(config={"threads": "1"})
    con.execute("CREATE TABLE people AS SELECT i % 3 AS age, i % 5 AS ill FROM range(60) AS t(i)")
    con.execute(f"CREATE POLICY p ON people (age QUASI IDENTIFIER, ill SENSITIVE) {requirements}")
    con.execute(f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD {method}")
    assert "nothing is required of the sensitive" not in page_of(con, "r").text


def test_buckets_hide_secrets_and_not_rows() -> None:
    """With quasi-identifiers as they are a reader finds the row, so nothing says that rows look alike."""
    visible = " ".join(page_of(people("anatomy(l => 2)"), "r").visible.split())
    assert re.search(r"Smallest bucket \d+ rows share their sensitive values", visible)
    assert "A reader who knows somebody's quasi-identifiers finds their row" in visible
    assert "look alike" not in visible
    assert "picks the right row" not in visible
    assert "cannot tell apart" not in visible


def test_counts_with_noise_have_figures_of_their_own_and_no_section_about_classes() -> None:
    con = sqlanon.connect(config={"threads": "1"})
    con.execute("""
        CREATE TABLE people AS SELECT i % 2 = 0 AS ill, i % 3 = 0 AS old FROM range(40) AS t(i);
        CREATE POLICY p ON people (old QUASI IDENTIFIER, ill SENSITIVE) REQUIRE k_anonymity(k => 2);
        CREATE BUDGET year ON POLICY p (epsilon => 4, delta => 1e-9);
        CREATE ANONYMIZED TABLE r AS POLICY p METHOD dp_histogram(by => (ill), epsilon => 1) UNDER BUDGET year;
    """)
    page = page_of(con, "r")
    visible = " ".join(page.visible.split())
    assert "Epsilon 1 differential_privacy of each row" in visible
    assert "Budget left 3 of an epsilon of 4, in year" in visible
    assert visible.count("represent no people and are in no classes") == 1
    assert "not defined" not in visible
    anchors = {attributes["href"] for tag, attributes in page.elements if tag == "a"}
    sections = {f"#{attributes['id']}" for tag, attributes in page.elements if tag == "h2"}
    assert anchors == sections - {"#decision"}
    assert "#classes" in anchors
    assert "#risks" not in anchors


def test_a_column_whose_loss_is_not_known_does_not_look_as_if_it_were_kept() -> None:
    con = sqlanon.connect(config={"threads": "1"})
    con.execute("""
        CREATE TABLE people AS
            SELECT 1000 + 17 * i AS home_address_of_the_person_zip, i % 3 AS ill FROM range(40) AS t(i);
        CREATE HIERARCHY zips AS PREFIXES (3, 2, 1);
        CREATE POLICY p ON people (home_address_of_the_person_zip QUASI IDENTIFIER USING zips, ill SENSITIVE)
        REQUIRE k_anonymity(k => 4);
        CREATE ANONYMIZED TABLE r AS POLICY p METHOD mondrian;
    """)
    page = page_of(con, "r")
    [(name, words, loss), (_, as_it_is, _)] = page.table("Values: What became of each column")
    assert (name, words, loss, as_it_is) == ("home_address_of_the_person_zip", "ranges", None, "as it is")
    lines = [row["lines"] for row in page.charts[0]["data"]["values"]]
    assert lines == ["home_address_of_the_\nperson_zip: ranges, loss \nnot known", "ill: as it is"]


@pytest.mark.parametrize(
    ("k", "words"),
    [
        (
            1,
            "rows are alone by up to 3 columns, all needed, with it among them: zip (3 rows, 75 % of the SUDA scores), "
            "<sex> (1 row, 25 % of the SUDA scores).",
        ),
        (2, "No row is alone by up to 3 columns."),
    ],
)
def test_columns_that_make_rows_special_are_named_and_no_row_is(k: int, words: str) -> None:
    """Three of five rows are alone by their zip, and one of these by its sex; the other two are alike."""
    con = sqlanon.connect(config={"threads": "1"})
    con.execute(
        """CREATE TABLE people AS FROM (VALUES (1, 'm', 0), (2, 'm', 0), (3, 'f', 0), (4, 'm', 0), (4, 'm', 0)) AS """
        """t (zip, "<sex>", region); """
        """CREATE POLICY p ON people (zip QUASI IDENTIFIER, "<sex>" QUASI IDENTIFIER, region QUASI IDENTIFIER) """
        f"REQUIRE k_anonymity(k => {k}); CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization(suppression => 1)"
    )
    assert words in " ".join(page_of(con, "r").text.split())


def test_masks_shifted_dates_and_tokens_are_told_apart() -> None:
    con = sqlanon.connect(config={"threads": "1"})
    con.execute("""
        CREATE TABLE people AS
        SELECT i AS person, 'card ' || i AS card, 'p' || i AS mail, i % 2 AS age, DATE '2026-01-01' + i::INTEGER AS day
        FROM range(20) AS t(i);
        CREATE POLICY p ON people (
            person ENTITY PSEUDONYM, card IDENTIFIER MASK partial(last => 1), mail IDENTIFIER PSEUDONYM,
            age QUASI IDENTIFIER, day INSENSITIVE SHIFT (DAYS => 30)
        ) REQUIRE k_anonymity(k => 2);
        CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization
    """)
    text = "".join(page_of(con, "r").text.split())
    for name, words, one in (
        ("card", "masks", "mask"),
        ("mail", "tokens", "token"),
        ("day", "shifteddates", "shifteddate"),
    ):
        assert f"{name}{words}notdefined" in text
        assert f"asa{one}none" in text
