"""What CREATE and DROP statements have in common."""

from __future__ import annotations

from sqlanon.syntax._lexer import Kind, keyword_of
from sqlanon.syntax._reader import Reader
from sqlanon.syntax._reserved import RESERVED

__all__ = ["created", "dropped", "object_name", "skip_kind"]


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
