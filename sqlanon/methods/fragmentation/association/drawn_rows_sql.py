"""Queries for a loose association on an engine that keeps rows in many parts, without an order.

Each row has a stored random number that identifies it. Rows of one value, or of one block, are numbered in the order of
these random numbers. If a value has too many rows, those whose random numbers begin alike are numbered together, and a
small table has the number of rows before each beginning. So no step has all rows in one part, and no result depends on
the part in which a row is.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.methods.fragmentation.association.block_grids import ALONE, all_keys, draws, key_name, starts, value_name
from sqlanon.sql.build.expressions import union_all
from sqlanon.sql.build.sql_files import Relation, filled, filled_query, query_file

# A random number is a text of hexadecimal digits; the number of its first eight is below this limit.
_NUMBER_DIGITS = 8
DRAW_LIMIT = 16**_NUMBER_DIGITS


def drawn_rows(values: Sequence[exp.Expr], source: exp.Table, draw: str) -> exp.Query:
    """SELECT of row, cell, value_0, ...: the rows of the source. The random number `row` identifies a row; `cell`
    orders the rows of its block.
    """
    text = """SELECT $draw AS row, $draw AS cell, $values AS "{values}" FROM source"""
    names = {"values": [*map(value_name, range(len(values)))]}
    return filled_query(text, tables={"source": source}, names=names, draw=draws(draw), values=values)


def tuples(rows: str, key: Sequence[int]) -> exp.Query:
    """SELECT of (value_0, ..., n): the combinations of values at the indexes `key` that occur in several rows.

    NULL is a value.
    """
    text = "SELECT {values}, count(*) AS n FROM rows GROUP BY {values} HAVING count(*) > 1"
    return filled_query(text, tables={"rows": rows}, names={"values": [*map(value_name, key)]})


def key_counts(numbered: str | None, rows: int) -> exp.Query:
    """SELECT of (chunk, value, n): n rows have this code of the key; rows that no other row equals are counted under
    ALONE.

    `numbered` is the table of `numbered_tuples`; None means that all rows differ.
    """
    text = """
        SELECT * FROM (SELECT 0 AS chunk, CAST($alone AS BIGINT) AS value, CAST($n AS BIGINT) AS n) AS alone WHERE n > 0
    """
    if numbered is None:
        return filled_query(text, alone=ALONE, n=rows)
    left = filled_query("SELECT $rows - coalesce(sum(n), 0) FROM numbered", tables={"numbered": numbered}, rows=rows)
    repeated = "SELECT 0 AS chunk, number AS value, n FROM numbered"
    counts = filled_query(repeated, tables={"numbered": numbered})
    return union_all([counts, filled_query(text, alone=ALONE, n=left.subquery())])


def keyed(rows: str, keys: Sequence[tuple[Sequence[int], str]]) -> exp.Query:
    """SELECT of row, cell, key_0, ...: the rows, with a number for each key that rows with equal values in the key
    share.

    The number is ALONE if no other row has the values. A key consists of the indexes of its values and the table of its
    `numbered_tuples`.
    """
    if not keys:
        text = 'SELECT drawn.row, drawn.cell, CAST($alone AS BIGINT) AS "{key}" FROM drawn'
        return filled_query(text, tables={"drawn": rows}, names={"key": key_name(0)}, alone=ALONE)
    names = [key_name(index) for index in range(len(keys))]
    values = '{drawn.values} IS NOT DISTINCT FROM "{of}"."{values}"'
    return filled_query(
        'SELECT drawn.row, drawn.cell, CAST(coalesce("{keys}".number, $alone) AS BIGINT) AS "{keys}" FROM drawn'
        ' LEFT JOIN "{tables}" AS "{keys}" ON $same',
        tables={"drawn": rows},
        names={"keys": names, "tables": [table for _, table in keys]},
        alone=ALONE,
        same=[
            filled(values, names={"of": name, "values": [*map(value_name, key)]})
            for name, (key, _) in zip(names, keys, strict=True)
        ],
    )


def candidates(keyed: str, keys: int, below: int | None) -> exp.Query:
    """SELECT of row, key_0, ...: the rows that may be left out: all, or those whose random number is below `below`."""
    text = "SELECT row, {keys} FROM keyed WHERE keyed.row < $limit"
    limit = [] if below is None else [f"{below:0{_NUMBER_DIGITS}x}"]
    return filled_query(text, tables={"keyed": keyed}, names={"keys": all_keys(keys)}, limit=limit)


def no_candidates(keys: int) -> exp.Query:
    """SELECT of the columns of `candidates` that returns no rows, for `keys` keys."""
    text = """SELECT * FROM (SELECT '' AS row, CAST(0 AS BIGINT) AS "{keys}") AS nothing WHERE FALSE"""
    return filled_query(text, names={"keys": all_keys(keys)})


def without_names(collected: str, keys: int, draw: str, first: int) -> exp.Query:
    """SELECT of row, draw, position, key_0, ...: the rows of `collected` with the columns that DuckDB needs to assign
    them.

    Each row that no other row equals gets a unique number below -`first`.
    """
    text = """
        SELECT row, $draw AS draw, 0 AS position,
          CASE WHEN {keys} = $alone THEN $last - row_number() OVER () ELSE {keys} END AS "{keys}"
        FROM collected
    """
    names, tables = {"keys": all_keys(keys)}, {"collected": collected}
    return filled_query(text, tables=tables, names=names, draw=draws(draw), alone=ALONE, last=-1 - first)


def remaining(keyed: str, keys: int, aside: str) -> exp.Query:
    """SELECT of the rows of `keyed` that are not in the table `aside`."""
    text = """
        SELECT keyed.row, keyed.cell, {keyed.keys} FROM keyed
        LEFT JOIN aside ON keyed.row = aside.row
        WHERE aside.row IS NULL
    """
    return filled_query(text, tables={"keyed": keyed, "aside": aside}, names={"keys": all_keys(keys)})


def starts_of(counts: str, aside: str | None, key: int, size: int, turn: int, most: int) -> exp.Query:
    """SELECT of value, first, spread, all_spread, blocks, turn, divided: the row numbers of each value.

    `counts` is the key's table of `key_counts`, from which the rows in `aside` are subtracted. Counting begins at a row
    that the random number `turn` selects. `divided` is true for values with more than `most` rows.
    """
    counted: str | exp.Query = counts
    if aside is not None:
        tables, names = {"counted": counts, "aside": aside}, {"key": key_name(key)}
        counted = query_file("association", "without_aside", tables=tables, names=names)
    left = query_file("association", "starts_of", tables={"counted": counted}, turn=turn)
    text = """
        SELECT start.value, start.first, start.spread, start.all_spread, start.blocks, start.turn,
          counted.n > $most AS divided
        FROM start
        JOIN counted ON start.value = counted.value
    """
    start: dict[str, Relation] = {"start": starts(left, size), "counted": counts}
    return filled_query(text, tables=start, most=most)


def no_beginnings() -> exp.Query:
    """SELECT of the columns of `beginnings` that returns no rows."""
    columns = "SELECT CAST(0 AS BIGINT) AS value, '' AS beginning, CAST(0 AS BIGINT) AS n"
    return filled_query("SELECT * FROM nothing WHERE FALSE", tables={"nothing": filled_query(columns)})


def all_blocks(tables: Sequence[str]) -> exp.Query:
    """SELECT of block: the blocks that any of these tables lists, without repetition."""
    nothing = filled_query("SELECT CAST(0 AS BIGINT) AS block WHERE FALSE")
    each = [filled_query("SELECT block FROM blocks", tables={"blocks": table}) for table in tables]
    return union_all([nothing, *each], distinct=True)


def with_others(alike: str, blocks: int, first: int, step: int) -> exp.Query:
    """SELECT of block: the blocks of the table `alike`, and every `step`-th block number from `first` up to
    `blocks`.
    """
    text = """
        SELECT block FROM alike
        UNION SELECT CAST(unnest(generate_series($first, $blocks, $step)) AS BIGINT) AS block
    """
    return filled_query(text, tables={"alike": alike}, first=first, blocks=blocks, step=step)
