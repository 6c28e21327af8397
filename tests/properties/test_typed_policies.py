"""A policy of Python values is written as SQL and read back as the same policy, whatever its names and values hold."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon
from sqlanon.domain.identifiers import fold
from sqlanon.domain.values import QualifiedName
from sqlanon.statements.parser import parse_script
from sqlanon.statements.policies.create_policy import CreatePolicy
from sqlanon.statements.releases.create_release import CreateRelease
from tests.support.draws import draws
from tests.support.names import HOSTILE

# What would end a name, a literal or a statement, and what would begin another.
ATTEMPTS = [
    *HOSTILE,
    '"; DROP TABLE patients; --',
    "'; DROP TABLE patients; --",
    '") REQUIRE k_anonymity(k => 1); --',
    "x' OR '1' = '1",
    "\0",
    "\ufeff",
    "REQUIRE",
    "QUASI IDENTIFIER",
    "getvariable('k')",
]
names = st.sampled_from(ATTEMPTS) | st.text(min_size=1, max_size=12)
qualified = names | st.lists(names, min_size=1, max_size=3).map(tuple)
queries = st.sampled_from(["SELECT 1", "FROM 'people.parquet'", "(SELECT ')' /* ( */ )"]).map(sqlanon.Query)
sources = qualified | queries
columns = st.lists(names, min_size=5, max_size=8, unique_by=fold)
numbers = st.integers(1, 10**6) | st.floats(0.001, 10**6) | st.decimals("0.001", 10**6, places=3)
shares = st.floats(0.001, 1) | st.decimals("0.001", 1, places=3)
weights = st.decimals("0.000001", 999_999, places=6).filter(lambda weight: weight != 1)


@st.composite
def quasi_identifiers(draw: st.DrawFn) -> Any:
    """What stands behind a quasi-identifier."""
    low = draw(st.none() | st.integers(0, 5))
    high = draw(st.none() | st.integers(low or 0, 9))
    about = sqlanon.QuasiIdentifier(draw(st.none() | names), low, high, draw(st.just(1) | weights))
    return draw(st.sampled_from([None, draw(names), about]))


@st.composite
def policies(draw: st.DrawFn) -> tuple[sqlanon.Policy, dict[str, Any]]:
    """A policy, and the arguments that it was made of."""
    first, second, disease, degree, *others = draw(columns)
    pseudonyms = st.none() | st.builds(sqlanon.Pseudonym, st.none() | names)
    known: dict[str, Any] = {
        "source": draw(sources),
        "quasi_identifiers": {first: draw(quasi_identifiers()), second: draw(quasi_identifiers())},
        "sensitive": {disease: draw(names), degree: draw(st.none() | names)},
        "identifiers": {name: draw(pseudonyms) for name in others[:1]},
        "entity": {name: draw(pseudonyms) for name in others[1:2]},
        "insensitive": others[2:],
    }
    if draw(st.booleans()):
        known["order"] = draw(st.permutations([first, second, disease, degree, *others]))
    confidential = draw(st.booleans())
    if confidential:
        known |= {"confidential": [[first, disease], (degree,)], "visible": [[second]] if draw(st.booleans()) else ()}
    required = [sqlanon.KAnonymity(k=draw(st.integers(1, 2**63 - 1)))]
    if against := draw(st.none() | sources):
        known["against"] = against
        required.append(sqlanon.DeltaPresence(min=0, max=draw(shares)))
    if draw(st.booleans()):
        known["joined"] = sqlanon.JoinedRelease(draw(qualified), on=[second])
        required.append(sqlanon.XyLinkability(x=draw(st.just(first) | st.just([first])), y=disease, max=draw(shares)))
    on = draw(st.sampled_from([None, first, [second, first]]))
    required += draw(
        st.lists(
            st.sampled_from(
                [
                    sqlanon.LDiversity(l=draw(numbers.filter(lambda n: n >= 1)), variant="entropy", on=on),
                    sqlanon.TCloseness(t=draw(shares), distance="hierarchical", attribute=disease),
                    sqlanon.DeltaDisclosure(delta=draw(shares), absent="ignored", jointly=True),
                    sqlanon.Personalized(p=draw(shares), guarding=draw(names), attribute=disease),
                    sqlanon.ValueRanges(ranges=draw(qualified), attribute=degree),
                    sqlanon.Requirement("alpha_k_anonymity", alpha=draw(shares), k=2, attribute=degree),
                ]
            ),
            unique=True,
        )
    )
    known["require"] = required
    return sqlanon.Policy(draw(names), **known), known


@st.composite
def policies_of_tables(draw: st.DrawFn) -> sqlanon.Policy:
    """A policy with a table that belongs to its source."""
    person, born, clinic, diagnosis, table, *_ = draw(columns)
    related = sqlanon.RelatedTable(
        draw(sources), key=table, name=table + "s", quasi_identifiers=[clinic], sensitive=[diagnosis]
    )
    require = [sqlanon.KAnonymity(k=4), sqlanon.KAnonymity(k=2, knows="m_rows", m=draw(st.integers(1, 9)))]
    return sqlanon.Policy(
        draw(names), source=table, entity=person, quasi_identifiers=[born], related=[related], require=require
    )


def read_back(policy: sqlanon.Policy, **said: bool) -> sqlanon.Policy:
    """The policy that the text of one is read as; nothing else stands in that text."""
    (statement, after) = parse_script(f"{policy.sql(**said)}; SELECT 1")
    assert isinstance(statement, CreatePolicy)
    assert after.text == "SELECT 1"
    assert (statement.or_replace, statement.if_not_exists) == (
        bool(said.get("or_replace")),
        bool(said.get("if_not_exists")),
    )
    return sqlanon.Policy.of(statement.policy)


@pytest.mark.drawn
@settings(max_examples=draws(25, long=120), deadline=None)
@given(policies(), st.sampled_from([{}, {"or_replace": True}, {"if_not_exists": True}]))
def test_a_policy_is_read_back_as_it_was_made(drawn: tuple[sqlanon.Policy, dict[str, Any]], said: Any) -> None:
    policy, known = drawn
    back = read_back(policy, **said)
    assert back == policy
    # What it is called and what its columns are, by what it was made of.
    roles = {
        argument: list(known[argument]) for argument in ("identifiers", "entity", "quasi_identifiers", "sensitive")
    }
    roles |= {"insensitive": known["insensitive"]}
    order = known.get("order") or [name for argument in roles.values() for name in argument]
    assert [attribute.name for attribute in back.definition.attributes] == list(order)
    singular = {"quasi_identifiers": "quasi_identifier", "identifiers": "identifier"}
    for argument, listed in roles.items():
        of_role = [a.name for a in back.definition.attributes if a.role == singular.get(argument, argument)]
        assert sorted(of_role) == sorted(listed)
    for name, hierarchy in known["sensitive"].items():
        assert [a.hierarchy for a in back.definition.attributes if a.name == name] == [hierarchy]
    assert set(back.requirements) == set(known["require"])


@pytest.mark.drawn
@settings(max_examples=draws(25, long=120), deadline=None)
@given(policies().map(lambda drawn: drawn[0]) | policies_of_tables())
def test_a_policy_is_displayed_as_the_call_that_makes_it(policy: sqlanon.Policy) -> None:
    assert read_back(policy) == policy
    names = {name: getattr(sqlanon, name) for name in sqlanon.__all__}
    assert eval(repr(policy), names | {"Decimal": Decimal}) == policy  # noqa: S307


@pytest.mark.drawn
@settings(max_examples=draws(25, long=120), deadline=None)
@given(qualified, names, st.none() | qualified, st.none() | names, names)
def test_a_release_is_read_back_as_it_was_made(
    name: Any, policy: str, levels_from: Any, series: str | None, target: str
) -> None:
    method = sqlanon.Mondrian(split="information_gain", target=target)
    release = sqlanon.AnonymizedTable(name, policy, method=method, levels_from=levels_from, series=series)
    (statement,) = parse_script(release.sql())
    assert isinstance(statement, CreateRelease)
    assert statement.name.parts == (name if isinstance(name, tuple) else (name,))
    assert (statement.policy, statement.series) == (policy, series)
    assert dict(statement.method.arguments)["target"] == QualifiedName((target,))
