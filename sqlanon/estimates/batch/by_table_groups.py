"""Many counts of a release of fragments at once, with the figures that each of them has by itself.

A query is a condition on each of some fragments. For each of these there is a table of every query and group:
how many rows of the group satisfy. They are joined through the release's rows, counted by their groups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.estimates.fixed_sql import fixed
from sqlanon.estimates.query.bind import Binding, fold
from sqlanon.estimates.query.evaluable import tried
from sqlanon.estimates.query.parse import AggregateQuery, is_plain
from sqlanon.estimates.query.templates import conjuncts
from sqlanon.estimates.release_model import ReleaseModel
from sqlanon.estimates.single.bucket_values import bucket_of_row, require_linked
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import big, cast, identical, if_, infix, paren, real, same, total, union_all
from sqlanon.sqlgen.build.names import alias, column, literal, relation

__all__ = ["ConditionsByTable", "Figures", "figures_by_tables", "figures_of", "group_column"]

# A statement joins so many rows at most, and asks so many queries.
MOST_ROWS = 20_000_000
_MOST_QUERIES = 500

_BOOLEAN = exp.DataType.build("BOOLEAN")

Keep = Callable[[str, exp.Query], str]
Figures = tuple[int, float | None, float | None, int, int | None]


@dataclass(frozen=True)
class ConditionsByTable:
    """COUNT(*) of the rows that satisfy a condition on each of some fragments, by their places in the release.

    A condition reads the columns of its fragment. `base` is the fragment whose rows stand for the release's,
    where nothing links fragments.
    """

    conditions: Mapping[int, exp.Expr]
    base: int | None

    @property
    def places(self) -> tuple[int, ...]:
        return tuple(sorted(self.conditions))


def figures_by_tables(
    engine: Engine, release: ReleaseModel, queries: Mapping[int, AggregateQuery], keep: Keep
) -> Iterator[Figures]:
    """Number, estimate, standard error and bounds of the queries that can be asked at once.

    Raises DataError where the release's tables do not belong together.
    """
    asked = {n: found for n, query in queries.items() if (found := _conditions_by_table(query, release)) is not None}
    if asked:
        require_linked(engine, release)
    # Queries about the same fragments are asked of the same rows.
    alike: dict[tuple[tuple[int, ...], int | None], dict[int, ConditionsByTable]] = {}
    for number, one in asked.items():
        alike.setdefault((one.places, one.base), {})[number] = one
    for (places, base), some in alike.items():
        linked = keep("linked", _linked(release, places))
        count = engine.rows(exp.select(f.count()).from_(relation(linked)))[0][0]
        size = max(1, min(_MOST_QUERIES, MOST_ROWS // max(1, int(count))))
        numbers = list(some)
        for first in range(0, len(numbers), size):
            batch = {number: some[number].conditions for number in numbers[first : first + size]}
            satisfying = {place: keep("satisfying", _satisfying(release, place, batch)) for place in places}
            yield from figures_of(engine, release, list(batch), linked, satisfying, base, keep)


def _conditions_by_table(query: AggregateQuery, release: ReleaseModel) -> ConditionsByTable | None:
    """The query as one of these; None for one that has to be asked by itself, or is refused."""
    counts = [one.function == "count" and one.argument is None for one in query.aggregates]
    if not is_plain(query) or counts != [True] or query.where is None:
        return None
    if fold(query.source.name) not in map(fold, release.names):
        return None
    binding = Binding(query, release, ())
    conditions: dict[int, list[exp.Expr]] = {}
    for part in conjuncts(query.where):
        names = [fold(one.name) for one in part.find_all(exp.Column)]
        places = {release.bucketed_positions[name][0] if name in release.bucketed_positions else None for name in names}
        try:
            bound = binding.bound(part)
        except PolicyError:
            return None
        place = places.pop() if len(places) == 1 else None
        if place is None:
            return None
        conditions.setdefault(place, []).append(_plain(bound))
    return ConditionsByTable({place: exp.and_(*parts, copy=False) for place, parts in conditions.items()}, binding.base)


def _plain(tree: exp.Expr) -> exp.Expr:
    """A bound condition over the rows of its fragment alone."""
    own = tree.transform(lambda node: column(node.name) if isinstance(node, exp.Column) else node, copy=False)
    return tried(cast(paren(own), "BOOLEAN"))


def _linked(release: ReleaseModel, places: Sequence[int]) -> exp.Select:
    """The release's rows by their groups in some fragments: bucket_i of each, and n."""
    rows = exp.select(*(alias(bucket_of_row(release.bucketed[place]), group_column(place)) for place in places))
    names = [column(group_column(place)) for place in places]
    counted = exp.select(*names, alias(f.count(), "n"))
    counted = counted.from_(rows.from_(release.rows.copy().subquery("released")).subquery("row"))
    return counted.group_by(*(name.copy() for name in names))


