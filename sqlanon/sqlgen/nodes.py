"""Many nodes of the lattice in one statement: their classes, rolled up from less general ones, and what they violate.

A table `rollup(tag, key_0, ..., n)` holds the rows of many nodes side by side, each node
under a tag: one row a class, or a class and what its rows carry. The rows of a more
general node come from those of any less general one, `GROUP BY tag, key & mask`. The
normal relations of a batch of nodes are made of its rows; `class_id` holds the node's
place in the batch, so that the models' own texts answer for all of them at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.sqlgen.asked import Asks, relation_names, subjects
from sqlanon.sqlgen.cells import key_name, respondents
from sqlanon.sqlgen.guard import kept_classes, violations, with_steps
from sqlanon.sqlgen.keys import WORD_BITS, Field, KeyLayout
from sqlanon.sqlgen.names import alias, column, identifier, literal, parameter, relation
from sqlanon.sqlgen.rows import Step

__all__ = [
    "BATCH",
    "Batch",
    "carried_code",
    "counts",
    "part_of_node",
    "part_of_nodes",
    "public_rows",
    "rows_at_places",
    "rows_held",
    "rows_of_nodes",
    "rows_of_tags",
    "withheld",
    "withheld_at_once",
]

# The most nodes of a batch, whose places have to fit beside a key.
BATCH = 64

# Far from a power of two, so that the remainder depends on all bits of a key.
_PRIME = 1_000_003
_PLACE_BITS = 6


def _sum(part: exp.Expr) -> exp.Expr:
    return exp.Cast(this=exp.Sum(this=part), to=exp.DataType.build("BIGINT"))


def _masked(word: int, mask: exp.Expr, of: str | None = None) -> exp.Expr:
    return exp.Paren(this=exp.BitwiseAnd(this=column(key_name(word), of), expression=mask))


def rows_of_nodes(rollup: str, words: int, entity: bool) -> exp.Select:
    """The rows of some nodes, each from the rows of another: to be added to the rollup.

    The parameters are lists with an item a node: its tag, the tag that it comes from,
    and its mask of each word.
    """
    names = ["tag", "source", *(f"mask_{word}" for word in range(words))]
    lists = [alias(exp.Explode(this=_integers(parameter(i))), name) for i, name in enumerate(names, start=1)]
    keys = [_masked(word, column(f"mask_{word}", "node"), "fine") for word in range(words)]
    others = [column("entity", "fine")] if entity else []
    same = exp.EQ(this=column("tag", "fine"), expression=column("source", "node"))
    return (
        exp.select(
            column("tag", "node"),
            *(alias(key, key_name(word)) for word, key in enumerate(keys)),
            *others,
            alias(_sum(column("n", "fine")), "n"),
        )
        .from_(relation(rollup, as_="fine"), copy=False)
        .join(exp.select(*lists).subquery("node"), on=same, copy=False)
        .group_by(column("tag", "node"), *(key.copy() for key in keys), *(part.copy() for part in others), copy=False)
    )


def part_of_nodes(rollup: str, layout: KeyLayout, entity: bool, one_in: int) -> exp.Select:
    """The same of about one class in so many, each with all of its rows; the tags are the places of a batch."""
    query = rows_of_nodes(rollup, layout.words, entity)
    classes = layout.masks([0] * len(layout.fields))
    labels: list[exp.Expr] = []
    for word, mask in enumerate(classes):
        own = exp.BitwiseAnd(this=column(f"mask_{word}", "node"), expression=literal(mask))
        labels.append(_masked(word, exp.Paren(this=own), "fine"))
    return query.where(_chosen(labels, one_in), copy=False)


def _integers(tree: exp.Expr) -> exp.Expr:
    return exp.Cast(this=tree, to=exp.DataType.build("BIGINT[]", dialect="duckdb"))


def part_of_node(
    cells: str, layout: KeyLayout, entity: bool, tag: int = 0, one_in: int | None = None, first: int = 1
) -> exp.Select:
    """The rows of one node, grouped from a table of cells; its masks are the parameters from `first` on.

    With `one_in`, those of about one class in so many, each with all of its rows.
    """
    classes, carried = layout.masks([0] * len(layout.fields)), layout.carried_masks
    keys = [_masked(word, parameter(first + word)) for word in range(layout.words)]
    others = [column("entity")] if entity else []
    query = (
        exp.select(
            alias(exp.Cast(this=literal(tag), to=exp.DataType.build("BIGINT")), "tag"),
            *(alias(key, key_name(word)) for word, key in enumerate(keys)),
            *others,
            alias(_sum(column("n")), "n"),
        )
        .from_(relation(cells), copy=False)
        .group_by(*(key.copy() for key in keys), *(part.copy() for part in others), copy=False)
    )
    if one_in:
        labels = [
            exp.Paren(this=exp.BitwiseAnd(this=key.copy(), expression=literal(classes[word]))) if carried[word] else key
            for word, key in enumerate(keys)
        ]
        query.where(_chosen([label.copy() for label in labels], one_in), copy=False)
    return query


def _chosen(keys: Sequence[exp.Expr], one_in: int) -> exp.Expr:
    """A condition on the class alone, so that it takes or leaves whole classes; the prime spreads neighbours."""
    mixed: exp.Expr = keys[0]
    for key in keys[1:]:
        mixed = exp.Paren(this=exp.BitwiseXor(this=mixed, expression=key))
    spread = exp.Paren(this=exp.Mod(this=mixed, expression=literal(_PRIME)))
    return exp.EQ(this=exp.Mod(this=spread, expression=literal(one_in)), expression=literal(0))


def rows_of_tags(rollup: str) -> exp.Select:
    """The rollup's rows of a batch: from the tag that is the first parameter to the second; tags count from 0 there."""
    between = exp.Between(this=column("tag"), low=parameter(1), high=parameter(2))
    place = exp.Sub(this=column("tag"), expression=parameter(1))
    star = exp.Star(**{"except_": [identifier("tag")]})
    return exp.select(alias(place, "tag"), star).from_(relation(rollup), copy=False).where(between, copy=False)


