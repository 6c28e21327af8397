"""What an installation without an extra does, and what it says of the rest."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import sqlglot
from sqlglot import exp

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
COMMAND_LINE = {"typer", "rich", "prompt_toolkit"}
WITHOUT_ARROW = """
import sys
sys.modules["pyarrow"] = None
import pandas, sqlanon
columns = {"name": list("abcdefgh"), "age": [31, 32] * 4, "sex": list("FFFFMMMM"), "ill": list("xyxyxyxy")}
patients = pandas.DataFrame(columns)
con = sqlanon.connect()
con.sql('''
    CREATE POLICY p ON patients (name IDENTIFIER PSEUDONYM, age QUASI IDENTIFIER, sex QUASI IDENTIFIER, ill SENSITIVE)
    REQUIRE k_anonymity(k => 2);
    CREATE ANONYMIZED TABLE g AS POLICY p METHOD generalization;
    CREATE ANONYMIZED TABLE m AS POLICY p METHOD mondrian(publish => 'none');
    CREATE ANONYMIZED TABLE a AS POLICY p METHOD anatomy(l => 2);
    CHECK g; CHECK m; CHECK a;
    CREATE WORKLOAD w ON POLICY p (queries => 3, dimensions => 1);
    MEASURE g WITH WORKLOAD w;
''')
for format in ("csv", "parquet", "duckdb"):
    con.sql(f"EXPORT g TO '{sys.argv[1]}/{format}' (FORMAT {format})")
print(len(con.sql("FROM g").df()), len(sqlanon.anonymize(patients, quasi_identifiers=["age", "sex"], k=2)))
try:
    con.sql("MEASURE a WITH WORKLOAD w")
except sqlanon.UserError as error:
    print(error.hint)
