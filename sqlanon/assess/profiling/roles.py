"""Proposes a role for each column, with the reason, which comes from its name, its type or its values."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlanon.assess.profiling.categories import TIME_WORDS, Recognized, is_household
from sqlanon.assess.profiling.combinations import Combinations
from sqlanon.assess.profiling.relations import Relation
from sqlanon.assess.profiling.sample import Sample, is_nested, is_number, sizes
from sqlanon.assess.profiling.words import split, words_of
from sqlanon.domain.numbers import per_cent
from sqlanon.domain.policy import Role
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import infix, is_not_null
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, select, subquery

_MEASURED = ("FLOAT", "DOUBLE", "DECIMAL", "DATE", "TIME", "INTERVAL")
_OF_TIME = ("DATE", "TIME", "INTERVAL")
# Names in survival data for the time until an event or the end of the study, and for whether there was an event.
_DURATIONS = {
    *("time", "times", "futime", "stime", "survtime", "surv_time", "survival_time", "time_to_event", "event_time"),
    *("duration", "durat", "followup", "follow_up", "follow_up_time", "followup_time", "tte"),
}
_EVENTS = {
    *("status", "event", "events", "cens", "censor", "censored", "censoring", "fustat", "fail", "failed", "failure"),
    *("event_status", "event_indicator", "relapse", "relapsed", "recurrence", "progression", "delta"),
}
OTHERS_MAY_KNOW = "others may know it"
_NOT_RECOGNIZED = "neither name nor values say what it is: do others know it, or is it secret?"
_FREE_TEXT = "it is free text, which may name anybody"
# The kinds of functions that reveal something of their sources.
_TELLING_KINDS = ("square", "logarithm", "sum", "product", "difference", "quotient", "repeats", "bands", "indicator")
_MAKE_IT_ENTITY = "if it says whom a row is about, make it ENTITY"
# The end of the reason for which a sensitive column is left out.
MAKE_IT_SENSITIVE = "publish something coarser, or make it SENSITIVE all the same"


@dataclass(frozen=True)
class RareTexts:
    """The texts of a column that occur in few rows each: `distinct` texts in `present` rows, of the average length
    `length`.

    `is_wordy` is true if most of the column's texts have three words or more. Labels, which occur in many rows, and
    fillers such as "-" are not counted.
    """

    distinct: int = 0
    present: int = 0
    length: float = 0.0
    is_wordy: bool = False

    @property
    def may_name_anybody(self) -> bool:
        """Whether a column's texts are free text, which may name anybody: long texts, or many different sentences."""
        return self.length > sizes().free_text or (self.is_wordy and are_many(self.distinct, self.present))


def rare_texts(engine: Engine, table: QualifiedName, sample: Sample) -> dict[str, RareTexts]:
    """Returns the rare texts of each column of a sample that may be free text, counted in all rows of the table."""
    by_column = {}
    for each in sample.columns:
        if each.may_be_free_text:
            text = alias(column(each.name), "text")
            counted = select(text, alias(f.count(), "n"), of=relation(table))
            counted = extend(counted, where=[is_not_null(column(each.name))], group_by=[column(each.name)])
            counted = extend(counted, having=infix(f.count(), "<", literal(sizes().label_rows)))
            figures = select(f.count(), f.sum(column("n")), f.call("avg", f.length(column("text"))))
            [(distinct, present, length)] = engine.rows(extend(figures, of=subquery(counted, "rare")))
            by_column[each.name] = RareTexts(int(distinct), int(present or 0), float(length or 0), each.is_wordy)
    return by_column


@dataclass(frozen=True)
class Values:
    """The values of a column: the column's name and type, the frequencies of values, and the number of NULLs.

    `counts` is true if the numbers are whole and dense, like numbers in sequence. `rare` has the column's rare texts,
    if the column may be free text.
    """

    name: str
    type: str
    counted: Combinations
    nulls: int
    counts: bool = False
    rare: RareTexts = RareTexts()

    @property
    def present(self) -> int:
        """The number of rows with a value other than NULL."""
        return self.counted.rows - self.nulls

    @property
    def distinct(self) -> int:
        """The number of distinct values other than NULL."""
        return self.counted.values - (1 if self.nulls else 0)

    @property
    def is_unique(self) -> bool:
        """Whether nearly every value other than NULL occurs in only one row."""
        alone = self.counted.alone - (1 if self.nulls == 1 else 0)
        return self.present > 1 and alone >= sizes().unique * self.present

    @property
    def repeats(self) -> bool:
        return self.distinct < self.present

    @property
    def rows_of_each(self) -> int:
        """The number of rows of each value other than NULL if it is the same for all values; otherwise 0."""
        if not self.distinct or self.present % self.distinct:
            return 0
        # Equal numbers of rows have the fewest pairs of rows with the same value.
        each = self.present // self.distinct
        fewest = self.distinct * each * (each - 1) + self.nulls * (self.nulls - 1)
        return each if self.counted.alike == fewest else 0

    @property
    def is_panel(self) -> bool:
        """Whether the column looks like the respondent's number in a panel: it has many values, each in the same number
        of rows, which is two or more.

        A panel's column of years does not, because it has few values with many rows each. A column of times, by its
        name or its type, is never such a number.
        """
        if self.type.startswith(_OF_TIME) or TIME_WORDS.fullmatch(words_of(self.name)):
            return False
        return self.distinct >= sizes().respondents and 2 <= self.rows_of_each < self.distinct


