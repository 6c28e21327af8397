"""Computes pseudonyms of a column's distinct values: tokens, and masks of the same form as the value."""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from hashlib import sha256
from importlib import import_module
from math import prod
from types import ModuleType
from typing import NamedTuple

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.identifiers import fold
from sqlanon.domain.numbers import counted
from sqlanon.domain.policy import INJECTIVE_MASKS, Mask, Policy, Shift
from sqlanon.domain.release import ChoiceList
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.engines.udfs import masks, release_key, tokens
from sqlanon.errors import DataError, InternalError, PolicyError, UserError
from sqlanon.sources.catalog_entries import find_relation
from sqlanon.sources.shifts import draw_days
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import ascending, infix, is_not_null, is_null
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.build.queries import extend, select
from sqlanon.sql.cells.labels import text_of_token
from sqlanon.syntax.texts import typed_qualified

# From a text to its mask; None for a text whose form the mask does not accept.
Masked = Callable[[str], str | None]

# Drafts of NIST SP 800-38G Revision 1 require a million values: fewer could be tried one by one.
_LEAST_VALUES = 1_000_000
# The number of letters and digits in the longest text that is masked.
_MOST_MASKED = 1000
_DIGITS = "0123456789"
_UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LOWER = "abcdefghijklmnopqrstuvwxyz"
# Letters as digits of base 26, which int() reads.
_BASE_26 = str.maketrans(_UPPER + _LOWER, (_DIGITS + _LOWER[:16]) * 2)
_OF_DIGITS = str.maketrans(_DIGITS, "9" * 10)
_OF_ALL = str.maketrans(_DIGITS + _UPPER + _LOWER, "9" * 10 + "A" * 26 + "a" * 26)
_ALPHABETS = {"9": _DIGITS, "A": _UPPER, "a": _LOWER}
_OF_TWO = {kind: [a + b for a in letters for b in letters] for kind, letters in _ALPHABETS.items()}

# The form that each mask accepts.
_FORMS = {
    "alphanumeric": "a form that at least 1,000,000 texts have, as six digits do, and at most 1,000 letters and digits",
    "digits": "six digits at least and 1,000 at most",
    "card": "digits, blanks and hyphens, of which the last digit is the check digit (Luhn) and six others are masked",
    "iban": "an IBAN with its check digits",
    "phone": "a valid telephone number, with + and the country code or of the mask's region, without an extension",
}
# DuckDB's column with the number of a table's row.
_ROW = "rowid"
# Types whose texts are masked.
_MASKED_TYPE = re.compile(r"VARCHAR|ENUM.*|U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|DECIMAL.*|UUID", re.DOTALL)


def publish_tokens(engine: Engine, policy: BoundPolicy, tables: Mapping[str, str]) -> tuple[ChoiceList, ...]:
    """Creates a temporary table of value and token for each column of `tables`: the tokens are pseudonyms or numbers of
    days.

    Columns without a key of the user's share a random key of this release, so that an identifier has the same token in
    all of them. Returns the lists from which masks were chosen. Raises UserError for a key that is missing or short,
    and DataError, with a count, for values without a mask and for dates that cannot be shifted.
    """
    drawn, choices = release_key(), []
    for part, bound in ((table, published) for table in policy.tables for published in table.published):
        pseudonym = bound.attribute.pseudonym
        if pseudonym is None or bound.column not in tables:
            continue
        if isinstance(pseudonym, Shift):
            key = release_key(pseudonym.key_variable, "the shifted dates") if pseudonym.key_variable else drawn
            draw_days(engine, policy, part, bound, tables[bound.column], key)
            continue
        text = text_of_token(bound)
        values = select(alias(text, "value"), of=relation(part.relation))
        target = tables[bound.column]
        if isinstance(pseudonym, Mask):
            key = release_key(pseudonym.key_variable, "the masks") if pseudonym.key_variable else drawn
            listed: Sequence[str] = ()
            if pseudonym.name == "choice":
                listed = _listed(engine, policy.policy, bound, pseudonym)
                name, digest = _name_of_list(pseudonym), list_digest(listed)
                choices.append(ChoiceList(bound.column, name, pseudonym.key_variable, digest))
            masks(engine, values, target, "mask", masked=keyed_mask(pseudonym, key, listed))
            _require_masks(engine, policy.policy, bound, pseudonym, target)
        else:
            key = release_key(pseudonym.key_variable) if pseudonym.key_variable else drawn
            tokens(engine, values, target, key)
    return tuple(choices)


