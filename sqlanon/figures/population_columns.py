"""A quasi-identifier of a release: how much of what each of its labels stands for is below the large nodes."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.identifiers import fold
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import PolicyError
from sqlanon.estimates.labels.leaves import ColumnUse, leaves
from sqlanon.estimates.labels.spans import STAR
from sqlanon.estimates.query.bind import ROW
from sqlanon.estimates.release_model import Generalized, ReleaseModel
from sqlanon.estimates.single.estimate import label_of, text_of
from sqlanon.figures.population_nodes import TOP, Nodes, codes_of_others
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import identical, is_not_null, is_null, real, union_all, window
from sqlanon.sqlgen.build.names import alias, column, literal, relation

__all__ = ["ReleasedColumn", "leaves_of_labels", "released_column"]


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


def released_column(
    scratch: Scratch, model: ReleaseModel, b: BoundAttribute, values: str, nodes: Nodes
) -> ReleasedColumn:
    """What a release shows of a quasi-identifier with these nodes, whose values in the source are in a table.

    Raises PolicyError where the values below a label are not known, or where there are too many.
    """
    generalized = model.generalized.get(fold(b.column))
    if generalized is None:
        return ReleasedColumn(nodes.chains, None)
    labels, leaf = leaves_of_labels(scratch, model, generalized, values, "u_loss", listed_star=b.stored)
    return ReleasedColumn(scratch.table("shares", _shares(scratch, labels, leaf, nodes)), labels)


def leaves_of_labels(
    scratch: Scratch, model: ReleaseModel, generalized: Generalized, values: str, figure: str, *, listed_star: bool
) -> tuple[str, str]:
    """The relations of label, shown, n and code, and of label, value and weight: the leaves that ESTIMATE uses.

    Where it can list none, below `*` and in ranges of texts, they are the values of the source. Raises PolicyError,
    which says for which `figure`, where there are too many.
    """
    key = label_of(generalized)
    text = text_of(generalized, key.copy())
    labels = exp.select(alias(key, "label"), alias(text, "shown"), alias(f.count(), "n"))
    labels = labels.from_(model.rows.copy().subquery(ROW)).group_by(key.copy(), text.copy())
    coded = scratch.table(
        "label", exp.select("*", alias(window(f.row_number()), "code")).from_(labels.subquery("labels"))
    )
    is_star = column("shown").eq(literal(STAR)) if "star" in generalized.forms and not listed_star else exp.false()
    others = exp.select(column("label"), column("shown"), column("n")).from_(relation(coded))
    others = others.where(f.coalesce(exp.not_(exp.paren(is_star.copy())), exp.true()))
    below = _listed(scratch, generalized, others, values, figure)
    star = exp.select(column("label"), column("value", "occurring")).from_(relation(coded, as_="coded"))
    star = star.join(relation(values, as_="occurring"), join_type="CROSS").where(is_star)
    star = exp.select(column("label"), column("value"), alias(real(1.0), "weight")).from_(star.subquery("starred"))
    return coded, scratch.view("leaf_of_label", union_all([below, star]))


def _listed(scratch: Scratch, generalized: Generalized, labels: exp.Query, values: str, figure: str) -> exp.Select:
    """label, value and weight of the leaves below labels."""
    try:
        below = leaves(scratch, generalized, ColumnUse(labels, (), (), True, figure, _MOST_LEAVES)).table
        weight = f.coalesce(column("weight"), real(1.0))
        return exp.select(column("label"), column("value"), alias(weight, "weight")).from_(relation(below))
    except PolicyError:
        _require_few(scratch, generalized, labels, values, figure)
        # As though the owner had published which values there are.
        below = leaves(scratch, generalized, ColumnUse(labels, (), (), False, figure, values=values)).table
        nulls = exp.select(f.count()).from_(relation(values)).where(is_null(column("value"))).subquery()
        known = exp.select(column("label"), column("value"), alias(real(1.0), "weight")).from_(relation(below))
        return known.where(exp.or_(is_not_null(column("value")), nulls > 0))


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


def _shares(scratch: Scratch, coded: str, leaf: str, nodes: Nodes) -> exp.Query:
    """The share of each label's leaves that is below each large node, and all below `TOP`."""
    codes: exp.Query = exp.select(column("value"), column("code")).from_(relation(nodes.codes))
    others = codes_of_others(scratch, nodes, exp.select(column("value")).from_(relation(leaf)))
    if others is not None:
        codes = union_all([codes, others])
    size = window(f.sum(column("weight")), [column("label")])
    weighed = exp.select("*", alias(size, "size")).from_(relation(leaf)).subquery("leaf")
    # Leaves of one code are added up before the nodes above it multiply them.
    of_code = exp.select(column("label", "leaf"), column("code", "codes"))
    of_code = of_code.select(alias(f.sum(column("weight", "leaf") / column("size", "leaf")), "share")).from_(weighed)
    same = identical(column("value", "leaf"), column("value", "codes"))
    of_code = of_code.join(codes.subquery("codes"), on=same).group_by(column("label", "leaf"), column("code", "codes"))
    rows = exp.select(column("code", "coded"), column("node", "above"), alias(f.sum(column("share", "part")), "share"))
    rows = rows.from_(of_code.subquery("part"))
    rows = rows.join(relation(nodes.chains, as_="above"), on=column("code", "part").eq(column("code", "above")))
    rows = rows.join(relation(coded, as_="coded"), on=identical(column("label", "part"), column("label", "coded")))
    rows = rows.where(column("node", "above").neq(literal(TOP)))
    whole = exp.select(column("code"), alias(literal(TOP), "node"), alias(real(1.0), "share")).from_(relation(coded))
    return union_all([rows.group_by(column("code", "coded"), column("node", "above")), whole])
