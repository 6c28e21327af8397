"""Each step's SQL is what its file says, and the comparison itself sees what it is to see."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from sqlanon.errors import StatementError
from tests.golden.files import HERE, UPDATE, differences, statements, update
from tests.golden.hospital import FOLDERS, Case
from tests.golden.layout import Line, flat, laid_out, tree
from tests.golden.steps import in_lines, steps

Made = Mapping[str, Sequence[list[Line]]]

MADE: Made = {"a/b/01-one.sql": [tree("SELECT 1")], "a/b/02-two.sql": [tree("SELECT 2")]}
WIDTH = 120
CONDITION = " AND ".join(["""('( ' = "x" OR ("y" IN (1, 2)))"""] * 20)


def without_space(text: str) -> str:
    return re.sub(r"\s", "", text)


@pytest.mark.long
def test_each_step_runs_what_its_file_says() -> None:
    if found := differences(steps()):
        pytest.fail("\n".join([*found, f"if this is what was meant: {UPDATE}"]), pytrace=False)
    # Read the other way: the files, with the relations that they refer to, are the statements.
    for path, text in statements().items():
        made = "".join(f"{flat(statement)};" for statement in steps()[path])
        assert without_space(text) == without_space(made), path


def test_a_case_that_cannot_be_built_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.golden.steps.POLICIES", {})
    monkeypatch.setattr("tests.golden.steps.FOLDERS", {"mondrian": [Case("broken", "CREATE ANONYMIZED TABLE r")]})
    with pytest.raises(StatementError) as error:
        steps.__wrapped__()
    assert error.value.__notes__ == ["in the golden case tests/golden/mondrian/broken"]


def test_every_case_has_a_step_of_its_own() -> None:
    cases = {f"{folder}/{case.name}" for folder, cases in FOLDERS.items() for case in cases}
    assert {path.parent.relative_to(HERE).as_posix() for path in HERE.glob("*/*/*.sql")} == cases


def test_nothing_that_is_drawn_is_in_a_file() -> None:
    drawn = re.compile(r"(?<![0-9a-f])(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{12,}|/tmp")
    assert {path.name: drawn.findall(path.read_text(encoding="utf-8")) for path in HERE.rglob("*.sql")} == {
        path.name: [] for path in HERE.rglob("*.sql")
    }


@pytest.mark.parametrize(
    "text",
    [
        """SELECT date_diff('day', "a", "b") FROM "t" ORDER BY "a" ASC NULLS LAST""",
        """SELECT list("x"), len("y"), string_agg("z", ', ') FROM (SELECT UNNEST(range(3)) AS "x") AS "T" """,
        """SELECT '( ' AS "a", ((("x" + 1) * 2)) AS "b", CASE WHEN "y" IN (' )', ',  ') THEN -1 ELSE 1.5 END AS "c" """,
    ],
)
def test_lines_are_broken_and_no_word_is_changed(text: str) -> None:
    assert laid_out(in_lines(text)) == [text.strip()]
    long = f"""SELECT 1, 2, 3 FROM "u" WHERE {CONDITION} UNION ALL {text}"""
    lines = laid_out(in_lines(long))
    assert len(lines) > 5
    assert max(map(len, lines)) <= WIDTH
    assert without_space("".join(lines)) == without_space(long)
    strings = re.compile("'[^']*'")
    assert strings.findall("\n".join(lines)) == strings.findall(long)


def test_what_sqlglot_does_not_know_and_what_is_in_lines_already_stays_as_it_is() -> None:
    for text in ("COPY  \"t\"  TO 'file'", "-- Remarks.\nUPDATE t\n  SET a = 1", "SELECT 'two\n  lines'"):
        assert laid_out(in_lines(text)) == [text]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Both steps as they are made, the first with a header of two lines."""
    write(MADE, tmp_path)
    (tmp_path / "a/b/01-one.sql").write_text("-- Look for: one\n-- row.\n\nSELECT 1;\n", encoding="utf-8")
    assert differences(MADE, tmp_path) == []
    return tmp_path


