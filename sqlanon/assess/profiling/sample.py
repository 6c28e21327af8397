"""Reads a sample of the rows of a table into memory, to recognize the form of values and the relations of columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from sqlglot import exp

from sqlanon.domain.context import Adjustable
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Column, Engine
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text, cast, infix, window
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, select, subquery

# The limits of a profile, and the thresholds of its proposals.


@dataclass(frozen=True)
class Sizes:
    """Thresholds of a profile.

    A column identifies people if a share of `unique` of its values that are not NULL belong to one row each. Numbers of
    a type with fractions do so only if they are whole and their range is at most `dense` times the number of rows. The
    user is warned if a share of at least `telling` of all rows have a sensitive value that no other row has.

    About `sample_rows` rows are read. A value pattern is recognized if a share of `pattern` of their distinct values
    have it. Telephone numbers and names are recognized from `checked_values` distinct values on, and full names only if
    a share of `names` of them have a given name. Text with more than `free_text` characters on average is free text. A
    set of columns is a key if it distinguishes a share of `key` of the rows from all others. A column looks like the
    number of a respondent with several rows if it has at least `respondents` values, each in equally many rows. A text
    in at least `label_rows` rows is a label, and not a text about one person.

    A column is a sum or a product of others only if at least `evidence` rows could have refuted it. A column is a
    function of another column if independent columns would look like this with a probability of at most `chance`, and
    if the other column's values have `repeated` rows each on average. A column has check digits if random texts would
    have as many valid ones with a probability below `chance`.

    A number of nines such as 999 is a code for a missing value if at least `repeated_codes` rows of the sample have it.

    Sets have up to `set_columns` columns, out of at most `columns`; a search skips the sizes at which it would read
    more than `set_cells` cells, that is, sets of the size times rows. Up to `collected_cells` cells are read into
    memory, because sets are counted faster there than by queries. The search for special rows takes at most
    `special_looks` steps, one for each cell and set.

    A hierarchy has about `intervals` intervals at its finest level, or up to `groups` groups of values. Groups of
    similar frequency replace intervals if one interval has more than a share of `crowded` of the rows. A column of at
    most `few_values` values needs no hierarchy.
    """

    unique: float = 0.9
    dense: int = 20
    telling: float = 0.5
    pattern: float = 0.8
    sample_rows: int = 4_096
    checked_values: int = 8
    names: float = 0.6
    free_text: int = 60
    label_rows: int = 10
    key: float = 0.9
    respondents: int = 20
    repeated_codes: int = 2
    evidence: int = 20
    repeated: int = 8
    chance: float = 1e-6
    columns: int = 24
    set_columns: int = 3
    set_cells: int = 300_000_000
    collected_cells: int = 1_000_000
    special_looks: int = 50_000_000
    intervals: int = 16
    groups: int = 32
    crowded: float = 0.75
    few_values: int = 3
    quick_nodes: int = 1_000_000


sizes = Adjustable(Sizes())


Cell = str | int | float | None

_NESTED = ("STRUCT", "MAP", "UNION", "BLOB", "JSON", "BIT", "VARIANT", "GEOMETRY")
_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "BOOLEAN")
_REAL = ("FLOAT", "DOUBLE", "DECIMAL", "HUGEINT", "UHUGEINT")
# Longer text is free text, of which only the beginning is read.
_LONGEST = 200
_WORD = re.compile(r"[^\W\d_]{2,}")
_WORDS_OF_SENTENCE = 3


def is_nested(kind: str) -> bool:
    """Whether a type has values that are lists, structures or binary."""
    return kind.endswith("]") or kind.startswith(_NESTED)


def is_text(kind: str) -> bool:
    return kind in ("VARCHAR", "UUID") or kind.startswith("ENUM(")


def is_number(kind: str) -> bool:
    return kind.startswith((*_WHOLE, *_REAL))


@dataclass(frozen=True)
class SampledColumn:
    """A column and its values in the rows of a sample: numbers as numbers, values of any other type as text."""

    name: str
    type: str
    values: tuple[Cell, ...]

    @cached_property
    def distinct(self) -> list[Cell]:
        """The distinct values other than NULL, in the order of their first rows."""
        return [value for value in dict.fromkeys(self.values) if value is not None]

    @cached_property
    def texts(self) -> list[str]:
        """The distinct nonempty texts, without surrounding blanks."""
        texts = (value.strip() for value in self.distinct if isinstance(value, str))
        return [text for text in dict.fromkeys(texts) if text]

    @cached_property
    def is_wordy(self) -> bool:
        """Whether most of the column's distinct texts have three words or more, like sentences."""
        sentences = sum(len(_WORD.findall(text)) >= _WORDS_OF_SENTENCE for text in self.texts)
        return self.type == "VARCHAR" and 2 * sentences > len(self.texts)

    @property
    def may_be_free_text(self) -> bool:
        """Whether the column's distinct texts are mostly sentences, or are long on average."""
        lengths = [len(text) for text in self.texts]
        is_long = self.type == "VARCHAR" and sum(lengths) > sizes().free_text * len(lengths)
        return self.is_wordy or is_long

    def counts(self, rows: int) -> bool:
        """Whether the column's numbers are whole and dense, like numbers in sequence in a table of `rows` rows.

        Frames and files often have such numbers as DOUBLE.
        """
        numbers = [value for value in self.distinct if isinstance(value, int | float)]
        if not numbers or len(numbers) < len(self.distinct) or not all(value % 1 == 0 for value in numbers):
            return False
        return max(numbers) - min(numbers) <= sizes().dense * rows


@dataclass(frozen=True)
class Sample:
    """The columns of a sample of a table's rows; `whole` is true if the sample has all rows."""

    columns: tuple[SampledColumn, ...]
    whole: bool

    def __getitem__(self, name: str) -> SampledColumn:
        return next(column for column in self.columns if column.name == name)


def sampled(engine: Engine, table: QualifiedName, columns: Sequence[Column], rows: int) -> Sample:
    """Reads about `sample_rows` rows of a table of `rows` rows, spread over the table, without the columns of nested
    types.
    """
    flat = [(name, kind) for name, kind in columns if not is_nested(kind)]
    if not flat:
        return Sample((), True)
    step = -(-rows // sizes().sample_rows)
    query = select(*(alias(_cell(name, kind), f"c{i}") for i, (name, kind) in enumerate(flat)))
    if step <= 1 or not engine.reads_in_place:
        query = extend(query, of=relation(table), limit=sizes().sample_rows)
    else:
        named = [alias(column(name), f"v{i}") for i, (name, _) in enumerate(flat)]
        numbered = subquery(select(*named, alias(window(f.row_number()), "n"), of=relation(table)), "numbered")
        cells = [alias(_cell(f"v{i}", kind), f"c{i}") for i, (_, kind) in enumerate(flat)]
        # A hash of the row number chooses rows: equal distances could choose only one year of a panel.
        query = select(*cells, of=numbered, where=[infix(f.call("hash", column("n")), "%", literal(step)).eq(0)])
    lines = engine.rows(query)
    cells_of = list(zip(*lines, strict=True)) if lines else [()] * len(flat)
    taken = (SampledColumn(name, kind, tuple(cells)) for (name, kind), cells in zip(flat, cells_of, strict=True))
    return Sample(tuple(taken), step <= 1)


def _cell(name: str, kind: str) -> exp.Expr:
    if kind == "BOOLEAN":
        return cast(column(name), "INTEGER")
    if kind.startswith(_WHOLE):
        return column(name)
    if kind.startswith(_REAL):
        return cast(column(name), "DOUBLE")
    return f.call("left", as_text(column(name)), literal(_LONGEST))
