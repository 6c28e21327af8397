"""The tables of a release joined bucket by bucket: the most tuples there can be, and which buckets each matches."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from sqlglot import exp

from sqlanon.release.existing.membership import Column, Matching, attribute_name, link_name
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import cast, filtered, identical, infix, not_, real, union_all
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.steps import with_steps

_BUCKET = "bucket"


def _column_name(index: int) -> str:
    return f"column_{index}"


class JoinedTuples:
    """The queries over the distinct values of each column of a matching, which stand in tables.

    `values` are the names of these tables, in the order of the columns, and `buckets` that of the table of buckets,
    None where all rows are in one bucket.
    """

    def __init__(self, matching: Matching, values: Sequence[str], buckets: str | None) -> None:
        self._matching, self._values, self._buckets = matching, values, buckets

    def most(self) -> exp.Select:
        """At most so many tuples match a bucket, each counted in all its buckets: the products of distinct values.

        It is a DOUBLE, since products of many columns are beyond all integers.
        """
        counts: list[exp.Table | exp.Subquery] = []
        for index, part in enumerate(self._matching.columns):
            counted = exp.select(alias(cast(f.count(), "DOUBLE"), "n")).from_(relation(self._values[index]))
            if part.link is not None:
                link = column(link_name(part.link))
                counted = counted.select(link).group_by(link.copy())
            counts.append(counted.subquery(_column_name(index)))
        numbers: list[exp.Expr] = [column("n", _column_name(index)) for index in range(len(counts))]
        product = reduce(lambda first, second: exp.Mul(this=first, expression=second), numbers)
        query = exp.select(alias(f.coalesce(f.sum(product), 0), "most"))
        return self._joined(query, counts, overlaps=False)

    @property
    def is_product(self) -> bool:
        """Whether all tuples of values match: all rows are in one bucket, and no attribute is in several columns."""
        attributes = [attribute for part in self._matching.columns for attribute in part.attributes]
        return self._buckets is None and len(attributes) == len({*attributes})

    def of_one_bucket(self, source: exp.Table | exp.Subquery, most: float) -> exp.Select:
        """The same as `matched` of a product, of which only the source's tuples are looked up; it has `most` tuples."""
        original = exp.select(alias(cast(f.count(), "DOUBLE"), "n"))
        original.from_(self._of_source(source).distinct().subquery("source"), copy=False)
        for index, part in enumerate(self._matching.columns):
            name = _column_name(index)
            equal = [
                identical(column(attribute, "source"), column(attribute, name))
                for attribute in map(attribute_name, part.attributes)
            ]
            original.join(relation(self._values[index], as_=name), on=exp.and_(*equal), copy=False)
        kinds = [(exp.true(), column("n")), (exp.false(), infix(real(most), "-", column("n")))]
        counted = [
            exp.select(alias(kind, "is_original"), alias(literal(1), "buckets"), alias(n, "n")).from_(
                relation("original")
            )
            for kind, n in kinds
        ]
        either = exp.select(exp.Star()).from_(union_all(counted).subquery("either"), copy=False)
        return with_steps(either, [("original", original)])

    def matched(self, source: exp.Table | exp.Subquery) -> exp.Select:
        """is_original, buckets, n: so many tuples, which the source has or not, match so many buckets.

        NULL is a value like others, for tuples are grouped, not compared.
        """
        names = [attribute_name(index) for index in range(len(self._matching.attributes))]
        tables = [relation(name, as_=_column_name(index)) for index, name in enumerate(self._values)]
        joined = self._joined(exp.select(*self._attributes(), alias(exp.true(), "matches")), tables)
        original = self._of_source(source).select(alias(exp.false(), "matches"))
        kind = alias(f.bool_or(not_(column("matches"))), "is_original")
        buckets = filtered(f.count(), column("matches"))
        tuples = exp.select(kind, alias(buckets, "buckets")).from_(union_all([joined, original]).subquery("either"))
        tuples = tuples.group_by(*map(column, names)).having(buckets.copy() > 0)
        keys = [column("is_original"), column("buckets")]
        counted = exp.select(*keys, alias(cast(f.count(), "DOUBLE"), "n")).from_(tuples.subquery("matched"))
        return counted.group_by(*(key.copy() for key in keys))

    def _of_source(self, source: exp.Table | exp.Subquery) -> exp.Select:
        """The attributes of the source's rows."""
        attributes = enumerate(self._matching.attributes)
        return exp.select(*(alias(column(name), attribute_name(index)) for index, name in attributes)).from_(source)

    def _attributes(self) -> list[exp.Expr]:
        """Each attribute once, from the first column that has it."""
        first = self._first_columns()
        return [
            alias(column(attribute_name(index), _column_name(first[index])), attribute_name(index))
            for index in range(len(self._matching.attributes))
        ]

    def _first_columns(self) -> dict[int, int]:
        first: dict[int, int] = {}
        for index, part in enumerate(self._matching.columns):
            for attribute in part.attributes:
                first.setdefault(attribute, index)
        return first

    def _joined(
        self, query: exp.Select, tables: Sequence[exp.Table | exp.Subquery], *, overlaps: bool = True
    ) -> exp.Select:
        """The query over the tables of all columns, joined in each bucket and, with `overlaps`, on what they share."""
        first = self._first_columns()
        if self._buckets is not None:
            query = query.from_(relation(self._buckets, as_=_BUCKET))
        for index, (part, table) in enumerate(zip(self._matching.columns, tables, strict=True)):
            conditions = self._in_bucket(part, index)
            if overlaps:
                conditions += [
                    identical(column(name, _column_name(first[attribute])), column(name, _column_name(index)))
                    for attribute in part.attributes
                    if first[attribute] != index and (name := attribute_name(attribute))
                ]
            if index == 0 and self._buckets is None:
                query = query.from_(table)
            elif conditions:
                query = query.join(table, on=exp.and_(*conditions))
            else:
                query = query.join(table, join_type="CROSS")
        return query

    def _in_bucket(self, part: Column, index: int) -> list[exp.Expr]:
        if part.link is None:
            return []
        return [column(link_name(part.link), _BUCKET).eq(column(link_name(part.link), _column_name(index)))]
