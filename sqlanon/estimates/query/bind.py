"""Binds a query's columns to the relations that a release consists of, and splits the query by relation.

DuckDB itself evaluates the parts of a query that read one relation: exact columns on the release's rows, generalized
columns on the leaves of labels, bucketed columns on the values of buckets. `Factors` makes each of these parts a column
of its relation. A condition then has only AND, OR and NOT over such columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from sqlanon.domain.identifiers import fold, nearest
from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.estimates.axes import COUNTED, Number, number
from sqlanon.estimates.query.functions import Part, never_fails, require_bindable, require_known, tried
from sqlanon.estimates.query.parse import Aggregate, AggregateQuery, Lookup, excerpt, refused
from sqlanon.estimates.release_model import BucketedColumns, Generalized, ReleaseModel, bucketed_value
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import and_, cast, infix, is_null, named, paren, try_cast
from sqlanon.sql.build.names import alias, column
from sqlanon.sql.build.queries import cross_join, extend, inner_join, left_join, select, subquery

# The release's own rows.
ROW = "row"

_LOGIC = (exp.And, exp.Or, exp.Not, exp.Paren)
_ORDERS = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between, exp.Greatest, exp.Least)


def leaf_name(index: int) -> str:
    """Returns the name of the relation that holds the leaves of generalized column `index`."""
    return f"leaf_{index}"


def bucket_name(index: int) -> str:
    """Returns the name of the relation with the bucket values of column set `index`."""
    return f"bucket_{index}"


def relations_in(tree: exp.Expr) -> list[str]:
    """Returns the names of the relations whose columns an expression reads."""
    return list(dict.fromkeys(part.table for part in tree.find_all(exp.Column)))


@dataclass
class Binding:
    """Finds the relation of each column of a query.

    The columns of a joined table belong to the relation of the column by which it is joined.
    """

    query: AggregateQuery
    release: ReleaseModel
    # The columns of each joined table, in the order of the joins.
    lookup_columns: Sequence[Sequence[str]]
    # For each generalized column that the query names the index in the name of its relation of leaves.
    leaf_indexes: dict[str, int] = field(default_factory=dict)
    # The relation that the columns of each joined table belong to.
    owners: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.alone = self._alone()
        # For each bucketed column the index of the set that it is read from, and its own index there.
        self.positions = self.release.positions_for(self._columns_of_source())
        self.base = self.alone if self.alone is not None else self._base()
        for group in self.query.groups:
            names_column = isinstance(group.expression, exp.Column) and fold(group.expression.name) == fold(group.name)
            if not names_column and self._is_named(fold(group.name)):
                raise PolicyError(
                    f"{group.name} is a column of the source and also what {excerpt(group.expression)} is called",
                    hint="give it another name",
                )
        for lookup in self.query.lookups:
            # A join may be by a column of a table that was joined before.
            self.owners.append(self.owner(relations_in(self.bound(lookup.on))[0]))

    def _columns_of_source(self) -> list[str]:
        """The folded names of the source's columns in the query."""
        parts = [a.argument for a in self.query.aggregates if a.function != "count"]
        # HAVING reads groups and aggregates, which are in this list themselves.
        parts += [self.query.where, *(lookup.on for lookup in self.query.lookups)]
        parts += [item.expression for item in self.query.groups] + [a.argument for a in self.query.aggregates]
        columns = (part for tree in parts if tree is not None for part in tree.find_all(exp.Column))
        return [fold(part.name) for part in columns if self._is_of_source(part)]

    def _alone(self) -> int | None:
        """The index of the set of bucketed columns that holds all columns of the query; None if there is no such set.

        The columns of one set are known exactly, because buckets change no value, unless some values are counterfeits.
        """
        if self.release.counterfeits is not None:
            return None
        named = set(self._columns_of_source())
        known = (
            index for index, bucketed in enumerate(self.release.bucketed) if named and named <= set(bucketed.columns)
        )
        return next(known, None)

    def _base(self) -> int | None:
        """Returns the index of the set of bucketed columns whose values represent the rows, if all rows are one bucket.

        Any set could represent them, because nothing links it to rows. Sums have the best bounds if their own column is
        in the set.
        """
        if not self.release.separate_tables or any(bucketed.bucket for bucketed in self.release.bucketed):
            return None
        positions = self.positions
        return next((positions[name][0] for name in self._columns_of_source() if name in positions), 0)

    def _is_of_source(self, node: exp.Column) -> bool:
        """Whether a column belongs to the source: qualified by its alias, or unqualified and in no joined table."""
        qualifier = fold(node.table)
        return qualifier == fold(self.query.alias) or (qualifier == "" and not self._joined(node))

    def _joined(self, node: exp.Column) -> list[tuple[int, str]]:
        """Returns the joined tables with this column: the index of the join, and the column's name there."""
        qualifier, name = fold(node.table), fold(node.name)
        return [
            (index, column_name)
            for index, (lookup, columns) in enumerate(zip(self.query.lookups, self.lookup_columns, strict=True))
            for column_name in columns
            if fold(column_name) == name and qualifier in ("", fold(lookup.alias))
            # The column of USING is one column, and without a table's name it is a column of the source.
            if not (qualifier == "" and lookup.using and fold(lookup.key) == name)
        ]

    def owner(self, relation: str) -> str:
        """Returns the relation on whose rows a relation is evaluated: for a joined table, the relation of its key."""
        for index, owner in enumerate(self.owners):
            if relation == lookup_name(index):
                return owner
        return relation

    def bound(self, tree: exp.Expr) -> exp.Expr:
        """Qualifies each column by its relation. Raises PolicyError for an unknown column."""
        bound = tree.transform(lambda node: self._column(node) if isinstance(node, exp.Column) else node)
        require_known(tree)
        self._require_no_order_of_enums(tree)
        return bound

    def _require_no_order_of_enums(self, tree: exp.Expr) -> None:
        """Raises PolicyError if an expression uses the order of an ENUM, because releases do not show that order."""
        for node in tree.walk():
            if isinstance(node, _ORDERS):
                for part in node.find_all(exp.Column):
                    if fold(part.name) in self.release.enums:
                        raise refused(node, f"{part.name} is an ENUM, whose order no release shows")

    def _column(self, node: exp.Column) -> exp.Column:
        if isinstance(node.this, exp.Star) or node.args.get("db"):
            raise refused(node, "is no column")
        qualifier, name = fold(node.table), fold(node.name)
        joined, of_source = self._joined(node), self._is_of_source(node)
        if not of_source and not joined:
            raise refused(node, "there is no such column", f"columns are those of {self.query.source}, or of a join")
        if qualifier == "" and joined and (len(joined) > 1 or self._is_named(name)):
            raise refused(node, "more than one table has this column", "write its table before it: patients.age")
        if joined:
            index, column_name = joined[0]
            return column(column_name, lookup_name(index))
        return self._of_source(node, name)

    def _is_named(self, name: str) -> bool:
        parts = (self.release.exact, self.release.generalized, self.release.hidden, self.release.bucketed_positions)
        return any(name in part for part in parts)

    def _of_source(self, node: exp.Column, name: str) -> exp.Column:
        release = self.release
        reads_release = "an estimate reads nothing but the release"
        if (why := release.hidden.get(name)) is not None:
            raise refused(node, why, reads_release)
        if (bucketed := self.positions.get(name)) is not None:
            return column(bucketed_value(bucketed[1]), ROW if bucketed[0] == self.base else bucket_name(bucketed[0]))
        if name in release.exact:
            return column(release.exact[name], ROW)
        if name in release.generalized:
            index = self.leaf_indexes.setdefault(name, len(self.leaf_indexes))
            return column("value", leaf_name(index))
        published = [*release.exact, *release.generalized, *release.bucketed_positions]
        raise refused(node, "the release has no such column", nearest(name, published) or reads_release)


