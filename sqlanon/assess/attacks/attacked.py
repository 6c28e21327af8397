"""Runs the attacks under `sql/attacks/` on rows in classes: the knowledge that an adversary gains.

The answer for each sensitive attribute has the numbers of attacked targets and of successes, the adversary's
confidence, the bound that a satisfied requirement promises, and the worst classes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlglot import exp

from sqlanon.assess.attacks.known_people import KnownColumns, public_class_of
from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.identifiers import fold, nearest
from sqlanon.domain.numbers import per_cent
from sqlanon.domain.policy import Attribute, Policy, Role
from sqlanon.domain.release import Measurement
from sqlanon.domain.requests import AttackRequest
from sqlanon.domain.summary import guessed_value
from sqlanon.domain.values import QualifiedName, Source
from sqlanon.engines.base import Column, Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import PolicyError
from sqlanon.release.existing.statistics import statistic_queries
from sqlanon.sources.bind_policy import bind, hierarchies_of
from sqlanon.sources.source import BoundSource, has_rows_of
from sqlanon.sql.build.queries import select
from sqlanon.sql.build.sql_files import query_file, reading
from sqlanon.sql.cells.labels import stored_labels
from sqlanon.sql.cells.taxonomy import Taxonomy
from sqlanon.sql.classes.normal_relations import Background
from sqlanon.sql.classes.rows import Rows, RowsOfRequirements, SqlRequirement
from sqlanon.sql.questions.ask import BoundRequirement
from sqlanon.sql.questions.statistics import (
    BoundStatistic,
    Statistic,
    as_tried,
    attack_parts,
    attacks_on_classes,
    bind_attack,
    shapes,
)

# The relations made from the source that attacks read besides the normal relations.
_OF_SOURCE = ("believed_row", "composed_respondent", "dealt_row", "item_rule", "ordered_class", "ranked_candidate")

# A guess that is right more often than not.
_LIKELY = 0.5


@dataclass(frozen=True)
class AttackedClass:
    """A class by its published labels, its number of targets, and the adversary's confidence about them."""

    name: str
    targets: int
    confidence: float | None


@dataclass(frozen=True)
class AttackAnswer:
    """The answer of an attack for one sensitive attribute; `worst` are the classes with the highest confidence.

    `undefined` is the reason why there are targets but no number of successes, or no confidence. `threshold` is the
    confidence that counts as a success, None for an attack without a threshold. `missing` is the share of NULL among
    the surest guesses, weighted by rows, if it was counted.
    """

    attack: str
    attribute: str | None
    targets: int
    succeeded: int | None
    highest: float | None
    mean: float | None
    bound: float | None
    worst: tuple[AttackedClass, ...]
    undefined: str | None = None
    threshold: float | None = None
    missing: float = 0

    @property
    def guessed(self) -> str:
        """Returns the attribute as the object of the verb "guesses" in a sentence, with a remark if NULL is the surest
        guess.
        """
        return guessed_value(str(self.attribute), self.missing)

    @property
    def row(self) -> tuple[Any, ...]:
        """Returns the row of ATTACK's answer."""
        named = "; ".join(attacked.name for attacked in self.worst)
        return *self.figures, named or (self.undefined and f"not defined: {self.undefined}")

    @property
    def remarks(self) -> tuple[str, ...]:
        """Returns remarks on undefined figures with their reasons, and on a high confidence without a success."""
        named = f"{self.attack} of {self.attribute}"
        if self.undefined:
            what = "its confidence is" if self.highest is None else "how often it succeeds is"
            return (f"{named}: {what} not defined: {self.undefined}",)
        if self.threshold is None or self.succeeded != 0 or self.highest is None or self.highest < _LIKELY:
            return ()
        least = f"only a confidence of {per_cent(self.threshold)} counts as a success"
        return (f"{named}: {least}, and none is reached, but the surest guess is right with {per_cent(self.highest)}",)

    @property
    def figures(self) -> tuple[Any, ...]:
        """Returns the columns of `row` except the last."""
        return self.attack, self.attribute, self.targets, self.succeeded, self.highest, self.mean, self.bound


@dataclass(frozen=True)
class Target:
    """The target of an attack: rows in classes.

    `columns` are the target's columns, and `sensitive` has the sensitive columns, each with the hierarchy that the
    policy names. `rows` returns the rows for statistics, and `known` the published columns by which an adversary knows
    people. `requirements` are the satisfied requirements, and `against` is the public table that they may refer to.
    `made` has functions that make further tables for attacks, by table name, for a release whose source is available.
    """

    called: str
    columns: tuple[Column, ...]
    sensitive: Mapping[str, str | None]
    rows: Callable[[Sequence[SqlRequirement]], list[RowsOfRequirements]]
    known: Callable[[], KnownColumns]
    requirements: tuple[BoundRequirement, ...] = field(default=())
    against: Source | None = None
    made: Mapping[str, Callable[[BoundStatistic, TempTables], str]] = field(default_factory=dict)


