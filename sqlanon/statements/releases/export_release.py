"""The statement EXPORT."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from sqlanon.domain.requests import ExportRequest
from sqlanon.statements.base import WARNING, Answer, Catalog, Presentation, Statement
from sqlanon.syntax import values
from sqlanon.syntax.attributes import key_variable
from sqlanon.syntax.head import release_name, skip_kind
from sqlanon.syntax.lexer import Kind, keyword_of
from sqlanon.syntax.reader import Reader
from sqlanon.syntax.texts import names_text, qualified_text, string_text

if TYPE_CHECKING:
    from sqlanon.domain.context import Watching
    from sqlanon.engines.base import Engine

# Options of COPY and of other tools.
_OF_OTHERS = {
    "HEADER": "leave it out: a CSV file has the names of its columns in its first line",
    "OVERWRITE": "write REPLACE, which replaces a former export",
    "OVERWRITE_OR_IGNORE": "write REPLACE, which replaces a former export",
    "DELIM": "write DELIMITER ';'",
    "SEP": "write DELIMITER ';'",
}
_OPTIONS = ("FORMAT", "DELIMITER", "QUOTE", "PARTITION_BY", "TEXT", "DICTIONARY", "REPLACE", "REPORT", "SIGN KEY")
# The last column, if there is a report.
_REPORT = ("report", "VARCHAR")


@dataclass(frozen=True)
class ExportRelease(Statement, ExportRequest):
    """Writes a snapshot and its certificate to new files, or to a database."""

    OPENINGS = ("EXPORT",)
    EXAMPLES = ("EXPORT hospital_2026 TO 'out/' (FORMAT parquet)",)
    GRAMMAR = """
export_release = EXPORT release TO string [ "(" export_option {"," export_option} [","] ")" ] ;
export_option = FORMAT ( string | name ) | DELIMITER string | QUOTE string
  | PARTITION_BY "(" name {"," name} [","] ")"
  | ( TEXT | DICTIONARY | REPLACE | REPORT ) [ TRUE | FALSE ] | SIGN KEY string ;
"""
    PRESENTATION = Presentation.FILES
    CALCULATES = True
    DISTRIBUTED = None
    CATALOG = Catalog.READS
    COLUMNS = (
        ("release", "VARCHAR"),
        ("format", "VARCHAR"),
        ("path", "VARCHAR"),
        ("rows", "BIGINT"),
        ("certificate", "VARCHAR"),
        WARNING,
    )

    @classmethod
    def read(cls, reader: Reader) -> Self:
        reader.expect("EXPORT")
        skip_kind(reader)
        name = release_name(reader)
        reader.expect("TO")
        reader.mark("path")
        path = values.string(reader, "the path in quotes, as in 'out/'")
        options: dict[str, Any] = {}
        if reader.sees_symbol("("):
            reader.listed(lambda: _option(reader, options))
        if reader.sees("WITH") and reader.sees_symbol("(", ahead=1):
            hint = "leave WITH out: EXPORT hospital_2026 TO 'out/' (FORMAT parquet)"
            raise reader.refused("options must directly follow the path", hint=hint, token=reader.peek())
        reader.end()
        return cls(name, path, **options)

    def sql(self) -> str:
        options = [f"FORMAT {string_text(self.format)}"] if self.format is not None else []
        for name, character in (("DELIMITER", self.delimiter), ("QUOTE", self.quote)):
            options += [f"{name} {string_text(character)}"] if character is not None else []
        if self.partition:
            options += [f"PARTITION_BY ({names_text(self.partition)})"]
        options += [
            f"{name} true" for name in ("TEXT", "DICTIONARY", "REPLACE", "REPORT") if getattr(self, name.lower())
        ]
        options += [f"SIGN KEY {string_text(self.sign_key)}"] if self.sign_key is not None else []
        behind = f" ({', '.join(options)})" if options else ""
        return f"EXPORT {qualified_text(self.name)} TO {string_text(self.path)}{behind}"

    def title(self) -> str:
        return f"EXPORT {self.name}"

    def released_rows(self, answer: Answer) -> int | None:
        rows = [name for name, _ in answer.columns].index("rows")
        return sum(int(row[rows]) for row in answer.rows)

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        from sqlanon.engines.postgres_url import is_database_url
        from sqlanon.errors import about
        from sqlanon.export.layout import report_path, report_text
        from sqlanon.export.report.page_file import with_report, without_former
        from sqlanon.export.run import export_release
        from sqlanon.release.existing.loaded import load_release

        release = load_release(engine, self.name)
        if is_database_url(self.path):
            return Answer(self.COLUMNS, tuple(map(astuple, export_release(engine, release, self))))
        with about("path"):
            path = report_path(self.path)
        former = partial(without_former, path, replace=self.replace)
        export = partial(export_release, engine, release, self, former)
        if not self.report:
            return Answer(self.COLUMNS, tuple(map(astuple, export())))
        exported = with_report(engine, release.name, path, export, replace=self.replace)
        rows = tuple((*astuple(file), report_text(self.path)) for file in exported)
        return Answer((*self.COLUMNS, _REPORT), rows)


def _option(reader: Reader, before: dict[str, Any]) -> None:
    """Reads one option; without a value, REPLACE, TEXT, DICTIONARY and REPORT are true."""
    token = reader.peek()
    if hint := _OF_OTHERS.get(keyword_of(token)):
        raise reader.refused(f"EXPORT has no option {token.text}", hint=hint, token=token)
    words = reader.choose(_OPTIONS)
    option = {"PARTITION_BY": "partition"}.get(words, words.lower().replace(" ", "_"))
    if option in before:
        raise reader.refused(f"{words} occurs twice", hint=f"keep one {words}", token=token)
    reader.mark(option)
    match option:
        case "format":
            before[option] = _format(reader)
        case "delimiter" | "quote":
            before[option] = values.string(reader, "a character in quotes, as in ';'")
        case "sign_key":
            before[option] = key_variable(reader)
        case "partition":
            before[option] = _partition(reader)
        case _:
            before[option] = _switch(reader)


def _partition(reader: Reader) -> tuple[str, ...]:
    """Reads (column, ...); returns the names of the columns."""
    columns: list[str] = []
    reader.listed(lambda: columns.append(reader.name("a column of the release")))
    return tuple(columns)


def _format(reader: Reader) -> str:
    what = "a format, such as parquet"
    quoted = reader.peek().kind is Kind.STRING
    return (values.string(reader, what) if quoted else reader.name(what)).lower()


def _switch(reader: Reader) -> bool:
    """Reads TRUE or FALSE; returns true if there is neither."""
    return reader.accept("TRUE") or not reader.accept("FALSE")
