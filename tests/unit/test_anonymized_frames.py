"""What anonymize() returns beside rows: warnings, a script that makes the same, a summary, a report."""

from __future__ import annotations

import copy
import gc
import json
import pickle
import random
import warnings
from pathlib import Path
from typing import Any

import duckdb
import pandas
import pyarrow
import pytest

import sqlanon
from sqlanon import PolicyError, PrivacyRemark, PrivacyViolation, UserError, anonymize, release_of

KNOWN = ["age", "sex"]


def people(count: int = 120, seed: int = 5) -> pandas.DataFrame:
    """People of whom one in five has the rarer of two values."""
    draw = random.Random(seed)
    rows = [(draw.randint(18, 90), draw.choice("FM"), draw.choice(["neg"] * 4 + ["pos"])) for _ in range(count)]
    return pandas.DataFrame(rows, columns=["age", "sex", "hiv"])


def least(released: pandas.DataFrame, known: list[str] = KNOWN) -> tuple[int, int]:
    """The rows of the smallest class, and the values of the class with the fewest."""
    classes = pandas.DataFrame(released).groupby(known, dropna=False)["hiv"]
    return int(classes.size().min()), int(classes.nunique(dropna=False).min())


@pytest.fixture(scope="module")
def released() -> Any:
    return anonymize(people(), known=KNOWN, secret="hiv")


def test_a_secret_column_gets_two_values_in_each_class(released: Any) -> None:
    assert least(released)[0] >= 5
    assert least(released)[1] == 2
    with pytest.warns(PrivacyRemark, match="all rows have one value of hiv"):
        of_k_alone = anonymize(people(), known=KNOWN, secret="hiv", l=None)
    assert least(of_k_alone)[1] == 1
    assert "l_diversity" in released.script
    assert "l_diversity" not in of_k_alone.script


@pytest.mark.parametrize("named", [{"t": 0.5}, {"require": "beta_likeness(beta => 9)"}, {"l": 1}])
def test_whoever_names_a_requirement_gets_no_other(named: dict[str, Any]) -> None:
    with warnings.catch_warnings(action="ignore", category=PrivacyRemark):
        assert "l => 2" not in anonymize(people(), known=KNOWN, secret="hiv", **named).script


@pytest.mark.parametrize(
    ("arguments", "automatic", "labels"),
    [
        ({"method": "generalization(suppression => 0.1)"}, ["age", "sex"], r"\[\d+,\d+\)|\*"),
        ({"method": sqlanon.Generalization(), "hierarchies": {"age": "auto"}}, ["age"], r"\[\d+,\d+\)|\*"),
        ({"method": "generalization", "hierarchies": {}}, [], r"\*"),
        ({"method": "mondrian", "hierarchies": "AUTO"}, ["age", "sex"], r"\[\d+, \d+\]|\d+"),
        ({}, ["age", "sex"], r"\[\d+[,-] ?\d+[\])]|\d+"),
        ({"hierarchies": {}}, [], r"\[\d+, \d+\]|\d+"),
        ({"method": "mondrian"}, [], r"\[\d+, \d+\]|\d+"),
    ],
)
def test_hierarchies_that_fit_the_values(arguments: dict[str, Any], automatic: list[str], labels: str) -> None:
    """They are made for methods that publish levels, named or compared, unless the caller says which there are."""
    made = anonymize(people(), known=KNOWN, secret="hiv", **arguments)
    assert [name for name in KNOWN if f'"{name}" QUASI IDENTIFIER USING AUTO' in made.script] == automatic
    assert made["age"].str.fullmatch(labels).all()
    assert least(made)[0] >= 5


@pytest.mark.parametrize(
    "known", [pandas.Index(KNOWN), pandas.Series(KNOWN), pandas.Series(KNOWN).array, tuple(KNOWN), dict.fromkeys(KNOWN)]
)
def test_known_columns_by_any_names_in_order(released: Any, known: Any) -> None:
    of_names = anonymize(people(), known=known, secret="hiv")
    assert of_names.value_counts().to_dict() == pandas.DataFrame(released).value_counts().to_dict()


