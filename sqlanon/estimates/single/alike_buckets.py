"""Puts buckets together that are alike to a query.

Estimates and bounds depend on how many rows and values of each kind a bucket has, and not on which bucket it is.
Figures of estimate.sql and bucket_bounds.sql are sums over buckets: twice the rows and values are twice as much.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.estimates.fixed_sql import sizes
from sqlanon.estimates.labels.pieces import LISTED
from sqlanon.sql.build.expressions import added, big, cast, huge, infix, union_all
from sqlanon.sql.build.names import alias, column, literal
from sqlanon.sql.build.sql_files import filled, filled_query
from sqlanon.sql.classes.rows import class_label

# The column with the number of values that a leaf stands for.
WEIGHT = "weight"


def one_bucket_a_kind(
    engine: Engine, bucket: str, labelled: exp.Select, values_of: Mapping[str, exp.Query], temp: TempTables
) -> tuple[exp.Query, dict[str, exp.Query], str | None]:
    """Reduces the rows and values of buckets: of several buckets that are equal for the query, only one is kept.

    The third part is the table of these buckets, None if nothing was reduced.
    """
    contents = {name: engine.columns(query) for name, query in values_of.items()}
    streamed = _streamed_kinds(engine, bucket, labelled, values_of, contents, temp)
    if streamed is not None:
        return streamed
    rows = _StoredContents(
        temp.table("labelled", labelled),
        bucket,
        WEIGHT if WEIGHT in labelled.named_selects else None,
        [name for name in labelled.named_selects if name not in (bucket, WEIGHT)],
    )
    values: dict[str, _StoredContents] = {}
    for name, query in values_of.items():
        others = [part for part, _ in contents[name] if part not in ("label", WEIGHT)]
        values[name] = _StoredContents(temp.table("value", query), "label", WEIGHT, others)
    alike = _alike_stored(engine, [rows, *values.values()], temp)
    return _copied(rows, alike), {name: _copied(side, alike) for name, side in values.items()}, alike


def _streamed_kinds(
    engine: Engine,
    bucket: str,
    labelled: exp.Select,
    values_of: Mapping[str, exp.Query],
    contents: Mapping[str, Sequence[tuple[str, str]]],
    temp: TempTables,
) -> tuple[exp.Query, dict[str, exp.Query], str | None] | None:
    """Returns the rows and values of `one_bucket_a_kind` without storing those of all buckets first.

    None unless the query reads nothing but whether its parts are true, for then only counts of rows matter.
    """
    sides: list[_StreamedContents] = []
    for name, query, columns in (
        (bucket, labelled, engine.columns(labelled)),
        *(("label", values_of[of], columns) for of, columns in contents.items()),
    ):
        parts = [part for part, _ in columns if part not in (name, WEIGHT, LISTED)]
        if any(kind != "BOOLEAN" for part, kind in columns if part in parts):
            return None
        weighted = any(part == WEIGHT for part, _ in columns)
        always = [part for part, _ in columns if part == LISTED]
        sides.append(_StreamedContents(query, name, WEIGHT if weighted else None, parts, always))
    streamed = _alike_streamed(engine, sides, temp)
    if streamed is None:
        return None
    (rows, *values), alike = streamed
    return rows, dict(zip(values_of, values, strict=True)), alike


@dataclass(frozen=True)
class _Contents:
    """The rows of buckets, or their values: a table, or a query; `bucket` and, if not None, `weight` are columns."""

    rows: str | exp.Query
    bucket: str
    weight: str | None

    def count(self) -> exp.Expr:
        """Returns the number of rows, or of values, for which a row counts."""
        return literal(1) if self.weight is None else column(self.weight, "content")

    def total(self, engine: Engine) -> int | None:
        """Returns the number of all rows; None if a bucket is NULL or a weight is not whole."""
        text = (
            "SELECT bool_and(coalesce($n >= 0 AND $n = trunc($n) AND {bucket} IS NOT NULL, false)), "
            "CAST(sum($n) AS BIGINT) FROM content"
        )
        names = {"bucket": [column(self.bucket, "content")]}
        query = filled_query(text, tables={"content": self.rows}, names=names, n=self.count())
        ((is_counted, rows),) = engine.rows(query)
        return int(rows) if is_counted else None


def _alike(
    engine: Engine,
    temp: TempTables,
    sides: Sequence[_Contents],
    kinds: int,
    bits_of: Callable[[int, int], int],
    codes_of: Callable[[int, Callable[[exp.Expr], exp.Expr]], Sequence[exp.Query]],
) -> tuple[str, int] | None:
    """Creates a table of bucket, copies and code: one bucket of each kind of equal buckets, and the size of the kind.

    A code counts the rows of each of `kinds` kinds in bits of their own. `bits_of` returns their number from the bits
    of a word and the number of all rows, 0 if the word is too short; `codes_of` returns the codes of each side's rows
    from this number and the type of the code. The second part is the number of bits. None if no word is long enough,
    a bucket is NULL or a weight is not whole.
    """
    totals = [side.total(engine) for side in sides]
    if None in totals:
        return None
    rows = sum(total or 0 for total in totals)
    for word, typed in zip(sizes().code_bits, (big, huge), strict=True):
        if bits := bits_of(word, rows):
            alike = temp.table("alike", _buckets_by_code(codes_of(bits, typed)))
            if _counted(engine, alike, bits, kinds) == rows:
                return alike, bits
    return None


@dataclass(frozen=True)
class _StoredContents(_Contents):
    """A table of contents; the columns `others` define the kinds."""

    others: Sequence[str]


def _alike_stored(engine: Engine, sides: Sequence[_StoredContents], temp: TempTables) -> str | None:
    """Creates the table of one bucket of each kind of equal buckets; None if counts of rows do not fit a code."""
    kinds = [_kinds(side, temp) for side in sides]
    first = [sum(number for _, number in kinds[:index]) for index in range(len(sides))]
    count = sum(number for _, number in kinds)
    if not count:
        return None

    def bits_of(word: int, rows: int) -> int:
        bits = _bits_of_a_kind(word, count, rows)
        if bits < word // count:
            return _bits_of_a_kind(word, count, sum(_most_in_a_bucket(engine, side) for side in sides))
        return bits

    def codes_of(bits: int, typed: Callable[[exp.Expr], exp.Expr]) -> list[exp.Query]:
        parts = zip(sides, kinds, first, strict=True)
        return [_code(side, table, start, bits, typed) for side, (table, _), start in parts]

    alike = _alike(engine, temp, sides, count, bits_of, codes_of)
    return None if alike is None else alike[0]


def _copied(side: _StoredContents, alike: str | None) -> exp.Query:
    """Returns one bucket of each kind of equal buckets, with its rows' `weight` multiplied by the number of buckets of
    the kind.
    """
    names = {"bucket": side.bucket, "others": side.others}
    if alike is None:
        text = "SELECT {content.bucket}, {content.others}, $count AS weight FROM content"
        return filled_query(text, tables={"content": side.rows}, names=names, count=side.count())
    return filled_query(
        "SELECT {content.bucket}, {content.others}, $count * alike.copies AS weight "
        "FROM content JOIN alike ON {content.bucket} = alike.bucket",
        tables={"content": side.rows, "alike": alike},
        names=names,
        count=side.count(),
    )


# The least number of bits that count the rows of a kind in a bucket, if each kind is given bits before it is known
# whether it occurs.
_LEAST_BITS = 6


@dataclass(frozen=True)
class _StreamedContents(_Contents):
    """A query of contents with the truth of a query's parts, the BOOLEAN columns `parts`; `always` are columns that are
    true in each row.
    """

    parts: Sequence[str]
    always: Sequence[str] = ()

    @property
    def kinds(self) -> int:
        """The number of kinds of rows: each part is true, false or NULL."""
        return int(3 ** len(self.parts))


def _alike_streamed(
    engine: Engine, sides: Sequence[_StreamedContents], temp: TempTables
) -> tuple[Sequence[exp.Query], str] | None:
    """Reads the rows of buckets once, and keeps one bucket of each kind of equal buckets, as `_alike_stored` does.

    Returns the contents of these buckets, for each side with the columns that `_copied` gives it, and the table of
    bucket and copies. None if a bucket is NULL, a weight is not whole, or counts may not fit a code.
    """
    count = sum(side.kinds for side in sides)
    first = [sum(side.kinds for side in sides[:index]) for index in range(len(sides))]
    if sizes().code_bits[-1] // count < _LEAST_BITS:
        return None

    def bits_of(word: int, rows: int) -> int:
        bits = _bits_of_a_kind(word, count, rows)
        return bits if bits >= _LEAST_BITS else 0

    def codes_of(bits: int, typed: Callable[[exp.Expr], exp.Expr]) -> list[exp.Query]:
        return [_streamed_code(side, start, bits, typed) for side, start in zip(sides, first, strict=True)]

    reduced = _alike(engine, temp, sides, count, bits_of, codes_of)
    if reduced is None:
        return None
    alike, bits = reduced
    return [_contents(side, alike, start, bits) for side, start in zip(sides, first, strict=True)], alike


def _streamed_code(side: _StreamedContents, first: int, bits: int, typed: Callable[[exp.Expr], exp.Expr]) -> exp.Query:
    """SELECT of bucket and code for each row of a side, as `_code` returns them; kinds are numbered from `first`."""
    code = typed(literal(1 << first * bits))
    if side.weight is not None:
        code = infix(typed(side.count()), "*", code)
    for index, name in enumerate(side.parts):
        text = "CASE WHEN {part} THEN $true WHEN NOT {part} THEN $false ELSE $null END"
        true, false, null = (typed(literal(1 << truth * 3**index * bits)) for truth in range(3))
        unit = filled(text, names={"part": [column(name, "content")]}, true=true, false=false, null=null)
        code = infix(code, "*", unit)
    return filled_query(
        "SELECT {content.bucket} AS bucket, $code AS code FROM content",
        tables={"content": side.rows},
        names={"bucket": side.bucket},
        code=code,
    )


def _contents(side: _StreamedContents, alike: str, first: int, bits: int) -> exp.Query:
    """Returns the rows of the buckets of `alike` from their codes: the number of rows of a kind is their weight."""
    kinds = []
    for kind in range(side.kinds):
        values = [exp.true(), exp.false(), cast(exp.null(), "BOOLEAN")]
        truths = {name: values[kind // 3**index % 3].copy() for index, name in enumerate(side.parts)}
        weight = filled("$digit * copies", digit=_digit(bits * (first + kind), bits))
        kinds.append(class_label({**truths, "weight": cast(weight, "BIGINT" if side.weight is None else "DOUBLE")}))
    return filled_query(
        "SELECT {bucket}, {always}, {parts}, weight "
        "FROM (SELECT bucket, unnest([{kinds}], recursive := true) FROM alike) AS content WHERE weight > 0",
        tables={"alike": alike},
        names={
            "bucket": [alias(column("bucket"), side.bucket)],
            "always": [alias(exp.true(), name) for name in side.always],
            "parts": side.parts,
            "kinds": kinds,
        },
    )


def _bits_of_a_kind(word: int, kinds: int, most: int) -> int:
    """Returns the bits that count the rows of a kind, so that the code of `most` rows of the last kind fits `word`
    bits.
    """
    return max(0, min(word // kinds, (word - most.bit_length()) // max(1, kinds - 1)))


def _most_in_a_bucket(engine: Engine, side: _StoredContents) -> int:
    query = filled_query(
        "SELECT CAST(max(n) AS BIGINT) FROM (SELECT sum($n) AS n FROM content GROUP BY {content.bucket}) AS bucket",
        tables={"content": side.rows},
        names={"bucket": side.bucket},
        n=side.count(),
    )
    ((most,),) = engine.rows(query)
    return int(most or 0)


def _kinds(side: _StoredContents, temp: TempTables) -> tuple[str, int]:
    """Creates the table of the kinds of rows, numbered from 0; returns its name and their number."""
    kinds = filled_query(
        "SELECT row_number() OVER () - 1 AS kind, * FROM (SELECT DISTINCT {others} FROM content) AS different",
        tables={"content": side.rows},
        names={"others": side.others or [alias(literal(0), "nothing")]},
    )
    return temp.counted_table("kind", kinds)


def _code(side: _StoredContents, kinds: str, first: int, bits: int, typed: Callable[[exp.Expr], exp.Expr]) -> exp.Query:
    """SELECT of bucket and code for each row of a table of bucket contents.

    The code counts, in separate bits, the rows of each kind; equal buckets have equal sums of codes.
    """
    return filled_query(
        "SELECT {content.bucket} AS bucket, $code AS code FROM content "
        "JOIN (SELECT typed(1) << typed((kind + $first) * $bits) AS unit, {others} FROM kinds) AS kind "
        "ON {content.others} IS NOT DISTINCT FROM {kind.others}",
        tables={"content": side.rows, "kinds": kinds},
        names={"bucket": side.bucket, "others": side.others},
        calls={"typed": typed},
        code=filled("kind.unit") if side.weight is None else filled("$n * kind.unit", n=typed(side.count())),
        first=first,
        bits=bits,
    )


def _buckets_by_code(codes: Sequence[exp.Query]) -> exp.Query:
    return filled_query(
        "SELECT code, min(bucket) AS bucket, count(*) AS copies "
        "FROM (SELECT bucket, sum(code) AS code FROM code GROUP BY bucket) AS bucket GROUP BY code",
        tables={"code": union_all(codes)},
    )


def _counted(engine: Engine, alike: str, bits: int, count: int) -> int:
    """Returns the number of rows that the codes of the table `alike` count.

    It is too small if a bucket has more rows of a kind than the bits can count.
    """
    digits = [_digit(bits * kind, bits) for kind in range(count)]
    text = "SELECT CAST(sum($digits * copies) AS BIGINT) FROM alike"
    ((rows,),) = engine.rows(filled_query(text, tables={"alike": alike}, digits=added(digits)))
    return int(rows or 0)


def _digit(shift: int, bits: int) -> exp.Expr:
    """Returns the SQL of a number of rows in a code, of which it is the bits from `shift` on."""
    digit = "((CAST(code AS HUGEINT) >> CAST($shift AS HUGEINT)) & CAST($ones AS HUGEINT))"
    return filled(digit, shift=shift, ones=2**bits - 1)
