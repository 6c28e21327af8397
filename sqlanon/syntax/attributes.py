"""Reads the columns of a policy: each has a role and the clauses of its role."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Attribute, InPlace, Mask, Pseudonym, Role, Shift
from sqlanon.domain.values import Value
from sqlanon.syntax import values
from sqlanon.syntax.lexer import Kind, Token, either, keyword_of, nearest_phrase, shortened
from sqlanon.syntax.reader import SEPARATORS, Reader

ROLES = {role.value.replace("_", " ").upper(): role for role in Role}
_CLAUSES = {
    Role.IDENTIFIER: ("PSEUDONYM", "MASK"),
    Role.ENTITY: ("PSEUDONYM", "MASK"),
    Role.QUASI_IDENTIFIER: ("USING", "MIN LEVEL", "MAX LEVEL", "WEIGHT"),
    Role.SENSITIVE: ("USING", "MIN LEVEL", "HIDE", "SHIFT"),
    Role.INSENSITIVE: ("SHIFT", "SAMPLING WEIGHT"),
}
# The fields of clauses whose name differs from the clause.
_FIELDS = {"USING": "hierarchy", "MASK": "pseudonym", "SHIFT": "pseudonym"}
# Words that people write in place of a role.
_MEANT = {
    **dict.fromkeys(("QI", "QID", "KNOWN", "QUASIIDENTIFIER"), Role.QUASI_IDENTIFIER),
    **dict.fromkeys(("SECRET", "CONFIDENTIAL", "SA"), Role.SENSITIVE),
    **dict.fromkeys(("ID", "DIRECT"), Role.IDENTIFIER),
}
_OWNERS = {
    phrase: [role for role in Role if phrase in _CLAUSES[role]] for phrases in _CLAUSES.values() for phrase in phrases
}


def attributes(
    reader: Reader, require: Callable[[Attribute, Token], None] = lambda attribute, token: None
) -> tuple[Attribute, ...]:
    """Reads (column role ..., ...); a column occurs once. Calls `require` with each column and its name's token."""
    columns: dict[str, Attribute] = {}

    def item() -> None:
        token = reader.peek()
        column = attribute(reader)
        key = fold(column.name)
        if key in columns:
            hint = "give it one role; DuckDB's names do not tell upper from lower case"
            raise reader.refused(f"the column {token.text} is named twice", hint=hint, token=token)
        require(column, token)
        columns[key] = column

    reader.listed(item)
    return tuple(columns.values())


def attribute(reader: Reader) -> Attribute:
    """Reads a column, its role and the role's clauses in any order, each at most once."""
    _refuse_role_before_column(reader)
    name = reader.column("column")
    reader.mark("column", name, "role")
    role = _role(reader)
    return Attribute(name, role, **_clauses(reader, name, role))


def quasi_identifiers(reader: Reader) -> tuple[Attribute, ...]:
    """Reads (column [USING hierarchy] [MIN LEVEL level] ..., ...), each column once; USING AUTO is the default."""
    columns: dict[str, Attribute] = {}

    def item() -> None:
        token = reader.peek()
        name = reader.column("column")
        if any(reader.sees(*words.split()) for words in (*ROLES, "QUASI")):
            hint = "list the columns alone: FROM patients (age, sex) SENSITIVE disease"
            raise reader.refused("roles of columns belong to CREATE POLICY", hint=hint, token=reader.peek())
        if fold(name) in columns:
            hint = "name it once; DuckDB's names do not tell upper from lower case"
            raise reader.refused(f"the column {token.text} is named twice", hint=hint, token=token)
        clauses = _clauses(reader, name, Role.QUASI_IDENTIFIER)
        clauses.setdefault("automatic", "hierarchy" not in clauses)
        columns[fold(name)] = Attribute(name, Role.QUASI_IDENTIFIER, **clauses)

    reader.listed(item)
    return tuple(columns.values())


def _clauses(reader: Reader, column: str, role: Role) -> dict[str, Any]:
    """Reads the clauses of a role in any order, each at most once; returns the fields of an Attribute."""
    clauses: dict[str, Any] = {}
    while not (reader.sees_symbol(",") or reader.sees_symbol(")") or reader.peek().kind is Kind.END):
        clauses.update([_clause(reader, column, role, clauses)])
    return clauses


