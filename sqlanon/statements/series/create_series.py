"""The statement CREATE SERIES."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from sqlanon.domain.policy import Requirement
from sqlanon.statements.base import COUNTS_RELEASES, DONE, Answer, Catalog, Elsewhere, Statement, done
from sqlanon.syntax import values
from sqlanon.syntax.head import created, object_name, policy_name
from sqlanon.syntax.lexer import Kind
from sqlanon.syntax.policy import requirements
from sqlanon.syntax.texts import if_not_exists_text, name_text, requirements_text, string_text

if TYPE_CHECKING:
    from sqlanon.domain.context import Watching
    from sqlanon.engines.base import Engine
    from sqlanon.syntax.reader import Reader


@dataclass(frozen=True)
class CreateSeries(Statement):
    """Begins a series of releases of a policy, with requirements on all its releases together."""

    name: str
    policy: str
    key_variable: str
    requirements: tuple[Requirement, ...] = ()
    if_not_exists: bool = False

    OPENINGS = ("CREATE [OR REPLACE] SERIES",)
    EXAMPLES = ("CREATE SERIES monthly ON POLICY hospital KEY 'SERIES_KEY' REQUIRE composition(max => 0.5)",)
    GRAMMAR = """
create_series = CREATE SERIES [IF NOT EXISTS] name ON POLICY name KEY string [requirements] ;
"""
    CALCULATES = False
    DISTRIBUTED = Elsewhere("CREATE SERIES", COUNTS_RELEASES)
    CATALOG = Catalog.READS
    COLUMNS = DONE

    @classmethod
    def read(cls, reader: Reader) -> Self:
        token = reader.peek()
        or_replace, if_not_exists = created(reader, "SERIES")
        if or_replace:
            hint = "it would forget who was in which release: DROP SERIES does so, CREATE SERIES begins another"
            raise reader.refused("a series is not replaced", hint=hint, token=token)
        name = object_name(reader, "series")
        reader.expect("ON", "POLICY")
        policy = policy_name(reader)
        reader.expect("KEY")
        reader.mark("key")
        variable = values.string(reader, "the environment variable that has the key, as in 'SERIES_KEY'")
        required: tuple[Requirement, ...] = () if reader.peek().kind is Kind.END else requirements(reader)
        reader.end()
        return cls(name, policy, variable, required, if_not_exists)

    def sql(self) -> str:
        head = f"CREATE SERIES {if_not_exists_text(self.if_not_exists)}{name_text(self.name)}"
        key = f"ON POLICY {name_text(self.policy)} KEY {string_text(self.key_variable)}"
        return f"{head} {key} {requirements_text(self.requirements)}".rstrip()

    def title(self) -> str:
        return f"CREATE SERIES {self.name}"

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        from sqlanon.statements.series._series import create_series

        return done("CREATE SERIES", self.name, "created" if create_series(engine, self) else "exists")
