"""The commands of a door for readers: `sqlanon serve` and `sqlanon token`."""

from __future__ import annotations

import re
import signal
from dataclasses import replace as replaced
from datetime import date, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sqlanon.clients.terminal.exit_codes import answering
from sqlanon.clients.terminal.options import AsJson, Quiet, Verbose

if TYPE_CHECKING:
    from sqlanon.clients.serve.children import Children
    from sqlanon.clients.serve.door import OpenDoor, OpenSource
    from sqlanon.clients.serve.readers import Budgets, Readers
    from sqlanon.clients.serve.rooms import RoomSource
    from sqlanon.clients.terminal.presentation.output import Output

_READERS = Path("readers.toml")
_AUDIT = Path("audit.jsonl")
_DATABASES = (".duckdb", ".db")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(i?)B?", re.IGNORECASE)
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
_TIME = re.compile(r"(\d+)\s*([smhd])", re.IGNORECASE)
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


def serve(
    path: Annotated[
        Path, typer.Argument(metavar="PATH", help="A database with readers, an export, or a folder of exports.")
    ],
    readers: Annotated[
        Path | None,
        typer.Option("--readers", metavar="FILE", help="The readers of exports; sqlanon token writes readers.toml."),
    ] = None,
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="The port; 0 for any that is free.")] = 31337,
    tls_cert: Annotated[
        Path | None, typer.Option("--tls-cert", metavar="FILE", help="The certificate, in PEM; needed off loopback.")
    ] = None,
    tls_key: Annotated[Path | None, typer.Option("--tls-key", metavar="FILE", help="The key of --tls-cert.")] = None,
    client_ca: Annotated[
        Path | None,
        typer.Option("--client-ca", metavar="FILE", help="Let in only clients with a certificate of this authority."),
    ] = None,
    seconds: Annotated[
        float, typer.Option("--seconds", min=0.1, help="The time of a statement, reading included.")
    ] = 30,
    memory: Annotated[str, typer.Option("--memory", metavar="SIZE", help="The memory of a statement.")] = "2GB",
    rows: Annotated[int, typer.Option("--rows", min=1, help="The most rows of an answer.")] = 5_000_000,
    size: Annotated[str, typer.Option("--bytes", metavar="SIZE", help="The most bytes of an answer.")] = "1GB",
    workers: Annotated[int, typer.Option("--workers", min=2, help="Statements that run at a time.")] = 2,
    refresh: Annotated[
        str | None,
        typer.Option(
            "--refresh",
            metavar="TIME",
            help="Time between new copies, as in 30s, 5m, 1h or 1d, or never.",
            show_default="1h for a database, 1m for exports",
        ),
    ] = None,
    max_age: Annotated[
        str | None,
        typer.Option(
            "--max-age",
            metavar="TIME",
            help="Close a copy of this age while the database is in use by another program.",
            show_default="never",
        ),
    ] = None,
    audit: Annotated[
        Path, typer.Option("--audit", metavar="FILE", help="Append the audit here; - is standard error.")
    ] = _AUDIT,
    signed_by: Annotated[
        Path | None, typer.Option("--signed-by", metavar="FILE", help="The public key that has signed the exports.")
    ] = None,
    rooms: Annotated[
        Path | None,
        typer.Option("--rooms", metavar="FOLDER", help="Where copies of releases lie while they are served."),
    ] = None,
    front_memory: Annotated[
        str, typer.Option("--front-memory", metavar="SIZE", help="The memory of the process that clients reach.")
    ] = "4GB",
    as_json: AsJson = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
) -> None:
    """Let readers query releases over Arrow Flight SQL; they never reach the source.

    Each release is checked first. It needs the extra serve. Ctrl-C or SIGTERM ends it.
    """
    from sqlanon.clients.serve.door import Address, Settings, opened, require_platform
    from sqlanon.clients.terminal.presentation.output import Output

    # A shell lets jobs in the background ignore Ctrl-C.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    output = Output(json=as_json, quiet=quiet, verbose=verbose)
    with answering(output):
        require_platform()
        from sqlanon.clients.serve.workers import Limits

        settings = Settings(
            Address(host, port, tls_cert, tls_key, client_ca),
            Limits(seconds, byte_count(memory), rows, byte_count(size)),
            workers=workers,
            audit=None if audit == Path("-") else audit,
            rooms=rooms,
            refresh=_refresh(refresh, "1h" if is_database(path, readers) else "1m"),
            max_age=None if max_age is None else duration(max_age),
            front_memory=byte_count(front_memory),
            report=output.warning,
        )
        door = None
        try:
            with opened(settings, _source(path, readers, signed_by, output)) as door:
                say_open(output, door)
                door.run()
        except KeyboardInterrupt:
            # The way in which a server ends.
            output.status("closed")
            if door is not None and not door.is_closed:
                _leave()


