"""Makes the random queries of a workload."""

from __future__ import annotations

from sqlanon.catalog import migrations, policies
from sqlanon.catalog import workloads as catalog
from sqlanon.domain.bound import BoundPolicy
from sqlanon.domain.identifiers import fold
from sqlanon.domain.workload import WorkloadOptions, workload_options
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import PolicyError, about
from sqlanon.estimates.axes import number
from sqlanon.estimates.workloads import drawn_queries, queried_columns
from sqlanon.sources.bind_policy import bind, hierarchies_of, policy_source
from sqlanon.sources.related_tables import require_one_table
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.render import to_sql
from sqlanon.sql.cells.value_ranks import is_number
from sqlanon.statements.named import to_be_made
from sqlanon.statements.workloads.create_workload import CreateWorkload


def create_workload(engine: Engine, statement: CreateWorkload) -> int | None:
    """Makes random queries over a policy's source and stores them; returns their number, None if IF NOT EXISTS found a
    workload.

    Raises PolicyError for arguments that do not fit the policy, and for a name that is taken.
    """
    options = workload_options(statement.arguments)
    with engine.transaction(), TempTables(engine) as temp:
        migrations.install(engine)
        if not to_be_made(engine, catalog, "workload", statement.name, statement):
            return None
        with about("policy"):
            policy = policies.load(engine, statement.policy)
            require_one_table(policy, "a workload", "its queries count rows of the source")
            if not engine.reads_in_place and policy.pivot:
                raise PolicyError(f"{policy} has PIVOT, which makes columns of rows: not with engine => 'spark'")
        source = policy_source(engine, policy, temp, copy=engine.reads_in_place)
        bound = bind(policy, source, hierarchies_of(engine, policy), fingerprint="")
        queried = queried_columns(engine, bound, options, temp)
        # A source that is no table is called by the policy's name.
        source_table = relation(policy.source.name or policy.name)
        head = " ".join(["SELECT", _aggregate(bound, options), "FROM", to_sql(source_table), "WHERE "])
        catalog.save(engine, drawn_queries(statement.name, head, queried, options))
    return options.queries


def _aggregate(bound: BoundPolicy, options: WorkloadOptions) -> str:
    if options.of is None:
        return "count(*) AS n"
    attribute = next((b for b in bound.published if fold(b.column) == fold(options.of)), None)
    if attribute is None or not is_number(attribute) or number(attribute.type) is None:
        raise PolicyError(
            f"{options.of} is not a number that {bound.policy} publishes", hint="name a numeric attribute of the policy"
        )
    return f"{options.aggregate}({to_sql(column(attribute.column))}) AS n"
