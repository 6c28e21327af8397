"""Guarding nodes (Xiao and Tao 2006): the nodes of the sensitive hierarchy that respondents named for themselves."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text, ascending, is_not_null, order_by, window
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.build.steps import Step
from sqlanon.sql.cells.taxonomy import level_labels
from sqlanon.sql.classes.rows import Rows


def guarding_steps(index: int, rows: Rows, guard: str, paths: str, height: int) -> list[Step]:
    """The relations guarded and guarding_node of the requirement at `index`, and what they are made of.

    `guard` is the column of the rows with the texts of the nodes, `paths` the name of
    the `sensitive_path` of the attribute that they guard.
    """
    counted, coded = f"class_guard_{index}", f"guard_code_{index}"
    return [
        (counted, _class_guard(rows, guard)),
        (coded, _guard_code(counted)),
        (f"guarded_{index}", _guarded(counted, coded)),
        (f"guard_label_{index}", _guard_label(coded, paths, height)),
        (f"guarding_node_{index}", _guarding_node(coded, f"guard_label_{index}", paths)),
    ]


def _class_guard(rows: Rows, guard: str) -> exp.Select:
    """class_guard_r(class_id, guard): the texts of the guarding nodes of each class. NULL guards against nothing."""
    value = rows.value(guard)
    text = as_text(value)
    query = rows.grouped(text).select(alias(text.copy(), "guard"), copy=False)
    return query.where(_known(value.copy()), copy=False)


def _known(value: exp.Expr) -> exp.Expr:
    return is_not_null(value)


def _guard_code(counted: str) -> exp.Select:
    """guard_code_r(guard, node): the texts, numbered in their order."""
    guards = exp.select(column("guard")).distinct(copy=False).from_(relation(counted), copy=False)
    by = order_by(ascending(column("guard")))
    node = alias(window(f.row_number(), order=by), "node")
    return exp.select(column("guard"), node).from_(guards.subquery("occurring"), copy=False)


def _guarded(counted: str, coded: str) -> exp.Select:
    """guarded_r(class_id, node): the distinct guarding nodes of each class."""
    same = column("guard", "counted").eq(column("guard", "coded"))
    return (
        exp.select(column("class_id", "counted"), column("node", "coded"))
        .from_(relation(counted, as_="counted"), copy=False)
        .join(relation(coded, as_="coded"), on=same, copy=False)
    )


def _guard_label(coded: str, paths: str, height: int) -> exp.Select:
    """guard_label_r(node, code, level, highest): the labels that a guarding node's text may mean, each by its values.

    A label may stand on several levels; `highest` is the most general of them. `*` is no label.
    """
    same = column("guard", "coded").eq(column("label", "labels"))
    named = column("guard", "coded").neq("*")
    highest = window(f.max(column("level", "labels")), partition_by=[column("node", "coded")])
    return (
        exp.select(
            column("node", "coded"), column("code", "labels"), column("level", "labels"), alias(highest, "highest")
        )
        .from_(relation(coded, as_="coded"), copy=False)
        .join(level_labels(paths, height).subquery("labels"), on=exp.and_(same, named), copy=False)
    )


def _guarding_node(coded: str, meant: str, paths: str) -> exp.Query:
    """guarding_node_r(node, value): the values that occur below each guarding node.

    `*`, and a text that is no label, guards against every value: what cannot be
    understood is not published.
    """
    below = (
        exp.select(column("node"), alias(column("code"), "value"))
        .from_(relation(meant), copy=False)
        .where(column("level").eq(column("highest")), _known(column("code")), copy=False)
    )
    understood = exp.select(column("node")).from_(relation(meant), copy=False)
    rows = (
        exp.select(column("node", "coded"), alias(column("code", "path"), "value"))
        .from_(relation(coded, as_="coded"), copy=False)
        .join(relation(paths, as_="path"), join_type="CROSS", copy=False)
        .where(
            _known(column("code", "path")),
            exp.not_(column("node", "coded").isin(query=understood)),
            copy=False,
        )
    )
    return exp.union(below, rows, distinct=True, copy=False)
