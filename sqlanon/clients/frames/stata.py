"""Reads Stata files with pandas: coded values become labels, and timestamps without a time become dates."""

from __future__ import annotations

from typing import Any

from sqlanon.errors import UserError


def read_stata(path: str) -> tuple[Any, dict[str, str], list[str]]:
    """Returns a Stata file's rows as a pandas frame, the labels of its columns by column, and remarks.

    A remark names a column that keeps its codes, because two codes have the same label. Raises UserError for a file
    that pandas cannot read; the error shows no value of the file.
    """
    import pandas

    try:
        with pandas.io.stata.StataReader(path) as reader:
            labels = reader.variable_labels()
        frame, coded = _labelled(path)
    except Exception as error:
        hint = "is the copy whole? Copy it again, or save it again in Stata, or export it as CSV"
        raise UserError(f"{path} cannot be read as a Stata file: {type(error).__name__}", hint=hint) from None
    remarks = [f"{name} is read as codes, because two of them have the same label" for name in coded]
    return with_dates(frame), {name: label for name, label in labels.items() if label}, remarks


def _labelled(path: str) -> tuple[Any, list[str]]:
    """Returns the rows with labels for codes, and the columns with codes because pandas refuses their labels."""
    import pandas

    try:
        return pandas.read_stata(path), []
    except ValueError:
        codes = pandas.read_stata(path, convert_categoricals=False)
    labelled = _by_halves(path, list(codes.columns))
    return codes.assign(**labelled), [name for name in codes.columns if name not in labelled]


def _by_halves(path: str, names: list[str]) -> dict[str, Any]:
    """Returns the columns whose labels pandas accepts; it finds them by halving the list of names."""
    import pandas

    try:
        frame = pandas.read_stata(path, columns=names)
    except ValueError:
        middle = len(names) // 2
        return _by_halves(path, names[:middle]) | _by_halves(path, names[middle:]) if middle else {}
    return {name: frame[name] for name in names}


def with_dates(frame: Any) -> Any:
    """Returns the frame with dates in columns of timestamps that are all at midnight, because pandas has no dtype for
    dates.
    """
    days = {name: frame[name].dt.date for name in frame.columns if _are_days(frame[name])}
    return frame.assign(**days) if days else frame


def _are_days(values: Any) -> bool:
    """Whether a pandas column has timestamps without a time zone, all of them at midnight."""
    if not str(values.dtype).startswith("datetime64[") or getattr(values.dt, "tz", None) is not None:
        return False
    timestamps = values.dropna()
    return len(timestamps) > 0 and bool((timestamps == timestamps.dt.normalize()).all())
