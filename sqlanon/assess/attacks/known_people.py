"""The people of a public table in the classes of a release, for attacks by linkage.

A person fits a class if each label of the class may represent the person's value. Labels are read as for estimates, so
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
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import PolicyError
from sqlanon.estimates.labels.leaves import ColumnUse, leaves
from sqlanon.estimates.labels.spans import STAR
from sqlanon.estimates.query.bind import ROW
from sqlanon.estimates.release_model import Generalized
from sqlanon.estimates.single.estimate import label_of, text_of
from sqlanon.release.existing.estimable import Recorded, published
from sqlanon.sources.source import BoundSource, bind_source
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import identical, is_not_null, is_null, or_, total, try_cast
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import cross_join, extend, inner_join, select, subquery
from sqlanon.sql.build.sql_files import filled_query
from sqlanon.sql.classes.rows import Rows


@dataclass(frozen=True)
class KnownColumns:
    """The columns by which an adversary knows people, and their form in the rows of a release.

    By folded name, `exact` has the released columns with the values themselves, and `generalized` has the readings of
    labels.
    """

    names: tuple[str, ...]
    exact: Mapping[str, str]
    generalized: Mapping[str, Generalized]


def public_class_of(
    engine: Engine, called: str, rows: Rows, known: KnownColumns, against: QualifiedName, temp: TempTables
) -> exp.Select:
    """SELECT of public_class(class_id, n): the people of a table that fit each class, for classes that anybody fits.

    Raises PolicyError for a table that lacks a known column, and for labels that cannot be read.
    """
    try:
        source = bind_source(engine, Source(name=against), temp)
    except PolicyError as error:
        error.part = ("attack", "linkage", "against")
        raise
    fitting = subquery(people_in_classes(engine, called, rows, known, source, temp), "fitting")
    return select(column("class_id"), alias(total(column("n")), "n"), of=fitting, group_by=[column("class_id")])


def people_in_classes(
    engine: Engine,
    called: str,
    rows: Rows,
    known: KnownColumns,
    source: BoundSource,
    temp: TempTables,
    respondent: str | None = None,
) -> exp.Query:
    """SELECT of class_id and n: a row for each class and each combination of known values in the source that the
    labels of the class allow, where n people of the source have this combination.

    If `respondent` names a column of the source, that column is selected, too. Raises the errors of `public_class_of`.
    """
    classes = temp.table("class", _classes(rows, known))
    public = _public(engine, called, classes, known, source, temp, respondent)
    fitting: dict[int, str] = {}
    for index, name in enumerate(known.names):
        generalized = known.generalized.get(fold(name))
        if generalized is not None:
            fitting[index] = _fitting(index, generalized, classes, public, temp)
    fitted = [
        column("label", f"path_{index}") if index in fitting else column(f"value_{index}", "public")
        for index in range(len(known.names))
    ]
    return filled_query(
        """
        SELECT class.class_id, public.n, {public.respondent}
        FROM public
        JOIN "{fitting}" AS "{paths}" ON "{paths}".value IS NOT DISTINCT FROM {public.values}
        JOIN class ON TRUE AND {class.labels} IS NOT DISTINCT FROM $fitted
        """,
        tables={"public": public, "class": classes},
        names={
            "respondent": [] if respondent is None else ["respondent"],
            "fitting": [*fitting.values()],
            "paths": [f"path_{index}" for index in fitting],
            "values": [f"value_{index}" for index in fitting],
            "labels": [f"label_{index}" for index in range(len(fitted))],
        },
        fitted=fitted,
    )


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
    released = subquery(select(exp.Star(), of=rows.relation), ROW)
    return select(alias(rows.class_id, "class_id"), *columns, distinct=True, of=released)


def _public(
    engine: Engine,
    called: str,
    classes: str,
    known: KnownColumns,
    source: BoundSource,
    temp: TempTables,
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
    types = dict(engine.columns(select(exp.Star(), of=relation(classes))))
    query = select(of=relation(source.relation))
    for index, name in enumerate(known.names):
        generalized = known.generalized.get(fold(name))
        kind = generalized.bound.published_type if generalized else types[f"label_{index}"]
        value = column(columns[fold(name)])
        typed = try_cast(value, kind)
        extend(query, alias(typed, f"value_{index}"))
        # A value that the type lacks fits no class, and is not NULL.
        extend(query, where=[or_(is_null(value), is_not_null(typed))])
    values = [column(f"value_{index}") for index in range(len(known.names))]
    if respondent is not None:
        extend(query, alias(column(respondent), "respondent"))
        values.append(column("respondent"))
    counted = select(*values, alias(f.count(), "n"), of=subquery(query, "person"))
    return temp.table("public", extend(counted, group_by=values))


def _fitting(index: int, generalized: Generalized, classes: str, public: str, temp: TempTables) -> str:
    """Makes the table (value, label) of the labels of a column that may represent a value of the public table."""
    value = alias(column(f"value_{index}"), "value")
    values = temp.table("values", select(value, distinct=True, of=relation(public)))
    label, text = column(f"label_{index}"), column(f"text_{index}")
    labels = select(alias(label, "label"), alias(text, "shown"), alias(f.count(), "n"), of=relation(classes))
    labels = extend(labels, group_by=[label, text])
    known = leaves(temp, generalized, ColumnUse(labels, (), [(relation(values), "value")], False))
    same = identical(column("value", "leaf"), column("value", "person"))
    pairs: exp.Query = select(
        column("value", "person"),
        column("label", "leaf"),
        of=relation(known.table, as_="leaf"),
        joins=[inner_join(relation(values, as_="person"), same)],
    )
    if "star" in generalized.forms:
        starred = subquery(labels, "starred")
        of_all = select(column("value", "person"), column("label", "starred"), of=starred)
        of_all = extend(of_all, joins=[cross_join(relation(values, as_="person"))])
        pairs = exp.union(pairs, extend(of_all, where=[column("shown", "starred").eq(literal(STAR))]), distinct=True)
    distinct = select(column("value"), column("label"), distinct=True, of=subquery(pairs, "pair"))
    return temp.table("fitting", distinct)


def known_columns(recorded: Recorded, names: Sequence[str]) -> KnownColumns:
    """Finds the form in which a release shows columns of its source. Raises PolicyError for a column that is published
    apart from the classes.
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
