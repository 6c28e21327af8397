"""Processes import what they use, so that they start soon. Modules are counted, as seconds depend on a machine."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import sqlanon
from sqlanon.methods.registry import METHODS

ROOT = Path(__file__).resolve().parents[2]
DATABASE = {"duckdb", "sqlglot"}
HEAVY = {"altair", "numpy", "pandas", "prompt_toolkit", "py4j", "pyarrow", "pyspark", "rich", "typer", "vl_convert"}


# What a program has imported when it ends, as the last line of standard error.
REPORT = """
import atexit, json, sys
atexit.register(lambda: print(json.dumps(sorted(sys.modules)), file=sys.stderr))
"""


def imported(program: str, **environment: str) -> set[str]:
    command = [sys.executable, "-c", REPORT + program]
    variables = {**os.environ, **environment}
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=variables)
    assert ran.returncode == 0, ran.stderr
    return set(json.loads(ran.stderr.splitlines()[-1]))


def own(modules: set[str]) -> set[str]:
    return {name for name in modules if name.partition(".")[0] == "sqlanon"}


def test_importing_the_package_imports_its_errors_alone() -> None:
    loaded = imported("import sqlanon; assert sqlanon.__version__; sqlanon.UserError")
    assert own(loaded) == {"sqlanon", "sqlanon.errors"}
    assert loaded & {*HEAVY, *DATABASE} == set()


@pytest.mark.long
def test_each_public_name_is_imported_when_it_is_read() -> None:
    """In a fresh process each, so that none is there because another one was read before."""
    assert own(imported("from sqlanon import *; connect, anonymize, Policy, SqlanonError")) > {"sqlanon.clients.frames"}
    assert all(getattr(sqlanon, name) is not None for name in sqlanon.__all__)
    assert dir(sqlanon) == sorted(sqlanon.__all__)
    assert (
        own(imported("import sqlanon; sqlanon.KAnonymity")) & {"sqlanon.clients.session", "sqlanon.clients.frames"}
        == set()
    )
    with pytest.raises(AttributeError, match="module 'sqlanon' has no attribute 'conect'"):
        sqlanon.conect  # noqa: B018


@pytest.mark.parametrize(("name", "module"), [("Policy", "api"), ("anonymize", "frames"), ("connect", "session")])
def test_the_module_of_a_public_name_is_imported_when_it_is_read(name: str, module: str) -> None:
    assert f"sqlanon.clients.{module}" in own(imported(f"import sqlanon; sqlanon.{name}"))


COMPLETED = {"_SQLANON_COMPLETE": "complete_bash", "COMP_CWORD": "2"}


@pytest.mark.parametrize(
    ("arguments", "environment"),
    [
        (["--version"], {}),
        (["--help"], {}),
        (["run", "--help"], {}),
        (["job", "run", "--help"], {}),
        ([], {"_SQLANON_COMPLETE": "complete_bash", "COMP_WORDS": "sqlanon ru", "COMP_CWORD": "1"}),
        ([], {**COMPLETED, "COMP_WORDS": "sqlanon run --data"}),
        ([], {**COMPLETED, "COMP_WORDS": "sqlanon job r"}),
    ],
)
def test_help_and_completion_import_the_command_line_alone(arguments: list[str], environment: dict[str, str]) -> None:
    program = f"sys.argv[1:] = {arguments!r}; from sqlanon.__main__ import main; main()"
    loaded = imported(program, **environment)
    others = own(loaded) - {"sqlanon", "sqlanon.__main__", "sqlanon.errors"}
    folders = {name.rpartition(".")[0] for name in others} - {"sqlanon.clients.terminal.files"}
    assert folders == {"sqlanon", "sqlanon.clients", "sqlanon.clients.terminal"}
    assert {name for name in others if name.rpartition(".")[0] == "sqlanon"} == {"sqlanon.clients"}
    assert {name for name in others if name.rpartition(".")[0] == "sqlanon.clients"} == {"sqlanon.clients.terminal"}
    assert loaded & {*HEAVY - {"typer"}, *DATABASE, "pydantic"} == set()


def test_a_connection_imports_no_statement() -> None:
    loaded = imported("import sqlanon; sqlanon.connect().sql('SELECT 1').fetchall()")
    packages = {name.split(".")[1] for name in own(loaded) if "." in name}
    assert packages & {"assess", "methods", "export", "estimates", "catalog"} == set()
    assert not any(name.startswith(("sqlanon.clients.api", "sqlanon.release.pipeline")) for name in own(loaded))
    assert {name for name in own(loaded) if name.startswith("sqlanon.statements.") and name.count(".") > 2} == set()
    assert len(own(loaded)) <= 100
    assert loaded & HEAVY == set()


def test_a_statement_imports_what_it_needs() -> None:
    loaded = imported("import sqlanon; sqlanon.connect().sql('CREATE HIERARCHY h AS PREFIXES (2, 1)')")
    packages = {name.split(".")[1] for name in own(loaded) if "." in name}
    assert packages & {"assess", "export", "estimates"} == set()
    others = ("sqlanon.clients.api", "sqlanon.release.pipeline", "sqlanon.republication.streams")
    assert not any(name.startswith(others) for name in own(loaded))
    assert len(own(loaded)) <= 180
    assert loaded & HEAVY == set()


def test_without_pyspark_the_engine_for_spark_says_what_to_install() -> None:
    program = "import sys; sys.modules['pyspark'] = sys.modules['py4j'] = None; import sqlanon.engines.spark"
    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode != 0
    assert "pip install 'sqlanon[spark]'" in ran.stderr


def test_the_linter_knows_every_methods_folder_and_all_that_might_import_it() -> None:
    """What the contract leaves out could import a method, and would have to be touched for a new one."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    contracts = {contract.get("id"): contract for contract in settings["contracts"]}
    folders = {".".join(module.split(".")[:3]) for module in METHODS.values()}
    assert set(contracts["registry"]["forbidden_modules"]) == folders
    layers = [set(re.findall(r"\w+", layer)) for layer in contracts["layers"]["layers"]]
    last = next(index for index, layer in enumerate(layers) if "methods" in layer)
    above = {f"sqlanon.{name}" for layer in layers[: last + 1] for name in layer - {"methods"}}
    assert set(contracts["registry"]["source_modules"]) == above
