"""Files under sql/ that cannot be read: each breaks the statements that name it, and no other."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from importlib import reload
from pathlib import Path

import pytest

import sqlanon
from sqlanon import InternalError, assets
from sqlanon.clients.session import StatementEvent
from sqlanon.clients.terminal import completion
from sqlanon.sql.questions.load import load_question, model_names
from sqlanon.sql.questions.statistics import load_statistic

ROOT = Path(__file__).resolve().parents[2]
# What a file may hold in place of what it held. Its header is left where it is its SQL that cannot be read.
BROKEN = {
    "no text": b"\xff\xfe\x00",
    "no header": b"SELECT 1 AS a",
    "no query": None,
}
# A file, a statement that names what it holds, and one that names another one of its kind.
FILES = {
    "attacks/skewness": ("ATTACK r WITH skewness", "ATTACK r WITH homogeneity"),
    "figures/gain": ("MEASURE r WITH FIGURES (gain)", "MEASURE r WITH FIGURES (class_sizes)"),
    "models/delta_disclosure": (
        "CHECK t (age) SENSITIVE ill REQUIRE delta_disclosure(delta => 9)",
        "CHECK t (age) SENSITIVE ill REQUIRE k_anonymity(k => 2), l_diversity(l => 2)",
    ),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of sql/ that is read in its place."""
    shutil.copytree(ROOT / "sql", tmp_path / "sql")
    original = assets.folder
    monkeypatch.setattr(assets, "folder", lambda kind: tmp_path / "sql" if kind == "sql" else original(kind))
    forget()
    yield tmp_path / "sql"
    monkeypatch.undo()
    forget()
    reload(completion)


def forget() -> None:
    for cached in (assets.read, assets.listing, load_question, load_statistic):
        cached.cache_clear()


def broken(text: bytes, how: str) -> bytes:
    replaced = BROKEN[how]
    if replaced is not None:
        return replaced
    head, _, _ = text.partition(b"\n-- statement:")
    named = [line for line in text.splitlines() if line.startswith(b"-- statement:")]
    return head + b"".join(b"\n" + line + b"\nSELECT FROM WHERE (\n" for line in named)


@pytest.mark.one_in(36)
@pytest.mark.parametrize("how", BROKEN)
@pytest.mark.parametrize("file", FILES)
def test_a_broken_file_breaks_what_names_it(folder: Path, file: str, how: str) -> None:
    path = folder / f"{file}.sql"
    path.write_bytes(broken(path.read_bytes(), how))
    names_it, names_another = FILES[file]
    with sqlanon.connect() as con:
        con.execute("""
            CREATE TABLE t AS SELECT i % 4 AS age, 'd' || i % 3 AS ill FROM range(60) AS r(i);
            CREATE HIERARCHY tens AS INTERVALS (10);
            CREATE POLICY p ON t (age QUASI IDENTIFIER USING tens, ill SENSITIVE) REQUIRE k_anonymity(k => 2);
            CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization;
        """)
        for statement in (names_another, "CHECK r", "MEASURE r", "CHECK t (age) SENSITIVE ill"):
            assert con.sql(statement).fetchall()
        reload(completion)
        with pytest.raises(InternalError) as caught:
            con.sql(names_it)
    assert f"sql/{file}.sql is broken: " in caught.value.message
    assert "reinstall" in str(caught.value.hint)


@pytest.mark.parametrize("kind", ["attacks", "figures", "models"])
def test_a_file_of_ones_own_is_named_by_its_own_name(folder: Path, kind: str) -> None:
    """Its header says no other."""
    (folder / kind / "mine.sql").write_text("-- title: mine\n", encoding="utf-8")
    statement = {
        "attacks": "ATTACK t (age) SENSITIVE ill WITH mine",
        "figures": "CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization; MEASURE r WITH FIGURES (mine)",
        "models": "CHECK t (age) REQUIRE mine(k => 2)",
    }[kind]
    with sqlanon.connect() as con:
        con.execute("""
            CREATE TABLE t AS SELECT i % 4 AS age, 'd' || i % 3 AS ill FROM range(60) AS r(i);
            CREATE POLICY p ON t (age QUASI IDENTIFIER, ill SENSITIVE) REQUIRE k_anonymity(k => 2);
        """)
        with pytest.raises(InternalError, match=rf"sql/{kind}/mine\.sql is broken: "):
            con.execute(statement)


def test_other_variants_of_a_model_go_on(folder: Path) -> None:
    path = folder / "models" / "entropy_l_diversity.sql"
    path.write_bytes(broken(path.read_bytes(), "no query"))
    check = "CHECK (SELECT i % 4 AS age, 'd' || i % 3 AS ill FROM range(60) AS r(i)) (age) SENSITIVE ill REQUIRE {}"
    with sqlanon.connect() as con:
        assert con.sql(check.format("l_diversity(l => 2)")).fetchall()
        with pytest.raises(InternalError, match=r"sql/models/entropy_l_diversity\.sql is broken: "):
            con.sql(check.format("l_diversity(l => 2, variant => 'entropy')"))


def test_what_measure_leaves_out_is_said(folder: Path) -> None:
    (folder / "figures" / "gain.sql").write_bytes(b"")
    with sqlanon.connect() as con:
        con.execute("""
            CREATE TABLE t AS SELECT i % 4 AS age, 'd' || i % 3 AS ill FROM range(60) AS r(i);
            CREATE POLICY p ON t (age QUASI IDENTIFIER, ill SENSITIVE) REQUIRE k_anonymity(k => 2);
            CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization;
        """)
        events: list[StatementEvent] = []
        con.script("MEASURE r", events.append)
    assert any("sql/figures/gain.sql is broken" in remark for event in events for remark in event.remarks)


def test_the_models_are_those_of_the_headers() -> None:
    """Names are read without the rest of a header, and are the same."""
    assert set(model_names()) == {
        load_question(name).model for name in (p.stem for p in (ROOT / "sql/models").iterdir())
    }
