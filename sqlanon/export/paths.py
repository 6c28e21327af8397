"""Paths as users write them."""

from __future__ import annotations

import os
from contextlib import suppress
from errno import ENAMETOOLONG
from pathlib import Path

from sqlanon.engines.postgres_url import require_no_url
from sqlanon.errors import UserError, about, not_encodable

_SHOWN = 60


def local_path(path: str) -> Path:
    """The path, with the home directory that it begins with.

    Raises UserError where there is no such user, for a URL, and for a name that the file system cannot have.
    """
    with about("path"):
        require_no_url(path, hint="export to a folder, then copy its files there")
    try:
        local = Path(path).expanduser()
    except RuntimeError:
        user = path.partition("/")[0]
        hint = f"write the whole path, or './{path}' for a folder that is called so"
        raise UserError(f"{user} is no user's home directory on this machine", hint=hint, part=("path",)) from None
    try:
        os.fsencode(local)
    except UnicodeEncodeError as error:
        # Half of a pair of surrogates is in no name whatever the encoding.
        with about("path"):
            raise not_encodable(error) from None
    # A null character is no error of the system's: whoever uses the path says what is wrong with it.
    with suppress(ValueError):
        try:
            os.lstat(local)
        except OSError as error:
            if error.errno == ENAMETOOLONG:
                name = f"{path[:_SHOWN]}..."
                raise UserError(
                    f"{name} is too long a name for a file", hint="write a shorter path", part=("path",)
                ) from None
    return local
