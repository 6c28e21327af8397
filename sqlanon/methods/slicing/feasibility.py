"""Checks whether all rows as one bucket meet the requirements, and explains why they do not.

A union of satisfying buckets satisfies, because it is a mixture for each value of the sensitive column's other
attributes. So satisfying buckets exist iff the whole table is one of them (Slicing, section 4.3, which does not check
the whole table).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.numbers import counted
from sqlanon.errors import PrivacyViolation
from sqlanon.methods.shared.partition.allowable_cuts import violating_regions
from sqlanon.methods.shared.partition.solve import Options, cuts_of, points_of
from sqlanon.methods.shared.task import Task
from sqlanon.methods.shared.wording import NAMED_FROM, frequent, shortened, too_frequent_in
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    identical,
    same,
    union_all,
)
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, inner_join, select, subquery
from sqlanon.sql.build.sql_files import Relation, filled_query, filled_select, query_file
from sqlanon.sql.build.steps import with_steps
from sqlanon.sql.cells.labels import published_value, stored_labels
from sqlanon.sql.cells.taxonomy import Taxonomy
from sqlanon.sql.classes.normal_relations import Background, relations_of, sensitive_values
from sqlanon.sql.classes.rows import Rows, class_label, relation_names
from sqlanon.sql.questions.ask import BoundRequirement, least_rows

# Queries for the source's rows in their buckets, if they are on another engine than the cells.
#
# In DuckDB, published values come from the cells or from the numbers of rows. Distributed rows have no numbers, and
# rebuilding a whole source from cells would be slow. So rows keep their values, and are joined with the regions.


def value_name(index: int) -> str:
    """The name of the column with a row's value of the published attribute at this index."""
    return f"value_{index}"


def _names(policy: BoundPolicy) -> list[str]:
    return [value_name(index) for index in range(len(policy.published))]


def _values(policy: BoundPolicy) -> list[exp.Alias]:
    named = zip(_names(policy), policy.published, strict=True)
    return [alias(published_value(bound, "source"), name) for name, bound in named]


def rows_in_regions(policy: BoundPolicy, regions: str) -> exp.Query:
    """SELECT of region, value_0, ...: the published values of the source's rows, with the region of each row.

    `regions` is a table of `region_labels.region_map`.
    """
    quasi = [published_value(bound, "source") for bound in policy.quasi_identifiers]
    on = [identical(value, column(value_name(index), "row_region")) for index, value in enumerate(quasi)]
    text = "SELECT row_region.region, $values FROM source JOIN regions AS row_region ON $on"
    tables: dict[str, Relation] = {"source": relation(policy.relation), "regions": regions}
    return filled_query(text, tables=tables, values=_values(policy), on=on)


def drawn_rows(policy: BoundPolicy, draw: str) -> exp.Query:
    """SELECT of draw, value_0, ...: the rows of the source, each with a random number."""
    tables = {"source": relation(policy.relation)}
    text = "SELECT $draw AS draw, $values FROM source"
    return filled_query(text, tables=tables, draw=f.call(draw, 0), values=_values(policy))


def rows_in_slots(policy: BoundPolicy, numbered: exp.Query, slots: int) -> exp.Query:
    """SELECT of slot, value_0, ...: the rows in `slots` slots; row i, by its `number` from 1, is in slot i modulo
    `slots`.
    """
    text = "SELECT CAST((number - 1) % $slots AS BIGINT) AS slot, {values} FROM numbered"
    return filled_query(text, tables={"numbered": numbered}, names={"values": _names(policy)}, slots=slots)


def rows_of_slots(policy: BoundPolicy, rows: str, slots: str) -> exp.Query:
    """SELECT of region, value_0, ...: the rows of `rows_in_slots`, each with the region to which `slots`
    maps its slot.
    """
    text = "SELECT slot.region, {row.values} FROM rows AS row JOIN slots AS slot ON row.slot = slot.slot"
    return filled_query(text, tables={"rows": rows, "slots": slots}, names={"values": _names(policy)})


def drawn_regions(points: str, draw: str) -> exp.Query:
    """SELECT of region, rows, draw: the regions with their numbers of rows and a random number."""
    text = """
        SELECT region, rows, $draw AS draw
        FROM (SELECT region, count(*) AS rows FROM points GROUP BY region) AS counted
    """
    return filled_query(text, tables={"points": points}, draw=f.call(draw, 0))


# The buckets that violate a requirement, computed from the source's own values in the same way as from the published
# tables.
#
# Cells need bits in their keys for each attribute, which are too many with thousands of attributes. Here a query reads
# only the columns that it needs.


Parts = Mapping[str, Sequence[str]]


