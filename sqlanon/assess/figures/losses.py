"""Losses of a release by its columns: precision, non-uniform entropy and granularity loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log

from sqlglot import exp

from sqlanon.assess.figures.class_figures import ClassFigure
from sqlanon.assess.figures.population_nodes import leaves_of_labels, released_labels
from sqlanon.catalog.snapshot import hierarchies_of, policy_of
from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.identifiers import fold
from sqlanon.domain.release import Reading, Release, ReleaseAttribute
from sqlanon.domain.values import Value
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import PolicyError, UserError, about
from sqlanon.estimates.release_model import ReleaseModel
from sqlanon.release.existing.estimable import published, recorded
from sqlanon.release.existing.loaded import require_unchanged
from sqlanon.release.existing.objects import require_own_columns
from sqlanon.sources.bind_policy import bind, source_rows
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import cast, identical, or_zero, union_all, window
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, inner_join, left_join, select, subquery
from sqlanon.sql.cells.labels import generalized, level_name, listed_values, occurring_values, stored_labels

# MEASURE release WITH FIGURES (precision, non_uniform_entropy): the losses by the level of each quasi-identifier.


def precision(engine: Engine, release: Release, arguments: Mapping[str, Value], temp: TempTables) -> list[ClassFigure]:
    """Returns the loss of precision of each quasi-identifier, and of all of them by the policy's weights.

    A value costs its level divided by the height of its hierarchy; a value of a row that is left out costs 1. The loss
    is the mean cost over the rows of the source, which is 1 minus the precision of Sweeney, Achieving k-anonymity
    privacy protection using generalization and suppression, 2002.

    Raises UserError for any argument, and PolicyError for a release that does not show each quasi-identifier at one
    level or by its values.
    """
    shares = {a.name: level / (a.height or 1) for a, level in _levels(engine, release, "precision", arguments)}
    rows, suppressed = release.source_rows, release.suppressed_rows
    losses = {
        name: ((rows - suppressed) * share + suppressed) / rows if rows else None for name, share in shares.items()
    }
    weights = _weights(release)
    whole = None
    if rows:
        whole = sum(weights[fold(name)] * (loss or 0) for name, loss in losses.items()) / sum(weights.values())
    return [
        *(ClassFigure("precision", name, loss) for name, loss in losses.items()),
        ClassFigure("precision", None, whole),
    ]


def non_uniform_entropy(
    engine: Engine, release: Release, arguments: Mapping[str, Value], temp: TempTables
) -> list[ClassFigure]:
    """Returns the non-uniform entropy of each quasi-identifier, and of all of them by the policy's weights.

    It is the information about a row's value that its label lacks, in bits and summed over the rows, for a reader who
    knows the frequencies of values (De Waal and Willenborg, Information loss through global recoding and local
    suppression, 1999; Gionis and Tassa, k-Anonymization with minimal loss of information, 2009). The figure is NULL if
    rows are left out, because the bits of their values are not counted.

    Reads the source, in an open transaction. Raises the errors of `precision`.
    """
    name = "non_uniform_entropy"
    levels = {fold(a.source or a.name): (a, level) for a, level in _levels(engine, release, name, arguments)}
    if release.suppressed_rows or not release.source_rows:
        return [*(ClassFigure(name, a.name, None) for a, _ in levels.values()), ClassFigure(name, None, None)]
    policy = policy_of(release)
    source = source_rows(engine, policy, temp)
    hierarchies = {fold(h.definition.name): h for h in hierarchies_of(release)}
    bound = bind(policy, source, hierarchies, fingerprint="")
    require_unchanged(release, source, [b.column for b in bound.quasi_identifiers])
    bits = {b.column: _bits(engine, bound, b, levels[fold(b.column)][1]) for b in bound.quasi_identifiers}
    weights = _weights(release)
    whole = sum(weights[fold(column_name)] * value for column_name, value in bits.items())
    return [
        *(ClassFigure(name, column_name, value) for column_name, value in bits.items()),
        ClassFigure(name, None, whole),
    ]


def _levels(
    engine: Engine, release: Release, name: str, arguments: Mapping[str, Value]
) -> list[tuple[ReleaseAttribute, int]]:
    """Returns the quasi-identifiers of a release, each with the level at which it is published.

    Raises UserError for any argument, and PolicyError unless all rows of a column have the same level.
    """
    if arguments:
        with about("figures", name):
            raise UserError(f"{name} takes no arguments", hint=f"write {name}")
    require_own_columns(engine, release)
    names = {fold(a.name) for a in policy_of(release).quasi_identifiers}
    quasi = [a for a in release.attributes if fold(a.source or a.name) in names]
    called = f"{name} of {release.name} cannot be measured"
    if not quasi:
        raise PolicyError(f"{called}: its policy has no QUASI IDENTIFIER")
    if release.is_locally_recoded:
        raise PolicyError(f"{called}: its rows are published at different levels")
    levels: dict[str, tuple[ReleaseAttribute, int]] = {}
    for attribute in quasi:
        exact = attribute.reading in (Reading.EXACT, Reading.BUCKET_VALUE)
        if attribute.level is None and not exact:
            raise PolicyError(f"{called}: {attribute.name} is not published by a level of its hierarchy")
        levels.setdefault(fold(attribute.source or attribute.name), (attribute, attribute.level or 0))
    return list(levels.values())


def _weights(release: Release) -> dict[str, float]:
    return {fold(a.name): float(a.weight) for a in policy_of(release).quasi_identifiers}


def _bits(engine: Engine, bound: BoundPolicy, b: BoundAttribute, level: int) -> float:
    """Returns the bits of the source's values that the labels of a level lack, summed over the rows."""
    if not level:
        return 0.0
    label = column(level_name(level)) if level < b.height else literal("*")
    rows = subquery(generalized(b, occurring_values(b, bound.relation), stored_labels(b), counted=True), "tree")
    of_label = window(f.sum(column("n")), [label])
    counted = select(column("n"), alias(of_label, "of_label"), of=rows, where=[column("n") > 0])
    nats = f.sum(column("n") * (f.ln(column("of_label")) - f.ln(column("n"))))
    ((total,),) = engine.rows(select(nats, of=subquery(counted, "counted")))
    return float(total or 0) / log(2)


