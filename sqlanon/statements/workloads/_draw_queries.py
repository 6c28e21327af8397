"""Random queries of a workload."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp

from sqlanon.catalog import migrations, policies
from sqlanon.catalog import workloads as catalog
from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.counts import counted
from sqlanon.domain.identifiers import fold
from sqlanon.domain.workload import WorkloadOptions, workload_options
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import PolicyError, about
from sqlanon.estimates.numbers import number
from sqlanon.estimates.random_queries import LISTED, Queried, drawn_queries, values_of
from sqlanon.sources.bind_policy import bind, hierarchies_of, policy_source
from sqlanon.sources.column_types import ENUM
from sqlanon.sources.related_tables import require_one_table
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.render import to_sql
from sqlanon.sql.cells.value_ranks import is_number
from sqlanon.statements.named import to_be_made
from sqlanon.statements.workloads.create_workload import CreateWorkload

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
        with about("policy"):
            policy = policies.load(engine, statement.policy)
            require_one_table(policy, "a workload", "its queries count rows of the source")
            if not engine.reads_in_place and policy.pivot:
                raise PolicyError(f"{policy} has PIVOT, which makes columns of rows: not with engine => 'spark'")
        source = policy_source(engine, policy, scratch, copy=engine.reads_in_place)
        bound = bind(policy, source, hierarchies_of(engine, policy), fingerprint="")
        queried = _queried(engine, bound, options, scratch)
        # In a query, a source that is no table has the policy's name.
        source_table = relation(policy.source.name or policy.name)
        head = " ".join(["SELECT", _aggregate(bound, options), "FROM", to_sql(source_table), "WHERE "])
        catalog.save(engine, drawn_queries(statement.name, head, queried, options))
    return options.queries


def _queried(engine: Engine, bound: BoundPolicy, options: WorkloadOptions, scratch: Scratch) -> list[Queried]:
    """The attributes that queries may ask about: quasi-identifiers, or what else is published if there are none."""
    hidden = {id(attribute) for attribute in (*bound.quasi_identifiers, *bound.sensitive)}
    others = [
        attribute for attribute in bound.published if id(attribute) not in hidden and not attribute.attribute.pseudonym
    ]
    quasi = _with_values(engine, bound, bound.quasi_identifiers or others, scratch)
    sensitive = _with_values(engine, bound, bound.sensitive, scratch)
    dimensions = options.predicates(len(quasi))
    if dimensions > len(quasi):
        raise PolicyError(
            f"{bound.policy} has {counted(len(quasi), 'quasi-identifier')} with a value to ask about, and a query "
            f"would ask about {dimensions}",
            hint=f"write dimensions => {len(quasi)}" if quasi else "leave dimensions out",
        )
    predicates = dimensions + bool(sensitive)
    if not predicates:
        raise PolicyError(
            f"{bound.policy} has no column with a value to ask about",
            hint="queries ask about numbers, texts, dates and the like: fill the source, or publish such a column",
        )
    return [
        Queried(
            to_sql(column(attribute.column)),
            attribute in bound.sensitive,
            table,
            known,
            options.values(known, predicates),
            ranges,
        )
        for attribute, table, known, ranges in (*quasi, *sensitive)
    ]


def _with_values(
    engine: Engine, bound: BoundPolicy, attributes: Sequence[BoundAttribute], scratch: Scratch
) -> list[tuple[BoundAttribute, str, int, bool]]:
    """The attributes with values that a query can name, each with the table of its values, their number, and
    whether a query names ranges of them.
    """
    attributes_with_values: list[tuple[BoundAttribute, str, int, bool]] = []
    for attribute in attributes:
        if _NESTED.search(attribute.type) is None:
            rows = relation(bound.relation)
            if not engine.reads_in_place:
                # Where the rows are, nobody writes values as SQL.
                different = exp.select(column(attribute.column)).distinct(copy=False).from_(rows)
                rows = relation(scratch.table("distinct", different))
            values = values_of(rows, attribute.column, attribute.type, is_number(attribute))
            table = scratch.table("values", values)
            known = int(engine.rows(exp.select(f.count()).from_(relation(table)))[0][0])
            # No release shows the order of an ENUM.
            ranges = known > LISTED and not attribute.type.startswith(ENUM)
            attributes_with_values += [(attribute, table, known, ranges)] if known else []
    return attributes_with_values


def _aggregate(bound: BoundPolicy, options: WorkloadOptions) -> str:
    if options.of is None:
        return "count(*) AS n"
    attribute = next((b for b in bound.published if fold(b.column) == fold(options.of)), None)
    if attribute is None or not is_number(attribute) or number(attribute.type) is None:
        raise PolicyError(
            f"{options.of} is no number that {bound.policy} publishes", hint="name a numeric attribute of the policy"
        )
    return f"{options.aggregate}({to_sql(column(attribute.column))}) AS n"
