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
from typing import Any

from sqlglot import exp

from sqlanon.domain.identifiers import fold
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    added,
    big,
    infix,
    paren,
    row_alias,
    total,
    union_all,
)
from sqlanon.sql.build.names import alias, column, identifier, literal, parameter
from sqlanon.sql.build.queries import extend, select
from sqlanon.sql.build.sql_files import filled, filled_query, filled_select, query_file
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
    """The description of a batch of lattice nodes, from which the normal relations of their classes are made.

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
        """Whether one number has room for the index of a node and the key of a class."""
        return self.layout.words == 1 and self.layout.used + _PLACE_BITS <= sizes().word_bits

    def class_id(self, tag: exp.Expr | None = None) -> exp.Expr:
        """The SQL of a class_id: the node's index, and the part of the key that identifies a class."""
        tag = column("tag") if tag is None else tag
        masks, carried = self.layout.masks([0] * len(self.layout.fields)), self.layout.carried_masks
        keys = [_masked(word, masks[word]) if carried[word] else column(key_name(word)) for word in self._words]
        if self.packed:
            return infix(paren(infix(tag, "<<", self.layout.used)), "+", keys[0])
        return self._struct("tag", tag, keys)

    def index(self, class_id: exp.Expr) -> exp.Expr:
        """The SQL of the node's index in a class_id."""
        if self.packed:
            return infix(class_id, ">>", self.layout.used)
        return exp.Dot(this=class_id, expression=identifier("tag"))

    def key(self, class_id: exp.Expr, word: int) -> exp.Expr:
        """The SQL that reads word `word` of the key from a class_id, for the node at index 0."""
        return class_id if self.packed else exp.Dot(this=class_id, expression=identifier(key_name(word)))

    def projected(self, class_id: exp.Expr, columns: Sequence[str]) -> exp.Expr:
        """The SQL of the class by fewer quasi-identifiers that contains a class: the class's key with only
        their bits.
        """
        known = {fold(name) for name in columns}
        levels = [
            0 if fold(name) in known else len(of) for name, of in zip(self.quasi, self.layout.fields, strict=True)
        ]
        masks = self.layout.masks(levels)
        if self.packed:
            index = ((1 << _PLACE_BITS) - 1) << self.layout.used
            return infix(class_id, "&", masks[0] | index)
        keys = [infix(self.key(class_id.copy(), word), "&", mask) for word, mask in enumerate(masks)]
        return self._struct("tag", self.index(class_id), keys)

    def names(self, *, lasting: bool = False) -> list[dict[str, str]]:
        """Returns, for each requirement, the relations that it reads in place of the normal ones, by name.

        `lasting` has the meaning that it has in `relations`.
        """
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
            satisfied = alias(f.max(column("satisfied")), "satisfied")
            open_classes = "SELECT class_id, size, entities FROM equivalence_class WHERE NOT satisfied"
            open_rows = "SELECT * FROM node_row WHERE $class_id IN (SELECT class_id FROM open_class)"
            steps.append(("equivalence_class", self._summed_classes([satisfied])))
            steps.append(("open_class", filled_query(open_classes)))
            steps.append(("open_row", filled_query(open_rows, class_id=self.class_id())))
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
            node = carried_code(self.layout, [self.carried.index(guard)])
            steps.append((f"guarded_{index}", self._distinct(of, [alias(node, "node")])))
        if public is not None:
            steps.append(("public_row", public))
            counted = "SELECT $class_id AS class_id, CAST(sum(n) AS BIGINT) AS n FROM public_row GROUP BY $class_id"
            steps.append(("public_class", filled_query(counted, class_id=self.class_id())))
        if projections(self.requirements):
            if self.entity:
                steps.append((RESPONDENTS, self._distinct(of, [column("entity")])))
            steps += projection_steps(self.requirements, entity=self.entity)
        return [*steps, *self.fixed_relations]

    @property
    def _words(self) -> range:
        return range(self.layout.words)

    def _struct(self, first: str, value: exp.Expr, keys: Sequence[exp.Expr]) -> exp.Expr:
        """The SQL of a struct of a value, named `first`, and the words of a key."""
        names = [first, *map(key_name, self._words)]
        return filled("""{"{names}": $values}""", names={"names": names}, values=[value, *keys])

    def _distinct(self, of: str, columns: Sequence[exp.Expr]) -> exp.Query:
        """SELECT of the distinct combinations of class_id and these columns in the relation `of`."""
        text = "SELECT DISTINCT $class_id AS class_id, $columns FROM node_row"
        return filled_query(text, tables={"node_row": of}, class_id=self.class_id(), columns=columns)

    def _supersets(self) -> exp.Query:
        """SELECT of class_id, superset_id: each class with the part of its key that each vector of levels keeps.

        A vector that is not above the class's node counts as the lowest vector above both.
        """
        low = self.node or [0] * len(self.layout.fields)
        levels = (range(least, len(of) + 1) for least, of in zip(low, self.layout.fields, strict=True))
        masks = dict.fromkeys(map(self.layout.masks, product(*levels)))
        names = [f"mask_{word}" for word in self._words]
        rows = [
            exp.Tuple(expressions=[big(literal(part)) for part in (*of, number)]) for number, of in enumerate(masks)
        ]
        vectors = exp.Values(expressions=rows, alias=row_alias("vector", [*names, "vector"]))
        key = column("class_id", "class")
        keys = [self.key(key, word) for word in self._words]
        tables = {"vectors": select(exp.Star(), of=vectors)}
        return query_file(
            "lattice", "supersets", tables=tables, names={"masks": names}, index=self.index(key), keys=keys
        )

    def _superset_within(self, within: Mapping[str, int]) -> exp.Query:
        """SELECT of class_id, superset_id for one vector of levels, which is above or equal to all nodes."""
        at = {fold(name): level for name, level in within.items()}
        levels = [at.get(fold(name), len(of)) for name, of in zip(self.quasi, self.layout.fields, strict=True)]
        masks = enumerate(self.layout.masks(levels))
        keys = [filled("(($key) & $mask)", key=self.key(column("class_id"), word), mask=mask) for word, mask in masks]
        superset_id = self._struct("tag", self.index(column("class_id")), keys)
        return filled_query(
            "SELECT class_id, $superset_id AS superset_id FROM equivalence_class", superset_id=superset_id
        )

    def _sensitive(self, subject: Sequence[str], of: str, *, unique: bool) -> exp.Query:
        value = carried_code(self.layout, [self.carried.index(name) for name in subject])
        summed = [] if unique else [self.class_id(), value]
        return filled_query(
            "SELECT $class_id AS class_id, $value AS value, $n AS n FROM node_row GROUP BY $summed",
            tables={"node_row": of},
            class_id=self.class_id(),
            value=value,
            n=total(column("n")) if summed else column("n"),
            summed=summed,
        )

    def _classes(self, summed: bool) -> exp.Query:
        if summed:
            return filled_query(_SUMMED_CLASSES, tables={"class_sensitive_value": "class_sensitive_value_0"})
        if not self.carried and not self.entity:
            text = "SELECT $class_id AS class_id, n AS size, n AS entities FROM node_row"
            return filled_query(text, class_id=self.class_id())
        return self._summed_classes([])

    def _summed_classes(self, marks: Sequence[exp.Expr]) -> exp.Query:
        # Rows of the rollup differ in key or respondent: without carried columns, a class has each respondent once.
        entities = respondents(column("entity"), distinct=bool(self.carried)) if self.entity else total(column("n"))
        return filled_query(
            """
            SELECT $class_id AS class_id, $marks, CAST(sum(n) AS BIGINT) AS size, $entities AS entities
            FROM node_row
            GROUP BY $class_id
            """,
            class_id=self.class_id(),
            marks=marks,
            entities=entities,
        )


