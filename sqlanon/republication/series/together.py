"""Measures the requirements on all releases of a series together: the files under `sql/series/`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.domain.identifiers import fold, nearest
from sqlanon.domain.policy import Requirement
from sqlanon.domain.release import Measurement
from sqlanon.domain.series import Series
from sqlanon.domain.values import Value
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import PrivacyViolation, UserError
from sqlanon.republication.series.beliefs import by_counting, by_intersection, merged_respondents, step
from sqlanon.republication.series.respondents import require_same_rows, value_in_row
from sqlanon.sql.build.expressions import and_, union_all
from sqlanon.sql.build.names import alias, column, literal
from sqlanon.sql.build.queries import select, subquery
from sqlanon.sql.build.sql_files import filled_query, query_file, reading
from sqlanon.sql.questions.statistics import (
    BoundStatistic,
    Statistic,
    bind_statistic,
    load_statistic,
    named_arguments,
    statistic_names,
)

_KIND = "series"


def promise_names() -> tuple[str, ...]:
    """Lists the names of the requirements that a series can have."""
    return statistic_names(_KIND)


def with_names(requirement: Requirement) -> Requirement:
    """Returns a requirement of a series with its arguments named and checked.

    Raises UserError for an unknown requirement, and PolicyError for arguments that it does not take.
    """
    promise = _promise(requirement.model)
    arguments = named_arguments(promise, requirement.arguments)
    bind_statistic(promise, arguments)
    return Requirement(promise.name, tuple(arguments.items()))


def _promise(name: str) -> Statistic:
    if fold(name) not in promise_names():
        raise UserError(
            f"a series cannot require {name!r}: what is required of each release by itself belongs in its policy",
            hint=nearest(name, promise_names()) or f"a series can require: {', '.join(promise_names())}",
            part=("requirement", name),
        )
    return load_statistic(_KIND, fold(name))


def require_together(engine: Engine, series: Series, temp: TempTables, made: str, models: Sequence[str]) -> None:
    """Raises PrivacyViolation unless the releases of a series, including the latest release `made`, satisfy these
    models together.
    """
    for reached in reached_together(engine, series, temp, models):
        measurement = reached.measurement
        if not measurement.satisfied:
            counted = "; ".join(f"{name.replace('_', ' ')}: {number}" for name, number in reached.counts if number)
            raise PrivacyViolation(
                f"{made} would violate {measurement.question} of {series}, on {measurement.attribute}: it reaches "
                f"{measurement.achieved} where {measurement.required} is required ({counted}); nothing was published",
                hint=_hint(series, reached),
            )


def _hint(series: Series, reached: Reached) -> str:
    name = reached.measurement.question
    arguments = next(dict(requirement.arguments) for requirement in series.requirements if requirement.model == name)
    takes_changed = any(parameter.name == "changed" for parameter in load_statistic(_KIND, name).parameters)
    if takes_changed and reached.measurement.achieved is not None and arguments.get("changed") != "ignored":
        required, achieved = reached.measurement.required, reached.measurement.achieved
        if required is not None and achieved <= required:
            return "a series that requires changed => 'ignored' leaves out those whose value has changed"
    return "require more of each release, or begin another series: then nothing is promised of both together"


@dataclass(frozen=True)
class Reached:
    """The value that the releases achieve for a requirement, and the number of classes or respondents that violate
    it.
    """

    measurement: Measurement
    counts: tuple[tuple[str, int], ...]


def measured_together(engine: Engine, series: Series, temp: TempTables) -> list[Measurement]:
    """Measures every requirement that a series can have. For a requirement that the series does not have, there is only
    the achieved value.
    """
    return [reached.measurement for reached in reached_together(engine, series, temp)]


def reached_together(
    engine: Engine,
    series: Series,
    temp: TempTables,
    promises: Sequence[str] | None = None,
) -> Iterator[Reached]:
    """Measures `promises` (by default every requirement that a series can have) over all releases, for each sensitive
    attribute.

    For requirements that the series does not have, there is only the figure.
    """
    names = promise_names() if promises is None else promises
    if not names:
        return
    required = {requirement.model: dict(requirement.arguments) for requirement in series.requirements}
    member = merged_respondents(temp.table("member", _members(series)), temp)
    of_row = require_same_rows(engine, series)
    for attribute, _ in series.attributes:
        # Values alone, and within whole rows if rows show several columns.
        families = [
            {"member": member, "class_value": temp.table("class_value", _values(series, attribute, each))}
            for each in (None, *([of_row] if of_row else []))
        ]
        for name in names:
            promise = load_statistic(_KIND, name)
            arguments = required.get(name) or _least(promise)
            bound = bind_statistic(promise, arguments, (attribute,))
            reached = _reached(engine, bound, families, temp)
            unrequired = replace(reached.measurement, required=None, satisfied=None)
            yield reached if name in required else replace(reached, measurement=unrequired)


def _least(promise: Statistic) -> dict[str, Value]:
    """Returns arguments for a statistic that is measured without being required.

    Its figure does not depend on these arguments.
    """
    first = promise.parameters[0]
    assert first.low is not None
    return {first.name: int(first.low) if first.type == "BIGINT" else first.low}


def _reached(engine: Engine, bound: BoundStatistic, families: Sequence[Mapping[str, str]], temp: TempTables) -> Reached:
    known = {**families[0], "class_row": families[-1]["class_value"]}
    if "composed" in bound.reads:
        known["composed"] = _composed(engine, families, temp)
    statement = bound.statement("figures", known)
    [(achieved, satisfied, *counts)] = engine.rows(statement)
    names = statement.named_selects[-len(counts) :]
    measurement = Measurement(
        bound.question_name,
        bound.attributes[0],
        float(str(bound.arguments[0][1])),
        None if achieved is None else float(achieved),
        bool(satisfied),
    )
    return Reached(measurement, tuple((name, int(number)) for name, number in zip(names, counts, strict=True)))


def _members(series: Series) -> exp.Query:
    """Returns release, class, label and respondent of all releases of a series; a class's label is its number."""
    text = """
        SELECT position AS release, class_no AS class, CAST(NULL AS VARCHAR) AS label, respondent
        FROM anon.series_member WHERE $in_series
    """
    return filled_query(text, in_series=_in_series(series))


