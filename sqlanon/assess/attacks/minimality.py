"""The minimality attack (Wong, Fu, Wang and Pei 2007): the adversary knows that no node of less loss was possible.

A world is one assignment of the sensitive values of each published class to the rows of the class. A world is possible
if each node that the method prefers to the published node violates the requirements in this world.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp as to_the_power
from typing import Any

from sqlglot import exp

from sqlanon.assess.attacks.attacked import require_same_rows
from sqlanon.catalog.snapshot import fingerprint, policy_of
from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.context import Adjustable
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Policy
from sqlanon.domain.release import Release
from sqlanon.domain.requests import MethodCall, ReleaseRequest
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import PolicyError
from sqlanon.methods.registry import preferred_to
from sqlanon.release.pipeline.run import encoded
from sqlanon.sources.bind_policy import hierarchies_of
from sqlanon.sources.requirement_columns import listed_taxonomy
from sqlanon.sources.source import own_object
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text, ascending, numbered, order_by, window
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, select, subquery
from sqlanon.sql.build.render import drop
from sqlanon.sql.build.sql_files import filled_query, query_file
from sqlanon.sql.build.steps import with_steps
from sqlanon.sql.cells.labels import generalized, level_name, published_value, stored_labels
from sqlanon.sql.classes.guard import violations
from sqlanon.sql.classes.normal_relations import Background, literal_rows, relations_of, sensitive_values
from sqlanon.sql.classes.rows import Rows, class_label
from sqlanon.sql.questions.ask import BoundRequirement
from sqlanon.sql.questions.models import always_satisfied
from sqlanon.sql.questions.statistics import BoundStatistic

# The limits of the work of an attack.


@dataclass(frozen=True)
class Sizes:
    """The limits of the attack by minimality.

    If there are fewer than `every_world` worlds, all are examined; otherwise a random sample is examined, and at least
    `least_worlds` of its worlds must be possible. All worlds together have at most `most_dealt` rows, and at most
    `most_choices` nodes may be preferred to the release.
    """

    every_world: int = 1_000_000
    least_worlds: int = 100
    most_dealt: int = 50_000_000
    most_choices: int = 10_000


sizes = Adjustable(Sizes())


# The worlds of the minimality attack: each is one way to assign the values of every published class to its rows.


PART = ("attack", "minimality")


@dataclass(frozen=True)
class Published:
    """The rows of the source, labeled at each level, and their published classes.

    `rows` is the table of row_id, a `label` for each quasi-identifier and level, and each sensitive column. `published`
    is the table of row_id, class_no, the position within the class, counted from 1, and code, the number of the row's
    combination of sensitive values.
    """

    policy: BoundPolicy
    requirements: tuple[BoundRequirement, ...]
    levels: tuple[int, ...]
    rows: str
    published: str
    count: int

    @property
    def quasi_identifiers(self) -> tuple[BoundAttribute, ...]:
        return self.policy.quasi_identifiers

    @property
    def sensitive(self) -> tuple[BoundAttribute, ...]:
        return self.policy.sensitive

    def keys(self, levels: Sequence[int]) -> list[exp.Expr]:
        """Returns the columns of the labels at these levels, without `*`, because it does not distinguish rows."""
        each = zip(self.quasi_identifiers, levels, strict=True)
        return [column(label_name(i, level)) for i, (b, level) in enumerate(each) if level < b.height]


def worlds_of(engine: Engine, made: Published, arguments: Mapping[str, Any], temp: TempTables) -> tuple[str, str, bool]:
    """Makes two tables: (world), and (world, row_id, code) with the code that each world assigns to each row.

    Also returns whether the tables have all worlds, and not a random sample.
    """
    tables = {"published_row": made.published}
    tables["class_value"] = temp.table("class_value", worlds_step("class_value", tables))
    ((ways,),) = engine.rows(worlds_step("number_of_worlds", tables))
    number = round(to_the_power(min(float(ways), 50.0)))
    exact = number < sizes().every_world and number * made.count <= sizes().most_dealt
    count = number if exact else int(arguments["worlds"])
    if count * made.count > sizes().most_dealt:
        most = sizes().most_dealt // max(made.count, 1)
        raise PolicyError(
            f"{count:,} worlds of {made.count:,} rows are more than {sizes().most_dealt:,} rows",
            hint=f"draw fewer: worlds => {most}" if most >= sizes().least_worlds else "attack a sample of the source",
            part=PART,
        )
    numbers = select(alias(f.call("unnest", f.call("range", literal(count))), "world"))
    tables["world"] = temp.table("world", numbers)
    if not exact:
        drawn = worlds_step("drawn_worlds", tables, seed=int(arguments["seed"]))
        return tables["world"], temp.table("dealt", drawn), False
    tables["arrangement"] = _arrangements(engine, tables, temp)
    tables["way"] = temp.table("way", _ways(engine, tables["arrangement"]))
    return tables["world"], temp.table("dealt", worlds_step("every_world", tables)), True


def _arrangements(engine: Engine, tables: Mapping[str, str], temp: TempTables) -> str:
    """Makes the table of all ways to assign the values of each class to its rows; returns its name."""
    ((most,),) = engine.rows(select(f.max(column("size")), of=relation(tables["class_value"])))
    arranged = temp.table("arranged", worlds_step("none_dealt", tables))
    for _ in range(int(most or 0)):
        former = arranged
        arranged = temp.table("arranged", worlds_step("one_more_dealt", {**tables, "arranged": former}))
        engine.run(drop("TABLE", relation(former), exists=True))
    return temp.table("arrangement", worlds_step("arrangement", {"arranged": arranged}))


def _ways(engine: Engine, arrangement: str) -> exp.Select:
    """SELECT of class_no, ways, stride: the number of assignments of each class, and the factor of the class in a
    world's number.

    The number of a world is the sum of stride times the number of the class's assignment, over all classes.
    """
    text = 'SELECT class_no, count(*) FROM "{arrangement}" GROUP BY class_no'
    counted = filled_query(text, names={"arrangement": arrangement})
    rows: list[tuple[int, int, int]] = []
    stride = 1
    for class_no, ways in sorted(engine.rows(counted)):
        rows.append((int(class_no), int(ways), stride))
        stride *= int(ways)
    return literal_rows([("class_no", "BIGINT"), ("ways", "BIGINT"), ("stride", "BIGINT")], rows)


def label_name(index: int, level: int) -> str:
    return f"label_{index}_{level}"


def worlds_step(name: str, tables: Mapping[str, str], **arguments: Any) -> exp.Query:
    return query_file("minimality", name, tables=tables, **arguments)


# The relations that depend on the world; others are about respondents, other people or ranges.
_OF_VALUES = {
    "equivalence_class",
    "class_sensitive_value",
    "sensitive_value",
    "sensitive_ancestor",
    "sensitive_number",
    "value_range",
}
# The number of standard deviations within which 95 % of a normal distribution lie.
_QUANTILE = 1.959963984540054


def dealt_row(engine: Engine, release: Release, statistic: BoundStatistic, temp: TempTables) -> str:
    """Makes the table dealt_row(class_id, confidence, low, high, hit): for each row the confidence about its value.

    The adversary knows everybody's quasi-identifiers, the release, and how it was chosen. `hit` is 1 if the source has
    the value that is most frequent in the possible worlds. Raises PolicyError for a release that was not chosen by its
    loss alone, whose requirements are not about sensitive values, or whose source has changed; and also for too many
    rows or too few possible worlds.
    """
    levels = _levels(release)
    published = _published(engine, release, levels, temp)
    arguments = dict(statistic.arguments)
    worlds, dealt_rows, exact = worlds_of(engine, published, arguments, temp)
    choices = _preferred(engine, release, published, temp)
    remaining, left = _remaining(engine, published, choices, worlds, dealt_rows, temp)
    if not left and exact:
        raise _refused(release, "its source says that another release loses less", "make the release again")
    if left < sizes().least_worlds and not exact:
        raise _refused(
            release,
            f"only {left:,} of {arguments['worlds']:,} worlds could have led to it",
            "draw more worlds",
        )
    return temp.table("dealt_row", _believed(published, statistic, (dealt_rows, remaining), exact, temp))


def _refused(release: Release, why: str, hint: str | None = None) -> PolicyError:
    return PolicyError(f"{release.name} cannot be attacked by minimality: {why}", hint=hint, part=PART)


def _levels(release: Release) -> tuple[int, ...]:
    """Returns the published level of each quasi-identifier, in the policy's order. Raises PolicyError if the attack is
    not possible.
    """
    policy = policy_of(release)
    known = {fold(a.source or a.name): a.level for a in release.attributes}
    levels = [known.get(fold(attribute.name)) for attribute in policy.quasi_identifiers]
    if not levels or None in levels or any(made.fragment is not None for made in release.published):
        raise _refused(release, "its rows do not show one level of each quasi-identifier")
    if not release.proven_optimal:
        raise _refused(release, "it is not known to lose the least", "leave out its time_limit")
    if release.suppressed_rows:
        raise _refused(release, "rows were left out", "a release with (suppression => 0) can be attacked")
    if policy.entity is not None:
        raise _refused(release, "a respondent may have several rows")
    if policy.joined is not None:
        raise _refused(release, "its levels were chosen for what the join with another release tells, too")
    return tuple(level for level in levels if level is not None)


def _published(engine: Engine, release: Release, levels: tuple[int, ...], temp: TempTables) -> Published:
    """Returns the rows of the source. Raises PolicyError if the attack does not apply, or if the source has changed."""
    policy = policy_of(release)
    if fingerprint(policy, list(hierarchies_of(engine, policy).values())) != release.policy_fingerprint:
        raise _refused(release, "a hierarchy of its policy is another now", "make the release again")
    bound = encoded(engine, _statement(release), policy, temp).bound
    asked_of = [r for r in bound.requirements if r.attributes]
    if not asked_of:
        raise _refused(release, "nothing that is required is about sensitive values, so that they had no part in it")
    for requirement in bound.requirements:
        if requirement.of_whole_release or not set(requirement.reads) <= _OF_VALUES:
            raise _refused(release, f"{requirement.question_name} is about more than the values of a class")
        if requirement.on:
            raise _refused(release, f"{requirement} is about classes by some of the quasi-identifiers")
    if all(b.min_level == b.max_level for b in bound.policy.quasi_identifiers):
        raise _refused(release, "all its levels were fixed beforehand, so that there was no choice")
    rows = temp.table("source_row", _labelled(bound.policy, temp))
    made = Published(bound.policy, bound.requirements, levels, rows, "", 0)
    _require_same_rows(engine, release, made)
    keys, values = made.keys(levels), [column(b.column) for b in made.sensitive]
    number = numbered(keys) if keys else literal(0)
    query = select(column("row_id"), alias(number, "class_no"), alias(numbered(values), "code"))
    codes = subquery(extend(query, of=relation(rows)), "numbered")
    position = window(f.row_number(), [column("class_no")], order_by(ascending(column("row_id"))))
    table = temp.table(
        "published_row",
        exp.select("*", alias(position, "position")).from_(codes),
    )
    ((count,),) = engine.rows(select(f.count(), of=relation(table)))
    return replace(made, published=table, count=count)


def _statement(release: Release) -> ReleaseRequest:
    return ReleaseRequest("table", release.name, release.policy, MethodCall(release.method, release.method_arguments))


def _labelled(policy: BoundPolicy, temp: TempTables) -> exp.Query:
    outputs: list[exp.Expr] = []
    trees: dict[str, str] = {}
    for index, b in enumerate(policy.quasi_identifiers):
        text = 'SELECT DISTINCT $value AS value FROM "{source}"'
        distinct = filled_query(text, names={"source": policy.relation}, value=published_value(b))
        at = f"tree_{index}"
        trees[at] = temp.table("tree", generalized(b, distinct, stored_labels(b), counted=False))
        outputs.append(alias(as_text(column("value", at)), label_name(index, 0)))
        outputs += [alias(column(level_name(i), at), label_name(index, i)) for i in range(1, b.height)]
    outputs += [alias(published_value(b, "source"), b.column) for b in policy.sensitive]
    return filled_query(
        """
        SELECT row_number() OVER () AS row_id, {outputs}
        FROM "{relation}" AS source
        LEFT JOIN "{trees}" AS "{of}" ON $values IS NOT DISTINCT FROM "{of}".value
        """,
        names={"relation": policy.relation, "outputs": outputs, "trees": [*trees.values()], "of": [*trees]},
        values=[published_value(b, "source") for b in policy.quasi_identifiers],
    )


def _require_same_rows(engine: Engine, release: Release, made: Published) -> None:
    """Raises PolicyError unless the rows, at the published levels, equal the rows of the release."""
    names = [b.column for b in made.quasi_identifiers]
    sensitive = [as_text(column(b.column)) for b in made.sensitive]
    each = zip(made.quasi_identifiers, made.levels, strict=True)
    ours = [column(label_name(i, level)) if level < b.height else literal("*") for i, (b, level) in enumerate(each)]
    shown_labels = [as_text(column(name)) for name in names]
    source = select(*ours, *sensitive, of=relation(made.rows))
    released = select(*shown_labels, *sensitive, of=relation(own_object(engine, release.published[0].name)))
    require_same_rows(engine, released, source, str(release.name), PART)


def _preferred(engine: Engine, release: Release, made: Published, temp: TempTables) -> list[tuple[int, ...]]:
    """Returns the nodes that the method prefers to the published node, the most general first, because they satisfy the
    requirements most easily.
    """
    policy = policy_of(release)
    lenient: Policy = replace(policy, requirements=(always_satisfied(),), against=None, joined=None)
    task = encoded(engine, _statement(release), lenient, temp).task
    try:
        choices = preferred_to(release.method, release.method_arguments, task, made.levels, sizes().most_choices)
    except PolicyError as error:
        raise _refused(release, error.message, error.hint) from None
    if all(r.question.monotone for r in made.requirements):
        choices = _most_general(choices)
    return sorted(choices, key=lambda levels: (-sum(levels), levels))


def _most_general(choices: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Removes each node that violates whenever a node one level more general violates, because the classes of the more
    general node are unions of its classes.
    """
    known = set(choices)
    return [
        levels
        for levels in choices
        if not any((*levels[:i], levels[i] + 1, *levels[i + 1 :]) in known for i in range(len(levels)))
    ]


