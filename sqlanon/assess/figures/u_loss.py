"""MEASURE release WITH FIGURES (u_loss): the error of a release about the sensitive values of large populations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlglot import exp

from sqlanon.assess.figures.class_figures import ClassFigure
from sqlanon.assess.figures.population_counts import (
    counts_in_populations,
    independent_values,
    released_cells,
    source_cells,
    source_value,
    value_codes,
)
from sqlanon.assess.figures.population_nodes import TOP, Nodes, code_name, large_nodes, node_name, released_column
from sqlanon.catalog.hierarchies import StoredHierarchy
from sqlanon.catalog.snapshot import hierarchies_of, policy_of
from sqlanon.domain.bound import BoundPolicy
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Policy
from sqlanon.domain.release import Release
from sqlanon.domain.values import Value
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import PolicyError, UserError, about
from sqlanon.estimates.release_model import ReleaseModel
from sqlanon.release.existing.estimable import published, recorded
from sqlanon.release.existing.loaded import require_unchanged
from sqlanon.release.existing.objects import require_own_columns
from sqlanon.sources.bind_policy import bind, source_rows
from sqlanon.sources.bind_policy import hierarchies_of as policy_hierarchies
from sqlanon.sources.source import source_identity
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import and_, ascending, descending, infix, or_, union_all, window
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, select, semi_join, subquery
from sqlanon.sql.build.sql_files import filled_query, filled_select, query_file, reading

_LEAST = 0.05
_PARAMETERS = ("min_support", "each_level", "worst")
# The most quasi-identifiers: each has a search for its nodes.
_MOST_COLUMNS = 32

UtilityLoss = Callable[[Engine, Release, Mapping[str, Value], TempTables], list[ClassFigure]]


def u_loss(
    engine: Engine,
    release: Release,
    arguments: Mapping[str, Value],
    temp: TempTables,
    former: SourcePopulations | None = None,
) -> list[ClassFigure]:
    """Measures the utility loss of each sensitive attribute, over the populations with a share of `min_support` of the
    source.

    A population has one node of its hierarchy for each quasi-identifier. The loss is the mean over all populations of
    the Jensen-Shannon divergence, in nats, between the sensitive values in the release and in the source (Li and Li, On
    the tradeoff between privacy and utility in data publishing, 2009, section 4.2). Other figures are the number of
    populations, and the `worst` populations, named by labels of hierarchies and values.

    Reads the source, in a transaction that is already open. `former` replaces the search for populations if it has the
    same rows. Raises UserError for wrong arguments, PolicyError for a release that does not show a quasi-identifier or
    the sensitive values, and for too many populations.
    """
    share, each_level, worst = _arguments(arguments)
    require_own_columns(engine, release)
    policy = policy_of(release)
    model = published(recorded(engine, release, {fold(a.name) for a in policy.attributes}), [str(release.name)])
    source = source_rows(engine, policy, temp)
    hierarchies = {fold(h.definition.name): h for h in hierarchies_of(release)}
    bound = bind(policy, source, hierarchies, fingerprint="")
    _require_measurable(release, model, bound)
    require_unchanged(release, source, [b.column for b in (*bound.quasi_identifiers, *bound.sensitive)])
    ((rows,),) = engine.rows(select(f.count(), of=relation(bound.relation)))
    if not rows:
        return [ClassFigure(name, b.column, None) for b in bound.sensitive for name in ("u_loss", "populations")]
    of_source = former
    if of_source is None or of_source.identity != identity_of_populations(engine, bound, hierarchies):
        of_source = source_populations(temp, bound, (), share, each_level=each_level)
    columns = [
        released_column(temp, model, b, nodes)
        for b, nodes in zip(bound.quasi_identifiers, of_source.nodes, strict=True)
    ]
    figures: list[ClassFigure] = []
    for sensitive, codes, counts in zip(bound.sensitive, of_source.values, of_source.counts, strict=True):
        tables: dict[str, str | exp.Query] = {"population_source": counts}
        if (values := independent_values(temp, model, bound, sensitive, codes)) is not None:
            nothing = exp.select("*").from_(relation(counts)).where(exp.false())
            tables |= {"population_release": nothing, "released_value": values}
        else:
            cells = released_cells(temp, model, bound, of_source.nodes, columns, sensitive, codes)
            shares = [part.shares for part in columns]
            whole = select(column("value"), alias(f.sum(column("n")), "n"), of=relation(cells))
            tables |= {
                "population_release": counts_in_populations(
                    temp, of_source.populations, cells, "value", shares, of_source.order
                ),
                "released_value": extend(whole, group_by=[column("value")]),
            }
        figures += _loss(temp, of_source, tables, sensitive.column, worst)
    return figures


def u_loss_of_policy(engine: Engine, policy: Policy, arguments: Mapping[str, Value], temp: TempTables) -> UtilityLoss:
    """Returns `u_loss` for the releases of a policy, with a single search for the populations of its source.

    A release whose source has changed is measured alone, and so are all releases if the populations cannot be found in
    advance. The tables are made in a transaction that is already open, and live as long as `temp`. Raises UserError for
    wrong arguments.
    """
    share, each_level, _ = _arguments(arguments)
    if policy.pivot:
        # The attributes of a pivot are found when a release is made.
        return u_loss
    hierarchies = policy_hierarchies(engine, policy)
    try:
        bound = bind(policy, source_rows(engine, policy, temp), hierarchies, fingerprint="")
        if not bound.sensitive or not 0 < len(bound.quasi_identifiers) <= _MOST_COLUMNS:
            return u_loss
        of_source = source_populations(
            temp, bound, identity_of_populations(engine, bound, hierarchies), share, each_level=each_level
        )
    except PolicyError:
        # The measurement of each release names the reason.
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
    temp: TempTables, of_source: SourcePopulations, tables: Mapping[str, str | exp.Query], attribute: str, worst: int
) -> list[ClassFigure]:
    """Returns the figures of one sensitive attribute computed from the tables that `sql/statements/u_loss.sql`
    reads.
    """
    losses = temp.table("loss", reading(query_file("statements", "u_loss"), tables))
    summary = select(f.call("avg", column("divergence")), f.count(), of=relation(losses))
    ((loss, number),) = temp.engine.rows(summary)
    named = select(column("name"), column("divergence"), of=subquery(_divergence_by_label(losses, of_source), "named"))
    named = extend(named, order_by=[descending(column("divergence")), ascending(column("name"))], limit=worst)
    return [
        ClassFigure("u_loss", attribute, loss),
        ClassFigure("populations", attribute, float(number)),
        *(
            ClassFigure(f"u_loss of {name}", attribute, value, recorded=False)
            for name, value in (temp.engine.rows(named) if worst else ())
        ),
    ]


def _divergence_by_label(losses: str, of_source: SourcePopulations) -> exp.Query:
    """SELECT of name, divergence: each population by the labels of its nodes, with its divergence."""
    return filled_query(
        # A label is NULL if the population has no predicate on the column; concat_ws skips it.
        """
        SELECT loss.divergence, concat_ws(', ', $columns || "{nodes}".label) AS name
        FROM loss
        JOIN population ON loss.population = population.population
        LEFT JOIN "{labels}" AS "{nodes}" ON {population.nodes} = "{nodes}".node
        """,
        tables={"loss": losses, "population": of_source.populations},
        names={
            "nodes": [*map(node_name, range(len(of_source.nodes)))],
            "labels": [part.labels for part in of_source.nodes],
        },
        columns=[f"{part.attribute.column} " for part in of_source.nodes],
    )


# The large populations of a source, and its rows in them; all releases of the same columns have the same ones.
#
# The large populations are found by an apriori search. A population is one node for each quasi-identifier, the top
# being no predicate (Li and Li, On the tradeoff between privacy and utility in data publishing, 2009, section 4.2).
# With one more node a population has no more rows, so only large ones are tried with another node (Agrawal and
# Srikant, Fast algorithms for mining association rules, 1994).

# In floating point, a share of rows that is a whole number may be a little more.
_ROUNDING = 1 - 1e-12


@dataclass(frozen=True)
class SourcePopulations:
    """The populations with at least a share of the rows, as tables that live as long as their `TempTables`.

    `nodes` are the large nodes of each quasi-identifier, and `order` are their indexes in the order in which rows are
    counted below them. `populations` is the table of each population and its node for each quasi-identifier. For each
    sensitive attribute, `values` has the table of its values and their codes, `counts` the table (population, value,
    n), where value is a code. `identity` identifies the source, for comparison with a later one.
    """

    identity: Sequence[Any]
    nodes: tuple[Nodes, ...]
    order: tuple[int, ...]
    populations: str
    values: tuple[str, ...]
    counts: tuple[str, ...]


def identity_of_populations(
    engine: Engine, bound: BoundPolicy, hierarchies: Mapping[str, StoredHierarchy]
) -> Sequence[Any]:
    """Identifies the inputs of populations: the columns of both roles, their hierarchies, and the rows."""
    return source_identity(engine, bound, (*bound.quasi_identifiers, *bound.sensitive), hierarchies)


def source_populations(
    temp: TempTables, bound: BoundPolicy, identity: Sequence[Any], share: float, *, each_level: bool
) -> SourcePopulations:
    """Finds the populations with at least a share of the source's rows.

    Raises PolicyError for too many.
    """
    ((rows,),) = temp.engine.rows(select(f.count(), of=relation(bound.relation)))
    least = share * rows * _ROUNDING
    nodes = [large_nodes(temp, b, bound.relation, least, each_level=each_level) for b in bound.quasi_identifiers]
    values = [value_codes(temp, bound, sensitive) for sensitive in bound.sensitive]
    cells = source_cells(temp, bound, nodes, values)
    order = _order(temp, nodes)
    populations = large_populations(temp, nodes, order, cells, least)
    chains = [part.chains for part in nodes]
    counts = [
        counts_in_populations(temp, populations, cells, source_value(bound, sensitive), chains, order)
        for sensitive in bound.sensitive
    ]
    return SourcePopulations(identity, tuple(nodes), order, populations, tuple(values), tuple(counts))


def _order(temp: TempTables, nodes: Sequence[Nodes]) -> tuple[int, ...]:
    """Returns the indexes of the quasi-identifiers, in the order in which the search replaces their codes by nodes.

    The first are quasi-identifiers with many codes and few nodes above each, because replacing them merges the most
    rows.
    """
    sizes = [
        select(alias(literal(i), "index"), f.count(), f.count_distinct(column("code")), of=relation(part.chains))
        for i, part in enumerate(nodes)
    ]
    ranks = {index: codes * codes / pairs for index, pairs, codes in temp.engine.rows(union_all(sizes))}
    return tuple(sorted(ranks, key=lambda index: (-ranks[index], index)))


# The most populations that are measured; more are refused.
MOST_POPULATIONS = 1_000_000


def large_populations(temp: TempTables, nodes: Sequence[Nodes], order: Sequence[int], cells: str, least: float) -> str:
    """Makes the table of populations: `population`, a number, and `node_name` for each index, which is `TOP` for no
    predicate.

    `cells` has `code_name` for each index, and n. The codes are replaced by the nodes above them, one quasi-identifier
    after the other in this order; combinations of nodes that are not large are removed before the next one multiplies
    them. Raises PolicyError for more than `MOST_POPULATIONS`.
    """
    names = [node_name(i) for i in range(len(nodes))]
    rows, large = select(exp.Star(), of=relation(cells)), ""
    for i in range(len(nodes)):
        counted = temp.table("counted", _one_more(rows, nodes[order[i]].chains, order, i))
        keys = [column(names[index]) for index in order[: i + 1]]
        enough = infix(f.sum(column("n")), ">=", literal(least))
        of_enough = select(*keys, of=relation(counted), group_by=[key.copy() for key in keys], having=enough)
        large, count = temp.counted_table("large", of_enough)
        if count > MOST_POPULATIONS:
            raise PolicyError(
                f"u_loss: there are more than {MOST_POPULATIONS:,} populations", hint="ask for a larger min_support"
            )
        matches = [infix(column(key.name, "counted"), "=", column(key.name, "large")) for key in keys]
        joins = [semi_join(relation(large, as_="large"), and_(*matches))]
        star = exp.Column(this=exp.Star(), table=exp.to_identifier("counted"))
        rows = select(star, of=relation(counted, as_="counted"), joins=joins)
    number = alias(window(f.row_number()), "population")
    some = or_(*(infix(column(name), "<>", literal(TOP)) for name in names))
    return temp.table("population", select(number, *map(column, names), of=relation(large), where=[some]))


def _one_more(rows: exp.Query, chains: str, order: Sequence[int], depth: int) -> exp.Select:
    """SELECT that replaces the codes of the quasi-identifier at this depth by the nodes above them, and adds up n."""
    index = order[depth]
    names = [*map(node_name, order[:depth]), *map(code_name, order[depth + 1 :])]
    return filled_select(
        'SELECT {cell.others}, above.node AS "{node}", sum(cell.n) AS n FROM cell '
        "JOIN above ON {cell.code} IS NOT DISTINCT FROM above.code GROUP BY {cell.others}, above.node",
        tables={"cell": rows, "above": chains},
        names={"others": names, "node": node_name(index), "code": code_name(index)},
    )