def _values(series: Series, attribute: str, of_row: str | None) -> exp.Query:
    """Returns release, class, n, code and shown: the counts of equal rows of each class, and their value.

    Rows are equal if they agree in the attribute; if `of_row` is true, rows are equal if they agree in all columns of
    whole rows.
    """
    columns = [alias(column("position"), "release"), alias(column("class_no"), "class"), column("value"), column("n")]
    shown_value = column("value") if of_row is None else value_in_row(column("value"), of_row, attribute)
    columns.append(alias(shown_value, "shown"))
    of_attribute = and_(_in_series(series), column("attribute").eq(literal(of_row or fold(attribute))))
    values = select(*columns, of=subquery(query_file("ledger", "class_value"), "of_class"), where=[of_attribute])
    return reading(query_file("ledger", "coded_value"), {"value_of_class": values})


def _in_series(series: Series) -> exp.Expr:
    return column("series_id").eq(literal(series.series_id))


def _composed(engine: Engine, families: Sequence[Mapping[str, str]], temp: TempTables) -> str:
    """Creates a table of a reader's highest confidence about each respondent, over the `families` of tables."""
    each: list[exp.Query] = []
    for tables in families:
        counting = by_counting(engine, tables, temp)
        told_tables = {"counted": counting.believed, "contradiction": counting.contradicted}
        told_tables["intersected"] = by_intersection(tables, temp)
        each.append(step("respondents", {**tables, **told_tables}))
    return temp.table("composed", union_all(each))
