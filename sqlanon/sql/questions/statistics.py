"""Statistics of classes: figures and attacks, each a file under `sql/` with a header like those of models.

A statistic is computed from the normal relations of any release. Nothing is required of it, so it can have more than
one number; each column of its statement is a figure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache

from sqlglot import exp

from sqlanon.assets import read
from sqlanon.domain.identifiers import fold, nearest
from sqlanon.domain.values import UNNAMED, Value, written
from sqlanon.errors import InternalError, PolicyError, UserError
from sqlanon.sql.build.sql_files import query_tree, reading
from sqlanon.sql.questions.arguments import Argument, bound_arguments
from sqlanon.sql.questions.ask import BoundRequirement, literals_of
from sqlanon.sql.questions.load import Header, Parameter, Selector, broken_file, file_names, users_name


@dataclass(frozen=True)
class Statistic:
    """One file under `sql/<kind>/`.

    `model` is the name that users type, and `text` the statement, with a parameter as $name. `falls` says whether each
    of its figures falls or stays the same when classes are merged. `reads` are normal relations. `of_respondents` says
    whether the statistic counts each row as another respondent. `of_buckets` says whether its classes may be buckets,
    whose rows differ in their quasi-identifiers and share their sensitive values. Several files may be parts of one
    attack, whose name is the `model` of each. `bounds` has the bounds of an attack's highest confidence by satisfied
    requirements: a question's name, and an expression of the arguments of both. In the same form, `prevents` has
    conditions under which a satisfied requirement keeps an adversary from certainty, although not from any lower
    confidence. `certain` is the confidence of an adversary without doubt, None if there is no such confidence; a bound
    of at least this confidence promises nothing. `undefined` is the reason why figures of an attack on targets are
    NULL. `latest` is a statement that tells, from the latest classes of the respondents, whether the last release of a
    series shows that all releases before it satisfy; it is empty if these classes do not show it.
    """

    model: str
    name: str
    title: str
    paper: str
    parameters: tuple[Parameter, ...]
    falls: bool
    reads: tuple[str, ...]
    text: str
    of_respondents: bool = False
    of_buckets: bool = True
    bounds: tuple[tuple[str, str], ...] = ()
    prevents: tuple[tuple[str, str], ...] = ()
    certain: float | None = 1.0
    undefined: str | None = None
    latest: str = ""

    @property
    def when(self) -> Selector | None:
        """Returns None, because a statistic has only one file, so that no argument has to choose among several."""
        return None

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the statistic's figures, which are the columns of its statement."""
        return tuple(query_tree(self.text).named_selects)

    @property
    def of_sensitive_values(self) -> bool:
        """Whether the statistic is about sensitive attributes, and not only about the classes."""
        return "class_sensitive_value" in self.reads

    def least_bound(self, values: Sequence[float | None]) -> float | None:
        """Returns the least of the values of `bounds` that is below certainty; None if no value is."""
        certain = self.certain
        return min((float(v) for v in values if v is not None and (certain is None or v < certain)), default=None)


@dataclass(frozen=True)
class BoundStatistic:
    """A statistic with every parameter inside its bounds; `attributes` has the sensitive column, if the statistic is
    about one.

    For queries it has the interface of a requirement, `sql.classes.rows.SqlRequirement`.
    """

    statistic: Statistic
    arguments: tuple[tuple[str, Argument], ...]
    attributes: tuple[str, ...] = ()

    @property
    def question_name(self) -> str:
        return self.statistic.name

    @property
    def reads(self) -> tuple[str, ...]:
        return self.statistic.reads

    @property
    def on(self) -> tuple[str, ...]:
        """Returns an empty tuple, because classes are by all quasi-identifiers."""
        return ()

    @property
    def within(self) -> None:
        """Returns None, because attacks and figures do not compare classes with broader classes."""
        return None

    @property
    def of_whole_release(self) -> bool:
        """Returns False, because a statistic does not judge classes."""
        return False

    def satisfied_by(self, rows: int) -> bool:
        """Returns False, because no number of rows satisfies a statistic."""
        return False

    def statement(self, name: str, relations: Mapping[str, str]) -> exp.Select:
        """Returns the statement, by any name, with its parameters filled in; `relations` replaces relations by name."""
        return self._reading(self.statistic.text, relations)

    def latest(self, relations: Mapping[str, str | exp.Query]) -> exp.Select:
        """Returns the statement about the last release of a series."""
        return self._reading(self.statistic.latest, relations)

    def _reading(self, text: str, relations: Mapping[str, str | exp.Query]) -> exp.Select:
        tree = query_tree(text)
        assert isinstance(tree, exp.Select)
        _fill(tree, self.arguments)
        return reading(tree, {known: table for known, table in relations.items() if known in self.reads})

    def bounds_by(self, requirement: BoundRequirement) -> list[exp.Expr]:
        """Returns the bounds of the highest confidence by a satisfied requirement, as expressions without columns.

        The list is empty if the header does not name the requirement's question, or if the requirement is about other
        attributes or about several jointly.
        """
        return self._of_requirement(self.statistic.bounds, requirement)

    def prevented_by(self, requirement: BoundRequirement) -> list[exp.Expr]:
        """Returns conditions without columns under which a satisfied requirement keeps an adversary from certainty."""
        return self._of_requirement(self.statistic.prevents, requirement)

    def _of_requirement(self, lines: Sequence[tuple[str, str]], requirement: BoundRequirement) -> list[exp.Expr]:
        if requirement.attributes not in ((), self.attributes):
            return []
        expressions = [text for question, text in lines if question == requirement.question_name]
        trees = [query_tree(f"SELECT {text}") for text in expressions]
        for tree in trees:
            _fill(tree, (*self.arguments, *requirement.arguments))
        return [tree.selects[0] for tree in trees]


