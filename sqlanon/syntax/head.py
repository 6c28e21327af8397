"""Openings, names and closing clauses that several statements share."""

from __future__ import annotations

from sqlanon.domain.values import QualifiedName
from sqlanon.syntax.lexer import Kind, keyword_of
from sqlanon.syntax.reader import Reader
from sqlanon.syntax.reserved import RESERVED


def created(reader: Reader, *kinds: str) -> tuple[bool, bool]:
    """CREATE [OR REPLACE] kind [IF NOT EXISTS]: whether it says OR REPLACE, whether IF NOT EXISTS."""
    reader.expect("CREATE")
    or_replace = reader.accept("OR", "REPLACE")
    reader.expect(*kinds)
    return or_replace, if_not_exists(reader, or_replace)


def if_not_exists(reader: Reader, or_replace: bool) -> bool:
    token = reader.peek()
    if not (reader.sees("IF", "NOT") and reader.accept("IF")):
        return False
    reader.expect("NOT", "EXISTS")
    if or_replace:
        hint = "OR REPLACE makes it anew, IF NOT EXISTS leaves it as it is: keep one of them"
        raise reader.refused("OR REPLACE and IF NOT EXISTS exclude each other", hint=hint, token=token)
    return True


def dropped(reader: Reader, *kinds: str) -> bool:
    """DROP kind [IF EXISTS]: whether it says IF EXISTS."""
    reader.expect("DROP", *kinds)
    return reader.accept("IF", "EXISTS")


def object_name(reader: Reader, kind: str) -> str:
    """The name of a hierarchy or a policy: they live in the catalog and have no schema."""
    reader.mark("name")
    name = reader.name(f"the name of the {kind}")
    reader.about(name)
    if reader.sees_symbol("."):
        raise reader.expected(f"a name without a schema for the {kind}", hint=f"write the {kind}'s own name only")
    return name


def skip_kind(reader: Reader) -> None:
    """Takes RELEASE, TABLE, VIEW or ANONYMIZED TABLE before a name: what kind of object it is, nobody has to say.

    A release may be called release: behind that name stands no other.
    """
    if reader.sees("ANONYMIZED") and keyword_of(reader.peek(1)) in ("TABLE", "VIEW"):
        reader.take()
    behind = reader.peek(1)
    is_name = behind.kind is Kind.QUOTED or (behind.kind is Kind.WORD and keyword_of(behind).lower() not in RESERVED)
    if is_name and any(reader.sees(kind) for kind in ("RELEASE", "TABLE", "VIEW")):
        reader.take()


def policy_name(reader: Reader) -> str:
    """The name of a policy that a statement refers to."""
    reader.mark("policy")
    return reader.name("the name of the policy")


def release_name(reader: Reader) -> QualifiedName:
    """The name of the release that a statement is about; errors from here on name it, too."""
    reader.mark("release")
    name = reader.qualified_name("the name of the release")
    reader.about(str(name))
    return name


def stream_name(reader: Reader) -> QualifiedName:
    """The name of the stream that a statement is about; errors from here on name it, too."""
    reader.mark("stream")
    name = reader.qualified_name("the name of the stream")
    reader.about(str(name))
    return name


def levels_from(reader: Reader) -> QualifiedName | None:
    """LEVELS FROM RELEASE name; None without the keywords."""
    if not reader.sees("LEVELS"):
        return None
    reader.expect("LEVELS", "FROM", "RELEASE")
    reader.mark("levels")
    return reader.qualified_name("the name of the release whose levels are kept")


def in_series(reader: Reader) -> str | None:
    """IN SERIES name; None without the keywords."""
    if not reader.sees("IN"):
        return None
    reader.expect("IN", "SERIES")
    reader.mark("series")
    return reader.name("the name of the series")


def accept_workload(reader: Reader) -> bool:
    """Takes WORKLOAD before a name; a figure may be called workload."""
    return reader.peek(1).kind in (Kind.WORD, Kind.QUOTED) and reader.accept("WORKLOAD")
