"""Many counts of a release at once, with the figures that each of them has by itself.

The release's rows are counted by what they show of the columns that are asked about. For
each column there is a table of every query and label: the share of the label's leaves
that satisfy. Classes are joined with these tables, and n times the product of the shares is added up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.sqlgen.names import alias, column, literal, relation
from sqlanon.sqlgen.rows import class_label
from sqlanon.sqlgen.terms import big, union_all
from sqlanon.workload.binding import ROW
from sqlanon.workload.conjunctions import VALUE, Conjunction
from sqlanon.workload.dealt import require_whole
from sqlanon.workload.estimators import labels_of
from sqlanon.workload.leaves import Asked, leaves
from sqlanon.workload.published import Published, dealt_name
from sqlanon.workload.spans import fixed

__all__ = ["MOST_ROWS", "Together"]

# A statement joins so many rows at most, and asks so many queries.
MOST_ROWS = 20_000_000
_MOST_QUERIES = 500
# A list of conditions is evaluated on each leaf; of more leaves only those that satisfy are written down.
_MANY_LEAVES = 5_000

_DOUBLE = exp.DataType.build("DOUBLE")

Keep = Callable[[str, exp.Query], str]
Figures = tuple[int, float | None, float | None, int, int | None]


@dataclass(frozen=True)
class _Counted:
    """`classes` has a row for what rows show together: n, and in `name_of` the number of a label in its table.

    `labels` has the table of each column: number, label and, of a column that is recoded, shown.
    """

    classes: str
    count: int
    labels: Mapping[str, str]


class Together:
    """Asks counts of one release. Raises PolicyError or DataError as ESTIMATE would, for one of them."""

    def __init__(
        self, engine: Engine, release: Published, asked: Sequence[tuple[int, Conjunction]], keep: Keep
    ) -> None:
        self._engine, self._release, self._keep = engine, release, keep
        self._names = list(dict.fromkeys(name for _, one in asked for name in one.conditions))
        # Queries about the same columns stand side by side: their classes are the same.
        self._asked = sorted(asked, key=lambda one: (self._places(one[1]), one[0]))
        self._counted = self._count()

    def figures(self) -> Iterator[Figures]:
        """Number, estimate, standard error and bounds of every query."""
        size = max(1, min(_MOST_QUERIES, MOST_ROWS // max(1, self._counted.count)))
        for first in range(0, len(self._asked), size):
            yield from self._engine.rows(self._batch(self._asked[first : first + size]))

    def _places(self, one: Conjunction) -> tuple[int, ...]:
        return tuple(place for place, name in enumerate(self._names) if name in one.conditions)

    def _count(self) -> _Counted:
        """The released rows by their labels, each label as a number from 1."""
        released = self._keep("released", self._release.rows)
        shown = [part for place, name in enumerate(self._names) for part in self._shown(place, name)]
        names = [part.alias for part in shown]
        every = exp.select(*shown).from_(relation(released, as_=ROW))
        rows = exp.select(*map(column, names), alias(exp.Count(this=exp.Star()), "n")).from_(every.subquery("every"))
        table = self._keep("shown", rows.group_by(*map(column, names)))
        labels = {name: self._keep("label", self._labels(place, name, table)) for place, name in enumerate(self._names)}
        query = exp.select(column("n", "shown")).from_(relation(table, as_="shown"))
        for place, (name, own) in enumerate(labels.items()):
            held = f"held_{place}"
            same = exp.NullSafeEQ(this=column(f"label_{place}", "shown"), expression=column("label", held))
            query.join(relation(own, as_=held), on=same, copy=False)
            query.select(alias(column("number", held), name_of(place)), copy=False)
            if name in self._release.dealt_places:
                self._require_whole(table, place, name)
        classes = self._keep("class", query)
        count = exp.select(exp.Count(this=exp.Star())).from_(relation(classes))
        return _Counted(classes, int(self._engine.rows(count)[0][0]), labels)

    def _shown(self, place: int, name: str) -> list[exp.Alias]:
        release = self._release
        if name in release.generalized:
            label, shown = labels_of(release.generalized[name])
            return [alias(label, f"label_{place}"), alias(shown, f"shown_{place}")]
        own = release.bucket if name in release.dealt_places else release.exact[name]
        return [alias(column(str(own), ROW), f"label_{place}")]

    def _labels(self, place: int, name: str, table: str) -> exp.Select:
        parts = [alias(column(f"label_{place}"), "label")]
        if name in self._release.generalized:
            parts.append(alias(column(f"shown_{place}"), "shown"))
        rows = exp.select(*parts).distinct().from_(relation(table))
        return exp.select(alias(exp.Window(this=exp.RowNumber()), "number"), exp.Star()).from_(rows.subquery("every"))

    def _require_whole(self, table: str, place: int, name: str) -> None:
        rows = exp.select(alias(column(f"label_{place}"), "bucket"), column("n")).from_(relation(table))
        dealt = self._release.dealt[self._release.dealt_places[name][0]]
        values = exp.select(alias(column("bucket"), "label"), column("weight")).from_(dealt.values.subquery("dealt"))
        require_whole(self._engine, self._release.name, self._keep("rows", rows), self._keep("values", values))

    def _batch(self, some: Sequence[tuple[int, Conjunction]]) -> exp.Query:
        """The figures of some queries, in one statement over their classes and the shares of their labels."""
        subsets = {subset: number for number, subset in enumerate(dict.fromkeys(self._places(one) for _, one in some))}
        queries = [
            class_label({"query": literal(number), "subset": literal(subsets[self._places(one)])})
            for number, one in some
        ]
        used = sorted({place for subset in subsets for place in subset})
        tables = {
            "asked": self._keep("asked", _listed(queries)),
            "rolled": self._keep("rolled", union_all([self._rolled(*one, used) for one in subsets.items()])),
        }
        shares = {place: self._keep("share", self._shares(place, some)) for place in used}
        dealt = [place for place in used if self._names[place] in self._release.dealt_places]
        tables["matched"] = self._matched(tables, shares, dealt)
        query = fixed("together")
        withheld = exp.select(alias(big(literal(self._release.withheld)), "rows")).subquery("withheld")
        for table in list(query.find_all(exp.Table)):
            if table.name in tables:
                table.replace(relation(tables[table.name], as_=table.alias_or_name))
            elif table.name == "withheld":
                table.replace(withheld.copy())
        return query

    def _matched(self, tables: Mapping[str, str], shares: Mapping[int, str], dealt: Sequence[int]) -> str:
        """query, n, p and certain of every class that may satisfy; of buckets also their values that do, and all.

        A step joins one column's shares: joined with each other first, they would be far more rows than classes.
        """
        one: exp.Expr = exp.Cast(this=literal(1), to=_DOUBLE.copy())
        none: exp.Expr = exp.Cast(this=exp.null(), to=_DOUBLE.copy())
        start = [alias(one, "p"), alias(exp.true(), "certain"), alias(none, "satisfying"), alias(none.copy(), "total")]
        numbers = [column(name_of(place)) for place in shares]
        query = exp.select(column("query"), column("n"), *numbers, *start, alias(big(literal(0)), "bucket"))
        query.from_(relation(tables["asked"]), copy=False).join(relation(tables["rolled"]), using="subset", copy=False)
        matched: exp.Expr = query.subquery("matched")
        table = ""
        # Buckets come last, when few rows are left.
        for place, share in sorted(shares.items(), key=lambda one: one[0] in dealt):
            table = self._keep("matched", _narrowed(matched, place, share, list(shares), place in dealt))
            matched = relation(table, as_="matched")
        return table

    def _rolled(self, subset: tuple[int, ...], number: int, used: Sequence[int]) -> exp.Select:
        """The classes by the labels of some of the columns; in place of every other label there is 0."""
        own = [column(name_of(place)) for place in subset]
        n = big(exp.Sum(this=column("n")))
        every = [alias(column(name_of(p)) if p in subset else big(literal(0)), name_of(p)) for p in used]
        query = exp.select(alias(literal(number), "subset"), *every, alias(n, "n"))
        return query.from_(relation(self._counted.classes)).group_by(*own)

    def _shares(self, place: int, some: Sequence[tuple[int, Conjunction]]) -> exp.Query:
        """query, number, p, certain, satisfying and total: which share of a label's leaves satisfies, if any does."""
        name = self._names[place]
        conditions = {number: one.conditions[name] for number, one in some if name in one.conditions}
        others = [literal(number) for number, one in some if name not in one.conditions]
        leaf = self._leaves(name, some)
        satisfying = self._satisfying(leaf, conditions)
        query = fixed("share") if name not in self._release.exact else fixed("exact_share")
        for table in list(query.find_all(exp.Table)):
            if table.name == "leaf":
                table.replace(relation(leaf, as_="leaf"))
            elif table.name == "satisfying":
                table.replace(satisfying.subquery("satisfying"))
        if not others:
            return query
        one = exp.Cast(this=literal(1), to=_DOUBLE.copy())
        nothing = exp.Cast(this=exp.null(), to=_DOUBLE.copy())
        whole = exp.select(alias(exp.Explode(this=exp.Array(expressions=others)), "query"), alias(literal(0), "number"))
        whole.select(alias(one, "p"), alias(exp.true(), "certain"), nothing, nothing.copy(), copy=False)
        return exp.union(query, whole, distinct=False, copy=False)

    def _satisfying(self, leaf: str, conditions: Mapping[int, exp.Expr]) -> exp.Query:
        """query, number and weight of the leaves that satisfy: few in one scan, many in one for each query."""
        count = exp.select(exp.Count(this=exp.Star())).from_(relation(leaf))
        if int(self._engine.rows(count)[0][0]) > _MANY_LEAVES:
            return union_all([_where(relation(leaf), number, tree) for number, tree in conditions.items()])
        every = _listed([class_label({"query": literal(q), "holds": tree}) for q, tree in conditions.items()])
        every.select(column("number"), column("weight"), copy=False).from_(relation(leaf), copy=False)
        names = (column(name) for name in ("query", "number", "weight"))
        return exp.select(*names).from_(every.subquery("every", copy=False)).where(column("holds"))

    def _leaves(self, name: str, some: Sequence[tuple[int, Conjunction]]) -> str:
        """number, value and weight of the leaves below every label of a column."""
        release, labels = self._release, self._counted.labels[name]
        held = relation(labels, as_="held")
        one: exp.Expr = exp.Cast(this=literal(1), to=_DOUBLE.copy())
        if name in release.exact:
            parts = (column("number"), alias(column("label"), VALUE), alias(one, "weight"))
            return self._keep("leaf", exp.select(*parts).from_(held))
        if name in release.dealt_places:
            which, place = release.dealt_places[name]
            values = alias(column(dealt_name(place), "leaf"), VALUE)
            rows = exp.select(column("number", "held"), values, column("weight", "leaf")).from_(held)
            same = exp.NullSafeEQ(this=column("label", "held"), expression=column("bucket", "leaf"))
            return self._keep("leaf", rows.join(release.dealt[which].values.subquery("leaf"), on=same, copy=False))
        constants = dict.fromkeys(tree for _, one_ in some for tree in one_.constants.get(name, ()))
        shown = exp.select(column("label"), column("shown")).from_(relation(labels))
        table, _ = leaves(self._engine, release.generalized[name], Asked(shown, list(constants), (), False), self._keep)
        rows = exp.select(column("number", "held"), column("value", "leaf"), column("weight", "leaf")).from_(held)
        same = exp.NullSafeEQ(this=column("label", "held"), expression=column("label", "leaf"))
        return self._keep("leaf", rows.join(relation(table, as_="leaf"), on=same, copy=False))


