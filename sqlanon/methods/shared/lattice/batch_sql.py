"""A batch of lattice nodes, and what the normal relations of their classes are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.domain.identifiers import fold
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import infix, paren, total
from sqlanon.sql.build.names import alias, column, identifier, relation
from sqlanon.sql.build.steps import Step
from sqlanon.sql.cells.cells import carried_code, key_name, respondents
from sqlanon.sql.cells.key_layout import KeyLayout
from sqlanon.sql.classes.projections import RESPONDENTS, projected_classes, projection_steps
from sqlanon.sql.classes.requirement import SqlRequirement, projections, relation_names, subjects
from sqlanon.sql.sizes import sizes

# The most nodes of a batch, whose indexes have to fit beside a key.
BATCH = 64
_PLACE_BITS = 6


@dataclass(frozen=True)
class Batch:
    """What the normal relations of a batch are made of.

    `carried` are the columns that the cells carry, in the order of the layout; `guards` has the
    guarding column of each requirement that has one, by its index; `fixed_relations` are the
    relations that are the same for all nodes, such as sensitive_value of the whole source;
    `public` is the table of the public table's cells, if there is one. `lasting` says that a class which
    satisfies goes on doing so whatever rows it gains: the rollup then has one row of such a class, marked
    `satisfied`, which is all that the classes above it need. `quasi` are the quasi-identifiers in the order of the
    layout.
    """

    layout: KeyLayout
    requirements: Sequence[SqlRequirement]
    entity: bool
    carried: tuple[str, ...] = ()
    guards: tuple[tuple[int, str], ...] = ()
    fixed_relations: tuple[Step, ...] = ()
    public: str | None = None
    lasting: bool = False
    quasi: tuple[str, ...] = ()

    @property
    def packed(self) -> bool:
        """Whether a node's index fits beside the key in one number."""
        return self.layout.words == 1 and self.layout.used + _PLACE_BITS <= sizes().word_bits

    def class_id(self, tag: exp.Expr | None = None) -> exp.Expr:
        """The index of the node and the part of the key that names a class of it."""
        tag = column("tag") if tag is None else tag
        masks, carried = self.layout.masks([0] * len(self.layout.fields)), self.layout.carried_masks
        keys = [
            paren(infix(column(key_name(word)), "&", masks[word])) if carried[word] else column(key_name(word))
            for word in range(self.layout.words)
        ]
        if self.packed:
            return infix(paren(infix(tag, "<<", self.layout.used)), "+", keys[0])
        parts = [("tag", tag), *((key_name(word), key) for word, key in enumerate(keys))]
        return exp.Struct(expressions=[exp.PropertyEQ(this=identifier(name), expression=part) for name, part in parts])

    def index(self, class_id: exp.Expr) -> exp.Expr:
        """The node's index, read from a class_id."""
        if self.packed:
            return infix(class_id, ">>", self.layout.used)
        return exp.Dot(this=class_id, expression=identifier("tag"))

    def key(self, class_id: exp.Expr, word: int) -> exp.Expr:
        """A word of the key, read from the class_id of the node at index 0."""
        return class_id if self.packed else exp.Dot(this=class_id, expression=identifier(key_name(word)))

    def projected(self, class_id: exp.Expr, columns: Sequence[str]) -> exp.Expr:
        """The class of some quasi-identifiers in which a class lies: its key without the fields of the others."""
        known = {fold(name) for name in columns}
        levels = [
            0 if fold(name) in known else len(of) for name, of in zip(self.quasi, self.layout.fields, strict=True)
        ]
        masks = self.layout.masks(levels)
        if self.packed:
            index = ((1 << _PLACE_BITS) - 1) << self.layout.used
            return infix(class_id, "&", masks[0] | index)
        keys = [
            infix(exp.Dot(this=class_id.copy(), expression=identifier(key_name(word))), "&", mask)
            for word, mask in enumerate(masks)
        ]
        parts = [("tag", self.index(class_id)), *((key_name(word), key) for word, key in enumerate(keys))]
        return exp.Struct(expressions=[exp.PropertyEQ(this=identifier(name), expression=part) for name, part in parts])

    def names(self, *, lasting: bool = False) -> list[dict[str, str]]:
        """For each requirement the relation that stands for each normal relation; `lasting` as in `relations`."""
        named = relation_names(self.requirements)
        if not lasting:
            return named
        return [
            {kind: "open_class" if kind == "equivalence_class" else name for kind, name in n.items()} for n in named
        ]

    def relations(self, rows: exp.Query, public: exp.Query | None = None, *, lasting: bool = False) -> list[Step]:
        """The normal relations of nodes with these rows; `public` are their rows of the public table.

        If rows are marked `satisfied`, as in a `lasting` batch, requirements are asked about the other classes only:
        these are `open_class`, beside the equivalence_class of all.
        """
        steps: list[Step] = [("node_row", rows)]
        about = subjects(self.requirements)
        # Rows of the rollup differ in their key: where only one subject is carried, in their class or its value.
        whole = not self.entity and len(about) == 1 and len(about[0]) == len(self.carried)
        if lasting:
            steps += [("equivalence_class", self._marked_classes()), ("open_class", _open_classes())]
            steps.append(("open_row", self._open_rows()))
        of = "open_row" if lasting else "node_row"
        for number, subject in enumerate(about):
            steps.append((f"class_sensitive_value_{number}", self._sensitive(subject, of, unique=whole)))
        if not lasting:
            classes = self._classes(len(about) == 1 and whole)
            steps += [("equivalence_class", classes), *projected_classes(self.requirements, self.projected)]
        for index, guard in self.guards:
            steps.append((f"guarded_{index}", self._guarded(guard, of)))
        if public is not None:
            steps.append(("public_row", public))
            named = exp.select(alias(self.class_id(), "class_id"), alias(total(column("n")), "n"))
            steps.append(("public_class", named.from_(relation("public_row")).group_by(self.class_id())))
        if projections(self.requirements):
            if self.entity:
                named = exp.select(alias(self.class_id(), "class_id"), column("entity")).distinct(copy=False)
                steps.append((RESPONDENTS, named.from_(relation(of), copy=False)))
            steps += projection_steps(self.requirements, entity=self.entity)
        return [*steps, *self.fixed_relations]

    def _sensitive(self, subject: Sequence[str], of: str, *, unique: bool) -> exp.Select:
        value = carried_code(self.layout, [self.carried.index(name) for name in subject])
        named = [alias(self.class_id(), "class_id"), alias(value, "value")]
        if unique:
            return exp.select(*named, column("n")).from_(relation(of), copy=False)
        query = exp.select(*named, alias(total(column("n")), "n")).from_(relation(of), copy=False)
        return query.group_by(self.class_id(), value.copy(), copy=False)

    def _classes(self, summed: bool) -> exp.Select:
        if summed:
            size = total(column("n"))
            query = exp.select(column("class_id"), alias(size, "size"), alias(size.copy(), "entities"))
            return query.from_(relation("class_sensitive_value_0")).group_by(column("class_id"))
        label = alias(self.class_id(), "class_id")
        if not self.carried and not self.entity:
            query = exp.select(label, alias(column("n"), "size"), alias(column("n"), "entities"))
            return query.from_(relation("node_row"), copy=False)
        return self._summed_classes(label)

    def _summed_classes(self, *named: exp.Expr) -> exp.Select:
        size = total(column("n"))
        entities: exp.Expr = size.copy()
        if self.entity:
            # Rows of the rollup differ in their key or their respondent: where nothing is carried, in the respondent.
            entities = respondents(column("entity"), distinct=bool(self.carried))
        query = exp.select(*named, alias(size, "size"), alias(entities, "entities"))
        return query.from_(relation("node_row"), copy=False).group_by(self.class_id(), copy=False)

    def _marked_classes(self) -> exp.Select:
        satisfied = alias(f.max(column("satisfied")), "satisfied")
        return self._summed_classes(alias(self.class_id(), "class_id"), satisfied)

    def _open_rows(self) -> exp.Select:
        open_ = exp.select(column("class_id")).from_(relation("open_class"))
        return exp.select(exp.Star()).from_(relation("node_row")).where(self.class_id().isin(query=open_), copy=False)

    def _guarded(self, guard: str, of: str) -> exp.Select:
        node = carried_code(self.layout, [self.carried.index(guard)])
        query = exp.select(alias(self.class_id(), "class_id"), alias(node, "node")).distinct(copy=False)
        return query.from_(relation(of), copy=False)


def _open_classes() -> exp.Select:
    """The classes of which no part satisfies."""
    query = exp.select(*(column(name) for name in ("class_id", "size", "entities")))
    return query.from_(relation("equivalence_class")).where(exp.not_(column("satisfied")))
