"""Values that are not stored as what they are: codes for missing values, and dates and numbers as text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime

from sqlglot import exp

from sqlanon.assess.profiling.sample import SampledColumn, is_number, is_text
from sqlanon.assess.profiling.sizes import sizes
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import cast
from sqlanon.sql.build.names import column, literal
from sqlanon.sql.build.render import to_sql

# The codes that are looked for; an answer names these alone, and no other value.
_TEXTS = (
    "?", "??", "-", "--", ".", "..", "*", "/", "#", "NA", "N/A", "#N/A", "n.a.", "NaN", "NULL", "None", "nil",
    "missing", "unknown", "not available", "not applicable", "unbekannt", "keine Angabe", "k.A.", "inconnu",
    "desconocido", "sconosciuto", "onbekend", "-9", "-99", "-999", "-9999", "99", "999", "9999", "99999",
)  # fmt: skip
_CODES = {code.casefold(): code for code in _TEXTS}
_NEGATIVE = (-9999, -999, -99, -9, -8, -7, -1)
_NINES = (99999, 9999, 999, 99, 9)
# A code of nines is far above the values: the greatest of them is at most this share of it.
_GAP = 0.8
_FORMATS = (
    "%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d", "%d.%m.%y",
    "%d/%m/%y", "%m/%d/%y", "%d %b %Y", "%d-%b-%Y", "%d %B %Y", "%B %d, %Y", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S",
    "%d.%m.%Y %H:%M", "%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M",
)  # fmt: skip
_NUMBER = re.compile(r"[-+]?(\d+([.,]\d*)?|[.,]\d+)([eE][-+]?\d+)?")
_FIRST_YEAR, _LAST_YEAR = 1850, 2100
_COMPARED = 300


def notes(of: SampledColumn) -> Iterator[str]:
    """How a column's values are stored otherwise than as what they are, each with what to write instead."""
    codes: Sequence[str | int] = _missing_codes(of)
    if codes:
        yield _about_codes(of.name, codes)
    if not is_text(of.type):
        return
    texts = [text for text in of.texts if text not in codes]
    if formats := date_formats(texts):
        moment = f.call("strptime", column(of.name), literal(formats[0]))
        either = f" or {formats[1]}" if len(formats) > 1 else ""
        yield f"its values are dates as text, in the format {formats[0]}{either}: {to_sql(moment)}"
    elif _are_numbers(texts):
        value: exp.Expr = column(of.name)
        for code in codes:
            value = f.call("nullif", value, literal(code))
        others = "its other values" if codes else "its values"
        yield f"{others} are numbers as text: {to_sql(cast(value, 'DOUBLE'))}"


def date_formats(texts: Sequence[str]) -> list[str]:
    """The formats in which all of some texts are dates of two centuries; several where day and month may be either."""
    texts = texts[:_COMPARED]
    if len(texts) < 2 or not all(6 <= len(text) <= 25 and any(map(str.isdigit, text)) for text in texts):
        return []
    return [form for form in _FORMATS if all(_is_date(text, form) for text in texts)]


def _is_date(text: str, form: str) -> bool:
    try:
        return _FIRST_YEAR <= datetime.strptime(text, form).year <= _LAST_YEAR
    except ValueError:
        return False


def _are_numbers(texts: Sequence[str]) -> bool:
    """Whether texts are numbers, and no codes: a zip code begins with 0, or has as many digits as all others."""
    if len(texts) < 2 or not all(_NUMBER.fullmatch(text) for text in texts):
        return False
    whole = all(text.isdigit() for text in texts)
    if any(re.match(r"[-+]?0\d", text) for text in texts) or any("," in text for text in texts):
        return False
    return not whole or len({len(text) for text in texts}) > 1 or len(texts[0]) < 3


def _missing_codes(of: SampledColumn) -> list[str] | list[int]:
    """The codes for missing values among a column's values, by `_TEXTS` for text and by the others for numbers."""
    if is_text(of.type):
        return _missing_texts(of.texts)
    if is_number(of.type) and of.type != "BOOLEAN":
        return _missing_numbers([value for value in of.values if isinstance(value, (int, float)) and value == value])
    return []


def _missing_texts(texts: Sequence[str]) -> list[str]:
    """The texts that are codes. A number is one only where the other texts are no numbers."""
    codes = [text for text in texts if text.casefold() in _CODES]
    others = [text for text in texts if text not in codes]
    if not others:
        return []
    if all(_NUMBER.fullmatch(text) for text in others):
        numbers = _missing_numbers([float(text.replace(",", ".")) for text in texts if _NUMBER.fullmatch(text)])
        return [code for code in codes if not _NUMBER.fullmatch(code) or float(code) in numbers]
    return codes


def _missing_numbers(values: Sequence[float]) -> list[int]:
    """Negative codes where no other value is negative, and nines far above all other values."""
    different = set(values)
    negative = {value for value in different if value < 0}
    codes = [code for code in _NEGATIVE if code in negative] if negative <= set(_NEGATIVE) else []
    # -1 alone is a number as others are, unless there are many of them.
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


def _about_codes(name: str, codes: Sequence[str | int]) -> str:
    """What the codes are, and how to read them as NULL from a table and from a file."""
    listed = ", ".join(f"{code}" if isinstance(code, int) else f'"{code}"' for code in codes)
    value: exp.Expr = column(name)
    for code in codes:
        value = f.call("nullif", value, literal(code))
    texts = ", ".join(to_sql(literal(str(code))) for code in ("", *codes))
    looks = "look like codes for missing values" if len(codes) > 1 else "looks like a code for a missing value"
    return f"{listed} {looks}: {to_sql(value)}, or read_csv(..., nullstr => [{texts}])"
