"""The rows that a budget protects: the rows of a table, each about one respondent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from json import loads

from sqlglot import exp

from sqlanon.catalog._json import write_source
from sqlanon.catalog.budgets import Budget
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Policy
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Column, Engine
from sqlanon.engines.statement_memo import current_database
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import PolicyError, about
from sqlanon.sources.catalog_entries import source_entry
from sqlanon.sources.related_tables import require_one_table
from sqlanon.sources.source import bind_source, source_column
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.names import column, literal
from sqlanon.sql.build.queries import extend, select, subquery
from sqlanon.sql.build.sql_files import filled_query, select_file, sql_file

_IN_A_TABLE = "CREATE TABLE ... AS the rows, one person's in rows of their own, and make a policy on that table"


@dataclass(frozen=True)
class ProtectedRows:
    """The table of a policy, its columns, and the column of the respondents.

    `source` is the table's name as a budget stores it, and `table` its full name. If there is no `entity`, each row has
    its own respondent.
    """

    source: QualifiedName
    table: QualifiedName
    columns: tuple[Column, ...]
    entity: str | None


def protected_rows(engine: Engine, policy: Policy) -> ProtectedRows:
    """Returns the protected table of a policy without reading its rows.

    Raises PolicyError for a source that is not a table of stored columns, because a row of a view or a query may be
    computed from the rows of several respondents, and also for a pivoted source and for several tables.
    """
    require_one_table(policy, "a budget", "it limits the rows of each respondent", "policy")
    if policy.pivot:
        raise PolicyError(
            f"{policy} has PIVOT, and a budget protects the rows of a table as they are",
            hint=f"make another policy without PIVOT, whose ENTITY is {_pivoted_by(policy)}",
            part=("policy",),
        )
    with about("policy"), TempTables(engine) as temp:
        if policy.source.name is None:
            raise _no_table(policy)
        source = bind_source(engine, policy.source, temp, copy=False)
        if not source.stable:
            raise _no_table(policy)
        entity = None
        if policy.entity is not None:
            entity, _ = source_column(policy.entity.name, source.columns, policy.source.called)
    return ProtectedRows(source.lasting or source.relation, source.relation, source.columns, entity)


def require_same_rows(budget: Budget, policy: Policy, rows: ProtectedRows) -> None:
    """Raises PolicyError if the table or the respondents of a policy are no longer those of the budget."""
    whose = [None if entity is None else fold(entity) for entity in (budget.entity, rows.entity)]
    if write_source(rows.source) != budget.source or whose[0] != whose[1]:
        protected = "each row by itself" if budget.entity is None else f"the respondents of {budget.entity}"
        raise PolicyError(
            f"budget {budget.budget} protects {protected} in {budget.source}, and {policy} now has another source or "
            "ENTITY",
            hint="put the policy back, or make a budget of another name for it",
            part=("budget",),
        )


def require_no_release(engine: Engine, policy: Policy, tables: Sequence[QualifiedName], called: str) -> None:
    """Raises PolicyError if one of the `tables` that list public values is a release of the protected rows.

    `called` names these tables in the error. Releases with noise may list values, because they reveal nothing more
    about the rows.
    """
    entry = source_entry(engine, policy.source) if policy.source.name else None
    if entry is None:
        return
    database = current_database(engine)
    source = [fold(part) for part in entry[1].parts[1 if fold(entry[1].parts[0]) == fold(database) else 0 :]]
    read = {tuple(map(fold, name.parts[1:])) for name in tables if fold(name.parts[0]) == fold(database)}
    for schema, name, sources in engine.rows(sql_file("catalog", "queries", "released_tables")):
        if (fold(schema), fold(name)) in read and source in [
            [fold(part) for part in parts] for parts in loads(sources)
        ]:
            raise PolicyError(
                f"{called} reads {name}, a release of the rows that the budget protects",
                hint="list the values that there may be: VALUES ('cold'), ('flu')",
            )


def _pivoted_by(policy: Policy) -> str:
    names = [attribute.name for attribute in policy.attributes if attribute not in policy.items]
    return names[0] if names else "the column of the respondents"


def _no_table(policy: Policy) -> PolicyError:
    return PolicyError(
        f"{policy} is on {policy.source.called}, which is not a table: a row of a view, a query or a file may be "
        "computed from the rows of several people, and then no noise is known to be enough",
        hint=_IN_A_TABLE,
        part=("policy",),
    )


# The choice of the rows of a respondent that count.


ENTITY = "e"


@dataclass(frozen=True)
class Contributions:
    """Rows of respondents: at most `most` rows of each respondent count, all rows if `most` is None.

    If `most` is given, `rows` has the respondent in the column ENTITY. Rows are chosen by their `values`, and by a hash
    keyed with `salt`; the `carried` columns do not affect the choice.
    """

    rows: exp.Select
    most: int | None = None
    salt: str = ""
    values: tuple[str, ...] = ()
    carried: tuple[str, ...] = ()

    def counting(self, engine: Engine) -> exp.Select:
        """Returns the rows that count.

        Choosing rows takes several times as long as counting each respondent's rows. So rows are first counted by
        respondent, and rows are chosen only if a respondent has too many. Both queries have to run in one transaction,
        so that the rows stay the same.
        """
        if self.most is None or not self._has_crowded(engine, self.most):
            return self.rows
        return _bounded(self.rows, self.values, self.most, self.salt, self.carried)

    def _has_crowded(self, engine: Engine, most: int) -> bool:
        """Whether any respondent has more than `most` rows."""
        crowded = select(literal(1), of=subquery(self.rows, "row"), group_by=[column(ENTITY)])
        return bool(engine.rows(extend(crowded, having=f.count() > literal(most), limit=1)))


def _bounded(rows: exp.Select, values: Sequence[str], most: int, salt: str, carried: Sequence[str]) -> exp.Select:
    """Returns at most `most` rows of each respondent, chosen by a keyed hash of only that respondent's rows.

    The columns of the result are the respondent, the `values` (by which rows are chosen), and the `carried` columns.
    """
    names = {"columns": [ENTITY, *values, *carried], "values": values}
    return select_file("contributions", "bounded", tables={"given": rows}, names=names, most=most, salt=salt)


def found_groups(rows: exp.Query, keys: Sequence[str], number: str) -> exp.Query:
    """Returns the groups of the counted rows by the columns `keys`: a number from 1 on, the keys, and n.

    Values that are equal but written differently, such as 0.0 and -0.0 or 30 days and a month, are in separate groups,
    because the text that represents a common group could depend on a single row.
    """
    text = """
        SELECT row_number() OVER (ORDER BY {keys} ASC NULLS LAST, CAST({keys} AS VARCHAR) ASC NULLS LAST) AS "{number}",
          *
        FROM (SELECT {keys}, count(*) AS n FROM counted GROUP BY {keys}, CAST({keys} AS VARCHAR)) AS found
    """
    return filled_query(text, tables={"counted": rows}, names={"keys": keys, "number": number})
