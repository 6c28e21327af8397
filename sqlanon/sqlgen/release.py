"""The SELECT of a release: recode every row, and withhold every class that violates a requirement.

The same text is the body of a live view and what a snapshot is made from. It reads
the source as it is when it runs: the labels come from the values that occur at that
moment, and the guard counts the classes of that moment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.policy import Role
from sqlanon.sqlgen.cells import class_id, respondents
from sqlanon.sqlgen.generalized import published_value
from sqlanon.sqlgen.keys import WORD_BITS, KeyLayout, bits_for
from sqlanon.sqlgen.lattice import Asks, violations
from sqlanon.sqlgen.names import alias, column, identifier, literal, relation
from sqlanon.sqlgen.recode import Recoding, recode

__all__ = ["Recoding", "ReleaseQuery"]

_ENTITY = "__sqlanon_entity"
_SPARE_BITS = 8


@dataclass(frozen=True)
class ReleaseQuery:
    """What the SELECT is built from.

    `recodings` in the policy's order; `source` a table or a query; `stable` says that
    reading it twice gives the same rows (a table does, a query may not: it is then
    materialized); `labels` is the catalog's copy of the stored hierarchies of this
    release, under `release_id`; `tokens` maps a column to a table of value and token.
    """

    policy: BoundPolicy
    recodings: tuple[Recoding, ...]
    requirements: Sequence[Asks]
    source: exp.Query
    stable: bool
    release_id: str
    tokens: Mapping[str, str] = field(default_factory=dict)

    @property
    def respondent(self) -> str:
        """The column that holds the respondent while a candidate is checked: no released column has its name."""
        name, taken = _ENTITY, {bound.column.lower() for bound in self.policy.published}
        while name in taken:
            name += "_"
        return name

    def select(self, *, with_entity: bool = False) -> exp.Select:
        """The released rows; with the respondent in the column `respondent`, for checks, if asked."""
        outputs = [self._output(bound) for bound in self.policy.published]
        if with_entity and self.policy.entity:
            outputs.append(alias(column(_ENTITY, "recoded"), self.respondent))
        same = exp.EQ(this=column("class_id", "recoded"), expression=column("class_id", "kept"))
        query = exp.select(*outputs).from_(relation("recoded"), copy=False).join(relation("kept"), on=same, copy=False)
        return self._with_classes(query)

    def equivalence_class(self) -> exp.Select:
        """The classes that are released: class_id, size, entities. It names no value."""
        query = exp.select(
            alias(exp.Window(this=exp.RowNumber()), "class_id"),
            column("size", "equivalence_class"),
            column("entities", "equivalence_class"),
        ).from_(relation("equivalence_class"), copy=False)
        same = exp.EQ(this=column("class_id", "equivalence_class"), expression=column("class_id", "kept"))
        return self._with_classes(query.join(relation("kept"), on=same, copy=False))

    def _with_classes(self, query: exp.Select) -> exp.Select:
        recodings = [(i, r) for i, r in enumerate(self.recodings) if r.kept]
        query = query.with_(identifier("source"), as_=self._source(), materialized=not self.stable, copy=False)
        for i, recoding in recodings:
            query.with_(identifier(f"recode_{i}"), as_=recode(recoding, self.release_id), copy=False)
        # Read twice, once to count the classes and once for the rows: keeping it would copy the whole table.
        query.with_(identifier("recoded"), as_=self._recoded(recodings), materialized=False, copy=False)
        query.with_(identifier("equivalence_class"), as_=self._classes(), copy=False)
        return query.with_(identifier("kept"), as_=self._kept(), copy=False)

    def _source(self) -> exp.Query:
        return self.source.copy()

    def _recoded(self, recodings: Sequence[tuple[int, Recoding]]) -> exp.Select:
        """Every row with its class, its labels and the columns that pass through."""
        layout = _layout([recoding.nodes for _, recoding in recodings])
        words: list[exp.Expr | None] = [None] * layout.words
        query = exp.select().from_(relation("source"))
        outputs: list[exp.Expr] = []
        for (i, recoding), (spot,) in zip(recodings, layout.fields, strict=True):
            name = f"recode_{i}"
            code = exp.Paren(this=exp.BitwiseLeftShift(this=column("code", name), expression=literal(spot.shift)))
            before = words[spot.word]
            words[spot.word] = exp.Add(this=before, expression=code) if before else code
            outputs.append(alias(column("label", name), f"label_{i}"))
            same = exp.NullSafeEQ(this=published_value(recoding.bound, "source"), expression=column("value", name))
            # A label beyond the bits of its field would run into another's: its rows are withheld.
            fits = exp.LT(this=column("code", name), expression=literal(1 << spot.bits))
            query.join(relation(name), on=exp.and_(same, fits), copy=False)
        zero = exp.Cast(this=literal(0), to=exp.DataType.build("BIGINT"))
        key = class_id([word if word else zero.copy() for word in words])
        for i, bound in self._passing():
            outputs.append(alias(self._pass(query, i, bound), f"column_{i}"))
        if self.policy.entity:
            outputs.append(alias(column(self.policy.entity.column, "source"), _ENTITY))
        return query.select(alias(key, "class_id"), *outputs, copy=False)

    def _passing(self) -> list[tuple[int, BoundAttribute]]:
        published = enumerate(self.policy.published)
        return [(i, bound) for i, bound in published if bound.role is not Role.QUASI_IDENTIFIER]

    def _pass(self, query: exp.Select, place: int, bound: BoundAttribute) -> exp.Expr:
        """A column that is published as it is, or as tokens."""
        if not bound.attribute.pseudonym:
            return published_value(bound, "source")
        name = f"token_{place}"
        text = exp.Cast(this=column(bound.column, "source"), to=exp.DataType.build("VARCHAR"))
        query.join(
            relation(self.tokens[bound.column], as_=name),
            on=exp.NullSafeEQ(this=text, expression=column("value", name)),
            join_type="LEFT",
            copy=False,
        )
        return column("token", name)

    def _output(self, bound: BoundAttribute) -> exp.Expr:
        if bound.role is not Role.QUASI_IDENTIFIER:
            place = next(i for i, other in self._passing() if other is bound)
            return alias(column(f"column_{place}", "recoded"), bound.column)
        place = next(i for i, r in enumerate(self.recodings) if r.bound is bound)
        label = column(f"label_{place}", "recoded") if self.recodings[place].kept else literal("*")
        return alias(label, bound.column)

    def _classes(self) -> exp.Select:
        rows = exp.Count(this=exp.Star())
        entities = respondents(column(_ENTITY)) if self.policy.entity else rows.copy()
        return (
            exp.select(column("class_id"), alias(rows, "size"), alias(entities, "entities"))
            .from_(relation("recoded"))
            .group_by(column("class_id"))
        )

    def _kept(self) -> exp.Select:
        """The classes that violate nothing."""
        withheld = exp.select(column("class_id")).from_(violations(self.requirements).subquery("violations"))
        within = exp.In(this=column("class_id"), query=withheld.subquery())
        return exp.select(column("class_id")).from_(relation("equivalence_class")).where(exp.Not(this=within))


def _layout(nodes: Sequence[int]) -> KeyLayout:
    """A field a column, with room for labels that come later: what one word has to spare, else more words."""
    plain = [(max(count, 2),) for count in nodes]
    spare = (WORD_BITS - sum(bits_for(count) for (count,) in plain)) // max(len(nodes), 1)
    # Without any room a column that had two values would withhold the third for ever.
    room = min(spare, _SPARE_BITS) if spare > 0 else _SPARE_BITS
    return KeyLayout.pack([(count << room,) for (count,) in plain])
