"""Files of questions that cannot be read: which statement each belongs to, and an error that names it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from sqlanon.assets import listing, read
from sqlanon.errors import InternalError


def file_names(kind: str) -> tuple[str, ...]:
    """The names of the files under `sql/<kind>/`, without their suffix, in order."""
    return tuple(name.removesuffix(".sql") for name in listing("sql", kind) if name.endswith(".sql"))


def users_name(kind: str, name: str, key: str) -> str:
    """The name in statements of what a file holds: the value of the header's line `key`, or else the file's own name.

    Nothing else of the file is read, so that a broken one is known by its name, too.
    """
    try:
        line = re.search(rf"^-- {key}: (.*)$", read("sql", kind, f"{name}.sql"), re.MULTILINE)
    except (OSError, UnicodeError):
        return name
    return line[1].strip() if line else name


@contextmanager
def broken_file(kind: str, name: str) -> Iterator[None]:
    """Raises InternalError, which names the file, for whatever goes wrong inside: reading, parsing or checking it."""
    try:
        yield
    except Exception as error:
        problem = error.message if isinstance(error, InternalError) else f"{type(error).__name__}: {error}"
        raise InternalError(
            f"the file sql/{kind}/{name}.sql is broken: {problem}",
            hint="mend or remove it, or reinstall sqlanon; statements that do not need it go on",
        ) from error
