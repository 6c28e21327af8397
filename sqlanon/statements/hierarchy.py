"""CREATE and DROP HIERARCHY."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.catalog import hierarchies as catalog
from sqlanon.domain.hierarchy import HierarchyDefinition
from sqlanon.domain.identifiers import nearest
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import EngineError, PolicyError, about
from sqlanon.hierarchies.base import builder, functional, stored
from sqlanon.inputs.kept_queries import require_no_password
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.ddl import view_over
from sqlanon.sqlgen.build.expressions import insert, into
from sqlanon.sqlgen.build.names import alias, column, literal, relation
from sqlanon.statements.create_or_replace import to_be_made
from sqlanon.syntax.statements import CreateHierarchy, DropHierarchy

__all__ = ["create_hierarchy", "drop_hierarchy"]

_SHOWN = 10


def create_hierarchy(engine: Engine, statement: CreateHierarchy) -> tuple[str, ...] | None:
    """Validates a hierarchy and stores it.

    Returns what is remarkable in its rows, as sentences; None where IF NOT EXISTS found a hierarchy. Raises
    PolicyError that names the levels, values or nodes which do not make a hierarchy.
    """
    definition = statement.definition
    with about("kind"):
        kind = builder(definition.kind)
    with about("definition"):
        kind.validate(definition)
    with engine.transaction(), Scratch(engine) as scratch:
        if not to_be_made(engine, catalog, "hierarchy", definition.name, statement):
            return None
        remarks: list[str] = []
        if kind.STORED:
            height = _store_values(engine, definition, scratch, remarks)
        else:
            height = functional(definition.kind).height(definition)
        catalog.save(engine, definition, height)
    return tuple(remarks)


def _store_values(engine: Engine, definition: HierarchyDefinition, scratch: Scratch, remarks: list[str]) -> int:
    """Runs the hierarchy's query once, checks its rows and stores them; adds remarks, and returns the height."""
    kind = stored(definition.kind)
    with about("definition"):
        require_no_password(str(definition.query), f"the query of the hierarchy {definition.name}")
    view = scratch.view_name("hierarchy")
    try:
        engine.run(view_over(QualifiedName((view,)), str(definition.query), temporary=True))
        rows = scratch.table("hierarchy", exp.select(exp.Star()).from_(relation(view)))
    except EngineError as error:
        raise PolicyError(
            f"the query of the hierarchy {definition.name} does not run: {error.message}",
            hint=error.hint,
            quoted=error.quoted,
            part=("definition",),
        ) from None
    columns = [name for name, _ in engine.columns(exp.select(exp.Star()).from_(relation(rows)))]
    for check in kind.checks(definition, columns, relation(rows)):
        if not (offending := _offending(engine, check.query)):
            continue
        if check.refuses:
            raise PolicyError(f"{check.message}: {offending}", hint=check.hint, part=("definition",))
        remarks.append(f"{check.message}: {offending}; {check.hint}")
    values = scratch.table("values", kind.values(definition, columns, relation(rows)))
    name = alias(literal(definition.name), "hierarchy")
    parts = [column(part) for part in ("value", "level", "label")]
    target = into(relation(("anon", "hierarchy_value")), ("hierarchy", "value", "level", "label"))
    engine.run(insert(target, exp.select(name, *parts).from_(relation(values))))
    top = engine.rows(exp.select(f.max(column("level"))).from_(relation(values)))[0][0]
    return int(top or 0) + 1


def _offending(engine: Engine, query: exp.Query) -> str:
    """The first few names that a check returns, and how many there are; empty if there is none."""
    names = query.subquery("offending")
    count = int(engine.rows(exp.select(f.count()).from_(names))[0][0])
    if not count:
        return ""
    rows = engine.rows(exp.select(exp.Star()).from_(names.copy()).order_by(literal(1)).limit(_SHOWN))
    rest = f" and {count - _SHOWN} more" if count > _SHOWN else ""
    return ", ".join(str(row[0]) for row in rows) + rest


def drop_hierarchy(engine: Engine, statement: DropHierarchy) -> bool:
    """Forgets a hierarchy. Raises PolicyError while a policy uses it, or if there is none and IF EXISTS is not said."""
    with engine.transaction():
        if not catalog.exists(engine, statement.name):
            if statement.if_exists:
                return False
            raise PolicyError(
                f"there is no hierarchy {statement.name}",
                hint=nearest(statement.name, catalog.listing(engine)),
                part=("name",),
            )
        if users := catalog.used_by(engine, statement.name):
            raise PolicyError(
                f"the hierarchy {statement.name} is used by the polic{'ies' if len(users) > 1 else 'y'} "
                + ", ".join(users),
                hint="drop or replace them first",
            )
        catalog.delete(engine, statement.name)
    return True