def lookup_name(index: int) -> str:
    """Returns the name of the relation for joined table `index`."""
    return f"lookup_{index}"


@dataclass
class Factors:
    """Splits the expressions of a query into parts, each evaluated on one relation."""

    binding: Binding
    # For each relation its expressions, by the names of the columns with their values.
    parts: dict[str, dict[str, exp.Expr]] = field(default_factory=dict)
    # The text in the query from which each expression was made.
    written: dict[str, dict[str, exp.Expr]] = field(default_factory=dict)
    # For each relation the names of parts that cannot fail for any row.
    unfailing: dict[str, set[str]] = field(default_factory=dict)

    def condition(self, tree: exp.Expr) -> exp.Expr:
        """Returns a condition as AND, OR and NOT over columns of parts."""
        bound = self.binding.bound(tree)
        return self._split(bound, tree)

    def value(self, tree: exp.Expr) -> tuple[str, exp.Expr]:
        """Returns the relation on which an expression is evaluated, and the bound expression.

        Raises PolicyError if it reads several.
        """
        bound = self.binding.bound(tree)
        return self._relation(bound, tree), bound

    def part(self, relation: str, expression: exp.Expr, written: exp.Expr) -> exp.Column:
        """Returns the column with the expression's values, computed for the rows of its relation.

        `written` is the expression as the user wrote it, for errors.
        """
        known = self.parts.setdefault(relation, {})
        for name, other in known.items():
            if other == expression:
                return column(name, relation)
        name = f"part_{len(known)}"
        known[name] = expression
        self.written.setdefault(relation, {})[name] = written
        return column(name, relation)

    def _split(self, tree: exp.Expr, written: exp.Expr) -> exp.Expr:
        owners = self._owners(tree)
        if len(owners) <= 1:
            return self.part(owners[0] if owners else ROW, _truth(tree), written)
        if not isinstance(tree, _LOGIC):
            raise self._mixed(written, owners)
        split = tree.copy()
        for name in ("this", "expression"):
            if isinstance(part := tree.args.get(name), exp.Expr):
                whose = written.args.get(name)
                split.set(name, self._split(part, whose if isinstance(whose, exp.Expr) else written))
        return split

    def _owners(self, tree: exp.Expr) -> list[str]:
        return list(dict.fromkeys(self.binding.owner(name) for name in relations_in(tree)))

    def _relation(self, tree: exp.Expr, written: exp.Expr) -> str:
        owners = self._owners(tree)
        if len(owners) > 1:
            raise self._mixed(written, owners)
        return owners[0] if owners else ROW

    def _mixed(self, written: exp.Expr, owners: Sequence[str]) -> PolicyError:
        names = ", ".join(dict.fromkeys(part.name for part in written.find_all(exp.Column)))
        return refused(
            written,
            f"{names}: what is known of them is not known together",
            "compare each of them with constants, and combine that with AND, OR and NOT",
        )


