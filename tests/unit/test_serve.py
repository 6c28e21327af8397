"""The commands `sqlanon serve` and `sqlanon token`: what they print, and what they refuse before they listen."""

from __future__ import annotations

import json
import signal
import socket
import stat
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import sqlanon
from sqlanon.clients.serve.audit import Audit
from sqlanon.clients.serve.readers_file import ReadersFile
from sqlanon.clients.terminal.cli import app
from sqlanon.clients.terminal.serve_command import byte_count, connection_lines, duration
from sqlanon.errors import UserError
from tests.support.command_line import environment
from tests.support.door.doors import room_file
from tests.support.processes import SECONDS, running

RUN = CliRunner()


def test_a_token_is_printed_once_and_lets_its_reader_in(tmp_path: Path) -> None:
    file = tmp_path / "readers.toml"
    arguments = ["token", "ana", "--grant", "study", "--expires", "2999-12-31", "--readers", str(file)]
    made = RUN.invoke(app, arguments)
    assert made.exit_code == 0
    token = made.stdout.strip()
    reader = ReadersFile(file).authenticate("ana", token)
    assert reader is not None
    assert [str(grant) for grant in reader.grants] == ["main.study"]
    assert token not in file.read_text(encoding="utf-8")
    assert RUN.invoke(app, arguments).exit_code == 2
    answer = RUN.invoke(app, ["token", "ben", "--grant", "study", "--readers", str(file), "--json"])
    assert json.loads(answer.stdout)["reader"] == "ben"
    for day in ("soon", "2020-01-01"):
        refused = RUN.invoke(app, ["token", "eve", "--grant", "x", "--expires", day, "--readers", str(file)])
        assert refused.exit_code == 2
    assert "2020-01-01 is in the past" in refused.stderr
    assert "eve" not in file.read_text(encoding="utf-8")


def test_a_token_in_a_file_is_for_its_owner_alone_and_is_replaced_as_a_whole(tmp_path: Path) -> None:
    file, tokens = tmp_path / "readers.toml", tmp_path / "ana.token"
    asked = ["token", "ana", "--readers", str(file), "-o", str(tokens)]
    made = RUN.invoke(app, [*asked, "--grant", "study", "--grant", "b", "--expires", "2999-12-31"])
    assert made.exit_code == 0
    assert made.stdout == ""
    first = tokens.read_text(encoding="utf-8").strip()
    assert first not in made.stderr
    assert stat.S_IMODE(tokens.stat().st_mode) == 0o600
    RUN.invoke(app, ["token", "ben", "--grant", "study", "--readers", str(file)])
    file.write_text("# of the study\n" + file.read_text(encoding="utf-8"), encoding="utf-8")
    file.chmod(0o640)
    before = file.read_text(encoding="utf-8")

    again = RUN.invoke(app, [*asked, "--grant", "study"])
    assert again.exit_code == 2
    assert "--replace" in again.stderr
    elsewhere = RUN.invoke(app, ["token", "eve", "--grant", "b", "--readers", str(file), "-o", str(tokens)])
    assert "exists already" in elsewhere.stderr
    assert RUN.invoke(app, ["token", "eve", "--readers", str(file)]).exit_code == 2
    assert tokens.read_text(encoding="utf-8").strip() == first
    assert file.read_text(encoding="utf-8") == before

    tokens.chmod(0o644)
    assert RUN.invoke(app, [*asked, "--replace"]).exit_code == 0
    second = tokens.read_text(encoding="utf-8").strip()
    assert stat.S_IMODE(tokens.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    readers = ReadersFile(file)
    assert readers.authenticate("ana", first) is None
    ana = readers.authenticate("ana", second)
    assert ana is not None
    assert sorted(map(str, ana.grants)) == ["main.b", "main.study"]
    assert ana.expires == datetime(3000, 1, 1, tzinfo=UTC)
    assert file.read_text(encoding="utf-8").startswith("# of the study\n")
    assert tomllib.loads(file.read_text(encoding="utf-8"))["ben"] == tomllib.loads(before)["ben"]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["ana.token", "readers.toml"]
    RUN.invoke(app, [*asked, "--replace", "--grant", "c", "--expires", "2998-12-31"])
    changed = tomllib.loads(file.read_text(encoding="utf-8"))["ana"]
    assert (changed["releases"], str(changed["expires"])) == (["c"], "2998-12-31")


def test_a_token_that_replaces_an_expired_one_needs_a_later_day(tmp_path: Path) -> None:
    file = tmp_path / "readers.toml"
    file.write_text(f'[ana]\ntoken = "sha256:{"0" * 64}"\nexpires = 2020-01-01\nreleases = ["a"]\n', encoding="utf-8")
    before = file.read_text(encoding="utf-8")
    asked = ["token", "ana", "--replace", "--readers", str(file)]
    ended = RUN.invoke(app, asked)
    assert ended.exit_code == 2
    assert "the expiry date of ana is in the past" in ended.stderr
    assert "--expires" in ended.stderr
    assert file.read_text(encoding="utf-8") == before
    assert RUN.invoke(app, [*asked, "--expires", "2998-12-31"]).exit_code == 0


@pytest.mark.parametrize(
    "entry", ['ana = {{token = "{0}", releases = ["a"]}}', 'ana.token = "{0}"\nana.releases = ["a"]']
)
def test_an_entry_in_another_form_is_left_as_it_is(entry: str, tmp_path: Path) -> None:
    file = tmp_path / "readers.toml"
    file.write_text(entry.format(f"sha256:{'0' * 64}"), encoding="utf-8")
    before = file.read_text(encoding="utf-8")
    ended = RUN.invoke(app, ["token", "ana", "--replace", "--readers", str(file)])
    assert ended.exit_code == 2
    assert "remove the entry by hand" in ended.stderr
    assert file.read_text(encoding="utf-8") == before


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--host", "0.0.0.0"], "sent unencrypted"),
        (["--host", "0.0.0.0", "--tls-cert", "c.pem"], "a certificate and its key"),
        (["--tls-cert", "c.pem", "--tls-key", "k.pem"], "cannot be read"),
        (["--memory", "much"], "is not a size"),
        (["--refresh", "often"], "is not a time"),
        ([], "there is no file"),
    ],
)
def test_what_is_refused_before_it_listens(arguments: list[str], text: str, tmp_path: Path) -> None:
    ended = RUN.invoke(app, ["serve", str(tmp_path / "nowhere"), "--readers", str(tmp_path / "no.toml"), *arguments])
    assert ended.exit_code == 2
    assert text in ended.stderr


