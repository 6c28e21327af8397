"""Runs `sqlanon anonymize`: it reads data, makes and summarizes a release, and writes files. Also runs `sqlanon
profile`.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlglot import exp

from sqlanon.assess.profiling.field_forms import FieldForms
from sqlanon.assess.profiling.publishable import IS_CODE, IS_TEXT
from sqlanon.assess.workloads.summary import summary_of
from sqlanon.clients.frames.data_files import SOURCE, DataFile, require_excel
from sqlanon.clients.terminal.databases import connected
from sqlanon.clients.terminal.files.proposal import confirmed, proposal_of, show_proposal
from sqlanon.clients.terminal.files.request import (
    Columns,
    Wanted,
    export_statement,
    forms_in_words,
    forms_of,
    labels_of,
    people_of,
    proposed_command,
    release_statements,
    require_free,
    require_known,
    require_no_identifiers,
    require_possible,
    require_publishable,
    resolved,
)
from sqlanon.clients.terminal.presentation.output import Output
from sqlanon.clients.terminal.scripts import Watch, as_sqlanon_error
from sqlanon.clients.terminal.signals import interrupting
from sqlanon.domain.policy import K_BY_DEFAULT
from sqlanon.domain.summary import Summary
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.errors import SqlanonError, UserError
from sqlanon.export.formats.base import export_format
from sqlanon.export.report.page_file import write_page
from sqlanon.sql.build.names import relation
from sqlanon.sql.build.queries import select
from sqlanon.statements.base import PassThrough
from sqlanon.syntax.texts import name_text, string_text, typed_name

# The table with the rows as first read.
_AS_READ = "as_read"
# Advice in remarks, and the same advice with options of the command line.
_OPTIONS = {
    "name it in the policy as ENTITY": "name it with --entity",
    "make it ENTITY": "name it with --entity",
    "or make it IDENTIFIER or QUASI IDENTIFIER": "or name it with --known, or leave it out",
    "require l_diversity(l => 3)": "write --l 3",
}
# The beginnings of remarks that are left out: the summary has the content, or the policy ends with the command.
_IN_SUMMARY = ("USING AUTO: ", "not published, because ", "the policy ")


def anonymize(
    texts: Sequence[str], data: DataFile, wanted: Wanted, output: Output, script: Path | None, *, is_dry: bool
) -> None:
    """Makes a release of the data, writes it unless `is_dry` is true, and prints its summary; `script` receives the
    SQL.

    Raises UserError, PrivacyViolation and errors of the statements; in this case nothing is written.
    """
    if wanted.format is not None:
        export_format(wanted.format)
    is_open = wanted.known is None or wanted.secret is None
    if wanted.target is not None or not is_open:
        require_free(wanted.target, wanted.replace, is_dry)
    _require_new(script, wanted.replace)
    with connected(":memory:") as connection:
        running = Running(connection, output)
        engine = running.engine
        require_excel(running.engine, data)
        notes: list[str] = []
        data = running.loaded(data)
        if is_open:
            data, notes = _reread(connection, running, data)
        for sentence in notes:
            output.status(sentence)
        texts = [*texts, *data.typed]
        types = engine.columns(select(exp.Star(), of=relation(SOURCE)))
        names = [name for name, _ in types]
        if is_open:
            wanted = _completed(texts, data, names, wanted, running, output)
            require_free(wanted.target, wanted.replace, is_dry)
        columns = resolved(data.called, names, wanted)
        require_known(columns, names)
        require_possible(engine, data.called, columns, wanted)
        require_no_identifiers(engine, columns, types, wanted)
        require_publishable(engine, columns, types, wanted)
        made = release_statements(data.name, columns, wanted)
        remarks = running.remarks("; ".join(made))
        if data.kind == "csv":
            published = [each for each in types if each[0] in (*columns.known, *columns.secret)]
            forms = forms_of(engine, published)
            remarks = [
                *forms_in_words(forms),
                *data.booleans(engine, published),
                *(_without_sql(remark, forms) for remark in remarks if IS_CODE not in remark),
            ]
        remarks = [*data.remarks, *remarks]
        summary = summary_of(engine, QualifiedName((data.name,)), unpublished=columns.unpublished, remarks=remarks)
        summary = replace(summary, source=data.called)
        ran = [*data.statements(), *made]
        if not is_dry:
            export = export_statement(data.name, data, wanted)
            summary = summary.with_files(*running.exported(export, str(wanted.target)))
            ran.append(export)
        command = proposed_command(texts, columns, wanted)
        _finish(summary, command, ran, output, script)


def profile(
    texts: Sequence[str],
    data: DataFile,
    output: Output,
    script: Path | None,
    *,
    replaces: bool,
    labels: Path | None = None,
) -> None:
    """Prints the columns of the data and the risks, and writes a script to begin with; a script named - is printed.

    `labels` is a CSV file with names of columns and their meaning.
    """
    _require_new(script, replaces)
    with connected(":memory:") as connection:
        running = Running(connection, output)
        require_excel(running.engine, data)
        data, notes = _reread(connection, running, running.loaded(data))
        notes = [*data.remarks, *notes]
        engine = running.engine
        notes += data.booleans(engine, engine.columns(select(exp.Star(), of=relation(SOURCE))))
        # The script names the table, and thereby its hierarchies, after the data.
        table = typed_name(data.name)
        connection.duckdb.execute(f"ALTER TABLE {typed_name(SOURCE)} RENAME TO {table}")
        if labels is not None:
            names = [name for name, _ in DuckDBEngine(connection.duckdb).columns(f"FROM {table}")]
            for name, label in labels_of(labels, names).items():
                connection.duckdb.execute(f"COMMENT ON COLUMN {table}.{name_text(name)} IS {string_text(label)}")
        proposal = proposal_of(running.rows(f"PROFILE {table}"), data.called, is_csv=data.kind == "csv")
        columns = Columns(proposal.known, proposal.secret, proposal.entity, ())
        people = people_of(running.engine, data.name, proposal.entity)
        wanted = Wanted(k=min(K_BY_DEFAULT, max(people, 2)))
        # A release needs at least two people and a known column.
        is_possible = people > 1 and bool(proposal.known)
        command = proposed_command([*texts, *data.typed], columns, wanted) if is_possible else None
        statements = [*data.statements(data.name), *(proposal.statements if is_possible else ())]
        if is_possible and proposal.release is not None:
            target = Wanted(target=f"{data.name}_anonymized/")
            statements.append(export_statement(proposal.release, data, target))
        text = _script(command, statements)
        if proposal.entity is not None:
            # The policy of PROFILE leaves the choice to its reader; here the script has to agree with the command.
            number = name_text(proposal.entity)
            text = text.replace(f"    {number} IDENTIFIER,\n", f"    {number} ENTITY,\n", 1)
        text = text.replace(f"k_anonymity(k => {K_BY_DEFAULT})", f"k_anonymity(k => {wanted.k})", 1)
        if script is not None and str(script) != "-":
            write_page(script, text)
        show_proposal(output, proposal, command, text, None if script is None else str(script), notes)


def _without_sql(remark: str, forms: FieldForms) -> str:
    """Returns a remark on a text column without its SQL, if options of the command read the column's values."""
    names = {*forms.commas, *(name for code in forms.nulls for name in code.columns)}
    is_mended = any(remark.startswith(f"{name}{IS_TEXT}") for name in names)
    return remark.rpartition("; ")[0] if is_mended else remark