def _fill(tree: exp.Expr, arguments: Sequence[tuple[str, Argument]]) -> None:
    values = literals_of(arguments)
    for parameter in list(tree.find_all(exp.Placeholder)):
        parameter.replace(values[parameter.name].copy())


def statistic_names(kind: str) -> tuple[str, ...]:
    """Returns the names of the statistics of a kind, which is the folder under `sql/` that has their files."""
    return file_names(kind)


def readable_statistics(kind: str) -> list[Statistic]:
    """Returns the statistics of a kind, in the order of their files, without broken files."""
    readable = []
    for name in statistic_names(kind):
        with suppress(InternalError):
            readable.append(load_statistic(kind, name))
    return readable


@cache
def load_statistic(kind: str, name: str) -> Statistic:
    """Returns the statistic of a file; raises InternalError, which names the file, if it cannot be read."""
    with broken_file(kind, name):
        return parse_statistic(name, read("sql", kind, f"{name}.sql"))


def parse_statistic(name: str, text: str) -> Statistic:
    """Returns the statistic that a file's text declares; raises InternalError for an incomplete or unclear header."""
    header = Header(name, text)
    is_attack = "attack" in header.values
    statistic = Statistic(
        model=header.only_value("attack") if is_attack else name,
        name=name,
        title=header.only_value("title"),
        paper=header.only_value("paper"),
        parameters=tuple(header.parameter(line) for line in header.values.get("parameter", ())),
        falls=header.yes("falls"),
        reads=tuple(part.strip() for part in header.only_value("reads").split(",")),
        text=header.statements.get("classes" if is_attack else "figures", ""),
        of_respondents="respondents" in header.values and header.yes("respondents"),
        of_buckets=header.says_yes("buckets", otherwise=True),
        bounds=tuple(_bound(line) for line in header.values.get("bound", ())),
        prevents=tuple(_bound(line) for line in header.values.get("prevents", ())),
        certain=None if header.named("certain") == "never" else 1.0,
        undefined=header.only_value("undefined") if "undefined" in header.values else None,
        latest=header.statements.get("latest", ""),
    )
    _require_fillable(statistic)
    return statistic


def _require_fillable(statistic: Statistic) -> None:
    """Raises InternalError unless the statements are SELECTs and get all values that they need from parameters."""
    name = statistic.name
    trees = [query_tree(text) for text in (statistic.text, statistic.latest) if text]
    if not statistic.text or not all(isinstance(tree, exp.Select) for tree in trees):
        raise InternalError(f"the statistic {name} has no statement 'figures', or 'classes', that is a SELECT")
    fillable = {placeholder for parameter in statistic.parameters for placeholder in parameter.placeholders}
    unknown = {part.name for tree in trees for part in tree.find_all(exp.Placeholder)} - fillable
    if unknown:
        raise InternalError(f"the statistic {name} asks for ${min(unknown)}, which no parameter gives")


def _bound(line: str) -> tuple[str, str]:
    """Returns the question of a line `question expression -- why`, and its expression."""
    question, _, expression = line.partition(" -- ")[0].partition(" ")
    return question, expression.strip()


def named_arguments(statistic: Statistic, arguments: Sequence[tuple[str, Value]]) -> dict[str, Value]:
    """Returns the arguments by folded name; an argument without a name belongs to the first parameter, or is "" if
    there is no parameter.
    """
    first = statistic.parameters[0].name if statistic.parameters else ""
    return {first if name == UNNAMED else fold(name): value for name, value in arguments}


