"""The certificate's two forms, made from what a release states."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace as replaced

from sqlanon.domain.policy import Attribute, Policy, Pseudonym, Requirement, Role
from sqlanon.domain.release import Measurement, Reading, Release, ReleaseAttribute
from sqlanon.domain.values import QualifiedName, Source
from sqlanon.export.certificate import Evidence, Proof, certificate
from sqlanon.export.certificate_format import Certificate, FileEntry, to_json
from sqlanon.export.markdown import to_markdown
from sqlanon.methods.shared.lattice.losses import LOSSES
from sqlanon.sql.questions.ask import bind_requirement

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
        method_arguments=(("suppression", Decimal("0.02")), ("recoding", "local")),
        source_rows=1000,
        released_rows=990,
        suppressed_rows=10,
        loss=0.25,
        loss_name="granularity_loss",
        nodes=4,
        nodes_checked=2,
        content_fingerprint="1:2:3",
        engine_version="DuckDB 2.0.0",
        sqlanon_version="0.1.0",
        created_at=datetime(2026, 1, 2, 3, 4, 5, 678),
        sources=(QualifiedName(("main", "patients")),),
        attributes=(ReleaseAttribute(name, Role.QUASI_IDENTIFIER, None, 0, 1, reading=Reading.LABEL),),
    )
    (bound,) = bind_requirement(asked)
    proof = Proof(bound, Measurement("k_anonymity", None, 3.0, 7.0, True))
    return Evidence(release, policy, (), [proof], [(name, "VARCHAR")], "DuckDB 2.0.1", datetime(2026, 2, 3))


def whole(given: Evidence) -> Certificate:
    return replaced(certificate(given), files=(FileEntry(name="x.csv", bytes=12345, sha256="cd" * 32),))


def test_json_states_the_policy_s_arguments_as_numbers() -> None:
    said = json.loads(to_json(whole(evidence())))
    assert said["method"]["name"] == "generalization"
    assert said["method"]["arguments"] == {"suppression": 0.02, "recoding": "local"}
    assert said["method"]["options"] == said["method"]["arguments"] | {"loss": "granularity_loss"}
    assert said["columns"] == [{"name": "zip", "type": "VARCHAR", "reading": "label", "levels": [0]}]
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
    assert certificate(given).policy.source == "query"


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
    call = "generalization(suppression => 0.02, loss => 'granularity_loss', recoding => 'local')"
    assert f"Method: `{call}`. Loss: 0.25." in text
    assert "The loss is the granularity loss: " in text
    assert f"| `x.csv` | 12,345 | `{'cd' * 32}` |" in text


def proven(hidden: str | None, *, attribute: str = "disease", figure: float = 2.5) -> Evidence:
    """The evidence with an entropy l-diversity that is proven in one of the ways there are."""
    asked = Requirement("l_diversity", (("l", Decimal(2)), ("variant", "entropy")))
    (bound,) = bind_requirement(asked, (attribute,))
    proof = Proof(bound, Measurement("entropy_l_diversity", attribute, 2.0, figure, True), hidden)
    known = evidence()
    return replace(known, proofs=[*known.proofs, proof])


def test_a_requirement_is_stated_as_the_user_wrote_it_with_its_attribute() -> None:
    stated = whole(proven(None)).requirements[1]
    assert (stated.model, stated.question) == ("l_diversity", "entropy_l_diversity")
    assert stated.arguments == {"l": 2.0, "variant": "entropy"}
    assert (stated.attribute, stated.attributes) == ("disease", ("disease",))
    assert "| `l_diversity(l => 2, variant => 'entropy') of disease` | 2 | 2.5 | yes |" in to_markdown(
        whole(proven(None))
    )


@pytest.mark.parametrize(
    ("hidden", "sentence"),
    [
        ("respondents", "Respondents were counted when"),
        ("guarding nodes", "Guarding nodes were counted when"),
        ("public table", "Rows of the public table were counted when"),
    ],
)
def test_what_no_file_shows_is_said_to_have_been_counted_before(hidden: str, sentence: str) -> None:
    said = whole(proven(hidden))
    assert [r.recomputed_from for r in said.requirements] == [
        "exported file", f"snapshot with its {hidden}, when it was made",
    ]  # fmt: skip
    text = to_markdown(said)
    assert sentence in text
    assert "Each requirement of which the table says so was recomputed from the exported file itself" in text
    assert "were counted when" not in to_markdown(whole(proven(None)))


@pytest.mark.parametrize(
    ("figure", "written"), [(float("inf"), "infinity"), (float("-inf"), "-infinity"), (float("nan"), "not a number")]
)
def test_a_figure_that_json_has_no_number_for_is_a_text(figure: float, written: str) -> None:
    said = whole(proven(None, figure=figure))
    assert json.loads(to_json(said))["requirements"][1]["achieved"] == written
    assert f"| 2 | {written} | yes |" in to_markdown(said)


@pytest.mark.parametrize(
    ("proof", "bound", "sentence"),
    [
        (True, None, "Loss: 12, the least of all levels that meet the requirements."),
        (False, 11.5, "Loss: 12, not proven to be the least: none is below 11.5."),
        (None, None, "Loss: 12."),
    ],
)
def test_how_near_the_loss_is_to_the_least(proof: bool | None, bound: float | None, sentence: str) -> None:
    known = evidence()
    release = replace(known.release, loss=12.0, loss_name="height", proven_optimal=proof, loss_bound=bound)
    said = whole(replace(known, release=release))
    assert json.loads(to_json(said))["loss"] == {
        "question": "height",
        "achieved": 12.0,
        "proven_optimal": proof,
        "at_least": bound,
        "definition": LOSSES["height"].DEFINITION,
    }
    assert sentence in to_markdown(said)
    assert "The loss is the height (Samarati 2001)" in to_markdown(said)


def test_the_query_of_a_public_table_is_not_quoted() -> None:
    known = evidence()
    for source, kind in (
        (Source(query="SELECT * FROM voters WHERE name <> 'Somebody'"), "query"),
        (Source(QualifiedName(("voters",))), "relation"),
    ):
        said = whole(replace(known, policy=replace(known.policy, against=source)))
        assert said.policy.public == kind
        assert "Somebody" not in to_json(said) + to_markdown(said)
        assert "AGAINST" in said.policy.statement
    assert whole(known).policy.public is None


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
    assert list(tables) == ["## Required and achieved", "## What is published", "## Columns", "## Files and versions"]
    assert all(len(widths) == 1 for widths in tables.values())


def test_every_reading_has_words_for_people() -> None:
    stated = whole(evidence())
    [first, *_] = stated.columns or ()
    for reading in Reading:
        column = replaced(first, reading=reading, source="other")
        lines = to_markdown(replaced(stated, columns=(column,))).splitlines()
        [line] = [line for line in lines if line.startswith(f"| `{first.name}` | `{first.type}` |")]
        assert line.removesuffix(", of `other` |").rpartition("| ")[2]
