"""Identifies the respondents, values and columns of a source in every release of a series."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Attribute, Mask, Role, Shift
from sqlanon.domain.release import Release
from sqlanon.domain.series import Series, Signatures
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.engines.udfs import registered, release_key
from sqlanon.errors import InternalError, PolicyError
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text, case, cast, in_utc
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, select, subquery
from sqlanon.sql.build.sql_files import query_file, reading, sql_file
from sqlanon.syntax.definitions import in_place_text
from sqlanon.syntax.texts import call_text

# The text that identifies a respondent or a value in every release: equal values have one text, in any session.


_EXACT = re.compile(
    r"BOOLEAN|U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|DECIMAL\(\d+,\d+\)|VARCHAR|UUID|DATE|TIME|"
    r"TIMESTAMP(_S|_MS|_NS)?|TIMESTAMP WITH TIME ZONE"
)
_ROUNDED = ("FLOAT", "DOUBLE")


def has_known_text(kind: str, *, rounded: bool = True) -> bool:
    """Whether equal values of a type have the same text; `rounded` accepts types whose texts are rounded."""
    return bool(_EXACT.fullmatch(kind)) or (rounded and kind in _ROUNDED)


def known_text(name: str, kind: str) -> exp.Expr:
    """Returns the text of a column whose type `has_known_text`; NULL for NULL."""
    text = as_text(in_utc(name, kind))
    if kind not in _ROUNDED:
        return text
    # Zeros of both signs are equal, and so are all NaNs.
    no_number, zero = f.call("isnan", column(name)), column(name).eq(literal(0))
    return case((no_number, literal("nan")), (zero, literal("0.0")), otherwise=text)


def known_value(text: exp.Expr, kind: str) -> exp.Expr:
    """Returns the value of a text of `known_text`."""
    if kind == "TIMESTAMP WITH TIME ZONE":
        return f.call("timezone", "UTC", cast(text, "TIMESTAMP"))
    return cast(text, kind)


def told_apart(name: str, kind: str) -> exp.Expr:
    """Returns an expression that distinguishes values with different texts, within one statement, faster than their
    texts.

    `kind` is a type of respondents. By its collation, a column of texts may treat different texts as equal.
    """
    return as_text(column(name)) if kind == "VARCHAR" else column(name)


# The keys of series and pseudonyms, and checks that recognize a key.


def key_of(name: str, variable: str, of: str = "series") -> bytes:
    """Reads a key from an environment variable and derives from it the key of the series, or of the object `of`.

    The ledger's tokens therefore differ from pseudonyms with the same key. Raises UserError for a variable that is not
    set or is too short.
    """
    return hmac.digest(release_key(variable, f"the {of}"), f"{of}:{fold(name)}".encode(), "sha256")


def key_check(key: bytes) -> str:
    """Returns a digest by which keys are compared; it does not reveal the key."""
    return hashlib.sha256(b"check:" + key).hexdigest()


# The respondents of a source as a series identifies them, and their latest classes.


@dataclass(frozen=True)
class Respondents:
    """The respondents of a policy's source. Their rows in the ledger are read once, at first use."""

    engine: Engine
    series: Series
    bound: BoundPolicy
    temp: TempTables
    _class_keys: dict[str, str] = field(default_factory=dict)

    @property
    def entity(self) -> BoundAttribute:
        """The attribute with the respondents."""
        if self.bound.entity is None:
            raise InternalError(f"{self.series} is asked for the respondents of a policy that has none")
        return self.bound.entity

    @property
    def last_position(self) -> int:
        """The position of the last release of the series; 0 if it has no releases."""
        return len(self.series.releases)

    @cached_property
    def former(self) -> str:
        """Table of respondent, token and former_class: the keyed digest, and the class in the last release."""
        entity, series = self.entity, self.series
        name, kind = entity.column, entity.published_type
        people = select(alias(told_apart(name, kind), "respondent"), of=relation(self.bound.relation), distinct=True)
        key = key_of(series.name, series.key_variable)
        if key_check(key) != series.key_check:
            raise InternalError(f"the key of {series} is another than when it was begun")
        with registered(self.engine, "keyed_digest", key=key) as digest:
            token = cast(f.call(digest, known_text("respondent", kind)), "UUID")
            known = select(column("respondent"), alias(token, "token"), of=subquery(people, "people"))
            return self._table("former", {"known": known}, *self._last)

    @cached_property
    def returners(self) -> str:
        """Table of token, respondent, position, class_no: the latest class of the respondents who are not in the last
        release.
        """
        return self._table("returner", {"former": self.former}, *self._last)

    def class_keys(self, attribute: str) -> str:
        """Creates a table of the signatures, in one sensitive attribute, of each class that is the latest class of a
        respondent.

        The columns are position, class_no, key, size and n, as in sql/ledger/class_key.sql.
        """
        if attribute not in self._class_keys:
            classes = reading(query_file("ledger", "latest_class"), {"returner": self.returners})
            parameters = (*self._last, fold(attribute))
            self._class_keys[attribute] = self._table("class_key", {"class_of_series": classes}, *parameters)
        return self._class_keys[attribute]

    @property
    def _last(self) -> tuple[object, ...]:
        return self.series.series_id, self.last_position

    def _table(self, name: str, tables: dict[str, str | exp.Query], *parameters: object) -> str:
        return self.temp.table(name, reading(query_file("ledger", name), tables), parameters)


