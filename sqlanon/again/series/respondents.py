"""The respondents of a source, as a series knows them, and the classes in which they were latest."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from sqlglot import exp

from sqlanon.again.series.keys import key_check, key_of
from sqlanon.again.series.known_text import known_text, told_apart
from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.identifiers import fold
from sqlanon.domain.series import Series
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.engines.udfs import registered
from sqlanon.errors import InternalError
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import cast
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.build.sql_files import query_file, reading


@dataclass(frozen=True)
class Respondents:
    """The respondents of a policy's source. All that the ledger says of them is read once, when it is needed."""

    engine: Engine
    series: Series
    bound: BoundPolicy
    scratch: Scratch
    _class_keys: dict[str, str] = field(default_factory=dict)

    @property
    def entity(self) -> BoundAttribute:
        """The column of the respondents."""
        if self.bound.entity is None:
            raise InternalError(f"{self.series} is asked for the respondents of a policy that has none")
        return self.bound.entity

    @property
    def last_position(self) -> int:
        """The position of the last release of the series, 0 if there is none."""
        return len(self.series.releases)

    @cached_property
    def former(self) -> str:
        """A table of respondent, token and former_class: the keyed digest, and the class in the last release."""
        entity, series = self.entity, self.series
        name, kind = entity.column, entity.published_type
        people = exp.select(alias(told_apart(name, kind), "respondent")).distinct()
        people.from_(relation(self.bound.relation), copy=False)
        key = key_of(series.name, series.key_variable)
        if key_check(key) != series.key_check:
            raise InternalError(f"the key of {series} is another than when it was begun")
        with registered(self.engine, "keyed_digest", key=key) as digest:
            token = cast(f.call(digest, known_text("respondent", kind)), "UUID")
            known = exp.select(column("respondent"), alias(token, "token"))
            known.from_(people.subquery("people", copy=False), copy=False)
            return self._table("former", {"known": known}, *self._last)

    @cached_property
    def returners(self) -> str:
        """A table of token, respondent, position and class_no: the latest class of those not in the last release."""
        return self._table("returner", {"former": self.former}, *self._last)

    def class_keys(self, attribute: str) -> str:
        """A table of the signatures, for one sensitive attribute, of all classes in which respondents were latest.

        It has position, class_no and key, size and n, as sql/ledger/class_key.sql says.
        """
        if attribute not in self._class_keys:
            classes = reading(query_file("ledger", "latest_class"), {"returner": self.returners})
            parameters = (*self._last, fold(attribute))
            self._class_keys[attribute] = self._table("class_key", {"class_of_series": classes}, *parameters)
        return self._class_keys[attribute]

    @property
    def _last(self) -> tuple[object, ...]:
        return self.series.series_id, self.last_position

    def _table(self, name: str, tables: dict[str, str | exp.Query], *parameters: object) -> str:
        return self.scratch.table(name, reading(query_file("ledger", name), tables), parameters)
