"""PostgreSQL by ADBC, whose driver is libpq: the environment, services and ~/.pgpass have the password, as there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from sqlanon.engines.adbc import AdbcConnection, require_driver
from sqlanon.errors import DataError, EngineError, SqlanonError, UserError

# Classes of SQLSTATE whose messages are about names, rights, locks and the server, and quote no value: those of names
# and syntax, of transactions and rights, of resources and of the system.
_VALUELESS = ("08", "0A", "25", "28", "2B", "3D", "3F", "40", "42", "53", "54", "55", "57", "58")
# What libpq says once it has read the URL.
_ANSWERS = ("connection to server", "could not translate host name", "definition of service")
_SPELT = "is each option behind the ? one of libpq's, and its value one that it can have?"
_REFUSED = ("password authentication failed", "no password supplied", "does not exist", "no pg_hba.conf entry")


def open_postgres(uri: str, called: str, *, imports: bool = False) -> AdbcConnection:
    """A connection to the database of a URI without a password, in a transaction; errors call it `called`.

    It writes an export or reads one, or it reads what it `imports`: errors have other hints then.

    Raises UserError where the driver is not installed or the server refuses the user, EngineError where it cannot be
    reached.
    """
    with require_driver("adbc-driver-postgresql", "postgres", "exports to PostgreSQL and imports from it"):
        from adbc_driver_manager import Error
        from adbc_driver_postgresql import dbapi
    try:
        connection = dbapi.connect(uri)
    except Error as error:
        raise _not_connected(error, called) from None
    return AdbcConnection(connection, "postgres", partial(_said_of_source if imports else _said, called))


@contextmanager
def commit_errors(called: str) -> Iterator[None]:
    """An error of the driver's while it commits: then nobody can tell whether it has happened."""
    try:
        from adbc_driver_manager import Error
    except ImportError:
        # No connection can have been opened.
        yield
        return
    try:
        yield
    except Error as error:
        raise EngineError(
            f"{called}: the connection ended while the export was committed ({_state(error)}): it is there whole, or "
            "not at all",
            hint=f"CHECK '{called}' says which; the export counts as one that others may have",
        ) from None


def _not_connected(error: Any, called: str) -> SqlanonError:
    said = _first_line(error)
    if not said.removeprefix("Failed to connect: ").startswith(_ANSWERS):
        # What libpq says of the URL itself quotes it.
        return UserError(f"{called}: libpq cannot use the URL, or what the environment adds to it", hint=_SPELT)
    if any(refused in said for refused in _REFUSED):
        return UserError(
            f"{called}: {said}",
            hint="the user is that of the URL or PGUSER, the password that of PGPASSWORD, PGSERVICE or ~/.pgpass",
        )
    return EngineError(f"{called}: {said}", hint="is the server running, and does it listen there?")


def _said_of_source(called: str, error: Any) -> SqlanonError:
    """The same of a table that is read, where a value is none of the release's."""
    state = _state(error)
    if state.startswith(("22", "P0")):
        return DataError(
            f"{called}: PostgreSQL cannot compute a value of the table ({state})",
            hint="a view or a column that is computed fails there; a query of the table there says where",
        )
    if state == "42501":
        return UserError(f"{called}: {_first_line(error)} ({state})", hint="the user needs SELECT on the table")
    return _said(called, error)


def _said(called: str, error: Any) -> SqlanonError:
    """What the server says of an error, without what may be a value."""
    state = _state(error)
    said = f"{called}: PostgreSQL refuses it ({state})"
    if state[:2] in _VALUELESS:
        said = f"{called}: {_first_line(error)} ({state})"
    if state.startswith("22"):
        return DataError(
            f"{called}: PostgreSQL has no such value as one of the release ({state})",
            hint="texts with the character NUL are such; replace them in the source of the policy",
        )
    match state:
        case "42501":
            return UserError(
                said,
                hint="who reads needs USAGE on the schema and SELECT on its tables; who exports needs CREATE on the "
                "database, and has to own what is replaced",
            )
        case "55P03":
            return EngineError(
                said, hint="somebody reads the earlier export for long: try again, or set a longer lock_timeout"
            )
        case "40P01" | "42P06":
            return EngineError(said, hint="another export to the same place was at work: try again once it has ended")
        case "2BP01":
            return UserError(
                said, hint="something elsewhere depends on the earlier export, such as a view: drop it first"
            )
    return EngineError(said)


def _state(error: Any) -> str:
    return str(getattr(error, "sqlstate", None) or "no SQLSTATE")


def _first_line(error: Any) -> str:
    text = str(error).splitlines()[0]
    for prefix in ("IO: ", "INTERNAL: ", "[libpq] "):
        text = text.partition(prefix)[2] or text
    return text
