"""Binds a query's columns to the relations that a release consists of, and takes the query apart by relation.

The database itself evaluates the parts of a query that are about one relation: on the release's rows for exact
columns, on the leaves of labels for generalized columns, on the values of buckets for bucketed ones. `Factors` makes
each of these parts a column of its relation. What remains of a condition is AND, OR and NOT over such columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from sqlanon.domain.identifiers import fold, nearest
from sqlanon.errors import PolicyError
from sqlanon.estimates.query.functions import require_known
from sqlanon.estimates.query.parse import AggregateQuery, excerpt, refused
from sqlanon.estimates.release_model import ReleaseModel, bucketed_value
from sqlanon.sql.build.expressions import cast, paren
from sqlanon.sql.build.names import column

# The release's own rows.
ROW = "row"

_LOGIC = (exp.And, exp.Or, exp.Not, exp.Paren)
_ORDERS = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between, exp.Greatest, exp.Least)


def leaf_name(index: int) -> str:
    """The relation with the leaves of the generalized column at this index."""
    return f"leaf_{index}"


def bucket_name(index: int) -> str:
    """The relation with the values of each bucket, of the set of bucketed columns at this index."""
    return f"bucket_{index}"


def relations_in(tree: exp.Expr) -> list[str]:
    """The relations whose columns an expression reads."""
    return list(dict.fromkeys(part.table for part in tree.find_all(exp.Column)))


@dataclass
class Binding:
    """Finds the relation of each column of a query.

    The columns of a joined table belong to the relation of the column that it is joined by.
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
        self.positions = self.release.positions_for(self._named())
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

    def _named(self) -> list[str]:
        """The columns of the source that the query names, folded."""
        parts = [a.argument for a in self.query.aggregates if a.function != "count"]
        # HAVING reads groups and aggregates, which are in this list themselves.
        parts += [self.query.where, *(lookup.on for lookup in self.query.lookups)]
        parts += [item.expression for item in self.query.groups] + [a.argument for a in self.query.aggregates]
        columns = (part for tree in parts if tree is not None for part in tree.find_all(exp.Column))
        return [fold(part.name) for part in columns if self._is_of_source(part)]

    def _alone(self) -> int | None:
        """The index of the set of bucketed columns with all columns of the query; None if there is no such set.

        The columns of one set are known exactly: buckets change no value. Where some values are counterfeits, they are
        not.
        """
        if self.release.counterfeits is not None:
            return None
        named = set(self._named())
        known = (
            index for index, bucketed in enumerate(self.release.bucketed) if named and named <= set(bucketed.columns)
        )
        return next(known, None)

    def _base(self) -> int | None:
        """The index of the set of bucketed columns whose values stand for the rows, where all rows are one bucket.

        Any set could, since nothing links it to rows. Sums have the best bounds among the rows themselves.
        """
        if not self.release.separate_tables or any(bucketed.bucket for bucketed in self.release.bucketed):
            return None
        positions = self.positions
        return next((positions[name][0] for name in self._named() if name in positions), 0)

    def _is_of_source(self, node: exp.Column) -> bool:
        """Whether a column is the source's: without a table's name, unless a joined table has one of that name."""
        qualifier = fold(node.table)
        return qualifier == fold(self.query.alias) or (qualifier == "" and not self._joined(node))

    def _joined(self, node: exp.Column) -> list[tuple[int, str]]:
        """The joined tables that have this column, by the index of the join, with the name that it has there."""
        qualifier, name = fold(node.table), fold(node.name)
        return [
            (index, column_name)
            for index, (lookup, columns) in enumerate(zip(self.query.lookups, self.lookup_columns, strict=True))
            for column_name in columns
            if fold(column_name) == name and qualifier in ("", fold(lookup.alias))
            # The column of USING is one column, and without a table's name it is the source's.
            if not (qualifier == "" and lookup.using and fold(lookup.key) == name)
        ]

    def owner(self, relation: str) -> str:
        """The relation on whose rows a relation's columns are evaluated: for a joined table that of its key."""
        for index, owner in enumerate(self.owners):
            if relation == lookup_name(index):
                return owner
        return relation

    def bound(self, tree: exp.Expr) -> exp.Expr:
        """The expression with each column under the name of its relation. Raises PolicyError for one that has none."""
        bound = tree.transform(lambda node: self._column(node) if isinstance(node, exp.Column) else node)
        require_known(tree)
        self._require_no_order_of_enums(tree)
        return bound

    def _require_no_order_of_enums(self, tree: exp.Expr) -> None:
        """Raises PolicyError for an order of an ENUM's values: it is that of a dictionary which no release shows."""
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
        if (bucketed := self.positions.get(name)) is not None:
            return column(bucketed_value(bucketed[1]), ROW if bucketed[0] == self.base else bucket_name(bucketed[0]))
        if name in release.exact:
            return column(release.exact[name], ROW)
        if name in release.generalized:
            index = self.leaf_indexes.setdefault(name, len(self.leaf_indexes))
            return column("value", leaf_name(index))
        reads_release = "an estimate reads nothing but the release"
        if (why := release.hidden.get(name)) is not None:
            raise refused(node, why, reads_release)
        published = [*release.exact, *release.generalized, *release.bucketed_positions]
        raise refused(node, "the release has no such column", nearest(name, published) or reads_release)


