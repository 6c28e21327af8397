"""Quasi-identifiers of a release for the population figures: their columns, and the large nodes of their
hierarchies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.identifiers import fold
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import PolicyError
from sqlanon.estimates.labels.leaves import ColumnUse, leaves
from sqlanon.estimates.labels.spans import STAR
from sqlanon.estimates.query.bind import ROW
from sqlanon.estimates.release_model import Generalized, ReleaseModel
from sqlanon.estimates.single.estimate import label_of, text_of
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    as_text,
    cast,
    infix,
    paren,
    real,
    union_all,
    window,
)
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import cross_join, extend, select, subquery
from sqlanon.sql.build.sql_files import Relation, filled, filled_query, filled_select, query_file, select_file
from sqlanon.sql.build.steps import Step, with_steps
from sqlanon.sql.cells.labels import generalized, level_name, occurring_values, stored_labels

# The large nodes of a quasi-identifier's hierarchy, by the rows of the source, and the values below them.


# The node of a quasi-identifier without a predicate in a population; the others are numbered from 1.
TOP = 0


def code_name(index: int) -> str:
    """Returns the name of the column with the code, the most specific large node, of the quasi-identifier at this
    index.
    """
    return f"code_{index}"


def node_name(index: int) -> str:
    """Returns the name of the column with a population's node of the quasi-identifier at this index."""
    return f"node_{index}"


@dataclass(frozen=True)
class Nodes:
    """The large nodes of a quasi-identifier, as tables.

    `values` has each value of the source once, with its code. `labels` has node and label, and the columns that
    identify the node: its level, and its labels from there up. `codes` has value and code, the most specific node above
    the value, which is NULL if there is no such node. `chains` has code, node and share: the nodes above a code,
    including the code itself and `TOP`, each with the share 1; NULL is a code.
    """

    attribute: BoundAttribute
    values: str
    labels: str
    codes: str
    chains: str


def large_nodes(
    temp: TempTables, bound: BoundAttribute, source: QualifiedName, least: float, *, each_level: bool
) -> Nodes:
    """Makes the tables of the nodes with at least `least` rows of the source.

    The leaves of the hierarchy are the values that it lists and the values of the source. Unless `each_level` is true,
    a node with the same leaves as its child or with all leaves is left out.
    """
    # Each value that occurs or is listed has one row, so each row is a leaf.
    of_values = generalized(bound, occurring_values(bound, source), stored_labels(bound), counted=True)
    tree, leaves = temp.counted_table("tree", of_values)
    labels = temp.table("node", _numbered(bound, tree, least, None if each_level else leaves))
    occurs = infix(column("n", "tree"), ">", literal(0))
    coded = temp.table("coded", extend(_coded(bound, labels, tree), alias(occurs, "occurs")))
    occurring = select(column("value"), column("code"), of=relation(coded), where=[column("occurs")])
    values = temp.view("occurring", occurring)
    at_levels = [f"at_{level}" for level in range(bound.height)]
    return Nodes(bound, values, labels, coded, temp.table("chain", _chains(coded, at_levels)))


def _chains(coded: str, at_levels: Sequence[str]) -> exp.Query:
    return query_file("population", "chains", tables={"coded": coded}, names={"levels": at_levels})


def _numbered(bound: BoundAttribute, tree: str, least: float, leaves_of_all: int | None) -> exp.Query:
    """SELECT of node, level, label and the labels from that level up, for each large node; two nodes may share a label.

    If `leaves_of_all`, the number of all leaves, is given, nodes with all leaves or with the same leaves as a child are
    left out.
    """
    steps: list[exp.Query] = []
    levels: list[Step] = []
    table, all_labels = tree, _from(bound, 0)
    for level in range(bound.height):
        above = _from(bound, level)
        if level:
            # Each level is added up from the one below it, which has fewer rows than the values.
            table, grouped = f"of_level_{level}", _added_up(table, above, of_values=level == 1)
            levels.append((table, grouped))
        text = "leaves > child_leaves AND leaves < $all" if level else "1 > 0 AND 1 < $all"
        bounds = [] if leaves_of_all is None else [filled(text, all=leaves_of_all)]
        step = query_file(
            "population",
            "large_nodes",
            names={"lower": all_labels[:level], "labels": above, "rows": table, "bounds": bounds},
            level=level,
            name=column(level_name(level)) if level else as_text(column("value")),
            support=column("support" if level else "n"),
            least=least,
        )
        steps.append(step)
    query = filled_query(
        "SELECT *, CAST(row_number() OVER (ORDER BY level ASC NULLS LAST, {labels} ASC NULLS LAST) AS INTEGER) AS node"
        " FROM steps",
        tables={"steps": union_all(steps)},
        names={"labels": all_labels},
    )
    return with_steps(query, levels)


