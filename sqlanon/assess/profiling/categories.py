"""Recognizes columns by their names and the form of their values: as identifiers of Safe Harbor, or as sensitive
columns.

The categories are the identifiers of the HIPAA Privacy Rule (45 CFR 164.514(b)(2)(i)); rows count as identifiable until
these are removed. The patterns of names in this module are English; words of other languages and of sensitive subjects
are lists in `sql/profile/`.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlanon.assess.profiling.checked_values import checked, date_formats
from sqlanon.assess.profiling.sample import Sample, SampledColumn, is_text, sizes
from sqlanon.assess.profiling.words import identifier_of, sensitive_subject, split, subject_of_value, words_of


@dataclass(frozen=True)
class Category:
    """A category of identifiers, with regular expressions for the names of its columns and for its values.

    `identifies` is false for a place or a date, which does not identify a person alone, and can be generalized.
    """

    name: str
    words: str = r"(?!)"
    values: str | None = None
    identifies: bool = True


@dataclass(frozen=True)
class Recognized:
    """The category of identifiers or the sensitive subject of a column, with the reason for it.

    `direct` is true if the column alone identifies a person, `sensitive` if its values are private; for a place or a
    date, both are false. `within` is true if the identifier is a part of a longer text, and `by_values` if the values
    were recognized, not the name.
    """

    why: str
    direct: bool = False
    sensitive: bool = False
    category: str | None = None
    within: bool = False
    by_values: bool = False


# The first match counts, so special categories come before general ones.
_CATEGORIES = (
    Category("e-mail address", r"e_?mail", r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}"),
    Category("web address", r"url|website|homepage", r"(https?|ftp)://\S+"),
    Category(
        "date",
        r"dob|birth_?(date|day)|date_of_(birth|death)|(admission|discharge|death|visit|event)_?date|date",
        # Day and month, or month and day; a code such as 99.99.9999 among them is none.
        r"\d{4}-\d{2}-\d{2}([ T].*)?"
        r"|(0?[1-9]|[12]\d|3[01])([./-])(0?[1-9]|[12]\d|3[01])\3(19|20)\d{2}",
        identifies=False,
    ),
    Category(
        "device identifier",
        r"imei|imsi|mac|mac_address|serial(_(no|number))?|device_(id|no|number)",
        r"([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}",
    ),
    Category("IP address", r"ip|ip_?addr(ess)?|ipv[46]", r"[0-9.]{7,15}|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*"),
    Category("social security number", r"ssn|social_security(_.*)?|national_id|nino", r"\d{3}-\d{2}-\d{4}"),
    Category(
        "account number",
        r"iban|(credit_)?card_(no|number)|account(_(id|no|nr|num|number))?|acct(_.*)?",
        r"[A-Z]{2}\d{2}( ?[A-Z0-9]{4}){3,7}( ?[A-Z0-9]{1,3})?|(\d{4}[ -]){3}\d{4}",
    ),
    Category(
        "telephone number", r"phone|telephone|tel|mobile|cell|cellphone", r"\+?\(?\d{1,4}\)?([ .\-/]\(?\d{2,4}\)?){2,4}"
    ),
    Category("fax number", r"fax"),
    Category("health plan number", r"(health_plan|insurance|beneficiary|policy|member)_(id|no|nr|num|number)|hicn|mbi"),
    Category(
        "medical record number", r"mrn|medical_record(_.*)?|(patient|encounter|admission)_?(id|no|nr|num|number)?"
    ),
    Category("vehicle identifier", r"vin|license_plate|plate|registration_(no|number)"),
    Category(
        "certificate or license number",
        r"(driver_?s?_)?licen[cs]e(_(id|no|number))?|passport(_.*)?|certificate(_(id|no|number))?",
    ),
    Category("biometric identifier", r"fingerprint|voiceprint|retina|iris_scan|biometric(_.*)?|genome|dna"),
    Category("photograph", r"photo|photograph|picture|portrait|face_image"),
    Category(
        "name",
        r"(first|last|middle|full|family|given|maiden|sur|fore|user|patient|customer|employee|person)_?name"
        r"|name|nome|naam|surname|username|login",
    ),
    Category("address", r"street(_.*)?|address(_.*)?|house_(no|number)"),
    Category(
        "unique number",
        r"uuid|guid|(.*_)?(id|key)|id_?(no|nr|num|number)|nr|no|num|number|[pu]id|(case|person|subj|resp|hh|household)_?id"
        r"|(case|row|record|seq|sequence|serial|person|pers|household|hh)_?(no|nr|num|number)"
        r"|(client|worker|pupil|individual|citizen|inhabitant)_?(no|nr|num|number|code)"
        r"|(customer|person|employee|user|student|subject|respondent|participant|proband)(_?(no|nr|num|number|code))?",
        r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",
    ),
    Category(
        "place",
        r"zip(_?code)?|post(al)?_?code|plz|city|town|county|district|region|municipality|lat(itude)?"
        r"|lon(gitude)?|lng|geo(_.*)?|place|location|precinct|neighbou?rhood|village|vill_?num|(village|region|county)_.*",
        r"[(]?[-+]?\d{1,3}\.\d{2,}[,; ] ?[-+]?\d{1,3}\.\d{2,}[)]?|POINT ?\(.*\)",
        identifies=False,
    ),
    Category("age", r"age|age_in_years", identifies=False),
    Category(
        "sex",
        r"(sex|gender)(_?(code|cd))?|geschlecht|sexe|sexo|genero|g\u00e9nero|sesso|genere|geslacht|(is_)?(male|female)",
        identifies=False,
    ),
)

# Everybody can see these, so they are not sensitive, even if a sensitive value such as a diagnosis reveals them.
SEX = "sex"
DEMOGRAPHIC = ("age", SEX)
# The categories that only lists of words recognize, not the patterns above.
_OTHERS = (Category("household number"),)
_BY_NAME = {category.name: category for category in (*_CATEGORIES, *_OTHERS)}
# Names of columns with a household's number.
_HOUSEHOLDS = {"household", "hh", "haushalt", "menage", "hogar", "huishouden", "dwelling"}
# An e-mail address within a longer text.
_HAS_E_MAIL = re.compile(r"[\w.+-]+@\w[\w-]*(\.[\w-]+)*\.[A-Za-z]{2,}")
# The category whose values are parsed, besides the pattern.
_IP_ADDRESS = "IP address"
# Names of numbers of people that are names of flags, too.
_NUMBER = "unique number"
_OF_A_KIND = {"customer", "person", "employee", "user", "student", "subject", "respondent", "participant", "proband"}
# Names that mean a category only if the values have its form, because a card may be a playing card, and via a Latin
# word.
_AMBIGUOUS = {
    "cap": ("place", r"\d{5}"),
    "via": ("address", r"[^\W\d].*\D[ ,]*\d{1,4} ?[A-Za-z]?"),
    **dict.fromkeys(("card", "carta", "carte", "kaart", "karte", "tarjeta"), ("account number", r"(\d[ -]?){8,}")),
    "portable": ("telephone number", r"\+?(\d[ ./-]?){8,15}"),
    **dict.fromkeys(
        ("dossier", "expediente", "cartella"), ("medical record number", r"[A-Za-z]{0,4}[ ./-]?(\d[./-]?){4,}")
    ),
}
# The category whose columns may have towns or countries, too.
_ADDRESS = "address"
# The least number of values of a sensitive subject that a text column needs.
_FEW_OF_SUBJECT = 2
_COMPARED = 500
# The number of characters of a comment that are read.
_LONGEST_COMMENT = 200


def is_household(name: str) -> bool:
    """Whether a column's name means a household, so its values may be numbers of households."""
    return "_".join(split(name)) in _HOUSEHOLDS