def name_of(place: int) -> str:
    """The column with the number of the label of the column at this place."""
    return f"number_{place}"


def _where(leaf: exp.Table, query: int, condition: exp.Expr) -> exp.Select:
    """The leaves that satisfy one query's condition."""
    rows = exp.select(alias(literal(query), "query"), column("number"), column("weight")).from_(leaf)
    return rows.where(condition, copy=False)


def _listed(structs: Sequence[exp.Expr]) -> exp.Select:
    """A row for each of some structs, a column for each of their fields."""
    unnested = exp.Anonymous(
        this="unnest",
        expressions=[
            exp.Array(expressions=list(structs)),
            exp.PropertyEQ(this=exp.to_identifier("recursive"), expression=exp.true()),
        ],
    )
    return exp.Select(expressions=[unnested])


def _narrowed(matched: exp.Expr, place: int, share: str, places: Sequence[int], dealt: bool) -> exp.Select:
    """The rows that may satisfy what is asked of the column at a place, too."""
    kept = [column(name, "matched") for name in ("query", "n", *map(name_of, places))]
    p = exp.Mul(this=column("p", "matched"), expression=column("p", "share"))
    certain = exp.and_(column("certain", "matched"), column("certain", "share"))
    query = exp.select(*kept, alias(p, "p"), alias(certain, "certain"))
    number = column(name_of(place), "matched")
    for name in ("satisfying", "total"):
        known: exp.Expr = column(name, "matched")
        # A query asks of the buckets of one column: the others have none for it.
        query.select(
            alias(exp.Coalesce(this=column(name, "share"), expressions=[known]) if dealt else known, name), copy=False
        )
    bucket: exp.Expr = column("bucket", "matched")
    query.select(alias(exp.Add(this=bucket, expression=number) if dealt else bucket, "bucket"), copy=False)
    own = exp.EQ(this=column("query", "matched"), expression=column("query", "share"))
    label = exp.EQ(this=number.copy(), expression=column("number", "share"))
    return query.from_(matched, copy=False).join(relation(share, as_="share"), on=exp.and_(own, label), copy=False)