def token(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of the reader.")],
    grants: Annotated[
        list[str] | None,
        typer.Option("--grant", metavar="RELEASE", help="A release that they may read; may be repeated."),
    ] = None,
    expires: Annotated[
        str | None, typer.Option("--expires", metavar="DATE", help="The last day, in UTC, as in 2027-06-30.")
    ] = None,
    readers: Annotated[Path, typer.Option("--readers", metavar="FILE", help="The file of the readers.")] = _READERS,
    token_file: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write the token to a file that you alone may read; do not print it."
        ),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Give a reader another token, which ends the former one at once.")
    ] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
) -> None:
    """Add a reader of exports to a file, and print their token: only its digest is kept.

    With --replace they keep releases and expiry unless others are named. Removing them from the file ends their access
    at once.
    """
    from sqlanon.clients.serve.readers_file import add_reader
    from sqlanon.clients.terminal.presentation.output import Output
    from sqlanon.errors import UserError

    output = Output(json=as_json, quiet=quiet, verbose=verbose)
    with answering(output):
        try:
            last_day = None if expires is None else date.fromisoformat(expires)
        except ValueError:
            raise UserError(f"{expires!r} is not a date", hint="write it as in --expires 2027-06-30") from None
        made = add_reader(readers, name, grants or [], last_day, token_file=token_file, replace=replace)
        if as_json:
            of_token = {"token": made} if token_file is None else {"file": str(token_file)}
            output.json_line({"reader": name, **of_token, "readers": str(readers)})
        elif token_file is None:
            typer.echo(made)
        handling = "it is shown once" if token_file is None else f"it is in {token_file} alone"
        output.status(f"{name} is in {readers}; hand the token over, for {handling}")


def byte_count(text: str) -> int:
    """Reads a size such as 512MB or 2GiB. Raises UserError for any other text."""
    from sqlanon.errors import UserError

    match = _SIZE.fullmatch(text.strip())
    count = int(float(match[1]) * (1024 if match[3] else 1000) ** _POWERS[match[2].upper()]) if match else 0
    if count < 1:
        raise UserError(f"{text!r} is not a size", hint="write it as in 512MB or 2GB")
    return count


def duration(text: str) -> timedelta:
    """Reads a time such as 30s, 5m, 1h or 1d. Raises UserError for any other text."""
    from sqlanon.errors import UserError

    match = _TIME.fullmatch(text.strip())
    if match is None or int(match[1]) == 0:
        raise UserError(f"{text!r} is not a time", hint="write it as in 30s, 5m, 1h or 1d")
    return timedelta(**{_UNITS[match[2].lower()]: int(match[1])})


def is_database(path: Path, readers: Path | None) -> bool:
    """Whether a path is a database, whose catalog lists its readers; an exported DuckDB file needs a file of
    readers.
    """
    return readers is None and path.suffix.lower() in _DATABASES and path.is_file()


def _refresh(text: str | None, default: str) -> timedelta | None:
    return None if text == "never" else duration(text or default)


