"""The release that `sqlanon anonymize` makes: its columns and numbers, checked against the data, as SQL."""

from __future__ import annotations

import csv
import os
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlanon.assess.profiling.categories import recognized
from sqlanon.assess.profiling.field_forms import FieldForms, MissingText, field_forms
from sqlanon.assess.profiling.publishable import looked_at
from sqlanon.assess.profiling.sample import Sample, sampled
from sqlanon.clients.frames.data_files import SOURCE, DataFile
from sqlanon.domain.identifiers import fold, nearest
from sqlanon.domain.numbers import counted
from sqlanon.domain.policy import K_BY_DEFAULT, L_BY_DEFAULT, Role
from sqlanon.domain.requests import MethodCall
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.errors import PrivacyViolation, UserError
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.queries import select
from sqlanon.syntax.texts import call_text, string_text, typed_name

# Typographic quotes (single, double and pointed), and the acute and the grave accent.
_QUOTES = "\u2018\u2019\u201a\u201c\u201d\u201e\u00ab\u00bb\u00b4`"

# The largest number of columns that a sentence names.
_LISTED = 4


@dataclass(frozen=True)
class Wanted:
    """The options of `sqlanon anonymize` as typed; None for an option that was left out.

    `known` and `secret` are lists of columns, and `drop` removes columns from proposed lists. Columns in `allowed` are
    published even if they look like identifiers. `target` is the folder or the file of the export.
    """

    known: tuple[str, ...] | None = None
    secret: tuple[str, ...] | None = None
    drop: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    entity: str | None = None
    k: int = K_BY_DEFAULT
    l: int = L_BY_DEFAULT  # noqa: E741
    method: MethodCall | None = None
    format: str | None = None
    target: str | None = None
    replace: bool = False
    report: bool = False


@dataclass(frozen=True)
class Columns:
    """The columns of the data by role; `unpublished` are the columns that no file contains."""

    known: tuple[str, ...]
    secret: tuple[str, ...]
    entity: str | None
    unpublished: tuple[str, ...]


def listed(texts: Iterable[str] | None) -> tuple[str, ...] | None:
    """Returns the columns of a repeatable option, each with names separated by commas; None if it was left out.

    A name that contains a comma is in double quotes.
    """
    if texts is None:
        return None
    names = [name.strip() for text in texts for row in csv.reader([text], skipinitialspace=True) for name in row]
    return tuple(dict.fromkeys(filter(None, names)))


def resolved(called: str, names: Sequence[str], wanted: Wanted) -> Columns:
    """Returns the columns by their roles. Raises UserError for an unknown column and for a column with two roles."""
    known = _known("--known", called, names, wanted.known or ())
    secret = _known("--secret", called, names, wanted.secret or ())
    dropped = _known("--drop", called, names, wanted.drop)
    _known("--allow", called, names, wanted.allowed)
    entity = next(iter(_known("--entity", called, names, (wanted.entity,) if wanted.entity is not None else ())), None)
    options = {"--known": known, "--secret": secret, "--drop": dropped, "--entity": (entity,) if entity else ()}
    _require_apart(options)
    published = {*known, *secret}
    return Columns(known, secret, entity, tuple(name for name in names if name not in published))


def require_known(columns: Columns, names: Sequence[str]) -> None:
    """Raises UserError if there is no known column, because then no column could identify people."""
    if not columns.known:
        raise UserError(
            "no column is named as known",
            hint=f"name those that others may know of a person: --known {','.join(map(shell_name, names[:2]))}",
        )


def _require_apart(options: dict[str, tuple[str, ...]]) -> None:
    """Raises UserError for a column that two options name."""
    option_of: dict[str, str] = {}
    for option, columns in options.items():
        for name in columns:
            if name in option_of:
                hint = (
                    "known columns are made coarser and secret ones are published as they are: a column is one of them"
                )
                raise UserError(f"{name} is listed both in {option_of[name]} and in {option}", hint=hint)
            option_of[name] = option