def write(made: Made, here: Path) -> None:
    """Writes the files of the steps, each new one with a header."""
    for path in update(made, here):
        text = (here / path).read_text(encoding="utf-8")
        (here / path).write_text(text.replace("-- Look for:", "-- Look for: rows.", 1), encoding="utf-8")


def read(here: Path) -> dict[str, str]:
    """The files below a folder, without headers."""
    paths = sorted(here.rglob("*.sql"))
    return {p.relative_to(here).as_posix(): p.read_text(encoding="utf-8").rpartition("rows.\n\n")[2] for p in paths}


def test_a_changed_step_is_a_diff(files: Path) -> None:
    (diff,) = differences({**MADE, "a/b/02-two.sql": [tree("SELECT 3")]}, files)
    assert diff.splitlines()[-2:] == ["-SELECT 2;", "+SELECT 3;"]
    assert diff.startswith("--- tests/golden/a/b/02-two.sql")


def test_a_step_without_a_file_and_a_file_without_a_step_are_told(files: Path) -> None:
    (files / "a/b/01-one.sql").rename(files / "a/b/01-none.sql")
    assert differences(MADE, files) == [
        "a/b/01-none.sql: nothing makes this file any more",
        "a/b/01-one.sql: this has no file",
    ]


@pytest.mark.parametrize("header", ["", "-- Look for:", "-- one row.", "-- Look for: a\n-- b\n-- c\n-- d"])
def test_a_step_without_a_header_is_told(files: Path, header: str) -> None:
    (files / "a/b/01-one.sql").write_text(f"{header}\n\nSELECT 1;\n", encoding="utf-8")
    (found,) = differences(MADE, files)
    assert found.startswith("a/b/01-one.sql: its first one to three lines")


def test_an_update_keeps_the_header_of_a_step_that_has_another_number(files: Path) -> None:
    moved = {"a/b/01-new.sql": [tree("SELECT 0")], "a/b/02-one.sql": [tree("SELECT 4")]}
    assert update(moved, files) == ["a/b/01-new.sql"]
    assert (files / "a/b/02-one.sql").read_text(encoding="utf-8") == "-- Look for: one\n-- row.\n\nSELECT 4;\n"
    assert {path.name for path in files.rglob("*.sql")} == {"01-new.sql", "02-one.sql"}


def counting(table: str, least: int = 3, extra: str = "1") -> list[Line]:
    """A statement with a CTE of three lines, which counts the rows of a table by three columns."""
    columns = '"date_of_birth", "sex", "zip"'
    return in_lines(
        f'WITH "class" AS (SELECT {columns}, COUNT(*) AS "size" FROM "{table}" GROUP BY {columns} '
        f'HAVING COUNT(*) < {least}) SELECT "size", {extra} FROM "class"'
    )


def test_a_relation_of_several_steps_is_one_file(tmp_path: Path) -> None:
    write({"a/b/01-x.sql": [counting("patients")], "c/d/01-y.sql": [counting("patients", extra="2")]}, tmp_path)
    assert read(tmp_path) == {
        "a/b/01-x.sql": 'WITH "class" AS ({class}) SELECT "size", 1 FROM "class";\n',
        "c/d/01-y.sql": 'WITH "class" AS ({class}) SELECT "size", 2 FROM "class";\n',
        "relations/class.sql": (
            'SELECT "date_of_birth", "sex", "zip", COUNT(*) AS "size"\nFROM "patients"\n'
            'GROUP BY "date_of_birth", "sex", "zip"\nHAVING COUNT(*) < 3\n'
        ),
    }


def test_relations_that_differ_in_a_word_are_one_file_with_a_hole(tmp_path: Path) -> None:
    made = {"a/b/01-x.sql": [counting("patients", 3)], "c/d/01-y.sql": [counting("visits", 3), counting("visits", 5)]}
    write(made, tmp_path)
    found = read(tmp_path)
    assert "\nFROM {#1}\nGROUP BY" in found["relations/class.sql"]
    assert found["relations/class.sql"].endswith("HAVING COUNT(*) < {#2}\n")
    assert found["a/b/01-x.sql"] == 'WITH "class" AS ({class("patients", 3)}) SELECT "size", 1 FROM "class";\n'
    assert found["c/d/01-y.sql"].count('{class("visits", ') == 2
    assert without_space(statements(tmp_path)["c/d/01-y.sql"]) == without_space(
        "".join(f"{flat(statement)};" for statement in made["c/d/01-y.sql"])
    )


