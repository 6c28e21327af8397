"""MEASURE release WITH FIGURES (granularity_loss): how much coarser each quasi-identifier is than in the source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.assess.figures.class_figures import ClassFigure
from sqlanon.assess.figures.population_columns import leaves_of_labels, released_labels
from sqlanon.catalog.snapshot import hierarchies_of, policy_of
from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.identifiers import fold
from sqlanon.domain.release import Release
from sqlanon.domain.values import Value
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import PolicyError, UserError, about
from sqlanon.estimates.release_model import ReleaseModel
from sqlanon.release.existing.estimable import published
from sqlanon.release.existing.objects import require_own_columns
from sqlanon.release.existing.recorded import recorded
from sqlanon.release.existing.unchanged_source import require_unchanged
from sqlanon.sources.bind_policy import bind
from sqlanon.sources.pivot import source_rows
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import cast, identical, or_zero, union_all
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.cells.labels import listed_values, occurring_values

_NAME = "granularity_loss"
# Ranges in the order of a hierarchy that is not published, and centroids: to a reader any value may be behind them.
_UNKNOWN = {"tree_range", "any"}


def granularity_loss(
    engine: Engine, release: Release, arguments: Mapping[str, Value], scratch: Scratch
) -> list[ClassFigure]:
    """The granularity loss of each quasi-identifier, and that of all of them, weighted where the policy weighs.

    A value that is shown by a label costs (n - 1) / (N - 1), where n of the N values of the column lie below the label,
    and a row that is left out 1: the mean over the rows of the source. Values are those that occur in the source, and
    of a stored hierarchy those that it lists. It is the number that CREATE ANONYMIZED states, whatever the method.
    Ranges in the order of a hierarchy that is computed, and centroids, have no figure.

    Reads the source, in a transaction that is open already. Raises UserError for an argument, as it takes none, and
    PolicyError for a release that does not show a quasi-identifier.
    """
    if arguments:
        with about("figures", _NAME):
            raise UserError(f"{_NAME} takes no arguments", hint=f"write {_NAME}")
    require_own_columns(engine, release)
    policy = policy_of(release)
    model = published(recorded(engine, release, {fold(a.name) for a in policy.attributes}), [str(release.name)])
    source = source_rows(engine, policy, scratch)
    hierarchies = {fold(h.definition.name): h for h in hierarchies_of(release)}
    bound = bind(policy, source, hierarchies, fingerprint="")
    quasi = bound.quasi_identifiers
    _require_published(release, model, quasi)
    require_unchanged(release, source, [b.column for b in quasi])
    losses = {b.column: _loss(scratch, model, b, bound, release) for b in quasi}
    weights = {b.column: float(b.attribute.weight) for b in quasi}
    whole = None
    if all(loss is not None for loss in losses.values()):
        whole = sum(weights[name] * (loss or 0) for name, loss in losses.items()) / sum(weights.values())
    return [*(ClassFigure(_NAME, name, loss) for name, loss in losses.items()), ClassFigure(_NAME, None, whole)]


def _require_published(release: Release, model: ReleaseModel, quasi: Sequence[BoundAttribute]) -> None:
    """Raises PolicyError where there is no quasi-identifier, or the release does not show one."""
    called = f"{_NAME} of {release.name} cannot be measured"
    if not quasi:
        raise PolicyError(f"{called}: its policy has no QUASI IDENTIFIER")
    if hidden := [b.column for b in quasi if fold(b.column) in model.hidden]:
        raise PolicyError(f"{called}: {hidden[0]}: {model.hidden[fold(hidden[0])]}")


def _loss(
    scratch: Scratch, model: ReleaseModel, b: BoundAttribute, bound: BoundPolicy, release: Release
) -> float | None:
    """The mean cost of a cell of one column; None without rows, and where its labels do not say what is below them."""
    rows, suppressed = release.source_rows, release.suppressed_rows or 0
    if not rows:
        return None
    generalized = model.generalized.get(fold(b.column))
    if generalized is None:
        return suppressed / rows
    if _UNKNOWN & {*generalized.forms, *generalized.nulls}:
        return None
    values = scratch.table("occurring", occurring_values(b, bound.relation))
    labels = released_labels(scratch, model, generalized)
    leaf, _ = leaves_of_labels(scratch, labels, generalized, values, _NAME, listed_star=b.stored)
    every_value: exp.Query = exp.select(column("value")).from_(relation(values))
    if b.stored:
        listed = listed_values(b, relation(("anon", "hierarchy_value"))).subquery("listed")
        every_value = union_all([every_value, exp.select(column("value")).from_(listed)], distinct=True)
    every_value = exp.select("*").from_(relation(scratch.table("every_value", every_value), as_="every_value"))
    # Of the leaves of a label some are no values of the column: a number that does not occur, say.
    below: exp.Select = exp.select(column("label", "leaf"), column("value", "leaf")).distinct()
    below = below.from_(every_value.copy().subquery("every_value"))
    same = identical(column("value", "leaf"), column("value", "every_value"))
    below = below.join(relation(leaf, as_="leaf"), on=same)
    sizes = exp.select(column("label"), alias(f.count(), "leaves")).from_(below.subquery("below"))
    sizes = sizes.group_by(column("label"))
    total = exp.select(f.count()).from_(every_value.subquery("every_value")).subquery()
    cost = cast(or_zero(column("leaves", "size")) - 1, "DOUBLE") / f.greatest(total - 1, 1)
    query = exp.select(f.sum(column("n", "label") * f.greatest(cost, 0))).from_(relation(labels, as_="label"))
    query = query.join(
        sizes.subquery("size"), on=identical(column("label", "label"), column("label", "size")), join_type="LEFT"
    )
    ((cost_of_rows,),) = scratch.engine.rows(query)
    return (float(cost_of_rows or 0) + suppressed) / rows