def require_maskable(policy: Policy, column_name: str, column_type: str) -> None:
    """Raises PolicyError for a type whose values have no text that could be masked."""
    if not _MASKED_TYPE.fullmatch(column_type):
        raise PolicyError(
            f"{policy}: {column_name} is of type {column_type}, but MASK takes texts and whole numbers",
            hint="cast it in a query, ON (SELECT CAST(... AS VARCHAR) AS ..., ...), or use PSEUDONYM",
        )


def _require_masks(engine: Engine, policy: Policy, bound: BoundAttribute, mask: Mask, table: str) -> None:
    """Raises DataError if a value has no mask, and InternalError if two values have the same mask although the mask is
    injective.
    """
    made = relation(("temp", "main", table))
    lacking = select(f.count(), of=made, where=[is_not_null(column("value")), is_null(column("token"))])
    number = int(engine.rows(lacking)[0][0])
    if number:
        region = mask.argument("region") if mask.name == "phone" else None
        raise DataError(
            f"{policy}: {counted(number, 'different value')} of {bound.column} cannot be masked: MASK {mask.name} "
            f"takes {_FORMS[mask.name]}" + (f" ({region})" if region else ""),
            hint=f"leave these rows out or set the value to NULL in a query, ON (SELECT ...), or write "
            f"{bound.column} {bound.role.value.upper()} PSEUDONYM",
            part=("column", bound.attribute.name, "mask"),
        )
    # A telephone number may be written in two ways.
    if mask.name in INJECTIVE_MASKS and mask.name != "phone":
        pairs = infix(f.count(column("token")), "=", f.count_distinct(column("token")))
        if not engine.rows(select(pairs, of=made))[0][0]:
            raise InternalError(f"two values of {bound.column} have one mask; nothing was published")


def _listed(engine: Engine, policy: Policy, bound: BoundAttribute, mask: Mask) -> Sequence[str]:
    """Returns the texts of a choice's table, in its order. Raises PolicyError unless there are at least two texts and
    all are different.
    """
    texts = texts_of_list(engine, mask)
    if texts is None:
        raise PolicyError(
            f"{policy}: {bound.column} is masked by a choice from {mask.argument('from')}, which has to be one column "
            "of at least two texts, none of them NULL or twice",
            hint="leave out NULL and repetitions: SELECT DISTINCT name FROM ... WHERE name IS NOT NULL ORDER BY name",
            part=("column", bound.attribute.name, "mask"),
        )
    return texts


def texts_of_list(engine: Engine, mask: Mask) -> Sequence[str] | None:
    """Returns the texts of a choice's table, in its order; None unless the table is a column of two or more unique
    texts.
    """
    table = mask.argument("from")
    assert isinstance(table, QualifiedName)
    columns = engine.columns(select(exp.Star(), of=relation(table)))
    if len(columns) != 1:
        return None
    query = select(column(columns[0][0]), of=relation(table))
    kind_and_name = find_relation(engine, table)
    if kind_and_name and kind_and_name[0] == "table" and fold(columns[0][0]) != _ROW:
        # Without ORDER BY the order may vary in a session that does not preserve insertion order.
        extend(query, order_by=[ascending(column(_ROW))])
    texts = [row[0] for row in engine.rows(query)]
    is_list = all(isinstance(text, str) for text in texts) and len(set(texts)) == len(texts) >= 2
    return texts if is_list else None


def _name_of_list(mask: Mask) -> str:
    """Returns the name of the table of a choice as a statement writes it."""
    table = mask.argument("from")
    assert isinstance(table, QualifiedName)
    return typed_qualified(table)


def list_digest(texts: Sequence[str]) -> str:
    """Returns the SHA-256 of a list's texts in their order; the number of bytes precedes each text."""
    digest = sha256()
    for text in texts:
        encoded = text.encode()
        digest.update(b"%d:%b" % (len(encoded), encoded))
    return digest.hexdigest()


def keyed_mask(mask: Mask, key: bytes, listed: Sequence[str] = ()) -> Masked:
    """Returns the function from a text to its mask under a key; `listed` are the texts of a choice.

    Raises UserError if a library of the mask is missing.
    """
    if mask.name == "choice":
        return partial(_choice, key, listed)
    ff1 = _Ff1(key)
    if mask.name == "card":
        first = mask.argument("first")
        assert isinstance(first, int)
        return partial(_card, ff1, _library("stdnum.luhn"), first)
    if mask.name == "iban":
        return partial(_iban, ff1, _library("stdnum.iban"))
    if mask.name == "phone":
        region = mask.argument("region")
        return partial(_phone, ff1, _library("phonenumbers"), region if isinstance(region, str) else None)
    return partial(_alphanumeric, ff1, mask.name)