def _satisfying(release: ReleaseModel, place: int, batch: Mapping[int, Mapping[int, exp.Expr]]) -> exp.Select:
    """query, bucket, satisfying and total: how many rows of each group satisfy each query, where any does."""
    values = release.bucketed[place].values
    parts: list[exp.Query] = []
    for number, conditions in batch.items():
        rows = exp.select(alias(literal(number), "query"), column("bucket")).from_(relation("value"))
        parts.append(rows.where(conditions[place].copy(), copy=False))
    held = exp.select(column("query"), column("bucket"), alias(f.count(), "satisfying"))
    held = held.from_(union_all(parts).subquery("every", copy=False)).group_by(column("query"), column("bucket"))
    every = exp.select(column("bucket"), alias(f.count(), "total")).from_(relation("value"))
    names = [column(name, "held") for name in ("query", "bucket", "satisfying")]
    query = exp.select(*names, column("total", "every")).from_(held.subquery("held", copy=False))
    alike = identical(column("bucket", "held"), column("bucket", "every"))
    query = query.join(every.group_by(column("bucket")).subquery("every"), on=alike, copy=False)
    return query.with_(exp.to_identifier("value", quoted=True), as_=values.copy(), materialized=True, copy=False)


def figures_of(
    engine: Engine,
    release: ReleaseModel,
    numbers: Sequence[int],
    linked: str,
    satisfying: Mapping[int, str],
    base: int | None,
    keep: Keep,
) -> Sequence[Figures]:
    """The figures of some queries about the same fragments.

    `linked` is the table of the release's rows by their groups, those of `satisfying` say how many rows of each group
    satisfy each query (query, bucket, satisfying and total).
    """
    matched = keep("matched", _matched(linked, satisfying, base))
    places = list(satisfying)
    groups = keep("group", union_all([_groups(matched, place, places) for place in places]))
    listed = f.unnest(exp.Array(expressions=[literal(number) for number in numbers]))
    withheld = exp.select(alias(big(literal(release.withheld)), "rows"))
    tables: dict[str, exp.Table | exp.Subquery] = {
        "asked": exp.select(alias(listed, "query")).subquery("asked"),
        "matched": relation(matched, as_="matched"),
        "grouped": relation(groups, as_="grouped"),
        "withheld": withheld.subquery("withheld"),
    }
    query = fixed("by_table_groups")
    for table in list(query.find_all(exp.Table)):
        if table.name in tables:
            table.replace(tables[table.name].copy())
    return [(query, value, stderr, low, high) for query, value, stderr, low, high in engine.rows(query)]


def _matched(linked: str, satisfying: Mapping[int, str], base: int | None) -> exp.Select:
    """The release's rows by their groups that may satisfy each query: n, p, and what of each group satisfies.

    p is the probability that one of the n rows satisfies, of `known`: rows of which it is known that they satisfy
    what is asked of one fragment, or may satisfy.
    """
    query = exp.select(column("query", _of(next(iter(satisfying)))), column("n", "linked"))
    query.from_(relation(linked, as_="linked"), copy=False)
    shares: dict[int, exp.Expr] = {}
    full: list[exp.Expr] = []
    first = ""
    for place, table in satisfying.items():
        own = _of(place)
        on = identical(column(group_column(place), "linked"), column("bucket", own))
        query.join(relation(table, as_=own), on=exp.and_(on, same("query", first, own)) if first else on, copy=False)
        first = first or own
        some, all_ = column("satisfying", own), column("total", own)
        whole = some.eq(all_)
        names: dict[str, exp.Expr] = {group_column(place): column("bucket", own), f"full_{place}": whole}
        names |= {f"satisfying_{place}": some, f"total_{place}": all_}
        query.select(*(alias(tree.copy(), name) for name, tree in names.items()), copy=False)
        full.append(whole)
        shares[place] = infix(real(1.0) * some, "/", all_.copy())
    # What is asked of one fragment alone is exact, and so is that of the fragment whose rows stand for all.
    sure = next(iter(shares)) if len(shares) == 1 else base
    known = shares.pop(sure) if sure in shares else real(1.0)
    p = real(1.0)
    for share in shares.values():
        p = infix(p, "*", share)
    count = infix(column("n", "linked"), "*", known)
    return query.select(alias(count, "known"), alias(p, "p"), alias(exp.and_(*full), "certain"), copy=False)


def _groups(matched: str, place: int, places: Sequence[int]) -> exp.Select:
    """What the rows of each group of a fragment come to, whose rows `satisfying` of `total` satisfy.

    So many rows are possible, open (not certain), and `always` satisfy where they do in this fragment.
    """
    none, n = literal(0), column("n")
    others = [column(f"full_{other}") for other in places if other != place]
    always = exp.and_(*others) if others else exp.true()
    counts = {
        "possible": n,
        "open": if_(column("certain"), none, n.copy()),
        "always": if_(always, n.copy(), none.copy()),
    }
    names = [column("query"), column(group_column(place)), column(f"satisfying_{place}"), column(f"total_{place}")]
    query = exp.select(names[0], alias(literal(place), "place"))
    query.select(alias(names[2], "satisfying"), alias(names[3], "total"), copy=False)
    query.select(*(alias(total(tree), name) for name, tree in counts.items()), copy=False)
    return query.from_(relation(matched)).group_by(*(name.copy() for name in names))


def group_column(place: int) -> str:
    """The column of a row's group in the fragment at this place."""
    return f"bucket_{place}"


def _of(place: int) -> str:
    """The table with what of the groups of a fragment satisfies."""
    return f"satisfying_of_{place}"
