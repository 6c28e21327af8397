"""Queries that group the rows of many lattice nodes in one statement, and find their violating classes.

A table `rollup(tag, key_0, ..., n)` has the rows of many nodes, each node under a tag: a row for each class, or for
each combination of a class and its carried columns. The rows of a more general node are grouped from the rows of any
less general node, by `GROUP BY tag, key & mask`. The normal relations of a batch of nodes are made of its rows;
`class_id` contains the node's index in the batch, so the models' own SQL is evaluated for all nodes at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from sqlglot import exp

from sqlanon.domain.identifiers import fold
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    added,
    big,
    cast,
    entry,
    infix,
    is_not_null,
    or_zero,
    paren,
    real,
    row_alias,
    same,
    total,
    union_all,
)
from sqlanon.sql.build.names import alias, column, identifier, literal, parameter, relation
from sqlanon.sql.build.queries import cross_join, extend, full_join, inner_join, left_join, select, subquery
from sqlanon.sql.build.steps import Step, with_steps
from sqlanon.sql.cells.cells import KeyLayout, carried_code, key_name, respondents, rolled_up
from sqlanon.sql.classes.guard import by_sets, kept_classes, violations
from sqlanon.sql.classes.rows import (
    RESPONDENTS,
    SqlRequirement,
    projected_classes,
    projection_steps,
    projections,
    relation_names,
    subjects,
)
from sqlanon.sql.classes.supersets import SUPERSET
from sqlanon.sql.sizes import sizes

# A batch of lattice nodes, and the inputs of the normal relations of their classes.


# The most nodes of a batch; an index needs `_PLACE_BITS` bits beside a key.
BATCH = 64
_PLACE_BITS = 6


@dataclass(frozen=True)
class Batch:
    """The inputs of the normal relations of a batch of nodes.

    `carried` has the columns that the cells carry, in the order of the layout, `guards` the guarding column of each
    requirement that has one, by its index. `fixed_relations` are equal for all nodes, such as sensitive_value of the
    whole source. `public` is the table of the public table's cells, if there is one. `lasting` is true if a satisfied
    class remains satisfied with any further rows; the rollup then has one row of such a class, marked `satisfied`,
    which is enough for the classes above. `quasi` are the quasi-identifiers in the order of the layout. `node` is the
    only node of the batch, if broader classes are the classes of nodes above it.
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
    node: tuple[int, ...] | None = None

    @property
    def packed(self) -> bool:
        """Whether a node's index fits into one number with the key."""
        return self.layout.words == 1 and self.layout.used + _PLACE_BITS <= sizes().word_bits

    def class_id(self, tag: exp.Expr | None = None) -> exp.Expr:
        """The SQL of a class_id: the node's index, and the part of the key that identifies a class."""
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
        """The SQL of the node's index in a class_id."""
        if self.packed:
            return infix(class_id, ">>", self.layout.used)
        return exp.Dot(this=class_id, expression=identifier("tag"))

    def key(self, class_id: exp.Expr, word: int) -> exp.Expr:
        """The SQL that reads word `word` of the key from a class_id, for the node at index 0."""
        return class_id if self.packed else exp.Dot(this=class_id, expression=identifier(key_name(word)))

    def projected(self, class_id: exp.Expr, columns: Sequence[str]) -> exp.Expr:
        """The SQL of the class by fewer quasi-identifiers that contains a class: its key without the other bits."""
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
        """Returns for each requirement the relations that replace the normal ones; `lasting` as in `relations`."""
        named = relation_names(self.requirements)
        if not lasting:
            return named
        return [
            {kind: "open_class" if kind == "equivalence_class" else name for kind, name in n.items()} for n in named
        ]

    def relations(self, rows: exp.Query, public: exp.Query | None = None, *, lasting: bool = False) -> list[Step]:
        """Returns the normal relations of nodes with these rows, as steps; `public` has the nodes' rows of the public
        table.

        If rows are marked `satisfied`, as in a `lasting` batch, requirements are measured only on the other classes:
        these are in `open_class`, while equivalence_class has all classes.
        """
        steps: list[Step] = [("node_row", rows)]
        about = subjects(self.requirements)
        # Rows of the rollup differ in their keys: if only one subject is carried, in the class or its value.
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
        for index, requirement in enumerate(self.requirements):
            if SUPERSET in requirement.reads and requirement.within is not None:
                steps.append((f"{SUPERSET}_{index}", self._superset_within(dict(requirement.within))))
            elif SUPERSET in requirement.reads and SUPERSET not in dict(steps):
                steps.append((SUPERSET, self._supersets()))
        for index, guard in self.guards:
            steps.append((f"guarded_{index}", self._guarded(guard, of)))
        if public is not None:
            steps.append(("public_row", public))
            named = select(alias(self.class_id(), "class_id"), alias(total(column("n")), "n"))
            steps.append(("public_class", named.from_(relation("public_row")).group_by(self.class_id())))
        if projections(self.requirements):
            if self.entity:
                named = select(alias(self.class_id(), "class_id"), column("entity"), distinct=True)
                steps.append((RESPONDENTS, extend(named, of=relation(of))))
            steps += projection_steps(self.requirements, entity=self.entity)
        return [*steps, *self.fixed_relations]

    def _supersets(self) -> exp.Select:
        """SELECT of class_id, superset_id: each class with the part of its key that each vector of levels keeps.

        A vector that is not above the class's node counts as the lowest vector above both.
        """
        low = self.node or [0] * len(self.layout.fields)
        levels = (range(least, len(of) + 1) for least, of in zip(low, self.layout.fields, strict=True))
        masks = dict.fromkeys(map(self.layout.masks, product(*levels)))
        names = [f"mask_{word}" for word in range(self.layout.words)]
        rows = [
            exp.Tuple(expressions=[big(literal(part)) for part in (*of, number)]) for number, of in enumerate(masks)
        ]
        vectors = exp.Values(expressions=rows, alias=row_alias("vector", [*names, "vector"]))
        key = column("class_id", "class")
        parts = [("tag", self.index(key.copy())), ("vector", column("vector", "vector"))]
        parts += [
            (name, paren(infix(paren(self.key(key.copy(), word)), "&", column(name, "vector"))))
            for word, name in enumerate(names)
        ]
        named = exp.Struct(expressions=[entry(name, part) for name, part in parts])
        query = select(key, alias(named, "superset_id"), of=relation("equivalence_class", as_="class"))
        return extend(query, joins=[cross_join(vectors)])

    def _superset_within(self, within: Mapping[str, int]) -> exp.Select:
        """SELECT of class_id, superset_id for one vector of levels, which is above or equal to all nodes."""
        at = {fold(name): level for name, level in within.items()}
        masks = self.layout.masks(
            [at.get(fold(name), len(of)) for name, of in zip(self.quasi, self.layout.fields, strict=True)]
        )
        key = column("class_id")
        parts = [("tag", self.index(key.copy()))]
        parts += [
            (key_name(word), paren(infix(paren(self.key(key.copy(), word)), "&", mask)))
            for word, mask in enumerate(masks)
        ]
        named = exp.Struct(expressions=[entry(name, part) for name, part in parts])
        return select(key, alias(named, "superset_id"), of=relation("equivalence_class"))

    def _sensitive(self, subject: Sequence[str], of: str, *, unique: bool) -> exp.Select:
        value = carried_code(self.layout, [self.carried.index(name) for name in subject])
        named = [alias(self.class_id(), "class_id"), alias(value, "value")]
        if unique:
            return select(*named, column("n"), of=relation(of))
        return select(*named, alias(total(column("n")), "n"), of=relation(of), group_by=[self.class_id(), value])

    def _classes(self, summed: bool) -> exp.Select:
        if summed:
            size = total(column("n"))
            query = select(column("class_id"), alias(size, "size"), alias(size, "entities"))
            return extend(query, of=relation("class_sensitive_value_0"), group_by=[column("class_id")])
        label = alias(self.class_id(), "class_id")
        if not self.carried and not self.entity:
            return select(label, alias(column("n"), "size"), alias(column("n"), "entities"), of=relation("node_row"))
        return self._summed_classes(label)

    def _summed_classes(self, *named: exp.Expr) -> exp.Select:
        size = total(column("n"))
        entities: exp.Expr = size.copy()
        if self.entity:
            # Rows of the rollup differ in key or respondent: without carried columns, a class has each respondent once.
            entities = respondents(column("entity"), distinct=bool(self.carried))
        query = select(*named, alias(size, "size"), alias(entities, "entities"))
        return extend(query, of=relation("node_row"), group_by=[self.class_id()])

    def _marked_classes(self) -> exp.Select:
        satisfied = alias(f.max(column("satisfied")), "satisfied")
        return self._summed_classes(alias(self.class_id(), "class_id"), satisfied)

    def _open_rows(self) -> exp.Select:
        open_ = select(column("class_id"), of=relation("open_class"))
        return select(exp.Star(), of=relation("node_row"), where=[self.class_id().isin(query=open_)])

    def _guarded(self, guard: str, of: str) -> exp.Select:
        node = carried_code(self.layout, [self.carried.index(guard)])
        return select(alias(self.class_id(), "class_id"), alias(node, "node"), of=relation(of), distinct=True)


