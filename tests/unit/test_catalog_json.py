from __future__ import annotations

import hashlib
import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.catalog._json import (
    BadJson,
    DefinitionObject,
    PolicyObject,
    arguments_from_json,
    arguments_to_json,
    canonical,
    dumps,
    json_of,
    loads,
    read_source,
    typed,
    value_from_json,
    value_to_json,
    write_source,
)
from sqlanon.catalog.hierarchies import StoredHierarchy
from sqlanon.catalog.snapshot import fingerprint
from sqlanon.domain.policy import (
    Attribute,
    HierarchyDefinition,
    JoinedRelease,
    Policy,
    Pseudonym,
    RelatedTable,
    Requirement,
    Role,
    Sample,
)
from sqlanon.domain.values import QualifiedName, Source

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
names = st.lists(texts, min_size=1, max_size=3).map(lambda parts: QualifiedName(tuple(parts)))
decimals = st.decimals(allow_nan=False, allow_infinity=False).filter(lambda d: abs(d.adjusted()) <= 400)
scalars = st.one_of(st.booleans(), st.integers(), decimals, texts | st.just(""), names)
values = scalars | st.lists(scalars, min_size=1, max_size=3).map(tuple)
arguments = st.dictionaries(texts, values, max_size=3).map(lambda made: tuple(made.items()))
definitions = st.builds(
    HierarchyDefinition,
    name=texts,
    kind=texts,
    arguments=st.lists(scalars, max_size=3).map(tuple),
    options=arguments,
    query=st.none() | texts,
)
levels = st.none() | st.integers()
attributes = st.builds(
    Attribute,
    name=texts,
    role=st.sampled_from(Role),
    hierarchy=st.none() | texts,
    min_level=levels,
    max_level=levels,
    weight=decimals,
    pseudonym=st.none() | st.builds(Pseudonym, st.none() | texts),
    sampling_weight=st.booleans(),
)
sources = names.map(lambda name: Source(name=name)) | texts.map(lambda query: Source(query=query))
sets = st.lists(st.lists(texts, max_size=3).map(tuple), max_size=3).map(tuple)
columns = st.lists(attributes, max_size=3).map(tuple)
policies = st.builds(
    Policy,
    name=texts,
    source=sources,
    attributes=columns,
    requirements=st.lists(st.builds(Requirement, texts, arguments), max_size=2).map(tuple),
    against=st.none() | sources,
    confidential=sets,
    visible=sets,
    related=st.lists(st.builds(RelatedTable, texts, sources, texts, columns), max_size=2).map(tuple),
    sample=st.none() | st.builds(Sample, fraction=decimals) | st.builds(Sample, people=st.integers(1, 9)),
    joined=st.none() | st.builds(JoinedRelease, names, st.lists(texts, max_size=2).map(tuple)),
)


def same(left, right):
    """Equal, and of the same types: True is not 1, and 1 is not Decimal(1)."""
    parts = zip(left, right, strict=True) if isinstance(left, tuple) and isinstance(right, tuple) else ()
    return left == right and type(left) is type(right) and all(same(*pair) for pair in parts)


def policy_to_json(policy):
    return json_of(PolicyObject.of(policy))


def policy_from_json(json_value):
    return typed(json_value, PolicyObject, "a policy").as_domain


@given(values)
def test_values_come_back_as_they_were(value):
    back = value_from_json(loads(dumps(value_to_json(value))))
    assert same(back, value)


@pytest.mark.long
@given(policies)
def test_policies_come_back_as_they_were(policy):
    assert policy_from_json(loads(dumps(policy_to_json(policy)))) == policy


@given(definitions)
def test_hierarchies_come_back_as_they_were(definition):
    text = dumps(json_of(DefinitionObject.of(definition)))
    back = typed(loads(text), DefinitionObject, "a hierarchy").as_domain
    assert back == definition
    assert [type(value) for value in back.arguments] == [type(value) for value in definition.arguments]


@pytest.mark.long
@given(policies)
def test_the_canonical_text_is_json_without_spaces_and_with_sorted_keys(policy):
    text = canonical(policy_to_json(policy))
    parsed = json.loads(text, parse_float=Decimal)
    assert parsed == loads(dumps(policy_to_json(policy)))
    assert canonical(parsed) == text
    assert policy_to_json(policy_from_json(loads(text))) == policy_to_json(policy)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Decimal("0.3"), "0.3"),
        (Decimal("0.300"), "0.3"),
        (Decimal(4), "4.0"),
        (Decimal("4E+2"), "400.0"),
        (Decimal("-0"), "0.0"),
        (Decimal("1E-7"), "0.0000001"),
        (Decimal("1.0000000000000000000000000000000000001"), "1.0000000000000000000000000000000000001"),
        (4, "4"),
        (True, "true"),
        ("é\x00'", '"é\\u0000\'"'),
        (QualifiedName(("main", 'a"b')), '{"name":["main","a\\"b"]}'),
    ],
)
def test_how_values_are_written(value, text):
    assert canonical(value_to_json(value)) == text


@pytest.mark.parametrize("value", [Decimal("NaN"), Decimal("Infinity"), Decimal("1E+1000000"), Decimal("1E-1000000")])
def test_what_is_no_number_is_not_written(value):
    with pytest.raises(BadJson):
        canonical(value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        '{"k": 4, "k": 5}',
        "NaN",
        "[Infinity]",
        "1" * 5000,
        "[" * 100_000,
        "{'k': 4}",
    ],
)
def test_what_is_no_json_is_refused(text):
    with pytest.raises(BadJson):
        loads(text)


