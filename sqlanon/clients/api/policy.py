"""A policy as an object."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import TypeVar

from sqlanon.catalog.validation import validate
from sqlanon.clients.api.arguments import (
    Defined,
    SourceName,
    column_names,
    described,
    one_name,
    source_of,
    statement_text,
)
from sqlanon.clients.api.columns import (
    Entity,
    Identifiers,
    Insensitive,
    QuasiIdentifiers,
    Sensitive,
    attributes,
    policy_call,
    requirement_of,
)
from sqlanon.clients.api.requirements import Requirement
from sqlanon.clients.api.tables import JoinedRelease, RelatedTable
from sqlanon.domain import policy as domain
from sqlanon.errors import UserError
from sqlanon.sources.data_frames import plain_scalar
from sqlanon.sources.requirements import resolve_requirements
from sqlanon.statements.policies.create_policy import CreatePolicy

_Part = TypeVar("_Part")
_HINTS = {
    "require": "write require=[sqlanon.KAnonymity(k=5)], or sqlanon.Requirement for the model of another package",
    "pivot": 'write pivot=sqlanon.Pivot("film", "rating")',
    "related": 'write related=[sqlanon.RelatedTable("checkups", key="person", sensitive=["diagnosis"])]',
    "sample": "write sample=sqlanon.Sample(fraction=0.02)",
    "joined": 'write joined=sqlanon.JoinedRelease("of_jobs", on=["job"])',
}


class Policy(Defined[domain.Policy]):
    """The role of each column of a source, and the requirements for a release: CREATE POLICY as an object.

    - `source`: the name of a table or view, or the name's parts, ("main", "patients"); or a `Query`.
    - `identifiers`: columns that name a person: withheld, or published as a `Pseudonym()` or a `Mask()`.
    - `entity`: the column that identifies the person of a row, if a person has several rows.
    - `quasi_identifiers`: columns that others may know about a person; with a hierarchy's name, or a `QuasiIdentifier`.
    - `sensitive`: columns to protect; with a hierarchy's name if a requirement needs a hierarchy, as `Labels` to
      publish labels of a hierarchy in place of values, or as `Shift(days=182)` to shift dates.
    - `insensitive`: other published columns, also with a `Shift`. A column that is not listed is not published.
    - `require`: the requirements for a release, such as `KAnonymity(k=5)`.
    - `confidential`, `visible`: sets of columns that must not, or must, be seen together.
    - `against`: a table of the whole population; the people of the source are a part of it.
    - `joined`: another release that readers may have; `related`: tables that belong to the source.
    - `pivot`: the columns by which a long table is converted to a wide table.
    - `sample`: the source's share of a population, `Sample(fraction=0.02)` or `Sample(people=1_000_000)`; a column
      with the number of people that each row represents is insensitive, with `SamplingWeight()`.
    - `order`: the order of the columns in a release, by default the order of the arguments.

    A text is always one name, even with dots or spaces. `sql()` returns the statement, which a connection runs.

    Raises PolicyError, as CREATE POLICY does, for a policy that contradicts itself. The statement checks, when it runs,
    that the source, its columns and the hierarchies exist, and every rule of a policy with a `pivot`.

    >>> from sqlanon import KAnonymity, LDiversity
    >>> policy = Policy(
    ...     "hospital",
    ...     source="patients",
    ...     identifiers=["name"],
    ...     quasi_identifiers={"age": "by_ten", "sex": None},
    ...     sensitive=["disease"],
    ...     require=[KAnonymity(k=5), LDiversity(l=2)],
    ... )
    >>> print(policy.sql())
    CREATE POLICY "hospital" ON "patients" (
        "name" IDENTIFIER,
        "age" QUASI IDENTIFIER USING "by_ten",
        "sex" QUASI IDENTIFIER,
        "disease" SENSITIVE
    ) REQUIRE k_anonymity(k => 5), l_diversity(l => 2)
    """

    def __init__(
        self,
        name: str,
        *,
        source: SourceName,
        identifiers: Identifiers = (),
        entity: Entity | None = None,
        quasi_identifiers: QuasiIdentifiers = (),
        sensitive: Sensitive = (),
        insensitive: Insensitive = (),
        require: Requirement | Iterable[Requirement] = (),
        confidential: Iterable[Iterable[str]] = (),
        visible: Iterable[Iterable[str]] = (),
        against: SourceName | None = None,
        joined: JoinedRelease | None = None,
        related: Iterable[RelatedTable] = (),
        pivot: domain.Pivot | None = None,
        sample: domain.Sample | None = None,
        order: Iterable[str] | None = None,
    ) -> None:
        columns = attributes(
            identifiers=identifiers,
            entity=entity,
            quasi_identifiers=quasi_identifiers,
            sensitive=sensitive,
            insensitive=insensitive,
            order=order,
        )
        self._definition = domain.Policy(
            one_name("name", name),
            source_of("source", source),
            columns,
            tuple(part.definition for part in _parts("require", require, Requirement)),
            None if against is None else source_of("against", against),
            _sets("confidential", confidential),
            _sets("visible", visible),
            _part("pivot", pivot, domain.Pivot),
            tuple(part.definition for part in _parts("related", related, RelatedTable)),
            release.definition if (release := _part("joined", joined, JoinedRelease)) else None,
            _sample(_part("sample", sample, domain.Sample)),
        )
        _require_consistent(self._definition)

    @property
    def name(self) -> str:
        """The name of the policy."""
        return self._definition.name

    @property
    def columns(self) -> dict[str, str]:
        """Returns the columns in their order, each with its role as in a statement.

        >>> from sqlanon import KAnonymity
        >>> Policy("p", source="t", quasi_identifiers=["age"], sensitive="disease", require=KAnonymity(k=5)).columns
        {'age': 'quasi identifier', 'disease': 'sensitive'}
        """
        return {attribute.name: attribute.role.replace("_", " ") for attribute in self._definition.attributes}

    @property
    def requirements(self) -> tuple[Requirement, ...]:
        """The requirements that a release has to satisfy."""
        return tuple(map(requirement_of, self._definition.requirements))

    def sql(self, *, or_replace: bool = False, if_not_exists: bool = False) -> str:
        """Returns the statement CREATE [OR REPLACE] POLICY [IF NOT EXISTS], without a semicolon.

        Raises UserError if both `or_replace` and `if_not_exists` are set.

        >>> from sqlanon import KAnonymity
        >>> print(Policy("p", source="t", quasi_identifiers="age", require=KAnonymity(k=5)).sql(or_replace=True))
        CREATE OR REPLACE POLICY "p" ON "t" (
            "age" QUASI IDENTIFIER
        ) REQUIRE k_anonymity(k => 5)
        """
        exclusive(or_replace, if_not_exists)
        return statement_text(CreatePolicy(self._definition, or_replace, if_not_exists))

    def __repr__(self) -> str:
        """Returns a Python call that makes an equal object."""
        return policy_call(self._definition)


def exclusive(or_replace: bool, if_not_exists: bool) -> None:
    """Raises UserError if both `or_replace` and `if_not_exists` are set."""
    if or_replace and if_not_exists:
        raise UserError("or_replace and if_not_exists exclude each other", hint="pass only one of them")


def _require_consistent(policy: domain.Policy) -> None:
    """Raises the errors that CREATE POLICY raises before it reads the database."""
    if not policy.pivot:
        # The columns of a long table are known only when it is read.
        validate(policy)
        resolve_requirements(policy)
    statement_text(CreatePolicy(policy))


def _parts(argument: str, parts: object, kind: type[_Part]) -> tuple[_Part, ...]:
    """Returns an argument's objects as a tuple; a single object needs no list. Raises UserError for other values."""
    listed = (parts,) if isinstance(parts, str) or not isinstance(parts, Iterable) else tuple(parts)
    return tuple(_require_part(argument, part, kind) for part in listed)


