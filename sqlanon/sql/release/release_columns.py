"""The columns of a release: what stands in each, read from the recoded rows."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.policy import Role
from sqlanon.sql.build.binary_text import without_collation
from sqlanon.sql.build.names import alias, column, literal
from sqlanon.sql.classes.buckets import BUCKET
from sqlanon.sql.release.recode import Recoding
from sqlanon.sql.release.region_rows import ENDS, Placed, box_name, label_name


@dataclass(frozen=True)
class ReleaseColumns:
    """The columns by the parts of a `ReleaseQuery` that say what they show.

    The relation "recoded" has label_0, ... of the quasi-identifiers, and column_0, ... of the attributes that pass.
    """

    policy: BoundPolicy
    recodings: tuple[Recoding, ...]
    placed: Placed | None
    collated: bool

    def keys(self) -> tuple[str, ...]:
        """The columns by whose values classes are told apart."""
        quasi = [bound.column for bound in self.policy.quasi_identifiers]
        if self.placed is None:
            return tuple(quasi)
        return (BUCKET,) if self.placed.exact else tuple(name for q in quasi for name in (q, *self._ends(q)))

    def _ends(self, name: str) -> list[str]:
        """The columns with the ends of a quasi-identifier's range."""
        return [f"{name}_{end}" for end in ENDS] if self.placed and self.placed.bounds else []

    def passing(self) -> list[tuple[int, BoundAttribute]]:
        """The attributes that are published as they are, or as tokens, with their numbers."""
        return [(i, b) for i, b in enumerate(self.policy.published) if b.role is not Role.QUASI_IDENTIFIER]

    def outputs(self) -> list[exp.Alias]:
        """What each column shows, in their order."""
        outputs: list[exp.Alias] = []
        for bound in self.policy.published:
            outputs.append(self._output(bound))
            if bound.role is Role.QUASI_IDENTIFIER:
                index = self.policy.quasi_identifiers.index(bound)
                ends = zip(self._ends(bound.column), ENDS, strict=False)
                outputs += [alias(column(box_name(index, end), "recoded"), name) for name, end in ends]
        if self.placed and self.placed.exact:
            outputs.append(alias(column("class_id", "recoded"), BUCKET))
        return outputs

    def _output(self, bound: BoundAttribute) -> exp.Alias:
        if bound.role is Role.QUASI_IDENTIFIER:
            value = self.label(bound, "recoded")
            # Labels that a hierarchy lists are compared by their bytes, whatever the source's texts are.
            collated = (self.collated or bound.stored) and any(r.bound is bound and r.mixed for r in self.recodings)
        else:
            index = next(i for i, other in self.passing() if other is bound)
            value, collated = column(f"column_{index}", "recoded"), bound.published_type == "VARCHAR" and self.collated
        return alias(without_collation(value) if collated else value, bound.column)

    def label(self, bound: BoundAttribute, of: str | None = None) -> exp.Expr:
        """What a class shows of a quasi-identifier."""
        if self.placed is not None:
            return column(label_name(self.policy.quasi_identifiers.index(bound)), of)
        index = next(i for i, r in enumerate(self.recodings) if r.bound is bound)
        return column(f"label_{index}", of) if self.recodings[index].is_read else literal("*")
