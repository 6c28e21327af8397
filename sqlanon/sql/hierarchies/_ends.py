"""Options of hierarchies with open ends: low and high, and the labels of the ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta

from sqlanon.domain.policy import HierarchyDefinition
from sqlanon.domain.values import Value, written
from sqlanon.sql.hierarchies.base import refused

OPTIONS = ("low", "high", "below", "above")
# The option that holds the end of each label.
_END_OF = {"below": "low", "above": "high"}
_QUARTERS = (1, 4, 7, 10)
# The common divisor of the years in which a unit may begin.
_YEARS = {"YEAR": 1, "DECADE": 10, "CENTURY": 100}


def options_of(definition: HierarchyDefinition, known: Sequence[str], kind: str) -> dict[str, Value]:
    """Returns the options by name. Raises PolicyError for an unknown or a repeated option."""
    options: dict[str, Value] = {}
    for name, value in definition.options:
        if name not in known:
            raise refused(definition, f"{kind} has no option {name}", f"there are: {', '.join(known)}")
        if name in options:
            raise refused(definition, f"option {name} is given twice", "give it once")
        options[name] = value
    return options


def end_labels(definition: HierarchyDefinition, options: Mapping[str, Value]) -> dict[str, str]:
    """Returns the user's labels `below` and `above`.

    Raises PolicyError for a label that is not a text, or that belongs to a missing end. The hierarchy's kind checks
    whether a value could have the same label.
    """
    labels: dict[str, str] = {}
    for name, end in _END_OF.items():
        if name not in options:
            continue
        label = options[name]
        if end not in options:
            raise refused(definition, f"{name} labels the values beyond {end}, which is not given", f"add {end} => ...")
        if not isinstance(label, str) or not label.strip() or label == "*":
            raise refused(
                definition, f"{name} {written(label)} is not a label", f"write a text, such as {name} => '90 and over'"
            )
        labels[name] = label
    if len(set(labels.values())) < len(labels):
        raise refused(definition, "below and above are the same label", "give each open end a label of its own")
    return labels


def taken(definition: HierarchyDefinition, name: str, label: str) -> Exception:
    """Returns the error for a label of an open end that is also a value's label."""
    return refused(definition, f"{name} {written(label)} could be the label of a value", "add words to the label")


def day_of(definition: HierarchyDefinition, name: str, value: Value) -> date:
    """Returns the date of `low` or `high`. Raises PolicyError for any other value."""
    try:
        return date.fromisoformat(value if isinstance(value, str) else "")
    except ValueError:
        raise refused(
            definition, f"{name} {written(value)} is not a date", f"write it as {name} => DATE '1937-01-01'"
        ) from None


def require_first_day(definition: HierarchyDefinition, name: str, day: date, unit: str) -> None:
    """Raises PolicyError for a day that is not the first of a unit; the hint names the next first day."""
    following = day
    while not _begins(following, unit):
        try:
            following += timedelta(days=1)
        except OverflowError:
            raise refused(definition, f"{name} {day} begins no {unit}", "give an earlier date") from None
    if following != day:
        raise refused(
            definition, f"{name} {day} begins no {unit}", f"write {name} => DATE '{following}', the next day that does"
        )


def _begins(day: date, unit: str) -> bool:
    if unit in ("HOUR", "DAY"):
        return True
    if unit == "WEEK":
        return day.isoweekday() == 1
    if unit in ("MONTH", "QUARTER"):
        return day.day == 1 and (unit == "MONTH" or day.month in _QUARTERS)
    return (day.month, day.day) == (1, 1) and day.year % _YEARS[unit] == 0
