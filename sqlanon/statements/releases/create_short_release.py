"""The statement CREATE ANONYMIZED ... FROM: makes a release and its policy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self

from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Attribute, Policy, Role
from sqlanon.domain.requests import MethodCall
from sqlanon.domain.values import QualifiedName, Source
from sqlanon.statements.base import Answer, Catalog
from sqlanon.statements.releases.create_release import CreateRelease, chooses_method, method_of
from sqlanon.syntax.attributes import quasi_identifiers, sensitive_attributes
from sqlanon.syntax.definitions import short_text
from sqlanon.syntax.head import source
from sqlanon.syntax.lexer import keyword_of
from sqlanon.syntax.policy import against, refuse_number, requirements
from sqlanon.syntax.texts import create_text

if TYPE_CHECKING:
    from sqlanon.domain.context import Watching
    from sqlanon.engines.base import Engine
    from sqlanon.syntax.reader import Reader

_COLUMNS = "name the columns that others may know of a person: FROM patients (age, sex, zip)"


@dataclass(frozen=True)
class CreateShortRelease(CreateRelease):
    """Makes a policy with the release's name, and a release of it: either both or neither.

    `definition` is the policy, with only the requirements in the statement.
    """

    definition: Policy = field(kw_only=True)

    OPENINGS = ()
    EXAMPLES = (
        "CREATE ANONYMIZED TABLE hospital_2026 FROM patients (age, sex, zip) SENSITIVE disease "
        "REQUIRE k_anonymity(5), l_diversity(2)",
    )
    GRAMMAR = """
create_short_release = CREATE [OR REPLACE] short_release ;
short_release = ANONYMIZED ( VIEW | TABLE ) [IF NOT EXISTS] qualified_name FROM source
  "(" short_column {"," short_column} [","] ")" [sensitive_labels] [ENTITY name] [AGAINST source] [requirements]
  [ METHOD method | CHOOSE METHOD ] ;
short_column = name quasi_clauses ;
"""
    CALCULATES = True
    DISTRIBUTED = None
    CATALOG = Catalog.WRITES
    COLUMNS = None
    KEEPS_SOURCES = True

    @classmethod
    def after_name(
        cls, reader: Reader, kind: str, or_replace: bool, unless_there: bool, name: QualifiedName
    ) -> CreateShortRelease:
        """Reads FROM source (columns) and the following clauses, after the name of the release."""
        reader.form = cls.form()
        reader.expect("FROM")
        reader.mark("source")
        read = source(reader)
        if not reader.sees_symbol("("):
            raise reader.expected('"("', hint=_COLUMNS)
        attributes = [*quasi_identifiers(reader), *_others(reader)]
        _require_apart(reader, attributes)
        public = against(reader) if reader.sees("AGAINST") else None
        refuse_number(reader)
        required = requirements(reader, "METHOD", "CHOOSE METHOD") if reader.sees("REQUIRE") else ()
        choose = chooses_method(reader)
        method = MethodCall() if choose else method_of(reader, kind, further=())
        if reader.sees("IN", "SERIES") or reader.sees("LEVELS"):
            raise reader.refused(
                f"{keyword_of(reader.peek())} goes with AS POLICY",
                hint="make the policy first: CREATE POLICY, then CREATE ANONYMIZED TABLE ... AS POLICY ...",
                token=reader.peek(),
            )
        for keyword in ("SENSITIVE", "ENTITY", "AGAINST", "REQUIRE"):
            if reader.sees(keyword):
                hint = "the order is (columns) SENSITIVE ... ENTITY ... AGAINST ... REQUIRE ... METHOD ..., each once"
                raise reader.refused(f"{keyword} comes too late", hint=hint, token=reader.peek())
        roles = {a.role for a in attributes}
        clauses = {"SENSITIVE": Role.SENSITIVE in roles, "ENTITY": Role.ENTITY in roles, "REQUIRE": bool(required)}
        reader.end(*(word for word, is_there in clauses.items() if not is_there), "METHOD", "CHOOSE METHOD")
        policy = Policy(name.name, read, tuple(attributes), required, public)
        made = (kind, name, name.name, method, or_replace, unless_there)
        return cls(*made, choose_method=choose, definition=policy)

    def sql(self) -> str:
        return create_text(self.or_replace) + self.anonymized_sql()

    def anonymized_sql(self) -> str:
        return short_text(self, self.definition)

    def sources(self) -> list[Source]:
        return [self.definition.source, *([self.definition.against] if self.definition.against else [])]

    def with_sources(self, renamed: Callable[[Source], Source]) -> Self:
        policy = self.definition
        public = policy.against and renamed(policy.against)
        return replace(self, definition=replace(policy, source=renamed(policy.source), against=public))

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        from sqlanon.statements.releases._short_release import made_with_policy

        return made_with_policy(engine, self, progress)


def _others(reader: Reader) -> list[Attribute]:
    """Reads SENSITIVE columns and ENTITY column, in any order, each at most once; returns the ENTITY last."""
    attributes: list[Attribute] = []
    while True:
        roles = {attribute.role for attribute in attributes}
        if reader.sees("SENSITIVE") and Role.SENSITIVE not in roles:
            attributes += sensitive_attributes(reader)
        elif reader.sees("ENTITY") and Role.ENTITY not in roles:
            reader.expect("ENTITY")
            attributes.append(Attribute(reader.column("column"), Role.ENTITY))
            if reader.sees_symbol(","):
                hint = "ENTITY names the one column that says whom a row is about"
                raise reader.refused("ENTITY names more than one column", hint=hint, token=reader.peek())
        else:
            return sorted(attributes, key=lambda attribute: attribute.role is Role.ENTITY)


def _require_apart(reader: Reader, attributes: Sequence[Attribute]) -> None:
    """Raises StatementError for a column that is named in two roles."""
    seen: set[str] = set()
    for attribute in attributes:
        if fold(attribute.name) in seen:
            raise reader.refused(
                f"the column {attribute.name} is named twice",
                hint="a column is what others know of a person, or SENSITIVE, or the ENTITY: name it once",
                token=reader.peek(),
            )
        seen.add(fold(attribute.name))
