"""Databases that tests run on, and what they read from them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import duckdb

__all__ = ["one_thread"]


@contextmanager
def one_thread() -> Iterator[Any]:
    """A plain DuckDB connection in memory, with one thread: a small table is answered no sooner by more."""
    with duckdb.connect(config={"threads": "1"}) as opened:
        opened.execute("SET enable_progress_bar = false")
        yield opened