def _added_up(table: str, above: Sequence[str], *, of_values: bool) -> exp.Select:
    """SELECT of the rows and leaves of the nodes of a level, and the leaves of the largest child of each node."""
    support, leaves = (column("n"), literal(1)) if of_values else (column("support"), column("leaves"))
    return filled_select(
        "SELECT {above}, sum($support) AS support, sum($leaves) AS leaves, max($leaves) AS child_leaves "
        "FROM child GROUP BY {above}",
        tables={"child": table},
        names={"above": above},
        support=support,
        leaves=leaves,
    )


def _from(bound: BoundAttribute, level: int) -> list[str]:
    """Returns the names of the columns that identify a node of this level: its own label, and the labels above it."""
    names = ["value", *map(level_name, range(1, bound.height))]
    return names[level:]


def _coded(bound: BoundAttribute, labels: str, tree: str) -> exp.Select:
    """SELECT of value, code, and the large node of each level; NULL for a level at which no node above the value is
    large.
    """
    levels = [*range(bound.height)]
    at = [f"at_{level}" for level in levels]
    same = [
        filled('{tree.names} IS NOT DISTINCT FROM "{at}"."{names}"', names={"names": _from(bound, level), "at": name})
        for level, name in zip(levels, at, strict=True)
    ]
    names = {"nodes": labels, "at": at}
    return select_file("population", "coded_nodes", tables={"tree": tree}, names=names, levels=levels, same=same)


def codes_of_others(temp: TempTables, nodes: Nodes, values: exp.Query) -> exp.Query | None:
    """SELECT of value, code for the values that `Nodes.codes` lacks; None if there are none.

    These are values that a label may represent and that are not in the source, such as a day within a month. A stored
    hierarchy lists all its values.
    """
    if nodes.attribute.stored:
        return None
    text = """
        SELECT DISTINCT other.value FROM other ANTI JOIN codes ON other.value IS NOT DISTINCT FROM codes.value
    """
    table, count = temp.counted_table("other", filled_query(text, tables={"other": values, "codes": nodes.codes}))
    if not count:
        return None
    occurring = filled_query("SELECT value FROM other", tables={"other": relation(table)})
    tree = temp.table("tree", generalized(nodes.attribute, occurring, None, counted=False))
    coded = _coded(nodes.attribute, nodes.labels, tree)
    return filled_query("SELECT value, code FROM coded", tables={"coded": coded})


# A quasi-identifier of a release: the share of each label's values below the large nodes.


# The maximum number of pairs of a label and a value that are compared.
_MOST_COMPARED = 20_000_000
# The maximum number of values below labels that are listed, such as days below months.
_MOST_LEAVES = 10_000_000


@dataclass(frozen=True)
class ReleasedColumn:
    """A quasi-identifier in the form in which a release shows it.

    `shares` is the table of code, node and share: the share of a label's values below each large node and `TOP`.
    `labels` is the table of label and code, None if the release shows values, which have the same codes as in the
    source.
    """

    shares: str
    labels: str | None


def released_column(temp: TempTables, model: ReleaseModel, b: BoundAttribute, nodes: Nodes) -> ReleasedColumn:
    """Finds the form in which a release shows a quasi-identifier, with its shares of these nodes.

    Raises PolicyError if the values below a label are not known, or are too many.
    """
    generalized = model.generalized.get(fold(b.column))
    if generalized is None:
        return ReleasedColumn(nodes.chains, None)
    labels = released_labels(temp, model, generalized)
    leaf, occurring = leaves_of_labels(
        temp, labels, generalized, nodes.values, "u_loss", listed_star=b.stored, alike="code"
    )
    others = None if occurring else codes_of_others(temp, nodes, select(column("value"), of=relation(leaf)))
    return ReleasedColumn(temp.table("shares", _shares(labels, leaf, nodes, others)), labels)


