"""The proposal of PROFILE for a data file: shown, confirmed by the user, and written as a script."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import typer

from sqlanon.assess.profiling.roles import MAKE_IT_SENSITIVE
from sqlanon.clients.terminal.files.request import Columns, Wanted, names_in_words, proposed_command, shell_name
from sqlanon.clients.terminal.presentation.output import Output
from sqlanon.clients.terminal.presentation.rows import Rows
from sqlanon.domain.identifiers import fold
from sqlanon.domain.numbers import counted, per_cent
from sqlanon.domain.policy import Role
from sqlanon.errors import UserError

KNOWN, SECRET, ENTITY, DROPPED = "known", "secret", "entity", "left out"
# The role that PROFILE proposes for a column, and the column's use: identifiers and insensitive columns are left out.
_USES = {
    Role.QUASI_IDENTIFIER: KNOWN,
    Role.SENSITIVE: SECRET,
    Role.ENTITY: ENTITY,
    Role.IDENTIFIER: DROPPED,
    Role.INSENSITIVE: DROPPED,
}
_ANSWERS = {"k": KNOWN, "s": SECRET, "d": DROPPED, KNOWN: KNOWN, SECRET: SECRET, "drop": DROPPED, DROPPED: DROPPED}
_LETTERS = {KNOWN: "k", SECRET: "s", DROPPED: "d", ENTITY: "p"}
# The beginnings of PROFILE's reasons for a repeating column that may be the number of a person, and its advice.
_NUMBERS = ("its name says a unique number", "it repeats as the number of a person does")
_ADVICE = "if it says whom a row is about, make it ENTITY"
_ADVISED = "if it says whom a row is about, name it with --entity"
# The advice for keeping a secret column that is left out; it ends the reason.
_KEEPING_ADVICE = "replace it by a coarser column, or publish it with --secret {0} --allow {0}"
# Patterns of PROFILE's advice in SQL on codes for missing values and decimal commas; commands have options for them.
_CODES = re.compile(r": nullif\([^;]*, or read_csv\(\.\.\., nullstr => \['', ((?:'(?:[^']|'')*'(?:, )?)+)\]\)")
_COMMAS = re.compile(r": CAST\(replace\([^;]*, or read_csv\(\.\.\., decimal_separator => ','\)")
_CODE = re.compile(r"'((?:[^']|'')*)'")
_SETS = 3


@dataclass(frozen=True)
class ProposedUse:
    """The use of a column (KNOWN, SECRET, ENTITY or DROPPED), its reason, and whether the user named the column.

    `is_refused_secret` is set for a column that looks secret and is published only if the user allows it.
    """

    column: str
    use: str
    why: str
    is_typed: bool = False
    is_refused_secret: bool = False


@dataclass(frozen=True)
class Proposal:
    """The answer of PROFILE: a use for each column, the risks, and statements to begin with.

    `risks` are sets of columns, each with the share of rows whose combination of values is unique. `special` are the
    columns that make most rows special, each with the share of rows that are unique by it and a few other columns.
    `release` is the name of the first release, or None if the statements do not make one.
    """

    called: str
    uses: tuple[ProposedUse, ...]
    risks: tuple[tuple[str, float], ...]
    special: tuple[tuple[str, float], ...]
    statements: tuple[str, ...]
    release: str | None
    rows: Rows

    def _columns_for(self, use: str) -> tuple[str, ...]:
        return tuple(each.column for each in self.uses if each.use == use)

    @property
    def known(self) -> tuple[str, ...]:
        return self._columns_for(KNOWN)

    @property
    def secret(self) -> tuple[str, ...]:
        return self._columns_for(SECRET)

    @property
    def dropped(self) -> tuple[str, ...]:
        return self._columns_for(DROPPED)

    @property
    def entity(self) -> str | None:
        return next(iter(self._columns_for(ENTITY)), None)

    def as_typed(self, typed: Columns, wanted: Wanted) -> Proposal:
        """Returns the proposal with the columns that the user named; no column is added to a list that was typed."""
        uses = {**dict.fromkeys(typed.known, KNOWN), **dict.fromkeys(typed.secret, SECRET)}
        uses |= {typed.entity: ENTITY} if typed.entity else {}
        closed = {KNOWN} if wanted.known is not None else {SECRET} if wanted.secret is not None else set()
        lists = {name.casefold() for name in wanted.drop}
        allowed = {fold(name) for name in wanted.allowed} if SECRET not in closed else set()

        def one_use(proposed: ProposedUse) -> ProposedUse:
            if proposed.column in uses:
                return replace(proposed, use=uses[proposed.column], is_typed=True)
            if proposed.is_refused_secret and fold(proposed.column) in allowed:
                proposed = replace(proposed, use=SECRET)
            is_dropped = proposed.column.casefold() in lists
            if is_dropped or proposed.use in closed or (typed.entity and proposed.use == ENTITY):
                return replace(proposed, use=DROPPED, is_typed=True)
            return proposed

        return replace(self, uses=tuple(map(one_use, self.uses)))

    def wanted(self, wanted: Wanted) -> Wanted:
        """Returns the options of the command with the proposal's columns in place of its own."""
        return replace(wanted, known=self.known, secret=self.secret, entity=self.entity)


