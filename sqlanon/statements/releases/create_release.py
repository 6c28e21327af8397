"""The statement CREATE ANONYMIZED ... AS POLICY."""

from __future__ import annotations

from dataclasses import astuple, dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from sqlanon.domain.requests import BUDGET, MethodCall, ReleaseRequest
from sqlanon.domain.values import QualifiedName
from sqlanon.statements.base import WARNING, Answer, Catalog, Columns, Presentation, Statement, released_rows
from sqlanon.syntax import values
from sqlanon.syntax.definitions import anonymized_text, release_text
from sqlanon.syntax.head import if_not_exists, in_series, levels_from, policy_name, release_name
from sqlanon.syntax.lexer import Kind, either, keyword_of, shortened
from sqlanon.syntax.policy import refuse_number, sets
from sqlanon.syntax.reader import QUERY_WORDS

if TYPE_CHECKING:
    from sqlanon.domain.context import Watching
    from sqlanon.engines.base import Engine
    from sqlanon.syntax.reader import Reader

RELEASE_KINDS = ("VIEW", "TABLE")
_METHOD_EXAMPLE = "generalization(suppression => 0.02)"

_COUNTED: Columns = (
    ("release", "VARCHAR"),
    ("kind", "VARCHAR"),
    ("source_rows", "BIGINT"),
    ("released_rows", "BIGINT"),
    ("suppressed_rows", "BIGINT"),
)
_REQUIRED: Columns = (
    ("levels", "VARCHAR"),
    ("requirement", "VARCHAR"),
    ("attribute", "VARCHAR"),
    ("required", "DOUBLE"),
    ("achieved", "DOUBLE"),
    ("satisfied", "BOOLEAN"),
)
# Remarks are one per line.
_REMARKS = ("remarks", "VARCHAR")
# A line for each compared method, the chosen one first; NULL for a method that was named.
_METHOD = ("method", "VARCHAR")


@dataclass(frozen=True)
class CreateRelease(Statement, ReleaseRequest):
    """Makes a release of a policy by a method: a live view, or a snapshot.

    `kind` is 'view' or 'table', `levels_from` the release whose levels are kept. If no method is named, the method of a
    replaced release is kept if it was chosen, unless `choose_method` is true.
    """

    OPENINGS: ClassVar[tuple[str, ...]] = ("CREATE [OR REPLACE] ANONYMIZED",)
    KINDS = (" VIEW", " TABLE")
    EXAMPLES = ("CREATE ANONYMIZED TABLE hospital_2026 AS POLICY hospital METHOD generalization(suppression => 0.02)",)
    GRAMMAR = """
create_release = CREATE [OR REPLACE] anonymized ;
anonymized = ANONYMIZED ( VIEW | TABLE ) [IF NOT EXISTS] qualified_name AS POLICY name
  [ CHOOSE METHOD | [METHOD method] [ LEVELS FROM RELEASE qualified_name ] [ IN SERIES name ] ] ;
method = call [ FRAGMENTS column_sets | COLUMNS column_sets | COLUMNS EACH ] [ UNDER BUDGET name ] ;
"""
    PRESENTATION = Presentation.RELEASE
    CALCULATES = True
    DISTRIBUTED = None
    CATALOG = Catalog.READS
    # The column between these has the name of the loss.
    COLUMNS = None

    @classmethod
    def read(cls, reader: Reader) -> CreateRelease:
        reader.expect("CREATE")
        return cls.after_create(reader, reader.accept("OR", "REPLACE"), "STREAM")

    @classmethod
    def after_create(cls, reader: Reader, or_replace: bool, *also: str) -> CreateRelease:
        """Reads ANONYMIZED VIEW|TABLE and the rest; `also` are other allowed kinds, for the error."""
        reader.expect("ANONYMIZED")
        kind = _kind(reader, also)
        unless_there = if_not_exists(reader, or_replace)
        name = release_name(reader)
        if reader.sees("FROM"):
            from sqlanon.statements.releases.create_short_release import CreateShortRelease

            return CreateShortRelease.after_name(reader, kind, or_replace, unless_there, name)
        _expect_policy(reader, kind, name)
        policy = policy_name(reader)
        refuse_number(reader, "a policy has the requirements: ALTER POLICY ... REQUIRE")
        if chooses_method(reader):
            return cls(kind, name, policy, MethodCall(), or_replace, unless_there, choose_method=True)
        method = method_of(reader, kind, further=("LEVELS FROM RELEASE", "IN SERIES"))
        levels = levels_from(reader)
        series = in_series(reader)
        further = ("IN SERIES",) if levels else ("METHOD", "CHOOSE METHOD", "LEVELS FROM RELEASE", "IN SERIES")
        reader.end(*(() if series is not None else further))
        return cls(kind, name, policy, method, or_replace, unless_there, series, levels)

    def sql(self) -> str:
        return release_text(self)

    def anonymized_sql(self) -> str:
        """Writes the statement from ANONYMIZED on, for EXPLAIN."""
        return anonymized_text(self)

    def title(self) -> str:
        return f"CREATE ANONYMIZED {self.kind.upper()} {self.name}"

    def released_rows(self, answer: Answer) -> int | None:
        return released_rows(answer)

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        return created(engine, self, progress)


