"""The SELECT of a release: recodes every row, and withholds every class that violates a requirement.

This SELECT is the body of a live view, and makes the rows of a snapshot. It reads the current source: labels come from
its current values, and the guard counts its current classes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.identifiers import free_name
from sqlanon.errors import InternalError
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    and_,
    as_text,
    cast,
    is_not_null,
    row_alias,
    total,
    try_cast,
    union_all,
)
from sqlanon.sql.build.names import alias, column, identifier, relation
from sqlanon.sql.build.queries import extend, select, subquery
from sqlanon.sql.build.sql_files import filled, filled_query, filled_select
from sqlanon.sql.build.steps import with_steps
from sqlanon.sql.cells.cells import class_id, key_name
from sqlanon.sql.cells.labels import passed, published_value
from sqlanon.sql.classes.guard import frozen_background, kept_classes, restricted
from sqlanon.sql.classes.normal_relations import Background, relations_of
from sqlanon.sql.classes.rows import Rows, SqlRequirement, class_label, report_row, subjects
from sqlanon.sql.release.recode import (
    Placed,
    Recoding,
    ReleaseColumns,
    class_layout,
    coarser_codes,
    join_codes,
    label_codes,
    placed_rows,
    placement,
    projected_code,
    recode,
)
from sqlanon.sql.release.recoding_rounds import Rounds, join_rounds, round_labels
from sqlanon.sql.release.view_preconditions import nothing_hidden

# Parts of the SELECT of a release that were computed before its rows are read, as tables that it joins.


@dataclass(frozen=True)
class Precomputed:
    """Parts of a release's SELECT in tables.

    `labels` has, by the index of a quasi-identifier, the table of its `recode`: value, label, code. `classes` is the
    table of the keys of the classes that may be published; None if they are not computed yet.
    """

    labels: Mapping[int, str]
    classes: str | None = None

    def labels_of(self, index: int) -> exp.Select:
        """Returns the labels and their numbers for the values of the quasi-identifier at this index."""
        return filled_select('SELECT value, label, code FROM "{labels}"', names={"labels": self.labels[index]})

    def kept_classes(self, words: int) -> exp.Select | None:
        """Returns kept(class_id), the classes that may be published; their keys have `words` words."""
        if self.classes is None:
            return None
        label = class_id([column(key_name(word)) for word in range(words)])
        return select(alias(label, "class_id"), of=relation(self.classes))


def key_columns(words: int) -> Sequence[exp.Alias]:
    """Returns a column for each BIGINT of a class_id, because engines cannot exchange a struct of several numbers."""
    whole = column("class_id")
    if words == 1:
        return [alias(whole, key_name(0))]
    names = map(key_name, range(words))
    return [alias(exp.Dot(this=whole.copy(), expression=identifier(name)), name) for name in names]


_ENTITY = "__sqlanon_entity"


@dataclass(frozen=True)
class ReleaseQuery:
    """The inputs of a release's SELECT.

    `recodings` are in the policy's order. `source` is a table or a query; `stable` is true if reading the source twice
    gives the same rows; a table does, while a query may not and is then materialized. The catalog's copies of this
    release's stored hierarchies and tables of ranges are under `release_id`. `tokens` maps a column to a table of value
    and token. `guards` has, by the index of a requirement, the name of the source's column with its guarding nodes,
    which may be unpublished. `public` is the public table D, with a column for each quasi-identifier in the policy's
    order, and `public_stable` is the same for it as `stable` for the source. `public_typed` is true if its columns have
    the source's types, which may have changed when a live view reads it. `placed` recodes quasi-identifiers by region,
    in place of `recodings`. `collated` says whether the source's texts have an explicit collation. If a row of the
    source or of the public table represents several rows, the column `weight` has their number. `precomputed` parts are
    read from tables. `hidden_by` are the names that a live view reads: while a temporary relation has one of them,
    reading the view is an error.
    """

    policy: BoundPolicy
    recodings: tuple[Recoding, ...]
    requirements: Sequence[SqlRequirement]
    source: exp.Query
    stable: bool
    release_id: str
    tokens: Mapping[str, str] = field(default_factory=dict)
    guards: Mapping[int, str] = field(default_factory=dict)
    public: exp.Query | None = None
    public_stable: bool = True
    public_typed: bool = False
    placed: Placed | None = None
    collated: bool = False
    weight: str | None = None
    precomputed: Precomputed | None = None
    hidden_by: tuple[str, ...] = ()

    @property
    def respondent(self) -> str:
        """The column with the respondent while a candidate is checked; its name differs from all released columns."""
        return free_name(_ENTITY, self.columns)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the release's columns, in order."""
        return tuple(output.alias for output in self._columns.outputs())

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns of the release whose values tell its classes apart."""
        return self._columns.keys()

    @property
    def _columns(self) -> ReleaseColumns:
        return ReleaseColumns(self.policy, self.recodings, self.placed, self.collated)

    @property
    def requirement_columns(self) -> tuple[str, ...]:
        """The source's columns that requirements read, published or not: sensitive columns and guarding nodes."""
        sensitive = (name for subject in subjects(self.requirements) for name in subject)
        return tuple(dict.fromkeys((*sensitive, *self.guards.values())))

    def select(self, *, with_entity: bool = False) -> exp.Select:
        """Returns the released rows; if `with_entity`, which is for checks, they have the respondent in the column
        `respondent`.
        """
        outputs = self._columns.outputs()
        if with_entity and self.policy.entity:
            outputs.append(alias(column(_ENTITY, "recoded"), self.respondent))
        text = "SELECT $outputs FROM recoded JOIN kept ON recoded.class_id = kept.class_id"
        return self._with_classes(filled_select(text, outputs=outputs))

    def publishable_classes(self) -> exp.Select:
        """Returns the keys of the classes that may be published, with a column for each word."""
        return self._with_classes(select(*key_columns(self._words), of=relation("kept")))

    def labels(self) -> dict[int, exp.Select]:
        """Returns, by the index of a quasi-identifier that shows labels, a query of its values' labels: value, label,
        code.
        """
        return {
            i: self._with_labels(select(exp.Star(), of=relation(f"recode_{i}")), [(i, recoding)], self._asks_public)
            for i, recoding in self._kept_recodings()
        }

    def equivalence_class(self) -> exp.Select:
        """Returns the released classes: class_id, size, entities. The result contains no value."""
        query = filled_select(
            "SELECT row_number() OVER () AS class_id, equivalence_class.size, equivalence_class.entities"
            " FROM equivalence_class JOIN kept ON equivalence_class.class_id = kept.class_id"
        )
        return self._with_classes(query)

    def report(self, indexes: Sequence[int] | None = None) -> exp.Select:
        """Measures requirements, either all or those at `indexes`, in the released classes: place, achieved, violating.

        The result contains no value and no class, because it serves requirements that read more than the release shows.
        """
        steps, names = restricted(self.requirements, "kept", "kept", entity=self.policy.entity is not None)
        rows = [
            report_row(index, self.requirements[index], names[index])
            for index in (range(len(self.requirements)) if indexes is None else indexes)
        ]
        query = select(column("place"), column("achieved"), column("violating"))
        return with_steps(self._with_classes(extend(query, of=subquery(union_all(rows), "report"))), steps)

    def public_class(self) -> exp.Select:
        """Returns the public table counted by class: class_id, n.

        class_id is a struct as in `equivalence_class_of` the released rows; it is NULL for rows that no class of the
        hierarchy contains. Raises InternalError if there is no public table.
        """
        recodings = self._kept_recodings()
        labels = {b.column: self._columns.label(b) for b in self.policy.quasi_identifiers}
        query = public_label_class(labels, [column(f"label_{i}") for i, _ in recodings])
        return self._with_labels(query, recodings)

    def _kept_recodings(self) -> list[tuple[int, Recoding]]:
        return [(i, recoding) for i, recoding in enumerate(self.recodings) if recoding.is_read]

    def _with_classes(self, query: exp.Select) -> exp.Select:
        if self.hidden_by:
            extend(query, where=[nothing_hidden(self.hidden_by)])
        recodings = self._kept_recodings()
        classes = self.precomputed.kept_classes(self._words) if self.precomputed else None
        query = self._with_labels(query, recodings, needs_public=self._asks_public and classes is None)
        # It is read twice, to count the classes and for the rows: materializing it would copy the whole table.
        query.with_(identifier("recoded"), as_=self._recoded(recodings), materialized=False, copy=False)
        if classes is not None:
            return with_steps(query, [("kept", classes)])
        steps = relations_of(self._rows(), self.requirements, self._background())
        return with_steps(query, [*steps, *kept_classes(self.requirements, entity=self.policy.entity is not None)])

    @property
    def _asks_public(self) -> bool:
        return any("public_class" in requirement.reads for requirement in self.requirements)

    @property
    def _words(self) -> int:
        """Returns how many words the key of a class has."""
        return 1 if self.placed else class_layout(len(self._kept_recodings())).words

    def _with_labels(
        self, query: exp.Select, recodings: Sequence[tuple[int, Recoding]], needs_public: bool = True
    ) -> exp.Select:
        """Adds to the WITH of a query the labels of the values in the source and, if needed, in the public table."""
        query = query.with_(identifier("source"), as_=self.source.copy(), materialized=not self.stable, copy=False)
        if self.placed is not None:
            return query.with_(identifier("placement"), as_=placement(self.policy, self.placed), copy=False)
        if needs_public:
            if self.public is None:
                raise InternalError("a requirement asks about a public table, and there is none")
            weights = [self.weight] if self.weight else []
            public = row_alias("public", [*(f"value_{i}" for i in range(len(self.recodings))), *weights])
            query.with_(public, as_=self.public.copy(), materialized=not self.public_stable, copy=False)
        for i, recoding in recodings:
            query.with_(identifier(f"recode_{i}"), as_=self._recode(i, recoding, needs_public), copy=False)
        if self._is_local:
            return self._with_rounds(query, recodings, needs_public)
        if needs_public:
            rows = public_rows(recodings, self.weight, typed=self.public_typed)
            query.with_(identifier("public_recoded"), as_=rows, copy=False)
        return query

    def _recode(self, index: int, recoding: Recoding, needs_public: bool) -> exp.Select:
        if self.precomputed:
            return self.precomputed.labels_of(index)
        others = public_values(index, recoding.bound, typed=self.public_typed) if needs_public else None
        return recode(recoding, self.release_id, others, collated=self.collated)

    @property
    def _is_local(self) -> bool:
        return any(recoding.later for recoding in self.recodings)

    def _with_rounds(
        self, query: exp.Select, recodings: Sequence[tuple[int, Recoding]], needs_public: bool
    ) -> exp.Select:
        """Adds to the WITH of a query the rows that each round of a local recoding keeps, and the rounds of the public
        table's rows.
        """
        labelled = select(of=relation("source"))
        classes = join_rounds(labelled, recodings, lambda i, bound: published_value(bound, "source"))
        extend(labelled, *classes, *round_labels(recodings), *self._others(labelled))
        query.with_(identifier("labelled"), as_=labelled, materialized=False, copy=False)
        if needs_public:
            query.with_(identifier("public_labelled"), as_=public_labelled(recodings), copy=False)
        rounds = self._rounds(recodings)
        with_steps(query, rounds.steps())
        if needs_public:
            query.with_(identifier("public_recoded"), as_=rounds.public_recoded(), copy=False)
        return query

    def _rounds(self, recodings: Sequence[tuple[int, Recoding]]) -> Rounds:
        return Rounds(
            recodings,
            self.requirements,
            self._background(),
            requirement_columns={name: f"asked_{i}" for i, name in enumerate(self.requirement_columns)},
            entity=_ENTITY if self.policy.entity else None,
            others=[other.alias for other in self._others(select())],
        )

    def _recoded(self, recodings: Sequence[tuple[int, Recoding]]) -> exp.Select:
        """SELECT of every row of the source: its class, its labels, and the columns that are published or that
        requirements read.
        """
        if self.placed is not None:
            rows = placed_rows(self.policy, self.placed)
            return extend(rows, *self._others(rows))
        if self._is_local:
            return self._rounds(recodings).recoded()
        query = select(of=relation("source"))
        key = join_codes(query, recodings, lambda i, bound: published_value(bound, "source"))
        labels = [alias(column("label", f"recode_{i}"), f"label_{i}") for i, _ in recodings]
        return extend(query, alias(key, "class_id"), *labels, *self._others(query))

    def _others(self, query: exp.Select) -> list[exp.Alias]:
        """Returns the columns that pass through or that requirements read, and the respondent, as SQL.

        Joins the tables of tokens to the query.
        """
        passing = self._columns.passing()
        entity = self.policy.entity
        others = [alias(passed(query, bound, i, self.tokens, entity), f"column_{i}") for i, bound in passing]
        required = enumerate(self.requirement_columns)
        others += [alias(self._requirement_value(name), f"asked_{i}") for i, name in required]
        if self.policy.entity:
            others.append(alias(column(self.policy.entity.column, "source"), _ENTITY))
        return others if self.weight is None else [*others, alias(column(self.weight, "source"), self.weight)]

    def _requirement_value(self, name: str) -> exp.Expr:
        """Returns the SQL of a column that requirements read, in its published type; guarding nodes are compared as
        text.
        """
        for bound in self.policy.attributes:
            if bound.column == name:
                return published_value(bound, "source")
        return as_text(column(name, "source"))

    def _rows(self) -> Rows:
        return Rows(
            relation=relation("recoded"),
            keys=(column("class_id"),),
            class_id=column("class_id"),
            columns={name: column(f"asked_{i}") for i, name in enumerate(self.requirement_columns)},
            entity=column(_ENTITY) if self.policy.entity else None,
            weight=column(self.weight) if self.weight else None,
            projected=None if self.placed or self._is_local else partial(projected_code, self._kept_recodings()),
            labels=None if self.placed or self._is_local else label_codes(self._kept_recodings()),
        )

    def _background(self) -> Background:
        public = public_class(self.weight) if self._asks_public else None
        background = frozen_background(
            self.policy, self.requirements, self.release_id, guards=self.guards, public_class=public
        )
        if not background.coarser:
            return background
        of_codes = {
            recoding.bound.column: coarser_codes(index, background.coarser[recoding.bound.column])
            for index, recoding in self._kept_recodings()
        }
        return replace(background, coarser=of_codes)


