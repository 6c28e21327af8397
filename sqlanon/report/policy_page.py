"""The page of a policy: its columns, what it requires, and its hierarchies, drawn."""

from __future__ import annotations

from collections.abc import Iterator

from sqlanon.catalog import migrations, policies
from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.policy import Policy
from sqlanon.engines.base import Engine
from sqlanon.engines.statement_memo import within_statement
from sqlanon.engines.temp_tables import Scratch
from sqlanon.inputs.bind_policy import bind, hierarchies_of
from sqlanon.inputs.joins.requirements import bind_joined, of_join
from sqlanon.inputs.pivot import source_rows
from sqlanon.inputs.requirements import resolve_requirements
from sqlanon.report import charts as plots
from sqlanon.report.charts import Charts
from sqlanon.report.hierarchy_shape import Block, hierarchy_blocks
from sqlanon.report.markup import Markup, document, paragraph, section, table, text
from sqlanon.report.requirements import title_of
from sqlanon.statements.preconditions import prepared
from sqlanon.syntax import render
from sqlanon.syntax.statements import DescribePolicy

__all__ = ["policy_page"]


def policy_page(engine: Engine, name: str) -> str:
    """A policy as one HTML page that loads nothing, with a plot of each of its hierarchies.

    Of the source it has the number of values below each label, and labels that are computed from values; values
    themselves only where a hierarchy lists them. Raises PolicyError for a policy that there is not, or whose source is
    gone, and UserError where what draws the plots is not installed.
    """
    charts = Charts()
    with within_statement(engine):
        prepared(engine, DescribePolicy(name))
        with migrations.known_to_be_ready(engine), engine.transaction(), Scratch(engine) as scratch:
            policy = policies.load(engine, name)
            drawn = list(_hierarchies(engine, policy, scratch, charts))
    parts = [
        paragraph("This page is for the owner of the source."),
        section("columns", "Columns", _columns(policy)),
        section("requirements", "What it requires", *_requirements(policy)),
        section("hierarchies", "How far values are generalized", *drawn),
        section("statement", "The statement that makes it", _code(render.policy(policy))),
    ]
    return document(f"The policy {policy.name}", parts, charts.data, charts.scripts)


def _columns(policy: Policy) -> Markup:
    return table(
        f"Columns of {policy.source.called}",
        ("column", "role", "hierarchy", "as the policy has it"),
        [(a.name, a.role.value.replace("_", "-"), a.hierarchy, render.clauses(a)) for a in policy.attributes],
    )


def _requirements(policy: Policy) -> Iterator[Markup]:
    requirements = resolve_requirements(policy)
    items = "".join(
        f"<li><strong>{text(requirement)}</strong>: {text(title_of(requirement.question, policy))}</li>"
        for requirement in requirements
    )
    items += "".join(
        f"<li><strong>{text(requirement)}</strong>: {text(requirement.statistic.statistic.title)} The other is "
        f"{text(policy.joined)}.</li>"
        for requirement in bind_joined(of_join(policy))
    )
    yield Markup(f"<ul>{items}</ul>") if items else paragraph("Nothing.")


def _hierarchies(engine: Engine, policy: Policy, scratch: Scratch, charts: Charts) -> Iterator[Markup]:
    if policy.pivot:
        yield paragraph("Columns that are made of the rows of a long table have no plots.")
        return
    stored = hierarchies_of(engine, policy)
    bound = bind(policy, source_rows(engine, policy, scratch), stored, fingerprint="")
    used = [b for b in bound.attributes if b.hierarchy]
    if not used:
        yield paragraph("No column has a hierarchy: a value is published as it is, or as *.")
    for b in used:
        assert b.hierarchy is not None
        blocks = hierarchy_blocks(engine, b, bound.relation, scratch)
        yield Markup(f"<h3>{text(b.column)} by {text(b.hierarchy.name)}</h3>")
        yield _code(render.hierarchy(b.hierarchy))
        yield _plot(b, blocks, charts)


def _plot(b: BoundAttribute, blocks: list[Block], charts: Charts) -> Markup:
    labels = ["NULL, no value" if block.label is None else block.label for block in blocks]
    levels = [_level(b, block.level) for block in blocks]
    drawn = [(level, label, block.start, block.end) for level, label, block in zip(levels, labels, blocks, strict=True)]
    title = f"Labels of {b.column}, as wide as there are values below them"
    rows = [(level, label, block.end - block.start) for (level, label, _, _), block in zip(drawn, blocks, strict=True)]
    return charts.figure(plots.icicle(drawn, "values"), title, ("level", "label", "values below it"), rows)


def _code(statement: str) -> Markup:
    lines = "\n".join(text(line) for line in statement.splitlines())
    return Markup(f"<pre>{lines}</pre>")


def _level(b: BoundAttribute, level: int) -> str:
    allowed = "" if b.min_level <= level <= b.max_level else ", not allowed"
    return f"level {level}{allowed}"
