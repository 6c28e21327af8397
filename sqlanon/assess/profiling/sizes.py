"""What is looked at when a table is profiled, and from when on a figure leads to a proposal."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.domain.context import Adjustable


@dataclass(frozen=True)
class Sizes:
    """Thresholds of a profile.

    A column identifies people if a share of `unique` of its values that are not NULL belong to one row each. Numbers
    that may have a fraction do so only if they are whole and span at most `dense` times the rows. From a share of
    `telling` of all rows on, sensitive values that no other row has are worth a word.

    About `sample_rows` rows are read. A value pattern is recognized if a share of `pattern` of the different values in
    them have it. Check digits, telephone numbers and names need at least `checked_values` different values, and full
    names a given name in a share of `names` of them. Text with more than `free_text` characters in the mean is free
    text. A set of columns is a key if it tells a share of `key` of the rows from all others. A column is like the
    number of a respondent of whom there are several rows if it has at least `respondents` values, each in equally many
    rows.

    A column is a sum or a product of others if at least `evidence` rows could have shown that it is not. It is a
    function of another one if independent columns would look so with a probability of at most `chance`, and if its
    values have `repeated` rows each in the mean.

    Nines such as 999 are a code for a missing value if at least `repeated_codes` rows of the sample have them.

    Sets have up to `set_columns` columns, out of at most `columns`; a search reads at most `set_cells` cells (sets of
    a size, times rows), and looks at no size that would read more. Up to `collected_cells` cells are read into memory,
    where a set is counted in less time than a query takes.

    A hierarchy has about `intervals` intervals at its finest level, or up to `groups` groups of values. Intervals are
    given up for groups of like frequency where one of them has more than a share of `crowded` of the rows. A column of
    at most `few_values` values needs no hierarchy.
    """

    unique: float = 0.9
    dense: int = 20
    telling: float = 0.5
    pattern: float = 0.8
    sample_rows: int = 4_096
    checked_values: int = 8
    names: float = 0.6
    free_text: int = 60
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
    intervals: int = 16
    groups: int = 32
    crowded: float = 0.75
    few_values: int = 3
    quick_nodes: int = 1_000_000


sizes = Adjustable(Sizes())