# MEASURE release WITH FIGURES (granularity_loss): the coarseness of each quasi-identifier.


_NAME = "granularity_loss"
# Ranges in the order of a hierarchy that is not published, and centroids. A reader cannot exclude any value.
_UNKNOWN = {"tree_range", "any"}


def granularity_loss(
    engine: Engine, release: Release, arguments: Mapping[str, Value], temp: TempTables
) -> list[ClassFigure]:
    """Returns the granularity loss of each quasi-identifier, and of all of them by the policy's weights.

    A value that is shown by a label costs (n - 1) / (N - 1), where n of the N values of the column are below the label;
    a value of a row that is left out costs 1. The loss is the mean cost over the rows of the source, as CREATE
    ANONYMIZED states it for any method. The values of a column are its values in the source, and the values that a
    stored hierarchy lists. Ranges in the order of a hierarchy that is computed, and centroids, have no figure.

    Reads the source, in an open transaction. Raises UserError for any argument, and PolicyError for a release that does
    not show one of the quasi-identifiers.
    """
    if arguments:
        with about("figures", _NAME):
            raise UserError(f"{_NAME} takes no arguments", hint=f"write {_NAME}")
    require_own_columns(engine, release)
    policy = policy_of(release)
    model = published(recorded(engine, release, {fold(a.name) for a in policy.attributes}), [str(release.name)])
    source = source_rows(engine, policy, temp)
    hierarchies = {fold(h.definition.name): h for h in hierarchies_of(release)}
    bound = bind(policy, source, hierarchies, fingerprint="")
    quasi = bound.quasi_identifiers
    _require_published(release, model, quasi)
    require_unchanged(release, source, [b.column for b in quasi])
    losses = {b.column: _loss(temp, model, b, bound, release) for b in quasi}
    weights = {b.column: float(b.attribute.weight) for b in quasi}
    whole = None
    if all(loss is not None for loss in losses.values()):
        whole = sum(weights[name] * (loss or 0) for name, loss in losses.items()) / sum(weights.values())
    return [*(ClassFigure(_NAME, name, loss) for name, loss in losses.items()), ClassFigure(_NAME, None, whole)]


def _require_published(release: Release, model: ReleaseModel, quasi: Sequence[BoundAttribute]) -> None:
    """Raises PolicyError if there is no quasi-identifier, or the release does not show one."""
    called = f"{_NAME} of {release.name} cannot be measured"
    if not quasi:
        raise PolicyError(f"{called}: its policy has no QUASI IDENTIFIER")
    if hidden := [b.column for b in quasi if fold(b.column) in model.hidden]:
        raise PolicyError(f"{called}: {hidden[0]}: {model.hidden[fold(hidden[0])]}")


def _loss(
    temp: TempTables, model: ReleaseModel, b: BoundAttribute, bound: BoundPolicy, release: Release
) -> float | None:
    """Returns the mean cost of a cell of one column; None if there are no rows or if the values below a label are
    unknown.
    """
    rows, suppressed = release.source_rows, release.suppressed_rows or 0
    if not rows:
        return None
    generalized = model.generalized.get(fold(b.column))
    if generalized is None:
        return suppressed / rows
    if _UNKNOWN & {*generalized.forms, *generalized.nulls}:
        return None
    values = temp.table("occurring", occurring_values(b, bound.relation))
    labels = released_labels(temp, model, generalized)
    leaf, _ = leaves_of_labels(temp, labels, generalized, values, _NAME, listed_star=b.stored)
    every_value: exp.Query = select(column("value"), of=relation(values))
    if b.stored:
        listed = subquery(listed_values(b, relation(("anon", "hierarchy_value"))), "listed")
        every_value = union_all([every_value, select(column("value"), of=listed)], distinct=True)
    every_value = exp.select("*").from_(relation(temp.table("every_value", every_value), as_="every_value"))
    # Some leaves of a label are not values of the column, for example a number that does not occur.
    below: exp.Select = select(column("label", "leaf"), column("value", "leaf"), distinct=True)
    below = extend(below, of=subquery(every_value, "every_value"))
    same = identical(column("value", "leaf"), column("value", "every_value"))
    below = extend(below, joins=[inner_join(relation(leaf, as_="leaf"), same)])
    sizes = select(column("label"), alias(f.count(), "leaves"), of=subquery(below, "below"), group_by=[column("label")])
    total = subquery(select(f.count(), of=subquery(every_value, "every_value")))
    cost = cast(or_zero(column("leaves", "size")) - 1, "DOUBLE") / f.greatest(total - 1, 1)
    query = select(f.sum(column("n", "label") * f.greatest(cost, 0)), of=relation(labels, as_="label"))
    query = extend(
        query, joins=[left_join(subquery(sizes, "size"), identical(column("label", "label"), column("label", "size")))]
    )
    ((cost_of_rows,),) = temp.engine.rows(query)
    return (float(cost_of_rows or 0) + suppressed) / rows
