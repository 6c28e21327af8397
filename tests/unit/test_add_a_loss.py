"""A loss that a test adds goes through search, local recoding, CHECK, MEASURE and EXPORT, or is refused at once."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlglot import exp

from sqlanon import Connection, connect
from sqlanon.errors import InternalError
from sqlanon.methods.generalization.method import Options
from sqlanon.methods.shared.arguments import arguments_of
from sqlanon.methods.shared.lattice import losses
from sqlanon.methods.shared.lattice.losses import LOSSES
from sqlanon.methods.shared.lattice.losses.base import AddsUp, Loss, Setting, additive, losses_by_name, withheld_of
from sqlanon.methods.shared.lattice.losses.height import Height

AGES = (31, 32, 33, 34, 35, 41, 42, 43, 58)


class ChangedCells:
    """The cells of the quasi-identifiers that a release does not show as they are."""

    NAME = "changed_cells"
    DEFINITION = "changed cells: those of a quasi-identifier that are generalized or suppressed"
    ADDS_UP = AddsUp.ROWS
    LATER_ROUNDS = NAME
    GROWS = True
    PORTABLE = True

    def __init__(self, setting: Setting) -> None:
        self._rows = setting.cells.rows
        self._heights = [bound.height for bound in setting.policy.quasi_identifiers]

    def bounds(self, levels: Any, withheld: int = 0) -> Any:
        return additive([[withheld, *[self._rows] * height] for height in self._heights], levels)

    def floor(self, classes: object) -> int | None:
        return None

    def least(self, node: Sequence[int], withheld: int) -> int | None:
        return self.of(node, withheld, ())

    def query(self, first: int) -> exp.Select:
        return withheld_of(first)

    def parameters(self, nodes: Sequence[Sequence[int]]) -> list[list[int]]:
        return [list(range(len(nodes)))]

    def of(self, node: Sequence[int], withheld: int, answer: Sequence[Any]) -> int:
        changed = sum(level > 0 for level in node)
        return (self._rows - withheld) * changed + withheld * len(node)

    def value(self, loss: int) -> Fraction:
        return Fraction(loss)


@pytest.fixture
def con(monkeypatch: pytest.MonkeyPatch) -> Iterator[Connection]:
    monkeypatch.setitem(losses.LOSSES, ChangedCells.NAME, losses_by_name([ChangedCells])[ChangedCells.NAME])
    # The choices of the argument are those of the losses there were when the method was imported.
    choices = arguments_of(Options)["loss"]
    object.__setattr__(choices, "choices", (*LOSSES,))
    with connect(config={"threads": "1"}) as opened:
        opened.execute("CREATE TABLE visits (age INTEGER, ward VARCHAR, disease VARCHAR)")
        for place, age in enumerate(AGES):
            opened.duckdb.execute("INSERT INTO visits VALUES (?, ?, ?)", [age, "NS"[place % 2], f"d{place}"])
        opened.execute("CREATE HIERARCHY decades AS INTERVALS (10)")
        opened.execute(
            "CREATE POLICY p ON visits (age QUASI IDENTIFIER USING decades, ward QUASI IDENTIFIER, disease SENSITIVE)"
            " REQUIRE k_anonymity(k => 2)"
        )
        opened.execute("CREATE WORKLOAD w ON POLICY p (queries => 5, dimensions => 1)")
        yield opened
    monkeypatch.undo()
    object.__setattr__(choices, "choices", (*LOSSES,))


def changed(con: Connection) -> int:
    """The cells of the source that the release does not show, counted row by row: diseases are all different."""
    (found,) = con.duckdb.execute(
        """
        SELECT sum(CAST(coalesce(r.age, '') <> CAST(v.age AS VARCHAR) AS INTEGER)
                   + CAST(coalesce(r.ward, '') <> v.ward AS INTEGER))
        FROM visits AS v LEFT JOIN r USING (disease)
        """
    ).fetchone() or (None,)
    return int(found)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("recoding", ["global", "local"])
def test_a_new_loss_goes_through_every_statement(con: Connection, recoding: str, tmp_path: Path) -> None:
    con.execute(
        "CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization("
        f"suppression => 0.2, loss => 'changed_cells', recoding => '{recoding}')"
    )
    name, loss, proven = con.duckdb.execute("SELECT loss_name, loss, proven_optimal FROM anon.release").fetchall()[0]
    assert (name, loss) == ("changed_cells", changed(con))
    # Wards alone are classes of five and four with every age generalized; nothing else publishes as much.
    assert loss == len(AGES) if recoding == "global" else loss <= len(AGES)
    assert proven is True or recoding == "local"
    assert con.execute("CHECK r").fetchall()[0][-1] is True
    con.execute("MEASURE r WITH WORKLOAD w")
    assert len(con.fetchall()) > 0
    con.execute(f"EXPORT r TO '{tmp_path / 'out'}'")
    (certificate,) = (tmp_path / "out").glob("*.json")
    stated = json.loads(certificate.read_text(encoding="utf-8"))["loss"]
    assert (stated["question"], stated["achieved"]) == ("changed_cells", loss)
    assert stated["definition"] == ChangedCells.DEFINITION
    explained = "EXPLAIN VERBOSE ANONYMIZED TABLE x AS POLICY p METHOD generalization(loss => 'changed_cells')"
    assert any("changed cells" in row for row in con.execute(explained).fetchall())


def test_its_bounds_are_those_of_the_definition() -> None:
    levels = np.array([[0, 0], [1, 0], [2, 1]])
    assert additive([[1, 9, 9], [1, 9]], levels).tolist() == [2, 10, 18]


@pytest.mark.parametrize("part", ["NAME", "DEFINITION", "ADDS_UP", "LATER_ROUNDS", "GROWS", "bounds", "query", "value"])
def test_a_loss_that_lacks_a_part_is_refused_when_it_is_registered(part: str) -> None:
    parts = {name: own for name, own in vars(Height).items() if name != part and not name.startswith("__")}
    lacking: type[Loss] = type("Lacking", (), parts)
    with pytest.raises(InternalError, match=f"the loss Lacking has no {part}$"):
        losses_by_name([lacking])


def test_a_loss_that_adds_up_otherwise_or_continues_by_no_loss_is_refused() -> None:
    class Otherwise(Height):
        NAME = "otherwise"
        ADDS_UP = "by the moon"  # type: ignore[assignment]

    with pytest.raises(InternalError, match="the loss otherwise adds up by 'by the moon', which is none of"):
        losses_by_name([Otherwise])
    with pytest.raises(InternalError, match="later rounds of the loss height are chosen by precision, which is none"):
        losses_by_name([Height])
    assert list(losses_by_name(LOSSES.values())) == list(LOSSES)