# The columns of a series: the respondents' column and the sensitive ones, which all releases share.


def named_columns(bound: BoundPolicy) -> tuple[tuple[str, str], ...]:
    """Returns the sensitive attributes with their types.

    Raises PolicyError for a type whose equal values have several texts, because such values would not be recognized in
    later releases.
    """
    for b in (*bound.sensitive, *([bound.entity] if bound.entity else [])):
        if not has_known_text(b.published_type, rounded=b is not bound.entity):
            raise PolicyError(
                f"a series cannot recognize {b.column}, because equal values of {b.published_type} may have different "
                "texts",
                hint=f"cast it in a query, ON (SELECT CAST({b.column} AS VARCHAR) AS {b.column}, ...)",
                part=("policy",),
            )
    return tuple((b.column, b.published_type) for b in bound.sensitive)


def in_order(series: Series, bound: BoundPolicy) -> list[BoundAttribute]:
    """Returns a policy's sensitive attributes, ordered as in its series."""
    by_name = {fold(b.column): b for b in bound.sensitive}
    return [by_name[fold(name)] for name, _ in series.attributes]


def require_same_columns(series: Series, bound: BoundPolicy) -> None:
    """Raises PolicyError unless a policy has the respondents and the sensitive attributes of a series, with the same
    types.

    Values of another type have other texts, and a column that is no longer sensitive would not be checked.
    """
    now = {**_folded(named_columns(bound)), fold(series.entity): bound.entity.published_type if bound.entity else ""}
    former = {**_folded(series.attributes), fold(series.entity): series.entity_type}
    for name in (*former, *now):
        if name in former and name not in now:
            raise _refused(series, f"{name} is no longer SENSITIVE")
        if name not in former:
            raise _refused(series, f"{name} was not SENSITIVE when it was begun")
        if former[name] != now[name]:
            raise _refused(series, f"{name} is {now[name]} now and was {former[name]}")


def _folded(columns: tuple[tuple[str, str], ...]) -> dict[str, str]:
    return {fold(name): kind for name, kind in columns}


def _refused(series: Series, why: str) -> PolicyError:
    return PolicyError(
        f"{series} cannot compare its releases: {why}; nothing was published",
        hint="keep the column in the policy, cast it in a query, or begin another series",
        part=("series",),
    )


# The signatures of respondents: the values of their classes in the releases of a series.