def proposal_of(answer: Sequence[Mapping[str, Any]], called: str, *, is_csv: bool = False) -> Proposal:
    """Reads the proposal in an answer of PROFILE; for CSV files its advice names options of the command."""
    uses = [_with_way_to_keep(each) for each in _with_entity([_use(row) for row in answer if row["part"] == "column"])]
    if is_csv:
        uses = [replace(each, why=with_options(each.why)) for each in uses]
    sets = [row for row in answer if row["part"] in ("columns", "key") and row["unique_rows"] and row["subject"]]
    risks = {str(row["subject"]): float(row["unique_rows"]) for row in sets}
    made = [row for row in answer if row["part"] in ("statement", "release") and row["proposal"]]
    columns = tuple(answer[0]) if answer else ()
    return Proposal(
        called,
        tuple(uses),
        tuple(risks.items()),
        tuple((str(row["subject"]), float(row["unique_rows"])) for row in answer if row["part"] == "special"),
        tuple(str(row["proposal"]) for row in made),
        next((str(row["subject"]) for row in made if row["part"] == "release"), None),
        Rows(columns, tuple(tuple(row.values()) for row in answer)),
    )


def _use(row: Mapping[str, Any]) -> ProposedUse:
    words = str(row["proposal"])
    role = next(role for role in Role if words.startswith(role.value.replace("_", " ").upper()))
    return ProposedUse(str(row["subject"]), _USES[role], str(row["why"]))


def _with_way_to_keep(proposed: ProposedUse) -> ProposedUse:
    """Returns the proposed use of the columns.

    If it leaves out a secret because the secret identifies people, the options that keep the secret are added.
    """
    if MAKE_IT_SENSITIVE not in proposed.why:
        return proposed
    advice = _KEEPING_ADVICE.format(shell_name(proposed.column))
    return replace(proposed, why=proposed.why.replace(MAKE_IT_SENSITIVE, advice), is_refused_secret=True)


def with_options(why: str) -> str:
    """Replaces SQL in a reason by options of the command."""

    def options(match: re.Match[str]) -> str:
        codes = (code.replace("''", "'") for code in _CODE.findall(match[1]))
        return f": {' '.join(f'--null {shlex.quote(code)}' for code in codes)}, for all columns"

    return _COMMAS.sub(": --decimal ,", _CODES.sub(options, why))


def _with_entity(uses: Sequence[ProposedUse]) -> list[ProposedUse]:
    """Returns the uses of the columns, in which the column that looks like the number of a person becomes ENTITY.

    Nothing changes unless exactly one column repeats in this way. With an ENTITY, k counts people. Because each person
    has at least one row, classes have at least k rows as well.
    """
    numbers = [each.column for each in uses if each.why.startswith(_NUMBERS) and each.why.endswith(_ADVICE)]
    if len(numbers) != 1 or any(each.use == ENTITY for each in uses):
        return [replace(each, why=each.why.replace(_ADVICE, _ADVISED)) for each in uses]
    return [
        replace(each, use=ENTITY, why=each.why.replace(_ADVICE, "k counts people by it, and it is not published"))
        if each.column == numbers[0]
        else each
        for each in uses
    ]


