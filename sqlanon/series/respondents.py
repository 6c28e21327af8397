"""The respondents of a source, as a series knows them: by the keyed digests of their texts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from sqlglot import exp

from sqlanon.domain.bound import BoundPolicy
from sqlanon.domain.series import Series
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import InternalError
from sqlanon.series.keys import key_of, keyed_function
from sqlanon.series.known_text import known_text, told_apart
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import cast
from sqlanon.sqlgen.build.names import alias, column, relation
from sqlanon.udfs import registered

__all__ = ["Respondents"]


@dataclass(frozen=True)
class Respondents:
    """The respondents of a policy's source. Their tokens are computed once, when they are needed."""

    engine: Engine
    series: Series
    bound: BoundPolicy
    scratch: Scratch

    @cached_property
    def tokens(self) -> str:
        """A table of respondent and token: what tells each respondent of the source apart, and its keyed digest."""
        entity, series = self.bound.entity, self.series
        if entity is None:
            raise InternalError(f"{series} is asked for the respondents of a policy that has none")
        name, kind = entity.column, entity.published_type
        people = exp.select(alias(told_apart(name, kind), "respondent")).distinct()
        people.from_(relation(self.bound.relation), copy=False)
        key = key_of(series.name, series.key_variable)
        function = keyed_function(key, series.key_check)
        if function is None:
            raise InternalError(f"the key of {series} is another than when it was begun")
        with registered(self.engine, function, key=key) as digest:
            token = cast(f.call(digest, known_text("respondent", kind)), "UUID")
            query = exp.select(column("respondent"), alias(token, "token"))
            return self.scratch.table("respondent", query.from_(people.subquery("people", copy=False), copy=False))
