"""Finds the best levels for several tables, in the lattice of all their quasi-identifiers together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import chain

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.explanation import Searched
from sqlanon.domain.identifiers import fold
from sqlanon.domain.numbers import count_of, counted
from sqlanon.domain.policy import Policy, Role
from sqlanon.domain.release import Reading
from sqlanon.engines.udfs import registered
from sqlanon.errors import InternalError, PolicyError, PrivacyViolation
from sqlanon.methods.multirelational.nodes import RelatedLevels, RelatedNodes
from sqlanon.methods.shared.lattice.timed_searches import TimedSearches
from sqlanon.methods.shared.task import Task
from sqlanon.methods.shared.wording import loss_text, nodes_checked
from sqlanon.sources.source import qualified
from sqlanon.sources.target_names import fragment_name, require_free
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import identical, not_
from sqlanon.sql.build.names import alias, column, identifier, literal, relation
from sqlanon.sql.build.queries import extend, inner_join, select, subquery
from sqlanon.sql.build.render import to_sql
from sqlanon.sql.build.sql_files import Names, filled, filled_query, filled_select, reading
from sqlanon.sql.build.steps import with_steps
from sqlanon.sql.cells.labels import generalized, label_at, passed, published_value, shown_at, stored_labels
from sqlanon.sql.classes.related import HISTORY, VALUES
from sqlanon.sql.questions.models import Known, known_of
from sqlanon.sql.release.multi_table_query import PublishedColumn, PublishedTable, TablesQuery

# The tables of a release of people: one table of the people, and one for each table with rows about them.
#
# All have a column with the number of the person, which is random for each release.


# Types whose equal values have one spelling.
_ONE_SPELLING = (
    *("BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"),
    *("UHUGEINT", "DECIMAL", "VARCHAR", "BLOB", "DATE", "TIMESTAMP", "UUID"),
)
_NUMBER, _BITS = "number", "bits"


def published_names(policy: Policy) -> tuple[str, ...]:
    """Returns the suffixes of the names of the release's tables. Raises PolicyError if two names are equal."""
    names = policy.table_names
    if len({fold(name) for name in names}) < len(names):
        raise PolicyError(
            f"{policy}: two of its tables are called {names[0]}",
            hint=f"tell them apart: WITH TABLE ... AS {to_sql(identifier(f'{names[0]}_rows'))} ON (...)",
        )
    return names


def tables_of(task: Task, choice: RelatedLevels, release_id: str, tokens: Mapping[str, str]) -> TablesQuery:
    """The SELECTs of the tables, each with the labels of its rows at the chosen levels.

    `tokens` maps a column to a table of value and token.
    """
    policy = task.policy
    entity = policy.entity
    if entity is None:
        raise InternalError("a policy on several tables has no ENTITY")
    numbers = _numbers(task, choice.nodes.people.person, choice.gone)
    names, first = published_names(policy.policy), 0
    tables: list[PublishedTable] = []
    for number, name in enumerate(names):
        part = policy.of_related(policy.related[number - 1]) if number else policy
        key = policy.related[number - 1].key if number else entity.column
        levels = choice.levels[first : first + len(part.quasi_identifiers)]
        first += len(levels)
        number_column = PublishedColumn(entity.column, Role.ENTITY, Reading.RESPONDENT, entity)
        columns, query = _labelled(task, part, levels, key, numbers, entity, tokens)
        tables.append(PublishedTable(name, (number_column, *columns), query, words=()))
    return TablesQuery(policy, release_id, tuple(tables), tokens)


def _numbers(task: Task, person: str, gone: str | None) -> str:
    """Makes the table (entity, number): the published people, numbered in a random order that cannot be repeated.

    `gone` is the table of the people left out, None for nobody.
    """
    leaving = "NOT person IN (SELECT person FROM gone)"
    stays = [] if gone is None else [reading(filled(leaving), {"gone": gone})]
    with registered(task.engine, "random_draw") as draw:
        text = 'SELECT entity, draw(0) AS bits FROM "{person}" WHERE $stays'
        calls = {"draw": partial(f.call, draw)}
        drawn = filled_query(text, names={"person": person}, calls=calls, stays=stays)
        text = "SELECT entity, row_number() OVER (ORDER BY bits ASC NULLS LAST) AS number FROM drawn"
        return task.temp.table("number", filled_query(text, tables={"drawn": drawn}))


