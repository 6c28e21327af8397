"""A hierarchy that is made: its rows checked and stored."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from sqlanon.catalog import hierarchies as catalog
from sqlanon.domain.policy import HierarchyDefinition
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import EngineError, PolicyError, about
from sqlanon.sources.source import require_no_password
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import insert, into
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.render import view_over
from sqlanon.sql.hierarchies.base import builder, functional, stored
from sqlanon.statements.base import WARNING, Answer, done
from sqlanon.statements.hierarchies._misfits import misfits
from sqlanon.statements.named import Creates, to_be_made

_SHOWN = 10


def create_hierarchy(engine: Engine, definition: HierarchyDefinition, statement: Creates) -> tuple[str, ...] | None:
    """Validates a hierarchy and stores it.

    Returns what is remarkable in its rows, as sentences; None where IF NOT EXISTS found a hierarchy. Raises
    PolicyError that names the levels, values or nodes which do not make a hierarchy.
    """
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


def created_answer(engine: Engine, name: str, remarks: tuple[str, ...] | None) -> Answer:
    """The answer of CREATE HIERARCHY. A column of warnings is in it where the hierarchy does not fit its policies."""
    answer = done("CREATE HIERARCHY", name, "exists" if remarks is None else "created", remarks or ())
    if remarks is None or not (warnings := misfits(engine, name)):
        return answer
    rows = tuple((*row, "\n".join(warnings)) for row in answer.rows)
    return replace(answer, columns=(*answer.columns, WARNING), rows=rows)


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
