"""Recognizes values with other packages: numbers with check digits, telephone numbers, and names of people.

The packages are in the extra `profile`. If one is missing, its kinds of values are not recognized, and `not_looked_for`
reports them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.util import find_spec
from math import comb
from statistics import median
from typing import Any

from sqlglot import exp

from sqlanon.assess.profiling.sample import SampledColumn, is_number, is_text, sizes
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import cast
from sqlanon.sql.build.names import column, literal
from sqlanon.sql.build.render import to_sql

_PACKAGES = {
    "stdnum": "numbers with check digits, such as IBAN, payment cards and national numbers",
    "phonenumbers": "telephone numbers of a country",
    "faker": "names of people",
}
# The most values of a column that are compared; this is enough to estimate a share.
_COMPARED = 200
_ALIKE_NUMBERS = re.compile(r"[A-Z0-9][A-Z0-9 ./\-]{6,40}", re.IGNORECASE)
_LIKE_TELEPHONE = re.compile(r"[+(0-9][0-9 ()./\-]{6,20}")
_REGIONS = ("US", "GB", "DE", "FR", "ES", "IT", "NL", "CH", "AT", "BE")
# Names with commas and titles, too: "Miller, Ann", "Ann Lee Miller", "Dr. Ann Miller".
_NAME = re.compile(r"[^\W\d_]+(?:['\u2019.\-][^\W\d_]*)*(?:,? [^\W\d_]+(?:['\u2019.\-][^\W\d_]*)*){0,4}")
_FEW_NAMES = 15

_LIKE_BIC = re.compile(r"[A-Z]{6}[A-Z0-9]{2}([A-Z0-9]{3})?")
_BIC = "form of BIC"


@dataclass(frozen=True)
class _Check:
    """A kind of numbers with check digits: its category of identifiers, its name, and its validator.

    `chance` is the share of random texts of the same form that the validator accepts.
    """

    category: str
    what: str
    chance: float
    fits: Callable[[str], bool]


def checked(texts: Sequence[str], whole_numbers: Sequence[int]) -> tuple[str, str] | None:
    """Finds the category of identifiers among a column's distinct values; returns the category with the evidence, or
    None if no category fits.
    """
    numbers = [str(number) for number in whole_numbers]
    return _with_check_digits(texts or numbers) or _telephone(texts) or _names(texts)


def not_looked_for() -> str | None:
    """Names the values that are not recognized because a package is missing, with the command to install; None if all
    packages are installed.
    """
    lacking = [values for package, values in _PACKAGES.items() if not _has(package)]
    if not lacking:
        return None
    return f"not looked for: {'; '.join(lacking)} (pip install 'sqlanon[profile]')".replace("; ", ", ")


@cache
def _has(package: str) -> bool:
    return find_spec(package) is not None


def _share(values: Sequence[str], fits: Callable[[str], bool]) -> float:
    """Returns the share of values that pass a check; 0 as soon as too many fail it."""
    allowed = (1 - sizes().pattern) * len(values)
    failed = 0
    for value in values:
        failed += not fits(value)
        if failed > allowed:
            return 0
    return 1 - failed / len(values)


def _with_check_digits(values: Sequence[str]) -> tuple[str, str] | None:
    """Finds the kind of numbers whose check digits are valid more often than chance explains. If there are several,
    returns the kind that is least likely by chance.

    The result has its category and its name; it is None if there is no such kind.
    """
    values = values[:_COMPARED]
    if not values or not _has("stdnum"):
        return None
    forms = {True: _share(values, _is_like_bic) > 0, False: _share(values, _is_like_number) > 0}
    possible = [check for check in _checks() if forms[check.what == _BIC]]
    speaking = [check for check in possible if speaks(_valid(values, check.fits), len(values), check.chance)]
    least = min(speaking, key=lambda check: check.chance, default=None)
    return (least.category, least.what) if least else None


def speaks(valid: int, values: int, chance: float) -> bool:
    """Whether enough different values of a column are valid to conclude that it has numbers of a kind.

    `chance` is the share of random texts of the form that are valid. Nine values in ten must be valid, and the same
    number of random texts must be valid with a probability below `sizes().chance`.
    """
    if not values or valid * 10 < values * 9:
        return False
    terms = (comb(values, k) * chance**k * (1 - chance) ** (values - k) for k in range(valid, values + 1))
    return sum(terms) < sizes().chance


def _valid(values: Sequence[str], fits: Callable[[str], bool]) -> int:
    """Returns the number of values that fit; 0 as soon as more than one in ten does not fit."""
    failed = 0
    for value in values:
        failed += not fits(value)
        if failed * 10 > len(values):
            return 0
    return len(values) - failed


def _is_like_number(value: str) -> bool:
    return _ALIKE_NUMBERS.fullmatch(value) is not None and sum(map(str.isdigit, value)) >= 6


def _is_like_bic(value: str) -> bool:
    return _LIKE_BIC.fullmatch(value) is not None


@cache
def _checks() -> tuple[_Check, ...]:
    from stdnum import bic, iban, imei, luhn
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
    from stdnum.in_ import aadhaar
    from stdnum.it import codicefiscale
    from stdnum.nl import bsn
    from stdnum.no import fodselsnummer
    from stdnum.pl import pesel
    from stdnum.pt import nif
    from stdnum.se import personnummer
    from stdnum.us import ssn as us_ssn

    # The share of valid ones among 20,000 random texts of the form; of IBAN it is 1 in 97, of the United States
    # 898 in 1,000 areas with 99 groups in 100.
    national = {
        "Switzerland": (ssn, 0.1), "Germany": (idnr, 0.003), "Austria": (vnr, 0.08), "France": (nir, 0.01),
        "Italy": (codicefiscale, 0.014), "Netherlands": (bsn, 0.09), "Belgium": (nn, 0.0016),
        "United Kingdom": (nhs, 0.09), "Ireland": (pps, 0.04), "Sweden": (personnummer, 0.0032),
        "Norway": (fodselsnummer, 0.001), "Denmark": (cpr, 0.03), "Finland": (hetu, 0.001), "Poland": (pesel, 0.016),
        "Portugal": (nif, 0.09), "Czech Republic": (rc, 0.15), "Canada": (sin, 0.08), "Brazil": (cpf, 0.01),
        "India": (aadhaar, 0.082), "the United States": (us_ssn, 0.889),
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
        _Check("account number", "check digits of IBAN", 1 / 97, iban.is_valid),
        _Check("account number", "check digits of payment cards", 0.1, is_card),
        _Check("account number", _BIC, 0.374, bic.is_valid),
        _Check("device identifier", "check digits of IMEI", 0.1, is_imei),
        _Check("social security number", "check digits of Spain", 0.038, is_spanish),
        *(
            _Check("social security number", f"check digits of {country}", chance, number.is_valid)
            for country, (number, chance) in national.items()
        ),
    )


def _telephone(texts: Sequence[str]) -> tuple[str, str] | None:
    """Finds telephone numbers that are all valid in one country, or all have a country code."""
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
    """Whether a text looks like a telephone number: it begins with 0, + or an opening parenthesis, or has groups of
    digits.
    """
    is_grouped = re.search(r"\d[ ()./\-]+\d", text) is not None
    digits = sum(map(str.isdigit, text))
    return _LIKE_TELEPHONE.fullmatch(text) is not None and digits >= 7 and (text[0] in "+0(" or is_grouped)


def _names(texts: Sequence[str]) -> tuple[str, str] | None:
    """Finds names: most values have a given name in them, or are surnames.

    The names of months and towns are also given names, so single words need at least `_FEW_NAMES` distinct values.
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


