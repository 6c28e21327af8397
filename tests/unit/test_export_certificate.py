"""The certificate's two forms, made from what a release states."""

from __future__ import annotations

import json
import re
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.domain.policy import Attribute, Policy, Pseudonym, Requirement, Role
from sqlanon.domain.release import Release, ReleaseAttribute
from sqlanon.domain.report import Measurement
from sqlanon.domain.values import QualifiedName, Source
from sqlanon.export.certificate import Evidence, certificate, to_json, with_files
from sqlanon.export.markdown import to_markdown
from sqlanon.questions.ask import bind_requirement

CELL = re.compile(r"(?<!\\)\|")


def evidence(name: str = "zip", *, source: Source | None = None, pseudonym: Pseudonym | None = None) -> Evidence:
    attributes = (
        Attribute("ssn", Role.IDENTIFIER, pseudonym=pseudonym),
        Attribute(name, Role.QUASI_IDENTIFIER, weight=Decimal("0.5")),
    )
    asked = Requirement("k_anonymity", (("k", 3),))
    policy = Policy("hospital", source or Source(QualifiedName(("patients",))), attributes, (asked,))
    release = Release(
        release_id="r",
        name=QualifiedName(("main", name)),
        kind="table",
        policy="hospital",
        policy_fingerprint="ab" * 32,
        policy_json="",
        method="generalization",
        method_arguments=(("suppression", Decimal("0.02")), ("strict", True)),
        source_rows=1000,
        released_rows=990,
        suppressed_rows=10,
        loss=0.25,
        nodes=4,
        nodes_checked=2,
        content_fingerprint="1:2:3",
        engine_version="DuckDB 2.0.0",
        sqlanon_version="0.1.0",
        created_at=datetime(2026, 1, 2, 3, 4, 5, 678),
        attributes=(ReleaseAttribute(name, Role.QUASI_IDENTIFIER, None, 0, 1),),
    )
    achieved = [(bind_requirement(asked), Measurement("k_anonymity", None, 3.0, 7.0, True))]
    return Evidence(release, policy, (), achieved, True, [(name, "VARCHAR")], "DuckDB 2.0.1", datetime(2026, 2, 3))


def whole(given: Evidence) -> dict[str, Any]:
    return with_files(certificate(given), [{"name": "x.csv", "bytes": 12345, "sha256": "cd" * 32}])


def test_json_states_the_policy_s_arguments_as_numbers() -> None:
    said = json.loads(to_json(whole(evidence())))
    assert said["method"] == {"name": "generalization", "arguments": {"suppression": 0.02, "strict": True}}
    assert said["policy"]["attributes"][1]["weight"] == 0.5
    assert said["time"] == {"released": "2026-01-02T03:04:05Z", "exported": "2026-02-03T00:00:00Z"}
    assert said["versions"]["released_with"]["engine"] == "DuckDB 2.0.0"
    assert said["versions"]["exported_with"]["engine"] == "DuckDB 2.0.1"


def test_neither_a_query_nor_the_place_of_a_key_is_quoted() -> None:
    query = "SELECT * FROM patients WHERE name <> 'Somebody'"
    given = evidence(source=Source(query=query), pseudonym=Pseudonym("WHERE_THE_KEY_IS"))
    for text in (to_json(whole(given)), to_markdown(whole(given))):
        assert "Somebody" not in text
        assert "WHERE_THE_KEY_IS" not in text
        assert "PSEUDONYM" in text
    assert certificate(given)["policy"]["source"] == "query"


@pytest.mark.parametrize(
    ("pseudonym", "sentences"), [(None, 0), (Pseudonym(), 1), (Pseudonym("A_KEY"), 2)], ids=["none", "drawn", "kept"]
)
def test_markdown_says_what_pseudonyms_do_not_promise(pseudonym: Pseudonym | None, sentences: int) -> None:
    text = to_markdown(whole(evidence(pseudonym=pseudonym)))
    assert text.count("seudonym ") + text.count("seudonyms ") == sentences


def test_markdown_names_requirement_paper_and_hash() -> None:
    text = to_markdown(whole(evidence()))
    assert "| `k_anonymity(k => 3)` | 3 | 7 | yes | exported file | Samarati" in text
    assert "990 of the source's 1,000 rows; 10 suppressed." in text
    assert "Method: `generalization(suppression => 0.02, strict => true)`. Loss: 0.25." in text
    assert f"| `x.csv` | 12,345 | `{'cd' * 32}` |" in text


@given(st.text(min_size=1).filter(str.strip) | st.text("|`*_\\<\n #", min_size=1).filter(str.strip))
def test_hostile_names_stay_in_their_cells(name: str) -> None:
    tables: dict[str, set[int]] = {}
    section, fence = "", ""
    for line in to_markdown(whole(evidence(name))).split("\n"):
        if fence:
            fence = "" if line == fence else fence
        elif re.fullmatch("`{3,}sql", line):
            fence = line.removesuffix("sql")
        elif line.startswith("## "):
            section = line
        elif line.startswith("|"):
            tables.setdefault(section, set()).add(len(CELL.findall(line)))
    assert fence == ""
    assert list(tables) == ["## Required and achieved", "## Generalization", "## Columns", "## Files and versions"]
    assert all(len(widths) == 1 for widths in tables.values())
