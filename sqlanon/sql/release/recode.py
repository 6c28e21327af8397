"""Labels of a column's values at one level of its hierarchy, and the classes that the labels make."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Role
from sqlanon.domain.values import QualifiedName
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    and_,
    as_text,
    ascending,
    big,
    by_bytes,
    identical,
    if_,
    infix,
    is_not_null,
    is_null,
    or_,
    order_by,
    paren,
    try_cast,
    union_all,
    window,
    without_collation,
)
from sqlanon.sql.build.names import alias, column, identifier, literal, relation
from sqlanon.sql.build.queries import anti_join, extend, inner_join, left_join, select, subquery
from sqlanon.sql.cells.cells import KeyLayout, class_id, key_name, rank_name
from sqlanon.sql.cells.labels import generalized, numbered, published_value, shown_at
from sqlanon.sql.cells.taxonomy import frozen_labels
from sqlanon.sql.classes.buckets import BUCKET
from sqlanon.sql.hierarchies.base import functional
from sqlanon.sql.sizes import sizes


@dataclass(frozen=True)
class Recoding:
    """A quasi-identifier at its level.

    `later` has its levels in the later rounds of a local recoding, ascending.
    """

    bound: BoundAttribute
    level: int
    later: tuple[int, ...] = ()

    @property
    def is_read(self) -> bool:
        """Whether the column is read, as it is unless the level is `*`."""
        return self.level < self.bound.height

    @property
    def levels(self) -> tuple[int, ...]:
        """The column's level in each round."""
        return (self.level, *self.later)

    @property
    def mixed(self) -> bool:
        """Whether the column's level differs between rounds; if so, its labels are texts."""
        return len(set(self.levels)) > 1


def recode(
    recoding: Recoding, release_id: str, others: exp.Query | None = None, *, collated: bool = False
) -> exp.Select:
    """Returns a row for each value of the relation "source": value, its label at the level, and the label's code.

    The code of a value that a stored hierarchy does not list is NULL, so that its rows are withheld. `others` has
    further values that get labels, in the column `value` and of the column's type. If the level differs between rounds,
    there is a label_i and a code_i for each level. Labels have no collation; `collated` says whether the relation's
    texts have an explicit collation, which the labels lose.
    """
    bound = recoding.bound
    distinct = select(alias(published_value(bound), "value"), distinct=True, of=relation("source"))
    values: exp.Query = distinct if others is None else union_all([distinct, others], distinct=True)
    if recoding.mixed:
        return _mixed(recoding, values, release_id)
    occurring = subquery(values, "occurring")
    labelled = _stored(recoding, occurring, release_id) if bound.stored else _computed(recoding, occurring)
    order = order_by(ascending(column("label")))
    number = window(f.dense_rank(), order=order) - 1
    code: exp.Expr = big(number)
    if bound.stored:
        code = if_(column("listed"), code)
    label: exp.Expr = column("label")
    is_listed_label = bound.stored and recoding.level
    if is_listed_label or (collated and (recoding.level or bound.published_type == "VARCHAR")):
        label = without_collation(label)
    rows = subquery(labelled, "labelled")
    return select(column("value"), alias(label, "label"), alias(code, "code"), of=rows)


def _mixed(recoding: Recoding, occurring: exp.Query, release_id: str) -> exp.Select:
    """Returns the labels at several levels; a stored hierarchy's labels are the catalog's copy for this release."""
    bound, levels = recoding.bound, set(recoding.levels)
    copied = frozen_labels(bound, release_id) if bound.stored else None
    values = subquery(generalized(bound, occurring, copied, counted=False), "generalized")
    listed = [column("listed")] if bound.stored else []
    # A value that the hierarchy does not list has only the label `*`.
    needed = sorted(levels - {bound.height}) if bound.stored else []
    return numbered(
        select(column("value"), *shown_at(bound, recoding.levels), *listed, of=values), recoding.levels, needed
    )


def _computed(recoding: Recoding, occurring: exp.Subquery) -> exp.Select:
    bound = recoding.bound
    label: exp.Expr = column("value")
    if recoding.level and bound.hierarchy:
        kind = functional(bound.hierarchy.kind)
        label = kind.labels(bound.hierarchy, column("value"), bound.published_type)[recoding.level - 1]
    return select(column("value"), alias(label, "label"), of=occurring)


