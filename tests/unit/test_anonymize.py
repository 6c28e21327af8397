"""anonymize(): of a data frame one of the same kind, in which pandas finds what was required."""

from __future__ import annotations

import datetime
import random
from decimal import Decimal
from typing import Any

import pandas
import pyarrow
import pytest

import sqlanon
from sqlanon import PrivacyViolation, UserError, anonymize

QUASI = ["age", "sex", "zip"]


def visits(count: int = 400) -> pandas.DataFrame:
    """Two visits of each patient, one row each."""
    draw = random.Random(3)
    rows = [
        (number // 2, f"name {number // 2}", draw.randint(18, 90), draw.choice("FM"), str(draw.randint(94100, 94160)))
        for number in range(count)
    ]
    frame = pandas.DataFrame(rows, columns=["patient", "name", *QUASI])
    frame["zip"] = frame["zip"].mask(frame["age"] == 50)
    frame["disease"] = [draw.choice(["Flu", "Cold", "Asthma"]) for _ in range(count)]
    frame["cost"] = [draw.random() for _ in range(count)]
    return frame


def smallest(frame: pandas.DataFrame, counted: str | None = None) -> int:
    """The rows of the smallest class, or the different values of a column in the class with the fewest."""
    classes = frame.groupby(QUASI, dropna=False)
    return int((classes[counted].nunique() if counted else classes.size()).min())


def test_by_default() -> None:
    """Five rows in each class, none left out; only what is listed comes out, in the order of the frame."""
    source = visits()
    released = anonymize(source, quasi_identifiers=["zip", "sex", "age"], sensitive=["disease"], insensitive=["cost"])
    assert list(released.columns) == ["age", "sex", "zip", "disease", "cost"]
    assert len(released) == len(source)
    assert smallest(released) >= 5 > smallest(source)
    assert sorted(released["cost"]) == sorted(source["cost"])
    assert released["disease"].value_counts().equals(source["disease"].value_counts())
    assert list(released["cost"]) != list(source["cost"])
    assert len(released.groupby(QUASI, dropna=False)) > 20


@pytest.mark.long
def test_each_requirement() -> None:
    source = visits()
    released = anonymize(source, quasi_identifiers=QUASI, sensitive="disease", k=8, l=3, t=0.35)
    assert smallest(released) >= 8
    assert smallest(released, "disease") == 3
    whole = source["disease"].value_counts(normalize=True)
    shares = released.groupby(QUASI, dropna=False)["disease"].value_counts(normalize=True).unstack(fill_value=0)
    assert ((shares - whole).abs().sum(axis=1) / 2).max() <= 0.35
    strict = anonymize(source, quasi_identifiers=QUASI, sensitive="disease", k=None, require="l_diversity(l => 2)")
    assert smallest(strict, "disease") == 2


@pytest.mark.long
def test_an_entity_counts_people() -> None:
    source = visits().assign(respondent=lambda frame: frame["patient"])
    released = anonymize(source, quasi_identifiers=QUASI, entity="patient", insensitive=["respondent"], k=4)
    assert "patient" not in released.columns
    assert smallest(released, "respondent") >= 4


def test_hierarchies_and_another_method() -> None:
    released = anonymize(
        visits(),
        quasi_identifiers=QUASI,
        hierarchies={"Age": "INTERVALS (10, 20, 40)", "zip": "PREFIXES (4, 3)"},
        method="generalization(suppression => 0.1)",
    )
    assert smallest(released) >= 5
    assert set(released["age"]) <= {"*"} | {
        f"[{low},{low + width})" for width in (10, 20, 40) for low in range(0, 100, 10)
    }
    assert set(released["zip"].dropna()) <= {"*", "941**"} | {f"941{digit}*" for digit in range(10)}
    assert 360 <= len(released) <= 400


def test_the_kind_of_frame() -> None:
    source = visits(60)[[*QUASI, "disease"]]
    arrow = anonymize(pyarrow.Table.from_pandas(source), quasi_identifiers=QUASI, sensitive=["disease"])
    assert isinstance(arrow, pyarrow.Table)
    assert arrow.column_names == [*QUASI, "disease"]
    assert smallest(arrow.to_pandas()) >= 5


@pytest.mark.parametrize(
    ("changed", "message", "hint"),
    [
        ({"quasi_identifiers": []}, "there are no quasi_identifiers", "age"),
        ({"quasi_identifiers": ["agee"]}, "quasi_identifiers: there is no column agee", "did you mean age"),
        ({"quasi_identifiers": None}, "there are no quasi_identifiers", "age"),
        ({"quasi_identifiers": "agee"}, "quasi_identifiers: there is no column agee", "did you mean age"),
        ({"quasi_identifiers": 3}, "quasi_identifiers lists names of columns, and is 3", "quasi_identifiers="),
        ({"quasi_identifiers": "sex, age"}, "there is no column sex, age", "write quasi_identifiers=['sex', 'age']"),
        ({"quasi_identifiers": visits(2)["age"]}, "lists names of columns, and is a Series", "=['age']"),
        ({"sensitive": [None]}, "sensitive: there is no column None", "there are: patient"),
        ({"entity": ["patient"]}, "entity is a text, not list", None),
        ({"method": 5}, "method is a text or a Method, not int", None),
        ({"require": [5]}, "require: 5 is not a Requirement", "KAnonymity"),
        ({"require": ["k"]}, "there is no privacy model 'k'", "k_anonymity"),
        ({"hierarchies": "INTERVALS (5)"}, "hierarchies must map columns to hierarchies, and is a str", "INTERVALS"),
        ({"sensitive": ["nothing"]}, "sensitive: there is no column nothing", "there are: patient, name, age"),
        ({"sensitive": ["AGE"]}, "the column age is listed twice", "one role"),
        (
            {"hierarchies": {"cost": "INTERVALS (5)"}},
            "hierarchies: the column cost is not among",
            "known=['cost', ...]",
        ),
        ({"hierarchies": {"age": "INTERVAL (5)"}}, "no hierarchy kind 'interval'", "intervals"),
        ({"hierarchies": {"age": "INTERVALS (5"}}, r"hierarchies\['age'\]: .* expected", "INTERVALS"),
        ({"hierarchies": {"sex": "INTERVALS (5)"}}, "does not fit the column sex", None),
        ({"k": None}, "nothing is required", "k, l, t"),
        ({"k": "5"}, "k is a number, not '5'", None),
        ({"k": True}, "k is a number, not True", None),
        ({"k": 0}, "k_anonymity", None),
        ({"l": float("nan")}, "l is a finite number", None),
        ({"t": 2}, "t_closeness", None),
        ({"l": 2, "sensitive": []}, "l_diversity is about sensitive values", "SENSITIVE"),
        ({"require": "k_anonimity(k => 2)"}, "k_anonimity", "k_anonymity"),
        ({"require": "k_map(k => 2); DROP TABLE data"}, "require: .* more than one statement", None),
        ({"require": "l_diversity(l => ?)"}, "require: .* has a parameter", "value"),
        ({"method": "mondrain"}, "mondrain", "mondrian"),
        ({"data": [1, 2]}, "takes a data frame or a path, not list", "pandas"),
        ({"data": visits(2).iloc[:0]}, "no rows", None),
        ({"data": pandas.DataFrame({1: [1]})}, "the column 1 has a name that is not a text", "str"),
        ({"data": pandas.DataFrame({"a": [1], "A": [2]})}, "the columns a and A have the same name", "rename"),
    ],
)
def test_what_is_wrong(changed: dict[str, Any], message: str, hint: str | None) -> None:
    arguments = {"data": visits(40), "quasi_identifiers": QUASI, "sensitive": ["disease"], **changed}
    with pytest.raises(UserError, match=message) as refused:
        anonymize(arguments.pop("data"), **arguments)
    assert (hint or "") in str(refused.value.hint)


@pytest.mark.parametrize("columns", [pandas.Index(QUASI), pandas.Index(QUASI).to_numpy(), dict.fromkeys(QUASI)])
def test_names_of_columns_in_other_lists(columns: Any) -> None:
    released = anonymize(visits(60), known=columns, secret=pandas.Index([]))
    assert list(released.columns) == QUASI


def test_what_cannot_be_met() -> None:
    with pytest.raises(PrivacyViolation, match="cannot be met"):
        anonymize(visits(40), quasi_identifiers=QUASI, k=41)


def test_it_is_a_name_of_the_package() -> None:
    assert sqlanon.anonymize is anonymize
    assert "anonymize" in sqlanon.__all__


def test_one_column_may_be_named_alone() -> None:
    released = anonymize(visits(60), quasi_identifiers="age", sensitive=None, insensitive="cost")
    assert list(released.columns) == ["age", "cost"]


def test_columns_that_are_published_unchanged_keep_their_values_and_dtypes() -> None:
    count = 60
    source = pandas.DataFrame({"position": range(count), "age": [20 + i % 9 for i in range(count)]})
    source["money"] = [Decimal(i) / 8 for i in range(count)]
    source["huge"] = [2**70 + i for i in range(count)]
    source["beyond"] = [2**190 + i % 3 for i in range(count)]
    source["day"] = [datetime.date(1990, 1, 1 + i % 28) for i in range(count)]
    source["small"] = pandas.array([i % 2 or None for i in range(count)], dtype="Int8")
    source["colour"] = pandas.Categorical(["red", "blue"] * 30, categories=["blue", "red"])
    before = source.copy()
    released = anonymize(source, quasi_identifiers="age", sensitive=["small", "colour"], insensitive=[
        "position", "huge", "beyond", "day", "money"], k=3)  # fmt: skip
    assert list(released.columns) == list(source.columns)
    again = released.sort_values("position").reset_index(drop=True).drop(columns="age")
    pandas.testing.assert_frame_equal(again, before.drop(columns="age"))
    pandas.testing.assert_frame_equal(source, before)
    assert list(released["position"]) != list(source["position"])


@pytest.mark.parametrize("ordered", [False, True])
def test_a_dtype_keeps_nothing_of_rows_that_were_left_out(ordered: bool) -> None:
    """A categorical lists values that do not occur; unless it has an order of its own, in that in which they came."""
    dtype = pandas.CategoricalDtype(["hiv", "rare", "flu", "cold"], ordered=ordered)
    source = pandas.DataFrame({"age": [20, 21] * 15 + [99]})
    for name in ("illness", "note"):
        source[name] = pandas.Categorical(["flu", "cold", "hiv"] * 10 + ["rare"], dtype=dtype)
    by_levels = "generalization(suppression => 0.1)"
    arrow = pandas.ArrowDtype(pyarrow.dictionary(pyarrow.int8(), pyarrow.string()))
    source["arrow"] = source["note"].astype(str).astype(arrow)
    released = anonymize(
        source, quasi_identifiers="age", sensitive="illness", insensitive=["note", "arrow"], k=5, method=by_levels
    )
    assert len(released) == 30
    kept = ["hiv", "flu", "cold"] if ordered else ["cold", "flu", "hiv"]
    for name in ("illness", "note"):
        assert released[name].dtype == pandas.CategoricalDtype(kept, ordered=ordered)
        assert list(released[name].cat.categories) == kept
    assert set(released["arrow"]) == set(kept)
    assert "dictionary" not in str(released["arrow"].dtype)


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([Decimal("1.0"), Decimal("2.0")], [Decimal("1.00"), Decimal("2.00")]),
        ([1, 2], [1.0, 2.0]),
        ([1, True], ["1", True]),
        (
            [datetime.datetime(2026, 1, day, 12, tzinfo=datetime.UTC) for day in (1, 2)],
            [
                datetime.datetime(2026, 1, day, 17, tzinfo=datetime.timezone(datetime.timedelta(hours=5)))
                for day in (1, 2)
            ],
        ),
    ],
    ids=["decimals", "numbers", "texts", "moments"],
)
def test_sensitive_values_that_duckdb_does_not_tell_apart_stay_as_they_were_checked(
    first: list[Any], second: list[Any]
) -> None:
    """What was required of the values that DuckDB has need not hold of finer ones: here, that classes do not differ."""
    source = pandas.DataFrame({"name": list("xxxxyyyy")})
    source["value"] = pandas.Series([*first * 2, *second * 2], dtype=object)
    released = anonymize(source, quasi_identifiers="name", sensitive="value", k=2, t=0.01)
    shown = [sorted(map(repr, rows)) for _, rows in released.groupby("name")["value"]]
    assert shown == shown[:1] * len(shown)