def test_neither_the_order_of_the_steps_nor_another_update_changes_a_file(tmp_path: Path) -> None:
    made = {f"a/{table}/01-x.sql": [counting(table, 3), counting(table, 3, "'x'")] for table in ("s", "t", "u")}
    made["a/v/01-x.sql"] = [tree('SELECT * FROM (\n  SELECT 1 AS "a"\n  FROM "t"\n  WHERE TRUE\n) AS "class"')] * 2
    write(made, tmp_path / "one")
    write(dict(reversed(made.items())), tmp_path / "other")
    assert read(tmp_path / "one") == read(tmp_path / "other")
    before = read(tmp_path / "one")
    update(dict(reversed(made.items())), tmp_path / "one")
    assert read(tmp_path / "one") == before


def test_a_changed_relation_is_one_diff_with_its_readers(tmp_path: Path) -> None:
    write({"a/b/01-x.sql": [counting("patients")], "c/d/01-y.sql": [counting("patients", extra="2")]}, tmp_path)
    made = {"a/b/01-x.sql": [counting("visits")], "c/d/01-y.sql": [counting("visits", extra="2")]}
    (diff,) = differences(made, tmp_path)
    assert diff.startswith("--- tests/golden/relations/class.sql")
    assert '-FROM "patients"\n+FROM "visits"\n' in diff
    assert diff.endswith("relations/class.sql is read by a/b/01-x.sql, c/d/01-y.sql\n")
    update(made, tmp_path)
    assert differences(made, tmp_path) == []


def test_a_relation_that_changes_in_one_of_its_steps_is_told_of_both(tmp_path: Path) -> None:
    made = {"a/b/01-x.sql": [counting("patients")], "c/d/01-y.sql": [counting("patients", extra="2")]}
    write(made, tmp_path)
    found = differences({**made, "c/d/01-y.sql": [counting("patients", 4, "2")]}, tmp_path)
    assert [diff.splitlines()[-1] for diff in found] == [
        '+WITH "class" AS ({class(3)}) SELECT "size", 1 FROM "class";',
        '+WITH "class" AS ({class(4)}) SELECT "size", 2 FROM "class";',
        "relations/class.sql is read by a/b/01-x.sql, c/d/01-y.sql",
    ]
    assert "-HAVING COUNT(*) < 3\n+HAVING COUNT(*) < {#1}\n" in found[2]


def test_a_relation_that_no_step_reads_is_told_and_removed(files: Path) -> None:
    (files / "relations").mkdir()
    (files / "relations/class.sql").write_text("SELECT 1\n", encoding="utf-8")
    assert differences(MADE, files) == ["relations/class.sql: nothing makes this file any more"]
    update(MADE, files)
    assert differences(MADE, files) == []


def test_a_file_of_a_relation_that_is_changed_or_gone_is_told(tmp_path: Path) -> None:
    made = {"a/b/01-x.sql": [counting("patients")], "c/d/01-y.sql": [counting("patients", extra="2")]}
    write(made, tmp_path)
    relation = tmp_path / "relations/class.sql"
    relation.write_text(relation.read_text(encoding="utf-8").replace("< 3", "< 2"), encoding="utf-8")
    (diff,) = differences(made, tmp_path)
    assert "-HAVING COUNT(*) < 2\n+HAVING COUNT(*) < 3\n" in diff
    relation.unlink()
    assert differences(made, tmp_path) == ["relations/class.sql: this has no file"]


@pytest.mark.parametrize("text", ["'{class}'", "'{class(1)}'", "'{#1}'"])
def test_sql_that_looks_like_a_reference_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ValueError, match="would be read as a reference"):
        update({"a/b/01-x.sql": [tree(f"SELECT {text}")]}, tmp_path)
