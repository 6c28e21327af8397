"""The shell: on a terminal, from a pipe, its completion and its history."""

from __future__ import annotations

import os
import pty
import re
import select
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

import sqlanon
from sqlanon import PolicyError
from sqlanon.assess.measure_figures import figure_names
from sqlanon.clients.session import connect
from sqlanon.clients.terminal.completion import STATEMENTS, StatementCompleter, database_names, model_described, quoted
from sqlanon.clients.terminal.shell import StatementHistory, history_file
from sqlanon.methods.registry import METHODS, find_method
from sqlanon.methods.shared.arguments import arguments_of
from sqlanon.sql.questions.load import model_names, questions_of
from sqlanon.sql.questions.statistics import attack_names
from sqlanon.statements.parser import parse_script
from sqlanon.statements.registry import keywords, label_of, statements
from tests.support.command_line import PATIENTS

ROOT = Path(__file__).resolve().parents[2]
# Figures that a release of buckets does not have.
NOT_OF_BUCKETS = {
    *("precision", "non_uniform_entropy", "marginals", "sse", "suda"),
    *("population_uniques", "individual_risk", "k_map_estimated", "missing", "linkage_risk", "uniqueness"),
}
SQLANON = [sys.executable, "-m", "sqlanon"]


def piped(text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*SQLANON, "shell", *arguments], input=text, capture_output=True, text=True, timeout=60)


@pytest.mark.long
def test_statements_from_a_pipe_without_a_prompt() -> None:
    done = piped("SELECT 1 AS one;\nSELECT\n  2 AS two\n;\nSELECT 3 AS three")
    assert done.stdout == (
        "| one |\n|----:|\n|   1 |\n\n| two |\n|----:|\n|   2 |\n\n| three |\n|------:|\n|     3 |\n"
    )
    assert done.stderr == ""
    assert done.returncode == 0


@pytest.mark.long
def test_an_error_does_not_end_the_shell_and_names_its_line() -> None:
    done = piped("SELECT 1 AS one;\n\nCREATE POLICY p ON;\nSELECT ';' AS two;\nCHECK nothing;\n")
    assert "|   1 |" in done.stdout
    assert "| ;   |" in done.stdout
    assert re.search(r"^<stdin>:3:\d+: error: ", done.stderr, re.MULTILINE)
    assert re.search(r"^<stdin>:5:1: error: ", done.stderr, re.MULTILINE)
    assert done.returncode == 2


@pytest.mark.long
def test_a_failed_check_is_the_exit_code() -> None:
    done = piped("CREATE TABLE t AS SELECT 1 AS age;\nCHECK t (age) REQUIRE k_anonymity(k => 2);\nSELECT 1;\n")
    assert done.returncode == 1
    assert "requirements are not met" in done.stderr


@pytest.mark.long
def test_forty_rows_and_a_note() -> None:
    done = piped("SELECT i FROM range(100) r(i);\n")
    assert done.stdout.count("\n") == 2 + 40 + 1
    assert "the first 40 rows; there are more" in done.stdout
    assert piped("SELECT i FROM range(100) r(i);\n", "--limit", "0").stdout.count("\n") == 102


@pytest.mark.long
def test_dot_commands() -> None:
    done = piped("CREATE TABLE people (a INTEGER);\n.tables\n.help\n.nonsense\n.quit\nSELECT 'never' AS x;\n")
    assert "| people |" in done.stdout
    assert "CREATE ANONYMIZED VIEW" in done.stdout
    assert "there is no command .nonsense" in done.stderr
    assert "never" not in done.stdout


@pytest.mark.long
def test_a_failed_transaction_does_not_end_the_shell() -> None:
    done = piped("BEGIN;\nSELECT * FROM missing;\n.tables\nROLLBACK;\nSELECT 1 AS one;\n")
    assert "|   1 |" in done.stdout
    assert done.returncode == 2


@pytest.mark.long
def test_help_on_each_statement() -> None:
    done = piped("".join(f".help {statement.lower()}\n" for statement in STATEMENTS) + ".help nonsense\n")
    for form in STATEMENTS.values():
        assert form in done.stdout
    assert "there is no help on 'nonsense'" in done.stderr


