"""The rows of a release as one table: values that are known only by bucket are linked at random within the bucket."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.engines.temp_tables import TempTables
from sqlanon.estimates.release_model import ReleaseModel, bucketed_value
from sqlanon.sql.build.names import alias, column
from sqlanon.sql.build.queries import extend, inner_join, select, subquery
from sqlanon.sql.build.sql_files import filled, filled_query

_ROW, _DRAWN, _LINK = "row", "drawn", "link"


def shown_as(model: ReleaseModel, name: str) -> exp.Expr | None:
    """Returns the column of the released rows that shows a source column, by its folded name; None if no released
    column shows it.
    """
    if name in model.exact:
        return column(model.exact[name], _ROW)
    if name in model.generalized:
        return column(model.generalized[name].keys[0], _ROW)
    return None


def linked_rows(temp: TempTables, model: ReleaseModel, names: Sequence[str], seed: int) -> exp.Select:
    """SELECT of the released rows with these columns of the source, by folded name; the columns are named by position.

    For each set of columns that is known by bucket, the values of a bucket are assigned to its rows in an order that
    the seed determines, as in Li, Li, Zhang and Molloy (Slicing, 2012, section 6.1). The release must show all names.
    """
    linked = [name for name in names if shown_as(model, name) is None]
    positions = model.positions_for(linked)
    sets: dict[int, dict[int, str]] = {}
    for index, name in enumerate(names):
        if name in linked:
            number, at = positions[name]
            sets.setdefault(number, {})[index] = bucketed_value(at)
    buckets = {number: model.bucketed[number].bucket for number in sets}
    rows = filled_query("SELECT *, row_number() OVER () AS drawn FROM released", tables={"released": model.rows})
    drawn_rows = filled_query(
        'SELECT *, $links AS "{names}" FROM "{rows}"',
        names={"names": [f"{_LINK}_{number}" for number in sets], "rows": temp.table("rows", rows)},
        links=[_numbered_within(seed, number, bucket) for number, bucket in buckets.items()],
    )
    query = select(of=subquery(drawn_rows, _ROW))
    for number, columns in sets.items():
        of_set, bucket = f"set_{number}", [name for name in [buckets[number]] if name is not None]
        drawn = filled_query(
            'SELECT *, $order AS link FROM "{values}"',
            names={"values": temp.table("values", _expanded(model, number))},
            order=_numbered_within(seed + 1, number, "bucket"),
        )
        text = '{row.link} = "{of}".link AND {row.bucket} IS NOT DISTINCT FROM "{of}".bucket'
        same = filled(text, names={"link": f"{_LINK}_{number}", "of": of_set, "bucket": bucket})
        extend(query, joins=[inner_join(subquery(drawn, of_set), same)])
        extend(query, *(alias(column(value, of_set), str(index)) for index, value in columns.items()))
    of_rows = {index: shown_as(model, name) for index, name in enumerate(names) if name not in linked}
    return extend(query, *(alias(value, str(index)) for index, value in of_rows.items() if value))


def _expanded(model: ReleaseModel, number: int) -> exp.Query:
    """SELECT of the values in each bucket, numbered; a row repeats once for each row that has its values."""
    # Rows are numbered in the order of all their values, because no other order can be repeated; equal rows may swap.
    keys = ["bucket", *(bucketed_value(index) for index in range(len(model.bucketed[number].columns)))]
    return filled_query(
        'SELECT *, row_number() OVER (ORDER BY {keys} ASC NULLS LAST) AS "{drawn}" '
        "FROM (SELECT *, unnest(range(CAST(weight AS BIGINT))) AS copy FROM published) AS expanded",
        tables={"published": model.bucketed[number].values},
        names={"keys": keys, "drawn": _DRAWN},
    )


def _numbered_within(seed: int, number: int, bucket: str | None) -> exp.Expr:
    """Returns the SQL expression of a row's position within its bucket, in an order that the seed determines."""
    text = """
        row_number() OVER (
          PARTITION BY {bucket} ORDER BY md5_number(concat($seed, drawn)) ASC NULLS LAST, drawn ASC NULLS LAST
        )
    """
    return filled(text, names={"bucket": [] if bucket is None else [bucket]}, seed=f"{seed} {number} ")
