"""Which values the respondents of a source have had to choose from in the releases of a series."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.again.series.known_text import known_value
from sqlanon.again.series.respondents import Respondents
from sqlanon.domain.identifiers import fold
from sqlanon.domain.series import Signatures
from sqlanon.errors import PolicyError
from sqlanon.sql.build.names import alias, column
from sqlanon.sql.build.sql_files import query_file, reading
from sqlanon.syntax.texts import call_text


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
    kind, of_attribute = sensitive.published_type, (series.series_id, fold(sensitive.column))
    tables = {"former": respondents.former, "returner": respondents.returners}
    tables["class_key"] = respondents.class_keys(sensitive.column)
    tables["signature"] = scratch.table("signature", reading(query_file("ledger", "signature"), tables))
    members = reading(query_file("ledger", "signature_member"), tables)
    texts = reading(query_file("ledger", "signature_value"), tables).subquery("of_signature", copy=False)
    values = exp.select(column("signature"), alias(known_value(column("text"), kind), "value"), column("n"))
    known = query_file("ledger", "known_value").subquery("known", copy=False)
    return Signatures(
        scratch.table("signature_member", members, (respondents.last_position,)),
        scratch.table("signature_value", values.from_(texts, copy=False), of_attribute),
        scratch.table(
            "known_value",
            exp.select(alias(known_value(column("value"), kind), "value")).from_(known, copy=False),
            of_attribute,
        ),
        len(series.releases),
        ", ".join(map(call_text, series.requirements)),
    )
