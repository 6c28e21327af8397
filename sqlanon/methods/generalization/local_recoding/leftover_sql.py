"""The cells that a node publishes and those that it leaves, as tables that can be searched and counted again."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.methods.generalization.lattice.batch_sql import Batch
from sqlanon.methods.generalization.lattice.node_rows_sql import withheld_at_once
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import big, identical, infix, or_zero, paren
from sqlanon.sqlgen.build.names import alias, column, identifier, literal, relation
from sqlanon.sqlgen.build.steps import with_steps
from sqlanon.sqlgen.cells.cells import codes, key_name
from sqlanon.sqlgen.cells.key_layout import Field, KeyLayout

__all__ = ["classes_kept", "divided", "recounted"]


def classes_kept(batch: Batch, rows: exp.Query, public: exp.Query | None) -> exp.Select:
    """The classes of one node that violate nothing by themselves, by the words of their keys: key_0, ...."""
    withheld = exp.select(column("class_id")).from_(relation("withheld"))
    words = [alias(batch.key(column("class_id"), word), key_name(word)) for word in range(batch.layout.words)]
    query = exp.select(*words).from_(relation("equivalence_class"))
    query = query.where(exp.not_(column("class_id").isin(query=withheld)))
    return with_steps(query, withheld_at_once(batch, rows, public))


def divided(cells: str, layout: KeyLayout, levels: Sequence[int], classes: str, *, within: bool) -> exp.Select:
    """The cells whose class at these levels is among `classes`, a table of key words, or is not."""
    in_class = [
        paren(infix(column(key_name(word), "cell"), "&", mask)).eq(column(key_name(word), "class"))
        for word, mask in enumerate(layout.masks(levels))
    ]
    exists = exp.Exists(this=exp.select(literal(1)).from_(relation(classes, as_="class")).where(*in_class))
    query = exp.select(exp.Column(this=exp.Star(), table=identifier("cell"))).from_(relation(cells, as_="cell"))
    return query.where(exists if within else exp.not_(exists))


def recounted(tree: str, fields: Sequence[Field], cells: str) -> exp.Select:
    """An attribute's tree with how often each value occurs in these cells; its leaves stay what they are."""
    coded = codes(relation(tree), fields)
    if coded is None:
        values: exp.Query = exp.select(column("value")).from_(relation(tree))
        in_cell: list[exp.Expr] = [exp.true()]
    else:
        values, in_cell = coded, []
        for word in sorted({field.word for field in fields if field.bits}):
            mask = sum(field.mask for field in fields if field.word == word)
            code = infix(column(key_name(word), "cell"), "&", mask)
            in_cell.append(paren(code).eq(column(key_name(word), "coded")))
    counted = (
        exp.select(column("value", "coded"), alias(big(or_zero(f.sum(column("n", "cell")))), "n"))
        .from_(values.subquery("coded"))
        .join(relation(cells, as_="cell"), on=exp.and_(*in_cell), join_type="LEFT")
        .group_by(column("value", "coded"))
    )
    on = identical(column("value", "counted"), column("value", "tree"))
    others = exp.Column(this=exp.Star(**{"except_": [identifier("n")]}), table=identifier("tree"))
    query = exp.select(others, column("n", "counted")).from_(relation(tree, as_="tree"))
    return query.join(counted.subquery("counted"), on=on)
