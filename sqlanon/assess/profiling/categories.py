"""What a column may be, by its name and by the form of its values: the identifiers of Safe Harbor, and sensitive ones.

The categories of identifiers are those of the HIPAA Privacy Rule (45 CFR 164.514(b)(2)(i)), from which a table must be
free before its rows are no longer said to be about anybody. Names are English, and recognized word by word.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.assess.profiling.sizes import sizes
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text, cast, is_not_null, union_all
from sqlanon.sql.build.names import alias, column, literal, relation


@dataclass(frozen=True)
class Category:
    """A category of identifiers: what it is called, the words of names that tell it, and the form of its values.

    What `identifies` says whom a row is about by itself; a place or a date does not, and can be made coarser.
    """

    name: str
    words: str
    values: str | None = None
    identifies: bool = True


# Of two that fit, the first counts, so a more particular one stands before others.
_CATEGORIES = (
    Category("e-mail address", r"e_?mail", r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}"),
    Category("web address", r"url|website|homepage", r"(https?|ftp)://\S+"),
    Category(
        "date",
        r"dob|birth_?(date|day)|date_of_(birth|death)|(admission|discharge|death|visit|event)_?date|date",
        r"\d{4}-\d{2}-\d{2}([ T].*)?",
        identifies=False,
    ),
    Category(
        "device identifier",
        r"imei|imsi|mac|mac_address|serial(_(no|number))?|device_(id|no|number)",
        r"([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}",
    ),
    Category(
        "IP address", r"ip|ip_?addr(ess)?|ipv[46]", r"(\d{1,3}\.){3}\d{1,3}|([0-9A-Fa-f]{0,4}:){3,7}[0-9A-Fa-f]{0,4}"
    ),
    Category("social security number", r"ssn|social_security(_.*)?|national_id|nino", r"\d{3}-\d{2}-\d{4}"),
    Category(
        "telephone number", r"phone|telephone|tel|mobile|cell|cellphone", r"\+?\(?\d{1,4}\)?([ .\-/]\(?\d{2,4}\)?){2,4}"
    ),
    Category("fax number", r"fax"),
    Category("health plan number", r"(health_plan|insurance|beneficiary|policy|member)_(id|no|nr|num|number)|hicn|mbi"),
    Category(
        "medical record number", r"mrn|medical_record(_.*)?|(patient|encounter|admission)_?(id|no|nr|num|number)?"
    ),
    Category(
        "account number",
        r"iban|(credit_)?card_(no|number)|account(_(id|no|nr|num|number))?|acct(_.*)?",
        r"[A-Z]{2}\d{2}( ?[A-Z0-9]{4}){3,7}( ?[A-Z0-9]{1,3})?|(\d{4}[ -]){3}\d{4}",
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
        r"|name|surname|username|login",
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
        r"|lon(gitude)?|lng|geo(_.*)?|place|location|precinct|neighbou?rhood",
        identifies=False,
    ),
    Category("age", r"age|age_in_years", identifies=False),
)

# Of special categories of data (GDPR, Article 9), of money, and of offences.
_SENSITIVE = (
    # Health.
    r"diagnos[ie]s|diagnosed|diseases?|illness(es)?|conditions?|icd\d*|symptoms?|treatments?|therap(y|ies)|procedures?",
    r"medications?|drugs?|prescriptions?|hiv|cd4|viral_load|(lab|test)_results?|disabilit(y|ies)|disabled|mental_health",
    r"health|health_(status|condition|score)|allerg(y|ies)|addictions?|pregnan(t|cy)|cancer|diabet(es|ic)|depression",
    r"disorders?|syndrome|surger(y|ies)|vaccinat(ed|ion)s?|smok(er|ing)|alcohol|blood_(pressure|sugar|type)|bmi|genetic.*",
    # Money. What people write as one word ends in these: grossincome, yearlybonus.
    r"[a-z]*(income|salary|bonus)|incomes|salaries|bonuses|salary_class|wages?|earnings|compensation|remuneration|payroll",
    r"pay|pay_?(check|cheque|grade|band)|pension|savings|wealth|net_worth|assets|debts?|loans?|mortgage|balance|bankrupt.*",
    r"credit_(score|rating|limit|history)|overdraft",
    # Belief, politics, sexual life.
    r"religio(n|ns|us|sity)|faith|creed|denomination|beliefs?|politic(s|al).*|party|voted?|(trade_)?union|union_member.*",
    r"sexual(ity)?|sexual_.*|orientation|gender_identity",
    # Offences and marks.
    r"convict(ed|ions?)|offen[cs]es?|offenders?|crimes?|criminal.*|felon(y|ies)|arrest(s|ed)?|grades?|gpa|scores?|ratings?",
)
# What a panel has a row for, of each of its respondents.
TIME_WORDS = re.compile(r"(.*_)?(year|yr|quarter|month|week|day|hour|wave|period|round|time)(_.*)?")
SENSITIVE_WORDS = re.compile(rf"(.*_)?({'|'.join(_SENSITIVE)})(_.*)?")


def words_of(name: str) -> str:
    """The words of a column's name in lower case, an underscore between them: birthDate is birth_date."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return re.sub(r"[\W_]+", "_", apart).strip("_").lower()


def categories(
    engine: Engine, table: QualifiedName, columns: Sequence[tuple[str, str]]
) -> dict[str, tuple[Category, str]]:
    """The category of each column of (name, type) that is in one, and whether its 'name' or its 'values' tell so.

    The form of values counts more than a name. It is looked for in the first rows, and in text alone.
    """
    recognized: dict[str, tuple[Category, str]] = {}
    for name, _ in columns:
        words = words_of(name)
        for category in _CATEGORIES:
            if re.fullmatch(category.words, words):
                recognized[name] = (category, "name")
                break
    texts = [name for name, kind in columns if kind in ("VARCHAR", "UUID") or kind.startswith("ENUM(")]
    if texts:
        for number, *shares in engine.rows(_forms(table, texts)):
            for category, share in zip(_with_form(), shares, strict=True):
                if share is not None and share >= sizes().pattern:
                    recognized[texts[int(number)]] = (category, "values")
                    break
    return recognized


def _with_form() -> list[Category]:
    return [category for category in _CATEGORIES if category.values is not None]


def _forms(table: QualifiedName, texts: Sequence[str]) -> exp.Query:
    """A row for each column: of its values that are not NULL, the share that has the form of each category."""
    some = exp.select(*(alias(as_text(column(name)), f"text_{i}") for i, name in enumerate(texts)))
    some = some.from_(relation(table)).limit(sizes().pattern_rows)
    queries = [
        exp.select(
            alias(literal(i), "number"),
            *(
                alias(f.call("avg", cast(_fits(f"text_{i}", str(category.values)), "INTEGER")), f"share_{j}")
                for j, category in enumerate(_with_form())
            ),
        )
        .from_(relation("some"))
        .where(is_not_null(column(f"text_{i}")))
        for i in range(len(texts))
    ]
    query = union_all(queries)
    return query.with_("some", as_=some, materialized=True)


def _fits(name: str, form: str) -> exp.Expr:
    return f.call("regexp_full_match", f.call("trim", column(name)), literal(form))
