"""Which buckets of rows violate a requirement: asked of the source's own values, as the published tables are asked.

Cells have a place in their keys for each attribute, and thousands of attributes have none. Here a query reads the
columns alone that it is about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.methods.shared.task import Task
from sqlanon.methods.slicing.source_rows import value_name
from sqlanon.sql.build.expressions import named, union_all
from sqlanon.sql.build.names import alias, column, identifier, literal, relation
from sqlanon.sql.build.steps import with_steps
from sqlanon.sql.cells.cells import row_number
from sqlanon.sql.cells.labels import published_value, stored_labels
from sqlanon.sql.cells.taxonomy import Taxonomy
from sqlanon.sql.classes.normal_relations import Background, relations_of, sensitive_values
from sqlanon.sql.classes.requirement import relation_names
from sqlanon.sql.classes.rows import Rows, class_label
from sqlanon.sql.questions.ask import BoundRequirement

Parts = Mapping[str, Sequence[str]]


class BucketedRows:
    """The rows of a source with their regions: all of them in region 0, or those of new regions of temporary tables.

    `rows` has the slot of each row (slot, row), and `slots` the region of each slot (slot, region, is_new). If
    `by_value`, `rows` has the values of each row in place of its number, those of `source_rows.rows_in_slots`.
    """

    def __init__(
        self, policy: BoundPolicy, rows: str | None = None, slots: str | None = None, *, by_value: bool = False
    ) -> None:
        self.policy, self.rows, self.slots, self.by_value = policy, rows, slots, by_value

    def select(self, names: Mapping[str, str]) -> exp.Select:
        """class_id, the region, and attributes of each row, under these names."""
        attributes = {bound.column: (index, bound) for index, bound in enumerate(self.policy.published)}
        columns = [alias(self._value(*attributes[name]), to) for name, to in names.items()]
        source = named(relation(self.policy.relation), "source")
        if self.rows is None or self.slots is None:
            return exp.select(alias(literal(0), "class_id"), *columns).from_(source, copy=False)
        query = exp.select(alias(column("region", "slot"), "class_id"), *columns)
        if self.by_value:
            query.from_(relation(self.rows, as_="row"), copy=False)
        else:
            query.from_(source, copy=False)
            query.join(relation(self.rows, as_="row"), on=row_number().eq(column("row", "row")), copy=False)
        on = column("slot", "row").eq(column("slot", "slot"))
        query.join(relation(self.slots, as_="slot"), on=on, copy=False)
        return query.where(column("is_new", "slot"), copy=False)

    def _value(self, index: int, bound: BoundAttribute) -> exp.Expr:
        """A row's value of an attribute by its index among those that are published."""
        return column(value_name(index), "row") if self.by_value else published_value(bound, "source")


def violating_buckets(task: Task, rows: BucketedRows, parts: Parts, only: Sequence[int] | None = None) -> exp.Query:
    """region: the buckets with a class that violates a requirement, or one of those at the indexes `only`.

    A class of a requirement about a sensitive attribute is the rows of a bucket that agree on its `parts`; of any other
    it is the bucket.
    """
    about: dict[tuple[str, ...], list[int]] = {}
    for index in range(len(task.requirements)) if only is None else only:
        attributes = task.requirements[index].attributes
        beside = tuple(parts.get(attributes[0], ())) if attributes else ()
        about.setdefault(beside, []).append(index)
    # Each in parentheses, because it begins with steps of its own.
    each = [
        exp.select(column("region")).from_(_violating(task, rows, beside, indexes).subquery("broken", copy=False))
        for beside, indexes in about.items()
    ]
    return exp.select(column("region")).distinct(copy=False).from_(union_all(each).subquery("violating"), copy=False)


def _violating(task: Task, rows: BucketedRows, beside: Sequence[str], indexes: Sequence[int]) -> exp.Query:
    """region: the buckets that violate one of these requirements, whose classes agree on the columns `beside`."""
    requirements = [task.requirements[index] for index in indexes]
    sensitive = list(dict.fromkeys(name for requirement in requirements for name in requirement.attributes))
    values = {name: f"value_{number}" for number, name in enumerate(sensitive)}
    others = {name: f"beside_{number}" for number, name in enumerate(beside)}
    keys = ("class_id", *others.values())
    within = Rows(
        rows.select(values | others).subquery("bucket_row", copy=False),
        tuple(map(column, keys)),
        class_label({name: column(name) for name in keys}) if others else column("class_id"),
        {name: column(value) for name, value in values.items()},
    )
    region: exp.Expr = column("class_id")
    if others:
        region = exp.Dot(this=region, expression=identifier("class_id"))
    broken = [
        exp.select(alias(region.copy(), "region")).from_(
            requirement.statement("violations", names).subquery("violation", copy=False), copy=False
        )
        for requirement, names in zip(requirements, relation_names(requirements), strict=True)
    ]
    query = exp.select(column("region")).from_(union_all(broken).subquery("broken", copy=False), copy=False)
    background = _background(task.policy, requirements, indexes)
    return with_steps(query, [*relations_of(within, requirements, background), *sensitive_values(requirements)])


def _background(policy: BoundPolicy, requirements: Sequence[BoundRequirement], indexes: Sequence[int]) -> Background:
    """The hierarchies of the sensitive attributes, and the tables of ranges that requirements name."""
    ranges = dict(policy.ranges)
    return Background(
        taxonomies={bound.column: Taxonomy(bound, _listed(bound)) for bound in policy.sensitive},
        ranges={
            number: exp.select(exp.Star()).from_(relation(ranges[index]))
            for number, index in enumerate(indexes)
            if index in ranges
        },
    )


def _listed(bound: BoundAttribute) -> exp.Query | None:
    return stored_labels(bound)
