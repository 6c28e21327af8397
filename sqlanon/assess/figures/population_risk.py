"""MEASURE release WITH FIGURES (population_uniques): what a release of a sample says of the population."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from sqlglot import exp

from sqlanon.assess.figures.class_figures import ClassFigure, class_figures, why_not
from sqlanon.assess.figures.population_estimates import SMALL_FRACTION, Uniques, population_uniques
from sqlanon.domain.identifiers import fold
from sqlanon.domain.release import Reading, Release
from sqlanon.domain.values import UNNAMED, Value
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import PolicyError
from sqlanon.release.existing.classes import classes_of, rows_with_keys
from sqlanon.sources.source import own_object
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.classes.rows import Rows
from sqlanon.sql.questions.arguments import Argument, bound_arguments
from sqlanon.sql.questions.load import Parameter, Selector
from sqlanon.sql.questions.statistics import load_statistic


@dataclass(frozen=True)
class _Form:
    """The name of a figure and its parameters, of which the first may be given without its name."""

    model: str
    parameters: tuple[Parameter, ...]
    when: Selector | None = None

    def bound(self, arguments: Mapping[str, Value]) -> dict[str, Argument]:
        """The arguments by their names; raises PolicyError for one that is missing, unknown or out of its bounds."""
        first = self.parameters[0].name
        named = {first if name == UNNAMED else fold(name): value for name, value in arguments.items()}
        try:
            bound = dict(bound_arguments(self, named))
            if not bound.get(_FRACTION.name, 1):
                raise PolicyError(f"{self.model}: {_FRACTION.name} is above 0 and at most 1")
        except PolicyError as error:
            error.part = ("figures", self.model)
            error.hint = error.hint or f"write {self.model}({first} => ...)"
            raise
        return bound


_FRACTION = Parameter("sampling_fraction", "DECIMAL", Decimal(0), Decimal(1))
_UNIQUES = _Form("population_uniques", (_FRACTION,))


def uniques(engine: Engine, release: Release, arguments: Mapping[str, Value], scratch: Scratch) -> list[ClassFigure]:
    """The figures of `uniqueness`, and the estimated number of people who are unique in the population, by each model.

    Raises PolicyError without a sampling fraction above 0 and up to 1, and as `_rows` does.
    """
    bound = _UNIQUES.bound(arguments)
    rows = _rows(engine, release, _UNIQUES)
    fraction = bound[_FRACTION.name]
    assert isinstance(fraction, Decimal)
    theta = load_statistic("figures", "uniqueness")
    (figures,) = class_figures(engine, release, [(theta, {_FRACTION.name: fraction})], scratch)
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
    """The sentence that says which model the estimate is of, why, and how far to trust it."""
    name = _UNIQUES.model
    if not estimated.model:
        return f"{name}: no row is unique in the sample, so that no model estimates how many people are"
    preferred = "pitman" if fraction <= SMALL_FRACTION else "snb"
    missing = (estimated.pitman if preferred == "pitman" else estimated.snb) is None
    why = f"; {_MODELS[preferred]}" if missing else ""
    far = ", and may be off by an order of magnitude" if fraction < SMALL_FRACTION else ""
    return f"{name} is estimated by the model of {estimated.model}{why}. The model may not fit the population{far}"


def _rows(engine: Engine, release: Release, form: _Form) -> Rows:
    """The rows of a release, in classes of people who look alike.

    Raises PolicyError for rows in buckets, where the quasi-identifiers beside the bucket tell apart the people who
    share it, for a policy with an ENTITY, and for a release without classes.
    """
    statistic = replace(load_statistic("figures", "uniqueness"), model=form.model)
    if error := why_not(statistic, release):
        raise error
    classes = classes_of(engine, release)
    if any(a.reading is Reading.BUCKET for a in release.attributes):
        raise PolicyError(
            f"{form.model} of {release.name} cannot be measured: the rows of a bucket share their sensitive values, "
            "and are told apart by the columns beside it",
            hint="measure a release of the same policy without buckets",
        )
    names = [b.column for b in classes.bound.quasi_identifiers]
    return rows_with_keys(classes.bound, relation(own_object(engine, release.published[0].name)), names)


def _histogram(engine: Engine, rows: Rows) -> dict[int, int]:
    """The number of classes of each size."""
    classes = exp.select(alias(rows.count(), "size")).from_(rows.relation.copy())
    classes = classes.group_by(*(key.copy() for key in rows.keys))
    sizes = exp.select(column("size"), f.count()).from_(classes.subquery("class")).group_by(column("size"))
    return {int(size): int(number) for size, number in engine.rows(sizes) if size}
