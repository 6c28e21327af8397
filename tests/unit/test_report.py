"""The report of a release: its figures are those of CHECK, MEASURE and ATTACK, and nothing that it quotes is markup."""

from __future__ import annotations

import re
import sys
from collections import Counter
from math import log
from pathlib import Path

import pytest
from typer.testing import CliRunner

import sqlanon
from sqlanon import UserError
from sqlanon.clients.terminal.cli import app
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.export.report import charts
from sqlanon.export.report.charts import lines_of, unique
from sqlanon.export.report.markup import percent
from sqlanon.export.report.page import report_page
from sqlanon.export.report.plotted import size_groups
from sqlanon.export.report.risks import MEANINGS, meanings_of
from sqlanon.sql.questions.statistics import load_statistic, statistic_names
from tests.support.html_page import Page
from tests.support.reports import HOSTILE, METHODS, QUOTED, page_of, people

ROOT = Path(__file__).resolve().parents[2]
ATTACKS = ("homogeneity", "background", "skewness")
# What the page is made of; anything else would come from a name.
ELEMENTS = set(
    "html head meta link title style body main h1 h2 h3 p strong nav ul ol li a section div table caption thead tbody "
    "tr th td data dl dt dd figure figcaption script small wbr details summary span br".split()
)


@pytest.fixture
def _without_scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scripts are a megabyte and take seconds; what they draw is another test's."""
    monkeypatch.setattr(charts, "_scripts", lambda: ("0;",))


@pytest.mark.usefixtures("_without_scripts")
@pytest.mark.long
@pytest.mark.parametrize("method", METHODS)
def test_its_figures_are_those_of_the_statements(method: str) -> None:
    con = people(method)
    page = page_of(con, "r")
    # Three in words come before all others.
    measured = [row[1:4] for row in con.execute("MEASURE r").fetchall()][3:]
    assert [tuple(row) for row in page.table("Figures")] == measured
    # Each has one meaning.
    assert page.terms == list(dict.fromkeys(name for name, *_ in measured))
    checked = [row[1:] for row in con.execute("CHECK r").fetchall() if not row[1].startswith("assumes_")]
    assert [tuple(row) for row in page.table("Computed again")] == checked
    attacked = [row for attack in ATTACKS for row in con.execute(f"ATTACK r WITH {attack}").fetchall()]
    assert [tuple(row) for row in page.table("Results of attacks")] == [row[:-1] for row in attacked]
    assert "; ".join(page.items) == "; ".join(worst for *_, worst in attacked if worst)
    values = {(name, attribute): value for name, attribute, value in measured}
    sizes = page.table("Values: Number of classes")
    classes, rows = sum(count for _, count, _ in sizes), sum(rows for *_, rows in sizes)
    # Of buckets, whose rows do not look alike, MEASURE counts no classes.
    if any(word in method for word in ("'none'", "anatomy", "slicing", "trivial")):
        assert not {("classes", None), ("row_count", None)} & values.keys()
    else:
        assert (values["classes", None], values["row_count", None]) == (classes, rows)
    assert values["average_class_size", None] == pytest.approx(rows / classes)
    assert float(sizes[0][0]) == values["least_class_size", None]
    assert float(sizes[-1][0]) == values["greatest_class_size", None]
    divergences = [
        float(number) for number in re.findall(r"divergence from all rows, in nats: ([\d.e-]+), ", page.text)
    ]
    assert divergences[0] == pytest.approx(values["p_loss", "ill"], rel=1e-5)
    assert divergences == sorted(divergences, reverse=True)


# Figures that MEASURE has where they are named, or of releases with noise, or of means.
BY_NAME = (
    *("suppressed_cells", "least_own", "least_agrees", "least_matches"),
    *("epsilon", "marginals", "marginals_worst", "sse", "expected_reidentifications", "weighted_people"),
    *(
        "household_risk",
        "household_risk_mean",
        "individual_risk",
        "individual_risk_mean",
        "k_map_class_size",
        "k_map_class_size_poisson",
        "k_map_estimated",
    ),
    *("population_uniques", "population_uniques_pitman", "population_uniques_snb", "population_uniques_zayatz"),
)