def recognized(sample: Sample, comments: Mapping[str, str] | None = None) -> dict[str, Recognized]:
    """Returns the identifiers and sensitive subjects among the columns of a sample, by column name.

    `comments` has comments by column, for example from a codebook. The form of values counts more than a name, a name
    more than a comment, and both more than words in the values.
    """
    columns = {column.name: _recognized(column, (comments or {}).get(column.name, "")) for column in sample.columns}
    return {name: recognition for name, recognition in columns.items() if recognition is not None}


def _recognized(column: SampledColumn, comment: str) -> Recognized | None:
    texts = column.texts[:_COMPARED] if is_text(column.type) else []
    form, named = _by_form(column, texts), by_name(column.name)
    if named and named.category == _ADDRESS and _are_few(column):
        named = replace(named, direct=False, why=f"{named.why}, and it has {len(column.distinct)} different values")
    if named and named.category == _NUMBER and _are_few(column) and "_".join(split(column.name)) in _OF_A_KIND:
        # A flag: student is whether somebody is one.
        named = None
    named = named or _by_name_and_form(column)
    if form and form.direct:
        return form
    if is_text(column.type) and any("@" in text and _HAS_E_MAIL.search(text) for text in column.texts):
        why = "some of its values have an e-mail address in them"
        return Recognized(why, direct=True, category="e-mail address", within=True, by_values=True)
    commented = by_name(comment[:_LONGEST_COMMENT], "comment") if comment else None
    for told_role in (named, commented):
        if told_role and (told_role.direct or told_role.sensitive):
            return told_role
    return form or _subject_of_values(texts) or named or commented


