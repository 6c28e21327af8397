"""Random CSV files: what `sqlanon anonymize` publishes of them is what was asked for, as pandas counts it."""

from __future__ import annotations

import json
import shlex
import tempfile
from collections.abc import Callable
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


_COLUMNS = st.sampled_from(
    [
        ("salary", lambda i: 1000 + 17 * i),
        ("Netto (EUR)", lambda i: f"{i % 9 if i % 5 else -99}"),
        ("net income", lambda i: 1000 + 17 * i if i % 3 else "?"),
        ("diagnosis", lambda i: "on and on " * 8 + str(i % 3)),
        ("illness", lambda i: ["Flu", "Cold", "Asthma"][i % 3]),
        ("age", lambda i: 20 + i % 4),
        ("person", lambda i: i // 4),
        ("x", lambda i: "fm"[i % 2]),
    ]
)


@pytest.mark.drawn
@settings(max_examples=draws(2, long=30), suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    columns=st.lists(_COLUMNS, min_size=1, max_size=4, unique_by=lambda column: column[0]),
    rows=st.sampled_from([1, 3, 40]),
)
def test_the_command_that_is_proposed_runs(columns: list[tuple[str, Callable[[int], object]]], rows: int) -> None:
    frame = pandas.DataFrame({name: [value(i) for i in range(rows)] for name, value in columns})
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "drawn.csv")
        frame.to_csv(source, index=False)
        proposed = json.loads(invoke("profile", source, "--json").stdout)
        if proposed["command"] is None:
            uses = {each["column"]: each["use"] for each in proposed["columns"]}
            people = [frame[name].nunique() for name, use in uses.items() if use == "entity"] or [rows]
            assert people == [1] or "known" not in uses.values()
            return
        _, command, *arguments = shlex.split(proposed["command"])
        done = invoke(command, *arguments, "--dry-run")
        assert done.exit_code == 0, done.stderr
