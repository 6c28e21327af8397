"""The guard: selects the classes of a release that may be published.

A class is withheld if it violates a requirement. If the verdict on a class depends on the rows of other classes,
withholding some classes may change the verdict on the rest; so the remaining classes are checked again, in rounds,
until none violates. The published rows alone then satisfy every requirement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.domain.bound import BoundPolicy
from sqlanon.sql.build.expressions import exists, if_, union_all
from sqlanon.sql.build.names import column, literal, relation
from sqlanon.sql.build.queries import extend, select, subquery
from sqlanon.sql.build.sql_files import filled, filled_query, query_file
from sqlanon.sql.build.steps import Step, with_steps
from sqlanon.sql.cells.taxonomy import Taxonomy, frozen_labels, frozen_values, listed_relation
from sqlanon.sql.classes.normal_relations import Background, sensitive_value
from sqlanon.sql.classes.rows import (
    PER_CLASS,
    RESPONDENTS,
    WHOLE,
    SqlRequirement,
    by_projection,
    depends_on_others,
    projection_steps,
    projections,
    relation_names,
    whole_classes,
)
from sqlanon.sql.classes.supersets import SUPERSET, frozen_coarser
from sqlanon.sql.sizes import sizes


def violations(requirements: Sequence[SqlRequirement], names: Sequence[Mapping[str, str]] | None = None) -> exp.Query:
    """Returns the classes that violate any requirement, each once: class_id, size, and the greatest excess.

    `names` has the relations that each requirement reads, by default `relation_names`. For a requirement on some
    quasi-identifiers, the result has the classes by all quasi-identifiers that are in a violating class.
    """
    names = names or relation_names(requirements)
    return _together([_violating(requirement, of) for requirement, of in zip(requirements, names, strict=True)])


def _violating(requirement: SqlRequirement, names: Mapping[str, str]) -> exp.Query:
    statement = requirement.statement("violations", names)
    if not requirement.on:
        return statement
    return whole_classes(statement, names[WHOLE])


def by_sets(requirements: Sequence[SqlRequirement]) -> list[exp.Query]:
    """Returns one query for each set of quasi-identifiers that requirements name in `on`: the violating classes by this
    set.
    """
    names = relation_names(requirements)
    return [
        _together([requirements[index].statement("violations", names[index]) for index in indexes])
        for indexes in by_projection(requirements).values()
    ]


def _together(statements: Sequence[exp.Query]) -> exp.Query:
    if len(statements) == 1:
        return statements[0]
    # In parentheses, because a statement may begin with steps of its own.
    violating = union_all(subquery(query) for query in statements)
    text = "SELECT class_id, max(size) AS size, max(excess) AS excess FROM violation GROUP BY class_id"
    return filled_query(text, tables={"violation": violating})


def needs_rounds(requirements: Sequence[SqlRequirement]) -> bool:
    """Whether withholding a class may make another class violate a requirement.

    It may do so if requirements are on several sets of quasi-identifiers, because a class by one set shares its rows
    with classes by each other set.
    """
    return len(by_projection(requirements)) > 1 or any(map(depends_on_others, requirements))


def kept_classes(requirements: Sequence[SqlRequirement], *, entity: bool = False) -> list[Step]:
    """Returns steps. The last one is kept(class_id), the classes that may be published.

    They read the normal relations under the names of `relation_names`, except sensitive_value; if `entity` is true,
    respondents are counted. The last steps check every requirement against the remaining classes alone, so the
    published classes satisfy them whatever the earlier rounds did.
    """
    if not needs_rounds(requirements):
        unviolated = extend(_classes("equivalence_class"), where=[_violates_nothing(violations(requirements))])
        return [("kept", unviolated)]
    steps, names = restricted(requirements, "remaining", "remaining", entity=entity)
    return [
        ("rounds", _rounds(requirements, entity)),
        ("remaining", _remaining()),
        *steps,
        ("violating", _class_ids(violations(requirements, names))),
        ("kept", _classes("remaining").where(exp.not_(_any("violating")))),
    ]


def _classes(of: str) -> exp.Select:
    return select(column("class_id"), of=relation(of))


def _class_ids(query: exp.Query) -> exp.Select:
    return select(column("class_id"), of=subquery(query, "violations"))


def _violates_nothing(query: exp.Query) -> exp.Expr:
    return exp.not_(column("class_id").isin(query=_class_ids(query)))


def _any(of: str) -> exp.Expr:
    return exists(select(literal(1), of=relation(of)))


def _rounds(requirements: Sequence[SqlRequirement], entity: bool) -> exp.Query:
    """Returns rounds(round, class_id), a recursive step: the classes that each round checks.

    The first round checks all classes. Each next round checks the classes that did not violate, as long as some
    violated. Each round also has a row without a class, so that it exists even if there are no classes, because a
    requirement may still count the classes of the public table.
    """
    steps, names = restricted(requirements, "rounds", "round", entity=entity)
    following = query_file("classified", "next_round", last=sizes().guard_rounds)
    following = with_steps(following, [*steps, ("round_violating", _class_ids(violations(requirements, names)))])
    all_classes = filled_query(
        "SELECT * FROM (SELECT 1 AS round, class_id FROM equivalence_class"
        " UNION ALL SELECT 1 AS round, NULL AS class_id) AS first"
    )
    return union_all([all_classes, subquery(following)])


def _remaining() -> exp.Query:
    """Returns the classes of the last round."""
    return filled_query(
        "SELECT class_id FROM rounds WHERE round = (SELECT max(round) FROM rounds) AND NOT class_id IS NULL"
    )


def restricted(
    requirements: Sequence[SqlRequirement], among: str, prefix: str, *, entity: bool = False
) -> tuple[list[Step], list[dict[str, str]]]:
    """Returns steps that restrict the normal relations to some classes, and the names of each requirement's relations.

    `among` is a relation of class_id. sensitive_value becomes the sum over those classes.
    """
    steps: dict[str, exp.Query] = {}
    renamed: list[dict[str, str]] = []
    for names, whole in zip(relation_names(requirements), relation_names(requirements, whole=True), strict=True):
        relations = dict(names)
        for kind, name in names.items():
            if kind in (*PER_CLASS, WHOLE):
                relations[kind] = f"{prefix}_{name}"
                steps[f"{prefix}_{whole[kind]}"] = _among(whole[kind], among)
        if "sensitive_value" in names:
            counted = "class_" + names["sensitive_value"]
            steps[f"{prefix}_{counted}"] = _among(counted, among)
            relations["sensitive_value"] = f"{prefix}_{names['sensitive_value']}"
            steps[relations["sensitive_value"]] = sensitive_value(f"{prefix}_{counted}")
        renamed.append(relations)
    if entity and projections(requirements):
        steps[f"{prefix}_{RESPONDENTS}"] = _among(RESPONDENTS, among)
    return [*steps.items(), *projection_steps(requirements, entity=entity, prefix=f"{prefix}_")], renamed


def _among(of: str, classes: str) -> exp.Query:
    text = 'SELECT * FROM "{of}" WHERE class_id IN (SELECT class_id FROM "{classes}")'
    return filled_query(text, names={"of": of, "classes": classes})


def withheld_rows(requirements: Sequence[SqlRequirement], base: Sequence[Step]) -> exp.Query:
    """Returns one row: `withheld`, the number of rows that the guard withholds, which is NULL if nothing may be
    published.

    `base` makes the normal relations that the requirements read, except sensitive_value.
    """
    rows = filled("CAST(coalesce(sum(size), 0) AS BIGINT)")
    if needs_rounds(requirements):
        rows = if_(exp.not_(_any("violating")), rows)
    text = """
        SELECT $rows AS withheld FROM equivalence_class WHERE NOT class_id IN (SELECT class_id FROM kept)
    """
    return with_steps(filled_query(text, rows=rows), [*base, *kept_classes(requirements)])


# The catalog's copies, for one release, of the relations that requirements read besides its rows.


def frozen_background(
    bound: BoundPolicy,
    requirements: Sequence[SqlRequirement],
    release_id: str,
    indexes: Sequence[int] | None = None,
    guards: Mapping[int, str] | None = None,
    public_class: exp.Query | None = None,
) -> Background:
    """Returns the relations that the requirements read besides the rows, from the catalog's copies for one release.

    `indexes` are the positions of the requirements among all requirements of the release, if they are only some of
    these; `guards` has the columns of guarding nodes by these indexes.
    """
    indexes = range(len(requirements)) if indexes is None else indexes
    by_index = dict(zip(indexes, requirements, strict=True))
    return Background(
        taxonomies={b.column: Taxonomy(b, frozen_labels(b, release_id) if b.stored else None) for b in bound.counted},
        ranges={
            number: frozen_values(kind, release_id, index)
            for number, (index, requirement) in enumerate(by_index.items())
            if (kind := listed_relation(requirement.reads)) is not None
        },
        guards={number: guards[index] for number, index in enumerate(by_index) if guards and index in guards},
        public_class=public_class,
        coarser={b.column: frozen_coarser(b.column, release_id) for b in bound.quasi_identifiers}
        if any(SUPERSET in requirement.reads for requirement in requirements)
        else {},
    )
