"""What the warehouses differ in, as far as a script has to say it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.domain.identifiers import nearest
from sqlanon.errors import UserError
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text, cast
from sqlanon.sql.build.names import identifier

_DECIMAL = re.compile(r"DECIMAL\(\d+,\s*(\d+)\)")


@dataclass(frozen=True)
class Dialect:
    """A warehouse by the name that sqlglot has for its SQL; `title` is what people call it.

    - `by_bytes` is a text that is compared by its bytes, whatever the collation of its column is. `by_default` gives
      it the collation of new columns again, None where it never lost it.
    - `collates`: a database may compare the texts of new columns otherwise than by their bytes.
    - `draw` is a random number or text for each row, by which published rows are ordered; None where tables have no
      order.
    - `deal` is a text for each row that nobody can compute, by which rows are dealt out to buckets, and the published
      ones are ordered then; None where numbers that are drawn follow from a few bits, or where tables have no order.
    - `analyzes`: joins of new tables are planned by guesses, and may compare all pairs, until their rows are sampled.
    - `is_staged`: there are no temporary tables, so that steps are tables of a schema that nobody else reads.
    - `replaces`: CREATE OR REPLACE takes away what a run before has left.
    - `has_identical`: IS NOT DISTINCT FROM is known, and joins by it are as quick as by equality.
    - `has_infinite`: a date and a moment may be infinite.
    - `escaped`: characters that no text in a script holds, because it depends on settings, or nobody says, how they are
      read: they are named by their numbers.
    - `folds_names`: names in lower case that are not quoted mean those in upper case.
    - `substitutes`: a text that begins with ${ may be replaced before the script is read.
    - `has_search_path`: functions and operators are looked up in schemas of others' unless those are left out; then
      tables need a schema.
    - `typed` is a value cast to a type of DuckDB's.
    - `longest_name`: how many bytes a name has at the most; None where a longer one is an error.
    """

    name: str
    title: str
    by_bytes: Callable[[exp.Expr], exp.Expr]
    by_default: Callable[[exp.Expr], exp.Expr] | None = None
    draw: Callable[[], exp.Expr] | None = None
    deal: Callable[[], exp.Expr] | None = None
    collates: bool = True
    analyzes: bool = False
    is_staged: bool = False
    replaces: bool = False
    has_identical: bool = True
    has_infinite: bool = False
    escaped: re.Pattern[str] | None = None
    folds_names: bool = False
    substitutes: bool = False
    has_search_path: bool = False
    longest_name: int | None = None
    typed: Callable[[exp.Expr, str], exp.Expr] = cast


def _collate(value: exp.Expr, collation: str) -> exp.Expr:
    return exp.Collate(this=value, expression=identifier(collation))


def _postgres_bytes(value: exp.Expr) -> exp.Expr:
    return _collate(as_text(value), "C")


def _spark_bytes(value: exp.Expr) -> exp.Expr:
    return exp.Collate(this=as_text(value), expression=exp.var("UTF8_BINARY"))


def _redshift_bytes(value: exp.Expr) -> exp.Expr:
    """Without blanks at the end, which its comparisons do not look at: two texts would be one value and seem two."""
    return f.call("COLLATE", f.call("RTRIM", as_text(value)), "case_sensitive")


def _uncollated(value: exp.Expr) -> exp.Expr:
    return f.call("COLLATE", as_text(value), "")


def _rounded(value: exp.Expr, kind: str) -> exp.Expr:
    """Cast, and with the digits of a DECIMAL behind the point: a cast of BigQuery's takes none."""
    decimal = _DECIMAL.fullmatch(kind)
    return f.call("ROUND", cast(value, kind), int(decimal[1])) if decimal else cast(value, kind)


def _call(name: str, *arguments: str) -> Callable[[], exp.Expr]:
    return lambda: f.call(name, *arguments)


DIALECTS: Mapping[str, Dialect] = {
    dialect.name: dialect
    for dialect in (
        Dialect(
            "postgres",
            "PostgreSQL",
            _postgres_bytes,
            by_default=lambda value: _collate(value, "default"),
            draw=_call("GEN_RANDOM_UUID"),
            deal=_call("GEN_RANDOM_UUID"),
            collates=False,
            analyzes=True,
            has_identical=False,
            has_infinite=True,
            escaped=re.compile(r"(\\)"),
            has_search_path=True,
            longest_name=63,
        ),
        Dialect(
            "redshift",
            "Amazon Redshift",
            _redshift_bytes,
            draw=_call("RANDOM"),
            has_identical=False,
            escaped=re.compile(r"(['\\\x00-\x1f\x7f])"),
            longest_name=127,
        ),
        Dialect(
            "snowflake",
            "Snowflake",
            _uncollated,
            draw=_call("UUID_STRING"),
            deal=_call("UUID_STRING"),
            replaces=True,
            folds_names=True,
        ),
        Dialect("bigquery", "BigQuery", _uncollated, replaces=True, typed=_rounded),
        Dialect(
            "spark",
            "Spark SQL",
            _spark_bytes,
            by_default=as_text,
            draw=_call("UUID"),
            # The session's own draws follow from 48 bits; these are 122 of java.security.SecureRandom.
            deal=_call("REFLECT", "java.util.UUID", "randomUUID"),
            is_staged=True,
            substitutes=True,
        ),
    )
}


def dialect_named(name: str) -> Dialect:
    """The dialect of this name. Raises UserError, with the names there are, for another."""
    if name in DIALECTS:
        return DIALECTS[name]
    raise UserError(
        f"there is no dialect {name}", hint=nearest(name, list(DIALECTS)) or f"there are: {', '.join(DIALECTS)}"
    )