@pytest.mark.parametrize("require", [["k_anonymity(7)", "l_diversity(2)"], [sqlanon.KAnonymity(k=7), "l_diversity(2)"]])
def test_a_list_of_requirements(require: list[Any]) -> None:
    of_list = anonymize(people(), known=KNOWN, secret="hiv", k=None, require=require)
    assert least(of_list)[0] >= 7
    assert least(of_list)[1] == 2


def test_both_names_of_an_argument(released: Any) -> None:
    assert anonymize(people(), quasi_identifiers=KNOWN, sensitive="hiv").script == released.script
    with pytest.raises(UserError, match="known and quasi_identifiers are two names"):
        anonymize(people(), known=KNOWN, quasi_identifiers=KNOWN)  # type: ignore[call-overload]


def test_a_remark_is_one_warning_where_it_was_called() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        of_k_alone = anonymize(people(), known=KNOWN, secret="hiv", l=None)
    assert [str(warning.message) for warning in caught] == list(of_k_alone.remarks)
    assert len(set(of_k_alone.remarks)) == len(of_k_alone.remarks) == 1
    assert {(warning.category, warning.filename) for warning in caught} == {(PrivacyRemark, __file__)}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", category=PrivacyRemark)
        anonymize(people(), known=KNOWN, secret="hiv", l=None)
    assert not caught


def test_k_of_one_is_remarked_on() -> None:
    with pytest.warns(PrivacyRemark, match="k = 1 requires nothing") as caught:
        anonymize(people(), known=KNOWN, k=1)
    assert len([warning for warning in caught if "k = 1" in str(warning.message)]) == 1


def test_the_script_makes_the_same_classes(released: Any) -> None:
    """On a variable `data`; without the column by which pandas gets its dtypes back."""
    data = people()
    connection = sqlanon.connect()
    connection.sql(released.script)
    again = connection.sql("FROM anonymized").df()
    assert list(again.columns) == list(released.columns) == list(data.columns)
    assert again.value_counts().to_dict() == pandas.DataFrame(released).value_counts().to_dict()


def test_the_summary_counts_what_pandas_counts(released: Any) -> None:
    source = people()
    known = anonymize(source, known=KNOWN, secret="hiv").summary
    assert (known.source_rows, known.released_rows, known.suppressed_rows) == (120, 120, 0)
    assert [each.achieved for each in known.required] == [float(number) for number in least(released)]
    assert known.count_error is not None
    assert known.count_error.median is not None
    # The frame of the fixture is gone.
    gone = "the data that were given are gone: keep them in a variable until the summary is read"
    assert released.summary.count_error.reason.startswith(f"{gone}; counts by up to 4 columns are off by ")
    named = anonymize(people(), known=KNOWN, secret="hiv", method="mondrian")
    assert named.summary.count_error.reason == gone
    shares = pandas.DataFrame(released).groupby(KNOWN)["hiv"].value_counts(normalize=True)
    assert known.guesses[0].highest == pytest.approx(shares.max())
    assert "sqlanon_row_position" not in str(known)


def test_a_page_for_notebooks_and_a_file(released: Any, tmp_path: Path) -> None:
    shown = released._repr_html_()
    assert "120 in, 120 out" in shown
    # A notebook's own style would put texts to the right.
    summary = shown[: shown.index("</table>")]
    assert summary.count("<td") == summary.count('<td style="text-align: left">') == 7
    assert "<br>hiv (secret): as it is" in summary
    assert pandas.DataFrame(released)._repr_html_() in shown
    assert str(released) == str(pandas.DataFrame(released))