def created(engine: Engine, request: ReleaseRequest, progress: Watching | None, *, refreshing: bool = False) -> Answer:
    """Makes a release; returns an answer with a row for each requirement, and the release's figures in each row.

    If IF NOT EXISTS finds a release of the name, the answer is about the existing release.
    """
    from sqlanon.catalog import releases
    from sqlanon.domain.release import PrivacyReport
    from sqlanon.release.existing.composition import others_among, others_of, warning
    from sqlanon.release.existing.loaded import load_release
    from sqlanon.release.pipeline import run
    from sqlanon.release.pipeline.explain import printable
    from sqlanon.release.pipeline.kept_method import method_text, recorded_text

    published = run.create(engine, request, progress, refreshing=refreshing)
    if published is None:
        release = load_release(engine, request.name)
        # A measurement without a required value, such as the loss, is not a requirement.
        measured = releases.measurements(engine, release)
        report = PrivacyReport(tuple(measurement for measurement in measured if measurement.satisfied is not None))
        others, compared = others_of(engine, release), recorded_text(release)
    else:
        release, report = published.release, published.report
        others = others_among(engine, release, published.known)
        compared = method_text(published.remarked.checked.materialized.bound)
    head = (
        str(release.name),
        release.kind,
        release.source_rows,
        release.released_rows,
        release.suppressed_rows,
        release.loss,
        release.levels,
    )
    composition = warning(others)
    remarks = "\n".join(map(printable, published.remarks)) if published and published.remarks else None
    loss = (release.loss_name, "DOUBLE")
    method = "\n".join(map(printable, compared)) or None
    return Answer(
        (*_COUNTED, loss, *_REQUIRED, _METHOD, WARNING, _REMARKS),
        tuple((*head, *astuple(m), method, composition, remarks) for m in report.measurements),
    )


def _kind(reader: Reader, also: tuple[str, ...]) -> str:
    """Reads VIEW or TABLE, returned in lower case; `also` are other allowed kinds, for the error."""
    behind = keyword_of(reader.peek(1))
    if reader.peek().kind in (Kind.WORD, Kind.QUOTED) and behind in ("AS", "FROM"):
        hint = f"write CREATE ANONYMIZED TABLE {reader.peek().text} {behind} ..., or VIEW for a live view"
        raise reader.expected(either(*RELEASE_KINDS, *also), among=RELEASE_KINDS, hint=hint)
    return reader.choose(RELEASE_KINDS, *also).lower()


def _expect_policy(reader: Reader, kind: str, name: QualifiedName) -> None:
    """Reads AS POLICY. Raises StatementError, with the intended form, for a query, a table, or a policy without AS."""
    if reader.sees("POLICY"):
        hint = f"write AS POLICY {reader.peek(1).text}"
        raise reader.expected("AS POLICY or FROM", hint=hint if reader.peek(1).kind is not Kind.END else None)
    if reader.peek().kind is Kind.NUMBER and keyword_of(reader.peek(1)) in ("AS", "FROM"):
        hint = f'a name with a blank needs quotes: CREATE ANONYMIZED {kind.upper()} "{name.name} {reader.peek().text}"'
        raise reader.expected("AS POLICY or FROM", hint=hint)
    if not reader.accept("AS"):
        raise reader.expected("AS POLICY or FROM", among=("AS", "FROM"))
    token = reader.peek()
    if reader.sees_query() or any(reader.sees(word) for word in QUERY_WORDS):
        hint = "name the columns that others may know behind it: FROM (SELECT ...) (age, sex) SENSITIVE disease"
        raise reader.refused("a release is of a policy, and this is a query", hint=hint, token=token)
    if token.kind in (Kind.WORD, Kind.QUOTED) and not reader.sees("POLICY"):
        it = shortened(token.text)
        hint = f"write AS POLICY {it} if that is a policy; of a table write FROM {it} (age, sex) SENSITIVE disease"
        raise reader.expected("POLICY", hint=hint)
    reader.expect("POLICY")