def _stored(recoding: Recoding, occurring: exp.Subquery, release_id: str) -> exp.Select:
    """Returns labels from the catalog's copy for this release, and whether the copy lists the value.

    The join is an outer join, although the rows of unlisted values are finally dropped, because an inner join would be
    estimated to have no rows, so the release would be joined in the wrong order.
    """
    bound = recoding.bound
    value = try_cast(by_bytes(column("value")), bound.published_type)
    has_value = is_not_null(value)
    copied = (
        # One row for each value, even if the table repeats a value, because a value that is listed twice must not
        # double its rows.
        select(
            alias(value, "value"),
            alias(f.max(by_bytes(column("label"))), "label"),
            _listed(),
            of=relation(("anon", "release_recoding")),
            where=[
                column("release_id").eq(literal(release_id)),
                column("attribute").eq(literal(bound.column)),
                or_(is_null(column("value")), has_value),
            ],
            group_by=[value],
        )
    )
    label = column("value", "occurring") if recoding.level == 0 else column("label", "copied")
    same = identical(column("value", "occurring"), column("value", "copied"))
    return select(
        column("value", "occurring"),
        alias(label, "label"),
        column("listed", "copied"),
        of=occurring,
        joins=[left_join(subquery(copied, "copied"), same)],
    )


def _listed() -> exp.Alias:
    return alias(literal(True), "listed")


def join_codes(
    query: exp.Select,
    recodings: Sequence[tuple[int, Recoding]],
    value: Callable[[int, BoundAttribute], exp.Expr],
    *,
    conditions: Sequence[exp.Expr] = (),
    outer: bool = False,
) -> exp.Expr:
    """Joins the labels recode_i to a query's rows, and returns the class_id that their codes make.

    `value` returns the rows' own value of the attribute at an index; `conditions` are further conditions of each join.
    A row that lacks a code for one of its values is left out, or, if `outer` is true, kept in a class that cannot have
    any other row.
    """
    layout = class_layout(len(recodings))
    words: list[exp.Expr | None] = [None] * layout.words
    for n, ((i, recoding), (spot,)) in enumerate(zip(recodings, layout.fields, strict=True)):
        name = f"recode_{i}"
        code = paren(infix(column("code", name), "<<", literal(spot.shift)))
        before = words[spot.word]
        words[spot.word] = (before + code) if before else code
        same = identical(value(i, recoding.bound), column("value", name))
        # A label beyond the bits of its field would overlap another field, so its rows are withheld.
        fits = column("code", name) < literal(1 << spot.bits)
        on = and_(same, fits, *conditions[n : n + 1])
        extend(query, joins=[(left_join if outer else inner_join)(relation(name), on)])
    zero = big(literal(0))
    if outer:
        words = [f.coalesce(word, literal(-1)) if word else None for word in words]
    return class_id([word if word else zero.copy() for word in words])


def class_layout(columns: int) -> KeyLayout:
    """Returns a field of fixed width for each column, because labels may appear and disappear while the view exists."""
    return KeyLayout.pack([(sizes().max_labels,)] * columns)


def projected_code(recodings: Sequence[tuple[int, Recoding]], code: exp.Expr, columns: Sequence[str]) -> exp.Expr:
    """Returns the class by some columns that contains a class, from the codes that `join_codes` made."""
    layout, known = class_layout(len(recodings)), {fold(name) for name in columns}
    masks = [0] * layout.words
    for (_, recoding), (spot,) in zip(recodings, layout.fields, strict=True):
        if fold(recoding.bound.attribute.name) in known:
            masks[spot.word] |= spot.mask
    if layout.words == 1:
        return infix(code, "&", masks[0])
    words = [exp.Dot(this=code.copy(), expression=identifier(key_name(word))) for word in range(layout.words)]
    return class_id([infix(word, "&", mask) for word, mask in zip(words, masks, strict=True)])


def label_codes(recodings: Sequence[tuple[int, Recoding]]) -> dict[str, exp.Expr]:
    """Returns the number of a class's label in each column, made from the codes that `join_codes` made."""
    layout, whole = class_layout(len(recodings)), column("class_id")
    codes: dict[str, exp.Expr] = {}
    for (_, recoding), (spot,) in zip(recodings, layout.fields, strict=True):
        word = whole if layout.words == 1 else exp.Dot(this=whole.copy(), expression=identifier(key_name(spot.word)))
        codes[recoding.bound.column] = paren(infix(paren(infix(word, "&", spot.mask)), ">>", spot.shift))
    return codes


