"""Frontiers, rows of `anon.candidate`: one row for each candidate and figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.catalog import _rows, migrations
from sqlanon.domain.identifiers import fold, nearest
from sqlanon.engines.base import Engine
from sqlanon.errors import UserError
from sqlanon.sql.build.expressions import and_
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.sql_files import sql_file

# The end of the reason of a candidate that was made.
_LACKING = " not defined of it"


@dataclass(frozen=True)
class _Head:
    """The columns of `anon.candidate` that all rows of one candidate share."""

    number: int
    policy: str
    policy_fingerprint: str
    method: str
    arguments: str
    requirement: str
    statement: str | None
    reason: str | None


@dataclass(frozen=True)
class _CandidateRow(_Head):
    figure: str
    value: float | None
    efficient: bool | None


@dataclass(frozen=True)
class Measured(_Head):
    """One candidate of a frontier, with its figures in the requested order.

    `statement` publishes the candidate and is None if no statement does; `reason` tells why figures are missing.
    `requirement` is the text of the policy's requirements for the candidate. `policy_fingerprint` is the fingerprint of
    the policy without its requirements.
    """

    figures: tuple[tuple[str, float | None], ...]
    efficient: bool = False

    @property
    def called(self) -> str:
        """The method with its arguments, as text."""
        return f"{self.method}({self.arguments})" if self.arguments else self.method

    @property
    def undefined_figures(self) -> tuple[str, ...] | None:
        """The figures that are undefined for a candidate; None for a candidate that could not be made."""
        if self.reason is not None and not self.reason.endswith(_LACKING):
            return None
        return tuple(name for name, value in self.figures if value is None)


def lacking_text(values: Mapping[str, float | None], why: Mapping[str, str]) -> str | None:
    """Returns the reason why a candidate lacks some of its figures; None if it has all of them.

    `why` has the reasons why some figures are undefined.
    """
    lacking = [f"{n} ({why[n]})" if n in why else n for n, value in values.items() if value is None]
    return f"{', '.join(lacking)}{_LACKING}" if lacking else None


def save(engine: Engine, frontier: str, candidates: Sequence[Measured]) -> None:
    """Replaces the candidates of a frontier by these candidates, and marks the efficient ones."""
    delete(engine, frontier)
    rows: list[dict[str, object]] = []
    for candidate in candidates:
        head = {name: getattr(candidate, name) for name in _rows.columns_of(_Head)}
        rows += [{"frontier": frontier, **head, "figure": name, "value": value} for name, value in candidate.figures]
    _rows.insert(engine, "candidate", rows)
    numbers = [number for (number,) in engine.rows(sql_file("statements", "efficient_candidates"), [frontier])]
    efficient = exp.update(
        relation(("anon", "candidate")),
        {"efficient": exp.true()},
        where=and_(column("frontier").eq(exp.Placeholder()), column("number").isin(*numbers)),
    )
    if numbers:
        engine.run(efficient, [frontier])


def load(engine: Engine, frontier: str) -> list[Measured]:
    """Returns the candidates of a frontier by number. Raises UserError, with the nearest name, if there is no such
    frontier.
    """
    rows = _rows.read(engine, "candidate", _CandidateRow, {"frontier": frontier}, order=("number",))
    if not rows:
        raise UserError(
            f"there is no frontier {frontier}",
            hint=nearest(frontier, listing(engine)) or "make it with FRONTIER name ON POLICY policy",
            part=("name",),
        )
    figures: dict[int, list[tuple[str, float | None]]] = {}
    for row in rows:
        figures.setdefault(row.number, []).append((row.figure, row.value))
    heads = {row.number: row for row in rows}
    return [
        Measured(
            **{name: getattr(row, name) for name in _rows.columns_of(_Head)},
            figures=tuple(figures[number]),
            efficient=bool(row.efficient),
        )
        for number, row in heads.items()
    ]


def slopes(engine: Engine, frontier: str) -> dict[int, float]:
    """Returns, for each efficient candidate by its number, the loss in the second figure per unit of the first.

    The slope is computed between neighboring efficient candidates.
    """
    query = sql_file("statements", "frontier_slopes")
    return {int(number): float(slope) for number, slope in engine.rows(query, [frontier])}


def rewards(engine: Engine, frontier: str) -> dict[int, float]:
    """Returns, for each candidate by its number, the gain in the second figure per unit of the first.

    Both differences are measured from the best candidate with the least first figure.
    """
    query = sql_file("statements", "frontier_rewards")
    return {int(number): float(reward) for number, reward in engine.rows(query, [frontier])}


def delete(engine: Engine, frontier: str) -> None:
    _rows.delete(engine, "candidate", {"frontier": frontier})


def listing(engine: Engine) -> list[str]:
    """Returns the names of all frontiers."""
    return [str(name) for name, *_ in counts(engine)] if migrations.ready(engine) else []


def exists(engine: Engine, frontier: str) -> bool:
    return fold(frontier) in map(fold, listing(engine))


def counts(engine: Engine) -> list[tuple[str, str, int, int]]:
    """Returns for each frontier its name, its policy, the number of candidates, and the number of efficient
    candidates.
    """
    return [
        (str(name), str(policy), int(candidates), int(efficient))
        for name, policy, candidates, efficient in engine.rows(sql_file("statements", "frontiers"))
    ]
