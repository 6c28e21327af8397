"""Reads a question - a privacy model, a metric or an attack - from its file under `sql/`.

A file has a header of `-- key: value` lines and one or more statements, each below a line `-- statement: name`. If
there are lines below `-- shared: ...`, each statement begins with them. The search, the guard of a view, a check and a
macro all use the same text. Every file in the folder is a question; no other list of questions exists.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from functools import cache
from importlib.resources import files

from sqlglot import exp

from sqlanon.assets import listing, read
from sqlanon.domain.identifiers import fold, nearest
from sqlanon.errors import InternalError, UserError
from sqlanon.plugins import incomplete, installed, installed_plugin
from sqlanon.sql.build.sql_files import query_tree

# The header of a question's file: lines of `-- key: value`, and their declarations.


_HEADER = re.compile(r"-- ([a-z ]+): (.*)")
_PARAMETER = re.compile(
    r"(?P<name>\w+) (?P<type>[A-Z]+)(?P<domain>.*?)(?: DEFAULT (?P<default>\S+))? -- (?P<meaning>\S.*)"
)
_WITHIN = re.compile(r"(\w+) with (\w+) = (\d+)")
_SELECTOR = re.compile(r"(\w+) = (\w+)( \(default\))?")
NUMERIC = ("BIGINT", "DECIMAL")
# The word that a DECIMAL may take in place of a number.
INFINITE = "infinite"
# The columns of a table that a RELATION names: ranges of shares, one share for each value, or known triples.
RANGES, WEIGHTS, TRIPLES = ("value", "low", "high"), ("value", "weight"), ("value", "l", "k", "m")


# A default of the header that is taken from the policy.
OF_POLICY = "policy"


@dataclass(frozen=True)
class Parameter:
    """A named argument of a question.

    `type` is BIGINT or DECIMAL, with a least and a greatest value; TEXT, with its choices; RELATION or COLUMN, which
    names a table or a column of the user. If there is no `default`, the user has to give the argument. `meaning` is its
    description in the header. A DECIMAL with `infinite` also takes the text 'infinite', as numerator 1 and denominator
    0. A RELATION has the `columns` of its header, or RANGES. If `of_policy` is true, the default is taken from the
       policy.
    """

    name: str
    type: str
    low: Decimal | None = None
    high: Decimal | None = None
    choices: tuple[str, ...] = ()
    default: int | Decimal | str | None = None
    meaning: str = ""
    infinite: bool = False
    columns: tuple[str, ...] = ()
    of_policy: bool = False

    @property
    def placeholders(self) -> tuple[str, ...]:
        """The names that statements use for the parameter, without the dollar sign."""
        if self.type == "DECIMAL":
            return (self.name, f"{self.name}_numerator", f"{self.name}_denominator")
        return (self.name,) if self.type in ("BIGINT", "TEXT") else ()


@dataclass(frozen=True)
class Selector:
    """The argument that chooses one of a model's files, and the value that chooses this file; `default` is used if no
    value is given.
    """

    argument: str
    value: str
    default: bool


class Header:
    """A file's text, split into the header's values and the statements."""

    def __init__(self, name: str, text: str) -> None:
        self._name = name
        self.values: dict[str, list[str]] = {}
        self.statements: dict[str, str] = {}
        lines: dict[str, list[str]] = {}
        shared: list[str] = []
        current: list[str] | None = None
        for line in text.splitlines():
            match = _HEADER.fullmatch(line)
            if match and match[1] == "statement":
                current = lines.setdefault(match[2].strip(), [])
            elif match and match[1] == "shared":
                current = shared
            elif current is not None:
                current.append(line)
            elif match:
                self.values.setdefault(match[1], []).append(match[2].strip())
        self.statements = {statement: "\n".join((*shared, *body)).strip() for statement, body in lines.items()}

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
        """Returns the answer in an optional line of the header."""
        return self.yes(key) if key in self.values else otherwise

    def named(self, key: str) -> str | None:
        """Returns the parameter that a line names, before the reason; None if the header does not have the line."""
        return self.only_value(key).split()[0] if key in self.values else None

    def listed(self, key: str) -> tuple[str, ...]:
        """Returns the words of an optional line, which commas separate."""
        return tuple(word.strip() for text in self.values.get(key, ()) for word in text.split(","))

    def required(self) -> tuple[bool, str]:
        """Returns whether `achieved` has to be at least the required value (otherwise at most), and this value."""
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

    def within(self) -> tuple[str, str, int] | None:
        """Returns the header's `within`: a question that compares with a broader class, the question's parameter, and
        the parameter's value.
        """
        if "within" not in self.values:
            return None
        match = _WITHIN.fullmatch(self.only_value("within"))
        if not match:
            raise InternalError(f"the header of {self._name} has a 'within' other than 'question with parameter = 1'")
        return match[1], match[2], int(match[3])

    def parameter(self, text: str) -> Parameter:
        if match := _PARAMETER.fullmatch(text):
            name, kind, default, meaning = match["name"], match["type"], match["default"], match["meaning"]
            domain = match["domain"].split()
            infinite = kind == "DECIMAL" and domain[2:] == [INFINITE]
            domain = domain[:2] if infinite else domain
            if kind in NUMERIC and len(domain) == 2:
                low, high = map(self._number, domain)
                if default == OF_POLICY:
                    return Parameter(name, kind, low, high, meaning=meaning, of_policy=True)
                number = self._default(kind, default)
                return Parameter(name, kind, low, high, default=number, meaning=meaning, infinite=infinite)
            if kind == "TEXT" and len(domain) == 1:
                return Parameter(name, kind, choices=tuple(domain[0].split("|")), default=default, meaning=meaning)
            columns = (tuple(domain) or RANGES) if kind == "RELATION" else ()
            is_named = (kind == "COLUMN" and not domain) or columns in (RANGES, WEIGHTS, TRIPLES)
            if is_named and default is None:
                return Parameter(name, kind, meaning=meaning, columns=columns)
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


# Names of files of questions, and the error for a file that cannot be read.


def file_names(kind: str) -> tuple[str, ...]:
    """Returns the names of the files under `sql/<kind>/`, without their suffix, in order."""
    return tuple(name.removesuffix(".sql") for name in listing("sql", kind) if name.endswith(".sql"))


def users_name(kind: str, name: str, key: str) -> str:
    """Returns the name that statements use for a file: the value of the header's line `key`, or the file's own name.

    Nothing else in the file is read, so that even a broken file is known by its name.
    """
    try:
        line = re.search(rf"^-- {key}: (.*)$", read("sql", kind, f"{name}.sql"), re.MULTILINE)
    except (OSError, UnicodeError):
        return name
    return line[1].strip() if line else name


@contextmanager
def broken_file(kind: str, name: str) -> Iterator[None]:
    """Raises InternalError, which names the file, for any error inside the block: reading, parsing or checking it."""
    try:
        yield
    except Exception as error:
        problem = error.message if isinstance(error, InternalError) else f"{type(error).__name__}: {error}"
        raise InternalError(
            f"the file sql/{kind}/{name}.sql is broken: {problem}",
            hint="mend or remove it, or reinstall sqlanon; statements that do not need it go on",
        ) from error


_PLACEHOLDER = re.compile(r"\$(\w+)")
_CONSTANT = re.compile(r"\d+(\.\d+)?")
# The relations that describe classes if the policy has related tables.
_OF_RELATED_TABLES = ("equivalence_class", "class_sensitive_value", "sensitive_value")
# Kinds of models that a policy may require: of classes, and of items in lists, for which no lattice is searched.
_OF_CLASSES, _OF_ITEMS = "models", "itemsets"
# The relations that models of items read, and the relations that models of sensitive attributes read.
_OF_SETS = frozenset(("class_itemset", "class_itemset_value"))
_OF_VALUES = frozenset(("class_sensitive_value", "class_itemset_value"))


@dataclass(frozen=True)
class Question:
    """One file under `sql/<kind>/`; its header declares these facts, so that no code looks them up by the question's
    name.

    `required` is the name of the parameter, or the number, with which `achieved` is compared. `achieved` has to be at
    least this value if `at_least`, else at most. `monotone` means that a union of satisfying classes satisfies, and
    `monotone_under_suppression` means that a satisfying class still satisfies if any rows are added. `excess` and
    `excess_maximum` describe in words the number of rows by which a class exceeds the limit, and the divisor of this
    number. `joint` says whether several sensitive attributes can be required together. `least_rows` names the whole
    number of rows below which a class always violates, None if the header names none; `enough_rows` names the number
    from which on a class never violates, if each of its rows is about another respondent. `several_values` says whether
    a respondent may have several values of an attribute: n then counts respondents, and the values' shares add up to 1
    or more if each respondent of a class has a value, as the excess assumes. `overlapping_classes` says whether a
    respondent may be in several classes. `one_row_each` says whether the model is defined only if no respondent has
    several rows. `whole_release` says whether the model judges a class by all classes of one release together, so that
    classes of several releases cannot be checked at once. `most_items` names the largest size of the item sets that a
    model of items bounds. `in_words` is the requirement in plain words, with {required}, {people} and {attribute} in
    them; None if the header has none. `within` names the question whose statements compare a class with a broader class
    instead of with the release, together with one of its parameters and the parameter's value; None if there is no such
    question. `of_weights` says whether the numbers that the model reads are the sampling weights of a policy, and
    `of_sample` whether the model estimates the risk in a population.
    `also_called` has other names of the model in papers.
    """

    name: str
    model: str
    when: Selector | None
    title: str
    paper: str
    parameters: tuple[Parameter, ...]
    required: str
    at_least: bool
    monotone: bool
    monotone_under_suppression: bool
    excess: str
    excess_maximum: str
    joint: bool
    reads: tuple[str, ...]
    statements: Mapping[str, str]
    least_rows: str | None = None
    enough_rows: str | None = None
    several_values: bool = False
    overlapping_classes: bool = False
    one_row_each: bool = False
    whole_release: bool = False
    most_items: str | None = None
    in_words: str | None = None
    within: tuple[str, str, int] | None = None
    of_weights: bool = False
    of_sample: bool = False
    also_called: tuple[str, ...] = ()

    def statement(self, name: str) -> str:
        """Returns the text of one statement. Raises InternalError if the file has no statement of this name."""
        if name not in self.statements:
            raise InternalError(f"the question {self.name} has no statement {name!r}")
        return self.statements[name]

    def parameter(self, name: str) -> Parameter:
        """Returns the parameter of this name, which must exist."""
        return next(parameter for parameter in self.parameters if parameter.name == name)

    def placeholders(self, statement: str) -> set[str]:
        """Returns the names of the arguments in one statement, without the $."""
        return set(_PLACEHOLDER.findall(self.statement(statement)))

    def compared_within(self) -> Question:
        """Returns the question with the statements of the question that compares a class with a broader class.

        The result has `within`.
        """
        assert self.within is not None
        name, parameter, value = self.within
        other = load_question(name)
        statements = {
            statement: re.sub(rf"\${parameter}\b", str(value), text) for statement, text in other.statements.items()
        }
        return replace(
            self,
            reads=other.reads,
            statements=statements,
            monotone=other.monotone,
            monotone_under_suppression=other.monotone_under_suppression,
            excess=other.excess,
            excess_maximum=other.excess_maximum,
            whole_release=other.whole_release,
            in_words=None,
            within=None,
        )

    def query(self, name: str) -> exp.Select:
        """Parses one statement of a file. Raises InternalError, with the file's name, unless it is a SELECT."""
        with broken_file(_OF_ITEMS if self.of_itemsets else _OF_CLASSES, self.name):
            tree = query_tree(self.statement(name))
            assert isinstance(tree, exp.Select), f"its statement {name} is not a SELECT"
        return tree

    @property
    def of_sensitive_values(self) -> bool:
        """Whether the question is about sensitive attributes, and not only about the classes."""
        return not _OF_VALUES.isdisjoint(self.reads)

    @property
    def of_some_columns(self) -> bool:
        """Whether the question can be on some of the quasi-identifiers, as it can if it is only about classes."""
        return not self.of_itemsets and not {"public_class", "superset"} & set(self.reads)

    @property
    def of_one_table(self) -> tuple[str, ...]:
        """The relations that the question reads and that exist only for a single table of respondents."""
        return tuple(name for name in self.reads if name not in _OF_RELATED_TABLES)

    @property
    def of_related_tables(self) -> bool:
        """Whether the question can be about the classes of a policy with related tables."""
        return not self.of_one_table

    @property
    def of_itemsets(self) -> bool:
        """Whether the question is about the sets of items in lists."""
        return not _OF_SETS.isdisjoint(self.reads)


