"""The arguments of a method: what is taken and what is refused, beside a check that is written without the fields."""

from __future__ import annotations

from dataclasses import dataclass, fields, make_dataclass
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sqlanon import PolicyError, UserError
from sqlanon.domain.values import QualifiedName, Value, written
from sqlanon.methods.registry import METHODS, find_method
from sqlanon.methods.shared.arguments import (
    Kind,
    argument,
    arguments_of,
    called,
    example_of,
    given_or_default,
    parsed,
    required,
)
from sqlanon.statements.parser import parse_script
from sqlanon.statements.releases.create_release import CreateRelease


@dataclass(frozen=True)
class Options:
    """One argument of each kind."""

    l: int = argument("a whole number", Kind.WHOLE, least=2, most=9, example=3)  # noqa: E741 - as anatomy has it
    c: Decimal = argument("a number", Kind.NUMBER, default=Decimal(3), above=0, most=9, example=3, needs=("way", "c"))
    share: Decimal = argument("a share", Kind.FRACTION, default=Decimal(0), example=Decimal("0.5"))
    way: str = argument("a choice", Kind.CHOICE, default="a", choices=("a", "b", "c"))
    near: bool = argument("a flag", Kind.FLAG, default=False)
    groups: tuple[int, ...] = argument("sizes", Kind.WHOLES, default=(), least=1, most=9, example=(2, 2))
    target: str | None = argument("a column", Kind.COLUMN, default=None, example=QualifiedName(("zip",)))


NAMES = ("l", "c", "share", "way", "near", "groups", "target")

numbers = st.integers(-3, 12) | st.decimals(-3, 12, places=1) | st.sampled_from([Decimal("NaN"), Decimal("Infinity")])
texts = st.sampled_from(["", "a", "b", "c", "3", "true"])
scalars = st.booleans() | numbers | texts | st.sampled_from([QualifiedName(("zip",)), QualifiedName(("t", "zip"))])
values = scalars | st.lists(scalars, max_size=3).map(tuple)
arguments = st.dictionaries(st.sampled_from([*NAMES, "k", "Near", "shares"]), values, max_size=5)


def whole(value: Any, low: int, high: int) -> bool:
    return type(value) in (int, Decimal) and value in range(low, high + 1)


def meant(name: str, value: Any) -> Any:
    """What a value means as the argument; None if it cannot be taken."""
    if name == "l" and whole(value, 2, 9):
        return int(value)
    if name == "c" and type(value) in (int, Decimal) and str(value) != "NaN" and 0 < value <= 9:
        return value
    if name == "share" and type(value) in (int, Decimal) and str(value) != "NaN" and 0 <= value <= 1:
        return value
    if (name == "way" and value in ("a", "b", "c")) or (name == "near" and type(value) is bool):
        return value
    if name == "groups" and type(value) is tuple and value and all(whole(one, 1, 9) for one in value):
        return tuple(int(one) for one in value)
    if name == "target" and value and type(value) in (str, QualifiedName):
        return str(value).removeprefix("t.")
    return None


@given(arguments)
@example({"l": 3, "c": 1, "way": "c", "share": 1, "near": True, "groups": (1, 9), "target": "zip"})
@example({"l": 3, "c": 1})
@example({"l": Decimal("3.0"), "share": Decimal("1.1")})
def test_what_is_taken_and_what_is_refused(wanted: dict[str, Any]) -> None:
    ways = {"way": "a"} | wanted
    works = (
        "l" in wanted
        and all(name in NAMES and meant(name, value) is not None for name, value in wanted.items())
        and ("c" not in wanted or ways["way"] == "c")
    )
    if not works:
        with pytest.raises(PolicyError) as raised:
            parsed("m", Options, list(wanted.items()))
        assert raised.value.message.startswith("m")
        assert raised.value.hint
        return
    found = parsed("m", Options, list(wanted.items()))
    expected = {"c": 3, "share": 0, "way": "a", "near": False, "groups": (), "target": None}
    expected |= {name: meant(name, value) for name, value in wanted.items()}
    assert {one.name: getattr(found, one.name) for one in fields(found)} == expected
    # What the options come to, given again, is the same.
    assert parsed("m", Options, list(given_or_default(found).items())) == found