# Values that are stored in another form than meant: codes for missing values, and dates and numbers as text.


# The known codes for missing values; answers name only these, and no other value.
_TEXTS = (
    "?", "??", "-", "--", ".", "..", "*", "/", "#", "NA", "N/A", "#N/A", "n.a.", "NaN", "NULL", "None", "nil",
    "missing", "unknown", "not available", "not applicable", "unbekannt", "keine Angabe", "k.A.", "inconnu",
    "desconocido", "sconosciuto", "onbekend", "brak", "nieznany", "n.d.", "nd",
    "-9", "-99", "-999", "-9999", "99", "999", "9999", "99999",
)  # fmt: skip
# The codes that are a word in no language; in other columns of a file, they are codes, too.
_NO_WORDS = frozenset(("?", "??", "-", "--", ".", "..", "#", "na", "n/a", "#n/a", "n.a.", "nan", "null"))
_CODES = {code.casefold(): code for code in _TEXTS}
_NEGATIVE = (-9999, -999, -998, -99, -98, -88, -9, -8, -7, -1)
_NINES = (999999, 99999, 9999, 999, 99, 9)
# Dates that systems write for a missing date, and the least ratio of their frequency to the median of the dates.
_FILLED_DATES = ("1900-01-01", "1970-01-01", "9999-12-31")
_OFTEN = 20
# A code of nines is far above the other values if the greatest of these is at most this share of the code.
_GAP = 0.8
_FORMATS = (
    "%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d", "%d.%m.%y",
    "%d/%m/%y", "%m/%d/%y", "%d %b %Y", "%d-%b-%Y", "%d %B %Y", "%B %d, %Y", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S",
    "%d.%m.%Y %H:%M", "%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M",
)  # fmt: skip
_NUMBER = re.compile(r"[-+]?(\d+([.,]\d*)?|[.,]\d+)([eE][-+]?\d+)?")
_WITH_COMMA = re.compile(r"[-+]?\d+(,\d+)?")
_FIRST_YEAR, _LAST_YEAR = 1850, 2100
_COMPARED_AS_STORED = 300