def _known(option: str, called: str, names: Sequence[str], wanted: Iterable[str]) -> tuple[str, ...]:
    """Returns the columns as the data spell them. Raises UserError, with similar names, for an unknown column."""
    spelling = {fold(name.strip()): name for name in names} | {fold(name): name for name in names}
    columns: list[str] = []
    for name in wanted:
        if fold(name) in spelling:
            columns.append(spelling[fold(name)])
            continue
        if (plain := name.strip(_QUOTES)) != name:
            raise UserError(
                f"{option}: the quotes of {name} are typographic, so they count as part of the name",
                hint=f"write {option} {shell_name(plain)}",
            )
        parts = [part.strip() for part in name.split(";")]
        if len(parts) > 1:
            hint = f"names are separated by commas: {option} {','.join(map(shell_name, filter(None, parts)))}"
            raise UserError(f"{option}: {called} has no column {name}", hint=hint)
        hint = nearest(name, list(names)) or f"it has {', '.join(names[:12])}{' and more' if len(names) > 12 else ''}"
        raise UserError(f"{option}: {called} has no column {name}", hint=hint)
    return tuple(dict.fromkeys(columns))


def labels_of(path: Path, names: Sequence[str]) -> dict[str, str]:
    """Reads the labels of columns from a CSV file, by column; other lines are ignored.

    Raises UserError for a file that cannot be read, and for a file without a label for any of the `names`.
    """
    spelling = {fold(name): name for name in names}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = [row for row in csv.reader(file) if len(row) > 1]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        why = getattr(error, "strerror", None) or "it is not a CSV file in UTF-8"
        raise UserError(f"{path} cannot be read: {why}", hint="each line has a column's name and its label") from None
    labels = {spelling[fold(row[0].strip())]: row[1].strip() for row in lines if fold(row[0].strip()) in spelling}
    if not labels:
        raise UserError(
            f"{path} has no label for any column",
            hint=f"each line has a column's name and its label: {shell_name(names[0])},what it is",
        )
    return labels


def shell_name(name: str) -> str:
    """Returns a column's name as typed after an option: in quotes if the shell or a comma would split it."""
    quoted = '"' + name.replace('"', '""') + '"' if "," in name or '"' in name else name
    return shlex.quote(quoted)


def people_of(engine: Engine, table: str, entity: str | None) -> int:
    """Counts the people in a table as k-anonymity does: the distinct values of the column `entity`, or all rows if
    `entity` is None.
    """
    count = f.count_distinct(column(entity)) if entity else f.count()
    ((people,),) = engine.rows(select(count, of=relation(table)))
    return int(people)


def require_possible(engine: Engine, called: str, columns: Columns, wanted: Wanted) -> None:
    """Raises UserError for k or l without effect, and PrivacyViolation for k or l beyond the data's numbers."""
    if wanted.k < 2:
        raise UserError(
            f"--k {wanted.k} protects nobody: a row may be alone in its class",
            hint=f"write --k {K_BY_DEFAULT}, or a larger number",
        )
    if wanted.l < 1:
        raise UserError(
            f"--l {wanted.l} must be 1 or more",
            hint=f"write --l {L_BY_DEFAULT}, or 1 to require nothing of secrets",
        )
    counts = [f.count_distinct(column(columns.entity)) if columns.entity else f.count()]
    counts += [f.count_distinct(f.coalesce(as_text(column(name)), "")) for name in columns.secret]
    [[people, *values]] = engine.rows(select(*counts, of=relation(SOURCE)))
    if wanted.k > people:
        what = f"different value of {columns.entity}" if columns.entity else "row"
        many = f"different values of {columns.entity}" if columns.entity else "rows"
        raise PrivacyViolation(
            f"k = {wanted.k} is more than {called} has: {counted(people, what, many)}",
            hint=f"--k {people} is the largest possible value"
            if people > 1
            else "data about one person cannot be anonymized",
        )
    for name, number in zip(columns.secret, values, strict=True):
        if number < wanted.l:
            hint = f"--l {number} is the largest possible value" if number > 1 else f"leave {name} out, or write --l 1"
            raise PrivacyViolation(f"l = {wanted.l}, and {name} has {counted(number, 'different value')}", hint=hint)


