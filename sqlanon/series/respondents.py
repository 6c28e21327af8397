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
from sqlanon.series.admission import key_of
from sqlanon.series.known_text import known_text
from sqlanon.sqlgen.build.names import alias, column, relation
from sqlanon.udfs import tokens

__all__ = ["Respondents"]


@dataclass(frozen=True)
class Respondents:
    """The respondents of a policy's source. Their tokens are computed once, when they are needed."""

    engine: Engine
    series: Series
    bound: BoundPolicy
    scratch: Scratch

    @cached_property
    def texts(self) -> str:
        """A table of entity and respondent: each respondent of the source, and the text in the ledger."""
        entity = self.bound.entity
        if entity is None:
            raise InternalError(f"{self.series} is asked for the respondents of a policy that has none")
        text = known_text(entity.column, entity.published_type)
        people = exp.select(alias(column(entity.column), "entity"), alias(text, "respondent")).distinct()
        return self.scratch.table("respondent", people.from_(relation(self.bound.relation)))

    @cached_property
    def tokens(self) -> str:
        """A table of value and token: the texts with their keyed digests."""
        known = self.scratch.name("known")
        texts = exp.select(alias(column("respondent"), "value")).from_(relation(self.texts))
        tokens(self.engine, texts, known, key_of(self.series.name, self.series.key_variable))
        return known
