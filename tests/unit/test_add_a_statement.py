"""The statement of the maintainers' page is added as the page says, and is a statement like any other."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sqlanon import Connection, StatementError, UserError, connect
from sqlanon.clients.terminal import completion
from sqlanon.statements import parser, registry, releases
from sqlanon.statements.parser import parse_script
from tools.grammar import page

PAGE = Path(__file__).resolve().parents[2] / "docs" / "maintainers" / "adding-a-statement.md"
FILE = re.compile(
    r"^`(\w+\.py)`, in `sqlanon/statements/releases/`:\n\n```python\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
CACHES = (registry.statements, registry.statements_beginning, parser._all_forms, parser._forms_of)


@pytest.fixture
def added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The module of the page, as if it lay in the folder that the page names."""
    [(name, text)] = FILE.findall(PAGE.read_text(encoding="utf-8"))
    folder = tmp_path / "releases"
    folder.mkdir()
    (folder / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(registry, "_MODULES", [*registry._MODULES, folder / name])
    monkeypatch.setattr(releases, "__path__", [*releases.__path__, str(folder)])
    for cached in CACHES:
        cached.cache_clear()
    yield f"{releases.__name__}.{Path(name).stem}"
    sys.modules.pop(f"{releases.__name__}.{Path(name).stem}", None)
    for cached in CACHES:
        cached.cache_clear()


@pytest.fixture
def con(added: str) -> Connection:
    made = connect()
    made.execute("CREATE TABLE people AS SELECT 20 + range % 4 AS age FROM range(8)")
    made.execute("CREATE HIERARCHY decades AS INTERVALS (10)")
    made.execute("CREATE POLICY p ON people (age QUASI IDENTIFIER USING decades) REQUIRE k_anonymity(k => 4)")
    made.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
    return made


def test_it_is_read_written_and_run(con: Connection) -> None:
    assert con.sql("levels r").columns == ["column", "level", "height"]
    assert con.sql("LEVELS main.r").fetchall() == [("age", 1, 2)]
    [statement] = parse_script("LEVELS r")
    assert statement.sql() == 'LEVELS "r"'
    assert parse_script(statement.sql()) == [statement]
    assert statement.label() == "LEVELS r"


def test_errors_name_it_and_show_its_example(con: Connection) -> None:
    with pytest.raises(StatementError, match="LEVELS r: expected the end of the statement, found") as refused:
        con.sql("LEVELS r (age)")
    assert refused.value.hint == "a correct form is: LEVELS hospital_2026"
    with pytest.raises(UserError, match=r"there is no release main\.nothing"):
        con.sql("LEVELS nothing")
    with pytest.raises(Exception, match="syntax error") as misspelled:
        con.sql("LEVLES r")
    assert misspelled.value.__notes__ == ["hint: did you mean LEVELS?"]


def test_its_guards_are_those_that_it_says(added: str) -> None:
    with pytest.raises(UserError, match="this database has no policies and no releases yet"):
        connect().sql("LEVELS r")


def test_it_is_offered_and_published(added: str) -> None:
    assert "LEVELS" in registry.keywords()
    assert dict(completion._forms_of_others()) == {
        "LEVELS": "LEVELS name;\n    -- Lists the columns of a release, each with the level at which it is shown."
    }
    assert "levels = LEVELS qualified_name ;" in page()