def _truth(tree: exp.Expr) -> exp.Expr:
    return cast(paren(tree), "BOOLEAN")


# A query, split by the relations of a release on which its parts are evaluated.


@dataclass(frozen=True)
class Plan:
    """A query split by relation: its condition over parts, its groups and the arguments of its aggregates."""

    factors: Factors
    condition: exp.Expr
    groups: tuple[exp.Column, ...]
    arguments: tuple[tuple[str, exp.Expr] | None, ...]
    present: tuple[exp.Expr, ...]
    lookups: tuple[exp.Table, ...]
    written: tuple[exp.Expr | None, ...]
    functions: tuple[str, ...]


def plan_of(query: AggregateQuery, release: ReleaseModel, lookups: Sequence[tuple[exp.Table, Sequence[str]]]) -> Plan:
    """Splits a query by relation. Raises PolicyError, which names the part, for a part that the release cannot
    answer.
    """
    binding = Binding(query, release, [columns for _, columns in lookups])
    factors = Factors(binding)
    condition: exp.Expr = factors.condition(query.where) if query.where is not None else exp.true()
    for index, lookup in enumerate(query.lookups):
        joined = column(lookup.key, lookup_name(index))
        condition = and_(condition, factors.part(binding.owners[index], _not_null(joined), lookup.on))
    groups = [factors.value(group.expression) for group in query.groups]
    arguments: list[tuple[str, exp.Expr] | None] = []
    present: list[exp.Expr] = []
    counts = (Aggregate("", "count", None), *query.aggregates)
    for aggregate in counts:
        argument = None if aggregate.argument is None else factors.value(aggregate.argument)
        arguments.append(None if aggregate.function == "count" else argument)
        if argument is None or aggregate.argument is None:
            present.append(exp.true())
        else:
            present.append(factors.part(argument[0], _not_null(argument[1]), aggregate.argument))
    return Plan(
        factors,
        condition,
        tuple(factors.part(*located, group.expression) for located, group in zip(groups, query.groups, strict=True)),
        tuple(arguments),
        tuple(present),
        tuple(table for table, _ in lookups),
        (None, *(aggregate.argument for aggregate in query.aggregates)),
        tuple(aggregate.function for aggregate in counts),
    )


