"""CREATE and DROP WORKLOAD."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp

from sqlanon.catalog import migrations, policies
from sqlanon.catalog import workloads as catalog
from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.identifiers import fold
from sqlanon.domain.workload import WorkloadOptions, workload_options
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import PolicyError, UserError
from sqlanon.estimates.numbers import number
from sqlanon.estimates.random_queries import LISTED, Queried, drawn_queries, values_of
from sqlanon.inputs.bind_policy import bind, hierarchies_of
from sqlanon.inputs.column_types import ENUM
from sqlanon.inputs.source import bind_source
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.names import column, relation
from sqlanon.sqlgen.build.render import to_sql
from sqlanon.sqlgen.cells.value_ranks import is_number
from sqlanon.statements.create_or_replace import to_be_made
from sqlanon.syntax.statements import CreateWorkload, DropWorkload

__all__ = ["create_workload", "drop_workload"]

# Types whose values hold others.
_NESTED = re.compile(r"\]$|^(STRUCT|MAP|UNION|VARIANT|GEOMETRY)\b")


def create_workload(engine: Engine, statement: CreateWorkload) -> int | None:
    """Draws queries over a policy's source and stores them; how many, or None where IF NOT EXISTS found some.

    Raises PolicyError for arguments that do not fit the policy, and for a name that is taken.
    """
    options = workload_options(statement.arguments)
    with engine.transaction(), Scratch(engine) as scratch:
        migrations.install(engine)
        if not to_be_made(engine, catalog, "workload", statement.name, statement):
            return None
        policy = policies.load(engine, statement.policy)
        source = bind_source(engine, policy.source, scratch)
        bound = bind(policy, source, hierarchies_of(engine, policy), fingerprint="")
        queried = _queried(engine, bound, options, scratch)
        # A query calls what a policy is on by the policy's name, unless it is a table.
        own = relation(policy.source.name or policy.name)
        head = " ".join(["SELECT", _aggregate(bound, options), "FROM", to_sql(own), "WHERE "])
        catalog.save(engine, drawn_queries(statement.name, head, queried, options))
    return options.queries


def drop_workload(engine: Engine, statement: DropWorkload) -> bool:
    """Forgets a workload. Raises UserError if there is none and IF EXISTS is not said."""
    with engine.transaction():
        if not catalog.exists(engine, statement.name):
            if statement.if_exists:
                return False
            raise UserError(f"there is no workload {statement.name}")
        catalog.delete(engine, statement.name)
    return True


def _queried(engine: Engine, bound: BoundPolicy, options: WorkloadOptions, scratch: Scratch) -> list[Queried]:
    """The attributes that queries may ask about: quasi-identifiers, or what else is published if there are none."""
    hidden = {id(one) for one in (*bound.quasi_identifiers, *bound.sensitive)}
    others = [one for one in bound.published if id(one) not in hidden and not one.attribute.pseudonym]
    quasi = _with_values(engine, bound, bound.quasi_identifiers or others, scratch)
    sensitive = _with_values(engine, bound, bound.sensitive, scratch)
    asked = options.predicates(len(quasi))
    if asked > len(quasi):
        raise PolicyError(
            f"{bound.policy} has {len(quasi)} quasi-identifiers with a value to ask about, and a query would ask "
            f"about {asked}",
            hint=f"write dimensions => {len(quasi)}" if quasi else "leave dimensions out",
        )
    predicates = asked + bool(sensitive)
    if not predicates:
        raise PolicyError(
            f"{bound.policy} has no column with a value to ask about",
            hint="queries ask about numbers, texts, dates and the like: fill the source, or publish such a column",
        )
    return [
        Queried(
            to_sql(column(one.column)), one in bound.sensitive, table, known, options.values(known, predicates), ranges
        )
        for one, table, known, ranges in (*quasi, *sensitive)
    ]


def _with_values(
    engine: Engine, bound: BoundPolicy, attributes: Sequence[BoundAttribute], scratch: Scratch
) -> list[tuple[BoundAttribute, str, int, bool]]:
    """Those of some attributes that a query can name values of: the table of these, how many, and if they are many."""
    found: list[tuple[BoundAttribute, str, int, bool]] = []
    for attribute in attributes:
        if _NESTED.search(attribute.type) is None:
            values = values_of(relation(bound.relation), attribute.column, attribute.type, is_number(attribute))
            table = scratch.table("values", values)
            known = int(engine.rows(exp.select(f.count()).from_(relation(table)))[0][0])
            # No release shows the order of an ENUM.
            ranges = known > LISTED and not attribute.type.startswith(ENUM)
            found += [(attribute, table, known, ranges)] if known else []
    return found


def _aggregate(bound: BoundPolicy, options: WorkloadOptions) -> str:
    if options.of is None:
        return "count(*) AS n"
    attribute = next((one for one in bound.published if fold(one.column) == fold(options.of)), None)
    if attribute is None or not is_number(attribute) or number(attribute.type) is None:
        raise PolicyError(
            f"{options.of} is no number that {bound.policy} publishes", hint="name a numeric attribute of the policy"
        )
    return f"{options.aggregate}({to_sql(column(attribute.column))}) AS n"