def _part(argument: str, part: object, kind: type[_Part]) -> _Part | None:
    """Returns the object, or None if `part` is None. Raises UserError for an object of another kind."""
    return None if part is None else _require_part(argument, part, kind)


def _require_part(argument: str, part: object, kind: type[_Part]) -> _Part:
    if not isinstance(part, kind):
        raise UserError(f"{argument}: {described(part)} is not a {kind.__name__}", hint=_HINTS[argument])
    return part


def _sample(sample: domain.Sample | None) -> domain.Sample | None:
    """Converts a sample's fraction to a Decimal. Raises UserError if the fraction or the size is not a number."""
    if sample is None:
        return None
    fraction, people = plain_scalar(sample.fraction), sample.people
    if people is not None and (isinstance(people, bool) or not isinstance(people, int)):
        raise UserError(f"sample: people is a whole number, not {described(people)}")
    if fraction is not None and (isinstance(fraction, bool) or not isinstance(fraction, int | Decimal)):
        raise UserError(f"sample: fraction is a finite number, not {described(sample.fraction)}")
    return domain.Sample(None if fraction is None else Decimal(fraction), people)


def _sets(argument: str, sets: Iterable[Iterable[str]]) -> tuple[tuple[str, ...], ...]:
    """Returns sets of columns as tuples. Raises UserError for a value that is not a set of names."""
    if isinstance(sets, str) or not isinstance(sets, Iterable):
        raise UserError(
            f"{argument} lists sets of columns, and is {described(sets)}", hint=f'write {argument}=[["age", "sex"]]'
        )
    return tuple(column_names(argument, columns) for columns in sets)
