"""The statement ATTACK."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from sqlanon.domain.requests import AttackRequest
from sqlanon.domain.values import QualifiedName, Source, Value
from sqlanon.statements.base import READS_RELEASE, Answer, Catalog, Elsewhere, Statement
from sqlanon.syntax import values
from sqlanon.syntax.attributes import sensitive_columns
from sqlanon.syntax.head import skip_kind, source
from sqlanon.syntax.lexer import Kind
from sqlanon.syntax.texts import (
    arguments_text,
    names_text,
    qualified_text,
    sensitive_text,
    source_text,
    string_text,
    typed_qualified,
    word_text,
)

if TYPE_CHECKING:
    from sqlanon.domain.context import Watching
    from sqlanon.engines.base import Engine
    from sqlanon.syntax.reader import Reader


@dataclass(frozen=True)
class Attack(Statement, AttackRequest):
    """Measures an adversary's guesses from a release, an export or any table.

    Exactly one of `release`, a name, `file`, the path of an export, and `source`, any table or (SELECT ...), is set;
    only a source has `quasi_identifiers`.
    """

    release: QualifiedName | None = None
    file: str | None = None
    source: Source | None = None
    quasi_identifiers: tuple[str, ...] = ()

    OPENINGS = ("ATTACK",)
    EXAMPLES = (
        "ATTACK hospital_2026 WITH homogeneity(confidence => 0.5)",
        "ATTACK patients (age, zip) SENSITIVE disease WITH background(values => 1)",
    )
    GRAMMAR = """
attack = ATTACK ( release | text | target columns ) [sensitive] WITH ( call | ORDER ["(" ")"] ) ;
"""
    CALCULATES = True
    DISTRIBUTED = Elsewhere("ATTACK", READS_RELEASE)
    # Only for a release; files and tables need no catalog.
    CATALOG = Catalog.READS
    COLUMNS = (
        ("attack", "VARCHAR"),
        ("attribute", "VARCHAR"),
        ("targets", "BIGINT"),
        ("succeeded", "BIGINT"),
        ("highest", "DOUBLE"),
        ("mean", "DOUBLE"),
        ("bound", "DOUBLE"),
        ("worst", "VARCHAR"),
    )

    @classmethod
    def read(cls, reader: Reader) -> Self:
        reader.expect("ATTACK")
        skip_kind(reader)
        target = _target(reader)
        sensitive = sensitive_columns(reader)
        if not reader.sees("WITH"):
            words = (("USING", '","') if sensitive else ("SENSITIVE",)) + ("WITH",)
            hint = _which(target["release"]) if "release" in target and reader.peek().kind is Kind.END else None
            raise reader.expected(" or ".join(words), among=words, hint=hint)
        reader.expect("WITH")
        name, arguments = _call(reader)
        reader.end()
        hierarchies = tuple((column, hierarchy) for column, hierarchy in sensitive if hierarchy is not None)
        columns = tuple(column for column, _ in sensitive)
        return cls(name, arguments, sensitive=columns, hierarchies=hierarchies, **target)

    def sql(self) -> str:
        if self.source:
            target = f"{source_text(self.source)} ({names_text(self.quasi_identifiers)})"
        else:
            target = qualified_text(self.release) if self.release else string_text(self.file or "")
        arguments = f"({', '.join(arguments_text(self.arguments))})"
        sensitive = sensitive_text(self.sensitive, self.hierarchies)
        return f"ATTACK {target}{sensitive} WITH {word_text(self.attack)}{arguments}"

    def title(self) -> str:
        return f"ATTACK {self.release or self.file or self.source}"

    def sources(self) -> Sequence[Source]:
        tables = [Source(name=value) for _, value in self.arguments if isinstance(value, QualifiedName)]
        return [self.source, *tables] if self.source else tables

    def catalog(self) -> Catalog:
        return self.CATALOG if self.release else Catalog.NONE

    def explain_lack(self, engine: Engine) -> None:
        if self.release:
            from sqlanon.assess.check import require_no_table

            require_no_table(engine, self.release, "ATTACK")

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        if self.release is not None:
            from sqlanon.assess.attack import attack_release
            from sqlanon.assess.check import load_release_or_table
            from sqlanon.assess.workloads.membership import ranked_candidate

            release = load_release_or_table(engine, self.release, "ATTACK")
            answers = attack_release(engine, release, self, ranked_candidate)
        elif self.source is not None:
            from sqlanon.statements.checks._relation import attack_relation

            answers = attack_relation(engine, self, self.source)
        else:
            from sqlanon.export.receiver_answers import attack_export

            answers = attack_export(engine, self.file or "", self)
        return Answer(
            self.COLUMNS, tuple(a.row for a in answers), tuple(remark for a in answers for remark in a.remarks)
        )


def _which(release: QualifiedName) -> str:
    """Returns the hint for an ATTACK on a release without the attack's name."""
    from sqlanon.sql.questions.statistics import attack_names

    return f"write ATTACK {typed_qualified(release)} WITH homogeneity(); the attacks are {', '.join(attack_names())}"


def _call(reader: Reader) -> tuple[str, tuple[tuple[str, Value], ...]]:
    """Reads the attack's name and arguments. The attack by order has a reserved word as its name, and no arguments."""
    if not reader.sees("ORDER"):
        return values.call(reader, "an attack", "homogeneity(confidence => 0.5)", "attack")
    reader.mark("attack", "order")
    reader.expect("ORDER")
    if reader.accept_symbol("("):
        reader.expect_symbol(")")
    return "order", ()


def _target(reader: Reader) -> dict[str, Any]:
    """Reads the release, the path of an export, or the source with its quasi-identifiers; returns them by field
    names.
    """
    reader.mark("release")
    reader.mark("source")
    if reader.peek().kind is Kind.STRING and not reader.sees_symbol("(", ahead=1):
        reader.mark("path")
        return {"file": values.string(reader, "a path")}
    attacked = source(reader)
    if attacked.name and not reader.sees_symbol("("):
        reader.about(str(attacked.name))
        return {"release": attacked.name}
    columns: list[str] = []
    reader.listed(lambda: columns.append(reader.column("column")))
    return {"source": attacked, "quasi_identifiers": tuple(columns)}
