"""anonymize() of drawn frames of pandas and Arrow: what pandas counts in the rows that come out."""

from __future__ import annotations

import warnings
from typing import Any

import pandas
import pyarrow
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from sqlanon import PrivacyRemark, PrivacyViolation, anonymize, release_of
from tests.support.draws import draws

KNOWN = ["age", "seen"]
# A column of each kind that a frame may have, of numbers from 0 to 9 and None.
KINDS: dict[str, Any] = {
    "int64": lambda values: pandas.array([value or 0 for value in values], dtype="int64"),
    "Int64": lambda values: pandas.array(values, dtype="Int64"),
    "float64": lambda values: pandas.array(values, dtype="Float64").to_numpy("float64", na_value=float("nan")),
    "object": lambda values: pandas.Series(values, dtype="object"),
    "text": lambda values: pandas.Series([None if value is None else f"v{value}" for value in values]),
    "category": lambda values: pandas.Categorical([None if value is None else f"v{value}" for value in values]),
    "moments": lambda values: pandas.to_datetime(
        pandas.Series([None if value is None else f"2026-01-{value + 1:02}" for value in values]), utc=True
    ).dt.tz_convert("Europe/Berlin"),
    "boolean": lambda values: pandas.array([None if value is None else value > 4 for value in values], dtype="boolean"),
}
VALUES = st.none() | st.integers(0, 9)


@st.composite
def frames(draw: st.DrawFn) -> pandas.DataFrame:
    count = draw(st.integers(1, 24))
    columns = {}
    for name in ("ill", *KNOWN):
        values = draw(st.lists(VALUES, min_size=count, max_size=count))
        columns[name] = KINDS[draw(st.sampled_from(sorted(KINDS)))](values)
    frame = pandas.DataFrame(columns)
    frame["row"] = range(count)
    index = draw(st.sampled_from(["none", "named", "several"]))
    return {
        "none": lambda: frame,
        "named": lambda: frame.set_index(pandas.Index(range(count, 0, -1), name="number")),
        "several": lambda: frame.set_index([pandas.Index(range(count)), pandas.Index(["x"] * count, name="x")]),
    }[index]()


def different(values: Any) -> int:
    """The number of different values, a missing one among them."""
    return int(pandas.Series(values).nunique(dropna=False))


@pytest.mark.drawn
@settings(max_examples=draws(3, long=30), phases=[Phase.generate])
@given(frame=frames(), k=st.integers(1, 6), l=st.integers(1, 3))
def test_what_is_required_holds_for_the_rows_that_come_out(frame: pandas.DataFrame, k: int, l: int) -> None:  # noqa: E741
    before = frame.copy()
    arguments: dict[str, Any] = {"known": KNOWN, "secret": "ill", "insensitive": "row", "k": k, "l": l}
    with warnings.catch_warnings(action="ignore", category=PrivacyRemark):
        if len(frame) < k or different(frame["ill"]) < l:
            with pytest.raises(PrivacyViolation, match="cannot be met"):
                anonymize(frame, **arguments)
            return
        released = anonymize(frame, **arguments)
    pandas.testing.assert_frame_equal(frame, before)
    rows = pandas.DataFrame(released)
    assert list(rows.columns) == ["ill", *KNOWN, "row"]
    assert sorted(rows["row"]) == list(range(len(frame)))
    # Each row has the secret that it had.
    original = frame["ill"].reset_index(drop=True)
    for row, value in zip(rows["row"], rows["ill"], strict=True):
        assert (pandas.isna(value) and pandas.isna(original[row])) or value == original[row]
    classes = rows.groupby(KNOWN, dropna=False)["ill"]
    assert classes.size().min() >= k
    assert min(different(group) for _, group in classes) >= l
    required = [measurement.achieved for measurement in release_of(released).summary.required]
    assert required == [classes.size().min(), min(different(group) for _, group in classes)]


@pytest.mark.drawn
@settings(max_examples=draws(3, long=30), phases=[Phase.generate])
@given(ages=st.lists(st.tuples(VALUES, VALUES, st.integers(0, 2)), min_size=8, max_size=24))
def test_pandas_and_arrow_have_the_same_classes(ages: list[tuple[int | None, int | None, int]]) -> None:
    table = pyarrow.table(
        {
            "age": pyarrow.array([age for age, _, _ in ages], pyarrow.int64()),
            "seen": pyarrow.array([seen for _, seen, _ in ages], pyarrow.int64()),
            "ill": pyarrow.array([f"v{ill}" for _, _, ill in ages]),
        }
    )
    frame = table.to_pandas(types_mapper={pyarrow.int64(): pandas.Int64Dtype()}.get)
    with warnings.catch_warnings(action="ignore", category=PrivacyRemark):
        of_arrow = anonymize(table, known=KNOWN, secret="ill", k=3, l=None).to_pandas()
        of_pandas = anonymize(frame, known=KNOWN, secret="ill", k=3, l=None)
    counted = [
        pandas.DataFrame(rows).astype("string").fillna("NULL").value_counts().to_dict()
        for rows in (of_arrow, of_pandas)
    ]
    assert counted[0] == counted[1]
