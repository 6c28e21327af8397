"""The statement ALTER POLICY."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from sqlanon.domain.policy import Attribute, Requirement
from sqlanon.statements.base import DONE, Answer, Catalog, Statement, done
from sqlanon.syntax.attributes import ROLES, attribute
from sqlanon.syntax.definitions import attribute_text
from sqlanon.syntax.head import object_name
from sqlanon.syntax.lexer import Kind, Token, keyword_of
from sqlanon.syntax.policy import requirements
from sqlanon.syntax.texts import if_exists_text, name_text, requirements_text, typed_name

if TYPE_CHECKING:
    from sqlanon.domain.context import Watching
    from sqlanon.engines.base import Engine
    from sqlanon.syntax.reader import Reader


@dataclass(frozen=True)
class AlterPolicy(Statement):
    """Changes a policy, which is then checked like a new one; its releases keep the old policy.

    `action` is the first word of the change in lower case. Fields of other actions are empty.
    """

    name: str
    action: str
    attribute: Attribute | None = None
    new_name: str = ""
    column: str = ""
    requirements: tuple[Requirement, ...] = ()
    if_exists: bool = False

    OPENINGS = ("ALTER POLICY",)
    EXAMPLES = ("ALTER POLICY hospital ADD COLUMN zip QUASI IDENTIFIER USING zip_prefix",)
    GRAMMAR = """
alter_policy = ALTER POLICY [IF EXISTS] name policy_change ;
policy_change = requirements | ADD requirements | RENAME TO name
  | ( ADD | ALTER ) [COLUMN] attribute | DROP [COLUMN] name ;
"""
    CALCULATES = False
    DISTRIBUTED = None
    CATALOG = Catalog.READS
    COLUMNS = DONE

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Reads the statement. ADD REQUIRE must be followed by a model, because REQUIRE may be the name of a column."""
        reader.expect("ALTER", "POLICY")
        if_exists = reader.accept("IF", "EXISTS")
        name = object_name(reader, "policy")
        if reader.sees("REQUIRE"):
            required = requirements(reader)
            reader.end()
            return cls(name, "require", requirements=required, if_exists=if_exists)
        action = reader.choose(("ADD", "ALTER", "DROP", "RENAME TO"), "REQUIRE").split()[0].lower()
        changed: dict[str, Any]
        if action in ("add", "drop") and reader.sees("REQUIRE") and _is_model(reader.peek(1)):
            if action == "drop":
                raise reader.expected(
                    "a column", hint=f"ALTER POLICY {typed_name(name)} REQUIRE names all that is to be required"
                )
            changed = {"requirements": requirements(reader)}
        elif action == "rename":
            changed = {"new_name": object_name(reader, "policy")}
        else:
            reader.accept("COLUMN")
            changed = {"column": reader.column("column")} if action == "drop" else {"attribute": attribute(reader)}
        reader.end()
        return cls(name, action, **changed, if_exists=if_exists)

    def sql(self) -> str:
        return f"ALTER POLICY {if_exists_text(self.if_exists)}{name_text(self.name)} {self._change()}"

    def _change(self) -> str:
        if self.action == "require":
            return requirements_text(self.requirements)
        if self.action == "rename":
            return f"RENAME TO {name_text(self.new_name)}"
        if self.requirements:
            return f"ADD {requirements_text(self.requirements)}"
        column = attribute_text(self.attribute) if self.attribute else name_text(self.column)
        return f"{self.action.upper()} COLUMN {column}"

    def title(self) -> str:
        return f"ALTER POLICY {self.name}"

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        from sqlanon.catalog import budgets, policies, series, streams
        from sqlanon.errors import about
        from sqlanon.statements.policies._automatic import drop_hierarchies, lacking
        from sqlanon.statements.policies._saved import changed_policy, save_policy

        with engine.transaction():
            if self.if_exists and not policies.exists(engine, self.name):
                return done("ALTER POLICY", self.name, "absent")
            with about("name"):
                policy = policies.load(engine, self.name)
            changed = changed_policy(engine, policy, self)
            policies.delete(engine, policy.name)
            drop_hierarchies(engine, policy, changed)
            remarks = save_policy(engine, changed)
            if changed.name != policy.name:
                series.rename_policy(engine, policy.name, changed.name)
                streams.rename_policy(engine, policy.name, changed.name)
                budgets.rename_policy(engine, policy.name, changed.name)
        return done("ALTER POLICY", self.name, "altered", (*remarks, *lacking(engine, changed)))


def _is_model(token: Token) -> bool:
    """Whether a token after REQUIRE can only be the name of a model, so that no column is called REQUIRE."""
    return token.kind is not Kind.END and keyword_of(token) not in {words.split()[0] for words in ROLES}