def attacked(engine: Engine, target: Target, request: AttackRequest, temp: TempTables) -> list[AttackAnswer]:
    """Runs an attack; returns an answer for each sensitive attribute and part of the attack.

    Raises UserError for an unknown attack, and PolicyError for an invalid argument, for an attribute that is not
    sensitive, and if the attack needs values or a hierarchy that the target lacks.
    """
    files, values = attack_parts(request.attack, request.arguments)
    attributes = _attributes(target, request)
    statistics: list[BoundStatistic] = []
    for file in files:
        subjects = [(name,) for name in attributes] if file.of_sensitive_values else [()]
        statistics += [bind_attack(file, values, subject) for subject in subjects]
    if not statistics:
        raise PolicyError(
            f"{request.attack} is about sensitive values, and {target.called} has no sensitive attribute",
            hint="name one: ATTACK table (age, zip) SENSITIVE disease WITH ...",
            part=("attack", request.attack),
        )
    using = {name: attributes[name] or target.sensitive[name] for name in attributes}
    background = background_of(engine, target.called, target.columns, statistics, using)
    answers: dict[int, AttackAnswer] = {}
    for part in target.rows(statistics):
        of_part = [statistics[index] for index in part.indexes]
        if any("public_class" in statistic.reads for statistic in of_part):
            background = replace(background, public_class=_public_class(engine, target, part.rows, statistics, temp))
        made = _made(target, of_part, temp)
        queries = statistic_queries(engine, of_part, part.rows, background, temp, made)
        for index, query in zip(part.indexes, queries, strict=True):
            answers[index] = _answered(engine, target, statistics[index], query, temp)
    return [answers[index] for index in sorted(answers)]


def _made(target: Target, statistics: Sequence[BoundStatistic], temp: TempTables) -> list[dict[str, str]]:
    """Makes, for each statistic, the tables that it reads besides the normal relations; an attack's parts share
    them.
    """
    made: list[dict[str, str]] = []
    known: dict[tuple[Any, ...], str] = {}
    for statistic in statistics:
        names = [name for name in statistic.reads if name in _OF_SOURCE]
        if not target.made.keys() >= {*names}:
            raise PolicyError(
                f"{statistic.statistic.model} needs the source, and {target.called} does not say what it was made of",
                hint="attack the release itself, in the database that it was made in",
                part=("attack", statistic.statistic.model),
            )
        key = (statistic.attributes, statistic.arguments)
        for name in names:
            if (name, key) not in known:
                known[name, key] = target.made[name](statistic, temp)
        made.append({name: known[name, key] for name in names})
    return made


def _public_class(
    engine: Engine, target: Target, rows: Rows, statistics: Sequence[BoundStatistic], temp: TempTables
) -> exp.Query:
    """SELECT of class_id, n: the people in each class of the public table that an argument of the attack names."""
    against = dict(statistics[0].arguments)["against"]
    assert isinstance(against, QualifiedName)
    return public_class_of(engine, target.called, rows, target.known(), against, temp)


def _attributes(target: Target, request: AttackRequest) -> dict[str, str | None]:
    """Returns the attacked sensitive attributes, each with the hierarchy that the statement names for it, or None."""
    using = {fold(name): hierarchy for name, hierarchy in request.hierarchies}
    known = {fold(name): name for name in target.sensitive}
    for name in request.sensitive:
        if fold(name) not in known:
            raise PolicyError(
                f"{target.called}: {name} is no sensitive attribute",
                hint=nearest(name, list(known.values())) or f"these are: {', '.join(known.values()) or 'none'}",
                part=("column", name),
            )
    named = [known[fold(name)] for name in request.sensitive] or list(known.values())
    return {name: using.get(fold(name)) for name in named}


