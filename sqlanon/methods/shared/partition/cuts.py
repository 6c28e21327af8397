"""Mondrian's cuts, for all regions at once (LeFevre et al. 2006, Mondrian Multidimensional K-Anonymity).

A region has one or more labels of points, the least and the greatest rank of its rows in each attribute, and the
attribute `dim` in which it is cut next (choose_dimension in the paper), which is NULL if the region is not cut any
further. Its median is the middle value.

One attempt cuts each open region in one attribute: `sides` puts every point below, at or above the median, `parts`
counts them, and `children` combines the parts into the two halves of the cut nearest to the median. `allowable_cuts`
checks that both halves satisfy the requirements, by the models' own texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.methods.shared.partition.points import Points, rank_of
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    and_,
    infix,
    real,
    same,
    total,
)
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, inner_join, left_join, select, subquery
from sqlanon.sql.build.sql_files import Relation, filled, filled_query, filled_select, query_file
from sqlanon.sql.build.steps import Step
from sqlanon.sql.cells.cells import key_name, rank_name
from sqlanon.sql.cells.value_ranks import RankedSummary
from sqlanon.sql.classes.rows import SqlRequirement
from sqlanon.sql.release.recode import high_name, low_name

# A point lies below the cut value, at it or above it: in part 0, 1 or 2 of its region. The label of a part is 3 times
# the region plus the part. If equal points are divided, none is at the cut value.


@dataclass(frozen=True)
class Cuts:
    """The queries that choose an attribute for each region and cut the region in it.

    For each attribute, `ranked` has the table of its ranked values, `domains` the distance from the first to the last
    position (1 for a single position), `weights` its weight in the policy, and `plain` whether its positions equal its
    ranks up to an offset. `counts` has the number of its values if they have no distance and are counted, else None,
    and `summaries` the summary of the ranked values. With fewer than `least` rows, a half violates a requirement.
    `fixed_relations` are the normal relations that are the same for all regions. With `ancestors`, a table of
    `value_ranks.ancestors`, cuts fall between the children of a node of the hierarchy; `heights` are the heights of the
    hierarchies.
    """

    ranked: Sequence[str]
    domains: Sequence[float]
    counts: Sequence[int | None]
    weights: Sequence[float]
    plain: Sequence[bool]
    points: Points
    requirements: Sequence[SqlRequirement]
    fixed_relations: Sequence[Step]
    least: int
    summaries: Sequence[RankedSummary] = ()
    heights: Sequence[int] = ()
    ancestors: str | None = None

    @property
    def attributes(self) -> range:
        return range(len(self.ranked))

    def _spans(self, *, of_points: bool) -> list[exp.Expr]:
        """Returns the SQL of the least and the greatest rank of a group in each attribute.

        They are computed from points if `of_points`, otherwise from the spans of parts.
        """
        spans: list[exp.Expr] = []
        for index in self.attributes:
            for name, function in ((low_name(index), exp.Min), (high_name(index), exp.Max)):
                end = self.points.span(index, function) if of_points else function(this=column(name))
                spans.append(alias(end, name))
        return spans

    def _rows(self) -> exp.Expr:
        """Returns the SQL of the number of source rows that the points of a group represent."""
        return f.count() if self.points.single else total(self.points.n())

    def _bounds(self) -> list[str]:
        return [name(index) for index in self.attributes for name in (low_name, high_name)]

    def root(self, points: str) -> exp.Query:
        """SELECT of the region of all points: region, labels, rows, tried, and its spans; it returns no row if there
        are no points.
        """
        text = """
            SELECT CAST(0 AS BIGINT) AS region, [CAST(0 AS INTEGER)] AS labels, $rows AS rows,
              CAST(0 AS BIGINT) AS tried, $spans
            FROM points
            HAVING count(*) > 0
        """
        return filled_query(text, tables={"points": points}, rows=self._rows(), spans=self._spans(of_points=True))

    def with_widths(self, regions: Relation) -> exp.Select:
        """SELECT of the regions with a width_i for each attribute, which is NULL if the region cannot be cut in it or
        has been tried.
        """
        query = filled_select("SELECT region.* FROM region", tables={"region": regions})
        text = """
            CASE WHEN region.rows >= $least AND {region.high} > {region.low} AND (region.tried & $bit) = 0
            THEN $width END AS "{width}"
        """
        for index in self.attributes:
            low, high = low_name(index), high_name(index)
            width = self.share(query, index, column(low, "region"), column(high, "region"))
            names = {"low": low, "high": high, "width": f"width_{index}"}
            extend(query, filled(text, names=names, least=2 * self.least, bit=1 << index, width=width))
        return query

    def share(
        self, query: exp.Select, index: int, low: exp.Expr, high: exp.Expr, condition: exp.Expr | None = None
    ) -> exp.Expr:
        """The weighted share of an attribute's domain from the rank `low` to the rank `high`.

        For values with a distance, it is the distance between the two ranks divided by the length of the whole domain,
        otherwise the number of values between them divided by the number of all values. If ranks do not give the
        distance, the positions are joined to the query, on `condition` if given.
        """
        count = self.counts[index]
        names = {"first": f"first_{index}", "last": f"last_{index}"}
        if count is not None:
            span = filled("CAST((($high - $low) + 1) AS DOUBLE)", low=low, high=high)
        elif self.plain[index]:
            span = filled("CAST(($high - $low) AS DOUBLE)", low=low, high=high)
        else:
            join = left_join if condition else inner_join
            for name, bound in ((names["first"], low), (names["last"], high)):
                on = and_(condition, infix(column(rank_name(0), name), "=", bound))
                extend(query, joins=[join(relation(self.ranked[index], as_=name), on)])
            span = filled('("{last}".position - "{first}".position)', names=names)
        whole = self.domains[index] if count is None else float(count)
        return filled("$weight * ($span / $whole)", weight=real(self.weights[index]), span=span, whole=real(whole))

    def widest(self, regions: exp.Query) -> exp.Query:
        """SELECT of the regions with `dim`, the attribute in which each region is widest (and `level` for cuts by a
        tree).
        """
        names = {"columns": self.region_columns(), "widths": [f"width_{index}" for index in self.attributes]}
        tables = {"region": self.with_widths(regions)}
        turn = query_file("partition", "widest", tables=tables, names=names, attributes=[*self.attributes])
        return self.with_level(turn)

    def region_columns(self) -> list[str]:
        """Returns the names of a region's columns, except `dim`, the attribute in which it is cut next."""
        return ["region", "labels", "rows", "tried", *self._bounds()]

    def attempts(self, regions: str) -> exp.Query:
        """SELECT of a row for each label of the regions that are cut, with the attribute's bits in the key (and
        `level`).
        """
        text = """
            SELECT unnest(turn.labels) AS label, turn.region, $field, {turn.tree}
            FROM regions AS turn
            WHERE turn.dim IS NOT NULL
        """
        tree = [] if self.ancestors is None else ["dim", "level"]
        return filled_query(text, tables={"regions": regions}, names={"tree": tree}, field=self.field_of("turn"))

    def field_of(self, of: str) -> list[exp.Expr]:
        """Returns the SQL of the bits in a key that have the attribute to cut: shift and mask, and the word if keys
        have several.
        """
        fields = [self.points.field(index) for index in self.attributes]
        parts = {"shift": [field.shift for field in fields], "mask": [(1 << field.bits) - 1 for field in fields]}
        if self.points.layout.words > 1:
            parts["word"] = [field.word for field in fields]
        # DuckDB binds a list faster than as many comparisons.
        text = """list_extract([CAST($numbers AS BIGINT)], $dim + 1) AS "{part}" """
        dim = column("dim", of)
        return [filled(text, names={"part": name}, numbers=numbers, dim=dim) for name, numbers in parts.items()]

    def value_of(self, query: exp.Select) -> exp.Expr:
        """Returns the SQL of a point's rank in the attribute to cut, or, if cuts respect the tree, the first rank of
        its ancestor.
        """
        if self.ancestors is None:
            return self.rank_of_cut()
        return self.respecting(query, column("dim", "attempt"), column("level", "attempt"), self.rank_of_cut())

    def rank_of_cut(self) -> exp.Expr:
        """Returns the SQL of a point's rank in the attribute in which its region is cut."""
        keys = [key_name(word) for word in range(self.points.layout.words)]
        text = "CASE WHEN attempt.word = $words THEN {point.keys} END" if len(keys) > 1 else "point.key_0"
        key = filled(text, names={"keys": keys}, words=[*range(len(keys))])
        return filled("CAST((($key >> attempt.shift) & attempt.mask) AS INTEGER)", key=key)

    def respecting(self, query: exp.Select, dim: exp.Expr, level: exp.Expr, rank: exp.Expr) -> exp.Expr:
        """Returns the SQL of the first rank below a point's ancestor at a level; the rank itself at level 0.

        Joins the table of ancestors to the query.
        """
        assert self.ancestors is not None
        text = "ancestor.dim = $dim AND ancestor.level = $level AND ancestor.rank = $rank"
        on = filled(text, dim=dim, level=level, rank=rank)
        extend(query, joins=[left_join(relation(self.ancestors, as_="ancestor"), on)])
        return filled("coalesce(ancestor.first, $rank)", rank=rank)

    def with_level(self, turn: exp.Query, index: int | None = None) -> exp.Query:
        """SELECT of the regions of `turn`, with the level of the hierarchy that their next cut respects.

        The cut is in the attribute at `index`, or else in `dim`. The regions are unchanged if cuts may fall anywhere.
        """
        if self.ancestors is None:
            return turn
        dim: exp.Expr = column("dim", "turn") if index is None else literal(index)
        low, high = ([name(each) for each in self.attributes] for name in (low_name, high_name))
        if index is not None:
            low, high = [low_name(index)], [high_name(index)]
        text = "CASE WHEN $dim = $attributes THEN {turn.ends} END" if index is None else "{turn.ends}"
        attributes = [*self.attributes]
        ends = [filled(text, names={"ends": end}, dim=dim, attributes=attributes) for end in (low, high)]
        return query_file(
            "partition",
            "with_level",
            tables={"turn": turn, "ancestors": self.ancestors},
            dim=dim,
            low=ends[0],
            high=ends[1],
            attributes=attributes,
            heights=self.heights,
        )

    def points_of(self, points: str, regions: str) -> tuple[exp.Select, exp.Expr]:
        """Returns the query of the points of the regions that are cut, joined to their attempt, and the expression of
        the value by which they are cut.
        """
        query = select(
            of=relation(points, as_="point"),
            joins=[inner_join(subquery(self.attempts(regions), "attempt"), same("label", "point", "attempt"))],
        )
        return query, self.value_of(query)

    def medians(self, points: str, regions: str) -> exp.Query:
        """SELECT of region, median for the regions to cut: the first value at which half of the region's rows are
        reached.
        """
        query, value = self.points_of(points, regions)
        region = column("region", "attempt")
        if self.points.single:
            median = filled("quantile_disc($value, 0.5) AS median", value=value)
            return extend(query, region, median, group_by=[region])
        counted = extend(query, region, alias(value, "value"), alias(total(column("n", "point")), "n"))
        extend(counted, group_by=[region, value])
        return query_file("partition", "medians", tables={"counted": counted})

    def sides(self, points: str, regions: str, medians: str) -> exp.Select:
        """SELECT of the points of the regions to cut, for the next round.

        The label is 3 times the region, plus the point's part: 0 below the median, 1 at it, 2 above it. `medians` is a
        table of regions with their medians.
        """
        query, value = self.points_of(points, regions)
        extend(query, joins=[inner_join(relation(medians, as_="middle"), same("region", "attempt", "middle"))])
        return extend(query, *self._labelled(filled("sign($value - middle.median) + 1", value=value)))

    def _labelled(self, part: exp.Expr) -> list[exp.Expr]:
        label = filled("CAST((attempt.region * 3) + $part AS INTEGER) AS label", part=part)
        return [label, *(column(name, "point") for name in self.points.stored)]

    def even_sides(self, points: str, regions: str) -> exp.Select:
        """SELECT of the points of the next round if equal points may be divided: half of a region's rows are below."""
        query, value = self.points_of(points, regions)
        text = """
            CASE WHEN row_number() OVER (PARTITION BY attempt.region ORDER BY $keys ASC NULLS LAST)
              <= count(*) OVER (PARTITION BY attempt.region) // 2 THEN 0 ELSE 2 END
        """
        ranks = [self.points.rank(index, "point") for index in self.attributes]
        part = filled(text, keys=[value, *ranks, column("draw", "point")])
        return extend(query, *self._labelled(part))

    def parts(self, points: str) -> exp.Query:
        """SELECT of label, rows and spans: for each label the number of rows of its points, and their least and
        greatest ranks.
        """
        text = "SELECT label, $rows AS rows, $spans FROM points GROUP BY label"
        return filled_query(text, tables={"points": points}, rows=self._rows(), spans=self._spans(of_points=True))

    def children(self, parts: str, *, forced: bool) -> exp.Query:
        """SELECT of region, side, labels, rows and spans of the halves; see sql/partition/children.sql.

        Points at the cut value go to the half that makes the two differ least in rows, of two such cuts the one with
        the smaller lower half; if `forced`, always to the lower half.
        """
        to_lower = "SELECT *, 2 AS first_upper FROM parts"
        to_nearest = """
            SELECT part.*, nearest.first_upper
            FROM parts AS part
            JOIN nearest ON CAST(part.label // 3 AS BIGINT) = nearest.region
        """
        tables: dict[str, Relation] = {
            "parts": parts,
            "nearest": query_file("partition", "nearest", tables={"parts": parts}),
        }
        part = filled_query(to_lower if forced else to_nearest, tables=tables)
        return query_file("partition", "children", tables={"part": part}, spans=self._spans(of_points=False))

    def next_regions(self, regions: str, children: str, failing: str) -> exp.Query:
        """SELECT of the regions after an attempt: both halves of the regions that were cut, and the other regions with
        the attribute marked as tried.
        """
        tables = {"regions": regions, "children": children, "failing": failing}
        return query_file("partition", "next_regions", tables=tables, names={"bounds": self._bounds()})

    def no_regions(self) -> exp.Query:
        """SELECT of the columns of `done`, the finished regions, that returns no rows."""
        text = """
            SELECT CAST(0 AS BIGINT) AS region, CAST(0 AS BIGINT) AS rows, CAST(0 AS INTEGER) AS "{bounds}" WHERE FALSE
        """
        return filled_query(text, names={"bounds": self._bounds()})

    def no_points(self, points: str) -> exp.Query:
        """SELECT of the columns of `done_points`, the points of finished regions, that returns no rows."""
        text = "SELECT CAST(0 AS BIGINT) AS region, $placed FROM points AS point WHERE FALSE"
        return filled_query(text, tables={"points": points}, placed=self.placed())

    def placed(self) -> list[exp.Expr]:
        """Returns the columns of a point in a finished region: its ranks, its carried columns, and the number of its
        row.
        """
        row = [column("row", "point")] if self.points.row else []
        return [*self.ranks("point"), *self.points.carried("point"), *row]

    def ranks(self, of: str | None = None) -> list[exp.Expr]:
        """The ranks of a point, under their names."""
        return [alias(self.points.rank(index, of), rank_of(index)) for index in self.attributes]

    def done(self, regions: str, first: exp.Expr) -> exp.Query:
        """SELECT of the regions that are no longer cut: region, counted from `first`, rows and spans.

        Spans are the least and the greatest rank of the region in each attribute.
        """
        text = "SELECT region + $first AS region, rows, {bounds} FROM regions WHERE dim IS NULL"
        return filled_query(text, tables={"regions": regions}, names={"bounds": self._bounds()}, first=first)

    def done_points(self, points: str, regions: str, first: exp.Expr) -> exp.Query:
        """SELECT of the points in the regions `done`: region, ranks, carried columns, n and row number."""
        tables = {"points": points, "regions": regions}
        return query_file("partition", "done_points", tables=tables, placed=self.placed(), first=first)
