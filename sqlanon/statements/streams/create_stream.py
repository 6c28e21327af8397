"""The statement CREATE ANONYMIZED STREAM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from sqlanon.domain.requests import MethodCall
from sqlanon.domain.values import QualifiedName
from sqlanon.statements.base import DONE, MOVES_BATCHES, Answer, Catalog, Elsewhere, Statement, done
from sqlanon.syntax import values
from sqlanon.syntax.head import created, policy_name, stream_name
from sqlanon.syntax.texts import call_text, if_not_exists_text, name_text, qualified_text

if TYPE_CHECKING:
    from sqlanon.domain.context import Watching
    from sqlanon.engines.base import Engine
    from sqlanon.syntax.reader import Reader

_METHOD_EXAMPLE = "stream(k => 5, delay => 1000)"


@dataclass(frozen=True)
class CreateStream(Statement):
    """Begins a stream, which publishes the rows of a growing table in classes. At first it publishes nothing."""

    name: QualifiedName
    policy: str
    order_column: str
    method: MethodCall
    if_not_exists: bool = False

    OPENINGS = ("CREATE [OR REPLACE] ANONYMIZED STREAM",)
    EXAMPLES = (
        "CREATE ANONYMIZED STREAM visits_stream AS POLICY hospital ORDER BY arrived "
        "METHOD stream(k => 5, delay => 1000)",
    )
    GRAMMAR = """
create_stream = CREATE ANONYMIZED STREAM [IF NOT EXISTS] qualified_name AS POLICY name ORDER BY name METHOD call ;
"""
    CALCULATES = True
    DISTRIBUTED = Elsewhere("CREATE ANONYMIZED STREAM", MOVES_BATCHES)
    CATALOG = Catalog.READS
    COLUMNS = DONE

    @classmethod
    def read(cls, reader: Reader) -> Self:
        token = reader.peek()
        or_replace, if_not_exists = created(reader, "ANONYMIZED", "STREAM")
        if or_replace:
            hint = "it would forget what waits: DROP ANONYMIZED STREAM does so, CREATE ANONYMIZED STREAM begins another"
            raise reader.refused("a stream is not replaced", hint=hint, token=token)
        name = stream_name(reader)
        reader.expect("AS", "POLICY")
        policy = policy_name(reader)
        reader.expect("ORDER", "BY")
        column = reader.named("the column that says when a row arrived", "order")
        if reader.sees("DESC") or reader.sees("ASC"):
            hint = f"rows arrive from the least {column} on: leave {reader.peek().text} out"
            raise reader.refused("a stream has one order", hint=hint, token=reader.peek())
        reader.expect("METHOD")
        method = MethodCall(*values.call(reader, "a method", _METHOD_EXAMPLE, "method"))
        reader.end()
        return cls(name, policy, column, method, if_not_exists)

    def sql(self) -> str:
        head = f"CREATE ANONYMIZED STREAM {if_not_exists_text(self.if_not_exists)}{qualified_text(self.name)}"
        order = f"ORDER BY {name_text(self.order_column)}"
        return f"{head} AS POLICY {name_text(self.policy)} {order} METHOD {call_text(self.method)}"

    def title(self) -> str:
        return f"CREATE ANONYMIZED STREAM {self.name}"

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        from sqlanon.statements.streams._stream import create_stream

        made, warned = create_stream(engine, self)
        outcome = "created" if made else "exists"
        return done("CREATE ANONYMIZED STREAM", str(self.name), outcome, (warned,) if warned else ())
