"""Writes the certificate for people: its promises and their limits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from sqlanon.domain.identifiers import listed
from sqlanon.domain.policy import Role
from sqlanon.domain.release import Reading, level_range
from sqlanon.export.certificate import words_of
from sqlanon.export.certificate_format import (
    Argument,
    Arguments,
    AssumptionEntry,
    AttributeEntry,
    Certificate,
    ColumnEntry,
    Figure,
    LevelEntry,
    LossEntry,
    OtherRelease,
    PolicyEntry,
    RequirementEntry,
)

# The title of every certificate in Markdown. The certificate of an earlier export is recognized by it.
MARKDOWN_TITLE = "# Certificate of the release "

_FROM_FILE = "exported file"
_FROM_ROWS = "rows as exported"

_LIMITS = (
    "It bounds the risks that the requirements above name, and no other: a group that hides who is who may still "
    "have a sensitive value in common.",
    "It rests on the roles of the columns: a column that others can know, but that the policy does not call a "
    "quasi-identifier, may identify people.",
    "It speaks of this release alone: together with other data about the same people, another release "
    "of them included, more may be learned.",
)
_UNSIGNED = "It is not signed: the hashes tell whether a file was changed, not who made it."


def to_markdown(certificate: Certificate, signer: str | None = None) -> str:
    """Writes a certificate with the hashes of its files as Markdown; `signer` is the fingerprint of the signing key."""
    return "\n".join(_lines(certificate, signer)) + "\n"


def _lines(certificate: Certificate, signer: str | None) -> Iterator[str]:
    rows, time = certificate.rows, certificate.time
    yield MARKDOWN_TITLE + _code(certificate.release)
    yield ""
    if rows.source is None:
        yield f"{rows.released:,} rows, made of counts with noise. The number of the source's rows is not stated."
    else:
        yield f"{rows.released:,} of the source's {rows.source:,} rows; {rows.suppressed:,} suppressed."
    yield f"Released {time.released}, exported {time.exported}."
    yield from _required(certificate.requirements)
    yield from _section("What it promises")
    yield from (
        f"- {sentence}"
        for sentence in _promises(certificate.requirements, certificate.policy, of_source=rows.source is not None)
    )
    yield from _section("What it does not promise")
    limits = (
        *_assumed(certificate.assumptions),
        *_limits_of_sets(certificate.requirements),
        *_LIMITS,
        _UNSIGNED if signer is None else f"It is signed as JSON, and not this page, with the key {signer}.",
        *_limits_of_others(certificate.other_releases),
        *_limits_of_pseudonyms(certificate.policy),
    )
    yield from (f"- {sentence}" for sentence in limits)
    yield from _generalization(certificate)
    yield from _policy(certificate.policy)
    yield from _columns(certificate)
    yield from _files(certificate)


def _columns(certificate: Certificate) -> Iterator[str]:
    """Yields the lines about the columns of each table."""
    head, words = ("column", "type", "a value is"), words_of(certificate)
    if certificate.columns is not None:
        yield from _section("Columns")
        yield from _table(head, [_column(c, words) for c in certificate.columns])
        return
    yield from _section("Tables")
    columns = [(table, column) for table in certificate.all_tables for column in table.columns]
    rows = [(_code(table.name), f"{table.rows:,}", *_column(column, words)) for table, column in columns]
    yield from _table(("table", "rows", *head), rows)


def _column(column: ColumnEntry, words: Mapping[Reading, str]) -> tuple[str, str, str]:
    """Returns the name and the type of a column, and the meaning of its values."""
    of = "" if column.source is None else f", of {_code(column.source)}"
    return _code(column.name), _code(column.type), words[column.reading] + of


def _required(requirements: Sequence[RequirementEntry]) -> Iterator[str]:
    yield from _section("Required and achieved")
    head = ("requirement", "required", "achieved", "met", "recomputed from", "defined in")
    rows = [
        (
            _code(r.requirement),
            *map(_plain, (r.required, r.achieved, r.satisfied)),
            r.recomputed_from,
            r.paper,
        )
        for r in requirements
    ]
    yield from _table(head, rows)


def _promises(requirements: Sequence[RequirementEntry], policy: PolicyEntry, *, of_source: bool) -> Iterator[str]:
    for requirement in requirements:
        yield f"{_code(requirement.requirement)}: {requirement.meaning}"
    seen = [r.recomputed_from for r in requirements]
    joined = {r.recomputed_from: r.joined_with for r in requirements if r.joined_with is not None}
    if _FROM_FILE in seen:
        which = "Each requirement" if set(seen) == {_FROM_FILE} else "Each requirement of which the table says so"
        yield f"{which} was recomputed from the exported file itself, read back before it took its name."
    for other in dict.fromkeys(seen):
        if other == _FROM_ROWS:
            yield (
                "What the files together keep apart was recomputed from their rows as they were written; each file, "
                "read back before it took its name, has exactly these rows."
            )
        elif other in joined:
            yield (
                f"What the join with {_code(joined[other].release)} tells was counted from both releases before the "
                f"file was written: with that one, released {joined[other].released}, and with no other."
            )
        elif other != _FROM_FILE:
            yield (
                f"{_counted(other)} were counted when the snapshot was made; the exported file, read back before it "
                "took its name, has exactly the rows of that snapshot."
            )
    has_masks = any((attribute.pseudonym or "").startswith("mask") for attribute in policy.attributes)
    yield (
        "Suppressed rows, and the values of columns that the policy does not name or calls identifiers, are in none "
        f"of the files{', apart from the characters that a mask keeps' if has_masks else ''}."
    )
    if of_source:
        drawn = "The operating system's random bits determine the order of the snapshot's rows"
        yield f"{drawn}, so their places link to nothing."


def _counted(seen: str) -> str:
    """Returns the beginning of a sentence about input that no row of the file shows, such as the respondents; `seen`
    names it.
    """
    hidden = seen.removeprefix("snapshot with its ").partition(",")[0]
    entries = {
        "public table": "Rows of the public table",
        "the ledger of the budget": "The entries of the budget's ledger",
    }
    return entries.get(hidden, hidden.capitalize())


def _assumed(assumptions: Sequence[AssumptionEntry]) -> Iterator[str]:
    """Yields the assumptions behind the figures above, and what each assumption leaves open."""
    for entry in assumptions:
        about = f"Of {', '.join(map(_code, entry.attributes))}: " if entry.attributes else ""
        yield f"{about}{entry.meaning} {entry.not_hidden}"


def _limits_of_sets(requirements: Sequence[RequirementEntry]) -> Iterator[str]:
    """Yields the limits of requirements on some quasi-identifiers, for readers who know other quasi-identifiers,
    too.
    """
    sets = list(dict.fromkeys(_code(listed(r.on)) for r in requirements if r.on))
    if sets:
        yield (
            f"A requirement on {' or on '.join(sets)} is about readers who know these columns of a person and no other "
            "quasi-identifiers. It promises nothing to anyone who knows more, such as readers of several sets who put "
            "together what they know: they may find a single row."
        )


def _limits_of_others(others: Sequence[OtherRelease]) -> Iterator[str]:
    """Yields the other releases that this release can be compared with."""
    named = []
    for entry in others:
        about = [entry.method] if entry.method else []
        about += [f"exported {entry.exported[:10]}"] if entry.exported else []
        about += ["live"] if entry.kind == "view" else []
        named.append(_code(entry.release) + (f" ({', '.join(about)})" if about else ""))
    if named:
        yield f"It is not the only release of its source: there is {', '.join(named)}. Together they may tell more."


def _limits_of_pseudonyms(policy: PolicyEntry) -> Iterator[str]:
    kinds = {attribute.pseudonym for attribute in policy.attributes}
    shifted = [attribute.name for attribute in policy.attributes if (attribute.pseudonym or "").startswith("shift")]
    if shifted:
        yield (
            f"{_code(', '.join(shifted))}: dates are not true; distances within a respondent are. One date of a "
            "respondent that a reader knows tells all others, and no requirement counts these columns."
        )
    if any(kind and not kind.startswith("shift") for kind in kinds):
        yield "A pseudonym hides a name, not which rows share it."
    masked = [attribute.name for attribute in policy.attributes if (attribute.pseudonym or "").startswith("mask")]
    if masked:
        yield (
            f"{_code(', '.join(masked))}: masked. A mask is a pseudonym, not anonymity: it has the form of the value, "
            "equal values have equal masks, and whoever has the key has the values. It may be the real number of "
            "somebody else."
        )
    if "mask, no key" in kinds:
        yield "A mask without a key is the same in every release, which links them."
    if "shift, key kept" in kinds:
        yield "Dates that are shifted under a key that is kept move alike in every release made with it."
    if kinds & {"key kept", "mask, key kept"}:
        yield "Pseudonyms under a key that is kept are the same in every release made with it, which links them."


def _generalization(certificate: Certificate) -> Iterator[str]:
    method, loss = certificate.method, certificate.loss
    yield from _section("What is published")
    if certificate.levels:
        rows = [
            (_code(a.attribute), level_range(a.levels or (a.level or 0,)), str(a.height), _name(a))
            for a in certificate.levels
        ]
        yield from _table(("quasi-identifier", "level", "of", "hierarchy"), rows)
    elif method.published:
        yield method.published
    yield ""
    for attribute in certificate.policy.attributes:
        if attribute.role is Role.SENSITIVE and (attribute.min_level or attribute.hide):
            yield f"{_code(attribute.name)} has labels of {_code(str(attribute.hierarchy))} in place of its values: "
            yield f"{_labels(attribute)}. What is required of it is required of these labels, and so are its figures."
            yield ""
    figure = _plain(loss.achieved) + _proven(loss)
    yield f"Method: {_code(_call(method.name, method.options))}. Loss: {figure}."
    if loss.definition:
        yield f"The loss is the {loss.definition}."


def _labels(attribute: AttributeEntry) -> str:
    """Describes the labels of a sensitive column."""
    if not attribute.hide:
        return f"those of level {attribute.min_level}, in all rows"
    nodes = ", ".join(map(_code, attribute.hide))
    return f"in all rows the parent of {nodes} stands for all values below it, and other values are as they are"


def _proven(loss: LossEntry) -> str:
    """Writes whether another release could lose less, as far as the search has proven."""
    if loss.proven_optimal is None:
        return ""
    if loss.proven_optimal:
        return ", the least of all levels that meet the requirements"
    bound = "" if loss.at_least is None else f": none is below {_plain(loss.at_least)}"
    return f", not proven to be the least{bound}"


def _name(level: LevelEntry) -> str:
    return _code(level.hierarchy) if level.hierarchy else "kept or suppressed"


def _policy(policy: PolicyEntry) -> Iterator[str]:
    """Writes the policy statement as a code block, with a fence longer than any run of backticks in it."""
    yield from _section("Policy")
    yield f"Fingerprint (SHA-256, hierarchies included): `{policy.fingerprint_sha256}`"
    yield ""
    fence = "`" * max(3, _longest_run(policy.statement) + 1)
    yield from (fence + "sql", policy.statement, fence)


def _files(certificate: Certificate) -> Iterator[str]:
    versions = certificate.versions
    if certificate.contents is not None:
        yield from _section("Contents and versions")
        rows = [(_code(table.name), _code(table.sha256)) for table in certificate.contents]
        yield from _table(("table", "SHA-256 of its rows"), rows)
    else:
        yield from _section("Files and versions")
        files = [*(certificate.files or ()), *([certificate.dictionary] if certificate.dictionary else [])]
        described = [(_code(f.name), f"{f.bytes:,}", _code(f.sha256)) for f in files]
        yield from _table(("file", "bytes", "SHA-256"), described)
    yield ""
    for done, version in (("Released", versions.released_with), ("Exported", versions.exported_with)):
        yield f"{done} with sqlanon {version.sqlanon} on {version.engine}."


def _section(title: str) -> tuple[str, ...]:
    return ("", f"## {title}", "")


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{' --- |' * len(head)}"
    for row in rows:
        cells = (cell.replace("|", r"\|") for cell in row)
        yield f"| {' | '.join(cells)} |"


def _plain(value: Figure | bool) -> str:
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case str() | int():
            return str(value)
    return f"{value:.6g}"


def _code(text: str) -> str:
    """Writes a name as inline code, so that Markdown does not change it."""
    line = " ".join(text.split())
    fence = "`" * (_longest_run(line) + 1)
    edge = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{edge}{line}{edge}{fence}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


def _call(name: str, arguments: Arguments) -> str:
    return f"{name}({', '.join(f'{key} => {_argument(value)}' for key, value in arguments.items())})"


def _argument(value: Argument) -> str:
    if isinstance(value, list):
        return f"({', '.join(map(_argument, value))})"
    if isinstance(value, bool):
        return str(value).lower()
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)