def _answered(
    engine: Engine, target: Target, statistic: BoundStatistic, query: exp.Select, temp: TempTables
) -> AttackAnswer:
    """Returns the answer computed from a query with a row for each class."""
    tables = {"attacked_class": temp.table("attacked_class", query)}
    ((targets, succeeded, highest, mean),) = engine.rows(reading(query_file("statements", "attack_summary"), tables))
    worst = engine.rows(reading(query_file("statements", "attack_worst"), tables))
    threshold: Any = dict(statistic.arguments).get("confidence")
    is_defined = not targets or (succeeded is not None and highest is not None)
    return AttackAnswer(
        attack=statistic.question_name,
        attribute=", ".join(statistic.attributes) or None,
        targets=targets,
        succeeded=succeeded,
        highest=highest,
        mean=mean,
        bound=_bound(engine, target, statistic),
        worst=tuple(
            AttackedClass(class_text(class_id), round(n), confidence)
            for class_id, n, confidence in worst
            if highest is not None
        ),
        undefined=None if is_defined else statistic.statistic.undefined,
        threshold=None if threshold is None else float(threshold),
    )


def _bound(engine: Engine, target: Target, statistic: BoundStatistic) -> float | None:
    """Returns the least upper bound on the highest confidence that the satisfied requirements promise; None if none of
    them gives a bound.
    """
    named = [value for value in dict(statistic.arguments).values() if isinstance(value, QualifiedName)]
    promises: list[exp.Expr] = []
    for requirement in target.requirements:
        # A promise about one public table says nothing about another.
        if "public_class" not in requirement.reads or (target.against and [target.against.name] == named):
            promises += statistic.bounds_by(requirement)
    if not promises:
        return None
    return statistic.statistic.least_bound(engine.rows(select(*promises))[0])


def class_text(class_id: object) -> str:
    """Returns the name of a class in a release: its columns with their labels, or the number of a bucket."""
    if isinstance(class_id, str):
        return class_id
    if isinstance(class_id, dict):
        return ", ".join(f"{name} {'NULL' if value is None else value}" for name, value in class_id.items())
    return f"bucket {class_id}"


_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE", "DECIMAL")


def background_of(
    engine: Engine,
    called: str,
    columns: Sequence[Column],
    statistics: Sequence[BoundStatistic],
    using: Mapping[str, str | None],
) -> Background:
    """Returns the relations that statistics about sensitive attributes read besides the rows of a table with these
    columns.

    `using` has the current hierarchy of each attribute, because any adversary knows which values are similar. Raises
    PolicyError for an attribute without a needed hierarchy, for a level that it lacks, and for values that are not
    numbers if a range of numbers is needed.
    """
    taxonomies: dict[str, Taxonomy] = {}
    for statistic in statistics:
        for name in statistic.attributes:
            if "sensitive_ancestor" in statistic.reads:
                taxonomies[name] = _taxonomy(engine, called, columns, name, using[name])
                _require_level(statistic, taxonomies[name].bound)
            if "sensitive_number" in statistic.reads:
                kind = _numeric_type(called, statistic, columns, name)
                taxonomies.setdefault(name, Taxonomy(BoundAttribute(Attribute(name, Role.SENSITIVE), name, kind, kind)))
    return Background(taxonomies=taxonomies)


def _taxonomy(engine: Engine, called: str, columns: Sequence[Column], name: str, hierarchy: str | None) -> Taxonomy:
    if hierarchy is None:
        raise PolicyError(
            f"{called}: which values of {name} are alike is said by a hierarchy, and none is named",
            hint=f"name one: SENSITIVE {name} USING hierarchy, before WITH",
            part=("column", name),
        )
    policy = Policy("", Source(QualifiedName((called,))), (Attribute(name, Role.SENSITIVE, hierarchy),), ())
    source = BoundSource(tuple(columns), QualifiedName((called,)), None, stable=False)
    (bound,) = bind(policy, source, hierarchies_of(engine, policy), fingerprint="").sensitive
    listed = stored_labels(bound)
    return Taxonomy(bound, listed)


def _require_level(statistic: BoundStatistic, bound: BoundAttribute) -> None:
    level = dict(statistic.arguments)["level"]
    if isinstance(level, int) and level >= bound.height:
        top = bound.height - 1
        raise PolicyError(
            f"{statistic.statistic.model}: level = {level} is not below the top of the hierarchy of {bound.column}",
            hint=f"its levels below the top are 0 to {top}: at the top all values are alike",
            part=("attack", statistic.statistic.model, "level"),
        )


def _numeric_type(called: str, statistic: BoundStatistic, columns: Sequence[Column], name: str) -> str:
    """Returns the type of a column. Raises PolicyError if its values are not numbers."""
    kind = next(kind for column, kind in columns if fold(column) == fold(name))
    if not kind.removeprefix("U").startswith(_NUMBERS) or kind.endswith("]"):
        raise PolicyError(
            f"{called}: a range of {name} needs numbers, and its values are of type {kind}",
            hint="name a level of a hierarchy, similarity(level => 1), or cast the values to numbers in a query",
            part=("attack", statistic.statistic.model, "within"),
        )
    return kind


