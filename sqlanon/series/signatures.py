"""Which values the respondents of a source have had to choose from in the releases of a series."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.domain.identifiers import fold
from sqlanon.domain.series import Signatures
from sqlanon.errors import PolicyError
from sqlanon.series.known_text import known_value
from sqlanon.series.respondents import Respondents
from sqlanon.sqlgen.build.names import alias, column, relation
from sqlanon.sqlgen.build.sql_files import query_file, reading

__all__ = ["latest_signatures"]


def latest_signatures(respondents: Respondents) -> Signatures:
    """The signature of each respondent of a source, by the latest release of the series with the respondent.

    Raises PolicyError for a policy with another number of sensitive attributes than one.
    """
    bound, series, scratch = respondents.bound, respondents.series, respondents.scratch
    if len(bound.sensitive) != 1:
        raise PolicyError(
            f"signatures are of one sensitive attribute, and {bound.policy} has {len(bound.sensitive)}",
            part=("policy",),
        )
    [sensitive] = bound.sensitive
    kind, attribute = sensitive.published_type, fold(sensitive.column)
    last: tuple[object, ...] = (series.series_id, len(series.releases))
    tables: dict[str, str] = {"known": respondents.tokens}

    def step(name: str, *parameters: object) -> str:
        tables[name] = scratch.table(name, reading(query_file("ledger", name), tables), parameters)
        return tables[name]

    known = step("known_value", series.series_id, attribute)
    step("returner", *last)
    step("class_key", *last, attribute)
    step("signature")
    texts = step("signature_value", series.series_id, attribute)
    values = exp.select(column("signature"), alias(known_value(column("text"), kind), "value"), column("n"))
    former = exp.select(alias(known_value(column("value"), kind), "value"))
    return Signatures(
        step("signature_member", *last),
        scratch.table("value_of_signature", values.from_(relation(texts))),
        scratch.table("former_value", former.from_(relation(known))),
        len(series.releases),
        bool(series.requirements),
    )