def rows_held(rollup: str) -> exp.Select:
    """How many rows the rollup has under each tag, from the tag that is the first parameter to the second."""
    between = exp.Between(this=column("tag"), low=parameter(1), high=parameter(2))
    query = exp.select(column("tag"), exp.Count(this=exp.Star())).from_(relation(rollup), copy=False)
    return query.where(between, copy=False).group_by(column("tag"), copy=False)


def rows_at_places(rollup: str) -> exp.Select:
    """The rollup's rows of chosen nodes. The parameters are lists with an item a node: its tag and its place."""
    lists = [alias(exp.Explode(this=_integers(parameter(i))), name) for i, name in enumerate(("of", "place"), start=1)]
    same = exp.EQ(this=column("tag", "fine"), expression=column("of", "chosen"))
    others = exp.Column(this=exp.Star(**{"except_": [identifier("tag")]}), table=identifier("fine"))
    return (
        exp.select(alias(column("place", "chosen"), "tag"), others)
        .from_(relation(rollup, as_="fine"), copy=False)
        .join(exp.select(*lists).subquery("chosen"), on=same, copy=False)
    )


def withheld_at_once(batch: Batch, rows: exp.Query, public: exp.Query | None = None) -> list[Step]:
    """Steps that end in withheld(place, class_id, size): the classes of many nodes that violate by themselves."""
    names = relation_names(batch.requirements)
    parts = [alias(batch.place(column("class_id")), "place"), column("class_id"), column("size")]
    broken = exp.select(*parts).from_(violations(batch.requirements, names).subquery("violation"))
    return [*batch.relations(rows, public), ("withheld", broken)]


def public_rows(public: str, words: int, first: int) -> exp.Select:
    """The public table's rows at the nodes of a batch.

    The parameters from `first` on are lists with an item a node: its place, and its mask of each word.
    """
    names = ["tag", *(f"mask_{word}" for word in range(words))]
    lists = [alias(exp.Explode(this=_integers(parameter(first + i))), name) for i, name in enumerate(names)]
    keys = [_masked(word, column(f"mask_{word}", "node"), "fine") for word in range(words)]
    total = alias(_sum(column("n", "fine")), "n")
    return (
        exp.select(column("tag", "node"), *(alias(key, key_name(word)) for word, key in enumerate(keys)), total)
        .from_(relation(public, as_="fine"), copy=False)
        .join(exp.select(*lists).subquery("node"), join_type="CROSS", copy=False)
        .group_by(column("tag", "node"), *(key.copy() for key in keys), copy=False)
    )