def _not_null(tree: exp.Expr) -> exp.Expr:
    return exp.not_(paren(is_null(paren(tree))))


# The relations of a plan: checks that DuckDB can bind its parts there, and joins the tables of the query to them.
#
# A join is allowed if each value matches at most one row of the table. DuckDB compares a value and a key of different
# types after a cast: '1' and '01' are two texts, and both equal the number 1. So DuckDB itself compares them here; this
# module does not decide which of the two is cast, and to what type.


def relations_of(
    released: exp.Query, bucketed: Mapping[int, BucketedColumns], columns: Mapping[int, Generalized]
) -> dict[str, exp.Expr]:
    """Returns the relations that a plan reads, by name; relations of leaves have only a typed column."""
    relations: dict[str, exp.Expr] = {ROW: subquery(released, ROW)}
    for index, bucketed_columns in bucketed.items():
        relations[bucket_name(index)] = subquery(bucketed_columns.values, bucket_name(index))
    for index, generalized in columns.items():
        if generalized.bound.type:
            value = cast(exp.null(), generalized.bound.type)
            relations[leaf_name(index)] = subquery(select(alias(value, "value")), leaf_name(index))
    return relations


def kinds_of_numbers(engine: Engine, plan: Plan, relations: Mapping[str, exp.Expr]) -> list[Number]:
    """Returns the number type of each aggregate. Raises PolicyError, which names the part, for a part that DuckDB
    cannot bind.
    """
    kinds = [COUNTED for _ in plan.arguments]
    binding = plan.factors.binding
    for name, relation_rows in relations.items():
        rows = select(of=relation_rows)
        joins: list[Part] = []
        for index, lookup in enumerate(binding.query.lookups):
            if binding.owners[index] == name:
                extend(rows, joins=[cross_join(_lookup_table(plan, index))])
                joins.append((lookup.on, _joined_on(plan, index)))
        arguments = arguments_on(plan, name)
        require_bindable(
            engine,
            rows,
            [*joins, *written_parts(plan, name), *((written, argument) for _, written, argument in arguments)],
        )
        for index, written, argument in arguments:
            ((_, kind),) = engine.columns(rows.copy().select(alias(argument, "value")))
            if (numbers := number(kind)) is None:
                raise refused(written, f"is of type {kind}: sum, avg, min and max are estimated of numbers")
            kinds[index] = numbers
        # Some aggregates are not defined for some types of numbers.
        calls = [(written, exp.func(plan.functions[index], paren(argument))) for index, written, argument in arguments]
        require_bindable(engine, rows, calls)
    return kinds


def require_joins(engine: Engine, plan: Plan, relations: Mapping[str, exp.Expr]) -> None:
    """Raises PolicyError if a value may match several rows of a joined table, or if the join may fail."""
    binding = plan.factors.binding
    for index, lookup in enumerate(binding.query.lookups):
        on = binding.bound(lookup.on)
        (name,) = {part.table for part in on.find_all(exp.Column)}
        joined = {lookup_name(other): _lookup_table(plan, other) for other in range(index)}
        values = select(alias(on, "value"), of=(joined | dict(relations))[name])
        ((_, kind),) = engine.columns(values.copy())
        ((_, key),) = engine.columns(select(alias(column(lookup.key), "key"), of=plan.lookups[index]))
        require_unique(engine, lookup, plan.lookups[index], (kind, key))
        if kind != key:
            require_castable(engine, lookup, values, plan.lookups[index])


def join_lookups(query: exp.Select, plan: Plan, owner: str) -> exp.Select:
    """Joins a query with the lookup tables of one relation; their keys are unique, so no row is repeated."""
    for index, relation_name in enumerate(plan.factors.binding.owners):
        if relation_name == owner:
            query = extend(query, joins=[left_join(_lookup_table(plan, index), _joined_on(plan, index))])
    return query


def written_parts(plan: Plan, name: str) -> list[Part]:
    """Returns the parts on a relation, each as written in the query and as a bound expression."""
    written = plan.factors.written.get(name, {})
    return [(written[part_name], part) for part_name, part in plan.factors.parts.get(name, {}).items()]


def parts_on(plan: Plan, name: str) -> list[exp.Alias]:
    """Returns the parts on a relation under their names; a part that fails for a row is NULL."""
    parts, sure = plan.factors.parts.get(name, {}), plan.factors.unfailing.get(name, ())
    return [alias(part if part_name in sure else tried(part), part_name) for part_name, part in parts.items()]


