"""The statement CHECK POLICY ... FOR SAFE HARBOR."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from sqlanon.statements.base import READS_SOURCE, Answer, Catalog, Elsewhere, Statement
from sqlanon.statements.checks._harbor import (
    COLUMNS_OF_KIND,
    FINDINGS,
    REMARK,
    Arguments,
    for_safe_harbor,
    named_columns,
    read_arguments,
)
from sqlanon.syntax.head import object_name
from sqlanon.syntax.texts import name_text

if TYPE_CHECKING:
    from sqlanon.domain.context import Watching
    from sqlanon.engines.base import Engine
    from sqlanon.syntax.reader import Reader


@dataclass(frozen=True)
class CheckPolicy(Statement):
    """Lists the 18 identifiers of HIPAA's safe harbor, and the policy's treatment of the columns that have them."""

    name: str
    arguments: Arguments = ()

    OPENINGS = ()
    EXAMPLES = (
        "CHECK POLICY hospital FOR SAFE HARBOR",
        "CHECK POLICY hospital FOR SAFE HARBOR (birth => dob, zip => zip)",
    )
    GRAMMAR = f"""
check_policy = CHECK POLICY name FOR SAFE HARBOR [ "(" columns_of_kind {{"," columns_of_kind}} [","] ")" ] ;
{COLUMNS_OF_KIND.strip()}
"""
    CALCULATES = True
    DISTRIBUTED = Elsewhere("CHECK POLICY", READS_SOURCE)
    CATALOG = Catalog.READS
    COLUMNS = FINDINGS

    @classmethod
    def after_check(cls, reader: Reader) -> Self:
        """Reads the statement after CHECK."""
        reader.expect("POLICY")
        return cls(object_name(reader, "policy"), read_arguments(reader))

    def sql(self) -> str:
        return f"CHECK POLICY {name_text(self.name)} {for_safe_harbor(self.arguments)}"

    def title(self) -> str:
        return f"CHECK POLICY {self.name}"

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        from sqlanon.assess.safe_harbor import safe_harbor
        from sqlanon.catalog import policies
        from sqlanon.errors import about

        with about("name"):
            policy = policies.load(engine, self.name)
        findings, remarks = safe_harbor(engine, policy, named_columns(self.arguments))
        return Answer(FINDINGS, tuple(map(tuple, findings)), (REMARK, *remarks))