def _library(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ModuleNotFoundError:
        package = name.partition(".")[0]
        raise UserError(f"{package} is missing, which makes masks", hint="pip install 'sqlanon[masks]'") from None


class _Ff1:
    """Format-preserving encryption of numbers below a size: FF1 of NIST SP 800-38G on their bits, by cycle walking."""

    def __init__(self, key: bytes) -> None:
        self._encrypt = _library("fastfpe").ff1.encrypt
        self._key = hmac.digest(key, b"sqlanon mask ff1", "sha256").hex()

    def of(self, number: int, form: _Form) -> int:
        """Returns the number that replaces `number`; the tweak is the name of the form."""
        text = format(number, form.bits)
        while True:
            text = self._encrypt(self._key, form.tweak, "01", text)
            if (other := int(text, 2)) < form.size:
                return other

    def of_digits(self, digits: str, tweak: str) -> str:
        """Returns as many digits, which replace the given digits."""
        masked: str = self._encrypt(self._key, tweak, _DIGITS, digits)
        return masked


class _Form(NamedTuple):
    """The form of texts with the same kinds of characters in each position, or of numbers with as many digits."""

    # The name of the form in hexadecimal, the number of its texts, and the format of a number in bits.
    tweak: str
    size: int
    bits: str
    # The start, the end and the kind of each run of characters of one kind, and the number of possible texts of the
    # run.
    runs: tuple[tuple[int, int, str, int], ...]


_RUNS = re.compile("9+|A+|a+")
_NINES = re.compile("9+")


@lru_cache(maxsize=10_000)
def _form(name: str, layout: str, runs: re.Pattern[str] = _RUNS) -> _Form | None:
    """Returns the form of texts of a layout, in which 9, A and a are masked; None if there are too few such texts, or
    if they are too long for a mask.
    """
    positions = [(match.start(), match.end(), match[0][0]) for match in runs.finditer(layout)]
    if sum(end - start for start, end, _ in positions) > _MOST_MASKED:
        return None
    masked_runs = tuple((start, end, kind, len(_ALPHABETS[kind]) ** (end - start)) for start, end, kind in positions)
    size = prod(texts for _, _, _, texts in masked_runs)
    if size < _LEAST_VALUES:
        return None
    kinds = "".join(layout[start:end] for start, end, _ in positions)
    return _Form(f"{name}:{kinds}".encode().hex(), size, f"0{(size - 1).bit_length()}b", masked_runs)


def _alphanumeric(ff1: _Ff1, name: str, value: str) -> str | None:
    """Replaces digits and letters by others of the same kind; all other characters stay."""
    only_digits = name == "digits"
    form = _form(name, value.translate(_OF_DIGITS if only_digits else _OF_ALL), _NINES if only_digits else _RUNS)
    return None if form is None else _masked(ff1, form, value)


def _masked(ff1: _Ff1, form: _Form, value: str) -> str:
    number = 0
    for start, end, kind, texts in form.runs:
        run = value[start:end]
        number = number * texts + (int(run) if kind == "9" else int(run.translate(_BASE_26), 26))
    number = ff1.of(number, form)
    masked = value
    for start, end, kind, texts in reversed(form.runs):
        number, part = divmod(number, texts)
        length = end - start
        text = str(part).zfill(length) if kind == "9" else _letters(part, length, kind)
        masked = f"{masked[:start]}{text}{masked[end:]}"
    return masked


def _letters(number: int, length: int, kind: str) -> str:
    """Writes a number in base 26 with letters, the most significant first."""
    pairs = []
    for _ in range(length // 2):
        number, pair = divmod(number, 26 * 26)
        pairs.append(_OF_TWO[kind][pair])
    if length % 2:
        pairs.append(_ALPHABETS[kind][number])
    return "".join(reversed(pairs))


# Digits with single blanks or hyphens between them.
_CARD = re.compile("[0-9]+(?:[ -][0-9]+)*")
_IBAN = re.compile("[A-Za-z]{2}[0-9]{2}[0-9A-Za-z ]+")


def _card(ff1: _Ff1, luhn: ModuleType, first: int, value: str) -> str | None:
    """Masks a payment card's number: the first digits stay, the other digits are masked, and the check digit is
    recomputed.
    """
    if not _CARD.fullmatch(value):
        return None
    digits = value.replace(" ", "").replace("-", "")
    form = _form(f"card:{digits[:first]}", "9" * (len(digits) - first - 1))
    if form is None or not luhn.is_valid(digits):
        return None
    masked = digits[:first] + _masked(ff1, form, digits[first:-1])
    return _with_gaps(value, masked + luhn.calc_check_digit(masked))


def _iban(ff1: _Ff1, iban: ModuleType, value: str) -> str | None:
    """Masks an IBAN: the country stays, the BBAN is masked, and the check digits are recomputed."""
    if not _IBAN.fullmatch(value):
        return None
    plain = value.replace(" ", "")
    country, account = plain[:2], plain[4:]
    form = _form(f"iban:{country.upper()}", account.translate(_OF_ALL))
    if form is None or not iban.is_valid(plain, check_country=False):
        return None
    masked = _masked(ff1, form, account)
    return _with_gaps(value, country + iban.calc_check_digits(f"{country}00{masked}".upper()) + masked)


def _with_gaps(value: str, masked: str) -> str:
    """Returns the masked characters with the blanks and hyphens of the value between them."""
    characters = iter(masked)
    return "".join(character if character in " -" else next(characters) for character in value)


def _phone(ff1: _Ff1, phonenumbers: ModuleType, region: str | None, value: str) -> str | None:
    """Masks a telephone number: the country code stays, and the rest becomes another valid number of the same
    country.
    """
    try:
        number = phonenumbers.parse(value, region)
    except phonenumbers.NumberParseException:
        return None
    if number.extension or not phonenumbers.is_valid_number(number):
        return None
    digits = phonenumbers.national_significant_number(number)
    if 10 ** len(digits) < _LEAST_VALUES:
        return None
    tweak = f"phone:{number.country_code}".encode().hex()
    while True:
        digits = ff1.of_digits(digits, tweak)
        other = _parsed(phonenumbers, f"+{number.country_code}{digits}")
        if other is not None:
            return other


def _parsed(phonenumbers: ModuleType, text: str) -> str | None:
    """Returns the text if it is a valid number in E.164 form, or None."""
    try:
        number = phonenumbers.parse(text)
    except phonenumbers.NumberParseException:
        return None
    form: str = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
    return text if form == text and phonenumbers.is_valid_number(number) else None


def _choice(key: bytes, listed: Sequence[str], value: str) -> str:
    """Returns a text of the list, chosen by the key."""
    digest = hmac.digest(key, b"sqlanon mask choice:" + value.encode(), "sha256")
    return listed[int.from_bytes(digest[:16], "big") % len(listed)]


# Checks of a published text without the key: whether it has the form of a mask.


def form_of(mask: Mask) -> Callable[[str], bool]:
    """Returns the function that decides whether a text has the form of a mask: its layout and its check digits.

    Without the key, nobody can see whether it is the right mask of its value. Raises UserError if a library of the mask
    is missing.
    """
    if mask.name == "card":
        luhn = _library("stdnum.luhn")
        return lambda text: _CARD.fullmatch(text) is not None and bool(luhn.is_valid(re.sub("[ -]", "", text)))
    if mask.name == "iban":
        iban = _library("stdnum.iban")
        return lambda text: bool(iban.is_valid(text, check_country=False))
    if mask.name == "phone":
        return partial(_is_phone, _library("phonenumbers"))
    if mask.name in ("alphanumeric", "digits"):
        return partial(_has_form, mask.name)
    return partial(_is_partial, mask) if mask.name == "partial" else partial(_is_email, mask)


def _is_phone(phonenumbers: ModuleType, text: str) -> bool:
    return _parsed(phonenumbers, text) is not None


def _has_form(name: str, text: str) -> bool:
    """Whether a text has a form that the mask accepts: such a form has at least 1,000,000 texts."""
    only_digits = name == "digits"
    return (
        _form(name, text.translate(_OF_DIGITS if only_digits else _OF_ALL), _NINES if only_digits else _RUNS)
        is not None
    )


def _is_partial(mask: Mask, text: str) -> bool:
    first, last, star = mask.argument("first"), mask.argument("last"), mask.argument("with")
    assert isinstance(first, int) and isinstance(last, int) and isinstance(star, str)
    hidden = text[first : len(text) - last] if len(text) > first + last else text
    return hidden == star * len(hidden)


def _is_email(mask: Mask, text: str) -> bool:
    local, _, domain = text.rpartition("***@")
    return text == "***" or ("***@" in text and "@" not in domain and len(local) <= int(str(mask.argument("first"))))
