"""A package that brings a model, a method, a format and a kind of hierarchy of its own, found by entry points."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from sqlglot.expressions import select

from sqlanon import connect
from sqlanon.domain.release import Reading
from sqlanon.methods.shared.task import Task
from sqlanon.sql.build.names import relation
from sqlanon.sql.release.multi_table_query import PublishedColumn, PublishedTable, TablesQuery
from tests.support.methods import EXAMPLE, FILE, PAGE, with_example

ROOT = Path(__file__).resolve().parents[2]
# Those that the pages on adding one show.
MODEL = re.search(
    r"^`sql/models/(\w+)\.sql`:\n\n```sql\n(.*?)^```$", (ROOT / "CONTRIBUTING.md").read_text(), re.M | re.S
)
METHOD = FILE.search(PAGE.read_text(encoding="utf-8"))
FORMAT = """
from sqlanon.export.formats.csv import carried, certificate, header, published_type, read, reopen, require, write
SUFFIXES = (".text",)
CARRIES_CERTIFICATE = False
"""
HIERARCHY = '''
from sqlglot import exp
STORED, KEEPS_ORDER, READ_AS = False, False, "any"
def validate(definition): ...
def height(definition): return 2
def accepts(column_type): return column_type == "VARCHAR"
def labels(definition, value, column_type):
    """The first letter."""
    return (exp.Left(this=value.copy(), expression=exp.Literal.number(1)),)
'''
ENTRY_POINTS = """
[sqlanon.models]
frequent_l_diversity = extended.models
k_anonymity = extended.nowhere
[sqlanon.methods]
Columns = extended.method
mondrian = extended.nowhere
[sqlanon.formats]
text = extended.text
csv = extended.nowhere
[sqlanon.hierarchies]
letters = extended.letters
intervals = extended.nowhere
"""
BROKEN = """
[sqlanon.models]
absent = broken
several = broken
[sqlanon.methods]
nothing = broken
missing = broken
nowhere = broken.nowhere
[sqlanon.formats]
nothing = broken
[sqlanon.hierarchies]
nothing = broken
"""


def package(folder: Path, name: str, entry_points: str, files: dict[str, str]) -> None:
    """A package as pip leaves it, its modules and what is known of it."""
    known = folder / f"{name}-1.0.dist-info"
    known.mkdir()
    (known / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (known / "entry_points.txt").write_text(entry_points)
    for path, text in {"__init__.py": "", **files}.items():
        file = folder / name / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of packages: one that is as it should be, and two that are not."""
    assert MODEL is not None
    assert METHOD is not None
    folder = tmp_path_factory.mktemp("installed")
    extended = {
        "models/__init__.py": "",
        f"models/{MODEL[1]}.sql": MODEL[2],
        "method.py": METHOD[1],
        "text.py": FORMAT,
        "letters.py": HIERARCHY,
    }
    package(folder, "extended", ENTRY_POINTS, extended)
    package(folder, "broken", BROKEN, {"several.sql": "-- model: another\n"})
    package(folder, "another", "[sqlanon.methods]\nmissing = another\n", {})
    return folder


def run(installed: Path, program: str, folder: Path) -> list[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(installed)))}
    command = [sys.executable, "-c", program]
    ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


@pytest.mark.long
def test_each_goes_through_the_statements(installed: Path, tmp_path: Path) -> None:
    program = """
import sys, sqlanon
assert not [name for name in sys.modules if name.startswith("extended")]
con = sqlanon.connect()
con.sql('''
    CREATE TABLE t AS SELECT 'ab'[1 + i % 2] || i AS name, ['x', 'y', 'z'][1 + i % 3] AS ill FROM range(60) AS r(i);
    CREATE HIERARCHY first AS LETTERS ();
    CREATE HIERARCHY tens AS INTERVALS (10);
    CREATE POLICY p ON t (name QUASI IDENTIFIER USING first, ill SENSITIVE)
    REQUIRE k_anonymity(k => 5), frequent_l_diversity(l => 2, m => 3);
    CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization;
    CREATE POLICY apart ON t (name QUASI IDENTIFIER, ill SENSITIVE) CONFIDENTIAL (name, ill);
    CREATE ANONYMIZED TABLE c AS POLICY apart METHOD columns;
    CHECK r; CHECK c;
    EXPORT r TO 'r.text';
''')
print(con.sql("SELECT DISTINCT name FROM r ORDER BY name").fetchall())
print([row[1] for row in con.sql("CHECK r").fetchall()])
print(open("r.text").readline().strip())
con.sql("CREATE ANONYMIZED TABLE m AS POLICY p METHOD mondrian; EXPORT r TO 'r.csv'")
print([requirement.sql() for requirement in con.policy("p").requirements])
print(sqlanon.Requirement("frequent_l_diversity", l=2, m=3) in con.policy("p").requirements)
con.sql(sqlanon.AnonymizedTable("d", "apart", method=sqlanon.Method("columns")).sql())
print(sorted(name for name in sys.modules if name.startswith("extended")))
"""
    assert run(installed, program, tmp_path) == [
        "[('a',), ('b',)]",
        "['k_anonymity', 'frequent_l_diversity']",
        "name,ill",
        "['k_anonymity(k => 5)', 'frequent_l_diversity(l => 2, m => 3)']",
        "True",
        "['extended', 'extended.letters', 'extended.method', 'extended.models', 'extended.text']",
    ]


