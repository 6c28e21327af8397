"""The public table D of k-map and delta-presence, recoded as the release is and counted by class.

Its rows are the relation "public" (value_0, value_1, ...), with a column for each quasi-identifier. Where a row of it
stands for several, a column `weight` has their number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import cast, if_, is_null, total, try_cast
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.classes.rows import class_label
from sqlanon.sql.release.recode import Recoding, join_codes
from sqlanon.sql.release.recoding_rounds import join_rounds, round_labels


def _public_value(index: int) -> exp.Column:
    return column(f"value_{index}", "public")


def _value(index: int, bound: BoundAttribute, typed: bool) -> exp.Expr:
    """The public table's value in the type of the source's; NULL for a value of another type, unless `typed`."""
    value = _public_value(index)
    return cast(value, bound.published_type) if typed else try_cast(value, bound.published_type)


def _is_null(value: exp.Expr) -> exp.Expr:
    return is_null(value)


def public_values(index: int, bound: BoundAttribute, *, typed: bool) -> exp.Select:
    """The values of one quasi-identifier that occur in the public table; `typed` as for `public_rows`."""
    return exp.select(alias(_value(index, bound, typed), "value")).from_(relation("public"))


def public_rows(recodings: Sequence[tuple[int, Recoding]], weight: str | None = None, *, typed: bool) -> exp.Select:
    """public_recoded(class_id, has_class, label_i): every public row with its class and its labels.

    A row without a class - it has a value that a stored hierarchy does not list, or
    that is none of the column's type - gets a class_id that no class of the release has. If `typed`, the columns are
    known to have the types of the source's.
    """
    query = exp.select().from_(relation("public"))
    conditions = [] if typed else _same_kind(recodings)
    key = join_codes(query, recodings, partial(_value, typed=typed), conditions=conditions, outer=True)
    has_class = exp.and_(exp.true(), *(exp.not_(_is_null(column("code", f"recode_{i}"))) for i, _ in recodings))
    labels = [alias(column("label", f"recode_{i}"), f"label_{i}") for i, _ in recodings]
    weights = [] if weight is None else [column(weight, "public")]
    return query.select(alias(key, "class_id"), alias(has_class, "has_class"), *labels, *weights, copy=False)


def public_labelled(recodings: Sequence[tuple[int, Recoding]]) -> exp.Select:
    """public_labelled(class_1, ..., labels): every public row with its class in each round of a local recoding."""
    query = exp.select().from_(relation("public"))
    classes = join_rounds(query, recodings, partial(_value, typed=False), _same_kind(recodings))
    return query.select(*classes, *round_labels(recodings), copy=False)


def _same_kind(recodings: Sequence[tuple[int, Recoding]]) -> list[exp.Expr]:
    """Conditions that a value is NULL as the source has it, and not because its text is no value of the type."""
    return [exp.or_(_is_null(_public_value(i)), exp.not_(_is_null(_value(i, r.bound, False)))) for i, r in recodings]


def public_class(weight: str | None = None) -> exp.Select:
    """public_class(class_id, n): the public rows of each class, by the keys of the release."""
    count = alias(f.count() if weight is None else total(column(weight)), "n")
    return exp.select(column("class_id"), count).from_(relation("public_recoded")).group_by(column("class_id"))


def public_label_class(labels_by_attribute: Mapping[str, exp.Expr], labels: Sequence[exp.Expr]) -> exp.Select:
    """public_class(class_id, n), by what a class shows of each quasi-identifier; NULL for rows without a class."""
    class_id = if_(column("has_class"), class_label(labels_by_attribute))
    count = alias(f.count(), "n")
    query = exp.select(alias(class_id, "class_id"), count).from_(relation("public_recoded"))
    return query.group_by(column("has_class"), *labels)