def require_no_identifiers(engine: Engine, columns: Columns, types: Sequence[tuple[str, str]], wanted: Wanted) -> None:
    """Raises UserError for a published column that looks like an identifier by its name or values."""
    allowed = {fold(name) for name in wanted.allowed}
    published = {fold(name) for name in (*columns.known, *columns.secret)} - allowed
    published_columns = [(name, kind) for name, kind in types if fold(name) in published]
    sample = sample_of(engine, SOURCE, published_columns)
    for name, recognition in recognized(sample).items():
        if recognition.direct:
            raise UserError(
                f"{name} identifies people: {recognition.why}",
                hint=f"leave {name} out, so that it is not published; write --allow {shell_name(name)} if it does not "
                "identify people",
            )


def require_publishable(engine: Engine, columns: Columns, types: Sequence[tuple[str, str]], wanted: Wanted) -> None:
    """Raises UserError for a column of free text, and for a secret column whose values identify people."""
    roles = dict.fromkeys(columns.known, Role.QUASI_IDENTIFIER) | dict.fromkeys(columns.secret, Role.SENSITIVE)
    allowed = {fold(name) for name in wanted.allowed}
    other_roles = {name: role for name, role in roles.items() if fold(name) not in allowed}
    for name, why in looked_at(engine, QualifiedName((SOURCE,)), types, other_roles).refused:
        raise UserError(
            why,
            hint=f"leave {name} out, replace it by a coarser column, or publish it with --allow {shell_name(name)}",
        )


def forms_of(engine: Engine, types: Sequence[tuple[str, str]]) -> FieldForms:
    """Finds missing-value codes and decimal commas in columns, given as (name, type), of the table SOURCE."""
    return field_forms(engine, QualifiedName((SOURCE,)), sample_of(engine, SOURCE, types))


def sample_of(engine: Engine, table: str, types: Sequence[tuple[str, str]]) -> Sample:
    """Returns a sample of a table's rows, with columns given as (name, type)."""
    ((rows,),) = engine.rows(select(f.count(), of=relation(table)))
    return sampled(engine, QualifiedName((table,)), types, rows)


def forms_in_words(forms: FieldForms, *, advised: bool = True) -> Iterator[str]:
    """Yields sentences about codes and decimal commas, with the options that read them if `advised`.

    Without advice, codes that may be values in other columns are left out.
    """
    for each in forms.nulls if advised else forms.harmless:
        advice = f", and is read as a value: {_null_option(each)}" if advised else ""
        yield f'"{each.text}" in {names_in_words(each.columns)} looks like a missing value{advice}'
    if forms.commas:
        advice = ", and is read as text: --decimal , reads the numbers" if advised else ""
        yield f"{names_in_words(forms.commas)} has numbers with a decimal comma{advice}"


def _null_option(code: MissingText) -> str:
    """Describes the effect of the option --null for a code."""
    others = f", also of {names_in_words(code.others)}, where it may be a value" if code.others else ""
    return f"--null {shlex.quote(code.text)} reads it as missing, in all columns{others}"


def names_in_words(names: Sequence[str]) -> str:
    """Names the first columns and the number of further columns."""
    return ", ".join(names[:_LISTED]) + (f" and {len(names) - _LISTED} more" if len(names) > _LISTED else "")


def require_free(target: str | None, replace: bool, is_dry: bool) -> None:
    """Raises UserError, before anything is computed, for a target to which nothing can be exported."""
    if target is None:
        if is_dry:
            return
        raise UserError("no folder is named for the files", hint="write -o out/, or --dry-run to write none")
    if "://" in target:
        return
    path = Path(target)
    try:
        if path.is_dir() and not replace and any(path.iterdir()):
            raise UserError(
                f"{target} has files in it",
                hint="name a new folder, or replace an earlier release in it with --replace",
            )
        if not path.is_dir() and os.path.lexists(path) and not replace:
            raise UserError(
                f"{target} exists already", hint="name a new file, or replace an earlier release with --replace"
            )
        above = next((each for each in (path, *path.absolute().parents) if each.exists()), path)
        if above.is_dir() and not os.access(above, os.W_OK | os.X_OK):
            raise UserError(f"{target} cannot be written: {above} cannot be written by you", hint="name another folder")
    except (OSError, ValueError) as error:
        raise UserError(f"{target!r} cannot be written: {getattr(error, 'strerror', None) or error}") from None


