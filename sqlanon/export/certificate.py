"""The certificate of an export: what was required, what is achieved, and by which policy. It quotes no source value.

Names of columns and hierarchies, their kinds and levels are in it; the text of a hierarchy or of a source that is a
query is not, since it may hold values: the policy's fingerprint covers both.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any

from sqlanon import __version__
from sqlanon.catalog.hierarchies import StoredHierarchy
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Attribute, Policy, Pseudonym, Role
from sqlanon.domain.reading import Reading
from sqlanon.domain.release import KnownRelease, Release, ReleaseAttribute
from sqlanon.domain.report import Measurement
from sqlanon.domain.values import QualifiedName, Source, Value
from sqlanon.engines.base import Column
from sqlanon.errors import InternalError
from sqlanon.export.formats.base import COMMAS, CsvFields
from sqlanon.export.joined_proof import joined_proof
from sqlanon.export.json_values import stated_arguments_of, stated_figure, stated_moment
from sqlanon.export.previous_export import CERTIFICATE_FORMAT, CERTIFICATE_VERSION
from sqlanon.inputs.joins.requirements import JoinedRequirement
from sqlanon.methods.base import EXPORTED, Figure
from sqlanon.methods.registry import assumed_of, options_of, worded
from sqlanon.questions.ask import BoundRequirement
from sqlanon.syntax import render

__all__ = ["Evidence", "Proof", "asked_by", "certificate", "to_json"]

_HIDDEN = (Role.IDENTIFIER, Role.ENTITY)
# What a respondent is where the policy names none.
_ROWS = " Each row counts as a respondent, since the policy names no ENTITY."


@dataclass(frozen=True)
class Proof:
    """A requirement with its measurement.

    `hidden` is what it reads that no file shows, such as the respondents: the figure is then
    that of the snapshot when it was made. None if the figure was recomputed from the exported
    file itself.
    """

    requirement: BoundRequirement
    achieved: Measurement
    hidden: str | None = None


@dataclass(frozen=True)
class Evidence:
    """What a certificate is made from.

    `columns` are the file's, `types` those of the source by its columns' names. Of a
    release of several tables, `tables` has the name, the number of rows and the columns
    of each instead. `structure` has the measurements of the method's own promises, `others` the releases that were
    made from the same source.
    `joins` are the requirements of the join with the release `joined`, with their measurements. Each combination of
    values of the columns `partition` has files of its own; without columns there are several files nonetheless. `csv`
    says how the fields of a CSV file are told apart.
    """

    release: Release
    policy: Policy
    hierarchies: Sequence[StoredHierarchy]
    proofs: Sequence[Proof]
    columns: Sequence[Column]
    engine_version: str
    exported_at: datetime
    tables: Sequence[tuple[str, int, Sequence[Column]]] = ()
    types: Mapping[str, str] = field(default_factory=dict)
    structure: Sequence[Measurement] = ()
    others: Sequence[KnownRelease] = ()
    joins: Sequence[tuple[JoinedRequirement, Measurement]] = ()
    joined: Release | None = None
    partition: tuple[str, ...] | None = None
    csv: CsvFields = COMMAS


def certificate(evidence: Evidence) -> dict[str, Any]:
    """The certificate without the hashes of the files: no file can state its own, so the copy inside one does not."""
    release = evidence.release
    wording = worded(release.method, release.method_arguments)
    return {
        "format": CERTIFICATE_FORMAT,
        "format_version": CERTIFICATE_VERSION,
        "release": release.name.name,
        "rows": {
            "source": release.source_rows,
            "released": release.released_rows,
            "suppressed": release.suppressed_rows,
        },
        "requirements": [
            *(_requirement(proof, evidence.policy) for proof in evidence.proofs),
            *(
                _structure_proof(item, wording.figures[item.question], release.method_arguments)
                for item in evidence.structure
            ),
            *(joined_proof(*each, evidence.joined, evidence.policy.joined) for each in evidence.joins),
        ],
        "assumptions": [
            {"name": item.name, "attributes": list(item.attributes), "meaning": item.meaning, "not_hidden": item.leaves}
            for item in assumed_of(release)
        ],
        "levels": [
            {"attribute": a.name, "hierarchy": a.hierarchy, **_levels(a), "height": a.height}
            for a in release.attributes
            if a.role is Role.QUASI_IDENTIFIER and a.levels
        ],
        "loss": _loss(release, wording.losses),
        "policy": {
            "name": release.policy,
            "fingerprint_sha256": release.policy_fingerprint,
            "statement": _statement(evidence.policy),
            "source": _kind(evidence.policy.source),
            "public": _kind(evidence.policy.against),
            "attributes": [_attribute(attribute, evidence.types) for attribute in evidence.policy.all_attributes],
            "hierarchies": [
                {"name": h.definition.name, "kind": h.definition.kind, "height": h.height} for h in evidence.hierarchies
            ],
        },
        "method": {
            "name": release.method,
            "arguments": stated_arguments_of(release.method_arguments),
            "options": stated_arguments_of(tuple(options_of(release.method, release.method_arguments).items())),
            "published": wording.published,
        },
        "other_releases": list(map(_other, evidence.others)),
        **_evidence_by_requirement(evidence),
        "versions": {
            "released_with": {"engine": release.engine_version, "sqlanon": release.sqlanon_version},
            "exported_with": {"engine": evidence.engine_version, "sqlanon": __version__},
        },
        "time": {"released": stated_moment(release.created_at), "exported": stated_moment(evidence.exported_at)},
    }


def _other(release: KnownRelease) -> dict[str, Any]:
    """A release of the same source, whose reader may have this one too. It does not say what both were made from."""
    return {
        "release": release.name.name,
        "kind": release.kind,
        "method": release.method,
        "exported": None if release.exported_at is None else stated_moment(release.exported_at),
        "stands": release.stands,
    }


def _evidence_by_requirement(evidence: Evidence) -> dict[str, Any]:
    """The columns, of the one table or of each."""
    partition: dict[str, Any] = {}
    if evidence.partition is not None:
        partition["partitioned_by"] = list(evidence.partition)
    if evidence.csv != COMMAS:
        partition["csv"] = asdict(evidence.csv)
    if not evidence.tables:
        return {"columns": _columns(evidence, None, evidence.columns), **partition}
    return {
        "tables": [
            {"name": name, "rows": rows, "columns": _columns(evidence, made.fragment, columns)}
            for made, (name, rows, columns) in zip(evidence.release.published, evidence.tables, strict=True)
        ],
        **partition,
    }


def _columns(evidence: Evidence, fragment: str | None, columns: Sequence[Column]) -> list[dict[str, Any]]:
    """The columns with their types, and how each is read."""
    release = evidence.release
    known = {attribute.name: attribute for attribute in release.attributes_of(fragment)}
    readings = {known[name].reading for name, _ in columns} - {Reading.TOKEN}
    if not any(readings.issubset(together) for together in worded(release.method, release.method_arguments).tables):
        raise InternalError(
            f"the method {release.method} does not say that it publishes a table whose columns are read as "
            f"{', '.join(map(str, readings))}; nothing was exported"
        )
    return [{"name": name, "type": kind, **_reading(known[name], evidence)} for name, kind in columns]


def _reading(attribute: ReleaseAttribute, evidence: Evidence) -> dict[str, Any]:
    """How a column is read, at which levels its labels are, and the source's column behind one of another name."""
    stated: dict[str, Any] = {"reading": attribute.reading.value}
    if attribute.reading is Reading.LABEL and attribute.levels:
        stated["levels"] = list(attribute.levels)
    return stated | ({"source": attribute.source} if attribute.source else {})


