"""Reports and pages of policies as a browser shows them: drawn, on a telephone, and to who does not see them."""

from __future__ import annotations

import re
import shutil
import subprocess
from html import escape
from importlib.resources import files
from pathlib import Path

import pytest

from sqlanon import Connection
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.export.report.page import report_page
from sqlanon.export.report.policy_page import policy_page
from tests.support.browser import answer_of, browser, dom_of
from tests.support.html_page import Page
from tests.support.reports import QUOTED, people

NAME = "a_long_name_of_a_sensitive_column_and_ofawordthatisevenlongerthanall"
# Those who read a page by its elements are not kept from anything by these: others are hints.
GRAVE = ("serious", "critical")
CHECK = """
    const found = await axe.run(document, {resultTypes: ["violations"]});
    return {
      dark: matchMedia("(prefers-color-scheme: dark)").matches,
      passed: found.passes.length,
      violations: found.violations.map(({id, impact, nodes}) => [impact, id, nodes.map((node) => node.html)]),
    };
"""
MEASURE = """
    const page = document.querySelector("iframe").contentDocument;
    const first = page.querySelector(".first");
    const plot = first && first.querySelector("svg").getBoundingClientRect();
    page.querySelectorAll("details").forEach((part) => { part.open = true; });
    const split = [];
    const texts = page.createTreeWalker(page.querySelector("main"), NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      if (texts.currentNode.parentElement.closest("svg")) continue;
      for (const word of texts.currentNode.data.matchAll(/[^\\s_-]+/g)) {
        const range = page.createRange();
        range.setStart(texts.currentNode, word.index);
        range.setEnd(texts.currentNode, word.index + word[0].length);
        if (new Set([...range.getClientRects()].map((line) => line.top)).size > 1) split.push(word[0]);
      }
    }
    return {
      split,
      plot: plot && [plot.top, plot.bottom],
      page: page.documentElement.scrollWidth,
      broken: [...page.querySelectorAll("thead th")].map((cell) => cell.textContent).filter((_, index) => {
        const cell = page.querySelectorAll("thead th")[index];
        const words = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
        while (words.nextNode()) {
          for (const word of words.currentNode.data.matchAll(/[^\\s_-]+/g)) {
            const range = page.createRange();
            range.setStart(words.currentNode, word.index);
            range.setEnd(words.currentNode, word.index + word[0].length);
            if (new Set([...range.getClientRects()].map((line) => line.top)).size > 1) return true;
          }
        }
      }),
      tables: [...page.querySelectorAll(".table")].map((table) => ({
        caption: table.querySelector("caption").textContent, columns: table.querySelectorAll("thead th").length,
        width: table.scrollWidth, seen: table.clientWidth,
      })),
    };
"""
BLOCKS = """
    const page = document.querySelector("iframe").contentDocument;
    const width = (mark) => mark.getBoundingClientRect().width;
    const blocks = page.querySelectorAll(".layer_0_marks path");
    const texts = page.querySelectorAll(".layer_1_marks text");
    return [...texts].map((text, index) => [text.textContent, width(text), width(blocks[index])]);
"""


@pytest.fixture(scope="module")
def con() -> Connection:
    con = people("generalization", value=NAME)
    con.execute("CREATE WORKLOAD w ON POLICY p (queries => 20, dimensions => 1, seed => 1)")
    con.execute("MEASURE r WITH WORKLOAD w")
    con.execute("FRONTIER f ON POLICY p METHODS (generalization) SWEEP k IN (2, 12, 30) MEASURE p_loss, gain")
    return con


@pytest.fixture(scope="module")
def pages(request: pytest.FixtureRequest) -> dict[str, str]:
    """The pages, which are not made where there is no browser."""
    browser()
    con: Connection = request.getfixturevalue("con")
    engine = DuckDBEngine(con.duckdb)
    return {"report": report_page(engine, QualifiedName(("r",))), "policy": policy_page(engine, "p")}


@pytest.mark.long
def test_it_draws_each_plot_and_complains_of_nothing(tmp_path: Path) -> None:
    con = people("generalization", value=QUOTED)
    con.execute("CREATE WORKLOAD w ON POLICY p (queries => 20, dimensions => 1, seed => 1)")
    con.execute("MEASURE r WITH WORKLOAD w")
    dom, complaints = dom_of(report_page(DuckDBEngine(con.duckdb), QualifiedName(("r",))), tmp_path)
    assert complaints == []
    page = Page(dom)
    plots = sum(1 for _, attributes in page.elements if attributes.get("data-chart"))
    assert plots == len(page.charts) > 2
    assert sum(1 for tag, _ in page.elements if tag == "svg") == plots
    drawn = re.findall(r'<g class="mark-rect role-mark[^"]*"[^>]*>(.*?)</g>', dom)
    bars = [marks.count("<path") for marks in drawn]
    expected = [len(page.table(f"Values: {title}")) for title in ("What became", "How much", "Number of classes")]
    for caption, body in page.tables.items():
        # The bars of the class, and the lines of all rows.
        expected += [len(body), len(body)] if " in the class " in caption else []
    expected.append(sum(row[4] is not None for row in page.table("Values: Errors of the answers")))
    assert bars == expected
    # Of axes that count: half a class has no label, and no two labels are the same.
    for axis in re.findall(r'<g class="mark-text role-axis-label"[^>]*>(.*?)</g>', dom):
        labels = [label for label in re.findall(r"<text[^>]*>([^<]*)</text>", axis) if label]
        assert len({*labels}) == len(labels), labels