def is_conversation() -> bool:
    """Whether the user can answer questions: standard input and standard error are a terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def confirmed(texts: Sequence[str], proposal: Proposal, wanted: Wanted, output: Output) -> Wanted:
    """Returns the options with the proposal's columns after the user confirmed them, all at once or one by one.

    Raises UserError, with the command to type, if the user cannot answer questions.
    """
    missing = {"--known": "which columns others may know of a person", "--secret": "which columns are secret"}
    typed = {"--known": wanted.known, "--secret": wanted.secret}
    lacking = [f"{option} says {what}" for option, what in missing.items() if typed[option] is None]
    if output.json or output.quiet or not is_conversation():
        without = f" without {names_in_words(proposal.dropped)}" if proposal.dropped else ""
        raise UserError(
            f"{' and '.join(lacking)}: write {'both' if len(lacking) > 1 else 'it'}",
            hint=f"what PROFILE proposes{without}, for you to judge: {_command(texts, proposal, wanted)}"
            if proposal.known
            else "PROFILE finds no column that others may know of a person: name one behind --known",
        )
    _show_uses(output, proposal)
    for sentence in _risks(proposal):
        output.text(sentence)
    if not proposal.known or not _is_accepted(_command(texts, proposal, wanted), output):
        proposal = replace(proposal, uses=tuple(map(_asked_use, proposal.uses)))
    wanted = proposal.wanted(wanted)
    if wanted.target is None:
        wanted = replace(wanted, target=typer.prompt("Where do the files go?", default="out/", err=True))
    output.status(f"the same without questions: {_command(texts, proposal, wanted)}")
    return wanted


def _command(texts: Sequence[str], proposal: Proposal, wanted: Wanted) -> str:
    columns = Columns(proposal.known, proposal.secret, proposal.entity, ())
    return proposed_command(texts, columns, wanted)


def _is_accepted(command: str, output: Output) -> bool:
    """Whether the user accepts the whole proposal; returns false if the user wants to edit each column. Raises
    typer.Abort if the user wants neither.
    """
    output.text(f"\nProposed: {command}\n")
    while True:
        question = "Accept all (y), edit column by column (e), or write nothing (n)?"
        answer = str(typer.prompt(question, default="y", err=True)).strip().lower()
        if answer in ("n", "no"):
            raise typer.Abort
        if answer in ("y", "yes", "e", "edit"):
            return answer.startswith("y")
        typer.echo("Type y, e or n.", err=True)


def _asked_use(proposed: ProposedUse) -> ProposedUse:
    """Returns the use that the user chooses for a column; a column that was typed is not asked about."""
    if proposed.is_typed:
        return proposed
    answers = {**_ANSWERS, "p": ENTITY} if proposed.use == ENTITY else _ANSWERS
    person = "the number of a person (p), " if proposed.use == ENTITY else ""
    question = f"{proposed.column}: {person}known to others (k), secret (s), or left out (d)?"
    while True:
        answer = typer.prompt(question, default=_LETTERS[proposed.use], err=True).strip().lower()
        if answer in answers:
            return replace(proposed, use=answers[answer])
        typer.echo(f"Type {'p, ' if person else ''}k, s or d.", err=True)


def _show_uses(output: Output, proposal: Proposal) -> None:
    rows = tuple((each.column, each.use, each.why) for each in proposal.uses)
    output.folded(Rows(("column", "proposed", "why"), rows))


def _risks(proposal: Proposal) -> Iterator[str]:
    """Yields sentences about rows that can be identified: the riskiest set of columns of each size, from the smallest
    on.
    """
    by_size: dict[int, tuple[str, float]] = {}
    for columns, share in proposal.risks:
        size = columns.count(", ") + 1
        if share > by_size.get(size, ("", 0.0))[1]:
            by_size[size] = (columns, share)
    for size in sorted(by_size)[:_SETS]:
        columns, share = by_size[size]
        yield f"{per_cent(share)} of the rows are alone with their {columns}"


def show_proposal(
    output: Output,
    proposal: Proposal,
    command: str | None,
    script: str,
    written: str | None,
    remarks: Sequence[str] = (),
) -> None:
    """Prints the uses of columns, the risks, a command for the user to type, if there is one, and the script, if it is
    wanted.

    `written` is the path of the written script, - for standard output, and None if no script was wanted. `remarks` are
    sentences about reading the data.
    """
    if output.json:
        uses = [{"column": each.column, "use": each.use, "why": each.why} for each in proposal.uses]
        risks = [{"columns": columns, "unique_rows": share} for columns, share in proposal.risks]
        special = [{"column": name, "unique_rows": share} for name, share in proposal.special]
        figures = proposal.rows.records()
        about = {"data": proposal.called, "columns": uses, "risks": risks, "special": special, "profile": figures}
        output.json_line({**about, "command": command, "script": script, "written": written, "read": list(remarks)})
        return
    for sentence in remarks:
        output.status(sentence)
    _show_uses(output, proposal)
    output.text("\n" + "\n".join(_lines(proposal)))
    if command is None:
        output.text("\nNo release is proposed: it takes two people, and a column that others may know of them.")
    else:
        output.text(f"\nA release with these columns:\n  {command}")
    if written is None:
        output.status("-o FILE writes a script to edit, -o - prints it")
    elif written == "-":
        output.text(f"\nA script to edit, for sqlanon run:\n\n{script.rstrip()}")
    else:
        output.status(f"wrote {written}; edit it, then: sqlanon run {written}")


def _lines(proposal: Proposal) -> Iterable[str]:
    secrets = counted(len(proposal.secret), "column looks secret", "columns look secret")
    yield f"{counted(len(proposal.uses), 'column')}: {secrets}, {len(proposal.known)} others may know."
    yield from (f"{sentence}." for sentence in _risks(proposal))
    if proposal.special:
        first = ", ".join(name for name, _ in proposal.special[:_SETS])
        yield f"Most rows are special by {first}: make these coarser first."
    if not proposal.secret:
        yield "Is any of these columns one that people would keep to themselves? Then name it with --secret."
