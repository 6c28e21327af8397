"""Counts the classes of lattice nodes, each grouped from the fewest rows that are fine enough.

A node's classes are unions of the classes of any less general node, so its rows can be computed from the rows of that
node. The rows of all nodes are in one table, so that one statement counts many nodes.

On a source whose combinations are nearly all distinct there are as many cells as rows. Then nodes are counted one at a
time, over a part of their classes first, and their rows are kept if they are much fewer than the cells. If the cells
are on another engine, a node's rows are copied from there if they are few enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import le
from typing import TYPE_CHECKING, Any, TypeVar

from sqlglot import exp

from sqlanon.engines.base import Engine, TooManyRows
from sqlanon.engines.temp_tables import TempTables
from sqlanon.methods.shared.lattice.node_rows_sql import (
    BATCH,
    Batch,
    counts,
    part_of_node,
    part_of_nodes,
    row_counts,
    rows_of_nodes,
    rows_of_tags,
)
from sqlanon.methods.shared.lattice.nodes import Classes, Node, classes_by_index, sizes
from sqlanon.methods.shared.task import Cells
from sqlanon.sql.build.expressions import union_all
from sqlanon.sql.build.functions import count
from sqlanon.sql.build.names import alias, column, identifier, literal, relation
from sqlanon.sql.build.queries import select, subquery
from sqlanon.sql.build.render import create_temporary, repeated
from sqlanon.sql.build.sql_files import filled_query, query_file
from sqlanon.sql.build.steps import with_steps
from sqlanon.sql.cells.cells import key_name
from sqlanon.sql.classes.guard import violations
from sqlanon.sql.classes.rows import projections

if TYPE_CHECKING:
    from numpy.typing import NDArray

_Query = TypeVar("_Query", bound=exp.Query)


class Rollups:
    """The tables from which the rows of lattice nodes are grouped: the cells of the source, and the rollup.

    The rollup is a table with the rows of the nodes that were counted so far, each node under a number, its tag.
    """

    def __init__(self, engine: Engine, cells: Cells, batch: Batch, temp: TempTables) -> None:
        self._engine = engine
        self._cells = cells
        self._batch = batch
        self._temp = temp
        self._sizes = sizes()
        self._texts: dict[str, str] = {}
        self._rollup = ""
        # The query of the rollup's first rows, until the table is made.
        self._first: exp.Select | None = None
        self._tags = 0
        # A part of the classes by all quasi-identifiers has incomplete classes by some of them.
        self._sets = bool(projections(batch.requirements))
        ground = tuple(0 for _ in cells.trees)
        self.cell_count = _count(engine, cells)
        import numpy as np

        # The levels of the node of each tag, one row per tag.
        self._levels: NDArray[Any] = np.zeros((0, len(ground)), dtype=np.int16)
        self._rows: list[int] = []
        self._tag_of: dict[Node, int] = {}
        # Nodes with too many rows to collect; all less general nodes have too many, too.
        self._too_many: list[Node] = []
        if self.cell_count < self._sizes.lasting_from or cells.elsewhere:
            self._batch = replace(batch, lasting=False)
        if self.cell_count < self._sizes.large_source and not cells.elsewhere:
            self._keep_rows(ground, self.cell_count)

    @property
    def batch(self) -> int:
        """The number of lattice nodes that one statement counts: 1 if the source is large."""
        return min(self._sizes.batch, BATCH) if self._rows else 1

    @property
    def lasting(self) -> bool:
        """Whether a class that remains satisfied with any further rows is kept as one row of the rollup."""
        return self._batch.lasting

    @property
    def few(self) -> int:
        """The greatest number of nodes of a lattice that is counted in one statement; 0 if every lattice
        needs several.
        """
        return min(self._sizes.few_nodes, BATCH) if self._rows and self.cell_count <= self._sizes.few_cells else 0

    @property
    def few_of_descent(self) -> int:
        """The greatest size of a lattice at which a descent counts all nodes in one statement, instead of running a
        statement for each step.
        """
        return BATCH if self._rows and self.cell_count <= self._sizes.fewest_cells else self.few

    def look(self, nodes: Sequence[Node], limit: int) -> list[Classes]:
        """Counts the classes of these lattice nodes.

        For a node that needs more than `limit` suppressed rows, the counts may cover only a part of its classes.
        """
        if len(nodes) > BATCH:
            return [*self.look(nodes[:BATCH], limit), *self.look(nodes[BATCH:], limit)]
        finest = self._finest(nodes)
        counted = self._fail_by_a_part(nodes, finest, limit)
        together = [index for index, tag in enumerate(finest) if tag is not None and index not in counted]
        if together:
            counted |= zip(together, self._look_at([nodes[index] for index in together]), strict=True)
        for index, node in enumerate(nodes):
            if index not in counted:
                counted[index] = self._look_alone(node, limit)
        return [counted[index] for index in range(len(nodes))]

    def _fail_by_a_part(self, nodes: Sequence[Node], finest: Sequence[int | None], limit: int) -> dict[int, Classes]:
        """Counts a part of the classes of nodes with many rows. Returns, by index, the counts of the nodes that fail by
        this part.

        `finest` has, for each node, the tag in the rollup from which its rows are grouped; a node has many rows if that
        tag has many.
        """
        if self._cells.public or self._sets:
            return {}
        many = self._sizes.part_from
        large = [index for index, tag in enumerate(finest) if tag is not None and self._rows[tag] >= many]
        if not large:
            return {}
        parts = self._parts([nodes[index] for index in large])
        return {index: part for index, part in zip(large, parts, strict=True) if self._enough(part, limit)}

    def _enough(self, part: Classes, limit: int) -> bool:
        """Whether the counted part of a node's classes shows that the node fails, and further counting would hardly
        rule out more nodes.
        """
        likely = part.excess * self._sizes.one_in
        return part.excess > limit + 1 or (part.suppressed > limit and likely <= self._sizes.times_beyond * limit)

    def _parts(self, nodes: Sequence[Node]) -> list[Classes]:
        """Counts a part of the classes of these nodes, without adding their rows to the rollup."""
        words = [list(word) for word in zip(*(self._masks(node) for node in nodes), strict=True)]
        sources = [int(tag or 0) for tag in self._finest(nodes)]
        self._made()
        classes = classes_by_index(self._engine.rows(self._texts["parts"], [list(range(len(nodes))), sources, *words]))
        return [replace(classes.get(index, Classes()), whole=False) for index in range(len(nodes))]

    def rows_of(self, node: Node) -> tuple[exp.Query, exp.Query | None]:
        """Returns two queries: the rows of a lattice node, and its rows of the public table (None if the policy has
        none).

        Each row of the first query has the index 0, as in a batch with one node.
        """
        cells, layout = self._cells, self._cells.layout
        masks = self._masks(node)
        public = _filled(part_of_node(cells.public, layout, False), masks) if cells.public else None
        tag = self._tag_of.get(node)
        # The row of a satisfied class lacks the carried columns.
        if tag is not None and not self._batch.lasting:
            return _filled(rows_of_tags(self._made()), [tag, tag]), public
        return _filled(self._cells_of_node(0), masks), public

    def _cells_of_node(self, tag: int) -> exp.Select:
        """SELECT of a node's rows, grouped from the cells of the source, under a tag; the node's masks are the
        parameters.
        """
        return part_of_node(self._cells.table, self._cells.layout, self._batch.entity, tag=tag)

    def _masks(self, node: Node) -> list[int]:
        """Returns, for each word of a key, the mask that keeps a node's labels and the carried columns."""
        layout = self._cells.layout
        return [mask | carried for mask, carried in zip(layout.masks(node), layout.carried_masks, strict=True)]

    def rows_of_all(self, nodes: Sequence[Node]) -> tuple[exp.Query, list[list[int]]] | None:
        """Returns the query of the rows of these nodes, each node at its index, with its parameters.

        Returns None unless the rollup has the rows of all these nodes.
        """
        if any(node not in self._tag_of for node in nodes):
            return None
        query = query_file("lattice", "rows_of_indexes", tables={"rollup": self._made()})
        return query, [[self._tag_of[node] for node in nodes], list(range(len(nodes)))]

    def _look_alone(self, node: Node, limit: int) -> Classes:
        if self._cells.elsewhere and self._keep_elsewhere(node):
            return self._look_at([node])[0]
        one_in = 1 if self._sets else self._sizes.one_in
        seen = self._part(node, None if self._sets else one_in)
        if self._enough(seen, limit) and not self._sets:
            return Classes(seen.classes * one_in, seen.squares, seen.suppressed, seen.excess, whole=False)
        if seen.rows * one_in * self._sizes.times_fewer <= self.cell_count and not self._cells.elsewhere:
            self._keep_rows(node, seen.rows * one_in)
            return seen if self._sets else self._look_at([node])[0]
        return seen if self._sets else self._part(node, None)

    def _keep_elsewhere(self, node: Node) -> bool:
        """Copies a node's rows from the cells on another engine into the rollup; returns False if there are too
        many.
        """
        if any(all(map(le, node, other)) for other in self._too_many):
            return False
        query = _filled(self._cells_of_node(self._tags), self._masks(node))
        try:
            table, count = self._temp.counted_table("node_rows", query)
        except TooManyRows:
            self._too_many.append(node)
            return False
        self._keep(node, select(exp.Star(), of=relation(table)), count)
        return True

    def _part(self, node: Node, one_in: int | None) -> Classes:
        """Counts the classes of a node from the cells, or only about one class in `one_in` if that is given."""
        if self._cells.elsewhere:
            answers = self._engine.rows(_filled(self._part_query(one_in), self._masks(node)))
        else:
            if (name := f"part {one_in}") not in self._texts:
                self._texts[name] = repeated(self._part_query(one_in))
            answers = self._engine.rows(self._texts[name], self._masks(node))
        return classes_by_index(answers).get(0, Classes())

    def _part_query(self, one_in: int | None) -> exp.Query:
        """Returns the query `counts` of a node's classes, from the cells or from about one class in `one_in` of them.

        The node's masks are the parameters of the query.
        """
        cells, layout = self._cells, self._cells.layout
        rows = part_of_node(cells.table, layout, self._batch.entity, one_in=one_in)
        public = part_of_node(cells.public, layout, False, one_in=one_in) if cells.public else None
        return counts(self._batch, rows, public)

    def _keep_rows(self, node: Node, rows: int) -> None:
        """Copies a node's rows from the cells into the rollup, the table of the rows of counted nodes."""
        query = _filled(self._cells_of_node(self._tags), self._masks(node))
        if self._batch.lasting:
            query = select(exp.Star(), alias(exp.false(), "satisfied"), of=subquery(query, "fine"))
        self._keep(node, query, rows)

    def _keep(self, node: Node, query: exp.Select, rows: int) -> None:
        """Adds the rows of a lattice node to the rollup, the table of the rows of counted nodes; `rows` is their
        number.
        """
        if not self._rollup:
            self._rollup, self._first = self._temp.name("rollup"), query
            if self._batch.lasting or self.cell_count > self._sizes.few_cells:
                self._made()
            self._write()
        else:
            self._engine.run(exp.insert(query, relation(self._made()), copy=False))
        self._note([node], [rows])

    def _made(self, nodes: Sequence[Sequence[int]] = ()) -> str:
        """Returns the name of the rollup; makes the table at the first call, with the rows of the given nodes.

        `nodes` are the parameters of `rows_of_nodes` for these nodes.
        """
        if self._first is not None:
            rows: exp.Query = self._first
            if nodes:
                new = rows_of_nodes("first_rows", self._cells.layout.words, self._batch.entity)
                rows = union_all([all_rows("first_rows"), new]).with_(identifier("first_rows"), as_=rows, copy=False)
            self._engine.run(create_temporary("TABLE", self._rollup, rows), nodes)
            self._first = None
        return self._rollup

    def _write(self) -> None:
        """Renders the texts of the statements that read or change the rollup, because they run repeatedly."""
        batch, layout, rollup, lasting = self._batch, self._cells.layout, self._rollup, self._batch.lasting
        new = rows_of_nodes(rollup, layout.words, batch.entity, lasting)
        public = rows_of_nodes(self._cells.public, layout.words, first=3, sources=False) if self._cells.public else None
        queries: dict[str, exp.Expr] = {"row_counts": row_counts(rollup)}
        if self.cell_count >= self._sizes.part_from:
            parts = part_of_nodes(rollup, layout, batch.entity, self._sizes.one_in, lasting)
            queries["parts"] = counts(batch, parts, lasting=lasting)
        if lasting:
            nothing = select(literal(0))
            fresh, classes = (self._temp.table(name, nothing.copy()) for name in ("fresh", "classes"))
            judged = judged_classes(batch, all_rows(fresh))
            queries["fresh"] = create_temporary("TABLE", fresh, new, replace=True)
            queries["judged"] = create_temporary("TABLE", classes, judged, replace=True)
            index = batch.index(column("class_id"))
            queries["look"] = query_file("lattice", "class_counts", tables={"classes": classes}, index=index)
            queries["keep"] = exp.insert(kept_rows(batch, fresh, classes), relation(rollup), copy=False)
        else:
            queries["add"] = exp.insert(new, relation(rollup), copy=False)
            queries["look"] = counts(batch, rows_of_tags(rollup), public)
        self._texts |= {name: repeated(query) for name, query in queries.items()}

    def _look_at(self, nodes: Sequence[Node]) -> list[Classes]:
        """Adds the rows of nodes to the rollup, and counts the nodes' classes there."""
        sources = [int(tag or 0) for tag in self._finest(nodes)]
        if sum(self._rows[tag] for tag in sources) > self._sizes.meet_from:
            self._add_meets(nodes)
            sources = [int(tag or 0) for tag in self._finest(nodes)]
        words = self._add(nodes, sources)
        if self._batch.lasting:
            classes = classes_by_index(self._engine.rows(self._texts["look"]))
        else:
            others = [list(range(len(nodes))), *words] if self._cells.public else []
            tags = [self._tags, self._tags + len(nodes) - 1]
            classes = classes_by_index(self._engine.rows(self._texts["look"], [*tags, *others]))
        of_nodes = [classes.get(index, Classes()) for index in range(len(nodes))]
        self._note(nodes, self._row_counts(nodes) if self._batch.lasting else [counted.rows for counted in of_nodes])
        return of_nodes

    def _add(self, nodes: Sequence[Node], sources: Sequence[int]) -> list[list[int]]:
        """Adds the rows of nodes to the rollup, each grouped from the rows of a tag in `sources`.

        Returns, for each word of a key, the nodes' masks.
        """
        words = [list(word) for word in zip(*(self._masks(node) for node in nodes), strict=True)]
        first, indexes = self._tags, list(range(len(nodes)))
        if self._batch.lasting:
            self._engine.run(self._texts["fresh"], [indexes, list(sources), *words])
            self._engine.run(self._texts["judged"])
            self._engine.run(self._texts["keep"], [first])
        else:
            parameters = [[first + index for index in indexes], list(sources), *words]
            if self._first is not None:
                self._made(parameters)
            else:
                self._engine.run(self._texts["add"], parameters)
        return words

    def _row_counts(self, nodes: Sequence[Node]) -> list[int]:
        """Counts the rows that the rollup has of each of these nodes, which must be the nodes that were added last."""
        first = self._tags
        rows = dict(self._engine.rows(self._texts["row_counts"], [first, first + len(nodes) - 1]))
        return [int(rows.get(first + index, 0)) for index in range(len(nodes))]

    def _add_meets(self, nodes: Sequence[Node]) -> None:
        """Adds the meets of groups of these nodes to the rollup, so that many rows are read only once for several
        nodes.

        A meet is the most general node below all nodes of the group.
        """
        meets = dict.fromkeys(self._meets(nodes))
        new = [meet for meet in meets if meet not in self._tag_of]
        if not new:
            return
        self._add(new, [int(tag or 0) for tag in self._finest(new)])
        self._note(new, self._row_counts(new))

    def _meets(self, nodes: Sequence[Node]) -> list[Node]:
        """Returns the meets of a few groups of these nodes; a meet is the most general node below all nodes of its
        group.

        Groups are joined if their meet keeps the fewest bits of a key.
        """
        import numpy as np

        bits = [
            np.array([sum(f.bits for f in fields[level:]) for level in range(len(fields) + 1)])
            for fields in self._cells.layout.fields
        ]
        groups = np.array(nodes, dtype=np.int16)
        while len(groups) > self._sizes.meets:
            meets = np.minimum(groups[:, None, :], groups[None, :, :])
            key_bits = sum(of_level[meets[:, :, index]] for index, of_level in enumerate(bits))
            # No group is joined with itself.
            key_bits = key_bits + 64 * np.eye(len(groups), dtype=int)
            first, second = divmod(int(np.argmin(key_bits)), len(groups))
            joined = meets[first, second]
            groups = np.vstack([np.delete(groups, [first, second], axis=0), joined[None, :]])
        return [tuple(int(level) for level in group) for group in groups]

    def _note(self, nodes: Sequence[Node], rows: Sequence[int]) -> None:
        import numpy as np

        for index, node in enumerate(nodes):
            self._tag_of[node] = self._tags + index
        self._levels = np.vstack([self._levels, np.array(nodes, dtype=np.int16)])
        self._rows += rows
        self._tags += len(nodes)

    def _finest(self, nodes: Sequence[Node]) -> list[int | None]:
        """Returns, for each node, the tag in the rollup with the fewest rows from which the node's rows can be grouped.

        It is None if only the cells of the source distinguish enough.
        """
        import numpy as np

        if not self._rows:
            return [None for _ in nodes]
        sources, targets = self._levels, np.array(nodes, dtype=np.int16)
        fine: Any = np.ones((len(targets), len(sources)), dtype=bool)
        for source, target in zip(sources.T, targets.T, strict=True):
            fine &= source[None, :] <= target[:, None]
        rows = np.where(fine, np.array(self._rows, dtype=np.int64)[None, :], np.iinfo(np.int64).max)
        best = zip(rows.argmin(axis=1).tolist(), fine.any(axis=1).tolist(), strict=True)
        return [tag if has_source else None for tag, has_source in best]


