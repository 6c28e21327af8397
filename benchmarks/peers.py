"""Runs a Python package that does Mondrian: `python -m benchmarks.peers NAME K ROWS CLASSES`.

ROWS is a Parquet file, whose last column is sensitive and whose other columns are quasi-identifiers. CLASSES is the
file to write: the same rows with the class of each.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.measure import cost

__all__ = ["CLASS", "NAMES", "installed", "main"]

CLASS = "class_number"

# Does the package's whole work; returns its partition of the rows.
_Peer = Callable[[pd.DataFrame, list[str], str, int], Sequence[Any]]


def _anonypy(rows: pd.DataFrame, quasi_identifiers: list[str], sensitive: str, k: int) -> Sequence[Any]:
    """Runs the two steps of Preserver.anonymize_k_anonymity."""
    package: Any = import_module("anonypy.anonypy")
    mondrian = package.Preserver(rows, quasi_identifiers, sensitive).modrian
    classes: Sequence[Any] = mondrian.partition(k)
    package.anonymize(rows, classes, quasi_identifiers, sensitive)
    return classes


def _anonypyx(rows: pd.DataFrame, quasi_identifiers: list[str], sensitive: str, k: int) -> Sequence[Any]:
    """Runs the two steps of Anonymiser.anonymise."""
    package: Any = import_module("anonypyx")
    options = {"sensitive_column": sensitive, "generalisation_strategy": "human-readable", "algorithm": "Mondrian"}
    anonymiser = package.Anonymiser(rows, k=k, feature_columns=quasi_identifiers, **options)
    classes: Sequence[Any] = anonymiser.algorithm.partition(anonymiser.parameters)
    schema = anonymiser.generalisation_strategy_type.create_for_data(rows, quasi_identifiers)
    schema.generalise(rows, classes)
    return classes


_PEERS: dict[str, _Peer] = {"anonypy": _anonypy, "anonypyx": _anonypyx}
NAMES = tuple(_PEERS)


def installed(name: str) -> str | None:
    """Returns the version of the package; None if it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def main(name: str, k: int, source: Path, target: Path) -> None:
    """Prints a line of JSON with the seconds and processor seconds of the package, without import and reading."""
    rows = pd.read_parquet(source)
    for column in rows.columns:
        if not pd.api.types.is_numeric_dtype(rows[column]):
            # The packages treat columns that are not categories as numbers.
            rows[column] = rows[column].astype("category")
    *quasi_identifiers, sensitive = map(str, rows.columns)
    import_module(name)
    classes: Sequence[Any] = ()

    def work() -> None:
        nonlocal classes
        classes = _PEERS[name](rows, quasi_identifiers, sensitive, k)

    taken = cost(work)
    numbers = pd.Series(-1, index=rows.index)
    for number, members in enumerate(classes):
        numbers.loc[members] = number
    if (numbers < 0).any():
        raise SystemExit(f"{name} has left out rows")
    rows.assign(**{CLASS: numbers}).to_parquet(target)
    print(json.dumps({"seconds": taken.seconds, "processor": taken.processor}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]), Path(sys.argv[4]))
