"""What `sqlanon dbt install` writes into a dbt project; what dbt makes of it is in tests/clients/test_dbt.py."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import sqlanon
from sqlanon.clients.dbt.macro_files import macro_files
from sqlanon.sql.questions.load import load_question
from tests.support.command_line import invoke


def test_the_command_writes_the_macros_and_writes_them_anew(tmp_path: Path) -> None:
    (tmp_path / "dbt_project.yml").write_text("name: clinic", encoding="utf-8")
    folder = tmp_path / "macros" / "sqlanon"
    for _ in range(2):
        assert invoke("dbt", "install", str(tmp_path)).exit_code == 0
        assert {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()} == macro_files()
        (folder / "tests.sql").write_text("{# Written by `sqlanon dbt install` of sqlanon 0.0.9 #}", encoding="utf-8")
    (folder / "tests.sql").write_text("{# mine #}", encoding="utf-8")
    refused = invoke("dbt", "install", str(tmp_path))
    assert refused.exit_code == 2
    assert "tests.sql is a file that sqlanon has not written" in refused.stderr
    assert invoke("dbt", "install", str(folder)).exit_code == 2


def test_the_macros_state_their_version() -> None:
    files = macro_files()
    assert all(sqlanon.__version__ in text.splitlines()[0] for text in files.values())
    assert f"'macros': '{sqlanon.__version__}'" in files["anonymized.sql"]


@pytest.mark.parametrize("name", ["k_anonymity", "entropy_l_diversity", "recursive_l_diversity", "ordered_t_closeness"])
def test_the_tests_of_dbt_ask_the_text_of_the_models(name: str) -> None:
    text = re.sub(r"\{\{ given\.(\w+) \}\}", r"$\1", macro_files()["violations.sql"])
    _, _, branch = text.partition(f"if question == '{name}' %}}")
    assert load_question(name).statement("violations") in branch.partition("{%-")[0]
