"""FF1 (NIST SP 800-38G, 2016, algorithm 7) over digits, and masks that are made with it."""

from __future__ import annotations

import hmac
from collections.abc import Sequence

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

KINDS = {"9": "0123456789", "A": "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "a": "abcdefghijklmnopqrstuvwxyz"}


def ff1(key: bytes, tweak: bytes, radix: int, digits: Sequence[int]) -> list[int]:
    """Encrypts digits with FF1 under an AES key."""
    n, u = len(digits), len(digits) // 2
    v = n - u
    b = -(-((radix**v - 1).bit_length()) // 8)
    d = 4 * -(-b // 4) + 4
    a, c = number(digits[:u], radix), number(digits[u:], radix)
    head = bytes([1, 2, 1]) + radix.to_bytes(3) + bytes([10, u % 256]) + n.to_bytes(4) + len(tweak).to_bytes(4)
    for i in range(10):
        m = u if i % 2 == 0 else v
        padded = tweak + bytes(-(len(tweak) + b + 1) % 16) + bytes([i]) + c.to_bytes(b)
        last = Cipher(algorithms.AES(key), modes.CBC(bytes(16))).encryptor().update(head + padded)[-16:]
        blocks = range(1, -(-d // 16))
        ecb = Cipher(algorithms.AES(key), modes.ECB())
        stream = last + b"".join(ecb.encryptor().update((int.from_bytes(last) ^ j).to_bytes(16)) for j in blocks)
        a, c = c, (a + int.from_bytes(stream[:d])) % radix**m
    return [*written(a, radix, u), *written(c, radix, v)]


def number(digits: Sequence[int], radix: int) -> int:
    value = 0
    for digit in digits:
        value = value * radix + digit
    return value


def written(value: int, radix: int, length: int) -> list[int]:
    digits = []
    for _ in range(length):
        value, digit = divmod(value, radix)
        digits.append(digit)
    return digits[::-1]


def kind_of(character: str, kinds: str) -> str | None:
    return next((kind for kind in kinds if character in KINDS[kind]), None)


def masked(text: str, key: bytes, name: str, kinds: str = "9Aa") -> str | None:
    """Returns a text with each character of these kinds encrypted within its kind; None for a form with few texts."""
    places = [(i, kind) for i, character in enumerate(text) if (kind := kind_of(character, kinds))]
    value, size = 0, 1
    for i, kind in places:
        value = value * len(KINDS[kind]) + KINDS[kind].index(text[i])
        size *= len(KINDS[kind])
    if size < 10**6:
        return None
    tweak = f"{name}:{''.join(kind for _, kind in places)}".encode()
    aes = hmac.digest(key, b"sqlanon mask ff1", "sha256")
    bits = len(bin(size - 1)) - 2
    value = number(ff1(aes, tweak, 2, written(value, 2, bits)), 2)
    while value >= size:
        value = number(ff1(aes, tweak, 2, written(value, 2, bits)), 2)
    characters = list(text)
    for i, kind in reversed(places):
        value, digit = divmod(value, len(KINDS[kind]))
        characters[i] = KINDS[kind][digit]
    return "".join(characters)
