"""`sqlanon anonymize` and `sqlanon profile`: data files in, and files that pandas counts again out."""

from __future__ import annotations

import gzip
import inspect
import json
import os
import pty
import shlex
import signal
import stat
import subprocess
import time
from pathlib import Path
from typing import Any

import duckdb
import pandas
import pytest
from typer.testing import Result

import sqlanon
from sqlanon import PrivacyRemark
from sqlanon.clients.frames.data_files import DataFile
from sqlanon.clients.terminal.files import commands
from sqlanon.clients.terminal.files.named_data import data_of
from sqlanon.clients.terminal.files.proposal import with_options
from sqlanon.domain.numbers import per_cent
from sqlanon.domain.policy import K_BY_DEFAULT, L_BY_DEFAULT, ROWS_ALIKE, VALUES_OF_A_CLASS
from tests.support.command_line import SQLANON, environment, invoke

_PEOPLE = pandas.DataFrame(
    {
        "name": [f"Person {i}" for i in range(120)],
        "email": [f"p{i}@example.org" for i in range(120)],
        "age": [20 + i * 7 % 40 for i in range(120)],
        "sex": ["FM"[i % 2] for i in range(120)],
        "zip": [10_000 + i * 13 % 30 for i in range(120)],
        "diagnosis": [["Flu", "Cold", "Asthma"][i * i % 7 % 3] for i in range(120)],
    }
)
_LISTS = ("--known", "age,sex,zip", "--secret", "diagnosis")
# Without a comparison of methods, for tests that are about something else.
_QUICK = (*_LISTS, "--method", "mondrian")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with people.csv, which is the current one."""
    monkeypatch.chdir(tmp_path)
    _PEOPLE.to_csv("people.csv", index=False)
    return tmp_path


def anonymize(*arguments: str | Path, stdin: str | None = None) -> Result:
    return invoke("anonymize", *arguments, stdin=stdin)


def summary(*arguments: str | Path) -> dict[str, Any]:
    done = anonymize(*arguments, "--json")
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def recounted(rows: pandas.DataFrame, known: list[str], secret: str) -> tuple[int, int]:
    """The k and the l of published rows."""
    classes = rows.groupby(known, dropna=False)[secret]
    return int(classes.size().min()), int(classes.nunique(dropna=False).min())


def test_eight_lines_say_what_pandas_counts_in_the_files(folder: Path) -> None:
    done = anonymize("people.csv", *_LISTS, "-o", "out/")
    assert done.exit_code == 0, done.stderr
    rows = pandas.read_csv("out/people.csv")
    k, l = recounted(rows, ["age", "sex", "zip"], "diagnosis")  # noqa: E741
    assert k >= 5
    assert l >= 2
    lines = dict(line.split(":", 1) for line in done.stdout.splitlines())
    assert [*lines] == ["rows", "required", "method", "columns", "counts", "guess", "no promise", "files"]
    assert lines["rows"].strip() == f"120 in, {len(rows)} out, " + (
        "none left out" if len(rows) == 120 else f"{120 - len(rows)} left out"
    )
    assert lines["required"].strip() == (
        f"at least 5 rows look alike ({k} reached); "
        f"at least 2 values of diagnosis among those that look alike ({l} reached)"
    )
    # Known, secret and k are all that a reader has to know.
    for word in ("anonymity", "diversity", "identifier", "sensitive", "hierarch", "policy", "granularity", "entropy"):
        assert word not in (done.stdout + done.stderr).lower()
    assert list(rows.columns) == ["age", "sex", "zip", "diagnosis"]
    assert lines["columns"].endswith("not published: name, email")
    assert lines["files"].strip() == "out/people.csv, out/certificate.json, out/certificate.md"
    assert sorted(os.listdir("out")) == ["certificate.json", "certificate.md", "people.csv"]
    surest = rows.groupby(["age", "sex", "zip"])["diagnosis"].agg(
        lambda group: group.value_counts(normalize=True).max()
    )
    assert f"with at most {100 * surest.max():.2g} %" in lines["guess"]
    assert invoke("verify", "out/").exit_code == 0


def _written_as(kind: str) -> str:
    match kind:
        case "parquet":
            _PEOPLE.to_parquet("people.parquet")
        case "json":
            _PEOPLE.to_json("people.json", orient="records")
        case "jsonl":
            _PEOPLE.to_json("people.jsonl", orient="records", lines=True)
        case "tsv":
            _PEOPLE.to_csv("people.tsv", sep="\t", index=False)
        case "csv.gz":
            _PEOPLE.to_csv("people.csv.gz", index=False)
        case "txt":
            _PEOPLE.to_csv("people.txt", sep=";", index=False)
        case "none":
            _PEOPLE.to_csv("people", index=False)
            return "people"
        case "duckdb:people" | "duckdb:clinic.people":
            with duckdb.connect("people.duckdb") as connection:
                connection.register("frame", _PEOPLE)
                connection.execute("CREATE SCHEMA clinic; CREATE TABLE clinic.people AS FROM frame")
    return f"people.{kind}"


_KINDS = ["parquet", "json", "jsonl", "tsv", "csv.gz", "txt", "none", "duckdb:people", "duckdb:clinic.people"]


@pytest.mark.parametrize("kind", _KINDS)
def test_files_of_all_kinds_are_read(folder: Path, kind: str) -> None:
    """The rows that a release is made of are those of the file, and the statements of a script read them again."""
    with data_of([_written_as(kind)]) as data, duckdb.connect() as connection, duckdb.connect() as another:
        data = data.load(connection)
        for statement in data.statements():
            another.execute(statement)
        for each in (connection, another):
            assert each.execute("FROM source").fetchall() == [*_PEOPLE.itertuples(index=False, name=None)]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_script_makes_the_same_release_again(folder: Path, kind: str) -> None:
    _PEOPLE.to_parquet("people.parquet")
    said = summary(f"people.{kind}", *_LISTS, "-o", "out.csv", "--script", "again.sql")
    rows = pandas.read_csv("out.csv")
    assert (said["source_rows"], said["released_rows"]) == (120, len(rows))
    k, l = recounted(rows, ["age", "sex", "zip"], "diagnosis")  # noqa: E741
    assert {each["question"]: each["achieved"] for each in said["required"]} == {
        "k_anonymity": k,
        "distinct_l_diversity": l,
    }
    # The script makes the same again, somewhere else.
    again = Path("again.sql").read_text().replace("out.csv", "more.csv")
    assert invoke("run", "-", stdin=again).exit_code == 0
    assert recounted(pandas.read_csv("more.csv"), ["age", "sex", "zip"], "diagnosis") == (k, l)


@pytest.mark.long
def test_a_file_of_stata_has_the_labels_of_its_values_and_columns(folder: Path) -> None:
    """Value labels are published in place of codes, days as dates, and PROFILE reads the labels of columns."""
    coded = _PEOPLE[["age", "sex", "zip"]].assign(
        sex=pandas.Categorical(_PEOPLE["sex"].map({"F": "female", "M": "male"})),
        q1=pandas.Categorical(_PEOPLE["diagnosis"]),
        seen=pandas.Timestamp("2024-03-01") + pandas.to_timedelta(_PEOPLE.index % 30, unit="D"),
    )
    labels = {"q1": "Diagnosis by a doctor"}
    coded.to_stata("survey.dta", write_index=False, convert_dates={"seen": "td"}, variable_labels=labels)
    said = json.loads(invoke("profile", "survey.dta", "--json").stdout)
    assert {each["column"]: each["use"] for each in said["columns"]}["q1"] == "secret"
    lists = ("--known", "age,sex,seen", "--secret", "q1")
    done = anonymize("survey.dta", *lists, "-o", "out/", "--script", "again.sql")
    assert done.exit_code == 0, done.stderr
    rows = pandas.read_csv("out/survey.csv")
    assert recounted(rows, ["age", "sex", "seen"], "q1") >= (5, 2)
    assert {*rows["q1"]} == {"Flu", "Cold", "Asthma"}
    assert not rows.astype(str).apply(lambda column: column.str.contains("00:00")).any().any()
    pandas.read_stata("survey.dta").to_parquet("survey.parquet")
    assert invoke("run", "-", stdin=Path("again.sql").read_text().replace("out/", "again/")).exit_code == 0
    released = sqlanon.anonymize("survey.dta", known=["age", "sex", "seen"], secret=["q1"])
    assert recounted(released, ["age", "sex", "seen"], "q1") >= (5, 2)
    assert {*released["q1"]} == {*rows["q1"]}


def test_a_column_of_stata_whose_labels_are_ambiguous_keeps_its_codes(folder: Path) -> None:
    """Two codes of `sex` have the label male; the labels of other columns are read."""
    people = _PEOPLE[["age", "sex", "diagnosis"]].assign(sex=_PEOPLE.index % 3 + 1)
    labels: Any = {"sex": {1: "female", 2: "male", 3: "male"}}
    coded = people.assign(diagnosis=pandas.Categorical(people["diagnosis"]))
    coded.to_stata("survey.dta", write_index=False, value_labels=labels)
    remark = "sex is read as codes, because two of them have the same label"
    said = summary("survey.dta", "--known", "age,sex", "--secret", "diagnosis", "--method", "mondrian", "-o", "o.csv")
    assert said["remarks"][0] == remark
    rows = pandas.read_csv("o.csv")
    assert not rows["sex"].astype(str).str.contains("male").any()
    assert {*rows["diagnosis"]} == {"Flu", "Cold", "Asthma"}
    with pytest.warns(PrivacyRemark, match=remark):
        released = sqlanon.anonymize("survey.dta", known=["age", "sex"], secret=["diagnosis"], method="mondrian")
    # The path is read once more, so the error of counts is known.
    assert released.summary.count_error is not None
    assert released.summary.count_error.reason is None


def test_standard_input(folder: Path) -> None:
    done = anonymize("-", *_QUICK, "-o", "in/", stdin=Path("people.csv").read_text())
    assert done.exit_code == 0, done.stderr
    assert len(pandas.read_csv("in/anonymized.csv")) == 120


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="files without a name are read by /proc")
def test_standard_input_is_in_no_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = folder / "kept"
    kept.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(kept))
    with Path("people.csv").open() as people:
        monkeypatch.setattr("sys.stdin", people)
        with data_of(["-"]) as data, duckdb.connect() as connection:
            data.load(connection)
            assert list(kept.iterdir()) == []
            assert connection.execute("FROM source").df().equals(_PEOPLE)


def test_several_files(folder: Path) -> None:
    Path("people-2.csv").write_text(Path("people.csv").read_text())
    for files, rows in ((["people-*.csv"], 120), (["people.csv", "people-2.csv"], 240)):
        with data_of(files) as data, duckdb.connect() as connection:
            data.load(connection)
            assert connection.execute("SELECT count(*) FROM source").fetchone() == (rows,)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "name", ['it\'s "x".csv', "a[1].csv", "日本 x.csv", "-o.csv", "a*b?.csv", "x\n; SELECT 1;.csv"]
)
def test_hostile_names_of_files(folder: Path, name: str) -> None:
    Path("people.csv").rename(name)
    done = anonymize(*_QUICK, "-o", "it's [*] out/", "--script", "again.sql", "--", name)
    assert done.exit_code == 0, done.stderr
    [rows] = list(Path("it's [*] out").glob("*.csv"))
    assert len(pandas.read_csv(rows)) == 120
    assert len(done.stdout.splitlines()) == 8
    Path("it's [*] out").rename("elsewhere")
    assert invoke("run", "again.sql").exit_code == 0
    assert Path("it's [*] out", rows.name).exists()


def test_hostile_names_of_columns(folder: Path) -> None:
    names = {"age": 'a,"b', "sex": "select", "zip": "post code; --", "diagnosis": "d'x"}
    _PEOPLE.rename(columns=names).to_csv("people.csv", index=False)
    known = '"a,""b",SELECT,post code; --'
    lists = ("--known", known, "--secret", "d'x", "--method", "mondrian")
    rows = summary("people.csv", *lists, "-o", "out.csv")["released_rows"]
    assert list(pandas.read_csv("out.csv").columns) == [*names.values()]
    assert rows == 120


@pytest.mark.parametrize(
    ("arguments", "code", "message", "hint"),
    [
        (
            ("people.csv", "--known", "agee", "--secret", "diagnosis", "-o", "o"),
            2,
            "no column agee",
            "did you mean age?",
        ),
        (("people.csv", "--known", "age", "--secret", "xyz", "-o", "o"), 2, "no column xyz", "it has name, email, age"),
        (("people.csv", "--known", "“age”", "--secret", "zip", "-o", "o"), 2, "typographic", "--known age"),
        (
            ("people.csv", "--known", "age,zip", "--secret", "ZIP", "-o", "o"),
            2,
            "zip is listed both in --known",
            "is one of them",
        ),
        (("people.csv", "--known", "", "--secret", "zip", "-o", "o"), 2, "no column is named as known", "--known"),
        (("people.csv", "--known", "age,email", "--secret", "zip", "-o", "o"), 2, "email identifies people", "--allow"),
        (("notes.csv", "--known", "age", "--secret", "pay", "-o", "o"), 2, "100 % of its values are", "--allow pay"),
        (("notes.csv", "--known", "age", "--secret", "note", "-o", "o"), 2, "free text", "--allow note"),
        (("notes.csv", "--known", "age,told", "--secret", "", "-o", "o"), 2, "free text", "--allow told"),
        (
            ("people.csv", *_LISTS, "--k", "121", "-o", "o"),
            1,
            "k = 121 is more than",
            "--k 120 is the largest possible value",
        ),
        (("people.csv", *_LISTS, "--l", "4", "-o", "o"), 1, "diagnosis has 3 different values", "--l 3"),
        (("people.csv", *_LISTS, "--k", "1", "-o", "o"), 2, "protects nobody", "--k 5"),
        (("people.csv", *_LISTS), 2, "no folder is named for the files", "-o out/"),
        (("people.csv", *_LISTS, "-o", "."), 2, ". has files in it", "--replace"),
        (("people.csv", *_LISTS, "-o", "people.csv", "--replace"), 2, "people.csv", ""),
        (("people.csv", *_LISTS, "-o", "people.csv"), 2, "people.csv exists already", "--replace"),
        (("people.csv", *_LISTS, "-o", "o", "--format", "docx"), 2, "no format", "csv"),
        (("people.csv", *_LISTS, "-o", "o", "--method", "nothing"), 2, "no method", ""),
        (("poeple.csv", *_LISTS, "-o", "o"), 2, "there is no file poeple.csv", "did you mean people.csv?"),
        (("deep.csv", *_LISTS, "-o", "o"), 2, "there is no file deep.csv", "did you mean below/deep.csv?"),
        (("people.sql", *_LISTS, "-o", "o"), 2, "there is no file people.sql", "a path begins in the folder"),
        (("people.csv", "--known", "age;zip", "-o", "o"), 2, "no column age;zip", "commas: --known age,zip"),
        (("x*.csv", *_LISTS, "-o", "o"), 2, "no file fits x*.csv", ""),
        (("empty.csv", *_LISTS, "-o", "o"), 2, "empty.csv is empty", "header"),
        (("header.csv", *_LISTS, "-o", "o"), 2, "header.csv has no rows", "row"),
        (("windows.csv", *_LISTS, "-o", "o"), 2, "windows.csv is text in an encoding that is neither", "iconv"),
        (("windows.csv", *_LISTS, "--encoding", "latin-1", "-o", "o"), 2, "that is neither UTF-8 nor", "iconv"),
        (("some.duckdb", *_LISTS, "-o", "o"), 2, "is a DuckDB file with tables", "some.duckdb:t"),
        (("some.duckdb:tt", *_LISTS, "-o", "o"), 2, "no table tt", "did you mean t?"),
        (("some.sqlite", *_LISTS, "-o", "o"), 2, "is a SQLite file", "sqlanon import"),
        (("book.xlsx", *_LISTS, "-o", "o"), 2, "extension for it is not installed", "INSTALL excel"),
        (("binary.bin", *_LISTS, "-o", "o"), 2, "is not a data file", "CSV"),
        (
            ("survey.dta", *_LISTS, "-o", "o"),
            2,
            "survey.dta cannot be read as a Stata file",
            "is the copy whole?",
        ),
        (("survey.sav", *_LISTS, "-o", "o"), 2, "survey.sav is a file of SPSS", "pandas.read_spss('survey.sav')"),
        ((".", *_LISTS, "-o", "o"), 2, ". is a folder", "*.csv"),
        (("people.csv", "some.duckdb", *_LISTS, "-o", "o"), 2, "DuckDB file", ""),
        (("-", "people.csv", *_LISTS, "-o", "o"), 2, "cannot be combined with files", ""),
    ],
)
def test_requests_that_cannot_be_met(
    folder: Path, arguments: tuple[str, ...], code: int, message: str, hint: str
) -> None:
    Path("empty.csv").touch()
    Path("below").mkdir()
    Path("below/deep.csv").touch()
    Path("header.csv").write_text("age,zip\n")
    notes = "".join(
        f"{age % 5},{age * 17},{'on and on ' * 7}{age % 10},lives with Eva {age * 3 // 4}\n" for age in range(60)
    )
    Path("notes.csv").write_text(f"age,pay,note,told\n{notes}")
    Path("windows.csv").write_bytes("age,diagnosis\n3,Crohn\u2019s\n".encode("windows-1252"))
    Path("some.sqlite").write_bytes(b"SQLite format 3\0" + bytes(100))
    Path("book.xlsx").write_bytes(b"PK\x03\x04" + bytes(100))
    Path("binary.bin").write_bytes(bytes(1000))
    Path("survey.dta").write_bytes(b"<stata_dta><header>" + bytes(100))
    Path("survey.sav").write_bytes(b"$FL2" + bytes(100))
    if any("duckdb" in argument for argument in arguments):
        with duckdb.connect("some.duckdb") as connection:
            connection.execute("CREATE TABLE t AS SELECT 1 AS age")
    before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    done = anonymize(*arguments)
    assert (done.exit_code, done.stdout) == (code, "")
    error, *_ = done.stderr.splitlines()
    assert error.startswith("error: ")
    assert message in error
    assert hint in done.stderr
    assert "Traceback" not in done.stderr
    assert {path: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before
    assert not Path("o").exists()


@pytest.mark.parametrize(
    ("option", "meant"), [("--quasi", "--known"), ("--qi", "--known"), ("--sensitive", "--secret")]
)
def test_options_of_other_tools_are_answered_with_those_that_are_meant(folder: Path, option: str, meant: str) -> None:
    done = anonymize("people.csv", option, "age", "-o", "o")
    assert done.exit_code == 2
    assert f"(Possible options: {meant})" in " ".join(done.stderr.split())
    assert not Path("o").exists()


def test_a_pipe_is_shown_the_command_that_profile_proposes(folder: Path) -> None:
    done = anonymize("people.csv")
    assert done.exit_code == 2
    said, _, proposed = done.stderr.strip().partition("sqlanon anonymize ")
    assert said.endswith("what PROFILE proposes without name, email, for you to judge: ")
    assert proposed == "people.csv --known age,sex,zip --secret diagnosis -o out/"
    assert anonymize(*shlex.split(proposed), "--dry-run").exit_code == 0
    partly = anonymize("people.csv", "--known", "zip,age", "-o", "there/")
    assert "without name, email, sex, for you to judge" in partly.stderr
    assert "--known age,zip --secret diagnosis -o there/" in partly.stderr


@pytest.mark.one_in(2)
def test_a_secret_that_would_be_refused_is_not_proposed(folder: Path) -> None:
    pay = _PEOPLE.drop(columns=["name", "email"]).assign(**{"Netto (EUR)": [1000 + 17 * i for i in range(120)]})
    pay.to_csv("people.csv", index=False)
    said = json.loads(invoke("profile", "people.csv", "--json").stdout)
    [why] = [each["why"] for each in said["columns"] if each["column"] == "Netto (EUR)"]
    assert "100 % of its values are different" in why
    assert why.endswith("publish it with --secret 'Netto (EUR)' --allow 'Netto (EUR)'")
    assert said["command"].endswith("--known age,sex,zip --secret diagnosis -o out/")
    assert "--secret diagnosis,'Netto (EUR)' --allow" in anonymize("people.csv", "--allow", "Netto (EUR)").stderr


@pytest.mark.one_in(2)
def test_no_release_of_one_row_is_proposed(folder: Path) -> None:
    # Of three rows k = 3 is the greatest.
    for rows, shown in ((1, "No release is proposed"), (3, " --k 3 ")):
        _PEOPLE[:rows].to_csv("few.csv", index=False)
        assert shown in invoke("profile", "few.csv").stdout
        few = anonymize("few.csv")
        assert (few.exit_code, f"k = 5 is more than few.csv has: {rows} row" in few.stderr) == (1, True)


@pytest.mark.long
def test_a_secret_that_tells_people_apart_is_published_when_it_is_allowed(folder: Path) -> None:
    rows = "".join(f"{i % 5},{i * 17}\n" for i in range(60))
    Path("pay.csv").write_text(f"age,pay\n{rows}")
    done = anonymize("pay.csv", "--known", "age", "--secret", "pay", "--allow", "pay", "-o", "o")
    assert (done.exit_code, len(pandas.read_csv("o/pay.csv"))) == (0, 60)
    assert "remark: pay (SENSITIVE) identifies most rows" in done.stderr
    # Of few rows chance makes all values different.
    Path("few.csv").write_text(f"age,pay\n{rows[: rows.index('4,323')]}".replace("age", "born"))
    assert anonymize("few.csv", "--known", "born", "--secret", "pay", "-k", "3", "-o", "few").exit_code == 0


def test_a_release_without_a_secret(folder: Path) -> None:
    # Nothing is left that could be secret.
    assert anonymize("people.csv", "--known", "zip,age", "--drop", "diagnosis", "-o", "there/").exit_code == 0
    assert anonymize("people.csv", "--known", "zip,age", "--secret", "", "-o", "others/").exit_code == 0


def test_an_earlier_release_is_replaced_when_asked(folder: Path) -> None:
    assert anonymize("people.csv", *_QUICK, "-o", "out/").exit_code == 0
    before = Path("out/people.csv").read_bytes()
    assert anonymize("people.csv", *_QUICK, "-o", "out/").exit_code == 2
    assert Path("out/people.csv").read_bytes() == before
    done = anonymize("people.csv", *_QUICK, "-o", "out/", "--replace", "--k", "20")
    assert done.exit_code == 0, done.stderr
    assert recounted(pandas.read_csv("out/people.csv"), ["age", "sex", "zip"], "diagnosis")[0] >= 20


def test_a_dry_run_writes_nothing(folder: Path) -> None:
    done = anonymize("people.csv", *_QUICK, "-o", "out/", "--dry-run")
    assert (done.exit_code, len(done.stdout.splitlines())) == (0, 8)
    assert done.stdout.splitlines()[-1].endswith("none were written")
    assert os.listdir() == ["people.csv"]


def test_people_with_several_rows_count_once(folder: Path) -> None:
    _PEOPLE.assign(person=[i // 4 for i in range(120)]).to_csv("people.csv", index=False)
    lists = ("--known", "sex", "--secret", "diagnosis", "--entity", "person")
    assert summary("people.csv", *lists, "-o", "out.csv")["not_published"] == ["name", "email", "age", "zip", "person"]
    refused = anonymize("people.csv", *lists, "--k", "31", "--dry-run")
    assert (refused.exit_code, "--k 30 is the largest possible value" in refused.stderr) == (1, True)


def test_texts_that_mean_a_missing_value(folder: Path) -> None:
    people = _PEOPLE.astype({"age": str})
    people.loc[::10, "age"] = "?"
    people.to_csv("people.csv", index=False)
    said = summary("people.csv", *_LISTS, "--null", "?", "-o", "out.csv", "--script", "-")
    assert "read_csv('people.csv', nullstr => ['', '?'])" in said["statements"][0]
    assert not pandas.read_csv("out.csv")["age"].astype(str).str.contains("?", regex=False).any()
    Path("people.csv").write_bytes(
        b"age,town\n" + "".join(f"{i % 3},M\u00fcnchen\n" for i in range(30)).encode("latin-1")
    )
    said = summary("people.csv", "--known", "age,town", "--secret", "", "--encoding", "latin-1", "--dry-run")
    assert said["source_rows"] == 30


@pytest.mark.parametrize(
    ("encoding", "read_as"), [("latin-1", "not UTF-8 text, and is read as latin-1"), ("utf-16", "UTF-16 text, and")]
)
def test_an_encoding_that_the_bytes_show_needs_no_option(folder: Path, encoding: str, read_as: str) -> None:
    text = "age,town\n" + "0,Ulm\n1,M\u00fcnchen\n2,Ulm\n0,M\u00fcnchen\n1,Ulm\n2,M\u00fcnchen\n" * 5
    Path("people.csv").write_bytes(text.encode(encoding))
    said = summary("people.csv", "--known", "age", "--secret", "town", "--script", "-", "-o", "out.csv")
    assert f"encoding => '{encoding}'" in said["statements"][0]
    assert set(pandas.read_csv("out.csv")["town"]) == {"Ulm", "M\u00fcnchen"}
    assert read_as in said["remarks"][0]
    assert read_as in json.loads(invoke("profile", "people.csv", "--json").stdout)["read"][0]
    with pytest.warns(PrivacyRemark, match=read_as):
        released = sqlanon.anonymize("people.csv", known=["age"], secret=["town"])
    assert set(released["town"]) == {"Ulm", "M\u00fcnchen"}


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        ("Crohn\u2019s\n".encode("windows-1252"), None),
        ("M\u00fcnchen\n".encode("latin-1") + "M\u00fcnchen\n".encode(), None),
        (b"\xfe\xff" + "M\u00fcnchen\n".encode("utf-16-be"), None),
        ("M\u00fcnchen\n".encode("latin-1"), "latin-1"),
        ("M\u00fcnchen\n".encode("utf-16-le"), None),
        ("M\u00fcnchen\n".encode(), None),
        (b"plain\n", None),
        (gzip.compress("M\u00fcnchen\n".encode(), mtime=0), None),
    ],
)
def test_no_encoding_is_inferred_from_bytes_that_have_several_or_none(
    folder: Path, content: bytes, encoding: str | None
) -> None:
    Path("town.csv").write_bytes(content)
    Path("plain.csv").write_text("Ulm\n")
    data = DataFile("town.csv", "town", "csv", ("plain.csv", "town.csv")).in_its_encoding()
    assert dict(data.options).get("encoding") == (f"'{encoding}'" if encoding else None)


def test_a_number_that_becomes_a_text_far_below(folder: Path) -> None:
    lines = "".join(f"{i % 50},Flu\n" for i in range(30_000)) + "unknown,Flu\n" * 5
    Path("people.csv").write_text(f"age,disease\n{lines}")
    said = summary("people.csv", "--known", "age", "--secret", "disease", "--l", "1", "--dry-run")
    assert said["source_rows"] == 30_005
    assert "sample_size => -1" in said["statements"][0]


def test_folders_that_cannot_be_written(folder: Path) -> None:
    closed = folder / "closed"
    closed.mkdir(mode=0o500)
    done = anonymize("people.csv", *_LISTS, "--method", "mondrian", "-o", closed / "out")
    if os.geteuid():
        assert (done.exit_code, "cannot be written by you" in done.stderr) == (2, True)
    missing = anonymize("people.csv", *_LISTS, "--method", "mondrian", "-o", "out/", "--script", "none/again.sql")
    assert missing.exit_code == 2
    assert "none/again.sql cannot be written" in missing.stderr


@pytest.mark.long
def test_a_kill_leaves_a_whole_release_or_none(folder: Path) -> None:
    pandas.concat([_PEOPLE] * 200).to_csv("people.csv", index=False)
    for moment in range(2, 16, 3):
        process = subprocess.Popen(
            [*SQLANON, "anonymize", "people.csv", *_QUICK, "-o", f"out{moment}/"],
            env=environment(),
            stdout=subprocess.DEVNULL,
        )
        time.sleep(0.35 * moment)
        process.send_signal(signal.SIGKILL)
        process.wait()
        target = Path(f"out{moment}")
        if target.exists():
            assert sorted(os.listdir(target)) == ["certificate.json", "certificate.md", "people.csv"]
            assert invoke("verify", target).exit_code == 0


@pytest.mark.one_in(2)
def test_the_command_above_a_script_makes_the_same_files_again(folder: Path) -> None:
    options = ("--method", "mondrian(mode => 'relaxed')", "--allow", "name", "--null", "?", "--format", "parquet")
    known = ("--known", "age,name", "--secret", "diagnosis")
    assert anonymize("people.csv", *known, *options, "-o", "out/", "--script", "first.sql").exit_code == 0
    first, *statements = Path("first.sql").read_text().splitlines()
    typed = shlex.split(first.removeprefix("-- "))[2:]
    again = ["other/" if word == "out/" else word for word in typed]
    assert anonymize(*again, "--script", "again.sql").exit_code == 0
    assert Path("again.sql").read_text().splitlines()[1:] == [text.replace("out/", "other/") for text in statements]


def test_a_script_is_for_its_owner_and_never_written_over(folder: Path) -> None:
    assert invoke("profile", "people.csv", "-o", "people.sql").exit_code == 0
    assert stat.S_IMODE(os.stat("people.sql").st_mode) == 0o600
    written = Path("people.sql").read_text()
    again = invoke("profile", "people.csv", "-o", "people.sql")
    assert (again.exit_code, "people.sql exists already" in again.stderr) == (2, True)
    assert invoke("profile", "people.csv", "-o", "people.sql", "--replace").exit_code == 0
    assert Path("people.sql").read_text() == written


def test_profile_says_what_is_there_and_its_script_runs(folder: Path) -> None:
    done = invoke("profile", "people.csv")
    assert done.exit_code == 0
    assert "| diagnosis | secret " in done.stdout
    assert "--known age,sex,zip --secret diagnosis -o out/" in done.stdout
    alone = _PEOPLE.groupby(["age", "sex", "zip"])["name"].transform("size").eq(1).mean()
    assert f"{per_cent(alone)} of the rows are alone with their " in done.stdout
    for name in _PEOPLE["name"][:3]:
        assert name not in done.stdout
    for word in ("anonymity", "diversity", "identifier", "sensitive", "hierarch", "policy"):
        assert word not in (done.stdout + done.stderr).lower()
    printed = invoke("profile", "people.csv", "-o", "-").stdout
    script = printed[printed.index("\n-- sqlanon") :]
    assert invoke("run", "-", stdin=script).exit_code == 0
    rows = pandas.read_csv("people_anonymized/people_release.csv")
    assert recounted(rows, ["age", "sex", "zip"], "diagnosis")[0] >= 5
    said = json.loads(invoke("profile", "people.csv", "--json").stdout)
    assert {each["column"]: each["use"] for each in said["columns"]}["email"] == "left out"
    assert said["script"].strip() == script.strip()


def test_the_command_and_the_script_of_profile_have_the_defaults_of_policies() -> None:
    parameters = inspect.signature(commands.anonymize).parameters
    assert (parameters["k"].default, parameters["values"].default) == (K_BY_DEFAULT, L_BY_DEFAULT)
    assert (ROWS_ALIKE.arguments, VALUES_OF_A_CLASS.arguments) == ((("k", K_BY_DEFAULT),), (("l", L_BY_DEFAULT),))


def test_labels_of_a_codebook_are_read(folder: Path) -> None:
    Path("coded.csv").write_text("q1,q2\n" + "".join(f"{i % 9},{i % 7}\n" for i in range(90)))
    Path("labels.csv").write_text('name,label\nQ1,"Ever had a diagnosis of depression, by a doctor"\nq9,x\n')
    done = invoke("profile", "coded.csv", "--labels", "labels.csv")
    assert (done.exit_code, "--secret q1" in done.stdout) == (0, True)
    assert "--secret q1" not in invoke("profile", "coded.csv").stdout
    Path("labels.csv").write_text("a;b\n")
    assert "has no label for any column" in invoke("profile", "coded.csv", "--labels", "labels.csv").stderr
    assert "none.csv cannot be read" in invoke("profile", "coded.csv", "--labels", "none.csv").stderr


def test_profile_reads_codes_and_commas_as_what_they_are(folder: Path) -> None:
    lines = "".join(f"{20 + i % 9};{'?' if i % 7 == 0 else i % 5};{i % 4},5;M\u00fcnchen\n" for i in range(60))
    Path("people.csv").write_bytes(f"age;children;height;town\n{lines}".encode("latin-1"))
    said = json.loads(invoke("profile", "people.csv", "--encoding", "latin-1", "--json").stdout)
    assert " people.csv --encoding latin-1 --null '?' --decimal , --known " in said["command"]
    assert '"?" in children looks like a missing value' in said["read"][0]
    assert "nullstr => ['', '?'], decimal_separator => ','" in said["script"]
    assert not any("number" in each["why"] or "code" in each["why"] for each in said["columns"])
    done = anonymize(
        "people.csv", "--encoding", "latin-1", "--known", "age,children,height", "--secret", "", "--dry-run"
    )
    assert "--null '?' reads it as missing, in all columns" in done.stderr
    assert "--decimal , reads the numbers" in done.stderr
    assert (
        'children is text, and its ranges are alphabetical: its values are numbers as text, but for "?"' in done.stderr
    )
    assert "height is text, and its ranges are alphabetical: its values are numbers with a decimal comma" in done.stderr
    assert "CAST(" not in done.stderr


def test_yes_and_no_are_said_to_be_read_as_booleans(folder: Path) -> None:
    lines = "".join(f"{20 + i % 9},{['No', 'yes'][i % 2]},{['true', 'FALSE'][i % 2]}\n" for i in range(60))
    Path("people.csv").write_text(f"age,smoker,drives\n{lines}")
    sentence = "smoker is read as true and false, in place of No and yes"
    done = anonymize("people.csv", "--known", "age,drives", "--secret", "smoker", "-o", "out.csv")
    assert sentence in done.stderr
    assert set(pandas.read_csv("out.csv", dtype=str)["smoker"]) == {"true", "false"}
    assert json.loads(invoke("profile", "people.csv", "--json").stdout)["read"] == [sentence]
    with pytest.warns(PrivacyRemark, match=sentence):
        sqlanon.anonymize("people.csv", known=["age"], secret=["smoker"])
    assert "drives is read" not in done.stderr


def test_remarks_name_options(folder: Path) -> None:
    rows = {"person": [i // 7 for i in range(210)], "sex": ["f", "m"] * 105, "cost": range(210)}
    pandas.DataFrame(rows).to_csv("visits.csv", index=False)
    done = anonymize("visits.csv", "--known", "sex", "--secret", "cost", "--allow", "cost", "--dry-run")
    assert "name it with --known, or leave it out" in done.stderr
    assert "IDENTIFIER" not in done.stderr


def test_profile_counts_people_by_the_one_number_that_repeats(folder: Path) -> None:
    pandas.DataFrame({"id": [i // 3 for i in range(90)], "sex": ["f", "m"] * 45}).to_csv("visits.csv", index=False)
    said = json.loads(invoke("profile", "visits.csv", "--json").stdout)
    assert "--entity id " in said["command"]
    assert '"id" ENTITY,' in said["script"]


def test_profile_of_a_csv_file_names_options_for_codes_and_decimal_commas(folder: Path) -> None:
    people = _PEOPLE.assign(children=[999 if i % 9 == 0 else i % 4 for i in range(120)])
    people.to_csv("coded.csv", index=False)
    people.to_parquet("coded.parquet")

    def why(file: str) -> str:
        columns = json.loads(invoke("profile", file, "--json").stdout)["columns"]
        return next(each["why"] for each in columns if each["column"] == "children")

    assert "999" not in why("coded.csv")
    assert 'nullif("children", 999)' in why("coded.parquet")
    # Words may be answers, so they are not read as missing without being asked for.
    people.assign(children=["unknown" if i % 9 == 0 else "abc"[i % 3] for i in range(120)]).to_csv("coded.csv")
    assert why("coded.csv").endswith('"unknown" looks like a code for a missing value: --null unknown, for all columns')


@pytest.mark.long
def test_the_proposal_reads_codes_as_missing_where_no_column_has_them_as_values(folder: Path) -> None:
    def proposed(people: pandas.DataFrame) -> tuple[str, str, str]:
        people.to_csv("coded.csv", index=False)
        said = json.loads(invoke("profile", "coded.csv", "--json").stdout)
        return str(said["command"]), str(said["script"]), "; ".join(said["read"])

    people = _PEOPLE.drop(columns=["name", "email"])
    people = people.assign(smoker=["-9" if i % 9 == 0 else ["ja", "nein"][i % 2] for i in range(120)])
    command, script, read = proposed(people)
    assert " coded.csv --null -9 --known " in command
    assert "nullstr => ['', '-9']" in script
    assert read == 'read with --null -9: "-9" in smoker looks like a missing value'
    # A temperature may be -9 degrees.
    command, script, read = proposed(people.assign(cold=[i % 40 - 20.0 for i in range(120)]))
    assert ("--null" in command, "nullstr" in script) == (False, False)
    assert "--null -9 reads it as missing, in all columns, also of cold, where it may be a value" in read
    # A code in a named column is said, whatever its role, and whether it may be published anyhow.
    lists = ("--known", "age,sex", "--secret", "smoker", "--dry-run", "--method", "mondrian")
    remark = '"-9" in smoker looks like a missing value, and is read as a value: --null -9 reads it as missing'
    for options in ((), ("--allow", "smoker")):
        done = anonymize("coded.csv", *lists, *options)
        assert (done.exit_code, done.stderr.count("-9"), remark in done.stderr) == (0, 2, True), done.stderr
    assert "-9" not in anonymize("coded.csv", *lists, "--null", "-9").stderr


def test_options_in_place_of_sql() -> None:
    codes = """codes: nullif(nullif("a, b", '-9'), 'it''s'), or read_csv(..., nullstr => ['', '-9', 'it''s'])"""
    commas = """commas: CAST(replace("x", ',', '.') AS DOUBLE), or read_csv(..., decimal_separator => ',')"""
    options = """codes: --null -9 --null 'it'"'"'s', for all columns; commas: --decimal ,"""
    assert with_options(f"known; {codes}; {commas}") == f"known; {options}"
    assert with_options("its name says an age: nullif(a, 1)") == "its name says an age: nullif(a, 1)"


def test_help_says_how(folder: Path) -> None:
    for command in ("profile", "anonymize"):
        shown = invoke(command, "--help").stdout
        assert f"sqlanon {command} patients.csv" in shown


def _on_terminal(folder: Path, answers: list[bytes]) -> tuple[int, str]:
    """The exit code of `sqlanon anonymize people.csv` on a terminal of its own, and what it prints."""
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(folder)
        os.execve(
            SQLANON[0], [*SQLANON, "anonymize", "people.csv"], {**environment(), "COLUMNS": "200", "TERM": "dumb"}
        )
    seen = b""
    while True:
        try:
            read = os.read(terminal, 65536)
        except OSError:
            break
        seen += read
        if not read:
            break
        if seen.rstrip().endswith(b"]:") and answers:
            os.write(terminal, answers.pop(0))
            seen += b" "
    _, status = os.waitpid(process, 0)
    os.close(terminal)
    return os.waitstatus_to_exitcode(status), seen.decode()


@pytest.mark.long
def test_a_terminal_asks_column_by_column(folder: Path) -> None:
    answers = [b"all\n", b"e\n", b"\n", b"\n", b"what\n", b"k\n", b"d\n", b"\n", b"\n", b"answered/\n"]
    code, seen = _on_terminal(folder, answers)
    assert (code, answers) == (0, []), seen
    assert "Type y, e or n." in seen
    assert "Type k, s or d." in seen
    repeated = "sqlanon anonymize people.csv --known age,zip --secret diagnosis -o answered/"
    assert repeated in " ".join(seen.split())
    rows = pandas.read_csv("answered/people.csv")
    assert list(rows.columns) == ["age", "zip", "diagnosis"]
    assert recounted(rows, ["age", "zip"], "diagnosis")[0] >= 5


@pytest.mark.one_in(2)
def test_a_terminal_takes_the_whole_proposal(folder: Path) -> None:
    answers = [b"\n", b"answered/\n"]
    code, seen = _on_terminal(folder, answers)
    assert (code, answers) == (0, []), seen
    proposed = "sqlanon anonymize people.csv --known age,sex,zip --secret diagnosis -o "
    assert f"Proposed: {proposed}out/" in " ".join(seen.split())
    assert f"without questions: {proposed}answered/" in " ".join(seen.split())
    assert list(pandas.read_csv("answered/people.csv").columns) == ["age", "sex", "zip", "diagnosis"]


@pytest.mark.long
@pytest.mark.parametrize(("first", "key"), [(b"e\n", b"\x03"), (b"e\n", b"\x04"), (b"", b"n\n")])
def test_a_question_without_an_answer_writes_nothing(folder: Path, first: bytes, key: bytes) -> None:
    code, seen = _on_terminal(folder, [first, key] if first else [key])
    assert code == 130
    # Ctrl-C is seen by the question or by what is around it.
    assert "nothing was written" in seen or "interrupted" in seen
    assert os.listdir(folder) == ["people.csv"]
