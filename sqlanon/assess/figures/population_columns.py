"""A quasi-identifier of a release: how much of what each of its labels stands for is below the large nodes."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from sqlanon.assess.figures.population_nodes import TOP, Nodes, codes_of_others
from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.identifiers import fold
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import PolicyError
from sqlanon.estimates.labels.leaves import ColumnUse, leaves
from sqlanon.estimates.labels.spans import STAR
from sqlanon.estimates.query.bind import ROW
from sqlanon.estimates.release_model import Generalized, ReleaseModel
from sqlanon.estimates.single.estimate import label_of, text_of
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import cast, identical, infix, is_not_null, is_null, real, union_all, window
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import cross_join, inner_join, left_join, select

# The most pairs of a label and a value that are looked at.
_MOST_COMPARED = 20_000_000
# The most values below labels that are listed, such as days below months.
_MOST_LEAVES = 10_000_000


@dataclass(frozen=True)
class ReleasedColumn:
    """What a release shows of a quasi-identifier.

    `shares` is the table of code, node and share: the share of what a code of the release stands for that is below each
    large node, and `TOP`. `labels` is the table of label and code; without one the release shows values, whose codes
    are those of the source.
    """

    shares: str
    labels: str | None


def released_column(scratch: Scratch, model: ReleaseModel, b: BoundAttribute, nodes: Nodes) -> ReleasedColumn:
    """What a release shows of a quasi-identifier with these nodes.

    Raises PolicyError where the values below a label are not known, or where there are too many.
    """
    generalized = model.generalized.get(fold(b.column))
    if generalized is None:
        return ReleasedColumn(nodes.chains, None)
    labels = released_labels(scratch, model, generalized)
    leaf, occurring = leaves_of_labels(
        scratch, labels, generalized, nodes.values, "u_loss", listed_star=b.stored, alike="code"
    )
    others = None if occurring else codes_of_others(scratch, nodes, select(column("value"), of=relation(leaf)))
    return ReleasedColumn(scratch.table("shares", _shares(labels, leaf, nodes, others)), labels)


def leaves_of_labels(
    scratch: Scratch,
    labels: str,
    generalized: Generalized,
    values: str,
    figure: str,
    *,
    listed_star: bool,
    alike: str | None = None,
) -> tuple[str, bool]:
    """The relation of label, value and weight: the leaves that ESTIMATE uses, of a table of `released_labels`.

    Where it can list none, below `*` and in ranges of texts, they are the values of the source, of which the relation
    `values` has each once; that is so of all if the other result is true. Of these one stands for all that have the
    same in its column `alike`, with their number as its weight. Raises PolicyError, which says for which `figure`,
    where there are too many.
    """
    is_star = column("shown").eq(literal(STAR)) if "star" in generalized.forms and not listed_star else exp.false()
    other = f.coalesce(exp.not_(exp.paren(is_star.copy())), exp.true())
    others = select(column("label"), column("shown"), column("n"), of=relation(labels), where=[other])
    below, occurring = _listed(scratch, generalized, others, values, figure, alike)
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
    return scratch.view("leaf_of_label", union_all([below, star])), occurring


def released_labels(scratch: Scratch, model: ReleaseModel, generalized: Generalized) -> str:
    """The table of the labels of a column: label, shown (its text), n (its rows) and code, a number."""
    rows = select(alias(label_of(generalized), "label"), of=model.rows.copy().subquery(ROW, copy=False))
    outputs = [column("label"), alias(f.count(), "n")]
    # Where rows are elsewhere, they are counted there, and texts and numbers are given to the labels here.
    counted = scratch.table("shown", select(*outputs, of=rows.subquery("released"), group_by=[column("label")]))
    text = alias(text_of(generalized, column("label")), "shown")
    code = alias(window(f.row_number()), "code")
    return scratch.table("label", select(column("label"), text, column("n"), code, of=relation(counted)))


def _listed(
    scratch: Scratch, generalized: Generalized, labels: exp.Query, values: str, figure: str, alike: str | None
) -> tuple[exp.Select, bool]:
    """label, value and weight of the leaves below labels, and whether all are values of the source."""
    outputs = [column("label"), column("value"), alias(f.coalesce(column("weight"), real(1.0)), "weight")]
    try:
        below = leaves(scratch, generalized, ColumnUse(labels, (), (), True, figure, _MOST_LEAVES)).table
        return select(*outputs, of=relation(below)), False
    except PolicyError:
        _require_few(scratch, generalized, labels, values, figure)
        # As though the owner had published which values there are.
        use = ColumnUse(labels, (), (), False, figure, values=values, alike=alike)
        below = leaves(scratch, generalized, use).table
        nulls = select(f.count(), of=relation(values), where=[is_null(column("value"))]).subquery(copy=False)
        known = exp.or_(is_not_null(column("value")), infix(nulls, ">", literal(0)))
        return select(*outputs, of=relation(below), where=[known]), True


def _require_few(scratch: Scratch, generalized: Generalized, labels: exp.Query, values: str, figure: str) -> None:
    """Raises PolicyError where each label would be compared with too many values."""
    counts = exp.select(f.count()).from_(labels.subquery("labels")), exp.select(f.count()).from_(relation(values))
    of_labels, of_values = (scratch.engine.rows(query)[0][0] for query in counts)
    if of_labels * of_values > _MOST_COMPARED:
        raise PolicyError(
            f"{figure}: {generalized.column} has {of_labels:,} labels and {of_values:,} values, which are too many to "
            "find the values below each label",
            hint="a release with coarser labels, or by another method, can be measured",
        )


def _shares(labels: str, leaf: str, nodes: Nodes, others: exp.Query | None) -> exp.Query:
    """The share of each label's leaves that is below each large node, and all below `TOP`.

    `others` has value and code of leaves that the source lacks.
    """
    codes: exp.Query = select(column("value"), column("code"), of=relation(nodes.codes))
    codes = codes if others is None else union_all([codes, others])
    # Leaves of one code are added up before the nodes above it multiply them.
    weight = f.sum(column("weight", "leaf"))
    size = window(f.sum(weight.copy()), [column("label", "leaf")])
    label, code = column("label", "leaf"), column("code", "codes")
    same = identical(column("value", "leaf"), column("value", "codes"))
    of_code = select(
        label,
        code,
        alias(infix(weight, "/", size), "share"),
        of=relation(leaf, as_="leaf"),
        joins=[left_join(codes.subquery("codes", copy=False), same)],
        group_by=[label.copy(), code.copy()],
    )
    above = infix(column("code", "part"), "=", column("code", "above"))
    same_label = identical(column("label", "part"), column("label", "coded"))
    keys = [column("code", "coded"), column("node", "above")]
    rows = select(
        *keys,
        alias(f.sum(column("share", "part")), "share"),
        of=of_code.subquery("part", copy=False),
        joins=[
            inner_join(relation(nodes.chains, as_="above"), above),
            inner_join(relation(labels, as_="coded"), same_label),
        ],
        where=[infix(column("node", "above"), "<>", literal(TOP))],
        group_by=[key.copy() for key in keys],
    )
    whole = [column("code"), alias(literal(TOP), "node"), alias(real(1.0), "share")]
    return union_all([rows, select(*whole, of=relation(labels))])