# The public table D of k-map and delta-presence, recoded like the release and counted by class.
#
# Its rows are the relation "public" (value_0, value_1, ...), with a column for each quasi-identifier. Where a row
# represents several, the column `weight` has their number.


def _value(index: int, bound: BoundAttribute, typed: bool) -> exp.Expr:
    """Returns the SQL of a value of the public table in the source's type; unless `typed`, NULL for a value that does
    not fit.
    """
    value = column(f"value_{index}", "public")
    return cast(value, bound.published_type) if typed else try_cast(value, bound.published_type)


def public_values(index: int, bound: BoundAttribute, *, typed: bool) -> exp.Query:
    """Returns the values of one quasi-identifier in the public table; if `typed`, they have the source's type."""
    return filled_query("SELECT $value AS value FROM public", value=_value(index, bound, typed))


def public_rows(recodings: Sequence[tuple[int, Recoding]], weight: str | None = None, *, typed: bool) -> exp.Select:
    """Returns public_recoded(class_id, has_class, label_i): every public row with its class and its labels.

    A row without a class has a value that a stored hierarchy does not list, or that does not have the column's type. It
    gets a class_id that no class of the release has. If `typed`, the columns have the source's types.
    """
    query = select(of=relation("public"))
    conditions = [] if typed else _same_kind(recodings)
    key = join_codes(query, recodings, partial(_value, typed=typed), conditions=conditions, outer=True)
    has_class = and_(exp.true(), *(is_not_null(column("code", f"recode_{i}")) for i, _ in recodings))
    labels = [alias(column("label", f"recode_{i}"), f"label_{i}") for i, _ in recodings]
    weights = [] if weight is None else [column(weight, "public")]
    return extend(query, alias(key, "class_id"), alias(has_class, "has_class"), *labels, *weights)


