"""PostgreSQL databases by their URLs, and schemas in them: postgresql://host/database?schema=name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlencode, urlsplit

from sqlanon.errors import UserError

_URL = re.compile(r"postgres(ql)?://", re.IGNORECASE)
# Any URL, and a database's URL with missing slashes, which would otherwise be the path of a folder.
_REMOTE = re.compile(r"[a-z][a-z0-9+.-]+://|(?:postgres|postgresql|mysql|mariadb|jdbc|mongodb):", re.IGNORECASE)
# Words with values, which libpq accepts in place of a URL; one of them may be a password.
_WORD = (
    r"(?:host|hostaddr|port|dbname|user|password|passfile|service|servicefile|options|application_name|connect_timeout"
    r"|client_encoding|require_auth|channel_binding|target_session_attrs|gssencmode|krbsrvname|ssl[a-z_]+)"
)
_KEYWORDS = re.compile(
    rf"{_WORD}\s*=(?:[^/]*$|.*\s{_WORD}\s*=)|(?:.*[\s;])?(?:ssl)?password\s*=", re.IGNORECASE | re.DOTALL
)
_HOST = r"(?:\[[0-9A-Fa-f:.]+\]|[\w.%-]*)(?::\d*)?"
_HOSTS = re.compile(rf"{_HOST}(?:,{_HOST})*", re.ASCII)
_SCHEMA = "schema"
# Schemas that may hold anything, or belong to PostgreSQL.
_RESERVED = re.compile(r"public|information_schema|pg_.*", re.IGNORECASE)
# PostgreSQL cuts longer names.
LONGEST_NAME = 63


@dataclass(frozen=True)
class DatabaseUrl:
    """`uri` is the URL for the driver; `called` has the host and the database, and nothing else.

    `schemas` are the schemas in the URL, which are not in `uri`.
    """

    uri: str
    called: str
    schemas: tuple[str, ...]


@dataclass(frozen=True)
class SchemaUrl:
    """`uri` is the URL for the driver; `called` has the host, the database and the schema, and nothing else."""

    uri: str
    schema: str
    called: str


def is_database_url(path: str) -> bool:
    """Whether a path is the URL of a PostgreSQL database instead of a file."""
    return _URL.match(path.strip()) is not None


def require_no_url(path: str, *, hint: str) -> None:
    """Raises UserError for a URL, and for words that libpq accepts in its place: `host=... dbname=...`.

    The error does not show the path, which may have a password in it.
    """
    # Parsers of URLs skip these characters anywhere.
    if _REMOTE.match(re.sub(r"[\t\r\n]", "", path.strip())):
        raise UserError("a URL cannot be used as the path of a file", hint=hint)
    if _KEYWORDS.match(path.strip()):
        raise UserError(
            "the path is a list of PostgreSQL's connection keywords, not a file or folder",
            hint="write postgresql://host/database?schema=name, and leave the password to PGPASSWORD or ~/.pgpass; "
            "write './' before a path that begins so",
        )


def database_url(path: str) -> DatabaseUrl:
    """Returns the database that a URL names.

    Raises UserError for a URL with a password in it, and for an ambiguous URL, because a part of it might be a
    password. The error shows no part of the URL.
    """
    parts, has_password = _parts(path)
    try:
        query = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    except ValueError:
        raise UserError("the URL of a database is malformed after its ?", hint="write ?schema=name") from None
    if has_password or any("password" in name.lower() for name, _ in query):
        raise UserError(
            "the URL of a database has a password in it, and scripts and logs would show it",
            hint="leave it out: PGPASSWORD, PGSERVICE or ~/.pgpass has it, as for any program of PostgreSQL's",
        )
    others = urlencode([(name, value) for name, value in query if name != _SCHEMA], quote_via=quote)
    uri = f"postgresql://{parts.netloc}{parts.path}" + (f"?{others}" if others else "")
    schemas = tuple(value for name, value in query if name == _SCHEMA)
    _, _, hosts = parts.netloc.rpartition("@")
    return DatabaseUrl(uri, f"postgresql://{hosts}{parts.path}", schemas)


def _parts(path: str) -> tuple[SplitResult, bool]:
    """Returns the parts of a URL, and whether it has a password. Raises UserError for an ambiguous URL."""
    malformed = UserError(
        "the URL of a database is malformed, or has a password with characters that end it",
        hint="write postgresql://user@host:port/database?schema=name, with no password, %20 for a space, %23 for # "
        "and %40 for @ in a name",
    )
    try:
        parts = urlsplit(path.strip())
        user, _, hosts = parts.netloc.rpartition("@")
        has_password = ":" in unquote(user).rstrip(":") or (parts.netloc.count("@") > 1 and ":" in parts.netloc)
        is_plain = not re.search(r"[\s#]", path.strip()) and "@" not in user + parts.path + parts.query
    except ValueError:
        raise malformed from None
    if not has_password and not (is_plain and _HOSTS.fullmatch(hosts)):
        raise malformed
    return parts, has_password


def schema_url(path: str, default: str | None = None) -> SchemaUrl:
    """Returns the schema that a URL names, or else the default.

    Raises UserError for a URL with a password, with several schemas, or without a schema if there is no default, and
    for a reserved or too long name.
    """
    url = database_url(path)
    schemas = url.schemas or (() if default is None else (default,))
    if len(schemas) != 1 or not schemas[0]:
        raise UserError("the URL names no schema, or several", hint="write postgresql://host/database?schema=name")
    (schema,) = schemas
    if _RESERVED.fullmatch(schema):
        raise UserError(
            f"the schema {schema} is reserved and cannot hold an export", hint="name another one, which need not exist"
        )
    if len(schema.encode()) > LONGEST_NAME:
        raise UserError(f"the schema {schema} has a longer name than PostgreSQL allows", hint="write a shorter one")
    return SchemaUrl(url.uri, schema, f"{url.called}?{urlencode({_SCHEMA: schema}, quote_via=quote)}")
