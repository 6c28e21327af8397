"""Whether the last release of a series keeps what those before kept: of some promises the latest classes tell it."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.domain.identifiers import fold
from sqlanon.questions.statistics import bind_statistic, load_statistic
from sqlanon.series.respondents import Respondents
from sqlanon.sqlgen.build.sql_files import query_file, reading

__all__ = ["models_by_latest"]


def models_by_latest(respondents: Respondents, entrants: str, of_row: str | None) -> set[str]:
    """The models that a series requires and that the release which enters keeps, if those before keep them.

    `entrants` is a table of its respondents: class_no, token and former_class, of sql/ledger/entrant.sql. Where rows
    show several columns, `of_row` is the attribute of whole rows, of which the models are asked as well. What is not
    among the models may be kept, too: of some the latest classes of respondents do not tell it.
    """
    series, engine, position = respondents.series, respondents.engine, respondents.last_position
    required = {each.model: dict(each.arguments) for each in series.requirements}
    promises = [promise for promise in (load_statistic("series", name) for name in required) if promise.latest]
    satisfied = {promise.name for promise in promises}
    attributes = [*(name for name, _ in series.attributes), *([of_row] if of_row else [])]
    for attribute in attributes if promises else ():
        classes = query_file("ledger", "release_class")
        keys = reading(query_file("ledger", "class_key"), {"class_of_series": classes})
        of_release = (series.series_id, position + 1, fold(attribute))
        tables: dict[str, str | exp.Query] = {"class_key": respondents.scratch.table("class_key", keys, of_release)}
        tables["former_key"] = _former_keys(respondents, entrants, attribute)
        for promise in promises:
            bound = bind_statistic(promise, required[promise.name], (attribute,))
            if engine.rows(bound.latest(tables), [position]) != [(True,)]:
                satisfied.discard(promise.name)
    return satisfied


def _former_keys(respondents: Respondents, entrants: str, attribute: str) -> exp.Query:
    tables = {"entrant": entrants, "returner": respondents.returners, "class_key": respondents.class_keys(attribute)}
    return reading(query_file("ledger", "former_key"), tables)