@pytest.mark.long
def test_help_on_attack_has_the_arguments_of_each() -> None:
    said = " ".join(piped(".help attack\n").stdout.replace("--", "").split())
    for attack in ("background(values => ..., confidence => ...)", "skewness(difference => ...)", "order()"):
        assert attack in said
    assert {name for name in attack_names() if f"{name}(" not in said} == set()


@pytest.mark.long
def test_help_on_measure_has_each_form_and_what_releases_have() -> None:
    said = " ".join(piped(".help measure\n").stdout.replace("--", "").split())
    forms = (ROOT / "docs" / "statements" / "measure.md").read_text(encoding="utf-8").split("```")[1]
    # The documentation and the help show the same arguments of tasks.
    for argument in re.findall(r"\w+ => ", forms[forms.index("WITH TASK") :]):
        assert argument in said, argument
    listed, _, others = said[said.index("figures: ") :].partition(" not of a release: ")
    figures = re.findall(r"\w+(?:\(.*?\))?", listed.removeprefix("figures: "))
    assert others == "journalist_risk; CHECK release (column, ...) AGAINST table has it"
    assert {figure.partition("(")[0] for figure in figures} == {*figure_names()} - {"journalist_risk"}
    con = sqlanon.connect()
    con.execute(PATIENTS + "CREATE ANONYMIZED TABLE r AS POLICY p METHOD anatomy(l => 2)")
    for figure in figures:
        if figure.partition("(")[0] not in NOT_OF_BUCKETS:
            con.execute(f"MEASURE r WITH FIGURES ({figure.replace('...', '0.1')})")
    with pytest.raises(PolicyError, match="compares with a public table"):
        con.execute("MEASURE r WITH FIGURES (journalist_risk)")
    checked = con.execute("CHECK patients (age) AGAINST patients").fetchall()
    assert "journalist_risk" in {row[1] for row in checked}


@pytest.mark.long
def test_help_on_a_frontier_says_how_to_choose_from_it() -> None:
    said = piped(".help frontier\n").stdout
    assert all(STATEMENTS[name] in said for name in ("FRONTIER", "ADVISE", "DROP FRONTIER"))


def test_every_statement_has_help() -> None:
    assert all(any(keyword.startswith(name) for name in STATEMENTS) for keyword in keywords())


@pytest.mark.parametrize("form", [form for name, form in STATEMENTS.items() if name.startswith("DROP")])
def test_the_short_forms_are_the_parsers_own(form: str) -> None:
    assert len(parse_script(form.replace("( VIEW | TABLE )", "TABLE").replace("[", "").replace("]", ""))) == 1


# Of these the forms say what is meant: an option alone is true, and EXPLAIN is of a statement that has its own form.
UNSAID = {"TRUE", "FALSE", "DATE", "ORDER"}


def test_the_help_on_a_statement_has_every_keyword_of_its_grammar() -> None:
    everything = "\n".join(STATEMENTS.values())
    for statement in statements():
        openings = [label_of(opening) for opening in statement.OPENINGS]
        named = [form for name, form in STATEMENTS.items() if name.startswith(tuple(openings)) or name in openings]
        of_verb = [form for name, form in STATEMENTS.items() if openings and openings[0].startswith(f"{name} ")]
        said = "\n".join([*named, *of_verb]) if openings else everything
        grammar = re.sub(r"\?[^?]*\?", "", statement.GRAMMAR)
        unsaid = UNSAID | ({"CREATE", "OR", "REPLACE"} if openings == ["EXPLAIN ANONYMIZED"] else set())
        missing = {*re.findall(r"\b[A-Z_]{2,}\b", grammar)} - {*re.findall(r"\w+", said)} - unsaid
        assert (statement.__name__, missing) == (statement.__name__, set())


def completions(text: str, names: list[str] | None = None) -> list[str]:
    completer = StatementCompleter(keywords(), lambda: names or [])
    return [c.text for c in completer.get_completions(Document(text), CompleteEvent())]


