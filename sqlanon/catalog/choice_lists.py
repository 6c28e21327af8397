"""The lists from which masks of a release were chosen, as rows of `anon.release_choice`: their digests, not their
texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from sqlanon.catalog import _rows
from sqlanon.domain.identifiers import fold
from sqlanon.domain.release import Release
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.sql.build.sql_files import sql_file


def save_choices(engine: Engine, release: Release) -> None:
    """Records the lists of a release; does nothing if no mask is a choice."""
    rows = [{"release_id": release.release_id, **asdict(choice)} for choice in release.choices]
    _rows.insert(engine, "release_choice", rows)


def of_other_lists(engine: Engine, release: Release, replaced: Release | None) -> Mapping[tuple[str, str], str]:
    """Returns, by list and key, the latest release in which a list of this name gave other masks under this key.

    `replaced` is the release that this one replaces, which the catalog has forgotten.
    """
    if all(choice.key_variable is None for choice in release.choices):
        return {}
    others: dict[tuple[str, str], str] = {}
    for mine in release.choices:
        for choice in replaced.choices if replaced else ():
            is_same = (fold(choice.list_name), choice.key_variable) == (fold(mine.list_name), mine.key_variable)
            if is_same and mine.key_variable is not None and choice.digest != mine.digest:
                others[mine.list_name, mine.key_variable] = f"the former {release.name}"
    for name, key, *made in engine.rows(sql_file("catalog", "queries", "other_lists"), [release.release_id]):
        others.setdefault((name, key), str(QualifiedName(tuple(made))))
    return others
