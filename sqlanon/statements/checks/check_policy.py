"""CHECK of a policy against the identifiers of HIPAA's safe harbor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from sqlanon.domain.values import QualifiedName, Value
from sqlanon.statements.base import READS_SOURCE, Answer, Catalog, Columns, Elsewhere, Statement
from sqlanon.syntax import values
from sqlanon.syntax.head import object_name
from sqlanon.syntax.texts import arguments_text, name_text

if TYPE_CHECKING:
    from sqlanon.domain.context import Watching
    from sqlanon.engines.base import Engine
    from sqlanon.syntax.reader import Reader

_FINDINGS: Columns = tuple((name, "VARCHAR") for name in ("item", "identifier", "columns", "treated", "finding"))
_REMARK = (
    "a list to sign, and no verdict: the rule also asks that nobody there knows a way to identify somebody, and "
    "free text is not read beyond patterns"
)
_NAMED = ("age", "birth", "zip", "dates", "state")


@dataclass(frozen=True)
class CheckPolicy(Statement):
    """Lists the 18 identifiers of HIPAA's safe harbor with what a policy does with the columns that have them."""

    name: str
    arguments: tuple[tuple[str, Value], ...] = ()

    OPENINGS = ()
    EXAMPLES = (
        "CHECK POLICY hospital FOR SAFE HARBOR",
        "CHECK POLICY hospital FOR SAFE HARBOR (birth => dob, zip => zip)",
    )
    GRAMMAR = """
check_policy = CHECK POLICY name FOR SAFE HARBOR [ "(" columns_of_kind {"," columns_of_kind} [","] ")" ] ;
columns_of_kind = ( AGE | BIRTH | ZIP | DATES | STATE ) arrow
    ( identifier | "(" identifier {"," identifier} [","] ")" ) ;
"""
    CALCULATES = True
    DISTRIBUTED = Elsewhere("CHECK POLICY", READS_SOURCE)
    CATALOG = Catalog.READS
    COLUMNS = _FINDINGS

    @classmethod
    def after_check(cls, reader: Reader) -> Self:
        """Reads what is behind CHECK."""
        reader.expect("POLICY")
        name = object_name(reader, "policy")
        for word in ("FOR", "SAFE", "HARBOR"):
            reader.expect(word)
        named: dict[str, Value] = {}
        if reader.sees_symbol("("):
            reader.listed(lambda: _column(reader, named))
        reader.end()
        return cls(name, tuple(named.items()))

    def sql(self) -> str:
        arguments = f" ({', '.join(arguments_text(self.arguments))})" if self.arguments else ""
        return f"CHECK POLICY {name_text(self.name)} FOR SAFE HARBOR{arguments}"

    def title(self) -> str:
        return f"CHECK POLICY {self.name}"

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        from sqlanon.assess.safe_harbor import safe_harbor
        from sqlanon.catalog import policies
        from sqlanon.errors import about

        with about("name"):
            policy = policies.load(engine, self.name)
        named = {name: _names(value) for name, value in self.arguments}
        return Answer(_FINDINGS, tuple(map(tuple, safe_harbor(engine, policy, named))), (_REMARK,))


def _column(reader: Reader, named: dict[str, Value]) -> None:
    token = reader.peek()
    before = len(named)
    values.named(reader, named, "argument")
    name, value = list(named.items())[-1]
    if len(named) == before or name not in _NAMED:
        raise reader.refused(f"there is no argument {name}", hint=f"there are: {', '.join(_NAMED)}", token=token)
    parts = value if isinstance(value, tuple) else (value,)
    if not all(isinstance(part, QualifiedName) and len(part.parts) == 1 for part in parts):
        raise reader.refused(f"{name} names no column", hint="name columns, as in birth => dob", token=token)


def _names(value: Value) -> tuple[str, ...]:
    parts = value if isinstance(value, tuple) else (value,)
    return tuple(part.name for part in parts if isinstance(part, QualifiedName))
