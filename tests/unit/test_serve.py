"""The commands `sqlanon serve` and `sqlanon token`: what they print, and what they refuse before they listen."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

import sqlanon
from sqlanon.clients.serve.readers_file import ReadersFile
from sqlanon.clients.terminal.cli import app
from sqlanon.clients.terminal.serve_command import byte_count, connection_lines, duration
from sqlanon.errors import UserError
from tests.support.command_line import environment
from tests.support.door.doors import room_file

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
    assert "2020-01-01 is over" in refused.stderr
    assert "eve" not in file.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--host", "0.0.0.0"], "unprotected"),
        (["--host", "0.0.0.0", "--tls-cert", "c.pem"], "a certificate and its key"),
        (["--tls-cert", "c.pem", "--tls-key", "k.pem"], "cannot be read"),
        (["--memory", "much"], "is no size"),
        (["--refresh", "often"], "is no time"),
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
