"""Signed exports: what the receiver can tell of who wrote a certificate."""

from __future__ import annotations

import base64
import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa
from typer.testing import CliRunner

from sqlanon import PrivacyViolation, SqlanonError, StatementError, UserError, connect
from sqlanon.clients.terminal.cli import app
from tests.support.database import template

Certificate = dict[str, Any]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with a pair of keys, of which the variable KEY names the secret one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KEY", "own.key")
    assert CliRunner().invoke(app, ["keygen", "own.key", "--quiet"]).exit_code == 0
    assert CliRunner().invoke(app, ["keygen", "other.key", "--quiet"]).exit_code == 0
    return tmp_path


def export(options: str = "SIGN KEY 'KEY'", path: str = "out/", method: str = "generalization") -> None:
    con = template(f"""
        CREATE TABLE t AS SELECT i % 2 AS "größe", 1.5 + i % 4 AS d FROM range(8) AS t(i);
        CREATE POLICY p ON t ("größe" QUASI IDENTIFIER, d SENSITIVE) REQUIRE k_anonymity(k => 2);
        CREATE ANONYMIZED TABLE r AS POLICY p METHOD {method};
    """)
    con.execute(f"EXPORT r TO '{path}' ({options})")


def check(key: str | None = "own.key.pub", path: str = "out/") -> dict[str, tuple[Any, ...]]:
    by = "" if key is None else f" SIGNED BY '{key}'"
    return {row[1]: row[-2:] for row in connect().execute(f"CHECK '{path}'{by}").fetchall()}


def stated(path: str = "out/certificate.json") -> Certificate:
    certificate: Certificate = json.loads(Path(path).read_text(encoding="utf-8"))
    return certificate


def rewritten(change: Callable[[Certificate], object]) -> None:
    certificate = stated()
    change(certificate)
    Path("out/certificate.json").write_text(json.dumps(certificate), encoding="utf-8")


@pytest.mark.long
def test_who_signed_is_told(folder: Path) -> None:
    export()
    satisfied, known_by = check()["signature"]
    assert satisfied is True
    assert known_by.startswith("signed with the key SHA256:")
    assert known_by.removeprefix("signed with the key ") in Path("out/certificate.md").read_text(encoding="utf-8")
    satisfied, alone = check(None)["signature"]
    assert satisfied is None
    assert alone == f"{known_by}, which nobody vouches for here"
    assert check()["k_anonymity"] == (True, "recomputed from the files")


@pytest.mark.one_in(8)
@pytest.mark.parametrize(
    ("options", "path", "method"),
    [
        ("SIGN KEY 'KEY', FORMAT csv", "out/", "generalization"),
        ("FORMAT duckdb, SIGN KEY 'KEY'", "out/", "generalization"),
        ("SIGN KEY 'KEY'", "out/", "anatomy(l => 2)"),
        ("SIGN KEY 'KEY'", "r.parquet", "generalization"),
    ],
)
def test_every_layout_is_signed(folder: Path, options: str, path: str, method: str) -> None:
    export(options, path, method)
    assert check(path=path)["signature"][0] is True


