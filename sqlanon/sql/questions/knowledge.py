"""Reads the arguments `knows` and `m` of a model: an adversary's knowledge about a person's rows in the related
tables.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from decimal import Decimal

from sqlanon.domain.values import Value, plain_number, written
from sqlanon.errors import PolicyError
from sqlanon.sql.questions.load import Question

__all__ = ["DEFAULT", "KNOWN", "KNOWS", "ON", "ROWS", "knowledge", "meaning", "wrong_argument"]

ON = "on"
KNOWS, ROWS = "knows", "m"
# Nergiz, Clifton and Nergiz (2007); each kind of adversary knows everything that the kinds before it know.
KNOWN = ("one_row", "m_rows", "rows", "values", "history")
DEFAULT = "values"
_SOME_ROWS = "m_rows"
# For an adversary who knows some rows of a person, each set of rows is a class, and a person is in several classes.
_OVERLAPPING = ("one_row", _SOME_ROWS, "rows")
# Relations that a model reads besides classes and their values.
_OF_ONE_TABLE = {
    "public_class": "a public table",
    "class_itemset": "the items in lists",
    "class_itemset_value": "the items in lists",
    "guarded": "guarding nodes",
    "sensitive_ancestor": "a hierarchy of sensitive values",
    "value_range": "ranges of shares",
    "known_triple": "a table of what an adversary knows",
    "sensitive_number": "distances of numbers",
    "superset": "classes of broader labels",
}


def knowledge(
    question: Question,
    arguments: dict[str, Value],
    several: Collection[str] | None,
    about: Sequence[tuple[str, ...]],
) -> tuple[str | None, int | None]:
    """Returns `knows`, by default 'values', and the number of rows in `m`; both are None if the policy has no related
    tables.

    `several` are the sensitive columns of the related tables, None if the policy has no such tables, and `about` are
    the columns that the model protects, each by itself or some of them jointly. Removes the arguments from `arguments`.
    Raises PolicyError for an unknown value, and for a model that is not defined where a person has several rows.
    """
    parameters = {parameter.name for parameter in question.parameters}
    if several is None:
        if KNOWS in arguments and KNOWS not in parameters:
            raise wrong_argument(
                question,
                KNOWS,
                f"{KNOWS} says what is known of a person's rows in related tables, and there are none",
                "name them in the policy, WITH TABLE visits ON (patient) (...), or leave it out",
            )
        return None, None
    known = arguments.pop(KNOWS, DEFAULT)
    if known not in KNOWN:
        choices = " or ".join(f"{KNOWS} => {written(value)}" for value in KNOWN)
        raise wrong_argument(question, KNOWS, f"there is no {KNOWS} {written(known)}", f"write {choices}")
    assert isinstance(known, str)
    rows = _rows(question, known, arguments, parameters)
    _require_of_related_tables(question, arguments, jointly=any(len(attributes) > 1 for attributes in about))
    _require_defined(question, known, [name for attributes in about for name in attributes if name in several])
    return known, rows


def _require_defined(question: Question, known: str, of_related: Sequence[str]) -> None:
    """Raises PolicyError for a model that is not defined for several values of one person, or for overlapping
    classes.
    """
    if of_related and not question.several_values:
        raise wrong_argument(
            question,
            "attribute",
            f"a respondent has several values of {of_related[0]}, so that their shares are no distribution",
            "require l_diversity(l => 2, variant => 'probabilistic') of it, and this of a column of the source: "
            "attribute => column",
        )
    if known in _OVERLAPPING and not question.overlapping_classes:
        raise wrong_argument(
            question,
            KNOWS,
            f"to an adversary with {KNOWS} => {written(known)} a person is in several classes, and it is defined "
            "where classes do not overlap",
            f"write {KNOWS} => 'values', or require k_anonymity or l_diversity",
        )


def _rows(question: Question, known: str, arguments: dict[str, Value], parameters: Collection[str]) -> int | None:
    """Returns the number of known rows, which `knows => 'm_rows'` requires and no other value takes."""
    if known != _SOME_ROWS:
        if ROWS in arguments and ROWS not in parameters:
            raise wrong_argument(
                question, ROWS, f"{ROWS} says how many rows are known", f"write {KNOWS} => '{_SOME_ROWS}' with it"
            )
        return None
    if ROWS in parameters:
        raise wrong_argument(
            question, KNOWS, f"its argument {ROWS} is its own", f"write another {KNOWS}, which takes no {ROWS}"
        )
    number = arguments.pop(ROWS, None)
    number = plain_number(number) if isinstance(number, Decimal) else number
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        of_rows = (
            "it says nothing" if number is None else f"{ROWS} is a whole number of 1 or more, not {written(number)}"
        )
        raise wrong_argument(
            question,
            ROWS,
            f"of how many rows the values are known: {of_rows}",
            f"write {KNOWS} => 'm_rows', {ROWS} => 2",
        )
    return number


def _require_of_related_tables(question: Question, arguments: dict[str, Value], *, jointly: bool) -> None:
    """Raises PolicyError for a model that is defined for one table of respondents only."""
    if ON in arguments:
        raise wrong_argument(
            question,
            ON,
            f"what an adversary knows of related tables is said by {KNOWS}, and not by columns to be {ON}",
            f"leave {ON} out",
        )
    if jointly:
        raise wrong_argument(
            question,
            "jointly",
            "jointly is about the values of one row, and a respondent has rows in several tables",
            f"leave out jointly, so that {question.model} is required of each attribute",
        )
    if not question.of_related_tables:
        raise wrong_argument(
            question,
            "",
            f"it compares with {_OF_ONE_TABLE.get(question.of_one_table[0], 'more')}, which is defined for one table "
            "alone",
            "require k_anonymity or l_diversity, or join the tables in a query, ON (SELECT ...)",
        )


def wrong_argument(question: Question, argument: str, problem: str, hint: str) -> PolicyError:
    """Returns the error for an argument of a model; without a name, it is about the model."""
    part = ("requirement", question.model, argument) if argument else ("requirement", question.model)
    return PolicyError(f"{question.model}: {problem}", hint=hint, part=part)


def meaning(known: str, rows: int | None) -> str:
    """Returns a sentence that follows a model's title: it says what tells classes apart, and from whom nothing is
    hidden.
    """
    told_apart = {
        "one_row": "by one row of a related table: nothing is said to anyone who knows two of a respondent's rows",
        "m_rows": f"by up to {rows} different rows of a related table: nothing is said to anyone who knows more",
        "rows": "by any rows that a respondent has: nothing is said to anyone who knows which they lack",
        "values": "by all rows that a respondent has, alike ones once: nothing is said to anyone who knows how many",
        "history": "by all rows that a respondent has, and by how many are alike",
    }
    return f" Classes are by the respondent's own row and {told_apart[known]}."