def release_statements(name: str, columns: Columns, wanted: Wanted) -> list[str]:
    """Returns the statements that make the release and its policy from the table SOURCE.

    If there are allowed columns, they contain a full policy, because the short form refuses such columns.
    """
    requirements = [f"k_anonymity({wanted.k})"]
    if columns.secret:
        requirements.append(f"l_diversity({wanted.l})")
    source, release = typed_name(SOURCE), typed_name(name)
    method = f"METHOD {call_text(wanted.method)}" if wanted.method else ""
    required = f"REQUIRE {', '.join(requirements)}"
    if wanted.allowed:
        roles = [f"{typed_name(each)} QUASI IDENTIFIER USING AUTO" for each in columns.known]
        roles += [f"{typed_name(each)} SENSITIVE" for each in columns.secret]
        roles += [f"{typed_name(columns.entity)} ENTITY"] if columns.entity else []
        policy = f"CREATE POLICY {release} ON {source} ({', '.join(roles)}) {required}"
        return [policy, f"CREATE ANONYMIZED TABLE {release} AS POLICY {release} {method}".rstrip()]
    parts = [
        f"CREATE ANONYMIZED TABLE {release} FROM {source} ({_names(columns.known)})",
        f"SENSITIVE {_names(columns.secret)}" if columns.secret else "",
        f"ENTITY {typed_name(columns.entity)}" if columns.entity else "",
        required,
        method,
    ]
    return [" ".join(filter(None, parts))]


def _names(names: Iterable[str]) -> str:
    return ", ".join(map(typed_name, names))


def export_statement(name: str, data: DataFile, wanted: Wanted) -> str:
    """Returns the EXPORT of the release to its target; files in a folder have the format of the data."""
    target = str(wanted.target)
    kind = wanted.format
    if (
        kind is None
        and "://" not in target
        and (target.endswith("/") or Path(target).is_dir() or not Path(target).suffix)
    ):
        kind = "parquet" if data.kind in ("parquet", "table") else "csv"
    options = [*([f"FORMAT {typed_name(kind)}"] if kind else [])]
    options += ["REPLACE true"] * wanted.replace + ["REPORT true"] * wanted.report
    text = f"EXPORT {typed_name(name)} TO {string_text(target)}"
    return f"{text} ({', '.join(options)})" if options else text


def proposed_command(texts: Sequence[str], columns: Columns, wanted: Wanted) -> str:
    """Returns the command line that publishes these columns and no others."""
    parts = ["sqlanon", "anonymize", *map(shlex.quote, texts)]
    for option, names in (("--known", columns.known), ("--secret", columns.secret)):
        if names or option == "--secret":
            parts += [option, ",".join(map(shell_name, names)) or "''"]
    if columns.entity:
        parts += ["--entity", shell_name(columns.entity)]
    parts += ["--k", str(wanted.k)] * (wanted.k != K_BY_DEFAULT) + ["--l", str(wanted.l)] * (wanted.l != L_BY_DEFAULT)
    if wanted.allowed:
        parts += ["--allow", ",".join(map(shell_name, wanted.allowed))]
    if wanted.method is not None:
        parts += ["--method", shlex.quote(call_text(wanted.method))]
    if wanted.format is not None:
        parts += ["--format", shlex.quote(wanted.format)]
    parts += ["--report"] * wanted.report + ["--replace"] * wanted.replace
    return " ".join([*parts, "-o", shlex.quote(wanted.target or "out/")])