def test_each_figure_has_a_meaning_and_none_has_two() -> None:
    """Also those of classes that no method of these tests has; what a plug-in brings goes by the title of its file."""
    con = sqlanon.connect(config={"threads": "1"})
    con.execute("""
        CREATE TABLE people AS SELECT i % 4 AS age, i % 2 AS ill FROM range(16) AS t(i);
        CREATE POLICY p ON people (age QUASI IDENTIFIER, ill SENSITIVE) CONFIDENTIAL (age, ill);
        CREATE ANONYMIZED TABLE r AS POLICY p METHOD fragments FRAGMENTS (age), (ill)""")
    computed = [row[1] for row in con.execute("MEASURE r").fetchall()][3:]
    assert {"granularity_loss", "u_loss", "populations", "fake", "matching_buckets_fake_above_20"} <= {*computed}
    files = [load_statistic("figures", name) for name in statistic_names("figures")]
    measured = [file for file in files if all(parameter.default is not None for parameter in file.parameters)]
    of_classes = [name for file in measured for name in file.columns]
    names = [*of_classes, *computed, "precision", "non_uniform_entropy", *BY_NAME]
    shown = [name for name in names if not name.startswith("journalist_risk")]
    assert {*shown} == {*MEANINGS}
    assert len({*MEANINGS.values()}) == len(MEANINGS)
    assert [several for several, _ in meanings_of(names)] == [
        *((name,) if name in MEANINGS else ("journalist_risk", "journalist_risk_mean")
          for name in dict.fromkeys(names) if name != "journalist_risk_mean"),
    ]  # fmt: skip


@pytest.mark.usefixtures("_without_scripts")
def test_the_worst_classes_are_counted_as_they_are() -> None:
    """The divergence from its definition, and the shares of each value, on the published rows."""
    con = people("generalization")
    rows = con.duckdb.execute("SELECT 'age ' || age || ', ward ' || ward, ill FROM r").fetchall()
    of_all = Counter(ill for _, ill in rows)
    classes = {name: Counter(ill for other, ill in rows if other == name) for name, _ in rows}

    def divergence(counts: Counter[str | None]) -> float:
        total = 0.0
        for value, n in of_all.items():
            q, p = n / len(rows), counts[value] / counts.total()
            total += sum(x * log(2 * x / (p + q)) / 2 for x in (p, q) if x)
        return total

    page = page_of(con, "r")
    tables = {caption: body for caption, body in page.tables.items() if caption.startswith("Values: ill in")}
    names = [caption.removeprefix("Values: ill in the class ") for caption in tables]
    worst = sorted((divergence(counts) for counts in classes.values()), reverse=True)[:3]
    assert [divergence(classes[name]) for name in names] == pytest.approx(worst)
    for name, body in zip(names, tables.values(), strict=True):
        counts = classes[name]
        listed = {None if label.startswith("NULL") else label: other for label, *other in body}
        assert set(listed) == set(of_all)
        for value, (n, share, share_of_all) in listed.items():
            assert (n, share) == (counts[value], counts[value] / counts.total())
            assert share_of_all == of_all[value] / len(rows)


@pytest.mark.long
@pytest.mark.usefixtures("_without_scripts")
def test_what_a_privacy_officer_reads_is_in_per_cents() -> None:
    con = people("generalization")
    page = page_of(con, "r")
    text = " ".join(page.text.split())
    figures = {name: value for _, name, _, value, _ in con.execute("MEASURE r").fetchall()}
    assert f"with a chance of {100 * figures['prosecutor_risk']:.3g} %." in text
    assert f"picks the right one for {100 * figures['marketer_risk']:.3g} % of them." in text
    assert f"as far from those of all rows as {100 * figures['p_loss'] / log(2):.3g} % of the greatest" in text
    _, _, targets, succeeded, highest, mean, *_ = con.execute("ATTACK r WITH homogeneity").fetchone() or ()
    assert (
        f"The surest guess has a chance of {100 * highest:.3g} %, the mean one of {100 * mean:.3g} %. It succeeds for "
        f"{succeeded} of {targets} targets, {100 * succeeded / targets:.3g} %."
    ) in text
    # A ratio of shares is none.
    _, _, _, _, highest, mean, *_ = con.execute("ATTACK r WITH skewness").fetchone() or ()
    assert f"The greatest ratio of shares is {highest:.6g}, the mean {mean:.6g}." in text
    read = re.findall(r"Of the (\d+) rows of this class ([\d.]+) % have ([\w, ]+), of all rows ([\d.]+) %", text)
    tables = [body for caption, body in page.tables.items() if caption.startswith("Values: ill in")]
    assert [
        (label, int(size), pytest.approx(float(share) / 100, rel=0.01), pytest.approx(float(of_all) / 100, rel=0.01))
        for size, share, label, of_all in read
    ] == [(body[0][0], sum(row[1] for row in body), *body[0][2:]) for body in tables]