def _remaining(
    engine: Engine, made: Published, choices: Sequence[tuple[int, ...]], worlds: str, dealt_rows: str, temp: TempTables
) -> tuple[str, int]:
    """Finds the worlds in which each of the choices violates a requirement; returns their table and their number."""
    requirements, policy = made.requirements, made.policy
    taxonomies = {b.column: listed_taxonomy(engine, policy, b, requirements, temp) for b in policy.sensitive}
    ranges = {index: select(exp.Star(), of=relation(table)) for index, table in policy.ranges}
    background = Background(taxonomies=taxonomies, ranges=ranges)
    values = _values(made, temp)
    remaining = worlds
    for levels in choices:
        keys = made.keys(levels)
        number = numbered(keys) if keys else literal(0)
        classes = temp.table("node_class", select(column("row_id"), alias(number, "class_no"), of=relation(made.rows)))
        table = temp.table("node_row", _rows_of_worlds(made, dealt_rows, remaining, classes, values))
        columns = {b.column: column(b.column) for b in made.sensitive}
        rows = Rows(relation(table), (column("class_id"),), column("class_id"), columns, weight=column("n"))
        steps = [*relations_of(rows, requirements, background), *sensitive_values(requirements)]
        violating = with_steps(select(column("class_id"), of=subquery(violations(requirements), "violating")), steps)
        world = exp.IntDiv(this=column("class_id"), expression=literal(made.count + 1))
        failing = temp.table(
            "remaining", select(alias(world, "world"), distinct=True, of=subquery(violating, "violating"))
        )
        for former in (table, classes, *([remaining] if remaining != worlds else [])):
            engine.run(drop("TABLE", relation(former), exists=True))
        remaining = failing
    ((left,),) = engine.rows(select(f.count(), of=relation(remaining)))
    return remaining, int(left)


