"""What levels for several tables cannot promise, and the sentences that refuse it."""

from __future__ import annotations

from sqlanon.domain.policy import Role
from sqlanon.errors import PolicyError
from sqlanon.inputs.requirement_columns import guards_of
from sqlanon.methods.generalization.options import Options
from sqlanon.methods.generalization.related.known import by_known
from sqlanon.methods.shared.task import Task
from sqlanon.questions.ask import BoundRequirement

__all__ = ["require_possible"]

_LOSS = "granularity_loss"


def require_possible(task: Task, options: Options) -> None:
    """Raises PolicyError for what a policy on several tables cannot have."""
    policy = task.policy
    if task.kind == "view":
        raise _refused(f"{policy.policy} is on several tables, and a live view is one", "make a snapshot")
    if task.signatures is not None:
        raise _refused(f"{policy.policy} is on several tables, of which no series is made", "leave IN SERIES out")
    if not task.requirements:
        raise _refused(f"{policy.policy} requires nothing of its several tables", "say REQUIRE k_anonymity(k => 5)")
    if options.recoding != "global":
        raise _refused(
            "recoding => 'local' is for rows of one table: a person's rows in several would be in different rounds",
            "leave recoding out: all rows then have the same levels",
        )
    if options.loss != _LOSS:
        raise _refused(
            f"loss => '{options.loss}' is one of the rows of one table, and {policy.policy} is on several",
            f"leave loss out: {_LOSS} is the mean of what the columns of all tables lose",
        )
    if policy.public is not None or guards_of(task.requirements):
        raise _refused(
            f"{policy.policy} is on several tables, whose people are compared with no public table or guarding nodes",
            "leave the requirement out",
        )
    tokens = [b.column for attributes in _attributes(task) for b in attributes if b.attribute.pseudonym]
    if tokens:
        raise _refused(
            f"{policy.policy} is on several tables, whose people have numbers drawn anew; {tokens[0]} is a pseudonym",
            "leave PSEUDONYM out",
        )
    for requirement in task.requirements:
        _require_possible(task, requirement)
    _require_suppressible(task, options)


def _attributes(task: Task) -> list[tuple]:
    return [task.policy.attributes, *(table.attributes for table in task.policy.related)]


def _refused(sentence: str, hint: str) -> PolicyError:
    return PolicyError(sentence, hint=hint)


def _require_possible(task: Task, requirement: BoundRequirement) -> None:
    """Raises PolicyError for a requirement that says nothing of people who may have several values."""
    related = {b.column for table in task.policy.related for b in table.attributes if b.role is Role.SENSITIVE}
    several = [name for name in requirement.attributes if name in related]
    if requirement.on:
        raise _refused(
            f"{requirement} is on some of the quasi-identifiers of several tables",
            "leave on out; what is known of a person's rows is knows => 'one_row'",
        )
    if "value_range" in requirement.reads or requirement.of_itemsets:
        raise _refused(f"{requirement} cannot be asked of several tables", "leave the requirement out")
    if several and len(requirement.attributes) > 1:
        raise _refused(
            f"{requirement} is about several columns jointly, of which {several[0]} has several values for a person",
            "require it of each column by itself, attribute => name",
        )
    if several and not requirement.question.several_values:
        raise _refused(
            f"{requirement} is about the shares of values that add up to 1, and a person may have several values of "
            f"{several[0]}, or none",
            f"require alpha_k_anonymity(alpha => 0.5, k => 2, attribute => {several[0]}): no value of more than half of "
            "the people; or l_diversity(l => 2, variant => 'distinct')",
        )


def _require_suppressible(task: Task, options: Options) -> None:
    """Raises PolicyError where leaving somebody out would change what is known of others, and it is allowed."""
    if not options.suppression:
        return
    known = list(by_known(task.requirements))
    hint = "say METHOD generalization(suppression => 0)"
    for each in known:
        if not each.is_partition:
            raise _refused(
                f"suppression => {options.suppression} leaves people out, and with knows => {each.written} each of them "
                "is among those whom others hide",
                f"{hint}, or require knows => 'values', which is stricter",
            )
    if len(known) > 1:
        raise _refused(
            f"suppression => {options.suppression} leaves people out by what is known of them, and the requirements say "
            f"{' and '.join(f'knows => {each.written}' for each in known)}",
            hint,
        )