def hierarchy_name(reader: Reader) -> str:
    """Reads the name after USING."""
    return reader.named("the name of a hierarchy", "hierarchy")


def role_words(role: Role) -> str:
    """Returns the role as a policy writes it."""
    return next(words for words, other in ROLES.items() if other is role)


def _role(reader: Reader) -> Role:
    """Reads the role after a column. QUASI-IDENTIFIER and QUASI_IDENTIFIER, as in other tools, are accepted."""
    if reader.sees("QUASI") and reader.sees_symbol("-", ahead=1) and keyword_of(reader.peek(2)) == "IDENTIFIER":
        for _ in range(3):
            reader.take()
        return Role.QUASI_IDENTIFIER
    if reader.accept("QUASI_IDENTIFIER"):
        return Role.QUASI_IDENTIFIER
    if reader.sees_symbol(",") or reader.sees_symbol(")"):
        hint = "the role follows each column, as in age QUASI IDENTIFIER, disease SENSITIVE"
        raise reader.expected(either(*ROLES), hint=hint)
    if (meant := _MEANT.get(keyword_of(reader.peek()))) is not None:
        raise reader.expected(either(*ROLES), hint=f"write {role_words(meant)} in full: age {role_words(meant)}")
    return ROLES[reader.choose(tuple(ROLES))]


def _refuse_role_before_column(reader: Reader) -> None:
    """Raises StatementError for SENSITIVE disease in place of disease SENSITIVE; sensitive may also be a column."""
    behind_column = (*ROLES, *_OWNERS)
    for words in sorted(ROLES, key=len, reverse=True):
        token = reader.peek(len(words.split()))
        if not reader.sees(*words.split()):
            continue
        is_list = (token.kind, token.text) == (Kind.SYMBOL, "(")
        is_name = token.kind in (Kind.WORD, Kind.QUOTED) and nearest_phrase(token, behind_column) is None
        if is_list or is_name:
            column = "age" if is_list else shortened(token.text)
            hint = f"the role follows each column: {column} {words}"
            raise reader.refused(f"{words} must follow the column", hint=hint, token=reader.peek())
        return


def _clause(reader: Reader, column: str, role: Role, before: dict[str, Any]) -> tuple[str, Any]:
    token = reader.peek()
    phrase = _clause_phrase(reader, role)
    reader.mark("column", column, phrase.lower())
    field = _FIELDS.get(phrase, phrase.lower().replace(" ", "_"))
    if field == "pseudonym" and field in before and isinstance(before[field], Mask) != (phrase == "MASK"):
        hint = f"keep PSEUDONYM or MASK: {shortened(column)} {role_words(role)} {phrase}"
        raise reader.refused("PSEUDONYM and MASK exclude each other", hint=hint, token=token)
    if field in before or (field == "hierarchy" and "automatic" in before):
        raise reader.refused(f"{phrase} occurs twice", hint=f"keep one {phrase}", token=token)
    if phrase == "USING" and _automatic(reader, column, role):
        return "automatic", True
    return field, _clause_value(reader, phrase)


def _automatic(reader: Reader, column: str, role: Role) -> bool:
    """Reads AUTO after USING; returns whether the word was there. Raises StatementError for a role that AUTO does not
    fit.
    """
    token = reader.peek()
    if not reader.accept("AUTO"):
        return False
    if role is not Role.QUASI_IDENTIFIER:
        hint = f"distances need a hierarchy of yours: CREATE HIERARCHY tree AS ..., then {shortened(column)} USING tree"
        raise reader.refused(f"USING AUTO does not go with {role_words(role)}", hint=hint, token=token)
    return True


def _clause_phrase(reader: Reader, role: Role) -> str:
    allowed = _CLAUSES[role]
    for phrase, roles in _OWNERS.items():
        if role not in roles and reader.sees(*phrase.split()):
            hint = f"{phrase} belongs to {' or '.join(role_words(owner) for owner in roles)}"
            raise reader.refused(f"{phrase} does not go with {role_words(role)}", hint=hint, token=reader.peek())
    return reader.choose(allowed, *SEPARATORS)