def test_completion_of_statements_keywords_and_names() -> None:
    assert completions("create an") == [
        "CREATE ANONYMIZED VIEW",
        "CREATE ANONYMIZED TABLE",
        "CREATE ANONYMIZED STREAM",
        *completions(" an"),
    ]
    assert "CREATE POLICY" in completions("SELECT 1;\ncreate pol")
    assert completions("CREATE POLICY p ON t (a quasi ident") == ["IDENTIFIER"]
    assert completions("SELECT * FROM pat", ["patients", "Patterns", "other"]) == ["patients", '"Patterns"']
    assert completions('SELECT "Pat', ["patients", "Patterns"]) == ["patients", '"Patterns"']
    assert completions(".t") == [".tables"]


def test_completion_of_models_and_their_arguments() -> None:
    assert completions("CREATE POLICY p ON t (a SENSITIVE) agai") == ["AGAINST"]
    assert completions("CHECK t (a) SENSITIVE s REQUIRE l_div") == ["l_diversity"]
    assert completions("REQUIRE personalized(p => 0.5, guard") == ["guarding"]
    for model in model_names():
        assert completions(model[:-1])[:1] == [model]
        assert model in STATEMENTS["CREATE POLICY"]


def test_completion_of_methods_and_their_arguments() -> None:
    create = "CREATE ANONYMIZED TABLE t AS POLICY p METHOD "
    assert completions(create)[: len(METHODS)] == list(METHODS)
    assert completions(f"{create}mon") == ["mondrian"]
    assert completions(f"{create}anatomy(") == ["l => ", "variant => ", "c => ", "grouping => "]
    assert completions(f"{create}Anatomy(l => 3, ") == ["variant => ", "c => ", "grouping => "]
    assert completions(f"{create}anatomy(l => 3, gr") == ["grouping => "]
    assert completions(f"{create}anatomy(l => 3, grouping => ") == ["'random'", "'near'"]
    assert completions(f"{create}anatomy(l => 3, grouping => 'ne") == ["'near'"]
    assert completions(f"{create}mondrian(bounds =>") == ["true", "false"]
    assert completions(f"{create}loose(groups => (2, 2), n") == ["near => "]
    assert completions(f"{create}anatomy(l => ") == []
    # A name of a column, and what comes after the arguments, are as anywhere else.
    assert completions(f"{create}mondrian(split => 'information_gain', target => occ", ["occupation"]) == ["occupation"]
    assert completions(f"{create}loose(k => 4) frag") == ["FRAGMENTS", "fragments"]


def test_a_completed_argument_says_what_it_is_for() -> None:
    completer = StatementCompleter(keywords(), list)
    typed = Document("EXPLAIN ANONYMIZED TABLE t AS POLICY p METHOD generalization(time")
    (found,) = completer.get_completions(typed, CompleteEvent())
    assert found.display_meta_text == arguments_of(find_method("generalization").OPTIONS)["time_limit"].help


@pytest.mark.long
def test_help_on_methods() -> None:
    done = piped(".help method\n")
    assert piped(".help method mondrian\n").stdout == done.stdout
    for name in METHODS:
        assert f"METHOD {name}" in done.stdout
        for argument in arguments_of(find_method(name).OPTIONS):
            assert f"\n    {argument} => " in done.stdout
    assert "l => a whole number from 2 to 1000000 (always given): " in done.stdout
    assert "METHOD stream(k, delay, reuse)\n    k => a whole number from 2 (always given): each class" in done.stdout
    assert (
        "\n    delay => a whole number of rows, or a time such as INTERVAL '10 minutes' (always given): " in done.stdout
    )
    assert "\n    reuse => true or false (by default true): " in done.stdout


def test_the_method_of_a_stream_is_completed() -> None:
    completer = StatementCompleter(keywords(), list)
    head = "CREATE ANONYMIZED STREAM s AS POLICY p ORDER BY arrived METHOD "
    for typed, expected in (("st", {"stream", "STREAM", "STREAMS"}), ("stream(k => 3, ", {"delay => ", "reuse => "})):
        found = {each.text for each in completer.get_completions(Document(head + typed), CompleteEvent())}
        assert found == expected