def notes(of: SampledColumn) -> Iterator[str]:
    """Yields a note, with the cast to write, for each difference between the stored and the intended form of a column's
    values.
    """
    if codes := missing_codes(of):
        yield _about_codes(codes)
    if stored := stored_as_text(of):
        others = "its other values" if codes else "its values"
        by_reader = ", or read_csv(..., decimal_separator => ',')" if stored.has_commas else ""
        yield f"{others} are {stored.meant}: {stored.cast}{by_reader}"


@dataclass(frozen=True)
class MissingCodes:
    """A column with its codes for missing values, which are texts in a text column."""

    name: str
    codes: tuple[str | int, ...]

    @property
    def cast(self) -> str:
        """The SQL that reads the codes as NULL."""
        return to_sql(_without(self.name, self.codes))

    @property
    def looks(self) -> str:
        """A clause for a sentence: these codes look like codes for missing values."""
        looks = "look like codes for missing values" if len(self.codes) > 1 else "looks like a code for a missing value"
        return f"{self.listed} {looks}"

    @property
    def listed(self) -> str:
        """The codes, separated by commas, with texts in quotes."""
        return ", ".join(f"{code}" if isinstance(code, int) else f'"{code}"' for code in self.codes)


@dataclass(frozen=True)
class StoredAsText:
    """A text column whose values are numbers or dates.

    `meant` describes the values, `codes` has the codes for missing values among them, and `cast` is the SQL that
    converts them. `format` is the format of dates, None for numbers; `has_commas` is true for numbers with a decimal
    comma.
    """

    name: str
    meant: str
    codes: tuple[str, ...]
    cast: str
    format: str | None = None
    has_commas: bool = False


def stored_as_text(of: SampledColumn) -> StoredAsText | None:
    """Recognizes numbers or dates that a column stores as text; None for words, for codes, and for columns of other
    types.
    """
    if not is_text(of.type):
        return None
    codes = tuple(_missing_texts(of.texts))
    texts = [text for text in of.texts if text not in codes]
    value = _without(of.name, codes)
    if formats := date_formats(texts):
        either = f" or {formats[1]}" if len(formats) > 1 else ""
        moment = to_sql(f.call("strptime", value, literal(formats[0])))
        return StoredAsText(of.name, f"dates as text, in the format {formats[0]}{either}", codes, moment, formats[0])
    if _are_numbers(texts):
        return StoredAsText(of.name, "numbers as text", codes, to_sql(cast(value, "DOUBLE")))
    if have_commas(texts):
        with_point = to_sql(cast(f.call("replace", value, literal(","), literal(".")), "DOUBLE"))
        return StoredAsText(of.name, "numbers with a decimal comma", codes, with_point, has_commas=True)
    return None


def date_formats(texts: Sequence[str]) -> list[str]:
    """Returns the formats in which all texts are dates from 1850 to 2100; several if day and month can be exchanged."""
    texts = texts[:_COMPARED_AS_STORED]
    if len(texts) < 2 or not all(6 <= len(text) <= 25 and any(map(str.isdigit, text)) for text in texts):
        return []
    return [form for form in _FORMATS if all(_is_date(text, form) for text in texts)]


def _is_date(text: str, form: str) -> bool:
    try:
        return _FIRST_YEAR <= datetime.strptime(text, form).year <= _LAST_YEAR
    except ValueError:
        return False


