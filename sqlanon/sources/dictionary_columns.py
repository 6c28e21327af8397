"""Which texts of a source are sorted as words of a type of their own, and the tables and types of these."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.sources.sizes import sizes
from sqlanon.sql.build.ddl import text_type
from sqlanon.sql.build.expressions import is_not_null
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.release.dictionary_encoding import different_texts, texts_of, word_table


def words_of(engine: Engine, scratch: Scratch, source: exp.Table, columns: Iterable[BoundAttribute]) -> dict[str, str]:
    """For each of the columns that has few different texts, a temporary table of its texts and their words."""
    texts = [b for b in columns if b.published_type == "VARCHAR" and not b.attribute.pseudonym]
    if not texts:
        return {}
    counts = engine.rows(different_texts(texts, source.copy(), sizes().sample_rows))[0]
    few = [b for b, count in zip(texts, counts, strict=True) if int(count) <= sizes().few_texts]
    return {b.column: _word_table(engine, scratch, source, b) for b in few}


def _word_table(engine: Engine, scratch: Scratch, source: exp.Table, bound: BoundAttribute) -> str:
    texts = scratch.table("texts", texts_of(bound, source.copy()))
    # What is made later is dropped before: nothing is left then that has a column of this type.
    kind = scratch.name("word", "TYPE")
    known = is_not_null(column("value"))
    engine.run(text_type(kind, exp.select(column("value")).from_(relation(texts)).where(known)))
    return scratch.table("words", word_table(texts, kind))