def test_a_port_in_use_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        ended = RUN.invoke(app, ["serve", str(tmp_path), "--port", port])
    assert ended.exit_code == 2
    assert f"port {port} is in use" in ended.stderr


@pytest.mark.long
def test_a_key_that_is_none_is_no_defect(tmp_path: Path) -> None:
    """The program writes one message, and gRPC none."""
    with sqlanon.connect() as connection:
        connection.execute("CREATE TABLE people AS SELECT i % 2 AS sex FROM range(8) AS r(i)")
        connection.sql("CREATE POLICY p ON people (sex QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)")
        connection.sql("CREATE ANONYMIZED TABLE released AS POLICY p")
        connection.sql(f"EXPORT released TO '{tmp_path / 'exports' / 'released.parquet'}'")
    RUN.invoke(app, ["token", "ana", "--grant", "released", "--readers", str(tmp_path / "readers.toml")])
    (tmp_path / "cert.pem").write_text("no certificate", encoding="utf-8")
    tls = ["--tls-cert", "cert.pem", "--tls-key", "cert.pem"]
    command = [sys.executable, "-m", "sqlanon", "serve", "exports", "--port", "0", *tls]
    ran = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False)
    assert ran.returncode == 2, ran.stderr
    assert "cannot listen" in ran.stderr
    assert "tcp_server" not in ran.stderr


@pytest.mark.long
def test_the_limit_of_the_front_is_not_that_of_its_workers(tmp_path: Path) -> None:
    """A process of 200 MB more than it has, and a worker that may take a gigabyte, under a user without rights."""
    room_file(tmp_path / "released.duckdb", "CREATE TABLE released AS SELECT 1 AS age")
    program = f"""
import resource
from pathlib import Path
from sqlanon.clients.serve.door import limit_memory
from sqlanon.clients.serve.gate import Admitted
from sqlanon.clients.serve.workers import Limits, Pool
limit_memory(200_000_000)
soft, hard = resource.getrlimit(resource.RLIMIT_AS)
pool = Pool(Limits(seconds=60, memory=1_000_000_000), 2)
lease = pool.lease(Path({str(tmp_path / "released.duckdb")!r}), "ana")
limits = Path(f"/proc/{{lease.worker.pid}}/limits").read_text()
[line] = [line for line in limits.splitlines() if line.startswith("Max address space")]
query = Admitted("SELECT length(repeat('x', 300000000)) FROM released", frozenset())
print(hard, int(line.split()[3]) > soft, [batch.to_pydict() for batch in lease.rows(query)])
pool.close()
try:
    bytes(400_000_000)
except MemoryError:
    print("limited")
"""
    ran = subprocess.run(
        [sys.executable, "-c", program], env=environment(), capture_output=True, text=True, check=False
    )
    assert ran.stdout.splitlines()[-1:] == ["limited"], ran.stderr
    assert ran.stdout.startswith("-1 True [{")


