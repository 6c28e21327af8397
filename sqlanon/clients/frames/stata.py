"""Files of Stata, which pandas reads: values as their labels say them, and days as dates."""

from __future__ import annotations

from typing import Any

from sqlanon.errors import UserError


def read_stata(path: str) -> tuple[Any, dict[str, str]]:
    """The rows of a file of Stata as a pandas frame, and the labels of its columns by their names.

    Raises UserError for a file that pandas cannot read, without the values that pandas names.
    """
    import pandas

    try:
        frame = pandas.read_stata(path)
        with pandas.io.stata.StataReader(path) as reader:
            labels = reader.variable_labels()
    except Exception as error:
        hint = f"in Python: pandas.read_stata({path!r}, convert_categoricals=False) reads it without labels of values"
        raise UserError(f"{path} cannot be read as a Stata file: {type(error).__name__}", hint=hint) from None
    return with_dates(frame), {name: label for name, label in labels.items() if label}


def with_dates(frame: Any) -> Any:
    """The frame with dates in the place of timestamps that are all at midnight; pandas itself has no type of dates."""
    days = {name: frame[name].dt.date for name in frame.columns if _are_days(frame[name])}
    return frame.assign(**days) if days else frame


def _are_days(values: Any) -> bool:
    """Whether a column of pandas' has timestamps without a time zone, all of them at midnight."""
    if not str(values.dtype).startswith("datetime64[") or getattr(values.dt, "tz", None) is not None:
        return False
    moments = values.dropna()
    return len(moments) > 0 and bool((moments == moments.dt.normalize()).all())