def _open_classes() -> exp.Select:
    """SELECT of class_id, size, entities: the classes without a satisfied part."""
    query = select(*(column(name) for name in ("class_id", "size", "entities")))
    return extend(query, of=relation("equivalence_class"), where=[exp.not_(column("satisfied"))])


# A key is mixed by arithmetic, which is equal on all engines, unlike hash functions.
_PRIMES = (1_000_003, 1_000_033)
_FACTOR = 7_919


def _masked(word: int, mask: exp.Expr, of: str | None = None) -> exp.Expr:
    return paren(infix(column(key_name(word), of), "&", mask))


def rows_of_nodes(rollup: str, words: int, entity: bool, lasting: bool = False) -> exp.Select:
    """SELECT of the rows of these nodes, each grouped from the rows of another tag, for the rollup.

    The parameters are lists with an item for each node: its tag, its source's tag, and its mask of each word. If
    `lasting`, rows that are marked `satisfied` are grouped apart.
    """
    names = ["tag", "source", *(f"mask_{word}" for word in range(words))]
    lists = [alias(f.unnest(_integers(parameter(i))), name) for i, name in enumerate(names, start=1)]
    keys = [_masked(word, column(f"mask_{word}", "node"), "fine") for word in range(words)]
    others = [column("entity", "fine")] if entity else []
    marks = [column("satisfied", "fine")] if lasting else []
    on = column("tag", "fine").eq(column("source", "node"))
    return select(
        column("tag", "node"),
        *(alias(key, key_name(word)) for word, key in enumerate(keys)),
        *others,
        alias(total(column("n", "fine")), "n"),
        *marks,
        of=relation(rollup, as_="fine"),
        joins=[inner_join(subquery(select(*lists), "node"), on)],
        group_by=[column("tag", "node"), *(*keys, *others, *marks)],
    )


