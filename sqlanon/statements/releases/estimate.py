"""The statement ESTIMATE ... FROM RELEASE."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from sqlanon.domain.values import QualifiedName, Source
from sqlanon.errors import PolicyError, Position
from sqlanon.statements.base import FILES, Answer, Catalog, Elsewhere, Statement
from sqlanon.statements.budgets.estimate_under_budget import EstimateUnderBudget
from sqlanon.syntax import values
from sqlanon.syntax.lexer import Kind, either
from sqlanon.syntax.query_text import query_text
from sqlanon.syntax.reader import QUERY_WORDS, Reader
from sqlanon.syntax.texts import name_text, qualified_text, string_text

if TYPE_CHECKING:
    from sqlanon.domain.context import Watching
    from sqlanon.engines.base import Engine


@dataclass(frozen=True)
class Estimate(Statement):
    """Answers an aggregate query on the source from a release alone.

    `query` is the user's own text. Exactly one of `release`, a name, and `file`, the path of an exported release or of
    its certificate, is set. `marginals` are columns with tables of the frequencies of their values. `query_position` is
    the start of the query in the script, or None if parameters in it were replaced by literals.
    """

    query: str
    release: QualifiedName | None = None
    file: str | None = None
    marginals: tuple[tuple[str, QualifiedName], ...] = ()
    query_position: Position | None = field(default=None, compare=False, kw_only=True)

    OPENINGS = ("ESTIMATE",)
    EXAMPLES = ("ESTIMATE SELECT count(*) FROM patients FROM RELEASE hospital_2026",)
    GRAMMAR = """
estimate = ESTIMATE query FROM RELEASE ( qualified_name | string )
  [ MARGINALS "(" marginal {"," marginal} [","] ")" ] ;
marginal = name "=>" qualified_name ;
"""
    CALCULATES = True
    # For an export it is refused.
    DISTRIBUTED = None
    CATALOG = Catalog.READS
    # The columns of the query, with bounds.
    COLUMNS = None

    @classmethod
    def read(cls, reader: Reader) -> Self | EstimateUnderBudget:
        """Reads the statement. A table in the query may have the name release."""
        reader.expect("ESTIMATE")
        if not any(reader.sees(word) for word in QUERY_WORDS) and not reader.sees_query():
            raise reader.expected(either(*QUERY_WORDS), among=QUERY_WORDS)
        reader.mark("query")
        begins = reader.position()
        is_under_budget = reader.last_of("FROM RELEASE", "UNDER BUDGET") == "UNDER BUDGET"
        query = reader.text_before(*(("UNDER", "BUDGET") if is_under_budget else ("FROM", "RELEASE")))
        # A literal has another length than its parameter, so positions in the query are no longer known.
        is_as_written = not reader.placeholders.read
        if is_under_budget:
            return EstimateUnderBudget.after_query(reader, query, begins if is_as_written else None)
        name, file = None, None
        reader.mark("release")
        if reader.peek().kind is Kind.STRING:
            reader.mark("path")
            file = values.string(reader, "a path in quotes, as in 'out/hospital_2026.parquet'")
        else:
            name = reader.qualified_name("the name of the release, or the path of an exported one in quotes")
        marginals: list[tuple[str, QualifiedName]] = []
        if reader.accept("MARGINALS"):
            reader.listed(lambda: marginals.append(_marginal(reader)))
            reader.end()
        else:
            reader.end("MARGINALS")
        return cls(query, name, file, tuple(marginals), query_position=begins if is_as_written else None)

    def sql(self) -> str:
        named = qualified_text(self.release) if self.release else string_text(self.file or "")
        weighed = ", ".join(f"{name_text(column)} => {qualified_text(table)}" for column, table in self.marginals)
        marginals = f" MARGINALS ({weighed})" if weighed else ""
        return f"ESTIMATE {query_text(self.query)} FROM RELEASE {named}{marginals}"

    def title(self) -> str:
        return f"ESTIMATE FROM RELEASE {self.release or self.file}"

    def sources(self) -> Sequence[Source]:
        return [Source(name=name) for _, name in self.marginals]

    def catalog(self) -> Catalog:
        return self.CATALOG if self.file is None else Catalog.NONE

    def elsewhere(self) -> Elsewhere | None:
        return self.DISTRIBUTED if self.file is None else Elsewhere("ESTIMATE of an export", FILES)

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        try:
            if self.release is None:
                from sqlanon.export.receiver_answers import estimate_export

                columns, rows = estimate_export(engine, self.file or "", self.query, self.marginals)
            else:
                from sqlanon.assess.estimate import estimate_release
                from sqlanon.release.existing.loaded import load_release

                release = load_release(engine, self.release)
                columns, rows = estimate_release(engine, release, self.query, self.marginals)
        except PolicyError as error:
            # The error's position is relative to the query.
            if error.position:
                known = self.query_position
                error.position = error.position.within(known) if known else None
                error.part = error.part or ("query",)
            raise
        return Answer(columns, tuple(rows))


def _marginal(reader: Reader) -> tuple[str, QualifiedName]:
    """Reads column => table."""
    column = reader.named("the name of a column", "marginal")
    reader.expect_symbol("=>")
    return column, reader.qualified_name("the table that says how frequent its values are")
