"""Types of columns as they are read and published: collations, ENUM dictionaries, lists of items."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import comb

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.context import Adjustable
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Policy
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Column, Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import EngineError, PolicyError
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import is_not_null, paren
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import select
from sqlanon.sql.build.render import text_type
from sqlanon.sql.build.sql_files import query_file, reading
from sqlanon.sql.questions.ask import BoundRequirement
from sqlanon.sql.questions.load import model_names
from sqlanon.sql.release.multi_table_query import different_texts, texts_of, word_table

# Column types as they may be published.


# The type of an ENUM without its dictionary.
ENUM = "ENUM"

# Possessive quantifiers (*+) read a quote that is written twice in one way, and a list that is never closed once.
_ENUM = re.compile(r"ENUM\((?:'[^']*+(?:''[^']*+)*+'(?:,\s*+)?+)*+\)", re.IGNORECASE)


def without_enums(column_type: str) -> str:
    """Returns the type in which VARCHAR replaces every ENUM, even inside lists and structs.

    An ENUM's dictionary may list values that no released row has.
    """
    return _ENUM.sub("VARCHAR", column_type)


def column_types(policy: BoundPolicy) -> dict[str, str]:
    """Returns the types of the columns that the policy names, without the dictionaries of ENUMs."""
    attributes = (*policy.attributes, *(bound for table in policy.related for bound in table.attributes))
    return {b.column: ENUM if _ENUM.fullmatch(b.type) else b.published_type for b in attributes}


# Text has to be compared byte by byte, because a collation would equate values that differ in a release.


# DuckDB does not report a column's collation, but refuses to compare two collations. So only a column without a
# collation can be compared with both of these collations.
_PROBES = ("nocase", "noaccent")


def require_binary_text(engine: Engine, name: QualifiedName, columns: Sequence[Column], called: str) -> None:
    """Raises PolicyError if a text column has its own collation.

    Under a collation such as NOCASE, a class of 'a' and 'A' counts as one class of two rows, but a reader of the
    release without this collation sees two classes of one row.
    """
    text = [part for part, kind in columns if kind == "VARCHAR"]
    if not text:
        return
    comparisons: list[exp.Expr] = []
    for part in text:
        for collation in _PROBES:
            other = exp.Collate(this=literal("a"), expression=exp.to_identifier(collation))
            comparisons.append(column(part).eq(paren(other)))
    try:
        engine.columns(select(*comparisons, of=relation(name)))
    except EngineError:
        raise PolicyError(
            f"a text column of {called} has a collation, under which classes would look larger than they are "
            f"(one of {', '.join(text)})",
            hint="read it without: ON (SELECT decode(encode(name)) AS name, ...)",
        ) from None


# The limits for columns of few texts, pivoted items, and counted sets of items.


@dataclass(frozen=True)
class Sizes:
    """Limits: a column's texts are counted in a sample of `sample_rows` rows of the source.

    A column with at most `few_texts` different texts in the sample is sorted by means of a dictionary; for more texts,
    the dictionary would take more time than it saves. At most `max_items` items of a long table become columns. At most
    `most_itemsets` sets of items in lists are counted.
    """

    sample_rows: int = 100_000
    few_texts: int = 2_000
    max_items: int = 2_000
    most_itemsets: int = 500_000_000


sizes = Adjustable(Sizes())


# Texts of a source that are sorted as words of an ENUM of their own, with the tables and types of the words.


def words_of(engine: Engine, temp: TempTables, source: exp.Table, columns: Iterable[BoundAttribute]) -> dict[str, str]:
    """Returns, for each column of few different texts, the name of a temporary table of its texts and their words."""
    texts = [b for b in columns if b.published_type == "VARCHAR" and not b.attribute.pseudonym]
    if not texts:
        return {}
    counts = engine.rows(different_texts(texts, source.copy(), sizes().sample_rows))[0]
    few = [b for b, count in zip(texts, counts, strict=True) if int(count) <= sizes().few_texts]
    return {b.column: _word_table(engine, temp, source, b) for b in few}


def _word_table(engine: Engine, temp: TempTables, source: exp.Table, bound: BoundAttribute) -> str:
    texts = temp.table("texts", texts_of(bound, source.copy()))
    # Temporary objects are dropped in reverse order, so no table with a column of this type is left by then.
    kind = temp.name("word", "TYPE")
    known = is_not_null(column("value"))
    engine.run(text_type(kind, select(column("value"), of=relation(texts), where=[known])))
    return temp.table("words", word_table(texts, kind))


# Columns of lists whose items a requirement is about: the column, the items' type, and the cost of counting.


_LIST = "[]"
# The number of longest lists that an error names.
_LONGEST = 3


def asks_of_items(policy: Policy) -> bool:
    """Whether a policy has a requirement about the items in lists, so that a hierarchy applies to the items."""
    models = model_names("itemsets")
    return any(fold(requirement.model) in models for requirement in policy.requirements)


def is_list(column_type: str) -> bool:
    """Whether the values of a type are lists of any length."""
    return column_type.endswith(_LIST)


def item_type(column_type: str) -> str:
    """Returns the type of the items of a list type."""
    return column_type.removesuffix(_LIST)


def item_of(bound: BoundAttribute) -> BoundAttribute:
    """Returns the attribute of a list column with the type of its items, to which its hierarchy applies."""
    kind = item_type(bound.published_type)
    return replace(bound, type=kind, published_type=kind)


def sensitive_items(value: exp.Expr, column_type: str) -> exp.Expr:
    """Returns a row's list of sensitive items; a value that is not a list becomes a list of one item."""
    return value if is_list(column_type) else exp.Array(expressions=[value])


