"""Runs the statements on objects of the catalog: hierarchies, policies, workloads, series, streams and frontiers."""

from __future__ import annotations

from dataclasses import replace

from sqlanon.dispatch.answer import Answer, done, table
from sqlanon.domain.counts import counted
from sqlanon.domain.watching import Watching
from sqlanon.engines.base import Engine
from sqlanon.statements import answer_columns
from sqlanon.syntax import statements as s

__all__ = [
    "run_advance",
    "run_advise",
    "run_alter_policy",
    "run_create_hierarchy",
    "run_create_policy",
    "run_create_series",
    "run_create_stream",
    "run_create_workload",
    "run_describe_policy",
    "run_drop_frontier",
    "run_drop_hierarchy",
    "run_drop_policy",
    "run_drop_series",
    "run_drop_stream",
    "run_drop_workload",
    "run_frontier",
    "run_show",
]


def run_create_hierarchy(
    engine: Engine, statement: s.CreateHierarchy | s.ProposeHierarchy, progress: Watching | None
) -> Answer:
    from sqlanon.statements.hierarchy import create_hierarchy
    from sqlanon.statements.hierarchy_users import misfits

    if isinstance(statement, s.ProposeHierarchy):
        from sqlanon.statements.profile import propose_hierarchy

        name, remarks = statement.name, propose_hierarchy(engine, statement)
    else:
        name, remarks = statement.definition.name, create_hierarchy(engine, statement)
    answer = replace(done("CREATE HIERARCHY", name, "exists" if remarks is None else "created"), remarks=remarks or ())
    if remarks is None or not (warnings := misfits(engine, name)):
        return answer
    # A column that the answer has only where there is something to warn of.
    rows = tuple((*row, "\n".join(warnings)) for row in answer.rows)
    return replace(answer, columns=(*answer.columns, answer_columns.WARNING), rows=rows)


def run_drop_hierarchy(engine: Engine, statement: s.DropHierarchy, progress: Watching | None) -> Answer:
    from sqlanon.statements.hierarchy import drop_hierarchy

    return _dropped("HIERARCHY", statement.name, drop_hierarchy(engine, statement))


def run_create_policy(engine: Engine, statement: s.CreatePolicy, progress: Watching | None) -> Answer:
    from sqlanon.statements.policy import create_policy

    remarks = create_policy(engine, statement)
    answer = done("CREATE POLICY", statement.policy.name, "exists" if remarks is None else "created")
    return replace(answer, remarks=remarks or ())


def run_alter_policy(engine: Engine, statement: s.AlterPolicy, progress: Watching | None) -> Answer:
    from sqlanon.statements.policy import alter_policy

    remarks = alter_policy(engine, statement)
    answer = done("ALTER POLICY", statement.name, "absent" if remarks is None else "altered")
    return replace(answer, remarks=remarks or ())


def run_drop_policy(engine: Engine, statement: s.DropPolicy, progress: Watching | None) -> Answer:
    from sqlanon.statements.policy import drop_policy

    return _dropped("POLICY", statement.name, drop_policy(engine, statement))


def run_describe_policy(engine: Engine, statement: s.DescribePolicy, progress: Watching | None) -> Answer:
    from sqlanon.statements.listings import describe_policy

    return table(describe_policy(engine, statement.name))


def run_show(engine: Engine, statement: s.Show, progress: Watching | None) -> Answer:
    from sqlanon.statements.listings import show

    return table(show(engine, statement.kind))


def run_create_workload(engine: Engine, statement: s.CreateWorkload, progress: Watching | None) -> Answer:
    from sqlanon.statements.workload import create_workload

    made = create_workload(engine, statement)
    return done("CREATE WORKLOAD", statement.name, "exists" if made is None else counted(made, "query", "queries"))


def run_drop_workload(engine: Engine, statement: s.DropWorkload, progress: Watching | None) -> Answer:
    from sqlanon.statements.workload import drop_workload

    return _dropped("WORKLOAD", statement.name, drop_workload(engine, statement))


def run_create_series(engine: Engine, statement: s.CreateSeries, progress: Watching | None) -> Answer:
    from sqlanon.statements.series import create_series

    return done("CREATE SERIES", statement.name, "created" if create_series(engine, statement) else "exists")


def run_drop_series(engine: Engine, statement: s.DropSeries, progress: Watching | None) -> Answer:
    from sqlanon.statements.series import drop_series

    return _dropped("SERIES", statement.name, drop_series(engine, statement))


def run_create_stream(engine: Engine, statement: s.CreateStream, progress: Watching | None) -> Answer:
    from sqlanon.statements.stream import create_stream

    made, warned = create_stream(engine, statement)
    answer = done("CREATE ANONYMIZED STREAM", str(statement.name), "created" if made else "exists")
    return Answer(answer.columns, answer.rows, (warned,) if warned else ())


def run_advance(engine: Engine, statement: s.Advance, progress: Watching | None) -> Answer:
    from sqlanon.statements.stream import advance_stream

    done = advance_stream(engine, statement)
    batch = done.batch
    numbers = (batch.released_rows, batch.reused_rows, batch.withheld_rows, batch.late_rows, batch.vanished_rows)
    head = (str(done.stream.name), batch.batch, batch.read_rows, batch.classes)
    row = (*head, *numbers, batch.waiting_rows, float(done.stream.k), done.fewest)
    return Answer(answer_columns.ADVANCED, (row,), done.remarks)


def run_drop_stream(engine: Engine, statement: s.DropStream, progress: Watching | None) -> Answer:
    from sqlanon.statements.stream import drop_stream

    return _dropped("ANONYMIZED STREAM", str(statement.name), drop_stream(engine, statement))


def run_frontier(engine: Engine, statement: s.Frontier, progress: Watching | None) -> Answer:
    from sqlanon.statements.frontier import make_frontier

    return table(make_frontier(engine, statement, progress))


def run_advise(engine: Engine, statement: s.Advise, progress: Watching | None) -> Answer:
    from sqlanon.statements.advise import advise

    return table(advise(engine, statement))


def run_drop_frontier(engine: Engine, statement: s.DropFrontier, progress: Watching | None) -> Answer:
    from sqlanon.statements.frontier import drop_frontier

    return _dropped("FRONTIER", statement.name, drop_frontier(engine, statement))


def _dropped(kind: str, name: str, was_there: object) -> Answer:
    return done(f"DROP {kind}", name, "dropped" if was_there else "absent")
