"""The page of a policy: its columns, its requirements, and plots of its hierarchies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.catalog import migrations, policies
from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.numbers import counted
from sqlanon.domain.policy import Policy
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.engines.statement_memo import within_statement
from sqlanon.engines.temp_tables import TempTables
from sqlanon.export.report import charts as plots
from sqlanon.export.report.charts import Charts
from sqlanon.export.report.markup import Markup, document, paragraph, section, table, text
from sqlanon.export.report.risks import title_of
from sqlanon.sources.bind_policy import bind, hierarchies_of, source_rows
from sqlanon.sources.joins import bind_joined, of_join
from sqlanon.sources.preconditions import no_catalog
from sqlanon.sources.related_tables import related_sources
from sqlanon.sources.requirements import resolve_requirements
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.names import alias, relation
from sqlanon.sql.build.queries import select
from sqlanon.sql.build.sql_files import filled_query
from sqlanon.sql.cells.labels import generalized, level_name, published_value, stored_labels
from sqlanon.syntax.definitions import hierarchy_text, policy_text, role_text


def policy_page(engine: Engine, name: str) -> str:
    """Returns a policy as one HTML page that loads nothing, with a plot of each of its hierarchies.

    The page shows the number of the source's values below each label, and labels that are computed from values; it
    shows values only if a hierarchy lists them. Raises PolicyError for an unknown policy or a policy whose source is
    gone, and UserError if Altair or vl-convert-python is not installed.
    """
    charts = Charts()
    with within_statement(engine):
        if not migrations.ready(engine):
            raise no_catalog()
        with migrations.known_to_be_ready(engine), engine.transaction(), TempTables(engine) as temp:
            policy = policies.load(engine, name)
            drawn = list(_hierarchies(engine, policy, temp, charts))
    parts = [
        paragraph("This page is for the owner of the source."),
        section("columns", "Columns", *_columns(policy)),
        section("requirements", "What it requires", *_requirements(policy)),
        section("hierarchies", "How far values are generalized", *drawn),
        section("statement", "The statement that makes it", _code(policy_text(policy))),
    ]
    return document(f"The policy {policy.name}", parts, charts.data, charts.scripts)


def _columns(policy: Policy) -> Iterator[Markup]:
    tables = [(policy.source.called, policy.attributes), *((part.name, part.attributes) for part in policy.related)]
    for called, attributes in tables:
        yield table(
            f"Columns of {called}",
            ("column", "role", "hierarchy", "as the policy has it"),
            [(a.name, a.role.value.replace("_", "-"), a.hierarchy, role_text(a)) for a in attributes],
        )
    if policy.related and policy.entity:
        linked = " and ".join(f"{part.key} of {part.name}" for part in policy.related)
        yield paragraph(f"Rows are of one respondent where {linked} have the value of {policy.entity.name}.")


def _requirements(policy: Policy) -> Iterator[Markup]:
    requirements = resolve_requirements(policy)
    meanings = [(str(required), title_of(required.question, policy) + required.scope) for required in requirements]
    meanings += [
        (str(required), f"{required.statistic.statistic.title} The other is {policy.joined}.")
        for required in bind_joined(of_join(policy))
    ]
    items = "".join(f"<li><strong>{text(required)}</strong>: {text(meaning)}</li>" for required, meaning in meanings)
    yield Markup(f"<ul>{items}</ul>") if items else paragraph("Nothing.")


def _hierarchies(engine: Engine, policy: Policy, temp: TempTables, charts: Charts) -> Iterator[Markup]:
    if policy.pivot:
        yield paragraph("Columns that are made of the rows of a long table have no plots.")
        return
    stored = hierarchies_of(engine, policy)
    related = related_sources(engine, policy, temp)
    bound = bind(policy, source_rows(engine, policy, temp), stored, fingerprint="", related=related)
    tables = [(bound.relation, bound.attributes), *((part.relation, part.attributes) for part in bound.related)]
    used = [(rows, b) for rows, attributes in tables for b in attributes if b.hierarchy]
    if not used:
        yield paragraph("No column has a hierarchy: a value is published as it is, or as *.")
    for rows, b in used:
        assert b.hierarchy is not None
        blocks = hierarchy_blocks(engine, b, rows, temp)
        yield Markup(f"<h3>{text(b.column)} by {text(b.hierarchy.name)}</h3>")
        yield _code(hierarchy_text(b.hierarchy))
        yield _plot(b, blocks, charts)


def _plot(b: BoundAttribute, blocks: list[Block], charts: Charts) -> Markup:
    labels = ["NULL, no value" if block.label is None else block.label for block in blocks]
    levels = [_level(b, block.level) for block in blocks]
    drawn = [(level, label, block.start, block.end) for level, label, block in zip(levels, labels, blocks, strict=True)]
    title = f"Labels of {b.column}, as wide as there are values below them"
    across = f"{counted(max((block.end for block in blocks), default=0), 'value')}, from left to right in their order"
    rows = [(level, label, block.end - block.start) for (level, label, _, _), block in zip(drawn, blocks, strict=True)]
    return charts.figure(plots.icicle(drawn, across), title, ("level", "label", "values below it"), rows)


def _code(statement: str) -> Markup:
    lines = "\n".join(text(line) for line in statement.splitlines())
    return Markup(f"<pre>{lines}</pre>")


def _level(b: BoundAttribute, level: int) -> str:
    allowed = "" if b.min_level <= level <= b.max_level else ", not allowed"
    return f"level {level}{allowed}"


# The most labels of a level that can be read.
_MOST = 60


@dataclass(frozen=True)
class Block:
    """A label of a level (None for NULL), and the range of the numbers of the values below it, without `end`."""

    level: int
    label: str | None
    start: int
    end: int


def hierarchy_blocks(engine: Engine, b: BoundAttribute, source: QualifiedName, temp: TempTables) -> list[Block]:
    """Returns the labels of the levels with few enough labels, from the highest level on, grouped by parent.

    Values are the values of the column and, for a stored hierarchy, the values that it lists. Level 0, which is the
    values themselves, exists only for stored hierarchies.
    """
    value = published_value(b)
    distinct = select(alias(value, "value"), distinct=True, of=relation(source))
    listed = stored_labels(b)
    tree = temp.table("tree", generalized(b, distinct, listed, counted=False))
    ((total,),) = engine.rows(select(f.count(), of=relation(tree)))
    for lowest in range(0 if b.stored else 1, b.height):
        rows = engine.rows(_paths(b, tree, lowest).limit(_MOST + 1))
        if len(rows) <= _MOST:
            return [Block(b.height, "*", 0, total), *_blocks(b, lowest, rows)]
    return [Block(b.height, "*", 0, total)]


def _paths(b: BoundAttribute, tree: str, lowest: int) -> exp.Query:
    """Builds the query of the labels from a level up, their numbers of values, and the place of the first value."""
    names = [level_name(level) if level else "value" for level in range(lowest, b.height)]
    text = """
        SELECT CAST({names} AS VARCHAR), count(*) AS n, min(rank) AS first
        FROM (SELECT *, row_number() OVER (ORDER BY value ASC NULLS LAST) AS rank FROM "{tree}") AS placed
        GROUP BY {names}
    """
    return filled_query(text, names={"names": names, "tree": tree})


def _blocks(b: BoundAttribute, lowest: int, rows: Sequence[Sequence[object]]) -> list[Block]:
    """Returns the labels of the levels from the highest to the lowest, in the order of the first values below them."""
    paths = [(tuple(row[:-2]), int(str(row[-2])), int(str(row[-1]))) for row in rows]
    firsts: dict[tuple[object, ...], int] = {}
    for path, _, first in paths:
        for level in range(len(path)):
            above = path[level:]
            firsts[above] = min(first, firsts.get(above, first))
    # Values below one label are next to each other, even if other values are between them in order.
    paths.sort(key=lambda each: [firsts[each[0][level:]] for level in reversed(range(len(each[0])))])
    blocks: list[Block] = []
    for level in reversed(range(b.height - lowest)):
        start = 0
        former: tuple[object, ...] | None = None
        for path, count, _ in paths:
            if former == path[level:]:
                last = blocks.pop()
                blocks.append(Block(last.level, last.label, last.start, last.end + count))
            else:
                label = path[level]
                blocks.append(Block(lowest + level, None if label is None else str(label), start, start + count))
            former, start = path[level:], start + count
    return blocks
