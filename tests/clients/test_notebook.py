"""The magics of `%load_ext sqlanon`, cell by cell in IPython (make test-clients)."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import duckdb
import pyarrow
import pytest
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

import sqlanon
from sqlanon.clients.notebook.result import Result
from tests.support.notebooks import SATISFIED, variables

NOTEBOOK = Path(__file__).resolve().parents[2] / "docs" / "notebooks" / "patients.ipynb"
POLICY = "CREATE POLICY p ON people (age QUASI IDENTIFIER, illness SENSITIVE) REQUIRE k_anonymity(k => 2)"


@pytest.fixture
def run(shell: InteractiveShell) -> Any:
    """Runs a cell, and returns what it returns."""

    def cell(text: str) -> Any:
        done = shell.run_cell(text)
        done.raise_error()
        return done.result

    cell("%load_ext sqlanon")
    return cell


@pytest.fixture
def displayed(shell: InteractiveShell) -> list[dict[str, Any]]:
    """What cells display besides what they return."""
    publisher = CapturingDisplayPublisher()
    shell.display_pub = publisher
    outputs: list[dict[str, Any]] = publisher.outputs
    return outputs


class Cells(HTMLParser):
    """The texts of a table's cells, row by row, and the elements that a page has."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.elements: set[str] = set()
        self._in_cell = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.elements.add(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self._in_cell = True
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._in_cell = False

    def handle_data(self, data: str) -> None:
        if self._in_cell:
            self.rows[-1][-1] += data


def test_what_the_page_shows(shell: InteractiveShell) -> None:
    names = variables(shell, "In a notebook")
    assert names["checked"].fetchall() == [SATISFIED]
    assert names["satisfied"]


def test_the_notebook_runs(run: Any, displayed: list[dict[str, Any]], tmp_path: Path) -> None:
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells)
    results = [run("".join(cell["source"])) for cell in cells]
    assert any("Report of the release" in repr(result) for result in results)
    assert displayed
    assert (tmp_path / "published" / "certificate.json").is_file()


def test_a_table_displays_what_is_there(run: Any) -> None:
    """Text is escaped, NULL is no text, and a requirement that is not met stands out."""
    answer = run('%sqlanon SELECT \'<script>a  b</script>\' AS "x""y", NULL AS n, 1.5 AS d, true AS b, [1, NULL] AS l')
    page = Cells(answer._repr_html_())
    assert page.rows == [['x"y', "n", "d", "b", "l"], ["<script>a  b</script>", "NULL", "1.5", "yes", "[1, None]"]]
    assert "script" not in page.elements
    answer = run("%sqlanon CHECK (SELECT 1 AS age) (age) REQUIRE k_anonymity(k => 2)")
    assert "<strong>no</strong>" in answer._repr_html_()


@pytest.mark.parametrize(("rows", "more"), [(0, False), (50, False), (51, True)])
def test_the_first_rows_of_many(run: Any, rows: int, more: bool) -> None:
    answer = run(f"%sqlanon FROM range({rows})")
    page = answer._repr_html_()
    assert len(Cells(page).rows) == min(rows, 50) + 1
    assert ("first 50 rows" in page) == more
    assert len(answer.df()) == rows


def test_each_statement_is_answered(run: Any, displayed: list[dict[str, Any]]) -> None:
    run("import pandas; people = pandas.DataFrame({'age': [1, 1], 'illness': ['Flu', 'Cold']})")
    last = run(f"%%sqlanon\n{POLICY};\nCREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization;\nCHECK r")
    assert last.fetchall() == [("main.r", "k_anonymity", None, 2.0, 2.0, True)]
    assert [output["data"]["text/html"].partition('aria-label="')[2].partition('"')[0] for output in displayed] == [
        "CREATE POLICY p",
        "CREATE ANONYMIZED TABLE r",
    ]


def test_an_answer_becomes_a_variable(run: Any, shell: InteractiveShell) -> None:
    assert run("%%sqlanon --output numbers\nSELECT 1; FROM range(3)") is None
    assert shell.user_ns["numbers"].fetchall() == [(0,), (1,), (2,)]
    assert run("%%sqlanon -o empty\nDROP HIERARCHY IF EXISTS h") is None
    assert shell.user_ns["empty"].fetchall() == [("DROP HIERARCHY", "h", "absent")]