# A later version of sqlanon: an ability that the plug-in does not know of, and a part.
LATER = """
from dataclasses import dataclass, replace
from sqlanon.methods import limits
@dataclass(frozen=True)
class Limits(limits.Limits):
    weekdays: limits.Refusal | None = limits.Refusal("METHOD {method} knows no weekdays", "use METHOD mondrian")
limits.Limits = Limits
from sqlanon.methods.base import Method
Method.colors = lambda self: ()
import sqlanon
from sqlanon.methods.mondrian import method as mondrian
from sqlanon.methods.registry import find_method
from sqlanon.release.pipeline import limits as compared
mondrian._LIMITS = replace(mondrian._LIMITS, weekdays=limits.CAN)
used = compared._used
con = sqlanon.connect()
con.sql('''
    CREATE TABLE t AS SELECT i % 3 AS a, i % 2 AS b FROM range(30) AS r(i);
    CREATE POLICY p ON t (a QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2);
    CREATE POLICY apart ON t (a QUASI IDENTIFIER, b SENSITIVE) CONFIDENTIAL (a, b);
    CREATE ANONYMIZED TABLE c AS POLICY apart METHOD columns;
''')
print(find_method("columns").colors())
compared._used = lambda *about: [*used(*about), ("weekdays", {})]
con.sql("CREATE ANONYMIZED TABLE m AS POLICY p METHOD mondrian")
try:
    con.sql("CREATE ANONYMIZED TABLE d AS POLICY apart METHOD columns")
except sqlanon.PolicyError as error:
    print(error.message, error.hint, sep="; ")
made = "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main' ORDER BY 1"
print([name for (name,) in con.duckdb.sql(made).fetchall()])
"""


@pytest.mark.long
def test_one_of_today_goes_on_when_methods_can_do_more(installed: Path, tmp_path: Path) -> None:
    """A new ability is refused to a method that does not know of it, and a new part has a default."""
    assert run(installed, LATER, tmp_path) == [
        "()",
        "METHOD columns knows no weekdays; use METHOD mondrian",
        "['c_1', 'c_2', 'm', 't']",
    ]


CHECKED = {
    "EXPLAIN ANONYMIZED TABLE s AS POLICY p METHOD nothing": (
        "the method nothing, a plug-in of the package broken, has no subclasses of Method"
    ),
    "EXPLAIN ANONYMIZED TABLE s AS POLICY p METHOD missing": "several packages have a method missing: another, broken",
    "EXPLAIN ANONYMIZED TABLE s AS POLICY p METHOD nowhere": (
        "the method nowhere, a plug-in of the package broken, cannot be loaded: ModuleNotFoundError: "
    ),
    "EXPLAIN ANONYMIZED TABLE s AS POLICY p METHOD columms": "there is no method 'columms'; did you",
    "CHECK t (a) REQUIRE absent(k => 2)": "the privacy model absent, a plug-in of the package broken, cannot be read: ",
    "CHECK t (a) REQUIRE several(k => 2)": "the privacy model several, a plug-in of the package broken, cannot",
    "CHECK t (a) REQUIRE k_anonymty(k => 2)": "there is no privacy model 'k_anonymty'; did you mean k_anonymity",
    "EXPORT r TO 'x/' (FORMAT nothing)": "the format nothing, a plug-in of the package broken, has no SUFFIXES, ",
    "CREATE HIERARCHY h AS NOTHING (5)": (
        "the hierarchy kind nothing, a plug-in of the package broken, does not say in STORED "
    ),
}


@pytest.mark.long
def test_what_is_wrong_with_one(installed: Path, tmp_path: Path) -> None:
    """The package is named. Others are not disturbed."""
    program = f"""
import sqlanon
con = sqlanon.connect()
con.sql('''
    CREATE TABLE t AS SELECT i % 3 AS a FROM range(30) AS r(i);
    CREATE POLICY p ON t (a QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2);
    CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization;
    EXPORT r TO 'r.parquet';
''')
for statement in {list(CHECKED)!r}:
    try:
        con.sql(statement)
    except sqlanon.UserError as error:
        print(error.message.lower(), error.hint, sep="; ")
"""
    printed = run(installed, program, tmp_path)
    assert len(printed) == len(CHECKED)
    for line, message in zip(printed, CHECKED.values(), strict=True):
        assert line.startswith(message.lower())
        assert "uninstall" in line or "did you mean" in line


