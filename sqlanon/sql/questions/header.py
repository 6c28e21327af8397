"""The header of a question's file: lines of `-- key: value`, and what they declare."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from sqlanon.errors import InternalError

_HEADER = re.compile(r"-- ([a-z ]+): (.*)")
_PARAMETER = re.compile(
    r"(?P<name>\w+) (?P<type>[A-Z]+)(?P<domain>.*?)(?: DEFAULT (?P<default>\S+))? -- (?P<meaning>\S.*)"
)
_SELECTOR = re.compile(r"(\w+) = (\w+)( \(default\))?")
NUMERIC = ("BIGINT", "DECIMAL")


@dataclass(frozen=True)
class Parameter:
    """A named argument of a question.

    `type` is BIGINT or DECIMAL, with a least and a greatest value; TEXT, with its
    choices; RELATION or COLUMN, which name something of the user's. Without a
    `default` the user has to give it. `meaning` is what the header says of it.
    """

    name: str
    type: str
    low: Decimal | None = None
    high: Decimal | None = None
    choices: tuple[str, ...] = ()
    default: int | Decimal | str | None = None
    meaning: str = ""

    @property
    def placeholders(self) -> tuple[str, ...]:
        """The names by which a statement refers to it, without their dollar sign."""
        if self.type == "DECIMAL":
            return (self.name, f"{self.name}_numerator", f"{self.name}_denominator")
        return (self.name,) if self.type in ("BIGINT", "TEXT") else ()


@dataclass(frozen=True)
class Selector:
    """The argument, and its value, by which one file among those of a model is meant; `default` if none is given."""

    argument: str
    value: str
    default: bool


class Header:
    """A file's text, cut into its header's values and its statements."""

    def __init__(self, name: str, text: str) -> None:
        self._name = name
        self.values: dict[str, list[str]] = {}
        self.statements: dict[str, str] = {}
        lines: dict[str, list[str]] = {}
        current: list[str] | None = None
        for line in text.splitlines():
            match = _HEADER.fullmatch(line)
            if match and match[1] == "statement":
                current = lines.setdefault(match[2].strip(), [])
            elif current is not None:
                current.append(line)
            elif match:
                self.values.setdefault(match[1], []).append(match[2].strip())
        self.statements = {statement: "\n".join(body).strip() for statement, body in lines.items()}

    def only_value(self, key: str) -> str:
        values = self.values.get(key, [])
        if len(values) != 1 or not values[0]:
            raise InternalError(f"the header of {self._name} needs exactly one line '-- {key}: ...'")
        return values[0]

    def yes(self, key: str) -> bool:
        word = self.only_value(key).split()[0]
        if word not in ("yes", "no"):
            raise InternalError(f"the header of {self._name} is to say yes or no after '{key}', not {word}")
        return word == "yes"

    def says_yes(self, key: str, *, otherwise: bool = False) -> bool:
        """What a line says that may be left out."""
        return self.yes(key) if key in self.values else otherwise

    def named(self, key: str) -> str | None:
        """The parameter that a line names, before the reason why; None without the line."""
        return self.only_value(key).split()[0] if key in self.values else None

    def required(self) -> tuple[bool, str]:
        """Whether `achieved` has to be at least what is required, or else at most; and what that is."""
        comparison, _, value = self.only_value("required").rpartition(" ")
        if comparison not in ("at least", "at most"):
            raise InternalError(f"the header of {self._name} is to say 'at least' or 'at most' after 'required'")
        return comparison == "at least", value

    def selector(self) -> Selector | None:
        if "when" not in self.values:
            return None
        match = _SELECTOR.fullmatch(self.only_value("when"))
        if not match:
            raise InternalError(f"the header of {self._name} has a 'when' other than 'argument = value'")
        return Selector(match[1], match[2], bool(match[3]))

    def parameter(self, text: str) -> Parameter:
        if match := _PARAMETER.fullmatch(text):
            name, kind, default, meaning = match["name"], match["type"], match["default"], match["meaning"]
            domain = match["domain"].split()
            if kind in NUMERIC and len(domain) == 2:
                low, high = map(self._number, domain)
                return Parameter(name, kind, low, high, default=self._default(kind, default), meaning=meaning)
            if kind == "TEXT" and len(domain) == 1:
                return Parameter(name, kind, choices=tuple(domain[0].split("|")), default=default, meaning=meaning)
            if kind in ("RELATION", "COLUMN") and not domain and default is None:
                return Parameter(name, kind, meaning=meaning)
        raise InternalError(f"the header of {self._name} has a parameter without name, type, domain or text: {text}")

    def _default(self, kind: str, text: str | None) -> int | Decimal | None:
        if not text:
            return None
        number = self._number(text)
        return int(number) if kind == "BIGINT" else number

    def _number(self, text: str) -> Decimal:
        try:
            return Decimal(text)
        except InvalidOperation:
            raise InternalError(f"the header of {self._name} has {text} where a number is due") from None
