"""dbt projects: files written from texts, commands run in this process, and what came of each node."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sqlanon.clients.dbt.macro_files import install_macros

__all__ = ["Project", "page_files"]

_FILE = re.compile(r"^`([\w/]+\.\w+)`[^\n]*:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def page_files(page: Path) -> dict[str, str]:
    """The files that a page shows: a block below a line that begins with its path."""
    return {name: text + "\n" for name, text in _FILE.findall(page.read_text(encoding="utf-8"))}


@dataclass(frozen=True)
class Project:
    """A dbt project in a folder, with its database beside it."""

    folder: Path
    database: str = "clinic.duckdb"

    @property
    def path(self) -> str:
        return str(self.folder / self.database)

    def write(self, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def install(self) -> None:
        install_macros(self.folder)

    def run(self, *arguments: str, **variables: str) -> dict[str, tuple[str, str, int | None]]:
        """Runs a command of dbt with variables of the environment.

        Of each node, by its name: the status, the message and the number of failures.
        """
        from dbt.cli.main import dbtRunner

        where = ["--project-dir", str(self.folder), "--profiles-dir", str(self.folder)]
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.folder)
            for name, value in variables.items():
                patch.setenv(name, value)
            done: Any = dbtRunner().invoke([*arguments, *where, "--quiet", "--no-send-anonymous-usage-stats"])
        assert done.result is not None, done.exception
        return {each.node.name: (str(each.status), each.message or "", each.failures) for each in done.result.results}
