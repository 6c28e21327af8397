"""The published JSON Schema of certificates, by an independent validator: jsonschema."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from sqlanon import UserError, connect
from sqlanon.export.certificate_format import canonical, certificate_of, content_of, to_json
from tests.support.database import template
from tests.support.draws import draws
from tests.support.methods import CALLS, EXAMPLE, SETUP
from tools import certificate_schema

SCHEMA = json.loads(certificate_schema.FILE.read_text(encoding="utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)
# What a policy and an export may say besides.
OTHERS = """
    CREATE TABLE visits AS SELECT 'p' || i AS id, 20 + i % 6 AS age, i % 2 AS sex, 'd' || i % 5 AS disease,
        i::DOUBLE AS day FROM range(240) AS t(i);
    CREATE HIERARCHY tens AS INTERVALS (2, 4);
    CREATE POLICY p ON (SELECT * FROM visits) (id IDENTIFIER PSEUDONYM, age QUASI IDENTIFIER USING tens,
        sex QUASI IDENTIFIER, disease SENSITIVE, day INSENSITIVE)
        REQUIRE k_anonymity(k => 3, on => (age)), t_closeness(t => 1), l_diversity(l => 2);
    CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization(suppression => 0.1);
"""
OPTIONS = ("FORMAT csv, DELIMITER ';', DICTIONARY true", "FORMAT parquet, PARTITION_BY (sex)", "FORMAT duckdb")


def certificate(folder: Path) -> dict[str, Any]:
    stated: dict[str, Any] = json.loads((folder / "certificate.json").read_text(encoding="utf-8"))
    return stated


def require_valid(stated: dict[str, Any]) -> None:
    assert [error.message for error in VALIDATOR.iter_errors(stated)] == []
    assert json.loads(to_json(certificate_of(stated))) == stated


def test_the_published_schema_is_written_from_the_types() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert certificate_schema.main(["--check"]) == 0, "python -m tools.certificate_schema --write"


@pytest.mark.one_in(13)
@pytest.mark.parametrize("name", [name for name in CALLS if name != EXAMPLE])
def test_the_certificate_of_each_method(tmp_path: Path, name: str) -> None:
    policy, call = CALLS[name]
    con = template(SETUP, f"CREATE ANONYMIZED TABLE r AS POLICY {policy} METHOD {call}")
    con.execute(f"EXPORT r TO '{tmp_path}/out/'")
    require_valid(certificate(tmp_path / "out"))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("options", OPTIONS)
def test_the_certificate_of_each_kind_of_export(tmp_path: Path, options: str) -> None:
    template(OTHERS).execute(f"EXPORT r TO '{tmp_path}/out/' ({options})")
    stated = certificate(tmp_path / "out")
    require_valid(stated)
    require_valid(content_of(certificate_of(stated)))


def test_the_certificate_within_a_file(tmp_path: Path) -> None:
    con = template(OTHERS)
    con.execute(f"EXPORT r TO '{tmp_path}/r.parquet'")
    ((text,),) = con.execute(
        f"SELECT decode(value) FROM parquet_kv_metadata('{tmp_path}/r.parquet') "
        "WHERE decode(key) = 'sqlanon_certificate'"
    ).fetchall()
    stated = json.loads(text)
    assert "files" not in stated
    require_valid(stated)


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _places(item, (*path, key))


def _changes(stated: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The certificate with one member less, one more, and another value, in each place."""
    for path in _places(stated):
        for change in ("less", "more", "null", "object", "number", "text"):
            changed: Any = deepcopy(stated)
            *above, last = path or (None,)
            parent = changed
            for key in above:
                parent = parent[key]
            if last is None:
                if change != "more":
                    continue
                changed["more"] = 1
            elif change == "less":
                if not isinstance(parent, dict):
                    continue
                del parent[last]
            elif change == "more":
                if not isinstance(parent[last], dict):
                    continue
                parent[last]["more"] = {"x": []}
            else:
                parent[last] = {"null": None, "object": {"x": {}}, "number": -0.5, "text": "other"}[change]
            yield f"{change} at {path}", changed


def is_read(stated: dict[str, Any]) -> bool:
    try:
        certificate_of(stated)
    except ValueError:
        return False
    return True


@pytest.mark.drawn
def test_the_reader_refuses_what_the_schema_refuses(tmp_path: Path) -> None:
    template(OTHERS).execute(f"EXPORT r TO '{tmp_path}/out/' (FORMAT csv, DELIMITER ';', DICTIONARY true)")
    changes = list(_changes(certificate(tmp_path / "out")))
    assert len(changes) > 500
    # All changes in the long part, each seventh in the quick one.
    changes = changes[:: draws(7, long=1)]
    refused = 0
    for label, changed in changes:
        is_valid = VALIDATOR.is_valid(changed)
        refused += not is_valid
        assert is_read(changed) == is_valid, label
    assert refused > len(changes) / 2


def test_a_member_more_ends_a_check(tmp_path: Path) -> None:
    template(OTHERS).execute(f"EXPORT r TO '{tmp_path}/out/'")
    stated = certificate(tmp_path / "out")
    (tmp_path / "out" / "certificate.json").write_text(json.dumps(stated | {"note": "checked by us"}), encoding="utf-8")
    with pytest.raises(UserError, match="lacks information that a check needs"):
        connect().execute(f"CHECK '{tmp_path}/out'")


def test_the_canonical_text_has_one_order_and_no_spaces() -> None:
    first, second = {"b": [1, {"d": "é", "c": None}], "a": 0.5}, {"a": 0.5, "b": [1, {"c": None, "d": "é"}]}
    assert canonical(first) == canonical({**second, "signature": 1}) == '{"a":0.5,"b":[1,{"c":null,"d":"é"}]}'.encode()
    for value in (float("nan"), float("inf"), "\ud800"):
        with pytest.raises(ValueError):  # noqa: PT011 - by any of its kinds
            canonical({"a": value})