def test_an_index_of_categories_does_not_tell_its_step() -> None:
    days = pandas.date_range("2020-01-01", periods=2, freq="1000D")
    source = pandas.DataFrame({"name": ["x"] * 6 + ["z"]})
    source["day"] = pandas.Categorical([days[0]] * 6 + [days[1]], categories=days, ordered=True)
    steps = pandas.RangeIndex(0, 778, 777)
    source["step"] = pandas.Categorical([0] * 6 + [777], categories=steps, ordered=True)
    by_levels = "generalization(suppression => 0.2)"
    released = anonymize(source, quasi_identifiers="name", insensitive=["day", "step"], k=3, method=by_levels)
    assert list(released["day"].cat.categories) == [days[0]]
    assert released["day"].cat.categories.freq is None
    assert not isinstance(released["step"].cat.categories, pandas.RangeIndex)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("dtype", ["period[D]", "interval", "Sparse[int]"])
def test_a_dtype_that_duckdb_does_not_read_is_named(dtype: str) -> None:
    days = pandas.date_range("2026-01-01", periods=40)
    values = {
        "period[D]": days.to_period("D"),
        "interval": pandas.interval_range(0, periods=40),
        "Sparse[int]": pandas.arrays.SparseArray(list(range(40))),
    }
    data = pandas.DataFrame({"age": [i % 4 for i in range(40)], "value": values[dtype]})
    with pytest.raises(UserError, match=r"the column value has the dtype") as caught:
        anonymize(data, quasi_identifiers="age", sensitive="value", k=2)
    assert "astype(str)" in str(caught.value.hint)
    assert len(anonymize(data, quasi_identifiers="age", k=2)) == 40


def test_a_method_of_several_tables_makes_no_frame() -> None:
    data = pandas.DataFrame({"age": [i % 5 for i in range(40)], "disease": [f"d{i % 4}" for i in range(40)]})
    with pytest.raises(UserError, match="publishes several tables"):
        anonymize(data, quasi_identifiers=["age"], sensitive=["disease"], k=2, method="anatomy(l => 2)")