def test_databases_and_connections(run: Any, shell: InteractiveShell, tmp_path: Path) -> None:
    assert isinstance(run("%sqlanon"), sqlanon.Connection)
    run(f"%sqlanon --database {tmp_path / 'a.duckdb'} CREATE TABLE t AS SELECT 1 AS a")
    assert run("%sqlanon FROM t").fetchall() == [(1,)]
    run("%sqlanon").close()
    with duckdb.connect(str(tmp_path / "a.duckdb")) as plain:
        shell.user_ns["plain"] = plain
        run("%sqlanon -c plain")
        assert run("%sqlanon FROM t").fetchall() == [(1,)]
        own = shell.user_ns["own"] = sqlanon.connect()
        assert run("%sqlanon -c own") is None
        assert run("%sqlanon") is own


def test_a_policy_on_a_data_frame_has_a_page(run: Any) -> None:
    run("import pandas; people = pandas.DataFrame({'age': [1, 1], 'illness': ['Flu', 'Cold']})")
    run(f"%sqlanon {POLICY}")
    page = run("%sqlanon_policy p")._repr_html_()
    assert 'sandbox="allow-scripts"' in page
    assert Cells(page).elements == {"iframe"}


@pytest.mark.parametrize(
    ("cell", "error", "message"),
    [
        ("%%sqlanon SELECT 1\nSELECT 2", UsageError, "lines below"),
        ("%sqlanon -c nobody", UsageError, "no variable nobody"),
        ("%sqlanon -c nobody -d a.duckdb", UsageError, "not both"),
        ("%sqlanon -o 1a SELECT 1", UsageError, "1a"),
        ("%sqlanon_report", UsageError, "name a release"),
        ("%sqlanon_policy", UsageError, "name a policy"),
        ("%sqlanon_report nothing", sqlanon.UserError, "no release"),
        ("%sqlanon_policy nothing", sqlanon.UserError, "no policies"),
        ("%sqlanon CHECK nothing", sqlanon.UserError, "no release"),
        ("%sqlanon SELEC 1", duckdb.ParserException, "SELEC"),
    ],
)
def test_mistakes(
    run: Any, capsys: pytest.CaptureFixture[str], cell: str, error: type[Exception], message: str
) -> None:
    """A mistake is told in a few lines, without frames of Python's."""
    with pytest.raises(error, match=message):
        run(cell)
    output = capsys.readouterr()
    told = output.out + output.err
    assert message in told
    assert "Traceback" not in told
    assert len(told.splitlines()) < 10


def test_an_answer_without_rows_says_its_remarks() -> None:
    answer = Result(None, "nothing", ["<beware>"])
    assert answer._repr_html_() == "<p>&lt;beware&gt;</p>"
    assert repr(answer) == "<beware>"
    with pytest.raises(AttributeError):
        _ = answer.df


def test_an_answer_is_an_arrow_stream(run: Any) -> None:
    answer = run("%sqlanon SELECT 5 AS k")
    assert pyarrow.table(answer).to_pylist() == [{"k": 5}]
    with pytest.raises(TypeError, match="no rows"):
        pyarrow.table(Result(None, ""))


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    for seconds in ("_SECONDS_BEFORE_LINE", "_SECONDS_BETWEEN"):
        monkeypatch.setattr(f"sqlanon.clients.notebook.magics.{seconds}", 0.0)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("fails", [False, True])
def test_a_line_says_how_far_a_statement_has_come(
    run: Any, shell: InteractiveShell, displayed: list[dict[str, Any]], fails: bool
) -> None:
    shell.kernel = object()
    run("import sqlanon; con = sqlanon.connect()")
    connection, stages = shell.user_ns["con"], []
    connection.observe(lambda stage, *_: stages.append(stage))
    run(f"%%sqlanon -c con\nCREATE TABLE people AS SELECT range % 9 AS age, 'x' AS illness FROM range(90);\n{POLICY}")
    stages.clear()
    displayed.clear()
    k = 91 if fails else 2
    text = f"ALTER POLICY p REQUIRE k_anonymity(k => {k});\nCREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization"
    done = shell.run_cell(f"%%sqlanon\n{text}")
    assert done.success is not fails
    # What statements answer is displayed once, and never updated.
    lines = [output["data"]["text/html"] for output in displayed if "display_id" in (output.get("transient") or ())]
    assert any(line.startswith("<p>solve") for line in lines)
    assert lines[-1] == ""
    # The observer of the connection's owner was not called meanwhile, and is again.
    assert stages == []
    connection.execute(
        "ALTER POLICY p REQUIRE k_anonymity(k => 2); EXPLAIN ANONYMIZED TABLE s AS POLICY p METHOD generalization"
    )
    assert stages


