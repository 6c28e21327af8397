"""The association of a policy's source: drawn where the rows are, and again where it leaves out too many of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from sqlglot import exp

from sqlanon.domain.bound import BoundPolicy
from sqlanon.engines.temp_tables import Scratch
from sqlanon.engines.udfs import registered
from sqlanon.methods.fragmentation.association.associate import Association, Grouping, associate
from sqlanon.methods.fragmentation.association.block_grids import value_name
from sqlanon.methods.fragmentation.association.sizes import sizes
from sqlanon.methods.fragmentation.tables import hides_numbers, numbered_rows, values_of
from sqlanon.methods.shared.task import Task
from sqlanon.sql.build.names import alias, relation


def drawn_association(task: Task, grouping: Grouping, rows: int, most: int) -> tuple[Association, str]:
    """The association of the source's `rows`, of which `most` may be left out, and the copy that they are numbered in.

    Without a copy, which is '''', they have the numbers of the source.
    """
    engine, policy, scratch = task.engine, task.policy, task.scratch
    columns = [name for fragment in grouping.fragments for name in fragment]
    with registered(engine, "random_draw") as draw:
        copied = _copied(policy, columns, scratch) if hides_numbers(policy) else ""
        numbered = numbered_rows(policy, columns, grouping.near, copied)
        return best_of_draws(partial(associate, engine, numbered, grouping, draw, scratch), rows, most), copied


def best_of_draws(drawing: Callable[[], Association], rows: int, most: int) -> Association:
    """An association of `rows`; where one leaves out more than `most`, another is drawn, a few times."""
    made = drawing()
    for _ in range(_more_draws(rows)):
        # What each key by itself forbids, no draw allows.
        if made.least is None or made.least > most or (made.placed and made.left_out <= most):
            break
        made = drawing()
    return made


def _more_draws(rows: int) -> int:
    """How often a draw that leaves out too many rows may be followed by another."""
    return sizes().max_draws - 1 if rows <= sizes().max_rows_drawn_again else 0


def _copied(policy: BoundPolicy, columns: Sequence[str], scratch: Scratch) -> str:
    values = [alias(value, value_name(index)) for index, value in enumerate(values_of(policy, columns))]
    return scratch.table("copied", exp.select(*values).from_(relation(policy.relation, as_="source")))
