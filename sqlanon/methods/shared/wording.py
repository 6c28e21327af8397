"""Sentences and figures that several methods use: losses, figures of trees, frequent values, and random worlds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.explanation import Searched
from sqlanon.domain.numbers import counted
from sqlanon.domain.release import Assumption
from sqlanon.engines.base import Engine
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.queries import select, subquery
from sqlanon.sql.build.sql_files import filled_query
from sqlanon.sql.cells.cells import respondents, tree_summaries
from sqlanon.sql.cells.labels import published_value
from sqlanon.sql.questions.ask import BoundRequirement

# Formatted figures.


def loss_text(loss: Fraction) -> str:
    """Formats a loss. A whole number above 1 is written as it is, any other number with six digits."""
    return str(loss) if loss.denominator == 1 and loss > 1 else f"{float(loss):.6f}"


def nodes_checked(searched: Searched) -> tuple[str, str]:
    """A row of (item, detail): the numbers of nodes that were examined, ruled out and left."""
    left = searched.nodes - searched.checked - searched.pruned
    unseen = f"{searched.pruned} ruled out unseen" + (f", {left} left" if left else "")
    return "nodes checked", f"{searched.checked} of {searched.nodes}, {unseen}"


# The definition of a loss in a certificate.


GRANULARITY_LOSS = (
    "granularity loss: a value that is shown by a label costs (n - 1) / (N - 1), where n of the N values of its "
    "column, the leaves of its hierarchy, lie below the label, a suppressed row 1 in each quasi-identifier; the mean "
    "over all rows of the source and all quasi-identifiers, weighted where the policy weighs: 0 where nothing is "
    "changed, 1 where nothing is left"
)

# The losses of rows that are recoded by level or by region, left out, or published in fewer columns.
DEFINITIONS: Mapping[str, str] = {"granularity_loss": GRANULARITY_LOSS}


# Names of the figures that describe the trees of which keys are made.


@dataclass(frozen=True)
class TreeFigures:
    """Figures of a tree: its leaves and rows, the maximum number of siblings at each level, the `spread` and `most` of
    `Cells`, and the number of its values that a stored hierarchy does not list.
    """

    leaves: int
    rows: int
    siblings: Sequence[int]
    spread: tuple[int, ...]
    most: tuple[int, ...]
    unlisted: int


def figures_of(engine: Engine, policy: BoundPolicy, trees: Sequence[str]) -> list[TreeFigures]:
    """The figures of the trees of a policy's quasi-identifiers, from one query about all of them."""
    quasi = policy.quasi_identifiers
    answers = dict(engine.rows(tree_summaries(list(zip(quasi, trees, strict=True))))) if trees else {}
    figures: list[TreeFigures] = []
    for number, bound in enumerate(quasi):
        leaves, rows, *rest = (int(figure or 0) for figure in answers[number])
        unlisted = rest.pop() if bound.stored else 0
        others, top = rest[bound.height :], max(leaves - 1, 0)
        spread, most = (0, *others[: bound.height - 1], rows * top), (0, *others[bound.height - 1 :], top)
        figures.append(TreeFigures(leaves, rows, rest[: bound.height], spread, most, unlisted))
    return figures


# The most frequent sensitive value, the reason of an unmet requirement, named for the policy's owner.


_LONGEST = 60
# The minimum number of rows of a value that is named; the value of a single row would reveal that row.
NAMED_FROM = 2


@dataclass(frozen=True)
class Frequent:
    """The most frequent value of some columns: its number of rows, the number of all rows, and its text, None if only
    one row has it.
    """

    columns: tuple[str, ...]
    most: int
    rows: int
    text: str | None

    def __str__(self) -> str:
        """Returns a phrase such as `value of disease, 'flu', has 4 of 12 rows (33.3%)`."""
        return f"value of {', '.join(self.columns)}{self.share}"

    @property
    def share(self) -> str:
        """A phrase such as `, 'flu', has 4 of 12 rows (33.3%)`."""
        named = "" if self.text is None else f", {self.text},"
        return f"{named} has {self.most} of {self.rows} rows ({self.most / self.rows:.1%})"


def frequent(engine: Engine, policy: BoundPolicy, names: Sequence[str]) -> Frequent | None:
    """The most frequent value of these sensitive columns in the source, as one combination; None if the source has no
    rows.
    """
    by_name = {bound.column: bound for bound in policy.sensitive}
    figures = engine.rows(most_frequent([by_name[name] for name in names], relation(policy.relation)))
    if not figures:
        return None
    most, rows, *texts = figures[0]
    values = ", ".join(map(shortened, texts))
    text = values if len(texts) == 1 else f"({values})"
    return Frequent(tuple(names), int(most), int(rows), text if int(most) >= NAMED_FROM else None)


def too_frequent_in(engine: Engine, policy: BoundPolicy, requirements: Sequence[BoundRequirement]) -> str:
    """Clauses that name the most frequent value of each subject of requirements that not even all rows together
    meet.
    """
    # A frequent sampling weight does not explain a violation.
    known = {bound.column for bound in policy.sensitive}
    subjects = dict.fromkeys(r.attributes for r in requirements if r.attributes and known.issuperset(r.attributes))
    values = [value for value in (frequent(engine, policy, subject) for subject in subjects) if value and value.text]
    return "".join(f"; the most frequent {value}" for value in values)


