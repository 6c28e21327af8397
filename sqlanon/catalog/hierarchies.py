"""Hierarchies as rows of `anon.hierarchy` and `anon.hierarchy_value`."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass

from sqlanon.catalog import _rows, migrations
from sqlanon.catalog._json import (
    BadJson,
    DefinitionObject,
    arguments_from_json,
    arguments_to_json,
    canonical,
    dumps,
    json_of,
    loads,
    positional_from_json,
    value_to_json,
)
from sqlanon.domain.identifiers import fold, nearest
from sqlanon.domain.policy import HierarchyDefinition
from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError, UserError
from sqlanon.sql.build.sql_files import sql_file
from sqlanon.sql.hierarchies.base import Builder, builder, functional


@dataclass(frozen=True)
class HierarchyRow:
    """A row of `anon.hierarchy`."""

    hierarchy: str
    kind: str
    arguments: str | None
    options: str | None
    query: str | None
    height: int | None


@dataclass(frozen=True)
class _MadeFor:
    """The policy for which USING AUTO made a hierarchy; None for a hierarchy that a user made."""

    made_for: str | None


@dataclass(frozen=True)
class StoredHierarchy:
    """A hierarchy that is stored in the catalog.

    `height` is the number of the top level, `*`. `digest` is a SHA-256 over the definition and all stored labels, so it
    changes whenever a label could change.
    """

    definition: HierarchyDefinition
    height: int
    digest: str


@dataclass(frozen=True)
class Summary:
    """The SHA-256 of the stored values of one hierarchy, the number of their rows, and the height they imply.

    `sound` tells whether they are a hierarchy of this height, so that `require_hierarchy` raises no error.
    """

    digest: str
    rows: int
    height: int
    sound: bool


def save(engine: Engine, definition: HierarchyDefinition, height: int | None = None) -> StoredHierarchy:
    """Writes a hierarchy's row in place of a row of the same name, and returns the hierarchy like `load`.

    The labels of a kind that stores them must be in `anon.hierarchy_value` already. The default `height` follows from
    the kind or the labels. Raises the errors of `load`.
    """
    migrations.install(engine)
    try:
        row = HierarchyRow(
            definition.name,
            definition.kind,
            dumps([value_to_json(value) for value in definition.arguments]),
            dumps(arguments_to_json(definition.options)),
            definition.query,
            height,
        )
    except BadJson as problem:
        raise PolicyError(f"hierarchy {definition.name}: {problem}") from None
    saved = _checked(engine, row)
    _rows.delete(engine, "hierarchy", {"hierarchy": definition.name})
    _rows.insert(engine, "hierarchy", [{**asdict(row), "height": saved.height}])
    return saved


def listing(engine: Engine) -> list[str]:
    """Returns the names of all hierarchies, in the order in which they were made."""
    if not migrations.ready(engine):
        return []
    return _rows.read_names(engine, "hierarchy", "hierarchy")


def exists(engine: Engine, name: str) -> bool:
    """Whether the catalog has a hierarchy of this name, valid or not."""
    return fold(name) in map(fold, listing(engine))


def rows_of(engine: Engine, names: Collection[str]) -> dict[str, list[HierarchyRow]]:
    """Reads the rows of several hierarchies at once, grouped by folded name; `load` takes them as `rows`."""
    ready = migrations.ready(engine)
    return (
        _rows.read_all(engine, "hierarchy", HierarchyRow, "hierarchy", names) if ready else {fold(n): [] for n in names}
    )


def summaries_of(engine: Engine, rows: Iterable[HierarchyRow]) -> dict[str, Summary]:
    """Reads the stored values of the hierarchies in these rows at once; returns their summaries by name, for `load`."""
    names = [row.hierarchy for row in rows if _stores_labels(row)]
    query = sql_file("catalog", "queries", "hierarchy_values")
    return {name: Summary(*values) for name, *values in engine.rows(query, [names])} if names else {}


def _stores_labels(row: HierarchyRow) -> bool:
    """Whether the labels are rows of anon.hierarchy_value; False for an unknown kind."""
    try:
        return builder(row.kind.lower()).STORED
    except UserError:
        return False


def load(
    engine: Engine,
    name: str,
    validated: str | None = None,
    rows: list[HierarchyRow] | None = None,
    summaries: Mapping[str, Summary] | None = None,
) -> StoredHierarchy:
    """Reads and validates a hierarchy, whether a statement or a user's own INSERT wrote it.

    `validated` is the digest of labels that were validated before; equal labels are not validated again. `rows` are
    from `rows_of`, and `summaries` from `summaries_of`, if they have been read.

    Raises PolicyError if there is no hierarchy or more than one, if its row is contradictory, or if its stored labels
    are not a hierarchy.
    """
    if rows is None:
        rows = rows_of(engine, [name])[fold(name)]
    if not rows:
        raise PolicyError(
            f"there is no hierarchy {name}",
            hint=nearest(name, listing(engine)) or "make it with CREATE HIERARCHY",
        )
    if len(rows) > 1:
        raise PolicyError(
            f"hierarchy {name} has {len(rows)} rows in anon.hierarchy", hint="delete all of these rows but one"
        )
    return _checked(engine, rows[0], validated, summaries)


def delete(engine: Engine, name: str) -> bool:
    """Deletes a hierarchy with its values; returns False if there was none. The caller handles policies that use the
    hierarchy.
    """
    if not migrations.ready(engine):
        return False
    there_was = exists(engine, name)
    for table in ("hierarchy", "hierarchy_value"):
        _rows.delete(engine, table, {"hierarchy": name})
    return there_was


def used_by(engine: Engine, name: str) -> list[str]:
    """Returns the policies with an attribute that uses this hierarchy, sorted."""
    if not migrations.ready(engine):
        return []
    return sorted(set(_rows.read_names(engine, "policy_attribute", "policy", {"hierarchy": name})))


def made_for(engine: Engine, policy: str) -> list[str]:
    """Returns the hierarchies that USING AUTO made for a policy, in the order in which they were made."""
    if not migrations.ready(engine):
        return []
    return _rows.read_names(engine, "hierarchy", "hierarchy", {"made_for": policy})


def is_automatic(engine: Engine, name: str) -> bool:
    """Whether USING AUTO made a hierarchy, from the values of a column."""
    rows = _rows.read(engine, "hierarchy", _MadeFor, {"hierarchy": name})
    return any(row.made_for is not None for row in rows)


def mark_made_for(engine: Engine, name: str, policy: str) -> None:
    """Records that USING AUTO made a hierarchy for a policy. Saving the hierarchy again removes the record."""
    _rows.update(engine, "hierarchy", {"made_for": policy}, {"hierarchy": name})


def _checked(
    engine: Engine,
    row: HierarchyRow,
    validated: str | None = None,
    summaries: Mapping[str, Summary] | None = None,
) -> StoredHierarchy:
    """Loads one row of anon.hierarchy and validates it; labels with the digest `validated` are not validated again."""
    definition = _definition(row)
    kind = _builder(definition)
    # Labels that a user stored by hand need not come from a query.
    if not kind.STORED or definition.query is not None:
        kind.validate(definition)
    if kind.STORED:
        known = (summaries or summaries_of(engine, [row]))[row.hierarchy]
        return _checked_values(engine, definition, row.height, validated, known)
    height = functional(definition.kind).height(definition)
    _require_height(definition, row.height, height)
    return StoredHierarchy(definition, height, _digest(definition, height, None))


def _checked_values(
    engine: Engine,
    definition: HierarchyDefinition,
    stored_height: int | None,
    validated: str | None,
    stored_values: Summary,
) -> StoredHierarchy:
    if not stored_values.rows:
        raise PolicyError(
            f"hierarchy {definition.name} lists no values",
            hint="its query must return rows, or its labels must be in anon.hierarchy_value",
        )
    digest = _digest(definition, stored_values.height, stored_values.digest)
    height = stored_values.height if stored_height is None else stored_height
    if digest != validated and not (stored_values.sound and height == stored_values.height):
        require_hierarchy(engine, definition.name, height)
    _require_height(definition, stored_height, stored_values.height)
    return StoredHierarchy(definition, stored_values.height, digest)


def _require_height(definition: HierarchyDefinition, stored_height: int | None, height: int) -> None:
    if stored_height is not None and stored_height != height:
        raise PolicyError(
            f"hierarchy {definition.name}: its row in anon.hierarchy has height {stored_height}, "
            f"but its top level is {height}",
            hint=f"set the height to {height}, or to NULL",
        )


def _definition(row: HierarchyRow) -> HierarchyDefinition:
    try:
        what = "arguments"
        arguments = positional_from_json(loads(row.arguments or "[]"))
        what = "options"
        options = arguments_from_json(loads(row.options or "{}"))
    except BadJson as problem:
        raise PolicyError(
            f"hierarchy {row.hierarchy}: in its row of anon.hierarchy, {what} cannot be read: {problem}",
            hint='arguments are a JSON list such as [5, 10, 20], options an object such as {"low": 0}',
        ) from None
    return HierarchyDefinition(row.hierarchy, row.kind.lower(), arguments, options, row.query)


def _builder(definition: HierarchyDefinition) -> Builder:
    try:
        return builder(definition.kind)
    except UserError as error:
        raise PolicyError(
            f"hierarchy {definition.name}: there is no kind of hierarchy {definition.kind!r}", hint=error.hint
        ) from None


def _digest(definition: HierarchyDefinition, height: int, values: str | None) -> str:
    text = canonical([json_of(DefinitionObject.of(definition)), height, values])
    return hashlib.sha256(text.encode()).hexdigest()


# Checks that the rows of `anon.hierarchy_value`, written by a statement or by hand, are a hierarchy.


@dataclass(frozen=True)
class _Check:
    """A check of stored hierarchies: a query under sql/catalog/checks that returns offending names, and the error for
    them.
    """

    file: str
    problem: str
    hint: str
    needs_height: bool = False


# The order matters: each check relies on the checks before it.
_CHECKS = (
    _Check(
        "name_spelled_otherwise",
        "the name of the hierarchy is spelled in another way",
        "spell the name as in anon.hierarchy",
    ),
    _Check(
        "level_outside",
        "labels have levels that the hierarchy does not have",
        "level 0 is the value itself; the top level, '*', is not stored",
        needs_height=True,
    ),
    _Check("label_missing", "labels are NULL", "give every value a label at every level"),
    _Check("label_ambiguous", "values have several labels at one level", "keep one row for each value and level"),
    _Check("label_not_value", "labels at level 0 differ from their value", "at level 0 write the value as label"),
    _Check(
        "level_missing",
        "values have no label at some level",
        "give every value a label at every level from 0 to the one below the top",
        needs_height=True,
    ),
    _Check(
        "levels_not_nested",
        "labels lie in two labels of the next level",
        "two values that share a label must share the labels of all higher levels",
    ),
)


def require_hierarchy(engine: Engine, name: str, height: int) -> None:
    """Raises PolicyError, which names values and labels, unless the stored rows are a hierarchy of this height.

    In a hierarchy each value has one label at each level from 0 to height - 1, its own text at level 0, and each level
    is a partition that merges groups of the level below.
    """
    for check in _CHECKS:
        parameters: list[object] = [name, height] if check.needs_height else [name]
        offending = engine.rows(sql_file("catalog", "checks", check.file), parameters)
        if offending:
            raise PolicyError(f"hierarchy {name}: {check.problem}: {_examples(offending)}", hint=check.hint)


def _examples(offending: list[tuple[str, int]]) -> str:
    """Lists the first ten offending names, and the number of further names."""
    rest = offending[0][1] - len(offending)
    return ", ".join(name for name, _ in offending) + (f" and {rest} more" if rest else "")
