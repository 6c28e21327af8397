"""The labels of the values that occur in a column, at one level of its hierarchy, and the classes that they make."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.identifiers import fold
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.binary_text import by_bytes, without_collation
from sqlanon.sql.build.expressions import (
    ascending,
    big,
    identical,
    if_,
    infix,
    is_not_null,
    is_null,
    order_by,
    paren,
    try_cast,
    window,
)
from sqlanon.sql.build.names import alias, column, identifier, literal, relation
from sqlanon.sql.cells.cells import class_id, key_name
from sqlanon.sql.cells.key_layout import KeyLayout
from sqlanon.sql.cells.label_codes import numbered, shown_at
from sqlanon.sql.cells.labels import generalized, published_value
from sqlanon.sql.cells.taxonomy import frozen_labels
from sqlanon.sql.hierarchies.base import functional
from sqlanon.sql.sizes import sizes


@dataclass(frozen=True)
class Recoding:
    """A quasi-identifier at its level.

    `later` are its levels in the later rounds of a local recoding, none below the one before.
    """

    bound: BoundAttribute
    level: int
    later: tuple[int, ...] = ()

    @property
    def is_read(self) -> bool:
        """False where the level is `*`: then nothing of the column is read."""
        return self.level < self.bound.height

    @property
    def levels(self) -> tuple[int, ...]:
        """The column's level in each round."""
        return (self.level, *self.later)

    @property
    def mixed(self) -> bool:
        """Whether its level is not the same in all rounds: then its labels are texts."""
        return len(set(self.levels)) > 1


def recode(
    recoding: Recoding, release_id: str, others: exp.Query | None = None, *, collated: bool = False
) -> exp.Select:
    """A row for each value of the relation "source": value, label at the level, and code, the label's number.

    The code of a value that a stored hierarchy does not list is NULL: its rows are withheld.
    `others` are more values to give a label, in the column `value` and of the column's type.
    Where the level is not the same in all rounds there is a label_i and a code_i for each.
    Labels have no collation; `collated` says whether the relation's texts have an explicit one, which they then lose.
    """
    bound = recoding.bound
    distinct = (
        exp.select(alias(published_value(bound), "value")).distinct(copy=False).from_(relation("source"), copy=False)
    )
    values: exp.Query = distinct if others is None else exp.union(distinct, others, distinct=True, copy=False)
    if recoding.mixed:
        return _mixed(recoding, values, release_id)
    occurring = values.subquery("occurring", copy=False)
    labelled = _stored(recoding, occurring, release_id) if bound.stored else _computed(recoding, occurring)
    order = order_by(ascending(column("label")))
    number = window(f.dense_rank(), order=order) - 1
    code: exp.Expr = big(number)
    if bound.stored:
        code = if_(column("listed"), code)
    label: exp.Expr = column("label")
    is_listed_label = bound.stored and recoding.level
    if is_listed_label or (collated and (recoding.level or bound.published_type == "VARCHAR")):
        label = without_collation(label)
    rows = labelled.subquery("labelled", copy=False)
    return exp.select(column("value"), alias(label, "label"), alias(code, "code")).from_(rows, copy=False)


def _mixed(recoding: Recoding, occurring: exp.Query, release_id: str) -> exp.Select:
    """The labels at several levels; those of a stored hierarchy are the catalog's copy for this release."""
    bound, levels = recoding.bound, set(recoding.levels)
    copied = frozen_labels(bound, release_id) if bound.stored else None
    values = generalized(bound, occurring, copied, counted=False).subquery("generalized")
    listed = [column("listed")] if bound.stored else []
    # A value that the hierarchy does not list has no label but `*`.
    needed = sorted(levels - {bound.height}) if bound.stored else []
    return numbered(
        exp.select(column("value"), *shown_at(bound, recoding.levels), *listed).from_(values), recoding.levels, needed
    )


