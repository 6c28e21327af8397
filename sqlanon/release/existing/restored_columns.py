"""Restores columns of a pandas frame: DuckDB has fewer types, and returns some columns with other types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlanon.catalog import releases
from sqlanon.catalog.releases import seal
from sqlanon.catalog.snapshot import fingerprint, hierarchies_of, policy_of, release_json, types_of
from sqlanon.domain.identifiers import free_name
from sqlanon.domain.policy import Attribute, Role
from sqlanon.domain.release import Reading, ReleaseAttribute
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.release.existing.loaded import load_release
from sqlanon.release.existing.objects import fingerprint_of_tables
from sqlanon.sources.source import own_object
from sqlanon.sql.build.render import drop_column

# A column name that no remark mentions by chance.
_POSITION = "sqlanon_row_position"


class Restoring:
    """A pandas frame with a further column of row positions, which are used to restore published values.

    `source` is the frame, `position` the name of the column, and `attributes` declares the column for a policy.
    """

    def __init__(self, source: Any, names: Sequence[str]) -> None:
        self._original = source
        self.position = free_name(_POSITION, names)
        # The copy shares the columns with the caller's frame, in which the added column is not visible.
        numbered = source.copy(deep=False)
        numbered[self.position] = range(len(source))
        self.source = numbered
        self.attributes = (Attribute(self.position, Role.INSENSITIVE),)

    def restored(self, released: Any, columns: Sequence[ReleaseAttribute]) -> Any:
        """Returns the released rows without their positions; columns of unchanged values get the source's objects and
        types.

        Quasi-identifiers and sensitive columns of objects are not restored, because values that DuckDB does not
        distinguish, such as Decimal('1.0') and Decimal('1.00'), would split classes.
        """
        rows = released[self.position].to_numpy()
        result = released.drop(columns=self.position)
        for attribute in columns:
            name = attribute.name
            if name == self.position or attribute.reading is not Reading.EXACT:
                continue
            is_checked = attribute.role is Role.SENSITIVE and _is_exact(self._original[name].dtype)
            if is_checked or attribute.role is Role.INSENSITIVE:
                values = _of_released_rows(self._original[name].iloc[rows].reset_index(drop=True))
                if values is not None:
                    result[name] = values
        return result


def forget_column(engine: Engine, name: QualifiedName, column: str) -> None:
    """Removes a column from a release of one table and from its catalog rows, so that nothing shows it was published.

    No requirement or method may depend on the column.
    """
    with engine.transaction():
        release = load_release(engine, name)
        policy, hierarchies = policy_of(release), hierarchies_of(release)
        policy = replace(policy, attributes=tuple(a for a in policy.attributes if a.name != column))
        types = {name: kind for name, kind in types_of(release).items() if name != column}
        engine.run(drop_column(own_object(engine, release.name), column))
        narrower = replace(
            release,
            policy_fingerprint=fingerprint(policy, hierarchies),
            policy_json=release_json(policy, hierarchies, types),
            content_fingerprint=fingerprint_of_tables(engine, [own_object(engine, release.name)]),
            attributes=tuple(a for a in release.attributes if a.name != column),
        )
        releases.narrow(engine, narrower, column)
        seal(engine, release.release_id)


def _is_exact(dtype: Any) -> bool:
    """Whether DuckDB stores the values of a column exactly, so that equal values in DuckDB are equal in pandas."""
    import pandas as pd

    if isinstance(dtype, pd.CategoricalDtype):
        return bool(pd.api.types.infer_dtype(dtype.categories) == "string")
    if isinstance(dtype, pd.DatetimeTZDtype):
        # DuckDB rounds such timestamps to microseconds.
        return dtype.unit != "ns"
    return isinstance(dtype, pd.StringDtype) or _is_number(dtype) or dtype.kind == "M"


def _is_number(dtype: Any) -> bool:
    """Whether a dtype has booleans or numbers of a type that DuckDB has: a NumPy type or a nullable type of pandas."""
    import pandas as pd

    of_others = isinstance(dtype, pd.ArrowDtype | pd.SparseDtype)
    return not of_others and dtype.kind in "biuf" and dtype.itemsize <= 8


def _of_released_rows(values: Any) -> Any:
    """Returns a frame column's values without traces of other rows; None if the dtype might keep traces.

    A categorical lists values that do not occur, in the order of the rows unless it is ordered or sorted, and may
    reveal the step of an index; so do dictionaries of Arrow.
    """
    import numpy as np
    import pandas as pd

    dtype = values.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        occurring = values.cat.remove_unused_categories().cat.categories
        categories = list(occurring)
        if not dtype.ordered:
            categories.sort(key=lambda category: (type(category).__name__, str(category)))
        return values.astype(pd.CategoricalDtype(pd.Index(categories, dtype=occurring.dtype), ordered=dtype.ordered))
    known = (np.dtype, pd.StringDtype, pd.DatetimeTZDtype)
    return values if _is_number(dtype) or isinstance(dtype, known) else None
