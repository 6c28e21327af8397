"""Which values the respondents of a source have had to choose from in the releases of a series."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.identifiers import fold
from sqlanon.domain.series import Signatures
from sqlanon.errors import PolicyError
from sqlanon.series.known_text import known_value
from sqlanon.series.respondents import Respondents
from sqlanon.sqlgen.build import functions as f
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
    of_series, parameters = [series.series_id], [series.series_id, fold(sensitive.column)]
    known = reading(query_file("ledger", "latest_class"), {"known": respondents.tokens})
    latest = scratch.table("latest_class", known, of_series)
    signed = reading(query_file("ledger", "class_signature"), {"latest_class": latest})
    classes = scratch.table("class_signature", signed, parameters)
    return Signatures(
        scratch.table("signature_member", _members(respondents.texts, latest, classes)),
        scratch.table("signature_value", _values(classes, sensitive.published_type)),
        scratch.table("known_value", _known_values(sensitive), parameters),
        len(series.releases),
        bool(series.requirements),
    )


def _members(respondents: str, latest: str, classes: str) -> exp.Select:
    query = exp.select(column("entity", "person"), column("signature", "signed"))
    query.from_(relation(respondents, as_="person"), copy=False)
    same_text = column("respondent", "person").eq(column("respondent", "latest"))
    query.join(relation(latest, as_="latest"), on=same_text, copy=False)
    same_class = [column(name, "latest").eq(column(name, "signed")) for name in ("position", "class_no")]
    return query.join(relation(classes, as_="signed"), on=exp.and_(*same_class), copy=False)


def _values(classes: str, kind: str) -> exp.Select:
    values = f.any_value(column("signature_values"))
    each = exp.select(column("signature"), alias(f.unnest(values), "text"), alias(f.max(column("n")), "n"))
    each.from_(relation(classes), copy=False).group_by(column("signature"), copy=False)
    query = exp.select(column("signature"), alias(known_value(column("text"), kind), "value"), column("n"))
    return query.from_(each.subquery("each", copy=False), copy=False)


def _known_values(sensitive: BoundAttribute) -> exp.Select:
    values = query_file("ledger", "known_value").subquery("known")
    return exp.select(alias(known_value(column("value"), sensitive.published_type), "value")).from_(values)
