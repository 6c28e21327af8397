"""The task for Airflow that a page shows fails at once where another try would end the same, or is tried again."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from sqlanon.errors import EngineError, PrivacyViolation, UserError

# Of a database that another process has open.
IN_USE = 4
PAGE = (Path(__file__).resolve().parents[2] / "docs" / "how-to" / "warehouse-job.md").read_text(encoding="utf-8")
FILE = re.search(r"cat > dags/visits\.py <<'PY'\n(.*?)\nPY\n", PAGE, re.DOTALL)


class AirflowFailException(Exception):
    """Airflow's: the task has failed, and is not tried again."""


def decorator(**_: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Both of Airflow's, here of plain functions."""
    return lambda function: function


@pytest.fixture
def task(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Any]:
    """What the page's file defines, without Airflow, and where a folder stands for the warehouse's."""
    assert FILE is not None
    modules: dict[str, dict[str, Any]] = {
        "airflow": {},
        "airflow.sdk": {"dag": decorator, "task": decorator},
        "airflow.sdk.exceptions": {"AirflowFailException": AirflowFailException},
    }
    for name, members in modules.items():
        module = ModuleType(name)
        vars(module).update(members)
        monkeypatch.setitem(sys.modules, name, module)
    definitions, called, _ = FILE[1].rpartition("\n\nvisits()")
    assert called
    defined: dict[str, Any] = {}
    exec(definitions.replace("/srv/warehouse", str(tmp_path)), defined)  # noqa: S102 - the project's own page
    return defined


@pytest.mark.parametrize(
    ("code", "raised"),
    [
        (0, None),
        (PrivacyViolation.exit_code, AirflowFailException),
        (UserError.exit_code, AirflowFailException),
        (EngineError.exit_code, subprocess.CalledProcessError),
        (IN_USE, subprocess.CalledProcessError),
    ],
)
def test_what_the_task_makes_of_an_exit_code(task: dict[str, Any], code: int, raised: type[Exception] | None) -> None:
    assert task["JOB"][:3] == ["sqlanon", "job", "run"]
    task["JOB"][:] = [sys.executable, "-c", f"raise SystemExit({code})"]
    with nullcontext() if raised is None else pytest.raises(raised):
        task["release"]()
