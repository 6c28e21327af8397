"""The documentation does what it says: its examples run, its outputs are real, its links lead somewhere.

How a page is read:

- Its ```sql, ```python and ```sh blocks run in order, in one folder and one fresh database of their own.
- `<!-- run first: sql/... -->` names a script that ships with sqlanon and runs in that database before them.
- A block ```sql error ends in an error. A block ```sh no-run is not run; that its commands parse is checked.
- A block ```python spark runs where Spark does (tests/spark), and is parsed here. So is a block ```sh door or
  ```python door, which runs where a door is open (test_serve_page.py).
- Below `<!-- output -->` a ```text block is what the block before it prints. Tables are compared cell by cell,
  their rows in any order, other lines one by one; `...` stands for any text, and a row of nothing else for any rows.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

import sqlanon
from sqlanon.clients.terminal.cli import app
from sqlanon.release.pipeline.run import RELEASE
from tests.support.pages import OUTPUT, ROOT, Reading, tables
from tools.site_hook import linked, page_of, plain_blocks, rewritten

DOCS = ROOT / "docs"
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "README.md", *DOCS.rglob("*.md")))

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")


@pytest.mark.one_in(150)
@pytest.mark.parametrize("page", PAGES)
def test_a_page_does_what_it_says(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # What readers export in their own shell.
    monkeypatch.setenv("SERIES_KEY", "a key that is long enough")
    monkeypatch.setenv("BANK_KEY", "a key of at least 16 bytes")
    monkeypatch.setenv("TRIAL_KEY", "a key of at least 16 bytes")
    Reading(tmp_path).page((ROOT / page).read_text(encoding="utf-8"), page)


def without_blocks(text: str) -> str:
    return re.sub(r"^(`{3,}).*?^\1$", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """The headings of a page as GitHub links to them."""
    heads = re.findall(r"^#+ (.*)$", without_blocks(page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", [*PAGES, "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_lead_somewhere(page: str) -> None:
    text = without_blocks((ROOT / page).read_text(encoding="utf-8"))
    for link in LINK.findall(text):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (ROOT / page).parent / path if path else ROOT / page
        assert target.exists(), f"{page} links to {link}"
        assert not anchor or anchor in anchors(target), f"{page} links to {link}"


def test_every_page_can_be_found() -> None:
    """From the index, or from a page that it links to."""
    seen: set[Path] = set()
    waiting = [DOCS / "index.md"]
    while waiting:
        page = waiting.pop()
        if page in seen or page.suffix != ".md" or not page.exists():
            continue
        seen.add(page)
        text = without_blocks(page.read_text(encoding="utf-8"))
        waiting += [(page.parent / link.partition("#")[0]).resolve() for link in LINK.findall(text)]
    assert {path for path in DOCS.rglob("*.md") if path.parent.name != "decisions"} - seen == set()


def test_every_page_is_in_the_menu_of_the_site() -> None:
    """`make docs` would say so, too; here it is said earlier."""
    menu = set(
        re.findall(r"^ +- (?:.*: )?([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    )
    assert {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md") if page.parent.name != "decisions"} == menu


def test_the_site_has_pages_for_files_that_pages_link_to() -> None:
    text = (
        "[`a`](../../sql/examples/hospital.sql) [b](../../README.md#a-page-of-sql) [c](../index.md) [d](../decisions/) "
        "`[e](../x)`"
    )
    page = "docs/how-to/analyst.md"
    assert linked(text, page) == {"sql/examples/hospital.sql", "README.md", "docs/decisions"}
    assert rewritten(text, page) == (
        "[`a`](../repository/sql/examples/hospital.sql.md) [b](../repository/README.md#a-page-of-sql) [c](../index.md) "
        "[d](../decisions/index.md) `[e](../x)`"
    )
    assert page_of("tests") == "repository/tests/index.md"
    assert rewritten("[all](docs/index.md#how-to)", "README.md") == "[all](../index.md#how-to)"


def test_the_site_reads_every_block_of_code() -> None:
    """Its parser takes a block whose first line says more than a language and a title for a text."""
    unread = re.compile(r"^`{3,}(?!\w*$)(?!\w+ title=\"[^\"]*\"$).+$", re.MULTILINE)
    found = {page: unread.findall(plain_blocks((ROOT / page).read_text(encoding="utf-8"))) for page in PAGES}
    assert {page: lines for page, lines in found.items() if lines} == {}
    assert unread.findall("```python spark\n```\n```sh\n```\n") == ["```python spark"]


@pytest.mark.long
@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_the_first_rows_of_the_readme_are_a_class_of_its_release(page: str) -> None:
    """Each line has a row of the source and, behind an arrow, the row that is published in its place."""
    connection = sqlanon.connect()
    connection.sql((ROOT / "sql" / "examples" / "hospital.sql").read_text(encoding="utf-8"))
    lines = tables((ROOT / page).read_text(encoding="utf-8"))[0][1:]
    assert all(line[4] == "→" for line in lines)
    before, after = [tuple(line[:4]) for line in lines], [tuple(line[5:]) for line in lines]
    known = [tuple(map(str, row)) for row in connection.sql("FROM patients").fetchall()]
    assert set(before) <= set(known)
    columns = connection.sql("FROM hospital_release").filter(f"(dob, sex, zip) = {after[0][:3]}")
    assert sorted(after) == sorted(columns.fetchall())
    assert [row[3] for row in before] == [row[3] for row in after]


def messages() -> Iterator[str]:
    """The texts in sqlanon's sources, `...` for what is filled in."""
    for path in (ROOT / "sqlanon").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                yield "".join(str(part.value) if isinstance(part, ast.Constant) else "..." for part in node.values)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


