"""EXPORT and CHECK of an export as texts."""

from __future__ import annotations

from sqlanon.syntax._texts import name_text, qualified_text, string_text
from sqlanon.syntax.statements import CheckExport, ExportRelease

__all__ = ["check_export_text", "export_text"]


def export_text(statement: ExportRelease) -> str:
    options = [f"FORMAT {string_text(statement.format)}"] if statement.format is not None else []
    for name, character in (("DELIMITER", statement.delimiter), ("QUOTE", statement.quote)):
        options += [f"{name} {string_text(character)}"] if character is not None else []
    if statement.partition:
        options += [f"PARTITION_BY ({', '.join(map(name_text, statement.partition))})"]
    options += [
        f"{name} true" for name in ("TEXT", "DICTIONARY", "REPLACE", "REPORT") if getattr(statement, name.lower())
    ]
    options += [f"SIGN KEY {string_text(statement.sign_key)}"] if statement.sign_key is not None else []
    behind = f" ({', '.join(options)})" if options else ""
    return f"EXPORT {qualified_text(statement.name)} TO {string_text(statement.path)}{behind}"


def check_export_text(statement: CheckExport) -> str:
    signed = "" if statement.key is None else f" SIGNED BY {string_text(statement.key)}"
    return f"CHECK {string_text(statement.path)}{signed}"