def part_of_nodes(rollup: str, layout: KeyLayout, entity: bool, one_in: int, lasting: bool = False) -> exp.Select:
    """SELECT of all rows of about one class in `one_in` of each node; the tags are the indexes of a batch."""
    query = rows_of_nodes(rollup, layout.words, entity, lasting)
    classes = layout.masks([0] * len(layout.fields))
    labels = [
        _masked(word, paren(infix(column(f"mask_{word}", "node"), "&", mask)), "fine")
        for word, mask in enumerate(classes)
    ]
    return extend(query, where=[_sampled(labels, one_in)])


def _integers(tree: exp.Expr) -> exp.Expr:
    return cast(tree, "BIGINT[]")


def part_of_node(
    cells: str, layout: KeyLayout, entity: bool, tag: int = 0, one_in: int | None = None, first: int = 1
) -> exp.Select:
    """SELECT of the rows of one node, grouped from a table of cells; its masks are the parameters from `first` on.

    If `one_in` is given, the query returns only the rows of about one class in `one_in`, each class complete.
    """
    classes, carried = layout.masks([0] * len(layout.fields)), layout.carried_masks
    masks = [parameter(first + word) for word in range(layout.words)]
    query = rolled_up(cells, masks, entity, alias(big(literal(tag)), "tag"))
    if one_in:
        keys = [_masked(word, mask.copy()) for word, mask in enumerate(masks)]
        labels = [paren(infix(key, "&", classes[word])) if carried[word] else key for word, key in enumerate(keys)]
        extend(query, where=[_sampled(labels, one_in)])
    return query


