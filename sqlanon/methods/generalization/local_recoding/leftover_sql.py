"""The cells that a node keeps and those that it leaves, as tables that can be searched and counted again."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.methods.generalization.lattice.batch_sql import Batch
from sqlanon.methods.generalization.lattice.node_rows_sql import withheld_at_once
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import big, identical, infix, or_zero, paren
from sqlanon.sqlgen.build.names import alias, column, literal, relation
from sqlanon.sqlgen.build.steps import with_steps
from sqlanon.sqlgen.cells.cells import codes, key_name
from sqlanon.sqlgen.cells.key_layout import Field, KeyLayout

__all__ = ["classes_kept", "divided", "recounted"]


def classes_kept(batch: Batch, rows: exp.Query, public: exp.Query | None) -> exp.Select:
    """The classes of one node that violate nothing by themselves, by the words of their keys: key_0, ...."""
    held = exp.select(column("class_id")).from_(relation("withheld")).subquery()
    words = [alias(batch.key(column("class_id"), word), key_name(word)) for word in range(batch.layout.words)]
    kept = exp.select(*words).from_(relation("equivalence_class"))
    kept = kept.where(exp.not_(exp.In(this=column("class_id"), query=held)))
    return with_steps(kept, withheld_at_once(batch, rows, public))


def divided(cells: str, layout: KeyLayout, levels: Sequence[int], classes: str, *, within: bool) -> exp.Select:
    """The cells whose class at these levels is among `classes`, a table of key words, or is not."""
    same = []
    for word, mask in enumerate(layout.masks(levels)):
        label = infix(column(key_name(word), "cell"), "&", literal(mask))
        same.append(paren(label).eq(column(key_name(word), "class")))
    found: exp.Expr = exp.Exists(this=exp.select(literal(1)).from_(relation(classes, as_="class")).where(*same))
    query = exp.select(exp.Column(this=exp.Star(), table=exp.to_identifier("cell", quoted=True)))
    return query.from_(relation(cells, as_="cell")).where(found if within else exp.not_(found))


def recounted(tree: str, fields: Sequence[Field], cells: str) -> exp.Select:
    """An attribute's tree with how often each value occurs in these cells; its leaves stay what they are."""
    total = or_zero(f.sum(column("n", "cell")))
    coded = codes(relation(tree), fields)
    if coded is None:
        counts: exp.Query = exp.select(column("value")).from_(relation(tree))
        same: list[exp.Expr] = [exp.true()]
    else:
        counts, same = coded, []
        for word in sorted({field.word for field in fields if field.bits}):
            own = sum(field.mask for field in fields if field.word == word)
            code = infix(column(key_name(word), "cell"), "&", literal(own))
            same.append(paren(code).eq(column(key_name(word), "coded")))
    number = big(total)
    counted = (
        exp.select(column("value", "coded"), alias(number, "n"))
        .from_(counts.subquery("coded"))
        .join(relation(cells, as_="cell"), on=exp.and_(*same), join_type="LEFT")
        .group_by(column("value", "coded"))
    )
    here = identical(column("value", "counted"), column("value", "tree"))
    star = exp.Star(**{"except_": [exp.to_identifier("n", quoted=True)]})
    others = exp.Column(this=star, table=exp.to_identifier("tree", quoted=True))
    query = exp.select(others, column("n", "counted")).from_(relation(tree, as_="tree"))
    return query.join(counted.subquery("counted"), on=here)