@pytest.mark.parametrize(
    ("wrong", "message", "hint"),
    [
        ({}, "m lacks its argument 'l'", "write m(l => 3)"),
        ({"l": 1}, "m: l must be a whole number from 2 to 9, not 1", "write l => 3"),
        ({"l": 3, "c": 1}, "m: c belongs to way => 'c'", "leave it out, or write way => 'c', c => 3"),
        ({"l": 3, "c": 0, "way": "c"}, "m: c must be a number above 0 and up to 9, not 0", "write c => 3"),
        ({"l": 3, "share": "0.1"}, "m: share must be a fraction between 0 and 1, not '0.1'", "write share => 0.5"),
        ({"l": 3, "way": "x"}, "m: there is no way 'x'", "write one of way => 'a', way => 'b', way => 'c'"),
        ({"l": 3, "near": 1}, "m: near must be true or false, not 1", "write near => true"),
        (
            {"l": 3, "groups": 2},
            "m: groups must be a list of whole numbers from 1 to 9, not 2",
            "write groups => (2, 2)",
        ),
        ({"l": 3, "target": 2}, "m: target must be the name of a column, not 2", "write target => zip"),
        ({"l": 3, "group": 2}, "m has no argument 'group'", "did you mean groups?"),
        ({"l": 3, "x": 2}, "m has no argument 'x'", f"it has: {', '.join(NAMES)}"),
    ],
)
def test_an_error_says_what_works(wrong: dict[str, Value], message: str, hint: str) -> None:
    with pytest.raises(PolicyError) as raised:
        parsed("m", Options, list(wrong.items()))
    assert (raised.value.message, raised.value.hint) == (message, hint)


def test_a_name_that_is_no_method_s_leads_to_those_there_are() -> None:
    with pytest.raises(UserError, match="there is no method 'generalisation'") as raised:
        find_method("generalisation")
    assert raised.value.hint == "did you mean generalization?"
    with pytest.raises(UserError) as raised:
        find_method("x")
    assert raised.value.hint == f"there are: {', '.join(METHODS)}"


@pytest.mark.parametrize("name", METHODS)
def test_the_arguments_of_each_method_have_help_and_an_example_that_works(name: str) -> None:
    options = find_method(name).OPTIONS
    known = arguments_of(options)
    least: dict[str, Value] = {other: example_of(known[other]) for other in required(options)}
    for argument_name, one in known.items():
        assert one.help
        assert "\n" not in one.help
        given_with = least | (dict([one.needs]) if one.needs else {}) | {argument_name: example_of(one)}
        found = parsed(name, options, list(given_with.items()))
        assert given_or_default(found).keys() >= given_with.keys()
        # As a user writes it, too.
        [created] = parse_script(f"CREATE ANONYMIZED TABLE t AS POLICY p METHOD {called(name, given_with)}")
        assert isinstance(created, CreateRelease)
        assert parsed(name, options, created.method.arguments) == found


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("bounds", [{}, {"least": 2}, {"above": 4}])
def test_an_argument_without_an_example_has_one_that_works(kind: Kind, bounds: dict[str, int]) -> None:
    bounds = {} if kind is Kind.FRACTION else bounds
    options = make_dataclass("Options", [("a", Any, argument("help", kind, choices=("x", "y"), **bounds))])
    assert given_or_default(parsed("m", options, [("a", example_of(arguments_of(options)["a"]))]))


def test_what_is_written_has_quotes_where_it_needs_them() -> None:
    assert written((1, Decimal("0.50"), "it's", True, QualifiedName(("a", "b")))) == "(1, 0.50, 'it''s', true, a.b)"
