"""From a query and a release to estimates, their standard errors and hard bounds.

The release's rows are grouped by what they show, the leaves of each label by what the
query asks of them; what is known of several columns is combined as if they were
independent, and a bound holds for every combination of leaves that there may be. All
counting is SQL: this module says which relations there are and what stands in them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.sqlgen.names import alias, column, literal, relation
from sqlanon.sqlgen.rows import class_label
from sqlanon.workload.binding import ROW, bucket_name, leaf_name, lookup_name
from sqlanon.workload.combination import CLASS, Taken, combination
from sqlanon.workload.dealt import (
    bucket_column,
    component,
    dealt_leaves,
    own_bucket,
    require_few,
    require_linked,
    require_whole,
)
from sqlanon.workload.functions import constants_of, is_ordered
from sqlanon.workload.leaves import Asked, leaves
from sqlanon.workload.moments import NUMBER, below_label, leaf_moments, moments_of, real, share
from sqlanon.workload.plan import Plan, plan_of
from sqlanon.workload.published import Generalized, Published
from sqlanon.workload.queries import Aggregate, AggregateQuery, refused

__all__ = ["Combined", "combined", "label_of", "text_of"]

Keep = Callable[[str, exp.Query], str]

# What a label of a region is made of, if it has bounds.
_PARTS = ("shown", "low", "high")


@dataclass(frozen=True)
class Combined:
    """The table `combination` that estimate.sql reads; its aggregates, numbered from 1, and how many groups it has.

    `dealt` tells whether values of buckets are among what was combined.
    """

    table: str
    aggregates: tuple[Aggregate, ...]
    groups: int
    dealt: bool


def combined(
    engine: Engine,
    query: AggregateQuery,
    release: Published,
    lookups: Sequence[tuple[exp.Table, Sequence[str]]],
    keep: Keep,
) -> Combined:
    """Counts the release by what it shows and the leaves by what the query asks.

    `lookups` are the joined tables with their columns. Raises PolicyError, naming it, for
    whatever of the query the release cannot answer.
    """
    plan = plan_of(query, release, lookups)
    binding = plan.factors.binding
    columns = {place: release.generalized[name] for name, place in binding.places.items()}
    if release.fragmented:
        require_linked(engine, release)
    base = None if binding.base is None else release.dealt[binding.base]
    released = release.rows if base is None else base.values
    asked = {*plan.factors.parts, *(argument[0] for argument in plan.arguments if argument)}
    dealt = {place: one for place, one in enumerate(release.dealt) if bucket_name(place) in asked}
    buckets = {bucket_column(release, place): own_bucket(one, ROW) for place, one in dealt.items()}
    classes = keep(CLASS, _classes(engine, plan, buckets, columns, released, weighed=base is not None))
    signatures: list[tuple[str, exp.Expr, str]] = []
    for place, given in columns.items():
        name = leaf_name(place)
        table, each = leaves(engine, given, _asked(plan, place, given, classes), keep)
        label = column(f"label_{place}", CLASS)
        signatures.append((name, label, keep("signature", _signature(engine, plan, name, table, each, given))))
    drawn_of: list[tuple[str, exp.Expr]] = []
    for place, one in dealt.items():
        name, bucket = bucket_name(place), bucket_column(release, place)
        values = keep("leaf", dealt_leaves(one))
        if not release.fragmented:
            require_whole(engine, release.name, classes, values)
        signature = keep("signature", _signature(engine, plan, name, values, True, None))
        drawn_of.append((name, column(bucket, CLASS)))
        signatures.append((*drawn_of[-1], signature))
    if dealt:
        require_few(engine, classes, [(label, table) for _, label, table in signatures], len(plan.arguments))
    taken = Taken(component(release, CLASS), drawn_of) if dealt else None
    table = keep("combination", combination(plan, classes, signatures, taken))
    return Combined(table, query.aggregates, len(plan.groups), bool(dealt))


def _parts(plan: Plan, name: str) -> list[exp.Alias]:
    return [alias(part.copy(), own) for own, part in plan.factors.parts.get(name, {}).items()]


def _join_lookups(query: exp.Select, plan: Plan, owner: str) -> exp.Select:
    """The tables that are joined to the columns of one relation. A key is there once, so that no row is doubled."""
    binding = plan.factors.binding
    for place, lookup in enumerate(binding.query.lookups):
        if binding.owners[place] == owner:
            table = plan.lookups[place].copy()
            table.set("alias", exp.TableAlias(this=exp.to_identifier(lookup_name(place), quoted=True)))
            on = exp.EQ(this=binding.bound(lookup.on), expression=column(lookup.key, lookup_name(place)))
            query = query.join(table, on=on, join_type="LEFT", copy=False)
    return query


def _classes(
    engine: Engine,
    plan: Plan,
    buckets: Mapping[str, exp.Expr],
    columns: dict[int, Generalized],
    released: exp.Query,
    *,
    weighed: bool,
) -> exp.Select:
    """The released rows by what they show and what the query asks of it: id, label_i, parts, arguments and n.

    If they are `weighed`, each stands for as many as its weight says.
    """
    rows = _join_lookups(exp.select().from_(released.subquery(ROW)), plan, ROW)
    _require_numbers(engine, plan, ROW, rows)
    for place, given in columns.items():
        rows.select(alias(label_of(given), f"label_{place}"), copy=False)
    rows.select(*(alias(bucket, name) for name, bucket in buckets.items()), copy=False)
    rows.select(*_parts(plan, ROW), copy=False)
    for number, argument in enumerate(plan.arguments):
        if argument and argument[0] == ROW:
            rows.select(alias(real(argument[1]), f"value_{number}"), copy=False)
    if not rows.selects:
        rows.select(alias(literal(0), "every"), copy=False)
    names = [part.alias for part in rows.selects]
    count: exp.Expr = exp.Count(this=exp.Star())
    if weighed:
        rows.select(column("weight", ROW), copy=False)
        count = exp.Cast(this=exp.Sum(this=column("weight")), to=exp.DataType.build("BIGINT"))
    counted = exp.select(*(column(name) for name in names), alias(count, "n"))
    counted = counted.from_(rows.subquery("shown")).group_by(*(column(name) for name in names))
    texts = [alias(text_of(given, column(f"label_{i}")), f"shown_{i}") for i, given in columns.items()]
    own = alias(exp.Window(this=exp.RowNumber()), "id")
    return exp.select(own, exp.Star(), *texts).from_(counted.subquery("counted"))


def label_of(given: Generalized) -> exp.Expr:
    """What tells the labels of a column apart on the released rows."""
    own = [column(key, ROW) for key in given.keys]
    return own[0] if len(own) == 1 else class_label(dict(zip(_PARTS, own, strict=True)))


def text_of(given: Generalized, label: exp.Expr) -> exp.Expr:
    """What `label_of` found, as a text."""
    if len(given.keys) > 1:
        label = exp.Anonymous(this="struct_extract", expressions=[label, literal(_PARTS[0])])
    return exp.Cast(this=label, to=exp.DataType.build("VARCHAR"))


def _require_numbers(engine: Engine, plan: Plan, name: str, rows: exp.Select) -> None:
    """Only numbers are added, averaged and compared."""
    for argument, said in zip(plan.arguments, plan.said, strict=True):
        if argument and said is not None and argument[0] == name:
            ((_, kind),) = engine.columns(rows.copy().select(alias(argument[1].copy(), "value")))
            if not NUMBER.fullmatch(kind):
                raise refused(said, f"is of type {kind}: sum, avg, min and max are estimated of numbers")


def _asked(plan: Plan, place: int, given: Generalized, classes: str) -> Asked:
    name = leaf_name(place)
    groups = {group.name for group in plan.groups if group.table == name}
    constants: list[exp.Expr] = []
    why: exp.Expr | None = None
    for own, part in plan.factors.parts.get(name, {}).items():
        if own not in groups and is_ordered(part, name):
            constants += constants_of(part, name)
        elif _reads(part, name):
            why = part
    for argument in plan.arguments:
        if argument and argument[0] == name and _reads(argument[1], name) and not isinstance(argument[1], exp.Column):
            why = argument[1]
    binding = plan.factors.binding
    keys = [
        (plan.lookups[p], lookup.key)
        for p, lookup in enumerate(binding.query.lookups)
        if binding.owners[p] == name and _reads(binding.bound(lookup.on), name)
    ]
    shown, label = column(f"shown_{place}"), column(f"label_{place}")
    labels = exp.select(alias(label, "label"), alias(shown, "shown")).distinct().from_(relation(classes))
    return Asked(labels, constants, keys, why is not None, _said(why, given) if why is not None else "")


def _reads(tree: exp.Expr, name: str) -> bool:
    return any(part.table == name for part in tree.find_all(exp.Column))


def _said(tree: exp.Expr, given: Generalized) -> str:
    """A part of the query in the user's own names."""

    def own(node: exp.Expr) -> exp.Expr:
        return column(given.column) if isinstance(node, exp.Column) and node.name == "value" else node

    plain = tree.copy().transform(own)
    while isinstance(plain, exp.Cast | exp.Paren):
        plain = plain.this
    return plain.sql(dialect="duckdb")