# Checks that the source of a release still has the released rows, for an attack that counts its hits there.


def require_same_rows(
    engine: Engine,
    shown_rows: exp.Query,
    source: exp.Query,
    called: str,
    part: Sequence[str],
    *,
    left_out: bool = False,
) -> None:
    """Raises PolicyError unless the source has the released rows, and, unless some were `left_out`, no other rows."""
    if not has_rows_of(engine, shown_rows, source) or not (left_out or has_rows_of(engine, source, shown_rows)):
        raise PolicyError(
            f"{called} cannot be attacked by {part[-1]}: its source has changed",
            hint="make the release again",
            part=tuple(part),
        )


# CHECK's remark on attacks that the satisfied requirements do not bound.

# The attack that a remark suggests to type if it is unbounded, because it needs no argument.
_EXAMPLE = "homogeneity"


def unbounded(
    engine: Engine,
    requirements: Sequence[BoundRequirement],
    measurements: Sequence[Measurement],
    sensitive: Sequence[str],
    target: str,
) -> tuple[str, ...]:
    """Returns a sentence about the attacks that no satisfied requirement bounds, with their default arguments; the
    result is empty if there are no such attacks.

    A requirement counts if it is satisfied, is about no attribute or only about the attacked attribute, and promises
    less than certainty. Attributes with the same unbounded attacks are grouped. `target` is the text after ATTACK.
    """
    attributes: dict[str, list[str]] = {}
    met = {(m.question, fold(m.attribute or ""), m.required) for m in measurements if m.satisfied}
    files = attacks_on_classes()
    typed: list[str] = []
    for attribute in sensitive:
        promising = [r for r in requirements if _is_met(r, met) and _is_about(r, attribute)]
        bounded, prevented = _bounded(engine, files, promising, attribute)
        if names := ", ".join(_called(files, bounded, prevented)):
            attributes.setdefault(names, []).append(attribute)
            typed += [file.model for file in files if file not in bounded]
    if not attributes:
        return ()
    attacks = "; ".join(f"{names} on {', '.join(of)}" for names, of in attributes.items())
    example = _EXAMPLE if _EXAMPLE in typed else typed[0]
    return (
        f"no requirement that is met bounds how sure a reader may be by these attacks: {attacks}; "
        f"ATTACK {target} WITH {example}() says how sure, and each of the others likewise",
    )


def _is_met(requirement: BoundRequirement, met: Collection[tuple[str, str, float | None]]) -> bool:
    return (requirement.question_name, fold(", ".join(requirement.attributes)), requirement.required) in met


def _is_about(requirement: BoundRequirement, attribute: str) -> bool:
    return [*map(fold, requirement.attributes)] in ([], [fold(attribute)])


def _bounded(
    engine: Engine, files: Sequence[Statistic], requirements: Sequence[BoundRequirement], attribute: str
) -> tuple[set[Statistic], set[Statistic]]:
    """Returns the files of attacks whose highest confidence a requirement bounds, and the files of attacks for which a
    requirement only rules out certainty.
    """
    promises: list[tuple[Statistic, exp.Expr]] = []
    conditions: list[tuple[Statistic, exp.Expr]] = []
    for file in files:
        for requirement in requirements:
            # The requirement spells the attribute as the source does.
            tried = as_tried(file, (*requirement.attributes, attribute)[0])
            promises += [(file, promise) for promise in tried.bounds_by(requirement)]
            conditions += [(file, condition) for condition in tried.prevented_by(requirement)]
    values = _values(engine, promises)
    bounded = {file for file, value in values if file.least_bound([value]) is not None}
    return bounded, {file for file, holds in _values(engine, conditions) if holds}


def _values(engine: Engine, expressions: Sequence[tuple[Statistic, exp.Expr]]) -> list[tuple[Statistic, Any]]:
    if not expressions:
        return []
    values = engine.rows(select(*(expression for _, expression in expressions)))[0]
    return [(file, value) for (file, _), value in zip(expressions, values, strict=True)]


def _called(
    files: Sequence[Statistic], bounded: Collection[Statistic], prevented: Collection[Statistic]
) -> Iterator[str]:
    """Yields the unbounded attacks by the names that users type; with arguments if some parts of the attack are
    bounded.
    """
    for model in dict.fromkeys(file.model for file in files):
        parts = [file for file in files if file.model == model]
        rest = [file for file in parts if file not in bounded]
        if rest:
            name = model if rest == parts else shapes(rest)
            yield f"{name} (certainty alone is ruled out)" if all(file in prevented for file in rest) else name