@pytest.mark.long
@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("words", "folder", "lines"),
    [
        (
            "figures",
            "figures",
            ["WITH FIGURES (p_loss(above))", "WITH FIGURES (u_loss)"],
        ),
        ("p_loss", "figures", ["p_loss_mean: ", "WITH FIGURES (p_loss(above))"]),
        (
            "attacks",
            "attacks",
            ["WITH homogeneity(confidence)", "values => the number of values that the target is known to lack"],
        ),
        ("background", "attacks", ["WITH background(values, confidence)", "; by default 1"]),
        ("models", "models", ["REQUIRE k_anonymity(k)", "REQUIRE t_closeness("]),
    ],
)
def test_help_on_figures_attacks_and_models(words: str, folder: str, lines: list[str]) -> None:
    said = " ".join(piped(f".help {words}\n").stdout.split())
    for line in lines:
        assert line in said
    if words == folder and words != "models":
        # Each file has its title or a line of its own for each of its figures.
        for path in (ROOT / "sql" / folder).glob("*.sql"):
            name = re.search(r"^-- attack: (\w+)$", path.read_text(), re.MULTILINE)
            assert f"{'WITH ' if words == 'attacks' else ''}{name[1] if name else path.stem}" in said


def test_help_on_one_method() -> None:
    said = piped(".help itemsets\n").stdout
    assert said.startswith("METHOD itemsets(search)")
    assert "search => one of 'apriori', 'optimal', 'levels', 'suppress' (by default 'apriori'): how" in said
    assert "mondrian" not in said


@pytest.mark.long
def test_help_on_a_model_has_its_arguments() -> None:
    said = piped(".help km_anonymity\n").stdout
    assert said.startswith("REQUIRE km_anonymity(k, m)")
    assert "m => the greatest number of items that an adversary knows of a list" in said
    assert "on =>" not in said
    assert "REQUIRE l_diversity(l, c, variant => 'recursive')" in piped(".help L_DIVERSITY\n").stdout
    every = piped("".join(f".help {model}\n" for model in (*model_names(), *model_names("itemsets")))).stdout
    for model in (*model_names(), *model_names("itemsets")):
        takes = [parameter.name for question in questions_of(model) for parameter in question.parameters]
        assert f"REQUIRE {model}(" in every
        assert all(f"\n    {name} => " in every for name in takes)


@pytest.mark.parametrize("model", model_names())
def test_help_on_a_model_says_on_what_it_can_be(model: str) -> None:
    """`on` is in the help of the models that take it, and of no others."""
    con = sqlanon.connect()
    con.execute("CREATE TABLE t (a INTEGER, b INTEGER)")
    with pytest.raises(PolicyError) as raised:
        con.execute(
            f"CREATE POLICY p ON t (a QUASI IDENTIFIER, b SENSITIVE) AGAINST t REQUIRE {model}(on => (nothing))"
        )
    takes_none = "takes no columns to be on" in raised.value.message
    assert ("on => (column, ...)" in model_described(model)) is not takes_none


def test_help_on_statements_shows_the_columns_that_a_requirement_is_on() -> None:
    assert "on => (column, ...)" in piped(".help create policy\n").stdout
    assert "on => (column, ...)" in piped(".help check\n").stdout


def test_completion_knows_tables_and_columns() -> None:
    with connect() as connection:
        connection.execute('CREATE TABLE patients (dob DATE, "Zip code" VARCHAR)')
        assert {"patients", "dob", "Zip code"} <= set(database_names(connection))


@pytest.mark.parametrize(("name", "typed"), [("a_b1", "a_b1"), ("Ab", '"Ab"'), ('a"b', '"a""b"'), ("1a", '"1a"')])
def test_a_completed_name_can_be_run(name: str, typed: str) -> None:
    assert quoted(name) == typed


