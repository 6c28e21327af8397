"""What a report draws of the classes of a release: how large they are, and the sensitive values of the worst ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from sqlglot import exp

from sqlanon.assess.attacks.attacked import class_text
from sqlanon.domain.release import Release
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.release.existing.classes import ReleaseClasses, classes_of
from sqlanon.release.existing.statistics import statistic_queries
from sqlanon.sources.source import own_object
from sqlanon.sql.build.names import relation
from sqlanon.sql.build.sql_files import reading
from sqlanon.sql.classes.normal_relations import relations_of, sensitive_values
from sqlanon.sql.classes.rows import Rows
from sqlanon.sql.questions.statistics import BoundStatistic, bind_statistic, load_statistic


@dataclass(frozen=True)
class ValueShare:
    """A sensitive value, None for NULL: how many rows of a class have it, and how many of all."""

    label: str | None
    rows: int
    rows_of_all: int


@dataclass(frozen=True)
class WorstClass:
    """A class by what the release shows of it, and the values in which it differs most from all rows.

    `divergence` is that of Jensen and Shannon in nats, of which `p_loss` is the greatest. `total` counts all rows that
    are in classes.
    """

    attribute: str
    name: str
    size: int
    total: int
    divergence: float
    values: tuple[ValueShare, ...]

    @property
    def others(self) -> ValueShare | None:
        """The values that are not listed, together; None where all are."""
        rows = self.size - sum(value.rows for value in self.values)
        rows_of_all = self.total - sum(value.rows_of_all for value in self.values)
        return ValueShare("all other values", rows, rows_of_all) if rows_of_all else None


def class_sizes(engine: Engine, release: Release) -> list[tuple[int, int]]:
    """Each size of a class with the number of classes that have it, by size; raises as `classes_of` does."""
    classes = classes_of(engine, release)
    statistic = bind_statistic(load_statistic("report", "class_size_counts"), {})
    with engine.transaction(), Scratch(engine) as scratch:
        [query] = statistic_queries(engine, [statistic], _rows(engine, release, classes, statistic), None, scratch)
        return [(int(size), int(count)) for size, count in engine.rows(query)]


def worst_classes(engine: Engine, release: Release) -> list[WorstClass]:
    """The worst classes of each sensitive attribute, the worst first; raises as `classes_of` does."""
    classes = classes_of(engine, release)
    worst: list[WorstClass] = []
    for attribute in classes.bound.sensitive:
        statistic = bind_statistic(load_statistic("report", "worst_class_values"), {}, (attribute.column,))
        with engine.transaction(), Scratch(engine) as scratch:
            query = _query(statistic, _rows(engine, release, classes, statistic), scratch)
            worst += _classes(attribute.column, engine.rows(query))
    return worst


def _rows(engine: Engine, release: Release, classes: ReleaseClasses, statistic: BoundStatistic) -> Rows:
    sources = {made.fragment: relation(own_object(engine, made.name)) for made in release.published}
    [part] = classes.rows(sources, [statistic])
    return part.rows


def _query(statistic: BoundStatistic, rows: Rows, scratch: Scratch) -> exp.Select:
    """The query of the worst classes, which also reads what each number of a value stands for."""
    tables: dict[str, str] = {}
    for name, query in [*relations_of(rows, [statistic]), *sensitive_values([statistic])]:
        tables[name] = scratch.table(name, reading(query, tables))
    return statistic.statement("figures", {name: tables[f"{name}_0"] for name in statistic.reads})


def _classes(attribute: str, rows: Sequence[tuple[Any, ...]]) -> Iterator[WorstClass]:
    for _, values in groupby(rows, key=lambda row: row[0]):
        listed = list(values)
        _, class_id, size, divergence, _, _, _, total = listed[0]
        shares = tuple(ValueShare(label, int(n), int(n_of_all)) for *_, label, n, n_of_all, _ in listed)
        yield WorstClass(attribute, class_text(class_id), int(size), int(total), float(divergence), shares)
