"""Requests of statements: to measure figures, and to make, export or attack a release."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.domain.values import QualifiedName, Value

# Calls within statements: of a method, and of figures to measure.


@dataclass(frozen=True)
class FigureCall:
    """A call name [(argument => value, ...)] of figures to be measured, with the name in lower case."""

    name: str
    arguments: tuple[tuple[str, Value], ...] = ()


# The argument of a method that is written as UNDER BUDGET name.
BUDGET = "budget"


@dataclass(frozen=True)
class MethodCall:
    """METHOD name(argument => value, ...) with the sets of columns and the budget that may follow.

    `sets` are the sets after FRAGMENTS (attributes), ..., `columns` the sets after COLUMNS (attributes), ...;
    `each_apart` is true if COLUMNS EACH was written. UNDER BUDGET name is among the arguments. An empty name means the
    default method of a statement without METHOD.
    """

    name: str = ""
    arguments: tuple[tuple[str, Value], ...] = ()
    sets: tuple[tuple[str, ...], ...] = ()
    columns: tuple[tuple[str, ...], ...] = ()
    each_apart: bool = False


# The method of a statement without METHOD.
_DEFAULT = MethodCall()


@dataclass(frozen=True)
class ReleaseRequest:
    """A release to be made: its kind ('view' or 'table'), name, policy and method.

    `levels_from` names the release whose levels are kept, and `series` the series that the release joins. If
    `choose_method` is true, methods are compared again, even if the release replaces one whose method was chosen.
    """

    kind: str
    name: QualifiedName
    policy: str
    method: MethodCall = _DEFAULT
    or_replace: bool = False
    if_not_exists: bool = False
    series: str | None = None
    levels_from: QualifiedName | None = None
    choose_method: bool = False


@dataclass(frozen=True)
class ExportRequest:
    """A release to be written to a path, in a format and with options.

    If no format is given, the suffix of the path decides; for a folder, the format is Parquet. `sign_key` names the
    environment variable with the private key that signs the certificate. Each combination of values of the columns
    `partition` gets its own files. If `dictionary` is true, a further file describes each column. If `text` is true,
    quasi-identifiers are written as text at all levels. `delimiter` and `quote` are options of a CSV file; None means
    the comma and the double quote.
    """

    name: QualifiedName
    path: str
    format: str | None = None
    replace: bool = False
    report: bool = False
    sign_key: str | None = None
    partition: tuple[str, ...] = ()
    dictionary: bool = False
    text: bool = False
    delimiter: str | None = None
    quote: str | None = None


@dataclass(frozen=True)
class AttackRequest:
    """An attack by its name, with its arguments.

    If `sensitive` is empty, all sensitive attributes of a release are attacked. `hierarchies` has the columns of
    `sensitive` with USING, each with its hierarchy.
    """

    attack: str
    arguments: tuple[tuple[str, Value], ...] = ()
    sensitive: tuple[str, ...] = ()
    hierarchies: tuple[tuple[str, str], ...] = ()
