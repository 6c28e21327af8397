"""EXPORT of a snapshot of every privacy model: recomputed from the file, and stated in its certificate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sqlanon import Connection, PrivacyViolation
from sqlanon.export.formats import csv as csv_format
from sqlanon.sql.questions.load import load_question
from tests.support.models.patients import (
    DISEASES,
    HIDDEN,
    METHOD,
    MODELS,
    TOGETHER,
    create,
    database,
    every_model,
    policy,
)


@pytest.fixture
def con() -> Connection:
    return database()


def _certificate(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "certificate.json").read_text(encoding="utf-8")))


@pytest.mark.one_in(40)
@every_model
def test_an_export_is_recomputed_from_its_file(con: Connection, name: str, tmp_path: Path) -> None:
    policy(con, name)
    answer = create(con, "TABLE")
    format_ = ("parquet", "csv", "duckdb")[MODELS.index(name) % 3]
    con.execute(f"EXPORT r TO '{tmp_path / 'out'}' (FORMAT {format_})")
    said = _certificate(tmp_path / "out")
    [requirement] = said["requirements"]
    question = load_question(name)
    assert (requirement["model"], requirement["question"]) == (question.model, name)
    assert (requirement["attribute"], requirement["required"]) == answer[name][:2]
    assert requirement["achieved"] == pytest.approx(answer[name][2])
    hidden = HIDDEN.get(name)
    seen = f"snapshot with its {hidden}, when it was made" if hidden else "exported file"
    assert requirement["recomputed_from"] == seen
    if question.when:
        assert requirement["arguments"][question.when.argument] == question.when.value
    markdown = (tmp_path / "out" / "certificate.md").read_text(encoding="utf-8")
    assert f"{question.model}(" in markdown
    assert said["loss"]["proven_optimal"] is True
    assert "the least of all levels" in markdown
    data = next(path for path in (tmp_path / "out").iterdir() if "certificate" not in path.name)
    assert b"lung" not in data.read_bytes(), "a label of a sensitive attribute's hierarchy is none of the release"


@pytest.mark.long
def test_an_exported_text_file_is_measured_in_the_types_of_the_snapshot(con: Connection, tmp_path: Path) -> None:
    """In CSV 9 and 10 are texts, which have another order than the numbers."""
    con.execute("ALTER TABLE source ADD COLUMN income INTEGER; UPDATE source SET income = 7 + id % 9")
    con.execute("CREATE HIERARCHY incomes AS INTERVALS (5, 10)")
    con.execute(
        "CREATE POLICY p ON source (zip QUASI IDENTIFIER USING zips, age QUASI IDENTIFIER USING ages, "
        "income SENSITIVE USING incomes, disease SENSITIVE USING diseases) REQUIRE "
        "t_closeness(t => 0.3, distance => 'ordered'), t_closeness(t => 0.4, distance => 'hierarchical')"
    )
    con.execute(f"CREATE ANONYMIZED TABLE r AS POLICY p {METHOD}")
    for format_ in ("csv", "parquet", "duckdb"):
        con.execute(f"EXPORT r TO '{tmp_path / format_}' (FORMAT {format_})")
        said = _certificate(tmp_path / format_)["requirements"]
        assert [r["attribute"] for r in said] == ["income", "disease"] * 2
        assert {r["recomputed_from"] for r in said} == {"exported file"}
        assert "of income" in (tmp_path / format_ / "certificate.md").read_text(encoding="utf-8")


@pytest.mark.long
def test_a_file_that_breaks_a_requirement_is_never_put_in_place(
    con: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy(con, "distinct_l_diversity", "hierarchical_t_closeness")
    create(con, "TABLE")
    write = csv_format.write

    def meddled(engine: Any, file: Any, rows: Any, certificate: str) -> None:
        write(engine, file, rows, certificate)
        text = file.path.read_text(encoding="utf-8")
        for disease in DISEASES:
            text = text.replace(disease, "flu")
        file.path.write_text(text, encoding="utf-8")

    monkeypatch.setattr(csv_format, "write", meddled)
    with pytest.raises(
        PrivacyViolation, match=r"would violate l_diversity\(l => 4, variant => 'distinct'\) of disease"
    ):
        con.execute(f"EXPORT r TO '{tmp_path / 'out'}' (FORMAT csv)")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
def test_the_certificate_of_hidden_requirements_says_what_was_counted(con: Connection, tmp_path: Path) -> None:
    policy(con, *TOGETHER, public="(SELECT * FROM voters WHERE zip <> 'a secret')")
    create(con, "TABLE")
    con.execute(f"EXPORT r TO '{tmp_path / 'out'}' (FORMAT parquet)")
    said = _certificate(tmp_path / "out")
    assert said["policy"]["public"] == "query"
    for file in ("certificate.json", "certificate.md"):
        assert "a secret" not in (tmp_path / "out" / file).read_text(encoding="utf-8")
    markdown = (tmp_path / "out" / "certificate.md").read_text(encoding="utf-8")
    assert "Guarding nodes were counted when the snapshot was made" in markdown
    assert "Rows of the public table were counted when the snapshot was made" in markdown
    assert "was recomputed from the exported file itself" in markdown