class BucketedRows:
    """The rows of a source with their regions: either all rows in region 0, or the rows of new regions from temporary
    tables.

    `rows` has the slot of each row (slot, row), and `slots` the region of each slot (slot, region, is_new). If
    `by_value`, `rows` has the values of each row in place of its number, as in `rows_in_slots`.
    """

    def __init__(
        self, policy: BoundPolicy, rows: str | None = None, slots: str | None = None, *, by_value: bool = False
    ) -> None:
        self.policy, self.rows, self.slots, self.by_value = policy, rows, slots, by_value

    def select(self, names: Mapping[str, str]) -> exp.Query:
        """SELECT of class_id, the region, and attributes of each row, under these names."""
        attributes = {bound.column: (index, bound) for index, bound in enumerate(self.policy.published)}
        columns = [alias(self._value(*attributes[name]), to) for name, to in names.items()]
        tables: dict[str, Relation] = {"source": relation(self.policy.relation)}
        if self.rows is None or self.slots is None:
            return filled_query("SELECT 0 AS class_id, $columns FROM source", tables=tables, columns=columns)
        query = filled_select(
            "SELECT slot.region AS class_id, $columns FROM rows AS row"
            if self.by_value
            else "SELECT slot.region AS class_id, $columns FROM source JOIN rows AS row ON source.rowid = row.row",
            tables={**tables, "rows": self.rows},
            columns=columns,
        )
        extend(query, joins=[inner_join(relation(self.slots, as_="slot"), same("slot", "row", "slot"))])
        return extend(query, where=[column("is_new", "slot")])

    def _value(self, index: int, bound: BoundAttribute) -> exp.Expr:
        """The expression of a row's value of an attribute, by its index among the published attributes."""
        return column(value_name(index), "row") if self.by_value else published_value(bound, "source")


def violating_buckets(task: Task, rows: BucketedRows, parts: Parts, only: Sequence[int] | None = None) -> exp.Query:
    """SELECT of region: the buckets with a class that violates a requirement; `only` has the indexes of the
    requirements checked, by default all.

    For a requirement on a sensitive attribute, a class is the rows of a bucket that agree on the attribute's `parts`;
    for any other requirement, it is the bucket.
    """
    about: dict[tuple[str, ...], list[int]] = {}
    for index in range(len(task.requirements)) if only is None else only:
        attributes = task.requirements[index].attributes
        beside = tuple(parts.get(attributes[0], ())) if attributes else ()
        about.setdefault(beside, []).append(index)
    # Each in parentheses, because it begins with steps of its own.
    each = [
        filled_query("SELECT region FROM broken", tables={"broken": _violating(task, rows, beside, indexes)})
        for beside, indexes in about.items()
    ]
    return filled_query("SELECT DISTINCT region FROM violating", tables={"violating": union_all(each)})


def _violating(task: Task, rows: BucketedRows, beside: Sequence[str], indexes: Sequence[int]) -> exp.Query:
    """SELECT of region: the buckets that violate one of these requirements, in classes by the columns `beside`."""
    requirements = [task.requirements[index] for index in indexes]
    sensitive = list(dict.fromkeys(name for requirement in requirements for name in requirement.attributes))
    values = {name: f"value_{number}" for number, name in enumerate(sensitive)}
    others = {name: f"beside_{number}" for number, name in enumerate(beside)}
    keys = ("class_id", *others.values())
    within = Rows(
        subquery(rows.select(values | others), "bucket_row"),
        tuple(map(column, keys)),
        class_label({name: column(name) for name in keys}) if others else column("class_id"),
        {name: column(value) for name, value in values.items()},
    )
    text = "SELECT class_id.class_id AS region FROM violation" if others else "SELECT class_id AS region FROM violation"
    broken = [
        filled_query(text, tables={"violation": requirement.statement("violations", names)})
        for requirement, names in zip(requirements, relation_names(requirements), strict=True)
    ]
    query = filled_query("SELECT region FROM broken", tables={"broken": union_all(broken)})
    background = _background(task.policy, requirements, indexes)
    return with_steps(query, [*relations_of(within, requirements, background), *sensitive_values(requirements)])


def _background(policy: BoundPolicy, requirements: Sequence[BoundRequirement], indexes: Sequence[int]) -> Background:
    """The hierarchies of the sensitive attributes, and the tables that requirements name, as queries of the
    relations.
    """
    ranges = dict(policy.ranges)
    return Background(
        taxonomies={bound.column: Taxonomy(bound, stored_labels(bound)) for bound in policy.sensitive},
        ranges={
            number: select(exp.Star(), of=relation(ranges[index]))
            for number, index in enumerate(indexes)
            if index in ranges
        },
    )


# Mondrian's options for buckets, whose values are published as they are.
BUCKETS = Options(publish="none")

Columns = Sequence[Sequence[str]]
_BY_SHARES = "probabilistic_l_diversity"


def beside(policy: BoundPolicy, columns: Columns) -> dict[str, tuple[str, ...]]:
    """Returns, for each sensitive attribute, the attributes in its column that are not sensitive."""
    sensitive = {bound.column for bound in policy.sensitive}
    return {
        name: tuple(other for other in names if other not in sensitive)
        for names in columns
        for name in names
        if name in sensitive
    }


