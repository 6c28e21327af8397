"""The words that DuckDB takes for a name only in quotes, and those that begin statements."""

from __future__ import annotations

_WORDS = """
    all analyse analyze and anti any array as asc asof asymmetric at authorization binary both by case cast
    check collate collation column concurrently constraint create cross default deferrable desc describe
    distinct do else end except false fetch for foreign freeze from full glob group having ilike in initially
    inner intersect into is isnull join lambda lateral leading left like limit natural not notnull null offset
    on only or order outer overlaps pivot pivot_longer pivot_wider placing positional primary qualify
    references returning right select semi show similar some summarize symmetric table tablesample then to
    trailing true union unique unpack unpivot using variadic verbose when where window with
"""
# A test compares this list with what the DuckDB at hand accepts.
RESERVED = frozenset(_WORDS.split())

# The first words of statements, before which a semicolon is easily forgotten.
BEGIN = frozenset(
    "ALTER ATTACH ATTACK BEGIN CALL CHECK COMMIT COPY CREATE DELETE DESCRIBE DETACH DROP ESTIMATE EXPLAIN EXPORT FROM "
    "IMPORT INSERT INSTALL LOAD MEASURE MERGE PRAGMA ROLLBACK SELECT SET SHOW SUMMARIZE UPDATE USE VACUUM WITH".split()
)
