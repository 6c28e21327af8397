"""What identifies a policy together with the hierarchies that it uses."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from sqlanon.catalog._domain_json import DefinitionObject, PolicyObject
from sqlanon.catalog._json import canonical, json_of
from sqlanon.catalog.hierarchies import StoredHierarchy
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Policy


def fingerprint(policy: Policy, hierarchies: Sequence[StoredHierarchy]) -> str:
    """The SHA-256, in hexadecimal, of a policy and its hierarchies, labels included.

    It changes with everything that can change a release, and with the names; not with
    the order of hierarchies or of named arguments, nor with zeros that do not change a number.
    """
    ordered = sorted(hierarchies, key=lambda stored: fold(stored.definition.name))
    text = canonical(
        {
            "policy": json_of(PolicyObject.of(policy)),
            "hierarchies": [[json_of(DefinitionObject.of(h.definition)), h.height, h.digest] for h in ordered],
        }
    )
    return hashlib.sha256(text.encode()).hexdigest()
