"""Draws the picture of the README: each column of a release before and after, and the error of counts.

`python -m tools.readme_picture --write` writes docs/assets/release_light.svg and release_dark.svg, `--check` fails if a
file is not up to date. The table is generated from a fixed seed, and the rest of the picture is computed from its
releases.
"""

from __future__ import annotations

import csv
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import sqlanon

__all__ = ["ASSETS", "THEMES", "Facts", "draw_patients", "facts", "picture"]

ASSETS = Path(__file__).resolve().parents[1] / "docs" / "assets"
PATIENTS = 1000
KNOWN = ("age", "sex", "zip")
_DIAGNOSES = ("asthma", "diabetes", "flu", "fracture", "migraine", "ulcer")
_REQUIRED = "k_anonymity(k => 5), l_diversity(l => 2)"
# The methods in the picture, and the label of each bar.
_METHODS = {
    "generalization": "one level for all rows",
    "generalization(recoding => 'local')": "coarser where needed",
    "mondrian": "ranges of each group",
}
THEMES = {
    "light": {"text": "#1f2328", "muted": "#59636e", "bar": "#0d9488", "other": "#c3cad1", "back": "#ffffff"},
    "dark": {"text": "#e6edf3", "muted": "#9198a1", "bar": "#2dd4bf", "other": "#484f58", "back": "#0d1117"},
}


def draw_patients(path: Path) -> None:
    """Writes a CSV file of 1,000 made-up patients, the same each time: name, age, sex, zip, diagnosis."""
    drawn = random.Random(5)
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["name", *KNOWN, "diagnosis"])
        for number in range(1, PATIENTS + 1):
            age = 18 + int(drawn.random() * 40 + drawn.random() * 33)
            often = _DIAGNOSES[min(age // 17, 5)]
            diagnosis = often if drawn.random() < 0.3 else drawn.choice(_DIAGNOSES)
            sex, zip_code = drawn.choice("FM"), 94100 + int(drawn.random() ** 2 * 60)
            rows.writerow([f"Patient {number}", age, sex, zip_code, diagnosis])


@dataclass(frozen=True)
class Facts:
    """The content of the picture: each column before and after, and the median error of counts by method in percent."""

    columns: tuple[tuple[str, str, str], ...]
    errors: tuple[tuple[str, float], ...]


def facts(patients: Path) -> Facts:
    """Makes a release of the patients with each method, and compares counts on it with counts on the file."""
    connection = sqlanon.connect()
    connection.execute("CREATE TABLE patients AS FROM read_csv(?)", [str(patients)])
    connection.sql(
        "CREATE HIERARCHY ages AS INTERVALS (5, 10, 20); CREATE HIERARCHY zips AS INTERVALS (5, 10, 30);"
        "CREATE POLICY study ON patients (age QUASI IDENTIFIER USING ages, sex QUASI IDENTIFIER, "
        f"zip QUASI IDENTIFIER USING zips, diagnosis SENSITIVE) REQUIRE {_REQUIRED}"
    )
    connection.sql("CREATE WORKLOAD counts ON POLICY study (queries => 100, dimensions => 2, seed => 1)")
    errors = []
    for number, (method, words) in enumerate(_METHODS.items()):
        connection.sql(f"CREATE ANONYMIZED TABLE release_{number} AS POLICY study METHOD {method}")
        measured = connection.sql(f"MEASURE release_{number} WITH WORKLOAD counts").fetchall()
        [error] = [row[3] for row in measured if row[2] == "median_relative_error"]
        errors.append((words, 100 * float(error)))
    return Facts(tuple(_columns(connection, f"release_{len(_METHODS) - 1}")), tuple(errors))


def _columns(connection: Any, release: str) -> Iterator[tuple[str, str, str]]:
    """Yields each column with the values of one patient and the published values that replace them."""
    name, *before = connection.execute("FROM patients WHERE name = 'Patient 21'").fetchall()[0]
    age, sex, zip_code, diagnosis = before
    groups = (
        connection.table(release)
        .aggregate("age, sex, zip, count(*), count(DISTINCT diagnosis)", "age, sex, zip")
        .fetchall()
    )
    [group] = [group for group in groups if all(map(_within, group[:3], (age, sex, zip_code)))]
    yield "name", str(name), "not published"
    yield from zip(KNOWN, map(str, (age, sex, zip_code)), group[:3], strict=True)
    yield "diagnosis", diagnosis, f"one of {group[4]} in a group of {group[3]}"


def _within(label: Any, value: Any) -> bool:
    """Whether a value is within the range of a label, or equals the label."""
    low, _, high = str(label).strip("[]").partition(", ")
    kind = type(value)
    return bool(kind(low) <= value <= kind(high or low))


def picture(found: Facts, theme: str) -> str:
    """Returns the picture as SVG, in the colors of a theme."""
    colors = THEMES[theme]
    parts = [*_table(found, colors), *_bars(found, colors)]
    body = "\n".join(parts)
    words = "; ".join(f"{words} {error:.0f} %" for words, error in found.errors)
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 840 206" width="840" height="206" role="img" '
        'font-family="system-ui, sans-serif" font-size="14">\n'
        f"<title>Columns before and after, and the median error of counts by method: {escape(words)}</title>\n"
        f'<rect width="840" height="206" rx="6" fill="{colors["back"]}"/>\n{body}\n</svg>\n'
    )


def _text(x: float, y: float, words: str, color: str, more: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" fill="{color}"{more}>{escape(words)}</text>'


def _table(found: Facts, colors: dict[str, str]) -> Iterator[str]:
    bold = ' font-weight="600"'
    yield _text(20, 32, "What became of each column", colors["text"], bold)
    for row, (column, before, after) in enumerate(found.columns):
        y = 66 + 30 * row
        yield _text(20, y, column, colors["muted"])
        yield _text(110, y, before, colors["text"])
        yield _text(200, y, "→", colors["muted"])
        is_gone = after == "not published"
        yield _text(226, y, after, colors["muted" if is_gone else "bar"], "" if is_gone else bold)


def _bars(found: Facts, colors: dict[str, str]) -> Iterator[str]:
    yield _text(450, 32, "How far a typical count is off", colors["text"], ' font-weight="600"')
    widest = max(error for _, error in found.errors)
    least = min(error for _, error in found.errors)
    for row, (words, error) in enumerate(found.errors):
        y = 56 + 50 * row
        yield _text(450, y + 10, words, colors["muted"])
        width = max(2.0, round(300 * error / widest, 1))
        color = colors["bar" if error == least else "other"]
        yield f'<rect x="450" y="{y + 16}" width="{width:g}" height="14" rx="2" fill="{color}"/>'
        yield _text(458 + width, y + 28, f"{error:.0f} %", colors["text"])


def _written(folder: Path) -> dict[Path, str]:
    import tempfile

    with tempfile.TemporaryDirectory() as temporary:
        patients = Path(temporary) / "patients.csv"
        draw_patients(patients)
        found = facts(patients)
    return {folder / f"release_{theme}.svg": picture(found, theme) for theme in THEMES}


def main(arguments: list[str]) -> int:
    """Writes the pictures, or with --check returns 1 if one is not up to date."""
    written = _written(ASSETS)
    if "--write" in arguments:
        for path, text in written.items():
            path.write_text(text, encoding="utf-8")
        return 0
    old = [path.name for path, text in written.items() if not path.is_file() or path.read_text("utf-8") != text]
    print("\n".join(f"{name} is not up to date: python -m tools.readme_picture --write" for name in old))
    return 1 if old else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
