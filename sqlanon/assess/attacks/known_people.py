"""The people of a public table in the classes of a release, for attacks by linkage.

A person fits a class if each of its labels may represent the person's value. Labels are read as for estimates, so
ranges of regions and rows of several levels need no special treatment. If labels overlap, a person fits several
classes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.domain.identifiers import fold
from sqlanon.domain.values import QualifiedName, Source
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import PolicyError
from sqlanon.estimates.labels.leaves import ColumnUse, leaves
from sqlanon.estimates.labels.spans import STAR
from sqlanon.estimates.query.bind import ROW
from sqlanon.estimates.release_model import Generalized
from sqlanon.estimates.single.estimate import label_of, text_of
from sqlanon.release.existing.estimable import Recorded, published
from sqlanon.sources.source import BoundSource, bind_source
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import identical, is_not_null, is_null, total, try_cast
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.classes.rows import Rows


@dataclass(frozen=True)
class KnownColumns:
    """The columns by which an adversary knows people, and their form in the rows of a release.

    By folded name, `exact` has the released column with the values themselves, and `generalized` the reading of labels.
    """

    names: tuple[str, ...]
    exact: Mapping[str, str]
    generalized: Mapping[str, Generalized]


def public_class_of(
    engine: Engine, called: str, rows: Rows, known: KnownColumns, against: QualifiedName, scratch: Scratch
) -> exp.Select:
    """SELECT of public_class(class_id, n): the people of a table that fit each class, if any do.

    Raises PolicyError for a table that lacks a known column, and for labels that cannot be read.
    """
    try:
        source = bind_source(engine, Source(name=against), scratch)
    except PolicyError as error:
        error.part = ("attack", "linkage", "against")
        raise
    fitting = people_in_classes(engine, called, rows, known, source, scratch).subquery("fitting")
    query = exp.select(column("class_id"), alias(total(column("n")), "n")).from_(fitting)
    return query.group_by(column("class_id"), copy=False)


def people_in_classes(
    engine: Engine,
    called: str,
    rows: Rows,
    known: KnownColumns,
    source: BoundSource,
    scratch: Scratch,
    respondent: str | None = None,
) -> exp.Select:
    """SELECT of class_id, n: each class, once for each combination of values that fits it, with the number of people.

    If `respondent` names a column of the source, that column is selected, too. Raises the errors of `public_class_of`.
    """
    classes = scratch.table("class", _classes(rows, known))
    public = _public(engine, called, classes, known, source, scratch, respondent)
    query = exp.select(column("class_id", "class"), column("n", "public"))
    if respondent is not None:
        query.select(column("respondent", "public"), copy=False)
    query.from_(relation(public, as_="public"), copy=False)
    same: list[exp.Expr] = []
    for index, name in enumerate(known.names):
        value, label = column(f"value_{index}", "public"), column(f"label_{index}", "class")
        generalized = known.generalized.get(fold(name))
        if generalized is None:
            same.append(identical(label, value))
            continue
        fitting, path = _fitting(index, generalized, classes, public, scratch), f"path_{index}"
        query.join(relation(fitting, as_=path), on=identical(column("value", path), value), copy=False)
        same.append(identical(label, column("label", path)))
    return query.join(relation(classes, as_="class"), on=exp.and_(exp.true(), *same), copy=False)


def _classes(rows: Rows, known: KnownColumns) -> exp.Select:
    """SELECT of class_id, and for each column label_i, and text_i if it is read as a label."""
    columns: list[exp.Expr] = []
    for index, name in enumerate(known.names):
        generalized = known.generalized.get(fold(name))
        if generalized is None:
            columns.append(alias(column(known.exact[fold(name)], ROW), f"label_{index}"))
            continue
        label = label_of(generalized)
        columns.append(alias(label, f"label_{index}"))
        columns.append(alias(text_of(generalized, label.copy()), f"text_{index}"))
    released = exp.select(exp.Star()).from_(rows.relation.copy()).subquery(ROW)
    return exp.select(alias(rows.class_id.copy(), "class_id"), *columns).distinct().from_(released)


def _public(
    engine: Engine,
    called: str,
    classes: str,
    known: KnownColumns,
    source: BoundSource,
    scratch: Scratch,
    respondent: str | None,
) -> str:
    """Makes the table (value_i, n): n people have the combination of values, which are cast to the types of the
    classes.
    """
    columns = {fold(name): name for name, _ in source.columns}
    if lacking := [name for name in known.names if fold(name) not in columns]:
        raise PolicyError(
            f"the table of people has no column {lacking[0]}, by which they could be found in {called}",
            hint=f"make a view of it that has the columns {', '.join(known.names)}",
            part=("attack", "linkage", "against"),
        )
    types = dict(engine.columns(exp.select(exp.Star()).from_(relation(classes))))
    query = exp.select().from_(relation(source.relation))
    for index, name in enumerate(known.names):
        generalized = known.generalized.get(fold(name))
        kind = generalized.bound.published_type if generalized else types[f"label_{index}"]
        value = column(columns[fold(name)])
        typed = try_cast(value, kind)
        query.select(alias(typed, f"value_{index}"), copy=False)
        # A value that the type lacks fits no class, and is not NULL.
        query.where(exp.or_(is_null(value.copy()), is_not_null(typed.copy())), copy=False)
    values = [column(f"value_{index}") for index in range(len(known.names))]
    if respondent is not None:
        query.select(alias(column(respondent), "respondent"), copy=False)
        values.append(column("respondent"))
    counted = exp.select(*values, alias(f.count(), "n")).from_(query.subquery("person"))
    return scratch.table("public", counted.group_by(*(value.copy() for value in values)))


def _fitting(index: int, generalized: Generalized, classes: str, public: str, scratch: Scratch) -> str:
    """Makes the table (value, label) of the labels of a column that may represent a value of the public table."""
    value = alias(column(f"value_{index}"), "value")
    values = scratch.table("values", exp.select(value).distinct().from_(relation(public)))
    label, text = column(f"label_{index}"), column(f"text_{index}")
    labels = exp.select(alias(label, "label"), alias(text, "shown"), alias(f.count(), "n")).from_(relation(classes))
    labels = labels.group_by(label.copy(), text.copy())
    known = leaves(scratch, generalized, ColumnUse(labels, (), [(relation(values), "value")], False))
    same = identical(column("value", "leaf"), column("value", "person"))
    pairs: exp.Query = (
        exp.select(column("value", "person"), column("label", "leaf"))
        .from_(relation(known.table, as_="leaf"))
        .join(relation(values, as_="person"), on=same)
    )
    if "star" in generalized.forms:
        starred = labels.copy().subquery("starred")
        of_all = exp.select(column("value", "person"), column("label", "starred")).from_(starred)
        of_all = of_all.join(relation(values, as_="person"), join_type="CROSS")
        pairs = exp.union(pairs, of_all.where(column("shown", "starred").eq(literal(STAR))), distinct=True)
    distinct = exp.select(column("value"), column("label")).distinct().from_(pairs.subquery("pair"))
    return scratch.table("fitting", distinct)


def known_columns(recorded: Recorded, names: Sequence[str]) -> KnownColumns:
    """Finds the form in which a release shows columns of its source. Raises PolicyError for a column published apart
    from the classes.
    """
    model = published(recorded, ())
    for name in names:
        if (fold(name) not in model.exact and fold(name) not in model.generalized) or model.bucketed:
            raise PolicyError(
                f"{recorded.name} shows {name} apart from the classes of its sensitive values",
                hint="attack the table that shows it: ATTACK table (column, ...) WITH linkage(against => ...)",
                part=("attack", "linkage"),
            )
    return KnownColumns(tuple(names), model.exact, model.generalized)
