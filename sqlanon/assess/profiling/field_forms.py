"""Finds the forms of fields that a CSV reader needs as options: codes for missing values, and decimal commas."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from sqlanon.assess.profiling.checked_values import have_commas, is_sure, missing_codes
from sqlanon.assess.profiling.sample import Sample, is_text
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.sql.build.names import relation
from sqlanon.sql.build.queries import select
from sqlanon.sql.build.sql_files import filled


@dataclass(frozen=True)
class MissingText:
    """A text that looks like a code for a missing value in `columns`, and that occurs as a possible value in the
    columns `others`.

    `is_sure` is false for words and for a single digit, because they may be values in `columns`, too.
    """

    text: str
    columns: tuple[str, ...]
    others: tuple[str, ...] = ()
    is_sure: bool = True


@dataclass(frozen=True)
class FieldForms:
    """The forms of fields: the probable codes for missing values, and the columns with a decimal comma."""

    nulls: tuple[MissingText, ...] = ()
    commas: tuple[str, ...] = ()

    @property
    def harmless(self) -> tuple[MissingText, ...]:
        """The codes that a reader may treat as missing values in all columns, because no column has them as values."""
        return tuple(each for each in self.nulls if each.is_sure and not each.others)


def field_forms(engine: Engine, table: QualifiedName, sample: Sample) -> FieldForms:
    """Finds the forms of fields in the columns of a sample; all rows of the table are searched for the codes in other
    columns.
    """
    codes_by_column = {of.name: codes.codes if (codes := missing_codes(of)) else () for of in sample.columns}
    sure = {name: [code for code in codes if is_sure(code)] for name, codes in codes_by_column.items()}
    texts = dict.fromkeys(str(code) for codes in codes_by_column.values() for code in codes)
    nulls = []
    for text in texts:
        names = tuple(name for name, codes in codes_by_column.items() if text in map(str, codes))
        others = _columns_with(engine, table, text, [name for name in codes_by_column if name not in names])
        nulls.append(MissingText(text, names, others, is_sure(text)))
    commas = [
        of.name
        for of in sample.columns
        if is_text(of.type) and have_commas([text for text in of.texts if text not in sure[of.name]])
    ]
    return FieldForms(tuple(nulls), tuple(commas))


def _columns_with(engine: Engine, table: QualifiedName, text: str, names: list[str]) -> tuple[str, ...]:
    """Returns the columns that have a text in some row; a number is compared as a number, so -9 equals -9.0."""
    if not names:
        return ()

    def is_there(name: str) -> exp.Expr:
        condition = """
            bool_or(trim(CAST({name} AS VARCHAR)) = $text
              OR coalesce(TRY_CAST(CAST({name} AS VARCHAR) AS DOUBLE) = TRY_CAST($text AS DOUBLE), FALSE))
        """
        return filled(condition, names={"name": name}, text=text)

    [flags] = engine.rows(select(*map(is_there, names), of=relation(table)))
    return tuple(name for name, is_found in zip(names, flags, strict=True) if is_found)
