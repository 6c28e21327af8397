"""Columns of a pandas frame as they were: DuckDB has fewer types, and gives some back as others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Attribute, Role
from sqlanon.domain.reading import Reading
from sqlanon.domain.release import ReleaseAttribute

__all__ = ["AsReturned", "Restoring"]


class AsReturned:
    """A frame of which DuckDB gives every type back: it stays as it is returned."""

    attributes: tuple[Attribute, ...] = ()

    def __init__(self, source: Any) -> None:
        self.source = source

    def restored(self, released: Any, columns: Sequence[ReleaseAttribute]) -> Any:
        return released


class Restoring(AsReturned):
    """A pandas frame with a column more, the positions of its rows, by which values that are published come back."""

    def __init__(self, source: Any, names: Sequence[str]) -> None:
        self._original = source
        self._position = "position"
        while fold(self._position) in map(fold, names):
            self._position += "_"
        # Shares the columns with the frame of the caller, who does not see the column more.
        numbered = source.copy(deep=False)
        numbered[self._position] = range(len(source))
        super().__init__(numbered)
        self.attributes = (Attribute(self._position, Role.INSENSITIVE),)

    def restored(self, released: Any, columns: Sequence[ReleaseAttribute]) -> Any:
        """The released rows without their positions; columns that are the row's own value as they were in the source.

        Quasi-identifiers are not among them: by values that DuckDB does not tell apart, classes would fall apart.
        """
        rows = released[self._position].to_numpy()
        result = released.drop(columns=self._position)
        for attribute in columns:
            name = attribute.name
            if name == self._position or attribute.reading is not Reading.EXACT:
                continue
            values = _of_released_rows(self._original[name].iloc[rows].reset_index(drop=True))
            is_open = attribute.role is Role.INSENSITIVE
            if values is not None and (
                is_open or (attribute.role is Role.SENSITIVE and _are_as_many(values, released[name]))
            ):
                result[name] = values
        return result


def _of_released_rows(values: Any) -> Any:
    """The values, with nothing of rows that are not among them; None where the dtype might keep some.

    A categorical lists values whether they occur or not, and in the order in which the rows had them unless it is
    ordered or sorted; so do dictionaries of Arrow.
    """
    import numpy as np
    import pandas as pd

    dtype = values.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        categories = values.cat.remove_unused_categories().cat.categories
        if not dtype.ordered:
            categories = sorted(categories, key=lambda category: (type(category).__name__, str(category)))
        return values.cat.set_categories(categories)
    known = (np.dtype, pd.BooleanDtype, pd.StringDtype, pd.DatetimeTZDtype, pd.PeriodDtype)
    numbers = pd.api.types.is_numeric_dtype(dtype) and not isinstance(dtype, pd.ArrowDtype | pd.SparseDtype)
    return values if numbers or isinstance(dtype, known) else None


def _are_as_many(values: Any, released: Any) -> bool:
    """Whether DuckDB tells all values apart: what was required of those that it has then holds of these."""
    try:
        return bool(values.nunique(dropna=False) == released.nunique(dropna=False))
    except TypeError:
        # Lists and dicts cannot be counted.
        return False
