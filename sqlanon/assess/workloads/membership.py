"""Attacks by membership: ranks the people of a table by a release's estimates, to find the people in the data.

For each person, the adversary asks ESTIMATE for the number of rows with all known values of the person, so that the
ranking works for releases by every method. The people in the data are counted in the source.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.assess.estimate import readable
from sqlanon.assess.workloads.measure import compared_counts
from sqlanon.catalog.snapshot import policy_of
from sqlanon.domain.identifiers import fold
from sqlanon.domain.numbers import counted
from sqlanon.domain.release import Release
from sqlanon.domain.values import QualifiedName, Source
from sqlanon.engines.base import Column, Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import PolicyError
from sqlanon.estimates.axes import number
from sqlanon.release.existing.loaded import require_unchanged
from sqlanon.sources.bind_policy import policy_source
from sqlanon.sources.source import bind_source
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    and_,
    as_text,
    cast,
    filtered,
    if_,
    is_not_null,
    is_null,
    joined,
    try_cast,
    window,
)
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import select, subquery
from sqlanon.sql.build.render import to_sql
from sqlanon.sql.build.sql_files import query_file, reading
from sqlanon.sql.questions.statistics import BoundStatistic

# The greatest number of distinct people. Each costs a query.
MOST_CANDIDATES = 100_000
_PART = ("attack", "membership", "against")


def ranked_candidate(engine: Engine, release: Release, statistic: BoundStatistic, temp: TempTables) -> str:
    """Makes the table ranked_candidate(score, room, members, others): for each rank, the people in the data and the
    others.

    `score` is the estimated number of rows with all values of such a person, divided by the number of people with the
    same values, or -1 if no row can have them; `room` is the upper bound of this number, divided in the same way.
    Raises PolicyError for a table without a column of the release, for values of other types, for more than
    `MOST_CANDIDATES` distinct people, and if the release does not answer the query for one of them.
    """
    against = dict(statistic.arguments)["against"]
    assert isinstance(against, QualifiedName)
    try:
        people = bind_source(engine, Source(name=against), temp)
    except PolicyError as error:
        error.part = _PART
        raise
    model = readable(engine, release, [])
    known = {*model.exact, *model.generalized, *model.bucketed_positions}
    columns = [(name, kind) for name, kind in people.columns if fold(name) in known]
    if not columns:
        raise PolicyError(
            f"{against} has no column that {release.name} shows", hint="name its columns as the source does", part=_PART
        )
    source = policy_source(engine, policy_of(release), temp)
    require_unchanged(release, source, [name for name, _ in columns])
    kinds = {fold(name): kind for name, kind in source.columns}
    candidates = _candidates(engine, relation(people.relation), columns, kinds, str(against), model.names[0], temp)
    texts = engine.rows(select(column("query_id"), column("text"), of=relation(candidates)))
    counts = compared_counts(
        engine, release, "membership", [(int(query_id), str(text)) for query_id, text in texts], temp
    )
    ranked = reading(query_file("membership", "ranked"), {"candidate": candidates, "compared": counts})
    return temp.table("ranked", ranked)


def _candidates(
    engine: Engine,
    people: exp.Expr,
    columns: Sequence[Column],
    kinds: Mapping[str, str],
    against: str,
    source: str,
    temp: TempTables,
) -> str:
    """Makes the table (query_id, n, text): people with the same values, their number, and the query that counts
    rows.
    """
    values = [try_cast(column(name), kinds[fold(name)]) for name, _ in columns]
    other = [
        filtered(f.count(), and_(is_null(value), is_not_null(column(name))))
        for value, (name, _) in zip(values, columns, strict=True)
    ]
    for wrong, (name, _) in zip(engine.rows(select(*other, of=people))[0], columns, strict=True):
        if wrong:
            raise PolicyError(
                f"{counted(wrong, 'value')} of {name} in {against} cannot be values of the source's column",
                hint=f"its type is {kinds[fold(name)]}: leave them out in a query or a view",
                part=_PART,
            )
    named = [alias(value, f"value_{index}") for index, value in enumerate(values)]
    keys = [column(f"value_{index}") for index in range(len(columns))]
    grouped = select(*keys, alias(f.count(), "n"), of=subquery(select(*named, of=people), "known"), group_by=keys)
    conditions = [_condition(key, name, kinds[fold(name)]) for key, (name, _) in zip(keys, columns, strict=True)]
    head = to_sql(select(alias(f.count(), "n"), of=relation(source))) + " WHERE "
    parts: list[exp.Expr] = [exp.Literal.string(head)]
    for index, condition in enumerate(conditions):
        parts += [exp.Literal.string(" AND ")] * bool(index) + [condition]
    query_id = alias(window(f.row_number()), "query_id")
    query = select(query_id, column("n"), alias(joined(*parts), "text"), of=subquery(grouped, "candidate"))
    table = temp.table("candidate", query)
    ((different,),) = engine.rows(select(f.count(), of=relation(table)))
    if different > MOST_CANDIDATES:
        raise PolicyError(
            f"{against} has {different} different people, more than {MOST_CANDIDATES}",
            hint="try some of them: CREATE TABLE ... AS FROM people USING SAMPLE 10000",
            part=_PART,
        )
    return table


def _condition(value: exp.Expr, name: str, kind: str) -> exp.Expr:
    """Returns the SQL of the text of the condition that a column has this value."""
    text = as_text(value)
    quoted = joined(
        exp.Literal.string("'"), f.call("replace", text, literal("'"), literal("''")), exp.Literal.string("'")
    )
    written = quoted
    if number(kind) is not None and kind != "BOOLEAN":
        finite = f.call("isfinite", cast(value, "DOUBLE"))
        written = if_(finite, text, quoted)
    name_text = to_sql(column(name))
    one_of = joined(exp.Literal.string(f"{name_text} IN ("), written, exp.Literal.string(")"))
    return if_(is_null(value), exp.Literal.string(f"{name_text} IS NULL"), one_of)