def question_names(kind: str = "models") -> tuple[str, ...]:
    """Returns the names of one kind's questions, which are the names of their files, without questions of other
    packages.
    """
    return file_names(kind)


def model_names(kind: str = "models") -> tuple[str, ...]:
    """Returns the names that users type, sorted, without names from other packages; several questions can share a
    name.
    """
    return tuple(sorted({users_name(kind, name, "model") for name in question_names(kind)}))


def readable_models() -> list[tuple[Question, ...]]:
    """Returns the questions of each model of classes, like `questions_of`, except for models with a broken file."""
    readable = []
    for model in model_names():
        with suppress(InternalError):
            readable.append(questions_of(model))
    return readable


def questions_of(model: str) -> tuple[Question, ...]:
    """Returns the questions of one model, with the default first.

    Raises UserError, with the known models, if there is no such model, and InternalError if one of its files is broken.
    """
    files_by_kind = ((kind, name) for kind in (_OF_CLASSES, _OF_ITEMS) for name in question_names(kind))
    questions = [load_question(name, kind) for kind, name in files_by_kind if users_name(kind, name, "model") == model]
    if not questions and model in installed(_OF_CLASSES):
        questions = [load_question(model)]
    if not questions:
        known = [*model_names(), *model_names(_OF_ITEMS), *installed(_OF_CLASSES)]
        hint = _other_name(model) or nearest(model, known) or f"there are: {', '.join(known)}"
        raise UserError(f"there is no privacy model {model!r}", hint=hint)
    questions.sort(key=lambda question: (question.when is not None and not question.when.default, question.name))
    return tuple(questions)