"""


def lower_bounds(requirements: list[str]) -> dict[str, str]:
    matched = (re.match(r"([\w-]+)(?:\[.*\])?>=([\d.]+)", requirement) for requirement in requirements)
    return {match[1]: match[2] for match in matched if match}


def third_party(path: Path) -> set[str]:
    """The packages that a module imports when it is imported or run; not those that only a type checker reads."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = [ast.Pass()]
    names = {
        name.partition(".")[0]
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [str(node.module)]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    return names - set(sys.stdlib_module_names) - {"sqlanon"}


@pytest.mark.long
def test_each_package_is_imported_where_its_extra_is_needed() -> None:
    """pandas is there for those who have frames: it is imported where one of theirs is handed back."""
    imported: dict[str, set[str]] = {}
    for folder in ("sqlanon", "udfs"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for name in third_party(path):
                imported.setdefault(name, set()).add(path.relative_to(ROOT).as_posix())
    assert set(imported) == {
        "duckdb",
        "msgspec",
        "opendp",
        "sqlglot",
        "numpy",
        "pandas",
        "polars",
        "pyarrow",
        "pyspark",
        "py4j",
        "scipy",
        "sklearn",
        "altair",
        "vl_convert",
        "IPython",
        "cryptography",
        "prometheus_client",
        "faker",
        "phonenumbers",
        "stdnum",
        "dbt",
        "adbc_driver_manager",
        "adbc_driver_postgresql",
        "adbc_driver_sqlite",
        *COMMAND_LINE,
    }
    assert imported["scipy"] == {"sqlanon/assess/tasks/learning.py", "sqlanon/assess/tasks/ratings.py"}
    assert imported["sklearn"] == {"sqlanon/assess/tasks/learning.py"}
    assert imported["altair"] == imported["vl_convert"] == {"sqlanon/export/report/charts.py"}
    assert imported["IPython"] == {"sqlanon/clients/notebook/magics.py"}
    assert imported["cryptography"] == {"sqlanon/export/signature.py"}
    assert imported["opendp"] == {"sqlanon/sources/noise.py"}
    assert imported["prometheus_client"] == {"sqlanon/clients/jobs/metrics.py"}
    profiling = {"sqlanon/assess/profiling/checked_values.py"}
    assert imported["faker"] == imported["phonenumbers"] == imported["stdnum"] == profiling
    assert imported["dbt"] == {"sqlanon/clients/dbt/model.py"}
    assert all(path.startswith(("sqlanon/export/", "sqlanon/catalog/")) for path in imported["msgspec"])
    results = "sqlanon/clients/frames/results.py"
    assert imported["pandas"] == {
        results,
        "sqlanon/clients/frames/stata.py",
        "sqlanon/release/existing/restored_columns.py",
    }
    assert imported["polars"] == {results}
    for name in COMMAND_LINE:
        assert all(path.startswith("sqlanon/clients/terminal/") for path in imported[name])
    for name in ("adbc_driver_manager", "adbc_driver_postgresql", "adbc_driver_sqlite"):
        assert all(path.startswith("sqlanon/engines/") for path in imported[name])
    of_engines = {f"sqlanon/engines/{name}.py" for name in ("adbc", "room_reader", "spark", "udfs")}
    arrow = {*of_engines, "sqlanon/estimates/batch/label_masks.py"}
    served = {path for path in imported["pyarrow"] if path.startswith(("udfs/", "sqlanon/clients/serve/"))}
    assert imported["pyarrow"] - served <= arrow
    assert set(lower_bounds(PROJECT["dependencies"])) == {"duckdb", "msgspec", "sqlglot", "numpy", "pandas", "pytz"}
    assert set(lower_bounds(PROJECT["optional-dependencies"]["cli"])) == COMMAND_LINE


def test_the_lowest_versions_are_those_that_are_tested() -> None:
    extras = PROJECT["optional-dependencies"]
    bounds = lower_bounds([*PROJECT["dependencies"], *extras["cli"], *extras["arrow"]])
    lines = (ROOT / "tests" / "lowest.txt").read_text(encoding="utf-8").splitlines()
    pinned = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert pinned == bounds


def test_a_remainder_is_read_as_duckdb_reads_it() -> None:
    """sqlglot before 30.18 read it as (a - b) % c, so an estimate of such a condition would be of another one."""
    read = sqlglot.parse_one("a - b % c", dialect="duckdb")
    assert isinstance(read, exp.Sub)
    assert isinstance(read.expression, exp.Mod)


def test_the_documentation_names_what_each_extra_brings() -> None:
    """The extras that users install; `all` names the extras that it consists of."""
    _, _, text = (ROOT / "docs" / "install.md").read_text(encoding="utf-8").partition("| extra |")
    text, _, _ = text.partition("\n\n")
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", text, re.MULTILINE))
    extras = PROJECT["optional-dependencies"]
    documented = "all arrow cli dbt dp jobs masks notebook postgres profile report serve sign spark sqlite tasks"
    assert set(rows) == set(documented.split())
    for extra in set(rows) - {"all"}:
        named = {name.strip().lower() for name in rows[extra].split(",")}
        assert named == set(lower_bounds(extras[extra])), extra
    [brought] = extras["all"]
    assert brought == f"sqlanon[{rows['all'].strip().replace(' ', '')}]"


def test_all_is_what_a_first_day_needs() -> None:
    """Whatever a hint names in its place is large, or needs a server, a Java or another database."""
    hinted = {
        extra
        for path in (ROOT / "sqlanon").rglob("*.py")
        for extra in re.findall(r"pip install 'sqlanon\[(\w+)\]'", path.read_text(encoding="utf-8"))
    }
    [brought] = re.findall(r"\[(.*)\]", PROJECT["optional-dependencies"]["all"][0])
    assert {"cli", "arrow", "report", "notebook", "jobs", "sign", "tasks"} <= set(brought.split(","))
    assert hinted - set(brought.split(",")) <= {"spark", "dbt", "dp", "postgres", "serve", "sqlite"}


def test_the_sizes_of_the_documentation_are_of_extras_that_there_are() -> None:
    text = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `sqlanon(?:\[(\w+)\])?` \| +(\d+) \|", text, re.MULTILINE)
    sizes = {extra: int(size) for extra, size in rows}
    [brought] = re.findall(r"\[(.*)\]", PROJECT["optional-dependencies"]["all"][0])
    assert set(sizes) == {"", "all", *brought.split(",")}
    assert all(sizes[""] <= size <= sizes["all"] for size in sizes.values())


@pytest.mark.long
def test_without_arrow(tmp_path: Path) -> None:
    program = [sys.executable, "-c", WITHOUT_ARROW, str(tmp_path)]
    ran = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == ["8 8", "pip install 'sqlanon[arrow]'"]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("package", sorted(COMMAND_LINE))
def test_without_the_command_line(package: str) -> None:
    program = f"import sys; sys.modules[{package!r}] = None; from sqlanon.__main__ import main; main()"
    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == f"error: the command line needs {package}\n  hint: pip install 'sqlanon[cli]'\n"
