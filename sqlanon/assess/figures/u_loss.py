"""MEASURE release WITH FIGURES (u_loss): how wrong a release is about the sensitive values of large populations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from sqlglot import exp

from sqlanon.assess.figures.class_figures import ClassFigure
from sqlanon.assess.figures.population_columns import released_column
from sqlanon.assess.figures.population_counts import counts_in_populations, independent_values, released_cells
from sqlanon.assess.figures.population_nodes import node_name
from sqlanon.assess.figures.source_populations import SourcePopulations, identity_of_populations, source_populations
from sqlanon.catalog.snapshot import hierarchies_of, policy_of
from sqlanon.domain.bound import BoundPolicy
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Policy
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
from sqlanon.sources.bind_policy import hierarchies_of as policy_hierarchies
from sqlanon.sources.pivot import source_rows
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import ascending, descending, joined
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.sql_files import query_file, reading

_LEAST = 0.05
_PARAMETERS = ("min_support", "each_level", "worst")
# The most quasi-identifiers: each has a search for its nodes.
_MOST_COLUMNS = 32

UtilityLoss = Callable[[Engine, Release, Mapping[str, Value], Scratch], list[ClassFigure]]


def u_loss(
    engine: Engine,
    release: Release,
    arguments: Mapping[str, Value],
    scratch: Scratch,
    former: SourcePopulations | None = None,
) -> list[ClassFigure]:
    """The utility loss of each sensitive attribute, over the populations of at least `min_support` of the source.

    A population is a node of its hierarchy for each quasi-identifier. The loss is the mean, over all populations, of
    the Jensen-Shannon divergence, in nats, of what the release says of its sensitive values from what the source does
    (Li and Li, On the tradeoff between privacy and utility in data publishing, 2009, section 4.2). The number of
    populations comes with it, and as many of the worst as are asked for, by name: labels of hierarchies, and values.

    Reads the source, in a transaction that is open already; `former` is used in place of its populations where it is of
    the same rows. Raises UserError for arguments that are none, PolicyError for a release that does not show a
    quasi-identifier or the sensitive values, and for too many populations.
    """
    share, each_level, worst = _arguments(arguments)
    require_own_columns(engine, release)
    policy = policy_of(release)
    model = published(recorded(engine, release, {fold(a.name) for a in policy.attributes}), [str(release.name)])
    source = source_rows(engine, policy, scratch)
    hierarchies = {fold(h.definition.name): h for h in hierarchies_of(release)}
    bound = bind(policy, source, hierarchies, fingerprint="")
    _require_measurable(release, model, bound)
    require_unchanged(release, source, [b.column for b in (*bound.quasi_identifiers, *bound.sensitive)])
    ((rows,),) = engine.rows(exp.select(f.count()).from_(relation(bound.relation)))
    if not rows:
        return [ClassFigure(name, b.column, None) for b in bound.sensitive for name in ("u_loss", "populations")]
    of_source = former
    if of_source is None or of_source.identity != identity_of_populations(engine, bound, hierarchies):
        of_source = source_populations(scratch, bound, (), share, each_level=each_level)
    columns = [
        released_column(scratch, model, b, nodes)
        for b, nodes in zip(bound.quasi_identifiers, of_source.nodes, strict=True)
    ]
    figures: list[ClassFigure] = []
    for sensitive, codes, counts in zip(bound.sensitive, of_source.values, of_source.counts, strict=True):
        tables: dict[str, str | exp.Query] = {"population_source": counts}
        if (values := independent_values(scratch, model, bound, sensitive, codes)) is not None:
            nothing = exp.select("*").from_(relation(counts)).where(exp.false())
            tables |= {"population_release": nothing, "released_value": values}
        else:
            cells = released_cells(scratch, model, bound, of_source.nodes, columns, sensitive, codes)
            shares = [part.shares for part in columns]
            whole = exp.select(column("value"), alias(f.sum(column("n")), "n")).from_(relation(cells))
            tables |= {
                "population_release": counts_in_populations(
                    scratch, of_source.populations, cells, "value", shares, of_source.order
                ),
                "released_value": whole.group_by(column("value")),
            }
        figures += _loss(scratch, of_source, tables, sensitive.column, worst)
    return figures


def u_loss_of_policy(engine: Engine, policy: Policy, arguments: Mapping[str, Value], scratch: Scratch) -> UtilityLoss:
    """`u_loss` of the releases of a policy, which looks for the populations of its source once.

    A release whose source has other rows by then is measured by itself, as all are where the populations cannot be
    told beforehand. The tables are made in a transaction that is open already, and live as long as `scratch`. Raises
    UserError for arguments that are none.
    """
    share, each_level, _ = _arguments(arguments)
    if policy.pivot:
        # Its attributes are found when a release is made.
        return u_loss
    hierarchies = policy_hierarchies(engine, policy)
    try:
        bound = bind(policy, source_rows(engine, policy, scratch), hierarchies, fingerprint="")
        if not bound.sensitive or not 0 < len(bound.quasi_identifiers) <= _MOST_COLUMNS:
            return u_loss
        of_source = source_populations(
            scratch, bound, identity_of_populations(engine, bound, hierarchies), share, each_level=each_level
        )
    except PolicyError:
        # Why is said of each release.
        return u_loss
    return partial(u_loss, former=of_source)


def _arguments(arguments: Mapping[str, Value]) -> tuple[float, bool, int]:
    if unknown := [name for name in arguments if name not in _PARAMETERS]:
        with about("figures", "u_loss"):
            raise UserError(f"u_loss has no argument {unknown[0]!r}", hint=f"it takes: {', '.join(_PARAMETERS)}")
    share, each_level = arguments.get("min_support", _LEAST), arguments.get("each_level", False)
    worst = arguments.get("worst", 0)
    try:
        least = float(str(share))
    except ValueError:
        least = 0.0
    if isinstance(share, bool) or not 0 < least <= 1:
        with about("figures", "u_loss"):
            raise UserError("u_loss: min_support is above 0 and at most 1", hint="write u_loss(min_support => 0.05)")
    if not isinstance(each_level, bool):
        with about("figures", "u_loss"):
            raise UserError("u_loss: each_level is true or false", hint="write u_loss(each_level => true)")
    if not isinstance(worst, int) or isinstance(worst, bool) or worst < 0:
        with about("figures", "u_loss"):
            raise UserError("u_loss: worst is a whole number from 0 on", hint="write u_loss(worst => 10)")
    return least, each_level, worst


def _require_measurable(release: Release, model: ReleaseModel, bound: BoundPolicy) -> None:
    called = f"u_loss of {release.name} cannot be measured"
    if not bound.sensitive:
        raise PolicyError(f"{called}: its policy has no SENSITIVE attribute")
    if not bound.quasi_identifiers:
        raise PolicyError(f"{called}: its policy has no QUASI IDENTIFIER")
    if len(bound.quasi_identifiers) > _MOST_COLUMNS:
        raise PolicyError(f"{called}: its policy has more than {_MOST_COLUMNS} QUASI IDENTIFIERs")
    known = {*model.exact, *model.generalized, *model.bucketed_positions}
    for b in bound.quasi_identifiers:
        if fold(b.column) not in known:
            raise PolicyError(f"{called}: {b.column}: {model.hidden.get(fold(b.column), 'it is not published')}")
    for b in bound.sensitive:
        if fold(b.column) not in {*model.exact, *model.bucketed_positions}:
            raise PolicyError(f"{called}: it does not show the values of {b.column}")


def _loss(
    scratch: Scratch, of_source: SourcePopulations, tables: Mapping[str, str | exp.Query], attribute: str, worst: int
) -> list[ClassFigure]:
    """The figures of one sensitive attribute, by what `sql/statements/u_loss.sql` reads."""
    losses = scratch.table("loss", reading(query_file("statements", "u_loss"), tables))
    summary = exp.select(f.call("avg", column("divergence")), f.count()).from_(relation(losses))
    ((loss, number),) = scratch.engine.rows(summary)
    named = exp.select(column("name"), column("divergence")).from_(_named(losses, of_source).subquery("named"))
    named = named.order_by(descending(column("divergence")), ascending(column("name"))).limit(worst)
    return [
        ClassFigure("u_loss", attribute, loss),
        ClassFigure("populations", attribute, float(number)),
        *(
            ClassFigure(f"u_loss of {name}", attribute, value, recorded=False)
            for name, value in (scratch.engine.rows(named) if worst else ())
        ),
    ]


def _named(losses: str, of_source: SourcePopulations) -> exp.Select:
    """The divergence of each population, under the labels of its nodes."""
    rows = exp.select(column("divergence", "loss")).from_(relation(losses, as_="loss"))
    same = column("population", "loss").eq(column("population", "population"))
    rows = rows.join(relation(of_source.populations, as_="population"), on=same, copy=False)
    texts: list[exp.Expr] = []
    for i, part in enumerate(of_source.nodes):
        node = column(node_name(i), "population").eq(column("node", node_name(i)))
        rows = rows.join(relation(part.labels, as_=node_name(i)), on=node, join_type="LEFT", copy=False)
        # NULL where the population has no predicate on the column, which concat_ws leaves out.
        texts.append(joined(literal(f"{part.attribute.column} "), column("label", node_name(i))))
    return rows.select(alias(f.call("concat_ws", literal(", "), *texts), "name"))