@pytest.mark.parametrize(
    ("share", "words"),
    [(0, "0 %"), (1, "100 %"), (0.2, "20 %"), (1 / 3, "33.3 %"), (0.00001, "under 0.01 %"), (0.99999, "over 99.9 %"),
     (27.6733, "2,767 %"), (0.0607, "6.07 %"), (0.9994, "over 99.9 %"), (0.999, "99.9 %")],
)  # fmt: skip
def test_per_cents_do_not_call_almost_all_all(share: float, words: str) -> None:
    page = Page(percent(share))
    assert page.text == words
    assert float(str(dict(page.elements)["data"]["value"])) == share


@pytest.mark.usefixtures("_without_scripts")
def test_plots_have_the_values_of_their_tables() -> None:
    page = page_of(people("generalization"), "r")
    losses, levels, sizes, *worst = [chart["data"]["values"] for chart in page.charts]
    assert [[row["label"], row["share"]] for row in levels] == [
        [name, share] for name, _, _, share in page.table("Values: How much")
    ]
    assert [[row["label"], row["share"]] for row in losses] == [
        [f"{name}: {words}", share] for name, words, share in page.table("Values: What became of each column")
    ]
    assert [[float(row["label"]), row["count"]] for row in sizes] == [
        [float(s), n] for s, n, _ in page.table("Values: Number of classes")
    ]
    tables = [body for caption, body in page.tables.items() if caption.startswith("Values: ill in")]
    for values, body in zip(worst, tables, strict=True):
        assert [[row["label"], row["share"], row["of_all"]] for row in values] == [[r[0], *r[2:]] for r in body]
    plots = [attributes for tag, attributes in page.elements if attributes.get("data-chart")]
    assert len(plots) == len(page.charts) == 3 + len(tables)
    assert all(attributes["role"] == "img" and attributes["aria-label"] for attributes in plots)


@pytest.mark.long
@pytest.mark.usefixtures("_without_scripts")
def test_errors_of_workloads_are_by_conditions_and_by_how_many_rows_match() -> None:
    con = people("generalization")
    assert "not measured with a workload of your own" in page_of(con, "r").text
    queries = {
        1: "SELECT count(*) AS n FROM people",
        2: "SELECT count(*) AS n FROM people WHERE age = 70003",
        3: "SELECT count(*) AS n FROM people WHERE age = 70005 AND ward = 1",
        4: "SELECT count(*) AS n, sum(age) AS s FROM people WHERE ward = 1 AND ward < 3",
        5: "SELECT count(*) AS n FROM people WHERE age = 70003 AND ward = 0",
    }
    con.executemany("INSERT INTO anon.workload VALUES ('w', ?, ?)", [[*query] for query in queries.items()])
    con.execute("MEASURE r WITH WORKLOAD w")
    errors = dict(con.duckdb.execute("SELECT query_id || result, relative_error FROM anon.query_error").fetchall())
    page = page_of(con, "r")
    one, both = "1 column", "2 columns"
    few, some, many = (
        "counts 1 to 10 % of the rows",
        "counts under 0.1 % of the rows",
        "counts 10 % of the rows or more",
    )
    rows = {(conditions, share): rest for conditions, share, *rest in page.table("Values: Errors of the answers")}
    assert {kind: (results, compared) for kind, (results, compared, *_) in rows.items()} == {
        ("no column", many): (1, 1),
        (one, few): (1, 1),
        (one, many): (1, 1),
        (one, "is not a count, or of a group that the source lacks"): (1, 1),
        (both, few): (1, 1),
        (both, some): (1, 0),
    }
    assert rows[one, few][2] == errors["2n"]
    assert rows[both, few][2] == errors["3n"]
    assert rows[both, some][2:5] == [None, None, None]
    (bars,) = [c["data"]["values"] for c in page.charts if "amount" in c["data"]["values"][0]]
    assert sorted(bar["amount"] for bar in bars) == sorted(row[2] for row in rows.values() if row[2] is not None)


