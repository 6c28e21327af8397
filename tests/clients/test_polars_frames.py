"""anonymize() of frames of polars: the kind that went in comes out, with what pandas' has of the release."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import pandas
import polars
import pytest

from sqlanon import PrivacyRemark, UserError, anonymize, release_of

KNOWN = ["age", "sex"]
SOURCE = polars.DataFrame(
    {
        "name": [f"name {i}" for i in range(60)],
        "age": [20 + i * 7 % 40 for i in range(60)],
        "sex": polars.Series(["F", "M"] * 30, dtype=polars.Categorical),
        "seen": [f"2026-01-{1 + i % 28:02}" for i in range(60)],
        "ill": ["Flu", "Cold", "Asthma"] * 20,
    }
).with_columns(polars.col("seen").str.to_date())


def classes(released: polars.DataFrame) -> list[tuple[Any, ...]]:
    counts = released.group_by(KNOWN).agg(polars.len().alias("n"), polars.col("ill").n_unique().alias("ills"))
    return sorted(counts.with_columns(polars.col("sex").cast(polars.String)).rows())


@pytest.mark.parametrize("kind", [polars.DataFrame, polars.LazyFrame])
def test_the_kind_that_went_in_comes_out(kind: type[Any]) -> None:
    data = SOURCE if kind is polars.DataFrame else SOURCE.lazy()
    released = anonymize(data, known=KNOWN, secret="ill", insensitive="seen")
    assert isinstance(released, kind)
    rows = polars.DataFrame(released) if kind is polars.DataFrame else released.collect()
    assert rows.columns == ["age", "sex", "seen", "ill"]
    assert len(rows) == 60
    assert min(n for *_, n, _ in classes(rows)) >= 5
    assert min(ills for *_, ills in classes(rows)) >= 2
    assert rows["seen"].dtype == polars.Date
    of_pandas = anonymize(pandas.DataFrame(SOURCE.to_dict(as_series=False)), known=KNOWN, secret="ill")
    expected = pandas.DataFrame(of_pandas).groupby(KNOWN)["ill"].agg(["size", "nunique"]).reset_index()
    assert classes(rows) == sorted(expected.itertuples(index=False, name=None))


def test_a_frame_knows_its_release() -> None:
    released = anonymize(SOURCE, known=KNOWN, secret="ill")
    assert released.summary.released_rows == 60
    assert "l_diversity(l => 2)" in released.script == release_of(released).script
    assert "60 in, 60 out" in released._repr_html_()
    loaded = pickle.loads(pickle.dumps(released))
    assert type(loaded) is polars.DataFrame
    assert loaded.equals(released)
    for derived in (released.head(2), released.clone()):
        with pytest.raises(UserError, match="was not returned by anonymize"):
            release_of(derived)
    assert released.clone()._repr_html_() == loaded._repr_html_()
    lazy = anonymize(SOURCE.lazy(), known=KNOWN, secret="ill")
    assert lazy.summary.source_rows == 60
    assert type(pickle.loads(pickle.dumps(lazy))) is polars.LazyFrame


def test_remarks_are_warnings() -> None:
    alike = SOURCE.with_columns(ill=polars.when(polars.col("age") < 40).then(polars.lit("Flu")).otherwise("ill"))
    with pytest.warns(PrivacyRemark, match="one value of ill"):
        anonymize(alike, known=KNOWN, secret="ill", l=None)
    with warnings.catch_warnings(action="error"):
        anonymize(SOURCE, known=KNOWN, secret="ill")


def test_frames_without_rows() -> None:
    for data in (SOURCE.head(0), SOURCE.lazy().head(0)):
        with pytest.raises(UserError, match="no rows"):
            anonymize(data, known=KNOWN)
