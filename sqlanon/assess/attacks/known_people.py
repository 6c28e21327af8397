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
from sqlanon.sql.build.expressions import try_cast
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.build.queries import select, subquery
from sqlanon.sql.build.sql_files import filled, filled_query
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
) -> exp.Query:
    """SELECT of public_class(class_id, n): the people of a table that fit each class, for classes that anybody fits.

    Raises PolicyError for a table that lacks a known column, and for labels that cannot be read.
    """
    try:
        source = bind_source(engine, Source(name=against), temp)
    except PolicyError as error:
        error.part = ("attack", "linkage", "against")
        raise
    fitting = people_in_classes(engine, called, rows, known, source, temp)
    text = "SELECT class_id, CAST(sum(n) AS BIGINT) AS n FROM fitting GROUP BY class_id"
    return filled_query(text, tables={"fitting": fitting})


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
    typed: dict[str, exp.Expr] = {}
    for index, name in enumerate(known.names):
        generalized = known.generalized.get(fold(name))
        kind = generalized.bound.published_type if generalized else types[f"label_{index}"]
        typed[f"value_{index}"] = try_cast(column(columns[fold(name)]), kind)
    # A value that the type lacks fits no class, and is not NULL.
    fits = "{column} IS NULL OR NOT $typed IS NULL"
    names = [columns[fold(name)] for name in known.names]
    people = filled_query(
        'SELECT $typed AS "{values}", {respondent} AS respondent FROM "{people}" WHERE $fits',
        names={
            "values": [*typed],
            "respondent": [] if respondent is None else [respondent],
            "people": relation(source.relation),
        },
        typed=[*typed.values()],
        fits=[filled(fits, names={"column": n}, typed=t) for n, t in zip(names, typed.values(), strict=True)],
    )
    text = "SELECT {values}, count(*) AS n FROM person GROUP BY {values}"
    values = [*typed, *([] if respondent is None else ["respondent"])]
    return temp.table("public", filled_query(text, tables={"person": people}, names={"values": values}))


def _fitting(index: int, generalized: Generalized, classes: str, public: str, temp: TempTables) -> str:
    """Makes the table (value, label) of the labels of a column that may represent a value of the public table."""
    names = {"value": f"value_{index}", "label": f"label_{index}", "text": f"text_{index}"}
    values = temp.table(
        "values", filled_query('SELECT DISTINCT {value} AS value FROM "{public}"', names={**names, "public": public})
    )
    labels = filled_query(
        'SELECT {label} AS label, {text} AS shown, count(*) AS n FROM "{classes}" GROUP BY {label}, {text}',
        names={**names, "classes": classes},
    )
    known = leaves(temp, generalized, ColumnUse(labels, (), [(relation(values), "value")], False))
    pairs = filled_query(
        "SELECT person.value, leaf.label FROM leaf JOIN person ON leaf.value IS NOT DISTINCT FROM person.value",
        tables={"leaf": known.table, "person": values},
    )
    if "star" in generalized.forms:
        text = "SELECT person.value, starred.label FROM starred CROSS JOIN person WHERE starred.shown = $star"
        starred = filled_query(text, tables={"starred": labels, "person": values}, star=STAR)
        pairs = exp.union(pairs, starred, distinct=True)
    text = "SELECT DISTINCT value, label FROM pair"
    return temp.table("fitting", filled_query(text, tables={"pair": pairs}))


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
