"""Makes the rows of SHOW, DESCRIBE POLICY and DESCRIBE ANONYMIZED."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from sqlanon.catalog import (
    budgets,
    frontiers,
    hierarchies,
    migrations,
    policies,
    readers,
    releases,
    series,
    streams,
    workloads,
)
from sqlanon.domain.policy import Policy, Role
from sqlanon.domain.release import Release, level_range
from sqlanon.engines.base import Engine
from sqlanon.errors import UserError
from sqlanon.release.existing.objects import stands
from sqlanon.release.pipeline.kept_method import comparison_rows, release_method_text
from sqlanon.republication.streams.publishing import is_whole
from sqlanon.sources.bind_policy import hierarchies_of
from sqlanon.statements.base import Columns
from sqlanon.syntax.definitions import hierarchy_text, policy_text, role_text
from sqlanon.syntax.texts import call_text, sample_text

Rows = tuple[tuple[Any, ...], ...]


def show(engine: Engine, kind: str) -> tuple[Columns, Rows]:
    """Returns the columns with their types, and a row for each object of a kind, such as policies."""
    columns, rows = _LISTINGS[kind]
    return columns, tuple(rows(engine)) if migrations.ready(engine) else ()


def parts(policy: Policy) -> Iterator[tuple[str, str | None, str]]:
    """Yields a row for each part of a policy: its source, its columns, its requirements, and the statement that makes
    it.
    """
    yield "source", None, str(policy.source)
    if policy.pivot:
        yield "pivot", policy.pivot.item, f"VALUES {policy.pivot.rating}"
    for attribute in policy.attributes:
        yield "column", attribute.name, role_text(attribute)
    for related in policy.related:
        yield "related table", related.name, f"{related.source} ON ({related.key})"
        for attribute in related.attributes:
            yield "column", attribute.name, f"{role_text(attribute)}, of {related.name}"
    if policy.sample:
        yield "sample", None, sample_text(policy.sample).removeprefix("SAMPLE ")
    for kind, sets in (("confidential", policy.confidential), ("visible", policy.visible)):
        for columns in sets:
            yield kind, None, ", ".join(columns)
    if policy.against:
        yield "against", None, str(policy.against)
    if policy.joined:
        yield "joined", None, str(policy.joined)
    for requirement in policy.requirements:
        yield "requirement", requirement.model, call_text(requirement)
    yield "statement", None, policy_text(policy)


def statements_of(engine: Engine, policy: Policy) -> Iterator[str]:
    """Yields the statements that make a policy: a CREATE HIERARCHY for each of its hierarchies, and CREATE POLICY.

    Raises PolicyError for a missing hierarchy.
    """
    for stored in hierarchies_of(engine, policy).values():
        yield hierarchy_text(stored.definition)
    yield policy_text(policy)


def parts_of_release(engine: Engine, release: Release) -> Iterator[tuple[str, str | None, str]]:
    """Yields a row for each part of a release: its policy, its method, the compared methods, its columns and its
    figures.
    """
    yield "policy", None, release.policy
    yield "method", None, release_method_text(release)
    if release.comparison is not None:
        yield "compared at", None, _timestamp(release.comparison.compared_at or release.created_at)
        for method, figures in comparison_rows(release.comparison):
            yield "compared", method, figures
    for attribute in release.attributes:
        details = [attribute.role.value.replace("_", " "), f"of {attribute.fragment}" if attribute.fragment else ""]
        if attribute.levels:
            details.append(f"level {level_range(attribute.levels)} of {attribute.height}")
        yield "column", attribute.name, ", ".join(filter(None, details))
    of_source = f"of {release.source_rows}, {release.suppressed_rows} left out"
    rows = (
        f"{release.released_rows}, none of the source's"
        if release.has_noise
        else f"{release.released_rows} {of_source}"
    )
    yield "rows", None, rows
    for reached in releases.measurements(engine, release):
        name = reached.question if reached.attribute is None else f"{reached.question} of {reached.attribute}"
        required = "" if reached.required is None else f", required {reached.required:g}"
        if reached.achieved is not None:
            yield "measured", name, f"{reached.achieved:g}{required}"
    yield "made at", None, _timestamp(release.created_at)


def _timestamp(timestamp: datetime) -> str:
    return timestamp.isoformat(sep=" ", timespec="seconds")


def _policies(engine: Engine) -> Iterator[tuple[Any, ...]]:
    for name in policies.listing(engine):
        try:
            policy = policies.load(engine, name)
        except UserError:
            # The policy's rows were written by hand; DESCRIBE POLICY raises the error.
            yield name, None, None, None, None
            continue
        yield (
            policy.name,
            ", ".join(map(str, policy.sources)),
            _names_of_role(policy, Role.QUASI_IDENTIFIER),
            _names_of_role(policy, Role.SENSITIVE),
            ", ".join(map(call_text, policy.requirements)),
        )


def _names_of_role(policy: Policy, role: Role) -> str:
    return ", ".join(attribute.name for attribute in policy.all_having(role))


def _hierarchies(engine: Engine) -> Iterator[tuple[Any, ...]]:
    for name in hierarchies.listing(engine):
        try:
            stored = hierarchies.load(engine, name)
        except UserError:
            yield name, None, None, None
            continue
        yield name, stored.definition.kind, stored.height, hierarchy_text(stored.definition)


def _releases(engine: Engine) -> Iterator[tuple[Any, ...]]:
    for name, release in releases.listing(engine):
        if release is None:
            # The release's rows may have any content.
            yield str(name), None, None, None, None, None, None, "its catalog entry cannot be read"
            continue
        yield (
            str(name),
            release.kind,
            release.policy,
            release_method_text(release),
            _timestamp(release.created_at),
            release.released_rows,
            release.suppressed_rows,
            "there" if _is_whole(engine, release) else "dropped or changed",
        )


def _streams(engine: Engine) -> Iterator[tuple[Any, ...]]:
    for stream in streams.listing(engine):
        figures = streams.figures(engine, stream)
        state = "there" if is_whole(engine, stream) else "dropped or changed"
        yield str(stream.name), stream.policy, stream.order_column, stream.k, str(stream.delay), *figures, state


def _is_whole(engine: Engine, release: Release) -> bool:
    return all(stands(engine, release, made) for made in release.published)


_LISTINGS: Mapping[str, tuple[Columns, Callable[[Engine], Iterable[tuple[Any, ...]]]]] = {
    "policies": (
        (
            ("policy", "VARCHAR"),
            ("source", "VARCHAR"),
            ("quasi_identifiers", "VARCHAR"),
            ("sensitive", "VARCHAR"),
            ("requirements", "VARCHAR"),
        ),
        _policies,
    ),
    "hierarchies": (
        (("hierarchy", "VARCHAR"), ("kind", "VARCHAR"), ("height", "BIGINT"), ("definition", "VARCHAR")),
        _hierarchies,
    ),
    "releases": (
        (
            ("release", "VARCHAR"),
            ("kind", "VARCHAR"),
            ("policy", "VARCHAR"),
            ("method", "VARCHAR"),
            ("created_at", "VARCHAR"),
            ("released_rows", "BIGINT"),
            ("suppressed_rows", "BIGINT"),
            ("state", "VARCHAR"),
        ),
        _releases,
    ),
    "workloads": ((("workload", "VARCHAR"), ("queries", "BIGINT")), workloads.counts),
    "frontiers": (
        (("frontier", "VARCHAR"), ("policy", "VARCHAR"), ("candidates", "BIGINT"), ("efficient", "BIGINT")),
        frontiers.counts,
    ),
    "streams": (
        (
            ("stream", "VARCHAR"),
            ("policy", "VARCHAR"),
            ("ordered_by", "VARCHAR"),
            ("k", "BIGINT"),
            ("delay", "VARCHAR"),
            ("batches", "BIGINT"),
            ("read_rows", "BIGINT"),
            ("released_rows", "BIGINT"),
            ("reused_rows", "BIGINT"),
            ("withheld_rows", "BIGINT"),
            ("waiting_rows", "BIGINT"),
            ("state", "VARCHAR"),
        ),
        _streams,
    ),
    "series": (
        (("series", "VARCHAR"), ("policy", "VARCHAR"), ("releases", "BIGINT"), ("respondents", "BIGINT")),
        series.counts,
    ),
    "budgets": (
        (
            ("budget", "VARCHAR"),
            ("policy", "VARCHAR"),
            ("epsilon", "DOUBLE"),
            ("spent", "DOUBLE"),
            ("remaining", "DOUBLE"),
            ("delta", "DOUBLE"),
            ("spent_delta", "DOUBLE"),
            ("entries", "BIGINT"),
            ("state", "VARCHAR"),
            ("accounting", "VARCHAR"),
        ),
        budgets.counts,
    ),
    "readers": (
        (
            ("reader", "VARCHAR"),
            ("expires", "VARCHAR"),
            ("releases", "BIGINT"),
            ("state", "VARCHAR"),
            ("created_at", "VARCHAR"),
        ),
        readers.counts,
    ),
}
