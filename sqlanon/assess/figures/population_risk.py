"""MEASURE release WITH FIGURES (population_uniques, individual_risk, k_map_estimated): the risk of a release of a
sample.

Each figure estimates a number about the population from the classes of a release, and none is a bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from math import expm1, fsum, inf, log1p

from sqlglot import exp

from sqlanon.assess.figures.class_figures import ClassFigure, class_figures, why_not
from sqlanon.assess.figures.population_estimates import (
    SMALL_FRACTION,
    Uniques,
    individual_risk,
    k_map_class_size,
    population_uniques,
)
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Role
from sqlanon.domain.release import Reading, Release
from sqlanon.domain.values import UNNAMED, Value
from sqlanon.engines.base import Column, Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import DataError, PolicyError
from sqlanon.release.existing.classes import classes_of, rows_with_keys
from sqlanon.sources.source import own_object
from sqlanon.sources.weights import HINT, is_weight_type, wrong_weight
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import cast, window
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.build.queries import extend, select, subquery
from sqlanon.sql.classes.rows import Rows
from sqlanon.sql.questions.arguments import Argument, bound_arguments
from sqlanon.sql.questions.load import Parameter, Selector
from sqlanon.sql.questions.statistics import load_statistic


@dataclass(frozen=True)
class _Form:
    """The name of a figure and its parameters; a single parameter may be given without its name."""

    model: str
    parameters: tuple[Parameter, ...]
    when: Selector | None = None

    def bound(self, arguments: Mapping[str, Value]) -> dict[str, Argument]:
        """Returns the arguments by name. Raises PolicyError for a missing or unknown argument, and for a value out of
        bounds.
        """
        first = self.parameters[0].name
        named = {first if name == UNNAMED else fold(name): value for name, value in arguments.items()}
        try:
            if UNNAMED in arguments and len(self.parameters) > 1:
                raise PolicyError(f"{self.model}: an argument lacks its name")
            bound = dict(bound_arguments(self, named))
            if not bound.get(_FRACTION.name, 1):
                raise PolicyError(f"{self.model}: {_FRACTION.name} is above 0 and at most 1")
        except PolicyError as error:
            error.part = ("figures", self.model)
            required = (f"{p.name} => ..." for p in self.parameters if p.default is None)
            error.hint = error.hint or f"write {self.model}({', '.join(required)})"
            raise
        return bound


_FRACTION = Parameter("sampling_fraction", "DECIMAL", Decimal(0), Decimal(1))
_WEIGHTS, _HOUSEHOLD = "weights", "household"
_UNIQUES = _Form("population_uniques", (_FRACTION,))
_RISK = _Form("individual_risk", (Parameter("weights", "COLUMN"),))
_K_MAP = _Form(
    "k_map_estimated",
    (
        Parameter("k", "BIGINT", Decimal(1), Decimal(1_000_000)),
        _FRACTION,
        Parameter("alpha", "DECIMAL", Decimal("0.000001"), Decimal("0.5"), default=Decimal("0.05")),
    ),
)


def uniques(engine: Engine, release: Release, arguments: Mapping[str, Value], temp: TempTables) -> list[ClassFigure]:
    """Returns the figures of `uniqueness`, and the estimated number of population uniques by each model.

    Raises PolicyError unless a sampling fraction above 0 and up to 1 is given, and the errors of `_rows`.
    """
    bound = _UNIQUES.bound(arguments)
    rows = _rows(engine, release, _UNIQUES)
    fraction = bound[_FRACTION.name]
    assert isinstance(fraction, Decimal)
    theta = load_statistic("figures", "uniqueness")
    (figures,) = class_figures(engine, release, [(theta, {_FRACTION.name: fraction})], temp)
    return [*figures, *_uniques(population_uniques(_histogram(engine, rows), Fraction(fraction)), Fraction(fraction))]


def _uniques(estimated: Uniques | None, fraction: Fraction) -> list[ClassFigure]:
    name = _UNIQUES.model
    if estimated is None:
        return [ClassFigure(each, None, None) for each in (name, *(f"{name}_{model}" for model in _MODELS))]
    by_model = {"zayatz": estimated.zayatz, "pitman": estimated.pitman, "snb": estimated.snb}
    return [
        ClassFigure(name, None, estimated.chosen, note=_note(estimated, fraction)),
        *(ClassFigure(f"{name}_{model}", None, by_model[model]) for model in _MODELS),
    ]


# The models, and why one may have no estimate.
_MODELS = {
    "zayatz": "",
    "pitman": "Pitman's model has none, because its likelihood has no maximum for 0 < alpha < 1",
    "snb": "the slide negative binomial has none, because its equations have no solution or several",
}


def _note(estimated: Uniques, fraction: Fraction) -> str:
    """Returns the sentence about the model of the estimate, the reason for this model, and its reliability."""
    name = _UNIQUES.model
    if not estimated.model:
        return f"{name}: no row is unique in the sample, so that no model estimates how many people are"
    preferred = "pitman" if fraction <= SMALL_FRACTION else "snb"
    missing = (estimated.pitman if preferred == "pitman" else estimated.snb) is None
    why = f"; {_MODELS[preferred]}" if missing else ""
    far = ", and may be off by an order of magnitude" if fraction < SMALL_FRACTION else ""
    return f"{name} is estimated by the model of {estimated.model}{why}. The model may not fit the population{far}"


def risk(engine: Engine, release: Release, arguments: Mapping[str, Value], temp: TempTables) -> list[ClassFigure]:
    """Returns the greatest and the mean individual risk of a row, by the sampling weights in a published column.

    `expected_reidentifications` is the sum of the risks over rows, `weighted_people` the sum of the weights. With the
    argument `household`, a published column, `household_risk` is the greatest risk that somebody of a household is
    found, 1 - product(1 - risk) over its rows, and `household_risk_mean` is the mean over households. Raises the errors
    of `_rows`, PolicyError for a column that is not published unchanged, and DataError for weights that are NULL, below
    1 or not finite, and for rows without a household.
    """
    of_persons = {name: value for name, value in arguments.items() if fold(name) != _HOUSEHOLD}
    weights = _RISK.bound(of_persons)[_WEIGHTS]
    households = [value for name, value in arguments.items() if fold(name) == _HOUSEHOLD]
    # Each names a column, as the weights do.
    household = _RISK.bound({_WEIGHTS: households[0]})[_WEIGHTS] if households else None
    rows = _rows(engine, release, _RISK)
    names = [_RISK.model, f"{_RISK.model}_mean", "expected_reidentifications", "weighted_people"]
    risks, people, number = [], 0.0, 0
    for size, weight, classes in _weighted(engine, release, rows, str(weights)):
        risks.append((individual_risk(size, weight), size * classes))
        people, number = people + weight * classes, number + size * classes
    expected = fsum(risk * of_rows for risk, of_rows in risks)
    values = [max(risks)[0], expected / number, expected, people] if risks else [None, None, 0.0, 0.0]
    note = (
        f"{_RISK.model} is one model's reading of the weights, and no bound. The weights are published: a weight tells "
        "the stratum that a person was drawn from"
    )
    figures = [ClassFigure(name, None, value) for name, value in zip(names, values, strict=True)]
    if household is not None:
        figures += _of_households(engine, release, rows, str(weights), str(household))
    return [replace(figures[0], note=note), *figures[1:]]


def _of_households(engine: Engine, release: Release, rows: Rows, weights: str, household: str) -> Iterator[ClassFigure]:
    """Yields the greatest and the mean risk of a household. Raises the errors of `risk` about its column."""
    called = f"{_RISK.model} of {release.name} cannot be measured"
    attribute = next((a for a in release.attributes if fold(a.name) == fold(household)), None)
    if attribute is None or attribute.reading not in (Reading.EXACT, Reading.TOKEN):
        raise PolicyError(
            f"{called}: it publishes no column {household} that names each household",
            hint=f"publish it in a policy for a release that you measure and keep: {household} INSENSITIVE",
        )
    keys = [key.copy() for key in rows.keys]
    weight = next(a.name for a in release.attributes if fold(a.name) == fold(weights))
    members = select(
        alias(column(attribute.name), _HOUSEHOLD),
        alias(window(f.count(), partition_by=keys), "size"),
        alias(window(f.sum(cast(column(weight), "DOUBLE")), partition_by=keys), "weight"),
        of=rows.relation,
    )
    names = [column(name) for name in (_HOUSEHOLD, "size", "weight")]
    counts = select(*names, f.count(), of=subquery(members, "member"), group_by=names)
    # The logarithm of the probability that nobody of a household is found.
    hidden: dict[object, float] = {}
    for who, size, people, number in engine.rows(counts):
        if who is None:
            raise DataError(f"{called}: rows have no {household}", hint="a row without a household is one: name it")
        chance = individual_risk(int(size), float(people))
        hidden[who] = hidden.get(who, 0.0) + (number * log1p(-chance) if chance < 1 else -inf)
    risks = [-expm1(logarithm) for logarithm in hidden.values()]
    yield ClassFigure(f"{_HOUSEHOLD}_risk", None, max(risks, default=None))
    yield ClassFigure(f"{_HOUSEHOLD}_risk_mean", None, fsum(risks) / len(risks) if risks else None)


def _weighted(engine: Engine, release: Release, rows: Rows, name: str) -> Iterator[tuple[int, float, int]]:
    """Yields the size and the sum of weights of classes, and the number of classes with both. Raises the errors of
    `risk`.
    """
    called = f"{_RISK.model} of {release.name} cannot be measured"
    attribute = next((a for a in release.attributes if fold(a.name) == fold(name)), None)
    if attribute is None:
        raise PolicyError(
            f"{called}: it publishes no column {name}",
            hint=f"publish the weights, {name} INSENSITIVE, in a policy for a release that you measure and keep",
        )
    if attribute.role is Role.QUASI_IDENTIFIER or attribute.reading is not Reading.EXACT:
        raise PolicyError(
            f"{called}: {name} is not published as the source has it, or tells classes apart",
            hint=f"weights are INSENSITIVE: {name} INSENSITIVE",
        )
    (kind,) = (kind for column_name, kind in _columns(engine, release) if fold(column_name) == fold(name))
    if not is_weight_type(kind):
        raise PolicyError(f"{called}: {name} is {kind}, and weights are numbers")
    weight = cast(column(attribute.name), "DOUBLE")
    classes = select(
        alias(rows.count(), "size"),
        alias(f.sum(weight), "weight"),
        alias(f.sum(wrong_weight(column(attribute.name))), "wrong"),
        of=rows.relation,
    )
    classes = extend(classes, group_by=rows.keys)
    keys = column("size"), column("weight")
    sizes = select(*keys, f.count(), f.sum(column("wrong")), of=subquery(classes, "class"))
    counted = [row for row in engine.rows(sizes.group_by(*(key.copy() for key in keys))) if row[0]]
    if wrong := sum(row[3] for row in counted):
        raise DataError(
            f"{called}: {wrong:,} weights in {name} are NULL, below 1 or not finite",
            hint=HINT,
        )
    for size, total, number, _ in counted:
        yield int(size), float(total), int(number)


def k_map(engine: Engine, release: Release, arguments: Mapping[str, Value], temp: TempTables) -> list[ClassFigure]:
    """Returns the share of the rows in classes that may have fewer than k people of the population.

    By a zero-truncated Poisson distribution, a class of at least `k_map_class_size` rows has so few people with a
    probability of at most alpha. `k_map_class_size_poisson` is the less cautious size by a Poisson distribution. Raises
    the errors of `_rows`.
    """
    bound = _K_MAP.bound(arguments)
    k, fraction, alpha = (bound[parameter.name] for parameter in _K_MAP.parameters)
    assert isinstance(k, int) and isinstance(fraction, Decimal) and isinstance(alpha, Decimal)
    careful, poisson = (
        k_map_class_size(k, float(fraction), float(alpha), truncated=truncated) for truncated in (True, False)
    )
    classes = _histogram(engine, _rows(engine, release, _K_MAP))
    rows = sum(size * number for size, number in classes.items())
    below = sum(size * number for size, number in classes.items() if size < careful)
    note = (
        f"{_K_MAP.model} is estimated by a zero-truncated Poisson distribution, for the sampling fraction {fraction}. "
        f"k_anonymity(k => {careful}) requires it"
    )
    return [
        ClassFigure(_K_MAP.model, None, below / rows if rows else None, note=note),
        ClassFigure("k_map_class_size", None, float(careful)),
        ClassFigure("k_map_class_size_poisson", None, float(poisson)),
    ]


def _rows(engine: Engine, release: Release, form: _Form) -> Rows:
    """Returns the rows of a release, in classes by equal quasi-identifiers.

    Raises PolicyError for rows in buckets, because their quasi-identifiers distinguish people, for a policy with an
    ENTITY, and for a release without classes.
    """
    statistic = replace(load_statistic("figures", "uniqueness"), model=form.model)
    if error := why_not(statistic, release):
        raise error
    classes = classes_of(engine, release)
    names = [b.column for b in classes.bound.quasi_identifiers]
    return rows_with_keys(classes.bound, relation(own_object(engine, release.published[0].name)), names)


def _columns(engine: Engine, release: Release) -> Sequence[Column]:
    return engine.columns(select(exp.Star(), of=relation(own_object(engine, release.published[0].name))))


def _histogram(engine: Engine, rows: Rows) -> dict[int, int]:
    """Returns the number of classes of each size."""
    classes = select(alias(rows.count(), "size"), of=rows.relation, group_by=rows.keys)
    sizes = select(column("size"), f.count(), of=subquery(classes, "class"), group_by=[column("size")])
    return {int(size): int(number) for size, number in engine.rows(sizes) if size}
