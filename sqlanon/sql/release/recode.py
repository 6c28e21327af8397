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
    big,
    by_bytes,
    identical,
    if_,
    infix,
    paren,
    try_cast,
    union_all,
    without_collation,
)
from sqlanon.sql.build.names import alias, column, identifier, literal, relation
from sqlanon.sql.build.queries import extend, inner_join, left_join, select, subquery
from sqlanon.sql.build.sql_files import filled, filled_query, filled_select, query_file, select_file
from sqlanon.sql.cells.cells import KeyLayout, class_id, key_name
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
    distinct = filled_query("SELECT DISTINCT $value AS value FROM source", value=published_value(bound))
    values = distinct if others is None else union_all([distinct, others], distinct=True)
    if recoding.mixed:
        return _mixed(recoding, values, release_id)
    labelled = _stored(recoding, values, release_id) if bound.stored else _computed(recoding, values)
    code = filled("CAST(dense_rank() OVER (ORDER BY label ASC NULLS LAST) - 1 AS BIGINT)")
    if bound.stored:
        code = if_(column("listed"), code)
    label: exp.Expr = column("label")
    is_listed_label = bound.stored and recoding.level
    if is_listed_label or (collated and (recoding.level or bound.published_type == "VARCHAR")):
        label = without_collation(label)
    text = "SELECT value, $label AS label, $code AS code FROM labelled"
    return filled_select(text, tables={"labelled": labelled}, label=label, code=code)


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


def _computed(recoding: Recoding, occurring: exp.Query) -> exp.Query:
    bound = recoding.bound
    label: exp.Expr = column("value")
    if recoding.level and bound.hierarchy:
        kind = functional(bound.hierarchy.kind)
        label = kind.labels(bound.hierarchy, column("value"), bound.published_type)[recoding.level - 1]
    return filled_query("SELECT value, $label AS label FROM occurring", tables={"occurring": occurring}, label=label)


def _stored(recoding: Recoding, occurring: exp.Query, release_id: str) -> exp.Query:
    """Returns labels from the catalog's copy for this release, and whether the copy lists the value."""
    bound = recoding.bound
    return query_file(
        "recoding",
        "stored",
        tables={"occurring": occurring},
        shown=column("value", "occurring") if recoding.level == 0 else column("label", "copied"),
        value=try_cast(by_bytes(column("value")), bound.published_type),
        label=by_bytes(column("label")),
        release=release_id,
        attribute=bound.column,
    )


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


def coarser_codes(index: int, frozen: exp.Query) -> exp.Query:
    """Returns value, level, node: the ancestors of the labels of the quasi-identifier at this index, by the number of
    the label.

    `frozen` has the ancestors by the texts of the labels.
    """
    return filled_query(
        "SELECT DISTINCT CAST(recode.code AS VARCHAR) AS value, above.level, above.node FROM recode"
        " JOIN above ON $label IS NOT DISTINCT FROM above.value",
        tables={"recode": f"recode_{index}", "above": frozen},
        label=by_bytes(column("label", "recode")),
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
    quasi = policy.quasi_identifiers
    names = ["row"] if placed.by_row else [f"value_{index}" for index in range(len(quasi))]
    known = filled_query('SELECT {names}, region FROM "{map}"', names={"names": names, "map": placed.region_map})
    if placed.by_row or not placed.boxes:
        return known
    unseen = filled_query(
        'SELECT DISTINCT $values AS "{names}" FROM source'
        ' ANTI JOIN "{map}" AS place ON $values IS NOT DISTINCT FROM {place.names}',
        names={"names": names, "map": placed.region_map},
        values=[published_value(bound, "source") for bound in quasi],
    )
    return union_all([known, boxed(subquery(unseen, "unseen"), len(quasi), placed)])


def boxed(unseen: exp.Table | exp.Subquery, count: int, placed: Placed) -> exp.Query:
    """SELECT of value_0, ..., region: the combinations in `unseen`, of `count` values each, that are within a region's
    ranges.
    """
    values = [f"value_{index}" for index in range(count)]
    ranks = {index: table for index, table in enumerate(placed.ranks[:count]) if table is not None}
    return query_file(
        "recoding",
        "boxed",
        tables={"unseen": unseen},
        names={
            "values": values,
            "ranks": [*ranks.values()],
            "of": [f"rank_of_{index}" for index in ranks],
            "ranked": [values[index] for index in ranks],
            "regions": placed.regions,
        },
        inside=[_inside(index, is_ranked=index in ranks) for index in range(count)],
    )


def _inside(index: int, *, is_ranked: bool) -> exp.Expr:
    """Returns the SQL condition that a region's range contains the value of a combination that the map of regions
    lacks.

    Values are compared in their order, or by rank along a hierarchy.
    """
    names = {"value": f"value_{index}", "with_null": f"with_null_{index}"}
    if not is_ranked:
        text = """
            ({unseen.value} BETWEEN {box.low} AND {box.high} OR ({unseen.value} IS NULL AND {box.with_null}))
        """
        return filled(text, names={**names, **{end: box_name(index, end) for end in ENDS}})
    # NULL has a rank between two values or after them, so it needs a condition of its own.
    text = """
        ((NOT {unseen.value} IS NULL AND "{of}".rank_0 BETWEEN {box.low} AND {box.high})
            OR ({unseen.value} IS NULL AND {box.with_null}))
    """
    return filled(text, names={**names, "of": f"rank_of_{index}", "low": low_name(index), "high": high_name(index)})


def placed_rows(policy: BoundPolicy, placed: Placed) -> exp.Select:
    """Returns the source's rows that have a region: class_id, and the region's columns for each attribute.

    The query reads "source", also its column ROW if regions are by row, and "placement".
    """
    columns: dict[str, exp.Expr] = {}
    values = [published_value(bound, "source") for bound in policy.quasi_identifiers]
    for index, value in enumerate(values):
        columns[label_name(index)] = value if placed.exact else column(label_name(index), "region")
        if placed.bounds:
            columns |= {name: column(name, "region") for name in (box_name(index, end) for end in ENDS)}
    same = [identical(value, column(f"value_{index}", "placement")) for index, value in enumerate(values)]
    return select_file(
        "recoding",
        "placed_rows",
        names={"names": [*columns], "regions": placed.regions},
        shown=[*columns.values()],
        same=[column(ROW, "source").eq(column("row", "placement"))] if placed.by_row else same,
    )


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