def _sampled(keys: Sequence[exp.Expr], one_in: int) -> exp.Expr:
    """The SQL condition that chooses about one class in `one_in` by its key; it is the same on every engine."""
    mixed = added([paren((paren(paren(key) % _PRIMES[0]) * _FACTOR) % _PRIMES[1]) for key in keys])
    return infix(paren(mixed) % one_in, "=", 0)


def rows_of_tags(rollup: str) -> exp.Select:
    """SELECT of the rollup's rows of a batch, with tags from the first to the second parameter, numbered anew from
    0.
    """
    between = column("tag").between(parameter(1), parameter(2))
    index = column("tag") - parameter(1)
    star = exp.Star(**{"except_": [identifier("tag")]})
    return select(alias(index, "tag"), star, of=relation(rollup), where=[between])


def row_counts(rollup: str) -> exp.Select:
    """SELECT of tag and the number of its rows in the rollup, for tags from the first to the second parameter."""
    between = column("tag").between(parameter(1), parameter(2))
    return select(column("tag"), f.count(), of=relation(rollup), where=[between], group_by=[column("tag")])


def rows_of_indexes(rollup: str) -> exp.Select:
    """SELECT of the rollup's rows of these nodes, by index. The parameters are lists of their tags and of their
    indexes.
    """
    lists = [alias(f.unnest(_integers(parameter(i))), name) for i, name in enumerate(("of", "index"), start=1)]
    on = column("tag", "fine").eq(column("of", "node"))
    others = exp.Column(this=exp.Star(**{"except_": [identifier("tag")]}), table=identifier("fine"))
    return select(
        alias(column("index", "node"), "tag"),
        others,
        of=relation(rollup, as_="fine"),
        joins=[inner_join(subquery(select(*lists), "node"), on)],
    )


def violations_at_once(batch: Batch, lasting: bool) -> exp.Query:
    """SELECT of class_id, size, excess: the classes of many nodes that violate a requirement alone.

    Requirements of a whole release are left out, because they are measured node by node.
    """
    each = zip(batch.requirements, batch.names(lasting=lasting), strict=True)
    of_many = [(requirement, names) for requirement, names in each if not requirement.of_whole_release]
    if not of_many:
        nothing = [column("class_id"), column("size"), alias(real(0), "excess")]
        return select(*nothing, of=relation("equivalence_class"), where=[exp.false()])
    return violations([requirement for requirement, _ in of_many], [names for _, names in of_many])


def withheld_at_once(
    batch: Batch, rows: exp.Query, public: exp.Query | None = None, *, lasting: bool = False
) -> list[Step]:
    """Returns steps that make withheld(index, class_id, size): the classes of many nodes that violate by themselves."""
    parts = [alias(batch.index(column("class_id")), "index"), column("class_id"), column("size")]
    broken = select(*parts, of=subquery(violations_at_once(batch, lasting), "violation"))
    return [*batch.relations(rows, public, lasting=lasting), ("withheld", broken)]


def public_rows(public: str, words: int, first: int) -> exp.Select:
    """SELECT of the public table's rows at the nodes of a batch.

    The parameters from `first` on are lists with an item for each node: its index, and its mask of each word.
    """
    names = ["tag", *(f"mask_{word}" for word in range(words))]
    lists = [alias(f.unnest(_integers(parameter(first + i))), name) for i, name in enumerate(names)]
    keys = [_masked(word, column(f"mask_{word}", "node"), "fine") for word in range(words)]
    rows = alias(total(column("n", "fine")), "n")
    return select(
        column("tag", "node"),
        *(alias(key, key_name(word)) for word, key in enumerate(keys)),
        rows,
        of=relation(public, as_="fine"),
        joins=[cross_join(subquery(select(*lists), "node"))],
        group_by=[column("tag", "node"), *keys],
    )