_SUMMED_CLASSES = """
    SELECT class_id, CAST(sum(n) AS BIGINT) AS size, CAST(sum(n) AS BIGINT) AS entities
    FROM class_sensitive_value
    GROUP BY class_id
"""
# The violating classes of each node, and the same of the classes by a set of quasi-identifiers, of which only the
# excess counts.
_BROKEN = """
    SELECT $index AS index, sum(size) AS size, sum(excess) AS excess, count(*) AS violating
    FROM violation
    GROUP BY $index
"""
_EXCESS = """
    SELECT $index AS index, CAST(0 AS BIGINT) AS size, sum(excess) AS excess, CAST(0 AS BIGINT) AS violating
    FROM violation
    GROUP BY $index
"""


# A key is mixed by arithmetic, which is equal on all engines, unlike hash functions.
_PRIMES = (1_000_003, 1_000_033)
_FACTOR = 7_919


def _masked(word: int, mask: Any, of: str | None = None) -> exp.Expr:
    return paren(infix(column(key_name(word), of), "&", mask))


def rows_of_nodes(
    rollup: str, words: int, entity: bool = False, lasting: bool = False, *, first: int = 1, sources: bool = True
) -> exp.Select:
    """SELECT of the rows of some lattice nodes, to be added to the rollup; see sql/lattice/rows_of_nodes.sql.

    The parameters from `first` on are lists of the nodes' tags, of their `sources` if these are tags of the rollup, and
    of their masks of each word. If `lasting`, rows that are marked `satisfied` are grouped apart.
    """
    masks = [f"mask_{word}" for word in range(words)]
    lists = ["tag", *(["source"] if sources else []), *masks]
    names = {
        "keys": [*map(key_name, range(words))],
        "masks": masks,
        "entity": ["entity"] if entity else [],
        "marks": ["satisfied"] if lasting else [],
        "tag": ["tag"] if sources else [],
        "source": ["source"] if sources else [],
        "names": lists,
    }
    parameters = [parameter(first + index) for index in range(len(lists))]
    query = query_file("lattice", "rows_of_nodes", tables={"rollup": rollup}, names=names, lists=parameters)
    assert isinstance(query, exp.Select)
    return query