def test_an_export_has_the_rows_and_a_certificate_that_checks(released: Any, tmp_path: Path) -> None:
    certificate = released.export(tmp_path / "out", format="csv")
    (file,) = (tmp_path / "out").glob("*.csv")
    with sqlanon.connect() as con:
        checked = con.execute(f"CHECK '{tmp_path / 'out'}'").fetchall()
    assert {row[1]: row[5] for row in checked} == dict.fromkeys(
        ["files_as_certified", "k_anonymity", "distinct_l_diversity"], True
    )
    assert json.loads(certificate.read_text(encoding="utf-8"))
    read = pandas.read_csv(file, dtype=str)
    assert list(read.columns) == list(released.columns)
    assert sorted(read.value_counts().items()) == sorted(pandas.DataFrame(released).astype(str).value_counts().items())
    with pytest.raises(UserError, match="exists already") as refused:
        released.export(tmp_path / "out")
    assert str(refused.value.hint).endswith("or replace it with replace=True")
    with pytest.raises(UserError, match="no format"):
        released.export(tmp_path / "other", format="parket")
    released.export(tmp_path / "out", replace=True)
    assert list((tmp_path / "out").glob("*.parquet"))
    assert not file.exists()


@pytest.mark.long
def test_the_report_compares_with_the_data_as_the_summary_does() -> None:
    source = people()
    of_source = anonymize(source, known=KNOWN, secret="hiv")
    page = str(of_source.report())
    assert f'value="{of_source.summary.count_error.median}"' in page
    assert "there is no table or view" not in page