def coarser_codes(index: int, frozen: exp.Query) -> exp.Select:
    """Returns value, level, node: the ancestors of the labels of the quasi-identifier at this index, by the number of
    the label.

    `frozen` has the ancestors by the texts of the labels.
    """
    on = identical(by_bytes(column("label", "recode")), column("value", "above"))
    known = [column("level", "above"), column("node", "above")]
    query = select(alias(as_text(column("code", "recode")), "value"), *known, distinct=True)
    return extend(
        query, of=relation(f"recode_{index}", as_="recode"), joins=[inner_join(subquery(frozen, "above"), on)]
    )


# The rows of a release whose quasi-identifiers are recoded by region: each row with the columns of its region.


# The ends of a range.
ENDS = ("low", "high")

# The source's row number, where relaxed cuts put equal rows into several regions.
ROW = "__sqlanon_row"


@dataclass(frozen=True)
class Placed:
    """The regions of rows, and the values that the regions show.

    `regions` is a table made by `region_labels.region_labels`, and `region_map` a table made by
    `region_labels.region_map`. `ranks` has, for each attribute in the order of its hierarchy, the table of its values'
    ranks. If `boxes` is true, a combination that `region_map` lacks belongs to the region whose ranges contain it. If
    `by_row` is true, `region_map` has a region for each row of the source (row, region), because equal rows may have
    different regions.
    """

    regions: QualifiedName
    region_map: QualifiedName
    ranks: tuple[QualifiedName | None, ...]
    publish: str
    bounds: bool
    boxes: bool
    by_row: bool = False

    @property
    def exact(self) -> bool:
        """Whether the quasi-identifiers are published unchanged, and the region is a column of its own."""
        return self.publish == "none"


def placement(policy: BoundPolicy, placed: Placed) -> exp.Query:
    """SELECT of value_0, ..., region: each combination of values that occurs, with its region.

    The combinations are those of the map of regions, and the source's combinations within a region's ranges. If each
    row has its own region, the columns are row and region.
    """
    if placed.by_row:
        return select(column("row"), column("region"), of=relation(placed.region_map))
    quasi = policy.quasi_identifiers
    names = [f"value_{index}" for index in range(len(quasi))]
    known = select(*(column(name) for name in names), column("region"), of=relation(placed.region_map))
    if not placed.boxes:
        return known
    values = [alias(published_value(bound, "source"), name) for bound, name in zip(quasi, names, strict=True)]
    same = [
        identical(published_value(bound, "source"), column(name, "place"))
        for bound, name in zip(quasi, names, strict=True)
    ]
    unseen = select(*values, distinct=True, of=relation("source"))
    extend(unseen, joins=[anti_join(relation(placed.region_map, as_="place"), and_(*same))])
    inside = boxed(subquery(unseen, "unseen"), len(quasi), placed)
    return union_all([known, inside])


def boxed(unseen: exp.Table | exp.Subquery, count: int, placed: Placed) -> exp.Select:
    """SELECT of value_0, ..., region: the combinations in `unseen`, of `count` values each, that are within a region's
    ranges.
    """
    names = [f"value_{index}" for index in range(count)]
    inside = select(*(column(name, "unseen") for name in names), alias(f.min(column("region", "box")), "region"))
    extend(inside, of=unseen)
    conditions = [_inside(inside, index, placed) for index in range(count)]
    extend(inside, joins=[inner_join(relation(placed.regions, as_="box"), and_(*conditions))])
    return extend(inside, group_by=(column(name, "unseen") for name in names))


def _inside(query: exp.Select, index: int, placed: Placed) -> exp.Expr:
    """Returns the SQL condition that a region's range contains the value of a combination that the map of regions
    lacks.

    Values are compared in their order, or by rank along a hierarchy.
    """
    value = column(f"value_{index}", "unseen")
    ranks = placed.ranks[index]
    if ranks is None:
        low, high = (column(box_name(index, end), "box") for end in ENDS)
        between: exp.Expr = value.between(low, high)
    else:
        name = f"rank_of_{index}"
        on = identical(value, column("value", name))
        extend(query, joins=[inner_join(relation(ranks, as_=name), on)])
        low, high = (column(end(index), "box") for end in (low_name, high_name))
        # NULL has a rank between two values or after them, so it needs a condition of its own.
        known = is_not_null(value)
        between = and_(known, column(rank_name(0), name).between(low, high))
    null_here = and_(is_null(value), column(f"with_null_{index}", "box"))
    return paren(or_(between, null_here))