def _are_few(column: SampledColumn) -> bool:
    """Whether a column has so few distinct values, and so many rows of each on average, that no value identifies a
    person.
    """
    present = sum(value is not None for value in column.values)
    return len(column.distinct) < sizes().respondents and present >= sizes().respondents * len(column.distinct)


def by_name(name: str, told_by: str = "name") -> Recognized | None:
    """Recognizes the category or the subject in a column's name or in a comment; None if it has neither."""
    category = _category_of(name)
    if category and category.identifies:
        return _recognized_as(category, told_by)
    if subject := sensitive_subject(name):
        says, word = subject
        return Recognized(f"its {told_by} has a word of {says}: {word}", sensitive=True)
    return _recognized_as(category, told_by) if category else None


def _category_of(name: str) -> Category | None:
    """Finds the category of an English name, with or without its digits, or of a name in another language."""
    for words in dict.fromkeys((words_of(name), "_".join(split(name)))):
        for category in _CATEGORIES:
            if words and re.fullmatch(category.words, words):
                return category
    listed = identifier_of(name)
    return _BY_NAME[listed] if listed else None


def _by_form(column: SampledColumn, texts: Sequence[str]) -> Recognized | None:
    """Finds the category by the form of a column's values; `texts` are some of them. Returns None if no category
    fits.
    """
    if date_formats(texts):
        return _recognized_as(_BY_NAME["date"], "values")
    for category in _CATEGORIES:
        if texts and category.values and _share(texts, _fits(category)) >= sizes().pattern:
            return _recognized_as(category, "values")
    numbers = [value for value in column.distinct if isinstance(value, int)] if not texts else []
    if check := checked(texts, numbers):
        category, by_what = _BY_NAME[check[0]], check[1]
        why = f"{_recognized_as(category, 'values').why}, {by_what}"
        return Recognized(why, direct=category.identifies, category=category.name, by_values=True)
    return None


def _by_name_and_form(column: SampledColumn) -> Recognized | None:
    """Finds the category of an ambiguous name whose values have the category's form. Returns None if no category
    fits.
    """
    category, form = _AMBIGUOUS.get("_".join(split(column.name)), (None, ""))
    values = column.texts or [str(value) for value in column.distinct if isinstance(value, int)]
    if category is None or not values:
        return None
    fits = re.compile(form)
    if _share(values[:_COMPARED], lambda text: fits.fullmatch(text) is not None) < sizes().pattern:
        return None
    recognized_as = _recognized_as(_BY_NAME[category], "values")
    return replace(recognized_as, why=recognized_as.why.replace("its values say", "its name and values say"))


def _fits(category: Category) -> Callable[[str], bool]:
    form = re.compile(str(category.values))
    if category.name != _IP_ADDRESS:
        return lambda text: form.fullmatch(text) is not None
    return lambda text: form.fullmatch(text) is not None and _is_ip_address(text)


def _is_ip_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _share(texts: Sequence[str], fits: Callable[[str], bool]) -> float:
    return sum(map(fits, texts)) / len(texts)


def _subject_of_values(texts: Sequence[str]) -> Recognized | None:
    """Finds the sensitive subject of at least half of the distinct texts, such as the names of diseases."""
    subjects = [subject for text in texts if (subject := subject_of_value(text))]
    if len(subjects) < _FEW_OF_SUBJECT or len(subjects) * 2 < len(texts):
        return None
    most = max(dict.fromkeys(subjects), key=subjects.count)
    return Recognized(f"its values have words of {most}", sensitive=True)


def _recognized_as(category: Category, told_by: str) -> Recognized:
    """Describes the category and the evidence for it: the column's name, a comment, or the column's values."""
    article = "an" if category.name[0] in "aeioI" else "a"
    why = f"its {told_by} {'say' if told_by == 'values' else 'says'} {article} {category.name}"
    return Recognized(why, direct=category.identifies, category=category.name, by_values=told_by == "values")


# Names of columns that hold times in a panel, a table with a row for each respondent and time.
TIME_WORDS = re.compile(r"(.*_)?(year|yr|quarter|month|week|day|hour|wave|period|round|time)(_.*)?")