def _as_typed(remark: str) -> str:
    """Returns a remark in which options of the command replace clauses of a policy."""
    for clause, option in _OPTIONS.items():
        remark = remark.replace(clause, option)
    return remark


def _reread(connection: Any, running: Running, data: DataFile) -> tuple[DataFile, list[str]]:
    """Returns a CSV file, read again with options for its codes and decimal commas, and sentences about them."""
    if data.kind != "csv":
        return data, []
    engine = DuckDBEngine(connection.duckdb)
    forms = forms_of(engine, engine.columns(select(exp.Star(), of=relation(SOURCE))))
    taken = dict(data.options)
    nulls = [code.text for code in forms.harmless] if "nullstr" not in taken else []
    # The user has to decide about codes that may be values in other columns.
    doubtful = [code for code in forms.nulls if code.is_sure and code.others]
    left = list(forms_in_words(FieldForms(tuple(doubtful)))) if "nullstr" not in taken else []
    decimal = "," if forms.commas and "decimal_separator" not in taken else None
    if not nulls and decimal is None:
        return data, left
    again = data.with_options(nulls, None, decimal)
    connection.duckdb.execute(f"ALTER TABLE {typed_name(SOURCE)} RENAME TO {typed_name(_AS_READ)}")
    try:
        again = running.loaded(again)
    except UserError:
        connection.duckdb.execute(f"ALTER TABLE {typed_name(_AS_READ)} RENAME TO {typed_name(SOURCE)}")
        return data, list(forms_in_words(forms))
    connection.duckdb.execute(f"DROP TABLE {typed_name(_AS_READ)}")
    return again, [
        f"read with {' '.join(map(shlex.quote, again.typed))}: {'; '.join(forms_in_words(forms, advised=False))}",
        *left,
    ]


