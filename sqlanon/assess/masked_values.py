"""Checks the masked values of a release or of an export: their forms, their check digits, and the number of NULLs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.catalog.snapshot import policy_of
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Mask, Policy
from sqlanon.domain.release import Measurement, Release
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import EngineError, UserError
from sqlanon.release.existing.objects import has_checked_rows
from sqlanon.sources.bind_policy import policy_source
from sqlanon.sources.masks import form_of, list_digest, texts_of_list
from sqlanon.sources.source import own_object
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text, is_not_null
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.queries import extend, select

_NULLS = "mask_nulls"


@dataclass(frozen=True)
class MaskedColumn:
    """A column of a table with masked values, and the name of the source's column that they replace."""

    table: exp.Table
    name: str
    source: str
    mask: Mask

    def measured(self, engine: Engine, has_form: Callable[[str], bool]) -> Measurement:
        """Counts the distinct values without the form of the mask; the required number is 0."""
        texts = select(as_text(column(self.name)), distinct=True, of=self.table)
        rows = engine.rows(extend(texts, where=[is_not_null(column(self.name))]))
        wrong = sum(not has_form(text) for (text,) in rows)
        return Measurement(f"mask_{self.mask.name}", self.name, 0, wrong, wrong == 0)


def masks_of(policy: Policy) -> dict[str, Mask]:
    """Returns the masks of a policy by the folded names of their columns."""
    return {fold(a.name): a.pseudonym for a in policy.all_attributes if isinstance(a.pseudonym, Mask)}


def check_masks(engine: Engine, release: Release) -> tuple[tuple[Measurement, ...], tuple[str, ...]]:
    """Measures the masked columns of a release; returns the measurements, and remarks on columns that cannot be
    measured.

    For each column, counts the distinct values that lack the form of its mask or are not in the list of a choice. If
    the source is unchanged since the release was made, it also counts the NULLs that were added or lost.
    """
    columns = list(_masked(engine, release))
    if not columns:
        return (), ()
    measurements, remarks = [], []
    # An error of a query aborts a transaction that the user has begun.
    is_alone = not engine.in_transaction()
    if not is_alone:
        remarks.append(
            "in a transaction CHECK compares masked columns neither with the source nor with lists of choices"
        )
        columns = [masked for masked in columns if masked.mask.name != "choice"]
    for masked in columns:
        has_form = _has_form(engine, release, masked)
        if has_form is None:
            remarks.append(
                f"{masked.name} has texts of a list that is not any more as it was, {masked.mask.argument('from')}: "
                "they were not compared with it, and a new release has other ones"
            )
        else:
            measurements.append(masked.measured(engine, has_form))
    of_source = {fold(attribute.name) for attribute in policy_of(release).attributes}
    compared = [masked for masked in columns if is_alone and fold(masked.source) in of_source]
    moved = _nulls(engine, release, compared) if compared else []
    if moved is None:
        remarks.append("the source is not any more as it was: NULLs of masked columns were not compared with it")
    else:
        measurements += moved
    return tuple(measurements), tuple(remarks)


def _masked(engine: Engine, release: Release) -> Iterator[MaskedColumn]:
    masks = masks_of(policy_of(release))
    for made in release.published:
        for attribute in release.attributes:
            source = attribute.source or attribute.name
            if attribute.fragment == made.fragment and (mask := masks.get(fold(source))):
                yield MaskedColumn(relation(own_object(engine, made.name)), attribute.name, source, mask)


def _has_form(engine: Engine, release: Release, masked: MaskedColumn) -> Callable[[str], bool] | None:
    """Returns a function that tests whether a text has the form of the mask; None for a choice whose list has changed
    or is gone.
    """
    if masked.mask.name != "choice":
        return form_of(masked.mask)
    digests = [choice.digest for choice in release.choices if fold(choice.attribute) == fold(masked.source)]
    try:
        texts = texts_of_list(engine, masked.mask)
    except (EngineError, UserError):
        return None
    return set(texts).__contains__ if texts is not None and [list_digest(texts)] == digests else None


def _nulls(engine: Engine, release: Release, columns: list[MaskedColumn]) -> list[Measurement] | None:
    """Counts the NULLs of the source's columns that were added or lost; None if the source has changed.

    A suppressed row may have had a NULL in each column. Live views and releases with artificial rows are not compared,
    because it is unknown how many source rows they show. If a snapshot still has the rows that were checked when it was
    made, a difference means that the source has changed.
    """
    if release.kind == "view" or release.source_rows != release.released_rows + release.suppressed_rows:
        return []
    try:
        with engine.transaction(), TempTables(engine) as temp:
            source = policy_source(engine, policy_of(release), temp, copy=False)
            counts = _counts(engine, relation(source.relation), [masked.source for masked in columns])
    except (EngineError, UserError):
        return None
    if counts[0] != release.source_rows:
        return None
    moved: dict[str, int] = {}
    for masked, present in zip(columns, counts[1:], strict=True):
        rows, here = _counts(engine, masked.table, [masked.name])
        before, now = counts[0] - present, rows - here
        if number := max(now - before, before - release.suppressed_rows - now, 0):
            moved[masked.name] = number
    if moved and has_checked_rows(engine, release):
        return None
    return [Measurement(_NULLS, ", ".join(moved) or None, 0, sum(moved.values()), not moved)]


def _counts(engine: Engine, table: exp.Table, names: list[str]) -> list[int]:
    """Counts the rows of a table, and for each column the rows in which it is not NULL."""
    counts = (f.count(column(name)) for name in names)
    ((*numbers,),) = engine.rows(select(f.count(), *counts, of=table))
    return [int(number) for number in numbers]