def _signature(engine: Engine, plan: Plan, name: str, table: str, each: bool, given: Generalized | None) -> exp.Select:
    """The leaves below each label by what the query asks of them: their share, and what their values come to."""
    rows = _join_lookups(exp.select().from_(relation(table, as_=name)), plan, name)
    _require_numbers(engine, plan, name, rows)
    rows.select(column("label", name), column("weight", name), *_parts(plan, name), copy=False)
    moments: list[exp.Expr] = []
    for number, argument in enumerate(plan.arguments):
        if argument and argument[0] == name:
            pieces = not each and isinstance(argument[1], exp.Column) and argument[1].table == name
            rows.select(*leaf_moments(argument[1], number, name, pieces), copy=False)
            moments += moments_of(number)
    parts = [column(part.alias) for part in _parts(plan, name)]
    known = exp.EQ(this=exp.Count(this=exp.Star()), expression=exp.Count(this=column("weight")))
    weight = exp.Case(ifs=[exp.If(this=known, true=exp.Sum(this=column("weight")))])
    grouped = exp.select(column("label"), *parts, alias(weight, "weight"), *moments).from_(rows.subquery("leaf"))
    grouped = grouped.group_by(column("label"), *(part.copy() for part in parts))
    shares = exp.select(column("label"), *(part.copy() for part in parts), column("weight"), alias(share(), "share"))
    shares.select(alias(exp.Window(this=exp.RowNumber()), "signature"), *below_label(), copy=False)
    shares.select(*(column(part.alias) for part in moments), copy=False)
    return shares.from_(grouped.subquery("grouped"))
