"""Signatures of certificates: readers with the publisher's public key can verify that the publisher wrote a
certificate.

Ed25519 (Josefsson and Liusvaara, RFC 8032), by the library cryptography. The signed text is the certificate without its
signature, as JSON with sorted keys and without spaces, in UTF-8. Because it has the hashes of the data files, the
signature also covers the files.
"""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from sqlanon.errors import PrivacyViolation, UserError
from sqlanon.export.certificate_format import SIGNATURE, Certificate, SignatureEntry, canonical, content_of

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

ALGORITHM = "Ed25519"
_MEMBERS = {"algorithm", "public_key", "value"}
_PEM = "-----BEGIN"


@dataclass(frozen=True)
class Signer:
    """The signer of a certificate: the fingerprint of the public key, and the key's bytes."""

    fingerprint: str
    key: bytes


def signing_key(variable: str) -> Ed25519PrivateKey:
    """Returns the private key in an environment variable: a PEM text, or the path of a file with such a text.

    Raises UserError for an unset variable, and for anything but an Ed25519 key without a password.
    """
    with _cryptography():
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
    text = os.environ.get(variable)
    if not text:
        raise _no_key(variable, "is not set")
    try:
        pem = text if text.lstrip().startswith(_PEM) else Path(text).read_text(encoding="ascii")
    except (OSError, ValueError):
        # A text that is no path may be the key itself, which no error shows.
        raise _no_key(variable, "is neither a key in PEM nor the path of a file with one") from None
    try:
        key = load_pem_private_key(pem.strip().encode(), password=None)
    except (ValueError, TypeError):
        raise _no_key(variable, "is not a private key in PEM, or one with a password") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise _no_key(variable, f"is a key of another kind than {ALGORITHM}")
    return key


def _no_key(variable: str, problem: str) -> UserError:
    hint = f"make a pair of keys once, sqlanon keygen release.key, and export {variable}=release.key"
    if not variable.isidentifier():
        # The name may be the key itself, which no error shows.
        variable = "that SIGN KEY names"
        hint = "SIGN KEY takes the name of an environment variable, which holds the path of the key's file or its text"
    return UserError(f"the environment variable {variable}, which should hold the key that signs, {problem}", hint=hint)


def key_fingerprint(key: Ed25519PrivateKey) -> str:
    """Returns the fingerprint of a private key, which is the fingerprint of its public key."""
    return _fingerprint(key.public_key().public_bytes_raw())


def signed(certificate: Certificate, key: Ed25519PrivateKey) -> tuple[Certificate, str]:
    """Returns the certificate with the signature of this key, and the key's fingerprint."""
    public = key.public_key().public_bytes_raw()
    value = key.sign(canonical(content_of(certificate)))
    signature = SignatureEntry(algorithm="Ed25519", public_key=_base64(public), value=_base64(value))
    return replace(certificate, signature=signature), _fingerprint(public)


def signer_of(content: dict[str, object]) -> Signer | None:
    """Returns the signer of the certificate with these members; None for an unsigned certificate.

    Raises PrivacyViolation for a signature of another text, and UserError if the library cryptography is not installed.
    """
    if SIGNATURE not in content:
        return None
    with _cryptography():
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    try:
        parts = content[SIGNATURE]
        if not isinstance(parts, dict) or set(parts) != _MEMBERS or parts["algorithm"] != ALGORITHM:
            # Further members would not be signed.
            raise ValueError("another algorithm, or more than a signature")
        public, value = (base64.b64decode(parts[name], validate=True) for name in ("public_key", "value"))
        Ed25519PublicKey.from_public_bytes(public).verify(value, canonical(content))
    except (InvalidSignature, KeyError, TypeError, ValueError, RecursionError):
        raise PrivacyViolation(
            "the signature does not match the certificate: one of them was changed",
            hint="ask the publisher for the export again",
        ) from None
    return Signer(_fingerprint(public), public)


def public_key(path: Path) -> Signer:
    """Returns the public key in a PEM file, such as `sqlanon keygen` writes. Raises UserError for any other file."""
    with _cryptography():
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
        from cryptography.hazmat.primitives.serialization import load_pem_public_key
    try:
        key = load_pem_public_key(path.read_bytes())
    except OSError as error:
        raise UserError(f"the public key {path} cannot be read: {error.strerror}") from None
    except ValueError:
        key = None
    if not isinstance(key, Ed25519PublicKey):
        raise UserError(
            f"{path} is not a public key of {ALGORITHM} in PEM", hint="sqlanon keygen writes it beside the private one"
        )
    return _signer(key)


def new_key_pair(path: Path) -> tuple[Path, Signer]:
    """Writes a random key to a new file that only its owner can read, and the public key beside it.

    Returns the path and the fingerprint of the public key. Raises UserError for an existing file.
    """
    with _cryptography():
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    key = Ed25519PrivateKey.generate()
    public = path.with_name(f"{path.name}.pub")
    private_pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public_pem = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    if os.path.lexists(public):
        raise UserError(
            f"{public} exists already", hint="a key that signed something is never replaced: name another file"
        )
    _write_new(path, private_pem, 0o600)
    _write_new(public, public_pem, 0o644)
    return public, _signer(key.public_key())


def _write_new(path: Path, content: bytes, mode: int) -> None:
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            file.write(content)
    except FileExistsError:
        hint = "a key that signed something is never replaced: name another file"
        raise UserError(f"{path} exists already", hint=hint) from None
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}") from None


def _signer(key: Ed25519PublicKey) -> Signer:
    public = key.public_bytes_raw()
    return Signer(_fingerprint(public), public)


def _fingerprint(public: bytes) -> str:
    """Returns the fingerprint by which people compare keys, in the form of SSH's fingerprints."""
    return f"SHA256:{base64.b64encode(hashlib.sha256(public).digest()).decode().rstrip('=')}"


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()


@contextmanager
def _cryptography() -> Iterator[None]:
    try:
        yield
    except ImportError:
        raise UserError("signatures need cryptography", hint="pip install 'sqlanon[sign]'") from None
