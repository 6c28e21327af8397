"""Whether all rows as one bucket meet what is required, and what stands in the way.

A union of buckets that satisfy satisfies: for each value of the sensitive column's other attributes it is a mixture. So
there are such buckets iff the whole table is one (Slicing, section 4.3, where the whole table is not asked).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.counts import counted
from sqlanon.errors import PrivacyViolation
from sqlanon.methods.shared.frequent_values import NAMED_FROM, frequent, shortened, too_frequent_in
from sqlanon.methods.shared.partition.allowable_cuts import violating_regions
from sqlanon.methods.shared.partition.solve import Options, cuts_of, points_of
from sqlanon.methods.shared.task import Task
from sqlanon.methods.slicing.row_classes import BucketedRows, violating_buckets
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text, ascending, descending, window
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.cells.labels import published_value
from sqlanon.sql.questions.ask import BoundRequirement, least_rows

# How Mondrian cuts buckets: values are published as they are.
BUCKETS = Options(publish="none")

Columns = Sequence[Sequence[str]]
_BY_SHARES = "probabilistic_l_diversity"


def beside(policy: BoundPolicy, columns: Columns) -> dict[str, tuple[str, ...]]:
    """By sensitive attribute, the attributes beside it in its column that are not sensitive."""
    sensitive = {bound.column for bound in policy.sensitive}
    return {
        name: tuple(other for other in names if other not in sensitive)
        for names in columns
        for name in names
        if name in sensitive
    }


def is_feasible(task: Task, parts: Mapping[str, Sequence[str]], only: Sequence[int] | None = None) -> bool:
    """Whether all rows as one bucket meet the requirements, or those at the indexes `only`; `parts` as in `beside`."""
    return not _unmet(task, parts, only)


def _unmet(task: Task, parts: Mapping[str, Sequence[str]], only: Sequence[int] | None = None) -> list[int]:
    """The indexes of the requirements that all rows as one bucket do not meet."""
    indexes = range(len(task.requirements)) if only is None else only
    if not task.encoded.ranked:
        rows = BucketedRows(task.policy)
        return [index for index in indexes if _is_violated(task, violating_buckets(task, rows, parts, [index]))]
    cells = task.encoded
    points = points_of(task, BUCKETS, parts)
    # Cells are counted: none of them needs to be divided.
    coded = exp.select(alias(literal(0), "class_id"), *points.carried_by_cells()).from_(relation(cells.table))
    cuts = cuts_of(task, points)
    return [index for index in indexes if _is_violated(task, violating_regions(cuts, coded.copy(), [index]))]


def _is_violated(task: Task, broken: exp.Query) -> bool:
    return bool(task.engine.rows(exp.select(f.count()).from_(broken.subquery("broken")))[0][0])


def require_feasible(task: Task, columns: Columns, promised_model: str) -> None:
    """Raises PrivacyViolation, with a way out, unless all rows as one bucket meet the requirements.

    For the model that the method promises, it names the values that are most alike.
    """
    parts = beside(task.policy, columns)
    if not (unmet := _unmet(task, parts)):
        return
    requirements = [task.requirements[index] for index in unmet]
    names = ", ".join(map(str, requirements))
    subject = next((r.attributes[0] for r in requirements if r.attributes), None)
    others = parts.get(subject, ()) if subject else ()
    if subject is None or not others:
        raise PrivacyViolation(
            f"{names} cannot be met: not even all rows as one bucket do"
            f"{too_frequent_in(task.engine, task.policy, requirements)}; nothing was published",
            hint=_greatest_l(task, requirements) or "ask for less",
        )
    # A share explains what asks for shares, and no distance.
    of_shares = any(requirement.question.model == promised_model for requirement in requirements)
    raise PrivacyViolation(
        f"{names} cannot be met with {', '.join(others)} in the column of {subject}: not even all rows as one bucket do"
        f"{_most_alike(task, subject, others) if of_shares else ''}; nothing was published",
        hint=_way_out(task, parts, subject, unmet),
    )


def _greatest_l(task: Task, requirements: Sequence[BoundRequirement]) -> str | None:
    """The largest l of the l-diversity by shares, where that is all that is not met; None for other requirements."""
    if any(requirement.question_name != _BY_SHARES for requirement in requirements):
        return None
    values = [frequent(task.engine, task.policy, requirement.attributes) for requirement in requirements]
    largest = min((value.rows // value.most for value in values if value), default=1)
    if largest < 2:
        return "no l above 1 works: the values of this attribute are too much alike"
    return f"l => {largest} is the largest that works"


def _way_out(task: Task, parts: Mapping[str, Sequence[str]], subject: str, unmet: Sequence[int]) -> str:
    """Which attribute to take out of the sensitive column."""
    others = parts[subject]
    for name in others:
        left = tuple(other for other in others if other != name)
        if is_feasible(task, {**parts, subject: left}, unmet):
            return f"take {name} out of the column of {subject}"
    if is_feasible(task, {**parts, subject: ()}, unmet):
        return f"publish {subject} in a column of its own"
    return "ask for less: it cannot be met with this attribute alone in its column, either"


def _most_alike(task: Task, subject: str, others: Sequence[str]) -> str:
    """The values beside which the most frequent sensitive value has the greatest share, with the share, as a clause.

    Values that fewer rows have than a class needs would tell of these few, and are not named.
    """
    bounds = {bound.column: bound for bound in task.policy.published}
    figures = task.engine.rows(_greatest_share(task.policy, bounds[subject], [bounds[name] for name in others]))
    if not figures:
        return ""
    most, rows, value, *texts = figures[0]
    if int(most) < NAMED_FROM or int(rows) < least_rows(task.requirements):
        return f"; of {counted(int(rows), 'row')} with the same {', '.join(others)} {most} have the same {subject}"
    where = ", ".join(f"{name} {shortened(text)}" for name, text in zip(others, texts, strict=True))
    return f"; of the {rows} rows with {where} {most} have {shortened(value)} ({int(most) / int(rows):.1%})"


def _greatest_share(policy: BoundPolicy, subject: BoundAttribute, others: Sequence[BoundAttribute]) -> exp.Select:
    """n, rows, text, text_0, ...: the sensitive value with the greatest share beside the values of the others."""
    names = [f"value_{index}" for index in range(len(others))]
    by_value = exp.select(
        alias(published_value(subject), "value"),
        *(alias(published_value(bound), name) for bound, name in zip(others, names, strict=True)),
        alias(f.count(), "n"),
    ).from_(relation(policy.relation))
    by_value.group_by(*map(published_value, [subject, *others]), copy=False)
    rows = window(f.sum(column("n")), partition_by=[column(name) for name in names])
    shares = exp.select(exp.Star(), alias(rows, "rows")).from_(by_value.subquery("counted"), copy=False)
    texts = [as_text(column(name)) for name in ("value", *names)]
    query = exp.select(column("n"), column("rows"), *texts).from_(shares.subquery("shares"), copy=False)
    order = [descending(column("n") / column("rows")), descending(column("n")), *(ascending(t.copy()) for t in texts)]
    return query.order_by(*order, copy=False).limit(1, copy=False)
