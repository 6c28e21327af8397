"""The command line: what it prints where, and the exit code that says whose fault it is."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon
from sqlanon.clients import session
from sqlanon.clients.terminal import demo
from sqlanon.clients.terminal.command_arguments import release_name
from sqlanon.clients.terminal.data_commands import FORMATS
from sqlanon.errors import UserError
from sqlanon.export import formats
from sqlanon.statements.parser import parse_script
from tests.support.command_line import PATIENTS, RELEASE, SQLANON, environment, in_terminal, invoke, run_script
from tests.support.processes import running


def test_remarks_are_printed_one_below_the_other_and_in_json_are_a_column() -> None:
    script = (
        "CREATE TABLE visits AS SELECT i // 10 AS name, i // 10 AS age, 'Flu' AS disease FROM range(200) AS t(i);\n"
        "CREATE POLICY p ON visits (name IDENTIFIER, age QUASI IDENTIFIER, disease SENSITIVE)\n"
        "REQUIRE k_anonymity(k => 5);\n"
        "CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization;"
    )
    done = run_script(script)
    lines = [line for line in done.stderr.splitlines() if ": remark: " in line]
    assert [line.partition(": remark: ")[0] for line in lines] == ["<stdin>:2:1", *["<stdin>:4:1"] * 3]
    assert "remarks" not in done.stdout
    answer = json.loads(run_script(script, "--json").stdout.splitlines()[-1])
    assert answer["rows"][0]["remarks"].splitlines() == [line.partition(": remark: ")[2] for line in lines[1:]]


def test_a_policy_as_sql_is_a_script_in_a_pipe() -> None:
    made = "CREATE TABLE t AS SELECT range AS a FROM range(9);\n"
    policy = (
        "CREATE POLICY p ON (\n    SELECT a FROM t\n) (a QUASI IDENTIFIER USING AUTO) REQUIRE k_anonymity(k => 2);\n"
    )
    script = run_script(f"{made}{policy}DESCRIBE POLICY p AS SQL;").stdout
    assert script.startswith('CREATE HIERARCHY "p_a_auto" AS INTERVALS (')
    again = run_script(f"{made}{script}DESCRIBE POLICY p AS SQL;")
    assert (again.exit_code, again.stdout) == (0, script)


def test_the_version() -> None:
    done = subprocess.run([*SQLANON, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"sqlanon {sqlanon.__version__}\n"


def test_the_version_comes_without_what_only_commands_need() -> None:
    """So that it comes at once: the shell and the tables are loaded on demand."""
    code = "import sys; sys.argv[1:] = ['--version']; from sqlanon.clients.terminal.cli import app\n"
    code += "app(standalone_mode=False)\n"
    code += "print(sorted({'prompt_toolkit', 'rich', 'pandas'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[1] == "[]"


@pytest.mark.parametrize("command", ["run", "shell", "dataset adult", "demo", "export", "report", "policy", "migrate"])
def test_help_shows_an_example(command: str) -> None:
    done = invoke(*command.split(), "--help")
    assert done.exit_code == 0
    assert re.search(rf"sqlanon {command}\b", done.stdout.split("Examples:")[1])


def test_an_example_is_one_line() -> None:
    """However long, so that it can be copied into a shell."""
    [example] = re.findall(
        r"^ *sqlanon compile .*", invoke("compile", "--help").stdout.split("Examples:")[1], re.MULTILINE
    )
    assert example.endswith("-o release.sql --database hospital.duckdb")


@pytest.mark.parametrize("command", ["run", "export", "job run", "dbt install", "dataset adult"])
def test_help_shows_no_type_of_python(command: str) -> None:
    assert not re.search(r"<\w+|list\[", invoke(*command.split(), "--help").stdout)


@pytest.mark.parametrize("command", ["report", "policy"])
def test_help_says_which_extra_a_page_needs(command: str) -> None:
    """In words, for what stands in square brackets is style to some who print it."""
    assert "the extra report" in " ".join(invoke(command, "--help").stdout.split())


@pytest.mark.parametrize(
    "command", ["", "run", "shell", "dataset adult", "demo", "verify", "export", "report", "policy", "migrate"]
)
def test_a_flag_is_shown_without_a_type(command: str) -> None:
    lines = [re.split(r"  +", line.strip("│ ")) for line in invoke(*command.split(), "--help").stdout.splitlines()]
    flags = {"--read-only", "--json", "--quiet", "--verbose", "--replace", "--version", "--help", "--show-completion"}
    of_flags = [line for line in lines if flags & set(line)]
    assert of_flags
    assert not any(part.startswith(("<", "BOOLEAN", "INTEGER")) for line in of_flags for part in line)


def test_the_database_of_every_command_may_be_named_by_the_option(tmp_path: Path) -> None:
    database = tmp_path / "d.duckdb"
    assert invoke("shell", "--database", database, stdin=PATIENTS).exit_code == 0
    assert "patients" in invoke("shell", "-d", database, stdin=".tables").stdout
    assert invoke("migrate", "--database", database).exit_code == 0
    assert invoke("shell", database, "-d", database, stdin="SELECT 1;").exit_code == 0
    for words, said in (
        (("shell", database, "-d", tmp_path / "e.duckdb"), "two database files"),
        (("migrate",), "no database file is named"),
        (("run", database), f"--database {database}"),
    ):
        done = invoke(*words)
        assert done.exit_code == 2
        assert said in done.stderr


def test_results_go_to_standard_output_and_the_rest_elsewhere() -> None:
    done = run_script(RELEASE + "SELECT count(*) AS n FROM released; CHECK released;")
    assert done.exit_code == 0, done.stderr
    assert "|  n |\n|---:|\n| 30 |" in done.stdout
    assert "CREATE POLICY p: created" in done.stderr
    assert "CHECK released: satisfied" in done.stderr
    assert "created" not in done.stdout
    assert "\x1b" not in done.output


def test_scripts_run_in_order_on_one_database(tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_text("CREATE TABLE t AS SELECT 1 AS x;", encoding="utf-8-sig")
    (tmp_path / "b.sql").write_text("INSERT INTO t VALUES (2); SELECT sum(x) AS total FROM t;")
    done = invoke("run", tmp_path / "a.sql", tmp_path / "b.sql", "--database", tmp_path / "d.duckdb")
    assert done.exit_code == 0
    assert done.stdout == "| total |\n|------:|\n|     3 |\n"


def test_nothing_runs_if_a_script_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_text("CREATE TABLE t AS SELECT 1 AS x;")
    (tmp_path / "latin.sql").write_bytes("SELECT 'é'".encode("latin-1"))
    for wrong in ("missing.sql", "latin.sql"):
        done = invoke("run", tmp_path / "a.sql", tmp_path / wrong, "--database", tmp_path / "d.duckdb")
        assert done.exit_code == 2
        assert wrong in done.stderr
        assert not (tmp_path / "d.duckdb").exists()


def test_one_json_object_for_each_statement() -> None:
    done = run_script(RELEASE + "SELECT 1.5 AS a, NULL AS b; CHECK released;", "--json")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.stderr == ""
    assert [answer["statement"].split()[0] for answer in answers] == ["CREATE"] * 4 + ["SELECT", "CHECK"]
    assert answers[2]["rows"] == [{"statement": "CREATE POLICY", "name": "p", "outcome": "created"}]
    assert answers[4]["rows"] == [{"a": 1.5, "b": None}]
    assert answers[4]["columns"] == ["a", "b"]
    assert (answers[4]["script"], answers[4]["line"], answers[4]["column"]) == ("<stdin>", 6, 1)
    assert answers[5]["rows"][0]["satisfied"] is True


def test_an_error_is_placed_in_the_script(tmp_path: Path) -> None:
    script = tmp_path / "script.sql"
    script.write_text("SELECT 1;\n\n   CREATE POLICY p ON;\n")
    done = invoke("run", script)
    assert done.exit_code == 2
    assert re.match(rf"{re.escape(str(script))}:3:\d+: error: \S", done.stderr)
    assert "\n  hint: " in done.stderr


def test_an_error_of_duckdbs_is_the_users_and_is_placed_too() -> None:
    done = run_script("SELECT 1;\n  SELECT missing FROM nowhere;")
    assert done.exit_code == 2
    assert done.stderr.startswith("<stdin>:2:23: error: ")
    assert "nowhere" in done.stderr


def test_an_error_in_json_is_one_object() -> None:
    done = run_script("CREATE POLICY p ON;", "--json")
    said = json.loads(done.stderr)
    assert said["exit_code"] == done.exit_code == 2
    assert said["script"] == "<stdin>"
    assert said["line"] == 1
    assert said["message"]


def test_an_error_never_prints_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SQLANON_DEBUG", raising=False)
    script = "CREATE TABLE t AS SELECT 'Alice has flu' AS secret; SELECT secret::INTEGER FROM t;"
    done = run_script(script)
    assert done.exit_code == 2
    assert "Alice" not in done.output
    assert "Alice" in run_script(script, "-vv").stderr


def test_what_ran_before_an_error_stays_and_the_rest_does_not_run(tmp_path: Path) -> None:
    database = tmp_path / "d.duckdb"
    done = run_script("CREATE TABLE a (x INT); CREATE TABLE a (x INT); CREATE TABLE b (x INT);", "--database", database)
    assert done.exit_code == 2
    with duckdb.connect(str(database)) as connection:
        assert connection.execute("SELECT table_name FROM duckdb_tables()").fetchall() == [("a",)]


def test_exit_code_1_for_a_check_that_is_not_satisfied() -> None:
    done = run_script(PATIENTS + "CHECK patients (age) REQUIRE k_anonymity(k => 11); SELECT 7 AS later;")
    assert done.exit_code == 1
    assert "<stdin>:5:1: error: CHECK patients: 1 of 1 requirements are not met" in done.stderr
    assert "later" in done.stdout


def test_exit_code_1_for_a_release_that_cannot_keep_its_promise() -> None:
    done = run_script(RELEASE.replace("k => 10", "k => 31"))
    assert done.exit_code == 1, done.stderr
    assert "error:" in done.stderr


@pytest.mark.parametrize(
    "arguments", [["run"], ["run", "x", "--nonsense"], ["nonsense"], ["run", "-", "--limit", "-1"]]
)
def test_exit_code_2_for_a_wrong_call(arguments: list[str]) -> None:
    done = invoke(*arguments)
    assert done.exit_code == 2
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "command", "words"),
    [
        (["verify"], "sqlanon verify", "'PATH'"),
        (["run", "x", "--nonsense"], "sqlanon run", "--nonsense"),
        (["nonsense"], "sqlanon", "nonsense"),
        (["run", "-", "--limit", "-1"], "sqlanon run", "--limit"),
        (["job", "run"], "sqlanon job run", "'SCRIPT'"),
        (["dataset"], "sqlanon dataset", "--json"),
    ],
)
def test_a_wrong_call_in_json_is_one_object(arguments: list[str], command: str, words: str) -> None:
    done = invoke(*arguments, "--json", prog_name="sqlanon")
    assert (done.exit_code, done.stdout) == (2, "")
    said = json.loads(done.stderr)
    assert (said["error"], said["script"], said["exit_code"]) == ("UserError", command, 2)
    assert words in said["message"]
    assert said["hint"] == f"{command} -h shows its arguments"


@pytest.mark.parametrize(("arguments", "code"), [(["run", "-"], 1), (["run", "--help"], 0)])
def test_a_call_in_json_that_is_right_ends_with_its_exit_code(arguments: list[str], code: int) -> None:
    unsatisfied = "CREATE TABLE t AS SELECT 1 AS a; CHECK t (a) REQUIRE k_anonymity(2)"
    assert invoke(*arguments, "--json", stdin=unsatisfied).exit_code == code


@pytest.mark.parametrize(
    ("typed", "completed"),
    [("", ["parquet", "csv", "duckdb", "arrow", "sqlite", "postgres"]), ("p", ["parquet", "postgres"]), ("x", [])],
)
def test_the_formats_of_an_export_are_completed(typed: str, completed: list[str]) -> None:
    words = {"COMP_WORDS": f"sqlanon export r out --format {typed}", "COMP_CWORD": "5"}
    done = invoke(prog_name="sqlanon", env={"_SQLANON_COMPLETE": "complete_bash", **words})
    assert done.stdout.split() == completed


def test_every_format_is_completed() -> None:
    files = Path(formats.__file__).parent.glob("*.py")
    there = {path.stem for path in files if not path.stem.startswith("_")} - {"base"}
    assert {*FORMATS} == there | {"postgres"}


def test_exit_code_2_for_a_database_that_cannot_be_opened(tmp_path: Path) -> None:
    (tmp_path / "text.duckdb").write_text("this is not a database, but long enough to be looked at" * 100)
    done = run_script("SELECT 1", "--database", tmp_path / "text.duckdb")
    assert done.exit_code == 2
    assert run_script("SELECT 1", "--database", tmp_path / "no" / "folder.duckdb").exit_code == 2


def test_exit_code_2_for_a_database_that_is_open_elsewhere(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "d.duckdb")):
        done = subprocess.run(
            [*SQLANON, "run", "-", "-d", tmp_path / "d.duckdb"], input="SELECT 1", capture_output=True, text=True
        )
    assert done.returncode == 2
    assert "open in another process" in done.stderr


def test_exit_code_3_for_a_defect(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: Any, **named: Any) -> Any:
        raise RuntimeError("Alice has flu")

    monkeypatch.delenv("SQLANON_DEBUG", raising=False)
    monkeypatch.setattr(session, "connect", broken)
    done = run_script("SELECT 1")
    assert done.exit_code == 3
    assert "unexpected RuntimeError" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Alice" not in done.stderr
    assert "Traceback" in run_script("SELECT 1", "-vv").stderr


def test_quiet_prints_errors_only() -> None:
    done = run_script(RELEASE + "SELECT 1;", "-q")
    assert (done.exit_code, done.output) == (0, "")
    assert "error:" in run_script("SELEC 1", "--quiet").stderr


def test_verbose_shows_the_sql_of_each_stage() -> None:
    done = run_script(RELEASE, "-v")
    stages = set(re.findall(r"^-- (\w+)$", done.stderr, re.MULTILINE))
    assert {"encode", "solve", "check", "publish"} <= stages
    assert "SELECT" in done.stderr


@pytest.mark.long
def test_explain_keeps_its_sql_for_those_who_ask() -> None:
    explain = PATIENTS + "EXPLAIN VERBOSE ANONYMIZED TABLE released AS POLICY p METHOD generalization;"
    assert "-v shows them" in run_script(explain).stdout
    assert "WITH" not in run_script(explain).stdout
    assert "\nWITH" in run_script(explain, "-v").stdout


@pytest.mark.parametrize(("limit", "lines"), [("3", 2 + 3 + 1), ("0", 102)])
def test_the_limit_of_rows(limit: str, lines: int) -> None:
    done = run_script("SELECT i FROM range(100) r(i)", "--limit", limit)
    assert done.stdout.count("\n") == lines


def test_a_statement_runs_once_however_its_result_is_read() -> None:
    done = run_script("CREATE TABLE t (i INT); INSERT INTO t VALUES (1); SELECT count(*) AS n FROM t;", "--limit", "1")
    assert done.stdout == "|  n |\n|---:|\n|  1 |\n".replace("  n", " n").replace("|---:|", "|--:|").replace(
        "  1", " 1"
    )


@pytest.mark.one_in(4)
@pytest.mark.parametrize("arguments", [["run", "-"], ["run", "-", "--json"], ["shell"], ["shell", "--json"]])
def test_every_type_is_shown(arguments: list[str]) -> None:
    """A moment in time, which needs a module that DuckDB does not bring, and all that test_all_types() has."""
    script = "SELECT now() AS moment, [now()] AS moments;\nFROM test_all_types();\n"
    done = subprocess.run([*SQLANON, *arguments], env=environment(), input=script, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "moments" in done.stdout
    assert "timestamp_tz_ns" in done.stdout


def test_a_missing_module_is_named() -> None:
    """Not withheld with the rows' values, and without the traceback that DuckDB passes on."""
    without = "import sys; sys.modules['pytz'] = None; "
    bare = f"{without} import duckdb; duckdb.execute('SELECT now()').fetchall()"
    if subprocess.run([sys.executable, "-c", bare], capture_output=True).returncode == 0:
        pytest.skip("this DuckDB needs no pytz")
    program = f"{without} from sqlanon.clients.terminal.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, "run", "-"],
        env=environment(),
        input="SELECT now();",
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert "the Python module pytz is missing" in done.stderr
    assert "pip install pytz" in done.stderr
    assert "File" not in done.stderr