def carried_code(layout: KeyLayout, places: Sequence[int], of: str | None = None) -> exp.Expr:
    """One number for the values of the carried columns at these places; for a single column, its code."""
    parts: list[exp.Expr] = []
    offset = 0
    for place in places:
        part = _carried(layout.carried[place], of)
        parts.append(exp.Paren(this=exp.BitwiseLeftShift(this=part, expression=literal(offset))) if offset else part)
        offset += layout.carried[place].bits
    total = parts[0]
    for part in parts[1:]:
        total = exp.Add(this=total, expression=part)
    return total


def _carried(field: Field, of: str | None) -> exp.Expr:
    masked = exp.Paren(this=exp.BitwiseAnd(this=column(key_name(field.word), of), expression=literal(field.mask)))
    return exp.Paren(this=exp.BitwiseRightShift(this=masked, expression=literal(field.shift)))


@dataclass(frozen=True)
class Batch:
    """What the normal relations of a batch are made of.

    `carried` are the columns that the cells carry, in the order of the layout; `guards`
    the guarding column of each requirement that has one, by its place; `given` the
    relations that are the same for all nodes, sensitive_value of the whole source among
    them; `public` the public table's cells, if there is one.
    """

    layout: KeyLayout
    requirements: Sequence[Asks]
    entity: bool
    carried: tuple[str, ...] = ()
    guards: tuple[tuple[int, str], ...] = ()
    given: tuple[Step, ...] = ()
    public: str | None = None

    @property
    def packed(self) -> bool:
        """Whether a node's place fits beside the key in one number."""
        return self.layout.words == 1 and self.layout.used + _PLACE_BITS <= WORD_BITS

    def class_id(self, tag: exp.Expr | None = None) -> exp.Expr:
        """The place of the node and the part of the key that names a class of it."""
        tag = column("tag") if tag is None else tag
        masks, carried = self.layout.masks([0] * len(self.layout.fields)), self.layout.carried_masks
        keys = [
            exp.Paren(this=exp.BitwiseAnd(this=column(key_name(word)), expression=literal(masks[word])))
            if carried[word]
            else column(key_name(word))
            for word in range(self.layout.words)
        ]
        if self.packed:
            place = exp.BitwiseLeftShift(this=tag, expression=literal(self.layout.used))
            return exp.Add(this=exp.Paren(this=place), expression=keys[0])
        parts = [("tag", tag), *((key_name(word), key) for word, key in enumerate(keys))]
        return exp.Struct(expressions=[exp.PropertyEQ(this=identifier(name), expression=part) for name, part in parts])

    def place(self, class_id: exp.Expr) -> exp.Expr:
        """The node's place, read from a class_id."""
        if self.packed:
            return exp.BitwiseRightShift(this=class_id, expression=literal(self.layout.used))
        return exp.Dot(this=class_id, expression=identifier("tag"))

    def key(self, class_id: exp.Expr, word: int) -> exp.Expr:
        """A word of the key, read from the class_id of the node at place 0."""
        return class_id if self.packed else exp.Dot(this=class_id, expression=identifier(key_name(word)))

    def relations(self, rows: exp.Query, public: exp.Query | None = None) -> list[Step]:
        """The normal relations of the nodes whose rows are given. `public` are those of the public table."""
        steps: list[Step] = [("node_row", rows)]
        about = subjects(self.requirements)
        # Rows of the rollup differ in their key: where all that is carried is the subject, each is one of its rows.
        whole = not self.entity and len(about) == 1 and len(about[0]) == len(self.carried)
        for number, subject in enumerate(about):
            steps.append((f"class_sensitive_value_{number}", self._sensitive(subject, unique=whole)))
        steps.append(("equivalence_class", self._classes(len(about) == 1 and whole)))
        for place, guard in self.guards:
            steps.append((f"guarded_{place}", self._guarded(guard)))
        if public is not None:
            steps.append(("public_row", public))
            named = exp.select(alias(self.class_id(), "class_id"), alias(_sum(column("n")), "n"))
            steps.append(("public_class", named.from_(relation("public_row")).group_by(self.class_id())))
        return [*steps, *self.given]

    def _sensitive(self, subject: Sequence[str], unique: bool) -> exp.Select:
        value = carried_code(self.layout, [self.carried.index(name) for name in subject])
        named = [alias(self.class_id(), "class_id"), alias(value, "value")]
        if unique:
            return exp.select(*named, column("n")).from_(relation("node_row"), copy=False)
        query = exp.select(*named, alias(_sum(column("n")), "n")).from_(relation("node_row"), copy=False)
        return query.group_by(self.class_id(), value.copy(), copy=False)

    def _classes(self, summed: bool) -> exp.Select:
        if summed:
            size = _sum(column("n"))
            query = exp.select(column("class_id"), alias(size, "size"), alias(size.copy(), "entities"))
            return query.from_(relation("class_sensitive_value_0")).group_by(column("class_id"))
        label = alias(self.class_id(), "class_id")
        if not self.carried and not self.entity:
            query = exp.select(label, alias(column("n"), "size"), alias(column("n"), "entities"))
            return query.from_(relation("node_row"), copy=False)
        size = _sum(column("n"))
        entities = respondents(column("entity")) if self.entity else size.copy()
        query = exp.select(label, alias(size, "size"), alias(entities, "entities"))
        return query.from_(relation("node_row"), copy=False).group_by(self.class_id(), copy=False)

    def _guarded(self, guard: str) -> exp.Select:
        node = carried_code(self.layout, [self.carried.index(guard)])
        query = exp.select(alias(self.class_id(), "class_id"), alias(node, "node")).distinct(copy=False)
        return query.from_(relation("node_row"), copy=False)


