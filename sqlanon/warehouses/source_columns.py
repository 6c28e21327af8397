"""The columns of the source as they are in the warehouse: some are asked for before their values are read."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.values import QualifiedName
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import row_alias
from sqlanon.sqlgen.build.names import alias, column, identifier, literal, relation

__all__ = ["SOURCE_COLUMN", "requirements_of_texts", "source_columns"]

SOURCE_COLUMN = "source_column"
_TEXT = "VARCHAR"
# What PostgreSQL calls its types of texts; one of an extension or a domain may compare in another way.
_POSTGRES_TEXTS = ("text", "character varying", "character")
_SPARK_TEXTS = ("string", "varchar", "char")


def source_columns(source: QualifiedName, needed: Sequence[BoundAttribute]) -> exp.Select:
    """For PostgreSQL: the name of each column that is needed, and whether it fits.

    It has to be there, for the name of a column that is not may be that of a function of whole rows; and a text has to
    be one there, for equal values of another type may be several texts, such as the numbers 1 and 1.0.
    """
    rows = [exp.Tuple(expressions=[literal(b.column), literal(b.published_type == _TEXT)]) for b in needed]
    expected = exp.Values(expressions=rows, alias=row_alias("expected", ["name", "is_text"]))
    name = ".".join(identifier(part).sql(dialect="postgres") for part in source.parts)
    kind = f.call("FORMAT_TYPE", column("atttypid", "known"), exp.Null())
    known = exp.select(f.count()).from_(relation(("pg_catalog", "pg_attribute"), as_="known"))
    known.where(
        column("attrelid", "known").eq(f.call("TO_REGCLASS", literal(name))),
        column("attname", "known").eq(column("name", "expected")),
        column("attnum", "known") > literal(0),
        exp.not_(column("attisdropped", "known")),
        exp.or_(exp.not_(column("is_text", "expected")), kind.isin(*map(literal, _POSTGRES_TEXTS))),
        copy=False,
    )
    fits = known.subquery().eq(literal(1))
    return exp.select(column("name", "expected"), alias(fits, "fits")).from_(expected)


def requirements_of_texts(source: exp.Table, names: Sequence[str]) -> exp.Select | None:
    """For Spark: a query that ends with an error where a column, which is a text in the release, is none there.

    None without such columns. That columns are there Spark sees by itself.
    """
    if not names:
        return None
    checks = []
    for name in names:
        kind = f.call("TYPEOF", column(name, "original"))
        is_text = exp.or_(
            *(exp.Left(this=kind.copy(), expression=literal(len(t))).eq(literal(t)) for t in _SPARK_TEXTS)
        )
        checks.append(f.call("ASSERT_TRUE", is_text, literal("a column that is a text in the release is none there")))
    return exp.select(*checks).from_(source).limit(1)
