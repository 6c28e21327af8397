"""The statement CHECK of a release or of a stream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlanon.domain.values import QualifiedName
from sqlanon.errors import UserError
from sqlanon.statements.base import Answer, Catalog
from sqlanon.statements.checks._measured import CHECKED, Check, checked
from sqlanon.statements.checks.check_export import CheckExport
from sqlanon.statements.checks.check_joined import CheckJoined
from sqlanon.statements.checks.check_policy import CheckPolicy
from sqlanon.statements.checks.check_relation import CheckRelation
from sqlanon.statements.checks.check_safe_harbor import CheckSafeHarbor
from sqlanon.statements.checks.check_series import CheckSeries
from sqlanon.syntax.head import in_series, skip_kind, source
from sqlanon.syntax.lexer import Kind, keyword_of
from sqlanon.syntax.texts import qualified_text

if TYPE_CHECKING:
    from sqlanon.domain.context import Watching
    from sqlanon.engines.base import Engine
    from sqlanon.syntax.reader import Reader


@dataclass(frozen=True)
class CheckRelease(Check):
    """Measures the requirements of a release or of a stream on its current rows."""

    name: QualifiedName

    OPENINGS = ("CHECK",)
    EXAMPLES = ("CHECK hospital_2026",)
    GRAMMAR = """
check_release = CHECK release ;
"""
    CALCULATES = True
    DISTRIBUTED = None
    CATALOG = Catalog.READS
    COLUMNS = CHECKED

    @classmethod
    def read(
        cls, reader: Reader
    ) -> CheckRelease | CheckSeries | CheckJoined | CheckRelation | CheckExport | CheckPolicy | CheckSafeHarbor:
        """Reads CHECK of a release, of an export by its path, of a policy, or of a source with its columns."""
        reader.expect("CHECK")
        skip_kind(reader)
        # A name is a word, $name, or getvariable('name').
        if reader.sees("POLICY") and "FOR" in (keyword_of(reader.peek(tokens)) for tokens in (2, 3, 5)):
            return CheckPolicy.after_check(reader)
        if reader.sees("POLICY") and reader.peek(1).kind in (Kind.WORD, Kind.QUOTED):
            hint = (
                "CHECK asks a release or a table; DESCRIBE POLICY shows a policy, "
                "EXPLAIN ANONYMIZED what it would publish"
            )
            raise reader.refused("a policy has no rows to check", hint=hint, token=reader.peek())
        reader.mark("release")
        reader.mark("source")
        behind = reader.peek(1)
        if reader.peek().kind is Kind.STRING and (behind.kind is Kind.END or keyword_of(behind) == "SIGNED"):
            return CheckExport.after_check(reader)
        checked_source = source(reader)
        name = checked_source.name
        if name and reader.peek().kind is Kind.END:
            return cls(name)
        if name and (series := in_series(reader)) is not None:
            reader.end()
            return CheckSeries(name, series)
        if name and reader.sees("FOR"):
            return CheckSafeHarbor.after_release(reader, name)
        if name and reader.sees("JOINED"):
            return CheckJoined.after_release(reader, name)
        return CheckRelation.after_source(reader, checked_source)

    @classmethod
    def form(cls) -> str:
        return " or ".join((*cls.EXAMPLES, *CheckRelation.EXAMPLES))

    def sql(self) -> str:
        return f"CHECK {qualified_text(self.name)}"

    def title(self) -> str:
        return f"CHECK {self.name}"

    def explain_lack(self, engine: Engine) -> None:
        from sqlanon.assess.check import require_no_table

        require_no_table(engine, self.name, "CHECK")

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        from sqlanon.assess.check import attacks_beyond, check_release, load_release_or_table
        from sqlanon.assess.masked_values import check_masks
        from sqlanon.methods.registry import assumed_of
        from sqlanon.republication.streams.columns import find_stream

        try:
            release = load_release_or_table(engine, self.name, "CHECK")
        except UserError:
            from sqlanon.statements.streams._stream import check_stream

            stream = find_stream(engine, self.name)
            if stream is None:
                raise
            return checked(str(stream.name), check_stream(engine, stream))
        measurements = check_release(engine, release).measurements
        assumed = (measurement.stated for measurement in assumed_of(release))
        remarks = attacks_beyond(engine, release, measurements)
        masks, unanswered = check_masks(engine, release)
        measured = (*measurements, *masks, *assumed)
        return checked(str(release.name), measured, (*remarks, *unanswered), release.release_id)
