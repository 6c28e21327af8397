"""Makes room for a release where its name is taken, or refuses to."""

from __future__ import annotations

from dataclasses import replace

from sqlanon.catalog import releases, series
from sqlanon.domain.identifiers import same_name
from sqlanon.domain.release import Release
from sqlanon.errors import UserError, about
from sqlanon.release.existing.objects import column_types, drop_release, is_own, stands
from sqlanon.release.pipeline.stages import Requested
from sqlanon.sources.catalog_entries import find_relation
from sqlanon.sources.source import own_object, qualified


def make_room(requested: Requested) -> Requested | None:
    """Looks at the object that has the target's name already.

    Drops a release that OR REPLACE replaces; None if IF NOT EXISTS finds one. A release with an
    object that somebody dropped by hand counts as gone, and the rest of it makes room, too. Raises
    UserError for anything that is not a release: a user's table is never replaced.
    """
    engine, create = requested.engine, requested.create
    target = qualified(engine, create.name)
    standing_object = find_relation(engine, own_object(engine, target))
    known = releases.find(engine, target)
    standing_release = next((made for made in known.published if made.name == known.name), None) if known else None
    if standing_object and (
        known is None or standing_release is None or not is_own(engine, known, standing_release, standing_object)
    ):
        raise UserError(
            f"{target} is a {standing_object[0]} that is not a release",
            hint="choose another name for the release: a table of yours is never replaced",
            part=("release",),
        )
    if known is None:
        return requested
    if not create.or_replace and all(stands(engine, known, made) for made in known.published):
        if create.if_not_exists:
            _require_in_series(requested, known)
            return None
        raise UserError(
            f"the release {target} exists already",
            hint="write CREATE OR REPLACE ANONYMIZED, or IF NOT EXISTS",
            part=("release",),
        )
    former = column_types(engine, known)
    drop_release(engine, known)
    return replace(requested, former=former)


def _require_in_series(requested: Requested, known: Release) -> None:
    """Raises UserError where IF NOT EXISTS finds a release that is not in the series of the statement."""
    wanted = requested.create.series
    if wanted is None:
        return
    with about("series"):
        series.load(requested.engine, wanted)
        now = series.series_of(requested.engine, known.release_id)
        if now is None or not same_name(now, wanted):
            raise UserError(
                f"the release {known.name} exists already, and is {f'in the series {now}' if now else 'in no series'}",
                hint="write CREATE OR REPLACE ANONYMIZED TABLE, which makes it anew in the series",
            )