@pytest.mark.long
def test_the_report_is_of_the_columns_that_were_listed(released: Any, tmp_path: Path) -> None:
    page = released.report(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == str(page)
    assert "sqlanon_row_position" not in str(page)
    assert "hiv" in str(page)
    assert "<iframe" in page._repr_html_()


def test_what_is_derived_is_pandas_own(released: Any) -> None:
    assert isinstance(released, pandas.DataFrame)
    for derived in (released.head(), released[released["age"] != ""], released.copy(), copy.deepcopy(released)):
        assert type(derived) is pandas.DataFrame
    loaded = pickle.loads(pickle.dumps(released))
    assert type(loaded) is pandas.DataFrame
    pandas.testing.assert_frame_equal(loaded, pandas.DataFrame(released))
    with pytest.raises(UserError, match="was not returned by anonymize"):
        release_of(released.head())


def test_an_arrow_table_knows_its_release_by_a_function() -> None:
    table = anonymize(pyarrow.Table.from_pandas(people()), known=KNOWN, secret="hiv")
    assert type(table) is pyarrow.Table
    assert least(table.to_pandas()) >= (5, 2)
    assert "l_diversity" in release_of(table).script
    assert release_of(table).summary.released_rows == 120


def test_the_rows_in_memory_go_with_the_frame() -> None:
    made = anonymize(people(), known=KNOWN, secret="hiv")
    release = release_of(made)
    assert release.summary.released_rows == 120
    del made
    gc.collect()
    with pytest.raises(Exception, match=r"(?i)closed"):
        release.report()


@pytest.mark.parametrize("kind", ["csv", "parquet", "json"])
def test_files_that_duckdb_reads(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"it's people.{kind}"
    connection = sqlanon.connect()
    connection.register("frame", people())
    connection.table("frame").query("frame", f"COPY (FROM frame) TO '{str(path).replace(chr(39), chr(39) * 2)}'")
    made = anonymize(path, known=KNOWN, secret="hiv")
    assert isinstance(made, pandas.DataFrame)
    assert least(made) >= (5, 2)
    assert len(made) == 120
    sqlanon.connect().sql(made.script)
    assert anonymize(str(path), known=KNOWN, secret="hiv").script == made.script


def test_files_by_a_pattern(tmp_path: Path) -> None:
    for number in range(2):
        people(60, number).to_csv(tmp_path / f"people_{number}.csv", index=False)
    assert len(anonymize(tmp_path / "people_*.csv", known=KNOWN, secret="hiv")) == 120


def test_paths_that_are_wrong(tmp_path: Path) -> None:
    people().to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "empty.csv").write_text("age,sex\n")
    (tmp_path / "people.bin").write_bytes(bytes(100))
    (tmp_path / "book.xlsx").write_bytes(b"PK\x03\x04" + bytes(100))
    duckdb.connect(str(tmp_path / "clinic.duckdb")).execute("CREATE TABLE visits (age INTEGER)").close()
    for name, message, hint in (
        ("poeple.csv", "there is no file", "people.csv?"),
        ("nowhere/people.csv", "there is no file", "looked up from"),
        ("", "is a folder", "*.parquet"),
        ("empty.csv", "has no rows", ""),
        ("people.bin", "is not a data file", "CSV"),
        ("people_*.csv", "No files found", "did you mean"),
        ("book.xlsx", "extension for it is not installed", "INSTALL excel"),
        ("clinic.duckdb", "is a DuckDB file with tables", "FROM visits (...)"),
    ):
        with pytest.raises(UserError, match=message) as refused:
            anonymize(tmp_path / name, known="age")
        assert hint in (refused.value.hint or "")


def test_options_of_csv_files(tmp_path: Path) -> None:
    """The rows that pandas reads with the same options are in the release, and its script makes it again."""
    file = tmp_path / "people [1].txt"
    cities, weights = ["Z\u00fcrich", "Bern"], ["61,5", "70,25", "?", "NA"]
    lines = "".join(f"{20 + i % 40};{cities[i % 2]};{weights[i * i % 11 % 4]}\n" for i in range(120))
    file.write_bytes(f"age;city;weight\n{lines}".encode("latin-1"))
    options = {"null": ["?", "NA"], "encoding": "latin-1", "decimal": ","}
    made = anonymize(file, known=["age", "city"], secret="weight", **options)
    read = pandas.read_csv(file, sep=";", na_values=["?", "NA"], encoding="latin-1", decimal=",")
    assert made["weight"].value_counts(dropna=False).equals(read["weight"].value_counts(dropna=False))
    assert made["weight"].isna().sum() == read["weight"].isna().sum() > 0
    assert set("".join(made["city"])) <= set("".join(cities) + "[], ")
    with sqlanon.connect() as connection:
        connection.sql(made.script)
        assert connection.sql("FROM anonymized").df()["weight"].sum() == pytest.approx(read["weight"].sum())


@pytest.mark.parametrize(
    ("options", "message", "hint"),
    [
        ({"decimal": ";"}, 'decimal=";" is not a decimal separator', 'write decimal=","'),
        ({"null": 9}, "null is a text or a list of texts", '["?", "NA"]'),
        ({"encoding": 8}, "encoding is a text, not int", ""),
        ({"nullstr": "?"}, "no argument nullstr", "did you mean null?"),
    ],
)
def test_options_of_csv_files_that_are_wrong(options: dict[str, Any], message: str, hint: str, tmp_path: Path) -> None:
    people().to_csv(tmp_path / "people.csv", index=False)
    with pytest.raises(UserError) as refused:
        anonymize(tmp_path / "people.csv", known="age", **options)
    assert message in refused.value.message
    assert hint in (refused.value.hint or "")


def test_options_of_csv_files_are_for_these_alone(tmp_path: Path) -> None:
    people().to_parquet(tmp_path / "people.parquet")
    with pytest.raises(UserError, match="null, encoding and decimal are for CSV files"):
        anonymize(tmp_path / "people.parquet", known="age", null="?")
    with pytest.raises(UserError, match="are for the path of a CSV file, but the data are a DataFrame"):
        anonymize(people(), known="age", decimal=",")


def test_a_script_without_its_variable_says_that_one_is_looked_up(released: Any) -> None:
    with sqlanon.connect() as connection, pytest.raises(PolicyError) as refused:
        connection.sql(released.script)
    assert "a data frame has the name of its variable" in str(refused.value.hint)


@pytest.mark.parametrize(
    ("changed", "message", "hint"),
    [
        ({"further": (KNOWN, "hiv")}, "name all other arguments", "known=['age', 'sex'], secret=['hiv'])"),
        ({"further": (KNOWN, 5)}, "name all other arguments", 'known=["age", "zip"]'),
        ({"quasi_ids": KNOWN}, "no argument quasi_ids", "did you mean known"),
        ({"sensitive_attributes": "hiv"}, "no argument sensitive_attributes", "did you mean secret"),
        ({"hierarchy": {}}, "no argument hierarchy", "did you mean hierarchies"),
        ({"suppression": 0.1}, "no argument suppression", "generalization(suppression => 0.02)"),
        ({"secret": "age"}, "age is listed twice, in known and in secret", "one role"),
        ({"require": ["t_closeness=0.2"]}, "require: ", ""),
        ({"hierarchies": {"age": [5, 10]}}, "hierarchies['age'] is a text, not a list", "INTERVALS (5, 10)"),
        (
            {"hierarchies": {"income": "INTERVALS (5)"}},
            "income is not among the listed columns, age, sex, hiv",
            "known=['income'",
        ),
        ({"hierarchies": {"agee": "INTERVALS (5)"}}, "there is no column agee", "did you mean age"),
        ({"known": ["age", "age"]}, "age is listed twice, in known", "one role"),
        ({"known": []}, "there are no known columns", "might be known=['age', 'sex'"),
        ({"known": (), "data": people(1)[["sex"]]}, "there are no known columns", "known="),
        ({"data": people().set_index("age")}, "age is in the index", "reset_index"),
        ({"data": people().set_index(["age", "sex"])}, "age is in the index", "reset_index"),
        ({"data": people()["age"]}, "not Series", "to_frame"),
        ({"data": {"age": [1]}}, "not dict", r"pandas.DataFrame(data)"),
        ({"data": pandas.DataFrame([[1, 2]], columns=["age", "age"])}, "age and age have the same name", "rename"),
        (
            {"data": pandas.DataFrame([[1]], columns=pandas.MultiIndex.from_tuples([("age", "first")]))},
            "2 levels of names",
            "join",
        ),
    ],
)
def test_mistakes(changed: dict[str, Any], message: str, hint: str) -> None:
    arguments = {"data": people(), "known": KNOWN, "secret": "hiv", "further": (), **changed}
    with pytest.raises(UserError) as refused:
        anonymize(arguments.pop("data"), *arguments.pop("further"), **arguments)
    assert message in refused.value.message
    assert hint in (refused.value.hint or "")


@pytest.mark.parametrize(
    ("changed", "message", "hint"),
    [
        ({"l": 3}, "l = 3 cannot be met: hiv has 2 different values", "give at most l=2"),
        ({"secret": "same"}, "l = 2 cannot be met: same has 1 different value", "l=None"),
        ({"k": 121}, "k = 121 cannot be met: there are 120 rows", "at most k=120"),
        ({"k": 5, "entity": "pair", "secret": None}, "k = 5 cannot be met: there are 2 different", "at most k=2"),
        ({"k": 3, "entity": "gap", "secret": None}, "k = 3 cannot be met: there are 2 different", "at most k=2"),
        ({"data": people(1)}, "k = 5 cannot be met: there is 1 row", "at most k=1"),
    ],
)
def test_what_could_be_met(changed: dict[str, Any], message: str, hint: str) -> None:
    source = people().assign(same=1, pair=lambda frame: frame["sex"])
    # NULL is nobody.
    source["gap"] = source["sex"].where(source.index > 9)
    arguments = {"data": source, "known": ["age"], "secret": "hiv", **changed}
    with pytest.raises(PrivacyViolation, match=message) as refused:
        anonymize(arguments.pop("data"), **arguments)
    assert hint in (refused.value.hint or "")


def test_one_row_for_one_person() -> None:
    with pytest.warns(PrivacyRemark, match="k = 1"):
        assert len(anonymize(people(1), known=KNOWN, k=1)) == 1


def test_polars_without_pyarrow_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    frame = type("DataFrame", (), {"__module__": "polars.dataframe.frame", "columns": ["age"]})()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UserError, match="need pyarrow, which is not installed") as refused:
        anonymize(frame, known="age")
    assert "sqlanon[arrow]" in str(refused.value.hint)


def test_a_share_that_python_divided_is_less_than_the_fraction() -> None:
    data = pandas.DataFrame({"ward": [1] * 12, "disease": ["flu", "flu", "cold"] * 4})
    with pytest.raises(PrivacyViolation) as caught:
        anonymize(data, known=["ward"], secret=["disease"], require="alpha_k_anonymity(alpha => %r, k => 3)" % (2 / 3))
    assert str(caught.value.hint).startswith("alpha => 0.6666666666666666 is compared exactly, so 2/3 violates")
