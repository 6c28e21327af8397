"""A release enters its series: it is written down, and what is required of all releases is measured."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.again.series.ledger import LedgerRows, record
from sqlanon.again.series.respondents import Respondents
from sqlanon.again.series.row_columns import require_same_rows
from sqlanon.again.series.together import require_together
from sqlanon.domain.identifiers import fold
from sqlanon.domain.release import Release
from sqlanon.sql.build.sql_files import query_file, reading
from sqlanon.sql.questions.statistics import bind_statistic, load_statistic


def enter(respondents: Respondents, release: Release, rows: LedgerRows) -> None:
    """Appends a release to a series, in the caller's transaction.

    Raises as `record`, `require_same_rows` and `require_together` do.

    The releases before keep what the series requires, for they were published. So where the latest classes of
    respondents tell that this one does, the others are not looked at again.
    """
    series = respondents.series
    entrants = record(respondents, release, rows)
    of_row = require_same_rows(respondents.engine, series) if series.requirements else None
    satisfied = models_by_latest(respondents, entrants, of_row)
    remaining = [requirement.model for requirement in series.requirements if requirement.model not in satisfied]
    require_together(respondents.engine, series, respondents.scratch, str(release.name), remaining)


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
