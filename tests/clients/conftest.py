"""A notebook to run cells in, and a database on a PostgreSQL server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell

from tests.support.postgres import empty_database, postgres_server


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[InteractiveShell]:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    InteractiveShell.clear_instance()
    yield InteractiveShell.instance()
    InteractiveShell.clear_instance()


@pytest.fixture(scope="session")
def postgres_uri() -> Iterator[str]:
    """The URI of a server that all tests share."""
    with postgres_server() as uri:
        yield uri


@pytest.fixture
def postgres(postgres_uri: str) -> Iterator[str]:
    """The URI of an empty database of the test's own."""
    with empty_database(postgres_uri) as uri:
        yield uri