def test_hostile_values_do_not_drive_the_terminal() -> None:
    done = run_script("SELECT chr(27) || '[31m' || chr(10) AS \"a\nb|c\"")
    assert "\x1b" not in done.stdout
    assert "\\x1b[31m\\n" in done.stdout
    assert "a\\nb\\|c" in done.stdout


@pytest.mark.long
def test_colours_on_a_terminal_and_nowhere_else(tmp_path: Path) -> None:
    script = tmp_path / "s.sql"
    script.write_text("SELECT 1 AS one; SELEC;")
    assert re.search(r"\x1b\[[0-9;]*31m", in_terminal("run", str(script)))
    without = in_terminal("run", str(script), NO_COLOR="1")
    assert not re.search(r"\x1b\[[0-9;]*3\dm", without)
    piped = subprocess.run([*SQLANON, "run", str(script)], capture_output=True, text=True)
    assert "\x1b" not in piped.stdout + piped.stderr


@pytest.mark.long
def test_progress_on_a_terminal_after_a_second(tmp_path: Path) -> None:
    script = tmp_path / "s.sql"
    script.write_text("SELECT count(*) FROM range(24_000_000) a(i) WHERE md5(i::VARCHAR) < '8';")
    seen = in_terminal("run", str(script))
    assert "0:00:0" in seen
    quick = tmp_path / "quick.sql"
    quick.write_text("SELECT 1;")
    assert "0:00:0" not in in_terminal("run", str(quick))