def _are_numbers(texts: Sequence[str]) -> bool:
    """Whether all texts are numbers and not codes: a zip code begins with 0, or has as many digits as all other
    codes.
    """
    if len(texts) < 2 or not all(_NUMBER.fullmatch(text) for text in texts):
        return False
    whole = all(text.isdigit() for text in texts)
    if any(re.match(r"[-+]?0\d", text) for text in texts) or any("," in text for text in texts):
        return False
    return not whole or len({len(text) for text in texts}) > 1 or len(texts[0]) < 3


def have_commas(texts: Sequence[str]) -> bool:
    """Whether all texts are numbers with a decimal comma. If there are three digits after each comma, it may separate
    thousands.
    """
    parts = [text.partition(",") for text in texts]
    if len(texts) < 2 or not all(_WITH_COMMA.fullmatch(text) for text in texts):
        return False
    return any(comma and len(behind) != 3 for _, comma, behind in parts)


def missing_codes(of: SampledColumn) -> MissingCodes | None:
    """Finds the codes for missing values in a column: listed texts, numbers far from other numbers, and frequent
    dates.
    """
    codes: Sequence[str | int] = ()
    if is_text(of.type):
        codes = _missing_texts(of.texts)
    elif is_number(of.type) and of.type != "BOOLEAN":
        codes = _missing_numbers([value for value in of.values if isinstance(value, (int, float)) and value == value])
    elif of.type.startswith(("DATE", "TIMESTAMP")):
        codes = _filled_dates([value for value in of.values if isinstance(value, str)])
    return MissingCodes(of.name, tuple(codes)) if codes else None


def _filled_dates(values: Sequence[str]) -> list[str]:
    """Finds dates that probably represent a missing date, because their frequency is more than 20 times the median
    frequency of dates.
    """
    days = Counter(value.removesuffix(" 00:00:00") for value in values)
    others = [n for day, n in days.items() if day not in _FILLED_DATES]
    return [day for day in _FILLED_DATES if others and days[day] > _OFTEN * median(others)]


def is_sure(code: str | int) -> bool:
    """Whether a code almost certainly stands for a missing value. A word may be a real answer, and 9 may be a count, so
    neither is certain.
    """
    if isinstance(code, int) or _NUMBER.fullmatch(code):
        return int(code) != 9
    return code.casefold() in _NO_WORDS


def _missing_texts(texts: Sequence[str]) -> list[str]:
    """Returns the texts that are codes. A number is a code only if the other texts are numbers, and only by the rule
    for numbers.
    """
    codes = [text for text in texts if text.casefold() in _CODES]
    others = [text for text in texts if text not in codes]
    if not others:
        return []
    if all(_NUMBER.fullmatch(text) for text in others):
        numbers = _missing_numbers([float(text.replace(",", ".")) for text in texts if _NUMBER.fullmatch(text)])
        return [code for code in codes if not _NUMBER.fullmatch(code) or float(code) in numbers]
    return codes


def _missing_numbers(values: Sequence[float]) -> list[int]:
    """Returns negative codes if no other value is negative, and numbers of nines far above all other values."""
    different = set(values)
    negative = {value for value in different if value < 0}
    codes = [code for code in _NEGATIVE if code in negative] if negative <= set(_NEGATIVE) else []
    # -1 alone may be an ordinary number.
    if codes == [-1] or len(different) < len(codes) + 2:
        codes = []
    rest = sorted(value for value in different if value not in codes)
    if len(rest) > 2 and rest[-1] in _NINES:
        code = int(rest[-1])
        share = _GAP if code > 9 else 0.6
        # A column may have 9 and 99, too.
        if 0 <= rest[-2] <= share * code and values.count(code) >= sizes().repeated_codes:
            codes.append(code)
    return codes


def _about_codes(missing: MissingCodes) -> str:
    """Describes the codes, and the SQL that reads them as NULL from a table and from a file."""
    texts = ", ".join(to_sql(literal(str(code))) for code in ("", *missing.codes))
    return f"{missing.looks}: {missing.cast}, or read_csv(..., nullstr => [{texts}])"


def _without(name: str, codes: Sequence[str | int]) -> exp.Expr:
    """Returns the SQL that reads a column and replaces the codes by NULL."""
    value: exp.Expr = column(name)
    for code in codes:
        value = f.call("nullif", value, literal(code))
    return value