def _count(engine: Engine, cells: Cells) -> int:
    known = cells.count
    return int(engine.rows(select(count(), of=relation(cells.table)))[0][0]) if known is None else known


def _filled(query: _Query, values: Sequence[int]) -> _Query:
    """Replaces the parameters of a query by these values, and returns the query."""
    for index in list(query.find_all(exp.Parameter)):
        index.replace(literal(values[int(index.name) - 1]))
    return query


# Batches whose satisfied classes remain satisfied: one row of such a class is enough for the classes above it.
#
# With respondents or sensitive values a general node has many rows a class, and nearly all of its classes satisfy.


def all_rows(table: str) -> exp.Query:
    """SELECT of all rows of a table of the rollup."""
    return filled_query("SELECT * FROM rows", tables={"rows": table})


def judged_classes(batch: Batch, rows: exp.Query) -> exp.Query:
    """SELECT of class_id, size, excess, satisfied: each class of a `lasting` batch; see
    sql/lattice/judged_classes.sql.
    """
    tables = {"violation": violations(batch.requirements, batch.names(lasting=True))}
    return with_steps(query_file("lattice", "judged_classes", tables=tables), batch.relations(rows, lasting=True))


def kept_rows(batch: Batch, fresh: str, classes: str) -> exp.Query:
    """SELECT of the rows that the rollup keeps of a `lasting` batch; see sql/lattice/kept_rows.sql."""
    layout = batch.layout
    masks = layout.masks([0] * len(layout.fields))
    names = {"keys": [*map(key_name, range(layout.words))], "entity": ["entity"] if batch.entity else []}
    tables = {"fresh": fresh, "classes": classes}
    return query_file(
        "lattice",
        "kept_rows",
        tables=tables,
        names=names,
        class_id=batch.class_id(),
        index=batch.index(column("class_id")),
        words=[batch.key(column("class_id"), word) for word in range(layout.words)],
        masks=masks,
    )