def _values(made: Published, temp: TempTables) -> str:
    """Makes the table of each code with its sensitive values."""
    return temp.table("values", _values_of_codes(made, [b.column for b in made.sensitive]))


def _values_of_codes(made: Published, columns: Sequence[str]) -> exp.Query:
    return filled_query(
        "SELECT DISTINCT numbered.code, {rows.columns} FROM numbered JOIN rows ON numbered.row_id = rows.row_id",
        tables={"numbered": made.published, "rows": made.rows},
        names={"columns": columns},
    )


def _rows_of_worlds(made: Published, dealt_rows: str, remaining: str, classes: str, values: str) -> exp.Query:
    """SELECT of the classes of each possible world, with their values and rows; a class has a number in each world."""
    return query_file(
        "minimality",
        "rows_of_worlds",
        tables={"dealt": dealt_rows, "remaining": remaining, "class": classes, "known": values},
        names={"sensitive": [b.column for b in made.sensitive]},
        classes=made.count + 1,
    )


def _believed(
    made: Published, statistic: BoundStatistic, tables: tuple[str, str], exact: bool, temp: TempTables
) -> exp.Query:
    dealt_rows, remaining = tables
    (attribute,) = statistic.attributes
    known = temp.table("values", _coded_values(made, attribute))
    believed = worlds_step(
        "believed",
        {"dealt": dealt_rows, "remaining": remaining, "code_value": known, "published_row": made.published},
        exact=exact,
        z=_QUANTILE,
    )
    each = zip(made.quasi_identifiers, made.levels, strict=True)
    labels = {
        b.column: column(label_name(i, level), "rows") if level < b.height else literal("*")
        for i, (b, level) in enumerate(each)
    }
    return filled_query(
        "SELECT $label AS class_id, believed.confidence, believed.low, believed.high, believed.hit "
        "FROM believed JOIN rows ON believed.row_id = rows.row_id",
        tables={"believed": believed, "rows": made.rows},
        label=class_label(labels),
    )


def _coded_values(made: Published, attribute: str) -> exp.Query:
    """SELECT of tuple, code: for each combination of sensitive values, the number of the value of one attribute."""
    return filled_query(
        "SELECT code AS tuple, $number AS code FROM both",
        tables={"both": _values_of_codes(made, [attribute])},
        number=numbered([column(attribute)]),
    )
