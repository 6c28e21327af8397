"""What levels for several tables cannot promise, and the sentences that refuse it."""

from __future__ import annotations

from sqlanon.errors import PolicyError
from sqlanon.methods.generalization.options import Options
from sqlanon.methods.shared.task import Task
from sqlanon.questions.known import by_known

__all__ = ["require_possible"]

_LOSS = "granularity_loss"


def require_possible(task: Task, options: Options) -> None:
    """Raises PolicyError for what a policy on several tables cannot have."""
    policy = task.policy
    if task.signatures is not None:
        raise _refused(f"{policy.policy} is on several tables, of which no series is made", "leave IN SERIES out")
    if not task.requirements:
        raise _refused(f"{policy.policy} requires nothing of its several tables", "say REQUIRE k_anonymity(k => 5)")
    if options.loss != _LOSS:
        raise _refused(
            f"loss => '{options.loss}' is one of the rows of one table, and {policy.policy} is on several",
            f"leave loss out: {_LOSS} is the mean of what the columns of all tables lose",
        )
    tokens = [attribute.name for attribute in policy.policy.all_attributes if attribute.pseudonym]
    if tokens:
        raise _refused(
            f"{policy.policy} is on several tables, whose people have numbers drawn anew; {tokens[0]} is a pseudonym",
            "leave PSEUDONYM out",
        )
    _require_suppressible(task, options)


def _refused(sentence: str, hint: str) -> PolicyError:
    return PolicyError(sentence, hint=hint)


def _require_suppressible(task: Task, options: Options) -> None:
    """Raises PolicyError where leaving somebody out would change what is known of others, and it is allowed."""
    if not options.suppression:
        return
    known = list(by_known(task.requirements))
    hint = "say METHOD generalization(suppression => 0)"
    for each in known:
        if not each.is_partition:
            raise _refused(
                f"suppression => {options.suppression} leaves people out, and with knows => {each.written} each of "
                "them is one among whom others hide",
                f"{hint}, or require knows => 'values', which is stricter",
            )
    if len(known) > 1:
        raise _refused(
            f"suppression => {options.suppression} leaves people out by what is known of them, and the requirements "
            f"say {' and '.join(f'knows => {each.written}' for each in known)}",
            hint,
        )