def greatest_met(engine: Engine, policy: BoundPolicy, requirements: Sequence[BoundRequirement]) -> str | None:
    """Returns the greatest requirement that the whole table meets, as in `k_anonymity(k => 7874) is the most`; None if
    it is unknown.

    It is known for requirements of a minimum number of rows or values, if rows are read in place.
    """
    if not engine.reads_in_place or policy.related:
        return None
    clauses = [clause for requirement in requirements if (clause := _greatest(engine, policy, requirement))]
    return "; ".join(clauses) or None


def _greatest(engine: Engine, policy: BoundPolicy, requirement: BoundRequirement) -> str | None:
    question, name = requirement.question, requirement.question.required
    least = dict(requirement.arguments).get(name)
    if not question.at_least or not isinstance(least, int) or requirement.on or not set(question.reads) <= _COUNTED:
        return None
    query = requirement.statement("achieved")
    for relation_name, rows in _one_class(policy, requirement.attributes).items():
        if relation_name in question.reads:
            query = query.with_(relation_name, as_=rows)
    ((reached,),) = engine.rows(query)
    if reached is None or not 1 <= reached < least:
        return None
    most = f"{question.model}({name} => {int(reached)}) is the most that the whole table meets"
    if not requirement.attributes:
        return most
    values = select(f.count(), of=subquery(_values(policy, requirement.attributes), "value"))
    ((number,),) = engine.rows(values)
    return f"{', '.join(requirement.attributes)} has {counted(int(number), 'value')}: {most}"


# The relations that `_one_class` makes.
_COUNTED = {"equivalence_class", "class_sensitive_value"}


def _one_class(policy: BoundPolicy, attributes: Sequence[str]) -> dict[str, exp.Query]:
    """The normal relations of the whole table as one class, by name."""
    tables = {"source": relation(policy.relation)}
    people = f.count() if policy.entity is None else respondents(column(policy.entity.column))
    sizes = "SELECT 0 AS class_id, count(*) AS size, $people AS entities FROM source"
    relations = {"equivalence_class": filled_query(sizes, tables=tables, people=people)}
    if attributes:
        relations["class_sensitive_value"] = filled_query(
            "SELECT 0 AS class_id, row_number() OVER () AS value, n FROM value",
            tables={"value": _values(policy, attributes)},
        )
    return relations


def _values(policy: BoundPolicy, attributes: Sequence[str]) -> exp.Query:
    """SELECT of n, with a row for each combination of values in these columns: n rows have it."""
    tables = {"source": relation(policy.relation)}
    return filled_query(
        "SELECT count(*) AS n FROM source GROUP BY {values}", tables=tables, names={"values": attributes}
    )


def shortened(text: object) -> str:
    """Returns a value's text on one line, cut off if it is long."""
    if text is None:
        return "NULL"
    whole = str(text)
    return repr(whole) if len(whole) <= _LONGEST else f"{whole[:_LONGEST]!r}..."


def most_frequent(bounds: Sequence[BoundAttribute], source: exp.Table) -> exp.Query:
    """SELECT of n, rows, text_0, ...: the number of rows with the most frequent combination of values, the number of
    all rows, and the values of the combination as text.

    If several are equally frequent, the first by its texts is taken, with NULL last.
    """
    indexes = range(len(bounds))
    names = {"values": [f"value_{index}" for index in indexes], "texts": [f"text_{index}" for index in indexes]}
    text = """
        SELECT n, sum(n) OVER () AS rows, CAST({values} AS VARCHAR) AS "{texts}"
        FROM (SELECT $values AS "{values}", count(*) AS n FROM source GROUP BY $values) AS counted
        ORDER BY n DESC NULLS LAST, {texts} ASC NULLS LAST LIMIT 1
    """
    return filled_query(text, tables={"source": source}, names=names, values=[*map(published_value, bounds)])


# Random worlds: the assumption that any row of a part of the rows may have any of its values.
#
# Bacchus, Grove, Halpern and Koller, From statistical knowledge bases to degrees of belief (1996). Kifer, Attacks on
# privacy and deFinetti's theorem (2009), learns from all parts together instead.


def of_buckets(sensitive: Sequence[str]) -> Assumption:
    """Returns the assumption behind buckets in which the values of these columns are assigned to any of the rows."""
    return _random_worlds(
        "Each way to deal the sensitive values of a bucket out to its rows",
        "how they go with the other columns in all buckets together",
        tuple(sensitive),
    )


def of_groups() -> Assumption:
    """Returns the assumption behind associated groups of rows of several tables."""
    return _random_worlds(
        "Each way to match the rows of the groups that the association ties",
        "how the columns of a CONFIDENTIAL set go together in all groups",
    )


def _random_worlds(worlds: str, learned: str, attributes: tuple[str, ...] = ()) -> Assumption:
    return Assumption(
        name="random_worlds",
        attributes=attributes,
        meaning=f"{worlds} is taken to be equally likely (random worlds).",
        leaves=(
            f"The release does not hide {learned}: a reader who learns that from it can name values with a far greater "
            "probability, some of them nearly for certain (deFinetti attack, Kifer 2009)."
        ),
    )
