"""CHECK release JOINED WITH RELEASE other: what somebody learns who joins two releases on what both show.

Wang and Fung, Anonymizing sequential releases (2006). The join is never made: rows of each release are counted by the
shared columns, at the coarser of the two levels, and by X and Y, and the counts are multiplied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from sqlanon.catalog.snapshot import hierarchies_of as recorded_hierarchies
from sqlanon.catalog.snapshot import policy_of
from sqlanon.domain.identifiers import fold, nearest
from sqlanon.domain.policy import Requirement
from sqlanon.domain.reading import Reading
from sqlanon.domain.release import Release, ReleaseAttribute
from sqlanon.domain.report import Measurement
from sqlanon.domain.values import QualifiedName, Value
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import PolicyError, UserError, about
from sqlanon.inputs.bind_policy import bind, hierarchies_of, policy_source
from sqlanon.inputs.source import own_object
from sqlanon.questions.statistics import bind_statistic, load_statistic, named_arguments, statistic_names
from sqlanon.releases.objects import require_own_columns
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import as_text, identical, numbered
from sqlanon.sqlgen.build.names import alias, column, literal, relation
from sqlanon.sqlgen.cells.labels import generalized, level_name, occurring_values, stored_labels
from sqlanon.syntax.statements import CheckJoined

__all__ = ["check_joined"]

_KIND = "joined"


@dataclass
class _Side:
    """One of the releases: its columns by their folded names, and tables of its labels at a coarser level."""

    release: Release
    columns: dict[str, ReleaseAttribute]
    coarser: dict[str, str] = field(default_factory=dict)

    def key(self, name: str) -> exp.Expr:
        """The text of a shared column as it is joined on."""
        return column("label", f"coarser_{name}") if name in self.coarser else as_text(column(self.columns[name].name))


def check_joined(engine: Engine, second: Release, first: Release, statement: CheckJoined) -> list[Measurement]:
    """What is reached of each requirement by the join of two releases, each a table or view of its own.

    Raises UserError for an unknown requirement or column; PolicyError for releases that share no such column, or whose
    labels cannot be compared, and for X and Y of one release.
    """
    sides = [_side(engine, release) for release in (second, first)]
    shared = [fold(name) for name in statement.columns]
    with engine.transaction(), Scratch(engine) as scratch:
        constants = [name for name in shared if _matched(engine, sides, name, scratch)]
        keys = [name for name in shared if name not in constants]
        return [_measured(engine, sides, keys, requirement, scratch) for requirement in statement.requirements]


def _side(engine: Engine, release: Release) -> _Side:
    require_own_columns(engine, release)
    if any(made.fragment is not None for made in release.published):
        raise PolicyError(f"{release.name} has several tables, of which none shows all of a row", part=("release",))
    return _Side(release, {fold(attribute.name): attribute for attribute in release.attributes})


def _matched(engine: Engine, sides: Sequence[_Side], name: str, scratch: Scratch) -> bool:
    """Sees to it that the labels of a column can be compared; whether one of the releases shows `*` alone.

    The labels of the release that shows it finer are made as coarse as those of the other.
    """
    for side in sides:
        if name not in side.columns:
            with about("column", name):
                raise PolicyError(
                    f"{side.release.name} has no column {name}: without a column that both releases show, everything "
                    "matches everything",
                    hint=nearest(name, list(side.columns)),
                )
        attribute = side.columns[name]
        if attribute.level is None and attribute.reading is not Reading.EXACT:
            raise _incomparable(name, f"{side.release.name} shows it by no level of a hierarchy")
    levels = [side.columns[name].level or 0 for side in sides]
    if any(level and level == side.columns[name].height for level, side in zip(levels, sides, strict=True)):
        return True
    if levels[0] != levels[1] or levels[0]:
        _require_same_hierarchy(engine, sides, name)
    if levels[0] != levels[1]:
        finer = min(sides, key=lambda side: side.columns[name].level or 0)
        finer.coarser[name] = _coarser(engine, finer, name, max(levels), scratch)
    return False


def _require_same_hierarchy(engine: Engine, sides: Sequence[_Side], name: str) -> None:
    """Raises unless a column has the same hierarchy in both releases and in the catalog."""
    known = []
    for side in sides:
        called = side.columns[name].hierarchy
        recorded = {fold(h.definition.name): h for h in recorded_hierarchies(side.release)}
        known.append(recorded.get(fold(called)) if called else None)
    now = {h.digest for h in hierarchies_of(engine, policy_of(sides[0].release)).values()}
    if None in known or len({h.digest for h in known if h}) > 1 or any(h and h.digest not in now for h in known):
        raise _incomparable(name, "it has another hierarchy in one of the releases, or now")


def _coarser(engine: Engine, side: _Side, name: str, level: int, scratch: Scratch) -> str:
    """A table of shown and label: each label of a column of a release, and the one that is above it at a level."""
    policy, attribute = policy_of(side.release), side.columns[name]
    source = policy_source(engine, policy, scratch)
    bound = bind(policy, source, hierarchies_of(engine, policy), fingerprint="")
    column_name = fold(attribute.source or attribute.name)
    b = next(b for b in bound.quasi_identifiers if fold(b.column) == column_name)
    tree = generalized(b, occurring_values(b, bound.relation), stored_labels(b), counted=False).subquery("tree")
    here = attribute.level or 0
    shown_label = column(level_name(here)) if here else as_text(column("value"))
    pairs = exp.select(alias(shown_label, "shown"), alias(column(level_name(level)), "label")).distinct().from_(tree)
    table = scratch.table("coarser", pairs)
    known = exp.select(column("shown")).from_(relation(table))
    labels = exp.select(as_text(column(attribute.name))).from_(relation(own_object(engine, side.release.name)))
    missing = exp.except_(labels, known, distinct=True).subquery("missing")
    if engine.rows(exp.select(literal(1)).from_(missing).limit(1)):
        raise _incomparable(name, f"the source of {side.release.name} has changed")
    return table


def _incomparable(name: str, why: str) -> PolicyError:
    return PolicyError(
        f"labels of {name} cannot be compared: {why}",
        hint="join releases by generalization on columns of one hierarchy, whose sources are as they were",
        part=("column", name),
    )


def _measured(
    engine: Engine, sides: Sequence[_Side], keys: Sequence[str], requirement: Requirement, scratch: Scratch
) -> Measurement:
    name = fold(requirement.model)
    names = statistic_names(_KIND)
    if name not in names:
        raise UserError(
            f"of two releases {requirement.model!r} cannot be required",
            hint=nearest(name, names) or f"there are: {', '.join(names)}",
            part=("requirement", requirement.model),
        )
    statistic = load_statistic(_KIND, name)
    arguments = named_arguments(statistic, requirement.arguments)
    with about("requirement", requirement.model):
        x = _names(arguments.pop("x", None), "x", name)
        (y, *others) = _names(arguments.pop("y", None), "y", name)
        if others:
            raise PolicyError(f"{name}: y is one column", hint="write y => disease")
        joined = scratch.table("joined", _joined(engine, sides, keys, x, y))
    bound = bind_statistic(statistic, arguments, (y,))
    [(achieved, satisfied)] = engine.rows(bound.statement("figures", {"joined": joined}))
    return Measurement(name, y, float(str(bound.arguments[0][1])), achieved, bool(satisfied))


def _names(value: Value | None, argument: str, model: str) -> list[str]:
    """One name, or several."""
    values = value if isinstance(value, tuple) else (value,)
    names = [part.parts[0] for part in values if isinstance(part, QualifiedName) and len(part.parts) == 1]
    if not names or len(names) != len(values):
        raise PolicyError(f"{model} needs {argument}, the name of a column", hint=f"write {argument} => name")
    return names


def _joined(engine: Engine, sides: Sequence[_Side], keys: Sequence[str], x: Sequence[str], y: str) -> exp.Select:
    """joined(x, y, n): how many rows of the join have each combination of X and Y; X is a number."""
    wanted = [*x, y]
    owners = [next((i for i, side in enumerate(sides) if fold(name) in side.columns), None) for name in wanted]
    for name, owner in zip(wanted, owners, strict=True):
        if owner is None:
            known = [attribute.name for side in sides for attribute in side.columns.values()]
            raise UserError(f"neither release has a column {name}", hint=nearest(name, known))
    if len(set(owners)) == 1:
        raise PolicyError(
            f"x and y are columns of {sides[owners[0] or 0].release.name} alone, which its own requirements are about",
            hint="let one of them be a column that only the other release has",
        )
    counted = [
        _counted(engine, side, keys, [name for name, owner in zip(wanted, owners, strict=True) if owner == i])
        for i, side in enumerate(sides)
    ]
    same = [identical(column(f"key_{k}", "side_0"), column(f"key_{k}", "side_1")) for k in range(len(keys))]
    values = [column(fold(name), f"side_{owner}") for name, owner in zip(wanted, owners, strict=True)]
    together = exp.select(
        *(alias(value, f"value_{i}") for i, value in enumerate(values)),
        alias(f.sum(column("n", "side_0") * column("n", "side_1")), "n"),
    )
    together = together.from_(counted[0].subquery("side_0"))
    together = together.join(counted[1].subquery("side_1"), on=exp.and_(exp.true(), *same))
    together = together.group_by(*(value.copy() for value in values))
    number = numbered([column(f"value_{i}") for i in range(len(x))])
    return exp.select(alias(number, "x"), alias(column(f"value_{len(x)}"), "y"), column("n")).from_(
        together.subquery("together")
    )


def _counted(engine: Engine, side: _Side, keys: Sequence[str], names: Sequence[str]) -> exp.Select:
    """The rows of a release by the shared columns and others."""
    parts = [alias(side.key(name), f"key_{i}") for i, name in enumerate(keys)]
    parts += [alias(column(side.columns[fold(name)].name, "released"), fold(name)) for name in names]
    query = exp.select(*parts, alias(f.count(), "n")).from_(
        relation(own_object(engine, side.release.name), as_="released")
    )
    for name, table in side.coarser.items():
        if name in keys:
            same = identical(as_text(column(side.columns[name].name, "released")), column("shown", f"coarser_{name}"))
            query = query.join(relation(table, as_=f"coarser_{name}"), on=same)
    grouped = [part.this.copy() for part in parts]
    return query.group_by(*grouped) if grouped else query