def _levels(attribute: ReleaseAttribute) -> dict[str, Any]:
    """The level that all rows have in a column; no level and all of them where rows have several."""
    several = list(attribute.levels)
    return {"level": several[0]} if len(several) == 1 else {"level": None, "levels": several}


def to_json(stated: dict[str, Any]) -> str:
    return json.dumps(stated, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def asked_by(requirement: BoundRequirement) -> dict[str, Any]:
    """The members of a requirement's entry that say what is asked, which follow from the policy alone."""
    when = requirement.question.when
    chosen = {when.argument: when.value} if when else {}
    return {
        "requirement": str(requirement),
        "model": requirement.question.model,
        "question": requirement.question_name,
        "arguments": stated_arguments_of(requirement.arguments) | chosen,
        "attributes": list(requirement.attributes),
        **({"on": list(requirement.on)} if requirement.on else {}),
    }


def _requirement(proof: Proof, policy: Policy) -> dict[str, Any]:
    question, achieved = proof.requirement.question, proof.achieved
    seen = f"snapshot with its {proof.hidden}, when it was made" if proof.hidden else "exported file"
    # No single file shows what is known of people in several tables.
    seen = EXPORTED if policy.related else seen
    return {
        **asked_by(proof.requirement),
        "meaning": question.title
        + (_ROWS if "respondents" in question.title and policy.entity is None else "")
        + proof.requirement.scope,
        "paper": question.paper,
        "attribute": achieved.attribute,
        "required": stated_figure(achieved.required),
        "achieved": stated_figure(achieved.achieved),
        "satisfied": achieved.satisfied,
        "recomputed_from": seen,
    }


def _structure_proof(
    measurement: Measurement, figure: Figure, arguments: Sequence[tuple[str, Value]]
) -> dict[str, Any]:
    """The proof of a promise of the method's, besides the requirements of classes."""
    return {
        "requirement": figure.named(measurement),
        "model": measurement.question,
        "question": measurement.question,
        "arguments": stated_arguments_of(arguments),
        "meaning": figure.meaning,
        "paper": figure.paper,
        "attribute": None,
        "attributes": [],
        "required": stated_figure(measurement.required),
        "achieved": stated_figure(measurement.achieved),
        "satisfied": measurement.satisfied,
        "recomputed_from": figure.recomputed_from,
    }


def _loss(release: Release, definitions: Mapping[str, str]) -> dict[str, Any]:
    """The loss that was minimized, and how near to the least one the release is known to be."""
    return {
        "question": release.loss_name,
        "achieved": stated_figure(release.loss),
        "proven_optimal": release.proven_optimal,
        "at_least": None if release.loss_bound is None else stated_figure(release.loss_bound),
        "definition": definitions.get(release.loss_name),
    }


def _attribute(attribute: Attribute, types: Mapping[str, str]) -> dict[str, Any]:
    pseudonym = attribute.pseudonym
    folded = {fold(name): kind for name, kind in types.items()}
    return {
        "name": attribute.name,
        # An estimate needs it for the values below a label. The types of columns that are not published stay private.
        "type": None if pseudonym or attribute.role in _HIDDEN else folded.get(fold(attribute.name)),
        "role": attribute.role.value,
        "hierarchy": attribute.hierarchy,
        "min_level": attribute.min_level,
        "max_level": attribute.max_level,
        "weight": float(attribute.weight),
        # Tokens under a key that is kept can be joined with other releases under the same key.
        "pseudonym": ("key forgotten" if pseudonym.key_variable is None else "key kept") if pseudonym else None,
    }


def _statement(policy: Policy) -> str:
    """The policy as SQL, without the queries that it may name and without where a key is kept."""
    attributes = tuple(replace(a, pseudonym=Pseudonym()) if a.pseudonym else a for a in policy.attributes)
    against = _unquoted(policy.against) if policy.against else None
    related = tuple(replace(table, source=_unquoted(table.source)) for table in policy.related)
    plain = replace(policy, source=_unquoted(policy.source), attributes=attributes, against=against, related=related)
    return render.policy(plain)


def _unquoted(source: Source) -> Source:
    return Source(name=QualifiedName(("query, not shown",))) if source.query else source


def _kind(source: Source | None) -> str | None:
    return None if source is None else "query" if source.query else "relation"
