"""Random CSV files: what `sqlanon anonymize` publishes of them is what was asked for, as pandas counts it."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pandas
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.command_line import invoke
from tests.support.draws import draws

_CELLS = st.one_of(
    st.integers(-20, 20).map(str),
    st.sampled_from(["", "F", "M", "a,b", 'q"u', "x\ny", "*", "[1, 2]", "NULL", "é", "1.5", "2020-01-31"]),
)


@pytest.mark.drawn
@settings(max_examples=draws(3, long=40), suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    rows=st.lists(st.tuples(_CELLS, st.integers(0, 9), st.sampled_from(["s", "t", ""])), min_size=6, max_size=30),
    k=st.integers(2, 6),
)
def test_published_rows_reach_what_was_asked_for(rows: list[tuple[str, int, str]], k: int) -> None:
    frame = pandas.DataFrame(rows, columns=["first", "second", "secret"])
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "in put.csv"), Path(folder, "out")
        frame.to_csv(source, index=False)
        lists = ("--known", "first,second", "--secret", "secret", "--k", str(k), "--allow", "first,second,secret")
        done = invoke("anonymize", source, *lists, "-o", target, "--json")
        values = frame["secret"].nunique()
        if values < 2:
            assert (done.exit_code, target.exists()) == (1, False)
            return
        assert done.exit_code == 0, done.stderr
        said = json.loads(done.stdout)
        published = pandas.read_csv(target / "in_put.csv", keep_default_na=False, dtype=str)
        assert (said["source_rows"], said["released_rows"]) == (len(frame), len(published))
        classes = published.groupby(["first", "second"], dropna=False)["secret"]
        if len(published):
            assert classes.size().min() >= k
            assert classes.nunique(dropna=False).min() >= 2
        assert set(published["secret"]) <= set(frame["secret"])