def _other_name(name: str) -> str | None:
    """Returns a hint with the model that papers call by this name, None if there is none."""
    for questions in readable_models():
        if any(fold(name) in question.also_called for question in questions):
            return f"{name} is another name of {questions[0].model}: write {questions[0].model}(...)"
    return None


def model_of(name: str) -> Question:
    """Returns the question after which a measurement is named; raises the errors of `load_question`."""
    return load_question(name, _OF_ITEMS if name in question_names(_OF_ITEMS) else _OF_CLASSES)


@cache
def load_question(name: str, kind: str = "models") -> Question:
    """Returns the question of the file `name`.

    Raises UserError, with the known names, if there is no such file, and InternalError for a header that lacks a key or
    a statement or cannot be read, or UserError if this file belongs to another package.
    """
    known = question_names(kind)
    if name not in known and name in installed(kind):
        return _installed_question(name, kind)
    if name not in known:
        raise UserError(f"there is no question {name!r}", hint=f"there are: {', '.join(known)}")
    with broken_file(kind, name):
        return parse_question(name, read("sql", kind, f"{name}.sql"))


def _installed_question(name: str, kind: str) -> Question:
    """Returns the question of another package. Its entry point is the package that contains `<name>.sql`."""
    try:
        text = files(installed_plugin(kind, name)).joinpath(f"{name}.sql").read_text(encoding="utf-8")
        question = parse_question(name, text)
        for wanted in ("achieved", "violations"):
            question.query(wanted)
    except (InternalError, OSError, TypeError, UnicodeError, ValueError) as error:
        raise incomplete(kind, name, f"cannot be read: {error}") from None
    if question.model != name or question.when is not None:
        raise incomplete(kind, name, f"is a question of the model {question.model}, and its file may have one only")
    return question