def latest_signatures(respondents: Respondents) -> Signatures:
    """Returns each respondent's signature in the latest release of the series that contains the respondent.

    Raises PolicyError unless the policy has exactly one sensitive attribute.
    """
    bound, series, temp = respondents.bound, respondents.series, respondents.temp
    if len(bound.sensitive) != 1:
        raise PolicyError(
            f"signatures need exactly one sensitive attribute, and {bound.policy} has {len(bound.sensitive)}",
            part=("policy",),
        )
    [sensitive] = bound.sensitive
    kind, of_attribute = sensitive.published_type, (series.series_id, fold(sensitive.column))
    tables = {"former": respondents.former, "returner": respondents.returners}
    tables["class_key"] = respondents.class_keys(sensitive.column)
    tables["signature"] = temp.table("signature", reading(query_file("ledger", "signature"), tables))
    members = reading(query_file("ledger", "signature_member"), tables)
    texts = subquery(reading(query_file("ledger", "signature_value"), tables), "of_signature")
    values = select(column("signature"), alias(known_value(column("text"), kind), "value"), column("n"))
    known = subquery(query_file("ledger", "known_value"), "known")
    return Signatures(
        temp.table("signature_member", members, (respondents.last_position,)),
        temp.table("signature_value", extend(values, of=texts), of_attribute),
        temp.table(
            "known_value",
            select(alias(known_value(column("value"), kind), "value"), of=known),
            of_attribute,
        ),
        len(series.releases),
        ", ".join(map(call_text, series.requirements)),
    )


# The columns that rows show beside the quasi-identifiers.
#
# A reader who knows a respondent's classes in two releases looks for a row that is in both. Whole rows leave fewer
# candidates than single columns. So the ledger has the rows of a class as one more attribute.


Columns = Sequence[tuple[str, str]]
_BESIDE = (Role.SENSITIVE, Role.INSENSITIVE)


def row_columns(bound: BoundPolicy) -> tuple[tuple[str, str], ...]:
    """Returns the columns that a release's rows show besides the quasi-identifiers, with their types, sorted by name.

    If there is only one such column, it is an attribute of the series already, and the result is empty.
    """
    columns = _in_order((b.column, b.published_type) for b in bound.attributes if b.role in _BESIDE)
    return columns if len(columns) > 1 else ()


def shown_columns(release: Release, columns: Columns) -> tuple[tuple[str, str], ...]:
    """Returns the columns that the rows of a release show besides the quasi-identifiers, even if there is only one.

    `columns` are all columns of the release, each with its type.
    """
    beside = {fold(a.name) for a in release.attributes if a.role in _BESIDE}
    return _in_order((name, kind) for name, kind in columns if fold(name) in beside)