def is_feasible(task: Task, parts: Mapping[str, Sequence[str]], only: Sequence[int] | None = None) -> bool:
    """Whether all rows as one bucket meet the requirements, or the requirements at the indexes `only`; `parts` is a
    result of `beside`.
    """
    return not _unmet(task, parts, only)


def _unmet(task: Task, parts: Mapping[str, Sequence[str]], only: Sequence[int] | None = None) -> list[int]:
    """The indexes of the requirements that all rows as one bucket do not meet."""
    indexes = range(len(task.requirements)) if only is None else only
    if not task.encoded.ranked:
        rows = BucketedRows(task.policy)
        return [index for index in indexes if _is_violated(task, violating_buckets(task, rows, parts, [index]))]
    cells = task.encoded
    points = points_of(task, BUCKETS, parts)
    # Cells are counted: none of them needs to be divided.
    coded = select(alias(literal(0), "class_id"), *points.carried_by_cells(), of=relation(cells.table))
    cuts = cuts_of(task, points)
    return [index for index in indexes if _is_violated(task, violating_regions(cuts, coded.copy(), [index]))]


def _is_violated(task: Task, broken: exp.Query) -> bool:
    return bool(task.engine.rows(select(f.count(), of=subquery(broken, "broken")))[0][0])


def require_feasible(task: Task, columns: Columns, promised_model: str) -> None:
    """Raises PrivacyViolation, with a hint, unless all rows as one bucket meet the requirements.

    If a requirement has the model that the method promises, the error names the values with the greatest share.
    """
    parts = beside(task.policy, columns)
    if not (unmet := _unmet(task, parts)):
        return
    requirements = [task.requirements[index] for index in unmet]
    names = ", ".join(map(str, requirements))
    subject = next((r.attributes[0] for r in requirements if r.attributes), None)
    others = parts.get(subject, ()) if subject else ()
    if subject is None or not others:
        raise PrivacyViolation(
            f"{names} cannot be met: not even all rows as one bucket do"
            f"{too_frequent_in(task.engine, task.policy, requirements)}; nothing was published",
            hint=_greatest_l(task, requirements) or "ask for less",
        )
    # A share explains a requirement on shares, but not a requirement on distances.
    of_shares = any(requirement.question.model == promised_model for requirement in requirements)
    raise PrivacyViolation(
        f"{names} cannot be met with {', '.join(others)} in the column of {subject}: not even all rows as one bucket do"
        f"{_most_alike(task, subject, others) if of_shares else ''}; nothing was published",
        hint=_way_out(task, parts, subject, unmet),
    )


def _greatest_l(task: Task, requirements: Sequence[BoundRequirement]) -> str | None:
    """Returns the hint at the largest feasible l; None if a requirement other than l-diversity by shares is unmet."""
    if any(requirement.question_name != _BY_SHARES for requirement in requirements):
        return None
    values = [frequent(task.engine, task.policy, requirement.attributes) for requirement in requirements]
    largest = min((value.rows // value.most for value in values if value), default=1)
    if largest < 2:
        return "no l above 1 works: the values of this attribute are too much alike"
    return f"l => {largest} is the largest that works"


def _way_out(task: Task, parts: Mapping[str, Sequence[str]], subject: str, unmet: Sequence[int]) -> str:
    """Returns a hint that names the attribute to take out of the sensitive column."""
    others = parts[subject]
    for name in others:
        left = tuple(other for other in others if other != name)
        if is_feasible(task, {**parts, subject: left}, unmet):
            return f"take {name} out of the column of {subject}"
    if is_feasible(task, {**parts, subject: ()}, unmet):
        return f"publish {subject} in a column of its own"
    return "ask for less: it cannot be met with this attribute alone in its column, either"


def _most_alike(task: Task, subject: str, others: Sequence[str]) -> str:
    """A clause on the values with which the most frequent sensitive value has the greatest share.

    Values of fewer rows than a class needs are not named, because they would reveal these rows.
    """
    bounds = {bound.column: bound for bound in task.policy.published}
    figures = task.engine.rows(_greatest_share(task.policy, bounds[subject], [bounds[name] for name in others]))
    if not figures:
        return ""
    most, rows, value, *texts = figures[0]
    if int(most) < NAMED_FROM or int(rows) < least_rows(task.requirements):
        return f"; of {counted(int(rows), 'row')} with the same {', '.join(others)} {most} have the same {subject}"
    where = ", ".join(f"{name} {shortened(text)}" for name, text in zip(others, texts, strict=True))
    return f"; of the {rows} rows with {where} {most} have {shortened(value)} ({int(most) / int(rows):.1%})"


def _greatest_share(policy: BoundPolicy, subject: BoundAttribute, others: Sequence[BoundAttribute]) -> exp.Query:
    """SELECT of n, rows, text, text_0, ...: the sensitive value with the greatest share given the values of the
    others; see sql/slicing/greatest_share.sql.
    """
    return query_file(
        "slicing",
        "greatest_share",
        tables={"source": relation(policy.relation)},
        names={"others": [f"value_{index}" for index in range(len(others))]},
        value=published_value(subject),
        others=[published_value(bound) for bound in others],
    )