def chooses_method(reader: Reader) -> bool:
    """Reads CHOOSE METHOD to the end of the statement; returns whether it is there."""
    if not reader.accept("CHOOSE", "METHOD"):
        return False
    clauses = (("LEVELS", "levels belong to one method"), ("IN", "a series has releases of one method"))
    for keyword, why in (*clauses, ("METHOD", "a method is named or chosen")):
        if reader.sees(keyword):
            hint = f"leave one of the two out: {why}"
            raise reader.refused(f"{keyword} does not go with CHOOSE METHOD", hint=hint, token=reader.peek())
    reader.end()
    return True


def method_of(reader: Reader, kind: str, further: tuple[str, ...]) -> MethodCall:
    """Reads METHOD name(...) with its sets of columns; without the keyword returns the default. `further` clauses may
    follow.
    """
    method = _method(reader, kind, further) if reader.accept("METHOD") else MethodCall()
    for keyword in ("COLUMNS", "FRAGMENTS"):
        if reader.sees(keyword):
            hint = f"write it behind the method: METHOD name(...) {keyword} (age, sex), (disease)"
            raise reader.refused(f"{keyword} belongs to a METHOD", hint=hint, token=reader.peek())
    if reader.sees("UNDER"):
        hint = "write it behind the method: METHOD name(...) UNDER BUDGET name"
        raise reader.refused("UNDER BUDGET belongs to a METHOD", hint=hint, token=reader.peek())
    return method


def _method(reader: Reader, kind: str, further: tuple[str, ...]) -> MethodCall:
    """Reads the method after METHOD, with its sets of columns and its budget."""
    token = reader.peek()
    name, arguments = values.call(reader, "a method", _METHOD_EXAMPLE, "method")
    if name == "stream":
        hint = "write CREATE ANONYMIZED STREAM name AS POLICY policy ORDER BY column METHOD stream(...)"
        raise reader.refused(f"METHOD stream makes no {kind}", hint=hint, token=token)
    method = MethodCall(name, arguments, sets=sets(reader, "FRAGMENTS"))
    if not method.sets:
        method = replace(method, each_apart=reader.accept("COLUMNS", "EACH"))
    if not method.sets and not method.each_apart:
        method = replace(method, columns=_columns(reader))
    has_sets = method.sets or method.columns or method.each_apart
    pays = reader.sees("UNDER")
    if pays:
        method = _under_budget(reader, method)
    if not reader.sees("IN") and not reader.sees("LEVELS"):
        sets_may_follow = () if has_sets or pays else ("FRAGMENTS", "COLUMNS")
        reader.end(*sets_may_follow, *(() if pays else ("UNDER BUDGET",)), *further)
    return method


def _under_budget(reader: Reader, method: MethodCall) -> MethodCall:
    """Reads UNDER BUDGET name; returns the method with the budget as an argument."""
    token = reader.peek()
    reader.expect("UNDER", "BUDGET")
    reader.mark("method", method.name, BUDGET)
    name = reader.name("the name of the budget")
    if BUDGET in dict(method.arguments):
        raise reader.refused("the budget is named twice", hint="leave UNDER BUDGET out", token=token)
    return replace(method, arguments=(*method.arguments, (BUDGET, QualifiedName((name,)))))


def _columns(reader: Reader) -> tuple[tuple[str, ...], ...]:
    """Reads COLUMNS (column, ...), ...; returns the sets of columns, empty if the keyword is missing."""
    if reader.sees("COLUMNS") and reader.peek(1).text != "(":
        reader.expect("COLUMNS")
        raise reader.expected("EACH or '('", hint="write COLUMNS (age, sex), (disease), or COLUMNS EACH")
    return sets(reader, "COLUMNS")