def test_the_signature_is_ed25519_of_the_documented_text(folder: Path) -> None:
    """Verified as the documentation says, from the bytes on the disk, by the library alone."""
    export()
    certificate = stated()
    signature = certificate.pop("signature")
    assert signature.keys() == {"algorithm", "public_key", "value"}
    message = json.dumps(certificate, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()
    key = serialization.load_pem_public_key(Path("own.key.pub").read_bytes())
    assert isinstance(key, ed25519.Ed25519PublicKey)
    assert key.public_bytes_raw() == base64.b64decode(signature["public_key"])
    key.verify(base64.b64decode(signature["value"]), message)
    assert {file["name"] for file in certificate["files"]} == {"r.parquet"}


def test_the_place_of_the_text_does_not_matter(folder: Path) -> None:
    """What is signed is what is read: spaces and the order of keys are not."""
    export()
    Path("out/certificate.json").write_text(json.dumps(dict(reversed(stated().items())), indent=7), encoding="utf-8")
    assert check()["signature"][0] is True


CHANGES: dict[str, Callable[[Certificate], object]] = {
    "a figure": lambda c: c["requirements"][0].update(achieved=5.0),
    "a name": lambda c: c.update(release="s"),
    "a hash": lambda c: c["files"][0].update(sha256="0" * 64),
    "one more": lambda c: c.update(more=1),
    "one less": lambda c: c.pop("versions"),
    "the algorithm": lambda c: c["signature"].update(algorithm="none"),
    "another key": lambda c: c["signature"].update(public_key=base64.b64encode(bytes(32)).decode()),
    "a short key": lambda c: c["signature"].update(public_key="AA=="),
    "no base64": lambda c: c["signature"].update(value="é"),
    "a bit": lambda c: c["signature"].update(value="A" + c["signature"]["value"][1:]),
    "no value": lambda c: c["signature"].pop("value"),
    "no signature": lambda c: c.update(signature=None),
    "a member": lambda c: c["signature"].update(note="checked by us"),
    "a list": lambda c: c.update(signature=[]),
    "not a number": lambda c: c.update(more=float("nan")),
    "half a letter": lambda c: c.update(more="\ud800"),
}


@pytest.mark.long
@pytest.mark.parametrize("change", CHANGES)
def test_whatever_is_changed_is_seen(folder: Path, change: str) -> None:
    export()
    rewritten(CHANGES[change])
    for key in ("own.key.pub", None):
        with pytest.raises((PrivacyViolation, UserError)) as refused:
            check(key)
        if "hash" not in change:
            assert "signature does not match" in str(refused.value)


def test_another_signature_is_not_accepted(folder: Path) -> None:
    export()
    with pytest.raises(PrivacyViolation, match=r"signed with another key, SHA256:.*not with other"):
        check("other.key.pub")
    rewritten(lambda certificate: certificate.pop("signature"))
    with pytest.raises(
        PrivacyViolation,
        match=r"nobody signed out/; SIGNED BY requires the signature of "
        "own",
    ) as refused:
        check()
    assert "name the folder" not in str(refused.value)
    assert "signature" not in check(None)


def test_whoever_signs_again_is_not_the_publisher(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A forger with a key of their own writes a certificate that fits its own key, and no other."""
    export()
    monkeypatch.setenv("KEY", "other.key")
    export("SIGN KEY 'KEY', REPLACE true")
    assert check(None)["signature"][0] is None
    with pytest.raises(PrivacyViolation, match="another key"):
        check()


def test_a_data_file_alone_has_no_signature(folder: Path) -> None:
    export()
    Path("out/r.parquet").rename("alone.parquet")
    assert "signature" not in check(None, "alone.parquet")
    with pytest.raises(PrivacyViolation, match="nobody signed") as refused:
        check(path="alone.parquet")
    assert "name the folder or certificate.json" in str(refused.value)


@pytest.mark.one_in(45)
@pytest.mark.parametrize("place", ['{"format"', '{"algorithm"', '{"name"'])
@pytest.mark.parametrize(
    "question",
    ["CHECK 'out/'", "ESTIMATE SELECT count(*) FROM t FROM RELEASE 'out/'", "ATTACK 'out/' WITH homogeneity"],
)
def test_what_a_certificate_says_twice_is_refused(folder: Path, question: str, place: str) -> None:
    """The first of two members is read by some programs, the last by others."""
    export()
    file = Path("out/certificate.json")
    text = json.dumps(stated())
    assert place in text
    file.write_text(text.replace(place, '{"\\u0078": 1, "x": 1, ' + place[1:], 1), encoding="utf-8")
    with pytest.raises(PrivacyViolation, match="has a repeated key"):
        connect().execute(question)
    # Nor is it an earlier export, which could be replaced.
    with pytest.raises(UserError):
        export("SIGN KEY 'KEY', REPLACE true")


def test_a_path_is_no_variable(folder: Path) -> None:
    with pytest.raises(UserError, match="SIGN KEY takes the name of an environment variable"):
        export("SIGN KEY 'own.key'")
    assert not Path("out").exists()


def test_the_key_may_be_the_text(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", "\n" + Path("own.key").read_text(encoding="ascii") + "\n")
    export()
    assert check()["signature"][0] is True


def keys_of_another_kind(folder: Path) -> dict[str, str]:
    """Texts that are no Ed25519 key without a password, by what is wrong with them."""
    pem, pkcs8 = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    of_rsa = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    of_password = ed25519.Ed25519PrivateKey.generate().private_bytes(
        pem, pkcs8, serialization.BestAvailableEncryption(b"secret")
    )
    return {
        "is not set": "",
        "neither a key": "nowhere.key",
        "is neither": "very secret \x00 text",
        "another kind": of_rsa.private_bytes(pem, pkcs8, serialization.NoEncryption()).decode(),
        "with a password": of_password.decode(),
        "not a private key": (folder / "own.key.pub").read_text(encoding="ascii"),
    }


@pytest.mark.long
def test_what_cannot_sign_exports_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for problem, text in keys_of_another_kind(folder).items():
        # No environment holds a zero: that text comes from elsewhere.
        monkeypatch.setattr(os, "environ", {**os.environ, "KEY": text})
        with pytest.raises(UserError, match=problem) as refused:
            export()
        assert "PRIVATE KEY" not in str(refused.value)
        assert "secret text" not in str(refused.value)
        assert not Path("out").exists()


@pytest.mark.one_in(4)
@pytest.mark.parametrize("content", [b"", b"no key", b"-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----\n", None])
def test_what_is_no_public_key(folder: Path, content: bytes | None) -> None:
    export()
    if content is not None:
        Path("no.pub").write_bytes(content)
    with pytest.raises(UserError, match=r"no\.pub"):
        check("no.pub")
    with pytest.raises(UserError, match=r"not a public key"):
        check("own.key")


def test_keys_are_drawn_once(folder: Path) -> None:
    if os.name == "posix":
        assert stat.S_IMODE(Path("own.key").stat().st_mode) == 0o600
    assert Path("own.key").read_bytes() != Path("other.key").read_bytes()
    before = Path("own.key").read_bytes()
    for name in ("own.key", "nowhere/own.key"):
        assert CliRunner().invoke(app, ["keygen", name]).exit_code == 2
    Path("lone.key.pub").touch()
    assert CliRunner().invoke(app, ["keygen", "lone.key"]).exit_code == 2
    assert not Path("lone.key").exists()
    assert Path("own.key").read_bytes() == before
    answer = CliRunner().invoke(app, ["keygen", "new.key", "--json"])
    assert json.loads(answer.stdout).keys() == {"private_key", "public_key", "fingerprint"}


@pytest.mark.long
def test_the_command_line(folder: Path) -> None:
    connect("a.duckdb").execute("""
        CREATE TABLE t AS SELECT i % 2 AS a FROM range(8) AS t(i);
        CREATE POLICY p ON t (a QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2);
        CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization;
    """).close()
    run = CliRunner()
    assert run.invoke(app, ["export", "r", "out/", "-d", "a.duckdb", "--sign-key", "KEY"]).exit_code == 0
    assert run.invoke(app, ["verify", "out/", "--signed-by", "own.key.pub"]).exit_code == 0
    assert run.invoke(app, ["verify", "out/"]).exit_code == 0
    assert run.invoke(app, ["verify", "out/", "--signed-by", "other.key.pub"]).exit_code == 1
    assert run.invoke(app, ["verify", "out/", "--signed-by", "nowhere.pub"]).exit_code == 2


@pytest.mark.parametrize(
    "statement",
    [
        "EXPORT r TO 'out/' (SIGN KEY 'A', SIGN KEY 'B')",
        "EXPORT r TO 'out/' (SIGN 'A')",
        "EXPORT r TO 'out/' (SIGN KEY '')",
        "CHECK 'out/' SIGNED 'a.pub'",
        "CHECK 'out/' SIGNED BY a",
        "CHECK 'out/' SIGNED BY 'a' 'b'",
    ],
)
def test_mistakes(statement: str) -> None:
    with pytest.raises(StatementError):
        connect().execute(statement)


@pytest.mark.long
def test_without_cryptography(folder: Path) -> None:
    """Whoever does not have the library is told so, and takes no signature for granted."""
    export()
    program = f"""
import sys
sys.modules["cryptography"] = None
import sqlanon
con = sqlanon.connect()
for statement in ("CHECK 'out/'", "CHECK 'out/' SIGNED BY 'own.key.pub'"):
    try:
        con.sql(statement)
    except {SqlanonError.__module__}.UserError as error:
        print(error.hint)
con.execute("CREATE TABLE t AS SELECT 1 AS a FROM range(4)")
con.execute("CREATE POLICY p ON t (a QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)")
con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization; EXPORT r TO 'plain/'; CHECK 'plain/'")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["pip install 'sqlanon[sign]'"] * 2
