"""TLS of `sqlanon serve`: plain text, unknown certificates and clients without one are kept out."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.flight as flight
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from sqlanon.clients.serve.door import Address, OpenDoor
from sqlanon.clients.terminal.serve_command import say_open
from sqlanon.errors import UserError
from tests.support.door.doors import TOKEN, OpenedDoor, opened_door, room_file


@dataclass(frozen=True)
class Signed:
    """A certificate and its key, in PEM."""

    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    @property
    def pem(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    @property
    def key_pem(self) -> bytes:
        form = serialization.PrivateFormat.PKCS8
        return self.key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())


def signed(name: str, authority: Signed | None = None) -> Signed:
    """Makes a certificate for 127.0.0.1, signed by an authority or by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(authority.certificate.subject if authority else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.BasicConstraints(ca=authority is None, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
    )
    return Signed(key, builder.sign(authority.key if authority else key, hashes.SHA256()))


@pytest.fixture(scope="module")
def authority() -> Signed:
    return signed("authority")


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory, authority: Signed) -> Iterator[OpenedDoor]:
    folder = tmp_path_factory.mktemp("door")
    file = room_file(folder / "releases.duckdb", "CREATE TABLE released AS SELECT 1 AS age")
    server = signed("door", authority)
    tls = {"tls_certificates": [(server.pem, server.key_pem)]}
    with opened_door(folder, file, tls=tls, trusted={"tls_root_certs": authority.pem}) as opened:
        yield opened


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory, authority: Signed) -> Iterator[OpenedDoor]:
    """A door that asks clients for certificates."""
    folder = tmp_path_factory.mktemp("strict")
    file = room_file(folder / "releases.duckdb", "CREATE TABLE released AS SELECT 1 AS age")
    server, client = signed("door", authority), signed("ana", authority)
    tls = {
        "tls_certificates": [(server.pem, server.key_pem)],
        "verify_client": True,
        "root_certificates": authority.pem,
    }
    trusted = {"tls_root_certs": authority.pem, "cert_chain": client.pem, "private_key": client.key_pem}
    with opened_door(folder, file, tls=tls, trusted=trusted) as opened:
        yield opened


def kept_out(connect: Callable[[], object]) -> None:
    with pytest.raises((pa.ArrowException, OSError)) as caught:
        connect()
    assert "the name or the token" not in str(caught.value), "the peer came as far as the token"


def hand_over(uri: str, **tls: object) -> object:
    options = flight.FlightCallOptions(timeout=10)
    return flight.connect(uri, **tls).authenticate_basic_token("ana", TOKEN, options)


def test_the_standard_driver_comes_through(door: OpenedDoor, authority: Signed) -> None:
    option = {"adbc.flight.sql.client_option.tls_root_certs": authority.pem.decode()}
    with door.connect(**option) as connection, connection.cursor() as cursor:
        cursor.execute("FROM released")
        assert cursor.fetchall() == [(1,)]


def test_without_tls_and_by_unknown_authorities_nobody_comes_through(door: OpenedDoor) -> None:
    kept_out(lambda: hand_over(door.uri.replace("+tls", "")))
    kept_out(lambda: hand_over(door.uri))
    kept_out(lambda: hand_over(door.uri, tls_root_certs=signed("another").pem))


def test_a_client_needs_the_certificate_that_is_asked_for(strict: OpenedDoor, authority: Signed) -> None:
    client = strict.client()
    assert client.fetch(client.ticket("FROM released")).num_rows == 1
    forged = signed("ana", signed("authority"))
    kept_out(lambda: hand_over(strict.uri, tls_root_certs=authority.pem))
    kept_out(
        lambda: hand_over(strict.uri, tls_root_certs=authority.pem, cert_chain=forged.pem, private_key=forged.key_pem)
    )


def test_the_printed_lines_connect_with_a_client_certificate(
    strict: OpenedDoor, authority: Signed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A door at any address prints lines in which a reader fills in the machine, a name and a token."""
    client = signed("ana", authority)
    for name, content in (("ca.pem", authority.pem), ("client.pem", client.pem), ("client.key", client.key_pem)):
        (tmp_path / name).write_bytes(content)
    monkeypatch.chdir(tmp_path)
    certificate = Path("c")
    address = Address("0.0.0.0", certificate=certificate, key=certificate, client_authority=certificate)
    said: list[str] = []
    output = SimpleNamespace(json=False, text=said.append, status=said.append)
    say_open(output, OpenDoor(address, strict.door.port, strict.rooms, ("main.released",), (), None))  # type: ignore[arg-type]
    assert not any("0.0.0.0" in line for line in said)
    assert any("HOST is the name of this machine" in line for line in said)
    lines = [line.removeprefix("ADBC    ").strip() for line in said]
    text = "\n".join(lines[lines.index("import adbc_driver_flightsql.dbapi as flightsql") :]).partition("\npolars")[0]
    for hole, value in (("HOST", "127.0.0.1"), ("NAME", "ana"), ("TOKEN", TOKEN)):
        text = text.replace(hole, value)
    names: dict[str, Any] = {}
    exec(text, names)  # noqa: S102 - the project's own lines
    with names["connection"] as connection, connection.cursor() as cursor:
        cursor.execute("FROM released")
        assert cursor.fetchall() == [(1,)]


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_a_loopback_address_needs_no_tls(host: str) -> None:
    Address(host).require_safe()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.1.2.3", "door.example.org", "localhost.example.org", ""])
def test_any_other_address_needs_tls(host: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="sent unencrypted"):
        Address(host).require_safe()
    Address(host, certificate=tmp_path / "c", key=tmp_path / "k").require_safe()


def test_half_of_a_certificate_is_refused(tmp_path: Path) -> None:
    for half in (Address(certificate=tmp_path), Address(key=tmp_path)):
        with pytest.raises(UserError, match="a certificate and its key"):
            half.require_safe()
    with pytest.raises(UserError, match="need TLS"):
        Address(client_authority=tmp_path).require_safe()
    with pytest.raises(UserError, match="cannot be read"):
        Address(certificate=tmp_path / "no", key=tmp_path / "no").tls()