def counts(batch: Batch, rows: exp.Query, public: exp.Query | None = None) -> exp.Select:
    """A row for each node of a batch, by its place.

    Its classes and the sum of their squared sizes, the rows and the excess of those that
    violate, the rows of the rollup that it has, and how many classes violate.
    """
    names = relation_names(batch.requirements)
    place = batch.place(column("class_id"))
    both = [alias(exp.Sum(this=column(name)), name) for name in ("size", "excess")]
    both.append(alias(exp.Count(this=exp.Star()), "violating"))
    broken = exp.select(alias(place, "place"), *both).from_(violations(batch.requirements, names).subquery("violation"))
    broken = broken.group_by(place.copy())
    squares = exp.Sum(this=exp.Mul(this=column("size"), expression=column("size")))
    classes = alias(exp.Count(this=exp.Star()), "classes")
    every = exp.select(alias(place.copy(), "place"), classes, alias(squares, "squares"))
    every = every.from_(relation("equivalence_class")).group_by(place.copy())
    held = exp.select(column("tag"), alias(exp.Count(this=exp.Star()), "rows")).from_(relation("node_row"))
    held = held.group_by(column("tag"))
    same = exp.EQ(this=column("place", "every"), expression=column("place", "broken"))
    known = exp.Coalesce(this=column("place", "every"), expressions=[column("place", "broken")])
    query = (
        exp.select(known, *(_or_zero(column(*part)) for part in _COUNTED))
        .from_(every.subquery("every"), copy=False)
        .join(broken.subquery("broken"), on=same, join_type="FULL", copy=False)
        .join(held.subquery("held"), on=exp.EQ(this=column("tag", "held"), expression=known.copy()), join_type="LEFT")
    )
    return with_steps(query, batch.relations(rows, public))


_COUNTED = (
    ("classes", "every"),
    ("squares", "every"),
    ("size", "broken"),
    ("excess", "broken"),
    ("rows", "held"),
    ("violating", "broken"),
)


def _or_zero(tree: exp.Expr) -> exp.Expr:
    return exp.Coalesce(this=tree, expressions=[literal(0)])


def withheld(batch: Batch, rows: exp.Query, public: exp.Query | None = None) -> list[Step]:
    """Steps that end in withheld(place, class_id, size): what the guard withholds of one node, in all its rounds."""
    kept = exp.select(column("class_id")).from_(relation("kept"))
    place = alias(exp.Cast(this=literal(0), to=exp.DataType.build("BIGINT")), "place")
    others = exp.select(place, column("class_id"), column("size")).from_(relation("equivalence_class"))
    others = others.where(exp.Not(this=exp.In(this=column("class_id"), query=kept.subquery())))
    return [*batch.relations(rows, public), *kept_classes(batch.requirements), ("withheld", others)]
