"""Opens a door: checks its address, starts the workers and the server, renews rooms, and closes all of these."""

from __future__ import annotations

import ctypes
import ipaddress
import os
import resource
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlanon.errors import UserError

if TYPE_CHECKING:
    from sqlanon.clients.serve.children import Children
    from sqlanon.clients.serve.readers import Budgets, Readers
    from sqlanon.clients.serve.rooms import Rooms, RoomSource
    from sqlanon.clients.serve.workers import Limits

    OpenSource = Callable[[Children], tuple[RoomSource, Readers, Budgets | None]]

_LOOPBACK_NAMES = ("localhost",)
# mallopt's M_ARENA_MAX. glibc reserves 64 MiB of address space for each arena, which the limit of memory counts.
_ARENAS, _MOST_ARENAS = -8, 2
_CLOSING_SECONDS = 5.0
_CONNECT_SECONDS = 2.0
# The time between two attempts to make rooms again while another process writes the source.
_RETRY_SECONDS = 5.0


@dataclass(frozen=True)
class Address:
    """An address at which a door listens, with the files of its certificate, its key, and the authority for client
    certificates.
    """

    host: str = "127.0.0.1"
    port: int = 31337
    certificate: Path | None = None
    key: Path | None = None
    client_authority: Path | None = None

    @property
    def has_tls(self) -> bool:
        return self.certificate is not None

    @property
    def is_any(self) -> bool:
        """Whether the address means all addresses of this machine, so that clients need another name."""
        try:
            return ipaddress.ip_address(self.host).is_unspecified
        except ValueError:
            return False

    def uri(self, port: int) -> str:
        """Returns the URI of the address with a port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'grpc+tls' if self.has_tls else 'grpc'}://{host}:{port}"

    def require_safe(self) -> None:
        """Raises UserError for a network address without TLS, and if only one of certificate and key is given."""
        if (self.certificate is None) != (self.key is None):
            raise UserError("TLS needs a certificate and its key", hint="--tls-cert cert.pem --tls-key key.pem")
        if self.client_authority is not None and not self.has_tls:
            raise UserError("certificates of clients need TLS", hint="--tls-cert cert.pem --tls-key key.pem")
        if not self.has_tls and not _is_loopback(self.host):
            raise UserError(
                f"{self.host} may be reached over a network, and tokens and rows would be sent unencrypted",
                hint="--tls-cert cert.pem --tls-key key.pem, or leave --host out: readers on this machine need no TLS",
            )

    def require_free(self) -> None:
        """Raises UserError if another process listens at the port."""
        with suppress(OSError), socket.create_connection((self.host, self.port), timeout=_CONNECT_SECONDS):
            raise UserError(
                f"port {self.port} is in use", hint="name another: --port 31338, or --port 0 for any that is free"
            )

    def tls(self) -> dict[str, Any]:
        """Returns the arguments of the server for TLS. Raises UserError if a file cannot be read."""
        if self.certificate is None or self.key is None:
            return {}
        arguments: dict[str, Any] = {"tls_certificates": [(_content(self.certificate), _content(self.key))]}
        if self.client_authority is not None:
            arguments |= {"verify_client": True, "root_certificates": _content(self.client_authority)}
        return arguments


@dataclass(frozen=True)
class Settings:
    """The settings of a door: its address, the limits of a statement, the number of workers, and its files.

    `refresh` is the time between two looks at the source; None means that it never looks again. `max_age` is the
    longest time that a room is served while its source is in use. `front_memory` limits the process that readers reach,
    in bytes.
    """

    address: Address
    limits: Limits
    workers: int = 2
    audit: Path | None = None
    rooms: Path | None = None
    refresh: timedelta | None = timedelta(minutes=1)
    max_age: timedelta | None = None
    front_memory: int = 4 << 30
    report: Callable[[str], None] = field(default=lambda text: None)


@dataclass
class OpenDoor:
    """A door that answers. `run` waits and renews rooms until an exception, such as that of a signal, ends it."""

    address: Address
    port: int
    rooms: Rooms
    releases: tuple[str, ...]
    budgets: tuple[str, ...]
    refresh: timedelta | None
    is_closed: bool = True

    @property
    def uri(self) -> str:
        return self.address.uri(self.port)

    def run(self) -> None:
        never = threading.Event()
        while True:
            never.wait(None if self.refresh is None else self.refresh.total_seconds())
            while not self.rooms.refresh():
                never.wait(_RETRY_SECONDS)


@contextmanager
def opened(settings: Settings, open_source: OpenSource) -> Iterator[OpenDoor]:
    """Yields a door that answers, and closes it.

    `open_source` returns the source of rooms, the readers, and the budgets if the source has any. Raises UserError for
    an unsafe address or a source without releases, and PrivacyViolation for a release that fails its check.
    """
    require_platform()
    settings.address.require_safe()
    settings.address.require_free()
    tls = settings.address.tls()

    from pyarrow.lib import ArrowException

    from sqlanon.clients.serve.audit import Audit
    from sqlanon.clients.serve.children import Children
    from sqlanon.clients.serve.rooms import Rooms, rooms_folder
    from sqlanon.clients.serve.server import Door
    from sqlanon.clients.serve.workers import Pool

    with ExitStack() as stack:
        children = Children()
        stack.callback(children.close)
        source, readers, budgets = open_source(children)
        releases = tuple(sorted(map(str, source.releases())))
        granted = () if budgets is None else tuple(sorted(budgets.budgets()))
        audit = stack.enter_context(Audit(settings.audit))
        folder = stack.enter_context(rooms_folder(settings.rooms))
        pool = Pool(settings.limits, settings.workers)
        stack.callback(pool.close)
        rooms = Rooms(folder, source, pool, max_age=settings.max_age, report=settings.report)
        address = settings.address
        location = address.uri(address.port)
        try:
            parts: dict[str, Any] = {"readers": readers, "rooms": rooms, "pool": pool, "budgets": budgets}
            door = Door(location, audit=audit, report=settings.report, **parts, **tls)
        except (OSError, ArrowException):
            fits = ", that --tls-key is the key of --tls-cert" if address.has_tls else ""
            raise UserError(
                f"the door cannot listen at {location}",
                hint=f"check that the address is one of this machine{fits}, and that its port is free",
            ) from None
        limit_memory(settings.front_memory)
        running = OpenDoor(address, door.port, rooms, releases, granted, settings.refresh)
        stack.callback(_shut, door, pool, running)
        yield running


def require_platform() -> None:
    """Raises UserError on systems without reliable limits, and if pyarrow is not installed."""
    if sys.platform != "linux":
        raise UserError(
            "sqlanon serve needs Linux, because it relies on Linux's limits for processes",
            hint="publish an export instead: any file server or DuckDB server can serve it",
        )
    # The lines that gRPC writes about an address or a key say what the message says.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    try:
        import pyarrow.flight  # noqa: F401
    except ImportError:
        raise UserError("sqlanon serve needs pyarrow", hint="pip install 'sqlanon[serve]'") from None


def limit_memory(size: int) -> None:
    """Limits this process to `size` bytes beyond its present address space.

    This is the soft limit: workers and the processes that make rooms inherit it, and set other limits.
    """
    ctypes.CDLL(None).mallopt(_ARENAS, _MOST_ARENAS)
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    limit = pages * resource.getpagesize() + size
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))


def _shut(door: Any, pool: Any, running: OpenDoor) -> None:
    """Stops answering. A client that does not read would keep the server waiting, so it gets only a few seconds."""
    pool.close()
    closing = threading.Thread(target=door.shutdown, daemon=True)
    closing.start()
    closing.join(_CLOSING_SECONDS)
    running.is_closed = not closing.is_alive()


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host in _LOOPBACK_NAMES


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise UserError(f"{file} cannot be read: {os.strerror(error.errno or 0)}") from None