def _labelled(
    task: Task,
    policy: BoundPolicy,
    levels: Sequence[int],
    key: str,
    numbers: str,
    entity: BoundAttribute,
    tokens: Mapping[str, str],
) -> tuple[list[PublishedColumn], exp.Select]:
    """Returns the columns of a published table, without the number of the person, and the query of its rows.

    Labels are at `levels`; `key` is the column with the respondent, whose `numbers` are in a table.
    """
    at = dict(zip((b.column for b in policy.quasi_identifiers), levels, strict=True))
    query = filled_select(
        'SELECT drawn.number AS "{entity}" FROM "{source}" AS source'
        ' JOIN "{numbers}" AS drawn ON drawn.entity = {source.key}',
        names={"entity": entity.column, "source": policy.relation, "numbers": numbers, "key": key},
    )
    columns: list[PublishedColumn] = []
    for index, bound in enumerate(policy.published):
        if bound.attribute.pseudonym:
            value = passed(query, bound, index, tokens, replace(entity, column="entity"), "drawn")
            extend(query, alias(value, bound.column))
            role = Role.INSENSITIVE if bound.attribute.is_shifted else bound.role
            columns.append(PublishedColumn(bound.column, role, Reading.TOKEN, bound))
            continue
        level = at.get(bound.column)
        extend(query, alias(_published(task, query, bound, level, f"label_{index}"), bound.column))
        reading = Reading.LABEL if level else Reading.EXACT
        columns.append(PublishedColumn(bound.column, bound.role, reading, bound, level))
    return columns, query


def _has_one_spelling(type_: str) -> bool:
    return type_.startswith(_ONE_SPELLING) and not type_.endswith("]")


def _published(task: Task, query: exp.Select, bound: BoundAttribute, level: int | None, name: str) -> exp.Expr:
    """Returns the SQL of a published column; joins the table of the column's labels to the query if they are needed."""
    value = published_value(bound, "source")
    if level is None or (level == 0 and _has_one_spelling(bound.published_type)):
        return value
    if level == 0:
        # Equal values are published in one spelling, because 0.0 and -0.0 would distinguish rows of one class.
        return filled("min($value) OVER (PARTITION BY $value)", value=value)
    if level == bound.height:
        return literal("*")
    source: Names = {"source": query.args["from_"].this}
    distinct = filled_query('SELECT DISTINCT $value AS value FROM "{source}"', names=source, value=value)
    values = generalized(bound, distinct, stored_labels(bound), counted=False)
    labels = filled_query(
        "SELECT value, $label FROM generalized", tables={"generalized": values}, label=shown_at(bound, [level])
    )
    same = identical(value, column("value", name))
    extend(query, joins=[inner_join(relation(task.temp.table("label", labels), as_=name), same)])
    return column(label_at(level), name)


_KNOWN = (Known("one_row", 1), Known("m_rows", 2), Known("rows"), Known(VALUES), Known(HISTORY))
# The greatest number of sets that EXPLAIN counts for knowledge that no requirement bounds.
_SETS_EXPLAINED = 100_000
_IN_WORDS = {
    "one_row": "one row of one table",
    "m_rows": "two rows of one table",
    "rows": "any rows of one table",
    VALUES: "all rows, but not how many are alike",
    HISTORY: "all rows",
}


def best_levels(task: Task, suppression: Decimal, searches: TimedSearches) -> RelatedLevels:
    """Finds the levels of least loss at which the requirements are met. Raises PrivacyViolation if no levels meet
    them.
    """
    names = published_names(task.policy.policy)
    if not task.dry:
        require_free(task.engine, qualified(task.engine, task.name), names)
    limit = int(Fraction(suppression) * task.encoded.rows)
    nodes = RelatedNodes(task, limit)
    optimum = searches.best(nodes.lattice, limit, nodes.count, nodes.settle, nodes.loss.value)
    if optimum is None:
        raise _infeasible(task, nodes, limit)
    gone, _ = nodes.left_out(optimum.node)
    is_empty = optimum.suppressed == nodes.people.count
    fewest = tuple(_fewest(task, nodes, optimum.node, gone)) if task.dry and not is_empty else ()
    least = None if optimum.least is None else nodes.loss.value(optimum.least)
    return RelatedLevels(
        levels=optimum.node,
        loss=nodes.loss.value(optimum.loss),
        rows=nodes.people.count,
        suppressed=optimum.suppressed,
        limit=limit,
        searched=Searched(nodes.lattice.size, optimum.checked, optimum.pruned, optimum.proven, least),
        nodes=nodes,
        gone=gone,
        released=dict(zip(names, nodes.people.released(gone), strict=True)),
        fewest=fewest,
    )


