"""The rows of a release whose quasi-identifiers are recoded by region: each row placed, with what its region shows."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from sqlanon.domain.bound import BoundPolicy
from sqlanon.domain.values import QualifiedName
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import identical, is_not_null, is_null, paren
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.cells.cells import rank_name
from sqlanon.sql.cells.labels import published_value

# The ends of a range.
ENDS = ("low", "high")

# The source's row number, where relaxed cuts put equal rows into several regions.
ROW = "__sqlanon_row"


@dataclass(frozen=True)
class Placed:
    """Where rows belong and what regions show.

    `regions` is a table of `region_labels.region_labels`, `region_map` one of `region_labels.region_map`,
    `ranks` has for each attribute in the order of its hierarchy the table of its values'
    ranks. If `boxes`, a combination that `region_map` does not have belongs to the region
    whose ranges it lies in. If `by_row`, `region_map` has a region for each row of the source
    (row, region), since equal rows need not have the same.
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
        """Whether the quasi-identifiers stay as they are, and the region is a column of its own."""
        return self.publish == "none"


def placement(policy: BoundPolicy, placed: Placed) -> exp.Query:
    """value_0, ..., region: the combinations with a region, and those of the source that lie in a box.

    Where each row has a region of its own, row and region.
    """
    if placed.by_row:
        return exp.select(column("row"), column("region")).from_(relation(placed.region_map))
    quasi = policy.quasi_identifiers
    names = [f"value_{index}" for index in range(len(quasi))]
    known = exp.select(*(column(name) for name in names), column("region")).from_(relation(placed.region_map))
    if not placed.boxes:
        return known
    values = [alias(published_value(bound, "source"), name) for bound, name in zip(quasi, names, strict=True)]
    same = [
        identical(published_value(bound, "source"), column(name, "place"))
        for bound, name in zip(quasi, names, strict=True)
    ]
    unseen = exp.select(*values).distinct(copy=False).from_(relation("source"))
    unseen.join(relation(placed.region_map, as_="place"), on=exp.and_(*same), join_type="ANTI", copy=False)
    inside = boxed(unseen.subquery("unseen"), len(quasi), placed)
    return exp.union(known, inside, distinct=False, copy=False)


def boxed(unseen: exp.Table | exp.Subquery, count: int, placed: Placed) -> exp.Select:
    """value_0, ..., region: the combinations of `unseen`, of so many values, that lie in a region's ranges."""
    names = [f"value_{index}" for index in range(count)]
    inside = exp.select(*(column(name, "unseen") for name in names), alias(f.min(column("region", "box")), "region"))
    inside.from_(unseen, copy=False)
    conditions = [_inside(inside, index, placed) for index in range(count)]
    inside.join(relation(placed.regions, as_="box"), on=exp.and_(*conditions), copy=False)
    return inside.group_by(*(column(name, "unseen") for name in names), copy=False)


def _inside(query: exp.Select, index: int, placed: Placed) -> exp.Expr:
    """Whether an unseen combination's value lies in a region's range: by value, or by rank along a hierarchy."""
    value = column(f"value_{index}", "unseen")
    ranks = placed.ranks[index]
    if ranks is None:
        low, high = (column(box_name(index, end), "box") for end in ENDS)
        between: exp.Expr = value.between(low, high)
    else:
        name = f"rank_of_{index}"
        on = identical(value, column("value", name))
        query.join(relation(ranks, as_=name), on=on, copy=False)
        low, high = (column(end(index), "box") for end in (low_name, high_name))
        # NULL has a rank between two values or behind them, so that it needs a condition of its own.
        known = is_not_null(value.copy())
        between = exp.and_(known, column(rank_name(0), name).between(low, high))
    null_here = exp.and_(is_null(value.copy()), column(f"with_null_{index}", "box"))
    return paren(exp.or_(between, null_here))


def placed_rows(policy: BoundPolicy, placed: Placed) -> exp.Select:
    """The source's rows that have a region: class_id, and what it shows of each attribute.

    It reads "source", with its column ROW if regions are by row, and "placement".
    """
    query = exp.select().from_(relation("source"))
    same: list[exp.Expr] = []
    if placed.by_row:
        same.append(column(ROW, "source").eq(column("row", "placement")))
    else:
        for index, bound in enumerate(policy.quasi_identifiers):
            value = published_value(bound, "source")
            same.append(identical(value, column(f"value_{index}", "placement")))
    query.join(relation("placement"), on=exp.and_(*same), copy=False)
    on = column("region", "region").eq(column("region", "placement"))
    query.join(relation(placed.regions, as_="region"), on=on, copy=False)
    query.select(alias(column("class", "region"), "class_id"), copy=False)
    for index, bound in enumerate(policy.quasi_identifiers):
        label = published_value(bound, "source") if placed.exact else column(label_name(index), "region")
        query.select(alias(label, label_name(index)), copy=False)
        if placed.bounds:
            ends = [alias(column(box_name(index, end), "region"), box_name(index, end)) for end in ("low", "high")]
            query.select(*ends, copy=False)
    return query


def label_name(index: int) -> str:
    return f"label_{index}"


def box_name(index: int, end: str) -> str:
    """The column with the value at the `end` ('low' or 'high') of a region's range, NULL left out."""
    return f"{end}_value_{index}"


def low_name(index: int) -> str:
    """The column of the regions with the least rank in the attribute at this index."""
    return f"low_{index}"


def high_name(index: int) -> str:
    """The column of the regions with the greatest rank in the attribute at this index."""
    return f"high_{index}"