def test_the_history_is_the_users_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    path = history_file()
    assert path == tmp_path / "sqlanon" / "history"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    monkeypatch.setenv("XDG_STATE_HOME", str(path))
    assert history_file() is None


SECRET = [
    "CREATE SECRET s (TYPE s3, KEY_ID 'id', SECRET 'Xq7s');",
    "create or replace persistent secret s (type\nhttp, bearer_token 'Xq7s');",
    "ATTACH 'host=h dbname=d password=Xq7s' AS p (TYPE postgres);",
    "ATTACH 'host=h dbname=d PASSWD = Xq7s' AS p (TYPE postgres);",
    "ATTACH 'x.duckdb' AS x (ENCRYPTION_KEY 'Xq7s');",
    "ATTACH 'postgresql://u:Xq7s@h/d' AS p;",
    "EXPORT r TO 'postgresql://u:Xq7s@h/d?schema=x';",
    "CHECK 'mysql://u:Xq7s@h/d';",
    "FROM 'https://h/x.csv?X-Amz-Signature=Xq7s';",
    "FROM 'https://u:Xq7s@h/x.csv';",
    "SET s3_secret_access_key = 'Xq7s';",
    "SET azure_storage_connection_string = 'AccountName=a;AccountKey=Xq7s';",
    "SET motherduck_token = 'Xq7s'",
    "PRAGMA nothing; SET s3_session_token = 'Xq7s';",
]
PLAIN = [
    "EXPORT r TO 'out/' (SIGN KEY 'RELEASE_KEY');",
    "CREATE POLICY p ON t (a ENTITY PSEUDONYM KEY 'RELEASE_KEY', b SENSITIVE) REQUIRE k_anonymity(k => 2);",
    "EXPORT r TO 'postgresql://h/d?schema=x';",
    "FROM 'https://h/x.csv';",
    "SELECT 40 +\n2 AS answer;",
]


@pytest.mark.parametrize("statement", SECRET)
def test_a_secret_is_not_remembered(tmp_path: Path, statement: str) -> None:
    """Neither in the file nor by the keys that go back to it."""
    path = tmp_path / "history"
    history = StatementHistory(str(path))
    for text in (PLAIN[0], statement, PLAIN[1]):
        history.append_string(text)
    assert "Xq7s" not in path.read_text(encoding="utf-8")
    assert [*history.get_strings()] == [*history.load_history_strings()][::-1] == PLAIN[:2]


def test_what_holds_no_secret_is_remembered(tmp_path: Path) -> None:
    history = StatementHistory(str(tmp_path / "history"))
    for text in PLAIN:
        history.append_string(text)
    assert [*StatementHistory(str(tmp_path / "history")).load_history_strings()] == PLAIN[::-1]


class Terminal:
    """A program on a terminal of its own."""

    def __init__(self, *arguments: str, **environment: str) -> None:
        self.master, slave = pty.openpty()
        settings = {**os.environ, "TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1", **environment}
        settings.pop("NO_COLOR", None)
        self.process = subprocess.Popen(
            [*SQLANON, *arguments], stdin=slave, stdout=slave, stderr=slave, env=settings, start_new_session=True
        )
        os.close(slave)
        self.seen, self._read = "", 0

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def wait_for(self, text: str, seconds: float = 30) -> str:
        """What appeared since the last call, up to and including `text`."""
        end = time.monotonic() + seconds
        while (found := self.seen.find(text, self._read)) < 0:
            assert time.monotonic() < end, f"no {text!r} in {self.seen[self._read :]!r}"
            if select.select([self.master], [], [], 0.1)[0]:
                self.seen += os.read(self.master, 65536).decode(errors="replace")
        begun, self._read = self._read, found + len(text)
        return self.seen[begun : self._read]

    def close(self) -> int:
        code = self.process.wait(timeout=30)
        os.close(self.master)
        return code


@pytest.fixture
def terminal(tmp_path: Path) -> Any:
    opened = Terminal("shell", XDG_STATE_HOME=str(tmp_path))
    opened.wait_for("sqlanon>")
    yield opened
    if opened.process.poll() is None:
        opened.process.kill()
        opened.process.wait()