HOSTILE = """
[sqlanon.models]
leaves = hostile.leaves
[sqlanon.methods]
leaves = hostile.leaves
raises = hostile.raises
[sqlanon.formats]
leaves = hostile.leaves
raises = hostile.raises
unlisted = hostile.unlisted
[sqlanon.hierarchies]
leaves = hostile.leaves
raises = hostile.raises
"""


@pytest.mark.long
def test_one_that_ends_the_program_is_skipped(tmp_path: Path) -> None:
    """An export goes on, and its warning names each format that was skipped; a statement that names one fails."""
    modules = {
        "leaves.py": "import sys\nsys.exit(0)\n",
        "raises.py": "raise ValueError('no such luck')\n",
        "unlisted.py": FORMAT.replace('(".text",)', "None"),
    }
    (tmp_path / "installed").mkdir()
    package(tmp_path / "installed", "hostile", HOSTILE, modules)
    program = """
import sqlanon
con = sqlanon.connect()
con.sql('''
    CREATE TABLE t AS SELECT 'x' || i % 3 AS a FROM range(30) AS r(i);
    CREATE POLICY p ON t (a QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2);
    CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization;
''')
for target in ("r.csv", "out/"):
    print(con.sql(f"EXPORT r TO '{target}'").fetchall()[0][-1])
print(con.sql("CHECK 'r.csv'").fetchall()[0][-2])
for statement in (
    "EXPORT r TO 'x/' (FORMAT leaves)", "EXPORT r TO 'x/' (FORMAT raises)", "CREATE HIERARCHY h AS LEAVES (1)",
    "CREATE HIERARCHY h AS RAISES (1)", "EXPLAIN ANONYMIZED TABLE s AS POLICY p METHOD leaves",
    "EXPLAIN ANONYMIZED TABLE s AS POLICY p METHOD raises", "CHECK t (a) REQUIRE leaves(k => 2)",
):
    try:
        con.sql(statement)
    except sqlanon.UserError as error:
        print(error.message)
"""
    first, second, satisfied, *errors = run(tmp_path / "installed", program, tmp_path)
    assert satisfied == "True"
    for warning in (first, second):
        assert warning.count("it was skipped") == 3
        for name in ("leaves", "raises", "unlisted"):
            assert f"the format {name}, a plug-in of the package hostile, " in warning
        assert "cannot be loaded: SystemExit: 0" in warning
        assert "cannot be loaded: ValueError: no such luck" in warning
    assert len(errors) == 7
    assert all("a plug-in of the package hostile, cannot be loaded: " in error for error in errors)


def test_a_table_may_show_labels_under_the_name_of_a_column(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only values of the source are put in order by number: a label is no value of it, and would have none."""
    methods = with_example(tmp_path_factory.mktemp("labels"))
    monkeypatch.setattr("sqlanon.methods.registry.METHODS", methods)
    module = import_module(methods[EXAMPLE])

    def compile_labels(self: Any, task: Task, choice: Any, release_id: str, tokens: Any) -> TablesQuery:
        zip_code, disease = task.policy.published
        source = relation(task.policy.relation, as_="source")
        label = PublishedColumn(zip_code.column, zip_code.role, Reading.LABEL, zip_code, level=1)
        value = PublishedColumn(disease.column, disease.role, Reading.BUCKET_VALUE, disease)
        tables = (
            PublishedTable("1", (label,), select("'any'::VARCHAR AS zip").from_(source.copy())),
            PublishedTable("2", (value,), select("disease").from_(source)),
        )
        return TablesQuery(task.policy, release_id, tables)

    monkeypatch.setattr(module.ColumnsMethod, "compile", compile_labels)
    with connect() as con:
        con.sql("CREATE TABLE people AS SELECT 'z' || i % 5 AS zip, 'd' || i % 4 AS disease FROM range(100) AS t(i)")
        con.sql("CREATE POLICY p ON people (zip QUASI IDENTIFIER, disease SENSITIVE) CONFIDENTIAL (zip, disease)")
        con.sql("CREATE ANONYMIZED TABLE r AS POLICY p METHOD columns(fewest => 2)")
        assert con.sql('SELECT zip, count(*) FROM "r_1" GROUP BY ALL').fetchall() == [("any", 100)]