@pytest.mark.one_in(4)
@pytest.mark.usefixtures("_without_scripts")
@pytest.mark.parametrize("method", ["generalization", "anatomy(l => 2)"])
def test_names_and_values_are_never_markup(method: str) -> None:
    con = people(method, release=QUOTED, value=QUOTED)
    con.execute(f"UPDATE people SET {QUOTED} = '{HOSTILE}' WHERE {QUOTED} = 'flu'")
    con.execute(f"CREATE OR REPLACE ANONYMIZED TABLE {QUOTED} AS POLICY p METHOD {method}")
    page = page_of(con, HOSTILE)
    assert {tag for tag, _ in page.elements} <= ELEMENTS
    # Those of the plots, what draws them, and what unfolds the page for paper.
    assert sum(tag == "script" for tag, _ in page.elements) == len(page.charts) + 2
    assert all(not name.startswith("on") for _, attributes in page.elements for name in attributes)
    assert '</script><script>alert("ü")&amp;\\u202e\\n<!--' in page.text
    assert "\u202e" not in page.text


@pytest.mark.usefixtures("_without_scripts")
def test_it_quotes_labels_and_no_value_below_them() -> None:
    con = people("generalization")
    text = report_page(DuckDBEngine(con.duckdb), QualifiedName(("r",)))
    # The ends of ranges are labels, whole tens; no other age is in the page.
    assert re.findall(r"700\d[1-9]", text) == []
    assert "700" in text


@pytest.mark.long
@pytest.mark.usefixtures("_without_scripts")
def test_a_source_that_is_a_query_is_not_quoted() -> None:
    con = sqlanon.connect()
    con.execute("CREATE TABLE people AS SELECT i AS age, i % 2 AS ill FROM range(8) AS t(i)")
    con.execute("CREATE POLICY p ON (SELECT * FROM people WHERE age <> 4711) (age QUASI IDENTIFIER, ill SENSITIVE) "
                "REQUIRE k_anonymity(k => 2)")  # fmt: skip
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
    assert "4711" not in report_page(DuckDBEngine(con.duckdb), QualifiedName(("r",)))