def _source(path: Path, readers: Path | None, key: Path | None, output: Output) -> OpenSource:
    """Returns the function that opens a database, or the exports at a path, with the readers."""
    from sqlanon.clients.serve.exports import Exports
    from sqlanon.clients.serve.keeper import Keeper
    from sqlanon.clients.serve.readers_file import ReadersFile
    from sqlanon.errors import UserError

    def opens(children: Children) -> tuple[RoomSource, Readers, Budgets | None]:
        if not is_database(path, readers):
            exports, file = (
                Exports(path, children, key, output.warning),
                ReadersFile(readers or _READERS, output.warning),
            )
            releases = exports.releases()
            for name, grant in file.not_served(releases):
                output.warning(
                    f"{name} is granted {grant}, which is not served: {', '.join(sorted(map(str, releases)))}"
                )
            return exports, file, None
        if key is not None:
            raise UserError(f"{path} is a database, and only exports are signed", hint="leave --signed-by out")
        keeper = Keeper(path, children, output.warning)
        if not keeper.releases() and not keeper.budgets():
            raise UserError(
                f"no reader is granted a release or a budget of {path}",
                hint="CREATE READER ana; GRANT SELECT ON RELEASE r TO ana; if it is an export, name its --readers",
            )
        if keeper.budgets() and find_spec("opendp") is None:
            output.warning("no answer under a budget can be given without OpenDP: pip install 'sqlanon[dp]'")
        return keeper, keeper, keeper

    return opens


def say_open(output: Output, door: OpenDoor) -> None:
    """Prints the releases, and the ways in which the clients of readers connect."""
    if output.json:
        output.json_line({"uri": door.uri, "releases": list(door.releases), "budgets": list(door.budgets)})
        return
    address = door.address
    uri = replaced(address, host="HOST").uri(door.port) if address.is_any else door.uri
    served = (*door.releases, *(f"budget {name}" for name in door.budgets))
    for line in connection_lines(uri, served, asks_for_certificates=address.client_authority is not None):
        output.text(line)
    if address.is_any:
        output.status("HOST is the name of this machine in its certificate")
    output.status("Ctrl-C or SIGTERM closes the door")


def connection_lines(uri: str, releases: tuple[str, ...], *, asks_for_certificates: bool = False) -> list[str]:
    """Returns the lines that a reader copies, for each client."""
    _, _, authority = uri.partition("://")
    has_tls = uri.startswith("grpc+tls")
    encrypted = "true" if has_tls else "false"
    files = {"tls_root_certs": "ca.pem"} if has_tls else {}
    if asks_for_certificates:
        files |= {"mtls_cert_chain": "client.pem", "mtls_private_key": "client.key"}
    option = "adbc.flight.sql.client_option"
    tls = [f'                "{option}.{name}": open("{file}").read(),' for name, file in files.items()]
    jdbc = zip(("tlsRootCerts", "clientCertificate", "clientKey"), files.values(), strict=False)
    of_jdbc = "".join(f"&{name}={file}" for name, file in jdbc)
    return [
        f"serving {', '.join(releases)} at {uri}",
        "",
        "ADBC    import adbc_driver_flightsql.dbapi as flightsql",
        f'        connection = flightsql.connect("{uri}", autocommit=True,',
        '            db_kwargs={"username": "NAME", "password": "TOKEN"' + ("," if tls else "})"),
        *tls,
        *(["            })"] if tls else []),
        'polars  polars.read_database("SHOW TABLES", connection)',
        'pandas  pandas.read_sql("SHOW TABLES", connection)',
        'Ibis    ibis.memtable(polars.read_database("SHOW TABLES", connection))',
        f"JDBC    jdbc:arrow-flight-sql://{authority}/?useEncryption={encrypted}&user=NAME&password=TOKEN{of_jdbc}",
        *(["ca.pem has the certificate of the authority; leave it out for a public one"] if has_tls else []),
    ]


def _leave() -> None:
    """Ends the process although a client does not let go of its answer."""
    import os
    import sys

    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