def public_labelled(recodings: Sequence[tuple[int, Recoding]]) -> exp.Select:
    """Returns public_labelled(class_1, ..., labels): every public row with its class in each recoding round."""
    query = select(of=relation("public"))
    classes = join_rounds(query, recodings, partial(_value, typed=False), _same_kind(recodings))
    return extend(query, *classes, *round_labels(recodings))


def _same_kind(recodings: Sequence[tuple[int, Recoding]]) -> list[exp.Expr]:
    """Returns SQL conditions that a NULL in a column is NULL in the public table itself, and not a text that does not
    fit the type.
    """
    text = "{public.value} IS NULL OR NOT $typed IS NULL"
    return [filled(text, names={"value": f"value_{i}"}, typed=_value(i, r.bound, False)) for i, r in recodings]


def public_class(weight: str | None = None) -> exp.Query:
    """Returns public_class(class_id, n): the number of public rows in each class, by the keys of the release."""
    text = "SELECT class_id, $n AS n FROM public_recoded GROUP BY class_id"
    return filled_query(text, n=f.count() if weight is None else total(column(weight)))


def public_label_class(labels_by_attribute: Mapping[str, exp.Expr], labels: Sequence[exp.Expr]) -> exp.Select:
    """Returns public_class(class_id, n), by a class's label in each quasi-identifier; class_id is NULL for rows without
    a class.
    """
    text = """
        SELECT CASE WHEN has_class THEN $label END AS class_id, count(*) AS n
        FROM public_recoded GROUP BY has_class, {labels}
    """
    return filled_select(text, names={"labels": labels}, label=class_label(labels_by_attribute))