def placed_rows(policy: BoundPolicy, placed: Placed) -> exp.Select:
    """Returns the source's rows that have a region: class_id, and the region's columns for each attribute.

    The query reads "source", also its column ROW if regions are by row, and "placement".
    """
    query = select(of=relation("source"))
    same: list[exp.Expr] = []
    if placed.by_row:
        same.append(column(ROW, "source").eq(column("row", "placement")))
    else:
        for index, bound in enumerate(policy.quasi_identifiers):
            value = published_value(bound, "source")
            same.append(identical(value, column(f"value_{index}", "placement")))
    extend(query, joins=[inner_join(relation("placement"), and_(*same))])
    on = column("region", "region").eq(column("region", "placement"))
    extend(query, joins=[inner_join(relation(placed.regions, as_="region"), on)])
    extend(query, alias(column("class", "region"), "class_id"))
    for index, bound in enumerate(policy.quasi_identifiers):
        label = published_value(bound, "source") if placed.exact else column(label_name(index), "region")
        extend(query, alias(label, label_name(index)))
        if placed.bounds:
            ends = [alias(column(box_name(index, end), "region"), box_name(index, end)) for end in ("low", "high")]
            extend(query, *ends)
    return query


def label_name(index: int) -> str:
    return f"label_{index}"


def box_name(index: int, end: str) -> str:
    """Returns the name of the column with the value other than NULL at the `end` ('low' or 'high') of a range."""
    return f"{end}_value_{index}"


def low_name(index: int) -> str:
    """Returns the name of the regions' column with the least rank in the attribute at this index."""
    return f"low_{index}"


def high_name(index: int) -> str:
    """Returns the name of the regions' column with the greatest rank in the attribute at this index."""
    return f"high_{index}"


# The columns of a release, as expressions over the recoded rows.


@dataclass(frozen=True)
class ReleaseColumns:
    """The columns of a release, determined by these parts of a `ReleaseQuery`.

    The relation "recoded" has label_0, ... of the quasi-identifiers, and column_0, ... of the attributes that pass
    through.
    """

    policy: BoundPolicy
    recodings: tuple[Recoding, ...]
    placed: Placed | None
    collated: bool

    def keys(self) -> tuple[str, ...]:
        """The columns whose values tell classes apart."""
        quasi = [bound.column for bound in self.policy.quasi_identifiers]
        if self.placed is None:
            return tuple(quasi)
        return (BUCKET,) if self.placed.exact else tuple(name for q in quasi for name in (q, *self._ends(q)))

    def _ends(self, name: str) -> list[str]:
        """Returns the names of the columns that hold the ends of a quasi-identifier's range."""
        return [f"{name}_{end}" for end in ENDS] if self.placed and self.placed.bounds else []

    def passing(self) -> list[tuple[int, BoundAttribute]]:
        """Returns the attributes that are published unchanged or as tokens, with their numbers."""
        return [(i, b) for i, b in enumerate(self.policy.published) if b.role is not Role.QUASI_IDENTIFIER]

    def outputs(self) -> list[exp.Alias]:
        """Returns the expression of each published column, in their order."""
        outputs: list[exp.Alias] = []
        for bound in self.policy.published:
            outputs.append(self._output(bound))
            if bound.role is Role.QUASI_IDENTIFIER:
                index = self.policy.quasi_identifiers.index(bound)
                ends = zip(self._ends(bound.column), ENDS, strict=False)
                outputs += [alias(column(box_name(index, end), "recoded"), name) for name, end in ends]
        if self.placed and self.placed.exact:
            outputs.append(alias(column("class_id", "recoded"), BUCKET))
        return outputs

    def _output(self, bound: BoundAttribute) -> exp.Alias:
        if bound.role is Role.QUASI_IDENTIFIER:
            value = self.label(bound, "recoded")
            # Labels that a hierarchy lists are compared by their bytes, whatever the source's texts are.
            collated = (self.collated or bound.stored) and any(r.bound is bound and r.mixed for r in self.recodings)
        else:
            index = next(i for i, other in self.passing() if other is bound)
            value, collated = column(f"column_{index}", "recoded"), bound.published_type == "VARCHAR" and self.collated
        return alias(without_collation(value) if collated else value, bound.column)

    def label(self, bound: BoundAttribute, of: str | None = None) -> exp.Expr:
        """Returns the label of a class in a quasi-identifier."""
        if self.placed is not None:
            return column(label_name(self.policy.quasi_identifiers.index(bound)), of)
        index = next(i for i, r in enumerate(self.recodings) if r.bound is bound)
        return column(f"label_{index}", of) if self.recodings[index].is_read else literal("*")