def _in_order(columns: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    known = [(name, kind) for name, kind in columns if has_known_text(kind)]
    return tuple(sorted(known, key=lambda each: fold(each[0])))


def named_row(columns: Columns) -> str:
    """Returns the ledger's attribute for rows of these columns: their folded names, as a list in JSON.

    None of these columns has this name, because rows of a single column are not stored.
    """
    return fold(json.dumps([[fold(name), kind] for name, kind in columns], separators=(",", ":"), ensure_ascii=False))


def row_text(columns: Columns) -> exp.Expr:
    """Returns the text of a row by these columns: a list in JSON of the texts of their values."""
    return as_text(f.call("to_json", exp.Array(expressions=[known_text(name, kind) for name, kind in columns])))


def value_in_row(row: exp.Expr, attribute: str, name: str) -> exp.Expr:
    """Returns the text of a column's value in the text of a row of the attribute that `named_row` made."""
    position = [column for column, _ in json.loads(attribute)].index(fold(name))
    return f.call("json_extract_string", row, literal(f"$[{position}]"))


def require_known_rows(series: Series, bound: BoundPolicy) -> None:
    """Raises PolicyError for a release whose rows cannot be compared with those of other releases by `unknown_rows`."""
    if problem := unknown_rows(series, [(b.attribute, b.published_type) for b in bound.attributes]):
        why, hint = problem
        raise PolicyError(f"{why}; nothing was published", hint=hint, part=("series",))


def unknown_rows(series: Series, columns: Sequence[tuple[Attribute, str]]) -> tuple[str, str] | None:
    """Returns the reason why a release's rows cannot be compared within a series, and the remedy; None if they can.

    They cannot if they have tokens that are equal in each release, if equal values of a type may have several texts,
    or, in a series whose values may change, if rows have more than two columns besides the quasi-identifiers, because
    it is unknown which value changed. `columns` are the attributes of a policy, with the types of their published
    values.
    """
    if not series.requirements:
        return None
    for attribute, _ in columns:
        if is_keyed(attribute):
            if isinstance(attribute.pseudonym, Mask):
                return (
                    f"{attribute.name} has the same masks in each release, which would tell which rows of two releases "
                    "are of one respondent",
                    "use a mask under a key and leave KEY out, as in ALTER POLICY ... ALTER COLUMN "
                    f"{attribute.name} {attribute.role.value.upper()} MASK alphanumeric",
                )
            if isinstance(attribute.pseudonym, Shift):
                return (
                    f"{attribute.name} is shifted alike in each release, which would tell which rows of two releases "
                    "are of one respondent",
                    "leave KEY out, so that each release shifts by other numbers: ALTER POLICY ... ALTER COLUMN "
                    f"{attribute.name} {attribute.role.value.upper()} {in_place_text(attribute.pseudonym)}",
                )
            return (
                f"{attribute.name} is PSEUDONYM KEY: the tokens would tell which rows of two releases are of one "
                "respondent",
                "leave KEY out, so that each release has other tokens: ALTER POLICY ... ALTER COLUMN "
                f"{attribute.name} {attribute.role.value.upper()} PSEUDONYM",
            )
    beside = [(attribute.name, kind) for attribute, kind in columns if attribute.role in _BESIDE]
    for name, kind in beside:
        if not has_known_text(kind):
            return (
                f"{name} is published beside the quasi-identifiers, and equal values of {kind} may have other texts, "
                "so that rows of two releases cannot be compared",
                f"leave {name} out, ALTER POLICY ... ALTER COLUMN {name} IDENTIFIER, or cast it in a query",
            )
    arguments = [argument for requirement in series.requirements for argument in requirement.arguments]
    ignores = any(name == "changed" and fold(str(value)) == "ignored" for name, value in arguments)
    if ignores and len(beside) > 2:
        return (
            f"{series} ignores values that change, and rows show {', '.join(name for name, _ in beside)} beside the "
            "quasi-identifiers: a reader who knows which of them stay the same could compare these alone",
            "leave all but two of these columns out, or begin a series without changed => 'ignored'",
        )
    return None


def is_keyed(attribute: Attribute) -> bool:
    """Whether a column is published as tokens with a key, which other releases share."""
    return attribute.pseudonym is not None and attribute.pseudonym.lasts


def attributes_of_rows(engine: Engine, series: Series) -> dict[int, str | None]:
    """Returns by position the attribute of whole rows of each release of a series; None for a release without such an
    attribute.
    """
    names = {fold(name) for name, _ in series.attributes}
    attribute_at: dict[int, str | None] = {}
    for position, attribute in engine.rows(sql_file("ledger", "attributes"), [series.series_id]):
        of_row = None if attribute in names else str(attribute)
        attribute_at[int(position)] = of_row or attribute_at.get(int(position))
    return attribute_at


def require_same_rows(engine: Engine, series: Series) -> str | None:
    """Returns the attribute of whole rows that all releases of a series share; None if rows show only one column.

    Raises PolicyError if releases of a series with requirements show different columns; the result is None if there are
    no requirements.
    """
    shown_attributes = {*attributes_of_rows(engine, series).values()}
    if shown_attributes == {None} and len(series.attributes) > 1:
        shown_attributes.add("unknown")
    if len(shown_attributes) < 2:
        return next(iter(shown_attributes), None)
    if not series.requirements:
        return None
    raise PolicyError(
        f"the releases of {series} do not all show the same columns beside the quasi-identifiers, so that "
        "their rows cannot be compared; nothing was done",
        hint="publish the same columns as in the earlier releases, or begin another series",
        part=("series",),
    )
