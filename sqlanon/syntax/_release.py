"""The statements on releases: CREATE, EXPLAIN and DROP ANONYMIZED, CHECK, EXPORT."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlanon.domain.identifiers import fold
from sqlanon.domain.values import QualifiedName
from sqlanon.errors import Position
from sqlanon.syntax import _values
from sqlanon.syntax._attributes import hierarchy_name, key_variable
from sqlanon.syntax._head import if_not_exists, skip_kind
from sqlanon.syntax._lexer import Kind, keyword_of
from sqlanon.syntax._policy import against, joined, requirements, sets
from sqlanon.syntax._reader import Reader
from sqlanon.syntax._source import source
from sqlanon.syntax.statements import (
    CheckExport,
    CheckJoined,
    CheckRelation,
    CheckRelease,
    CheckSeries,
    CreateRelease,
    DropRelease,
    ExplainRelease,
    ExportRelease,
    MethodCall,
    RefreshRelease,
)

__all__ = ["check", "create", "drop", "explain", "export", "refresh", "sensitive_columns"]

_KINDS = ("VIEW", "TABLE")
_METHOD_EXAMPLE = "generalization(suppression => 0.02)"


def create(reader: Reader, position: Position) -> CreateRelease:
    """CREATE [OR REPLACE] ANONYMIZED VIEW|TABLE [IF NOT EXISTS] name AS POLICY policy
    [METHOD method [FRAGMENTS (attributes), ... | COLUMNS (attributes), ... | COLUMNS EACH]]
    [LEVELS FROM RELEASE release] [IN SERIES series].
    """
    reader.expect("CREATE")
    return _anonymized(reader, position, reader.accept("OR", "REPLACE"), "STREAM")


def explain(reader: Reader, position: Position) -> ExplainRelease:
    """EXPLAIN [CREATE [OR REPLACE]] ANONYMIZED VIEW|TABLE ..., the rest as in CREATE."""
    reader.expect("EXPLAIN")
    or_replace = reader.accept("CREATE") and reader.accept("OR", "REPLACE")
    return ExplainRelease(_anonymized(reader, position, or_replace), position=position)


def drop(reader: Reader, position: Position) -> DropRelease:
    """DROP ANONYMIZED VIEW|TABLE [IF EXISTS] name."""
    reader.expect("DROP", "ANONYMIZED")
    kind = reader.choose(_KINDS, "STREAM").lower()
    if_exists = reader.accept("IF", "EXISTS")
    name = _release_name(reader)
    reader.end()
    return DropRelease(kind, name, if_exists, position=position)


def check(reader: Reader, position: Position) -> CheckRelease | CheckSeries | CheckJoined | CheckRelation | CheckExport:
    """CHECK release [IN SERIES series | JOINED WITH RELEASE other ON (columns) REQUIRE requirements],
    CHECK 'path of an export', or
    CHECK source (columns) [SENSITIVE columns] [AGAINST public] [REQUIRE requirements].
    """
    reader.expect("CHECK")
    skip_kind(reader)
    if reader.sees("POLICY") and reader.peek(1).kind in (Kind.WORD, Kind.QUOTED):
        hint = (
            "CHECK asks a release or a table; DESCRIBE POLICY shows a policy, EXPLAIN ANONYMIZED what it would publish"
        )
        raise reader.refused("a policy has no rows to check", hint=hint, token=reader.peek())
    reader.mark("release")
    reader.mark("source")
    if reader.peek().kind is Kind.STRING and (
        reader.peek(1).kind is Kind.END or keyword_of(reader.peek(1)) == "SIGNED"
    ):
        return _check_export(reader, position)
    checked = source(reader)
    if checked.name and reader.peek().kind is Kind.END:
        return CheckRelease(checked.name, position=position)
    if checked.name and (series := in_series(reader)) is not None:
        reader.end()
        return CheckSeries(checked.name, series, position=position)
    columns: list[str] = []
    if checked.name and reader.sees("JOINED"):
        return _joined(reader, checked.name, position)
    reader.listed(lambda: columns.append(reader.named("a column", "column")))
    sensitive = sensitive_columns(reader)
    also = ("USING", '","') if sensitive else ("SENSITIVE",)
    ends = reader.peek().kind is Kind.END
    public = None if ends else against(reader, *also)
    required = () if ends or reader.peek().kind is Kind.END else requirements(reader)
    reader.end()
    hierarchies = tuple((column, hierarchy) for column, hierarchy in sensitive if hierarchy is not None)
    names = tuple(column for column, _ in sensitive)
    return CheckRelation(checked, tuple(columns), names, required, hierarchies, public, position=position)


def _check_export(reader: Reader, position: Position) -> CheckExport:
    """'path' [SIGNED BY 'file with the public key']."""
    reader.mark("path")
    path, key = _values.string(reader, "a path"), None
    if reader.accept("SIGNED", "BY"):
        reader.mark("key")
        key = _values.string(reader, "the file with the public key, as in 'publisher.pub'")
    reader.end(*(() if key else ("SIGNED BY",)))
    return CheckExport(path, key, position=position)


def _joined(reader: Reader, name: QualifiedName, position: Position) -> CheckJoined:
    """JOINED WITH RELEASE other ON (column, ...) REQUIRE requirements."""
    with_release = joined(reader)
    assert with_release is not None
    required = requirements(reader)
    reader.end()
    return CheckJoined(name, with_release.release, with_release.columns, required, position=position)


def export(reader: Reader, position: Position) -> ExportRelease:
    """EXPORT release TO 'path' [(FORMAT format, DELIMITER 'character', QUOTE 'character', PARTITION_BY (column, ...),
    TEXT [true|false], DICTIONARY [true|false], REPLACE [true|false], REPORT [true|false], SIGN KEY 'variable')].
    """
    reader.expect("EXPORT")
    skip_kind(reader)
    name = _release_name(reader)
    reader.expect("TO")
    reader.mark("path")
    path = _values.string(reader, "the path in quotes, as in 'out/'")
    options: dict[str, Any] = {}
    if reader.sees_symbol("("):
        reader.listed(lambda: _option(reader, options))
    reader.end()
    return ExportRelease(name, path, **options, position=position)


def _anonymized(reader: Reader, position: Position, or_replace: bool, *also: str) -> CreateRelease:
    reader.expect("ANONYMIZED")
    kind = reader.choose(_KINDS, *also).lower()
    unless_there = if_not_exists(reader, or_replace)
    name = _release_name(reader)
    reader.expect("AS", "POLICY")
    reader.mark("policy")
    policy = reader.name("the name of the policy")
    method = MethodCall()
    if reader.accept("METHOD"):
        token = reader.peek()
        name_and_arguments = _values.call(reader, "a method", _METHOD_EXAMPLE, "method")
        if name_and_arguments[0] == "stream":
            hint = "write CREATE ANONYMIZED STREAM name AS POLICY policy ORDER BY column METHOD stream(...)"
            raise reader.refused(f"METHOD stream makes no {kind}", hint=hint, token=token)
        method = MethodCall(*name_and_arguments, sets=sets(reader, "FRAGMENTS"))
        if not method.sets:
            method = replace(method, each_apart=reader.accept("COLUMNS", "EACH"))
        if not method.sets and not method.each_apart:
            method = replace(method, columns=_columns(reader))
        further = method.sets or method.columns or method.each_apart
        if not reader.sees("IN") and not reader.sees("LEVELS"):
            reader.end(*(() if further else ("FRAGMENTS", "COLUMNS")), "LEVELS FROM RELEASE", "IN SERIES")
    for keyword in ("COLUMNS", "FRAGMENTS"):
        if reader.sees(keyword):
            hint = f"write it behind the method: METHOD name(...) {keyword} (age, sex), (disease)"
            raise reader.refused(f"{keyword} belongs to a METHOD", hint=hint, token=reader.peek())
    levels = levels_from(reader)
    series = in_series(reader)
    also = ("IN SERIES",) if levels else ("METHOD", "LEVELS FROM RELEASE", "IN SERIES")
    reader.end(*(() if series is not None else also))
    return CreateRelease(kind, name, policy, method, or_replace, unless_there, series, levels, position=position)


def refresh(reader: Reader, position: Position) -> RefreshRelease:
    """REFRESH ANONYMIZED TABLE name [LEVELS FROM RELEASE release]."""
    reader.expect("REFRESH", "ANONYMIZED", "TABLE")
    name = _release_name(reader)
    levels = levels_from(reader)
    reader.end(*(() if levels else ("LEVELS FROM RELEASE",)))
    return RefreshRelease(name, levels, position=position)


def levels_from(reader: Reader) -> QualifiedName | None:
    """LEVELS FROM RELEASE name; None without the keywords."""
    if not reader.sees("LEVELS"):
        return None
    reader.expect("LEVELS", "FROM", "RELEASE")
    reader.mark("levels")
    return reader.qualified_name("the name of the release whose levels are kept")


def in_series(reader: Reader) -> str | None:
    """IN SERIES name; None without the keywords."""
    if not reader.sees("IN"):
        return None
    reader.expect("IN", "SERIES")
    reader.mark("series")
    return reader.name("the name of the series")


def _columns(reader: Reader) -> tuple[tuple[str, ...], ...]:
    """COLUMNS (column, ...), ...; nothing without the keyword."""
    if reader.sees("COLUMNS") and reader.peek(1).text != "(":
        reader.expect("COLUMNS")
        raise reader.expected("EACH or '('", hint="write COLUMNS (age, sex), (disease), or COLUMNS EACH")
    return sets(reader, "COLUMNS")


def _release_name(reader: Reader) -> QualifiedName:
    reader.mark("release")
    name = reader.qualified_name("the name of the release")
    reader.about(str(name))
    return name


def sensitive_columns(reader: Reader) -> list[tuple[str, str | None]]:
    """SENSITIVE column [USING hierarchy], ...; nothing without the keyword. Each column with its hierarchy, or None."""
    if not reader.accept("SENSITIVE"):
        return []
    columns: dict[str, tuple[str, str | None]] = {}
    while True:
        token = reader.peek()
        column = reader.named("a column", "column")
        if fold(column) in columns:
            raise reader.refused(
                f"the column {token.text} is named twice",
                hint="name it once; DuckDB's names do not tell upper from lower case",
                token=token,
            )
        columns[fold(column)] = (column, hierarchy_name(reader) if reader.accept("USING") else None)
        if not reader.accept_symbol(","):
            return list(columns.values())


_EXPORT_OPTIONS = (
    *("FORMAT", "DELIMITER", "QUOTE", "PARTITION_BY", "TEXT", "DICTIONARY", "REPLACE", "REPORT", "SIGN KEY"),
)


def _option(reader: Reader, before: dict[str, Any]) -> None:
    """One option of EXPORT; REPLACE alone says true, and so do TEXT, DICTIONARY and REPORT."""
    token = reader.peek()
    words = reader.choose(_EXPORT_OPTIONS)
    option = {"PARTITION_BY": "partition"}.get(words, words.lower().replace(" ", "_"))
    if option in before:
        raise reader.refused(f"{words} stands twice", hint=f"keep one {words}", token=token)
    reader.mark(option)
    match option:
        case "format":
            before[option] = _format(reader)
        case "delimiter" | "quote":
            before[option] = _values.string(reader, "a character in quotes, as in ';'")
        case "sign_key":
            before[option] = key_variable(reader)
        case "partition":
            before[option] = _partition(reader)
        case _:
            before[option] = _switch(reader)


def _partition(reader: Reader) -> tuple[str, ...]:
    """(column, ...)."""
    columns: list[str] = []
    reader.listed(lambda: columns.append(reader.name("a column of the release")))
    return tuple(columns)


def _format(reader: Reader) -> str:
    what = "a format, such as parquet"
    quoted = reader.peek().kind is Kind.STRING
    return (_values.string(reader, what) if quoted else reader.name(what)).lower()


def _switch(reader: Reader) -> bool:
    """TRUE, FALSE, or nothing for true."""
    return reader.accept("TRUE") or not reader.accept("FALSE")