@dataclass(frozen=True)
class ProposedRole:
    """The proposed role of a column, and the reason; `may_be_entity` is true for a possible number of respondents with
    several rows.
    """

    role: Role
    why: str
    may_be_entity: bool = False


def are_many(distinct: int, present: int) -> bool:
    """Whether a column has too many distinct values, for its number of rows, to be labels."""
    return present >= sizes().evidence and distinct > sizes().telling * present


def tells_people_apart(distinct: int, present: int, rare: RareTexts) -> str | None:
    """Returns the reason why published sensitive values would identify people; None if they would not identify people.

    There are `distinct` values in `present` rows; `rare` are the rare texts.
    """
    if present >= sizes().evidence and distinct > sizes().key * present:
        return f"{per_cent(distinct / present)} of its values are different, so whoever knows one finds the row"
    return free_text(rare)


def free_text(rare: RareTexts) -> str | None:
    """Returns the reason why texts may name people; None if they are not free text."""
    return _FREE_TEXT if rare.may_name_anybody else None


def values_of(
    engine: Engine, table: QualifiedName, columns: Sequence[tuple[str, str]], counted: Sequence[Combinations]
) -> list[Values]:
    """Counts the values of each column of (name, type); returns them in the same order."""
    present = [alias(f.count(column(name)), f"present_{i}") for i, (name, _) in enumerate(columns)]
    (figures,) = engine.rows(select(*present, of=relation(table)))
    return [
        Values(name, kind, combinations, combinations.rows - int(number))
        for (name, kind), combinations, number in zip(columns, counted, figures, strict=True)
    ]


def proposed_role(values: Values, recognized: Recognized | None) -> ProposedRole:
    """Proposes a role for a column. A column that is not recognized is a quasi-identifier, which is the safe choice.

    An identifier that repeats, and a column whose values all have the same number of rows, may be the respondent's
    number, that is, ENTITY; the user chooses among several such columns.
    """
    role, why = _role(values, recognized)
    is_identifier = recognized is not None and recognized.direct and not recognized.within
    if values.is_panel:
        seen = f"each of its {values.distinct} values stands in {values.rows_of_each} rows"
        return ProposedRole(role, f"{why}; {seen}: {_MAKE_IT_ENTITY}", True)
    if is_identifier and values.repeats and values.distinct:
        seen = f"{values.distinct} values in {values.present} rows"
        if values.distinct < sizes().respondents and values.present >= sizes().respondents * values.distinct:
            return ProposedRole(role, f"{why}; {seen} do not tell people apart")
        return ProposedRole(role, f"{why}; {seen}: {_MAKE_IT_ENTITY}", True)
    return ProposedRole(role, why)


def related_roles(
    roles: Sequence[tuple[Values, ProposedRole]], relations: Sequence[Relation], demographic: Collection[str] = ()
) -> list[tuple[Values, ProposedRole]]:
    """Changes the proposed roles of columns that are functions of others.

    A function of sensitive numbers is sensitive, and so is an indicator of a sensitive value, except in `demographic`
    columns: a diagnosis may reveal the sex, which is known anyway. A quasi-identifier with the same information as
    another column is left out, because a release would have to generalize both.
    """
    proposed = {values.name: role for values, role in roles}
    telling = [each for each in relations if each.kind in _TELLING_KINDS]
    sensitive = {name for name, role in proposed.items() if role.role is Role.SENSITIVE}
    for _ in telling:
        for each in telling:
            if not sensitive.isdisjoint(each.sources):
                sensitive.update({each.name} - set(demographic))
            elif each.repeats and each.name in sensitive:
                sensitive.update(set(each.sources) - set(demographic))
    explained = {each.name: each for each in relations}
    return [(values, _related_role(role, values.name, explained, proposed, sensitive)) for values, role in roles]


def survival_roles(roles: Sequence[tuple[Values, ProposedRole]]) -> list[tuple[Values, ProposedRole]]:
    """Returns the roles of columns after making the time and the status of survival data sensitive.

    A number that is called a time, together with an event of two or three values, reveals what happened to a person,
    and when. Either column alone may mean anything.
    """
    times = [v.name for v, _ in roles if is_number(v.type) and _is_named(v, _DURATIONS)]
    events = [v.name for v, _ in roles if v.distinct in (2, 3) and _is_named(v, _EVENTS)]
    if not (times and events):
        return list(roles)
    beside = {**dict.fromkeys(times, events[0]), **dict.fromkeys(events, times[0])}
    return [(values, _survival_role(role, beside.get(values.name))) for values, role in roles]