def list_column(requirement: object, columns: Sequence[Column]) -> str:
    """Returns the only column of lists among the quasi-identifiers. Raises PolicyError if there is no such column or
    more than one.
    """
    lists = [name for name, kind in columns if is_list(kind)]
    if len(lists) == 1:
        return lists[0]
    if not lists:
        raise PolicyError(
            f"{requirement} is about the items in lists, and no quasi-identifier has lists",
            hint="name a column of a LIST type, such as VARCHAR[]; texts, as those of a CSV file, are cast in a query, "
            "(SELECT items::VARCHAR[] AS items, ... FROM ...), and rows of single items are collected in one, "
            "(SELECT customer, list(item) AS items FROM ... GROUP BY customer)",
        )
    raise PolicyError(
        f"{requirement} is about the items in lists of one column, and there are {', '.join(lists)}",
        hint="collect the items in one list, ON (SELECT ..., list_concat(bought, returned) AS items ...)",
    )


def most_items(requirement: BoundRequirement) -> int:
    """Returns the largest size of the sets of items that a requirement protects."""
    most = requirement.argument(requirement.question.most_items or "")
    assert isinstance(most, int)
    return most


def require_countable(
    engine: Engine,
    lists: exp.Table | exp.Subquery,
    name: str,
    most: int,
    called: str | None = None,
    sensitive: exp.Expr | None = None,
) -> None:
    """Raises PolicyError if the lists of a column have too many sets of up to `most` items to be counted.

    `called` is the user's name of the column, if it differs. If `sensitive`, an expression for a list of sensitive
    items, is given, each set is counted once with each of these items, and once by itself.
    """
    times = literal(1) if sensitive is None else literal(1) + f.coalesce(f.length(sensitive), literal(0))
    listed = select(alias(column(name), "list"), alias(times, "times"), of=lists)
    lengths = reading(query_file("lists", "lengths"), {"listed": listed})
    by_length = [(int(length), int(number), int(counted)) for length, number, counted in engine.rows(lengths)]
    sets = sum(counted * max(comb(length, items) for items in range(1, most + 1)) for length, _, counted in by_length)
    if sets > sizes().most_itemsets:
        longest = [str(length) for length, number, _ in by_length for _ in range(number)[:_LONGEST]][:_LONGEST]
        with_values = "" if sensitive is None else ", each counted with the sensitive items beside it"
        raise PolicyError(
            f"the lists of {called or name} have {sets:,} sets of up to {most} items{with_values}, and no more than "
            f"{sizes().most_itemsets:,} are counted; the longest lists have {', '.join(longest)} items",
            hint="require less of sets, or leave out the longest lists, ON (SELECT ... WHERE len(items) <= 100)",
        )