@pytest.mark.parametrize(
    ("text", "expected"), [("1", 1), ("2KB", 2000), ("2KiB", 2048), ("1.5 GB", 1_500_000_000), ("1g", 10**9)]
)
def test_sizes(text: str, expected: int) -> None:
    assert byte_count(text) == expected


def test_times_and_what_is_neither() -> None:
    assert duration("90s") == timedelta(seconds=90)
    assert duration("2d") == timedelta(days=2)
    for wrong in ("", "0s", "1", "-1h", "1w"):
        with pytest.raises(UserError):
            duration(wrong)
    for wrong in ("", "0", "GB", "-1GB", "1PB"):
        with pytest.raises(UserError):
            byte_count(wrong)


def test_each_client_has_its_line() -> None:
    plain, encrypted = ("\n".join(connection_lines(f"{s}://h:1", ("main.a",))) for s in ("grpc", "grpc+tls"))
    for name in ("ADBC", "polars", "pandas", "Ibis", "JDBC"):
        assert f"\n{name} " in plain
    assert "jdbc:arrow-flight-sql://h:1/?useEncryption=false" in plain
    assert "jdbc:arrow-flight-sql://h:1/?useEncryption=true" in encrypted
    assert 'connect("grpc+tls://h:1"' in encrypted
    assert "ca.pem" not in plain
    assert "client.pem" not in encrypted
    asked = "\n".join(connection_lines("grpc+tls://h:1", ("main.a",), asks_for_certificates=True))
    for option in ("tls_root_certs", "mtls_cert_chain", "mtls_private_key"):
        assert f"adbc.flight.sql.client_option.{option}" in asked
    assert "&tlsRootCerts=ca.pem&clientCertificate=client.pem&clientKey=client.key" in asked


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an export and its readers."""
    folder = tmp_path_factory.mktemp("exported")
    with sqlanon.connect() as connection:
        connection.execute("CREATE TABLE people AS SELECT i % 2 AS sex FROM range(8) AS r(i)")
        connection.sql("CREATE POLICY p ON people (sex QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)")
        connection.sql("CREATE ANONYMIZED TABLE released AS POLICY p")
        connection.sql(f"EXPORT released TO '{folder / 'exports' / 'released.parquet'}'")
    grants = ["--grant", "released", "--grant", "relased", "--readers", str(folder / "readers.toml")]
    RUN.invoke(app, ["token", "ana", *grants, "-o", str(folder / "ana.token")])
    return folder


@contextmanager
def served(folder: Path, *arguments: str, **named: Any) -> Iterator[subprocess.Popen[str]]:
    """A door of the folder that has printed its lines."""
    command = [sys.executable, "-m", "sqlanon", "serve", "exports", "--port", "0", "--rooms", str(folder / "rooms")]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with running([*command, *arguments], cwd=folder, env=environment(), **pipes, **named) as door:
        assert door.stdout.readline().startswith("serving main.released at ")
        yield door


@pytest.mark.long
def test_a_release_that_is_not_served_is_named_and_a_job_in_the_background_ends_by_ctrl_c(exported: Path) -> None:
    """As a shell starts it with &: the signal is ignored. The audit is in a file of its own."""
    started = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)}
    with served(exported, **started) as door:
        door.send_signal(signal.SIGINT)
        _, errors = door.communicate(timeout=SECONDS)
    assert door.returncode == 0
    assert errors.count("warning: ") == 1
    assert "ana is granted main.relased, which is not served: main.released" in errors
    assert "closed" in errors
    assert stat.S_IMODE((exported / "audit.jsonl").stat().st_mode) == 0o600
    with served(exported, "--audit", "-") as door:
        door.send_signal(signal.SIGTERM)
        assert door.wait(SECONDS) == 0


def test_an_audit_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot be written to .*audit\.jsonl: No such file") as caught:
        Audit(tmp_path / "none" / "audit.jsonl")
    assert "--audit -" in str(caught.value.hint)