def telephone(page: str, width: int = 390) -> str:
    """The page in a frame: a window is wider than a telephone."""
    style = f"width: {width}px; border: 0"
    return f'<body style="margin: 0"><iframe style="{style}" srcdoc="{escape(page)}"></iframe>'


@pytest.mark.long
@pytest.mark.parametrize("name", ["report", "policy"])
def test_on_a_telephone_nothing_that_decides_is_out_of_sight(name: str, pages: dict[str, str], tmp_path: Path) -> None:
    measured = answer_of(telephone(pages[name]), tmp_path, MEASURE, "--hide-scrollbars")
    assert measured["page"] == 390
    # No word that is shorter than the longest ones of a language stands on two lines.
    assert [word for word in measured["split"] if len(word) <= 20 and word not in NAME.split("_")] == []
    # Of headings only the name of the sensitive column is longer than there is room for.
    assert {*measured["broken"]} <= {NAME}
    captions = {table["caption"]: table for table in measured["tables"]}
    assert len(captions) == len(measured["tables"]) > 1
    hidden = [table for table in captions.values() if table["width"] > table["seen"]]
    assert all(table["columns"] > 4 for table in hidden), hidden
    if name == "report":
        requirements = captions["Computed again from the published rows (CHECK)"]
        assert requirements["columns"] == 5
        assert requirements not in hidden


@pytest.mark.long
@pytest.mark.parametrize(("width", "height"), [(390, 844), (1280, 720)])
def test_the_first_screen_has_the_plot_of_the_columns(
    width: int, height: int, pages: dict[str, str], tmp_path: Path
) -> None:
    size = f"--window-size={max(width, 600)},{height}"
    measured = answer_of(telephone(pages["report"], width), tmp_path, MEASURE, "--hide-scrollbars", size)
    top, bottom = measured["plot"]
    assert 0 < top < bottom < height


@pytest.mark.long
def test_paper_has_what_is_folded(pages: dict[str, str], tmp_path: Path) -> None:
    if shutil.which("pdftotext") is None:
        pytest.skip("there is no pdftotext")
    page, paper = tmp_path / "page.html", tmp_path / "page.pdf"
    page.write_text(pages["report"], encoding="utf-8")
    options = ("--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}/browser")
    subprocess.run([browser(), *options, f"--print-to-pdf={paper}", page.as_uri()], check=True, timeout=240)
    read = subprocess.run(["pdftotext", str(paper), "-"], check=True, capture_output=True, text=True, timeout=60)
    text = " ".join(read.stdout.split())
    captions = Page(pages["report"]).tables
    assert len(captions) > 5
    assert all(" ".join(caption.split())[:40] in text for caption in captions if NAME not in caption)
    assert "As a table" not in text


@pytest.mark.long
def test_a_label_of_a_hierarchy_is_left_out_where_it_does_not_fit(pages: dict[str, str], tmp_path: Path) -> None:
    written = {text: width < block for text, width, block in answer_of(telephone(pages["policy"]), tmp_path, BLOCKS)}
    assert {*written} == {"", "*", "[70000,70100)", "[70000,70010)", "[70010,70020)"}
    assert all(written.values())


def violations(page: str, folder: Path, *options: str) -> tuple[bool, list[tuple[str, str, list[str]]]]:
    """Whether the page is dark, and what axe finds that is grave."""
    script = files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    # The page runs no scripts but its own, so a copy of it has to do without this.
    unguarded, removed = re.subn(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
    assert removed == 1
    answer = answer_of(f"{unguarded}<script>{script}</script>", folder, CHECK, *options)
    assert answer["passed"] > 15
    return answer["dark"], [violation for violation in answer["violations"] if violation[0] in GRAVE]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", ["report", "policy"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_keeps_anybody_from_reading_it(name: str, theme: str, pages: dict[str, str], tmp_path: Path) -> None:
    options = ["--force-dark-mode"] if theme == "dark" else []
    assert violations(pages[name], tmp_path, *options) == (theme == "dark", [])


@pytest.mark.long
def test_what_cannot_be_read_would_be_noticed(pages: dict[str, str], tmp_path: Path) -> None:
    pale = pages["policy"].replace("</style>", "p { color: #bbb; background: #fff; }</style>").replace(' lang="en"', "")
    _, grave = violations(pale, tmp_path)
    assert {rule for _, rule, _ in grave} == {"color-contrast", "html-has-lang"}