def leaves_of_labels(
    temp: TempTables,
    labels: str,
    generalized: Generalized,
    values: str,
    figure: str,
    *,
    listed_star: bool,
    alike: str | None = None,
) -> tuple[str, bool]:
    """Makes the relation (label, value, weight) of the leaves below labels, as ESTIMATE determines them.

    If the leaves cannot be listed, as below `*` and in ranges of texts, they are the values of the source, which are in
    the relation `values`. The second result is true if all leaves are values of the source. Values with equal `alike`
    are represented by one of them, with their number as its weight. Raises PolicyError, which names the `figure`, for
    too many leaves.
    """
    is_star = column("shown").eq(literal(STAR)) if "star" in generalized.forms and not listed_star else exp.false()
    other = f.coalesce(exp.not_(paren(is_star)), exp.true())
    others = select(column("label"), column("shown"), column("n"), of=relation(labels), where=[other])
    below, occurring = _listed(temp, generalized, others, values, figure, alike)
    value: exp.Expr = column("value", "occurring")
    weight = real(1.0)
    group_by: list[exp.Expr] = []
    if alike:
        value, weight = f.call("any_value", value), cast(f.count(), "DOUBLE")
        group_by = [column("label", "labels"), column(alike, "occurring")]
    star = select(
        column("label", "labels"),
        alias(value, "value"),
        alias(weight, "weight"),
        of=relation(labels, as_="labels"),
        joins=[cross_join(relation(values, as_="occurring"))],
        where=[is_star],
        group_by=group_by,
    )
    return temp.view("leaf_of_label", union_all([below, star])), occurring


def released_labels(temp: TempTables, model: ReleaseModel, generalized: Generalized) -> str:
    """Makes the table of the labels of a column: label, shown (its text), n (its rows) and code, a number."""
    rows = select(alias(label_of(generalized), "label"), of=subquery(model.rows, ROW))
    outputs = [column("label"), alias(f.count(), "n")]
    # Rows on another engine are counted there; the labels get their texts and numbers here.
    counted = temp.table("shown", select(*outputs, of=subquery(rows, "released"), group_by=[column("label")]))
    text = alias(text_of(generalized, column("label")), "shown")
    code = alias(window(f.row_number()), "code")
    return temp.table("label", select(column("label"), text, column("n"), code, of=relation(counted)))


def _listed(
    temp: TempTables, generalized: Generalized, labels: exp.Query, values: str, figure: str, alike: str | None
) -> tuple[exp.Query, bool]:
    """SELECT of label, value and weight of the leaves below labels, and whether all are values of the source."""
    text, weight = 'SELECT label, value, coalesce(weight, $weight) AS weight FROM "{leaves}"', real(1.0)
    try:
        below = leaves(temp, generalized, ColumnUse(labels, (), (), True, figure, _MOST_LEAVES)).table
        return filled_query(text, names={"leaves": below}, weight=weight), False
    except PolicyError:
        _require_few(temp, generalized, labels, values, figure)
        # The leaves are computed as if the owner had published the list of values.
        use = ColumnUse(labels, (), (), False, figure, values=values, alike=alike)
        names = {"leaves": leaves(temp, generalized, use).table, "values": values}
        text += ' WHERE NOT value IS NULL OR (SELECT count(*) FROM "{values}" WHERE value IS NULL) > 0'
        return filled_query(text, names=names, weight=weight), True


def _require_few(temp: TempTables, generalized: Generalized, labels: exp.Query, values: str, figure: str) -> None:
    """Raises PolicyError if each label would be compared with too many values."""
    counts = select(f.count(), of=subquery(labels, "labels")), select(f.count(), of=relation(values))
    of_labels, of_values = (temp.engine.rows(query)[0][0] for query in counts)
    if of_labels * of_values > _MOST_COMPARED:
        raise PolicyError(
            f"{figure}: {generalized.column} has {of_labels:,} labels and {of_values:,} values, which are too many to "
            "find the values below each label",
            hint="a release with coarser labels, or by another method, can be measured",
        )


def _shares(labels: str, leaf: str, nodes: Nodes, others: exp.Query | None) -> exp.Query:
    """SELECT of code, node, share: the share of a label's leaves that are below each large node, and below `TOP`.

    `leaf` has the leaves of each label. `others` has the value and the code of leaves that are not in the source.
    """
    codes = filled_query("SELECT value, code FROM codes", tables={"codes": nodes.codes})
    codes = codes if others is None else union_all([codes, others])
    tables: dict[str, Relation] = {"labels": labels, "leaf": leaf, "codes": codes, "chains": nodes.chains}
    return query_file("population", "shares", tables=tables)
