"""What attacks read besides the rows: hierarchies of sensitive attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Attribute, Policy, Role
from sqlanon.domain.values import QualifiedName, Source
from sqlanon.engines.base import Column, Engine
from sqlanon.errors import PolicyError
from sqlanon.inputs.bind_policy import bind, hierarchies_of
from sqlanon.inputs.source import BoundSource
from sqlanon.questions.statistics import BoundStatistic
from sqlanon.sqlgen.cells.labels import stored_labels
from sqlanon.sqlgen.cells.taxonomy import Taxonomy
from sqlanon.sqlgen.classes.normal_relations import Background

__all__ = ["background_of"]

_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE", "DECIMAL")


def background_of(
    engine: Engine,
    called: str,
    columns: Sequence[Column],
    statistics: Sequence[BoundStatistic],
    using: Mapping[str, str | None],
) -> Background:
    """What statistics of sensitive attributes read besides the rows of a table with these columns.

    `using` has the hierarchy that is named for each attribute, as it is in the catalog now: an adversary knows what
    values are alike, whoever published. Raises PolicyError for an attribute without a hierarchy where one is needed,
    for a level that it does not have, and for values that are no numbers where a range of numbers is sought.
    """
    taxonomies: dict[str, Taxonomy] = {}
    for statistic in statistics:
        for name in statistic.attributes:
            if "sensitive_ancestor" in statistic.reads:
                taxonomies[name] = _taxonomy(engine, called, columns, name, using[name])
                _require_level(statistic, taxonomies[name].bound)
            if "sensitive_number" in statistic.reads:
                _require_numbers(called, statistic, columns, name)
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


def _require_numbers(called: str, statistic: BoundStatistic, columns: Sequence[Column], name: str) -> None:
    kind = next(kind for column, kind in columns if fold(column) == fold(name))
    if not kind.removeprefix("U").startswith(_NUMBERS) or kind.endswith("]"):
        raise PolicyError(
            f"{called}: a range of {name} needs numbers, and its values are of type {kind}",
            hint="name a level of a hierarchy, similarity(level => 1), or cast the values to numbers in a query",
            part=("attack", statistic.statistic.model, "within"),
        )