@pytest.mark.usefixtures("impatient")
def test_a_terminal_has_no_such_line(run: Any, displayed: list[dict[str, Any]]) -> None:
    run(f"%%sqlanon\nCREATE TABLE people AS SELECT range % 9 AS age, 'x' AS illness FROM range(90);\n{POLICY}")
    displayed.clear()
    run("%sqlanon CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
    assert displayed == []


def test_what_was_answered_before_an_error_is_displayed(run: Any, displayed: list[dict[str, Any]]) -> None:
    with pytest.raises(sqlanon.UserError):
        run("%%sqlanon\nSELECT 41 AS first;\nSELECT 42 AS second;\nCHECK nosuch;\nSELECT 43 AS third")
    texts = [output["data"]["text/plain"] for output in displayed]
    assert [("41" in text, "42" in text) for text in texts] == [(True, False), (False, True)]


def test_a_variable_that_is_no_connection_changes_nothing(run: Any, shell: InteractiveShell) -> None:
    run("%sqlanon CREATE TABLE here AS SELECT 7 AS n")
    shell.user_ns["words"] = "here.duckdb"
    for name in ("words", "nothing"):
        with pytest.raises(UsageError, match=r"connection|variable"):
            run(f"%sqlanon --connection {name} SELECT 1")
    assert run("%sqlanon FROM here").fetchall() == [(7,)]


class Scripts(HTMLParser):
    """The texts of the elements `pre`, as a browser copies them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._is_in = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag == "pre":
            self._is_in = True
            self.texts.append("")

    def handle_endtag(self, tag: str) -> None:
        self._is_in = self._is_in and tag != "pre"

    def handle_data(self, data: str) -> None:
        if self._is_in:
            self.texts[-1] += data


@pytest.mark.parametrize("source", ["%sqlanon PROFILE people", "con.sql('PROFILE people')"])
def test_the_script_that_profile_proposes_can_be_copied(run: Any, shell: InteractiveShell, source: str) -> None:
    """What is copied runs, and makes the release that it proposes; the columns that matter come first."""
    run("import sqlanon; con = sqlanon.connect()\n%sqlanon --connection con")
    rows = "SELECT 20 + i % 50 AS age, ['<b>F', 'M'][1 + i % 2] AS sex FROM range(500) AS t(i)"
    run(f'con.sql("CREATE TABLE people AS {rows}")')
    run(f"answer = {source}")
    page = shell.display_formatter.format(shell.user_ns["answer"])[0]["text/html"]
    assert Cells(page).rows[0][:3] == ["subject", "proposal", "why"]
    [script] = Scripts(page).texts
    assert "\\n" not in script
    run("%%sqlanon\n" + script)
    [row] = run("%sqlanon SHOW RELEASES").df().to_dict("records")
    assert row["policy"] == "people"
    plain = shell.display_formatter.format(shell.user_ns["con"].sql("SELECT 1 AS one"))[0]
    assert "<pre>" not in plain.get("text/html", "")


def test_a_released_frame_is_displayed_with_its_summary(run: Any, shell: InteractiveShell) -> None:
    run("import pandas, sqlanon; people = pandas.DataFrame({'age': list(range(20)) * 3, 'ill': ['flu', 'cold'] * 30})")
    run("released = sqlanon.anonymize(people, known='age', secret='ill')")
    page = shell.display_formatter.format(shell.user_ns["released"])[0]["text/html"]
    assert any("60 in, 60 out" in cell for row in Cells(page).rows for cell in row)
    assert "table" in Cells(page).elements