def _survival_role(role: ProposedRole, beside: str | None) -> ProposedRole:
    if beside is None or role.role is Role.SENSITIVE or role.may_be_entity:
        return role
    return replace(role, role=Role.SENSITIVE, why=f"with {beside} it says what became of a person, and when")


def _is_named(values: Values, names: Collection[str]) -> bool:
    return "_".join(split(values.name)) in names


def publishable(roles: Sequence[tuple[Values, ProposedRole]]) -> list[tuple[Values, ProposedRole]]:
    """Leaves out sensitive columns that identify people, by changing their roles.

    This step is the last, because a function of such a column is still sensitive.
    """
    return [(values, _publishable(values, role)) for values, role in roles]


def _publishable(values: Values, role: ProposedRole) -> ProposedRole:
    seen = tells_people_apart(values.distinct, values.present, values.rare)
    if role.role is not Role.SENSITIVE or seen is None:
        return role
    reason = role.why.replace(_telling(values), "")
    why = f"{reason}; sensitive values are published as they are, and {seen}: {MAKE_IT_SENSITIVE}"
    return replace(role, role=Role.IDENTIFIER, why=why)


def unrecognized(roles: Sequence[tuple[Values, ProposedRole]]) -> list[tuple[Values, ProposedRole]]:
    """Changes the reasons of unrecognized columns if no column is sensitive.

    Because one of these columns may be sensitive, the reason does not claim that others may know it.
    """
    if any(role.role is Role.SENSITIVE for _, role in roles):
        return list(roles)
    return [(values, replace(role, why=role.why.replace(OTHERS_MAY_KNOW, _NOT_RECOGNIZED))) for values, role in roles]


def _related_role(
    role: ProposedRole,
    name: str,
    explained: Mapping[str, Relation],
    proposed: Mapping[str, ProposedRole],
    sensitive: Collection[str],
) -> ProposedRole:
    """Returns the role of a column, with its relation to other columns in the reason."""
    of_others = explained.get(name)
    if role.role is Role.QUASI_IDENTIFIER and name in sensitive:
        words = of_others.words if of_others else f"{_repeating(name, explained).name} is a function of it"
        return replace(role, role=Role.SENSITIVE, why=f"{words}, and is about something that people keep to themselves")
    if of_others is None or role.role not in (Role.QUASI_IDENTIFIER, Role.SENSITIVE):
        return role
    of_quasi = proposed[of_others.sources[0]].role is Role.QUASI_IDENTIFIER and of_others.sources[0] not in sensitive
    if role.role is Role.QUASI_IDENTIFIER and of_others.repeats and of_quasi and not role.may_be_entity:
        return replace(role, role=Role.IDENTIFIER, why=f"{of_others.words}, so it is left out")
    return replace(role, why=f"{role.why}; {of_others.words}")


def _repeating(name: str, explained: Mapping[str, Relation]) -> Relation:
    return next(each for each in explained.values() if each.repeats and name in each.sources)


def _role(values: Values, recognized: Recognized | None) -> tuple[Role, str]:
    if recognized and recognized.direct:
        return Role.IDENTIFIER, recognized.why
    if is_nested(values.type):
        return Role.IDENTIFIER, f"values of type {values.type.split('(')[0]} cannot be made coarser"
    if values.counted.values == 1 and values.counted.rows > 1:
        return Role.INSENSITIVE, "it says the same in all rows"
    # Also for a name such as diagnosis, because sensitive values are published unchanged.
    if values.rare.may_name_anybody:
        return Role.IDENTIFIER, _FREE_TEXT
    if recognized and recognized.sensitive:
        return Role.SENSITIVE, f"{recognized.why}{_telling(values)}"
    if recognized:
        return Role.QUASI_IDENTIFIER, recognized.why
    return _by_repetition(values)


def _by_repetition(values: Values) -> tuple[Role, str]:
    """Proposes the role of a column from the frequencies of its values; the column's name decides only whether it
    numbers households.
    """
    if values.is_unique and (values.counts or not values.type.startswith(_MEASURED)):
        alone = per_cent(values.counted.unique or 0)
        return Role.IDENTIFIER, f"{alone} of its rows have a value that no other row has"
    if values.is_panel:
        return Role.IDENTIFIER, "it repeats as the number of a person does"
    if is_household(values.name) and values.distinct >= sizes().respondents:
        return Role.IDENTIFIER, "its name says a household, and it has the values of a number"
    return Role.QUASI_IDENTIFIER, OTHERS_MAY_KNOW


def _telling(values: Values) -> str:
    """Returns advice for sensitive values that identify most rows; the advice is empty for other values."""
    alone = values.counted.unique
    if alone is None or values.counted.rows <= 1 or alone < sizes().telling:
        return ""
    return (
        f"; {per_cent(alone)} of its rows have a value that no other row has, and sensitive values are published as "
        "they are, so anyone who knows one finds the row: publish something coarser, or make it IDENTIFIER"
    )
