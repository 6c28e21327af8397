"""Views that show no more than their own rows, and mean the same in every session."""

from __future__ import annotations

from functools import partial

from sqlglot import exp

from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.engines.built_ins import with_built_ins
from sqlanon.engines.statement_memo import rows_once
from sqlanon.sql.build.ddl import secure_view
from sqlanon.sql.build.render import to_sql


def make_secure_view(engine: Engine, name: QualifiedName, body: exp.Query) -> None:
    """Makes a SECURE VIEW of a body in which a reader's macros have no part."""
    engine.run(secure_view(name, with_built_ins(partial(rows_once, engine), to_sql(body))))
