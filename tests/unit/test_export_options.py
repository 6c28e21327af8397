"""EXPORT ... (TEXT, DELIMITER, QUOTE): types that do not change with levels, and the characters of CSV."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from sqlanon import Connection, UserError, connect
from tests.support.database import template

SETUP = """
    CREATE TABLE people AS SELECT 20 + i % 8 AS age, DATE '2020-01-01' + (i % 2)::INTEGER AS born, [i % 2] AS codes,
        'Ärzte; "Haus"' || chr(10) || i % 3 AS place, i * 1.5 AS pay FROM range(160) AS t(i);
    CREATE HIERARCHY tens AS INTERVALS (10);
    CREATE POLICY p ON people (age QUASI IDENTIFIER USING tens, born QUASI IDENTIFIER, place INSENSITIVE, pay SENSITIVE)
        REQUIRE k_anonymity(k => 5);
"""
FORMATS = ["parquet", "csv", "duckdb", "arrow", "sqlite"]


@pytest.fixture
def con() -> Connection:
    return template(SETUP)


@pytest.fixture
def released() -> Connection:
    """The database with a release of the policy."""
    return template(SETUP, "CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")


def types_in(path: Path) -> dict[str, str]:
    stated = json.loads((path / "certificate.json").read_text(encoding="utf-8"))
    return {column["name"]: column["type"] for column in stated["columns"]}


def checked(path: Path) -> dict[str, tuple[Any, ...]]:
    return {question: tuple(rest) for _, question, *rest in connect().execute(f"CHECK '{path}'").fetchall()}


@pytest.mark.long
@pytest.mark.parametrize("kind", FORMATS)
def test_quasi_identifiers_are_text_whatever_their_levels(released: Connection, tmp_path: Path, kind: str) -> None:
    """A second night has so few rows that ages are generalized: the columns of its files are those of the first."""
    nights: list[dict[str, str]] = []
    answers: list[Any] = []
    for _ in range(2):
        released.execute(f"EXPORT r TO '{tmp_path}/out/' (FORMAT {kind}, TEXT true, REPLACE true)")
        nights.append(types_in(tmp_path / "out"))
        answers.append(checked(tmp_path / "out"))
        released.execute("DELETE FROM people WHERE pay >= 36; REFRESH ANONYMIZED TABLE r")
    assert nights[0] == nights[1]
    assert (nights[0]["age"], nights[0]["born"]) == ("VARCHAR", "VARCHAR")
    assert [answer["k_anonymity"] for answer in answers] == [
        (None, 5.0, 20.0, True, "recomputed from the files"),
        (None, 5.0, 12.0, True, "recomputed from the files"),
    ]


@pytest.mark.parametrize("kind", ["parquet", "duckdb"])
def test_the_values_are_those_of_the_release(released: Connection, tmp_path: Path, kind: str) -> None:
    released.execute(f"EXPORT r TO '{tmp_path}/out/' (FORMAT {kind}, TEXT)")
    published = released.execute("SELECT age::VARCHAR, born::VARCHAR, place, pay FROM r ORDER BY ALL").fetchall()
    if kind == "parquet":
        rows = duckdb.sql(f"SELECT * FROM '{tmp_path}/out/r.parquet' ORDER BY ALL").fetchall()
    else:
        with duckdb.connect(str(tmp_path / "out" / "r.duckdb"), read_only=True) as other:
            rows = other.sql("SELECT * FROM r ORDER BY ALL").fetchall()
    assert rows == published


@pytest.mark.long
def test_an_estimate_reads_texts_as_the_values_that_they_were(released: Connection, tmp_path: Path) -> None:
    question = "SELECT count(*), sum(pay) FROM people WHERE age < 23 AND born < DATE '2020-01-02'"
    answers = []
    for name, option in (("typed", ""), ("texts", "(TEXT true)")):
        released.execute(f"EXPORT r TO '{tmp_path}/{name}/' {option}")
        answers.append(connect().execute(f"ESTIMATE {question} FROM RELEASE '{tmp_path}/{name}/'").fetchall())
    assert answers[0] == answers[1]
    count, total = released.execute(question).fetchall()[0]
    assert answers[0][0][0] == count
    assert answers[0][0][4] == pytest.approx(float(total))


@pytest.mark.one_in(4)
@pytest.mark.parametrize("method", ["mondrian(bounds => true)", "anatomy(2)", "slicing(l => 2)", "trivial"])
def test_each_method_has_texts_for_its_quasi_identifiers(con: Connection, tmp_path: Path, method: str) -> None:
    con.execute(
        "CREATE POLICY q ON people (age QUASI IDENTIFIER, born QUASI IDENTIFIER, place SENSITIVE) "
        "REQUIRE l_diversity(l => 2, variant => 'probabilistic')"
    )
    con.execute(f"CREATE ANONYMIZED TABLE r AS POLICY q METHOD {method}; EXPORT r TO '{tmp_path}/out/' (TEXT)")
    stated = json.loads((tmp_path / "out" / "certificate.json").read_text(encoding="utf-8"))
    columns = [column for table in stated.get("tables", [stated]) for column in table["columns"]]
    assert {column["type"] for column in columns if column["name"] in ("age", "born")} == {"VARCHAR"}
    assert {column["type"] for column in columns if column["name"] == "age_low"} <= {"BIGINT"}
    answer = checked(tmp_path / "out")
    assert {row[3] for row in answer.values()} == {True}


def test_lists_stay_lists(con: Connection, tmp_path: Path) -> None:
    con.execute(
        "CREATE POLICY q ON people (codes QUASI IDENTIFIER, pay SENSITIVE) REQUIRE km_anonymity(k => 5, m => 1)"
    )
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY q METHOD itemsets")
    con.execute(f"EXPORT r TO '{tmp_path}/out/' (TEXT)")
    assert types_in(tmp_path / "out")["codes"] == "VARCHAR[]"
    assert checked(tmp_path / "out")["km_anonymity"][3] is True


@pytest.mark.long
def test_types_that_change_are_told(released: Connection, tmp_path: Path) -> None:
    first = released.execute(f"EXPORT r TO '{tmp_path}/out/'").fetchall()
    assert first[0][-1] is None
    released.execute("DELETE FROM people WHERE pay >= 36")
    refreshed = released.execute("REFRESH ANONYMIZED TABLE r").fetchall()
    assert (
        "columns have other types than in the release that this one replaces: age is VARCHAR and was BIGINT"
        in (refreshed[0][-1])
    )
    warning = released.execute(f"EXPORT r TO '{tmp_path}/out/' (REPLACE true)").fetchall()[0][-1]
    assert warning.endswith(
        "; columns have other types than in the export that this one replaces: age is VARCHAR and was BIGINT; "
        "EXPORT ... (TEXT true) writes quasi-identifiers as text each time"
    )
    released.execute(f"EXPORT r TO '{tmp_path}/csv/'")
    as_csv = released.execute(f"EXPORT r TO '{tmp_path}/csv/' (FORMAT csv, REPLACE)").fetchall()
    assert "other types" not in as_csv[0][-1]
    again = released.execute("CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p METHOD generalization").fetchall()
    assert "other types" not in (again[0][-1] or "")
    assert "other types" not in released.execute(f"EXPORT r TO '{tmp_path}/out/' (REPLACE true)").fetchall()[0][-1]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("delimiter", "quote"), [(";", '"'), ("\t", '"'), ("|", "'"), (",", "'"), (";", ",")])
def test_a_csv_file_has_the_characters_that_are_asked_for(
    released: Connection, tmp_path: Path, delimiter: str, quote: str
) -> None:
    written = quote.replace("'", "''")
    released.execute(f"EXPORT r TO '{tmp_path}/r.csv' (DELIMITER '{delimiter}', QUOTE '{written}', DICTIONARY true)")
    with (tmp_path / "r.csv").open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file, delimiter=delimiter, quotechar=quote)
    assert head == ["age", "born", "place", "pay"]
    published = released.execute("SELECT age::VARCHAR, born::VARCHAR, place, pay::VARCHAR FROM r").fetchall()
    assert sorted(map(tuple, rows)) == sorted(published)
    stated = json.loads((tmp_path / "r.csv.certificate.json").read_text(encoding="utf-8"))
    assert stated.get("csv", {"delimiter": ",", "quote": '"'}) == {"delimiter": delimiter, "quote": quote}
    answer = checked(tmp_path / "r.csv")
    assert answer["k_anonymity"] == (None, 5.0, 20.0, True, "recomputed from the files")
    dictionary = (tmp_path / "r.csv.dictionary.csv").read_text(encoding="utf-8")
    assert dictionary.startswith(delimiter.join(("table", "column", "type")))
    estimate = f"ESTIMATE SELECT count(*) FROM people WHERE age < 23 FROM RELEASE '{tmp_path}/r.csv'"
    assert connect().execute(estimate).fetchall()[0][0] == 60


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("FORMAT csv, DELIMITER ''", "has to be one character"),
        ("FORMAT csv, DELIMITER ';;'", "has to be one character"),
        ("FORMAT csv, DELIMITER '1'", "has to be one character"),
        ("FORMAT csv, DELIMITER '\n'", "has to be one character"),
        ("FORMAT csv, QUOTE 'ß'", "has to be one character"),
        ("FORMAT csv, QUOTE ','", "another character than DELIMITER"),
        ("FORMAT parquet, DELIMITER ';'", "DELIMITER is for CSV"),
        ("QUOTE ''''", "QUOTE is for CSV"),
        ("FORMAT csv, DELIMITER ';', DELIMITER ','", "occurs twice"),
    ],
)
def test_characters_that_no_csv_file_can_have_are_refused(
    released: Connection, tmp_path: Path, options: str, said: str
) -> None:
    with pytest.raises(UserError, match=said):
        released.execute(f"EXPORT r TO '{tmp_path}/out' ({options})")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
def test_a_certificate_with_other_characters_is_not_believed(con: Connection, tmp_path: Path) -> None:
    con.execute(
        f"CREATE ANONYMIZED TABLE r AS POLICY p "
        f"METHOD generalization; EXPORT r TO '{tmp_path}/out' (FORMAT csv, DELIMITER ';')"
    )
    certificate = tmp_path / "out" / "certificate.json"
    stated = json.loads(certificate.read_text(encoding="utf-8"))
    for fields in ({"delimiter": "a", "quote": '"'}, {"delimiter": ";;", "quote": '"'}, {"delimiter": ";"}, 1):
        certificate.write_text(json.dumps({**stated, "csv": fields}), encoding="utf-8")
        with pytest.raises(UserError, match="lacks information that a check needs"):
            checked(tmp_path / "out")