@pytest.mark.long
def test_the_list_of_errors_has_their_words() -> None:
    """Each row begins with words of a message or a hint, `...` standing for what is filled in."""
    texts = list(messages())
    heads = ("the error says", "it goes on with")
    lists = [table[1:] for table in tables((DOCS / "errors.md").read_text(encoding="utf-8")) if table[0][0] in heads]
    assert len(lists) == 5
    for words, *_ in (row for rows in lists for row in rows):
        parts = [part.strip(" ,;") for part in words.split("...")]
        assert any(all(part in text for part in parts) for text in texts), words


def options(command: Any, name: str) -> Iterator[tuple[str, str]]:
    """The commands below this one, each with its long options."""
    for own, below in getattr(command, "commands", {}).items():
        yield from options(below, f"{name} {own}")
    if not hasattr(command, "commands"):
        for parameter in command.params:
            yield from ((name, option) for option in parameter.opts if option.startswith("--"))


def test_the_command_line_page_has_every_command_and_option() -> None:
    text = (DOCS / "command-line.md").read_text(encoding="utf-8")
    for command, option in options(typer.main.get_command(app), "sqlanon"):
        assert command in text
        assert f"`{option}" in text or option == "--help", f"{command} {option}"


def test_the_architecture_page_has_every_stage_and_package() -> None:
    text = (DOCS / "maintainers" / "architecture.md").read_text(encoding="utf-8")
    packages = [path.parent.name for path in (ROOT / "sqlanon").glob("*/__init__.py")]
    for name in [stage for stage, _ in RELEASE.stages] + [f"`{package}`" for package in packages]:
        assert name in text, name


GOOD = f"""
```sql
SELECT unnest([1, 2]) AS a; SELECT 'x' AS b;
```

{OUTPUT}
```text
| a |
|--:|
| 2 |
| 1 |

| b   |
|-----|
| ... |
```
"""


@pytest.mark.parametrize(
    ("page", "complaint"),
    [
        (GOOD.replace("| 2 |", "| 3 |"), "no row"),
        (GOOD.replace("| 2 |\n", ""), "does not show"),
        (GOOD.replace("| 2 |", "| ... |").replace("| 1 |", "| 3 |"), "no row"),
        (GOOD.replace("| b ", "| c "), "the columns are"),
        (GOOD.replace("| b   |\n|-----|\n| ... |\n", ""), "1 tables"),
        (GOOD.replace("SELECT unnest", "SELEC unnest"), "syntax error"),
        (GOOD.replace("```sql", "```sql error"), "no error"),
        (GOOD.replace("```sql", "```sh no-run\nsqlanon run --no-such-option x.sql\n```\n```sql"), "no-such-option"),
        (GOOD.replace("```sql", "```sh no-run\nmake coffee\n```\n```sql"), "no make coffee"),
        (GOOD + "```sql\nSELECT 1;\n", "never closed"),
    ],
)
def test_a_page_that_is_wrong_is_noticed(page: str, complaint: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=complaint):
        Reading(tmp_path).page(page, "page.md")


@pytest.mark.parametrize("page", [GOOD, GOOD.replace("| 2 |\n| 1 |", "| ... |"), GOOD.replace("| 2 |", "| ... |")])
def test_a_page_that_is_right_is_not_complained_of(page: str, tmp_path: Path) -> None:
    Reading(tmp_path).page(page, "page.md")
