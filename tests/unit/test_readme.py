"""The README: short, its sentences too, with a picture that is drawn from releases.

tests/unit/test_docs.py runs its blocks.
"""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tools.readme_picture import ASSETS, KNOWN, PATIENTS, THEMES, Facts, draw_patients, facts, picture

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
LONGEST = 25
SVG = "{http://www.w3.org/2000/svg}"


def without_blocks(text: str) -> str:
    return re.sub(r"^(`{3,}).*?^\1$", "", text, flags=re.MULTILINE | re.DOTALL)


def sentences(text: str) -> list[str]:
    """The sentences of a page's prose; each heading, list entry and cell of a table ends one."""
    text = re.sub(r"<!--.*?-->|<[^>]+>", "", without_blocks(text), flags=re.DOTALL)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    parts = re.split(r"\n\s*\n|^#+ .*$|^- |^\|.*\|$", text, flags=re.MULTILINE)
    cells = [cell for line in re.findall(r"^\|(.*)\|$", text, re.MULTILINE) for cell in line.split("|")]
    return [
        sentence for part in (*parts, *cells) for sentence in re.split(r"(?<=[.?!:;])\s+", part) if sentence.strip()
    ]


def test_it_is_a_page() -> None:
    assert len(README.splitlines()) <= 120


def test_no_sentence_is_long() -> None:
    long = [sentence for sentence in sentences(README) if len(re.findall(r"\S*\w\S*", sentence)) > LONGEST]
    assert long == []


def test_sentences_are_told_apart() -> None:
    text = "# Head\n\nOne two. Three [four](five) six?\n\n| a b | c |\n|---|---|\n\n- seven\n- eight `nine`\n"
    words = [" ".join(re.findall(r"\w+", sentence)) for sentence in sentences(text)]
    assert [line for line in words if line] == ["One two", "Three four six", "seven", "eight nine", "a b", "c"]


def test_the_first_screen_has_rows_and_commands() -> None:
    """Four rows before and after, and commands for a file of the reader's own, within 40 lines."""
    first = README.splitlines()[:40]
    assert sum("→" in line for line in first) >= 4
    assert sum(line.startswith(("sqlanon ", "pip install")) for line in first) >= 3


def test_there_is_a_picture_for_each_theme() -> None:
    """Both say the same, in words too for readers who see no picture."""
    for theme in THEMES:
        assert f"docs/assets/release_{theme}.svg" in README
        assert len(re.findall("<source media=", README)) == len(THEMES)
    light, dark = (ElementTree.parse(ASSETS / f"release_{theme}.svg") for theme in THEMES)
    texts = [[text.text for text in drawn.iter(f"{SVG}text")] for drawn in (light, dark)]
    assert texts[0] == texts[1]
    [shares] = [re.findall(r"\d+ %", title.text or "") for title in light.iter(f"{SVG}title")]
    [words] = re.findall(r'alt="([^"]*)"', README)
    assert re.findall(r"\d+ %", words) == shares


def test_a_bar_is_as_long_as_its_error() -> None:
    drawn = ElementTree.fromstring(picture(Facts((("age", "31", "[30, 34]"),), (("a", 20.0), ("b", 5.0))), "light"))
    _, long, short = drawn.iter(f"{SVG}rect")
    assert float(long.attrib["width"]) == 4 * float(short.attrib["width"])
    assert [text.text for text in drawn.iter(f"{SVG}text")][-3:] == ["20 %", "b", "5 %"]


@pytest.mark.long
def test_the_picture_is_up_to_date(tmp_path: Path) -> None:
    """`python -m tools.readme_picture --write` draws it anew."""
    patients = tmp_path / "patients.csv"
    draw_patients(patients)
    lines = patients.read_text(encoding="utf-8").splitlines()
    assert len(lines) == PATIENTS + 1
    assert lines[0].split(",")[1:4] == list(KNOWN)
    drawn = facts(patients)
    for theme in THEMES:
        assert (ASSETS / f"release_{theme}.svg").read_text(encoding="utf-8") == picture(drawn, theme)