def find_unfailing(engine: Engine, plan: Plan, relations: Mapping[str, exp.Expr]) -> None:
    """Finds the parts that cannot fail: without TRY, DuckDB evaluates them in half the time."""
    for name, relation_rows in relations.items():
        parts = plan.factors.parts.get(name, {})
        columns = {part.name for tree in parts.values() for part in tree.find_all(exp.Column) if part.table == name}
        if columns:
            described = engine.columns(select(*(column(part, name) for part in sorted(columns)), of=relation_rows))
            kinds = {(name, part): kind for part, kind in described}
            plan.factors.unfailing[name] = {part_name for part_name, part in parts.items() if never_fails(part, kinds)}


def arguments_on(plan: Plan, name: str) -> list[tuple[int, exp.Expr, exp.Expr]]:
    """Returns the aggregates with an argument on a relation: as tuples (number, argument as written, argument as
    bound).
    """
    return [
        (index, written, argument[1])
        for index, (argument, written) in enumerate(zip(plan.arguments, plan.written, strict=True))
        if argument is not None and written is not None and argument[0] == name
    ]


def _lookup_table(plan: Plan, index: int) -> exp.Table:
    return named(plan.lookups[index], lookup_name(index))


def _joined_on(plan: Plan, index: int) -> exp.Expr:
    lookup = plan.factors.binding.query.lookups[index]
    return plan.factors.binding.bound(lookup.on).eq(column(lookup.key, lookup_name(index)))


_KEY, _VALUE = "key", "value"


def require_unique(engine: Engine, lookup: Lookup, table: exp.Table, kinds: tuple[str, str]) -> None:
    """Raises PolicyError if a value of the first type of `kinds` equals several keys, which have the second type.

    NULL equals no key. Two keys that equal one value are equal after a cast to the value's type, so casting the keys
    finds every such value.
    """
    keys = select(alias(column(lookup.key), _KEY), of=table)
    known = f.count(column(_KEY))
    different = f.count_distinct(column(_KEY))
    repeated = select(known.neq(different), of=subquery(keys, "keys"))
    twice = bool(engine.rows(repeated)[0][0])
    if not twice and kinds[0] != kinds[1]:
        to = exp.DataType.build(kinds[0], dialect="duckdb")
        cast = select(alias(try_cast(column(_KEY), to), _VALUE))
        values = extend(cast, of=subquery(keys, "keys"), distinct=True)
        require_castable(engine, lookup, values.copy(), table)
        several = select(column(_VALUE, "compared"), of=subquery(values, "compared"))
        extend(several, joins=[inner_join(subquery(keys, "keys"), _equal("compared", "keys"))])
        several = extend(several, group_by=[column(_VALUE, "compared")], having=f.count() > exp.Literal.number(1))
        twice = bool(engine.rows(select(f.count(), of=subquery(several, "several")))[0][0])
    if twice:
        raise PolicyError(
            f"{lookup.table} has several rows for one {lookup.key}, so that a row of the source would count twice",
            hint="join a table that has each key once",
        )


def require_castable(engine: Engine, lookup: Lookup, values: exp.Query, table: exp.Table) -> None:
    """Raises PolicyError if DuckDB cannot compare every value of a query with every key, because the join would
    fail.
    """
    keys = select(alias(column(lookup.key), _KEY), of=table)
    for side, other, name in ((values, keys, _KEY), (keys, values, _VALUE)):
        # Any value but NULL works here, because only the cast of the other side may fail.
        any_value = select(alias(f.any_value(column(name)), name), of=subquery(other, "other"))
        compared = f.try_(exp.Array(expressions=[_equal("tried", "constant", swapped=side is keys)]))
        failed = exp.func("count_if", is_null(compared))
        query = select(failed, of=subquery(side, "tried"))
        if engine.rows(extend(query, joins=[cross_join(subquery(any_value, "constant"))]))[0][0]:
            written = infix(lookup.on, "=", exp.column(lookup.key, lookup.alias))
            raise refused(
                written,
                "some of these values cannot be cast to the type that they are compared in",
                "join a table whose keys are of the column's own type",
            )


def _equal(values: str, keys: str, *, swapped: bool = False) -> exp.Expr:
    if swapped:
        values, keys = keys, values
    return column(_VALUE, values).eq(column(_KEY, keys))