def _computed(recoding: Recoding, occurring: exp.Subquery) -> exp.Select:
    bound = recoding.bound
    label: exp.Expr = column("value")
    if recoding.level and bound.hierarchy:
        kind = functional(bound.hierarchy.kind)
        label = kind.labels(bound.hierarchy, column("value"), bound.published_type)[recoding.level - 1]
    return exp.select(column("value"), alias(label, "label")).from_(occurring, copy=False)


def _stored(recoding: Recoding, occurring: exp.Subquery, release_id: str) -> exp.Select:
    """Labels from the catalog's copy for this release, and whether it lists the value.

    An outer join, though the rows of unlisted values are dropped in the end: an inner
    one would be estimated to have no rows, and the whole release be joined the wrong
    way round.
    """
    bound = recoding.bound
    value = try_cast(by_bytes(column("value")), bound.published_type)
    has_value = is_not_null(value.copy())
    copied = (
        # One row for each value, whatever the table holds: a value listed twice must not double its rows.
        exp.select(alias(value, "value"), alias(f.max(by_bytes(column("label"))), "label"), _listed())
        .from_(relation(("anon", "release_recoding")))
        .where(
            column("release_id").eq(literal(release_id)),
            column("attribute").eq(literal(bound.column)),
            exp.or_(is_null(column("value")), has_value),
        )
        .group_by(value.copy())
    )
    label = column("value", "occurring") if recoding.level == 0 else column("label", "copied")
    same = identical(column("value", "occurring"), column("value", "copied"))
    return (
        exp.select(column("value", "occurring"), alias(label, "label"), column("listed", "copied"))
        .from_(occurring)
        .join(copied.subquery("copied"), on=same, join_type="LEFT")
    )


def _listed() -> exp.Alias:
    return alias(literal(True), "listed")


def join_codes(
    query: exp.Select,
    recodings: Sequence[tuple[int, Recoding]],
    value: Callable[[int, BoundAttribute], exp.Expr],
    *,
    conditions: Sequence[exp.Expr] = (),
    outer: bool = False,
) -> exp.Expr:
    """Joins the labels recode_i to a query's rows, and returns the class_id that their codes make together.

    `value` is the rows' own value of the attribute at an index; `conditions` are further conditions of
    each join. A row without a code for each of its values is left out, or, if
    `outer`, kept in a class that none of the others can be in.
    """
    layout = class_layout(len(recodings))
    words: list[exp.Expr | None] = [None] * layout.words
    for n, ((i, recoding), (spot,)) in enumerate(zip(recodings, layout.fields, strict=True)):
        name = f"recode_{i}"
        code = paren(infix(column("code", name), "<<", literal(spot.shift)))
        before = words[spot.word]
        words[spot.word] = (before + code) if before else code
        same = identical(value(i, recoding.bound), column("value", name))
        # A label beyond the bits of its field would run into another's: its rows are withheld.
        fits = column("code", name) < literal(1 << spot.bits)
        on = exp.and_(same, fits, *conditions[n : n + 1])
        query.join(relation(name), on=on, join_type="LEFT" if outer else "", copy=False)
    zero = big(literal(0))
    if outer:
        words = [f.coalesce(word, literal(-1)) if word else None for word in words]
    return class_id([word if word else zero.copy() for word in words])


def class_layout(columns: int) -> KeyLayout:
    """A field for each column, of a fixed width: labels come and go while the view lives."""
    return KeyLayout.pack([(sizes().max_labels,)] * columns)


def projected_code(recodings: Sequence[tuple[int, Recoding]], code: exp.Expr, columns: Sequence[str]) -> exp.Expr:
    """The class of some columns in which a class lies, by the codes that `join_codes` made of these recodings."""
    layout, known = class_layout(len(recodings)), {fold(name) for name in columns}
    masks = [0] * layout.words
    for (_, recoding), (spot,) in zip(recodings, layout.fields, strict=True):
        if fold(recoding.bound.attribute.name) in known:
            masks[spot.word] |= spot.mask
    if layout.words == 1:
        return infix(code, "&", masks[0])
    words = [exp.Dot(this=code.copy(), expression=identifier(key_name(word))) for word in range(layout.words)]
    return class_id([infix(word, "&", mask) for word, mask in zip(words, masks, strict=True)])
