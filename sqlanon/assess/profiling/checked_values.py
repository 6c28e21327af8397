"""Values that other packages recognize: numbers with check digits, telephone numbers, and names of people.

The packages are the extra `profile`. Without one of them its values are not looked for, and `not_looked_for` says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any

from sqlanon.assess.profiling.sizes import sizes

_PACKAGES = {
    "stdnum": "numbers with check digits, such as IBAN, payment cards and national numbers",
    "phonenumbers": "telephone numbers of a country",
    "faker": "names of people",
}
# Values of a column that are compared: a share of them needs no more.
_COMPARED = 200
_ALIKE_NUMBERS = re.compile(r"[A-Z0-9][A-Z0-9 ./\-]{6,40}", re.IGNORECASE)
_LIKE_TELEPHONE = re.compile(r"[+(0-9][0-9 ()./\-]{6,20}")
_REGIONS = ("US", "GB", "DE", "FR", "ES", "IT", "NL", "CH", "AT", "BE")
# Between names, and before and behind them: "Miller, Ann", "Ann Lee Miller", "Dr. Ann Miller".
_NAME = re.compile(r"[^\W\d_]+(?:['\u2019.\-][^\W\d_]*)*(?:,? [^\W\d_]+(?:['\u2019.\-][^\W\d_]*)*){0,4}")
_FEW_NAMES = 15

Check = tuple[str, str, Callable[[str], bool]]


def checked(texts: Sequence[str], whole_numbers: Sequence[int]) -> tuple[str, str] | None:
    """The category of identifiers that different values of a column are of, and what tells it; None for no category."""
    numbers = [str(number) for number in whole_numbers]
    return _with_check_digits(texts or numbers) or _telephone(texts) or _names(texts)


def not_looked_for() -> str | None:
    """What is not looked for because its package is not installed, and what to type; None where all are installed."""
    lacking = [values for package, values in _PACKAGES.items() if not _has(package)]
    if not lacking:
        return None
    return f"not looked for: {'; '.join(lacking)} (pip install 'sqlanon[profile]')".replace("; ", ", ")


@cache
def _has(package: str) -> bool:
    return find_spec(package) is not None


def _share(values: Sequence[str], fits: Callable[[str], bool]) -> float:
    """The share of values that fit; 0 as soon as too many of the first do not."""
    allowed = (1 - sizes().pattern) * len(values)
    failed = 0
    for value in values:
        failed += not fits(value)
        if failed > allowed:
            return 0
    return 1 - failed / len(values)


def _with_check_digits(values: Sequence[str]) -> tuple[str, str] | None:
    """The category of numbers whose check digits fit.

    A digit fits one random number in ten, so a column has to have several different values before it counts.
    """
    values = values[:_COMPARED]
    if len(values) < sizes().checked_values or not _has("stdnum") or not _share(values, _is_like_number):
        return None
    return next(((category, check) for category, check, fits in _checks() if _share(values, fits)), None)


def _is_like_number(value: str) -> bool:
    return _ALIKE_NUMBERS.fullmatch(value) is not None and sum(map(str.isdigit, value)) >= 6


@cache
def _checks() -> tuple[Check, ...]:
    from stdnum import iban, imei, luhn
    from stdnum.at import vnr
    from stdnum.be import nn
    from stdnum.br import cpf
    from stdnum.ca import sin
    from stdnum.ch import ssn
    from stdnum.cz import rc
    from stdnum.de import idnr
    from stdnum.dk import cpr
    from stdnum.es import dni, nie
    from stdnum.fi import hetu
    from stdnum.fr import nir
    from stdnum.gb import nhs
    from stdnum.ie import pps
    from stdnum.it import codicefiscale
    from stdnum.nl import bsn
    from stdnum.no import fodselsnummer
    from stdnum.pl import pesel
    from stdnum.pt import nif
    from stdnum.se import personnummer

    national = {
        "Switzerland": ssn, "Germany": idnr, "Austria": vnr, "France": nir, "Italy": codicefiscale, "Netherlands": bsn,
        "Belgium": nn, "United Kingdom": nhs, "Ireland": pps, "Sweden": personnummer, "Norway": fodselsnummer,
        "Denmark": cpr, "Finland": hetu, "Poland": pesel, "Portugal": nif, "Czech Republic": rc, "Canada": sin,
        "Brazil": cpf,
    }  # fmt: skip

    def is_card(value: str) -> bool:
        digits = re.sub(r"[ \-]", "", value)
        is_long = (len(digits) == 16 and digits[0] in "23456") or (len(digits) == 15 and digits[:2] in ("34", "37"))
        return bool(is_long and luhn.is_valid(digits))

    def is_imei(value: str) -> bool:
        return len(value) == 15 and bool(imei.is_valid(value))

    def is_spanish(value: str) -> bool:
        return bool(dni.is_valid(value) or nie.is_valid(value))

    return (
        ("account number", "check digits of IBAN", iban.is_valid),
        ("account number", "check digits of payment cards", is_card),
        ("device identifier", "check digits of IMEI", is_imei),
        ("social security number", "check digits of Spain", is_spanish),
        *(
            ("social security number", f"check digits of {country}", number.is_valid)
            for country, number in national.items()
        ),
    )


def _telephone(texts: Sequence[str]) -> tuple[str, str] | None:
    """The category of telephone numbers that are valid in one country, or have the code of their country."""
    texts = texts[:_COMPARED]
    if len(texts) < sizes().checked_values or not _has("phonenumbers") or not _share(texts, _is_like_telephone):
        return None
    import phonenumbers

    def is_of(region: str | None, text: str) -> bool:
        try:
            return bool(phonenumbers.is_valid_number(phonenumbers.parse(text, region)))
        except phonenumbers.NumberParseException:
            return False

    for region in (None, *_REGIONS):
        if _share(texts, lambda text, region=region: is_of(region, text)):  # type: ignore[misc]
            return "telephone number", f"valid in {region}" if region else "with the code of a country"
    return None


def _is_like_telephone(text: str) -> bool:
    """Whether a text is made of digits as telephone numbers are: with a first 0 or +, or with groups of digits."""
    is_grouped = re.search(r"\d[ ()./\-]+\d", text) is not None
    digits = sum(map(str.isdigit, text))
    return _LIKE_TELEPHONE.fullmatch(text) is not None and digits >= 7 and (text[0] in "+0(" or is_grouped)


def _names(texts: Sequence[str]) -> tuple[str, str] | None:
    """The category of names: most values have a given name in them, or are surnames.

    Months and towns are given names too, so single words count from `_FEW_NAMES` different ones on.
    """
    texts = texts[:_COMPARED]
    if len(texts) < sizes().checked_values or not _has("faker") or not _share(texts, _is_like_name):
        return None
    several = [text for text in texts if " " in text]
    if len(several) * 2 > len(texts):
        words = [re.split(r"[ ,]+", text.casefold()) for text in texts]
        share = sum(not _given_names().isdisjoint((each[0], each[1 % len(each)], each[-1])) for each in words)
        return ("name", "given names of lists") if share >= sizes().names * len(texts) else None
    for names, which in ((_given_names(), "given names of lists"), (_surnames(), "surnames of lists")):
        if len(texts) >= _FEW_NAMES and _share(texts, lambda text, names=names: text.casefold() in names):  # type: ignore[misc]
            return "name", which
    return None


def _is_like_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None and text[0].isupper() == text[0].isalpha()


@cache
def _given_names() -> frozenset[str]:
    return frozenset(name.casefold() for provider in _people() for name in provider.first_names)


@cache
def _surnames() -> frozenset[str]:
    return frozenset(name.casefold() for provider in _people() for name in provider.last_names)


@cache
def _people() -> tuple[Any, ...]:
    from faker.providers.person import de_CH, de_DE, en_GB, en_US, es_ES, fr_FR, it_IT, nl_NL

    return tuple(module.Provider for module in (en_US, en_GB, de_DE, de_CH, fr_FR, es_ES, it_IT, nl_NL))
