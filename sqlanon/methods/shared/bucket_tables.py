"""The tables of buckets: the rows with the numbers of their buckets, and the sensitive values of each bucket.

Xiao and Tao, Anatomy: simple and effective privacy preservation (2006), definition 3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Role
from sqlanon.domain.release import Reading
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import PolicyError
from sqlanon.sources.target_names import fragment_name, require_free
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import ascending, same
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.build.queries import extend, inner_join, select, subquery
from sqlanon.sql.build.sql_files import filled_query
from sqlanon.sql.cells.labels import passed
from sqlanon.sql.classes.buckets import BUCKET, COUNT, VALUE
from sqlanon.sql.release.multi_table_query import PublishedColumn, PublishedTable

# The names of the tables.
QUASI_IDENTIFIERS = "qi"
_SENSITIVE = "sensitive"
# The readings of the columns of the rows' table, and of a table of sensitive values.
BUCKET_TABLES = ((Reading.EXACT, Reading.BUCKET), (Reading.BUCKET, Reading.BUCKET_VALUE, Reading.COUNT))

# The classes of a release are its buckets.
BUCKETS = PublishedColumn(BUCKET, Role.QUASI_IDENTIFIER, Reading.BUCKET)


def code_name(index: int) -> str:
    """The name of the column that holds the codes of this sensitive attribute."""
    return f"code_{index}"


def carried(policy: BoundPolicy) -> tuple[BoundAttribute, ...]:
    """The published columns that no bucket mixes; rows keep them when they are assigned to buckets."""
    return tuple(bound for bound in policy.published if not bound.attribute.has(Role.SENSITIVE))


def carried_name(index: int) -> str:
    """The name of the column that holds the values of the carried column at this index in `carried`."""
    return f"column_{index}"


def sensitive_names(sensitive: Sequence[str]) -> dict[str, str]:
    """Maps each sensitive column to its table's suffix: `sensitive` if it is the only one, otherwise the column's
    name.
    """
    return {sensitive[0]: _SENSITIVE} if len(sensitive) == 1 else {name: name for name in sensitive}


def rows_table(
    policy: BoundPolicy,
    rows_in_buckets: str,
    tokens: Mapping[str, str],
    words: Sequence[str] | None,
    respondent: str | None = None,
) -> PublishedTable:
    """The table of the unchanged rows with their buckets, without the sensitive attributes.

    Rows are sorted by bucket, whose numbers are random, and are in random order within it. `rows_in_buckets` is a table
    of bucket and `carried_name` of each column; the columns `words` are dictionary-encoded in it. If `respondent` is
    given, that table also has a column of this name, which only checks and shifts of dates use.
    """
    bounds = carried(policy)
    entity = replace(policy.entity, column=respondent) if policy.entity and respondent is not None else None
    carried_columns = [alias(column(carried_name(index)), bound.column) for index, bound in enumerate(bounds)]
    others = [] if respondent is None else [respondent]
    rows = select(*carried_columns, alias(column("bucket"), BUCKET), *map(column, others), of=relation(rows_in_buckets))
    query = select(of=subquery(rows, "source"))
    for index, bound in enumerate(bounds):
        value = passed(query, bound, index, tokens, entity)
        extend(query, alias(value, bound.column))
    extend(query, *(alias(column(name, "source"), name) for name in (BUCKET, *others)))
    # Only the bucket identifies the class of a row; the quasi-identifiers are values like others.
    identifying = (Role.IDENTIFIER, Role.ENTITY)
    roles = [b.role if b.role in identifying else Role.INSENSITIVE for b in bounds]
    columns = [
        PublishedColumn(b.column, role, Reading.TOKEN if b.attribute.pseudonym else Reading.EXACT, b)
        for b, role in zip(bounds, roles, strict=True)
    ]
    columns.append(BUCKETS)
    return PublishedTable(
        QUASI_IDENTIFIERS, tuple(columns), query, by=BUCKET, words=None if words is None else tuple(words)
    )


def values_table(bound: BoundAttribute, name: str, counts: exp.Query, codes: str, *, ordered: bool) -> PublishedTable:
    """Returns the table of an attribute's values by bucket, with their numbers of rows.

    `counts` has bucket, code and n, and `codes` is a table of value and code. If `ordered`, rows are sorted by bucket
    and value, otherwise in random order.
    """
    query = select(
        alias(column("bucket", "counted"), BUCKET),
        alias(column("value", "coded"), VALUE),
        alias(column("n", "counted"), COUNT),
        of=subquery(counts, "counted"),
    )
    extend(query, joins=[inner_join(relation(codes, as_="coded"), same("code", "counted", "coded"))])
    if ordered:
        extend(query, order_by=[ascending(column("bucket", "counted")), ascending(column("code", "counted"))])
    value = PublishedColumn(VALUE, Role.SENSITIVE, Reading.BUCKET_VALUE, bound)
    columns = (BUCKETS, value, PublishedColumn(COUNT, Role.INSENSITIVE, Reading.COUNT))
    return PublishedTable(name, columns, query, ordered)


def bucket_names(policy: BoundPolicy, others: Sequence[str] = ()) -> list[str]:
    """The suffixes of table names in a release with buckets; `others` are suffixes that the method adds."""
    return [QUASI_IDENTIFIERS, *sensitive_names([b.column for b in policy.sensitive]).values(), *others]


def require_names(
    engine: Engine, method: str, policy: BoundPolicy, release: QualifiedName, fragments: Sequence[str], *, free: bool
) -> None:
    """Raises PolicyError for columns or tables of buckets with equal names.

    `fragments` are the suffixes of the tables' names. If `free`, no table may exist; raises UserError if one does.
    """
    if any(fold(bound.column) == BUCKET for bound in policy.published):
        raise PolicyError(
            f"{method} adds a column {BUCKET}, and {policy.policy} has one of that name already",
            hint="rename it in a query, ON (SELECT bucket AS pail, ...)",
        )
    names = [fragment_name(release, fragment) for fragment in fragments]
    if twice := [name for index, name in enumerate(names) if fold(name.name) in [fold(n.name) for n in names[:index]]]:
        raise PolicyError(
            f"two tables of the release {release} would be called {twice[0].name}",
            hint="rename the column in a query, ON (SELECT ...)",
        )
    if free:
        require_free(engine, release, fragments)


# Numbers in the order of random numbers, on an engine whose tables have no order.
#
# Rows whose random numbers begin alike are numbered together, and a small table counts the rows before them. So no step
# has all rows in one part or depends on the part that has a row. The random numbers are stored.


# A random number is a text of hexadecimal digits: there are 4096 beginnings.
_DIGITS = 3


def numbered(temp: TempTables, drawn: str, columns: Sequence[str], name: str) -> exp.Query:
    """SELECT of the columns `columns` and the number of each row, from 1 in the order of the random numbers in `draw`.

    `name` names the number's column. With `temp`, it makes small tables of the random numbers' first digits.
    """
    alike = temp.table("draws_alike", draws_alike(drawn, "draw"))
    return _numbers(drawn, temp.table("numbers_before", numbers_before(alike)), columns, name)


def draws_alike(drawn: str, draw: str) -> exp.Query:
    """SELECT of beginning, n: the number of random numbers in the column `draw` with each beginning."""
    text = "SELECT $beginning AS beginning, count(*) AS n FROM drawn GROUP BY $beginning"
    return filled_query(text, tables={"drawn": drawn}, beginning=beginning(column(draw)))


def numbers_before(alike: str, of: Sequence[str] = ()) -> exp.Query:
    """SELECT of the columns `of`, beginning, before: the number of random numbers before the numbers with this
    beginning.
    """
    text = """
        SELECT {columns}, beginning, CAST(sum(n) OVER (PARTITION BY {columns} ORDER BY beginning ASC NULLS LAST
          ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS BIGINT) - n AS before
        FROM alike
    """
    return filled_query(text, tables={"alike": alike}, names={"columns": of})


def _numbers(drawn: str, before: str, columns: Sequence[str], name: str) -> exp.Query:
    text = """
        SELECT {drawn.columns}, part.before + drawn.number AS "{name}"
        FROM (
          SELECT {columns}, beginning,
            CAST(row_number() OVER (PARTITION BY beginning ORDER BY draw ASC NULLS LAST) AS BIGINT) AS number
          FROM (SELECT {columns}, draw, $beginning AS beginning FROM drawn_rows) AS begun
        ) AS drawn
        JOIN before AS part ON drawn.beginning = part.beginning
    """
    tables, names = {"drawn_rows": drawn, "before": before}, {"columns": columns, "name": name}
    return filled_query(text, tables=tables, names=names, beginning=beginning(column("draw")))


def beginning(draw: exp.Expr) -> exp.Expr:
    """Returns the first three hexadecimal digits of a random number."""
    return f.left(draw, _DIGITS)
