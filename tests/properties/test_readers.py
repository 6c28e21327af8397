"""Random sequences of statements on readers, grants and releases leave what a model of them in Python says."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlanon import Connection, UserError
from sqlanon.catalog import readers
from sqlanon.engines.duckdb import DuckDBEngine
from tests.support.database import template
from tests.support.draws import draws

pytestmark = pytest.mark.drawn

# Of one source are a and b, of another c.
SETUP = """
CREATE TABLE t AS SELECT i AS age, i % 2 AS secret FROM range(4) AS t(i);
CREATE TABLE u AS FROM t;
CREATE POLICY of_t ON t (age QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2);
CREATE POLICY of_u ON u (age QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2);
"""
POLICY = {"a": "of_t", "b": "of_t", "c": "of_u"}
NAMES = ("ana", "ben")

Step = tuple[str, ...]
_reader, _release = st.sampled_from(NAMES), st.sampled_from(sorted(POLICY))
STEPS: st.SearchStrategy[Step] = st.one_of(
    st.tuples(st.just("create"), _reader),
    st.tuples(st.just("drop"), _reader),
    st.tuples(st.just("token"), _reader),
    st.tuples(st.just("grant"), _reader, _release),
    st.tuples(st.just("grant"), _reader, _release),
    st.tuples(st.just("revoke"), _reader, _release),
    st.tuples(st.just("make"), _release),
    st.tuples(st.just("unmake"), _release),
)


@dataclass
class Model:
    """A model of the statements in plain Python: releases and readers are numbered, so that none is another one."""

    number: int = 0
    releases: dict[str, int] = field(default_factory=dict)
    # Of each reader the grants, as (name, number of the release).
    granted: dict[str, set[tuple[str, int]]] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)
    # What each name was ever granted.
    had: dict[str, set[tuple[str, int]]] = field(default_factory=dict)

    def access(self) -> dict[str, set[str]]:
        return {
            reader: {name for name, number in of if self.releases.get(name) == number}
            for reader, of in self.granted.items()
        }

    def is_warned(self, reader: str, release: str) -> bool:
        """Whether the reader has or had another release of the source."""
        now = (release, self.releases[release])
        return any(POLICY[name] == POLICY[release] and (name, n) != now for name, n in self.had.get(reader, ()))


def statement(step: Step) -> str:
    match step:
        case ("create", reader):
            return f"CREATE READER {reader}"
        case ("drop", reader):
            return f"DROP READER {reader}"
        case ("token", reader):
            return f"ALTER READER {reader} NEW TOKEN"
        case ("grant", reader, release):
            return f"GRANT SELECT ON RELEASE {release} TO {reader}"
        case ("revoke", reader, release):
            return f"REVOKE SELECT ON RELEASE {release} FROM {reader}"
        case ("make", release):
            return f"CREATE OR REPLACE ANONYMIZED TABLE {release} AS POLICY {POLICY[release]} METHOD generalization"
        case ("unmake", release):
            return f"DROP ANONYMIZED TABLE {release}"
    raise AssertionError(step)


def is_possible(model: Model, step: Step) -> bool:
    match step:
        case ("create", reader):
            return reader not in model.granted
        case ("drop" | "token", reader):
            return reader in model.granted
        case ("grant", reader, release):
            return reader in model.granted and release in model.releases
        case ("revoke", reader, release):
            return any(name == release for name, _ in model.granted.get(reader, ()))
        case ("unmake", release):
            return release in model.releases
    return True


def apply(model: Model, step: Step, connection: Connection) -> None:
    """Runs a step that is possible, and changes the model."""
    answer = connection.execute(statement(step)).fetchall()
    match step:
        case ("create", reader):
            model.granted[reader], model.tokens[reader] = set(), answer[0][3]
        case ("drop", reader):
            del model.granted[reader], model.tokens[reader]
        case ("token", reader):
            assert answer[0][3] != model.tokens[reader]
            model.tokens[reader] = answer[0][3]
        case ("grant", reader, release):
            grant = (release, model.releases[release])
            [(_, _, outcome, warning)] = answer
            assert (outcome == "granted") is (grant not in model.granted[reader])
            assert (warning is not None) is model.is_warned(reader, release)
            model.granted[reader].add(grant)
            model.had.setdefault(reader, set()).add(grant)
        case ("revoke", reader, release):
            model.granted[reader] = {grant for grant in model.granted[reader] if grant[0] != release}
        case ("make", release):
            model.number += 1
            model.releases[release] = model.number
        case ("unmake", release):
            del model.releases[release]


@settings(max_examples=draws(2, long=30), deadline=None)
@given(steps=st.lists(STEPS, max_size=14))
def test_statements_do_what_a_model_says(steps: list[Step]) -> None:
    # One release and one reader are there at first, so that most sequences grant something.
    steps = [("make", "a"), ("create", "ana"), *steps]
    model = Model()
    with template(SETUP) as connection:
        engine = DuckDBEngine(connection.duckdb)
        for step in steps:
            if not is_possible(model, step):
                with pytest.raises(UserError):
                    connection.execute(statement(step))
            else:
                apply(model, step, connection)
            found = readers.access(engine)
            assert {each.reader.reader: {name.name for _, name in each.releases} for each in found} == model.access()
            digests = {each.reader.reader: each.reader.token_sha256 for each in found}
            assert digests == {name: sha256(token.encode()).hexdigest() for name, token in model.tokens.items()}
            shown = connection.execute("SHOW GRANTS").fetchall()
            assert {(row[0], row[1]) for row in shown if row[3] == "granted"} == {
                (reader, f"main.{name}") for reader, of in model.access().items() for name in of
            }