@pytest.mark.one_in(3)
@pytest.mark.usefixtures("_without_scripts")
@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ("(age QUASI IDENTIFIER MIN LEVEL 1) REQUIRE k_anonymity(k => 2)", "No column is sensitive."),
        (
            "(id ENTITY, age QUASI IDENTIFIER MIN LEVEL 1, ill SENSITIVE) REQUIRE k_anonymity(k => 2)",
            "rows of one respondent",
        ),
        (
            "(age QUASI IDENTIFIER, ill SENSITIVE) CONFIDENTIAL (age, ill)@fragments FRAGMENTS (age), (ill)",
            "in several tables without buckets",
        ),
    ],
)
def test_what_a_release_does_not_have_is_said(policy: str, words: str) -> None:
    con = sqlanon.connect()
    con.execute("CREATE TABLE people AS SELECT i AS id, i % 3 AS age, i % 2 AS ill FROM range(8) AS t(i)")
    roles, _, method = policy.partition("@")
    con.execute(f"CREATE POLICY p ON people {roles}")
    con.execute(f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD {method or 'generalization'}")
    assert words in page_of(con, "r").text


@pytest.mark.usefixtures("_without_scripts")
def test_an_empty_release_and_a_live_view_have_reports() -> None:
    con = sqlanon.connect()
    con.execute("CREATE TABLE people (age INTEGER, ill VARCHAR)")
    con.execute("CREATE POLICY p ON people (age QUASI IDENTIFIER, ill SENSITIVE) REQUIRE k_anonymity(k => 2)")
    con.execute("CREATE ANONYMIZED VIEW r AS POLICY p METHOD generalization")
    page = page_of(con, "r")
    assert "The release has no rows" in page.text
    assert "a live view, which follows its source" in page.text


@pytest.mark.usefixtures("_without_scripts")
def test_what_is_not_met_is_said_first() -> None:
    con = people("generalization")
    con.execute("DELETE FROM r WHERE rowid > 0")
    page = page_of(con, "r")
    assert page.text.index("do not give it away") < page.text.index("Requirements")


@pytest.mark.long
@pytest.mark.usefixtures("_without_scripts")
@pytest.mark.parametrize(
    ("method", "has_loss_of_its_own"),
    [("generalization", False), ("generalization(loss => 'height')", True), ("mondrian", False)],
)
def test_a_loss_of_all_columns_is_one_number_and_another_is_explained(method: str, has_loss_of_its_own: bool) -> None:
    con = people(method)
    # By the width of a range this one is far away from the others, by the values in it it is the next.
    con.execute("UPDATE people SET age = 70400 WHERE age = 70023")
    con.execute(f"ALTER POLICY p ALTER age QUASI IDENTIFIER {METHODS.get(method, 'USING tens MIN LEVEL 1')} WEIGHT 3")
    con.execute(f"CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p METHOD {method}")
    con.execute("FRONTIER f ON POLICY p METHODS (generalization) SWEEP k IN (4) MEASURE granularity_loss, p_loss")
    page = page_of(con, "r")
    figures = {attribute: value for name, attribute, value in page.table("Figures") if name == "granularity_loss"}
    assert len(set(figures.values())) == 3
    weighted = (3 * figures["age"] + figures["ward"]) / 4
    assert figures[None] == pytest.approx(weighted)
    assert page.table("Values: Candidates of the frontier f")[-1][3] == figures[None]
    share = f"{100 * figures[None]:.3g} % of the detail is lost"
    sentence = f"Over all quasi-identifiers, weighted as the policy weighs them, {share}"
    assert sentence in page.text
    assert ("The method recorded a loss of its own" in page.text) == has_loss_of_its_own
    (loss,) = con.duckdb.execute("SELECT loss FROM anon.release").fetchone() or ()
    assert (loss == pytest.approx(figures[None])) != has_loss_of_its_own


@pytest.mark.long
@pytest.mark.usefixtures("_without_scripts")
def test_frontiers_of_its_policy_have_the_release_among_their_candidates() -> None:
    con = people("generalization")
    con.execute("CREATE POLICY other ON people (age QUASI IDENTIFIER, ill SENSITIVE) REQUIRE k_anonymity(k => 2)")
    for name in ("p", "other"):
        con.execute(
            f"FRONTIER of_{name} ON POLICY {name} METHODS (generalization) SWEEP k IN (2, 12) MEASURE p_loss, a_know"
        )
    page = page_of(con, "r")
    assert not any("of_other" in caption for caption in page.tables)
    *candidates, release = page.table("Values: Candidates of the frontier of_p")
    measured = {(name, attribute): value for _, name, attribute, value, _ in con.execute("MEASURE r").fetchall()}
    required = "k_anonymity(k => 4), l_diversity(l => 2, variant => 'distinct')"
    assert release == ["this release", required, "this release", measured["p_loss", "ill"], measured["a_know", "ill"]]
    assert candidates[0][:2] == ["0: intact", "nothing"]
    stored = con.duckdb.execute(
        "SELECT max(value) FILTER (figure = 'p_loss'), max(value) FILTER (figure = 'a_know') FROM anon.candidate "
        "WHERE frontier = 'of_p' AND reason IS NULL GROUP BY number ORDER BY number"
    ).fetchall()
    assert [tuple(row[3:]) for row in candidates] == stored


@pytest.mark.long
@pytest.mark.usefixtures("_without_scripts")
def test_kinds_of_candidates_look_the_same_in_each_plot_and_what_is_not_there_is_said() -> None:
    con = people("generalization")
    for_many = "METHODS (generalization, anatomy) SWEEP l IN (2, 3, 30) MEASURE p_loss, gain"
    con.execute(f"FRONTIER many ON POLICY p {for_many}")
    con.execute("FRONTIER few ON POLICY p METHODS (generalization) SWEEP k IN (24) MEASURE p_loss, discernibility")
    con.execute("FRONTIER single ON POLICY p METHODS (generalization) SWEEP k IN (24, 25) MEASURE p_loss")
    page = page_of(con, "r")
    plotted = [chart for chart in page.charts if "kind" in chart["data"]["values"][0]]
    kinds = [{row["kind"] for row in chart["data"]["values"]} for chart in plotted]
    assert len(kinds) == 2
    for channel in ("color", "shape"):
        scales = [chart["encoding"][channel]["scale"] for chart in plotted]
        assert scales[0] == scales[1]
        assert scales[0]["domain"] == ["efficient", "not efficient", "this release"]
        assert len(set(scales[0]["range"])) == 3
    for name in ("many", "few", "single"):
        made, reasons = con.duckdb.execute(
            "SELECT count(DISTINCT number) FILTER (reason IS NULL), list(DISTINCT reason) FILTER (reason IS NOT NULL) "
            "FROM anon.candidate WHERE frontier = ?",
            [name],
        ).fetchone() or (0, [])
        caption = f"Candidates of the frontier {name}"
        assert len(page.table(caption if name == "single" else f"Values: {caption}")) == made + 1
        assert all(reason in page.text for reason in reasons or ())
    lacking = r"candidates \d lack figures, and the plot does not have them:\s+\d: generalization could"
    assert re.search(lacking, page.text)
    assert re.search(r"Of \d+ candidates 1 lacks figures:\s+\d: generalization could not be made", page.text)


def test_many_sizes_stand_in_groups_that_lose_no_class() -> None:
    sizes = [(size, size % 3 + 1) for size in range(1, 1000, 7)]
    groups = size_groups(sizes)
    assert groups[0][0] == "1"
    assert groups[-1][0] == "512 to 1,023"
    assert sum(many for _, many, _ in groups) == sum(many for _, many in sizes)
    assert sum(rows for *_, rows in groups) == sum(size * many for size, many in sizes)
    # From what no class may be smaller than on; smaller ones, where there are any, stand by themselves.
    groups = size_groups(sizes, 5)
    assert [name for name, *_ in groups][:3] == ["1 to 4", "5 to 9", "10 to 19"]
    assert groups[0][1:] == (2, 2)
    assert sum(many for _, many, _ in groups) == sum(many for _, many in sizes)
    assert sum(rows for *_, rows in groups) == sum(size * many for size, many in sizes)
    assert size_groups(sizes[1:], 5)[0][0] == "5 to 9"
    # A group without a class is there, between those that have some.
    apart = [*sizes[:20], (5_000, 1)]
    assert [many for _, many, _ in size_groups(apart, 1)][-5:] == [0, 0, 0, 0, 1]
    assert size_groups(sizes[:3]) == [("1", 2, 2), ("8", 3, 24), ("15", 1, 15)]


def test_labels_that_look_the_same_differ() -> None:
    assert unique(["a", None, "a", "b\n", "NULL, no value"]) == [
        "a",
        "NULL, no value",
        "a (2)",
        "b\\n",
        "NULL, no value (2)",
    ]


def test_long_labels_stand_on_several_lines_and_differ() -> None:
    words = "counts under 0.1 % of the rows, of several columns"
    long = ["x" * 300 + end for end in "ab"]
    lines = lines_of([words, "  two  spaces  " * 3, *long])
    assert lines[0].replace("\n", "") == words
    assert lines[1].replace("\n", "") == "  two  spaces  " * 3
    assert len({*lines}) == 4
    assert all(len(line) <= 25 for label in lines for line in label.split("\n"))
    assert max(label.count("\n") for label in lines) <= 4


@pytest.mark.long
@pytest.mark.usefixtures("_without_scripts")
def test_no_plot_cuts_a_label() -> None:
    """An axis has a limit of its own where it is told none."""
    con = people("generalization")
    con.execute("CREATE WORKLOAD w ON POLICY p (queries => 20, dimensions => 1, seed => 1)")
    con.execute("MEASURE r WITH WORKLOAD w")
    page = page_of(con, "r")
    assert {chart["config"]["axis"]["labelLimit"] for chart in page.charts} == {0}
    assert "labelLimit" not in str([{**chart, "config": None} for chart in page.charts])
    named = [row for chart in page.charts for row in chart["data"]["values"] if "lines" in row]
    assert any("\n" in row["lines"] for row in named)
    assert all(row["lines"].replace("\n", "") == row["label"] for row in named)


@pytest.mark.long
@pytest.mark.usefixtures("_without_scripts")
def test_each_part_of_the_page_that_is_linked_to_is_there() -> None:
    con = people("generalization")
    for links in (10, 11):
        elements = page_of(con, "r").elements
        names = [attributes.get("id") for _, attributes in elements]
        targets = [str(attributes["href"]) for tag, attributes in elements if tag == "a"]
        assert {target.removeprefix("#") for target in targets} <= {*names}
        assert len({*targets}) == links
        assert targets.count("#frontier") == (2 if links == 11 else 0)
        con.execute("FRONTIER f ON POLICY p METHODS (generalization) SWEEP k IN (4) MEASURE p_loss, gain")


@pytest.mark.parametrize("package", ["altair", "vl_convert"])
def test_a_missing_extra_says_what_to_install(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    con = people("generalization")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(UserError, match=f"a report needs {package}") as error:
        page_of(con, "r")
    assert error.value.hint == "pip install 'sqlanon[report]'"


@pytest.mark.long
@pytest.mark.usefixtures("_without_scripts")
def test_the_command_writes_a_file_or_says_why_not(tmp_path: Path) -> None:
    database, report = tmp_path / "d.duckdb", tmp_path / "report.html"
    con = sqlanon.connect(database)
    con.execute("CREATE TABLE people AS SELECT i % 2 AS age, i % 3 AS ill FROM range(12) AS t(i)")
    con.execute("CREATE POLICY p ON people (age QUASI IDENTIFIER, ill SENSITIVE) REQUIRE k_anonymity(k => 2)")
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
    con.close()

    def run(*arguments: str) -> tuple[int, str]:
        ran = CliRunner().invoke(app, ["report", *arguments, "--database", str(database)])
        return ran.exit_code, ran.stderr

    code, words = run("q", "-o", str(report))
    assert (code, "there is no release main.q" in words, report.exists()) == (2, True, False)
    assert run("r", "-o", str(report))[0] == 0
    assert "What is required is met" in Page(report.read_text(encoding="utf-8")).text
    assert run("r", "-o", str(report), "--read-only")[0] == 0
    code, words = run("r", "-o", str(database))
    assert (code, "is the database" in words) == (2, True)
    # Nor over its log, which may hold all that was committed, whether there is one at the moment or not.
    for beside in ("d.duckdb.wal", "d.duckdb.tmp"):
        code, words = run("r", "-o", str(tmp_path / beside))
        assert (code, "is the database or one of its files" in words) == (2, True)
    code, words = run("r", "-o", str(tmp_path / "nowhere" / "report.html"))
    assert (code, "cannot be written" in words) == (2, True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d.duckdb", "report.html"]


@pytest.mark.long
@pytest.mark.usefixtures("_without_scripts")
@pytest.mark.parametrize(("path", "report"), [("out/", "out.report.html"), ("out.csv", "out.csv.report.html")])
def test_an_export_has_a_report_beside_it(tmp_path: Path, path: str, report: str) -> None:
    con = people("generalization")
    format_ = "csv" if path.endswith("csv") else "parquet"
    con.execute(f"EXPORT r TO '{tmp_path / path}{'/' * path.endswith('/')}' (FORMAT {format_}, REPORT true)")
    written = (tmp_path / report).read_text(encoding="utf-8")
    assert Page(written).table("Figures") == page_of(con, "r").table("Figures")
    # What is given away does not have it.
    assert not [file for file in tmp_path.rglob("*") if "report" in file.name and file.parent != tmp_path]
    assert con.execute(f"CHECK '{tmp_path / path}'").fetchall()
    with pytest.raises(UserError, match="exists already"):
        con.execute(f"EXPORT r TO '{tmp_path / path}' (FORMAT {format_}, REPORT true)")
    con.execute(f"EXPORT r TO '{tmp_path / path}' (FORMAT {format_}, REPLACE true, REPORT true)")


@pytest.mark.usefixtures("_without_scripts")
def test_only_a_report_is_replaced_and_nothing_is_exported_without_one(tmp_path: Path) -> None:
    con = people("generalization")
    (tmp_path / "out.report.html").write_text("mine")
    with pytest.raises(UserError, match="is not a report"):
        con.execute(f"EXPORT r TO '{tmp_path / 'out'}' (REPLACE true, REPORT true)")
    assert [file.name for file in tmp_path.iterdir()] == ["out.report.html"]
    assert (tmp_path / "out.report.html").read_text() == "mine"
    with pytest.raises(UserError, match="cannot be used as the path of a file"):
        con.execute("EXPORT r TO 's3://bucket/out' (REPORT true)")


def test_a_report_that_cannot_be_made_leaves_no_export(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    con = people("generalization")
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(UserError, match="a report needs altair"):
        con.execute(f"EXPORT r TO '{tmp_path / 'out'}' (REPORT true)")
    assert list(tmp_path.iterdir()) == []