@pytest.mark.long
def test_a_reader_that_leaves_early_is_no_error() -> None:
    command = f"{shlex.join(SQLANON)} run - | head -1"
    script = "SELECT i FROM range(200000) r(i);"
    done = subprocess.run(command, shell=True, input=script, capture_output=True, text=True)
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""


@pytest.mark.long
def test_interrupting_a_run(tmp_path: Path) -> None:
    script = tmp_path / "s.sql"
    # Many short queries: DuckDB does not look at signals everywhere within a long one.
    slow = "SELECT count(*) FROM range(300_000) a(i) WHERE md5(i::VARCHAR) < '8';" * 3000
    script.write_text(f"SELECT 'begun' AS x; {slow} SELECT 'never' AS y;")
    process = subprocess.Popen(
        [*SQLANON, "run", str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell starts background jobs with interrupts ignored, which their children inherit.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        assert any("begun" in line for line in process.stdout)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
        assert "never" not in process.stdout.read()
        assert "Traceback" not in process.stderr.read()
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    ("typed", "parts"),
    [
        ("released", ("released",)),
        ("main.released", ("main", "released")),
        ('main."a.b"', ("main", "a.b")),
        ('"say ""x"""', ('say "x"',)),
        ("two words", ("two words",)),
        ('odd"name', ('odd"name',)),
        ("ends.", ("ends.",)),
        ("", ("",)),
    ],
)
def test_the_name_of_a_release_on_the_command_line(typed: str, parts: tuple[str, ...]) -> None:
    assert release_name(typed).parts == parts


def test_labels() -> None:
    script = "/* SELECT */ insert into t values (1); (SELECT 1); EXPORT r TO 'x'; DROP ANONYMIZED VIEW s.v;"
    assert [statement.label() for statement in parse_script(script)] == [
        "INSERT",
        "SELECT",
        "EXPORT r",
        "DROP ANONYMIZED VIEW s.v",
    ]


@pytest.mark.long
def test_export_writes_a_release(tmp_path: Path) -> None:
    database = tmp_path / "d.duckdb"
    assert run_script(RELEASE, "--database", database).exit_code == 0
    target = tmp_path / "out"
    done = invoke("export", "released", target, "--database", database, "--format", "parquet")
    assert done.exit_code == 0, done.stderr
    assert str(target) in done.stdout
    assert target.exists()
    assert invoke("export", "released", target, "--database", database).exit_code == 2
    assert invoke("export", "released", target, "--database", database, "--replace").exit_code == 0
    read_only = invoke("export", "released", tmp_path / "again", "--database", database, "--read-only")
    assert read_only.exit_code == 0
    assert "nothing remembers this export" in read_only.stderr
    assert invoke("export", "released", tmp_path / "told", "--database", database, "--report").exit_code == 0
    assert (tmp_path / "told.report.html").is_file()
    assert invoke("export", "missing", tmp_path / "x", "--database", database).exit_code == 2
    assert invoke("export", "released", tmp_path / "x", "--database", tmp_path / "typo.duckdb").exit_code == 2
    assert not (tmp_path / "typo.duckdb").exists()


def test_migrate(tmp_path: Path) -> None:
    database = tmp_path / "d.duckdb"
    assert invoke("migrate", database).exit_code == 2
    assert run_script(PATIENTS, "--database", database).exit_code == 0
    done = invoke("migrate", database, "--json")
    assert (done.exit_code, json.loads(done.stdout)) == (0, {"database": str(database), "applied": []})
    with duckdb.connect(str(tmp_path / "empty.duckdb")):
        pass
    assert invoke("migrate", tmp_path / "empty.duckdb").exit_code == 0


def test_migrate_refuses_a_changed_catalog(tmp_path: Path) -> None:
    database = tmp_path / "d.duckdb"
    assert run_script(PATIENTS, "--database", database).exit_code == 0
    with duckdb.connect(str(database)) as connection:
        connection.execute("UPDATE anon.schema_version SET sha256 = 'x'")
    assert invoke("migrate", database).exit_code == 2


@pytest.mark.long
def test_dataset_adult(tmp_path: Path, with_adult: Path) -> None:
    database = tmp_path / "d.duckdb"
    done = invoke("dataset", "adult", "--database", database, "--table", "people", "--json")
    assert (done.exit_code, json.loads(done.stdout)["rows"]) == (0, 48_842)
    again = invoke("dataset", "adult", "--database", database, "--table", "people")
    assert again.exit_code == 2
    assert "--replace" in again.stderr
    assert invoke("dataset", "adult", "--database", database, "--table", "people", "--replace").exit_code == 0


@pytest.mark.long
def test_the_demo_twice_and_its_commands(tmp_path: Path, with_adult: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = subprocess.run([*SQLANON, "demo"], capture_output=True, text=True, env=environment())
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    for said in (
        "k_anonymity(k => 5), l_diversity(l => 2",
        "the short way",
        "Its release: satisfied",
        "45,222 in",
        "sqlanon-demo/release",
    ):
        assert said in done.stdout
    # Nobody would sign a release about which the demonstration itself warns.
    assert "warning" not in done.stderr
    certificate = re.search(r"certificate\s+(\S+) .*, (\S+)", done.stdout)
    release = re.search(r"release\s+(\S+)", done.stdout)
    assert certificate is not None
    assert release is not None
    assert Path(certificate[1]).is_file()
    assert Path(certificate[1]).with_name(certificate[2]).is_file()
    assert Path(release[1]).exists()
    page = Path("sqlanon-demo/report.html").read_text(encoding="utf-8")
    assert "it leaves a gap" not in page

    again = invoke("demo", "--json")
    assert again.exit_code == 0, again.stderr
    summary = json.loads(again.stdout)
    assert summary["reached"]["satisfied"] is True
    assert summary["reached"]["source_rows"] == 45_222
    assert summary["reached"]["suppressed_rows"] <= 0.02 * 45_222
    required = {(row["question"], row["attribute"]): row for row in summary["summary"]["required"]}
    assert required[("probabilistic_l_diversity", "occupation")]["satisfied"]
    assert summary["short"]["satisfied"]
    [short], [guess] = summary["short"]["guesses"], summary["summary"]["guesses"]
    assert short["highest"] > 0.5
    assert (guess["column"], guess["highest"] <= 0.5) == ("occupation", True)
    # The third shows what the source does not satisfy.
    assert [_pasted(command) for command in summary["next"]] == [0, 0, 1, 0]
    assert Path("sqlanon-demo/short/certificate.json").exists()
    assert Path("sqlanon-demo/release-csv").exists()


def _pasted(command: str) -> int:
    done = subprocess.run(command, shell=True, env=environment(), stdin=subprocess.DEVNULL, capture_output=True)
    return done.returncode


def test_the_demo_says_what_a_report_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object) -> None:
        raise UserError("a report needs altair", hint="pip install 'sqlanon[report]'")

    monkeypatch.setattr(demo, "write_report", missing)
    assert demo._report(None) == "a report needs altair: pip install 'sqlanon[report]'"


@pytest.mark.long
def test_an_earlier_demo_survives_one_that_cannot_fetch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SQLANON_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    (tmp_path / "sqlanon-demo.duckdb").write_text("the earlier one")
    done = invoke("demo", "--directory", tmp_path)
    assert done.exit_code == 2
    assert "place it at" in done.stderr
    assert (tmp_path / "sqlanon-demo.duckdb").read_text() == "the earlier one"


def test_the_demo_says_where_it_cannot_write(tmp_path: Path, with_adult: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    done = invoke("demo", "--directory", tmp_path / "file")
    assert done.exit_code == 2
    assert "--directory" in done.stderr


@pytest.mark.long
def test_a_run_in_memory_says_that_nothing_was_kept(tmp_path: Path) -> None:
    done = run_script(RELEASE)
    assert done.exit_code == 0
    assert "warning: 1 release kept nowhere" in done.stderr
    assert "kept nowhere" not in run_script(PATIENTS).stderr
    assert "kept nowhere" not in run_script(RELEASE, "-d", tmp_path / "x.duckdb").stderr
    exported = RELEASE + f"EXPORT released TO '{tmp_path}/out/';"
    assert "kept nowhere" not in run_script(exported).stderr


@pytest.mark.long
def test_read_only(tmp_path: Path) -> None:
    database = tmp_path / "x.duckdb"
    run_script(RELEASE, "-d", database)
    done = run_script("CHECK released; SHOW RELEASES;", "-d", database, "--read-only")
    assert done.exit_code == 0
    refused = run_script(
        "CREATE ANONYMIZED TABLE other AS POLICY p METHOD generalization;", "-d", database, "--read-only"
    )
    assert refused.exit_code == 2
    assert "read" in refused.stderr
    assert run_script("SELECT 1", "-d", tmp_path / "y.duckdb", "--read-only").exit_code == 2
    assert not (tmp_path / "y.duckdb").exists()


@pytest.mark.long
def test_many_readers_of_one_file(tmp_path: Path) -> None:
    database = tmp_path / "x.duckdb"
    run_script(RELEASE, "-d", database)
    # A reader in another process.
    code = (
        f"import duckdb, sys; c = duckdb.connect({str(database)!r}, read_only=True); print('open', flush=True); input()"
    )
    reader = [sys.executable, "-c", code]
    with running(reader, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout
        assert other.stdout.readline() == "open\n"
        command = [*SQLANON, "run", "-", "-d", str(database)]
        for arguments, code_expected in ((["--read-only"], 0), ([], 2)):
            done = subprocess.run([*command, *arguments], input="CHECK released;", text=True, capture_output=True)
            assert done.returncode == code_expected, done.stderr
        other.communicate("\n")


@pytest.mark.parametrize(
    ("value", "kind"), [("5", "INTEGER"), ("0.5", "DOUBLE"), ("five", "VARCHAR"), ("a=b", "VARCHAR")]
)
def test_variables_of_a_run(value: str, kind: str) -> None:
    done = run_script("SELECT typeof(getvariable('k')) AS kind, getvariable('k') AS k", "--set", f"k={value}")
    assert f"| {kind}" in done.stdout
    assert value in done.stdout


@pytest.mark.parametrize("setting", ["k", "=5", "a b=5", 'k"=5'])
def test_a_variable_needs_a_name(setting: str) -> None:
    done = run_script("SELECT 1", "--set", setting)
    assert done.exit_code == 2
    assert "NAME=VALUE" in done.stderr


def test_a_table_is_looked_at_without_a_verdict() -> None:
    done = run_script(PATIENTS + "CHECK patients (age) SENSITIVE disease;")
    assert done.exit_code == 0
    assert "prosecutor_risk" in done.stdout
    assert "required" not in done.stdout
    assert "CHECK patients: measured" in done.stderr


def test_an_error_has_its_line_with_a_caret() -> None:
    done = run_script("SELECT 1;\nCREATE POLICY p\n  ON nowhere (a QUASI IDENTIFIER) REQUIRE k_anonymity(3);")
    assert done.stderr.startswith("<stdin>:3:6: error: policy p: there is no table or view nowhere\n")
    assert "  LINE 3:   ON nowhere (a QUASI IDENTIFIER) REQUIRE k_anonymity(3);\n               ^\n" in done.stderr