def counts(
    batch: Batch,
    rows: exp.Query,
    public: exp.Query | None = None,
    *,
    lasting: bool = False,
) -> exp.Select:
    """SELECT of one row for each node of a batch that has a class.

    The columns are the node's index, the number of its classes and the sum of their squared sizes, the rows and the
    excess of the violating classes, the node's rows in the rollup, and the number of violating classes.
    """
    index = batch.index(column("class_id"))
    both = [alias(f.sum(column(name)), name) for name in ("size", "excess")]
    both.append(alias(f.count(), "violating"))
    violating = violations_at_once(batch, lasting)
    broken = select(alias(index, "index"), *both, of=subquery(violating, "violation"), group_by=[index])
    if projections(batch.requirements):
        broken = _with_excess_of_sets(batch, broken)
    squares = f.sum(column("size") * column("size"))
    classes = alias(f.count(), "classes")
    all_classes = select(alias(index, "index"), classes, alias(squares, "squares"))
    all_classes = extend(all_classes, of=relation("equivalence_class"), group_by=[index])
    node_rows = select(column("tag"), alias(f.count(), "rows"), of=relation("node_row"), group_by=[column("tag")])
    known = f.coalesce(column("index", "all_classes"), column("index", "broken"))
    query = select(
        known,
        *(or_zero(column(*part)) for part in _COUNTED),
        of=subquery(all_classes, "all_classes"),
        joins=[
            full_join(subquery(broken, "broken"), same("index", "all_classes", "broken")),
            left_join(subquery(node_rows, "node_rows"), column("tag", "node_rows").eq(known)),
        ],
    )
    return with_steps(query, batch.relations(rows, public, lasting=lasting))


def _with_excess_of_sets(batch: Batch, broken: exp.Select) -> exp.Select:
    """Returns the violations, each with the greatest excess of any set of quasi-identifiers.

    Merging classes by one set never increases their excess; the excess of classes by all quasi-identifiers may grow.
    """
    index = batch.index(column("class_id"))
    no_rows = alias(big(literal(0)), "size")
    excess = alias(f.sum(column("excess")), "excess")
    each: list[exp.Query] = [
        select(
            alias(index, "index"),
            no_rows,
            excess,
            alias(big(literal(0)), "violating"),
            of=subquery(query, "violation"),
            group_by=[index],
        )
        for query in by_sets(batch.requirements)
    ]
    parts = [column("index"), column("size"), alias(real(0.0), "excess"), column("violating")]
    each.append(select(*parts, of=subquery(broken, "rows")))
    most = [alias(f.max(column(name)), name) for name in ("size", "excess", "violating")]
    return select(column("index"), *most, of=subquery(union_all(each), "of_set"), group_by=[column("index")])


_COUNTED = (
    ("classes", "all_classes"),
    ("squares", "all_classes"),
    ("size", "broken"),
    ("excess", "broken"),
    ("rows", "node_rows"),
    ("violating", "broken"),
)


def withheld(batch: Batch, rows: exp.Query, public: exp.Query | None = None) -> list[Step]:
    """Returns steps that make withheld(index, class_id, size): the classes of one node that the guard withholds."""
    published = select(column("class_id"), of=relation("kept"))
    index = alias(big(literal(0)), "index")
    others = select(index, column("class_id"), column("size"), of=relation("equivalence_class"))
    others = extend(others, where=[exp.not_(column("class_id").isin(query=published))])
    guard = kept_classes(batch.requirements, entity=batch.entity)
    return [*batch.relations(rows, public), *guard, ("withheld", others)]


def most_of_withheld(values: str) -> exp.Select:
    """SELECT of gone, rows, most: the rows, and the rows of the most frequent value, in `withheld` and in other
    classes.

    `values` is the relation class_sensitive_value of an attribute.
    """
    gone = is_not_null(column("class_id", "withheld"))
    counted = select(column("value", "class"), alias(gone, "gone"), alias(total(column("n", "class")), "n"))
    extend(counted, of=relation(values, as_="class"))
    extend(counted, joins=[left_join(relation("withheld"), same("class_id", "class", "withheld"))])
    counted = extend(counted, group_by=[column("value", "class"), gone])
    query = select(column("gone"), alias(total(column("n")), "rows"), alias(f.max(column("n")), "most"))
    return extend(query, of=subquery(counted, "counted"), group_by=[column("gone")])