def parse_question(name: str, text: str) -> Question:
    """Returns the question that a file's text declares; raises InternalError like `load_question`."""
    header = Header(name, text)
    at_least, required = header.required()
    question = Question(
        name=name,
        model=header.only_value("model"),
        when=header.selector(),
        title=header.only_value("title"),
        paper=header.only_value("paper"),
        parameters=tuple(header.parameter(text) for text in header.values.get("parameter", ())),
        required=required,
        at_least=at_least,
        monotone=header.yes("monotone"),
        monotone_under_suppression=header.yes("monotone under suppression"),
        excess=header.only_value("excess"),
        excess_maximum=header.only_value("excess maximum"),
        joint=header.says_yes("joint", otherwise=True),
        reads=tuple(part.strip() for part in header.only_value("reads").split(",")),
        statements=header.statements,
        least_rows=header.named("least rows"),
        enough_rows=header.named("enough rows"),
        several_values=header.says_yes("several values"),
        overlapping_classes=header.says_yes("overlapping classes"),
        one_row_each=header.says_yes("one row each"),
        whole_release=header.says_yes("whole release"),
        most_items=header.named("most items"),
        in_words=header.only_value("in words") if "in words" in header.values else None,
        within=header.within(),
        of_weights=header.says_yes("weights"),
        of_sample=header.says_yes("sample"),
        also_called=header.listed("also called"),
    )
    _require_consistent(question)
    return question


def _require_consistent(question: Question) -> None:
    numeric = [parameter.name for parameter in question.parameters if parameter.type in NUMERIC]
    if question.required not in numeric and not _CONSTANT.fullmatch(question.required):
        raise InternalError(f"{question.name} requires {question.required}, which is none of its numeric parameters")
    whole = [parameter.name for parameter in question.parameters if parameter.type == "BIGINT"]
    for rows in (question.least_rows, question.enough_rows, question.most_items):
        if rows is not None and rows not in whole:
            raise InternalError(f"{question.name} counts rows by {rows}, which is none of its BIGINT parameters")
    if question.of_itemsets and question.most_items is None:
        raise InternalError(f"the header of {question.name} needs a line '-- most items: ...'")
    fillable = {name for parameter in question.parameters for name in parameter.placeholders}
    for wanted in ("achieved", "violations"):
        unknown = question.placeholders(wanted) - fillable
        if unknown:
            raise InternalError(f"{wanted} of {question.name} asks for ${min(unknown)}, which no parameter gives")