def _nodes(reader: Reader) -> tuple[str, ...]:
    """Reads ('HIV', 'hepatitis'), nodes of the hierarchy: values or labels, as texts; a node occurs once."""
    nodes: dict[str, None] = {}

    def item() -> None:
        token = reader.peek()
        node = values.string(reader, "a value or a label of the hierarchy in quotes, as in HIDE ('HIV')")
        if node in nodes:
            raise reader.refused(f"the node {shortened(token.text)} is named twice", hint="name it once", token=token)
        nodes[node] = None

    reader.listed(item)
    return tuple(nodes)


def _clause_value(reader: Reader, phrase: str) -> str | int | Decimal | InPlace | tuple[str, ...]:
    if phrase == "USING":
        return hierarchy_name(reader)
    if phrase == "WEIGHT":
        return Decimal(values.number(reader))
    if phrase == "PSEUDONYM":
        return Pseudonym(key_variable(reader) if reader.accept("KEY") else None)
    if phrase == "MASK":
        name, arguments = values.call(reader, "the name of a mask", "card(first => 6)", "mask")
        return Mask(name, arguments, key_variable(reader) if reader.accept("KEY") else None)
    if phrase == "SHIFT":
        return _shift(reader)
    if phrase == "SAMPLING WEIGHT":
        return True
    if phrase == "HIDE":
        return _nodes(reader)
    return values.integer(reader, f"a level after {phrase}, which is a whole number")


def _shift(reader: Reader) -> Shift:
    """Reads (DAYS => 182) or (WEEKS => 26), and KEY with the name of a variable, if it follows."""
    token = reader.peek()
    width: dict[str, Value] = {}
    reader.listed(lambda: values.named(reader, width, "shift"))
    [(unit, number), *others] = width.items()
    if others or unit not in ("days", "weeks") or isinstance(number, bool) or not isinstance(number, int):
        hint = "write SHIFT (DAYS => 182), or SHIFT (WEEKS => 26), which keeps the day of the week"
        raise reader.refused("SHIFT takes one number, of days or of weeks", hint=hint, token=token)
    variable = key_variable(reader) if reader.accept("KEY") else None
    return Shift(days=number, key_variable=variable) if unit == "days" else Shift(None, number, variable)


def key_variable(reader: Reader) -> str:
    """Reads the name after KEY, the name of an environment variable."""
    token = reader.peek()
    variable = values.string(reader, "the name of an environment variable, as in KEY 'RELEASE_KEY'")
    if not variable:
        raise reader.refused(
            "KEY names no variable", hint="name the environment variable that holds the key", token=token
        )
    return variable


def sensitive_attributes(reader: Reader) -> list[Attribute]:
    """Reads SENSITIVE column [USING hierarchy [MIN LEVEL level | HIDE (node, ...)]], ...; empty if the keyword is
    missing.
    """
    return [Attribute(name, Role.SENSITIVE, **clauses) for name, clauses in _sensitive(reader, _LABELS)]


def sensitive_columns(reader: Reader) -> list[tuple[str, str | None]]:
    """Reads SENSITIVE column [USING hierarchy], ...; returns each column with its hierarchy or None."""
    return [(name, clauses.get("hierarchy")) for name, clauses in _sensitive(reader, ("USING",))]


# The clauses that may follow a sensitive column in a list without roles.
_LABELS = ("USING", "MIN LEVEL", "HIDE")


def _sensitive(reader: Reader, phrases: Sequence[str]) -> list[tuple[str, dict[str, Any]]]:
    """Reads SENSITIVE and its columns, each with its clauses among `phrases`; empty if the keyword is missing."""
    if not reader.accept("SENSITIVE"):
        return []
    if reader.sees_symbol("("):
        hint = "write them without parentheses: SENSITIVE disease, income"
        raise reader.refused("SENSITIVE columns take no parentheses", hint=hint, token=reader.peek())
    columns: dict[str, tuple[str, dict[str, Any]]] = {}
    while True:
        token = reader.peek()
        column = reader.column("column")
        if fold(column) in columns:
            raise reader.refused(
                f"the column {token.text} is named twice",
                hint="name it once; DuckDB's names do not tell upper from lower case",
                token=token,
            )
        clauses: dict[str, Any] = {}
        while any(reader.sees(*phrase.split()) for phrase in phrases):
            clauses.update([_clause(reader, column, Role.SENSITIVE, clauses)])
        columns[fold(column)] = (column, clauses)
        if not reader.accept_symbol(","):
            return list(columns.values())
