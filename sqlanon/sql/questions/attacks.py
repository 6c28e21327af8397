"""Attacks by their names: which files under `sql/attacks/` each is made of, and its arguments.

An attack is one file or several. Those of its files are run that understand all of the arguments and lack none, so that
`similarity(level => 1)` and `similarity(within => 5)` are two.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from sqlanon.domain.identifiers import fold, nearest
from sqlanon.domain.values import Value, written
from sqlanon.errors import PolicyError, UserError
from sqlanon.sql.questions._files import users_name
from sqlanon.sql.questions.statistics import (
    BoundStatistic,
    Statistic,
    bind_statistic,
    load_statistic,
    named_arguments,
    readable_statistics,
    statistic_names,
)

_KIND = "attacks"
# What a release says of single classes.
_OF_CLASSES = {"class_sensitive_value", "sensitive_value", "sensitive_ancestor", "sensitive_number"}


def attack_names() -> tuple[str, ...]:
    """The names that users type."""
    return tuple(dict.fromkeys(users_name(_KIND, name, "attack") for name in statistic_names(_KIND)))


def attacks_on_classes() -> tuple[Statistic, ...]:
    """The files of the attacks on single classes, but for broken ones, which ATTACK names.

    They need nothing but the values and the classes that a release shows; those that need more, such as a table of
    known people, another release or the order of rows, are not among them.
    """
    files = readable_statistics(_KIND)
    more = {file.model for file in files if not set(file.reads) <= _OF_CLASSES}
    return tuple(file for file in files if file.model not in more)


def as_tried(file: Statistic, attribute: str) -> BoundStatistic:
    """A file with the arguments that an attack has where none are given; one without a default is left out."""
    defaults = tuple((p.name, p.default) for p in file.parameters if p.default is not None)
    return BoundStatistic(file, defaults, (attribute,))


def attack_parts(name: str, arguments: Sequence[tuple[str, Value]]) -> tuple[tuple[Statistic, ...], dict[str, Value]]:
    """The files of an attack that its arguments mean, and the arguments with their names.

    An argument without a name is the first parameter of the attack's first file. Raises UserError for an unknown
    attack, PolicyError for arguments that no file understands, or that lack what each needs, and InternalError where
    one of its files is broken.
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
            f"{name} takes other arguments than ({', '.join(f'{a} => {written(v)}' for a, v in values.items())})",
            hint=f"write {shapes(files)}",
            part=("attack", name),
        )
    return meant, values


def _files(name: str) -> list[Statistic]:
    """The files of an attack. Raises UserError for an unknown attack."""
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
    """How each attack is written, with all of its arguments."""
    files = readable_statistics(_KIND)
    return tuple(
        shapes([file for file in files if file.model == name]) for name in dict.fromkeys(file.model for file in files)
    )


def shapes(files: Sequence[Statistic]) -> str:
    """How an attack is written: each way once."""
    each = (f"{file.model}({', '.join(f'{p.name} => ...' for p in file.parameters)})" for file in files)
    return " or ".join(dict.fromkeys(each))


def bind_attack(file: Statistic, values: Mapping[str, Value], attributes: tuple[str, ...]) -> BoundStatistic:
    """One file of an attack with its arguments; PolicyError for one outside its bounds, which says where it stands."""
    with _of_attack():
        return bind_statistic(file, values, attributes)


@contextmanager
def _of_attack() -> Iterator[None]:
    try:
        yield
    except PolicyError as error:
        error.part = ("attack", *error.part[1:])
        raise