@pytest.mark.long
def test_a_session_on_a_terminal(terminal: Terminal, tmp_path: Path) -> None:
    terminal.type("SELECT 40 +\r2 AS answer;\r")
    terminal.wait_for("42")
    terminal.wait_for("sqlanon>")
    terminal.type("SELECT mistake")
    terminal.wait_for("mistake")
    terminal.type("\x03")
    terminal.wait_for("sqlanon>")
    terminal.type("SELECT 'password=' || 'Xq7s' AS mine;\r")
    terminal.wait_for("sqlanon>")
    terminal.type("SELEC;\r")
    terminal.wait_for("error:")
    terminal.wait_for("sqlanon>")
    terminal.type(".quit\r")
    assert terminal.close() == 0
    history = (tmp_path / "sqlanon" / "history").read_text()
    assert "+SELECT 40 +\n+2 AS answer;" in history
    assert "mistake" not in history
    assert "Xq7s" not in history


@pytest.mark.long
def test_end_of_input_leaves(terminal: Terminal) -> None:
    terminal.type("\x04")
    assert terminal.close() == 0


@pytest.mark.long
@pytest.mark.parametrize("word", ["help", "HELP", "help;", ".help"])
def test_a_newcomer_finds_help(word: str) -> None:
    done = piped(f"{word}\n")
    assert "A statement ends with ;" in done.stdout
    assert done.returncode == 0


@pytest.mark.long
def test_help_on_a_statement_needs_no_dot() -> None:
    assert "CREATE [OR REPLACE] POLICY" in piped("help create policy;\n").stdout


@pytest.mark.long
@pytest.mark.parametrize("word", ["quit", "exit", "quit;", "EXIT;", "quit()", "\\q", ".quit"])
def test_a_newcomer_can_leave(word: str) -> None:
    assert piped(f"{word}\nSELECT 1 AS one;\n").stdout == ""


@pytest.mark.long
def test_a_statement_that_begins_like_a_word_of_the_shell_is_a_statement() -> None:
    assert "quit" in piped("SELECT 'x' AS quit;\n").stdout


@pytest.mark.long
def test_tables_and_their_statements_without_the_catalogs() -> None:
    text = (
        "CREATE TABLE t AS SELECT 1 AS a; CREATE VIEW v AS FROM t;\n"
        "CREATE POLICY p ON t (a QUASI IDENTIFIER) REQUIRE k_anonymity(1);\n"
    )
    listed = piped(text + ".tables\n").stdout
    assert [line.split("|")[2].strip() for line in listed.splitlines()[2:]] == ["t", "v"]
    statements = piped(text + ".schema\n").stdout
    assert "CREATE TABLE t" in statements
    assert "CREATE VIEW v" in statements
    assert "anon" not in statements
    assert piped(text + ".schema T\n").stdout.strip() == "CREATE TABLE t(a INTEGER);"
    assert "there is no table or view nix" in piped(text + ".schema nix\n").stderr


@pytest.mark.long
def test_a_script_is_read_from_a_file(tmp_path: Path) -> None:
    script = tmp_path / "a script.sql"
    script.write_text("SELECT 41 + 1 AS answer;\nSELECT nix;", encoding="utf-8")
    done = piped(f".read '{script}'\n")
    assert "42" in done.stdout
    assert f"{script}:2:8: error" in done.stderr
    assert "cannot be read" in piped(".read nothing.sql\n").stderr


@pytest.mark.long
def test_modes() -> None:
    done = piped(
        ".mode json\nSELECT 1 AS one;\n.mode markdown\nSELECT 2 AS two;\n"
        ".mode\n.mode jsn\n.mode table\nSELECT 3 AS three;\n"
    )
    first, *rest = done.stdout.splitlines()
    assert '"rows": [{"one": 1}]' in first
    assert "| two |" in rest
    assert "the mode is markdown; there are table, markdown, json" in rest
    assert "did you mean json?" in done.stderr
    assert rest[-1].strip() == "3"
    assert "|" not in rest[-1]