def lookup_name(index: int) -> str:
    """The relation of the joined table at this index."""
    return f"lookup_{index}"


@dataclass
class Factors:
    """The parts of a query by the relation that they are evaluated on."""

    binding: Binding
    # For each relation its expressions, by the names of the columns with their values.
    parts: dict[str, dict[str, exp.Expr]] = field(default_factory=dict)
    # The part of the query that each expression was made of, as it was written.
    said: dict[str, dict[str, exp.Expr]] = field(default_factory=dict)

    def condition(self, tree: exp.Expr) -> exp.Expr:
        """A condition as AND, OR and NOT over the columns of parts."""
        bound = self.binding.bound(tree)
        return self._split(bound, tree)

    def value(self, tree: exp.Expr) -> tuple[str, exp.Expr]:
        """The relation of an expression and the expression there. Raises PolicyError if it needs several."""
        bound = self.binding.bound(tree)
        return self._relation(bound, tree), bound

    def part(self, relation: str, expression: exp.Expr, said: exp.Expr) -> exp.Column:
        """The column that holds an expression's value on the rows of its relation; `said` is the same part of the
        query as it was written.
        """
        known = self.parts.setdefault(relation, {})
        for name, other in known.items():
            if other == expression:
                return column(name, relation)
        name = f"part_{len(known)}"
        known[name] = expression
        self.said.setdefault(relation, {})[name] = said
        return column(name, relation)

    def _split(self, tree: exp.Expr, said: exp.Expr) -> exp.Expr:
        owners = self._owners(tree)
        if len(owners) <= 1:
            return self.part(owners[0] if owners else ROW, _truth(tree), said)
        if not isinstance(tree, _LOGIC):
            raise self._mixed(said, owners)
        split = tree.copy()
        for name in ("this", "expression"):
            if isinstance(part := tree.args.get(name), exp.Expr):
                whose = said.args.get(name)
                split.set(name, self._split(part, whose if isinstance(whose, exp.Expr) else said))
        return split

    def _owners(self, tree: exp.Expr) -> list[str]:
        return list(dict.fromkeys(self.binding.owner(name) for name in relations_in(tree)))

    def _relation(self, tree: exp.Expr, said: exp.Expr) -> str:
        owners = self._owners(tree)
        if len(owners) > 1:
            raise self._mixed(said, owners)
        return owners[0] if owners else ROW

    def _mixed(self, said: exp.Expr, owners: Sequence[str]) -> PolicyError:
        names = ", ".join(dict.fromkeys(part.name for part in said.find_all(exp.Column)))
        return refused(
            said,
            f"{names}: what is known of them is not known together",
            "compare each of them with constants, and combine that with AND, OR and NOT",
        )


def _truth(tree: exp.Expr) -> exp.Expr:
    return cast(paren(tree.copy()), "BOOLEAN")
