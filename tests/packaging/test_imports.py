"""`import sqlanon` stays light: what only some users need is imported when they need it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEAVY = {"numpy", "pandas", "prompt_toolkit", "py4j", "pyarrow", "pyspark", "rich", "typer"}


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
