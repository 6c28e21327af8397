"""The lists of the parts that a reader's statement may contain, read from sql/gate/."""

from __future__ import annotations

import shlex
import tomllib
from functools import cache
from typing import Any, NamedTuple

from sqlanon import assets

# A field's content: a word such as "expression?", or the words of which it is one.
Field = str | frozenset[str]
Fields = dict[str, Field]


class Allowed(NamedTuple):
    """Folded names that a statement may use: functions, table functions and types."""

    functions: frozenset[str]
    tables: frozenset[str]
    types: frozenset[str]


class Grammar(NamedTuple):
    """The known nodes of parse trees, by kind and name: {"query": {"SELECT_NODE": {field: content}}}."""

    kinds: dict[str, dict[str, Fields]]


def groups(kind: str) -> dict[str, frozenset[str]]:
    """Returns the groups of names below [kind.*] of functions.toml: allowed, refused, allowed_tables, allowed_types."""
    lists = tomllib.loads(assets.read("sql", "gate", "functions.toml"))
    return {name: frozenset(shlex.split(group["names"])) for name, group in lists[kind].items()}


def _names(kind: str) -> frozenset[str]:
    return frozenset().union(*groups(kind).values())


@cache
def allowed() -> Allowed:
    """Returns the names that a statement may use."""
    return Allowed(_names("allowed"), _names("allowed_tables"), _names("allowed_types"))


@cache
def grammar() -> Grammar:
    """Returns the nodes of parse trees that a statement may have."""
    kinds: dict[str, dict[str, dict[str, Any]]] = tomllib.loads(assets.read("sql", "gate", "parse_tree.toml"))
    return Grammar(
        {
            kind: {
                name: {
                    field: frozenset(content) if isinstance(content, list) else content
                    for field, content in fields.items()
                }
                for name, fields in nodes.items()
            }
            for kind, nodes in kinds.items()
        }
    )
