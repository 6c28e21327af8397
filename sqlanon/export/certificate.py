"""The certificate of an export: what was required, what is achieved, and by which policy. It quotes no source value.

Names of columns and hierarchies, their kinds and levels are in it; the text of a
hierarchy or of a source that is a query is not, since it may hold values: the policy's
fingerprint covers both.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlanon import __version__
from sqlanon.catalog.hierarchies import StoredHierarchy
from sqlanon.domain.policy import Attribute, Policy, Pseudonym, Role
from sqlanon.domain.release import Release
from sqlanon.domain.report import Measurement
from sqlanon.domain.values import QualifiedName, Source, Value
from sqlanon.engines.base import Column
from sqlanon.export._former import CERTIFICATE_FORMAT
from sqlanon.questions.ask import BoundRequirement
from sqlanon.syntax import render

__all__ = ["FORMAT_VERSION", "Evidence", "certificate", "to_json", "with_files"]

FORMAT_VERSION = 1

LOSS = (
    "granularity loss (NCP): a generalized value costs (n - 1) / (N - 1), where n of the N leaves of its hierarchy "
    "lie below it, a suppressed row 1 in each quasi-identifier; the mean over all rows of the source and all "
    "quasi-identifiers, weighted where the policy weighs: 0 where nothing is changed, 1 where nothing is left"
)


@dataclass(frozen=True)
class Evidence:
    """What a certificate is made from.

    `achieved` pairs each requirement with its measurement, `from_file` says whether it
    was recomputed from the exported file itself. `columns` are the file's.
    """

    release: Release
    policy: Policy
    hierarchies: Sequence[StoredHierarchy]
    achieved: Sequence[tuple[BoundRequirement, Measurement]]
    from_file: bool
    columns: Sequence[Column]
    engine_version: str
    exported_at: datetime


def certificate(evidence: Evidence) -> dict[str, Any]:
    """The certificate without the hashes of the files, as it stands in a file itself."""
    release = evidence.release
    return {
        "format": CERTIFICATE_FORMAT,
        "format_version": FORMAT_VERSION,
        "release": release.name.name,
        "rows": {
            "source": release.source_rows,
            "released": release.released_rows,
            "suppressed": release.suppressed_rows,
        },
        "requirements": [_requirement(*pair, evidence.from_file) for pair in evidence.achieved],
        "levels": [
            {"attribute": a.name, "hierarchy": a.hierarchy, "level": a.level, "height": a.height}
            for a in release.attributes
            if a.role is Role.QUASI_IDENTIFIER
        ],
        "loss": {"question": "granularity_loss", "achieved": release.loss, "definition": LOSS},
        "policy": {
            "name": release.policy,
            "fingerprint_sha256": release.policy_fingerprint,
            "statement": _statement(evidence.policy),
            "source": "query" if evidence.policy.source.query else "relation",
            "attributes": [_attribute(attribute) for attribute in evidence.policy.attributes],
            "hierarchies": [
                {"name": h.definition.name, "kind": h.definition.kind, "height": h.height} for h in evidence.hierarchies
            ],
        },
        "method": {"name": release.method, "arguments": _arguments(release.method_arguments)},
        "columns": [{"name": name, "type": kind} for name, kind in evidence.columns],
        "versions": {
            "released_with": {"engine": release.engine_version, "sqlanon": release.sqlanon_version},
            "exported_with": {"engine": evidence.engine_version, "sqlanon": __version__},
        },
        "time": {"released": _utc(release.created_at), "exported": _utc(evidence.exported_at)},
    }


def with_files(stated: dict[str, Any], files: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The certificate that stands beside the files. No file can state its own hash, so the copy inside one does not."""
    return {**stated, "files": list(files)}


def to_json(stated: dict[str, Any]) -> str:
    return json.dumps(stated, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def _requirement(requirement: BoundRequirement, achieved: Measurement, from_file: bool) -> dict[str, Any]:
    question = requirement.question
    return {
        "model": question.name,
        "arguments": _arguments(requirement.arguments),
        "meaning": question.title,
        "paper": question.paper,
        "attribute": achieved.attribute,
        "required": achieved.required,
        "achieved": achieved.achieved,
        "satisfied": achieved.satisfied,
        "recomputed_from": "exported file" if from_file else "snapshot with its respondents, when it was made",
    }


def _attribute(attribute: Attribute) -> dict[str, Any]:
    pseudonym = attribute.pseudonym
    return {
        "name": attribute.name,
        "role": attribute.role.value,
        "hierarchy": attribute.hierarchy,
        "min_level": attribute.min_level,
        "max_level": attribute.max_level,
        "weight": float(attribute.weight),
        # Tokens under a key that is kept can be joined with other releases under the same key.
        "pseudonym": ("key forgotten" if pseudonym.key_variable is None else "key kept") if pseudonym else None,
    }


def _statement(policy: Policy) -> str:
    """The policy as SQL, without the query that it may be on and without where a key is kept."""
    source = Source(name=QualifiedName(("query, not shown",))) if policy.source.query else policy.source
    attributes = tuple(replace(a, pseudonym=Pseudonym()) if a.pseudonym else a for a in policy.attributes)
    return render.policy(replace(policy, source=source, attributes=attributes))


def _arguments(arguments: Sequence[tuple[str, Value]]) -> dict[str, Any]:
    return {name: _plain(value) for name, value in arguments}


def _plain(value: Value) -> Any:
    return float(value) if isinstance(value, Decimal) else str(value) if isinstance(value, QualifiedName) else value


def _utc(moment: datetime) -> str:
    return moment.replace(microsecond=0).isoformat() + "Z"
