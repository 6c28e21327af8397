"""`import sqlanon` stays light: what only some users need is imported when they need it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

from sqlanon.methods.registry import METHODS

ROOT = Path(__file__).resolve().parents[2]
HEAVY = {"altair", "numpy", "pandas", "prompt_toolkit", "py4j", "pyarrow", "pyspark", "rich", "typer", "vl_convert"}


def test_importing_the_package_imports_no_heavy_library() -> None:
    program = "import json, sys, sqlanon; print(json.dumps(sorted(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    loaded = set(json.loads(ran.stdout))
    assert "sqlanon.session" in loaded
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
