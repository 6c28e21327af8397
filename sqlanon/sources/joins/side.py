"""One of two releases that are joined: its rows by the shared columns, at its own levels or coarser ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from sqlanon.catalog.hierarchies import StoredHierarchy
from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.identifiers import fold, nearest
from sqlanon.domain.policy import Policy
from sqlanon.domain.reading import Reading
from sqlanon.domain.release import ReleaseAttribute
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import PolicyError, about
from sqlanon.sources.bind_policy import bind, hierarchies_of, policy_source
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text, identical
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.cells.labels import generalized, level_name, occurring_values, stored_labels
from sqlanon.sql.classes.joined import counted_columns
from sqlanon.sql.hierarchies.base import builder


@dataclass
class Side:
    """A release of one table or view, or a candidate that may become one.

    `columns` are by their folded names, `hierarchies` those that it was made with. `recoded` are columns that show
    labels of several levels. `coarser` has tables of its labels and those above them, by column and level.
    """

    engine: Engine
    scratch: Scratch
    name: QualifiedName
    rows: exp.Table
    policy: Policy
    hierarchies: Sequence[StoredHierarchy]
    columns: Mapping[str, ReleaseAttribute]
    recoded: frozenset[str] = frozenset()
    coarser: dict[tuple[str, int], str] = field(default_factory=dict)

    def require_comparable(self, name: str) -> None:
        """Raises PolicyError for a shared column that it does not have, or whose labels are of no one level."""
        if name not in self.columns:
            with about("column", name):
                raise PolicyError(
                    f"{self.name} has no column {name}: without a column that both releases show, everything "
                    "matches everything",
                    hint=nearest(name, list(self.columns)),
                )
        attribute = self.columns[name]
        if attribute.level is None and attribute.reading is not Reading.EXACT:
            raise incomparable(name, f"{self.name} shows it by no level of a hierarchy")
        if name in self.recoded:
            raise incomparable(name, f"{self.name} shows it by several levels of a hierarchy")

    def level(self, name: str) -> int:
        return self.columns[name].level or 0

    def is_hidden(self, name: str) -> bool:
        """Whether it shows `*` alone, which matches everything."""
        return 0 < self.level(name) == self.columns[name].height

    def hierarchy(self, name: str) -> StoredHierarchy | None:
        """The hierarchy of a column as it was when the release was made."""
        called = self.columns[name].hierarchy
        known = {fold(stored.definition.name): stored for stored in self.hierarchies}
        return known.get(fold(called)) if called else None

    def counted(self, levels: Mapping[str, int], names: Sequence[str]) -> exp.Select:
        """Its rows by the shared columns, each at a level that is its own or coarser, and by other columns."""
        lifted = {name: self._coarser(name, level) for name, level in levels.items() if level != self.level(name)}
        keys = [
            column("label", f"coarser_{name}") if name in lifted else as_text(column(self.columns[name].name, "side"))
            for name in levels
        ]
        values = [column(self.columns[name].name, "side") for name in names]
        columns, groups = counted_columns(keys, values, f.count())
        query = exp.select(*columns).from_(exp.alias_(self.rows.copy(), "side", table=True))
        for name, table in lifted.items():
            own_label = as_text(column(self.columns[name].name, "side"))
            query = query.join(
                relation(table, as_=f"coarser_{name}"), on=identical(own_label, column("shown", f"coarser_{name}"))
            )
        return query.group_by(*groups) if groups else query

    def _coarser(self, name: str, level: int) -> str:
        """A table of shown and label: each label of a column, and the one that is above it at a level."""
        if (name, level) not in self.coarser:
            self.coarser[name, level] = self._lifted(name, level)
        return self.coarser[name, level]

    def _lifted(self, name: str, level: int) -> str:
        attribute, here = self.columns[name], self.level(name)
        b, occurring = self._values(name)
        tree = generalized(b, occurring, stored_labels(b), counted=False).subquery("tree")
        shown_label = column(level_name(here)) if here else as_text(column("value"))
        pairs = (
            exp.select(alias(shown_label, "shown"), alias(column(level_name(level)), "label")).distinct().from_(tree)
        )
        table = self.scratch.table("coarser", pairs)
        known = exp.select(column("shown")).from_(relation(table))
        labels = exp.select(as_text(column(attribute.name))).from_(self.rows.copy())
        missing = exp.except_(labels, known.copy(), distinct=True).subquery("missing")
        if self.engine.rows(exp.select(literal(1)).from_(missing).limit(1)):
            raise incomparable(name, f"the source of {self.name} has changed")
        several = known.group_by(column("shown")).having(f.count() > 1).limit(1)
        if self.engine.rows(several):
            raise incomparable(name, f"a label of {self.name} lies below several others")
        return table

    def _values(self, name: str) -> tuple[BoundAttribute, exp.Select]:
        """A column as what has labels, and the values by which these are found: its own, or those of its source."""
        attribute, stored = self.columns[name], self.hierarchy(name)
        if stored is not None and self.level(name) == 0:
            kinds = dict(self.engine.columns(exp.select(exp.Star()).from_(self.rows.copy())))
            known = next(a for a in self.policy.attributes if fold(a.name) == fold(attribute.source or attribute.name))
            kind, definition = kinds[attribute.name], stored.definition
            is_stored = builder(definition.kind).STORED
            b = BoundAttribute(known, attribute.name, kind, kind, definition, is_stored, stored.height)
            return b, _occurring(b, self.rows)
        source = policy_source(self.engine, self.policy, self.scratch)
        bound = bind(self.policy, source, hierarchies_of(self.engine, self.policy), fingerprint="")
        column_name = fold(attribute.source or attribute.name)
        b = next(b for b in bound.quasi_identifiers if fold(b.column) == column_name)
        return b, occurring_values(b, bound.relation)


def _occurring(b: BoundAttribute, rows: exp.Table) -> exp.Select:
    value = column(b.column)
    return exp.select(alias(value, "value"), alias(f.count(), "n")).from_(rows.copy()).group_by(value.copy())


def require_same_hierarchy(engine: Engine, sides: Sequence[Side], name: str) -> None:
    """Raises PolicyError unless a column has the same hierarchy in both releases and in the catalog."""
    known = [side.hierarchy(name) for side in sides]
    now = {h.digest for h in hierarchies_of(engine, sides[0].policy).values()}
    if None in known or len({h.digest for h in known if h}) > 1 or any(h and h.digest not in now for h in known):
        raise incomparable(name, "it has another hierarchy in one of the releases, or now")


def incomparable(name: str, why: str) -> PolicyError:
    return PolicyError(
        f"labels of {name} cannot be compared: {why}",
        hint="join releases by generalization on columns of one hierarchy, whose sources are as they were",
        part=("column", name),
    )
