"""Requests of statements to the packages below: the parts of a statement that make, write or attack a release."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.domain.values import QualifiedName, Value

# Calls that stand within statements: a method, and figures to measure.


@dataclass(frozen=True)
class FigureCall:
    """name [(argument => value, ...)]: figures that are to be measured, the name in lower case."""

    name: str
    arguments: tuple[tuple[str, Value], ...] = ()


# The argument of a method that is written as UNDER BUDGET name.
BUDGET = "budget"


@dataclass(frozen=True)
class MethodCall:
    """METHOD name(argument => value, ...) [FRAGMENTS (attributes), ... | COLUMNS (attributes), ... | COLUMNS EACH]
    [UNDER BUDGET name].

    Without METHOD there is no name, and the default method is meant. `sets` are those of columns after FRAGMENTS,
    `columns` those after COLUMNS; `each_apart` says that COLUMNS EACH was written. The budget is among the arguments.
    """

    name: str = ""
    arguments: tuple[tuple[str, Value], ...] = ()
    sets: tuple[tuple[str, ...], ...] = ()
    columns: tuple[tuple[str, ...], ...] = ()
    each_apart: bool = False


# Of a statement without METHOD.
_DEFAULT = MethodCall()


@dataclass(frozen=True)
class ReleaseRequest:
    """A release to be made: its kind ('view' or 'table'), name, policy and method.

    `levels_from` names the release whose levels are kept, `series` the series that the release joins. With
    `choose_method` methods are compared even where the release that is replaced has one that was chosen.
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

    Without a format it is that of the path's suffix, and Parquet where the path names a folder. `sign_key` names the
    environment variable with the private key that signs the certificate. Of the columns `partition` each combination of
    values has files of its own. With a `dictionary`, a file says what each column is. With `text` quasi-identifiers are
    text, whatever their levels. `delimiter` and `quote` are those of a CSV file; None for the comma and double quote.
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

    Without `sensitive` all sensitive attributes of a release are attacked; `hierarchies` are those columns of
    `sensitive` with USING, each with its hierarchy.
    """

    attack: str
    arguments: tuple[tuple[str, Value], ...] = ()
    sensitive: tuple[str, ...] = ()
    hierarchies: tuple[tuple[str, str], ...] = ()