class Running:
    """Runs sqlanon's own statements on a connection and shows their progress on a terminal."""

    def __init__(self, connection: Any, output: Output) -> None:
        self._connection = connection
        self.engine = DuckDBEngine(connection.duckdb)
        self._output = output
        self._watch = Watch(output)
        connection.observe(self._watch.observe)

    def loaded(self, data: DataFile) -> DataFile:
        """Reads the data into the table SOURCE, and returns them with the options that were needed."""
        self._watch.start()
        self._watch.observe(f"read {data.called}", None, None, None)
        try:
            with interrupting(self._connection):
                return data.load(self._connection.duckdb)
        finally:
            self._watch.stop()

    def rows(self, statement: str) -> list[dict[str, Any]]:
        """Runs a statement and returns its answer, a dict for each row. Errors have no position in a script."""
        answers: list[dict[str, Any]] = []
        self._run(statement, answers)
        return answers

    def remarks(self, statement: str) -> list[str]:
        """Runs a statement and returns the remarks on its answer, without repetition."""
        answers: list[dict[str, Any]] = []
        remarks = self._run(statement, answers)
        for answer in answers:
            remarks += (answer.get("remarks") or "").splitlines()
        return [_as_typed(remark) for remark in dict.fromkeys(remarks) if not remark.startswith(_IN_SUMMARY)]

    def exported(self, statement: str, target: str) -> list[str]:
        """Runs an EXPORT and returns the paths of the files that it wrote, as the user would type them."""
        answers = self.rows(statement)
        if "://" in target:
            return [str(answer["path"]) for answer in answers]
        path = Path(target)
        if path.is_dir():
            written = sorted(path.iterdir(), key=lambda file: (file.name.startswith("certificate."), file.name))
            files = [file.as_posix() for file in written]
        else:
            files = [path.as_posix(), *(Path(f"{path}.certificate.{end}").as_posix() for end in ("json", "md"))]
        report = Path(f"{os.path.normpath(target)}.report.html")
        return [*files, report.as_posix()] if report.exists() and "REPORT true" in statement else files

    def _run(self, statement: str, answers: list[dict[str, Any]]) -> list[str]:
        remarks: list[str] = []
        running = None

        def on_statement(event: Any) -> None:
            nonlocal running
            running = event.statement
            if event.phase == "start":
                self._watch.start()
                return
            if event.result is not None:
                columns = event.result.columns
                answers.extend(dict(zip(columns, row, strict=True)) for row in event.result.fetchall())
            self._watch.stop()
            remarks.extend(event.remarks)

        try:
            with interrupting(self._connection):
                self._connection.script(statement, on_statement)
        except Exception as error:
            known = as_sqlanon_error(error, running if isinstance(running, PassThrough) else None)
            if isinstance(known, SqlanonError):
                # The user did not write the statement, so its position means nothing.
                known.position = known.excerpt = None
            raise known from (None if known is error else error)
        finally:
            self._watch.stop()
        return remarks


def _completed(
    texts: Sequence[str], data: DataFile, names: Sequence[str], wanted: Wanted, running: Running, output: Output
) -> Wanted:
    """Returns the options with the columns that PROFILE proposes, after the user confirmed them on a terminal.

    Raises UserError, with the command that PROFILE proposes, if the user cannot answer questions.
    """
    typed = resolved(data.called, names, wanted)
    rows = running.rows(f"PROFILE {typed_name(SOURCE)}")
    proposal = proposal_of(rows, data.called, is_csv=data.kind == "csv").as_typed(typed, wanted)
    if wanted.known is not None and not proposal.secret:
        return replace(wanted, secret=())
    require_possible(running.engine, data.called, Columns((), (), proposal.entity, ()), wanted)
    return confirmed(texts, proposal, wanted, output)


def _finish(summary: Summary, command: str, ran: Sequence[str], output: Output, script: Path | None) -> None:
    """Prints the summary and writes the script."""
    text = _script(command, ran)
    is_printed = script is not None and str(script) == "-"
    if script is not None and not is_printed:
        write_page(script, text)
        summary = summary.with_files(*summary.files, str(script))
    if output.json:
        output.json_line({**summary.json(), "statements": list(ran)})
        return
    for remark in summary.remarks:
        output.warning(remark, kind="remark")
    output.text(summary.text(output.out.width if output.out.is_terminal else None))
    if is_printed:
        output.text(f"\n{text.rstrip()}")


def _script(command: str | None, statements: Sequence[str]) -> str:
    """Returns the text of a script; its first line is a comment with the command that does the same, if there is
    one.
    """
    if command is None:
        return "".join(f"{statement.rstrip(';')};\n" for statement in statements)
    # After a line break, the rest of a column's name would be a statement.
    line = "".join(c if c.isprintable() else " " for c in command)
    return "".join((f"-- {line}\n", *(f"{statement.rstrip(';')};\n" for statement in statements)))


def _require_new(script: Path | None, replaces: bool) -> None:
    """Raises UserError if the script exists already, because the user may have edited it."""
    if script is not None and os.path.lexists(script) and not replaces:
        raise UserError(f"{script} exists already", hint="name a new file, or replace it with --replace")