def _infeasible(task: Task, nodes: RelatedNodes, limit: int) -> PrivacyViolation:
    """The error that names the unmet requirements and the people in violating classes at the most general levels."""
    node = nodes.lattice.high
    violating = [(nodes.violating(node, known_of(of), [of])[0], of) for of in task.requirements]
    broken = [(people, of) for people, of in violating if people > limit] or [pair for pair in violating if pair[0]]
    names = ", ".join(str(of) for _, of in broken or violating)
    if not broken:
        return PrivacyViolation(f"{names} cannot be met; nothing was published")
    worst = max(broken, key=lambda pair: pair[0])
    requirement = worst[1]
    smallest = nodes.smallest_class(node, known_of(requirement), [requirement])
    capped = [b.column for b in chain(*task.policy.quasi_identifiers_by_table) if b.max_level < b.height]
    known = known_of(requirement)
    # In overlapping classes, people would be counted several times.
    people_in = f"{counted(worst[0], 'person is', 'people are')} in classes that" if known.is_partition else "classes"
    hint = (
        f"raise MAX LEVEL of {', '.join(capped)}"
        if capped
        else "allow more suppression, where knows allows it, or ask for less"
    )
    if known.knows == HISTORY:
        hint += (
            "; with knows => 'history' the number of rows tells people apart, which knows => 'values' takes as unknown"
        )
    return PrivacyViolation(
        f"{names} cannot be met with at most {count_of(limit, nodes.people.count, 'person', 'people')} left out: at "
        f"the most general levels allowed, {people_in} violate {requirement}, the smallest with {smallest}; "
        "nothing was published",
        hint=hint,
    )


def reasons_of(task: Task, choice: RelatedLevels) -> Iterator[tuple[str, str, str]]:
    """Rows of (stage, item, detail): the levels of each table, the people left out, and the smallest class for each
    reader.
    """
    names = published_names(task.policy.policy)
    levels = iter(choice.levels)
    for name, attributes in zip(names, task.policy.quasi_identifiers_by_table, strict=True):
        for bound in attributes:
            yield "solve", bound.column, f"level {next(levels)} of {bound.height}, in {name}"
    for name, rows in choice.released.items():
        yield "solve", "table", f"{fragment_name(task.name, name).name}: {counted(rows, 'row')}"
    yield "solve", "suppressed people", f"{choice.suppressed} of {choice.rows}, at most {choice.limit} allowed"
    proof = "proven least" if choice.searched.proven else "the best before the time limit"
    yield "solve", choice.loss_name.replace("_", " "), f"{loss_text(choice.loss)}, {proof}"
    for known, fewest in choice.fewest:
        people = counted(fewest, "person is", "people are")
        yield (
            "solve",
            f"knows => {known.written}",
            f"{people} in the smallest class for who knows {_IN_WORDS[known.knows]}",
        )
    yield "solve", *nodes_checked(choice.searched)


def _fewest(task: Task, nodes: RelatedNodes, node: Sequence[int], gone: str | None) -> Iterator[tuple[Known, int]]:
    """Yields each kind of knowledge and the number of published people in its smallest class."""
    for known in _KNOWN:
        try:
            if not known.is_partition:
                nodes.people.require_countable(known, _SETS_EXPLAINED)
        except PolicyError:
            continue
        rows = nodes.people.rows_at(node, known, [])
        conditions: list[exp.Expr] = []
        if gone is not None:
            conditions.append(not_(column("person").isin(query=select(column("person"), of=relation(gone)))))
        size = alias(f.count(), "size")
        sizes = select(size, of=relation("member"), where=conditions, group_by=[column("class_id")])
        query = select(f.min(column("size")), of=subquery(sizes, "of_class"))
        yield known, int(task.engine.rows(with_steps(query, rows.steps))[0][0] or 0)