def bind_statistic(
    statistic: Statistic, arguments: Mapping[str, Value], attributes: tuple[str, ...] = ()
) -> BoundStatistic:
    """Checks the arguments against the header; raises PolicyError for an argument that is missing, unknown or outside
    its bounds.
    """
    named = {fold(name): value for name, value in arguments.items()}
    return BoundStatistic(statistic, bound_arguments(statistic, named), attributes)


# Attacks by their names: their files under `sql/attacks/`, and their arguments.
#
# An attack is one file or several. The files that take all of the arguments and lack none are run, so
# `similarity(level => 1)` and `similarity(within => 5)` run different files.


_KIND = "attacks"
# Relations about single classes of a release.
_OF_CLASSES = {"class_sensitive_value", "sensitive_value", "sensitive_ancestor", "sensitive_number"}


def attack_names() -> tuple[str, ...]:
    """Returns the names of attacks that users type."""
    return tuple(dict.fromkeys(users_name(_KIND, name, "attack") for name in statistic_names(_KIND)))


def attacks_on_classes() -> tuple[Statistic, ...]:
    """Returns the files of the attacks on single classes, without broken files, which ATTACK reports.

    They need only the values and the classes that a release shows. Attacks that need more, such as a table of known
    people, another release or the order of rows, are left out.
    """
    files = readable_statistics(_KIND)
    more = {file.model for file in files if not set(file.reads) <= _OF_CLASSES}
    return tuple(file for file in files if file.model not in more)


def as_tried(file: Statistic, attribute: str) -> BoundStatistic:
    """Binds a file to its default arguments; arguments without a default are left out."""
    defaults = tuple((p.name, p.default) for p in file.parameters if p.default is not None)
    return BoundStatistic(file, defaults, (attribute,))


def attack_parts(name: str, arguments: Sequence[tuple[str, Value]]) -> tuple[tuple[Statistic, ...], dict[str, Value]]:
    """Returns the files that an attack's arguments choose, and the arguments with their names.

    An argument without a name belongs to the first parameter of the attack's first file. Raises UserError for an
    unknown attack, PolicyError for arguments that no file takes or without which no file is complete, and InternalError
    if one of the files is broken.
    """
    files = _files(name)
    values = named_arguments(files[0], arguments)
    known_names = dict.fromkeys(parameter.name for file in files for parameter in file.parameters)
    for argument in values:
        if argument not in known_names:
            raise PolicyError(
                f"{name} has no argument {argument!r}",
                hint=nearest(argument, list(known_names)) or f"write {shapes(files)}",
                part=("attack", name, argument),
            )
    meant = tuple(file for file in files if _takes(file, values))
    if not meant:
        raise PolicyError(
            f"{name} does not take these arguments together: "
            f"({', '.join(f'{a} => {written(v)}' for a, v in values.items())})",
            hint=f"write {shapes(files)}",
            part=("attack", name),
        )
    return meant, values


def _files(name: str) -> list[Statistic]:
    """Returns the files of an attack. Raises UserError for an unknown attack."""
    named = [file for file in statistic_names(_KIND) if users_name(_KIND, file, "attack") == fold(name)]
    if not named:
        known = attack_names()
        raise UserError(
            f"there is no attack {name!r}",
            hint=nearest(name, known) or f"there are: {', '.join(known)}",
            part=("attack", name),
        )
    return [load_statistic(_KIND, file) for file in named]


def _takes(file: Statistic, values: Mapping[str, Value]) -> bool:
    names = {parameter.name for parameter in file.parameters}
    return names.issuperset(values) and all(p.name in values for p in file.parameters if p.default is None)


def all_shapes() -> tuple[str, ...]:
    """Lists the form of each attack with all its arguments."""
    files = readable_statistics(_KIND)
    return tuple(
        shapes([file for file in files if file.model == name]) for name in dict.fromkeys(file.model for file in files)
    )


def shapes(files: Sequence[Statistic]) -> str:
    """Writes the forms of an attack, each once."""
    each = (f"{file.model}({', '.join(f'{p.name} => ...' for p in file.parameters)})" for file in files)
    return " or ".join(dict.fromkeys(each))


def bind_attack(file: Statistic, values: Mapping[str, Value], attributes: tuple[str, ...]) -> BoundStatistic:
    """Binds the statistic of one SQL file of an attack to the attack's arguments.

    Raises PolicyError, with the argument's position, for an argument outside its bounds.
    """
    with _of_attack():
        return bind_statistic(file, values, attributes)


@contextmanager
def _of_attack() -> Iterator[None]:
    try:
        yield
    except PolicyError as error:
        error.part = ("attack", *error.part[1:])
        raise
