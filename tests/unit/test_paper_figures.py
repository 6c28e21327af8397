"""The pages of reproductions have the tables of `python -m benchmarks.papers`, with each printed figure once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace

import pytest

import sqlanon
from benchmarks.papers import __main__ as command
from benchmarks.papers import printed, survey
from benchmarks.papers.printed import PAPERS, Line, compared, groups, has_adult, page_lines, source, table

QUICK = [(paper, group.name) for paper in PAPERS for group in groups(paper) if group.quick]


@pytest.fixture(scope="module")
def database(adult_cache: Path) -> Iterator[Callable[[str], sqlanon.Connection]]:
    """Returns the database of a paper, which the tests share."""
    opened: dict[bool, sqlanon.Connection] = {}
    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        patch.setenv("SQLANON_CACHE", str(adult_cache))

        def shared(paper: str) -> sqlanon.Connection:
            if has_adult(paper) not in opened:
                opened[has_adult(paper)] = stack.enter_context(source(paper))
            return opened[has_adult(paper)]

        for paper, _ in QUICK:
            shared(paper)
        yield shared


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("paper", "name"), QUICK)
def test_a_quick_group_is_as_on_the_page(paper: str, name: str, database: Callable[[str], sqlanon.Connection]) -> None:
    [group] = (group for group in groups(paper) if group.name == name)
    lines = list(compared(paper, group, database(paper)))
    shown = {line.where: line for line in page_lines(paper)}
    assert lines == [shown[line.where] for line in lines]


@pytest.mark.parametrize("paper", PAPERS)
def test_a_page_has_a_line_for_each_printed_figure(paper: str) -> None:
    figures = [(group, figure) for group in groups(paper) for figure in group.figures]
    lines = page_lines(paper)
    assert [(line.where, line.printed) for line in lines] == [
        (f"{group.where}, {figure.name}", figure.printed) for group, figure in figures
    ]
    assert len({line.where for line in lines}) == len(lines)
    for line, (_, figure) in zip(lines, figures, strict=True):
        assert line.reason == ("" if line.agrees else figure.reason), line.where
        assert line.agrees or line.reason, f"{line.where}: a difference has a reason"
        if line.difference:
            ours, paper_s = (Decimal(number.replace(",", "")) for number in (line.ours, line.printed))
            assert ours - paper_s == Decimal(line.difference)
            assert line.tolerance == figure.tolerance


def test_the_survey_s_page_has_the_statement_of_each_figure() -> None:
    text = printed.pages()["survey"].read_text(encoding="utf-8")
    shown = [
        line
        for line in text.partition("## The statement of each figure")[2].splitlines()
        if line.startswith("| Section")
    ]
    assert shown == [f"| {' | '.join(row)} |" for row in survey.statements()]


@pytest.mark.parametrize(
    ("figure", "message"),
    [({"name": "k", "row": "rows"}, "k: 0 rows"), ({"name": "k", "row": None}, "k: 2 rows")],
)
def test_a_statement_answers_a_figure_by_one_row(figure: dict[str, str | None], message: str) -> None:
    answer = [{"question": question, "attribute": None, "achieved": 4} for question in ("k_anonymity", "classes")]
    assert survey.value_of({"name": "k", "row": "classes", "times": 2}, answer) == 8
    with pytest.raises(ValueError, match=message):
        survey.value_of(figure, answer)


def figures_of(connection: sqlanon.Connection, *numbers: str) -> list[Line]:
    figures = tuple(printed.Printed(f"line {n}", number, "0.01", "why") for n, number in enumerate(numbers))
    return list(compared("made_up", printed.Group("some", "Table 1", True, figures), connection))


def test_a_line_compares_what_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    values: list[printed.Value] = [0.123, 0.144, 1234.4, None, "*", -1e-9]
    ours = {f"line {number}": value for number, value in enumerate(values)}
    module = SimpleNamespace(GROUPS={"some": lambda _: iter(ours.items())})
    monkeypatch.setattr(printed, "import_module", lambda _: module)
    with sqlanon.connect() as connection:
        lines = figures_of(connection, "0.12", "0.12", "1,234", "7", "*", "0")
        with pytest.raises(KeyError, match="not among the printed figures: line 5"):
            figures_of(connection, "0.12", "0.12", "1,234", "7", "*")
        with pytest.raises(KeyError, match="line 6"):
            figures_of(connection, "0.12", "0.12", "1,234", "7", "*", "0", "1")
    assert [line.cells()[2:] for line in lines] == [
        ("0.12", "0", "0.01", ""),
        ("0.14", "+0.02", "0.01", "why"),
        ("1,234", "0", "0.01", ""),
        ("-", "", "", "why"),
        ("*", "", "", ""),
        ("0", "0", "0.01", ""),
    ]
    assert list(table(lines))[3] == "| Table 1, line 1 | 0.12 | 0.14 | +0.02 | 0.01 | why |"


def test_without_a_paper_the_counts_of_the_pages_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main([]) == 0
    printed_lines = capsys.readouterr().out.splitlines()
    every = [line for paper in PAPERS for line in page_lines(paper)]
    assert [line.split(":")[0] for line in printed_lines] == [*PAPERS, "together"]
    agree = sum(line.agrees for line in every)
    assert printed_lines[-1] == f"together: {len(every)} printed figures compared, {agree} within the tolerance"


def test_a_part_of_the_groups_is_not_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main([PAPERS[0], "--quick", "--write"]) == 2
    assert "--write computes all groups" in capsys.readouterr().err