@pytest.mark.parametrize(
    "text",
    [
        "[4]",
        "4",
        "null",
        '{"k": null}',
        '{"k": []}',
        '{"k": [[1]]}',
        '{"k": [null]}',
        '{"k": {"name": []}}',
        '{"k": 1e999}',
    ],
)
def test_what_are_no_arguments_is_refused(text):
    with pytest.raises(BadJson):
        arguments_from_json(loads(text))


def test_arguments_by_hand():
    found = arguments_from_json(loads('{"k": 4, "variant": "distinct", "t": 0.30, "strict": true}'))
    assert found == (("k", 4), ("variant", "distinct"), ("t", Decimal("0.3")), ("strict", True))


def test_an_argument_given_twice_is_refused():
    with pytest.raises(BadJson):
        arguments_to_json((("k", 4), ("k", 5)))


@given(names)
def test_source_names_come_back_as_they_were(name):
    assert read_source(write_source(name)) == name


@pytest.mark.long
@given(names)
def test_source_names_may_be_quoted_as_in_sql(name):
    text = ".".join('"' + part.replace('"', '""') + '"' for part in name.parts)
    assert read_source(text) == name


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("patients", ("patients",)),
        (" main.patients ", ("main", "patients")),
        ('db."my.schema".Größe', ("db", "my.schema", "Größe")),
        ('"[a]"', ("[a]",)),
        ('["a b"]', ("a b",)),
    ],
)
def test_source_names_by_hand(text, parts):
    assert read_source(text).parts == parts


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a b",
        "a..b",
        ".a",
        "a.",
        "a.b.c.d",
        '"a',
        '""',
        "(SELECT 1)",
        "a; DROP TABLE b",
        '["a"',
        "[]",
        "[1]",
        '[""]',
    ],
)
def test_what_is_no_source_name_is_refused(text):
    with pytest.raises(BadJson):
        read_source(text)


def policy(**changes):
    parts = {
        "name": "hospital",
        "source": Source(name=QualifiedName(("patients",))),
        "attributes": (Attribute("zip", Role.QUASI_IDENTIFIER, "zip_prefix", weight=Decimal(2)),),
        "requirements": (Requirement("l_diversity", (("l", 3), ("variant", "distinct"))),),
    }
    return Policy(**{**parts, **changes})


ZIP = StoredHierarchy(HierarchyDefinition("zip_prefix", "prefixes", (4, 3)), 3, "aa")
AGE = StoredHierarchy(HierarchyDefinition("age", "intervals", (5,)), 2, "bb")


def test_the_fingerprint_is_of_the_meaning():
    first = fingerprint(policy(), [ZIP, AGE])
    turned = policy(requirements=(Requirement("l_diversity", (("variant", "distinct"), ("l", 3))),))
    weighed = policy(attributes=(Attribute("zip", Role.QUASI_IDENTIFIER, "zip_prefix", weight=Decimal("2.000")),))
    assert first == fingerprint(turned, [AGE, ZIP]) == fingerprint(weighed, [ZIP, AGE])
    assert len(first) == 64
    assert set(first) <= set("0123456789abcdef")


@pytest.mark.parametrize(
    "changed",
    [
        policy(name="other"),
        policy(source=Source(query="FROM patients")),
        policy(source=Source(name=QualifiedName(("main", "patients")))),
        policy(against=Source(name=QualifiedName(("patients",)))),
        policy(attributes=(Attribute("zip", Role.QUASI_IDENTIFIER, "zip_prefix"),)),
        policy(joined=JoinedRelease(QualifiedName(("of_jobs",)), ("zip",))),
        policy(requirements=(Requirement("l_diversity", (("l", Decimal(3)), ("variant", "distinct"))),)),
        policy(requirements=(Requirement("l_diversity", (("l", 4), ("variant", "distinct"))),)),
    ],
)
def test_the_fingerprint_changes_with_the_policy(changed):
    assert fingerprint(changed, [ZIP]) != fingerprint(policy(), [ZIP])


def test_the_fingerprint_changes_with_the_public_table():
    tables = [
        Source(name=QualifiedName(("voters",))),
        Source(name=QualifiedName(("a", "voters"))),
        Source(query="voters"),
    ]
    assert len({fingerprint(policy(against=against), [ZIP]) for against in (None, *tables)}) == 4


def test_the_fingerprint_of_a_policy_is_what_it_was_before_there_were_public_tables():
    text = (
        '{"hierarchies":[],"policy":{"attributes":[{"hierarchy":"zip_prefix","max_level":null,"min_level":null,'
        '"name":"zip","pseudonym":null,"role":"quasi_identifier","weight":2.0}],"name":"hospital","requirements":'
        '[{"arguments":{"l":3,"variant":"distinct"},"model":"l_diversity"}],"source":{"name":["patients"]}}}'
    )
    assert fingerprint(policy(), []) == hashlib.sha256(text.encode()).hexdigest()


def test_the_fingerprint_changes_with_the_hierarchies():
    relabelled = StoredHierarchy(ZIP.definition, ZIP.height, "ab")
    assert len({fingerprint(policy(), h) for h in ([], [ZIP], [AGE], [relabelled], [ZIP, AGE])}) == 5