def part_of_nodes(rollup: str, layout: KeyLayout, entity: bool, one_in: int, lasting: bool = False) -> exp.Select:
    """SELECT of the rows of about one class in `one_in` of each node in the rollup; each such class is complete.

    The tags of the result are the indexes of a batch.
    """
    query = rows_of_nodes(rollup, layout.words, entity, lasting)
    classes = layout.masks([0] * len(layout.fields))
    labels = [
        _masked(word, filled("({node.mask} & $all)", names={"mask": f"mask_{word}"}, all=mask), "fine")
        for word, mask in enumerate(classes)
    ]
    return extend(query, where=[_sampled(labels, one_in)])


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
    """The SQL condition that selects about one class in `one_in`, by its key; every engine selects the same classes."""
    mixed = added([paren((paren(paren(key) % _PRIMES[0]) * _FACTOR) % _PRIMES[1]) for key in keys])
    return infix(paren(mixed) % one_in, "=", 0)


def rows_of_tags(rollup: str) -> exp.Select:
    """SELECT of the rollup's rows with tags from the first to the second parameter; their tags are numbered from 0."""
    text = "SELECT tag - $1 AS tag, * EXCLUDE (tag) FROM rollup WHERE tag BETWEEN $1 AND $2"
    return filled_select(text, tables={"rollup": rollup})


def row_counts(rollup: str) -> exp.Select:
    """SELECT of tag and the number of its rows in the rollup, for the tags from the first parameter to the second."""
    text = "SELECT tag, count(*) FROM rollup WHERE tag BETWEEN $1 AND $2 GROUP BY tag"
    return filled_select(text, tables={"rollup": rollup})


def violations_at_once(batch: Batch, lasting: bool) -> exp.Query:
    """SELECT of class_id, size, excess: the classes of many nodes that violate a requirement alone.

    Requirements of a whole release are left out, because they are measured node by node.
    """
    each = zip(batch.requirements, batch.names(lasting=lasting), strict=True)
    of_many = [(requirement, names) for requirement, names in each if not requirement.of_whole_release]
    if not of_many:
        return filled_query("SELECT class_id, size, CAST(0 AS DOUBLE) AS excess FROM equivalence_class WHERE FALSE")
    return violations([requirement for requirement, _ in of_many], [names for _, names in of_many])


def withheld_at_once(
    batch: Batch, rows: exp.Query, public: exp.Query | None = None, *, lasting: bool = False
) -> list[Step]:
    """Returns steps that make withheld(index, class_id, size): the classes of many nodes that violate by themselves."""
    tables = {"violation": violations_at_once(batch, lasting)}
    text = "SELECT $index AS index, class_id, size FROM violation"
    broken = filled_query(text, tables=tables, index=batch.index(column("class_id")))
    return [*batch.relations(rows, public, lasting=lasting), ("withheld", broken)]


def counts(batch: Batch, rows: exp.Query, public: exp.Query | None = None, *, lasting: bool = False) -> exp.Query:
    """SELECT of one row for each node of a batch that has a class, with the counts of its classes; see
    sql/lattice/counts.sql.
    """
    index = batch.index(column("class_id"))
    broken = filled_query(_BROKEN, tables={"violation": violations_at_once(batch, lasting)}, index=index)
    if projections(batch.requirements):
        broken = _with_excess_of_sets(batch, broken)
    query = query_file("lattice", "counts", tables={"broken": broken}, index=index)
    return with_steps(query, batch.relations(rows, public, lasting=lasting))


def _with_excess_of_sets(batch: Batch, broken: exp.Query) -> exp.Query:
    """Returns index, size, excess, violating: the figures of each node's violating classes, with the right excess.

    `broken` has these figures by the classes of all quasi-identifiers. The excess is the greatest of the sums of excess
    by one set of quasi-identifiers each: merging classes by one set never increases their excess, while the excess of
    classes by all quasi-identifiers may grow.
    """
    index = batch.index(column("class_id"))
    each = [filled_query(_EXCESS, tables={"violation": query}, index=index) for query in by_sets(batch.requirements)]
    without = "SELECT index, size, CAST(0.0 AS DOUBLE) AS excess, violating FROM rows"
    of_sets = union_all([*each, filled_query(without, tables={"rows": broken})])
    text = """
        SELECT index, max(size) AS size, max(excess) AS excess, max(violating) AS violating FROM of_set GROUP BY index
    """
    return filled_query(text, tables={"of_set": of_sets})


def withheld(batch: Batch, rows: exp.Query, public: exp.Query | None = None) -> list[Step]:
    """Returns steps that make withheld(index, class_id, size): the classes of one node that the guard withholds."""
    others = filled_query(
        """
        SELECT CAST(0 AS BIGINT) AS index, class_id, size FROM equivalence_class
        WHERE NOT class_id IN (SELECT class_id FROM kept)
        """
    )
    guard = kept_classes(batch.requirements, entity=batch.entity)
    return [*batch.relations(rows, public), *guard, ("withheld", others)]


def most_of_withheld(values: str) -> exp.Query:
    """SELECT of gone, rows, most: how frequent values are among withheld rows; see sql/lattice/most_of_withheld.sql.

    `values` is a relation class_sensitive_value.
    """
    return query_file("lattice", "most_of_withheld", tables={"class_sensitive_value": values})
